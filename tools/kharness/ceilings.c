/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness --ceilings: the best that this device can do: copies of several sizes, and multiply-adds
 * where they are cheap to measure. It is a measurement by the judge itself; the figures of vendors
 * are in docs/hardware. The same code times the copies of a CPU and of a GPU: only the engine
 * differs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "kharness.h"
#include "kroof.h"
#include "kstat.h"

enum { ATTEMPTS = 3 }; /* to measure a copy that is implausible compared with the others */
enum { SAMPLES_MIN = 3, SAMPLES_MAX = 9, VOLUMES = 64, CHAINS = 12, THREADS_MAX = 1024 };

/* Time spent on one figure, roughly. */
#define BUDGET_NS 300e6

/*
 * Two buffers of one device, copied from one to the other. Times are measured by the device if it
 * has a clock.
 */
struct engine {
	void (*open)(size_t bytes);
	int64_t (*copy)(size_t bytes);
	void (*flush)(void);
	void (*close)(void);
	double memory_bytes;
	/* a copy of this much has the rate of the memory, not of the caches */
	double beyond_bytes;
};

/*
 * How much that is: eight times the caches, or, where that is very much (virtual machines report
 * caches of 480 MiB), 1 GiB, if it is at least twice the caches: getting more pages takes longer
 * than copying them.
 */
static double
beyond(double cache_bytes)
{
	return fmax(2 * cache_bytes, fmin(8 * cache_bytes, 0x1p30));
}

/* ---- the CPU: a team of threads, one per CPU ---- */

struct member {
	pthread_t thread;
	int cpu;
	size_t index;
};

static struct {
	size_t count;
	struct member member[THREADS_MAX];
	atomic_long generation, done;
	void (*work)(size_t index);
	char *from, *to;
	size_t bytes;
	long rounds;
	double sink[THREADS_MAX]; /* results, so that the compiler cannot remove the work */
} team;

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void
wait_until(atomic_long *counter, long value)
{
	for (long spins = 0; atomic_load(counter) < value; spins++)
		if (spins > 10000)
			sched_yield();
}

static void *
member_main(void *arg)
{
	const struct member *m = arg;

	pin(m->cpu);
	for (long g = 1;; g++) {
		wait_until(&team.generation, g);
		if (!team.work)
			return NULL;
		team.work(m->index);
		atomic_fetch_add(&team.done, 1);
	}
}

/* All threads do WORK, including this one; returns the time until the last is done. */
static int64_t
team_run(void (*work)(size_t))
{
	int64_t start;

	team.work = work;
	atomic_store(&team.done, 0);
	start = know_ns();
	atomic_fetch_add(&team.generation, 1);
	work(0);
	wait_until(&team.done, (long)team.count - 1);
	return know_ns() - start;
}

static void
team_start(void)
{
	int cpu = 0;

	for (team.count = 0;
	     cpu < KRUN_CPUS && team.count < THREADS_MAX && team.count < (size_t)judge.o.threads;
	     cpu++) {
		struct member *m = &team.member[team.count];

		if (!CPU_ISSET(cpu, &judge.cpus))
			continue;
		*m = (struct member){ .cpu = cpu, .index = team.count };
		if (team.count == 0)
			pin(cpu);
		else if (pthread_create(&m->thread, NULL, member_main, m))
			kdie(K_MISSING, "a thread to measure with");
		team.count++;
	}
}

static void
team_end(void)
{
	team.work = NULL;
	atomic_fetch_add(&team.generation, 1);
	for (size_t i = 1; i < team.count; i++)
		pthread_join(team.member[i].thread, NULL);
}

/* Where the share of thread I begins. */
static size_t
share_of(size_t i)
{
	return i == team.count ? team.bytes : team.bytes / team.count * i;
}

static void
copy_share(size_t i)
{
	size_t from = share_of(i);

	memcpy(team.to + from, team.from + from, share_of(i + 1) - from);
}

/* Each thread touches its own share first, so that pages are near it. */
static void
touch_share(size_t i)
{
	size_t from = share_of(i), n = share_of(i + 1) - from;

	memset(team.from + from, 1, n);
	memset(team.to + from, 2, n);
}

/* Large pages, where there are some: getting small ones takes longer than copying them. */
static char *
host_alloc(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		kdie_errno(K_MISSING, "%zu MiB to copy", bytes >> 20);
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static void
host_open(size_t bytes)
{
	team.bytes = bytes;
	team.from = host_alloc(bytes);
	team.to = host_alloc(bytes);
	team_run(touch_share);
}

static int64_t
host_copy(size_t bytes)
{
	team.bytes = bytes;
	return team_run(copy_share);
}

static void
evict_share(size_t i)
{
	size_t from = share_of(i), n = share_of(i + 1) - from;

	space_host.evict(team.from + from, n);
	space_host.evict(team.to + from, n);
}

static void
host_flush(void)
{
	if (space_host.evict)
		team_run(evict_share);
	else
		space_host.flush();
}

static void
host_close(void)
{
	munmap(team.from, team.bytes);
	munmap(team.to, team.bytes);
}

/*
 * ---- multiply-adds of the CPU: enough independent chains to hide their latency, in the widest
 * vectors ----
 */

#define CHAIN(name, type, bytes, target) \
	typedef type name##_v __attribute__((vector_size(bytes))); \
	target static void name(size_t index) \
	{ \
		name##_v a[CHAINS], m, c; \
		type sum = 0; \
		for (size_t i = 0; i < CHAINS; i++) \
			a[i] = (name##_v){ (type)index + (type)i }; \
		m = (name##_v){ 0 } + (type)0.999; \
		c = (name##_v){ 0 } + (type)team.sink[index] + (type)0.001; \
		for (long r = 0; r < team.rounds; r++) { \
			_Pragma("GCC unroll 12") for (size_t i = 0; i < CHAINS; i++) a[i] = \
			    a[i] * m + c; \
		} \
		for (size_t i = 0; i < CHAINS; i++) \
			for (size_t l = 0; l < (bytes) / sizeof(type); l++) \
				sum += a[i][l]; \
		team.sink[index] = (double)sum * 1e-9; \
	}

#define NO_TARGET
CHAIN(fp32_16, float, 16, NO_TARGET)
CHAIN(fp64_16, double, 16, NO_TARGET)
#ifdef __x86_64__
CHAIN(fp32_32, float, 32, __attribute__((target("avx2,fma"))))
CHAIN(fp64_32, double, 32, __attribute__((target("avx2,fma"))))
CHAIN(fp32_64, float, 64, __attribute__((target("avx512f"))))
CHAIN(fp64_64, double, 64, __attribute__((target("avx512f"))))
#endif

struct chain {
	const char *metric, *how;
	void (*work)(size_t);
	double lanes;
	bool available;
};

static json_t *
measure_chain(const struct chain *c)
{
	double ns[SAMPLES_MAX];
	struct kstat st;
	double flops;

	for (team.rounds = 1000; team_run(c->work) < 5000000 && team.rounds < 1L << 40;)
		team.rounds *= 2;
	for (size_t i = 0; i < SAMPLES_MAX; i++)
		ns[i] = (double)team_run(c->work);
	kstat_of(ns, SAMPLES_MAX, &st);
	flops = 2.0 * CHAINS * c->lanes * (double)team.rounds * (double)team.count;
	return json_pack("{s:s,s:s,s:f,s:f,s:i}", "metric", c->metric, "how", c->how, "tflops",
	    flops / st.median / 1e3, "best_tflops", flops / st.min / 1e3, "samples", SAMPLES_MAX);
}

static json_t *
measure_rates(void)
{
	const struct chain chains[] = {
		{ "fp32_vector", "multiply-add, 16-byte vectors", fp32_16, 4, true },
		{ "fp64_vector", "multiply-add, 16-byte vectors", fp64_16, 2, true },
#ifdef __x86_64__
		{ "fp32_vector", "multiply-add, AVX2", fp32_32, 8,
		    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") },
		{ "fp64_vector", "multiply-add, AVX2", fp64_32, 4,
		    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") },
		{ "fp32_vector", "multiply-add, AVX-512", fp32_64, 16,
		    __builtin_cpu_supports("avx512f") },
		{ "fp64_vector", "multiply-add, AVX-512", fp64_64, 8,
		    __builtin_cpu_supports("avx512f") },
#endif
	};
	json_t *rates = json_array();

	for (size_t i = 0; i < LEN(chains); i++)
		if (chains[i].available)
			json_array_append_new(rates, measure_chain(&chains[i]));
	return rates;
}

/* ---- the GPU: copies from device memory to device memory, timed by the device ---- */

static struct {
	struct kgpu *gpu;
	kgpu_ptr from, to, flush;
	size_t flush_bytes;
} card;

static void
ask(const char *what, const char *why)
{
	if (why)
		kdie(K_AGAIN, "the device's %s: %s", what, why);
}

static void
card_open(size_t bytes)
{
	ask("memory", kgpu_alloc(card.gpu, &card.from, bytes));
	ask("memory", kgpu_alloc(card.gpu, &card.to, bytes));
	ask("memory", kgpu_set(card.gpu, card.from, 1, bytes));
	ask("memory", kgpu_set(card.gpu, card.to, 2, bytes));
	ask("work", kgpu_wait(card.gpu));
}

static int64_t
card_copy(size_t bytes)
{
	int64_t ns = 0;

	ask("clock", kgpu_mark(card.gpu, 0));
	ask("copy", kgpu_copy(card.gpu, card.to, card.from, bytes));
	ask("clock", kgpu_mark(card.gpu, 1));
	ask("copy", kgpu_wait(card.gpu));
	ask("clock", kgpu_elapsed(card.gpu, &ns));
	return ns;
}

static void
card_flush(void)
{
	if (!card.flush)
		ask("memory", kgpu_alloc(card.gpu, &card.flush, card.flush_bytes));
	ask("flush", kgpu_set(card.gpu, card.flush, 3, card.flush_bytes));
	ask("flush", kgpu_wait(card.gpu));
}

static void
card_close(void)
{
	ask("memory", kgpu_free(card.gpu, card.from));
	ask("memory", kgpu_free(card.gpu, card.to));
}

/* ---- both ---- */

static json_t *
measure_copy(const struct engine *e, double volume)
{
	size_t bytes = (size_t)(volume / 2), n = 0;
	bool large = volume >= e->beyond_bytes;
	double ns[SAMPLES_MAX], spent = 0;
	struct kstat st;

	e->open(bytes);
	e->copy(bytes);
	while (n < SAMPLES_MIN || (n < SAMPLES_MAX && spent < BUDGET_NS)) {
		/* A large copy finds nothing of the one before, but writes back what that left. */
		if (!large)
			e->flush();
		ns[n] = (double)e->copy(bytes);
		spent += ns[n++];
	}
	e->close();
	kstat_of(ns, n, &st);
	if (st.median <= 0)
		return NULL;
	return json_pack("{s:I,s:i,s:I,s:I,s:f,s:f,s:b}", "moved_bytes", (json_int_t)(2 * bytes),
	    "samples", (int)n, "median_ns", (json_int_t)llround(st.median), "min_ns",
	    (json_int_t)llround(st.min), "gbps", 2 * (double)bytes / st.median, "best_gbps",
	    2 * (double)bytes / fmax(st.min, 1), "beyond_caches", large);
}

/*
 * Sizes to copy: some fixed ones, one well beyond the caches, and what the task's timed workloads
 * move. Sorted, each once.
 */
static size_t
choose_volumes(const struct engine *e, double *list)
{
	static const double steps[] = { 0x1p23, 0x1p25, 0x1p27, 0x1p28 };
	double most = fmin(e->memory_bytes / 4, fmax(0x1p30, 2 * e->beyond_bytes));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < LEN(steps); i++)
		list[n++] = steps[i];
	list[n++] = e->beyond_bytes;
	for (size_t i = 0; judge.task && i < judge.task->workload_count && n < VOLUMES; i++)
		if (judge.task->workloads[i].timed && judge.task->bytes)
			list[n++] = (double)ktask_value(
			    judge.task, &judge.task->workloads[i], judge.task->bytes);
	kstat_sort(list, n);
	for (size_t i = 0; i < n; i++)
		if (list[i] >= 4096 && list[i] <= most && (!kept || list[i] > list[kept - 1]))
			list[kept++] = list[i];
	return kept;
}

/*
 * Other work on the device can make a copy slow, and nothing makes one fast: copies that are
 * implausible compared with the fastest are measured again, and the faster result stays.
 */
static void
measure_again(const struct engine *e, json_t *copies)
{
	size_t i;
	json_t *row;

	for (int attempt = 2; attempt <= ATTEMPTS; attempt++)
		json_array_foreach(copies, i, row) {
			json_t *again;

			if (kroof_copy_plausible(row, kroof_best_copy(copies)))
				continue;
			again = measure_copy(e, kjson_num(row, "moved_bytes"));
			if (again && kjson_num(again, "best_gbps") > kjson_num(row, "best_gbps"))
				json_object_update(row, again);
			json_object_set_new(row, "attempts", json_integer(attempt));
			json_decref(again);
		}
}

static json_t *
measure_copies(const struct engine *e)
{
	double volumes[VOLUMES];
	size_t n = choose_volumes(e, volumes);
	json_t *copies = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *row = measure_copy(e, volumes[i]);

		if (row)
			json_array_append_new(copies, row);
	}
	measure_again(e, copies);
	return copies;
}

static void
measure_host(json_t *out)
{
	struct engine e = { host_open, host_copy, host_flush, host_close,
		(double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
		beyond((double)machine_llc()) };
	json_auto_t *machine = machine_facts();

	team_start();
	json_object_set_new(out, "copies", measure_copies(&e));
	json_object_set_new(out, "rates", measure_rates());
	team_end();
	json_object_set_new(out, "threads", json_integer((json_int_t)team.count));
	json_object_set(out, "cpu", json_object_get(machine, "cpu"));
	json_object_set_new(out, "not_measured",
	    json_pack("[s]",
	        "rates of matrix units and of "
	        "types narrower than 32 bits"));
}

static void
measure_card(json_t *out)
{
	struct engine e = { card_open, card_copy, card_flush, card_close, 0, 0 };
	struct kgpu_facts f;

	card.gpu = device_open();
	kgpu_facts(card.gpu, &f);
	e.beyond_bytes = beyond((double)f.l2_bytes);
	e.memory_bytes = (double)f.memory_bytes;
	card.flush_bytes = 2 * f.l2_bytes;
	json_object_set_new(out, "copies", measure_copies(&e));
	json_object_set_new(out, "rates", json_array());
	json_object_set_new(out, "device", device_environment());
	json_object_set_new(json_object_get(out, "device"), "clock_khz", json_integer(f.clock_khz));
	json_object_set_new(out, "not_measured",
	    json_pack("[s]", "rates of arithmetic: kiln has no benchmark for them"));
	kgpu_free(card.gpu, card.flush);
}

void
measure_ceilings(void)
{
	bool host = !judge.o.backend->device;
	const char *name = judge.o.backend->name;
	auto_free char *command = kasprintf("kharness --ceilings --backend %s", name);
	json_auto_t *out = NULL;
	int lock;

	if (!judge.o.backend->ceilings)
		kdie(K_USAGE, "--ceilings: not measured for backend %s", name);
	out = json_pack("{s:s,s:s,s:s,s:s}", "schema", "ceilings/1", "backend", name, "command",
	    command, "convention",
	    "bytes are bytes read plus bytes written; cache lines that a CPU reads before it "
	    "writes them are not counted");
	judge.device = !host;
	lock = host ? judge_lock(true) : -1;
	if (host)
		measure_host(out);
	else
		measure_card(out);
	if (lock >= 0)
		close(lock);
	kout_open(judge.o.output);
	kout_json(out);
	kout_commit();
}
