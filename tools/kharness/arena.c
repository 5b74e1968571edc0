/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the memory that judge and runner share: where tensors lie, what surrounds them, and whether it still does
 * after a call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "kharness.h"

enum {
	PAGE = 4096,
	BAND = PAGE,		/* at least this much on both sides of a tensor */
	JITTER = 16,		/* a tensor begins up to this many pages later, new for every call */
	/* tensor I begins at I times this within its page: equal addresses modulo 4096 would alias */
	STAGGER = 256
};

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Room for one tensor with everything around it. */
static size_t
extent(size_t bytes)
{
	return JITTER * PAGE + BAND + round_up(KTASK_TENSORS * STAGGER + bytes + BAND, PAGE);
}

static bool
is_input_only(const struct ktask_tensor *x)
{
	return !x->scalar && !x->output;
}

static size_t
bytes_of(const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x)
{
	return ktask_elements(t, w, x) * kdtype_size(x->dtype);
}

void
memory_slot(const struct ktask *t, const struct ktask_workload *w, size_t *in, size_t *out)
{
	*in = *out = PAGE;
	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];

		if (!x->scalar)
			*(x->output ? out : in) += extent(bytes_of(t, w, x));
	}
}

size_t
memory_table(const struct ktask *t, size_t calls)
{
	return round_up(calls * t->arg_count * sizeof(uint64_t), PAGE);
}

/* A memory file that can neither shrink under the judge nor grow, and all its pages. */
static void
arena_open(struct arena *a, size_t bytes, bool read_only)
{
	char path[64];

	a->bytes = round_up(bytes, PAGE);
	a->fd = memfd_create("kiln-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (a->fd < 0 || fallocate(a->fd, 0, 0, (off_t)a->bytes) < 0 ||
	    fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		kdie_errno(K_MISSING, "%zu MiB of shared memory", a->bytes >> 20);
	a->memory = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, a->fd, 0);
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

void
memory_open(struct memory *m, size_t in_bytes, size_t out_bytes)
{
	*m = (struct memory){ 0 };
	arena_open(&m->in, in_bytes, true);
	arena_open(&m->out, out_bytes, false);
}

void
memory_close(struct memory *m)
{
	arena_close(&m->in);
	arena_close(&m->out);
	free(m->places);
	m->places = NULL;
}

/* A secret word; a candidate that could foretell it could repair the guard bands. */
static uint64_t
secret(void)
{
	uint64_t v;

	if (getrandom(&v, sizeof v, 0) != sizeof v)
		kdie_errno(K_MISSING, "getrandom");
	return v;
}

/* Word I of the pattern with this key (the finaliser of splitmix64). */
static uint64_t
pattern(uint64_t key, size_t i)
{
	uint64_t z = key + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned char
pattern_byte(uint64_t key, size_t at)
{
	uint64_t word = pattern(key, at / 8);

	return ((unsigned char *)&word)[at % 8];
}

static void
guard_fill(const struct memory *m, size_t from, size_t to)
{
	for (; from < to && from % 8; from++)
		m->out.memory[from] = (char)pattern_byte(m->guard, from);
	for (; from + 8 <= to; from += 8)
		memcpy(m->out.memory + from, &(uint64_t){ pattern(m->guard, from / 8) }, 8);
	for (; from < to; from++)
		m->out.memory[from] = (char)pattern_byte(m->guard, from);
}

/* Offset of the first changed byte in the range, or TO. */
static size_t
guard_check(const struct memory *m, size_t from, size_t to)
{
	const char *p = m->out.memory;

	while (from < to) {
		uint64_t word;

		if (from % 8 == 0 && from + 8 <= to) {
			memcpy(&word, p + from, 8);
			if (word == pattern(m->guard, from / 8)) {
				from += 8;
				continue;
			}
		}
		if ((unsigned char)p[from] != pattern_byte(m->guard, from))
			return from;
		from++;
	}
	return to;
}

/* Choose addresses for one call, its slots beginning at IN and OUT. */
static void
place(const struct ktask *t, const struct ktask_workload *w, struct place *p, size_t in, size_t out)
{
	uint64_t random = secret();
	size_t *at;

	*p = (struct place){ .in_slot = in, .out_slot = out };
	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];
		size_t jitter = pattern(random, i) % JITTER;

		if (x->scalar)
			continue;
		at = x->output ? &out : &in;
		p->tensor[i] = *at + jitter * PAGE + BAND + i * STAGGER;
		*at += extent(bytes_of(t, w, x));
	}
	p->in_end = in + PAGE;
	p->out_end = out + PAGE;
}

static void
place_all(struct judge *j, struct memory *m, const struct batch *b)
{
	size_t in, out, table = memory_table(j->task, b->count), slots, first;

	memory_slot(j->task, b->w, &in, &out);
	slots = (m->in.bytes - table) / in < m->out.bytes / out ? (m->in.bytes - table) / in : m->out.bytes / out;
	if (slots < b->count)
		kdie(K_IO, "internal: %zu calls do not fit into %zu slots", b->count, slots);
	first = secret() % slots;
	m->places = krealloc(m->places, b->count * sizeof *m->places);
	m->count = b->count;
	for (size_t k = 0; k < b->count; k++) {
		size_t slot = (first + k) % slots;

		place(j->task, b->w, &m->places[k], table + slot * in, slot * out);
	}
}

/* Everything of a call's slots: tensors, and what lies between them. */
static void
fill(const struct judge *j, const struct memory *m, const struct batch *b, size_t k)
{
	const struct ktask *t = j->task;
	const struct place *p = &m->places[k];
	size_t in = p->in_slot, out = p->out_slot;

	for (size_t i = 0; i < t->tensor_count; i++) {
		const struct ktask_tensor *x = &t->tensors[i];
		size_t bytes = x->scalar ? 0 : bytes_of(t, b->w, x), at = p->tensor[i];

		if (x->scalar)
			continue;
		if (is_input_only(x)) {
			memset(m->in.memory + in, 0xff, at - in);
			memcpy(m->in.memory + at, b->calls[k].raw[i], bytes);
			in = at + bytes;
			continue;
		}
		guard_fill(m, out, at);
		if (x->input)
			memcpy(m->out.memory + at, b->calls[k].raw[i], bytes);
		else
			for (size_t n = 0; n < bytes; n += 8)
				memcpy(m->out.memory + at + n, &m->poison, bytes - n < 8 ? bytes - n : 8);
		out = at + bytes;
	}
	memset(m->in.memory + in, 0xff, p->in_end - in);
	guard_fill(m, out, p->out_end);
}

/* A call's row of the argument table. */
static void
fill_row(const struct judge *j, const struct memory *m, const struct batch *b, size_t k)
{
	const struct ktask *t = j->task;
	uint64_t *row = (uint64_t *)(void *)m->in.memory + k * t->arg_count;

	for (size_t i = 0; i < t->arg_count; i++) {
		const struct ktask_arg *a = &t->args[i];
		const struct ktask_tensor *x = a->kind == KARG_TENSOR ? &t->tensors[a->index] : NULL;
		double value = x ? x->value : (double)b->w->axis[a->index];

		row[i] = 0;
		if (x && !x->scalar)
			row[i] = m->places[k].tensor[a->index];
		else
			values_narrow(a->dtype, &value, 1, &row[i]);
	}
}

void
memory_load(struct judge *j, struct memory *m, const struct batch *b)
{
	uint64_t random = secret() & 0xffff;

	m->guard = secret();
	/* The same 16 bits over and over fill elements of every size alike; all ones are a NaN. */
	m->odd = !m->odd;
	m->poison = (m->odd ? 0xffff : random) * 0x0001000100010001u;
	place_all(j, m, b);
	for (size_t k = 0; k < b->count; k++) {
		fill(j, m, b, k);
		fill_row(j, m, b, k);
	}
}

void
memory_describe(const struct judge *j, const struct memory *m, const struct batch *b, bool input, size_t offset,
    char *text, size_t text_len)
{
	const struct ktask *t = j->task;
	size_t best = SIZE_MAX;

	snprintf(text, text_len, "unused memory");
	for (size_t k = 0; k < m->count; k++)
		for (size_t i = 0; i < t->tensor_count; i++) {
			const struct ktask_tensor *x = &t->tensors[i];
			size_t at = m->places[k].tensor[i], bytes = x->scalar ? 0 : bytes_of(t, b->w, x), away;

			if (x->scalar || is_input_only(x) != input)
				continue;
			away = offset < at ? at - offset : offset < at + bytes ? 0 : offset - (at + bytes) + 1;
			if (away >= best)
				continue;
			best = away;
			if (!away)
				snprintf(text, text_len, "byte %zu of %s", offset - at, x->name);
			else
				snprintf(text, text_len, "%zu byte%s %s %s", away, away > 1 ? "s" : "", offset < at ?
				    "before" : "past the end of",
				    x->name);
		}
}

bool
memory_intact(const struct judge *j, const struct memory *m, const struct batch *b, char *where, size_t where_len)
{
	const struct ktask *t = j->task;

	for (size_t k = 0; k < m->count; k++) {
		size_t from = m->places[k].out_slot, to, bad;

		for (size_t i = 0; i <= t->tensor_count; i++) {
			bool end = i == t->tensor_count;

			if (!end && !t->tensors[i].output)
				continue;
			to = end ? m->places[k].out_end : m->places[k].tensor[i];
			bad = guard_check(m, from, to);
			if (bad < to) {
				memory_describe(j, m, b, false, bad, where, where_len);
				return false;
			}
			from = end ? to : to + bytes_of(t, b->w, &t->tensors[i]);
		}
	}
	return true;
}

void
memory_check(const struct judge *j, const struct memory *m, const struct batch *b, size_t call, struct verdict *v)
{
	for (size_t i = 0; i < j->task->tensor_count; i++)
		if (j->task->tensors[i].output)
			compare_tensor(j, b, &b->calls[call], i, m->out.memory + m->places[call].tensor[i], &m->poison,
			    v);
}
