/* SPDX-License-Identifier: Apache-2.0 */
/* This end: start the transport, send it the order, hold the leash, and receive the answer. */
#include "kremote.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { CHUNK = 1 << 16, NOISE_MAX = 1 << 20, GRACE_MS = 3000, NOT_FOUND = 127 };

static struct peer {
	pid_t pid;           /* of the transport; -1: there is no such program */
	int to, from, ended; /* its standard input and output; readable once it has ended */
	struct kbuf in;      /* received and not yet processed */
	json_t *greeting;    /* NULL: not received yet */
	json_t *answer;      /* NULL: not yet; the output that follows is in IN */
	int code;            /* exit status of the transport, in a shell's form */
} peer = { .code = NOT_FOUND };

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
catch_signals(void)
{
	transport = peer.pid;
	leash = peer.to;
	kcatch(on_signal);
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
start(void)
{
	auto_free char **words = transport_words();
	struct kproc p = { .argv = words, .setup = prepare };
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		kdie_io("pipe");
	peer.pid = kproc_spawn(&p, (int[3]){ in[0], out[1], STDERR_FILENO });
	if (peer.pid < 0)
		kwarn("%s: %s", words[0], strerror(errno));
	peer.ended = peer.pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, peer.pid, 0);
	peer.to = in[1];
	peer.from = out[0];
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
say(const char *bytes, size_t len)
{
	(void)kwrite_all(peer.to, bytes, len);
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
take_lines(void)
{
	char *end;

	while (!peer.answer && peer.in.len && (end = memchr(peer.in.data, '\n', peer.in.len))) {
		size_t len = (size_t)(end - peer.in.data) + 1;
		json_auto_t *line = json_loadb(peer.in.data, len, JSON_REJECT_DUPLICATES, NULL);

		if (!peer.greeting && kjson_is(line, "schema", REMOTE_SCHEMA)) {
			peer.greeting = json_incref(line);
			greeted = true;
			check_greeting(line);
		} else if (peer.greeting && json_is_integer(json_object_get(line, "status"))) {
			peer.answer = json_incref(line);
		}
		peer.in.len -= len;
		memmove(peer.in.data, end + 1, peer.in.len);
	}
	if (!peer.answer && peer.in.len > NOISE_MAX)
		kdie(K_IO, "the transport printed something other than an answer: %.60s",
		    peer.in.data);
}

static bool
is_whole(void)
{
	return peer.answer && (long)peer.in.len >= kjson_int(peer.answer, "bytes");
}

/* Reads until the answer is complete, or the transport has ended and its last output is read. */
static void
hear(void)
{
	char chunk[CHUNK];
	ssize_t n;

	while (!stopped_by && !is_whole()) {
		struct pollfd p[] = { { peer.from, POLLIN, 0 }, { peer.ended, POLLIN, 0 } };
		int ready = poll(p, LEN(p), PULSE_MS);

		if (ready == 0)
			say("\n", 1);
		if (ready <= 0)
			continue;
		if (!p[0].revents)
			return;
		n = read(peer.from, chunk, sizeof chunk);
		if (n == 0)
			return;
		kbuf_add(&peer.in, chunk, n > 0 ? (size_t)n : 0);
		take_lines();
	}
}

/*
 * Let go of the leash, and wait for the transport to end by itself, because then the other end has
 * ended its processes; otherwise by force.
 */
static void
hang_up(void)
{
	static const int signals[] = { SIGTERM, SIGKILL };
	struct pollfd ended = { peer.ended, POLLIN, 0 };
	int status = 0;

	close(peer.to);
	for (size_t i = 0; i < LEN(signals) && poll(&ended, 1, GRACE_MS) <= 0; i++)
		kill(-peer.pid, signals[i]);
	TEMP_FAILURE_RETRY(waitpid(peer.pid, &status, 0));
	peer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Explains why the transport ended without an answer. */
static int
explain(void)
{
	const char *name = *call.transport;

	if (peer.greeting) {
		kwarn("%s: the connection ended before the answer (%s exited with status %d)",
		    kjson_str_or(peer.greeting, "host", "?"), name, peer.code);
		return K_AGAIN;
	}
	if (transport_is_absent(peer.code)) {
		kwarn("%s: not found here, or kremote not found on the other machine: install kiln "
		      "there, or give its folder with --there",
		    name);
		return K_MISSING;
	}
	kwarn("cannot reach the other machine: %s exited with status %d", name, peer.code);
	return K_AGAIN;
}

/* Copies the complete output to its destination; returns the status of the program. */
static int
deliver(void)
{
	int status = (int)kjson_int_or(peer.answer, "status", K_IO);
	bool ours = status == K_NO || status == K_USAGE || status == K_MISSING || status == K_AGAIN;
	size_t len = (size_t)kjson_int(peer.answer, "bytes");
	const char *bytes = peer.in.data ?: "";

	if (status)
		return ours ? status : K_IO;
	if (order.output && kwrite_file(order.output, bytes, len) < 0)
		kdie_io("%s", order.output);
	if (!order.output && (fwrite(bytes, 1, len, stdout) != len || fflush(stdout)))
		kdie_io("<stdout>");
	return K_OK;
}

int
call_run(void)
{
	auto_free char *head = NULL;

	order_make();
	head = json_dumps(order.head, KIO_DUMP);
	signal(SIGPIPE, SIG_IGN);
	start();
	if (peer.pid > 0) {
		catch_signals();
		say(head, strlen(head));
		say("\n", 1);
		say(order.files.data, order.files.len);
		hear();
		hang_up();
	}
	if (stopped_by) {
		signal(stopped_by, SIG_DFL);
		raise(stopped_by);
	}
	return is_whole() ? deliver() : explain();
}
