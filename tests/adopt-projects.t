#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on projects that are more than one folder of sources: files next to them, commands with quotes, files shown to
# the model, other build systems.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

# Like the programs of a benchmark suite: one folder each, with headers and data next to them.
mkdir -p bench/common bench/data bench/blur/src 'bench/it has blanks'
cat >bench/common/types.h <<'EOF'
#ifndef TYPES_H
#define TYPES_H
typedef float real;
static inline real half_of(real x) { return x * 0.5f; }
#endif
EOF
echo 4000 >bench/data/size.txt
cat >bench/blur/src/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "types.h"
void blur(const real *in, int n, real *out)
{
	for (int i = 0; i < n; i++)
		out[i] = half_of(in[i]) + LIFT;
}
int main(int argc, char **argv)
{
	FILE *f = fopen("../data/size.txt", "r");
	real *in, *out, sum = 0;
	int n = 0;

	if (argc != 3 || strcmp(argv[1], "two words") || !f || fscanf(f, "%d", &n) != 1 || fclose(f))
		return 1;
	in = malloc(n * sizeof *in), out = malloc(n * sizeof *out);
	for (int i = 0; i < n; i++) in[i] = (real)(i % 7);
	for (int r = 0; r < 9; r++) blur(in, n, out);
	for (int i = 0; i < n; i++) sum += out[i];
	f = fopen(argv[2], "w");
	fprintf(f, "%g\n", sum);
	return fclose(f);
}
EOF
printf 'app: src/main.c ../common/types.h\n\t$(CC) -O1 -I../common -DLIFT="$(LIFT)" -o $@ src/main.c\n' >bench/blur/Makefile
cat >bench/blur/NOTES.md <<'EOF'
Inputs are {{small}} whole numbers.
EOF
cat >helpers.sh <<'EOF'
no() { if grep "$@"; then echo "is there: $*"; return 1; fi; }
blur() {
	kadopt adopt -o "$T/c" -p "$T/bench/blur" --file src/main.c --kernel blur --build "make LIFT='(1 + 1)'" --run "./app 'two words' \"out 1.txt\"" --outputs 'out 1.txt' --threads 1 --runs 1 --proxy 0.0001,10000 --provider 'exec:cat /dev/null' "$@"
}
EOF

ok 'headers and data next to the project, commands with quotes and blanks' '
	. ./helpers.sh
	(cd bench && find . -type f -exec sha256sum {} + | sort) >before
	exits 0 blur --context NOTES.md
	jq -e ".workloads[0].axes.n == 4000" c/task.json
	grep -q "half_of(real x)" c/reference.c; not grep -q "include .types" c/reference.c
	jq -e ".flags | index(\"-DLIFT=(1 + 1)\")" c/adopt/compile.json
	[ -e c/adopt/watch/data/size.txt ] && [ ! -e c/adopt/watch/blanks ]
	(cd bench && find . -type f -exec sha256sum {} + | sort) >after
	same before after'
ok 'the files of --context are in the prompts of the rounds' '
	. ./helpers.sh
	jq -e ".instructions | contains(\"NOTES.md\") and contains(\"Inputs are {{small}} whole numbers.\")" c/campaign.json
	brisk c ".memory = {enabled: \"off\"}"
	kcampaign run -c c -n 1 >run.txt || cat run.txt
	kprompt -c c c/trials/001/01/sample.ndjson >prompt
	grep -q "Inputs are {{small}} whole numbers" prompt
	kadopt adopt -c c --context src/main.c
	jq -e ".instructions | contains(\"src/main.c\") and (split(\"Files of the application\") | length == 2)" c/campaign.json'
ok 'an observation is out of date when a header next to the project, or a Rust source, has changed' '
	kadopt observe --check -c c
	echo "pub fn main() {}" >bench/blur/main.rs; exits 1 kadopt observe --check -c c; grep -q "it belongs to other sources" err
	rm bench/blur/main.rs; kadopt observe --check -c c
	echo "/* changed */" >>bench/common/types.h; exits 1 kadopt observe --check -c c; grep -q "it belongs to other sources" err'


mkdir -p far/common far/group/app
cp bench/common/types.h far/common
sed 's|../data/size.txt|../../common/size.txt|; s|LIFT|1|' bench/blur/src/main.c >far/group/app/main.c
echo 4000 >far/common/size.txt
(cd far && find . -type f -exec sha256sum {} + | sort) >far.before
ok 'a folder two levels up is copied to the same place relative to each copy, and not written to' '
	exits 0 kadopt adopt -o f -p far/group/app --file main.c --kernel blur --build "gcc -O1 -I../../common -o app main.c && date >../../common/built" --run "./app \"two words\" out.txt" --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000
	grep -q "^outside *../../common is named in the project, and is copied with it" out
	jq -e ".workloads[0].axes.n == 4000" f/task.json
	grep -q "half_of(real x)" f/reference.c; not grep -q "include .types" f/reference.c
	(cd far && find . -type f -exec sha256sum {} + | sort) >far.after
	same far.before far.after; [ ! -e f/common ]
	echo "/* changed */" >>far/common/types.h; exits 1 kadopt observe --check -c f'

ok 'a folder that contains the project is not taken for a folder next to it' '
	. ./helpers.sh
	mkdir -p above/src/app/lib/deep above/src/stored/build
	touch above/src/stored/build/CMakeCache.txt above/src/stored/value.h; ln -s stored above/src/linked; echo "#include \"../linked/value.h\"" >above/src/app/lib/own.h
	echo "#include \"../../src/x.h\"" >above/src/app/lib/deep/k.h
	sed "s|../data/size.txt|size.txt|; s|LIFT|1|" bench/blur/src/main.c >above/src/app/main.c
	cp bench/common/types.h far/common/size.txt above/src/app
	exits 0 kadopt adopt -o a -p above/src/app --file main.c --kernel blur --build "gcc -O1 -o app main.c" --run "./app \"two words\" out.txt" --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000
	no "^outside *\.\./\.\." out; [ ! -e a/adopt/src ] && [ ! -e a/adopt/outside ]
	# A folder that is itself a link is copied; what leads back is taken out.
	[ ! -L a/adopt/watch/linked ] && [ -e a/adopt/watch/linked/value.h ] && [ ! -e a/adopt/watch/linked/build ]'

# A library in one condition, of which the function needs nothing, and which does what no candidate may.
mkdir whole
{
	echo "#ifdef WHOLE"
	seq 600 | sed 's/.*/static int read_&(const char *name) { FILE *f = fopen(name, "rb"); int c = f ? fgetc(f) : &; return f ? fclose(f) + c : c; }/'
	echo "int read_all(const char *name) { return read_1(name) + read_600(name); }"
	echo "#endif"
} >whole/whole.h
cat >whole/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#define WHOLE
#include "whole.h"
typedef struct { int w, h; float *data; } image;
void tint(image im, float by)
{
	for (int y = 0; y < im.h; y++)
		for (int x = 0; x < im.w; x++)
			im.data[y * im.w + x] = im.data[y * im.w + x] * by + 1;
}
int main(void)
{
	image im = { 100, 70, malloc(7000 * sizeof(float)) };
	double sum = read_all("none") * 0;

	for (int i = 0; i < 7000; i++) im.data[i] = (float)(i % 11) - 3;
	for (int r = 0; r < 9; r++) tint(im, 0.5f);
	for (int i = 0; i < 7000; i++) sum += (double)im.data[i];
	printf("%.4g\n", sum);
	return 0;
}
EOF
ok 'a library of which the function needs nothing stays out of its text' '
	exits 0 kadopt adopt -o c-whole -p whole --file main.c --kernel tint --build "gcc -O2 -w -o app main.c" --run "./app >out.txt" --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000
	not grep -q fopen c-whole/reference.c'

# A single-header library: the file that includes it defines the macro that enables its code, and a condition chooses a
# type.
mkdir header
cat >header/filter.h <<'EOF'
#ifndef FILTER_H
#define FILTER_H
#ifdef FILTER_WIDE
typedef double sample;
#else
typedef float sample;
#endif
#endif
#if defined(FILTER_IMPLEMENTATION) && !defined(FILTER_DONE)
#define FILTER_DONE
#if defined(FILTER_NEON)
#include <arm_neon.h>
#endif
static void smooth(const sample *in, int n, sample *out, sample *clipped)
{
	for (int i = 0; i < n; i++) {
		out[i] = FILTER_GAIN * in[i] + (i ? 0.5f * in[i - 1] : 0);
		clipped[i] = out[i] > 1000 ? out[i] : 0;
	}
}
#endif
EOF
cat >header/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#define FILTER_IMPLEMENTATION
#define FILTER_GAIN 0.25f
#include "filter.h"
int main(void)
{
	int n = 5000;
	float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out), *clipped = calloc(n, sizeof *clipped), sum = 0;
	FILE *f;

	for (int i = 0; i < n; i++) in[i] = (float)(i % 11) - 3;
	for (int r = 0; r < 9; r++) smooth(in, n, out, clipped);
	for (int i = 0; i < n; i++) sum += out[i] + clipped[i];
	f = fopen("out.txt", "w");
	fprintf(f, "%g\n", sum);
	return fclose(f);
}
EOF
ok 'a single-header library; an array in which calls do not change the old values' '
	kadopt adopt -o h -p header --file filter.h --kernel smooth --build "cc -O1 -o app main.c" --run ./app --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000 --provider "exec:cat /dev/null"
	grep -q "^#define FILTER_GAIN 0.25f$" h/reference.c
	jq -e ".inputs | keys == [\"in\"]" h/task.json
	jq -e ".outputs | keys == [\"clipped\", \"out\"]" h/task.json
	jq -e ".outputs.out.dtype == \"float32\"" h/task.json
	jq -e ".notes.told | any(startswith(\"clipped is written\"))" h/task.json'

# Sizes of declared arrays: other sizes crash, and are left out.
mkdir rows
cat >rows/main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#define COLUMNS 60
void heat(int rows, int columns, double a[][COLUMNS])
{
	for (int i = 1; i < rows - 1; i++)
		for (int j = 1; j < columns - 1; j++)
			a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}
int main(void)
{
	double (*a)[COLUMNS] = malloc(80 * sizeof *a), sum = 0;
	FILE *f;

	for (int i = 0; i < 80; i++) for (int j = 0; j < COLUMNS; j++) a[i][j] = (double)(i * j % 7);
	for (int r = 0; r < 9; r++) heat(80, COLUMNS, a);
	for (int i = 0; i < 80; i++) for (int j = 0; j < COLUMNS; j++) sum += a[i][j];
	f = fopen("out.txt", "w");
	fprintf(f, "%g\n", sum);
	return fclose(f);
}
EOF
ok 'a function whose rows have a fixed length' '
	kadopt adopt -o r -p rows --file main.c --kernel heat --build "cc -O1 -o app main.c" --run ./app --outputs out.txt --threads 1 --runs 1 --proxy 0.0001,10000 --provider "exec:cat /dev/null"
	jq -e ".workloads[0].axes.columns == 60" r/task.json'

# The guard of a header that is only included by a condition is in the reference, and so in a reply: put before the
# includes, it would keep the header's types out.
mkdir -p guard/inc
cat >guard/inc/types.h <<'EOF'
#ifndef _TYPES_H
#define _TYPES_H
#if defined(_WIN32)
typedef __int32 whole;
#elif defined(HAS_WIDE)
typedef long whole;
#else
#include <stdint.h>
typedef int32_t whole;
#endif
#endif
EOF
cat >guard/inc/api.h <<'EOF'
#include "types.h"
void smoothed(const float *in, float *out, whole n);
EOF
cat >guard/k.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#ifdef OUTSIDE
static void *taken(int size) { return calloc(size, 1); }
#include "other.h"
#else
#include "api.h"
#endif
void smoothed(const float *in, float *out, whole n)
{
	for (whole i = 1; i + 1 < n; i++) {
		float sum = 0;
		for (whole r = 0; r < 20; r++)
			sum += (0.5f * in[i] + 0.25f * (in[i - 1] + in[i + 1])) / 20;
		out[i] = sum;
	}
	out[0] = in[0];
	out[n - 1] = in[n - 1];
}
int main(void)
{
	float *a = malloc(4000 * sizeof *a), *b = malloc(4000 * sizeof *b);
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < 4000; i++) a[i] = (float)(i % 37);
	for (int r = 0; r < 20; r++) { smoothed(a, b, 4000); float *t = a; a = b; b = t; }
	for (int i = 0; i < 4000; i += 100) fprintf(f, "%.4f\n", a[i]);
	return fclose(f);
}
EOF
cat >fast.c <<'EOF'
#define _TYPES_H
#include <stdint.h>
typedef int32_t whole;
void smoothed(const float *in, float *out, whole n)
{
	for (whole i = 1; i + 1 < n; i++)
		out[i] = 0.5f * in[i] + 0.25f * (in[i - 1] + in[i + 1]);
	out[0] = in[0];
	out[n - 1] = in[n - 1];
}
EOF
ok 'macros that a winner copied from the reference stay where the application has them' '
	kadopt adopt -o g -p guard --file k.c --kernel smoothed --build "cc -O1 -Iinc -o app k.c" --run ./app --outputs out.txt --compare float:1e-3 --threads 1 --runs 1 --proxy 0.0001,10000 --provider "exec:sh $tests_dir/data/adopt/model.sh $T/fast.c"
	grep -q "^#define _TYPES_H" g/reference.c
	brisk g ".eval.profile = \"off\""
	kcampaign run -c g -n 1
	# On a busy machine the application may not show the gain: what matters is that it builds.
	kadopt integrate -c g >said 2>&1 || grep -q "^ROLLED BACK\|^GATE" said
	! grep -q "does not build" said || { cat said; exit 1; }'
done_testing
