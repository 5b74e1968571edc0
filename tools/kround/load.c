/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds, read from the scored records and archives of the trials. See kround.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "karch.h"
#include "kextract.h"
#include "kround.h"

/* First line of an archive. New reference; dies when there is none. */
static json_t *
archive_header(const char *path)
{
	json_t *header = kin_first(path);

	if (!header)
		kdie(K_USAGE, "%s: is empty, or is not there", path);
	return header;
}

/* The trial whose views all stand: the link is taken away while older ones are remade. */
static long
last_trial(void)
{
	json_t *header;
	long last;

	if (access("archive.ndjson", F_OK) < 0)
		kdie(K_USAGE, "archive.ndjson: no trial is complete, or views are being remade (make trial, or make "
		    "views)");
	header = archive_header("archive.ndjson");
	last = (long)kjson_int_or(header, "trial", -1);
	if (last < 0)
		kdie(K_USAGE, "archive.ndjson:1: 'trial' is missing: not the header of an archive");
	json_decref(header);
	return last;
}

static void
take_candidate(struct campaign *c, struct round *r, const struct krec *rec)
{
	struct candidate *x;

	r->list = krealloc(r->list, (r->count + 1) * sizeof *r->list);
	x = &r->list[r->count++];
	*x = (struct candidate){ .json = json_incref(rec->json), .id = krec_str(rec, "id"),
		.eval = krec_get(rec, "eval"), .score = krec_get(rec, "score"), .status = krec_str(rec, "eval.status"),
		.audit = json_object_get(rec->json, "audit") };
	/* A prompt is long, and no part of our records. */
	json_object_del(x->json, "prompt");
	if (!karch_id(x->id, &x->trial, &x->branch))
		kdie(K_USAGE, "%s:%ld: id '%s' is not TRIAL/BRANCH", rec->file, rec->lineno, x->id);
	x->plan = json_object_get(x->eval, "plan");
	x->decision = json_object_get(x->score, "decision");
	x->code = kjson_str_or(x->eval, "code", NULL);
	x->level = kjson_str_or(x->decision, "level", kjson_str_or(x->eval, "level", "quick"));
	if (c->linear && !json_is_string(json_object_get(x->decision, "verdict")))
		kdie(K_USAGE, "%s:%ld: %s has no score.decision.verdict: score it again (make views)", rec->file,
		    rec->lineno, x->id);
}

/* What a candidate's last fact says of the time; empty when none does. */
static const char *
fact_time(const struct candidate *x)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	const char *t = kjson_str_or(x->eval, "time", kjson_str_or(x->json, "reply.time", ""));

	for (size_t i = 0; i < sizeof form; i++)
		if (form[i] == '0' ? t[i] < '0' || t[i] > '9' : t[i] != form[i])
			return "";
	return t;
}

static void
read_trial(struct campaign *c, struct round *r)
{
	char *path = kasprintf("trials/%03ld/score.ndjson", r->trial);
	struct krec rec;
	struct kin in;

	kin_open(&in, path);
	while (kin_next(&in, &rec)) {
		take_candidate(c, r, &rec);
		krec_free(&rec);
	}
	kin_close(&in);
	if (!r->count)
		kdie(K_USAGE, "%s: holds no record", path);
	if (c->linear && r->count > 1)
		kdie(K_USAGE, "%s: %zu records; in linear mode a trial has one", path, r->count);
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(fact_time(&r->list[i]), r->time) > 0)
			snprintf(r->time, sizeof r->time, "%s", fact_time(&r->list[i]));
	free(path);
}

/* In linear mode the decision says it; else it is the trial's candidate that became the best of the archive. */
static const struct candidate *
find_accepted(const struct campaign *c, const struct round *r)
{
	const struct candidate *found = NULL;
	json_t *header = NULL;
	const char *best = "";

	if (!c->linear && r->trial) {
		char *path = kasprintf("trials/%03ld/archive.ndjson", r->trial);

		header = archive_header(path);
		best = kjson_str_or(header, "best.id", "");
		free(path);
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct candidate *x = &r->list[i];
		const char *verdict = kjson_str_or(x->decision, "verdict", "");

		if (!r->trial || (c->linear ? !strcmp(verdict, "accepted") : !strcmp(best, x->id)))
			found = x;
	}
	json_decref(header);
	return found;
}

static void
add_round(struct campaign *c, long number, const struct candidate *base, long streak)
{
	struct round *r = &c->round[c->count++];

	*r = (struct round){ .number = number, .trial = number - 1 };
	read_trial(c, r);
	for (size_t i = 0; i < r->count; i++) {
		r->list[i].base = base;
		add_shapes(c, &r->list[i]);
	}
	r->accepted = find_accepted(c, r);
	r->streak = r->accepted ? 0 : streak + 1;
}

void
campaign_load(struct campaign *c)
{
	long last;
	char *path;
	const char *dot;
	const struct candidate *base = NULL;

	*c = (struct campaign){ .camp = kcamp_load(".") };
	last = last_trial();
	path = kcamp_path(c->camp, kcamp_str(c->camp, "task"));
	c->task = ktask_load(path);
	free(path);
	c->linear = kcamp_linear(c->camp);
	c->name = kcamp_str(c->camp, "name");
	c->statistic = kcamp_str(c->camp, "score.statistic");
	dot = strrchr(c->task->reference, '.');
	c->suffix = kstrdup(dot && !strchr(dot, '/') ? dot : "");
	c->round = kcalloc((size_t)last + 1, sizeof *c->round);
	for (long t = 0; t <= last; t++) {
		add_round(c, t + 1, base, t ? c->round[t - 1].streak : 0);
		if (c->round[t].accepted)
			base = c->round[t].accepted;
	}
	if (!c->round[0].accepted || !c->round[0].accepted->code)
		kdie(K_USAGE, "trials/000/score.ndjson: holds no reference with code");
}

void
campaign_free(struct campaign *c)
{
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->round[i].count; k++) {
			json_decref(c->round[i].list[k].json);
			free(c->round[i].list[k].shape);
		}
		free(c->round[i].list);
	}
	free(c->round);
	free(c->suffix);
	ktask_free(c->task);
	kcamp_free(c->camp);
	*c = (struct campaign){ 0 };
}

const struct round *
last_accepted(const struct campaign *c)
{
	size_t i = c->count;

	while (i-- > 1)
		if (c->round[i].accepted)
			break;
	return &c->round[i < c->count ? i : 0];
}

const char *
verdict_word(const struct round *r, const struct candidate *x)
{
	if (!r->trial)
		return "BASELINE";
	if (r->accepted != x)
		return "ROLLED BACK";
	return kjson_bool_or(x->decision, "trade_off", false) ? "ACCEPTED (trade-off)" : "ACCEPTED";
}

char *
verdict_line(const struct campaign *c, const struct round *r, const struct candidate *x)
{
	const char *line = kjson_str_or(x->decision, "line", NULL);
	struct kbuf text = { 0 };

	if (line)
		return one_line(line, 1000);
	kbuf_printf(&text, "Round %ld: %s — ", r->number, verdict_word(r, x));
	if (!r->trial) {
		kbuf_puts(&text, "the reference");
	} else {
		kbuf_printf(&text, "%s %s, avg ", x->id, x->status);
		put_pct(change_pct(c, x, x->base), 1, &text);
	}
	return text.data;
}

const char *
minute(const struct round *r, char *buf)
{
	if (*r->time)
		snprintf(buf, 32, "%.10s %.5s", r->time, r->time + 11);
	else
		snprintf(buf, 32, "unknown");
	return buf;
}

char *
kernel_name(const struct campaign *c)
{
	return kasprintf("%s%s", c->task->entry, c->suffix);
}

static void
add_source(struct program *p, char *path, const char *data)
{
	struct source *s = &p->file[p->count++];

	*s = (struct source){ .path = path, .data = data, .len = strlen(data) };
	ksha256_hex(s->data, s->len, s->sha256);
}

/* Does one of two paths name the other, or a folder above it? */
static bool
in_the_way(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), less = n < m ? n : m;

	return !strncmp(a, b, less) && (n == m || (n < m ? b : a)[less] == '/');
}

/*
 * The files of a bundle keep their names. keval builds the kernel itself as candidate.SUFFIX and no file of a bundle
 * may begin so; that is its name here when one of them bears the name it should have.
 */
void
program_of(const struct candidate *x, const char *name, struct program *p)
{
	const json_t *files = json_object_get(x->eval, "files");
	const char *dot = strrchr(name, '.');
	char *own = kstrdup(name);
	size_t i;
	json_t *f;

	*p = (struct program){ 0 };
	if (!x->code) {
		free(own);
		return;
	}
	json_array_foreach(files, i, f)
		if (in_the_way(kjson_str_or(f, "path", ""), name)) {
			free(own);
			own = kasprintf("candidate%s", dot ? dot : "");
		}
	add_source(p, own, x->code);
	json_array_foreach(files, i, f) {
		const char *path = kjson_str_or(f, "path", ""), *content = kjson_str_or(f, "content", "");
		bool fits = kextract_path_ok(path) && strncmp(path, "candidate.", 10) && p->count < LEN(p->file);

		for (size_t k = 1; k < p->count && fits; k++)
			fits = !in_the_way(path, p->file[k].path);
		if (fits)
			add_source(p, kstrdup(path), content);
	}
}

void
program_free(struct program *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->file[i].path);
	*p = (struct program){ 0 };
}
