/* SPDX-License-Identifier: Apache-2.0 */
/* kroof: what bounds a program, from how its times grow with the work. */
#include <string.h>

#include "kio.h"
#include "kroof.h"
#include "kutil.h"
#include "tap.h"

enum { ROWS = 4 };

struct sizes {
	double bytes, flops, ns;
};

/*
 * The class of these times, and why; "" when they do not tell. The ceilings: 1000 GB/s, 10
 * TFLOP/s.
 */
static const char *
class_of(const struct sizes *s, size_t n, const char *bound, char *why)
{
	static char class[20];
	json_t *rows = json_array(), *timing = json_array(), *roofline, *growth;

	for (size_t i = 0; i < n; i++) {
		char name[2] = { (char)('a' + i), 0 };

		json_array_append_new(rows,
		    json_pack("{s:s,s:f,s:f,s:s,s:{s:f},s:{s:f}}", "workload", name, "bytes",
		        s[i].bytes, "flops", s[i].flops, "bound", bound, "memory_ceiling", "value",
		        1000.0, "compute_ceiling", "value", 10.0));
		json_array_append_new(
		    timing, json_pack("{s:s,s:f}", "workload", name, "median_ns", s[i].ns));
	}
	roofline = json_pack("{s:o}", "workloads", rows);
	growth = kroof_growth(roofline, timing);
	snprintf(class, sizeof class, "%s", kjson_str_or(growth, "class", ""));
	snprintf(why, 200, "%s", kjson_str_or(growth, "why", ""));
	json_decref(growth);
	json_decref(timing);
	json_decref(roofline);
	return class;
}

/* Bytes and operations in proportion, unless it says otherwise. */
static const struct {
	const char *class, *why, *bound;
	size_t n;
	struct sizes s[ROWS];
} cases[] = {
	{ "overhead", "a fixed part of 5 us is 83 % of the smallest workload's time", "memory", 3,
	    { { 1e6, 1e6, 6e3 }, { 4e6, 4e6, 9e3 }, { 16e6, 16e6, 21e3 } } },
	{ "memory", "the rate falls to 53 % of its best on the largest workload", "memory", 4,
	    { { 1e6, 1e6, 1e3 }, { 4e6, 4e6, 4e3 }, { 16e6, 16e6, 16e3 }, { 64e6, 64e6, 120e3 } } },
	{ "memory", "the rate is the same at all sizes, 80 % of the ceiling of memory", "memory", 3,
	    { { 1e6, 1e6, 1.25e3 }, { 4e6, 4e6, 5e3 }, { 16e6, 16e6, 20e3 } } },
	{ "compute", "the rate is the same at all sizes, 10 % of the ceiling of memory", "memory",
	    3, { { 1e6, 1e6, 10e3 }, { 4e6, 4e6, 40e3 }, { 16e6, 16e6, 160e3 } } },
	{ "", "", "unknown", 3, { { 1e6, 1e6, 10e3 }, { 4e6, 4e6, 40e3 }, { 16e6, 16e6, 160e3 } } },
	/* a product of which the reduction alone grows: the rate of operations rises with it */
	{ "memory", "times grow with the bytes moved, and not with the operations", "compute", 3,
	    { { 5e6, 1e9, 5e3 }, { 8e6, 4e9, 8e3 }, { 20e6, 16e9, 20e3 } } },
	/* square products, whose work grows faster than their data */
	{ "compute", "times grow with the operations, and not with the bytes moved", "memory", 3,
	    { { 1e6, 1e9, 1e5 }, { 4e6, 8e9, 8e5 }, { 16e6, 64e9, 64e5 } } },
	/* what follows nothing, too few workloads, sizes too much alike */
	{ "", "", "memory", 4,
	    { { 1e6, 1e6, 9e3 }, { 4e6, 4e6, 5e3 }, { 16e6, 16e6, 30e3 }, { 32e6, 32e6, 40e3 } } },
	{ "", "", "memory", 2, { { 1e6, 1e6, 6e3 }, { 4e6, 4e6, 9e3 } } },
	{ "", "", "memory", 3, { { 4e6, 4e6, 9e3 }, { 5e6, 5e6, 10e3 }, { 6e6, 6e6, 11e3 } } },
};

int
main(void)
{
	char why[200];

	for (size_t i = 0; i < LEN(cases); i++) {
		CHECK_STR(class_of(cases[i].s, cases[i].n, cases[i].bound, why), cases[i].class);
		CHECK_STR(why, cases[i].why);
	}
	return tap_done();
}
