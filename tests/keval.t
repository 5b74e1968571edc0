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

ok 'help, version and usage errors' '
	exits 0 keval --help; grep -q "^usage: keval" out
	exits 0 keval -V; grep -q "^keval " out
	exits 2 keval --nonsense
	exits 2 keval --reference --code x; grep -q "cannot be used together" err
	exits 2 keval --reference in.ndjson
	exits 2 keval --seed XYZ; grep -q hex err
	exits 2 keval -c nowhere
	exits 2 keval --code nowhere.c'
ok 'no code in the reply' '
	. ./make.sh
	reply 001/01 "I am sorry." >in; keval in >out
	is no_code "$(status out)"; is extract "$(jq -r ".eval.reasons[0].check" out)"
	is false "$(jq ".eval|has(\"code\")" out)"
	is null "$(jq -c .eval.tokens out)"'
ok 'a record without a reply is refused' '
	echo "{}" >in; exits 2 keval in; grep -q "in:1: the record has no .reply.text" err'
ok 'a record is evaluated once' '
	. ./make.sh
	reply 001/01 "Nothing." >in; keval in >once; exits 2 keval once; grep -q "once:1: the record is already evaluated" err'
ok 'compile errors are data, with a trimmed log' '
	. ./make.sh
	code "void twice(const float *x, float *y, int n) { y[0] = nowhere; (void)x; (void)n; }" >out
	is "compile_error compiler 1" "$(jq -r "\"\(.status) \(.reasons[0].check) \(.tier)\"" out)"
	jq -r .log out | grep -q "candidate.c:1:.*nowhere"
	is 1 "$(jq .build.exit_code out)"
	jq -r .build.command out | grep -q "^gcc -O1 .*-shared -fPIC -o candidate.so candidate.c -lm$"'
ok 'a program of millions of blanks and comments is scanned in one pass' '
	. ./make.sh
	{ echo "/*"; yes "                                                                   " | head -n 60000; echo "*/ int x = nowhere;"; } >big.c
	timeout 120 keval --code big.c | jq -c .eval >out
	is compile_error "$(jq -r .status out)"'
ok 'a reference that cannot be its own oracle is refused' '
	mkdir lack && cp campaign.json task.json lack && sed "s/REAL/float/" reference.c >lack/reference.c
	sed -i "s/^#.*//; s/REAL/float/g" lack/reference.c
	exits 2 keval -c lack --reference; grep -q "task.json: \"oracle\" is missing, and the reference cannot" err'
ok 'the oracle may use vector forms of exp where its results are rounded, and only there' '
	[ "$(uname -m)" = x86_64 ] || exit 0
	. ./make.sh
	answer correct 2000 >answer
	for type in float32 float64 int32; do
		mkdir "exp.$type"; cp campaign.json "exp.$type"
		jq --arg t $type ".build.flags = [\"-O3\"] | .oracle = \"oracle.c\" | .outputs.y.dtype = \$t" task.json >"exp.$type/task.json"
		{ echo "#include <math.h>"; sed "/^#/d; s/REAL/double/g; s/2 \* x\[i\]/exp(x[i])/" reference.c; } >"exp.$type/oracle.c"
		cp "exp.$type/oracle.c" "exp.$type/reference.c"
		bin/keval -c "exp.$type" --reference -o "exp.$type/out"
		find "exp.$type" -name "*.so" -exec nm -D {} + >"exp.$type/names"
	done
	grep -q " _ZGV.*_exp" exp.float32/names
	not grep -q _ZGV exp.float64/names exp.int32/names'
ok 'no entry point' '
	. ./make.sh
	code "static int x; int other(void); int other(void) { return x++; }" >out
	is "compile_error entry" "$(jq -r "\"\(.status) \(.reasons[0].check)\"" out)"
	jq -r .log out | grep -q "defines no function twice"'
ok 'a difference instead of a program is reported as one' '
	. ./make.sh
	code "$(printf -- "--- a/reference.c\n+++ b/reference.c\n@@ -1 +1 @@\n-void twice();\n+void twice(void);")" |
	    jq -r .log | grep -q "answer with the whole program"'
cat >edits.sh <<'E2'
. ./make.sh
# The program that the prompt showed: long enough for edits.
{ seq -f '/* line %g of a long program, which nobody writes anew for one change */' 100
	printf 'static float two(void) { return 3; }\nvoid twice(const float *x, float *y, int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\ty[i] = two() * x[i];\n}\n/* again */\n/* again */\n'; } >parent.c
sample=$(jq -Rsc '{sample:{parent:{id:"000/00",code:.}}}' parent.c)
# edits TEXT [SAMPLE]: the evaluation of this answer.
edits() {
	reply 001/01 "$1" "${2:-$sample}" >in; keval in | jq .eval >out
}
block() { # SEARCH REPLACE
	printf '<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE\n' "$1" "$2"
}
E2
mend=$(printf '<<<<<<< SEARCH\nstatic float two(void) { return 3; }\n=======\nstatic float two(void) { return 2; }\n>>>>>>> REPLACE')
export mend
ok 'edits of the program shown are applied exactly, in blocks or as a diff' '
	. ./edits.sh
	sed "s/return 3/return 2/" parent.c >want.c
	fenced=$(printf "Two is not three.\n\n\140\140\140c\n%s\n\140\140\140\n" "$mend")
	for text in "$mend" "$fenced" "$(printf "\140\140\140diff\n--- a/k.c\n+++ b/k.c\n@@ -7,2 +9,2 @@ nowhere\n-static float two(void) { return 3; }\n+static float two(void) { return 2; }\n void twice(const float *x, float *y, int n)\n\140\140\140\n")"; do
		edits "$text"; jq -j .code out | cmp - want.c; is correct "$(jq -r .status out)"
	done
	# Two edits, the later lines first; an empty replacement takes lines out.
	edits "$(printf "\140\140\140c\n%s\n%s\n\140\140\140\n" "$(block "$(sed -n 101p parent.c)" "static float two(void) { return 2; }")" \
		"$(printf "<<<<<<< SEARCH\n%s\n=======\n>>>>>>> REPLACE" "$(sed -n 5,6p parent.c)")")"
	jq -j .code out >got; sed 5,6d want.c | cmp - got
	# A complete program is taken as such, whatever surrounds it.
	edits "$(printf "%s\n\n\140\140\140c\n%s\n\140\140\140\n" "$mend" "$(cat parent.c)")"; jq -j .code out | cmp - parent.c'
ok 'edits that do not match exactly are refused by name, and edits of a short program as before' '
	. ./edits.sh
	refused() { edits "$1"; is "compile_error edit 0" "$(jq -r "\"\(.status) \(.reasons[0].check) \(.tier)\"" out)"; jq -r .log out | grep -q "its edits do not fit the program shown: $2"; }
	refused "$(block "static float two(void) { return 4; }" "x")" "the lines that edit 1 replaces occur in the program 0 times; they must"
	refused "$(printf "%s\n%s" "$mend" "$(block "/* again */" "")")" "the lines that edit 2 replaces occur in the program 2 times"
	refused "$(printf "%s\n%s" "$mend" "$mend")" "edits 1 and 2 overlap"
	refused "$(printf "<<<<<<< SEARCH\n=======\nint y;\n>>>>>>> REPLACE\n")" "edit 1 does not say what it replaces"
	refused "$(printf "<<<<<<< SEARCH\nint x;\n=======\nint y;\n")" "edit 1 does not end"
	# A part of a line does not match.
	refused "$(block "float two(void) { return 3; }" "x")" "the lines that edit 1 replaces occur in the program 0 times"
	edits "$(printf "\140\140\140c\n%s\n\140\140\140\n" "$mend")" "$(jq -nc "{sample: {parent: {id: \"000/00\", code: \"static float two(void) { return 3; }\\n\"}}}")"
	is compile_error "$(jq -r .status out)"; jq -r .log out | grep -q "answer with the whole program"'
ok 'a program with parts left out is rejected before the build; dots that leave nothing out are accepted' '
	. ./make.sh
	whole="void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"
	for line in "// ... rest unchanged" "/* ... */" "..." "  // rest of the code remains the same" "/* existing code here */" \
	    "// (the rest is as before)" "// same as before ..." "// … unchanged …"; do
		reply 001/01 "$(printf "\140\140\140c\n%s\n%s\n\140\140\140\n" "$whole" "$line")" >in; keval in | jq .eval >out
		is "compile_error elided 0" "$(jq -r "\"\(.status) \(.reasons[0].check) \(.tier)\"" out)" || { echo "$line"; exit 1; }
		jq -r .log out | grep -q "it is incomplete: line 2, .*stands for code that was left out"
	done
	for line in "// for i = 0, 1, ..., n - 1" "// the rest of the row is short" "int printf(const char *, ...);" "// x[0] ... x[n - 1] stay" "/* the existing code path is slow */"; do
		reply 001/01 "$(printf "\140\140\140c\n%s\n%s\n\140\140\140\n" "$line" "$whole")" >in; keval in | jq .eval >out
		is correct "$(jq -r .status out)" || { echo "$line"; cat out; exit 1; }
	done'
ok 'a cut-off reply is reported as cut off' '
	. ./make.sh
	reply 001/01 "$(printf "\140\140\140c\nvoid twice(const float *x, float *y, int n)\n{\n")" >in
	keval in | jq -r .eval.log | grep -q "cut off"'
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
	rejected asm_data "void f(void) { asm volatile (\"nop\n\tnop\\n.value 0x310f\"); }"
	rejected asm_data "void f(void) { asm volatile (\"1:.value 0x310f\"); }"
	rejected asm_data "void f(void) { asm volatile (\".value 0x310f\"); }"
	rejected asm_data "void f(void) { asm volatile (\".balignw 8, 0x310f\"); }"
	rejected asm_operand "char tsc[1]; void f(void) { asm volatile (\"nop\\n\\trd%P0\" :: \"i\"(tsc)); }"
	rejected asm_operand "char te[1]; void f(void) { asm volatile (\".by%P[a] 15, 49\" :: [a] \"i\"(te)); }"
	rejected surroundings "long f(void) { long t; asm (\"mov %%fs:0x10, %0\" : \"=r\"(t)); return t; }"
	rejected asm_operand "void f(void) { asm volatile (\"rd%T0%S0c\" :: \"r\"(1)); }"
	rejected asm_operand "void f(void) { asm volatile (\"%S0yscall\" :: \"r\"(1)); }"
	rejected asm_operand "void f(void) { asm volatile (\"syscal%z0\" :: \"r\"(1)); }"
	rejected asm_operand "char incbin[1]; void f(void) { asm volatile (\".%P0 \\\"/etc/passwd\\\"\" :: \"i\"(incbin)); }"
	rejected asm_operand "char name[1]; void f(void) { asm volatile (\"nop\\n\\t%P[a]\" :: [a] \"i\"(name)); }"
	rejected asm_directive "#ident \"1\\\"\\n.data\\n.ident \\\"2\""
	rejected surroundings "#include <immintrin.h>
long f(void) { return (long)_readfsbase_u64(); }"
	rejected surroundings "int f(void) { int s; asm (\"mov %%es, %0\" : \"=r\"(s)); return s; }"
	rejected asm_directive "__asm__(\".INCBIN \\\"/etc/passwd\\\"\");"
	rejected asm_data "void f(void) { asm volatile (\".Byte 0x0f, 0x05\"); }"
	rejected asm_system "void f(void) { asm volatile (\"RDTSC\" ::: \"eax\", \"edx\"); }"
	rejected surroundings "long f(void) { long t; asm (\".intel_syntax noprefix\n\tmov %0, FS:0x10\n\t.att_syntax\" : \"=r\"(t)); return t; }"
	rejected include_path "#if __has_include(\"/proc/self/fd/3\")
#endif"
	rejected include_path "#if __has_include(</proc/self/fd/3>)
#endif"
	rejected include_path "#define ifdef __has_include
#if ifdef(\"/proc/self/fd/3\")
#endif"
	rejected include_path "#define IS_THERE __has_include
#if IS_THERE(\"/proc/self/fd/3\")
#endif"
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
	rejected clock "double omp_get_wtime_(void); double f(void) { return omp_get_wtime_(); }"
	rejected loader "void *f(void) { return dlopen(0, 1); }"
	rejected memory_map "int f(void *p) { return mprotect(p, 1, 7); }"
	rejected surroundings "void *f(void) { return __builtin_return_address(0); }"
	rejected signal "int f(void *p) { return setjmp(p); }"
	rejected "loader memory_map" "int f(void *p) { return dlopen(0, 1) ? mprotect(p, 1, 7) : 0; }"'
ok 'names in comments, strings and other names are not cheats' '
	. ./make.sh
	code "/* fork() syscall #include \"/etc/passwd\" */ // socket(1)
const char *s = \"fork() .incbin dlopen\";
static int connect(int a) { return a; } int fork(int a); int fork(int a) { return connect(a); }
static void my_fork(void) { } static int forks, time_step;
struct pair { const char *key; int value, type; } one = { \"a\", .value = 1, .type = 2 }, all[2];
void fill(void); void fill(void) { one.key = \"b\", one.value = 2; all[1].key = \"c\", all[1].type = 3; }
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
	rejected forbidden_symbol "int fork(void);" "y[0] = (float)fork();"
	rejected "forbidden_symbol forbidden_symbol" "#define GLUE(a, b) a ## b
int puts(const char *); int GLUE(so, cket)(int, int, int);" "y[0] = (float)GLUE(so, cket)(1, 2, 3) + (float)puts(\"x\");"
	jq -r .log out | grep -q "socket (imported)"
	rejected "forbidden_symbol clock" "#define GLUE(a, b) a ## b
double GLUE(omp_get_, wtime)(void);" "y[0] = (float)GLUE(omp_get_, wtime)();"
	rejected forbidden_symbol "extern void *stdout;" "y[0] = stdout != 0;"
	rejected "load_hook load_hook" "#define CAT(a, b) a ## b
static int count;
__attribute__((CAT(const, ructor))) static void early(void) { count++; }" "y[0] = (float)count;"
	jq -r .log out | grep -q "when the object is loaded"'
ok 'cheats that only the preprocessed text shows are rejected' '
	. ./make.sh
	# rejected CHECK BEFORE STATEMENTS: added to a program that would be right.
	rejected() {
		code "#include <stddef.h>
#define CAT(a, b) a ## b
$2
void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + x[i]; $3 }" >out
		is "rejected $1" "$(jq -r "\"\(.status) \(.reasons|map(.check)|join(\" \"))\"" out)"
		is 0 "$(jq .build.exit_code out)"
	}
	rejected clock "" "y[0] += 0 * (float)CAT(__builtin_ia32_, rdtsc)();"
	jq -r .log out | grep -q "when macros are expanded: .*__builtin_ia32_rdtsc"
	rejected surroundings "" "y[0] += 0 * (float)(size_t)CAT(__builtin_frame_, address)(0);"
	rejected asm_system "#define S \"call\"
#define ASM CAT(__as, m__)" "ASM volatile (\"sys\" S ::: \"rax\", \"rcx\", \"r11\");"
	rejected loader "extern char CAT(_DYNA, MIC)[];" "y[0] += 0 * (float)CAT(_DYNA, MIC)[0];"
	# The scan must see the macros as a GCC pragma changes them.
	rejected clock "#pragma GCC optimize(\"fast-math\")
#ifndef __FAST_MATH__
#define TICKS CAT(__builtin_ia32_, rdtsc)()
#else
#define TICKS 0
#endif" "y[0] += 0 * (float)TICKS;"
	# A file is not a system header because it claims to be one.
	rejected surroundings "#line 1 \"/usr/include/math.h\"
_Pragma(\"GCC system_header\")" "y[0] += 0 * (float)(size_t)CAT(__builtin_frame_, address)(0);"'
ok 'markers of the preprocessor in the source are rejected' '
	. ./make.sh
	rejected() {
		code "$1
void twice(const float *x, float *y, int n) { (void)x; (void)y; (void)n; }" >out
		is "rejected line_marker" "$(jq -r "\"\(.status) \(.reasons[0].check)\"" out)"
	}
	rejected "# 1 \"/usr/include/x.h\" 1 3"
	rejected "#/**/ 1 \"/usr/include/x.h\" 1"
	rejected "# \\
1 \"/usr/include/x.h\" 1"
	rejected "#\\ 
 1 \"/usr/include/x.h\" 1"
	rejected "const char *s = R\"(
# 1 \"/usr/include/x.h\" 1
)\";"'
ok 'macros of system headers, attributes and files of its own cause no accusation' '
	. ./make.sh
	answer correct 2000 >answer
	cat >code.c <<"E"
#include <assert.h>
#include <cpuid.h>
#include <errno.h>
#include <immintrin.h>
#include <math.h>
#if defined(__has_include)
#if __has_include(<omp.h>) && __has_include ( <sys/types.h> )
#include <omp.h>
#endif
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cdefs.h>
#define KERNEL __attribute__((noinline))
#define GLUE(a, b) a ## _ ## b
#line 20 "generated.c"
KERNEL static void GLUE(twice, section)(const float *section, float *restrict alias, int n)
{
	_Pragma("omp simd")
	for (int i = 0; i < n; i++)
		alias[i] = isnan(section[i]) ? NAN : 2 * section[i];
}
void twice(const float *x, float *y, int n)
{
	unsigned a, b, c, d;
	__cpuid(0, a, b, c, d);
	assert(x && y);
	__builtin_prefetch(x);
	__asm__ volatile ("PREFETCHT0 %0" : : "m" (*x));
	GLUE(twice, section)(x, y, n);
}
E
	bin/keval --code code.c | jq -c .eval >out
	is correct "$(jq -r .status out)"'
ok 'system calls in the machine code are found whatever the source says' '
	. ./make.sh
	quarantined() {
		code "$1" >out
		is "quarantined asm_system" "$(jq -r "\"\(.status) \(.reasons[0].check)\"" out)"
	}
	# The constant is that of mov $0xc3050f,%eax; the call jumps into its middle.
	quarantined "static int __attribute__((noinline)) gate(void) { return 0xc3050f; }
void twice(const float *x, float *y, int n) { int (*volatile f)(void) = (int (*)(void))((char *)gate + 1); f(); y[0] = x[0] + n; }"
	jq -r .log out | grep -q "jumps to computed addresses"
	quarantined "void twice(const float *x, float *y, int n) { __asm__ volatile (\"mov \$0xc3050f, %%eax\" ::: \"rax\"); y[0] = x[0] + n; }"
	jq -r .log out | grep -q "inline assembly"
	quarantined "void twice(const float *x, float *y, int n) { unsigned a, d; __asm__ volatile (\"r{dtsc|}\" : \"=a\"(a), \"=d\"(d)); y[0] = x[0] + n; }"
	jq -r .log out | grep -q "clock in the machine code"
	quarantined "__attribute__((target(\"rtm\"))) void twice(const float *x, float *y, int n) {
		if (__builtin_ia32_xbegin() == ~0u) { y[0] = x[0] + n; __builtin_ia32_xend(); } }"
	jq -r .log out | grep -q "memory transaction in the machine code"
	quarantined "void twice(const float *x, float *y, int n) { int s = 1; __asm__ volatile (\"{mov %0, %%e|}s\" : : \"r\"(s)); y[0] = x[0] + n; }"
	jq -r .log out | grep -q "segment register in the machine code"'
ok 'what is compiled is what was scanned' '
	. ./make.sh
	answer correct 2000 >answer
	code "#define CAT(a, b) a ## b
#if CAT(__has_, include)(\"/proc/self/fd/3\")
enum { TIMES = 3 };
#else
enum { TIMES = 2 };
#endif
void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = TIMES * x[i]; }" >out
	is correct "$(jq -r .status out)"'
ok 'bytes that look like a system call by chance cause no accusation' '
	. ./make.sh
	answer correct 2000 >answer
	cat >code.c <<"E"
void twice(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++) {
		volatile unsigned low = (unsigned)i & 0xf;
		low += 0x0f050000;
		low ^= 0xf8c7;
		y[i] = n == 1295 ? x[i] * 2 : x[i] + x[i];
	}
}
E
	bin/keval --code code.c | jq -c .eval >out
	is correct "$(jq -r .status out)"'
ok 'files outside are not visible in the build' '
	. ./make.sh
	printf "#error secret\n" >"$T/secret.h"
	code "#define CAT(a, b) a ## b
#if CAT(__has_, include)(\"/etc/passwd\") || CAT(__has_, include)(\"$T/secret.h\")
#error visible
#endif
int nothing;" >out
	is entry "$(jq -r ".reasons[0].check" out)"'
ok 'a missing compiler is a fault of the environment' '
	. ./make.sh
	mkdir -p c2; cp campaign.json reference.c c2
	jq ".build.compiler = \"no-such-cc\"" task.json >c2/task.json
	fence "$good" >code.c
	exits 3 keval -c c2 --code code.c -o c2/out.ndjson
	grep -q "no-such-cc is not installed" err; [ ! -e c2/out.ndjson ]'
ok 'a build that takes too long is stopped' '
	. ./make.sh
	mkdir -p c3; cp task.json reference.c c3
	echo "{\"name\":\"x\",\"eval\":{\"build_timeout_s\":0.5}}" >c3/campaign.json
	printf "#define A x x x x x x x x x x\n#define B A A A A A A A A A A\n#define C B B B B B B B B B B\n#define D C C C C C C C C C C\n#define E D D D D D D D D D D\n#define F E E E E E E E E E E\n#define x F F\n int y = F F F F;\n" >code.c
	start=$(date +%s)
	keval -c c3 --code code.c >out
	[ $(($(date +%s) - start)) -le 4 ]
	is "compile_error resource" "$(jq -r "\"\(.eval.status) \(.eval.reasons[0].check)\"" out)"'

ok 'a candidate is passed to kharness with the knobs' '
	. ./make.sh
	rm -f calls; answer correct 2000 >answer
	reply 001/01 "$(fence "$good")" >in
	bin/keval -o out.ndjson in
	is "correct 3 ab 0.01" "$(jq -r ".eval|\"\(.status) \(.tier) \(.seed) \(.noise.floor)\"" out.ndjson)"
	is 1 "$(wc -l <calls)"
	grep -q -- "-t ./task.json -s quick --phase both --oracle trials/000/build/.*so --seeds 1 --timing-s 0.05" calls
	jq -r .eval.log out.ndjson | grep -q "n4096: 0.002 ms, 2.048 GFLOP/s, 16.38 GB/s"'
ok 'the work folder is gone afterwards' '
	[ -z "$(ls -A "$TMPDIR")" ]'
ok 'wrong results: where and how far, in the log' '
	. ./make.sh
	answer partial 1 >answer
	reply 001/01 "$(fence "$good")" >in; bin/keval in >out
	is partial "$(status out)"
	jq -r .eval.log out | grep -q "workload n7, normal inputs, seed 1: 3 of 7 elements wrong, largest error 0.5"'
ok 'a fault of kharness is passed on, and leaves no record' '
	. ./make.sh
	answer correct 2000 >answer
	for c in 3 4 75; do
		echo $c >code
		exits $c bin/keval -o none.ndjson in
		[ ! -e none.ndjson ]
		[ -z "$(ls -A "$TMPDIR")" ]
	done
	rm code
	echo "{" >answer; exits 4 bin/keval -o none.ndjson in; [ ! -e none.ndjson ]
	echo "{\"schema\":\"harness/1\",\"candidates\":[]}" >answer; exits 4 bin/keval in; grep -q "no candidate" err'
ok 'the reference: linted, checked, recorded' '
	. ./make.sh
	rm -f calls; answer correct 10000 >answer
	bin/keval --reference -o trials/000/00/eval.ndjson
	is "000/00 0 0 correct" "$(jq -r "\"\(.id) \(.trial) \(.branch) \(.eval.status)\"" trials/000/00/eval.ndjson)"
	head -n 1 calls | grep -x -e "--lint \./task\.json --oracle .*\.so"
	# The oracle and what others race with; neither is built again.
	mkdir -p refkept/trials/000/00; cp campaign.json task.json reference.c refkept
	bin/keval -c refkept --reference -o refkept/trials/000/00/eval.ndjson; is 2 "$(find refkept -name "*.so" | wc -l)"
	bin/keval -c refkept in >out; is 2 "$(find refkept -name "*.so" | wc -l)"
	answer wrong_value 1 >answer
	exits 2 bin/keval --reference -o bad.ndjson; grep -q "the status of the reference is wrong_value, not correct" err; [ ! -e bad.ndjson ]
	echo 2 >lint; exits 2 bin/keval --reference -o bad.ndjson; rm lint; [ ! -e bad.ndjson ]'
ok 'baselines: checked, recorded, left out with a note when they do not build' '
	. ./make.sh
	mkdir -p base/trials/000/00; cp reference.c campaign.json base; cp reference.c base/best.c; echo "#include <no_such.h>" >base/none.c
	jq ".baselines=[{name:\"best\",file:\"best.c\",flags:[\"-O3\"]},{name:\"none\",file:\"none.c\"}]" task.json >base/task.json
	answer correct 500 >answer
	rm -f calls; bin/keval -c base --reference -o base/trials/000/00/eval.ndjson 2>err
	grep -q "baseline none left out" err
	# All scores depend on that race: it may take longer than one of a candidate.
	grep -q -- "--timing-s 0.8 .*--against reference=" calls; grep -v -e --against -e --lint calls | grep -q -- "--timing-s 0.05 "
	is "best:500 none:-" "$(jq -r "[.eval.baselines[]|\"\(.name):\(.timing[0].median_ns // \"-\")\"]|join(\" \")" base/trials/000/00/eval.ndjson)"
	jq -e ".eval.baselines[1].missing|test(\"no_such.h\")" base/trials/000/00/eval.ndjson
	reply 001/01 "$(fence "$good")" >in4; answer correct 1000 >answer
	bin/keval -c base in4 | jq -r .eval.log | grep -q "0.5 of the speed of best"
	answer correct 1000 >answer.pairs
	mkdir -p base/trials/001/01; bin/keval -c base -o base/trials/001/01/eval.ndjson in4
	rm -f calls; bin/keval -c base --verify 001/01 >out 2>err; grep -q "baseline none left out" err
	grep -q -- "--against reference=.* --against best=" calls'
ok 'the race with a baseline times the reference, too' '
	. ./make.sh
	answer correct 500 >one
	jq -c ".candidates += [.candidates[0] | .name = \"reference\" | .timing[0].median_ns = 4000]" one >answer.pairs
	answer correct 1 | jq -c "del(.candidates[].timing, .noise)" >answer
	mkdir -p timed/trials/000/00; cp base/*.c base/*.json timed
	rm -f calls; bin/keval -c timed --reference -o timed/trials/000/00/eval.ndjson
	rm answer.pairs
	is "4000 0.01 500" "$(jq -r ".eval | \"\(.timing[0].median_ns) \(.noise.floor) \(.baselines[0].timing[0].median_ns)\"" timed/trials/000/00/eval.ndjson)"
	is 2 "$(grep -c -e --phase calls)"; tail -n 1 calls | grep -q -e "--phase correctness "'
ok 'a bundle: files next to the program, in the build and in the hash' '
	. ./make.sh
	mkdir -p pack; cp reference.c campaign.json pack; jq ".files=true" task.json >pack/task.json
	text() { printf "\140\140\140c file=tile.h\nenum { TWICE = %s };\n\140\140\140\n" "$1"; fence "#include \"tile.h\"
void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = TWICE * x[i]; }"; }
	answer correct 1000 >answer
	reply 001/01 "$(text 2)" >in5; bin/keval -c pack in5 >out
	is "correct tile.h" "$(jq -r ".eval|\"\(.status) \(.files[0].path)\"" out)"
	mkdir -p pack/trials/001/01; cp out pack/trials/001/01/eval.ndjson
	reply 001/01 "$(text 3)" >in6; bin/keval -c pack in6 >out2
	[ "$(jq -r .eval.tokens out)" != "$(jq -r .eval.tokens out2)" ]
	reply 002/01 "$(text 2)" "$(jq -c "{sample:{incumbent:\"001/01\",parent:{id:\"001/01\",code:.eval.code}}}" out)" >in7
	bin/keval -c pack in7 >out3; is null "$(jq .eval.duplicate_of out3)"
	bin/keval -c pack --verify 001/01 | jq -e ".eval.files|length == 1"
	fence "#include \"tile.h\"
void twice(const float *x, float *y, int n) { (void)x; (void)y; (void)n; }" >alone
	reply 001/01 "$(cat alone)" >in8; is compile_error "$(bin/keval -c pack in8 | status)"'
ok 'the log compares with the reference' '
	. ./make.sh
	rm -f answer.pairs
	answer correct 2000 >answer
	bin/keval in | jq -r .eval.log | grep -q "n4096: 0.002 ms.*5 times as fast as the reference"'
ok 'the log gives the time of a single call on a GPU' '
	. ./make.sh
	answer correct 21800 | jq -c ".candidates[0].timing[0] += {alone_ns: 25400, alone_samples: 5, host_ns: 78000}" >answer
	bin/keval in | jq -r .eval.log | grep -q "n4096: 0.0218 ms.*; one single call 0.0254 ms, of which 0.078 ms passed"
	bin/keval in | jq -e ".eval.timing[0].host_ns == 78000"'
ok 'an apparent gain is measured on buffers seen before; if it gains there, next to the reference' '
	. ./make.sh
	reply 001/01 "$(fence "$good")" >in
	row() { printf "{\"workload\":\"n4096\",\"reuse_ns\":1,\"fresh_ns\":2,\"gap_pct\":%s,\"low_pct\":%s,\"high_pct\":90,\"rounds\":9}" "$@"; }
	answer correct 2000 | jq -c ".candidates[0].reuse=[$(row 0.5 0.2)]" >answer; rm -f calls
	bin/keval in >out; is 2 "$(wc -l <calls)"; tail -n 1 calls | grep -q -- "-s quick --reuse --oracle"
	is "0.5 false" "$(jq -r ".eval | \"\(.reuse[0].gap_pct) \(has(\"reuse_against\"))\"" out)"
	answer correct 2000 | jq -c ".candidates[0].reuse=[$(row 50 40)]" >answer; rm -f calls
	jq -c ".candidates += [.candidates[0] | .name = \"rival\" | .reuse[0].gap_pct = 1]" answer >answer.rival
	bin/keval in >out; is 3 "$(wc -l <calls)"; tail -n 1 calls | grep -q -e "--reuse .*--against rival=trials/000/build/"
	is "50 000/00 1" "$(jq -r ".eval | \"\(.reuse[0].gap_pct) \(.reuse_against.id) \(.reuse_against.rows[0].gap_pct)\"" out)"
	answer wrong_value 1 >answer.rival; rm -f calls
	bin/keval in >out; is wrong_value "$(status out)"
	answer correct 2000 | jq -c ".candidates[0].reuse=[$(row 50 40)]" >answer
	cp campaign.json c.json; jq ".eval.reuse = \"off\"" c.json >campaign.json; rm -f calls
	bin/keval in >out; cp c.json campaign.json; is 1 "$(wc -l <calls)"'
ok 'timed in turns with the incumbent, else with the fastest baseline, else with the reference' '
	. ./make.sh
	rm -f answer.pairs
	mkdir -p trials/001/01; answer correct 2000 >answer
	bin/keval -o trials/001/01/eval.ndjson in
	is reference "$(jq -r .eval.anchor trials/001/01/eval.ndjson)"
	grep -q -- "--phase both .*--against reference=trials/000/build/" calls
	other="void twice(const float *x, float *y, int n) { while (n--) *y++ = 2 * *x++; }"
	reply 002/01 "$(fence "$other")" "{\"sample\":{\"incumbent\":\"001/01\"}}" >in2
	answer correct 2000 | jq -c ".pairs=[{name:\"incumbent\",workload:\"n4096\",ratio:1.2,low:1.1,high:1.3}]" >answer.pairs
	rm -f calls; bin/keval in2 >out
	is 2 "$(wc -l <calls)"; tail -n 1 calls | grep -q -e --reuse
	grep -q -- "--phase both .*--against incumbent=trials/000/build/" calls
	is "incumbent 001/01 1.1 2000" "$(jq -r ".eval|\"\(.anchor) \(.pairs[0].id) \(.pairs[0].low) \(.timing[0].median_ns)\"" out)"
	jq -r .eval.log out | grep -q "1.200 times its speed"
	answer correct 3000 | jq -c ".pairs=[{name:\"incumbent\",workload:\"n4096\",ratio:0.7,low:0.6,high:0.8}]" >answer.pairs
	rm -f calls; bin/keval in2 >out; is 1 "$(wc -l <calls)"
	answer correct 500 | jq -c ".pairs=[{name:\"reference\",workload:\"n4096\",ratio:4,low:3.9,high:4.1}]" >answer.pairs
	bin/keval -c base --reference -o base/trials/000/00/eval.ndjson
	rm -f calls; bin/keval -c base in >out
	is best "$(jq -r .eval.anchor out)"; grep -q -- "--against best=" calls'
ok 'wrong in the race is wrong' '
	. ./make.sh
	answer correct 2000 >answer; answer wrong_value 1 >answer.pairs
	bin/keval in2 >out
	is "wrong_value false" "$(jq -r ".eval|\"\(.status) \(has(\"pairs\"))\"" out)"'
ok 'the best, verified against reference and baselines' '
	. ./make.sh
	answer correct 2000 | jq -c ".pairs=[{name:\"reference\",workload:\"n4096\",ratio:5,low:4,high:6}]|
	    .candidates+=[{name:\"reference\",status:\"correct\",timing:[{workload:\"n4096\",median_ns:9000}]}]" >answer.pairs
	rm -f calls
	bin/keval --verify 001/01 >out
	grep -q -- "--against reference=trials/000/build/" calls
	is "001/01 reference reference 5" "$(jq -r "\"\(.id) \(.eval.pairs[0].name) \(.eval.baselines[0].name) \(.eval.pairs[0].ratio)\"" out)"
	exits 2 bin/keval --verify 077/01; exits 2 bin/keval --verify ../../etc'
ok 'the same tokens as the parent or one in the archive: copied, not run' '
	. ./make.sh
	rm -f calls
	tokens=$(jq -r .eval.tokens trials/001/01/eval.ndjson)
	printf "%s\n" "{\"kind\":\"archive\"}" "{\"kind\":\"program\",\"id\":\"001/01\",\"tokens\":\"$tokens\"}" >archive
	reply 003/01 "$(fence "/* again */  $good")" >in3
	bin/keval -a archive in3 >out
	is "001/01 correct 2000 $tokens" "$(jq -r ".eval|\"\(.duplicate_of) \(.status) \(.timing[0].median_ns) \(.tokens)\"" out)"
	jq -r .eval.code out | grep -q again
	[ ! -e calls ]
	reply 003/01 "$(fence "/* again */  $good")" "$(jq -c "{sample:{parent:{id:\"001/01\",code:.eval.code}}}" trials/001/01/eval.ndjson)" >in3
	bin/keval in3 >out; is 001/01 "$(jq -r .eval.duplicate_of out)"; [ ! -e calls ]
	answer correct 2000 >answer
	reply 003/01 "$(fence "$good")" "{\"sample\":{\"parent\":{\"id\":\"044/01\",\"code\":\"$good\"}}}" >in3
	bin/keval in3 >out; is false "$(jq ".eval|has(\"duplicate_of\")" out)"; [ -e calls ]'

ok 'the same program in other words: the earlier result by name, neither built nor run' '
	. ./make.sh
	rm -f calls
	tokens=$(jq -r .eval.tokens trials/001/01/eval.ndjson)
	printf "%s\n" "{\"kind\":\"archive\"}" "{\"kind\":\"program\",\"id\":\"001/01\",\"tokens\":\"$tokens\"}" >archive
	other="void twice(const float *in, float *result, int count)
	{
		/* doubles */
		for (int at = 0; at < count; at++)
			result[at] = in[at] + in[at];
	}"
	reply 003/01 "$(fence "$other")" >in3
	bin/keval -a archive in3 >out
	is "001/01 correct false" "$(jq -r ".eval|\"\(.duplicate_of) \(.status) \(.build.so // false)\"" out)"
	jq -r .eval.log out | grep -q "^The same program as 001/01"
	[ ! -e calls ]
	# The author does not choose the name of the entry point.
	reply 003/01 "$(fence "$(echo "$other" | sed s/twice/double_it/)")" >in3
	bin/keval -a archive in3 >out
	is "null compile_error" "$(jq -r ".eval|\"\(.duplicate_of) \(.status)\"" out)"'
ok 'a program that asks for its lines, or makes text of its words, is another one when these change' '
	. ./make.sh
	answer correct 2000 >answer
	differ() { [ "$(code "$1" | jq -r .tokens)" != "$(code "$2" | jq -r .tokens)" ]; }
	line="void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = (__LINE__ > 1 ? 3 : 2) * x[i]; }"
	differ "$line" "
$line"
	text="#define LENGTH(x) (int)sizeof #x
void twice(const float *x, float *y, int n) { int a = 0; for (int i = a; i < n; i++) y[i] = LENGTH(a) * x[i]; }"
	differ "$text" "$(echo "$text" | sed "s/\\ba\\b/ab/g")"
	if differ "$(echo "$text" | sed "s/#x/(x)/")" "$(echo "$text" | sed "s/#x/(x)/; s/\\ba\\b/ab/g")"; then exit 1; fi'
ok 'the same object code: the earlier result by name, and nothing is run' '
	. ./make.sh
	rm -f calls
	answer correct 2000 >answer
	object=$(jq -r .eval.object trials/001/01/eval.ndjson)
	echo "{\"kind\":\"program\",\"id\":\"001/01\",\"object\":\"$object\"}" >archive
	reply 003/01 "$(fence "static float two(float v) { return 2 * v; }
	void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = two(x[i]); }")" >in3
	bin/keval -a archive in3 >out
	is "001/01 $object correct 2000" "$(jq -r ".eval|\"\(.duplicate_of) \(.object) \(.status) \(.timing[0].median_ns)\"" out)"
	[ ! -e calls ]
	reply 003/01 "$(fence "void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }")" >in3
	bin/keval -a archive in3 >out
	is null "$(jq -r .eval.duplicate_of out)"
	[ -e calls ]'
ok 'what was rejected for its words is read again in other words' '
	. ./make.sh
	jq -c ".eval.status = \"rejected\"" trials/001/01/eval.ndjson >kept
	mkdir -p trials/009/01
	cp kept trials/009/01/eval.ndjson
	echo "{\"kind\":\"program\",\"id\":\"009/01\",\"tokens\":\"$(jq -r .eval.tokens kept)\"}" >archive
	answer correct 2000 >answer
	reply 010/01 "$(fence "$good")" >in3
	bin/keval -a archive in3 >out
	is "null correct" "$(jq -r ".eval|\"\(.duplicate_of) \(.status)\"" out)"
	rm -r trials/009'

ok 'the null evaluator: no task, no build, the same everywhere' '
	. ./make.sh
	for i in 1 2 3 4 5 6 7 8 9; do reply 001/0$i "$(fence "void f(int *a) { a[$i] = 1; }")"; done >in
	keval -c null in >a; keval -c null <in >b; same a b
	is false "$(head -n 1 a | jq ".eval|has(\"wall_s\")")"
	keval -c null --reference >ref; is 10000000 "$(jq ".eval.timing[0].median_ns" ref)"
	kscore -c null -r ref a | jq -e -s "map(.score.speedup // 1) | min > 0.1 and max < 100" >out'
ok 'the null evaluator over many programs: mostly correct' '
	. ./make.sh
	jq -cn "range(1000) | {trial:1,branch:1,id:\"001/01\",reply:{text:\"\u0060\u0060\u0060c\nint variable_\(.) = \(.);\n\u0060\u0060\u0060\n\"}}" >in
	keval -c null in | jq -r .eval.status | sort | uniq -c >out
	cat out
	correct=$(awk "/ correct/ { print \$1 }" out); [ "$correct" -gt 800 ]; [ "$correct" -lt 920 ]
	grep -q compile_error out; grep -q run_error out; grep -q wrong_value out; grep -q partial out'
ok 'the null evaluator times the workloads of the task' '
	. ./make.sh
	mkdir -p null2; cp task.json reference.c null2; echo "{\"name\":\"n\",\"eval\":{\"evaluator\":\"null\"}}" >null2/campaign.json
	is n4096 "$(keval -c null2 --reference | jq -r ".eval.timing|map(.workload)|join(\" \")")"'
ok 'progress' '
	. ./make.sh
	head -n 1 in >one; KILN_PROGRESS=1 keval -c null one >/dev/null 2>err
	grep -q "^001/01 eval: " err'

ok 'own commands: exit statuses' '
	. ./make.sh
	mkdir -p own; cp task.json reference.c own; printf "%s\n" "$good" >code.c
	run() {
		jq -cn --arg c "$1" --arg t "$2" "{name:\"own\",eval:{correctness:{command:\$c,files:[\"reference.c\"]},timing:{command:\$t,format:\"json\"}}}" >own/campaign.json
		keval -c own --code code.c
	}
	times="echo {\\\"timing\\\":[{\\\"workload\\\":\\\"a\\\",\\\"samples_ns\\\":[10,30,20,40]}]}"
	run "test -s \$KILN_SO && test -s \$KILN_CODE && test -s \$KILN_TASK && test -s reference.c && test \$KILN_SET = quick" "$times" >out
	is "correct 3 25 10 25 a" "$(jq -r ".eval|\"\(.status) \(.tier) \(.timing[0]|\"\(.median_ns) \(.min_ns) \(.mean_ns) \(.workload)\")\"" out)"
	is wrong_value "$(run "exit 1" "$times" | status)"
	is run_error "$(run "exit 9" "$times" | status)"
	is run_error "$(run "kill -9 \$\$" "$times" | status)"
	is run_error "$(run true "exit 1" | status)"
	run "exit 75" "$times" >out 2>err && exit 1; is 75 "$(run "exit 75" "$times" >out 2>err || echo $?)"; [ ! -s out ]
	run "exit 75" "$times" 2>&1 | grep -q "asks for another try later"'
ok 'own commands: JSON and CSV' '
	. ./make.sh
	tiers() {
		jq -cn --argjson c "$1" --argjson t "$2" "{name:\"own\",eval:{correctness:\$c,timing:\$t}}" >own/campaign.json
		keval -c own --code code.c
	}
	check="{\"format\":\"csv\",\"command\":\"echo Shape,Check; echo a,PASS; echo b,FAIL\",\"columns\":{\"workload\":\"Shape\",\"ok\":\"Check\"}}"
	bench="{\"format\":\"csv\",\"command\":\"printf %s \\\"M,N,\\\\\\\"Time (us)\\\\\\\"\n1,2,5\n1,2,7\n\n3,4,10\n\\\"\",\"columns\":{\"workload\":[\"M\",\"N\"],\"time\":\"Time (us)\",\"unit\":\"us\"}}"
	tiers "$check" "$bench" >out
	is "partial 1 2" "$(jq -r ".eval|\"\(.status) \(.correctness.passed) \(.correctness.total)\"" out)"
	good_check="{\"format\":\"json\",\"command\":\"echo {\\\\\\\"ok\\\\\\\":true,\\\\\\\"log\\\\\\\":\\\\\\\"fine\\\\\\\"}\"}"
	tiers "$good_check" "$bench" >out
	is "correct 1x2:6000:5000 3x4:10000:10000" "$(jq -r ".eval|\"\(.status) \(.timing|map(\"\(.workload):\(.median_ns):\(.min_ns)\")|join(\" \"))\"" out)"
	jq -r .eval.log out | grep -q fine
	# One column, in quotes; and a cell with many blanks.
	jq -n "{format: \"csv\", command: \"printf \\\"\\\\\\\"Time (us)\\\\\\\"\\\\n6\\\\n\\\"\", columns: {time: \"Time (us)\", unit: \"us\"}}" >one
	tiers "$good_check" "$(cat one)" >out; is "6000" "$(jq -r ".eval.timing[0].median_ns" out)"
	jq -n "{format: \"csv\", command: \"printf \\\"w,t\\\\na%9000sb,7\\\\n\\\" c\", columns: {workload: \"w\", time: \"t\", unit: \"us\"}}" >one
	tiers "$good_check" "$(cat one)" >out; is "9002 7000" "$(jq -r ".eval.timing[0] | \"\(.workload | length) \(.median_ns)\"" out)"
	wrong="{\"format\":\"csv\",\"command\":\"echo w,t,c; echo a,5,ERROR\",\"columns\":{\"workload\":\"w\",\"time\":\"t\",\"ok\":\"c\"}}"
	is wrong_value "$(tiers "$good_check" "$wrong" | status)"'
ok 'own commands: faults are named' '
	. ./make.sh
	refused() {
		jq -cn --argjson t "$2" "{name:\"own\",eval:{correctness:{command:\"true\"},timing:\$t}}" >own/campaign.json
		exits 2 keval -c own --code code.c -o own/none.ndjson
		grep -q -- "$1" err || { cat err; return 1; }
		[ ! -e own/none.ndjson ]
	}
	refused "eval.timing.command" "{}"
	refused "eval.timing.comand: unknown field" "{\"command\":\"true\",\"comand\":1}"
	refused "eval.timing.format: is missing" "{\"command\":\"true\"}"
	refused "format: must be one of json|csv" "{\"command\":\"true\",\"format\":\"xml\"}"
	refused "columns.tme: unknown field" "{\"command\":\"true\",\"format\":\"csv\",\"columns\":{\"tme\":\"x\"}}"
	refused "columns.time: must be the name of a column" "{\"command\":\"true\",\"format\":\"csv\"}"
	refused "printed no column .Time" "{\"command\":\"echo a,b\",\"format\":\"csv\",\"columns\":{\"time\":\"Time\"}}"
	refused "columns.unit: must be one of ms|us|ns|s" "{\"command\":\"echo t\",\"format\":\"csv\",\"columns\":{\"time\":\"t\",\"unit\":\"h\"}}"
	refused "must be a number above zero" "{\"command\":\"echo t; echo fast\",\"format\":\"csv\",\"columns\":{\"time\":\"t\"}}"
	refused "must be a number above zero" "{\"command\":\"echo t; echo 0\",\"format\":\"csv\",\"columns\":{\"time\":\"t\"}}"
	refused "must be pass or fail" "{\"command\":\"echo t,c; echo 1,perhaps\",\"format\":\"csv\",\"columns\":{\"time\":\"t\",\"ok\":\"c\"}}"
	refused "printed no times" "{\"command\":\"echo t\",\"format\":\"csv\",\"columns\":{\"time\":\"t\"}}"
	refused "not a JSON object" "{\"command\":\"echo hello\",\"format\":\"json\"}"
	refused "must be a relative path" "{\"command\":\"true\",\"format\":\"json\",\"files\":[\"../x\"]}"'
ok 'own commands: a build, in and out of the sandbox, without secrets' '
	. ./make.sh
	jq -cn "{name:\"own\",eval:{build:{command:\"gcc -shared -fPIC -o \\\"\$KILN_SO\\\" \\\"\$KILN_CODE\\\"\"},
	  correctness:{command:\"test -z \\\"\$MY_API_KEY\\\"\",sandbox:false},timing:{format:\"json\",command:\"echo {}\"}}}" >own/campaign.json
	MY_API_KEY=canary exits 2 keval -c own --code code.c; grep -q "printed no times" err
	jq -c ".eval.build={command:\"exit 1\"}" own/campaign.json >own/c; mv own/c own/campaign.json
	is compile_error "$(keval -c own --code code.c | status)"
	printf "%s\n" "{\"ok\":false,\"log\":\"a.c:1:1: error: bad\"}" >own/say
	jq -c ".eval.build={command:\"cat say\",format:\"json\",files:[\"say\"]}" own/campaign.json >own/c; mv own/c own/campaign.json
	keval -c own --code code.c >out
	is compile_error "$(jq -r .eval.status out)"; jq -r .eval.log out | grep -q "error: bad"'
cat >fake-kharness <<'E'
#!/bin/sh
printf 'kharness: waits for the machine: \033[2Jprocess 7 has it\n' >&2
for i in $(seq 200); do test -e "$T/go" && exit 75; sleep 0.1; done
E
ok 'messages of the harness, such as that it waits for the machine, are shown at once, and masked' '
	mkdir live; cp "$KILN_BUILD/keval" live
	cp fake-kharness live/kharness; chmod +x live/kharness
	live/keval --reference 2>said & pid=$!
	for i in $(seq 100); do grep -q "waits for the machine" said && break; sleep 0.1; done
	kill -0 $pid; grep -q "waits for the machine: ?.2Jprocess 7 has it" said
	touch "$T/go"; code=0; wait $pid || code=$?
	is "75 1" "$code $(grep -c "waits for the machine" said)"'
ok 'the form of the member agrees with its schema' '
	jq -c ".properties|keys" "$KILN_DATA/docs/schemas/eval-1.json" >known
	cat trials/*/*/eval.ndjson out | jq -c ".eval|keys-$(cat known)" | sort -u >got; echo "[]" >want; same want got'
mkdir tune; cp "$KILN_DATA"/tests/bench/races/* tune
echo '{"name":"tune","eval":{"timing_s":0.05,"seeds":1,"set":"long","threads":1}}' >tune/campaign.json
ok 'open parameters of a program are set by a race, without a model' '
	. ./make.sh
	cd tune
	KILN_LOCK_DIR=$T; export KILN_LOCK_DIR
	mkdir -p trials/000/00; keval --reference -o trials/000/00/eval.ndjson 2>err
	# Two or three times the work for nothing; and one value of the other parameter is wrong.
	{ echo "#define WRONG 1 // tune: 1, 0"; sed "s|^#define EXTRA 0|  #define EXTRA 400 /* tune: 400, 0, 200 */|; s|y\[i\] = turned(x\[i\])|y[i] = WRONG ? 0 : turned(x[i])|" reference.c; } >open.c
	reply 001/01 "$(fence "$(cat open.c)")" >in; keval in 2>err | jq -c .eval >out
	is correct "$(jq -r .status out)"
	is "{\"EXTRA\":\"0\",\"WRONG\":\"0\"}" "$(jq -cS ".tuned | .variants[.chosen].parameters" out)"
	is "6 3 3" "$(jq -r ".tuned.variants | \"\(length) \(map(select(.status == \"wrong_value\")) | length) \(map(select(.time_ns)) | length)\"" out)"
	# The program is complete, and has no open parameters left.
	jq -r .code out >got; grep -qx "#define EXTRA 0" got; grep -qx "#define WRONG 0" got; not grep tune got
	jq -e ".timing[0].median_ns > 0 and (.pairs | length > 0)" out
	! /usr/bin/python3 -W ignore -c "import jsonschema" 2>/dev/null || python3 "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" eval-1 out'
ok 'too many combinations are refused by name; a comment that is not a list leaves nothing open' '
	. ./make.sh
	cd tune
	reply 001/01 "$(fence "$(echo "#define A 1 // tune: 1, 2, 3"; echo "#define B 1 // tune: 1, 2, 3"; cat reference.c)")" >in; keval in 2>err | jq .eval >out
	is "compile_error tune" "$(jq -r "\"\(.status) \(.reasons[0].check)\"" out)"; jq -r .log out | grep -q "it leaves too much open: at most 4 parameters with 8 combinations"
	reply 001/01 "$(fence "$(echo "#define A 1 // tune: by hand"; cat reference.c)")" >in; keval in 2>err | jq .eval >out
	is "correct null" "$(jq -r "\"\(.status) \(.tuned)\"" out)"'
if command -v nvcc >/dev/null; then
	ok 'nvcc: host and device are preprocessed at the same time; a rejection needs no device' '
		mkdir cuda && cp "$tests_dir"/tasks/cuda_saxpy/* cuda
		echo "{\"name\":\"n\",\"backend\":\"cuda\",\"language\":\"cuda\"}" >cuda/campaign.json
		echo "extern \"C\" void saxpy(float *x) { nowhere; }" >bad.cu
		keval -c cuda --code bad.cu >out
		is compile_error "$(jq -r .eval.status out)"
		jq -r .eval.build.command out | grep -q " -nodlink -t 2 -Xcompiler -fPIC -o candidate.so candidate.cu$"'
	ok 'nvcc: what only the host is given is scanned, too' '
		cat >hidden.cu <<"E"
#define TEXT(x) #x
#define NAME(a, b) TEXT(a##b)
#if !defined __CUDA_ARCH_FEAT_SM90_ALL || !defined __CUDA_ARCH_SPECIFIC__
static void f() { asm volatile(NAME(rd, tsc) ::: "eax", "edx"); }
#else
static void f() { }
#endif
extern "C" void saxpy(float *) { f(); }
E
		keval -c cuda --code hidden.cu >out
		is "rejected asm_system" "$(jq -r ".eval | \"\(.status) \(.reasons[0].check)\"" out)"'
	ok 'nvcc: device code is linked where it is relocatable' '
		jq ".build.flags += [\"-rdc=true\"]" "$tests_dir/tasks/cuda_saxpy/task.json" >cuda/task.json
		keval -c cuda --code bad.cu | jq -r .eval.build.command >out
		grep -q " -rdc=true -shared -t 2 " out
		jq ".build.flags += [\"--dlink-time-opt\"]" "$tests_dir/tasks/cuda_saxpy/task.json" >cuda/task.json
		keval -c cuda --code bad.cu | jq -r .eval.build.command >out
		grep -q " --dlink-time-opt -shared -t 2 " out'
else
	skip 'nvcc' 'it is not installed'
fi
done_testing
