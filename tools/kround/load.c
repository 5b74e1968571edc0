/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds, read from the scored records and archives of the trials. See kround.h. */
#include <stdlib.h>
#include <string.h>

#include "kextract.h"
#include "kround.h"

static void
take_candidate(const struct campaign *c, struct candidate *x, const struct kcandidate *scored)
{
	*x = (struct candidate){ .scored = scored,
		.json = scored->json,
		.id = scored->id,
		.status = status_rows[scored->status].name,
		.trial = scored->trial,
		.branch = scored->branch,
		.eval = json_object_get(scored->json, "eval"),
		.score = json_object_get(scored->json, "score"),
		.audit = json_object_get(scored->json, "audit") };
	x->plan = json_object_get(x->eval, "plan");
	x->decision = json_object_get(x->score, "decision");
	x->code = kjson_str_or(x->eval, "code", NULL);
	x->level = kjson_str_or(x->decision, "level", kjson_str_or(x->eval, "level", "quick"));
	if (c->linear && !*scored->verdict)
		kdie(K_USAGE,
		    "trials/%03ld/score.ndjson: %s has no score.decision.verdict; run make views "
		    "to score it again",
		    x->trial, x->id);
}

static void
read_trial(const struct campaign *c, struct round *r, const struct ktrial *trial)
{
	if (c->linear && trial->count > 1)
		kdie(K_USAGE,
		    "trials/%03ld/score.ndjson: contains %zu records, but in linear mode a trial "
		    "has one",
		    r->trial, trial->count);
	r->list = kcalloc(trial->count, sizeof *r->list);
	r->count = trial->count;
	for (size_t i = 0; i < r->count; i++) {
		take_candidate(c, &r->list[i], &trial->list[i]);
		if (&trial->list[i] == trial->kept)
			r->accepted = &r->list[i];
		if (strcmp(trial->list[i].time, r->time) > 0)
			strcpy(r->time, trial->list[i].time);
	}
}

static void
add_round(struct campaign *c, const struct ktrial *trial, const struct candidate *base, long streak)
{
	struct round *r = &c->round[c->count++];

	*r = (struct round){ .number = trial->number + 1, .trial = trial->number };
	read_trial(c, r, trial);
	for (size_t i = 0; i < r->count; i++) {
		r->list[i].base = base;
		add_shapes(c, &r->list[i]);
	}
	r->streak = r->accepted ? 0 : streak + 1;
}

static void
load_rounds(struct campaign *c)
{
	const struct candidate *base = NULL;
	const struct ktrial *trial;

	c->round = kcalloc((size_t)c->trials.last + 1, sizeof *c->round);
	for (long t = 0; t <= c->trials.last && (trial = ktrials_get(&c->trials, t))->whole; t++) {
		add_round(c, trial, base, t ? c->round[t - 1].streak : 0);
		if (c->round[t].accepted)
			base = c->round[t].accepted;
	}
	if (!base || !c->round[0].accepted || !c->round[0].accepted->code)
		kdie(K_USAGE, "rounds need the reference and its code");
}

void
campaign_load(struct campaign *c, bool write)
{
	char *path;
	const char *dot;

	*c = (struct campaign){ .camp = kcamp_load(".") };
	ktrials_open(&c->trials, c->camp);
	c->trials.join = KJOIN_PROGRAMS;
	if (c->trials.last < 0)
		kdie(K_USAGE, "no trial is complete; run make trial");
	if (write && !c->trials.settled)
		kdie(K_USAGE,
		    "archive.ndjson: does not name the last trial, because views are being made "
		    "again or are unfinished; run make views");
	path = kcamp_path(c->camp, kcamp_str(c->camp, "task"));
	c->task = ktask_load(path);
	free(path);
	c->linear = c->trials.linear;
	c->name = kcamp_str(c->camp, "name");
	c->statistic = KGAIN_STATISTIC;
	dot = strrchr(c->task->reference, '.');
	c->suffix = kstrdup(dot && !strchr(dot, '/') ? dot : "");
	load_rounds(c);
}

void
campaign_free(struct campaign *c)
{
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->round[i].count; k++)
			free(c->round[i].list[k].shape);
		free(c->round[i].list);
	}
	free(c->round);
	free(c->suffix);
	ktrials_close(&c->trials);
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
 * The files of a bundle keep their names. keval builds the kernel itself as candidate.SUFFIX and no
 * file of a bundle may begin so; that is its name here when one of them bears the name it should
 * have.
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
	json_array_foreach(files, i, f) if (in_the_way(kjson_str_or(f, "path", ""), name))
	{
		free(own);
		own = kasprintf("candidate%s", dot ? dot : "");
	}
	add_source(p, own, x->code);
	json_array_foreach(files, i, f)
	{
		const char *path = kjson_str_or(f, "path", ""),
		           *content = kjson_str_or(f, "content", "");
		bool fits = kextract_path_ok(path) && strncmp(path, "candidate.", 10) &&
		    p->count < LEN(p->file);

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
