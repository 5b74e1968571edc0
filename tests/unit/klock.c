/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of klock: alone or together, what is no lock, and what is said while another process
 * holds it.
 */
#include "klock.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

static void
test_kinds(void)
{
	int shared = klock_device("a", false, true), more = klock_device("a", false, false);

	CHECK(shared >= 0 && more >= 0);
	CHECK(klock_device("a", true, false) < 0);
	close(shared);
	close(more);
	shared = klock_device("a", true, false);
	CHECK(shared >= 0);
	CHECK(klock_device("a", false, false) < 0);
	CHECK(klock_device("b", true, false) >= 0);
	klock_share(shared);
	more = klock_device("a", false, false);
	CHECK(more >= 0);
	close(more);
	CHECK(klock_device("a", true, false) < 0);
	close(shared);
}

/* Neither a pipe, which would hold us up for ever, nor a folder nor a link is a lock. */
static void
test_strange(void)
{
	CHECK(mkfifo("kiln-pipe.lock", 0666) == 0);
	CHECK_EXIT(K_IO, (alarm(5), klock_device("pipe", true, true)));
	CHECK(mkfifo("kiln-gate.gate", 0666) == 0);
	CHECK_EXIT(K_IO, (alarm(5), klock_device("gate", true, true)));
	CHECK(mkdir("kiln-folder.lock", 0777) == 0);
	CHECK_EXIT(K_IO, klock_device("folder", true, true));
	CHECK(symlink("elsewhere", "kiln-link.lock") == 0);
	CHECK_EXIT(K_IO, klock_device("link", true, true));
}

/*
 * A child holds the lock for seven seconds; another one waits for it and writes its messages into a
 * file.
 */
static void
test_waiting(void)
{
	pid_t holder = fork(), waiter;
	char *said, *who;
	int status;

	if (!holder) {
		klock_device("w", true, true);
		kwrite_file("held", "", 0);
		sleep(7);
		_exit(0);
	}
	while (access("held", F_OK) < 0)
		usleep(1000);
	waiter = fork();
	if (!waiter) {
		if (!freopen("said", "w", stderr))
			_exit(99);
		status = klock_device("w", false, true) < 0;
		fflush(stderr);
		_exit(status);
	}
	CHECK(waitpid(waiter, &status, 0) == waiter && status == 0);
	waitpid(holder, &status, 0);
	said = kread_file_or_die("said", 10000, NULL);
	who = kasprintf("process %ld (", (long)holder);
	/* A kernel that tells nothing of locks, as in some containers, is answered with a hint. */
	CHECK(strstr(said, "waiting for ./kiln-w.lock: ") &&
	    (strstr(said, who) || strstr(said, "lslocks")));
	CHECK(strchr(said, '\n') == said + strlen(said) - 1);
	free(said);
	free(who);
}

int
main(void)
{
	char dir[] = "/tmp/klock-test.XXXXXX";

	kutil_init("klock");
	if (!mkdtemp(dir) || chdir(dir))
		return 99;
	setenv("KILN_LOCK_DIR", ".", 1);
	test_kinds();
	test_strange();
	test_waiting();
	return system("rm -rf \"$PWD\"") || tap_done();
}
