#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on ten small programs, each in a common style: none was written for kiln, no question is asked, and each
# becomes a campaign whose reference gives the application's results. For the GPU kernel, a stub replaces the
# run-time library, so that test ends with the configurations.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir net fft rate sum hash pack poly far graph gpu bin
# A network: buffers are slices of one piece of memory, weights another one.
cat >net/run.c <<'EOF'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { float *x, *xb, *hb; } RunState;
void matmul(float* xout, float* x, float* w, int n, int d) {
    // W (d,n) @ x (n,) -> xout (d,)
    int i;
    #pragma omp parallel for private(i)
    for (i = 0; i < d; i++) {
        float val = 0.0f;
        for (int j = 0; j < n; j++) {
            val += w[i * n + j] * x[j];
        }
        xout[i] = val;
    }
}
int main(void) {
    int dim = 96, hidden = 256;
    float *w = malloc(2 * dim * hidden * sizeof(float)), *all = calloc(2 * dim + hidden + 64, sizeof(float));
    RunState s = { all, all + dim, all + 2 * dim };
    for (int i = 0; i < 2 * dim * hidden; i++) w[i] = (i * 31 % 101) / 101.f - 0.5f;
    for (int i = 0; i < dim; i++) s.x[i] = i % 7 - 3.f;
    for (int t = 0; t < 12; t++) {
        matmul(s.hb, s.x, w, dim, hidden);
        matmul(s.xb, s.hb, w + dim * hidden, hidden, dim);
        for (int i = 0; i < dim; i++) s.x[i] = tanhf(s.xb[i]);
    }
    for (int i = 0; i < dim; i += 8) printf("%.4f\n", s.x[i]);
}
EOF
# A transform: macros, complex numbers as structures, twiddles behind a state.
cat >fft/bfly.h <<'EOF'
#define C_MUL(m, a, b) do { (m).r = (a).r * (b).r - (a).i * (b).i; (m).i = (a).r * (b).i + (a).i * (b).r; } while (0)
#define C_SUB(res, a, b) do { (res).r = (a).r - (b).r; (res).i = (a).i - (b).i; } while (0)
#define C_ADDTO(res, a) do { (res).r += (a).r; (res).i += (a).i; } while (0)
#ifndef scalar
#define scalar float
#endif
typedef struct { scalar r, i; } cpx;
typedef struct state { int nfft, inverse; const cpx *twiddles; } *cfg;
EOF
cat >fft/fft.c <<'EOF'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "bfly.h"
static void bfly2(cpx *Fout, const size_t fstride, const struct state *st, int m)
{
	cpx *Fout2 = Fout + m;
	const cpx *tw1 = st->twiddles;
	cpx t;
	do {
		C_MUL(t, *Fout2, *tw1);
		tw1 += fstride;
		C_SUB(*Fout2, *Fout, t);
		C_ADDTO(*Fout, t);
		++Fout2;
		++Fout;
	} while (--m);
}
int main(void)
{
	enum { N = 2048 };
	cpx *tw = malloc(N * sizeof *tw), *data = malloc(N * sizeof *data);
	struct state st = { N, 0, tw };
	for (int i = 0; i < N; i++) tw[i] = (cpx){ cosf(6.2831853f * i / N), -sinf(6.2831853f * i / N) }, data[i] = (cpx){ i % 5, i % 3 };
	for (int r = 0; r < 9; r++)
		bfly2(data, 1, &st, N / 2);
	printf("%.3f %.3f\n", data[7].r, data[N - 1].i);
}
EOF
# A filter: a state with pointers, counts in unsigned, a result.
cat >rate/rate.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
typedef struct { unsigned filt_len, frac; float *mem; const float *table; int magic; } Resampler;
static int resample(Resampler *st, const float *in, unsigned in_len, float *out)
{
	unsigned n = 0;
	for (unsigned i = 0; i + st->filt_len <= in_len; i += 2) {
		float sum = 0;
		for (unsigned j = 0; j < st->filt_len; j++)
			sum += st->table[j] * in[i + j];
		out[n++] = sum;
	}
	st->frac = n & 7;
	return (int)n;
}
int main(void)
{
	float table[48], *in = malloc(9000 * sizeof *in), *out = malloc(9000 * sizeof *out);
	Resampler st = { 48, 0, NULL, table, 99 };
	int n = 0;
	for (int i = 0; i < 48; i++) table[i] = 1.f / (1 + i);
	for (int i = 0; i < 9000; i++) in[i] = (float)(i * 37 % 211) / 211;
	for (int r = 0; r < 9; r++) n += resample(&st, in, 9000, out);
	printf("%d %u %.5g\n", n, st.frac, out[100]);
}
EOF
# A checksum: bytes, and a result of 32 bits.
cat >sum/adler.c <<'EOF'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define DIVISOR 65521
#define MAX_CHUNK 5552
uint32_t adler32(uint32_t adler, const void *buffer, size_t len)
{
	const uint8_t *p = buffer;
	uint32_t s1 = adler & 0xFFFF, s2 = adler >> 16;
	const uint8_t *const end = p + len;
	while (p != end) {
		size_t n = (size_t)(end - p) < MAX_CHUNK ? (size_t)(end - p) : MAX_CHUNK;
		for (size_t i = 0; i < n; i++) {
			s1 += *p++;
			s2 += s1;
		}
		s1 %= DIVISOR;
		s2 %= DIVISOR;
	}
	return (s2 << 16) | s1;
}
int main(void)
{
	uint8_t *data = malloc(60000);
	uint32_t a = 1;
	for (int i = 0; i < 60000; i++) data[i] = (uint8_t)(i * 131 >> 3);
	for (int r = 0; r < 9; r++) a = adler32(a, data, 60000);
	printf("%08x\n", a);
}
EOF
# A hash in a header: static inline, rotations, 64 bits.
cat >hash/hash.h <<'EOF'
#ifndef HASH_H
#define HASH_H
#include <stdint.h>
#include <string.h>
#define ROTL(x, r) (((x) << (r)) | ((x) >> (64 - (r))))
static const uint64_t P1 = 0x9E3779B185EBCA87ULL, P2 = 0xC2B2AE3D27D4EB4FULL;
static inline uint64_t hash_round(uint64_t acc, uint64_t input) { return ROTL(acc + input * P2, 31) * P1; }
static inline uint64_t hash_long(const void *input, size_t len, uint64_t seed)
{
	const uint8_t *p = (const uint8_t *)input;
	uint64_t v[4] = { seed + P1 + P2, seed + P2, seed, seed - P1 };
	for (size_t i = 0; i + 32 <= len; i += 32)
		for (int k = 0; k < 4; k++) {
			uint64_t word;
			memcpy(&word, p + i + 8 * k, 8);
			v[k] = hash_round(v[k], word);
		}
	return ROTL(v[0], 1) + ROTL(v[1], 7) + ROTL(v[2], 12) + ROTL(v[3], 18);
}
#endif
EOF
cat >hash/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include "hash.h"
int main(void)
{
	unsigned char *data = malloc(64000);
	uint64_t h = 0;
	for (int i = 0; i < 64000; i++) data[i] = (unsigned char)(i * 7 ^ i >> 5);
	for (int r = 0; r < 9; r++) h ^= hash_long(data, 64000, 42);
	printf("%llx\n", (unsigned long long)h);
}
EOF
# A decoder: tokens determine how much is read and written.
cat >pack/lz.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
typedef unsigned char BYTE;
#if defined(__GNUC__)
#define likely(x) __builtin_expect(!!(x), 1)
#else
#define likely(x) (x)
#endif
static int unpack(const char *src, char *dst, int srcSize)
{
	const BYTE *ip = (const BYTE *)src, *end = ip + srcSize;
	BYTE *op = (BYTE *)dst;
	while (likely(ip < end)) {
		unsigned token = *ip++, lit = token >> 4, match = (token & 15) + 4;
		while (lit--) *op++ = *ip++;
		if (ip < end) {
			const BYTE *from = op - (1 + *ip++ % 8);
			if (from < (BYTE *)dst) from = (BYTE *)dst;
			while (match--) *op++ = *from++;
		}
	}
	return (int)(op - (BYTE *)dst);
}
int main(void)
{
	int n = 0, size = 0;
	char *src = malloc(40000), *dst = malloc(400000);
	while (n < 20000) {
		int lit = 8 + n % 7;
		src[n++] = (char)(lit << 4 | (n * 5 & 15));
		for (int k = 0; k < lit; k++) src[n++] = (char)(k * 17 + n);
		src[n++] = (char)(n * 3);
	}
	for (int r = 0; r < 9; r++) size = unpack(src, dst, n);
	printf("%d %d\n", size, dst[size / 2]);
}
EOF
# A benchmark: arrays that macros declare.
cat >poly/jacobi.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#define DATA_TYPE double
#define N 120
#define _PB_N n
#define POLYBENCH_2D(var, dim1, dim2, ddim1, ddim2) var[ddim1][ddim2]
static void kernel_jacobi(int tsteps, int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n), DATA_TYPE POLYBENCH_2D(B, N, N, n, n))
{
	for (int t = 0; t < tsteps; t++) {
		for (int i = 1; i < _PB_N - 1; i++)
			for (int j = 1; j < _PB_N - 1; j++)
				B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
		for (int i = 1; i < _PB_N - 1; i++)
			for (int j = 1; j < _PB_N - 1; j++)
				A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
	}
}
int main(void)
{
	DATA_TYPE (*a)[N] = malloc(sizeof(DATA_TYPE[N][N])), (*b)[N] = malloc(sizeof(DATA_TYPE[N][N]));
	for (int i = 0; i < N * N; i++) a[0][i] = (i % 17) / 17., b[0][i] = (i % 13) / 13.;
	for (int r = 0; r < 5; r++) kernel_jacobi(4, N, a, b);
	printf("%.9f\n", a[N / 2][N / 3]);
}
EOF
# C++: a namespace, a template, a vector type.
# Macros may have any name; a type may be named only where the template is used, an operator only by its sign.
cat >far/gain.h <<'EOF'
#define T float
#define A 0.01
typedef T piece;
template <typename S> struct rate { S of; };
template <typename S> inline S operator*(rate<S> r, S by) { return r.of * by; }
template <typename S> inline S operator/(rate<S> r, S by) { return by / r.of; }
EOF
cat >far/gain.cpp <<'EOF'
#include <cstdio>
#include <cstddef>
#include <algorithm>
#include <vector>
#include "gain.h"
using namespace std;
namespace audio {
template <typename S>
void envelope(const S *in, S *out, size_t n, S attack)
{
	const rate<S> r = { attack };
	S level = 0;
	for (size_t i = 0; i < n; ++i) {
		S x = max(in[i], -in[i]);
		level += r * (x - level);
		out[i] = level;
	}
}
template <> inline void envelope<double>(const double *in, double *out, size_t n, double attack) { out[n - 1] = in[0] * attack; }
}
int main()
{
	std::vector<T> in(30000), out(30000);
	std::vector<double> fine(30000), smooth(30000);
	for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 23) - 11;
	for (int r = 0; r < 9; ++r) audio::envelope<piece>(in.data(), out.data(), in.size(), A);
	for (int r = 0; r < 20; ++r) audio::envelope(fine.data(), smooth.data(), fine.size(), A);
	std::printf("%.4f\n", out[29999]);
}
EOF
# A graph: rows of neighbours, distances that are read and written, how many were new.
cat >graph/bfs.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
static int relax_level(const int *rows, const int *edges, int nodes, int level, int *dist)
{
	int found = 0;
	for (int u = 0; u < nodes; u++)
		if (dist[u] == level)
			for (int k = rows[u]; k < rows[u + 1]; k++)
				if (dist[edges[k]] < 0) {
					dist[edges[k]] = level + 1;
					found++;
				}
	return found;
}
int main(void)
{
	enum { N = 6000, D = 5 };
	int *rows = malloc((N + 1) * sizeof *rows), *edges = malloc(N * D * sizeof *edges), *dist = malloc(N * sizeof *dist), level = 0;
	for (int u = 0; u < N; u++) {
		rows[u] = u * D, dist[u] = u ? -1 : 0;
		for (int k = 0; k < D; k++) edges[u * D + k] = (u * 7 + k * 1237 + 1) % N;
	}
	rows[N] = N * D;
	while (relax_level(rows, edges, N, level, dist)) level++;
	printf("%d %d\n", level, dist[N - 1]);
}
EOF
# A GPU: a kernel in main's file, launched with a block size that main computes.
cat >gpu/saxpy.cu <<'EOF'
#include <stdio.h>
__global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = a * x[i] + y[i];
}
int main()
{
	const int n = 1 << 16, threads = 256;
	float *x, *y;
	cudaMalloc((void **)&x, n * sizeof(float));
	cudaMalloc((void **)&y, n * sizeof(float));
	for (int r = 0; r < 6; r++)
		saxpy<<<(n + threads - 1) / threads, threads>>>(n, 2.0f, x, y);
	return 0;
}
EOF
sed -n '/^cat >stub.h/,/^chmod/p' "$tests_dir/adopt-units.t" >stub.sh
# shellcheck source=/dev/null
. ./stub.sh
cc -shared -fPIC -o libcudart.so "$tests_dir/apps/cudart-stub.c"
STUB=$T PATH=$T/bin:$PATH
export STUB

cat >helpers.sh <<'EOF'
# take FOLDER FILE FUNCTION BUILD: adopt it, and let the campaign judge the reference.
take() {
	exits 0 kadopt adopt -o "c-$1" -p "$1" --file "$2" --kernel "$3" --build "$4" --run "./app >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000 --provider "exec:false" || { cat out err; return 1; }
	brisk "c-$1"
	# Trial 0 is the reference; after that the provider has no more replies.
	kcampaign run -c "c-$1" -n 1 >log 2>&1 || :
	jq -es "map(.eval.status? // empty) | .[0] == \"correct\"" "c-$1/trials/000/00/eval.ndjson" || { cat log; return 1; }
}
EOF
t() { ok "$1" '. ./helpers.sh; '"$2"; }

t 'a network, whose buffers are slices of one piece of memory' 'take net run.c matmul "gcc -O2 -o app run.c -lm"'
t 'a transform, with complex numbers as structures and macros for arithmetic' 'take fft fft.c bfly2 "gcc -O2 -o app fft.c -lm"'
t 'a filter with a state and a result' 'take rate rate.c resample "gcc -O2 -o app rate.c"'
t 'a checksum of bytes' 'take sum adler.c adler32 "gcc -O2 -o app adler.c"'
t 'a hash in a header' 'take hash hash.h hash_long "gcc -O2 -o app main.c"'
t 'a decoder, whose data say how much is written' 'take pack lz.c unpack "gcc -O2 -o app lz.c"'
t 'a benchmark, whose arrays are declared by macros' 'take poly jacobi.c kernel_jacobi "gcc -O2 -o app jacobi.c"'
t 'C++: a template in a namespace, of which only the calls with the same type count' '
	take far gain.cpp envelope "g++ -O2 -o app gain.cpp"
	grep -q "operator\*" c-far/reference.*; not grep -q "operator/" c-far/reference.*
	sed 1d c-far/adopt/observed.ndjson | jq -es "length == 9 and all(.pointers.in.room == 120000)"'
# A level is found from some of the edges, and, with other distances, from any.
t 'a graph' 'take graph bfs.c relax_level "gcc -O2 -o app bfs.c"
	jq -e ".workloads | map(.axes.edges_elements) | length > 0 and all(. == 30000)" c-graph/task.json'
t 'a kernel of a GPU, seen by its launches' '
	kadopt observe -c c-gpu -p gpu --file saxpy.cu --kernel saxpy --build "nvcc saxpy.cu" --run ./app --runs 1
	kadopt configs -c c-gpu
	jq -e ".configs | length == 1 and .[0].block == [256, 1, 1] and .[0].grid == [256, 1, 1] and .[0].scalars.n == 65536 and .[0].calls == 6" c-gpu/adopt/configs.json'

done_testing
