# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2089,SC2090,SC2154
# For tests of memory and tips: a campaign of six rounds as records, and helpers for the scripts in $T/helpers.sh.
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
# shellcheck source=tests/reseal.sh
. "$tests_dir/reseal.sh"

# The scored records of six rounds, one per trial: trial|status|verdict|code|microseconds|category|bucket|change.
cat >rounds <<'E'
0|correct|baseline|baseline|1000|||
1|correct|accepted|gain|500|vectorized_load|K1|load 128 bits at once
2|correct|rolled_back|aggregate|700|unroll|K1|unroll by MARK-TWO
3|wrong_value|rolled_back|wrong||online_softmax|K3|MARK-THREE one pass with a running maximum
4|correct|rolled_back|audit|300|cache|K1|keep the maxima between calls
5|correct|accepted|gain|400|fewer_passes|K1|fuse the second pass
6|correct|rolled_back|noise|401|prefetch|K1|prefetch two rows ahead
E
cat >round.jq <<'E'
split("|") as [$t,$status,$verdict,$code,$us,$category,$bucket,$change] |
($t | tonumber) as $n | ("00" + $t + (if $n == 0 then "/00" else "/01" end)) as $id |
{schema: "candidate/1", campaign: "c", trial: $n, branch: (if $n == 0 then 0 else 1 end), id: $id,
 eval: ({status: $status, time: "2026-11-21T10:0\($t):00Z", code: "int x;", log: (if $status == "correct" then "" else "row 3: 1 instead of 2" end),
   correctness: {passed: 3, total: 4, cases: [{workload: "4096x1024", seed: "1", distribution: "normal", ok: true, max_abs_err: 0.25, max_err_share: 0.125}]}}
  + (if $us == "" then {} else {timing: [
     {workload: "4096x1024", samples_ns: [1], median_ns: ($us | tonumber * 2000)},
     {workload: "3x1000003", samples_ns: [1], median_ns: ($us | tonumber * 500)}]} end)
  + (if $n == 0 then {} else {plan: {hypothesis: "time falls", change: $change, category: $category, bucket: $bucket, expected_gain_pct: 10,
     risks: "spills", signal: "fewer misses", evidence: "misses -> latency -> \($category)", directions: ["try \($t)a", "try \($t)b"]}} end)),
 score: ({perf_score: 5, correct: ($status == "correct"), combined: 5, gain: false,
   decision: {verdict: $verdict, trade_off: false, code: $code, line: "Round \($n + 1): \($verdict)", round: ($n + 1), improvement_pct: 8.5}}
  + (if $us == "" then {} else {speedup: (1000 / ($us | tonumber)), per_workload: [{workload: "4096x1024", speedup: 1, runtime_ms: 1}]} end))}
| if $n > 0 then .sample = {parent: {id: "000/00"}, strategy: "linear"} else . end
| if $code == "audit" then .audit = {decision: "REJECT-as-overfit", bucket: "W3", reasons: ["results kept between calls"]} else . end
| if $n == 5 then .score.utilization = [{workload: "a", tflops: 2, gbps: 10, compute_pct: 20, memory_pct: 40},
    {workload: "b", tflops: 8, gbps: 40, compute_pct: 20, memory_pct: 90}] else . end
E

# fixture FOLDER: a campaign with those rounds, with memory and tips enabled, and tips in FOLDER.tips.
fixture() {
	kcampaign new "$1" --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq --arg tips "$PWD/$1.tips" '.memory = {enabled: "on"} | .tips = {dir: $tips} | .gpu = "NVIDIA H200"
		| .model = {provider: "null"}' "$1/campaign.json" >new.json
	mv new.json "$1/campaign.json"
	while read -r line; do
		t=$1/trials/00${line%%|*}
		mkdir -p "$t"
		printf '%s\n' "$line" | jq -Rc -f round.jq >"$t/score.ndjson"
		printf '{"schema":"archive/1","trial":%d}\n' "${line%%|*}" >"$t/archive.ndjson"
	done <rounds
	kcampaign upgrade -c "$1" >/dev/null
}
cat >helpers.sh <<'E'
# prompt FOLDER TRIAL: the user text of a prompt of that trial.
prompt() {
	jq -c --argjson t "$2" '.trial = $t | del(.sample.rounds)' "$tests_dir/golden/kprompt/record.json" | kprompt -c "$1" >p.ndjson
	jq -j .prompt.user p.ndjson
}
lacks() {
	if grep "$@"; then
		echo "found: $*"
		return 1
	fi
}
# masks FOLDER: what its seal says about masks.
masks() {
	[ ! -e "$1/seal.ndjson" ] || jq -c 'select(.versions)' "$1/seal.ndjson"
}
sums() {
	(cd "$1" && sha256sum memory/v*.json)
}
valid() {
	! /usr/bin/python3 -W ignore -c "import jsonschema" 2>/dev/null ||
		/usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" "$@"
}
# set FOLDER FILTER: the manifest of the fixture, changed, becomes that of FOLDER.
set_knobs() {
	jq "$2" "$T/c/campaign.json" >"$1/campaign.json"
}
E

# A second model that answers in the required form.
good='cat >asked; printf "## Resolved\n- wide loads pay (v1)\n## Pending\n- MARK-PENDING (v6)\n## Avoid\n- MARK-AVOID (v2)\n"'
export good
