/* SPDX-License-Identifier: Apache-2.0 */
/* kroof: see kroof.h. */
#include "kroof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kgain.h"
#include "kio.h"
#include "kutil.h"

json_t *
kroof_load(const char *dir)
{
	char *path = kasprintf("%s/trials/000/roofline.json", dir);
	json_t *roofline = kis_there(path) ? kjson_load(path) : NULL;

	free(path);
	return roofline;
}

/*
 * AMOUNT done in NS, added to OUT in units of a thousand million a second (or a thousand times that), and its share of
 * a ceiling.
 */
static double
add_share(json_t *out, const char *name, const char *share, double amount, double ns, double unit, double ceiling)
{
	double rate = amount / ns / unit;

	if (amount <= 0)
		return NAN;
	json_object_set_new(out, name, json_real(rate));
	if (ceiling <= 0)
		return NAN;
	json_object_set_new(out, share, json_real(100 * rate / ceiling));
	return 100 * rate / ceiling;
}

/* The percentage that binds: of the ceiling that the roofline names, else of the one that is nearer. */
static double
binding(const json_t *row, double compute, double memory)
{
	const char *bound = kjson_str_or(row, "bound", "unknown");

	if (!strcmp(bound, "compute"))
		return compute;
	return !strcmp(bound, "memory") ? memory : fmax(compute, memory);
}

json_t *
kroof_utilization(const json_t *roofline, const json_t *timing, const char *statistic, double *efficiency,
    const char **alarm)
{
	json_t *list = json_array(), *time;
	double logs = 0;
	size_t i;

	*alarm = NULL;
	json_array_foreach((json_t *)timing, i, time) {
		const char *name = kjson_str_or(time, "workload", "");
		const json_t *row = kgain_row(json_object_get(roofline, "workloads"), name);
		double ns = kgain_time_ns(time, statistic), compute, memory;
		json_t *out;

		if (!row || !(ns > 0)) {
			logs = NAN;
			continue;
		}
		out = json_pack("{s:s}", "workload", name);
		compute = add_share(out, "tflops", "compute_pct", kjson_num_or(row, "flops", 0), ns, 1e3,
		    kjson_num_or(row, "compute_ceiling.value", 0));
		memory = add_share(out, "gbps", "memory_pct", kjson_num_or(row, "bytes", 0), ns, 1,
		    kjson_num_or(row, "memory_ceiling.value", 0));
		logs += log(binding(row, compute, memory) / 100);
		if (ns < kjson_num_or(row, "alarm_ns", 0))
			*alarm = name;
		json_array_append_new(list, out);
	}
	*efficiency = json_array_size(timing) ? 100 * exp(logs / (double)json_array_size(timing)) : NAN;
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}
