/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kusage: rows of a model table are found by pattern, date and place, and costs are
 * exact to the nano-dollar.
 */
#include <stdlib.h>
#include <unistd.h>

#include "kutil.h"
#include "tap.h"

#include "../../tools/kllm/kusage.c"

static char table[] = "/tmp/kusage.XXXXXX";

static const char good[] =
    "# comment\n"
    "provider\tmatch\tunknown "
    "column\tinput\tcache_read\tcache_write_5m\tcache_write_1h\toutput\ttier_start\ttier_"
    "input\ttier_cache\t"
    "tier_output\tmax_out\tcap_field\tsampling\tthinking\tmin_cache\tfrom_date\n"
    "a\tbig-2*\tx\t4\t0.2\t5\t8\t20\t-\t-\t-\t-\t128000\t-\t0\tadaptive\t512\t2026-01-01\n"
    "a\tbig*\tx\t5\t0.5\t6.25\t10\t25\t-\t-\t-\t-\t-\tmax_tokens\t0\tnone\t-\t2025-01-01\n"
    "a\tbig*\tx\t3\t0.3\t3.75\t6\t15\t-\t-\t-\t-\t-\tmax_tokens\t0\tnone\t-\t2026-06-01\n"
    "b\ttier*\tx\t2\t0.1\t2.5\t-\t10\t272000\t4\t0.2\t15\t-\tmax_completion_tokens\t0\tbudget\t-"
    "\t2026-01-01\n"
    "b\tcheap\tx\t0.0028\t-\t-\t-\t0.28\t-\t-\t-\t-\t-\t-\t1\tnone\t-\t2026-01-01\n"
    "b\tunpriced\tx\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t1\tnone\t-\t2026-01-01\n"
    "local\t*\tx\t0\t0\t0\t0\t0\t-\t-\t-\t-\t-\t-\t1\tnone\t-\t2020-01-01\n";

static void
put(const char *text)
{
	if (kwrite_file(table, text, strlen(text)) < 0)
		abort();
}

static void
test_find(void)
{
	struct kmodel m;

	CHECK(kmodel_find(&m, table, false, "big-2-5", "2026-11-21") && m.input == 4000000 &&
	    m.thinking == KTHINKING_ADAPTIVE);
	CHECK(m.max_output == 128000 && m.min_cache == 512 && !m.sampling);
	CHECK_STR(m.cap_field, "max_tokens");
	CHECK(kmodel_find(&m, table, false, "big-1", "2026-11-21") && m.input == 3000000);
	CHECK(kmodel_find(&m, table, false, "big-1", "2026-05-31") && m.input == 5000000);
	CHECK(!kmodel_find(&m, table, false, "big-1", "2024-12-31"));
	CHECK(kmodel_find(&m, table, false, "vendor/cheap", "2026-11-21") && m.input == 2800 &&
	    m.line == 7);
	CHECK(
	    !kmodel_find(&m, table, false, "nothing", "2026-11-21") && m.input == -1 && m.sampling);
	CHECK(kmodel_find(&m, table, true, "big-2", "2026-11-21") && m.input == 0);
	CHECK(kmodel_find(&m, table, false, "tier-1", "2026-11-21") &&
	    m.thinking == KTHINKING_BUDGET);
	CHECK_STR(m.cap_field, "max_completion_tokens");
}

static int64_t
cost(const char *model, struct kusage u)
{
	struct kmodel m;

	kmodel_find(&m, table, false, model, "2026-11-21");
	return kmodel_cost(&m, &u);
}

static void
test_cost(void)
{
	CHECK(cost("big-2", (struct kusage){ .input = 1000, .output = 200 }) ==
	    1000 * 4000 + 200 * 20000);
	CHECK(cost("big-2",
	          (struct kusage){ .input = 1000,
	              .output = 200,
	              .cache_read = 400,
	              .cache_write = 100,
	              .cache_write_1h = 40 }) ==
	    500 * 4000 + 400 * 200 + 60 * 5000 + 40 * 8000 + 200 * 20000);
	/* 2.8 nano-dollars a token: 3 tokens are 8.4, rounded 8; 7 are 19.6, rounded 20. */
	CHECK(cost("cheap", (struct kusage){ .input = 3 }) == 8);
	CHECK(cost("cheap", (struct kusage){ .input = 7 }) == 20);
	/* No price for the cache: billed as input. */
	CHECK(cost("cheap",
	          (struct kusage){ .input = 1000, .cache_read = 900, .cache_write = 100 }) == 2800);
	/* At the threshold the low prices hold, above it the whole request has the high ones. */
	CHECK(cost("tier", (struct kusage){ .input = 272000, .output = 10 }) ==
	    272000LL * 2000 + 10 * 10000);
	CHECK(cost("tier", (struct kusage){ .input = 272001, .output = 10 }) ==
	    272001LL * 4000 + 10 * 15000);
	CHECK(
	    cost("tier",
	        (struct kusage){ .input = 300000, .cache_read = 100000, .cache_write = 100000 }) ==
	    100000LL * 4000 + 100000LL * 200 + 100000LL * 5000);
	CHECK(cost("unpriced", (struct kusage){ .input = 1 }) == KUSAGE_UNKNOWN);
	CHECK(cost("nothing", (struct kusage){ .input = 1 }) == KUSAGE_UNKNOWN);
	CHECK(cost("big-2", (struct kusage){ .input = 10, .cache_read = 20 }) == 20 * 200);
}

static void
test_add(void)
{
	struct kusage a = { 1, 2, 3, 4, 5, 6, true, false, false },
	              b = { 10, 20, 30, 40, 50, 60, true, true, false };

	kusage_add(&a, &b);
	CHECK(a.input == 11 && a.output == 22 && a.reasoning == 33 && a.cache_read == 44 &&
	    a.cache_write == 55 && a.cache_write_1h == 66);
	CHECK(a.known && a.estimated);
}

static void
test_faults(void)
{
	static const char *const bad[] = { "match\tinput\nx\tcheap\n", "match\tinput\nx\n",
		"match\tinput\nx\t1\t2\n", "match\tinput\n-\t1\n", "match\tinput\nx\t-1\n",
		"match\tsampling\nx\t2\n", "match\tthinking\nx\tdeep\n",
		"match\tcap_field\nx\tan_endless_name_of_a_field_that_no_server_has\n" };
	struct kmodel m;

	for (size_t i = 0; i < LEN(bad); i++) {
		put(bad[i]);
		CHECK_EXIT(K_USAGE, kmodel_find(&m, table, false, "x", "2026-11-21"));
	}
	CHECK_EXIT(K_USAGE, kmodel_find(&m, "/nonexistent", false, "x", "2026-11-21"));
}

/* The table that ships is well formed, and its rows say what they should. */
static void
test_shipped(void)
{
	char *path = kdata_path("tools/kllm/models.tsv");
	struct kmodel m;

	CHECK(kmodel_find(&m, path, false, "claude-opus-5-5-20260922", "2026-11-21") &&
	    m.input == 4000000 && m.cache_read == 200000);
	CHECK(kmodel_find(&m, path, false, "claude-opus-5-20260801", "2026-11-21") &&
	    m.input == 5000000 && !m.sampling);
	CHECK(kmodel_find(&m, path, false, "openai/gpt-6.1-sol", "2026-11-21") &&
	    m.tier_start == 272000);
	CHECK(kmodel_find(&m, path, true, "anything", "2026-11-21") && m.output == 0);
	free(path);
}

int
main(void)
{
	int fd = mkstemp(table);

	if (fd < 0)
		return 1;
	close(fd);
	put(good);
	test_find();
	test_cost();
	test_add();
	test_faults();
	test_shipped();
	unlink(table);
	return tap_done();
}
