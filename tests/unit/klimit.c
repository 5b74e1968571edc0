/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of klimit: holds, stops and money are shared by processes. */
#include <stdlib.h>
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

static void
test_hold_and_stop(void)
{
	int64_t start = know_ns();
	auto_free char *reason = NULL;
	double when;

	klimit_open("hold");

	klimit_hold(0.15);
	CHECK(klimit_turn(1, &when) == KLIMIT_GO && seconds_since(start) >= 0.15);
	klimit_hold(100);
	CHECK(klimit_turn(1, &when) == KLIMIT_LATER && when > 90);
	klimit_stop("no\nmoney", 100);
	CHECK(klimit_turn(1, &when) == KLIMIT_STOPPED);
	reason = klimit_reason();
	CHECK_STR(reason, "no money");
	/* Of another server. */
	klimit_open("other");
	CHECK(klimit_turn(1, &when) == KLIMIT_GO);
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
	test_hold_and_stop();
	test_money();
	test_folder();
	command = kasprintf("rm -rf %s", folder);
	if (system(command))
		return 1;
	free(command);
	return tap_done();
}
