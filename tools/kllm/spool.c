/* SPDX-License-Identifier: Apache-2.0 */
/* spool: see spool.h. */
#include "spool.h"

#include "kregex.h"
#include "secret.h"

/* Path for a step, or NULL when the output is stdout; the caller frees. */
static char *
spool_path(int step)
{
	auto_free char *stem = call.out ? kregex_sub("\\.[^./]*\\z", call.out, "") : NULL;

	return stem ? kasprintf("%s.spool%s", stem, step > 1 ? "2" : "") : NULL;
}

int
spool_begin(int step, const json_t *intent, size_t room)
{
	auto_free char *path = spool_path(step), *text = NULL, *line = NULL;
	size_t len;
	int fd, e;

	if (!path)
		return 0;
	text = json_dumps(intent, KIO_DUMP);
	line = kasprintf("%s\n", text);
	len = strlen(line);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0 || (errno = posix_fallocate(fd, 0, (off_t)(len + room))) != 0 ||
	    kwrite_all(fd, line, len) < 0 || fsync(fd) < 0 || ksync_folder(path) < 0) {
		e = errno;
		if (fd >= 0) {
			close(fd);
			unlink(path);
		}
		fd = -1;
		errno = e;
	}
	return fd;
}

void
spool_end(int spool, const struct kbuf *body, bool whole)
{
	off_t intent = spool ? lseek(spool, 0, SEEK_CUR) : 0;
	auto_buf struct kbuf answer = { 0 };

	if (!spool)
		return;
	if (whole) {
		kbuf_add(&answer, body->data, body->len);
		secret_redact(&answer);
	}
	if (kwrite_all(spool, answer.data, answer.len) < 0 ||
	    ftruncate(spool, intent + (off_t)answer.len) < 0 || fsync(spool) < 0) {
		kwarn("cannot write the answer to the spool: %s", strerror(errno));
		if (ftruncate(spool, intent) < 0)
			kwarn("cannot truncate the spool: %s", strerror(errno));
	}
	close(spool);
}

enum spool_state
spool_resume(int step, const char *model, struct kanswer *a, int64_t *reserved)
{
	size_t len = 0, head;
	auto_free char *path = spool_path(step),
	               *text = path ? kread_file(path, 3 * KLLM_BODY_MAX, &len) : NULL;
	json_auto_t *intent = NULL;

	*reserved = 0;
	/* After a kill, the space reserved for the rest of the answer still follows, as NULs. */
	while (len && !text[len - 1])
		len--;
	head = len ? strcspn(text, "\n") : 0;
	intent = json_loadb(text ?: "", head, 0, NULL);
	if (!kjson_is(intent, "schema", "exchange/1") || !kjson_is(intent, "model", model) ||
	    !kjson_is(intent, "prompt_sha256", call.sha256))
		return SPOOL_NONE;
	*reserved = kjson_int(intent, "reserved_nanousd");
	if (len > head)
		kanswer_feed(a, text + head + 1, len - head - 1);
	kanswer_end(a);
	if (kanswer_complete(a))
		return SPOOL_WHOLE;
	kanswer_free(a);
	return SPOOL_PARTIAL;
}

void
spool_discard(int step)
{
	auto_free char *path = spool_path(step);

	if (path)
		unlink(path);
}

void
spool_remove(void)
{
	for (int step = 1; step <= SPOOL_STEPS; step++)
		spool_discard(step);
}
