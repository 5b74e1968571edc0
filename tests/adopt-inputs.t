#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on functions that are not right, or crash, with every input and size: what a task gives up, in which order, and
# what is said of it.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir app
cat >app/k.h <<'E'
enum { N = 400 };
struct store { int sums[8], calls; const float *from; float rest[3 << 20]; };
float gather(struct store *s, int n);
void turn(const float *x, int n, float *y);
void quiet(const float *x, int n, float *y);
void odds(const int *v, int n, int *out);
void tire(const float *x, int n, float *y);
E
cat >app/k.c <<'E'
#include <math.h>
#include <stdint.h>
#include "k.h"
/* Of much memory, it uses a little. */
float gather(struct store *s, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++) {
		s->sums[i % 8] += (int)s->from[i];
		sum += s->from[i];
	}
	s->calls++;
	return sum;
}
void turn(const float *x, int n, float *y)
{
	float room[3 << 20];

	for (int i = 0; i < n; i++)
		room[i] = x[i];
	for (int i = 0; i < n; i++)
		y[i] = room[n - 1 - i];
}
static unsigned anything;
/* Of large numbers, it makes anything. */
void quiet(const float *x, int n, float *y)
{
	for (int i = 0; i < n; i++)
		y[i] = fabsf(x[i]) < 50 ? x[i] + 1 : (float)((uintptr_t)&anything % 9973 + ++anything);
}
/* With few and even numbers, anything. */
void odds(const int *v, int n, int *out)
{
	for (int i = 0; i < n; i++)
		out[i] = v[i] + (n % 2 || n > N / 2 ? 1 : (int)((uintptr_t)&anything + ++anything));
}
/* Crashes at last if the numbers are not as in the application. */
void tire(const float *x, int n, float *y)
{
	static int calls;

	if (n == N && x[0] != 1 && ++calls > 30)
		y[-100000000] = 0;
	for (int i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
E
cat >app/main.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "k.h"
static struct store store;
int main(int argc, char **argv)
{
	float *x = malloc(N * sizeof *x), *y = calloc(N, sizeof *y), sum = 0;
	int *v = malloc(N * sizeof *v), *out = calloc(N, sizeof *out), how = argc > 1 ? *argv[1] : 0;

	store.from = x;
	for (int r = 0; r < 9; r++) {
		for (int i = 0; i < N; i++)
			x[i] = how == 't' ? 1 : (float)((i * 7 + r) % 50) / 10, v[i] = i * 31 % 97 + r;
		if (!strcmp(argv[1], "gather")) sum += gather(&store, N);
		if (!strcmp(argv[1], "turn")) turn(x, N, y);
		if (!strcmp(argv[1], "quiet")) quiet(x, N, y);
		if (!strcmp(argv[1], "odds")) odds(v, N, out);
		if (!strcmp(argv[1], "tire")) tire(x, N, y);
		sum += y[r] + (float)out[r];
	}
	printf("%.6g %d\n", sum, store.sums[3]);
	return 0;
}
E
cat >helpers.sh <<'E'
take() {
	f=$1 want=$2
	shift 2
	exits "$want" kadopt adopt -o "c-$f" -p app --file k.c --kernel "$f" --build "gcc -O1 -o app main.c k.c -lm" --run "${stack-}./app $f >out.txt" --outputs out.txt --runs 1 --threads 1 --proxy 0.0001,10000 "$@" || { cat out err; return 1; }
}
E

ok 'a structure of megabytes is neither on the stack nor set to zero in each call' '
	. ./helpers.sh
	take gather 0
	grep -q "static __thread struct store s_;" c-gather/reference.c; not grep memset c-gather/reference.c
	jq -e ".outputs | has(\"s_sums\") and has(\"s_calls\")" c-gather/task.json
	jq -e ".eval.status == \"correct\"" c-gather/adopt/log/reference.ndjson
	command -v clang || exit 0
	mkdir c-clang; jq ".build |= sub(\"gcc\"; \"clang\")" c-gather/adopt.json >c-clang/adopt.json
	exits 0 kadopt preflight -c c-clang; grep -q "static __thread struct store s_;" c-clang/adopt/unit.json'
ok 'a stack that overflows is named' '
	. ./helpers.sh
	stack="ulimit -s unlimited; "
	take turn 2
	grep -q "turn, taken out of the application, crashes on top1, .*: its stack overflows" err'
ok 'if it fails only on large magnitudes, these are left out, and no sizes' '
	. ./helpers.sh
	take quiet 0
	jq -e ".distributions == [\"normal\", \"uniform\"] and (.axes.n.fixed | not)" c-quiet/task.json
	jq -e "[.workloads[].name] | contains([\"top1\", \"check_1\", \"check_17\"])" c-quiet/task.json
	grep -q "fails on inputs of very different magnitudes, which are left out" err'
ok 'if it fails only at sizes near the listed ones, these are the only ones, and none is left out' '
	. ./helpers.sh
	take odds 0
	jq -e ".axes.n.fixed and ([.workloads[].name] | contains([\"top1\", \"check_1\", \"check_17\", \"check_67\"]))" c-odds/task.json
	grep -q "fails at sizes or numbers near the listed ones, so these are the only ones" err'
ok 'faults of a task, and then a crash with the next choice of numbers' '
	. ./helpers.sh
	take tire 0
	is 2 "$(grep -c "^inputs     took" out | sed "s,[3-9],2,")"; grep -q "so floating-point inputs are those of the application" err'
done_testing
