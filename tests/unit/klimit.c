/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of klimit: pace, slots, holds, stops and money are shared by processes, and a killed
 * one frees what it held.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kutil.h"
#include "tap.h"

#include "../../tools/kllm/klimit.c"

static char folder[] = "/tmp/klimit.XXXXXX";

static double
seconds_since(int64_t start)
{
	return (double)(know_ns() - start) * 1e-9;
}

/* COUNT processes take TURNS turns each; returns the seconds it took all of them. */
static double
crowd(const char *name, const struct klimit_rates *rates, int count, int turns, double tokens,
    int hold_ms)
{
	int64_t start = know_ns();

	for (int i = 0; i < count; i++)
		if (!fork()) {
			struct klimit *l = klimit_open(name, rates);
			double when;

			for (int k = 0; k < turns; k++) {
				if (klimit_turn(l, tokens, &when) != KLIMIT_GO)
					_exit(1);
				usleep((useconds_t)hold_ms * 1000);
				klimit_done(l, 0);
			}
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return seconds_since(start);
}

static void
test_pace(void)
{
	/*
	 * 16 processes of 10 turns at 200 a second: the last starts 159 intervals after the first;
	 * later under valgrind.
	 */
	double s =
	    crowd("pace", &(struct klimit_rates){ .rpm = 12000, .wait_s = 10 }, 16, 10, 1, 0);

	CHECK(s >= 0.795 * 0.98 && s < 0.795 * 4);
	s = crowd("tokens", &(struct klimit_rates){ .tpm = 600000, .wait_s = 10 }, 4, 5, 500, 0);
	CHECK(s >= 0.95 * 0.98 && s < 0.95 * 1.5);
}

static void
test_slots(void)
{
	/* 8 turns of 50 ms through 2 slots. */
	double s =
	    crowd("slots", &(struct klimit_rates){ .inflight = 2, .wait_s = 10 }, 8, 1, 1, 50);

	CHECK(s >= 0.195 && s < 1.5);
}

static void
test_killed(void)
{
	struct klimit_rates rates = { .inflight = 1, .wait_s = 5 };
	struct klimit *l = klimit_open("killed", &rates);
	int ready[2];
	double when;
	pid_t pid;
	char byte;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (!pid) {
		klimit_turn(klimit_open("killed", &rates), 1, &when);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(klimit_turn(l, 1, &when) == KLIMIT_GO);
	klimit_close(l);
}

static void
test_busy(void)
{
	struct klimit_rates rates = { .inflight = 1, .wait_s = 0.05 };
	struct klimit *a = klimit_open("busy", &rates), *b = klimit_open("busy", &rates);
	double when;

	CHECK(klimit_turn(a, 1, &when) == KLIMIT_GO);
	CHECK(klimit_turn(b, 1, &when) == KLIMIT_LATER && when > 0);
	klimit_done(a, 0);
	CHECK(klimit_turn(b, 1, &when) == KLIMIT_GO);
	klimit_close(a);
	klimit_close(b);
}

static void
test_hold_and_stop(void)
{
	struct klimit_rates rates = { .wait_s = 1 };
	struct klimit *l = klimit_open("hold", &rates);
	int64_t start = know_ns();
	double when;

	klimit_hold(l, 0.15);
	CHECK(klimit_turn(l, 1, &when) == KLIMIT_GO && seconds_since(start) >= 0.15);
	klimit_hold(l, 100);
	CHECK(klimit_turn(l, 1, &when) == KLIMIT_LATER && when > 90);
	klimit_stop(l, "no\nmoney", 100);
	CHECK(klimit_turn(l, 1, &when) == KLIMIT_STOPPED);
	CHECK_STR(klimit_reason(l), "no money");
	klimit_close(l);
}

static void
test_retries(void)
{
	struct klimit_rates rates = { .wait_s = 1 };
	struct klimit *l = klimit_open("retries", &rates);
	int allowed = 0;
	double when;

	while (klimit_may_retry(l))
		allowed++;
	CHECK(allowed == 20);
	for (int i = 0; i < 6; i++) {
		klimit_turn(l, 1, &when);
		klimit_done(l, 0);
	}
	CHECK(klimit_may_retry(l) && !klimit_may_retry(l));
	klimit_close(l);
}

static void
test_money(void)
{
	static const char *const bad[] = { "rubbish\n", "spent_nanousd\n", "spent_nanousd -1\n",
		"spent_nanousd 1", "spent_nanousd 1 2\n", "spent_nanousd 9223372036854775808\n",
		"spent_nanousd 1000000000000000001\n", "spent_nanousd 1\nspent_nanousd 2\n",
		"spent_nanousd 99999999999999999999999999999999999999999999999999999999999999\n" };
	static const char most[] = "spent_nanousd 1000000000000000000\n";
	char *ledger = kasprintf("%s/ledger", folder);
	int64_t spent;

	CHECK(kbudget_add(ledger, 600, 1000, &spent) && spent == 600);
	CHECK(!kbudget_add(ledger, 600, 1000, &spent) && spent == 600);
	kbudget_add(ledger, -500, 0, &spent);
	CHECK(spent == 100);
	for (int i = 0; i < 8; i++)
		if (!fork()) {
			for (int k = 0; k < 50; k++)
				kbudget_add(ledger, 1, 0, &spent);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	CHECK(kbudget_add(ledger, 0, 0, &spent) && spent == 500);
	for (size_t i = 0; i < LEN(bad); i++) {
		kwrite_file(ledger, bad[i], strlen(bad[i]));
		CHECK_EXIT(K_IO, kbudget_add(ledger, 1, 1000, &spent));
		CHECK_EXIT(K_IO, kbudget_add(ledger, -1, 0, &spent));
	}
	kwrite_file(ledger, most, strlen(most));
	CHECK(!kbudget_add(ledger, 0, 1000, &spent) && spent == 1000000000000000000);
	CHECK_EXIT(K_IO, kbudget_add(ledger, 1, 0, &spent));
	CHECK_EXIT(K_IO, kbudget_add(ledger, INT64_MAX, 0, &spent));
	/* Set back by hand while a booking was under way. */
	kwrite_file(ledger, "spent_nanousd 5\n", 16);
	kbudget_add(ledger, -600, 0, &spent);
	CHECK(spent == 0);
	CHECK_EXIT(K_IO, kbudget_add("/nonexistent/ledger", 1, 0, &spent));
	free(ledger);
}

static void
test_folder(void)
{
	char *path = klimit_folder(), *other = kasprintf("%s/elsewhere", folder);
	struct stat st;

	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(klimit_first_time("a model") && !klimit_first_time("a model") &&
	    klimit_first_time("another"));
	chmod(path, 0755);
	CHECK_EXIT(K_IO, klimit_folder());
	chmod(path, 0700);
	free(path);
	/*
	 * Without a runtime folder: below TMPDIR, under the user's number; a link there is refused.
	 */
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", folder, 1);
	path = kasprintf("%s/kllm-%ld", folder, (long)getuid());
	mkdir(other, 0700);
	CHECK(symlink(other, path) == 0);
	CHECK_EXIT(K_IO, klimit_folder());
	unlink(path);
	free(klimit_folder());
	CHECK(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
	free(path);
	free(other);
}

int
main(void)
{
	char *command;

	if (!mkdtemp(folder))
		return 1;
	setenv("XDG_RUNTIME_DIR", folder, 1);
	test_pace();
	test_slots();
	test_killed();
	test_busy();
	test_hold_and_stop();
	test_retries();
	test_money();
	test_folder();
	command = kasprintf("rm -rf %s", folder);
	if (system(command))
		return 1;
	free(command);
	return tap_done();
}
