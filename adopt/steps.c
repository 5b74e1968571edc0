/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt adopt, status and check: reads the answers, and runs all steps up to a campaign, one after
 * the other. See adopt.h.
 */
#include "adopt.h"

#include "journal.h"

static const char usage[] = "usage: kadopt adopt [-c DIR] -p DIR --file FILE --kernel NAME --build "
                            "COMMAND --run COMMAND [OPTION...]\n";

struct adopt_options {
	const char *campaign, *compare, *provider, *model;
	const char *top, *runs;
	json_t *answers;
};

void
answer_text(void *answers, const char *option, const char *text)
{
	if (json_object_set_new(answers, option + strlen("--"), json_string(text)) < 0)
		kdie_usage("%s: is not UTF-8", option);
}

static void
add_shape(void *answers, const char *option, const char *text)
{
	auto_free char *name = NULL, *shape = NULL;

	if (!kregex_scan("(?s)\\A([^=]+)=(.+)\\z", text, &name, &shape))
		kdie_usage("%s %s: must be NAME=EXPRESSION", option, text);
	kjson_put(kjson_ensure(answers, "shapes", json_object()), name, shape);
}

/* How much a standalone time may differ from the time in the application. */
static void
add_proxy(void *answers, const char *option, const char *text)
{
	auto_free char *low = NULL, *high = NULL;

	if (!kregex_scan("\\A([^,]*),(.*)\\z", text, &low, &high))
		kdie_usage("%s %s: must be LOW,HIGH", option, text);
	json_object_set_new(answers, "proxy",
	    json_pack(
	        "[f,f]", knum_double(low, 0, 1e6, option), knum_double(high, 0, 1e6, option)));
}

void
answer_path(void *answers, const char *option, const char *path)
{
	char full[PATH_MAX];

	if (!realpath(path, full))
		kdie_errno(K_USAGE, "%s %s", option, path);
	answer_text(answers, option, full);
}

static void
add_output(void *answers, const char *option, const char *file)
{
	(void)option;
	kjson_append(kjson_ensure(answers, "outputs", json_array()), "{s:s,s:s}", "file", file,
	    "compare", "auto");
}

static void
add_context(void *answers, const char *option, const char *file)
{
	(void)option;
	kjson_add(kjson_ensure(answers, "context", json_array()), file);
}

/* Answers that were not given are left out. */
static void
parse_options(struct adopt_options *o, int argc, char **argv)
{
	json_t *a = o->answers;
	double timeout_s = 0;
	long threads = -1, top, runs, megabytes = -1;
	bool sandbox = false, count = false;
	const struct koption options[] = {
		{ 'c', "campaign", .text = &o->campaign, .help = "DIR\tmake the campaign in DIR" },
		{ 'o', "output", .text = &o->campaign, .help = "DIR\tthe same as --campaign" },
		ANSWER_OPTIONS(a),
		KOPTION_CALL("mode", answer_text, a,
		    "MODE\tsearch with linear or map-elites (default: linear)"),
		KOPTION_CALL("outputs", add_output, a,
		    "FILE\tcompare this output of the application; repeatable"),
		KOPTION_TEXT("compare", &o->compare,
		    "HOW\tcompare outputs by exact, or float, float32 or "
		    "float64:RTOL[:ATOL]"),
		KOPTION_CALL(
		    "context", add_context, a, "FILE\tshow this file to the model; repeatable"),
		KOPTION_CALL("shape", add_shape, a,
		    "NAME=EXPRESSION\tnumber of elements of an array; repeatable"),
		KOPTION_CALL("proxy", add_proxy, a,
		    "LOW,HIGH\taccept times alone of LOW to HIGH times those in the application"),
		KOPTION_REAL("timeout", &timeout_s, 1, 1e6, "S\ttime limit of a build or a run"),
		KOPTION_NUMBER("threads", &threads, 0, 4096, "N\tthreads that the kernel may use"),
		KOPTION_TEXT("provider", &o->provider,
		    "PROVIDER\task this provider if a step needs a model"),
		KOPTION_TEXT("model", &o->model, "NAME\task this model"),
		{ 0, "top", .text = &o->top, .number = &top, .low = 1, .high = 64,
		    .help = "N\ttime at most N configurations" },
		{ 0, "runs", .text = &o->runs, .number = &runs, .low = 1, .high = 99,
		    .help = "N\trun the application N times to time it" },
		KOPTION_NUMBER("record-mb", &megabytes, 0, 1 << 20,
		    "MB\trecord at most MB megabytes of arrays; 0: none"),
		KOPTION_CALL("flops", answer_text, a,
		    "EXPRESSION\toperations of a call, over the task's axes"),
		KOPTION_CALL(
		    "bytes", answer_text, a, "EXPRESSION\tbytes that a call must move at least"),
		KOPTION_CALL("ncu", answer_path, a,
		    "FILE\tfind both from this output of ncu for the application"),
		KOPTION_FLAG("count", &count, "\tfind both by running ncu now"),
		KOPTION_FLAG("sandbox", &sandbox, "\trun the application in a sandbox"),
	};

	koption_all(options, usage, argc, argv);
	kjson_extend(a, "{s:o*,s:o*,s:o*,s:o*,s:o*}", "timeout_s",
	    timeout_s > 0 ? json_real(timeout_s) : NULL, "threads",
	    threads >= 0 ? json_integer(threads) : NULL, "record_mb",
	    megabytes >= 0 ? json_integer(megabytes) : NULL, "sandbox",
	    sandbox ? json_true() : NULL, "count", count ? json_true() : NULL);
}

/* Completes the options with those that follow from others, in the form of adopt.json. */
static void
complete(struct adopt_options *o)
{
	const char *mode = kjson_str_or(o->answers, "mode", "linear");

	if (o->provider)
		json_object_set_new(o->answers, "model",
		    json_pack("{s:s,s:s*}", "provider", o->provider, "name", o->model));
	if (o->compare && !outputs_compare_ok(o->compare))
		kdie_usage("--compare %s: must be exact, float:RTOL[:ATOL], float32:RTOL[:ATOL] or "
		           "float64:RTOL[:ATOL]",
		    o->compare);
	if (strcmp(mode, "linear") && strcmp(mode, "map-elites"))
		kdie_usage("--mode %s: must be linear or map-elites", mode);
}

/* Do none of this command's answers affect the task's results? */
static bool
are_late(const json_t *answers)
{
	static const char late[] = "flops bytes ncu count timeout_s context outputs sandbox";

	return !kany(kjson_foreach_member(name, v, answers), !kis_one_of(late, name));
}

/* Runs a command of ours in the campaign's folder; false, after what it said, if it fails. */
static bool
succeeds(const char *command, const char *name)
{
	auto_result struct command_result r = command_own(adoption.dir, command, name);

	if (r.status)
		kwarn("%s", r.said);
	return !r.status;
}

/* Replaces the task WAS by TASK, unless TASK is faulty. */
static int
change_task(const char *path, const json_t *task, const json_t *was)
{
	write_json(path, task);
	if (!succeeds("kcampaign check -c .", "check")) {
		write_json(path, was);
		return K_USAGE;
	}
	task_freeze(task);
	/* Closed rounds contain rates that depend on the formulas. */
	return succeeds("test ! -d rounds || krecords close --correct", "close") ? K_OK : K_IO;
}

/*
 * The ANSWERS may change in a running campaign: how outputs are compared, which files are shown,
 * how much work a call is.
 */
static int
add_late(const json_t *answers)
{
	char *path = campaign_path("task.json");
	json_auto_t *task = kjson_load(path), *was = json_deep_copy(task);
	int code = check_frozen();

	if (code == K_OK) {
		/* The file of an earlier answer may be gone. */
		if (json_object_get(answers, "ncu") || json_object_get(answers, "count"))
			json_object_update_new(task, task_count(task));
		task_formulas(task);
		if (!json_equal(task, was))
			code = change_task(path, task, was);
	}
	if (code == K_OK) {
		/* This stores the answers. */
		outputs_propose();
		task_context();
		ksay("stored; the campaign in %s continues with it\n", adoption.dir);
	}
	return code;
}

/* All steps up to a campaign. */
static int
prepare(const struct adopt_options *o)
{
	const struct {
		const char *name, *option, *value;
	} steps[] = {
		{ "preflight", NULL, NULL },
		{ "observe", "--runs", o->runs },
		{ "configs", "--top", o->top },
		{ "record", NULL, NULL },
		{ "extract", NULL, NULL },
		{ "task", NULL, NULL },
	};
	int code = K_OK;

	journal_backup();
	adoption_save();
	kforeach(s, steps) {
		if (code == K_OK)
			code = command_step(s->name, s->option, s->value);
		/* Observation may have changed it. */
		adoption_read_unit();
		if (!strcmp(s->name, "preflight") && code == K_OK)
			outputs_propose();
	}
	return code;
}

int
command_adopt(int argc, char **argv)
{
	struct adopt_options o = { .campaign = ".", .answers = json_object() };
	bool go = !strcmp(argv[0], "go"), made, allowed = false;
	int code;

	parse_options(&o, argc, argv);
	complete(&o);
	adoption_open(o.campaign, o.answers);
	kjson_foreach(output, o.compare ? json_object_get(adoption.json, "outputs") : NULL)
		kjson_put(output, "compare", o.compare);
	adoption_lock();
	code = journal_repair();
	made = kis_there(campaign_path("campaign.json"));
	if (code == K_OK && are_late(o.answers) && adoption_begun()) {
		code = json_object_size(o.answers) || !go ? add_late(o.answers) : K_OK;
		if (code == K_OK) {
			adoption_save();
			allowed = verdicts_allow();
		}
	} else if (code == K_OK && !(go && made && !json_object_size(o.answers))) {
		code = prepare(&o);
		if (code == K_OK && !go)
			ksay("---------- %s is ready: run `make campaign` there, "
			     "then `kcampaign integrate`\n",
			    adoption.dir);
	}
	if (code == K_OK && go) {
		adoption_unlock();
		code = go_on(allowed);
	}
	json_decref(o.answers);
	return code;
}

int
show_status(void)
{
	static const struct {
		const char *step, *file;
	} steps[] = {
		{ "preflight", "adopt/compile.json" },
		{ "observe", "adopt/observed.ndjson" },
		{ "configs", "adopt/configs.json" },
		{ "extract", "adopt/extract.json" },
		{ "task", "task.json" },
		{ "campaign", "archive.ndjson" },
	};
	auto_buf struct kbuf b = { 0 };

	ksay("%s of %s/%s\n", adoption.kernel, adoption.project, adoption.file);
	kforeach(s, steps)
		ksay("%-10s %s\n", s->step,
		    kis_there(campaign_path("%s", s->file)) ? "done" : "not done yet");
	journal_status(&b);
	ksay("%s", b.data);
	return K_OK;
}
