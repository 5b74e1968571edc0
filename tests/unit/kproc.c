/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kproc: streams, limits, time-outs, descriptors, what stays and what goes. */
#include "kproc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

static struct kproc_result r;

/* Run a shell script with the rest of P as given; its result is in r. */
static int
shell(struct kproc p, const char *script)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)script, NULL };

	kproc_result_free(&r);
	p.argv = argv;
	return kproc_run(&p, &r);
}

static void
test_streams(void)
{
	size_t len = (size_t)1 << 20;
	char *big = kmalloc(len);

	memset(big, 'x', len);
	CHECK(shell((struct kproc){ 0 }, "echo out; echo err >&2; exit 3") == 0);
	CHECK_STR(r.out, "out\n");
	CHECK_STR(r.err, "err\n");
	CHECK(r.exit_code == 3 && !r.signal && !r.timed_out && !r.flooded);
	CHECK(
	    shell((struct kproc){ .in = big, .in_len = len, .max_output = 2 * len }, "cat") == 0 &&
	    r.out_len == len);
	CHECK(shell((struct kproc){ .in = big, .in_len = len }, "exec <&-; exit 4") == 0 &&
	    r.exit_code == 4);
	CHECK(shell((struct kproc){ 0 }, "cat") == 0 && r.out_len == 0 && r.exit_code == 0);
	CHECK(signal(SIGPIPE, SIG_IGN) == SIG_IGN);
	CHECK(shell((struct kproc){ .max_output = 1000, .timeout_s = 10 }, "yes") == 0);
	CHECK(r.flooded && r.out_len == 1000);
	CHECK(shell((struct kproc){ .timeout_s = 10 }, "exec >&- 2>&-; exit 6") == 0 &&
	    r.exit_code == 6);
	CHECK(shell((struct kproc){ .cwd = "/usr" }, "pwd") == 0 && !strcmp(r.out, "/usr\n"));
	CHECK(shell((struct kproc){ .envp = (char *[]){ (char[]){ "A=1" }, NULL } },
	          "echo $A$HOME") == 0);
	CHECK_STR(r.out, "1\n");
	free(big);
}

static int
refuse(void *arg)
{
	return arg != NULL;
}

static void
test_failures(void)
{
	char *missing[] = { (char[]){ "/no/such/program" }, NULL };
	int some = 0;
	struct kproc p = { .argv = missing };

	kproc_result_free(&r);
	CHECK(kproc_run(&p, &r) == -1 && errno == ENOENT);
	CHECK(shell((struct kproc){ .cwd = "/no/such/folder" }, "true") == -1 && errno == ENOENT);
	CHECK(shell((struct kproc){ .setup = refuse, .setup_arg = &some }, "true") == 0 &&
	    r.exit_code == 126);
	CHECK(shell((struct kproc){ .setup = refuse }, "true") == 0 && r.exit_code == 0);
	CHECK(shell((struct kproc){ 0 }, "kill -TERM $$") == 0 && r.signal == SIGTERM &&
	    r.exit_code == -1);
}

static void
test_limits(void)
{
	struct kproc p;

	CHECK(shell((struct kproc){ .timeout_s = 0.1 }, "sleep 20") == 0);
	CHECK(r.timed_out && r.signal == SIGKILL && r.wall_s < 1);
	CHECK(shell((struct kproc){ .timeout_s = 0.1 }, "trap '' TERM; kill -STOP $$") == 0 &&
	    r.timed_out);
	CHECK(shell((struct kproc){ .timeout_s = 60, .cpu_s = 1 }, "while :; do :; done") == 0);
	CHECK(r.signal == SIGKILL && !r.timed_out);
	p = (struct kproc){ .open_files = 64, .memory_bytes = 1 << 30 };
	CHECK(shell(p, "ulimit -v; ulimit -c") == 0);
	CHECK_STR(r.out, "1048576\n0\n");
	p = (struct kproc){ .file_bytes = 4096 };
	CHECK(shell(p, "f=/tmp/kproc-test.$$; head -c 9999 /dev/zero >$f; s=$?; rm $f; exit $s") ==
	        0 &&
	    r.exit_code > 128);
}

static void
test_descriptors(void)
{
	int a = open("/dev/null", O_RDONLY | O_CLOEXEC), b = open("/dev/null", O_RDONLY);
	struct kproc p;

	CHECK(shell((struct kproc){ 0 }, "ls /proc/self/fd | wc -l") == 0 && atoi(r.out) == 4);
	p = (struct kproc){ .keep_fds = (int[]){ b, a }, .keep_count = 2 };
	CHECK(shell(p, "ls /proc/self/fd | wc -l") == 0 && atoi(r.out) == 6);
	close(a);
	close(b);
}

static bool
alive(long pid)
{
	return pid > 0 && kill((pid_t)pid, 0) == 0;
}

static void
test_leftovers(void)
{
	struct kproc p = { .timeout_s = 0.3 };
	double start = (double)know_ns();

	CHECK(shell((struct kproc){ .timeout_s = 10 }, "setsid sleep 20 & echo $!; exit 0") == 0);
	CHECK(!alive(atol(r.out)));
	CHECK(((double)know_ns() - start) * 1e-9 < 2);
	CHECK(shell(p, "(setsid sh -c 'trap \"\" HUP TERM; echo $$; sleep 20' &); sleep 20") == 0);
	CHECK(r.timed_out && !alive(atol(r.out)));
}

static void
test_spawn(void)
{
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "20" }, NULL };
	char *missing[] = { (char[]){ "/no/such/program" }, NULL };
	struct kproc p = { .argv = argv }, none = { .argv = missing };
	pid_t one = kproc_spawn(&p, (int[3]){ -1, -1, -1 }),
	      two = kproc_spawn(&p, (int[3]){ -1, -1, -1 });
	int status;

	CHECK(one > 0 && two > 0);
	CHECK(kproc_spawn(&none, (int[3]){ -1, -1, -1 }) == -1 && errno == ENOENT);
	CHECK(shell((struct kproc){ 0 }, "true") == 0 && alive(one) && alive(two));
	status = kproc_kill(one);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(!alive(one) && alive(two));
	CHECK(kproc_kill(one) == -1);
	CHECK(kproc_kill(1) == -1);
	kproc_reap_all();
	CHECK(!alive(two));
}

int
main(void)
{
	kutil_init("kproc");
	test_streams();
	test_failures();
	test_limits();
	test_descriptors();
	test_leftovers();
	test_spawn();
	kproc_result_free(&r);
	return tap_done();
}
