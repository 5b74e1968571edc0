#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# karchive: the elite rule, islands, population cap, counters, and every view, on small handmade records.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

# rec ID STATUS CELL SCORE [FILTER]: a scored record, changed by the jq FILTER.
cat >rec <<'EOF'
#!/bin/sh
id=$1 status=$2 cell=$3 score=$4
gain=false
[ "$status" != correct ] || gain=true
digits=$(printf %s "$cell" | sed 's/./&,/g; s/,$//')
printf '{"schema":"candidate/1","campaign":"t","trial":%d,"branch":%d,"id":"%s","sample":{"strategy":"mutate","island":0,"parent":{"id":"000/00","coords":[0,0,0,0],"combined":5,"status":"correct"}},"reply":{"cost_usd":0.1,"usage":{"input_tokens":10,"output_tokens":3}},"eval":{"status":"%s","tokens":"%s","log":"log of %s"},"coords":{"coords":[%s]},"score":{"combined":%s,"gain":%s,"speedup":%s,"runtime_ms":2}}\n' \
	"$((1${id%/*} - 1000))" "$((1${id#*/} - 100))" "$id" "$status" "$(printf %s "$id" | md5sum | cut -c1-16)" "$id" \
	"$digits" "$score" "$gain" "$score" | jq -c "${5:-.}"
EOF
chmod +x rec
PATH=$T:$PATH
echo '{"name":"t"}' >campaign.json
rec 000/00 correct 0000 8 'del(.sample, .reply)' >reference

ok 'the reference enters a new archive with a score of 5, in every island' '
	karchive -o a0 reference
	is "5 correct 0" "$(jq -r "select(.kind == \"elite\") | \"\(.score) \(.status) \(.islands[])\"" a0)"
	head -1 a0 | jq -e ".trial == 0 and .candidates == 0 and .best.id == \"000/00\" and .cost_usd == 0"
	echo "{\"name\":\"t\",\"search\":{\"islands\":3}}" >seven.json
	mkdir -p seven; mv seven.json seven/campaign.json
	karchive -c seven -o a reference
	is "5 [0,1,2]" "$(jq -r "select(.kind == \"elite\") | \"\(.score) \(.islands)\"" a)"'

ok 'an empty cell is taken, a better one takes it, a tie keeps the elite' '
	rec 001/01 correct 1000 20 >r; rec 001/02 correct 1000 20 >>r; rec 001/03 correct 0100 9 >>r; rec 001/04 correct 0100 10 >>r
	karchive -a a0 -o a1 r
	is "0000:000/00 0100:001/04 1000:001/01" "$(jq -r "select(.kind == \"elite\") | .cell + \":\" + .id" a1 | sort | xargs)"
	is "001/02 001/03" "$(jq -r "select(.kind == \"program\") | .id" a1 | xargs)"
	head -1 a1 | jq -e ".best.id == \"001/01\" and .elites == 3 and .programs == 2 and .trial == 1"'

ok 'elites and programs are in order of their score' '
	jq -s -e "map(select(.kind == \"elite\").score) | . == (sort | reverse)" a1
	jq -s -e "map(select(.kind == \"program\").score) | . == (sort | reverse)" a1'

ok 'a broken candidate may hold an empty cell, and any correct one takes it' '
	rec 001/01 wrong_value 2000 3 >r
	karchive -a a0 -o a r
	is 001/01 "$(jq -r "select(.cell == \"2000\" and .kind == \"elite\").id" a)"
	rec 002/01 correct 2000 5.3 >r
	karchive -a a -o b r
	is 002/01 "$(jq -r "select(.cell == \"2000\" and .kind == \"elite\").id" b)"
	is 001/01 "$(jq -r "select(.kind == \"program\").id" b)"'

ok 'the best is correct, whatever a broken one scores' '
	rec 001/01 partial 3333 400 >r
	karchive -a a0 -o a r
	is 000/00 "$(head -1 a | jq -r .best.id)"'

ok 'the best changes only when the score clears the noise' '
	rec 001/01 correct 3333 400 ".score.gain = false" >r
	karchive -a a0 -o a r
	is 000/00 "$(head -1 a | jq -r .best.id)"
	is 001/01 "$(jq -r "select(.cell == \"3333\" and .kind == \"elite\").id" a)"'

# timed ID CELL SPEEDUP LOW HIGH [FILTER]: a correct candidate with the interval of its speed-up.
cat >timed <<'E'
#!/bin/sh
rec "$1" correct "$2" 0 ".score += {combined: (5 + 3 * $3), speedup: $3, speedup_low: $4, speedup_high: $5} | ${6:-.}"
E
chmod +x timed
printf "%s\n" 'elites() { jq -r "select(.kind == \"elite\") | .cell + \":\" + .id" "$1" | sort | xargs; }' >"$T/elites"

ok 'a cell changes hands only beyond the noise of both; in a tie the older stays' '
	. "$T/elites"
	timed 001/01 1000 10 9.5 10.5 ".score.gain = false" >r1
	timed 002/01 1000 10.6 10.1 11.2 ".score.gain = false" >r2
	timed 003/01 1000 10.8 10.3 11.3 ".score.gain = false" >r3
	timed 004/01 1000 20 1 400 ".score.gain = false" >r4
	karchive -a a0 -o a r1 r2; is "0000:000/00 1000:001/01" "$(elites a)"
	karchive -a a -o b r3; is "0000:000/00 1000:003/01" "$(elites b)"
	karchive -a b -o c r4; is "0000:000/00 1000:003/01" "$(elites c)"
	is "10.8 10.3 11.3" "$(jq -r "select(.id == \"003/01\") | \"\(.speedup) \(.speedup_low) \(.speedup_high)\"" c)"'

ok 'the best holds its cell until there is a new best, and a new best takes its cell from anybody' '
	. "$T/elites"
	best() { jq -r "select(.kind == \"archive\").best.id" "$1"; }
	timed 001/01 1000 10 9.9 10.1 >r1
	timed 002/01 1000 11 10.9 11.1 ".score.gain = false" >r2
	timed 003/01 2000 12 8 16 ".score.gain = false" >r3
	timed 004/01 2000 11.5 11.4 11.6 >r4
	karchive -a a0 -o a r1 r2; is "0000:000/00 1000:001/01" "$(elites a)"; is 001/01 "$(best a)"
	karchive -a a -o b r3 r4; is 004/01 "$(best b)"; is "0000:000/00 1000:001/01 2000:004/01" "$(elites b)"
	is 004/01 "$(karchive --stats b | jq -r .best.id)"'

ok 'a cell that the incumbent holds goes to a gain over it in their race, and to nothing else' '
	. "$T/elites"
	timed 001/01 1000 10 5 20 >r1
	timed 002/01 1000 11 5.5 22 ".sample.incumbent = \"001/01\" | .score.gain = false" >r2
	timed 003/01 1000 10.5 5 21 ".sample.incumbent = \"001/01\"" >r3
	karchive -a a0 -o a r1 r2; is "0000:000/00 1000:001/01" "$(elites a)"
	karchive -a a -o b r3; is "0000:000/00 1000:003/01" "$(elites b)"
	is "003/01 10.5 5 21" "$(head -1 b | jq -r ".best | \"\(.id) \(.speedup) \(.speedup_low) \(.speedup_high)\"")"'

ok 'of two gains in a trial the first stays the best unless the second is surely faster' '
	timed 001/01 1000 10 9.8 10.2 >r1
	timed 002/01 2000 12 11.8 12.2 ".sample.incumbent = \"001/01\"" >r; timed 002/02 3000 12.2 12 12.4 ".sample.incumbent = \"001/01\"" >>r
	karchive -a a0 -o a r1 r; is 002/01 "$(head -1 a | jq -r .best.id)"
	timed 002/02 3000 13 12.8 13.2 ".sample.incumbent = \"001/01\"" >r2; head -1 r >>r2
	karchive -a a0 -o a r1 r2; is 002/02 "$(head -1 a | jq -r .best.id)"'

ok 'times that cannot be true, or that come from a machine too busy to measure, take nothing from a kernel that was timed' '
	. "$T/elites"
	timed 001/01 1000 10 9.5 10.5 >r1
	timed 002/01 1000 999 998 1000 ".score += {gain: false, alarm: \"below_floor\", combined: 5}" >r
	rec 002/02 correct 1000 5 "del(.score.speedup) | .score.gain = false" >>r
	karchive -a a0 -o a r1 r; is "0000:000/00 1000:001/01" "$(elites a)"'

ok 'a race of the best against the reference, before the trial or at its beginning, gives its speed-up from then on' '
	mkdir -p race/trials/001 race/trials/002 race/trials/003; echo "{\"name\":\"t\"}" >race/campaign.json
	timed 001/01 1000 10 8 12 ".score.provisional = true" >race/trials/001/score.ndjson; timed 001/02 2000 9 8.9 9.1 ".score.gain = false" >>race/trials/001/score.ndjson
	timed 002/01 3000 2 1.9 2.1 ".score.gain = false" >race/trials/002/score.ndjson
	best() { karchive -c race -a a0 -o "$T/a" race/trials/001/score.ndjson race/trials/002/score.ndjson; head -1 "$T/a" | jq -r ".best | \"\(.id) \(.speedup) \(.speedup_low) \(.speedup_high) \(.provisional) \(.score)\""; }
	race() { printf "{\"id\":\"%s\",\"pairs\":[{\"name\":\"reference\",\"workload\":\"w\",\"ratio\":%s,\"low\":%s,\"high\":%s}]}\n" "$@"; }
	is "001/01 10 8 12 true 35" "$(best)"
	race 001/02 7 7 7 >race/trials/002/anchor.ndjson; race 001/01 7 7 7 >race/trials/003/anchor.ndjson
	is "001/01 10 8 12 true 35" "$(best)"
	race 001/01 8 7.9 8.1 | jq -c "{id, eval: {status: \"correct\", pairs}}" >race/trials/001/verify.ndjson
	is "001/01 8 7.9 8.1 null 29" "$(best)"
	race 001/01 8.5 8.4 8.6 >race/trials/002/anchor.ndjson
	is "001/01 8.5 8.4 8.6 null 30.5" "$(best)"
	is "8.5 8.4 30.5" "$(jq -r "select(.kind == \"elite\" and .id == \"001/01\") | \"\(.speedup) \(.speedup_low) \(.score)\"" a)"
	jq -s -e "map(select(.kind == \"elite\").score) | . == (sort | reverse)" a
	karchive -c race -a a0 -o b race/trials/001/score.ndjson; karchive -c race -a b -o c race/trials/002/score.ndjson; same a c'

# many ID N: this many programs of cell 1000 in a trial.
many() { rec "$1/01" correct 1000 9 '.score.gain = false' | jq -c --argjson n "$2" '. as $r | range($n) | . as $k | $r
	| .branch = 1 + $k | .id = "\(.id[:3])/\(10000 + .branch | tostring[1:])" | .eval.tokens = .id | .score.combined += $k % 7'; }
many 001 50 >many1; many 004 1000 >many4

ok 'thin: in a long search a file contains what is new, and builds on those before it' '
	rec 002/01 correct 2000 20 >r2; rec 003/01 correct 1000 30 >r3; rec 003/02 correct 2000 19 >>r3
	cp reference many0; cp r2 many2; cp r3 many3; last=; all=
	for t in 0 1 2 3 4; do
		mkdir -p trials/00$t; karchive --thin ${last:+-a $last} -o trials/00$t/archive.ndjson many$t
		last=trials/00$t/archive.ndjson; all="$all many$t"; karchive -o whole $all
		karchive --top 2000 whole >one; karchive --top 2000 $last >two; same one two
	done
	is "null 0 1" "$(for t in 0 1 2; do head -1 trials/00$t/archive.ndjson | jq .after; done | xargs)"
	is "001/01 003/01 003/02" "$(jq -r "select(.kind != \"archive\").id" trials/003/archive.ndjson | sort | xargs)"
	rec 005/01 correct 3000 1 ".score.gain = false" >one; mkdir trials/005
	karchive --thin -a $last -o trials/005/archive.ndjson one; last=trials/005/archive.ndjson
	karchive -o whole $all one; karchive --top 2000 whole >one; karchive --top 2000 $last >two; same one two
	is "null 4" "$(for t in 4 5; do head -1 trials/00$t/archive.ndjson | jq .after; done | xargs)"
	head -1 trials/005/archive.ndjson | jq -e "(.gone | length) == 1 and .dropped > 50"
	ln -s trials/005/archive.ndjson archive.ndjson; karchive --top 2000 >two; same one two'

ok 'thin: the files that an archive builds on must exist, unchanged' '
	cp trials/003/archive.ndjson loose; exits 2 karchive --top 1 loose; grep "loose: lacks the lines of trial 2" err
	sed -i "\$d" trials/001/archive.ndjson; exits 2 karchive --top 1 trials/003/archive.ndjson; grep "an archive that it builds on has changed" err
	rm trials/001/archive.ndjson; exits 2 karchive --top 1 trials/003/archive.ndjson; grep "trials/001/archive.ndjson: is missing" err
	rm -r trials archive.ndjson'

ok 'a best that is not an elite is still shown' '
	timed 001/01 1000 10 9.5 10.5 >r1
	timed 002/01 1000 30 29 31 ".sample.incumbent = \"000/07\" | .score.gain = false" >r2
	karchive -a a0 -o a r1 r2
	karchive --stats a | jq -e ".best | .id == \"001/01\" and .speedup_low == 9.5 and .score == 35"'

for status in no_code rejected quarantined; do
	ok "$status is counted and never enters" '
		rec 001/01 '$status' 3000 900 >r
		karchive -a a0 -o a r
		is 0 "$(jq "select(.id == \"001/01\")" a | wc -l)"
		is 1 "$(head -1 a | jq .statuses.'$status')"'
done

ok 'no_code needs no coordinates; others do' '
	rec 001/01 no_code 3000 0 "del(.coords)" >r
	karchive -a a0 -o a r
	rec 001/01 correct 3000 8 "del(.coords)" >r
	exits 2 karchive -a a0 -o refused r
	grep "r:1: the record has no .coords.coords" err
	[ ! -e refused ]'

ok 'a duplicate neither enters nor gains, and is counted' '
	rec 001/01 correct 3000 50 ".eval.duplicate_of = \"000/00\" | .score.gain = true" >r
	karchive -a a0 -o a r
	is 1 "$(head -1 a | jq .duplicates)"
	is 0 "$(head -1 a | jq .last_gain)"
	is 0 "$(grep -c 001/01 a)"'

ok 'of two branches with the same tokens the lower one counts' '
	rec 001/02 correct 3000 60 ".eval.tokens = \"00112233445566aa\"" >r
	rec 001/01 correct 3000 50 ".eval.tokens = \"00112233445566aa\"" >>r
	karchive -a a0 -o a r
	is 001/01 "$(head -1 a | jq -r .best.id)"
	is 1 "$(grep -c 00112233445566aa a)"'

ok 'the order of records makes no difference' '
	for i in 1 2 3 4 5 6 7 8; do rec 001/0$i correct 100$((i % 3)) $((i % 4 + 7)); done >r
	sort -r r >r2
	karchive -a a0 -o a r; karchive -a a0 -o b r2; same a b
	sed -n 1,4p r >p; sed 1,4d r >q
	karchive -a a0 -o b q p; same a b
	karchive -a a0 <r2 >b; same a b'

ok 'several trials in one call give the same bytes as one call each' '
	for t in 1 2 3 4 5; do for i in 1 2 3 4; do
		rec 00$t/0$i "$( [ $i = 3 ] && echo compile_error || echo correct)" $((t % 4))$((i % 4))00 $((t * i % 7 + 5)) \
			".score.gain = ($t == 2 and $i == 1) | .sample.target = [$i % 4,$t % 4,0,0]"
	done >t$t; done
	cp a0 one
	for t in 1 2 3 4 5; do karchive -a one -o two t$t; mv two one; done
	karchive -a a0 -o all t1 t2 t3 t4 t5
	same all one'

ok 'an earlier trial, a repeated branch, and no trial at all are refused' '
	rec 001/01 correct 1000 9 >r
	exits 2 karchive -a a1 -o refused r
	grep "already contains trial 1" err
	rec 002/01 correct 1000 9 >r; rec 001/01 correct 1000 9 >>r
	exits 2 karchive -a a0 -o refused r
	grep "r:2: trial 1 after trial 2" err
	rec 001/01 correct 1000 9 >r; rec 001/01 correct 1000 9 >>r
	exits 2 karchive -a a0 -o refused r
	grep "two records of 001/01" err
	rec 001/01 correct 1000 9 "del(.trial)" >r
	exits 2 karchive -a a0 -o refused r
	exits 2 karchive </dev/null
	[ ! -e refused ]'

ok 'costs, tokens, statuses and failures in a row add up' '
	rec 001/01 no_code 0000 0 "del(.coords)" >r; rec 001/02 correct 1000 9 "del(.reply.cost_usd)" >>r
	rec 001/03 run_error 1000 2 ".eval.reasons = [{\"check\":\"timeout\",\"detail\":\"60 s\"}]" >>r
	rec 001/04 no_code 0000 0 "del(.coords)" >>r
	karchive -a a0 -o a r
	head -1 a >h
	is "0.3 1 2 4 40 12" "$(jq -r "\"\(.cost_usd) \(.unpriced) \(.failures) \(.candidates) \(.tokens.input_tokens) \(.tokens.output_tokens)\"" h)"
	is "{\"correct\":1,\"no_code\":2,\"run_error\":1}" "$(jq -c .statuses h)"
	jq -e ".strategies.mutate == {tried:4, correct:1, gains:1}" h'

ok 'trials without a gain are counted' '
	rec 001/01 correct 1000 9 ".score.gain = true" >r1; rec 002/01 correct 1000 99 ".score.gain = false" >r2
	rec 003/01 correct 1000 9 ".score.gain = false" >r3
	rec 004/01 correct 1000 9 ".score.gain = true" >r4
	karchive -a a0 -o a r1 r2 r3
	is "1 2" "$(head -1 a | jq -r "\"\(.last_gain) \(.stale)\"")"
	karchive -a a -o b r4
	is "4 0" "$(head -1 b | jq -r "\"\(.last_gain) \(.stale)\"")"'

ok 'targets are tabu for three trials' '
	rec 001/01 correct 1000 9 ".sample.target = [1,2,3,0]" >r1; rec 002/01 correct 1000 9 ".sample.target = [3,2,3,0]" >r2
	rec 003/01 correct 1000 9 >r3; rec 004/01 correct 1000 9 >r4
	karchive -a a0 -o a r1 r2 r3
	is "{\"1230\":1,\"3230\":2}" "$(head -1 a | jq -cS .tabu)"
	karchive -a a -o b r4
	is "{\"3230\":2}" "$(head -1 b | jq -cS .tabu)"'

ok 'the last compile errors are kept, cut between characters, each once' '
	for i in 1 2 3 4; do rec 001/0$i compile_error 1000 1 ".eval.log = \"$i\" + (\"ä\" * 600)"; done >r
	rec 001/05 compile_error 1000 1 ".eval.log = \"2\" + (\"ä\" * 600)" >>r
	karchive -a a0 -o a r
	is "001/03 500 001/04 500 001/05 500" "$(head -1 a | jq -r ".errors[] | .id, (.text | length)" | xargs)"
	rec 002/01 correct 1000 9 >r
	karchive -a a -o b r
	is 3 "$(head -1 b | jq ".errors | length")"'

ok 'the broken candidates of the last trial are listed with the failed repairs of their plan' '
	rec 001/01 wrong_value 1000 3 >r; rec 001/02 correct 1000 9 >>r; rec 001/03 rejected 1000 0 >>r
	rec 001/04 compile_error 1100 1 ".sample.strategy = \"repair\" | .sample.parent.plan_tries = 1" >>r
	karchive -a a0 -o a r
	is "001/01:0 001/04:2" "$(head -1 a | jq -r ".broken[] | \"\(.id):\(.tries)\"" | xargs)"
	rec 002/01 correct 1000 9 >r
	karchive -a a -o b r
	is 0 "$(head -1 b | jq ".broken | length")"'

ok 'the population is capped: elites stay, and the worst and oldest others are removed' '
	rec 001/01 correct 1000 9 | jq -c "[., range(1089)] | .[0] as \$r | .[1:][] as \$n | \$r
		| .trial = 1 + (\$n / 99 | floor) | .branch = 1 + \$n % 99
		| .id = \"\(1000 + .trial | tostring[1:])/\(100 + .branch | tostring[1:])\"
		| .score.combined = 2000 - \$n | .eval.tokens = \"\(10000 + \$n)00000000000\"" >r
	karchive -a a0 -o a r
	is 1000 "$(jq -r "select(.id).id" a | wc -l)"
	is "90 011/09" "$(head -1 a | jq .dropped) $(jq -r "select(.kind == \"program\").id" a | sort | tail -1)"
	rec 012/01 compile_error 1000 1 >r; rec 012/02 compile_error 3333 1 >>r
	karchive -a a -o b r
	is "92 000/00 001/01 012/02" "$(head -1 b | jq .dropped) $(jq -r "select(.kind == \"elite\").id" b | sort | xargs)"'

ok 'islands: candidates go where they were sampled, and after ten the next island is current' '
	mkdir -p isles
	echo "{\"name\":\"t\",\"search\":{\"islands\":3}}" >isles/campaign.json
	karchive -c isles -o i0 reference
	rec 001/01 correct 1000 9 >r; rec 001/02 correct 0100 11 >>r; rec 001/03 no_code 0000 0 >>r
	rec 001/04 correct 0010 12 ".sample.island = 1" >>r; rec 001/05 correct 0001 13 "del(.sample.island)" >>r
	for b in 06 07 08 09 10 11 12; do rec 001/$b no_code 0000 0; done >>r
	karchive -c isles -a i0 -o i1 r
	is "[0] [0] [0] [1]" "$(jq -rc "select(.parent).islands" i1 | sort | xargs)"
	is "{\"current\":1,\"filled\":2}" "$(head -1 i1 | jq -c .island)"
	is "4 2 1" "$(head -1 i1 | jq -r ".islands[].elites" | xargs)"
	is 0 "$(head -1 i1 | jq .migrations)"'

ok 'every tenth trial the best of each island goes to the next, all chosen beforehand' '
	rec 010/01 correct 3330 40 ".sample.island = 0" >r
	karchive -c isles -a i1 -o i2 r
	jq -r "select(.kind == \"elite\") | \"\(.id) \(.islands)\"" i2 | sort >got
	# 010/01 goes from island 0 to 1, 001/04 from 1 to 2; island 2 has only the reference, which island 0 has
	# too.
	printf "%s\n" "000/00 [0,1,2]" "001/01 [0]" "001/02 [0]" "001/04 [1,2]" "001/05 [0]" "010/01 [0,1]" >want
	same want got
	is "1 2 10" "$(head -1 i2 | jq -r "\"\(.migrations) \(.migrants) \(.last_migration)\"")"'

ok 'no migration in another trial, or with one island' '
	rec 009/01 correct 3330 40 >r
	karchive -c isles -a i1 -o s r
	is 0 "$(head -1 s | jq .migrations)"
	rec 010/01 correct 3330 40 >r
	karchive -a a0 -o a r
	is 0 "$(head -1 a | jq .migrations)"'

ok 'lines that do not change pass through byte for byte' '
	rec 002/01 correct 3330 40 >r
	karchive -a a1 -o b r
	grep 001/ a1 | grep -v archive | sort >p; grep 001/ b | grep -v "kind\":\"archive" | sort >q
	same p q'

ok 'a file that is not an archive is refused with file and line' '
	rec 009/01 correct 3330 40 >r
	echo "{}" >bad; exits 2 karchive -a bad r; grep "bad:1: its schema is" err
	: >bad; exits 2 karchive -a bad r; grep "bad: is empty" err
	exits 2 karchive -a nowhere r
	for change in "s/\"cell\":\"1000\"/\"cell\":\"1004\"/" "s/\"kind\":\"elite\"/\"kind\":\"elitist\"/" "s/\"score\":20/\"score\":true/" \
		"s/\"status\":\"correct\"/\"status\":\"rejected\"/" "s/\"islands\":.0./\"islands\":[99]/" "s/\"id\":\"001.02\"/\"id\":\"x\"/" \
		"s/}$//" "s/\"cell\":\"0100\"/\"cell\":\"1000\"/"; do
		{ sed -n 1p a1; sed 1d a1 | sed "$change"; } >bad
		exits 2 karchive -a bad r
		grep "bad:[2-6]: " err
	done
	{ sed -n 1p a1; grep program a1; grep elite a1; } >bad; exits 2 karchive -a bad r'

ok 'records that lack what they need are refused' '
	for change in "del(.eval)" "del(.score)" "del(.score.combined)" ".eval.status = \"Ä\"" ".sample = 1" ".sample.parent.id = \"x\"" \
		".sample.parent = []" ".reply = 1" ".reply.usage = 2" ".eval.tokens = \"a\\\"b\"" ".trial = -1"; do
		rec 001/01 correct 1000 9 "$change" >r
		exits 2 karchive -a a0 -o refused r
		grep "r:1: " err
	done
	printf "{\"trial\":1" >r; exits 2 karchive -a a0 -o refused r
	printf "{\"trial\":1\n" >r; exits 2 karchive -a a0 -o refused r
	[ ! -e refused ]'

rec 001/01 correct 1000 20 >r
rec 001/02 correct 0100 3 '.sample.parent.id = "000/00"' >>r
rec 001/03 compile_error 0333 1 'del(.score.speedup, .score.runtime_ms)' >>r
karchive -a a0 -o v1 r
rec 002/01 correct 1000 123.4 '.sample.parent.id = "001/01"' >r
rec 002/02 correct 3010 15000 '.sample.parent.id = "001/01"' >>r
rec 002/03 correct 3011 12 'del(.score.speedup, .score.runtime_ms) | .sample.parent.id = "001/02"' >>r
karchive -a v1 -o archive.ndjson r

ok 'view: top, best first, over elites and others' '
	is "002/02 002/01 001/01" "$(karchive --top 3 | jq -r .id | xargs)"
	is "6 elite, 1 program, " "$(karchive --top 100 | jq -r .kind | sort | uniq -c | awk "{ printf \"%s %s, \", \$1, \$2 }")"'

ok 'view: stats' '
	is "[6,0,\"002/02\"]" "$(karchive --stats | jq -c "[.candidates,.duplicates,.best.id]")"
	is 1 "$(karchive --stats i2 | jq .island.current)"'

ok 'usage' '
	exits 0 karchive --help; grep usage out; exits 0 karchive --version
	exits 2 karchive --nonsense; exits 2 karchive --stats --check; exits 2 karchive --top 0
	exits 2 karchive --stats a b; exits 2 karchive -c nowhere r; exits 2 karchive --stats nowhere'

done_testing
