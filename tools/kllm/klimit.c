/* SPDX-License-Identifier: Apache-2.0 */
/* klimit: see klimit.h. */
#include "klimit.h"

#include <inttypes.h>
#include <sys/file.h>

enum { NS = 1000000000 };
/* The most that a ledger may hold, in 1e-9 USD: a billion dollars. */
static const long long LEDGER_MAX = 1000000000000000000;

/* Contents of the state file; times are of the monotonic clock, in nanoseconds. */
struct state {
	char schema[16];
	int64_t hold_until, stop_until;
	int64_t now; /* of the last write: later than the clock means that the machine was
                      * rebooted */
	char reason[400];
};

struct klimit {
	char *path;
	int fd;             /* of the state's file */
	struct state state; /* valid between state_enter and state_leave, as it was at
                             * state_enter */
};

char *
klimit_folder(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char *folder = runtime && *runtime == '/' && access(runtime, W_OK) == 0
	    ? kasprintf("%s/kllm", runtime)
	    : kasprintf("%s/kllm-%ld", tmp && *tmp == '/' ? tmp : "/tmp", (long)getuid());

	kmake_private(folder);
	return folder;
}

/* The file for NAME: its digest, because names contain addresses, and a SUFFIX. */
static const char *
state_path(const char *name, const char *suffix)
{
	auto_free char *folder = klimit_folder();

	return kshown("%s/%.16s%s", folder, ksha256_of(name), suffix);
}

bool
klimit_first_time(const char *name)
{
	int fd = open(state_path(name, ".told"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct klimit *
klimit_open(const char *name)
{
	struct klimit *l = kcalloc(1, sizeof *l);

	l->path = kstrdup(state_path(name, ".state"));
	l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0)
		kdie_io("%s", l->path);
	return l;
}

void
klimit_close(struct klimit *l)
{
	if (!l)
		return;
	close(l->fd);
	free(l->path);
	free(l);
}

static void
lock(int fd)
{
	if (TEMP_FAILURE_RETRY(flock(fd, LOCK_EX)) < 0)
		kdie_io("flock");
}

/*
 * Take the lock and read; a state from before a reboot, of another version, or none counts as a new
 * one.
 */
static struct state *
state_enter(struct klimit *l)
{
	static const struct state fresh = { .schema = "klimit/3" };
	struct state *s = &l->state;

	lock(l->fd);
	if (pread(l->fd, s, sizeof *s, 0) != sizeof *s ||
	    memcmp(s->schema, fresh.schema, sizeof s->schema) || s->now > know_ns())
		*s = fresh;
	s->reason[sizeof s->reason - 1] = '\0';
	return s;
}

/* Write if SAVE is set, and release the lock. */
static void
state_leave(struct klimit *l, bool save)
{
	struct state *s = &l->state;

	s->now = know_ns();
	if (save && pwrite(l->fd, s, sizeof *s, 0) != sizeof *s)
		kdie_io("%s", l->path);
	flock(l->fd, LOCK_UN);
}

enum klimit_turn
klimit_turn(struct klimit *l, double wait_s, double *when)
{
	int64_t deadline = know_ns() + (int64_t)(wait_s * 1e9);

	for (*when = 0;;) {
		struct state *s = state_enter(l);
		int64_t now = know_ns(), left = s->hold_until - now;
		struct timespec t = { left / NS, left % NS };
		bool stopped = s->stop_until > now;

		state_leave(l, false);
		if (stopped)
			return KLIMIT_STOPPED;
		if (left <= 0)
			return KLIMIT_GO;
		if (now + left > deadline) {
			*when = (double)left * 1e-9;
			return KLIMIT_LATER;
		}
		nanosleep(&t, NULL);
	}
}

void
klimit_hold(struct klimit *l, double seconds)
{
	struct state *s = state_enter(l);
	int64_t until = know_ns() + (int64_t)(seconds * 1e9);

	if (s->hold_until < until)
		s->hold_until = until;
	state_leave(l, true);
}

void
klimit_stop(struct klimit *l, const char *reason, double seconds)
{
	struct state *s = state_enter(l);

	s->stop_until = know_ns() + (int64_t)(seconds * 1e9);
	snprintf(s->reason, sizeof s->reason, "%s", reason);
	for (char *p = s->reason; *p; p++)
		if (*p == '\n')
			*p = ' ';
	state_leave(l, true);
}

const char *
klimit_reason(const struct klimit *l)
{
	return l->state.reason;
}

/* The amount in a ledger; any other content ends the program. */
static int64_t
read_ledger(int fd, const char *path)
{
	char text[64], end;
	long long sum = 0;
	ssize_t got = pread(fd, text, sizeof text - 1, 0);

	if (got < 0)
		kdie_io("%s", path);
	text[got] = '\0';
	errno = 0;
	if (got &&
	    (sscanf(text, "spent_nanousd %lld%c", &sum, &end) != 2 || end != '\n' ||
	        text[strcspn(text, "\n") + 1]))
		kdie(K_IO, "%s: not a ledger; it should contain: spent_nanousd NUMBER", path);
	if (errno == ERANGE || sum < 0 || sum > LEDGER_MAX)
		kdie(K_IO, "%s: %.*s must be the amount spent, from 0 to %lld in 1e-9 USD", path,
		    (int)strcspn(text + strlen("spent_nanousd "), "\n"),
		    text + strlen("spent_nanousd "), LEDGER_MAX);
	return sum;
}

bool
kbudget_add(const char *path, int64_t amount, int64_t cap, int64_t *spent)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), n;
	int64_t sum, total;
	char text[64];
	bool fits;

	if (fd < 0)
		kdie_io("%s", path);
	lock(fd);
	sum = read_ledger(fd, path);
	if (__builtin_add_overflow(sum, amount, &total) || total > LEDGER_MAX)
		kdie(K_IO, "%s: %" PRId64 " and %" PRId64 " more are beyond the range of a ledger",
		    path, sum, amount);
	/* Somebody has reset it during a booking. */
	total = total < 0 ? 0 : total;
	fits = cap <= 0 || total <= cap;
	*spent = sum;
	if (fits && amount) {
		*spent = total;
		n = snprintf(text, sizeof text, "spent_nanousd %020" PRId64 "\n", *spent);
		if (pwrite(fd, text, (size_t)n, 0) != n || ftruncate(fd, n) < 0 ||
		    fdatasync(fd) < 0)
			kdie_io("%s", path);
	}
	close(fd);
	return fits;
}
