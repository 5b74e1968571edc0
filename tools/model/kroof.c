/* SPDX-License-Identifier: Apache-2.0 */
/* kroof: see kroof.h. */
#include "kplace.h"
#include "kroof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kgain.h"
#include "kio.h"
#include "kutil.h"

/* Nanoseconds that starting a copy may take, and how many times slower than the fastest a smaller
 * one may be. */
static const double copy_start_ns = 50e3, copy_slower = 3;

bool
kroof_copy_plausible(const json_t *row, double best)
{
	double moved = kjson_num_or(row, "moved_bytes", 0),
	       rate = kjson_num_or(row, "best_gbps", 0);

	return rate > 0 && moved / rate <= copy_start_ns + copy_slower * moved / best;
}

double
kroof_best_copy(const json_t *copies)
{
	double best[2] = { 0, 0 };
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)copies, i, row) {
		double rate = kjson_num_or(row, "best_gbps", 0);
		bool beyond = kjson_bool_or(row, "beyond_caches", false);

		best[beyond] = fmax(best[beyond], rate);
	}
	return best[1] > 0 ? best[1] : best[0];
}

/* More than this, in percent, is no noise of the times: the ceiling is none. */
static const double passed_pct = 105;

char *
kroof_doubt(const json_t *roofline, double efficiency)
{
	const json_t *first = json_array_get(json_object_get(roofline, "implausible"), 0);

	if (first)
		return kasprintf("%s cannot serve as a stop condition: %s",
		    kjson_str_or(first, "what", "?"), kjson_str_or(first, "why", "?"));
	if (efficiency > passed_pct)
		return kasprintf("%.4g %% of a ceiling is impossible", efficiency);
	return NULL;
}

json_t *
kroof_load(const char *dir)
{
	char *path = kplace_trial(dir, 0, "roofline.json");
	json_t *roofline = kis_there(path) ? kjson_load(path) : NULL;

	free(path);
	return roofline;
}

/*
 * AMOUNT done in NS, added to OUT in units of a thousand million a second (or a thousand times
 * that), and its share of a ceiling.
 */
static double
add_share(json_t *out, const char *name, const char *share, double amount, double ns, double unit,
    double ceiling)
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

/*
 * The percentage that binds: of the ceiling that the roofline names, else of the one that is
 * nearer.
 */
static double
binding(const json_t *row, double compute, double memory)
{
	const char *bound = kjson_str_or(row, "bound", "unknown");

	if (!strcmp(bound, "compute"))
		return compute;
	return !strcmp(bound, "memory") ? memory : fmax(compute, memory);
}

json_t *
kroof_utilization(const json_t *roofline, const json_t *timing, const char *statistic,
    double *efficiency, const char **alarm)
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
		compute = add_share(out, "tflops", "compute_pct", kjson_num_or(row, "flops", 0), ns,
		    1e3, kjson_num_or(row, "compute_ceiling.value", 0));
		memory = add_share(out, "gbps", "memory_pct", kjson_num_or(row, "bytes", 0), ns, 1,
		    kjson_num_or(row, "memory_ceiling.value", 0));
		logs += log(binding(row, compute, memory) / 100);
		if (ns < kjson_num_or(row, "alarm_ns", 0))
			*alarm = name;
		json_array_append_new(list, out);
	}
	*efficiency =
	    json_array_size(timing) ? 100 * exp(logs / (double)json_array_size(timing)) : NAN;
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}
