#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The corpus of cheats and honest kernels: the list names every file and covers the catalogue; the C half is judged.
# tests/cheats/run -b cuda judges the CUDA half on a machine with a device; KILN_CHEATS_NVCC=1 compiles it here.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

corpus=$KILN_DATA/tests/cheats
list=$corpus/cheats.ndjson
KILN_LOCK_DIR=$T
export corpus list KILN_LOCK_DIR
chmod 755 "$T"

ok 'every line of the list is complete' '
	jq -es "all(
		(.file | test(\"^(c|cuda)/(good|bad)/[a-z0-9-]+[.]cu?\$\")) and (.backend | IN(\"c\", \"cuda\")) and
		(.task | startswith(\"tasks/\")) and (.what | length > 10) and (.expect | length > 0) and
		(if .file | contains(\"/bad/\") then (.hack | length > 0) and (.why | length > 10) and
			((.expect | any(. == \"correct\") | not) or .harmless == true or .hack == \"H29\")
		else .expect == [\"correct\"] end))" "$list"'
ok 'the list names every file, once, and tasks and honest kernels that exist' '
	(cd "$corpus" && find c cuda -type f | sort) >files
	jq -r .file "$list" | sort >named
	same files named
	jq -r "\"\(.task)/task.json\", .max_speedup_vs // empty" "$list" | sort -u | while read -r f; do
		[ -f "$corpus/$f" ] || { echo "$f is missing"; exit 1; }
	done'
ok 'the corpus is as large as claimed' '
	[ "$(ls "$corpus"/cuda/bad/*.cu | wc -l)" -ge 300 ] && [ "$(ls "$corpus"/cuda/good/*.cu | wc -l)" -ge 80 ]
	[ "$(ls "$corpus"/c/bad/*.c | wc -l)" -ge 200 ] && [ "$(ls "$corpus"/c/good/*.c | wc -l)" -ge 80 ]'
ok 'every hack of the catalogue has a file, or a row that says why not' '
	i=1
	while [ $i -le 43 ]; do
		jq -r .hack "$list" | grep -qw "H$i" || grep -q "^| H$i | none" "$corpus/README.md" ||
			{ echo "H$i is not covered"; exit 1; }
		grep -q "^| H$i |" "$corpus/README.md" || { echo "H$i is not in the table"; exit 1; }
		i=$((i + 1))
	done'

if [ "${KILN_CHEATS_NVCC-}" = 1 ] && command -v nvcc >/dev/null; then
	cat >"$T/compile" <<'EOS'
#!/bin/sh
# compile FILE: those expected to fail may do so.
o=$(mktemp)
nvcc -O1 -std=c++17 -gencode arch=compute_90a,code=sm_90a -cudart shared -shared -Xcompiler -fPIC -w -o "$o" "$corpus/$1" \
	>"$o.log" 2>&1 || jq -e --arg f "$1" 'select(.file == $f).expect | any(. == "compile_error")' "$list" >/dev/null ||
	{ echo "$1"; cat "$o.log"; exit 1; }
rm -f "$o" "$o.log"
EOS
	chmod 755 "$T/compile"
	ok 'the CUDA half compiles' 'jq -r "select(.backend == \"cuda\").file" "$list" | TMPDIR=$T xargs -P 4 -n 1 "$T/compile"'
else
	skip 'the CUDA half compiles' 'takes minutes; KILN_CHEATS_NVCC=1 and nvcc ask for it'
fi

ok 'samples differ, repeat, and together contain every file once' '
	n=$("$corpus/run" -b c -l | wc -l)
	"$corpus/run" -b c -l -n 24 -r 7 >a; "$corpus/run" -b c -l -n 24 -r 7 >b; same a b
	[ "$(wc -l <a)" -le 24 ]; ! grep -qx -F -f a <<-E || exit 1
	$("$corpus/run" -b c -l -n 24 -r 8)
	E
	for seed in $(seq 100 $((99 + (n + 23) / 24))); do "$corpus/run" -b c -l -n 24 -r "$seed"; done | sort >all
	"$corpus/run" -b c -l | sort >every; same every all'
ok 'a gain is decided by the interval of pairs' '
	outcome() {
		jq -cn --argjson pairs "$1" "{kernels: [{status: \"correct\"}], pairs: \$pairs}" | jq -s -f "$corpus/race.jq" |
			jq -r .race.outcome
	}
	pair() { printf "{\"workload\":\"${4-w}\",\"ratio\":%s,\"low\":%s,\"high\":%s,\"pairs\":9}" "$1" "$2" "$3"; }
	is "no gain" "$(outcome "[$(pair 1 0.99 1.02)]")"
	is inconclusive "$(outcome "[$(pair 1 0.99 1.03)]")"
	is inconclusive "$(outcome "[$(pair 1.5 0.6 3.2)]")"
	is GAINED "$(outcome "[$(pair 1.05 1.03 1.07)]")"
	is GAINED "$(outcome "[$(pair 0.5 0.4 0.6),$(pair 1.8 1.7 1.9 v)]")"
	is inconclusive "$(outcome "[]")"
	is wrong_value "$(echo "{\"kernels\":[{\"status\":\"wrong_value\"}],\"pairs\":[]}" | jq -s -f "$corpus/race.jq" | jq -r .got)"'
ok 'of several races the ratios decide, whatever the intervals within them' '
	races() { # RATIO...: as many races
		for ratio; do printf "{\"kernels\":[{\"status\":\"correct\"}],\"pairs\":[{\"workload\":\"w\",\"ratio\":%s,\"low\":0.9,\"high\":1.2,\"pairs\":12}]}" "$ratio"; done |
			jq -s -f "$corpus/race.jq" | jq -r ".race.outcome"
	}
	is "no gain" "$(races 1.01 0.99 1 0.995 1.005 1.01 0.99 1 1)"
	is inconclusive "$(races 1.05 0.95 1 0.97 1.03 1.02 0.99 1 1)"
	is inconclusive "$(races 1 1.01)"
	is GAINED "$(races 1.04 1.05 1.06 1.05 1.05 1.04 1.06 1.05 1.05)"
	is 108 "$(for i in 1 2 3 4 5 6 7 8 9; do echo "{\"kernels\":[{\"status\":\"correct\"}],\"pairs\":[{\"workload\":\"w\",\"ratio\":1,\"pairs\":12}]}"; done | jq -s -f "$corpus/race.jq" | jq .race.pairs)"
	is wrong_value "$({ echo "{\"kernels\":[{\"status\":\"correct\"}],\"pairs\":[]}"; echo "{\"kernels\":[{\"status\":\"wrong_value\"}]}"; } | jq -s -f "$corpus/race.jq" | jq -r .got)"'
ok 'a race that was gained is not contradicted by a single one' '
	mkdir bin w w/out; echo "{}" >w/campaign.json
	echo "{\"file\":\"c/bad/x.c\",\"backend\":\"c\",\"task\":\".\",\"expect\":[\"correct\"],\"max_speedup_vs\":\"c/good/y.c\"}" >w/rows
	cat >bin/keval <<-\END
		#!/bin/sh
		for last; do :; done
		echo "{\"eval\":{\"status\":\"correct\"}}" >"$last"
	END
	cat >bin/kbench <<-\END
		#!/bin/sh
		# Options: --json --repeat TIMES
		echo "$3" >>calls
		for i in $(seq "$3"); do sed -n "$(wc -l <calls)p" races; done
	END
	chmod 755 bin/*
	judge() { # RACE...: the results of the races one after the other, each RATIO LOW HIGH
		for race; do
			echo "$race" | jq -Rc "split(\" \") | map(tonumber) | {kernels: [{status: \"correct\"}], pairs: [{workload: \"w\", ratio: .[0], low: .[1], high: .[2], pairs: 9}]}"
		done >races
		rm -f calls w/out/*; PATH=$PWD/bin:$PATH T=$PWD/w "$corpus/judge" ${alone-} 1
		echo "$(jq -r .race.outcome w/out/1.json) $(tr "\n" " " <calls)"
	}
	is "GAINED 1 9 " "$(judge "1.05 1.03 1.07" "1.05 1.03 1.07" "1 0.99 1.01")"
	is "GAINED 1 1 9 " "$(judge "1 0.9 1.1" "1.05 1.03 1.07" "1.05 1 1.1")"
	is "no gain 1 1 9 " "$(judge "1 0.9 1.1" "1 0.99 1.03" "1 0.99 1.01")"
	is "inconclusive 1 1 9 " "$(judge "1 0.9 1.1" "1 0.9 1.1" "" "1 0.99 1.01")"
	is "no gain 1 1 9 27 " "$(alone=-a; judge "1 0.9 1.1" "1 0.9 1.1" "" "1 0.99 1.01")"
	is "no gain 1 " "$(judge "1 0.99 1.01")"'
ok 'verdicts, and which of them are failures' '
	verdict() {
		printf "%s\n" "$2" | jq -r --argjson strict "$1" -f "$corpus/verdict.jq" | jq -r "\"\(.verdict) \(.ok)\""
	}
	bad="\"file\":\"c/bad/x.c\",\"expect\":[\"correct\",\"rejected\"],\"checks\":[\"clock\"],\"reasons\":[]"
	good="\"file\":\"c/good/x.c\",\"expect\":[\"correct\"],\"reasons\":[]"
	is "PASSED false" "$(verdict false "{$bad,\"got\":\"correct\"}")"
	is "GAINED false" "$(verdict false "{$bad,\"got\":\"correct\",\"race\":{\"outcome\":\"GAINED\"}}")"
	is "inconclusive true" "$(verdict false "{$bad,\"got\":\"correct\",\"race\":{\"outcome\":\"inconclusive\"}}")"
	is "inconclusive false" "$(verdict true "{$bad,\"got\":\"correct\",\"race\":{\"outcome\":\"inconclusive\"}}")"
	is "no gain true" "$(verdict true "{$bad,\"got\":\"correct\",\"race\":{\"outcome\":\"no gain\"}}")"
	is "caught true" "$(verdict true "{$bad,\"got\":\"rejected\"}")"
	is "caught, other status false" "$(verdict true "{$bad,\"got\":\"run_error\"}")"
	is "right true" "$(verdict true "{$good,\"got\":\"correct\"}")"
	is "ACCUSED false" "$(verdict false "{$good,\"got\":\"rejected\"}")"
	is "not judged false" "$(verdict false "{$good,\"got\":\"not_judged\"}")"'

if command -v keval >/dev/null && command -v kharness >/dev/null; then
	ok 'C, a daily sample: cheats are caught for an expected reason, no honest kernel is accused' '
		"$corpus/run" -b c -j 6 -n 16 -o results
		jq -es "all(.verdict | startswith(\"caught,\") | not)" results'
else
	skip 'C: every cheat is caught' 'keval and kharness are not built'
fi

done_testing
