/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the project: its build, its run. They are the user's own and trusted, but they may
 * hang, print without end, or outlive a killed kadopt: a mark in their environment identifies them
 * later. See kadopt.h.
 */
#include <sys/prctl.h>

#include "adopt.h"

enum { WORDS = 32, TAIL = 4000, ENVIRON_MAX = 1 << 20, OUTPUT_MAX = 256 << 20 };

void
command_quote(struct kbuf *b, const char *text)
{
	kbuf_puts(b, "'");
	for (const char *p = text; *p; p++)
		if (*p == '\'')
			kbuf_puts(b, "'\\''");
		else
			kbuf_add(b, p, 1);
	kbuf_puts(b, "'");
}

/* Writes the command to a script, so that no launcher splits it. */
static char *
write_script(const char *folder, const char *command, const json_t *env, const char *name)
{
	char *path = adopt_path("log/%s.sh", name);
	auto_buf struct kbuf b = { 0 };

	kbuf_puts(&b, "cd ");
	command_quote(&b, folder);
	kbuf_puts(&b, " || exit 127\nexport KILN_ADOPT=");
	command_quote(&b, adoption.dir);
	kbuf_puts(&b, "\n");
	kjson_foreach_member(variable, value, env) {
		kbuf_printf(&b, "export %s=", variable);
		command_quote(&b, json_string_value(value));
		kbuf_puts(&b, "\n");
	}
	kbuf_printf(&b, "%s\n", command);
	write_text(path, b.data);
	return path;
}

/*
 * Puts the launcher's words into WORDS (at most 32); returns their number. The caller frees *COPY,
 * to which they point, after use.
 */
static size_t
launcher_words(const char **words, char **copy)
{
	size_t n = 0;

	*copy = kstrdup(adoption.launcher ?: "");
	kpart_foreach(w, *copy, " ")
		if (n < WORDS)
			words[n++] = w;
	return n;
}

/*
 * The sandbox profile for applications, used with --sandbox: no network, its own processes, and
 * write access only to the project, the campaign and a temporary folder. It is for a trusted
 * program that contains an untrusted part.
 */
static size_t
sandbox_words(const char **words, const char *tmp)
{
	const char *const all[] = { "bwrap", "--die-with-parent", "--new-session", "--unshare-net",
		"--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/", "--dev-bind", "/dev",
		"/dev", "--proc", "/proc", "--bind", adoption.project, adoption.project, "--bind",
		adoption.dir, adoption.dir, "--setenv", "TMPDIR", tmp };

	if (!kjson_bool(adoption.json, "sandbox"))
		return 0;
	if (adoption.launcher)
		kdie_usage("%s/adopt.json: sandbox and launcher cannot be used together: a sandbox "
		           "on "
		           "this machine does not contain what the launcher starts",
		    adoption.dir);
	kmake_folder(tmp);
	memcpy(words, all, sizeof all);
	return LEN(all);
}

/* The last lines of a log, for messages; NULL: it has none. */
static char *
tail_of(const char *log)
{
	size_t len = 0;
	auto_free char *text = file_text(log, &len);
	const char *from = text;

	if (len > TAIL) {
		from = text + len - TAIL;
		from += strcspn(from, "\n");
	}
	return from && *from ? kstrdup(from) : NULL;
}

/* What a command that prints nothing wrote into the file to which it redirects its output. */
static char *
tail_elsewhere(const char *folder, const char *command)
{
	auto_free char *name = kregex_part(">\\s*([\\w.][\\w./-]*)", command),
	               *path = name ? kasprintf("%s/%s", folder, name) : NULL,
	               *tail = path ? tail_of(path) : NULL;

	return tail ? kasprintf("it wrote to %s:\n%s", name, tail) : kstrdup("it printed nothing");
}

/* Explains in words how it ended. */
static void
explain(const char *folder, const char *command, struct command_result *r)
{
	/* A status above those of signals is the command's own. */
	bool killed = r->status > 128 && r->status <= 128 + SIGRTMAX;
	auto_free char *how = r->status == -1
	    ? kasprintf(
	          "did not end within %.0f s (give it more with --timeout)", adoption.timeout_s)
	    : kasprintf(killed ? "was killed by signal %d" : "exited with status %d",
	          r->status - (killed ? 128 : 0));

	r->why = kasprintf("'%s' %s in %s (log: %s)", command, how, folder, r->log);
	r->said = tail_of(r->log) ?: tail_elsewhere(folder, command);
}

/* Does the process carry our mark? */
static bool
is_marked(const char *pid, const char *mark)
{
	char path[300];
	size_t len = 0, n = strlen(mark);
	auto_free char *text = NULL;
	bool found = false;

	snprintf(path, sizeof path, "/proc/%s/environ", pid);
	text = kread_file(path, ENVIRON_MAX, &len);
	for (size_t i = 0; text && i + n < len && !found; i += strlen(text + i) + 1)
		found = !strcmp(text + i, mark);
	return found;
}

/*
 * Ends processes with the mark, and those that they start meanwhile; returns their number. On a
 * busy machine, one may need more than a round to end.
 */
static size_t
end_marked(const char *mark)
{
	json_auto_t *ended = json_object();
	size_t found = 1;

	/* If one starts another process just before it dies, the next round finds that. */
	for (int round = 0; round < 50 && found; round++) {
		DIR *d = kopen_folder("/proc");
		const struct dirent *e;

		found = 0;
		while ((e = knext_entry(d, "/proc"))) {
			pid_t pid = (pid_t)atol(e->d_name);

			if (pid > 1 && pid != getpid() && is_marked(e->d_name, mark) &&
			    kill(pid, SIGKILL) == 0) {
				kjson_enter(ended, e->d_name);
				found++;
			}
		}
		if (found)
			usleep(20000);
	}
	return json_object_size(ended);
}

/* Wait until the other end of the pipe is closed, then end what is left. */
static _Noreturn void
outlive(int end, const char *mark)
{
	char byte;

	/* Unaffected by signals to the process group; keeps no descriptors open. */
	setsid();
	dup2(end, STDIN_FILENO);
	closefrom(STDIN_FILENO + 1);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	end_marked(mark);
	_exit(0);
}

/*
 * However kadopt ends, its commands must end, with everything that they started: a separate
 * process, not a child of this one, ensures that. MARK identifies them.
 */
static void
guard(const char *mark)
{
	static bool guarded;
	int ends[2];
	pid_t pid;

	if (guarded || pipe2(ends, O_CLOEXEC) < 0)
		return;
	guarded = true;
	/* Otherwise it would be re-parented to us as an unknown child. */
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (!fork())
			outlive(ends[0], mark);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(ends[0]);
}

/* In the child; MARKS: the variables by which its processes are found. */
static int
set_environment(void *marks)
{
	char **variables = marks;

	/* It builds and runs code that a model wrote. */
	kutil_drop_secrets();
	return putenv(variables[0]) || putenv(variables[1]);
}

static struct command_result
run(const char *folder, const char *command, const json_t *env, const char *name, bool boxed)
{
	char *log = adopt_path("log/%s.log", name);
	const char *argv[WORDS + 8] = { "sh", "-c", "log=$1; shift; exec \"$@\" >\"$log\" 2>&1",
		"sh", log };
	auto_free char *mark = kasprintf("KILN_ADOPT=%s", adoption.dir),
	               *ours = kasprintf("KILN_ADOPT_PID=%ld", (long)getpid()), *copy = NULL;
	char *marks[] = { mark, ours };
	size_t n = 5;
	struct kproc p = { .argv = (char *const *)argv,
		.timeout_s = adoption.timeout_s,
		.setup = set_environment,
		.setup_arg = marks };
	auto_run struct kproc_result result = { 0 };
	struct command_result r;

	guard(ours);
	n += boxed ? sandbox_words(argv + n, adopt_path("tmp")) : 0;
	n += launcher_words(argv + n, &copy);
	argv[n++] = "sh";
	argv[n] = write_script(folder, command, env, name);
	kproc_must(&p, &result);
	r = (struct command_result){ .log = log,
		.status = result.timed_out ? -1
		    : result.signal        ? 128 + result.signal
		                           : result.exit_code,
		.wall_s = result.wall_s };
	if (r.status)
		explain(folder, command, &r);
	return r;
}

struct command_result
command_run(const char *folder, const char *command, const json_t *env, const char *name)
{
	return run(folder, command, env, name, true);
}

struct command_result
command_own(const char *folder, const char *command, const char *name)
{
	/* We parse the compilers' messages. */
	json_auto_t *env = json_pack("{s:s}", "LC_ALL", "C");

	return run(folder, command, env, name, false);
}

char *
program_output_of(const char *const *argv, const char *in, int failure)
{
	struct kproc p = { .argv = (char *const *)argv,
		.in = in,
		.in_len = in ? strlen(in) : 0,
		.max_output = OUTPUT_MAX };
	auto_run struct kproc_result r = { 0 };

	kproc_must(&p, &r);
	if (failure < 0 || (failure && r.exit_code))
		kpass(r.err, r.err_len);
	if (r.exit_code && failure)
		kdie(failure > 0          ? failure
		        : r.exit_code > 0 ? r.exit_code
		                          : K_IO,
		    "%s failed", argv[0]);
	return kstrdup(r.out);
}

void
command_free(struct command_result *r)
{
	free(r->why);
	free(r->said);
	*r = (struct command_result){ 0 };
}

size_t
command_end_leftovers(void)
{
	auto_free char *mark = kasprintf("KILN_ADOPT=%s", adoption.dir);

	return end_marked(mark);
}
