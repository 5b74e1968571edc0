#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The search as a whole: 200 trials of a simulated campaign, then what must be true of every archive on the
# way.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

# campaign DIR TRIALS BRANCHES: runs ksample, search-sim, karchive and kgrad as the pipeline does.
cat >campaign <<'EOF'
#!/bin/sh
set -eu
cd "$1"
mkdir -p trials/000/00
echo '{"schema":"candidate/1","campaign":"sim","trial":0,"branch":0,"id":"000/00","eval":{"status":"correct","code":"reference","tokens":"00000000000000aa"}}' >trials/000/00/eval.ndjson
sed 's/}$/,"coords":{"coords":[0,0,0,0]},"score":{"combined":8,"speedup":1,"runtime_ms":100,"gain":false}}/' trials/000/00/eval.ndjson >trials/000/score.ndjson
karchive -o trials/000/archive.ndjson trials/000/score.ndjson
kgrad -a trials/000/archive.ndjson -o trials/000/gradient.ndjson trials/000/score.ndjson
p=trials/000 i=1
while [ "$i" -le "$2" ]; do
	t=trials/$(printf %03d "$i") b=1
	while [ "$b" -le "$3" ]; do
		mkdir -p "$t/0$b"
		ksample --trial "$i" --branch "$b" -a "$p/archive.ndjson" -g "$p/gradient.ndjson" -o "$t/0$b/sample.ndjson"
		b=$((b + 1))
	done
	search-sim . "$i" "$3"
	karchive -a "$p/archive.ndjson" -o "$t/archive.ndjson" "$t/score.ndjson"
	kgrad -g "$p/gradient.ndjson" -a "$p/archive.ndjson" -o "$t/gradient.ndjson" "$t/score.ndjson"
	p=$t i=$((i + 1))
done
EOF
chmod +x campaign
PATH=$T:$PATH
mkdir sim
echo '{"name":"sim","search":{"branches":4,"islands":3}}' >sim/campaign.json

ok '200 trials of 4 branches' 'campaign sim 200 4'

ok 'coverage grows, and the best never gets worse' '
	cat sim/trials/*/archive.ndjson | grep "^{\"best\"" | jq -r "\"\(.trial) \(.elites) \(.best.score)\"" | sort -n >course
	is 201 "$(wc -l <course)"
	awk "\$2 < e || \$3 < s { print; exit 1 } { e = \$2; s = \$3 }" course
	tail -1 course | awk "\$2 < 50 || \$3 < 100 { print; exit 1 }"'

ok 'every archive: one elite per cell, no worse than all others there by more than makes a gain; best first; the population capped' '
	for t in 001 010 050 100 150 200; do
		jq -s -e ".[0] as \$h | .[1:] as \$rows | (\$rows | map(select(.kind == \"elite\"))) as \$e | (\$rows | map(select(.kind == \"program\"))) as \$p
			| (\$e | map(.cell) | unique | length) == (\$e | length) and (\$rows | map(.id) | unique | length) == (\$rows | length)
			and (\$rows | length) <= ([1000, (\$e | length)] | max) and \$h.elites == (\$e | length) and \$h.programs == (\$p | length)
			and ((\$e | map({(.cell): .score}) | add) as \$top | \$p | map(.score <= 1.011 * \$top[.cell]) | all)
			and (\$e | map(-.score) | . == sort) and (\$p | map(-.score) | . == sort)" sim/trials/$t/archive.ndjson
	done'

ok 'nothing entered that may not' '
	jq -r ".eval | select(.duplicate_of or .status == \"no_code\" or .status == \"rejected\" or .status == \"quarantined\") | .tokens // empty" \
		sim/trials/*/score.ndjson >out
	[ "$(wc -l <out)" -gt 20 ]
	exits 1 grep -qFf out sim/trials/200/archive.ndjson'

ok 'candidates are counted, and every island grows' '
	head -1 sim/trials/200/archive.ndjson | jq -e ".candidates == 800 and ([.statuses[]] | add) == 800 and .migrations == 20
		and .last_migration == 200 and (.cost_usd - 9.84 | fabs) < 1e-9 and (.islands | map(.elites > 8) | all) and .migrants > 0"'

ok 'islands take turns of 10 candidates' '
	jq -r "[.trial, .branch, .sample.island] | @tsv" sim/trials/0[0-4]?/0?/sample.ndjson | sort -n -k1,1 -k2,2 | head -120 |
		awk "int((NR - 1) / 10) % 3 != \$3 { print; exit 1 }"'

ok 'no target within search.tabu_trials of itself, none twice in a trial' '
	jq -r "select(.sample.target and .sample.strategy != \"refine\") | \"\(.trial) \(.sample.target | map(tostring) | add)\"" sim/trials/*/0?/sample.ndjson | sort -n >targets
	awk "(\$2 in last) && \$1 - last[\$2] <= 3 { print; exit 1 } { last[\$2] = \$1 }" targets
	[ "$(cut -d" " -f2 targets | sort -u | wc -l)" -gt 60 ]'

ok 'only broken candidates of the trial before are repaired, each by one branch, at most 2 a trial, at most twice a plan' '
	jq -r "select(.sample.pick == \"repair\") | \"\(.trial) \(.sample.parent.id) \(.sample.parent.plan_tries)\"" sim/trials/*/0?/sample.ndjson >repairs
	[ "$(wc -l <repairs)" -gt 40 ]
	awk "{ split(\$2, id, \"/\") } id[1] != \$1 - 1 || seen[\$2]++ || ++n[\$1] > 2 || \$3 > 1 { print; exit 1 }" repairs'

ok 'parents are elites of the archive before or measured to be faster than its best, and correct unless repaired' '
	for t in 002 020 090 200; do
		p=$(printf %03d $((${t#0} - 1)) 2>/dev/null || printf %03d $((1$t - 1001)))
		jq -r "select(.sample.pick != \"repair\") | .sample.parent.id" sim/trials/$t/0?/sample.ndjson >parents
		while read -r id; do
			jq -s -e --arg id "$id" "(map(select(.id == \$id)) | .[0]) as \$r | \$r.status == \"correct\"
				and (\$r.kind == \"elite\" or \$r.speedup > .[0].best.speedup)" "sim/trials/$p/archive.ndjson"
		done <parents
	done'

ok 'every kind of move still occurs' '
	jq -r .sample.strategy sim/trials/1[0-9]?/0?/sample.ndjson | sort | uniq -c >moves; cat moves
	for move in refine mutate diversify; do awk -v m=$move "\$2 == m && \$1 > 8 { ok = 1 } END { exit !ok }" moves; done'

ok 'the best of the header holds a cell of the grid in every archive' '
	for t in sim/trials/*/archive.ndjson; do
		id=$(head -1 "$t" | jq -r .best.id)
		grep -q "^{\"kind\":\"elite\",\"id\":\"$id\"" "$t" || { echo "$t: $id"; exit 1; }
	done'

ok 'views rebuilt from the facts are the same bytes: trial by trial, in one call, in another order' '
	karchive -c sim -o all sim/trials/*/score.ndjson; same sim/trials/200/archive.ndjson all
	kgrad -c sim -a sim/trials/000/archive.ndjson -o all sim/trials/*/score.ndjson; same sim/trials/200/gradient.ndjson all
	for s in sim/trials/*/score.ndjson; do sort "$s"; done | LC_ALL=C TZ=Asia/Tokyo karchive -c sim -o all; same sim/trials/200/archive.ndjson all
	ksample -c sim --trial 150 --branch 3 -a sim/trials/149/archive.ndjson -g sim/trials/149/gradient.ndjson | same sim/trials/150/03/sample.ndjson -'

ok 'every lineage leads to the reference' '
	jq -r "\"\(.id) \(.sample.parent.id)\"" sim/trials/*/0?/sample.ndjson >parents
	awk "{ parent[\$1] = \$2 }
		END { for (id in parent) { for (n = 0; id in parent && n < NR; n++) id = parent[id]; if (id != \"000/00\") exit 1 } exit NR < 800 }" parents'

ok 'the schemas name every member of samples, archives and gradients, and what they require is there' '
	for kind in archive-1 gradient-2; do
		jq -s --slurpfile schema "$KILN_DATA/docs/schemas/$kind.json" -e "\$schema[0][\"\$defs\"] as \$d | map(
			(if .schema then \$d.header else \$d[.kind] end) as \$s | keys as \$k
			| \$k - (\$s.properties | keys) == [] and \$s.required - \$k == []) | all" sim/trials/200/${kind%-*}.ndjson
	done
	jq -s --slurpfile schema "$KILN_DATA/docs/schemas/sample-1.json" -e "\$schema[0] as \$s | \$s[\"\$defs\"].program as \$p | map(.sample
		| (keys as \$k | \$k - (\$s.properties | keys) == [] and \$s.required - \$k == [])
		and (.parent | keys - (\$p.properties | keys) == [])) | all" sim/trials/1??/0?/sample.ndjson'

# Bytes that a stage reads, counted by the kernel for the process and its children.
cat >bytes <<'EOF'
#!/bin/sh
"$@" >/dev/null
sed -n 's/^rchar: //p' /proc/$$/io
EOF
chmod +x bytes
if [ -r /proc/self/io ]; then
	ok 'the cost of a late candidate: ksample reads no more at trial 2000 than for a full grid' '
		a=$(bytes ksample -c sim --trial 101 --branch 4 -a sim/trials/100/archive.ndjson -g sim/trials/100/gradient.ndjson)
		b=$(bytes ksample -c sim --trial 201 --branch 4 -a sim/trials/200/archive.ndjson -g sim/trials/200/gradient.ndjson)
		echo "$a $b"
		# More elites and cells, at most 256 of each; the records after them are not read.
		[ "$b" -lt $((a + 150000)) ]'
	ok 'karchive reads the last archive and one trial, nothing else' '
		n=$(bytes karchive -c sim -a sim/trials/199/archive.ndjson sim/trials/200/score.ndjson)
		n=$((n - $(bytes karchive --version)))
		size=$(cat sim/trials/199/archive.ndjson sim/trials/200/score.ndjson | wc -c)
		echo "$n $size"; [ "$n" -lt $((size + 2000)) ]'
else
	skip 'what a late candidate costs' 'no /proc/self/io'
fi

ok 'the same with one island, and without a gradient' '
	mkdir plain
	echo "{\"name\":\"p\",\"search\":{\"branches\":2},\"gradient\":{\"enabled\":false}}" >plain/campaign.json
	campaign plain 15 2
	is 15 "$(head -1 plain/trials/015/archive.ndjson | jq .trial)"'

ok 'the benchmark: the tools in its process find what the programs find' '
	search-bench --arm default --landscape aligned --seeds 1 >in_process
	search-bench --arm default --landscape aligned --seeds 1 --processes >as_programs
	cat in_process
	same in_process as_programs
	is 5 "$(wc -w <in_process)"'

done_testing
