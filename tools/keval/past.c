/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earlier evaluations: read by id from the trial folders, and found by token hash in the archive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "karch.h"
#include "keval.h"
#include "kio.h"
#include "kplace.h"
#include "kutil.h"

char *
past_path(const struct keval *k, const char *id)
{
	return karch_id(id, &(long){ 0 }, &(long){ 0 }) ? kplace_id(k->camp->dir, id, "eval")
	                                                : NULL;
}

json_t *
past_eval(const struct keval *k, const char *id)
{
	char *path = past_path(k, id), why[256], *text;
	struct krec rec;
	json_t *eval;
	size_t len;

	text = path ? input_read(k, path, KIO_LINE_MAX, &len) : NULL;
	if (!text) {
		free(path);
		return NULL;
	}
	while (len && text[len - 1] == '\n')
		len--;
	if (!krec_parse(&rec, text, len, why, sizeof why))
		kdie(K_USAGE, "%s:1: %s", path, why);
	eval = json_incref(json_object_get(rec.json, "eval"));
	krec_free(&rec);
	free(text);
	free(path);
	return eval;
}

bool
subject_of_past(
    const json_t *eval, struct subject *s, struct kextract_file files[KEXTRACT_MAX_FILES])
{
	const json_t *list = json_object_get(eval, "files");

	s->code = kjson_str_or(eval, "code", NULL);
	s->files = files;
	s->file_count = 0;
	for (size_t i = 0; i < json_array_size(list) && i < KEXTRACT_MAX_FILES; i++) {
		const json_t *f = json_array_get(list, i);
		const char *path = kjson_str_or(f, "path", "");

		if (!kextract_path_ok(path))
			continue;
		snprintf(files[s->file_count].path, sizeof files->path, "%s", path);
		files[s->file_count++].content = (char *)kjson_str_or(f, "content", "");
	}
	return s->code != NULL;
}

/* Found without parsing the archive's other lines. */
char *
past_with(const struct keval *k, const char *key, const char *hex)
{
	char needle[40], why[256], *text, *hit, *id = NULL;
	struct krec rec;
	size_t len;

	if (!k->archive)
		return NULL;
	snprintf(needle, sizeof needle, "\"%s\":\"%s\"", key, hex);
	text = input_read(k, k->archive, SIZE_MAX, &len);
	hit = memmem(text, len, needle, strlen(needle));
	if (hit) {
		char *start = memrchr(text, '\n', (size_t)(hit - text)),
		     *end = strchrnul(hit, '\n');

		start = start ? start + 1 : text;
		if (!krec_parse(&rec, start, (size_t)(end - start), why, sizeof why))
			kdie(K_USAGE, "%s: %s", k->archive, why);
		id = kjson_str_or(rec.json, "id", NULL)
		    ? kstrdup(kjson_str_or(rec.json, "id", NULL))
		    : NULL;
		krec_free(&rec);
	}
	free(text);
	return id;
}

char *
past_duplicate(const struct keval *k, const struct subject *s, const char *tokens)
{
	char parent[17];

	/* An archive holds the parent too, with its hash worked out. */
	if (!k->archive && s->parent && s->parent_code) {
		program_hash(k, s->parent_code, parent);
		if (!strcmp(parent, tokens))
			return kstrdup(s->parent);
	}
	return past_with(k, "tokens", tokens);
}
