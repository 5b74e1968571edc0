/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec check: does every figure that a file cites appear at the cited place, and is no target
 * based on an unknown figure? Without files: are the facts themselves complete?
 */

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
static struct page {
	const char *name;
	const struct khw *hw;
	const struct khw_device *device; /* the one it is about; NULL: any */
	const char *device_name;
	json_t *roofline; /* of the campaign, or NULL */
	struct kfaults faults;
	json_t *rates, *bandwidths, *unknown; /* arrays of numbers, and of metrics */
	long line;
} page; /* the one that is read now; what it loads is kept to the end */

#define fault(...) fault_at(kasprintf(__VA_ARGS__))

/* Frees WHY. */
static void
fault_at(char *why)
{
	kfault(&page.faults, "%s:%ld: %s", page.name, page.line, why);
	free(why);
}

/* ---- what is cited ---- */

static const struct khw_device *
device_of_file(const char *file)
{
	return krow_with(page.hw->devices, page.hw->count, file, file);
}

static const struct khw_fact *
fact_of_line(const struct khw_device *d, long line)
{
	kforeach_of(fact, d->facts, d->fact_count)
		if (fact->line == line)
			return fact;
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
check_citation(const char *metric, const char *value, const char *unit, const char *file, long line)
{
	const struct khw_device *d = device_of_file(file);
	const struct khw_fact *f = d ? fact_of_line(d, line) : NULL;

	if (!d)
		fault("%s: no such file of facts", file);
	else if (!f || f->state != KHW_KNOWN)
		fault("%s: %s:L%ld contains no fact", metric, file, line);
	else if (strcmp(f->metric, metric))
		fault("%s: %s:L%ld is about %s", metric, file, line, f->metric);
	else if (!same_value(f->value, value) || strcmp(f->unit, unit))
		fault("%s: the citation says %s %s, but %s:L%ld says %s %s", metric, value, unit,
		    file, line, f->value, f->unit);
	else if (page.device && d != page.device)
		fault("%s: %s describes another device than %s", metric, file, page.device_name);
	else if (!strcmp(metric, "memory_bandwidth"))
		json_array_append_new(page.bandwidths, json_real(f->number));
	else if (strchr(metric, '_') && khw_unit(KHW_RATE, unit) > 0)
		json_array_append_new(page.rates, json_real(f->number));
}

/*
 * "[- `][DEVICE ]metric: value unit <- file:Lnn": the parts of a line with a citation, or a fault.
 * LEFT is what comes before the arrow.
 */
static void
check_spec_line(const char *line, const char *left)
{
	static const char form[] = "\\A[-\\s*>`|]*(?:(.*) )?([^ ]*):[ `]*([^: ]*)(?: "
	                           "([^:]*))?" ARROW "([^: \t`]+):L(\\d+)";
	auto_free char *device = NULL, *metric = NULL, *value = NULL, *unit = NULL, *file = NULL,
	               *at = NULL;
	const char *hedge = khw_hedge(left);
	enum khw_dimension dimension;

	if (hedge) {
		fault("'%s' hedges; write the fact itself", hedge);
		return;
	}
	if (!kregex_scan(form, line, &device, &metric, &value, &unit, &file, &at)) {
		fault("write 'metric: value unit%sdocs/hardware/DEVICE.md:L12'", ARROW);
		return;
	}
	if (!khw_metric(metric, &dimension)) {
		fault("'%s' is not a metric", metric);
	} else if (khw_unit(dimension, unit) <= 0) {
		fault("%s: '%s%s%s' has no valid unit%s%s", metric, value, unit ? " " : "",
		    unit ?: "", unit ? ": " : "", unit ? khw_units(dimension) : "");
	} else {
		const struct khw_device *d = device ? khw_find(page.hw, device) : NULL;

		if (device && !d)
			fault("no file in docs/hardware describes '%s'", device);
		else if (d && d != device_of_file(file))
			fault("%s: %s does not describe %s", metric, file, device);
		check_citation(metric, value, unit, file, atol(at));
	}
}

/* ---- targets ---- */

static bool
is_near(double share_of, double value)
{
	return fabs(TARGET_SHARE * share_of - value) <= ROUNDING * value;
}

/* Is VALUE the target for one of the figures cited in the file, or confirmed by a person? */
static bool
is_registered(const json_t *figures, double value)
{
	return kany(kjson_foreach(figure, figures), is_near(json_real_value(figure), value)) ||
	    kany(kforeach_list(one, &consents), is_near(one->number, value));
}

static bool
is_in_roofline(double value)
{
	kjson_foreach(row, page.roofline, "workloads") {
		const char *unit = kjson_str(row, "target.unit");
		double factor = khw_unit(strstr(unit, "/s") ? KHW_BANDWIDTH : KHW_RATE, unit);

		if (fabs(kjson_num(row, "target.value") * factor - value) <= ROUNDING * value)
			return true;
	}
	return false;
}

/*
 * The first unknown metric in the file that a target with this bound would depend on; NULL: none.
 */
static const char *
unknown_behind(bool memory)
{
	enum khw_dimension dimension;

	kjson_foreach_text(item, page.unknown) {
		const char *metric = item;

		if (khw_metric(metric, &dimension) &&
		    dimension == (memory ? KHW_BANDWIDTH : KHW_RATE) && !consent_for(metric))
			return metric;
	}
	return NULL;
}

static void
check_target(const char *line)
{
	static const char form[] = "(memory)?-bound target >= (?:(" NUMBER ") *([A-Za-z/]{1,15}))?";
	auto_free char *memory = NULL, *number = NULL, *unit = NULL;
	const char *unknown;
	double v, factor;

	if (!kregex_scan(form, line, &memory, &number, &unit))
		return;
	v = number ? atof(number) : NAN;
	factor = khw_unit(memory ? KHW_BANDWIDTH : KHW_RATE, unit ?: "");
	unknown = unknown_behind(memory);
	if (!isfinite(v) || factor <= 0)
		fault(
		    "a target needs a number and its unit: %s", memory ? "TB/s or GB/s" : "TFLOPS");
	else if (unknown)
		fault("the target depends on %s, which is unknown; a person must agree to a "
		      "placeholder in placeholder.ok",
		    unknown);
	else if (!is_registered(memory ? page.bandwidths : page.rates, v * factor) &&
	    !is_in_roofline(v * factor))
		fault("%g %s is not %.2f of any %s cited in this file", v, unit, TARGET_SHARE,
		    memory ? "bandwidth" : "rate");
}

/* ---- records ---- */

static void
check_object(const json_t *o)
{
	const char *file = kjson_maybe(o, "file"), *sum = kjson_maybe(o, "sha256"),
	           *metric = kjson_maybe(o, "metric");
	const struct khw_device *d = file ? device_of_file(file) : NULL;
	const json_t *value = json_object_get(o, "value");

	kjson_foreach(one, o, "facts")
		check_object(one);
	if (!file || !sum || !metric)
		return;
	if (d && strcmp(sum, d->sha256))
		fault("%s: %s has changed since it was cited (sha256)", metric, file);
	check_citation(metric,
	    json_string_value(value) ?: kshown("%.15g", json_number_value(value)),
	    kjson_str(o, "unit"), file, kjson_int(o, "line"));
}

static bool
check_json(const char *data)
{
	json_auto_t *o = json_loads(data, JSON_DISABLE_EOF_CHECK, NULL);
	bool is_object = json_is_object(o);

	if (is_object)
		check_object(o);
	return is_object;
}

/* ---- files ---- */

/* In any file, a rate or a bandwidth is either known or must not be stated. */
static void
check_hedge(const char *line)
{
	auto_free char *hedged = kclaim_hedged(line);

	if (hedged)
		fault("'%.100s' hedges; give the figure with its source, or leave it out", hedged);
}

/*
 * "[- `][DEVICE ]metric: value unit" and nothing else: the form of a hardware figure, without its
 * source.
 */
static void
check_bare_figure(const char *left)
{
	auto_free char *metric = NULL, *unit = NULL;
	enum khw_dimension dimension;

	if (kregex_scan(
	        "([^ `*:]*): *" NUMBER " *([A-Za-z/]{1,15})[ .`|]*\\z", left, &metric, &unit) &&
	    khw_metric(metric, &dimension) && khw_unit(dimension, unit) > 0)
		fault("%s: has no source; write 'metric: value unit" ARROW "docs/hardware/"
		      "DEVICE.md:L12'",
		    metric);
}

static void
check_line(const char *line)
{
	const char *arrow = strstr(line, ARROW);
	bool cites = kregex_is(ARROW "(?:docs/)?hardware/", line);
	auto_free char *left = kstrndup(line, arrow ? (size_t)(arrow - line) : strlen(line)),
	               *unknown = kregex_part("([a-z\\d_]+): UNKNOWN \\(", line);

	if (!cites)
		check_hedge(line);
	if (*line == '{' && check_json(line))
		return;
	if (cites)
		check_spec_line(line, left);
	else
		check_bare_figure(left);
	if (unknown)
		kjson_add(page.unknown, unknown);
}

/* Targets come last: what they are based on may come after them. */
static void
check_text(const char *path)
{
	auto_free char *data = kread_text_or_die(path, TEXT_MAX);

	page.name = path;
	page.line = 1;
	if (kregex_is("[^/]\\.json\\z", path)) {
		check_hedge(data);
		if (!check_json(data))
			fault("it is not a JSON object");
		return;
	}
	page.rates = json_array();
	page.bandwidths = json_array();
	page.unknown = json_array();
	for (int targets = 0; targets < 2; targets++) {
		auto_free char *copy = kstrdup(data);
		char *rest = copy, *line;

		for (page.line = 1; (line = strsep(&rest, "\n")); page.line++) {
			line[strcspn(line, "\r")] = '\0';
			if (targets)
				check_target(line);
			else
				check_line(line);
		}
	}
	json_decref(page.rates);
	json_decref(page.bandwidths);
	json_decref(page.unknown);
}

/* What every file of facts must state, even if only that it is unavailable. */
static void
check_facts(void)
{
	static const char *const required[] = { "fp64_vector", "fp64_matrix", "fp32_vector",
		"fp32_matrix", "tf32_matrix", "fp16_vector", "fp16_matrix", "bf16_vector",
		"bf16_matrix", "fp8_matrix", "int8_matrix", "memory_bandwidth", "memory_size",
		"l2_size", "units", "boost_clock", "warp_width", "registers_per_unit",
		"shared_memory_per_unit", "max_threads_per_unit" };

	kforeach_of(device, page.hw->devices, page.hw->count)
		kforeach(metric, required)
			if (!khw_fact(device, *metric))
				kfault(&page.faults,
				    "%s:1: %s is missing: a value with its source, "
				    "'unavailable: reason' or 'none: reason'",
				    device->file, *metric);
}

static void
choose(void)
{
	const char *path = given.campaign ? kplace_trial(0, "roofline.json") : NULL;

	if (given.campaign) {
		kcamp.dir = given.campaign;
		kcamp_load();
	}
	page.device_name = given.device ?: given.campaign ? kcamp_str("gpu") : "";
	if (*page.device_name)
		page.device = device_or_die(page.hw, page.device_name);
	if (path)
		page.roofline = kjson_if_there(path);
	consents_load(given.campaign ?: ".");
}

int
command_check(void)
{
	page.hw = khw_load(given.hardware, given.campaign, NULL);
	choose();
	if (!given.count)
		check_facts();
	kforeach_of(operand, given.operands, given.count)
		check_text(*operand);
	kout_open(given.output);
	if (page.faults.count)
		kout_line("%s", page.faults.text.data);
	kout_commit();
	return page.faults.count ? K_NO : K_OK;
}
