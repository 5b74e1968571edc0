/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt preflight: checks everything that an adoption needs and that can be missing, before
 * anything is changed. The project is built and run in a copy; on the way, the compilation of its
 * file is recorded.
 */
#include <sys/statvfs.h>

#include "adopt.h"
#include "signature.h"
#include "unit.h"

enum { CONNECT_S = 15, DYING_S = 5, ROOM_COPIES = 5, SAID_MAX = 400 };

/* Findings, one per line: faults end the adoption, notes do not. */
static struct {
	struct kfaults missing, wrong, again;
} findings;

/* ---- checks without running anything ---- */

/* All reasons WHY the kernel cannot become a task's entry; PLACE: where it is. */
static void
refuse_unit(const char *place, const struct kbuf *why)
{
	auto_free char *lines =
	    kstrdup(why->len ? why->data : "the compiler does not see it (#if)");

	kpart_foreach(line, lines, "\n")
		kfault(&findings.wrong, "kernel: %s: %s: %s", place, adoption.kernel, line);
}

/*
 * How the kernel becomes a task's entry: adopt/unit.json, or the reasons why it cannot. If there
 * are none, a macro of the build may show it to the compiler.
 */
static void
check_unit(const struct signature *s, const json_t *unit, struct kbuf *why)
{
	char *path = adopt_path("unit.json");
	const json_t *launches = json_object_get(unit, "launches"),
	             *first = json_array_get(launches, 0);
	size_t n = json_array_size(launches);

	unlink(path);
	if (!unit && why->len)
		refuse_unit(kshown("%s:%d", adoption.file, s->line), why);
	if (unit)
		write_json(path, unit);
	if (unit && n)
		ksay("kernel     %s, %s:%d, launched at %zu place%s, first in %s:%zu\n",
		    adoption.kernel, adoption.file, s->line, n, n > 1 ? "s" : "",
		    kjson_str(first, "file"), first_line(first));
	else if (unit)
		ksay("function   %s, %s:%d, %zu parameter%s\n", adoption.kernel, adoption.file,
		    s->line, s->of.count, s->of.count == 1 ? "" : "s");
}

/* What is taken along from outside the project. */
static void
note_outside(void)
{
	kjson_foreach_text(name, siblings_named())
		ksay("outside    ../%s is named in the project, and is copied with it\n", name);
}

static void
check_files(void)
{
	char *path = project_path(adoption.file), *text;
	auto_free char *why = NULL;
	auto_found struct signature s = { 0 };
	auto_buf struct kbuf reasons = { 0 };
	json_auto_t *unit = NULL;
	size_t len;

	if (!kis_folder(adoption.project)) {
		kfault(&findings.wrong, "project: %s is not a folder", adoption.project);
	} else if (path_in(adoption.project, adoption.dir)) {
		kfault(&findings.wrong,
		    "the campaign's folder %s is inside the project, which is copied as a whole; "
		    "choose a folder outside (-o)",
		    adoption.dir);
	} else if (!(text = file_text(path, &len))) {
		kfault(&findings.wrong, "file: %s: %s", path, strerror(errno));
	} else {
		note_outside();
		unit = unit_named(
		    adoption.project, adoption.file, adoption.kernel, NULL, NULL, &reasons);
		why = signature_find(&s, text, len, adoption.kernel, first_line(unit));
		if (why)
			kfault(&findings.wrong, "kernel: %s/%s: %s: %s", adoption.project,
			    adoption.file, adoption.kernel, why);
		else
			check_unit(&s, unit, &reasons);
		*strrchr(path, '/') = '\0';
		if (access(path, W_OK) < 0)
			ksay("winner     %s is not writable, "
			     "so a winner cannot be put in place there\n",
			    path);
	}
	kjson_foreach_text(name, adoption.json, "context") {
		path = project_path(name);
		if (!kis_there(path))
			kfault(&findings.wrong, "context: %s: %s", path, strerror(errno));
	}
}

/* Reports uncommitted changes in the project: they are adopted too, and left unchanged. */
static void
check_versions(void)
{
	static const char script[] = "timeout 15 git --no-optional-locks -C \"$1\" status "
	                             "--porcelain "
	                             "-- . 2>/dev/null || echo none";
	auto_free char *said = script_output(NULL, 0, script, adoption.project);
	size_t lines = 0;

	for (const char *c = said; (c = strchr(c, '\n')); c++)
		lines++;
	if (!strcmp(said, "none\n"))
		ksay("versions   the project is not in a git repository\n");
	else if (!lines)
		ksay("versions   git: everything is committed\n");
	else
		ksay("versions   git: %zu file%s not committed; "
		     "kadopt leaves %s as %s; the first: %.*s\n",
		    lines, lines > 1 ? "s are" : " is", lines > 1 ? "them" : "it",
		    lines > 1 ? "they are" : "it is", (int)strcspn(said, "\n"), said);
}

static double
folder_bytes(void)
{
	auto_free char *kilobytes = program_output(NULL, 0, "du", "-sk", "--", adoption.project);

	return strtod(kilobytes, NULL) * 1024;
}

static void
check_room(void)
{
	struct statvfs v;
	double needed = folder_bytes() * ROOM_COPIES + 64e6, room;

	if (statvfs(adoption.dir, &v) < 0)
		return;
	room = (double)v.f_bavail * (double)v.f_frsize;
	if (room < needed)
		kfault(&findings.missing,
		    "%s: %.0f MB are free, but copies of the project take about %.0f MB",
		    adoption.dir, room / 1e6, needed / 1e6);
	else
		ksay("room       %.0f MB free, about %.0f MB needed\n", room / 1e6, needed / 1e6);
}

/* ---- the launcher, programs, the device ---- */

/* Runs WORDS with the launcher; their output becomes one line. False when that is impossible. */
static bool
ask(const char *const *words, struct kproc_result *r)
{
	const char *argv[64];
	char *copy;
	size_t n = launcher_words(argv, &copy);
	struct kproc p = { .argv = (char *const *)argv, .timeout_s = CONNECT_S };
	char *said;
	bool good;

	for (; *words && n < LEN(argv) - 1; words++)
		argv[n++] = *words;
	argv[n] = NULL;
	good = kproc_run(&p, r) == 0;
	free(copy);
	if (good) {
		said = kfence_line(r->out, SAID_MAX);
		free(r->out);
		r->out = said;
	}
	return good;
}

static bool
check_launcher(void)
{
	const char *words[] = { "test", "-d", adoption.project, NULL };
	auto_run struct kproc_result r = { 0 };

	if (!adoption.launcher)
		return true;
	if (!ask(words, &r)) {
		kfault(&findings.missing, "launcher: cannot start '%s': %s", adoption.launcher,
		    strerror(errno));
		return false;
	}
	if (r.timed_out)
		kfault(&findings.again, "launcher: '%s' did not answer within %d s",
		    adoption.launcher, CONNECT_S);
	else if (r.exit_code == 1)
		kfault(&findings.missing,
		    "launcher: '%s' answers, but the other machine does not have %s: both machines "
		    "need the folders of project and campaign",
		    adoption.launcher, adoption.project);
	else if (r.exit_code)
		kfault(&findings.again, "launcher: '%s' exited with status %d: %.200s",
		    adoption.launcher, r.exit_code, r.err);
	else
		ksay("launcher   '%s' answers\n", adoption.launcher);
	return !findings.again.count && !findings.missing.count;
}

char *
program_of(const char *command)
{
	for (;;) {
		size_t n;

		command += strspn(command, " \t");
		n = strcspn(command, " \t;|&<>()$`'\"");
		if (!memchr(command, '=', n))
			return kstrndup(command, n);
		command += n;
		if (!*command)
			return kstrdup("");
		command++;
	}
}

static void
check_program(const char *what, const char *name)
{
	auto_buf struct kbuf command = { 0 };
	auto_result struct command_result r = { 0 };

	if (!*name)
		return;
	kbuf_puts(&command, "command -v -- ");
	command_quote(&command, name);
	r = command_run(adoption.project, command.data, NULL, "program");
	if (r.status)
		kfault(&findings.missing, "%s: %s is not installed%s", what, name,
		    adoption.launcher ? " there" : "");
}

/*
 * Other processes on our GPU are waited for, as long as a run may take; our own leftovers were
 * ended before.
 */
static void
check_device(void)
{
	const char *ours = adoption.launcher ? NULL : getenv("CUDA_VISIBLE_DEVICES");
	const char *words[] = { "nvidia-smi", "--query-compute-apps=pid,process_name",
		"--format=csv,noheader", ours && *ours ? "-i" : NULL, ours, NULL };
	auto_run struct kproc_result r = { 0 };
	bool asked;
	double load = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!adoption.device) {
		if (!adoption.launcher && getloadavg(&load, 1) == 1 && load > 0.5 * (double)cpus)
			ksay("device     the load of this machine is %.1f on %ld CPUs: "
			     "times will be noisy\n",
			    load, cpus);
		else
			ksay("device     CPU\n");
		return;
	}
	for (int i = 0; (asked = ask(words, &r)); i++) {
		if (i >= adoption.timeout_s || r.exit_code || !*r.out)
			break;
		/* A process that was just killed may still be listed. */
		if (i == DYING_S)
			ksay("device     waiting for other processes to end: %s\n", r.out);
		kproc_result_free(&r);
		sleep(1);
	}
	if (!asked) {
		kfault(&findings.missing,
		    "device: nvidia-smi is not installed, so kadopt cannot find an NVIDIA GPU");
		return;
	}
	if (r.exit_code)
		kfault(&findings.missing, "device: nvidia-smi exited with status %d: %.200s%.200s",
		    r.exit_code, r.out, r.err);
	else if (*r.out)
		kfault(&findings.again,
		    "device: in use by other processes; try again when they have ended: %s", r.out);
	else
		ksay("device     the GPU is free\n");
}

/* ---- build and run in a copy ---- */

/* "sm_90" for the first GPU; NULL: unknown. The caller frees. */
static char *
device_architecture(void)
{
	const char *words[] = { "nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader",
		NULL };
	auto_run struct kproc_result r = { 0 };
	int major, minor;

	return ask(words, &r) && !r.exit_code && sscanf(r.out, "%d.%d", &major, &minor) == 2
	    ? kasprintf("sm_%d%d", major, minor)
	    : NULL;
}

/* How the file is compiled, from the shims' records; a guess when they were not called. */
static void
note_compiler(const char *copy)
{
	bool cuda = adoption.device, astray;
	const char *guess = cuda ? "nvcc" : adoption.cxx ? "g++" : "gcc";
	char *path = adopt_path("compile.json"),
	     *architecture = cuda ? device_architecture() : NULL;
	json_auto_t *found = compile_seen(copy, &astray);

	if (astray && !found)
		kfault(&findings.wrong,
		    "build: '%s' in a copy of the project compiles the original %s/%s, because a "
		    "build folder or makefile contains the project's path; let the build command "
		    "configure again, or clean the project",
		    adoption.build, adoption.project, adoption.file);
	if (!found) {
		found = json_pack("{s:s,s:[s,s],s:[],s:b}", "compiler", guess, "flags", "-O2",
		    cuda || adoption.cxx ? "-std=c++17" : "-std=gnu11", "include", "guessed", 1);
		ksay("compiler   not seen (does the build call it by an absolute path?); "
		     "using %s -O2; see %s\n",
		    guess, path);
	}
	compile_settle(found, architecture);
	if (!kjson_bool(found, "guessed")) {
		struct kbuf b = { 0 };

		kjson_foreach_text(flag, found, "flags")
			kbuf_printf(&b, " %s", flag);
		ksay("compiler   %s%s\n", kjson_str(found, "compiler"), b.data ?: "");
		kbuf_free(&b);
	}
	write_json(path, found);
	free(architecture);
}

/* The build's options may give macros, types and sizes of arrays, other values. */
static void
note_unit(void)
{
	char *path = adopt_path("unit.json");
	auto_buf struct kbuf why = { 0 };
	json_auto_t *built = compile_settings(), *was = kjson_if_there(path),
	            *unit = unit_named(
	                adoption.project, adoption.file, adoption.kernel, built, NULL, &why);

	if (unit)
		write_json(path, unit);
	else if (was)
		unit = json_incref(was);
	else
		refuse_unit(adoption.file, &why);
	if (*kjson_str(unit, "text"))
		ksay("entry      %s, which calls it:\n%s\n", kjson_str(unit, "entry"),
		    kjson_str(unit, "text"));
}

static bool
build_copy(const char *copy)
{
	char *shims = adopt_path("shims"),
	     *env[] = { kasprintf("PATH=%s:%s", shims, getenv("PATH")),
		     kstrdup("CMAKE_EXPORT_COMPILE_COMMANDS=ON"), NULL };
	char *path = path_join(copy, adoption.file);
	auto_result struct command_result r = { 0 };

	copy_project(copy);
	compile_shims();
	/* An up-to-date file would not be compiled, and then not seen. */
	utimensat(AT_FDCWD, path, NULL, 0);
	r = command_run(copy, adoption.build, env, "build-copy");
	if (r.status) {
		kfault(
		    &findings.wrong, "build: it does not build a copy of the project: %s", r.why);
		kwarn("%s", r.said);
	} else {
		ksay("build      '%s': %.1f s\n", adoption.build, r.wall_s);
	}
	free(env[0]);
	free(env[1]);
	return !findings.wrong.count;
}

/* A file that was in the project before is not an output of the run. */
static void
check_written(const char *copy, const json_t *before)
{
	const char *name = outputs_untouched(copy, before);

	if (name)
		kfault(&findings.wrong, "outputs: %s: the run did not write it: it existed before",
		    name);
}

/* Keep the outputs of the run, and check that a second run writes the same. */
static void
check_outputs(const char *copy, bool second)
{
	json_t *outputs = json_object_get(adoption.json, "outputs");

	kjson_foreach(o, outputs) {
		const char *name = kjson_str(o, "file");
		size_t len;
		auto_free char *text = file_text(path_join(copy, name), &len),
		               *why = text && second ? outputs_differ(o, copy) : NULL;

		if (!text)
			kfault(&findings.wrong, "outputs: %s: the run did not write it", name);
		else if (!second)
			write_bytes(adopt_path("outputs/%s", name), text, len);
		else if (why)
			kfault(&findings.wrong,
			    "outputs: %s: two runs of the unchanged program differ: %s; give a "
			    "tolerance (--compare float:RTOL), or name other files",
			    name, why);
	}
}

static void
run_copy(const char *copy)
{
	size_t count = json_array_size(json_object_get(adoption.json, "outputs"));
	for (int i = 0; i < 2 && !findings.wrong.count; i++) {
		auto_result struct command_result r = { 0 };
		json_auto_t *before = outputs_stamps(copy);

		r = command_run(copy, adoption.run, NULL, "run-copy");
		if (r.status) {
			kfault(&findings.wrong, "run: %s", r.why);
			kwarn("%s", r.said);
		} else {
			check_written(copy, before);
			check_outputs(copy, i);
			if (!i)
				ksay("run        '%s': %.1f s\n", adoption.run, r.wall_s);
		}
	}
	if (!findings.wrong.count)
		ksay("outputs    %zu, the same in two runs%s\n", count,
		    count ? ""
		          : ": no output is compared, "
		            "so wrong results of the application go unnoticed");
}

static void
check_ours(void)
{
	static const char *const tools[] = { "kcampaign", "kharness", "keval", "kreport" };

	kforeach(tool, tools) {
		char *argv[] = { (char *)*tool, (char *)"--version", NULL };
		struct kproc p = { .argv = argv };
		auto_run struct kproc_result r = { 0 };

		if (kproc_run(&p, &r) < 0)
			kfault(&findings.missing, "%s: is not on the PATH", *tool);
	}
}

static int
verdict(void)
{
	int code = findings.wrong.count ? K_USAGE
	    : findings.missing.count    ? K_MISSING
	    : findings.again.count      ? K_AGAIN
	                                : K_OK;
	struct kfaults *all[] = { &findings.wrong, &findings.missing, &findings.again };

	kforeach(list, all) {
		kpart_foreach(line, (*list)->text.data, "\n")
			kwarn("%s", line);
		kbuf_free(&(*list)->text);
	}
	return code;
}

int
preflight(void)
{
	size_t ended = command_end_leftovers();
	char *copy = project_copy(), *program;

	if (ended)
		ksay("leftovers  ended %zu process%s of an earlier run\n", ended,
		    ended > 1 ? "es" : "");
	check_files();
	check_ours();
	if (!findings.wrong.count) {
		check_versions();
		check_room();
		if (check_launcher()) {
			program = program_of(adoption.build);
			check_program("build", program);
			free(program);
			check_device();
		}
	}
	if (!findings.wrong.count && !findings.missing.count && !findings.again.count &&
	    build_copy(copy)) {
		note_compiler(copy);
		note_unit();
		run_copy(copy);
	}
	return verdict();
}
