#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016	# scripts in quotes
# kaudit: rules and their examples, what is new in a candidate, buckets and waivers, figures for buffers seen before,
# skew, weights, the report. Measurements are in reuse.t.
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"

rules=$KILN_DATA/patterns/audit.json grouped=$tests_dir/tasks/grouped_c cheats=$tests_dir/cheats
export rules grouped cheats

# The campaign that the records belong to: a grouped product, without a model and without measurements.
kcampaign new c --task "$grouped" >/dev/null
jq '.eval = {seeds: 1, timing_s: 0.1, threads: 1, build_timeout_s: 30} | .backend = "c"' c/campaign.json >new.json
mv new.json c/campaign.json
mkdir -p c/trials/000/00
row() { printf '{"workload":"%s","samples_ns":[%d],"median_ns":%d,"min_ns":%d,"mean_ns":%d}' "$1" "$2" "$2" "$2" "$2"; }
printf '{"schema":"candidate/1","campaign":"c","trial":0,"branch":0,"id":"000/00","eval":{"status":"correct","tier":3,"log":"","code":"void grouped(void) {}","noise":{"floor":0.01},"timing":[%s,%s]}}\n' \
	"$(row even 1000)" "$(row skewed 1000)" >c/trials/000/00/eval.ndjson
# record [JQ]: the record of a correct candidate, twice as fast as the reference on every workload, changed by JQ.
cat >record <<'E'
#!/bin/sh -eu
jq -c '.trial = 1 | .branch = 1 | .id = "001/01" | .sample = {incumbent: "000/00", parent: {id: "000/00", code: .eval.code}}
	| .eval.timing |= map(.median_ns = 500) | .eval.reuse = (.eval.timing | map({workload, gap_pct: 0, low_pct: -1, high_pct: 1}))
	| '"${1:-.}" c/trials/000/00/eval.ndjson
E
# code TEXT: jq that gives the record this program, and its parent an empty one; body TEXT: only the entry point's body.
cat >code <<'E'
#!/bin/sh -eu
jq -nr --arg t "$1" '".sample.parent.code = \"\" | .eval.code = \($t | tojson)"'
E
# audited [JQ]: the member that kaudit adds.
cat >audited <<'E'
#!/bin/sh -eu
record "${1:-.}" | kaudit -c c | jq -c .audit
E
chmod 755 record code audited
PATH=$T:$PATH
signature='void grouped(const float *x, const float *w, const int *offsets, float *y, int rows, int groups, int K, int N)'
export signature

ok 'usage' '
	exits 0 kaudit --help; grep -q "^usage: kaudit" out
	exits 0 kaudit --version; grep -q "^kaudit [0-9]" out
	exits 2 kaudit --nonsense; grep -q usage: err
	exits 2 kaudit --source; grep -q "needs files" err
	exits 2 kaudit --report --check; grep -q "cannot be used together" err
	exits 2 kaudit --report x; grep -q "unexpected operand" err
	exits 2 kaudit -c nowhere; grep -q campaign.json err
	echo "{\"id\":\"001/01\"}" >in; exits 2 kaudit -c c in; grep -q "in:1: .*eval.status" err
	record | kaudit -c c >in; exits 2 kaudit -c c in; grep -q "already" err'
ok 'every rule matches its examples and not the clean ones' 'kaudit --check'
ok 'a rule that misses its example or accuses a clean one is reported' '
	jq ".rules[0].match += [\"int x;\"]" "$rules" >r.json; exits 1 kaudit --check --rules r.json; grep -q "rule kept_pointer misses its example" err
	jq ".rules[0].clean += .rules[0].match" "$rules" >r.json; exits 1 kaudit --check --rules r.json; grep -q "rule kept_pointer accuses" err'
ok 'a faulty table is refused, with rule and field' '
	try() { jq "$1" "$rules" >r.json; exits 2 kaudit --check --rules r.json; grep -q "$2" err || { cat err; return 1; }; }
	try ".rules[1].patern = 1" "rules\[1\].patern: unknown field; did you mean rules\[1\].pattern?"
	try "del(.rules[1].why)" "rules\[1\].why: is missing"
	try ".rules[2].match = []" "rules\[2\].match: must not be empty"
	try ".rules[0].bucket = \"W9\"" "rules\[0\].bucket: must be one of"
	try ".rules[0].pattern = \"(a\"" "rule kept_pointer, offset 2: missing closing parenthesis: (a"
	try ".rules[1].id = .rules[0].id" "two rules have the name kept_pointer"
	try ".schema = \"x\"" "r.json: schema: must be audit-rules/1"
	try ".rules[0].when = \"x\"" "rules\[0\].when: must be grouped"'

ok 'no honest kernel of the corpus is accused' '
	cd "$cheats"
	for t in $(jq -r "select(.file | contains(\"/good/\")) | .backend + \":\" + .task" cheats.ndjson | sort -u); do
		jq -r --arg t "${t#*:}" "select(.task == \$t and (.file | contains(\"/good/\"))) | .file" cheats.ndjson |
			xargs kaudit --source -b "${t%%:*}" -t "${t#*:}/task.json"
	done
	kaudit --source -b c -t ../hostile/task.json ../hostile/good-*.c'
ok 'caches among the cheats are found' '
	hit() { rc=0; kaudit --source -b "$1" -t "$cheats/tasks/$2/task.json" "$cheats/$3" >out || rc=$?; is 1 $rc; grep -q " $4: " out; }
	hit c cheat_matmul_c c/bad/cache-pointer-copy.c pointer_table
	hit c cheat_sum_c c/bad/static-replay.c output_kept
	hit c cheat_matmul_c c/bad/cache-fingerprint.c output_kept
	hit cuda cheat_matmul cuda/bad/cache-pointer.cu pointer_table
	hit cuda cheat_softmax cuda/bad/graph-replay.cu graph_replay'
ok 'recorded replies of the campaigns are not accused' '
	n=0
	for r in "$KILN_DATA"/campaigns/*/replies/*/*.ndjson; do
		c=${r%/replies/*}; n=$((n + 1))
		jq -r .reply.text "$r" | awk "/^\`\`\`/ { on = !on; if (!on && length(now) > length(best)) best = now; now = \"\"; next }
			on { now = now \$0 \"\\n\" } END { printf \"%s\", best }" >"${c##*/}-$n.src"
	done
	for c in "$KILN_DATA"/campaigns/*; do
		ls "${c##*/}"-[0-9]*.src >list 2>/dev/null || continue
		xargs kaudit --source -b "$(jq --rules ".backend // \"c\"" "$c/campaign.json")" -t "$c/$(jq -r ".task // \"task.json\"" "$c/campaign.json")" <list
	done
	[ "$n" -ge 50 ]'

ok 'an honest record' '
	audited >a
	jq -e ".bucket == \"K\" and .hits == [] and .decision == \"ACCEPT-as-real\" and .reasons == [] and .fresh.ok and (has(\"not_measured\") | not) and
		.skew == {required: true, rows: [{workload: \"skewed\", delta_pct: 100}], ok: true}" a
	record >in; kaudit -c c in >x; kaudit -c c <in >y; same x y
	head -c "$(($(wc -c <in) - 2))" in >want; head -c "$(($(wc -c <in) - 2))" x | cmp - want'
ok 'only what is new is judged' '
	old="static const float *last; $signature { if (x == last) return; last = x; }"
	audited "$(code "$old")" >a
	jq -e ".decision == \"REJECT-as-overfit\" and .bucket == \"W2\" and .hits[0].rule == \"kept_pointer\" and .hits[0].line == 1 and
		(.reasons[0] | startswith(\"kept_pointer, line 1: compares a pointer\"))" a
	audited "$(code "$old") | .sample.parent.code = .eval.code + \"\n\" | .eval.code += \"\n/* x */\"" >a
	jq -e ".hits == [] and .decision == \"ACCEPT-as-real\"" a'
ok 'comments and strings are not code' '
	audited "$(code "/* static const float *last; if (x == last) */ $signature { f(\"memcmp(x, x)\"); }")" | jq -e ".hits == []"'
ok 'files of a bundle are compared with those of the parent' '
	audited ".eval.files = [{path: \"a.h\", content: \"int f;\nstatic uintptr_t key[9];\n\"}]" >a
	jq -e ".hits[0] | .file == \"a.h\" and .line == 2 and .rule == \"kept_address\"" a
	audited ".eval.files = [{path: \"a.h\", content: \"int f;\nstatic uintptr_t key[9];\n\"}] | .sample.parent.files = .eval.files" |
		jq -e ".hits == []"'
ok 'constant sizes of groups are for uniform benchmarks' '
	audited "$(code "#define ROWS_PER_GROUP 32
$signature { }")" | jq -e ".decision == \"REJECT-as-overfit\" and .bucket == \"uniform\" and .hits[0].rule == \"fixed_group_size\""
	audited "$(code "$signature { int each = rows / groups; use(each); }")" |
		jq -e ".decision == \"ACCEPT-as-real\" and .hits[0].note and .hits[0].rule == \"even_split\""'
ok 'without a parent the reference is used for comparison' '
	kaudit -c c c/trials/000/00/eval.ndjson | jq -e ".audit.decision == \"ACCEPT-as-real\""'

cache="static const float *of; $signature { if (w != of) turn(w); of = w; }"
export cache
ok 'a cache of weights that is declared as kernel work is refused' '
	audited "$(code "$cache") | .eval.plan = {bucket: \"K1\"}" >a
	jq -e ".decision == \"REJECT-as-overfit\" and .declared == \"K1\" and .bucket == \"W1\" and
		(.reasons[0] | contains(\"but the plan declares K1; declare W1 with its bound\"))" a'
ok 'W1 needs its bound, a trace, and an estimate within the bound' '
	w1() { audited "$(code "$cache") | .eval.plan = {bucket: \"W1\", expected_gain_pct: 1.5, quant_us: 30, step_us: 2000} |
		.eval.trace = [{workload: \"even\", hits: 8, lookups: 16}] | $1"; }
	w1 . >a
	jq -e ".decision == \"ACCEPT-with-asterisk\" and .bucket == \"W1\" and .w1.bound_pct == 1.5 and .w1.gain_pct == 100 and .w1.excess_pct == 98.5 and
		(.reasons[0] | contains(\"counts as at most 1.50 %\"))" a
	w1 "del(.eval.plan.quant_us)" | jq -e ".decision == \"REJECT-as-overfit\" and (.reasons[0] | contains(\"must give quant_us\"))"
	w1 ".eval.plan.expected_gain_pct = 5" | jq -e ".reasons[0] | contains(\"the plan expects 5.00 %\") and contains(\"at most 1.50 %\")"
	w1 ".eval.trace[0].hits = 1" | jq -e ".reasons[0] | contains(\"1 hits in 16 look-ups\")"
	w1 "del(.eval.trace)" | jq -e ".reasons[0] | contains(\"were not run\")"
	audited ".eval.plan = {bucket: \"W3\"}" | jq -e ".decision == \"REJECT-as-overfit\" and (.reasons[0] | startswith(\"W3 is declared\"))"'
ok 'a person may waive a rule for a candidate, by name, with a reason' '
	mkdir -p c/waivers
	try() { printf "%b" "$1" >c/waivers/001-01.md; audited "$(code "$cache") | .eval.plan = {bucket: \"K2\"}" >a; jq -e "$2" a >/dev/null || { cat a; return 1; }; }
	try "id: 001/01\nrule: kept_pointer\nby: A Person\nreason: it looks so only\n" ".decision == \"ACCEPT-as-real\" and .waiver == \"waivers/001-01.md\" and .hits[0].waived and .bucket == \"K2\""
	try "id: 001/01\nrule: kept_pointer\nby: A Person\n" ".decision == \"REJECT-as-overfit\" and (.reasons[1] | test(\"is not a waiver: no line .reason: .\"))"
	try "id: 001/02\nrule: kept_pointer\nby: A\nreason: r\n" "(.reasons[1] | test(\"no line .id: .\")) and (has(\"waiver\") | not)"
	try "id: 001/01\nby: A\nreason: r\n" ".reasons[1] | contains(\"which rule is waived\")"
	try "id: 001/01\nrule: seen_flag\nby: A\nreason: r\n" ".decision == \"REJECT-as-overfit\""
	rm c/waivers/001-01.md'

ok 'what is faster on buffers seen before is refused, beyond noise and beyond what others gain' '
	gap() { audited ".eval.reuse = [{workload: \"even\", gap_pct: $1, low_pct: $2, high_pct: $1}] | $3"; }
	gap 40 35 . >a
	jq -e ".decision == \"REJECT-as-overfit\" and .fresh == {workload: \"even\", gap_pct: 40, excess_pct: 40, noise_pct: 5, ok: false} and
		(.reasons[0] | startswith(\"reuse, workload even: 40.0 % faster on buffers\"))" a
	gap 0.9 0.8 . | jq -e ".fresh.ok and .decision == \"ACCEPT-as-real\""
	gap 4 -1 . | jq -e ".fresh.ok"
	gap 2.63 0 ".eval.reuse_against = {id: \"000/00\", rows: [{workload: \"even\", gap_pct: -0.15, high_pct: 0, low_pct: -0.86}]}" |
		jq -e ".fresh.ok"
	gap 4 3 ".eval.reuse_against = {id: \"000/00\", rows: [{workload: \"even\", gap_pct: 3.5, high_pct: 4, low_pct: 3}]}" |
		jq -e ".fresh.ok and .fresh.excess_pct == 0.5"
	gap 9 8 ".eval.reuse_against = {id: \"000/00\", rows: [{workload: \"even\", gap_pct: 3, high_pct: 3.5, low_pct: 2}]}" |
		jq -e "(.fresh.ok | not) and (.reasons[0] | contains(\"6.0 points more than the program\"))"'
ok 'nothing that was not measured on new buffers is accepted as real, and the reason is given' '
	try() { audited "del(.eval.reuse) | $1" >a; jq -e ".decision == \"ACCEPT-unmeasured\" and (has(\"fresh\") | not) and (.not_measured | length == 1 and
		.[0].what == \"reuse\" and (.[0].why | contains(\"$2\")))" a || { cat a; return 1; }; }
	knobs() { jq ".eval += $1" c/campaign.json >new.json; mv new.json c/campaign.json; }
	try . "did not measure it"
	try ".eval.timing |= map(.median_ns = 1000)" "no gain beyond the noise"
	knobs "{reuse: \"off\"}"; try . "eval.reuse is off"; knobs "{reuse: \"auto\"}"
	knobs "{timing: {command: \"true\"}, correctness: {command: \"true\"}}"; try . "own command measured the times"
	jq "del(.eval.timing, .eval.correctness)" c/campaign.json >new.json; mv new.json c/campaign.json
	audited ".eval.reuse |= .[:1]" | jq -e ".decision == \"ACCEPT-as-real\" and .not_measured[0].why == \"on only 1 of 2 timed workloads\""
	audited "del(.eval.reuse) | .eval.plan = {bucket: \"W3\"}" | jq -e ".decision == \"REJECT-as-overfit\""'
ok 'a gain that skew takes away is refused' '
	audited ".eval.timing[1].median_ns = 1000" >a
	jq -e ".decision == \"REJECT-as-overfit\" and .bucket == \"uniform\" and .skew.required and (.skew.ok | not) and .skew.rows[0].delta_pct == 0 and
		(.reasons[0] | startswith(\"uniform-only: +41.4 %\"))" a
	pair() { printf "{name:\"incumbent\",workload:\"%s\",ratio:%s,low:%s,high:9}" "$@"; }
	audited ".eval.pairs = [$(pair even 2 1.9), $(pair skewed 1.01 0.9)]" | jq -e ".skew.ok | not"
	audited ".eval.pairs = [$(pair even 2 1.9), $(pair skewed 1.5 0.9)]" | jq -e ".skew.ok"
	audited ".eval.pairs = [$(pair even 2 1.9), $(pair skewed 1.1 1.05)]" | jq -e ".skew.ok and .decision == \"ACCEPT-as-real\""
	audited ".eval.pairs = [$(pair even 9.8 6), $(pair skewed 1.09 1.04)]" | jq -e ".skew.ok | not"
	audited ".eval.timing |= map(.median_ns = 1000)" | jq -e ".skew | .ok and (.required | not)"
	audited "del(.sample.incumbent) | .eval.pairs = [$(pair even 2 1.9), $(pair skewed 0.99 0.9)] | .eval.pairs[].name = \"reference\"" |
		jq -e ".skew.ok | not"'

ok 'a grouped task is refused without skew' '
	kharness --lint "$grouped/task.json"
	cp -r "$grouped" g
	try() { jq "$1" "$grouped/task.json" >g/task.json; exits 2 kharness --lint g/task.json; grep -q "$2" err || { cat err; return 1; }; }
	try "del(.groups)" "op grouped_gemm is a grouped operation: \"groups\" must say"
	try ".workloads |= map(select(.name != \"ones\" and .name != \"even\"))" "no workload has groups of equal size"
	try ".workloads |= map(del(.skew))" "no timed workload has \"skew\": true"
	try ".workloads |= map(select(.name == \"ones\" or .name == \"even\"))" "no workload has an empty group"
	try ".workloads |= map(del(.values))" "gives no values for offsets"
	try ".workloads[3].values.offsets = [0, 20, 55, 90, 128]" "workload skewed is marked as skewed, but none of its 4 groups is empty and none has half"
	jq ".groups.form = \"sizes\"" "$grouped/task.json" >g/task.json; exits 2 kharness --lint g/task.json; grep -q "groups.form" err
	jq ".inputs.w.role = \"heavy\"" "$grouped/task.json" >g/task.json; exits 2 kharness --lint g/task.json; grep -q "inputs.w.role: must be" err'

ok 'a rejected candidate scores nothing, whatever its times say' '
	record ".eval.timing[1].median_ns = 1000" | kclassify -c c | kaudit -c c >r
	kscore -c c -r c/trials/000/00/eval.ndjson r >s
	jq -e ".score | .overfit and .perf_score == 0 and .combined == 0 and (.gain | not) and .speedup > 1 and .correct" s'
ok 'an overfit candidate is never an elite, and the next prompts hear why' '
	cat c/trials/000/00/eval.ndjson | kclassify -c c | kaudit -c c | kscore -c c -r c/trials/000/00/eval.ndjson >s0
	karchive -c c s0 >a0
	karchive -c c -a a0 s >a1
	grep "\"kind\":\"elite\"" a1 | not grep "001/01"
	head -n 1 a1 | jq -e ".errors[0].text | startswith(\"rejected, because its gain exists only in the benchmark: \")"'

# scored TRIAL JQ: a trial with one record.
cat >scored <<'E'
#!/bin/sh -eu
rm -rf "l/trials/$1"; mkdir -p "l/trials/$1"
jq -nc "{id: \"$1/01\", trial: ($1 | tonumber), branch: 1, eval: {status: \"correct\", noise: {floor: 0.001}}, audit: {bucket: \"K1\", decision: \"ACCEPT-as-real\"}} | $2" >"l/trials/$1/score.ndjson"
kcampaign upgrade -c l >/dev/null
jq -nc "{schema: \"archive/1\", kind: \"archive\", linear: {}, trial: ($1 | tonumber)}" >"l/trials/$1/archive.ndjson"
E
chmod 755 scored
kcampaign new l --task "$grouped" >/dev/null
ok 'a report of a clean campaign' '
	exits 2 kaudit --report -c l; grep -q "no trial has been scored" err
	scored 000 ".score = {decision: {verdict: \"baseline\"}}"
	scored 001 ".score = {decision: {verdict: \"accepted\", improvement_pct: 10, vs_baseline_pct: 10}}"
	scored 002 ".score = {decision: {verdict: \"rolled_back\", improvement_pct: 90}}"
	scored 003 ".score = {decision: {verdict: \"accepted\", improvement_pct: 10, vs_baseline_pct: 21}}"
	kaudit --report -c l >r
	jq -e ".mode == \"linear\" and .verdict == \"clean\" and (.headline_pct * 1000 | round) == 21000 and (.s_real_pct * 1000 | round) == 21000 and .w_real_pct == 0 and
		(.inflation_gap_pct | fabs) < 0.001 and (.rounds | length) == 2" r'
ok 'a weight cache counts as far as its bound, and a gap above 1 point is inflated' '
	scored 004 ".score = {decision: {verdict: \"accepted\", improvement_pct: 5, vs_baseline_pct: 27.05}} | .audit = {bucket: \"W1\", decision: \"ACCEPT-with-asterisk\", w1: {bound_pct: 1.5}}"
	exits 1 kaudit --report -c l
	jq -e ".verdict == \"inflated\" and (.w_real_pct * 1000 | round) == 1500 and (.inflation_gap_pct * 10 | round) == 42" out
	jq -e ".table[1] | .source == \"bounded weight cache\" and (.benchmark_pct | round) == 5 and (.real_pct * 10 | round) == 15" out'
ok 'for a speed-up of 30 one point does not count, and 2 % are inflated' '
	mkdir many; mv l many; kcampaign new l --task "$grouped" >/dev/null
	scored 000 ".score = {decision: {verdict: \"baseline\"}}"
	scored 001 ".score = {decision: {verdict: \"accepted\", improvement_pct: 2900, vs_baseline_pct: 2920}}"
	kaudit --report -c l | jq -e ".verdict == \"clean\" and (.inflation_gap_pct | round) == 20"
	scored 001 ".score = {decision: {verdict: \"accepted\", improvement_pct: 2900, vs_baseline_pct: 2960}}"
	exits 1 kaudit --report -c l; jq -e ".verdict == \"inflated\"" out; rm -r l; mv many/l l'
ok 'the headline is the figure of the newest race, and the noise includes the intervals of all' '
	mkdir raced; mv l raced; kcampaign new l --task "$grouped" >/dev/null
	scored 000 ".score = {decision: {verdict: \"baseline\"}}"
	scored 001 ".score = {speedup: 10, speedup_low: 9.9, speedup_high: 10.1, gain_ratio: 10, gain_low: 9.9, gain_high: 10.1, decision: {verdict: \"accepted\", improvement_pct: 900}}"
	kaudit --report -c l | jq -e ".verdict == \"clean\" and (.headline_pct | round) == 900"
	race() { printf "{\"id\":\"001/01\",\"eval\":{\"status\":\"correct\",\"pairs\":[{\"name\":\"reference\",\"workload\":\"%s\",\"ratio\":11,\"low\":%s,\"high\":%s}]}}\n" "$1" "$2" "$3" >l/trials/001/verify.ndjson; }
	race w 10.9 11.1
	kaudit --report -c l | jq -e ".verdict == \"clean\" and (.headline_pct | round) == 1000 and (.real_pct | round) == 1000"
	rm l/trials/001/verify.ndjson
	scored 002 ".score = {speedup: 12, speedup_low: 11.9, speedup_high: 12.1, gain_ratio: 1.1, gain_low: 1.09, gain_high: 1.11, decision: {verdict: \"accepted\", improvement_pct: 10}}"
	exits 1 kaudit --report -c l; jq -e ".verdict == \"inflated\"" out
	scored 002 ".score = {speedup: 12, speedup_low: 9, speedup_high: 14, gain_ratio: 1.1, gain_low: 0.9, gain_high: 1.3, decision: {verdict: \"accepted\", improvement_pct: 10}}"
	kaudit --report -c l | jq -e ".verdict == \"clean\""; rm -r l; mv raced/l l'
ok 'what the audit rejects is rolled back, and named' '
	scored 004 ".score = {decision: {verdict: \"rolled_back\"}} | .audit = {bucket: \"W3\", decision: \"REJECT-as-overfit\"}"
	kaudit --report -c l | jq -e ".verdict == \"rolled-back\" and .refused == [\"004/01\"]"
	scored 005 ".score = {decision: {verdict: \"accepted\", improvement_pct: 50, vs_baseline_pct: 81.5}} | .audit = {bucket: \"W3\", decision: \"REJECT-as-overfit\"}"
	exits 1 kaudit --report -c l; jq -e ".verdict == \"inflated\" and (.table[2].benchmark_pct * 100 | round) == 5000" out'
ok 'what was kept without being measured on new buffers is named in the report' '
	scored 006 ".score = {decision: {verdict: \"accepted\", improvement_pct: 1, vs_baseline_pct: 83}} | .audit = {bucket: \"K1\", decision: \"ACCEPT-unmeasured\"}"
	kaudit --report -c l >r || :; jq -e ".unmeasured == [\"006/01\"]" r; rm -r l/trials/006'
null_campaign n 2
ok 'the score has what the audit says, and a waiver makes them again' '
	cd n; make -s -j2 trials N=2 >/dev/null
	jq -e ".audit.decision == \"ACCEPT-as-real\"" trials/000/score.ndjson >/dev/null
	jq -e ".audit.decision == \"ACCEPT-unmeasured\"" trials/00[12]/score.ndjson >/dev/null
	cp trials/002/score.ndjson ../before.ndjson; kcampaign views >/dev/null; same ../before.ndjson trials/002/score.ndjson
	mkdir waivers; echo "id: 001/01" >waivers/001-01.md; touch -d 2001-01-01 trials/001/score.ndjson; kcampaign views
	[ trials/001/score.ndjson -nt waivers/001-01.md ]
	kaudit --report | jq -e ".mode == \"map-elites\" and (.inflation_gap_pct | fabs) < 0.001"'
done_testing
