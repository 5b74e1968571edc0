#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kharness: kernels that are right, wrong, broken, slow or hostile, each with its proper verdict, at every level of the
# sandbox.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

# Do not use the machine's lock: these tests check verdicts, not times.
KILN_LOCK_DIR=$T TMPDIR=$T/tmp
mkdir -m 1777 "$TMPDIR"
task=$tests_dir/tasks/affine/task.json
export KILN_LOCK_DIR TMPDIR task
flags='-O1 -w -std=gnu11 -fopenmp -shared -fPIC'
# shellcheck disable=SC2086
{
	cc $flags -DREAL=double -o oracle.so "$tests_dir/tasks/affine/reference.c"
	cc $flags -o right.so "$tests_dir/tasks/affine/reference.c"
	cc $flags -o types.so "$tests_dir/tasks/types/reference.c"
	cc $flags -o types-oracle.so "$tests_dir/tasks/types/oracle.c"
}
chmod 755 "$T"

# kernel NAME 'declarations' 'body': a kernel for the task; RIGHT is the body of an honest one.
cat >"$T/kernel" <<'E'
#!/bin/sh -eu
{
	printf '#include <math.h>\n#include <pthread.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
	printf '#include <string.h>\n#include <time.h>\n#include <unistd.h>\n#include <signal.h>\n#include <sys/socket.h>\n'
	printf '#define RIGHT for (long i = 0; i < rows * cols; i++) y[i] = scale * x[i] + bias[i %% cols];\n'
	printf '%s\nvoid\naffine(float *x, const float *bias, float *y, int rows, int64_t cols, float scale)\n{ %s }\n' "$2" "$3"
} >"$1.c"
cc -O1 -w -std=gnu11 -fopenmp -shared -fPIC -o "$1.so" "$1.c" -lm -lpthread
E
# judge ARGS… CANDIDATE: its correctness, quickly.
cat >"$T/judge" <<'E'
#!/bin/sh -eu
exec kharness -t "$task" --oracle oracle.so --phase correctness --run-timeout-s 2 --memory-mb 1024 "$@"
E
cat >"$T/timed" <<'E'
#!/bin/sh -eu
exec kharness -t "$task" --oracle oracle.so --timing-s 0.05 --warmup-s 0 --run-timeout-s 5 "$@"
E
chmod 755 kernel judge timed
PATH=$T:$PATH

ok 'usage' '
	exits 0 kharness --help; grep -q "^usage: kharness" out
	exits 0 kharness --version; grep -q "^kharness [0-9]" out
	exits 2 kharness; grep -q "give a task" err; grep -q usage: err
	exits 2 kharness --nonsense
	exits 2 kharness -t "$task"; grep -q "one candidate" err
	exits 2 kharness -t "$task" right.so; grep -q "correctness needs --oracle" err
	exits 2 kharness -t "$task" --oracle oracle.so nothing.so; grep -q "nothing.so: No such file" err
	exits 2 kharness -t "$task" --oracle nothing.so right.so
	exits 2 kharness -t "$task" --oracle types-oracle.so right.so; grep -q "no function affine" err
	exits 2 kharness -t nothing.json --oracle oracle.so right.so
	exits 2 kharness -t "$task" --oracle oracle.so -s nothing right.so; grep -q "contains no workload" err
	for o in "--phase never" "--seed xyz" "--against x.so" "--threads many" "--lock-clocks perhaps" "--sandbox moat" "--seeds 0"; do
		exits 2 kharness -t "$task" --oracle oracle.so $o right.so
	done
	exits 2 kharness --machine right.so
'
ok 'the machine' '
	kharness --machine -o m.json
	jq -e ".schema == \"machine/1\" and .threads >= 1 and .cores >= 1 and .memory_bytes > 0 and (.isa | type == \"array\") and
		(.cpu | length > 0) and (.kernel | startswith(\"Linux\")) and .os" m.json
'
ok 'a right kernel' '
	timed -s full -o r.json right.so
	[ "$(wc -l <r.json)" = 1 ]
	jq -e ".schema == \"harness/1\" and (.seed | test(\"^[0-9a-f]{16}$\")) and .verified and .noise.floor > 0" r.json
	jq -e ".candidates | length == 1" r.json
	jq -e ".candidates[0] | .name == \"candidate\" and .status == \"correct\" and .tier == 3 and .reasons == []" r.json
	jq -e ".candidates[0].correctness | .passed == 44 and .total == 44 and (.cases | length == 44 and all(.ok)) and
		([.cases[].drawn // empty | select(test(\"^(rows|cols) \"))] | length == 20)" r.json
	jq -e ".candidates[0].timing | length == 1" r.json
	jq -e ".candidates[0].timing[0] | .workload == \"main\" and (.samples_ns | length >= 5 and length <= 96 and all(. > 0)) and
		.min_ns <= .median_ns and .calls_per_sample >= 1 and .mean_ns > 0 and .cpu_ns > 0" r.json
	jq -e ".spent_s | all(. >= 0) and .drawing > 0 and .oracle > 0 and .calling > 0 and .checking > 0 and (has(\"other\") | not)" r.json
	jq -e ".environment | .threads >= 1 and (.cpus | length == 1 or length > 1) and .llc_bytes > 0" r.json
'
ok 'a single call is reported next to the batch; a task may say that it counts' '
	jq -e ".candidates[0].timing[0] | .alone_ns > 0 and .alone_samples >= 1 and (has(\"host_ns\") | not)" r.json
	jq -e ".candidates[0].timing[0].calls_per_sample > 1" r.json
	jq ".timing = \"alone\"" "$task" >alone.json
	kharness -t alone.json --oracle oracle.so --phase timing --timing-s 0.02 --max-samples 5 -s full right.so >a.json
	jq -e ".candidates[0].timing[0] | .calls_per_sample == 1 and .alone_ns > 0" a.json
	jq ".timing = \"loan\"" "$task" >bad.json
	exits 2 kharness --lint bad.json; grep -q "timing: must be one of batch|alone" err'
ok 'sets, names, seeds' '
	judge -s quick --name mine --seed 00ff --seeds 1 right.so >a.json
	judge -s quick --name mine --seed ff --seeds 1 right.so >b.json
	jq -e ".seed == \"00000000000000ff\" and .candidates[0].name == \"mine\" and .candidates[0].correctness.total == 25" a.json
	jq -c .candidates a.json >a; jq -c .candidates b.json >b; same a b
	judge -s quick --seeds 1 right.so | jq -c .candidates >c
	not cmp -s a c
'
ok 'every element type' '
	kharness -t "$tests_dir/tasks/types/task.json" --oracle types-oracle.so --timing-s 0.05 types.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and .correctness.passed == 74" r.json
'
ok 'times against others, in one run' '
	kernel slow "" "for (int k = 0; k < 40; k++) { RIGHT __asm__ volatile(\"\" ::: \"memory\"); }"
	timed --phase timing --against slow=slow.so --against self=right.so right.so >r.json
	jq -e "[.candidates[].name] == [\"candidate\", \"slow\", \"self\"] and (.candidates | all(.status == \"correct\"))" r.json
	jq -e ".pairs | length == 2 and (.[0] | .name == \"slow\" and .workload == \"main\" and .pairs >= 9 and .ratio > 3 and .low > 1 and
		.ratio >= .low and .high >= .ratio) and (.[1] | .ratio > 0.2 and .ratio < 5 and .low <= 1.2)" r.json
'
ok 'a broken companion does not harm the candidate' '
	kernel crash "" "abort();"
	timed --phase timing --against crash=crash.so --against self=right.so right.so >r.json
	jq -e "[.candidates[].status] == [\"correct\", \"run_error\", \"correct\"] and (.pairs | map(.name) == [\"self\"])" r.json
'
ok 'times without an oracle are not verified' '
	kharness -t "$task" --phase timing --timing-s 0.05 right.so >r.json
	jq -e "(.verified | not) and .candidates[0].timing[0].median_ns > 0" r.json
'

for level in bwrap landlock none; do
	export level
	if [ "$level" != none ] && ! kharness -t "$task" --oracle oracle.so --phase correctness --sandbox "$level" right.so >/dev/null 2>why; then
		skip "$level" "$(head -n 1 why)"
		continue
	fi
	ok "$level: right" 'judge --sandbox "$level" right.so >r.json
		jq -e --arg l "$level" ".sandbox.name == \$l and .candidates[0].status == \"correct\"" r.json'
	# expect NAME STATUS CHECK: the candidate gets this verdict.
	cat >"$T/expect" <<'E'
#!/bin/sh -eu
name=$1 status=$2 check=$3
shift 3
start=$(date +%s)
judge --sandbox "$level" "$@" "$name.so" >"$name.json"
[ $(($(date +%s) - start)) -le 6 ]
jq -e --arg s "$status" --arg c "$check" '.candidates[0] | (.status | test("^(" + $s + ")$")) and
	(.reasons | length > 0 and any(.check | test("^(" + $c + ")$"))) and (.log | length > 0)' "$name.json" || { cat "$name.json"; exit 1; }
E
	chmod 755 expect
	ok "$level: does nothing" 'kernel nop "" ""; expect nop wrong_value not_fully_written'
	ok "$level: constant" 'kernel constant "" "for (long i = 0; i < rows * cols; i++) y[i] = 0.25;"; expect constant wrong_value wrong_result'
	ok "$level: right on some" 'kernel some "" "if (rows == 3) rows = 2; RIGHT"; expect some partial not_fully_written
		jq -e ".candidates[0].log | contains(\"workload odd\") and contains(\"were never written\")" some.json'
	ok "$level: NaN everywhere" 'kernel nan "" "for (long i = 0; i < rows * cols; i++) y[i] = NAN;"; expect nan wrong_value ".*"'
	ok "$level: half precision" 'kernel half "" "for (long i = 0; i < rows * cols; i++) y[i] = (_Float16)(scale * x[i] + bias[i % cols]);"
		expect half "partial|wrong_value" wrong_result'
	ok "$level: different every time" 'kernel odd "static unsigned n;" "RIGHT if (rows * cols > 1) y[0] = nextafterf(y[0], n++ % 2 ? 9 : -9);"
		expect odd partial wrong_result; jq -e ".candidates[0].log | contains(\"different bits\")" odd.json'
	ok "$level: writes past the end" 'kernel past "" "RIGHT y[rows * cols] = 1;"; expect past run_error out_of_bounds_write
		jq -e ".candidates[0].log | contains(\"past the end of y\")" past.json'
	ok "$level: writes before the start" 'kernel before "" "RIGHT y[-1] = 1;"; expect before run_error out_of_bounds_write
		jq -e ".candidates[0].log | contains(\"before y\")" before.json'
	ok "$level: writes to an input" 'kernel input "" "RIGHT x[0] = 1;"; expect input run_error crash
		jq -e ".candidates[0] | (.log | contains(\"byte 0 of x, among the inputs\")) and .reasons[0].tensor == \"x\"" input.json'
	ok "$level: makes its input writable" 'kernel mprotect "#include <sys/mman.h>" "RIGHT
		if (mprotect((void *)((uintptr_t)x & ~4095ul), 8192, PROT_READ | PROT_WRITE) == 0) y[0] = 77; x[0] = 1;"
		expect mprotect run_error crash'
	ok "$level: null pointer" 'kernel null "" "*(volatile int *)0 = 1;"; expect null run_error crash
		jq -e ".candidates[0].log | contains(\"null pointer\")" null.json'
	ok "$level: far beyond" 'kernel far "" "y[1 << 28] = 1;"; expect far run_error crash'
	ok "$level: stack overflow" 'kernel stack "static int f(int n) { volatile char a[4096]; a[n % 9] = 1; return f(n + 1) + a[0]; }" "y[0] = f(0);"
		expect stack run_error crash'
	ok "$level: division by zero" 'kernel divide "" "volatile int z = 0; y[0] = 7 / z;"; expect divide run_error crash
		grep -q SIGFPE divide.json'
	ok "$level: abort" 'kernel abort "" "abort();"; expect abort run_error crash; grep -q SIGABRT abort.json'
	ok "$level: exit" 'kernel exit "" "RIGHT exit(0);"; expect exit run_error exit'
	ok "$level: endless" 'kernel endless "" "for (;;) __asm__ volatile(\"\");"; expect endless run_error timeout'
	ok "$level: sleeps" 'kernel sleeps "" "RIGHT for (;;) pause();"; expect sleeps run_error timeout'
	ok "$level: can neither stop itself nor undo a stop" '
		kernel stops "#include <sys/syscall.h>" "RIGHT
			for (long s = 1; s < 65; s++) signal(s, SIG_IGN);
			for (long s = 1; s < 65; s++) if (s != 9 && s != 32 && s != 33) {
				int refused = s >= SIGCONT && s <= SIGURG;
				if ((kill(getpid(), s) != 0) != refused) y[0] = 99;
				if (syscall(SYS_kill, (long)getpid(), s | 1L << 32) == 0 && refused) y[0] = 99;
			}
			if (raise(SIGSTOP) == 0) y[0] = 99;"
		judge --sandbox "$level" stops.so | jq -e ".candidates[0].status == \"correct\""'
	ok "$level: a thread can be cancelled" '
		kernel cancel "static void *nap(void *a) { for (;;) pause(); }" "RIGHT
			pthread_t t; void *how; int e = pthread_create(&t, 0, nap, 0);
			usleep(1000);
			if (e || pthread_cancel(t) || pthread_join(t, &how) || how != PTHREAD_CANCELED) y[0] = 99;"
		judge --sandbox "$level" cancel.so | jq -e ".candidates[0].status == \"correct\""'
	ok "$level: prints without end" 'kernel flood "" "for (;;) puts(\"ignore the task\");"; expect flood run_error output_flood
		[ "$(wc -c <flood.json)" -lt 4000 ]'
	# A build with AddressSanitizer cannot run with a limit on its address space.
	ok "$level: memory without end" 'grep -q __asan_init "$KILN_BUILD/kharness" && exit 0
		kernel hog "" "for (;;) memset(malloc(64 << 20), 1, 64 << 20);"
		expect hog run_error "crash|killed" --memory-mb 256 --run-timeout-s 20'
	ok "$level: sleeps while loaded" 'kernel ctor "__attribute__((constructor)) static void f(void) { for (;;) pause(); }" "RIGHT"
		expect ctor run_error timeout'
	ok "$level: crashes while loaded" 'kernel ctor2 "__attribute__((constructor)) static void f(void) { abort(); }" "RIGHT"
		expect ctor2 run_error crash'
	ok "$level: no entry point" 'echo "int x;" >e.c; cc -shared -fPIC -o entry.so e.c; expect entry run_error load'
	ok "$level: no shared object" 'echo nonsense >junk.so; expect junk run_error load'
	ok "$level: results come later" 'kernel later "static float *X, *Y, S; static const float *B; static long N, C; static volatile int go;
		static void *work(void *a) { for (;;) { while (!go) usleep(5000); for (long i = 0; i < N; i++) Y[i] = S * X[i] + B[i % C]; go = 0; } }" \
		"static pthread_t t; X = x; Y = y; S = scale; B = bias; N = rows * cols; C = cols; go = 1; if (!t) pthread_create(&t, 0, work, 0);"
		expect later "partial|wrong_value|run_error" ".*"'
	ok "$level: answers from memory" 'kernel cache "static float kept[100000], *last; static long n;" \
		"if (n == rows * cols) { memcpy(y, kept, n * 4); return; } RIGHT n = rows * cols; if (n < 100000) memcpy(kept, y, n * 4);"
		expect cache partial wrong_result'
	ok "$level: speaks in the name of the runner" 'kernel forge "" "RIGHT char m[288] = { 2 };
		for (int f = 3; f < 64; f++) write(f, m, sizeof m);"; expect forge rejected forged_report'
	ok "$level: says when its calls began" 'kernel late "" "RIGHT struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
		long now = t.tv_sec * 1000000000 + t.tv_nsec;
		for (int f = 63; f > 2 && write(f, &now, sizeof now) < 0; f--);"; expect late rejected forged_report
		judge --sandbox "$level" late.so | jq -e ".candidates[0].reasons[0].detail | contains(\"when its calls began\")"'
	ok "$level: opens another shared memory" 'kernel shm "#include <fcntl.h>" "RIGHT int n = 0; char p[64];
		for (int f = 0; f < 64; f++) { sprintf(p, \"/proc/self/fd/%d\", f); n += f > 2 && open(p, O_RDWR) >= 0; } if (n) y[0] = 99;"
		judge --sandbox "$level" shm.so | jq -e ".candidates[0].status == \"correct\""'
done

ok 'the stack lies elsewhere in every go: what takes a place in the cache by chance does so only now and then' '
	# It crashes when it has found two hundred calls at one place; a go has 128 at most.
	kernel still "static char *first; static int moved, calls;" "char *here = __builtin_frame_address(0);
		if (!first) first = here; moved |= here != first; if (++calls > 200 && !moved) abort(); RIGHT"
	timed --phase timing --min-samples 64 still.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and all(.timing[]; .calls_per_sample * (.samples_ns | length) > 200)" r.json'
ok 'right at first, wrong when timed' '
	kernel later "static int calls;" "if (++calls > 3) return; RIGHT"
	timed --phase timing later.so >r.json
	jq -e ".candidates[0] | .status == \"wrong_value\" and (.reasons | any(.check == \"timed_run\")) and (has(\"timing\") | not)" r.json
	jq -e "(has(\"noise\") | not) and .pairs == []" r.json
'
ok 'crashes when timed' '
	kernel late "static int calls;" "if (++calls > 3) abort(); RIGHT"
	timed --phase timing late.so | jq -e ".candidates[0] | .status == \"run_error\" and (has(\"timing\") | not)"
	kernel past "static int calls;" "RIGHT if (++calls > 3) y[rows * cols] = 0;"
	timed --phase timing past.so | jq -e ".candidates[0].reasons[0].check == \"out_of_bounds_write\""
'
ok 'inputs of calls other than the current one cannot be read' '
	kernel other "static float *before; static volatile float seen;" "if (before) seen = *before; before = x; RIGHT"
	timed --phase timing other.so >r.json
	jq -e ".candidates[0] | .status == \"run_error\" and (.log | contains(\"the inputs of another call\"))" r.json
'
ok 'nothing on the stack tells a kernel in which goes they cannot' '
	kernel told "static float *before; static volatile float seen; extern void *__libc_stack_end;
		/* An order of some calls, its number, and a size of whole pages, before many zeros. */
		static int told(void)
		{
			volatile long here = 0;
			unsigned *p = (unsigned *)&here;
			for (int i = 0; i < 1400 && p + 60 < (unsigned *)__libc_stack_end; i += 2, p += 2) {
				unsigned long size = *(unsigned long *)(p + 4), zeros = 0;
				for (int k = 6; k < 60; k++) zeros += p[k];
				if (p[0] == 1 && p[1] > 1 && p[1] <= 128 && size && size % 4096 == 0 && !zeros)
					return 1;
			}
			return 0;
		}" "if (before && !told()) seen = *before; before = x; RIGHT"
	timed --phase timing told.so >r.json
	jq -e ".candidates[0] | .status == \"run_error\" and (.log | contains(\"the inputs of another call\"))" r.json
'
ok 'the error number does not tell that its process has waited for a row' '
	kernel waited "#include <errno.h>" "RIGHT if (errno) y[0] += 1; errno = 0;"
	timed --phase timing waited.so | jq -e ".candidates[0].status == \"correct\""
'
ok 'nor does the kernel of the system, which could note when a thread is interrupted' '
	kernel noted "extern const unsigned __rseq_size __attribute__((weak));" "RIGHT if (&__rseq_size && __rseq_size) y[0] += 1;"
	kharness -t "$task" --oracle oracle.so --phase correctness noted.so | jq -e ".candidates[0].status == \"correct\""
'
ok 'nothing may be written after the return of a call' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 2, cols: 7}" "$task" >t.json
	# The last element is left to a thread, which has it soon: before the next call, and before anybody looks.
	kernel behind "static volatile int turn, done; static float *volatile to; static volatile float v;
		static void *late(void *a) { for (;;) { while (turn == done); for (volatile int i = 0; i < 6000; i++); *to = v; done++; } }" \
		"static pthread_t t; if (!t) pthread_create(&t, 0, late, 0); long n = rows * cols - 1; while (turn != done);
		for (long i = 0; i < n; i++) y[i] = scale * x[i] + bias[i % cols];
		v = scale * x[n] + bias[n % cols]; to = y + n; __sync_synchronize(); turn++;"
	for i in 1 2 3; do
		kharness -t t.json --oracle oracle.so --phase timing --timing-s 0.2 --warmup-s 0 behind.so
	done | jq -es "map(.candidates[0].status) | all(. != \"correct\")"
	kernel looks "static float *before; static volatile float seen;" "if (before) seen = *before; before = y; RIGHT"
	timed --phase timing looks.so >r.json
	jq -e ".candidates[0] | .status == \"run_error\" and (.log | contains(\"the outputs of a call that was over\"))" r.json
'
ok 'rows cannot be read ahead to make calls together' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 20, cols: 70}" "$task" >t.json
	# Reads the rows of all calls, solves them, and leaves the rows in a pipe of its own until the last call.
	kernel ahead "#include <fcntl.h>
		#include <sys/stat.h>
		enum { W = 8 }; static unsigned long row[600][W], in, out; static long count, at, solved; static int fd, keep, ends[2];
		static void one(const float *x, const float *bias, float *y, float scale) { for (int k = 0; k < 20; k++)
			for (long i = 0; i < 1400; i++) { y[i] = scale * x[i] + bias[i % 70]; __asm__ volatile(\"\" ::: \"memory\"); } }" \
		"struct stat s; for (int k = 3; !fd && k < 64; k++) if (!fstat(k, &s) && S_ISFIFO(s.st_mode)) fd = k;
		if (at < count) {
			if (!in) { in = (long)x - row[at][0]; out = (long)y - row[at][2]; }
			if (!solved) one(x, bias, y, scale);
			if (++at == count) { dup2(keep, fd); close(keep); fcntl(fd, F_SETFD, row[0][6] ? FD_CLOEXEC : 0); }
			return; }
		one(x, bias, y, scale);
		at = 0; count = read(fd, row, sizeof row) / (long)sizeof row[0]; if (count <= 0) { count = 0; return; }
		pipe(ends); keep = dup(fd); write(ends[1], row, count * sizeof row[0]); dup2(ends[0], fd); close(ends[0]); close(ends[1]);
		fcntl(fd, F_SETFD, row[0][6] ? FD_CLOEXEC : 0); solved = in && !row[0][6];
		for (long k = 0; solved && k < count; k++)
			one((float *)(in + row[k][0]), (float *)(in + row[k][1]), (float *)(out + row[k][2]), scale);"
	# The same in its first goes only: there are looks between the rounds, too.
	sed "s/at = 0; count = read/{ static int goes; if (goes++ > 9) return; } &/" ahead.c >early.c
	not cmp -s ahead.c early.c
	cc -O1 -w -std=gnu11 -fopenmp -shared -fPIC -o early.so early.c
	for kernel in ahead early; do
		for i in $(seq 8); do
			kharness -t t.json --oracle oracle.so --threads 2 --phase timing --timing-s 0.05 --warmup-s 0 $kernel.so >r.json
			! jq -e ".candidates[0].reasons[0].check == \"calls_overlap\"" r.json || break
		done
		jq -e ".candidates[0].reasons[0].check == \"calls_overlap\"" r.json
	done
	# An anchor is looked at like a candidate, or it would know what it is, and could be slow for those who come after it.
	kernel plain "" "RIGHT"
	for i in 1 2 3; do
		kharness -t t.json --oracle oracle.so --threads 2 --phase timing --timing-s 0.05 --warmup-s 0 --against old=ahead.so plain.so
	done | jq -es "all(.candidates[0].status == \"correct\") and any(.candidates[1].reasons[0].check == \"calls_overlap\")"
'
ok 'a kernel that is careful only in its first calls is wrong' '
	jq -n "{schema:\"task/1\",name:\"relu\",op:\"relu\",description:\"d\",language:\"c\",axes:{n:{type:\"var\"}},
	  inputs:{x:{shape:[\"n\"],dtype:\"float32\"}},outputs:{y:{shape:[\"n\"],dtype:\"float32\"}},distributions:[\"normal\",\"special\"],
	  entry:{name:\"relu\",arguments:[\"x\",\"y\",\"n\"]},reference:\"r.c\",build:{compiler:\"cc\"},
	  workloads:[{name:\"a\",axes:{n:30000}},{name:\"b\",axes:{n:30001},timed:true}]}" >later.json
	echo "void relu(const double *x, double *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i]; }" >later-oracle.c
	echo "#include <math.h>
		void relu(const float *x, float *y, int n) { static int calls; calls++;
			for (int i = 0; i < n; i++) y[i] = calls > 20 ? fmaxf(x[i], 0) : x[i] < 0 ? 0 : x[i]; }" >later.c
	for f in later-oracle later; do cc -O1 -w -shared -fPIC -o $f.so $f.c -lm; done
	kharness -t later.json --oracle later-oracle.so --seeds 1 --warmup-s 0 --timing-s 0.05 later.so >r.json
	jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\" and .correctness.passed == .correctness.total" r.json
	# The same for rounded terms of long sums, which only sparse inputs show.
	jq "(.inputs.x.shape, .outputs.y.shape[0]) |= . | .axes.m = {type: \"var\"} | .inputs.x.shape = [\"n\", \"m\"] |
		.entry.arguments = [\"x\", \"y\", \"n\", \"m\"] | .reduction = \"m\" | .linear = true | .distributions = [\"normal\", \"zero_one\"] |
		.workloads = [{name: \"a\", axes: {n: 30, m: 500}}, {name: \"b\", axes: {n: 31, m: 1000}, timed: true}]" later.json >sums.json
	for t in double float; do
		echo "void relu(const $t *x, $t *y, int n, int m) { static int calls; calls++; for (long i = 0; i < n; i++) { double s = 0;
			for (long j = 0; j < m; j++) { union { float f; unsigned u; } v = { x[i * m + j] };
				if (calls > 20) v.u = v.u + 0x20 & ~0x3fu;
				s += sizeof *x == 8 ? x[i * m + j] : v.f; } y[i] = s; } }" >sums-$t.c
		cc -O1 -w -shared -fPIC -o sums-$t.so sums-$t.c
	done
	kharness -t sums.json --oracle sums-double.so --seeds 1 --warmup-s 0 --timing-s 0.05 sums-float.so >r.json
	jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\"" r.json
'
ok 'inputs may all be below zero: a maximum that begins with zero is wrong' '
	jq -n "{schema:\"task/1\",name:\"top\",op:\"maximum\",description:\"d\",language:\"c\",axes:{n:{type:\"var\"},m:{type:\"var\"}},
	  inputs:{x:{shape:[\"n\",\"m\"],dtype:\"float32\"}},outputs:{y:{shape:[\"n\"],dtype:\"float32\"}},distributions:[\"normal\",\"large\"],
	  entry:{name:\"top\",arguments:[\"x\",\"y\",\"n\",\"m\"]},reference:\"r.c\",build:{compiler:\"cc\"},
	  workloads:[{name:\"a\",axes:{n:20,m:300},timed:true}]}" >below.json
	for f in oracle:double:-1e300 right:float:-1e30f zero:float:0; do
		name=${f%%:*} type=${f#*:} start=${f##*:}
		echo "void top(const ${type%:*} *x, ${type%:*} *y, int n, int m) { for (int i = 0; i < n; i++) { y[i] = $start;
			for (int k = 0; k < m; k++) if (x[i * m + k] > y[i]) y[i] = x[i * m + k]; } }" >below-$name.c
		cc -O1 -w -shared -fPIC -o below-$name.so below-$name.c
	done
	for k in right zero; do
		kharness -t below.json --oracle below-oracle.so --seeds 1 --phase correctness below-$k.so >below-$k.json
	done
	jq -e ".candidates[0] | .status == \"correct\" and any(.correctness.cases[]; .drawn == \"inputs below zero\")" below-right.json
	jq -e ".candidates[0] | .status == \"partial\" and (.correctness.cases | any(.drawn == \"inputs below zero\" and (.ok | not)) and
		all(.ok or .drawn == \"inputs below zero\" or .distribution == \"mixed\"))" below-zero.json
	# One that is careful only in its first calls, and whole numbers.
	sed "s/y.i. = 0;/static int calls; y[i] = calls++ < 300 ? -1e30f : 0;/" below-zero.c >below-later.c
	sed "s/float/int/g" below-zero.c >below-whole.c
	jq "(.inputs.x, .outputs.y).dtype = \"int32\"" below.json >below-int.json
	sed "s/double/int/g; s/-1e300/-2147483647/" below-oracle.c >below-int-oracle.c
	for f in later whole int-oracle; do cc -O1 -w -shared -fPIC -o below-$f.so below-$f.c; done
	kharness -t below.json --oracle below-oracle.so --seeds 1 --warmup-s 0 --timing-s 0.05 below-later.so >r.json
	jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\" and .correctness.passed == .correctness.total" r.json
	kharness -t below-int.json --oracle below-int-oracle.so --seeds 1 --phase correctness below-whole.so |
		jq -e ".candidates[0].status == \"partial\""
'
ok 'numbers may be large next to their differences' '
	jq ".reduction = \"m\" | .entry.name = \"spread\" | .workloads[0].axes.n = 40" below.json >spread.json
	spread() { # NAME TYPE BODY: the variance of n numbers x
		echo "double sqrt(double);
			void spread(const $2 *x, $2 *y, int rows, int n) { for (; rows--; x += n) { $2 m = 0, v = 0; $3; *y++ = sqrt(v); } }" >spread-$1.c
		cc -O1 -w -shared -fPIC -o spread-$1.so spread-$1.c -lm
	}
	twice="for (int k = 0; k < n; k++) m += x[k] / n; for (int k = 0; k < n; k++) v += (x[k] - m) * (x[k] - m) / n"
	spread oracle double "$twice"; spread twice float "$twice"
	spread once float "if (n < 64) { $twice; } else { for (int k = 0; k < n; k++) m += x[k] / n, v += x[k] * x[k] / n; v -= m * m; v = v > 0 ? v : 0; }"
	for seed in 1 2 3 4; do
		kharness -t spread.json --oracle spread-oracle.so --seed $seed --seeds 1 --phase correctness spread-twice.so |
			jq -e ".candidates[0].status == \"correct\""
		kharness -t spread.json --oracle spread-oracle.so --seed $seed --seeds 1 --phase correctness spread-once.so |
			jq -e ".candidates[0].status == \"partial\""
	done
'
ok 'goes that only look at a candidate do not keep others from the machine' '
	echo "#include <math.h>
		#include <unistd.h>
		void relu(const float *x, float *y, int n) { int slow = 0;
			for (int i = 0; i < n; i++) { slow |= !isfinite(x[i]); y[i] = x[i] < 0 ? 0 : x[i]; } if (slow) usleep(30000); }" >naps.c
	cc -O1 -w -shared -fPIC -o naps.so naps.c -lm
	# A row for each moment: whether others may share the lock then, and whether they may have it alone.
	(while [ ! -e ended ]; do
		shared=no alone=no
		! flock -n -s kiln-cpu.lock true || shared=yes
		! flock -n kiln-cpu.lock true || alone=yes
		echo $shared $alone
	done) >moments &
	kharness -t later.json --oracle later-oracle.so --phase timing --warmup-s 0 --timing-s 0.05 naps.so >r.json
	: >ended; wait
	is correct "$(jq -r ".candidates[0].status" r.json)"
	# Alone while it measures, and then shared.
	uniq moments | tr "\n" ";" | grep -q "no no;\(.* .*;\)*yes no;"
'
ok 'a size is also drawn alone, and differs from the listed one' '
	kernel known "" "if (cols == 1000) rows = 64; RIGHT"
	judge known.so | jq -e ".candidates[0] | .status != \"correct\" and (.log | contains(\"main\"))"
	judge right.so >r.json
	jq -e "[.candidates[0].correctness.cases[] | select(.workload == \"main\").drawn // empty | scan(\"[a-z]+ drawn\")] |
		contains([\"rows drawn\", \"cols drawn\"])" r.json
	jq -e "[.candidates[0].correctness.cases[] | select(.workload == \"main\").drawn // empty] | any(test(\"^rows drawn as [0-9]+$\")) and any(test(\"^cols drawn as [0-9]+$\")) and
		all(test(\"rows drawn as 64|cols drawn as 1000\") | not)" r.json
'
ok 'a size drawn alone is odd once, which shows what is left over, also where a kernel is slow' '
	kernel eights "" "if (cols == 1000) rows &= ~7; if (rows == 64) cols &= ~1; RIGHT"
	for i in 1 2 3; do
		judge --seeds 1 eights.so | jq -e ".candidates[0].correctness.cases | [.[] | select(.ok | not).drawn] |
			any(test(\"^rows drawn as [0-9]+$\")) and any(test(\"^cols drawn as [0-9]+$\"))"
	done
	kernel dawdle "" "if (rows * cols == 64000) usleep(150000); if (cols == 1000) rows &= ~7; RIGHT"
	judge --seeds 1 --run-timeout-s 10 dawdle.so | jq -e ".candidates[0].status == \"partial\""
'
ok 'a kernel does not get fewer cases by being slow where the oracle is quick' '
	kernel dawdle "" "RIGHT if (rows * cols == 64000) usleep(1050000);"
	judge --seeds 1 --run-timeout-s 10 dawdle.so | jq -e "[.candidates[0].correctness.cases[] | select(.workload == \"main\" and ((.drawn // \"scale\") | test(\"^scale\"))).distribution] |
		contains([\"normal\", \"zero_one\", \"large\"])"
'
ok 'a wrong kernel is not timed' '
	kernel nop "" ""
	timed nop.so | jq -e ".candidates[0] | .status == \"wrong_value\" and .tier == 2 and (has(\"timing\") | not)"
'
ok 'a clock that runs slow in its own process gains nothing' '
	cat >clock.c <<E
#include <time.h>
#include <stdint.h>
#include <sys/mman.h>
#include <dlfcn.h>
#include <string.h>
/* Overwrites the C library clock_gettime of its process: time stands still. */
static int still(clockid_t c, struct timespec *t) { t->tv_sec = t->tv_nsec = 0; return 0; }
void affine(const float *x, const float *bias, float *y, int rows, int64_t cols, float scale)
{
	static int done;
	if (!done++) {
		unsigned char *f = dlsym(RTLD_DEFAULT, "clock_gettime"), jump[12] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0 };
		void *to = (void *)still;
		memcpy(jump + 2, &to, 8);
		if (mprotect((void *)((uintptr_t)f & ~4095ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
			memcpy(f, jump, sizeof jump);
	}
	for (int k = 0; k < 30; k++) {
		for (long i = 0; i < rows * cols; i++) y[i] = scale * x[i] + bias[i % cols];
		__asm__ volatile("" ::: "memory");
	}
}
E
	cc -O1 -w -shared -fPIC -o clock.so clock.c
	[ "$(uname -m)" = x86_64 ] || exit 0
	kharness -t "$task" --oracle oracle.so --threads 1 --phase timing --timing-s 0.05 clock.so >r.json
	jq -e ".candidates[0] | .status == \"rejected\" and .reasons[0].check == \"clock_forged\"" r.json
'
ok 'work on more processors than were given counts in full' '
	kernel wide "#define CPU_SET_BYTES 128
		int sched_setaffinity(pid_t, size_t, const void *);
		static void burn(void) { unsigned char all[CPU_SET_BYTES]; memset(all, 255, sizeof all); sched_setaffinity(0, sizeof all, all);
			for (struct timespec t = { 0 }; t.tv_nsec < 30000000; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)); }
		static void *thread(void *a) { burn(); return a; }" \
		"RIGHT pthread_t t; pthread_create(&t, 0, thread, 0); pthread_create(&t, 0, thread, 0); pthread_join(t, 0); usleep(30000);"
	timed --threads 1 --phase timing --max-samples 5 wide.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and .timing[0].median_ns > 50000000" r.json
'
ok 'a slow start does not make samples short' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 2, cols: 7}" "$task" >t.json
	kernel start "static int calls;" "RIGHT if (++calls < 9) usleep(5000);"
	kharness -t t.json --oracle oracle.so --phase timing --timing-s 0.05 --warmup-s 0 --min-samples 60 start.so >r.json
	jq -e ".candidates[0].timing[0].calls_per_sample > 1" r.json
	kernel steps "static int calls;" "RIGHT if (++calls < 90) usleep(9000 - 100 * calls);"
	kharness -t t.json --oracle oracle.so --phase timing --timing-s 0.05 --warmup-s 0 --min-samples 100 --max-samples 100 steps.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and .timing[0].calls_per_sample > 1" r.json
'
ok 'next to a kernel that takes seconds, the times of others are medians of many goes' '
	kernel seconds "" "RIGHT usleep(1100000);"
	kernel uneven "static int calls;" "usleep(++calls % 4 ? 20000 : 400000); RIGHT"
	timed --threads 1 --phase timing --against seconds=seconds.so uneven.so >r.json
	jq -e ".candidates[0].timing[0].samples_ns | length == 7 and max < 5 * min" r.json
'
ok 'next to slow kernels, and with a slow oracle, a call of microseconds is timed in many calls' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 2, cols: 7}" "$task" >t.json
	kernel mid "" "RIGHT usleep(20000);"
	{ echo "#include <unistd.h>"; sed "s/^{/{ usleep(30000);/" "$tests_dir/tasks/affine/reference.c"; } >waits.c
	cc -O1 -w -std=gnu11 -shared -fPIC -DREAL=double -o waits.so waits.c
	kharness -t t.json --oracle waits.so --threads 1 --phase timing --timing-s 0.05 --warmup-s 0 --against mid=mid.so right.so >r.json
	jq -e ".candidates[0].timing[0] | .calls_per_sample > 20 and .checked_per_sample == 1" r.json
	jq -e ".pairs[0].ratio | . > 1000 and . < 1000000" r.json
	kharness -t t.json --oracle oracle.so --threads 1 --phase timing --timing-s 0.05 --warmup-s 0 --against mid=mid.so right.so >r.json
	jq -e "[.. | .timing? | arrays | .[]] | length == 2 and all(.checked_per_sample <= .calls_per_sample)" r.json
	# A slower one makes only the first calls: one of these is among the few that are checked.
	kernel idle "static int calls;" "if (++calls < 20) { RIGHT } usleep(20000);"
	kharness -t t.json --oracle waits.so --threads 1 --phase timing --timing-s 0.05 --warmup-s 0 --all-pairs --against idle=idle.so \
		right.so >r.json
	jq -e "[.candidates[].status] == [\"correct\", \"wrong_value\"]" r.json
'
ok 'calls that a slow oracle cannot check are compared with those of the others' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 2, cols: 7}" "$task" >t.json
	{ echo "#include <unistd.h>"; sed "s/^{/{ usleep(30000);/" "$tests_dir/tasks/affine/reference.c"; } >waits.c
	cc -O1 -w -std=gnu11 -shared -fPIC -DREAL=double -o waits.so waits.c
	kernel seldom "static int calls;" "if (++calls < 40 || calls % 60) { RIGHT }"
	kernel other "" "for (long i = rows * cols - 1; i >= 0; i--) y[i] = (float)((double)scale * x[i]) + bias[i % cols];"
	t() { kharness -t t.json --oracle waits.so --threads 1 --phase timing --timing-s 0.05 --warmup-s 0 --against right=right.so "$@"; }
	for i in 1 2 3; do
		t seldom.so | jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\""
	done
	t other.so | jq -e ".candidates[0] | .status == \"correct\" and .timing[0].checked_per_sample == 1"
	# Of two candidates, the oracle knows who is right.
	t --all-pairs --against seldom=seldom.so other.so >r.json
	jq -e "[.candidates[].status] == [\"correct\", \"correct\", \"wrong_value\"]" r.json
'
ok 'faster than possible is quarantined' '
	jq ".min_time_ns = 1e9" "$task" >t.json
	kharness -t t.json --oracle oracle.so --phase timing --timing-s 0.05 right.so >r.json
	jq -e ".candidates[0] | .status == \"quarantined\" and .reasons[0].check == \"too_fast\"" r.json
'
ok 'all calls together have a limit' '
	kernel slow "" "RIGHT usleep(90000);"
	judge --run-timeout-s 0.1 slow.so | jq -e ".candidates[0] | .status == \"run_error\" and .reasons[0].check == \"timeout\""
'
ok 'lint' '
	kharness --lint "$task" --oracle oracle.so 2>err
	not grep -v "note: .* add \"special\" to" err
	jq "del(.reduction) | .workloads |= map(.axes.cols = 7)" "$task" >t.json
	kharness --lint t.json 2>err; grep -q "axis cols has the same size" err; grep -q "\"reduction\" is missing" err
	jq ".tolerance = {atol: 1e9}" "$task" >t.json
	exits 2 kharness --lint t.json --oracle oracle.so; grep -q "y of zeros would pass" err; grep -q "other inputs would pass" err
	jq ".tolerance = {atol: 0.1}" "$task" >t.json
	exits 2 kharness --lint t.json --oracle oracle.so; grep -q "hardly depends on the inputs" err
	jq ".tolerance = {atol: 0, rtol: 0}" "$task" >t.json
	exits 2 kharness --lint t.json --oracle oracle.so; grep -q "the tolerance is too tight" err
	jq "del(.op) | .extra = 1" "$task" >t.json
	exits 2 kharness --lint t.json; grep -q "op: is missing" err; grep -q "extra: unknown field" err; grep -q "2 faults" err
'
ok 'lint: a sum over everything may depend less on the inputs' '
	jq -n "{schema:\"task/1\",name:\"power\",op:\"power\",description:\"d\",language:\"c\",axes:{n:{type:\"var\"},m:{type:\"var\"}},
	  inputs:{x:{shape:[\"n\"],dtype:\"float32\"}},outputs:{s:{shape:[\"m\"],dtype:\"float32\"}},entry:{name:\"power\",
	  arguments:[\"x\",\"s\",\"n\",\"m\"]},reference:\"power.c\",build:{compiler:\"cc\"},distributions:[\"normal\"],reduction:\"n\",
	  tolerance:{atol:0.005,rtol:0},workloads:[{name:\"w\",axes:{n:1000,m:1},timed:true}]}" >power.json
	echo "void power(const double *x, double *s, int n, int m) { for (int k = 0; k < m; k++) { s[k] = 0; for (int i = 0; i < n; i++) s[k] += x[i] * x[i]; } }" >power.c
	cc -shared -fPIC -o power.so power.c
	exits 0 kharness --lint power.json --oracle power.so; not grep -q "workload w: s" err
	# Two sums may be close to each other by chance.
	refused() { for i in $(seq 20); do exits 2 kharness --lint t.json --oracle power.so; grep -q "it changes by .*, which must be $1 times" err && return; done; return 1; }
	jq ".tolerance.atol = 16" power.json >t.json; refused 20
	jq ".tolerance.atol = 16 | .workloads[0].axes.m = 17" power.json >t.json; refused 100
'
ok 'lint: integer results depend on the inputs, or a constant would pass' '
	jq -n "{schema:\"task/1\",name:\"count\",op:\"count\",description:\"d\",language:\"c\",axes:{n:{type:\"var\"}},
	  inputs:{x:{shape:[\"n\"],dtype:\"int32\"}},outputs:{c:{shape:[1],dtype:\"int32\"}},entry:{name:\"count\",
	  arguments:[\"x\",\"c\",\"n\"]},reference:\"count.c\",build:{compiler:\"cc\"},distributions:[\"normal\",\"special\"],
	  workloads:[{name:\"w\",axes:{n:1000},timed:true},{name:\"v\",axes:{n:1}}]}" >count.json
	echo "void count(const int *x, int *c, int n) { *c = 0; for (int i = 0; i < n; i++) *c += x[i] > 0; }" >count.c
	echo "void count(const int *x, int *c, int n) { *c = 0; for (int i = 0; i < n; i++) *c += x[i] == x[i]; }" >all.c
	cc -shared -fPIC -o count.so count.c; cc -shared -fPIC -o all.so all.c
	kharness --lint count.json --oracle count.so 2>err; [ ! -s err ]
	exits 2 kharness --lint count.json --oracle all.so; grep -q "workload w: the results are the same for all inputs" err
	jq ".workloads[1].timed = true" count.json >both.json
	sed "s/i < n/i < n \&\& n > 1/" count.c >few.c; cc -shared -fPIC -o few.so few.c
	kharness --lint both.json --oracle few.so 2>err; [ ! -s err ]
'
ok 'hard-coded sizes and scalars are wrong, and the message says what was drawn' '
	kernel sizes "" "if (cols == 1 || cols == 37 || cols == 1000 || cols == 1025) { RIGHT }"
	judge sizes.so | jq -e ".candidates[0] | .status == \"partial\" and (.log | test(\"workload [a-z]+ with [a-z0-9 ,.]*cols drawn as [0-9]+\"))"
	kernel scale "" "scale = 0.5f; RIGHT"
	judge scale.so | jq -e ".candidates[0] | .status == \"partial\" and (.log | contains(\"scale drawn as\")) and
		([.correctness.cases[] | select(.ok | not)] | length > 0 and all(.drawn | contains(\"scale\")))"
	# With the listed sizes, too.
	kernel listed "" "if (cols == 1 || cols == 37 || cols == 1000 || cols == 1025) scale = 0.5f; RIGHT"
	judge listed.so | jq -e ".candidates[0] | .status == \"partial\" and
		any(.correctness.cases[]; (.ok | not) and (.drawn | test(\"^scale drawn as [0-9.]+\$\")))"
	# Also by one that is careful in its first calls.
	kernel later "static int calls;" "scale = calls++ < 60 ? scale : 0.5f; RIGHT"
	timed later.so | jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\""
	# Unless the task says that there are no others.
	jq ".axes.cols.fixed = true | .inputs.scale.fixed = true" "$task" >t.json
	task=t.json judge sizes.so | jq -e ".candidates[0] | .status == \"correct\" and ([.correctness.cases[].drawn // \"rows\" | test(\"^rows[a-z0-9 ]*$\")] | all)"
	task=t.json judge scale.so | jq -e ".candidates[0].status == \"correct\""
	jq ".axes.cols.fixed = true | .axes.rows.fixed = true | .inputs.scale.fixed = true" "$task" >t.json
	task=t.json judge right.so | jq -e ".candidates[0].correctness.total == 24"'
ok 'sizes are drawn within limits, and share what the listed ones share' '
	jq ".axes.rows += {min: 1, max: 9, step: 1} | .axes.cols += {step: 12, max: 5040} | .workloads = [
		{name: \"a\", axes: {rows: 2, cols: 24}}, {name: \"b\", axes: {rows: 5, cols: 120}, timed: true}]" "$task" >t.json
	task=t.json judge --seeds 9 right.so | jq -e "[.candidates[0].correctness.cases[].drawn // empty |
		{rows: ((capture(\"rows drawn as (?<n>[0-9]+)\").n // \"1\") | tonumber), cols: ((capture(\"cols drawn as (?<n>[0-9]+)\").n // \"24\") | tonumber)}] |
		length > 5 and all(.rows <= 9 and .cols % 12 == 0 and .cols >= 24)"
	# One size is a multiple of the other, and what a shape divides leaves no remainder.
	jq ".axes.rows.max = 64 | .inputs.bias.shape = [\"cols/3*3\"] | .workloads = [
		{name: \"a\", axes: {rows: 4, cols: 24}}, {name: \"b\", axes: {rows: 8, cols: 48}, timed: true}]" "$task" >t.json
	kernel ratio "" "if (cols % rows || cols % 3) return; RIGHT"
	task=t.json judge --seeds 9 ratio.so | jq -e ".candidates[0].status == \"correct\" and ([.candidates[0].correctness.cases[] | select(.drawn)] | length > 9)"'
ok 'contents that a workload gives keep its sizes, and groups change their order' '
	g=$tests_dir/tasks/grouped_c
	cc -O1 -w -std=gnu11 -shared -fPIC -o g.so "$g/reference.c"; cc -O1 -w -std=gnu11 -shared -fPIC -DREAL=double -o g-oracle.so "$g/reference.c"
	kharness -t "$g/task.json" --oracle g-oracle.so --phase correctness g.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and any(.correctness.cases[]; .drawn == \"offsets in a different order\")" r.json
	jq ".axes.K.min = 1 | .axes.N.min = 1" "$g/task.json" >t.json
	kharness -t t.json --oracle g-oracle.so --phase correctness g.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and any(.correctness.cases[]; .drawn // \"\" | test(\"[KN] drawn as .*offsets\"))" r.json'
ok 'writes far from the outputs are found, wherever they go' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 500, cols: 1000}" "$task" >t.json
	# If the call is at the end of the arena, nothing is mapped beyond it.
	found=".candidates[0].reasons[0].check | IN(\"out_of_bounds_write\", \"crash\")"
	for at in 1500000 400000; do
		kernel far "" "RIGHT if (rows * cols < 2000) { volatile char *p = (char *)y + ($at); *p = *p + 1; }"
		task=t.json judge --seeds 1 far.so | jq -e "$found" || exit 1
	done
	# In one call of many, where other calls will be.
	kernel once "static int n;" "RIGHT if (++n == 4) { volatile char *p = (char *)y + 900000; *p = *p + 1; }"
	task=t.json judge --seeds 1 once.so | jq -e "$found"
	# And when timed: the arena is larger than what one call uses.
	kernel timed "" "RIGHT volatile char *p = (char *)((uintptr_t)y & ~0xfffffful); *(p + 0x400000) += 1;"
	timed --phase timing timed.so | jq -e "$found"'
cat >"$T/sum.json" <<'E'
{"schema":"task/1","name":"sum","op":"sum","description":"d","language":"c","axes":{"rows":{"type":"var"},"n":{"type":"var"}},
"inputs":{"x":{"shape":["rows","n"],"dtype":"float32"}},"outputs":{"s":{"shape":["rows"],"dtype":"float32"}},
"entry":{"name":"sum","arguments":["x","s","rows","n"]},"reference":"sum.c","build":{"compiler":"cc"},"reduction":"n","linear":true,
"workloads":[{"name":"odd","axes":{"rows":3,"n":17}},{"name":"long","axes":{"rows":40,"n":60000},"timed":true}]}
E
ok 'rounded inputs are wrong, however long the sum is; honest sums are not' '
	sum() { # NAME TYPE BODY: BODY adds element v to t
		echo "void sum(const $2 *x, $2 *s, int rows, int n) { for (long i = 0; i < rows; i++, x += n) { $2 t = 0, c = 0; (void)c;
			for (int k = 0; k < n; k++) { $2 v = x[k]; $3 } s[i] = t; } }" >$1.c
		cc -O1 -w -shared -fPIC -o $1.so $1.c
	}
	try() { kharness -t sum.json --oracle sum-oracle.so --phase correctness $1.so | jq -r ".candidates[0].status"; }
	sum sum-oracle double "t += v;"
	sum plain float "t += v;"
	sum kahan float "float y = v - c, u = t + y; c = (u - t) - y; t = u;"
	is correct "$(try plain)"; is correct "$(try kahan)"
	sum half float "if (n > 30000) v = (_Float16)v; t += v;"
	sum bits16 float "if (n > 30000) { union { float f; unsigned u; } w = { v }; w.u = w.u + 0x40 & ~0x7fu; v = w.f; } t += v;"
	is partial "$(try half)"; is partial "$(try bits16)"
	# What the task itself allows is accepted.
	jq ".tolerance = {rtol: 1e-3, atol: 1} | .distributions = [\"normal\", \"zero_one\"]" sum.json >t.json
	kharness -t t.json --oracle sum-oracle.so --phase correctness half.so | jq -e ".candidates[0].status == \"correct\""'
ok 'a product of matrices: sparse inputs distinguish rounding of either from honest sums' '
	jq -n "{schema:\"task/1\",name:\"mm\",op:\"matmul\",description:\"d\",language:\"c\",axes:{m:{type:\"var\"},n:{type:\"var\"},k:{type:\"var\"}},
	  inputs:{a:{shape:[\"m\",\"k\"],dtype:\"float32\"},b:{shape:[\"k\",\"n\"],dtype:\"float32\"}},outputs:{c:{shape:[\"m\",\"n\"],dtype:\"float32\"}},
	  entry:{name:\"mm\",arguments:[\"a\",\"b\",\"c\",\"m\",\"n\",\"k\"]},reference:\"mm.c\",build:{compiler:\"cc\"},reduction:\"k\",linear:true,
	  workloads:[{name:\"odd\",axes:{m:9,n:11,k:7}},{name:\"deep\",axes:{m:16,n:24,k:20000},timed:true}]}" >mm.json
	mm() { # NAME TYPE ROUND: what becomes of an element
		echo "static $2 r($2 v) { $3; return v; }
		void mm(const $2 *a, const $2 *b, $2 *c, int m, int n, int k) { for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
			$2 t = 0; for (int l = 0; l < k; l++) t += r(a[i * (long)k + l]) * b[l * (long)n + j]; c[i * n + j] = t; } }" >$1.c
		cc -O2 -w -shared -fPIC -o $1.so $1.c
	}
	try() { kharness -t mm.json --oracle mm-oracle.so --phase correctness $1.so | jq -r ".candidates[0].status"; }
	mm mm-oracle double ""; mm plain float ""
	is correct "$(try plain)"
	mm bits17 float "union { float f; unsigned u; } w = { v }; w.u = w.u + 0x20 & ~0x3fu; v = w.f"
	# With luck none of the few cases is right.
	case $(try bits17) in partial | wrong_value) ;; *) false ;; esac'
jq -n '{schema: "task/1", name: "thomas", op: "solve", description: "d", language: "c",
	axes: {m: {type: "var"}, n: {type: "var"}}, inputs: ({l: 0, d: 0, u: 0, r: 0} | map_values({shape: ["m", "n"], dtype: "float32"})),
	outputs: {x: {shape: ["m", "n"], dtype: "float32"}}, entry: {name: "thomas", arguments: ["l", "d", "u", "r", "x", "m", "n"]},
	reference: "t.c", build: {compiler: "cc"}, reduction: "m",
	workloads: [{name: "odd", axes: {m: 17, n: 31}}, {name: "main", axes: {m: 100, n: 200}, timed: true}]}' >"$T/thomas.json"
ok 'ill-conditioned: rounding errors may grow as they do in the oracle, and nothing else may' '
	thomas() { # NAME TYPE DIVISION CHANGE: tridiagonal systems without pivoting, each in a column; CHANGE of an element of the result
		echo "void thomas(const float *l, const float *d, const float *u, const float *r, $5 *x, int m, int n) { for (long j = 0; j < n; j++) {
			$2 c[9999], y[9999], z = 0; for (long i = 0; i < m; i++) { long k = i * n + j;
				$2 e = i ? l[k] : 0, p = i ? d[k] - e * c[i - 1] : d[k], q = i ? r[k] - e * y[i - 1] : r[k]; $3 }
			for (long i = m - 1; i >= 0; i--) { z = i < m - 1 ? y[i] - c[i] * z : y[i]; x[i * n + j] = z $4; } } }" |
			if [ "$5" = double ]; then sed "s/const float/const double/g"; else cat; fi >$1.c
		cc -O2 -w -shared -fPIC -o $1.so $1.c
	}
	try() { kharness -t $1.json --oracle $1-oracle.so --phase correctness $2.so | jq -r ".candidates[0].status"; }
	divide="c[i] = u[k] / p; y[i] = q / p;"
	thomas thomas-oracle double "$divide" "" double
	thomas plain float "$divide" "" float
	thomas inverse float "p = 1 / p; c[i] = u[k] * p; y[i] = q * p;" "" float
	is correct "$(try thomas plain)"; is correct "$(try thomas inverse)"
	# One element is what is left of two numbers 260,000 times as large, and keeps its error when inputs change by a unit.
	kharness -t thomas.json --oracle thomas-oracle.so --phase correctness --seed 181c5323f2f3965a plain.so |
		jq -e ".candidates[0].status == \"correct\""
	thomas edge float "$divide" "* (i ? 1 : 1.001f)" float
	thomas half float "c[i] = (_Float16)(u[k] / p); y[i] = q / p;" "" float
	for k in edge half; do [ "$(try thomas $k)" != correct ]; done
	# An oracle that works in single precision itself has errors of that size, which say nothing about the condition.
	thomas single-oracle float "$divide" "" double
	cp thomas.json single.json
	is correct "$(try single plain)"; [ "$(try single edge)" != correct ]
	# What is wrong anyway is not looked at so closely.
	{ echo "#include <fcntl.h>"; echo "#include <unistd.h>"; sed "s/{ for (long j/{ int f = open(\"calls\", O_WRONLY | O_APPEND | O_CREAT, 0600); write(f, \"x\", 1); close(f); for (long j/" thomas-oracle.c; } >calls-oracle.c
	cc -O2 -w -shared -fPIC -o calls-oracle.so calls-oracle.c; cp thomas.json calls.json
	try calls plain; cases=$(wc -c <calls); rm calls
	[ "$(try calls edge)" != correct ]; more=$(wc -c <calls)
	echo "$more runs of the oracle, $cases without a wrong case"; [ $more -lt $((cases + 3 * 84 * 2 + 100)) ]'
cat >"$T/max.json" <<'E'
{"schema":"task/1","name":"softmax","op":"softmax","description":"d","language":"c","axes":{"rows":{"type":"var"},"n":{"type":"var"}},
"inputs":{"x":{"shape":["rows","n"],"dtype":"float32"}},"outputs":{"y":{"shape":["rows","n"],"dtype":"float32"}},
"entry":{"name":"softmax","arguments":["x","y","rows","n"]},"reference":"s.c","build":{"compiler":"cc"},"reduction":"n","tolerance":{"rtol":1e-4},
"distributions":["normal","special"],
"workloads":[{"name":"odd","axes":{"rows":70,"n":17}},{"name":"main","axes":{"rows":200,"n":300},"timed":true}]}
E
ok 'special values: masked rows and NaN come out right, where the task asks for them' '
	softmax() { # NAME TYPE BODY: BODY makes the maximum m and the sum s of x
		echo "double exp(double);
		void softmax(const $2 *x, $2 *y, int rows, int n) { for (int i = 0; i < rows; i++, x += n, y += n) { $2 m = -__builtin_inf(), s = 0;
			$3 for (int k = 0; k < n; k++) y[k] = exp(x[k] - m) / s; } }" >$1.c
		cc -O2 -w -shared -fPIC -o $1.so $1.c -lm
	}
	try() { kharness -t $2 --oracle max-oracle.so --phase correctness $1.so | jq -r ".candidates[0] | .status, .log"; }
	plain="for (int k = 0; k < n; k++) if (x[k] > m) m = x[k]; for (int k = 0; k < n; k++) s += exp(x[k] - m);"
	jq ".distributions = [\"normal\", \"uniform\"]" max.json >finite.json
	softmax max-oracle double "$plain"; softmax plain float "$plain"
	is correct "$(try plain max.json | head -n 1)"
	# A common mistake: NaN when a row begins with masked values.
	softmax online float "for (int k = 0; k < n; k++) { float o = m; if (x[k] > m) m = x[k]; s = s * exp(o - m) + exp(x[k] - m); }"
	is correct "$(try online finite.json | head -n 1)"; try online max.json >out; is partial "$(head -n 1 out)"; grep -q "inputs special" out
	softmax skip float "for (int k = 0; k < n; k++) if (x[k] > m) m = x[k]; for (int k = 0; k < n; k++) if (x[k] == x[k]) s += exp(x[k] - m);"
	is correct "$(try skip finite.json | head -n 1)"; is partial "$(try skip max.json | head -n 1)"
	# A row that is masked completely has no numbers.
	softmax zeros float "$plain if (m < -3e38) s = 1; if (m < -3e38) m = 0;"
	is correct "$(try zeros finite.json | head -n 1)"; is partial "$(try zeros max.json | head -n 1)"'
ok 'special values: NaN comes also to elements of a long vector that have nothing to do with each other' '
	jq -n "{schema:\"task/1\",name:\"relu\",op:\"relu\",description:\"d\",language:\"c\",axes:{n:{type:\"var\"}},
	  inputs:{x:{shape:[\"n\"],dtype:\"float32\"}},outputs:{y:{shape:[\"n\"],dtype:\"float32\"}},distributions:[\"normal\",\"special\"],
	  entry:{name:\"relu\",arguments:[\"x\",\"y\",\"n\"]},reference:\"r.c\",build:{compiler:\"cc\"},
	  workloads:[{name:\"a\",axes:{n:300000}},{name:\"b\",axes:{n:300001},timed:true}]}" >relu.json
	relu() { echo "#include <math.h>
		void relu(const $2 *x, $2 *y, int n) { for (int i = 0; i < n; i++) y[i] = $3; }" >$1.c; cc -O1 -w -shared -fPIC -o $1.so $1.c -lm; }
	relu relu-oracle double "x[i] < 0 ? 0 : x[i]"; relu library float "fmaxf(x[i], 0)"
	for seed in 1 2 3 4 5 6 7 8 9 a b c; do
		kharness -t relu.json --oracle relu-oracle.so --seed $seed --seeds 1 --phase correctness library.so
	done | jq -es "map(.candidates[0].status) | length == 12 and all(. == \"partial\")"
	# NaN has either sign, and the bits of a number say so.
	bits="union { float f; unsigned u; } v = { x[i] }; y[i] ="
	for k in "(int)v.u > 0 ? v.f : 0" "v.u - 0x7f800001u < 0x7fffffu ? __builtin_inff() : v.u >> 31 && v.u <= 0xff800000u ? 0 : v.f"; do
		echo "void relu(const float *x, float *y, int n) { for (int i = 0; i < n; i++) { $bits $k; } }" >bits.c
		cc -O1 -w -shared -fPIC -o bits.so bits.c
		kharness -t relu.json --oracle relu-oracle.so --seeds 1 --phase correctness bits.so | jq -e ".candidates[0].status == \"partial\""
	done
'
ok 'inputs of whole numbers are mixed, too' '
	jq ".inputs.x = {shape: [\"n\", \"m\"], dtype: \"int32\"} | .outputs.y = .inputs.x | .axes.m = {type: \"var\"} |
		.entry.arguments = [\"x\", \"y\", \"n\", \"m\"] | .distributions = [\"normal\", \"large\"] |
		.workloads = [{name: \"a\", axes: {n: 100, m: 300}}, {name: \"b\", axes: {n: 90, m: 311}, timed: true}]" relu.json >whole.json
	whole() { echo "void relu(const int *x, int *y, int n, int m) { for (; n--; x += m, y += m) { int small = 1;
		for (int i = 0; i < 32; i++) small &= x[i] < 512 && x[i] > -512;
		for (int i = 0; i < m; i++) y[i] = x[i] < 0 ? 0 : $2; } }" >$1.c; cc -O1 -w -shared -fPIC -o $1.so $1.c; }
	whole whole-oracle "x[i]"; whole looks "small && x[i] > 511 ? 511 : x[i]"
	kharness -t whole.json --oracle whole-oracle.so --seeds 1 --phase correctness looks.so >r.json
	jq -e ".candidates[0] | .status == \"partial\" and ([.correctness.cases[] | select(.ok | not).distribution] | all(. == \"mixed\"))" r.json
'
ok 'sums of products of whole numbers are mixed, too, and a mixture is not only small' '
	jq ".linear = true | .distributions += [\"zero_one\"]" whole.json >linear.json
	echo "void relu(const int *x, int *y, int n, int m) { static int calls; calls++;
		for (long i = 0; i < (long)n * m; i++) y[i] = calls > 24 ? (short)x[i] : x[i]; }" >short.c
	sed "s/(short)//" short.c >long.c
	for k in short long; do cc -O1 -w -shared -fPIC -o $k.so $k.c; done
	kharness -t linear.json --oracle long.so --seeds 1 --warmup-s 0 --timing-s 0.05 short.so |
		jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\""
	kharness -t linear.json --oracle long.so --seeds 1 --warmup-s 0 --timing-s 0.05 long.so | jq -e ".candidates[0].status == \"correct\""
'
ok 'mixed inputs: some elements do not show what the others are' '
	jq ".distributions = [\"normal\", \"large\"]" max.json >wide.json
	softmax() { # NAME TYPE BODY: BODY makes the maximum m and the sum s of x
		echo "double exp(double);
		void softmax(const $2 *x, $2 *y, int rows, int n) { for (int i = 0; i < rows; i++, x += n, y += n) { $2 m = -__builtin_inf(), s = 0;
			$3 for (int k = 0; k < n; k++) y[k] = exp(x[k] - m) / s; } }" >$1.c
		cc -O2 -w -shared -fPIC -o $1.so $1.c -lm
	}
	plain="for (int k = 0; k < n; k++) if (x[k] > m) m = x[k]; for (int k = 0; k < n; k++) s += exp(x[k] - m);"
	softmax max-oracle double "$plain"; softmax plain float "$plain"
	# No maximum if every third element of a long row is small, as in timed calls.
	softmax look float "for (int k = 0; k < n; k += n < 90 ? 1 : 3) if (x[k] > m) m = x[k]; if (m > 4) { $plain }
		else for (int k = 0; k < n; k++) s += exp(x[k] - m);"
	for seed in 1 2 3 4 5 6 7 8; do
		for k in plain look; do
			kharness -t wide.json --oracle max-oracle.so --seed $seed --phase correctness $k.so >>$k.json
		done
	done
	jq -es "all(.candidates[0].status == \"correct\")" plain.json
	jq -es "map(.candidates[0]) | any(.status == \"partial\" and (.log | contains(\"inputs mixed\"))) and
		all(.[].correctness.cases[]; .ok or .distribution == \"mixed\")" look.json
	# Timed calls are drawn from the same mixture.
	jq ".distributions = [\"normal\"]" wide.json >narrow.json
	for k in plain look; do
		kharness -t narrow.json --oracle max-oracle.so --timing-s 0.05 --warmup-s 0 $k.so >n.json
		is correct "$(jq -r ".candidates[0].status" n.json)"
	done
	i=0; : >n.json
	until jq -e "any(.candidates[0].reasons[]; .check == \"timed_run\")" n.json; do
		i=$((i + 1)); [ $i -le 20 ]
		kharness -t wide.json --oracle max-oracle.so --phase timing --timing-s 0.05 --warmup-s 0 look.so >n.json
	done'
ok 'special values: what a pragma assumes away' '
	jq ".name = \"relu\" | .entry.name = \"relu\" | .reduction = \"1\"" max.json >relu.json
	relu() { echo "$3
		void relu(const $2 *x, $2 *y, int rows, int n) { for (long i = 0; i < (long)rows * n; i++) y[i] = x[i] != x[i] ? x[i] : x[i] > 0 ? x[i] : 0; }" >$1.c
		cc -O2 -w -shared -fPIC -o $1.so $1.c; }
	relu relu-oracle double ""; relu honest float ""; relu fast float "#pragma GCC optimize(\"Ofast\")"
	try() { kharness -t relu.json --oracle relu-oracle.so --phase correctness $1.so | jq -r ".candidates[0].status"; }
	is correct "$(try honest)"; is partial "$(try fast)"
	# Numbers below the normal range may be flushed to zero.
	[ "$(uname -m)" = x86_64 ] || exit 0
	relu flush float "#include <immintrin.h>"; sed -i "s/{ for/{ _mm_setcsr(_mm_getcsr() | 0x8040); for/" flush.c
	cc -O2 -w -shared -fPIC -o flush.so flush.c; is correct "$(try flush)"'
ok 'special values: whole numbers up to the limits of their types' '
	top() { cat >$1.c <<-E
		#include <stdint.h>
		void top(const $2 *x, $2 *y, int rows, int n)
		{
			for (int i = 0; i < rows; i++) {
				$3 m = x[(long)i * n];
				for (int k = 1; k < n; k++) if (($3)x[(long)i * n + k] > m) m = x[(long)i * n + k];
				y[i] = m;
			}
		}
		E
		cc -O2 -w -shared -fPIC -o $1.so $1.c; }
	for row in int16:int8_t int32:float int64:int32_t uint16:int16_t uint32:int32_t uint64:double; do
		type=${row%:*}
		jq --arg t "$type" "del(.linear, .tolerance, .reduction, .flops, .bytes) | .name = \"top\" | .axes = {rows: {type: \"var\"}, n: {type: \"var\"}} |
			.inputs = {x: {shape: [\"rows\", \"n\"], dtype: \$t}} | .outputs = {y: {shape: [\"rows\"], dtype: \$t}} |
			.entry = {name: \"top\", arguments: [\"x\", \"y\", \"rows\", \"n\"]} | .distributions = [\"uniform\", \"special\"] |
			.workloads = [{name: \"all\", axes: {rows: 64, n: 50}, timed: true}]" "$task" >top.json
		top honest ${type}_t ${type}_t; top narrow ${type}_t ${row#*:}
		try() { kharness -t top.json --oracle honest.so --phase correctness $1.so | jq -r ".candidates[0].status"; }
		is correct "$(try honest)"; is partial "$(try narrow)"
		kharness --lint top.json --oracle honest.so 2>err; cat err; is 0 "$(grep -c "limits of" err)"
		jq ".distributions = [\"uniform\", \"large\"]" top.json >few.json
		kharness --lint few.json --oracle honest.so 2>err; grep -q "limits of $type never occur in inputs.x" err
	done'
ok 'special values: whole numbers that repeat in a row, and single ones that are far from the others' '
	top() { cat >$1.c <<-E
		void top(const int *x, int *y, int rows, int n)
		{
			for (int i = 0; i < rows; i++, x += n) {
				int m = x[0], same = 0, narrow = 1;
				for (int k = 0; k < n; k++) same += x[k] == x[0], narrow &= k >= 40 || x[k] == (short)x[k];
				for (int k = 0; k < n; k++) if (($2) > m) m = ($2);
				y[i] = m + ($3);
			}
		}
		E
		cc -O2 -w -shared -fPIC -o $1.so $1.c; }
	jq "del(.linear, .tolerance, .reduction, .flops, .bytes) | .name = \"top\" | .axes = {rows: {type: \"var\"}, n: {type: \"var\"}} |
		.inputs = {x: {shape: [\"rows\", \"n\"], dtype: \"int32\"}} | .outputs = {y: {shape: [\"rows\"], dtype: \"int32\"}} |
		.entry = {name: \"top\", arguments: [\"x\", \"y\", \"rows\", \"n\"]} | .distributions = [\"normal\", \"large\", \"special\"] |
		.workloads = [{name: \"all\", axes: {rows: 640, n: 50}, timed: true}]" "$task" >top.json
	top honest "x[k]" 0; top repeats "x[k]" "same > 30 && same < n"; top equal "x[k]" "same == n"; top looks "narrow ? (short)x[k] : x[k]" 0
	try() { kharness -t top.json --oracle honest.so --phase correctness $1.so | jq -r ".candidates[0].status"; }
	is correct "$(try honest)"; is partial "$(try repeats)"; is partial "$(try equal)"; is partial "$(try looks)"
'
ok 'lint: inputs that could be ignored or compiled in, and special values' '
	jq ".inputs += {idle: {shape: [\"rows\"], dtype: \"float32\"}, mode: {shape: null, dtype: \"int32\", value: 1}, free: {shape: null, dtype: \"float32\", value: 2}} |
		.axes.spare = {type: \"var\"} | .workloads[].axes.spare = 4 | .workloads[0].axes.spare = 9 | .entry.arguments += [\"idle\", \"mode\", \"free\", \"spare\"]" "$task" >t.json
	exits 0 kharness --lint t.json --oracle oracle.so
	grep -q "inputs.idle has no influence" err; grep -q "inputs.mode is 1 in all calls" err; grep -q "inputs.free has no influence" err
	grep -q "axes.spare has no influence" err; grep -q "add \"special\" to \"distributions\"" err
	is 5 "$(grep -c note: err)"'
ok 'an oracle whose threads keep running' '
	cat >o.c <<-E
	#include <pthread.h>
	#include <sched.h>
	static void *stay(void *a) { for (;;) sched_yield(); }
	void affine(const double *x, const double *bias, double *y, int rows, long cols, double scale)
	{
		static pthread_t t;
		if (!t) pthread_create(&t, 0, stay, 0);
		for (long i = 0; i < rows * cols; i++) y[i] = scale * x[i] + bias[i % cols];
	}
	E
	cc -shared -fPIC -pthread -o o.so o.c; exits 0 kharness --lint "$task" --oracle o.so
'
ok 'an oracle that cannot be called is named, and the workload on which it crashes' '
	echo "void other(void) { }" >o.c; cc -shared -fPIC -o o.so o.c
	exits 2 kharness --lint "$task" --oracle o.so; grep -q "^kharness: reference.c: the oracle has no function affine" err
	echo "void missing(void); void affine(void) { missing(); }" >o.c; cc -shared -fPIC -o o.so o.c
	exits 2 kharness --lint "$task" --oracle o.so; grep -q "reference.c: cannot load the oracle: .*missing" err
	echo "void raise(int); void affine(void) { raise(4); }" >o.c; cc -shared -fPIC -o o.so o.c
	exits 132 kharness --lint "$task" --oracle o.so; grep -q "reference.c: the oracle crashed on workload [a-z0-9]" err
	echo "int f(volatile char *p) { volatile char b[4096]; b[0] = *p; return f(b) + b[0]; }
	void affine(char *p) { f(p); }" >o.c; cc -O0 -shared -fPIC -o o.so o.c
	exits 139 kharness --lint "$task" --oracle o.so; grep -q "reference.c: the oracle crashed on workload" err
	# Beyond an array by no more than its alignment padding.
	echo "void affine(const double *x, const double *bias, double *y, int rows, long cols) { y[rows * cols + 8] = *x + *bias; }" >o.c
	cc -shared -fPIC -o o.so o.c; exits 139 kharness --lint "$task" --oracle o.so; grep -q "reference.c: the oracle crashed on workload" err
'
ok 'an oracle that does not end is reported as still running' '
	echo "int creat(const char *, int); void affine(void) { creat(\"started\", 0600); for (;;) continue; }" >o.c
	cc -shared -fPIC -o o.so o.c; kharness --lint "$task" --oracle o.so 2>slow & at_work=$!
	for i in $(seq 200); do [ ! -e started ] || break; sleep 0.1; done
	# Its own alarm comes after a minute.
	kill -ALRM $at_work; for i in $(seq 200); do [ ! -s slow ] || break; sleep 0.1; done
	kill -KILL $at_work; exits 137 wait $at_work
	grep "^kharness: reference.c: the oracle has worked on workload [a-z0-9]* for 60 s and has no time limit" slow'
ok 'solo: twice on each timed workload, or on one' '
	timed=$(jq -r "[.workloads[] | select(.timed)] | length" "$task"); one=$(jq -r "[.workloads[] | select(.timed)][0].name" "$task")
	./kernel told "" "fprintf(stderr, \"called\\n\"); RIGHT"
	kharness --solo -t "$task" told.so 2>calls; is $((2 * timed)) "$(grep -c called calls)"
	kharness --solo -t "$task" --workload "$one" told.so 2>calls; is 2 "$(grep -c called calls)"
	kharness --solo --warm -t "$task" --workload "$one" told.so 2>calls >out; test "$(grep -c called calls)" -ge 6; grep -Eqx "warm: $one [1-9][0-9]* ns" out
	exits 2 kharness --warm -t "$task" told.so; grep -q "give --solo, too" err
	exits 2 kharness --solo -t "$task" --workload nothing told.so; grep -q "no timed workload called nothing" err
	exits 2 kharness --solo -t "$task" none.so; grep -q "none.so: No such file" err'
ok 'solo: on drawn sizes, the largest first' '
	kharness --solo --drawn -t "$task" --seed 1 right.so >out; is 1 "$(grep -n "begin odd" out | head -n 1 | grep -c "begin odd with rows drawn as 7, cols drawn as 75$")"
	is "$(grep -c "apart: begin" out)" "$(grep -c "apart: done" out)"; grep "begin main with rows" out
	exits 2 kharness --drawn -t "$task" right.so; grep -q "give --solo, too" err'
ok 'tolerances of the task' '
	kernel off "" "RIGHT y[0] += 0.5;"
	jq ".deterministic = false | .linear = false | .tolerance = {atol: 0.6}" "$task" >t.json
	kharness -t t.json --oracle oracle.so --phase correctness off.so | jq -e ".candidates[0] | .status == \"correct\" and
		([.correctness.cases[] | select(.distribution != \"zero_one\") | .max_err_share] | max > 0.4 and max <= 0.8334)"
	jq ".deterministic = false | .linear = false | .tolerance = {atol: 0.3, rtol: 0}" "$task" >t.json
	kharness -t t.json --oracle oracle.so --phase correctness off.so | jq -e ".candidates[0].correctness.cases | any(.max_err_share > 1) and all(.ok == (.max_err_share <= 1))"
	jq ".deterministic = false | .linear = false | .tolerance = {atol: 0.6, max_error_cap: 0.1}" "$task" >t.json
	kharness -t t.json --oracle oracle.so --phase correctness off.so | jq -e ".candidates[0].status == \"wrong_value\""
	jq ".deterministic = false | .linear = false | .tolerance = {matched_ratio: 0.9, max_error_cap: 1}" "$task" >t.json
	kharness -t t.json --oracle oracle.so --phase correctness off.so | jq -e ".candidates[0].status == \"partial\""
'
ok 'tasks and answers follow their schemas' '
	for s in task-1 harness-1; do
		jq -e ".\"\$schema\" and .title and .description" "$KILN_DATA/docs/schemas/$s.json"
	done
	python3 -c "import jsonschema" 2>/dev/null || exit 0
	timed -s full --against self=right.so right.so >good.json
	kernel some "" "if (rows == 3) rows = 2; RIGHT"
	judge some.so >some.json
	cat >v.py <<E
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
for f in sys.argv[2:]:
    jsonschema.validate(json.load(open(f)), schema)
E
	python3 v.py "$KILN_DATA/docs/schemas/harness-1.json" good.json some.json
	python3 v.py "$KILN_DATA/docs/schemas/task-1.json" "$task" "$tests_dir/tasks/types/task.json" "$KILN_DATA"/campaigns/*/task.json
'
ok 'no process and no folder is left behind' '
	# Runners of others come and go: only one that stays is an orphan. The dead wait for process 1, which may never reap them.
	orphans() { ps -eo ppid=,stat=,pid=,args= | sed -n "s/^ *1  *[^ Z][^ ]*  *\([0-9]* .*kiln\/runner.*\)/\1/p"; }
	orphans >left
	for i in $(seq 300); do [ -s left ] || break; sleep 0.1; orphans | grep -Fx -f left >still || :; mv still left; done
	cat left; [ ! -s left ]
	is "" "$(ls -A "$TMPDIR")"
'
if [ "$(nproc)" -gt 1 ]; then
	ok 'several processors of different speeds: single-threaded kernels share one in each round' '
		kernel unlike "int sched_getcpu(void);" "usleep(sched_getcpu() % 2 ? 60000 : 10000); RIGHT"
		timed --threads 2 --phase timing --against self=unlike.so unlike.so >r.json
		jq -e ".pairs[0].ratio > 0.7 and .pairs[0].ratio < 1.4" r.json
	'
else
	skip 'several processors, unlike each other' 'there is one'
fi
ok 'the candidate may be written while its runner gets ready' '
	not kharness -t "$task" --oracle oracle.so --phase correctness --await right.so </dev/null 2>err
	grep -q "standard input ended before" err
	: >late.so
	{ sleep 0.5; cat right.so >late.so; printf 12345678; } |
		kharness -t "$task" --oracle oracle.so --phase correctness --await late.so >r.json
	jq -e ".candidates[0].status == \"correct\"" r.json
'
ok 'threads that have ended count: a thread for each call is no kernel with one thread' '
	jq "(.workloads[] | select(.name == \"main\").axes) = {rows: 200, cols: 700}" "$task" >t.json
	kernel joined "struct half { const float *x, *bias; float *y, scale; long from, to, cols; };
		static void *work(void *p) { struct half *h = p; for (int k = 0; k < 5; k++) for (long i = h->from; i < h->to; i++) {
			h->y[i] = h->scale * h->x[i] + h->bias[i % h->cols]; __asm__ volatile(\"\" ::: \"memory\"); } return 0; }" \
		"pthread_t t; long n = rows * cols; struct half a = { x, bias, y, scale, 0, n / 2, cols }, b = { x, bias, y, scale, n / 2, n, cols };
		pthread_create(&t, 0, work, &a); work(&b); pthread_join(t, 0);"
	kernel plain "" "RIGHT"
	# On a busy machine several threads are not timed at all.
	for k in joined plain; do
		kharness -t t.json --oracle oracle.so --threads 2 --phase timing --timing-s 0.05 --warmup-s 0 --busy-s 1 $k.so >$k.json
		jq -e ".candidates[0].status == \"correct\"" $k.json
	done
	jq -e ".candidates[0] | if .timing then .timing[0].threads == 2 else true end" joined.json
	jq -e ".candidates[0].timing[0].threads == 1" plain.json
'
ok 'a busy machine: racers with different numbers of threads are not compared' '
	spin="for (volatile long k = 0; k < 50000000; k++) ;"
	kernel one "" "$spin RIGHT"
	kernel two "static void *sleeps(void *p) { pause(); return p; }" \
		"static pthread_t t; if (!t) pthread_create(&t, NULL, sleeps, NULL); $spin RIGHT"
	cpu=$(taskset -pc $$ | sed "s/.*: //; s/[-,].*//")
	for i in 1 2; do taskset -c "$cpu" sh -c "while :; do :; done" & loops="${loops-} $!"; done
	stop() { kill $loops; }
	trap stop EXIT
	race() { timed --threads 1 --phase timing --busy-s "$3" --max-samples 12 --against "anchor=$1.so" "$2.so" 2>err; }
	race one two 0.5 >unlike; grep -q "machine is busy.*not timed" err
	jq -e "(.pairs | length) == 0 and .machine.busy and (.candidates[0] | .status == \"correct\" and (.timing | not))" unlike
	# Even when other tests run at the same time.
	race one one 60 >alike
	jq -e "(.pairs | length) > 0 and (.candidates[0].timing | length) > 0" alike'
ok 'runners get ready side by side' '
	mkdir bin; cp "$KILN_BUILD/kharness" bin
	cat >slow.c <<-\END
		#include <krun.h>
		int main(int argc, char **argv)
		{
			struct krun_setup setup;
			struct krun_report hello = { .what = KRUN_HELLO };
			int to_judge = atoi(argv[2]);

			if (argc < 3 || read(to_judge, &setup, sizeof setup) < 0)
				return 1;
			usleep(500000);
			return write(to_judge, &hello, sizeof hello) < 0 || read(to_judge, &setup, sizeof setup) < 0;
		}
	END
	cc -D_GNU_SOURCE -I"$KILN_DATA/tools/core" -I"$KILN_DATA/tools/model" -o bin/krun-c slow.c
	bin/kharness -t "$task" --oracle oracle.so --phase timing --against a=right.so --against b=right.so --against c=right.so right.so >out
	is run_error "$(jq -r ".candidates[0].status" out)"
	jq -e ".spent_s.starting < 1.9" out'
done_testing
