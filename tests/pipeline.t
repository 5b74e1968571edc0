#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The graph: what is made, what is not made twice, and what happens after failures. The model and the evaluator are the
# null ones.
. "${0%/*}/lib.sh"
. "$tests_dir/campaign.sh"

REAL=$KILN_BUILD LOG=$T/log
KILN_BUILD=
PATH=$T/bin:$PATH
export REAL LOG KILN_BUILD PATH
: >"$LOG"
wrap "$T/bin"
null_campaign c 20
cd c

ok 'make -n is a plan and makes nothing' '
	make -n trial >plan
	grep -q "^keval --thin --reference -o trials/000/00/eval.ndjson" plan
	is 4 "$(grep -c ^kllm plan)"
	is "" "$(cat "$LOG")"
	test ! -e trials && rm plan'

ok 'the first trial makes the reference, four branches and their views' '
	make -j2 trial >out
	grep -q "^trial 1 of 20: 4 candidates" out
	is "karchive 2, kaudit 2, kclassify 2, keval 5, kgrad 2, kharness 1, kllm 4, kprompt 1, ksample 1, kscore 2" "$(. "$tests_dir/campaign.sh"; calls)"
	is trials/001/archive.ndjson "$(readlink archive.ndjson)"
	is 4 "$(wc -l <trials/001/score.ndjson)"
	is "01 02 03 04 archive.ndjson gradient.ndjson score.ndjson" "$(ls trials/001 | xargs)"
	is "[\"audit\",\"coords\",\"score\"]" "$(jq -c "keys - [\"branch\", \"campaign\", \"from\", \"id\", \"schema\", \"trial\"]" \
		trials/001/score.ndjson | sort -u)"
	is "audit coords eval prompt reply sample score" "$(kcampaign record 001/02 | jq -r "keys - [\"branch\", \"campaign\",
		\"id\", \"schema\", \"trial\"] | .[]" | xargs)"'

ok 'a stage writes a whole record from a thin one, and on request a thin one' '
	kclassify trials/001/*/eval.ndjson | kaudit | kscore -r trials/000/00/eval.ndjson -a trials/000/archive.ndjson | jq -cS . >piped
	kclassify --thin trials/001/*/eval.ndjson >coords; kaudit --thin coords >audit
	kscore -r trials/000/00/eval.ndjson -a trials/000/archive.ndjson audit | jq -cS . >joined
	same piped joined
	for b in 01 02 03 04; do kcampaign record 001/$b; done | jq -cS . | same joined -
	kclassify trials/001/*/eval.ndjson | kaudit | kscore --thin -r trials/000/00/eval.ndjson -a trials/000/archive.ndjson | same trials/001/score.ndjson -
	karchive -a trials/000/archive.ndjson -o whole piped; karchive --top 9 whole >top
	karchive --top 9 trials/001/archive.ndjson | same top -'

ok 'a sample or prompt that exists is never written again' '
	cp -r trials/001 ../facts
	exits 2 ksample --thin --trial 1 -a trials/000/archive.ndjson
	grep -q "trials/001/01/sample.ndjson: exists already; make redo" err
	exits 2 kprompt --thin trials/001/02/sample.ndjson; grep -q "trials/001/02/prompt.ndjson: exists already" err
	diff -r ../facts trials/001; rm -r ../facts'

ok 'a thin record without its evaluation, or with another one, is refused' '
	mkdir t && cp -r campaign.json task.json ./*.c trials t && cd t
	jq -c . trials/001/01/eval.ndjson >x && echo "{}" >trials/001/01/eval.ndjson
	exits 2 karchive -a trials/000/archive.ndjson trials/001/score.ndjson
	grep -q "^karchive: trials/001/score.ndjson:1: it was not made from trials/001/01/eval.ndjson; remove " err
	rm trials/001/01/eval.ndjson
	exits 2 karchive -a trials/000/archive.ndjson trials/001/score.ndjson
	grep -q "^karchive: trials/001/score.ndjson:1: trials/001/01/eval.ndjson is missing or damaged; " err
	exits 2 kclassify --thin x; grep -q "trials/001/01/eval.ndjson: is missing" err
	cd .. && rm -r t'

ok 'trials N=3 makes three more' '
	make -j2 trials N=3 >out
	is 3 "$(grep -c ^trial out)"
	is trials/004/archive.ndjson "$(readlink archive.ndjson)"
	: >"$LOG"'

ok 'a deleted evaluation costs one evaluation, no model call, and the views from there on' '
	rm trials/003/02/eval.ndjson
	make views
	is "karchive 2, kaudit 2, kclassify 2, keval 1, kgrad 2, kscore 2" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'a fact or view that became empty is named, and remade when it is removed' '
	cp -r trials ../before
	for f in 03/reply 03/eval score; do
		cp trials/002/$f.ndjson ../kept; : >trials/002/$f.ndjson
		case $f in */reply) mv trials/002/03/eval.ndjson ../kept.eval ;; esac
		exits 2 kcampaign views; grep -q "trials/002/$f.ndjson: contains no record" err
		cp ../kept trials/002/$f.ndjson
		case $f in */reply) mv ../kept.eval trials/002/03/eval.ndjson ;; esac
		make views
		diff -r ../before trials
	done
	rm -r ../before ../kept; : >"$LOG"'

ok 'a changed scoring rule remakes scores, archives and gradients' '
	jq ".score.multiplier = 4" campaign.json >new && mv new campaign.json
	make views
	is "karchive 5, kaudit 5, kclassify 5, kgrad 5, kscore 5" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'times in the future, left by a clock that was ahead, hide no change' '
	cp -r . ../ahead; find ../ahead/trials -type f -exec touch -d tomorrow {} +
	for folder in . ../ahead; do
		(cd "$folder"; jq ".score.multiplier = 5" campaign.json >new && mv new campaign.json; make views)
		diff -r trials "$folder/trials"
	done
	find ../ahead/trials -type f -exec touch -d tomorrow {} +
	jq ".score.multiplier = 3" ../ahead/campaign.json >new && mv new ../ahead/campaign.json
	make -C ../ahead trial >out; jq ".score.multiplier = 3" campaign.json >new && mv new campaign.json; make views
	for trial in 002 003 004; do diff -r trials/$trial "../ahead/trials/$trial"; done
	make -C ../ahead views 2>err; not grep -i "future\|skew" err
	rm -r ../ahead; : >"$LOG"'

ok 'the next trial brings the views up to date first' '
	jq ".gradient.enabled = false" campaign.json >new && mv new campaign.json
	make trial >out
	is "karchive 1, kaudit 1, kclassify 1, keval 4, kgrad 6, kllm 4, kprompt 1, ksample 1, kscore 1" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'a manifest that only looks different changes nothing' '
	jq ".title = \"new\" | .score.min_gain = 0.02" campaign.json >new && mv new campaign.json
	make views
	is "" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'views made again from the same facts are the same bytes' '
	mkdir ../before && cp -r trials ../before
	rm trials/00?/score.ndjson trials/00?/archive.ndjson trials/00?/gradient.ndjson
	for t in 000 001 002 003 004 005; do : >trials/$t/archive.ndjson; touch -d 2001-01-01 trials/$t/archive.ndjson; done
	make -j2 views
	diff -r ../before/trials trials
	rm -r ../before; : >"$LOG"'

ok 'with every view gone, archives too, the facts alone give the same' '
	mkdir ../before && cp -r trials ../before
	find trials -maxdepth 2 -name "*.ndjson" -delete; rm -r archive.ndjson trials/.rules trials/000/roofline.json
	make views
	is "" "$(grep -E "^(kllm|keval|ksample|kprompt) " "$LOG")"
	diff -r ../before/trials trials
	is trials/005/archive.ndjson "$(readlink archive.ndjson)"
	rm -r ../before; : >"$LOG"'

ok 'views ask no model: a missing reply is named, and how to get it' '
	mv trials/003/02/reply.ndjson ../kept; mv trials/003/02/eval.ndjson ../kept.eval
	exits 2 kcampaign views
	grep -q "trials/003/02/reply.ndjson: is missing, and views ask no model" err
	grep -q "make redo CELL=003/02 FROM=reply" err
	is "" "$(grep ^kllm "$LOG")"
	mv ../kept trials/003/02/reply.ndjson; mv ../kept.eval trials/003/02/eval.ndjson
	make views; : >"$LOG"'

ok 'redo makes one cell again from a stage on, and the views after it' '
	cp trials/003/02/prompt.ndjson prompt
	make redo CELL=003/02 FROM=reply
	same prompt trials/003/02/prompt.ndjson && rm prompt
	is "karchive 3, kaudit 3, kclassify 3, keval 1, kgrad 3, kllm 1, kscore 3" "$(. "$tests_dir/campaign.sh"; calls)"
	is trials/005/archive.ndjson "$(readlink archive.ndjson)"'

ok 'redo says what it cannot do' '
	exits 2 kcampaign redo 9/9; grep -q "no such candidate" err
	exits 2 kcampaign redo 003; grep -q "TRIAL/BRANCH" err
	exits 2 kcampaign redo --from lunch 003/02; grep -q "must be sample, prompt, reply or eval" err
	exits 2 kcampaign redo --from reply 000/00; grep -q reference err'

ok 'redo of the reference remakes every view' '
	kcampaign redo 000/00
	is "karchive 6, kaudit 6, kclassify 6, keval 1, kgrad 6, kscore 6" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'a redo that was killed is finished by the next run' '
	FAIL=trials/002/03/eval.ndjson CODE=4 exits 4 kcampaign redo 002/03
	test ! -e archive.ndjson
	: >"$LOG"
	exits 0 kcampaign views
	is "karchive 4, kaudit 4, kclassify 4, keval 1, kgrad 4, kscore 4" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'one branch ends with 75: the others finish, the archive waits, the next run resumes there' '
	FAIL=trials/006/02/reply.ndjson exits 75 kcampaign run -n 1
	grep -q "trial 6: trials/006/02/reply.ndjson cannot continue now" err
	is "keval 3, kllm 4, kprompt 1, ksample 1" "$(. "$tests_dir/campaign.sh"; calls)"
	test ! -e trials/006/archive.ndjson
	: >trials/006/02/reply.ndjson.a1B2c3
	cp -r trials/006 ../facts; rm trials/006/03/prompt.ndjson trials/006/04/prompt.ndjson trials/006/04/sample.ndjson
	kcampaign status >out; grep -q "02 sp--" out; grep -q "the rest of trial 6" out
	make trial >out
	test ! -e trials/006/02/reply.ndjson.a1B2c3
	grep -q "^ksample .*--branch 04 key" "$LOG"; grep -q "^kprompt --thin trials/006/03/sample.ndjson trials/006/04/sample.ndjson key" "$LOG"
	for f in 03/prompt 04/sample 04/prompt; do same "../facts/$f.ndjson" "trials/006/$f.ndjson"; done
	is "karchive 1, kaudit 1, kclassify 1, keval 1, kgrad 1, kllm 1, kprompt 1, ksample 1, kscore 1" "$(. "$tests_dir/campaign.sh"; calls)"'

ok 'redo of a candidate that no archive has counted makes it and nothing else' '
	FAIL=trials/007/04/reply.ndjson exits 75 kcampaign run -n 1
	: >"$LOG"
	kcampaign redo 007/01
	is "keval 1" "$(. "$tests_dir/campaign.sh"; calls)"
	make trial >out; : >"$LOG"'

ok 'make says which stage failed, with its status' '
	export FAIL=trials/008/01/eval.ndjson CODE=3
	exits 2 make trial
	grep -q "trials/008/01/eval.ndjson failed with status 3" err
	grep -q "Error 3" err
	exits 3 kcampaign run
	unset FAIL; make trial >out; : >"$LOG"'

ok 'a campaign tries again after 75, this many times' '
	FAIL=trials/009/01/reply.ndjson exits 75 kcampaign run --retries 3 --retry-s 0.01
	is 3 "$(grep -c "trying again" err)"
	is 4 "$(grep -c "^kllm.*009/01" "$LOG")"
	make trial >out; : >"$LOG"'

ok 'a second run at the same time ends with 75' '
	exits 75 flock .run.lock kcampaign run -n 1
	grep -q "already running" err
	is "" "$(cat "$LOG")"'

ok 'keys reach the model call and nothing else' '
	export TEST_API_KEY="a\$b \$(c)#"
	make -j2 trial >out
	is 4 "$(grep -cF "key=$TEST_API_KEY" "$LOG")"
	is 4 "$(grep ^kllm "$LOG" | grep -cF "key=$TEST_API_KEY")"
	not grep -rqF "$TEST_API_KEY" trials out'

ok 'a run that is ended by a signal ends make and the stages, and its status says so' '
	SLOW=trials/011/02/reply.ndjson kcampaign run -n 1 & pid=$!
	tries=100
	until grep -q "011/02/reply" "$LOG" || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	kcampaign status >out; grep -q "^running  process $pid" out
	kill -s TERM "$pid"
	got=0; wait "$pid" || got=$?
	is 143 "$got"
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/cwd")" != "$PWD" ] || [ "${p#/proc/}" = $$ ] || ! grep -q . "$p/cmdline" || ! grep -q sleep "$p/comm" || exit 1
	done
	test ! -e trials/011/archive.ndjson
	make trial >out; : >"$LOG"'

ok 'the best kernel is measured again once, and again when it is another' '
	make verify >out
	grep -q "^best kernel" out
	is "keval 1" "$(. "$tests_dir/campaign.sh"; calls)"
	make verify >out
	is "" "$(. "$tests_dir/campaign.sh"; calls)"
	jq -c ".id = \"000/01\"" trials/011/verify.ndjson >v && mv v trials/011/verify.ndjson
	kcampaign verify >out
	is "keval 1" "$(. "$tests_dir/campaign.sh"; calls)"
	FAIL=trials/011/verify.ndjson CODE=3 exits 0 kcampaign verify
	rm trials/011/verify.ndjson
	FAIL=trials/011/verify.ndjson CODE=3 exits 3 kcampaign verify'

ok 'a best kernel that is wrong on the full set is no longer the best: the next is measured' '
	cp -r . ../wrong; cd ../wrong; mkdir "$T/wrong-bin"
	cat >"$T/wrong-bin/keval" <<"E"
#!/bin/sh
"$REAL/keval" "$@" || exit
for last; do :; done
case " $* " in *" --verify $WRONG "*) jq -c ".eval.status = \"partial\" | .eval.log = \"wrong: workload tall\"" "$last" >"$last.new" && mv "$last.new" "$last" ;; esac
E
	chmod 755 "$T/wrong-bin/keval"; PATH=$T/wrong-bin:$PATH
	first=$(jq -r "select(.kind == \"archive\").best.id" archive.ndjson); rm -f trials/011/verify.ndjson
	WRONG=$first; export WRONG; exits 0 kcampaign verify
	grep -q "^kcampaign: $first is not accepted, and this evaluation replaces the old one: measured again on the full set, it is partial: wrong: workload tall" err
	next=$(jq -r "select(.kind == \"archive\").best.id" archive.ndjson); [ "$first" != "$next" ]; grep -q "^best kernel  $next," out
	is "$next" "$(jq -r .id trials/011/verify.ndjson)"
	is "partial correct" "$(jq -r .eval.status "trials/$first/eval.ndjson") $(jq -r .eval.status "trials/$first/eval.ndjson.scored")"
	kcampaign record "$first" | jq -e ".reply and .prompt and .sample"
	views() { find trials -maxdepth 2 -name "*.ndjson" -exec sha256sum {} + | sort; }
	views >before; rm trials/*/archive.ndjson; kcampaign views >out; views | diff before -'

ok 'results copied from it are copied again, and a redo of it leaves nothing of the old verdict' '
	cd ../wrong; PATH=$T/wrong-bin:$PATH
	first=$(ls trials/*/*/eval.ndjson.scored); first=${first#trials/}; WRONG=${first%/eval*}; export WRONG
	exits 0 kcampaign redo "$WRONG"
	test ! -e "trials/$WRONG/eval.ndjson.scored"
	is "$WRONG correct" "$(jq -r "select(.kind == \"archive\").best.id" archive.ndjson) $(jq -r .eval.status "trials/$WRONG/eval.ndjson")"
	copy=trials/011/04/eval.ndjson; [ "$WRONG" != 011/04 ]
	jq -c ".eval.duplicate_of = \"$WRONG\"" "$copy" >v && mv v "$copy"; cp "trials/$WRONG/eval.ndjson" redone
	exits 0 kcampaign verify
	is null "$(jq -r .eval.duplicate_of "$copy")"
	same redone "trials/$WRONG/eval.ndjson.scored"
	is partial "$(jq -r .eval.status "trials/$WRONG/eval.ndjson")"'

ok 'a search that ended because of the speed of a rejected kernel continues' '
	cd ../wrong; PATH=$T/wrong-bin:$PATH
	first=$(ls trials/*/*/eval.ndjson.scored); first=${first#trials/}; WRONG=${first%/eval*}; export WRONG
	kcampaign redo "$WRONG"
	cat >"$T/wrong-bin/keval" <<"E"
#!/bin/sh
for last; do :; done
case " $* " in
*" --verify $WRONG "*) echo "{\"id\":\"$WRONG\",\"eval\":{\"status\":\"partial\"}}" >"$last" ;;
*" --verify "*) echo "{\"id\":\"$2\",\"eval\":{\"status\":\"correct\"}}" >"$last" ;;
*" --anchor "*) echo "{\"id\":\"none\"}" >"$last" ;;
*) exec "$REAL/kstep" sh -c "exit 3" ;;
esac
E
	jq --argjson x "$(jq "select(.kind == \"archive\").best.speedup" archive.ndjson)" \
		".stop = {trials: 12, patience: 0, speedup: \$x} | .eval.evaluator = \"harness\"" campaign.json >new && mv new campaign.json
	exits 3 kcampaign run
	grep -q "(stop.speedup)" out; grep -q "^kcampaign: the kernel that met the stop condition was not accepted; the search continues" err
	grep -q "trial 12: trials/012/0./eval.ndjson failed with status 3" err'

ok 'stop conditions end a campaign, and a report is printed' '
	jq ".stop.trials = 12" campaign.json >new && mv new campaign.json
	kcampaign run >out
	grep -q "over: 12 of 12 trials are done (stop.trials)" out
	grep -q "^best kernel" out
	grep -q "^candidates   48: compiled" out
	exits 1 kcampaign next; grep -q stop.trials err
	exits 0 make trial'

cd ..
null_campaign f 2
cd f
jq '.model = {provider: "file"} | .search.branches = 2' campaign.json >new && mv new campaign.json

ok 'the file provider: 75 until the answers are there, with the prompts next to them' '
	exits 75 kcampaign run --retry-s 0.01
	grep -q "trial 1 waits for 2 replies" err
	grep -q "answer each prompt.md in trials/001 in a file reply.txt next to it, then run the" err
	is 1 "$(grep -c "nothing is wrong" err)"
	not grep -q "trying again" err
	test -s trials/001/01/prompt.md
	for b in 01 02; do printf "\`\`\`c\nint f%s(void) { return 1; } /* long enough */\n\`\`\`\n" $b >trials/001/$b/reply.txt; done
	kcampaign run -n 1 >out
	grep -q "^trial 1 of 2: 2 candidates" out'

ok 'redo keeps an answer that was written by hand, each time' '
	cp trials/001/01/reply.txt first; cp -r trials/001/02 other
	exits 75 kcampaign redo --from reply 001/01
	grep -q "the old answer .*reply.txt is now trials/001/01/reply.txt.old" err
	grep -q "trial 1 waits for 1 reply from you" err; same first trials/001/01/reply.txt.old
	echo "no code" >trials/001/01/reply.txt; kcampaign run -n 1 >out 2>&1 || :
	exits 75 kcampaign redo --from prompt 001/01
	same first trials/001/01/reply.txt.old; is "no code" "$(cat trials/001/01/reply.txt.old.2)"
	cp first trials/001/01/reply.txt; exits 75 kcampaign run -n 1
	diff -r other trials/001/02; test -s trials/001/archive.ndjson; test -s trials/002/01/prompt.md'

done_testing
