/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klinear: the arithmetic of the linear search: how a round compares with the last accepted one,
 * whether it is kept, and the line that says so. Pure functions; measuring and storing happen
 * elsewhere.
 */
#pragma once

#include "kgain.h"
#include "status.h"

/* (new - old) / old, in percent. */
double klinear_percent(double now, double was);
/* Geometric mean of N >= 1 positive values; for N = 1 the value itself. */
double klinear_geomean(const double *x, size_t n);

enum { KLINEAR_UNITS = 256 };

/* What is judged as a unit: a timed workload, or the two passes of a step. */
struct klinear_unit {
	const char *name; /* borrowed from the task or the timing */
	bool core;
	double now, was;  /* ns; for a step the sum of its passes */
	double low, high; /* WAS at the ends of the intervals */
	double weight;    /* in the geometric means; for a step that of its heavier pass */
};

struct klinear_compare {
	struct klinear_unit unit[KLINEAR_UNITS];
	size_t count;
	/* weighted geometric mean of was / now: above 1 it is faster */
	struct kgain_ratio ratio;
	bool pairs; /* from interleaved pairs, or else from times measured separately */
	/* over the passes of steps only, for information; 0: there are none */
	double forward, backward;
};

/*
 * Compare TIMING (rows of eval.timing) with the PAIRS named "incumbent", if they cover every row,
 * or else with the rows of RIVAL of the same names. WORKLOADS is the task's list, or NULL; if none
 * of its timed workloads is "core", all are. Returns NULL, or a fault as text, which the caller
 * frees.
 */
char *klinear_compare(const json_t *workloads, const json_t *rival, const json_t *timing,
    const json_t *pairs, struct klinear_compare *out);

/*
 * N gains that were measured again, as shares. SD is the standard deviation for KLINEAR_REPEATS
 * means of N / KLINEAR_REPEATS gains each: more measurements count as longer ones.
 */
struct klinear_again {
	size_t n;
	double mean, sd;
};
/*
 * From REPEATS, objects with "pairs" each; those without a result do not count. The rest as above.
 */
struct klinear_again klinear_again(
    const json_t *workloads, const json_t *rival, const json_t *timing, const json_t *repeats);
/* Whether one more measurement is wanted. */
bool klinear_again_open(const struct klinear_again *a);

/*
 * Figures of the protocol, as shares. Every prompt states them, and all campaigns must keep the
 * same rules, so they are not knobs. A core workload that gets slower by CORE_REGRESSION costs a
 * round. A gain below BORDERLINE on the quick set is measured on the full one. A gain below
 * NEAR_NOISE, or within the noise, is measured REPEATS times more, and the mean must be above
 * MIN_MEAN; while the mean may be on either side of it, there are more measurements, up to
 * REPEATS_MOST. Below QUALITY_GAIN, a round is lost if the compiler or a profiler reports that
 * something got much worse: so small a gain may be gone in the next program. A larger gain pays for
 * it: a tiled matrix product fills a fifth of the device.
 */
#define KLINEAR_CORE_REGRESSION 0.05
#define KLINEAR_BORDERLINE 0.05
#define KLINEAR_NEAR_NOISE 0.02
#define KLINEAR_MIN_MEAN 0.01
#define KLINEAR_QUALITY_GAIN 0.2
enum { KLINEAR_REPEATS = 3, /* fewer do not show the scatter */ KLINEAR_REPEATS_MOST = 15 };
/* Workloads of the baseline and of full validation; eval.set names the quick set. */
#define KLINEAR_FULL_SET "full"

/* Everything that a decision depends on. */
struct klinear_case {
	enum status status; /* of the evaluation */
	const char *why;    /* the first reason for it, or the fault of the plan; NULL: none */
	bool overfit;       /* the audit says REJECT-as-overfit */
	const char *overfit_why;
	const char *alarm;        /* why the times are not credible; NULL: they are */
	const char *duplicate_of; /* NULL: of none */
	bool waived;              /* a person confirms a benefit other than speed */
	/* what the compiler or a profiler reports as much worse; NULL: nothing, or waived */
	const char *quality;
	bool needs_full; /* measured on the quick set, and there is a larger one */
	/* measured noise of both times together: for times measured separately */
	double floor;
	struct klinear_again again;
	const struct klinear_compare *compare; /* NULL unless correct and timed */
	bool independent;                      /* linear.metric */
};

/* In the order in which they are checked; an inconclusive round has no result, good or bad. */
enum klinear_code {
	KLINEAR_NO_PLAN,
	KLINEAR_BUILD,
	KLINEAR_RUN,
	KLINEAR_WRONG,
	KLINEAR_REJECTED,
	KLINEAR_AUDIT,
	KLINEAR_DUPLICATE,
	KLINEAR_AGGREGATE,
	KLINEAR_CORE_SHAPE,
	KLINEAR_QUALITY,
	KLINEAR_NOISE,
	KLINEAR_VOLATILE,
	KLINEAR_TIE_WAIVER,
	KLINEAR_TRADE_OFF,
	KLINEAR_GAIN,
	KLINEAR_BASELINE,
	KLINEAR_INCONCLUSIVE,
	KLINEAR_CODES
};
extern const char *const klinear_codes[KLINEAR_CODES]; /* "no_plan" and so on */

struct klinear_decision {
	enum klinear_code code;
	bool accepted, trade_off;
	double improvement; /* share; from the repeated measurements if there are any */
	/* the unit that lost most, among those that certainly got worse; NULL: none */
	const struct klinear_unit *worst;
	char why[200]; /* for a rollback: the text after "because" */
};

void klinear_decide(const struct klinear_case *c, struct klinear_decision *d);
/* "Round 4: ACCEPTED - avg +3.1%, ..." with the long dash that records have; the caller frees. */
char *klinear_line(long round, const struct klinear_case *c, const struct klinear_decision *d);

/* Percent by which a unit became faster. */
double klinear_delta(const struct klinear_unit *u);

/*
 * Must it be measured again before it is believed? True for a gain below NEAR_NOISE, or when the
 * interval contains both a gain and none.
 */
bool klinear_near_noise(const struct kgain_ratio *gain);

/* linear.target: "2.5x", "500 TFLOP/s", "300 GB/s". False when it is none of these. */
struct klinear_target {
	enum { KLINEAR_SPEEDUP, KLINEAR_FLOPS, KLINEAR_BYTES } kind;
	double value; /* times, operations per second, bytes per second */
};
bool klinear_target(const char *text, struct klinear_target *t);

/*
 * Consecutive rounds. A program that does not build, or is incomplete, is a draft: the next round
 * gets the compiler's messages and fixes it, and it counts neither as a rollback nor as a round, up
 * to KLINEAR_DRAFTS in a row.
 */
enum { KLINEAR_DRAFTS = 3 };
struct klinear_run {
	long streak; /* rollbacks in a row */
	long row;    /* drafts in a row */
	long drafts; /* in all */
};
/* Counts one more round; KEPT: it was accepted. */
void klinear_next(struct klinear_run *r, bool kept, enum status status);

/* What to do after STREAK rollbacks in a row: none, diagnose, profile, isa, sota. */
const char *klinear_escalation(long streak);
/* After this many rollbacks in a row a round has to begin with a review. */
enum { KLINEAR_STAGNATION = 2 };
/*
 * Rollbacks in a row after which a round needs a fresh profile, a listing of instructions, a
 * comparison with known kernels.
 */
enum { KLINEAR_PROFILE = 2, KLINEAR_ISA = 3, KLINEAR_SOTA = 4 };
/*
 * Does a rollback with this code speak against the direction itself? A program that did not build,
 * run or compute, or was never evaluated, may be fixed and tried again; and a change hidden by the
 * noise may be tried again unchanged.
 */
bool klinear_refutes(const char *code);
