/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kbench: any number of kernels of one task, checked and timed in turns, without a model, by the
 * same judge that keval uses. Prints a table for people, or records bench/1.
 */

#include "backend.h"
#include "koption.h"
#include "kregex.h"
#include "ksandbox.h"
#include "kstat.h"
#include "status.h"

static const char usage[] = "usage: kbench [OPTION...] TASK KERNEL...\n"
                            "Check kernels of one task, time them in turns, and say which is "
                            "faster. TASK is a task.json, "
                            "or a\nfolder with one. Exit status: 0 if all kernels are correct and "
                            "raced, 1 if one is not, 2 "
                            "usage,\n3 if something is missing.\n";

enum { ANSWER_MAX = 1 << 30 };

struct arguments {
	const char *backend, *set, *threads, *repeat, *output;
	json_t *eval; /* fields of the campaign's member eval */
	int format;   /* 'j', 'p', or 0: depends on the output */
	const char *task;
	char **kernels;
};

/* "eval.NAME=VALUE"; VALUE is JSON, or else a word. */
static void
set_knob(void *to, const char *option, const char *text)
{
	struct arguments *a = to;
	const char *equals = strchr(text, '=');
	auto_free char *name = NULL;
	json_t *value;

	if (!kbegins(text, "eval.") || !equals)
		kdie_usage("%s %s: must be eval.NAME=VALUE", option, text);
	name = kstrndup(text + 5, (size_t)(equals - text - 5));
	value = json_loads(equals + 1, JSON_DECODE_ANY, NULL);
	json_object_set_new(a->eval, name, value ?: json_string(equals + 1));
}

static void
parse(struct arguments *a, int argc, char **argv)
{
	const struct koption options[] = {
		{ 'b', "backend", .text = &a->backend,
		    .help = "NAME\tc, cuda, hip or opencl (default: the backend of the task)" },
		{ 's', "set", .text = &a->set,
		    .help = "SET\trace on this set of workloads (default: full)" },
		KOPTION_TEXT(
		    "threads", &a->threads, "N\tthreads that a kernel may use (default: all)"),
		KOPTION_TEXT("repeat", &a->repeat, "N\trace N times, and count the verdicts"),
		{ 'k', "knob", .call = set_knob, .to = a,
		    .help = "NAME=VALUE\tset a field of campaign.json, "
		            "such as eval.timing_s=2; repeatable" },
		KOPTION_OUTPUT(&a->output),
		KOPTION_CHOICE("json", &a->format, 'j',
		    "\tprint records, one JSON object a line (default unless stdout is a "
		    "terminal)"),
		KOPTION_CHOICE("pretty", &a->format, 'p',
		    "\tprint the table even if stdout is not a terminal"),
	};

	*a = (struct arguments){ .set = "full", .repeat = "1", .eval = json_object() };
	koption_read(options, usage, argc, argv);
	if (argc - optind < 2)
		koption_misuse(usage, "give a task and at least one kernel");
	a->task = argv[optind];
	a->kernels = argv + optind + 1;
	if (a->threads)
		kjson_put(a->eval, "threads", knum_long(a->threads, 1, 4096, "--threads"));
	knum_long(a->repeat, 1, 100000, "--repeat");
}

/* ---- the race ---- */

/* The path of task.json, absolute; the caller frees. */
static char *
task_file(const char *task)
{
	auto_free char *path = kis_folder(task) ? kasprintf("%s/task.json", task) : kstrdup(task);
	char *real = realpath(path, NULL);

	if (!real)
		kdie_errno(K_USAGE, "%s", path);
	return real;
}

/*
 * Makes a campaign for keval with only the task, its backend and the knobs. Returns its folder,
 * which is removed when the program ends.
 */
static char *
make_campaign(const struct arguments *a, const char *file)
{
	json_auto_t *task = kjson_load(file), *camp = NULL;
	const char *language = kjson_str_or(task, "language", backends[BACKEND_C].name);
	char *folder = ksandbox_work_new();
	auto_free char *text = NULL;

	camp = json_pack("{s:s,s:s,s:s,s:s,s:s,s:O}", "schema", "campaign/1", "name", "kbench",
	    "task", file, "backend", a->backend ?: backend_for(language)->name, "language",
	    language, "eval", a->eval);
	text = json_dumps(camp, JSON_INDENT(2));
	kwrite_or_die(kshown("%s/campaign.json", folder), text, strlen(text));
	return folder;
}

/* keval's records, as an array; its messages go to our stderr. */
static json_t *
race(const struct arguments *a, const char *folder)
{
	size_t kernels = 0, n = 0;
	auto_free char **argv = NULL;
	struct kproc p = { .max_output = ANSWER_MAX, .pass_err = true };
	auto_run struct kproc_result r;
	json_t *records = json_array();

	while (a->kernels[kernels])
		kernels++;
	argv = kcalloc(kernels + 9, sizeof *argv);
	argv[n++] = (char *)ktool_path("keval");
	for (const char *const *w = (const char *const[]){ "-c", folder, "-s", a->set, "--race",
	         a->repeat, "--", NULL };
	     *w; w++)
		argv[n++] = (char *)*w;
	memcpy(argv + n, a->kernels, kernels * sizeof *argv);
	p.argv = argv;
	kproc_must(&p, &r);
	if (r.signal || r.exit_code)
		kdie(r.signal ? K_IO : r.exit_code, "the race failed");
	for (char *line = r.out, *end; (end = strchr(line, '\n')); line = end + 1)
		json_array_append_new(records, json_loadb(line, (size_t)(end - line), 0, NULL));
	return records;
}

/* ---- the table ---- */

static struct kbuf lines;

#define tell(...) kbuf_printf(&lines, __VA_ARGS__)

static void
show_time(double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t u = 0;

	while (u + 1 < LEN(units) && ns < units[u].ns)
		u++;
	tell("%7.4g %-2s", ns / units[u].ns, units[u].name);
}

static int
name_width(const json_t *kernels)
{
	int width = 6;

	kjson_foreach(k, kernels) {
		int n = (int)strlen(kjson_str(k, "name"));

		width = n > width ? n : width;
	}
	return width;
}

static const json_t *
first_timing(const json_t *kernels)
{
	kjson_foreach(k, kernels)
		if (json_object_get(k, "timing"))
			return json_object_get(k, "timing");
	return NULL;
}

/* A compiler's first error. */
static void
show_error(const json_t *kernel, int width)
{
	auto_free char *line = status_at(kernel, "status") == STATUS_COMPILE_ERROR
	    ? kregex_part("(?m)^(.*error:.*)", kjson_str(kernel, "log"))
	    : NULL;

	if (line)
		tell("%*s  %s\n", width, "", line);
}

static void
show_kernel(const json_t *kernel, const json_t *columns, int width)
{
	tell("%-*s  %-12s", width, kjson_str_or(kernel, "name", "?"),
	    kjson_str_or(kernel, "status", "?"));
	kjson_foreach(c, columns) {
		const json_t *row = kjson_find(
		    json_object_get(kernel, "timing"), "workload", kjson_str(c, "workload"));

		tell("  ");
		if (row)
			show_time(kjson_num(row, "median_ns"));
		else
			tell("%10s", "-");
	}
	tell("\n");
	if (json_array_size(json_object_get(kernel, "reasons")))
		tell("%*s  %s\n", width, "",
		    kjson_str(json_array_get(json_object_get(kernel, "reasons"), 0), "detail"));
	show_error(kernel, width);
}

static void
show_pair(const json_t *pair)
{
	const char *verdict = kjson_str_or(pair, "verdict", "?"),
	           *of = kjson_str_or(pair, "of", "?"), *name = kjson_str_or(pair, "name", "?");
	double ratio = kjson_num(pair, "ratio"), low = kjson_num(pair, "low"),
	       high = kjson_num(pair, "high");

	bool slower = !strcmp(verdict, "slower"), faster = slower || !strcmp(verdict, "faster"),
	     same = !strcmp(verdict, "same");

	tell("%s%s%s%s: %.3fx (%.3f to %.3f)\n", slower ? name : of,
	    faster     ? " is faster than "
	        : same ? " and "
	               : " against ",
	    slower ? of : name,
	    faster     ? ""
	        : same ? " are equally fast"
	               : " is inconclusive",
	    slower ? 1 / ratio : ratio, slower ? 1 / high : low, slower ? 1 / low : high);
}

static void
show_record(const json_t *record)
{
	const json_t *kernels = json_object_get(record, "kernels"),
	             *columns = first_timing(kernels);
	int width = name_width(kernels);

	tell("%-*s  %-12s", width, "kernel", "status");
	kjson_foreach(v, columns)
		tell("  %10.24s", kjson_str_or(v, "workload", "?"));
	tell("\n");
	kjson_foreach(v, kernels)
		show_kernel(v, columns, width);
	tell("\n");
	kjson_foreach(v, record, "overall")
		show_pair(v);
	if (kjson_bool(record, "machine.busy"))
		tell("The machine was busy: "
		     "other programs had the processors for %.0f %% of the time.\n",
		    kjson_num(record, "machine.delay_pct"));
}

/* How often each verdict was given, over all races and pairs. */
static void
show_counts(const json_t *records)
{
	enum { VERDICTS = KSTAT_INCONCLUSIVE + 1 };
	size_t counts[VERDICTS] = { 0 };

	kjson_foreach(record, records)
		kjson_foreach(pair, record, "overall")
			for (size_t n = 0; n < VERDICTS; n++)
				counts[n] += kjson_is(pair, "verdict", kstat_verdicts[n]);
	tell("\n%zu races:", json_array_size(records));
	for (size_t n = 0; n < VERDICTS; n++)
		tell("%s %zu %s", n ? "," : "", counts[n], kstat_verdicts[n]);
	tell("\n");
}

static void
put_table(const json_t *records)
{
	show_record(json_array_get(records, json_array_size(records) - 1));
	if (json_array_size(records) > 1)
		show_counts(records);
	/* Names come from the command line, and reasons from compilers. */
	kout_line("%s", lines.data);
}

static bool
all_raced(const json_t *records)
{
	return !kany(kjson_foreach(k, json_array_get(records, 0), "kernels"),
	    status_at(k, "status") != STATUS_CORRECT);
}

int
main(int argc, char **argv)
{
	struct arguments a;
	auto_free char *file = NULL;
	char *folder;
	json_auto_t *records = NULL;
	bool table;

	kutil_init("kbench");
	parse(&a, argc, argv);
	file = task_file(a.task);
	folder = make_campaign(&a, file);
	records = race(&a, folder);
	ksandbox_work_free(folder);
	table = a.format ? a.format == 'p'
	                 : (!a.output || !strcmp(a.output, "-")) && isatty(STDOUT_FILENO);
	kout_open(a.output);
	if (table)
		put_table(records);
	else
		kjson_foreach(record, records)
			kout_json(record);
	kout_commit();
	json_decref(a.eval);
	return all_raced(records) ? K_OK : K_NO;
}
