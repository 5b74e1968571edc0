/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kreport: a campaign as a page to read. Its facts, one JSON document, come from facts and views of
 * the campaign's folder; report.page turns them into a page. No clock is read, so the same files
 * give the same bytes.
 */
#pragma once

#include "kchain.h"
#include "kregex.h"
#include "ktask.h"
#include "ktrials.h"

/* load.c */

struct report {
	struct ktask *task;
	/*
	 * Sorted by trial and branch; the reference is the first. Their records are without the
	 * long texts: prompt, codes, reply. Speed-ups are from the newest race, else from the
	 * score.
	 */
	struct kcandidate **list; /* in the trials */
	size_t count;
	const struct kcandidate *reference;
	const struct kcandidate *best; /* NULL: only the reference is correct */
	json_t *verify;  /* eval of the newest verification of the best; NULL: none, or */
	json_t *refused; /* one in which it failed */
	long verify_trial;
	json_t *machine, *roofline; /* NULL: there is no such file */
	bool audited;               /* some candidate is */
	json_t *audit;              /* the account of the gains */
	long begun; /* the trial after the last, if some of its files exist; 0: none */
};

extern struct report report; /* of this process; kept to the end */

/* A campaign without a complete trial has no candidates if EMPTY is set, and dies otherwise. */
void load_report(bool empty);
/*
 * Is C the next best after BEST (NULL: the reference)? By the rule of archives: a gain by more than
 * the noise of both.
 */
bool is_next_best(const struct kcandidate *best, const struct kcandidate *c);
/* A member of a candidate's record, by path; NULL when absent. */
const json_t *of(const struct kcandidate *c, const char *path);
const char *text_of(const struct kcandidate *c, const char *path, const char *def);

/* facts.c: the content of the page. New references, NULL for what does not exist. */

/* One document; *FIGURES, a new reference too, has the plots of the page, in SVG. */
json_t *report_facts(json_t **figures);
/* {"mean","low","high"}; without high there is no upper end, and with low = high no interval. */
json_t *ratio_json(const struct kgain_ratio *ratio);
/* The record with id, status, speed, ns and the like, in the page's form. */
json_t *candidate_json(const struct kcandidate *c);
/* TEXT, cut to MOST bytes, with a mark for the rest. */
json_t *cut_json(const char *text, size_t most);

/* What was timed on each workload, the steps between candidates, and digests of files. */
json_t *workloads_json(void);
json_t *steps_json(const json_t *ids);
json_t *digests_json(void);

/* figures.c: figures as text. A text is valid until the 64th following call. */

/* The metric that the campaign's own command gives instead of a time; NULL: a time. */
const char *own_metric(void);
/* The hook of templates, which hides characters in texts that would be markup in the page. */
bool show_value(struct kbuf *out, const char *how, const json_t *value);

/* page.c: the filled-in template as a page. */

/* A character of a value, hidden if it is one of markup; and all of a text back, in place. */
char page_hide(char c);
void page_show(char *text, size_t len);
/*
 * As HTML or Markdown. FIGURES: the SVG of each figure that it names; REFRESH: the number of
 * seconds after which the page is reloaded, 0: never.
 */
struct kbuf page_make(
    bool html, const char *text, const char *title, long refresh, const json_t *figures);
