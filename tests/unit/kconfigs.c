/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kconfigs: a worked example, and how calls of two lists find each other. */

#include <math.h>
#include <stdlib.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

#include "../../adopt/kconfigs.c"

/* Five keys, 18 calls, 2057 us; the first key has fast and slow calls, of 13 and of 127 columns. */
static const struct {
	int64_t grid, block;
	double us;
} example[] = {
	{ 4096, 256, 100 },
	{ 1024, 128, 60 },
	{ 4096, 256, 104 },
	{ 256, 64, 9 },
	{ 4096, 256, 96 },
	{ 4096, 256, 410 },
	{ 8192, 256, 30 },
	{ 1024, 128, 62 },
	{ 4096, 256, 400 },
	{ 4096, 256, 102 },
	{ 64, 1024, 12 },
	{ 1024, 128, 58 },
	{ 4096, 256, 420 },
	{ 256, 64, 10 },
	{ 4096, 256, 98 },
	{ 64, 1024, 14 },
	{ 1024, 128, 61 },
	{ 256, 64, 11 },
};

static struct kconfigs_call calls[LEN(example)];
static struct kconfigs_seen seen[LEN(example)];

static struct kconfigs_key
launch(int64_t gx, int64_t gy, int64_t bx, int64_t by)
{
	return (struct kconfigs_key){ true, 6, { gx, gy, 1, bx, by, 1 } };
}

static void
set_up(void)
{
	for (size_t i = 0; i < LEN(example); i++) {
		json_decref((json_t *)seen[i].scalars);
		calls[i] = (struct kconfigs_call){ launch(example[i].grid, 1, example[i].block, 1),
			example[i].us, NAN, NAN, NULL, NAN, NAN, 0 };
		seen[i] = (struct kconfigs_seen){ calls[i].key,
			json_pack(
			    "{s:i,s:f}", "cols", example[i].us > 200 ? 127 : 13, "gain", 0.5) };
	}
}

static bool
near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

static json_int_t
cols(const struct kconfig *c)
{
	return kjson_int_or(c->scalars, "cols", -1);
}

static void
test_example(void)
{
	struct kconfigs c;

	set_up();
	kconfigs_choose(calls, LEN(calls), seen, LEN(seen), 3, KCONFIGS_VARIANCE, &c);
	CHECK(near(c.total_us, 2057, 1e-9) && c.groups == 6 && c.count == 3 && c.aligned &&
	    c.astray == 0);
	CHECK(near(c.coverage, 1971.0 / 2057, 1e-12));
	CHECK_STR(c.at[0].name, "top1_slow");
	CHECK(near(c.at[0].total_us, 1230, 1e-9) && near(c.at[0].share, 0.5980, 5e-5) &&
	    near(c.at[0].target_us, 410, 0));
	CHECK(c.at[0].count == 3 && c.at[0].typical == 5 && c.at[0].calls[2] == 12);
	CHECK_STR(c.at[1].name, "top2_fast");
	CHECK(near(c.at[1].total_us, 500, 1e-9) && near(c.at[1].share, 0.2431, 5e-5) &&
	    near(c.at[1].target_us, 100, 0));
	CHECK_STR(c.at[2].name, "top3");
	CHECK(near(c.at[2].share, 0.1172, 5e-5) && near(c.at[2].target_us, 60.5, 0));
	CHECK(cols(&c.at[0]) == 127 && cols(&c.at[1]) == 13);
	kconfigs_free(&c);
	/*
	 * Shares rounded to two places add up to 98.75 %. Equal ones: the lower key, 256, before
	 * 8192.
	 */
	kconfigs_choose(calls, LEN(calls), seen, LEN(seen), 5, KCONFIGS_VARIANCE, &c);
	CHECK(c.count == 5 && near(c.coverage, 0.9875, 2e-4));
	CHECK(calls[c.at[3].typical].key.at[0] == 256 && calls[c.at[4].typical].key.at[0] == 8192);
	kconfigs_free(&c);
	/* More than there are. */
	kconfigs_choose(calls, LEN(calls), NULL, 0, 99, KCONFIGS_VARIANCE, &c);
	CHECK(c.count == 6 && near(c.coverage, 1, 1e-12) && !c.aligned &&
	    !json_object_size(c.at[0].scalars));
	kconfigs_free(&c);
}

static void
test_split(void)
{
	static const double few[] = { 10, 10, 100 }, steady[] = { 10, 11, 20, 21 };
	struct kconfigs_call x[4];
	struct kconfigs c;

	for (size_t i = 0; i < 3; i++)
		x[i] = (struct kconfigs_call){ launch(1, 1, 32, 1), few[i], NAN, NAN, NULL, NAN,
			NAN, 0 };
	kconfigs_choose(x, 3, NULL, 0, 5, KCONFIGS_VARIANCE, &c);
	CHECK(c.count == 1 && !strcmp(c.at[0].name, "top1"));
	kconfigs_free(&c);
	for (size_t i = 0; i < 4; i++)
		x[i] = (struct kconfigs_call){ launch(1, 1, 32, 1), steady[i], NAN, NAN, NULL, NAN,
			NAN, 0 };
	kconfigs_choose(x, 4, NULL, 0, 5, KCONFIGS_VARIANCE, &c);
	CHECK(c.count == 1);
	kconfigs_free(&c);
	kconfigs_choose(x, 4, NULL, 0, 5, 1.5, &c);
	CHECK(c.count == 2 && near(c.at[1].target_us, 10.5, 1e-9));
	kconfigs_free(&c);
}

/* Calls with the same arguments were disturbed, and are one; others are fast or slow as a whole. */
static void
test_same_arguments(void)
{
	static const double us[] = { 10, 11, 200, 10, 12, 300, 100, 11, 120, 10 };
	json_t *args[2] = { json_pack("{s:i}", "radius", 1), json_pack("{s:i}", "radius", 9) };
	struct kconfigs_call x[LEN(us)];
	struct kconfigs c;

	for (size_t i = 0; i < LEN(us); i++)
		x[i] = (struct kconfigs_call){ launch(1, 1, 32, 1), us[i], NAN, NAN, args[0], NAN,
			NAN, 0 };
	kconfigs_choose(x, LEN(us), NULL, 0, 5, KCONFIGS_VARIANCE, &c);
	CHECK(c.count == 1 && !strcmp(c.at[0].name, "top1") && near(c.at[0].target_us, 11.5, 1e-9));
	kconfigs_free(&c);
	x[6].args = x[8].args = args[1];
	kconfigs_choose(x, LEN(us), NULL, 0, 5, KCONFIGS_VARIANCE, &c);
	CHECK(c.count == 2 && c.at[0].count + c.at[1].count == LEN(us));
	CHECK(c.at[0].count == 8 && c.at[1].count == 2 && c.at[1].calls[0] == 6);
	kconfigs_free(&c);
	json_decref(args[0]);
	json_decref(args[1]);
}

static void
test_alignment(void)
{
	struct kconfigs c;

	/*
	 * One of 18 astray is more than 2 %: by key, so that fast and slow calls get the same
	 * scalars.
	 */
	set_up();
	seen[3].key = launch(4096, 1, 256, 1);
	kconfigs_choose(calls, LEN(calls), seen, LEN(seen), 3, KCONFIGS_VARIANCE, &c);
	CHECK(!c.aligned && c.astray == 1 && cols(&c.at[0]) == 13 && cols(&c.at[1]) == 13);
	kconfigs_free(&c);
	/* Another number of calls. */
	set_up();
	kconfigs_choose(calls, LEN(calls), seen, LEN(seen) - 1, 3, KCONFIGS_VARIANCE, &c);
	CHECK(!c.aligned && c.astray == 0 && cols(&c.at[0]) == 13);
	kconfigs_free(&c);
	/* A key that was never seen has no scalars. */
	kconfigs_choose(calls, LEN(calls), seen, 1, 3, KCONFIGS_VARIANCE, &c);
	CHECK(json_object_size(c.at[0].scalars) == 2 && !json_object_size(c.at[2].scalars));
	kconfigs_free(&c);
}

/* Two-dimensional launches, which a log may have written down flattened, or with another grid. */
static void
test_normalisation(void)
{
	struct kconfigs_call x[] = {
		{ launch(60, 135, 32, 8), 10, NAN, NAN, NULL, NAN, NAN, 0 },
		{ launch(40, 90, 32, 8), 5, NAN, NAN, NULL, NAN, NAN, 0 },
		{ launch(16, 1, 64, 1), 1, NAN, NAN, NULL, NAN, NAN, 0 },
	};
	struct kconfigs_seen y[] = {
		{ launch(8100, 1, 256, 1), json_pack("{s:i}", "width", 1920) },
		{ launch(3601, 1, 256, 1), json_pack("{s:i}", "width", 1280) },
		{ launch(16, 1, 64, 1), json_pack("{s:i}", "width", 1024) },
	};
	struct kconfigs c;

	kconfigs_choose(x, 3, y, 3, 3, KCONFIGS_VARIANCE, &c);
	CHECK(c.aligned && c.astray == 0);
	CHECK(kjson_int_or(c.at[0].scalars, "width", 0) == 1920 &&
	    kjson_int_or(c.at[1].scalars, "width", 0) == 1280);
	kconfigs_free(&c);
	y[0].key = launch(60, 1, 100, 1);
	kconfigs_choose(x, 3, y, 3, 3, KCONFIGS_VARIANCE, &c);
	CHECK(!c.aligned && c.astray == 1 && !json_object_size(c.at[0].scalars));
	kconfigs_free(&c);
	/* y and z do not tell keys apart. */
	x[1].key = launch(60, 7, 32, 1);
	kconfigs_choose(x, 3, y, 0, 3, KCONFIGS_VARIANCE, &c);
	CHECK(c.groups == 2 && c.at[0].count == 2);
	kconfigs_free(&c);
	for (size_t i = 0; i < LEN(y); i++)
		json_decref((json_t *)y[i].scalars);
}

static void
test_scalars(void)
{
	static const int rows[] = { 1, 2, 3, 4, 5 }, odd[] = { 9, 9, 7, 8, 6 };
	struct kconfigs_call x[5];
	struct kconfigs_seen y[5];
	struct kconfigs c;

	for (size_t i = 0; i < 5; i++) {
		x[i] = (struct kconfigs_call){ { false, 2, { 640, 480 } }, 10, NAN, NAN, NULL, NAN,
			NAN, 0 };
		y[i] = (struct kconfigs_seen){ x[i].key,
			json_pack("{s:i,s:s}", "rows", rows[i], "mode", i < 3 ? "a" : "b") };
	}
	kconfigs_choose(x, 5, y, 5, 5, KCONFIGS_VARIANCE, &c);
	CHECK(kjson_int_or(c.at[0].scalars, "rows", 0) == 3 &&
	    !strcmp(kjson_str_or(c.at[0].scalars, "mode", ""), "a"));
	kconfigs_free(&c);
	/*
	 * The medians, 3 and 8, were never together: 4 and 8 are as frequent as any, but 1 and 9
	 * come first.
	 */
	for (size_t i = 0; i < 5; i++) {
		json_decref((json_t *)y[i].scalars);
		y[i].scalars = json_pack("{s:i,s:i}", "rows", rows[i], "cols", odd[i]);
	}
	kconfigs_choose(x, 5, y, 5, 5, KCONFIGS_VARIANCE, &c);
	CHECK(kjson_int_or(c.at[0].scalars, "rows", 0) == 1 && cols(&c.at[0]) == 9);
	kconfigs_free(&c);
	for (size_t i = 0; i < 5; i++)
		json_decref((json_t *)y[i].scalars);
}

static void
test_budget(void)
{
	struct kconfigs_call x[] = {
		{ launch(2, 2, 32, 2), 10, 2560, 1024, NULL, NAN, NAN, 0 },
		{ launch(2, 2, 32, 2), 12, 2560, 2048, NULL, NAN, NAN, 0 },
		{ launch(1, 1, 32, 1), 1, NAN, 64, NULL, NAN, NAN, 0 },
	};
	struct kconfigs c;

	kconfigs_choose(x, 3, NULL, 0, 3, KCONFIGS_VARIANCE, &c);
	CHECK(near(c.at[0].inst_per_thread, 10, 1e-12) && near(c.at[0].bytes_per_thread, 6, 1e-12));
	CHECK(isnan(c.at[1].inst_per_thread) && near(c.at[1].bytes_per_thread, 2, 1e-12));
	kconfigs_free(&c);
}

int
main(void)
{
	test_example();
	test_split();
	test_same_arguments();
	test_alignment();
	test_normalisation();
	test_scalars();
	test_budget();
	for (size_t i = 0; i < LEN(seen); i++)
		json_decref((json_t *)seen[i].scalars);
	return tap_done();
}
