/* SPDX-License-Identifier: Apache-2.0 */
/* krecord: see krecord.h. */
#include "krecord.h"

#include "karch.h"
#include "ktext.h"

enum {
	SHORT_TEXT = 80, /* a shorter text takes less room than a reference to it */
	SHARED_MAX = 16 << 20,
	EVALS_MAX = 64 /* kept in memory */
};

/* The members that views add, in order. */
static const char *const views[] = { "coords", "audit", "score", NULL };

/* Members of an evaluation that samples show. */
static const char *const shown[] = { "code", "files", "log", "profile" };

void (*krecord_reads)(const char *path);

/* The record that is put together or taken apart. */
static json_t *whole;

/* The line of the file PATH, without newline, or NULL. The caller frees. */
static char *
read_part(const char *path)
{
	char *text, *end;

	if (krecord_reads)
		krecord_reads(path);
	text = kread_if_there(path, KIO_LINE_MAX, NULL);
	end = text ? strchr(text, '\n') : NULL;
	if (!end) {
		free(text);
		return NULL;
	}
	*end = '\0';
	return text;
}

/* What to do about a part that is missing or has changed. */
static char *
damaged(const char *path, const char *id, const char *stage)
{
	return kasprintf("%s is missing or damaged; "
	                 "restore it from a copy, or run make redo CELL=%s FROM=%s",
	    path, id, stage);
}

static bool
has_schema(const json_t *record, const char *schema)
{
	return kjson_is(record, "schema", schema);
}

static char *
old_format(const char *path)
{
	return kasprintf("%s is of an older version of kiln, where each file held the whole "
	                 "record; kcampaign upgrade converts the campaign",
	    path);
}

/* ---- texts stored elsewhere ---- */

/* The value at PATH, where array elements are numbers, or NULL; PUT, if given, replaces it. */
static json_t *
at_path(json_t *record, const char *path, json_t *put)
{
	json_t *v = record, *inner;

	for (;;) {
		size_t n = strcspn(path, ".");
		bool last = !path[n];

		if (last && put && json_is_object(v) && !json_object_set(v, path, put))
			return put;
		inner = json_is_array(v) ? json_array_get(v, strtoul(path, NULL, 10))
		                         : json_object_getn(v, path, n);
		if (last || !inner)
			return inner;
		v = inner;
		path += n + 1;
	}
}

/* A value as text: a string unchanged, an array with one element per line. The caller frees. */
static char *
text_of(const json_t *value, size_t *len)
{
	struct kbuf b = { 0 };

	if (json_is_string(value)) {
		*len = json_string_length(value);
		return kmemdup(json_string_value(value), *len);
	}
	kbuf_puts(&b, "[");
	kjson_foreach(v, value) {
		auto_free char *line = json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY);

		kbuf_printf(&b, "%s\n%s", kjson_at(v) ? "\n," : "", line);
	}
	kbuf_puts(&b, "\n]");
	*len = b.len;
	return b.data;
}

/* The digest that identifies a text, in whatever form it is stored. */
static const char *
digest_of(const json_t *value)
{
	auto_free char *text =
	    json_is_string(value) ? NULL : json_dumps(value, KIO_DUMP | JSON_ENCODE_ANY);

	return text ? ksha256_of(text)
	            : ksha256(json_string_value(value), json_string_length(value));
}

static bool
has_digest(const json_t *value, const char *digest)
{
	return value && !strcmp(digest_of(value), digest);
}

/* Evaluations by path: records that follow each other show the same ones. */
static json_t *evals;

/* Member KEY of the evaluation in the file PATH. New reference, or NULL. */
static json_t *
eval_member(const char *path, const char *key)
{
	json_t *part = json_object_get(evals, path);
	char *line = part ? NULL : read_part(path);

	if (line) {
		part = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		if (json_object_size(evals) == EVALS_MAX)
			json_object_clear(evals);
		evals = evals ?: json_object();
		json_object_set_new(evals, path, part);
		free(line);
	}
	return json_incref(json_object_get(json_object_get(part, "eval"), key));
}

/*
 * The same for candidate ID with this DIGEST: the current evaluation, or one that was replaced
 * since.
 */
static json_t *
shown_member(const char *id, const char *key, const char *digest)
{
	const char *path = kplace_id(id, kfact_names[KFACT_EVAL]);
	json_t *value = eval_member(path, key);

	if (has_digest(value, digest))
		return value;
	json_object_clear(evals);
	kpath_foreach(other, kshown("%s*", path)) {
		json_decref(value);
		value = eval_member(other, key);
		if (has_digest(value, digest))
			return value;
	}
	json_decref(value);
	return NULL;
}

static const char *
shared_path(const char *name)
{
	return kplace_trial(0, kshown("texts/%s", name));
}

/* Text that all prompts share, in a file named after its digest. */
static const char shared_mark[] = "text:";

/* The text of SOURCE: from such a file, or at a path in RECORD. The caller frees. */
static char *
source_text(const char *source, size_t *len)
{
	const json_t *value;

	if (kbegins(source, shared_mark)) {
		const char *path = shared_path(source + strlen(shared_mark));

		if (krecord_reads)
			krecord_reads(path);
		return kread_file(path, SHARED_MAX, len);
	}
	value = at_path(whole, source, NULL);
	return json_is_string(value) ? text_of(value, len) : NULL;
}

/* The value of a text that is stored in parts. New reference, or NULL. */
static json_t *
put_together(const json_t *text)
{
	const json_t *of = json_object_get(text, "of"), *parts = json_object_get(text, "parts");
	size_t n = json_array_size(of), len = 0;
	auto_free struct ktext_source *sources = kcalloc(n + 1, sizeof *sources);
	json_t *value = NULL;
	bool there = true;
	auto_free char *joined = NULL;

	for (size_t i = 0; i < n && there; i++) {
		const char *source = kjson_item(of, i);

		sources[i].text = source ? source_text(source, &sources[i].len) : NULL;
		there = sources[i].text;
	}
	joined = there ? ktext_whole(parts, sources, n, &len) : NULL;
	if (joined)
		value = kjson_bool(text, "json") ? json_loadb(joined, len, 0, NULL)
		                                 : json_stringn(joined, len);
	kforeach_of(one, sources, n)
		free((char *)one->text);
	return value;
}

/* Put the TEXTS of a part back into RECORD. Returns NULL, or what is missing unless LENIENT. */
static char *
expand(const json_t *texts, bool lenient)
{
	char *fault = NULL;

	kjson_foreach_member(path, text, texts) {
		const char *digest = kjson_str(text, "sha256"), *id = kjson_maybe(text, "id"),
		           *dot = strrchr(path, '.');
		json_auto_t *value = id && dot && karch_is_id(id)
		    ? shown_member(id, dot + 1, digest)
		    : put_together(text);
		bool good = has_digest(value, digest) && at_path(whole, path, value);

		if (!good && !lenient && !fault)
			fault = kasprintf("%s has changed since then in %s%s; "
			                  "restore it from a copy, or make the record "
			                  "again with make redo CELL=%s FROM=%.6s",
			    path, id ? "the evaluation of " : "trials/000/texts", id ?: "",
			    kjson_str(whole, "id"), path);
	}
	return fault;
}

/* ---- parts to records ---- */

/*
 * Adds part STAGE of candidate ID to RECORD; FROM is its digest, if known, and is set to that of
 * the next part.
 */
static char *
add_fact(const char *id, enum kfact stage, json_t **from, json_t *texts)
{
	const char *name = kfact_names[stage],
	           *known = json_string_value(json_object_get(*from, name));
	const char *path = kplace_id(id, name);
	auto_free char *line = read_part(path);
	char *fault = NULL;
	json_auto_t *part = line ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
	json_t *member = json_object_get(part, name);

	if (!line || !part)
		fault = damaged(path, id, name);
	else if (has_schema(part, KRECORD_SCHEMA))
		fault = old_format(path);
	else if (!member || (known && !ksha256_is(line, strlen(line), known)))
		fault = kasprintf("it was not made from %s; %s", path,
		    stage == KFACT_EVAL ? "remove the score.ndjson of "
		                          "the trial, and run make views"
		                        : "restore that from a copy, or run make redo");
	else
		kjson_set(whole, name, json_incref(member));
	json_object_update(texts, json_object_get(part, "texts"));
	json_decref(*from);
	*from = json_incref(json_object_get(part, "from"));
	return fault;
}

/* The fact that FROM names; KFACTS: none. */
static enum kfact
named_in(const json_t *from)
{
	int stage = 0;

	while (stage < KFACTS && !json_object_get(from, kfact_names[stage]))
		stage++;
	return (enum kfact)stage;
}

/*
 * Adds the facts that RECORD was made from. The figures need no prompt; the sample comes before it.
 */
static char *
add_facts(enum kjoin join, json_t *texts)
{
	const char *id = kjson_str(whole, "id");
	json_t *from = json_incref(json_object_get(whole, "from"));
	char *fault = NULL;
	enum kfact stage;

	while (!fault && (stage = named_in(from)) != KFACTS) {
		if (stage == KFACT_PROMPT && (join & ~KJOIN_LENIENT) != KJOIN_WHOLE) {
			json_decref(from);
			from = json_pack("{s:n}", kfact_names[KFACT_SAMPLE]);
		} else {
			fault = add_fact(id, stage, &from, texts);
		}
	}
	json_decref(from);
	return fault;
}

/* Texts of the sample first, then those of the prompt, which refer to it. */
static char *
add_texts(enum kjoin join, const json_t *texts)
{
	static const char *const groups[] = { "sample.parent.", "sample.", "prompt." };
	json_auto_t *rest = json_copy((json_t *)texts);
	char *fault = NULL;

	for (size_t i = 0; i < LEN(groups) && i < (join & ~(unsigned)KJOIN_LENIENT) && !fault;
	     i++) {
		json_auto_t *group = json_object();
		json_t *text;
		const char *path;
		void *next;

		json_object_foreach_safe(rest, next, path, text)
			if (kbegins(path, groups[i])) {
				json_object_set(group, path, text);
				json_object_del(rest, path);
			}
		fault = expand(group, join & KJOIN_LENIENT);
	}
	return fault;
}

char *
krecord_join(json_t *record, enum kjoin join)
{
	const char *id = kjson_str(record, "id");
	const json_t *stored = json_object_get(record, "texts");
	json_auto_t *texts = stored ? json_copy((json_t *)stored) : json_object();
	char *fault;

	whole = record;
	if (!has_schema(record, KPART_SCHEMA))
		return json_object_get(record, "from") ? old_format("it") : NULL;
	if (!karch_is_id(id))
		return kasprintf("id '%s' is not TRIAL/BRANCH", id);
	fault = add_facts(join, texts);
	if (!fault)
		fault = add_texts(join, texts);
	json_object_del(record, "from");
	json_object_del(record, "texts");
	kjson_put(record, "schema", KRECORD_SCHEMA);
	return fault;
}

bool
krecord_next(struct kin *in, struct krec *rec, enum kjoin join)
{
	char *fault;

	if (!kin_next(in, rec))
		return false;
	if (has_schema(rec->json, KPART_SCHEMA)) {
		/* The stored line no longer matches the record. */
		free(rec->line);
		rec->line = NULL;
	}
	fault = krecord_join(rec->json, join);
	if (fault)
		kdie_usage("%s:%ld: %s", rec->file, rec->lineno, fault);
	return true;
}

json_t *
krecord_fact(const char *id, enum kfact last, enum kjoin join, char **fault)
{
	const char *path = kplace_id(id, kfact_names[last]);
	auto_free char *line = read_part(path);
	json_auto_t *record = line ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;

	*fault = NULL;
	if (has_schema(record, KRECORD_SCHEMA))
		*fault = old_format(path);
	else if (record)
		*fault = krecord_join(record, join);
	else if (kis_there(path))
		*fault = damaged(path, id, kfact_names[last]);
	return *fault ? NULL : json_incref(record);
}

void
krecord_check(void)
{
	const char *path = kplace_id(KARCH_REFERENCE, kfact_names[KFACT_EVAL]);
	auto_free char *line = read_part(path);
	char *fault;
	json_auto_t *part = line ? json_loads(line, 0, NULL) : NULL;

	fault = has_schema(part, KRECORD_SCHEMA) ? old_format(path) : NULL;
	if (fault)
		kdie_usage("%s", fault);
}

/* ---- records to parts ---- */

/* Calls VISIT with VALUE and everything below it, from the outside in, and the path of each. */
static void
walk(json_t *value, const char *path, void (*visit)(json_t *v, const char *path))
{
	visit(value, path);
	kjson_foreach_member(key, v, value) {
		auto_free char *below = kasprintf("%s.%s", path, key);

		walk(v, below, visit);
	}
	kjson_foreach(v, value) {
		auto_free char *below = kasprintf("%s.%zu", path, kjson_at(v));

		walk(v, below, visit);
	}
}

/* Of the part that is made: texts that are only named. */
static json_t *named;

/* Removes the members of one program of a sample that are the same in its evaluation. */
static void
thin_program(json_t *program, const char *path)
{
	const char *id = kjson_str(program, "id");
	const char *file;

	if (!karch_is_id(id) || !json_object_get(program, "code"))
		return;
	file = kplace_id(id, kfact_names[KFACT_EVAL]);
	kforeach(key, shown) {
		const json_t *value = json_object_get(program, *key);
		json_auto_t *same =
		    value && kjson_size(value) > SHORT_TEXT ? eval_member(file, *key) : NULL;

		if (!same || !json_equal(same, value))
			continue;
		kjson_extend(named, "{s:{s:s,s:s}}", kshown("%s.%s", path, *key), "id", id,
		    "sha256", digest_of(value));
		json_object_del(program, *key);
	}
}

/* Texts that parts of the prompt may repeat. */
static struct {
	json_t *names;
	struct ktext_source *list; /* of NAMES; texts borrowed */
} sources;

static void
add_source(const char *name, const char *text, size_t len)
{
	size_t n = json_array_size(sources.names);

	kjson_add(sources.names, name);
	kgrow(sources.list, n);
	sources.list[n] = (struct ktext_source){ text, len };
}

static void
add_long_text(json_t *value, const char *path)
{
	if (json_is_string(value) && json_string_length(value) > SHORT_TEXT)
		add_source(path, json_string_value(value), json_string_length(value));
}

/* Replaces the text KEY of the prompt by what it repeats, if that is shorter. */
static void
thin_text(const char *key)
{
	json_t *prompt = json_object_get(whole, kfact_names[KFACT_PROMPT]),
	       *value = json_object_get(prompt, key);
	json_auto_t *text = NULL;
	auto_free char *full = NULL;
	size_t len;

	if (!json_is_string(value) && !json_is_array(value))
		return;
	full = text_of(value, &len);
	text = json_pack("{s:s,s:O,s:o}", "sha256", digest_of(value), "of", sources.names, "parts",
	    ktext_parts(full, len, sources.list, json_array_size(sources.names)));
	if (json_is_array(value))
		kjson_set(text, "json", json_true());
	if (kjson_size(text) < len) {
		kjson_set(
		    named, kshown("%s.%s", kfact_names[KFACT_PROMPT], key), json_deep_copy(text));
		json_object_del(prompt, key);
	}
}

/* What the campaign's prompts have in common with this one, and SHARED. The caller frees. */
static void
shared_text(const json_t *prompt, const char *shared, struct kbuf *b)
{
	const char *user = kjson_str(prompt, "user");
	size_t stable = (size_t)kjson_int(prompt, "stable_bytes"), len;
	const json_t *knowledge = json_object_get(prompt, "knowledge");
	auto_free char *list = json_is_array(knowledge) ? text_of(knowledge, &len) : kstrdup("");

	kbuf_printf(b, "%s\n", kjson_str(prompt, "system"));
	kbuf_add(b, user, strnlen(user, stable));
	kbuf_printf(b, "\n%s\n%s", list, shared ?: "");
}

/* The name of the file that holds the text; the file is made unless it exists. */
static const char *
keep_shared(const struct kbuf *text)
{
	const char *hex = kshown("%.16s", ksha256(text->data, text->len)), *path = shared_path(hex);
	auto_free char *parent = kfolder_of(path);

	kmake_folder(parent);
	if (!kis_there(path))
		kwrite_or_die(path, text->data, text->len);
	return kshown("%s%s", shared_mark, hex);
}

static void
thin_prompt(const char *shared)
{
	auto_buf struct kbuf text = { 0 };

	shared_text(json_object_get(whole, "prompt"), shared, &text);
	sources.names = json_array();
	add_source(keep_shared(&text), text.data, text.len);
	thin_text("knowledge");
	thin_text("system");
	walk(json_object_get(whole, "sample"), "sample", add_long_text);
	thin_text("user");
	json_decref(sources.names);
	free(sources.list);
	sources.list = NULL;
}

/*
 * The last fact that RECORD has before the stage NAME; KFACTS: none. Views are made from
 * evaluations.
 */
static enum kfact
fact_before(const json_t *record, const char *name)
{
	size_t stage = kindex_of(name, kfact_names, KFACTS);

	if (stage == KFACTS)
		return KFACT_EVAL;
	while (stage-- > 0)
		if (json_object_get(record, kfact_names[stage]))
			return (enum kfact)stage;
	return KFACTS;
}

/* Records what the part NAME was made from. */
static void
set_from(const json_t *record, const char *name, json_t *part)
{
	enum kfact stage = fact_before(record, name);
	const char *path;
	auto_free char *text = NULL;

	if (stage == KFACTS)
		return;
	path = kplace_id(kjson_str(record, "id"), kfact_names[stage]);
	text = read_part(path);
	if (!text)
		kdie_usage("%s: is missing: a part of a record names what it was made from", path);
	kjson_extend(part, "{s:{s:s}}", "from", kfact_names[stage], ksha256_of(text));
}

json_t *
krecord_part(const json_t *record, const char *name, const char *shared)
{
	const char *const one[] = { name, NULL };
	json_t *part = json_pack("{s:s}", "schema", KPART_SCHEMA);
	json_auto_t *texts = json_object(), *thin = json_copy((json_t *)record);

	whole = thin;
	named = texts;
	kjson_pick(part, record, "campaign", "trial", "branch", "id");
	set_from(record, name, part);
	json_object_set_new(thin, name, json_deep_copy(json_object_get(record, name)));
	if (!strcmp(name, kfact_names[KFACT_SAMPLE]))
		walk(json_object_get(thin, name), name, thin_program);
	if (!strcmp(name, kfact_names[KFACT_PROMPT]))
		thin_prompt(shared);
	kjson_share(part, thin, fact_before(record, name) == KFACT_EVAL ? views : one);
	if (json_object_size(texts))
		json_object_set(part, "texts", texts);
	return part;
}

void
krecord_store(const json_t *record, const char *name, const char *shared)
{
	const char *path = kplace_id(kjson_str(record, "id"), name);
	json_auto_t *part = NULL;

	if (kis_there(path))
		kdie_usage("%s: exists already; make redo makes it again", path);
	kout_open(path);
	part = krecord_part(record, name, shared);
	kout_json(part);
	kout_commit();
}

void
krecord_put(struct krec *rec, bool thin, const char *name, const json_t *value)
{
	if (thin) {
		json_auto_t *record = json_copy(rec->json), *part = NULL;

		json_object_set(record, name, (json_t *)value);
		part = krecord_part(record, name, NULL);
		kout_json(part);
		return;
	}
	if (!rec->line) {
		rec->line = json_dumps(rec->json, KIO_DUMP);
		if (!rec->line)
			kdie(K_IO, "out of memory");
		rec->len = strlen(rec->line);
	}
	kout_member(rec, name, value);
}
