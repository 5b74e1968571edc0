/* SPDX-License-Identifier: Apache-2.0 */
/* kaccount: see kaccount.h. */
#include "kaccount.h"

#include "kchain.h"
#include "kgain.h"

/* a headline that exceeds the real gain by this share of it must not be published */
static const double inflated_pct = 1;

enum gain_class { CLASS_K, CLASS_W1, CLASS_REST, CLASSES };

static struct {
	json_t *rounds, *refused, *unmeasured;
	double bench[CLASSES], real[CLASSES]; /* products of ratios */
	char buckets[CLASSES][64];            /* seen, for people */
	/* of the last kept candidate over the reference, as measured */
	double speedup;
	char kept[KARCH_ID]; /* the last one that was kept; empty: none */
	/* of everything that was kept and of the reference, combined */
	double noise;
} account = { .bench = { 1, 1, 1 }, .real = { 1, 1, 1 }, .speedup = 1 };

static double
percent(double ratio)
{
	return 100 * (ratio - 1);
}

static enum gain_class
class_of(const struct kcandidate *c)
{
	if (c->overfit)
		return CLASS_REST;
	return !*c->bucket || *c->bucket == 'K' ? CLASS_K
	    : !strcmp(c->bucket, "W1")          ? CLASS_W1
	                                        : CLASS_REST;
}

static void
note_bucket(enum gain_class c, const char *bucket)
{
	size_t n = strlen(account.buckets[c]);

	if (!strstr(account.buckets[c], bucket))
		snprintf(account.buckets[c] + n, sizeof account.buckets[c] - n, "%s%s",
		    n ? ", " : "", bucket);
}

/* The uncertainty of a record's gain: the interval of its race, else the noise of its times. */
static double
noise_of(const struct kcandidate *c)
{
	return c->gained.low > 0 && c->gained.high > 0 ? kgain_width(&c->gained)
	                                               : kjson_num(c->json, "eval.noise.floor");
}

/*
 * The speed-up that status and report show, if the records have one. A later race of the whole
 * against the reference says nothing about its parts, so it counts for them too.
 */
static void
take_headline(const struct ktrials *t)
{
	struct kchain c;

	if (*account.kept && kchain_known(t->camp, account.kept, t->last, true, &c)) {
		if (c.from) {
			account.bench[CLASS_K] *= c.speedup.mean / account.speedup;
			account.real[CLASS_K] *= c.speedup.mean / account.speedup;
		}
		account.speedup = c.speedup.mean;
		account.noise = kgain_noise(account.noise, fmin(kgain_width(&c.speedup), 1));
	}
	if (*account.kept)
		kchain_free(&c);
}

/* One round that was kept: RATIO is the time before over the time after. */
static void
keep(const struct kcandidate *x, double ratio)
{
	enum gain_class c = class_of(x);
	double bound = 1 + kjson_num(x->json, "audit.w1.bound_pct") / 100;
	double real = c == CLASS_K ? ratio : c == CLASS_W1 ? fmin(ratio, bound) : 1;
	const char *bucket = *x->bucket ? x->bucket : "K";
	const char *decision = kjson_str_or(x->json, "audit.decision", "not audited");

	account.bench[c] *= ratio;
	account.real[c] *= real;
	account.noise = kgain_noise(account.noise, noise_of(x));
	strcpy(account.kept, x->id);
	note_bucket(c, bucket);
	if (!strcmp(decision, "ACCEPT-unmeasured"))
		json_array_append_new(account.unmeasured, json_string(x->id));
	json_array_append_new(account.rounds,
	    json_pack("{s:s,s:s,s:s,s:f,s:f}", "id", x->id, "bucket", bucket, "decision", decision,
	        "benchmark_pct", percent(ratio), "real_pct", percent(real)));
}

/*
 * A round of a linear search: the accepted candidate was compared with the round accepted before.
 */
static void
keep_round(const struct kcandidate *c)
{
	const json_t *decision = kjson_path(c->json, "score.decision");
	double speedup = c->speedup.n ? c->speedup.mean : 1;

	keep(c, 1 + kjson_num(decision, "improvement_pct") / 100);
	account.speedup = 1 + kjson_num_or(decision, "vs_baseline_pct", percent(speedup)) / 100;
}

/* The new best of a search over cells. */
static void
keep_best(const struct kcandidate *c)
{
	double speedup = c->speedup.n ? c->speedup.mean : 1;

	keep(c, speedup / account.speedup);
	account.speedup = speedup;
}

void
kaccount_add(const struct ktrial *trial, bool linear)
{
	if (!account.rounds) {
		account.rounds = json_array();
		account.refused = json_array();
		account.unmeasured = json_array();
	}
	kforeach_of(one, trial->list, trial->count)
		if (one->overfit && trial->number)
			json_array_append_new(account.refused, json_string(one->id));
	if (!trial->kept)
		return;
	if (!trial->number)
		account.noise = kjson_num(trial->kept->json, "eval.noise.floor");
	else if (linear)
		keep_round(trial->kept);
	else
		keep_best(trial->kept);
}

static json_t *
table_row(const char *what, const char *buckets, double bench, double real)
{
	return json_pack("{s:s,s:s,s:f,s:f}", "source", what, "buckets", buckets, "benchmark_pct",
	    percent(bench), "real_pct", percent(real));
}

static json_t *
table_of(double real)
{
	return json_pack("[o,o,o,o]",
	    table_row("structural kernel work", account.buckets[CLASS_K], account.bench[CLASS_K],
	        account.real[CLASS_K]),
	    table_row("bounded weight cache", account.buckets[CLASS_W1], account.bench[CLASS_W1],
	        account.real[CLASS_W1]),
	    table_row(
	        "benchmark-only residual", account.buckets[CLASS_REST], account.speedup / real, 1),
	    table_row("total", "", account.speedup, real));
}

/* The damage, as the model describes it. */
static json_t *
lines_of(const char *text)
{
	json_t *list = json_array();

	for (size_t n; text && *text; text += n + 1) {
		n = strcspn(text, "\n");
		json_array_append_new(list, json_stringn(text, n));
	}
	return list;
}

static const char *
verdict_of(const struct ktrials *t, bool inflated)
{
	/* What is missing may have been real, or not. */
	if (t->fault_count)
		return "damaged";
	return inflated ? "inflated" : json_array_size(account.refused) ? "rolled-back" : "clean";
}

json_t *
kaccount_report(const struct ktrials *t, bool *good)
{
	double real, gap, noise;
	bool inflated;
	json_t *o;

	take_headline(t);
	real = account.real[CLASS_K] * account.real[CLASS_W1];
	gap = percent(account.speedup) - percent(real);
	/* The parts were measured at other times than the whole, and each has its own noise. */
	noise = 100 * account.speedup * account.noise;
	/*
	 * One point for a gain of some per cent; for a speed-up of 30, which no two machines
	 * reproduce exactly, 30 points.
	 */
	inflated = gap > inflated_pct * real && gap > noise;
	*good = !inflated && !t->fault_count;
	o = json_pack("{s:s,s:s,s:s,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:s,s:o,s:o,s:o,s:o}", "schema",
	    "audit-report/1", "campaign", kcamp_str(t->camp, "name"), "mode",
	    t->linear ? "linear" : "map-elites", "trials", (json_int_t)t->last, "headline_pct",
	    percent(account.speedup), "s_real_pct", percent(account.real[CLASS_K]), "w_real_pct",
	    percent(account.real[CLASS_W1]), "r_real_pct", 0.0, "real_pct", percent(real),
	    "inflation_gap_pct", gap, "noise_pct", noise, "verdict", verdict_of(t, inflated),
	    "refused", account.refused, "unmeasured", account.unmeasured, "rounds", account.rounds,
	    "table", table_of(real));
	if (t->fault_count)
		json_object_set_new(o, "damaged", lines_of(t->faults.data));
	return o;
}
