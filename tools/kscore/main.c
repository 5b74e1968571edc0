/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kscore: from evaluation to score: the rung reached, the speed-up over the reference, and whether
 * it is a gain by more than the noise. A pure function of its records, the reference, the
 * incumbent's evaluation and the knobs score.*.
 */

#include "kchain.h"
#include "koption.h"
#include "kroof.h"
#include "kscore.h"

struct scorer scorer;
struct krec scored;
const json_t *timing;
json_t *score;

static const char usage[] = "usage: kscore [-c DIR] -r REFERENCE [-a ARCHIVE] [--check] [--thin] "
                            "[-o FILE] [FILE ...]\n";

_Noreturn void
refuse(const char *fault, const char *with)
{
	kdie_usage("%s:%ld: %s (compared with %s)", scored.file, scored.lineno, fault, with);
}

/* The opponent that the candidate was timed in turns with; its own speed-up carries over. */
struct anchor {
	const char *name, *id; /* borrowed; id NULL: none */
	struct kchain chain;
};

/*
 * The anchor that the evaluation names, if any. A program found wrong since is still a valid
 * anchor.
 */
static void
find_anchor(struct anchor *a)
{
	const json_t *pairs = kjson_path(scored.json, "eval.pairs");
	long trial = kjson_int(scored.json, "trial");

	*a = (struct anchor){ .name = kjson_maybe(scored.json, "eval.anchor") };
	if (!a->name)
		return;
	kjson_foreach(pair, pairs)
		if (kjson_is(pair, "name", a->name))
			a->id = kjson_str_or(pair, "id", a->id);
	if (a->id)
		kchain_known(a->id, trial, false, &a->chain);
	else if (!strcmp(a->name, "reference"))
		a->chain.speedup = (struct kgain_ratio){ 1, 1, 1, 1 };
	else
		kchain_baseline(scorer.reference.record, a->name, &a->chain);
}

/*
 * The speed-up on the workload of ROW: from the race with the anchor, times the anchor's own. If a
 * link is missing, separate times are used.
 */
static struct kgain_ratio
speedup_of(const struct anchor *a, const json_t *row, bool *apart)
{
	const char *workload = kjson_str(row, "workload");
	const json_t *other = kgain_row(scorer.reference.timing, workload);
	struct kgain_ratio pair = { 0 }, link = { 0 };

	if (a->name) {
		pair = kgain_pair(kjson_path(scored.json, "eval.pairs"), a->name, workload);
		link = kchain_link(&a->chain, workload);
	}
	if (pair.n && link.n)
		return kgain_product(&pair, &link);
	/* The reference is exactly as fast as itself, however noisy its times are. */
	if (json_equal(other, row))
		return (struct kgain_ratio){ 1, 1, 1, 1 };
	*apart = true;
	return kgain_apart(other, row,
	    kgain_noise(scorer.reference.noise, kjson_num(scored.json, "eval.noise.floor")));
}

/* By workload; new reference. APART is set if a link of a chain was missing. */
static json_t *
speedups_of(const struct anchor *a, bool *apart)
{
	json_t *rows = json_array();

	kjson_foreach(row, timing) {
		struct kgain_ratio r = speedup_of(a, row, apart);
		json_t *one = json_pack("{s:s,s:f}", "workload", kjson_str(row, "workload"),
		    "runtime_ms", kgain_time_ns(row) / 1e6);

		kgain_put_speedup(one, &r);
		json_array_append_new(rows, one);
	}
	return rows;
}

/*
 * Every workload of the candidate must have a valid time, and so must the reference's; otherwise
 * the record is refused.
 */
static void
check_times(void)
{
	/* The baseline of a chain is timed on more workloads than a round on its quick set. */
	json_auto_t *reference = scorer.linear ? kgain_rows_like(scorer.reference.timing, timing)
	                                       : json_incref((json_t *)scorer.reference.timing);
	char *fault = kgain_speedup(reference, timing, NULL);

	if (fault)
		refuse(fault, "the reference");
}

static void
put_anchor(const struct anchor *a)
{
	const struct kgain_ratio *r = &a->chain.speedup;

	kjson_set(score, "anchor",
	    json_pack("{s:s,s:s*,s:o*,s:o*,s:o*,s:s*}", "name", a->name, "id", a->id, "speedup",
	        json_real(r->mean), "low", json_real(r->low), "high", json_real(r->high), "from",
	        a->chain.from));
}

/*
 * How the candidate compares with the incumbent: from their race; if there is no incumbent, from
 * its speed-up over the reference; else from separate times. Pairs with a former incumbent are
 * ignored.
 */
static struct kgain_ratio
compare_incumbent(void)
{
	const struct rival *rival = rival_of();
	double noise = kgain_noise(kjson_num(scored.json, "eval.noise.floor"), rival->noise);
	bool beside = !strcmp(kjson_str_or(scored.json, "sample.incumbent", rival->id), rival->id);
	struct kgain_ratio r;
	char *fault;

	if (beside && kgain_raced(kjson_path(scored.json, "eval.pairs"), "incumbent", timing, &r))
		return r;
	if (rival == &scorer.reference)
		return kgain_speedup_of(score);
	fault = kgain_speedup(rival->timing, timing, NULL);
	if (fault)
		refuse(fault, rival->id);
	kgain_all_apart(rival->timing, timing, noise, &r);
	return r;
}

/*
 * A gain exceeds the incumbent by more than the noise, and by score.min_gain. A copy never gains.
 */
static void
add_gain(void)
{
	struct kgain_ratio r = compare_incumbent();
	bool counts =
	    !kjson_path(scored.json, "eval.duplicate_of") && !json_object_get(score, "alarm");

	put_gain(&r, counts && r.low > 1 + scorer.min_gain);
}

/*
 * The share of what the device can do, and what seems to limit it; and whether a time is below the
 * possible minimum.
 */
static void
add_roofline(void)
{
	double efficiency;
	const char *alarm;
	json_t *rows = kroof_utilization(scorer.roofline, timing, &efficiency, &alarm);

	kjson_extend(score, "{s:o*,s:o*,s:o*,s:s*}", "utilization", rows, "growth",
	    kroof_growth(scorer.roofline, timing), "efficiency_pct", json_real(efficiency), "alarm",
	    alarm ? "below_floor" : NULL);
}

/* The time of a single call, next to the time that counts. */
static void
add_alone(json_t *rows)
{
	static const char *const members[][2] = {
		{ "alone_ns", "alone_ms" },
		{ "host_ns", "host_ms" },
	};

	kjson_foreach(row, rows)
		kforeach(member, members) {
			double ns =
			    kjson_num_or(json_array_get(timing, kjson_at(row)), (*member)[0], -1);

			if (ns >= 0)
				json_object_set_new(row, (*member)[1], json_real(ns / 1e6));
		}
}

/*
 * Adds the speed-up, measured against the anchor, what the anchor was, and whether a link of its
 * chain is uncertain.
 */
static struct kgain_ratio
add_speedup(void)
{
	struct anchor anchor;
	struct kgain_ratio speedup;
	bool apart = false;
	json_t *rows;

	check_times();
	find_anchor(&anchor);
	rows = speedups_of(&anchor, &apart);
	speedup = kgain_mean(rows, timing);
	kgain_put_speedup(score, &speedup);
	if (apart || kjson_bool(scored.json, "eval.machine.busy") || anchor.chain.provisional)
		kjson_enter(score, "provisional");
	if (anchor.chain.speedup.n)
		put_anchor(&anchor);
	add_alone(rows);
	json_object_set_new(score, "per_workload", rows);
	kchain_free(&anchor.chain);
	return speedup;
}

/* Adds the figures of a correct and timed candidate, and returns the speed-up that counts. */
static double
add_times(void)
{
	struct kgain_ratio speedup = add_speedup();

	json_object_set_new(score, "runtime_ms", json_real(kgain_runtime_ms(timing)));
	if (kjson_path(scored.json, "eval.noise.floor"))
		json_object_set_new(
		    score, "noise_floor", json_real(kjson_num(scored.json, "eval.noise.floor")));
	if (scorer.roofline)
		add_roofline();
	if (!scorer.linear)
		add_gain();
	/*
	 * A time that the device cannot reach is not real: it earns what a correct kernel without
	 * times does, and is not a gain.
	 */
	return json_object_get(score, "alarm") ? 0 : speedup.mean;
}

static void
make_score(void)
{
	bool overfit = kjson_is(scored.json, "audit.decision", "REJECT-as-overfit");
	enum status status = status_of_record(&scored);
	int perf = overfit ? 0 : status_rows[status].rung;
	bool correct = status == STATUS_CORRECT;
	double combined = perf;

	timing = kjson_path(scored.json, "eval.timing");
	score = json_pack("{s:i,s:b}", "perf_score", perf, "correct", correct);
	if (correct && timing)
		combined += scorer.multiplier * add_times();
	else
		json_object_set_new(score, "gain", json_false());
	if (correct && !timing)
		kjson_put(score, "verdict", "inconclusive");
	/* Its times are kept, but do not count: what made them has no use outside a benchmark. */
	if (overfit) {
		json_object_set_new(score, "gain", json_false());
		kjson_enter(score, "overfit");
		combined = 0;
	}
	json_object_set_new(score, "combined", json_real(combined));
	if (scorer.linear)
		add_decision();
}

/* The first line of an archive names its best program. */
static char *
best_of(const char *path)
{
	json_auto_t *header = kin_first(path);
	const char *id = kjson_str_or(header, "best.id", kjson_maybe(header, "best"));
	char *best = kstrdup(id);

	if (!header)
		kdie_usage("%s: is empty or not an archive", path);
	return best;
}

static bool
score_file(const char *path, bool check)
{
	enum kjoin join = check || scorer.thin ? KJOIN_FIGURES : KJOIN_WHOLE;
	struct kin in;
	bool holds = true;

	kin_open(&in, path);
	while (krecord_next(&in, &scored, join)) {
		make_score();
		if (check)
			holds &= decision_holds();
		else
			krecord_put(&scored, scorer.thin, "score", score);
		json_decref(score);
		krec_free(&scored);
	}
	kin_end(&in);
	return holds;
}

int
main(int argc, char **argv)
{
	const char *reference = NULL, *archive = NULL, *output = NULL;
	bool check = false, holds = true;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		{ 'r', "reference", .text = &reference,
		    .help = "FILE\tevaluated record of the reference" },
		{ 'a', "archive", .text = &archive, .help = "FILE\tarchive of the previous trial" },
		KOPTION_OUTPUT(&output),
		KOPTION_FLAG("check", &check,
		    "\tcheck the stored decisions of a linear search; exit 1 if one "
		    "differs"),
		KOPTION_FLAG("thin", &scorer.thin, "\twrite thin records"),
	};

	kutil_init("kscore");
	koption_read(options, usage, argc, argv);
	if (!reference)
		koption_misuse(usage, "give -r REFERENCE, the evaluated record of the reference");
	kcamp_load();
	scorer.linear = kcamp_linear();
	/* For core workloads and pairs of passes; a simulation needs none. */
	scorer.task = scorer.linear ? kjson_if_there(kcamp.task) : NULL;
	/* Times of the null evaluator, which measures nothing, say nothing about a device. */
	scorer.roofline = kcamp_is("eval.evaluator", "null") ? NULL : kroof_load();
	scorer.multiplier = kcamp_num("score.multiplier");
	scorer.min_gain = kcamp_num("score.min_gain");
	if (!load_rival(&scorer.reference, reference, NULL))
		kdie_usage("%s: must be the record of a correct, timed reference", reference);
	scorer.archive_best = archive ? best_of(archive) : NULL;
	if (check && !scorer.linear)
		kdie_usage("--check: %s: search.mode is not linear, so there are no decisions to "
		           "check",
		    kcamp.file);
	kout_open(output);
	if (optind == argc)
		holds &= score_file(NULL, check);
	for (int i = optind; i < argc; i++)
		holds &= score_file(argv[i], check);
	kout_commit();
	return holds ? K_OK : K_NO;
}
