/* SPDX-License-Identifier: Apache-2.0 */
/* kharness: the space of the machine's own memory, see space.h. */
#include <float.h>
#include <sys/mman.h>

#include "kharness.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- plain memory ---- */

enum {
	/* alignment of an array, as of a candidate's tensor; also the room for its head */
	ALIGNED = 64,
	SPARE_MAX = 256 << 20, /* bytes of arrays that are kept for reuse */
	/* and their number: each uses two of a process's 65530 mappings */
	SPARE_COUNT = 4096
};

/* In front of an array. */
struct head {
	char *pages;       /* where it is */
	size_t whole;      /* bytes of the whole allocation */
	struct head *next; /* list of spare arrays */
};

/*
 * Tensors are allocated and freed by the hundred: new pages for each would cost more than
 * everything else.
 */
static struct head *spare;
static size_t spare_bytes, spare_count;

/* The smallest spare array with that much room, and at most twice as much, or NULL. */
static struct head *
take_spare(size_t whole)
{
	struct head **best = NULL, *h;

	for (struct head **p = &spare; *p; p = &(*p)->next)
		if ((*p)->whole >= whole && (*p)->whole <= 2 * whole &&
		    (!best || (*p)->whole < (*best)->whole))
			best = p;
	if (!best)
		return NULL;
	h = *best;
	*best = h->next;
	spare_bytes -= h->whole;
	spare_count--;
	return h;
}

static void
drop_spares(void)
{
	while (spare) {
		struct head *next = spare->next;

		munmap(spare->pages, spare->whole);
		spare = next;
	}
	spare_bytes = spare_count = 0;
}

/* WHOLE bytes, of which nobody may touch the last page. */
static char *
new_pages(size_t whole)
{
	char *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + whole - PAGE, PAGE, PROT_NONE) < 0)
		kdie_errno(K_IO, "an array of %zu bytes", whole);
	return p;
}

/*
 * Ends at a page that nobody may touch: an oracle that writes beyond its arrays, for example
 * because of a wrong shape, crashes at once and cannot spoil the judge's figures.
 */
static void *
alloc(size_t bytes)
{
	size_t whole = round_up(bytes + ALIGNED, PAGE) + PAGE;
	struct head *old = take_spare(whole), h;
	char *p;

	h = old ? *old : (struct head){ .pages = new_pages(whole), .whole = whole };
	p = h.pages + (h.whole - PAGE - bytes) / ALIGNED * ALIGNED;
	*(struct head *)(p - ALIGNED) = h;
	return p;
}

static void
release(void *p)
{
	struct head *h = p ? (void *)((char *)p - ALIGNED) : NULL;

	if (!h)
		return;
	if (spare_bytes + h->whole > SPARE_MAX || spare_count == SPARE_COUNT)
		drop_spares();
	h->next = spare;
	spare = h;
	spare_bytes += h->whole;
	spare_count++;
}

static void
copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

static void
set(void *to, int byte, size_t bytes)
{
	memset(to, byte, bytes);
}

#if defined(__x86_64__)
/* Past the caches: what is filled is not read next, and calls begin without it in the caches. */
static void
words(void *to, uint64_t word, size_t bytes)
{
	size_t n = 0;

	for (; n + 8 <= bytes; n += 8)
		_mm_stream_si64((void *)((char *)to + n), (long long)word);
	memcpy((char *)to + n, &word, bytes - n);
	_mm_sfence();
}
#else
static void
words(void *to, uint64_t word, size_t bytes)
{
	size_t n = 0;

	for (; n + 8 <= bytes; n += 8)
		memcpy((char *)to + n, &word, 8);
	memcpy((char *)to + n, &word, bytes - n);
}
#endif

static bool
differs(const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(pairs[i].a, pairs[i].b, pairs[i].bytes))
			return true;
	return false;
}

/* ---- shared memory ---- */

/* A memory file that can neither shrink nor grow while the judge uses it, with all its pages. */
static void
arena_open(struct arena *a, size_t bytes, bool read_only)
{
	char path[64];

	a->bytes = bytes;
	a->fd = memfd_create("kiln-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (a->fd < 0 || fallocate(a->fd, 0, 0, (off_t)a->bytes) < 0 ||
	    fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		kdie_errno(K_MISSING, "%zu MiB of shared memory", a->bytes >> 20);
	a->memory =
	    mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, a->fd, 0);
	if (a->memory == MAP_FAILED)
		kdie_errno(K_MISSING, "%zu MiB of shared memory", a->bytes >> 20);
	snprintf(path, sizeof path, "/proc/self/fd/%d", a->fd);
	a->runner_fd = open(path, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (a->runner_fd < 0)
		kdie_errno(K_MISSING, "%s", path);
}

static void
arena_close(struct arena *a)
{
	if (!a->memory)
		return;
	munmap(a->memory, a->bytes);
	close(a->fd);
	close(a->runner_fd);
	a->memory = NULL;
}

/* ---- the pattern around outputs ---- */

static unsigned char
pattern_byte(uint64_t key, size_t at)
{
	uint64_t word = space_pattern(key, at / 8);

	return ((unsigned char *)&word)[at % 8];
}

HOT static void
guard(char *memory, uint64_t key, size_t from, size_t to)
{
	for (; from < to && from % 8; from++)
		memory[from] = (char)pattern_byte(key, from);
	for (; from + 8 <= to; from += 8)
		memcpy(memory + from, &(uint64_t){ space_pattern(key, from / 8) }, 8);
	for (; from < to; from++)
		memory[from] = (char)pattern_byte(key, from);
}

/* Whether any of N words of the pattern, from byte AT on, has changed. */
HOT static bool
is_changed(const char *memory, uint64_t key, size_t at, size_t n)
{
	uint64_t changed = 0, word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, memory + at + 8 * i, 8);
		changed |= word ^ space_pattern(key, at / 8 + i);
	}
	return changed != 0;
}

/* Offset of the first changed byte in the range, or TO. */
static size_t
first_changed(const char *memory, uint64_t key, size_t from, size_t to)
{
	enum { WORDS = 512 }; /* looked at together, at most */

	while (from < to) {
		size_t left = from % 8 ? 0 : (to - from) / 8, words = left < WORDS ? left : WORDS;

		if (words && !is_changed(memory, key, from, words)) {
			from += 8 * words;
			continue;
		}
		if ((unsigned char)memory[from] != pattern_byte(key, from))
			return from;
		from++;
	}
	return to;
}

static size_t
guard_check(const char *memory, uint64_t key, const struct range *ranges, size_t n)
{
	size_t bad = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		size_t at = first_changed(memory, key, ranges[i].from, ranges[i].to);

		bad = at < ranges[i].to && at < bad ? at : bad;
	}
	return bad;
}

/* ---- numbers ---- */

static void
perturb(double *v, size_t n, double eps, bool alike, struct krng *rng)
{
	uint64_t word = krng_u64(rng);

	for (size_t k = 0; k < n; k++)
		v[k] *= 1 + eps * small_normal(alike ? word : krng_u64(rng));
}

/* The N recorded elements that those from DONE on move towards. */
static void
others(enum kdtype t, const struct recorded *r, size_t done, size_t n, double *to)
{
	const char *values = r->values;
	size_t size = kdtype_size(t), from;

	if (r->n >= SMALL_FILE || r->ordered) {
		from = small_other(r->n, done, r->seed, r->ordered);
		values_widen(t, values + from * size, n < r->n - from ? n : r->n - from, to);
		/* There is none after the last one. */
		if (n > r->n - from)
			values_widen(t, values + (r->n - 1) * size, 1, &to[n - 1]);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		from = small_other(r->n, done + i, r->seed, false);
		values_widen(t, values + from * size, 1, &to[i]);
	}
}

HOT static void
redraw(enum kdtype t, const struct recorded *r, void *to)
{
	double chunk[SMALL_STRETCH], other[SMALL_STRETCH];
	size_t size = kdtype_size(t);

	for (size_t done = 0, n; done < r->n; done += n) {
		n = r->n - done < SMALL_STRETCH ? r->n - done : SMALL_STRETCH;
		values_widen(t, (const char *)r->values + done * size, n, chunk);
		others(t, r, done, n, other);
		for (size_t i = 0; i < n; i++)
			chunk[i] = small_redraw(chunk[i], other[i], done + i, r->seed, r->to,
			    r->share, r->whole, r->ordered);
		values_narrow(t, chunk, n, (char *)to + done * size);
	}
}

static bool
is_exact(enum kdtype t, const double *expected, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double back;
		uint64_t raw;

		values_narrow(t, &expected[i], 1, &raw);
		values_widen(t, &raw, 1, &back);
		if (back < expected[i] || back > expected[i])
			return false;
	}
	return true;
}

/* Root mean square of the finite values. */
HOT static double
rms(const double *x, size_t n)
{
	double sum = 0, count = 0;

#pragma omp simd reduction(+ : sum, count)
	for (size_t i = 0; i < n; i++) {
		bool finite = fabs(x[i]) < INFINITY;

		sum += finite ? x[i] * x[i] : 0;
		count += finite ? 1 : 0;
	}
	return count > 0 ? sqrt(sum / count) : 0;
}

static bool
same_special(double expected, double got)
{
	return isnan(expected) ? isnan(got)
	                       : isinf(expected) && isinf(got) && signbit(expected) == signbit(got);
}

static void
note(struct comparison_result *r, size_t at, double error, double tolerance)
{
	double old = r->worst / (r->tolerance > 0 ? r->tolerance : DBL_MIN);
	double now = error / (tolerance > 0 ? tolerance : DBL_MIN);

	r->mismatches++;
	if (r->worst >= 0 && !(now > old))
		return;
	r->worst = error;
	r->tolerance = tolerance;
	r->worst_at = at;
}

/* What the elements of a group share. */
struct group {
	double scale;
	double max; /* of the type */
	/* the correct result beyond it: the largest value if a type saturates */
	double beyond;
};

/*
 * The usual case, and fast: true when all N values are finite and within tolerance. Only then are
 * their errors recorded.
 */
HOT static bool
all_close(const struct comparison *c, const struct group *g, const double *got, size_t from,
    size_t n, struct comparison_result *r)
{
	const struct rule *rule = &c->rule;
	const double *expected = (const double *)c->expected + from;
	double base = rule->exact ? 0 : rule->per_scale * g->scale + rule->atol,
	       rtol = rule->exact ? 0 : rule->rtol, max = g->max,
	       cap = c->cap >= 0 ? c->cap : INFINITY, abs = 0, most = 0;
	int bad = 0;

#pragma omp simd reduction(max : abs, most) reduction(| : bad)
	for (size_t i = 0; i < n; i++) {
		double size = fabs(expected[i]), error = fabs(got[i] - expected[i]);
		double tolerance = rtol * size + base, share = error / tolerance;

		/* Comparisons with a NaN are false; infinities differ by one. */
		bad |= !(error <= tolerance) | !(size <= max) | (error > cap);
		abs = error > abs ? error : abs;
		most = share > most ? share : most;
	}
	if (bad)
		return false;
	r->max_abs = fmax(r->max_abs, abs);
	r->max_share = fmax(r->max_share, most);
	return true;
}

/* Elements FROM to FROM + N; their values are GOT. */
static void
compare_some(const struct comparison *c, const struct group *g, const double *got, size_t from,
    size_t n, struct comparison_result *r)
{
	const struct rule *rule = &c->rule;
	const double *expected = (const double *)c->expected + from;
	double base = rule->per_scale * g->scale + rule->atol;

	for (size_t i = 0; i < n; i++) {
		bool beyond = fabs(expected[i]) > g->max;
		double e = beyond ? copysign(g->beyond, expected[i]) : expected[i], size = fabs(e);
		double error = fabs(got[i] - e);
		double tolerance = rule->exact ? 0 : rule->rtol * size + base;

		if (c->slack)
			tolerance = fmax(tolerance, c->slack[from + i]);
		if (!(size < INFINITY) || !(fabs(got[i]) < INFINITY)) {
			if (same_special(e, got[i]))
				continue;
			error = INFINITY;
			tolerance = 0;
		}
		if (error > r->max_abs)
			r->max_abs = error;
		if (error > r->max_share * tolerance && tolerance > 0)
			r->max_share = error / tolerance;
		if (error > tolerance)
			note(r, from + i, error, tolerance);
		if (c->cap >= 0 && error > c->cap)
			r->over_cap = true;
	}
}

/* Elements FROM to TO, which share a scale. */
static void
compare_group(const struct comparison *c, size_t from, size_t to, struct comparison_result *r)
{
	enum { CHUNK = 512 };
	double got[CHUNK], max = kdtype_max(c->dtype);
	double scale = rms((const double *)c->expected + from, to - from);
	struct group g = { .scale = fmax(scale, c->rule.fixed_scale),
		.max = max,
		.beyond = kdtype_size(c->dtype) == 1 ? max : INFINITY };

	for (size_t n; from < to; from += n) {
		n = to - from < CHUNK ? to - from : CHUNK;
		values_widen(c->dtype, (const char *)c->got + from * kdtype_size(c->dtype), n, got);
		if (c->slack || !all_close(c, &g, got, from, n, r))
			compare_some(c, &g, got, from, n, r);
	}
}

static void
compare_floats(const struct comparison *c, struct comparison_result *r)
{
	for (size_t from = 0; from < c->n;) {
		/* The remainder joins the last group. */
		size_t to = c->n - from < 2 * c->group ? c->n : from + c->group;

		compare_group(c, from, to, r);
		from = to;
	}
}

static void
compare_integers(const struct comparison *c, struct comparison_result *r)
{
	size_t size = kdtype_size(c->dtype);

	for (size_t i = 0; i < c->n; i++) {
		const char *e = (const char *)c->expected + i * size,
		           *g = (const char *)c->got + i * size;
		double a, b;

		if (!memcmp(e, g, size))
			continue;
		values_widen(c->dtype, e, 1, &a);
		values_widen(c->dtype, g, 1, &b);
		r->max_abs = fmax(r->max_abs, fabs(a - b));
		note(r, i, fabs(a - b), 0);
	}
}

static size_t
count_poison(const struct comparison *c)
{
	size_t count = 0, size = kdtype_size(c->dtype);

	for (size_t i = 0; i < c->n; i++)
		count += !memcmp((const char *)c->got + i * size, &c->poison, size);
	return count;
}

static void
compare(const struct comparison *c, struct comparison_result *r)
{
	*r = (struct comparison_result){ .worst = -1 };
	if (kdtype_is_float(c->dtype))
		compare_floats(c, r);
	else
		compare_integers(c, r);
	if (r->mismatches)
		r->unwritten = count_poison(c);
}

static void
flush(void)
{
	static uint64_t *memory;
	static uint64_t sum;
	static size_t n;

	if (!memory) {
		n = 2 * machine_llc() / sizeof *memory;
		memory = mmap(NULL, n * sizeof *memory, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			kdie_errno(K_MISSING, "memory to flush the caches");
	}
	/*
	 * One word per 64-byte line; what is written depends on what was read, so neither can be
	 * optimised away.
	 */
	for (size_t i = 0; i < n; i += 8)
		memory[i] = sum += memory[i] + i;
}

#if defined(__x86_64__)
enum { LINE = 64 };

/*
 * The fence orders CLFLUSH with everything after it; CLFLUSH reaches the caches of every processor
 * (Intel SDM, volume 2A).
 */
__attribute__((target("clflushopt"))) static void
flush_lines(const char *line, const char *end)
{
	for (; line < end; line += LINE)
		_mm_clflushopt((void *)(uintptr_t)line);
}

static void
evict(const void *p, size_t bytes)
{
	const char *line = (const char *)((uintptr_t)p / LINE * LINE),
	           *end = (const char *)p + bytes;

	if (__builtin_cpu_supports("clflushopt"))
		flush_lines(line, end);
	else
		for (; line < end; line += LINE)
			_mm_clflush(line);
	_mm_mfence();
}
#else
#define evict NULL
#endif

static int64_t
fence(void)
{
	return 0;
}

const struct space space_host = {
	.alloc = alloc,
	.release = release,
	.copy = copy,
	.fetch = copy,
	.store = copy,
	.set = set,
	.words = words,
	.guard = guard,
	.guard_check = guard_check,
	.differs = differs,
	.draw = values_draw,
	.redraw = redraw,
	.widen = values_widen,
	.perturb = perturb,
	.is_exact = is_exact,
	.compare = compare,
	.evict = evict,
	.flush = flush,
	.arena_open = arena_open,
	.arena_close = arena_close,
	.fence = fence,
	.arena_bytes = 32 << 20,
	.sample_ns = 1e6,
	.oracle_s = 0.02,
};
