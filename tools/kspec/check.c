/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec check: does every figure that a file cites appear at the cited place, and is no target
 * based on an unknown figure? Without files: are the facts themselves complete?
 */

#include "kcamp.h"
#include "kclaim.h"
#include "kplace.h"
#include "kregex.h"
#include "kspec.h"

#define ARROW " <- "
#define NUMBER "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?"
#define TARGET_SHARE 0.90
/* People round the targets that they write. */
#define ROUNDING 0.005

enum { TEXT_MAX = 16 << 20 };

/* What one file says, needed for the targets at its end. */
struct text {
	const char *name;
	const struct khw *hw;
	const struct kcamp *camp;        /* NULL: none */
	const struct khw_device *device; /* the one it is about; NULL: any */
	const char *device_name;
	struct consents consents;
	json_t *roofline; /* of the campaign, or NULL */
	struct kfaults faults;
	json_t *rates, *bandwidths, *unknown; /* arrays of numbers, and of metrics */
	long line;
};

#define fault(t, ...) fault_at(t, kasprintf(__VA_ARGS__))

/* Frees WHY. */
static void
fault_at(struct text *t, char *why)
{
	kfault(&t->faults, "%s:%ld: %s", t->name, t->line, why);
	free(why);
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
	else if (!strcmp(metric, "memory_bandwidth"))
		json_array_append_new(t->bandwidths, json_real(f->number));
	else if (strchr(metric, '_') && khw_unit(KHW_RATE, unit, NULL, 0) > 0)
		json_array_append_new(t->rates, json_real(f->number));
}

/*
 * "[- `][DEVICE ]metric: value unit <- file:Lnn": the parts of a line with a citation, or a fault.
 */
static void
check_spec_line(struct text *t, const char *line, const char *arrow)
{
	enum { DEVICE, METRIC, VALUE, UNIT, FILE_NAME, LINE, PARTS };
	static const char form[] = "\\A[-\\s*>`|]*(?:(.*) )?([^ ]*):[ `]*([^: ]*)(?: "
	                           "([^:]*))?" ARROW "([^: \t`]+):L(\\d+)";
	auto_free char *left = kstrndup(line, (size_t)(arrow - line));
	const char *hedge = khw_hedge(left), *unit;
	struct kregex_span at[PARTS + 1];
	enum khw_dimension dimension;
	char list[160], *part[PARTS] = { NULL };

	if (hedge) {
		fault(t, "'%s' hedges; write the fact itself", hedge);
		return;
	}
	if (!kregex_find(form, line, strlen(line), at, LEN(at))) {
		fault(t, "write 'metric: value unit%sdocs/hardware/DEVICE.md:L12'", ARROW);
		return;
	}
	for (size_t i = 0; i < PARTS; i++)
		part[i] = kregex_text(line, at[i + 1]);
	unit = part[UNIT];
	if (!khw_metric(part[METRIC], &dimension)) {
		fault(t, "'%s' is not a metric", part[METRIC]);
	} else if (!unit || khw_unit(dimension, unit, list, sizeof list) <= 0) {
		fault(t, "%s: '%s%s%s' has no valid unit%s%s", part[METRIC], part[VALUE],
		    unit ? " " : "", unit ? unit : "", unit ? ": " : "", unit ? list : "");
	} else {
		const struct khw_device *d = part[DEVICE] ? khw_find(t->hw, part[DEVICE]) : NULL;

		if (part[DEVICE] && !d)
			fault(t, "no file in docs/hardware describes '%s'", part[DEVICE]);
		else if (d && d != device_of_file(t->hw, part[FILE_NAME]))
			fault(t, "%s: %s does not describe %s", part[METRIC], part[FILE_NAME],
			    part[DEVICE]);
		check_citation(
		    t, part[METRIC], part[VALUE], unit, part[FILE_NAME], atol(part[LINE]));
	}
	for (size_t i = 0; i < PARTS; i++)
		free(part[i]);
}

/* ---- targets ---- */

static bool
is_near(double share_of, double value)
{
	return fabs(TARGET_SHARE * share_of - value) <= ROUNDING * value;
}

/* Is VALUE the target for one of the figures cited in the file, or confirmed by a person? */
static bool
is_registered(const struct text *t, const json_t *figures, double value)
{
	const json_t *figure;
	size_t i;

	json_array_foreach(figures, i, figure)
		if (is_near(json_real_value(figure), value))
			return true;
	for (i = 0; i < t->consents.count; i++)
		if (is_near(t->consents.list[i].number, value))
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
	enum khw_dimension dimension;
	json_t *item;
	size_t i;

	json_array_foreach(t->unknown, i, item) {
		const char *metric = json_string_value(item);

		if (khw_metric(metric, &dimension) &&
		    dimension == (memory ? KHW_BANDWIDTH : KHW_RATE) &&
		    !consent_for(&t->consents, metric))
			return metric;
	}
	return NULL;
}

static void
check_target(struct text *t, const char *line)
{
	struct kregex_span at[4];
	auto_free char *unit = NULL;
	const char *unknown;
	double v, factor;
	bool memory;

	if (!kregex_find("(memory)?-bound target >= (?:(" NUMBER ") *([A-Za-z/]{1,15}))?", line,
	        strlen(line), at, LEN(at)))
		return;
	memory = at[1].from != KREGEX_UNSET;
	unit = kregex_text(line, at[3]);
	v = unit ? strtod(line + at[2].from, NULL) : NAN;
	factor = khw_unit(memory ? KHW_BANDWIDTH : KHW_RATE, unit ? unit : "", NULL, 0);
	unknown = unknown_behind(t, memory);
	if (!isfinite(v) || factor <= 0)
		fault(t, "a target needs a number and its unit: %s",
		    memory ? "TB/s or GB/s" : "TFLOPS");
	else if (unknown)
		fault(t,
		    "the target depends on %s, which is unknown; a person must agree to a "
		    "placeholder in placeholder.ok",
		    unknown);
	else if (!is_registered(t, memory ? t->bandwidths : t->rates, v * factor) &&
	    !is_in_roofline(t, v * factor))
		fault(t, "%g %s is not %.2f of any %s cited in this file", v, unit, TARGET_SHARE,
		    memory ? "bandwidth" : "rate");
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
check_json(struct text *t, const char *data)
{
	json_auto_t *o = json_loads(data, JSON_DISABLE_EOF_CHECK, NULL);
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
	struct kregex_span at[3];
	auto_free char *metric = NULL, *unit = NULL;
	enum khw_dimension dimension;

	if (!kregex_find("([^ `*:]*): *" NUMBER " *([A-Za-z/]{1,15})[ .`|]*\\z", line,
	        arrow ? (size_t)(arrow - line) : strlen(line), at, LEN(at)))
		return;
	metric = kregex_text(line, at[1]);
	unit = kregex_text(line, at[2]);
	if (khw_metric(metric, &dimension) && khw_unit(dimension, unit, NULL, 0) > 0)
		fault(t,
		    "%s: has no source; write 'metric: value unit" ARROW "docs/hardware/"
		    "DEVICE.md:L12'",
		    metric);
}

static void
check_line(struct text *t, const char *line)
{
	const char *arrow = strstr(line, ARROW);
	bool cites = kregex_is(ARROW "(?:docs/)?hardware/", line);
	struct kregex_span at[2];

	if (!cites)
		check_hedge(t, line);
	if (*line == '{' && check_json(t, line))
		return;
	if (cites)
		check_spec_line(t, line, arrow);
	else
		check_bare_figure(t, line, arrow);
	if (kregex_find("([a-z\\d_]+): UNKNOWN \\(", line, strlen(line), at, LEN(at)))
		json_array_append_new(
		    t->unknown, json_stringn(line + at[1].from, at[1].to - at[1].from));
}

/* Targets come last: what they are based on may stand after them. */
static void
check_text(struct text *t, const char *path)
{
	auto_free char *data = kread_text_or_die(path, TEXT_MAX);

	t->name = path;
	t->line = 1;
	if (kregex_is("[^/]\\.json\\z", path)) {
		check_hedge(t, data);
		if (!check_json(t, data))
			fault(t, "it is not a JSON object");
		return;
	}
	t->rates = json_array();
	t->bandwidths = json_array();
	t->unknown = json_array();
	for (int targets = 0; targets < 2; targets++) {
		auto_free char *copy = kstrdup(data);
		char *rest = copy, *line;

		for (t->line = 1; (line = strsep(&rest, "\n")); t->line++) {
			line[strcspn(line, "\r")] = '\0';
			if (targets)
				check_target(t, line);
			else
				check_line(t, line);
		}
	}
	json_decref(t->rates);
	json_decref(t->bandwidths);
	json_decref(t->unknown);
}

/* What every file of facts must state, even if only that it is unavailable. */
static void
check_facts(const struct khw *h, struct kfaults *faults)
{
	static const char *const required[] = { "fp64_vector", "fp64_matrix", "fp32_vector",
		"fp32_matrix", "tf32_matrix", "fp16_vector", "fp16_matrix", "bf16_vector",
		"bf16_matrix", "fp8_matrix", "int8_matrix", "memory_bandwidth", "memory_size",
		"l2_size", "units", "boost_clock", "warp_width", "registers_per_unit",
		"shared_memory_per_unit", "max_threads_per_unit" };

	for (size_t i = 0; i < h->count; i++)
		for (size_t j = 0; j < LEN(required); j++)
			if (!khw_fact(&h->devices[i], required[j]))
				kfault(faults,
				    "%s:1: %s is missing: a value with its source, 'unavailable: "
				    "reason' or 'none: reason'",
				    h->devices[i].file, required[j]);
}

static void
choose(struct text *t, const struct options *o)
{
	auto_free char *path = o->campaign ? kplace_trial(o->campaign, 0, "roofline.json") : NULL;

	t->camp = o->campaign ? kcamp_load(o->campaign) : NULL;
	t->device_name = o->device ? o->device : t->camp ? kcamp_str(t->camp, "gpu") : "";
	if (*t->device_name)
		t->device = device_or_die(t->hw, t->device_name);
	if (path)
		t->roofline = kjson_if_there(path);
	consents_load(&t->consents, o->campaign ? o->campaign : ".");
}

int
command_check(const struct options *o)
{
	/* What it loads is kept to the end. */
	static struct text t;

	t.hw = khw_load(o->hardware, o->campaign);
	choose(&t, o);
	if (!o->count)
		check_facts(t.hw, &t.faults);
	for (size_t i = 0; i < o->count; i++)
		check_text(&t, o->operands[i]);
	kout_open(o->output);
	if (t.faults.count)
		kout_line(t.faults.text.data, t.faults.text.len - 1);
	kout_commit();
	return t.faults.count ? K_NO : K_OK;
}
