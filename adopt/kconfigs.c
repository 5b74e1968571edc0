/* SPDX-License-Identifier: Apache-2.0 */
/* kconfigs: see kconfigs.h. */
#include "kconfigs.h"

#include "kio.h"
#include "kstat.h"

enum { NOWHERE = -1 };

/* Parts of a launch's key. */
enum { GRID, BLOCK = 3, LAUNCH = 6 };

/* The calls with one key, or the fast or slow ones of them. */
struct group {
	struct kconfigs_key key;
	enum kconfigs_split split;
	size_t *calls, count;
	double total;
};

struct groups {
	struct group *at;
	size_t count;
};

static int
compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int
kconfigs_compare(const struct kconfigs_key *a, const struct kconfigs_key *b)
{
	int order = 0;

	if (a->launch) {
		order = compare_numbers(a->at[GRID], b->at[GRID]);
		return order ? order : compare_numbers(a->at[BLOCK], b->at[BLOCK]);
	}
	for (size_t i = 0; i < a->count && !order; i++)
		order = compare_numbers(a->at[i], b->at[i]);
	return order;
}

static struct group *
add_group(struct groups *g, const struct kconfigs_key *key, enum kconfigs_split split)
{
	g->at = krealloc(g->at, (g->count + 1) * sizeof *g->at);
	g->at[g->count] = (struct group){ .key = *key, .split = split };
	return &g->at[g->count++];
}

static void
add_call(struct group *g, const struct kconfigs_call *calls, size_t i)
{
	g->calls = krealloc(g->calls, (g->count + 1) * sizeof *g->calls);
	g->calls[g->count++] = i;
	g->total += calls[i].us;
}

static void
free_groups(struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->at[i].calls);
	free(g->at);
}

static int
compare_groups(const void *a, const void *b)
{
	return kconfigs_compare(&((const struct group *)a)->key, &((const struct group *)b)->key);
}

/* Ascending by key. */
static void
gather(struct groups *keys, const struct kconfigs_call *calls, size_t n)
{
	*keys = (struct groups){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct group *g = NULL;

		for (size_t k = 0; k < keys->count && !g; k++)
			if (!kconfigs_compare(&keys->at[k].key, &calls[i].key))
				g = &keys->at[k];
		add_call(g ? g : add_group(keys, &calls[i].key, KCONFIGS_WHOLE), calls, i);
	}
	qsort(keys->at, keys->count, sizeof *keys->at, compare_groups);
}

static double *
times_of(const struct group *g, const struct kconfigs_call *calls)
{
	double *us = kcalloc(g->count, sizeof *us);

	for (size_t i = 0; i < g->count; i++)
		us[i] = calls[g->calls[i]].us;
	return us;
}

/*
 * For each call the median time of all calls with its arguments; its own time if these are unknown.
 */
static double *
typical_times(const struct group *g, const struct kconfigs_call *calls)
{
	double *us = times_of(g, calls), *sorted = kcalloc(g->count, sizeof *sorted);
	json_t *same = json_object(), *list, *i;
	const char *key;
	size_t n;

	for (size_t k = 0; k < g->count; k++) {
		auto_free char *args = calls[g->calls[k]].args
		    ? json_dumps(calls[g->calls[k]].args, KIO_DUMP)
		    : kasprintf("%zu", k);

		list = json_object_get(same, args);
		if (!list)
			json_object_set_new(same, args, list = json_array());
		json_array_append_new(list, json_integer((json_int_t)k));
	}
	json_object_foreach(same, key, list) {
		double median;

		json_array_foreach(list, n, i)
			sorted[n] = us[json_integer_value(i)];
		median = kstat_quantile(sorted, json_array_size(list), 0.5);
		json_array_foreach(list, n, i)
			us[json_integer_value(i)] = median;
	}
	json_decref(same);
	free(sorted);
	return us;
}

/* Adds the calls with one key to OUT, as one group or two. */
static void
split(
    const struct group *key, const struct kconfigs_call *calls, double variance, struct groups *out)
{
	double *us = typical_times(key, calls), p25 = kstat_quantile(us, key->count, 0.25);
	double p95 = kstat_quantile(us, key->count, 0.95), cut = sqrt(p25 * p95);
	bool apart = key->count >= 4 && p25 > 0 && p95 / p25 > variance;
	size_t fast = 0;

	for (size_t i = 0; i < key->count; i++)
		fast += us[i] <= cut;
	apart = apart && fast && fast < key->count;
	for (int side = 0; side <= apart; side++) {
		struct group *g = add_group(out, &key->key,
		    !apart     ? KCONFIGS_WHOLE
		        : side ? KCONFIGS_SLOW
		               : KCONFIGS_FAST);

		for (size_t i = 0; i < key->count; i++)
			if (!apart || (us[i] > cut) == side)
				add_call(g, calls, key->calls[i]);
	}
	free(us);
}

/* Most time first; for equal times by key, the fast part first. */
static int
compare_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order = (x->total < y->total) - (x->total > y->total);

	if (!order)
		order = kconfigs_compare(&x->key, &y->key);
	return order ? order : (int)x->split - (int)y->split;
}

static int64_t
product(const struct kconfigs_key *k, size_t from)
{
	return k->at[from] * k->at[from + 1] * k->at[from + 2];
}

/*
 * Which of the KEYS matches an observed one: the same key; for launches, one with the same total of
 * threads and blocks (a log may have flattened 32 x 8 to 256); else, of those with the same block
 * size, the one with the nearest grid.
 */
static long
find_key(const struct groups *keys, const struct kconfigs_key *seen)
{
	long nearest = NOWHERE;
	int64_t best = INT64_MAX;

	for (size_t i = 0; i < keys->count; i++)
		if (!kconfigs_compare(&keys->at[i].key, seen))
			return (long)i;
	for (size_t i = 0; seen->launch && i < keys->count; i++) {
		const struct kconfigs_key *k = &keys->at[i].key;
		int64_t far = llabs((long long)(product(k, GRID) - product(seen, GRID)));

		if (product(k, BLOCK) != product(seen, BLOCK) || far >= best)
			continue;
		best = far;
		nearest = (long)i;
	}
	return nearest;
}

static bool
same_group(const struct groups *keys, long at, const struct kconfigs_key *key)
{
	return at != NOWHERE && !kconfigs_compare(&keys->at[at].key, key);
}

/* Index into KEYS of every observed call. */
static long *
place(const struct groups *keys, const struct kconfigs_seen *seen, size_t m)
{
	long *at = kcalloc(m + 1, sizeof *at);

	for (size_t i = 0; i < m; i++)
		at[i] = find_key(keys, &seen[i].key);
	return at;
}

/* ---- the arguments of a group's calls ---- */

static int
compare_values(const void *a, const void *b)
{
	double x = json_number_value(*(json_t *const *)a),
	       y = json_number_value(*(json_t *const *)b);

	return (x > y) - (x < y);
}

/*
 * The value that half or more have; otherwise, for numbers the lower median, for others the most
 * frequent value. Borrowed.
 */
static json_t *
middle(json_t **values, size_t n)
{
	size_t most = 0, times = 0;
	bool numbers = true;

	for (size_t i = 0; i < n; i++) {
		size_t equal = 0;

		for (size_t k = 0; k < n; k++)
			equal += json_equal(values[i], values[k]);
		if (equal > times) {
			times = equal;
			most = i;
		}
		numbers = numbers && json_is_number(values[i]);
	}
	if (!numbers || 2 * times >= n)
		return values[most];
	qsort(values, n, sizeof *values, compare_values);
	return values[(n - 1) / 2];
}

/* For each scalar separately. New reference. */
static json_t *
middle_of_each(const json_t **records, size_t n)
{
	json_t *o = json_object(), **values = kcalloc(n, sizeof *values), *v;
	const char *name;

	json_object_foreach((json_t *)records[0], name, v) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++) {
			values[count] = json_object_get(records[i], name);
			count += values[count] != NULL;
		}
		json_object_set(o, name, middle(values, count));
	}
	free(values);
	return o;
}

/* Sizes belong together: separate medians could make a call that never happened. New reference. */
static json_t *
representative(const json_t **records, size_t n)
{
	json_t *o;
	size_t most = 0, times = 0;

	if (!n)
		return json_object();
	o = middle_of_each(records, n);
	for (size_t i = 0; i < n; i++) {
		size_t equal = 0;

		if (json_equal(o, records[i]))
			return o;
		for (size_t k = 0; k < n; k++)
			equal += json_equal(records[i], records[k]);
		if (equal > times) {
			times = equal;
			most = i;
		}
	}
	json_decref(o);
	return json_deep_copy(records[most]);
}

/* At most this many calls, evenly spread over the run: comparing all pairs must stay cheap. */
enum { SAMPLE = 1024 };

static json_t *
scalars_of(const struct group *g, const struct groups *keys, const struct kconfigs_seen *seen,
    const long *at, size_t m, bool aligned)
{
	const json_t **records = kcalloc(m + 1, sizeof *records);
	size_t n = 0, stride;
	json_t *o;

	for (size_t i = 0; aligned && i < g->count; i++)
		if (same_group(keys, at[g->calls[i]], &g->key))
			records[n++] = seen[g->calls[i]].scalars;
	for (size_t i = 0; !aligned && i < m; i++)
		if (same_group(keys, at[i], &g->key))
			records[n++] = seen[i].scalars;
	stride = (n + SAMPLE - 1) / SAMPLE;
	for (size_t i = 0; stride > 1 && i * stride < n; i++)
		records[i] = records[i * stride];
	o = representative(records, stride > 1 ? (n + stride - 1) / stride : n);
	free(records);
	return o;
}

/* ---- a chosen group ---- */

static double
per_thread(const struct group *g, const struct kconfigs_call *calls, bool bytes)
{
	double sum = 0, threads = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct kconfigs_call *c = &calls[g->calls[i]];

		if (!c->key.launch)
			return NAN;
		sum += bytes ? c->dram_bytes : c->thread_inst;
		threads += (double)product(&c->key, GRID) * (double)product(&c->key, BLOCK);
	}
	return threads > 0 ? sum / threads : NAN;
}

static size_t
nearest_call(const struct group *g, const struct kconfigs_call *calls, double us)
{
	size_t best = g->calls[0];

	for (size_t i = 1; i < g->count; i++)
		if (fabs(calls[g->calls[i]].us - us) < fabs(calls[best].us - us))
			best = g->calls[i];
	return best;
}

static void
describe(struct kconfig *c, size_t rank, struct group *g, const struct kconfigs_call *calls,
    double total)
{
	static const char *const suffix[] = { "", "_fast", "_slow" };
	double *us = times_of(g, calls);

	*c = (struct kconfig){ .split = g->split,
		.calls = g->calls,
		.count = g->count,
		.total_us = g->total,
		.share = total > 0 ? g->total / total : 0,
		.target_us = kstat_quantile(us, g->count, 0.5),
		.inst_per_thread = per_thread(g, calls, false),
		.bytes_per_thread = per_thread(g, calls, true) };
	snprintf(c->name, sizeof c->name, "top%zu%s", rank, suffix[g->split]);
	c->typical = nearest_call(g, calls, c->target_us);
	g->calls = NULL;
	free(us);
}

/*
 * If the numbers of calls are equal and hardly any keys differ, then calls with the same index are
 * the same call.
 */
static void
align(struct kconfigs *out, const struct groups *keys, const struct kconfigs_call *calls, size_t n,
    const long *at, size_t m)
{
	if (n != m)
		return;
	for (size_t i = 0; i < n; i++)
		out->astray += !same_group(keys, at[i], &calls[i].key);
	out->aligned = (double)out->astray <= KCONFIGS_ASTRAY * (double)n;
}

void
kconfigs_choose(const struct kconfigs_call *calls, size_t n, const struct kconfigs_seen *seen,
    size_t m, size_t top, double variance, struct kconfigs *out)
{
	struct groups keys, groups = { 0 };
	long *at;

	*out = (struct kconfigs){ 0 };
	gather(&keys, calls, n);
	for (size_t i = 0; i < keys.count; i++) {
		split(&keys.at[i], calls, variance, &groups);
		out->total_us += keys.at[i].total;
	}
	qsort(groups.at, groups.count, sizeof *groups.at, compare_weight);
	at = place(&keys, seen, m);
	align(out, &keys, calls, n, at, m);
	out->groups = groups.count;
	out->count = groups.count < top ? groups.count : top;
	out->at = kcalloc(out->count + 1, sizeof *out->at);
	for (size_t i = 0; i < out->count; i++) {
		json_t *scalars = scalars_of(&groups.at[i], &keys, seen, at, m, out->aligned);

		describe(&out->at[i], i + 1, &groups.at[i], calls, out->total_us);
		out->at[i].scalars = scalars;
		out->coverage += out->at[i].share;
	}
	free(at);
	free_groups(&keys);
	free_groups(&groups);
}

void
kconfigs_free(struct kconfigs *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->at[i].calls);
		json_decref(c->at[i].scalars);
	}
	free(c->at);
}
