#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ksample: parents, targets, repairs, inspirations and hints, on small handmade archives.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

# header [FILTER]: the first line of an archive after trial 6.
cat >header <<'EOF'
#!/bin/sh
echo '{"kind":"archive","schema":"archive/1","trial":6,"island":{"current":0,"filled":0},"broken":[],"errors":[],"tabu":{}}' | jq -c "${1:-.}"
EOF
# elite ID CELL SCORE [FILTER]: one line of it; also makes the evaluation that contains the code.
cat >elite <<'EOF'
#!/bin/sh
mkdir -p "trials/$1"
printf '{"id":"%s","prompt":{"user":"eval\\": \\\\"},"eval":{"status":"correct","code":"code of %s","log":"log of %s"}}\n' "$1" "$1" "$1" >"trials/$1/eval.ndjson"
printf '{"kind":"elite","id":"%s","cell":"%s","score":%s,"status":"correct","speedup":%s,"runtime_ms":4,"islands":[0]}\n' "$1" "$2" "$3" "$(echo "$3" | awk '{ print ($1 > 5 ? $1 : 5) / 5 }')" | jq -c "${4:-.}"
EOF
# many N OPTIONS: samples of trials 7 to N, branch 1.
cat >many <<'EOF'
#!/bin/sh
last=$1; shift
i=7; while [ "$i" -le "$last" ]; do ksample --trial "$i" --branch 1 "$@"; i=$((i + 1)); done
EOF
# campaign [JSON of search, JSON of gradient]
cat >campaign <<'EOF'
#!/bin/sh
printf '{"name":"t","search":%s,"gradient":%s}\n' "${1:-"{}"}" "${2:-"{}"}" >campaign.json
EOF
chmod +x header elite many campaign
PATH=$T:$PATH
campaign
elite 000/00 0000 5 >/dev/null

ok 'no archive: the reference is the parent, and the branches get different targets' '
	for b in 1 2 3 4; do ksample --trial 1 --branch $b; done >out
	is "000/00 initial" "$(jq -r ".sample | .pick, .strategy, .status, .parent.id" out | sort -u | xargs)"
	is 4 "$(jq -c .sample.target out | sort -u | wc -l)"
	jq -e ".sample.target | min > 0" out
	is "code of 000/00" "$(jq -r .sample.parent.code out | sort -u)"
	jq -e ".schema == \"candidate/1\" and .campaign == \"t\" and .trial == 1 and (.sample | has(\"incumbent\") or has(\"best\") | not)" out
	is "001/01 001/02 001/03 001/04" "$(jq -r .id out | xargs)"'

ok 'only the reference in the archive: the same, with its score' '
	{ header; elite 000/00 0000 5; } >a
	ksample --trial 7 --branch 2 -a a >out
	jq -e ".sample | .pick == \"initial\" and .parent.combined == 5 and .parent.coords == [0,0,0,0]" out'

ok 'broken elites next to the reference: still a fresh start' '
	{ header; elite 000/00 0000 5; elite 001/01 1000 3 ".status = \"wrong_value\""; } >a
	is initial "$(ksample --trial 7 --branch 1 -a a | jq -r .sample.pick)"'

ok 'draws depend only on seed, trial and branch' '
	{ header; for i in 1 2 3 4 5; do elite 00$i/01 ${i}000 1$i; done | sed "s/\"4000\"/\"0100\"/; s/\"5000\"/\"0200\"/"; } >a
	ksample --trial 7 --branch 3 -a a >x; ksample --trial 7 --branch 3 -a a -o y; same x y
	ksample --trial 7 --branch 2 -a a >y; not cmp -s x y
	ksample --trial 7 --branch "02 3" -a a | same - "$(cat y x >yx; echo yx)"
	cp campaign.json old.json; jq -c ".seed = 43" old.json >campaign.json
	ksample --trial 7 --branch 3 -a a >y; not cmp -s x y
	campaign'

{ header '.best = {id: "005/01"}'; elite 005/01 2103 90; elite 004/01 1101 45; elite 003/01 0101 22; elite 000/00 0000 5; } >a4

ok 'exploit follows the speed: shares within 5 % of the softmax of its logarithm' '
	campaign "{\"exploit\":1,\"explore\":0,\"repair\":0,\"temperature\":1}"
	many 406 -a a4 >out
	jq -r .sample.parent.id out | sort | uniq -c | awk "{ print \$2, \$1 }" >got
	awk "BEGIN { w[\"005/01\"] = 90; w[\"004/01\"] = 45; w[\"003/01\"] = 22; w[\"000/00\"] = 5 }
		{ d = \$2 / 400 - w[\$1] / 162; if (d < -0.05 || d > 0.05) { print; bad = 1 } } END { exit bad }" got'

ok 'a low temperature is greedy' '
	campaign "{\"exploit\":1,\"explore\":0,\"temperature\":0.01}"
	is 005/01 "$(many 40 -a a4 | jq -r .sample.parent.id | sort -u)"'

ok 'random is uniform over the elites' '
	campaign "{\"exploit\":0,\"explore\":0}"
	many 206 -a a4 | jq -r .sample.parent.id | sort | uniq -c | awk "\$1 < 32 || \$1 > 70 { exit 1 } END { exit NR != 4 }"'

ok 'explore aims at an empty cell from the nearest elite' '
	campaign "{\"exploit\":0,\"explore\":1,\"refine\":0,\"esimd\":0}"
	many 46 -a a4 >out
	jq -e ".sample | .pick == \"explore\" and .strategy == \"diversify\" and .status == \"correct\"" out
	jq -c ".sample.target" out | grep -v -e "\[2,1,0,3\]" -e "\[1,1,0,1\]" -e "\[0,1,0,1\]" -e "\[0,0,0,0\]" | wc -l | grep -x 40
	jq -e ".sample.target as \$t | def d(\$a): [\$a, \$t] | transpose | map(.[0] - .[1] | fabs) | add;
		d(.sample.parent.coords) == ([[2,1,0,3], [1,1,0,1], [0,1,0,1], [0,0,0,0]] | map(d(.)) | min)" out'

ok 'a full grid: explore aims below the median' '
	{ header; jq -nr "[range(256)] | .[] | . as \$c | {kind: \"elite\", id: \"001/01\",
		cell: ([64, 16, 4, 1] | map(\$c / . | floor % 4 | tostring) | add), score: (5 + .), status: \"correct\", islands: [0]} | tojson"; } >full
	elite 001/01 0000 5 >/dev/null
	many 26 -a full >out
	jq -e ".sample.target | .[0] < 2" out'

ok 'the mix has the requested shares' '
	campaign "{\"exploit\":0.5,\"explore\":0.3}"
	many 306 -a a4 | jq -r .sample.pick | sort | uniq -c | awk "
		BEGIN { w[\"exploit\"] = 150; w[\"explore\"] = 90; w[\"random\"] = 60 } \$1 < w[\$2] - 26 || \$1 > w[\$2] + 26 { exit 1 }"'

{ header '.best = {id: "005/01"}'; elite 005/01 1111 90; } >a1
ok 'mutate: one step in one dimension, up twice as often as down' '
	campaign "{\"exploit\":1,\"explore\":0,\"refine\":0,\"esimd\":0}"
	many 306 -a a1 >out
	jq -e ".sample | .strategy == \"mutate\" and ([.target, .parent.coords] | transpose | map(.[0] - .[1] | fabs) | add) == 1" out
	up=$(jq ".sample.target | add" out | grep -cx 5)
	[ "$up" -gt 170 ] && [ "$up" -lt 230 ]'

ok 'mutate never leaves the grid' '
	{ header; elite 005/01 3033 90; } >a
	many 60 -a a | jq -e ".sample.target | min >= 0 and max <= 3"'

ok 'esimd_upgrade introduces explicit SIMD at any level, in a kernel that has none but uses something else' '
	campaign "{\"exploit\":1,\"explore\":0,\"refine\":0,\"esimd\":1}"
	{ header; elite 005/01 1110 90; } >a
	many 26 -a a >out
	jq -e ".sample | .strategy == \"esimd_upgrade\" and .target[:3] == [1,1,1]" out
	is "1 2 3" "$(jq ".sample.target[3]" out | sort -u | xargs)"
	for cell in 1111 0000; do
		{ header; elite 005/01 $cell 90; } >a
		many 16 -a a | jq -e ".sample.strategy == \"mutate\""
	done'

ok 'strategies have the shares that the knobs say' '
	{ header ".best = {id: \"005/01\"}"; elite 005/01 2220 90; } >a
	campaign "{\"exploit\":0.7,\"explore\":0.3,\"refine\":0.25,\"esimd\":0.15}"
	many 406 -a a | jq -r .sample.strategy | sort | uniq -c >out; cat out
	awk "BEGIN { w[\"diversify\"] = 120; w[\"refine\"] = 100; w[\"esimd_upgrade\"] = 60; w[\"mutate\"] = 120 }
		\$1 < w[\$2] - 30 || \$1 > w[\$2] + 30 { exit 1 } END { exit NR != 4 }" out'

ok 'refine stays in the cell of its parent' '
	campaign "{\"exploit\":1,\"explore\":0,\"refine\":1,\"esimd\":0}"
	many 16 -a a1 | jq -e ".sample | .strategy == \"refine\" and .target == .parent.coords"'

ok 'a program that measured faster than the best is a parent, too; others are not' '
	campaign "{\"exploit\":0,\"explore\":0}"
	{ header ".best = {id: \"005/01\", speedup: 18}"; elite 005/01 1111 90
		elite 006/01 1111 91 | sed "s/elite/program/"; elite 006/02 1111 89 | sed "s/elite/program/"; } >a
	is "005/01 006/01" "$(many 46 -a a | jq -r .sample.parent.id | sort -u | xargs)"'

for rule in 'intensify 1020 2130' 'specialize 2120 2220' 'specialize 1111 2111' 'balance 3011 3121' 'balance 0213 1223'; do
	ok "strategy $rule" '
		set -- '"$rule"'
		campaign "{\"exploit\":1,\"explore\":0,\"refine\":0,\"esimd\":0,\"strategy\":\"$1\"}"
		{ header; elite 005/01 $2 90; } >a
		ksample --trial 7 -a a >out
		is "$1 $3" "$(jq -r ".sample | .strategy + \" \" + (.target | map(tostring) | add)" out)"
		{ header ".tabu = {\"$3\": 5}"; elite 005/01 $2 90; } >a
		is mutate "$(ksample --trial 7 -a a | jq -r .sample.strategy)"'
done

ok 'strategy diversify: a cell that is empty' '
	campaign "{\"exploit\":1,\"explore\":0,\"esimd\":0,\"strategy\":\"diversify\",\"refine\":0}"
	many 26 -a a1 | jq -e ".sample | .strategy == \"diversify\" and .pick == \"exploit\" and .target != [1,1,1,1]"'

ok 'a target of the last three trials is not repeated' '
	campaign "{\"exploit\":1,\"explore\":0,\"refine\":0,\"esimd\":0}"
	{ header ".tabu = {\"2111\": 4, \"1211\": 6, \"1121\": 5, \"1112\": 3}"; elite 005/01 1111 90; } >a
	for b in 1 2 3 4 5; do ksample --trial 7 --branch $b -a a; done | jq -c .sample.target >out
	is 0 "$(grep -c -e "\[2,1,1,1\]" -e "\[1,2,1,1\]" -e "\[1,1,2,1\]" out)"
	is 5 "$(sort -u out | wc -l)"'

ok 'with every step tabu, mutate takes a longer step' '
	{ header ".tabu = {\"2111\":6,\"1211\":6,\"1121\":6,\"1112\":6,\"0111\":6,\"1011\":6,\"1101\":6,\"1110\":6}"; elite 005/01 1111 90; } >a
	ksample --trial 7 -a a | jq -e ".sample | .strategy == \"diversify\" and ([.target, .parent.coords] | transpose | map(.[0] - .[1] | fabs) | add) > 1"'

ok 'with everything tabu, targets are repeated, but not twice in a trial' '
	{ header ".tabu = ([range(256)] | map(. as \$c | {key: ([64, 16, 4, 1] | map(\$c / . | floor % 4 | tostring) | add), value: 6}) | from_entries)"
		elite 005/01 1111 90; } >a
	for b in 1 2 3 4 5 6 7 8; do ksample --trial 7 --branch $b -a a; done | jq -c .sample.target | sort -u | wc -l | grep -x 8'

ok 'the branches of a trial have different targets' '
	campaign
	for t in 7 8 9 10 11 12; do for b in 1 2 3 4; do ksample --trial $t --branch $b -a a4; done |
		jq -c "select(.sample.strategy != \"refine\").sample.target" | sort | uniq -d; done >twice
	[ ! -s twice ]'

cat >broken <<'EOF'
#!/bin/sh
elite 006/01 1000 1 >/dev/null; elite 006/02 1000 1 >/dev/null; elite 006/03 1000 1 >/dev/null
header '.broken = [{id:"006/01",cell:"1000",score:1,status:"compile_error",tries:0},
	{id:"006/02",cell:"1100",score:4,status:"partial",tries:1},{id:"006/03",cell:"1110",score:3,status:"wrong_value",tries:2}]
	| .errors = [{id:"006/01",text:"boo"}]'
elite 005/01 2103 90; elite 004/01 1101 45
EOF
chmod +x broken; broken >ab

ok 'repair: the most promising broken candidates of the last trial, each once, half of the branches' '
	campaign "{\"repair\":1,\"branches\":4}"
	for b in 1 2 3 4; do ksample --trial 7 --branch $b -a ab; done >out
	is "006/02 006/01" "$(jq -r "select(.sample.pick == \"repair\") | .sample.parent.id" out | xargs)"
	jq -e "select(.branch == 1) | .sample | .strategy == \"repair\" and .status == \"error\" and (has(\"target\") | not)
		and .hints == [] and .parent.plan_tries == 1 and .parent.combined == 4 and .parent.status == \"partial\"
		and .parent.log == \"log of 006/02\" and .errors == [{id:\"006/01\",text:\"boo\"}]" out | grep -x true'

ok 'a plan that two repairs did not fix is abandoned' '
	campaign "{\"repair\":1,\"branches\":8}"
	for b in 1 2 3 4; do ksample --trial 7 --branch $b -a ab; done | jq -r "select(.sample.pick == \"repair\") | .sample.parent.id" >out
	is "006/02 006/01" "$(xargs <out)"'

ok 'one branch may repair too; chance 0 never does; chance 0.5 does half the time' '
	campaign "{\"repair\":1,\"branches\":1}"; is 006/02 "$(ksample --trial 7 --branch 1 -a ab | jq -r .sample.parent.id)"
	campaign "{\"repair\":0}"; many 26 -a ab | jq -e ".sample.pick != \"repair\""
	campaign "{\"repair\":0.5,\"branches\":1}"
	n=$(many 106 -a ab | jq -r .sample.pick | grep -c repair)
	[ "$n" -gt 60 ] && [ "$n" -lt 90 ]'

ok 'nothing correct at all: a broken elite is the parent, without a target' '
	campaign "{\"repair\":0}"
	{ header; elite 006/01 1000 3 ".status = \"wrong_value\""; } >a
	ksample --trial 7 -a a | jq -e ".sample | .status == \"error\" and .strategy == \"repair\" and (has(\"target\") | not)"'

ok 'broken elites are not parents while something is correct' '
	campaign "{\"exploit\":0,\"explore\":0,\"repair\":0}"
	{ header; elite 005/01 2103 90; elite 006/01 1000 3 ".status = \"wrong_value\""; } >a
	is 005/01 "$(many 26 -a a | jq -r .sample.parent.id | sort -u)"'

ok 'best and incumbent; only the parent has its log' '
	campaign "{\"exploit\":0,\"explore\":0}"
	many 26 -a a4 >out
	is 005/01 "$(jq -r .sample.incumbent out | sort -u)"
	jq -e ".sample | has(\"best\") == (.parent.id != \"005/01\")" out
	jq -e ".sample | .parent.log and ([.inspirations[], .best // {}] | map(has(\"log\")) | any | not)" out
	{ header ".best = {id: \"000/00\"}"; elite 005/01 2103 4; elite 000/00 0000 5; } >a
	ksample --trial 7 -a a | jq -e ".sample | has(\"incumbent\") or has(\"best\") | not"
	# The best keeps its place if a luckier one took its cell without a gain.
	{ header ".best = {id: \"002/02\", cell: \"2103\", score: 80, status: \"correct\", speedup: 25}"; elite 005/01 2103 90; } >a
	ksample --trial 7 -a a | jq -e ".sample | .incumbent == \"002/02\" and .best.combined == 80 and .best.code == \"code of 002/02\""'

ok 'inspirations: neither parent, best nor reference, none twice, as many as requested' '
	campaign "{\"exploit\":0,\"explore\":0}"
	{ header ".best = {id: \"005/01\"}"; elite 005/01 2103 90; elite 004/01 1101 45; elite 003/01 0101 22; elite 002/01 0201 12
		elite 002/02 0333 1 ".status = \"compile_error\""; elite 000/00 0000 5; } >a
	many 46 -a a >out
	jq -e ".sample | [.parent.id, .best.id // \"005/01\", \"000/00\", \"002/02\"] as \$no
		| (.inspirations | map(.id)) as \$i | (\$i | unique | length) == (\$i | length) and (\$i - \$no) == \$i" out
	is 2 "$(jq "select(.sample.parent.id == \"000/00\").sample.inspirations | length" out | sort -u)"
	campaign "{\"inspirations\":0}"
	ksample --trial 7 -a a | jq -e ".sample.inspirations == []"
	campaign "{\"inspirations\":16}"
	ksample --trial 7 -a a | jq -e ".sample.inspirations | length <= 4"'

ok 'inspirations: first by score and the levels of the cell, in another cell than the parent' '
	campaign "{\"exploit\":0,\"explore\":0,\"inspirations\":1}"
	{ header; elite 005/01 0000 20; elite 004/01 3333 19; elite 003/01 0001 19.9; } >a
	many 26 -a a | jq -r "select(.sample.parent.id == \"005/01\").sample.inspirations[0].id" | sort -u >out
	is 004/01 "$(cat out)"'

ok 'islands: parents come from the branch island, inspirations also from others' '
	campaign "{\"islands\":2,\"branches\":12,\"repair\":0,\"inspirations\":3}"
	{ header ".island = {current:1,filled:9}"; elite 005/01 2103 90 ".islands = [0]"; elite 004/01 1101 45 ".islands = [1]"
		elite 003/01 0101 22 ".islands = [1]"; } >a
	for b in 1 2 11 12; do ksample --trial 7 --branch $b -a a; done >out
	is "1 0 0 1" "$(jq .sample.island out | xargs)"
	is "005/01 005/01" "$(jq -r "select(.sample.island == 0).sample.parent.id" out | xargs)"
	is 0 "$(jq -r "select(.sample.island == 1).sample.parent.id" out | grep -c 005)"
	{ header ".island = {current:1,filled:0}"; elite 005/01 2103 90; } >a
	is 005/01 "$(ksample --trial 7 -a a | jq -r .sample.parent.id)"'

# cell NAME TRIES FASTER DIRECTIONS
cat >cell <<'EOF'
#!/bin/sh
printf '{"kind":"cell","cell":"%s","departures":%s,"improvements":%s,"directions":%s}\n' "$1" "$2" "$3" "$4"
EOF
# step DIRECTION FASTER FAILED DELTA…: one of its directions.
cat >step <<'EOF'
#!/bin/sh
d=$1 faster=$2 failed=$3
shift 3
echo "$*" | jq -Rc --argjson d "[$d]" --argjson s "$faster" --argjson f "$failed" '(split(" ") | map(tonumber)) as $l
	| {direction: $d, samples: (($l | length) + $f), successes: $s, failures: $f, deltas: $l}'
EOF
# gradient ATTEMPTS CORRECT GAIN: its header, the same for all lengths.
cat >gradient <<'EOF'
#!/bin/sh
jq -nc --argjson n "$1" --argjson c "$2" --argjson g "$3" '{kind: "gradient", schema: "gradient/2", trial: 6,
	lengths: [range(4) | {tries: $n, correct: $c, gain: $g}]}'
EOF
# list: its lines as a JSON array.
printf '#!/bin/sh\njq -sc .\n' >list
chmod +x cell step gradient list
{ gradient 10 8 1
	cell 2103 24 17 "$({ step 0,0,0,0 9 0 .1 .1 .1 .1 .1 .1 .1 .1 .1; step 0,0,1,0 3 0 .1 .02 .3 -.1; step 0,1,0,0 1 0 .5; step 1,0,0,0 1 0 .5 -.1
		step 0,1,1,0 6 1 .1 .2 .3 .1 .2 .3 -.5; step 1,0,0,-1 3 0 .1 .1 .1; step 0,-1,0,0 3 0 .1 .2 -.1 -.1 -.1; } | list)"
	cell 1101 0 0 '[]'; echo '{"kind":"transition"}'; echo garbage; } >g

ok 'hints: often enough, mostly faster, and faster in the median; best rate first, then the most tried' '
	campaign "{\"exploit\":1,\"explore\":0,\"temperature\":0.01}"
	ksample --trial 7 -a a4 -g g | jq -c ".sample.hints[] | [.direction, .samples, .successes, (.gain * 1000 | round)]" >out
	printf "%s\n" "[[1,0,0,-1],3,3,105]" "[[0,1,1,0],8,6,221]" "[[0,0,1,0],4,3,62]" | same - out
	campaign "{\"exploit\":1,\"explore\":0,\"temperature\":0.01}" "{\"enabled\":false}"
	is 0 "$(ksample --trial 7 -a a4 -g g | jq ".sample.hints | length")"'

ok 'of two equally fast parents, the one whose steps were never faster is drawn much less' '
	{ header ".best = {id: \"005/01\"}"; elite 005/01 1101 90; elite 004/01 2103 90; } >a
	{ gradient 3 3 0.1; cell 1101 10 0 "[$(step 0,1,0,0 0 0 -.4 -.4 -.4 -.4 -.4 -.4 -.4 -.4 -.4 -.4)]"; } >slow
	campaign "{\"exploit\":1,\"explore\":0}"
	n=$(many 206 -a a -g slow | jq -r .sample.parent.id | grep -c 005/01); echo "$n"
	[ "$n" -lt 50 ]'

ok 'steps that were slower, or did not build, are avoided; steps that were faster are taken' '
	{ header ".best = {id: \"005/01\"}"; elite 005/01 1111 90; } >a
	campaign "{\"exploit\":1,\"explore\":0,\"refine\":0,\"esimd\":0}"
	share() { many 206 -a a -g "$1" | jq -c .sample.target | grep -cxF "$2" || :; }
	{ gradient 5 4 0.5; cell 1111 10 1 "[$(step 1,0,0,0 1 0 .2 -.5 -.4 -.6 -.5 -.5 -.4 -.5 -.5 -.6)]"; } >slower
	{ gradient 5 4 0.5; cell 1111 10 1 "[$(step 1,0,0,0 1 9 .1)]"; } >fails
	{ gradient 5 4 0.5; cell 1111 4 4 "[$(step 1,0,0,0 4 0 .3 .2 .3 .3)]"; } >faster
	for f in slower fails; do n=$(share $f "[2,1,1,1]"); echo $f $n; [ $n -lt 6 ]; done
	n=$(share faster "[2,1,1,1]"); echo faster $n; [ $n -gt 60 ]
	# The same levels elsewhere: what one cell has shown counts for its neighbours.
	sed "s/1111/1112/" slower >near
	n=$(share near "[2,1,1,1]"); echo near $n; [ $n -lt 12 ]'

ok 'shares shift to what pays off' '
	campaign "{}"
	{ header ".best = {id: \"005/01\"}"; elite 005/01 1111 90; } >a
	{ jq -nc "{kind: \"gradient\", schema: \"gradient/2\", trial: 6, lengths: [{tries: 40, correct: 30, gain: 6}, {tries: 40, correct: 30, gain: 0},
		{tries: 20, correct: 15, gain: 0}, {tries: 20, correct: 15, gain: 0}]}"
		cell 1111 100 9 "$({ step 0,0,0,0 9 0 .1 .1 -.1 .1; step 1,0,0,0 0 0 -.1 -.1 -.1; step -1,0,0,0 0 0 -.1 -.1 -.1; step 0,2,0,0 0 0 -.3 -.2; } | list)"; } >stay
	n=$(many 106 -a a -g stay | jq -r .sample.strategy | grep -c refine); echo $n
	[ $n -gt 60 ]'

ok 'programs that were not timed are no parents' '
	{ cat a4; for i in 1 2 3 4 5; do echo "{\"kind\":\"program\",\"id\":\"005/0$i\",\"cell\":\"0000\",\"score\":1,\"status\":\"correct\"}"; done; } >a
	ksample --trial 7 -a a -g g >x
	ksample --trial 7 -a a4 -g g | same - x'

ok 'defaults: the newest archive, or the one before the trial asked for' '
	campaign
	mkdir -p trials/006; cp a4 trials/006/archive.ndjson; cp g trials/006/gradient.ndjson; ln -s trials/006/archive.ndjson archive.ndjson
	ksample --trial 7 -a a4 -g g >x
	ksample | same x -
	ksample --trial 7 | same x -
	mv trials/006/gradient.ndjson trials/006/g; ksample --trial 7 -a a4 >x; ksample | same x -'

ok 'files of a bundle are included' '
	{ header; elite 005/01 2103 90; } >a
	printf "{\"eval\":{\"code\":\"main\",\"files\":[{\"path\":\"t.h\",\"content\":\"x\"}]}}\n" >trials/005/01/eval.ndjson
	ksample --trial 7 -a a | jq -e ".sample.parent.files == [{path:\"t.h\",content:\"x\"}] and .sample.parent.code == \"main\""'

ok 'an archive that does not fit, or missing code, is an error' '
	exits 2 ksample --trial 6 -a a4; grep "cannot come before" err
	exits 2 ksample --trial 7 -a nowhere; exits 2 ksample --trial 7 -a a4 -g a4; grep "is not a gradient" err
	{ sed 1q g; echo "{\"kind\":\"cell\",\"cell\":\"9999\"}"; } >bad; exits 2 ksample --trial 7 -a a4 -g bad; grep "bad:2" err
	{ sed 1q g; echo "{]"; } >bad; exits 2 ksample --trial 7 -a a4 -g bad; cat err
	{ header; echo "{\"kind\":\"elite\",\"id\":\"009/01\",\"cell\":\"0000\",\"score\":1,\"status\":\"correct\",\"islands\":[0]}"; } >a
	exits 2 ksample --trial 10 -a a; grep "trials/009/01/eval.ndjson" err
	mkdir -p trials/009/01; echo "{\"eval\":{}}" >trials/009/01/eval.ndjson; exits 2 ksample --trial 10 -a a -o o; grep "no code" err
	printf "{}" >trials/009/01/eval.ndjson; exits 2 ksample --trial 10 -a a -o o; grep truncated err
	[ ! -e o ]'

ok 'usage' '
	exits 0 ksample --help; grep usage out; exits 0 ksample --version; exits 2 ksample -x; exits 2 ksample operand
	exits 2 ksample --trial 0; exits 2 ksample --branch 100; exits 2 ksample -c nowhere'

done_testing
