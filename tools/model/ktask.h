/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktask: the task file, task.json (schema task/1): what the kernel computes, how it is called, on
 * which sizes, how exact it must be. The vocabulary is that of SOL-ExecBench's definition and
 * workload files: axes, typed tensors, workloads.
 */
#ifndef KTASK_H
#define KTASK_H

#include "kio.h"

enum {
	KTASK_AXES = 32,    /* most axes of a task */
	KTASK_TENSORS = 32, /* most tensors and scalars */
	KTASK_RANK = 8,     /* most dimensions of a tensor */
	KTASK_ARGS = 48     /* most arguments of the entry point */
};

enum kdtype {
	KDTYPE_F32,
	KDTYPE_F64,
	KDTYPE_F16,
	KDTYPE_BF16,
	KDTYPE_I32,
	KDTYPE_I64,
	KDTYPE_TF32, /* stored as float32, multiplied with 10 bits of mantissa */
	KDTYPE_E4M3,
	KDTYPE_E5M2, /* 8 bits, as in the Open Compute Project's specification */
	/* 8 bits of AMD's CDNA3: no infinity, no negative zero, another bias */
	KDTYPE_E4M3FNUZ,
	KDTYPE_E5M2FNUZ,
	KDTYPE_I8,
	KDTYPE_I16,
	KDTYPE_U8,
	KDTYPE_U16,
	KDTYPE_U32,
	KDTYPE_U64,
	KDTYPE_BOOL, /* one byte, 0 or 1 */
	KDTYPE_COUNT
};

/* "float32" and so on; KDTYPE_COUNT when NAME is none of them. */
enum kdtype kdtype_of(const char *name);
const char *kdtype_name(enum kdtype t);
size_t kdtype_size(enum kdtype t);
bool kdtype_is_float(enum kdtype t);
/* Largest finite number of a type, and smallest: 0 for types without a sign. */
double kdtype_max(enum kdtype t);
double kdtype_min(enum kdtype t);
/* Types of 16 or 8 bits that are for storage: sums of them are expected in float32. */
bool kdtype_is_storage(enum kdtype t);
/* Distance from 1 to the next larger number; 0 for integers. */
double kdtype_eps(enum kdtype t);

/* What input values look like. Meanings: kharness(1). */
enum kdist {
	KDIST_NORMAL,
	KDIST_UNIFORM,
	KDIST_ZERO_ONE,
	KDIST_LARGE,
	KDIST_TINY,
	KDIST_ALL_EQUAL,
	KDIST_SORTED,
	KDIST_HEAVY_TAIL,
	KDIST_ALTERNATING,
	KDIST_SPECIAL,
	KDIST_SPARSE,
	KDIST_COUNT,
	/* No task names these: of timed calls, made of the task's own; what files hold, as it is */
	KDIST_MIXED,
	KDIST_RECORDED
};
enum kdist kdist_of(const char *name); /* KDIST_COUNT when NAME is none of them */
const char *kdist_name(enum kdist d);

/* What values an axis may take in calls that no workload lists. FIXED: none but those listed. */
struct ktask_limits {
	bool fixed;
	/* by the task itself: they hold next to inputs of given contents too */
	bool stated;
	int64_t min, max, step; /* multiples of STEP from MIN to MAX */
};

struct ktask_axis {
	const char *name;
	enum { KAXIS_VAR, KAXIS_CONST, KAXIS_EXPR } kind;
	int64_t value;          /* KAXIS_CONST */
	const char *expression; /* KAXIS_EXPR */
	struct ktask_limits limits;
};

struct ktask_tensor {
	const char *name;
	enum kdtype dtype;
	bool scalar;        /* passed by value; then VALUE is its value */
	bool input, output; /* both: updated in place */
	/* stays the same object from step to step where it is used for real */
	bool weight;
	/* its own, whatever the case's is; KDIST_COUNT: that of the case */
	enum kdist distribution;
	double value;
	/* a scalar that has no values but those listed; else MIN to MAX, NAN where not given */
	bool fixed;
	double min, max;
	size_t align;          /* bytes that its address is a multiple of, and of no more; 0: any */
	size_t rank;           /* 0 for a scalar */
	char *dim[KTASK_RANK]; /* expressions over the axes; owned */
};

struct ktask_arg {
	enum { KARG_TENSOR, KARG_AXIS } kind;
	size_t index;      /* into tensors or axes */
	enum kdtype dtype; /* KARG_AXIS: int32 or int64 */
};

struct ktask_workload {
	const char *name;
	int64_t axis[KTASK_AXES]; /* value of every axis, in the task's order */
	bool timed, core;
	bool skew; /* of a grouped operation: its groups are unlike in size */
	/* PASS is "forward" or "backward" of the step PAIR, whose time is that of both; or NULL. */
	const char *pair, *pass;
	const json_t *sets; /* array of names; NULL: in every set */
	/* object: contents of inputs, as a list or {"file"}, values of scalars, by name; or NULL */
	const json_t *values;
	char drawn
	    [160]; /* "N drawn as 1003": what differs from the workload that is listed; or empty */
	/* share of its time where the kernel is used for real, relative to the others'; 1 */
	double weight;
};

struct ktask_baseline {
	const char *name, *file;
	const json_t *flags, *symbols; /* arrays of strings, or NULL */
};

/* Strings and JSON values are borrowed from json, which the task owns. */
struct ktask {
	char *file; /* as given */
	json_t *json;
	const char *name, *op, *description, *language;
	/* oracle NULL: the reference compiled with -DREAL=double */
	const char *entry, *reference, *oracle;
	struct ktask_axis axes[KTASK_AXES];
	size_t axis_count;
	struct ktask_tensor tensors[KTASK_TENSORS];
	size_t tensor_count;
	struct ktask_arg args[KTASK_ARGS];
	size_t arg_count;
	struct ktask_workload *workloads;
	size_t workload_count;
	struct ktask_baseline *baselines;
	size_t baseline_count;
	const char *flops, *bytes, *reduction; /* expressions, or NULL */
	/* exact on inputs of 0 and 1: bit equality is asked for there */
	bool linear;
	bool deterministic; /* the same input must give the same bits twice */
	/* tensor that says how rows fall to groups, see kgroups.h; -1: no grouped operation */
	int groups;
	bool group_offsets; /* it holds first rows and the end, not numbers of rows */
	enum kdist distributions[KDIST_COUNT];
	size_t distribution_count; /* 1 or more; the first is that of most timed numbers */
	/* Tolerance; below 0: not given, see kharness(1) for the rule that then holds. */
	double rtol, atol, matched_ratio, max_error_cap;
	bool alone;         /* a call by itself counts, not several back to back */
	double min_time_ns; /* no honest run is faster; 0: not known */
};

/*
 * Load FILE ("task.json"). Every field is checked: an unknown, misspelt, missing, ill-typed or
 * contradictory one ends the program with K_USAGE, naming file and field and saying what would be
 * right; all faults at once. The caller frees with ktask_free.
 */
struct ktask *ktask_load(const char *file);
void ktask_free(struct ktask *t);

/*
 * The same check, collecting instead of dying: number of faults, one line each appended to TEXT
 * (caller frees *TEXT).
 */
size_t ktask_faults(const json_t *json, char **text);

/*
 * Are its programs device code alone, which the driver or a run-time compiler builds? TASK: the
 * JSON of a task.
 */
bool ktask_device_only(const json_t *task);

/*
 * Why the task's reference, whose text is REFERENCE, can't be its own oracle: the judge passes
 * double for every floating type, and the text would take it for another. NULL: it can, or there is
 * an oracle.
 */
const char *ktask_lacks_oracle(const struct ktask *t, const char *reference);

/*
 * Path of the file NAME that a task names: it is relative to the folder of the task's own file. The
 * caller frees.
 */
char *ktask_path(const struct ktask *t, const char *name);

bool ktask_in_set(const struct ktask_workload *w, const char *set);
/* NULL: no such workload */
const struct ktask_workload *ktask_workload(const struct ktask *t, const char *name);

/*
 * Value of an expression for a workload: + - * / % with C's meaning and rank, parentheses,
 * integers, axis names, min(a,b), max(a,b), ceildiv(a,b). False with the reason in WHY on bad
 * syntax, an unknown name, division by zero, or a result beyond int64.
 */
bool ktask_eval(const struct ktask *t, const struct ktask_workload *w, const char *expression,
    int64_t *value, char *why, size_t why_len);
/*
 * The same for the task's own expressions, which were checked by the loader: 0 when EXPRESSION is
 * NULL.
 */
int64_t ktask_value(const struct ktask *t, const struct ktask_workload *w, const char *expression);

/*
 * The limits of an axis of the task TASK (JSON): what the task states, else what its workloads have
 * in common: from the smallest to the largest value listed (when all are the same: from half of
 * it), in steps of the greatest power of two that divides them all, 256 at most.
 */
struct ktask_limits ktask_limits(const json_t *task, const char *axis);

/*
 * The values that a scalar of type T may take where V is listed: half to twice of it, 0 to 1 where
 * it is 0; an integer is never more than listed, since it may count something. MIN and MAX are the
 * task's own limits, NAN where it has none. False when there is but one.
 */
bool ktask_range(enum kdtype t, double v, double min, double max, double *low, double *high);

/*
 * Settle the axes of a workload whose axes of type var have been set, as the loader does for those
 * listed. False when that can't be: an expression fails, a dimension is below 1, or a division in a
 * shape or an axis leaves a remainder that it leaves in no workload listed.
 */
bool ktask_settle(const struct ktask *t, struct ktask_workload *w);

/*
 * The recorded contents of input X that the workload names, {"file","fresh"}, or NULL. FRESH is
 * whether other contents like them may be drawn: that of numbers may, that of whole ones, which may
 * be indices, only where the task says so.
 */
const json_t *ktask_recorded(
    const struct ktask_workload *w, const struct ktask_tensor *x, bool *fresh);
/* Names of the files that the workloads of TASK (JSON) name, each once. New reference. */
json_t *ktask_recordings(const json_t *task);

/* Value of the scalar X: the workload's own, else the task's. */
double ktask_scalar(const struct ktask_workload *w, const struct ktask_tensor *x);

/*
 * Elements of a tensor (1 for a scalar), and of its last axis. The loader has made sure that they
 * are 1 or more.
 */
size_t ktask_elements(
    const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x);
size_t ktask_last_axis(
    const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x);

#endif
