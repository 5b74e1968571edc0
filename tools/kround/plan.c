/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a round has to have, made from its records. See kround.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kdiff.h"
#include "kplace.h"
#include "kround.h"

static struct kbuf *
plan_file(struct plan *p, char *path)
{
	p->file = krealloc(p->file, (p->count + 1) * sizeof *p->file);
	p->file[p->count] = (struct planned){ .path = path };
	kbuf_puts(&p->file[p->count].text, "");
	return &p->file[p->count++].text;
}

char *
place(const struct campaign *c, const struct round *r, const struct candidate *x,
    const char *folder, const char *name)
{
	if (c->linear || !r->trial)
		return kasprintf("rounds/round-%ld/%s/%s", r->number, folder, name);
	return kasprintf("rounds/round-%ld/%s/%02ld/%s", r->number, folder, x->branch, name);
}

char *
snapshot_path(
    const struct campaign *c, const struct round *r, const struct candidate *x, const char *name)
{
	return place(c, r, x, "kernel_snapshot", name);
}

static void
put_patch(const struct candidate *x, const char *name, struct kbuf *out)
{
	const char *parent =
	    kjson_str_or(x->json, "sample.parent.code", x->base ? x->base->code : NULL);
	const char *id = kjson_str_or(x->json, "sample.parent.id", x->base ? x->base->id : NULL);
	char *old, *new;

	if (!parent || !id || !x->code)
		return;
	old = kasprintf("a/%s\t%s", name, id);
	new = kasprintf("b/%s\t%s", name, x->id);
	kdiff_unified(parent, strlen(parent), x->code, strlen(x->code), old, new, out);
	free(old);
	free(new);
}

static void
plan_candidate(
    const struct campaign *c, const struct round *r, const struct candidate *x, struct plan *p)
{
	const char *log = kjson_str_or(x->eval, "log", "");
	char *name = kernel_name(c);
	struct program program;

	program_of(x, name, &program);
	for (size_t i = 0; i < program.count; i++)
		kbuf_add(plan_file(p, snapshot_path(c, r, x, program.file[i].path)),
		    program.file[i].data, program.file[i].len);
	program_free(&program);
	put_csv(c, x, plan_file(p, place(c, r, x, "artifacts", "benchmark.csv")));
	put_patch(x, name, plan_file(p, place(c, r, x, "artifacts", "diff.patch")));
	kbuf_printf(
	    plan_file(p, place(c, r, x, "artifacts", "eval.log")), "%s%s", log, *log ? "\n" : "");
	free(name);
}

static void
put_fact(const char *path, struct kbuf *out)
{
	size_t len;
	char *data = kread_file(path, FILE_MAX, &len), hex[65];

	if (!data && errno == ENOENT)
		return;
	if (!data)
		kdie_errno(K_IO, "%s", path);
	ksha256_hex(data, len, hex);
	kbuf_printf(out, "%s  %s\n", hex, path);
	free(data);
}

/* The facts that a round was made of, as sha256sum -c reads them from the campaign's folder. */
static void
put_facts(const struct round *r, struct kbuf *out)
{
	static const char *const stages[] = { "sample", "prompt", "reply", "eval" };

	char *evidence = kplace_trial(".", r->trial, "evidence.ndjson");

	if (!r->trial)
		put_fact("trials/000/machine.json", out);
	/* Of round 2: it is noted when that begins, and round 1 may be closed by then. */
	if (r->trial == 1)
		put_fact("trials/000/judged.json", out);
	put_fact(evidence, out);
	free(evidence);
	for (size_t i = 0; i < r->count; i++)
		for (size_t s = 0; s < LEN(stages); s++) {
			char *path = kplace_id(".", r->list[i].id, stages[s]);

			put_fact(path, out);
			free(path);
		}
}

/* The facts come first: where they differ, they are why the rest does. */
void
plan_round(const struct campaign *c, const struct round *r, struct plan *p)
{
	put_facts(r, plan_file(p, kasprintf("rounds/round-%ld/artifacts/facts.sha256", r->number)));
	put_summary(c, r, plan_file(p, kasprintf("rounds/round-%ld/summary.md", r->number)));
	for (size_t i = 0; i < r->count; i++)
		plan_candidate(c, r, &r->list[i], p);
	for (size_t i = 0; i < p->count; i++)
		ksha256_hex(p->file[i].text.data, p->file[i].text.len, p->file[i].sha256);
}

void
plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->file[i].path);
		kbuf_free(&p->file[i].text);
	}
	free(p->file);
}

const struct planned *
find_planned(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->file[i].path, path))
			return &p->file[i];
	return NULL;
}
