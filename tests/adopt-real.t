#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on functions like those of real libraries: arrays of structures with pointers, pointers that move or are null,
# parts of a larger block, blocks with a remainder, headers that only one of several sources sees, linker attributes.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir -p lib/other
cat >lib/k.h <<'EOF'
#ifndef K_H
#define K_H
#ifdef WHOLE
typedef int real;
#else
typedef float real;
#endif
struct row { float x, y; const char *name; };
struct part { int groups; const float *sizes; };
struct layer { int n; struct part *part; float *out; };
struct stream { const unsigned char *at, *end; };
struct mark { int n; const struct part *other; };
static inline real dot(const real *a, const real *b, int n)
{
	real sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}
#endif
EOF
cat >lib/other/first.c <<'EOF'
#ifdef HAS_K
#include "../k.h"
#endif
int nothing;
EOF
cat >lib/k.c <<'EOF'
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include "k.h"
void shift(struct row *rows, int n, float by)
{
	for (int i = 0; i < n; i++) {
		rows[i].x += by;
		rows[i].y *= by;
	}
}
int named(const struct row *rows, int n)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		count += rows[i].name[0] == 'a';
	return count;
}
void activate(const struct layer *l, float by)
{
	for (int i = 0; i < l->n; i++)
		l->out[i] = l->out[i] * by + (l->part ? l->part->sizes[i % l->part->groups] : 0);
}
int next(struct stream *s)
{
	int sum = 0;
	for (int i = 0; i < 4; i++)
		sum += s->at[0], s->at++;
	return sum;
}
void product(float *out, const float *x, const float *w, int n, int d)
{
	for (int i = 0; i < d; i++) {
		float sum = 0;
		for (int j = 0; j < n; j++)
			sum += w[i * n + j] * x[j];
		out[i] = sum;
	}
}
__attribute__((target_clones("avx2", "default"))) void grow(short *data, int n)
{
	for (int i = 0; i < n; i++)
		data[i] = (short)(data[i] * 3 + i);
}
void digits(int *out, const char *text, int n)
{
	for (int i = 0; i < n; i++)
		out[i] += strchr(text, '0' + i % 7) - text + (int)strtol(text, NULL, 10) % 3;
}
void stride(const float *table, float *x, int n)
{
	for (unsigned i = 0, k = 0; i < (unsigned)n; k++) {
		unsigned step;
		memcpy(&step, &table[k % 16], sizeof step);
		x[i] = x[i] * 0.5f + (float)k;
		i += step % 64;
	}
}
void fill(struct layer *l, const struct layer *by)
{
	for (int i = 0; i < l->n; i++)
		l->out[i] = by->part->sizes[i] + i;
}
void tell(const float *x, int n);
void told(float *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] += 1;
	tell(out, n);
}
void timed(float *out, int n, float by)
{
	for (int i = 0; i < n; i++)
		out[i] = out[i] * by + (float)(getpagesize() == 0);
}
EOF
cat >>lib/k.c <<'EOF'
void join(const struct layer *l)
{
	for (int i = 0; i < l->n; i++)
		l->out[i] += l->part[i].sizes[0];
}
void number(const struct layer *l)
{
	for (int i = 0; i < l->n; i++)
		l->out[i] += l->part[i].groups;
}
extern const float weights[16];
void weigh(float *out, const struct mark *m)
{
	for (int i = 0; i < m->n; i++)
		out[i] = out[i] * 0.5f + weights[i % 16];
}
EOF
cat >>lib/k.c <<'EOF'
#define PACKED(x) x __attribute__((__packed__))
/* A comment

   that goes on after a blank line. */
PACKED(typedef struct { signed short int at; }) pair;
typedef short signed int narrow;
/* Of some calls, there is nothing to add. */
int pairs(const narrow *data, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += ((const pair *)(data + i))->at;
	return sum;
}
enum mode { PLAIN, TWICE };
typedef float vec3[3];
struct __attribute__((aligned(16))) cloud {
	int n;
	enum mode mode;
	float origin[3] __attribute__((aligned(16)));
	vec3 *points;
	float (*rows)[4];
};
void turn(const struct cloud *c, const vec3 axis, float (*grid)[4], vec3 out)
{
	for (int i = 0; i < c->n; i++)
		for (int k = 0; k < 3; k++)
			grid[i][k] = c->points[i][k] * axis[k] + c->origin[k] + c->rows[i][3] * (c->mode == TWICE ? 2 : 1);
	for (int k = 0; k < 3; k++)
		out[k] = grid[0][k] + grid[c->n - 1][k];
}
struct inner { int n; float *sums; const float *from; };
struct outer { int scale; enum mode mode; void *own; };
float peek(void *own);
void collect(struct outer *o)
{
	struct inner *in;
	if (!o->own)
		return;
	in = (struct inner *) o->own;
	for (int i = 0; i < in->n; i++)
		in->sums[i] = in->sums[i] * 0.5f + in->from[i] * o->scale;
}
void apply(void *context, float *out, int n)
{
	const struct inner *in = context;
	for (int i = 0; i < n; i++)
		out[i] = out[i] * 0.5f + in->from[i % in->n];
}
void hide(const struct outer *o, float *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] += peek(o->own);
}
unsigned span(const unsigned char *from, const unsigned char *end, int *count)
{
	unsigned sum = 0;
	const unsigned char *p = from;
	for (*count = 0; p != end; p++)
		sum = sum * 31 + *p, *count += *p > 7;
	return sum;
}
int back(const short *at, const short *low)
{
	const short *from = at;
	while (at > low && (at[-1] & 63) != 5)
		at--;
	return (int)(from - at);
}
/* Each of two arrays, under two names. */
static void fold(const float *by, float *x, float *same, float *y, float *other, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = other[i] * 0.5f + by[i % 16];
	for (int i = 1; i < n; i++)
		y[i - 1] = same[i] + same[i - 1];
}
void fold_all(float *a, float *b, int n)
{
	fold(weights, a, a, b, b, n);
	fold(weights, b, b, a, a, n);
}
struct odd { int n; const float *by; float (in)[4]; };
void lost(const struct odd *o, float *out)
{
	for (int i = 0; i < o->n; i++)
		out[i] += o->in[i % 4] * o->by[i];
}
EOF
# Only what includes it has the types that it needs.
cat >lib/late.h <<'EOF'
static inline uint32_t weighed(const uint8_t *x, int n)
{
	uint32_t sum = 0;
	for (int i = 0; i < n; i++)
		sum = sum * 31 + x[i];
	return sum;
}
EOF
cat >lib/tables.c <<'EOF'
#include "k.h"
static const struct part other = { 1, 0 };
const struct mark last = { 1, &other };
const float weights[16] = { 1, 2, 3, 4, 5, 6 };
struct hidden { const float *first; };
float peek(void *own)
{
	const struct hidden *h = own;
	return h->first[0];
}
EOF
cat >lib/main.c <<'EOF'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "k.h"
#include "late.h"
enum mode { PLAIN, TWICE };
typedef float vec3[3];
struct __attribute__((aligned(16))) cloud {
	int n;
	enum mode mode;
	float origin[3] __attribute__((aligned(16)));
	vec3 *points;
	float (*rows)[4];
};
void turn(const struct cloud *c, const vec3 axis, float (*grid)[4], vec3 out);
struct inner { int n; float *sums; const float *from; };
struct outer { int scale; enum mode mode; void *own; };
void collect(struct outer *o);
void apply(void *context, float *out, int n);
unsigned span(const unsigned char *from, const unsigned char *end, int *count);
int back(const short *at, const short *low);
void fold_all(float *a, float *b, int n);
void shift(struct row *rows, int n, float by);
int named(const struct row *rows, int n);
void activate(const struct layer *l, float by);
int next(struct stream *s);
void product(float *out, const float *x, const float *w, int n, int d);
void grow(short *data, int n);
void timed(float *out, int n, float by);
void digits(int *out, const char *text, int n);
void stride(const float *table, float *x, int n);
void weigh(float *out, const struct mark *m);
int pairs(const short *data, int n);
void tell(const float *x, int n)
{
	printf("%g %d\\n", x[0], n);
}
int main(void)
{
	enum { N = 3000, STEPS = 8 };
	struct row *rows = calloc(N, sizeof *rows);
	float *table = calloc(16, sizeof *table);
	struct layer l = { N, NULL, calloc(N, sizeof(float)) };
	float *w = malloc(64 * 96 * sizeof *w), *x = malloc(96 * sizeof *x), *cache = calloc(STEPS * 64 + 100, sizeof *cache), *own = malloc(32 * sizeof *own);
	char *block = malloc(20000 + 51);
	short *data = (short *)(((size_t)block + 31) & ~(size_t)31);
	double sum = 0;
	float *pair = calloc(N, sizeof *pair);
	int over, *places = calloc(N, sizeof *places);
	vec3 axis = { 1, 2, 3 }, most;
	struct inner inner = { N, calloc(N, sizeof(float)), table };
	struct outer outer = { 3, PLAIN, &inner };
	float (*grid)[4] = calloc(N, sizeof *grid);
	struct cloud cloud = { N, TWICE, { 3, 2, 1 }, calloc(N, sizeof(vec3)), calloc(N, sizeof *cloud.rows) };

	for (int i = 0; i < N; i++)
		cloud.points[i][i % 3] = i % 23, cloud.rows[i][3] = i % 7;
	for (int i = 0; i < 16; i++)
		memcpy(&table[i], &(int){ i + 3 }, sizeof(int));
	for (int i = 0; i < N; i++)
		rows[i] = (struct row){ i % 17, i % 5, i % 3 ? "b" : "a" }, data[i] = i % 100;
	for (int i = 0; i < 64 * 96; i++)
		w[i] = i % 13 * 0.25f, x[i % 96] = i % 7;
	for (int r = 0; r < STEPS; r++) {
		shift(rows, N, 0.5f + r * 0.01f);
		activate(&l, 0.5f);
		product(cache + 64 * r, x, w, 96, 64);
		product(own, x, w, 96, 32);
		grow(data, N);
		timed(l.out, N, 0.5f);
		weigh(l.out, &(struct mark){ N, NULL });
		digits(places, "4105326", N - r), sum += places[5];
		stride(table, l.out, N);
		turn(&cloud, axis, grid, most);
		inner.n = 16;
		apply(&inner, l.out, N);
		inner.n = N, inner.from = l.out;
		collect(&outer);
		inner.from = table, sum += inner.sums[5];
		sum += span((unsigned char *)data, (unsigned char *)(data + N - r), &over) % 1000 + over;
		sum += back(data + N - 1 - r, data);
		fold_all(inner.sums, pair, N);
		sum += most[1] + weighed((unsigned char *)data, N) % 1000;
		sum += dot(w + r, x, 90) + cache[64 * r + 5] + own[3];
		sum += pairs(data, N / 2) + pairs(data, 0);
	}
	struct stream s = { (unsigned char *)"abcdefgh", NULL };
	sum += named(rows, N) + rows[100].x + l.out[7] + data[9] + next(&s);
	printf("%.3f\n", sum);
	return 0;
}
EOF
cat >helpers.sh <<'EOF'
take() { # FUNCTION FILE
	kadopt adopt -o "c-$1" -p lib --file "$2" --kernel "$1" --build 'gcc -O1 -o app main.c k.c tables.c -lm' --run './app >out.txt' --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000 ${more-}
}
why() { # FUNCTION
	jq -r "select(.function == \"$1\") | if .good then \"good\" else .reasons[0] end" list.ndjson
}
EOF

ok 'a list says why structures with pointers cannot be adopted' '
	. ./helpers.sh
	kadopt list -p lib --json >list.ndjson
	[ "$(why shift)" = good ]
	why named | grep -q "many structures, whose member const char\*name is a pointer"
	why join | grep -q "its member struct part\*part: many structures, whose member const float\*sizes is a pointer"
	jq -s -e ".[] | select(.function == \"number\") | .good and (.unit.parameters[] | select(.name == \"l_part\") | .bytes)" list.ndjson
	why next | grep -q "its member const unsigned char\*at is a pointer that is moved"'
ok 'what a function calls in another source counts, too' '
	. ./helpers.sh
	why told | grep -q "^tell (main.c:[0-9]*).*reads, writes or prints"'
ok 'of a structure, only the members that are used of that parameter' '
	. ./helpers.sh
	jq -s -e ".[] | select(.function == \"fill\") | .good and (.unit.parameters | map(.name) == [\"l_n\", \"l_out\", \"by_part_sizes\"])" list.ndjson'
ok 'an array of structures whose pointers are never followed is passed as bytes' '
	. ./helpers.sh
	exits 0 take shift k.c
	jq -e ".outputs.rows.dtype == \"uint8\"" c-shift/task.json'
ok 'a pointer on the way to a member that is null in every call is null in the entry, too' '
	. ./helpers.sh
	exits 0 take activate k.c
	jq -e ".entry.arguments == [\"l_n\", \"l_out\", \"by\"]" c-activate/task.json
	jq -r .description c-activate/task.json | grep "In every observed call of the application l->part is a null pointer, as in the entry"'
ok 'an array that is a part of a larger block in some calls has the shape of the others' '
	. ./helpers.sh
	exits 0 take product k.c
	jq -e ".outputs.out.shape == [\"d\"] and (.workloads | length > 2)" c-product/task.json'
ok 'a block with an odd remainder; linker attributes' '
	. ./helpers.sh
	exits 0 take grow k.c
	not grep -q target_clones c-grow/reference.c
	jq -e ".outputs.data.shape == [\"n\"]" c-grow/task.json
	jq -e ".eval.status == \"correct\"" c-grow/adopt/log/reference.ndjson'
ok 'a header is read as the source that includes it sees it' '
	. ./helpers.sh
	exits 0 take dot k.h
	jq -e ".outputs.result.dtype == \"float32\"" c-dot/task.json'
ok 'whole numbers in an array of floats, by their bits: in double precision the oracle does not return, as the reference is it does' '
	. ./helpers.sh
	exits 0 take stride k.c
	grep "^inputs *took [0-9]\{1,2\}\." out
	jq -e ".notes.oracle == \"reference\"" c-stride/task.json'
ok 'a table of another source, whose own variables need types of a header that both include' '
	. ./helpers.sh
	exits 0 take weigh k.c
	grep -q "^static const struct part other" c-weigh/reference.c; jq -e ".tries == 0" c-weigh/adopt/extract.json'
ok 'a type made by a macro, a number by another order of its words; calls without elements' '
	. ./helpers.sh
	exits 0 take pairs k.c
	grep -q "is left out, because an array has no elements there" err
	jq -e ".tries == 0" c-pairs/adopt/extract.json
	jq -e ".inputs.data.dtype == \"int16\"" c-pairs/task.json'
ok 'arrays by the name of a type, pointers to arrays, members with attributes or of an enumeration; a member that is not found' '
	. ./helpers.sh
	why lost | grep -q "its member in is not found in odd"
	exits 0 take turn k.c
	jq -e ".inputs | .axis.shape == [3] and .c_origin.shape == [3]" c-turn/task.json
	jq -e ".outputs.out.shape == [3] and (.entry.arguments | index(\"c_mode\"))" c-turn/task.json
	jq -e ".eval.status == \"correct\"" c-turn/adopt/log/reference.ndjson'
ok 'a pointer to void that stands for a structure' '
	. ./helpers.sh
	why hide | grep -q "own stands for a structure with pointers, struct hidden, which this file does not declare"
	exits 0 take collect k.c
	jq -e ".entry.arguments | sort == [\"o_own_from\", \"o_own_n\", \"o_own_sums\", \"o_scale\"]" c-collect/task.json
	exits 0 take apply k.c
	jq -e ".inputs | has(\"context_from\")" c-apply/task.json'
ok 'two pointers into one array: one of them is a number; or the same one' '
	. ./helpers.sh
	exits 0 take fold k.c
	jq -e ".entry.arguments == [\"by\", \"x\", \"y\", \"n\"]" c-fold/task.json
	exits 0 take span k.c
	jq -e ".entry.arguments == [\"from\", \"end_at\", \"count\", \"result\"] and (.outputs | keys == [\"count\", \"result\"])" c-span/task.json
	exits 0 take back k.c
	jq -e ".entry.arguments == [\"at_at\", \"low\", \"result\"]" c-back/task.json'
ok 'a header without the includes that it needs' '
	. ./helpers.sh
	exits 0 take weighed late.h
	grep -q "include <stdint.h>" c-weighed/reference.c; jq -e ".tries == 0" c-weighed/adopt/extract.json'
ok 'what the judge of candidates refuses is refused before there is a campaign to run' '
	. ./helpers.sh
	exits 2 take timed k.c
	grep -q "timed, extracted from the application, is not a program that kiln can evaluate" err
	grep -q getpagesize err'

ok 'harmless functions of the C library that the reference needs are allowed in its task' '
	. ./helpers.sh
	exits 0 take digits k.c
	jq -e ".allow_symbols | sort == [\"strchr\", \"strtol\"]" c-digits/task.json
	jq -e ".eval.status == \"correct\"" c-digits/adopt/log/reference.ndjson'

# A judge that reports the reference as wrong as often as the file "wrong" says, and then behaves normally.
mkdir judge
cat >judge/keval <<'EOF'
#!/bin/sh
left=$(cat "$T/wrong")
case $* in *--code*) ;; *) left=0 ;; esac
[ "$left" -gt 0 ] || PATH=${PATH#*:} exec keval "$@"
echo $((left - 1)) >"$T/wrong"
for out; do :; done
echo '{"eval": {"status": "wrong_value", "correctness": {"passed": 4, "total": 4}, "reasons": [{"check": "timed_run"}], "log": "the result of a timed run was wrong"}}' >"$out"
EOF
chmod +x judge/keval
ok 'a reference that is wrong with new numbers: the tolerance is loosened step by step' '
	. ./helpers.sh
	jq -r .reduction c-product/task.json >was
	rm -r c-product; echo 1 >wrong
	PATH=$T/judge:$PATH; exits 0 take product k.c
	is 0 "$(cat wrong)"; grep -q "so the tolerance is one step looser" err
	jq -e ".notes.told | any(contains(\"one step looser\"))" c-product/task.json
	jq -r .reduction c-product/task.json | not cmp -s - was
	rm -r c-product; echo 9 >wrong
	exits 2 take product k.c
	is 4 "$(cat wrong)"; grep -q "is not a program that kiln can evaluate" err'
done_testing
