/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search-bench: how far searches get in so many candidates on simulated landscapes. A line per landscape, arm and seed:
 * the share of the logarithmic range that the best reaches at 60 and at 200 candidates, the reference 0 and the optimum 1.
 * tests/bench/search.sh makes the table of such lines.
 */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "koption.h"
#include "search.h"

static const char usage[] = "usage: search-bench [--landscape NAME] [--arm NAME] [--knobs JSON] "
                            "[--first N] [--seeds N] "
                            "[-j JOBS] [--processes]\n";

struct arguments {
	const char *landscape, *arm, *knobs;
	long first, seeds, jobs;
	bool processes;
};

/* Arms that are campaigns: what campaign.json says. NULL: a simple search. */
static const struct {
	const char *name, *knobs;
} arms[] = {
	{ "default", "{}" },
	{ "no_gradient", "{\"gradient\":{\"enabled\":false}}" },
	{ "climb", NULL },
	{ "greedy", NULL },
	{ "best_of_n", NULL },
	{ "uniform", NULL },
};

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void
run_arm(const struct arguments *a, size_t arm, const struct landscape *l, long seed)
{
	const char *tmp = getenv("TMPDIR"), *knobs = a->knobs ? a->knobs : arms[arm].knobs;
	double height[BUDGET + 1] = { 0 };
	struct world w;
	char *dir;

	world_init(&w, l, (uint64_t)seed);
	if (arms[arm].knobs) {
		dir = kasprintf("%s/search-XXXXXX",
		    tmp                            ? tmp
		        : access("/dev/shm", W_OK) ? "/tmp"
		                                   : "/dev/shm");
		if (!mkdtemp(dir))
			kdie_errno(K_IO, "%s", dir);
		run_kiln(&w, (uint64_t)seed, dir, knobs, a->processes, height);
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		free(dir);
	} else {
		run_simple(&w, (uint64_t)seed, arms[arm].name, height);
	}
	printf("%s\t%s\t%ld\t%.4f\t%.4f\n", l->name, a->knobs ? a->knobs : arms[arm].name, seed,
	    height[EARLY], height[BUDGET]);
	fflush(stdout);
}

/* Every JOBS-th run, beginning with the one of this number. */
static void
run_share(const struct arguments *a, long job)
{
	long n = 0;

	for (long seed = a->first; seed < a->first + a->seeds; seed++)
		for (size_t i = 0; i < landscape_count; i++)
			for (size_t k = 0; k < LEN(arms); k++)
				if ((!a->landscape || !strcmp(a->landscape, landscapes[i].name)) &&
				    (a->arm ? !strcmp(a->arm, arms[k].name) : !a->knobs || !k) &&
				    n++ % a->jobs == job)
					run_arm(a, k, &landscapes[i], seed);
}

int
main(int argc, char **argv)
{
	struct arguments a = { .first = 1, .seeds = 60, .jobs = 1 };
	const struct koption options[] = {
		{ 0, "landscape", .text = &a.landscape, .help = "NAME\tonly this landscape" },
		{ 0, "arm", .text = &a.arm, .help = "NAME\tonly this arm" },
		{ 0, "knobs", .text = &a.knobs,
		    .help = "JSON\tthe arm default with these fields in campaign.json" },
		{ 0, "first", .number = &a.first, .low = 0, .high = 1e9,
		    .help = "N\tfirst seed (1)" },
		{ 0, "seeds", .number = &a.seeds, .low = 1, .high = 1e9,
		    .help = "N\tso many seeds (60)" },
		{ 'j', "jobs", .number = &a.jobs, .low = 1, .high = 1024,
		    .help = "N\tso many runs at once (1)" },
		{ 0, "processes", .flag = &a.processes,
		    .help = "\trun the tools as programs, from PATH" },
	};
	int status, worst = 0;

	kutil_init("search-bench");
	koption_read(options, usage, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long job = 0; job < a.jobs; job++)
		if (!fork()) {
			run_share(&a, job);
			_exit(0);
		}
	while (wait(&status) > 0)
		worst |= status;
	return worst ? K_IO : K_OK;
}
