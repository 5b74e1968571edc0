/* SPDX-License-Identifier: Apache-2.0 */
/* runs: see runs.h. */
#include "runs.h"

#include <glob.h>

#include "kdiff.h"
#include "kio.h"

/* "2026-01-31T12-00-00", with a number appended if there is already one from that second. */
static void
choose_name(struct run_folder *r, const struct adoption *a)
{
	char now[32];

	know_iso(now, sizeof now);
	now[strcspn(now, "Z")] = '\0';
	for (char *c = now; *c; c++)
		if (*c == ':')
			*c = '-';
	for (int n = 1;; n++) {
		r->name = n > 1 ? path_of("runs/%s/%s.%d", a->kernel, now, n)
		                : path_of("runs/%s/%s", a->kernel, now);
		r->path = path_of("%s/%s", a->dir, r->name);
		if (!kis_there(r->path))
			return;
	}
}

static void
put(const struct run_folder *r, const char *folder, const char *name, const char *text)
{
	char *path = path_of("%s/%s/%s", r->path, folder, name);

	if (text && *text)
		write_text(path, text, strlen(text));
}

/* Program, answer and changes are always kept; prompts on request. */
static void
add_iteration(const struct run_folder *r, const struct adoption *a, const char *id, bool prompts)
{
	static const char *const texts[][2] = { { "response.txt", "reply.text" },
		{ "log.txt", "eval.log" }, { "prompt_system.txt", "prompt.system" },
		{ "prompt_user.txt", "prompt.user" } };
	json_auto_t *record = command_json(a, "kcampaign", "record", id);
	const char *code = kjson_str(record, "eval.code"),
	           *parent = kjson_str_or(record, "sample.parent.code", NULL);
	auto_free char *folder = kasprintf("iterations/%.3s-%s", id, id + 4);
	char *name = kasprintf("standalone.%s", r->suffix),
	     *path = path_of("%s/changes.patch", folder);

	put(r, folder, name, code);
	for (size_t i = 0; i < (prompts ? LEN(texts) : 2); i++)
		put(r, folder, texts[i][0], kjson_str(record, texts[i][1]));
	if (parent && *code)
		run_diff(r, path, name, parent, code);
	free(name);
}

/* Candidates are the folders trials/TTT/BB with an evaluation. */
static void
add_iterations(const struct run_folder *r, const struct adoption *a, bool prompts)
{
	char *pattern = path_of("%s/trials/[0-9]*/[0-9]*/eval.ndjson", a->dir);
	size_t skip = strlen(a->dir) + strlen("/trials/");
	glob_t found;

	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			*strrchr(found.gl_pathv[i], '/') = '\0';
			add_iteration(r, a, found.gl_pathv[i] + skip, prompts);
		}
	globfree(&found);
}

char *
run_path(const struct run_folder *r, const char *name)
{
	return path_of("%s/%s.%s", r->path, name, r->suffix);
}

void
run_note(struct run_folder *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kbuf_vline(&r->report, fmt, ap);
	va_end(ap);
}

void
run_json(const struct run_folder *r, const char *name, const json_t *value)
{
	char *path = path_of("%s/%s", r->path, name);

	write_json(path, value);
}

void
run_diff(const struct run_folder *r, const char *name, const char *file, const char *was,
    const char *now)
{
	char *path = path_of("%s/%s", r->path, name), *a = kasprintf("a/%s", file),
	     *b = kasprintf("b/%s", file);
	auto_buf struct kbuf text = { 0 };

	kdiff_unified(was, strlen(was), now, strlen(now), a, b, &text);
	if (text.len) {
		char *before = file_text(path, NULL), *all;

		all = kasprintf("%s%s", before ? before : "", text.data);
		write_text(path, all, strlen(all));
		free(before);
		free(all);
	}
	free(b);
	free(a);
}

void
run_open(struct run_folder *r, const struct adoption *a, const char *id, const char *code,
    double speedup, bool prompts)
{
	char *path;

	*r = (struct run_folder){ .suffix = a->suffix };
	choose_name(r, a);
	kmake_folder(r->path);
	path = run_path(r, "best");
	write_text(path, code, strlen(code));
	add_iterations(r, a, prompts);
	run_note(r, "# %s of %s\n", a->kernel, a->file);
	run_note(r, "Winner: %s, %.2fx alone. Project: %s\n", id, speedup, a->project);
}

void
run_close(struct run_folder *r, int code)
{
	char *path = path_of("%s/report.md", r->path);

	run_note(r, "Exit status %d.", code);
	write_text(path, r->report.data, r->report.len);
	ksay("report     %s\n", path);
	kbuf_free(&r->report);
}
