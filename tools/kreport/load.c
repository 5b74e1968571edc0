/* SPDX-License-Identifier: Apache-2.0 */
/* What the report is made of: facts and views of a campaign. See kreport.h. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kchain.h"
#include "kio.h"
#include "kproc.h"
#include "kreport.h"
#include "status.h"

/* Members that are long and that no section reads from here. */
static const char *const dropped[] = {
	"prompt", "sample.parent.code", "sample.parent.files", "sample.parent.log", "sample.parent.profile",
	    "sample.best",
	"sample.inspirations", "sample.errors", "sample.rounds", "reply.text", "reply.reasoning", "eval.code",
	    "eval.files",
	"eval.profile"
};

static void
drop(json_t *rec, const char *path)
{
	const char *dot = strrchr(path, '.');
	char *parent = dot ? kstrndup(path, (size_t)(dot - path)) : NULL;
	json_t *object = parent ? (json_t *)kjson_path(rec, parent) : rec;

	json_object_del(object, dot ? dot + 1 : path);
	free(parent);
}

const json_t *
of(const struct candidate *c, const char *path)
{
	return c ? kjson_path(c->rec, path) : NULL;
}

const char *
text_of(const struct candidate *c, const char *path, const char *def)
{
	return c ? kjson_str_or(c->rec, path, def) : def;
}

json_t *
load_record(const char *dir, const char *name)
{
	char *path = kasprintf("%s/%s", dir, name);
	json_t *record = kin_first(path);

	free(path);
	return record;
}

static json_t *
load_json(const char *dir, const char *name)
{
	char *path = kasprintf("%s/%s", dir, name);
	json_t *json = access(path, F_OK) ? NULL : kjson_load(path);

	free(path);
	return json;
}

enum { PRELUDE = 700 };

/* What the model said before its code, as member "prelude": in a search the nearest thing to a reason. */
static void
keep_prelude(json_t *rec)
{
	const char *text = kjson_str_or(rec, "reply.text", ""), *fence = strstr(text, "```");
	size_t len = fence ? (size_t)(fence - text) : 0;

	while (len && strchr(" \t\n", text[len - 1]))
		len--;
	if (!len)
		return;
	if (len > PRELUDE) {
		for (len = PRELUDE; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
			;
		json_object_set_new(rec, "prelude", json_sprintf("%.*s…", (int)len, text));
	} else {
		json_object_set_new(rec, "prelude", json_stringn(text, len));
	}
}

static struct candidate
candidate_of(const struct krec *rec)
{
	struct candidate c = { .trial = (long)kjson_int_or(rec->json, "trial", 0),
		.branch = (long)kjson_int_or(rec->json, "branch", 0) };

	if (!karch_id(krec_str(rec, "id"), &(long){ 0 }, &(long){ 0 }))
		kdie(K_USAGE, "%s:%ld: id '%s' is not TRIAL/BRANCH", rec->file, rec->lineno,
		    krec_str(rec, "id"));
	krec_str(rec, "eval.status");
	keep_prelude(rec->json);
	for (size_t i = 0; i < LEN(dropped); i++)
		drop(rec->json, dropped[i]);
	c.rec = json_incref(rec->json);
	c.id = kjson_str_or(c.rec, "id", "");
	c.status = kjson_str_or(c.rec, "eval.status", "");
	c.correct = status_named(c.status) == STATUS_CORRECT;
	c.runtime_ms = kjson_num_or(c.rec, "score.runtime_ms", 0);
	c.gain = kjson_bool_or(c.rec, "score.gain", false);
	return c;
}

/* The speed of C as the whole campaign knows it. */
static void
set_figure(const struct report *r, struct candidate *c)
{
	struct kchain chain;

	kchain_of_record(r->dir, c->rec, r->last, &chain);
	c->ratio = chain.speedup;
	c->speedup = c->ratio.mean;
	c->provisional = chain.provisional;
	kchain_free(&chain);
}

/* Rows of the archive have the same figures. */
static void
set_figures(struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		set_figure(r, &r->list[i]);
	for (size_t i = 0; i < KARCH_CELLS; i++) {
		struct karch_row *row = r->archive.elite[i];
		const struct candidate *c = row ? find_candidate(r, row->id) : NULL;

		if (c && row->speedup > 0)
			karch_set_speedup(row, &c->ratio, c->provisional);
	}
}

bool
is_gain(const struct report *r, const struct candidate *c)
{
	return r->linear ? !strcmp(text_of(c, "score.decision.verdict", ""), "accepted") : c->gain;
}

bool
is_next_best(const struct report *r, const struct candidate *best, const struct candidate *c)
{
	const char *incumbent = text_of(c, "sample.incumbent", KARCH_REFERENCE);

	if (!c->correct || !is_gain(r, c))
		return false;
	return r->linear || !best || !strcmp(best->id, incumbent) || kgain_beyond(&c->ratio,
	    &best->ratio);
}

static void
load_trial(struct report *r, long trial)
{
	char *path = kasprintf("%s/trials/%03ld/score.ndjson", r->dir, trial);
	struct krec rec;
	struct kin in;

	if (access(path, F_OK))
		kdie(K_USAGE, "%s: is missing; make views makes it", path);
	kin_open(&in, path);
	while (kin_next(&in, &rec)) {
		r->list = krealloc(r->list, (r->count + 1) * sizeof *r->list);
		r->list[r->count++] = candidate_of(&rec);
		krec_free(&rec);
	}
	kin_close(&in);
	free(path);
}

static int
by_place(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return a->trial != b->trial ? (a->trial > b->trial) - (a->trial < b->trial) :
	    (a->branch > b->branch) - (a->branch < b->branch);
}

const struct candidate *
find_candidate(const struct report *r, const char *id)
{
	struct candidate key = { 0 };

	if (!id || !karch_id(id, &key.trial, &key.branch))
		return NULL;
	return bsearch(&key, r->list, r->count, sizeof *r->list, by_place);
}

/*
 * The trial that the link archive.ndjson names or, in a campaign that was copied without it, the last one with an
 * archive.
 */
static long
last_trial(const char *dir)
{
	char *path = kasprintf("%s/trials", dir);
	DIR *folder = opendir(path);
	struct dirent *e;
	long last = -1;

	if (!folder)
		kdie_errno(errno == ENOENT ? K_USAGE : K_IO, "%s: nothing to report on", path);
	while ((e = readdir(folder)) != NULL) {
		char *end, *archive;
		long n = strtol(e->d_name, &end, 10);

		if (e->d_name[0] < '0' || e->d_name[0] > '9' || *end || n <= last)
			continue;
		archive = kasprintf("%s/%s/archive.ndjson", path, e->d_name);
		if (!access(archive, F_OK))
			last = n;
		free(archive);
	}
	closedir(folder);
	if (last < 0)
		kdie(K_USAGE, "%s: no trial is whole yet, so there is nothing to report on", path);
	free(path);
	return last;
}

static long
linked_trial(const char *dir)
{
	char *path = kasprintf("%s/archive.ndjson", dir), target[64] = "";
	ssize_t n = readlink(path, target, sizeof target - 1);
	long trial = -1;

	free(path);
	if (n > 7 && !strncmp(target, "trials/", 7))
		trial = strtol(target + 7, NULL, 10);
	return trial >= 0 ? trial : last_trial(dir);
}

/* The newest verification of the best. */
static void
load_verify(struct report *r)
{
	for (long t = r->last; r->best && t > 0 && !r->verify && !r->refused; t--) {
		char *name = kasprintf("trials/%03ld/verify.ndjson", t);
		json_t *rec = load_record(r->dir, name);

		if (rec && !strcmp(kjson_str_or(rec, "id", ""), r->best->id)) {
			bool right =
			    status_or(rec, "eval.status", STATUS_CORRECT) == STATUS_CORRECT;

			drop(rec, "eval.code");
			*(right ? &r->verify : &r->refused) = json_incref((json_t *)kjson_path(rec, "eval"));
			r->verify_trial = t;
		}
		json_decref(rec);
		free(name);
	}
}

static bool
is_linear(const struct report *r)
{
	if (json_object_get(r->archive.header, "linear"))
		return true;
	for (size_t i = 0; i < r->count; i++)
		if (of(&r->list[i], "score.decision"))
			return true;
	return false;
}

static bool
is_audited(const struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (&r->list[i] != r->reference && of(&r->list[i], "audit"))
			return true;
	return false;
}

/* kaudit owns the rule by which gains are attributed; so it is asked, and not repeated here. */
static json_t *
attribution(const char *dir)
{
	char *argv[] = { ktool_path("kaudit"), (char *)"--report", (char *)"--json", (char *)"-c", (char *)dir, NULL };
	struct kproc p = { .argv = argv, .timeout_s = 60, .max_output = 16 << 20 };
	struct kproc_result result;
	bool ran = !kproc_run(&p, &result);
	json_t *json = NULL;

	free(argv[0]);
	if (ran && (result.exit_code == K_OK || result.exit_code == K_NO))
		json = json_loads(result.out, 0, NULL);
	if (ran)
		kproc_result_free(&result);
	return json;
}

void
load_report(struct report *r, const char *dir)
{
	char *path, *begun;

	kcamp_no_links(dir);
	*r = (struct report){ .dir = dir, .camp = kcamp_load(dir) };
	path = kcamp_path(r->camp, kcamp_str(r->camp, "task"));
	r->task = ktask_load(path);
	free(path);
	r->last = linked_trial(dir);
	path = kasprintf("%s/trials/%03ld/archive.ndjson", dir, r->last);
	karch_load(&r->archive, path, true);
	free(path);
	for (long t = 0; t <= r->last; t++)
		load_trial(r, t);
	qsort(r->list, r->count, sizeof *r->list, by_place);
	set_figures(r);
	r->reference = find_candidate(r, KARCH_REFERENCE);
	if (!r->reference)
		kdie(K_USAGE, "%s/trials/000/score.ndjson: the record of the reference is missing", dir);
	r->best = find_candidate(r, kjson_str_or(r->archive.header, "best.id", NULL));
	if (r->best == r->reference)
		r->best = NULL;
	load_verify(r);
	r->machine = load_json(dir, "trials/000/machine.json");
	r->roofline = load_json(dir, "trials/000/roofline.json");
	r->linear = is_linear(r);
	r->audited = is_audited(r);
	if (r->audited)
		r->audit = attribution(dir);
	begun = kasprintf("%s/trials/%03ld", dir, r->last + 1);
	r->begun = access(begun, F_OK) ? 0 : r->last + 1;
	free(begun);
}

void
free_report(struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		json_decref(r->list[i].rec);
	free(r->list);
	karch_free(&r->archive);
	json_decref(r->verify);
	json_decref(r->refused);
	json_decref(r->machine);
	json_decref(r->roofline);
	json_decref(r->audit);
	ktask_free(r->task);
	kcamp_free(r->camp);
}
