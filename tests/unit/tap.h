/* SPDX-License-Identifier: Apache-2.0 */
/* TAP for unit tests in C: CHECK(condition) is one test; end main with return tap_done(). */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int tap_count, tap_failed;

#define CHECK(cond) tap_check((cond), #cond, __FILE__, __LINE__)
#define CHECK_STR(got, want) tap_str((got), (want), #got, __FILE__, __LINE__)
/*
 * The statement ends the process with this exit status (run in a forked child, its messages
 * dropped).
 */
#define CHECK_EXIT(status, statement) \
	do { \
		pid_t tap_pid; \
		int tap_status; \
		fflush(NULL); \
		tap_pid = fork(); \
		if (!tap_pid) { \
			if (!freopen("/dev/null", "w", stderr)) \
				_exit(99); \
			statement; \
			_exit(98); \
		} \
		waitpid(tap_pid, &tap_status, 0); \
		tap_check(WIFEXITED(tap_status) && WEXITSTATUS(tap_status) == (status), \
		    #statement " exits " #status, __FILE__, __LINE__); \
	} while (0)

static inline bool
tap_check(bool good, const char *what, const char *file, int line)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, what);
	if (!good) {
		fprintf(stderr, "# failed at %s:%d\n", file, line);
		tap_failed++;
	}
	/* A child that ends under valgrind would write once more what is still in the buffer. */
	fflush(stdout);
	return good;
}

static inline bool
tap_str(const char *got, const char *want, const char *what, const char *file, int line)
{
	bool good = got && !strcmp(got, want);

	tap_check(good, what, file, line);
	if (!good)
		fprintf(stderr, "# got '%s', want '%s'\n", got ? got : "(null)", want);
	return good;
}

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}
