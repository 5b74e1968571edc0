/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: what the rules find in a candidate but not in its parent: a round is judged by what it
 * added.
 */

#include "kaudit.h"
#include "kdiff.h"

/* The parent's text of a file of the candidate; NULL if it has none. Borrowed. */
static const char *
parents_text(const json_t *parent, const char *file)
{
	return file
	    ? kjson_maybe(kjson_find(json_object_get(parent, "files"), "path", file), "content")
	    : kjson_maybe(parent, "code");
}

static void
scan_file(const json_t *parent, const char *file, const char *text)
{
	const char *old = parents_text(parent, file);
	struct kdiff d = { 0 };

	source = (struct source){ .file = file, .text = text, .len = strlen(text) };
	if (old)
		kdiff(old, text, &d);
	source.script = d.script;
	rules_apply();
	free(d.script);
}

void
scan_record(const json_t *record)
{
	const json_t *parent = kjson_path(record, "sample.parent"),
	             *files = kjson_path(record, "eval.files");
	const char *code = kjson_maybe(record, "eval.code");
	char *plain;

	if (!code)
		return;
	plain = ktoken_strip(code, strlen(code), backend_syntax(audit.language));
	words_of(plain);
	scan_file(parent, NULL, code);
	kjson_foreach(f, files)
		if (kjson_maybe(f, "content"))
			scan_file(parent, kjson_str_or(f, "path", "?"), kjson_str(f, "content"));
	free(plain);
}
