/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a run: what each branch does, since when, how long it will still take, and what
 * it waits for. The tools say so in a file of the run (kstep.h). See kcampaign.h.
 */
#include "kcampaign.h"

#include <sys/ioctl.h>

#include "kstat.h"
#include "kstep.h"

#define FOLDER ".run"
#define TIMES FOLDER "/times.json"

enum {
	TICK_MS = 200,
	KEPT = 15, /* stored durations per stage */
	TEXT = 512
};

/* What a stage and its tool are doing, according to the file. */
struct step {
	char *target; /* owned */
	const char *stage;
	long trial, branch; /* branch: -1 for a step of the whole trial, or of none */
	double since, until;
	bool ended;
	int code;
	char says[TEXT];
};

struct progress {
	const struct kcamp *camp;
	char *file;   /* of the steps, absolute */
	long at;      /* what comes before has been read */
	bool live;    /* on a terminal */
	bool silent;  /* KILN_PROGRESS=0, or only a plan */
	double every; /* most seconds without a line */
	double spoke, looked;
	size_t drawn; /* lines that the next picture replaces */
	json_t *times;

	/* the graph that is being made */
	const struct graph *g;
	bool fresh;              /* nothing of its trial existed when it began */
	double began, spent_usd; /* spent before it */
	double *usd;             /* for each branch; below 0: unknown */
	struct step *steps;
	size_t count;
	struct outcome out;
};

/* Stages that cost money or measure: their ends are events. */
static const char *const events[] = { "reply", "eval", "digest", "reference", "ceilings",
	"evidence", "anchor", "verify" };

static double
now_s(void)
{
	return (double)know_ns() * 1e-9;
}

/* "0.4 s", "12 s", "3:05 min", "2:10 h" */
static char *
duration(double s, char text[24])
{
	long n = (long)(s + 0.5);

	if (s < 9.95)
		snprintf(text, 24, "%.*f s", s < 0.95 ? 2 : 1, s);
	else if (n < 100)
		snprintf(text, 24, "%ld s", n);
	else if (n < 6000)
		snprintf(text, 24, "%ld:%02ld min", n / 60, n % 60);
	else
		snprintf(text, 24, "%ld:%02ld h", n / 3600, n / 60 % 60);
	return text;
}

/* How long stages took. */

static void
add_time(struct progress *p, const char *stage, double s)
{
	json_t *list = json_object_get(p->times, stage);

	if (!json_is_array(list))
		json_object_set_new(p->times, stage, list = json_array());
	json_array_append_new(list, json_real(s));
	if (json_array_size(list) > KEPT)
		json_array_remove(list, 0);
}

/* The median time of a stage with earlier candidates; -1: there were none. */
static double
expected(const struct progress *p, const char *stage)
{
	const json_t *list = json_object_get(p->times, stage);
	double s[KEPT];
	size_t n = 0;

	for (; n < json_array_size(list) && n < KEPT; n++)
		s[n] = json_number_value(json_array_get(list, n));
	if (!n)
		return -1;
	kstat_sort(s, n);
	return s[n / 2];
}

/* It helps the next run, and nothing is lost without it. */
static void
save_times(const struct progress *p)
{
	if (json_dump_file(p->times, TIMES ".new", JSON_COMPACT) == 0 &&
	    rename(TIMES ".new", TIMES) < 0)
		unlink(TIMES ".new");
}

/* Removes the file of a process that has ended. */
static void
remove_old(const char *path, void *arg)
{
	if (kill((pid_t)atol(strrchr(path, '/') + 1), 0) < 0 && errno == ESRCH)
		remove_path(path, arg);
}

static bool
is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

bool
plans_only(void)
{
	const char *flags = getenv("MAKEFLAGS");
	size_t n = flags ? strcspn(flags, " ") : 0;

	return n && !memchr(flags, '-', n) && !memchr(flags, '=', n) && memchr(flags, 'n', n);
}

struct progress *
progress_open(const struct kcamp *c, double every)
{
	struct progress *p = kcalloc(1, sizeof *p);
	const char *wanted = getenv("KILN_PROGRESS");
	auto_free char *base = NULL;

	p->camp = c;
	p->every = every ? every : 30;
	p->silent = (wanted && !strcmp(wanted, "0")) || plans_only();
	p->live = !p->silent && is_terminal();
	p->spoke = now_s();
	p->usd = kcalloc((size_t)kcamp_branches(c) + 1, sizeof *p->usd);
	kmake_folder(FOLDER);
	keach_path(kstrdup(FOLDER "/[0-9]*"), remove_old, NULL);
	if (!(base = realpath(FOLDER, NULL)))
		kdie_errno(K_IO, FOLDER);
	p->file = kasprintf("%s/%ld", base, (long)getpid());
	p->times = json_load_file(TIMES, 0, NULL);
	if (!json_is_object(p->times)) {
		json_decref(p->times);
		p->times = json_object();
	}
	return p;
}

void
progress_close(struct progress *p)
{
	unlink(p->file);
	json_decref(p->times);
	free(p->file);
	free(p->usd);
	free(p);
}

const char *
progress_file(const struct progress *p)
{
	return p->file;
}

bool
progress_is_live(const struct progress *p)
{
	return p->live;
}

/* What they say. */

/* "trials/007/02/eval.ndjson" is the stage eval of a branch; "memory-add" is a stage itself. */
static void
name_step(struct step *s)
{
	char *slash = strrchr(s->target, '/'), *dot;

	s->trial = s->branch = -1;
	if (sscanf(s->target, "trials/%ld/%ld/", &s->trial, &s->branch) < 2)
		s->branch = -1;
	s->stage = slash ? slash + 1 : s->target;
	dot = strchr(s->stage, '.');
	s->stage = s->branch == 0 ? kstrdup("reference")
	                          : kstrndup(s->stage, dot ? (size_t)(dot - s->stage) : SIZE_MAX);
}

static void
free_step(struct step *s)
{
	free((char *)s->stage);
	free(s->target);
}

static struct step *
find_step(struct progress *p, const char *target, double since)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->steps[i].target, target))
			return &p->steps[i];
	p->steps = krealloc(p->steps, (p->count + 1) * sizeof *p->steps);
	p->steps[p->count] = (struct step){ .target = kstrdup(target), .since = since };
	name_step(&p->steps[p->count]);
	return &p->steps[p->count++];
}

/*
 * Takes a line of the file. ENDED, if given, is called with a step that has ended, and may remove
 * it.
 */
static void
take_line(struct progress *p, const char *line, void (*ended)(struct progress *p, struct step *s))
{
	char target[4096], state[16];
	struct step *s;
	double time;
	int text = 0, skip = 0;

	if (sscanf(line, "%lf %4095s %15s %n", &time, target, state, &text) < 3)
		return;
	s = find_step(p, target, time);
	if (strcmp(state, KSTEP_RUNS)) {
		s->ended = true;
		s->until = time;
		s->code = atoi(state);
		if (ended)
			ended(p, s);
		return;
	}
	/* Without the candidate's name, which is shown elsewhere. */
	line += text;
	sscanf(line, "%*3[0-9]/%*2[0-9] %*[a-z]: %n", &skip);
	snprintf(s->says, sizeof s->says, "%s", line + skip);
	s->says[strcspn(s->says, "\n")] = '\0';
	kmask_controls(s->says);
}

/* Takes the complete lines that are new. */
static void
read_steps(struct progress *p, void (*ended)(struct progress *p, struct step *s))
{
	FILE *f = fopen(p->file, "re");
	auto_free char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (f && fseek(f, p->at, SEEK_SET) == 0)
		while ((n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n') {
			p->at += n;
			take_line(p, line, ended);
		}
	if (f)
		fclose(f);
}

/*
 * A failure that must be fixed comes before one that may pass by itself, and among those the first.
 */
static void
remember(struct outcome *out, const struct step *s)
{
	out->failed++;
	if (out->target && (s->code == K_AGAIN || out->code != K_AGAIN))
		return;
	free(out->target);
	out->target = kstrdup(s->target);
	out->code = s->code;
}

/* What is shown. */

/* What the reply for a branch of this trial has cost; 0: there is none yet. */
static double
cost_of(struct progress *p, long branch)
{
	json_auto_t *record = p->usd[branch] < 0 ? fact_of(p->g->last, branch, STAGE_REPLY) : NULL;

	if (record)
		p->usd[branch] = kjson_num_or(record, "reply.cost_usd", 0);
	return p->usd[branch] > 0 ? p->usd[branch] : 0;
}

/* What to print for an evaluation that left no status line, for example on another machine. */
static void
find_result(struct step *s)
{
	bool eval = !strcmp(s->stage, stages[STAGE_EVAL]) || s->branch == 0;
	json_auto_t *record = !*s->says && eval && !s->code ? kin_first(s->target) : NULL;

	snprintf(s->says + strlen(s->says), sizeof s->says - strlen(s->says), "%s",
	    kjson_str_or(record, "eval.status", ""));
	if (s->code == K_AGAIN)
		snprintf(s->says, sizeof s->says, "not now");
	else if (s->code)
		snprintf(s->says, sizeof s->says, "failed with %d", s->code);
	else if (!*s->says)
		snprintf(s->says, sizeof s->says, "done");
}

/* "007/02 eval", "trial 7 anchor", "memory-add" */
static void
add_name(struct kbuf *line, const struct step *s)
{
	if (s->branch >= 0)
		kbuf_printf(line, "%03ld/%02ld ", s->trial, s->branch);
	else if (s->trial >= 0)
		kbuf_printf(line, "trial %ld ", s->trial);
	kbuf_puts(line, s->stage);
}

static void
add_cost(struct kbuf *line, double usd, const char *before)
{
	if (usd > 0)
		kbuf_printf(line, "%s$%.*f", before, usd < 0.1 ? 4 : 2, usd);
}

/* Prints a line for readers of a run's output that is not on a terminal. */
static void
speak(struct progress *p, struct kbuf *line)
{
	kbuf_puts(line, "\n");
	if (!p->silent && !p->live) {
		kpass(line->data, line->len);
		p->spoke = now_s();
	}
	kbuf_free(line);
}

static bool
is_event(const struct step *s)
{
	return s->code || kindex_of(s->stage, events, LEN(events)) < LEN(events);
}

static void
speak_of_end(struct progress *p, const struct step *s)
{
	struct kbuf line = { 0 };
	char took[24];

	if (!is_event(s))
		return;
	add_name(&line, s);
	kbuf_printf(&line, ": %s (%s", s->says, duration(s->until - s->since, took));
	if (!strcmp(s->stage, stages[STAGE_REPLY]) && s->trial == p->g->last &&
	    s->branch <= kcamp_branches(p->camp))
		add_cost(&line, cost_of(p, s->branch), ", ");
	kbuf_puts(&line, ")");
	speak(p, &line);
}

/* The cost of the candidates before this graph, and of those in its trial. */
static double
spent(struct progress *p)
{
	json_t *header;
	double usd;

	if (p->spent_usd < 0) {
		header = archive_header(p->g->first - 1);
		p->spent_usd = kjson_num_or(header, "cost_usd", 0);
		json_decref(header);
	}
	usd = p->spent_usd;
	for (long b = 1; p->g->first == p->g->last && b <= kcamp_branches(p->camp); b++)
		usd += cost_of(p, b);
	return usd;
}

/* The step of a branch that is running, or that ended last; NULL: none yet. */
static const struct step *
step_of(const struct progress *p, long branch)
{
	const struct step *found = NULL;

	for (size_t i = 0; i < p->count; i++) {
		const struct step *s = &p->steps[i];

		if (s->branch == branch && s->trial == p->g->last &&
		    (!found || found->since < s->since))
			found = s;
	}
	return found;
}

/* The first stage of a branch whose fact does not exist; STAGES: none. */
static int
next_stage(long trial, long branch)
{
	int stage = STAGES;

	while (stage > 0 && !has_fact(trial, branch, stage - 1))
		stage--;
	return stage;
}

/* How long a branch will still need; -1: unknown. */
static double
branch_left(const struct progress *p, long branch)
{
	const struct step *s = step_of(p, branch);
	double left = 0;

	for (int i = next_stage(p->g->last, branch); i < STAGES; i++) {
		double stage = expected(p, stages[i]);

		if (stage < 0)
			return -1;
		if (s && !s->ended && !strcmp(s->stage, stages[i]))
			stage -= now_s() - s->since;
		left += stage > 0 ? stage : 0;
	}
	return left;
}

static bool
is_trial(const struct progress *p)
{
	return p->g->first == p->g->last && p->g->last > 0 && p->g->ask != ASK_NOBODY;
}

/* How long the trial will still need; -1: unknown. */
static double
trial_left(const struct progress *p)
{
	double whole = p->fresh ? expected(p, "trial") : -1, left = 0;

	for (long b = 1; b <= kcamp_branches(p->camp); b++) {
		double s = branch_left(p, b);

		if (s < 0)
			return -1;
		left = s > left ? s : left;
	}
	whole -= now_s() - p->began;
	return whole > left ? whole : left;
}

/* "trial 7 of 40, 32 s, about 1:10 min left, at most 2:10 h for all; $0.42 of $5.00" */
static void
add_trial(struct progress *p, struct kbuf *line)
{
	double left = trial_left(p), trial = expected(p, "trial"), usd = spent(p),
	       budget = kcamp_num(p->camp, "stop.budget_usd");
	long all = kcamp_int(p->camp, "stop.trials"), more = all - p->g->last;
	char text[24];

	kbuf_printf(
	    line, "trial %ld of %ld, %s", p->g->last, all, duration(now_s() - p->began, text));
	if (left > 0)
		kbuf_printf(line, ", about %s left", duration(left, text));
	if (left >= 0 && trial >= 0 && more > 0)
		kbuf_printf(line, ", at most %s for all trials",
		    duration(left + trial * (double)more, text));
	add_cost(line, usd, "; ");
	if (usd > 0 && budget > 0)
		kbuf_printf(line, " of $%.2f", budget);
}

static void
add_header(struct progress *p, struct kbuf *line)
{
	char text[24];

	if (is_trial(p)) {
		add_trial(p, line);
		return;
	}
	if (p->g->first != p->g->last)
		kbuf_printf(line, "views of trials %ld to %ld", p->g->first, p->g->last);
	else
		kbuf_printf(line, "trial %ld", p->g->last);
	kbuf_printf(line, ", %s", duration(now_s() - p->began, text));
}

/* "12 s of about 30 s" */
static void
add_elapsed(const struct progress *p, struct kbuf *line, const struct step *s)
{
	double whole = expected(p, s->stage);
	char text[24];

	kbuf_puts(line, duration((s->ended ? s->until : now_s()) - s->since, text));
	if (whole >= 0 && !s->ended)
		kbuf_printf(line, " of about %s", duration(whole, text));
}

static void
add_branch(struct progress *p, struct kbuf *line, long branch)
{
	const struct step *s = step_of(p, branch);
	int stage = next_stage(p->g->last, branch);
	bool shown = s && (!s->ended || s->code || stage == STAGES);

	kbuf_printf(line, "  %02ld  %-7s ", branch, stage < STAGES ? stages[stage] : "ready");
	if (shown) {
		add_elapsed(p, line, s);
	} else if (stage < STAGES) {
		kbuf_puts(line, "waits for its turn");
	}
	add_cost(line, cost_of(p, branch), ", ");
	if (shown && *s->says)
		kbuf_printf(line, ", %s", s->says);
}

/* Running steps that belong to no branch of this trial, such as the reference. */
static void
add_others(const struct progress *p, struct kbuf *text, const char *before)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct step *s = &p->steps[i];

		if (s->ended || (is_trial(p) && s->branch > 0))
			continue;
		kbuf_puts(text, before);
		add_name(text, s);
		kbuf_puts(text, " ");
		add_elapsed(p, text, s);
		if (*s->says)
			kbuf_printf(text, ", %s", s->says);
	}
}

/* The picture on a terminal. */

/* Adds the line, cut to the width of the terminal, over what was there before. */
static void
add_cut(struct kbuf *picture, const char *line, size_t len, size_t width)
{
	size_t n = 0;

	for (size_t column = 0; n < len; n++) {
		/* Continuation bytes of UTF-8 take no column. */
		column += (line[n] & 0xc0) != 0x80;
		if (column >= width)
			break;
	}
	kbuf_add(picture, line, n);
	kbuf_puts(picture, "\033[K\n");
}

static void
take_back(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\033[%zuA\033[J", p->drawn);
	p->drawn = 0;
}

static void
draw(struct progress *p)
{
	auto_buf struct kbuf text = { 0 }, picture = { 0 };
	struct winsize size = { 0 };
	size_t lines = 0, rows, columns;

	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row ? size.ws_row : 24;
	columns = size.ws_col ? size.ws_col : 80;
	add_header(p, &text);
	for (long b = 1; is_trial(p) && b <= kcamp_branches(p->camp); b++) {
		kbuf_puts(&text, "\n");
		add_branch(p, &text, b);
	}
	add_others(p, &text, "\n  ");
	if (p->drawn)
		kbuf_printf(&picture, "\033[%zuA", p->drawn);
	for (char *at = text.data; at && lines + 1 < rows; lines++) {
		size_t n = strcspn(at, "\n");

		add_cut(&picture, at, n, columns);
		at = at[n] ? at + n + 1 : NULL;
	}
	kbuf_puts(&picture, "\033[J");
	fwrite(picture.data, 1, picture.len, stderr);
	p->drawn = lines;
}

/* The same in one line, for a log. */
static void
speak_of_all(struct progress *p)
{
	struct kbuf line = { 0 };

	add_header(p, &line);
	for (long b = 1; is_trial(p) && b <= kcamp_branches(p->camp); b++) {
		const struct step *s = step_of(p, b);

		if (!s || s->ended)
			continue;
		kbuf_printf(&line, "; %02ld %s ", b, s->stage);
		add_elapsed(p, &line, s);
		if (*s->says)
			kbuf_printf(&line, ", %s", s->says);
	}
	add_others(p, &line, "; ");
	speak(p, &line);
}

/* The graph. */

void
progress_begin(struct progress *p, const struct graph *g)
{
	int fd;

	p->g = g;
	p->began = now_s();
	p->looked = 0;
	p->spent_usd = -1;
	p->fresh = is_trial(p) && next_stage(g->last, 1) == 0;
	for (long b = 0; b <= kcamp_branches(p->camp); b++)
		p->usd[b] = -1;
	p->at = 0;
	if ((fd = open(p->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		kdie_errno(K_IO, "%s", p->file);
	close(fd);
}

/*
 * Handles a step that has ended: prints, stores its time, and drops it unless a branch shows its
 * last one.
 */
static void
settle(struct progress *p, struct step *s)
{
	if (s->code)
		remember(&p->out, s);
	else
		add_time(p, s->stage, s->until - s->since);
	find_result(s);
	speak_of_end(p, s);
	if (s->branch < 1) {
		free_step(s);
		*s = p->steps[--p->count];
	}
}

void
progress_tick(struct progress *p, bool end)
{
	double now = now_s();

	if (!end && now - p->looked < TICK_MS * 1e-3)
		return;
	p->looked = now;
	read_steps(p, settle);
	if (end || p->silent)
		return;
	if (p->live)
		draw(p);
	else if (now - p->spoke >= p->every)
		speak_of_all(p);
}

void
progress_pass(struct progress *p, const char *text, size_t len)
{
	take_back(p);
	kpass(text, len);
	p->spoke = now_s();
}

/* Steps that ended without a report: they were killed, or crashed. */
static void
settle_lost(struct progress *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct step *s = &p->steps[i];

		if (s->ended)
			continue;
		s->code = STEP_LOST;
		remember(&p->out, s);
	}
}

struct outcome
progress_end(struct progress *p, bool good)
{
	struct outcome out;

	progress_tick(p, true);
	take_back(p);
	if (!good)
		settle_lost(p);
	if (good && p->fresh)
		add_time(p, "trial", now_s() - p->began);
	save_times(p);
	for (size_t i = 0; i < p->count; i++)
		free_step(&p->steps[i]);
	free(p->steps);
	out = p->out;
	p->steps = NULL;
	p->count = 0;
	p->out = (struct outcome){ 0 };
	return out;
}

/* The progress of a run in another process. */

void
progress_report(const struct kcamp *c, long process, struct kbuf *text)
{
	struct progress p = { .camp = c, .g = &(struct graph){ .first = 0, .last = -1 } };

	p.file = kasprintf(FOLDER "/%ld", process);
	p.times = json_load_file(TIMES, 0, NULL);
	read_steps(&p, NULL);
	add_others(&p, text, "\n         ");
	for (size_t i = 0; i < p.count; i++)
		free_step(&p.steps[i]);
	free(p.steps);
	json_decref(p.times);
	free(p.file);
}
