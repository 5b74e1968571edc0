/* SPDX-License-Identifier: Apache-2.0 */
/*
 * khw: see khw.h. Names of metrics and units are vocabulary and stand here; values stand in
 * docs/hardware alone.
 */
#include "khw.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <strings.h>

#define CITED "docs/hardware"

enum { FILE_BYTES = 1 << 20 };

/* Metrics by what they measure. */
static const char *const metrics[KHW_DIMENSIONS] = {
	[KHW_NAME] = "arch compute_capability memory_type",
	[KHW_BANDWIDTH] = "memory_bandwidth",
	[KHW_SIZE] = "memory_size l1_per_unit l2_size l3_size cache_line "
	             "register_file_per_unit shared_memory_per_unit shared_memory_per_block",
	[KHW_WIDTH] = "memory_bus simd_width",
	[KHW_COUNT] = "units warp_width registers_per_unit max_registers_per_thread "
	              "max_threads_per_unit max_warps_per_unit max_blocks_per_unit "
	              "max_threads_per_block",
	[KHW_CLOCK] = "boost_clock memory_clock",
	[KHW_POWER] = "board_power",
};

/*
 * Peak rates: a type and what computes it. Sparse: only where 2 of every 4 values are zeros.
 * Narrow: sums kept in 16 bits.
 */
static const char types[] = "fp64 fp32 tf32 fp16 bf16 fp8 fp6 fp4 int8";
static const char engines[] = "_vector _matrix _matrix_sparse _matrix_narrow";

static const struct {
	enum khw_dimension dimension;
	const char *name;
	double factor;
} units[] = {
	{ KHW_RATE, "GFLOPS", 1e9 },
	{ KHW_RATE, "TFLOPS", 1e12 },
	{ KHW_RATE, "PFLOPS", 1e15 },
	{ KHW_RATE, "TOPS", 1e12 },
	{ KHW_RATE, "POPS", 1e15 },
	{ KHW_BANDWIDTH, "GB/s", 1e9 },
	{ KHW_BANDWIDTH, "TB/s", 1e12 },
	{ KHW_SIZE, "bytes", 1 },
	{ KHW_SIZE, "KiB", 1024 },
	{ KHW_SIZE, "MiB", 1048576 },
	{ KHW_SIZE, "GiB", 1073741824 },
	{ KHW_SIZE, "KB", 1e3 },
	{ KHW_SIZE, "MB", 1e6 },
	{ KHW_SIZE, "GB", 1e9 },
	{ KHW_CLOCK, "MHz", 1e6 },
	{ KHW_CLOCK, "GHz", 1e9 },
	{ KHW_POWER, "W", 1 },
	{ KHW_COUNT, "SM", 1 },
	{ KHW_COUNT, "CU", 1 },
	{ KHW_COUNT, "Xe-cores", 1 },
	{ KHW_COUNT, "threads", 1 },
	{ KHW_COUNT, "warps", 1 },
	{ KHW_COUNT, "wavefronts", 1 },
	{ KHW_COUNT, "blocks", 1 },
	{ KHW_COUNT, "registers", 1 },
	{ KHW_WIDTH, "bits", 1 },
	{ KHW_NAME, "version", 1 },
	{ KHW_NAME, "name", 1 },
};

/* Words that have no place beside a figure. */
static const char *const hedges[] = { "approximately", "approx", "approximate", "about", "around",
	"roughly", "circa", "ca.", "nearly", "almost", "estimated", "estimate", "usually",
	"typically", "typical", "generally", "probably", "likely", "presumably", "assumed",
	"assume", "should be", "would be", "could be", "similar product", "similar to", "or so",
	"more or less", "~", "\xe2\x89\x88" };

bool
khw_metric(const char *metric, enum khw_dimension *dimension)
{
	size_t len = strlen(metric), type = strcspn(metric, "_");

	for (int d = 0; d < KHW_DIMENSIONS; d++)
		if (metrics[d] && kis_listed(metrics[d], metric, len)) {
			*dimension = (enum khw_dimension)d;
			return true;
		}
	*dimension = KHW_RATE;
	return kis_listed(types, metric, type) && kis_listed(engines, metric + type, len - type);
}

double
khw_unit(enum khw_dimension dimension, const char *unit, char *list, size_t list_len)
{
	double factor = 0;
	size_t n = 0;

	for (size_t i = 0; i < LEN(units); i++) {
		if (units[i].dimension != dimension)
			continue;
		if (unit && !strcmp(units[i].name, unit))
			factor = units[i].factor;
		if (list && n < list_len)
			n += (size_t)snprintf(
			    list + n, list_len - n, "%s%s", n ? ", " : "", units[i].name);
	}
	return factor;
}

const char *
khw_hedge(const char *line)
{
	for (size_t i = 0; i < LEN(hedges); i++) {
		size_t n = strlen(hedges[i]);
		bool letters = isalpha((unsigned char)hedges[i][0]);

		for (const char *p = line; *p; p++)
			if (!strncasecmp(p, hedges[i], n) &&
			    (!letters || ((p == line || !kis_word(p[-1])) && !kis_word(p[n]))))
				return hedges[i];
	}
	return NULL;
}

/* ---- reading ---- */

struct source {
	char *key, *text;
	bool used;
	long line;
};

struct reader {
	const char *cited;
	struct khw_device *d;
	struct source *sources;
	size_t source_count;
	struct kfaults *faults;
	long line;
	bool vendor;
};

static void __attribute__((format(printf, 3, 4)))
fault(struct reader *r, long line, const char *fmt, ...)
{
	va_list ap;
	char *why;

	va_start(ap, fmt);
	why = kvasprintf(fmt, ap);
	va_end(ap);
	kfault(r->faults, "%s:%ld: %s", r->cited, line, why);
	free(why);
}

/*
 * The text before the first C, without blanks around it, and *P behind C; all of it when there is
 * no C.
 */
static char *
cut(char **p, char c)
{
	char *start = *p + strspn(*p, " \t"), *end = strchr(start, c);

	*p = end ? end + 1 : start + strlen(start);
	if (!end)
		end = *p;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	return kstrndup(start, (size_t)(end - start));
}

static bool
number_of(const char *s, double *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	*v = strtod(s, &end);
	return !*end && isfinite(*v) && *v > 0 && !strpbrk(s, "xX");
}

/* "600 / 8", "8 * 2.5e3 / 1e3": numbers with * and /, from the left. */
static bool
product_of(const char *s, double *v)
{
	char *end, op;

	for (*v = strtod(s, &end); end != s;
	     *v = op == '*' ? *v * strtod(s, &end) : *v / strtod(s, &end)) {
		s = end + strspn(end, " ");
		if (!*s)
			return isfinite(*v);
		op = *s++;
		s += strspn(s, " ");
		if ((op != '*' && op != '/') || !isdigit((unsigned char)*s))
			return false;
	}
	return false;
}

static void
read_evidence(struct reader *r, struct khw_fact *f, double value)
{
	double derived;

	if (!strcmp(f->evidence, "vendor-published") ||
	    !strcmp(f->evidence, "architecture-analysis"))
		return;
	if (strncmp(f->evidence, "derived ", 8)) {
		fault(r, r->line,
		    "%s: '%s' must be vendor-published, architecture-analysis, or derived with its "
		    "calculation (derived 600 / 8)",
		    f->metric, f->evidence);
	} else if (!strpbrk(f->evidence, "*/") || !product_of(f->evidence + 8, &derived)) {
		fault(r, r->line,
		    "%s: 'derived' needs its divisor: numbers with * and /, as in derived 600 / 8",
		    f->metric);
	} else if (fabs(derived - value) > 1e-3 * value) {
		fault(
		    r, r->line, "%s: %s gives %g, not %g", f->metric, f->evidence, derived, value);
	}
}

/* "[S1] row x" becomes the text of S1 and the row. */
static void
read_source(struct reader *r, struct khw_fact *f, char *text)
{
	size_t n = strcspn(text, "]");

	for (size_t i = 0; *text == '[' && text[n] && i < r->source_count; i++)
		if (strlen(r->sources[i].key) == n - 1 &&
		    !strncmp(r->sources[i].key, text + 1, n - 1)) {
			const char *where = text + n + 1 + strspn(text + n + 1, " ");

			r->sources[i].used = true;
			f->source =
			    kasprintf("%s%s%s", r->sources[i].text, *where ? "; " : "", where);
			if (!*where)
				fault(r, r->line,
				    "%s: say where it is in the source: a page, section, table or "
				    "row",
				    f->metric);
			return;
		}
	fault(r, r->line,
	    "%s: has no source; end the line with [KEY] and the place in it, where KEY is from the "
	    "section Sources",
	    f->metric);
}

static void
read_value(struct reader *r, struct khw_fact *f, char *rest, enum khw_dimension dimension)
{
	char *value = cut(&rest, ';'), *blank = strrchr(value, ' '), list[160] = "", *p;
	double number = NAN, factor;
	const char *hedge = khw_hedge(value);

	f->evidence = cut(&rest, ';');
	f->unit = blank ? kstrdup(blank + 1) : kstrdup("");
	if (blank)
		*blank = '\0';
	f->value = value;
	factor = khw_unit(dimension, f->unit, list, sizeof list);
	if (hedge)
		fault(r, r->line,
		    "%s: '%s' hedges; write the figure from the source, or unavailable", f->metric,
		    hedge);
	else if (factor <= 0)
		fault(r, r->line, "%s: unit '%s' must be one of: %s", f->metric, f->unit, list);
	else if (dimension != KHW_NAME && !number_of(value, &number))
		fault(r, r->line, "%s: '%s' must be a number above 0", f->metric, value);
	f->number = number * factor;
	if (!isnan(number))
		read_evidence(r, f, number);
	p = cut(&rest, '\n');
	read_source(r, f, p);
	free(p);
}

static void
add_fact(struct reader *r, struct khw_fact *f)
{
	struct khw_device *d = r->d;

	for (size_t i = 0; i < d->fact_count; i++)
		if (!strcmp(d->facts[i].metric, f->metric)) {
			fault(r, r->line, "%s: is already in line %ld (%s %s)", f->metric,
			    d->facts[i].line, d->facts[i].value ? d->facts[i].value : "unknown",
			    d->facts[i].unit ? d->facts[i].unit : "");
			break;
		}
	d->facts = krealloc(d->facts, (d->fact_count + 1) * sizeof *d->facts);
	d->facts[d->fact_count++] = *f;
}

static void
read_fact(struct reader *r, char *name, char *rest)
{
	struct khw_fact f = { .metric = name, .line = r->line, .number = NAN };
	enum khw_dimension dimension;
	const char *reason = NULL;

	rest += strspn(rest, " ");
	if (!strncmp(rest, "unavailable:", 12))
		f.state = KHW_UNAVAILABLE, reason = rest + 12;
	else if (!strncmp(rest, "none:", 5))
		f.state = KHW_NOTHING, reason = rest + 5;
	else if (!strcmp(rest, "unavailable") || !strcmp(rest, "none"))
		reason = "";
	if (!khw_metric(name, &dimension)) {
		fault(r, r->line, "'%s' is not a metric; see docs/hardware/README.md", name);
	} else if (!reason) {
		read_value(r, &f, rest, dimension);
	} else {
		reason += strspn(reason, " ");
		f.source = kstrdup(reason);
		if (!*reason)
			fault(r, r->line, "%s: a reason is missing; write %s: %s: because …", name,
			    name, rest);
	}
	add_fact(r, &f);
}

static void
add_alias(struct reader *r, char *alias)
{
	struct khw_device *d = r->d;

	d->aliases = krealloc(d->aliases, (d->alias_count + 1) * sizeof *d->aliases);
	d->alias_lines = krealloc(d->alias_lines, (d->alias_count + 1) * sizeof *d->alias_lines);
	d->aliases[d->alias_count] = alias;
	d->alias_lines[d->alias_count++] = r->line;
}

/* "- [KEY]: title, address". */
static void
read_key(struct reader *r, char *p)
{
	char *key = cut(&p, ']'), *text;

	p += *p == ':';
	text = cut(&p, '\n');
	if (!strstr(text, "https://") && !strstr(text, "http://"))
		fault(
		    r, r->line, "[%s]: a source needs its title and its address (https://…)", key);
	r->sources = krealloc(r->sources, (r->source_count + 1) * sizeof *r->sources);
	r->sources[r->source_count++] = (struct source){ key, text, false, r->line };
}

/* "- name: rest" of the lists in a file; anything else is prose. */
static void
read_line(struct reader *r, char *line, bool sources)
{
	char *p = line + 2, *colon;
	size_t n;

	if (strncmp(line, "- ", 2))
		return;
	if (*p == '[') {
		if (sources)
			read_key(r, p + 1);
		return;
	}
	n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
	colon = p + n;
	if (!n || *colon != ':' || sources)
		return;
	line = kstrndup(p, n);
	p = colon + 1;
	if (!strcmp(line, "device")) {
		free(r->d->name);
		r->d->name = cut(&p, '\n');
	} else if (!strcmp(line, "alias")) {
		add_alias(r, cut(&p, '\n'));
	} else if (!strcmp(line, "vendor")) {
		r->vendor = true;
	} else {
		read_fact(r, line, p);
		return;
	}
	free(line);
}

/* Two passes: facts may stand before the sources they name. */
static void
read_lines(struct reader *r, const char *text, bool sources)
{
	r->line = 0;
	for (const char *p = text; *p; p += *p == '\n') {
		size_t n = strcspn(p, "\n");
		char *line = kstrndup(p, n);
		json_t *valid = json_stringn(p, n);

		r->line++;
		if (!valid && !sources)
			fault(r, r->line, "the line is not UTF-8");
		line[strcspn(line, "\r")] = '\0';
		read_line(r, line, sources);
		free(line);
		json_decref(valid);
		p += n;
	}
}

/* The device of PATH, cited as CITED, into D. */
static void
read_device(struct khw_device *d, const char *path, const char *cited, struct kfaults *faults)
{
	struct reader r = { .cited = cited, .d = d, .faults = faults };
	size_t len;
	char *data = kread_file_or_die(path, FILE_BYTES, &len);
	const char *base = basename(cited);

	*d = (struct khw_device){ .file = kstrdup(cited) };
	ksha256_hex(data, len, d->sha256);
	read_lines(&r, data, true);
	read_lines(&r, data, false);
	if (!d->name)
		fault(&r, 1, "the line '- device: NAME' is missing");
	else if (strlen(base) != strlen(d->name) + 3 || strncmp(base, d->name, strlen(d->name)))
		fault(&r, 1, "the device is '%s', so the file's name must be %s.md", d->name,
		    d->name);
	if (!d->name)
		d->name = kstrdup("");
	for (size_t i = 0; i < r.source_count; i++) {
		if (!r.sources[i].used)
			fault(&r, r.sources[i].line, "no fact cites [%s]", r.sources[i].key);
		free(r.sources[i].key);
		free(r.sources[i].text);
	}
	free(r.sources);
	free(data);
}

static void
device_free(struct khw_device *d)
{
	for (size_t i = 0; i < d->fact_count; i++) {
		struct khw_fact *f = &d->facts[i];

		free(f->metric);
		free(f->value);
		free(f->unit);
		free(f->evidence);
		free(f->source);
	}
	for (size_t i = 0; i < d->alias_count; i++)
		free(d->aliases[i]);
	free(d->aliases);
	free(d->alias_lines);
	free(d->facts);
	free(d->name);
	free(d->file);
}

static int
is_device_file(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 3 && !strcmp(e->d_name + n - 3, ".md") && strcmp(e->d_name, "README.md") != 0;
}

static void
load_folder(struct khw *h, const char *folder, const char *cited, struct kfaults *faults)
{
	struct dirent **list;
	int n = scandir(folder, &list, is_device_file, alphasort);

	if (n < 0)
		kdie_errno(errno == ENOENT ? K_MISSING : K_IO, "%s", folder);
	for (int i = 0; i < n; i++) {
		char *path = kasprintf("%s/%s", folder, list[i]->d_name),
		     *name = kasprintf("%s/%s", cited, list[i]->d_name);

		h->devices = krealloc(h->devices, (h->count + 1) * sizeof *h->devices);
		read_device(&h->devices[h->count++], path, name, faults);
		free(path);
		free(name);
		free(list[i]);
	}
	free(list);
}

static bool
claims(const struct khw_device *d, const char *name, long *line)
{
	*line = 1;
	if (!strcasecmp(d->name, name))
		return true;
	for (size_t i = 0; i < d->alias_count; i++)
		if (!strcasecmp(d->aliases[i], name)) {
			*line = d->alias_lines[i];
			return true;
		}
	return false;
}

/* One name, one file: else the value would depend on which is read first. */
static void
check_claims(const struct khw *h, struct kfaults *faults)
{
	long line;

	for (size_t i = 0; i < h->count; i++)
		for (size_t a = 0; a <= h->devices[i].alias_count; a++) {
			const struct khw_device *d = &h->devices[i];
			const char *name = a ? d->aliases[a - 1] : d->name;

			for (size_t j = i + 1; j < h->count; j++)
				if (claims(&h->devices[j], name, &line))
					kfault(faults,
					    "%s:%ld: '%s' is already in %s:%ld; a device has one "
					    "file",
					    h->devices[j].file, line, name, d->file,
					    a ? d->alias_lines[a - 1] : 1);
		}
}

struct khw *
khw_load(const char *folder, const char *dir)
{
	struct khw *h = kcalloc(1, sizeof *h);
	char *shipped = folder ? kstrdup(folder) : kdata_path(CITED "/README.md"),
	     *own = kasprintf("%s/hardware", dir ? dir : ".");
	struct kfaults faults = { 0 };

	if (!folder)
		*strrchr(shipped, '/') = '\0';
	load_folder(h, shipped, CITED, &faults);
	if (dir && kis_folder(own))
		load_folder(h, own, "hardware", &faults);
	check_claims(h, &faults);
	free(shipped);
	free(own);
	kfaults_end(&faults, "the hardware facts");
	return h;
}

void
khw_free(struct khw *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->count; i++)
		device_free(&h->devices[i]);
	free(h->devices);
	free(h);
}

/* ---- asking ---- */

const struct khw_device *
khw_find(const struct khw *h, const char *name)
{
	long line;

	for (size_t i = 0; i < h->count && *name; i++)
		if (claims(&h->devices[i], name, &line))
			return &h->devices[i];
	return NULL;
}

char *
khw_near(const struct khw *h, const char *name)
{
	struct kbuf b = { 0 };

	kbuf_add(&b, "", 0);
	for (size_t i = 0; i < h->count && *name; i++)
		if (strcasestr(h->devices[i].name, name) || strcasestr(name, h->devices[i].name))
			kbuf_printf(&b, "%s%s", b.len ? ", " : "", h->devices[i].name);
	return b.data;
}

const struct khw_fact *
khw_fact(const struct khw_device *d, const char *metric)
{
	for (size_t i = 0; i < d->fact_count; i++)
		if (!strcmp(d->facts[i].metric, metric))
			return &d->facts[i];
	return NULL;
}

const struct khw_fact *
khw_known(const struct khw_device *d, const char *metric)
{
	const struct khw_fact *f = d ? khw_fact(d, metric) : NULL;

	return f && f->state == KHW_KNOWN ? f : NULL;
}

char *
khw_line(const struct khw_device *d, const struct khw_fact *f)
{
	return kasprintf("%s: %s %s <- %s:L%ld", f->metric, f->value, f->unit, d->file, f->line);
}

json_t *
khw_json(const struct khw_device *d, const struct khw_fact *f)
{
	json_t *value =
	    isnan(f->number) ? json_string(f->value) : json_real(strtod(f->value, NULL));

	return json_pack("{s:s,s:o,s:s,s:s,s:s,s:s,s:I,s:s}", "metric", f->metric, "value", value,
	    "unit", f->unit, "evidence", f->evidence, "source", f->source, "file", d->file, "line",
	    (json_int_t)f->line, "sha256", d->sha256);
}

/* The prefix of rates for a type; NULL: none. */
static const char *
rate_of(enum kdtype t)
{
	static const char *const rates[KDTYPE_COUNT] = { [KDTYPE_F64] = "fp64",
		[KDTYPE_F32] = "fp32",
		[KDTYPE_TF32] = "tf32",
		[KDTYPE_F16] = "fp16",
		[KDTYPE_BF16] = "bf16",
		[KDTYPE_E4M3] = "fp8",
		[KDTYPE_E5M2] = "fp8",
		[KDTYPE_E4M3FNUZ] = "fp8",
		[KDTYPE_E5M2FNUZ] = "fp8",
		[KDTYPE_I8] = "int8" };

	return rates[t];
}

/* The first timed workload. */
static const struct ktask_workload *
timed_workload(const struct ktask *t)
{
	const struct ktask_workload *w = t->workloads;

	while (w < t->workloads + t->workload_count - 1 && !w->timed)
		w++;
	return w;
}

/* The type that most elements of the inputs have, on the first timed workload. */
static enum kdtype
main_type(const struct ktask *t)
{
	const struct ktask_workload *w = timed_workload(t);
	double elements[KDTYPE_COUNT] = { 0 };
	int best = KDTYPE_COUNT;

	for (size_t i = 0; i < t->tensor_count; i++)
		if (!t->tensors[i].scalar && t->tensors[i].input && rate_of(t->tensors[i].dtype))
			elements[t->tensors[i].dtype] +=
			    (double)ktask_elements(t, w, &t->tensors[i]);
	for (int i = 0; i < KDTYPE_COUNT; i++)
		if (elements[i] > 0 && (best == KDTYPE_COUNT || elements[i] > elements[best]))
			best = i;
	return (enum kdtype)best;
}

/*
 * Sums of products of float32, on a device whose matrix units take TF32: operands split into parts
 * bring float32's precision there, so no tolerance keeps a kernel off them, and the vector unit's
 * rate is no ceiling.
 */
static bool
may_use_tf32(
    const struct khw_device *d, const struct ktask *t, enum kdtype dtype, const char *other)
{
	const struct khw_fact *tf32 = khw_known(d, "tf32_matrix"), *own = khw_known(d, other);

	return dtype == KDTYPE_F32 && tf32 && (!own || tf32->number > own->number) && t->linear &&
	    t->reduction && ktask_value(t, timed_workload(t), t->reduction) > 1;
}

const char *
khw_compute(const struct khw_device *d, const struct ktask *t, char *why, size_t why_len)
{
	static char name[32];
	const char *own = json_string_value(json_object_get(t->json, "compute")), *type;
	enum kdtype dtype = own ? KDTYPE_COUNT : main_type(t);
	const struct khw_fact *f;

	if (own)
		return own;
	type = dtype == KDTYPE_COUNT ? NULL : rate_of(dtype);
	if (!type) {
		snprintf(why, why_len,
		    "no input of the task has a type with a known rate; set \"compute\" in %s",
		    t->file);
		return NULL;
	}
	snprintf(name, sizeof name, "%s_matrix", type);
	if (may_use_tf32(d, t, dtype, name))
		return "tf32_matrix";
	f = d ? khw_fact(d, name) : NULL;
	/* Where nobody told, a type of 32 or more bits is taken to be the vector unit's. */
	if (f ? f->state == KHW_NOTHING : dtype == KDTYPE_F32 || dtype == KDTYPE_F64)
		snprintf(name, sizeof name, "%s_vector", type);
	return name;
}
