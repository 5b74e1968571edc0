/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: freshly drawn inputs of one or more calls, and their expected results, which never
 * leave this process.
 */
#include <float.h>

#include "kharness.h"

/* Outputs with fewer elements than this get a scale of their own, see below. */
enum { FEW = 64, PERTURBATIONS = 4 };
/* A change of the inputs that is small, but large next to the errors of an oracle in doubles. */
static const double small_eps = 0x1p-36;
/*
 * To see the oracle's rounding errors, all inputs change by the same few units of its eps: after a
 * change by one unit, the difference of two large numbers often has the same error as before.
 */
enum { SPREAD = 16 };
/*
 * For the distributions: average number of terms of a sum of sparse inputs; length of a row of
 * special values in a vector; in mixed inputs, at most one element in this many is from another
 * distribution; and at most this many whole numbers are of any size.
 */
enum { TERMS = 2, SHORT_ROW = 64, RARE = 64, FAR_MOST = 256 };
/*
 * Large numbers below zero are at least this far from it. In mixed inputs one row in this many is
 * below zero; of the rows that are, and large, one in this many has numbers close to each other.
 */
enum { FAR_BELOW = 100, BELOW_EVERY = 8, CLOSE_EVERY = 8, CLOSE_TO = -9000 };
/* About how many elements of an input change if most are kept. */
enum { FEW_DRAWN = 4 };

static size_t
wide_size(enum kdtype t)
{
	return kdtype_is_float(t) ? sizeof(double) : kdtype_size(t);
}

/* Tensors as the oracle expects them; pure outputs are left empty. The caller frees each. */
static void
widen(const struct ktask_workload *w, const struct call *c, void **values)
{
	const struct space *sp = judge.space;

	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t n = tensor_elements(w, x);

		values[i] = NULL;
		if (x->scalar)
			continue;
		values[i] = sp->alloc(n * wide_size(x->dtype));
		if (x->input && kdtype_is_float(x->dtype))
			sp->widen(x->dtype, c->raw[i], n, values[i]);
		else if (x->input)
			sp->copy(values[i], c->raw[i], n * kdtype_size(x->dtype));
	}
}

/*
 * Multiplies each floating-point input by about 1 +- EPS; ALIKE: all elements of an input by the
 * same factor, so that equal ones stay equal. Recordings that may not vary are left alone.
 */
static void
perturb(const struct ktask_workload *w, double eps, bool alike, struct krng *rng, void **values)
{
	tensors_each(x) {
		size_t i = tensor_number(x);
		bool fresh;

		if (!x->scalar && x->input && kdtype_is_float(x->dtype) &&
		    (!ktask_recorded(w, x, &fresh) || fresh))
			judge.space->perturb(values[i], tensor_elements(w, x), eps, alike, rng);
	}
}

/*
 * Adds the squares of how far N elements moved from BEFORE in one of RUNS, in units of EPS.
 * OPPOSITE (NULL: none) is the result of the opposite change: the effects of the two changes
 * cancel, and three rounding errors are left (that of BEFORE counts twice).
 */
static void
add_moves(const struct space *sp, const double *before, const void *now, const void *opposite,
    size_t n, double eps, int runs, double *squares)
{
	auto_free double *after = kmalloc(n * sizeof *after), *other = kmalloc(n * sizeof *other);

	sp->fetch(after, now, n * sizeof *after);
	if (opposite)
		sp->fetch(other, opposite, n * sizeof *other);
	for (size_t k = 0; k < n; k++) {
		double d = after[k] - before[k];

		d = (opposite ? (d + (other[k] - before[k])) / sqrt(3) : d) / eps;
		squares[k] += isfinite(d) ? d * d / runs : 0;
	}
}

/* What the oracle makes of inputs that are perturbed; the caller releases each of VALUES. */
static void
call_perturbed(const struct ktask_workload *w, const struct call *c, double eps, bool alike,
    struct krng *rng, void **values)
{
	widen(w, c, values);
	perturb(w, eps, alike, rng, values);
	oracle_call(judge.oracle, w, values);
}

/*
 * How far the results move, in units of EPS, when the inputs do: the mean square over RUNS. ALIKE:
 * all elements of an input move together, up and then down, which shows only rounding errors; each
 * run then calls the oracle twice. SQUARES has a list of zeros for each output of interest, and
 * NULL for the other tensors.
 */
static void
moves(const struct ktask_workload *w, const struct call *c, double eps, bool alike, int runs,
    struct krng *rng, double *const *squares)
{
	size_t count = judge.task->tensor_count;
	double *before[KTASK_TENSORS] = { 0 }, change = alike ? SPREAD * eps : eps;

	for (size_t i = 0; i < count; i++) {
		size_t n = squares[i] ? tensor_elements(w, &judge.task->tensors[i]) : 0;

		before[i] = kmalloc(n * sizeof **before);
		if (n)
			judge.space->fetch(before[i], c->expected[i], n * sizeof **before);
	}
	for (int p = 0; p < runs; p++) {
		void *values[KTASK_TENSORS], *opposite[KTASK_TENSORS] = { 0 };
		struct krng same = *rng;

		call_perturbed(w, c, change, alike, rng, values);
		if (alike)
			call_perturbed(w, c, -change, alike, &same, opposite);
		for (size_t i = 0; i < count; i++) {
			if (squares[i])
				add_moves(judge.space, before[i], values[i], opposite[i],
				    tensor_elements(w, &judge.task->tensors[i]), eps, runs,
				    squares[i]);
			judge.space->release(values[i]);
			judge.space->release(opposite[i]);
		}
	}
	kforeach_of(one, before, count)
		free(*one);
}

/*
 * Relative error of an operation of the oracle. It works with doubles unless output I says
 * otherwise; then its inputs may also be rounded to their types.
 */
static double
oracle_eps(const struct ktask_workload *w, const struct call *c, size_t i)
{
	const struct ktask_tensor *x = &judge.task->tensors[i];
	size_t n = tensor_elements(w, x);
	double eps;

	if (judge.space->is_exact(x->dtype, c->expected[i], n))
		eps = kdtype_eps(x->dtype);
	else if (judge.space->is_exact(KDTYPE_F32, c->expected[i], n))
		eps = FLT_EPSILON;
	else
		return DBL_EPSILON;
	for (size_t k = 0; eps > DBL_EPSILON && k < judge.task->tensor_count; k++) {
		const struct ktask_tensor *in = &judge.task->tensors[k];

		if (in->input && !in->scalar && kdtype_is_float(in->dtype))
			eps = fmax(eps, kdtype_eps(in->dtype));
	}
	return eps;
}

/*
 * The change of the inputs that shows the condition of an output of this type: that of an operation
 * in its sums, but large next to the errors of the oracle.
 */
static double
change_of(enum kdtype type, double oracle)
{
	return fmax(type == KDTYPE_F64 ? small_eps : FLT_EPSILON, oracle);
}

/*
 * The scale of a small output, in units of eps: root mean square over its elements and a few runs.
 * The size of the result itself is no measure there, because a single sum may happen to cancel.
 */
static void
small_scale(const struct ktask_workload *w, struct call *c, size_t i, struct krng *rng)
{
	const struct ktask_tensor *x = &judge.task->tensors[i];
	size_t n = tensor_elements(w, x);
	double eps = change_of(x->dtype, oracle_eps(w, c, i));
	double squares[FEW] = { 0 }, *lists[KTASK_TENSORS] = { [0] = NULL }, sum = 0;

	lists[i] = squares;
	moves(w, c, eps, false, PERTURBATIONS, rng, lists);
	kforeach_of(square, squares, n)
		sum += *square / (double)n;
	c->scale[i] = sqrt(sum);
}

static void
small_scales(const struct ktask_workload *w, struct call *c, struct krng *rng)
{
	tensors_each(x) {
		size_t i = tensor_number(x);

		if (x->output && kdtype_is_float(x->dtype) && tensor_elements(w, x) < FEW)
			small_scale(w, c, i, rng);
	}
}

double *
batch_slack(const struct batch *b, const struct call *c, size_t tensor, double per_condition,
    double per_error, int runs)
{
	const struct ktask_tensor *x = &judge.task->tensors[tensor];
	size_t n = tensor_elements(b->w, x);
	double *condition[KTASK_TENSORS] = { 0 }, *error[KTASK_TENSORS] = { 0 }, *slack;
	double eps = oracle_eps(b->w, c, tensor);
	bool precise = eps <= DBL_EPSILON;
	struct krng rng;

	krng_init(&rng, judge.o.seed, (long)b->seed, c - b->calls, "slack");
	condition[tensor] = kcalloc(n, sizeof *slack);
	error[tensor] = kcalloc(n, sizeof *slack);
	if (precise)
		moves(b->w, c, change_of(x->dtype, eps), false, runs, &rng, condition);
	moves(b->w, c, eps, precise, precise ? runs / 2 : runs, &rng, error);
	for (size_t k = 0; k < n; k++)
		error[tensor][k] = fmax(
		    per_condition * sqrt(condition[tensor][k]), per_error * sqrt(error[tensor][k]));
	slack = judge.space->alloc(n * sizeof *slack);
	judge.space->store(slack, error[tensor], n * sizeof *slack);
	free(condition[tensor]);
	free(error[tensor]);
	return slack;
}

static void
expect(const struct ktask_workload *w, struct call *c, struct krng *rng)
{
	void *values[KTASK_TENSORS];
	auto_spent(SPENT_ORACLE);

	widen(w, c, values);
	oracle_call(judge.oracle, w, values);
	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (judge.task->tensors[i].output)
			c->expected[i] = values[i];
		else
			judge.space->release(values[i]);
	small_scales(w, c, rng);
}

/* Contents that the workload fixes. */
static void
store_fixed(const struct ktask_tensor *x, const json_t *list, void *to)
{
	size_t n = json_array_size(list), size = kdtype_size(x->dtype);
	char *bytes = kmalloc(n * size);

	for (size_t i = 0; i < n; i++) {
		double v = (double)json_integer_value(json_array_get(list, i));

		values_narrow(x->dtype, &v, 1, bytes + i * size);
	}
	judge.space->store(to, bytes, n * size);
	free(bytes);
}

/*
 * Sums of SPARSE inputs have few terms, whatever their length, because most elements of one input,
 * chosen anew for every call, are zero. Returns the index of that input, or none.
 */
static size_t
choose_sparse(const struct ktask_workload *w, struct krng *rng)
{
	size_t chosen = judge.task->tensor_count, seen = 0;

	for (size_t i = 0; i < judge.task->tensor_count; i++)
		if (batch_may_be_sparse(w, &judge.task->tensors[i]) && krng_below(rng, ++seen) == 0)
			chosen = i;
	return chosen;
}

/* Whether an input's contents follow the task's distributions. */
static bool
is_drawn(const struct ktask_workload *w, const struct ktask_tensor *x)
{
	return !(w && json_object_get(w->values, x->name)) && x->input && !x->scalar &&
	    x->distribution == KDIST_COUNT;
}

bool
batch_may_be_sparse(const struct ktask_workload *w, const struct ktask_tensor *x)
{
	return is_drawn(w, x) && kdtype_is_float(x->dtype);
}

/* Only one element of input I in this many is not zero, so that a sum has two terms on average. */
static size_t
sparsity(const struct ktask_workload *w, size_t i)
{
	int64_t length = ktask_value(judge.task, w, judge.task->reduction);
	size_t out = 0, shared;

	tensors_each(x)
		if (x->output)
			out += tensor_elements(w, x);
	/* A task may declare its sums shorter than they are. */
	shared = tensor_elements(w, &judge.task->tensors[i]) / out;
	return ((size_t)length > shared ? (size_t)length : shared) / TERMS;
}

/*
 * Subnormal numbers, NaN and infinities would change the speed of a call; zeros would change its
 * results.
 */
static bool
may_be_rare(enum kdist d)
{
	return d != KDIST_TINY && d != KDIST_SPECIAL && d != KDIST_SPARSE;
}

bool
batch_may_mix(void)
{
	const struct ktask *t = judge.task;
	bool others = false, drawn = false, real = false;

	for (size_t d = 1; d < t->distribution_count; d++)
		others |= may_be_rare(t->distributions[d]);
	tensors_each(x) {
		drawn |= is_drawn(NULL, x);
		real |= batch_may_be_sparse(NULL, x);
	}
	/*
	 * A linear task has no shortcut that a mixture would show, unless its numbers are whole,
	 * and honest sums in half precision would fail. Zeros and ones have exact sums only if
	 * there is nothing else among them.
	 */
	return others && drawn && !(t->linear && real) && t->distributions[0] != KDIST_ZERO_ONE;
}

bool
batch_may_be_below(enum kdist *d)
{
	*d = judge.task->distributions[0];
	kforeach_of(dist, judge.task->distributions, judge.task->distribution_count)
		*d = *dist == KDIST_LARGE ? KDIST_LARGE : *d;
	return batch_may_mix() &&
	    (*d == KDIST_LARGE || *d == KDIST_NORMAL || *d == KDIST_HEAVY_TAIL ||
	        *d == KDIST_ALTERNATING);
}

/*
 * Puts whole numbers of any size among the others, about one in EVERY; there is no tolerance that
 * they could spoil. A kernel that concludes from some numbers what the others are is then wrong.
 */
static void
mix_far(const struct ktask_tensor *x, size_t every, struct krng *rng, size_t n, char *to)
{
	size_t size = kdtype_size(x->dtype);

	every = every > n / FAR_MOST ? every : n / FAR_MOST;
	for (size_t at = krng_below(rng, every); at < n; at += 1 + krng_below(rng, 2 * every)) {
		uint64_t bits = krng_u64(rng) >> (x->dtype == KDTYPE_BOOL ? 63 : 0);

		judge.space->store(to + at * size, &bits, size);
	}
}

/*
 * A case of tier T2, and some timed calls, are drawn from a mixture: the task's first distribution,
 * plus about one element per sum from each of the others. A kernel that looks at some of its inputs
 * cannot tell from them what the rest are, or whether it is timed; and a kernel that is right only
 * for the first distribution is wrong in timed calls, too.
 */
static void
mix(const struct batch *b, const struct ktask_tensor *x, struct krng *rng, void *to)
{
	const struct ktask *t = judge.task;
	double length = fmax(RARE, (double)ktask_value(t, b->w, t->reduction));
	double row = (double)ktask_last_axis(t, b->w, x);
	struct recipe how = { .every = (size_t)fmax(length, row) };

	for (size_t d = 1; d < t->distribution_count; d++) {
		how.dist = t->distributions[d];
		if (may_be_rare(how.dist))
			judge.space->draw(x->dtype, how, rng, tensor_elements(b->w, x), to);
	}
	if (!kdtype_is_float(x->dtype) && batch_may_be_special(x))
		mix_far(x, how.every, rng, tensor_elements(b->w, x), to);
}

/* How an input is drawn. SPARSE: the index of the sparse input. */
static struct recipe
recipe_of(const struct batch *b, size_t i, size_t sparse)
{
	const struct ktask_tensor *x = &judge.task->tensors[i];
	enum kdist d = x->distribution < KDIST_COUNT ? x->distribution
	    : b->dist > KDIST_COUNT                  ? judge.task->distributions[0]
	                                             : b->dist;
	size_t row = ktask_last_axis(judge.task, b->w, x), period = 0;

	if (!kdtype_is_float(x->dtype) &&
	    (d == KDIST_SPARSE || (d == KDIST_SPECIAL && !batch_may_be_special(x))))
		d = KDIST_NORMAL;
	if (d == KDIST_SPECIAL)
		/* A vector may be a single row, or many results: it counts as both, in turns. */
		period =
		    x->rank > 1 || row < SHORT_ROW || (judge.specials + i) % 2 ? row : SHORT_ROW;
	if (d == KDIST_SPARSE && i == sparse)
		period = sparsity(b->w, i);
	return (struct recipe){ .dist = d, .period = period ?: 1 };
}

bool
batch_may_be_special(const struct ktask_tensor *x)
{
	return x->distribution == KDIST_SPECIAL ||
	    kany(kforeach_of(d, judge.task->distributions, judge.task->distribution_count),
	        *d == KDIST_SPECIAL);
}

/* As the recipe says. */
static void
draw_tensor(const struct ktask_tensor *x, struct recipe how, struct krng *rng, size_t n, void *to)
{
	size_t bytes = n * kdtype_size(x->dtype);
	char *whole;

	if (how.dist != KDIST_SPECIAL || kdtype_is_float(x->dtype)) {
		judge.space->draw(x->dtype, how, rng, n, to);
		return;
	}
	whole = kmalloc(bytes);
	values_draw_whole(x->dtype, how.period, rng, n, whole);
	judge.space->store(to, whole, bytes);
	free(whole);
}

/*
 * Makes a row negative and, if numbers are drawn from many powers of ten, also large. A row of such
 * numbers hardly occurs by chance. CLOSE: they are also large next to their differences.
 */
static void
put_row_below(double *v, size_t n, enum kdist d, bool close)
{
	for (size_t i = 0; i < n; i++) {
		v[i] = -fabs(v[i]);
		while (d == KDIST_LARGE && v[i] < 0 && v[i] > -FAR_BELOW)
			v[i] *= FAR_BELOW;
		if (close && v[i] < 0)
			v[i] = CLOSE_TO - log(-v[i]);
	}
}

/* All rows of an input, or some of those of mixed inputs. */
static void
put_below(const struct batch *b, const struct ktask_tensor *x, struct krng *rng, void *raw)
{
	size_t row = ktask_last_axis(judge.task, b->w, x), size = row * kdtype_size(x->dtype),
	       count = 0;
	size_t rows = tensor_elements(b->w, x) / row;
	auto_free char *own = kmalloc(rows * size);
	auto_free double *v = kmalloc(row * sizeof *v);
	enum kdist d;

	if (!batch_may_be_below(&d) || kdtype_min(x->dtype) >= 0)
		return;
	judge.space->fetch(own, raw, rows * size);
	for (char *p = own; p < own + rows * size; p += size) {
		if (b->dist == KDIST_MIXED && krng_below(rng, BELOW_EVERY))
			continue;
		values_widen(x->dtype, p, row, v);
		/* A tolerance that the task states does not excuse the errors of close ones. */
		put_row_below(v, row, d,
		    ++count % CLOSE_EVERY == 0 && d == KDIST_LARGE && judge.task->atol < 0);
		values_narrow(x->dtype, v, row, p);
	}
	judge.space->store(raw, own, rows * size);
}

static void
draw(const struct batch *b, struct call *c, struct krng *rng)
{
	size_t sparse = choose_sparse(b->w, rng);

	judge.specials += b->dist == KDIST_SPECIAL;
	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t n = tensor_elements(b->w, x);

		if (x->scalar || !x->input)
			continue;
		c->raw[i] = judge.space->alloc(n * kdtype_size(x->dtype));
		if (recorded_draw(b, x, rng, c->raw[i]))
			continue;
		if (json_object_get(b->w->values, x->name)) {
			store_fixed(x, json_object_get(b->w->values, x->name), c->raw[i]);
			continue;
		}
		draw_tensor(x, recipe_of(b, i, sparse), rng, n, c->raw[i]);
		if (b->dist == KDIST_MIXED && is_drawn(b->w, x))
			mix(b, x, rng, c->raw[i]);
		if ((b->w->below || b->dist == KDIST_MIXED) && is_drawn(b->w, x))
			put_below(b, x, rng, c->raw[i]);
	}
}

void
batch_draw(
    struct batch *b, const struct ktask_workload *w, enum kdist dist, size_t count, bool expected)
{
	struct krng rng = judge_stream(judge.draws, "inputs");
	auto_spent(SPENT_DRAWING);

	if (dist == KDIST_MIXED && !batch_may_mix())
		dist = judge.task->distributions[0];
	*b = (struct batch){ .w = w,
		.dist = dist,
		.count = count,
		.calls = kcalloc(count, sizeof *b->calls),
		.seed = judge.draws++ };
	kforeach_of(c, b->calls, count) {
		draw(b, c, &rng);
		if (expected && judge.oracle)
			expect(w, c, &rng);
	}
}

void
batch_draw_checked(struct batch *b, const struct ktask_workload *w, enum kdist dist, size_t count,
    size_t checked, size_t first)
{
	bool none = checked > 0;
	struct krng rng;

	batch_draw(b, w, dist, count, false);
	rng = judge_stream(judge.draws++, "checked");
	/*
	 * Each call has the same chance (selection sampling, Knuth, volume 2, 3.4.2, algorithm S).
	 */
	for (size_t i = 0; i < count && judge.oracle; i++)
		if (krng_below(&rng, count - i) < checked) {
			expect(w, &b->calls[i], &rng);
			checked--;
			none &= i >= first;
		}
	if (none && judge.oracle)
		expect(w, &b->calls[krng_below(&rng, first)], &rng);
}

void
batch_expect_call(const struct batch *b, size_t call)
{
	struct krng rng = judge_stream(judge.draws++, "expect");

	expect(b->w, &b->calls[call], &rng);
}

void
batch_expect(struct batch *b)
{
	for (size_t i = 0; i < b->count && judge.oracle; i++)
		batch_expect_call(b, i);
}

bool
call_is_checked(const struct call *c)
{
	return kany(kforeach_of(one, c->expected, judge.task->tensor_count), *one);
}

static void
forget_results(struct call *c)
{
	kforeach_of(one, c->expected, KTASK_TENSORS) {
		judge.space->release(*one);
		*one = NULL;
	}
}

static void
forget(struct call *c)
{
	forget_results(c);
	kforeach_of(one, c->raw, KTASK_TENSORS)
		judge.space->release(*one);
	*c = (struct call){ .raw = { NULL } };
}

/* Draws a few elements of each input anew, at least one. */
static void
draw_few(const struct batch *b, struct call *c, struct krng *rng)
{
	tensors_each(x) {
		size_t i = tensor_number(x);
		size_t n = tensor_elements(b->w, x);
		struct recipe how = recipe_of(b, i, judge.task->tensor_count);

		how.every = (n + FEW_DRAWN - 1) / FEW_DRAWN;
		if (is_drawn(b->w, x))
			draw_tensor(x, how, rng, n, c->raw[i]);
	}
}

/*
 * Half of the calls get all inputs anew, which changes every result. The others keep most elements:
 * a candidate that has solved a call early cannot tell by a few of them whether its results are
 * still right.
 */
void
batch_redraw(const struct batch *b, size_t call)
{
	struct call *c = &b->calls[call];
	bool known = call_is_checked(c);
	struct krng rng = judge_stream(judge.draws++, "inputs");

	if (krng_below(&rng, 2)) {
		forget_results(c);
		draw_few(b, c, &rng);
	} else {
		forget(c);
		draw(b, c, &rng);
	}
	if (known)
		expect(b->w, c, &rng);
}

void
batch_free(struct batch *b)
{
	kforeach_of(c, b->calls, b->count)
		forget(c);
	free(b->calls);
	*b = (struct batch){ 0 };
}
