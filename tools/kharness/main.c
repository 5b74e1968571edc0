/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: judge a compiled kernel: is it right, and how fast is it? The kernel runs in its own
 * sandboxed process, which is stopped except while the clock runs; inputs, expected results, clock
 * and verdict stay in this process.
 */
#include <malloc.h>
#include <sys/random.h>

#include "kharness.h"
#include "klock.h"
#include "koption.h"
#include "ksandbox.h"

struct judge judge = { .space = &space_host, .begin_on = -1, .shared = -1 };

static const char usage_text[] =
    "usage: kharness -t TASK.json [OPTION...] CANDIDATE.so\n"
    "       kharness --reuse -t TASK.json [OPTION...] CANDIDATE.so\n"
    "       kharness --solo -t TASK.json [OPTION...] CANDIDATE.so\n"
    "       kharness --machine [-o FILE]\n"
    "       kharness --ceilings [--backend NAME] [--threads N] [-t TASK.json] [-o FILE]\n"
    "       kharness --lint TASK.json [--backend NAME] [--oracle ORACLE.so]\n";

static _Noreturn void
usage(const char *why)
{
	koption_misuse(usage_text, why);
}

static void
set_seed(void *to, const char *name, const char *hex)
{
	char *end;

	*(uint64_t *)to = strtoull(hex, &end, 16);
	if (!*hex || *end || strlen(hex) > 16 ||
	    strspn(hex, "0123456789abcdefABCDEF") != strlen(hex)) {
		kwarn("%s: must be up to 16 hexadecimal digits", name);
		usage(NULL);
	}
}

static void
set_backend(void *to, const char *option, const char *name)
{
	const struct backend *b = backend_named(name);
	char *lack = b ? backend_lacks_runner(b) : NULL;

	if (!b || lack)
		kdie(K_USAGE, "%s %s: %s", option, name, lack ?: "no such backend");
	*(const struct backend **)to = b;
}

static void
add_against(void *to, const char *option, const char *program)
{
	struct options *o = to;

	(void)option;
	if (o->against_count == LEN(o->against) || !strchr(program, '=') || *program == '=')
		usage("--against: NAME=FILE.so, at most 16 times");
	o->against[o->against_count++] = program;
}

/* WORD must be one of WORDS. */
static void
check_word(const char *option, const char *words, const char *word)
{
	if (kis_listed(words, word, strlen(word)))
		return;
	kwarn("%s: unknown value '%s'", option, word);
	usage(NULL);
}

static void
print_machine(const struct options *o)
{
	json_auto_t *facts = machine_facts();

	kout_only(o->output, facts);
	exit(K_OK);
}

/* Options that follow from others. */
static void
settle_options(struct options *o, const char *phase, long memory_mb)
{
	check_word("--phase", "both correctness timing", phase);
	check_word("--lock-clocks", "off try require", o->clocks);
	o->correctness = !o->reuse && strcmp(phase, "timing");
	o->timing = !o->reuse && strcmp(phase, "correctness");
	o->memory_bytes = (uint64_t)memory_mb << 20;
	o->fenced |= o->drawn;
	o->apart |= o->fenced;
	o->await &= (o->correctness || o->timing) && !o->solo && !o->ceilings;
	if (o->max_samples < o->min_samples)
		o->max_samples = o->min_samples;
}

static void
read_options(int argc, char **argv, struct options *o, bool *machine, const char **lint)
{
	const char *phase = "both";
	long memory_mb = 4096;
	const struct koption options[] = {
		{ 't', "task", .text = &o->task, .help = "FILE\tthe task to judge" },
		{ 's', "set", .text = &o->set, .help = "SET\tset of workloads (default: full)" },
		KOPTION_OUTPUT(&o->output),
		KOPTION_TEXT("phase", &phase, "PHASE\tcorrectness, timing or both (default)"),
		KOPTION_TEXT("oracle", &o->oracle, "FILE\tshared object with the oracle"),
		KOPTION_CALL("against", add_against, o,
		    "NAME=FILE\ttime this program in turns "
		    "with the candidate; repeatable"),
		KOPTION_FLAG("all-pairs", &o->all_pairs, "\tcompare all with each other"),
		KOPTION_CALL("backend", set_backend, &o->backend,
		    "NAME\tc, cuda, hip or opencl (default: c)"),
		KOPTION_TEXT("name", &o->name, "NAME\tname of the candidate in the result"),
		{ 0, "threads", .number = &o->threads, .high = 4096,
		    .help = "N\tthreads that a kernel may use (default: all)" },
		KOPTION_NUMBER("seeds", &o->seeds, 1, 1000,
		    "N\tinput seeds per workload and distribution (default: 2)"),
		KOPTION_CALL(
		    "seed", set_seed, &o->seed, "HEX\tseed of all inputs (default: random)"),
		KOPTION_REAL("timing-s", &o->timing_s, 0.001, 86400,
		    "S\ttime for samples per workload (default: 1)"),
		KOPTION_NUMBER("min-samples", &o->min_samples, 1, 100000,
		    "N\tminimum number of samples per workload (default: 5)"),
		KOPTION_NUMBER("max-samples", &o->max_samples, 1, 100000,
		    "N\tmaximum number of samples per workload (default: 96)"),
		{ 0, "warmup-s", .real = &o->warmup_s, .high = 3600,
		    .help = "S\tuntimed calls for at least S seconds (default: 0.1)" },
		{ 0, "busy-s", .real = &o->busy_s, .high = 86400,
		    .help = "S\twait at most S seconds for a quiet machine (default: 60)" },
		KOPTION_REAL("run-timeout-s", &o->run_timeout_s, 0.01, 86400,
		    "S\ttime limit of a call (default: 60)"),
		KOPTION_NUMBER("memory-mb", &memory_mb, 1, 1 << 30,
		    "N\tmemory of a candidate (default: 4096)"),
		KOPTION_TEXT(
		    "sandbox", &o->sandbox, "NAME\tauto, bwrap, landlock or none (default: auto)"),
		KOPTION_TEXT("lock-clocks", &o->clocks,
		    "HOW\tlock the clocks of a CUDA device: off, try or require"),
		{ 0, "lock-mhz", .number = &o->clocks_mhz, .high = 10000,
		    .help = "N\tlock them at N MHz" },
		KOPTION_FLAG("await", &o->await, "\tstart before the candidate is built"),
		KOPTION_FLAG("reuse", &o->reuse, "\tmeasure on buffers seen before, too"),
		KOPTION_FLAG("solo", &o->solo, "\tcall the candidate without a judge"),
		KOPTION_TEXT("workload", &o->workload, "NAME\tsolo: only this workload"),
		KOPTION_FLAG("apart", &o->apart, "\tsolo: a separate allocation for each tensor"),
		KOPTION_FLAG("fenced", &o->fenced, "\tsolo: the same, next to protected memory"),
		KOPTION_FLAG(
		    "drawn", &o->drawn, "\tsolo: the same, on sizes as a check draws them"),
		KOPTION_FLAG("warm", &o->warm, "\tsolo: time it on warm caches"),
		KOPTION_TEXT("save", &o->save, "DIR\tsolo: write each output to a file in DIR"),
		KOPTION_FLAG("machine", machine, "\tdescribe this machine"),
		KOPTION_FLAG("ceilings", &o->ceilings, "\tmeasure the ceilings"),
		KOPTION_TEXT("lint", lint, "FILE\tcheck a task"),
	};

	koption_read(options, usage_text, argc, argv);
	settle_options(o, phase, memory_mb);
}

static void
parse_options(int argc, char **argv, struct options *o, bool *lint)
{
	bool machine = false;
	const char *checked = NULL;

	*o = (struct options){ .set = "full",
		.name = "candidate",
		.backend = &backends[BACKEND_C],
		.clocks = "off",
		.sandbox = "auto",
		.seeds = 2,
		.min_samples = 5,
		.max_samples = 96,
		.timing_s = 1,
		.busy_s = 60,
		.warmup_s = 0.1,
		.run_timeout_s = 60 };
	if (getrandom(&o->seed, sizeof o->seed, 0) != sizeof o->seed)
		kdie_errno(K_MISSING, "getrandom");
	read_options(argc, argv, o, &machine, &checked);
	*lint = checked != NULL;
	o->await &= !*lint;
	if (*lint)
		o->task = checked;
	if (machine && argc == optind)
		print_machine(o);
	if (o->ceilings) {
		koption_no_operands(usage_text, argc, argv);
		return;
	}
	if (!o->task)
		usage("give a task: -t TASK.json");
	if (argc - optind != (*lint ? 0 : 1) || machine)
		usage(*lint || machine ? "unexpected operand"
		                       : "give one candidate, a shared object");
	o->candidate = argv[optind];
	if ((o->apart || o->save || o->warm) && !o->solo)
		usage("--apart, --fenced, --drawn, --save and --warm "
		      "say how --solo works: give --solo, too");
}

/* The first THREADS of the CPUs that this process may use; 0: all of them. */
static void
choose_cpus(void)
{
	cpu_set_t set;
	long n = 0;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		kdie_errno(K_MISSING, "sched_getaffinity");
	for (int i = 0;
	     i < KRUN_CPUS && i < CPU_SETSIZE && (!judge.o.threads || n < judge.o.threads); i++)
		if (CPU_ISSET(i, &set)) {
			CPU_SET(i, &judge.cpus);
			n++;
		}
	if (!judge.o.threads)
		judge.o.threads = n;
	else if (n < judge.o.threads)
		kwarn("%ld threads on %ld CPUs", judge.o.threads, n);
}

/*
 * Choose a device for this run, and the judge's memory on it. The judge's compiled kernels are kept
 * next to the oracle.
 */
static void
choose_device(void)
{
	auto_free char *folder = judge.o.oracle ? kfolder_of(judge.o.oracle) : NULL;

	spent_on(SPENT_DEVICE);
	device_choose(folder);
	spent_on(SPENT_STARTING);
}

/* The device, and the oracle, which may work on it. */
static void
get_ready(void)
{
	if (judge.device)
		choose_device();
	else if (judge.o.backend->device)
		opencl_choose();
	if (judge.o.solo && judge.opencl)
		usage("--solo needs a host function, which OpenCL candidates do not have");
	/* The oracle would receive host addresses. */
	if (judge.o.oracle && !judge.device && backend_for(judge.task->language)->pointers)
		usage("the task's language is device code; give --backend cuda or hip");
	if (judge.o.oracle)
		judge.oracle = oracle_open(
		    judge.o.oracle, judge.o.threads, judge.device ? device_stream() : NULL);
}

int
judge_lock(bool alone)
{
	enum spent before = spent_on(SPENT_WAITING);
	int fd = judge.device || judge.copies ? klock_device(judge.device_uuid, alone, true)
	                                      : klock_cpu(alone);

	spent_on(before);
	/* From here on nobody else measures. */
	if (alone)
		clocks_hold();
	return fd;
}

enum spent
spent_on(enum spent what)
{
	enum spent before = judge.doing;
	int64_t now = know_ns();

	judge.spent_ns[before] += now - judge.since_ns;
	judge.since_ns = now;
	judge.doing = what;
	return before;
}

void
spent_back(const enum spent *before)
{
	spent_on(*before);
}

/* How the time was spent, in seconds. */
static json_t *
spent_json(void)
{
	static const char *const names[SPENT_COUNT] = { "starting", "device", "kernels", "waiting",
		"drawing", "oracle", "loading", "flushing", "calling", "stopping", "pacing",
		"checking", "busy", "correctness", "timing", "reuse" };
	json_t *o = json_object();

	spent_on(SPENT_STARTING);
	for (int i = 0; i < SPENT_COUNT; i++)
		if (judge.spent_ns[i])
			kjson_put(o, names[i], (double)judge.spent_ns[i] * 1e-9);
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

/* LIST, or NULL if it is empty; borrowed. */
static json_t *
filled(json_t *list)
{
	return json_array_size(list) ? list : NULL;
}

static json_t *
subject_json(struct subject *s)
{
	json_t *correctness = s->total ? json_pack("{s:I,s:I,s:O}", "passed", (json_int_t)s->passed,
	                                     "total", (json_int_t)s->total, "cases", s->cases)
	                               : NULL;

	return json_pack("{s:s,s:o,s:i,s:O,s:o,s:o*,s:O*,s:O*,s:O*}", "name", s->name, "status",
	    status_json(s->status ?: STATUS_CORRECT), "tier", s->tier, "reasons", s->reasons, "log",
	    kjson_text(s->log.data ?: "", s->log.len), "correctness", correctness, "reuse",
	    filled(s->reuse), "trace", filled(s->trace), "timing", filled(s->timing));
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
check_files(const struct subject *subjects, size_t count)
{
	bool timed = false, any = false;

	kforeach_of(one, subjects, count)
		if (!kis_there(one->file))
			kdie_errno(K_USAGE, "%s", one->file);
	workloads_each(w) {
		bool in = ktask_in_set(w, judge.o.set);

		any |= in;
		timed |= in && w->timed;
	}
	if (!any)
		kdie(K_USAGE, "%s: the set '%s' contains no workload", judge.task->file,
		    judge.o.set);
	if ((judge.o.timing || judge.o.reuse) && !timed)
		kdie(
		    K_USAGE, "%s: no workload of set '%s' is timed", judge.task->file, judge.o.set);
	if (judge.o.correctness && !judge.o.oracle)
		kdie(K_USAGE, "correctness needs --oracle ORACLE.so");
}

/*
 * The candidate is complete when standard input gives the time at which it was completed. Time
 * spent before that does not count as waiting.
 */
static void
await_candidate(void)
{
	int64_t built;

	if (read(STDIN_FILENO, &built, sizeof built) != sizeof built)
		kdie(K_USAGE, "--await: standard input ended before it said \"built\"");
	memset(judge.spent_ns, 0, sizeof judge.spent_ns);
	judge.since_ns = built;
}

/*
 * T2 and T3 as requested; returns the noise floor. Shares the device with others until something is
 * measured.
 */
static double
judge_tiers(struct subject *subjects, size_t count, bool spawned, json_t *pairs)
{
	int shared = judge.shared < 0 ? judge_lock(false) : judge.shared;

	/* A GPU's runners start slowly, and can do that in the meantime. */
	if (spawned)
		race_open();
	/* Asking takes a while, too. */
	judge.environment = machine_environment();
	if (judge.o.await) {
		/* Others may measure while the compiler runs. */
		if (spawned)
			race_greet();
		close(shared);
		await_candidate();
		shared = judge_lock(false);
	}
	if (judge.o.correctness && spawned)
		race_check();
	else if (judge.o.correctness)
		judge_correctness_alone(&subjects[0]);
	if (judge.o.timing && (!subjects[0].status || subjects[0].status == STATUS_CORRECT)) {
		if (!spawned) {
			race_spawn(subjects, count);
			race_open();
		}
		return race_run(pairs, shared);
	}
	if (spawned)
		race_close();
	close(shared);
	return 0;
}

/* Judge, and print the one object. */
static void
judge_all(void)
{
	struct subject subjects[1 + LEN(judge.o.against)];
	size_t count = 1 + judge.o.against_count;
	json_t *pairs = json_array(), *candidates = json_array();
	json_auto_t *out = NULL;
	bool spawned = judge.o.timing && judge.device;
	double noise = 0;

	subject_init(&subjects[0], kstrdup(judge.o.name), judge.o.candidate);
	for (size_t i = 1; i < count; i++) {
		const char *equals = strchr(judge.o.against[i - 1], '=');

		subject_init(&subjects[i],
		    kstrndup(judge.o.against[i - 1], (size_t)(equals - judge.o.against[i - 1])),
		    equals + 1);
	}
	check_files(subjects, count);
	judge.level = ksandbox_level(judge.o.sandbox);
	/*
	 * The driver takes as long to start in a runner as here, where we then wait for a device.
	 */
	if (spawned)
		race_spawn(subjects, count);
	get_ready();
	kout_open(judge.o.output);
	if (judge.o.reuse) {
		judge.environment = machine_environment();
		judge_reuse(subjects, count);
	}
	if (judge.o.correctness || judge.o.timing)
		noise = judge_tiers(subjects, count, spawned, pairs);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || subjects[i].status)
			json_array_append_new(candidates, subject_json(&subjects[i]));
		subject_free(&subjects[i]);
	}
	if (judge.clocks)
		json_object_set_new(judge.environment, "clocks", judge.clocks);
	out = json_pack("{s:s,s:o,s:o,s:{s:i,s:s},s:o,s:o,s:o,s:b,s:o*,s:o*}", "schema",
	    "harness/1", "seed", json_sprintf("%016llx", (unsigned long long)judge.o.seed),
	    "spent_s", spent_json(), "sandbox", "level", judge.level, "name",
	    ksandbox_name(judge.level), "environment", judge.environment, "candidates", candidates,
	    "pairs", pairs, "verified", judge.oracle != NULL, "machine", judge.machine, "noise",
	    noise > 0 ? json_pack("{s:f}", "floor", noise) : NULL);
	kout_json(out);
	kout_commit();
	/* Whoever awaits the answer need not wait until the device has its memory back. */
	if (judge.o.await)
		close(STDIN_FILENO);
}

int
main(int argc, char **argv)
{
	bool lint = false, good = true;

	kutil_init("kharness");
	/* A helper process started by ourselves (clocks.c). */
	if (argc == 3 && !strcmp(argv[1], "--hold-clocks"))
		exit(clocks_holder(argv[2]));
	/*
	 * Compared data is allocated and freed by the hundred: returning its memory each time would
	 * cost more than everything else.
	 */
	mallopt(M_MMAP_THRESHOLD, INT_MAX);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	judge.since_ns = know_ns();
	parse_options(argc, argv, &judge.o, &lint);
	judge.task = judge.o.task ? ktask_load(judge.o.task) : NULL;
	choose_cpus();
	if (judge.o.ceilings) {
		measure_ceilings();
		ktask_free(judge.task);
		return K_OK;
	}
	judge.device = judge.o.backend->device && judge.o.backend->pointers;
	if (lint || judge.o.solo)
		get_ready();
	if (lint)
		good = lint_task();
	else if (judge.o.solo)
		run_solo();
	else
		judge_all();
	oracle_close(judge.oracle);
	json_decref(judge.opencl);
	free(judge.device_uuid);
	ktask_free(judge.task);
	return good ? K_OK : K_USAGE;
}
