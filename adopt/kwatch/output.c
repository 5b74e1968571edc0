/* SPDX-License-Identifier: Apache-2.0 */
/* What kwatch is to do, and its files: a line of JSON for every call. */
#include "kwatch.h"

bool kwatch_on, kwatch_timing_only;
long kwatch_most;

static char prefix[3072];
static long calls, written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static pid_t file_owner;

int64_t
kwatch_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* Any change of any byte shows, because multiplication by an odd number is invertible. */
uint64_t
kwatch_sum(const void *data, size_t len, uint64_t sum)
{
	const unsigned char *p = data;
	uint64_t word;

	for (; len >= sizeof word; p += sizeof word, len -= sizeof word) {
		memcpy(&word, p, sizeof word);
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 29;
	}
	for (; len; p++, len--)
		sum = (sum ^ *p) * UINT64_C(0x100000001B3);
	return sum;
}

void
kwatch_add(struct kwatch_text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->at + t->len, t->room - t->len, format, ap);
	va_end(ap);
	t->len = n < 0 || t->len + (size_t)n >= t->room ? t->room - 1 : t->len + (size_t)n;
}

/* With the fewest digits that read back as the same number; JSON has neither infinity nor NaN. */
void
kwatch_add_real(struct kwatch_text *t, double d, bool single)
{
	char number[48];

	for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		snprintf(number, sizeof number, "%.*g", digits, d);
		if (single ? strtof(number, NULL) == (float)d : strtod(number, NULL) == d)
			break;
	}
	kwatch_add(t, d - d != 0 ? "\"%s\"" : strpbrk(number, ".e") ? "%s" : "%s.0", number);
}

void
kwatch_put(void *fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(*(int *)fd, p, len);

		if (n <= 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

static void __attribute__((format(printf, 2, 3))) put_line(int fd, const char *format, ...)
{
	char line[4352];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	kwatch_put(&fd, line, strlen(line));
}

/* PREFIX.SUFFIX, to append to it. */
static int
open_file(const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.%s", prefix, suffix);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/*
 * Each process writes its own file, whose name begins with the time of its first call; a forked
 * process starts another one.
 */
static int
output(void)
{
	char name[64];

	if (file >= 0 && file_owner == getpid())
		return file;
	if (file >= 0)
		close(file);
	calls = written = 0;
	file_owner = getpid();
	snprintf(name, sizeof name, "%020lld.%ld", (long long)kwatch_now(), (long)file_owner);
	return file = open_file(name);
}

long
kwatch_next_call(void)
{
	long number;

	pthread_mutex_lock(&lock);
	output();
	number = calls++;
	pthread_mutex_unlock(&lock);
	return number;
}

void
kwatch_write_line(char *line, size_t len, const char *clock, double ns)
{
	struct kwatch_text t = { line, len, len + KWATCH_END };

	kwatch_add(&t, ",\"clock\":\"%s\",\"ns\":%.0f}\n", clock, ns);
	pthread_mutex_lock(&lock);
	if (output() >= 0 && written < kwatch_most) {
		kwatch_put(&file, t.at, t.len);
		written++;
	}
	pthread_mutex_unlock(&lock);
}

static void __attribute__((destructor)) shut_down(void)
{
	if (file >= 0 && file_owner == getpid())
		put_line(file, "{\"end\":true,\"calls\":%ld,\"written\":%ld}\n", calls, written);
}

static void __attribute__((constructor)) start_up(void)
{
	const char *to = getenv("KWATCH_OUT"), *mode = getenv("KWATCH_MODE"),
	           *max = getenv("KWATCH_MAX");
	char program[4096] = "";
	ssize_t n;
	int fd;

	if (!to || strlen(to) >= sizeof prefix)
		return;
	strcpy(prefix, to);
	kwatch_most = max ? atol(max) : 100000;
	kwatch_timing_only = mode && !strcmp(mode, "time");
	kwatch_on = true;
	n = readlink("/proc/self/exe", program, sizeof program - 1);
	program[n > 0 ? n : 0] = '\0';
	fd = open_file("loaded");
	if (fd < 0)
		return;
	put_line(fd, "%ld %s\n", (long)getpid(), program);
	close(fd);
}
