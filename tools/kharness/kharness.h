/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: the parts of the judge and what they hand to each other. A fault of the environment
 * ends the program (kdie).
 */
#ifndef KHARNESS_H
#define KHARNESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "backend.h"
#include "klaunch.h"
#include "krun.h"
#include "ktask.h"
#include "kutil.h"
#include "space.h"
#include "status.h"

/* Where the judge's time goes: at every moment, to one of these. */
enum spent {
	SPENT_STARTING,    /* programs and runners */
	SPENT_DEVICE,      /* until a device was had */
	SPENT_KERNELS,     /* the judge's, compiled for the device and loaded */
	SPENT_WAITING,     /* for the lock of the machine or device */
	SPENT_DRAWING,     /* inputs */
	SPENT_ORACLE,      /* expected results */
	SPENT_LOADING,     /* tensors into shared memory, with poison and patterns */
	SPENT_FLUSHING,    /* caches */
	SPENT_CALLING,     /* the subjects at work */
	SPENT_STOPPING,    /* them again */
	SPENT_PACING,      /* what a go costs by itself */
	SPENT_CHECKING,    /* results and patterns */
	SPENT_BUSY,        /* for processors that other programs kept busy */
	SPENT_CORRECTNESS, /* what is left of tier T2, of T3, and of --reuse */
	SPENT_TIMING,
	SPENT_REUSE,
	SPENT_COUNT
};

enum { RACERS_MAX = 17 };

/* What the command line says. */
struct options {
	const char *task, *set, *oracle, *candidate, *name, *output, *sandbox;
	const struct backend *backend;
	const char *workload; /* of --solo; NULL: all that are timed */
	const char *save;     /* of --solo: folder for outputs; or NULL */
	bool ceilings, correctness, timing, solo, reuse;
	bool await; /* the candidate is written while its runner gets ready */
	/* everybody is compared with everybody, not with the candidate alone */
	bool all_pairs;
	bool apart;         /* of --solo: every tensor an allocation of its own */
	bool fenced;        /* which ends at memory that nobody may touch */
	const char *clocks; /* off, try or require: lock those of a GPU */
	long clocks_mhz;    /* at this; 0: the device's default */
	long threads, seeds, min_samples, max_samples;
	double timing_s, warmup_s, run_timeout_s;
	double busy_s; /* how long to wait for processors that other programs keep busy */
	uint64_t memory_bytes, seed;
	const char *against[RACERS_MAX - 1]; /* NAME=FILE */
	size_t against_count;
};

/* The run as a whole. */
struct judge {
	struct options o;
	struct ktask *task;
	const struct space *space; /* where tensors lie */
	/* that is a GPU: the entry takes a stream, and is called by krun-gpu */
	bool device;
	bool alone;  /* nobody else measures on it now */
	bool beside; /* on the one processor of the candidates, and not running while they do */
	/* processor on which a runner of one thread begins its go; -1: wherever it likes */
	int begin_on;
	int device_number;
	char *device_uuid; /* name of its lock */
	/* facts of the OpenCL device, or NULL: then candidates are called by krun-opencl */
	json_t *opencl;
	/* it has memory of its own, so tensors are copied there before the clock runs */
	bool copies;
	struct oracle *oracle;         /* NULL: results are not compared */
	int level;                     /* of the sandbox */
	uint64_t cpus[KRUN_CPUS / 64]; /* where candidates run */
	json_t *clocks;                /* what became of locking the device's; NULL: nobody asked */
	size_t draws;                  /* inputs drawn so far: numbers the random streams */
	/* how busy it was while somebody was timed; NULL: nobody was */
	json_t *machine;
	enum spent doing;
	int64_t since_ns, spent_ns[SPENT_COUNT];
};

/* From now on time is spent on WHAT; what it was spent on before. */
enum spent spent_on(struct judge *j, enum spent what);

/* ---- values.c: numbers in and out of tensors ---- */

/*
 * Loops over tensors, compiled for the vector units of several processors as well: on a CPU they
 * are most of a verdict.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HOT
#endif

/* N values of a tensor as doubles, or doubles into a tensor, rounded to nearest. */
void values_widen(enum kdtype t, const void *from, size_t n, double *to);
void values_narrow(enum kdtype t, const double *from, size_t n, void *to);
/* What integers are drawn as multiples of. */
double values_width(enum kdtype t, enum kdist d);
/* Fill a tensor of N elements, or some of them, with values of a distribution. */
void values_draw(enum kdtype t, struct recipe how, struct krng *rng, size_t n, void *to);

/* ---- oracle.c: the trusted implementation in double precision, called in this process ---- */

/*
 * THREADS as its OpenMP team; STREAM of the device that it runs on, or NULL. Dies with K_USAGE when
 * FILE is no shared object with the task's entry point.
 */
struct oracle *oracle_open(const struct ktask *t, const char *file, int threads, void *stream);
/*
 * One call. VALUES[i] is tensor i: doubles for floating types, the type itself for integers.
 * Outputs are written there.
 */
void oracle_call(const struct oracle *o, const struct ktask_workload *w, void *const *values);
void oracle_close(struct oracle *o);

/* ---- vary.c: workloads that the task does not list ---- */

/*
 * A workload near W: sizes, scalars and the order of groups drawn anew as the task allows, within
 * arenas of these sizes. False, with nothing to free, when all that W has is fixed. Free with
 * vary_free.
 */
bool vary_draw(const struct ktask *t, const struct ktask_workload *w, struct krng *rng,
    size_t in_bytes, size_t out_bytes, struct ktask_workload *to);
void vary_free(struct ktask_workload *w);

/* ---- batch.c: inputs of one or more calls and what must come out ---- */

struct call {
	/* inputs, as the candidate sees them; NULL for pure outputs and scalars */
	void *raw[KTASK_TENSORS];
	/* outputs, see oracle_call; NULL for pure inputs, or without an oracle */
	void *expected[KTASK_TENSORS];
	double scale[KTASK_TENSORS]; /* see compare.c; for outputs of few elements only */
};

struct batch {
	const struct ktask_workload *w;
	enum kdist dist;
	size_t count;
	struct call *calls;
	uint64_t seed; /* of this draw, for the record */
	bool hidden;   /* a call can read its own inputs alone; its time says nothing then */
};

/*
 * Draw inputs for COUNT calls; with EXPECT, have the oracle compute the results. Free with
 * batch_free.
 */
void batch_draw(struct judge *j, struct batch *b, const struct ktask_workload *w, enum kdist dist,
    size_t count, bool expect);
/* The same, with expected results for so many of the calls, which nobody can foresee. */
void batch_draw_checked(struct judge *j, struct batch *b, const struct ktask_workload *w,
    enum kdist dist, size_t count, size_t checked);
/* Have the oracle compute the results of inputs that were drawn without them, or changed since. */
void batch_expect(struct judge *j, struct batch *b);
void batch_free(const struct judge *j, struct batch *b);
/* Whether KDIST_MIXED differs from the task's first distribution. */
bool batch_may_mix(const struct ktask *t);
/*
 * Whether few elements of this tensor may be left by KDIST_SPARSE: it has no distribution of its
 * own, nor contents that the workload gives. W may be NULL.
 */
bool batch_may_be_sparse(const struct ktask_workload *w, const struct ktask_tensor *x);
/* Whether the results of a call are known. */
bool call_is_checked(const struct judge *j, const struct call *c);

/* ---- recorded.c: inputs whose contents files give ---- */

/* Whether the workload names any; whether anything of its inputs is drawn anew for each call. */
bool recorded_any(const struct ktask *t, const struct ktask_workload *w);
bool recorded_varies(const struct ktask *t, const struct ktask_workload *w);
/*
 * Fill input X of a call of the batch with what its file holds, or, unless the batch is of
 * KDIST_RECORDED, with others like them where these may be drawn. False: there is no file. Dies
 * with K_USAGE when the file is not what the task says.
 */
bool recorded_draw(const struct judge *j, const struct batch *b, const struct ktask_tensor *x,
    struct krng *rng, void *to);

/* ---- compare.c: is what came out right ---- */

struct verdict {
	size_t elements, mismatches, unwritten;
	double max_abs, max_share; /* errors: the largest, and the largest share of a tolerance */
	/* error and tolerance of the element furthest beyond its tolerance */
	double worst, tolerance;
	size_t worst_at;    /* its index */
	const char *tensor; /* and tensor */
	bool ok;
};

/*
 * Compare GOT, the bytes of output tensor T, with what was EXPECTED, and add to the verdict. POISON
 * is the element that the tensor was filled with before the call, so that what was never written
 * can be told from what was computed wrongly.
 */
void compare_tensor(const struct judge *j, const struct batch *b, const struct call *c,
    size_t tensor, const void *got, uint64_t poison, struct verdict *v);
/* Whether sums of sparse inputs are judged more strictly than others, see compare.c. */
bool compare_is_sharp(const struct ktask *t, const struct ktask_workload *w);
void verdict_begin(struct verdict *v);
/* Decide, after all tensors. */
void verdict_end(const struct judge *j, struct verdict *v);

/* ---- arena.c: where tensors lie in the memory that judge and runner share ---- */

/* Where tensors of a call lie in an arena: offset of the first byte, and of the call's slot. */
struct place {
	size_t tensor[KTASK_TENSORS];
	/* bits of the inputs that lie in another call's slot, without bands of this one's */
	uint32_t elsewhere;
	size_t in_slot, out_slot, in_end, out_end;
};

/* Bytes FROM to TO of the output arena. */
struct range {
	size_t from, to;
};

struct memory {
	struct arena in, out;
	uint64_t *rows;       /* arguments of the calls, a row each */
	size_t calls;         /* room for so many */
	struct place *places; /* one per call loaded */
	size_t count;
	/* their slots of the output arena, ascending, apart from each other */
	struct range *used;
	size_t used_count;
	uint64_t guard; /* key of the pattern around the outputs */
	/* and of that in the rest of the output arena, which stays the same */
	uint64_t far;
	size_t first;    /* slot of the first call */
	size_t far_next; /* where the next look at the rest begins */
	bool strayed;    /* the rest was found changed when a call was to use it */
	uint64_t poison; /* word that outputs are filled with */
	bool odd;        /* which of two poisons is next */
};

/* Tensors begin at multiples of this many bytes, a power of two, at least. */
void memory_align(size_t bytes);
/* Bytes that one call of a workload takes in each arena. */
void memory_slot(const struct ktask *t, const struct ktask_workload *w, size_t *in, size_t *out);
/* Whether a call is so small that it may well be made more often. */
bool workload_is_small(const struct ktask *t, const struct ktask_workload *w);
/* Arenas of these sizes, for up to CALLS calls at once. */
void memory_open(
    const struct judge *j, struct memory *m, size_t in_bytes, size_t out_bytes, size_t calls);
void memory_close(const struct judge *j, struct memory *m);
/*
 * Lay a batch out at addresses not used by the call before, and write everything: inputs, NaN
 * around them, poison into the outputs, a secret pattern around them, the rows of arguments.
 */
void memory_load(struct judge *j, struct memory *m, const struct batch *b);
/*
 * The same for a batch of one call, in slot SLOT, where the inputs in WHICH (bits) keep the places
 * that they have in KEPT; their contents are written all the same.
 */
void memory_load_beside(struct judge *j, struct memory *m, const struct batch *b, size_t slot,
    const struct place *kept, uint32_t which);
/* The same for a batch of one call, exactly where WHERE says; the whole arena counts as used. */
void memory_load_at(
    struct judge *j, struct memory *m, const struct batch *b, const struct place *where);
/* The batch that lies there already, for another runner: outputs are poisoned and guarded anew. */
void memory_reload(struct judge *j, struct memory *m, const struct batch *b);
/* Out of the caches with all that was loaded, so that the next call finds it in memory. */
void memory_flush(const struct judge *j, const struct memory *m);
/*
 * False when a byte around the outputs has changed; then WHERE names the tensor and the distance.
 * Of the rest of the arena, which no call uses now, a part is looked at in turn; or all of it.
 */
bool memory_all_intact(
    const struct judge *j, struct memory *m, const struct batch *b, char *where, size_t where_len);
bool memory_intact(
    const struct judge *j, struct memory *m, const struct batch *b, char *where, size_t where_len);
void memory_check(const struct judge *j, const struct memory *m, const struct batch *b, size_t call,
    struct verdict *v);
/* What lies at an offset of the input or output arena, in words. */
void memory_describe(const struct judge *j, const struct memory *m, const struct batch *b,
    bool input, size_t offset, char *text, size_t text_len);

/* ---- runner.c: the candidate's process ---- */

enum outcome { OUT_OK, OUT_DIED, OUT_TIMEOUT, OUT_FLOOD, OUT_PROTOCOL, OUT_AWAKE };

struct runner {
	pid_t outer, pid; /* outermost process of the sandbox, and the runner itself */
	int socket, output;
	char *work;
	clockid_t clock; /* its processor time */
	/* pipe of the calls' arguments; its reading end is kept, lest a write find no reader */
	int rows[2];
	struct memory *m;      /* not its own: several runners may share one, which run by turns */
	uint64_t base[2];      /* where it maps inputs and outputs */
	int64_t fence_ns;      /* of the space, while the runner has nothing to do */
	long lates;            /* how often its device was still at work after it had said done */
	int64_t frozen_cpu_ns; /* processor time when it was stopped */
	/* time that its threads had waited for a processor by then */
	int64_t frozen_delay_ns;
	long goes; /* how often it was sent off */
	/* processor time in all of these, and while it was stopped */
	int64_t inside_ns, outside_ns;
	long awakes;         /* before how many of them it had worked while it was stopped */
	int threads;         /* seen when last stopped */
	char thread[64][12]; /* their numbers, of the first KNOWN */
	int known;
	struct kbuf printed; /* the beginning of what it wrote to stdout and stderr */
	size_t printed_bytes;
	struct krun_report fault;
	bool faulted;
	char why[512]; /* after anything but OUT_OK */
	const char *check;
	struct klaunch_list launches; /* of a candidate that is device code alone */
};

/*
 * One go: by the runner's own clock, by the judge's, and in processor time, until "done" and until
 * it was stopped. DELAY_NS is what the runner's threads waited for a processor until "done", all
 * together, JUDGE_DELAY_NS what the judge did.
 */
struct span {
	int64_t own_ns, judge_ns, done_cpu_ns, cpu_ns, delay_ns, judge_delay_ns;
	int64_t host_ns; /* krun-gpu: until the last entry returned; the runner's word */
};

/* What a go takes by itself: a go of a runner that reads its rows and makes no calls. */
struct handshake {
	double ns, own_ns, cpu_ns;
	double stopped_cpu_ns; /* until it was stopped */
	double spread_ns;      /* how far one may differ from another */
};

/*
 * Start a runner for the shared object FILE over the memory M, which the caller keeps. OUT_OK, or
 * how it failed, with CHECK and WHY set. Close it either way. It gets ready by itself; runner_greet
 * waits until it is, and stops it.
 */
enum outcome runner_launch(struct judge *j, struct runner *r, const char *file, struct memory *m);
void runner_greet(struct judge *j, struct runner *r);
/* Load the candidate's code. Outcomes as above. */
enum outcome runner_load(struct judge *j, struct runner *r);
/* All three. */
enum outcome runner_open(struct judge *j, struct runner *r, const char *file, struct memory *m);
/*
 * Let it make the calls of the batch that was loaded into its memory, and stop it again. It runs
 * only during this function.
 */
enum outcome runner_go(struct judge *j, struct runner *r, const struct batch *b, struct span *s);
void runner_close(struct runner *r);
/*
 * The handshake of a runner that has loaded nothing yet: medians of a few empty goes. Dies when one
 * fails.
 */
struct handshake runner_handshake(struct judge *j, struct runner *r);
/* A measured one; and the handshake of N of them, HANDSHAKES at most: medians, and their spread. */
enum { HANDSHAKES = 9 };
struct handshake runner_handshake_from(
    const struct judge *j, const struct runner *r, const struct span *s);
struct handshake runner_handshake_of(const struct handshake *measured, size_t n);
/*
 * The judge's nanoseconds of a go without those in which other programs had its processor, or that
 * of the runner's one thread. On a device: all of them.
 */
double runner_undelayed_ns(const struct judge *j, const struct runner *r, const struct span *s);
/* What a go took, as far as three clocks tell (runner.c), less the handshake. */
double runner_ns(
    const struct judge *j, const struct runner *r, const struct span *s, const struct handshake *h);

/* ---- opencl.c ---- */

/*
 * Learn what the device is, and place tensors as it needs them. Dies with K_MISSING when there is
 * none.
 */
void opencl_choose(struct judge *j);
char **opencl_environment(const struct judge *j);
/*
 * Whether a built candidate is device code alone; its launch lines, and their sizes for a workload.
 * False with the reason in WHY.
 */
bool launches_present(const char *file);
bool launches_read(const char *file, struct klaunch_list *list, char *why, size_t why_len);
bool launches_size(const struct judge *j, const struct klaunch_list *list,
    const struct ktask_workload *w, struct krun_launch *to, char *why, size_t why_len);

/* ---- subjects: who is judged ---- */

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

/* A workload's name, and what of it was drawn anew: valid until the next call. */
const char *subject_workload(const struct ktask_workload *w);
void subject_fail(struct subject *s, enum status status, const char *check, const char *detail);
/* The failure of a runner, as status, reason and log. */
void subject_outcome(
    struct subject *s, enum outcome e, const struct runner *r, const struct batch *b);
/* A verdict in one line of log: which workload, which inputs, how far off; never the values. */
void subject_explain(struct subject *s, const struct batch *b, const struct verdict *v);

/*
 * The lock of the device that is measured on: alone, or together with others. Closing the
 * descriptor gives it back.
 */
int judge_lock(struct judge *j, bool alone);

/*
 * gpu.c: choose a device of the backend, one that nobody measures on if there is one, and make its
 * memory the judge's space. FOLDER keeps the judge's compiled kernels; may be NULL. Waits a minute
 * for one without room. Dies with K_MISSING when there is no device, with K_AGAIN when there is
 * still no room on it.
 */
void device_choose(struct judge *j, const char *folder);
/*
 * From now on allocations of a program in this very process (--solo) end at so many bytes, beside
 * the judge's own.
 */
void device_limit(size_t bytes);
/*
 * The same choice without the judge's kernels, for those who only copy; the device is held alone
 * until the end.
 */
struct kgpu *device_open(struct judge *j);
json_t *device_environment(void);
/* Its clocks, power and what holds them back, right now. */
json_t *device_state(void);
void *device_stream(void);
/* Until all that the stream was given is done. */
void device_wait(void);
/*
 * From now on a failure is that of a program that was called in this process, which dies of it: the
 * device is not to blame. Or until all that was ordered is done, which is waited for.
 */
void device_lend(void);
void device_take_back(const char *last_words);
void device_profiler(bool on);
/* Memory from no pool of the driver's, so that tools which watch accesses know where it ends. */
void *device_alloc(size_t bytes);
void device_free(void *p);

/* solo.c: the candidate called in this process, for profilers. */
void run_solo(struct judge *j);

/*
 * correctness.c: T2 of the candidate, whose runner R has loaded it and is on the memory M; sets
 * status, cases, log. The lock is held, with others. Alone: with a runner and memory of its own.
 */
void judge_correctness(struct judge *j, struct subject *s, struct memory *m, struct runner *r);
void judge_correctness_alone(struct judge *j, struct subject *s);

/*
 * timing.c: T3 of all subjects, interleaved; the first is the candidate. race_open starts their
 * runners, which get ready by themselves; race_greet waits until they are; race_check is T2 of the
 * candidate in its runner; race_run sets timing, appends to PAIRS, and returns the noise floor.
 * SHARED is the lock held with others, which is closed, and taken alone, when all runners stand.
 * Either race_run or race_close ends the race.
 */
struct race;
struct race *race_open(struct judge *j, struct subject *subjects, size_t count);
void race_greet(struct race *a);
void race_check(struct race *a);
double race_run(struct race *a, json_t *pairs, int shared);
void race_close(struct race *a);

/*
 * reuse.c: the same candidate on buffers that are new in every call and on buffers that are the
 * same in every call, in turns; sets reuse of each subject, and trace of the first where the task
 * has weights.
 */
void judge_reuse(struct judge *j, struct subject *subjects, size_t count);

/* clocks.c: have the device's clocks locked until this process ends, if asked for; once. */
void clocks_hold(struct judge *j);
/* --hold-clocks UUID:MHZ, the process that does it; returns an exit code. */
int clocks_holder(const char *operand);

/* machine.c */
json_t *machine_facts(void); /* of --machine */
json_t *machine_environment(const struct judge *j);
size_t machine_llc(void);

/*
 * ceilings.c: what the device does at its best, printed. A task adds the sizes of its workloads; it
 * may be NULL.
 */
void measure_ceilings(struct judge *j);

/*
 * lint.c: faults of the task beyond its form. Prints to stderr; false when the task must be
 * refused.
 */
bool lint_task(struct judge *j);
/* lint_inputs.c: notes about inputs that a kernel may ignore or compile in. */
void lint_inputs(struct judge *j);

#endif
