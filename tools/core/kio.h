/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kio: records in, records out. A record is one JSON object on one line. A stage parses the line to
 * read from it, and appends ONE member to the unchanged line: existing members pass through byte
 * for byte.
 */
#pragma once

#include <jansson.h>

#include "kutil.h"

/*
 * Longest accepted line, in bytes, including its newline; no tool writes a longer record. A record
 * holds the programs of up to 18 candidates twice (in its sample and its prompt), one reply with
 * its reasoning, and one evaluation. Each part that comes from outside has a limit of its own, so
 * that the whole fits. Bytes are counted as in JSON, with escapes.
 */
#define KIO_LINE_MAX ((size_t)64 << 20)
#define KIO_REPLY_MAX ((size_t)4 << 20) /* the text of a reply, and its reasoning */
#define KIO_CODE_MAX ((size_t)1 << 20)  /* a program with its files */
#define KIO_EVAL_MAX ((size_t)8 << 20)  /* everything in an evaluation */

/* Flag of a reply that was cut to KIO_REPLY_MAX: its candidate has failed. */
#define KIO_TOO_LARGE "too_large"

/*
 * Flags of every json_dumps in the suite: compact, sorted keys, 17 digits so that reals survive a
 * round trip.
 */
#define KIO_DUMP (JSON_COMPACT | JSON_SORT_KEYS)

struct krec {
	json_t *json; /* the parsed object; owned */
	char *line;   /* the raw line without newline; owned */
	size_t len;
	const char *file; /* for messages; borrowed */
	long lineno;
};

/*
 * Parse LEN bytes as one record: UTF-8, one object, no duplicate keys, no trailing text. On success
 * fills REC (the caller calls krec_free) and returns NULL. On failure returns the reason, a text of
 * kshown. Never exits: this is the fuzzed entry.
 */
const char *krec_parse(struct krec *rec, const char *line, size_t len);
void krec_free(struct krec *rec);

/* A stream of records; NULL or "-" is stdin. */
struct kin {
	FILE *f;
	const char *file;
	long lineno;
	long count; /* of records so far */
	char *buf;
	size_t cap;
	bool lenient;  /* a line that is too long counts as the end of the input, not as a fault */
	bool too_long; /* there was one */
};
void kin_open(struct kin *in, const char *path);
/*
 * Next record into REC (the caller frees it), or false at the end. Blank lines are skipped. A
 * malformed or truncated line (no final newline) ends the program with K_USAGE and file:line; a
 * read error with K_IO.
 */
bool kin_next(struct kin *in, struct krec *rec);
/*
 * The same, but a faulty line sets *FAULT to "file:line: what", which the caller frees. If *FAULT
 * is NULL, false means the end. The next call continues after the bad line, unless that was too
 * long.
 */
bool kin_try(struct kin *in, struct krec *rec, char **fault);
/*
 * The next line that is not blank, without its newline and not parsed; borrowed until the next call
 * on IN. NULL: the end, or a FAULT as in kin_try.
 */
const char *kin_line(struct kin *in, size_t *len, char **fault);
void kin_close(struct kin *in);
/*
 * Like kin_close, for input that must hold a record: a named file without one is damaged and ends
 * the program with K_USAGE.
 */
void kin_end(struct kin *in);
/*
 * The first record of the file PATH, or an array of all of them; NULL when there is no such file,
 * or no record in it. New reference. Faults end the program as in kin_next.
 */
json_t *kin_first(const char *path);
json_t *kin_all(const char *path);

/*
 * One output file per run. NULL or "-" is stdout; otherwise a temporary file next to PATH
 * (PATH.XXXXXX), which kout_commit syncs and renames. Without a commit, the temporary file is
 * removed at exit and on INT, TERM and HUP; the old file stays.
 */
void kout_open(const char *path);
/*
 * Write REC's line with member NAME = VALUE appended. Dies with K_USAGE if the record already has
 * that member, or if the line would be longer than KIO_LINE_MAX.
 */
void kout_member(const struct krec *rec, const char *name, const json_t *value);
void kout_json(const json_t *value);
/*
 * Text for people, wherever it comes from: control characters are masked. A newline is added,
 * unless it ends with one. kout_raw writes data for programs (records, sources) byte for byte, and
 * a newline; on a terminal it is masked, too.
 */
void kout_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kout_raw(const char *line, size_t len);
/* Flush, check, sync, rename. Dies with K_IO on any failure. */
void kout_commit(void);
/* VALUE as all of the output PATH. */
void kout_only(const char *path, const json_t *value);

/* A JSON string from any bytes: NUL and invalid UTF-8 become U+FFFD. New reference. */
json_t *kjson_text(const char *bytes, size_t len);
/* The same for a text. */
json_t *kjson_string(const char *text);
/*
 * How many of these bytes, counted from the first, take at most MAX bytes as the text of a JSON
 * string.
 */
size_t kjson_fit(const char *bytes, size_t len, size_t max);
/* Take over VALUE as a member. Dies when it is NULL: out of memory, or a text that is not UTF-8. */
void kjson_set(json_t *object, const char *key, json_t *value);
/* The same for a text or a number. */
#define kjson_put(object, key, value) \
	kjson_set(object, key, \
	    _Generic((value), char *: json_string, const char *: json_string, double: json_real, \
	        default: json_integer)(value))
/*
 * The path of the first member in which two values differ, "performance.latency_us", with AT before
 * it unless that is ""; NULL: none. The caller frees.
 */
char *kjson_difference(const json_t *a, const json_t *b, const char *at);
/* What is at PATH, in the form for a message, or "nothing"; the caller frees. */
char *kjson_told(const json_t *object, const char *path);
/*
 * The member KEY, borrowed; if there is none, VALUE becomes it. VALUE is taken over in either case.
 */
json_t *kjson_ensure(json_t *object, const char *key, json_t *value);
/* Add N to an integer member, which counts from 0. */
void kjson_count(json_t *object, const char *key, json_int_t n);
/* Size in bytes of VALUE in a record. */
size_t kjson_size(const json_t *value);

/*
 * Typed access for borders. PATH is dotted ("sample.parent.code"). The _or forms give the default
 * when the member is absent; the others die with K_USAGE naming file:line and the field when it is
 * absent or of another type. Results are borrowed.
 */
const char *krec_str(const struct krec *rec, const char *path);
const json_t *kjson_path(const json_t *obj, const char *path);
const char *kjson_str_or(const json_t *obj, const char *path, const char *def);
#define kjson_maybe(object, path) kjson_str_or(object, path, NULL)
double kjson_num_or(const json_t *obj, const char *path, double def);
long kjson_int_or(const json_t *obj, const char *path, long def);
bool kjson_bool_or(const json_t *obj, const char *path, bool def);
/* The same, with the usual defaults: "", 0, 0 and false. */
const char *kjson_str(const json_t *obj, const char *path);
double kjson_num(const json_t *obj, const char *path);
long kjson_int(const json_t *obj, const char *path);
bool kjson_bool(const json_t *obj, const char *path);
/* Is the member at PATH the string TEXT? An absent member counts as the empty string. */
bool kjson_is(const json_t *obj, const char *path, const char *text);
/* Is TEXT one of the items of the array LIST (NULL: no)? */
bool kjson_has(const json_t *list, const char *text);
/*
 * The string that is item I of LIST, borrowed; NULL: there is no such item, or it is not a string.
 */
const char *kjson_item(const json_t *list, size_t i);
/* The N numbers of LIST; the caller frees. */
double *kjson_numbers(const json_t *list, size_t *n);
/* Append TEXT to LIST. */
void kjson_add(json_t *list, const char *text);
/*
 * Append to a list, or put into an object, what json_pack makes of the rest: FORMAT, .... Does
 * nothing if json_pack cannot store it, such as a NaN; what must not be lost goes through
 * kjson_set.
 */
#define kjson_append(list, ...) json_array_append_new(list, json_pack(__VA_ARGS__))
#define kjson_extend(object, ...) json_object_update_new(object, json_pack(__VA_ARGS__))
/* Put KEY into SET, an object. Was it not there before? */
bool kjson_enter(json_t *set, const char *key);
/* The first object of LIST whose member KEY is TEXT, or NULL. */
json_t *kjson_find(const json_t *list, const char *key, const char *text);
/*
 * Does what follows with each ITEM, which it declares, of the array LIST (NULL: none), or of the
 * array at a PATH in it: kjson_foreach(row, eval, "timing"). The list may grow meanwhile.
 */
#define kjson_foreach(item, list, ...) \
	for (struct kjson_walk item##_walk = { kjson_path(list, "" __VA_ARGS__), 0, false }; \
	     kjson_next(&item##_walk);) \
		for (json_t *item = json_array_get(item##_walk.array, item##_walk.next - 1); \
		     item##_walk.inside; item##_walk.inside = false)
/* The index of ITEM, inside the loop. */
#define kjson_at(item) (item##_walk.next - 1)
/* The same for an array of strings: TEXT is the string. */
#define kjson_foreach_text(text, list, ...) \
	for (struct kjson_walk text##_walk = { kjson_path(list, "" __VA_ARGS__), 0, false }; \
	     kjson_next(&text##_walk);) \
		for (const char *text = json_string_value( \
		         json_array_get(text##_walk.array, text##_walk.next - 1)); \
		     text##_walk.inside; text##_walk.inside = false)
/* INSIDE is still set where a break has left the loop. */
struct kjson_walk {
	const json_t *array;
	size_t next;
	bool inside;
};
static inline bool
kjson_next(struct kjson_walk *w)
{
	return w->inside = !w->inside && w->next++ < json_array_size(w->array);
}
/*
 * The same for each member NAME of OBJECT (NULL: none) and its VALUE. The member itself may be
 * removed meanwhile, and others may get new values.
 */
#define kjson_foreach_member(name, value, object, ...) \
	for (struct kjson_members name##_walk = kjson_members(kjson_path(object, "" __VA_ARGS__)); \
	     kjson_next_member(&name##_walk);) \
		for (const char *name = json_object_iter_key(name##_walk.at), *name##_once = name; \
		     name##_once; name##_once = NULL) \
			for (json_t * value __attribute__((unused)) = \
			         json_object_iter_value(name##_walk.at); \
			     name##_walk.inside; name##_walk.inside = false)

struct kjson_members {
	json_t *object;
	void *next, *at;
	bool inside;
};
static inline struct kjson_members
kjson_members(const json_t *object)
{
	return (struct kjson_members){ (json_t *)object, json_object_iter((json_t *)object), NULL,
		false };
}
static inline bool
kjson_next_member(struct kjson_members *m)
{
	m->at = m->inside ? NULL : m->next;
	m->next = m->at ? json_object_iter_next(m->object, m->at) : NULL;
	return m->inside = m->at != NULL;
}

/* Sort the array as qsort does; ORDER gets pointers to json_t *. */
void kjson_sort(json_t *list, int (*order)(const void *, const void *));
/* The same for objects, by these members, texts or numbers; "-count": the largest first. */
#define kjson_sort_by(list, ...) kjson_sort_keys(list, (const char *const[]){ __VA_ARGS__, NULL })
void kjson_sort_keys(json_t *list, const char *const *keys);
/*
 * Copy to TO those of the members KEYS (NULL-terminated) that FROM has; an empty list counts as
 * absent.
 */
void kjson_share(json_t *to, const json_t *from, const char *const *keys);
#define kjson_pick(to, from, ...) kjson_share(to, from, (const char *const[]){ __VA_ARGS__, NULL })

/*
 * Parse a JSON file (object, no duplicate keys). Dies with K_USAGE naming file:line:column. New
 * reference.
 */
json_t *kjson_load(const char *path);
/* The same, but NULL when there is no such file. */
json_t *kjson_if_there(const char *path);
/* The same for a shipped data file (kdata_path), which must have this SCHEMA. */
json_t *kjson_data(const char *name, const char *schema);

/* "007/02" for messages and ids, a text of kshown: trial and branch are members of the record. */
const char *krec_id(const struct krec *rec);
