/* SPDX-License-Identifier: Apache-2.0 */
/* krecord: see krecord.h. */
#include "krecord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "karch.h"
#include "kutil.h"

/* The members that views add, in their order. */
static const char *const views[] = { "coords", "audit", "score" };

/* "trials/007/NAME" of the campaign DIR, as messages name it; the caller frees. */
static char *
path_of(const char *dir, const char *place, const char *name)
{
	return strcmp(dir, ".") ? kasprintf("%s/trials/%s/%s.ndjson", dir, place, name)
	                        : kasprintf("trials/%s/%s.ndjson", place, name);
}

/* The line of the file PATH, without newline, and its digest; or NULL. The caller frees. */
static char *
read_eval(const char *path, char hex[65])
{
	size_t len;
	char *text = kread_file(path, KIO_LINE_MAX, &len), *end;

	if (!text && errno != ENOENT && errno != ENOTDIR)
		kdie_errno(K_IO, "%s", path);
	end = text ? memchr(text, '\n', len) : NULL;
	if (!end) {
		free(text);
		return NULL;
	}
	*end = '\0';
	ksha256_hex(text, (size_t)(end - text), hex);
	return text;
}

static char *
damaged(const char *path, const char *id)
{
	return kasprintf("%s is missing or damaged; restore it from a copy, or run make redo "
	                 "CELL=%s FROM=eval",
	    path, id);
}

/* What the evaluation has, and RECORD has not. */
static char *
add_eval(const char *dir, json_t *record, const char *id)
{
	char *path = path_of(dir, id, "eval"), hex[65], *text = read_eval(path, hex), *fault = NULL;
	json_t *whole = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	if (!text)
		fault = damaged(path, id);
	else if (strcmp(hex, kjson_str_or(record, "from", "")))
		fault = kasprintf("it was not made from %s; remove the coords, audit and score of "
		                  "the trial, and run make views",
		    path);
	else if (json_object_update_missing(record, whole))
		fault = damaged(path, id);
	json_decref(whole);
	free(text);
	free(path);
	return fault;
}

/* The member NAME of an earlier view; one that has no such record lacks it. */
static char *
add_view(const char *dir, json_t *record, const char *id, const char *name)
{
	char *place = kstrndup(id, strcspn(id, "/"));
	char *path = path_of(dir, place, name), *fault = NULL;
	struct krec rec;
	struct kin in;

	free(place);
	if (kis_there(path)) {
		kin_open(&in, path);
		while (!json_object_get(record, name) && kin_try(&in, &rec, &fault)) {
			json_t *value = json_object_get(rec.json, name);

			if (value && !strcmp(kjson_str_or(rec.json, "id", ""), id))
				json_object_set(record, name, value);
			krec_free(&rec);
		}
		kin_close(&in);
	}
	free(path);
	return fault;
}

char *
krecord_glance(const char *dir, const json_t *record)
{
	const char *id = kjson_str_or(record, "id", "");
	char *path = path_of(dir, id, "eval"), *fault;
	FILE *f = fopen(path, "re");
	bool good = f && fseek(f, -1, SEEK_END) == 0 && getc(f) == '\n';

	if (f)
		fclose(f);
	fault = good ? NULL : damaged(path, id);
	free(path);
	return fault;
}

char *
krecord_join(const char *dir, json_t *record)
{
	const char *id = kjson_str_or(record, "id", "");
	char *fault;
	size_t own = LEN(views);

	if (json_object_get(record, "eval") || !json_object_get(record, "from"))
		return NULL;
	if (!karch_id(id, &(long){ 0 }, &(long){ 0 }))
		return kasprintf("id '%s' is not TRIAL/BRANCH", id);
	fault = add_eval(dir, record, id);
	while (own && !json_object_get(record, views[own - 1]))
		own--;
	for (size_t i = 0; i + 1 < own && !fault; i++)
		fault = add_view(dir, record, id, views[i]);
	return fault;
}

bool
krecord_next(struct kin *in, const char *dir, struct krec *rec)
{
	bool thin;
	char *fault;

	if (!kin_next(in, rec))
		return false;
	thin = !json_object_get(rec->json, "eval");
	fault = krecord_join(dir, rec->json);
	if (fault)
		kdie(K_USAGE, "%s:%ld: %s", rec->file, rec->lineno, fault);
	/* The line is not that of the record any more. */
	if (thin && json_object_get(rec->json, "eval")) {
		free(rec->line);
		rec->line = NULL;
	}
	return true;
}

static json_t *
thin_record(const struct krec *rec, const char *dir)
{
	static const char *const keys[] = { "schema", "campaign", "trial", "branch", "id", "from" };
	const char *id = kjson_str_or(rec->json, "id", "");
	char *path = path_of(dir, id, "eval"), hex[65], *text;
	json_t *o = json_object();

	for (size_t i = 0; i < LEN(keys); i++)
		if (json_object_get(rec->json, keys[i]))
			json_object_set(o, keys[i], json_object_get(rec->json, keys[i]));
	if (!json_object_get(o, "from")) {
		text = read_eval(path, hex);
		if (!text)
			kdie(K_USAGE,
			    "%s: is missing; a thin record names the facts that it was made from",
			    path);
		json_object_set_new(o, "from", json_string(hex));
		free(text);
	}
	free(path);
	return o;
}

void
krecord_put(struct krec *rec, const char *dir, bool thin, const char *name, const json_t *value)
{
	json_t *o;

	if (thin) {
		o = thin_record(rec, dir);
		json_object_set(o, name, (json_t *)value);
		kout_json(o);
		json_decref(o);
		return;
	}
	if (!rec->line) {
		json_object_del(rec->json, "from");
		rec->line = json_dumps(rec->json, KIO_DUMP);
		if (!rec->line)
			kdie(K_IO, "out of memory");
		rec->len = strlen(rec->line);
	}
	kout_member(rec, name, value);
}
