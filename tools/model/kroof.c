/* SPDX-License-Identifier: Apache-2.0 */
/* kroof: see kroof.h. */
#include "kplace.h"
#include "kroof.h"

#include "kgain.h"

/*
 * Time in nanoseconds that starting a copy may take, and how many times slower than the fastest a
 * smaller copy may be.
 */
static const double copy_start_ns = 50e3, copy_slower = 3;

bool
kroof_copy_plausible(const json_t *row, double best)
{
	double moved = kjson_num(row, "moved_bytes"), rate = kjson_num(row, "best_gbps");

	return rate > 0 && moved / rate <= copy_start_ns + copy_slower * moved / best;
}

double
kroof_best_copy(const json_t *copies)
{
	double best[2] = { 0, 0 };

	kjson_foreach(row, copies) {
		bool beyond = kjson_bool(row, "beyond_caches");

		best[beyond] = fmax(best[beyond], kjson_num(row, "best_gbps"));
	}
	return best[1] > 0 ? best[1] : best[0];
}

/* A higher percentage cannot be timing noise: the ceiling is wrong. */
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
kroof_load(void)
{
	return kjson_if_there(kplace_trial(0, "roofline.json"));
}

/*
 * Adds to OUT the rate of AMOUNT in NS, in units of 10^9 per second (or 10^12), and its share of a
 * ceiling.
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
 * The percentage that counts: that of the ceiling that the roofline names, or else of the nearer
 * one.
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
kroof_utilization(
    const json_t *roofline, const json_t *timing, double *efficiency, const char **alarm)
{
	json_auto_t *list = json_array();
	double logs = 0;

	*alarm = NULL;
	kjson_foreach(time, timing) {
		const char *name = kjson_str(time, "workload");
		const json_t *row = kgain_row(json_object_get(roofline, "workloads"), name);
		double ns = kgain_time_ns(time), compute, memory;
		json_t *out;

		if (!row || !(ns > 0)) {
			logs = NAN;
			continue;
		}
		out = json_pack("{s:s}", "workload", name);
		compute = add_share(out, "tflops", "compute_pct", kjson_num(row, "flops"), ns, 1e3,
		    kjson_num(row, "compute_ceiling.value"));
		memory = add_share(out, "gbps", "memory_pct", kjson_num(row, "bytes"), ns, 1,
		    kjson_num(row, "memory_ceiling.value"));
		logs += log(binding(row, compute, memory) / 100);
		if (ns < kjson_num(row, "alarm_ns"))
			*alarm = name;
		json_array_append_new(list, out);
	}
	*efficiency =
	    json_array_size(timing) ? 100 * exp(logs / (double)json_array_size(timing)) : NAN;
	return json_array_size(list) ? json_incref(list) : NULL;
}

/* Growth needs at least this many workloads, the largest at least this many times the smallest. */
enum { GROWTH_ROWS = 3, GROWTH_SPAN = 4 };
/*
 * Shares: the fixed part of the smallest time from which it is overhead; the rate on the largest
 * workload, relative to the best one, below which it has left the caches; the error of a fit that
 * explains the times; the share of a ceiling that is close to it.
 */
static const double fixed_part = 0.3, fallen = 0.7, fits = 0.1, near = 0.6;

/* NS = FIXED + WORK / RATE over the workloads, fitted with the least relative error. */
struct fit {
	double fixed, rate, error;
	double part;      /* share of FIXED in the time of the smallest workload */
	double keeps;     /* rate on the largest workload, as a share of the best */
	const char *last; /* the largest workload; borrowed */
	double last_ns;
};

static void
solve(struct fit *f, const double *work, const double *ns, size_t n)
{
	double uu = 0, uv = 0, vv = 0, u = 0, v = 0, det, slope;

	for (size_t i = 0; i < n; i++) {
		double p = 1 / ns[i], q = work[i] / ns[i];

		uu += p * p;
		uv += p * q;
		vv += q * q;
		u += p;
		v += q;
	}
	det = uu * vv - uv * uv;
	f->fixed = det > 0 ? fmax((u * vv - v * uv) / det, 0) : 0;
	slope = fmax((v - f->fixed * uv) / vv, 0);
	f->rate = 1 / slope;
	f->error = 0;
	for (size_t i = 0; i < n; i++)
		f->error += pow((f->fixed + slope * work[i]) / ns[i] - 1, 2);
	f->error = sqrt(f->error / (double)n);
}

/*
 * The fit for a member of the roofline's rows, "bytes" or "flops"; if its error is NAN, there is
 * none.
 */
static struct fit
fit_of(const json_t *roofline, const json_t *timing, const char *member)
{
	size_t n = json_array_size(timing), small = 0, large = 0;
	auto_free double *work = kcalloc(n + 1, sizeof *work), *ns = kcalloc(n + 1, sizeof *ns);
	double best = 0;
	struct fit f = { .error = NAN };
	bool whole = n >= GROWTH_ROWS;

	kjson_foreach(time, timing) {
		size_t i = kjson_at(time);

		work[i] = kjson_num(
		    kgain_row(json_object_get(roofline, "workloads"), kjson_str(time, "workload")),
		    member);
		ns[i] = kgain_time_ns(time);
		whole &= work[i] > 0 && ns[i] > 0;
		best = fmax(best, work[i] / ns[i]);
		small = work[i] < work[small] ? i : small;
		large = work[i] > work[large] ? i : large;
	}
	if (whole && work[large] >= GROWTH_SPAN * work[small]) {
		solve(&f, work, ns, n);
		f.part = f.fixed / ns[small];
		f.keeps = work[large] / ns[large] / best;
		f.last = kjson_str(json_array_get(timing, large), "workload");
		f.last_ns = ns[large];
	}
	return f;
}

/*
 * The same rate everywhere: near a ceiling, that ceiling is the bound, otherwise the instructions
 * are.
 */
static json_t *
steady(const json_t *roofline, const struct fit *f)
{
	const json_t *row = kgain_row(json_object_get(roofline, "workloads"), f->last);
	const char *bound = kjson_str_or(row, "bound", "unknown");
	bool memory = !strcmp(bound, "memory");
	double ceiling = kjson_num(row, memory ? "memory_ceiling.value" : "compute_ceiling.value"),
	       share = kjson_num(row, memory ? "bytes" : "flops") /
	    (f->last_ns * (memory ? 1 : 1e3) * ceiling);

	if (!strcmp(bound, "unknown") || !(ceiling > 0))
		return NULL;
	return json_pack("{s:s,s:o}", "class", share >= near ? bound : "compute", "why",
	    json_sprintf("the rate is the same at all sizes, %.0f %% of the ceiling of %s",
	        100 * share, bound));
}

/*
 * Does A explain the times better than B? Of two that fit, the one with the smaller fixed part
 * does: where only the reduction grows, reading the rest looks like a fixed part of the operations.
 */
static bool
explains_better(const struct fit *a, const struct fit *b)
{
	if (a->error <= fits && b->error <= fits)
		return a->part <= b->part;
	return !(b->error < a->error);
}

json_t *
kroof_growth(const json_t *roofline, const json_t *timing)
{
	struct fit bytes = fit_of(roofline, timing, "bytes"),
	           flops = fit_of(roofline, timing, "flops");
	bool by_bytes = explains_better(&bytes, &flops);
	const struct fit *f = by_bytes ? &bytes : &flops, *other = by_bytes ? &flops : &bytes;

	if (isnan(f->error))
		return NULL;
	if (f->keeps < fallen)
		return json_pack("{s:s,s:o}", "class", "memory", "why",
		    json_sprintf("the rate falls to %.0f %% of its best on the largest workload",
		        100 * f->keeps));
	if (f->error > fits)
		return NULL;
	if (f->part >= fixed_part)
		return json_pack("{s:s,s:o}", "class", "overhead", "why",
		    json_sprintf("a fixed part of %.3g us is %.0f %% of the smallest workload's "
		                 "time",
		        f->fixed / 1e3, 100 * f->part));
	if (other->error > 2 * fits || other->part >= fixed_part)
		return json_pack("{s:s,s:o}", "class", by_bytes ? "memory" : "compute", "why",
		    json_sprintf("times grow with the %s, and not with the %s",
		        by_bytes ? "bytes moved" : "operations",
		        by_bytes ? "operations" : "bytes moved"));
	return steady(roofline, f);
}
