/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: what of a campaign's gain is real. Gains of kernel work (buckets K) count as measured; of a cache of weights,
 * as far as its bound; of anything else, nothing. Gains compound, so parts and whole are products here: sums of per
 * cents would leave a gap of their own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "karch.h"
#include "kaudit.h"
#include "kchain.h"
#include "kgain.h"

static const double inflated_pct = 1;	/* a headline this much above what is real, of that, must not be shipped */

enum class { CLASS_K, CLASS_W1, CLASS_REST, CLASSES };

struct account {
	json_t *rounds, *refused, *unmeasured;
	double bench[CLASSES], real[CLASSES];	/* products of ratios */
	char buckets[CLASSES][64];		/* seen, for people */
	double speedup;				/* of the last kept over the reference, as measured */
	char kept[KARCH_ID];			/* the last that was kept; empty: none */
	/* of all that was kept, and of the reference, put together */
	double noise;
	bool linear;
};

static double
percent(double ratio)
{
	return 100 * (ratio - 1);
}

static bool
is_refused(const json_t *rec)
{
	return !strcmp(kjson_str_or(rec, "audit.decision", ""), "REJECT-as-overfit");
}

static enum class
class_of(const json_t *rec)
{
	const char *bucket = kjson_str_or(rec, "audit.bucket", "K");

	return is_refused(rec) ? CLASS_REST : *bucket == 'K' ? CLASS_K : !strcmp(bucket, "W1") ? CLASS_W1 : CLASS_REST;
}

static void
note_bucket(struct account *a, enum class c, const char *bucket)
{
	size_t n = strlen(a->buckets[c]);

	if (!strstr(a->buckets[c], bucket))
		snprintf(a->buckets[c] + n, sizeof a->buckets[c] - n, "%s%s", n ? ", " : "", bucket);
}

/*
 * How far off the gain of a record may be: the interval of its race, else the noise of its times.
 */
static double
noise_of(const json_t *rec)
{
	double ratio = kjson_num_or(rec, "score.gain_ratio", 0);
	struct kgain_ratio r = { ratio, kjson_num_or(rec, "score.gain_low", 0), kjson_num_or(rec,
	    "score.gain_high", 0), 1 };

	return ratio > 0 && r.low > 0 && r.high > 0 ? kgain_width(&r) : kjson_num_or(rec,
	    "eval.noise.floor", 0);
}

/*
 * The speed-up that status and report show, where the records have one. A later race of the whole
 * against the reference says nothing of its parts: it counts for them as for the whole.
 */
static void
take_headline(struct account *a, const char *dir, long last)
{
	struct kchain c;

	if (*a->kept && kchain_known(dir, a->kept, last, true, &c)) {
		if (c.from) {
			a->bench[CLASS_K] *= c.speedup.mean / a->speedup;
			a->real[CLASS_K] *= c.speedup.mean / a->speedup;
		}
		a->speedup = c.speedup.mean;
		a->noise = kgain_noise(a->noise, fmin(kgain_width(&c.speedup), 1));
	}
	if (*a->kept)
		kchain_free(&c);
}

/* One round that was kept: RATIO is its time before over its time after. */
static void
keep(struct account *a, const json_t *rec, double ratio)
{
	enum class c = class_of(rec);
	double bound = 1 + kjson_num_or(rec, "audit.w1.bound_pct", 0) / 100;
	double real = c == CLASS_K ? ratio : c == CLASS_W1 ? fmin(ratio, bound) : 1;
	const char *bucket = kjson_str_or(rec, "audit.bucket", "K");

	a->bench[c] *= ratio;
	a->real[c] *= real;
	a->noise = kgain_noise(a->noise, noise_of(rec));
	snprintf(a->kept, sizeof a->kept, "%s", kjson_str_or(rec, "id", ""));
	note_bucket(a, c, bucket);
	if (!strcmp(kjson_str_or(rec, "audit.decision", ""), "ACCEPT-unmeasured"))
		json_array_append_new(a->unmeasured, json_string(kjson_str_or(rec, "id", "?")));
	json_array_append_new(a->rounds, json_pack("{s:s,s:s,s:s,s:f,s:f}", "id", kjson_str_or(rec, "id", "?"),
	    "bucket", bucket,
	    "decision", kjson_str_or(rec, "audit.decision", "not audited"), "benchmark_pct", percent(ratio),
	    "real_pct", percent(real)));
}

/* A round of a linear search: what was accepted was compared with the round accepted before. */
static void
take_round(struct account *a, const json_t *rec)
{
	const json_t *decision = kjson_path(rec, "score.decision");

	a->linear = true;
	if (strcmp(kjson_str_or(decision, "verdict", ""), "accepted"))
		return;
	keep(a, rec, 1 + kjson_num_or(decision, "improvement_pct", 0) / 100);
	a->speedup = json_object_get(decision, "vs_baseline_pct") ? 1 + kjson_num_or(decision, "vs_baseline_pct", 0) / 100 :
	    kjson_num_or(rec, "score.speedup", 1);
}

/* Of the candidates of a trial that gained, the fastest is what the next ones are compared with. */
static void
take_best(struct account *a, const json_t *records)
{
	const json_t *best = NULL, *r;
	size_t i;

	json_array_foreach(records, i, r)
		if (kjson_bool_or(r, "score.gain", false) && !is_refused(r) &&
		    kjson_num_or(r, "score.speedup", 0) > kjson_num_or(best, "score.speedup", a->speedup))
			best = r;
	if (!best)
		return;
	keep(a, best, kjson_num_or(best, "score.speedup", 1) / a->speedup);
	a->speedup = kjson_num_or(best, "score.speedup", 1);
}

static void
take_trial(struct account *a, const json_t *records)
{
	bool linear = false;
	const json_t *r;
	size_t i;

	json_array_foreach(records, i, r) {
		if (kjson_path(r, "score.decision")) {
			linear = true;
			take_round(a, r);
		}
		if (is_refused(r))
			json_array_append_new(a->refused, json_string(kjson_str_or(r, "id", "?")));
	}
	if (!linear)
		take_best(a, records);
}

/* All records of TRIAL; false when it has no scores. */
static bool
read_trial(struct account *a, const char *dir, long trial)
{
	char *path = kasprintf("%s/trials/%03ld/score.ndjson", dir, trial);
	json_t *records = kin_all(path);
	bool there = records != NULL;

	if (trial > 0)
		take_trial(a, records);
	else
		a->noise = kjson_num_or(json_array_get(records, 0), "eval.noise.floor", 0);
	json_decref(records);
	free(path);
	return there;
}

static json_t *
table_row(const struct account *a, const char *source, enum class c)
{
	return json_pack("{s:s,s:s,s:f,s:f}", "source", source, "buckets", a->buckets[c], "benchmark_pct",
	    percent(a->bench[c]),
	    "real_pct", percent(a->real[c]));
}

static json_t *
table_of(const struct account *a, double real)
{
	json_t *table = json_array();

	json_array_append_new(table, table_row(a, "structural kernel work", CLASS_K));
	json_array_append_new(table, table_row(a, "bounded weight cache", CLASS_W1));
	json_array_append_new(table, json_pack("{s:s,s:s,s:f,s:f}", "source", "benchmark-only residual", "buckets",
	    a->buckets[CLASS_REST], "benchmark_pct", percent(a->speedup / real), "real_pct", 0.0));
	json_array_append_new(table, json_pack("{s:s,s:s,s:f,s:f}", "source", "total", "buckets", "", "benchmark_pct",
	    percent(a->speedup), "real_pct", percent(real)));
	return table;
}

json_t *
report_campaign(const struct audit *audit, bool *inflated)
{
	struct account a = { .rounds = json_array(),
		.refused = json_array(),
		.unmeasured = json_array(),
		.bench = { 1, 1, 1 },
		.real = { 1, 1, 1 },
		.speedup = 1 };
	double real, gap, noise;
	long trial = 0;

	while (read_trial(&a, audit->camp->dir, trial))
		trial++;
	if (!trial)
		kdie(K_USAGE, "%s: no trial has been scored yet", audit->camp->dir);
	take_headline(&a, audit->camp->dir, trial - 1);
	real = a.real[CLASS_K] * a.real[CLASS_W1];
	gap = percent(a.speedup) - percent(real);
	/* The parts were measured at other times than the whole, and each brings its own. */
	noise = 100 * a.speedup * a.noise;
	/* A point of a gain of some per cent; of a speed-up of 30, which no two machines give alike, 30 points. */
	*inflated = gap > inflated_pct * real && gap > noise;
	return json_pack("{s:s,s:s,s:s,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:s,s:o,s:o,s:o,s:o}",
	    "schema", "audit-report/1", "campaign", kcamp_str(audit->camp, "name"), "mode",
	    a.linear ? "linear" : "map-elites", "trials", (json_int_t)trial - 1, "headline_pct",
	    percent(a.speedup), "s_real_pct", percent(a.real[CLASS_K]), "w_real_pct",
	    percent(a.real[CLASS_W1]), "r_real_pct", 0.0, "real_pct", percent(real),
	    "inflation_gap_pct", gap, "noise_pct", noise, "verdict",
	    *inflated                      ? "inflated" :
		json_array_size(a.refused) ? "rolled-back" :
					     "clean",
	    "refused", a.refused, "unmeasured", a.unmeasured, "rounds", a.rounds, "table",
	    table_of(&a, real));
}

/* ---- for people ---- */

static void
put_rounds(const json_t *report, struct kbuf *out)
{
	const json_t *row;
	size_t i;

	kbuf_puts(out, "\n| Candidate | Bucket | Decision | Benchmark gain | Real gain |\n|---|---|---|---:|---:|\n");
	json_array_foreach(json_object_get(report, "rounds"), i, row)
		kbuf_printf(out, "| %s | %s | %s | %+.2f %% | %+.2f %% |\n", kjson_str_or(row, "id", "?"),
		    kjson_str_or(row, "bucket", "?"),
		    kjson_str_or(row, "decision", "?"), kjson_num_or(row, "benchmark_pct", 0), kjson_num_or(row,
		    "real_pct", 0));
}

static void
put_ids(struct kbuf *out, const char *what, const json_t *ids)
{
	const json_t *id;
	size_t i;

	json_array_foreach(ids, i, id)
		kbuf_printf(out, "%s%s%s", i ? ", " : "\n", i ? "" : what, json_string_value(id));
	if (json_array_size(ids))
		kbuf_puts(out, ".\n");
}

void
report_markdown(const json_t *report, struct kbuf *out)
{
	const char *verdict = kjson_str_or(report, "verdict", "?");
	const json_t *row;
	size_t i;

	kbuf_printf(out, "# Audit of %s\n\n", kjson_str_or(report, "campaign", "?"));
	kbuf_printf(out, "Verdict: **%s**. Headline %+.2f %%, of which real %+.2f %% (kernel work %+.2f %%, weight "
	    "caches %+.2f %%, all else 0); "
	    "inflation gap %.2f points, noise %.2f.\n", verdict, kjson_num_or(report, "headline_pct", 0),
	    kjson_num_or(report, "real_pct", 0), kjson_num_or(report, "s_real_pct", 0), kjson_num_or(report,
	    "w_real_pct", 0),
	    kjson_num_or(report, "inflation_gap_pct", 0), kjson_num_or(report, "noise_pct", 0));
	if (!strcmp(verdict, "inflated"))
		kbuf_puts(out, "The gap is what only the benchmark's loop sees: do not ship the headline, and roll "
		    "those rounds back.\n");
	put_ids(out, "Refused as overfit: ", json_object_get(report, "refused"));
	put_ids(out,
	    "Kept, but not measured on new buffers, so real only as far as the source tells: ",
	    json_object_get(report, "unmeasured"));
	kbuf_puts(out, "\n| Source | Buckets | Benchmark gain | Real-training-equivalent gain "
	    "|\n|---|---|---:|---:|\n");
	json_array_foreach(json_object_get(report, "table"), i, row)
		kbuf_printf(out, "| %s | %s | %+.2f %% | %+.2f %% |\n", kjson_str_or(row, "source", "?"),
		    kjson_str_or(row, "buckets", ""),
		    kjson_num_or(row, "benchmark_pct", 0), kjson_num_or(row, "real_pct", 0));
	if (json_array_size(json_object_get(report, "rounds")))
		put_rounds(report, out);
}
