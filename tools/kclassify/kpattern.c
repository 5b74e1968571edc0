/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kpattern: see kpattern.h. Tables are checked field by field as they are read, and compiled once
 * all are merged.
 */
#include "kpattern.h"

#include "kform.h"
#include "kneutral.h"
#include "kregex.h"

enum {
	EXTENDS_MAX = 8 /* tables in a chain */
};

static const double decisive_weight = 0.9, decisive_score = 0.25, lower_mean = 0.3 * 0.15;

/* A regular expression of a list, of which one match is enough. */
struct pattern {
	const json_t *list;
	const char *text;
	struct kregex *re;
};

struct kpattern_table {
	enum ktoken_lang lang;
	bool names; /* patterns see the author's own names */
	/* the categories, by name, of all levels of a dimension after another */
	json_t *level[KARCH_DIMS * KPATTERN_LEVELS];
	json_t *gates;        /* by name */
	struct pattern *list; /* of all of these */
	size_t count;
};

void
kpattern_free(struct kpattern_table *t)
{
	kforeach_list(one, t)
		kregex_free(one->re);
	kforeach(level, t->level)
		json_decref(*level);
	json_decref(t->gates);
	free(t->list);
	free(t);
}

/* What docs/schemas says about a table. */
static const struct kform form =
#include "patterns.h"
    ;

/* Notes in OBJ, for later messages, that it is its name in WHERE. */
static const char *
name_place(json_t *obj, const char *where)
{
	kjson_set(obj, "where", json_sprintf("%s %s", where, kjson_str(obj, "name")));
	return kjson_str(obj, "where");
}

/*
 * A category replaces the one with the same name, or is added at the end; without patterns it
 * removes the one with its name.
 */
static void
merge_category(json_t *level, json_t *category, json_t *seen, const char *in)
{
	const char *where = name_place(category, in), *name = kjson_str(category, "name");

	if (json_object_get(seen, name))
		kdie_usage("%s: is defined twice", where);
	kjson_enter(seen, name);
	if (json_array_size(json_object_get(category, "patterns")))
		json_object_set(level, name, category);
	else if (json_object_del(level, name))
		kdie_usage("%s: has no patterns, "
		           "and the table that it extends has no category of this name to remove",
		    where);
}

static int
dim_of(const char *name)
{
	return (int)kindex_of(name, karch_dims, KARCH_DIMS);
}

static void
merge_dims(struct kpattern_table *t, const json_t *dims, const char *path)
{
	kjson_foreach_member(dim, levels, dims)
		kjson_foreach_member(level, list, levels) {
			json_auto_t *seen = json_object();

			kjson_foreach(category, list)
				merge_category(
				    t->level[dim_of(dim) * KPATTERN_LEVELS + *level - '0'],
				    category, seen, kshown("%s: %s %s", path, dim, level));
		}
}

static void
merge_gates(struct kpattern_table *t, const json_t *list, const char *path)
{
	kjson_foreach(gate, list) {
		const char *where = name_place(gate, kshown("%s: gate", path));

		if (kjson_int_or(gate, "otherwise", -1) >= kjson_int(gate, "level"))
			kdie_usage("%s: 'otherwise' must be below its level", where);
		json_object_set(t->gates, kjson_str(gate, "name"), gate);
	}
}

static char *
find_base(const char *path, const char *name)
{
	const char *there;

	if (strchr(name, '/'))
		kdie_usage("%s: 'extends' must be the name of a table, without a folder", path);
	there = kbeside(path, name);
	return kis_there(there) ? kstrdup(there) : kdata_path(kshown("patterns/%s", name));
}

static void
merge_file(struct kpattern_table *t, const char *path, int depth)
{
	json_auto_t *json = kform_load(&form, path);
	const char *extends = kjson_maybe(json, "extends"), *syntax = kjson_maybe(json, "syntax");

	if (extends) {
		auto_free char *base = find_base(path, extends);

		if (depth == EXTENDS_MAX)
			kdie_usage("%s: more than %d tables extend each other", path, EXTENDS_MAX);
		merge_file(t, base, depth + 1);
	}
	if (syntax)
		t->lang = ktoken_lang_of(syntax);
	t->names = kjson_bool_or(json, "names", t->names);
	merge_dims(t, json_object_get(json, "dims"), path);
	merge_gates(t, json_object_get(json, "gates"), path);
}

/* Compiles the list KEY of a category or a gate. */
static void
compile(struct kpattern_table *t, const json_t *of, const char *key)
{
	const json_t *list = json_object_get(of, key);

	kjson_foreach_text(text, list) {
		const char *where =
		    kshown("%s: pattern %zu", kjson_str(of, "where"), kjson_at(text) + 1);

		*kadded(t->list, t->count) = (struct pattern){ list, text,
			kregex_new(where, NULL, text, KREGEX_NOCASE | KREGEX_LINES) };
	}
}

struct kpattern_table *
kpattern_load(const char *path)
{
	struct kpattern_table *t = kcalloc(1, sizeof *t);

	t->gates = json_object();
	kforeach(level, t->level)
		*level = json_object();
	merge_file(t, path, 1);
	kforeach(each, t->level)
		kjson_foreach_member(name, category, *each)
			compile(t, category, "patterns");
	kjson_foreach_member(name, gate, t->gates) {
		compile(t, gate, "when");
		compile(t, gate, "require");
	}
	return t;
}

struct subject {
	const char *text;
	size_t len;
};

/* One source being classified. */
static struct run {
	struct kpattern_table *t;
	/* the classified source, and the source with comments and strings */
	struct subject code, all;
	int flags;
	struct kbuf *told;                         /* NULL: nobody asks */
	double score[KARCH_DIMS][KPATTERN_LEVELS]; /* NAN until computed */
} run;

/* The first pattern in the list KEY of a category or a gate that matches. */
static const struct pattern *
first_match(const json_t *of, const char *key, const struct subject *s, struct kregex_span *at)
{
	const json_t *list = json_object_get(of, key);

	kforeach_list(one, run.t)
		if (one->list == list &&
		    kregex_search(one->re, s->text, s->len, 0, at) == KREGEX_FOUND)
			return one;
	return NULL;
}

static void
tell_match(struct kbuf *b, const json_t *category, const struct pattern *p, const struct subject *s,
    struct kregex_span at)
{
	enum { SHOWN = 60 };
	bool cut = at.to - at.from > SHOWN;
	auto_free char *text = kstrndup(s->text + at.from, cut ? SHOWN : at.to - at.from),
	               *line = kregex_sub("[\\n\\t\\r]", text, " ");

	kmask_controls(line);
	kbuf_printf(b, "    %s %g, line %zu: %s%s\n      by %s\n", kjson_str(category, "name"),
	    kjson_num(category, "weight"), kline_at(s->text, at.from), line, cut ? "…" : "",
	    p->text);
}

static double
threshold_of(int level)
{
	return 0.15 + 0.03 * (level - 1);
}

static double
score_of(int dim, int level)
{
	const json_t *categories = run.t->level[dim * KPATTERN_LEVELS + level];
	double matched = 0, total = 0, heaviest = 0, *score = &run.score[dim][level];
	auto_buf struct kbuf matches = kbuf_empty();

	if (!isnan(*score))
		return *score;
	kjson_foreach_member(name, c, categories) {
		const struct subject *s = kjson_bool(c, "comments") ? &run.all : &run.code;
		double weight = kjson_num(c, "weight");
		struct kregex_span at;
		const struct pattern *p = first_match(c, "patterns", s, &at);

		total += weight;
		if (!p)
			continue;
		matched += weight;
		heaviest = fmax(heaviest, weight);
		if (run.told)
			tell_match(&matches, c, p, s, at);
	}
	*score = json_object_size(categories) ? matched / total : 0;
	if (heaviest >= decisive_weight)
		*score = fmax(*score, decisive_score);
	if (run.told)
		kbuf_printf(run.told, "  %s %d: score %.4f, threshold %.2f%s\n%s", karch_dims[dim],
		    level, *score, threshold_of(level),
		    *score >= threshold_of(level) ? ", reached" : "", matches.data);
	return *score;
}

/* Is there enough evidence below LEVEL? */
static bool
is_founded(int dim, int level)
{
	double sum = 0;

	for (int l = 1; l < level; l++)
		sum += score_of(dim, l);
	return level == 1 || sum / (level - 1) >= lower_mean;
}

static int
level_up_to(int dim, int highest)
{
	for (int level = highest; level > 0; level--)
		if (score_of(dim, level) >= threshold_of(level) &&
		    (!(run.flags & KPATTERN_REQUIRE_LOWER) || is_founded(dim, level)))
			return level;
	return 0;
}

static int
apply_gates(int dim, int level, int *highest)
{
	kjson_foreach_member(name, gate, run.t->gates) {
		int from = level, bound = (int)kjson_int(gate, "level"),
		    otherwise = (int)kjson_int_or(gate, "otherwise", -1);

		if (dim_of(kjson_str(gate, "dimension")) != dim || level < bound ||
		    !first_match(gate, "when", &run.code, NULL) ||
		    first_match(gate, "require", &run.code, NULL))
			continue;
		*highest = bound - 1;
		level = otherwise >= 0 ? otherwise : level_up_to(dim, *highest);
		if (run.told)
			kbuf_printf(run.told, "  %s: gate %s limits it to %d instead of %d\n",
			    karch_dims[dim], name, level, from);
	}
	return level;
}

static void
classify_dim(int dim, struct kpattern_result *result)
{
	int highest = KPATTERN_LEVELS - 1, level;
	double best = 0;

	if (run.told)
		for (int l = highest; l > 0; l--)
			score_of(dim, l);
	level = level_up_to(dim, highest);
	if (run.flags & KPATTERN_GATES)
		level = apply_gates(dim, level, &highest);
	result->coords[dim] = level;
	for (int l = 1; l <= highest; l++)
		best = fmax(best, level ? 0 : score_of(dim, l));
	result->confidence[dim] = level ? score_of(dim, level) : 1 - best;
}

void
kpattern_classify(struct kpattern_table *t, const char *src, size_t len, int flags,
    struct kpattern_result *result, struct kbuf *told)
{
	auto_free char *stripped = flags & KPATTERN_STRIP ? ktoken_strip(src, len, t->lang) : NULL;
	auto_buf struct kbuf neutral = { 0 };

	run = (struct run){ .t = t,
		.code = { stripped ?: src, len },
		.all = { src, len },
		.flags = flags,
		.told = told };
	if (!t->names) {
		neutral = kneutral_text(run.code.text, len, t->lang, NULL);
		run.code = (struct subject){ .text = neutral.data, .len = neutral.len };
	}
	kforeach_of(one, run.score, KARCH_DIMS)
		for (int l = 0; l < KPATTERN_LEVELS; l++)
			(*one)[l] = NAN;
	for (int d = 0; d < KARCH_DIMS; d++)
		classify_dim(d, result);
}
