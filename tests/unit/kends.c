/* SPDX-License-Identifier: Apache-2.0 */
/* kends: which of T1 to T4 holds, by what was measured. */
#include "kends.h"

#include <stdlib.h>
#include <unistd.h>

#include "kutil.h"
#include "tap.h"

static const char task[] = "{\"schema\": \"task/1\", \"name\": \"t\", \"op\": \"copy\", "
                           "\"description\": \"d\", \"language\": \"c\", \"reference\": \"r.c\","
                           "\"entry\": {\"name\": \"run\", \"arguments\": [\"x\", \"y\", \"n\"]}, "
                           "\"build\": {\"compiler\": \"cc\"},"
                           "\"axes\": {\"n\": {\"type\": \"var\"}},"
                           "\"inputs\": {\"x\": {\"shape\": [\"n\"], \"dtype\": \"float32\"}},"
                           "\"outputs\": {\"y\": {\"shape\": [\"n\"], \"dtype\": \"float32\"}},"
                           "\"tolerance\": {\"rtol\": 1e-5, \"atol\": 1e-5}, \"flops\": \"n\", "
                           "\"bytes\": \"8*n\","
                           "\"workloads\": [{\"name\": \"f\", \"axes\": {\"n\": 1000}, \"timed\": "
                           "true, \"pair\": \"s\", \"pass\": \"forward\"},"
                           "{\"name\": \"b\", \"axes\": {\"n\": 3000}, \"timed\": true, \"pair\": "
                           "\"s\", \"pass\": \"backward\"}]}";

static void
put(const char *name, const char *text)
{
	if (kwrite_file(name, text, strlen(text)))
		kdie_errno(K_IO, "%s", name);
}

static struct kends
ends_of(const char *knobs, long last, const char *record)
{
	char *manifest = kasprintf("{\"schema\": \"campaign/1\", \"name\": \"c\", \"search\": "
	                           "{\"mode\": \"linear\"}%s%s}",
	    *knobs ? ", " : "", knobs);
	json_t *accepted = record ? json_loads(record, 0, NULL) : NULL;
	struct kends e;

	put("campaign.json", manifest);
	kcamp_load();
	kends_find(last, 0, accepted, &e);
	json_decref(accepted);
	free(manifest);
	return e;
}

/* Does exactly the condition WHICH hold (KENDS: none), for the reason that has WORDS in it? */
static bool
holds(const char *knobs, long last, const char *record, int which, const char *words)
{
	struct kends e = ends_of(knobs, last, record);
	bool good = which == KENDS ? !e.reason : e.reason && strstr(e.reason, words);

	for (int i = 0; i < KENDS; i++)
		good &= e.at[i].holds == (i == which);
	if (!good)
		fprintf(stderr, "# %s\n", e.reason ? e.reason : "no reason");
	kends_free(&e);
	return good;
}

/* The step does 4000 operations on 32000 bytes in 4 µs: 1 GFLOP/s and 8 GB/s. */
#define RECORD \
	"{\"id\": \"003/01\", \"score\": {\"speedup\": 2.5, \"efficiency_pct\": 60}, \"eval\": " \
	"{\"timing\": [" \
	"{\"workload\": \"f\", \"median_ns\": 1500}, {\"workload\": \"b\", \"median_ns\": " \
	"2500}]}}"
#define BASELINE "{\"id\": \"000/00\", \"score\": {\"speedup\": 1}}"

static void
test_target(void)
{
	CHECK(holds("", 3, RECORD, KENDS, NULL));
	CHECK(holds("\"linear\": {\"target\": \"2.5x\"}", 3, RECORD, KENDS_TARGET,
	    "2.5x is reached (T1, linear.target)"));
	CHECK(holds("\"linear\": {\"target\": \"2.6x\"}", 3, RECORD, KENDS, NULL));
	CHECK(holds("\"linear\": {\"target\": \"0.5x\"}", 3, BASELINE, KENDS, NULL));
	CHECK(holds("\"linear\": {\"target\": \"0.5x\"}", 3, NULL, KENDS, NULL));
	CHECK(holds("\"stop\": {\"speedup\": 2.5}", 3, RECORD, KENDS_TARGET, "(T1, stop.speedup)"));
	CHECK(holds("\"linear\": {\"target\": \"0.999 GFLOP/s\"}", 3, RECORD, KENDS_TARGET, "T1"));
	CHECK(holds("\"linear\": {\"target\": \"1.001 GFLOP/s\"}", 3, RECORD, KENDS, NULL));
	CHECK(holds("\"linear\": {\"target\": \"7.999 GB/s\"}", 3, RECORD, KENDS_TARGET, "T1"));
	CHECK(holds("\"linear\": {\"target\": \"8.001 GB/s\"}", 3, RECORD, KENDS, NULL));
}

static void
test_others(void)
{
	struct kends e;

	CHECK(holds("\"stop\": {\"efficiency\": 60}", 3, RECORD, KENDS_EFFICIENCY,
	    "(T2, stop.efficiency)"));
	CHECK(holds("\"stop\": {\"efficiency\": 61}", 3, RECORD, KENDS, NULL));
	CHECK(holds("\"stop\": {\"efficiency\": 61}", 3, NULL, KENDS, NULL));
	CHECK(holds("\"stop\": {\"trials\": 3}", 3, RECORD, KENDS_ROUNDS, "(T3, stop.trials)"));
	put("stop.request", "");
	CHECK(holds("", 3, RECORD, KENDS_REQUEST, "the file stop.request"));
	/* The first that holds gives the reason. */
	e = ends_of("\"linear\": {\"target\": \"2x\"}, \"stop\": {\"trials\": 3}", 3, RECORD);
	CHECK(e.at[KENDS_TARGET].set && !e.at[KENDS_EFFICIENCY].set && e.at[KENDS_ROUNDS].set);
	CHECK(e.at[KENDS_TARGET].holds && e.at[KENDS_ROUNDS].holds && e.at[KENDS_REQUEST].holds &&
	    strstr(e.reason, "(T1"));
	kends_free(&e);
}

int
main(void)
{
	char folder[] = "/tmp/kiln-kends.XXXXXX";

	kutil_init("kends");
	if (!mkdtemp(folder) || chdir(folder) < 0)
		kdie_errno(K_IO, "%s", folder);
	put("task.json", task);
	put("r.c", "void run(const float *x, float *y, int n) {}\n");
	test_target();
	test_others();
	unlink("task.json");
	unlink("r.c");
	unlink("campaign.json");
	unlink("stop.request");
	rmdir(folder);
	return tap_done();
}
