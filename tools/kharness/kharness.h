/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the parts of the judge and their interfaces. A fault of the environment ends the
 * program (kdie).
 */
#pragma once

#include <sched.h>
#include <sys/types.h>

#include "backend.h"
#include "klaunch.h"
#include "krun.h"
#include "ktask.h"
#include "kutil.h"
#include "space.h"
#include "status.h"

/* What the judge spends its time on: exactly one of these at every moment. */
enum spent {
	SPENT_STARTING,    /* programs and runners */
	SPENT_DEVICE,      /* until a device is available */
	SPENT_KERNELS,     /* compiling and loading the judge's kernels */
	SPENT_WAITING,     /* waiting for the lock of the machine or device */
	SPENT_DRAWING,     /* inputs */
	SPENT_ORACLE,      /* expected results */
	SPENT_LOADING,     /* writing tensors, poison and patterns to shared memory */
	SPENT_FLUSHING,    /* caches */
	SPENT_CALLING,     /* while the subjects run */
	SPENT_STOPPING,    /* them again */
	SPENT_PACING,      /* measuring the cost of a go itself */
	SPENT_CHECKING,    /* results and patterns */
	SPENT_BUSY,        /* waiting for processors that other programs kept busy */
	SPENT_CORRECTNESS, /* other time in tier T2, T3, and --reuse */
	SPENT_TIMING,
	SPENT_REUSE,
	SPENT_COUNT
};

enum { RACERS_MAX = 17 };

/* Values from the command line. */
struct options {
	const char *task, *set, *oracle, *candidate, *name, *output, *sandbox;
	const struct backend *backend;
	const char *workload; /* for --solo; NULL: all that are timed */
	const char *save;     /* for --solo: folder for outputs; or NULL */
	bool ceilings, correctness, timing, solo, reuse;
	bool await; /* the candidate is written while its runner starts */
	/* compare every program with every other, not only with the candidate */
	bool all_pairs;
	bool apart;         /* for --solo: a separate allocation for every tensor */
	bool fenced;        /* each ends at memory that nobody may touch */
	bool drawn;         /* sizes as the check draws them around those of the workloads */
	bool warm;          /* for --solo: print the time of a call whose caches are warm */
	const char *clocks; /* off, try or require: lock a GPU's clocks */
	long clocks_mhz;    /* at this frequency; 0: the device's default */
	long threads, seeds, min_samples, max_samples;
	double timing_s, warmup_s, run_timeout_s;
	double busy_s; /* how long to wait for processors that other programs keep busy */
	uint64_t memory_bytes, seed;
	const char *against[RACERS_MAX - 1]; /* NAME=FILE */
	size_t against_count;
};

/* The run as a whole: that of this process. */
extern struct judge {
	struct options o;
	struct ktask *task;
	const struct space *space; /* where tensors are */
	/* a GPU: the entry takes a stream, and krun-gpu calls it */
	bool device;
	bool alone;  /* nobody else is measuring on it now */
	int shared;  /* its lock, held with others since the context was made; -1: it is not held */
	bool beside; /* runs on the candidates' only processor, but not while they run */
	/* processor on which a single-threaded runner begins its go; -1: any */
	int begin_on;
	int device_number;
	char *device_uuid; /* name of its lock */
	/* facts of the OpenCL device, or NULL; then krun-opencl calls candidates */
	json_t *opencl;
	/* it has its own memory, so tensors are copied there before the clock starts */
	bool copies;
	struct oracle *oracle; /* NULL: results are not compared */
	int level;             /* of the sandbox */
	cpu_set_t cpus;        /* where candidates run */
	json_t *clocks;        /* result of locking the device's clocks; NULL: not
                                        * requested */
	size_t draws;          /* inputs drawn so far: number of the next random stream */
	size_t specials;       /* calls drawn with special values */
	json_t *environment;   /* the conditions of the measurement */
	/* how busy it was while subjects were timed; NULL: none were */
	json_t *machine;
	enum spent doing;
	int64_t since_ns, spent_ns[SPENT_COUNT];
} judge;

/*
 * Does what follows with each tensor X, or each workload W, of the task, which it declares; a
 * tensor's number is its index.
 */
#define tensors_each(x) kforeach_of(x, judge.task->tensors, judge.task->tensor_count)
#define workloads_each(w) kforeach_of(w, judge.task->workloads, judge.task->workload_count)
static inline size_t
tensor_number(const struct ktask_tensor *x)
{
	return (size_t)(x - judge.task->tensors);
}
/* Elements of tensor X on workload W. */
static inline size_t
tensor_elements(const struct ktask_workload *w, const struct ktask_tensor *x)
{
	return ktask_elements(judge.task, w, x);
}

/*
 * The random stream for a PURPOSE that belongs to draw NUMBER: judge.draws, or judge.draws++ if a
 * later call must get another.
 */
static inline struct krng
judge_stream(size_t number, const char *purpose)
{
	struct krng rng;

	krng_init(&rng, judge.o.seed, (long)number, 0, purpose);
	return rng;
}

/* From now on time counts as WHAT; returns what it counted as before. */
enum spent spent_on(enum spent what);
void spent_back(const enum spent *before);
/* The same up to the end of the block. */
#define auto_spent(what) \
	enum spent spent_before __attribute__((cleanup(spent_back))) = spent_on(what)

/* ---- values.c: reading and writing the numbers of tensors ---- */

/*
 * Loops over tensors are also compiled for the vector units of several processors: on a CPU they
 * are most of a verdict's time.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HOT
#endif

/* Convert N values of a tensor to doubles, or doubles to a tensor, rounded to nearest. */
void values_widen(enum kdtype t, const void *from, size_t n, double *to);
void values_narrow(enum kdtype t, const double *from, size_t n, void *to);
/* Drawn integers are multiples of this. */
double values_width(enum kdtype t, enum kdist d);
/* Fill a tensor of N elements, or some of its elements, with values of a distribution. */
void values_draw(enum kdtype t, struct recipe how, struct krng *rng, size_t n, void *to);
/*
 * Fill rows of ROW whole numbers, N in all, with the special distribution: a row has small numbers,
 * random bits, or small numbers among the limits of the type, zeros, and powers of two and their
 * neighbours.
 */
void values_draw_whole(enum kdtype t, size_t row, struct krng *rng, size_t n, void *to);

/* ---- oracle.c: the trusted implementation in double precision, called in this process ---- */

/*
 * THREADS is the size of its OpenMP team; STREAM belongs to the device that it runs on, or is NULL.
 * Dies with K_USAGE when FILE is not a shared object with the task's entry point.
 */
struct oracle *oracle_open(const char *file, int threads, void *stream);
/*
 * One call. VALUES[i] is tensor i: doubles for floating types, the type itself for integers.
 * Outputs are written to it.
 */
void oracle_call(const struct oracle *o, const struct ktask_workload *w, void *const *values);
void oracle_close(struct oracle *o);

/* ---- vary.c: workloads that the task does not list ---- */

/*
 * A workload similar to W: sizes, scalars and the order of groups are drawn anew as the task
 * allows, within arenas of these sizes; or only the size ONLY, unless that is the number of axes,
 * or no size if it is VARY_SCALARS.
 * ODD: sizes that no block of an even length divides, where the task allows them. RNG NULL: only
 * sizes, the largest that may be drawn. False, with nothing to free, when the task fixes all these.
 * Free with vary_free.
 */
#define VARY_SCALARS SIZE_MAX
bool vary_draw(const struct ktask_workload *w, size_t only, bool odd, struct krng *rng,
    size_t in_bytes, size_t out_bytes, struct ktask_workload *to);
/* W with other scalars and another order of groups, if the task lets them vary; free it, too. */
void vary_scalars(const struct ktask_workload *w, struct ktask_workload *to);
void vary_free(struct ktask_workload *w);

/* ---- batch.c: inputs of one or more calls, and the expected results ---- */

struct call {
	/* inputs, as the candidate sees them; NULL for pure outputs and scalars */
	void *raw[KTASK_TENSORS];
	/* outputs, see oracle_call; NULL for pure inputs, or without an oracle */
	void *expected[KTASK_TENSORS];
	double scale[KTASK_TENSORS]; /* see compare.c; only for outputs of few elements */
};

struct batch {
	const struct ktask_workload *w;
	enum kdist dist;
	size_t count;
	struct call *calls;
	uint64_t seed; /* of this draw, for the record */
	bool hidden;   /* a call can touch only its own tensors; its time then means nothing */
	/*
	 * after this long the process is stopped once and inspected, and the calls that have not
	 * begun get other inputs; 0: never
	 */
	double look_ns;
	size_t look_row; /* or, if not 0, when this many rows, the first, have been read */
};

/*
 * Draw inputs for COUNT calls; with EXPECT, have the oracle compute the results. Free with
 * batch_free.
 */
void batch_draw(
    struct batch *b, const struct ktask_workload *w, enum kdist dist, size_t count, bool expect);
/*
 * The same, with expected results for CHECKED of the calls, chosen unpredictably, and, unless
 * CHECKED is 0, for one more of the FIRST ones if there is none among these.
 */
void batch_draw_checked(struct batch *b, const struct ktask_workload *w, enum kdist dist,
    size_t count, size_t checked, size_t first);
/*
 * Have the oracle compute the results for inputs that were drawn without them, or have changed
 * since.
 */
void batch_expect(struct batch *b);
/* The same for one of the calls. */
void batch_expect_call(const struct batch *b, size_t call);
/*
 * How far each element of an output of call C may be off because the problem is ill-conditioned.
 * This is the larger of two products: PER_CONDITION times how far it moves with the inputs,
 * relative to their change, and PER_ERROR times how far the oracle's own rounding errors move it,
 * in units of its eps. Both distances are root mean squares of RUNS; only the second counts where
 * the oracle is not more precise than the output. In the judge's space; the caller releases it.
 */
double *batch_slack(const struct batch *b, const struct call *c, size_t tensor,
    double per_condition, double per_error, int runs);
/*
 * Draws other inputs for one of the calls, or a few elements of them, and their results if those of
 * the old ones are known.
 */
void batch_redraw(const struct batch *b, size_t call);
void batch_free(struct batch *b);
/*
 * Whether the task asks for special values of tensor X, by a distribution of its own or by one of
 * the task's. If not, whole numbers stay small even in KDIST_SPECIAL, because they may be indices.
 */
bool batch_may_be_special(const struct ktask_tensor *x);
/*
 * Whether inputs may all be below zero, in a workload that says so. The task must draw both signs
 * and must not be linear: a sum of negative numbers shows no more than one of positive ones. *D:
 * from which distribution.
 */
bool batch_may_be_below(enum kdist *d);
/* Whether KDIST_MIXED differs from the task's first distribution. */
bool batch_may_mix(void);
/*
 * Whether KDIST_SPARSE may leave few elements of this tensor: it has no distribution of its own,
 * and no contents given by the workload. W may be NULL.
 */
bool batch_may_be_sparse(const struct ktask_workload *w, const struct ktask_tensor *x);
/* Whether the results of a call are known. */
bool call_is_checked(const struct call *c);

/* ---- recorded.c: inputs with contents from files ---- */

/* Whether the workload names any files; whether any of its inputs is drawn anew for each call. */
bool recorded_any(const struct ktask_workload *w);
bool recorded_varies(const struct ktask_workload *w);
/*
 * Fill input X of a call of the batch with the contents of its file or, unless the batch is of
 * KDIST_RECORDED, with similar values if these may be drawn. False: there is no file. Dies with
 * K_USAGE when the file is not what the task says.
 */
bool recorded_draw(const struct batch *b, const struct ktask_tensor *x, struct krng *rng, void *to);

/* ---- compare.c: are the results right ---- */

struct verdict {
	size_t elements, mismatches, unwritten;
	double max_abs, max_share; /* errors: the largest, and the largest relative to its
                                    * tolerance */
	/* error and tolerance of the element furthest beyond its tolerance */
	double worst, tolerance;
	size_t worst_at;    /* its index */
	const char *tensor; /* and tensor */
	bool excuses;       /* set by the caller: look for what excuses small errors */
	bool ok;
};

/*
 * Compare GOT, the bytes of output tensor T, with what was EXPECTED, and add to the verdict. POISON
 * is the element that filled the tensor before the call; it tells elements that were never written
 * from wrong ones.
 */
void compare_tensor(const struct batch *b, const struct call *c, size_t tensor, const void *got,
    uint64_t poison, struct verdict *v);
/* The same for two results of one call, of a type that is not whole numbers; NOW is judged. */
void compare_outputs(const struct batch *b, size_t tensor, const char *then, const char *now,
    uint64_t poison, struct verdict *v);
/* Whether sums of sparse inputs are judged more strictly than others, see compare.c. */
bool compare_is_sharp(const struct ktask_workload *w);
void verdict_begin(struct verdict *v);
/* Decide, after all tensors. */
void verdict_end(struct verdict *v);

/* ---- arena.c: where tensors are in the memory that judge and runner share ---- */

/* Is argument A an array, not a number, which goes into *VALUE? */
bool argument_is_array(const struct ktask_workload *w, const struct ktask_arg *a, double *value);

/* Where the tensors of a call are in an arena: offset of the first byte, and of the call's slot. */
struct place {
	size_t tensor[KTASK_TENSORS];
	/* bits of the inputs that are in another call's slot, without bands */
	uint32_t elsewhere;
	size_t in_slot, out_slot, in_end, out_end;
};

struct memory {
	struct arena in, out;
	uint64_t *rows;       /* of the calls, row_words() each; see krun.h */
	size_t calls;         /* room for this many */
	struct place *places; /* one per loaded call */
	size_t count;
	/* their slots of the output arena, ascending and disjoint */
	struct range *used;
	size_t used_count;
	uint64_t guard; /* key of the pattern around the outputs */
	/* and of the pattern in the rest of the output arena, which stays the same */
	uint64_t far;
	size_t first;    /* slot of the first call */
	size_t far_next; /* where the next partial check of the rest begins */
	bool strayed;    /* the rest was found changed when a call was about to use it */
	uint64_t poison; /* word that outputs are filled with */
	bool odd;        /* which of two poisons is next */
};

static inline size_t
row_words(void)
{
	return judge.task->arg_count + KRUN_SLOTS;
}

/* Tensors begin at multiples of at least this many bytes, a power of two. */
void memory_align(size_t bytes);
/* Bytes of a tensor. */
size_t tensor_bytes(const struct ktask_workload *w, const struct ktask_tensor *x);
/* Bytes that one call of a workload takes in each arena. */
void memory_slot(const struct ktask_workload *w, size_t *in, size_t *out);
/* Bytes of arenas that hold one call of any workload of the set, or of any TIMED one. */
void memory_largest(bool timed, size_t *in, size_t *out);
/* Whether a call is so small that more calls cost little. */
bool workload_is_small(const struct ktask_workload *w);
/* Arenas of these sizes, for up to CALLS calls at once. */
void memory_open(struct memory *m, size_t in_bytes, size_t out_bytes, size_t calls);
void memory_close(struct memory *m);
/*
 * Place a batch at addresses that the previous call did not use, and write everything: inputs with
 * NaN around them, poison in the outputs with a secret pattern around them, and the rows of
 * arguments.
 */
void memory_load(struct memory *m, const struct batch *b);
/*
 * The same for a batch of one call, in slot SLOT, where the inputs in WHICH (bits) keep their
 * places in KEPT; their contents are still written.
 */
void memory_load_beside(
    struct memory *m, const struct batch *b, size_t slot, const struct place *kept, uint32_t which);
/* The same for a batch of one call, exactly where WHERE says; the whole arena counts as used. */
void memory_load_at(struct memory *m, const struct batch *b, const struct place *where);
/* Whether the outputs of the calls from number FROM to before TO are as they were loaded. */
bool memory_untouched(const struct memory *m, const struct batch *b, size_t from, size_t to);
/*
 * In the middle of a go: gives the calls from number FROM on, which have not begun, other inputs.
 * False when one of them had been written to.
 */
bool memory_change(struct memory *m, const struct batch *b, size_t from);
/*
 * Prepares the batch that is already there for another runner: outputs are poisoned and guarded
 * again.
 */
void memory_reload(struct memory *m, const struct batch *b);
/*
 * Flush the tensors of a batch from the caches, so that the calls find them in memory; not those
 * that stay in one place (memory_load_beside).
 */
void memory_flush(const struct memory *m, const struct batch *b);
/*
 * A copy of the outputs' arena; only what calls use is filled. The caller releases it.
 */
char *memory_outputs(const struct memory *m);
/*
 * False when a byte around the outputs has changed; then WHERE names the tensor and the distance.
 * The rest of the arena, which no call uses now, is checked too: ALL of it or, if it is large, one
 * part per check, in turn.
 */
bool memory_intact(
    struct memory *m, const struct batch *b, bool all, char *where, size_t where_len);
/* Compares the results of a call with the oracle's; OUTPUTS is the arena's memory, or a copy. */
void memory_check(const struct memory *m, const char *outputs, const struct batch *b, size_t call,
    struct verdict *v);

/* ---- witness.c: calls that the oracle does not check ---- */

/* The outputs of a go, in the judge's space, and for how many calls; NULL: none. */
struct witness {
	char *outputs;
	size_t calls;
};

/* Keep what is in memory, if there are calls that are not checked. */
void witness_take(struct witness *w, const struct memory *m, const struct batch *b);
/*
 * The unchecked call whose outputs in memory differ most from the witness's, relative to their
 * tolerance; b->count: none exceeds it. Begins at an unpredictable call, and compares as many as
 * the oracle's time for a sample allows.
 */
size_t witness_differs(const struct witness *w, const struct memory *m, const struct batch *b);
void witness_drop(struct witness *w);
/*
 * Describes what is at an offset of the input or output arena. Returns the name of the tensor that
 * it is in, or NULL; borrowed.
 */
const char *memory_describe(const struct memory *m, const struct batch *b, bool input,
    size_t offset, char *text, size_t text_len);

/* ---- runner.c: the candidate's process ---- */

enum outcome { OUT_OK, OUT_DIED, OUT_TIMEOUT, OUT_FLOOD, OUT_PROTOCOL, OUT_AWAKE };

struct runner {
	pid_t outer, pid; /* outermost process of the sandbox, and the runner itself */
	int socket, output;
	char *work;
	clockid_t clock; /* its processor time */
	/*
	 * pipe of the calls' arguments; we keep its reading end, so that a write always has a
	 * reader
	 */
	int rows[2];
	int starts[2];    /* sockets: ours, and the one on which krun-c says when calls began */
	struct memory *m; /* not owned: several runners may share one, and run in turns */
	uint64_t base[2]; /* where it maps inputs and outputs */
	int64_t fence_ns; /* of the space, while the runner is idle */
	long lates;       /* how often its device was still working after it had reported
                                * done */
	int64_t frozen_cpu_ns; /* processor time when it was stopped */
	int64_t ended_ns;      /* of this, that of threads that had ended */
	/* time that its threads had waited for a processor when it was stopped */
	int64_t frozen_delay_ns;
	long goes; /* how often it was started */
	/* processor time in all of these, and while it was stopped */
	int64_t inside_ns, outside_ns;
	long awakes;         /* before how many of them it had worked although it was stopped */
	int threads;         /* when last stopped */
	char thread[64][12]; /* their ids, for the first KNOWN */
	int known;
	struct kbuf printed; /* the beginning of what it wrote to stdout and stderr */
	size_t printed_bytes;
	struct krun_report fault;
	bool faulted;
	char why[512]; /* set after anything but OUT_OK */
	const char *check;
	const char *wrote;            /* the input that it wrote to, which killed it; or NULL */
	struct klaunch_list launches; /* of a candidate that consists of device code only */
};

/*
 * One go: the runner is woken, makes the calls of a batch, and is stopped again. Times by the
 * runner's own clock, by the judge's, and in processor time, until "done" and until it was stopped.
 * DELAY_NS is how long the runner's threads, all together, waited for a processor until "done",
 * JUDGE_DELAY_NS how long the judge did.
 */
struct span {
	int64_t own_ns, judge_ns, done_cpu_ns, cpu_ns, delay_ns, judge_delay_ns;
	int64_t host_ns; /* krun-gpu: until the last entry returned, as the runner reports it */
};

/* The cost of a go itself: that of a runner that reads its rows and makes no calls. */
struct handshake {
	double ns, own_ns, cpu_ns;
	double stopped_cpu_ns; /* until it was stopped */
	double spread_ns;      /* how far two of them may differ */
	/* range of the middle half, by the judge's clock and by the exact ones */
	double range_ns, exact_range_ns;
};

/*
 * Start a runner for the shared object FILE. OUT_OK, or how it failed, with CHECK and WHY set.
 * Close it in either case. The runner waits for its setup and the memory M, which the caller keeps;
 * on a GPU M may still be NULL when it is spawned. Then it gets ready in the background;
 * runner_greet waits until it is ready, and stops it.
 */
enum outcome runner_spawn(struct runner *r, const char *file, struct memory *m);
void runner_set_up(struct runner *r, struct memory *m);
/* Both. */
enum outcome runner_launch(struct runner *r, const char *file, struct memory *m);
void runner_greet(struct runner *r);
/* Load the candidate's code. Outcomes as above. */
enum outcome runner_load(struct runner *r);
/* All of it. */
enum outcome runner_open(struct runner *r, const char *file, struct memory *m);
/*
 * Let it make the calls of the batch in its memory, and stop it again. The runner runs only during
 * this function.
 */
enum outcome runner_go(struct runner *r, const struct batch *b, struct span *s);
void runner_close(struct runner *r);
/*
 * The handshake of a runner that has loaded nothing yet: medians of a few empty goes. Dies when one
 * fails.
 */
struct handshake runner_handshake(struct runner *r);
/*
 * A single measured handshake; and the combination of N of them, at most HANDSHAKES: medians, and
 * their spread.
 */
enum { HANDSHAKES = 9 };
struct handshake runner_handshake_from(const struct runner *r, const struct span *s);
struct handshake runner_handshake_of(const struct handshake *measured, size_t n);
/*
 * The judge's nanoseconds for a go, minus the time when other programs had its processor, or that
 * of the runner's only thread. On a device: nothing is subtracted.
 */
double runner_undelayed_ns(const struct runner *r, const struct span *s);
/* The duration of a go, determined from three clocks (runner.c), minus the handshake. */
double runner_ns(const struct runner *r, const struct span *s, const struct handshake *h);
/* A go that takes less cannot be told from one without calls. */
double runner_least_ns(const struct handshake *h);

/* ---- opencl.c ---- */

/*
 * Finds out what the device is, and sets the alignment that it needs. Dies with K_MISSING when
 * there is none.
 */
void opencl_choose(void);
char **opencl_environment(void);
/*
 * Whether a built candidate consists of device code only; its launch lines, and their sizes for a
 * workload. False with the reason in WHY.
 */
bool launches_present(const char *file);
bool launches_read(const char *file, struct klaunch_list *list, char *why, size_t why_len);
bool launches_size(const struct klaunch_list *list, const struct ktask_workload *w,
    struct krun_launch *to, char *why, size_t why_len);

/* ---- subjects: the programs that are judged ---- */

struct subject {
	char *name;
	const char *file;
	enum status status; /* STATUS_NONE: nothing against it yet */
	int tier;
	json_t *reasons, *cases, *timing;
	json_t *reuse, *trace; /* of --reuse, or NULL */
	size_t passed, total;
	struct kbuf log;
};

/* A workload's name, with the parts that were drawn anew: a text of kshown. */
const char *subject_workload(const struct ktask_workload *w);
void subject_fail(struct subject *s, enum status status, const char *check, const char *detail);
/* The same, with a line in the log. */
void subject_tell(struct subject *s, enum status status, const char *check, const char *detail);
/* Was it OUT_OK? The failure of a runner is turned into status, reason and log. */
bool subject_passed(
    struct subject *s, enum outcome e, const struct runner *r, const struct batch *b);
/* A verdict as one line of log: which workload, which inputs, how far off; never the values. */
void subject_explain(struct subject *s, const struct batch *b, const struct verdict *v);

/*
 * The lock of the device that is measured on: exclusive, or shared with others. Closing the
 * descriptor releases it.
 */
int judge_lock(bool alone);

/*
 * gpu.c: choose a device of the backend, if possible one that nobody measures on, and make its
 * memory the judge's space. FOLDER caches the judge's compiled kernels; may be NULL. If memory is
 * short, waits a minute. Dies with K_MISSING when there is no device, with K_AGAIN when there is
 * still no memory on it.
 */
void device_choose(const char *folder);
/*
 * From now on, limit the allocations of a program in this process (--solo) to this many bytes, in
 * addition to the judge's own.
 */
void device_limit(size_t bytes);
/*
 * The same choice without the judge's kernels, for callers that only copy; the device is locked
 * exclusively until the end.
 */
struct kgpu *device_open(void);
json_t *device_environment(void);
/* Its clocks, power and throttle reasons right now. */
json_t *device_state(void);
void *device_stream(void);
/* Waits until all work in the stream is done. */
void device_wait(void);
/*
 * From device_lend on, a failure ends this process, and is blamed on the program called in it and
 * not on the device. device_take_back waits until all work is done, and ends this.
 */
void device_lend(void);
void device_take_back(const char *last_words);
void device_profiler(bool on);
/*
 * Memory that does not come from the driver's pools, so that tools which watch accesses know where
 * it ends.
 */
void *device_alloc(size_t bytes);
void device_free(void *p);

/* solo.c: call the candidate in this process, for profilers. */
void run_solo(void);

/*
 * correctness.c: T2 of the candidate, loaded by the runner R on the memory M; sets status, cases,
 * log. The lock is held, shared. Alone: with its own runner and memory.
 */
void judge_correctness(struct subject *s, struct memory *m, struct runner *r);
void judge_correctness_alone(struct subject *s);

/*
 * timing.c: T3 of all subjects, interleaved; the first is the candidate. race_spawn starts their
 * runners as far as they need no memory, race_open the rest of the way: they get ready in the
 * background; race_greet waits until they are ready; race_check is T2 of the candidate, on a
 * device, in a runner of its own that was spawned with the others; race_run sets timing, appends to
 * PAIRS, and returns the noise floor. SHARED is the shared lock; it is closed, and taken
 * exclusively, when all runners are ready. Either race_run or race_close ends the race.
 */
void race_spawn(struct subject *subjects, size_t count);
void race_open(void);
void race_greet(void);
void race_check(void);
double race_run(json_t *pairs, int shared);
void race_close(void);

/*
 * reuse.c: the same candidate on buffers that are new in every call and on buffers that are the
 * same in every call, in turns; sets reuse of each subject, and the first subject's trace if the
 * task has weights.
 */
void judge_reuse(struct subject *subjects, size_t count);

/* clocks.c: have the device's clocks locked until this process ends, if requested; once. */
void clocks_hold(void);
/* --hold-clocks UUID:MHZ, the process that locks them; returns an exit code. */
int clocks_holder(const char *operand);

/* machine.c */
json_t *machine_facts(void); /* of --machine */
json_t *machine_environment(void);
size_t machine_llc(void);

/*
 * ceilings.c: print the best that the device can do. A task adds the sizes of its workloads; it may
 * be NULL.
 */
void measure_ceilings(void);

/*
 * lint.c: faults of the task beyond its form. Prints to stderr; false when the task must be
 * refused.
 */
bool lint_task(void);
/* lint_inputs.c: notes about inputs that a kernel could ignore or hard-code. */
void lint_inputs(void);
