#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016	# scripts in quotes
# Sanitizers on the best kernel, when it is verified: faults that results do not show reject it; a missing tool is
# named.
. "${0%/*}/lib.sh"
affine=$tests_dir/tasks/affine
export affine

if ! printf 'int main(void) { return 0; }' | cc -x c -fsanitize=address -o /dev/null - 2>/dev/null ||
	nm -D "$KILN_BUILD/kharness" | grep -q asan; then
	skip 'sanitizers' 'no AddressSanitizer here, or kiln is built with it'
	done_testing
fi

mkdir -p c/trials/001/01; cp "$affine"/* c
jq -n '{schema: "campaign/1", name: "c", backend: "c", language: "c", eval: {seeds: 1, timing_s: 0.02, min_samples: 3, max_samples: 3,
	threads: 1}}' >c/campaign.json
# verified BODY [HEAD]: the record of the verification of a kernel with this body.
cat >verified <<'E1'
#!/bin/sh -eu
jq -nc --arg body "$1" --arg head "${2-}" '{schema: "candidate/1", campaign: "c", trial: 1, branch: 1, id: "001/01", eval: {status: "correct",
	code: "#include <stdint.h>\n\($head)void affine(const float *x, const float *bias, float *y, int rows, int64_t cols, float scale)\n{\n\($body)\n}\n"}}' \
	>c/trials/001/01/eval.ndjson
keval -c c --verify 001/01
E1
chmod 755 verified
PATH=$T:$PATH
right='for (int64_t i = 0; i < rows * cols; i++) y[i] = scale * x[i] + bias[i % cols];'
# Reads one element beyond its input, where a guard band is, and does nothing with it.
over='float next = x[rows * cols]; if (next == 12345.678f) y[0] = next;'
export right over

ok 'a kernel without faults is clean' '
	verified "$right" >r 2>err || { cat err; exit 1; }
	jq -e ".eval.status == \"correct\" and (.eval.sanitizers | map(\"\(.tool) \(.status)\") == [\"asan clean\", \"ubsan clean\"]) and
		(.eval.sanitizers[0] | .workloads == .of and .of == 4)" r || { jq .eval.sanitizers r; cat err; exit 1; }'
ok 'one that reads an element beyond its input is rejected, although its results are right' '
	verified "$right $over" >r 2>err || { cat err; exit 1; }
	jq -e ".eval.status == \"run_error\" and .eval.correctness.passed == .eval.correctness.total and .eval.reasons[0].check == \"asan\" and
		(.eval.sanitizers[0] | .status == \"findings\" and (.detail | test(\"heap-buffer-overflow, READ of size 4, in affine.*candidate.c:4\")))" r ||
		{ jq ".eval | .status, .sanitizers, .reasons" r; cat err; exit 1; }
	jq -e ".eval.log | contains(\"heap-buffer-overflow\")" r'
ok 'it cannot hide from the sanitizer' '
	found() { verified "$@" >r 2>err; jq -e ".eval.sanitizers[0].status == \"findings\"" r || { jq .eval.sanitizers r; cat err; return 1; }; }
	found "$right { $over }" "__attribute__((no_sanitize(\"address\"))) "
	found "$right
#ifndef __SANITIZE_ADDRESS__
	{ $over }
#endif
" "__attribute__((__no_sanitize_address__)) "'
ok 'a write beyond an array of its own, and an overflow, are found too' '
	verified "$right float t[4]; volatile int n = 4; for (int i = 0; i <= n; i++) ((volatile float *)t)[i] = 1;" >r 2>err
	jq -e ".eval.status == \"run_error\" and (.eval.sanitizers[0].detail | startswith(\"stack-buffer-overflow\"))" r || { jq .eval.sanitizers r; exit 1; }
	verified "$right volatile int big = 2147483647; big = big + 1;" >r 2>err
	jq -e ".eval.status == \"run_error\" and .eval.reasons[0].check == \"ubsan\" and
		(.eval.sanitizers[1].detail | contains(\"candidate.c:4:\") and contains(\"signed integer overflow\"))" r || { jq .eval.sanitizers r; exit 1; }'
ok 'no tool, no time: reported, and no reason to reject' '
	jq ".eval.sanitize_s = 0" c/campaign.json >n; cp c/campaign.json was; mv n c/campaign.json
	verified "$right $over" >r 2>err
	jq -e ".eval.status == \"correct\" and (.eval.sanitizers | all(.status == \"unavailable\" and .detail == \"eval.sanitize_s is 0\"))" r
	grep -q "asan: unavailable: eval.sanitize_s is 0" err
	jq ".eval.sanitize_s = 0.001" was >c/campaign.json
	verified "$right" >r 2>err; jq -e ".eval.status == \"correct\" and (.eval.sanitizers | all(.status == \"timeout\"))" r || { jq .eval.sanitizers r; exit 1; }
	cp was c/campaign.json'
done_testing
