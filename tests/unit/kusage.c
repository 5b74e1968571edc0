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

#define TABLE(rows) "{\"schema\":\"models/1\",\"models\":[" rows "]}"
static const char good[] = TABLE(
    "{\"provider\":\"a\",\"match\":\"big-2*\",\"input\":4,\"cache_read\":0.2,\"cache_write\":5,"
    "\"output\":20,\"max_out\":128000,\"from_date\":\"2026-01-01\"},"
    "{\"match\":\"big*\",\"input\":5,\"output\":25,\"from_date\":\"2025-01-01\"},"
    "{\"match\":\"big*\",\"input\":3,\"output\":15,\"from_date\":\"2026-06-01\"},"
    "{\"match\":\"tier*\",\"input\":2,\"cache_read\":0.1,\"cache_write\":2.5,\"output\":10,"
    "\"tier_start\":272000,\"tier_input\":4,\"tier_cache\":0.2,\"tier_output\":15},"
    "{\"match\":\"cheap\",\"input\":0.0028,\"output\":0.28},"
    "{\"match\":\"unpriced\"},"
    "{\"provider\":\"local\",\"match\":\"*\",\"input\":0,\"output\":0}");

static void
put(const char *text)
{
	if (kwrite_file(table, text, strlen(text)) < 0)
		abort();
}

/* The input price of the row for a model; -1: there is none. */
static double
input_of(bool local, const char *model, const char *date)
{
	json_auto_t *row = kmodel_find(table, local, model, date);

	return kjson_num_or(row, "input", -1);
}

static void
test_find(void)
{
	static const struct {
		bool local;
		const char *model, *date;
		double input;
	} rows[] = {
		{ false, "big-2-5", "2026-11-21", 4 },
		{ false, "big-1", "2026-11-21", 3 },
		{ false, "big-1", "2026-05-31", 5 },
		{ false, "big-1", "2024-12-31", -1 },
		{ false, "vendor/cheap", "2026-11-21", 0.0028 },
		{ false, "nothing", "2026-11-21", -1 },
		{ true, "big-2", "2026-11-21", 0 },
	};

	kforeach(row, rows) {
		double input = input_of(row->local, row->model, row->date);

		CHECK(fabs(input - row->input) < 1e-9);
	}
}

static int64_t
cost(const char *model, struct kusage u)
{
	json_auto_t *row = kmodel_find(table, false, model, "2026-11-21");

	return kmodel_cost(row, &u);
}

static void
test_cost(void)
{
	CHECK(cost("big-2", (struct kusage){ .input = 1000, .output = 200 }) ==
	    1000 * 4000 + 200 * 20000);
	CHECK(cost("big-2",
	          (struct kusage){
	              .input = 1000, .output = 200, .cache_read = 400, .cache_write = 100 }) ==
	    500 * 4000 + 400 * 200 + 100 * 5000 + 200 * 20000);
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
	struct kusage a = { 1, 2, 3, 4, 5, true, false, false },
	              b = { 10, 20, 30, 40, 50, true, true, false };

	kusage_add(&a, &b);
	CHECK(a.input == 11 && a.output == 22 && a.reasoning == 33 && a.cache_read == 44 &&
	    a.cache_write == 55);
	CHECK(a.known && a.estimated);
}

static void
test_faults(void)
{
	static const char *const bad[] = { "no table", "{}", TABLE("{}"), TABLE("{\"match\":\"\"}"),
		TABLE("{\"match\":\"x\",\"input\":\"cheap\"}"),
		TABLE("{\"match\":\"x\",\"input\":-1}"), TABLE("{\"match\":\"x\",\"imput\":1}"),
		TABLE("{\"match\":\"x\",\"output\":1001}"),
		TABLE("{\"match\":\"x\",\"sampling\":2}"),
		TABLE("{\"match\":\"x\",\"cap_field\":\"a_field_that_no_server_has\"}") };

	for (size_t i = 0; i < LEN(bad); i++) {
		put(bad[i]);
		CHECK_EXIT(K_USAGE, kmodel_find(table, false, "x", "2026-11-21"));
	}
	CHECK_EXIT(K_USAGE, kmodel_find("/nonexistent", false, "x", "2026-11-21"));
}

/* The table that ships is well formed, and its rows say what they should. */
static void
test_shipped(void)
{
	static const struct {
		const char *model, *member;
		double value;
	} rows[] = {
		{ "claude-opus-5-5-20260922", "input", 4 },
		{ "claude-opus-5-5-20260922", "cache_read", 0.2 },
		{ "claude-opus-5-20260801", "input", 5 },
		{ "openai/gpt-6.1-sol", "tier_start", 272000 },
	};
	char *path = kdata_path("tools/kllm/models.json");

	kforeach(row, rows) {
		json_auto_t *found = kmodel_find(path, false, row->model, "2026-11-21");

		CHECK(fabs(kjson_num_or(found, row->member, -1) - row->value) < 1e-9);
	}
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
