#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kcampaign's commands, one by one; the loop itself is in pipeline.t.
. "${0%/*}/lib.sh"
. "$tests_dir/campaign.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY ANTHROPIC_MODEL OPENAI_MODEL OPENAI_BASE_URL
null_campaign c 3

ok 'help, version, and usage errors' '
	kcampaign --help >out; grep -q "^  redo" out
	kcampaign -V >out; grep -q "^kcampaign [0-9]" out
	exits 2 kcampaign; grep -q "^usage:" err
	exits 2 kcampaign dance; grep -q "unknown command: dance" err
	exits 2 kcampaign status -c c extra; grep -q "too many operands: extra" err
	exits 2 kcampaign redo; grep -q "an operand is missing" err
	exits 2 kcampaign status --trials 3; grep -q "trials is not an option of kcampaign status" err
	exits 2 kcampaign run -c c -n 0; grep -q "not a whole number" err
	exits 2 kcampaign run --nonsense
	exits 2 kcampaign status -c nowhere; grep -q nowhere err
	exits 2 kcampaign status -c .; grep -q campaign.json err
	mkdir bare; exits 2 kcampaign status -c bare; grep -q "bare/campaign.json: No such file" err'

ok 'knobs lists at most 80 fields with default and meaning' '
	kcampaign knobs >out
	grep -q "^search.exploit  *0.8  *share of parents drawn by speed$" out
	grep -q "^name  *required  *name of the campaign$" out
	[ "$(wc -l <out)" -le 80 ]'

ok 'knobs of one group, or one field' '
	kcampaign knobs eval >out
	grep -q "^eval.seeds " out
	is eval "$(grep "^[a-z]" out | cut -d. -f1 | sort -u)"
	is "eval.seeds: input seeds; for each workload and distribution (default: 2; 1..100)" "$(kcampaign knobs eval.seeds)"
	kcampaign knobs model.provider | grep -q "(default: replay; anthropic|openai|exec:.*)$"
	kcampaign knobs seed >out; is 1 "$(wc -l <out)"
	exits 2 kcampaign knobs evil; grep -q "evil: no such group or field; the groups are search, linear, .*git$" err
	# A group fits on a screen.
	for g in $(kcampaign knobs | sed -n "s/[.].*//p" | sort -u); do
		kcampaign knobs "$g" >out; [ "$(wc -l <out)" -le 24 ] || { cat out; exit 1; }
		not grep -E "^.{81}" out
	done'

ok 'the table of knobs is that of docs/schemas/campaign-1.json' '
	jq -r ".properties | to_entries[] | if .value.properties then \"\(.key).\(.value.properties | keys_unsorted[])\"
		else .key end | select(. != \"schema\")" "$KILN_DATA/docs/schemas/campaign-1.json" >names
	kcampaign knobs | cut -d " " -f 1 | same names -
	kcampaign knobs name | grep -q "default: required"
	kcampaign knobs gradient.enabled | grep -q "default: true; true|false"
	kcampaign knobs model.provider | grep -q "default: replay; anthropic|openai|exec:|exec-json:|"'

ok 'new writes a campaign in which check finds no fault, and asks nothing' '
	kcampaign new n1 --task "$KILN_DATA/campaigns/layernorm" >out
	grep -q "^n1: backend c, model provider file" out
	is "" "$(kcampaign check -c n1)"
	is "n1 c c file" "$(jq -r "[.name, .backend, .language, .model.provider] | join(\" \")" n1/campaign.json)"
	test -f n1/reference.c && test -f n1/oracle.c && test -f n1/baseline_openmp.c
	make -C n1 -s help | grep -q "make redo"'

ok 'a folder whose name is not UTF-8 is a campaign, too' '
	folder=$(printf "n\\377"); kcampaign new "$folder" --task c >out
	is "$(printf "n\\357\\277\\275")" "$(jq -r .name "$folder/campaign.json")"
	kcampaign check -c "$folder"'

ok 'new takes the model from the environment' '
	OPENAI_API_KEY=k OPENAI_MODEL=m OPENAI_BASE_URL=http://127.0.0.1:1 kcampaign new d/n2/ --task c 2>err && exit 1
	mkdir d
	OPENAI_API_KEY=k OPENAI_MODEL=m OPENAI_BASE_URL=http://127.0.0.1:1 kcampaign new d/n2/ --task c >out
	grep -q "model provider openai (OPENAI_API_KEY is set)" out
	is "n2 openai m http://127.0.0.1:1" "$(jq -r "[.name, .model.provider, .model.name, .model.base_url] | join(\" \")" d/n2/campaign.json)"
	ANTHROPIC_API_KEY=k kcampaign new n3 --task c >out
	is anthropic "$(jq -r .model.provider n3/campaign.json)"
	not grep -rq "\"k\"" n3 d/n2'

ok 'new refuses what it cannot do' '
	exits 2 kcampaign new n4; grep -q -- "give --task DIR" err
	exits 2 kcampaign new n1 --task c; grep -q "already contains a campaign" err
	exits 2 kcampaign new n4 --task nowhere; grep -q nowhere/task.json err
	mkdir t && jq ".reference = \"../r.c\"" c/task.json >t/task.json && cp c/*.c t && cp t/reference.c r.c
	exits 2 kcampaign new n5 --task t; grep -q "must be in the same folder" err
	jq ".reference = \"r.c\"" c/task.json >t/task.json
	exits 2 kcampaign new n5 --task t; grep -q "t/task.json: reference: t/r.c: no such file" err
	jq ".axes = {} | .extra = 1" c/task.json >t/task.json
	exits 2 kcampaign new n5 --task t; grep -q "t/task.json: extra: unknown field" err; grep -q "no campaign was created" err
	exits 2 kcampaign new n5 --task c --mode lin; grep -q "must be map-elites or linear" err
	test ! -e n5'

ok 'new overwrites nothing, and takes its name from the folder' '
	mkdir own && echo "all:" >own/Makefile
	exits 2 kcampaign new own --task c; grep -q "own/Makefile exists with other content" err
	is Makefile "$(ls own)"
	rm own/Makefile; cp c/reference.c own
	(cd own && kcampaign new . --task ../c)
	is own "$(jq -r .name own/campaign.json)"
	mkdir same && cp c/task.json c/*.c same && kcampaign new same --task same && kcampaign check -c same'

ok 'the task in docs/task.md is valid' '
	mkdir dot && sed -n "/^    {/,/^\$/p" "$KILN_DATA/docs/task.md" >dot/task.json
	echo "void dot(const float *a, const float *b, float *s, int n) { double t = 0; for (int i = 0; i < n; i++) t += (double)a[i] * b[i]; *s = (float)t; }" >dot/reference.c
	sed "s/float/double/g" dot/reference.c >dot/oracle.c
	kcampaign new dotc --task dot && is "" "$(kcampaign check -c dotc)"
	cc -shared -fPIC -o dot.so dot/oracle.c && kharness --lint dot/task.json --oracle ./dot.so'

ok 'check finds that a reference cannot be its own oracle' '
	mkdir lack && cp "$KILN_DATA"/campaigns/softmax/*.c lack
	jq "del(.oracle)" "$KILN_DATA/campaigns/softmax/task.json" >lack/task.json
	kcampaign new lack --task lack
	exits 2 kcampaign check -c lack; grep -q "task.json: \"oracle\" is missing" err out'

ok 'a campaign of correct kernels, none of which is faster, says so' '
	cp -r c slow && jq ".score.min_gain = 10" c/campaign.json >slow/campaign.json
	kcampaign run -c slow -n 1 >out
	grep -q "[1-9] correct; no candidate is faster than the reference yet" out
	kcampaign best -c slow | grep -q "^best kernel  none: no candidate is faster than the reference yet"
	exits 1 kcampaign best -c slow --code; grep -q "faster than the reference yet" err
	kreport -c slow && grep -q "After 1 trial no candidate is faster than the reference" slow/report.md'

ok 'make at the top accepts a campaign whose folder has a space in its name' '
	mkdir "a space" && kcampaign new "a space/my own" --task c
	make -s -C "$KILN_DATA" -n -o all O="$KILN_BUILD" CAMPAIGN="$PWD/a space/my own" status >out'

ok 'new derives the backend from the language' '
	for pair in cuda:cuda cl:opencl hip:hip fortran:c; do
		mkdir "l-$pair"; cp c/*.c "l-$pair"; jq ".language = \"${pair%:*}\"" c/task.json >"l-$pair/task.json"
		kcampaign new "b-$pair" --task "l-$pair" >/dev/null
		is "${pair#*:}" "$(jq -r .backend "b-$pair/campaign.json")"
	done'

ok 'a backend that nothing here runs is refused by name, unless the campaign has its own commands' '
	mkdir foreign; cp c/*.c foreign
	for l in triton python sycl; do
		jq ".language = \"$l\"" c/task.json >foreign/task.json
		exits 2 kcampaign new no --task foreign; [ ! -e no ]
		grep -Eq "foreign/task.json: language: kiln cannot run (triton|sycl) kernels itself: .*eval.timing" err
	done
	cp -r c own; edit own/campaign.json ".backend = \"sycl\""
	exits 2 kcampaign check -c own
	grep -q "^campaign.json: backend: kiln cannot run sycl kernels itself: .* one of c cuda hip opencl" out
	edit own/campaign.json ".eval.correctness = {command: \"true\", format: \"exit\"}"
	exits 2 kcampaign check -c own
	cp -r own spoken; edit spoken/campaign.json ".backend = \"c\" | del(.eval.correctness)"
	edit spoken/task.json ".language = \"triton\""
	exits 2 kcampaign check -c spoken
	grep -q "^task.json: language: kiln cannot run triton kernels itself" out
	# The evaluator does not take them for another backend, either.
	printf "int x;\n" >x.cpp
	exits 2 keval -c own --code x.cpp
	grep -q "campaign.json: backend: kiln cannot run sycl kernels itself" err
	edit own/campaign.json ".eval.correctness = {command: \"true\", format: \"exit\"} |
		.eval.timing = {command: \"true\", format: \"json\"}"
	kcampaign check -c own >out || { cat out; exit 1; }'

ok 'a missing key is reported by check, and by run before anything is measured' '
	cp -r c nokey; jq ".model = {provider: \"anthropic\", name: \"m\"}" c/campaign.json >nokey/campaign.json
	exits 0 kcampaign check -c nokey; grep -q "auth: no key found: set ANTHROPIC_API_KEY" err; grep -q "the model cannot be asked from here" err
	exits 2 kcampaign run -c nokey --trials 1; grep -q "set ANTHROPIC_API_KEY" err; grep -q "nothing was measured" err
	[ ! -e nokey/trials/000/machine.json ] && [ ! -e nokey/trials/000/00/eval.ndjson ]'
ok 'check names and explains all faults at once' '
	cp -r c bad
	jq ".serach = {} | .search.exploit = 2 | .stop.trials = \"ten\" | .model.effort = \"huge\" | .seed = 1.5 | del(.name)" \
		c/campaign.json >bad/campaign.json
	jq ".entry.arguments += [\"nothing\"] | .workloads[0].axes = {}" c/task.json >bad/task.json
	exits 2 kcampaign check -c bad
	grep -q "^campaign.json: serach: unknown field" out
	grep -q "^campaign.json: search.exploit: must be a number from 0 to 1 (share of parents" out
	grep -q "^campaign.json: stop.trials: must be a whole number" out
	grep -q "^campaign.json: model.effort: must be one of" out
	grep -q "^campaign.json: seed: must be" out
	grep -q "^campaign.json: name: is missing" out
	grep -q "^task.json: .*nothing" out
	grep -c "^task.json: .*workloads" out'

ok 'check compares the two files with each other' '
	cp -r c bad2; rm bad2/oracle.c bad2/baseline_openmp.c
	jq ".eval.set = \"none\" | .model.provider = \"replay\"" c/campaign.json >bad2/campaign.json
	exits 2 kcampaign check -c bad2
	grep -q "^task.json: oracle: .*oracle.c: no such file" out
	grep -q "baseline_openmp.c: no such file" out
	grep -q "^campaign.json: eval.set: .* has no workload in the set none" out
	grep -q "^replies: no such folder, but model.provider is replay" out
	jq ".eval.set = \"small\"" c/campaign.json >bad2/campaign.json; cp c/*.c bad2
	jq ".workloads[0].sets += [\"small\"]" c/task.json >bad2/task.json
	exits 2 kcampaign check -c bad2
	grep -q "no workload of the set small is timed" out
	jq ".build.compiler = \"opencl\"" c/task.json >bad2/task.json; cp c/campaign.json bad2
	exits 2 kcampaign check -c bad2
	grep -q "^campaign.json: backend: is c, but the compiler in .* is opencl, which is for opencl" out
	cp c/task.json bad2; jq ".backend = \"opencl\"" c/campaign.json >bad2/campaign.json
	exits 2 kcampaign check -c bad2
	grep -q "^task.json: build.compiler: is .*cc, but the campaign.s backend is opencl" out
	jq ".eval.timing = {command: \"true\", format: \"json\", files: [\"task.json\", \"gone.sh\"]} | .task = \"../c/task.json\"" c/campaign.json >bad2/campaign.json
	cp c/task.json bad2
	exits 2 kcampaign check -c bad2; is "campaign.json: eval.timing.files: .gone.sh.: no such file" "$(tr "\047" . <out)"
	jq ".task = \"missing.json\"" c/campaign.json >bad2/campaign.json
	exits 2 kcampaign check -c bad2; grep -q "task: missing.json: no such file" out
	echo "{" >bad2/campaign.json
	exits 2 kcampaign check -c bad2; grep -q "campaign.json:" err'

ok 'status, next and best before the first trial' '
	kcampaign status -c c >out
	grep -q "^trial    0 of 3" out
	grep -q "^next     the reference, then trial 1: make -j4 trial" out
	is 1 "$(kcampaign next -c c)"
	exits 2 kcampaign best -c c; grep -q "no trial has been made" err
	exits 2 kcampaign verify -c c; grep -q "no trial has been made" err'

ok 'status after a campaign: at most 80 columns' '
	(cd c && kcampaign run >/dev/null)
	kcampaign status -c c -o status
	cat status
	not grep -E ".{81}" status
	grep -q "^trial    3 of 3" status
	grep -q "^tried    12 candidates: " status
	grep -q "^cells    [1-9][0-9]* of 256" status
	grep -q "^next     nothing: over: 3 of 3 trials are done (stop.trials)" status'

ok 'status says who is running' '
	(cd c && flock .run.lock sleep 20 & echo $! >pid)
	sleep 0.2
	echo 4242 >c/.run.lock
	kcampaign status -c c >out || :
	kill "$(cat pid)"
	grep -q "^running  process 4242" out'

ok 'best prints the code of the best kernel' '
	kcampaign best -c c >out; grep -q "^best kernel  0" out
	id=$(sed -n "s/^best kernel  \([0-9/]*\),.*/\1/p" out)
	kcampaign best -c c --code -o "$T/best.c"
	jq -j .eval.code "c/trials/$id/eval.ndjson" | diff - best.c'

ok 'each stop condition is named' '
	stop() { jq ".stop = $1" c/campaign.json >new && cp -r c s && mv new s/campaign.json; exits 1 kcampaign next -c s; grep -q "$2" err; rm -r s; }
	sed -i "1s/\"failures\":[0-9]*/\"failures\":7/; 1s/\"stale\":[0-9]*/\"stale\":3/; 1s/\"cost_usd\":[0-9.]*/\"cost_usd\":2.5/" c/trials/003/archive.ndjson
	sed -i "1s/\"stale\":[0-9]*/\"stale\":20/" c/trials/003/archive.ndjson
	stop "{trials: 9, patience: 3}" "no gain in the last 20 trials, 3 times as long as any gain took (stop.patience)"
	sed -i "1s/\"longest_wait\":[0-9]*/\"longest_wait\":7/" c/trials/003/archive.ndjson
	jq ".stop = {trials: 9, patience: 3}" c/campaign.json >new && cp -r c s && mv new s/campaign.json
	is 4 "$(kcampaign next -c s)"; rm -r s
	stop "{trials: 9, patience: 0, speedup: 0.001}" "stop.speedup"
	stop "{trials: 9, patience: 0, budget_usd: 2.5}" "2.50 of .2.50 are spent (stop.budget_usd)"
	stop "{trials: 9, patience: 0, failures: 7}" "7 candidates in a row without a result (stop.failures)"'

ok 'the report of a verified kernel: speed-up and baselines' '
	id=$(jq -r "select(.kind == \"archive\").best.id" c/trials/003/archive.ndjson)
	jq -nc --arg id "$id" "{id: \$id, eval: {pairs: [
		{name: \"reference\", workload: \"4096x1024\", ratio: 200, low: 190, high: 210}, {name: \"reference\", workload: \"3x1000003\", ratio: 50, low: 40, high: 60},
		{name: \"reference\", workload: \"more\", ratio: 9, low: 9, high: 9},
		{name: \"openmp\", workload: \"a\", ratio: 0.5, low: 0.4, high: 0.6}]}}" >c/trials/003/verify.ndjson
	kcampaign best -c c >out; cat out
	grep -q "^speed-up     100.0× (89.2× to 110×) over the reference, same run" out
	grep -q "4096x1024 200×, 3x1000003 50.0×, more 9.00×" out
	kcampaign status -c c >st; grep -q "^best     $id: 100x (89 to 110), " st
	grep -q "^         raced against the reference: trials/003/verify.ndjson$" st
	grep -q "     100x" st
	sed -i "1s/\"speedup\":[0-9.]*/\"speedup\":99999/" c/trials/003/archive.ndjson
	jq ".stop = {trials: 9, patience: 0, speedup: 101}" c/campaign.json >c/new && cp -r c s && mv s/new s/campaign.json
	is 4 "$(kcampaign next -c s)"; rm -r s c/new
	grep -q "^openmp       50.0 % of its speed (40.0 % to 60.0 %), same threads, same run" out
	jq -c "(.eval.pairs[] | select(.workload == \"a\" or .workload == \"4096x1024\")).low = 0" c/trials/003/verify.ndjson >v && mv v c/trials/003/verify.ndjson
	kcampaign best -c c >out; cat out
	grep -q "^speed-up     100.0× (at most 110×; too few samples for a lower end) over the reference, same run" out
	grep -q "^openmp       50.0 % of its speed (at most 60.0 %; too few samples for a lower end), same threads" out
	jq -c ".id = \"009/09\"" c/trials/003/verify.ndjson >v && mv v c/trials/003/verify.ndjson
	kcampaign best -c c >out; grep -q "as scored; not measured again yet (make verify)" out
	jq -nc --arg id "$id" "{id: \$id, eval: {status: \"partial\"}}" >c/trials/003/verify.ndjson
	kcampaign best -c c >out; grep -q "^speed-up .* as scored; not accepted: partial on the full set$" out'

ok 'the best is raced again before a trial for which its figure is not good enough' '
	plan() { cp -r c s; jq ".eval = {evaluator: \"harness\"}" c/campaign.json >s/campaign.json
		jq -c "if .kind == \"archive\" then .best += $1 else . end" c/trials/003/archive.ndjson >s/trials/003/archive.ndjson
		rm -f s/trials/003/verify.ndjson; [ -z "${2-}" ] || printf "%s\n" "$2" >s/trials/003/verify.ndjson
		jq ".stop.trials = 9" s/campaign.json >new; mv new s/campaign.json
		(cd s && make -n trial) >plan 2>err || cat err; rm -r s; grep -c "^keval --anchor 004 -a trials/003/archive.ndjson -o trials/004/anchor.ndjson" plan || true; }
	jq -c "if .kind == \"archive\" then del(.best.provisional) else . end" c/trials/003/archive.ndjson >x && mv x c/trials/003/archive.ndjson
	id=$(head -n 1 c/trials/003/archive.ndjson | jq -r .best.id)
	is 0 "$(plan "{speedup: 10, speedup_low: 9.8, speedup_high: 10.2}")"
	is 1 "$(plan "{speedup: 10, speedup_low: 9.6, speedup_high: 10.2}")"
	is 1 "$(plan "{speedup: 10, speedup_low: 9.8, speedup_high: 10.4}")"
	is 1 "$(plan "{speedup: 10, speedup_low: 9.8, speedup_high: 10.2, provisional: true}")"
	is 0 "$(plan "{id: \"000/00\", speedup: 1, speedup_low: 0.1, speedup_high: 10.2}")"
	race="{\"id\":\"$id\",\"eval\":{\"status\":\"correct\",\"pairs\":[{\"name\":\"reference\",\"workload\":\"4096x1024\",\"ratio\":9,\"low\":8.9,\"high\":9.1}]}}"
	is 0 "$(plan "{speedup: 10, speedup_low: 1, speedup_high: 100}" "$race")"
	: a race of its own that was as rough
	is 0 "$(plan "{speedup: 10, speedup_low: 1, speedup_high: 100}" "$(printf "%s" "$race" | sed "s/8.9/5/; s/9.1/15/")")"'

ok 'a campaign without a name is named after operation, backend, device and date' '
	mkdir unnamed; cd unnamed; kcampaign new --task "$KILN_DATA/tests/tasks/affine" >out
	is "affine_c_cpu_$(date -u +%Y%m%d)" "$(ls -d affine*)"; is "$(ls -d affine*)" "$(jq -r .name affine*/campaign.json)"'
done_testing
