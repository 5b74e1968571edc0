#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Inputs with contents from files, next to similar contents; integers of all sizes; addresses with exactly the
# alignment that a task gives.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

KILN_LOCK_DIR=$T
export KILN_LOCK_DIR
chmod 755 "$T"

# npy FILE TYPE 'SHAPE' NUMBER...: an array in NumPy's format.
cat >"$T/npy" <<'E'
#!/usr/bin/env perl
my ($file, $type, $shape, @v) = @ARGV;
my %form = ('<f4' => 'f<', '<f8' => 'd<', '<i4' => 'l<', '<i8' => 'q<', '|u1' => 'C', '|b1' => 'C', '<u2' => 'S<');
my $head = "{'descr': '$type', 'fortran_order': False, 'shape': ($shape), }";
$head .= ' ' x (63 - (10 + length $head) % 64) . "\n";
open my $f, '>:raw', $file or die "$file: $!";
print $f "\x93NUMPY\x01\x00", pack('v', length $head), $head, pack("($form{$type})*", @v);
E
# kernel NAME 'declarations' 'body': a kernel for the task of a sparse matrix; RIGHT is the body of an honest one.
cat >"$T/kernel" <<'E'
#!/bin/sh -eu
{
	printf '#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
	printf '#define RIGHT for (int i = 0; i < rows; i++) { float sum = 0; for (int k = rowptr[i]; k < rowptr[i + 1]; k++) sum += val[k] * x[col[k]]; y[i] = sum; }\n'
	printf '%s\nvoid\nspmv(const int *rowptr, const int *col, const float *val, const float *x, float *y, int rows, int cols, int nnz)\n{ %s }\n' "$2" "$3"
} >"$1.c"
cc -O1 -w -std=gnu11 -shared -fPIC -o "$1.so" "$1.c" -lm
E
cat >"$T/judge" <<'E'
#!/bin/sh -eu
exec kharness -t t/task.json --oracle oracle.so --phase correctness --run-timeout-s 2 --memory-mb 1024 "$@"
E
chmod 755 npy kernel judge
PATH=$T:$PATH
cp -r "$tests_dir/tasks/recorded" t
mkdir -p t/data
npy t/data/rowptr.npy '<i4' 4, 0 2 3 5
npy t/data/col.npy '<i4' 5, 0 3 1 2 0
npy t/data/val.npy '<f4' 5, 1.5 -2.25 0 0.5 4
npy t/data/x.npy '<f4' '2, 2' 0.125 0.25 0.75 0.875
cc -O1 -w -std=gnu11 -shared -fPIC -DREAL=double -o oracle.so t/reference.c
cc -O1 -w -std=gnu11 -shared -fPIC -o right.so t/reference.c

ok 'an honest kernel is right on recorded inputs and on others, and is timed' '
	judge right.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and ([.correctness.cases[].distribution] | .[0] == \"recorded\" and length > 3)" r.json
	kharness -t t/task.json --oracle oracle.so --timing-s 0.05 right.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and .timing[0].workload == \"main\"" r.json'
ok 'the file itself comes first, unchanged' '
	kernel first "" "static const float v[] = { 1.5, -2.25, 0, 0.5, 4 }; if (!memcmp(val, v, sizeof v) && x[3] == 0.875) { RIGHT }"
	judge first.so >r.json
	jq -e ".candidates[0] | .status == \"partial\" and ([.correctness.cases[] | select(.ok).distribution] == [\"recorded\"])" r.json'
ok 'a kernel that remembers the results of recorded inputs fails' '
	kernel memory "static float kept[64]; static int known;" "if (!known++) { RIGHT memcpy(kept, y, rows * sizeof *y); } memcpy(y, kept, rows * sizeof *y);"
	judge memory.so >r.json
	jq -e ".candidates[0] | .status == \"partial\" and .reasons[0].check == \"wrong_result\"" r.json'
ok 'drawn contents keep zeros, order, range and integers; structure is never changed' '
	npy t/data/x.npy "<f4" 4, 0.125 0.25 0.75 0.875
	kernel range "" "int good = val[2] == 0 && rowptr[1] == 2 && rowptr[3] == 5 && col[1] == 3;
		for (int i = 0; i < 4; i++) good &= x[i] >= 0.125f && x[i] <= 0.875f && (!i || x[i] >= x[i - 1]);
		for (int i = 0; i < 5; i++) good &= val[i] >= -2.25f && val[i] <= 4;
		if (good) { RIGHT }"
	judge --seeds 20 range.so >r.json; jq -e ".candidates[0].status == \"correct\"" r.json
	npy t/data/val.npy "<f4" 5, 1 -2 0 7 7
	kernel whole "" "int good = val[2] == 0;
		for (int i = 0; i < 5; i++) good &= val[i] == rintf(val[i]) && (i == 2 || val[i] == 1 || val[i] == -2 || val[i] == 7);
		if (good) { RIGHT }"
	judge --seeds 20 whole.so >r.json; jq -e ".candidates[0].status == \"correct\"" r.json'
ok 'a task can say what may be drawn' '
	jq ".workloads[0].values |= (.val.fresh = false | .x.fresh = false)" t/task.json >t/kept.json
	kernel keeps "" "if (val[0] == 1 && val[4] == 7 && x[0] == 0.125f) { RIGHT }"
	kharness -t t/kept.json --oracle oracle.so --phase correctness keeps.so >r.json
	jq -e ".candidates[0].status == \"correct\"" r.json
	kharness --lint t/kept.json --oracle oracle.so 2>err || :
	grep -q "workload main: all inputs are recorded" err
	jq ".workloads[0].values.col.fresh = true" t/task.json >t/drawn.json
	kernel same "" "if (col[0] == 0 && col[1] == 3 && col[2] == 1 && col[3] == 2 && col[4] == 0) { RIGHT }"
	kharness -t t/drawn.json --oracle oracle.so --phase correctness same.so >r.json
	jq -e ".candidates[0].status == \"partial\"" r.json
	kharness -t t/drawn.json --oracle oracle.so --phase correctness right.so >r.json
	jq -e ".candidates[0].status == \"correct\"" r.json'
ok 'in a mask, zeros and ones change places' '
	cp t/data/col.npy was.npy; npy t/data/col.npy "<i4" 5, 0 1 1 0 0
	kernel mask "" "int good = 1; for (int i = 0; i < nnz; i++) good &= col[i] == 0 || col[i] == 1; if (good) { RIGHT }"
	kernel kept "" "if (col[1] && col[2] && !col[0] && !col[3] && !col[4]) { RIGHT }"
	for k in mask kept; do kharness -t t/drawn.json --oracle oracle.so --phase correctness --seeds 9 $k.so; done >r.json; cp was.npy t/data/col.npy
	jq -s -e "[.[].candidates[].status] == [\"correct\", \"partial\"]" r.json'
ok 'an address has exactly the alignment that the task gives' '
	kernel eight "" "if ((uintptr_t)x % 16 == 8 && (uintptr_t)val % 64 == 0) { RIGHT }"
	judge eight.so >r.json; jq -e ".candidates[0].status == \"correct\"" r.json
	kernel aligned "typedef float v4 __attribute__((vector_size(16)));" "volatile v4 a = *(const v4 *)x; RIGHT"
	judge aligned.so >r.json; jq -e ".candidates[0].status == \"run_error\"" r.json
	jq ".inputs.x.align = 12" t/task.json >t/bad.json
	exits 2 kharness --lint t/bad.json --oracle oracle.so; grep -q "inputs.x: align of an array must be a power of two" err'
ok 'files that are not what the task says are refused, by name' '
	refused() { exits 2 kharness -t t/bad.json --oracle oracle.so --phase correctness right.so; grep -q "$1" err || { cat err; exit 1; }; }
	jq ".workloads[0].values.x.file = \"data/col.npy\"" t/task.json >t/bad.json; refused "data/col.npy: holds elements of type i4, but x is float32"
	jq ".workloads[0].values.x.file = \"data/val.npy\"" t/task.json >t/bad.json; refused "holds 5 elements, but x has 4 in workload main"
	jq ".workloads[0].values.x.file = \"data/none.npy\"" t/task.json >t/bad.json; refused "data/none.npy: No such file"
	echo no >t/data/no.npy; jq ".workloads[0].values.x.file = \"data/no.npy\"" t/task.json >t/bad.json; refused "is not a .npy file"
	head -c 135 t/data/x.npy >t/data/no.npy; refused "data/no.npy: is cut off"
	jq ".workloads[0].values.x.file = \"../x.npy\"" t/task.json >t/bad.json; refused "must be a file in the task.s folder"
	jq ".workloads[0].values.y = {file: \"data/x.npy\"}" t/task.json >t/bad.json; refused "values.y: must be an array that is an input"
	jq ".workloads[0].values.x.fiel = 1" t/task.json >t/bad.json; refused "values.x.fiel: unknown field"'
ok 'integers of all sizes, signed and unsigned' '
	cc -O1 -w -std=gnu11 -shared -fPIC -o narrow.so "$tests_dir/tasks/narrow/reference.c"
	kharness -t "$tests_dir/tasks/narrow/task.json" --oracle narrow.so --timing-s 0.05 narrow.so >r.json
	jq -e ".candidates[0] | .status == \"correct\" and .correctness.passed == .correctness.total" r.json
	sed "s/~0/0/; s/ow\\[i\\] = w/ow[i] = (int)w/; s/seen\\[i\\] = !/seen[i] = /" "$tests_dir/tasks/narrow/reference.c" >wrong.c
	cc -O1 -w -std=gnu11 -shared -fPIC -o wrong.so wrong.c
	kharness -t "$tests_dir/tasks/narrow/task.json" --oracle narrow.so --phase correctness wrong.so >r.json
	jq -e ".candidates[0] | .status == \"wrong_value\" and .correctness.cases[0].first_tensor == \"seen\"" r.json'
ok 'a campaign copies its recorded inputs, and they may not change' '
	cp -r "$tests_dir/tasks/recorded" n; cp -r t/data n
	kcampaign new c --task n
	cmp n/data/x.npy c/data/x.npy
	kcampaign check -c c
	(cd c; keval --reference -o eval.ndjson)
	jq -es "any(.eval.status? == \"correct\")" c/eval.ndjson
	(cd c; keval --inputs --reference) | grep -q data/val.npy
	rm c/data/x.npy
	exits 2 kcampaign check -c c; cat out err | grep -q "data/x.npy: no such file"'

done_testing
