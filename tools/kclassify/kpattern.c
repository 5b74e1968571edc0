/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kpattern: see kpattern.h. Tables are checked field by field as they are read, and compiled once
 * all are merged.
 */
#include "kpattern.h"

#include <math.h>

#include "kio.h"
#include "kneutral.h"
#include "kregex.h"
#include "ktoken.h"

enum {
	EXTENDS_MAX = 8 /* tables in a chain */
};

static const double decisive_weight = 0.9, decisive_score = 0.25, lower_mean = 0.3 * 0.15;

const char *const kpattern_dims[KPATTERN_DIMS] = { "memory", "compute", "parallelism", "esimd" };

struct pattern {
	char *text;
	struct kregex *re;
};

/* Alternatives: one match is enough. */
struct patterns {
	struct pattern *p;
	size_t n;
};

struct category {
	char *name;
	char *where; /* for messages */
	double weight;
	bool comments; /* matched against comments and strings too */
	struct patterns patterns;
};

struct level {
	struct category *c;
	size_t n;
};

/* Holds a dimension below a level when one thing is there and another is not. */
struct gate {
	char *name, *where;
	int dim, level;
	int otherwise; /* the level instead; -1: what the scores below give */
	struct patterns when, require;
};

struct kpattern_table {
	enum ktoken_lang lang;
	bool names; /* patterns see the author's names */
	struct level level[KPATTERN_DIMS][KPATTERN_LEVELS];
	struct gate *gates;
	size_t gate_count;
};

static void
free_patterns(struct patterns *list)
{
	for (size_t i = 0; i < list->n; i++) {
		kregex_free(list->p[i].re);
		free(list->p[i].text);
	}
	free(list->p);
}

static void
free_category(struct category *c)
{
	free_patterns(&c->patterns);
	free(c->name);
	free(c->where);
}

static void
free_gate(struct gate *g)
{
	free_patterns(&g->when);
	free_patterns(&g->require);
	free(g->name);
	free(g->where);
}

void
kpattern_free(struct kpattern_table *t)
{
	if (!t)
		return;
	for (int d = 0; d < KPATTERN_DIMS; d++)
		for (int l = 0; l < KPATTERN_LEVELS; l++) {
			for (size_t i = 0; i < t->level[d][l].n; i++)
				free_category(&t->level[d][l].c[i]);
			free(t->level[d][l].c);
		}
	for (size_t i = 0; i < t->gate_count; i++)
		free_gate(&t->gates[i]);
	free(t->gates);
	free(t);
}

/* Only the members listed in KEYS may stand in OBJ. */
static void
check_keys(const json_t *obj, const char *keys, const char *where)
{
	const char *key;
	json_t *value;

	if (!json_is_object(obj))
		kdie(K_USAGE, "%s: must be an object", where);
	json_object_foreach((json_t *)obj, key, value)
		if (!kis_listed(keys, key, strlen(key)))
			kdie(K_USAGE, "%s: unknown field '%s'", where, key);
}

static const char *
get_name(const json_t *obj, const char *where)
{
	const char *name = json_string_value(json_object_get(obj, "name"));

	if (!name || !*name)
		kdie(K_USAGE, "%s: needs a name", where);
	return name;
}

static struct patterns
get_patterns(const json_t *list, const char *key, const char *where)
{
	struct patterns out = { 0 };
	size_t i;
	json_t *value;

	if (!json_is_array(list))
		kdie(K_USAGE, "%s: '%s' must be a list of patterns", where, key);
	out.p = kcalloc(json_array_size(list) + 1, sizeof *out.p);
	json_array_foreach(list, i, value) {
		if (!json_is_string(value) || !*json_string_value(value))
			kdie(K_USAGE, "%s: '%s' contains something that is not a pattern", where,
			    key);
		out.p[out.n++].text = kstrdup(json_string_value(value));
	}
	return out;
}

static struct category
get_category(const json_t *obj, const char *where)
{
	static const char keys[] = "name weight patterns comments about";
	const json_t *weight = json_object_get(obj, "weight"),
	             *comments = json_object_get(obj, "comments");
	struct category c = { .weight = json_number_value(weight),
		.comments = json_is_true(comments) };

	check_keys(obj, keys, where);
	c.name = kstrdup(get_name(obj, where));
	c.where = kasprintf("%s %s", where, c.name);
	if (!json_is_number(weight) || !(c.weight > 0 && c.weight <= 1))
		kdie(K_USAGE, "%s: weight must be above 0 and at most 1", c.where);
	if (comments && !json_is_boolean(comments))
		kdie(K_USAGE, "%s: comments must be true or false", c.where);
	c.patterns = get_patterns(json_object_get(obj, "patterns"), "patterns", c.where);
	return c;
}

/*
 * C takes the place of its namesake, or goes to the end; without patterns it takes its namesake
 * away.
 */
static void
merge_category(struct level *l, struct category c)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->c[i].name, c.name))
		i++;
	if (c.patterns.n && i == l->n) {
		l->c = krealloc(l->c, (l->n + 1) * sizeof *l->c);
		l->c[l->n++] = c;
		return;
	}
	if (i == l->n)
		kdie(K_USAGE,
		    "%s: has no patterns, and the table that it extends has no category of this "
		    "name to remove",
		    c.where);
	free_category(&l->c[i]);
	if (c.patterns.n) {
		l->c[i] = c;
		return;
	}
	memmove(&l->c[i], &l->c[i + 1], (l->n - i - 1) * sizeof *l->c);
	l->n--;
	free_category(&c);
}

static void
merge_level(struct level *l, const json_t *list, const char *where)
{
	size_t i, j;
	json_t *value, *other;

	if (!json_is_array(list))
		kdie(K_USAGE, "%s: must be a list of categories", where);
	json_array_foreach(list, i, value) {
		struct category c = get_category(value, where);

		json_array_foreach(list, j, other)
			if (j < i && !strcmp(get_name(other, where), c.name))
				kdie(K_USAGE, "%s: is defined twice", c.where);
		merge_category(l, c);
	}
}

static int
find_dim(const char *name, const char *where)
{
	size_t d = kindex_of(name, kpattern_dims, KPATTERN_DIMS);

	if (d == KPATTERN_DIMS)
		kdie(K_USAGE, "%s: '%s' must be memory, compute, parallelism or esimd", where,
		    name ? name : "");
	return (int)d;
}

static void
merge_dims(struct kpattern_table *t, const json_t *dims, const char *path)
{
	const char *dim, *level;
	json_t *levels, *list;

	if (!json_is_object(dims))
		kdie(K_USAGE, "%s: needs 'dims', an object", path);
	json_object_foreach((json_t *)dims, dim, levels) {
		int d = find_dim(dim, path);

		if (!json_is_object(levels))
			kdie(K_USAGE, "%s: %s: must be an object of levels", path, dim);
		json_object_foreach(levels, level, list) {
			char *where = kasprintf("%s: %s %s", path, dim, level);

			if (strlen(level) != 1 || *level < '1' || *level > '3')
				kdie(K_USAGE, "%s: a level is 1, 2 or 3", where);
			merge_level(&t->level[d][*level - '0'], list, where);
			free(where);
		}
	}
}

static int
get_level(const json_t *obj, const char *key, int min, int max, const char *where)
{
	const json_t *value = json_object_get(obj, key);

	if (!json_is_integer(value) || json_integer_value(value) < min ||
	    json_integer_value(value) > max)
		kdie(K_USAGE, "%s: '%s' must be a level, %d to %d", where, key, min, max);
	return (int)json_integer_value(value);
}

static struct gate
get_gate(const json_t *obj, const char *path)
{
	static const char keys[] = "name dimension level when require otherwise about";
	struct gate g = { .otherwise = -1 };

	g.where = kasprintf("%s: gate", path);
	check_keys(obj, keys, g.where);
	g.name = kstrdup(get_name(obj, g.where));
	free(g.where);
	g.where = kasprintf("%s: gate %s", path, g.name);
	g.dim = find_dim(json_string_value(json_object_get(obj, "dimension")), g.where);
	g.level = get_level(obj, "level", 1, KPATTERN_LEVELS - 1, g.where);
	if (json_object_get(obj, "otherwise"))
		g.otherwise = get_level(obj, "otherwise", 0, g.level - 1, g.where);
	g.when = get_patterns(json_object_get(obj, "when"), "when", g.where);
	g.require = get_patterns(json_object_get(obj, "require"), "require", g.where);
	return g;
}

static void
merge_gates(struct kpattern_table *t, const json_t *list, const char *path)
{
	size_t i, k;
	json_t *value;

	if (list && !json_is_array(list))
		kdie(K_USAGE, "%s: 'gates' must be a list", path);
	json_array_foreach(list, i, value) {
		struct gate g = get_gate(value, path);

		for (k = 0; k < t->gate_count && strcmp(t->gates[k].name, g.name); k++)
			;
		if (k < t->gate_count) {
			free_gate(&t->gates[k]);
		} else {
			t->gates = krealloc(t->gates, (t->gate_count + 1) * sizeof *t->gates);
			t->gate_count++;
		}
		t->gates[k] = g;
	}
}

static char *
find_base(const char *path, const char *name)
{
	char *there, *ours;

	if (strchr(name, '/'))
		kdie(K_USAGE, "%s: 'extends' must be the name of a table, without a folder", path);
	there = kbeside(path, name);
	if (kis_there(there))
		return there;
	free(there);
	ours = kasprintf("patterns/%s", name);
	there = kdata_path(ours);
	free(ours);
	return there;
}

static void
merge_syntax(struct kpattern_table *t, const json_t *syntax, const char *path)
{
	const char *name = json_string_value(syntax);

	if (!syntax)
		return;
	if (!name || (strcmp(name, "c") && strcmp(name, "python")))
		kdie(K_USAGE, "%s: 'syntax' must be c or python", path);
	t->lang = ktoken_lang_of(name);
}

static void
merge_file(struct kpattern_table *t, const char *path, int depth)
{
	static const char keys[] = "schema backend syntax extends about names dims gates";
	json_t *json = kjson_load(path);
	const json_t *extends = json_object_get(json, "extends");

	check_keys(json, keys, path);
	if (!kjson_is(json, "schema", "patterns/1"))
		kdie(K_USAGE, "%s: 'schema' must be patterns/1", path);
	if (extends && !json_is_string(extends))
		kdie(K_USAGE, "%s: 'extends' must be the name of a table, without a folder", path);
	if (extends) {
		char *base = find_base(path, json_string_value(extends));

		if (depth == EXTENDS_MAX)
			kdie(K_USAGE, "%s: more than %d tables extend each other", path,
			    EXTENDS_MAX);
		merge_file(t, base, depth + 1);
		free(base);
	}
	merge_syntax(t, json_object_get(json, "syntax"), path);
	t->names = kjson_bool_or(json, "names", t->names);
	merge_dims(t, json_object_get(json, "dims"), path);
	merge_gates(t, json_object_get(json, "gates"), path);
	json_decref(json);
}

static void
compile_patterns(struct patterns *list, const char *where)
{
	for (size_t i = 0; i < list->n; i++) {
		char *place = kasprintf("%s: pattern %zu", where, i + 1);

		list->p[i].re =
		    kregex_new(place, NULL, list->p[i].text, KREGEX_NOCASE | KREGEX_LINES);
		free(place);
	}
}

static void
compile_table(struct kpattern_table *t)
{
	for (int d = 0; d < KPATTERN_DIMS; d++)
		for (int l = 1; l < KPATTERN_LEVELS; l++)
			for (size_t i = 0; i < t->level[d][l].n; i++)
				compile_patterns(
				    &t->level[d][l].c[i].patterns, t->level[d][l].c[i].where);
	for (size_t i = 0; i < t->gate_count; i++) {
		compile_patterns(&t->gates[i].when, t->gates[i].where);
		compile_patterns(&t->gates[i].require, t->gates[i].where);
	}
}

struct kpattern_table *
kpattern_load(const char *path)
{
	struct kpattern_table *t = kcalloc(1, sizeof *t);

	merge_file(t, path, 1);
	compile_table(t);
	return t;
}

struct subject {
	const char *text;
	size_t len;
};

/* One source being classified. */
struct run {
	struct kpattern_table *t;
	/* the source as classified, and with comments and strings */
	struct subject code, all;
	int flags;
	const struct kpattern_trace *trace;
	double score[KPATTERN_DIMS][KPATTERN_LEVELS]; /* NAN until computed */
};

static const struct pattern *
first_match(const struct patterns *list, const struct subject *s, struct kregex_span *at)
{
	for (size_t i = 0; i < list->n; i++)
		if (kregex_search(list->p[i].re, s->text, s->len, 0, at) == KREGEX_FOUND)
			return &list->p[i];
	return NULL;
}

static void
tell_match(
    const struct run *r, const struct category *c, const char *pattern, struct kregex_span at)
{
	const struct subject *s = c->comments ? &r->all : &r->code;

	if (r->trace && r->trace->match)
		r->trace->match(r->trace->arg,
		    &(struct kpattern_match){
		        c->name, c->weight, pattern, s->text, at.from, at.to });
}

static double
threshold_of(int level)
{
	return 0.15 + 0.03 * (level - 1);
}

static double
score_of(struct run *r, int dim, int level)
{
	const struct level *l = &r->t->level[dim][level];
	double matched = 0, total = 0, heaviest = 0, *score = &r->score[dim][level];

	if (!isnan(*score))
		return *score;
	for (size_t i = 0; i < l->n; i++) {
		const struct category *c = &l->c[i];
		struct kregex_span at;
		const struct pattern *p =
		    first_match(&c->patterns, c->comments ? &r->all : &r->code, &at);

		total += c->weight;
		if (!p)
			continue;
		matched += c->weight;
		heaviest = fmax(heaviest, c->weight);
		tell_match(r, c, p->text, at);
	}
	*score = l->n ? matched / total : 0;
	if (heaviest >= decisive_weight)
		*score = fmax(*score, decisive_score);
	if (r->trace && r->trace->score)
		r->trace->score(r->trace->arg, dim, level, *score, threshold_of(level));
	return *score;
}

/* Evidence enough below LEVEL? */
static bool
is_founded(struct run *r, int dim, int level)
{
	double sum = 0;

	for (int l = 1; l < level; l++)
		sum += score_of(r, dim, l);
	return level == 1 || sum / (level - 1) >= lower_mean;
}

static int
level_up_to(struct run *r, int dim, int highest)
{
	for (int level = highest; level > 0; level--)
		if (score_of(r, dim, level) >= threshold_of(level) &&
		    (!(r->flags & KPATTERN_REQUIRE_LOWER) || is_founded(r, dim, level)))
			return level;
	return 0;
}

static int
apply_gates(struct run *r, int dim, int level, int *highest)
{
	for (size_t i = 0; i < r->t->gate_count; i++) {
		const struct gate *g = &r->t->gates[i];
		int from = level;

		if (g->dim != dim || level < g->level || !first_match(&g->when, &r->code, NULL) ||
		    first_match(&g->require, &r->code, NULL))
			continue;
		*highest = g->level - 1;
		level = g->otherwise >= 0 ? g->otherwise : level_up_to(r, dim, *highest);
		if (r->trace && r->trace->gate)
			r->trace->gate(r->trace->arg, g->name, dim, from, level);
	}
	return level;
}

static void
classify_dim(struct run *r, int dim, struct kpattern_result *result)
{
	int highest = KPATTERN_LEVELS - 1, level;
	double best = 0;

	if (r->trace)
		for (int l = highest; l > 0; l--)
			score_of(r, dim, l);
	level = level_up_to(r, dim, highest);
	if (r->flags & KPATTERN_GATES)
		level = apply_gates(r, dim, level, &highest);
	result->coords[dim] = level;
	for (int l = 1; l <= highest; l++)
		best = fmax(best, level ? 0 : score_of(r, dim, l));
	result->confidence[dim] = level ? score_of(r, dim, level) : 1 - best;
}

void
kpattern_classify(struct kpattern_table *t, const char *src, size_t len, int flags,
    struct kpattern_result *result, const struct kpattern_trace *trace)
{
	char *stripped = flags & KPATTERN_STRIP ? ktoken_strip(src, len, t->lang) : NULL;
	struct kbuf neutral = { 0 };
	struct run r;

	r.t = t;
	r.flags = flags;
	r.trace = trace;
	r.code = (struct subject){ .text = stripped ? stripped : src, .len = len };
	r.all = (struct subject){ .text = src, .len = len };
	if (!t->names) {
		neutral = kneutral_text(r.code.text, len, t->lang, NULL);
		r.code = (struct subject){ .text = neutral.data, .len = neutral.len };
	}
	for (int d = 0; d < KPATTERN_DIMS; d++)
		for (int l = 0; l < KPATTERN_LEVELS; l++)
			r.score[d][l] = NAN;
	for (int d = 0; d < KPATTERN_DIMS; d++)
		classify_dim(&r, d, result);
	kbuf_free(&neutral);
	free(stripped);
}
