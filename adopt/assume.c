/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assume: see unit.h. What all observed calls have in common, and an entry may rely on: pointers
 * that are always null, arrays that always are parts of one, of which a call changes some, and
 * pointers to places in an array that are not its beginning.
 */
#include "unit.h"

#include "kio.h"

static const json_t *
pointer(const json_t *call, const char *name)
{
	return json_object_get(json_object_get(call, "pointers"), name);
}

/* The names of pointers that are null in every call. New reference. */
static json_t *
always_null(const json_t *calls)
{
	json_t *list = json_array(), *p;
	const char *name;

	json_object_foreach(json_object_get(json_array_get(calls, 0), "pointers"), name, p) {
		bool null = true;

		kjson_foreach(call, calls)
			null &= kjson_bool(pointer(call, name), "null");
		if (null)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

/* The first argument that points into the same piece of memory as NAME; "": unknown. */
static const char *
first_in_piece(const json_t *call, const char *name)
{
	const json_t *p = pointer(call, name);

	return json_object_get(p, "offset") ? kjson_str_or(p, "shares", name) : "";
}

static json_int_t
offset(const json_t *call, const char *name)
{
	return kjson_int(pointer(call, name), "offset");
}

/*
 * If an array reaches into another one, which begins after it, and the call changes one of them:
 * the first argument in their piece of memory; otherwise NULL.
 */
static const char *
overlapping(const json_t *call)
{
	json_t *pointers = json_object_get(call, "pointers"), *p, *q;
	const char *name, *other;

	json_object_foreach(pointers, name, p) {
		const char *first = first_in_piece(call, name);
		json_int_t end = offset(call, name) + kjson_int(p, "room");

		if (!*first || kjson_int(p, "reach") <= kjson_int(p, "room"))
			continue;
		json_object_foreach(pointers, other, q)
			if (offset(call, other) == end &&
			    !strcmp(first_in_piece(call, other), first) &&
			    (kjson_bool(p, "written") || kjson_bool(q, "written")))
				return first;
	}
	return NULL;
}

/* The pointers that are in one piece of memory with FIRST in every call. New reference. */
static json_t *
always_with(const json_t *calls, const char *first)
{
	json_t *list = json_array(), *p;
	const char *name;

	json_object_foreach(json_object_get(json_array_get(calls, 0), "pointers"), name, p) {
		bool with = true;

		kjson_foreach(call, calls)
			with &= !strcmp(first_in_piece(call, name), first);
		if (with)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

/* The one of them that begins first in every call, or NULL. */
static const char *
lowest(const json_t *calls, const json_t *names)
{
	kjson_foreach_text(name, names) {
		bool below = true;

		kjson_foreach(call, calls)
			kjson_foreach_text(other, names)
				below &= offset(call, name) <= offset(call, other);
		if (below)
			return name;
	}
	return NULL;
}

/* Pointers into one array, each with the name of the one where that begins. New reference. */
static json_t *
always_joined(const json_t *calls)
{
	json_t *joined = json_object();
	json_auto_t *names = NULL;
	const char *first = NULL, *base;

	kjson_foreach(call, calls)
		if (!first)
			first = overlapping(call);
	names = first ? always_with(calls, first) : NULL;
	base = names ? lowest(calls, names) : NULL;
	kjson_foreach_text(name, base ? names : NULL)
		if (strcmp(name, base))
			json_object_set_new(joined, name, json_string(base));
	return joined;
}

/*
 * Arrays that some call also touches before the place that it gets, in a piece of memory that is
 * known in every call. New reference.
 */
static json_t *
always_within(const json_t *calls, const json_t *joined)
{
	json_t *list = json_array(), *p;
	const char *name;

	json_object_foreach(json_object_get(json_array_get(calls, 0), "pointers"), name, p) {
		bool below = false, known = true;

		kjson_foreach(call, calls) {
			below |= kjson_bool(pointer(call, name), "below");
			known &= *first_in_piece(call, name) != '\0';
		}
		if (below && known && !json_object_size(joined))
			json_array_append_new(list, json_string(name));
	}
	return list;
}

json_t *
unit_assume(const json_t *calls)
{
	json_auto_t *null = always_null(calls), *joined = always_joined(calls),
	            *within = always_within(calls, joined);
	json_t *all = json_object();

	if (json_array_size(null))
		json_object_set(all, "null", null);
	if (json_object_size(joined))
		json_object_set(all, "joined", joined);
	if (json_array_size(within))
		json_object_set(all, "within", within);
	if (json_object_size(all))
		return all;
	json_decref(all);
	return NULL;
}
