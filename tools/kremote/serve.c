/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end: receives an order, writes its files to a folder of their own, runs the program
 * there, and sends back what it printed. The folder with what is built for all candidates of a
 * campaign (trials/000/build) is kept.
 */
#include "kremote.h"

#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "ksandbox.h"

#define RUN "run-"
#define BUILD "trials/000/build"
#define OUTPUT ".output"

enum { OUTPUT_MAX = 1 << 30 };

static volatile sig_atomic_t stopped_by;

static struct service {
	json_t *order;
	char *folder; /* of this run; removed at its end */
	char *build;  /* kept for the next run */
	int lock;     /* held on the folder, so that nobody removes it */
	bool answered;
	sigset_t open; /* signals that may arrive while we wait */
	char host[256];
} service; /* of this process */

static void
on_signal(int sig)
{
	stopped_by = sig;
}

static int
lock_of(const char *folder)
{
	return open(kshown("%s/.lock", folder), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/*
 * Removes folders of killed runs: nobody holds their lock. A new folder is locked before it gets a
 * name that this function looks for.
 */
static void
sweep(const char *place)
{
	DIR *d = opendir(place);

	for (struct dirent *e; d && (e = readdir(d));) {
		auto_free char *path = kasprintf("%s/%s", place, e->d_name);
		int fd = kbegins(e->d_name, RUN) ? lock_of(path) : -1;

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			ksandbox_work_free(kstrdup(path));
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

/* Where campaigns from other machines are kept; the caller frees. */
static char *
cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return kasprintf("%s/kiln/remote", cache);
	if (!home || *home != '/')
		kdie(K_MISSING,
		    "there is no folder for the run, "
		    "because neither XDG_CACHE_HOME nor HOME is set");
	return kasprintf("%s/.cache/kiln/remote", home);
}

/* A path that may be made in the folder of the run: relative, without "..". */
static bool
is_below(const char *path)
{
	return kregex_is("\\A(?:(?!\\.{1,2}(?:/|\\z))[^/]+(?:/(?!\\z)|\\z))+\\z", path);
}

/* A folder for this run in the campaign's place, which also has one that all of its runs share. */
static void
open_folder(void)
{
	const char *name = kjson_str(service.order, "place");
	auto_free char *cache = cache_folder(), *place = kasprintf("%s/%s", cache, name),
	               *path = NULL;
	mode_t old;

	if (!is_below(name) || strchr(name, '/'))
		kdie_usage("the order names no place");
	service.build = kasprintf("%s/build", place);
	old = umask(077);
	kmake_folder(service.build);
	umask(old);
	sweep(place);
	path = kasprintf("%s/new-XXXXXX", place);
	if (!mkdtemp(path) || (service.lock = lock_of(path)) < 0 ||
	    flock(service.lock, LOCK_EX) < 0)
		kdie_io("%s", path);
	service.folder = kasprintf("%s/" RUN "%s", place, strrchr(path, '-') + 1);
	if (rename(path, service.folder) < 0 || chdir(service.folder) < 0)
		kdie_io("%s", service.folder);
}

/* Checks PATH from the order. A file may not be where the shared folder is linked. */
static void
check_path(const char *path, const char *what)
{
	if (!is_below(path) || strstr(path, BUILD))
		kdie_usage("%s: no name for a %s of an order", path, what);
}

/*
 * The folders that must exist even if they have no files, and in the campaign's folder the link to
 * what all of its runs share.
 */
static void
make_folders(void)
{
	const json_t *list = json_object_get(service.order, "folders");
	const char *campaign = kjson_maybe(service.order, "campaign");
	char *link;

	kjson_foreach_text(f, list) {
		check_path(f ?: "", "folder");
		kmake_folder(f);
	}
	if (!campaign)
		return;
	link = kasprintf("%s/" BUILD, campaign);
	if (symlink(service.build, link) < 0)
		kdie_io("%s", link);
	free(link);
}

/*
 * Reads the next LEN bytes of the order; false at its end. It must not read more, because the leash
 * is in the same pipe.
 */
static bool
take(void *to, size_t len)
{
	struct pollfd p = { STDIN_FILENO, POLLIN, 0 };

	for (size_t done = 0; done < len;) {
		ssize_t n = 0;

		if (poll(&p, 1, SILENCE_MS) > 0)
			n = read(STDIN_FILENO, (char *)to + done, len - done);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0)
			done += (size_t)n;
	}
	return true;
}

static void
read_order(void)
{
	auto_buf struct kbuf line = { 0 };
	json_error_t e;
	char c;

	while (take(&c, 1) && c != '\n' && line.len < ORDER_MAX)
		kbuf_add(&line, &c, 1);
	if (!line.len || c != '\n')
		exit(K_AGAIN);
	service.order = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, &e);
	if (!service.order || strcmp(kjson_str(service.order, "schema"), REMOTE_SCHEMA))
		kdie_usage("the order is not a " REMOTE_SCHEMA " object");
}

static void
write_file(const char *path, size_t len)
{
	auto_free char *folder = kfolder_of(path);
	char chunk[65536];
	int fd;

	kmake_folder(folder);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		kdie_io("%s", path);
	while (len) {
		size_t n = len < sizeof chunk ? len : sizeof chunk;

		if (!take(chunk, n))
			exit(K_AGAIN);
		if (write(fd, chunk, n) != (ssize_t)n)
			kdie_io("%s", path);
		len -= n;
	}
	close(fd);
}

static void
read_files(void)
{
	kjson_foreach(f, service.order, "files") {
		const char *path = kjson_str(f, "path");
		long size = kjson_int_or(f, "size", -1);

		check_path(size < 0 ? "" : path, "file");
		write_file(path, (size_t)size);
	}
}

/* Our environment, and what the order adds to it. The stages end with their parents. */
static void
set_environment(void)
{
	kjson_foreach_member(name, v, service.order, "env")
		if (kbegins(name, "KILN_") && json_is_string(v))
			setenv(name, json_string_value(v), 1);
	setenv("KILN_PIPELINE", "1", 1);
	setenv("LC_ALL", "C", 1);
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 0);
}

/* Starts the program; returns its pid. */
static pid_t
start(const char *name, int out)
{
	const json_t *args = json_object_get(service.order, "args");
	const char *folder = kjson_maybe(service.order, "folder");
	auto_free char **argv = kcalloc(json_array_size(args) + 1, sizeof *argv);
	int in = kjson_bool(service.order, "stdin") ? open(STDIN_NAME, O_RDONLY | O_CLOEXEC) : -1;
	struct kproc p = { .argv = argv, .cwd = folder };
	pid_t pid;

	for (size_t i = 0; i < json_array_size(args); i++)
		argv[i] = (char *)kjson_item(args, i) ?: (char[]){ "" };
	argv[0] = (char *)ktool_path(name);
	if (!*name || strchr(name, '/') || !strchr(argv[0], '/'))
		kdie(K_MISSING, "'%s' is not one of kiln's programs on this machine", name);
	if (folder && *folder == '/' && access(folder, X_OK) < 0)
		kdie_errno(K_MISSING, "--shared: %s does not exist on this machine", folder);
	set_environment();
	pid = kproc_spawn(&p, (int[]){ in, out, STDERR_FILENO });
	if (pid < 0)
		kdie_errno(K_MISSING, "%s", argv[0]);
	if (in >= 0)
		close(in);
	return pid;
}

/* Waits until the program has ended; false when the caller disappeared first. */
static bool
watch_child(pid_t pid)
{
	struct pollfd p[] = {
		{ STDIN_FILENO, POLLIN, 0 },
		{ (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 },
	};
	const struct timespec silence = { SILENCE_MS / 1000, 0 };
	bool there = p[1].fd >= 0;
	char pulse[256];

	while (there && !(p[1].revents & POLLIN)) {
		there = ppoll(p, LEN(p), &silence, &service.open) > 0 && !stopped_by;
		if (there && !(p[1].revents & POLLIN))
			there = read(STDIN_FILENO, pulse, sizeof pulse) > 0;
	}
	close(p[1].fd);
	return there;
}

static void
say(const json_t *line)
{
	auto_free char *text = json_dumps(line, KIO_DUMP);

	if (puts(text) < 0 || fflush(stdout))
		kdie_io("<stdout>");
}

static void
answer(int status)
{
	size_t len = 0;
	auto_free char *text = status ? NULL : kread_file_or_die(OUTPUT, OUTPUT_MAX, &len);
	json_auto_t *line = json_pack("{s:i,s:I}", "status", status, "bytes", (json_int_t)len);

	say(line);
	service.answered = true;
	if ((len && fwrite(text, 1, len, stdout) != len) || fflush(stdout))
		kdie_io("<stdout>");
}

/*
 * A scheduler that takes the machine back ends all processes of a job, one after the other: the end
 * of the program may be the first that we notice.
 */
static bool
was_told_to_end(int status)
{
	const struct timespec moment = { 0, 200000000L };
	sigset_t ends;

	if (stopped_by || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM))
		return true;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	return sigtimedwait(&ends, NULL, &moment) == SIGTERM;
}

static void
work(void)
{
	const char *name;
	int out, status;
	pid_t pid;

	read_order();
	name = kjson_item(json_object_get(service.order, "args"), 0) ?: "";
	open_folder();
	read_files();
	make_folders();
	out = open(OUTPUT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (out < 0)
		kdie_io(OUTPUT);
	pid = start(name, out);
	close(out);
	if (!watch_child(pid)) {
		kproc_kill(pid);
		exit(K_AGAIN);
	}
	status = kproc_kill(pid);
	if (status && was_told_to_end(status))
		kdie(K_AGAIN, "%s was asked to stop", name);
	if (WIFSIGNALED(status))
		kwarn("%s was killed by signal %d (%s)", name, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	answer(WIFEXITED(status) ? WEXITSTATUS(status) : K_IO);
}

/*
 * Called however we end: a fault on the way is also an answer, if the caller still listens; and
 * nothing is left behind.
 */
static void
finish(int status, void *arg)
{
	(void)arg;
	if (!service.answered && status) {
		printf("{\"bytes\":0,\"status\":%d}\n", status);
		fflush(stdout);
	}
	if (service.folder && chdir("/") == 0)
		ksandbox_work_free(service.folder);
}

int
serve(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t mask;
	static char prog[300];
	json_auto_t *greeting = NULL;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&mask);
	kforeach(sig, signals)
		sigaddset(&mask, *sig);
	sigprocmask(SIG_BLOCK, &mask, &service.open);
	kcatch(on_signal);
	gethostname(service.host, sizeof service.host - 1);
	/*
	 * Messages from here are read on the caller's machine; without the host's name, a full disk
	 * would be looked for there.
	 */
	snprintf(prog, sizeof prog, "kremote: %s", service.host);
	kprog = prog;
	on_exit(finish, NULL);
	greeting = json_pack("{s:s,s:s,s:s}", "schema", REMOTE_SCHEMA, "host", service.host, "kiln",
	    kversion_string());
	say(greeting);
	work();
	return K_OK;
}
