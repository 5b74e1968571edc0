/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kreport: a campaign as a page to read. Everything in it comes from facts and views of the
 * campaign's folder, and no clock is read, so that the same files give the same bytes.
 */
#ifndef KREPORT_H
#define KREPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "doc.h"
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
	 * By trial and branch; the reference is the first. Their records are without the texts
	 * that are long: prompt, codes, reply. Speed-ups are of the newest race, else of the
	 * score.
	 */
	struct kcandidate *list;
	size_t count;
	const struct kcandidate *reference;
	const struct kcandidate *best; /* NULL: none but the reference is correct */
	json_t *verify;  /* eval of the newest verification of the best; NULL: none, or */
	json_t *refused; /* that of one which found it wrong */
	long verify_trial;
	json_t *machine, *roofline; /* NULL: there is no such file */
	bool audited;               /* some candidate is */
	json_t *audit;              /* what kaudit makes of the gains; NULL: nothing */
	bool linear;                /* rounds with decisions, in place of a search over cells */
	long begun; /* trial after the last whose files are there in part; 0: none */
};

void load_report(struct report *r, const char *dir);
void free_report(struct report *r);
/*
 * Does C follow BEST (NULL: the reference) as the best? By the rule of archives: a gain, beyond the
 * noise of both.
 */
bool is_next_best(
    const struct report *r, const struct kcandidate *best, const struct kcandidate *c);
/* The candidate of that id, or NULL. */
const struct kcandidate *find_candidate(const struct report *r, const char *id);
/* A member of a candidate's record, by path; NULL when absent. */
const json_t *of(const struct kcandidate *c, const char *path);
const char *text_of(const struct kcandidate *c, const char *path, const char *def);

/* figures.c: figures as text. The text is good until the 64th next call. */

const char *show_time(double ns);                           /* "31.63 µs" */
const char *show_times(double ratio);                       /* "157.8×" */
const char *show_percent(double ratio);                     /* "102.8 %" */
const char *show_change(double percent);                    /* "+1.23 %" */
const char *show_rate(double per_second, const char *unit); /* "679.0 T" + unit */
const char *show_bytes(double bytes);
const char *show_count(long long n); /* "12,345" */
const char *show_usd(double usd);
const char *plural(long long n, const char *one, const char *many); /* "1 round" */

/* How often each name came: "claude (6), other (2)", in the order of their first; caller frees. */
void count_name(json_t *names, const char *name);
char *names_of(json_t *names);
/* A row of two cells; without a value none. */
void put_fact(struct doc *d, const char *name, const char *value);

const char *axis_times(double v); /* at the ticks of an axis */
const char *axis_number(double v);
const char *axis_rate(double v);

/* Its interval, "155× to 161×"; AS shows one end. */
const char *show_interval(const struct kgain_ratio *r, const char *(*as)(double));
/* "16.4× (16.1× to 16.7×)" of a candidate, the same wherever it is shown. */
const char *show_speedup(const struct kcandidate *c);

/* svg.c: plots. */

struct axis {
	double low, high; /* in units of the axis */
	bool log, whole;  /* whole: ticks at whole numbers alone */
	double from, to;  /* on the paper */
	const char *title;
};

struct plot {
	struct kbuf svg;
	struct axis x, y;
	double width, height;
};

/*
 * An empty plot; ID is its own on the page. Its axes are set by the caller before the first mark,
 * then drawn.
 */
void plot_begin(struct plot *p, const char *id, double width, double height, const char *title,
    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void plot_area(struct plot *p); /* the default place for the axes */
void plot_x_axis(struct plot *p, const char *(*label)(double));
void plot_y_axis(struct plot *p, const char *(*label)(double));
double plot_at(const struct axis *a, double value);
void plot_text(struct plot *p, double x, double y, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* A group with a title, which browsers show beside the pointer. */
void plot_mark_begin(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void plot_mark_end(struct plot *p);
/* As it is: no data. */
void plot_svg(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct kbuf *plot_end(struct plot *p);

/* The sections of the report, each in its own file. */
void put_headline(struct doc *d, const struct report *r);
void put_workloads(struct doc *d, const struct report *r); /* with put_sources and put_times */
void put_sources(struct doc *d, const struct report *r);   /* part of the headline */
void put_times(struct doc *d, const struct report *r);
void put_roofline(struct doc *d, const struct report *r);
void put_search(struct doc *d, const struct report *r);
void put_map(struct doc *d, const struct report *r);
void put_lineage(struct doc *d, const struct report *r);
void put_failures(struct doc *d, const struct report *r);
void put_rounds(struct doc *d, const struct report *r);
void put_audit(struct doc *d, const struct report *r);
void put_cost(struct doc *d, const struct report *r);
void put_environment(struct doc *d, const struct report *r);
void put_reproduce(struct doc *d, const struct report *r);

#endif
