#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kremote over a plain pipe: the same evaluations, whatever the transport. ssh and Slurm are in ssh.t and slurm.t.
. "${0%/*}/lib.sh"
. "$tests_dir/remote/lib.sh"

XDG_CACHE_HOME=$T/there
export XDG_CACHE_HOME
here_and pipe lacks
launch pipe 'way kremote env --'
launch lacks 'kremote env --'
busy busy 'FAR=$T kremote env --'
# A transport that shows what was sent.
printf '#!/bin/sh\nenv >"$T/env"\nexec "$@"\n' >bin/way
# Faulty transports.
cat >bin/other <<'E'
#!/bin/sh
echo '{"schema":"remote/1","host":"gpu9","kiln":"0.0.1"}'
exec cat >/dev/null
E
cat >bin/noisy <<'E'
#!/bin/sh
echo 'Welcome to gpu9'
echo '{"motd": true}'
exec "$@"
E
cat >bin/broken <<'E'
#!/bin/sh
echo '{"schema":"remote/1","host":"gpu9","kiln":"'"$(kremote -V | cut -d ' ' -f 2)"'"}'
sleep 0.2
exit 255
E
printf '#!/bin/sh\n: >"$T/deaf-runs"\nexec sleep 60\n' >bin/deaf
chmod +x bin/*

ok 'help, version, and usage errors' '
	kremote --help >out; grep -q "^      --there" out
	kremote -V >out; grep -q "^kremote [0-9]" out
	exits 2 kremote; grep -q -e "-- is missing after the transport" err
	exits 2 kremote ssh far keval; grep -q -e "-- is missing after the transport" err
	exits 2 kremote -- -- keval; grep -q "give a transport" err
	exits 2 kremote env --; grep -q "give a program" err
	exits 2 kremote env -- /bin/sh; grep -q "without a folder" err
	exits 2 kremote --there "/opt/my kiln" env -- keval; grep -q "make a link with such a name" err
	exits 2 kremote --there kiln env -- keval; grep -q "must be an absolute path" err
	exits 2 kremote --serve env; grep -q "does not take other options" err'

ok 'here: the campaign that others are compared with' '
	cd "here it is"
	is "correct wrong_value compile_error correct correct correct run_error no_code" \
		"$(jq -r .eval.status trials/00[12]/*/eval.ndjson | xargs)"
	is 001/01 "$(jq -r .eval.duplicate_of trials/002/02/eval.ndjson)"'

ok 'over a pipe: the same, four branches at once, and only what all of them share is left' '
	cd pipe; make -j4 trials N=2 >out
	grep -q "^$(uname -n): kiln .*sandbox" out
	(cd ..; . "$tests_dir/remote/campaign.sh"; same_campaign "here it is" pipe)
	test ! -e trials/000/build
	is 1 "$(ls "$T"/there/kiln/remote | wc -l)"
	is build "$(ls "$T"/there/kiln/remote/pipe-*)"'

ok 'a record on standard input, another folder, files from elsewhere: the same answer over any transport' '
	mkdir a; jq -c "del(.eval)" pipe/trials/001/04/eval.ndjson >"a/my reply.ndjson"
	kremote env -- keval -c "here it is" <"a/my reply.ndjson" >one
	kremote env -- keval -c "here it is" -o two "a/my reply.ndjson"
	kremote env -- keval --campaign=pipe "$T/a/my reply.ndjson" --output=three
	(cd pipe; kremote --shared env -- keval -o ../four "../a/my reply.ndjson")
	(cd pipe; kremote --shared env -- keval <"../a/my reply.ndjson" >../five)
	for f in one two three four five; do
		is "001/04 correct 70000" "$(jq -r "\"\(.id) \(.eval.status) \(.eval.timing[0].median_ns)\"" $f)"
	done
	kremote env -- kharness --machine | jq -e .cpu
	# Absolute paths, a campaign through a link, and an argument attached to its option.
	ln -s "here it is" link
	for c in "-c$T/here it is" --campaign=link/../pipe; do
		is 001/04 "$(kremote env -- keval "$c" "$T/a/my reply.ndjson" | jq -r .id)"
	done
	cp "here it is/reference.c" "a/it is.c"
	is correct "$(kremote env -- keval -c pipe --code "a/it is.c" | jq -r .eval.status)"'

ok 'what a run reads, as listed by keval' '
	cd "here it is"
	is "./campaign.json ./task.json ./reference.c" "$(rm -rf ../bare; mkdir ../bare; cp *.json *.c ../bare; cd ../bare
		keval --inputs --reference | xargs)"
	texts=$(jq -r ".texts[\"prompt.system\"].of[0] | sub(\"text:\"; \"trials/000/texts/\")" trials/001/04/prompt.ndjson)
	is "./campaign.json ./task.json ./reference.c a trials/000/00/eval.ndjson $T/a/my reply.ndjson trials/001/04/reply.ndjson trials/001/04/prompt.ndjson trials/001/04/sample.ndjson $texts trials/001/04/eval.ndjson" \
		"$(cp trials/001/archive.ndjson a; keval --inputs -a a "$T/a/my reply.ndjson" | xargs; rm a)"
	is - "$(keval --inputs </dev/null | tail -n 1)"
	jq -r .eval.code trials/001/01/eval.ndjson >../a/twin.c
	for way in env "kremote env --"; do
		is 001/01 "$($way keval -a trials/001/archive.ndjson --code ../a/twin.c | jq -r .eval.duplicate_of)"
	done
	is trials/001/04/eval.ndjson "$(keval --inputs --verify 001/04 | tail -n 1)"'

ok 'oracles, baselines, a task in another folder, own commands: their files are sent' '
	. "$tests_dir/remote/campaign.sh"
	mkdir kinds; cd kinds; kinds
	kinds_by kremote env --
	test ! -e softmax_linear/trials
	is build "$(ls "$T"/there/kiln/remote/softmax_linear-*)"
	cd softmax_linear; kremote env -- keval --reference -o out; is correct "$(jq -r .eval.status out)"
	edit campaign.json ".task = \"$T/kinds/softmax/task.json\""
	is correct "$(keval --reference | jq -r .eval.status)"
	exits 2 kremote env -- keval --reference; grep -q "kinds/softmax/task.json: the other machine cannot have this file" err
	edit campaign.json ".task = \"replies/../../softmax/task.json\""
	is correct "$(kremote env -- keval --reference | jq -r .eval.status)"'

if strace -o /dev/null true 2>/dev/null; then
	ok 'keval and what it starts read nothing of a campaign that it does not list' '
		cd kinds; cp -r "../here it is" seen
		reads() {
			keval --inputs "$@" >listed
			strace -f -qq -e trace=openat -o log keval "$@" >/dev/null
			sed -n "s/.*openat(AT_FDCWD, \"\([^\"]*\)\", O_RDONLY.*) = [0-9]*$/\1/p" log |
				grep "^$dir/.*[.]" | grep -v "/build" | sort -u >read
			cat listed read; test -s read; is "" "$(grep -vxFf listed read)"
		}
		for dir in softmax softmax_linear own; do reads -c $dir --reference; reads -c $dir --code $dir/../softmax/reference.c; done
		dir=softmax_linear; reads -c $dir $dir/replies/001/01.ndjson
		dir=seen; reads -c $dir --verify 001/01
		reads -c $dir -a seen/trials/002/archive.ndjson seen/trials/001/01/reply.ndjson'
else
	skip 'keval and what it starts read nothing of a campaign that it does not list' 'strace is not installed'
fi

ok 'the status is that of the program'\''s own, its words come along, and without an answer there is no file' '
	cd pipe
	exits 2 kremote env -- keval --verify 9/9 -o none; grep -q "9/9: no evaluated candidate" err
	exits 2 kremote env -- keval --nonsense -o none; grep -q "unrecognized option" err
	exits 3 kremote env -- nosuch -o none; grep -q "$(uname -n): .nosuch. is not one of kiln.s programs on this machine" err
	exits 75 kremote broken -- keval --preflight -o none; grep -q "gpu9: the connection ended before the answer (broken exited with status 255)" err
	exits 75 kremote false -- keval --preflight -o none; grep -q "cannot reach the other machine: false exited with status 1" err
	exits 3 kremote nowhere -- keval --preflight -o none; grep -q "kremote not found on the other machine: install kiln" err
	exits 3 kremote --there /nowhere env -- keval --preflight -o none; grep -q "give its folder with --there" err
	: >"$T/file"
	XDG_CACHE_HOME=$T/file exits 4 kremote env -- keval --preflight -o none; grep -q "^kremote: $(uname -n): $T/file.*: Not a directory" err
	test ! -e none'

ok 'another version is refused by name; output of a login script is not taken for an answer' '
	cd pipe
	exits 3 kremote other -- keval --preflight; grep -q "gpu9 has kiln 0.0.1, but this machine has [0-9].*: install the same version on both" err
	exits 0 kremote noisy -- keval --preflight; grep -q "^$(uname -n): kiln" out'

ok 'preflight says what is missing there, before a model is asked' '
	cd lacks
	exits 0 kcampaign check --remote; grep -q "sandbox .*compiler gcc" out
	jq ".build.compiler = \"gcc-from-mars\"" task.json >new && mv new task.json
	exits 3 kcampaign check --remote
	grep -q "compiler gcc-from-mars is not installed" err; grep -q "evaluations cannot run through eval.launcher" err
	exits 3 kcampaign run; grep -q "evaluations cannot run through eval.launcher" err
	test ! -e trials/000/machine.json && test ! -e trials/001
	jq ".eval.launcher = \"kremote other --\"" campaign.json >new && mv new campaign.json
	exits 3 kcampaign check --remote; grep -q "gpu9 has kiln 0.0.1" err
	jq ".eval.launcher = \"kremote false --\"" campaign.json >new && mv new campaign.json
	exits 75 kcampaign run --retries 1 --retry-s 0.01; grep -q "eval.launcher: kremote false --: not now" err
	is 1 "$(grep -c "trying again" err)"'

ok 'an order that leads out of its folder is refused; one that ends too soon leaves nothing' '
	order() { printf "{\"schema\":\"remote/1\",\"place\":\"%s\",\"args\":[\"keval\"],\"files\":[{\"path\":\"%s\",\"size\":4}]}\n%s" "$@"; }
	for name in ../x /x a/../x ./x a//x a/ "" trials/000/build/x.so; do
		order p "$name" text | exits 2 kremote --serve; grep -q "no name for a file" err; grep -q "\"status\":2" out
	done
	for name in .. a/b "" /tmp; do order "$name" x text | exits 2 kremote --serve; grep -q "names no place" err; done
	echo "{}" | exits 2 kremote --serve
	exits 75 kremote --serve </dev/null
	order p x te | exits 75 kremote --serve
	is build "$(ls "$T/there/kiln/remote/p")"
	test ! -e "$T/there/kiln/x"'

ok 'the next run removes a folder that a killed run has left' '
	mkdir "$(echo "$T"/there/kiln/remote/pipe-*)/run-abcdef"
	cd pipe; kremote env -- keval --preflight >out
	is build "$(ls "$T"/there/kiln/remote/pipe-*)"'

ok 'a linear search: what a round is compared with is there, too' '
	kcampaign new --mode linear chain --task "$KILN_DATA/tests/tasks/affine" >/dev/null
	cd chain; mkdir -p replies/001 replies/002
	# Only a kernel that is not hopelessly slow is raced: the reference is made so slow that a busy machine changes
	# nothing.
	cp reference.c fast.c; sed -i "s/y\[i/for (volatile int slow = 0; slow < 50; slow++) &/" reference.c
	jq ".model = {provider: \"replay\"} | .eval = {set: \"full\", launcher: \"kremote env --\", seeds: 1, threads: 1, timing_s: 0.02, max_samples: 9} | .git.branch = \"none\" | .memory.enabled = \"off\"" \
		campaign.json >new && mv new campaign.json
	for round in 001 002; do
		{ printf "\140\140\140plan\n{\"hypothesis\":\"it should improve because %s\",\"change\":\"change %s\",\"category\":\"c%s\",\"bucket\":\"K1\",
			\"expected_gain_pct\":1,\"risks\":\"r\",\"signal\":\"s\",\"evidence\":\"the time of main -> one loop -> a factor\"}\n\140\140\140\n\140\140\140c\n" $round $round $round
			sed "s/scale [*]/scale * (float)1 */; 1a int unused$round;" fast.c; printf "\140\140\140\n"; } |
			jq -Rsc "{text: ., finish: \"stop\"}" >replies/$round/01.ndjson
	done
	kcampaign run -n 2 >out
	jq -c .eval.plan_fault,.eval.reasons trials/00[12]/01/eval.ndjson
	is "correct correct" "$(jq -r .eval.status trials/00[12]/01/eval.ndjson | xargs)"
	is "000/00" "$(jq -r ".eval.pairs[0].id" trials/001/01/eval.ndjson)"
	test ! -e trials/000/build'

ok 'keys stay here: neither the transport nor the order contains them' '
	cd pipe
	export TEST_API_KEY=a-secret MY_PASSWORD=a-secret HARMLESS=yes
	kremote way -- keval --preflight >out
	grep -q HARMLESS=yes "$T/env"
	not grep -q a-secret "$T/env"'

ok 'an interruption ends a transport that is queued and reads nothing of a large order' '
	cd pipe
	{ cat reference.c; head -c 900000 /dev/zero | tr "\0" "\n"; } >large.c
	kremote deaf -- keval --code large.c & pid=$!
	while [ ! -e "$T/deaf-runs" ]; do kill -0 $pid; sleep 0.02; done
	kill -s TERM $pid; got=0; wait $pid || got=$?
	is 143 $got'

ok 'an interruption ends what runs there, and its folder is gone' '
	interrupt TERM busy
	interrupt INT busy'

ok 'the same for kill -9, which the other end is not told about' '
	interrupt KILL busy'

done_testing
