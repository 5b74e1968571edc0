/* SPDX-License-Identifier: Apache-2.0 */
/* This end: start the transport, send it the order, hold the leash, and receive the answer. */
#include "kremote.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "kproc.h"

enum { CHUNK = 1 << 16, NOISE_MAX = 1 << 20, GRACE_MS = 3000, NOT_FOUND = 127 };

struct link {
	pid_t pid;           /* of the transport; -1: there is no such program */
	int to, from, ended; /* its standard input and output; readable once it has ended */
	struct kbuf in;      /* received and not yet processed */
	json_t *greeting;    /* NULL: not received yet */
	json_t *answer;      /* NULL: not yet; the output that follows is in IN */
	int code;            /* exit status of the transport, in a shell's form */
};

static volatile sig_atomic_t stopped_by, greeted;
static volatile pid_t transport;
static volatile int leash;

/*
 * Let go of the leash, so that the other end ends its own processes. If it has not greeted yet, it
 * has none, but its job may be in a queue. In both cases the transport ends, which is handled like
 * any other end.
 */
static void
on_signal(int sig)
{
	stopped_by = sig;
	if (greeted)
		close(leash);
	else
		kill(-transport, SIGTERM);
}

static void
catch_signals(const struct link *l)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	transport = l->pid;
	leash = l->to;
	for (size_t i = 0; i < LEN(signals); i++)
		sigaction(signals[i], &sa, NULL);
}

/* Keys stay here, whatever the transport would pass on; ssh needs its agent and its tickets. */
static void
drop_secrets(void)
{
	static const char *const kept[] = { "SSH_AUTH_SOCK", "KRB5CCNAME" };
	char *value[LEN(kept)];

	for (size_t i = 0; i < LEN(kept); i++)
		value[i] = getenv(kept[i]) ? kstrdup(getenv(kept[i])) : NULL;
	kutil_drop_secrets();
	for (size_t i = 0; i < LEN(kept); i++)
		if (value[i])
			setenv(kept[i], value[i], 1);
}

/*
 * Runs in the transport. It ends with us, however we end, but by a signal that lets it remove its
 * job from a queue.
 */
static int
prepare(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	drop_secrets();
	unsetenv("KILN_PIPELINE");
	return 0;
}

static void
start(struct link *l, const struct call *c)
{
	auto_free char **words = transport_words(c);
	struct kproc p = { .argv = words, .setup = prepare };
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		kdie_errno(K_IO, "pipe");
	l->pid = kproc_spawn(&p, (int[3]){ in[0], out[1], STDERR_FILENO });
	if (l->pid < 0)
		kwarn("%s: %s", words[0], strerror(errno));
	l->ended = l->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, l->pid, 0);
	l->to = in[1];
	l->from = out[0];
	close(in[0]);
	close(out[1]);
	for (char **w = words; *w; w++)
		free(*w);
}

/*
 * A failed write is ignored: if the other end reads no more, its answer comes through the other
 * pipe, or it ends.
 */
static void
say(const struct link *l, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(l->to, bytes, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
}

/* Two versions judge differently, so one must not stand in for the other. */
static void
check_greeting(const json_t *greeting)
{
	const char *version = kjson_str_or(greeting, "kiln", "?");

	if (strcmp(version, kversion_string()))
		kdie(K_MISSING,
		    "%s has kiln %s, but this machine has %s: install the same version on both",
		    kjson_str_or(greeting, "host", "?"), version, kversion_string());
}

/* Reads the lines up to the answer's; a login script may have printed others. */
static void
take_lines(struct link *l)
{
	char *end;

	while (!l->answer && l->in.len && (end = memchr(l->in.data, '\n', l->in.len))) {
		size_t len = (size_t)(end - l->in.data) + 1;
		json_auto_t *line = json_loadb(l->in.data, len, JSON_REJECT_DUPLICATES, NULL);

		if (!l->greeting && !strcmp(kjson_str_or(line, "schema", ""), REMOTE_SCHEMA)) {
			l->greeting = json_incref(line);
			greeted = true;
			check_greeting(line);
		} else if (l->greeting && json_is_integer(json_object_get(line, "status"))) {
			l->answer = json_incref(line);
		}
		l->in.len -= len;
		memmove(l->in.data, end + 1, l->in.len);
	}
	if (!l->answer && l->in.len > NOISE_MAX)
		kdie(K_IO, "the transport printed something other than an answer: %.60s",
		    l->in.data);
}

static bool
is_whole(const struct link *l)
{
	return l->answer && (json_int_t)l->in.len >= kjson_int_or(l->answer, "bytes", 0);
}

/* Reads until the answer is complete, or the transport has ended and its last output is read. */
static void
hear(struct link *l)
{
	char chunk[CHUNK];
	ssize_t n;

	while (!stopped_by && !is_whole(l)) {
		struct pollfd p[] = { { l->from, POLLIN, 0 }, { l->ended, POLLIN, 0 } };
		int ready = poll(p, LEN(p), PULSE_MS);

		if (ready == 0)
			say(l, "\n", 1);
		if (ready <= 0)
			continue;
		if (!p[0].revents)
			return;
		n = read(l->from, chunk, sizeof chunk);
		if (n == 0)
			return;
		kbuf_add(&l->in, chunk, n > 0 ? (size_t)n : 0);
		take_lines(l);
	}
}

/*
 * Let go of the leash, and wait for the transport to end by itself, because then the other end has
 * ended its processes; otherwise by force.
 */
static void
hang_up(struct link *l)
{
	static const int signals[] = { SIGTERM, SIGKILL };
	struct pollfd ended = { l->ended, POLLIN, 0 };
	int status = 0;

	close(l->to);
	for (size_t i = 0; i < LEN(signals) && poll(&ended, 1, GRACE_MS) <= 0; i++)
		kill(-l->pid, signals[i]);
	while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
		;
	l->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Explains why the transport ended without an answer. */
static int
explain(const struct link *l, const struct call *c)
{
	const char *name = c->transport[0];

	if (l->greeting) {
		kwarn("%s: the connection ended before the answer (%s exited with %d)",
		    kjson_str_or(l->greeting, "host", "?"), name, l->code);
		return K_AGAIN;
	}
	if (transport_is_absent(c, l->code)) {
		kwarn("%s: not found here, or kremote not found on the other machine: install kiln "
		      "there, or give its folder with --there",
		    name);
		return K_MISSING;
	}
	kwarn("cannot reach the other machine: %s exited with %d", name, l->code);
	return K_AGAIN;
}

/* Copies the complete output to its destination; returns the status of the program. */
static int
deliver(const struct link *l, const struct order *o)
{
	json_int_t status = kjson_int_or(l->answer, "status", K_IO);
	bool ours = status == K_NO || status == K_USAGE || status == K_MISSING || status == K_AGAIN;
	size_t len = (size_t)kjson_int_or(l->answer, "bytes", 0);
	const char *bytes = l->in.data ? l->in.data : "";

	if (status)
		return ours ? (int)status : K_IO;
	if (o->output && kwrite_file(o->output, bytes, len) < 0)
		kdie_errno(K_IO, "%s", o->output);
	if (!o->output && (fwrite(bytes, 1, len, stdout) != len || fflush(stdout)))
		kdie_errno(K_IO, "<stdout>");
	return K_OK;
}

int
call_run(const struct call *c)
{
	struct link l = { .code = NOT_FOUND };
	struct order o;
	auto_free char *head = NULL;
	int code;

	order_make(&o, c);
	head = json_dumps(o.head, KIO_DUMP);
	signal(SIGPIPE, SIG_IGN);
	start(&l, c);
	if (l.pid > 0) {
		catch_signals(&l);
		say(&l, head, strlen(head));
		say(&l, "\n", 1);
		say(&l, o.files.data, o.files.len);
		hear(&l);
		hang_up(&l);
	}
	if (stopped_by) {
		signal(stopped_by, SIG_DFL);
		raise(stopped_by);
	}
	code = is_whole(&l) ? deliver(&l, &o) : explain(&l, c);
	json_decref(l.greeting);
	json_decref(l.answer);
	kbuf_free(&l.in);
	order_free(&o);
	return code;
}
