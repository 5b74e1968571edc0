#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How a round of the linear search is measured: quick set, full set, repeats; with a harness that gives the answers that
# the test needs.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

cat >helpers.sh <<'E'
E
# shellcheck source=/dev/null
. ./helpers.sh

# The evaluator with a harness next to it.
mkdir fake
cp "$KILN_BUILD/keval" fake
cat >fake/kharness <<'E'
#!/bin/sh
# Its requests go to $T/asked; the ratios of pairs come from the next line of $T/ratios, the last line repeatedly.
set=quick against= phase=both
while [ $# -gt 0 ]; do
	case $1 in
	--lint) exit 0 ;;
	-s) set=$2 ;;
	--against) against=1 ;;
	--phase) phase=$2 ;;
	esac
	shift
done
echo "$set $phase ${against:+race}" >>"$T/asked"
names='one odd main' timed=main
[ "$set" = quick ] || names='one odd row main' timed='row main'
ratio=$(head -1 "$T/ratios")
[ -z "$against" ] || sed -i '1{$!d}' "$T/ratios"
list() { sep=; for n in $1; do printf '%s' "$sep"; sep=,; eval "$2"; done; }
printf '{"schema":"harness/1","noise":{"floor":0.01},"candidates":[{"name":"candidate","status":"correct","tier":3,"correctness":{"passed":1,"total":1,"cases":['
list "${DROP:-$names}" 'printf "{\"workload\":\"%s\",\"ok\":true}" $n'
printf ']},"timing":['
list "$timed" 'printf "{\"workload\":\"%s\",\"samples_ns\":[1000],\"median_ns\":1000,\"min_ns\":1000,\"mean_ns\":1000}" $n'
printf ']}],"pairs":['
high=$(echo "${ratio-1 1}" | awk "{ print 2 * \$1 - \$2 }")
[ -z "$against" ] || list "$timed" 'printf "{\"name\":\"incumbent\",\"workload\":\"%s\",\"ratio\":%s,\"low\":%s,\"high\":%s}" $n ${ratio% *} ${ratio#* } $high'
printf ']}\n'
E
chmod +x fake/kharness
kcampaign new lv --task "$KILN_DATA/tests/tasks/affine" --mode linear >/dev/null
jq '.workloads |= map(if .name == "row" then .timed = true else . end)' lv/task.json >new && mv new lv/task.json
edit lv/campaign.json '.eval.set = "quick" | .eval.reuse = "off"'
cat >evaluate.sh <<'E'
# evaluate RATIOS...: one round against the baseline, each race using the next "ratio low".
evaluate() {
	printf '%s\n' "$@" >"$T/ratios"
	: >"$T/asked"
	cp "$T/lv/reference.c" code.c; echo "/* $* */ int n$$(void) { return 0; }" >>code.c
	jq -nc --rawfile code code.c '{trial: 1, branch: 1, id: "001/01", sample: {incumbent: "000/00"}, reply: {text:
		("```plan\n{\"hypothesis\":\"h\",\"change\":\"c\",\"category\":\"k\",\"bucket\":\"K1\"}\n```\n```c\n" + $code + "```\n")}}' |
		"$T/fake/keval" -c "$T/lv" -o eval.ndjson
	kscore -c "$T/lv" -r "$T/lv/trials/000/00/eval.ndjson" eval.ndjson >score.ndjson
	jq -c .score.decision score.ndjson
	code=$(jq -r .score.decision.code score.ndjson) level=$(jq -r .eval.level eval.ndjson) asked=$(tr '\n' , <"$T/asked")
}
E
ok 'the baseline is measured on the full set' '
	mkdir -p lv/trials/000/00; : >ratios; : >asked
	fake/keval -c lv --reference -o lv/trials/000/00/eval.ndjson
	is "full both ," "$(tr "\n" , <asked)"; is full "$(jq -r .eval.level lv/trials/000/00/eval.ndjson)"'
ok 'a clear gain is decided by the quick set, in turns with the last accepted program' '
	. ./evaluate.sh
	evaluate "1.2 1.1"
	is "gain quick quick both race," "$code $level $asked"'
ok 'a gain below 5 % goes to the full set; the result of the quick one is kept' '
	. ./evaluate.sh
	evaluate "1.04 1.03" "1.06 1.05"
	is "gain full quick both race,full both race," "$code $level $asked"
	is "1.04 2" "$(jq -r "\"\(.eval.quick.pairs[0].ratio) \(.eval.timing | length)\"" eval.ndjson)"
	evaluate "1.04 1.03" "0.97 0.96"; is "aggregate full" "$code $level"'
ok 'a gain below 2 % is measured three times more: mean and scatter decide' '
	. ./evaluate.sh
	evaluate "1.015 1.01" "1.015 1.01" "1.012 1" "1.016 1" "1.014 1"
	is "gain full 3" "$code $level $(jq ".eval.repeats | length" eval.ndjson)"
	jq -e ".score.decision.remeasured | .n == 3 and (.mean_pct - 1.4 | fabs) < 1e-6 and (.sd_pct - 0.2 | fabs) < 1e-6" score.ndjson
	evaluate "1.015 1.01" "1.015 1.01" "1.004 1" "1.006 1" "1.008 1"; is noise "$code"
	evaluate "1.10 0.98" "1.09 1" "1.11 1" "1.10 1"; is "gain quick" "$code $level"
	evaluate "0.98 0.97"; is "aggregate quick" "$code $level"
	evaluate "0.98 0.9"; is "inconclusive quick" "$code $level"
	evaluate "1.10 0.9" "1.09 1" "0.91 1" "1.00 1"; is noise "$code"'
ok 'as long as the mean may be above the limit or below it, there are more measurements, up to 15' '
	. ./evaluate.sh
	evaluate "1.015 1.01" "1.015 1.01" "1.030 1" "1.001 1" "1.014 1" "1.016 1"; is gain "$code"
	jq -e ".score.decision.remeasured | .n > 3 and .n < 15" score.ndjson
	set --
	for i in 1 2 3 4 5 6 7 8; do set -- "$@" "1.050 1" "0.980 0.9"; done
	evaluate "1.015 1.01" "1.015 1.01" "$@"
	is "volatile 15" "$code $(jq ".eval.repeats | length" eval.ndjson)"'
ok 'a result within the noise is measured again, if there is no larger set' '
	. ./evaluate.sh
	cp lv/campaign.json kept; edit lv/campaign.json ".eval.set = \"full\""
	evaluate "0.99 0.9" "1.014 1" "1.016 1" "1.015 1"; is "gain 3" "$code $(jq ".eval.repeats | length" eval.ndjson)"
	evaluate "0.99 0.9" "0.994 0.9" "0.996 0.9" "0.995 0.9"; is inconclusive "$code"
	evaluate "0.97 0.96"; is "aggregate null" "$code $(jq .eval.repeats eval.ndjson)"
	mv kept lv/campaign.json'
ok 'a set that was not measured completely gives no result' '
	. ./evaluate.sh
	export DROP="one main"
	exits 2 sh -euc ". ./evaluate.sh; evaluate \"1.2 1.1\""
	grep -q "workload odd of the active set quick was not checked; a round needs the whole set" err'
done_testing
