#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# kclassify: tables, arithmetic, gates, records, source files, and every case in golden/kclassify.
. "${0%/*}/lib.sh"

# run_cases FILE [OPTION …]: cases are "=== BACKEND MCPE title [--option …]" and source text up to the next case; all
# must agree.
cat >cases.sh <<'EOS'
run_cases() {
	file=$1
	shift
	rm -rf work
	mkdir work
	awk '/^=== / {
		n++; name = sprintf("work/%03d.src", n); options = ""
		for (i = 4; i <= NF; i++)
			if ($i ~ /^--/)
				options = options " " $i
		print $2, name, $3, options >"work/list"
		print $0 >"work/titles"
		printf "" >name
		next
	}
	{ print >name }' "$KILN_DATA/tests/golden/kclassify/$file"
	while read -r backend name want options; do
		# shellcheck disable=SC2086
		got=$(kclassify -b "$backend" --source "$@" $options "$name")
		want=$(echo "$want" | sed 's/./& /g')
		[ "$got" = "$want $name" ] || {
			sed -n "$(expr "$name" : '.*/0*\([0-9]*\)')p" work/titles
			echo "got $got"
			kclassify -b "$backend" --source --explain "$name"
			touch work/failed
		}
	done <work/list
	[ ! -e work/failed ]
}
EOS

ok 'starter table: every vector of the descriptor' '. ./cases.sh; run_cases starter.cases --no-strip --no-gates'
ok 'starter table with stripping: only the comment on TMA changes' '
	. ./cases.sh
	not run_cases starter.cases >out
	is 1 "$(grep -c "^===" out)"
	grep -q "^=== starter 3003 only a comment on TMA" out'
ok 'known misclassifications are fixed' '. ./cases.sh; run_cases rows.cases'
ok 'levels of every backend' '. ./cases.sh; run_cases levels.cases'

# The techniques that an instruction recommends at a level must count at that level in the table: among the names in its
# code that the table has in this dimension, none may count at a higher level, and most must count at this one.
ok 'instructions and tables use the same levels' '
	mkdir taxonomy; cd taxonomy; : >known; : >other
	is "$(cd "$KILN_DATA/prompts/instructions"; ls)" "$(cd "$KILN_DATA/patterns"; ls c.json cuda.json hip.json opencl.json sycl.json triton.json)"
	for f in "$KILN_DATA"/prompts/instructions/*.json; do
		b=$(basename "$f" .json)
		jq -e "keys - [\"schema\", \"backend\", \"about\"] | sort == [\"compute\", \"esimd\", \"memory\", \"parallelism\"]" "$f"
		jq -e "[.dims[] | keys == [\"1\", \"2\", \"3\"]] | all and length == 4" "$KILN_DATA/patterns/$b.json"
		for dim in memory compute parallelism esimd; do
			for level in 1 2 3; do
				jq -r ".${dim}[$level - 1]" "$f" | { grep -o "\`[^\`]*\`" || :; } | tr -d "\`" | sed "s/\$/;/" >code
				kclassify --explain --no-gates --source -b "$b" code | awk -v at="$b $dim $level" -v dim=$dim -v level=$level "
					/^  [a-z]/ { of = \$1; to = \$2 + 0 }
					/^    [a-z_0-9]+ [0-9.]+, line/ && of == dim { weight[to] += \$2 }
					END { for (l in weight) if (l > level && weight[l] > weight[level]) print at, \"is\", l >>\"other\"
						if (weight[level]) print at >>\"known\" }"
			done
		done
	done
	is "" "$(cat other)"
	test "$(wc -l <known)" -ge 30'

# Every recorded reply: its program, then the same with other names.
ok 'other names give the same cell, for every recorded reply' '
	mkdir names
	cd names
	mkdir plain short long
	for reply in "$KILN_DATA"/campaigns/*/replies/*/*.ndjson; do
		dir=${reply%/replies/*} id=${reply#"$KILN_DATA"/campaigns/}
		name=$(jq -r .backend "$dir/campaign.json").$(echo "${id%.ndjson}" | tr / -)
		jq -r .reply.text "$reply" | awk "/^\`\`\`/ { on = !on && !/^\`\`\`plan/; next } on" >"plain/$name"
	done
	for kept in "$KILN_DATA"/campaigns/*/recorded/*.tar.gz; do
		mkdir kept
		tar -xzf "$kept" -C kept
		dir=${kept%/recorded/*}
		for eval in kept/trials/*/*/eval.ndjson; do
			name=$(jq -r .backend "$dir/campaign.json").${dir##*/}-$(echo "$eval" | tr / -)
			jq -r ".eval.code // empty" "$eval" >"plain/$name"
		done
		rm -r kept
	done
	for file in plain/*; do
		for style in short long; do
			awk -v STYLE=$style -f "$tests_dir/rename.awk" "$file" "$file" >"$style/${file#*/}"
		done
	done
	for backend in c cuda opencl; do
		for d in plain short long; do
			(cd $d && kclassify -b $backend --source $backend.*) >$d.cells
		done
		same plain.cells short.cells
		same plain.cells long.cells
		[ "$(cut -c1-7 plain.cells | sort -u | wc -l)" -gt 2 ]
	done
	[ "$(ls plain | wc -l)" -gt 120 ]'

ok 'references of the campaigns are at the origin' '
	for c in matmul softmax layernorm stencil; do
		[ -e "$KILN_DATA/campaigns/$c/reference.c" ] || continue
		is "0 0 0 0  $KILN_DATA/campaigns/$c/reference.c" "$(kclassify -b c "$KILN_DATA/campaigns/$c/reference.c")"
	done'

ok 'no category below 0.9 determines a level alone' '
	cat >merge.jq <<"EOS"
	def merge($over): reduce $over[] as $c (.; (map(.name) | index($c.name)) as $i
		| if $i == null then . + [$c] elif $c.patterns == [] then del(.[$i]) else .[$i] = $c end);
	reduce .[] as $t ({}; reduce ($t.dims | to_entries[]) as $d (.; reduce ($d.value | to_entries[]) as $l (.;
		.["\($d.key) \($l.key)"] = ((.["\($d.key) \($l.key)"] // []) | merge($l.value)))))
	| to_entries[] | (.key[-1:] | tonumber) as $level | (.value | map(.weight) | add) as $sum
	| .key as $k | .value[] | select(.weight < 0.9 and .weight / $sum >= 0.15 + 0.03 * ($level - 1)) | "\($k) \(.name)"
EOS
	p=$KILN_DATA/patterns
	for chain in "c" "triton" "base cuda" "base cuda hip" "base opencl" "base sycl"; do
		# shellcheck disable=SC2046
		jq -rs -f merge.jq $(printf "$p/%s.json " $chain) >alone
		is "" "$(cat alone)"
	done'

ok 'record in, coords appended, the rest unchanged' '
	printf "%s\n" "{\"id\": \"001/01\",  \"eval\":{\"code\":\"#pragma omp parallel for\\nfor (;;) x[i] = fmaf(a, b, c);\"}}" >in
	kclassify -b c in >out
	printf "%s" "{\"id\": \"001/01\",  \"eval\":{\"code\":\"#pragma omp parallel for\\nfor (;;) x[i] = fmaf(a, b, c);\"}" >want
	head -c "$(wc -c <want)" out | cmp - want
	is 0110 "$(jq -r .coords.cell out)"
	is "[0,1,1,0]" "$(jq -c .coords.coords out)"
	is 4 "$(jq ".coords.confidence | length" out)"
	is 1 "$(jq ".coords.confidence[0]" out)"'

ok 'records come from stdin too' '
	echo "{\"eval\":{\"code\":\"fmaf(a, b, c)\"}}" | kclassify -b c >out
	echo "{\"eval\":{\"code\":\"fmaf(a, b, c)\"}}" | kclassify -b c - >again
	same out again
	is 0100 "$(jq -r .coords.cell out)"'

ok 'a record without code is at the origin' '
	echo "{\"eval\":{\"status\":\"no_code\"}}" | kclassify -b c >out
	is "{\"coords\":[0,0,0,0],\"cell\":\"0000\",\"confidence\":[1,1,1,1]}" "$(jq -c ".coords | {coords, cell, confidence: .confidence | map(round)}" out)"'

ok 'files of a bundle count' '
	echo "{\"eval\":{\"code\":\"x\",\"files\":[{\"path\":\"a.h\",\"content\":\"fmaf(a, b, c)\"}]}}" | kclassify -b c >out
	is 0100 "$(jq -r .coords.cell out)"'

ok 'the campaign chooses the table, options the switches' '
	mkdir -p camp
	printf "__kernel void f(__global float4 *a) { __local float t[16]; } // fma(a, b, c)\n" >k.cl
	echo "{\"name\":\"x\",\"backend\":\"opencl\"}" >camp/campaign.json
	is "1 0 0 0  k.cl" "$(kclassify -c camp k.cl)"
	is "2 1 0 0  k.cl" "$(kclassify -c camp --no-gates --no-strip k.cl)"
	printf "{\"schema\":\"patterns/1\",\"extends\":\"opencl.json\",\"dims\":{\"memory\":{\"3\":[{\"name\":\"x\",\"weight\":1,\"patterns\":[\"__local\"]}]}}}" >camp/own.json
	echo "{\"name\":\"x\",\"backend\":\"opencl\",\"classify\":{\"patterns\":\"own.json\"}}" >camp/campaign.json
	is "3 0 0 0  k.cl" "$(kclassify -c camp --no-gates k.cl)"
	printf "__local float t[16];" >k.cl
	is "2 0 0 0  k.cl" "$(kclassify -b opencl --no-gates k.cl)"
	is "0 0 0 0  k.cl" "$(kclassify -b opencl --no-gates --require-lower-levels k.cl)"'

ok 'a backend is a file' '
	mkdir -p data/patterns
	printf "{\"schema\":\"patterns/1\",\"backend\":\"metal\",\"dims\":{\"memory\":{\"2\":[{\"name\":\"tg\",\"weight\":1,\"patterns\":[\"threadgroup\"]}]}}}" >data/patterns/metal.json
	printf "threadgroup float t[16];" >k.metal
	is "2 0 0 0  k.metal" "$(KILN_DATA=data kclassify -b metal --source k.metal)"
	is "2 0 0 0  k.metal" "$(kclassify --patterns data/patterns/metal.json --source k.metal)"'

ok 'explain names level, threshold, category, line, text and pattern' '
	printf "int x;\n\n__shared__ float s[16];\n" >k.cu
	kclassify -b cuda --explain k.cu >out
	grep -qx "k.cu: cell 0000" out
	grep -qx "  memory 2: score 0.5263, threshold 0.18, reached" out
	grep -qx "    shared_memory 1, line 3: __shared__ f" out
	grep -q "^      by .*__shared__" out
	grep -qx "  memory: gate unsynchronised_local limits it to 0 instead of 2" out
	echo "{\"trial\":1,\"branch\":2,\"eval\":{\"code\":\"fmaf(\"}}" | kclassify -b c -e >out
	grep -qx "001/02: cell 0100" out'
ok 'explain masks escapes and shortens' '
	printf "cp.async.wait_group 1\033[31m%080d mma.sync" 1 | kclassify -b cuda --source -e >out
	not grep -q "$(printf "\033")" out
	grep -q "cp.async.wait_group 1?.31m0*…" out'

ok 'output appears whole or not at all' '
	printf "fmaf(a, b, c)" >k.c
	kclassify -b c -o lines k.c k.c
	is 2 "$(wc -l <lines)"
	echo old >keep
	echo "{" >bad.ndjson
	exits 2 kclassify -b c -o keep k.c bad.ndjson
	is old "$(cat keep)"'

ok 'usage' '
	exits 0 kclassify --help
	grep -q ^usage: out
	exits 0 kclassify --version
	grep -q ^kclassify out
	exits 2 kclassify --nonsense
	grep -q ^usage: err
	exits 2 kclassify -b c --patterns x.json
	exits 2 kclassify -b ../c k.c
	exits 3 kclassify -b nosuch k.c
	exits 2 kclassify --patterns nosuch.json k.c
	exits 2 kclassify -c nosuch
	exits 2 kclassify -b c nosuch.c
	exits 2 kclassify -b c nosuch.ndjson'
ok 'a record that has coords, or whose code is not text, is refused' '
	echo "{\"eval\":{},\"coords\":{}}" >in
	exits 2 kclassify -b c in
	echo "{\"eval\":{\"code\":1}}" >in
	exits 2 kclassify -b c in
	grep -q "in:1.*eval.code" err
	echo "{\"eval\":{\"code\":\"\",\"files\":[{}]}}" >in
	exits 2 kclassify -b c in'

# A table that is wrong in one place: the message names it.
cat >faults <<'EOS'
"schema":"patterns/2"|schema
"schema":"patterns/1"|dims
"schema":"patterns/1","dims":{},"extra":1|extra: unknown field
"schema":"patterns/1","syntax":"perl","dims":{}|syntax
"schema":"patterns/1","extends":1,"dims":{}|extends
"schema":"patterns/1","extends":"../c.json","dims":{}|extends
"schema":"patterns/1","extends":"self.json","dims":{}|more than 8
"schema":"patterns/1","dims":{"speed":{}}|dims.speed: unknown field
"schema":"patterns/1","dims":{"memory":[]}|memory: must be an object
"schema":"patterns/1","dims":{"memory":{"4":[]}}|dims.memory.4: unknown field
"schema":"patterns/1","dims":{"memory":{"1":{}}}|dims.memory.1: must be a list
"schema":"patterns/1","dims":{"memory":{"1":[1]}}|must be an object
"schema":"patterns/1","dims":{"memory":{"1":[{"weight":1,"patterns":["x"]}]}}|dims.memory.1[0].name: is missing
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":2,"patterns":["x"]}]}}|dims.memory.1[0].weight: must be above 0
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":1,"comments":1,"patterns":["x"]}]}}|dims.memory.1[0].comments
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":1}]}}|dims.memory.1[0].patterns: is missing
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":1,"patterns":[1]}]}}|patterns[0]: must be a string
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":1,"patterns":[]}]}}|to remove
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":1,"patterns":["x","(y"]}]}}|memory 1 a: pattern 2, offset 2: missing closing
"schema":"patterns/1","dims":{"memory":{"1":[{"name":"a","weight":1,"patterns":["x"]},{"name":"a","weight":1,"patterns":["x"]}]}}|is defined twice
"schema":"patterns/1","dims":{},"gates":1|gates
"schema":"patterns/1","dims":{},"gates":[{"name":"g","dimension":"memory","level":4,"when":[],"require":[]}]|gates[0].level
"schema":"patterns/1","dims":{},"gates":[{"name":"g","dimension":"memory","level":2,"otherwise":2,"when":[],"require":[]}]|gate g: 'otherwise'
"schema":"patterns/1","dims":{},"gates":[{"name":"g","level":2,"when":[],"require":[]}]|gates[0].dimension: is missing
"schema":"patterns/1","dims":{},"gates":[{"name":"g","dimension":"memory","level":2,"when":["["],"require":[]}]|gate g: pattern 1, offset 1
EOS
ok 'faults in a table are named' '
	echo "{\"schema\":\"patterns/1\",\"extends\":\"self.json\",\"dims\":{}}" >self.json
	while IFS="|" read -r table message; do
		printf "{%s}\n" "$table" >t.json
		exits 2 kclassify --patterns t.json --source /dev/null
		grep -F "$message" err || { echo "no \"$message\" for $table"; cat err; exit 1; }
		grep -q "json" err
	done <faults'

ok 'overlay: replaced, added, removed' '
	printf "{\"schema\":\"patterns/1\",\"dims\":{\"memory\":{\"1\":[{\"name\":\"a\",\"weight\":0.5,\"patterns\":[\"aaa\"]},{\"name\":\"b\",\"weight\":0.5,\"patterns\":[\"bbb\"]}]}},\"gates\":[{\"name\":\"g\",\"dimension\":\"memory\",\"level\":1,\"when\":[\"hold\"],\"require\":[\"free\"]}]}" >low.json
	printf "{\"schema\":\"patterns/1\",\"extends\":\"low.json\",\"dims\":{\"memory\":{\"1\":[{\"name\":\"a\",\"weight\":0.1,\"patterns\":[\"ccc\"]},{\"name\":\"d\",\"weight\":0.2,\"patterns\":[\"ddd\"]}]}},\"gates\":[{\"name\":\"g\",\"dimension\":\"memory\",\"level\":1,\"otherwise\":0,\"when\":[\"stop\"],\"require\":[]}]}" >high.json
	printf "{\"schema\":\"patterns/1\",\"extends\":\"high.json\",\"dims\":{\"memory\":{\"1\":[{\"name\":\"b\",\"weight\":1,\"patterns\":[]}]}}}" >less.json
	level() { printf %s "$2" >src; kclassify --patterns "$1" --source src | cut -c1; }
	is 1 "$(level low.json aaa)"
	is 0 "$(level low.json "aaa hold")"
	is 1 "$(level low.json "aaa hold free")"
	is 0 "$(level high.json aaa)"
	is 0 "$(level high.json ccc)"
	is 1 "$(level high.json ddd)"
	is 1 "$(level high.json "ddd hold")"
	is 0 "$(level high.json "ddd stop")"
	is 1 "$(level high.json bbb)"
	is 0 "$(level less.json bbb)"
	is 1 "$(level less.json ccc)"'

ok 'a category may read comments' '
	printf "{\"schema\":\"patterns/1\",\"dims\":{\"compute\":{\"1\":[{\"name\":\"a\",\"weight\":1,\"comments\":true,\"patterns\":[\"// *fused\"]}],\"2\":[{\"name\":\"a\",\"weight\":1,\"patterns\":[\"fused\"]}]}}}" >t.json
	printf "// fused\n" >src
	is "0 1 0 0  src" "$(kclassify --patterns t.json --source src)"
	is "0 2 0 0  src" "$(kclassify --patterns t.json --source --no-strip src)"'

ok 'machine code and interpreter agree' '
	set -- "$KILN_DATA"/tests/golden/kclassify/*.cases
	for b in c hip sycl triton; do
		kclassify -b "$b" --source "$@" >jit
		KILN_NO_JIT=1 kclassify -b "$b" --source "$@" >plain
		same plain jit
	done'

ok 'a hostile text and an expensive pattern end in time' '
	printf "{\"schema\":\"patterns/1\",\"dims\":{\"memory\":{\"1\":[{\"name\":\"a\",\"weight\":1,\"patterns\":[\"(a+)+b\"]}]}}}" >t.json
	head -c 20000 /dev/zero | tr "\\0" a >src
	is "0 0 0 0  src" "$(timeout 10 kclassify --patterns t.json --source src)"'

ok 'the same answer twice, alone and in a batch' '
	for i in 1 2 3 4 5 6 7 8; do
		jq -Rs "{eval: {code: .}}" -c "$KILN_DATA/campaigns/matmul/reference.c"
	done >in.ndjson
	kclassify -b c in.ndjson | jq -c .coords | sort -u >out
	is 1 "$(wc -l <out)"'

ok 'tables and coords follow their schemas' '
	for s in patterns-1 coords-1; do
		jq -e ".\"\$schema\" and .title and .description" "$KILN_DATA/docs/schemas/$s.json"
	done
	python3 -c "import jsonschema" 2>/dev/null || exit 0
	cat >v.py <<EOS
import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
EOS
	for t in starter base c cuda hip opencl sycl triton; do
		python3 v.py "$KILN_DATA/docs/schemas/patterns-1.json" "$KILN_DATA/patterns/$t.json"
	done
	echo "{\"eval\":{}}" | kclassify -b c | jq .coords >c.json
	python3 v.py "$KILN_DATA/docs/schemas/coords-1.json" c.json'

ok 'the session of the README explains a kernel that comes through a pipe' '
	sh -euc "$(grep -o "kclassify -b c .*-$" "$KILN_DATA/README.md")" <"$KILN_DATA/campaigns/softmax/reference.c" >out
	grep -q "cell [0-3]" out'

done_testing
