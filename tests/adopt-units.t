#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt list, and units: which functions can be adopted, and the entries through which a task calls those that are not
# entries themselves.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR
apps=$tests_dir/apps
export apps

mkdir -p plain/lib gpu
cat >plain/lib/vec.h <<'EOF2'
#ifndef VEC_H
#define VEC_H
#define REAL float
#define MATRIX(x, n, m) x[n][m]
struct field {
	int rows, cols;
	REAL *cells;
	double sums[4];
	int steps;
	void (*seen)(struct field *);
};
struct table { char **names; int count; };
static inline REAL
dot(const REAL *a, const REAL *b, int n)
{
	REAL sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}
#endif
EOF2
cat >plain/main.c <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#include "vec.h"

/* One step, and the number of steps. */
int
relax(struct field *f, const REAL *source, REAL factor)
{
	for (int i = 0; i < f->rows * f->cols; i++)
		f->cells[i] += factor * source[i];
	f->sums[f->steps % 4] += factor;
	return ++f->steps;
}

#ifndef WIDE
static void
scale(int n, int m, REAL MATRIX(x, n, m), REAL by)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			x[i][j] *= by;
}
#else
static void
scale(int n, int m, double x[n][m], double by)
{
	(void)n, (void)x, (void)by;
}
#endif

static long
longest(const struct table *t)
{
	long most = 0;

	for (int i = 0; i < t->count; i++)
		for (long n = 0; t->names[i][n]; n++)
			most = n > most ? n : most;
	return most;
}

static void
told(const int *a, int n)
{
	for (int i = 0; i < n; i++)
		printf("%d\n", a[i]);
}

int
main(void)
{
	struct field f = { 120, 100, malloc(12000 * sizeof(REAL)), { 0 }, 0, 0 };
	REAL *source = malloc(12000 * sizeof(REAL)), sum = 0;
	char *names[] = { "a", "abc" };
	struct table t = { names, 2 };
	FILE *out = fopen("out.txt", "w");

	for (int i = 0; i < 12000; i++)
		f.cells[i] = 1, source[i] = (REAL)(i % 7) / 8;
	for (int n = 0; n < 5; n++) {
		relax(&f, source, 0.5f);
		scale(120, 100, (REAL(*)[100])f.cells, 0.75f);
		sum += dot(f.cells, source, 12000);
	}
	told(&f.steps, 1);
	fprintf(out, "%g %g %d %ld\n", sum, f.sums[1], f.steps, longest(&t));
	return fclose(out);
}
EOF2
printf 'app: main.c lib/vec.h\n\t$(CC) -O2 -std=gnu11 -Ilib -o app main.c\n' >plain/Makefile

cat >gpu/stencil.cuh <<'EOF2'
#pragma once
struct params { int width, height; float weight; };
struct point { float x, y, z; };
struct linked { float *at; int n; };

inline __device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y, a.z, a.w); }
template <> __device__ float half_of<float>(float x) { return x / 2; }
__constant__ float weights[16];

template <typename T, int N>
__global__ void
smooth(const T *__restrict__ in, T *out, params p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = -N; k <= N; k++)
		out[i] += p.weight * in[i + k];
}

__global__ void move_points(point *points, int n, float by) { points[threadIdx.x].x += by * n; }
template <typename T> __global__ void fill(T *to, T value) { to[threadIdx.x] = value; }
__global__ void weigh(float *x) { x[threadIdx.x] *= weights[0]; }
__global__ void level(float *level) { level[threadIdx.x] = 1; }
__device__ float total;
__global__ void tally(float *x) { x[threadIdx.x] += total; }
__global__ void chase(linked *l) { l->at[0] = 1; }
__global__ void unused(float *x) { x[0] = 1; }
__global__ void mask(const bool *off, float *x, const int *map) { if (!off) x[threadIdx.x] = map ? 1 : 2; }
EOF2
cat >gpu/main.cu <<'EOF2'
#include "stencil.cuh"

template <typename R> static void start(R *data, dim3 grid) { fill<R><<<grid, 64>>>(data, R(1)); }

int
main()
{
	params p = { 640, 480, 0.2f };
	const int threads = 128, n = 1000;
	float *in, *out;
	point *points;
	dim3 block(32, 8), grid((p.width + 31) / 32, (p.height + 7) / 8);

	cudaMalloc((void **)&in, p.width * p.height * sizeof(float));
	cudaMalloc((void **)&out, p.width * p.height * sizeof(float));
	cudaMalloc((void **)&points, n * sizeof(point));
	start<float>(in, 7);
	start<double>((double *)in, 7);
	for (int i = 0; i < 3; i++) {
		smooth<float, 2><<<grid, block, 0, 0>>>(in, out, p);
		smooth<float, 2><<<grid,
		    block>>>(out, in, p);
		move_points<<<(n + threads - 1) / threads, threads, threads * sizeof(float)>>>(points, n, i);
	}
	for (int i = 0; i < 16; i++)
		weights[i] = i;
	weigh<<<1, 16>>>(in);
	level<<<1, 16>>>(in);
	tally<<<1, 16>>>(in);
	mask<<<1, 16>>>(nullptr, in, NULL);
	chase<<<1, 16>>>((linked *)in);
	return 0;
}
EOF2
# Stands in for a CUDA compiler: launches become calls of the stub, after preprocessing.
mkdir bin
cat >stub.h <<'EOF2'
#include <stddef.h>
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
struct float4 { float x, y, z, w; };
static inline float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }
typedef struct stream *cudaStream_t;
extern "C" int cudaMalloc(void **, size_t);
extern "C" int cudaGetSymbolAddress(void **, const void *);
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
#define __global__
#define __device__
#define __constant__
static dim3 threadIdx, blockIdx, blockDim;
template <typename T> T half_of(T x) { return x; }
struct conf { dim3 g, b; size_t s; cudaStream_t t; conf(dim3 g, dim3 b, size_t s = 0, cudaStream_t t = 0) : g(g), b(b), s(s), t(t) {} };
template <class... P, class... A> void stub_launch(conf c, void (*k)(P...), A... a)
{
	void *args[] = { (void *)&a... };
	cudaLaunchKernel((const void *)k, c.g, c.b, args, c.s, c.t);
}
EOF2
cat >bin/nvcc <<'EOF2'
#!/bin/sh
c++ -E -x c++ -D__CUDACC__ -include "$STUB/stub.h" "$1" |
	perl -0pe 's/((?:::)?\w+(?:<[^<>;]*>)?)\s*<<<(.*?)>>>\s*\(/stub_launch(conf($2), $1, /gs' >"$1.ii" &&
	c++ -w -x c++ -fpreprocessed "$1.ii" -x none "$STUB/libcudart.so" -o app
EOF2
chmod +x bin/nvcc
cc -shared -fPIC -o libcudart.so "$apps/cudart-stub.c"
STUB=$T PATH=$T/bin:$PATH
export STUB
cat >helpers.sh <<'EOF2'
# take FILE FUNCTION: adopt it from the plain project, as far as possible.
take() {
	rm -rf c
	kadopt adopt -o c -p plain --file "$1" --kernel "$2" --build make --run ./app --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000 >out 2>err
}
see() { rm -rf g; kadopt observe -c g -p gpu --file stencil.cuh --kernel "$1" --build "nvcc main.cu" --run ./app --runs 0; }
calls() { sed 1d "$1/adopt/observed.ndjson"; }
valid() { python3 "$KILN_DATA/tests/schemas.py" "$KILN_DATA/docs/schemas" "$@"; }
EOF2
t() { ok "$1" '. "$T/helpers.sh"; '"$2"; }

t 'the list: what can be taken, every reason why not, and the hottest first' '
	exits 0 kadopt list -p plain; cat out
	grep -q "^yes lib/vec.h:14: dot, in a wrapper" out; grep -q "^yes main.c:7: relax, in a wrapper" out; grep -q "^yes main.c:17: scale" out
	grep -A1 "^no  main.c:32: longest" out | grep -q "its member char\*\*names is not supported"
	grep -A1 "^no  main.c:43: told" out | grep -q "reads, writes or prints.*printf"
	printf "  12.5%%  app  [.] told\n  61.0%%  app  [.] scale\n  20.1%%  app  [.] relax\n" >perf.txt
	exits 0 kadopt list -p plain --profile perf.txt; is "scale relax told" "$(sed -n "s/^ *[0-9.]* \(yes\|no \) [^ ]* \([a-z]*\).*/\2/p" out | head -3 | paste -sd " ")"
	exits 0 kadopt list -p plain --file lib/vec.h --json; jq -es "length == 1 and .[0].function == \"dot\" and .[0].good" out
	exits 1 kadopt list -p plain --file none.c; exits 2 kadopt list -p nowhere; exits 2 kadopt list x'

mkdir -p hidden/lib
cat >hidden/k.h <<'E'
#ifdef HAVE_ROOM
#define ROOM(name, n) float name[n]
#endif
void mix(void *of, float *x, int n);
E
cat >hidden/lib/mix.c <<'E'
#include "k.h"
#ifdef FLOATS
void mix(void *of, float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] *= *(float *)of;
}
#endif
E
cat >hidden/k.c <<'E'
#include "k.h"
void smooth(float *x, int n)
{
	ROOM(room, 64);
	for (int i = 0; i < n; i++)
		room[i % 64] = x[i], x[i] = room[(i + 1) % 64];
}
void blur(float *by, float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] += 1;
	mix(by, x, n);
}
E
t 'where macros of the build decide, the list says maybe, unless its output shows them' '
	exits 0 kadopt list -p hidden; cat out
	grep -A 1 "^maybe k.c:2: smooth" out | grep -q "ROOM is only defined under conditions (#if) that are false here"
	grep -A 1 "^maybe k.c:8: blur" out | grep -q "mix is only defined under conditions"
	grep -q "^0 of 2 functions can be adopted" out; grep -q "^2 more perhaps.*--build-log" out
	exits 0 kadopt list -p hidden --json; jq -es "length == 2 and all(.good and (.doubts | length == 1))" out
	printf "gcc -O2 -DHAVE_ROOM -c k.c -o k.o\nmake[1]: Entering directory \047%s\047\n/usr/bin/gcc -I.. -DFLOATS -c mix.c\n" "$T/hidden/lib" >make.log
	exits 0 kadopt list -p hidden --build-log make.log; cat out
	grep -q "^yes k.c:2: smooth" out; grep -q "^yes k.c:8: blur" out; grep -q "^3 of 3 functions" out
	exits 2 kadopt list -p hidden --build-log none.log'

mkdir -p unseen
cat >unseen/a.c <<'E'
typedef int visit(int);
struct window { const float *by; int n; short samples[]; };
struct hidden;
int latest(const struct window *w)
{
	int sum = 0;
	for (int i = 0; i < w->n; i++)
		sum += w->samples[i] * w->by[i];
	return sum;
}
void each(visit *f, int *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = f(x[i]);
}
int at(const struct hidden *h, int *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = h != 0;
	return n;
}
E
cat >unseen/made.c <<'E'
#define NAME(a, b) a##_##b
static float sines[64];
void NAME(add, one)(float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] += sines[i % 64];
}
void prepare(float by)
{
	for (int i = 0; i < 64; i++)
		sines[i] = by * i;
}
E
cat >unseen/cpu.c <<'E'
#include <cpuid.h>
static int widest(void)
{
	unsigned a = 0, b, c = 0, d;
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return (int)a;
}
void widen(int *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = widest();
}
E
cat >unseen/asked.c <<'E'
#include <cpuid.h>
void asked(unsigned *x, int n)
{
	unsigned b, c, d;
	for (int i = 0; i < n; i++)
		__cpuid(0, x[i], b, c, d);
}
E
cat >unseen/neon.h <<'E'
static void twice(float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] *= 2;
}
E
sed 's/twice/thrice/; 1i #include "made.h"' unseen/neon.h >unseen/lost.c
t 'the list doubts what no compiler sees here; members without a size, types of functions or without members, names that macros make, functions that only change variables' '
	exits 0 kadopt list -p unseen; cat out
	grep -A 1 "^maybe neon.h:1: twice" out | grep -q "no source of the project that is compiled here includes this file"
	grep -A 1 "^maybe lost.c:2: thrice" out | grep -q "a header that this file includes is not found"
	grep -A 1 "^no  a.c:4: latest" out | grep -q "its member short samples\[\] has no size, so an entry cannot copy it"
	grep -A 1 "^no  a.c:11: each" out | grep -q "visit is the type of a function"
	grep -A 1 "^no  made.c:3: add_one" out | grep -q "a macro makes its name"
	grep -A 1 "^no  made.c:8: prepare" out | grep -q "it returns nothing, and changes none of its arguments"
	grep -A 1 "^no  a.c:16: at" out | grep -q "the members of hidden are not known"'
t 'what the judge of candidates would reject in a function, or in one that it calls, is in the list, unless a header of the system has it' '
	exits 0 kadopt list -p unseen; cat out
	grep -A 1 "^no  cpu.c:8: widen" out | grep -q "widest (cpu.c:2) would be rejected: cpuid in inline assembly"
	grep "^yes asked.c:2: asked" out'
t 'a function without a loop is in the list if the profile has it' '
	kadopt list -p unseen >out || :; not grep "cpu.c:2: widest" out
	printf "  50.0%%  app  [.] widest\n" >perf.txt
	exits 0 kadopt list -p unseen --profile perf.txt; head -n 1 out | grep "^ 50.00 no  cpu.c:2: widest"'

mkdir -p shown
cat >shown/main.c <<'E'
#include <stdio.h>
#ifdef FAST
void twice(float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] *= 2;
}
#else
void twice(float *x, int n) { for (int i = 0; i < n; i++) x[i] += x[i]; }
#endif
#ifdef SLOW
void slowly(float *x, int n) { twice(x, n); }
#endif
int main(void) { float x[8] = { 1 }; twice(x, 8); return printf("%g\n", x[0]) < 0; }
E
t 'a function that only a macro of the build shows to the compiler; one that the build does not show' '
	show() { rm -rf c; kadopt adopt -o c -p shown --file main.c --kernel "$1" --build "gcc $2 -o app main.c" --run "./app >out.txt" --outputs out.txt; }
	show twice -DFAST >out 2>err || :; cat out err
	grep -q "^preflight *took" out
	jq -e ".lines == [3, 7]" c/adopt/unit.json
	exits 2 show slowly -DFAST; grep -q "^kadopt: kernel: main.c.*slowly: the compiler does not see it (#if)" err'

mkdir -p big
{ echo 'static const int table[] = {'; seq -f '%.0f,' 100000 300000; echo '};'; } >big/table.h
cat >big/main.c <<'E'
#include <stdio.h>
#include "table.h"
void look(int *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = table[x[i] & 65535];
}
int main(void) { int x[8] = { 1 }; look(x, 8); return printf("%d\n", x[0]) < 0; }
E
t 'a function with tables that no prompt could contain is refused when it is extracted' '
	exits 2 kadopt adopt -o c-big -p big --file main.c --kernel look --build "gcc -o app main.c" --run "./app >out.txt" --outputs out.txt --runs 1
	grep "look: with the tables and functions that it needs it has 1[0-9]* KB, but a prompt must contain it, with at most 1024" err'

t 'kernels: with their launches, as instantiated; not what others fill, link or never launch' '
	kadopt list -p gpu --json >list; jq -c "[.function, .good, .reasons[0]]" list
	is "smooth move_points fill weigh level mask" "$(jq -r "select(.good) | .function" list | paste -sd " ")"
	why() { jq -r "select(.function == \"$1\") | .reasons[]" list; }
	why tally | grep -q "reads total (stencil.cuh:24), which other code fills"
	jq -se "map(select(.function == \"weigh\"))[0].unit.text | contains(\"weigh_launch(float *x, const float *weights_, cudaStream_t stream)\")
		and contains(\"cudaMemcpyToSymbolAsync(weights, weights_, sizeof weights, 0, cudaMemcpyDeviceToDevice, stream);\")" list
	why chase | grep -q "the structure linked holds pointers"; why unused | grep -q "no launch"
	jq -se "map(select(.function == \"smooth\"))[0].unit | (.launches | length) == 2 and .launches[1].lines == [21, 22] and .launches[0].templates == \"<float,2>\"
		and (.text | contains(\"smooth<float, 2><<<dim3(grid_x, grid_y), dim3(32, 8), 0, stream>>>(in, out, p)\") and contains(\"p.weight = p_weight\"))" list
	jq -se "map(select(.function == \"fill\"))[0].unit.text | contains(\"fill<float><<<\")" list
	jq -se "map(select(.function == \"mask\"))[0].unit.text | contains(\"mask_launch(float *x, cudaStream_t\") and contains(\"(nullptr, x, nullptr)\")" list
	jq -se "map(select(.function == \"move_points\"))[0].unit | .parameters[0].type == \"float\" and (.text | contains(\"(point *)points\"))" list
	for f in smooth move_points; do jq -c "select(.function == \"$f\").unit" list >$f.json; valid unit-1 $f.json; done'

t 'a structure, a result: observed and extracted through the entry' '
	take main.c relax || cat err
	calls c | head -1 | jq -e ".args == {f_cols: 100, f_rows: 120, factor: 0.5} and .pointers.f_cells.bytes == 48000 and .pointers.f_sums.bytes == 32
		and .pointers.f_steps.bytes == 4 and .pointers.f_steps.written and .pointers.result.written and (.pointers.f_seen | not)"
	grep -q "^relax_entry(int f_rows, int f_cols, float \*f_cells, double \*f_sums, int \*f_steps, const " c/adopt/task/reference.c
	grep -q "result = relax(&f_, source, factor);" c/adopt/task/reference.c; valid unit-1 c/adopt/unit.json'

t 'macros for types and parameters, under a condition: adopted' '
	take main.c scale || { cat err; false; }
	jq -e ".entry.name == \"scale_entry\" and .outputs.x.shape == [\"n\", \"m\"]" c/task.json
	jq -e ".entry.prototype == \"void scale_entry(int n, int m, float x[n][m], float by)\"" c/task.json
	jq -e ".description | contains(\"its entry, scale_entry, which must keep\") and contains(\"its body becomes a call of the entry\")" c/task.json
	grep -q "^scale_entry(int n, int m, float x\[n\]\[m\], float by)" c/reference.c; grep -q "^#ifndef WIDE" c/reference.c'

t 'the entry is made with the options of the build, which give macros other values' '
	rm -rf c sized; mkdir sized; cat >sized/main.c <<E
#include <stdio.h>
#ifndef SIDE
#define SIDE 9
#endif
#define MATRIX(x) x[SIDE][SIDE]
static float all[SIDE][SIDE];
void lift(int n, float MATRIX(x)) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i][j] += i + 1; }
int main(void) { lift(SIDE, all); lift(SIDE, all); fprintf(fopen("out.txt", "w"), "%g\n", all[3][SIDE - 1]); return 0; }
E
	exits 0 kadopt adopt -o c -p sized --file main.c --kernel lift --build "cc -O2 -DSIDE=40 -o app main.c" --run ./app --outputs out.txt --threads 1 --runs 1 \
		--proxy 0.0001,10000
	jq -e ".entry.prototype == \"void lift_entry(int n, float x[40][40])\"" c/task.json
	# Each part says what it does, and how long it took.
	for part in build watch times probe inputs tolerance lint replay proxy judge; do
		grep "^$part  " out | head -n 1 >first; [ -s first ]; if grep " took " first; then exit 1; fi; grep -q "^$part  *took [0-9.]* s$" out
	done
	for step in preflight observe configs record extract task; do grep -q "^---------- $step: [a-z]" out; grep -q "^$step  *took [0-9.]* s$" out; done'

t 'an area that one call uses in part and another as a whole: neither size is taken for both' '
	rm -rf c area; mkdir area; cat >area/main.c <<E
#include <stdio.h>
static float x[100], out[7751];
void spread(const float *in, int n, int step, float *to) { for (int i = 0; i < n * n / step + 7; i++) to[i] = in[i % n] * 2; }
int main(void) { for (int i = 0; i < 100; i++) x[i] = i; spread(x, 40, 3, out); spread(x, 88, 1, out); fprintf(fopen("out.txt", "w"), "%g\n", out[77]); return 0; }
E
	exits 0 kadopt adopt -o c -p area --file main.c --kernel spread --build "cc -O2 -o app main.c" --run ./app --outputs out.txt --threads 1 --runs 1 \
		--proxy 0.0001,10000
	jq -e ".outputs.to.shape == [\"to_elements\"] and (.workloads | map(.axes.to_elements) | max == 7751)" c/task.json'

t 'a function that returns a structure: the prompt says that its entry must stay' '
	rm -rf c pair; mkdir pair; cat >pair/main.c <<E
#include <stdio.h>
struct pair { float low, high; };
static float x[5000];
struct pair range(const float *a, int n) { struct pair p = { a[0], a[0] }; for (int i = 1; i < n; i++) { if (a[i] < p.low) p.low = a[i]; if (a[i] > p.high) p.high = a[i]; } return p; }
int main(void) { for (int i = 0; i < 5000; i++) x[i] = i * 37 % 101; struct pair p = range(x, 5000); fprintf(fopen("out.txt", "w"), "%g %g\n", p.low, p.high); return 0; }
E
	exits 0 kadopt adopt -o c -p pair --file main.c --kernel range --build "cc -O2 -o app main.c" --run ./app --outputs out.txt --threads 1 --runs 1 \
		--proxy 0.0001,10000
	jq -e ".entry.name == \"range_entry\" and (.description | contains(\"the whole text of range_entry\"))" c/task.json'

t 'a function of a header: adopted, with the flags of the file that includes it' '
	take lib/vec.h dot || { cat err; false; }
	jq -e ".entry.name == \"dot_entry\" and (.outputs | keys == [\"result\"]) and .build.flags == [\"-O2\", \"-std=gnu11\"]" c/task.json'

t 'a kernel is observed at its launches, in a header and in main; lines stay what they are' '
	see smooth
	is 6 "$(calls g | wc -l)"
	calls g | head -1 | jq -e ".args == {grid_x: 20, grid_y: 60, p_height: 480, p_weight: 0.2, p_width: 640} or (.args.p_weight - 0.2 | fabs < 1e-6)"
	calls g | head -1 | jq -e ".grid == [20, 60, 1] and .block == [32, 8, 1] and .pointers.out.written and .pointers.in.bytes == 1228800 and .clock == \"device\""
	is "$(wc -l <gpu/main.cu)" "$(wc -l <g/adopt/watch/copy/main.cu)"
	see move_points; calls g | head -1 | jq -e ".args == {by: 0, grid_x: 8, n: 1000, shared_bytes: 512} and .pointers.points.bytes == 12000"
	see weigh; calls g | head -1 | jq -e ".pointers.weights_ | .bytes == 64 and .device and .read and .const"
	# Of a template, launches of other instances from the same place do not count.
	see level; calls g | jq -es "length == 1"
	see fill; calls g | jq -es "length == 1 and .[0].args.value == 1"'

t 'what stands in the way of a kernel is told at once' '
	exits 2 see tally; grep -q "tally.*reads total" err; exits 2 see chase; grep -q "holds pointers" err'

t 'flags by compile_commands.json where nothing else shows them' '
	rm -rf cm; cp -r plain cm; mkdir cm/build
	jq -n --arg d "$T/cm/build" "[{directory: \$d, command: \"/usr/bin/cc -O3 -DSIDE=\\\"a b\\\" -I../lib -c ../main.c -o main.o\", file: \"../main.c\"}]" >cm/build/compile_commands.json
	kadopt list -p cm >out; grep -q "^yes main.c:7: relax" out
	printf "#ifndef SIDE\n#error no side\n#include <none.h>\n#endif\nvoid f(float *SIDE_OF, int n);\n" | cat - cm/main.c >x; mv x cm/main.c
	kadopt list -p cm >out; cat out; grep -q "^yes main.c:12: relax, in a wrapper" out'
mkdir members
cat >members/grid.cpp <<'E'
#include <vector>
static float mix(const float *x, int n)
{
	float sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[i];
	return sum;
}
struct Grid {
	std::vector<float> cells;
	float total() const
	{
		float sum = 0;
		for (unsigned i = 0; i < cells.size(); i += 8)
			sum += mix(&cells[i], 8);
		return sum;
	}
	int size() const { return (int)cells.size(); }
	void lift(float by);
};
void Grid::lift(float by)
{
	for (int i = 0; i < size(); i++)
		cells[i] += by;
}
void raise(const float *x, float *y, int n)
{
	Grid g{ { x, x + n } };
	g.lift(1);
	for (int i = 0; i < n; i++)
		y[i] = g.cells[i];
}
int main() { float x[8] = { 1 }, y[8]; raise(x, y, 8); return (int)(mix(y, 8) + Grid{}.total()); }
E
ok 'a list shows members with a reason, and what can be adopted instead: what calls them, or what they call' '
	kadopt list -p members >out; cat out
	grep -A 2 "^no  grid.cpp:11: Grid::total$" out >total
	grep -q "parameter .this.: its member std::vector<float>cells is not supported, but used" total; grep -q "adopt mix instead, which it calls" total
	grep -A 2 "^no  grid.cpp:21: Grid::lift$" out >lift; grep -q "adopt raise instead, which calls it" lift
	not grep -q "size" out'
done_testing
