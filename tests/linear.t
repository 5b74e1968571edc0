#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The linear search: one planned change per round, kept or rolled back after it was measured, and reported to the
# next round.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

cat >helpers.sh <<'E'
# reply TRIAL CODE-NUMBER MEMBERS: a model's answer for that trial, with more members in its plan.
reply() {
	printf 'First the plan.\n\n```plan\n{"hypothesis":"rows should get faster because of %s","change":"change %s","category":"tiling","bucket":"K1"%s}\n```\n\n```c\n%s\n```\n' \
	    "$2" "$2" "$(printf %s "${3:-}" | sed "s/@/$1/")" "void softmax(const float *x, float *y, int rows, int cols) { int step = $2; (void)step; }" >"replies/$1.md"
}
# campaign DIR: a linear campaign with a scripted model and the null evaluator, whose verdicts depend only on the
# code.
campaign() {
	kcampaign new "$1" --task "$KILN_DATA/campaigns/softmax" --mode linear >/dev/null
	mkdir "$1/replies"
	printf '#!/bin/sh\ncat >/dev/null\ncat "%s/replies/${KLLM_SAMPLE%%%%/*}.md"\n' "$T/$1" >"$1/model.sh"
	edit "$1/campaign.json" ".model = {provider: \"exec:sh $T/$1/model.sh\"} | .eval = {evaluator: \"null\"} | .stop = {trials: 14}"
}
codes() {
	jq -r .score.decision.code trials/*/score.ndjson | tr '\n' ' '
}
review=',"directions":["another layout","fewer launches","a tree of sums"],"search":[{"layer":"L1","source":"skills/knowledge/ops/normalization.md","finding":"what trial @ found","new":true}]'
E
# shellcheck source=/dev/null
. ./helpers.sh
campaign c
cd c
# The null evaluator rates 1, 2, 4, 5 and 3 as increasingly fast, 6 as crashing and 7 as wrong.
reply 001 2; reply 002 5; reply 003 4; reply 004 1
cd ..

ok 'a campaign begins as linear, and nothing is wrong with it' '
	is linear "$(jq -r .search.mode c/campaign.json)"
	is "" "$(kcampaign check -c c)"
	exits 2 kcampaign new d --task c --mode zigzag; grep -q "must be map-elites or linear" err'

ok 'what the mode rules out is refused by name' '
	refused() { cp -r c bad; jq "$1" c/campaign.json >bad/campaign.json; exits 2 kcampaign check -c bad; rm -r bad; grep -q "$2" out; }
	refused ".stop.trials = 120" "stop.trials: must be at most 119 in linear mode"
	refused ".search.branches = 4" "search.branches: must be 1 or left out"
	refused ".linear.target = \"fast\"" "linear.target: .fast. must be a number with one of x, GFLOP/s"
	refused ".linear.repeats = 2" "linear.repeats: unknown field"'

ok 'round 1 is the baseline on the full set; then one candidate a round' '
	cd c
	kcampaign run -n 4 >out; cat out
	grep -q "^Round 1: BASELINE — 2 shapes measured" out
	grep -q "^Round 2: ACCEPTED — avg +[0-9.]*%, no regression in 2 shapes" out
	grep -q "^Round 4: ROLLED BACK — avg -[0-9.]*%, because the aggregate did not improve" out
	is "baseline gain gain aggregate aggregate " "$(. ../helpers.sh; codes)"
	is full "$(jq -r .eval.level trials/000/00/eval.ndjson)"
	is 5 "$(ls trials/*/0[0-9]/eval.ndjson | wc -l)"'

ok 'a round starts from the last accepted program, never from a rolled-back one' '
	cd c
	is "000/00 001/01 002/01 002/01 " "$(jq -r .sample.parent.id trials/*/01/sample.ndjson | tr "\n" " ")"
	is "000/00 001/01 002/01 002/01 " "$(jq -r .sample.incumbent trials/*/01/sample.ndjson | tr "\n" " ")"
	is "2 0 none false,3 0 none false,4 0 none false,5 1 diagnose false," "$(jq -r ".sample | \"\(.round) \(.streak) \(.escalation) \(.stagnation)\"" trials/*/01/sample.ndjson | tr "\n" ,)"
	is "002/01 002/01 2 5" "$(jq -r "select(.kind == \"archive\") | \"\(.linear.accepted) \(.best.id) \(.linear.streak) \(.linear.round)\"" trials/004/archive.ndjson)"
	is "[\"000/00\",\"001/01\",\"002/01\"]" "$(jq -c "select(.kind == \"archive\").linear.chain" trials/004/archive.ndjson)"'

ok 'two rollbacks in a row ask for a review: without three new directions nothing is evaluated' '
	cd c
	. ../helpers.sh
	reply 005 3
	kcampaign run -n 1 >out; cat out
	grep -q "^Round 6: ROLLED BACK — no result, because a review needs at least 3" out
	is "no_plan profile true" "$(kcampaign record 005/01 | jq -r "\"\(.eval.status) \(.sample.escalation) \(.sample.stagnation)\"")"
	grep -q "The program was not evaluated, because of its plan: a review needs" trials/005/01/eval.ndjson
	reply 006 3 ",\"directions\":[\"a\",\"b\",\"Change  4.\"]"
	kcampaign run -n 1 >out
	grep -q "direction 3, .*, was rolled back in round 4" trials/006/01/eval.ndjson
	is "no_plan isa" "$(kcampaign record 006/01 | jq -r "\"\(.eval.status) \(.sample.escalation)\"")"
	reply 007 4 "$review"
	kcampaign run -n 1 >out; grep -q "this change was rolled back in round 4; propose another one" trials/007/01/eval.ndjson
	is "no_plan sota" "$(kcampaign record 007/01 | jq -r "\"\(.eval.status) \(.sample.escalation)\"")"
	reply 008 3 "$review"
	kcampaign run -n 1 >out; grep -q "^Round 9: ACCEPTED" out
	is "008/01 0" "$(jq -r "select(.kind == \"archive\") | \"\(.linear.accepted) \(.linear.streak)\"" trials/008/archive.ndjson)"'

ok 'no plan, one after the code, a forbidden bucket: not evaluated, and the model is told what is missing' '
	cd c
	. ../helpers.sh
	reply 009 6; sed -i "s/^.*plan$/\`\`\`json/" replies/009.md
	reply 010 6 "$review"; awk "/^.../ && /c\$/ { c = 1 } { if (c) code = code \$0 \"\\n\"; else plan = plan \$0 \"\\n\" } END { printf \"%s%s\", code, plan }" replies/010.md >x; mv x replies/010.md
	reply 011 6 "$review"; sed -i "s/K1/W2/" replies/011.md
	kcampaign run -n 3 >out; cat out
	is "no_plan no_plan no_plan" "$(jq -rs "map(.score.decision.code) | join(\" \")" trials/009/score.ndjson trials/010/score.ndjson trials/011/score.ndjson)"
	jq -r .eval.plan_fault trials/009/01/eval.ndjson | grep -q "^there is no plan: give it first"
	jq -r .eval.plan_fault trials/010/01/eval.ndjson | grep -q "must come before the code"
	jq -r .eval.plan_fault trials/011/01/eval.ndjson | grep -q "^bucket W2 is forbidden"
	is 0 "$(jq .score.perf_score trials/011/score.ndjson)"'

ok 'the same program again is a duplicate; what crashed may be tried again, and is shown' '
	cd c
	. ../helpers.sh
	reply 012 5 "$review"; sed -i "s/change 5/something else/" replies/012.md
	reply 013 6 "$review"; reply 014 7 "$review"
	kcampaign run -n 3 >out; cat out
	grep -q "because it is the same program as 002/01" out
	is "duplicate run wrong" "$(jq -rs "map(.score.decision.code) | join(\" \")" trials/012/score.ndjson trials/013/score.ndjson trials/014/score.ndjson)"
	is "013/01 run_error" "$(jq -r ".sample.last | \"\(.id) \(.status)\"" trials/014/01/sample.ndjson)"
	is "4,5,13" "$(jq -r ".sample.ineffective | map(.round | tostring) | join(\",\")" trials/014/01/sample.ndjson)"'

ok 'the prompt: rules, rounds so far, what failed, the escalation; nothing of the other search' '
	cd c
	kcampaign record 014/01 | jq -r .prompt.user >user; cat user
	grep -q "^# Rules of the round" user; grep -q "^# Round 15" user
	grep -q "begins with .*plan and ends with" user
	grep -q "^Round 13: ROLLED BACK — .*duplicate\|^Round 13: ROLLED BACK — .*because it is the same program as" user
	grep -q "^round 4 (aggregate): tiling: change 4" user
	grep -q "failed before it could be measured (score 2 of 5" user
	grep -q "^Four rounds or more in a row" user; grep -q "^This round begins with a review" user
	not grep -q "Direction of this attempt\|Strategies worth\|# What to do now" user
	kcampaign record 004/01 | jq -r .prompt.user >user
	grep -q "^The last round was rolled back" user; not grep -q "begins with a review" user
	is 1 "$(for t in $(seq -f %03.0f 14); do kcampaign record "$t/01"; done | jq -r ".prompt.user[:.prompt.stable_bytes]" | grep -c "^# Rules of the round" | awk "{ print \$1 == 14 }")"'

ok 'decisions are made again from the records, and a changed one is refused, naming round and field' '
	cd c
	kscore --check -r trials/000/00/eval.ndjson trials/*/score.ndjson
	edited() {
		jq -c ".score.decision.$1" trials/003/score.ndjson >edited
		exits 1 kscore --check -r trials/000/00/eval.ndjson trials/002/score.ndjson edited; cat err; grep -q "edited:1: round 4: score.decision.$2 is" err
	}
	edited "verdict = \"accepted\"" verdict
	edited "line |= sub(\"ROLLED\"; \"rolled\")" line
	edited "improvement_pct = 7.5" improvement_pct
	edited "shapes[0].core = false" shapes
	jq -c "del(.score.decision)" trials/003/score.ndjson >edited
	exits 2 kscore --check -r trials/000/00/eval.ndjson edited; grep -q "no .score.decision. to check" err'

ok 'the chain is checked against the rounds' '
	cd c
	karchive --check
	broken() { jq -c "if .kind == \"archive\" then $1 else . end" trials/014/archive.ndjson >edited; exits 1 karchive --check edited; cat err; grep -q "$2" err; }
	broken ".linear.chain[2] = \"003/01\"" "round 3: 002/01 was kept, but link 2 of the chain is 003/01"
	broken ".linear.accepted = \"003/01\"" "last accepted is 003/01 and best is 008/01"
	broken ".linear.streak = 0" "the streak of rollbacks is 6, not 0"
	cp -r ../c ../worse
	cd ../worse
	jq -c ".score.per_workload |= map(.runtime_ms *= 3)" trials/008/score.ndjson >new && mv new trials/008/score.ndjson
	jq -c ".sample.incumbent = \"001/01\"" trials/008/01/sample.ndjson >new && mv new trials/008/01/sample.ndjson
	exits 1 karchive --check; cat err
	grep -q "round 9: it was compared with 001/01, but the last accepted round is 002/01" err
	grep -q "round 9: 008/01 is .* slower than the link before it, 002/01; the limit is 1 %" err
	cd .. && rm -r worse'

ok 'views made again are the same bytes' '
	cd c
	mkdir ../before && cp -r trials ../before
	rm trials/0*/score.ndjson trials/0*/archive.ndjson
	for t in trials/0*; do : >$t/archive.ndjson; touch -d 2001-01-01 $t/archive.ndjson; done
	kcampaign views
	diff -r ../before/trials trials && rm -r ../before'

ok 'status: the chain, the streak, and what may end it, in 80 columns' '
	cd c
	kcampaign status >out; cat out
	not grep -E ".{81}" out
	grep -q "^chain    000/00 > 001/01 > 002/01 > 008/01" out
	grep -q "^streak   6 rollbacks in a row; next: sota, with a review" out
	grep -q "^stop     T1 target false, T2 efficiency false, T3 rounds true, T4 request false" out'

ok 'T1, T3 and T4 end a campaign; stagnation does not, unless a patience was written down' '
	cd c
	. ../helpers.sh
	edit campaign.json ".stop = {trials: 30}"; is 15 "$(kcampaign next)"
	ends() { cp campaign.json keep; edit campaign.json "$1"; exits 1 kcampaign next; cat err; grep -q "$2" err; mv keep campaign.json; }
	ends ".stop.trials = 14" "14 of 14 trials are done (T3, stop.trials)"
	ends ".linear.target = \"1.5x\"" "the target of 1.5x is reached (T1, linear.target)"
	ends ".linear.target = \"0.001 GFLOP/s\"" "(T1, linear.target)"
	ends ".stop.speedup = 1.5" "(T1, stop.speedup)"
	ends ".stop.patience = 6" "none of the last 6 rounds was kept (stop.patience)"
	cp trials/008/score.ndjson score; jq -c ".score.efficiency_pct = 95" score >trials/008/score.ndjson
	ends ".stop.efficiency = 90" "95.0 % of the ceiling reaches the goal of 90.0 % (T2, stop.efficiency)"
	mv score trials/008/score.ndjson
	touch stop.request; ends . "(T4, the file stop.request)"; rm stop.request
	edit campaign.json ".linear.target = \"900 TFLOP/s\""; is 15 "$(kcampaign next)"'

ok 'a round is closed before the next begins' '
	cd c
	. ../helpers.sh
	mkdir -p trials/016/01; cp trials/014/01/sample.ndjson trials/016/01
	exits 2 kcampaign run -n 1; cat err; grep -q "round 17 has begun, but round 16 is not closed" err
	rm -r trials/016'

ok 'the active set is frozen when round 1 is closed' '
	cd c
	. ../helpers.sh
	cp task.json task.keep
	frozen() { jq "$1" task.keep >task.json; exits 2 kcampaign run -n 1; cat err; grep -q "task.json: workload $2, so rounds before and after cannot be compared (seal.ndjson:[0-9]*)" err; }
	frozen "(.workloads[] | select(.name == \"3x5\").sets) = [\"full\"]" "3x5: sets changed since round 1, from .*quick.* to .*"
	frozen "(.workloads[] | select(.name == \"127x129\").sets) = [\"quick\", \"full\"]" "127x129: sets changed since round 1, from .* to .*quick.*"
	frozen "(.workloads[] | select(.name == \"4096x1024\").axes.rows) = 8192" "4096x1024: axes changed since round 1, from .* to .*8192.*"
	frozen "(.workloads[] | select(.name == \"4096x1024\").core) = false" "4096x1024: core changed since round 1, from true to false"
	mv task.keep task.json
	cp campaign.json keep; edit campaign.json ".eval.set = \"full\""; exits 2 kcampaign run -n 1; grep -q "campaign.json: eval.set changed since round 1, from .quick. to .full." err; mv keep campaign.json'

ok 'records may be written before round 2 begins' '
	. ./helpers.sh
	campaign early
	cd early
	reply 001 2
	kcampaign baseline; krecords close
	exits 0 kcampaign run -n 1
	exits 0 krecords check
	is "round frozen round" "$(jq -r "select(.kind == \"round\" or .kind == \"frozen\").kind" seal.ndjson | xargs)"'

ok 'what rounds are judged by is frozen when round 1 is closed' '
	cd c
	cp task.json task.keep; cp reference.c reference.keep
	exits 0 kcampaign shapes --check
	judged() {
		jq "$1" task.keep >task.json
		exits 2 kcampaign run -n 1; cat err; grep -q "task.json: $2 since round 1.*, so rounds before and after cannot be compared (seal.ndjson:[0-9]*); restore it" err
		exits 1 kcampaign shapes --check; grep -q "task.json: $2 since round 1" out
	}
	judged ".tolerance = {rtol: 0.9, atol: 0.9}" "tolerance changed"
	judged ".build.flags[0] = \"-O0\"" "build changed"
	judged "del(.flops)" "flops was removed"
	judged "(.workloads[] | select(.name == \"4096x1024\").weight) = 9" "workload 4096x1024: weight was added"
	jq -S ".description = \"other words\"" task.keep >task.json; exits 0 kcampaign shapes --check
	mv task.keep task.json
	echo "/* slower */" >>reference.c; exits 2 kcampaign run -n 1; grep -q "reference.c: it has changed since round 1 was closed, so figures" err
	mv reference.keep reference.c; exits 0 kcampaign shapes --check
	cp -r ../c ../opened; cd ../opened; jq -c "select(.kind != \"frozen\")" seal.ndjson >opened; mv opened seal.ndjson
	jq ".tolerance = {rtol: 0.9, atol: 0.9}" task.json >new; mv new task.json
	exits 2 kcampaign run -n 1; cat err; grep -q "seal.ndjson:[0-9]*: was" err'

if /usr/bin/python3 -W ignore -c 'import jsonschema' 2>/dev/null; then
	ok 'every file of it fits its schema' '
		cd c
		valid() { /usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" "$@"; }
		valid part-1 trials/*/0?/*.ndjson trials/*/score.ndjson
		kcampaign record 014/01 >whole.ndjson; valid candidate-1 whole.ndjson
		valid archive-1 trials/*/archive.ndjson
		valid seal-1 seal.ndjson'
else
	skip 'every file of it fits its schema' 'python3-jsonschema is not installed'
fi

# Six sizes, of which three may represent all.
campaign many
jq '.workloads = [range(6) | {name: "s\(.)", axes: {rows: (pow(4; .)), cols: 64}, sets: (if . == 0 or . == 2 or . == 5 then ["quick", "full"] else ["full"] end), timed: true}]
	| .workloads[3].skew = true' many/task.json >new && mv new many/task.json
ok 'shapes: three to five are proposed from the baseline' '
	cd many
	. ../helpers.sh
	jq "del(.workloads[3].skew)" task.json >plain; cp task.json skewed; cp plain task.json
	exits 2 kcampaign shapes; grep -q "the baseline has not been measured yet; run kcampaign baseline" err
	kcampaign baseline >out; grep -q "^Round 1: BASELINE — 6 shapes measured" out
	kcampaign shapes >out; cat out
	is 5 "$(grep -cE "smallest|largest|middle|noisiest" out)"
	grep -q "^s0 .* yes .*smallest" out; grep -q "^s5 .* yes .*largest" out; grep -q "^s2 .*middle" out
	grep -q "^To use it, put .quick. into" out
	is "the set quick represents the full set" "$(kcampaign shapes --check)"
	mv skewed task.json; kcampaign shapes | grep "^s3 .*skewed groups"'
ok 'shapes: a cherry-picked set is refused, by check, by shapes --check and by run' '
	cd many
	. ../helpers.sh
	cherry() { cp plain task.json; jq "$1" plain >task.json; exits 1 kcampaign shapes --check; cat out; grep -q "$2" out; exits 2 kcampaign run -n 1; cat err; grep -q "^kcampaign: eval.set: the set quick" err; }
	cherry ".workloads[0].sets = [\"full\"] | .workloads[1].sets = [\"quick\", \"full\"]" "the set quick leaves out the smallest shape, s0"
	cherry ".workloads[5].sets = [\"full\"] | .workloads[4].sets = [\"quick\", \"full\"]" "the set quick leaves out the largest shape, s5"
	cherry ".workloads[2].sets = [\"full\"]" "the set quick times 2 of 6 shapes; the minimum is 3"
	cherry ".workloads[0].sets = [\"quick\"]" "the set quick contains the workload s0, but the full set full does not"
	cherry ".workloads[3].skew = true" "the set quick leaves out every skewed shape"
	exits 2 kcampaign check; grep -q "^campaign.json: eval.set: the set quick leaves out every skewed shape" out
	cp plain task.json
	cp trials/000/00/eval.ndjson keep
	jq -c ".eval.correctness = {passed: 1, total: 2, cases: [{workload: \"s2\", ok: false}]}" keep >trials/000/00/eval.ndjson
	exits 1 kcampaign shapes --check; grep -q "s2, on which the baseline fails" out
	mv keep trials/000/00/eval.ndjson'
ok 'a linear campaign of a task whose quick set leaves too much out takes the full one' '
	rm -rf fair; mkdir fair; cp many/*.c fair; jq ".workloads[2].sets = [\"full\"]" many/plain >fair/task.json
	kcampaign new fuller --task fair --mode linear >out; cat out
	grep -q "eval.set is set to full, because the set quick times 2 of 6 shapes" out
	is full "$(jq -r .eval.set fuller/campaign.json)"'

# Decisions that need no campaign: the rules themselves are in tests/unit/klinear.c.
mkdir k
echo '{"name":"k","search":{"mode":"linear"}}' >k/campaign.json
cat >k/task.json <<'E'
{"workloads":[{"name":"f","timed":true,"pair":"step","pass":"forward"},{"name":"b","timed":true,"pair":"step","pass":"backward"},{"name":"g","timed":true}]}
E
cat >timing <<'E'
"timing":[{"workload":"f","median_ns":100},{"workload":"b","median_ns":300},{"workload":"g","median_ns":100}]
E
echo "{\"trial\":0,\"branch\":0,\"id\":\"000/00\",\"eval\":{\"status\":\"correct\",\"noise\":{\"floor\":0.01},$(cat timing)}}" >ref.ndjson
ok 'the passes of a step count as one; an audit rolls back whatever was measured' '
	pair() { printf "{\"name\":\"incumbent\",\"workload\":\"%s\",\"ratio\":%s,\"low\":%s,\"high\":9}" "$1" "$2" "$3"; }
	echo "{\"trial\":1,\"branch\":1,\"id\":\"001/01\",\"sample\":{\"incumbent\":\"000/00\"},\"eval\":{\"status\":\"correct\",\"level\":\"full\",$(cat timing),\"pairs\":[$(pair f 0.9 0.9),$(pair b 1.4 1.3),$(pair g 1.1 1.05)]}}" >in
	kscore -c k -r ref.ndjson in | jq -c .score.decision >out; cat out
	jq -e ".code == \"gain\" and (.shapes | map(.workload) == [\"step\", \"g\"]) and (.shapes[0].delta_pct - 27.5 | fabs) < 1e-9
		and (.forward_pct + 10 | fabs) < 1e-9 and (.backward_pct - 40 | fabs) < 1e-9" out
	jq -c ".audit = {decision: \"REJECT-as-overfit\", reasons: [\"a table keyed on a pointer\"]}" in >audited
	is "audit false" "$(kscore -c k -r ref.ndjson audited | jq -r ".score | \"\(.decision.code) \(.gain)\"")"'
ok 'a tie is kept only by a waiver that names the candidate and its benefit' '
	echo "{\"trial\":1,\"branch\":1,\"id\":\"001/01\",\"sample\":{\"incumbent\":\"000/00\"},\"eval\":{\"status\":\"correct\",\"level\":\"full\",$(cat timing)}}" >in
	code() { kscore -c k -r ref.ndjson in | jq -r .score.decision.code; }
	is aggregate "$(code)"
	mkdir -p k/waivers; echo "benefit: half the shared memory" >k/waivers/tie-001-01.md; is aggregate "$(code)"
	printf "001/01\nbenefit:\n" >k/waivers/tie-001-01.md; is aggregate "$(code)"
	printf "001/01\nbenefit: half the shared memory\n" >k/waivers/tie-001-01.md; is tie_waiver "$(code)"'

ok 'the null model plans its rounds, so that a linear search can be simulated' '
	kcampaign new n --task "$KILN_DATA/campaigns/softmax" --mode linear >/dev/null
	edit n/campaign.json ".model = {provider: \"null\"} | .eval = {evaluator: \"null\"} | .stop = {trials: 9}"
	cd n
	kcampaign run -n 9 >out; cat out
	is 9 "$(ls trials/00[1-9]/01/eval.ndjson | wc -l)"
	exits 1 grep -l no_plan trials/*/01/eval.ndjson
	jq -r .eval.status trials/00[1-9]/01/eval.ndjson | grep -c correct'

ok 'an incomplete program costs no round, up to three in a row; the next prompt shows it for repair' '
	. ./helpers.sh
	campaign d; cd d; edit campaign.json ".stop = {trials: 2}"
	elided() { reply "$1" "$2"; sed -i "s|int step = $2;|int step = $2;\n\t// ... rest unchanged|" "replies/$1.md"; }
	elided 001 5; reply 002 5; for n in 3 4 5 6; do elided 00$n 1; done
	kcampaign run >out; cat out
	is "baseline build gain build build build build " "$(codes)"
	# Of four in a row the last one counts, so two rounds were made: 002 and 006.
	grep -q "over: 2 of 2 trials are done" out
	is "4 1 0" "$(jq -r "select(.kind == \"archive\").linear | \"\(.drafts) \(.streak) \(.row)\"" trials/006/archive.ndjson)"
	is "0 0 0 0 0" "$(jq -r .sample.streak trials/00[2-6]/01/sample.ndjson | xargs)"
	is "compile_error elided" "$(jq -r ".eval | \"\(.status) \(.reasons[0].check)\"" trials/001/01/eval.ndjson)"
	kprompt trials/002/01/sample.ndjson --text >text
	grep -q "because it is incomplete: line 2, .*rest unchanged.*, stands for code that was left out" text
	grep -q "int step = 5;" text
	karchive --check; exits 0 krecords check; python3 "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" archive-1 trials/006/archive.ndjson'

ok 'killed between the archive of a round and the link to it: the same command continues' '
	kcampaign new torn --task "$KILN_DATA/campaigns/softmax" --mode linear >/dev/null
	edit torn/campaign.json ".model = {provider: \"null\"} | .eval = {evaluator: \"null\"}"
	cd torn; kcampaign run -n 1 >/dev/null; cp -a . ../killed
	kcampaign run -n 1 >/dev/null; cp -a trials/002 ../killed/trials
	cd ../killed; kcampaign run -n 1 >/dev/null
	is trials/002/archive.ndjson "$(readlink archive.ndjson)"
	cmp trials/002/score.ndjson ../torn/trials/002/score.ndjson; diff -r rounds ../torn/rounds'
done_testing
