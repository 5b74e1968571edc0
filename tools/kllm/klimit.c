/* SPDX-License-Identifier: Apache-2.0 */
/* klimit: see klimit.h. */
#include "klimit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kutil.h"

/* Slot I is the lock of a byte of the state's file, far behind its end. */
enum { SLOTS_AT = 1 << 20, RETRY_BURST = 20, NS = 1000000000 };
/* Most that a ledger holds, in 1e-9 USD: a billion dollars. */
static const long long LEDGER_MAX = 1000000000000000000;
static const double retry_share = 0.2;

/* What the state's file holds; times are of the monotonic clock, in nanoseconds. */
struct state {
	char schema[16];
	int64_t next_request, next_tokens; /* when the next request may start */
	int64_t hold_until, stop_until;
	int64_t now;    /* of the last write: later than the clock means another boot */
	double retries; /* repetitions that are still allowed */
	char reason[400];
};

struct klimit {
	struct klimit_rates rates;
	char *path;
	int fd;             /* of the state's file */
	struct state state; /* between state_enter and state_leave, and as it was then */
};

char *
klimit_folder(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	struct stat st;
	char *folder;

	if (runtime && *runtime == '/' && access(runtime, W_OK) == 0)
		folder = kasprintf("%s/kllm", runtime);
	else
		folder =
		    kasprintf("%s/kllm-%ld", tmp && *tmp == '/' ? tmp : "/tmp", (long)getuid());
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		kdie_errno(K_IO, "%s", folder);
	if (lstat(folder, &st) < 0)
		kdie_errno(K_IO, "%s", folder);
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
		kdie(K_IO, "%s: must be a folder that only you can read (mode 0700)", folder);
	return folder;
}

/* "NAME" as a file name: a digest, since names hold addresses. */
static char *
state_path(const char *name)
{
	char *folder = klimit_folder(), *path, hex[65];

	ksha256_hex(name, strlen(name), hex);
	path = kasprintf("%s/%.16s", folder, hex);
	free(folder);
	return path;
}

bool
klimit_first_time(const char *name)
{
	char *base = state_path(name), *path = kasprintf("%s.told", base);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	free(base);
	free(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct klimit *
klimit_open(const char *name, const struct klimit_rates *rates)
{
	struct klimit *l = kcalloc(1, sizeof *l);
	char *base = state_path(name);

	l->rates = *rates;
	l->path = kasprintf("%s.state", base);
	l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0)
		kdie_errno(K_IO, "%s", l->path);
	free(base);
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
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			kdie_errno(K_IO, "flock");
}

/* Take the lock and read; a state of another boot or version, or none, is a fresh one. */
static struct state *
state_enter(struct klimit *l)
{
	static const struct state fresh = { .schema = "klimit/2", .retries = RETRY_BURST };
	struct state *s = &l->state;

	lock(l->fd);
	if (pread(l->fd, s, sizeof *s, 0) != sizeof *s ||
	    memcmp(s->schema, fresh.schema, sizeof s->schema) || s->now > know_ns())
		*s = fresh;
	s->reason[sizeof s->reason - 1] = '\0';
	return s;
}

/* Write when SAVE says so, and let go of the lock. */
static void
state_leave(struct klimit *l, bool save)
{
	struct state *s = &l->state;

	s->now = know_ns();
	if (save && pwrite(l->fd, s, sizeof *s, 0) != sizeof *s)
		kdie_errno(K_IO, "%s", l->path);
	flock(l->fd, LOCK_UN);
}

static void
sleep_ns(int64_t ns)
{
	struct timespec t = { ns / NS, ns % NS };

	if (ns > 0)
		nanosleep(&t, NULL);
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
spacing(double per_minute, double amount)
{
	return per_minute > 0 ? (int64_t)(amount * 60e9 / per_minute) : 0;
}

/* Lock or free COUNT slots from FIRST on; the kernel frees those of a process that ends. */
static bool
set_slots(struct klimit *l, short type, long first, long count)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = SLOTS_AT + first, .l_len = count
	};

	return fcntl(l->fd, F_OFD_SETLK, &lock) == 0;
}

static bool
take_slot(struct klimit *l)
{
	for (long i = 0; i < l->rates.inflight; i++)
		if (set_slots(l, F_WRLCK, i, 1))
			return true;
	return l->rates.inflight <= 0;
}

static void
free_slot(struct klimit *l)
{
	if (l->rates.inflight > 0)
		set_slots(l, F_UNLCK, 0, l->rates.inflight);
}

static bool
wait_slot(struct klimit *l, int64_t deadline)
{
	for (int64_t pause = NS / 200; !take_slot(l); pause = pause < NS / 5 ? pause * 2 : pause) {
		if (know_ns() > deadline)
			return false;
		sleep_ns(pause);
	}
	return true;
}

/*
 * The next free moment, booked: each request moves the next one's moment on by its own share of a
 * minute. *START is 0 when nobody may send now; then *UNTIL is when to ask again.
 */
static enum klimit_turn
book(struct klimit *l, double tokens, int64_t deadline, int64_t *start, int64_t *until)
{
	struct state *s = state_enter(l);
	int64_t now = know_ns();
	bool held = s->hold_until > now, stopped = s->stop_until > now, late;

	*until = stopped ? 0
	    : held       ? s->hold_until
	                 : later(now, later(s->next_request, s->next_tokens));
	late = *until > deadline;
	*start = stopped || held || late ? 0 : *until;
	if (*start) {
		s->next_request = *start + spacing(l->rates.rpm, 1);
		s->next_tokens = *start + spacing(l->rates.tpm, tokens);
		s->retries = fmin(RETRY_BURST, s->retries + retry_share);
	}
	state_leave(l, *start);
	return stopped ? KLIMIT_STOPPED : late ? KLIMIT_LATER : KLIMIT_GO;
}

enum klimit_turn
klimit_turn(struct klimit *l, double tokens, double *when)
{
	int64_t deadline = know_ns() + (int64_t)(l->rates.wait_s * 1e9), start = 0, until = 0;
	enum klimit_turn turn;

	*when = 0;
	if (!wait_slot(l, deadline)) {
		*when = l->rates.wait_s;
		return KLIMIT_LATER;
	}
	while (!start) {
		turn = book(l, tokens, deadline, &start, &until);
		if (turn != KLIMIT_GO) {
			*when = until ? (double)(until - know_ns()) * 1e-9 : 0;
			free_slot(l);
			return turn;
		}
		sleep_ns(until - know_ns());
	}
	return KLIMIT_GO;
}

void
klimit_done(struct klimit *l, double more)
{
	struct state *s;

	free_slot(l);
	if (!(l->rates.tpm > 0))
		return;
	s = state_enter(l);
	s->next_tokens += (more < 0 ? -1 : 1) * spacing(l->rates.tpm, fabs(more));
	state_leave(l, true);
}

void
klimit_hold(struct klimit *l, double seconds)
{
	struct state *s = state_enter(l);

	s->hold_until = later(s->hold_until, know_ns() + (int64_t)(seconds * 1e9));
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

bool
klimit_may_retry(struct klimit *l)
{
	struct state *s = state_enter(l);
	bool may = s->retries >= 1;

	if (may)
		s->retries -= 1;
	state_leave(l, may);
	return may;
}

/* What a ledger says; anything else than a sum of money in it ends the program. */
static int64_t
read_ledger(int fd, const char *path)
{
	char text[64], end;
	long long sum = 0;
	ssize_t got = pread(fd, text, sizeof text - 1, 0);

	if (got < 0)
		kdie_errno(K_IO, "%s", path);
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
		kdie_errno(K_IO, "%s", path);
	lock(fd);
	sum = read_ledger(fd, path);
	if (__builtin_add_overflow(sum, amount, &total) || total > LEDGER_MAX)
		kdie(K_IO, "%s: %" PRId64 " and %" PRId64 " more are beyond the range of a ledger",
		    path, sum, amount);
	/* Somebody has set it back while a booking was under way. */
	total = total < 0 ? 0 : total;
	fits = cap <= 0 || total <= cap;
	*spent = sum;
	if (fits && amount) {
		*spent = total;
		n = snprintf(text, sizeof text, "spent_nanousd %020" PRId64 "\n", *spent);
		if (pwrite(fd, text, (size_t)n, 0) != n || ftruncate(fd, n) < 0 ||
		    fdatasync(fd) < 0)
			kdie_errno(K_IO, "%s", path);
	}
	close(fd);
	return fits;
}
