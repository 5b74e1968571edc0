/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt preflight: checks everything that an adoption needs and that can be missing, before
 * anything is changed. The project is built and run in a copy; on the way, the compilation of its
 * file is recorded.
 */
#include "adopt.h"
#include "signature.h"
#include "unit.h"

/* NOT_FOUND: the shell's status if a program is missing. */
enum { CONNECT_S = 15, DYING_S = 5, SAID_MAX = 400, NOT_FOUND = 127 };

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
	}
	kjson_foreach_text(name, adoption.json, "context") {
		path = project_path(name);
		if (!kis_there(path))
			kfault(&findings.wrong, "context: %s: %s", path, strerror(errno));
	}
}

/* ---- the launcher, programs, the device ---- */

/*
 * Runs COMMAND where the application runs, which must answer soon; what it prints becomes *SAID,
 * one line, to be freed.
 */
static struct command_result
ask(const char *command, char **said)
{
	double limit_s = adoption.timeout_s;
	struct command_result r;
	auto_free char *text = NULL;

	adoption.timeout_s = CONNECT_S;
	r = command_run(adoption.dir, command, NULL, "ask");
	adoption.timeout_s = limit_s;
	text = file_text(r.log, NULL);
	*said = kfence_line(text ?: "", SAID_MAX);
	return r;
}

static bool
check_launcher(void)
{
	auto_free char *said = NULL;
	auto_buf struct kbuf command = { 0 };
	auto_result struct command_result r = { 0 };

	if (!adoption.launcher)
		return true;
	kbuf_puts(&command, "test -d ");
	command_quote(&command, adoption.project);
	r = ask(command.data, &said);
	if (r.status == -1)
		kfault(&findings.again, "launcher: '%s' did not answer within %d s",
		    adoption.launcher, CONNECT_S);
	else if (r.status == 1 || r.status == 2 || r.status == NOT_FOUND)
		kfault(&findings.missing,
		    "launcher: cannot start '%s', or the other machine does not have %s: both "
		    "machines need the folders of project and campaign: %s",
		    adoption.launcher, adoption.project, said);
	else if (r.status)
		kfault(&findings.again, "launcher: '%s' exited with status %d: %s",
		    adoption.launcher, r.status, said);
	else
		ksay("launcher   '%s' answers\n", adoption.launcher);
	return !r.status;
}

char *
program_of(const char *command)
{
	static const char first[] = "(?x) (?(DEFINE) (?<word> [^ \\t;|&<>()$`'\"=]* ))"
	                            "\\A (?: [ \\t]* (?&word) = [^ \\t;|&<>()$`'\"]*+ (?:.|\\z) )*+"
	                            "[ \\t]* ((?&word))";
	auto_free char *word = NULL;
	char *program = NULL;

	kregex_scan(first, command, &word, &program);
	return program ?: kstrdup("");
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
	static const char busy[] = "nvidia-smi --query-compute-apps=pid,process_name "
	                           "--format=csv,noheader "
	                           "${CUDA_VISIBLE_DEVICES:+-i \"$CUDA_VISIBLE_DEVICES\"}";
	auto_free char *said = NULL;
	auto_result struct command_result r = { 0 };

	if (!adoption.device)
		return;
	for (int i = 0; r = ask(busy, &said), i < adoption.timeout_s && !r.status && *said; i++) {
		/* A process that was just killed may still be listed. */
		if (i == DYING_S)
			ksay("device     waiting for other processes to end: %s\n", said);
		free(said);
		command_free(&r);
		sleep(1);
	}
	if (r.status == NOT_FOUND)
		kfault(&findings.missing,
		    "device: nvidia-smi is not installed, so kadopt cannot find an NVIDIA GPU");
	else if (r.status)
		kfault(&findings.missing, "device: nvidia-smi exited with status %d: %s", r.status,
		    said);
	else if (*said)
		kfault(&findings.again,
		    "device: in use by other processes; try again when they have ended: %s", said);
	else
		ksay("device     the GPU is free\n");
}

/* ---- build and run in a copy ---- */

/* "sm_90" for the first GPU; NULL: unknown. The caller frees. */
static char *
device_architecture(void)
{
	auto_free char *said = NULL;
	auto_result struct command_result r =
	    ask("nvidia-smi --query-gpu=compute_cap --format=csv,noheader", &said);
	int major, minor;

	return sscanf(said, "%d.%d", &major, &minor) == 2 ? kasprintf("sm_%d%d", major, minor)
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
	char *path = path_join(copy, adoption.file);
	json_auto_t *env = json_pack("{s:s}", "CMAKE_EXPORT_COMPILE_COMMANDS", "ON");
	auto_result struct command_result r = { 0 };

	kjson_put(env, "PATH", kshown("%s:%s", adopt_path("shims"), getenv("PATH")));
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
	return !findings.wrong.count;
}

/* Keep the outputs of the run, and check that a second run writes the same. */
static void
check_outputs(const char *copy, bool second)
{
	json_t *outputs = json_object_get(adoption.json, "outputs");

	kjson_foreach(o, outputs) {
		const char *name = kjson_str(o, "file");
		size_t len = 0;
		auto_free char *text = file_text(path_join(copy, name), &len),
		               *why = second ? outputs_differ(o, copy) : NULL;

		if (!len)
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

		outputs_empty(copy);
		r = command_run(copy, adoption.run, NULL, "run-copy");
		if (r.status) {
			kfault(&findings.wrong, "run: %s", r.why);
			kwarn("%s", r.said);
		} else {
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
	if (!findings.wrong.count) {
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
