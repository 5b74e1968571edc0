/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec check: does every figure that a file cites appear at the cited place, and is no target
 * based on an unknown figure? Without files: are the facts themselves complete?
 */

#include "kcamp.h"
#include "kclaim.h"
#include "kplace.h"
#include "kspec.h"

#define ARROW " <- "
#define TARGET "-bound target >= "
#define TARGET_SHARE 0.90
/* People round the targets that they write. */
#define ROUNDING 0.005

enum { TEXT_MAX = 16 << 20, FIGURES = 64 };

/* What one file says, needed for the targets at its end. */
struct text {
	const char *name;
	const struct khw *hw;
	const struct khw_device *device; /* the one it is about; NULL: any */
	const char *device_name;
	struct consents consents;
	json_t *roofline; /* of the campaign, or NULL */
	struct kbuf *faults;
	double rates[FIGURES], bandwidths[FIGURES];
	size_t rate_count, bandwidth_count;
	char unknown[1024]; /* " metric metric " */
	long line;
};

static void fault(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
fault(struct text *t, const char *fmt, ...)
{
	va_list ap;
	auto_free char *why = NULL;

	va_start(ap, fmt);
	why = kvasprintf(fmt, ap);
	va_end(ap);
	kbuf_printf(t->faults, "%s:%ld: %s\n", t->name, t->line, why);
}

/* ---- what is cited ---- */

static const struct khw_device *
device_of_file(const struct khw *h, const char *file)
{
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->devices[i].file, file))
			return &h->devices[i];
	return NULL;
}

static const struct khw_fact *
fact_of_line(const struct khw_device *d, long line)
{
	for (size_t i = 0; i < d->fact_count; i++)
		if (d->facts[i].line == line)
			return &d->facts[i];
	return NULL;
}

/* 67 equals 67.0, but words must be the same. */
static bool
same_value(const char *a, const char *b)
{
	char *end_a, *end_b;
	double x = strtod(a, &end_a), y = strtod(b, &end_b);

	return end_a > a && !*end_a && end_b > b && !*end_b ? x == y : !strcmp(a, b);
}

/*
 * METRIC: VALUE UNIT, cited from FILE:LINE: does it appear there, and is it about the right device?
 */
static void
check_citation(struct text *t, const char *metric, const char *value, const char *unit,
    const char *file, long line)
{
	const struct khw_device *d = device_of_file(t->hw, file);
	const struct khw_fact *f = d ? fact_of_line(d, line) : NULL;

	if (!d)
		fault(t, "%s: no such file of facts", file);
	else if (!f || f->state != KHW_KNOWN)
		fault(t, "%s: %s:L%ld contains no fact", metric, file, line);
	else if (strcmp(f->metric, metric) != 0)
		fault(t, "%s: %s:L%ld is about %s", metric, file, line, f->metric);
	else if (!same_value(f->value, value) || strcmp(f->unit, unit) != 0)
		fault(t, "%s: the citation says %s %s, but %s:L%ld says %s %s", metric, value, unit,
		    file, line, f->value, f->unit);
	else if (t->device && d != t->device)
		fault(t, "%s: %s describes another device than %s", metric, file, t->device_name);
	else if (!strcmp(metric, "memory_bandwidth") && t->bandwidth_count < FIGURES)
		t->bandwidths[t->bandwidth_count++] = f->number;
	else if (strchr(metric, '_') && khw_unit(KHW_RATE, unit, NULL, 0) > 0 &&
	    t->rate_count < FIGURES)
		t->rates[t->rate_count++] = f->number;
}

/*
 * "[- `][DEVICE ]metric: value unit <- file:Lnn": the parts of a line with a citation, or a fault.
 */
static void
check_spec_line(struct text *t, const char *line, const char *arrow)
{
	auto_free char *left = kstrndup(line, (size_t)(arrow - line));
	char *start = left + strspn(left, " \t-*>`|"), *colon, *metric, *value, *unit;
	const char *locator = arrow + strlen(ARROW), *hedge = khw_hedge(left);
	char file[200], list[160];
	enum khw_dimension dimension;
	long number;
	int n = 0;

	colon = strrchr(start, ':');
	if (hedge) {
		fault(t, "'%s' hedges; write the fact itself", hedge);
	} else if (!colon || sscanf(locator, "%199[^: \t`]:L%ld%n", file, &number, &n) != 2) {
		fault(t, "write 'metric: value unit%sdocs/hardware/DEVICE.md:L12'", ARROW);
	} else {
		*colon = '\0';
		metric = strrchr(start, ' ');
		metric = metric ? metric + 1 : start;
		value = colon + 1 + strspn(colon + 1, " `");
		unit = strchr(value, ' ');
		if (!khw_metric(metric, &dimension)) {
			fault(t, "'%s' is not a metric", metric);
		} else if (!unit || khw_unit(dimension, unit + 1, list, sizeof list) <= 0) {
			fault(t, "%s: '%s' has no valid unit%s%s", metric, value, unit ? ": " : "",
			    unit ? list : "");
		} else {
			*unit++ = '\0';
			if (metric > start) {
				metric[-1] = '\0';
				if (!khw_find(t->hw, start))
					fault(t, "no file in docs/hardware describes '%s'", start);
				else if (khw_find(t->hw, start) != device_of_file(t->hw, file))
					fault(
					    t, "%s: %s does not describe %s", metric, file, start);
			}
			check_citation(t, metric, value, unit, file, number);
		}
	}
}

/* ---- targets ---- */

static bool
is_registered(const double *list, size_t count, double value)
{
	for (size_t i = 0; i < count; i++)
		if (fabs(TARGET_SHARE * list[i] - value) <= ROUNDING * value)
			return true;
	return false;
}

static bool
is_in_roofline(const struct text *t, double value)
{
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(t->roofline, "workloads"), i, row) {
		const char *unit = kjson_str_or(row, "target.unit", "");
		double factor =
		    khw_unit(strstr(unit, "/s") ? KHW_BANDWIDTH : KHW_RATE, unit, NULL, 0);

		if (fabs(kjson_num_or(row, "target.value", 0) * factor - value) <= ROUNDING * value)
			return true;
	}
	return false;
}

/*
 * The first unknown metric in the file that a target with this bound would depend on; NULL: none.
 */
static const char *
unknown_behind(struct text *t, bool memory)
{
	static char metric[64];
	enum khw_dimension dimension;

	for (const char *p = t->unknown; sscanf(p, " %63s", metric) == 1;
	     p = strstr(p, metric) + strlen(metric))
		if (khw_metric(metric, &dimension) &&
		    dimension == (memory ? KHW_BANDWIDTH : KHW_RATE) &&
		    !consent_for(&t->consents, metric))
			return metric;
	return NULL;
}

static void
check_target(struct text *t, const char *line, const char *mark)
{
	bool memory = mark - line >= 6 && !strncmp(mark - 6, "memory", 6);
	const char *value = mark + strlen(TARGET), *unknown = unknown_behind(t, memory);
	char unit[16], *end;
	double v = strtod(value, &end), factor;

	if (sscanf(end, " %15[A-Za-z/]", unit) != 1)
		unit[0] = '\0';
	factor = khw_unit(memory ? KHW_BANDWIDTH : KHW_RATE, unit, NULL, 0);
	if (end == value || !isfinite(v) || factor <= 0)
		fault(t, "a target needs a number and its unit: %s",
		    memory ? "TB/s or GB/s" : "TFLOPS");
	else if (unknown)
		fault(t,
		    "the target depends on %s, which is unknown; a person must agree to a "
		    "placeholder in placeholder.ok",
		    unknown);
	else if (!is_registered(memory ? t->bandwidths : t->rates,
	             memory ? t->bandwidth_count : t->rate_count, v * factor) &&
	    !is_in_roofline(t, v * factor)) {
		bool consented = false;

		for (size_t i = 0; i < t->consents.count; i++)
			consented |= is_registered(&t->consents.list[i].number, 1, v * factor);
		if (!consented)
			fault(t, "%g %s is not %.2f of any %s cited in this file", v, unit,
			    TARGET_SHARE, memory ? "bandwidth" : "rate");
	}
}

/* ---- records ---- */

static void
check_object(struct text *t, const json_t *o)
{
	const char *file = kjson_str_or(o, "file", NULL), *sum = kjson_str_or(o, "sha256", NULL),
	           *metric = kjson_str_or(o, "metric", NULL), *unit = kjson_str_or(o, "unit", "");
	const struct khw_device *d = file ? device_of_file(t->hw, file) : NULL;
	const json_t *value = json_object_get(o, "value");
	const struct khw_fact *f;
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(o, "facts"), i, one)
		check_object(t, one);
	if (!file || !sum || !metric)
		return;
	if (!d) {
		fault(t, "%s: no such file of facts", file);
		return;
	}
	if (strcmp(sum, d->sha256) != 0)
		fault(t, "%s: %s has changed since it was cited (sha256)", metric, file);
	f = fact_of_line(d, (long)kjson_int_or(o, "line", 0));
	if (!f || f->state != KHW_KNOWN || strcmp(f->metric, metric) != 0 ||
	    strcmp(f->unit, unit) != 0 ||
	    (json_is_string(value) ? strcmp(json_string_value(value), f->value) != 0
	                           : json_number_value(value) != strtod(f->value, NULL)))
		fault(t, "%s: is not in %s:L%ld", metric, file, (long)kjson_int_or(o, "line", 0));
}

static bool
check_json(struct text *t, const char *data, size_t len)
{
	json_auto_t *o = json_loadb(data, len, JSON_DISABLE_EOF_CHECK, NULL);
	bool is_object = json_is_object(o);

	if (is_object)
		check_object(t, o);
	return is_object;
}

/* ---- files ---- */

/* In any file, a rate or a bandwidth is either known or must not be stated. */
static void
check_hedge(struct text *t, const char *line)
{
	auto_free char *hedged = kclaim_hedged(line);

	if (hedged)
		fault(
		    t, "'%.100s' hedges; give the figure with its source, or leave it out", hedged);
}

/*
 * "[- `][DEVICE ]metric: value unit" and nothing else: the form of a hardware figure, without its
 * source.
 */
static void
check_bare_figure(struct text *t, const char *line, const char *arrow)
{
	auto_free char *left = kstrndup(line, arrow ? (size_t)(arrow - line) : strlen(line));
	char *colon = strrchr(left, ':'), *metric, *unit;
	enum khw_dimension dimension;
	char name[16];
	int n = 0;

	if (colon) {
		*colon = '\0';
		metric = strpbrk(left, " `*") ? left + strlen(left) : left;
		while (metric > left && !strchr(" `*", metric[-1]))
			metric--;
		strtod(colon + 1, &unit);
		if (unit > colon + 1 && khw_metric(metric, &dimension) &&
		    sscanf(unit, " %15[A-Za-z/]%n", name, &n) == 1 &&
		    !unit[n + (int)strspn(unit + n, " .`|")] &&
		    khw_unit(dimension, name, NULL, 0) > 0)
			fault(t,
			    "%s: has no source; write 'metric: value unit" ARROW "docs/hardware/"
			    "DEVICE.md:"
			    "L12'",
			    metric);
	}
}

static void
check_line(struct text *t, const char *line, bool targets)
{
	const char *arrow = strstr(line, ARROW), *mark = strstr(line, TARGET),
	           *unknown = strstr(line, ": UNKNOWN (");
	const char *start;
	bool cites = arrow &&
	    (!strncmp(arrow + strlen(ARROW), "docs/hardware/", 14) ||
	        !strncmp(arrow + strlen(ARROW), "hardware/", 9));

	if (targets) {
		if (mark)
			check_target(t, line, mark);
		return;
	}
	if (!cites)
		check_hedge(t, line);
	if (*line == '{' && check_json(t, line, strlen(line)))
		return;
	if (cites)
		check_spec_line(t, line, arrow);
	else
		check_bare_figure(t, line, arrow);
	if (unknown && strlen(t->unknown) + 70 < sizeof t->unknown) {
		for (start = unknown; start > line &&
		     (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z') ||
		         (start[-1] >= '0' && start[-1] <= '9'));
		     start--)
			continue;
		snprintf(t->unknown + strlen(t->unknown), 70, " %.*s ",
		    (int)(unknown - start < 64 ? unknown - start : 64), start);
	}
}

static void
check_text(struct text *t, const char *path)
{
	size_t len;
	char *data = kread_file_or_die(!strcmp(path, "-") ? "/dev/stdin" : path, TEXT_MAX, &len);

	t->name = path;
	t->rate_count = t->bandwidth_count = 0;
	t->unknown[0] = '\0';
	t->line = 1;
	if (strlen(path) > 5 && !strcmp(path + strlen(path) - 5, ".json")) {
		check_hedge(t, data);
		if (!check_json(t, data, len))
			fault(t, "it is not a JSON object");
		free(data);
		return;
	}
	for (int pass = 0; pass < 2; pass++) {
		t->line = 0;
		for (char *p = data; p < data + len;) {
			size_t n = strcspn(p, "\n");
			auto_free char *line = kstrndup(p, n);

			t->line++;
			line[strcspn(line, "\r")] = '\0';
			check_line(t, line, pass == 1);
			p += n + 1;
		}
	}
	free(data);
}

/* What every file of facts must state, even if only that it is unavailable. */
static void
check_facts(const struct khw *h, struct kbuf *faults)
{
	static const char *const required[] = { "fp64_vector", "fp64_matrix", "fp32_vector",
		"fp32_matrix", "tf32_matrix", "fp16_vector", "fp16_matrix", "bf16_vector",
		"bf16_matrix", "fp8_matrix", "int8_matrix", "memory_bandwidth", "memory_size",
		"l2_size", "units", "boost_clock", "warp_width", "registers_per_unit",
		"shared_memory_per_unit", "max_threads_per_unit" };

	for (size_t i = 0; i < h->count; i++)
		for (size_t j = 0; j < LEN(required); j++)
			if (!khw_fact(&h->devices[i], required[j]))
				kbuf_printf(faults,
				    "%s:1: %s is missing: a value with its source, 'unavailable: "
				    "reason' or 'none: reason'\n",
				    h->devices[i].file, required[j]);
}

static void
choose(struct text *t, const struct options *o)
{
	struct kcamp *c = o->campaign ? kcamp_load(o->campaign) : NULL;
	auto_free char *path = o->campaign ? kplace_trial(o->campaign, 0, "roofline.json") : NULL;

	if (o->device || (c && *kcamp_str(c, "gpu"))) {
		t->device_name = kstrdup(o->device ? o->device : kcamp_str(c, "gpu"));
		t->device = device_or_die(t->hw, t->device_name);
	}
	if (path)
		t->roofline = kjson_if_there(path);
	consents_load(&t->consents, o->campaign ? o->campaign : ".");
	kcamp_free(c);
}

int
command_check(const struct options *o)
{
	auto_buf struct kbuf faults = { 0 };
	struct text t = { .hw = khw_load(o->hardware, o->campaign), .faults = &faults };
	size_t len;

	choose(&t, o);
	if (!o->count)
		check_facts(t.hw, &faults);
	for (size_t i = 0; i < o->count; i++)
		check_text(&t, o->operands[i]);
	len = faults.len;
	kout_open(o->output);
	if (len)
		kout_line(faults.data, len - 1);
	kout_commit();
	consents_free(&t.consents);
	json_decref(t.roofline);
	khw_free((struct khw *)t.hw);
	free((char *)t.device_name);
	return len ? K_NO : K_OK;
}
