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

enum { SLOTS_MAX = 256, WARM_S = 240, NS = 1000000000 };
/* Most that a ledger holds, in 1e-9 USD: a billion dollars. */
static const long long LEDGER_MAX = 1000000000000000000;
static const double retry_share = 0.2, retry_burst = 20;

/* The state file's only line; times are of the monotonic clock, in nanoseconds. */
struct state {
	int64_t next_request, next_tokens;	/* when the next request may start */
	int64_t hold_until, stop_until;
	int64_t now;				/* of the last write: later than the clock means another boot */
	long cap;				/* requests at once after an overload; 0: as configured */
	double retries;				/* repetitions that are still allowed */
	double density;				/* bytes per token */
	char reason[400];
};

struct klimit {
	struct klimit_rates rates;
	char *path;		/* folder/NAME */
	int fd;			/* of the state */
	int slot;		/* descriptor of the slot held; -1: none */
	int warm;		/* descriptor of the prefix that is being warmed; -1: none */
	char reason[400];
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
		folder = kasprintf("%s/kllm-%ld", tmp && *tmp == '/' ? tmp : "/tmp", (long)getuid());
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		kdie_errno(K_IO, "%s", folder);
	if (lstat(folder, &st) < 0)
		kdie_errno(K_IO, "%s", folder);
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
		kdie(K_IO, "%s: must be a folder of yours that nobody else may read (mode 0700)", folder);
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
	char *file;

	l->rates = *rates;
	l->slot = l->warm = -1;
	l->path = state_path(name);
	file = kasprintf("%s.state", l->path);
	l->fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0)
		kdie_errno(K_IO, "%s", file);
	free(file);
	return l;
}

void
klimit_close(struct klimit *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < 3; i++) {
		int fd = (int[]){ l->fd, l->slot, l->warm }[i];

		if (fd >= 0)
			close(fd);
	}
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

/* Take the lock and read; a state of another boot, or none, is a fresh one. */
static void
state_enter(struct klimit *l, struct state *s)
{
	char text[1024];
	ssize_t n;

	lock(l->fd);
	n = pread(l->fd, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	*s = (struct state){ 0 };
	if (sscanf(text, "klimit/1 %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %ld %lf %lf %399[^\n]",
		&s->next_request, &s->next_tokens, &s->hold_until, &s->stop_until, &s->now, &s->cap, &s->retries,
		&s->density, s->reason) < 8 ||
	    s->now > know_ns())
		*s = (struct state){ .retries = retry_burst };
}

/* Write when SAVE says so, and let go of the lock. */
static void
state_leave(struct klimit *l, struct state *s, bool save)
{
	char text[1024];
	int n;

	if (save) {
		s->now = know_ns();
		n = snprintf(text, sizeof text,
		    "klimit/1 %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %ld %.6f %.6f %s\n",
		    s->next_request, s->next_tokens, s->hold_until, s->stop_until, s->now, s->cap, s->retries,
		    s->density, s->reason);
		if (pwrite(l->fd, text, (size_t)n, 0) != n || ftruncate(l->fd, n) < 0)
			kdie_errno(K_IO, "%s.state", l->path);
	}
	flock(l->fd, LOCK_UN);
}

static void
sleep_ns(int64_t ns)
{
	struct timespec t = { ns / NS, ns % NS };

	if (ns > 0)
		nanosleep(&t, NULL);
}

/* One file per slot; whoever has it locked is sending. -1 when all below CAP are taken. */
static int
take_slot(struct klimit *l, long cap)
{
	for (long i = 0; i < cap; i++) {
		char *path = kasprintf("%s.slot.%ld", l->path, i);
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		free(path);
		if (fd < 0)
			kdie_errno(K_IO, "%s.slot.%ld", l->path, i);
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

static long
count_slots(struct klimit *l)
{
	long used = 0;

	for (long i = 0; i < SLOTS_MAX; i++) {
		char *path = kasprintf("%s.slot.%ld", l->path, i);
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

		free(path);
		if (fd < 0)
			break;
		used += flock(fd, LOCK_EX | LOCK_NB) < 0;
		close(fd);
	}
	return used;
}

/* Slots that may be used now: what is configured, and less after an overload. */
static long
slots_allowed(struct klimit *l, const struct state *s)
{
	long cap = l->rates.inflight > 0 && l->rates.inflight < SLOTS_MAX ? l->rates.inflight : SLOTS_MAX;

	return s->cap > 0 && s->cap < cap ? s->cap : cap;
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

/*
 * The next free moment, booked: each request moves the next one's moment on by its own share of a minute. *START is 0
 * when nobody may send now; then *UNTIL is when to ask again.
 */
static enum klimit_turn
book(struct klimit *l, double tokens, int64_t deadline, int64_t *start, int64_t *until)
{
	struct state s;
	int64_t now = know_ns(), at;

	state_enter(l, &s);
	*start = *until = 0;
	if (s.stop_until > now) {
		snprintf(l->reason, sizeof l->reason, "%s", s.reason);
		state_leave(l, &s, false);
		return KLIMIT_STOPPED;
	}
	if (s.hold_until > now) {
		*until = s.hold_until;
		state_leave(l, &s, false);
		return s.hold_until > deadline ? KLIMIT_LATER : KLIMIT_GO;
	}
	at = later(now, later(s.next_request, s.next_tokens));
	*until = at;
	if (at > deadline) {
		state_leave(l, &s, false);
		return KLIMIT_LATER;
	}
	*start = at;
	s.next_request = at + spacing(l->rates.rpm, 1);
	s.next_tokens = at + spacing(l->rates.tpm, tokens);
	s.retries = fmin(retry_burst, s.retries + retry_share);
	state_leave(l, &s, true);
	return KLIMIT_GO;
}

static bool
wait_slot(struct klimit *l, int64_t deadline)
{
	for (int64_t pause = NS / 200; l->slot < 0; pause = pause < NS / 5 ? pause * 2 : pause) {
		struct state s;

		state_enter(l, &s);
		state_leave(l, &s, false);
		l->slot = take_slot(l, slots_allowed(l, &s));
		if (l->slot >= 0)
			break;
		if (know_ns() > deadline)
			return false;
		sleep_ns(pause);
	}
	return true;
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
			close(l->slot);
			l->slot = -1;
			return turn;
		}
		sleep_ns(until - know_ns());
	}
	return KLIMIT_GO;
}

void
klimit_done(struct klimit *l, double more)
{
	struct state s;

	if (l->slot >= 0)
		close(l->slot);
	l->slot = -1;
	if (!(l->rates.tpm > 0))
		return;
	state_enter(l, &s);
	s.next_tokens += (more < 0 ? -1 : 1) * spacing(l->rates.tpm, fabs(more));
	state_leave(l, &s, true);
}

void
klimit_hold(struct klimit *l, double seconds)
{
	struct state s;

	state_enter(l, &s);
	s.hold_until = later(s.hold_until, know_ns() + (int64_t)(seconds * 1e9));
	state_leave(l, &s, true);
}

void
klimit_overload(struct klimit *l)
{
	struct state s;
	long used = count_slots(l);

	state_enter(l, &s);
	s.cap = used / 2 > 1 ? used / 2 : 1;
	state_leave(l, &s, true);
}

void
klimit_calm(struct klimit *l)
{
	struct state s;

	state_enter(l, &s);
	if (s.cap > 0)
		s.cap = s.cap < SLOTS_MAX ? s.cap + 1 : 0;
	state_leave(l, &s, s.cap > 0);
}

void
klimit_stop(struct klimit *l, const char *reason, double seconds)
{
	struct state s;

	state_enter(l, &s);
	s.stop_until = know_ns() + (int64_t)(seconds * 1e9);
	snprintf(s.reason, sizeof s.reason, "%s", reason);
	for (char *p = s.reason; *p; p++)
		if (*p == '\n')
			*p = ' ';
	state_leave(l, &s, true);
}

const char *
klimit_reason(const struct klimit *l)
{
	return l->reason;
}

bool
klimit_may_retry(struct klimit *l)
{
	struct state s;
	bool may;

	state_enter(l, &s);
	may = s.retries >= 1;
	if (may)
		s.retries -= 1;
	state_leave(l, &s, may);
	return may;
}

double
klimit_density(struct klimit *l)
{
	struct state s;

	state_enter(l, &s);
	state_leave(l, &s, false);
	return s.density;
}

void
klimit_learn(struct klimit *l, double bytes, double tokens)
{
	struct state s;

	if (!(tokens > 0 && bytes > 0))
		return;
	state_enter(l, &s);
	s.density = s.density > 0 ? 0.7 * s.density + 0.3 * bytes / tokens : bytes / tokens;
	state_leave(l, &s, true);
}

/* Seconds since the prefix was last warmed: the file's time, when it holds anything. */
static bool
is_warm(int fd)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstat(fd, &st) == 0 && st.st_size > 0 && now.tv_sec - st.st_mtim.tv_sec < WARM_S;
}

bool
klimit_warm(struct klimit *l, const char *prefix, double wait_s)
{
	int64_t deadline = know_ns() + (int64_t)(wait_s * 1e9);
	char *path, hex[65];
	int fd;

	ksha256_hex(prefix, strlen(prefix), hex);
	path = kasprintf("%s.warm.%.16s", l->path, hex);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		kdie_errno(K_IO, "%s", path);
	free(path);
	while (!is_warm(fd)) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			if (is_warm(fd))
				break;
			l->warm = fd;
			return true;
		}
		if (know_ns() > deadline)
			break;
		sleep_ns(NS / 50);
	}
	close(fd);
	return false;
}

void
klimit_warmed(struct klimit *l)
{
	if (l->warm < 0)
		return;
	if (pwrite(l->warm, "1", 1, 0) == 1)
		futimens(l->warm, NULL);
	close(l->warm);
	l->warm = -1;
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
	if (got && (sscanf(text, "spent_nanousd %lld%c", &sum, &end) != 2 || end != '\n' || text[strcspn(text, "\n") + 1]))
		kdie(K_IO, "%s: not a ledger; it should say: spent_nanousd NUMBER", path);
	if (errno == ERANGE || sum < 0 || sum > LEDGER_MAX)
		kdie(K_IO, "%s: %.*s is not from 0 to %lld: write what was spent, in 1e-9 USD", path,
		    (int)strcspn(text + strlen("spent_nanousd "), "\n"), text + strlen("spent_nanousd "), LEDGER_MAX);
	return sum;
}

/* Add AMOUNT under the lock unless the sum would exceed CAP. */
static bool
ledger_add(const char *path, int64_t amount, int64_t cap, int64_t *spent)
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
		kdie(K_IO, "%s: %" PRId64 " and %" PRId64 " more are beyond what a ledger holds", path, sum, amount);
	/* Somebody has set it back while a booking was under way. */
	total = total < 0 ? 0 : total;
	fits = cap <= 0 || total <= cap;
	*spent = sum;
	if (fits && amount) {
		*spent = total;
		n = snprintf(text, sizeof text, "spent_nanousd %020" PRId64 "\n", *spent);
		if (pwrite(fd, text, (size_t)n, 0) != n || ftruncate(fd, n) < 0 || fdatasync(fd) < 0)
			kdie_errno(K_IO, "%s", path);
	}
	close(fd);
	return fits;
}

bool
kbudget_reserve(const char *ledger, int64_t amount, int64_t cap, int64_t *spent)
{
	return ledger_add(ledger, amount, cap, spent);
}

void
kbudget_settle(const char *ledger, int64_t delta, int64_t *spent)
{
	ledger_add(ledger, delta, 0, spent);
}
