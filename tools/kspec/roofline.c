/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec roofline, Step 0 of a campaign: what bounds each timed workload, the least time that it can
 * take, and targets. A view of the task, the manifest, the facts about the device, and the
 * measurements on it; labels keep vendors' figures and measurements apart everywhere.
 */
#include <strings.h>

#include "backend.h"
#include "kcamp.h"
#include "kgain.h"
#include "kroof.h"
#include "kspec.h"
#include "ktask.h"

/*
 * A target is this share of the ceiling that applies; a time below this share of the least possible
 * time raises an alarm.
 */
#define TARGET_SHARE 0.90
#define ALARM_SHARE 0.90
/*
 * If it moves less than this, no device gets close to its bandwidth: then the ceiling is a measured
 * copy of the same size.
 */
#define SMALL_BYTES 100e6
/* Sizes count as equal when they differ by less than this. */
#define SAME_SIZE 0.01
/* A median this many times the fastest sample was measured on a busy machine. */
#define BUSY 2

/* A rate or bandwidth, in operations or bytes per second; 0: unknown. */
struct figure {
	double number;
	const char *by;   /* "sourced", "placeholder", "measured …" */
	const char *from; /* file:Lnn, or the record; kept to the end */
};

static struct step {
	const char *dir;
	struct kcamp *camp;
	struct ktask *task;
	struct khw *hw;
	const struct khw_device *device; /* the device whose facts apply; NULL: unknown */
	/* trials/000/ceilings.json; the device, as its driver describes it; or NULL */
	json_t *ceilings, *running;
	json_t *reference; /* the evaluation of trial 000, or NULL */
	json_t *unknown, *mismatches, *placeholders, *stop;
	json_t *implausible;           /* measured ceilings that are certainly or possibly wrong */
	const char *compute;           /* metric, or NULL */
	struct figure rate, bandwidth; /* peaks: for the roofline, least times and bounds */
	/* ceilings for targets: measured ones if there are any */
	struct figure fast_rate, copy;
	bool strict, lacking;
} step; /* of this process; what it loads is kept to the end */

/* WHY is taken over. */
static void
add_unknown(const char *metric, json_t *why)
{
	json_array_append_new(step.unknown, json_pack("{s:s,s:o}", "metric", metric, "why", why));
}

/* WHAT and WHY are taken over. */
static void
add_implausible(json_t *what, double value, const char *unit, json_t *why)
{
	json_array_append_new(step.implausible,
	    json_pack("{s:o,s:f,s:s,s:o}", "what", what, "value", value, "unit", unit, "why", why));
}

/* ---- which device ---- */

/*
 * A JSON file of the campaign, or the first record of a file of records; NULL when there is none.
 */
static json_t *
load(const char *name, bool records)
{
	auto_free char *path = kasprintf("%s/%s", step.dir, name);

	return records ? kin_first(path) : kjson_if_there(path);
}

/* The driver's description, from the ceilings or from the evaluation of the reference. */
static json_t *
running_device(void)
{
	json_t *eval = step.reference, *device = json_object_get(step.ceilings, "device");

	if (!device && eval)
		device = (json_t *)kjson_path(eval, "eval.environment.device");
	if (json_is_object(device) && json_object_get(device, "name"))
		device = json_incref(device);
	else if (kjson_str_or(eval, "eval.environment.opencl.device", NULL) &&
	    !kjson_bool(eval, "eval.environment.opencl.cpu"))
		device =
		    json_pack("{s:s}", "name", kjson_str(eval, "eval.environment.opencl.device"));
	else
		device = NULL;
	return device;
}

/*
 * A difference between the driver and the documentation: the device decides, and the difference is
 * reported by name.
 */
static void
add_mismatch(const char *metric, const char *documented, const char *where, const char *running)
{
	if (step.strict)
		kdie(K_USAGE, "%s: %s (%s), but the device in use reports %s", metric, documented,
		    where, running);
	kwarn("%s: %s (%s), but the device in use reports %s", metric, documented, where, running);
	json_array_append_new(step.mismatches,
	    json_pack("{s:s,s:s,s:s,s:s}", "metric", metric, "documented", documented, "where",
	        where, "running", running));
}

/* Returns how many properties reported by the driver differ from the facts of D. */
static int
compare_properties(const struct khw_device *d)
{
	static const struct {
		const char *metric, *key;
		/* the driver reports memory without what it keeps, and in other units */
		double factor, tolerance;
	} properties[] = {
		{ "units", "multiprocessors", 1, 0 },
		{ "memory_size", "memory_bytes", 1, 0.1 },
		{ "l2_size", "l2_bytes", 1, 0.01 },
		{ "boost_clock", "clock_khz", 1e3, 0.01 },
	};
	const struct khw_fact *f = khw_known(d, "compute_capability");
	const char *running = kjson_str(step.running, "compute_capability");
	bool told = kcamp_backend(step.camp)->facts;
	int count = 0;

	/* HIP reports no such version, and the L2 of only one of several dies. */
	if (f && *running && told && strcmp(f->value, running) != 0) {
		auto_free char *where = kasprintf("%s:L%ld", d->file, f->line);

		add_mismatch(f->metric, f->value, where, running);
		count++;
	}
	for (size_t i = 0; i < LEN(properties); i++) {
		double v = kjson_num(step.running, properties[i].key) * properties[i].factor;

		f = khw_known(d, properties[i].metric);
		if (f && v > 0 && (told || i != 2) &&
		    fabs(v - f->number) > properties[i].tolerance * f->number) {
			auto_free char *where = kasprintf("%s:L%ld", d->file, f->line),
			               *said = kasprintf("%s %s", f->value, f->unit),
			               *is = kasprintf("%.15g (%s)", v / properties[i].factor,
			                   properties[i].key);

			add_mismatch(f->metric, said, where, is);
			count++;
		}
	}
	return count;
}

static void
choose_device(void)
{
	const char *asked = kcamp_str(step.camp, "gpu"), *backend = kcamp_str(step.camp, "backend");
	const char *running = kjson_str(step.running, "name");
	const struct khw_device *d = *asked ? khw_find(step.hw, asked) : NULL,
	                        *real = *running ? khw_find(step.hw, running) : NULL;

	if (!*asked && !*running && !kcamp_backend(step.camp)->device)
		d = khw_find(step.hw, "x86");
	if (*asked && *running && (d ? real != d : strcasecmp(asked, running) != 0))
		add_mismatch("name", asked, "campaign.json: gpu", running);
	step.device = *running ? real : d;
	if (step.device && *running && compare_properties(step.device)) {
		add_unknown("device",
		    json_sprintf("the device in use is not the one that %s describes, so these "
		                 "facts do not apply",
		        step.device->file));
		step.device = NULL;
	} else if (!step.device) {
		auto_free char *near = khw_near(step.hw, *running ? running : asked);

		add_unknown("device",
		    json_sprintf("no file in docs/hardware describes '%s'%s%s",
		        *running     ? running
		            : *asked ? asked
		                     : backend,
		        *near ? "; facts about other devices are never used: " : "", near));
	}
}

/* ---- ceilings ---- */

static struct figure
peak(const char *metric)
{
	const struct khw_fact *f = khw_known(step.device, metric),
	                      *any = step.device ? khw_fact(step.device, metric) : NULL;
	const struct consent *c = consent_for(metric);

	if (f && c)
		kdie(K_USAGE,
		    "%s/placeholder.ok:%ld: %s is known (%s:L%ld: %s %s); remove the line",
		    step.dir, c->line, metric, step.device->file, f->line, f->value, f->unit);
	if (f)
		return (struct figure){ f->number, "sourced peak",
			kasprintf("%s:L%ld", step.device->file, f->line) };
	if (c) {
		char *from = kasprintf("placeholder.ok:L%ld", c->line);

		json_array_append_new(step.placeholders,
		    json_pack("{s:s,s:f,s:s,s:s}", "metric", metric, "value",
		        strtod(c->value, NULL), "unit", c->unit, "from", from));
		return (struct figure){ c->number, "placeholder", from };
	}
	add_unknown(metric,
	    json_string(any       ? any->source
	            : step.device ? "its file does not have it"
	                          : "the device is unknown"));
	return (struct figure){ 0 };
}

static struct figure
measured(double number, const char *by)
{
	return number > 0 ? (struct figure){ number, by, "trials/000/ceilings.json" }
	                  : (struct figure){ 0 };
}

static struct figure
measured_rate(const char *metric)
{
	const json_t *rates = json_object_get(step.ceilings, "rates");
	double best = 0;

	kjson_foreach(row, rates)
		if (kjson_is(row, "metric", metric))
			best = fmax(best, kjson_num(row, "best_tflops") * 1e12);
	return measured(best, "measured maximum");
}

/*
 * The fastest copy that the caches cannot hold or, if BYTES is above 0, the one of that size. The
 * best of its samples is used: other work on the machine makes a copy slower, never faster, and
 * this is a ceiling.
 */
static struct figure
measured_copy(double bytes)
{
	const json_t *copies = json_object_get(step.ceilings, "copies");
	double best = 0;

	kjson_foreach(row, copies) {
		double moved = kjson_num(row, "moved_bytes");

		if (!kroof_copy_plausible(row, kroof_best_copy(copies)))
			continue;
		if (bytes > 0 ? fabs(moved - bytes) <= SAME_SIZE * bytes
		              : moved >= SMALL_BYTES && kjson_bool(row, "beyond_caches"))
			best = fmax(best, kjson_num(row, "best_gbps") * 1e9);
	}
	return measured(best, bytes > 0 ? "measured copy of the same size" : "measured maximum");
}

/*
 * Measurements must be consistent. A copy that was much slower than its size explains is not a
 * ceiling; one that varied much may not be, so no search ends because of it.
 */
static void
add_if_busy(json_t *what, double value, const char *unit, double low, double high)
{
	if (low > 0 && high > BUSY * low)
		add_implausible(json_incref(what), value, unit,
		    json_sprintf("the median sample took %.3g times as long as the fastest: the "
		                 "machine was busy",
		        high / low));
}

static void
check_measured(void)
{
	const json_t *copies = json_object_get(step.ceilings, "copies");
	double best = kroof_best_copy(copies), reached;

	kjson_foreach(row, copies) {
		json_auto_t *what =
		    json_sprintf("copy of %.6g bytes", kjson_num(row, "moved_bytes"));

		reached = kjson_num(row, "best_gbps");
		if (!kroof_copy_plausible(row, best))
			add_implausible(json_incref(what), reached, "GB/s",
			    json_sprintf("a larger copy reached %.4g GB/s: this one was measured "
			                 "while the machine was busy, and is not used",
			        best));
		else
			add_if_busy(what, reached, "GB/s", kjson_num(row, "min_ns"),
			    kjson_num(row, "median_ns"));
	}
	kjson_foreach(row, json_object_get(step.ceilings, "rates")) {
		reached = kjson_num(row, "best_tflops");
		add_if_busy(json_object_get(row, "metric"), reached, "TFLOPS",
		    kjson_num(row, "tflops"), reached);
	}
}

/*
 * The highest rate of AMOUNT on a workload that the reference or a baseline has reached; 0: none
 * was timed.
 */
static double
reached(const char *workload, double amount)
{
	const json_t *eval = json_object_get(step.reference, "eval"),
	             *baselines = json_object_get(eval, "baselines");
	double ns = kgain_time_ns(kgain_row(json_object_get(eval, "timing"), workload)), best = 0;

	if (ns > 0)
		best = amount / ns * 1e9;
	kjson_foreach(baseline, baselines) {
		ns = kgain_time_ns(kgain_row(json_object_get(baseline, "timing"), workload));
		if (ns > 0)
			best = fmax(best, amount / ns * 1e9);
	}
	return best;
}

/* If a program has exceeded a measured ceiling, its rate replaces it. */
static struct figure
raised(const struct figure *f, const char *workload, double amount)
{
	double rate = f->number > 0 ? reached(workload, amount) : 0;
	const char *unit = f == &step.fast_rate ? "TFLOPS" : "GB/s";
	double scale = f == &step.fast_rate ? 1e12 : 1e9;

	if (rate <= f->number || strncmp(f->by, "measured", 8))
		return *f;
	add_implausible(json_sprintf("%s of %s", f->by, workload), f->number / scale, unit,
	    json_sprintf("the reference or a baseline reached %.4g %s", rate / scale, unit));
	return (struct figure){ rate, "reached by the reference", "trials/000/00/eval.ndjson" };
}

/*
 * A peak is the vendor's figure, else a placeholder, else the measurement; a ceiling is the
 * measurement, else the peak.
 */
static void
find_ceilings(void)
{
	char why[300];

	step.compute = khw_compute(step.device, step.task, why, sizeof why);
	if (!step.task->flops)
		step.compute = NULL, add_unknown("flops", json_string("the task gives no formula"));
	else if (!step.compute)
		add_unknown("compute", json_string(why));
	if (!step.task->bytes)
		add_unknown("bytes", json_string("the task gives no formula"));
	if (step.compute) {
		step.rate = peak(step.compute);
		step.fast_rate = measured_rate(step.compute);
		if (!step.rate.number)
			step.rate = measured_rate(step.compute);
		if (!step.fast_rate.number)
			step.fast_rate = step.rate;
	}
	step.bandwidth = peak("memory_bandwidth");
	step.copy = measured_copy(0);
	if (!step.bandwidth.number)
		step.bandwidth = measured_copy(0);
	if (!step.copy.number)
		step.copy = step.bandwidth;
	step.lacking =
	    (step.compute && !step.rate.number) || (step.task->bytes && !step.bandwidth.number);
}

static json_t *
figure_json(const struct figure *f, double unit, const char *name)
{
	return f->number > 0 ? json_pack("{s:f,s:s,s:s,s:s}", "value", f->number / unit, "unit",
	                           name, "by", f->by, "from", f->from)
	                     : NULL;
}

/* NULL: unknown. */
static json_t *
real_json(double v)
{
	return v > 0 ? json_real(v) : NULL;
}

/* ---- the least possible times ---- */

/*
 * The device's fastest dense rate for any type with enough bits: a kernel may use other arithmetic
 * than the task's.
 */
static double
fastest_rate(void)
{
	static const struct {
		const char *prefix;
		int bits;
	} types[] = { { "fp64", 64 }, { "fp32", 32 }, { "tf32", 16 }, { "fp16", 16 },
		{ "bf16", 16 }, { "fp8", 8 }, { "int8", 8 }, { "fp6", 6 }, { "fp4", 4 } };
	int bits = 64;
	double best = 0;

	kforeach(one, types)
		if (!strncmp(step.compute, one->prefix, strlen(one->prefix)))
			bits = one->bits >= 64 ? 8 : one->bits > 16 ? 16 : one->bits;
	kforeach(each, types)
		for (size_t j = 0; step.device && j < step.device->fact_count; j++) {
			const struct khw_fact *f = &step.device->facts[j];
			const char *engine = f->metric + strlen(each->prefix);

			if (each->bits < bits ||
			    strncmp(f->metric, each->prefix, strlen(each->prefix)) ||
			    strstr(f->metric, "_sparse"))
				continue;
			if (f->state == KHW_UNAVAILABLE && !strcmp(engine, "_matrix"))
				return 0;
			if (f->state == KHW_KNOWN)
				best = fmax(best, f->number);
		}
	return best;
}

/*
 * Bytes that may never reach memory while the clock runs, because the last caches hold them. Below
 * 0: unknown.
 */
static double
cached_bytes(void)
{
	const struct khw_fact *l2 = khw_known(step.device, "l2_size"),
	                      *l3 = khw_known(step.device, "l3_size");
	double running = kjson_num(step.running, "l2_bytes");

	if (!l2 && running <= 0)
		return -1;
	return fmax(l2 ? l2->number : 0, running) + (l3 ? l3->number : 0);
}

static double
alarm_ns(double flops, double bytes)
{
	const struct khw_fact *bandwidth = khw_known(step.device, "memory_bandwidth");
	double rate = step.compute ? fastest_rate() : 0, cached = cached_bytes(), least = 0;

	if (rate > 0)
		least = flops / rate;
	if (bandwidth && cached >= 0)
		least = fmax(least, (bytes - cached) / bandwidth->number);
	return ALARM_SHARE * least * 1e9;
}

/* ---- workloads ---- */

static void
add_target(json_t *row, const char *name, bool compute, const struct figure *ceiling)
{
	double v = TARGET_SHARE * ceiling->number, unit = v >= 1e12 ? 1e12 : 1e9;
	const char *unit_name = unit > 1e9 ? compute ? "TFLOPS" : "TB/s"
	    : compute                      ? "GFLOPS"
	                                   : "GB/s";
	auto_free char *text = kasprintf(
	    "%s-bound target >= %.6g %s", compute ? "compute" : "memory", v / unit, unit_name);

	json_object_set_new(row, "target",
	    json_pack("{s:s,s:f,s:s,s:s,s:s}", "text", text, "value", v / unit, "unit", unit_name,
	        "by", ceiling->by, "from", ceiling->from));
	json_array_append_new(
	    step.stop, json_sprintf("%s: %s (%.2f x %s)", name, text, TARGET_SHARE, ceiling->by));
}

static json_t *
workload_row(const struct ktask_workload *w)
{
	double flops = (double)ktask_value(step.task, w, step.task->flops),
	       bytes = (double)ktask_value(step.task, w, step.task->bytes);
	double compute_s = step.rate.number > 0 ? flops / step.rate.number : 0;
	double memory_s = step.bandwidth.number > 0 ? bytes / step.bandwidth.number : 0,
	       alarm = alarm_ns(flops, bytes);
	struct figure same =
	    bytes > 0 && bytes < SMALL_BYTES ? measured_copy(bytes) : (struct figure){ 0 };
	struct figure memory = raised(same.number > 0 ? &same : &step.copy, w->name, bytes);
	struct figure fast = raised(&step.fast_rate, w->name, flops);
	/*
	 * If the task counts no operations, it is bound by memory at any rate; if it says nothing,
	 * the bound is unknown.
	 */
	bool both = memory_s > 0 && (compute_s > 0 || (step.task->flops && flops == 0)),
	     compute = compute_s >= memory_s;
	double least_s = fmax(compute_s, memory_s);
	json_t *row = json_pack("{s:s,s:f,s:f,s:o*,s:s,s:o*,s:s*,s:o*,s:o*,s:o*}", "workload",
	    w->name, "flops", flops, "bytes", bytes, "intensity",
	    bytes > 0 ? real_json(flops / bytes) : NULL, "bound",
	    !both         ? "unknown"
	        : compute ? "compute"
	                  : "memory",
	    "floor_ns", real_json(1e9 * least_s), "floor_by",
	    least_s <= 0  ? NULL
	        : compute ? step.rate.by
	                  : step.bandwidth.by,
	    "alarm_ns", real_json(alarm), "compute_ceiling", figure_json(&fast, 1e12, "TFLOPS"),
	    "memory_ceiling", figure_json(&memory, 1e9, "GB/s"));

	if (both)
		add_target(row, w->name, compute, compute ? &fast : &memory);
	return row;
}

static json_t *
device_json(void)
{
	const char *asked = kcamp_str(step.camp, "gpu");
	const struct khw_device *d = step.device;
	json_t *running = step.running ? json_copy(step.running) : NULL;

	/* A state that changes from moment to moment does not describe the device. */
	json_object_del(running, "state");
	return json_pack("{s:s*,s:s*,s:s*,s:s*,s:o*}", "asked", *asked ? asked : NULL, "name",
	    d ? d->name : NULL, "file", d ? d->file : NULL, "sha256", d ? d->sha256 : NULL,
	    "running", running);
}

static json_t *
facts_json(void)
{
	json_t *facts = json_array();

	for (size_t i = 0; step.device && i < step.device->fact_count; i++)
		if (step.device->facts[i].state == KHW_KNOWN)
			json_array_append_new(facts, khw_json(step.device, &step.device->facts[i]));
	return facts;
}

/* What was measured on the device, NULL if nothing was. */
static json_t *
measured_json(void)
{
	const json_t *c = step.ceilings;

	return !c
	    ? NULL
	    : json_pack("{s:s,s:s,s:O*,s:O*,s:O*}", "record", "trials/000/ceilings.json", "command",
	          kjson_str(c, "command"), "copies", json_object_get(c, "copies"), "rates",
	          json_object_get(c, "rates"), "not_measured", json_object_get(c, "not_measured"));
}

static json_t *
result(void)
{
	json_t *workloads = json_array();
	double ridge = step.bandwidth.number > 0 ? step.rate.number / step.bandwidth.number : 0;

	kforeach_of(workload, step.task->workloads, step.task->workload_count)
		if (workload->timed)
			json_array_append_new(workloads, workload_row(workload));
	return json_pack("{s:s,s:s,s:o,s:o,s:O,s:O,s:O,s:o,s:O,s:s,s:O*,s:s*,s:{s:o*,s:o*},s:o*,s:"
	                 "o*}",
	    "schema", "roofline/1", "convention", "bytes are bytes read plus bytes written",
	    "device", device_json(), "facts", facts_json(), "unknown", step.unknown, "mismatches",
	    step.mismatches, "placeholders", step.placeholders, "workloads", workloads, "stop",
	    step.stop, "label",
	    json_array_size(step.placeholders)                  ? "placeholder"
	        : json_array_size(step.unknown) && step.lacking ? "incomplete"
	                                                        : "complete",
	    "implausible", json_array_size(step.implausible) ? step.implausible : NULL, "compute",
	    step.compute, "peaks", "compute", figure_json(&step.rate, 1e12, "TFLOPS"), "memory",
	    figure_json(&step.bandwidth, 1e9, "GB/s"), "ridge", real_json(ridge), "measured",
	    measured_json());
}

/* A target must not be based on unknown figures. */
static void
refuse_unknown(void)
{
	kjson_foreach(u, step.unknown)
		kwarn("%s: %s: %s", kjson_str(u, "metric"), UNKNOWN, kjson_str(u, "why"));
	kdie(K_MISSING,
	    "no target without these; a person can agree to a placeholder with a line 'metric: "
	    "value unit # who, why' in %s/placeholder.ok",
	    step.dir);
}

int
command_roofline(void)
{
	auto_free char *task = NULL;
	json_auto_t *out = NULL;

	if (given.count)
		kdie(K_USAGE, "roofline takes no operand; it uses the campaign's device");
	step.dir = given.campaign ? given.campaign : ".";
	step.camp = kcamp_load(step.dir);
	task = kcamp_path(step.camp, kcamp_str(step.camp, "task"));
	step.task = ktask_load(task);
	step.strict = !given.tolerant || kcamp_num(step.camp, "stop.efficiency") > 0;
	step.hw = khw_load(given.hardware, step.dir);
	step.unknown = json_array();
	step.mismatches = json_array();
	step.placeholders = json_array();
	step.stop = json_array();
	consents_load(step.dir);
	step.implausible = json_array();
	step.reference = load("trials/000/00/eval.ndjson", true);
	step.ceilings = load("trials/000/ceilings.json", false);
	step.running = running_device();
	choose_device();
	check_measured();
	find_ceilings();
	if (step.lacking && step.strict)
		refuse_unknown();
	out = result();
	put_result(out);
	return K_OK;
}
