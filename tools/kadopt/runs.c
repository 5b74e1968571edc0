/* SPDX-License-Identifier: Apache-2.0 */
/* runs: see runs.h. */
#include "runs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kdiff.h"
#include "kio.h"

/* "2026-01-31T12-00-00", with a number behind when there is one of that second already. */
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
		r->name = n > 1 ? kasprintf("runs/%s/%s.%d", a->kernel, now, n) : kasprintf("runs/%s/%s", a->kernel, now);
		r->path = kasprintf("%s/%s", a->dir, r->name);
		if (access(r->path, F_OK))
			return;
		free(r->name);
		free(r->path);
	}
}

static json_t *
record_of(const struct adoption *a, const char *trial, const char *branch, const char *stage)
{
	char *path = kasprintf("%s/trials/%s/%s/%s.ndjson", a->dir, trial, branch, stage), *text = file_text(path, NULL);
	json_t *rec = NULL;

	if (text) {
		text[strcspn(text, "\n")] = '\0';
		rec = json_loads(text, 0, NULL);
	}
	free(text);
	free(path);
	return rec;
}

static void
put(const struct run_folder *r, const char *folder, const char *name, const char *text)
{
	char *path = kasprintf("%s/%s/%s", r->path, folder, name);

	if (text && *text)
		write_text(path, text, strlen(text));
	free(path);
}

/* Program, answer and what it changed: always kept. Prompts: when asked for. */
static void
add_iteration(const struct run_folder *r, const struct adoption *a, const char *trial, const char *branch, bool prompts)
{
	json_t *rec = record_of(a, trial, branch, "eval");
	const char *code = kjson_str_or(rec, "eval.code", ""), *parent = kjson_str_or(rec, "sample.parent.code", NULL);
	char *folder = kasprintf("iterations/%s-%s", trial, branch), *name = kasprintf("standalone.%s", r->suffix), *path;

	if (rec) {
		put(r, folder, name, code);
		put(r, folder, "response.txt", kjson_str_or(rec, "reply.text", ""));
		put(r, folder, "log.txt", kjson_str_or(rec, "eval.log", ""));
		path = kasprintf("%s/changes.patch", folder);
		if (parent && *code)
			run_diff(r, path, name, parent, code);
		free(path);
		if (prompts) {
			put(r, folder, "prompt_system.txt", kjson_str_or(rec, "prompt.system", ""));
			put(r, folder, "prompt_user.txt", kjson_str_or(rec, "prompt.user", ""));
		}
	}
	json_decref(rec);
	free(name);
	free(folder);
}

static int
is_number(const struct dirent *e)
{
	return e->d_name[0] >= '0' && e->d_name[0] <= '9';
}

static void
add_iterations(const struct run_folder *r, const struct adoption *a, bool prompts)
{
	char *path = kasprintf("%s/trials", a->dir);
	struct dirent **trials;
	int n = scandir(path, &trials, is_number, alphasort);

	for (int i = 0; i < n; i++) {
		char *folder = kasprintf("%s/%s", path, trials[i]->d_name);
		struct dirent **branches;
		int m = scandir(folder, &branches, is_number, alphasort);

		for (int k = 0; k < m; k++) {
			add_iteration(r, a, trials[i]->d_name, branches[k]->d_name, prompts);
			free(branches[k]);
		}
		if (m >= 0)
			free(branches);
		free(trials[i]);
		free(folder);
	}
	if (n >= 0)
		free(trials);
	free(path);
}

char *
run_path(const struct run_folder *r, const char *name)
{
	return kasprintf("%s/%s.%s", r->path, name, r->suffix);
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
	char *path = kasprintf("%s/%s", r->path, name);

	write_json(path, value);
	free(path);
}

void
run_diff(const struct run_folder *r, const char *name, const char *file, const char *was, const char *now)
{
	char *path = kasprintf("%s/%s", r->path, name), *a = kasprintf("a/%s", file), *b = kasprintf("b/%s", file);
	struct kbuf text = { 0 };

	kdiff_unified(was, strlen(was), now, strlen(now), a, b, &text);
	if (text.len)
		write_text(path, text.data, text.len);
	kbuf_free(&text);
	free(b);
	free(a);
	free(path);
}

void
run_open(struct run_folder *r, const struct adoption *a, const char *id, const char *code, double speedup, bool prompts)
{
	char *path;

	*r = (struct run_folder){ .suffix = a->backend->suffix };
	choose_name(r, a);
	make_folder(r->path);
	path = run_path(r, "best");
	write_text(path, code, strlen(code));
	free(path);
	add_iterations(r, a, prompts);
	run_note(r, "# %s of %s\n", a->kernel, a->file);
	run_note(r, "Winner: %s, %.2fx alone. Project: %s\n", id, speedup, a->project);
}

void
run_close(struct run_folder *r, int code)
{
	char *path = kasprintf("%s/report.md", r->path);

	run_note(r, "Exit status %d.", code);
	write_text(path, r->report.data, r->report.len);
	ksay("report     %s\n", path);
	kbuf_free(&r->report);
	free(path);
	free(r->path);
	free(r->name);
}
