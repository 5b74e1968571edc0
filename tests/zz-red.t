#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keval: extraction, scan, build, imports, duplicates, a campaign's own commands, and how kharness's answers are
# used.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

# These tests measure nothing that counts, so they need not wait for others who measure.
KILN_LOCK_DIR=$T
mkdir "$T/tmp"
chmod 755 "$T"
chmod 1777 "$T/tmp"
TMPDIR=$T/tmp
export KILN_LOCK_DIR TMPDIR
# A campaign around a small task: y = 2 x.
cat >task.json <<'E'
{"schema":"task/1","name":"twice","op":"twice","description":"y = 2 x","language":"c","axes":{"N":{"type":"var"}},
 "inputs":{"x":{"shape":["N"],"dtype":"float32"}},"outputs":{"y":{"shape":["N"],"dtype":"float32"}},
 "entry":{"name":"twice","arguments":["x","y","N"]},"reference":"reference.c",
 "build":{"compiler":"gcc","flags":["-O1","-fopenmp","-std=gnu11"],"libs":["-lm"]},"flops":"N","bytes":"8*N",
 "distributions":["normal"],
 "workloads":[{"name":"n7","axes":{"N":7},"sets":["quick"]},{"name":"n4096","axes":{"N":4096},"sets":["quick"],"timed":true}]}
E
cat >reference.c <<'E'
#ifndef REAL
#define REAL float
#endif
void twice(const REAL *x, REAL *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
E
echo '{"name":"twice","eval":{"timing_s":0.05,"seeds":1}}' >campaign.json
mkdir -p null trials/000/00
echo '{"name":"null","eval":{"evaluator":"null"}}' >null/campaign.json

# A stand-in for kharness next to a copy of keval: it answers from files, and records how it was called.
mkdir -p bin
cp "$KILN_BUILD/keval" bin/keval
cat >bin/kharness <<'E'
#!/bin/sh
printf '%s\n' "$*" >>"$T/calls"
case $1 in --lint) exit "$(cat "$T/lint" 2>/dev/null || echo 0)" ;; esac
for f; do :; done
[ -s "$f" ] || { echo "kharness: no candidate at $f" >&2; exit 2; }
case $* in
*--reuse*--against*) cat "$T/answer.rival" ;;
*--against*) cat "$T/answer.pairs" 2>/dev/null || cat "$T/answer" ;;
*) cat "$T/answer" ;;
esac
exit "$(cat "$T/code" 2>/dev/null || echo 0)"
E
chmod +x bin/kharness

cat >"make.sh" <<'E'
# reply ID TEXT [MORE]: a record with this reply.
reply() {
	jq -cn --arg id "$1" --arg text "$2" --argjson more "${3:-null}" \
	    '{schema:"candidate/1",trial:($id[0:3]|tonumber),branch:($id[4:]|tonumber),id:$id} + ($more // {}) + {reply:{text:$text}}'
}
fence() {
	printf '```c\n%s\n```\n' "$1"
}
good='void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + x[i]; }'
# answer STATUS MEDIAN: sets kharness's answer.
answer() {
	jq -cn --arg s "$1" --argjson t "$2" '{schema:"harness/1",seed:"ab",environment:{cpu:"x"},noise:{floor:0.01},
	  sandbox:{level:3,name:"bwrap"},pairs:[],candidates:[{name:"candidate",status:$s,tier:(if $s=="correct" then 3 else 2 end),
	  reasons:[],correctness:{passed:1,total:2,cases:[{workload:"n7",seed:"1",distribution:"normal",ok:false,max_abs_err:0.5,
	  max_rel_err:0.1,tolerance:1e-6,mismatches:3,elements:7}]},
	  timing:(if $s=="correct" then [{workload:"n4096",samples_ns:[$t],calls_per_sample:1,median_ns:$t,min_ns:$t,mean_ns:$t}] else [] end)}]}'
}
# code TEXT: evaluates this file; prints the eval member.
code() {
	printf '%s\n' "$1" >code.c
	keval --code code.c | jq -c .eval
}
status() {
	jq -r .eval.status "$@"
}
E

ok 'cheats that the source shows are rejected before the build' '
	. ./make.sh
	rejected() {
		code "$2" >out
		is "rejected $1" "$(jq -r "\"\(.status) \(.reasons|map(.check)|join(\" \"))\"" out)"
		is false "$(jq "has(\"build\")" out)"
		jq -r .log out | grep -q "breaks a rule of the evaluation"
	}
	rejected include_path "#include \"/etc/shadow\""
	rejected include_path "#include <../../secret.h> int lots_of_code;"
	rejected include_path "%:include \"/etc/shadow\""
	rejected trigraph "??=include \"/etc/shadow\""
	rejected trigraph "// ??/
/*
#include \"/etc/shadow\"
// */"
	rejected include_path "  #  include_next \"sub/../../up.h\""
	rejected include_path "#inc\\
lude \"/etc/passwd\""
	rejected include_macro "#define P \"/etc/passwd\"
#include P"
	rejected asm_directive "__asm__(\".incbin \\\"/etc/passwd\\\"\");"
	rejected asm_directive "asm(\".inc\" /* x */ \"bin \\\"/etc/passwd\\\"\");"
	rejected asm_system "void f(void) { asm volatile (\"mov \$1, %eax\\n\\tsyscall\"); }"
	rejected asm_data "void f(void) { asm volatile (\".byte 0x0f, 0x05\"); }"
	rejected asm_data "void f(void) { asm volatile (\".value 0x310f\"); }"
	rejected asm_data "void f(void) { asm volatile (\".balignw 8, 0x310f\"); }"
	rejected asm_operand "char tsc[1]; void f(void) { asm volatile (\"nop\\n\\trd%P0\" :: \"i\"(tsc)); }"
	rejected asm_operand "char te[1]; void f(void) { asm volatile (\".by%P[a] 15, 49\" :: [a] \"i\"(te)); }"
	rejected surroundings "long f(void) { long t; asm (\"mov %%fs:0x10, %0\" : \"=r\"(t)); return t; }"
	rejected surroundings "void *f(void) { return __builtin_apply_args(); }"
	rejected load_hook "int loaded; void __gmon_start__(void) { loaded = 1; }"
	rejected load_hook "int ended; void end(void *) __asm__(\"__cxa_finalize\"); void end(void *p) { ended = 1; }"
	rejected asm_directive "void f(void) { asm volatile (\".irp d,byte\\n.\\\\d 0x0f,0x31\\n.endr\"); }"
	rejected asm_system "void f(void) { asm volatile (\"rdpru\" ::: \"eax\", \"edx\"); }"
	rejected surroundings "void *f(void) { return __builtin_dwarf_cfa(); }"
	rejected signal "void *p[5]; int f(void) { return __builtin_setjmp(p); }"
	rejected asm_escape "void f(void) { asm volatile (\"\\163yscall\"); }"
	rejected load_hook "__attribute__((constructor)) void f(void) { }"
	rejected load_hook "[[gnu::__constructor__]] void f(void) { }"
	rejected load_hook "int f[4] __attribute__ ((aligned(4), section(\".text\")));"
	rejected load_hook "#pragma weak twice = other_function"
	rejected load_hook "_Pragma(\"redefine_extname a b\") int lots_of_code;"
	rejected clock "long f(void) { return (long)__rdtsc(); }"
	rejected process "int f(void) { return fork(); }"
	rejected network "int f(void) { return socket(1, 2, 3); }"
	rejected loader "void *f(void) { return dlopen(0, 1); }"
	rejected memory_map "int f(void *p) { return mprotect(p, 1, 7); }"
	rejected surroundings "void *f(void) { return __builtin_return_address(0); }"
	rejected signal "int f(void *p) { return setjmp(p); }"
	rejected "process network" "int f(void) { return fork() + socket(1, 2, 3); }"'
ok 'names in comments, strings and other names are not cheats' '
	. ./make.sh
	code "/* fork() syscall #include \"/etc/passwd\" */ // socket(1)
const char *s = \"fork() .incbin dlopen\";
static void my_fork(void) { } static int forks, time_step;
#pragma GCC optimize(\"O3\")
#pragma omp declare simd
void other(void); void other(void) { my_fork(); forks++; time_step++; }" >out
	is "compile_error entry" "$(jq -r "\"\(.status) \(.reasons[0].check)\"" out)"
	code "void other(void); void other(void) { long a = 1, b = 2; asm volatile (\".p2align 4\\n1:\\taddq %1, %0\\n\\t.balign 16\\n.L%=:\\n\\tvpxord %%zmm%c2, %%zmm0, %%zmm0\" : \"+r\"(a) : \"r\"(b), \"i\"(3)); }" >out
	is "compile_error entry" "$(jq -r "\"\(.status) \(.reasons[0].check)\"" out)"'
ok 'imports are checked after the build' '
	. ./make.sh
	rejected() {
		code "$2 void twice(const float *x, float *y, int n) { (void)x; (void)n; $3 }" >out
		is "rejected $1" "$(jq -r "\"\(.status) \(.reasons|map(.check)|join(\" \"))\"" out)"
		is 0 "$(jq .build.exit_code out)"
	}
	rejected forbidden_symbol "int puts(const char *);" "puts(\"x\"); y[0] = 1;"
	rejected forbidden_symbol "void GOMP_PLUGIN_error(const char *, ...);" "GOMP_PLUGIN_error(\"x\"); y[0] = 1;"
	rejected "forbidden_symbol forbidden_symbol network" "#define GLUE(a, b) a ## b
int puts(const char *); int GLUE(so, cket)(int, int, int);" "y[0] = (float)GLUE(so, cket)(1, 2, 3) + (float)puts(\"x\");"
	jq -r .log out | grep -q "socket (imported)"
	rejected "forbidden_symbol clock" "#define GLUE(a, b) a ## b
double GLUE(omp_get_, wtime)(void);" "y[0] = (float)GLUE(omp_get_, wtime)();"
	rejected forbidden_symbol "extern void *stdout;" "y[0] = stdout != 0;"
	rejected "load_hook load_hook" "#define CAT(a, b) a ## b
static int count;
__attribute__((CAT(const, ructor))) static void early(void) { count++; }" "y[0] = (float)count;"
	jq -r .log out | grep -q "when the object is loaded"'
done_testing
