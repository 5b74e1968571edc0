/* SPDX-License-Identifier: Apache-2.0 */
/* runs: see runs.h. */
#include "runs.h"

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
		r->name = n > 1 ? kasprintf("runs/%s/%s.%d", a->kernel, now, n)
		                : kasprintf("runs/%s/%s", a->kernel, now);
		r->path = kasprintf("%s/%s", a->dir, r->name);
		if (access(r->path, F_OK))
			return;
		free(r->name);
		free(r->path);
	}
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
add_iteration(const struct run_folder *r, const struct kcandidate *c, bool prompts)
{
	const char *code = kjson_str_or(c->json, "eval.code", "");
	const char *parent = kjson_str_or(c->json, "sample.parent.code", NULL);
	char *folder = kasprintf("iterations/%03ld-%02ld", c->trial, c->branch);
	char *name = kasprintf("standalone.%s", r->suffix),
	     *path = kasprintf("%s/changes.patch", folder);

	put(r, folder, name, code);
	put(r, folder, "response.txt", kjson_str_or(c->json, "reply.text", ""));
	put(r, folder, "log.txt", kjson_str_or(c->json, "eval.log", ""));
	if (parent && *code)
		run_diff(r, path, name, parent, code);
	if (prompts) {
		put(r, folder, "prompt_system.txt", kjson_str_or(c->json, "prompt.system", ""));
		put(r, folder, "prompt_user.txt", kjson_str_or(c->json, "prompt.user", ""));
	}
	free(path);
	free(name);
	free(folder);
}

static void
add_iterations(const struct run_folder *r, struct ktrials *t, bool prompts)
{
	for (long n = 0; n <= t->last; n++) {
		const struct ktrial *trial = ktrials_get(t, n);

		for (size_t i = 0; i < trial->count; i++)
			add_iteration(r, &trial->list[i], prompts);
		ktrials_drop(t, n);
	}
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
run_diff(const struct run_folder *r, const char *name, const char *file, const char *was,
    const char *now)
{
	char *path = kasprintf("%s/%s", r->path, name), *a = kasprintf("a/%s", file),
	     *b = kasprintf("b/%s", file);
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
run_open(struct run_folder *r, const struct adoption *a, struct ktrials *t, const char *id,
    const char *code, double speedup, bool prompts)
{
	char *path;

	*r = (struct run_folder){ .suffix = a->suffix };
	choose_name(r, a);
	kmake_folder(r->path);
	path = run_path(r, "best");
	write_text(path, code, strlen(code));
	free(path);
	add_iterations(r, t, prompts);
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
