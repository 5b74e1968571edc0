/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiers T2 and T3: kharness does the work; here its command line is made from the knobs, and its
 * answer read.
 */
#include <poll.h>
#include <sys/mman.h>

#include "keval.h"

enum { ANSWER_MAX = 256 << 20 };

/* Options of kharness whose numbers come from knobs. */
static const struct {
	const char *option, *knob;
	bool zero_is_default;
	double root; /* factor for the root of a chain, on which all scores depend */
} knobs[] = {
	{ "--threads", "eval.threads", true, 1 },
	{ "--seeds", "eval.seeds", false, 1 },
	{ "--timing-s", "eval.timing_s", false, 16 },
	{ "--min-samples", "eval.min_samples", false, 1 },
	{ "--max-samples", "eval.max_samples", false, 1 },
	{ "--run-timeout-s", "eval.run_timeout_s", false, 1 },
	{ "--memory-mb", "eval.memory_mb", false, 1 },
};

struct numbers {
	char text[LEN(knobs)][40];
};

static void
add_knobs(struct words *w, bool root, struct numbers *numbers)
{
	char(*text)[40] = numbers->text;

	kforeach(knob, knobs) {
		double v = kcamp_num(knob->knob) * (root ? knob->root : 1);

		if (!(v > 0) && knob->zero_is_default)
			continue;
		snprintf(*text, sizeof *text, "%.10g", v);
		words_add(w, knob->option, *text++);
	}
}

static void
compose(struct words *w, const struct harness_run *r, struct numbers *numbers)
{
	const char *clocks = kcamp_str("eval.lock_clocks");

	words_add(w, "-t", keval.task_file, "-s", keval.set);
	words_add(w, r->phase ? "--phase" : "--reuse", r->phase);
	if (!r->unchecked)
		words_add(w, "--oracle", oracle_so());
	if (keval.seed)
		words_add(w, "--seed", keval.seed);
	if (is_gpu() || is_device_only())
		words_add(w, "--backend", kcamp_str("backend"));
	if (is_gpu() && strcmp(clocks, "off"))
		words_add(w, "--lock-clocks", clocks);
	add_knobs(w, r->root, numbers);
	/*
	 * Clocks and caches settle in less time than this; a device is still warm from the
	 * correctness cases.
	 */
	words_add(
	    w, "--sandbox", kcamp_str("eval.sandbox"), "--warmup-s", is_gpu() ? "0.01" : "0.03");
	for (const char *const *p = r->against; p && *p; p++)
		words_add(w, "--against", *p);
	if (r->all_pairs)
		words_add(w, "--all-pairs");
	if (r->name)
		words_add(w, "--name", r->name);
	words_add(w, r->so);
}

/* A failure of kharness is a failure of the environment and ends this program too. */
static void
check_end(int signal, int exit_code)
{
	if (signal)
		kdie(K_IO, "kharness was killed by signal %d (%s)", signal, strsignal(signal));
	if (exit_code)
		kdie(exit_code, "kharness failed with exit status %d", exit_code);
}

/*
 * Run it, and give back its result. Its messages on stderr are passed on: at once when ALOUD,
 * because they may be warnings, or say that it waits for the machine; otherwise only when it fails.
 */
static void
start(struct words *w, struct kproc_result *r, bool aloud)
{
	struct kproc p = { .argv = w->at, .max_output = ANSWER_MAX, .pass_err = aloud };

	w->at[0] = (char *)ktool_path("kharness");
	kproc_must(&p, r);
	if (!aloud && (r->signal || r->exit_code))
		kpass(r->err, r->err_len);
	check_end(r->signal, r->exit_code);
}

static json_t *
read_answer(const char *text, size_t len)
{
	json_error_t e;
	json_t *answer = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);

	if (!answer || !kjson_is(answer, "schema", "harness/1"))
		kdie(K_IO, "kharness: its answer is not a harness/1 object%s%s", answer ? "" : ": ",
		    answer ? "" : e.text);
	return answer;
}

json_t *
harness_run(const struct harness_run *run)
{
	struct words w = { .count = 1 };
	struct numbers numbers;
	auto_run struct kproc_result r;

	compose(&w, run, &numbers);
	start(&w, &r, true);
	return read_answer(r.out, r.out_len);
}

/* The last kharness that had answered and not yet ended. */
static pid_t leaving;

struct early {
	pid_t pid;
	int so, go, answer; /* file of the program, pipe, file of what it answers */
};

struct early *
harness_prepare(const struct harness_run *run)
{
	struct early *e = kcalloc(1, sizeof *e);
	struct words w = { .count = 1 };
	struct numbers numbers;
	int go[2];

	kproc_kill(leaving);
	w.at[0] = (char *)ktool_path("kharness");
	words_add(&w, "--await");
	compose(&w, run, &numbers);
	e->so = open(run->so, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	e->answer = memfd_create("answer", MFD_CLOEXEC);
	if (e->so < 0 || e->answer < 0 || pipe2(go, O_CLOEXEC) < 0)
		kdie_io("%s", run->so);
	e->pid = kproc_spawn(
	    &(struct kproc){ .argv = w.at }, (int[3]){ go[0], e->answer, STDERR_FILENO });
	if (e->pid < 0)
		kdie_errno(K_MISSING, "%s", w.at[0]);
	close(go[0]);
	e->go = go[1];
	return e;
}

static void
close_early(struct early *e)
{
	close(e->so);
	close(e->go);
	if (e->answer >= 0)
		close(e->answer);
	free(e);
}

static void
await_end(const struct early *e)
{
	siginfo_t end;
	int status;

	TEMP_FAILURE_RETRY(waitid(P_PID, (id_t)e->pid, &end, WEXITED | WNOWAIT));
	status = kproc_kill(e->pid);
	check_end(WIFSIGNALED(status) ? WTERMSIG(status) : 0, WEXITSTATUS(status));
}

/*
 * kharness closes its standard input when its answer is complete. What it still does then, mostly
 * giving back the device's memory, takes a tenth of a second, and nobody waits for it.
 */
static bool
has_answered(const struct early *e)
{
	struct pollfd input = { e->go, 0, 0 };
	siginfo_t end = { 0 };
	struct stat st;

	TEMP_FAILURE_RETRY(poll(&input, 1, -1));
	return waitid(P_PID, (id_t)e->pid, &end, WEXITED | WNOWAIT | WNOHANG) == 0 && !end.si_pid &&
	    fstat(e->answer, &st) == 0 && st.st_size > 0;
}

json_t *
harness_go(struct early *e, const void *so, size_t len)
{
	int64_t now = know_ns();
	json_t *answer;
	auto_free char *text = NULL;

	/* If it has ended already, its status says why. */
	if (kwrite_all(e->so, so, len) < 0 ||
	    (kwrite_all(e->go, &now, sizeof now) < 0 && errno != EPIPE))
		kdie_io("writing the program for kharness");
	if (has_answered(e))
		leaving = e->pid;
	else
		await_end(e);
	text = file_take(e->answer, ANSWER_MAX, &len);
	if (!text)
		kdie(K_IO, "kharness: its answer cannot be read");
	answer = read_answer(text, len);
	e->answer = -1;
	close_early(e);
	return answer;
}

void
harness_cancel(struct early *e)
{
	kproc_kill(e->pid);
	close_early(e);
}

json_t *
harness_beside(const char *so, const char *against, bool reuse)
{
	const char *list[] = { against, NULL };
	json_t *answer = harness_run(
	    &(struct harness_run){ .so = so, .phase = reuse ? NULL : "timing", .against = list });

	add_harness_spent(answer);
	if (status_at(harness_candidate(answer), "status") == STATUS_CORRECT)
		return answer;
	harness_merge(answer);
	json_decref(answer);
	return NULL;
}

void
add_harness_spent(const json_t *answer)
{
	kjson_foreach_member(what, s, answer, "spent_s")
		add_spent(what, json_number_value(s));
}

void
harness_lint(const char *oracle, bool notes)
{
	struct words w = { .count = 1 };
	auto_run struct kproc_result r;

	words_add(&w, "--lint", keval.task_file);
	if (is_gpu())
		words_add(&w, "--backend", kcamp_str("backend"));
	if (oracle)
		words_add(&w, "--oracle", oracle);
	start(&w, &r, notes);
}
