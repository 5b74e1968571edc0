/* SPDX-License-Identifier: Apache-2.0 */
/* What people and models are told about an evaluation; never the expected values. */

#include "keval.h"

enum { CASES_MAX = 8 };

/* The log that is being written. */
static struct kbuf text;

#define tell(...) kbuf_printf(&text, __VA_ARGS__)

/* Adds the reasons that SAID does not already mention. */
static void
add_reasons(const char *said)
{
	kjson_foreach(r, eval, "reasons") {
		const char *detail = kjson_str(r, "detail");

		if (!strstr(said, detail))
			tell("- %s: %s\n", kjson_str_or(r, "check", "?"), detail);
	}
}

static void
add_case(const json_t *c)
{
	static const struct {
		const char *key, *text;
	} figures[] = {
		{ "max_abs_err", "largest error" },
		{ "max_rel_err", "largest relative error" },
		{ "max_err_share", "largest error in units of its tolerance" },
		{ "tolerance", "allowed" },
	};

	tell("- workload %s", kjson_str_or(c, "workload", "?"));
	if (json_object_get(c, "distribution"))
		tell(", %s inputs", kjson_str_or(c, "distribution", "?"));
	if (json_is_string(json_object_get(c, "seed")))
		tell(", seed %s", kjson_str(c, "seed"));
	if (json_object_get(c, "mismatches"))
		tell(": %ld of %ld elements wrong", kjson_int(c, "mismatches"),
		    kjson_int(c, "elements"));
	kforeach(figure, figures)
		if (json_object_get(c, figure->key))
			tell(", %s %.3g", figure->text, kjson_num(c, figure->key));
	tell("\n");
}

/*
 * Adds the failed cases: how far off, on which shape and inputs. For checks that do not describe
 * them themselves.
 */
static void
add_cases(void)
{
	size_t failed = 0;

	if (json_object_get(eval, "correctness"))
		tell("%ld of %ld correctness cases passed.\n",
		    kjson_int(eval, "correctness.passed"), kjson_int(eval, "correctness.total"));
	kjson_foreach(c, eval, "correctness.cases")
		if (!kjson_bool_or(c, "ok", true) && failed++ < CASES_MAX)
			add_case(c);
	if (failed > CASES_MAX)
		tell("- and %zu more\n", failed - CASES_MAX);
}

/*
 * "speed-up 12.3 (reference 4.1 ms)", "0.61 of openblas": compared with what was recorded in trial
 * 000.
 */
static void
add_comparison(const json_t *past, const char *workload, double ns)
{
	double reference = kgain_time_ns(kgain_row(json_object_get(past, "timing"), workload));

	if (!isnan(reference))
		tell(", %.4g times as fast as the reference", reference / ns);
	kjson_foreach(base, past, "baselines") {
		double other = kgain_time_ns(kgain_row(json_object_get(base, "timing"), workload));

		if (!isnan(other))
			tell(", %.3g of the speed of %s", other / ns, kjson_str(base, "name"));
	}
}

static void
add_rates(const struct ktask *t, const char *workload, double ns)
{
	const struct ktask_workload *w = t ? ktask_workload(t, workload) : NULL;

	if (w && t->flops)
		tell(", %.4g GFLOP/s", (double)ktask_value(t, w, t->flops) / ns);
	if (w && t->bytes)
		tell(", %.4g GB/s", (double)ktask_value(t, w, t->bytes) / ns);
}

static void
add_times(void)
{
	const json_t *timing = json_object_get(eval, "timing");
	json_auto_t *past = past_eval("000/00");
	struct ktask *t = json_array_size(timing) && json_object_get(keval.task, "axes")
	    ? ktask_load(keval.task_file)
	    : NULL;

	kjson_foreach(row, timing) {
		const char *workload = kjson_str(row, "workload");
		double ns = kgain_time_ns(row);

		tell("- %s: %.4g %s", workload, kcamp_shown(ns / 1e6), kcamp_unit());
		if (!strcmp(kcamp_unit(), "ms"))
			add_rates(t, workload, ns);
		add_comparison(past, workload, ns);
		if (kjson_num(row, "host_ns") > 0)
			tell("; one single call %.4g ms, of which %.4g ms passed before it "
			     "returned on the host",
			    kjson_num(row, "alone_ns") / 1e6, kjson_num(row, "host_ns") / 1e6);
		tell("\n");
	}
	if (json_object_get(eval, "noise"))
		tell(
		    "Differences below %.2g %% are noise.\n", 100 * kjson_num(eval, "noise.floor"));
	ktask_free(t);
}

static void
add_pairs(void)
{
	double ratio, low;

	if (kgain_pairs(json_object_get(eval, "pairs"), "incumbent",
	        json_object_get(eval, "timing"), &ratio, &low))
		tell("Timed in turns with the best kernel so far: "
		     "%.3f times its speed (at least %.3f).\n",
		    ratio, low);
}

void
report_log(void)
{
	enum status status = status_at(eval, "status");
	const char *said = kjson_str(eval, "log");
	bool correct = status == STATUS_CORRECT,
	     refused_by_compiler = status == STATUS_COMPILE_ERROR;
	auto_free char *clip = NULL;

	kbuf_free(&text);
	tell("It %s%s\n", status_rows[status].phrase, correct || refused_by_compiler ? "." : ":");
	if (subject->cut_off && !correct)
		tell("The reply was cut off, so the program is incomplete: "
		     "answer with a shorter one.\n");
	if (refused_by_compiler && is_difference(subject->code))
		tell("The reply is a diff: answer with the whole program.\n");
	if (refused_by_compiler && *kjson_str(eval, "build.log"))
		tell("%s", kjson_str(eval, "build.log"));
	else if (!correct && !(*said && (status == STATUS_PARTIAL || status == STATUS_WRONG_VALUE)))
		add_reasons(said);
	if (!correct && !*said)
		add_cases();
	if (correct) {
		add_times();
		add_pairs();
	}
	if (*said)
		tell("%s%s", said, said[strlen(said) - 1] == '\n' ? "" : "\n");
	clip = kfence_shorten(text.data, KLOG_MAX);
	kjson_set(eval, "log", kjson_string(clip));
}

void
report_progress(void)
{
	const char *status = kjson_str(eval, "status");
	const json_t *timing = json_object_get(eval, "timing");
	const json_t *reason = json_array_get(json_object_get(eval, "reasons"), 0);

	if (json_object_get(eval, "duplicate_of")) {
		kprogress("%s eval: %s, same as %s", subject->name, status,
		    kjson_str(eval, "duplicate_of"));
	} else if (timing) {
		kprogress("%s eval: %s %.4g %s", subject->name, status,
		    kcamp_shown(kgain_runtime_ms(timing)), kcamp_unit());
	} else {
		kprogress("%s eval: %s%s%s", subject->name, status, reason ? ": " : "",
		    kjson_str(reason, "detail"));
	}
}
