/* SPDX-License-Identifier: Apache-2.0 */
/* kgain: times, speed-ups and pairs. */
#include <math.h>
#include <stdlib.h>

#include "kgain.h"
#include "kutil.h"
#include "tap.h"

static json_t *
parse(const char *text)
{
	json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

	if (!v)
		kdie(K_USAGE, "test data: %s", text);
	return v;
}

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static double
time_of(const char *row)
{
	json_t *v = parse(row);
	double ns = kgain_time_ns(v);

	json_decref(v);
	return ns;
}

static void
test_times(void)
{
	static const char *const bad[] = { "{}", "{\"median_ns\":0}", "{\"median_ns\":-1}",
		"{\"median_ns\":\"x\"}", "{\"samples_ns\":[]}", "{\"samples_ns\":[1,0,3]}",
		"{\"samples_ns\":[1,\"x\"]}", "{\"samples_ns\":[1,-5,3]}",
		"{\"median_ns\":null,\"samples_ns\":[1]}" };
	static const char samples[] = "{\"samples_ns\":[40,10,20,90]}";

	CHECK(time_of("{\"median_ns\":5,\"min_ns\":3,\"mean_ns\":7}") == 5);
	CHECK(time_of(samples) == 30);
	CHECK(time_of("{\"samples_ns\":[3,1,2]}") == 2);
	for (size_t i = 0; i < LEN(bad); i++)
		tap_check(isnan(time_of(bad[i])), bad[i], __FILE__, __LINE__);
}

#define ROW(w, t) "{\"workload\":\"" w "\",\"median_ns\":" t "}"

static char *
compare(const char *reference, const char *candidate, double *speedup)
{
	json_t *r = parse(reference), *c = parse(candidate);
	char *fault = kgain_speedup(r, c, speedup);

	json_decref(r);
	json_decref(c);
	return fault;
}

static void
test_speedup(void)
{
	static const struct {
		const char *reference, *candidate, *fault;
	} bad[] = {
		{ "[" ROW("a", "1") "]", "[" ROW("b", "1") "]",
		    "timed workloads differ: only the reference has {a}, only the candidate has "
		    "{b}" },
		{ "[" ROW("a", "1") "," ROW("b", "1") "]", "[" ROW("a", "1") "]",
		    "timed workloads differ: only the reference has {b}, only the candidate has "
		    "{}" },
		{ "[" ROW("a", "1") "]", "[" ROW("a", "1") "," ROW("a", "1") "]",
		    "timed workloads differ: only the reference has {}, only the candidate has "
		    "{}" },
		{ "[]", "[]", "no workload is timed" },
		{ "[" ROW("a", "1") "]", "[" ROW("a", "0") "]",
		    "workload a: the candidate has no valid median time" },
		{ "[" ROW("a", "-1") "]", "[" ROW("a", "1") "]",
		    "workload a: the reference has no valid median time" },
		{ "[" ROW("a", "1") "]", "[{\"workload\":\"a\"}]",
		    "workload a: the candidate has no valid median time" },
		{ "[{}]", "[" ROW("a", "1") "]",
		    "timed workloads differ: only the reference has {(without a name)}, only the "
		    "candidate has {a}" },
	};
	double speedup = 0;

	CHECK(!compare("[" ROW("a", "80") "," ROW("b", "100") "]",
	    "[" ROW("b", "50") "," ROW("a", "10") "]", &speedup));
	CHECK(near(speedup, 4));
	CHECK(!compare("[" ROW("a", "7") "]", "[" ROW("a", "7") "]", &speedup));
	CHECK(speedup == 1);
	/* 2 with a weight of 3, 32 with one of 1: (8 * 32)^(1/4). */
	CHECK(!compare("[" ROW("a", "2") "," ROW("b", "32") "]",
	    "[{\"workload\":\"a\",\"median_ns\":1,\"weight\":3}," ROW("b", "1") "]", &speedup));
	CHECK(near(speedup, 4));
	for (size_t i = 0; i < LEN(bad); i++) {
		char *fault = compare(bad[i].reference, bad[i].candidate, &speedup);

		CHECK_STR(fault, bad[i].fault);
		free(fault);
	}
}

static void
test_pairs(void)
{
	static const char timing[] = "[" ROW("a", "1") "," ROW("b", "1") "]";
	static const struct {
		const char *pairs;
		bool good;
		double ratio, low;
	} rows[] = {
		{ "[{\"name\":\"i\",\"workload\":\"a\",\"ratio\":2,\"low\":1},{\"name\":\"i\","
		  "\"workload\":\"b\",\"ratio\":8,\"low\":4}]",
		    true, 4, 4 * 0.6125473265360659 },
		{ "[{\"name\":\"i\",\"workload\":\"a\",\"ratio\":2,\"low\":1}]", false, 0, 0 },
		{ "[{\"name\":\"x\",\"workload\":\"a\",\"ratio\":2,\"low\":1},{\"name\":\"i\","
		  "\"workload\":\"b\",\"ratio\":8,\"low\":4}]",
		    false, 0, 0 },
		{ "[{\"name\":\"i\",\"workload\":\"a\",\"ratio\":2,\"low\":0},{\"name\":\"i\","
		  "\"workload\":\"b\",\"ratio\":8,\"low\":4}]",
		    false, 0, 0 },
		{ "[{\"name\":\"i\",\"workload\":\"a\"},{\"name\":\"i\",\"workload\":\"b\","
		  "\"ratio\":8,\"low\":4}]",
		    false, 0, 0 },
		{ "[]", false, 0, 0 },
	};
	json_t *t = parse(timing);

	for (size_t i = 0; i < LEN(rows); i++) {
		json_t *p = parse(rows[i].pairs);
		double ratio = 0, low = 0;

		CHECK(kgain_pairs(p, "i", t, &ratio, &low) == rows[i].good);
		CHECK(!rows[i].good || (near(ratio, rows[i].ratio) && near(low, rows[i].low)));
		json_decref(p);
	}
	CHECK(near(kgain_runtime_ms(t), 1e-6));
	CHECK(isnan(kgain_runtime_ms(NULL)));
	CHECK(!kgain_row(t, "c"));
	CHECK(near(kgain_noise(0.03, 0.04), 0.05));
	json_decref(t);
}

static void
test_ratios(void)
{
	json_t *pairs = parse("[{\"name\":\"r\",\"workload\":\"a\",\"ratio\":4,\"low\":2,\"high\":"
	                      "8},"
	                      "{\"name\":\"r\",\"workload\":\"b\",\"ratio\":1,\"low\":0,\"high\":2}"
	                      ",{\"name\":\"s\",\"workload\":\"a\",\"ratio\":9}]");
	json_t *heavy = parse("[{\"workload\":\"a\",\"weight\":3},{\"workload\":\"b\"}]");
	json_t *own = parse("[{\"workload\":\"a\",\"median_ns\":10,\"samples_ns\":[10]}]"),
	       *other = parse("[{\"workload\":\"a\",\"median_ns\":20,\"samples_ns\":[20]}]");
	struct kgain_ratio r = kgain_ratio_of_pairs(pairs, "r", NULL, NULL);

	CHECK(r.n == 2 && near(r.mean, 2) && r.low == 0 && near(r.high, 2 * pow(2, sqrt(2) / 2)));
	r = kgain_ratio_of_pairs(pairs, "r", "a", NULL);
	CHECK(r.n == 1 && near(r.mean, 4) && near(r.low, 2) && near(r.high, 8));
	r = kgain_ratio_of_pairs(pairs, "r", NULL, heavy);
	CHECK(near(r.mean, pow(4, 0.75)));
	r = kgain_ratio_of_pairs(pairs, "s", NULL, NULL);
	CHECK(r.n == 1 && near(r.low, 9) && near(r.high, 9));
	CHECK(!kgain_ratio_of_pairs(NULL, "r", NULL, NULL).n &&
	    !kgain_ratio_of_pairs(pairs, "t", NULL, NULL).n);
	/* One sample has no interval. */
	r = kgain_ratio_of_rows(other, own, NULL);
	CHECK(r.n == 1 && near(r.mean, 2) && r.low == 0 && isinf(r.high));
	CHECK(!kgain_ratio_of_rows(NULL, own, NULL).n && !kgain_ratio_of_rows(other, own, "b").n);
	json_decref(pairs);
	json_decref(heavy);
	json_decref(own);
	json_decref(other);
}

static bool
is(const struct kgain_ratio *r, double mean, double low, double high)
{
	return near(r->mean, mean) && near(r->low, low) && near(r->high, high);
}

/* Links of a chain: half-widths of logarithms add in quadrature. */
static void
test_products(void)
{
	struct kgain_ratio a = { 2, 2 / exp(0.03), 2 * exp(0.03), 1 },
	                   b = { 5, 5 / exp(0.04), 5 * exp(0.04), 1 }, none = { 0 },
	                   r = kgain_product(&a, &b);

	CHECK(is(&r, 10, 10 / exp(0.05), 10 * exp(0.05)));
	CHECK(near(kgain_width(&r), exp(0.05) - 1) && !kgain_product(&a, &none).n);
	b.mean = 2 * exp(0.049);
	CHECK(!kgain_beyond(&b, &a) && !kgain_beyond(&a, &b) && !kgain_beyond(&a, &a));
	CHECK(kgain_beyond(&a, &none) && !kgain_beyond(&none, &a) && !kgain_beyond(&none, &none));
	a.low = 0;
	r = kgain_product(&a, &b);
	CHECK(r.low == 0 && isinf(kgain_width(&r)));
}

static void
test_verdicts(void)
{
	static const struct {
		double low, high;
		const char *verdict;
	} rows[] = {
		{ 1.021, 1.1, "gain" },
		{ 1.02, 1.1, "inconclusive" },
		{ 0.9, 0.999, "loss" },
		{ 0.995, 0.999, "loss" },
		{ 0.99, 1.01, "same" },
		{ 1.011, 1.02, "same" },
		{ 0.98, 1.001, "inconclusive" },
		{ 0, INFINITY, "inconclusive" },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		CHECK_STR(
		    kgain_verdict(&(struct kgain_ratio){ 1, rows[i].low, rows[i].high, 1 }, 0.02),
		    rows[i].verdict);
}

/* Times measured apart are no surer than the noise, and without samples it is all there is. */
static void
test_apart(void)
{
	json_t *one = parse("{\"workload\":\"a\",\"median_ns\":10}"),
	       *two = parse("{\"workload\":\"a\",\"median_ns\":20}"),
	       *many = parse("{\"workload\":\"a\",\"median_ns\":20,\"samples_ns\":[16,17,18,19,20,"
	                     "21,22,23,24]}");
	struct kgain_ratio r = kgain_apart(two, one, 0.1);

	CHECK(is(&r, 2, 2 / 1.1, 2 * 1.1));
	r = kgain_apart(many, many, 0.1);
	CHECK(near(r.mean, 1) && near(r.low, 16.0 / 24) && near(r.high, 24.0 / 16));
	CHECK(!kgain_apart(NULL, one, 0).n);
	json_decref(one);
	json_decref(two);
	json_decref(many);
}

/* JSON has no infinity: with a lower end and no upper one, there is none. */
static void
test_open(void)
{
	json_t *bare = parse("{\"speedup\":2}"),
	       *open = parse("{\"speedup\":2,\"speedup_low\":1.5}");
	struct kgain_ratio a = kgain_speedup_of(bare), b = kgain_speedup_of(open);

	CHECK(is(&a, 2, 2, 2));
	CHECK(near(b.low, 1.5) && isinf(b.high));
	CHECK(!kgain_speedup_of(NULL).n);
	json_decref(bare);
	json_decref(open);
}

int
main(void)
{
	test_open();
	test_products();
	test_verdicts();
	test_apart();
	test_ratios();
	test_times();
	test_speedup();
	test_pairs();
	return tap_done();
}
