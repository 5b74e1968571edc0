/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: writes their arguments and times, one line of JSON each. */
#include <sys/resource.h>

#include "kwatch.h"

/* Of the outermost call: those that a function makes of itself are a part of it. */
static __thread struct kwatch_state *state;
static __thread int depth;

/* The processor time of this process so far. */
static int64_t
worked(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* Pages that the process has touched for the first time so far: the kernel provides each then. */
static long
touched(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_minflt;
}

/* ---- memory ---- */

/*
 * Number of bytes above a variable of a calling function in this thread; 0: it is not one. Stacks
 * grow downwards; memory above may not be readable.
 */
static size_t
stack_above(uintptr_t p)
{
	static __thread uintptr_t low, top;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t a;
	void *at;
	size_t bytes;

	if (!top && !pthread_getattr_np(pthread_self(), &a)) {
		if (!pthread_attr_getstack(&a, &at, &bytes)) {
			low = (uintptr_t)at;
			top = low + bytes;
		}
		pthread_attr_destroy(&a);
	}
	return here > low && p > here && p < top ? top - p : 0;
}

/* What the argument I of C points to. */
static void
find_extent(struct kwatch_state *s, const struct kwatch_call *c, size_t i)
{
	/* bytes: the smallest output of a kernel; the most for a small array */
	enum { LOOKED_AT = 4, SAVED = 1 << 16 };
	struct kwatch_pointer *x = &s->pointer[i];
	uintptr_t p = x->at, end;
	/* One member of a structure may be anywhere. */
	size_t known = c->args[i].extent, above;

	*x = (struct kwatch_pointer){ .at = p };
	x->found = !known && kwatch_extent_find((const void *)p, &x->extent);
	above = known || x->found ? 0 : stack_above(p);
	if (!x->found)
		x->extent = (struct kwatch_extent){ p, known ?: LOOKED_AT, false };
	x->stack = above;
	x->found = p && (x->found || known || above);
	end = x->extent.start + x->extent.bytes;
	kwatch_each(k, c)
		if (s->pointer[k].at > p && s->pointer[k].at < end)
			end = s->pointer[k].at;
	x->room = end - p;
	x->more = !above ? x->room : above > SAVED ? SAVED : above;
}

static uint64_t
sum_of(const struct kwatch_pointer *x, const struct kwatch_call *c, bool *good)
{
	*good = true;
	return x->extent.device ? kwatch_device_sum(x->at, x->room, kwatch_stream(c), good)
	                        : kwatch_sum((const void *)x->at, x->room, 0);
}

/*
 * Checksums of all memory would take longer than most kernels, so only the first calls for every
 * set of scalars are checked, as long as that takes a few seconds in all, and every call whose
 * number is a power of two. FIRST_ONE: the first of its set.
 */
static int64_t summing; /* ns */

static bool
is_scalar(const struct kwatch_arg *a)
{
	return a->kind >= KWATCH_SIGNED && a->kind <= KWATCH_BOOL;
}

/* The same for all calls with the same scalars. */
static uint64_t
key_of(const struct kwatch_call *c)
{
	uint64_t key = 1;

	kwatch_each(i, c)
		if (is_scalar(&c->args[i]))
			key = kwatch_sum(c->args[i].at, c->args[i].size, key);
	return key;
}

static bool
worth_a_look(uint64_t key, long number, bool *first_one)
{
	enum { SEEN = 4096, FIRST = 2, SECONDS = 5 };
	static struct {
		uint64_t key;
		int times;
	} seen[SEEN], *mine;

	mine = &seen[key % SEEN];
	*first_one = !mine->times || mine->key != key;
	mine->times = *first_one ? 1 : mine->times + 1;
	mine->key = key;
	return (mine->times <= FIRST && summing < SECONDS * INT64_C(1000000000)) ||
	    (number & (number - 1)) == 0;
}

/* ---- calls ---- */

struct kwatch_state *
kwatch_current(void)
{
	return depth > 0 ? state : NULL;
}

/* NULL: inside another call, or out of memory. The matching leave undoes it. */
static struct kwatch_state *
enter(void)
{
	if (!state)
		state = kwatch_pages(sizeof *state);
	if (depth++ || !state)
		return NULL;
	state->launches = 0;
	state->timer = NULL;
	state->checked = false;
	return state;
}

static void
start(struct kwatch_call *c)
{
	struct kwatch_state *s = NULL;
	bool first;
	long number;

	if (kwatch_on && c->count <= KWATCH_ARGS && !kwatch_guard_child())
		s = enter();
	c->state = s;
	if (!s)
		return;
	number = kwatch_next_call();
	s->key = key_of(c);
	s->saved = kwatch_saving ? kwatch_save_wanted(s->key) : NULL;
	s->noted = number < kwatch_most && (!kwatch_saving || s->saved || !number);
	if (s->noted && !kwatch_timing_only) {
		kwatch_each(i, c) {
			s->pointer[i].at = 0;
			if (c->args[i].kind == KWATCH_POINTER)
				memcpy(&s->pointer[i].at, c->args[i].at, sizeof s->pointer[i].at);
		}
		kwatch_each(i, c)
			find_extent(s, c, i);
		first = s->saved != NULL;
		s->checked = kwatch_saving ? first : worth_a_look(s->key, number, &first);
		if (first && kwatch_guard(c, s))
			return;
		s->begun = kwatch_now();
		kwatch_each(i, c) {
			struct kwatch_pointer *x = &s->pointer[i];

			if (x->found && s->checked)
				x->sum = sum_of(x, c, &x->summed);
			if (x->found && s->saved)
				kwatch_save(s->saved, x, c, c->args[i].name, "before");
		}
		summing += kwatch_now() - s->begun;
	}
	if (s->noted && c->cuda && kwatch_cuda())
		s->timer = kwatch_timer_start(kwatch_stream(c));
	s->faults = touched();
	s->worked = worked();
	s->begun = kwatch_now();
}

void
kwatch_add_scalar(struct kwatch_text *t, const struct kwatch_arg *a, const char *comma)
{
	int64_t i = 0;
	uint64_t u = 0;
	double d = 0;
	float f;

	kwatch_add(t, "%s\"%s\":", comma, a->name);
	/* Little-endian. */
	memcpy(&u, a->at, a->size < sizeof u ? a->size : sizeof u);
	switch (a->kind) {
	case KWATCH_SIGNED:
		i = a->size < sizeof i ? (int64_t)(u << (64 - 8 * a->size)) >> (64 - 8 * a->size)
		                       : (int64_t)u;
		kwatch_add(t, "%lld", (long long)i);
		break;
	case KWATCH_UNSIGNED:
		kwatch_add(t, u > INT64_MAX ? "\"%llu\"" : "%llu", (unsigned long long)u);
		break;
	case KWATCH_REAL:
		memcpy(&f, &u, sizeof f);
		memcpy(&d, &u, sizeof d);
		kwatch_add_real(t, a->size == sizeof f ? (double)f : d, a->size == sizeof f);
		break;
	default:
		kwatch_add(t, "%s", u & 0xff ? "true" : "false");
	}
}

/* The alignment of an address, up to a useful limit. */
static size_t
alignment(uintptr_t p)
{
	enum { MOST = 256 };

	p |= MOST;
	return (size_t)(p & -p);
}

/* Earlier arguments with the same address as argument I, and in the same piece of memory. */
static void
add_earlier(
    struct kwatch_text *t, const struct kwatch_state *s, const struct kwatch_call *c, size_t i)
{
	const struct kwatch_pointer *x = &s->pointer[i];

	for (size_t k = 0; k < i && x->at; k++)
		if (s->pointer[k].at == x->at) {
			kwatch_add(t, ",\"same_as\":\"%s\"", c->args[k].name);
			break;
		}
	for (size_t k = 0; k < i && x->found && !x->stack; k++)
		if (s->pointer[k].found && !s->pointer[k].stack &&
		    s->pointer[k].extent.start == x->extent.start) {
			kwatch_add(t, ",\"shares\":\"%s\"", c->args[k].name);
			break;
		}
}

static void
add_pointer(struct kwatch_text *t, const struct kwatch_state *s, const struct kwatch_call *c,
    size_t i, const char *comma)
{
	const struct kwatch_arg *a = &c->args[i];
	const struct kwatch_pointer *x = &s->pointer[i];
	bool good = s->checked && x->found && x->summed;
	uint64_t sum = good ? sum_of(x, c, &good) : 0;

	kwatch_add(t, "%s\"%s\":{\"const\":%s", comma, a->name, a->constant ? "true" : "false");
	if (!x->at)
		kwatch_add(t, ",\"null\":true");
	if (x->found && !x->stack)
		kwatch_add(t,
		    ",\"bytes\":%zu,\"offset\":%zu,\"room\":%zu,\"align\":%zu,\"device\":%s",
		    x->extent.bytes, (size_t)(x->at - x->extent.start), x->room, alignment(x->at),
		    x->extent.device ? "true" : "false");
	if (x->reach)
		kwatch_add(t, ",\"reach\":%zu", x->reach);
	if (x->below)
		kwatch_add(t, ",\"below\":true");
	add_earlier(t, s, c, i);
	if (good)
		kwatch_add(t, ",\"written\":%s", sum != x->sum ? "true" : "false");
	if (good && s->saved && sum != x->sum)
		kwatch_save(s->saved, x, c, a->name, "after");
	kwatch_add(t, "}");
}

/* As many as fit: a truncated line would be useless. */
static void
add_launches(struct kwatch_text *t, const struct kwatch_state *s)
{
	enum { AROUND = 256 };

	kwatch_add(t, ",\"launches\":[");
	for (size_t i = 0; i < s->launches; i++) {
		const struct kwatch_launch *l = &s->launch[i];

		if (t->room - t->len < strlen(l->kernel) + strlen(l->args) + AROUND)
			break;
		kwatch_add(t,
		    "%s{\"symbol\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,"
		    "\"args\":{%s}}",
		    i ? "," : "", l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
		    l->block[1], l->block[2], l->shared, l->args);
	}
	kwatch_add(t, "]");
}

/* Values that are not there: for each, the pointer on the way to it that is null. */
static void
add_absent(struct kwatch_text *t, const struct kwatch_call *c)
{
	size_t n = 0;

	kwatch_each(i, c)
		if (c->args[i].absent)
			kwatch_add(t, "%s\"%s\":\"%s\"", n++ ? "," : ",\"absent\":{",
			    c->args[i].name, c->args[i].absent);
	if (n)
		kwatch_add(t, "}");
}

static void
add_call(struct kwatch_text *t, const struct kwatch_state *s, const struct kwatch_call *c)
{
	const char *comma = "";

	kwatch_add(t, "{\"key\":\"%016llx\",\"args\":{", (unsigned long long)s->key);
	kwatch_each(i, c)
		if (is_scalar(&c->args[i])) {
			kwatch_add_scalar(t, &c->args[i], comma);
			comma = ",";
		}
	kwatch_add(t, "},\"pointers\":{");
	comma = "";
	for (size_t i = 0; !kwatch_timing_only && i < c->count; i++)
		if (c->args[i].kind == KWATCH_POINTER) {
			add_pointer(t, s, c, i, comma);
			comma = ",";
		}
	kwatch_add(t, "}");
	if (!kwatch_timing_only)
		add_absent(t, c);
	add_launches(t, s);
}

static void
stop(struct kwatch_call *c)
{
	int64_t end = kwatch_now(), work = worked();
	long faults = touched();
	struct kwatch_state *s = c->state;
	char line[KWATCH_LINE];
	struct kwatch_text t = { line, 0, sizeof line - KWATCH_END };

	kwatch_guard_stop(c);
	if (!kwatch_on || c->count > KWATCH_ARGS || kwatch_guard_child())
		return;
	if (s && s->noted) {
		/* Stop the device's clock before memory is examined. */
		if (s->timer)
			kwatch_timer_stop(s->timer, kwatch_stream(c));
		add_call(&t, s, c);
		if (kwatch_timing_only && faults > s->faults)
			kwatch_add(&t, ",\"faults\":%ld", faults - s->faults);
		/* On a busy machine, other programs may have had the processor meanwhile. */
		if (!c->cuda && work - s->worked < end - s->begun)
			end = s->begun + work - s->worked;
		if (s->timer)
			kwatch_timer_line(s->timer, t.at, t.len, (double)(end - s->begun));
		else
			kwatch_write_line(t.at, t.len, "host", (double)(end - s->begun));
	}
	depth--;
}

static void *
block(const void *p)
{
	struct kwatch_extent e;

	/* Where only times are wanted, allocations are not recorded. */
	if (!kwatch_on || kwatch_timing_only || !kwatch_extent_find(p, &e))
		return (void *)p;
	return (void *)e.start;
}

const struct kwatch_api kwatch_api_5 = { start, stop, block };
