#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt configs: which few calls represent all, in worked examples, and how the calls of two lists find each other.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

mkdir -p c/adopt
cat >do.sh <<'EOF'
# records SCHEMA: launches, one in each line, "GRID BLOCK US" and perhaps arguments, as records. GRID and BLOCK are X or X,Y.
records() {
	jq -cRn --arg schema "$1" 'def triple: (split(",") | map(tonumber)) + [1, 1] | .[:2] + [1];
		{ schema: $schema, kernel: "f" },
		(inputs | split(" ") | { i: 0, kernel: "f", args: (.[3] // "{}" | fromjson),
			grid: (.[0] | triple), block: (.[1] | triple), ns: (.[2] | tonumber * 1000) })'
}
observed() { records observed/1 >c/adopt/observed.ndjson; }
timed() { records timing/1 >c/adopt/timing.ndjson; }
both() { tee both | observed; timed <both; }
# chosen [OPTION…]: choose, and print the name, share, median and arguments of each configuration.
chosen() { exits 0 kadopt configs -c c "$@"; show '"\(.name) \(.share) \(.target_us) \(.scalars | tojson)"'; }
show() { jq -r ".configs[] | $1" c/adopt/configs.json; }
says() { jq -e "$1" c/adopt/configs.json; }
EOF
t() { ok "$1" '. "$T/do.sh"; '"$2"; }

# Five keys, 18 calls, 2057 us; the first key has fast and slow calls, of 13 and of 127 columns.
while read -r grid block us; do
	[ "$us" -gt 200 ] && cols=127 || cols=13
	echo "$grid $block $us {\"cols\":$cols,\"gain\":0.5}"
done >example <<'EOF'
4096 256 100
1024 128 60
4096 256 104
256 64 9
4096 256 96
4096 256 410
8192 256 30
1024 128 62
4096 256 400
4096 256 102
64 1024 12
1024 128 58
4096 256 420
256 64 10
4096 256 98
64 1024 14
1024 128 61
256 64 11
EOF

t 'the worked example: shares, medians, fast and slow calls' '
	both <example; chosen --top 3 >list
	printf "%s\n" "top1_slow 0.597958 410 {\"cols\":127,\"gain\":0.5}" "top2_fast 0.243072 100 {\"cols\":13,\"gain\":0.5}" \
		"top3 0.117161 60.5 {\"cols\":13,\"gain\":0.5}" >want; same want list
	says ".total_us == 2057 and .groups == 6 and .calls == 18 and .aligned and .coverage == 0.958192 and .notes == []"
	says ".key == [\"grid_x\", \"block_x\"] and .configs[0].calls == 3 and .configs[0].grid == [4096, 1, 1]"'
t 'of equal shares the lower key comes first; there may be fewer groups than wanted' '
	chosen --top 5 >list; says ".coverage == 0.98736"
	is "256 8192" "$(show .key.grid_x | tail -2 | xargs)"
	head -1 example | observed; chosen --top 64 >list; is 6 "$(wc -l <list)"
	says ".coverage == 1 and (.aligned | not) and .configs[2].scalars == {}"'
t 'a key is split if it has four calls, and its times differ by more than the factor' '
	printf "%s\n" "1 32 10" "1 32 10" "1 32 100" | both; is "top1 1 10 {}" "$(chosen)"
	printf "%s\n" "1 32 10" "1 32 11" "1 32 20" "1 32 21" | sed "s/\$/ {\"i\":0}/" >four
	awk "{ sub(/0}/, NR \"}\") } 1" four | both; is "top1 1 15.5" "$(chosen | cut -d " " -f 1-3)"
	chosen --variance 1.5; says "(.configs | length == 2) and .configs[1].target_us == 10.5"'
t 'calls with the same arguments were disturbed, and are one; others are fast or slow as a whole' '
	for us in 10 11 200 10 12 300 100 11 120 10; do echo "1 32 $us {\"radius\":1}"; done >calls
	both <calls; is "top1 1 11.5" "$(chosen | cut -d " " -f 1-3)"
	sed -i "/ 100 / s/1}/9}/; / 120 / s/1}/9}/" calls; both <calls; chosen >list
	is "8 2" "$(show .calls | xargs)"; is 9 "$(show .scalars.radius | tail -1)"'
t 'arguments: call by call, unless more than 2 % of the calls have other keys' '
	timed <example; sed "4s/256 64/4096 256/" example | observed; chosen --top 3 >list
	grep -q "1 of 18 timed calls have other keys than the observed calls" err
	says "(.aligned | not) and (.configs[:2] | all(.scalars.cols == 13))"
	head -17 example | observed; chosen --top 3 >list; says "(.aligned | not) and .configs[0].scalars.cols == 13"
	grep -q "18 calls were timed and 17 observed, so arguments are matched by key: fast and slow" err'
t 'a log may have flattened a launch, or have another grid; y and z do not distinguish keys' '
	printf "%s\n" "60,135 32,8 10" "40,90 32,8 5" "16 64 1" | timed
	printf "%s\n" "8100 256 1 {\"width\":1920}" "3601 256 1 {\"width\":1280}" "16 64 1 {\"width\":1024}" >seen
	observed <seen; chosen >list; says ".aligned and (.configs | map(.scalars.width) == [1920, 1280, 1024])"
	sed -i "1s/8100 256/60 100/" seen; observed <seen; chosen >list; says "(.aligned | not) and .configs[0].scalars == {}"
	printf "%s\n" "60,135 32,8 10" "60,7 32 5" "16 64 1" | timed; chosen >list; says ".groups == 2 and .configs[0].calls == 2"'
t 'what most calls have, or the middle; but only combinations that occurred' '
	i=0; for mode in a a a b b; do i=$((i + 1)); echo "1 1 10 {\"mode\":\"$mode\",\"rows\":$i}"; done | both
	is "top1 1 10 {\"mode\":\"a\",\"rows\":3}" "$(chosen)"
	i=0; for cols in 9 9 7 8 6; do i=$((i + 1)); echo "1 1 10 {\"cols\":$cols,\"rows\":$i}"; done | both
	is "top1 1 10 {\"cols\":9,\"rows\":1}" "$(chosen)"'
t 'large integers stay as they are, and whole numbers with a point are no integers' '
	echo "1 1 10 {\"seed\":12,\"x\":34}" | both; sed -i "s/12/9007199254740993/; s/34/2.0/" c/adopt/*.ndjson
	chosen; grep -q "\"seed\": 9007199254740993" c/adopt/configs.json; grep -q "\"x\": 2.0" c/adopt/configs.json
	exits 2 kadopt configs -c c --key x; grep -q "x. is not an integer argument" err
	exits 0 kadopt configs -c c --key seed; says ".key == [\"seed\"]"'
t 'the work of a thread, where counters show it for every launch' '
	{ echo "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\",\"smsp__thread_inst_executed.sum\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\""
	printf "\"0\",\"f(int)\",\"(%s)\",\"(%s)\",\"%s\",\"%s\",\"%s\",\"0\"\n" "32, 2, 1" "2, 2, 1" 10000 2560 1024 "32, 2, 1" "2, 2, 1" 12000 2560 2048 \
		"32, 1, 1" "1, 1, 1" 1000 n/a 64; } >ncu.csv
	printf "%s\n" "2,2 32,2 1" "2,2 32,2 1" "1 32 1" | observed; chosen --ncu ncu.csv
	says ".configs | map(.budget) == [{ inst_per_thread: 10, bytes_per_thread: 6 }, { bytes_per_thread: 2 }]"'
t 'a call without a grid among launches is a fault, with its line' '
	both <example; sed -i "5s/,\"grid\":[^]]*]//" c/adopt/timing.ndjson
	exits 2 kadopt configs -c c; grep -q "adopt/timing.ndjson:5: grid_x, block_x: must be integers" err'
done_testing
