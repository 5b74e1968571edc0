/* SPDX-License-Identifier: Apache-2.0 */
/* One run of make on pipeline.mk, and its result. See kcampaign.h. */
#include "kcampaign.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define VARIABLES "campaign.mk"

enum { TICK_MS = 250, WORDS_MAX = 1 << 20 };

static volatile sig_atomic_t stopped_by;
static volatile sig_atomic_t make_pid;

static void
on_signal(int sig)
{
	stopped_by = sig;
	if (make_pid > 0)
		kill((pid_t)make_pid, SIGTERM);
}

void
catch_signals(void)
{
	kcatch(on_signal);
}

bool
is_stopped(void)
{
	return stopped_by != 0;
}

void
die_if_stopped(void)
{
	if (!stopped_by)
		return;
	fflush(stdout);
	signal(stopped_by, SIG_DFL);
	raise(stopped_by);
}

/* A make variable with exactly the text VALUE, which is one line. */
static void
add_variable(struct kbuf *text, const char *name, const char *value)
{
	if (strchr(value, '\n') || (*value && value[strlen(value) - 1] == '\\'))
		kdie_usage("campaign.json: '%s' becomes a variable of make, so it must be one line "
		           "that "
		           "does not end in a backslash",
		    value);
	kbuf_printf(text, "define %s :=\n", name);
	for (; *value; value++)
		kbuf_puts(text, *value == '$' ? "$$" : (char[]){ *value, '\0' });
	kbuf_puts(text, "\nendef\n");
}

/* Does kharness time the kernels, and not a command of the campaign's own? */
static bool
is_timed_here(void)
{
	return kcamp_is("eval.evaluator", "harness") && !kcamp_json("eval.timing");
}

/* The variables of campaign.json that pipeline.mk needs. */
static void
write_variables(void)
{
	const struct backend *b = kcamp_backend();
	bool feedback = *kcamp_str("feedback.provider");
	long compact = feedback ? kcamp_int("memory.compact_every") : 0;
	auto_free char *step = khelper_path("kstep"),
	               *number = compact ? kasprintf("%ld", compact) : kstrdup("");
	const struct {
		const char *name, *value;
	} variables[] = {
		{ "LAUNCHER", kcamp_str("eval.launcher") },
		{ "CEILINGS", b->ceilings && is_timed_here() ? b->name : "" },
		{ "KEY", kcamp_str("model.key_env") },
		{ "TARGET", kcamp_num("stop.efficiency") > 0 ? "yes" : "" },
		{ "LINEAR", kcamp_linear() ? "yes" : "" },
		{ "FEEDBACK", feedback ? "yes" : "" },
		{ "MEMORY", kmemo_enabled() ? "yes" : "" },
		{ "RESTART", kcamp_int("memory.restart_after") ? "yes" : "" },
		{ "COMPACT", number },
		{ "STEP", step },
	};
	auto_buf struct kbuf t = { 0 };

	kbuf_puts(&t, "# Written by kcampaign from campaign.json; see pipeline.mk.\nBRANCHES :=");
	for (long n = 1; n <= kcamp_branches(); n++)
		kbuf_printf(&t, " %02ld", n);
	kbuf_printf(&t, "\nTHREADS := %ld\n", kcamp_int("eval.threads"));
	kforeach(one, variables)
		add_variable(&t, one->name, one->value);
	kwrite_if_changed(VARIABLES, t.data, t.len);
}

/* Must the rollbacks in a row before trial T be examined first? Only if it has not begun. */
static bool
needs_evidence(long t)
{
	json_auto_t *header =
	    kcamp_linear() && !has_fact(t, 1, KFACT_SAMPLE) ? archive_header(t - 1) : NULL;

	return kjson_int(header, "linear.streak") >= KLINEAR_PROFILE;
}

/* Has any branch of the trial been evaluated? */
static bool
is_evaluated(long trial)
{
	for (long b = 1; b <= kcamp_branches(); b++)
		if (has_fact(trial, b, KFACT_EVAL))
			return true;
	return false;
}

/*
 * Must the anchor of trial T be raced again? It is the best of the trial before, and was measured
 * while the machine was busy, or is known only roughly and was never raced with the reference
 * itself; a second such race would be as rough as the first.
 */
static bool
needs_anchor(long t)
{
	bool asked = is_timed_here() && !is_evaluated(t);

	look_after(asked ? t - 1 : -1);
	return standing.best &&
	    (standing.provisional ||
	        (!*standing.from && kgain_width(&standing.speedup) > KCHAIN_WIDE));
}

/* "NAME= 007 009", the trials of the graph for which NEED is true. */
static void
add_trials(struct kbuf *words, const char *name, bool (*need)(long), const struct graph *g)
{
	kbuf_printf(words, "%s=", name);
	for (long t = g->first > 1 ? g->first : 1; t <= g->last; t++)
		if (need(t))
			kbuf_printf(words, " %03ld", t);
	kbuf_puts(words, "\n");
}

/* The words of the command line, a line each. */
static struct kbuf
compose(const struct graph *g, const char *const *goals)
{
	static const char *const asked[] = { "nobody", "model", "both" };
	/* Not the folder's own Makefile, which may belong to somebody else. */
	auto_free char *file = kdata_path("pipeline.mk");
	struct kbuf words = { 0 };

	kbuf_printf(&words, "make\n-rRks\n-f\n%s\n--no-print-directory\n", file);
	/* Before the loops over trials, which take the turns of shown texts. */
	for (; *goals; goals++)
		kbuf_printf(&words, "%s\n", *goals);
	if (given.jobs || !getenv("MAKELEVEL"))
		kbuf_printf(&words, "-j%ld\n", given.jobs ?: kcamp_branches());
	kbuf_printf(&words, "FIRST=%03ld\nLAST=%03ld\nPREV=%03ld\nBEST=%s\nASK=%s\n", g->first,
	    g->last, g->first > 0 ? g->first - 1 : 0, g->best ?: "", asked[g->ask]);
	add_trials(&words, "EVIDENCE", needs_evidence, g);
	add_trials(&words, "ANCHORS", needs_anchor, g);
	return words;
}

/* Messages of the stages go to WORDS; MAKE_WORDS is for make itself. */
static _Noreturn void
exec_make(char *const *argv, const int *words, int make_words, pid_t parent)
{
	char *number = kasprintf("%d", words[1]);

	/* make ends with us, and each stage ends with make. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(K_IO);
	setenv("KILN_STEPS", progress_file(), 1);
	setenv("KILN_WORDS", number, 1);
	setenv("TASK", kcamp_str("task"), 1);
	close(words[0]);
	dup2(make_words, STDERR_FILENO);
	if (progress_is_live())
		dup2(words[1], STDOUT_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: cannot start: %s\n", argv[0], strerror(errno));
	_exit(K_MISSING);
}

/*
 * Passes on whole lines of the stages' messages as they come; at the END also an incomplete last
 * line.
 */
static void
pass_lines(struct kbuf *words, bool end)
{
	char *last = words->len ? memrchr(words->data, '\n', words->len) : NULL;
	size_t n = end ? words->len : last ? (size_t)(last - words->data) + 1 : 0;

	if (!n)
		return;
	progress_pass(words->data, n);
	words->len -= n;
	memmove(words->data, words->data + n, words->len);
}

/*
 * Passes on the stages' messages, and shows their progress, until make has ended; returns its
 * status.
 */
static int
attend(int fd, pid_t pid)
{
	auto_buf struct kbuf words = { 0 };
	bool ended = false, open = true;
	int status = 0;

	while (!ended || open) {
		struct pollfd event = { .fd = fd, .events = POLLIN };
		int ready = open ? poll(&event, 1, ended ? 0 : TICK_MS) : 0;
		char chunk[4096];
		ssize_t n = ready > 0 ? read(fd, chunk, sizeof chunk) : -1;

		if (n > 0)
			kbuf_add(&words, chunk, (size_t)n);
		pass_lines(&words, words.len > WORDS_MAX);
		/* A leftover process of a stage may hold the pipe after make has ended. */
		if (n == 0 || (ended && n < 0))
			open = false;
		progress_tick(false);
		if (!ended)
			ended = waitpid(pid, &status, open ? WNOHANG : 0) == pid;
	}
	pass_lines(&words, true);
	return status;
}

/* Prints make's own messages, if no stage explains them. */
static void
pass_file(int fd)
{
	char text[8192];
	ssize_t n = pread(fd, text, sizeof text, 0);

	if (n > 0)
		progress_pass(text, (size_t)n);
}

static struct outcome
start_make(char *const *argv)
{
	int words[2], make_words = memfd_create("make", MFD_CLOEXEC), status;
	pid_t pid, parent = getpid();
	struct outcome out;

	fflush(NULL);
	if (make_words < 0 || pipe(words) < 0 || (pid = fork()) < 0)
		kdie_io("make");
	if (pid == 0)
		exec_make(argv, words, make_words, parent);
	make_pid = pid;
	close(words[1]);
	status = attend(words[0], pid);
	make_pid = 0;
	out = progress_end(status == 0);
	if (!out.code)
		pass_file(make_words);
	close(words[0]);
	close(make_words);
	die_if_stopped();
	if (status && !out.code)
		out = (struct outcome){
			WIFEXITED(status) && WEXITSTATUS(status) == K_MISSING ? K_MISSING : K_IO, 1,
			kstrdup("make")
		};
	return out;
}

/*
 * Our exit code after TARGET ended with CODE: the same if it is one of ours; 126 and 127 mean that
 * it does not exist.
 */
static int
own_code(const struct outcome *out)
{
	if (out->code == 126 || out->code == 127)
		return K_MISSING;
	if (out->code == K_NO && !strcmp(out->target, "records"))
		return K_NO;
	return out->code == K_USAGE || out->code == K_MISSING || out->code == K_AGAIN ? out->code
	                                                                              : K_IO;
}

/* Prints in one line what failed, and what to do. */
static void
explain(long trial, const struct outcome *out, int code)
{
	const char *launcher = kcamp_str("eval.launcher");

	if (!strcmp(out->target, "preflight"))
		kwarn("eval.launcher: %s: %s", *launcher ? launcher : "(here)",
		    code == K_AGAIN ? "not now" : "evaluations cannot run through eval.launcher");
	else if (!strcmp(out->target, "records"))
		kwarn("trial %ld is complete, but its records are not: "
		      "krecords failed with status %d",
		    trial, out->code);
	else if (code == K_AGAIN && kcamp_is("model.provider", "file"))
		kwarn("trial %ld waits for %zu %s from you, because model.provider is \"file\": "
		      "answer each prompt.md in trials/%03ld in a file reply.txt next to it, then "
		      "run the same command again. Ignore make's \"Error %d\"; nothing is wrong",
		    trial, out->failed, out->failed == 1 ? "reply" : "replies", trial, K_AGAIN);
	else if (code == K_AGAIN)
		kwarn("trial %ld: %s cannot continue now (%zu waiting); "
		      "run the same command again later",
		    trial, out->target, out->failed);
	else if (out->code == STEP_LOST)
		kwarn("trial %ld: %s was killed or has crashed; "
		      "run the same command again to continue",
		    trial, out->target);
	else
		kwarn("trial %ld: %s failed with status %d; run the same command again to continue",
		    trial, out->target, out->code);
}

int
make_graph(const struct graph *g, const char *const *goals)
{
	auto_buf struct kbuf words = compose(g, goals);
	char *argv[32];
	size_t n = 0;
	struct outcome out;
	int code;

	write_variables();
	kpart_foreach(word, words.data, "\n")
		argv[n++] = word;
	argv[n] = NULL;
	progress_begin(g);
	out = start_make(argv);
	code = out.code ? own_code(&out) : K_OK;
	if (code)
		explain(g->last, &out, code);
	free(out.target);
	return code;
}
