/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: judge a compiled kernel: is it right, how fast is it. The kernel runs in a sandboxed
 * process of its own, which is stopped except while the clock runs; inputs, expected results, clock
 * and verdict stay in this one.
 */
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "kharness.h"
#include "kio.h"
#include "klock.h"
#include "kproc.h"
#include "ksandbox.h"

enum {
	OPT_THREADS = 256,
	OPT_SEEDS,
	OPT_SEED,
	OPT_PHASE,
	OPT_STATISTIC,
	OPT_TIMING,
	OPT_MIN,
	OPT_MAX,
	OPT_WARMUP,
	OPT_WARMUP_S,
	OPT_RUN_TIMEOUT,
	OPT_MEMORY,
	OPT_SANDBOX,
	OPT_ORACLE,
	OPT_AGAINST,
	OPT_NAME,
	OPT_MACHINE,
	OPT_CEILINGS,
	OPT_LINT,
	OPT_BACKEND,
	OPT_SOLO,
	OPT_WORKLOAD,
	OPT_SAVE,
	OPT_REUSE,
	OPT_ALL_PAIRS,
	OPT_BUSY,
	OPT_APART,
	OPT_FENCED,
	OPT_LOCK_CLOCKS,
	OPT_LOCK_MHZ,
	OPT_HOLD_CLOCKS
};

static const struct option long_options[] = { { "task", required_argument, NULL, 't' },
	{ "set", required_argument, NULL, 's' },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "seeds", required_argument, NULL, OPT_SEEDS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "phase", required_argument, NULL, OPT_PHASE },
	{ "statistic", required_argument, NULL, OPT_STATISTIC },
	{ "timing-s", required_argument, NULL, OPT_TIMING },
	{ "min-samples", required_argument, NULL, OPT_MIN },
	{ "max-samples", required_argument, NULL, OPT_MAX },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "warmup-s", required_argument, NULL, OPT_WARMUP_S },
	{ "run-timeout-s", required_argument, NULL, OPT_RUN_TIMEOUT },
	{ "memory-mb", required_argument, NULL, OPT_MEMORY },
	{ "sandbox", required_argument, NULL, OPT_SANDBOX },
	{ "oracle", required_argument, NULL, OPT_ORACLE },
	{ "against", required_argument, NULL, OPT_AGAINST },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "lock-clocks", required_argument, NULL, OPT_LOCK_CLOCKS },
	{ "lock-mhz", required_argument, NULL, OPT_LOCK_MHZ },
	{ "hold-clocks", required_argument, NULL, OPT_HOLD_CLOCKS },
	{ "solo", no_argument, NULL, OPT_SOLO }, { "apart", no_argument, NULL, OPT_APART },
	{ "fenced", no_argument, NULL, OPT_FENCED }, { "save", required_argument, NULL, OPT_SAVE },
	{ "workload", required_argument, NULL, OPT_WORKLOAD },
	{ "reuse", no_argument, NULL, OPT_REUSE },
	{ "all-pairs", no_argument, NULL, OPT_ALL_PAIRS },
	{ "busy-s", required_argument, NULL, OPT_BUSY },
	{ "machine", no_argument, NULL, OPT_MACHINE },
	{ "ceilings", no_argument, NULL, OPT_CEILINGS },
	{ "lint", required_argument, NULL, OPT_LINT }, { "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 } };

static const char usage_text[] =
    "usage: kharness -t TASK.json [OPTION...] CANDIDATE.so\n"
    "       kharness --reuse -t TASK.json [OPTION...] CANDIDATE.so\n"
    "       kharness --solo -t TASK.json [OPTION...] CANDIDATE.so\n"
    "       kharness --machine [-o FILE]\n"
    "       kharness --ceilings [--backend NAME] [--threads N] [-t TASK.json] [-o FILE]\n"
    "       kharness --lint TASK.json [--backend NAME] [--oracle ORACLE.so]\n";

static const char help_text[] =
    "\n"
    "  -t, --task FILE        the task to judge\n"
    "  -s, --set SET          use this set of workloads (default: full)\n"
    "  -o, --output FILE      write to FILE instead of stdout\n"
    "      --phase PHASE      correctness, timing or both (default: both)\n"
    "      --oracle FILE      shared object with the oracle\n"
    "      --against NAME=FILE  time this program in turns with the candidate; repeatable\n"
    "      --all-pairs        compare all programs with each other\n"
    "      --backend NAME     c, cuda, hip or opencl (default: c)\n"
    "      --name NAME        name of the candidate in the result\n"
    "      --threads N        threads that a kernel may use (default: all)\n"
    "      --seeds N          input seeds per workload and distribution (default: 2)\n"
    "      --seed HEX         seed of all inputs (default: random)\n"
    "      --timing-s S       time for samples per workload (default: 1)\n"
    "      --min-samples N    samples per workload at least (default: 5)\n"
    "      --max-samples N    samples per workload at most (default: 96)\n"
    "      --warmup N         untimed calls at least (default: 2)\n"
    "      --warmup-s S       untimed calls for at least S seconds (default: 0.1)\n"
    "      --busy-s S         wait at most S seconds for a quiet machine (default: 60)\n"
    "      --run-timeout-s S  time limit of a call (default: 60)\n"
    "      --statistic WORD   median, min or mean of the samples (default: median)\n"
    "      --memory-mb N      memory of a candidate (default: 4096)\n"
    "      --sandbox NAME     auto, bwrap, landlock or none (default: auto)\n"
    "      --lock-clocks HOW  lock the clocks of a CUDA device: off, try or require\n"
    "      --lock-mhz N       lock them at N MHz\n"
    "      --reuse            measure on buffers that were seen before, too\n"
    "      --solo             call the candidate without a judge, for profilers\n"
    "      --workload NAME    solo: call it on this workload\n"
    "      --apart            solo: make every tensor an allocation of its own\n"
    "      --fenced           solo: the same, next to unmapped memory\n"
    "      --save DIR         solo: write what it made of each output to DIR\n"
    "      --machine          describe this machine\n"
    "      --ceilings         measure the rates that this machine reaches\n"
    "      --lint FILE        check a task\n"
    "  -h, --help             print this text\n"
    "  -V, --version          print the version\n";

static _Noreturn void
usage(const char *why)
{
	fprintf(stderr, "kharness: %s\n%s", why, usage_text);
	exit(K_USAGE);
}

/* Index of WORD in a list, or the end of the program. */
static int
choice(const char *word, const char *const *list, size_t count, const char *option)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, list[i]))
			return (int)i;
	fprintf(stderr, "kharness: %s: unknown value '%s'\n%s", option, word, usage_text);
	exit(K_USAGE);
}

static uint64_t
seed_of(const char *hex)
{
	char *end;
	uint64_t v = strtoull(hex, &end, 16);

	if (!*hex || *end || strlen(hex) > 16 ||
	    strspn(hex, "0123456789abcdefABCDEF") != strlen(hex))
		usage("--seed: must be up to 16 hexadecimal digits");
	return v;
}

static void
set_phase(struct options *o, const char *word)
{
	static const char *const phases[] = { "both", "correctness", "timing" };
	int i = choice(word, phases, LEN(phases), "--phase");

	o->correctness = i != 2;
	o->timing = i != 1;
}

/* How long and how often, and what a call may use. */
static bool
set_limit(struct options *o, int c)
{
	switch (c) {
	case OPT_TIMING:
		o->timing_s = knum_double(optarg, 0.001, 86400, "--timing-s");
		break;
	case OPT_MIN:
		o->min_samples = (int)knum_long(optarg, 1, 100000, "--min-samples");
		break;
	case OPT_MAX:
		o->max_samples = (int)knum_long(optarg, 1, 100000, "--max-samples");
		break;
	case OPT_BUSY:
		o->busy_s = knum_double(optarg, 0, 86400, "--busy-s");
		break;
	case OPT_WARMUP:
		o->warmup = (int)knum_long(optarg, 0, 10000, "--warmup");
		break;
	case OPT_WARMUP_S:
		o->warmup_s = knum_double(optarg, 0, 3600, "--warmup-s");
		break;
	case OPT_RUN_TIMEOUT:
		o->run_timeout_s = knum_double(optarg, 0.01, 86400, "--run-timeout-s");
		break;
	case OPT_MEMORY:
		o->memory_bytes = (uint64_t)knum_long(optarg, 1, 1L << 30, "--memory-mb") << 20;
		break;
	default:
		return false;
	}
	return true;
}

/* Words that are taken as they stand. */
static bool
set_text(struct options *o, int c)
{
	const struct {
		int option;
		const char **to;
	} texts[] = { { 't', &o->task }, { 's', &o->set }, { 'o', &o->output },
		{ OPT_SANDBOX, &o->sandbox }, { OPT_ORACLE, &o->oracle }, { OPT_NAME, &o->name },
		{ OPT_WORKLOAD, &o->workload }, { OPT_SAVE, &o->save } };

	for (size_t i = 0; i < LEN(texts); i++)
		if (texts[i].option == c) {
			*texts[i].to = optarg;
			return true;
		}
	return false;
}

static const struct backend *
chosen_backend(const char *name)
{
	const struct backend *b = backend_named(name);
	char *lack = b ? backend_lacks_runner(b) : NULL;

	if (!b || lack)
		kdie(K_USAGE, "--backend %s: %s", name, lack ? lack : "no such backend");
	return b;
}

/* One option; false when it is not known here. */
static bool
set_option(struct options *o, int c)
{
	static const char *const statistics[] = { "median", "min", "mean" };
	static const char *const clocks[] = { "off", "try", "require" };

	switch (c) {
	case OPT_THREADS:
		o->threads = (int)knum_long(optarg, 0, 4096, "--threads");
		break;
	case OPT_SEEDS:
		o->seeds = (int)knum_long(optarg, 1, 1000, "--seeds");
		break;
	case OPT_SEED:
		o->seed = seed_of(optarg);
		break;
	case OPT_PHASE:
		set_phase(o, optarg);
		break;
	case OPT_STATISTIC:
		o->statistic =
		    statistics[choice(optarg, statistics, LEN(statistics), "--statistic")];
		break;
	case OPT_CEILINGS:
		o->ceilings = true;
		break;
	case OPT_SOLO:
		o->solo = true;
		break;
	case OPT_LOCK_CLOCKS:
		o->clocks = clocks[choice(optarg, clocks, LEN(clocks), "--lock-clocks")];
		break;
	case OPT_LOCK_MHZ:
		o->clocks_mhz = (int)knum_long(optarg, 0, 10000, "--lock-mhz");
		break;
	case OPT_HOLD_CLOCKS:
		exit(clocks_holder(optarg));
	case OPT_FENCED:
		o->fenced = true;
		/* fallthrough */
	case OPT_APART:
		o->apart = true;
		break;
	case OPT_REUSE:
		o->reuse = true;
		break;
	case OPT_ALL_PAIRS:
		o->all_pairs = true;
		break;
	case OPT_BACKEND:
		o->backend = chosen_backend(optarg);
		break;
	case OPT_AGAINST:
		if (o->against_count == LEN(o->against) || !strchr(optarg, '=') || *optarg == '=')
			usage("--against: NAME=FILE.so, at most 16 times");
		o->against[o->against_count++] = optarg;
		break;
	default:
		return set_text(o, c) || set_limit(o, c);
	}
	return true;
}

static void
print_machine(const struct options *o)
{
	json_t *facts = machine_facts();

	kout_open(o->output);
	kout_json(facts);
	kout_commit();
	json_decref(facts);
	exit(K_OK);
}

static void
parse_options(int argc, char **argv, struct options *o, bool *lint)
{
	bool machine = false;
	int c;

	*o = (struct options){ .set = "full",
		.correctness = true,
		.timing = true,
		.statistic = "median",
		.name = "candidate",
		.backend = &backends[BACKEND_C],
		.clocks = "off",
		.sandbox = "auto",
		.seeds = 2,
		.min_samples = 5,
		.max_samples = 96,
		.warmup = 2,
		.timing_s = 1,
		.busy_s = 60,
		.warmup_s = 0.1,
		.run_timeout_s = 60,
		.memory_bytes = (uint64_t)4096 << 20 };
	if (getrandom(&o->seed, sizeof o->seed, 0) != sizeof o->seed)
		kdie_errno(K_MISSING, "getrandom");
	while ((c = getopt_long(argc, argv, "t:s:o:hV", long_options, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage_text, stdout);
			fputs(help_text, stdout);
			exit(K_OK);
		} else if (c == 'V') {
			kversion();
			exit(K_OK);
		} else if (c == OPT_MACHINE) {
			machine = true;
		} else if (c == OPT_LINT) {
			*lint = true;
			o->task = optarg;
		} else if (!set_option(o, c)) {
			fputs(usage_text, stderr);
			exit(K_USAGE);
		}
	}
	if (machine && argc == optind)
		print_machine(o);
	if (o->ceilings) {
		if (argc != optind)
			usage("unexpected operand");
		return;
	}
	if (!o->task)
		usage("give a task: -t TASK.json");
	if (argc - optind != (*lint ? 0 : 1) || machine)
		usage(*lint || machine ? "unexpected operand"
		                       : "give one candidate, a shared object");
	o->candidate = argv[optind];
	if ((o->apart || o->save) && !o->solo)
		usage("--apart, --fenced and --save say how --solo works: give --solo, too");
	if (o->reuse)
		o->correctness = o->timing = false;
	if (o->max_samples < o->min_samples)
		o->max_samples = o->min_samples;
}

/* The first THREADS of the CPUs that this process may use; 0: all of them. */
static void
choose_cpus(struct judge *j)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		kdie_errno(K_MISSING, "sched_getaffinity");
	for (int i = 0; i < KRUN_CPUS && i < CPU_SETSIZE && (!j->o.threads || n < j->o.threads);
	     i++)
		if (CPU_ISSET(i, &set)) {
			j->cpus[i / 64] |= (uint64_t)1 << (i % 64);
			n++;
		}
	if (!j->o.threads)
		j->o.threads = n;
	else if (n < j->o.threads)
		kwarn("%d threads on %d CPUs", j->o.threads, n);
}

/*
 * A device for this run, and the judge's place on it. What the judge compiles is kept beside the
 * oracle.
 */
static void
choose_device(struct judge *j)
{
	char *folder = j->o.oracle ? kstrdup(j->o.oracle) : NULL,
	     *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash)
		*slash = '\0';
	j->device = true;
	spent_on(j, SPENT_DEVICE);
	device_choose(j, slash ? folder : NULL);
	spent_on(j, SPENT_STARTING);
	free(folder);
}

int
judge_lock(struct judge *j, bool alone)
{
	enum spent before = spent_on(j, SPENT_WAITING);
	int fd =
	    j->device || j->copies ? klock_device(j->device_uuid, alone, true) : klock_cpu(alone);

	spent_on(j, before);
	/* Nobody else measures from here on. */
	if (alone)
		clocks_hold(j);
	return fd;
}

enum spent
spent_on(struct judge *j, enum spent what)
{
	enum spent before = j->doing;
	int64_t now = know_ns();

	j->spent_ns[before] += now - j->since_ns;
	j->since_ns = now;
	j->doing = what;
	return before;
}

/* Where the time went, in seconds. */
static json_t *
spent_json(struct judge *j)
{
	static const char *const names[SPENT_COUNT] = { "starting", "device", "kernels", "waiting",
		"drawing", "oracle", "loading", "flushing", "calling", "stopping", "pacing",
		"checking", "busy", "correctness", "timing", "reuse" };
	json_t *o = json_object();

	spent_on(j, SPENT_STARTING);
	for (int i = 0; i < SPENT_COUNT; i++)
		if (j->spent_ns[i])
			json_object_set_new(o, names[i], json_real((double)j->spent_ns[i] * 1e-9));
	return o;
}

static void
subject_init(struct subject *s, char *name, const char *file)
{
	*s = (struct subject){ .name = name,
		.file = file,
		.reasons = json_array(),
		.cases = json_array(),
		.timing = json_array() };
}

static json_t *
subject_json(struct subject *s)
{
	json_t *o = json_pack("{s:s,s:o,s:i,s:O,s:o}", "name", s->name, "status",
	    status_json(s->status ? s->status : STATUS_CORRECT), "tier", s->tier, "reasons",
	    s->reasons, "log", kjson_text(s->log.data ? s->log.data : "", s->log.len));

	if (s->total)
		json_object_set_new(o, "correctness",
		    json_pack("{s:I,s:I,s:O}", "passed", (json_int_t)s->passed, "total",
		        (json_int_t)s->total, "cases", s->cases));
	if (json_array_size(s->reuse))
		json_object_set(o, "reuse", s->reuse);
	if (json_array_size(s->trace))
		json_object_set(o, "trace", s->trace);
	if (json_array_size(s->timing))
		json_object_set(o, "timing", s->timing);
	return o;
}

static void
subject_free(struct subject *s)
{
	json_decref(s->reasons);
	json_decref(s->cases);
	json_decref(s->timing);
	json_decref(s->reuse);
	json_decref(s->trace);
	kbuf_free(&s->log);
	free(s->name);
}

static void
check_files(const struct judge *j, const struct subject *subjects, size_t count)
{
	bool timed = false, any = false;

	for (size_t i = 0; i < count; i++)
		if (!kis_there(subjects[i].file))
			kdie_errno(K_USAGE, "%s", subjects[i].file);
	for (size_t i = 0; i < j->task->workload_count; i++) {
		bool in = ktask_in_set(&j->task->workloads[i], j->o.set);

		any |= in;
		timed |= in && j->task->workloads[i].timed;
	}
	if (!any)
		kdie(K_USAGE, "%s: the set '%s' contains no workload", j->task->file, j->o.set);
	if ((j->o.timing || j->o.reuse) && !timed)
		kdie(K_USAGE, "%s: no workload of set '%s' is timed", j->task->file, j->o.set);
	if (j->o.correctness && !j->oracle)
		kdie(K_USAGE, "correctness needs --oracle ORACLE.so");
}

/*
 * T2 and T3 as asked for; the noise floor. Together with others, up to the moment when something is
 * measured.
 */
static double
judge_tiers(struct judge *j, struct subject *subjects, size_t count, json_t *pairs)
{
	int shared = judge_lock(j, false);
	/* A GPU's runners take long to get ready, and can do that meanwhile. */
	struct race *race = j->o.timing && j->device ? race_open(j, subjects, count) : NULL;

	/* What a go costs is measured by a runner that has loaded nothing: the next one's. */
	if (j->o.correctness && race && count > 1)
		race_check(race);
	else if (j->o.correctness)
		judge_correctness_alone(j, &subjects[0]);
	if (j->o.timing && (!subjects[0].status || subjects[0].status == STATUS_CORRECT))
		return race_run(race ? race : race_open(j, subjects, count), pairs, shared);
	if (race)
		race_close(race);
	close(shared);
	return 0;
}

/* Judge, and print the one object. */
static void
judge_all(struct judge *j)
{
	struct subject subjects[1 + LEN(j->o.against)];
	size_t count = 1 + j->o.against_count;
	json_t *pairs = json_array(), *candidates = json_array(), *out,
	       *environment = machine_environment(j);
	double noise = 0;
	char seed[17];

	subject_init(&subjects[0], kstrdup(j->o.name), j->o.candidate);
	for (size_t i = 1; i < count; i++) {
		const char *equals = strchr(j->o.against[i - 1], '=');

		subject_init(&subjects[i],
		    kstrndup(j->o.against[i - 1], (size_t)(equals - j->o.against[i - 1])),
		    equals + 1);
	}
	check_files(j, subjects, count);
	if (j->o.reuse)
		judge_reuse(j, subjects, count);
	if (j->o.correctness || j->o.timing)
		noise = judge_tiers(j, subjects, count, pairs);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || subjects[i].status)
			json_array_append_new(candidates, subject_json(&subjects[i]));
		subject_free(&subjects[i]);
	}
	if (j->clocks)
		json_object_set_new(environment, "clocks", j->clocks);
	snprintf(seed, sizeof seed, "%016llx", (unsigned long long)j->o.seed);
	out = json_pack("{s:s,s:s,s:o,s:{s:i,s:s},s:o,s:o,s:o,s:b}", "schema", "harness/1", "seed",
	    seed, "spent_s", spent_json(j), "sandbox", "level", j->level, "name",
	    ksandbox_name(j->level), "environment", environment, "candidates", candidates, "pairs",
	    pairs, "verified", j->oracle != NULL);
	if (j->machine)
		json_object_set_new(out, "machine", j->machine);
	if (noise > 0)
		json_object_set_new(out, "noise", json_pack("{s:f}", "floor", noise));
	kout_json(out);
	json_decref(out);
}

int
main(int argc, char **argv)
{
	struct judge j = { .space = &space_host, .since_ns = know_ns() };
	bool lint = false, good = true;

	kutil_init("kharness");
	/*
	 * What is compared comes and goes by the hundred: giving its memory back each time would
	 * cost more than all else.
	 */
	mallopt(M_MMAP_THRESHOLD, INT_MAX);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	parse_options(argc, argv, &j.o, &lint);
	j.task = j.o.task ? ktask_load(j.o.task) : NULL;
	choose_cpus(&j);
	if (j.o.ceilings) {
		measure_ceilings(&j);
		ktask_free(j.task);
		return K_OK;
	}
	if (j.o.backend->device && !j.o.backend->pointers)
		opencl_choose(&j);
	else if (j.o.backend->device)
		choose_device(&j);
	if (j.o.solo && j.opencl)
		usage("--solo needs a host function, which OpenCL candidates do not have");
	/* Its oracle would be given addresses of the host. */
	if (j.o.oracle && !j.device && backend_for(j.task->language)->pointers)
		usage("the task's language is device code; give --backend cuda or hip");
	if (j.o.oracle)
		j.oracle =
		    oracle_open(j.task, j.o.oracle, j.o.threads, j.device ? device_stream() : NULL);
	if (lint) {
		good = lint_task(&j);
	} else if (j.o.solo) {
		run_solo(&j);
	} else {
		j.level = ksandbox_level(j.o.sandbox);
		kout_open(j.o.output);
		judge_all(&j);
		kout_commit();
	}
	oracle_close(j.oracle);
	json_decref(j.opencl);
	free(j.device_uuid);
	ktask_free(j.task);
	return good ? K_OK : K_USAGE;
}
