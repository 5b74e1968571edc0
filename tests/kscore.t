#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kscore: the ladder, the formula, gains, and what is refused.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

cat >campaign.json <<'E'
{"name":"test"}
E
cat >ref.ndjson <<'E'
{"trial":0,"branch":0,"id":"000/00","eval":{"status":"correct","tier":3,"log":"","noise":{"floor":0.01},"timing":[{"workload":"a","median_ns":33900000,"min_ns":30000000,"mean_ns":40000000}]}}
E
# record ID EVAL [SAMPLE]: a line with this evaluation.
cat >make.sh <<'E'
record() {
	printf '{"trial":1,"branch":1,"id":"%s",%s"eval":{"log":"",%s}}\n' "$1" "${3:+\"sample\":$3,}" "$2"
}
timed() {
	printf '"status":"correct","tier":3,"noise":{"floor":%s},"timing":[{"workload":"a","median_ns":%s,"min_ns":%s,"mean_ns":%s}]' \
	    "${2:-0.01}" "$1" "$1" "$1"
}
score() {
	kscore -r ref.ndjson "$@" | jq -c .score
}
E

ok 'help and version' '
	exits 0 kscore --help; grep -q "^usage: kscore" out
	exits 0 kscore --version; grep -q "^kscore " out'
ok 'usage errors' '
	exits 2 kscore; grep -q "REFERENCE" err; grep -q "^usage" err
	exits 2 kscore --nonsense
	exits 2 kscore -r nowhere.ndjson
	exits 2 kscore -r /dev/null'
ok 'every status has its rung' '
	. ./make.sh
	for s in no_code rejected quarantined compile_error run_error wrong_shape wrong_value partial correct; do
		record 001/01 "\"status\":\"$s\",\"tier\":1"
	done >in
	kscore -r ref.ndjson in | jq -r "[.score.perf_score,.score.combined,.score.correct,.score.gain]|@tsv" >got
	printf "%s\t%s\t%s\tfalse\n" 0 0 false 0 0 false 0 0 false 1 1 false 2 2 false 3 3 false 3 3 false 4 4 false 5 5 true >want
	same want got'
ok 'the formula, on the figures of the logs' '
	. ./make.sh
	for ns in 23800000 1070000 274000; do record 001/01 "$(timed $ns)"; done >in
	kscore -r ref.ndjson in | jq ".score.combined*1000|round|./1000" >got
	printf "9.273\n100.047\n376.168\n" >want
	same want got'
ok 'slower than the reference still earns' '
	. ./make.sh
	record 001/01 "$(timed 67800000)" >in
	is 6.5 "$(kscore -r ref.ndjson in | jq .score.combined)"
	is false "$(kscore -r ref.ndjson in | jq .score.gain)"'
ok 'the reference scores 1x' '
	is "1 8 false" "$(kscore -r ref.ndjson ref.ndjson | jq -r "\"\(.score.speedup) \(.score.combined) \(.score.gain)\"")"'
ok 'the multiplier is a knob' '
	. ./make.sh
	mkdir -p k; printf "{\"name\":\"k\",\"score\":{\"multiplier\":1}}" >k/campaign.json
	record 001/01 "$(timed 10000000)" >in
	is "3.39 8.39" "$(kscore -c k -r ref.ndjson in | jq -r "\"\(.score.speedup) \(.score.combined)\"")"'
ok 'existing members pass through byte for byte' '
	. ./make.sh
	record 001/01 "$(timed 10000000)" >in
	kscore -r ref.ndjson in >out
	head -c "$(($(wc -c <in) - 2))" in >want; head -c "$(($(wc -c <in) - 2))" out >got; same want got'
ok 'rebuilt, it is the same byte for byte' '
	. ./make.sh
	record 001/01 "$(timed 10000001)" >in
	kscore -r ref.ndjson -o a.ndjson in; kscore -r ref.ndjson <in >b.ndjson; same a.ndjson b.ndjson'
ok 'bad times are refused by name' '
	. ./make.sh
	for t in 0 -1 null "\"x\"" true; do
		record 001/01 "$(timed $t)" >in
		exits 2 kscore -r ref.ndjson -o bad.ndjson in
		grep -q "in:1: workload a: the candidate has no valid median time" err
		[ ! -e bad.ndjson ]
	done
	printf "%s\n" "{\"eval\":{\"status\":\"correct\",\"timing\":[{\"workload\":\"a\",\"median_ns\":NaN}]}}" >in
	exits 2 kscore -r ref.ndjson in'
ok 'other workloads than the reference are refused by name' '
	. ./make.sh
	record 001/01 "\"status\":\"correct\",\"timing\":[{\"workload\":\"b\",\"median_ns\":5}]" >in
	exits 2 kscore -r ref.ndjson in
	grep -q "only the reference has {a}, only the candidate has {b}" err'
ok 'an unknown status, a record without evaluation' '
	. ./make.sh
	record 001/01 "\"status\":\"splendid\"" >in; exits 2 kscore -r ref.ndjson in; grep -q splendid err
	echo "{}" >in; exits 2 kscore -r ref.ndjson in; grep -q "eval.status" err
	echo "{\"eval\":{\"status\":\"correct\"},\"score\":{}}" >in; exits 2 kscore -r ref.ndjson in; grep -q "already" err'
ok 'a broken reference is refused' '
	echo "{\"id\":\"000/00\",\"eval\":{\"status\":\"wrong_value\"}}" >r
	exits 2 kscore -r r ref.ndjson; grep -q "correct, timed" err'
ok 'gain over the reference while there is no incumbent' '
	. ./make.sh
	record 001/01 "$(timed 32500000)" >in; is true "$(score in | jq .gain)"
	record 001/01 "$(timed 33500000)" >in; is false "$(score in | jq .gain)"'
ok 'gain over the incumbent needs more than the noise of both' '
	. ./make.sh
	mkdir -p trials/005/02
	record 005/02 "$(timed 10000000 0.03)" >trials/005/02/eval.ndjson
	for ns in 9600000 9200000; do record 006/01 "$(timed $ns 0.04)" "{\"incumbent\":\"005/02\"}"; done >in
	is "false true" "$(score in | jq -s -r "map(.gain|tostring)|join(\" \")")"
	record 006/01 "$(timed 9300000 0.04)" >in
	echo "{\"kind\":\"archive\",\"schema\":\"archive/1\",\"best\":{\"id\":\"005/02\"}}" >arch
	is "true 1.075" "$(kscore -a arch -r ref.ndjson in | jq -r "\"\(.score.gain) \(.score.gain_ratio*1000|round|./1000)\"")"'
ok 'pairs decide by the lower end' '
	. ./make.sh
	pair() { printf "%s,\"pairs\":[{\"name\":\"incumbent\",\"id\":\"005/02\",\"workload\":\"a\",\"ratio\":%s,\"low\":%s,\"high\":9}]" "$(timed 5000000)" "$1" "$2"; }
	for p in "1.05 1.03" "1.05 1.019" "0.9 0.8"; do
		# shellcheck disable=SC2086
		record 006/01 "$(pair $p)" "{\"incumbent\":\"005/02\"}"
	done >in
	is "true false false" "$(score in | jq -s -r "map(.gain|tostring)|join(\" \")")"
	is "1.05 1.05 0.9" "$(score in | jq -s -r "map(.gain_ratio*100|round|./100|tostring)|join(\" \")")"'
# beside NAME ID RATIO LOW HIGH [NS]: timed in turns with an anchor. known FILE ID SPEEDUP LOW HIGH: a score.
# raced FILE ID RATIO LOW HIGH [MORE]: a race against the reference.
cat >>make.sh <<'E'
beside() {
	printf '%s,"anchor":"%s","pairs":[{"name":"%s",%s"workload":"a","ratio":%s,"low":%s,"high":%s}]' "$(timed "${6:-5000000}")" \
	    "$1" "$1" "${2:+\"id\":\"$2\",}" "$3" "$4" "$5"
}
known() {
	mkdir -p "${1%/*}"
	jq -nc --arg id "$2" "{trial: 3, branch: 2, id: \$id, eval: {timing: [{workload: \"a\"}]}, score: {speedup: $3, speedup_low: $4,
		speedup_high: $5, per_workload: [{workload: \"a\", speedup: $3, speedup_low: $4, speedup_high: $5}]}}" >"$1"
}
raced() {
	mkdir -p "${1%/*}"
	jq -nc --arg id "$2" "{id: \$id, pairs: [{name: \"reference\", workload: \"a\", ratio: $3, low: $4, high: $5}]} | ${6:-.}" >"$1"
}
figure() { jq -r '[.speedup, .speedup_low, .speedup_high] | map(. * 1000 | round / 1000) | join(" ")'; }
incumbent='{"incumbent":"003/02"}'
mkdir -p trials/003/02
record 003/02 "$(timed 6250000)" >trials/003/02/eval.ndjson
E

ok 'the score is the race with the anchor times its own speed-up, whatever the machine does to the times' '
	. ./make.sh
	known trials/003/score.ndjson 003/02 10 9.5 10.5
	for ns in 5000000 500000 50000000; do
		record 006/01 "$(beside incumbent 003/02 1.25 1.2 1.3 $ns)" "$incumbent"
	done >in
	is "12.5 11.707 13.308 42.5" "$(score in | jq -s -r "map([.speedup, .speedup_low, .speedup_high, .combined]) | unique[] | map(. * 1000 | round / 1000) | join(\" \")")"
	is "incumbent 003/02 10 9.5 10.5 gain true null" "$(score in | head -n 1 | jq -r ".anchor as \$a
		| \"\(\$a.name) \(\$a.id) \(\$a.speedup) \(\$a.low) \(\$a.high) \(.verdict) \(.gain) \(.provisional)\"")"'
ok 'the newest race of the anchor against the reference counts, and none that the trial could not know of' '
	. ./make.sh
	record 006/01 "$(beside incumbent 003/02 1.25 1.25 1.25)" "$incumbent" | jq -c ".trial = 6" >in
	wrapped="{id, eval: {status: \"correct\", pairs, machine: {busy: false}}}"
	raced trials/006/verify.ndjson 003/02 99 99 99 "$wrapped"; raced trials/007/anchor.ndjson 003/02 99 99 99
	raced trials/005/verify.ndjson 004/01 99 99 99 "$wrapped"
	is "12.5 11.875 13.125" "$(score in | figure)"
	raced trials/004/verify.ndjson 003/02 20 20 20 "$wrapped"
	is "25 25 25" "$(score in | figure)"
	is trials/004/verify.ndjson "$(score in | jq -r .anchor.from)"
	raced trials/006/anchor.ndjson 003/02 40 40 40
	is "50 50 50" "$(score in | figure)"
	raced trials/006/anchor.ndjson 003/02 40 40 40 ".machine.busy = true"
	is true "$(score in | jq .provisional)"
	raced trials/006/anchor.ndjson 003/02 40 40 40 ".eval = {status: \"wrong_value\", pairs} | del(.pairs)"
	is "25 25 25" "$(score in | figure)"
	rm trials/00[4567]/*.ndjson'
ok 'the reference and baselines anchor as well; an incumbent that is the baseline of a chain is the reference' '
	. ./make.sh
	record 001/01 "$(beside reference "" 3 2.9 3.1)" >in
	is "3 2.9 3.1 true gain" "$(score in | figure) $(score in | jq -r "\"\(.gain) \(.verdict)\"")"
	record 001/01 "$(beside incumbent 000/00 3 2.9 3.1)" >in
	is "3 2.9 3.1" "$(score in | figure)"
	jq -c ".eval.baselines = [{name: \"blas\", timing: [{workload: \"a\"}], pairs: [{name: \"reference\", workload: \"a\", ratio: 50, low: 49, high: 51}]}]" ref.ndjson >with
	record 001/01 "$(beside blas "" 0.5 0.5 0.5)" >in
	is "25 24.5 25.5 null" "$(kscore -r with in | jq .score | figure) $(kscore -r with in | jq .score.provisional)"
	jq -c ".eval.baselines[0].machine.busy = true" with >busy
	is true "$(kscore -r busy in | jq .score.provisional)"'
ok 'workloads count by their weights, and their errors as independent' '
	. ./make.sh
	jq -c ".eval.timing += [.eval.timing[0] | .workload = \"b\"]" ref.ndjson >two
	record 001/01 "$(beside reference "" 2 1 4)" | jq -c ".eval.timing[0].weight = 3 | .eval.timing += [.eval.timing[0] | .workload = \"b\" | .weight = 1]
		| .eval.pairs += [.eval.pairs[0] | .workload = \"b\" | .ratio = 32 | .low = 16 | .high = 64]" >in
	# A factor of 2 to the power of sqrt(3^2 + 1^2) / 4.
	is "4 2.312 6.919" "$(kscore -r two in | jq .score | figure)"
	is "2 1 4 32 16 64" "$(kscore -r two in | jq -r "[.score.per_workload[] | .speedup, .speedup_low, .speedup_high] | join(\" \")")"'
ok 'a missing link is replaced by separate times, and the result is provisional' '
	. ./make.sh
	record 001/01 "$(timed 10000000 0.05)" >in
	is "3.39 true" "$(score in | jq -r "\"\(.speedup) \(.provisional)\"")"
	score in | jq -e ".speedup_low < 3.39 / 1.05 and .speedup_high > 3.39 * 1.05 and (has(\"anchor\") | not)"
	record 006/01 "$(beside incumbent 002/09 1.25 1.2 1.3)" "{\"incumbent\":\"002/09\"}" >in
	mkdir -p trials/002/09; record 002/09 "$(timed 6250000)" >trials/002/09/eval.ndjson
	is "6.78 true gain" "$(score in | jq -r "\"\(.speedup) \(.provisional) \(.verdict)\"")"
	known trials/003/score.ndjson 003/02 10 9.5 10.5
	jq -c "del(.score.speedup_low, .score.speedup_high)" trials/003/score.ndjson >x; mv x trials/003/score.ndjson
	record 006/01 "$(beside incumbent 003/02 1.25 1.2 1.3)" "$incumbent" >in
	is true "$(score in | jq .provisional)"'
ok 'a busy machine: the figure is provisional; without times there is neither a figure nor a gain nor a loss' '
	. ./make.sh
	record 001/01 "$(beside reference "" 3 2.9 3.1),\"machine\":{\"busy\":true}" >in
	is true "$(score in | jq .provisional)"
	record 001/01 "\"status\":\"correct\",\"machine\":{\"busy\":true}" >in
	is "5 true false 5 inconclusive null" "$(score in | jq -r "\"\(.combined) \(.correct) \(.gain) \(.perf_score) \(.verdict) \(.speedup)\"")"'
ok 'what the interval says: gain, loss, same, inconclusive; only the first gains' '
	. ./make.sh
	known trials/003/score.ndjson 003/02 10 9.5 10.5
	check() {
		record 006/01 "$(beside incumbent 003/02 "$1" "$2" "$3")" "$incumbent" >in
		is "$4 $5" "$(score in | jq -r "\"\(.verdict) \(.gain)\"")"
	}
	check 1.05 1.03 1.07 gain true
	check 1.5 0.9 2.5 inconclusive false
	check 1.05 1.019 1.08 inconclusive false
	check 0.7 0.4 1.01 inconclusive false
	check 0.9 0.8 0.99 loss false
	check 1 0.995 1.005 same false
	check 1.015 1.012 1.018 same false'

ok 'a duplicate never gains' '
	. ./make.sh
	record 001/01 "\"duplicate_of\":\"001/02\",$(timed 1000000)" >in
	is false "$(score in | jq .gain)"'
ok 'an incumbent that is not correct does not count' '
	. ./make.sh
	mkdir -p trials/004/01
	record 004/01 "\"status\":\"wrong_value\"" >trials/004/01/eval.ndjson
	record 006/01 "$(timed 30000000)" "{\"incumbent\":\"004/01\"}" >in
	is true "$(score in | jq .gain)"
	record 006/01 "$(timed 30000000)" "{\"incumbent\":\"009/01\"}" >in
	exits 2 kscore -r ref.ndjson in; grep -q "trials/009/01" err'
ok 'pairs with an incumbent found wrong since say nothing: the best of the archive counts, else the reference' '
	. ./make.sh
	mkdir -p trials/003/01
	record 003/01 "$(timed 20000000 0.01)" >trials/003/01/eval.ndjson
	beside() { printf "%s,\"pairs\":[{\"name\":\"incumbent\",\"id\":\"004/01\",\"workload\":\"a\",\"ratio\":%s,\"low\":%s,\"high\":9}]" "$(timed "$1" 0.01)" "$2" "$2"; }
	record 006/01 "$(beside 10000000 0.9)" "{\"incumbent\":\"004/01\"}" >in
	record 006/02 "$(beside 30000000 1.5)" "{\"incumbent\":\"004/01\"}" >>in
	is "true true" "$(score in | jq -s -r "map(.gain|tostring)|join(\" \")")"
	echo "{\"kind\":\"archive\",\"schema\":\"archive/1\",\"best\":{\"id\":\"003/01\"}}" >arch
	is "true 2 false 0.67" "$(kscore -a arch -r ref.ndjson in | jq -r "\"\(.score.gain) \(.score.gain_ratio*100|round|./100)\"" | xargs)"'
ok 'the form of the member agrees with its schema' '
	. ./make.sh
	record 001/01 "$(timed 10000000)" >in
	jq -c ".properties|keys" "$KILN_DATA/docs/schemas/score-1.json" >known
	kscore -r ref.ndjson in | jq -c ".score|keys-$(cat known)" >got; echo "[]" >want; same want got
	known trials/003/score.ndjson 003/02 10 9.5 10.5
	record 006/01 "$(beside incumbent 003/02 1.05 1.03 1.07)" "$incumbent" >in
	kscore -r ref.ndjson in | jq -c ".score|keys-$(cat known)" >got; same want got
	jq -c ".properties.anchor.properties|keys" "$KILN_DATA/docs/schemas/score-1.json" >known.anchor
	kscore -r ref.ndjson in | jq -c ".score.anchor|keys-$(cat known.anchor)" >got; same want got'
done_testing
