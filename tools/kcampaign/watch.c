/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: the report as a page that a browser loads again and again while a campaign runs: what
 * kreport makes of the complete trials, and above it what is being made. See kcampaign.h.
 */
#include "kcampaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kmark.h"
#include "kproc.h"
#include "ktrials.h"

#define PAGE "report.html"

/* A tenth of one processor at most. */
enum { SHARE = 10, PAGE_MAX = 256 << 20 };

struct watch {
	const struct kcamp *camp;
	struct kproc_result report; /* kreport's page of the complete trials */
	char made_of[96];           /* the archive that it ends with */
	double next;                /* not before that is it made again */
};

static double
now_s(void)
{
	return (double)know_ns() * 1e-9;
}

/* The last archive, and when it was made; empty before there is one. */
static void
name_archive(char text[96])
{
	char target[48] = "";
	struct stat st;

	text[0] = '\0';
	if (readlink("archive.ndjson", target, sizeof target - 1) > 0 && kfind(target, &st))
		snprintf(text, 96, "%s %lld.%09ld", target, (long long)st.st_mtim.tv_sec,
		    st.st_mtim.tv_nsec);
}

/* What kreport says now, where it has anything new to say. */
static void
refresh_report(struct watch *w)
{
	char *program = ktool_path("kreport"), *argv[] = { program, (char[]){ "--html" }, NULL },
	     now[96];
	struct kproc p = { .argv = argv, .max_output = PAGE_MAX, .pass_err = true };
	double began = now_s();

	name_archive(now);
	if (*now && strcmp(now, w->made_of) && began >= w->next) {
		kproc_result_free(&w->report);
		if (kproc_run(&p, &w->report) < 0)
			kdie_errno(K_MISSING, "%s", program);
		memcpy(w->made_of, now, sizeof now);
		w->next = now_s() + SHARE * (now_s() - began);
	}
	free(program);
}

/* Appends what HTML has up to the end of MARK, and returns the rest. */
static const char *
add_up_to(struct kbuf *page, const char *html, const char *mark)
{
	const char *at = strstr(html, mark);
	size_t n = at ? (size_t)(at - html) + strlen(mark) : 0;

	kbuf_add(page, html, n);
	return html + n;
}

/* The page, which asks the browser to load it again after EVERY seconds. */
static void
write_page(const struct watch *w, double every)
{
	static const char blank[] = "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<main></main>\n";
	bool good = w->report.out && !w->report.exit_code && !w->report.signal;
	const char *html = good ? w->report.out : blank;
	struct kbuf page = { 0 }, now = { 0 };

	report_now(w->camp, &now);
	html = add_up_to(&page, html, "<meta charset=\"utf-8\">\n");
	kbuf_printf(&page, "<meta http-equiv=\"refresh\" content=\"%.0f\">\n", every + 0.5);
	html = add_up_to(&page, html, "<main>");
	kbuf_puts(&page, "<pre id=\"now\">");
	kmark_html(&page, now.data, now.len);
	kbuf_printf(&page, "</pre>%s", html);
	if (kwrite_file(PAGE, page.data, page.len) < 0)
		kdie_errno(K_IO, PAGE);
	kbuf_free(&now);
	kbuf_free(&page);
}

/* No run is at work, and none would find anything to do. */
static bool
is_over(const struct kcamp *c)
{
	long last = ktrials_last(c);
	char *reason = lock_holder() ? NULL : stop_reason_after(c, last);
	bool over = reason != NULL;

	free(reason);
	return over;
}

int
command_watch(const struct options *o)
{
	struct watch w = { .camp = kcamp_load(".") };
	double every = o->every ? o->every : 2;
	struct timespec pause = { (time_t)every, (long)((every - (double)(time_t)every) * 1e9) };
	char *program = ktool_path("kreport");
	bool over = false;

	catch_signals();
	ksay("%s: open " PAGE " in a browser; it follows the campaign until that is over, or you "
	     "press Ctrl-C\n",
	    kcamp_str(w.camp, "name"));
	while (!over && !is_stopped()) {
		over = is_over(w.camp);
		refresh_report(&w);
		write_page(&w, every);
		if (!over)
			nanosleep(&pause, NULL);
	}
	/* As `make report` leaves it: a page that stays as it is. */
	if (*w.made_of)
		execlp(program, program, (char *)NULL);
	die_if_stopped();
	return K_OK;
}
