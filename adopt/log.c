/* SPDX-License-Identifier: Apache-2.0 */
/* log: see log.h. */
#include "log.h"

#include "kio.h"
#include "kregex.h"

/* If more than this share of lines is dropped, the rest is not reliable. */
#define TORN 0.01

static const char tag[] = "[KKLOG_", main_tag[] = "[KKLOG_CPP]";

/*
 * "12", "0x1f", "0.5" and "true" become what they look like, anything else a text. Commas at the
 * end are left out.
 */
static json_t *
value_of(const char *word, size_t len)
{
	char *text, *end;
	json_t *v = NULL;

	while (len && (word[len - 1] == ',' || word[len - 1] == ';'))
		len--;
	text = kmemdup(word, len);
	/* With a NUL it is text: no number has one. */
	if (len && !kis_space(*text) && strlen(text) == len) {
		long long i;
		double d;

		errno = 0;
		i = strtoll(text, &end, kbegins(text, "0x") ? 16 : 10);
		if (!*end && !errno)
			v = json_integer(i);
		d = v ? 0 : strtod(text, &end);
		if (!v && !*end && d - d == 0)
			v = json_real(d);
	}
	if (!v && (!strcmp(text, "true") || !strcmp(text, "false")))
		v = json_boolean(*text == 't');
	if (!v)
		v = kjson_text(text, len);
	free(text);
	return v;
}

/* The words after the tag. NULL: they do not follow the grammar. */
static json_t *
read_words(const char *p, size_t len)
{
	static const char word[] = "\\A\\s*([^\\d\\s=\\[][^\\s=\\[]*)=([^\\s\\[]+)(?!\\S)";
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
	json_t *flat = json_object_get(o, name);
	bool found = json_is_integer(flat);

	if (found)
		at[0] = json_integer_value(flat);
	else if (json_is_string(flat))
		found = sscanf(json_string_value(flat), "(%lld,%lld,%lld)", &at[0], &at[1],
		            &at[2]) >= 1;
	for (size_t i = 0; i < 3; i++) {
		const char *key = kshown("%s_%c", name, "xyz"[i]);
		const json_t *v = json_object_get(o, key);

		if (json_is_integer(v))
			at[i] = json_integer_value(v);
		found = found || (i == 0 && json_is_integer(v));
		json_object_del(o, key);
	}
	json_object_del(o, name);
	return found ? json_pack("[I,I,I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2])
	             : NULL;
}

/* One record as a call. NULL: dropped. */
static json_t *
call_of(json_t *words, bool geometry)
{
	json_t *grid = take_geometry(words, "grid"), *block = take_geometry(words, "block"),
	       *ns = json_object_get(words, "ns");
	json_auto_t *call = json_pack("{s:o*,s:o*,s:O*,s:o}", "grid", grid, "block", block, "ns",
	    json_is_integer(ns) ? ns : NULL, "args", words);

	json_object_del(words, "kernel");
	json_object_del(words, "ns");
	return geometry && (!grid || !block) ? NULL : json_incref(call);
}

/* The names in a call, of which a line lacks some if it was torn between two words. To be freed. */
static char *
names_of(const json_t *call)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%d %d", json_object_get(call, "grid") != NULL,
	    json_object_get(call, "block") != NULL);
	kjson_foreach_member(name, v, call, "args")
		kbuf_printf(&b, " %s", name);
	return b.data;
}

/* Drop the calls that lack names which most calls have. */
static void
drop_odd(json_t *calls, struct log_state *state)
{
	json_auto_t *counts = json_object();
	const char *usual = "";
	json_int_t most = 0;

	kjson_foreach(call, calls) {
		auto_free char *names = names_of(call);

		kjson_count(counts, names, 1);
	}
	kjson_foreach_member(name, v, counts)
		if (json_integer_value(v) > most) {
			most = json_integer_value(v);
			usual = name;
		}
	for (size_t i = json_array_size(calls); i-- > 0;) {
		auto_free char *names = names_of(json_array_get(calls, i));

		if (strcmp(names, usual)) {
			json_array_remove(calls, i);
			state->dropped++;
		}
	}
}

static void
read_line(const char *p, const char *end, const char *kernel, bool geometry, json_t *calls,
    json_t *others, struct log_state *state)
{
	const char *at = memmem(p, (size_t)(end - p), tag, strlen(tag)), *close;
	json_t *words, *call = NULL;
	bool main_line;

	if (!at)
		return;
	main_line = kbegins(at, main_tag);
	close = memchr(at, ']', (size_t)(end - at));
	words = close ? read_words(close + 1, (size_t)(end - close - 1)) : NULL;
	if (words && strcmp(kjson_str_or(words, "kernel", kernel), kernel)) {
		json_decref(words);
		return;
	}
	state->lines++;
	if (words && json_object_get(words, "kernel"))
		call = call_of(words, geometry && main_line);
	else
		json_decref(words);
	if (call)
		json_array_append_new(main_line ? calls : others, call);
	else
		state->dropped++;
}

/* Adds the values of other tags, call by call, if there are as many lines as calls. */
static void
add_others(json_t *calls, json_t *others, struct log_state *state)
{
	size_t i = 0;

	if (!json_array_size(calls)) {
		json_array_extend(calls, others);
		return;
	}
	if (json_array_size(others) != json_array_size(calls)) {
		state->others = json_array_size(others);
		return;
	}
	kjson_foreach(call, calls)
		json_object_update_missing(json_object_get(call, "args"),
		    json_object_get(json_array_get(others, i++), "args"));
}

json_t *
log_calls(const char *text, size_t len, const char *kernel, bool geometry, struct log_state *state)
{
	json_t *calls = json_array();
	json_auto_t *others = json_array();
	const char *end;

	*state = (struct log_state){ 0 };
	for (const char *p = text; p < text + len; p = end + 1) {
		end = memchr(p, '\n', (size_t)(text + len - p));
		if (!end)
			end = text + len;
		read_line(p, end, kernel, geometry, calls, others, state);
	}
	drop_odd(calls, state);
	drop_odd(others, state);
	add_others(calls, others, state);
	state->torn = (double)state->dropped > TORN * (double)state->lines;
	return calls;
}
