/* SPDX-License-Identifier: Apache-2.0 */
/* kclaim: figures that are hedged, figures that were shown. */
#include <stdlib.h>

#include "kclaim.h"
#include "kutil.h"
#include "tap.h"

static void
hedged(const char *text, const char *want)
{
	char *got = kclaim_hedged(text);

	CHECK_STR(got ? got : "none", want ? want : "none");
	free(got);
}

static const char shown[] = "# Profile\n"
                            "- memory.sectors_per_request: 9.68 (ideal 4)\n"
                            "- occupancy 47.3 %, ipc 0.87\n"
                            "```c\nint tile = 32; /* tile 32 */\n```\n"
                            "workload 4096x1024 takes 1.250 ms\n";

int
main(void)
{
	kutil_init("test");
	hedged("it moves about 4.8 TB/s", "it moves about 4.8 TB/s");
	hedged("near ~3 TB/s, so", "near ~3 TB/s");
	hedged("the clock should be 1.98 GHz.", "clock should be 1.98 GHz");
	hedged("about `4.8` TB/s", "about `4.8` TB/s");
	hedged("4.8 TB/s or so. More", "4.8 TB/s or so");
	hedged("it moves 4.8 TB/s, more or less", "it moves 4.8 TB/s, more or less");
	hedged("4.8 TB/s or sooner", NULL);
	hedged("approximately half of it. It moves 4.8 TB/s", NULL);
	hedged("about 40 lines", NULL);
	hedged("it moves 4.8 TB/s", NULL);
	hedged("", NULL);
	/* Results of who writes, and what only looks like one. */
	hedged("a ceiling of about 989/6 = 165 TFLOPS against 67", NULL);
	hedged("a ceiling of about 2 x 3 * 4 = 24 TFLOPS", NULL);
	hedged("a ceiling of about 989/6 = 170 TFLOPS", "of about 989/6 = 170 TFLOPS");
	hedged("of 989/6 parts about 165 TFLOPS", "989/6 parts about 165 TFLOPS");
	hedged("7.86 GB/s against a measured copy of about 22 and 21 GB/s -> it waits", NULL);
	hedged("7.86 GB/s against about 22 GB/s of a copy of the same size -> it waits", NULL);
	hedged("a copy takes 3 ms, and it moves about 4.8 TB/s", "it moves about 4.8 TB/s");
	hedged("a copy takes 3 ms; it moves about 4.8 TB/s", "it moves about 4.8 TB/s");
	hedged("a copy takes 3 ms -> it moves about 4.8 TB/s", "it moves about 4.8 TB/s");
	hedged("it moves about 4.8 TB/s, a copy less", "it moves about 4.8 TB/s");
	hedged("a copybook of about 4.8 TB/s", "copybook of about 4.8 TB/s");
	hedged("about 160 TFLOPS, by my estimate", NULL);
	hedged("about 160 TFLOPS by our estimate", NULL);
	hedged("an estimated 4.8 TB/s", "an estimated 4.8 TB/s");
	hedged("its estimate is about 4.8 TB/s", "estimate is about 4.8 TB/s");
	CHECK(kclaim_cites("9.7 sectors_per_request", shown));
	CHECK(kclaim_cites("occupancy of 47.3", shown));
	CHECK(kclaim_cites("Occupancy 47", shown));
	CHECK(kclaim_cites("ipc 0.87", shown));
	CHECK(!kclaim_cites("occupancy 0.87", shown));
	CHECK(!kclaim_cites("occupancy 48", shown));
	CHECK(!kclaim_cites("occupancy is low", shown));
	CHECK(!kclaim_cites("bandwidth 47.3", shown));
	CHECK(!kclaim_cites("tile 32", shown));
	CHECK(kclaim_cites("1.25 ms for this workload", shown));
	CHECK(!kclaim_cites("fp32 takes long", shown));
	CHECK(kclaim_cites("4096x1024: 1.250 ms, and more", shown));
	CHECK(!kclaim_cites("4096x1025: 1.250 ms", shown));
	return tap_done();
}
