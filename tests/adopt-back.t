#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt integrate, units: a winner that is more than one function goes into the application. Kernels and their
# launches, whatever the winner's geometry; C functions through their entries. Without a GPU, a stub runs kernels on the
# CPU, and the results are compiled by the real nvcc if it is installed.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T NVCC=$(command -v nvcc || :)
export KILN_LOCK_DIR NVCC

# Stands in for a CUDA compiler: launches become calls of the stub, which runs every thread after the other.
mkdir bin
cat >stub.h <<'E'
#include <stddef.h>
#include <string.h>
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
typedef struct stream *cudaStream_t;
extern "C" int cudaMalloc(void **, size_t);
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
extern "C" int cudaGetLastError();
extern "C" int cudaStreamCreate(cudaStream_t *);
/* Not cmath, which takes longer to compile than all programs here. */
extern "C" float sqrtf(float) noexcept;
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
extern "C" int cudaMemcpy(void *, const void *, size_t, int);
extern "C" int cudaDeviceSynchronize();
extern "C" int cudaFree(void *);
static inline int cudaMallocAsync(void **to, size_t n, cudaStream_t) { return cudaMalloc(to, n); }
static inline int cudaFreeAsync(void *at, cudaStream_t) { return cudaFree(at); }
static inline int cudaMemcpyAsync(void *to, const void *from, size_t n, int how, cudaStream_t) { return cudaMemcpy(to, from, n, how); }
static inline int cudaMemset(void *at, int x, size_t n) { memset(at, x, n); return 0; }
static inline int cudaMemset2D(void *at, size_t, int x, size_t n, size_t rows) { return cudaMemset(at, x, n * rows); }
static inline int cudaMemsetAsync(void *at, int x, size_t n, cudaStream_t = 0) { return cudaMemset(at, x, n); }
extern "C" int cudaGetSymbolAddress(void **, const void *);
template <class T> static int cudaMemcpyToSymbol(T &to, const void *from, size_t n) { memcpy(&to, from, n); return 0; }
template <class T> static int cudaMemcpyToSymbolAsync(T &to, const void *from, size_t n, size_t, int, cudaStream_t) { memmove(&to, from, n); return 0; }
#define __global__
#define __device__
#define __constant__
#define __launch_bounds__(n)
#define __restrict__
inline dim3 threadIdx, blockIdx, blockDim, gridDim;
struct conf { dim3 g, b; size_t s; cudaStream_t t; conf(dim3 g, dim3 b, size_t s = 0, cudaStream_t t = 0) : g(g), b(b), s(s), t(t) {} };
template <class... P, class... A> static void stub_run(conf c, void (*k)(P...), A... a)
{
	void *args[] = { (void *)&a... };
	cudaLaunchKernel((const void *)k, c.g, c.b, args, c.s, c.t);
	gridDim = c.g, blockDim = c.b;
	for (blockIdx.z = 0; blockIdx.z < c.g.z; blockIdx.z++)
		for (blockIdx.y = 0; blockIdx.y < c.g.y; blockIdx.y++)
			for (blockIdx.x = 0; blockIdx.x < c.g.x; blockIdx.x++)
				for (threadIdx.y = 0; threadIdx.y < c.b.y; threadIdx.y++)
					for (threadIdx.x = 0; threadIdx.x < c.b.x; threadIdx.x++)
						k(a...);
}
template <class... P, class... A> static void stub_launch(conf c, void (*k)(P...), A... a) { stub_run(c, k, a...); }
/* An overloaded kernel, with the arguments' own types. */
template <class... A> static void stub_launch(conf c, void (*k)(A...), A... a) { stub_run(c, k, a...); }
E
cat >bin/nvcc <<'E'
#!/bin/sh
set -e
out=a.out sources= flags= shared=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	-Xcompiler | -Xlinker) shift ;;
	*.cu) sources="$sources $1" ;;
	-I* | -O* | -D*) flags="$flags $1" ;;
	-shared) shared=$1 ;;
	esac
	shift
done
objects=
for s in $sources; do
	c++ -E -x c++ -D__CUDACC__ $flags -include "$STUB/stub.h" "$s" |
		perl -0pe 's/([\w:]+(?:<[^<>;]*>)?)\s*<<<(.*?)>>>\s*\(/stub_launch(conf($2), $1, /gs' >"$s.ii"
	c++ -w -fPIC -c $flags -x c++ -fpreprocessed -o "$s.o" "$s.ii" || { echo "$s: error: see above"; exit 1; }
	objects="$objects $s.o"
done
c++ $shared -o "$out" $objects "$STUB/libcudart.so"
E
printf '#!/bin/sh\ncase $* in *compute-apps*) ;; *) echo 9.0 ;; esac\n' >bin/nvidia-smi
# The test provides the campaign's best program.
cat >bin/kreport <<'E'
#!/bin/sh
jq -n --rawfile code "$T/winner" '{best: {id: "001/01", speed: {mean: 2, low: 1.9}}, sources: [{id: "001/01", code: $code}]}'
E
chmod +x bin/*
cc -shared -fPIC -o libcudart.so "$tests_dir/apps/cudart-stub.c"
STUB=$T STUB_RUNS=1 PATH=$T/bin:$PATH
export STUB STUB_RUNS

mkdir gpu gpu/src
cat >gpu/src/blur.cuh <<'E'
#pragma once
struct window { int width, height; float weight; };
namespace img {
static inline __device__ float heavy(float x) { for (int i = 0; i < 9; i++) x = x * 0.5f + 0.25f; return x; }

/* Blurs a picture: out gets every pixel and its neighbour, weighed. */
template <typename T, int N>
__global__ void
blur(const T *__restrict__ in, T *out, window w)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	T sum = 0;

	if (x >= w.width || y >= w.height)
		return;
	for (int i = 0; i < 40; i++)
		sum = heavy(sum + in[y * w.width + x]);
	out[y * w.width + x] = sum * 0 + in[y * w.width + x] * w.weight + N;
}
}
E
cat >gpu/src/scale.h <<'E'
#pragma once
/* In scale.cu. */
__global__ void scale(float *x, int n, float by);
E
cat >gpu/src/scale.cu <<'E'
#include "scale.h"

/* One value after the other. */
__global__ void scale(float *x, int n, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; i < n && k < 1000; k++)
		x[i] = k ? x[i] : x[i] * by;
}
E
cat >gpu/src/other.cu <<'E'
#include "blur.cuh"
void
second(const float *in, float *out, window w)
{
	dim3 block(16, 4);

	img::blur<float, 1><<<dim3((w.width + 15) / 16, (w.height + 3) / 4), block>>>(in, out, w);
}
E
cat >gpu/src/main.cu <<'E'
#include <cstdio>
#include "blur.cuh"
#include "scale.h"
using namespace img;
void second(const float *in, float *out, window w);

int
main()
{
	window w = { 60, 40, 0.5f };
	const int n = 2400, threads = 128;
	float *in, *out, host[2400];
	double *wide;
	dim3 grid((w.width + 15) / 16, (w.height + 3) / 4), block(16, 4);
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = i % 13;
	cudaMalloc((void **)&in, n * sizeof(float));
	cudaMalloc((void **)&out, n * sizeof(float));
	cudaMalloc((void **)&wide, n * sizeof(double));
	cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice);
	for (int i = 0; i < 20; i++) {
		blur<float, 1><<<grid, block>>>(in, out, w);
		scale<<<(n + threads - 1) / threads, threads>>>(out, n, 0.25f * (i + 1));
		second(out, in, w);
	}
	cudaDeviceSynchronize();
	cudaMemcpy(host, in, n * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++)
		fprintf(f, "%.5f\n", host[i]);
	return fclose(f);
}
E
echo 'nvcc -Isrc -o app src/main.cu src/other.cu src/scale.cu' >gpu/build.sh
cat >helpers.sh <<'E'
# take FILE KERNEL: adopt it into c, up to what integration needs, from a fresh copy p of the project; the reference's
# text is in ref.
take() {
	rm -rf p c
	cp -r "${project:-gpu}" p
	kadopt adopt -o c -p p --file "$1" --kernel "$2" --build "${build:-sh build.sh}" --run "./app $run" --outputs out.txt --threads 1 --runs 1 ${more-} >out 2>err || :
	[ -s c/adopt/extract.json ] || { cat out err; return 1; }
	cp c/adopt/task/reference.* c
	[ -e c/task.json ] || jq -n --arg o "$3" '{outputs: {($o): {}}}' >c/task.json
	touch c/archive.ndjson
	sums >before
}
sums() { (cd p && find . -name "*.c*" -o -name "*.h" | grep -v "ii$\|o$" | sort | xargs sha256sum); }
# back STATUS: the program in winner is put in.
back() { s=$1; shift; exits "$s" kadopt integrate -c c --gate 0.05 "$@" || { cat out err; return 1; }; }
# The patch, checked by the real compiler.
compiles() { [ -z "$NVCC" ] || (cd p && for f in src/*.cu; do "$NVCC" -std=c++17 -Isrc -c -o "$T/x.o" "$f" || exit 1; done); }
# no PATTERN FILE…: the files must not contain the pattern.
no() { if grep "$@"; then echo "is there: $*"; return 1; fi; }
run=
E
t() { ok "$1" '. "$T/helpers.sh"; '"$2"; }

t 'the same entry: the body goes in, in a namespace of a header, as a template; launches stay' '
	take src/blur.cuh blur out
	sed "/heavy(float/d; /for (int i = 0; i < 40/,+1d; s/sum \* 0 + //; s/__global__ void/__global__ void __launch_bounds__(64)/" c/reference.cu >winner
	back 0; cat out; grep -q "^ACCEPTED" out
	diff -r gpu/src p/src -x "*.ii" -x "*.o" >d || :; cat d; no "^diff.*main.cu\|^diff.*other.cu" d
	grep -q "^__global__ void __launch_bounds__(64)" p/src/blur.cuh; no heavy p/src/blur.cuh; grep -q "^/\* Blurs a picture" p/src/blur.cuh
	no "blur_launch" p/src/*.cu*; compiles'

t 'another geometry: launches in main and in two files become calls of the entry' '
	take src/blur.cuh blur out
	cat >winner <<E
struct window { int width, height; float weight; };
namespace img {
/* A row is one piece of memory. */
__global__ void __launch_bounds__(128)
blur_flat(const float *in, float *out, int n, float weight)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = in[i] * weight + 1;
}
extern "C" void
blur_launch(const float *in, float *out, int w_width, int w_height, float w_weight, int grid_x, int grid_y, cudaStream_t stream)
{
	int n = w_width * w_height;

	blur_flat<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n, w_weight);
}
}
E
	back 0; cat out c/runs/blur/*/integrated.patch; grep -q "^ACCEPTED" out
	for f in main other; do grep -q "blur_launch(in, out, w.width, w.height, w.weight, 0);" p/src/$f.cu; no "blur<float" p/src/$f.cu; done
	grep -q "^static inline void$" p/src/blur.cuh; no "template\|extern\|grid_x" p/src/blur.cuh
	is 1 "$(grep -c "Blurs a picture" p/src/blur.cuh)"; compiles
	exits 0 kadopt integrate -c c --gate 0.05; grep -q "already in place" out'

t 'defined in one file, launched in another: the entry is seen there' '
	take src/scale.cu scale x
	cat >winner <<E
__global__ void scale(float *x, int n, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (2 * i < n)
		x[2 * i] *= by;
	if (2 * i + 1 < n)
		x[2 * i + 1] *= by;
}
extern "C" void
scale_launch(float *values, int n, float by, int grid_x, cudaStream_t stream)
{
	scale<<<(n / 2 + 128) / 128, 128, 0, stream>>>(values, n, by);
}
E
	back 0; cat out c/runs/scale/*/integrated.patch; grep -q "^ACCEPTED" out
	grep -q "scale_launch(out, n, 0.25f \* (i + 1), 0);" p/src/main.cu; grep -q "^scale_launch(float \*values, int n, float by, cudaStream_t stream);" p/src/scale.h; grep -q "^__global__ void scale(float" p/src/scale.cu
	compiles'

mkdir -p wide/common
cp -r gpu wide/app
mv wide/app/src/other.cu wide/common/other.cuh; mv wide/app/src/scale.h wide/common
printf '#include "other.cuh"\n' >wide/app/src/other.cu
echo 'nvcc -Isrc -I../common -o app src/main.cu src/other.cu src/scale.cu' >wide/app/build.sh
t 'a launch in a file outside the project: the patch is refused by name, nothing is changed there' '
	rm -rf p c o; cp -r wide o; kadopt adopt -o c -p o/app --file src/blur.cuh --kernel blur --build "sh build.sh" --run ./app --outputs out.txt --threads 1 --runs 1 >out 2>err || :
	[ -s c/adopt/extract.json ] || { cat out err; exit 1; }
	cp c/adopt/task/reference.* c; [ -e c/task.json ] || echo "{\"outputs\": {\"out\": {}}}" >c/task.json; touch c/archive.ndjson
	sed "/for (int i = 0; i < 40/,+1d; s/sum \* 0 + //; s/dim3(16, 4)/dim3(8, 8)/; s/grid_x, grid_y), d/grid_x * 2, (grid_y + 1) \/ 2), d/" c/reference.cu >winner
	back 1; grep -q "\.\./common/other.cuh is outside the project; adopt from the folder that contains both" err
	diff -r wide/common o/common; cmp wide/app/src/main.cu o/app/src/main.cu; [ ! -e c/common ]'

t 'a folder outside the project that is linked to the copy: kadopt does not write there' '
	rm -rf o; cp -r wide o
	exits 2 kadopt adopt -o o/common/c -p o/app --file src/scale.cu --kernel scale --build "sh build.sh" --run ./app --outputs out.txt --threads 1 --runs 1 || { cat out err; exit 1; }
	grep -q "common/scale.h: a link leads to .*, outside of the copies, where kadopt changes nothing" err
	diff -r -x c wide/common o/common'

t 'another instance of a template is launched: the old kernel stays next to the new one' '
	cp gpu/src/main.cu plain.cu; sed -i "/cudaDeviceSynchronize/i\\	blur<double, 1><<<grid, block>>>(wide, wide, w);" gpu/src/main.cu
	take src/blur.cuh blur out
	sed "/for (int i = 0; i < 40/,+1d; s/sum \* 0 + //; s/dim3(16, 4)/dim3(8, 8)/; s/grid_x, grid_y), d/grid_x * 2, (grid_y + 1) \/ 2), d/" c/reference.cu >winner
	back 0; cat out c/runs/blur/*/integrated.patch; grep -q "^ACCEPTED" out
	grep -q "blur<double, 1><<<grid, block>>>" p/src/main.cu; grep -q "blur_fast<float, 1><<<" p/src/blur.cuh; grep -q "^blur(const" p/src/blur.cuh
	grep -q "blur_launch(in, out, w.width, w.height, w.weight, grid.x, grid.y, 0)" p/src/main.cu
	cp plain.cu gpu/src/main.cu'

mkdir -p fixed/src
cat >fixed/src/main.cu <<'E'
#include <cstdio>
static __constant__ float gains[4];

__global__ void
tint(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; i < n && k < 1000; k++)
		x[i] = k ? x[i] : x[i] * gains[i & 3];
}

int
main()
{
	const int n = 2400;
	const float of[4] = { 1, 0.5f, 2, 1.5f };
	float *x, host[2400];
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = i % 13;
	cudaMalloc((void **)&x, n * sizeof(float));
	cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
	cudaMemcpyToSymbol(gains, of, sizeof of);
	for (int i = 0; i < 20; i++)
		tint<<<(n + 127) / 128, 128>>>(x, n);
	cudaDeviceSynchronize();
	cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++)
		fprintf(f, "%.5f\n", host[i]);
	return fclose(f);
}
E
echo 'nvcc -Isrc -o app src/main.cu' >fixed/build.sh
t 'constants that the application fills: the variable stays where the entry does, or its address is passed' '
	project=fixed take src/main.cu tint x
	grep -q "cudaMemcpyToSymbolAsync(gains, gains_, sizeof gains" c/reference.cu
	sed "s/for (int k = 0; i < n \\&\\& k < 1000; k++)/if (i < n)/; s/k ? x\[i\] : //" c/reference.cu >winner
	back 0; cat out; grep -q "^ACCEPTED" out; no "gains_" p/src/main.cu; grep -q "tint<<<" p/src/main.cu; grep -q "^static __constant__ float gains" p/src/main.cu; compiles
	project=fixed take src/main.cu tint x
	cat >winner <<E
__global__ void tint_all(float *x, int n, const float *by)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] *= by[i & 3];
}
extern "C" void
tint_launch(float *x, int n, const float *gains_, int grid_x, cudaStream_t stream)
{
	tint_all<<<8, 64, 0, stream>>>(x, n, gains_);
}
E
	back 0; cat out c/runs/tint/*/integrated.patch; grep -q "^ACCEPTED" out; grep -q "cudaGetSymbolAddress(&at_, gains)" p/src/main.cu; no "tint<<<" p/src/main.cu; compiles'

# Arrays in which a kernel does not change the old values: zeros in zeroed memory.
mkdir -p marks/src
cat >marks/src/main.cu <<'E'
#include <cstdio>
#define AT(array, i) array[i]
__global__ void
mark(const int *weights, int *ends, int *marked, int *count, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	ends[i] = weights[i] == -1 ? 1 : 0;
	marked[i] = 0;
	if (ends[i] > 1)
		count[0] += 1;
}

__global__ void
clear(int *array, int *other, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		AT(array, i) = 0, other[i] = i % 3;
}

int
main()
{
	const int n = 2400;
	int *x[4], host[2400];
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = i % 3 - 1;
	for (int i = 0; i < 4; i++)
		cudaMalloc((void **)&x[i], n * sizeof(int));
	cudaMemcpy(x[0], host, n * sizeof(int), cudaMemcpyHostToDevice);
	for (int i = 0; i < 5; i++) {
		mark<<<(n + 127) / 128, 128>>>(x[0], x[1], x[2], x[3], n);
		clear<<<(n + 127) / 128, 128>>>(x[2], x[0], n);
	}
	cudaDeviceSynchronize();
	cudaMemcpy(host, x[1], n * sizeof(int), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++)
		fprintf(f, "%d\n", host[i]);
	return fclose(f);
}
E
echo 'nvcc -Isrc -o app src/main.cu' >marks/build.sh
# A judge with a GPU on which inputs cannot be written; it reports only that there was a fault.
mkdir judge
cat >judge/kharness <<'E'
#!/bin/sh
case $* in *--solo* | *--lint*) exit 0 ;; esac
for out; do :; done
jq -n --slurpfile t task.json --argjson written "$WRITTEN" '{candidates: [{status: "run_error", correctness: {total: 1, passed: 0}, log: "an illegal address", reasons: [{check: "device_fault"}]} |
	if $written - ($t[0].outputs | keys) == [] then {status: "correct", correctness: {total: 1, passed: 1}, reasons: []} else . end]}' >"$out"
E
chmod +x judge/kharness
t 'an array that holds what was written to it before is an output all the same' '
	export WRITTEN="[\"count\", \"ends\", \"marked\"]" PATH="$T/judge:$PATH"
	project=marks take src/main.cu mark ends; rm c/task.json
	jq -e ".outputs | keys == [\"count\", \"ends\", \"marked\"]" c/adopt/task/task.json
	jq -e ".notes.told | length == 2 and any(. == \"count is written, though no call changed it\")" c/adopt/task/task.json
		jq -e ".entry.prototype | startswith(\"extern \\\"C\\\" void mark_launch(\") and endswith(\"cudaStream_t stream)\")" c/adopt/task/task.json
	jq -e ".description | contains(\"its entry, mark_launch, which must keep\") and contains(\"wherever it launches the kernel\") and contains(\"parameters of mark stay\")" \
		c/adopt/task/task.json
	export WRITTEN="[\"array\", \"other\"]"; project=marks take src/main.cu clear other; rm c/task.json
	jq -e ".outputs | keys == [\"array\", \"other\"]" c/adopt/task/task.json'

mkdir -p heat/src
cat >heat/src/heat.cu <<'E'
#include <cstdio>
#include <utility>
#define CHECK(x) do { if ((x) != 0) fprintf(stderr, "fault\n"); } while (0)

/* Every cell becomes the mean of its neighbours. */
__global__ void
diffuse(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; i < n && k < 100; k++)
		out[i] = 0.5f * in[i] + 0.25f * (in[i ? i - 1 : 0] + in[i + 1 < n ? i + 1 : i]);
}

__global__ void
warm(float *x, const float *source, int n, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += by * source[i];
}

/* Some steps, each from one array to the other. */
void
heat(float *x, float *next, const float *source, int n, int steps)
{
	const int threads = 128;

	for (int i = 0; i < steps; i++) {
		diffuse<<<(n + threads - 1) / threads, threads>>>(x, next, n);
		warm<<<(n + threads - 1) / threads, threads>>>(next, source, n, 0.5f);
		std::swap(x, next);
	}
	CHECK(cudaGetLastError());
	cudaDeviceSynchronize();
}

/* Both kernels once, through memory of its own. */
void
once(const float *x, float *y, int n)
{
	float *between;

	CHECK(cudaMalloc((void **)&between, n * sizeof(float)));
	cudaMemset(between, 0, n * sizeof(float));
	diffuse<<<(n + 63) / 64, 64>>>(x, between, n);
	cudaMemcpy(y, between, n * sizeof(float), cudaMemcpyDeviceToDevice);
	warm<<<dim3((n + 63) / 64), 64, 0, 0>>>(y, x, n, 2);
	cudaFree(between);
}

float
reads(float *x, int n)
{
	float sum;

	diffuse<<<1, n>>>(x, x, n);
	cudaMemcpy(&sum, x, 4, cudaMemcpyDeviceToHost);
	return sum;
}
void touches(float *x, int n)
{
	diffuse<<<1, n>>>(x, x, n);
	x[0] = 1;
}
void inner(float *x, int n, cudaStream_t own) { diffuse<<<1, n, 0, own>>>(x, x, n); }
void outer(float *x, int n)
{
	inner(x, n, 0);
	warm<<<1, n>>>(x, x, n, 1);
}
cudaStream_t global;
void elsewhere(float *x, int n) { diffuse<<<1, n, 0, global>>>(x, x, n); }
void chosen(float *x, int n, void (*f)(float *, int)) { f<<<1, n>>>(x, n); }
void early(float *x, int n)
{
	cudaMemsetAsync(x, 0, n * sizeof(float));
	diffuse<<<1, n>>>(x, x, n);
}
void sized(float *x, int n)
{
	cudaMemset(x, 0, n * sizeof *x + sizeof(x[0]) - sizeof(*x));
	diffuse<<<1, n>>>(x, x, n);
}
void peeks(float *x, int n) { diffuse<<<1, (int)*(x + 1)>>>(x, x, n); }
void flat(float *x, int n)
{
	cudaMemset2D(x, 4, 0, 4, n);
	diffuse<<<1, n>>>(x, x, n);
}
void cleared(float *x, int n) { cudaMemset(x, 0, n * sizeof(float)); }
void helped(float *x, int n)
{
	cleared(x, n);
	diffuse<<<1, n>>>(x, x, n);
}
void paused(float *x, int n, int wait)
{
	diffuse<<<1, n>>>(x, x, n);
	if (wait)
		cudaDeviceSynchronize();
	warm<<<1, n>>>(x, x, n, 1);
}
void none(float *x, int n) { for (int i = 0; i < n; i++) x[i] = 1; }
void asks(float *x, int n) { if (n && x[0] > 0) warm<<<1, n>>>(x, x, n, 1); }
void masks(int *x, int n) { if (n & x[0]) warm<<<1, n>>>((float *)x, (float *)x, n, 1); }
E
cat >heat/src/main.cu <<'E'
#include <cstdio>
void heat(float *x, float *next, const float *source, int n, int steps);
void once(const float *x, float *y, int n);

int
main()
{
	const int n = 2400;
	float *x, *next, *source, host[2400];
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = i % 13;
	cudaMalloc((void **)&x, n * sizeof(float));
	cudaMalloc((void **)&next, n * sizeof(float));
	cudaMalloc((void **)&source, n * sizeof(float));
	cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
	cudaMemcpy(source, host, n * sizeof(float), cudaMemcpyHostToDevice);
	for (int i = 0; i < 6; i++) {
		heat(x, next, source, n, 3);
		once(x, next, n);
	}
	cudaMemcpy(host, next, n * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++)
		fprintf(f, "%.4f\n", host[i]);
	return fclose(f);
}
E
echo 'nvcc -Isrc -o app src/main.cu src/heat.cu' >heat/build.sh

t 'a host function that launches kernels: listed with them, or with the reason why not' '
	kadopt list -p heat >out || :; cat out
	grep -q "^yes .*: heat, with the kernels diffuse, warm$" out; grep -q "^yes .*: once, with the kernels diffuse, warm$" out
	why() { grep -A 3 "^no  .*: $1$" out | grep -q "$2"; }
	why reads "launches kernels and returns a value"; why reads "copies from or to the host.s memory"
	why touches "the host reads or writes x itself, in line 65"; why asks "the host reads or writes x itself"; why masks "the host reads or writes x itself"; why outer "calls inner, which launches kernels: adopt that"
	why elsewhere "on the stream global, which is not a parameter"; why chosen "launches f, which is not a kernel of the project"
	why early "is not on the stream of the launches; adopt its kernels: .cudaMemsetAsync(x"; why none "launches no kernel itself, and its last parameter is not a stream"; grep -q "^yes .*: inner" out
	grep -q "^yes .*: sized, with" out; why peeks "the host reads or writes x itself"; why flat "not on the stream of the launches.*cudaMemset2D("; why helped "cleared .*not on the stream of the launches.*cudaMemset("
	kadopt list -p heat --json >all.json; jq -r "select(.function == \"paused\").unit.text" all.json >paused; grep -A 1 "if (wait)" paused | grep -q "^		;\$"
	jq -c "select(.function == \"heat\").unit" all.json >unit.json; /usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" unit-1 unit.json'

cat >judge/ncu <<'E'
#!/bin/sh
until [ "$1" = sh ]; do
	case $1 in --log-file) log=$2 ;; --kernel-name) names=$2 ;; --metrics) metrics=$2 ;; esac
	shift
done
[ "$names" = 'regex:^(diffuse|warm)$' ] && "$@" || exit 1
{ echo "==PROF=="; printf '"ID","Kernel Name","Block Size","Grid Size","%s"\n' "$(echo "$metrics" | sed 's/,/","/g')"
for name in diffuse warm; do
	printf '"0","%s(float *)","(64, 1, 1)","(38, 1, 1)","%s"\n' "$name" "$(echo "$metrics" | sed 's/[^,]*ffma[^,]*/7200/g; s/[a-z_]*\(__[^,]*\)/0/g; s/,/","/g')"
done; } >"$log"
E
chmod +x judge/ncu
t 'a loop of kernels with two arrays in turns: adopted as one function; the winner replaces kernels and launches' '
	export WRITTEN="[\"next\", \"x\"]"; project=heat more=--count PATH="$T/judge:$PATH" take src/heat.cu heat x; cat c/reference.cu
	grep -q "^work       4800 operations a call, by hardware counters$" out; jq -e ".flops == \"4800\"" c/adopt/task/task.json
	sed -n 2p c/adopt/observed.ndjson | jq -e ".args == {n: 2400, steps: 3} and .pointers.x.written and .pointers.next.written and .pointers.source.written == false"
	is 6 "$(sed 1d c/adopt/observed.ndjson | wc -l)"
	grep -q "^heat_launch(float \*x, float \*next, const float \*source, int n, int steps, cudaStream_t stream)$" c/reference.cu
	grep -q "		diffuse<<<(n + threads - 1) / threads, threads, 0, stream>>>(x, next, n);" c/reference.cu
	no "cudaDeviceSynchronize\|^heat(" c/reference.cu; grep -q "^/\* Some steps" c/reference.cu
	jq -e ".description | contains(\"launches these kernels: diffuse, warm. \") and contains(\"its entry, heat_launch, which is that function with a stream\")" c/adopt/task/task.json
	jq -e "(.outputs | keys == [\"next\", \"x\"]) and (.inputs | has(\"source\")) and (.axes | has(\"n\") and has(\"steps\"))" c/adopt/task/task.json
	cat >winner <<E
/* One kernel for both. */
__global__ void
diffuse(const float *in, float *out, const float *source, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = 0.5f * in[i] + 0.25f * (in[i ? i - 1 : 0] + in[i + 1 < n ? i + 1 : i]) + 0.5f * source[i];
}

extern "C" void
heat_launch(float *x, float *next, const float *source, int n, int steps, cudaStream_t stream)
{
	for (int i = 0; i < steps; i += 1) {
		float *from = i % 2 ? next : x, *to = i % 2 ? x : next;

		diffuse<<<16, 64, 0, stream>>>(from, to, source, n);
	}
}
E
	back 0; cat out c/runs/heat/*/integrated.patch; grep -q "^ACCEPTED" out
	grep -q "^	heat_launch(x, next, source, n, steps, 0);$" p/src/heat.cu; grep -q "^	cudaDeviceSynchronize();$" p/src/heat.cu
	grep -q "^heat(float \*x, float \*next, const float \*source, int n, int steps)$" p/src/heat.cu; is 1 "$(grep -c "Some steps" p/src/heat.cu)"
	cmp heat/src/main.cu p/src/main.cu; compiles
	# The other functions still launch the old kernel, so both stay.
	grep -q "heat_diffuse<<<16, 64, 0, stream>>>" p/src/heat.cu; grep -q "^diffuse(const float \*in, float \*out, int n)$" p/src/heat.cu'

t 'a sequence of kernels through memory of its own; kernels that nothing else uses are replaced' '
	rm -rf alone; cp -r heat alone; sed -i "/^void\$/N; /^void\nheat(/,/^}/d; /^float\$/,\$d" alone/src/heat.cu; sed -i "/heat(/d" alone/src/main.cu
	project=alone take src/heat.cu once y; cat c/reference.cu
	grep -q "CHECK(cudaMallocAsync((void \*\*)&between, n \* sizeof(float), stream));" c/reference.cu; grep -q "cudaFreeAsync(between, stream);" c/reference.cu
	grep -q "cudaMemcpyAsync(y, between, n \* sizeof(float), cudaMemcpyDeviceToDevice, stream);" c/reference.cu; grep -q "cudaMemsetAsync(between, 0, n \* sizeof(float), stream);" c/reference.cu
	grep -q "warm<<<dim3((n+63)/64), 64, 0, stream>>>(y, x, n, 2);" c/reference.cu
	cat >winner <<E
__global__ void
diffuse(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = 0.5f * in[i] + 0.25f * (in[i ? i - 1 : 0] + in[i + 1 < n ? i + 1 : i]) + 2 * in[i];
}

extern "C" void
once_launch(const float *x, float *y, int n, cudaStream_t stream)
{
	diffuse<<<(n + 63) / 64, 64, 0, stream>>>(x, y, n);
}
E
	back 0; cat out c/runs/once/*/integrated.patch; grep -q "^ACCEPTED" out
	no "warm\|k < 100\|cudaMalloc\|once_diffuse" p/src/heat.cu; is 1 "$(grep -c "^diffuse(" p/src/heat.cu)"; grep -q "^	once_launch(x, y, n, 0);$" p/src/heat.cu
	compiles'

t 'kernels of the sequence that another file uses stay, in a project with folders further up' '
	rm -rf p c deep; mkdir -p deep/common deep/group; cp -r alone deep/group/app; echo "typedef float value;" >deep/common/value.h
	printf "#include \"../../../common/value.h\"\n__global__ void warm(value *x, const value *source, int n, value by);\nvoid more(value *x, int n) { warm<<<1, n>>>(x, x, n, 1); }\n" >deep/group/app/src/more.cu
	echo "nvcc -Isrc -o app src/main.cu src/heat.cu src/more.cu" >deep/group/app/build.sh
	kadopt adopt -o c -p deep/group/app --file src/heat.cu --kernel once --build "sh build.sh" --run ./app --outputs out.txt --threads 1 --runs 1 >out 2>err || :
	[ -s c/adopt/extract.json ] || { cat out err; exit 1; }
	cp c/adopt/task/reference.* c; [ -e c/task.json ] || echo "{\"outputs\": {\"y\": {}}}" >c/task.json; touch c/archive.ndjson
	kadopt integrate -c c --gate 0.05 >out 2>err || { cat out err; exit 1; }
	grep -q "^warm(float" deep/group/app/src/heat.cu'

units=$tests_dir/apps/units
export units
for folder in "$units"/*; do
	name=${folder##*/}
	export name
	t "tests/apps/units/$name: the patch builds" '
		rm -rf u; cp -r "$units/$name" u; rm u/winner.cu
		build="make -s" project=u run=300
		read -r file kernel array <"$units/$name/unit"
		take "$file" "$kernel" "$array"
		jq -r .text c/adopt/unit.json >entry; sed "/^ENTRY$/{r entry
			d
			}" "$units/$name/winner.cu" >winner
		kadopt integrate -c c --gate 0.05 >out 2>err || :
		cat out err c/runs/*/*/integrated.patch; cp -r c/adopt/real/winner.files/. p; compiles'
done

t 'what a task does not call, or a launch does not give, is refused by name; nothing is changed' '
	take src/scale.cu scale x
	sed "s/extern \"C\" void/& /; s/scale_launch(float \*x, int n,/scale_launch(float *x, long n,/" c/reference.cu >winner
	back 1; grep -q "signature: (float\*,long,float,int,cudaStream_t), but it was (float\*,int,float,int,cudaStream_t)" err
	sed "s/ x\[i\] \* by/ x[i] * nothing/" c/reference.cu >winner
	back 1; grep -q "does not build in the project" err; sums | cmp - before'

t 'killed between the files: the next kadopt restores all of them' '
	cp gpu/build.sh plain.sh
	printf "%s\n" "case \$PWD in */p) [ ! -e \"\$T/kill\" ] || { rm \"\$T/kill\"; kill -9 \$(cat \"\$T/pid\"); sleep 9; } ;; esac" | cat - plain.sh >gpu/build.sh
	export T; take src/blur.cuh blur out
	sed "/for (int i = 0; i < 40/,+1d; s/sum \* 0 + //; s/dim3(16, 4)/dim3(8, 8)/; s/grid_x, grid_y), d/grid_x * 2, (grid_y + 1) \/ 2), d/" c/reference.cu >winner
	touch kill; (sh -c "echo \$\$ >pid; exec kadopt integrate -c c --gate 0.05") >out 2>err || :
	grep -q blur_launch p/src/main.cu; grep -q blur_launch p/src/other.cu; jq -es ".[-1].files | length == 3" c/adopt/journal.ndjson
	exits 0 kadopt repair -c c; sums | cmp - before; is "" "$(find p -name "*kadopt-new")"
	back 0; grep -q "^ACCEPTED" out; cp plain.sh gpu/build.sh'

# C, with structures, a result, and macros.
mkdir -p plain/lib
cat >plain/lib/vec.h <<'E'
#ifndef VEC_H
#define VEC_H
#define REAL float
#define MATRIX(x, n, m) x[n][m]
struct field { int rows, cols; REAL *cells; double sums[4]; int steps; void (*seen)(struct field *); };
#ifdef __GNUC__
#define PURE __attribute__((noinline))
#endif
/* The sum of products, slowly. */
static PURE REAL
dot(const REAL *a, const REAL *b, int n)
{
	volatile REAL sum = 0;

	for (int k = 0; k < 30; k++) {
		sum = 0;
		for (int i = 0; i < n; i++)
			sum += a[i] * b[i];
	}
	return sum;
}
#endif
E
cat >plain/main.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include "vec.h"
static const int slow = 40;

/* How much; only relax needs it. */
static REAL
part(REAL x, REAL factor)
{
	volatile REAL y = 0;

	for (int i = 0; i < slow; i++)
		y = factor * x;
	return y;
}

/* One step, and the number of steps. */
int
relax(struct field *f, const REAL *source, REAL factor /* of the source */)
{
	for (int i = 0; i < f->rows * f->cols; i++)
		f->cells[i] += part(source[i], factor);
	f->sums[f->steps % 4] += factor;
	return ++f->steps;
}

int
main(void)
{
	struct field f = { 120, 100, malloc(12000 * sizeof(REAL)), { 0 }, 0, 0 };
	REAL *source = malloc(12000 * sizeof(REAL)), sum = 0;
	FILE *out = fopen("out.txt", "w");

	for (int i = 0; i < 12000; i++)
		f.cells[i] = 1, source[i] = (REAL)(i % 7) / 8;
	for (int n = 0; n < 5; n++) {
		relax(&f, source, 0.5f);
		sum += dot(f.cells, source, 12000);
	}
	fprintf(out, "%g %g %d\n", sum, f.sums[1], f.steps);
	return fclose(out);
}
E
echo 'cc -O1 -std=gnu11 -Wall -Wextra -Werror -Ilib -o app main.c' >plain/build.sh

t 'C: a structure and a result: the body goes in; head, comments and defaults stay' '
	project=plain take main.c relax f_cells
	sed "s/part(source\[i\], factor)/factor * source[i]/; /^static REAL/,/^}/d; /How much/d; /slow = /d" c/reference.c >winner
	back 0; cat out c/runs/relax/*/integrated.patch; grep -q "^ACCEPTED" out
	grep -q "^relax(struct field \*f, const REAL \*source, REAL factor /\* of the source \*/)$" p/main.c; grep -q "^int$" p/main.c
	no "part\|slow\|How much\|relax_entry" p/main.c; grep -q "^/\* One step" p/main.c; cmp plain/lib/vec.h p/lib/vec.h'

t 'C: work in the entry itself: the function calls it' '
	project=plain take main.c relax f_cells
	sed -n "/^relax_entry/,/^{/p" c/reference.c >head
	{ printf "static void add(float *to, const float *from, int n, float by)\n{\n\tfor (int i = 0; i < n; i++)\n\t\tto[i] += by * from[i];\n}\nvoid\n"; cat head
		printf "\tadd(f_cells, source, f_rows * f_cols, factor);\n\tf_sums[*f_steps %% 4] += factor;\n\t*result = ++*f_steps;\n}\n"; } >winner
	cat winner
	back 0; cat out c/runs/relax/*/integrated.patch; grep -q "^ACCEPTED" out
	grep -q "relax_entry(f->rows, f->cols, f->cells, f->sums, &f->steps, source, factor, &result);" p/main.c; grep -q "^	return result;" p/main.c
	grep -q "^relax(struct field \*f, const REAL \*source, REAL factor /\* of the source \*/)$" p/main.c'

mkdir none
cat >none/main.c <<'E'
#include <stdio.h>
#include <stdlib.h>
static const int slow = 60;

/* A mask may leave some out. */
void
mix(const float *a, const float *mask, float *b, int n)
{
	for (int i = 0; i < n; i++) {
		volatile float x = 0;

		for (int k = 0; k < slow; k++)
			x = a[i] * 0.5f;
		if (!mask || mask[i] > 0)
			b[i] += x;
	}
}

int
main(void)
{
	float *a = calloc(12000, sizeof *a), *b = calloc(12000, sizeof *b);
	FILE *out = fopen("out.txt", "w");

	for (int i = 0; i < 12000; i++)
		a[i] = (float)(i % 7);
	for (int n = 0; n < 5; n++)
		mix(a, NULL, b, 12000);
	fprintf(out, "%g\n", b[5]);
	return fclose(out);
}
E
echo 'cc -O1 -o app main.c' >none/build.sh
t 'C: an argument that was always null: the body goes in, and nothing else may' '
	project=none take main.c mix b
	sed "s/^	mix(a, mask, b, n);/	for (int i = 0; i < n; i++)\n\t\tb[i] += a[i] * 0.5f;/" c/reference.c >winner
	no "mix(a, mask, b, n);" winner
	back 1; grep -q "mix_entry works outside of mix, which may also be called with other pointers" out err
	sed "s/k < slow/k < 1/; /slow = /d" c/reference.c >winner
	back 0 --again; cat out c/runs/mix/*/integrated.patch; grep -q "^ACCEPTED" out
	grep -q "^mix(const float \*a, const float \*mask, float \*b, int n)$" p/main.c; grep -q "if (!mask ||" p/main.c; no "mix_entry\|slow" p/main.c'

mkdir branch; cp -r plain/. branch
awk '/^\/\* How much/ { print "#ifndef NO_RELAX" }
	{ print }
	/return ..f->steps/ { last = 1 }
	last && /^}/ { print "#else\nint\nrelax_not(struct field *f)\n{\n\treturn f->rows;\n}\n#endif"; last = 0 }' plain/main.c >branch/main.c
t 'C: inside #if: the winner comes into the same branch; the other one stays' '
	project=branch take main.c relax f_cells
	sed "s/part(source\[i\], factor)/twice(factor) * source[i] \/ 2/; /^static REAL/,/^}/d; /How much/d; /slow = /d; s/^int\$/static REAL twice(REAL x) { return x + x; }\n&/" c/reference.c >winner
	back 0; cat out c/runs/relax/*/integrated.patch; grep -q "^ACCEPTED" out
	awk "/^#ifndef NO_RELAX/ { on = 1 } /^#else/ { on = 0 } on && /twice/ { n++ } END { exit n < 2 }" p/main.c
	no "part\|slow" p/main.c; grep -q "^relax_not" p/main.c'

t 'C: a static function of a header, with an attribute by a macro' '
	project=plain take lib/vec.h dot result
	sed "s/k < 30/k < 1/; s/volatile //" c/reference.c >winner
	back 0; cat out c/runs/dot/*/integrated.patch; grep -q "^ACCEPTED" out; grep -q "^static PURE REAL$" p/lib/vec.h; cmp plain/main.c p/main.c'

t 'the model mends a patch that does not build: it sees the errors of the compiler, and its answers are looked at' '
	cat >model.sh <<E
n=\$((\$(cat "\$T/asked" || echo 0) + 1))
echo \$n >"\$T/asked"
cat >"\$T/prompt.\$n"
echo "\\\`\\\`\\\`c"
case \$n in
1) echo "int relax(struct field *f) { /* ... the rest as before */ }" ;;
2) sed "s/REAL factor/double factor/" "\$T/mended" ;;
*) cat "\$T/mended" ;;
esac
echo "\\\`\\\`\\\`"
E
	project=plain take main.c relax f_cells
	for f in c/adopt.json c/campaign.json; do jq ".model = {provider: \"exec:T=$T sh $T/model.sh\"}" $f >x && mv x $f; done
	sed "s/part(source\[i\], factor)/factor * source[i]/; /^static REAL/,/^}/d; /How much/d; /slow = /d" c/reference.c >winner
	sed -i "0,/^{/s//&\n\tint left;/" winner
	sed "s/part(source\[i\], factor)/factor * source[i]/; /^static REAL/,/^}/d; /How much/d; /slow = /d" p/main.c >mended
	back 0; cat err out; grep -q "^ACCEPTED" out; is 3 "$(cat asked)"
	for n in 1 2 3; do grep -q "unused variable" prompt.$n; done; grep -q "leaves something out" prompt.2; grep -q "another definition of relax" prompt.3; cmp mended p/main.c'

mkdir over
cat >over/over.cu <<'E'
#include <cstdio>
__global__ void mark(float *x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * 0.5f + i; }
__global__ void mark(double *x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] + 1; }
template <typename T> static double run(int n)
{
	T *x;
	double sum = 0;

	cudaMalloc((void **)&x, n * sizeof(T));
	for (int i = 0; i < n; i++) x[i] = i;
	for (int r = 0; r < 5; r++) mark<<<1, 4>>>(x, n);
	for (int i = 0; i < n; i++) sum += x[i];
	return sum;
}
int main() { FILE *f = fopen("out.txt", "w"); fprintf(f, "%g %g\n", run<float>(400), run<double>(300)); return fclose(f); }
E
ok 'one of two overloads of a kernel, both of which a launch in a template may mean: a winner changes its body' '
	. ./helpers.sh
	project=over build="nvcc -o app over.cu" take over.cu mark x
	jq -es "map(.args.n | numbers) == [400, 400, 400, 400, 400]" c/adopt/observed.ndjson
	jq -r .description c/adopt/task/task.json | grep "must keep the name and parameters of mark, and the whole text of mark_launch"'
done_testing
