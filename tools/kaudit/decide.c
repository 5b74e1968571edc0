/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: the decision on a candidate. What it keeps from call to call (from the scan, and from
 * reused buffers compared with fresh ones), how much a cache of weights can be worth at most, and
 * whether the gain also exists on skewed groups.
 */

#include "kaudit.h"
#include "karch.h"
#include "kplace.h"

static const char real[] = "ACCEPT-as-real", unmeasured[] = "ACCEPT-unmeasured",
                  asterisk[] = "ACCEPT-with-asterisk", overfit[] = "REJECT-as-overfit";

/* What the checks find out about the record. */
static struct finding {
	const json_t *record, *rival; /* RIVAL: the evaluation that its times are compared with */
	const char *id, *declared;
	bool reference;
	json_t *reasons, *out;
	json_t *asides; /* reasons that come last */
	bool refused;
	bool reused;        /* buffers seen before were compared with new ones */
	enum bucket bucket; /* the gravest bucket that was found and not waived */
	bool gains;         /* faster than the incumbent by more than the noise */
	double gain_pct;    /* geometric mean over the workloads; 0: unknown */
} finding;

static void __attribute__((format(printf, 1, 2))) remark(const char *fmt, ...)
{
	kformatted(text, fmt);

	json_array_append_new(finding.reasons, kjson_string(text));
}

#define refuse(...) (remark(__VA_ARGS__), finding.refused = true)

/* ---- how much faster ---- */

/*
 * The evaluation to compare times with: the incumbent's, else the reference's. New reference, or
 * NULL.
 */
static json_t *
rivals_eval(void)
{
	const char *id = kjson_str_or(finding.record, "sample.incumbent", "000/00");
	json_auto_t *record = karch_is_id(id) ? kin_first(kplace_id(id, "eval")) : NULL;

	return json_incref(json_object_get(record, "eval"));
}

/* Noise of a ratio between the record's times and the rival's, which were measured separately. */
static double
noise_of(void)
{
	return kgain_noise(
	    kjson_num(finding.record, "eval.noise.floor"), kjson_num(finding.rival, "noise.floor"));
}

/* What the pairs call the rival: a round of a linear campaign names its incumbent. */
static const char *
rivals_name(void)
{
	return kjson_path(finding.record, "sample.incumbent") ? "incumbent" : "reference";
}

/* On a workload, from the interleaved pair, or else from separate times. */
static struct kgain_ratio
ratio_on(const char *workload)
{
	struct kgain_ratio r =
	    kgain_pair(kjson_path(finding.record, "eval.pairs"), rivals_name(), workload);

	return r.n
	    ? r
	    : kgain_apart(kgain_row(json_object_get(finding.rival, "timing"), workload),
	          kgain_row(kjson_path(finding.record, "eval.timing"), workload), noise_of());
}

static void
look_at_gain(void)
{
	const json_t *timing = kjson_path(finding.record, "eval.timing");
	struct kgain_ratio r;

	if (status_at(finding.record, "eval.status") != STATUS_CORRECT || finding.reference)
		return;
	if ((kgain_raced(kjson_path(finding.record, "eval.pairs"), rivals_name(), timing, &r) &&
	        r.low > 0) ||
	    kgain_all_apart(json_object_get(finding.rival, "timing"), timing, noise_of(), &r)) {
		finding.gains = r.low > 1;
		finding.gain_pct = 100 * (r.mean - 1);
	}
}

/* ---- the static scan ---- */

/* The gravest hits first; rejected ones with their line. */
static void
look_at_code(void)
{
	json_t *list = json_array(), *waiver;
	auto_free char *file = NULL;

	hits.count = 0;
	scan_record(finding.record);
	waiver = hits.count ? waiver_of(finding.id, &file, finding.asides) : NULL;
	for (int b = BUCKET_W3; b >= BUCKET_K; b--)
		kforeach_of(h, hits.at, hits.count) {
			bool waived = kjson_has(waiver, h->rule);

			if ((int)h->bucket != b)
				continue;
			kjson_append(list, "{s:s,s:I,s:o,s:s,s:s,s:s*,s:o*,s:o*}", "rule", h->rule,
			    "line", (json_int_t)h->line, "text", kjson_string(h->text), "bucket",
			    bucket_name(h->bucket), "why", h->why, "file", h->file, "note",
			    h->note ? json_true() : NULL, "waived", waived ? json_true() : NULL);
			if (waived || h->note || finding.reference)
				continue;
			finding.bucket = h->bucket > finding.bucket ? h->bucket : finding.bucket;
			if (h->bucket != BUCKET_W1)
				refuse("%s, %s%sline %zu: %s (%s)", h->rule, h->file ?: "",
				    h->file ? ", " : "", h->line, h->why, h->text);
			else if (!finding.declared || strcmp(finding.declared, "W1"))
				refuse("%s, line %zu: caches something made of a weight, but the "
				       "plan declares %s; declare W1 with its bound (%s)",
				    h->rule, h->line, finding.declared ?: "no bucket", h->text);
		}
	json_object_set_new(finding.out, "hits", list);
	if (file)
		kjson_put(finding.out, "waiver", file);
	json_decref(waiver);
}

/* ---- buffers used again ---- */

/*
 * How much more a candidate gains from buffers that it has seen than the program it is compared
 * with, in points, and the noise of that difference. A gap that both have comes from warm caches,
 * which help any program. LOW of one and HIGH of the other face each other, so these halves of the
 * intervals count.
 */
static double
excess_of(const json_t *own, const json_t *rival, double *noise)
{
	double gap = kjson_num(own, "gap_pct"), other = kjson_num(rival, "gap_pct");

	*noise = kgain_noise(gap - kjson_num_or(own, "low_pct", gap),
	    kjson_num_or(rival, "high_pct", other) - other);
	return gap - other;
}

static void
look_at_reuse(void)
{
	const json_t *rows = kjson_path(finding.record, "eval.reuse"),
	             *rival = kjson_path(finding.record, "eval.reuse_against.rows"), *worst = NULL;
	double limit = 100 * KGAIN_REUSE_GAP, most = -INFINITY, noise = 0;
	bool bad = false;
	json_t *o;

	kjson_foreach(row, rows) {
		double n, e = excess_of(row, kgain_row(rival, kjson_str(row, "workload")), &n);
		/*
		 * For a kernel of a few microseconds 1 % is two ticks of the device's clock: the
		 * limit must be exceeded beyond all doubt.
		 */
		bool beyond = e - n > limit;

		/*
		 * One that exceeds the limit counts before a larger one that is within its noise.
		 */
		if (worst && (beyond < bad || (beyond == bad && e <= most)))
			continue;
		worst = row;
		most = e;
		noise = n;
		bad = beyond;
	}
	if (!worst)
		return;
	finding.reused = true;
	o = json_pack("{s:s,s:f,s:f,s:f,s:b}", "workload", kjson_str_or(worst, "workload", "?"),
	    "gap_pct", kjson_num(worst, "gap_pct"), "excess_pct", most, "noise_pct", noise, "ok",
	    !bad);
	json_object_set_new(finding.out, "fresh", o);
	/* A declared cache of weights is meant to gain like this; its bound judges it. */
	if (bad && !(finding.declared && !strcmp(finding.declared, "W1")))
		refuse("reuse, workload %s: %.1f %% faster on buffers that it has seen before than "
		       "on new ones, %.1f points more than %s (noise %.1f), so it keeps results "
		       "from call to call; real calls bring new buffers",
		    kjson_str_or(worst, "workload", "?"), kjson_num(worst, "gap_pct"), most,
		    kgain_row(rival, kjson_str(worst, "workload")) ? "the program that it is "
		                                                     "compared with"
		                                                   : "an honest one",
		    noise);
}

/* ---- skew ---- */

/*
 * A gain is confirmed on a workload if it exceeds the noise, or if half of the whole gain does (as
 * a power: its square root), because an interval may be wide on a busy machine. It is not confirmed
 * if less than an eighth of it shows: equal programs differ by a few per cent there, depending on
 * where their code and data are.
 */
static bool
holds(const struct kgain_ratio *r)
{
	return r->mean >= pow(1 + finding.gain_pct / 100, r->low > 1 ? 0.125 : 0.5);
}

static void
look_at_skew(void)
{
	json_t *rows = json_array();
	bool required = audit.task && audit.task->groups >= 0 && finding.gains, ok = !required;

	for (size_t i = 0; audit.task && i < audit.task->workload_count; i++) {
		const struct ktask_workload *w = &audit.task->workloads[i];
		struct kgain_ratio r = { 0 };

		if (w->skew && !finding.reference)
			r = ratio_on(w->name);
		if (!r.n)
			continue;
		kjson_append(
		    rows, "{s:s,s:f}", "workload", w->name, "delta_pct", 100 * (r.mean - 1));
		ok |= holds(&r);
	}
	kjson_extend(
	    finding.out, "{s:{s:b,s:o,s:b}}", "skew", "required", required, "rows", rows, "ok", ok);
	if (ok)
		return;
	if (finding.bucket < BUCKET_UNIFORM)
		finding.bucket = BUCKET_UNIFORM;
	refuse("uniform-only: %+.1f %% over all workloads, but no gain on any skewed one, and real "
	       "routing is skewed",
	    finding.gain_pct);
}

/* ---- a cache of weights ---- */

/*
 * The trace of --reuse: did the second call of each step find something cached, and was it right
 * after the weights changed?
 */
static bool
look_at_trace(json_t *out)
{
	long had = 0, lookups = 0;

	kjson_foreach(row, finding.record, "eval.trace") {
		had += kjson_int(row, "hits");
		lookups += kjson_int(row, "lookups");
	}
	if (!lookups)
		return false;
	kjson_put(out, "hits", had);
	kjson_put(out, "lookups", lookups);
	/* At most half can be hits; one step in eight may be lost to noise. */
	if ((double)had < 0.5 * (double)lookups * 7 / 8)
		refuse("W1: %ld hits in %ld look-ups in training-like steps, where a cache of "
		       "weights hits every second time",
		    had, lookups);
	return true;
}

static bool
has_weights(const struct ktask *t)
{
	for (size_t i = 0; t && i < t->tensor_count; i++)
		if (t->tensors[i].weight)
			return true;
	return false;
}

/* The bound: caching saves at most the preparation of the weight, once per step. */
static void
look_at_w1(void)
{
	const json_t *plan = kjson_path(finding.record, "eval.plan");
	double quant = kjson_num(plan, "quant_us"), step = kjson_num(plan, "step_us"),
	       estimate = kjson_num(plan, "expected_gain_pct"),
	       bound = step > 0 ? 100 * quant / step : 0;
	json_t *o;

	if (finding.bucket < BUCKET_W1)
		finding.bucket = BUCKET_W1;
	if (!has_weights(audit.task)) {
		refuse("W1 is declared, but no input of the task has the role weight");
		return;
	}
	if (!(quant > 0) || !(step > quant)) {
		refuse("W1 is declared without its bound: the plan must give quant_us (time to "
		       "prepare the weight) "
		       "and step_us (of a whole step)");
		return;
	}
	o = json_pack("{s:f,s:f,s:f,s:f}", "quant_us", quant, "step_us", step, "bound_pct", bound,
	    "gain_pct", finding.gain_pct);
	if (estimate > bound)
		refuse("W1: the plan expects %.2f %%, but a cache of the weight can save at most "
		       "%.2f %% (%g us of %g us)",
		    estimate, bound, quant, step);
	if (finding.gain_pct > bound)
		json_object_set_new(o, "excess_pct", json_real(finding.gain_pct - bound));
	if (!look_at_trace(o) && finding.gains)
		refuse("W1: the steps with changing weights were not run, "
		       "so no cache can be accepted");
	json_object_set_new(finding.out, "w1", o);
	if (!finding.refused)
		remark("W1: counts as at most %.2f %% (%g us of %g us)%s",
		    fmin(fmax(finding.gain_pct, 0), bound), quant, step,
		    finding.gain_pct > bound ? "; the rest of the measured gain exists only in the "
		                               "benchmark's loop"
		                             : "");
}

/* ---- what was not measured ---- */

/* Why no buffers were reused; keval decides that (eval.reuse). */
static const char *
why_not_reused(void)
{
	if (status_at(finding.record, "eval.status") != STATUS_CORRECT)
		return "the candidate is not correct";
	if (kcamp_json("eval.timing"))
		return "the campaign's own command measured the times";
	if (kcamp_is("eval.evaluator", "null"))
		return "the null evaluator runs nothing";
	if (kcamp_is("eval.reuse", "off"))
		return "eval.reuse is off";
	return finding.gains ? "the evaluation did not measure it"
	                     : "there is no gain beyond the noise";
}

/* A decision rests on measurements: it names those that are missing. */
static void
note_unmeasured(void)
{
	size_t timed = json_array_size(kjson_path(finding.record, "eval.timing")),
	       rows = json_array_size(kjson_path(finding.record, "eval.reuse"));
	const char *why = !finding.reused ? why_not_reused()
	    : rows < timed ? kshown("on only %zu of %zu timed workloads", rows, timed)
	                   : NULL;

	if (why && !finding.reference)
		kjson_extend(
		    finding.out, "{s:[{s:s,s:s}]}", "not_measured", "what", "reuse", "why", why);
}

static const char *
decision_of(void)
{
	if (finding.refused)
		return overfit;
	if (finding.bucket == BUCKET_W1)
		return asterisk;
	return finding.reused || finding.reference ? real : unmeasured;
}

/* ---- all of it ---- */

/* A letter and digit that the plan may declare. */
static void
look_at_declared(void)
{
	if (finding.declared &&
	    (!strcmp(finding.declared, "W2") || !strcmp(finding.declared, "W3")))
		refuse("%s is declared, but a cache of %s never hits in real use", finding.declared,
		    finding.declared[1] == '2' ? "activations" : "results");
	else if (finding.declared && !strcmp(finding.declared, "W1"))
		look_at_w1();
}

/*
 * The bucket of the candidate: what was found, else what was declared, else work inside the kernel.
 */
static const char *
bucket_of(void)
{
	if (finding.bucket > BUCKET_W1 ||
	    (finding.bucket == BUCKET_W1 && !(finding.declared && *finding.declared == 'W')))
		return bucket_name(finding.bucket);
	return finding.declared ?: "K";
}

json_t *
audit_record(const struct krec *rec)
{
	json_auto_t *rival = NULL;

	krec_str(rec, "eval.status");
	finding = (struct finding){ .record = rec->json,
		.id = krec_id(rec),
		.declared = kjson_maybe(rec->json, "eval.plan.bucket"),
		.reference = kjson_is(rec->json, "id", "000/00"),
		.reasons = json_array(),
		.asides = json_array(),
		.out = json_object() };
	finding.rival = rival = rivals_eval();
	look_at_gain();
	look_at_code();
	look_at_reuse();
	look_at_skew();
	look_at_declared();
	json_array_extend(finding.reasons, finding.asides);
	note_unmeasured();
	kjson_extend(finding.out, "{s:s,s:s*,s:s,s:o}", "bucket", bucket_of(), "declared",
	    finding.declared, "decision", decision_of(), "reasons", finding.reasons);
	json_decref(finding.asides);
	return finding.out;
}
