#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on functions of several forms: how a task represents their parameters, what is asked of a person or a model,
# and what cannot be adopted.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir app
cat >app/k.h <<'EOF'
#ifndef K_H
#define K_H
#include <stddef.h>
typedef double value;
double damp(double x);
/* y += a x, damped. */
void axpy(size_t n, double a, const value *x, value *y);
void row_sums(const float *m, int rows, int cols, int ld, float *sums);
void count(const unsigned char *bytes, int n, int *histogram);
void blend(const float *in, int n, int m, int k, float *out);
void tilt(int n, int m, double a[n][m], _Bool up, short by, const double aim[static 3], double *peak);
extern const double slopes[2];
#endif
EOF
cat >app/util.c <<'EOF'
#include "k.h"
static const double factor = 0.999;
double damp(double x) { return x * factor; }
const double slopes[2] = { 0.25, -0.5 };
EOF
echo '#define ROUNDS 40' >app/config.h
echo '#define FORCED 1' >app/forced.h
cat >app/k.c <<'EOF'
#ifdef CONFIG
#include <config.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#include "k.h"
#include <string.h>
static float scale(float x);
static int calls;
static double least(a, b)
	double a, b;
{
	return a < b ? a : b;
}
void tilt(int n, int m, double a[n][m], _Bool up, short by, const double aim[static 3], double *peak)
{
	double most = 0;

	for (int r = 0; r < ROUNDS * FORCED; r++)
		for (int j = 0; j < m; j++)
			for (int i = 0; i < n; i++) {
				a[i][j] = least(a[i][j], 1e6) + slopes[up] * aim[i % 3] * by * 1e-3;
				most = most > a[i][j] ? most : a[i][j];
			}
	*peak = most;
}
void axpy(size_t n, double a, const value *x, value *y)
{
	calls++;
	for (size_t i = 0; i < n; i++)
		y[i] = damp(y[i] + a * x[i]);
}
void row_sums(const float *m, int rows, int cols, int ld, float *sums)
{
	for (int i = 0; i < rows; i++) {
		float s = 0;
		for (int j = 0; j < cols; j++)
			s += m[(size_t)i * ld + j];
		sums[i] = s;
	}
}
void count(const unsigned char *bytes, int n, int *histogram)
{
	memset(histogram, 0, 256 * sizeof *histogram);
	for (int i = 0; i < n; i++)
		histogram[bytes[i]]++;
}
void blend(const float *in, int n, int m, int k, float *out)
{
	for (int r = 0; r < 2000; r++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < m; j++)
				out[i * m + j] = scale(in[i * m + j]) + k * 1e-3f;
}
/* kiln does not read these braces. */
static float scale(float x) <% return x * 0.5f; %>
EOF
cat >app/main.c <<'EOF'
#include "k.h"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	static const size_t sizes[] = { 200000, 500000 };
	double sum = 0;

	for (int s = 0; s < 2; s++) {
		size_t n = sizes[s];
		int rows = 400 + 300 * s, cols = 1000, *h = malloc(256 * sizeof *h);
		double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
		float *m = malloc(sizeof(float) * rows * cols), *o = malloc(sizeof(float) * rows);
		unsigned char *b = malloc(n);
		float *in = malloc(96 * sizeof *in), *out = malloc(96 * sizeof *out);

		for (size_t i = 0; i < n; i++)
			x[i] = i % 7, y[i] = 1, b[i] = i % 251;
		for (int i = 0; i < rows * cols; i++)
			m[i] = i % 5;
		for (int i = 0; i < 96; i++)
			in[i] = i;
		for (int r = 0; r < 5; r++) {
			axpy(n, 0.5, x, y);
			row_sums(m, rows, cols, cols, o);
			count(b, n, h);
			blend(in, 8, 12, 12, out);
		}
		{
			double (*a)[20 + s] = calloc(30, sizeof *a), peak, aim[3] = { 1, 2, 3 };

			for (int r = 0; r < 4; r++) {
				tilt(30, 20 + s, a, r % 2, 7, aim, &peak);
				sum += peak;
			}
			free(a);
		}
		sum += y[3] + o[3] + h[3] + out[5];
	}
	printf("%.6f\n", sum);
	return 0;
}
EOF
cat >helpers.sh <<'EOF'
forms() {
	f=$1
	shift
	kadopt adopt -o "c-$f" -p app --file k.c --kernel "$f" --build 'gcc -O1 -DCONFIG -I. -include forced.h -o app main.c k.c util.c -lm' --run './app >out.txt' --outputs out.txt --threads 1 --runs 3 --proxy 0.001,1000 "$@"
}
EOF
cat >model.sh <<'EOF'
# Answers in turn: one that leaves something out, one with another parameter, then the program; and shapes.
prompt=$(cat)
n=$(($(cat "$T/asked" 2>/dev/null || echo 0) + 1))
echo "$n" >"$T/asked"
case $prompt in
*"How many elements"*) echo 'shape: n*k'; exit ;;
esac
echo '```c'
case $n in
1) echo 'void blend(const float *in, int n, int m, int k, float *out) { /* ... the rest as before */ }' ;;
2) echo 'static float scale(float x) { return x * 0.5f; }'; sed -n '/^void blend/,/^}/p' "$T/app/k.c" | sed 's/int k/long k/' ;;
*) echo 'static float scale(float x) { return x * 0.5f; }'; sed -n '/^void blend/,/^}/p' "$T/app/k.c" ;;
esac
echo '```'
EOF

ok 'updated in place, doubles, a helper from another source, a size_t' '
	. ./helpers.sh
	exits 0 forms axpy
	grep -q "the kernel uses the variable calls" err
	jq -e ".axes.n.type == \"var\" and .entry.arguments[0] == {axis: \"n\", dtype: \"int64\"} and .outputs.y == {shape: [\"n\"], dtype: \"float64\", align: 16, inout: true} and (has(\"oracle\") | not) and .reduction == \"4096\"" c-axpy/task.json
	grep -q "static const double factor" c-axpy/reference.c; grep -q "y += a x, damped" c-axpy/task.json'

ok 'a standalone time below 0.2 times that in the application, or above 5 times, is an alarm' '
	. ./helpers.sh
	cp -r c-axpy astray; edit astray/adopt.json "del(.proxy)"
	takes() { # TIMES: in the application it takes that many times as long as the reference did alone
		jq --slurpfile p astray/adopt/proxy.json ".configs |= map((.name as \$n | \$p[0] | map(select(.workload == \$n).alone_us)[0]) as \$a | if \$a then .target_us = \$a * $1 else . end)" \
			astray/adopt/configs.json >n
		cp n astray/adopt/configs.json
	}
	takes 1000; exits 1 kadopt task -c astray; grep -q "takes 0.00 times as long alone as in the application, so the task does not measure the same work (accepted: 0.2 to 5;" err
	# Unless the call waits there for pages of memory.
	jq ".configs[].faults = 100000000" astray/adopt/configs.json >n; cp n astray/adopt/configs.json
	exits 0 kadopt task -c astray; grep -q "in the application the call is the first to touch 100000000 pages, which is part of its time there" out
	takes 0.001; exits 1 kadopt task -c astray; grep -Eq "takes [0-9]{3,4}\.[0-9]+ times as long alone" err
	takes 1; exits 0 kadopt task -c astray'

ok 'a stride equal to the width in every call is derived from it' '
	. ./helpers.sh
	exits 1 forms row_sums --proxy 0.001,0.002; grep -q "does not measure the same work (accepted: 0.001 to 0.002" err
	[ ! -e c-row_sums/campaign.json ]
	exits 0 forms row_sums
	grep -q "ld was cols in every call" err
	jq -e ".axes.ld == {type: \"expr\", expression: \"cols\"} and .inputs.m.shape == [\"rows\", \"cols\"] and .outputs.sums.shape == [\"rows\"]" c-row_sums/task.json'

ok 'integers: a table of fixed size; the reference itself is the oracle' '
	. ./helpers.sh
	exits 0 forms count
	jq -e ".inputs.bytes.dtype == \"uint8\" and .outputs.histogram == {shape: [256], dtype: \"int32\", align: 16} and .notes.oracle == \"self\"" c-count/task.json'

ok 'several shapes fit: the message names them, and --shape decides' '
	. ./helpers.sh
	exits 3 forms blend; grep -q "blend does not compile alone" err; grep -q "this step needs a model; name one with" err
	sed -i "s/<% return x \* 0.5f; %>/{ return x * 0.5f; }/" app/k.c
	exits 2 forms blend --record-mb 0; grep -q "parameter in: several shapes fit all observed calls: n\*m, n\*k" err; grep -q -- "--shape in=EXPRESSION" err
	exits 0 forms blend --record-mb 10; grep -q "in: several shapes fit all observed calls: n\*m, n\*k, so only the recorded calls are checked" err
	jq -e ".inputs.in.shape == [\"in_elements\"] and .axes.in_elements.fixed and (.workloads | length == 1 and .[0].axes.in_elements == 96)" c-blend/task.json
	exits 2 forms blend --shape in=n*m*k; grep -q -- "--shape in=n\*m\*k: .* is 1152 elements with .*, but there were 96" err
	exits 2 forms blend --shape in=n*q; grep -q "is not an expression over" err
	exits 0 forms blend --shape in=n*m --shape out=n*m
	jq -e ".inputs.in.shape == [\"n\", \"m\"] and .outputs.out.shape == [\"n\", \"m\"]" c-blend/task.json
	sed -i "s/{ return x \* 0.5f; }/<% return x * 0.5f; %>/" app/k.c'

ok 'syntax errors ask for a whole file, errors of names and types for their places' '
	. ./helpers.sh
	rm -rf c-blend; mkdir prompts
	cat >clumsy.sh <<-\END
		n=$(ls "$T/prompts" | wc -l)
		cat >"$T/prompts/$n"
		echo "\`\`\`c"
		case $n in
		0) echo "static float scale(float x) { return x * 0.5f; } @" ;;
		1) echo "static float scale(float x) { return x * half; }" ;;
		*) echo "static float scale(float x) { return x * 0.5f; }" ;;
		esac
		sed -n "/^void blend/,/^}/p" "$T/app/k.c"
		echo "\`\`\`"
	END
	exits 2 forms blend --record-mb 0 --provider "exec:T=$T sh $T/clumsy.sh"
	jq -e ".tries == 3" c-blend/adopt/extract.json
	form="These are syntax errors" names="These are errors of names and types: fix only those places"
	grep -q "$form" prompts/1; if grep -q "$names" prompts/1; then exit 1; fi
	grep -q "$names" prompts/2; grep -q "half" prompts/2; if grep -q "$form" prompts/2; then exit 1; fi
	rm -rf c-blend'

ok 'the model is asked when it does not compile, rejected, asked again; its answer on shapes must agree with the calls' '
	. ./helpers.sh
	rm -rf c-blend
	exits 2 forms blend --provider "exec:T=$T sh $T/model.sh"; cat out err
	grep -q "the reference fails against its own oracle" err; grep -q "beyond its arrays, so their shapes are wrong\|a shape is wrong" err
	jq -e ".model and .tries == 3" c-blend/adopt/extract.json
	is 5 "$(cat asked)"
	exits 0 forms blend --shape in=n*m --shape out=n*m; is 5 "$(cat asked)"
	jq -e ".model.provider | startswith(\"exec:\")" c-blend/campaign.json'

ok 'a matrix, small integers, results on the stack, a table from another source, headers from conditions and options' '
	. ./helpers.sh
	exits 0 forms tilt; cat out err
	jq -e ".entry.arguments == [\"n\", \"m\", \"a\", \"up\", \"by\", \"aim\", \"peak\"] and .outputs.a == {shape: [\"n\", \"m\"], dtype: \"float64\", align: 16, inout: true}" c-tilt/task.json
	jq -e ".outputs.peak.shape == [1] and .inputs.aim.shape == [3] and .inputs.up.dtype == \"int32\" and .axes.by.type == \"var\"" c-tilt/task.json
	jq -e "[.workloads[].values.up] | unique - [0, 1] == []" c-tilt/task.json
	for words in "const double slopes.2. = " "define ROUNDS 40" "define FORCED 1" "include <omp.h>"; do grep -q "$words" c-tilt/reference.c; done
	not grep -q "config.h" c-tilt/reference.c
	jq -e ".forced == [\"forced.h\"]" c-tilt/adopt/compile.json; is 0 "$(jq .tries c-tilt/adopt/extract.json)"'

# C++ in a namespace, in a file with CR LF behind a symbolic link, called by threads in no fixed order, in a project
# whose old build folder and link contain its path.
mkdir -p plus/lib plus/old
cat >plus/lib/real.cpp <<'EOF'
#include "k.hpp"

namespace far {

template <typename T> static inline T square(T x) { return x * x; }

/* how rough */
void rough(const real *x, std::size_t n, int rounds, real *y)
{
	for (std::size_t i = 0; i < n; ++i) {
		y[i] = 0;
		for (int r = 0; r < rounds; ++r)
			y[i] += std::pow(square(x[i]) + r, real(1.5)) / rounds;
	}
}

} // namespace far
EOF
sed -i 's/$/\r/' plus/lib/real.cpp
cat >plus/lib/k.hpp <<'EOF'
#pragma once
#include <cmath>
#include <cstddef>
namespace far {
using real = double;
void rough(const real *x, std::size_t n, int rounds, real *y);
}
EOF
cat >plus/main.cpp <<'EOF'
#include "k.hpp"
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
static std::atomic<int> next_job;
static double sums[8];
static void work()
{
	for (int j; (j = next_job++) < 8;) {
		std::vector<far::real> x(3000 + 1000 * (j % 2), 1.5), y(x.size());
		far::rough(x.data(), x.size(), 20 + j % 3, y.data());
		sums[j] = y[7];
	}
}
int main()
{
	std::thread a(work), b(work);
	a.join();
	b.join();
	for (double s : sums)
		std::printf("%.9f\n", s);
}
EOF
ln -s real.cpp plus/lib/k.cpp
ln -s "$(pwd -P)/plus/lib/k.hpp" plus/link.hpp
echo cache >plus/old/CMakeCache.txt
cat >plus/make.sh <<'EOF'
case $PWD in
*/plus) ;;
*) [ ! -e old ] && [ "$(readlink link.hpp)" = "$PWD/lib/k.hpp" ] || exit 1 ;;
esac
exec g++ -O1 -Ilib -o plus main.cpp lib/k.cpp -pthread
EOF
cat >rough.cpp <<'EOF'
#include <cmath>
#include <cstddef>
namespace far {
using real = double;
/* how rough */
extern "C" __attribute__((visibility("default"))) void
rough(const real *x, std::size_t n, int rounds, real *y)
{
	for (std::size_t i = 0; i < n; ++i) {
		real sum = 0;
		for (int r = 0; r < rounds; ++r) {
			const real v = x[i] * x[i] + r;
			sum += v * std::sqrt(v);
		}
		y[i] = sum / rounds;
	}
}
}
EOF
ok 'C++: a namespace, CR LF, a symbolic link, threads; from the campaign back into the file' '
	exits 0 kadopt adopt -o c-plus -p plus --file lib/k.cpp --kernel rough --build "sh make.sh" --run "./plus >plus.txt" --outputs plus.txt --compare float:1e-6 --threads 1 --runs 2 --proxy 0.0001,10000 --provider "exec:sh $tests_dir/data/adopt/model.sh $T/rough.cpp"; cat out err
	jq -e ".file == \"lib/real.cpp\" and .language == \"c\"" c-plus/adopt.json
	jq -e ".build.compiler == \"g++\" and (.description | startswith(\"The program is C++\"))" c-plus/task.json
	grep -q "^extern .C. void rough" c-plus/reference.c
	brisk c-plus ".eval.profile = \"off\" | .memory = {enabled: \"off\"}"
	kcampaign run -c c-plus -n 1 >out; cat out
	exits 0 kadopt integrate -c c-plus --pairs 31; cat out err; grep -q "^ACCEPTED" out
	[ -h plus/lib/k.cpp ] && [ -e plus/old ]; grep -q "std::sqrt(v)" plus/lib/real.cpp; not grep -q "square\|extern\|visibility" plus/lib/real.cpp
	is 1 "$(grep -c "how rough" plus/lib/real.cpp)"; is "" "$(sed "s/\r$//;t;" plus/lib/real.cpp | diff - plus/lib/real.cpp | grep -c "^>" | grep -vx "$(wc -l <plus/lib/real.cpp)")"'

mkdir -p "it's" wrapped
cat >"it's/k.cpp" <<'EOF'
#include <cstddef>
namespace {
void weigh(const double *x, std::size_t n, int rounds, double *y, char sep = ',' /* it's "," */)
{
	for (std::size_t i = 0; i < n; ++i)
		for (int r = 0; r < rounds; ++r)
			y[i] += x[i] * FACTOR + (sep == ',');
}
}
#include <cstdio>
#include <vector>
int main()
{
	for (int j = 0; j < 4; j++) {
		std::vector<double> x(3000, 1.5), y(x.size());
		weigh(x.data(), x.size(), 200 + j, y.data());
		std::printf("%.9f\n", y[7]);
	}
}
EOF
for w in gcc g++; do printf '#!/bin/sh\nexec %s "$@"\n' "$w" >"wrapped/$w-9"; done
printf '#!/bin/sh\nexec g++ -DFACTOR=2 -c k.cpp -o k.o\n' >wrapped/nvcc
chmod +x wrapped/*
ok 'C++ by a compiler that is called as if for C, or by nvcc; a namespace without a name; a default; a quote; a launcher without a shell' '
	PATH=$T/wrapped:$PATH
	cd "it'\''s"
	weigh() { kadopt adopt -p . --file k.cpp --kernel weigh --run "./k >k.txt" --outputs k.txt --threads 1 --runs 1 --proxy 0.0001,10000 "$@"; }
	exits 0 weigh -o "../it'\''s 9" --launcher env --build "gcc-9 -O1 -D FACTOR=2 -c k.cpp -o k.o && g++ -o k k.o"; cat out err
	jq -e ".build.compiler == \"g++-9\" and ([.workloads[].name] | contains([\"check_1\", \"check_1b\"]))" "../it'\''s 9/task.json"
	exits 2 weigh -o ../handed-on --run "exit 1" --build "nvcc -O1 -arch=native -D FACTOR=2 -Xcompiler -ffast-math,-Wall -c k.cpp -o k.o && g++ -o k k.o"
	jq -e ".compiler == \"g++\" and .flags == [\"-O1\", \"-DFACTOR=2\", \"-ffast-math\"]" ../handed-on/adopt/compile.json'

ok 'arrays of arrays and structures are refused by name; a pointer that is always null is null in the entry' '
	mkdir odd
	printf "struct p { int a, **b; };\nvoid f(struct p *p) { p->b = &p->b[1]; }\nvoid g(float **a) { a[0][0] = 1; }\nvoid h(const float *a, float *b, int n) { for (int i = 0; i < n; i++) b[i] = a ? a[i] : 1; }\nint main(void)\n{\n\tstruct p p;\n\tfloat x[16], *y = x;\n\tf(&p);\n\tg(&y);\n\th(0, x, 16);\n\treturn 0;\n}\n" >odd/k.c
	odd() { exits 2 kadopt adopt -o "o-$1" -p odd --file k.c --kernel "$1" --build "gcc -o k k.c" --run ./k --runs 1; grep -q "$2" err || { cat out err; return 1; }; }
	odd f "parameter .struct p\*p.: its member int\*\*b is not supported"
	odd g "parameter .float\*\*a.: a pointer to pointers"
	exits 0 kadopt adopt -o o-null -p odd --file k.c --kernel h --build "gcc -o k k.c" --run ./k --runs 1
	jq -e ".entry.arguments == [\"b\", \"n\"]" o-null/task.json; jq -r .description o-null/task.json | grep "In every observed call of the application a is a null pointer, as in the entry; with any other, h must do what the reference does"
	grep -q "float \*a = 0;" o-null/reference.c
	sed -i "s/h(0, x, 16);/h(0, x, 16);\n\th(y, x + 8, 8);\n\th(y, x + 8, 8);/" odd/k.c
	exits 0 kadopt adopt -o o-some -p odd --file k.c --kernel h --build "gcc -o k k.c" --run ./k --runs 1 --proxy 0.0001,10000
	jq -r .description o-some/task.json | grep "some calls of the application a is a null pointer"; jq -e "[.workloads[].values.n // 8] | all(. == 8)" o-some/task.json'

mkdir ahead
cat >ahead/k.c <<'EOF'
struct tank { int place, filled; float *water; };
static void refill(struct tank *t, const float *from);
void pour(struct tank *t, const float *from, float *to, int n, double ratio)
{
	for (int i = 0; i < n; i++) {
		if (t->place == 64)
			refill(t, from);
		to[i] = t->water[t->place++] + from[(long)(ratio * 1e9) - 1500000000 + i];
	}
}
static void refill(struct tank *t, const float *from)
{
	for (int i = 0; i < 64; i++)
		t->water[i] = from[i] * 0.5f;
	t->place = 0;
	t->filled++;
}
EOF
cat >ahead/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
struct tank { int place, filled; float *water; };
void pour(struct tank *t, const float *from, float *to, int n, double ratio);
int main(void)
{
	struct tank t = { 64, 0, calloc(64, sizeof(float)) };
	float *from = malloc(5000 * sizeof *from), *to = malloc(5000 * sizeof *to);

	for (int r = 0; r < 9; r++) {
		for (int i = 0; i < 5000; i++)
			from[i] = (float)((i * 7 + r) % 50);
		pour(&t, from, to, 5000, 1.5);
	}
	printf("%d %.6g\n", t.filled, to[77]);
	return 0;
}
EOF
ok 'what a static function does that is declared before its definition; a number without which the function crashes' '
	exits 0 kadopt adopt -o o-ahead -p ahead --file k.c --kernel pour --build "gcc -O1 -o app main.c k.c" --run "./app >out.txt" --outputs out.txt --runs 1 --threads 1 --proxy 0.0001,10000; cat out err
	jq -e ".outputs | has(\"t_filled\") and has(\"t_place\") and has(\"t_water\")" o-ahead/task.json
	grep -q "the reference crashes with sizes or numbers other than those of the application.s calls, so these are the only ones" err
	jq -e ".inputs.ratio | .value == 1.5 and .fixed" o-ahead/task.json'

mkdir span
cat >span/k.c <<'EOF'
float span(const float *edge, const float *x, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * edge[i % 8];
	for (int i = 0; i < 8; i += 2)
		if (edge[i] > edge[i + 1] - 0.5f)
			sum += x[-100000000];
	return sum;
}
EOF
cat >span/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
float span(const float *edge, const float *x, int n);
int main(void)
{
	float edge[8], *x = malloc(5000 * sizeof *x), sum = 0;

	for (int r = 0; r < 9; r++) {
		for (int i = 0; i < 5000; i++)
			x[i] = (float)((i * 7 + r) % 50);
		for (int i = 0; i < 8; i++)
			edge[i] = (float)(i % 2) + (float)((r + i) % 9) / 20;
		sum += span(edge, x, 5000);
	}
	printf("%.6g\n", sum);
	return 0;
}
EOF
ok 'a function that crashes with some of the numbers that are drawn keeps those of the application' '
	exits 0 kadopt adopt -o o-span -p span --file k.c --kernel span --build "gcc -O1 -o app main.c k.c" --run "./app >out.txt" --outputs out.txt --runs 1 --threads 1 --proxy 0.0001,10000; cat out err
	jq -e ".workloads | all(.values.edge.fresh == false)" o-span/task.json
	jq -e ".eval.status == \"correct\"" o-span/adopt/log/reference.ndjson'

mkdir near
cat >near/k.c <<'EOF'
/* Where it goes next cannot be known before it has looked here. */
int wander(const int *table, int n)
{
	int at = 0, sum = 0;

	for (int i = 0; i < n; i++) {
		sum += table[at * 16];
		at = (at * 21 + 3 + (table[at * 16] & 1) * 1000) % 1000;
	}
	return sum;
}
EOF
cat >near/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int wander(const int *table, int n);
int main(void)
{
	int *table = malloc(16000 * sizeof *table), sum = 0;

	for (int r = 0; r < 4000; r++) {
		for (int i = 0; i < 16000; i += 16)
			table[i] = i * 7 % 900 + r;
		sum += wander(table, 1000) % 1000;
	}
	printf("%d\n", sum);
	return 0;
}
EOF
ok 'a call that only takes longer alone because its data are in no cache there' '
	exits 0 kadopt adopt -o o-near -p near --file k.c --kernel wander --build "gcc -O1 -o app main.c k.c" --run "./app >out.txt" --outputs out.txt --runs 1 --threads 1 --proxy 0.001,2.5; cat out err
	grep -q "us alone with warm caches" out
	jq -e "all(.alone_us > 2.5 * .target_us and .warm_us < 2.5 * .target_us)" o-near/adopt/proxy.json'

ok 'in the sandbox the project is writable, but nothing around it, and there is no network' '
	mkdir boxed; cp app/*.[ch] boxed
	run="./app >out.txt; (echo x >$T/escaped); cat /proc/net/dev | grep -c : >net.txt; true"
	exits 0 kadopt adopt -o boxed-c -p boxed --file k.c --kernel count --build "gcc -O1 -DCONFIG -I. -include forced.h -o app main.c k.c util.c -lm" --run "$run" --outputs net.txt --threads 1 --runs 1 --proxy 0.001,1000 --sandbox
	[ ! -e escaped ]; is 1 "$(cat boxed-c/adopt/outputs/net.txt)"; [ ! -e boxed/out.txt ]'
ok 'how a CUDA file is compiled: options in files, the GPU for native, a PATH that the build command extends' '
	mkdir cuda bin2
	cat >cuda/f.cu <<"END"
#include <cstdio>
#include <cstdlib>
#define CHECK(e) do { if (e) { fprintf(stderr, "%s; line %d\n", #e, __LINE__); exit(1); } } while (0)
#ifdef WIDE
#define REAL double
#else
#define REAL float
#endif
#include "f.h"
namespace img {
__constant__ float gains[2];
__constant__ float fixed[2] = { 1, 2 };
__global__ void scale(const float *x, float *y, int n) { y[0] = x[0] * fixed[1]; }
__global__ void gain(const float *x, float *y, int n) { y[0] = x[0] * gains[1]; }
void scaled(const REAL *x, REAL *y, int n, cudaStream_t stream) { scale(x, y, n); CHECK(n < 0); }
void gained(const float *x, float *y, int n, cudaStream_t stream) { gain(x, y, n); }
void copied(const float *x, float *y, int n, cudaStream_t stream) { cudaMemcpyToSymbol(gains, x, 8); gain(x, y, n); }
void plain(const float *x, float *y, int n) { scale(x, y, n); }
}
int main() { return 0; }
END
	mkdir cuda/inc; printf "typedef void *cudaStream_t;\ninline int cudaMemcpyToSymbol(const void *, const void *, unsigned long) { return 0; }\n" >cuda/inc/f.h
	printf "%s\n" "-I\"inc\" -DDEEP" >cuda/words
	cat >bin2/nvcc <<"END"
#!/bin/sh
so=app more=
for w; do case $w in *.cu) src=$w ;; *.so) so=$w more="-shared -fPIC" ;; esac; done
exec c++ -w -D__global__= -D__constant__= -D__device__= $more -Iinc -o "$so" -x c++ "$src"
END
	printf "#!/bin/sh\ncase \$* in *compute_cap*) echo 9.0 ;; esac\n" >bin2/nvidia-smi; chmod +x bin2/*
	PATH=$T/bin2:$PATH
	adoption() { mkdir -p "x-$1"; jq -n --arg t "$T" --arg k "$1" "{schema: \"adopt/1\", project: (\$t + \"/cuda\"), file: \"f.cu\", kernel: \$k, language: \"cuda\", build: \"nvcc -arch=native -O3 --options-file words f.cu && PATH=/nowhere:\$PATH gcc --version\", run: \"./app\"}" >"x-$1/adopt.json"; }
	for k in scaled gained copied; do adoption $k; exits 0 kadopt preflight -c x-$k; done
	jq -e ".parameters[0].type == \"float\"" x-scaled/adopt/unit.json
	jq -e ".compiler == \"nvcc\" and .flags == [\"-arch=sm_90\", \"-O3\", \"-DDEEP\", \"-cudart\", \"shared\", \"-Xcompiler\", \"-fvisibility=default,-ffunction-sections\", \"-Xlinker\", \"--gc-sections\"] and .include == [\"inc\"]" x-scaled/adopt/compile.json
	adoption plain; exits 2 kadopt preflight -c x-plain; grep -q "f.cu:18: plain: it launches no kernel itself, and its last parameter is not a stream" err'
ok 'a CUDA header whose types are in headers under a condition with two branches; one that nothing includes' '
	mkdir -p branch bin3
	cp bin2/nvidia-smi bin3
	cat >bin3/nvcc <<"END"
#!/bin/sh
so=app more= macros=
for w; do case $w in *.cu) src=$w ;; *.so) so=$w more="-shared -fPIC" ;; -D*) macros="$macros $w" ;; esac; done
case "$*" in *"-E -Xcompiler -fdirectives-only -Xcompiler -dI"*) exec c++ -E -fdirectives-only -dI $macros -x c++ "$src" ;; esac
exec c++ -w $macros -D__global__= $more -o "$so" -x c++ "$src"
END
	chmod +x bin3/nvcc; PATH=$T/bin3:$PATH
	for r in float double; do printf "struct pair { %s x, y; };\n" $r >branch/$r.h; done
	printf "__global__ void add(const struct pair *p, REAL *y, int n) { for (int i = 0; i < n; i++) y[i] = p[i].x + p[i].y; }\nvoid added(const struct pair *p, REAL *y, int n, cudaStream_t stream) { add(p, y, n); }\n" >branch/k.cuh
	for k in seen alone; do printf "__global__ void $k(float *x, int n) { for (int i = 0; i < n; i++) x[i] = i; }\n#ifdef __CUDACC__\ninline void run_$k(float *x, int n) { $k<<<1, 1>>>(x, n); }\n#endif\n" >branch/$k.cuh; done
	printf "typedef void *cudaStream_t;\n#ifdef WIDE\n#include \"double.h\"\ntypedef double REAL;\n#else\n#include \"float.h\"\ntypedef float REAL;\n#endif\n#include \"k.cuh\"\n#include \"seen.cuh\"\nint main() { added(0, 0, 0, 0); return 0; }\n" >branch/f.cu
	mkdir x-added; jq -n --arg t "$T" "{schema: \"adopt/1\", project: (\$t + \"/branch\"), file: \"k.cuh\", kernel: \"added\", language: \"cuda\", build: \"nvcc -arch=native -DWIDE f.cu\", run: \"./app\"}" >x-added/adopt.json
	exits 0 kadopt preflight -c x-added; exits 0 kadopt extract -c x-added; grep -q "double x, y" x-added/adopt/task/reference.cu
	kadopt list -p branch >list; grep -A 1 "maybe alone.cuh:1: alone" list | grep "no source of the project that is compiled here includes this file"; grep "^yes seen.cuh:1: seen" list'

ok 'a function in a namespace is found by its plain name; a kernel whose variable other code fills is refused' '
	PATH=$T/bin2:$PATH
	exits 0 kadopt extract -c x-scaled; nm -D x-scaled/adopt/task/reference.so | grep -q " T scaled$"; nm -D x-scaled/adopt/task/reference.so | grep -c "printf\\|exit$\\|stderr" | grep -qx 0; jq -e ".notes == []" x-scaled/adopt/extract.json
	exits 0 kadopt extract -c x-copied
	sed -i "/^void copied/d" x-gained/adopt/copy/f.cu; exits 0 kadopt extract -c x-gained
	echo "void set(const float *x) { cudaMemcpyToSymbol(img::gains, x, 8); }" >x-gained/adopt/copy/set.hxx
	exits 2 kadopt extract -c x-gained; grep -q "the kernel reads gains, which other code sets on the device (set.hxx:1)" err'

ok 'preflight: own leftovers are ended, other processes on the GPU are named, waited for and left alone' '
	mkdir gpu bin; printf "typedef void *cudaStream_t;\nvoid f(float *x, int n, cudaStream_t s) { x[0] = n; }\nint main() { float x; f(&x, 1, 0); }\n" >gpu/f.cu
	printf "#!/bin/sh\necho >>$T/asked; [ \$(wc -l <$T/asked) -gt \$ENDS ] || echo \"\$BUSY\"\n" >bin/nvidia-smi; chmod +x bin/nvidia-smi
	# As on a busy machine, it ends a while after the signal.
	cat >late.c <<"END"
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[1], argv + 1);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_EXIT)
			usleep(200000);
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC);
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	return 128 + WTERMSIG(status);
}
END
	cc -o late late.c
	mkdir g; ./late env KILN_ADOPT="$(pwd -P)/g" sleep 100 & mine=$!
	KILN_ADOPT="$(pwd -P)/other" sleep 100 & other=$!
	until grep -qsa "KILN_ADOPT=$(pwd -P)/g" /proc/[0-9]*/environ &&
		grep -qsa "KILN_ADOPT=" "/proc/$other/environ"; do sleep 0.1; done
	export BUSY="4711, /usr/bin/elsewhere" PATH="$T/bin:$PATH" ENDS=100
	exits 75 kadopt adopt -o g -p gpu --file f.cu --kernel f --build true --run true --timeout 1; cat out err
	grep -q "in use by other processes; .*: 4711, /usr/bin/elsewhere" err
	cat out err | grep -q "ended 1 process of an earlier run"
	got=0; wait "$mine" || got=$?; is 137 "$got"; kill -0 "$other"; kill "$other"
	rm asked; BUSY="$BUSY
4712, /usr/bin/other" ENDS=7 kadopt adopt -o g2 -p gpu --file f.cu --kernel f --build true --run true >out 2>err || :; cat out err
	grep -q "waiting for other processes to end: 4711, /usr/bin/elsewhere 4712, /usr/bin/other\$" out; grep -q "the GPU is free" out'
done_testing
