/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: the report as a page that a browser reloads repeatedly while a campaign runs: kreport's
 * page about the complete trials, preceded by what is running now. See kcampaign.h.
 */
#include "kcampaign.h"

#define PAGE "report.html"

/* At most a tenth of one processor. */
enum { SHARE = 10 };

/* Writes the page, which asks the browser to reload it after EVERY seconds. */
static void
write_page(double every)
{
	const char *const argv[] = { "kreport", "--refresh", kshown("%.0f", every + 0.5), "-o",
		PAGE, NULL };

	report_now();
	kproc_tool(argv, &page, NULL);
	kbuf_free(&page);
}

/* No run is active, and a new one would find nothing to do. */
static bool
is_over(void)
{
	auto_free char *reason = lock_holder() ? NULL : stop_reason_after(ktrials_last());

	return reason != NULL;
}

int
command_watch(void)
{
	double every = given.every ?: 2;
	bool over = false;

	catch_signals();
	ksay("%s: open " PAGE " in a browser; it follows the campaign until that is over, "
	     "or you press Ctrl-C\n",
	    kcamp_str("name"));
	while (!over && !is_stopped()) {
		int64_t began = know_ns();
		double pause;

		over = is_over();
		write_page(every);
		pause = fmax(every, SHARE * kseconds_since(began));
		if (!over)
			nanosleep(&(struct timespec){ (time_t)pause,
			              (long)((pause - floor(pause)) * 1e9) },
			    NULL);
	}
	/* Leave the page as `make report` makes it, without reloading. */
	if (ktrials_last() >= 0)
		execlp(ktool_path("kreport"), "kreport", (char *)NULL);
	die_if_stopped();
	return K_OK;
}
