#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kgrad: outcomes of transitions, what is counted for cells, the gradient, and the views.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

# rec ID STATUS CELL SCORE PARENTCELL PARENTSCORE [FILTER]: a scored record.
cat >rec <<'EOF'
#!/bin/sh
digits() { printf %s "$1" | sed 's/./&,/g; s/,$//'; }
printf '{"trial":%d,"branch":%d,"id":"%s","sample":{"parent":{"id":"000/00","coords":[%s],"combined":%s,"status":"correct"}},"eval":{"status":"%s"},"coords":{"coords":[%s]},"score":{"combined":%s}}\n' \
	"$((1${1%/*} - 1000))" "$((1${1#*/} - 100))" "$1" "$(digits "$5")" "$6" "$2" "$(digits "$3")" "$4" | jq -c "${7:-.}"
EOF
# archive ID:CELL:SCORE …: an archive of trial 0.
cat >archive <<'EOF'
#!/bin/sh
echo '{"kind":"archive","schema":"archive/1","trial":0}'
for e; do
	IFS=:; set -- $e
	printf '{"kind":"elite","id":"%s","cell":"%s","score":%s,"status":"correct","islands":[0]}\n' "$1" "$2" "$3"
done
EOF
# near GOT WANT…: numbers, equal to 1e-6.
cat >near <<'EOF'
#!/bin/sh
printf '%s\n%s\n' "$1" "$2" | awk '{ n = split($0, v, /[][, ]+/); for (i = 1; i <= n; i++) x[NR, i] = v[i] }
	END { for (i = 1; i <= n; i++) if ((x[1, i] - x[2, i]) ^ 2 > 1e-12) { print; print "not near"; exit 1 } }'
EOF
# cell NAME FILTER <GRADIENT
cat >cell <<'EOF'
#!/bin/sh
jq -c "select(.kind == \"cell\" and .cell == \"$1\") | $2"
EOF
chmod +x rec archive near cell
PATH=$T:$PATH
echo '{"name":"t"}' >campaign.json
archive 000/00:0000:5 >a0

ok 'the reference alone: a gradient without transitions' '
	rec 000/00 correct 0000 8 0000 0 "del(.sample)" >r
	kgrad -a a0 -o g0 r
	is "{\"campaign\":\"t\",\"cells\":0,\"kind\":\"gradient\",\"schema\":\"gradient/2\",\"total\":0,\"transitions\":0,\"trial\":0}" "$(jq -c "del(.lengths)" g0)"'

for row in 'discovery true correct 1000 9 0000 5' 'discovery null correct 1000 4 0000 5' 'discovery null partial 1000 4 0000 5' \
	'replacement true correct 0000 6 0000 5' 'replacement null correct 0000 5.5 1100 9' 'improvement true correct 2222 8 0000 5' \
	'neutral null correct 2222 8 0000 8.005' 'neutral null correct 2222 8 0000 7.995' 'regression null correct 2222 8 0000 8.5' \
	'regression null rejected 3000 0 0000 5' 'regression null quarantined 3000 0 0000 5'; do
	ok "outcome: $row" '
		set -- '"$row"'
		archive 000/00:0000:5 001/01:2222:10 >a
		rec 001/01 $3 $4 $5 $6 $7 >r
		kgrad -a a -o g r
		is "$1 $2" "$(jq -r "select(.kind == \"transition\") | \"\(.outcome) \(.success)\"" g)"'
done

for row in 'neutral null 10.3 10 10.6' 'improvement true 11 10.8 11.2' 'regression null 9 8.8 9.2' 'neutral null 9 7 12' 'neutral null 30 3 300'; do
	ok "a difference counts beyond the noise of parent and child: $row" '
		set -- '"$row"'
		archive 000/00:0000:5 001/01:2222:999 >a
		rec 001/02 correct 2222 0 0000 35 ".score += {combined: (5 + 3 * $3), speedup: $3, speedup_low: $4, speedup_high: $5} | .sample.incumbent = \"001/01\"
			| .sample.parent += {speedup: 10, speedup_low: 9.8, speedup_high: 10.2}" >r
		sed -i "/001\/01/s/\"correct\"/&,\"speedup\":500/" a
		kgrad -a a -o g r
		is "$1 $2" "$(jq -r "select(.kind == \"transition\") | \"\(.outcome) \(.success)\"" g)"
		jq -e "select(.kind == \"transition\") | .delta - ($3 / 10 | log) | fabs < 1e-6" g'
done

for row in 'regression loss false 10.1' 'improvement gain true 10.1' 'neutral inconclusive false 15' 'neutral same false 5'; do
	ok "if the parent is the incumbent their race decides: $row" '
		set -- '"$row"'
		archive 000/00:0000:5 001/01:2222:999 >a; sed -i "/001\/01/s/\"correct\"/&,\"speedup\":500/" a
		rec 001/02 correct 2222 0 0000 35 ".score += {combined: (5 + 3 * $4), speedup: $4, speedup_low: $4, speedup_high: $4, verdict: \"$2\", gain: $3}
			| .sample.parent += {speedup: 10, speedup_low: 9.8, speedup_high: 10.2}" >r
		kgrad -a a -o g r
		is "$1" "$(jq -r "select(.kind == \"transition\").outcome" g)"'
done

ok 'no transition without a parent, code or a new program' '
	rec 001/01 no_code 0000 0 0000 5 >r; rec 001/02 correct 1000 9 0000 5 ".eval.duplicate_of = \"000/00\"" >>r
	rec 001/03 correct 1000 9 0000 5 "del(.sample.parent)" >>r; rec 001/04 correct 1000 9 0000 5 "del(.sample.parent.coords)" >>r
	kgrad -a a0 -o g r
	is 0 "$(head -1 g | jq .total)"'

ok 'within a trial, branches see the elites of lower branches' '
	rec 001/02 correct 1000 9 0000 5 >r; rec 001/01 correct 1000 9 0000 5 >>r; rec 001/03 correct 1000 9.5 0000 5 ".score.gain = true" >>r
	kgrad -a a0 -o g r
	is "001/01:discovery 001/02:improvement 001/03:replacement" "$(jq -r "select(.outcome) | .id + \":\" + .outcome" g | xargs)"'

ok 'cells count what leaves' '
	rec 001/01 correct 1000 9 0000 5 >r; rec 001/02 correct 1000 4 0000 5 >>r; rec 001/03 wrong_value 0100 3 0000 5 >>r
	rec 001/04 correct 0000 7 0000 5 >>r
	kgrad -a a0 -o g r
	is "[4,2]" "$(cell 0000 "[.departures,.improvements]" <g)"
	is "[[0,0,0,0],1,1,1] [[0,1,0,0],1,0,0] [[1,0,0,0],2,1,2]" "$(cell 0000 ".directions[] | [.direction,.samples,.successes,(.deltas | length)]" <g | xargs)"
	near "$(cell 0000 ".directions[2].deltas" <g)" "$(awk "BEGIN { printf \"[%.9f,%.9f]\", log(9 / 5), log(4 / 5) }")"
	jq -s -e ".[0].lengths | .[0].tries == 1 and .[1].tries == 3 and .[1].correct == 2 and .[2].tries == 0
		and (.[1].gain - (9 / 5 | log) | fabs) < 1e-6" g'

ok 'a step that did not build counts against its direction, a wrong value does not' '
	rec 001/01 compile_error 1000 1 0000 5 >r; rec 001/02 wrong_value 1000 3 0000 5 >>r; rec 001/03 run_error 1000 2 0000 5 >>r
	kgrad -a a0 -o g r
	is "[3,0,2,[]]" "$(cell 0000 ".directions[0] | [.samples,.successes,.failures,.deltas]" <g)"'

ok 'a slower program that takes an empty cell is not a success, and not a hint' '
	for i in 1 2 3; do rec 001/0$i correct 1${i}00 4 0000 5; done >r
	kgrad -a a0 -o g r
	is 0 "$(cell 0000 .improvements <g)"; is "3 discovery" "$(jq -r "select(.outcome) | .outcome" g | uniq -c | xargs)"
	is 0 "$(cell 0000 ".directions | map(.successes) | add" <g)"'

ok 'a repair is kept as a transition, but says nothing about directions' '
	rec 001/01 correct 1100 60 1000 1 ".sample.parent.status = \"compile_error\"" >r
	kgrad -a a0 -o g r
	is 1 "$(head -1 g | jq .total)"; is 0 "$(head -1 g | jq .cells)"
	tail -1 g | jq -e .repair'

ok 'trials one by one give what all of them give at once' '
	rec 001/01 correct 1000 9 0000 5 >r1
	rec 002/01 correct 2010 4 0000 5 >r2
	rec 004/01 correct 0010 8 0000 5 >r4
	kgrad -a a0 -o g r1 r2 r4
	kgrad -a a0 -o one r1; kgrad -g one -a a0 -o two r2; kgrad -g two -a a0 -o three r4
	same g three'

ok 'the gradient is the same where scores are ten times as high' '
	for k in 1 10; do rec 001/01 correct 1100 $((9 * k)) 0000 $((5 * k)) >r; kgrad -a a0 -o g$k r; done
	same g1 g10'

# A trial of N candidates from cell 0000 to 0100, each faster than the one before.
many() { rec "$1/01" correct 0100 9 0000 5 | jq -c --argjson n "$2" '. as $r | range($n) | . as $k | $r
	| .branch = 1 + $k | .id = "\(.id[:3])/\(100 + .branch | tostring[1:])" | .score.combined += $k / 100'; }
many 001 99 >many1; many 002 99 >many2

ok 'every attempt is counted, and a direction keeps its last 50 changes' '
	kgrad -a a0 -o g many1 many2
	is "99 198" "$(head -1 g | jq -r "\"\(.transitions) \(.total)\"")"
	is "[198,1,50]" "$(cell 0000 "[.departures,(.directions | length),(.directions[0].deltas | length)]" <g)"
	near "$(cell 0000 ".directions[0].deltas[49]" <g)" "$(awk "BEGIN { print log(9.98 / 5) }")"'

ok 'thin: in a long search a file contains what is new, and builds on those before it' '
	mkdir -p trials/001 trials/002 trials/003; rec 003/01 correct 3000 9 2000 5 >r3
	kgrad --thin -a a0 -o trials/001/gradient.ndjson many1
	kgrad --thin -g trials/001/gradient.ndjson -a a0 -o trials/002/gradient.ndjson many2
	kgrad --thin -g trials/002/gradient.ndjson -a a0 -o trials/003/gradient.ndjson r3
	is 2000 "$(jq -r "select(.kind == \"cell\").cell" trials/003/gradient.ndjson | xargs)"
	is 2 "$(head -1 trials/003/gradient.ndjson | jq .after)"
	kgrad -a a0 -o whole many1 many2 r3
	cells() { kgrad -g "$1" -a a0 </dev/null | jq -c "select(.kind == \"cell\") | [.cell,.departures,.improvements,.directions]"; }
	cells whole >all; cells trials/003/gradient.ndjson >chain; same all chain
	cp trials/003/gradient.ndjson loose; exits 2 kgrad -g loose </dev/null; grep "loose: lacks the lines of trial 2" err
	rm -r trials'

ok 'several trials in one call give the same bytes as one call each' '
	for t in 1 2 3 4 5 6 7; do for i in 1 2 3 4; do
		rec 00$t/0$i correct $((t % 4))$((i % 4))00 $((t * i % 7 + 5)).3 $((i % 3))0$((t % 2))0 $((i * t % 5 + 5)).1
	done >t$t; done
	kgrad -a a0 -o all t1 t2 t3 t4 t5 t6 t7
	: >g; karchive -o s0 /dev/null 2>/dev/null || cp a0 s0
	for t in 1 2 3 4 5 6 7; do
		kgrad ${last:+-g $last} -a s$((t - 1)) -o g$t t$t; last=g$t
		karchive -a s$((t - 1)) -o s$t t$t
	done
	same all g7'

ok 'disabled: nothing is tracked' '
	mkdir -p off; echo "{\"name\":\"t\",\"gradient\":{\"enabled\":false}}" >off/campaign.json
	rec 001/01 correct 1000 9 0000 5 >r
	kgrad -c off -a a0 -o g r
	is 1 "$(wc -l <g)"; is 1 "$(head -1 g | jq .trial)"'

ok 'input that does not fit is refused' '
	rec 001/01 correct 1000 9 0000 5 >r
	kgrad -a a0 -o g r
	exits 2 kgrad -g g -a a0 r; grep "gradient already contains trial 1" err
	rec 002/01 correct 1000 9 0000 5 >r2; sed "1s/0}/2}/" a0 >later; exits 2 kgrad -g g -a later r2; grep "archive already contains trial 2" err
	exits 2 kgrad </dev/null; grep "no records" err
	: >bad; exits 2 kgrad -g bad r2; grep "is empty" err
	printf "{}" >bad; exits 2 kgrad -g bad r2; grep "truncated" err
	echo "{}" >bad; exits 2 kgrad -g bad r2; grep "is not a gradient" err
	sed "s/\"directions\"/\"Directions\"/" g >bad; exits 2 kgrad -g bad r2; grep "cell of the gradient is malformed" err
	sed "s/\"cell\":/\"Cell\":/" g >bad; exits 2 kgrad -g bad r2; grep "bad:2: not a cell" err
	sed "1s/gradient.2/gradient\/1/" g >bad; exits 2 kgrad -g bad r2; grep "make views" err
	exits 2 kgrad -g nowhere r2'

ok 'usage' '
	exits 0 kgrad --help; grep usage out; exits 0 kgrad --version; exits 2 kgrad --x; exits 2 kgrad -g nowhere'

done_testing
