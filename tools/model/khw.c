/* SPDX-License-Identifier: Apache-2.0 */
/*
 * khw: see khw.h. Names of metrics and units are vocabulary and are listed here; values are only in
 * docs/hardware.
 */
#include "khw.h"

#include "kregex.h"

#define CITED "docs/hardware"

enum { FILE_BYTES = 1 << 20 };

/* Metrics, grouped by what they measure. */
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
 * Peak rates: a type and the unit that computes it. Sparse: only if 2 of every 4 values are zeros.
 * Narrow: sums kept in 16 bits.
 */
static const char rate_names[] = "\\A(?:fp64|fp32|tf32|fp16|bf16|fp8|fp6|fp4|int8)"
                                 "_(?:vector|matrix(?:_sparse|_narrow)?)\\z";

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

/* Words that must not appear next to a figure. */
static const char hedges[] =
    "(?i)(?<!\\w)(?:approximately|approx|approximate|about|around|roughly|circa|ca\\.|nearly|"
    "almost|estimated|estimate|usually|typically|typical|generally|probably|likely|presumably|"
    "assumed|assume|should be|would be|could be|similar product|similar to|or so|more or less)"
    "(?!\\w)|~|\u2248";

bool
khw_metric(const char *metric, enum khw_dimension *dimension)
{
	for (int d = 0; d < KHW_DIMENSIONS; d++)
		if (metrics[d] && kis_one_of(metrics[d], metric)) {
			*dimension = (enum khw_dimension)d;
			return true;
		}
	*dimension = KHW_RATE;
	return kregex_is(rate_names, metric);
}

double
khw_unit(enum khw_dimension dimension, const char *unit, char *list, size_t list_len)
{
	double factor = 0;
	size_t n = 0;

	kforeach(one, units) {
		if (one->dimension != dimension)
			continue;
		if (unit && !strcmp(one->name, unit))
			factor = one->factor;
		if (list && n < list_len)
			n += (size_t)snprintf(
			    list + n, list_len - n, "%s%s", n ? ", " : "", one->name);
	}
	return factor;
}

const char *
khw_hedge(const char *line)
{
	static char word[16];
	struct kregex_span at;

	if (!kregex_find(hedges, line, strlen(line), &at, 1))
		return NULL;
	snprintf(word, sizeof word, "%.*s", (int)(at.to - at.from), line + at.from);
	return word;
}

#define NUMBER "\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d+)?"

bool
khw_product(const char *text, double *value)
{
	char *end;

	if (!kregex_is("\\A *" NUMBER "(?: *[*/x] *" NUMBER ")+ *\\z", text))
		return false;
	for (*value = strtod(text, &end); *(end += strspn(end, " "));) {
		char op = *end;
		double factor = strtod(end + 1, &end);

		*value = op == '/' ? *value / factor : *value * factor;
	}
	return isfinite(*value);
}

/* ---- reading ---- */

/* The device that is being read; one at a time. */
static struct reader {
	struct khw *h;
	const char *cited;
	struct khw_device *d;
	json_t *sources; /* key -> {"text", "line", "used"?} */
	struct kfaults *faults;
	long line;
} reader;

#define fault(at, fmt, ...) \
	kfault(reader.faults, "%s:%ld: " fmt, reader.cited, (long)(at), ##__VA_ARGS__)

static bool
number_of(const char *s, double *v)
{
	*v = strtod(s, NULL);
	return kregex_is("\\A" NUMBER "\\z", s) && isfinite(*v) && *v > 0;
}

static void
read_evidence(struct khw_fact *f, double value)
{
	double derived;

	if (!strcmp(f->evidence, "vendor-published") ||
	    !strcmp(f->evidence, "architecture-analysis"))
		return;
	if (strncmp(f->evidence, "derived ", 8)) {
		fault(reader.line,
		    "%s: '%s' must be vendor-published, architecture-analysis, or derived with its "
		    "calculation (derived 600 / 8)",
		    f->metric, f->evidence);
	} else if (!khw_product(f->evidence + 8, &derived)) {
		fault(reader.line,
		    "%s: 'derived' needs its divisor: numbers with * and /, as in derived 600 / 8",
		    f->metric);
	} else if (fabs(derived - value) > 1e-3 * value) {
		fault(
		    reader.line, "%s: %s gives %g, not %g", f->metric, f->evidence, derived, value);
	}
}

/* Replaces "[S1] row x" by the text of S1 and the row. */
static void
read_source(struct khw_fact *f, const char *text)
{
	auto_free char *key = NULL, *where = NULL;
	json_t *source = kregex_scan("\\A\\[([^]]*)\\] *(.*)\\z", text, &key, &where)
	    ? json_object_get(reader.sources, key)
	    : NULL;

	if (!source) {
		fault(reader.line,
		    "%s: has no source; end the line with [KEY] and the place in it, where KEY is "
		    "from the section Sources",
		    f->metric);
		return;
	}
	json_object_set_new(source, "used", json_true());
	f->source = kasprintf("%s%s%s", kjson_str(source, "text"), *where ? "; " : "", where);
	if (!*where)
		fault(reader.line,
		    "%s: say where it is in the source: a page, section, table or row", f->metric);
}

static void
read_value(struct khw_fact *f, const char *rest, enum khw_dimension dimension)
{
	/* "value unit; evidence; source", and the value with its unit as one group, too. */
	static const char form[] = "\\A(([^;]*?)(?|\\s([^\\s;]*)|()))\\s*(?|;\\s*([^;]*?)\\s*|())"
	                           "(?|;\\s*(.*)|())\\z";
	auto_free char *figure = NULL, *source = NULL;
	char list[160] = "";
	double number = NAN, factor;
	const char *hedge;

	if (!kregex_scan(form, rest, &figure, &f->value, &f->unit, &f->evidence, &source)) {
		fault(reader.line, "%s: the line is too long", f->metric);
		return;
	}
	hedge = khw_hedge(figure);
	factor = khw_unit(dimension, f->unit, list, sizeof list);
	if (hedge)
		fault(reader.line,
		    "%s: '%s' hedges; write the figure from the source, or unavailable", f->metric,
		    hedge);
	else if (factor <= 0)
		fault(reader.line, "%s: unit '%s' must be one of: %s", f->metric, f->unit, list);
	else if (dimension != KHW_NAME && !number_of(f->value, &number))
		fault(reader.line, "%s: '%s' must be a number above 0", f->metric, f->value);
	f->number = number * factor;
	if (!isnan(number))
		read_evidence(f, number);
	read_source(f, source);
}

static void
add_fact(struct khw_fact *f)
{
	struct khw_device *d = reader.d;

	kforeach_of(fact, d->facts, d->fact_count)
		if (!strcmp(fact->metric, f->metric)) {
			fault(reader.line, "%s: is already in line %ld (%s %s)", f->metric,
			    fact->line, fact->value ? fact->value : "unknown",
			    fact->unit ? fact->unit : "");
			break;
		}
	kgrow(d->facts, d->fact_count);
	d->facts[d->fact_count++] = *f;
}

static void
read_fact(char *name, const char *rest)
{
	struct khw_fact f = { .metric = name, .line = reader.line, .number = NAN };
	enum khw_dimension dimension;
	auto_free char *unavailable = NULL;
	bool known = !kregex_scan(
	    "\\A(?:(unavailable)|none)(?|: *(.*)|())\\z", rest, &unavailable, &f.source);

	if (!khw_metric(name, &dimension)) {
		fault(reader.line, "'%s' is not a metric; see docs/hardware/README.md", name);
	} else if (known) {
		read_value(&f, rest, dimension);
	} else if (!*f.source) {
		fault(reader.line, "%s: a reason is missing; write %s: %s: because …", name, name,
		    rest);
	}
	if (!known)
		f.state = unavailable ? KHW_UNAVAILABLE : KHW_NOTHING;
	add_fact(&f);
}

static char *
lower(const char *name)
{
	char *copy = kstrdup(name);

	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

/* A name in two files is an error: the value would depend on which is read first. */
static void
add_name(const char *name, long line)
{
	auto_free char *key = lower(name);
	const json_t *seen = json_object_get(reader.h->names, key);
	json_int_t own = reader.d - reader.h->devices,
	           device = seen ? json_integer_value(json_object_get(seen, "device")) : own;

	if (device != own)
		fault(line, "'%s' is already in %s:%lld; a device has one file", name,
		    reader.h->devices[device].file, (long long)kjson_int(seen, "line"));
	if (!seen)
		kjson_set(reader.h->names, key,
		    json_pack("{s:I,s:I}", "device", own, "line", (json_int_t)line));
}

/* "[KEY]: title, address". */
static void
read_key(const char *key, const char *text)
{
	if (!strstr(text, "https://") && !strstr(text, "http://"))
		fault(
		    reader.line, "[%s]: a source needs its title and its address (https://…)", key);
	kjson_set(reader.sources, key,
	    json_pack("{s:s,s:I}", "text", text, "line", (json_int_t)reader.line));
}

/* "- name: rest" of the lists in a file; anything else is prose. */
static void
read_line(const char *line, bool sources)
{
	static const char key[] = "\\A- \\[\\s*([^]]*?)\\s*\\]:?\\s*(.*?)\\s*\\z",
	                  fact[] = "\\A- ([a-z0-9_]+):\\s*(.*?)\\s*\\z";
	auto_free char *name = NULL, *rest = NULL;

	if (!kregex_scan(sources ? key : fact, line, &name, &rest))
		return;
	if (sources) {
		read_key(name, rest);
	} else if (!strcmp(name, "device")) {
		free(reader.d->name);
		reader.d->name = kstrdup(rest);
		add_name(rest, 1);
	} else if (!strcmp(name, "alias")) {
		add_name(rest, reader.line);
	} else if (strcmp(name, "vendor")) {
		read_fact(name, rest);
		name = NULL;
	}
}

/* Two passes, because facts may come before the sources they name. */
static void
read_lines(const char *text, bool sources)
{
	reader.line = 0;
	for (const char *p = text; *p; p += *p == '\n') {
		size_t n = strcspn(p, "\n");
		auto_free char *line = kstrndup(p, n);
		json_auto_t *valid = json_stringn(p, n);

		reader.line++;
		if (!valid && !sources)
			fault(reader.line, "the line is not UTF-8");
		line[strcspn(line, "\r")] = '\0';
		read_line(line, sources);
		p += n;
	}
}

/* Reads the device of PATH, cited as CITED, into D, the last one of H. */
static void
read_device(struct khw *h, struct khw_device *d, const char *path, const char *cited,
    struct kfaults *faults)
{
	const char *key;
	json_t *source;
	size_t len;
	auto_free char *data = kread_file_or_die(path, FILE_BYTES, &len);
	const char *base = basename(cited);

	reader = (struct reader){
		.h = h, .cited = cited, .d = d, .faults = faults, .sources = json_object()
	};
	*d = (struct khw_device){ .file = kstrdup(cited) };
	ksha256_hex(data, len, d->sha256);
	read_lines(data, true);
	read_lines(data, false);
	if (!d->name)
		fault(1, "the line '- device: NAME' is missing");
	else if (strlen(base) != strlen(d->name) + 3 || strncmp(base, d->name, strlen(d->name)))
		fault(1, "the device is '%s', so the file's name must be %s.md", d->name, d->name);
	if (!d->name)
		d->name = kstrdup("");
	json_object_foreach(reader.sources, key, source)
		if (!json_object_get(source, "used"))
			fault(kjson_int(source, "line"), "no fact cites [%s]", key);
	json_decref(reader.sources);
}

static void
device_free(struct khw_device *d)
{
	kforeach_of(f, d->facts, d->fact_count) {
		free(f->metric);
		free(f->value);
		free(f->unit);
		free(f->evidence);
		free(f->source);
	}
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
	auto_free struct dirent **list = NULL;
	int n = scandir(folder, &list, is_device_file, alphasort);

	if (n < 0)
		kdie_errno(errno == ENOENT ? K_MISSING : K_IO, "%s", folder);
	kforeach_of(one, list, n) {
		auto_free char *path = kasprintf("%s/%s", folder, (*one)->d_name),
		               *name = kasprintf("%s/%s", cited, (*one)->d_name);

		kgrow(h->devices, h->count);
		read_device(h, &h->devices[h->count], path, name, faults);
		h->count++;
		free(*one);
	}
}

struct khw *
khw_load(const char *folder, const char *dir)
{
	struct khw *h = kcalloc(1, sizeof *h);
	auto_free char *shipped = folder ? kstrdup(folder) : kdata_path(CITED "/README.md"),
	               *own = kasprintf("%s/hardware", dir ? dir : ".");
	struct kfaults faults = { 0 };

	h->names = json_object();
	if (!folder)
		*strrchr(shipped, '/') = '\0';
	load_folder(h, shipped, CITED, &faults);
	if (dir && kis_folder(own))
		load_folder(h, own, "hardware", &faults);
	kfaults_end(&faults, "the hardware facts");
	return h;
}

void
khw_free(struct khw *h)
{
	if (!h)
		return;
	kforeach_of(device, h->devices, h->count)
		device_free(device);
	free(h->devices);
	json_decref(h->names);
	free(h);
}

/* ---- asking ---- */

const struct khw_device *
khw_find(const struct khw *h, const char *name)
{
	auto_free char *key = lower(name);
	const json_t *found = json_object_get(h->names, key);

	return found ? &h->devices[json_integer_value(json_object_get(found, "device"))] : NULL;
}

char *
khw_near(const struct khw *h, const char *name)
{
	struct kbuf b = kbuf_empty();

	kforeach_of(d, h->devices, *name ? h->count : 0)
		if (strcasestr(d->name, name) || strcasestr(name, d->name))
			kbuf_printf(&b, "%s%s", b.len ? ", " : "", d->name);
	return b.data;
}

const struct khw_fact *
khw_fact(const struct khw_device *d, const char *metric)
{
	kforeach_of(fact, d->facts, d->fact_count)
		if (!strcmp(fact->metric, metric))
			return fact;
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

/* The type of most input elements, on the first timed workload. */
static enum kdtype
main_type(const struct ktask *t)
{
	const struct ktask_workload *w = timed_workload(t);
	double elements[KDTYPE_COUNT] = { 0 };
	int best = KDTYPE_COUNT;

	kforeach_of(tensor, t->tensors, t->tensor_count)
		if (!tensor->scalar && tensor->input && rate_of(tensor->dtype))
			elements[tensor->dtype] += (double)ktask_elements(t, w, tensor);
	for (int i = 0; i < KDTYPE_COUNT; i++)
		if (elements[i] > 0 && (best == KDTYPE_COUNT || elements[i] > elements[best]))
			best = i;
	return (enum kdtype)best;
}

/*
 * Sums of products of float32, on a device whose matrix units take TF32: splitting operands into
 * parts gives float32's precision there, so no tolerance keeps a kernel off these units, and the
 * vector unit's rate is not a ceiling.
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
	/* Without information, a type of 32 or more bits is assumed to run on the vector unit. */
	if (f ? f->state == KHW_NOTHING : dtype == KDTYPE_F32 || dtype == KDTYPE_F64)
		snprintf(name, sizeof name, "%s_vector", type);
	return name;
}
