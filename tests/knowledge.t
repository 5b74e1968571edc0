#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Notes of knowledge: the right ones for a computation, a device and a language, within the budget, and nothing guessed.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

golden=$tests_dir/golden/kprompt
cp -r "$golden/campaign" "$golden/record.json" "$T"
chmod -R u+w "$T/campaign"
jq -c . record.json >record.ndjson

cat >helpers.sh <<'END'
# campaign_of FOLDER OP GPU BACKEND [KNOBS [DTYPE]]: a campaign with these values; its tensors have 16 bits by default.
campaign_of() {
	rm -rf "$1"
	cp -r "$T/campaign" "$1"
	printf '{"name":"n","gpu":"%s","backend":"%s","prompt":%s}\n' "$3" "$4" "${5:-{\}}" >"$1/campaign.json"
	sed 's/"golden_matmul"/"kernel"/; s/"op": "matmul"/"op": "'"$2"'"/; s/"float32"/"'"${6:-float16}"'"/' "$T/campaign/task.json" >"$1/task.json"
}
# routed OP GPU BACKEND [KNOBS [DTYPE]]: the list of notes in the prompt.
routed() {
	campaign_of r "$@"
	kprompt --knowledge -c r
}
# notes: the files of such a list, each once, in order of appearance.
notes() {
	sed 's/.*  skills\/knowledge\/\(.*\)\.md: .*/\1/' | awk '!seen[$0]++' | tr '\n' ' '
}
lacks() {
	if grep "$@"; then
		echo "found: $*"
		return 1
	fi
}
# refused TEXT: the note in own/knowledge/n.md is refused with this message, and no output appears.
refused() {
	exits 2 kprompt -c own -o none.out record.ndjson
	grep -qF -- "$1" err || { cat err; return 1; }
	test ! -e none.out
}
END

ok 'a product on an H200 in CUDA, softmax on an MI300X in HIP, a product on x86 in C' '
	. "$T/helpers.sh"
	is "hardware/hopper ops/gemm backends/cuda " "$(routed gemm "NVIDIA H200" cuda | notes)"
	is "hardware/cdna3 ops/normalization ops/reduction backends/hip " "$(routed softmax "AMD Instinct MI300X" hip | notes)"
	is "hardware/x86 ops/gemm backends/c " "$(routed matmul "" c | notes)"
	routed gemm "NVIDIA H200" cuda >list
	head -n 1 list | grep -q "^P0 .*hardware/hopper.md: Threads, registers, shared memory$"
	grep -q "ops/gemm.md: Start configurations on Hopper$" list
	grep -q "hopper.md: Exact forms of wgmma$" list
	lacks -q "on a CPU\|on CDNA\|on Ampere" list
	routed gemm "NVIDIA H200" cuda "{}" float32 | lacks -q wgmma
	routed matmul "" c >list
	grep -q "ops/gemm.md: Order of levers on a CPU$" list
	lacks -q "on a GPU\|Hopper" list'

ok 'an exact name or nothing: no sibling, no other case, no guess' '
	. "$T/helpers.sh"
	for gpu in "NVIDIA H20" "NVIDIA H2000" "nvidia h200" "NVIDIA H200 " "Radeon X"; do
		routed gemm "$gpu" cuda >list
		lacks -q "hardware/\|Start configurations" list
		grep -q "ops/gemm" list
	done
	routed no_such_op "NVIDIA H200" cuda >list
	is "hardware/hopper backends/cuda " "$(notes <list)"
	# A prompt for a GPU kernel says nothing about this CPU, and for another kind of CPU there are no notes.
	lacks -q hardware/ - <<E
$(routed gemm "" opencl)
E
	campaign_of arm matmul "" c
	jq ".isa = [\"neon\"]" campaign/trials/000/machine.json >arm/trials/000/machine.json
	is "ops/gemm backends/c " "$(kprompt --knowledge -c arm | notes)"
	rm -r arm/trials
	is "ops/gemm backends/c " "$(kprompt --knowledge -c arm | notes)"'

ok 'names of a task: its op, else its name; case and dashes do not matter' '
	. "$T/helpers.sh"
	is "ops/grouped_gemm ops/gemm backends/c " "$(routed Grouped-GEMM x86 c | notes | sed "s/hardware.x86 //")"
	campaign_of n "" "" c
	jq ".op = \"unheard_of\" | .name = \"layernorm\"" campaign/task.json >n/task.json
	kprompt --knowledge -c n | grep -q ops/normalization
	# The words that match best come first.
	routed grouped_gemm x86 c | grep "^P1" | head -n 1 | grep -q ops/grouped_gemm'

ok 'every name of a device of docs/hardware has a route, if its architecture has a note' '
	for d in a100_sxm h100_sxm h200 b200 mi300x mi325x mi355x; do
		test -e "$KILN_DATA/docs/hardware/$d.md" || continue
		sed -n "s/^- \(device\|alias\): //p" "$KILN_DATA/docs/hardware/$d.md"
	done | while IFS= read -r name; do
		jq -e --arg n "$name" ".gpus | has(\$n)" "$KILN_DATA/skills/knowledge/routes.json" >/dev/null || { echo "no route: $name"; exit 1; }
	done'

ok 'the prompt: a section of the stable part, in order of priority, recorded with digests' '
	. "$T/helpers.sh"
	campaign_of c gemm "NVIDIA H200" cuda
	kprompt -c c record.ndjson >out
	jq -j .prompt.user out >user
	head -c "$(jq .prompt.stable_bytes out)" user >stable
	grep -qx "# What is known beforehand" stable
	grep -qx "## Hopper (sm_90): Threads, registers, shared memory" stable
	is "hardware knowledge answer" "$(jq -r ".prompt.sections | .[index(\"hardware\"):][:3] | join(\" \")" out)"
	kprompt --knowledge -c c | grep -v "(when \|left out" >list
	sed "s/^P\(.\).*/\1/" list >priorities; sort -n priorities >sorted; same sorted priorities
	sed "s/^P. *\([0-9]*\) tokens  \(.*\): \(.*\)/\1 \2 \3/" list >want
	jq -r ".prompt.knowledge[] | \"\(.tokens) \(.file) \(.section)\"" out >got
	same want got
	# Each digest is that of the text in the prompt.
	is "" "$(jq -r ".prompt.knowledge[].sha256" out | grep -v "^[0-9a-f]\{64\}$")"
	text=$(jq -r "[.prompt.user | split(\"\n## \")[] | select(startswith(\"Hopper (sm_90): Threads\")) | split(\"\n\n\")[1:] | join(\"\n\n\")][0]" out)
	is "$(jq -r ".prompt.knowledge[0].sha256" out)" "$(printf %s "$text" | sha256sum | cut -d" " -f1)"
	# Comments with keys and lists of sources stay in the files.
	lacks -q "<!--\|^## .*Sources\|^priority:" stable'

ok 'the same files give the same bytes' '
	. "$T/helpers.sh"
	campaign_of c attention "NVIDIA B200" cuda
	kprompt -c c record.ndjson >1
	LC_ALL=C.UTF-8 TZ=Asia/Tokyo kprompt -c "$PWD/c" record.ndjson >2
	cp -r "$KILN_DATA/skills" "$KILN_DATA/prompts" "$KILN_DATA/patterns" .
	KILN_DATA=$PWD kprompt -c c record.ndjson >3
	cmp 1 2; cmp 1 3'

ok 'the budget holds, and the first in order goes first' '
	. "$T/helpers.sh"
	for n in 1 100 200 500 1000 2000 4000; do
		campaign_of b grouped_gemm "NVIDIA H200" cuda "{\"knowledge_tokens\":$n}"
		kprompt -c b record.ndjson >out
		test "$(jq "[.prompt.knowledge[].tokens] | add // 0" out)" -le "$n"
		kprompt --knowledge -c b >list
		jq -r ".prompt.knowledge[] | \"\(.file): \(.section)\"" out >got
		sed -n "/left out\|(when/!s/.*tokens  //p" list >want
		same want got
	done
	is "hardware/hopper " "$(kprompt --knowledge -c b | head -n 2 | notes)"
	campaign_of b grouped_gemm "NVIDIA H200" cuda "{\"knowledge_tokens\":200}"
	is 1 "$(kprompt --knowledge -c b | grep -c "^P0 .*[a-z]$")"
	kprompt --knowledge -c b | grep -q "^P1 .*(left out: no tokens left)$"
	campaign_of b gemm "NVIDIA H200" cuda "{\"knowledge_tokens\":0}"
	kprompt -c b record.ndjson >out
	is "[]" "$(jq -c .prompt.knowledge out)"
	jq -j .prompt.user out >user
	lacks -q "known beforehand" user
	is "" "$(kprompt --knowledge -c b)"
	# A token is counted as four bytes of the text in the prompt.
	campaign_of b gemm "NVIDIA H200" cuda
	kprompt -c b record.ndjson >out
	jq -j .prompt.user out | sed -n "/^## Hopper/,/^# [FI]/p" | wc -c >bytes
	tokens=$(jq "[.prompt.knowledge[].tokens] | add" out)
	test "$tokens" -le 3000
	test $((tokens * 4)) -ge $(($(cat bytes) - 300))'

ok 'leads: what a note says about the measured bottleneck, or about a search without progress' '
	. "$T/helpers.sh"
	campaign_of l gemm "NVIDIA H200" cuda
	lead() { jq -c "$1" record.json | kprompt -c l >out; jq -j .prompt.user out >user; }
	lead ".sample.parent.profile = {bottleneck: {label: \"memory_bound\", text: \"memory\"}, kernel: \"k\"}"
	grep -qx "# What usually helps in this state" user
	grep -qx "## Matrix product: When memory is the limit" user
	lacks -q "When arithmetic is the limit\|Other directions" user
	is "When memory is the limit" "$(jq -r ".prompt.knowledge[-1].section" out)"
	head -c "$(jq .prompt.stable_bytes out)" user >stable; lacks -q "When memory is the limit" stable
	lead ".sample += {stagnation: true, escalation: \"sota\"}"
	grep -qx "## Matrix product: Other directions" user
	lead .; lacks -q "# What usually helps" user
	for label in unknown "../x" 7 null; do
		lead ".sample.parent.profile = {bottleneck: {label: \"$label\"}}"
		lacks -q "# What usually helps" user
	done'

ok 'a campaign has notes of its own, and replaces shipped ones by the same name' '
	. "$T/helpers.sh"
	campaign_of own gemm "NVIDIA H200" cuda
	mkdir -p own/knowledge/ops
	printf "%s\n" --- "title: Our house" "priority: 0" --- "## Rule" "Tiles of 96." >own/knowledge/house.md
	printf "%s\n" --- "title: Products" "ops: gemm" --- "## All" "{{parent.id}} as text." >own/knowledge/ops/gemm.md
	echo "no note" >own/knowledge/README.md
	kprompt -c own record.ndjson >out
	jq -j .prompt.user out >user
	grep -qx "## Our house: Rule" user; grep -qx "Tiles of 96." user
	grep -qx "{{parent.id}} as text." user
	lacks -q "## Matrix product" user
	jq -e ".prompt.knowledge | map(.file) | index(\"knowledge/house.md\") != null and index(\"knowledge/ops/gemm.md\") != null
		and index(\"skills/knowledge/ops/gemm.md\") == null" out
	# Routes too.
	jq ".gpus = {\"My Device\": [\"hopper\"]}" "$KILN_DATA/skills/knowledge/routes.json" >own/knowledge/routes.json
	exits 2 kprompt --knowledge -c own; grep -q "is not in routes.json" err
	for wrong in "del(.isas)" ".ops = []" ".ops.x = \"gemm\"" ".gpus.x = [7]" ".devices = {}"; do
		jq "$wrong" "$KILN_DATA/skills/knowledge/routes.json" >own/knowledge/routes.json
		exits 2 kprompt --knowledge -c own; grep -q "own/knowledge/routes.json: \(isas\|ops\|ops.x\|gpus.x\[0\]\|devices\): " err
	done
	jq ".gpus[\"My Device\"] = [\"hopper\"]" "$KILN_DATA/skills/knowledge/routes.json" >own/knowledge/routes.json
	jq ".gpu = \"My Device\"" own/campaign.json >x; mv x own/campaign.json
	kprompt --knowledge -c own | grep -q hardware/hopper'

ok 'control characters of a note do not reach a prompt' '
	. "$T/helpers.sh"
	campaign_of own gemm "" cuda
	mkdir own/knowledge
	printf -- "---\ntitle: T\npriority: 0\n---\n## S\nred \033[31mtext\001\nsecond\n" >own/knowledge/n.md
	kprompt -c own record.ndjson | jq -j .prompt.user >user
	grep -qx "red text" user'

ok 'faults of a note are reported by file and line' '
	. "$T/helpers.sh"
	campaign_of own gemm "NVIDIA H200" cuda
	mkdir own/knowledge
	n=own/knowledge/n.md
	printf "%s\n" --- "title: T" "opps: gemm" --- "## S" "x" >$n; refused "own/knowledge/n.md:3: unknown key '\''opps'\''"
	printf "%s\n" --- "title: T" "ops: gem" --- "## S" "x" >$n
	refused "n.md:3: ops: '\''gem'\'' is not in routes.json; it must be one of: attention,"
	printf "%s\n" --- "title: T" "archs: hopper," "ops:" --- "## S" "x" >$n; refused "n.md:4: ops: is empty"
	printf "%s\n" --- "title: T" "priority: 5" --- "## S" "x" >$n; refused "n.md:3: priority: '\''5'\'' must be a whole number from 0 to 4"
	printf "%s\n" --- "title: T" "tokens: many" --- "## S" "x" >$n; refused "n.md:3: tokens:"
	printf "%s\n" --- "title: T" "only words" --- "## S" "x" >$n; refused "n.md:3: '\''only words'\'' must have the form \"key: value\""
	printf "%s\n" "## S" "x" >$n; refused "n.md:1: a note must begin with"
	printf "%s\n" --- "title: T" "## S" >$n; refused "n.md:3: '\''## S'\'' must have"
	printf "%s\n" --- "title: T" >$n; refused "n.md:1: the header does not end"
	printf "%s\n" --- "ops: gemm" --- "## S" "x" >$n; refused "n.md:1: the header has no title"
	printf "%s\n" --- "title: T" --- "words" >$n; refused "n.md:1: the note has no section"
	printf "%s\n" --- "title: T" --- "## S" "" "## Z" "x" >$n; refused "n.md:4: the section '\''S'\'' is empty"
	printf "%s\n" --- "title: T" --- "" "## " "x" >$n; refused "n.md:5: a section has no name"
	printf "%s\n" --- "title: T" --- "## S" "<!-- speed: high -->" "x" >$n; refused "n.md:5: unknown key '\''speed'\''"
	printf "%s\n" --- "title: T" --- "## S" "<!-- tokens: 7 -->" "x" >$n; refused "n.md:5: '\''tokens'\'' belongs in the header"
	printf "%s\n" --- "title: T" --- "## S" "<!-- priority: 1" "x" >$n; refused "n.md:5: the comment with the keys"
	printf "%s\n" --- "title: T" "tokens: 3" --- "## S" "more than three tokens of words" >$n
	refused "n.md:1: the note has 11 tokens, more than the 3"
	# A heading inside a code fence does not count; line numbers continue after sections.
	printf "%s\n" --- "title: T" --- "## S" "\`\`\`" "## no heading" "\`\`\`" "## Z" "<!-- when: never -->" "x" >$n
	refused "n.md:9: when: '\''never'\''"
	rm $n; kprompt -c own record.ndjson >out'

ok 'every shipped note is in order, and every section of it is reached by some campaign' '
	. "$T/helpers.sh"
	dir=$KILN_DATA/skills/knowledge
	for op in attention gemm grouped_gemm reduction softmax transpose conv2d gelu stencil; do
		for where in "x86:c" "NVIDIA H200:cuda" "NVIDIA B200:cuda" "NVIDIA A100-SXM4-80GB:cuda" "AMD Instinct MI300X:hip" \
		    "AMD Instinct MI355X:hip" ":opencl"; do
			routed "$op" "${where%:*}" "${where##*:}" "{\"knowledge_tokens\":100000}"
		done
	done | sed "s/.*tokens  //; s/  (when.*//" | sort -u >reached
	lacks "left out" reached
	(cd "$dir" && grep -r --include="*.md" "^## " . ) | sed "s/^\.\//skills\/knowledge\//; s/:## /: /" | grep -v ": Sources$" | sort >there
	is "" "$(uniq -d there)"
	same there reached
	for f in "$dir"/*/*.md; do
		grep -q "^## Sources$" "$f"
		grep -q "^tokens: " "$f"
		lacks "^### \|	" "$f"
	done
	# Every word of a route has a note, except backends that have none of their own.
	jq -r "[.ops, .gpus, .isas] | map(.[][]) | unique[]" "$dir/routes.json" | while read -r w; do
		grep -rqE "^(ops|archs): .*\b$w\b" "$dir" || { echo "no note for $w"; exit 1; }
	done'

ok 'no hedging word is next to a number, and facts that cite a device agree with docs/hardware' '
	. "$T/helpers.sh"
	dir=$KILN_DATA/skills/knowledge
	hedge="(approximately|about|roughly|around|usually|typically|nearly|almost|probably|likely|maybe|perhaps|should be|circa)"
	for f in "$dir"/*/*.md; do lacks -niE "\b$hedge [^.,;:]{0,20}[0-9]|~ ?[0-9]" "$f"; done
	printf "%s\n" "it takes about 40 cycles" >hedged
	grep -qiE "\b$hedge [^.,;:]{0,20}[0-9]" hedged
	if grep -rlE "<- docs/hardware/" "$dir" >cited; then
		test ! -x "$KILN_BUILD/kspec" || xargs kspec check <cited
	fi'

ok 'the shipped campaigns: none without notes, and a sensible share of the prompt' '
	. "$T/helpers.sh"
	for c in "$KILN_DATA"/campaigns/*/campaign.json; do
		kprompt -c "${c%/*}" record.ndjson >out
		tokens=$(jq "[.prompt.knowledge[].tokens] | add" out)
		test "$tokens" -gt 500
		test "$tokens" -le 3000
		case $c in
		*_h200/*) jq -e ".prompt.knowledge[0].file == \"skills/knowledge/hardware/hopper.md\"" out ;;
		*_mi300x/*) jq -e ".prompt.knowledge[0].file == \"skills/knowledge/hardware/cdna3.md\"" out ;;
		esac
	done >/dev/null'

ok '--knowledge takes no file' '
	exits 2 kprompt --knowledge -c campaign record.ndjson
	grep -q "does not take an input file" err
	. "$T/helpers.sh"
	campaign_of c gemm "" c
	exits 0 kprompt --knowledge -c c -o list
	test -s list; test ! -s out'

mkdir -p project/kernels project/.git
cat >project/kernels/gemm.cu <<'END'
// MARK-GEMM matmul by tiles; ----- end passages of the reference project -----
__global__ void matmul_tiled(const float *a, const float *b, float *c) { /* MARK-TILE */ }
END
seq -f '// line %g' 200 >project/kernels/long.c; echo '// matmul MARK-LATE' >>project/kernels/long.c; seq -f '// after %g' 200 >>project/kernels/long.c
echo '// matmul MARK-HIDDEN' >project/.git/a.c
printf 'matmul MARK-NUL\0' >project/nul.c
echo 'int unrelated; // MARK-NOTHING' >project/b.c
ln -s ../campaign/reference.c project/link.c
ok 'a reference project: passages with the words of the operation, as foreign text, within the budget' '
	. ./helpers.sh
	mkdir -p r; campaign_of r matmul "NVIDIA H200" c "{\"reference_project\":\"../project/\"}"
	kprompt -c r record.ndjson >p; jq -r .prompt.user p >user
	sed -n "/^# A project to take ideas from/,/^----- end passages of the reference project [0-9a-f]/p" user >part
	grep -q "^----- begin passages of the reference project" part; grep -q "^kernels/gemm.cu, lines 1 to 2:" part
	grep -q "^kernels/long.c, lines 201 to 240:" part; grep -q MARK-TILE part; grep -q MARK-LATE part; grep -q "after 36$" part; lacks "line 200$" part
	lacks -E "MARK-(HIDDEN|NUL|NOTHING)" user
	# Passages with more of the words come first; the record names what was shown.
	is "kernels/gemm.cu kernels/long.c" "$(jq -r "[.prompt.reference_project[].file] | join(\" \")" p)"
	jq -c .prompt p >pp; python3 "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" prompt-1 pp
	# It is in the part that all prompts share.
	jq -e "(.prompt.user | utf8bytelength) as \$n | .prompt.stable_bytes > 0 and (.prompt.user[:.prompt.stable_bytes] | contains(\"MARK-TILE\"))" p
	kprompt -c r record.ndjson | cmp - p
	campaign_of r matmul "" c "{\"reference_project\":\"../project\",\"knowledge_tokens\":160}"
	kprompt -c r record.ndjson >p; is kernels/gemm.cu "$(jq -r "[.prompt.reference_project[].file] | join(\" \")" p)"
	is true "$(jq "([.prompt.reference_project[].tokens] | add) <= 80" p)"
	campaign_of r matmul "" c "{\"reference_project\":\"../project\",\"knowledge_tokens\":0}"; kprompt -c r record.ndjson | lacks MARK-GEMM'
ok 'a missing reference project is named' '
	. ./helpers.sh
	campaign_of own matmul "" c "{\"reference_project\":\"nowhere\"}"; refused "prompt.reference_project: own/nowhere"
	kcampaign new plain --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq ".prompt.reference_project = \"nowhere\"" plain/campaign.json >new.json; mv new.json plain/campaign.json
	exits 2 kcampaign check -c plain; grep -q "prompt.reference_project: .nowhere.: no such folder" out err'
done_testing
