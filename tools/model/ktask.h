/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktask: the task file, task.json (schema task/1): what the kernel computes, how it is called, on
 * which sizes, how exact it must be. The vocabulary follows SOL-ExecBench's definition and workload
 * files: axes, typed tensors, workloads.
 */
#pragma once

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

/* "float32" and so on; KDTYPE_COUNT for any other NAME. */
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
	/*
	 * No task names these two: MIXED is for timed calls, made from the task's own; the other is
	 * for file contents, unchanged.
	 */
	KDIST_MIXED,
	KDIST_RECORDED
};
enum kdist kdist_of(const char *name); /* KDIST_COUNT for any other NAME */
const char *kdist_name(enum kdist d);

/* What values an axis may take in calls that no workload lists. FIXED: only the listed ones. */
struct ktask_limits {
	bool fixed;
	/* by the task itself: then they also apply next to inputs with given contents */
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
	bool scalar;        /* passed by value; VALUE is then its value */
	bool input, output; /* both: updated in place */
	/* stays the same object from step to step in real use */
	bool weight;
	/* its own, whatever the case says; KDIST_COUNT: that of the case */
	enum kdist distribution;
	double value;
	/* a scalar with only the listed values; else MIN to MAX, NAN if not given */
	bool fixed;
	double min, max;
	size_t align;          /* exact alignment of its address in bytes; 0: any */
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
	bool skew; /* of a grouped operation: its groups differ in size */
	/* PASS is "forward" or "backward" of the step PAIR, whose time is that of both; or NULL. */
	const char *pair, *pass;
	const json_t *sets; /* array of names; NULL: in every set */
	/* object: contents of inputs, as a list or {"file"}, values of scalars, by name; or NULL */
	const json_t *values;
	char drawn[160]; /* "N drawn as 1003": the difference from the listed workload; or empty */
	bool below;      /* drawn numbers are negative, and not small if from KDIST_LARGE */
	/* share of its time in real use, relative to the others'; default 1 */
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
	/* exact on inputs of 0 and 1: bit equality is required there */
	bool linear;
	bool deterministic; /* the same input must give the same bits twice */
	/*
	 * tensor that says how rows are divided among groups, see kgroups.h; -1: not a grouped
	 * operation
	 */
	int groups;
	bool group_offsets; /* it holds first rows and the end, not numbers of rows */
	enum kdist distributions[KDIST_COUNT];
	size_t distribution_count; /* 1 or more; the first is used for most timed calls */
	/* Tolerance; below 0: not given, see kharness(1) for the default rule. */
	double rtol, atol, matched_ratio, max_error_cap;
	bool alone;         /* single calls count, not several back to back */
	double min_time_ns; /* no honest run is faster; 0: unknown */
};

/*
 * Load FILE ("task.json"). Every field is checked: an unknown, misspelt, missing, ill-typed or
 * contradictory one ends the program with K_USAGE and a message that names file and field and says
 * what would be right; all faults are reported at once. The caller frees with ktask_free.
 */
struct ktask *ktask_load(const char *file);
void ktask_free(struct ktask *t);

/*
 * The same check, but faults are collected: returns their number, with one line each appended to
 * TEXT (the caller frees *TEXT).
 */
size_t ktask_faults(const json_t *json, char **text);

/*
 * Do its programs consist of device code only, which the driver or a run-time compiler builds?
 * TASK: the JSON of a task.
 */
bool ktask_device_only(const json_t *task);

/*
 * Why the task's reference, whose text is REFERENCE, cannot be its own oracle: the judge passes
 * double for every floating type, and the text would take it for another type. NULL: it can, or
 * there is an oracle.
 */
const char *ktask_lacks_oracle(const struct ktask *t, const char *reference);

/*
 * Path of the file NAME in a task, relative to the folder of the task's own file. The caller frees.
 */
char *ktask_path(const struct ktask *t, const char *name);

bool ktask_in_set(const struct ktask_workload *w, const char *set);
/* NULL: no such workload */
const struct ktask_workload *ktask_workload(const struct ktask *t, const char *name);

/*
 * Value of an expression for a workload: + - * / % with C's meaning and precedence, parentheses,
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
 * The limits of an axis of the task TASK (JSON): those the task states, or else what its workloads
 * have in common: from the smallest to the largest listed value (if all are the same: from half of
 * it), in steps of the greatest power of two that divides them all, at most 256.
 */
struct ktask_limits ktask_limits(const json_t *task, const char *axis);

/*
 * The values that a scalar of type T may take where V is listed: half of it to twice, 0 to 1 if it
 * is 0; an integer is never more than listed, because it may count something. MIN and MAX are the
 * task's own limits, NAN if there is none. False when only one value is possible.
 */
bool ktask_range(enum kdtype t, double v, double min, double max, double *low, double *high);

/*
 * Settle the axes of a workload whose axes of type var have been set, as the loader does for the
 * listed workloads. False when that is impossible: an expression fails, a dimension is below 1, or
 * a division in a shape or an axis leaves a remainder that it leaves in no listed workload.
 */
bool ktask_settle(const struct ktask *t, struct ktask_workload *w);

/*
 * The recorded contents of input X in the workload, {"file","fresh"}, or NULL. FRESH is whether
 * similar contents may be drawn instead: allowed for floating-point numbers, and for integers,
 * which may be indices, only if the task says so.
 */
const json_t *ktask_recorded(
    const struct ktask_workload *w, const struct ktask_tensor *x, bool *fresh);
/* Names of the files in the workloads of TASK (JSON), each once. New reference. */
json_t *ktask_recordings(const json_t *task);

/* Value of the scalar X: the workload's own, else the task's. */
double ktask_scalar(const struct ktask_workload *w, const struct ktask_tensor *x);

/*
 * Elements of a tensor (1 for a scalar), and of its last axis. The loader guarantees that they are
 * 1 or more.
 */
size_t ktask_elements(
    const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x);
size_t ktask_last_axis(
    const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x);
