/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the linear search needs from an evaluation in addition to a verdict: a plan that comes
 * first, a comparison on a large enough set, and gains near the noise measured again.
 */

#include "kclaim.h"
#include "keval.h"

/*
 * Whether the prompt showed measurements from inside the program: a profile, instructions, times
 * next to others.
 */
static bool
shows_figures(const struct krec *rec)
{
	static const char *const figures[] = { "sample.parent.profile", "sample.evidence.profile",
		"sample.evidence.isa", "sample.evidence.sota" };

	return kany(kforeach(figure, figures), kjson_path(rec->json, *figure));
}

/* If figures were shown, the evidence must rest on one of them. */
static char *
evidence_fault(const struct krec *rec, const json_t *plan)
{
	const char *shown = kjson_maybe(rec->json, "prompt.user");
	auto_free char *metric = NULL;

	/* A recorded reply cites what was measured on another machine. */
	if (!shown || kjson_path(rec->json, "reply.recorded") || !shows_figures(rec))
		return NULL;
	metric = kplan_metric(plan);
	if (!metric)
		return kstrdup("the prompt showed measurements, and the plan has no \"evidence\": "
		               "metric -> inference -> action, "
		               "the metric with its value as it was shown");
	if (!kclaim_cites(metric, shown))
		return kasprintf("the plan's evidence, '%.80s', cites no figure from the prompt: "
		                 "give a metric and its value exactly as the profile, the listing "
		                 "or the times show them together",
		    metric);
	return NULL;
}

/*
 * Does SOURCE name a program that was shown: by its id, with or without words around it, or in
 * words of the prompt?
 */
static bool
names_program(const char *source, const char *shown)
{
	bool found = strstr(shown, source) != NULL;
	struct kregex_span at;

	for (; !found && kregex_find("\\d{3}/\\d\\d", source, strlen(source), &at, 1);
	     source += at.to) {
		auto_free char *id = kregex_text(source, at);

		found = strstr(shown, id) != NULL;
	}
	return found;
}

/*
 * Sources of the first two layers must be in the prompt: notes by their file names, programs by
 * theirs.
 */
static char *
source_fault(const struct krec *rec, const json_t *plan)
{
	const json_t *notes = kjson_path(rec->json, "prompt.knowledge");
	const char *shown = kjson_maybe(rec->json, "prompt.user");
	size_t number = 0;

	kjson_foreach(row, shown ? json_object_get(plan, "search") : NULL) {
		const char *source = kjson_str(row, "source"), *layer = kjson_str(row, "layer");
		bool known = !strcmp(layer, "L3") ||
		    (!strcmp(layer, "L2") ? names_program(source, shown) : !json_array_size(notes));

		/* A note, identified by its file name with or without folders. */
		kjson_foreach(note, notes)
			known |= !strcmp(layer, "L1") &&
			    strstr(source, basename(kjson_str_or(note, "file", "?")));
		number++;
		if (!known)
			return kasprintf("row %zu of the plan's \"search\" names the layer %s, but "
			                 "'%.80s' is not one of the %s in the prompt",
			    number, layer, source, !strcmp(layer, "L1") ? "notes" : "programs");
	}
	return NULL;
}

/* What is wrong with a well-formed plan, given earlier rounds and what was shown, or NULL. */
static char *
round_fault(const struct krec *rec, const json_t *plan)
{
	return kplan_history_fault(plan, kjson_path(rec->json, "sample.ineffective"),
	           kjson_bool(rec->json, "sample.stagnation"))
	    ?: kplan_repeat_fault(plan, kjson_path(rec->json, "sample.accepted"))
	    ?: kplan_novelty_fault(plan, kjson_path(rec->json, "sample.searched"),
	           kjson_int(rec->json, "sample.streak"))
	    ?: source_fault(rec, plan)
	    ?: evidence_fault(rec, plan);
}

void
plan_read(const struct krec *rec, const char *text, size_t len, struct kplan *p)
{
	kplan_read(text, len, p);
	if (!p->json)
		return;
	p->fault = round_fault(rec, p->json);
	if (p->fault) {
		json_decref(p->json);
		p->json = NULL;
	}
}

bool
in_set(const json_t *workload, const char *set)
{
	const json_t *sets = json_object_get(workload, "sets");

	return !sets || kjson_has(sets, set);
}

/* The set of full validation, if the task has a workload in it; else the only set. */
static const char *
full_set(void)
{
	kjson_foreach(w, keval.task, "workloads")
		if (json_object_get(w, "sets") && in_set(w, KLINEAR_FULL_SET))
			return KLINEAR_FULL_SET;
	return keval.set;
}

void
choose_full_set(void)
{
	if (!keval.set_given)
		keval.set = full_set();
}

/* Does the full set have more workloads than the set in use? */
static bool
is_wider(const char *full)
{
	return kany(
	    kjson_foreach(w, keval.task, "workloads"), in_set(w, full) && !in_set(w, keval.set));
}

/*
 * No cherry-picking: a correct candidate must have been checked on every workload of the active set
 * and timed on every timed one. The harness ensures that; a campaign's own command may not.
 */
static void
check_set(void)
{
	const json_t *timing = json_object_get(eval, "timing"),
	             *cases = kjson_path(eval, "correctness.cases");
	bool own_cases = kcamp_json("eval.correctness") != NULL;
	size_t timed = 0;

	kjson_foreach(w, keval.task, "workloads") {
		const char *name = kjson_str(w, "name");

		if (!in_set(w, keval.set))
			continue;
		if (!own_cases && !kjson_find(cases, "workload", name))
			kdie_usage("%s: workload %s of the active set %s was not checked; "
			           "a round needs the whole set",
			    keval.task_file, name, keval.set);
		if (!kjson_bool(w, "timed"))
			continue;
		timed++;
		if (!kgain_row(timing, name))
			kdie_usage("%s: workload %s of the active set %s was not timed; "
			           "a round needs the whole set",
			    keval.task_file, name, keval.set);
	}
	if (timed != json_array_size(timing))
		kdie_usage("%s: %zu workloads were timed, but the active set %s has %zu",
		    keval.task_file, json_array_size(timing), keval.set, timed);
}

static bool
is_timed(void)
{
	return status_at(eval, "status") == STATUS_CORRECT && json_object_get(eval, "timing");
}

/* Compares the candidate with the incumbent, based on EVAL; false when that is impossible. */
static bool
compare(const json_t *past, struct klinear_compare *c)
{
	auto_free char *fault = klinear_compare(json_object_get(keval.task, "workloads"),
	    json_object_get(past, "timing"), json_object_get(eval, "timing"),
	    json_object_get(eval, "pairs"), c);

	return !fault;
}

/* The measurements of the full set replace those of the quick set, which are kept elsewhere. */
static void
keep_quick(void)
{
	json_t *quick = json_object();

	kjson_pick(quick, eval, "timing", "pairs");
	kjson_set(eval, "quick", quick);
	json_object_del(eval, "timing");
	json_object_del(eval, "pairs");
}

/* Measures a gain again until it is clear, each time in turns with the incumbent. */
static void
measure_repeats(const struct trial *t, const json_t *past)
{
	const json_t *workloads = json_object_get(keval.task, "workloads"),
	             *rival = json_object_get(past, "timing");
	json_auto_t *repeats = json_array();
	json_t *pairs;
	struct klinear_again a = { 0 };

	while (klinear_again_open(&a) && (pairs = measure_again(t))) {
		kjson_append(repeats, "{s:o}", "pairs", pairs);
		a = klinear_again(workloads, rival, json_object_get(eval, "timing"), repeats);
		if (a.n < json_array_size(repeats))
			break;
	}
	if (is_timed() && json_array_size(repeats))
		kjson_set(eval, "repeats", json_incref(repeats));
}

void
note_level(void)
{
	if (!kcamp_linear() || !is_timed())
		return;
	check_set();
	kjson_put(eval, "level", is_wider(full_set()) ? "quick" : "full");
}

static void
linear_levels(const struct trial *t)
{
	const char *quick = keval.set, *full = full_set();
	json_auto_t *past = subject->incumbent ? past_eval(subject->incumbent) : NULL;
	struct klinear_compare c;
	bool wider = is_wider(full), compared;

	note_level();
	compared = past && compare(past, &c) && (c.ratio.mean > 1 || !wider);
	if (compared && wider && c.ratio.mean - 1 < KLINEAR_BORDERLINE) {
		keep_quick();
		keval.set = full;
		kjson_put(eval, "level", "full");
		measure(t);
		compared = is_timed();
		if (compared) {
			check_set();
			compared = compare(past, &c);
		}
	}
	if (compared && c.pairs && klinear_near_noise(&c.ratio))
		measure_repeats(t, past);
	keval.set = quick;
}

void
confirm(const struct trial *t)
{
	if (is_timed() && !subject->trusted && kcamp_linear())
		linear_levels(t);
}
