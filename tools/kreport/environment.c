/* SPDX-License-Identifier: Apache-2.0 */
/* Where it was measured: machine, device, compiler, sandbox, clocks, seeds. See kreport.h. */

#include "kreport.h"

/* Ranges over all timed rows of the campaign. */
struct clocks {
	double sm_low, sm_high, memory_low, memory_high, hot, power, load;
	long rows, throttled;
	unsigned long long mask;
	json_t *sandboxes, *governors;
};

static void
widen(double *low, double *high, double v)
{
	if (v <= 0)
		return;
	*low = *low > 0 ? fmin(*low, v) : v;
	*high = fmax(*high, v);
}

static void
add_rows(struct clocks *k, const json_t *timing)
{
	size_t i;
	json_t *row;

	json_array_foreach(timing, i, row) {
		const json_t *device = json_object_get(row, "device");
		long long mask = kjson_int_or(device, "throttle", -1);

		if (!device)
			continue;
		k->rows++;
		widen(&k->sm_low, &k->sm_high, kjson_num_or(device, "sm_mhz", -1));
		widen(&k->memory_low, &k->memory_high, kjson_num_or(device, "memory_mhz", -1));
		k->hot = fmax(k->hot, kjson_num_or(device, "temperature_c", 0));
		k->power = fmax(k->power, kjson_num_or(device, "power_w", 0));
		if (mask > 0) {
			k->throttled++;
			k->mask |= (unsigned long long)mask;
		}
	}
}

static void
add_eval(struct clocks *k, const json_t *eval)
{
	const char *sandbox = kjson_str_or(eval, "sandbox.name", NULL),
	           *governor = kjson_str_or(eval, "environment.governor", NULL);

	add_rows(k, json_object_get(eval, "timing"));
	k->load = fmax(k->load, kjson_num_or(eval, "environment.load_before", 0));
	if (sandbox)
		count_name(k->sandboxes, sandbox);
	if (governor)
		count_name(k->governors, governor);
}

static json_int_t
whole(double v)
{
	return (json_int_t)floor(v + 0.5);
}

static json_t *
clocks_json(const struct clocks *k)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "rows", (json_int_t)k->rows,
	    "throttled", (json_int_t)k->throttled, "sm_low", whole(k->sm_low), "sm_high",
	    whole(k->sm_high), "memory_low", whole(k->memory_low), "memory_high",
	    whole(k->memory_high), "hot", whole(k->hot), "power", whole(k->power), "mask",
	    json_sprintf("0x%llx", k->mask));
}

void
add_environment(json_t *f, const struct report *r)
{
	struct clocks k = { .sandboxes = json_object(), .governors = json_object() };
	const json_t *gpu = of(r->reference, "eval.environment.device");
	const char *asked = kcamp_str(r->camp, "gpu"), *found = kjson_str_or(gpu, "name", "");
	long long api = strtoll(kjson_str_or(gpu, "driver_api", "0"), NULL, 10);

	for (size_t i = 0; i < r->count; i++)
		add_eval(&k, of(&r->list[i], "eval"));
	add_eval(&k, r->verify);
	json_object_set_new(f, "environment",
	    json_pack("{s:O*,s:s,s:o,s:f,s:o,s:o,s:o*}", "machine", r->machine, "elsewhere",
	        *found && *asked && strcmp(asked, found) ? found : "", "api",
	        json_sprintf("%lld.%lld", api / 1000, api % 1000 / 10), "load", k.load, "sandboxes",
	        names_json(k.sandboxes), "governors", names_json(k.governors), "clocks",
	        k.rows ? clocks_json(&k) : NULL));
}
