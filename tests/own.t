#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A project's own build, test and benchmark: small gains are distinguished from noise, by time or by a metric of
# its own. tests/bench/own-commands.sh does the same with real times.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

# A benchmark whose times consist of the kernel's WASTE, the drift of the machine (a tenth, slowly), and noise
# that depends on the number of the run: 0.6 % each way.
cat >bench.sh <<'E'
#!/bin/sh
n=$(($(cat "$T/runs" 2>/dev/null || echo 0) + 1))
echo "$n" >"$T/runs"
sizes='20000 40000'
[ "$KILN_SET" = quick ] || sizes="$sizes 80000"
echo "Size,Check,Time (ms),Melem/s"
waste=$(sed -n 's/^WASTE = //p' "$KILN_CODE")
for s in $sizes; do
	awk -v n="$n" -v s="$s" -v w="$waste" 'BEGIN { srand(n * 7 + s); rand(); noise = 1 + (rand() - 0.5) * 0.012
		t = s / 20000 * (1000 + w) / 2000 * (1 + 0.1 * sin(n / 40)) * noise
		printf "%d,PASS,%.6f,%.6f\n", s, t, s / t / 1000 }'
done
E
cat >helpers.sh <<'E'
# campaign FOLDER TIMING: a linear campaign of the Python project with this timing command.
campaign() {
	mkdir "$1"
	cp "$KILN_DATA"/tests/tasks/python_digest/* "$T/bench.sh" "$1"
	jq -n --argjson timing "$2" '{name: "own", backend: "triton", search: {mode: "linear"}, model: {provider: "null"},
		eval: {build: {command: "python3 -m py_compile \"$KILN_CODE\""}, timing: $timing,
			correctness: {command: "python3 test_digest.py", files: ["test_digest.py"]}}}' >"$1/campaign.json"
	(cd "$1" && mkdir -p trials/000/00 && keval --reference -o trials/000/00/eval.ndjson)
}
# round WASTE: a round whose kernel wastes that many thousandths; prints its decision.
round() {
	sed "s/^WASTE = .*/WASTE = $1/" reference.py >kernel.py
	jq -nc --rawfile code kernel.py '{schema: "candidate/1", campaign: "own", trial: 1, branch: 1, id: "001/01", sample: {incumbent: "000/00"}, reply: {text:
		("```plan\n{\"hypothesis\":\"h\",\"change\":\"c\",\"category\":\"k\",\"bucket\":\"K1\"}\n```\n```python\n" + $code + "```\n")}}' |
		keval -o eval.ndjson
	kscore -r trials/000/00/eval.ndjson eval.ndjson >score.ndjson
	jq -r .score.decision.code score.ndjson
}
time='{"command":"sh bench.sh","files":["bench.sh"],"sandbox":false,"format":"csv","columns":{"workload":"Size","time":"Time (ms)","ok":"Check"}}'
rate='{"command":"sh bench.sh","files":["bench.sh"],"sandbox":false,"format":"csv","metric":"Melem/s","direction":"higher","columns":{"workload":"Size","ok":"Check"}}'
E
# shellcheck source=/dev/null
. ./helpers.sh
campaign time "${time:-}"
campaign rate "${rate:-}"

# The work is (1000 + WASTE) / 2000: 970 is 1.5 % faster, 990 0.5 %.
ok 'a gain of 1.5 % is accepted, measured in turns, on the full set, and three times more' '
	. ./helpers.sh; cd time
	is gain "$(round 970)"
	jq -e ".eval | .level == \"full\" and .quick.pairs and .anchor == \"incumbent\" and (.repeats | length) == 3 and
		(.pairs | length) == 3 and all(.pairs[]; .id == \"000/00\" and .pairs >= 6 and .low < .ratio and .ratio < .high)" eval.ndjson
	jq -e ".score.decision.remeasured | .n == 3 and .mean_pct > 1.2 and .mean_pct < 1.8" score.ndjson'
ok 'a gain of 0.5 % is rejected, and so is the same program' '
	. ./helpers.sh; cd time
	is noise "$(round 990)"
	round 1000 >code; grep -Eqx "aggregate|inconclusive|noise" code
	is aggregate "$(round 1100)"'
ok 'a clear gain takes few turns' '
	. ./helpers.sh; cd time; before=$(cat "$T/runs")
	is gain "$(round 400)"; is 12 $(($(cat "$T/runs") - before))'
ok 'a metric of its own decides in the same way as a time, higher or lower' '
	. ./helpers.sh; cd rate
	is gain "$(round 970)"; jq -e ".eval.log | contains(\"Melem/s\") and (contains(\" ms\") | not)" eval.ndjson
	is noise "$(round 990)"; is aggregate "$(round 1100)"'
ok 'a kernel that its own test rejects is not timed' '
	. ./helpers.sh; cd time; before=$(cat "$T/runs")
	cp reference.py keep; sed "s/return total/return 1 + total/" keep >reference.py
	is wrong "$(round 500)"; mv keep reference.py; is "$before" "$(cat "$T/runs")"'
ok 'in repository mode the commands run in a copy of the project, with the candidate in place of its kernel' '
	. ./helpers.sh
	chmod 755 "$T"; mkdir -p project/src project/tests; git init -q project 2>/dev/null || :
	cp "$KILN_DATA/tests/tasks/python_digest/reference.py" project/src/digest.py; cp bench.sh project
	echo "import sys; sys.path.insert(0, \"src\"); import digest; assert digest.digest(3) == 5; open(\"built\").read()" >project/tests/check.py
	cp -r time repo; cd repo; rm -rf trials; mkdir -p trials/000/00
	edit campaign.json ".git = {kernel_path: \"src/digest.py\"} | .eval += {repository: \"../project\", build: {command: \"echo yes >built; echo broken >tests/check.py\"},
		correctness: {command: \"python3 tests/check.py\"}} | .eval.timing.command = \"sh bench.sh\" | del(.eval.timing.files)"
	keval --reference -o trials/000/00/eval.ndjson
	is gain "$(round 400)"
	cp reference.py keep; sed "s/return total/return 1 + total/" keep >reference.py; is wrong "$(round 500)"; mv keep reference.py
	git -C ../project status --short 2>/dev/null | sort >status; grep -q built status && exit 1; is 1 "$(grep -c "^WASTE = 1000" ../project/src/digest.py)"
	edit campaign.json "del(.git)"; exits 2 keval --reference -o none; grep -q "eval.repository needs git.kernel_path" err'
ok 'the prompt promises what these commands do, and nothing that only kiln would' '
	cd rate
	jq -nc --rawfile code reference.py "{schema: \"candidate/1\", campaign: \"own\", trial: 1, branch: 1, id: \"001/01\", sample: {status: \"correct\", seed: \"1\", strategy: \"refine\", incumbent: \"000/00\",
		parent: {id: \"000/00\", status: \"correct\", code: \$code, runtime_ms: 0.5, per_workload: [{workload: \"w\", runtime_ms: 0.25}]}}}" >sample
	kprompt sample | jq -r .prompt.user >user
	grep -q "own test decides it: .python3 test_digest.py" user; grep -q "measures Melem/s (higher is better): .sh bench.sh" user
	grep -q "own command builds it" user
	grep -q "2000.000 Melem/s.*; w 4000.000 Melem/s" user; if grep -q "[0-9] ms" user; then exit 1; fi
	if grep -Ei "oracle|NaN pattern|drawn anew|gcc|in a sandbox|median over|with this command and no other" user; then exit 1; fi'
ok 'the report has the metric of the command, and what ran outside the sandbox' '
	. ./helpers.sh; cp -r rate page; cd page; rm -rf trials; kcampaign baseline >/dev/null; kreport --markdown >r
	jq -e ".own == {judges: true, times: true, metric: \"Melem/s\", better: \"higher\", outside: \"timing\"}" <<-E
		$(kreport --json)
	E
	grep -Eq "[0-9] Melem/s" r; if grep -v "^| Time in" r | grep -E "[0-9] (ms|µs|ns)"; then exit 1; fi'
done_testing
