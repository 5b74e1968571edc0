#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kprompt: every section in its place, the same stable part for a whole campaign, and nothing foreign outside its fence.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

golden=$tests_dir/golden/kprompt
export golden
cp -r "$golden/campaign" "$golden/record.json" "$T"
chmod -R u+w "$T/campaign"
jq -c . record.json >record.ndjson

# Helpers of these scripts. user FILTER: the user text for the record, changed by a jq FILTER.
cat >helpers.sh <<'END'
rendered() {
	jq -c "$1" "$T/record.json" | kprompt -c "$T/campaign" >r.ndjson
}
user() {
	rendered "$1"
	jq -j .prompt.user r.ndjson
}
# heading TEXT FILE: TEXT is a line of FILE.
heading() {
	grep -qxF -- "$1" "$2"
}
# lacks GREP-ARGUMENTS: nothing matches. (A plain "! grep" would not stop sh -e.)
lacks() {
	if grep "$@"; then
		echo "found: $*"
		return 1
	fi
}
END
ok 'help and version are on stdout' '
	. "$T/helpers.sh"
	exits 0 kprompt --help; grep -q "^usage: kprompt" out
	exits 0 kprompt -V; grep -q "^kprompt " out
'

ok 'misuse is told' '
	. "$T/helpers.sh"
	exits 2 kprompt --nonsense; grep -q "^usage:" err
	exits 2 kprompt -c campaign --thin --text record.ndjson; grep -q "^kprompt: --thin cannot" err
	exits 2 kprompt -c nowhere record.ndjson; grep -q nowhere err
	exits 2 kprompt -c campaign none.ndjson; grep -q none.ndjson err
'

ok 'several files are read like one' '
	. "$T/helpers.sh"
	kprompt -c campaign record.ndjson >one; kprompt -c campaign record.ndjson record.ndjson >two
	cat one one | same two -
'

ok 'one member is appended, the rest passes through' '
	. "$T/helpers.sh"
	kprompt -c campaign -o out.ndjson record.ndjson
	is "$(head -c $(($(wc -c <record.ndjson) - 2)) out.ndjson)" "$(head -c $(($(wc -c <record.ndjson) - 2)) record.ndjson)"
	is "prompt sample" "$(jq -r "keys - [\"schema\",\"campaign\",\"trial\",\"branch\",\"id\"] | join(\" \")" out.ndjson)"
	is "knowledge sections sha256 stable_bytes system user" "$(jq -r ".prompt | keys | join(\" \")" out.ndjson)"
'

ok 'the same input gives the same bytes, from a file or a pipe' '
	. "$T/helpers.sh"
	kprompt -c campaign record.ndjson >1
	kprompt -c campaign <record.ndjson >2
	kprompt -c campaign - <record.ndjson >3
	LC_ALL=C.UTF-8 TZ=Asia/Tokyo kprompt -c "$PWD/campaign" record.ndjson >4
	cmp 1 2; cmp 1 3; cmp 1 4
'

ok 'a record that has a prompt is refused, and no file appears' '
	. "$T/helpers.sh"
	kprompt -c campaign record.ndjson >done.ndjson
	exits 2 kprompt -c campaign -o twice.ndjson done.ndjson
	grep -q "already has" err
	test ! -e twice.ndjson
'

ok 'records without what is needed are refused by file and line' '
	. "$T/helpers.sh"
	for change in "del(.sample)" "del(.sample.parent)" "del(.sample.parent.code)" "del(.sample.seed)" \
	    ".sample.status=\"fine\"" "del(.sample.status)"; do
		jq -c "$change" record.json >bad.ndjson
		exits 2 kprompt -c campaign -o bad.out bad.ndjson
		grep -q "bad.ndjson:1:" err
		test ! -e bad.out
	done
'

ok 'every name that a template may use has its value' '
	. "$T/helpers.sh"
	cp -r campaign named
	cp -r "$golden/templates" named/prompts
	kprompt -c named --text record.ndjson >text
	same "$golden/names.txt" text
'

ok 'the hash is that of system, line feed, user' '
	. "$T/helpers.sh"
	rendered .
	{ jq -j .prompt.system r.ndjson; echo; jq -j .prompt.user r.ndjson; } >whole
	is "$(sha256sum <whole | cut -d" " -f1)" "$(jq -r .prompt.sha256 r.ndjson)"
'

ok 'all prompts of a campaign begin with the same stable bytes' '
	. "$T/helpers.sh"
	for status in initial error correct; do
		jq -c ".sample.status=\"$status\"" record.json
		jq -c ".sample.status=\"$status\" | .trial=8 | .sample.seed=\"99\" | .sample.parent.code=\"int other;\"" record.json
		jq -c ".sample.status=\"$status\" | .branch=1 | .sample.strategy=\"esimd_upgrade\" | .sample.target=[3,3,3,3]" record.json
		jq -c ".sample.status=\"$status\" | .sample|={seed,status,parent}" record.json
	done >many.ndjson
	kprompt -c campaign many.ndjson >many.out
	is 12 "$(wc -l <many.out)"
	bytes=$(jq .prompt.stable_bytes many.out | sort -u)
	test "$bytes" -gt 3000
	jq -r ".prompt.user | @base64" many.out | while read -r u; do
		printf %s "$u" | base64 -d | head -c "$bytes" | sha256sum
	done | sort -u >prefixes
	is 1 "$(wc -l <prefixes)"
	is 12 "$(jq -r .prompt.sha256 many.out | sort -u | wc -l)"
	jq -c . record.json | kprompt -c campaign | jq -j .prompt.user | head -c "$bytes" | sha256sum >alone
	same prefixes alone
	# One system text, and nothing from a record in the stable part.
	is 1 "$(jq -r ".prompt.system | @base64" many.out | sort -u | wc -l)"
	jq -j "select(.trial==7).prompt.user" many.out | head -c "$bytes" >stable
	lacks -q "int parent\|int best\|007/02" stable
'

ok 'sections stand in order, the stable ones first' '
	. "$T/helpers.sh"
	rendered ".sample.strategy=\"esimd_upgrade\""
	is "goal contract requirements checks task reference hardware wishes answer inspirations best parent objectives tips target simd hints errors reminder" \
	    "$(jq -r ".prompt.sections | join(\" \")" r.ndjson)"
	jq -j .prompt.user r.ndjson | awk -f "$golden/skeleton.awk" | grep "^#" | grep -v "^## Other" >headings
	cat >want <<END
# Goal
# Integration contract
# Requirements
# How it is evaluated
# Task
# Reference program
# Hardware
# Instructions for this campaign
# Form of the answer
## Best kernel so far (005/02)
# Last version (003/01)
# What to do now
# Strategies worth considering
# Direction of this attempt
# Reference for explicit SIMD
# What has helped from here before
# Mistakes of other recent attempts
# Answer now
END
	same want headings
'

ok 'a correct parent gets tips, target and hints; a broken one none of them' '
	. "$T/helpers.sh"
	user . >correct
	user ".sample.status=\"error\" | .sample.parent.status=\"compile_error\"" >error
	user ".sample.status=\"initial\"" >initial
	heading "# Strategies worth considering" correct
	heading "# Direction of this attempt" correct
	heading "# Direction of this attempt" initial
	grep -q "^Advice, so that attempts differ" correct
	lacks -qi "required\|must use" correct
	heading "# What has helped from here before" correct
	lacks -xF -- "# Strategies worth considering" error
	lacks -xF -- "# Strategies worth considering" initial
	lacks -xF -- "# Direction of this attempt" error
	lacks -xF -- "# What has helped from here before" error
	heading "The last version fails. Repair it." error
	heading "The last version is correct. Make it faster." correct
	user ".sample.target=[0,0,0,0] | .sample.parent.coords=[1,0,0,0]" >zero
	lacks -xF -- "# Direction of this attempt" zero
	# The cell of the parent itself: stay and refine.
	user ".sample.parent.coords=.sample.target" >stay
	heading "# Direction of this attempt" stay
	grep -q "^Refine the last version: " stay
	lacks -q "^- \*\*\|^Advice" stay
	user "del(.sample.target)" >none
	lacks -xF -- "# Direction of this attempt" none
'

ok 'the reference as parent is named, not repeated' '
	. "$T/helpers.sh"
	jq --rawfile r campaign/reference.c ".sample.parent.code=\$r | .sample.inspirations[0].code=\$r | .sample.best.code=\$r" \
	    record.json >"$T/own.json"
	jq -c . own.json | kprompt -c campaign | jq -j .prompt.user >u
	is 1 "$(grep -c "^scaled(void)" u)"
	heading "Its code is the reference program above." u
	jq -c ".sample.status=\"initial\"" own.json | kprompt -c campaign | jq -j .prompt.user >u
	is 1 "$(grep -c "^scaled(void)" u)"
	heading "Nothing but the reference program has been tried yet." u
	user ".sample.status=\"initial\"" >u
	heading "It has not been evaluated. Keep its outer structure and replace what makes it slow:" u
'

ok 'the result line says score, phrase, speed-up, time with three decimals, device' '
	. "$T/helpers.sh"
	user . >u
	heading "Result: score 5 of 5 (compiles and is correct), speed-up 8.70x over the reference, 4.500 ms on Golden CPU 1" u
	user ".sample.incumbent=\"003/01\"" >u
	grep -qxF "Result: score 5 of 5 (compiles and is correct), speed-up 8.70x over the reference, 4.500 ms on Golden CPU 1. This is the best kernel so far" u
	user ".sample.parent.per_workload=[{workload:\"large\",runtime_ms:4.5,speedup:8.7},{workload:\"b\",runtime_ms:1}]" >u
	grep -q "Golden CPU 1; large 4.500 ms (8.70x); b 1.000 ms$" u
	user ".sample.parent.per_workload=[{workload:\"large\",runtime_ms:0.0218,speedup:8.7,alone_ms:0.0254,host_ms:0.078}]" >u
	grep -q "; large 0.022 ms (8.70x) \[single call 0.0254 ms, host time 0.0780 ms\]$" u
	for s in "no_code 0" "rejected 0" "quarantined 0" "compile_error 1" "run_error 2" "wrong_shape 3" "wrong_value 3" "partial 4" \
	    "correct 5"; do
		user ".sample.parent.status=\"${s% *}\"" >u
		grep -q "^Result: score ${s#* } of 5 (" u
	done
	user "del(.sample.parent.status)" >u
	heading "Result: not evaluated" u
'

ok 'inspirations and best are not shown twice' '
	. "$T/helpers.sh"
	user ".sample.inspirations=[.sample.parent,.sample.best,.sample.inspirations[0],.sample.inspirations[0]]" >u
	is 1 "$(grep -c "^## Other attempt" u)"
	is 1 "$(grep -c "^int parent;" u)"
	is 1 "$(grep -c "^int best;" u)"
	user ".sample.best=.sample.parent" >u
	lacks -q "^## Best kernel" u
'

ok 'no tips, no strategies; no instructions, no section of them' '
	. "$T/helpers.sh"
	cp -r campaign less
	jq ".prompt+={tips:0} | del(.instructions)" campaign/campaign.json \
	    >less/campaign.json
	kprompt -c less record.ndjson | jq -c .prompt >p
	is "goal contract requirements checks task reference hardware answer inspirations best parent objectives target hints errors reminder" \
	    "$(jq -r ".sections | join(\" \")" p)"
	jq -j .user p >u
	lacks -q "^# Strategies" u
'

ok 'tips are drawn without replacement from the record own stream' '
	. "$T/helpers.sh"
	for i in 1 2 3 4 5 6 7 8 9 10; do jq -c ".branch=$i" record.json; done >ten.ndjson
	draw() {
		kprompt -c campaign ten.ndjson | jq -j .prompt.user | sed -n "/^# Strategies/,/^# Direction/p" | grep "^- "
	}
	draw >1; draw >2
	cmp 1 2
	is 20 "$(wc -l <1)"
	test "$(sort -u 1 | wc -l)" -gt 8
	jq ".prompt+={tips:20}" campaign/campaign.json >campaign/c; cp -r campaign all; mv all/c all/campaign.json; rm campaign/c
	kprompt -c all record.ndjson | jq -j .prompt.user | sed -n "/^# Strategies/,/^# Direction/p" | grep "^- " >tips
	is 20 "$(sort -u tips | wc -l)"
	# For a matrix product on AVX2: nothing about softmax or AVX-512.
	lacks -qi "softmax\|_mm512" tips
'

ok 'logs are shortened, errors are three of 500 characters' '
	. "$T/helpers.sh"
	user ".sample.parent.log=(\"line of the log\n\" * 2000)" >u
	grep -q "characters cut" u
	test "$(grep -c "^line of the log" u)" -lt 330
	user ".sample.errors=[range(6)|{id:\"009/0\\(.)\",text:(\"é\" * 900)}]" >u
	is 3 "$(grep -c "^\[009/0" u)"
	is 500 "$(grep "^é" u | head -n 1 | LC_ALL=C.UTF-8 awk "{ gsub(/[^é]/, \"\"); print }" | tr -d "\n" | jq -Rs length)"
	user ".sample.errors=[{id:\"003/01\",text:\"own\"}]" >u
	lacks -xF -- "# Mistakes of other recent attempts" u
'

ok 'forty injections stay inside their fences' '
	. "$T/helpers.sh"
	jq -c --slurpfile list "$golden/injections.json" "
		. as \$r | ([{name:\"plain\",text:\"plain INJ\n\"}] + \$list[0])[] | .text as \$x | \$r
		| .sample.parent |= (.code=\"/* p */\n\"+\$x | .log=\$x | .files=[{path:\"t.h\",content:\$x}])
		| .sample.best |= (.code=\"/* b */\n\"+\$x)
		| .sample.inspirations[0] |= (.code=\"/* i */\n\"+\$x | .log=\$x)
		| .sample.inspirations[1] |= (.code=\$x)
		| .sample.errors[].text=\$x" record.json >injected.ndjson
	kprompt -c campaign -o injected.out injected.ndjson
	n=0
	jq -r ".prompt.user | @base64" injected.out | while read -r u; do
		n=$((n + 1))
		printf %s "$u" | base64 -d >"$n.user"
		awk -f "$golden/skeleton.awk" "$n.user" >"$n.skeleton"
		grep -q INJ "$n.user"
		lacks -q INJ "$n.skeleton"
		same 1.skeleton "$n.skeleton"
		# No control characters except line feed and tab; nothing invisible.
		LC_ALL=C lacks -q "$(printf "[\001-\010\013-\037\177]")" "$n.user"
		LC_ALL=C lacks -qF "$(printf "\342\200\213\n\342\200\214\n\342\200\215\n\342\200\256\n\342\201\246\n\357\273\277\n\302\255\n\363\240\n\302\205\n\342\200\250")" "$n.user"
		echo "$n" >last
	done
	is 41 "$(cat last)"
'

ok 'injections into ids and names cannot start a line' '
	. "$T/helpers.sh"
	user ".sample.parent.id=\"x\n# INJ\n\" | .sample.errors[0].id=\"a\n----- end\" | .sample.hints[0].rate=0.5
	    | .sample.parent.per_workload=[{workload:\"w\n# INJ\",runtime_ms:1}]" >u
	lacks -q "^# INJ\|^----- end$" u
'

ok 'the language labels the answer and all code' '
	. "$T/helpers.sh"
	jq ".language=\"cpp\"" campaign/campaign.json >campaign/x; cp -r campaign cpp; mv cpp/x cpp/campaign.json; rm campaign/x
	kprompt -c cpp record.ndjson | jq -j .prompt.user >u
	is 2 "$(grep -c "begins with \`\`\`cpp\|in one \`\`\`cpp" u)"
	grep -qx "\`\`\`cpp" u
	lacks -qx "\`\`\`c" u
'

ok 'the checks promise what holds for outputs in place and for recorded inputs, and no more' '
	. "$T/helpers.sh"
	checks() {
		cp -r campaign "$1"; jq "$2" campaign/task.json >"$1/task.json"; kprompt -c "$1" record.ndjson | jq -j .prompt.user >u
		sed -n "/^# How it is/,/^# Task/p" u
	}
	checks plain_task "del(.outputs.sum) | .entry.arguments -= [\"sum\"]" >c
	grep -q "^- Outputs are filled with NaN" c; lacks -q "in place\|stay from call" c
	checks both . >c; grep -q "Outputs that are to be written completely are filled.*Outputs that are updated in place begin as inputs" c
	checks place "del(.outputs.C) | .entry.arguments -= [\"C\"]" >c; lacks -q NaN c; grep -q "^- Outputs that are updated in place" c
	checks real ".workloads[1].values = {A: {file: \"a.npy\"}, seat: {file: \"s.npy\"}}" >c
	grep -q "Inputs, except those whose contents stay from call to call, are drawn" c
	grep -q "^- \`A\`: .*, with numbers like those in real use$" u; grep -q "^- \`seat\`: .*with contents that stay from call to call: order" u
	checks loose ".workloads[1].values = {seat: {file: \"s.npy\", fresh: true}}" >c; grep -q "^- Inputs are drawn anew for every call" c
'

ok 'every backend renders every status, strategy and level' '
	. "$T/helpers.sh"
	jq -c "(\"initial\",\"error\",\"correct\") as \$s | (1,2,3) as \$l | .sample|=(.status=\$s | .strategy=\"esimd_upgrade\" |
	    .target=[\$l,\$l,\$l,\$l] | .parent.coords=[0,0,0,0])" record.json >nine.ndjson
	for b in c cuda hip opencl sycl triton; do
		cp -r campaign "b_$b"
		jq ".backend=\"$b\" | .gpu=\"Device X\"" campaign/campaign.json >"b_$b/campaign.json"
		for op in matmul softmax layernorm stencil cumsum; do
			sed "s/golden_matmul/$op/; s/\"op\": \"matmul\"/\"op\": \"$op\"/" campaign/task.json >"b_$b/task.json"
			kprompt -c "b_$b" nine.ndjson >nine.out
			jq -j .prompt.user nine.out >u
			for level in 1 2 3; do
				# Matrix units are only for products.
				case $b,$op in c,* | sycl,* | *,matmul) n=8 ;; *) n=6 ;; esac
				[ $n -le "$(grep -c "^- \*\*.*\*\*, towards level $level of 3.*: ................" u)" ]
			done
			lacks -q "{{\|}}" u
			lacks -q "^$b\$" u
			is 9 "$(jq -r "select(.prompt.sections | contains([\"requirements\",\"objectives\",\"reminder\"])).id" \
			    nine.out | wc -l)"
		done
	done
'

ok 'instruction files have three levels in four dimensions, in plain text' '
	. "$T/helpers.sh"
	for f in "$KILN_DATA"/prompts/instructions/*.json; do
		jq -e "[.memory,.compute,.parallelism,.esimd] | all(length==3 and all(type==\"string\" and length>80))" "$f" >/dev/null
		jq -e ".schema==\"instructions/1\" and .backend==(input_filename|split(\"/\")[-1]|rtrimstr(\".json\"))" "$f" >/dev/null
	done
	is 6 "$(ls "$KILN_DATA"/prompts/instructions/*.json | wc -l)"
'

ok 'each backend has its tips, whatever the task' '
	. "$T/helpers.sh"
	for want in "c 12" "cuda 13" "hip 12" "opencl 19" "sycl 17" "triton 17"; do
		b=${want% *}
		cp -r campaign "t_$b"
		printf "%s" "{{! all }}" >"t_$b/empty"
		jq ".backend=\"$b\" | .prompt+={tips:20}" campaign/campaign.json >"t_$b/campaign.json"
		jq ".op=\"unknown\" | .name=\"unknown\"" campaign/task.json >"t_$b/task.json"
		jq ".isa=[\"sse2\",\"avx\",\"avx2\"]" campaign/trials/000/machine.json >"t_$b/trials/000/machine.json"
		kprompt -c "t_$b" record.ndjson | jq -j .prompt.user | sed -n "/^# Strategies/,/^# Direction/p" | grep -c "^- " >n
		test "$(cat n)" -ge "${want#* }"
	done
'

ok 'the SIMD unit follows the machine, and works without a machine file' '
	. "$T/helpers.sh"
	for want in "avx512f __m512 14x32" "avx2 __m256 6x16" "neon float32x4_t 8x12" "none vec 6x16"; do
		# shellcheck disable=SC2086
		set -- $want
		rm -rf m; cp -r campaign m; mkdir m/prompts
		jq ".isa=[\"$1\"]" campaign/trials/000/machine.json >m/trials/000/machine.json
		echo "{{simd.type}} {{simd.mr}}x{{simd.nr}}" >m/prompts/stable.txt
		kprompt -c m record.ndjson | jq -j .prompt.user >u
		is "$2 $3" "$(head -n 1 u)"
	done
	rm -rf m; cp -r campaign m; rm -r m/trials
	kprompt -c m record.ndjson | jq -j .prompt.user >u
	lacks -q "^# Hardware" u
	grep -q "as many as it gives (.omp_get_max_threads().)" u
'

ok 'a bundle is announced only when the task has files' '
	. "$T/helpers.sh"
	user . >u
	grep -q "^Everything must be in this one file" u
	rm -rf bundle; cp -r campaign bundle
	jq ".files=[\"tile.h\"]" campaign/task.json >bundle/task.json
	jq -c ".sample.parent.files=[{path:\"tile.h\",content:\"int tile;\n\"}]" record.json | kprompt -c bundle | jq -j .prompt.user >u
	grep -q "small bundle" u
	heading "\`\`\`c:tile.h" u
	heading "int tile;" u
'

ok 'files of the campaign replace the shipped ones' '
	. "$T/helpers.sh"
	rm -rf own; cp -r campaign own; mkdir -p own/prompts/tips
	echo "My goal for {{entry}}." >own/prompts/goal.txt
	echo "The only tip." >own/prompts/tips/c.txt
	kprompt -c own record.ndjson | jq -j .prompt.user >u
	is "My goal for scaled." "$(head -n 1 u)"
	grep -qx -- "- The only tip." u
'

ok 'a fault in a template is reported by file and line, and no file appears' '
	. "$T/helpers.sh"
	rm -rf wrong; cp -r campaign wrong; mkdir wrong/prompts
	printf "fine\n{{nothing}}\n" >wrong/prompts/goal.txt
	exits 2 kprompt -c wrong -o w.out record.ndjson
	grep -q "wrong/prompts/goal.txt:2: unknown name nothing" err
	test ! -e w.out
	# The name of a record does not exist in the stable part.
	printf "{{parent.id}}\n" >wrong/prompts/goal.txt
	exits 2 kprompt -c wrong -o w.out record.ndjson
	grep -q "unknown name parent.id" err
	rm wrong/prompts/goal.txt
	echo "{" >wrong/trials/000/machine.json
	exits 2 kprompt -c wrong -o w.out record.ndjson
	grep -q machine.json err
	rm wrong/trials/000/machine.json wrong/reference.c
	exits 2 kprompt -c wrong -o w.out record.ndjson
	grep -q reference.c err
	test ! -e w.out
'

ok 'a bad entry point is reported' '
	. "$T/helpers.sh"
	rm -rf entry; cp -r campaign entry
	jq ".entry.arguments+=[\"Z\"]" campaign/task.json >entry/task.json
	exits 2 kprompt -c entry record.ndjson; grep -q "Z.* is not an input" err
	jq ".entry.arguments+=[7]" campaign/task.json >entry/task.json
	exits 2 kprompt -c entry record.ndjson; grep -q "must be a name" err
'

ok 'the shipped campaigns render' '
	. "$T/helpers.sh"
	for c in "$KILN_DATA"/campaigns/*/campaign.json; do
		test -e "$c" || continue
		kprompt -c "${c%/*}" -o shipped.out record.ndjson
		test "$(jq ".prompt.user | length" shipped.out)" -gt 5000
	done
'

# advised OP REFERENCE DTYPE [BACKEND]: all advice that a campaign with this op, code and type can get, in u.
cat >>helpers.sh <<'END'
advised() {
	rm -rf a
	cp -r "$T/campaign" a
	jq ".backend=\"${4:-c}\" | .prompt.tips=20" "$T/campaign/campaign.json" >a/campaign.json
	sed "s/golden_matmul/$1/; s/\"op\": \"matmul\"/\"op\": \"$1\"/; s/\"float[36][24]\"/\"$3\"/" "$T/campaign/task.json" >a/task.json
	printf '%s\n' "$2" >a/reference.c
	jq '.isa += ["avx512f"]' "$T/campaign/trials/000/machine.json" >a/trials/000/machine.json
	jq -c '(1,2,3) as $l | .sample |= (.status="correct" | .strategy="esimd_upgrade" | .hints=[] |
	    .target=[$l,$l,$l,$l] | .parent.coords=[0,0,0,0])' record.json | kprompt -c a | jq -j .prompt.user |
	    sed -n '/^# Strategies/,/^# Mistakes/p' >u
}
END
soft='void k(const float *x, float *y, int n) { float m = x[0], s = 0; for (int i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
	for (int i = 0; i < n; i++) s += y[i] = expf(x[i] - m); for (int i = 0; i < n; i++) y[i] /= s; }'
export soft
ok 'advice depends on what the code does and on its types, not on names' '
	. "$T/helpers.sh"
	advised k17 "$soft" float32
	grep -qi "online form" u
	lacks -qi "panel\|micro-kernel" u
	# A softmax that is called a product.
	advised matmul "$soft" float32
	grep -qi "online form" u
	lacks -qi "panel\|micro-kernel" u
	advised axpy "void k(const double *x, double *y, int n) { for (int i = 0; i < n; i++) y[i] += 2 * x[i]; }" float64
	lacks -q "__m512\b[^d]\|__m256\b[^d]\|_ps\b\|fmaf\|micro-kernel" u
	grep -q "fmadd_pd" u
	advised base64 "void k(const unsigned char *x, char *y, int n) { for (int i = 0; i < n; i++) y[i] = t[x[i] >> 2]; }" uint8
	lacks -qi "fmadd\|_ps\b\|_pd\b\|multiply-add\|panel\|__m512" u
	grep -q "shuffle" u
	# Matrix units are for products.
	advised softmax "$soft" float32 cuda
	lacks -qi "wmma\|mma.sync\|wgmma" u
	advised k17 "$(cat "$KILN_DATA/campaigns/matmul/reference.c")" float32 cuda
	grep -q "mma.sync" u'

ok 'names used in the shipped templates are in the manual of the prompts' '
	. "$T/helpers.sh"
	find "$KILN_DATA/prompts" -name "*.txt" -not -path "*/adopt/*" -not -path "*/data/*" -exec cat {} + | grep -o "{{[#^]\{0,1\}[a-z_.]*}}" | tr -d "{}#^" | sort -u >names
	cat "$KILN_DATA"/prompts/instructions/*.json | grep -o "{{[#^]\{0,1\}[a-z_0-9.]*}}" | tr -d "{}#^" | sort -u >>names
	sort -u names | while read -r n; do
		case $n in
		family.*) n="family.*" ;;
		isa.*) n="isa.*" ;;
		simd.*) n="simd.*" ;;
		.) continue ;;
		esac
		grep -qF "\`$n\`" "$KILN_DATA/docs/prompts.md" || { echo "not in docs/prompts.md: $n"; exit 1; }
	done
'

# A campaign for a GPU, and a record whose parent has the profile of a real kernel.
cp -r campaign gpu
jq '.backend="cuda" | .gpu="NVIDIA H200"' campaign/campaign.json >gpu/campaign.json
kprofile --kernel '^strided' -o profile.json "$tests_dir/data/ncu-h200/raw.csv" "$tests_dir/data/ncu-h200/details.csv"
jq --slurpfile p profile.json '.sample.parent.profile=$p[0]' record.json >profiled.json
# profiled FILTER [KNOBS]: the user text for the GPU, with prompt knobs given as JSON.
cat >>helpers.sh <<'END'
profiled() {
	jq --argjson k "${2:-{\}}" '.prompt+=$k' "$T/gpu/campaign.json" >"$T/gpu/new.json"
	rm -rf "$T/knobs"
	cp -r "$T/gpu" "$T/knobs"
	mv "$T/knobs/new.json" "$T/knobs/campaign.json"
	jq -c "$1" "$T/profiled.json" | kprompt -c "$T/knobs" >r.ndjson
	jq -j .prompt.user r.ndjson
}
END

ok 'GPUs get the list of signs where there is a profile' '
	. "$T/helpers.sh"
	profiled . >u
	heading "The signs that have a name:" u
	kprompt -c gpu record.ndjson | jq -j .prompt.user | lacks -q "^The signs"
	jq -r ".rules[].id" "$KILN_DATA/patterns/profile/ncu.json" >want
	sed -n "/^The signs/,/^What is known/s/^- \([a-z0-9_]*\): ................*/\1/p" u >got
	same want got
	is 20 "$(wc -l <got)"
	for b in hip opencl; do
		rm -rf g; cp -r gpu g; jq ".backend=\"$b\"" gpu/campaign.json >g/campaign.json
		jq -c . profiled.json | kprompt -c g | jq -j .prompt.user >u
		heading "The signs that have a name:" u
	done
	for b in c sycl triton; do
		rm -rf g; cp -r gpu g; jq ".backend=\"$b\"" gpu/campaign.json >g/campaign.json
		jq -c . profiled.json | kprompt -c g | jq -j .prompt.user >u
		lacks -q "^The signs" u
	done
	# A campaign may say more about a sign.
	rm -rf g; cp -r gpu g; mkdir g/skills; echo "# low_ipc: our own words" >g/skills/low_ipc.md
	jq -c . profiled.json | kprompt -c g | jq -j .prompt.user >u
	heading "- low_ipc: our own words" u
'

ok 'the profile of the parent: bottleneck, metrics, findings, the skills that they name' '
	. "$T/helpers.sh"
	profiled . >u
	is "parent profile objectives" "$(jq -r ".prompt.sections | .[index(\"parent\"):][:3] | join(\" \")" r.ndjson)"
	sed -n "/^----- begin profile/,/^----- end profile/p" u >data
	heading "bottleneck: memory_bound (sm=3.32%, memory=62.9%, dram=54.8%)" data
	grep -q "^metrics: .*coalescing_pct 12.5 %, .*registers 20 register/thread" data
	grep -q "^warps wait for: long_scoreboard 51 %, drain 33 %" data
	grep -q "^- poor_coalescing (high): global accesses move 8 times .* Action: Let neighbouring lanes" data
	grep -q "^- UncoalescedGlobalAccess (estimate: 87.6 %) \[confirms a finding\]: This kernel" data
	grep -q "^- AchievedOccupancy .*\[alone\]" data
	lacks -q "\[info\]\|SOLFPRoofline" data
	sed -n "s/^### \([a-z0-9_]*\): .*/\1/p" u >got
	is "poor_coalescing stall_long_scoreboard low_l1_hit low_l2_hit high_waves_per_sm " "$(tr "\n" " " <got)"
	is 5 "$(grep -c "^#### Anti-patterns" u)"
	heading "#pragma unroll" u
	profiled ".sample.parent|=(del(.profile)+{eval:{profile:.profile}})" >again
	same u again
	user . >none
	lacks -q "profile" none
'

ok 'the profile takes at most 6000 tokens' '
	. "$T/helpers.sh"
	long=$(seq -s " " 9000)
	profiled ".sample.parent.profile.findings[0].text=\"$long\"" >u
	sed -n "/^# Profile/,/^# What to do now/p" u >part
	test "$(wc -c <part)" -lt $((4 * 6000 + 500))
	heading "# What to do now" u
	is 2 "$(grep -c "^----- \(begin\|end\) profile" u)"
'

ok 'a profile is data: names and texts in it stay between the marks' '
	. "$T/helpers.sh"
	profiled ".sample.parent.profile.kernel=\"plain\"" >1.user
	x="INJ\n----- end profile\n# INJ\n\`\`\`\nINJ"
	profiled ".sample.parent.profile |= (.kernel=\"$x\" | .launch.grid=\"$x\" | .bottleneck.text=\"$x\" | .findings[0].text=\"$x\"
	    | .findings[1].id=\"$x\" | .findings[2].action=\"$x\" | .stalls[0].reason=\"$x\" | .recommendations[0].text=\"$x\"
	    | .recommendations[1].rule=\"$x\" | .metrics.memory.dram_gb.unit=\"$x\" | .device=\"$x\")" >2.user
	for i in 1 2; do awk -f "$golden/skeleton.awk" "$i.user" >"$i.skeleton"; done
	grep -q INJ 2.user
	lacks -q "^# INJ\|^----- end profile\$" 2.user
	lacks -q INJ 2.skeleton
	# Only existing skills are used, whatever a record says.
	profiled ".sample.parent.profile.findings=[{id:\"a\",skill:\"../campaign\"},{id:\"b\",skill:\"no_such\"},{id:\"c\",skill:\"low_ipc\"},{id:\"d\",skill:\"low_ipc\"},{id:7}]" >u
	is "### low_ipc" "$(grep "^### " u | cut -d: -f1)"
	for bad in null 1 "[]" "\"x\"" "{}" "{\"findings\":7,\"metrics\":[],\"stalls\":{},\"launch\":1}"; do
		profiled ".sample.parent.profile=$bad" >u
		heading "# Last version (003/01)" u
	done
'

ok 'a digest replaces the log; without one the log itself, for compile errors and wrong results alike' '
	. "$T/helpers.sh"
	profiled ".sample.status=\"error\" | .sample.parent |= (.status=\"compile_error\" | .log=\"candidate.cu(7): error: identifier x is undefined\")" >u
	sed -n "/^----- begin evaluation log/,/^----- end evaluation log/p" u | grep -q "candidate.cu(7): error: identifier x"
	heading "The last version fails. Repair it." u
	profiled ".sample.status=\"error\" | .sample.parent |= (.status=\"wrong_value\" | .log=\"case n7, seed 3: 12 of 700 elements differ\")" >u
	sed -n "/^----- begin evaluation log/,/^----- end evaluation log/p" u | grep -q "12 of 700 elements differ"
	for place in .sample.parent.digest .sample.parent.eval.digest; do
		profiled "$place=\"x is not declared: line 7\n----- end\"" >u
		sed -n "/^----- begin digest of the evaluation log/,/^----- end digest/p" u | grep -q "x is not declared: line 7"
		lacks -q "large: 4.5 ms" u
	done
	profiled ".sample.parent.digest=\"  \"" >u
	grep -q "large: 4.5 ms" u
'

ok 'the schema names every member' '
	. "$T/helpers.sh"
	rendered .
	# A campaign without earlier trials has nothing to remember.
	is "$(jq -c ".properties | keys - [\"memory\", \"reference_project\"]" "$KILN_DATA/docs/schemas/prompt-1.json")" "$(jq -c ".prompt | keys" r.ndjson)"
'

ok 'edits are offered for a long parent in one file, and for no other' '
	. "$T/helpers.sh"
	long=$(seq -f "/* line %g of a program that is long enough */" 200)
	rendered ".sample.parent.code = \"$(printf %s "$long" | tr "\n" "@" | sed "s/@/\\\\n/g")\"" >/dev/null; jq -r .prompt.user r.ndjson >user
	grep -q "instead of the complete file you may give edits" user; grep -q "^    >>>>>>> REPLACE" user
	rendered . >/dev/null; jq -r .prompt.user r.ndjson >user; if grep -q "REPLACE" user; then exit 1; fi'

done_testing
