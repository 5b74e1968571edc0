#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Six ways to fool a campaign or its readers, each refused with the reason; and everything except the facts can be
# deleted and made again, byte for byte. docs/linear.md lists all rules, and where each is enforced.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR
chmod 755 "$T"

cat >helpers.sh <<'E'
# program WASTE [BODY]: the kernel, with that many iterations of wasted work per element, and more statements at its
# beginning.
program() {
	cat <<C
#include <stdint.h>
#ifndef REAL
#define REAL float
#endif

void
affine(const REAL *x, const REAL *bias, REAL *y, int rows, int64_t cols, REAL scale)
{
	volatile int waste = 0;

	${2:-}
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++) {
			for (int k = 0; k < $1; k++)
				waste ^= k;
			y[i * cols + j] = scale * x[i * cols + j] + bias[j];
		}
}
C
}
# reply TRIAL CHANGE MEMBERS PROGRAM: the answer of a model for that trial.
reply() {
	printf '```plan\n{"hypothesis":"less work per element should take less time","change":"%s","category":"less_work","bucket":"K1"%s}\n```\n\n```c\n%s\n```\n' \
	    "$2" "$3" "$4" >"c/replies/$1.md"
}
# Every file that can be made again, with its digest.
views() {
	find trials -name .rules -prune -o -type f \( -name score.ndjson -o -name archive.ndjson \
		-o -name gradient.ndjson -o -name roofline.json \) -print | cat - "$T/others" | xargs sha256sum | sort -k 2
}
# check_rules FILE: every row has four cells, and every test in the last one, `FILE.t`: NAME or `unit/FILE.c`, exists.
check_rules() {
	grep '^| ' "$1" | grep -v '^| rule' >rows
	test "$(wc -l <rows)" -ge 55
	awk -F ' [|] ' 'NF != 4 { print "not four cells: " $0; bad = 1 } END { exit bad }' rows
	awk -F ' [|] ' '{ sub(/ [|]$/, "", $4); n = split($4, t, "; "); for (i = 1; i <= n; i++) print t[i] }' rows | sort -u |
	while IFS= read -r t; do
		file=$(echo "$t" | cut -d '`' -f 2) name=$(echo "$t" | sed 's/^`[^`]*`:* *//; s/ (.*//')
		test -e "$tests_dir/$file" && { [ -z "$name" ] || grep -qF "ok '$name" "$tests_dir/$file"; } || { echo "no such test: $t"; return 1; }
	done
}
decision() {
	jq -r '.score.decision | "\(.code): \(.line)"' "$@"
}
E
# shellcheck source=/dev/null
. ./helpers.sh

# A real campaign: round 2 wastes less, round 3 more, round 4 remembers its last input. The differences are so large
# that a busy machine changes no verdict.
mkdir task
cp "$KILN_DATA/tests/tasks/affine/task.json" task
program 1000 >task/reference.c
kcampaign new c --task task --mode linear >/dev/null
mkdir -p c/replies c/trials/000
cp "$tests_dir/data/ceilings.json" c/trials/000
printf '#!/bin/sh\ncat >/dev/null\ncat "%s/c/replies/${KLLM_SAMPLE%%%%/*}.md"\n' "$T" >c/model.sh
edit c/campaign.json ".model = {provider: \"exec:sh $T/c/model.sh\"} | .stop = {trials: 9}
	| .eval = {set: \"full\", seeds: 1, timing_s: 0.05, min_samples: 5, threads: 1, reuse: \"off\", profile: \"off\"}"
reply 001 'less waste' '' "$(program 4)"
reply 002 'more waste' '' "$(program 400)"
reply 003 'remember the last input' '' "$(program 1 'static const REAL *last; static long again; if (x == last) again++; last = x;')"
reply 004 'no waste' ',"directions":["wide loads","fewer rows","one pass"],"evidence":"9999.5 bogus_pct -> slow -> less"' "$(program 0)"

ok 'a kernel that recognises its input by its address is refused, however fast' '
	. ./helpers.sh
	cd c; kcampaign run -n 3 >out; cat out
	decision trials/001/score.ndjson | grep -q "^gain: Round 2: ACCEPTED"
	decision trials/002/score.ndjson | grep -q "^aggregate: Round 3: ROLLED BACK"
	decision trials/003/score.ndjson | grep -q "^audit: Round 4: ROLLED BACK — avg [+-][0-9.]*%, because the audit rejects it as overfit: kept_pointer, line [0-9]*: compares a pointer with one that was kept"
	kcampaign record 003/01 | jq -e ".eval.status == \"correct\" and .audit.decision == \"REJECT-as-overfit\" and .audit.bucket == \"W2\" and .score.combined == 0"
	is 001/01 "$(jq -r "select(.kind == \"archive\").best.id" trials/003/archive.ndjson)"'
ok 'two rollbacks in a row: fresh evidence first, and a plan that cites none of it is not evaluated' '
	cd c; test ! -e trials/003/evidence.ndjson; edit campaign.json ".eval.profile = \"auto\""
	kcampaign run -n 1 >out; cat out
	jq -e ".id == \"001/01\" and .streak == 2 and .escalation == \"profile\" and (.profile or .profile_missing)" trials/004/evidence.ndjson
	is "$(jq -r .eval.code_sha256 trials/001/01/eval.ndjson)" "$(jq -r .code_sha256 trials/004/evidence.ndjson)"
	jq -e ".sample.evidence.id == \"001/01\" and (.sample.parent.profile == .sample.evidence.profile)" trials/004/01/sample.ndjson
	if jq -e .profile trials/004/evidence.ndjson >/dev/null; then
		is no_plan "$(jq -r .eval.status trials/004/01/eval.ndjson)"
		jq -r .eval.plan_fault trials/004/01/eval.ndjson | grep -q "cites no figure from the prompt"
	fi; edit campaign.json ".eval.profile = \"off\""'
ok 'all views, rounds, logs, memory and the report deleted and made again: the same bytes' '
	. ./helpers.sh
	cd c; kreport
	printf "%s\n" rounds/*.md $(find rounds/round-* logs memory -type f) report.html report.md >"$T/others"
	test "$(wc -l <"$T/others")" -gt 35; ls rounds/round-5/summary.md memory/v4.json
	views >"$T/before"; test "$(wc -l <"$T/before")" -gt 50
	find trials rounds logs memory -type f -exec sha256sum {} + | sort -k 2 >"$T/all"
	cut -c 67- "$T/before" | xargs rm
	rm -r rounds logs memory
	is 0 "$(find . -name "score.ndjson" -o -name "v*.json" -o -name "summary.md" | wc -l)"
	kcampaign views; kreport
	views >"$T/after"; same "$T/before" "$T/after"
	find trials rounds logs memory -type f -exec sha256sum {} + | sort -k 2 >"$T/now"; same "$T/all" "$T/now"'
ok 'one command proves what exists' '
	cd c; exits 0 make -s proof KILN_BUILD="$KILN_BUILD"; cat out err'
ok 'an edited log is refused by file and line, and no round begins' '
	cd c; cp -r ../c ../edited; cd ../edited
	sed -i "s/^- Change: more waste/- Change: less waste/" logs/optimize.md
	exits 1 kcampaign run -n 1; cat err
	grep -q "logs/optimize.md:[0-9]*: was edited: it reads .- Change: less waste., not .- Change: more waste." err
	test ! -e trials/005; exits 2 make -s proof KILN_BUILD="$KILN_BUILD"; grep -q "logs/optimize.md:[0-9]*: was edited" out err'
ok 'a tampered memory is refused by file and field, and no round begins' '
	cp -r c tampered; cd tampered
	jq -c ".performance.latency_us = 1" memory/v2.json >x; cp x memory/v2.json; rm x
	exits 2 kcampaign run -n 1 || exits 1 kcampaign run -n 1; cat err
	grep -q "memory/v2.json: .*performance.latency_us" err || grep -q "memory/v2.json" err
	test ! -e trials/005'
ok 'a changed decision is refused by round and field' '
	cp -r c turned; cd turned
	jq -c ".score.decision.verdict = \"accepted\"" trials/002/score.ndjson >x; mv x trials/002/score.ndjson
	exits 2 make -s proof KILN_BUILD="$KILN_BUILD"; grep -q "round 3: score.decision.verdict is \"accepted\", but the records say \"rolled_back\"" out err'

ok 'a grouped product that is fast for equal groups alone is rolled back, and the line says why' '
	. ./helpers.sh
	kcampaign new g --task "$tests_dir/tasks/grouped_c" --mode linear >/dev/null; mkdir -p g/trials/000/00
	row() { printf "{\"workload\":\"%s\",\"samples_ns\":[%d],\"median_ns\":%d,\"min_ns\":%d,\"mean_ns\":%d}" "$1" "$2" "$2" "$2" "$2"; }
	printf "{\"schema\":\"candidate/1\",\"campaign\":\"g\",\"trial\":0,\"branch\":0,\"id\":\"000/00\",\"eval\":{\"status\":\"correct\",\"tier\":3,\"log\":\"\",\"code\":\"\",\"noise\":{\"floor\":0.01},\"timing\":[%s,%s]}}\n" \
		"$(row even 1000)" "$(row skewed 1000)" >g/trials/000/00/eval.ndjson
	jq -c ".trial = 1 | .branch = 1 | .id = \"001/01\" | .sample = {incumbent: \"000/00\"} | .eval.timing[0].median_ns = 400" g/trials/000/00/eval.ndjson |
		kclassify -c g | kaudit -c g | kscore -c g -r g/trials/000/00/eval.ndjson >s
	decision s >d; cat d; grep -q "^audit: Round 2: ROLLED BACK — avg +58.1%, because the audit rejects it as overfit: uniform-only: " d
	jq -c ".trial = 1 | .branch = 1 | .id = \"001/01\" | .sample = {incumbent: \"000/00\", parent: {id: \"000/00\", code: \"\"}} |
		.eval.timing |= map(.median_ns = 500) | .eval.code = \"#define ROWS_PER_GROUP 32\nvoid grouped(void) { }\n\"" g/trials/000/00/eval.ndjson |
		kclassify -c g | kaudit -c g | kscore -c g -r g/trials/000/00/eval.ndjson >s
	decision s | grep -q "overfit: fixed_group_size, line 1: "'
ok 'a figure of hardware without a source is refused by file and line' '
	mkdir hw; cp "$KILN_DATA/docs/hardware/h200.md" "$KILN_DATA/docs/hardware/README.md" hw
	kspec --hardware hw h200 memory_bandwidth
	sed -i "s/^\(- memory_bandwidth: [0-9.]* TB\/s;[^;]*;\).*/\1 everybody knows/" hw/h200.md
	exits 2 kspec --hardware hw h200 memory_bandwidth; grep -q "docs/hardware/h200.md:[0-9]*: memory_bandwidth: has no source" err
	printf "memory_bandwidth: 9.9 TB/s <- docs/hardware/h200.md:L1\n" >note.md; exits 1 kspec check note.md; grep -q "^note.md:1: " out
	printf "It reaches about 4.8 TB/s.\n" >note.md; exits 1 kspec check note.md; grep -q "^note.md:1: .* hedges" out'
ok 'a list of picked shapes is refused before any round, and the words say which are missing' '
	. ./helpers.sh
	kcampaign new cherry --task task --mode linear >/dev/null
	jq ".workloads = [range(5) | {name: \"s\(.)\", axes: {rows: (pow(4; .)), cols: 64}, sets: (if . == 2 or . == 3 then [\"quick\", \"full\"] else [\"full\"] end), timed: true}]" \
		task/task.json >cherry/task.json
	edit cherry/campaign.json ".eval = {evaluator: \"null\", set: \"quick\"} | .model.provider = \"null\""
	exits 1 kcampaign shapes --check -c cherry
	grep -q "the set quick times 2 of 5 shapes; the minimum is 3" out; grep -q "leaves out the smallest shape, s0" out; grep -q "leaves out the largest shape, s4" out
	exits 2 kcampaign run -n 1 -c cherry; grep -q "^kcampaign: eval.set: the set quick times 2 of 5 shapes" err; test ! -e cherry/trials/001'
ok 'every rule of docs/linear.md has a test of that name' '. ./helpers.sh; check_rules "$KILN_DATA/docs/linear.md"'
done_testing
