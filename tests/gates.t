#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gates of a round, each of which refuses a violation: what a plan must contain, what rollbacks in a row require, what a
# kernel may not lose, what a person confirms, how a campaign ends. docs/linear.md says to which rule each belongs.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR
chmod 755 "$T"

cat >helpers.sh <<'E'
# fault SAMPLE MEMBERS: what keval says about a plan with these members, in a round with that sample (JSON, without
# braces).
fault() {
	jq -nc --argjson s "{\"incumbent\":\"000/00\",\"parent\":{\"id\":\"000/00\",\"code\":\"\"}${1:+,$1}}" \
		--argjson m "{$2}" --rawfile shown "$T/shown" '({hypothesis: "h", change: "tile by 8", category: "tiling", bucket: "K1"} + $m | tojson) as $plan |
		{trial: 5, branch: 1, id: "005/01", sample: $s, prompt: {user: $shown, knowledge: [{file: "skills/knowledge/ops/gemm.md"}]},
		reply: {text: "```plan\n\($plan)\n```\n```c\nint f(void) { return 1; }\n```\n"}}' | keval -c "$T/n" >e
	jq -r .eval.plan_fault e
}
refused() {
	fault "$1" "$2" >said
	grep -q "$3" said || { cat said; return 1; }
}
passes() {
	is null "$(fault "$@")"
}
E
# shellcheck source=/dev/null
. ./helpers.sh
printf '%s\n' '# Profile' 'metrics: l1_miss_pct 12.4 %, ipc 0.87' 'programs: 002/01' >shown
kcampaign new n --task "$KILN_DATA/tests/tasks/affine" --mode linear >/dev/null
edit n/campaign.json '.eval = {evaluator: "null"}'

ok 'a plan: one kind of change, evidence of three parts, no hedged figure' '
	. ./helpers.sh
	passes "" "\"evidence\":\"l1_miss_pct 12.4 -> misses -> tile\""
	refused "" "\"category\":\"tiling, unrolling\"" "names several kinds, .tiling, unrolling.; a round makes one change of one kind"
	refused "" "\"category\":\"tiling and unrolling\"" "names several kinds"
	refused "" "\"evidence\":\"it is slow -> tile\"" "must have three parts, metric -> inference -> action"
	refused "" "\"risks\":\"it stays at about 3 TB/s\"" "\"risks\" hedges a figure, .*about 3 TB/s.; give the figure from the prompt, or leave it out"'
ok 'a plan repeats neither what failed nor what was kept' '
	. ./helpers.sh
	refused "\"ineffective\":[{\"round\":3,\"category\":\"Tiling\",\"change\":\"Tile by 8!\"}]" "" "this change was rolled back in round 3"
	refused "\"accepted\":[{\"round\":4,\"category\":\"tiling\",\"change\":\"tile by 8\"}]" "" "kept in round 4 and is already in the program"
	passes "\"accepted\":[{\"round\":4,\"category\":\"tiling\",\"change\":\"tile by 16\"}]" ""'
ok 'where measurements were shown, a plan rests on one of them, as it was shown' '
	. ./helpers.sh
	seen="\"parent\":{\"id\":\"000/00\",\"code\":\"\",\"profile\":{\"metrics\":{}}}"
	refused "$seen" "" "the prompt showed measurements, and the plan has no \"evidence\""
	refused "$seen" "\"evidence\":\"it misses a lot -> latency -> tile\"" "cites no figure from the prompt"
	refused "$seen" "\"evidence\":\"l1_miss_pct 80 -> latency -> tile\"" "cites no figure from the prompt"
	refused "$seen" "\"evidence\":\"l1_miss_pct 0.87 -> latency -> tile\"" "cites no figure from the prompt"
	refused "$seen" "\"evidence\":\"bandwidth 12.4 -> latency -> tile\"" "cites no figure from the prompt"
	passes "$seen" "\"evidence\":\"l1_miss_pct 12.4 -> latency -> tile\""
	passes "$seen" "\"evidence\":\"12 % l1_miss_pct -> latency -> tile\""
	passes "" ""'
ok 'a search goes through its layers in order, and its sources are those that were shown' '
	. ./helpers.sh
	row() { printf "{\"layer\":\"%s\",\"source\":\"%s\",\"finding\":\"%s\",\"new\":%s}" "$@"; }
	refused "" "\"search\":[$(row L2 002/01 f true)]" "row 1 of the plan.s \"search\" names the layer L2, but no earlier row names L1"
	refused "" "\"search\":[$(row L1 memory f true)]" "names the layer L1, but .memory. is not one of the notes in the prompt"
	refused "" "\"search\":[$(row L1 skills/knowledge/ops/gemm.md f true),$(row L2 009/01 f true)]" "is not one of the programs in the prompt"
	passes "" "\"search\":[$(row L1 skills/knowledge/ops/gemm.md f true),$(row L2 002/01 f false),$(row L3 papers g true)]"'
ok 'after three rollbacks in a row a plan rests on something new' '
	. ./helpers.sh
	gemm="{\"layer\":\"L1\",\"source\":\"skills/knowledge/ops/gemm.md\",\"finding\":\"tiles\",\"new\":"
	passes "\"streak\":2" ""
	refused "\"streak\":3" "" "3 rounds in a row were rolled back, so the plan needs a \"search\" with a row that is new"
	refused "\"streak\":3" "\"search\":[${gemm}false}]" "needs a \"search\" with a row that is new"
	refused "\"streak\":3,\"searched\":[{\"round\":2,\"source\":\"skills/knowledge/ops/gemm.md\",\"finding\":\"Tiles.\"}]" "\"search\":[${gemm}true}]" \
		"is marked as new, but the plan of round 2 already had it"
	passes "\"streak\":3" "\"search\":[${gemm}true}]"'

# A campaign with a measured reference, and archives which say that this many rounds in a row were rolled back.
kcampaign new r --task "$KILN_DATA/tests/tasks/affine" --mode linear >/dev/null
edit r/campaign.json '.eval = {set: "full", seeds: 1, timing_s: 0.02, min_samples: 5, threads: 1, profile: "off"}'
mkdir -p r/trials/000/00
keval -c r --reference -o r/trials/000/00/eval.ndjson
kclassify -c r r/trials/000/00/eval.ndjson | kaudit -c r | kscore -c r -r r/trials/000/00/eval.ndjson | karchive -c r -o archive
for n in 1 2 3 4; do
	jq -c "if .kind == \"archive\" then .trial = 4 | .linear.streak = $n else . end" archive >"streak-$n"
done
ok 'evidence: from two rollbacks in a row on a profile, from three on instructions, from four on what known kernels need' '
	for n in 1 2 3 4; do keval -c r --evidence 5 -a streak-$n -o e$n; done
	is "{\"escalation\":\"diagnose\"} {\"escalation\":\"profile\",\"profile_missing\":\"eval.profile is off\"}" \
		"$(jq -c "{escalation} + with_entries(select(.key | test(\"profile|isa|sota\")))" e1 e2 | tr "\n" " " | sed "s/ $//")"
	jq -e ".isa | .tool == \"objdump\" and (.text | test(\"<affine>:\")) and (.mix | length > 5 and all(.count > 0))" e3
	jq -e ".sota | length == 1 and .[0].workload == \"main\" and .[0].accepted_ns == .[0].reference_ns" e4
	is "000/00 $(jq -r .eval.code_sha256 r/trials/000/00/eval.ndjson) 6 5 4" "$(jq -r "\"\(.id) \(.code_sha256) \(.round) \(.trial) \(.streak)\"" e4)"
	exits 2 keval -c r --evidence 5; grep -q "needs the archive" err
	exits 2 keval -c r --evidence 5 --preflight; grep -q "cannot be used together" err
	keval -c r --evidence 5 -a streak-4 --inputs | grep -q "trials/000/00/eval.ndjson"'
if command -v valgrind >/dev/null; then
	ok 'evidence: the profile is made again, whatever the record says' '
		. ./helpers.sh
		edit r/campaign.json ".eval.profile = \"auto\""
		keval -c r --evidence 5 -a streak-2 -o e
		jq -e "(.profile | .source == \"perf\" or (.source == \"callgrind\" and (.notes | any(startswith(\"no counters: perf \"))))) and (has(\"profile_missing\") | not)" e
		edit r/campaign.json ".eval.profile = \"off\""'
	ok 'a linear search looks at its baseline before round 2, and keeps the raw reports' '
		edit r/campaign.json ".eval.profile = \"auto\""
		keval -c r --reference -o e
		jq -e ".eval | .tier == 4 and (.profile.source | IN(\"callgrind\", \"perf\")) and .profile.workload == \"main\" and (has(\"profile_missing\") | not)" e
		raw=$(jq -r ".eval.profile.raw[]" e)
		case $raw in profiles/000-00/callgrind.out.gz | profiles/000-00/perf.csv.gz) ;; *) exit 1 ;; esac
		gzip -dc "r/$raw" | grep -Eq "^events: |,instructions"
		edit r/campaign.json ".search = {} | .linear = null | del(.linear)"; keval -c r --reference -o e; is null "$(jq -c .eval.profile e)"
		edit r/campaign.json ".search.mode = \"linear\" | .eval.profile = \"off\""'
	ok 'a profiler that fails leaves its reason' '
		mkdir -p forbidden; printf "#!/bin/sh\necho counters are forbidden here >&2; exit 3\n" >forbidden/valgrind; chmod 755 forbidden/valgrind; cp forbidden/valgrind forbidden/perf
		cp -r r failing; edit failing/campaign.json ".eval.profile = \"auto\" | .eval.sandbox = \"none\""
		PATH=$T/forbidden:$PATH keval -c failing --reference -o e
		is "correct 3 valgrind failed: counters are forbidden here" "$(jq -r ".eval | \"\(.status) \(.tier) \(.profile_missing | rtrimstr(\"\n\"))\"" e)"'
else
	skip 'evidence: the profile is made anew' 'valgrind is not installed'
fi
ok 'on a CPU the counters, where perf reads them; the program runs inside, and perf outside' '
	mkdir -p counts; cat >counts/perf <<\END
#!/bin/sh
for a; do case $a in --output=*) out=${a#*=} ;; esac; done
while [ "$1" != -- ]; do shift; done
shift; "$@" || exit
printf "%s\n" "2.00,msec,task-clock,2000000,100.00,1.000,CPUs utilized" "4000000,,cycles,2000000,100.00,," "2000000,,instructions,2000000,100.00,0.50,insn per cycle" >"$out"
END
	chmod 755 "$T" counts/perf; cp -r r counted; edit counted/campaign.json ".eval.profile = \"auto\" | .eval.sandbox = \"none\""
	PATH=$T/counts:$PATH keval -c counted --reference -o e
	jq -e ".eval.profile | .source == \"perf\" and .workload == \"main\" and .metrics.instruction.ipc.value == 0.5 and .raw == [\"profiles/000-00/perf.csv.gz\"] and ([.findings[].id] == [\"cpu_low_ipc\"])" e
	# No cycles: the counters are not used.
	sed -i "s/\"4000000,,cycles/\"<not supported>,,cycles/" counts/perf; command -v valgrind >/dev/null || exit 0
	PATH=$T/counts:$PATH keval -c counted --reference -o e; jq -e ".eval.profile | .source == \"callgrind\" and (.notes | any(. == \"no counters: perf counts no cycles and instructions here\"))" e'
ok 'perf counts the call alone' '
	mkfifo perf.control perf.ack
	solo() { perf stat "$@" -x, -o c.csv -e page-faults kharness --solo -t r/task.json -s full solo.so 2>err && kprofile c.csv | jq .metrics.memory.page_faults.value; }
	gcc -O1 -shared -fPIC -o solo.so r/reference.c -lm
	command -v perf >/dev/null && all=$(solo -e task-clock) && [ "${all:-null}" != null ] || exit 0
	call=$(solo -e task-clock -D -1 --control fifo:perf.control,perf.ack); test "$call" -lt "$((all / 4))"'
ok 'counters of an AMD device: a pass for each list of the plan; one that fails costs its counters' '
	# A compiler and a profiler that only pretend: neither a device nor ROCm is needed.
	mkdir -p rocm; cat >rocm/rocprofv3 <<\END
#!/bin/sh
for a; do
	case $prev in -o) name=$a ;; esac
	case $a in --kernel-trace) trace=1 ;; --pmc) on=1 ;; --) on= ;; *) [ -z "${on-}" ] || list="${list-} $a" ;; esac
	prev=$a
done
echo "$name${list-}" >>"$(dirname "$0")/asked"
if [ -n "${trace-}" ]; then
	echo "\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"
\"KERNEL_DISPATCH\",\"Agent 1\",1,\"affine\",1000,2000,256,1,1,1048576,1,1" >"${name}_kernel_trace.csv"
	exit 0
fi
[ "$name" != pass4 ] || { echo "the counters do not fit together" >&2; exit 1; }
{
	echo "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Grid_Size\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\""
	for c in $list; do
		echo "1,1,\"Agent 1\",1048576,\"affine\",256,0,16,32,32,\"$c\",10,1000,9000"
	done
} >"${name}_counter_collection.csv"
END
	chmod 755 "$T" rocm/rocprofv3; : >rocm/asked; chmod 666 rocm/asked; cp -r r h
	edit h/campaign.json ".backend = \"hip\" | .language = \"hip\" | .eval.profile = \"auto\" | .eval.sandbox = \"none\""
	edit h/task.json ".language = \"hip\" | .build = {compiler: \"gcc\", flags: [\"-x\", \"c\", \"-O1\"]}"
	PATH=$T/rocm:$PATH keval -c h --evidence 5 -a streak-2 -o e
	jq -r ".profile_missing // empty" e
	jq -r ".passes | to_entries[] | \"pass\(.key + 1) \(.value)\"" "$KILN_DATA/patterns/profile/rocprofv3.json" | { echo report; cat; } | diff - rocm/asked
	jq -e ".profile | .source == \"rocprofv3\" and .launch.duration_ns == 1000 and .metrics.memory.l2_hit_pct.value == 50 and .metrics.instruction.ipc.value == 1 and
		(.notes | any(startswith(\"pass 4 of the counters failed: rocprofv3 failed: the counters do not fit\"))) and (.not_evaluable | any(.id == \"huge_dram_traffic\"))" e'
ok 'a round does not open without the evidence that the streak asks for, of the program that it starts from' '
	mkdir -p r/trials/005; e=r/trials/005/evidence.ndjson
	opens() { ksample -c r --trial 5 -a "$1"; }
	opens streak-1 >s; jq -e ".sample | .escalation == \"diagnose\" and (has(\"evidence\") | not)" s
	exits 3 opens streak-2; grep -q "round 6 cannot open: 2 rounds in a row were rolled back, and r/trials/005/evidence.ndjson, fresh evidence of 000/00, is missing" err
	cp e3 $e; exits 2 opens streak-4; grep -q "was gathered after 3 rollbacks in a row, but there are now 4" err
	jq -c ".id = \"001/01\"" e4 >$e; exits 2 opens streak-4; grep -q "is evidence of 001/01, but the last accepted program is 000/00" err
	jq -c ".code_sha256 = \"0\"" e4 >$e; exits 2 opens streak-4; grep -q "is evidence of 000/00, but" err
	for m in profile_missing isa sota; do
		jq -c "del(.$m)" e4 >$e; exits 2 opens streak-4; grep -q "must have .${m%_missing}. or a reason why it is missing" err
	done
	cp e4 $e; opens streak-4 >s; jq -e ".sample.evidence | .isa and .sota and .profile_missing" s'
ok 'the prompt shows it: instructions, known kernels, what is missing; and asks for a search' '
	kprompt -c r s | jq -j .prompt.user >user
	grep -q "^fresh profile: not available: eval.profile is off" user
	grep -q "^instructions (objdump)" user; grep -q "^<affine>:" user
	grep -q "^main: .* ms; reference .* ms" user
	grep -q "The plan also needs \"search\".*skills/knowledge/" user'
if /usr/bin/python3 -W ignore -c 'import jsonschema' 2>/dev/null; then
	ok 'it fits its schema' '/usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" evidence-1 e1 e2 e3 e4
		/usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" candidate-1 s'
else
	skip 'it fits its schema' 'python3-jsonschema is not installed'
fi

# What a compiler of GPU kernels prints; the compiler here is a script that prints the same.
cat >cc-ptxas <<'E'
#!/bin/sh
case $* in *--version*) echo 1; exit ;; esac
printf '%s\n' "ptxas info    : 0 bytes gmem" "ptxas info    : Compiling entry function '_Z1f' for 'sm_90'" "ptxas info    : Function properties for _Z1f" \
	"    24 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads" "ptxas info    : Used 255 registers, 400 bytes cmem[0]" \
	"ptxas info    : Used 32 registers" >&2
exec gcc "$@"
E
chmod 755 cc-ptxas
ok 'the figures of ptxas on registers and spills are recorded' '
	cp -r r x; jq --arg c "$T/cc-ptxas" ".build.compiler = \$c" r/task.json >x/task.json
	jq ".eval.sandbox = \"none\"" r/campaign.json >x/campaign.json
	keval -c x --code r/reference.c >e
	is "{\"kernels\":2,\"registers\":255,\"spill_bytes\":32,\"stack_bytes\":24}" "$(jq -cS .eval.build.resources e)"
	is null "$(jq .eval.build.resources r/trials/000/00/eval.ndjson)"'
ok 'a faster kernel that spills, fills half of the device no more, or loads what it does not use is rolled back, unless a person waives it' '
	. ./helpers.sh
	decide() { jq -c ".trial = 1 | .branch = 1 | .id = \"001/01\" | .sample = {incumbent: \"000/00\"} | .eval.timing |= map(.median_ns /= ${by:-1.1} | .samples_ns |= map(. / ${by:-1.1} | floor)) | $1" ref |
		kscore -c r -r ref | jq -r ".score.decision | \"\(.code) \(.line)\""; }
	occupied() { printf "{metrics:{occupancy:{occupancy_pct:{value:%s,unit:\"%%\"}}}}" "$1"; }
	jq -c ".eval.timing |= map(.median_ns = 2000000 | .samples_ns = [range(12) | 2000000 + .]) | .eval.noise.floor = 0.01 | .eval.build.resources = {spill_bytes: 0} | .eval.profile = $(occupied 60)" r/trials/000/00/eval.ndjson >ref
	decide . | grep -q "^gain Round 2: ACCEPTED"
	decide ".eval.build.resources.spill_bytes = 32" | grep -q "^quality Round 2: ROLLED BACK — avg +10.0%, because it spills 32 bytes of registers, but 000/00 spills 0"
	decide ".eval.profile = $(occupied 20)" | grep -q "^quality .* its occupancy is 20.0 %, but that of 000/00 is 60.0 %"
	decide ".eval.profile = $(occupied 40)" | grep -q "^gain "
	by=2 decide ".eval.profile = $(occupied 20)" | grep -q "^gain .*avg +100.0%"
	decide "del(.eval.profile, .eval.build.resources)" | grep -q "^gain "
	looked() { printf ".eval.profile = {metrics: {memory: {coalescing_pct: {value: %s, unit: \"%%%%\"}}, launch: {scratch: {value: %s, unit: \"byte\"}}}}" "$1" "$2"; }
	cp ref unlooked; jq -c "$(looked 80 16)" unlooked >ref
	decide "$(looked 39 16)" | grep -q "^quality .* its share of used bytes in loads is 39.0 %, but that of 000/00 is 80.0 %"
	decide "$(looked 41 16)" | grep -q "^gain "
	decide "$(looked 80 32)" | grep -q "^quality .* it spills 32 bytes of registers, but 000/00 spills 16"
	cp unlooked ref
	mkdir -p r/waivers; echo "001/01" >r/waivers/quality-001-01.md
	decide ".eval.build.resources.spill_bytes = 32" | grep -q "^quality "
	echo "reason: they are outside of the loop" >>r/waivers/quality-001-01.md
	decide ".eval.build.resources.spill_bytes = 32" | grep -q "^gain "; rm -r r/waivers'

ok 'where a campaign asks for it, a person confirms what it will do' '
	. ./helpers.sh
	kcampaign new p --task "$KILN_DATA/tests/tasks/affine" --mode linear >/dev/null
	edit p/campaign.json ".eval = {evaluator: \"null\", set: \"full\"} | .linear.confirm = true | .model.provider = \"null\""
	exits 1 kcampaign baseline -c p; grep -q "this campaign is not confirmed yet; if you agree to" err
	grep -q "^    linear.metric (the default)" err; test ! -e p/trials/000/00
	sed -n "/^    \(by\|campaign\|task\):/s/^    //p" err | sed "s/NAME/A. Person/" >p/confirmed
	exits 0 kcampaign baseline -c p
	edit p/campaign.json ".linear.metric = \"independent\""
	exits 1 kcampaign run -n 1 -c p; grep -q "campaign.json or the task has changed since it was confirmed" err'

ok 'a choice of shapes is of three to five' '
	. ./helpers.sh
	cp -r n many; jq ".workloads = [range(8) | {name: \"s\(.)\", axes: {rows: (. + 1), cols: 64}, sets: (if . == 3 then [\"full\"] else [\"quick\", \"full\"] end), timed: true}]" n/task.json >many/task.json
	edit many/campaign.json ".eval.set = \"quick\""
	exits 1 kcampaign shapes --check -c many; grep -q "the set quick times 7 of 8 shapes; the maximum for a choice is 5: leave some out, or use the full set" out'

# A harness that reports the best kernel as wrong on the full set.
mkdir bin
REAL=$KILN_BUILD
export REAL
cat >bin/keval <<'E'
#!/bin/sh
case " $* " in
*" --verify "*) printf '{"id":"%s","eval":{"status":"wrong_value","log":"one row is off"}}\n' "$2" >"$4" ;;
*) exec "$REAL/keval" "$@" ;;
esac
E
chmod 755 bin/keval
ok 'a campaign is accepted by the full set: a best kernel that fails there is refused' '
	. ./helpers.sh
	kcampaign new v --task "$KILN_DATA/campaigns/softmax" >/dev/null
	edit v/campaign.json ".model = {provider: \"null\"} | .eval = {evaluator: \"null\"} | .stop = {trials: 1}"
	cd v; exits 0 kcampaign run
	exits 1 env PATH="$T/bin:$PATH" KILN_BUILD="$T/bin" kcampaign verify
	cat err; grep -q "is not accepted, and this evaluation replaces the old one: measured again on the full set, it is wrong_value: one row is off" err'

ok 'figures in what people read are sourced, and hedged nowhere' '
	printf "It moves about 4.8 TB/s.\n" >note.md; exits 1 kspec check note.md; grep -q "note.md:1: .*about 4.8 TB/s. hedges; give the figure" out
	echo "{\"finding\": \"roughly 900 TFLOPS\"}" >v1.json; exits 1 kspec check v1.json; grep -q "roughly 900 TFLOPS" out
	printf "It moves 4.8 TB/s; about forty lines changed.\n" >note.md; kspec check note.md'
done_testing
