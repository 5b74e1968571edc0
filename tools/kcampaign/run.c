/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives make: one trial at a time, under the campaign's lock, again after a temporary failure. See
 * kcampaign.h.
 */
#include "kcampaign.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "karch.h"
#include "kchain.h"
#include "kfrozen.h"
#include "kio.h"
#include "ktrials.h"
#include "klinear.h"
#include "kmemo.h"
#include "status.h"

#define LOCK ".run.lock"
#define RETRY_MAX_S 600.0
/* What the stages after an evaluation add to its record at most, in bytes. */
#define MEMBERS_MAX ((size_t)1 << 20)

/* What became of one make: the exit code for us, and the first target that failed with it. */
struct outcome {
	int code;
	size_t failed; /* targets that failed */
	char *target;  /* owned */
};

static volatile sig_atomic_t stopped_by;
static volatile sig_atomic_t make_pid;

static void
on_signal(int sig)
{
	stopped_by = sig;
	if (make_pid > 0)
		kill((pid_t)make_pid, SIGTERM);
}

static void
catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < LEN(signals); i++)
		sigaction(signals[i], &sa, NULL);
}

/* After a signal, and once make is gone: end the way the signal ends a program. */
static void
die_if_stopped(void)
{
	if (!stopped_by)
		return;
	fflush(stdout);
	signal(stopped_by, SIG_DFL);
	raise(stopped_by);
}

long
lock_holder(void)
{
	int fd = open(LOCK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char holder[32] = "";

	if (fd < 0)
		return 0;
	/*
	 * A shared lock is to be had unless a run holds it, and is gone again with the descriptor.
	 */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && pread(fd, holder, sizeof holder - 1, 0) < 0)
		holder[0] = '\0';
	close(fd);
	return atol(holder);
}

/*
 * One run per campaign. The descriptor stays open in make and the stages, so that no second run
 * begins while a straggler of a killed one is still at work.
 */
static void
take_lock(void)
{
	int fd = open(LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666), tries = 5;
	char holder[32];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		kdie_errno(K_IO, "%s", LOCK);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		kdie(K_USAGE,
		    "%s: has more than one hard link, so it may be another file; remove it", LOCK);
	/* lock_holder has it for a moment, too. */
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			kdie_errno(K_IO, "%s", LOCK);
		if (tries-- > 0 && usleep(20000) == 0)
			continue;
		kdie(K_AGAIN, "this campaign is already running (process %ld holds %s)",
		    lock_holder(), LOCK);
	}
	/* As long as any other process id, so that nothing has to be cut off. */
	snprintf(holder, sizeof holder, "%-10ld\n", (long)getpid());
	if (pwrite(fd, holder, strlen(holder), 0) < 0)
		kdie_errno(K_IO, "%s", LOCK);
}

/* The first word of MAKEFLAGS holds make's one-letter flags. */
static bool
make_flag(char letter)
{
	const char *flags = getenv("MAKEFLAGS");
	size_t n = flags ? strcspn(flags, " ") : 0;

	return n && !memchr(flags, '-', n) && !memchr(flags, '=', n) && memchr(flags, letter, n);
}

static void
remember(struct outcome *out, const char *target, size_t len, int code)
{
	out->failed++;
	/* What has to be mended comes before what mends itself. */
	if (out->target && !(out->code == K_AGAIN && code != K_AGAIN))
		return;
	free(out->target);
	out->target = kstrndup(target, len);
	out->code = code;
}

/* In one write, as it comes, so that a stage's words are seen while it still waits. */
static void
pass_line(const char *line)
{
	char *text = kasprintf("%s\n", line);

	kpass(text, strlen(text));
	free(text);
}

/*
 * A line of make's or of a stage's. Ours to tell are "make: *** [pipeline.mk:70: TARGET] Error N"
 * and what make adds to it; everything else is passed on.
 */
static void
take_line(struct outcome *out, const char *line)
{
	const char *mark = strstr(line, "*** ["), *end = mark ? strstr(mark, "] Error ") : NULL,
	           *target;

	if (strncmp(line, "make", 4)) {
		pass_line(line);
	} else if (end) {
		target = mark + 5;
		for (const char *p = target; p + 1 < end; p++)
			if (p[0] == ':' && p[1] == ' ')
				target = p + 2;
		remember(out, target, (size_t)(end - target), atoi(end + 8));
	} else if (!strstr(line, "not remade because of errors") &&
	    !strstr(line, "Waiting for unfinished jobs")) {
		pass_line(line);
	}
}

static void
exec_make(char *const *argv, const int *fds, pid_t parent)
{
	/* make ends with us, and each stage ends with make. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(fds[1], STDERR_FILENO) < 0)
		_exit(K_IO);
	close(fds[0]);
	close(fds[1]);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: cannot start: %s\n", argv[0], strerror(errno));
	_exit(K_MISSING);
}

static void
read_messages(struct outcome *out, int fd)
{
	FILE *f = fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f)
		kdie_errno(K_IO, "make");
	/* A signal interrupts the read; make still has to be heard to its end. */
	while ((n = getline(&line, &cap, f)) > 0 || (n < 0 && ferror(f) && errno == EINTR)) {
		clearerr(f);
		if (n <= 0)
			continue;
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		take_line(out, line);
	}
	free(line);
	fclose(f);
}

static struct outcome
run_make(char *const *argv)
{
	struct outcome out = { 0 };
	int fds[2], status;
	pid_t pid, parent = getpid();

	fflush(NULL);
	if (pipe(fds) < 0 || (pid = fork()) < 0)
		kdie_errno(K_IO, "make");
	if (pid == 0)
		exec_make(argv, fds, parent);
	make_pid = pid;
	close(fds[1]);
	read_messages(&out, fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	make_pid = 0;
	die_if_stopped();
	if (status && !out.target)
		out = (struct outcome){
			WIFEXITED(status) && WEXITSTATUS(status) == K_MISSING ? K_MISSING : K_IO, 1,
			kstrdup("make")
		};
	return out;
}

/*
 * Environment of the stages: messages of make that take_line knows, and progress when a person is
 * watching.
 */
static void
prepare_environment(void)
{
	setenv("LC_ALL", "C", 1);
	if (isatty(STDERR_FILENO))
		setenv("KILN_PROGRESS", "1", 0);
	setenv("KILN_PIPELINE", "1", 1);
}

struct graph {
	long first, last; /* trials in it */
	const char *best; /* candidate to verify; NULL: none */
	long jobs;
	/*
	 * Whom to ask for what is missing: the model for replies; the second one for digests, too.
	 */
	enum { ASK_NOBODY, ASK_MODEL, ASK_BOTH } ask;
};

/* "NAME=VALUE" for make's command line, where a dollar sign has to be doubled; the caller frees. */
static char *
variable(const char *name, const char *value)
{
	struct kbuf text = { 0 };

	kbuf_printf(&text, "%s=", name);
	for (; *value; value++)
		kbuf_puts(&text, *value == '$' ? "$$" : (char[]){ *value, '\0' });
	return text.data;
}

/*
 * The backend whose ceilings kharness can measure for this campaign, or "": not before the
 * reference of a campaign that has begun.
 */
static const char *
ceilings_of(const struct kcamp *c)
{
	const struct backend *b = kcamp_backend(c);
	bool measured = exists("trials/000/ceilings.json"),
	     begun = exists("trials/000/00/eval.ndjson");

	return b->ceilings && !strcmp(kcamp_str(c, "eval.evaluator"), "harness") &&
	        !kcamp_json(c, "eval.timing") && (measured || !begun)
	    ? b->name
	    : "";
}

/*
 * The trials of the graph that may not begin without fresh evidence: rounds of a linear search
 * behind rollbacks in a row. One that has begun has it, or is older than the rule. The caller
 * frees.
 */
static char *
need_evidence(const struct kcamp *c, const struct graph *g)
{
	struct kbuf list = { 0 };

	kbuf_add(&list, "", 0);
	for (long t = g->first > 1 ? g->first : 1; kcamp_linear(c) && t <= g->last; t++) {
		char *sample = cell_path(t, 1, stages[STAGE_SAMPLE]);
		json_t *header = exists(sample) ? NULL : archive_header(t - 1);

		if (kjson_int_or(header, "linear.streak", 0) >= KLINEAR_PROFILE)
			kbuf_printf(&list, "%s%03ld", list.len ? " " : "", t);
		json_decref(header);
		free(sample);
	}
	return list.data;
}

/* Is any branch of the trial evaluated? */
static bool
is_evaluated(const struct kcamp *c, long trial)
{
	bool any = false;

	for (long b = 1; b <= kcamp_branches(c) && !any; b++) {
		char *eval = cell_path(trial, b, stages[STAGE_EVAL]);

		any = exists(eval);
		free(eval);
	}
	return any;
}

/*
 * The trials of the graph before which the best is raced against the reference again: what anchors
 * them is not known well enough, or was measured while the machine was busy. Not where kharness
 * times nothing. The caller frees.
 */
static char *
need_anchors(const struct kcamp *c, const struct graph *g)
{
	struct kbuf list = { 0 };
	bool raced =
	    !strcmp(kcamp_str(c, "eval.evaluator"), "harness") && !kcamp_json(c, "eval.timing");

	kbuf_add(&list, "", 0);
	for (long t = g->first > 1 ? g->first : 1; raced && t <= g->last; t++) {
		json_t *header = is_evaluated(c, t) ? NULL : archive_header(t - 1);
		struct standing s = standing(c, header);

		if (s.best && (s.provisional || kgain_width(&s.speedup) > KCHAIN_WIDE))
			kbuf_printf(&list, "%s%03ld", list.len ? " " : "", t);
		json_decref(header);
	}
	return list.data;
}

/* Run make on GRAPH for GOALS (space-free paths, NULL at the end). */
static struct outcome
make_graph(const struct kcamp *c, const struct graph *g, char *const *goals)
{
	char *argv[32], *branches = kstrdup(""), *old;
	char *evidence = need_evidence(c, g), *anchors = need_anchors(c, g);
	long n = 0, count = kcamp_branches(c);
	struct outcome out;
	bool told;

	for (long b = 1; b <= count; b++) {
		branches = kasprintf("%s%s%02ld", old = branches, b > 1 ? " " : "", b);
		free(old);
	}
	argv[n++] = kstrdup("make");
	argv[n++] = kstrdup("-rRks");
	/* Not the folder's own Makefile, which may be somebody else's. */
	argv[n++] = kstrdup("-f");
	argv[n++] = kdata_path("pipeline.mk");
	argv[n++] = kstrdup("--no-print-directory");
	if (g->jobs || !getenv("MAKELEVEL"))
		argv[n++] = kasprintf("-j%ld", g->jobs ? g->jobs : count);
	argv[n++] = kasprintf("FIRST=%03ld", g->first);
	argv[n++] = kasprintf("LAST=%03ld", g->last);
	argv[n++] = kasprintf("PREV=%03ld", g->first > 0 ? g->first - 1 : 0);
	argv[n++] = variable("BRANCHES", branches);
	argv[n++] = variable("LAUNCHER", kcamp_str(c, "eval.launcher"));
	argv[n++] = variable("CEILINGS", ceilings_of(c));
	argv[n++] = kasprintf("THREADS=%ld", kcamp_int(c, "eval.threads"));
	argv[n++] = variable("TASK", kcamp_str(c, "task"));
	told = g->ask == ASK_BOTH && *kcamp_str(c, "feedback.provider");
	argv[n++] = variable("ASK", g->ask != ASK_NOBODY ? "yes" : "");
	argv[n++] = variable("FEEDBACK", told ? "yes" : "");
	argv[n++] = variable("TIPS", kmemo_enabled(c) ? "yes" : "");
	argv[n++] = variable("EVIDENCE", evidence);
	argv[n++] = variable("ANCHORS", anchors);
	argv[n++] = variable("KEY", kcamp_str(c, "model.key_env"));
	argv[n++] = variable("BEST", g->best ? g->best : "");
	for (; *goals; goals++)
		argv[n++] = kstrdup(*goals);
	argv[n] = NULL;
	free(evidence);
	free(anchors);
	free(branches);
	out = run_make(argv);
	while (n > 0)
		free(argv[--n]);
	return out;
}

/*
 * A fact of a cell that is too long for any tool to read is put aside, so that its stage makes it
 * anew, within the limits.
 */
static void
put_aside(const char *folder)
{
	for (int s = STAGE_REPLY; s <= STAGE_EVAL; s++) {
		char *path = kasprintf("%s/%s.ndjson", folder, stages[s]),
		     *aside = kasprintf("%s.too_large", path);
		struct stat st;

		/* Each of the next stages adds a few members. */
		if (stat(path, &st) == 0 && (size_t)st.st_size > KIO_LINE_MAX - MEMBERS_MAX &&
		    rename(path, aside) == 0)
			kwarn("%s exceeds the limit for a record (64 MiB); moved it to %s and will "
			      "make it again",
			    path, aside);
		free(path);
		free(aside);
	}
}

/* A spool whose record is there: kllm was killed before it could take it away. */
static void
drop_spools(const char *folder)
{
	char *pattern = kasprintf("%s/*.spool*", folder);
	glob_t left;

	if (glob(pattern, GLOB_NOSORT, NULL, &left) == 0) {
		for (size_t i = 0; i < left.gl_pathc; i++) {
			char *spool = left.gl_pathv[i],
			     *end = strstr(spool + strlen(folder), ".spool");
			char *record = kasprintf("%.*s.ndjson", (int)(end - spool), spool);

			if (exists(record))
				unlink(spool);
			free(record);
		}
		globfree(&left);
	}
	free(pattern);
}

/*
 * A folder, made or found; what a killed stage left of a file in it is removed (kio: NAME.XXXXXX),
 * for the lock is ours.
 */
static void
make_folder(const char *path)
{
	char *pattern = kasprintf("%s/*.ndjson.??????", path);
	glob_t left;

	if (mkdir(path, 0777) < 0) {
		if (errno != EEXIST)
			kdie_errno(K_IO, "%s", path);
		if (glob(pattern, GLOB_NOSORT, NULL, &left) == 0) {
			for (size_t i = 0; i < left.gl_pathc; i++)
				unlink(left.gl_pathv[i]);
			globfree(&left);
		}
	}
	free(pattern);
}

static void
make_folders(long trial, long branches)
{
	char *path = trial_path(trial, "");

	make_folder("trials");
	make_folder(path);
	free(path);
	for (long b = trial ? 1 : 0; b <= (trial ? branches : 0); b++) {
		path = kasprintf("trials/%03ld/%02ld", trial, b);
		make_folder(path);
		put_aside(path);
		drop_spools(path);
		free(path);
	}
}

/* All views of the trials FIRST..LAST, and whom to ask for what is missing under them. */
static struct outcome
make_views(const struct kcamp *c, const struct options *o, long first, long last, int ask)
{
	struct graph g = { .first = first, .last = last, .jobs = o->jobs, .ask = ask };
	char *goals[] = { trial_path(last, "archive.ndjson"), trial_path(last, "gradient.ndjson"),
		NULL };
	struct outcome out;

	if (!make_flag('n')) {
		make_folders(0, 0);
		if (first == last)
			make_folders(last, kcamp_branches(c));
	}
	out = make_graph(c, &g, goals);
	free(goals[0]);
	free(goals[1]);
	return out;
}

/*
 * Our exit code after a stage that ended with CODE: its own when it is one of ours; 126 and 127
 * mean that it is not there.
 */
static int
own_code(int code)
{
	if (code == 126 || code == 127)
		return K_MISSING;
	return code == K_USAGE || code == K_MISSING || code == K_AGAIN ? code : K_IO;
}

/* Say what failed, in one line, and what to do; returns the exit code. */
static int
explain(const struct kcamp *c, long trial, struct outcome *out)
{
	int code = own_code(out->code);

	if (code == K_AGAIN && !strcmp(kcamp_str(c, "model.provider"), "file"))
		kwarn("trial %ld waits for %zu %s from you, because model.provider is \"file\": "
		      "answer each prompt.md in trials/%03ld in a file reply.txt next to it, then "
		      "run the same command again. Ignore make's \"Error %d\"; nothing is wrong",
		    trial, out->failed, out->failed == 1 ? "reply" : "replies", trial, K_AGAIN);
	else if (code == K_AGAIN)
		kwarn("trial %ld: %s cannot continue now (%zu waiting); run the same command again "
		      "later",
		    trial, out->target, out->failed);
	else
		kwarn("trial %ld: %s failed with status %d; run the same command again to continue",
		    trial, out->target, out->code);
	free(out->target);
	out->target = NULL;
	return code;
}

/* What people read of the rounds, and the commits of those that were accepted. */
static int
close_rounds(const struct kcamp *c, const struct options *o, long last)
{
	char *goals[] = { (char[]){ "records" }, NULL };
	struct graph g = { .first = last, .last = last, .jobs = o->jobs };
	struct outcome out;

	/*
	 * The shapes of a linear search may be chosen until round 2 begins: only then is round 1
	 * closed.
	 */
	if (kcamp_linear(c) && !shapes_frozen())
		return K_OK;
	if (last < 0 || make_flag('n') || !kcamp_linear(c))
		return K_OK;
	out = make_graph(c, &g, goals);
	free(out.target);
	if (out.code)
		kwarn("trial %ld is complete, but its records are not: kround failed with status "
		      "%d",
		    last, out.code);
	return out.code == K_NO ? K_NO : out.code ? own_code(out.code) : K_OK;
}

/*
 * What memory, tips and library need at a moment, behind the commits that it names; a plan (make
 * -n) shows none of it.
 */
static int
remember_at(const struct kcamp *c, const struct options *o, enum memory_moment moment, long last)
{
	char *goals[MEMORY_GOALS];
	struct graph g = { .first = last, .last = last, .jobs = o->jobs };
	struct outcome out = { 0 };
	bool closes = moment == MEMORY_VIEWS || moment == MEMORY_BEGIN || moment == MEMORY_AFTER;
	int closed = closes ? close_rounds(c, o, last) : K_OK;

	memory_goals(c, moment, last, goals);
	if (*goals && !make_flag('n'))
		out = make_graph(c, &g, goals);
	for (size_t i = 0; goals[i]; i++)
		free(goals[i]);
	return out.code ? explain(c, last, &out) : closed;
}

/* Later rounds are judged by what the earlier ones were. */
static void
require_judged(const struct kcamp *c)
{
	struct kbuf text = { 0 };

	if (judged_faults(c, &text))
		kdie(K_USAGE, "%.*s", (int)strcspn(text.data, "\n"), text.data);
}

/* A campaign opened for a run. */
static struct kcamp *
begin(long *last)
{
	struct kcamp *c = kcamp_load(".");
	char *fault = kfrozen_fault(".");

	if (fault)
		kdie(K_USAGE, "%s", fault);
	take_lock();
	catch_signals();
	prepare_environment();
	if (!make_flag('n'))
		rules_refresh(c);
	*last = ktrials_last(c);
	if (kcamp_linear(c)) {
		confirm_require(c);
		shapes_freeze(c, false);
		require_judged(c);
	}
	return c;
}

/*
 * Views of all trials, as far as they are not up to date. They cost nothing: no model is asked for
 * what is missing unless ASK says so, and none ever for the digest of a finished trial.
 */
static int
bring_views(const struct kcamp *c, const struct options *o, long first, long last, int ask)
{
	struct outcome out;

	if (last < 0)
		return K_OK;
	if (!make_flag('n')) {
		clear_position();
		rules_settle(first, last);
	}
	out = make_views(c, o, first < last ? first : last, last, ask);
	if (out.code)
		return explain(c, last, &out);
	if (!make_flag('n'))
		set_position(last);
	return remember_at(c, o, ask == ASK_NOBODY ? MEMORY_VIEWS : MEMORY_BEGIN, last);
}

/*
 * Views lag behind when a rule has changed, or when something was begun that took the position
 * away: a redo that was interrupted may still wait for its reply.
 */
static int
catch_up(const struct kcamp *c, const struct options *o, long last, int ask)
{
	if (last < 0 || make_flag('n') || (ktrials_linked(c) == last && !rules_newer(last)))
		return remember_at(c, o, ask == ASK_NOBODY ? MEMORY_VIEWS : MEMORY_BEGIN, last);
	return bring_views(c, o, 1, last, ask);
}

/* Full jitter over a delay that doubles: 0.5..1 times BASE * 2^attempt. */
static void
wait_before_retry(double base, long attempt)
{
	double s = fmin(base * pow(2, (double)attempt), RETRY_MAX_S) *
	    (0.5 + 0.5 * (double)(know_ns() % 1000) / 1000);
	struct timespec t = { (time_t)s, (long)((s - floor(s)) * 1e9) };

	kwarn("trying again in %.0f s", s);
	nanosleep(&t, NULL);
	die_if_stopped();
}

/* One trial, with as many more tries as O allows while something asks to try again later. */
static int
make_trial(const struct kcamp *c, const struct options *o, long trial)
{
	long tries = o->trials || !strcmp(kcamp_str(c, "model.provider"), "file") ? 0 : o->retries;

	for (long attempt = 0;; attempt++) {
		struct outcome out = make_views(c, o, trial, trial, ASK_BOTH);
		int code = out.code ? explain(c, trial, &out) : K_OK;

		if (code != K_AGAIN || attempt >= tries)
			return code;
		wait_before_retry(o->retry_s, attempt);
	}
}

int
preflight(const struct kcamp *c)
{
	char *goals[] = { (char[]){ "preflight" }, NULL };
	const char *launcher = kcamp_str(c, "eval.launcher");
	struct graph g = { 0 };
	struct outcome out;

	prepare_environment();
	out = make_graph(c, &g, goals);
	if (out.code)
		kwarn("eval.launcher: %s: %s", *launcher ? launcher : "(here)",
		    out.code == K_AGAIN ? "not now"
		                        : "evaluations cannot run through eval.launcher");
	free(out.target);
	return out.code ? own_code(out.code) : K_OK;
}

/* Evaluations that run elsewhere: is all there that they need? Asked before a model is. */
static int
arrive(const struct kcamp *c, const struct options *o, long last)
{
	json_t *header = archive_header(last);
	struct standing now = standing(c, header);
	char *over = stop_reason(c, last, &now);
	bool needed = !over && *kcamp_str(c, "eval.launcher") && !make_flag('n');
	int code = K_OK;

	free(over);
	json_decref(header);
	for (long attempt = 0; needed; attempt++) {
		code = preflight(c);
		if (code != K_AGAIN || o->trials || attempt >= o->retries)
			break;
		wait_before_retry(o->retry_s, attempt);
	}
	return code;
}

static void
say(struct kbuf *text)
{
	ksay("%s", text->data ? text->data : "");
	kbuf_free(text);
}

static void
parse_cell(const char *text, long *trial, long *branch)
{
	if (!text || !karch_id(text, trial, branch))
		kdie(K_USAGE,
		    "'%s' is not the id of a candidate; write TRIAL/BRANCH, such as 007/02",
		    text ? text : "");
}

/* The report that was written about the last trial is of the best kernel as it is now? */
static bool
verified(const char *path, const char *best)
{
	json_t *record = kin_first(path);
	bool yes = !strcmp(kjson_str_or(record, "id", ""), best);

	json_decref(record);
	return yes;
}

/*
 * What the measurement on the full set says of the best kernel ID. K_NO: it is not right there;
 * with REPLACED that is its evaluation from now on.
 */
static int
accept_best(const char *path, const char *id, bool replaced)
{
	json_t *record = id ? kin_first(path) : NULL;
	enum status status = status_or(record, "eval.status", STATUS_CORRECT);
	int code = status == STATUS_CORRECT ? K_OK : K_NO;

	if (code)
		kwarn("%s is not accepted%s: measured again on the full set, it is %s: %.300s", id,
		    replaced ? ", and this evaluation replaces the old one" : "",
		    status_rows[status].name, kjson_str_or(record, "eval.log", ""));
	json_decref(record);
	return code;
}

/*
 * Evaluations of trials FROM..LAST that were taken over from ID are taken over again, with the
 * views.
 */
static void
forget_copies(const struct kcamp *c, const char *id, long from, long last)
{
	for (long t = from; t <= last; t++)
		for (long b = 1; b <= kcamp_branches(c); b++) {
			char *path = cell_path(t, b, stages[STAGE_EVAL]);
			json_t *record = exists(path) ? kin_first(path) : NULL;

			if (!strcmp(kjson_str_or(record, "eval.duplicate_of", ""), id) &&
			    unlink(path) < 0)
				kdie_errno(K_IO, "%s", path);
			json_decref(record);
			free(path);
		}
}

/*
 * The evaluation of ID becomes the one of the full set that REPORT holds; the one that scored it is
 * kept beside it. As with redo there is no position until the views stand again, so an interruption
 * leaves nothing behind.
 */
static int
demote(
    const struct kcamp *c, const struct options *o, const char *id, const char *report, long last)
{
	long trial, branch;
	char *path, *kept;
	json_t *record, *verified = kin_first(report);

	parse_cell(id, &trial, &branch);
	path = cell_path(trial, branch, stages[STAGE_EVAL]);
	kept = kasprintf("%s.scored", path);
	record = kin_first(path);
	json_object_set(record, "eval", json_object_get(verified, "eval"));
	clear_position();
	forget_copies(c, id, trial, last);
	if ((unlink(kept) < 0 && errno != ENOENT) || link(path, kept) < 0)
		kdie_errno(K_IO, "%s", kept);
	kout_open(path);
	kout_json(record);
	kout_commit();
	json_decref(verified);
	json_decref(record);
	free(kept);
	free(path);
	return bring_views(c, o, trial, last, ASK_NOBODY);
}

/*
 * Measure the best kernel again on the full set, unless that is done. One that is not right there
 * is the best no more, and the next is measured; the chain of a linear search is closed, and stays.
 */
static int
verify(const struct kcamp *c, const struct options *o, long last)
{
	bool chain = !strcmp(kcamp_str(c, "search.mode"), "linear"), again = true;
	char *path = trial_path(last, "verify.ndjson"), *goals[] = { path, NULL }, *refused = NULL;
	int code = K_OK;

	while (again) {
		json_t *header = archive_header(last);
		struct standing now = standing(c, header);
		struct graph g = { .first = last, .last = last, .best = now.best, .jobs = o->jobs };
		struct outcome out = { 0 };

		if (now.best && !verified(path, now.best)) {
			if (unlink(path) < 0 && errno != ENOENT)
				kdie_errno(K_IO, "%s", path);
			out = make_graph(c, &g, goals);
		}
		code = out.code ? explain(c, last, &out) : accept_best(path, now.best, !chain);
		if (refused && !now.best)
			code = K_NO;
		/* One that the views hold on to all the same is refused once. */
		again = code == K_NO && now.best && !chain && !make_flag('n') &&
		    (!refused || strcmp(refused, now.best));
		if (again) {
			free(refused);
			refused = kstrdup(now.best);
			again = (code = demote(c, o, refused, path, last)) == K_OK;
		}
		json_decref(header);
	}
	free(refused);
	free(path);
	return code;
}

/* The end of a campaign: why, the best kernel measured once more, and the report. */
static int
finish(const struct kcamp *c, const struct options *o, long last, const char *reason)
{
	struct kbuf text = { 0 };
	int code = K_OK;

	ksay("%s: %s\n", kcamp_str(c, "name"), reason);
	code = remember_at(c, o, MEMORY_END, last);
	if (code || o->trials || last < 1)
		return code;
	if (!strcmp(kcamp_str(c, "eval.evaluator"), "harness"))
		code = verify(c, o, last);
	report_best(c, last, &text);
	say(&text);
	return code;
}

/*
 * Round 1 of a linear search is the baseline alone, since the shapes of all others are chosen after
 * it.
 */
static int
make_baseline(const struct kcamp *c, const struct options *o, long *last)
{
	struct kbuf text = { 0 };
	int code = *last < 0 ? make_trial(c, o, 0) : K_OK;

	if (code || *last >= 0)
		return code;
	set_position(*last = 0);
	report_trial(c, 0, &text);
	say(&text);
	return K_OK;
}

int
command_baseline(const struct options *o)
{
	long last;
	struct kcamp *c = begin(&last);
	int code = make_baseline(c, o, &last);

	kcamp_free(c);
	return code;
}

/* What must hold before a round of a linear search begins. */
static int
open_round(const struct kcamp *c, const struct options *o, long *last)
{
	struct kbuf text = { 0 };
	int code = make_baseline(c, o, last);

	if (code)
		return code;
	linear_closed(*last);
	if (*last == 0 && shapes_faults(c, &text)) {
		text.data[strcspn(text.data, "\n")] = '\0';
		kdie(K_USAGE, "eval.set: %s; run `kcampaign shapes` for a fair choice", text.data);
	}
	return shapes_freeze(c, true) ? close_rounds(c, o, *last) : K_OK;
}

/* The condition that ended the search held for a kernel that was refused since? */
static bool
goes_on(const struct kcamp *c, long last)
{
	json_t *header = archive_header(last);
	struct standing now = standing(c, header);
	char *reason = stop_reason(c, last, &now);
	bool yes = !reason;

	free(reason);
	json_decref(header);
	if (yes)
		kwarn("the kernel that met the stop condition was not accepted; the search "
		      "continues");
	return yes;
}

int
command_run(const struct options *o)
{
	long last, done = 0;
	struct kcamp *c = begin(&last);
	int code = catch_up(c, o, last, ASK_MODEL);

	if (!code)
		code = arrive(c, o, last);
	if (!code && kcamp_linear(c) && !make_flag('n'))
		code = open_round(c, o, &last);
	while (!code && (!o->trials || done < o->trials)) {
		json_t *header = archive_header(last);
		struct standing now = standing(c, header);
		char *reason = stop_reason(c, last, &now);
		struct kbuf text = { 0 };

		json_decref(header);
		if (reason) {
			code = finish(c, o, last, reason);
			free(reason);
			if ((code == K_OK || code == K_NO) && !o->trials && goes_on(c, last)) {
				code = K_OK;
				continue;
			}
			break;
		}
		roofline_require(c);
		code = remember_at(c, o, MEMORY_BEFORE, last);
		if (!code)
			code = make_trial(c, o, last < 0 ? 1 : last + 1);
		if (code || make_flag('n'))
			break;
		last = last < 0 ? 1 : last + 1;
		set_position(last);
		code = remember_at(c, o, MEMORY_AFTER, last);
		done++;
		report_trial(c, last, &text);
		say(&text);
	}
	kcamp_free(c);
	return code;
}

int
command_views(const struct options *o)
{
	long last, facts;
	struct kcamp *c = begin(&last);
	int code;

	/* Archives may be gone as well: they are views. */
	facts = last_facts(c);
	if (facts > last)
		last = facts;
	code = bring_views(c, o, 1, last, ASK_NOBODY);
	kcamp_free(c);
	return code;
}

int
command_verify(const struct options *o)
{
	long last;
	struct kcamp *c = begin(&last);
	struct kbuf text = { 0 };
	int code = catch_up(c, o, last, ASK_NOBODY);

	if (last < 1)
		kdie(K_USAGE, "no trial has been made yet");
	if (!code)
		code = verify(c, o, last);
	if (!code) {
		report_best(c, last, &text);
		say(&text);
	}
	kcamp_free(c);
	return code;
}

static void
remove_file(const char *path)
{
	if (unlink(path) < 0 && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
}

/* An answer that somebody wrote by hand. */
static void
keep_answer(const char *path)
{
	char *kept = kset_aside(path);

	if (kept)
		kwarn("the old answer %s is now %s", path, kept);
	free(kept);
}

/* The files of a cell from STAGE on, and what providers keep beside them. */
static void
remove_stages(long trial, long branch, int from)
{
	static const struct {
		const char *name;
		int stage;
		void (*away)(const char *path);
	} beside[] = {
		{ "prompt.md", STAGE_REPLY, remove_file },
		{ "reply.txt", STAGE_REPLY, keep_answer },
		{ "reply.json", STAGE_REPLY, keep_answer },
		{ "reply.spool", STAGE_REPLY, remove_file },
		{ "reply.spool2", STAGE_REPLY, remove_file },
		{ "eval.ndjson.scored", STAGE_EVAL, remove_file },
		{ "digest.ndjson", STAGE_EVAL, remove_file },
	};

	for (int s = from; s < STAGES; s++) {
		char *path = cell_path(trial, branch, stages[s]);

		remove_file(path);
		free(path);
	}
	if (from == STAGE_SAMPLE) {
		char *path = trial_path(trial, "evidence.ndjson");

		remove_file(path);
		free(path);
	}
	for (size_t i = 0; i < LEN(beside); i++) {
		char *path = kasprintf("trials/%03ld/%02ld/%s", trial, branch, beside[i].name);

		if (from <= beside[i].stage)
			beside[i].away(path);
		free(path);
	}
}

static int
stage_number(const char *name)
{
	for (int s = 0; s < STAGES; s++)
		if (!strcmp(stages[s], name))
			return s;
	kdie(K_USAGE, "--from %s: must be sample, prompt, reply or eval", name);
}

/* The facts of one cell, and nothing else. */
static int
make_cell(const struct kcamp *c, const struct options *o, long trial, long branch)
{
	struct graph g = { .first = trial, .last = trial, .jobs = o->jobs, .ask = ASK_BOTH };
	bool told = trial && *kcamp_str(c, "feedback.provider");
	char *digest = told ? cell_path(trial, branch, "digest") : NULL;
	char *goals[] = { cell_path(trial, branch, stages[STAGE_EVAL]), digest, NULL };
	struct outcome out = make_graph(c, &g, goals);

	free(goals[0]);
	free(digest);
	return out.code ? explain(c, trial, &out) : K_OK;
}

int
command_redo(const struct options *o)
{
	long last, trial, branch;
	int stage = stage_number(o->from), code;
	struct kcamp *c;
	char *folder, *report;

	parse_cell(o->operand, &trial, &branch);
	c = begin(&last);
	folder = kasprintf("trials/%03ld/%02ld", trial, branch);
	if (!exists(folder))
		kdie(K_USAGE, "%s: no such candidate", folder);
	if (trial == 0 && stage != STAGE_EVAL)
		kdie(K_USAGE, "the reference has no %s; use --from eval", stages[stage]);
	if (make_flag('n'))
		return K_OK;
	if (trial <= last) {
		/*
		 * From here until the views stand again there is no position: an interrupted redo
		 * is finished by any run.
		 */
		clear_position();
		report = trial_path(last, "verify.ndjson");
		remove_file(report);
		free(report);
	}
	remove_stages(trial, branch, stage);
	code = make_cell(c, o, trial, branch);
	if (!code && trial <= last)
		code = bring_views(c, o, trial ? trial : 1, last, ASK_NOBODY);
	free(folder);
	kcamp_free(c);
	return code;
}
