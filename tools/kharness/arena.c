/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the memory that judge and runner share: where tensors are, what surrounds them, and
 * whether that is still intact after a call.
 */
#include <sys/random.h>

#include "kharness.h"

enum {
	SMALL_BYTES = 1 << 20, /* tensors of a small workload */
	BAND = PAGE,           /* at least this much on both sides of a tensor */
	/* a tensor begins up to this many pages later, new for every call */
	JITTER = 16,
	STAGGER = 256,
	FAR_BYTES = 1 << 20, /* how much of the rest of an arena one partial check covers */
	FAR_FEW = 8 << 20,   /* if the rest is not more than this, every check covers all of it */
	/*
	 * What a call has used is filled with the pattern again, which takes long for large calls.
	 * A large call therefore stays in its slot for this many loads on average, and only moves
	 * by pages.
	 */
	LARGE_BYTES = 8 << 20,
	STAYS = 4
};

/*
 * Tensor I begins at I times this offset within its page: equal addresses modulo 4096 would alias.
 */
static size_t stagger = STAGGER;
/* The device requires an alignment, whatever a task says. */
static bool is_aligned;

/* Room for one tensor and what surrounds it. */
static size_t
extent(size_t bytes)
{
	return JITTER * PAGE + BAND + round_up(KTASK_TENSORS * stagger + bytes + BAND, PAGE);
}

static bool
is_input_only(const struct ktask_tensor *x)
{
	return !x->scalar && !x->output;
}

size_t
tensor_bytes(const struct ktask_workload *w, const struct ktask_tensor *x)
{
	return tensor_elements(w, x) * kdtype_size(x->dtype);
}

void
memory_align(size_t bytes)
{
	stagger = bytes > STAGGER ? bytes : STAGGER;
	is_aligned = true;
}

void
memory_slot(const struct ktask_workload *w, size_t *in, size_t *out)
{
	*in = *out = PAGE;
	tensors_each(x) {
		if (!x->scalar)
			*(x->output ? out : in) += extent(tensor_bytes(w, x));
	}
}

void
memory_largest(bool timed, size_t *in, size_t *out)
{
	*in = *out = 0;
	workloads_each(w) {
		size_t a, b;

		if (!ktask_in_set(w, judge.o.set) || (timed && !w->timed))
			continue;
		memory_slot(w, &a, &b);
		*in = a > *in ? a : *in;
		*out = b > *out ? b : *out;
	}
}

/* A secret word; a candidate that could predict it could repair the guard bands. */
static uint64_t
secret(void)
{
	uint64_t v;

	if (getrandom(&v, sizeof v, 0) != sizeof v)
		kdie_errno(K_MISSING, "getrandom");
	return v;
}

bool
workload_is_small(const struct ktask_workload *w)
{
	size_t in, out;

	/* Slots include the bands, so this is a little less than stated. */
	memory_slot(w, &in, &out);
	return in + out < SMALL_BYTES + 100000 * judge.task->tensor_count;
}

void
memory_open(struct memory *m, size_t in_bytes, size_t out_bytes, size_t calls)
{
	*m = (struct memory){ 0 };
	judge.space->arena_open(&m->in, round_up(in_bytes, PAGE), true);
	judge.space->arena_open(&m->out, round_up(out_bytes, PAGE), false);
	m->rows = kcalloc(calls * row_words(), sizeof *m->rows);
	m->calls = calls;
	m->far = secret();
	judge.space->guard(m->out.memory, m->far, 0, m->out.bytes);
}

void
memory_close(struct memory *m)
{
	judge.space->arena_close(&m->in);
	judge.space->arena_close(&m->out);
	free(m->rows);
	free(m->places);
	free(m->used);
	m->places = NULL;
	m->used = NULL;
}

/* Choose addresses for one call, whose slots begin at IN and OUT. */
static void
place(const struct ktask_workload *w, struct place *p, size_t in, size_t out)
{
	uint64_t random = secret();
	size_t *at;

	*p = (struct place){ .in_slot = in, .out_slot = out };
	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t jitter = space_pattern(random, i) % JITTER;

		if (x->scalar)
			continue;
		at = x->output ? &out : &in;
		/* Aligned exactly as the task says, and no better. */
		p->tensor[i] =
		    *at + jitter * PAGE + BAND + i * stagger + (is_aligned ? 0 : x->align);
		*at += extent(tensor_bytes(w, x));
	}
	p->in_end = in + PAGE;
	p->out_end = out + PAGE;
}

static int
by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* The slots of the calls, with adjacent ones merged. */
static void
find_used(struct memory *m)
{
	size_t n = 0;

	m->used = kcalloc(m->count + 1, sizeof *m->used);
	for (size_t k = 0; k < m->count; k++)
		m->used[k] = (struct range){ m->places[k].out_slot, m->places[k].out_end };
	qsort(m->used, m->count, sizeof *m->used, by_begin);
	kforeach_of(one, m->used, m->count)
		if (n && one->from <= m->used[n - 1].to)
			m->used[n - 1].to = one->to;
		else
			m->used[n++] = *one;
	m->used_count = n;
}

/*
 * New places have been chosen. Slots of earlier calls are filled with the pattern of the rest
 * again; the slots that these calls will use must still have it, which is checked now, before the
 * calls overwrite it.
 */
static void
change_places(struct memory *m)
{
	auto_free struct range *old = m->used;
	size_t old_count = m->used_count;

	find_used(m);
	if (old_count != m->used_count || memcmp(old, m->used, old_count * sizeof *old)) {
		kforeach_of(one, old, old_count)
			judge.space->guard(m->out.memory, m->far, one->from, one->to);
		m->strayed |= judge.space->guard_check(
		                  m->out.memory, m->far, m->used, m->used_count) < SIZE_MAX;
	}
}

/*
 * COUNT of the slots, in an unpredictable order, because a candidate could prefetch what the next
 * call reads. LARGE slots are those from FIRST on: the next round then often has the same, and what
 * is between tensors need not be written again. The caller frees.
 */
static size_t *
choose_slots(size_t slots, size_t count, size_t first, bool large)
{
	size_t *slot = kcalloc(slots, sizeof *slot), pool = large ? count : slots;
	uint64_t random = secret();

	for (size_t i = 0; i < slots; i++)
		slot[i] = (first + i) % slots;
	for (size_t i = 0; i < count; i++) {
		size_t k = i + space_pattern(random, i) % (pool - i), chosen = slot[k];

		slot[k] = slot[i];
		slot[i] = chosen;
	}
	return slot;
}

static void
place_all(struct memory *m, const struct batch *b)
{
	size_t in, out, slots, first, *slot;

	memory_slot(b->w, &in, &out);
	slots = m->in.bytes / in < m->out.bytes / out ? m->in.bytes / in : m->out.bytes / out;
	if (slots < b->count || m->calls < b->count)
		kdie(K_IO, "bug in kiln: %zu calls do not fit into %zu slots", b->count, slots);
	first = in + out < LARGE_BYTES || m->first >= slots || secret() % STAYS == 0
	    ? secret() % slots
	    : m->first;
	m->first = first;
	m->places = krealloc(m->places, b->count * sizeof *m->places);
	m->count = b->count;
	slot = choose_slots(slots, b->count, first, in + out >= LARGE_BYTES);
	for (size_t k = 0; k < b->count; k++)
		place(b->w, &m->places[k], slot[k] * in, slot[k] * out);
	free(slot);
}

/*
 * Fill all of a call's slots: tensors, and what is between them. AGAIN: without the inputs, which
 * are there already.
 */
static void
fill(const struct memory *m, const struct batch *b, size_t k, bool again)
{
	const struct place *p = &m->places[k];
	const struct space *sp = judge.space;
	size_t in = p->in_slot, out = p->out_slot;

	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t bytes = x->scalar ? 0 : tensor_bytes(b->w, x), at = p->tensor[i];

		if (x->scalar)
			continue;
		if (p->elsewhere & 1u << i) {
			if (!again)
				sp->copy(m->in.memory + at, b->calls[k].raw[i], bytes);
			continue;
		}
		if (is_input_only(x)) {
			if (again)
				continue;
			sp->set(m->in.memory + in, 0xff, at - in);
			sp->copy(m->in.memory + at, b->calls[k].raw[i], bytes);
			in = at + bytes;
			continue;
		}
		sp->guard(m->out.memory, m->guard, out, at);
		if (x->input)
			sp->copy(m->out.memory + at, b->calls[k].raw[i], bytes);
		else
			sp->words(m->out.memory + at, m->poison, bytes);
		out = at + bytes;
	}
	if (!again)
		sp->set(m->in.memory + in, 0xff, p->in_end - in);
	sp->guard(m->out.memory, m->guard, out, p->out_end);
}

bool
argument_is_array(const struct ktask_workload *w, const struct ktask_arg *a, double *value)
{
	const struct ktask_tensor *x =
	    a->kind == KARG_TENSOR ? &judge.task->tensors[a->index] : NULL;

	if (x && !x->scalar)
		return true;
	*value = x ? ktask_scalar(w, x) : (double)w->axis[a->index];
	return false;
}

/* The arguments in a call's row. */
static void
fill_row(const struct memory *m, const struct batch *b, size_t k)
{
	uint64_t *row = m->rows + k * row_words();

	for (size_t i = 0; i < judge.task->arg_count; i++) {
		const struct ktask_arg *a = &judge.task->args[i];
		double value;

		row[i] = 0;
		if (argument_is_array(b->w, a, &value))
			row[i] = m->places[k].tensor[a->index];
		else
			values_narrow(a->dtype, &value, 1, &row[i]);
	}
}

static void
new_secrets(struct memory *m)
{
	uint64_t random = secret() & 0xffff;

	m->guard = secret();
	/* The same 16 bits repeated fill elements of every size equally; all ones are a NaN. */
	m->odd = !m->odd;
	m->poison = (m->odd ? 0xffff : random) * 0x0001000100010001u;
}

static void
fill_all(struct memory *m, const struct batch *b, bool again)
{
	for (size_t k = 0; k < b->count; k++) {
		fill(m, b, k, again);
		fill_row(m, b, k);
	}
	/* All of it must be visible before the other process begins. */
	judge.space->fence();
}

void
memory_load(struct memory *m, const struct batch *b)
{
	new_secrets(m);
	place_all(m, b);
	change_places(m);
	fill_all(m, b, false);
}

bool
memory_untouched(const struct memory *m, const struct batch *b, size_t from, size_t to)
{
	auto_free struct pair *pairs =
	    kcalloc(b->count * judge.task->tensor_count + 1, sizeof *pairs);
	size_t n = 0, most = 1;
	char *poison;
	bool same;

	tensors_each(one)
		if (one->output && tensor_bytes(b->w, one) > most)
			most = tensor_bytes(b->w, one);
	poison = judge.space->alloc(most);
	judge.space->words(poison, m->poison, most);
	for (size_t k = from; k < to; k++)
		tensors_each(x) {
			size_t i = tensor_number(x);

			if (x->output)
				pairs[n++] = (struct pair){ m->out.memory + m->places[k].tensor[i],
					x->input ? b->calls[k].raw[i] : poison,
					tensor_bytes(b->w, x) };
		}
	same = !judge.space->differs(pairs, n);
	judge.space->release(poison);
	return same;
}

bool
memory_change(struct memory *m, const struct batch *b, size_t from)
{
	if (!memory_untouched(m, b, from, b->count))
		return false;
	for (size_t k = from; k < b->count; k++) {
		batch_redraw(b, k);
		fill(m, b, k, false);
	}
	judge.space->fence();
	return true;
}

void
memory_load_at(struct memory *m, const struct batch *b, const struct place *where)
{
	new_secrets(m);
	m->places = krealloc(m->places, sizeof *m->places);
	m->count = 1;
	*m->places = *where;
	/* The caller may choose any slot, so all of the outputs' memory counts as used. */
	m->used = krealloc(m->used, sizeof *m->used);
	*m->used = (struct range){ 0, m->out.bytes };
	m->used_count = 1;
	fill_all(m, b, false);
}

void
memory_load_beside(
    struct memory *m, const struct batch *b, size_t slot, const struct place *kept, uint32_t which)
{
	struct place where;
	size_t in, out;

	memory_slot(b->w, &in, &out);
	if (b->count != 1 || (slot + 1) * in > m->in.bytes || (slot + 1) * out > m->out.bytes)
		kdie(K_IO, "bug in kiln: slot %zu is beyond the arenas", slot);
	place(b->w, &where, slot * in, slot * out);
	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (which & 1u << i)
			where.tensor[i] = kept->tensor[i];
	where.elsewhere = which;
	memory_load_at(m, b, &where);
}

void
memory_reload(struct memory *m, const struct batch *b)
{
	new_secrets(m);
	fill_all(m, b, true);
}

void
memory_flush(const struct memory *m, const struct batch *b)
{
	for (size_t k = 0; judge.space->evict && k < m->count; k++)
		tensors_each(x) {
			size_t i = tensor_number(x);
			const struct place *p = &m->places[k];
			const char *arena = x->output ? m->out.memory : m->in.memory;

			if (!x->scalar && !(p->elsewhere & 1u << i))
				judge.space->evict(arena + p->tensor[i], tensor_bytes(b->w, x));
		}
	if (!judge.space->evict)
		judge.space->flush();
}

char *
memory_outputs(const struct memory *m)
{
	char *copy = judge.space->alloc(m->out.bytes);

	kforeach_of(one, m->used, m->used_count)
		judge.space->copy(copy + one->from, m->out.memory + one->from, one->to - one->from);
	return copy;
}

const char *
memory_describe(const struct memory *m, const struct batch *b, bool input, size_t offset,
    char *text, size_t text_len)
{
	const char *in = NULL;
	size_t best = SIZE_MAX;

	snprintf(text, text_len, "unused memory");
	kforeach_of(place, m->places, m->count)
		tensors_each(x) {
			size_t i = tensor_number(x);
			size_t at = place->tensor[i], bytes = x->scalar ? 0 : tensor_bytes(b->w, x),
			       away;

			if (x->scalar || is_input_only(x) != input)
				continue;
			away = offset < at        ? at - offset
			    : offset < at + bytes ? 0
			                          : offset - (at + bytes) + 1;
			if (away >= best)
				continue;
			best = away;
			in = away ? NULL : x->name;
			if (!away)
				snprintf(text, text_len, "byte %zu of %s", offset - at, x->name);
			else
				snprintf(text, text_len, "%zu byte%s %s %s", away,
				    away > 1 ? "s" : "", offset < at ? "before" : "past the end of",
				    x->name);
		}
	return in;
}

/*
 * If pages are not certain to be read-only, compare inputs with what they were; returns one that
 * has changed, or NULL.
 */
static const struct ktask_tensor *
changed_input(const struct memory *m, const struct batch *b)
{
	const struct ktask *t = judge.task;
	auto_free struct pair *pairs = kcalloc(m->count * t->tensor_count + 1, sizeof *pairs);
	auto_free size_t *tensor = kcalloc(m->count * t->tensor_count + 1, sizeof *tensor);
	size_t n = 0, which = 0;

	for (size_t k = 0; k < m->count; k++)
		for (size_t i = 0; i < t->tensor_count; i++)
			if (is_input_only(&t->tensors[i])) {
				tensor[n] = i;
				pairs[n++] = (struct pair){ m->in.memory + m->places[k].tensor[i],
					b->calls[k].raw[i], tensor_bytes(b->w, &t->tensors[i]) };
			}
	if (!judge.space->differs(pairs, n))
		return NULL;
	/* If it has been put right in the meantime, it was some input all the same. */
	while (which + 1 < n && !judge.space->differs(&pairs[which], 1))
		which++;
	return &t->tensors[tensor[which]];
}

/* The bands of all calls; returns the first byte that has changed, or SIZE_MAX. */
static size_t
near_changed(const struct memory *m, const struct batch *b)
{
	const struct ktask *t = judge.task;
	auto_free struct range *bands = kcalloc(m->count * (t->tensor_count + 1), sizeof *bands);
	size_t n = 0;

	kforeach_of(place, m->places, m->count) {
		size_t from = place->out_slot;

		for (size_t i = 0; i < t->tensor_count; i++) {
			size_t at = place->tensor[i];

			if (!t->tensors[i].output)
				continue;
			bands[n++] = (struct range){ from, at };
			from = at + tensor_bytes(b->w, &t->tensors[i]);
		}
		bands[n++] = (struct range){ from, place->out_end };
	}
	return judge.space->guard_check(m->out.memory, m->guard, bands, n);
}

/* The rest of the arena from FROM to TO; returns the first byte that has changed, or SIZE_MAX. */
static size_t
far_changed(const struct memory *m, size_t from, size_t to)
{
	auto_free struct range *rest = kcalloc(m->used_count + 1, sizeof *rest);
	size_t n = 0;

	for (size_t i = 0; i <= m->used_count && from < to; i++) {
		size_t end = i < m->used_count && m->used[i].from < to ? m->used[i].from : to;

		if (from < end)
			rest[n++] = (struct range){ from, end };
		if (i < m->used_count && m->used[i].to > from)
			from = m->used[i].to;
	}
	return judge.space->guard_check(m->out.memory, m->far, rest, n);
}

/* The part of the rest whose turn it is. */
static size_t
part_changed(struct memory *m)
{
	size_t from = m->far_next < m->out.bytes ? m->far_next : 0, to;

	kforeach_of(one, m->used, m->used_count)
		if (one->from <= from && from < one->to)
			from = one->to;
	to = m->out.bytes - from < FAR_BYTES ? m->out.bytes : from + FAR_BYTES;
	m->far_next = to;
	return far_changed(m, from, to);
}

static size_t
unused(const struct memory *m)
{
	size_t bytes = m->out.bytes;

	kforeach_of(one, m->used, m->used_count)
		bytes -= one->to - one->from;
	return bytes;
}

bool
memory_intact(struct memory *m, const struct batch *b, bool all, char *where, size_t where_len)
{
	const struct ktask_tensor *input = judge.device ? changed_input(m, b) : NULL;
	size_t bad;

	if (input) {
		snprintf(where, where_len, "to %s, which is an input", input->name);
		return false;
	}
	bad = near_changed(m, b);
	if (bad == SIZE_MAX)
		bad =
		    all || unused(m) <= FAR_FEW ? far_changed(m, 0, m->out.bytes) : part_changed(m);
	if (bad < SIZE_MAX && m->count)
		memory_describe(m, b, false, bad, where, where_len);
	else
		snprintf(where, where_len, "in an earlier call to memory far from its outputs");
	return bad == SIZE_MAX && !m->strayed;
}

void
memory_check(const struct memory *m, const char *outputs, const struct batch *b, size_t call,
    struct verdict *v)
{
	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (judge.task->tensors[i].output)
			compare_tensor(b, &b->calls[call], i, outputs + m->places[call].tensor[i],
			    m->poison, v);
}
