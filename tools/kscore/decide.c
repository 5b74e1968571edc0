/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision on a round of a linear search: keep it or roll it back. What is compared, and what
 * was measured again, comes from the records here; the rules themselves are in klinear.
 */

#include "kfence.h"
#include "klinear.h"
#include "kregex.h"
#include "kscore.h"

enum { REASON_MAX = 120, WAIVER_MAX = 1 << 20 };

/* A kernel that fills only half as much of the device as the last accepted one is a step back. */
static const double largest_drop = 0.5;

/*
 * The first line of WHAT (borrowed, may be NULL), in a form for a line of the record; the caller
 * frees.
 */
static char *
reason_line(const char *what)
{
	return what ? kfence_line(what, REASON_MAX) : NULL;
}

/*
 * A tie may be kept for a benefit other than speed that a person confirms: waivers/tie-TTT-BB.md
 * names the candidate, and has a line "benefit: …". Similarly a program that spills or fills less
 * of the device, with waivers/quality-TTT-BB.md and a line "reason: …".
 */
static bool
is_waived(const char *kind, const char *reason)
{
	const char *id = kjson_str(scored.json, "id");
	auto_free char *path = kasprintf("%s/waivers/%s-%s.md", kcamp.dir, kind, id), *text = NULL;

	*strrchr(path, '/') = '-';
	text = kread_file(path, WAIVER_MAX, NULL);
	return text && strstr(text, id) && kregex_is(reason, text);
}

/*
 * What got much worse apart from the times: registers spilled, resident threads, efficiency of
 * loads. Only if both programs were examined; a person may waive it. The caller frees; NULL:
 * nothing.
 */
static char *
quality_fault(const struct rival *rival)
{
	static const char *const spills[] = { "eval.build.resources.spill_bytes",
		"eval.profile.metrics.launch.scratch.value" };
	static const struct {
		const char *member, *what;
	} shares[] = {
		{ "eval.profile.metrics.occupancy.occupancy_pct.value", "occupancy" },
		{ "eval.profile.metrics.memory.coalescing_pct.value",
		    "share of used bytes in loads" },
	};

	if (is_waived("quality", "(?im)^reason:[ \\t\r]*[^ \\t\r\n]"))
		return NULL;
	kforeach(spill, spills) {
		double now = kjson_num_or(scored.json, *spill, -1),
		       was = kjson_num_or(rival->record, *spill, -1);

		if (was >= 0 && now > was)
			return kasprintf("it spills %.0f bytes of registers, but %s spills %.0f",
			    now, rival->id, was);
	}
	kforeach(share, shares) {
		double now = kjson_num_or(scored.json, share->member, -1),
		       was = kjson_num_or(rival->record, share->member, -1);

		if (now >= 0 && now < was * (1 - largest_drop))
			return kasprintf("its %s is %.1f %%, but that of %s is %.1f %%",
			    share->what, now, rival->id, was);
	}
	return NULL;
}

/* The measurements of a record on one level. */
struct level {
	const json_t *timing, *pairs;
	bool needs_full;
};

static char *
compare(const struct rival *rival, const struct level *l, struct klinear_compare *out)
{
	return klinear_compare(
	    json_object_get(scorer.task, "workloads"), rival->timing, l->timing, l->pairs, out);
}

/*
 * On the deciding level; on the quick one if the last accepted round has no times on the larger set
 * and could not race.
 */
static void
compare_record(const struct rival *rival, struct level *l, struct klinear_compare *out)
{
	char *fault;

	*l = (struct level){ timing, kjson_path(scored.json, "eval.pairs"),
		kjson_is(scored.json, "eval.level", "quick") };
	fault = compare(rival, l, out);
	if (fault && kjson_path(scored.json, "eval.quick.timing")) {
		free(fault);
		*l = (struct level){ kjson_path(scored.json, "eval.quick.timing"),
			kjson_path(scored.json, "eval.quick.pairs"), true };
		fault = compare(rival, l, out);
	}
	if (fault)
		refuse(fault, rival->id);
}

static json_t *
shapes_json(const struct klinear_compare *c)
{
	json_t *list = json_array();

	kforeach_of(one, c->unit, c->count)
		kjson_append(list, "{s:s,s:f,s:b}", "workload", one->name, "delta_pct",
		    klinear_delta(one), "core", one->core);
	return list;
}

static void
put_figures(const struct klinear_case *c, const struct klinear_decision *d, json_t *out)
{
	double forward = c->compare->forward, backward = c->compare->backward;

	kjson_extend(out, "{s:o*,s:f,s:o,s:o*,s:o*}", "improvement_pct",
	    d->code == KLINEAR_BASELINE ? NULL : json_real(100 * d->improvement), "vs_baseline_pct",
	    klinear_percent(kjson_num_or(score, "speedup", 1), 1), "shapes",
	    shapes_json(c->compare), "forward_pct",
	    forward > 0 ? json_real(klinear_percent(forward, 1)) : NULL, "backward_pct",
	    backward > 0 ? json_real(klinear_percent(backward, 1)) : NULL);
	if (c->again.n)
		kjson_set(out, "remeasured",
		    json_pack("{s:I,s:f,s:f}", "n", (json_int_t)c->again.n, "mean_pct",
		        100 * c->again.mean, "sd_pct", 100 * c->again.sd));
}

static const char *
verdict_of(const struct klinear_decision *d)
{
	return d->code == KLINEAR_BASELINE ? "baseline" : d->accepted ? "accepted" : "rolled_back";
}

/* The decision expressed as a gain. In a linear search a round that is kept is a gain. */
static void
put_outcome(const struct klinear_case *c, const struct klinear_decision *d)
{
	struct kgain_ratio r = c->compare ? c->compare->ratio : (struct kgain_ratio){ 0 };

	if (!c->compare || d->code == KLINEAR_BASELINE) {
		json_object_set_new(score, "gain", json_boolean(d->accepted));
		return;
	}
	if (c->again.n)
		r.mean = 1 + c->again.mean;
	put_gain(&r, d->accepted);
}

/* What the records say, apart from measurements. The caller owns the lines. */
static struct klinear_case
case_of(const struct rival *rival)
{
	return (struct klinear_case){
		.status = status_at(scored.json, "eval.status"),
		.why = reason_line(kjson_str_or(scored.json, "eval.plan_fault",
		    kjson_maybe(
		        json_array_get(kjson_path(scored.json, "eval.reasons"), 0), "detail"))),
		.duplicate_of = kjson_maybe(scored.json, "eval.duplicate_of"),
		.overfit = kjson_is(scored.json, "audit.decision", "REJECT-as-overfit"),
		.overfit_why = reason_line(kjson_item(kjson_path(scored.json, "audit.reasons"), 0)),
		.alarm = kjson_maybe(score, "alarm"),
		.waived = is_waived("tie", "(?im)^benefit:[ \\t\r]*[^ \\t\r\n]"),
		.floor = kgain_noise(kjson_num(scored.json, "eval.noise.floor"), rival->noise),
	};
}

static void
free_case(struct klinear_case *c)
{
	free((char *)c->why);
	free((char *)c->overfit_why);
	free((char *)c->quality);
}

void
add_decision(void)
{
	const struct rival *rival = rival_of();
	struct klinear_case c = case_of(rival);
	struct klinear_compare compared;
	struct klinear_decision d = { .code = KLINEAR_BASELINE };
	struct level level = { 0 };
	long round = kjson_int(scored.json, "trial") + 1;
	auto_free char *line = NULL;
	json_t *out;

	if (c.status == STATUS_CORRECT && timing) {
		c.quality = quality_fault(rival);
		compare_record(rival, &level, &compared);
		c.compare = &compared;
		c.needs_full = level.needs_full;
		c.again = klinear_again(json_object_get(scorer.task, "workloads"), rival->timing,
		    timing, kjson_path(scored.json, "eval.repeats"));
		c.independent = kcamp_is("linear.metric", "independent");
	}
	if (!kjson_is(scored.json, "id", scorer.reference.id))
		klinear_decide(&c, &d);
	line = klinear_line(round, &c, &d);
	out = json_pack("{s:s,s:b,s:s,s:s,s:I}", "verdict", verdict_of(&d), "trade_off",
	    d.trade_off, "code", klinear_codes[d.code], "line", line, "round", (json_int_t)round);
	if (c.compare) {
		kjson_put(out, "level",
		    level.needs_full ? "quick" : kjson_str_or(scored.json, "eval.level", "full"));
		put_figures(&c, &d, out);
	}
	put_outcome(&c, &d);
	kjson_set(score, "decision", out);
	free_case(&c);
}

bool
decision_holds(void)
{
	const json_t *stored = kjson_path(scored.json, "score.decision"),
	             *now = json_object_get(score, "decision");
	auto_free char *path = kjson_difference(stored, now, ""), *is = NULL, *want = NULL;

	if (!stored)
		kdie_usage("%s:%ld: no 'score.decision' to check", scored.file, scored.lineno);
	if (!path)
		return true;
	is = kjson_told(stored, path);
	want = kjson_told(now, path);
	kwarn("%s:%ld: round %ld: score.decision.%s is %s, but the records say %s", scored.file,
	    scored.lineno, kjson_int(now, "round"), path, is, want);
	return false;
}
