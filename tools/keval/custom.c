/* SPDX-License-Identifier: Apache-2.0 */
/* Tiers that the campaign replaces by its own commands; their fields are described in keval(1). */
#include <sys/random.h>

#include "keval.h"

enum { OUTPUT_MAX = 16 << 20, FILE_MAX_BYTES = 64 << 20, COPY_LIMIT_S = 600 };

static const char so_name[] = "candidate.so";

/*
 * ---- tables that a command prints: quoting as in RFC 4180; lines end with LF or CRLF. They are
 * converted to the object that a command could have printed instead ----
 */

/* All rows, the header first, each a list of texts. Blank lines are not rows. */
static json_t *
read_rows(const char *text)
{
	/* a cell in quotes, or a plain one without blanks around it; then a comma or line's end */
	static const char form[] = "\\A[ \\t]*+(?:\"((?:[^\"]++|\"\")*+)[^,\\n]*+|"
	                           "((?:[^,\\n \\t\\r]++|[ \\t\\r]++(?![,\\n]|\\z))*+)[ "
	                           "\\t\\r]*+)(?:(,)|\\n|\\z)";
	const char *end = text + strlen(text);
	json_t *rows = json_array(), *row = NULL;

	while (row || *text) {
		struct kregex_span at[4];
		auto_free char *cell = NULL, *plain = NULL;
		bool more;

		if (!kregex_find(form, text, (size_t)(end - text), at, LEN(at)))
			kdie(K_IO, "a cell of a table is too long");
		more = at[3].from != KREGEX_UNSET;
		cell = kregex_text(text, at[1].from != KREGEX_UNSET ? at[1] : at[2]);
		plain = kregex_sub("\"\"", cell, "\"");
		if (!row && (more || *cell || at[1].from != KREGEX_UNSET))
			json_array_append_new(rows, row = json_array());
		json_array_append_new(row, kjson_string(plain));
		row = more ? row : NULL;
		text += at->to;
	}
	return rows;
}

struct csv {
	const char *tier; /* for messages */
	const json_t *columns, *header, *row;
	double unit_ms; /* of the time column */
};

/*
 * The row's cell under a header; if the command did not print that header, the campaign is at
 * fault.
 */
static const char *
cell(const struct csv *csv, const char *name)
{
	for (size_t i = 0; i < json_array_size(csv->header); i++)
		if (!strcmp(kjson_item(csv->header, i), name))
			return kjson_item(csv->row, i) ?: "";
	kdie_usage("%s: the command printed no column '%s'", csv->tier, name);
}

static double
unit_ms(const json_t *columns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	static const double ms[] = { 1e-6, 1e-3, 1, 1e3 };

	return ms[kindex_of(kjson_str_or(columns, "unit", "ms"), units, LEN(units))];
}

/* Name of the row's workload: its columns joined by 'x'; "all" when none is declared. */
static json_t *
csv_workload(const struct csv *csv)
{
	const json_t *names = json_object_get(csv->columns, "workload");
	auto_buf struct kbuf b = { 0 };

	if (json_is_string(names))
		kbuf_puts(&b, cell(csv, json_string_value(names)));
	kjson_foreach_text(name, names)
		kbuf_printf(&b, "%s%s", b.data ? "x" : "", cell(csv, name ?: ""));
	return kjson_string(b.data ?: "all");
}

/* Puts the number under a header (NULL: none), times SCALE, into the row's object. */
static void
put_number(const struct csv *csv, const char *header, double scale, json_t *to, const char *key)
{
	const char *text = header ? cell(csv, header) : "";
	char *end;
	double value = strtod(text, &end);

	if (end > text && !*end)
		json_object_set_new(to, key, json_real(scale * value));
}

/* The row's verdict, a word in COLUMN. */
static bool
csv_ok(const struct csv *csv, const char *column)
{
	const char *text = cell(csv, column);
	bool yes = kregex_is("(?i)\\A(?:pass(?:ed)?|ok|true|yes|1|correct)\\z", text);

	if (!yes && !kregex_is("(?i)\\A(?:|fail(?:ed)?|error|false|no|0|wrong)\\z", text))
		kdie_usage("%s: column '%s': '%s' must be pass or fail", csv->tier, column, text);
	return yes;
}

/* A row in the form that a time or a case has in an object. */
static json_t *
object_of_row(const struct csv *csv, bool timed, const char *metric)
{
	static const char *const errors[] = { "max_abs_err", "max_rel_err" };
	const char *ok = kjson_maybe(csv->columns, "ok");
	json_t *o = json_pack("{s:o}", "workload", csv_workload(csv));

	if (ok)
		json_object_set_new(o, "ok", json_boolean(csv_ok(csv, ok)));
	kforeach_of(error, errors, timed ? 0 : LEN(errors))
		put_number(csv, kjson_maybe(csv->columns, *error), 1, o, *error);
	if (metric)
		put_number(csv, metric, 1, o, "value");
	else if (timed)
		put_number(csv, kjson_maybe(csv->columns, "time"), csv->unit_ms, o, "runtime_ms");
	return o;
}

/* TEXT as an object; NEEDED is the column that must be declared and present. */
static json_t *
object_of_csv(const char *name, const json_t *tier, const char *text, const char *needed)
{
	struct csv csv = { .tier = name, .columns = json_object_get(tier, "columns") };
	const char *metric = kjson_maybe(tier, "metric"),
	           *column = metric ?: kjson_maybe(csv.columns, needed);
	json_auto_t *rows = read_rows(text);
	json_t *list = json_array(), *answer;
	bool good = true;

	if (!column)
		kdie_usage("%s: columns.%s: must be the name of a column", name, needed);
	csv.unit_ms = unit_ms(csv.columns);
	csv.header = json_array_get(rows, 0);
	cell(&csv, column);
	for (size_t i = 1; i < json_array_size(rows); i++) {
		json_t *o;

		csv.row = json_array_get(rows, i);
		o = object_of_row(&csv, !strcmp(needed, "time"), metric);
		good &= kjson_bool_or(o, "ok", true);
		json_array_append_new(list, o);
	}
	answer = json_pack("{s:o,s:O}", "cases", list, "timing", list);
	if (!good)
		json_object_set_new(answer, "ok", json_false());
	return answer;
}

/* ---- running a command ---- */

struct trial
trial_of(const struct subject *s, const char *work)
{
	struct trial t = { .s = s, .work = work };
	uint64_t draw = 0;

	if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
		kdie_io("getrandom");
	snprintf(t.seed, sizeof t.seed, "%016llx", (unsigned long long)draw);
	if (keval.seed)
		snprintf(t.seed, sizeof t.seed, "%s", keval.seed);
	return t;
}

/* Path of the candidate's program: its own name, or its place in the project. */
static const char *
code_path(void)
{
	return *kcamp_str("eval.repository") ? kcamp_str("git.kernel_path") : source_name();
}

/*
 * A copy of the project in which the candidate replaces its kernel. It is made in the sandbox,
 * because programs that ran there before may have left links.
 */
static void
stage_repository(const struct trial *t)
{
	const char *kernel = code_path();
	const char *path = kcamp_path(kcamp_str("eval.repository"));
	auto_free char *from = realpath(path, NULL);
	auto_free char *out = NULL;
	char *why;
	struct ksandbox_bind bind = { from, "/kiln/project" };
	struct words w = { .count = 0 };

	if (!kextract_path_ok(kernel))
		kdie_usage("%s: eval.repository needs git.kernel_path, "
		           "the path of the kernel's file in the repository",
		    kcamp.file);
	if (!from)
		kdie_errno(K_USAGE, "%s: eval.repository: %s", kcamp.file, path);
	words_add(&w, "cp", "-aT", "--remove-destination", bind.inside, ".");
	out = tool_run(t->work, &bind, 1, &w, COPY_LIMIT_S, &why);
	if (!out)
		kdie(K_IO, "%s: could not be copied: %s", path, why);
	work_put(t->work, kernel, t->s->code, strlen(t->s->code));
}

/* Copies our file at PATH to NAME in the work folder. */
static void
stage_file(const struct trial *t, const char *path, const char *name)
{
	size_t len;
	auto_free char *text = input_read(path, FILE_MAX_BYTES, &len);

	work_put(t->work, name, text, len);
}

/*
 * Done again for every tier, because an earlier tier ran the candidate, which may have changed its
 * folder.
 */
static void
stage(const struct trial *t, const json_t *tier)
{
	if (*kcamp_str("eval.repository"))
		stage_repository(t);
	else
		work_put_sources(t->s, t->work);
	stage_file(t, keval.task_file, "task.json");
	kjson_foreach_text(file, tier, "files") {
		const char *name = file ?: "";

		if (!kextract_path_ok(name))
			kdie_usage("%s: files: '%s' must be a relative path in the campaign's "
			           "folder",
			    kcamp.file, name);
		stage_file(t, kcamp_path(name), name);
	}
	if (t->b.so)
		work_put(t->work, so_name, t->b.so, t->b.so_len);
}

/* env with KILN_* variables for the command. */
static void
add_variables(struct words *w, const struct trial *t, const struct ksandbox *s)
{
	const struct {
		const char *name, *file, *text;
	} rows[] = {
		{ "KILN_CODE", code_path(), NULL },
		{ "KILN_WORK", ".", NULL },
		{ "KILN_TASK", "task.json", NULL },
		{ "KILN_SO", so_name, NULL },
		{ "KILN_SET", NULL, keval.set },
		{ "KILN_SEED", NULL, t->seed },
	};

	words_add(w, "env");
	kforeach(row, rows) {
		auto_free char *path = !row->file ? NULL
		    : s->level                    ? ksandbox_inside(s, row->file)
		                                  : kasprintf("%s/%s", t->work, row->file);

		words_add(w, kshown("%s=%s", row->name, path ?: row->text));
	}
}

/*
 * Run a tier's command. Exit status 75 means trouble with the environment, not with the candidate.
 */
static void
run(const struct trial *t, const char *name, bool exclusive, struct kproc_result *r)
{
	const json_t *tier = kcamp_json(name);
	bool sandboxed = kjson_bool_or(tier, "sandbox", true);
	struct words w = { .count = 0 };
	struct ksandbox s = { .level = sandboxed ? sandbox_level() : 0,
		.profile = KSANDBOX_BUILD,
		.work = t->work,
		.memory_bytes = (uint64_t)kcamp_int("eval.memory_mb") << 20 };
	struct kproc p = { .argv = w.at, .cwd = t->work, .max_output = OUTPUT_MAX };
	int lock, e;

	p.timeout_s = kjson_num_or(tier, "timeout_s",
	    kcamp_num(!strcmp(name, "eval.build") ? "eval.build_timeout_s" : "eval.run_timeout_s"));
	add_variables(&w, t, &s);
	words_add(&w, "sh", "-c", kjson_str(tier, "command"));
	stage(t, tier);
	lock = klock_cpu(exclusive);
	e = sandboxed ? ksandbox_run(&s, &p, r) : kproc_run(&p, r);
	close(lock);
	if (e < 0)
		kdie(K_MISSING, "%s: the command did not start", name);
	if (r->exit_code == K_AGAIN)
		kdie(K_AGAIN, "%s: the command asks for another try later: %.200s", name, r->err);
}

static const char *
format_of(const char *name)
{
	return kjson_str_or(kcamp_json(name), "format", "exit");
}

/* Adds what the command printed for people. */
static void
add_log(const struct kproc_result *r, const json_t *answer)
{
	const char *said = kjson_maybe(answer, "log");
	auto_free char *text = said ? kstrdup(said) : kfence_log(r->err, r->err_len),
	               *clip = kfence_shorten(text, KLOG_MAX);

	if (*clip)
		kjson_set(eval, "log", kjson_string(clip));
}

/* The object that the command printed, or a table as that object; NEEDED: see object_of_csv. */
static json_t *
parse_answer(const char *name, const struct kproc_result *r, const char *needed)
{
	json_error_t e;
	json_t *answer;

	if (!strcmp(format_of(name), "csv"))
		return object_of_csv(name, kcamp_json(name), r->out, needed);
	answer = json_loadb(r->out, r->out_len, JSON_REJECT_DUPLICATES, &e);
	if (!json_is_object(answer))
		kdie_usage("%s: the command's output is not a JSON object%s%s", name,
		    answer ? "" : ": ", answer ? "" : e.text);
	return answer;
}

/* True when the command ended by itself; else the candidate has failed with run_error. */
static bool
ended(const struct kproc_result *r)
{
	auto_free char *end = forced_end(r, OUTPUT_MAX);

	if (end)
		eval_fail(STATUS_RUN_ERROR, *end == 'k' ? "signal" : "resource", "%s", end);
	return !end;
}

void
custom_build(struct trial *t)
{
	const char *command = kjson_str(kcamp_json("eval.build"), "command"), *said;
	struct build *b = &t->b;
	auto_run struct kproc_result r;
	json_auto_t *answer = NULL;

	run(t, "eval.build", false, &r);
	b->log = build_log(&r, OUTPUT_MAX);
	b->ok = ended_well(&r);
	if (b->ok && !strcmp(format_of("eval.build"), "json")) {
		answer = parse_answer("eval.build", &r, NULL);
		b->ok = kjson_bool_or(answer, "ok", true);
		free(b->log);
		said = kjson_str(answer, "log");
		b->log = klog_compiler(said, strlen(said));
	}
	if (b->ok)
		b->so = work_read(t->work, so_name, FILE_MAX_BYTES, &b->so_len);
	b->json = json_pack("{s:i,s:f,s:o,s:s}", "exit_code", r.exit_code, "wall_s", r.wall_s,
	    "log", kjson_string(b->log), "command", command);
}

void
custom_build_known(struct trial *t)
{
	struct build *b = &t->b;
	auto_free char *so = NULL;

	/* What the harness times was built in the same way as its opponents. */
	if (kcamp_json("eval.build") && kcamp_json("eval.timing")) {
		custom_build(t);
		return;
	}
	so = build_cached(t->s, t->s->flags, &b->log);
	b->ok = so != NULL;
	if (so)
		b->log = kstrdup("");
	b->json = json_pack("{s:o}", "log", kjson_string(b->log));
	if (so)
		b->so = kread_file_or_die(so, FILE_MAX_BYTES, &b->so_len);
}

/* Sets the verdict by how many of the cases passed: all, some or none. */
static void
set_verdict(json_t *cases, bool ok)
{
	size_t total = json_array_size(cases), passed = 0;

	kjson_foreach(one, cases)
		passed += kjson_bool(one, "ok");
	if (total)
		kjson_extend(eval, "{s:{s:I,s:I,s:O}}", "correctness", "passed", (json_int_t)passed,
		    "total", (json_int_t)total, "cases", cases);
	if (ok && passed == total)
		kjson_set(eval, "status", status_json(STATUS_CORRECT));
	else
		eval_fail(passed && passed < total ? STATUS_PARTIAL : STATUS_WRONG_VALUE, "value",
		    "the campaign's own check rejected it");
}

void
custom_correctness(const struct trial *t)
{
	const char *name = "eval.correctness";
	auto_run struct kproc_result r;
	json_auto_t *answer = NULL;
	json_t *cases = NULL;

	run(t, name, false, &r);
	kjson_put(eval, "tier", 2);
	kjson_put(eval, "seed", t->seed);
	if (!ended(&r)) {
		/* It says so. */
	} else if (!strcmp(format_of(name), "exit")) {
		set_verdict(NULL, r.exit_code == 0);
		if (r.exit_code > 1)
			kjson_set(eval, "status", status_json(STATUS_RUN_ERROR));
	} else if (r.exit_code) {
		eval_fail(STATUS_RUN_ERROR, "exit", "the campaign's own check failed");
	} else {
		answer = parse_answer(name, &r, "ok");
		cases = json_object_get(answer, "cases");
		set_verdict(cases, kjson_bool_or(answer, "ok", json_array_size(cases) > 0));
	}
	add_log(&r, answer);
}

/* Whole nanoseconds; a time that stands for a rate may need fractions. */
static json_t *
ns_json(double ns)
{
	return ns >= 1e6 || ns == floor(ns) ? json_integer(llround(ns)) : json_real(ns);
}

/* Adds the statistics to a row that has samples. */
static void
add_statistics(json_t *row)
{
	size_t n;
	auto_free double *x = kjson_numbers(json_object_get(row, "samples_ns"), &n);
	struct kstat st;

	kstat_of(x, n, &st);
	kjson_extend(row, "{s:o,s:o,s:o,s:o,s:o}", "median_ns", ns_json(st.median), "min_ns",
	    ns_json(st.min), "mean_ns", ns_json(st.mean), "sd_ns", ns_json(st.sd), "iqr_ns",
	    ns_json(st.iqr));
}

/* Adds a sample for a workload; workloads keep the order in which they first appear. */
static void
add_sample(json_t *timing, const char *workload, double ns)
{
	json_t *row = (json_t *)kgain_row(timing, workload);

	if (!row) {
		row = json_pack(
		    "{s:s,s:[],s:i}", "workload", workload, "samples_ns", "calls_per_sample", 1);
		json_array_append_new(timing, row);
	}
	json_array_append_new(json_object_get(row, "samples_ns"), ns_json(ns));
}

/* Adds what the command printed, converted to a time: see kcamp_shown. */
static void
add_value(json_t *timing, const char *workload, double value)
{
	double ns = 1e6 * kcamp_shown(value);

	if (!(value > 0 && ns > 0 && ns < 9e15))
		kdie_usage("eval.timing: workload %s: the %s must be a number above zero", workload,
		    kjson_str_or(kcamp_json("eval.timing"), "metric", "time"));
	add_sample(timing, workload, ns);
}

static json_t *
read_times(const json_t *answer)
{
	json_t *timing = json_array();
	bool own = kjson_maybe(kcamp_json("eval.timing"), "metric") != NULL;

	kjson_foreach(row, answer, "timing") {
		const json_t *samples = json_object_get(row, own ? "samples" : "samples_ns");
		const char *workload = kjson_str_or(row, "workload", "all");

		kjson_foreach(sample, samples)
			add_value(timing, workload, json_number_value(sample) * (own ? 1 : 1e-6));
		if (!samples)
			add_value(
			    timing, workload, kjson_num_or(row, own ? "value" : "runtime_ms", NAN));
	}
	if (!json_array_size(timing))
		kdie_usage("eval.timing: the command printed no times");
	return timing;
}

json_t *
custom_time(const struct trial *t)
{
	const char *name = "eval.timing";
	auto_run struct kproc_result r;
	json_auto_t *answer = NULL;
	json_t *timing = NULL;

	run(t, name, true, &r);
	if (!ended(&r)) {
		/* It says so. */
	} else if (r.exit_code) {
		eval_fail(STATUS_RUN_ERROR, "exit", "the campaign's own timing command failed");
	} else {
		answer = parse_answer(name, &r, "time");
		if (kjson_bool_or(answer, "ok", true))
			timing = read_times(answer);
		else
			eval_fail(STATUS_WRONG_VALUE, "value", "wrong in the timed run");
	}
	add_log(&r, answer);
	return timing;
}

json_t *
custom_together(const json_t *turns)
{
	const json_t *workloads = json_object_get(keval.task, "workloads");
	json_t *all = json_array();

	kjson_foreach(turn, turns)
		kjson_foreach(row, turn)
			kjson_foreach(sample, row, "samples_ns")
				add_sample(
				    all, kjson_str(row, "workload"), json_number_value(sample));
	kjson_foreach(row, all) {
		kjson_pick(row, kgain_workload(workloads, kjson_str(row, "workload")), "weight");
		add_statistics(row);
	}
	return all;
}
