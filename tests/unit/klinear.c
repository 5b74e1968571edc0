/* SPDX-License-Identifier: Apache-2.0 */
/* klinear: the arithmetic of a round, every branch of the decision, and the lines that say so. */
#include <math.h>
#include <stdlib.h>

#include "klinear.h"
#include "tap.h"

static json_t *kept;

static json_t *
parse(const char *text)
{
	json_t *v = json_loads(text, 0, NULL);

	if (!v)
		kdie(K_USAGE, "test data: %s", text);
	return v;
}

static bool
rounds_to(double v, double want, double places)
{
	return fabs(v - want) < 0.5 / places + 1e-9;
}

/* Means, and what a change of them is, on figures worked out by hand. */
static void
test_arithmetic(void)
{
	static const double forward[] = { 320, 305, 290 }, backward[] = { 160, 152, 145 };

	CHECK(rounds_to(klinear_geomean(forward, 3), 304.75, 100) &&
	    rounds_to(klinear_geomean(backward, 3), 152.21, 100));
	CHECK(rounds_to(klinear_percent(182.690, 168.59), 8.363, 1000));
	CHECK(klinear_geomean((double[]){ 7 }, 1) == 7);
}

#define ROW(w, t) "{\"workload\":\"" w "\",\"median_ns\":" t "}"
#define PAIR(w, r, l) \
	"{\"name\":\"incumbent\",\"workload\":\"" w "\",\"ratio\":" r ",\"low\":" l ",\"high\":9}"

static char *
compare(const char *workloads, const char *rival, const char *timing, const char *pairs,
    struct klinear_compare *c)
{
	json_t *w = parse(workloads), *r = parse(rival), *t = parse(timing), *p = parse(pairs);
	char *fault = klinear_compare(w, r, t, p, c);

	/* Names are borrowed from these two. */
	json_array_append_new(kept, w);
	json_array_append_new(kept, t);
	json_decref(r);
	json_decref(p);
	return fault;
}

static void
test_compare(void)
{
	struct klinear_compare c;
	char *fault;

	CHECK(!compare("[]", "[" ROW("a", "200") "," ROW("b", "90") "," ROW("c", "1") "]",
	    "[" ROW("a", "100") "," ROW("b", "100") "]", "[]", &c));
	CHECK(c.count == 2 && !c.pairs && rounds_to(c.ratio.mean, sqrt(2 * 0.9), 1e6) &&
	    rounds_to(c.ratio.low, c.ratio.mean, 1e6));
	CHECK(c.unit[0].core && c.unit[1].core && rounds_to(klinear_delta(&c.unit[0]), 100, 1000) &&
	    rounds_to(klinear_delta(&c.unit[1]), -10, 1000));
	CHECK(!compare("[{\"name\":\"a\",\"timed\":true},{\"name\":\"b\",\"timed\":true,\"core\":"
	               "true}]",
	    "[]", "[" ROW("a", "100") "," ROW("b", "100") "]",
	    "[" PAIR("a", "1.1", "1.0") "," PAIR("b", "1.2", "1.1") "]", &c));
	CHECK(c.pairs && rounds_to(c.ratio.mean, sqrt(1.1 * 1.2), 1e6) &&
	    rounds_to(
	        c.ratio.low, sqrt(1.1 * 1.2) * exp(-hypot(log(1.1), log(1.2 / 1.1)) / 2), 1e6) &&
	    !c.unit[0].core && c.unit[1].core && c.forward == 0);
	/* 2 with a weight of 3, 32 with one of 1. */
	CHECK(!compare("[]", "[" ROW("a", "200") "," ROW("b", "3200") "]",
	    "[{\"workload\":\"a\",\"median_ns\":100,\"weight\":3}," ROW("b", "100") "]", "[]", &c));
	CHECK(fabs(c.ratio.mean - 4) < 1e-12);
	fault = compare("[]", "[]", "[" ROW("a", "100") "]", "[]", &c);
	CHECK(
	    fault && strstr(fault, "workload a: the last accepted round has no valid median time"));
	free(fault);
}

/*
 * A step counts by the sum of its passes; the passes alone are for information and may get worse.
 */
static void
test_step(void)
{
	static const char workloads[] =
	    "[{\"name\":\"f\",\"timed\":true,\"pair\":\"s\",\"pass\":\"forward\"},"
	    "{\"name\":\"b\",\"timed\":true,\"pair\":\"s\",\"pass\":\"backward\"}]";
	struct klinear_compare c;

	CHECK(!compare(workloads, "[" ROW("f", "100") "," ROW("b", "300") "]",
	    "[" ROW("f", "110") "," ROW("b", "210") "]", "[]", &c));
	CHECK(c.count == 1 && !strcmp(c.unit[0].name, "s") &&
	    rounds_to(c.ratio.mean, 400.0 / 320, 1e6));
	CHECK(rounds_to(c.forward, 100.0 / 110, 1e6) && rounds_to(c.backward, 300.0 / 210, 1e6));
	CHECK(!compare(workloads, "[]", "[" ROW("f", "100") "," ROW("b", "300") "]",
	    "[" PAIR("f", "0.9", "0.8") "," PAIR("b", "1.2", "1.1") "]", &c));
	CHECK(rounds_to(c.ratio.mean, (90.0 + 360) / 400, 1e6) &&
	    rounds_to(c.ratio.low, (80.0 + 330) / 400, 1e6));
}

/*
 * The combined rate of COUNT steps whose backward pass does twice the operations of the forward
 * one, from the rate of each: what makes them faster than steps whose rates are all 1.
 */
static double
combined(const double *forward, const double *backward, int count)
{
	struct kbuf workloads = { 0 }, was = { 0 }, now = { 0 };
	struct klinear_compare c;
	char *fault;

	for (int i = 0; i < 2 * count; i++) {
		bool back = i % 2;
		double work = back ? 4 : 2, rate = back ? backward[i / 2] : forward[i / 2];
		char mark = i ? ',' : '[';

		kbuf_printf(&workloads,
		    "%c{\"name\":\"%d\",\"timed\":true,\"pair\":\"%d\",\"pass\":\"%s\"}", mark, i,
		    i / 2, back ? "backward" : "forward");
		kbuf_printf(&was, "%c{\"workload\":\"%d\",\"median_ns\":%.17g}", mark, i, work);
		kbuf_printf(
		    &now, "%c{\"workload\":\"%d\",\"median_ns\":%.17g}", mark, i, work / rate);
	}
	kbuf_puts(&workloads, "]");
	kbuf_puts(&was, "]");
	kbuf_puts(&now, "]");
	fault = compare(workloads.data, was.data, now.data, "[]", &c);
	CHECK(!fault && c.count == (size_t)count);
	kbuf_free(&workloads);
	kbuf_free(&was);
	kbuf_free(&now);
	return c.ratio.mean;
}

static void
test_combined(void)
{
	static const double forward[] = { 320, 305, 290 }, backward[] = { 160, 152, 145 };
	static const double each[] = { 192, 182.520, 174 };

	for (int i = 0; i < 3; i++)
		CHECK(rounds_to(combined(forward + i, backward + i, 1), each[i], 1000));
	CHECK(rounds_to(combined(forward, backward, 3), 182.692, 1000));
	CHECK(rounds_to(combined((double[]){ 520 }, (double[]){ 258 }, 1), 310.077, 1000));
}

/*
 * Two shapes, x core and y not, faster by these shares, with intervals that are SURE or a tenth to
 * either side.
 */
static struct klinear_compare
measured(double x, double y, bool sure)
{
	double low = sure ? 1 : 0.9, high = sure ? 1 : 1.1, mean = sqrt((1 + x) * (1 + y));
	struct klinear_compare c = { .count = 2,
		.pairs = true,
		.unit = { { .name = "x", .core = true, .now = 1, .was = 1 + x },
		    { .name = "y", .now = 1, .was = 1 + y } } };

	for (size_t i = 0; i < c.count; i++) {
		c.unit[i].low = low * c.unit[i].was;
		c.unit[i].high = high * c.unit[i].was;
	}
	c.ratio = (struct kgain_ratio){ mean, low * mean, high * mean, 2 };
	return c;
}

static struct klinear_decision
decide(struct klinear_case *c, const struct klinear_compare *compared, const char *line)
{
	struct klinear_decision d;
	char *text;

	c->status = c->status ? c->status : STATUS_CORRECT;
	c->compare = compared;
	klinear_decide(c, &d);
	text = klinear_line(4, c, &d);
	if (line)
		CHECK_STR(text, line);
	free(text);
	return d;
}

static void
test_accepted(void)
{
	struct klinear_compare c = measured(0.10, 0.10, true);
	struct klinear_case k = { 0 };

	CHECK(decide(&k, &c, "Round 4: ACCEPTED — avg +10.0%, no regression in 2 shapes").code ==
	    KLINEAR_GAIN);
	c = measured(0.20, -0.03, true);
	CHECK(decide(&k, &c, "Round 4: ACCEPTED (trade-off) — avg +7.9%, shape y regressed 3.0%")
	          .trade_off);
	/* A shape that is no core shape may lose more; a core shape may not. */
	c = measured(0.50, -0.10, true);
	CHECK(decide(&k, &c, "Round 4: ACCEPTED (trade-off) — avg +16.2%, shape y regressed 10.0%")
	          .accepted);
	c = measured(-0.0499, 0.50, true);
	CHECK(decide(&k, &c, NULL).code == KLINEAR_TRADE_OFF);
	c = measured(-0.05, 0.50, true);
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +19.4%, because core shape x regressed 5.0%; "
	          "the limit is 5.0%")
	          .code == KLINEAR_CORE_SHAPE);
}

static void
test_rolled_back(void)
{
	struct klinear_compare c = measured(-0.01, -0.01, true);
	struct klinear_case k = { 0 };

	CHECK(decide(
	          &k, &c, "Round 4: ROLLED BACK — avg -1.0%, because the aggregate did not improve")
	          .code == KLINEAR_AGGREGATE);
	c = measured(0, 0, true);
	CHECK(decide(&k, &c, NULL).code == KLINEAR_AGGREGATE);
	k.waived = true;
	CHECK(decide(&k, &c,
	          "Round 4: ACCEPTED — avg +0.0%, a tie kept for the benefit named in its waiver")
	          .code == KLINEAR_TIE_WAIVER);
	k.quality = "it spills 8 bytes of registers";
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +0.0%, because it spills 8 bytes of registers")
	          .code == KLINEAR_QUALITY);
	c = measured(-0.02, -0.02, true);
	CHECK(decide(&k, &c, NULL).code == KLINEAR_AGGREGATE);
	c = measured(-0.06, 0.06, true);
	CHECK(!decide(&k, &c, NULL).accepted);
	k = (struct klinear_case){ .overfit = true, .overfit_why = "a table keyed on a pointer" };
	c = measured(1, 1, true);
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +100.0%, because the audit rejects it as overfit: a "
	          "table keyed on a pointer")
	          .code == KLINEAR_AUDIT);
	k = (struct klinear_case){ .duplicate_of = "002/01" };
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +100.0%, because it is the same program as 002/01")
	          .code == KLINEAR_DUPLICATE);
	k = (struct klinear_case){ .quality = "it spills 8 bytes of registers" };
	CHECK(decide(&k, &c, "Round 4: ACCEPTED — avg +100.0%, no regression in 2 shapes").code ==
	    KLINEAR_GAIN);
	c = measured(0.1, 0.1, true);
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +10.0%, because it spills 8 bytes of registers")
	          .code == KLINEAR_QUALITY);
	CHECK(!klinear_refutes("quality"));
	k = (struct klinear_case){ .alarm = "below_floor" };
	CHECK(decide(&k, &c, NULL).code == KLINEAR_REJECTED);
}

/* More measurements are wanted until the mean is three standard errors from the limit of 1 %. */
static void
test_again(void)
{
	CHECK(klinear_again_open(&(struct klinear_again){ 2, 0.015, 0 }));
	CHECK(!klinear_again_open(&(struct klinear_again){ 3, 0.014, 0.002 }));
	CHECK(!klinear_again_open(&(struct klinear_again){ 3, 0.006, 0.002 }));
	CHECK(klinear_again_open(&(struct klinear_again){ 3, 0.012, 0.002 }));
	CHECK(klinear_again_open(&(struct klinear_again){ 14, 0.012, 0.002 }));
	CHECK(!klinear_again_open(&(struct klinear_again){ 15, 0.012, 0.002 }));
}

static void
test_noise(void)
{
	struct klinear_compare c = measured(0.015, 0.015, true);
	struct klinear_case k = { 0 };

	CHECK(decide(&k, &c, NULL).code == KLINEAR_NOISE);
	k = (struct klinear_case){ .again = { 3, 0.012, 0.005 } };
	CHECK(decide(&k, &c, "Round 4: ACCEPTED — avg +1.2%, no regression in 2 shapes").code ==
	    KLINEAR_GAIN);
	k.again.sd = 0.006;
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +1.2%, because 3 more measurements scatter by 0.6%, "
	          "at least half of their mean of +1.2%")
	          .code == KLINEAR_VOLATILE);
	k = (struct klinear_case){ .again = { 1, 0.018, 0 } };
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +1.8%, because it was measured again 1 time, but 3 "
	          "are needed")
	          .code == KLINEAR_NOISE);
	k = (struct klinear_case){ .again = { 4, 0.01, 0 } };
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +1.0%, because the mean of 4 more measurements, "
	          "+1.0%, is not above 1.0%")
	          .code == KLINEAR_NOISE);
	k = (struct klinear_case){ .needs_full = true };
	c = measured(0.049, 0.049, true);
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +4.9%, because a gain below 5.0% on the quick set "
	          "needs the full set")
	          .code == KLINEAR_NOISE);
	c = measured(0.051, 0.051, true);
	CHECK(decide(&k, &c, NULL).accepted);
	c = measured(0.051, 0.051, false);
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +5.1%, inconclusive: within the noise, it is "
	          "anything from "
	          "-5.4% to +15.6%")
	          .code == KLINEAR_INCONCLUSIVE);
	c = measured(0.051, 0.051, true);
	c.pairs = false;
	k = (struct klinear_case){ .floor = 0.05 };
	CHECK(decide(&k, &c, NULL).accepted);
	k.floor = 0.06;
	CHECK(decide(&k, &c, NULL).code == KLINEAR_INCONCLUSIVE);
}

static bool
is_near(double mean, double low, double high)
{
	return klinear_near_noise(&(struct kgain_ratio){ mean, low, high, 1 });
}

/*
 * What the noise hides is neither a gain nor a loss: of the whole, of a core shape, of any shape.
 */
static void
test_inconclusive(void)
{
	struct klinear_compare c = measured(-0.05, -0.05, false);
	struct klinear_case k = { 0 };

	CHECK(is_near(1.01, 1.005, 1.02) && is_near(1.04, 0.99, 1.1) && !is_near(1.04, 1.01, 1.1));
	CHECK(is_near(0.98, 0.9, 1.1) && !is_near(0.98, 0.95, 1.005));
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg -5.0%, inconclusive: within the noise, it is "
	          "anything from "
	          "-14.5% to +4.5%")
	          .code == KLINEAR_INCONCLUSIVE);
	CHECK(!klinear_refutes("inconclusive") && !klinear_refutes("volatile"));
	c = measured(-0.15, -0.15, false);
	CHECK(decide(&k, &c, NULL).code == KLINEAR_AGGREGATE);
	/*
	 * A core shape that may be 44 % slower or 20 % faster has not regressed; nor is the round a
	 * trade-off.
	 */
	c = measured(0.5, 0.5, true);
	c.unit[0].was = 0.7;
	c.unit[0].low = 0.56;
	c.unit[0].high = 1.2;
	CHECK(decide(&k, &c, "Round 4: ACCEPTED — avg +50.0%, no regression in 2 shapes").code ==
	    KLINEAR_GAIN);
	c.unit[0].high = 0.99;
	CHECK(decide(&k, &c, NULL).code == KLINEAR_CORE_SHAPE);
	CHECK(decide(&(struct klinear_case){ 0 }, NULL,
	          "Round 4: ROLLED BACK — no result, inconclusive: it was not timed, "
	          "because the machine was too busy")
	          .code == KLINEAR_INCONCLUSIVE);
	c = measured(0.5, 0.5, true);
	c.ratio.low = 0;
	c.ratio.high = INFINITY;
	CHECK(decide(&k, &c,
	          "Round 4: ROLLED BACK — avg +50.0%, inconclusive: there are too few samples to "
	          "tell")
	          .code == KLINEAR_INCONCLUSIVE);
}

/* What was never measured: every status has its code, whatever else is said. */
static void
test_failures(void)
{
	static const struct {
		const char *status;
		enum klinear_code code;
	} all[] = {
		{ "no_plan", KLINEAR_NO_PLAN },
		{ "no_code", KLINEAR_BUILD },
		{ "compile_error", KLINEAR_BUILD },
		{ "run_error", KLINEAR_RUN },
		{ "wrong_shape", KLINEAR_WRONG },
		{ "wrong_value", KLINEAR_WRONG },
		{ "partial", KLINEAR_WRONG },
		{ "rejected", KLINEAR_REJECTED },
		{ "quarantined", KLINEAR_REJECTED },
		{ "correct", KLINEAR_INCONCLUSIVE },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		struct klinear_case k = { .status = status_named(all[i].status), .waived = true };
		struct klinear_decision d = decide(&k, NULL, NULL);

		tap_check(d.code == all[i].code && !d.accepted, all[i].status, __FILE__, __LINE__);
	}
	CHECK(decide(&(struct klinear_case){ .status = STATUS_COMPILE_ERROR,
	                 .why = "the compiler refused it" },
	          NULL,
	          "Round 4: ROLLED BACK — no result, because it does not build: the compiler "
	          "refused it")
	          .code == KLINEAR_BUILD);
	CHECK(klinear_refutes("aggregate") && klinear_refutes("audit") &&
	    !klinear_refutes("build") && !klinear_refutes("no_plan"));
}

static void
test_independent(void)
{
	struct klinear_compare c = measured(0.30, -0.03, true);
	struct klinear_case k = { .status = STATUS_CORRECT, .compare = &c, .independent = true };
	struct klinear_decision d;

	klinear_decide(&k, &d);
	CHECK(
	    !d.accepted && d.code == KLINEAR_AGGREGATE && strstr(d.why, "shape y got 3.0% slower"));
	c = measured(0.30, -0.01, true);
	klinear_decide(&k, &d);
	CHECK(d.accepted);
}

static void
test_targets(void)
{
	struct klinear_target t;

	CHECK(klinear_target("2.5x", &t) && t.kind == KLINEAR_SPEEDUP && t.value == 2.5);
	CHECK(klinear_target("500 TFLOP/s", &t) && t.kind == KLINEAR_FLOPS && t.value == 5e14);
	CHECK(klinear_target("300GB/s", &t) && t.kind == KLINEAR_BYTES && t.value == 3e11);
	CHECK(!klinear_target("fast", &t) && !klinear_target("3", &t) &&
	    !klinear_target("-1x", &t) && !klinear_target("infx", &t));
	CHECK_STR(klinear_escalation(0), "none");
	CHECK_STR(klinear_escalation(1), "diagnose");
	CHECK_STR(klinear_escalation(2), "profile");
	CHECK_STR(klinear_escalation(3), "isa");
	CHECK_STR(klinear_escalation(40), "sota");
}

int
main(void)
{
	kutil_init("test");
	kept = json_array();
	test_arithmetic();
	test_compare();
	test_step();
	test_combined();
	test_accepted();
	test_rolled_back();
	test_again();
	test_noise();
	test_inconclusive();
	test_failures();
	test_independent();
	test_targets();
	json_decref(kept);
	return tap_done();
}
