/* SPDX-License-Identifier: Apache-2.0 */
/* Where it was measured: machine, device, compiler, sandbox, clocks, seeds. See kreport.h. */

#include "kreport.h"

/* The lowest or the highest value of a member over all timed rows; 0: none has it. */
static const struct {
	const char *name, *member;
	bool lowest;
} ranges[] = {
	{ "sm_low", "sm_mhz", true },
	{ "sm_high", "sm_mhz", false },
	{ "memory_low", "memory_mhz", true },
	{ "memory_high", "memory_mhz", false },
	{ "hot", "temperature_c", false },
	{ "power", "power_w", false },
};

struct clocks {
	double range[LEN(ranges)], load;
	long rows, throttled;
	unsigned long long mask;
	json_t *sandboxes, *governors;
};

static void
add_rows(struct clocks *k, const json_t *timing)
{
	kjson_foreach(row, timing) {
		const json_t *device = json_object_get(row, "device");
		long long mask = kjson_int(device, "throttle");

		for (size_t n = 0; n < LEN(ranges); n++) {
			double v = kjson_num(device, ranges[n].member), *to = &k->range[n];

			if (v > 0 && (*to <= 0 || (ranges[n].lowest ? v < *to : v > *to)))
				*to = v;
		}
		k->rows += device != NULL;
		k->throttled += mask > 0;
		k->mask |= mask > 0 ? (unsigned long long)mask : 0;
	}
}

static void
add_eval(struct clocks *k, const json_t *eval)
{
	const char *sandbox = kjson_str_or(eval, "sandbox.name", NULL),
	           *governor = kjson_str_or(eval, "environment.governor", NULL);

	add_rows(k, json_object_get(eval, "timing"));
	k->load = fmax(k->load, kjson_num(eval, "environment.load_before"));
	if (sandbox)
		count_name(k->sandboxes, sandbox);
	if (governor)
		count_name(k->governors, governor);
}

static json_t *
clocks_json(const struct clocks *k)
{
	json_t *o = json_pack("{s:I,s:I,s:o}", "rows", (json_int_t)k->rows, "throttled",
	    (json_int_t)k->throttled, "mask", json_sprintf("0x%llx", k->mask));

	for (size_t n = 0; n < LEN(ranges); n++)
		json_object_set_new(o, ranges[n].name, json_integer(llround(k->range[n])));
	return o;
}

void
add_environment(json_t *f)
{
	struct clocks k = { .sandboxes = json_object(), .governors = json_object() };
	const json_t *gpu = of(report.reference, "eval.environment.device");
	const char *asked = kcamp_str(report.camp, "gpu"), *found = kjson_str(gpu, "name");
	long long api = strtoll(kjson_str_or(gpu, "driver_api", "0"), NULL, 10);

	for (size_t i = 0; i < report.count; i++)
		add_eval(&k, of(&report.list[i], "eval"));
	add_eval(&k, report.verify);
	json_object_set_new(f, "environment",
	    json_pack("{s:O*,s:s,s:o,s:f,s:o,s:o,s:o*}", "machine", report.machine, "elsewhere",
	        *found && *asked && strcmp(asked, found) ? found : "", "api",
	        json_sprintf("%lld.%lld", api / 1000, api % 1000 / 10), "load", k.load, "sandboxes",
	        names_json(k.sandboxes), "governors", names_json(k.governors), "clocks",
	        k.rows ? clocks_json(&k) : NULL));
}
