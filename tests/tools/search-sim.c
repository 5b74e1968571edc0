/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search-sim DIR TRIAL BRANCHES: stands in for the model, the evaluator, the classifier and the scorer in tests of the
 * search. Reads trials/TTT/BB/sample.ndjson, writes trials/TTT/BB/eval.ndjson and trials/TTT/score.ndjson, all from the
 * seed of the sample.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "karch.h"
#include "kio.h"
#include "kutil.h"

static const struct {
	double share;
	const char *status;
	double score;
} outcomes[] = {
	{ 0.03, "no_code", 0 }, { 0.02, "rejected", 0 }, { 0.01, "quarantined", 0 }, { 0.10, "compile_error", 1 },
	{ 0.03, "run_error", 2 }, { 0.01, "wrong_shape", 3 }, { 0.05, "wrong_value", 3 }, { 0.03, "partial", 4 },
	{ 1.00, "correct", 5 },
};

/* Hidden from the search: what a cell is good for, with a ridge towards 3,3,2,3. */
static double
quality(int cell)
{
	return 40 * exp(-0.6 * karch_distance(cell, karch_cell("3323"))) + 1;
}

static int
child_cell(struct krng *rng, const json_t *sample)
{
	int target = karch_cell_json(json_object_get(sample, "target"));
	int parent = karch_cell_json(kjson_path(sample, "parent.coords")), dim = (int)krng_below(rng, KARCH_DIMS);
	double u = krng_double(rng);

	if (u < 0.6 && target >= 0)
		return target;
	if (u < 0.8 && parent >= 0)
		return parent;
	return karch_with(parent >= 0 ? parent : 0, dim, (int)krng_below(rng, 4));
}

static json_t *
eval_json(struct krng *rng, const char *id, size_t outcome, const char *parent)
{
	bool duplicate = krng_double(rng) < 0.03;
	json_t *eval = json_pack("{s:s,s:s}", "status", outcomes[outcome].status, "log", "log of the simulation");

	if (outcome) {
		json_object_set_new(eval, "code", json_sprintf("/* %s */\n", id));
		json_object_set_new(eval, "tokens", json_sprintf("%016llx", (unsigned long long)krng_u64(rng)));
		if (duplicate)
			json_object_set_new(eval, "duplicate_of", json_string(parent));
	}
	return eval;
}

static json_t *
score_json(struct krng *rng, int cell, size_t outcome, const json_t *sample)
{
	bool correct = !strcmp(outcomes[outcome].status, "correct");
	double speedup = quality(cell) * (0.7 + 0.6 * krng_double(rng));
	double incumbent = fmax(kjson_num_or(sample, "best.speedup", 1), kjson_num_or(sample, "parent.speedup", 1));

	if (!correct)
		return json_pack("{s:f,s:b,s:b}", "combined", outcomes[outcome].score, "correct", 0, "gain", 0);
	return json_pack("{s:f,s:b,s:b,s:f,s:f}", "combined", 5 + 3 * speedup, "correct", 1, "gain",
	    speedup > 1.01 * incumbent, "speedup", speedup, "runtime_ms", 100 / speedup);
}

static void
put(FILE *f, const json_t *record)
{
	if (!f || json_dumpf(record, f, KIO_DUMP) || fputc('\n', f) == EOF)
		kdie_errno(K_IO, "output");
}

static void
simulate(const char *dir, long trial, long branch, FILE *scores)
{
	char *path = kasprintf("%s/trials/%03ld/%02ld/sample.ndjson", dir, trial, branch);
	json_t *record = kjson_load(path), *sample = json_object_get(record, "sample");
	struct krng rng;
	size_t outcome = 0;
	double u;
	FILE *f;
	int cell;

	krng_init(&rng, strtoull(kjson_str_or(sample, "seed", ""), NULL, 16), trial, branch, "simulation");
	for (u = krng_double(&rng); outcome < LEN(outcomes) - 1 && u >= outcomes[outcome].share; outcome++)
		u -= outcomes[outcome].share;
	cell = child_cell(&rng, sample);
	json_object_set_new(record, "reply", json_pack("{s:f,s:{s:i,s:i}}", "cost_usd", 0.0123, "usage", "input_tokens",
	    1000, "output_tokens", 500));
	json_object_set_new(record, "eval", eval_json(&rng, kjson_str_or(record, "id", ""), outcome,
	    kjson_str_or(sample, "parent.id", "")));
	free(path);
	path = kasprintf("%s/trials/%03ld/%02ld/eval.ndjson", dir, trial, branch);
	f = fopen(path, "w");
	put(f, record);
	fclose(f);
	json_object_set_new(record, "coords", json_pack("{s:o}", "coords", karch_coords(cell)));
	json_object_set_new(record, "score", score_json(&rng, cell, outcome, sample));
	put(scores, record);
	json_decref(record);
	free(path);
}

int
main(int argc, char **argv)
{
	long trial, branches;
	char *path;
	FILE *scores;

	kutil_init("search-sim");
	if (argc != 4)
		kdie(K_USAGE, "search-sim DIR TRIAL BRANCHES");
	trial = knum_long(argv[2], 1, 999999, "TRIAL");
	branches = knum_long(argv[3], 1, 99, "BRANCHES");
	path = kasprintf("%s/trials/%03ld/score.ndjson", argv[1], trial);
	scores = fopen(path, "w");
	/* Backwards: whoever reads this must not rely on the order. */
	for (long b = branches; b; b--)
		simulate(argv[1], trial, b, scores);
	if (!scores || fclose(scores))
		kdie_errno(K_IO, "%s", path);
	free(path);
	return K_OK;
}
