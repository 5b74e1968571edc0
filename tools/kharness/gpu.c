/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the space of a GPU's memory, see space.h. The judge has its own context on the device:
 * the candidate's process cannot reach what it holds there, above all the expected results. The
 * kernels are in device.cu.
 */

#include "kcompile.h"
#include "kharness.h"
#include "klock.h"

/* The source of the kernels, embedded in this program. */
__asm__(".section .rodata\n"
        "kiln_small_h: .incbin \"tools/kharness/small.h\"\n.byte 0\n"
        "kiln_device_cu: .incbin \"tools/kharness/device.cu\"\n.byte 0\n"
        ".previous");
extern const char kiln_small_h[], kiln_device_cu[];

enum { THREADS = 256, BLOCKS_MAX = 4096, CODE_MAX = 64 << 20, SUSPECT_S = 600, ROOM_S = 60 };
/* Exit status: that of a process killed by a memory fault, as on the host. */
enum { FAULTED = 128 + SIGSEGV };

/* Mirrors of device.cu. */
struct device_rule {
	double rtol, per_scale, atol, fixed_scale, max, cap;
	int exact, saturates;
};
struct device_result {
	uint64_t mismatches, unwritten, over_cap, max_abs, max_share, worst, worst_at;
};

enum kernel {
	DRAW,
	REDRAW,
	WIDEN,
	PERTURB,
	WORDS,
	GUARD,
	GUARD_CHECK,
	DIFFERS,
	EXACT,
	SCALE,
	COMPARE,
	WORST,
	COMPARE_INTEGERS,
	FLUSH,
	NOTHING,
	KERNELS
};
static const char *const kernel_names[KERNELS] = { "kiln_draw", "kiln_redraw", "kiln_widen",
	"kiln_perturb", "kiln_words", "kiln_guard", "kiln_guard_check", "kiln_differs",
	"kiln_exact", "kiln_scale", "kiln_compare", "kiln_worst", "kiln_compare_integers",
	"kiln_flush", "kiln_nothing" };

static struct kgpu *gpu;
static struct kgpu_facts facts;
static void *kernels[KERNELS];
static kgpu_ptr scratch; /* one result */
static kgpu_ptr flush_memory;
static bool no_room; /* a device has no memory left for our context */
/* file that marks this device as untrusted for a while */
static char *suspect_mark;
/* a program of the user's runs in this process */
static bool lent;

/*
 * An error in the judge's own context is the device's fault: other runs use another device for a
 * while, and a second attempt may well succeed.
 */
static void
need(const char *what, const char *why)
{
	if (!why)
		return;
	if (lent)
		kdie(
		    FAULTED, "the program failed on the device %s (%s: %s)", facts.name, what, why);
	if (suspect_mark)
		kwrite_file(suspect_mark, why, strlen(why));
	kdie(K_AGAIN, "the device %s failed (%s: %s); kiln will not use it for %d minutes",
	    facts.name, what, why, SUSPECT_S / 60);
}

static kgpu_ptr
at(const void *p)
{
	return (kgpu_ptr)(uintptr_t)p;
}

static void *
memory_at(kgpu_ptr p)
{
	return (void *)(uintptr_t)p;
}

static void
launch(enum kernel k, uint64_t work, void **arguments)
{
	uint64_t blocks = (work + THREADS - 1) / THREADS;
	const unsigned grid[3] = { blocks < 1 ? 1
		    : blocks > BLOCKS_MAX     ? BLOCKS_MAX
		                              : (unsigned)blocks,
		1, 1 };

	need(kernel_names[k],
	    kgpu_launch(gpu, kernels[k], grid, (const unsigned[3]){ THREADS, 1, 1 }, 0, arguments));
}

/*
 * The scratch result as one number: all its bytes are set to FIRST before kernels that take it as
 * their last argument, and it is read when they are done.
 */
static void
ask(int first)
{
	need("asking", kgpu_set(gpu, scratch, first, sizeof(uint64_t)));
}

static uint64_t
answer(void)
{
	uint64_t v;

	need("answering", kgpu_fetch(gpu, &v, scratch, sizeof v));
	return v;
}

/* ---- memory ---- */

static void *
alloc(size_t bytes)
{
	kgpu_ptr p = 0;
	const char *why = kgpu_alloc(gpu, &p, bytes);

	if (why)
		kdie(K_AGAIN, "%zu MiB of memory of the device: %s", bytes >> 20, why);
	return memory_at(p);
}

static void
release(void *p)
{
	need("free", kgpu_free(gpu, at(p)));
}

static void
copy(void *to, const void *from, size_t bytes)
{
	need("copy", kgpu_copy(gpu, at(to), at(from), bytes));
}

static void
fetch(void *host, const void *from, size_t bytes)
{
	need("fetch", kgpu_fetch(gpu, host, at(from), bytes));
}

static void
store(void *to, const void *host, size_t bytes)
{
	need("store", kgpu_store(gpu, at(to), host, bytes));
}

static void
set(void *to, int byte, size_t bytes)
{
	need("set", kgpu_set(gpu, at(to), byte, bytes));
}

static void
words(void *to, uint64_t word, size_t bytes)
{
	uint64_t n = bytes;

	launch(WORDS, n / 8, (void *[]){ &to, &word, &n });
}

static void
guard(char *memory, uint64_t key, size_t from, size_t to)
{
	uint64_t first = from, end = to;

	launch(GUARD, (to - from) / 8 + 1, (void *[]){ &memory, &key, &first, &end });
}

static size_t
guard_check(const char *memory, uint64_t key, const struct range *ranges, size_t n)
{
	ask(0xff);
	kforeach_of(one, ranges, n) {
		uint64_t from = one->from, to = one->to;

		launch(GUARD_CHECK, (to - from) / 8 + 1,
		    (void *[]){ &memory, &key, &from, &to, &scratch });
	}
	return (size_t)answer();
}

static bool
differs(const struct pair *pairs, size_t n)
{
	ask(0);
	kforeach_of(one, pairs, n) {
		uint64_t bytes = one->bytes;
		const void *a = one->a, *b = one->b;

		launch(DIFFERS, bytes / 16 + 1, (void *[]){ &a, &b, &bytes, &scratch });
	}
	return answer() != 0;
}

static void
arena_open(struct arena *a, size_t bytes, bool read_only)
{
	struct kgpu_shared *s = kcalloc(1, sizeof *s);
	const char *why = kgpu_share(gpu, s, bytes);

	(void)read_only; /* the runner maps it read-only */
	if (why)
		kdie(K_AGAIN, "%zu MiB of shared memory of the device: %s", bytes >> 20, why);
	*a = (struct arena){ .fd = s->fd,
		.runner_fd = s->fd,
		.memory = (char *)(uintptr_t)s->at,
		.bytes = s->bytes,
		.handle = (uint64_t)(uintptr_t)s };
}

static void
arena_close(struct arena *a)
{
	struct kgpu_shared *s = (struct kgpu_shared *)(uintptr_t)a->handle;

	if (!s)
		return;
	need("wait", kgpu_wait(gpu));
	kgpu_unshare(gpu, s);
	free(s);
	*a = (struct arena){ .fd = -1, .runner_fd = -1 };
}

/* ---- numbers ---- */

static void
draw(enum kdtype t, struct recipe how, struct krng *rng, size_t n, void *to)
{
	/* See values_draw. */
	double width =
	           t == KDTYPE_I8 ? fmin(30, values_width(t, how.dist)) : values_width(t, how.dist),
	       common;
	int is_unsigned = kdtype_min(t) >= 0;
	uint64_t seed = krng_u64(rng), count = n, period = how.period, every = how.every;
	int type = (int)t, dist = (int)how.dist;

	values_draw(KDTYPE_F64, (struct recipe){ .dist = KDIST_NORMAL }, rng, 1, &common);
	launch(DRAW, n,
	    (void *[]){
	        &type, &dist, &seed, &count, &period, &every, &common, &width, &is_unsigned, &to });
}

static void
redraw(enum kdtype t, const struct recorded *r, void *to)
{
	const void *values = r->values;
	double toward = r->to, share = r->share;
	uint64_t count = r->n, seed = r->seed;
	int type = (int)t, whole = r->whole, ordered = r->ordered;

	launch(REDRAW, r->n,
	    (void *[]){ &type, &values, &count, &seed, &toward, &share, &whole, &ordered, &to });
}

static void
widen(enum kdtype t, const void *from, size_t n, double *to)
{
	uint64_t count = n;
	int type = (int)t;

	launch(WIDEN, n, (void *[]){ &type, &from, &count, &to });
}

static void
perturb(double *v, size_t n, double eps, bool alike, struct krng *rng)
{
	uint64_t seed = krng_u64(rng), count = n, step = !alike;

	launch(PERTURB, n, (void *[]){ &v, &count, &eps, &seed, &step });
}

static bool
is_exact(enum kdtype t, const double *expected, size_t n)
{
	uint64_t count = n;
	int type = (int)t;

	ask(0);
	launch(EXACT, n, (void *[]){ &type, &expected, &count, &scratch });
	return answer() == 0;
}

static double
double_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

/* Error and tolerance of the worst element, computed here from its numbers. */
static void
look_at_worst(const struct comparison *c, const struct device_rule *rule, double scale,
    struct comparison_result *r)
{
	double e, got, tolerance, slack = 0;
	char raw[8];

	fetch(&e, (const double *)c->expected + r->worst_at, sizeof e);
	fetch(
	    raw, (const char *)c->got + r->worst_at * kdtype_size(c->dtype), kdtype_size(c->dtype));
	values_widen(c->dtype, raw, 1, &got);
	if (fabs(e) > rule->max)
		e = copysign(rule->saturates ? rule->max : INFINITY, e);
	if (c->slack)
		fetch(&slack, c->slack + r->worst_at, sizeof slack);
	tolerance = rule->exact ? 0 : rule->rtol * fabs(e) + rule->per_scale * scale + rule->atol;
	tolerance = fmax(tolerance, slack);
	r->worst = isfinite(e) && isfinite(got) ? fabs(got - e) : INFINITY;
	r->tolerance = isfinite(r->worst) ? tolerance : 0;
}

static void
compare_floats(const struct comparison *c, struct device_result *d, struct comparison_result *r)
{
	int type = (int)c->dtype, size = (int)kdtype_size(c->dtype);
	uint64_t n = c->n, group = c->group, groups = n / group ? n / group : 1, poison = c->poison;
	struct device_rule rule = { c->rule.rtol, c->rule.per_scale, c->rule.atol,
		c->rule.fixed_scale, kdtype_max(c->dtype), c->cap, c->rule.exact, size == 1 };
	double *sums = alloc(groups * 2 * sizeof *sums), pair[2];
	const void *expected = c->expected, *got = c->got, *slack = c->slack;

	set(sums, 0, groups * 2 * sizeof *sums);
	launch(SCALE, n / 64 + 1, (void *[]){ &expected, &n, &group, &groups, &sums });
	launch(COMPARE, n,
	    (void *[]){ &type, &size, &expected, &got, &n, &group, &groups, &sums, &slack, &rule,
	        &poison, &scratch });
	fetch(d, memory_at(scratch), sizeof *d);
	if (d->mismatches) {
		uint64_t g;

		launch(WORST, n,
		    (void *[]){ &type, &expected, &got, &n, &group, &groups, &sums, &slack, &rule,
		        &scratch });
		fetch(d, memory_at(scratch), sizeof *d);
		r->worst_at = d->worst_at < n ? (size_t)d->worst_at : 0;
		g = r->worst_at / group < groups ? r->worst_at / group : groups - 1;
		fetch(pair, sums + 2 * g, sizeof pair);
		look_at_worst(
		    c, &rule, fmax(pair[1] > 0 ? sqrt(pair[0] / pair[1]) : 0, rule.fixed_scale), r);
	}
	release(sums);
}

static void
compare_integers(const struct comparison *c, struct device_result *d, struct comparison_result *r)
{
	int type = (int)c->dtype, size = (int)kdtype_size(c->dtype);
	uint64_t n = c->n, poison = c->poison;
	const void *expected = c->expected, *got = c->got;

	launch(COMPARE_INTEGERS, n,
	    (void *[]){ &type, &size, &expected, &got, &n, &poison, &scratch });
	fetch(d, memory_at(scratch), sizeof *d);
	if (d->mismatches) {
		r->worst_at = (size_t)d->worst_at;
		r->worst = double_of(d->max_abs);
		r->tolerance = 0;
	}
}

static void
compare(const struct comparison *c, struct comparison_result *r)
{
	struct device_result d;

	*r = (struct comparison_result){ .worst = -1 };
	set(memory_at(scratch), 0, sizeof d);
	set(memory_at(scratch + offsetof(struct device_result, worst_at)), 0xff, sizeof d.worst_at);
	if (kdtype_is_float(c->dtype))
		compare_floats(c, &d, r);
	else
		compare_integers(c, &d, r);
	r->mismatches = (size_t)d.mismatches;
	r->unwritten = d.mismatches ? (size_t)d.unwritten : 0;
	r->over_cap = d.over_cap != 0;
	r->max_abs = double_of(d.max_abs);
	r->max_share = double_of(d.max_share);
}

/* ---- the device itself ---- */

static void
flush(void)
{
	uint64_t n = 2 * facts.l2_bytes / sizeof(uint64_t);

	if (!flush_memory) {
		flush_memory = at(alloc(n * sizeof(uint64_t)));
		set(memory_at(flush_memory), 0, n * sizeof(uint64_t));
	}
	launch(FLUSH, n, (void *[]){ &flush_memory, &n });
	need("flush", kgpu_wait(gpu));
}

static int64_t
fence(void)
{
	int64_t start = know_ns();

	launch(NOTHING, 1, NULL);
	need("fence", kgpu_wait(gpu));
	return know_ns() - start;
}

static struct space space = {
	.alloc = alloc,
	.release = release,
	.copy = copy,
	.fetch = fetch,
	.store = store,
	.set = set,
	.words = words,
	.guard = guard,
	.guard_check = guard_check,
	.differs = differs,
	.draw = draw,
	.redraw = redraw,
	.widen = widen,
	.perturb = perturb,
	.is_exact = is_exact,
	.compare = compare,
	.flush = flush,
	.arena_open = arena_open,
	.arena_close = arena_close,
	.fence = fence,
	.sample_ns = 2e6,
	.oracle_s = 0.004,
};

static char *
source(void)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "#define SMALL_FN __device__ static inline\n");
	for (int t = 0; t < KDTYPE_COUNT; t++) {
		static const char *const names[KDTYPE_COUNT] = { "F32", "F64", "F16", "BF16", "I32",
			"I64", "TF32", "E4M3", "E5M2", "E4M3FNUZ", "E5M2FNUZ", "I8", "I16", "U8",
			"U16", "U32", "U64", "BOOL" };

		kbuf_printf(&b, "#define KDTYPE_%s %d\n", names[t], t);
	}
	for (int d = 0; d < KDIST_COUNT; d++) {
		kbuf_puts(&b, "#define KDIST_");
		for (const char *p = kdist_name((enum kdist)d); *p; p++)
			kbuf_printf(&b, "%c", *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
		kbuf_printf(&b, " %d\n", d);
	}
	kbuf_printf(&b, "#define INFINITY __longlong_as_double(0x7ff0000000000000ll)\n%s%s",
	    kiln_small_h, kiln_device_cu);
	return b.data;
}

/*
 * The judge's kernels for this device: compiled now, or by an earlier run that left them in FOLDER.
 */
static char *
judge_code(const struct backend *backend, const char *folder)
{
	auto_free char *text = source(), *log = NULL;
	const char *flags[] = { kshown("-arch=sm_%d%d", facts.major, facts.minor), "-std=c++17" },
	           *key =
	               kshown("%s %s %d %s", backend->name, flags[0], facts.driver_version, text),
	           *path = folder ? kshown("%s/judge-%.32s.bin", folder, ksha256_of(key)) : NULL;
	bool cuda = backend->api == KGPU_CUDA;
	size_t len = 0;
	char why[256], *code = path ? kread_file(path, CODE_MAX, &len) : NULL;

	if (code)
		return code;
	code = kcompile(backend->api, text, "device.cu", cuda ? flags : flags + 1, cuda ? 2 : 1,
	    &len, &log, why, sizeof why);
	if (!code)
		kdie(K_MISSING, "the judge's kernels do not compile: %s %s", why, log ?: "");
	if (path)
		kwrite_or_die(path, code, len);
	return code;
}

const struct space *
space_gpu(const struct backend *backend, const char *folder)
{
	void *module = NULL;
	auto_free char *code = judge_code(backend, folder);

	need("loading the judge's kernels", kgpu_module(gpu, code, &module));
	for (int k = 0; k < KERNELS; k++)
		need(kernel_names[k], kgpu_function(gpu, module, kernel_names[k], &kernels[k]));
	need("memory", kgpu_alloc(gpu, &scratch, sizeof(struct device_result)));
	/* Large enough for a sample of short calls; several evaluations share the device. */
	space.arena_bytes =
	    facts.memory_bytes / 32 < (size_t)4 << 30 ? facts.memory_bytes / 32 : (size_t)4 << 30;
	return &space;
}

/* ---- which device ---- */

static char *
mark_of(const char *uuid)
{
	const char *dir = getenv("KILN_LOCK_DIR");

	return kasprintf("%s/kiln-gpu-%s.suspect", dir && *dir ? dir : "/tmp", uuid);
}

static bool
is_suspect(const char *mark)
{
	struct stat st;

	return kfind(mark, &st) && time(NULL) - st.st_mtime < SUSPECT_S;
}

/* Whether there is device NUMBER, its facts, and nobody has set it aside. */
static bool
look_at_device(int number)
{
	char why[256];

	/* The device tried before this one, if it was refused. */
	kgpu_close(gpu);
	gpu = kgpu_find(judge.o.backend->api, number, why, sizeof why);
	if (!gpu) {
		kwarn("device %d: %s", number, why);
		return false;
	}
	kgpu_facts(gpu, &facts);
	free(suspect_mark);
	suspect_mark = mark_of(facts.uuid);
	if (is_suspect(suspect_mark)) {
		kwarn("device %d (%s) failed recently and is not used for now; "
		      "remove %s to use it anyway",
		    number, facts.name, suspect_mark);
		return false;
	}
	free(judge.device_uuid);
	judge.device_uuid = kasprintf("gpu-%s", facts.uuid);
	judge.device_number = number;
	return true;
}

/*
 * Makes a context of ours on it while nobody measures there. A judge that awaits its candidate
 * keeps the lock, because the contexts of its runners come next, and it might have to wait for
 * several others to get the lock again.
 */
static bool
enter_device(void)
{
	int shared = judge_lock(false);
	char why[256];
	bool entered = kgpu_enter(gpu, true, why, sizeof why);

	if (entered && judge.o.await)
		judge.shared = shared;
	else
		close(shared);
	if (entered)
		return true;
	if (!no_room)
		kwarn("device %d: %s", judge.device_number, why);
	no_room |= kgpu_no_room(why);
	return false;
}

/*
 * Open device NUMBER; false, with nothing opened, when it is set aside, or others measure on it and
 * we shall not WAIT.
 */
static bool
try_device(int number, bool wait)
{
	int fd;

	if (!look_at_device(number))
		return false;
	/* If we may wait, we do so later, when there is work for the device. */
	if (!wait) {
		fd = klock_device(judge.device_uuid, judge.o.timing || judge.o.reuse, false);
		if (fd < 0)
			return false;
		close(fd);
	}
	return enter_device();
}

static void
find_device(void)
{
	char why[256];
	int count = kgpu_count(judge.o.backend->api, why, sizeof why);
	bool found = false;

	if (!count)
		kdie(K_MISSING, "no %s device: %s", judge.o.backend->name, why);
	/*
	 * The first device that nobody measures on; if there is none, wait for one of them in turn.
	 */
	for (int i = 0; i < count && !found && count > 1; i++)
		found = try_device(i, false);
	for (int s = 0; !found && s < ROOM_S; s++) {
		for (int i = 0; i < count && !found; i++)
			found = try_device(((int)getpid() + i) % count, true);
		if (found || !no_room)
			break;
		sleep(1);
	}
	if (!found)
		kdie(no_room ? K_AGAIN : K_MISSING, "no usable %s device", judge.o.backend->name);
}

void
device_choose(const char *folder)
{
	find_device();
	spent_on(SPENT_KERNELS);
	judge.space = space_gpu(judge.o.backend, folder);
	spent_on(SPENT_DEVICE);
}

void
device_limit(size_t bytes)
{
	/* The judge's buffers for drawing and flushing, and kept outputs, count as well. */
	const char *why = kgpu_limit(gpu, bytes + 2 * space.arena_bytes);

	if (why)
		kdie(K_MISSING, "a memory limit: %s", why);
}

struct kgpu *
device_open(void)
{
	find_device();
	klock_device(judge.device_uuid, true, true);
	return gpu;
}

json_t *
device_state(void)
{
	struct kgpu_state s;

	kgpu_state(gpu, &s);
	return json_pack("{s:i,s:i,s:i,s:i,s:I}", "sm_mhz", s.sm_mhz, "memory_mhz", s.memory_mhz,
	    "temperature_c", s.temperature_c, "power_w", s.power_w, "throttle",
	    (json_int_t)s.throttle);
}

void *
device_alloc(size_t bytes)
{
	kgpu_ptr p = 0;

	need("memory", kgpu_alloc_plain(gpu, &p, bytes));
	return memory_at(p);
}

void
device_free(void *p)
{
	need("free", kgpu_free_plain(gpu, at(p)));
}

void
device_profiler(bool on)
{
	kgpu_profiler(gpu, on);
}

void
device_lend(void)
{
	lent = true;
}

void
device_take_back(const char *last_words)
{
	const char *why = kgpu_wait(gpu);

	if (why)
		kdie(FAULTED, "%s (%s)", last_words, why);
	lent = false;
}

void
device_wait(void)
{
	need("waiting", kgpu_wait(gpu));
}

void *
device_stream(void)
{
	return kgpu_stream(gpu);
}

json_t *
device_environment(void)
{
	return json_pack("{s:s,s:s,s:o,s:o,s:i,s:I,s:I,s:o}", "name", facts.name, "uuid",
	    facts.uuid, "compute_capability", json_sprintf("%d.%d", facts.major, facts.minor),
	    "driver_api", json_sprintf("%d", facts.driver_version), "multiprocessors",
	    facts.multiprocessors, "l2_bytes", (json_int_t)facts.l2_bytes, "memory_bytes",
	    (json_int_t)facts.memory_bytes, "state", device_state());
}
