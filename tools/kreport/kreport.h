/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kreport: a campaign as a page to read. Its facts, one JSON document, come from facts and views of
 * the campaign's folder; report.page turns them into a page. No clock is read, so the same files
 * give the same bytes.
 */
#ifndef KREPORT_H
#define KREPORT_H

#include "kgain.h"
#include "ktask.h"
#include "ktrials.h"

/* load.c */

struct report {
	const char *dir;
	struct kcamp *camp;
	struct ktask *task;
	struct ktrials trials;
	long last;            /* trial */
	struct karch archive; /* of that trial */
	/*
	 * Sorted by trial and branch; the reference is the first. Their records are without the
	 * long texts: prompt, codes, reply. Speed-ups are from the newest race, else from the
	 * score.
	 */
	struct kcandidate *list;
	size_t count;
	const struct kcandidate *reference;
	const struct kcandidate *best; /* NULL: only the reference is correct */
	json_t *verify;  /* eval of the newest verification of the best; NULL: none, or */
	json_t *refused; /* one in which it failed */
	long verify_trial;
	json_t *machine, *roofline; /* NULL: there is no such file */
	bool audited;               /* some candidate is */
	json_t *audit;              /* kaudit's attribution of the gains; NULL: none */
	bool linear;                /* rounds with decisions, instead of a search over cells */
	long begun; /* the trial after the last, if some of its files exist; 0: none */
};

extern struct report report; /* of this process; kept to the end */

/* A campaign without a complete trial has no candidates if EMPTY is set, and dies otherwise. */
void load_report(const char *dir, bool empty);
/*
 * Is C the next best after BEST (NULL: the reference)? By the rule of archives: a gain by more than
 * the noise of both.
 */
bool is_next_best(const struct kcandidate *best, const struct kcandidate *c);
/* The candidate of that id, or NULL. */
const struct kcandidate *find_candidate(const char *id);
/* A member of a candidate's record, by path; NULL when absent. */
const json_t *of(const struct kcandidate *c, const char *path);
const char *text_of(const struct kcandidate *c, const char *path, const char *def);

/*
 * facts.c: the content of the page, as one document. New references, NULL for what does not exist.
 */

json_t *report_facts(void);
/* {"mean","low","high"}; without high there is no upper end, and with low = high no interval. */
json_t *ratio_json(const struct kgain_ratio *ratio);
/* The record with id, status, speed, ns and the like, in the page's form. */
json_t *candidate_json(const struct kcandidate *c);
/* Was it rejected for breaking the rules? */
bool is_cheat(const struct kcandidate *c);
/* {"rows": ROWS}, taken over; NULL when there are none. */
json_t *rows_json(json_t *rows);
/* Counts names: "claude (6), other (2)", in the order in which they first appear. */
void count_name(json_t *names, const char *name);
json_t *names_json(json_t *names); /* takes NAMES over */
/* TEXT, cut to MOST bytes, with a mark for the rest. */
json_t *cut_json(const char *text, size_t most);

/* Add groups of members to the document F, each defined in its own file. */
void add_result(json_t *f);
void add_workloads(json_t *f);
void add_rounds(json_t *f);
void add_search(json_t *f);
void add_failures(json_t *f);
void add_cost(json_t *f);
void add_lineage(json_t *f);
void add_roofline(json_t *f);
void add_next(json_t *f);
void add_audit(json_t *f);
void add_environment(json_t *f);
void add_digests(json_t *f);

/* figures.c: figures as text. A text is valid until the 64th following call. */

/* The metric that the campaign's own command gives instead of a time; NULL: a time. */
const char *own_metric(const struct kcamp *c);
const char *show_times(double ratio);                       /* "157.8×" */
const char *show_rate(double per_second, const char *unit); /* "679.0 T" + unit */
const char *show_speed(const json_t *ratio);                /* "16.4× (16.1× to 16.7×)" */
const char *axis_times(double v);                           /* at the ticks of an axis */
const char *axis_number(double v);
const char *axis_rate(double v);
/* The hook of templates, which hides characters in texts that would be markup in the page. */
bool show_value(struct kbuf *out, const char *how, const json_t *value);

/* page.c: the filled-in template as HTML and as Markdown. */

struct page {
	struct kbuf html, md;
};
/* Converts a hidden markup character back. */
char page_hide(char c);
/* The SVG of a figure, by its name. */
typedef char *page_figure(const char *name);
/* REFRESH: the number of seconds after which the page is reloaded; 0: never. */
void page_make(
    struct page *p, const char *text, const char *title, long refresh, page_figure *figure);

/* svg.c: plots. */

struct axis {
	double low, high; /* in units of the axis */
	bool log, whole;  /* whole: ticks only at integers */
	double from, to;  /* on the paper */
	const char *title;
};

struct plot {
	struct kbuf svg;
	struct axis x, y;
	double width, height;
};

/*
 * An empty plot; ID must be unique on the page. The caller sets its axes before the first mark,
 * then they are drawn.
 */
void plot_begin(struct plot *p, const char *id, double width, double height, const char *title,
    const char *description);
void plot_axes(struct plot *p, const char *(*x_label)(double), const char *(*y_label)(double));
double plot_at(const struct axis *a, double value);
/* A group with a title, which browsers show next to the pointer. */
void plot_mark_begin(struct plot *p, const char *title);
void plot_mark_end(struct plot *p);
/* The figures of the page, NULL if there is nothing to draw; the caller frees. */
char *plot_progress(void);
char *plot_roof(void);

#endif
