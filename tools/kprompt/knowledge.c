/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: prior knowledge about a kind of computation, a device and a language: sections of the
 * notes in skills/knowledge and the campaign's own knowledge folder, chosen by
 * skills/knowledge/routes.json within a budget.
 */
#include <fts.h>

#include "kform.h"
#include "kprompt.h"
#include "kregex.h"

enum { MAX_DEPTH = 3, MAX_NAME = 200, PROJECT_SHARE = 2 };

static json_t *routes; /* routes.json; kept to the end */

/*
 * Keys of notes that depend only on the campaign; "when" depends on the record and is checked
 * separately.
 */
static const char *const stable_keys[] = { "ops", "archs", "backends", "dtypes" };

/*
 * Tables in routes.json that map what a campaign or a record says to the words that notes use, and
 * the key for these words.
 */
static const struct {
	const char *table, *key;
} tables[] = {
	{ "ops", "ops" },
	{ "gpus", "archs" },
	{ "isas", "archs" },
	{ "backends", "backends" },
	{ "dtypes", "dtypes" },
	{ "when", "when" },
};

/*
 * Markdown files below FOLDER, as {"ops/gemm.md": {"path", "file"}}, where FILE begins with SHOWN;
 * they replace files of the same name that were found before.
 */
static void
find_notes(json_t *files, const char *folder, const char *shown)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = kis_there(folder) ? fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL) : NULL;

	for (FTSENT *e; tree && (e = fts_read(tree));) {
		const char *name = e->fts_path + strlen(folder) + 1,
		           *dot = strrchr(e->fts_name, '.');

		if (e->fts_errno) {
			errno = e->fts_errno;
			kdie_io("%s", e->fts_path);
		}
		if (e->fts_level && (*e->fts_name == '.' || e->fts_level > MAX_DEPTH))
			fts_set(tree, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && dot && !strcmp(dot, ".md") &&
		    strcmp(e->fts_name, "README.md"))
			kjson_extend(files, "{s:{s:s,s:s}}", name, "path", e->fts_path, "file",
			    kshown("%s/%s", shown, name));
	}
	if (tree)
		fts_close(tree);
}

/* {"ops": {"gemm": true}, …}: every word that a note may use. New reference. */
static json_t *
words_of(void)
{
	json_t *words = json_object(), *row;

	kforeach(one, tables) {
		if (!json_object_get(words, one->key))
			json_object_set_new(words, one->key, json_object());
		row = json_object_get(routes, one->table);
		kjson_foreach_member(name, list, row)
			kjson_foreach_text(word, list)
				json_object_set_new(
				    json_object_get(words, one->key), word, json_true());
	}
	return words;
}

/*
 * Append the words that TABLE gives for NAME, with its exact spelling, to LIST; false if it has
 * none.
 */
static bool
route(json_t *list, const char *table, const char *name)
{
	const json_t *words = json_object_get(json_object_get(routes, table), name);

	json_array_extend(list, (json_t *)words);
	return json_array_size(words) > 0;
}

/* "Grouped-GEMM" -> "grouped_gemm". The caller frees. */
static char *
plain_name(const char *s)
{
	auto_free char *name = kstrndup(s, MAX_NAME);

	return klower(kregex_sub("[- ./]", name, "_"));
}

/*
 * The words of the task: from its op or, if no route has that, from its name, if the code of the
 * reference allows it; else from what the code does.
 */
static json_t *
op_words(void)
{
	json_t *list = json_array();
	auto_free char *a = plain_name(kjson_str(facts, "op")),
	               *b = plain_name(kjson_str(facts, "task"));
	bool known =
	    kjson_bool(facts, "name_fits") && (route(list, "ops", a) || route(list, "ops", b));

	kjson_foreach_text(kind, facts, "kinds")
		if (!known)
			route(list, "ops", kind);
	return list;
}

/*
 * The words of the device: from its exact name or, for kernels that run on this CPU, from its
 * instruction sets.
 */
static json_t *
arch_words(const json_t *backends)
{
	const char *gpu = kcamp_str("gpu");
	json_t *list = json_array(), *isas = json_object_get(routes, "isas");
	bool cpu = kjson_has(backends, "cpu");

	if (*gpu) {
		route(list, "gpus", gpu);
		return list;
	}
	kjson_foreach_member(isa, unused, isas)
		if (cpu && json_object_get(json_object_get(facts, "isa"), isa))
			route(list, "isas", isa);
	return list;
}

/*
 * Position of the first of LIST's words in WANTED; 0 without a LIST, -1 if WANTED has none of them.
 */
static long
rank_of(const json_t *list, const json_t *wanted)
{
	if (!list)
		return 0;
	kjson_foreach(a, wanted)
		kjson_foreach(b, list)
			if (json_equal(a, b))
				return (long)kjson_at(a);
	return -1;
}

static bool
suits(const json_t *section, const json_t *wanted)
{
	return !kany(kforeach(key, stable_keys),
	    rank_of(json_object_get(section, *key), json_object_get(wanted, *key)) < 0);
}

/*
 * All sections of all notes that match WANTED: by priority, then by how well the task's first words
 * match, then by file, then in the order of the file. New reference.
 */
static json_t *
collect(const json_t *files, const json_t *words, const json_t *wanted)
{
	json_t *out = json_array();

	kjson_foreach_member(name, note, files) {
		json_auto_t *sections =
		    notes_read(kjson_str(note, "path"), kjson_str(note, "file"), words);

		kjson_foreach(s, sections) {
			kjson_extend(s, "{s:I,s:I}", "place", (json_int_t)kjson_at(s), "rank",
			    (json_int_t)rank_of(
			        json_object_get(s, "ops"), json_object_get(wanted, "ops")));
			if (suits(s, wanted))
				json_array_append(out, s);
		}
	}
	kjson_sort_by(out, "priority", "rank", "file", "place");
	return out;
}

/*
 * What the campaign needs from notes: {"ops": [words], "archs": …, "backends": …, "dtypes": …}. New
 * reference.
 */
static json_t *
wanted_words(void)
{
	json_t *backends = json_array(), *dtypes = json_array(), *archs;

	route(backends, "backends", kcamp_str("backend"));
	archs = arch_words(backends);
	kjson_foreach_member(dtype, yes, facts, "dtype")
		route(dtypes, "dtypes", dtype);
	return json_pack("{s:o,s:o,s:o,s:o}", "ops", op_words(), "archs", archs, "backends",
	    backends, "dtypes", dtypes);
}

/*
 * Shipped notes, then the campaign's, which replace shipped ones of the same name. New reference.
 */
static json_t *
all_notes(const char *own)
{
	auto_free char *shipped = kdata_path("skills/knowledge/routes.json");
	json_t *files = json_object();

	*strrchr(shipped, '/') = '\0';
	find_notes(files, shipped, "skills/knowledge");
	find_notes(files, own, "knowledge");
	return files;
}

/* What docs/schemas says about the table of routes. */
static const struct kform form =
#include "routes.h"
    ;

static json_t *
load_routes(const char *own)
{
	auto_free char *mine = kasprintf("%s/routes.json", own),
	               *shipped = kdata_path("skills/knowledge/routes.json");

	return kform_load(&form, kis_there(mine) ? mine : shipped);
}

/*
 * The notes of the campaign that apply if one of LABELS does (NULL: those that always apply), in
 * order, each if it fits into the rest of the BUDGET. New reference.
 */
static json_t *
choose(const json_t *labels, long budget)
{
	json_t *out = json_array();

	kjson_foreach(s, campaign.notes) {
		const json_t *when = json_object_get(s, "when");
		long tokens = kjson_int(s, "tokens");

		if (!labels != !when || (labels && rank_of(when, labels) < 0) || tokens > budget)
			continue;
		json_array_append(out, s);
		budget -= tokens;
	}
	return out;
}

void
knowledge_open(void)
{
	long budget = kcamp_int("prompt.knowledge_tokens");
	const char *own = kcamp_path("knowledge");
	json_auto_t *words = NULL;

	routes = budget ? load_routes(own) : json_object();
	words = words_of();
	if (budget) {
		json_auto_t *files = all_notes(own), *wanted = wanted_words();

		campaign.notes = collect(files, words, wanted);
	} else {
		campaign.notes = json_array();
	}
	/* A project that the user names takes precedence over general notes. */
	budget -= project_facts(budget / PROJECT_SHARE);
	put("knowledge", choose(NULL, budget));
}

void
lead_facts(const json_t *profile)
{
	const char *said[] = { kjson_str(profile, "bottleneck.label"),
		kjson_str(sample, "escalation"),
		kjson_bool(sample, "stagnation") ? "stagnation" : "" };
	enum { LEAD_TOKENS = 500 }; /* a few notes: the model has seen the general ones */
	json_auto_t *labels = json_array();

	kforeach(one, said)
		json_array_extend(labels, json_object_get(json_object_get(routes, "when"), *one));
	put("leads", choose(labels, LEAD_TOKENS));
}

/* What the record says about a section that was shown. */
static json_t *
shown(const json_t *section)
{
	return json_pack("{s:O,s:O,s:O,s:s}", "file", json_object_get(section, "file"), "section",
	    json_object_get(section, "section"), "tokens", json_object_get(section, "tokens"),
	    "sha256", ksha256_of(kjson_str(section, "text")));
}

static void
add_shown(json_t *out, const char *list)
{
	kjson_foreach(s, json_object_get(facts, list))
		json_array_append_new(out, shown(s));
}

json_t *
knowledge_member(void)
{
	json_t *out = json_array();

	add_shown(out, "knowledge");
	add_shown(out, "leads");
	return out;
}

json_t *
project_member(void)
{
	json_t *out = json_array();

	add_shown(out, "passages");
	return out;
}

void
knowledge_list(void)
{
	const json_t *chosen = json_object_get(campaign.stable, "knowledge");
	size_t next = 0;

	kjson_foreach(s, campaign.notes) {
		bool shown = s == json_array_get(chosen, next);
		auto_free char *when = join(json_object_get(s, "when"));

		next += shown;
		kout_line("P%ld %5ld tokens  %s: %s%s%s%s", kjson_int(s, "priority"),
		    kjson_int(s, "tokens"), kjson_str(s, "file"), kjson_str(s, "section"),
		    *when ? "  (when " : "",
		    *when       ? when
		        : shown ? ""
		                : "  (left out: no tokens left)",
		    *when ? ")" : "");
	}
}
