/* SPDX-License-Identifier: Apache-2.0 */
/* transport: see transport.h. */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kllm.h"
#include "kproc.h"

enum { IN, OUT, ERR, HEAD_MAX = 1 << 17 };

struct watch {
	struct transport *t;
	struct kbuf head;	/* the response's head until it is whole */
	bool in_body;
	size_t progress;
	int64_t start, first, last;	/* of the request, the first byte of the body, the last content */
};

/* Beside this program, or below libexec when installed. */
static char *
helper_path(void)
{
	char self[4096], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	path = kasprintf("%s/kllm-http", self);
	if (access(path, X_OK) < 0) {
		free(path);
		path = kasprintf("%s/../libexec/kiln/kllm-http", self);
	}
	if (access(path, X_OK) < 0)
		kdie(K_MISSING, "the helper program kllm-http is neither in %s nor in %s/../libexec/kiln", self, self);
	return path;
}

static void
write_request(const struct transport *t, int fd)
{
	struct kbuf b = { 0 };
	size_t sent = 0;

	kbuf_printf(&b, "url %s\nconnect_s %.3f\ntotal_s %.3f\nmax_body %zu\n", t->url, t->connect_s, t->total_s,
	    KLLM_BODY_MAX);
	for (size_t i = 0; t->headers[i]; i++)
		kbuf_printf(&b, "header %s\n", t->headers[i]);
	kbuf_puts(&b, "\n");
	kbuf_add(&b, t->body, t->body_len);
	while (sent < b.len) {
		ssize_t n = write(fd, b.data + sent, b.len - sent);

		if (n < 0 && errno != EINTR)
			break;	/* the helper has ended; its exit status says why */
		if (n > 0)
			sent += (size_t)n;
	}
	explicit_bzero(b.data, b.len);
	kbuf_free(&b);
}

/* Pass bytes of the body on; false when no more is needed. */
static bool
pass_body(struct watch *w, const char *bytes, size_t len)
{
	size_t before = w->progress;
	bool more;

	if (!len)
		return true;
	if (!w->first)
		w->first = w->last = know_ns();
	more = w->t->on_body(w->t->arg, bytes, len, &w->progress);
	if (w->progress != before)
		w->last = know_ns();
	return more;
}

/* The head ends at the first blank line; what follows is body. */
static bool
take(struct watch *w, const char *bytes, size_t len)
{
	size_t before = w->head.len;
	char *end;

	if (w->in_body)
		return pass_body(w, bytes, len);
	kbuf_add(&w->head, bytes, len);
	end = strstr(w->head.data, "\n\n");
	if (!end)
		return w->head.len < HEAD_MAX;
	w->in_body = true;
	end += 2;
	sscanf(w->head.data, "HTTP %d", &w->t->status);
	kbuf_add(&w->t->head, w->head.data, (size_t)(end - w->head.data) - 1);
	if (w->t->on_head)
		w->t->on_head(w->t->arg);
	len -= (size_t)(end - w->head.data) - before;
	return pass_body(w, end, len);
}

/* The moment at which patience ends, and what has ended it then. */
static int64_t
deadline(const struct watch *w, enum transport_end *what)
{
	int64_t total = w->start + (int64_t)(w->t->total_s * 1e9);
	int64_t silent = w->first ? w->last + (int64_t)(w->t->stall_s * 1e9)
				  : w->start + (int64_t)(w->t->first_byte_s * 1e9);

	*what = silent < total ? (w->first ? TRANSPORT_STALL : TRANSPORT_FIRST_BYTE) : TRANSPORT_TOTAL;
	return silent < total ? silent : total;
}

/* Read until the helper closes its output, the reader has enough, or patience ends. */
static enum transport_end
watch(struct watch *w, int fd)
{
	char chunk[65536];

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		enum transport_end late;
		int64_t left = deadline(w, &late) - know_ns();
		ssize_t n;

		if (left <= 0)
			return late;
		if (poll(&p, 1, left > 60000000000 ? 60000 : (int)(left / 1000000) + 1) <= 0)
			continue;
		n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return TRANSPORT_DONE;
		if (!take(w, chunk, (size_t)n))
			return TRANSPORT_ENOUGH;
	}
}

/* What the helper's exit status says; it has closed its output already. */
static enum transport_end
verdict(pid_t pid, int err, struct kbuf *why)
{
	char text[2048];
	ssize_t n = read(err, text, sizeof text);
	const char *said;
	int status;

	/* stderr is closed by the end of the process, when its status is settled: killing it then changes nothing. */
	while (n > 0 && why->len < sizeof text) {
		kbuf_add(why, text, (size_t)n);
		n = read(err, text, sizeof text);
	}
	said = why->data ? strstr(why->data, ": ") : NULL;
	if (said) {
		size_t skip = (size_t)(said + 2 - why->data);

		memmove(why->data, why->data + skip, why->len - skip + 1);
		why->len -= skip;
		why->data[strcspn(why->data, "\n")] = '\0';
		why->len = strlen(why->data);
	}
	status = kproc_kill(pid);
	if (!WIFEXITED(status))
		return TRANSPORT_NETWORK;
	switch (WEXITSTATUS(status)) {
	case K_OK: return TRANSPORT_DONE;
	case K_USAGE: return TRANSPORT_PERMANENT;
	case K_IO: return TRANSPORT_TOO_LARGE;
	default: return TRANSPORT_NETWORK;
	}
}

static void
open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) < 0)
		kdie_errno(K_IO, "pipe");
}

enum transport_end
transport_post(struct transport *t)
{
	char *helper = helper_path(), *argv[] = { helper, NULL };
	struct kproc p = { .argv = argv };
	struct watch w = { .t = t, .start = know_ns() };
	int pipes[3][2];
	enum transport_end end;
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 3; i++)
		open_pipe(pipes[i]);
	pid = kproc_spawn(&p, (int[3]){ pipes[IN][0], pipes[OUT][1], pipes[ERR][1] });
	if (pid < 0)
		kdie_errno(K_MISSING, "%s", helper);
	close(pipes[IN][0]);
	close(pipes[OUT][1]);
	close(pipes[ERR][1]);
	write_request(t, pipes[IN][1]);
	close(pipes[IN][1]);
	end = watch(&w, pipes[OUT][0]);
	if (end == TRANSPORT_DONE)
		end = verdict(pid, pipes[ERR][0], &t->why);
	else
		kproc_kill(pid);
	close(pipes[OUT][0]);
	close(pipes[ERR][0]);
	t->first_byte_ms = w.first ? (double)(w.first - w.start) * 1e-6 : -1;
	t->total_ms = (double)(know_ns() - w.start) * 1e-6;
	kbuf_free(&w.head);
	free(helper);
	return end;
}

void
transport_free(struct transport *t)
{
	kbuf_free(&t->head);
	kbuf_free(&t->why);
}

const char *
transport_header(const struct transport *t, const char *name)
{
	static char value[256];
	size_t n = strlen(name);

	for (const char *p = t->head.data; p && *p; p = strchr(p, '\n'), p += p != NULL)
		if (!strncmp(p, name, n) && p[n] == ':') {
			p += n + 1 + strspn(p + n + 1, " \t");
			snprintf(value, sizeof value, "%.*s", (int)strcspn(p, "\r\n"), p);
			return value;
		}
	return NULL;
}
