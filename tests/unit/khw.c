/* SPDX-License-Identifier: Apache-2.0 */
/*
 * khw and kroof: units, words that hedge, and times against a roofline. Files are tested by
 * kspec.t.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "khw.h"
#include "kroof.h"
#include "tap.h"

static void
test_units(void)
{
	enum khw_dimension d;

	CHECK(khw_metric("fp16_matrix", &d) && d == KHW_RATE);
	CHECK(khw_metric("fp8_matrix_sparse", &d) && khw_metric("int8_matrix", &d) &&
	    khw_metric("bf16_vector", &d));
	CHECK(!khw_metric("fp16", &d) && !khw_metric("fp16_matrix_", &d) &&
	    !khw_metric("fp12_matrix", &d) && !khw_metric("", &d));
	CHECK(khw_metric("memory_bandwidth", &d) && d == KHW_BANDWIDTH);
	CHECK(khw_unit(KHW_BANDWIDTH, "TB/s") == 1e12 && khw_unit(KHW_BANDWIDTH, "GB/s") == 1e9);
	CHECK(khw_unit(KHW_BANDWIDTH, "TB") <= 0);
	CHECK_STR(khw_units(KHW_BANDWIDTH), "GB/s, TB/s");
	CHECK(khw_unit(KHW_SIZE, "KiB") == 1024 && khw_unit(KHW_SIZE, "KB") == 1000);
	CHECK(khw_unit(KHW_RATE, "TOPS") == khw_unit(KHW_RATE, "TFLOPS"));
}

static void
test_hedges(void)
{
	static const char *const bad[] = { "about 5", "5 (approximately)", "~5 TB/s",
		"it Should be 5", "roughly 5", "\xe2\x89\x88 5" };
	static const char *const good[] = { "5 TB/s", "a roundabout", "aboutness: 5",
		"units: 132 SM", "" };

	for (size_t i = 0; i < LEN(bad); i++)
		CHECK(khw_hedge(bad[i]) != NULL);
	for (size_t i = 0; i < LEN(good); i++)
		CHECK(!khw_hedge(good[i]));
}

static void
test_roof(void)
{
	json_t *roofline = json_loads("{\"workloads\":[{\"workload\":\"a\",\"flops\":2e9,\"bytes\":"
	                              "1e6,\"bound\":\"compute\",\"alarm_ns\":1e5,"
	                              "\"compute_ceiling\":{\"value\":4},\"memory_ceiling\":{"
	                              "\"value\":100}},{\"workload\":\"b\",\"flops\":1e3,\"bytes\":"
	                              "1e6,"
	                              "\"bound\":\"memory\",\"memory_ceiling\":{\"value\":10}}]}",
	    0, NULL);
	json_t *timing = json_loads("[{\"workload\":\"a\",\"median_ns\":1e6},{\"workload\":\"b\","
	                            "\"median_ns\":4e5}]",
	    0, NULL);
	json_t *fast = json_loads("[{\"workload\":\"a\",\"median_ns\":99999}]", 0, NULL);
	json_t *other = json_loads("[{\"workload\":\"c\",\"median_ns\":99999}]", 0, NULL), *rows;
	const char *alarm;
	double efficiency;

	rows = kroof_utilization(roofline, timing, &efficiency, &alarm);
	CHECK(json_array_size(rows) == 2 && !alarm);
	CHECK(
	    fabs(json_number_value(json_object_get(json_array_get(rows, 0), "tflops")) - 2) < 1e-9);
	CHECK(fabs(json_number_value(json_object_get(json_array_get(rows, 0), "compute_pct")) -
	          50) < 1e-9);
	CHECK(fabs(json_number_value(json_object_get(json_array_get(rows, 1), "memory_pct")) - 25) <
	    1e-9);
	CHECK(!json_object_get(json_array_get(rows, 1), "compute_pct"));
	CHECK(fabs(efficiency - sqrt(50 * 25)) < 1e-9);
	json_decref(rows);
	rows = kroof_utilization(roofline, fast, &efficiency, &alarm);
	CHECK(alarm && !strcmp(alarm, "a"));
	json_decref(rows);
	rows = kroof_utilization(roofline, other, &efficiency, &alarm);
	CHECK(!rows && isnan(efficiency) && !alarm);
	json_decref(roofline);
	json_decref(timing);
	json_decref(fast);
	json_decref(other);
}

int
main(void)
{
	test_units();
	test_hedges();
	test_roof();
	return tap_done();
}
