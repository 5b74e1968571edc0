/* SPDX-License-Identifier: Apache-2.0 */
/* runs: see runs.h. */
#include "runs.h"

#include "kdiff.h"

struct run_folder run_folder;

/* "2026-01-31T12-00-00", with a number appended if there is already one from that second. */
static void
choose_name(void)
{
	auto_free char *time = kuntil(know_text(), "Z"), *now = kregex_sub(":", time, "-");

	for (int n = 1;; n++) {
		run_folder.name = n > 1 ? path_of("runs/%s/%s.%d", adoption.kernel, now, n)
		                        : path_of("runs/%s/%s", adoption.kernel, now);
		run_folder.path = campaign_path("%s", run_folder.name);
		if (!kis_there(run_folder.path))
			return;
	}
}

/*
 * $1: the campaign, $2: the run's folder, $3: the suffix of programs, $4: "prompts" to keep these.
 * For every candidate with an evaluation, trials/TTT/BB: its program, answer, log, and what it
 * changed in its parent's program; but no empty files.
 */
static const char iterations_script[] =
    "put() {\n"
    "	jq -j \"$2 // empty\" \"$to/record\" >\"$to/$1\" || exit\n"
    "	[ -s \"$to/$1\" ] || rm \"$to/$1\"\n"
    "}\n"
    "for file in \"$1\"/trials/[0-9]*/[0-9]*/eval.ndjson; do\n"
    "	[ -e \"$file\" ] || continue\n"
    "	id=${file%/eval.ndjson} id=${id#\"$1/trials/\"} name=standalone.$3\n"
    "	to=$2/iterations/${id%/*}-${id#*/}\n"
    "	mkdir -p \"$to\" && kcampaign record -c \"$1\" \"$id\" >\"$to/record\" || exit\n"
    "	put \"$name\" .eval.code\n"
    "	put response.txt .reply.text\n"
    "	put log.txt .eval.log\n"
    "	[ \"$4\" != prompts ] || put prompt_system.txt .prompt.system\n"
    "	[ \"$4\" != prompts ] || put prompt_user.txt .prompt.user\n"
    "	put parent .sample.parent.code\n"
    "	if [ -e \"$to/parent\" ] && [ -e \"$to/$name\" ] &&\n"
    "		diff -u --label \"a/$name\" --label \"b/$name\" \"$to/parent\" \"$to/$name\" \\\n"
    "			>\"$to/changes.patch\"; then\n"
    "		rm \"$to/changes.patch\"\n"
    "	fi\n"
    "	rm -f \"$to/record\" \"$to/parent\"\n"
    "done\n";

char *
run_path(const char *name)
{
	return path_of("%s/%s.%s", run_folder.path, name, adoption.suffix);
}

void
run_note(const char *fmt, ...)
{
	kformatted(text, fmt);

	kbuf_line(&run_folder.report, text);
}

void
run_diff(const char *name, const char *file, const char *was, const char *now)
{
	char *path = path_join(run_folder.path, name);
	auto_free char *before = file_text(path, NULL);
	auto_buf struct kbuf all = { 0 };

	kbuf_puts(&all, before ?: "");
	kdiff_unified(was, now, path_of("a/%s", file), path_of("b/%s", file), &all);
	if (all.len)
		write_text(path, all.data);
}

void
run_open(const char *id, const char *code, double speedup, bool prompts)
{
	choose_name();
	write_text(run_path("best"), code);
	free(script_output(NULL, -1, iterations_script, adoption.dir, run_folder.path,
	    adoption.suffix, prompts ? "prompts" : ""));
	run_note("# %s of %s\n", adoption.kernel, adoption.file);
	run_note("Winner: %s, %.2fx alone. Project: %s\n", id, speedup, adoption.project);
}

void
run_close(int code)
{
	char *path = path_of("%s/report.md", run_folder.path);

	run_note("Exit status %d.", code);
	write_text(path, run_folder.report.data);
	ksay("report     %s\n", path);
	kbuf_free(&run_folder.report);
}
