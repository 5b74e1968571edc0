/* SPDX-License-Identifier: Apache-2.0 */
/* This end: start the transport, hand it the order, hold the leash, and take the answer. */
#include "kremote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kio.h"
#include "kproc.h"

enum { CHUNK = 1 << 16, NOISE_MAX = 1 << 20, GRACE_MS = 3000 };

struct link {
	pid_t pid;
	int to, from, child;	/* its standard input and output; a descriptor of the process. -1: closed */
	int turn;		/* -1: not waited for */
	struct kbuf out;	/* what is still to be sent, from SENT on */
	size_t sent;
	int64_t last_ns;	/* when something was sent */
	struct kbuf in;		/* what came and is not yet taken */
	json_t *greeting;	/* NULL: it has not spoken yet */
	json_t *answer;		/* NULL: not yet; its output is in IN */
	int status;		/* of the process, once CHILD is closed */
};

static volatile sig_atomic_t stopped_by;

static void
on_signal(int sig)
{
	stopped_by = sig;
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
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

static _Noreturn void
child(char **words, const int *in, const int *out, pid_t parent)
{
	/* A group of its own: an interruption from the terminal is ours to pass on. With us it ends, however we end. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	if (getppid() != parent || dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
		_exit(K_IO);
	/* What it leaves running, such as a shared connection, must not hold what make and the campaign have open. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	drop_secrets();
	unsetenv("KILN_PIPELINE");
	execvp(words[0], words);
	kwarn("%s: %s", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void
start(struct link *l, const struct call *c)
{
	char **words = transport_words(c);
	int in[2], out[2];
	pid_t parent = getpid();

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		kdie_errno(K_IO, "pipe");
	fflush(NULL);
	l->turn = transport_turn(c);
	l->pid = fork();
	if (l->pid < 0)
		kdie_errno(K_IO, "%s", words[0]);
	if (l->pid == 0)
		child(words, in, out, parent);
	close(in[0]);
	close(out[1]);
	l->to = in[1];
	l->from = out[0];
	l->child = (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (l->child < 0 || fcntl(l->to, F_SETFL, O_NONBLOCK) < 0)
		kdie_errno(K_IO, "%s", words[0]);
	for (char **w = words; *w; w++)
		free(*w);
	free(words);
}

/* Send what there is to send, or a sign of life. */
static void
send_some(struct link *l)
{
	ssize_t n;

	if (l->sent == l->out.len && know_ns() - l->last_ns > PULSE_MS * 1000000LL)
		kbuf_puts(&l->out, "\n");
	while (l->sent < l->out.len) {
		n = write(l->to, l->out.data + l->sent, l->out.len - l->sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		/* It reads no more: what it has to say comes by the other pipe, or by its end. */
		if (n < 0) {
			close_fd(&l->to);
			return;
		}
		l->sent += (size_t)n;
		l->last_ns = know_ns();
	}
}

/* Take the first line of what came, as an object; NULL when it is none (a line of a login script's) or not whole. */
static json_t *
take_line(struct link *l, bool *whole)
{
	char *end = l->in.len ? memchr(l->in.data, '\n', l->in.len) : NULL;
	size_t n = end ? (size_t)(end - l->in.data) : 0;
	json_t *line;

	*whole = end != NULL;
	if (!end)
		return NULL;
	line = json_loadb(l->in.data, n, JSON_REJECT_DUPLICATES, NULL);
	memmove(l->in.data, end + 1, l->in.len - n - 1);
	l->in.len -= n + 1;
	return line;
}

/* Two versions judge differently, so neither is asked in the other's name. */
static void
check_greeting(const json_t *greeting)
{
	const char *version = kjson_str_or(greeting, "kiln", "?");

	if (strcmp(version, kversion_string()))
		kdie(K_MISSING, "%s has kiln %s, and here is %s: install the same on both",
		    kjson_str_or(greeting, "host", "?"), version, kversion_string());
}

static void
take_lines(struct link *l)
{
	bool whole = true;

	while (whole && !l->answer) {
		json_t *line = take_line(l, &whole);

		if (!l->greeting && line && !strcmp(kjson_str_or(line, "schema", ""), REMOTE_SCHEMA)) {
			l->greeting = json_incref(line);
			check_greeting(line);
			close_fd(&l->turn);
		} else if (l->greeting && line && json_is_integer(json_object_get(line, "status"))) {
			l->answer = json_incref(line);
		}
		json_decref(line);
	}
}

static void
receive(struct link *l)
{
	char chunk[CHUNK];
	ssize_t n = read(l->from, chunk, sizeof chunk);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close_fd(&l->from);
		return;
	}
	kbuf_add(&l->in, chunk, (size_t)n);
	take_lines(l);
	if (!l->answer && l->in.len > NOISE_MAX)
		kdie(K_IO, "the transport prints something else than an answer: %.60s", l->in.data);
}

static bool
is_whole(const struct link *l)
{
	return l->answer && (json_int_t)l->in.len >= kjson_int_or(l->answer, "bytes", 0);
}

static void
reap(struct link *l)
{
	while (waitpid(l->pid, &l->status, 0) < 0 && errno == EINTR)
		;
	close_fd(&l->child);
}

/* One step: wait for whatever comes first, at most MS. */
static void
step(struct link *l, int ms, const sigset_t *mask)
{
	bool sending = l->sent < l->out.len;
	struct pollfd p[] = {
		{ l->from, POLLIN, 0 }, { l->child, POLLIN, 0 }, { l->to, sending ? POLLOUT : 0, 0 },
	};
	struct timespec limit = { ms / 1000, ms % 1000 * 1000000L };

	if (ppoll(p, LEN(p), &limit, mask) < 0)
		return;
	if (p[2].revents & (POLLERR | POLLHUP))
		close_fd(&l->to);
	else if (l->to >= 0)
		send_some(l);
	if (p[0].revents)
		receive(l);
	/* Its last words are read before its end is. */
	else if (p[1].revents)
		reap(l);
}

/*
 * Let go of the leash, and see the transport end: by itself, for then the other end has seen to its own; else by force.
 * PATIENCE: how long, in milliseconds, we wait for the first.
 */
static void
hang_up(struct link *l, int patience)
{
	static const int signals[] = { SIGTERM, SIGKILL };
	int64_t end;

	close_fd(&l->to);
	close_fd(&l->turn);
	for (size_t i = 0; i <= LEN(signals); i++) {
		for (end = know_ns() + patience * 1000000LL; l->child >= 0 && know_ns() < end;)
			step(l, 50, NULL);
		if (l->child >= 0 && i < LEN(signals))
			kill(-l->pid, signals[i]);
		patience = GRACE_MS;
	}
	close_fd(&l->from);
}

/* What the end of the transport without an answer means. */
static int
explain(const struct link *l, const struct call *c)
{
	int code = WIFEXITED(l->status) ? WEXITSTATUS(l->status) : 128 + WTERMSIG(l->status);

	if (l->greeting) {
		kwarn("%s: the connection ended before the answer (%s ended with %d)",
		    kjson_str_or(l->greeting, "host", "?"), c->transport[0], code);
		return K_AGAIN;
	}
	if (transport_is_absent(c, code)) {
		kwarn("%s: not found here, or kremote is not there: install kiln on the other machine, "
		    "or say where it is with --there", c->transport[0]);
		return K_MISSING;
	}
	kwarn("no way there: %s ended with %d", c->transport[0], code);
	return K_AGAIN;
}

/* The output, whole, to where it belongs; the status of the program. */
static int
deliver(const struct link *l, const struct order *o)
{
	json_int_t status = kjson_int_or(l->answer, "status", K_IO), len = kjson_int_or(l->answer, "bytes", 0);
	bool ours = status == K_NO || status == K_USAGE || status == K_MISSING || status == K_AGAIN;

	if (status)
		return ours ? (int)status : K_IO;
	if (o->output && kwrite_file(o->output, l->in.data ? l->in.data : "", (size_t)len) < 0)
		kdie_errno(K_IO, "%s", o->output);
	if (!o->output && ((len && fwrite(l->in.data, 1, (size_t)len, stdout) != (size_t)len) || fflush(stdout)))
		kdie_errno(K_IO, "<stdout>");
	return K_OK;
}

static void
catch_signals(sigset_t *open)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < LEN(signals); i++) {
		sigaction(signals[i], &sa, NULL);
		sigaddset(&mask, signals[i]);
	}
	/* They arrive in ppoll alone, so none is missed. */
	sigprocmask(SIG_BLOCK, &mask, open);
	signal(SIGPIPE, SIG_IGN);
}

static void
pack(struct link *l, const struct order *o)
{
	char *head = json_dumps(o->head, KIO_DUMP);

	kbuf_printf(&l->out, "%s\n", head);
	kbuf_add(&l->out, o->files.data, o->files.len);
	free(head);
}

int
call_run(const struct call *c)
{
	struct link l = { .turn = -1, .last_ns = know_ns() };
	struct order o;
	sigset_t open;
	int code;

	order_make(&o, c);
	pack(&l, &o);
	start(&l, c);
	catch_signals(&open);
	while (!stopped_by && !is_whole(&l) && (l.child >= 0 || l.from >= 0))
		step(&l, PULSE_MS, &open);
	/* Who has not spoken yet has nothing to see to, but may stand in a queue. */
	hang_up(&l, stopped_by && !l.greeting ? 0 : GRACE_MS);
	if (stopped_by) {
		signal(stopped_by, SIG_DFL);
		sigprocmask(SIG_SETMASK, &open, NULL);
		raise(stopped_by);
	}
	code = is_whole(&l) ? deliver(&l, &o) : explain(&l, c);
	json_decref(l.greeting);
	json_decref(l.answer);
	kbuf_free(&l.in);
	kbuf_free(&l.out);
	order_free(&o);
	return code;
}
