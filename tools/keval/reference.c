/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trusted programs: evaluates the reference and the baselines (trial 000), and verifies the best
 * kernel against them.
 */

#include "keval.h"
#include "ktrials.h"

enum { SOURCE_MAX = 8 << 20 };

const char *
task_reference(void)
{
	return kjson_str_or(keval.task, "reference", "reference.c");
}

char *
task_source(const char *name)
{
	return input_read(kbeside(keval.task_file, name), SOURCE_MAX, NULL);
}

/*
 * Whether a comparator is not pure device code, but a host function that may use libraries of the
 * device.
 */
static bool
is_host_function(const char *code)
{
	struct klaunch_list list;
	char why[512];

	return is_device_only() && is_gpu() && !klaunch_parse(code, &list, why, sizeof why);
}

/* A baseline's or the oracle's shared object; NULL with the compiler's output in *LOG. */
static char *
trusted_so(const char *file, const json_t *flags, bool host, char **log)
{
	auto_free char *code = task_source(file);
	struct subject s = {
		.name = file, .code = code, .trusted = true, .host = host || is_host_function(code)
	};

	return build_cached(&s, flags, log);
}

/* Whether each output is a floating-point number narrower than the oracle's. */
static bool
rounds_all(const struct ktask *t)
{
	return !kany(kforeach_of(x, t->tensors, t->tensor_count),
	    x->output && (!kdtype_is_float(x->dtype) || x->dtype == KDTYPE_F64));
}

/*
 * On a CPU, a verdict spends much of its time in the oracle's exp and the like. GCC calls those of
 * libmvec, with errors of up to 4 units in the last place of a double, where glibc's headers
 * declare them, which they do for __FAST_MATH__. The macro alone changes nothing in the arithmetic.
 */
static json_t *
oracle_flags(const struct ktask *t)
{
	return rounds_all(t) && !is_gpu()
	    ? json_pack("[s,s,s]", "-DREAL=double", "-fno-math-errno", "-D__FAST_MATH__")
	    : json_pack("[s]", "-DREAL=double");
}

const char *
oracle_so(void)
{
	const char *file = kjson_str_or(keval.task, "oracle", task_reference()), *lack;
	auto_free char *code = NULL;
	json_auto_t *flags = NULL;
	struct ktask *t;
	char *log;

	if (keval.oracle)
		return keval.oracle;
	t = ktask_load(keval.task_file);
	code = task_source(task_reference());
	lack = ktask_lacks_oracle(t, code);
	if (lack)
		kdie_usage("%s: %s", keval.task_file, lack);
	flags = oracle_flags(t);
	ktask_free(t);
	keval.oracle = trusted_so(file, flags, is_device_only(), &log);
	if (!keval.oracle)
		kdie_usage("%s: does not build as the oracle, with -DREAL=double:\n%s", file, log);
	return keval.oracle;
}

char *
against_known(const json_t *baseline)
{
	auto_free char *log = NULL;
	auto_free char *so = trusted_so(kjson_str_or(baseline, "file", task_reference()),
	    json_object_get(baseline, "flags"), false, &log);

	if (!so && !baseline)
		kdie_usage("%s: the reference does not build: %s", keval.task_file, log);
	return so ? kasprintf("%s=%s", kjson_str_or(baseline, "name", "reference"), so) : NULL;
}

/* Leaves out an unusable baseline, with a warning and a note in the record. */
static void
leave_out(json_t *entry, const char *name, const char *why, const char *log)
{
	auto_free char *text = kasprintf("%s: %s", why, log);

	kwarn("baseline %s left out, %.300s", name, text);
	kjson_set(entry, "missing", kjson_string(text));
}

/* The reference's times, from its race with this baseline; the first race counts. */
static void
note_times(void)
{
	const json_t *reference =
	    kjson_find(json_object_get(eval, "baselines"), "name", "reference");

	if (!reference || keval.timed)
		return;
	keval.timed = json_object();
	kjson_pick(keval.timed, reference, "timing");
	kjson_pick(keval.timed, eval, "environment", "machine", "noise");
}

/*
 * Checks one baseline and times it in turns with the reference, as if it were a candidate. A
 * baseline whose library is not installed here, or that is wrong on a shape, is left out; that is
 * no reason to stop.
 */
static json_t *
evaluate_baseline(const json_t *baseline)
{
	const char *name = kjson_str(baseline, "name");
	auto_free char *code = task_source(kjson_str(baseline, "file"));
	char *list[] = { kcamp_json("eval.timing") ? NULL : against_known(NULL), NULL };
	struct subject s = { .name = name,
		.code = code,
		.trusted = true,
		.known = true,
		.host = is_host_function(code),
		.flags = json_object_get(baseline, "flags") };
	json_t *entry = json_pack("{s:s}", "name", name);
	enum status status;

	eval_begin(&s);
	keval.rivals = list[0] ? list : NULL;
	evaluate_tiers();
	keval.rivals = NULL;
	status = status_at(eval, "status");
	if (status == STATUS_COMPILE_ERROR)
		leave_out(entry, name, "it does not build", kjson_str(eval, "build.log"));
	else if (status != STATUS_CORRECT)
		leave_out(entry, name, kjson_str(eval, "status"), kjson_str(eval, "log"));
	else
		kjson_pick(entry, eval, "timing", "pairs", "machine");
	note_times();
	free(list[0]);
	return entry;
}

/*
 * A campaign's own commands define themselves what is right; the harness's definition is tried on
 * the task first.
 */
void
lint_task(bool notes)
{
	if (!is_null())
		harness_lint(kcamp_json("eval.correctness") ? NULL : oracle_so(), notes);
}

void
evaluate_reference(void)
{
	auto_free char *code =
	    keval.task ? task_source(task_reference()) : kstrdup("/* no task: nothing to run */\n");
	struct subject s = { .name = "000/00", .code = code, .trusted = true };
	json_auto_t *list = json_array();

	if (!subject_fits(&s))
		kdie_usage("%s: the reference takes more than %zu bytes in a record; it must be "
		           "smaller, "
		           "because every prompt contains it",
		    keval.task_file, KIO_CODE_MAX);
	/* Notes about a task that are not faults are printed once per campaign. */
	lint_task(ktrials_last() < 0);
	/*
	 * The root of a chain is measured on all workloads, so that every later round finds its
	 * rows in it.
	 */
	if (kcamp_linear())
		choose_full_set();
	/* A race with a baseline also times the reference, which may take minutes. */
	kjson_foreach(baseline, is_null() ? NULL : json_object_get(keval.task, "baselines"))
		json_array_append_new(list, evaluate_baseline(baseline));
	evaluate(&s);
	if (status_at(eval, "status") != STATUS_CORRECT)
		kdie_usage("%s: the status of the reference is %s, not correct: %s",
		    keval.task_file, kjson_str(eval, "status"), kjson_str(eval, "log"));
	if (kcamp_linear())
		kjson_put(eval, "level", "full");
	if (json_array_size(list))
		kjson_set(eval, "baselines", json_incref(list));
	report_progress();
}

/*
 * "reference=FILE" and "NAME=FILE" for every baseline that builds; NULL-terminated, owned by the
 * caller.
 */
static char **
rivals(void)
{
	const json_t *baselines = json_object_get(keval.task, "baselines");
	size_t n = 0;
	char **list = kcalloc(json_array_size(baselines) + 2, sizeof *list);

	list[n++] = against_known(NULL);
	kjson_foreach(b, baselines) {
		list[n] = against_known(b);
		if (list[n])
			n++;
		else
			kwarn("baseline %s left out: it does not build", kjson_str(b, "name"));
	}
	return list;
}

void
evaluate_best(const char *id)
{
	json_auto_t *past = past_eval(id);
	struct subject s = { .name = id };

	if (!past || !subject_of_past(past, &s))
		kdie_usage("%s: no evaluated candidate with this id in %s/trials", id, kcamp.dir);
	s.again = true;
	if (!is_null()) {
		choose_full_set();
		keval.verifies = true;
		if (!kcamp_json("eval.timing"))
			keval.rivals = rivals();
	}
	evaluate(&s);
	if (!is_null() && status_at(eval, "status") == STATUS_CORRECT)
		sanitize();
	report_progress();
	for (char **rival = keval.rivals; rival && *rival; rival++)
		free(*rival);
	free(keval.rivals);
	keval.rivals = NULL;
	keval.verifies = false;
}
