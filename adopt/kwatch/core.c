/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: writes their arguments and times, one line of JSON each. */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kwatch.h"

bool kwatch_on, kwatch_timing_only;

static struct {
	char prefix[3072], kernel[128];
	long max;
} settings;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static pid_t file_owner;
static long calls, written;

static __thread struct kwatch_state *states; /* KWATCH_NEST elements */
static __thread int depth;

int64_t
kwatch_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* ---- output ---- */

static void
put(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n <= 0)
			return;
		data += n;
		len -= (size_t)n;
	}
}

struct text {
	char *at;
	size_t len, room;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->at + t->len, t->room - t->len, format, ap);
	va_end(ap);
	t->len = n < 0 || t->len + (size_t)n >= t->room ? t->room - 1 : t->len + (size_t)n;
}

/*
 * Each process writes its own file, created at its first call; a forked process starts another one.
 */
static int
output(void)
{
	char path[4096], head[128];

	if (file >= 0 && file_owner == getpid())
		return file;
	if (file >= 0)
		close(file);
	calls = written = 0;
	file_owner = getpid();
	snprintf(path, sizeof path, "%s.%ld", settings.prefix, (long)file_owner);
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (file >= 0)
		put(file, head,
		    (size_t)snprintf(head, sizeof head, "{\"pid\":%ld,\"begun_ns\":%lld}\n",
		        (long)file_owner, (long long)kwatch_now()));
	return file;
}

void
kwatch_write_line(char *line, size_t len, const char *clock, double ns)
{
	struct text t = { line, len, len + 96 };

	add(&t, ",\"clock\":\"%s\",\"ns\":%.0f}\n", clock, ns);
	pthread_mutex_lock(&lock);
	if (output() >= 0 && written < settings.max) {
		put(file, t.at, t.len);
		written++;
	}
	pthread_mutex_unlock(&lock);
}

static void
put_end(void)
{
	char line[128];

	if (file >= 0 && file_owner == getpid())
		put(file, line,
		    (size_t)snprintf(line, sizeof line,
		        "{\"end\":true,\"calls\":%ld,\"written\":%ld}\n", calls, written));
}

static void __attribute__((constructor)) start_up(void)
{
	const char *prefix = getenv("KWATCH_OUT"), *mode = getenv("KWATCH_MODE"),
	           *kernel = getenv("KWATCH_KERNEL");
	const char *max = getenv("KWATCH_MAX");
	char path[4096], line[4352], program[4096] = "";
	ssize_t n;
	int fd;

	if (!prefix || strlen(prefix) >= sizeof settings.prefix)
		return;
	strcpy(settings.prefix, prefix);
	snprintf(settings.kernel, sizeof settings.kernel, "%s", kernel ? kernel : "");
	settings.max = max ? atol(max) : 1000000;
	if (getenv("KWATCH_SAVE"))
		kwatch_save_open(getenv("KWATCH_SAVE"));
	kwatch_timing_only = mode && !strcmp(mode, "time");
	kwatch_extents_wanted = !kwatch_timing_only;
	kwatch_on = true;
	n = readlink("/proc/self/exe", program, sizeof program - 1);
	program[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof path, "%s.loaded", prefix);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	put(fd, line, (size_t)snprintf(line, sizeof line, "%ld %s\n", (long)getpid(), program));
	close(fd);
}

static void __attribute__((destructor)) shut_down(void)
{
	put_end();
}

/* ---- memory ---- */

/* Any change of any byte shows, because multiplication by an odd number is invertible. */
uint64_t
kwatch_sum(const void *data, size_t len, uint64_t sum)
{
	const unsigned char *p = data;
	uint64_t word;

	for (; len >= sizeof word; p += sizeof word, len -= sizeof word) {
		memcpy(&word, p, sizeof word);
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 29;
	}
	for (; len; p++, len--)
		sum = (sum ^ *p) * UINT64_C(0x100000001B3);
	return sum;
}

static const void *
pointer_of(const struct kwatch_arg *a)
{
	const void *p = NULL;

	if (a->kind == KWATCH_POINTER)
		memcpy(&p, a->at, sizeof p);
	return p;
}

void *
kwatch_stream(const struct kwatch_call *c)
{
	void *stream = NULL;

	for (size_t i = 0; i < c->count; i++)
		if (c->args[i].kind == KWATCH_STREAM)
			memcpy(&stream, c->args[i].at, sizeof stream);
	/* cudaStreamPerThread */
	return !stream && c->cuda == KWATCH_PER_THREAD ? (void *)2 : stream;
}

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

static void
find_extents(struct kwatch_state *s, const struct kwatch_call *c)
{
	/* bytes: the smallest output of a kernel; the most for a small array */
	enum { LOOKED_AT = 4, SAVED = 1 << 16 };

	for (size_t i = 0; i < c->count; i++) {
		uintptr_t p = (uintptr_t)pointer_of(&c->args[i]), end;

		s->pointer[i].summed = false;
		s->pointer[i].reach = 0;
		s->pointer[i].found = kwatch_extent_find((const void *)p, &s->pointer[i].extent);
		s->pointer[i].more = s->pointer[i].found ? 0 : stack_above(p);
		s->pointer[i].stack = s->pointer[i].more > 0;
		if (p && c->args[i].extent) {
			/* One member of a structure, which may be anywhere. */
			s->pointer[i].extent =
			    (struct kwatch_extent){ p, c->args[i].extent, false };
			s->pointer[i].found = true;
			s->pointer[i].stack = false;
			s->pointer[i].more = 0;
		}
		if (s->pointer[i].stack) {
			s->pointer[i].extent = (struct kwatch_extent){ p, LOOKED_AT, false };
			s->pointer[i].found = true;
		}
		if (!s->pointer[i].found)
			continue;
		end = s->pointer[i].extent.start + s->pointer[i].extent.bytes;
		for (size_t k = 0; k < c->count; k++) {
			uintptr_t other = (uintptr_t)pointer_of(&c->args[k]);

			if (other > p && other < end)
				end = other;
		}
		s->pointer[i].room = end - p;
		if (!s->pointer[i].stack)
			s->pointer[i].more = s->pointer[i].room;
		else if (s->pointer[i].more > SAVED)
			s->pointer[i].more = SAVED;
	}
}

static uint64_t
sum_of(const struct kwatch_state *s, const struct kwatch_call *c, size_t i, bool *good)
{
	const void *p = pointer_of(&c->args[i]);

	if (s->pointer[i].extent.device)
		return kwatch_device_sum((uintptr_t)p, s->pointer[i].room, kwatch_stream(c), good);
	*good = true;
	return kwatch_sum(p, s->pointer[i].room, 0);
}

/*
 * Checksums of all memory would take longer than most kernels, so only the first calls for every
 * set of scalars are checked, and every call whose number is a power of two. FIRST_ONE: the first
 * of its set.
 */
static bool
worth_a_look(const struct kwatch_call *c, long number, bool *first_one)
{
	enum { SEEN = 4096, FIRST = 2 };
	static struct {
		uint64_t sum;
		int times;
	} seen[SEEN];
	uint64_t sum = 1;
	bool again;

	for (size_t i = 0; i < c->count; i++)
		if (c->args[i].kind != KWATCH_POINTER && c->args[i].kind != KWATCH_STREAM)
			sum = kwatch_sum(c->args[i].at, c->args[i].size, sum);
	again = seen[sum % SEEN].times && seen[sum % SEEN].sum == sum;
	seen[sum % SEEN].times = again ? seen[sum % SEEN].times + 1 : 1;
	seen[sum % SEEN].sum = sum;
	*first_one = !again;
	return seen[sum % SEEN].times <= FIRST || (number & (number - 1)) == 0;
}

/* ---- calls ---- */

struct kwatch_state *
kwatch_current(void)
{
	return depth > 0 && depth <= KWATCH_NEST ? &states[depth - 1] : NULL;
}

/* NULL: nested too deeply, or out of memory. The matching leave undoes it. */
static struct kwatch_state *
enter(void)
{
	if (!states)
		states = kwatch_pages(KWATCH_NEST * sizeof *states);
	depth++;
	if (!states || depth > KWATCH_NEST)
		return NULL;
	states[depth - 1].launches = 0;
	states[depth - 1].timer = NULL;
	states[depth - 1].checked = false;
	states[depth - 1].saved = NULL;
	return &states[depth - 1];
}

static long
next_number(void)
{
	long number;

	pthread_mutex_lock(&lock);
	output();
	number = calls++;
	pthread_mutex_unlock(&lock);
	return number;
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
	number = next_number();
	if (!kwatch_timing_only) {
		find_extents(s, c);
		s->saved = kwatch_save_wanted(c);
		first = s->saved != NULL;
		s->checked = kwatch_saving ? first : worth_a_look(c, number, &first);
		if (first && kwatch_guard(c, s))
			return;
		for (size_t i = 0; s->checked && i < c->count; i++)
			if (s->pointer[i].found)
				s->pointer[i].sum = sum_of(s, c, i, &s->pointer[i].summed);
		for (size_t i = 0; s->saved && i < c->count; i++)
			if (s->pointer[i].found)
				kwatch_save(s->saved, s, c, i, "before");
	}
	if (c->cuda && kwatch_cuda())
		s->timer = kwatch_timer_start(kwatch_stream(c));
	s->begun = kwatch_now();
}

/* With the fewest digits that read back as the same number; JSON has neither infinity nor NaN. */
void
kwatch_real(char *to, size_t room, double d, bool single)
{
	for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		snprintf(to, room, "%.*g", digits, d);
		if (single ? strtof(to, NULL) == (float)d : strtod(to, NULL) == d)
			break;
	}
	if (d - d != 0)
		snprintf(to, room, "\"%g\"", d);
	else if (!strpbrk(to, ".e"))
		snprintf(to + strlen(to), room - strlen(to), ".0");
}

static void
add_scalar(struct text *t, const struct kwatch_arg *a, const char *comma)
{
	int64_t i = 0;
	uint64_t u = 0;
	double d = 0;
	float f;
	char number[48];

	switch (a->kind) {
	case KWATCH_SIGNED:
		/* Little-endian; then extend the sign. */
		memcpy(&i, a->at, a->size);
		if (a->size < sizeof i)
			i = (int64_t)((uint64_t)i << (64 - 8 * a->size)) >> (64 - 8 * a->size);
		add(t, "%s\"%s\":%lld", comma, a->name, (long long)i);
		break;
	case KWATCH_UNSIGNED:
		memcpy(&u, a->at, a->size);
		add(t, u > INT64_MAX ? "%s\"%s\":\"%llu\"" : "%s\"%s\":%llu", comma, a->name,
		    (unsigned long long)u);
		break;
	case KWATCH_REAL:
		if (a->size == sizeof f) {
			memcpy(&f, a->at, sizeof f);
			d = (double)f;
		} else {
			memcpy(&d, a->at, sizeof d);
		}
		kwatch_real(number, sizeof number, d, a->size == sizeof f);
		add(t, "%s\"%s\":%s", comma, a->name, number);
		break;
	case KWATCH_BOOL:
		add(t, "%s\"%s\":%s", comma, a->name,
		    *(const unsigned char *)a->at ? "true" : "false");
		break;
	default:
		break;
	}
}

static bool
is_scalar(const struct kwatch_arg *a)
{
	return a->kind >= KWATCH_SIGNED && a->kind <= KWATCH_BOOL;
}

/* The alignment of an address, up to a useful limit. */
static size_t
alignment(uintptr_t p)
{
	enum { MOST = 256 };

	p |= MOST;
	return (size_t)(p & -p);
}

static void
add_pointer(struct text *t, const struct kwatch_state *s, const struct kwatch_call *c, size_t i,
    const char *comma)
{
	const struct kwatch_arg *a = &c->args[i];
	const struct kwatch_extent *e = &s->pointer[i].extent;
	bool good = s->checked && s->pointer[i].found && s->pointer[i].summed;
	uint64_t sum = good ? sum_of(s, c, i, &good) : 0;

	add(t, "%s\"%s\":{\"const\":%s", comma, a->name, a->constant ? "true" : "false");
	if (!pointer_of(a))
		add(t, ",\"null\":true");
	if (s->pointer[i].found && !s->pointer[i].stack)
		add(t, ",\"bytes\":%zu,\"offset\":%zu,\"room\":%zu,\"align\":%zu,\"device\":%s",
		    e->bytes, (size_t)((uintptr_t)pointer_of(a) - e->start), s->pointer[i].room,
		    alignment((uintptr_t)pointer_of(a)), e->device ? "true" : "false");
	if (s->pointer[i].reach)
		add(t, ",\"reach\":%zu", s->pointer[i].reach);
	for (size_t k = 0; k < i && pointer_of(a); k++)
		if (pointer_of(&c->args[k]) == pointer_of(a)) {
			add(t, ",\"same_as\":\"%s\"", c->args[k].name);
			break;
		}
	if (good)
		add(t, ",\"written\":%s", sum != s->pointer[i].sum ? "true" : "false");
	if (good && s->saved && sum != s->pointer[i].sum)
		kwatch_save(s->saved, s, c, i, "after");
	add(t, "}");
}

/* As many as fit: a truncated line would be useless. */
static void
add_launches(struct text *t, const struct kwatch_state *s)
{
	enum { AROUND = 256 };

	add(t, ",\"launches\":[");
	for (size_t i = 0; i < s->launches; i++) {
		const struct kwatch_launch *l = &s->launch[i];

		if (t->room - t->len < strlen(l->kernel) + strlen(l->args) + AROUND)
			break;
		add(t,
		    "%s{\"symbol\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,"
		    "\"args\":{%s}}",
		    i ? "," : "", l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
		    l->block[1], l->block[2], l->shared, l->args);
	}
	add(t, "]");
}

static void
add_call(struct text *t, const struct kwatch_state *s, const struct kwatch_call *c)
{
	const char *comma = "";

	add(t, "{\"args\":{");
	for (size_t i = 0; i < c->count; i++)
		if (is_scalar(&c->args[i])) {
			add_scalar(t, &c->args[i], comma);
			comma = ",";
		}
	add(t, "},\"pointers\":{");
	comma = "";
	for (size_t i = 0; !kwatch_timing_only && i < c->count; i++)
		if (c->args[i].kind == KWATCH_POINTER) {
			add_pointer(t, s, c, i, comma);
			comma = ",";
		}
	add(t, "}");
	add_launches(t, s);
}

static void
finish(struct kwatch_state *s, struct text *t, int64_t end)
{
	if (s->timer)
		kwatch_timer_line(s->timer, t->at, t->len, (double)(end - s->begun));
	else if (t->len)
		kwatch_write_line(t->at, t->len, "host", (double)(end - s->begun));
}

static void
stop(struct kwatch_call *c)
{
	int64_t end = kwatch_now();
	struct kwatch_state *s = c->state;
	char line[KWATCH_LINE];
	struct text t = { line, 0, sizeof line - 128 };

	kwatch_guard_stop(c);
	if (!kwatch_on || c->count > KWATCH_ARGS || kwatch_guard_child())
		return;
	if (s) {
		/* Stop the device's clock before memory is examined. */
		if (s->timer)
			kwatch_timer_stop(s->timer, kwatch_stream(c));
		add_call(&t, s, c);
		finish(s, &t, end);
	}
	depth--;
}

struct kwatch_state *
kwatch_begin_launch(const char *kernel, void *stream)
{
	struct kwatch_state *s;

	if (!kwatch_on || depth || !*settings.kernel || !kwatch_is_named(kernel, settings.kernel))
		return NULL;
	s = enter();
	if (!s) {
		depth--;
		return NULL;
	}
	next_number();
	s->timer = kwatch_timer_start(stream);
	s->begun = kwatch_now();
	return s;
}

void
kwatch_end_launch(struct kwatch_state *s, void *stream)
{
	int64_t end = kwatch_now();
	char line[KWATCH_LINE];
	struct text t = { line, 0, sizeof line - 128 };

	if (s->timer)
		kwatch_timer_stop(s->timer, stream);
	/* A refused launch does not count. */
	if (s->launches) {
		add(&t, "{\"args\":{%s},\"pointers\":{}", s->launch[0].args);
		add_launches(&t, s);
	}
	finish(s, &t, end);
	depth--;
}

const struct kwatch_api kwatch_api_3 = { start, stop };
