/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the sandbox's parts: work folders, the user, filters, levels. What it holds back is
 * tested in tests/ksandbox.t.
 */
#include "ksandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "kfilter.h"
#include "klandlock.h"
#include "kuser.h"
#include "kutil.h"
#include "tap.h"

static char work[4096];

static char *
in_work(const char *name)
{
	static char path[4200];

	snprintf(path, sizeof path, "%s/%s", work, name);
	return path;
}

static bool
holds(const char *name, const char *want)
{
	char text[64] = "";
	int fd = ksandbox_open(work, name);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	return n >= 0 && !strcmp(text, want);
}

static void
test_put_and_open(void)
{
	struct stat st;

	CHECK(ksandbox_put(work, "f", "one", 3, 0644) == 0 && holds("f", "one"));
	CHECK(ksandbox_put(work, "f", "two", 3, 0755) == 0 && holds("f", "two"));
	CHECK(stat(in_work("f"), &st) == 0 && (st.st_mode & 07777) == 0755);
	CHECK(ksandbox_put(work, "a/b/c", "deep", 4, 0644) == 0 && holds("a/b/c", "deep"));
	CHECK(stat(in_work("a/b"), &st) == 0 && st.st_uid == kuser_id());
	CHECK(ksandbox_put(work, "a", "x", 1, 0644) < 0);
	CHECK(ksandbox_put("/no/such/folder", "a", "x", 1, 0644) < 0);
	CHECK(ksandbox_open(work, "none") < 0 && errno == ENOENT);
	CHECK(ksandbox_open("/no/such/folder", "f") < 0);
}

static void
test_planted(void)
{
	struct stat st;

	CHECK(symlink("/etc/passwd", in_work("link")) == 0 &&
	    symlink("/etc", in_work("folder")) == 0);
	CHECK(mkfifo(in_work("pipe"), 0644) == 0);
	CHECK(ksandbox_open(work, "link") < 0 && errno == ELOOP);
	CHECK(ksandbox_open(work, "folder/passwd") < 0);
	CHECK(ksandbox_open(work, "../../etc/passwd") < 0);
	CHECK(ksandbox_open(work, "/etc/passwd") < 0);
	CHECK(ksandbox_open(work, "pipe") < 0 && errno == EINVAL);
	CHECK(ksandbox_open(work, "a") < 0 && errno == EINVAL);
	CHECK(ksandbox_put(work, "folder/planted", "x", 1, 0644) < 0);
	CHECK(ksandbox_put(work, "../planted", "x", 1, 0644) < 0);
	CHECK(ksandbox_put(work, "link", "mine", 4, 0644) == 0 && holds("link", "mine"));
	CHECK(lstat(in_work("link"), &st) == 0 && S_ISREG(st.st_mode));
}

/* Deeper than there are descriptors or path bytes, and with a folder nobody may enter. */
static void
test_remove(void)
{
	char *path = ksandbox_work_new();
	int at = open(path, O_RDONLY | O_DIRECTORY);
	struct stat st;

	for (int i = 0; i < 1200 && at >= 0; i++) {
		int next;

		mkdirat(at, "d", 0700);
		mkdirat(at, "e", 0);
		close(openat(at, "f", O_CREAT | O_WRONLY, 0));
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	CHECK(at >= 0);
	close(at);
	snprintf(work, sizeof work, "%s", path);
	ksandbox_work_free(path);
	CHECK(lstat(work, &st) < 0 && errno == ENOENT);
	ksandbox_work_free(NULL);
}

static void
test_user(void)
{
	CHECK(kuser_drops() == (geteuid() == 0));
	CHECK(kuser_id() == (geteuid() ? geteuid() : 65534));
	CHECK(kuser_reaches("/usr/bin/env"));
	CHECK(kuser_reaches("/"));
	CHECK(!kuser_reaches("/no/such/file"));
	CHECK(!kuser_reaches("/etc/shadow"));
	CHECK(kuser_tasks() < 1000000);
}

static void
test_parts(void)
{
	struct sock_fprog *launch = kfilter_new(KFILTER_LAUNCH), *seal = kfilter_new(KFILTER_SEAL);
	struct ksandbox s = { .level = KSANDBOX_BWRAP, .work = "/tmp/x" };
	char *path = ksandbox_inside(&s, "f");

	CHECK(launch && launch->len > 50);
	CHECK(seal && seal->len > 100);
	kfilter_free(launch);
	kfilter_free(seal);
	CHECK_STR(path, "/w/f");
	free(path);
	s.level = KSANDBOX_LANDLOCK;
	path = ksandbox_inside(&s, "f");
	CHECK_STR(path, "/tmp/x/f");
	free(path);
	CHECK_STR(ksandbox_name(KSANDBOX_LANDLOCK), "landlock");
	CHECK_STR(ksandbox_name(0), "unknown");
	CHECK(ksandbox_level("none") == KSANDBOX_NONE);
	CHECK_EXIT(K_USAGE, ksandbox_level("docker"));
	CHECK(klandlock_abi() >= 0);
}

/* Two at once: ending one leaves the other, and a short run in between leaves both. */
static void
test_two_at_once(void)
{
	char *sleeper[] = { (char[]){ "sleep" }, (char[]){ "20" }, NULL },
	     *quick[] = { (char[]){ "true" }, NULL };
	struct ksandbox s = {
		.level = ksandbox_level("auto"), .profile = KSANDBOX_RUN, .work = work
	};
	struct kproc p = { .argv = quick, .timeout_s = 10 };
	struct kproc_result r;
	int out[2];
	pid_t one = ksandbox_spawn(&s, sleeper, NULL, 0, &out[0]),
	      two = ksandbox_spawn(&s, sleeper, NULL, 0, &out[1]);

	CHECK(one > 0 && two > 0);
	CHECK(ksandbox_run(&s, &p, &r) == 0 && r.exit_code == 0);
	kproc_result_free(&r);
	CHECK(waitpid(one, NULL, WNOHANG) == 0 && waitpid(two, NULL, WNOHANG) == 0);
	ksandbox_kill(one);
	CHECK(waitpid(one, NULL, WNOHANG) < 0 && waitpid(two, NULL, WNOHANG) == 0);
	ksandbox_kill(two);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	close(out[0]);
	close(out[1]);
}

static void
test_refusals(void)
{
	char *quick[] = { (char[]){ "true" }, NULL };
	struct ksandbox_bind bind = { "/no/such/file", "/x" };
	struct ksandbox s = {
		.level = KSANDBOX_NONE, .binds = &bind, .bind_count = 1, .work = work
	};
	struct kproc p = { .argv = quick };
	struct kproc_result r;
	int out;

	CHECK(ksandbox_run(&s, &p, &r) < 0);
	CHECK(ksandbox_spawn(&s, quick, NULL, 0, &out) < 0);
	CHECK_EXIT(K_IO, (setenv("TMPDIR", "/proc", 1), ksandbox_work_new()));
	CHECK_EXIT(K_MISSING, (setenv("TMPDIR", "/no/such/folder", 1), ksandbox_work_new()));
}

int
main(void)
{
	char *path;

	kutil_init("ksandbox");
	if (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload"))
		return puts("1..0 # SKIP valgrind knows neither openat2 nor seccomp nor Landlock") <
		    0;
	test_remove();
	path = ksandbox_work_new();
	snprintf(work, sizeof work, "%s", path);
	test_put_and_open();
	test_planted();
	test_user();
	test_parts();
	test_two_at_once();
	test_refusals();
	ksandbox_work_free(path);
	return tap_done();
}
