/* SPDX-License-Identifier: Apache-2.0 */
/* log: see log.h. */
#include "log.h"

#include "adopt.h"

/* If more than this share of lines is dropped, the rest is not reliable. */
#define TORN 0.01

/* Lines with a tag that name the kernel, or cannot be parsed; and how many of them are dropped. */
static size_t tagged, dropped;

/* "12", "0x1f", "0.5" and "true" become what they look like, anything else a text. */
static json_t *
value_of(const char *word, size_t len)
{
	auto_free char *text = kmemdup(word, len);
	json_t *v = json_loadb(word, len, JSON_DECODE_ANY, NULL);

	if (json_is_number(v) || json_is_boolean(v))
		return v;
	json_decref(v);
	return kregex_find("\\A0x[0-9a-fA-F]{1,15}\\z", word, len, NULL, 0)
	    ? json_integer(strtoll(text, NULL, 16))
	    : kjson_text(word, len);
}

/* The words after a tag, without commas. NULL: they do not follow the grammar. */
static json_t *
read_words(const char *p, size_t len)
{
	static const char word[] = "\\A\\s*([^\\d\\s=\\[][^\\s=\\[]*)=([^\\s\\[]+?)[,;]*(?!"
	                           "\\S)";
	json_auto_t *o = json_object();
	struct kregex_span at[3];

	for (; kregex_find(word, p, len, at, LEN(at)); p += at[0].to, len -= at[0].to) {
		auto_free char *key = kregex_text(p, at[1]);

		json_object_set_new(o, key, value_of(p + at[2].from, at[2].to - at[2].from));
	}
	return kregex_find("\\A\\s*\\z", p, len, NULL, 0) ? json_incref(o) : NULL;
}

/* grid_x … or grid (a number, or "(x,y,z)") as three numbers, removed from O. NULL: absent. */
static json_t *
take_geometry(json_t *o, const char *name)
{
	long long at[3] = { 0, 1, 1 };
	const json_t *flat = json_object_get(o, name);
	bool found = json_is_integer(flat) ||
	    sscanf(json_string_value(flat) ?: "", "(%lld,%lld,%lld)", &at[0], &at[1], &at[2]) >= 1;

	if (json_is_integer(flat))
		at[0] = json_integer_value(flat);
	for (size_t i = 0; i < LEN(at); i++) {
		const char *key = kshown("%s_%c", name, "xyz"[i]);
		const json_t *v = json_object_get(o, key);

		if (json_is_integer(v))
			at[i] = json_integer_value(v);
		found |= !i && json_is_integer(v);
		json_object_del(o, key);
	}
	json_object_del(o, name);
	return found ? json_pack("[I,I,I]", at[0], at[1], at[2]) : NULL;
}

/* The names in a line: some are missing if it was torn between two words. The caller frees. */
static char *
names_of(const json_t *words)
{
	struct kbuf b = kbuf_empty();

	kjson_foreach_member(name, v, words)
		kbuf_join(&b, " ", name);
	return b.data;
}

/* Drop the lines that lack names which most lines have. */
static void
drop_odd(json_t *lines)
{
	json_auto_t *counts = json_object();
	const char *usual = "";
	json_int_t most = 0;

	kjson_foreach(words, lines) {
		auto_free char *names = names_of(words);

		kjson_count(counts, names, 1);
	}
	kjson_foreach_member(names, v, counts)
		if (json_integer_value(v) > most) {
			most = json_integer_value(v);
			usual = names;
		}
	for (size_t i = json_array_size(lines); i-- > 0;) {
		auto_free char *names = names_of(json_array_get(lines, i));

		if (strcmp(names, usual)) {
			json_array_remove(lines, i);
			dropped++;
		}
	}
}

/* Lines as calls; those that lack a GEOMETRY are dropped. New reference. */
static json_t *
calls_of(json_t *lines, bool geometry)
{
	json_t *calls = json_array();

	drop_odd(lines);
	kjson_foreach(words, lines) {
		json_t *grid = take_geometry(words, "grid"), *block = take_geometry(words, "block"),
		       *ns = json_object_get(words, "ns");
		json_auto_t *call = json_pack("{s:o*,s:o*,s:O*,s:O}", "grid", grid, "block", block,
		    "ns", json_is_integer(ns) ? ns : NULL, "args", words);

		json_object_del(words, "kernel");
		json_object_del(words, "ns");
		if (geometry && !(grid && block))
			dropped++;
		else
			json_array_append(calls, call);
	}
	return calls;
}

/* Adds the values of other tags, call by call, if there are as many lines as calls. */
static void
add_others(json_t *calls, const json_t *others, const char *name)
{
	size_t n = json_array_size(calls);

	if (!n)
		json_array_extend(calls, (json_t *)others);
	else if (json_array_size(others) == n)
		kjson_foreach(call, calls)
			json_object_update_missing(json_object_get(call, "args"),
			    json_object_get(json_array_get(others, kjson_at(call)), "args"));
	else if (json_array_size(others))
		kwarn("%s: %zu lines with other tags do not match the %zu calls one to one; they "
		      "are ignored",
		    name, json_array_size(others), n);
}

json_t *
log_calls(const char *text, size_t len, const char *name)
{
	static const char line[] = "\\[KKLOG_(CPP\\b)?([^\\]\\n]*\\])?(.*)";
	json_auto_t *main_lines = json_array(), *other_lines = json_array(), *others = NULL;
	struct kregex_span at[4];
	json_t *calls;

	for (; kregex_find(line, text, len, at, LEN(at)); text += at[0].to, len -= at[0].to) {
		json_auto_t *words = at[2].from == KREGEX_UNSET
		    ? NULL
		    : read_words(text + at[3].from, at[3].to - at[3].from);

		if (words &&
		    strcmp(kjson_str_or(words, "kernel", adoption.kernel), adoption.kernel))
			continue;
		tagged++;
		if (words && json_object_get(words, "kernel"))
			json_array_append(
			    at[1].from == KREGEX_UNSET ? other_lines : main_lines, words);
		else
			dropped++;
	}
	if (!tagged)
		kdie(K_MISSING, "%s: contains no line '[KKLOG_CPP] kernel=%s …'", name,
		    adoption.kernel);
	calls = calls_of(main_lines, adoption.device);
	others = calls_of(other_lines, false);
	if ((double)dropped > TORN * (double)tagged)
		kdie(K_MISSING,
		    "%s: %zu of %zu lines are unreadable or incomplete (more than 1 %%); write "
		    "each line with one call of write(), and run again",
		    name, dropped, tagged);
	add_others(calls, others, name);
	return calls;
}
