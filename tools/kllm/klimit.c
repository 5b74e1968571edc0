/* SPDX-License-Identifier: Apache-2.0 */
/* klimit: see klimit.h. */
#include "klimit.h"

#include <inttypes.h>
#include <sys/file.h>

#include "kfence.h"
#include "kregex.h"

/* The most that a ledger may hold, in 1e-9 USD: a billion dollars. */
static const long long LEDGER_MAX = 1000000000000000000;

/* No pause or stop is longer, in seconds; if one seems to be, the clock was set back. */
static const double longest = 600;
enum { REASON_MAX = 400 };

/* The files of the pause and of the stop, which holds the reason; kept to the end. */
static char *pause_file, *stop_file;

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

void
klimit_open(const char *name)
{
	pause_file = kstrdup(state_path(name, ".pause"));
	stop_file = kstrdup(state_path(name, ".stop"));
}

double
klimit_age(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)(now.tv_sec - st->st_mtim.tv_sec) +
	    1e-9 * (double)(now.tv_nsec - st->st_mtim.tv_nsec);
}

static struct timespec
timespec_of(double seconds)
{
	return (struct timespec){ (time_t)seconds, (long)(fmod(seconds, 1) * 1e9) };
}

void
klimit_sleep(double seconds)
{
	struct timespec t = timespec_of(seconds);

	nanosleep(&t, NULL);
}

/* Seconds until the pause or stop in the file PATH ends; 0: there is none. */
static double
seconds_left(const char *path)
{
	struct stat st;
	double left = kfind_link(path, &st) ? -klimit_age(&st) : 0;

	return left > 0 && left < longest ? left : 0;
}

static void
end_after(const char *path, double seconds, const char *text)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct timespec now, end;

	clock_gettime(CLOCK_REALTIME, &now);
	end = timespec_of((double)now.tv_nsec * 1e-9 + seconds);
	end.tv_sec += now.tv_sec;
	if (fd < 0 || kwrite_all(fd, text, strlen(text)) < 0 ||
	    futimens(fd, (struct timespec[]){ end, end }) < 0)
		kdie_io("%s", path);
}

enum klimit_turn
klimit_turn(double wait_s, double *when)
{
	int64_t start = know_ns();

	for (;; klimit_sleep(*when)) {
		*when = seconds_left(pause_file);
		if (seconds_left(stop_file) > 0)
			return KLIMIT_STOPPED;
		if (*when <= 0)
			return KLIMIT_GO;
		if (kseconds_since(start) + *when > wait_s)
			return KLIMIT_LATER;
	}
}

void
klimit_hold(double seconds)
{
	if (seconds_left(pause_file) < seconds)
		end_after(pause_file, seconds, "");
}

void
klimit_stop(const char *reason, double seconds)
{
	auto_free char *line = kfence_line(reason, REASON_MAX);

	end_after(stop_file, seconds, line);
}

char *
klimit_reason(void)
{
	return kread_file_or_die(stop_file, BUFSIZ, NULL);
}

/* The amount in a ledger; any other content ends the program. */
static int64_t
read_ledger(int fd, const char *path)
{
	char text[64] = "";
	ssize_t got = pread(fd, text, sizeof text - 1, 0);
	long long sum = 0;

	if (got < 0)
		kdie_io("%s", path);
	errno = 0;
	if (got)
		sum = strtoll(text + strcspn(text, "0123456789"), NULL, 10);
	if (errno || sum > LEDGER_MAX || (got && !kregex_is("\\Aspent_nanousd \\d+\\n\\z", text)))
		kdie(K_IO,
		    "%s: not a ledger; it should contain: spent_nanousd NUMBER, from 0 to %lld, in "
		    "1e-9 USD",
		    path, LEDGER_MAX);
	return sum;
}

bool
kbudget_add(const char *path, int64_t amount, int64_t cap, int64_t *spent)
{
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	int n;
	int64_t sum, total;
	char text[64];
	bool fits;

	if (fd < 0 || TEMP_FAILURE_RETRY(flock(fd, LOCK_EX)) < 0)
		kdie_io("%s", path);
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
	return fits;
}
