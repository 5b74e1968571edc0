/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec roofline, Step 0 of a campaign: what bounds each timed workload, the least time that it can
 * take, and targets. A view of the task, the manifest, the facts about the device, and the
 * measurements on it, which views/roofline.jq puts together.
 */

#include "backend.h"
#include "kgain.h"
#include "kjq.h"
#include "kroof.h"
#include "kspec.h"

static struct step {
	struct ktask *task;
	struct khw *hw;
	const struct khw_device *device; /* the device whose facts apply; NULL: unknown */
	/* trials/000/ceilings.json; the device, as its driver describes it; or NULL */
	json_t *ceilings, *running;
	json_t *reference; /* the evaluation of trial 000, or NULL */
	json_t *unknown, *mismatches, *placeholders;
	const char *compute; /* metric, or NULL */
	bool strict;
} step; /* of this process; what it loads is kept to the end */

/* WHY is taken over. */
static void
add_unknown(const char *metric, json_t *why)
{
	kjson_append(step.unknown, "{s:s,s:o}", "metric", metric, "why", why);
}

/* ---- which device ---- */

/*
 * A JSON file of the campaign, or the first record of a file of records; NULL when there is none.
 */
static json_t *
load(const char *name, bool records)
{
	auto_free char *path = kasprintf("%s/%s", kcamp.dir, name);

	return records ? kin_first(path) : kjson_if_there(path);
}

/* The driver's description, from the ceilings or from the evaluation of the reference. */
static json_t *
running_device(void)
{
	json_t *eval = step.reference, *device = json_object_get(step.ceilings, "device");

	if (!device && eval)
		device = (json_t *)kjson_path(eval, "eval.environment.device");
	if (json_object_get(device, "name"))
		return json_incref(device);
	device = (json_t *)kjson_path(eval, "eval.environment.opencl.device");
	return json_is_string(device) && !kjson_bool(eval, "eval.environment.opencl.cpu")
	    ? json_pack("{s:O}", "name", device)
	    : NULL;
}

/*
 * A difference between the driver and the documentation: the device decides, and the difference is
 * reported by name.
 */
static void
add_mismatch(const char *metric, const char *documented, const char *where, const char *running)
{
	const char *text = kshown(
	    "%s: %s (%s), but the device in use reports %s", metric, documented, where, running);

	if (step.strict)
		kdie_usage("%s", text);
	kwarn("%s", text);
	kjson_append(step.mismatches, "{s:s,s:s,s:s,s:s}", "metric", metric, "documented",
	    documented, "where", where, "running", running);
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
	bool told = kcamp_backend()->facts;
	int count = 0;

	/* HIP reports no such version, and the L2 of only one of several dies. */
	if (f && *running && told && strcmp(f->value, running)) {
		add_mismatch(f->metric, f->value, kshown("%s:L%ld", d->file, f->line), running);
		count++;
	}
	for (size_t i = 0; i < LEN(properties); i++) {
		double v = kjson_num(step.running, properties[i].key) * properties[i].factor;

		f = khw_known(d, properties[i].metric);
		if (f && v > 0 && (told || i != 2) &&
		    fabs(v - f->number) > properties[i].tolerance * f->number) {
			add_mismatch(f->metric, kshown("%s %s", f->value, f->unit),
			    kshown("%s:L%ld", d->file, f->line),
			    kshown("%.15g (%s)", v / properties[i].factor, properties[i].key));
			count++;
		}
	}
	return count;
}

static void
choose_device(void)
{
	const char *asked = kcamp_str("gpu"), *backend = kcamp_str("backend");
	const char *running = kjson_str(step.running, "name");
	const struct khw_device *d = *asked ? khw_find(step.hw, asked) : NULL,
	                        *real = *running ? khw_find(step.hw, running) : NULL;

	if (!*asked && !*running && !kcamp_backend()->device)
		d = khw_find(step.hw, "x86");
	if (*asked && *running && (d ? real != d : strcasecmp(asked, running)))
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

/* A rate or bandwidth, in operations or bytes per second; NULL: unknown. */
static json_t *
peak(const char *metric)
{
	const struct khw_fact *f = khw_known(step.device, metric),
	                      *any = step.device ? khw_fact(step.device, metric) : NULL;
	const struct consent *c = consent_for(metric);

	if (f && c)
		kdie_usage("%s/placeholder.ok:%ld: %s is known (%s:L%ld: %s %s); remove the line",
		    kcamp.dir, c->line, metric, step.device->file, f->line, f->value, f->unit);
	if (f)
		return json_pack("{s:f,s:s,s:o}", "value", f->number, "by", "sourced peak", "from",
		    json_sprintf("%s:L%ld", step.device->file, f->line));
	if (c) {
		json_t *from = json_sprintf("placeholder.ok:L%ld", c->line);

		kjson_append(step.placeholders, "{s:s,s:f,s:s,s:O}", "metric", metric, "value",
		    atof(c->value), "unit", c->unit, "from", from);
		return json_pack(
		    "{s:f,s:s,s:o}", "value", c->number, "by", "placeholder", "from", from);
	}
	add_unknown(metric,
	    json_string(any       ? any->source
	            : step.device ? "its file does not have it"
	                          : "the device is unknown"));
	return NULL;
}

/* What the arithmetic of the task is limited by; NULL: unknown. */
static json_t *
compute_peak(void)
{
	const char *why;

	step.compute = khw_compute(step.device, step.task, &why);
	if (!step.task->flops)
		step.compute = NULL, add_unknown("flops", json_string("the task gives no formula"));
	else if (!step.compute)
		add_unknown("compute", json_string(why));
	if (!step.task->bytes)
		add_unknown("bytes", json_string("the task gives no formula"));
	return step.compute ? peak(step.compute) : NULL;
}

/* ---- the least possible times ---- */

/*
 * The device's fastest dense rate for any type with enough bits: a kernel may use arithmetic other
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
		if (kbegins(step.compute, one->prefix))
			bits = one->bits >= 64 ? 8 : one->bits > 16 ? 16 : one->bits;
	kforeach(each, types)
		for (size_t j = 0; step.device && j < step.device->fact_count; j++) {
			const struct khw_fact *f = &step.device->facts[j];
			const char *engine = f->metric + strlen(each->prefix);

			if (each->bits < bits || !kbegins(f->metric, each->prefix) ||
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

/* What no time can be below, whatever arithmetic a kernel uses. */
static json_t *
alarm_json(void)
{
	const struct khw_fact *bandwidth = khw_known(step.device, "memory_bandwidth");

	return json_pack("{s:f,s:o*,s:f}", "rate", step.compute ? fastest_rate() : 0, "bandwidth",
	    bandwidth ? json_real(bandwidth->number) : NULL, "cached", cached_bytes());
}

/* ---- what was measured ---- */

/* The copies, each with whether its figure can be right. */
static json_t *
copies_json(const json_t *copies)
{
	json_t *list = json_array();

	kjson_foreach(row, copies) {
		json_t *copy = json_copy(row);

		json_object_set_new(copy, "plausible",
		    json_boolean(kroof_copy_plausible(row, kroof_best_copy(copies))));
		json_array_append_new(list, copy);
	}
	return list;
}

/*
 * The least time of a workload that the reference or a baseline has reached; NULL: none was timed.
 */
static json_t *
best_ns(const char *workload)
{
	const json_t *eval = json_object_get(step.reference, "eval");
	double best = kgain_time_ns(kgain_row(json_object_get(eval, "timing"), workload));

	kjson_foreach(baseline, eval, "baselines")
		best = fmin(
		    best, kgain_time_ns(kgain_row(json_object_get(baseline, "timing"), workload)));
	return isnan(best) ? NULL : json_real(best);
}

static json_t *
work_json(void)
{
	json_t *work = json_array();

	kforeach_of(w, step.task->workloads, step.task->workload_count)
		if (w->timed)
			kjson_append(work, "{s:s,s:f,s:f,s:o*}", "workload", w->name, "flops",
			    (double)ktask_value(step.task, w, step.task->flops), "bytes",
			    (double)ktask_value(step.task, w, step.task->bytes), "best_ns",
			    best_ns(w->name));
	return work;
}

static json_t *
device_json(void)
{
	const char *asked = kcamp_str("gpu");
	const struct khw_device *d = step.device;

	return json_pack("{s:s*,s:s*,s:s*,s:s*}", "asked", *asked ? asked : NULL, "name",
	    d ? d->name : NULL, "file", d ? d->file : NULL, "sha256", d ? d->sha256 : NULL);
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

/* What views/roofline.jq needs. New reference. */
static json_t *
evidence(void)
{
	json_t *compute = compute_peak(), *memory = peak("memory_bandwidth");
	const json_t *copies = json_object_get(step.ceilings, "copies");

	return json_pack("{s:{s:o*,s:o*},s:s*,s:b,s:b,s:o,s:O*,s:o,s:f,s:o,s:o,s:O*,s:o,s:O,s:O,"
	                 "s:O}",
	    "peaks", "compute", compute, "memory", memory, "compute", step.compute, "counts",
	    step.task->flops != NULL, "moves", step.task->bytes != NULL, "alarm", alarm_json(),
	    "ceilings", step.ceilings, "copies", copies_json(copies), "best_copy",
	    kroof_best_copy(copies), "work", work_json(), "device", device_json(), "running",
	    step.running, "facts", facts_json(), "unknown", step.unknown, "mismatches",
	    step.mismatches, "placeholders", step.placeholders);
}

/* A target must not be based on unknown figures. */
static void
refuse_unknown(void)
{
	kjson_foreach(u, step.unknown)
		kwarn("%s: %s: %s", kjson_str(u, "metric"), UNKNOWN, kjson_str(u, "why"));
	kdie(K_MISSING,
	    "no target without these; a person can agree to a placeholder "
	    "with a line 'metric: value unit # who, why' in %s/placeholder.ok",
	    kcamp.dir);
}

int
command_roofline(void)
{
	json_auto_t *in = NULL, *out = NULL;

	if (given.count)
		kdie_usage("roofline takes no operand; it uses the campaign's device");
	if (given.campaign)
		kcamp.dir = given.campaign;
	kcamp_load();
	step.task = ktask_load(kcamp.task);
	step.strict = !given.tolerant || kcamp_num("stop.efficiency") > 0;
	step.hw = khw_load(given.hardware, kcamp.dir, NULL);
	step.unknown = json_array();
	step.mismatches = json_array();
	step.placeholders = json_array();
	consents_load(kcamp.dir);
	step.reference = load("trials/000/00/eval.ndjson", true);
	step.ceilings = load("trials/000/ceilings.json", false);
	step.running = running_device();
	choose_device();
	in = evidence();
	out = kjq("views/roofline.jq", in);
	if (kjson_bool(out, "lacking") && step.strict)
		refuse_unknown();
	kout_only(given.output, json_object_get(out, "record"));
	return K_OK;
}
