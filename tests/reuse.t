#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016	# scripts in quotes
# Measured: kharness --reuse, and what keval and kaudit make of it.
. "${0%/*}/lib.sh"

KILN_LOCK_DIR=$T
grouped=$tests_dir/tasks/grouped_c cheats=$tests_dir/cheats audit=$tests_dir/audit
export KILN_LOCK_DIR grouped cheats audit
chmod 755 "$T"
PATH=$T:$PATH
kcampaign new c --task "$grouped" >/dev/null
jq '.eval = {seeds: 1, min_samples: 19, timing_s: 0.1, threads: 1, build_timeout_s: 30}' c/campaign.json >new.json
mv new.json c/campaign.json
mkdir -p c/trials/000/00
flags='-O2 -w -std=gnu11 -fopenmp -shared -fPIC'
# shellcheck disable=SC2086
{
	cc $flags -DREAL=double -o oracle.so "$grouped/reference.c"
	cc $flags -o right.so "$grouped/reference.c"
	cc $flags -o stale.so "$audit/stale.c"
	cc $flags -o pointer.so "$cheats/c/bad/cache-pointer-copy.c"
	cc $flags -DREAL=double -o matmul-oracle.so "$cheats/tasks/cheat_matmul_c/oracle.c"
}

ok 'buffers seen before and new ones, in turns; steps with weights that change' '
	kharness --reuse -t "$grouped/task.json" --oracle oracle.so --timing-s 0.05 --against same=right.so right.so >r
	jq -e ".candidates | length == 2 and all(.status == \"correct\" and .tier == 3 and (has(\"timing\") | not))" r
	jq -e ".candidates | all(.reuse | map(.workload) == [\"even\", \"skewed\"] and all(.rounds >= 3 and .low_pct <= .gap_pct and .gap_pct <= .high_pct and
		.fresh_ns > 0 and .reuse_ns > 0))" r
	jq -e ".candidates[0].trace | length == 2 and all(.lookups == 16 and .hits <= 8 and (.steps | length == 8))" r
	jq -e ".candidates[1] | has(\"trace\") | not" r'
ok 'weights kept by address are wrong after they have changed in place' '
	kharness --reuse -t "$grouped/task.json" --oracle oracle.so --timing-s 0.05 stale.so >r
	# In the steps, or before: fresh contents are put where those of the previous call were.
	jq -e ".candidates[0] | .status == \"wrong_value\" and (.reasons[0].check | IN(\"stale_weights\", \"timed_run\")) and (has(\"reuse\") | not)" r'
ok 'answers kept by address alone are wrong when new inputs are put there' '
	for i in 1 2 3; do
		kharness --reuse -t "$cheats/tasks/cheat_matmul_c/task.json" --oracle matmul-oracle.so --timing-s 0.5 pointer.so >r
		jq -e ".candidates[0] | .status == \"wrong_value\" and .reasons[0].check == \"timed_run\" or .reuse[0].gap_pct > 100" r && break
	done'
ok 'usage' '
	exits 2 kharness --reuse -t "$tests_dir/tasks/affine/task.json" -s nothing right.so; grep -q "no workload" err
	exits 2 kharness --reuse -t "$grouped/task.json"; grep -q "one candidate" err'

# refused CAMPAIGN JQ NOISY COMMAND…: in one of three attempts, the command's record is correct and rejected, and JQ is
# true of its audit; on a machine that is too busy, NOISY is true of the record instead.
cat >refused <<'E'
#!/bin/sh -eu
camp=$1 what=$2 noisy=$3
shift 3
for try in 1 2 3; do
	"$@" | kclassify -c "$camp" | kaudit -c "$camp" >r
	jq -e ".eval.status == \"correct\"" r
	! jq -e ".audit.decision == \"REJECT-as-overfit\" and (.audit | $what)" r || exit 0
done
echo "after $try tries:"
jq -c "{audit, noise: .eval.noise, pairs: .eval.pairs, reuse: .eval.reuse}" r
jq -e "$noisy" r
E
chmod 755 refused

keval -c c --reference -o c/trials/000/00/eval.ndjson
# evaluated FILE [KNOBS]: the record of a reply with that program, evaluated and audited.
cat >evaluated <<'E'
#!/bin/sh -eu
jq -nc --rawfile t "$1" '{schema: "candidate/1", campaign: "c", trial: 1, branch: 1, id: "001/01", sample: {parent: {id: "000/00", code: ""}, incumbent: "000/00"},
	prompt: {}, reply: {text: "```c\n\($t)```\n", finish: "stop"}}' | keval -c c
E
chmod 755 evaluated
ok 'an honest kernel passes, measured' '
	evaluated "$audit/even.c" | kclassify -c c | kaudit -c c >r
	jq -e ".audit.decision == (if .eval.reuse then \"ACCEPT-as-real\" else \"ACCEPT-unmeasured\" end) and .audit.skew.ok" r
	jq -e "(.audit.skew.required | not) or (.eval.reuse | length == 2 and all(.rounds >= 3 and .fresh_ns > 0 and .reuse_ns > 0))" r
	jq -e "(.audit.skew.required | not) or (.eval.trace | length == 2 and all(.lookups == 16 and (.steps | length == 8)))" r'
ok 'a kernel for uniform groups alone is refused, measured' '
	refused c ".reasons | any(startswith(\"uniform-only\"))" "(.audit.skew.required | not) and ([.eval.pairs[].low] | min < 0.7)" evaluated "$audit/uniform.c"'

printf '%s' '{"schema":"campaign/1","name":"s","eval":{"reuse":"on","seeds":1,"timing_s":0.3,"max_samples":5,"threads":1}}' >s.json
ok 'a result kept for a sum of bits: the scan is blind, the buffers show it' '
	mkdir -p soft/trials/000/00; cp "$cheats"/tasks/cheat_softmax_c/* soft; cp s.json soft/campaign.json
	keval -c soft --reference -o soft/trials/000/00/eval.ndjson
	refused soft ".hits == [] and (.fresh.ok | not) and (.reasons[0] | startswith(\"reuse, workload\"))" ".audit.fresh | .noise_pct > .excess_pct and .gap_pct > 30" keval -c soft --code "$audit/tagged.c"'

done_testing
