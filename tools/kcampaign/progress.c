/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a run: what each branch does, since when, how long it will still take, and what
 * it waits for. The tools say so in a file of the run (kutil.h). See kcampaign.h.
 */
#include "kcampaign.h"

#include <sys/ioctl.h>

#include "kstat.h"

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
	char stage[64];
	long trial, branch; /* branch: -1 for a step of the whole trial, or of none */
	double since, until;
	bool ended;
	int code;
	char says[TEXT];
};

static struct progress {
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
} progress;

/* Stages that cost money or measure: their ends are events. */
static const char *const events[] = { "reply", "eval", "digest", "reference", "ceilings",
	"evidence", "anchor", "verify" };

static double
now_s(void)
{
	return (double)know_ns() * 1e-9;
}

/* "0.4 s", "12 s", "3:05 min", "2:10 h", between BEFORE and AFTER. */
static void
add_duration(struct kbuf *line, const char *before, double s, const char *after)
{
	long n = (long)(s + 0.5);

	kbuf_puts(line, before);
	if (s < 9.95)
		kbuf_printf(line, "%.*f s", s < 0.95 ? 2 : 1, s);
	else if (n < 100)
		kbuf_printf(line, "%ld s", n);
	else if (n < 6000)
		kbuf_printf(line, "%ld:%02ld min", n / 60, n % 60);
	else
		kbuf_printf(line, "%ld:%02ld h", n / 3600, n / 60 % 60);
	kbuf_puts(line, after);
}

/* How long stages took. */

static void
add_time(const char *stage, double s)
{
	json_t *list = json_object_get(progress.times, stage);

	if (!json_is_array(list))
		json_object_set_new(progress.times, stage, list = json_array());
	json_array_append_new(list, json_real(s));
	if (json_array_size(list) > KEPT)
		json_array_remove(list, 0);
}

/* The median time of a stage with earlier candidates; -1: there were none. */
static double
expected(const char *stage)
{
	size_t n;
	auto_free double *s = kjson_numbers(json_object_get(progress.times, stage), &n);

	if (!n)
		return -1;
	kstat_sort(s, n);
	return s[n / 2];
}

/* It helps the next run, and nothing is lost without it. */
static void
save_times(void)
{
	if (json_dump_file(progress.times, TIMES ".new", JSON_COMPACT) == 0 &&
	    rename(TIMES ".new", TIMES) < 0)
		unlink(TIMES ".new");
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

void
progress_open(void)
{
	const char *wanted = getenv("KILN_PROGRESS");
	auto_free char *base = NULL;

	progress.every = given.every ?: 30;
	progress.silent = (wanted && !strcmp(wanted, "0")) || plans_only();
	progress.live = !progress.silent && is_terminal();
	progress.spoke = now_s();
	progress.usd = kcalloc((size_t)kcamp_branches() + 1, sizeof *progress.usd);
	kmake_folder(FOLDER);
	/* Files of processes that have ended. */
	kpath_foreach(old, FOLDER "/[0-9]*")
		if (kill((pid_t)atol(strrchr(old, '/') + 1), 0) < 0 && errno == ESRCH)
			unlink(old);
	if (!(base = realpath(FOLDER, NULL)))
		kdie_io(FOLDER);
	progress.file = kasprintf("%s/%ld", base, (long)getpid());
	progress.times = json_load_file(TIMES, 0, NULL);
	if (!json_is_object(progress.times)) {
		json_decref(progress.times);
		progress.times = json_object();
	}
}

void
progress_close(void)
{
	unlink(progress.file);
}

const char *
progress_file(void)
{
	return progress.file;
}

bool
progress_is_live(void)
{
	return progress.live;
}

/* What they say. */

/* "trials/007/02/eval.ndjson" is the stage eval of a branch; "memory-add" is a stage itself. */
static void
name_step(struct step *s)
{
	const char *slash = strrchr(s->target, '/'), *name = slash ? slash + 1 : s->target;

	s->trial = s->branch = -1;
	if (sscanf(s->target, "trials/%ld/%ld/", &s->trial, &s->branch) < 2)
		s->branch = -1;
	if (s->branch == 0)
		name = "reference";
	snprintf(s->stage, sizeof s->stage, "%.*s", (int)strcspn(name, "."), name);
}

static void
free_steps(void)
{
	kforeach_of(step, progress.steps, progress.count)
		free(step->target);
	free(progress.steps);
	progress.steps = NULL;
	progress.count = 0;
}

static struct step *
find_step(const char *target, double since)
{
	struct step *known = krow_with(progress.steps, progress.count, target, target);

	if (known)
		return known;
	known = kadded(progress.steps, progress.count);
	*known = (struct step){ .target = kstrdup(target), .since = since };
	name_step(known);
	return known;
}

/*
 * Takes a line of the file. ENDED, if given, is called with a step that has ended, and may remove
 * it.
 */
static void
take_line(const char *line, void (*ended)(struct step *s))
{
	char target[4096], state[16];
	struct step *s;
	double time;
	int text = 0, skip = 0;

	if (sscanf(line, "%lf %4095s %15s %n", &time, target, state, &text) < 3)
		return;
	s = find_step(target, time);
	if (strcmp(state, KSTEP_RUNS)) {
		s->ended = true;
		s->until = time;
		s->code = atoi(state);
		if (ended)
			ended(s);
		return;
	}
	/* Without the candidate's name, which is shown elsewhere. */
	line += text;
	sscanf(line, "%*3[0-9]/%*2[0-9] %*[a-z]: %n", &skip);
	snprintf(s->says, TEXT, "%s", line + skip);
	s->says[strcspn(s->says, "\n")] = '\0';
	kmask_controls(s->says);
}

/* Takes the complete lines that are new. */
static void
read_steps(void (*ended)(struct step *s))
{
	FILE *f = fopen(progress.file, "re");
	auto_free char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (f && fseek(f, progress.at, SEEK_SET) == 0)
		while ((n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n') {
			progress.at += n;
			take_line(line, ended);
		}
	if (f)
		fclose(f);
}

/*
 * A failure that must be fixed comes before one that may pass by itself, and among those the first.
 */
static void
remember(const struct step *s)
{
	struct outcome *out = &progress.out;

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
cost_of(long branch)
{
	json_auto_t *record =
	    progress.usd[branch] < 0 ? fact_of(progress.g->last, branch, KFACT_REPLY) : NULL;

	if (record)
		progress.usd[branch] = kjson_num(record, "reply.cost_usd");
	return fmax(progress.usd[branch], 0);
}

/* What to print for an evaluation that left no status line, for example on another machine. */
static void
find_result(struct step *s)
{
	bool eval = !strcmp(s->stage, kfact_names[KFACT_EVAL]) || s->branch == 0;
	json_auto_t *record = !*s->says && eval && !s->code ? kin_first(s->target) : NULL;

	if (s->code == K_AGAIN)
		snprintf(s->says, TEXT, "not now");
	else if (s->code)
		snprintf(s->says, TEXT, "failed with %d", s->code);
	else if (!*s->says)
		snprintf(s->says, TEXT, "%s", kjson_str_or(record, "eval.status", "done"));
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
speak(struct kbuf *line)
{
	kbuf_puts(line, "\n");
	if (!progress.silent && !progress.live) {
		kpass(line->data, line->len);
		progress.spoke = now_s();
	}
}

static void
speak_of_end(const struct step *s)
{
	auto_buf struct kbuf line = { 0 };

	if (!s->code && kindex_of(s->stage, events, LEN(events)) == LEN(events))
		return;
	add_name(&line, s);
	kbuf_printf(&line, ": %s", s->says);
	add_duration(&line, " (", s->until - s->since, "");
	if (!strcmp(s->stage, kfact_names[KFACT_REPLY]) && s->trial == progress.g->last &&
	    s->branch <= kcamp_branches())
		add_cost(&line, cost_of(s->branch), ", ");
	kbuf_puts(&line, ")");
	speak(&line);
}

/* The cost of the candidates before this graph, and of those in its trial. */
static double
spent(void)
{
	double usd = progress.spent_usd;

	for (long b = 1; progress.g->first == progress.g->last && b <= kcamp_branches(); b++)
		usd += cost_of(b);
	return usd;
}

/* The step of a branch that is running, or that ended last; NULL: none yet. */
static const struct step *
step_of(long branch)
{
	const struct step *found = NULL;

	kforeach_of(s, progress.steps, progress.count)
		if (s->branch == branch && s->trial == progress.g->last &&
		    (!found || found->since < s->since))
			found = s;
	return found;
}

/* The first stage of a branch whose fact does not exist; KFACTS: none. */
static int
next_stage(long trial, long branch)
{
	int stage = KFACTS;

	while (stage > 0 && !has_fact(trial, branch, stage - 1))
		stage--;
	return stage;
}

/* How long a branch will still need; -1: unknown. */
static double
branch_left(long branch)
{
	const struct step *s = step_of(branch);
	double left = 0;

	for (int i = next_stage(progress.g->last, branch); i < KFACTS; i++) {
		double stage = expected(kfact_names[i]);

		if (stage < 0)
			return -1;
		if (s && !s->ended && !strcmp(s->stage, kfact_names[i]))
			stage -= now_s() - s->since;
		left += fmax(stage, 0);
	}
	return left;
}

static bool
is_trial(void)
{
	return progress.g->first == progress.g->last && progress.g->last > 0 &&
	    progress.g->ask != ASK_NOBODY;
}

/* How long the trial will still need; -1: unknown. */
static double
trial_left(void)
{
	double whole = progress.fresh ? expected("trial") : -1, left = 0;

	for (long b = 1; b <= kcamp_branches(); b++) {
		double s = branch_left(b);

		if (s < 0)
			return -1;
		left = fmax(left, s);
	}
	return fmax(left, whole - (now_s() - progress.began));
}

/* "trial 7 of 40, 32 s, about 1:10 min left, at most 2:10 h for all; $0.42 of $5.00" */
static void
add_trial(struct kbuf *line)
{
	double left = trial_left(), trial = expected("trial"), usd = spent(),
	       budget = kcamp_num("stop.budget_usd");
	long all = kcamp_int("stop.trials"), more = all - progress.g->last;

	kbuf_printf(line, "trial %ld of %ld", progress.g->last, all);
	add_duration(line, ", ", now_s() - progress.began, "");
	if (left > 0)
		add_duration(line, ", about ", left, " left");
	if (left >= 0 && trial >= 0 && more > 0)
		add_duration(line, ", at most ", left + trial * (double)more, " for all trials");
	add_cost(line, usd, "; ");
	if (usd > 0 && budget > 0)
		kbuf_printf(line, " of $%.2f", budget);
}

static void
add_header(struct kbuf *line)
{
	if (is_trial()) {
		add_trial(line);
		return;
	}
	if (progress.g->first != progress.g->last)
		kbuf_printf(
		    line, "views of trials %ld to %ld", progress.g->first, progress.g->last);
	else
		kbuf_printf(line, "trial %ld", progress.g->last);
	add_duration(line, ", ", now_s() - progress.began, "");
}

/* "12 s of about 30 s, waits for kiln-cpu.lock" */
static void
add_state(struct kbuf *line, const struct step *s)
{
	double whole = expected(s->stage);

	add_duration(line, "", (s->ended ? s->until : now_s()) - s->since, "");
	if (whole >= 0 && !s->ended)
		add_duration(line, " of about ", whole, "");
	if (*s->says)
		kbuf_printf(line, ", %s", s->says);
}

static void
add_branch(struct kbuf *line, long branch)
{
	const struct step *s = step_of(branch);
	int stage = next_stage(progress.g->last, branch);

	kbuf_printf(line, "  %02ld  %-7s ", branch, stage < KFACTS ? kfact_names[stage] : "ready");
	if (s && (!s->ended || s->code || stage == KFACTS))
		add_state(line, s);
	else if (stage < KFACTS)
		kbuf_puts(line, "waits for its turn");
	add_cost(line, cost_of(branch), ", ");
}

/* Running steps; without BRANCHES only those of no branch of this trial, such as the reference. */
static void
add_steps(struct kbuf *text, const char *before, bool branches)
{
	kforeach_of(s, progress.steps, progress.count) {
		if (s->ended || (!branches && is_trial() && s->branch > 0))
			continue;
		kbuf_puts(text, before);
		add_name(text, s);
		kbuf_puts(text, " ");
		add_state(text, s);
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
take_back(void)
{
	if (progress.drawn)
		fprintf(stderr, "\033[%zuA\033[J", progress.drawn);
	progress.drawn = 0;
}

static void
draw(void)
{
	auto_buf struct kbuf text = { 0 }, picture = { 0 };
	struct winsize size = { 0 };
	size_t lines = 0, rows, columns;

	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row ?: 24;
	columns = size.ws_col ?: 80;
	add_header(&text);
	for (long b = 1; is_trial() && b <= kcamp_branches(); b++) {
		kbuf_puts(&text, "\n");
		add_branch(&text, b);
	}
	add_steps(&text, "\n  ", false);
	if (progress.drawn)
		kbuf_printf(&picture, "\033[%zuA", progress.drawn);
	for (char *at = text.data; at && lines + 1 < rows; lines++) {
		size_t n = strcspn(at, "\n");

		add_cut(&picture, at, n, columns);
		at = at[n] ? at + n + 1 : NULL;
	}
	kbuf_puts(&picture, "\033[J");
	fwrite(picture.data, 1, picture.len, stderr);
	progress.drawn = lines;
}

/* The same in one line, for a log. */
static void
speak_of_all(void)
{
	auto_buf struct kbuf line = { 0 };

	add_header(&line);
	add_steps(&line, "; ", true);
	speak(&line);
}

/* The graph. */

void
progress_begin(const struct graph *g)
{
	json_auto_t *header = NULL;
	int fd;

	progress.g = g;
	/* While views are made again, the archive may be what is wrong. */
	if (is_trial())
		header = archive_header(g->first - 1);
	progress.began = now_s();
	progress.looked = 0;
	progress.spent_usd = kjson_num(header, "cost_usd");
	progress.fresh = is_trial() && next_stage(g->last, 1) == 0;
	for (long b = 0; b <= kcamp_branches(); b++)
		progress.usd[b] = -1;
	progress.at = 0;
	if ((fd = open(progress.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		kdie_io("%s", progress.file);
	close(fd);
}

/*
 * Handles a step that has ended: prints, stores its time, and drops it unless a branch shows its
 * last one.
 */
static void
settle(struct step *s)
{
	if (s->code)
		remember(s);
	else
		add_time(s->stage, s->until - s->since);
	find_result(s);
	speak_of_end(s);
	if (s->branch < 1) {
		free(s->target);
		*s = progress.steps[--progress.count];
	}
}

void
progress_tick(bool end)
{
	double now = now_s();

	if (!end && now - progress.looked < TICK_MS * 1e-3)
		return;
	progress.looked = now;
	read_steps(settle);
	if (end || progress.silent)
		return;
	if (progress.live)
		draw();
	else if (now - progress.spoke >= progress.every)
		speak_of_all();
}

void
progress_pass(const char *text, size_t len)
{
	take_back();
	kpass(text, len);
	progress.spoke = now_s();
}

/* Steps that ended without a report: they were killed, or crashed. */
static void
settle_lost(void)
{
	kforeach_of(s, progress.steps, progress.count) {
		if (s->ended)
			continue;
		s->code = STEP_LOST;
		remember(s);
	}
}

struct outcome
progress_end(bool good)
{
	struct outcome out;

	progress_tick(true);
	take_back();
	if (!good)
		settle_lost();
	if (good && progress.fresh)
		add_time("trial", now_s() - progress.began);
	save_times();
	free_steps();
	out = progress.out;
	progress.out = (struct outcome){ 0 };
	return out;
}

/* The progress of a run in another process. */

void
progress_report(long process)
{
	static const struct graph none = { .last = -1 };
	auto_free char *file = kasprintf(FOLDER "/%ld", process);
	json_auto_t *times = json_load_file(TIMES, 0, NULL);

	progress = (struct progress){ .g = &none, .file = file, .times = times };
	read_steps(NULL);
	add_steps(&page, "\n         ", true);
	free_steps();
	progress = (struct progress){ 0 };
}
