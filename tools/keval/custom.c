/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiers that the campaign replaces by commands of its own; their fields are described in keval(1).
 */
#include <math.h>
#include <ctype.h>
#include <sys/random.h>

#include "keval.h"
#include "kgain.h"
#include "klock.h"
#include "klog.h"
#include "ksandbox.h"
#include "kstat.h"

enum { OUTPUT_MAX = 16 << 20, FILE_MAX_BYTES = 64 << 20, COPY_LIMIT_S = 600 };

struct custom {
	struct keval *k;
	const struct subject *s;
	const char *work;
	char seed[17];
};

static const char so_name[] = "candidate.so";

bool
custom_has(const struct custom *c, const char *tier)
{
	return kcamp_json(c->k->camp, tier) != NULL;
}

/* What a timing command has beyond other commands: its turns, and a measure other than time. */
static void
check_measure(const struct kcamp *camp, const char *tier, const json_t *t, const char *format)
{
	static const char *const timing_only[] = { "turns", "metric", "direction" };
	const char *direction = kjson_str_or(t, "direction", NULL);
	double turns = kjson_num_or(t, "turns", CUSTOM_TURNS);
	bool timing = !strcmp(tier, "eval.timing");

	for (size_t i = 0; i < LEN(timing_only); i++)
		if (!timing && json_object_get(t, timing_only[i]))
			kdie(K_USAGE, "%s: %s.%s: only eval.timing can have this field", camp->file,
			    tier, timing_only[i]);
	if (timing && !strcmp(format, "exit"))
		kdie(K_USAGE, "%s: eval.timing.format: must be json or csv", camp->file);
	if (!(turns >= 1 && turns <= CUSTOM_TURNS_MAX && turns == floor(turns)))
		kdie(K_USAGE, "%s: %s.turns: must be a whole number from 1 to %d", camp->file, tier,
		    CUSTOM_TURNS_MAX);
	if (direction && strcmp(direction, "higher") && strcmp(direction, "lower"))
		kdie(K_USAGE, "%s: %s.direction: '%s' must be higher or lower", camp->file, tier,
		    direction);
	if (!direction != !kjson_str_or(t, "metric", NULL))
		kdie(K_USAGE,
		    "%s: %s: metric and direction go together: give the name of the measure, and "
		    "whether higher or lower is better",
		    camp->file, tier);
}

/* The members of O may only be NAMES. WITHIN: where O is in the tier, ".columns", or "". */
static void
check_names(const struct kcamp *camp, const char *tier, const char *within, const json_t *o,
    const char *names)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)o, key, v)
		if (!kis_listed(names, key, strlen(key)))
			kdie(K_USAGE, "%s: %s%s.%s: unknown %s (%s)", camp->file, tier, within, key,
			    *within ? "column" : "field", names);
}

/*
 * Every field is checked before anything runs: a misspelt one would silently change what is
 * measured.
 */
static void
check_tier(const struct kcamp *camp, const char *tier)
{
	const json_t *t = kcamp_json(camp, tier);
	const char *format = kjson_str_or(t, "format", "exit");

	if (!t)
		return;
	if (!*kjson_str_or(t, "command", ""))
		kdie(K_USAGE, "%s: %s.command: must be a shell command", camp->file, tier);
	check_names(camp, tier, "", t,
	    "command format columns sandbox files timeout_s turns metric direction");
	check_names(camp, tier, ".columns", json_object_get(t, "columns"),
	    "workload time unit ok max_abs_err max_rel_err");
	if (!kis_listed("json csv exit", format, strlen(format)))
		kdie(K_USAGE, "%s: %s.format: '%s' must be json, csv or exit", camp->file, tier,
		    format);
	check_measure(camp, tier, t, format);
}

/* ---- tables that a command prints: quoting as in RFC 4180; lines end with LF or CRLF ---- */

struct csv {
	const char *tier; /* for messages */
	const json_t *columns;
	char ***cell; /* [row][column], row 0 the header; owned */
	size_t *width;
	size_t rows;
	double unit_ns; /* of the time column */
};

/* One cell from P; *END is left at the comma, the line end or the end of the text. */
static char *
read_cell(const char *p, const char **end)
{
	struct kbuf b = { 0 };

	kbuf_add(&b, "", 0);
	p += strspn(p, " \t");
	if (*p == '"') {
		for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
			kbuf_add(&b, p, 1);
			p += *p == '"';
		}
		p += strcspn(p, ",\n");
	} else {
		size_t n = strcspn(p, ",\n"), keep = n;

		while (keep && strchr(" \t\r", p[keep - 1]))
			keep--;
		kbuf_add(&b, p, keep);
		p += n;
	}
	*end = p;
	return b.data;
}

static void
read_row(struct csv *csv, const char **p)
{
	size_t n = 0;
	char **row = NULL;

	for (;;) {
		row = krealloc(row, (n + 1) * sizeof *row);
		row[n++] = read_cell(*p, p);
		if (**p != ',')
			break;
		++*p;
	}
	csv->cell = krealloc(csv->cell, (csv->rows + 1) * sizeof *csv->cell);
	csv->width = krealloc(csv->width, (csv->rows + 1) * sizeof *csv->width);
	csv->cell[csv->rows] = row;
	csv->width[csv->rows++] = n;
}

/* Index of a header's name; a name that the command did not print is a fault of the campaign. */
static size_t
index_of(const struct csv *csv, const char *name)
{
	for (size_t i = 0; csv->rows && i < csv->width[0]; i++)
		if (!strcmp(csv->cell[0][i], name))
			return i;
	kdie(K_USAGE, "%s: the command printed no column '%s'", csv->tier, name);
}

static const char *
cell(const struct csv *csv, size_t row, const char *name)
{
	size_t i = index_of(csv, name);

	return i < csv->width[row] ? csv->cell[row][i] : "";
}

/* Is this column declared? */
static bool
csv_has(const struct csv *csv, const char *column)
{
	return json_object_get(csv->columns, column) != NULL;
}

static double
unit_of(const struct csv *csv)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 }, { "s", 1e9 } };
	const char *name = kjson_str_or(csv->columns, "unit", "ms");

	for (size_t i = 0; i < LEN(units); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	kdie(K_USAGE, "%s: columns.unit: '%s' is not ms, us, ns or s", csv->tier, name);
}

/* Parse TEXT; NEEDED is the column that must be declared and present. */
static void
csv_open(
    struct csv *csv, const char *tier, const char *text, const json_t *columns, const char *needed)
{
	*csv = (struct csv){ .tier = tier, .columns = columns };
	csv->unit_ns = unit_of(csv);
	if (!kjson_str_or(columns, needed, NULL))
		kdie(K_USAGE, "%s: columns.%s: must be the name of a column", tier, needed);
	while (*text) {
		size_t blank = strspn(text, " \t\r");

		if (text[blank] == '\n' || !text[blank])
			text += blank;
		else
			read_row(csv, &text);
		text += *text == '\n';
	}
	index_of(csv, kjson_str_or(columns, needed, ""));
}

static void
csv_close(struct csv *csv)
{
	for (size_t r = 0; r < csv->rows; r++) {
		for (size_t i = 0; i < csv->width[r]; i++)
			free(csv->cell[r][i]);
		free(csv->cell[r]);
	}
	free(csv->cell);
	free(csv->width);
	*csv = (struct csv){ 0 };
}

/*
 * Name of the row's workload: its columns joined by 'x'; "all" when none is declared. The caller
 * frees.
 */
static char *
csv_workload(const struct csv *csv, size_t row)
{
	const json_t *names = json_object_get(csv->columns, "workload");
	struct kbuf b = { 0 };

	if (json_is_string(names))
		return kstrdup(cell(csv, row, json_string_value(names)));
	for (size_t i = 0; i < json_array_size(names); i++)
		kbuf_printf(&b, "%s%s", i ? "x" : "",
		    cell(csv, row, json_string_value(json_array_get(names, i)) ?: ""));
	return b.data ? b.data : kstrdup("all");
}

/* The number in a declared column; false when there is none. */
static bool
csv_number(const struct csv *csv, size_t row, const char *column, double *value)
{
	const char *name = kjson_str_or(csv->columns, column, NULL), *text;
	char *end;

	if (!name)
		return false;
	text = cell(csv, row, name);
	*value = strtod(text, &end);
	return end > text && !*end;
}

/* The row's verdict. */
static bool
csv_ok(const struct csv *csv, size_t row)
{
	const char *column = kjson_str_or(csv->columns, "ok", "");
	char *text = kstrdup(cell(csv, row, column));
	bool yes, no;

	for (char *p = text; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	yes = kis_listed("pass passed ok true yes 1 correct", text, strlen(text));
	no = !*text || kis_listed("fail failed error false no 0 wrong", text, strlen(text));
	if (!yes && !no)
		kdie(
		    K_USAGE, "%s: column '%s': '%s' must be pass or fail", csv->tier, column, text);
	free(text);
	return yes;
}

/* ---- running a command ---- */

struct custom *
custom_open(struct keval *k, const struct subject *s, const char *work)
{
	struct custom *c = kcalloc(1, sizeof *c);
	uint64_t draw = 0;

	*c = (struct custom){ .k = k, .s = s, .work = work };
	check_tier(k->camp, "eval.build");
	check_tier(k->camp, "eval.correctness");
	check_tier(k->camp, "eval.timing");
	if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
		kdie_errno(K_IO, "getrandom");
	snprintf(c->seed, sizeof c->seed, "%016llx", (unsigned long long)draw);
	if (k->seed)
		snprintf(c->seed, sizeof c->seed, "%s", k->seed);
	return c;
}

void
custom_close(struct custom *c)
{
	free(c);
}

/* Where the candidate's program lies: by its own name, or in its place in the project. */
static const char *
code_path(const struct custom *c)
{
	return *kcamp_str(c->k->camp, "eval.repository") ? kcamp_str(c->k->camp, "git.kernel_path")
	                                                 : source_name(c->k);
}

/*
 * A copy of the project, in which the candidate takes the place of its kernel. It is made in the
 * sandbox: what ran there before may have left links in the way.
 */
static void
stage_repository(const struct custom *c)
{
	const char *folder = kcamp_str(c->k->camp, "eval.repository"), *kernel = code_path(c);
	char *path = kcamp_path(c->k->camp, folder), *from = realpath(path, NULL), cp[] = "cp",
	     all[] = "-aT", over[] = "--remove-destination", seen[] = "/kiln/project", here[] = ".",
	     *argv[] = { cp, all, over, seen, here, NULL };
	struct ksandbox_bind binds[] = { { from, seen } };
	struct ksandbox s = { .level = sandbox_level(c->k),
		.profile = KSANDBOX_BUILD,
		.work = c->work,
		.binds = binds,
		.bind_count = LEN(binds) };
	struct kproc p = { .argv = argv, .max_output = OUTPUT_MAX, .timeout_s = COPY_LIMIT_S };
	struct kproc_result r;

	if (!kextract_path_ok(kernel))
		kdie(K_USAGE,
		    "%s: eval.repository needs git.kernel_path, the path of the kernel's file in "
		    "the repository",
		    c->k->camp->file);
	if (!from)
		kdie_errno(K_USAGE, "%s: eval.repository: %s", c->k->camp->file, path);
	if (ksandbox_run(&s, &p, &r) < 0 || r.exit_code)
		kdie(K_IO, "%s: could not be copied: %.300s", path,
		    r.err ? r.err : "the sandbox did not start");
	kproc_result_free(&r);
	work_put(c->work, kernel, c->s->code, strlen(c->s->code));
	free(from);
	free(path);
}

/*
 * Laid out anew for every tier: an earlier one ran the candidate, which may have changed its
 * folder.
 */
static void
stage(const struct custom *c, const json_t *tier, const struct build *b)
{
	const json_t *files = json_object_get(tier, "files");
	size_t len;
	char *text;

	if (*kcamp_str(c->k->camp, "eval.repository"))
		stage_repository(c);
	else
		work_put_sources(c->k, c->s, c->work);
	text = input_read(c->k, c->k->task_file, FILE_MAX_BYTES, &len);
	work_put(c->work, "task.json", text, len);
	free(text);
	for (size_t i = 0; i < json_array_size(files); i++) {
		const char *name = json_string_value(json_array_get(files, i)) ?: "";
		char *path = kcamp_path(c->k->camp, name);

		if (!kextract_path_ok(name))
			kdie(K_USAGE,
			    "%s: files: '%s' must be a relative path in the campaign's folder",
			    c->k->camp->file, name);
		text = input_read(c->k, path, FILE_MAX_BYTES, &len);
		work_put(c->work, name, text, len);
		free(text);
		free(path);
	}
	if (b->so)
		work_put(c->work, so_name, b->so, b->so_len);
}

static void
push(char ***list, size_t *n, char *item)
{
	*list = krealloc(*list, (*n + 2) * sizeof **list);
	(*list)[(*n)++] = item;
	(*list)[*n] = NULL;
}

/* KILN_* for the command; outside the sandbox behind the rest of the environment. */
static char **
environment(const struct custom *c, const struct ksandbox *s, bool sandboxed)
{
	const struct {
		const char *name, *file, *text;
	} rows[] = {
		{ "KILN_CODE", code_path(c), NULL },
		{ "KILN_WORK", ".", NULL },
		{ "KILN_TASK", "task.json", NULL },
		{ "KILN_SO", so_name, NULL },
		{ "KILN_SET", NULL, c->k->set },
		{ "KILN_SEED", NULL, c->seed },
	};
	char **list = NULL;
	size_t n = 0;

	for (char **e = environ; !sandboxed && *e; e++)
		push(&list, &n, kstrdup(*e));
	for (size_t i = 0; i < LEN(rows); i++) {
		char *path = !rows[i].file ? NULL
		    : sandboxed            ? ksandbox_inside(s, rows[i].file)
		                           : kasprintf("%s/%s", c->work, rows[i].file);

		push(&list, &n, kasprintf("%s=%s", rows[i].name, path ? path : rows[i].text));
		free(path);
	}
	return list;
}

/* Run a tier's command. Exit status 75 is the environment's word, not the candidate's. */
static void
run(const struct custom *c, const char *name, const struct build *b, bool exclusive,
    struct kproc_result *r)
{
	const json_t *tier = kcamp_json(c->k->camp, name);
	bool sandboxed = kjson_bool_or(tier, "sandbox", true);
	char sh[] = "sh", opt[] = "-c",
	     *argv[] = { sh, opt, (char *)kjson_str_or(tier, "command", ""), NULL };
	struct ksandbox s = { .profile = KSANDBOX_BUILD,
		.work = c->work,
		.memory_bytes = (uint64_t)kcamp_int(c->k->camp, "eval.memory_mb") << 20 };
	struct kproc p = { .argv = argv, .cwd = c->work, .max_output = OUTPUT_MAX };
	char **env;
	int lock, e;

	p.timeout_s = kjson_num_or(tier, "timeout_s",
	    kcamp_num(c->k->camp,
	        !strcmp(name, "eval.build") ? "eval.build_timeout_s" : "eval.run_timeout_s"));
	if (sandboxed)
		s.level = sandbox_level(c->k);
	env = environment(c, &s, sandboxed);
	stage(c, tier, b);
	lock = klock_cpu(exclusive);
	if (sandboxed) {
		s.env = env;
		e = ksandbox_run(&s, &p, r);
	} else {
		p.envp = env;
		e = kproc_run(&p, r);
	}
	close(lock);
	if (e < 0)
		kdie(K_MISSING, "%s: the command did not start", name);
	if (r->exit_code == K_AGAIN)
		kdie(K_AGAIN, "%s: the command asks for another try later: %.200s", name, r->err);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

static const char *
format_of(const struct custom *c, const char *name)
{
	return kjson_str_or(kcamp_json(c->k->camp, name), "format", "exit");
}

/* What the command printed for people. */
static void
add_log(json_t *eval, const struct kproc_result *r, const json_t *answer)
{
	const char *said = kjson_str_or(answer, "log", NULL);
	char *text = said ? kstrdup(said) : klog_clean(r->err, r->err_len),
	     *clip = klog_clip(text, KLOG_MAX);

	if (*clip)
		eval_set(eval, "log", kjson_string(clip));
	free(clip);
	free(text);
}

static json_t *
parse_json(const char *name, const struct kproc_result *r)
{
	json_error_t e;
	json_t *answer = json_loadb(r->out, r->out_len, JSON_REJECT_DUPLICATES, &e);

	if (!json_is_object(answer))
		kdie(K_USAGE, "%s: the command's output is not a JSON object%s%s", name,
		    answer ? "" : ": ", answer ? "" : e.text);
	return answer;
}

/* True when the command ended by itself; else the candidate has failed with run_error. */
static bool
ended(const struct kproc_result *r, json_t *eval)
{
	char *detail = NULL;

	if (r->timed_out)
		detail = kasprintf("stopped after %.3g s", r->wall_s);
	else if (r->flooded)
		detail = kasprintf("stopped: it printed more than %d MiB", OUTPUT_MAX >> 20);
	else if (r->signal)
		detail = kasprintf("killed by signal %d (%s)", r->signal, strsignal(r->signal));
	if (detail)
		eval_fail(eval, STATUS_RUN_ERROR,
		    r->signal && !r->timed_out && !r->flooded ? "signal" : "resource", detail);
	free(detail);
	return !detail;
}

void
custom_build(struct custom *c, struct build *b)
{
	const char *command = kjson_str_or(kcamp_json(c->k->camp, "eval.build"), "command", ""),
	           *said;
	struct kproc_result r;
	json_t *answer = NULL;

	*b = (struct build){ 0 };
	run(c, "eval.build", b, false, &r);
	b->log = build_log(&r, r.wall_s);
	b->ok = r.exit_code == 0 && !r.timed_out && !r.flooded;
	if (b->ok && !strcmp(format_of(c, "eval.build"), "json")) {
		answer = parse_json("eval.build", &r);
		b->ok = kjson_bool_or(answer, "ok", true);
		free(b->log);
		said = kjson_str_or(answer, "log", "");
		b->log = klog_compiler(said, strlen(said), KLOG_MAX, KLOG_LOST);
	}
	if (b->ok)
		b->so = work_read(c->work, so_name, FILE_MAX_BYTES, &b->so_len);
	b->json = json_pack("{s:i,s:f,s:o,s:s}", "exit_code", r.exit_code, "wall_s", r.wall_s,
	    "log", kjson_string(b->log), "command", command);
	json_decref(answer);
	kproc_result_free(&r);
}

void
custom_build_known(struct custom *c, struct build *b)
{
	char *so, *log = NULL;

	if (custom_has(c, "eval.build")) {
		custom_build(c, b);
		return;
	}
	*b = (struct build){ 0 };
	so = build_cached(c->k, c->s, c->s->flags, &log);
	b->ok = so != NULL;
	b->log = so ? kstrdup("") : log;
	b->json = json_object();
	if (so)
		b->so = kread_file_or_die(so, FILE_MAX_BYTES, &b->so_len);
	free(so);
}

/* Verdict from cases; all, some or none of them passed. */
static void
set_verdict(json_t *eval, json_t *cases, bool ok)
{
	size_t total = json_array_size(cases), passed = 0;

	for (size_t i = 0; i < total; i++)
		passed += kjson_bool_or(json_array_get(cases, i), "ok", false);
	if (total)
		eval_set(eval, "correctness",
		    json_pack("{s:I,s:I,s:O}", "passed", (json_int_t)passed, "total",
		        (json_int_t)total, "cases", cases));
	if (ok && passed == total)
		eval_set(eval, "status", status_json(STATUS_CORRECT));
	else
		eval_fail(eval, passed && passed < total ? STATUS_PARTIAL : STATUS_WRONG_VALUE,
		    "value", "the campaign's own check rejected it");
}

static json_t *
cases_of_csv(const struct csv *csv)
{
	json_t *cases = json_array();

	for (size_t row = 1; row < csv->rows; row++) {
		char *name = csv_workload(csv, row);
		json_t *item = json_pack("{s:s,s:b}", "workload", name, "ok", csv_ok(csv, row));
		double v;

		if (csv_number(csv, row, "max_abs_err", &v))
			json_object_set_new(item, "max_abs_err", json_real(v));
		if (csv_number(csv, row, "max_rel_err", &v))
			json_object_set_new(item, "max_rel_err", json_real(v));
		json_array_append_new(cases, item);
		free(name);
	}
	return cases;
}

void
custom_correctness(struct custom *c, const struct build *b, json_t *eval)
{
	const char *name = "eval.correctness", *format = format_of(c, name);
	struct kproc_result r;
	json_t *answer = NULL, *cases = NULL;

	run(c, name, b, false, &r);
	eval_set(eval, "tier", json_integer(2));
	eval_set(eval, "seed", json_string(c->seed));
	if (!ended(&r, eval)) {
		add_log(eval, &r, NULL);
	} else if (!strcmp(format, "exit")) {
		set_verdict(eval, NULL, r.exit_code == 0);
		if (r.exit_code > 1)
			eval_set(eval, "status", status_json(STATUS_RUN_ERROR));
	} else if (r.exit_code) {
		eval_fail(eval, STATUS_RUN_ERROR, "exit", "the campaign's own check failed");
	} else if (!strcmp(format, "json")) {
		answer = parse_json(name, &r);
		cases = json_incref(json_object_get(answer, "cases"));
		set_verdict(eval, cases, kjson_bool_or(answer, "ok", json_array_size(cases) > 0));
	} else {
		struct csv csv;

		csv_open(&csv, name, r.out,
		    json_object_get(kcamp_json(c->k->camp, name), "columns"), "ok");
		cases = cases_of_csv(&csv);
		set_verdict(eval, cases, json_array_size(cases) > 0);
		csv_close(&csv);
	}
	add_log(eval, &r, answer);
	json_decref(cases);
	json_decref(answer);
	kproc_result_free(&r);
}

/* Whole nanoseconds; a time that stands for a rate may be shorter than those can tell. */
static json_t *
ns_json(double ns)
{
	return ns >= 1e6 || ns == floor(ns) ? json_integer(llround(ns)) : json_real(ns);
}

/* The statistics of a row that has its samples. */
static void
add_statistics(json_t *row)
{
	const json_t *samples = json_object_get(row, "samples_ns"), *s;
	size_t n = json_array_size(samples), i;
	double *x = kcalloc(n, sizeof *x);
	struct kstat st;

	json_array_foreach(samples, i, s)
		x[i] = json_number_value(s);
	kstat_of(x, n, &st);
	eval_set(row, "median_ns", ns_json(st.median));
	eval_set(row, "min_ns", ns_json(st.min));
	eval_set(row, "mean_ns", ns_json(st.mean));
	eval_set(row, "sd_ns", ns_json(st.sd));
	eval_set(row, "iqr_ns", ns_json(st.iqr));
	free(x);
}

/* A sample for a workload, in the order in which workloads first appear. */
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

/* What the command printed, as a time: see kcamp_measure. */
static void
add_value(const struct custom *c, json_t *timing, const char *workload, double value)
{
	double ns = 1e6 * kcamp_measured(c->k->camp, value);

	if (!(value > 0 && ns > 0 && ns < 9e15))
		kdie(K_USAGE, "eval.timing: workload %s: the %s must be a number above zero",
		    workload,
		    kjson_str_or(kcamp_json(c->k->camp, "eval.timing"), "metric", "time"));
	add_sample(timing, workload, ns);
}

static void
timing_of_json(const struct custom *c, json_t *timing, const json_t *answer)
{
	const json_t *row;
	size_t i;
	bool own = kjson_str_or(kcamp_json(c->k->camp, "eval.timing"), "metric", NULL) != NULL;
	const json_t *rows = json_object_get(answer, "timing");

	json_array_foreach(rows, i, row) {
		const json_t *samples = json_object_get(row, own ? "samples" : "samples_ns");
		const char *workload = kjson_str_or(row, "workload", "all");

		for (size_t s = 0; s < json_array_size(samples); s++)
			add_value(c, timing, workload,
			    json_number_value(json_array_get(samples, s)) * (own ? 1 : 1e-6));
		if (!samples)
			add_value(c, timing, workload,
			    kjson_num_or(row, own ? "value" : "runtime_ms", NAN));
	}
}

/* False when a row says that its result was wrong. */
static bool
timing_of_csv(const struct custom *c, json_t *timing, const char *text)
{
	const json_t *tier = kcamp_json(c->k->camp, "eval.timing");
	json_t *columns = json_deep_copy(json_object_get(tier, "columns")) ?: json_object(),
	       *metric = json_object_get(tier, "metric");
	struct csv csv;
	bool ok = true;

	if (metric)
		json_object_set(columns, "time", metric);
	csv_open(&csv, "eval.timing", text, columns, "time");
	for (size_t row = 1; row < csv.rows; row++) {
		char *workload = csv_workload(&csv, row);
		double v = NAN;

		if (csv_has(&csv, "ok") && !csv_ok(&csv, row))
			ok = false;
		else if (csv_number(&csv, row, "time", &v))
			add_value(c, timing, workload, metric ? v : v * csv.unit_ns * 1e-6);
		else
			add_value(c, timing, workload, NAN);
		free(workload);
	}
	csv_close(&csv);
	json_decref(columns);
	return ok;
}

json_t *
custom_time(struct custom *c, const struct build *b, json_t *eval)
{
	const char *name = "eval.timing";
	struct kproc_result r;
	json_t *answer = NULL, *timing = json_array();
	bool done, ok = true;

	run(c, name, b, true, &r);
	done = ended(&r, eval);
	if (done && r.exit_code) {
		eval_fail(
		    eval, STATUS_RUN_ERROR, "exit", "the campaign's own timing command failed");
		done = false;
	} else if (done && !strcmp(format_of(c, name), "json")) {
		answer = parse_json(name, &r);
		ok = kjson_bool_or(answer, "ok", true);
		timing_of_json(c, timing, answer);
	} else if (done) {
		ok = timing_of_csv(c, timing, r.out);
	}
	if (!ok)
		eval_fail(eval, STATUS_WRONG_VALUE, "value", "wrong in the timed run");
	else if (done && !json_array_size(timing))
		kdie(K_USAGE, "%s: the command printed no times", name);
	add_log(eval, &r, answer);
	json_decref(answer);
	kproc_result_free(&r);
	if (done && ok)
		return timing;
	json_decref(timing);
	return NULL;
}

json_t *
custom_together(const struct custom *c, const json_t *turns)
{
	json_t *all = json_array(), *turn, *row, *sample, *weight;
	size_t i, k, n;

	json_array_foreach(turns, i, turn)
		json_array_foreach(turn, k, row)
			json_array_foreach(json_object_get(row, "samples_ns"), n, sample)
				add_sample(all, kjson_str_or(row, "workload", ""),
				    json_number_value(sample));
	json_array_foreach(all, i, row) {
		weight = json_object_get(kgain_workload(json_object_get(c->k->task, "workloads"),
		                             kjson_str_or(row, "workload", "")),
		    "weight");
		if (weight)
			json_object_set(row, "weight", weight);
		add_statistics(row);
	}
	return all;
}
