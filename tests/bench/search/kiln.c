/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search-bench: a campaign of ksample, karchive and kgrad with the model of the simulation. The tools run in this process,
 * where a start costs nothing, or as the programs that they are. See search.h.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kio.h"
#include "search.h"

enum { BRANCHES = 4, TRIALS = BUDGET / BRANCHES };

/* main of the tools, which the Makefile renames. */
int ksample_main(int argc, char **argv);
int karchive_main(int argc, char **argv);
int kgrad_main(int argc, char **argv);

struct run {
	struct world *w;
	uint64_t seed;
	const char *dir;
	bool processes;
	struct reply replies[TRIALS + 1][BRANCHES + 1]; /* of the reference, [0][0] */
};

/* A tool with its arguments, the last of them NULL. Paths are short: they are kept in static places. */
static void
call(const struct run *r, int (*tool)(int, char **), const char **argv)
{
	int argc = 0, status = 0;
	pid_t child;

	while (argv[argc])
		argc++;
	if (r->processes) {
		child = fork();
		if (!child) {
			execvp(argv[0], (char **)argv);
			_exit(127);
		}
		waitpid(child, &status, 0);
	} else {
		optind = 0;
		status = tool(argc, (char **)argv);
		kutil_init("search-bench");
	}
	if (status)
		kdie(K_IO, "%s: failed in %s", argv[0], r->dir);
}

/* A path of the campaign: one of a few that are in use at once; borrowed. */
static char *
at(const struct run *r, long trial, long branch, const char *name)
{
	static char paths[8][512];
	static size_t next;
	char *path = paths[next++ % LEN(paths)];

	if (branch < 0)
		snprintf(path, sizeof paths[0], "%s/trials/%03ld/%s", r->dir, trial, name);
	else
		snprintf(
		    path, sizeof paths[0], "%s/trials/%03ld/%02ld/%s", r->dir, trial, branch, name);
	return path;
}

static void
put(FILE *f, json_t *record)
{
	if (!f || json_dumpf(record, f, KIO_DUMP) || fputc('\n', f) == EOF)
		kdie_errno(K_IO, "output");
}

static void
put_file(const char *path, json_t *record)
{
	FILE *f = fopen(path, "w");

	put(f, record);
	if (fclose(f))
		kdie_errno(K_IO, "%s", path);
}

/* The score as kscore gives it: an interval of two standard deviations, a gain when it is beyond both. */
static json_t *
score_json(const struct run *r, const struct reply *reply, const json_t *sample)
{
	double width = exp(1.96 * r->w->l->noise), than = 1;
	long trial, branch;

	if (karch_id(kjson_str_or(sample, "incumbent", KARCH_REFERENCE), &trial, &branch) && trial)
		than = r->replies[trial][branch].speedup;
	if (!(reply->speedup > 0))
		return json_pack("{s:f,s:b,s:b}", "combined",
		    !strcmp(reply->status, "compile_error") ? 1.0 : 3.0, "correct", 0, "gain", 0);
	return json_pack("{s:f,s:b,s:b,s:s,s:f,s:f,s:f,s:f}", "combined", 5 + 3 * reply->speedup,
	    "correct", 1, "gain", reply->speedup > than * width, "verdict",
	    reply->speedup > than * width       ? "gain"
	        : reply->speedup < than / width ? "loss"
	                                        : "same",
	    "speedup", reply->speedup, "speedup_low", reply->speedup / width, "speedup_high",
	    reply->speedup * width, "runtime_ms", 100 / reply->speedup);
}

/* Evaluation and score of a reply, appended to RECORD. */
static void
put_record(const struct run *r, json_t *record, const struct reply *reply, long trial, long branch,
    FILE *scores)
{
	struct krng rng;

	krng_init(&rng, r->seed, trial, branch, "tokens");
	kjson_set(record, "eval",
	    json_pack("{s:s,s:s,s:o,s:s}", "status", reply->status, "code", "code", "tokens",
	        json_sprintf("%016llx", (unsigned long long)krng_u64(&rng)), "log", ""));
	put_file(at(r, trial, branch, "eval.ndjson"), record);
	kjson_set(record, "coords", json_pack("{s:o}", "coords", karch_coords(reply->point.cell)));
	kjson_set(record, "score", score_json(r, reply, json_object_get(record, "sample")));
	put(scores, record);
}

static void
run_branch(struct run *r, long trial, long branch, FILE *scores)
{
	char number[2][16], *path = at(r, trial, branch, "sample.ndjson");
	const char *ksample[] = { "ksample", "-c", r->dir, "--trial", number[0], "--branch",
		number[1], "-a", at(r, trial - 1, -1, "archive.ndjson"), "-g",
		at(r, trial - 1, -1, "gradient.ndjson"), "-o", path, NULL };
	struct reply *reply = &r->replies[trial][branch];
	const json_t *sample;
	long t, b;
	json_t *record;

	snprintf(number[0], sizeof number[0], "%ld", trial);
	snprintf(number[1], sizeof number[1], "%ld", branch);
	mkdir(at(r, trial, branch, ""), 0777);
	call(r, ksample_main, ksample);
	record = kjson_load(path);
	sample = json_object_get(record, "sample");
	if (!karch_id(kjson_str_or(sample, "parent.id", ""), &t, &b))
		kdie(K_IO, "%s: no parent", path);
	model_reply(r->w, r->seed, (trial - 1) * BRANCHES + branch, &r->replies[t][b].point,
	    karch_cell_json(json_object_get(sample, "target")),
	    t && !(r->replies[t][b].speedup > 0), reply);
	put_record(r, record, reply, trial, branch, scores);
	json_decref(record);
}

/* Archive and gradient after a trial; the true height of the best. */
static double
close_trial(const struct run *r, long trial)
{
	long before = trial ? trial - 1 : 0, t, b;
	char *archive = at(r, trial, -1, "archive.ndjson"),
	     *gradient = at(r, trial, -1, "gradient.ndjson"),
	     *score = at(r, trial, -1, "score.ndjson"), *last = at(r, before, -1, "archive.ndjson"),
	     *slopes = at(r, before, -1, "gradient.ndjson");
	const char *first_archive[] = { "karchive", "-c", r->dir, "-o", archive, score, NULL },
	           *karchive[] = { "karchive", "-c", r->dir, "-a", last, "-o", archive, score,
		           NULL },
	           *first_gradient[] = { "kgrad", "-c", r->dir, "-a", archive, "-o", gradient,
		           score, NULL },
	           *kgrad[] = { "kgrad", "-c", r->dir, "-g", slopes, "-a", last, "-o", gradient,
		           score, NULL };

	call(r, karchive_main, trial ? karchive : first_archive);
	call(r, kgrad_main, trial ? kgrad : first_gradient);
	karch_load(archive);
	if (!karch_id(kjson_str_or(karch.header, "best.id", KARCH_REFERENCE), &t, &b))
		kdie(K_IO, "%s: no best", archive);
	return r->replies[t][b].height;
}

static void
begin(struct run *r, const char *knobs)
{
	json_t *camp = json_loads(knobs, 0, NULL), *record;
	char trials[512];
	FILE *scores;

	if (!camp)
		kdie(K_USAGE, "%s: not JSON", knobs);
	kjson_set(camp, "name", json_string("sim"));
	kjson_set(camp, "seed", json_integer((json_int_t)r->seed));
	snprintf(trials, sizeof trials, "%s/trials", r->dir);
	mkdir(trials, 0777);
	mkdir(at(r, 0, -1, ""), 0777);
	put_file(at(r, 0, -1, "../../campaign.json"), camp);
	mkdir(at(r, 0, 0, ""), 0777);
	r->replies[0][0] =
	    (struct reply){ .point = r->w->reference, .status = "correct", .speedup = 1 };
	record = json_pack("{s:s,s:s,s:i,s:i,s:s}", "schema", "candidate/1", "campaign", "sim",
	    "trial", 0, "branch", 0, "id", KARCH_REFERENCE);
	scores = fopen(at(r, 0, -1, "score.ndjson"), "w");
	put_record(r, record, &r->replies[0][0], 0, 0, scores);
	fclose(scores);
	json_decref(record);
	json_decref(camp);
}

void
run_kiln(struct world *w, uint64_t seed, const char *dir, const char *knobs, bool processes,
    double height[BUDGET + 1])
{
	static struct run r;

	r = (struct run){ .w = w, .seed = seed, .dir = dir, .processes = processes };
	begin(&r, knobs);
	height[0] = close_trial(&r, 0);
	for (long trial = 1; trial <= TRIALS; trial++) {
		FILE *scores;

		mkdir(at(&r, trial, -1, ""), 0777);
		scores = fopen(at(&r, trial, -1, "score.ndjson"), "w");
		for (long b = 1; b <= BRANCHES; b++)
			run_branch(&r, trial, b, scores);
		if (!scores || fclose(scores))
			kdie_errno(K_IO, "%s", dir);
		height[trial * BRANCHES] = close_trial(&r, trial);
	}
}
