#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on functions in the style of codecs: headers whose guard follows their includes, prototypes in conditions, a name
# that is a macro or a function, blocks of 64 bytes, filters in place, structures that are sorted by way of a variable.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir lib
cat >lib/arch.h <<'EOF'
#ifndef ARCH_H
#define ARCH_H
#include <stddef.h>
#include <stdint.h>
#ifdef FIXED
#include "fixed.h"
#else
#define SHIFT(a, by) ((a) >> (by))
#endif
#endif
EOF
cat >lib/fixed.h <<'EOF'
#ifndef FIXED_H
#define FIXED_H
#include <stdio.h>
static inline unsigned SHIFT(unsigned a, int by)
{
	if (by < 0)
		fprintf(stderr, "by %d\n", by);
	return a >> by;
}
#endif
EOF
cat >lib/log.h <<'EOF'
#if !defined(LOG_H)
# define LOG_H (1)
# if defined(WIDE)
#  define WIDTH(x) (64 - __builtin_clzl(x))
# else
#  define WIDTH(x) (32 - __builtin_clz(x))
# endif
#endif
EOF
cat >lib/coder.h <<'EOF'
#include "arch.h"
#if !defined(CODER_H)
# define CODER_H (1)
# include "log.h"
struct coder { const unsigned char *from; uint32_t low; int at; };
struct mode { int bits; const short *rows; };
struct bands { const struct mode *mode; int last; };
struct leaf { int weight; struct leaf *next; };
typedef int status;
typedef status (*sink)(const void *from, int n);
struct window { sink put; int probes; uint8_t dict[40000]; uint16_t next[20000]; };
# ifdef WIDE
int next_bits(struct coder *c, long n);
extern const long steps[4];
# else
int next_bits(struct coder *c, int n);
extern const int steps[4];
# endif
#endif
EOF
cat >lib/coder.c <<'EOF'
#include "coder.h"
#ifdef WIDE
const long steps[4] = { 1, 2, 3, 5 };
#else
const int steps[4] = { 1, 2, 3, 5 };
#endif
#ifdef FIXED
long
#else
unsigned
#endif
next_byte(struct coder *c)
{
	return c->from[c->at++ & 255] | 1u << 8;
}
#ifndef WIDE
int next_bits(struct coder *c, int n)
{
	unsigned now = next_byte(c);
	c->low = SHIFT(c->low + now * 40503u, 1);
	return c->low % (1u << n) + WIDTH(now);
}
#endif
EOF
cat >lib/k.c <<'EOF'
#include <stdlib.h>
#include <string.h>
#include "coder.h"
void decode(struct coder *c, int *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = next_bits(c, 5) + steps[i & 3];
}
void digest(const uint8_t *in, size_t blocks, uint32_t *state)
{
	for (size_t b = 0; b < blocks; b++, in += 64)
		for (int i = 0; i < 64; i++)
			state[i & 7] = (state[i & 7] ^ in[i]) * 16777619u;
}
void smooth(const float *x, float *y, int n, float *last)
{
	for (int i = 0; i < n; i++)
		y[i] = *last = 0.5f * x[i] + 0.25f * *last;
}
void differ(const float *x, float *y, int n, int back)
{
	for (int i = 0; i < n; i++)
		y[i] = x[i] - x[i - back];
}
void spread(struct bands *b, const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = x[i] * b->mode->bits + b->mode->rows[i & 1];
	b->last = n;
}
void sort(struct leaf *leaves, int n)
{
	struct leaf *more = malloc(n * sizeof *more);
	int odd = 0;
	for (int width = 1; width < n; width *= 2, odd = !odd) {
		struct leaf *a = odd ? more : leaves, *b = odd ? leaves : more;
		for (int p = 0; p < n; p += 2 * width) {
			int q = p + width < n ? p + width : n, r = q + width < n ? q + width : n;
			for (int i = p, j = q, k = p; k < r; k++)
				b[k] = i < q && (j >= r || a[i].weight <= a[j].weight) ? a[i++] : a[j++];
		}
	}
	if (odd)
		memcpy(leaves, more, n * sizeof *leaves);
	free(more);
}
void paint(const uint8_t *in, int n, const uint8_t *palette, const uint8_t *mask, uint8_t *out)
{
	for (int i = 0; i < n; i++)
		out[i] = palette ? palette[in[i] & 15] : in[i] & mask[i & 7];
}
int match(struct window *w, int at, int from)
{
	int best = 0;
	for (int i = 0; i < (w->probes & 31) && from; i++, from = w->next[from % 20000]) {
		int n = 0;
		while (n < 200 && w->dict[at + n] == w->dict[from + n])
			n++;
		best = n > best ? n : best;
	}
	return best;
}
int unpack(const uint8_t *in, int n, uint8_t *start, uint8_t *out)
{
	if (out < start || in[0] != 0x78)
		return -1;
	for (int i = 1; i < n; i++)
		for (int k = out[i] = in[i]; k > 200; k /= 2)
			out[i] += start[(i * 7 + k) % i];
	return (int)(out - start);
}
EOF
cat >lib/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "coder.h"
void decode(struct coder *c, int *out, int n);
void digest(const uint8_t *in, size_t blocks, uint32_t *state);
void smooth(const float *x, float *y, int n, float *last);
void differ(const float *x, float *y, int n, int back);
void spread(struct bands *b, const float *x, float *y, int n);
void sort(struct leaf *leaves, int n);
void paint(const uint8_t *in, int n, const uint8_t *palette, const uint8_t *mask, uint8_t *out);
int match(struct window *w, int at, int from);
int unpack(const uint8_t *in, int n, uint8_t *start, uint8_t *out);
int main(void)
{
	unsigned char *bytes = malloc(20000), *block = calloc(64, 1);
	int *out = calloc(3000, sizeof *out);
	float *x = calloc(3000, sizeof *x), *y = calloc(3000, sizeof *y), last = 0;
	uint32_t state[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	short rows[2] = { 7, 9 };
	struct mode mode = { 3, rows };
	struct bands bands = { &mode, 0 };
	struct leaf *leaves = calloc(500, sizeof *leaves);
	struct window *w = calloc(1, sizeof *w);
	uint8_t *packed = calloc(300000, 1), *whole = calloc(300000, 1);
	int found = 0;
	for (int i = 0; i < 20000; i++)
		bytes[i] = i * i >> 3, w->dict[i] = i * 7 % 50, w->next[i] = i * 13 % 20000;
	w->probes = 20;
	for (int i = 0; i < 300000; i++)
		packed[i] = i ? 7 * i + (i >> 9) : 0x78, whole[i] = i;
	for (int r = 0; r < 8; r++) {
		struct coder c = { bytes, 1, r };
		decode(&c, out, 3000);
		for (int i = 0; i < 19; i++)
			digest(bytes + 1024 * i, 16, state);
		digest(block, 1, state);
		for (int i = 0; i < 3000; i++)
			x[i] = out[i] % 23 - 11;
		smooth(x, x, 3000, &last);
		spread(&bands, x, y, 3000);
		float part[260];
		memcpy(part, x, sizeof part);
		differ(part + 24, y, 236, 24);
		for (int i = 0; i < 500; i++)
			leaves[i].weight = out[i];
		sort(leaves, 500);
		paint(bytes, 20000, r % 2 ? w->dict : NULL, r % 2 ? NULL : block, whole);
		found += match(w, 700 + r, 350) + unpack(packed, 300000, whole, whole);
	}
	printf("%d %d %u %.4f %.4f %d %d\n", found + whole[77777], out[7], state[3], x[9], y[11], bands.last, leaves[77].weight);
	return 0;
}
EOF
cat >helpers.sh <<'EOF'
take() { # FUNCTION
	kadopt adopt -o "c-$1" -p lib --file k.c --kernel "$1" --build 'gcc -O1 -o app main.c k.c coder.c' --run './app >out.txt' --outputs out.txt --threads 1 --runs 1 --proxy "${proxy-0.0001,10000}"
}
EOF

ok 'a definition from another source, whose prototype is in a condition: a macro there is no function of a header that it does not include' '
	. ./helpers.sh
	exits 0 take decode
	jq -e ".tries == 0 and .pulled > 0" c-decode/adopt/extract.json
	jq -e ".eval.status == \"correct\"" c-decode/adopt/log/reference.ndjson'
ok 'parts of 64 bytes for each block, some in one array, some alone' '
	. ./helpers.sh
	exits 0 take digest
	jq -e ".inputs.in.shape == [\"blocks\", 64]" c-digest/task.json'
ok 'in place, by a pointer to const: what changes is the other argument' '
	. ./helpers.sh
	exits 0 take smooth
	jq -e "(.inputs | has(\"x\")) and (.outputs | keys == [\"last\", \"y\"])" c-smooth/task.json'
ok 'a structure that points to another, const one' '
	. ./helpers.sh
	exits 0 take spread
	jq -e ".tries == 0" c-spread/adopt/extract.json'
ok 'many structures, by way of a variable that begins as the parameter' '
	. ./helpers.sh
	exits 0 take sort
	jq -e ".outputs.leaves.dtype == \"uint8\"" c-sort/task.json'
ok 'a structure whose arrays are large is not copied, if nobody follows its pointers' '
	. ./helpers.sh
	exits 0 take match
	jq -e ".inputs.w.dtype == \"uint8\"" c-match/task.json; not grep -q memcpy c-match/reference.c'
ok 'one array or another is a null pointer in every call' '
	. ./helpers.sh
	exits 0 take paint
	jq -e ".entry.arguments | contains([\"palette_given\", \"mask_given\"])" c-paint/task.json
	jq -e ".eval.status == \"correct\"" c-paint/adopt/log/reference.ndjson'
ok 'pointers that are compared lie in one array; integers whose order decides how long a call takes stay in it' '
	. ./helpers.sh
	proxy=0.2,50 exits 0 take unpack
	jq -e "[.workloads[].values // {} | .[] | objects | select(.fresh)] == []" c-unpack/task.json
	jq -e ".entry.arguments == [\"in\", \"n\", \"start\", \"out_at\", \"result\"]" c-unpack/task.json'
ok 'what is before a part of an array on the stack' '
	. ./helpers.sh
	exits 2 take differ; cat err
	grep -q "it also touches what is before x, in memory whose begin is unknown: adopt the function that calls it" err'
done_testing
