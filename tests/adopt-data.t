#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on small programs whose data have a meaning: indices, sorted keys, bytes, masks, structures. No question is
# asked: the recorded calls are the workloads.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir app
cat >app/k.h <<'EOF'
#include <stdbool.h>
#include <stdint.h>
struct point { float x, y, z; };
void spmv(int rows, const int *rowptr, const int *col, const float *val, const float *x, float *y);
void expand(const uint8_t *packed, int n, const uint16_t *table, uint8_t *out);
void places(const float *keys, int n, const float *wanted, int m, int *at);
void settle(float *v, const bool *keep, int n);
int number(const uint8_t *used, int n, uint8_t *places);
void centre(const struct point *p, int n, float *at);
void eights(const int *v, int n, int *out);
void weigh(int n, int rows, const float *x, float *y, const float *by);
EOF
cat >app/k.c <<'EOF'
#include <stdio.h>
#include "k.h"
/* A sparse matrix, its rows one after the other, times a vector. */
void spmv(int rows, const int *rowptr, const int *col, const float *val, const float *x, float *y)
{
	for (int i = 0; i < rows; i++) {
		float sum = 0;

		for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
			sum += val[k] * x[col[k]];
		y[i] = sum;
	}
}
/* Runs: a length and a symbol each, whose value a table has. */
void expand(const uint8_t *packed, int n, const uint16_t *table, uint8_t *out)
{
	for (int i = 0; i < n; i += 2)
		for (int k = 0; k < packed[i]; k++)
			*out++ = (uint8_t)(table[packed[i + 1]] >> 4);
}
/* Where each wanted number is among ascending keys. */
void places(const float *keys, int n, const float *wanted, int m, int *at)
{
	for (int j = 0; j < m; j++) {
		int low = 0, high = n;

		while (low < high) {
			int middle = (low + high) / 2;

			if (keys[middle] < wanted[j])
				low = middle + 1;
			else
				high = middle;
		}
		at[j] = low;
	}
}
/* Not what settle names so. */
void keep(const char *why)
{
	perror(why);
}
/* TODO: the edges, as before */
void settle(float *v, const bool *keep, int n)
{
	for (int i = 1; i + 1 < n; i++)
		if (!keep[i])
			v[i] = 0.25f * (v[i - 1] + 2 * v[i] + v[i + 1]);
}
/* Numbers for what is used. */
int number(const uint8_t *used, int n, uint8_t *places)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		if (used[i])
			places[i] = (uint8_t)count++;
	return count;
}
void centre(const struct point *p, int n, float *at)
{
	float x = 0, y = 0, z = 0;

	for (int i = 0; i < n; i++) {
		x += p[i].x;
		y += p[i].y;
		z += p[i].z;
	}
	at[0] = x / n;
	at[1] = y / n;
	at[2] = z / n;
}
/* Turns every eight around; what is left over is anything. */
void eights(const int *v, int n, int *out)
{
	static unsigned anything;

	for (int i = 0; i < n; i++)
		out[i] = i < n / 8 * 8 ? v[i ^ 7] : (int)((uintptr_t)&anything + ++anything);
}
void weigh(int n, int rows, const float *x, float *y, const float *by)
{
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < n; i++)
			y[r * n + i] += x[r * n + i] + by[i];
}
EOF
cat >app/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "k.h"
enum { ROWS = 3000, COLS = 2000, RUNS = 4000, KEYS = 5000, WANTED = 3000, N = 20000 };
static int rowptr[ROWS + 1], at[WANTED];
static float x[COLS], y[ROWS], keys[KEYS], wanted[WANTED];
int main(int argc, char **argv)
{
	int n = 0, bytes = 0, *col = malloc(ROWS * 17 * sizeof *col);
	float *val = malloc(ROWS * 17 * sizeof *val), *pad = malloc((N + 3) * sizeof *pad), *v = pad + 3, middle[3] = { 0 };
	uint8_t *packed = malloc(2 * RUNS), *out;
	uint16_t *table = malloc(256 * sizeof *table);
	bool *keep = malloc(N * sizeof *keep);
	uint8_t used[256], numbers[256] = { 0 };
	struct point *p = malloc(N * sizeof *p);
	float *block = calloc(323, sizeof *block), *weighed = calloc(323, sizeof *weighed), *by = calloc(32, sizeof *by);
	double sum = 0;

	for (int i = 0; i < ROWS; i++) {
		rowptr[i] = n;
		for (int k = 0; k < i % 17; k++, n++)
			col[n] = (i * 7 + k * 131) % COLS, val[n] = 1.f / (1 + k);
	}
	rowptr[ROWS] = n;
	for (int i = 0; i < COLS; i++) x[i] = i % 13 - 6.5f;
	for (int i = 0; i < 256; i++) table[i] = (uint16_t)(i * 37);
	for (int i = 0; i < RUNS; i++) packed[2 * i] = (uint8_t)(i % 8), packed[2 * i + 1] = (uint8_t)(i % 200), bytes += i % 8;
	out = malloc(bytes);
	for (int i = 0; i < KEYS; i++) keys[i] = i * 0.75f + i % 3 * 0.1f;
	for (int i = 0; i < WANTED; i++) wanted[i] = (float)(i * 7919 % 40000) * 0.1f;
	for (int i = 0; i < N; i++) v[i] = (float)(i * 31 % 977), keep[i] = i % 5 == 0;
	for (int i = 0; i < N; i++) p[i] = (struct point){ (float)(i % 11), (float)(i % 7), (float)(i % 3) };
	for (int r = 0; r < 12; r++) {
		if (!strcmp(argv[1], "spmv")) spmv(ROWS, rowptr, col, val, x, y);
		if (!strcmp(argv[1], "expand")) expand(packed, 2 * RUNS, table, out);
		if (!strcmp(argv[1], "places")) places(keys, KEYS, wanted, WANTED, at);
		if (!strcmp(argv[1], "settle")) settle(v, keep, N);
		if (!strcmp(argv[1], "centre")) centre(p, N, middle);
		if (!strcmp(argv[1], "eights")) eights(rowptr, ROWS, at);
		for (int i = 0; i < 320; i++) block[i] = i % 7 - r, by[i % 32] = i % 5;
		if (!strcmp(argv[1], "weigh")) weigh(32, 10, block, weighed, by);
		for (int i = 0; i < 256; i++) used[i] = i % 3 == 0;
		if (!strcmp(argv[1], "number")) sum += number(used, 256, numbers);
	}
	for (int i = 0; i < ROWS; i += 10) sum += y[i] + at[i % WANTED] + v[i] + (strcmp(argv[1], "expand") ? 0 : out[i]);
	(void)argc;
	printf("%.6g %.6g\n", sum, middle[1]);
	return 0;
}
EOF
cat >helpers.sh <<'EOF'
take() {
	f=$1
	shift
	exits 0 kadopt adopt -o "c-$f" -p app --file k.c --kernel "$f" --build "gcc -O1 -o app main.c k.c" --run "./app $f >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000 "$@" || { cat out err; return 1; }
}
EOF

ok 'sizes at which the reference is wrong are left out' '
	. ./helpers.sh
	take eights
	grep -q "invented workloads on which the reference itself fails are left out: .*check_17" err
	jq -e "(.workloads | length == 1) and (.notes.told | any(startswith(\"only one workload is left, top1, so\")))" c-eights/task.json
	grep -q "only one workload is left, top1, so nothing shows whether a program is right at other sizes" err
'
ok 'integers on which no shape depends are not drawn where that is not safe, nor are sizes near such a workload' '
	. ./helpers.sh
	take weigh
	jq -e ".axes.rows.fixed and (.axes.n.fixed | not) and .inputs.x.shape == [323]" c-weigh/task.json
	jq -e "[.workloads[].name] | contains([\"check_17\", \"check_rows_9\"]) and index(\"check_rows_11\") == null" c-weigh/task.json
	grep -q "crashes with other values of rows, which is not a size" err; grep -q "near which the reference crashes are left out: .*check_rows_11" err'
ok 'indices: sizes that no argument determines are those of the recorded call' '
	. ./helpers.sh
	take spmv
	jq -e ".inputs.col.dtype == \"int32\" and (.workloads | length == 1) and (.workloads[0].values | map_values(.file) == {rowptr: \"recorded/top1.rowptr.npy\", col: \"recorded/top1.col.npy\", val: \"recorded/top1.val.npy\", x: \"recorded/top1.x.npy\"})" c-spmv/task.json
	grep -q "invented workloads on which the reference crashes are left out: check_.*, check_" err
	grep -q "record     top1: 5 arrays, .* MB" out; grep -q "no prompt shows them" out
	jq -e ".entry.prototype == \"void spmv(int rows, const int *rowptr, const int *col, const float *val, const float *x, float *y)\"" c-spmv/task.json
	(cd c-spmv && keval --inputs --reference) | grep -q recorded/top1.col.npy
	kcampaign check -c c-spmv && kadopt check -c c-spmv'
ok 'bytes: other symbols in the same structure, if the reference accepts them' '
	. ./helpers.sh
	take expand
	jq -e ".inputs.packed.dtype == \"uint8\" and .inputs.table.dtype == \"uint16\" and .outputs.out.dtype == \"uint8\" and .notes.oracle == \"self\"" c-expand/task.json
	jq -e ".workloads[0].values.table == {file: \"recorded/top1.table.npy\", fresh: true}" c-expand/task.json'
ok 'sorted keys' '
	. ./helpers.sh
	take places
	jq -e ".outputs.at.dtype == \"int32\" and .workloads[0].values.keys.file" c-places/task.json'
ok 'a mask, an address of its own, and a comment that says TODO' '
	. ./helpers.sh
	take settle
	jq -e ".inputs.keep.dtype == \"bool\" and .outputs.v.align == 4 and .outputs.v.inout and .workloads[0].values.keep.file" c-settle/task.json
	jq -e ".eval.threads == 1" c-settle/campaign.json
	not grep "void keep" c-settle/reference.c'
ok 'a mask that is the same in all calls: zeros and ones are drawn' '
	. ./helpers.sh
	take number
	jq -e ".workloads[0].values.used == {file: \"recorded/top1.used.npy\", fresh: true}" c-number/task.json'
ok 'nothing is recorded beyond the limit, and a message says so' '
	. ./helpers.sh
	kadopt adopt -o c-none -p app --file k.c --kernel spmv --build "gcc -O1 -o app main.c k.c" --run "./app spmv >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000 --record-mb 0 2>err || :
	grep -q "spmv: .*val.* of top1, .* MB, would exceed --record-mb 0, so they are not recorded" err
	[ ! -e c-none/adopt/recorded ]'

# Two calls, of which only one fits a limit.
mkdir two
cat >two/k.c <<'EOF'
void pick(int n, const int *at, const float *table, float *out)
{
	for (int i = 0; i < n; i++)
		out[i] = table[(unsigned)at[i] * 100ul];
}
void mix(int n, const int *at, const float *x, float *out)
{
	for (int i = 0; i < n; i++)
		out[i] = x[i] * (at[i] & 3);
}
EOF
cat >two/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void pick(int n, const int *at, const float *table, float *out);
void mix(int n, const int *at, const float *x, float *out);
int main(int argc, char **argv)
{
	double sum = 0;

	for (int r = 0; r < 8; r++) {
		int n = r % 4 ? 5000 : 300000, m = argv[1][0] == 'p' ? 10000 : n;
		int *at = malloc(n * sizeof *at);
		float *x = malloc(m * sizeof *x), *out = malloc(n * sizeof *out);

		for (int i = 0; i < n; i++) at[i] = i * 31 % 100, out[i] = 0;
		for (int i = 0; i < m; i++) x[i] = (float)(i * 7919L % 1007) / 10;
		if (!strcmp(argv[1], "pick")) pick(n, at, x, out);
		if (!strcmp(argv[1], "mix")) mix(n, at, x, out);
		for (int i = 0; i < n; i += 100) sum += out[i];
		free(at), free(x), free(out);
	}
	(void)argc;
	printf("%.6g\n", sum);
	return 0;
}
EOF
cat >few.sh <<'EOF'
few() {
	kadopt adopt -o "c-$1" -p two --file k.c --kernel "$1" --build "gcc -O1 -o app main.c k.c" --run "./app $1 >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000 --record-mb "$2"
}
EOF
ok 'of the arrays, indices are recorded first, and those that do not fit are invented' '
	. ./few.sh
	exits 0 few mix 2
	grep -q "mix: x, out of top1, .* MB, would exceed --record-mb 2, so they are not recorded" err
	jq -e "[.workloads[] | select(.timed) | {name, values: (.values | keys)}] == [{name: \"top1\", values: [\"at\"]}, {name: \"top2\", values: [\"at\", \"x\"]}]" c-mix/task.json'
ok 'a call on which the reference crashes because its indices were not recorded is left out' '
	. ./few.sh
	exits 0 few pick 1
	jq -e "[.workloads[] | select(.timed).name] == [\"top2\"]" c-pick/task.json
	grep -q "top1 is left out: the reference crashes on it, and at was not recorded there; --record-mb 4 records everything" err'
ok 'if there is no other call, the message says how much has to be recorded' '
	. ./few.sh
	sed -i "s/r % 4 ? 5000 : 300000/300000/" two/main.c
	rm -rf c-pick
	exits 2 few pick 0
	grep -q "crashes on top1, .*: at is invented there, because it was not recorded (--record-mb 4 records everything)" err'

mkdir sys
cat >sys/k.c <<'EOF'
#include <stdio.h>
#if defined(HAVE_CPUID_H)
#include <cpuid.h>
#endif
#if defined(__x86_64__)
static inline unsigned cpuid(void) { unsigned a = 1, b, c = 0, d; __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)); return d; }
#else
static inline unsigned cpuid(void) { return 1; }
#endif
#ifdef __clang__
#define WIDE _Pragma("clang attribute push(__attribute__((hot)), apply_to = function)")
#else
#define WIDE
#endif
void scale(int n, const int *x, int *y)
{
	WIDE
	for (int i = 0; i < n; i++)
		y[i] = x[i] * 3;
}
int main(void)
{
	static int x[6000], y[6000];

	for (int i = 0; i < 6000; i++) x[i] = i * 7919 % 1009;
	for (int r = 0; r < 6; r++) scale(3000 + 1000 * (r % 3), x, y);
	printf("%d %d\n", y[77], cpuid() != 0);
	return 0;
}
EOF
ok 'the name of a header is no name of a function; of macros that the judge rejects, only those in use count' '
	exits 0 kadopt adopt -o c-scale -p sys --file k.c --kernel scale --build "gcc -O1 -o app k.c" --run "./app >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000
	not grep "cpuid(\|_Pragma" c-scale/reference.c'

mkdir arena
cat >arena/k.c <<'EOF'
#include <string.h>
struct filter { int taps; float *line; const float *weights; };
/* Input and output are in one piece of memory, and the weights on the caller's stack. */
void blend(int rows, int cols, const float *in, const float *weights, float *out)
{
	#pragma omp parallel for
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < cols; j++)
			out[i * cols + j] = in[i * cols + j] * weights[j];
}
/* The same behind members of a structure. */
void shift(struct filter *f, const float *in, int n)
{
	for (int i = 0; i < n; i++) {
		float sum = 0;

		for (int k = 0; k < f->taps; k++)
			sum += f->weights[k] * in[i + k];
		f->line[i] = sum;
	}
}
/* How much it writes depends on the data. */
int pack(const unsigned char *from, int n, unsigned char *to)
{
	int at = 0;

	for (int i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && k - i < 255 && from[k] == from[i]; k++)
			continue;
		to[at++] = (unsigned char)(k - i);
		to[at++] = from[i];
	}
	return at;
}
/* Where it writes is a number that it keeps. */
void append(int *at, const float *x, int n, float *to)
{
	for (int i = 0; i < n; i++)
		to[*at + i] = x[i] * 0.5f;
	*at = (*at + n) % 1000;
}
/* A chain that leads out of its array if its steps are others. */
void chain(const unsigned char *steps, int n, unsigned short *to)
{
	for (int i = 0, at = 0; i < n && steps[0] < 9; i++) {
		to[i] = steps[at];
		at += steps[at];
	}
}
/* The next bits, from a place that leads out of the data if it is another number. */
struct bits { int count, at; unsigned char data[600]; };
int take_bits(struct bits *b, int n)
{
	int got = 0;

	for (; n && b->at < b->count; b->at++, n--)
		got = got << 1 | (b->data[b->at >> 3] >> (7 - (b->at & 7)) & 1);
	return got;
}
/* How far it reads depends on where two texts differ. */
int common(const unsigned char *a, const unsigned char *b, int most)
{
	int i = 0;

	while (i < most && i < 258 && a[i] == b[i])
		i++;
	return i;
}
/* Some of its arrays are larger than needed, by less than a page. */
unsigned total(const unsigned char *data, int n)
{
	unsigned sum = 1;

	for (int i = 0; i < n; i++)
		sum = sum * 31 + data[i];
	return sum;
}
/* The parents of a node, whose number is another one in every call. */
float upwards(const float *x, const int *parent, int c)
{
	float p = 1;

	for (; c > 0; c = parent[c])
		p *= x[c];
	return p;
}
/* It reads nothing, and the rest of the table stays as it is. */
void marks(int n, signed char *order, int table[400][400])
{
	for (int i = 0; i < n; i++)
		order[i] = (signed char)((i + 1) % 4);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			table[i][j] = 0;
}
/* What follows on the stack depends on where the array is. */
static int __attribute__((noinline)) spread(const int *x, int n)
{
	const int *volatile at[64];
	int sum = 0;

	for (int i = 0; i < 64; i++)
		at[i] = x + i * 37 % n;
	for (int i = 0; i < 64; i++)
		sum += *at[i];
	return sum;
}
/* It sets every second number of a line, and keeps the whole line. */
static void __attribute__((noinline)) keep(const int *x, int n, int sum, int *last)
{
	int line[128];

	for (int i = 1; i < 128; i += 2)
		line[i] = x[i % n] ^ sum;
	memcpy(last, line, sizeof line);
}
void carry(const int *x, int n, int *last)
{
	keep(x, n, spread(x, n), last);
}
/* The number at a place of a heap, which begins at 1, sinks. */
void sift(unsigned *heap, int length, int at)
{
	unsigned v = heap[at];

	for (int child; (child = 2 * at) <= length; at = child) {
		child += child < length && heap[child + 1] > heap[child];
		if (v >= heap[child])
			break;
		heap[at] = heap[child];
	}
	heap[at] = v;
}
/* Each number from the one before: two arguments, one array. */
void scan(const float *from, float *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = to[i] * 0.5f + from[i];
}
/* The same, but not all calls have one array. */
void scan_some(const float *from, float *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = to[i] * 0.5f + from[i];
}
/* Repeats what was written a little earlier, in steps that may write beyond the end. */
static inline void repeat(unsigned char *to, const unsigned char *from, unsigned char *end, const size_t by)
{
	do {
		for (int i = 0; i < 8; i++)
			to[i] = from[i];
		to += 8;
		from += by < 8 ? 8 / by * by : 8;
	} while (to < end);
}
/* From the end to the beginning. */
void turned(const float *from, float *end, int n)
{
	for (int i = 0; i < n; i++)
		*--end = from[i] * 2;
}
/* How many bytes are the same before these places, at most. */
int alike(const unsigned char *a, const unsigned char *b, int most)
{
	int n = 0;

	while (n > -most && a[n - 1] == b[n - 1])
		n--;
	return n;
}
/* In place. */
static void smooth(const float *x, const float *by, float *y, int n)
{
	float last = 0;

	for (int i = 0; i < n; i++) {
		float sum = x[i] + by[0] * last;

		last = x[i];
		y[i] = sum;
	}
}
void smooth_all(float *x, int n)
{
	static const float by[1] = { 0.5f };

	smooth(x, by, x, n);
}
int unfold(unsigned char *text, const unsigned short *parts, int n)
{
	unsigned char *to = text + 16;

	for (int i = 0; i < n; i++) {
		repeat(to, to - 1 - parts[i] % 5, to + parts[i] / 5, 1 + parts[i] % 5);
		to += parts[i] / 5;
	}
	return (int)(to - text);
}
EOF
cat >arena/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct filter { int taps; float *line; const float *weights; };
void blend(int rows, int cols, const float *in, const float *weights, float *out);
void shift(struct filter *f, const float *in, int n);
void scan(const float *from, float *to, int n);
void scan_some(const float *from, float *to, int n);
int unfold(unsigned char *text, const unsigned short *parts, int n);
void turned(const float *from, float *end, int n);
int alike(const unsigned char *a, const unsigned char *b, int most);
void smooth_all(float *x, int n);
int pack(const unsigned char *from, int n, unsigned char *to);
void append(int *at, const float *x, int n, float *to);
void chain(const unsigned char *steps, int n, unsigned short *to);
unsigned total(const unsigned char *data, int n);
struct bits { int count, at; unsigned char data[600]; };
int take_bits(struct bits *b, int n);
int common(const unsigned char *a, const unsigned char *b, int most);
float upwards(const float *x, const int *parent, int c);
void marks(int n, signed char *order, int table[400][400]);
void carry(const int *x, int n, int *last);
void sift(unsigned *heap, int length, int at);
int main(int argc, char **argv)
{
	float *arena = malloc(1 << 22), *ends = calloc(2500, sizeof *ends), *in = arena + 1000, *out = arena + 500000, weights[333];
	static unsigned short zeros[401];
	static signed char order[400];
	static int table[400][400];
	int parent[400], at = 0;
	struct filter f = { 21, out, weights };
	double sum = 0;

	(void)argc;
	for (int i = 0; i < 1 << 20; i++) arena[i] = (float)(i * 31 % 977) / 977;
	for (int i = 0; i < 333; i++) weights[i] = 1.f / (1 + i);
	for (int r = 0; r < 9; r++) {
		int rows = 100 + 50 * (r % 3), cols = 111 * (1 + r % 3);

		if (!strcmp(argv[1], "blend")) blend(rows, cols, in, weights, out);
		if (!strcmp(argv[1], "shift")) shift(&f, in, rows * 100);
		if (!strcmp(argv[1], "scan")) scan(in, in + 1, rows * 100);
		if (!strcmp(argv[1], "scan_some")) scan_some(r % 2 ? weights : in, in + 1, r % 2 ? 333 : 10000);
		if (!strcmp(argv[1], "turned")) turned(in, ends + rows * 9, rows * 9), sum += ends[r];
		if (!strcmp(argv[1], "smooth")) smooth_all(in, rows * 9);
		if (!strcmp(argv[1], "append")) append(&at, in, 1000, out);
		if (!strcmp(argv[1], "marks")) marks(400, order, table), sum += order[7] + table[3][r];
	}
	for (int r = 0; r < 60 && !strcmp(argv[1], "sift"); r++) {
		unsigned *heap = (unsigned *)arena + 1000 + 100 * (r % 3);

		for (int i = 1; i <= 40; i++) heap[i] = (unsigned)(i * 31 % 977 + r);
		sift(heap, r % 2 ? 40 : 1, r % 2 ? 1 + r % 8 : 1);
		sum += heap[40];
	}
	for (int r = 0; r < 9 && !strcmp(argv[1], "pack"); r++) {
		unsigned char *bytes = (unsigned char *)arena;

		for (int i = 0; i < 4000; i++) bytes[i] = (unsigned char)(i / (r < 2 ? 100 : 20 - r));
		sum += pack(bytes, 4000, bytes + 500000);
	}
	for (int r = 0; r < 9 && !strcmp(argv[1], "chain"); r++) {
		unsigned char *steps = malloc(700);

		for (int i = 0; i < 700; i++) steps[i] = i % 5 ? 2 : 1;
		*steps = r % 2 ? 9 : 1;
		chain(steps, 400 + r % 2, r % 2 ? zeros : (unsigned short *)out);
		sum += ((unsigned short *)out)[7];
	}
	for (int r = 0; r < 9 && !strcmp(argv[1], "total"); r++) {
		int n = 9000 + 1000 * (r % 3);
		unsigned char *data = malloc(n + (r % 3 == 2 ? 900 : 0));

		for (int i = 0; i < n; i++) data[i] = (unsigned char)(i * 7 + r);
		sum += total(data, n);
	}
	for (int r = 0; r < 60 && !strcmp(argv[1], "take_bits"); r++) {
		static struct bits b = { 687 };

		for (int i = 0; i < 600 && !r; i++) b.data[i] = (unsigned char)(i * 31 % 253);
		sum += take_bits(&b, r % 3 ? 8 : 4) + r;
	}
	for (int r = 0; r < 60 && !strcmp(argv[1], "common"); r++) {
		unsigned char *bytes = (unsigned char *)arena;

		for (int i = 0; i < 60000 && !r; i++) bytes[i] = (unsigned char)(i % 900 / (1 + i % 7 / 6));
		sum += common(bytes + 900 * r + 5 * (r % 4), bytes + 900 * r + 901 + 4 * (r % 5), 3000 - r);
	}
	for (int r = 0; r < 60 && !strcmp(argv[1], "alike"); r++) {
		unsigned char *text = malloc(5000);

		for (int i = 0; i < 5000; i++) text[i] = (unsigned char)(i % (900 + r));
		sum += alike(text + 1200 + r, text + 300, 290);
	}
	for (int r = 0; r < 9 && !strcmp(argv[1], "repeat"); r++) {
		unsigned char *text = malloc(65536);
		unsigned short parts[600];

		for (int i = 0; i < 600; i++) parts[i] = (unsigned short)(100 + i * 7 % 250);
		for (int i = 0; i < 65536; i++) text[i] = (unsigned char)(i * 11 + r);
		sum += unfold(text, parts, 600) + text[500];
	}
	for (int c = 0; c < 400 && !strcmp(argv[1], "upwards"); c++) {
		if (!c) for (int i = 0; i < 400; i++) parent[i] = i / 2;
		sum += upwards(in, parent, c);
	}
	for (int r = 0; r < 3 && !strcmp(argv[1], "carry"); r++) {
		int *x = malloc(900 * sizeof *x), *last = malloc(128 * sizeof *last);

		for (int i = 0; i < 900; i++) x[i] = i * 7919 % 1000;
		carry(x, 900, last);
		sum += last[5];
	}
	for (int i = 0; i < 10000; i += 10) sum += out[i] + in[i];
	printf("%.6g\n", sum);
	return 0;
}
EOF
cat >>helpers.sh <<'EOF'
arena() {
	f=$1
	shift
	kadopt adopt -o "a-$f" -p arena --file k.c --kernel "$f" --build "gcc -O2 -fopenmp -o app main.c k.c" --run "./app $f >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000 "$@"
}
EOF
ok 'arrays in one piece of memory and on the stack: what calls touch is measured, and no question is asked' '
	. ./helpers.sh
	exits 0 arena blend
	jq -e ".inputs.in.shape == [\"rows\", \"cols\"] and .outputs.out.shape == [\"rows\", \"cols\"] and .inputs.weights.shape == [\"cols\"]" a-blend/task.json
	jq -e ".workloads | map(.name | startswith(\"check\")) | any" a-blend/task.json
	sed 1d a-blend/adopt/observed.ndjson | head -1 | jq -e ".pointers | .in.reach == 44400 and .out.reach == 44400 and .weights.room == 444"'
ok 'only so many calls are written down and, while arrays are saved, only those of the saved calls' '
	noted() { # VARIABLE: the lines of a run
		rm -f raw.*; (cd a-blend/adopt/watch/copy; env "$1" KWATCH_OUT="$T/raw" LD_PRELOAD="${kadopt%/*}/kwatch.so" ./app blend >out.txt)
		grep -c rows raw.[0-9]* || :; tail -n 1 raw.[0-9]*
	}
	kadopt=$(command -v kadopt); jq -r "select(.args.rows == 150 and .args.cols == 222) | \"one 1 \(.key)\"" a-blend/adopt/observed.ndjson | head -n 1 >wanted
	is "9 {\"end\":true,\"calls\":9,\"written\":9}" "$(noted X=1 | paste -sd" ")"
	is "4 {\"end\":true,\"calls\":9,\"written\":4}" "$(noted KWATCH_MAX=4 | paste -sd" ")"
	is "2 {\"end\":true,\"calls\":9,\"written\":2}" "$(noted KWATCH_SAVE="$T/wanted" | paste -sd" ")"
	[ -s wanted.one.in.before.npy ]'
ok 'the same for arrays that a structure points to' '
	. ./helpers.sh
	exits 0 arena shift
	sed 1d a-shift/adopt/observed.ndjson | head -1 | jq -e ".pointers | .f_line.reach == 40000 and .f_weights.room == 84 and .in.reach == 40080"
	jq -e ".outputs.f_line.shape == [\"n\"] and .inputs.f_weights.shape == [\"f_taps\"] and .inputs.in.shape == [\"f_taps+n-1\"]" a-shift/task.json'
ok 'a recorded call that touches more than the calls that were measured' '
	. ./helpers.sh
	exits 0 arena pack
	jq -e ".workloads | length == 1 and .[0].axes.to_elements > 80" a-pack/task.json'
ok 'a shape is too small if one of several calls with parts of a block touches more' '
	. ./helpers.sh
	exits 0 arena sift
	jq -e ".outputs.heap.shape != [\"at+1\"]" a-sift/task.json'
ok 'a number that says where to write is not taken for a mere output before that is known' '
	. ./helpers.sh
	exits 0 arena append
	jq -e ".workloads[0].values.x.fresh != false" a-append/task.json'
ok 'results that depend on nothing but what cannot be drawn anew' '
	. ./helpers.sh
	exits 0 arena chain
	jq -e ".workloads | any(.axes.n == 400)" a-chain/task.json
	kadopt adopt -c a-chain --shape "steps=n+299" 2>err || cat err
	not grep -q "recorded/.* holds .* elements, but" err'
ok 'integers that only depend on a size' '
	. ./helpers.sh
	exits 0 arena marks
	grep -q "its results only depend on sizes and numbers" err
	jq -e ".inputs == {} and (.workloads | any(.name == \"check_17\") and all(.values // {} | all(.fresh != true)))" a-marks/task.json'
ok 'what a function copies without setting it does not count' '
	. ./helpers.sh
	exits 0 arena carry
	grep -q "it copies parts of variables that it never set into its results, so programs are compiled with" err
	jq -e ".build.flags | any(. == \"-ftrivial-auto-var-init=zero\")" a-carry/task.json
	jq -e ".eval.status == \"correct\"" a-carry/adopt/log/reference.ndjson
	exits 0 kadopt task -c a-carry'
ok 'an array whose memory is larger than needed in a few calls has the shape of the others' '
	. ./helpers.sh
	exits 0 arena total
	jq -e ".inputs.data.shape == [\"n\"]" a-total/task.json'
ok 'a number that differs in every call is not a size, whatever its name' '
	. ./helpers.sh
	arena upwards || :
	# Calls whose times fall into two groups count as two.
	jq -e ".groups <= 2 and .calls == 400" a-upwards/adopt/configs.json'
ok 'arrays that overlap in one block in every call are one array' '
	. ./helpers.sh
	exits 0 arena scan
	jq -e ".entry.arguments == [\"from\", \"to_at\", \"n\"] and .outputs.from.inout" a-scan/task.json
	jq -r .description a-scan/task.json | grep "In every observed call of the application to points into the array from, which the function changes"
	jq -e ".assumed == {joined: {to: \"from\"}} and (.text | contains(\"scan(from, (float *)from + to_at, n)\"))" a-scan/adopt/unit.json
	jq -e ".pointers.from.written and .pointers.from.reach == 40004" a-scan/adopt/observed.ndjson | grep -q true
	exits 0 arena repeat
	jq -ec ".entry.arguments | .[:3] == [\"to_at\", \"from\", \"end_at\"]" a-repeat/task.json
	# The same entry after another preflight.
	exits 0 kadopt adopt -c a-scan --shape "from=n+1"; jq -e ".assumed == {joined: {to: \"from\"}}" a-scan/adopt/unit.json; not grep -q "observing again" err'
ok 'a pointer before which a function reads or writes: the block, and the place in it' '
	. ./helpers.sh
	exits 0 arena turned
	jq -e ".entry.arguments == [\"from\", \"end_block\", \"n\", \"end_at\"] and (.outputs | has(\"end_block\"))" a-turned/task.json
	jq -r .description a-turned/task.json | grep "reads or writes elements before the one that end points to: the entry gets the whole array, and the place"
	exits 0 arena alike
	jq -e ".inputs | has(\"a_block\") and has(\"b_block\")" a-alike/task.json'
ok 'numbers that say where to read, or how far, are only those of the recorded calls' '
	. ./helpers.sh
	exits 0 arena take_bits
	jq -e ".workloads | all(.timed)" a-take_bits/task.json
	grep "invented workloads .* left out: .*check_.*, check_" err
	exits 0 arena common
	jq -e "[.workloads[].values[] | objects] | length > 1 and all(.fresh != true)" a-common/task.json'
ok 'one array under two names, of which one is only for reading' '
	. ./helpers.sh
	exits 0 arena smooth
	jq -e ".outputs.x.inout and (.entry.arguments == [\"x\", \"by\", \"n\"])" a-smooth/task.json'
ok 'an array that overlaps a written one in some calls only is refused by name' '
	. ./helpers.sh
	exits 2 arena scan_some
	grep -q "scan_some: in a call of the application, from (40000 bytes) reaches into to, which begins after 4, so they cannot be two arrays" err'

mkdir alone
cat >alone/k.c <<'EOF'
float gain = 1;
/* Pairs, added up. */
void halve(int rows, int cols, const float *in, float *out)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < cols / 2; j++)
			out[i * (cols / 2) + j] = in[i * cols + 2 * j] + in[i * cols + 2 * j + 1];
}
void loud(const float *in, float *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = gain * in[i];
}
void sums(const float *in, float *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = i ? 0.5f * in[i - 1] + in[i] : in[i];
}
EOF
cat >alone/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern float gain;
void halve(int rows, int cols, const float *in, float *out);
void loud(const float *in, float *out, int n);
void sums(const float *in, float *out, int n);
int main(int argc, char **argv)
{
	float *a = malloc(120000 * sizeof *a), *b = malloc(120000 * sizeof *b);

	(void)argc;
	for (int i = 0; i < 120000; i++) a[i] = (float)(i % 97), b[i] = 0;
	for (int r = 0; r < 12; r++) {
		if (!strcmp(argv[1], "halve")) halve(300, 400, a, b);
		if (!strcmp(argv[1], "loud")) gain = 1 + r % 2, loud(a, b, r % 2 ? 5000 : 120000);
		if (!strcmp(argv[1], "sums")) sums(a, a, 5000);
	}
	printf("%.6g\n", b[77] + a[11]);
	return 0;
}
EOF
cat >>helpers.sh <<'EOF'
alone() {
	f=$1
	shift
	kadopt adopt -o "o-$f" -p alone --file k.c --kernel "$f" --build "gcc -O1 -o app main.c k.c" --run "./app $f >out.txt" --outputs out.txt --runs 1 --proxy 0.0001,10000 "$@"
}
EOF
ok 'an invented size at which an array would have no element is not used' '
	. ./helpers.sh
	exits 0 alone halve --shape "in=rows*cols" --shape "out=rows*(cols/2)"
	jq -e ".workloads | map(.name) | contains([\"check_3_5\"]) and (index(\"check_1_1\") | not)" o-halve/task.json'
ok 'calls in which the standalone reference gives other results than the application are left out, and named' '
	. ./helpers.sh
	exits 0 alone loud --shape in=n --shape out=n
	grep -q "top[0-9]* is left out: alone, the reference gives different results there than in the application (out: element [0-9]* is [0-9]*, and was [0-9]* there)" err
	jq -e ".workloads | map(select(.timed)) | length > 0 and all(.axes.n == 120000)" o-loud/task.json'
ok 'an array that is read after it was written under another name does not count as such a call' '
	. ./helpers.sh
	exits 2 alone sums --shape in=n --shape out=n
	grep -q "sums alone does not give the application.s results in top1.* (.*: element [0-9]* is .*), so it depends on more than its arguments: .*arrays that overlap" err'

done_testing
