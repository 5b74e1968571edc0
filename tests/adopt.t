#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt: a function of an application becomes a campaign; its winner is put in if it works there, and only then.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

cp -r "$tests_dir/apps/heat" heat
printf 'die 128 128 9\nfin 48 64 3\nboard 40 80 5\n' >heat/some.conf
cat >helpers.sh <<'EOF'
# adopt DIR [OPTION…]
adopt() {
	kcampaign adopt -o "$@" -p heat --file src/diffuse.c --kernel heat_diffuse --build make \
		--run 'OMP_NUM_THREADS=1 ./heat -n 8 some.conf heat.out' --outputs heat.out --threads 1 --runs 5 --proxy 0.01,100
}
# spoil FILTER: a copy d of the campaign with another winner.
spoil() {
	rm -rf d
	cp -r unused d
	jq -c ".eval.code |= $1" unused/trials/001/01/eval.ndjson >d/trials/001/01/eval.ndjson
	not cmp -s unused/trials/001/01/eval.ndjson d/trials/001/01/eval.ndjson
	# As if it had been scored like this.
	from=$(tr -d "\n" <d/trials/001/01/eval.ndjson | sha256sum | cut -d " " -f 1)
	sed -i "/\"id\":\"001.01\"/s/\"from\":{\"eval\":\"[0-9a-f]*\"/\"from\":{\"eval\":\"$from\"/" d/trials/001/*.ndjson
	edit d/adopt.json "del(.model)"
}
sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2); }
valid() { python3 "$KILN_DATA/tests/schemas.py" "$KILN_DATA/docs/schemas" "$@"; }
EOF
# shellcheck source=/dev/null
. ./helpers.sh
printf '#!/bin/sh\nexit 255\n' >lost
chmod +x lost
make -C heat >make.log
(cd heat && OMP_NUM_THREADS=1 ./heat -n 8 some.conf heat.out)
sums heat >before

ok 'usage; what cannot be adopted is refused by name, before anything is changed' '
	. ./helpers.sh
	exits 0 kadopt --help; exits 0 kadopt adopt --help; exits 0 kadopt integrate --help; exits 2 kadopt integrate x
	exits 2 kadopt status -c none; grep -q "none/adopt.json: --project is missing" err
	exits 2 kadopt adopt -o x --file a.c; grep -q -- "--project is missing" err
	exits 2 kadopt adopt -o x --compare near; grep -q "must be exact, float:RTOL" err
	refused() {
		s=$1 m=$2
		shift 2
		rm -rf x
		exits "$s" kadopt adopt -o x -p heat --file src/diffuse.c --kernel heat_diffuse --build make --run ./heat "$@"
		grep -q "$m" err || { cat out err; return 1; }
	}
	refused 2 "must be a .c, .cu" --file plates.conf
	ln -s "$T/heat/src/main.c" elsewhere.c; mkdir -p away/src; cp -r heat/. away; ln -sf "$T/elsewhere.c" away/src/main.c
	refused 2 "leads out of the project" -p away --file src/main.c
	refused 2 "nothing: it is not defined there" --kernel nothing
	refused 2 "heat_read_plates: .*reads, writes or prints" --file src/plate.c --kernel heat_read_plates
	refused 2 "is inside the project" -o heat/x; rm -rf heat/x
	refused 3 "build: nonesuch is not installed" --build nonesuch
	refused 2 "does not build a copy" --build "make CC=false"
	refused 2 "run: .* exited with status 2" --run ./heat
	refused 2 "heat.out2: the run did not write it" --run "./heat -n 1 some.conf heat.out" --outputs heat.out2
	refused 2 "heat.out: the run did not write it" --run true --outputs heat.out
	refused 2 "compiles the original $T/heat/src/diffuse.c" --build "gcc -fopenmp -Iinclude -c -o x.o $T/heat/src/diffuse.c"
	refused 2 "two runs of the unchanged program differ" --run "./heat -n 1 some.conf o; date +%N >now" --outputs now
	refused 3 "cannot start .nolauncher." --launcher nolauncher
	refused 75 "exited with status 255" --launcher "$T/lost"
	sums heat >after; same before after' </dev/null

ok 'adopted: reference, oracle, task and campaign; the project is unchanged' '
	. ./helpers.sh
	adopt c --top 1 --provider "exec:sh $tests_dir/data/adopt/model.sh $tests_dir/data/adopt/big_only.c" >out; cat out
	sums heat >after; same before after
	is "" "$(kcampaign check -c c)"
	kadopt check -c c
	jq -e ".schema == \"adopt/1\" and .threads == 1 and (.originals | length == 1)" c/adopt.json
	is 7 "$(jq -s "map(select(.kind == \"adopted\"))[-1].files | length" c/seal.ndjson)"
	jq -e ".entry.arguments == [\"field\", \"conduct\", \"next\", \"rows\", \"cols\", \"radius\", \"spread\", \"step\"] and .build.flags == [\"-O2\", \"-std=gnu11\", \"-fopenmp\"]" c/task.json
	jq -e ".inputs.field.shape == [\"rows\", \"cols\"] and (.outputs | keys == [\"next\"]) and .notes.oracle == \"double\"" c/task.json
	jq -e "[.workloads[] | select(.timed)] | length == 1 and .[0].axes == {rows: 128, cols: 128, radius: 4} and (.[0].values | .spread == 2.5 and .step == 0.25 and (.field.file | test(\"^recorded/top1.*[.]field[.]npy$\"))) and .[0].weight == 1" c/task.json
	jq -e "[.workloads[].name] | index(\"check_17_31\") and index(\"check_radius_3\")" c/task.json
	ls c/trials/000/build/*.so; jq -e ".eval | has(\"profile\") | not" c/campaign.json
	jq -e ".search.mode == \"linear\" and .stop.trials == 6 and .stop.patience == 4 and .score.min_gain == 0.02" c/campaign.json
	grep -q "typedef double heat_real" c/oracle.c; grep -q " exp(" c/oracle.c
	not grep -q "heat_inject\|heat_plate" c/reference.c
	valid task-1 c/task.json; valid adopt-1 c/adopt.json; valid adopt-rules-1 "$KILN_DATA/patterns/adopt.json"
	kadopt status -c c | grep -q "project    unchanged"'

ok 'before the campaign has run there is nothing to integrate; a changed task is refused' '
	. ./helpers.sh
	exits 2 kcampaign integrate -c c; grep -q "has not run yet" err
	cp -r c d; echo >>d/task.json
	exits 2 kadopt check -c d; grep -q "d/task.json: it has changed since the function was adopted" err
	exits 2 kcampaign run -c d -n 1; grep -q "task.json: it has changed" err
	exits 2 kadopt integrate -c d; grep -q "it has changed" err; rm -r d'

ok 'the campaign finds a program that is fast where it is timed' '
	. ./helpers.sh
	edit c/campaign.json ".eval += {set: \"full\", timing_s: 0.05, min_samples: 25, seeds: 1} | .memory = {enabled: \"off\"}"
	kcampaign run -c c -n 1 >out; cat out
	grep -q "Round 2: ACCEPTED" out
	cp -r c unused'

ok 'a gain below the gate changes nothing: 10' '
	. ./helpers.sh
	exits 10 kcampaign integrate -c c --gate 0.98; grep -q "^GATE: .*98.0 % is required; no file was changed" out
	sums heat >after; same before after; [ ! -e c/adopt/journal.ndjson ]'

ok 'fast alone, slow in the application: rolled back, every byte as before' '
	. ./helpers.sh
	exits 1 kcampaign integrate -c c; cat out err
	grep -q "^ROLLED BACK" out; grep -q "all calls together take [0-9.]* % more in the application" err
	sums heat >after; same before after
	is "change restored" "$(jq -r .what c/adopt/journal.ndjson | paste -sd " ")"
	r=$(ls -d c/runs/heat_diffuse/*); ls "$r"
	grep -q "ROLLED BACK" "$r/report.md"; [ -s "$r/best.c" ] && [ -s "$r/integrated.c" ] && [ -s "$r/integrated.patch" ]
	[ -s "$r/iterations/001-01/response.txt" ]; [ ! -e "$r/iterations/001-01/prompt_user.txt" ]
	jq -e ".faster == false and (.pairs | length >= 3) and .low <= .reduction and .reduction <= .high and .reduction < 0 and (.configurations | length == 6)" "$r/timing.json"
	valid real-1 "$r/timing.json"
	kadopt status -c c | grep -q "rolled back"'

ok 'what must not go into the application is refused before anything is changed' '
	. ./helpers.sh
	refused() {
		spoil "$1"
		exits 1 kadopt integrate -c d; cat out err; grep -q "^REFUSED" out; grep -q "$2" err
		sums heat >after; same before after; [ ! -e d/adopt/journal.ndjson ]
	}
	refused "sub(\"total = weight\"; \"printf(\\\"x\\\"); total = weight\")" "harness_escape: line"
	spoil "sub(\"\\ttotal = weight\"; \"\\t/* columns 0, 1, ... of the rest of the row */\\n\\ttotal = weight\")"
	kadopt integrate -c d --gate 0.99 2>err || :; if grep elision err; then exit 1; fi
	refused "sub(\"\\ttotal = weight\"; \"\\t/* ... existing code */\\n\\ttotal = weight\")" "elision: line"
	refused "sub(\"conduct, next, rows\"; \"conduct, (float *)0, rows\")" "no_work: heat_diffuse does not use next"
	refused "sub(\"int rows, int cols, int radius, heat_real spread,\"; \"int rows, long cols, int radius, heat_real spread,\")" "signature: .*,int,long,int,"'

ok 'different results of the application: rolled back' '
	. ./helpers.sh
	spoil "sub(\"\\ttotal = weight\"; \"\\tstep = cols == 80 ? 0 : step;\\n\\ttotal = weight\")"
	exits 1 kadopt integrate -c d; cat out err; grep -q "output heat.out differs" err; grep -q "^ROLLED BACK" out
	sums heat >after; same before after'

ok 'a project that was edited since is refused, and left alone' '
	. ./helpers.sh
	cp heat/src/diffuse.c kept.c; echo "/* mine */" >>heat/src/diffuse.c
	exits 2 kadopt integrate -c c; grep -q "has changed since it was adopted" err
	tail -1 heat/src/diffuse.c | grep -q mine
	cp kept.c heat/src/diffuse.c'

ok 'if its fault does not show, the same program is accepted, and stays' '
	. ./helpers.sh
	rm -rf d; cp -r unused d
	printf "die 128 128 9\nbig 112 144 3\n" >heat/some.conf
	kadopt preflight -c d >out
	exits 0 kcampaign integrate -c d; cat out err; grep -q "^ACCEPTED: 001/01" out
	is "change accepted" "$(jq -r .what d/adopt/journal.ndjson | paste -sd " ")"
	grep -q "^static void" heat/src/diffuse.c; grep -q "include .heat.h" heat/src/diffuse.c
	not grep -q "typedef float\|SQUARE" heat/src/diffuse.c
	cp heat/heat.out was.out; (cd heat && ./heat -n 8 some.conf heat.out); same was.out heat/heat.out
	exits 0 kadopt integrate -c d; grep -q "already in place" out
	cp kept.c heat/src/diffuse.c'

if [ -d "$tests_dir/apps/heat/replies" ]; then
	ok 'recorded replies of a model make the application faster' '
		. ./helpers.sh
		rm -rf heat; cp -r "$tests_dir/apps/heat" heat; rm -r heat/replies; printf "die 192 192 9\nfin 128 160 3\n" >heat/some.conf
		adopt m --compare float:1e-4 >out
		cp -r "$tests_dir/apps/heat/replies" m/replies
		brisk m ".model = {provider: \"replay\"} | .eval.timing_s = 0.05"
		kcampaign run -c m -n "$(ls m/replies | wc -l)"
		exits 0 kadopt integrate -c m; grep -q "^ACCEPTED" out'
else
	skip 'recorded replies of a model make the application faster' 'no replies are recorded yet'
fi
done_testing
