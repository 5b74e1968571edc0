/* SPDX-License-Identifier: Apache-2.0 */
/* What sanitizers print, as rows of a record. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#include "../../tools/keval/findings.c"

static const char oob[] =
    "========= COMPUTE-SANITIZER\napart: 2 workloads\n"
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at saxpy(const float *, float *, int)+0x90 in candidate.cu:12\n"
    "=========     by thread (31,0,0) in block (7,0,0)\n"
    "=========     Address 0x7f0 is out of bounds\n========= \n========= ERROR SUMMARY: 1 error\n";
static const char judges[] = "========= COMPUTE-SANITIZER\n"
                             "========= Uninitialized __global__ memory read of size 4 "
                             "bytes\n=========     at kiln_flush+0x90\n========= \n"
                             "========= ERROR SUMMARY: 1 error\n";
static const char race[] =
    "========= COMPUTE-SANITIZER\n"
    "========= ERROR: Race reported between Read access at 0x63 in candidate.cu:12:sum(float *)\n"
    "=========     and Write access at 0x1f in candidate.cu:9:sum(float *) [1088 "
    "hazards]\n========= \n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";
static const char asan[] = "apart: 4 workloads\napart: done one\n==7==ERROR: AddressSanitizer: "
                           "heap-buffer-overflow on address 0x60 at pc 0x7f\n"
                           "READ of size 4 at 0x60 thread T0\n    #0 0x7f in affine._omp_fn.0 "
                           "/w/candidate.c:9\n    #1 0x7e in gomp (/lib/libgomp.so.1+0x1)\n";

static void
check(const char *tool, const char *text, bool ended, bool timed_out, const char *status,
    const char *detail)
{
	struct tool_run r = { .text = (char *)text,
		.ended = ended,
		.timed_out = timed_out,
		.done = text && strstr(text, "done") != NULL,
		.count = 4 };
	json_t *rows = json_array(), *row;

	if (!strcmp(tool, "asan"))
		findings_asan(rows, &r);
	else if (!strcmp(tool, "ubsan"))
		findings_ubsan(rows, &r);
	else
		findings_device(rows, tool, &r);
	row = json_array_get(rows, 0);
	tap_check(json_array_size(rows) == 1 && !strcmp(kjson_str_or(row, "status", ""), status) &&
	        strstr(kjson_str_or(row, "detail", ""), detail),
	    detail, tool, __LINE__);
	json_decref(rows);
}

int
main(void)
{
	check("memcheck", oob, false, false, "findings",
	    "Invalid __global__ read of size 4 bytes, at saxpy(");
	check("memcheck", "apart: done one\n========= ERROR SUMMARY: 0 errors\n", true, false,
	    "clean", "1 of 4 workloads");
	check("memcheck", "========= ERROR SUMMARY: 3 errors\n", false, false, "findings",
	    "does not describe");
	check("memcheck", "apart: done one\n", false, true, "clean", "1 of 4");
	check("memcheck", "", false, true, "timeout", "eval.sanitize_s");
	check("memcheck", "apart: done one\n", true, false, "unavailable", "without a summary");
	check("memcheck", "========= Error: Unable to find injection library\n", false, false,
	    "unavailable", "injection");
	check("memcheck", NULL, false, false, "unavailable", "did not start");
	check("initcheck", judges, true, false, "clean", "workloads");
	check("racecheck", race, false, false, "findings", "Race reported between Read access");
	check("racecheck",
	    "apart: done one\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 "
	    "warnings)\n",
	    true, false, "clean", "1 of 4");
	check("asan", asan, false, false, "findings",
	    "heap-buffer-overflow, READ of size 4, in affine._omp_fn.0 candidate.c:9");
	check("asan", "ERROR: AddressSanitizer: SEGV\n #0 in main (/kiln/kharness+1)\n", false,
	    false, "unavailable", "SEGV");
	check("ubsan", asan, false, false, "clean", "ended when asan found a fault");
	check("ubsan",
	    "apart: done one\n/w/candidate.c:3:5: runtime error: signed integer overflow\n", true,
	    false, "findings", "/w/candidate.c:3:5: runtime error: signed");
	return tap_done();
}
