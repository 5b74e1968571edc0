#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A campaign from somebody else: the contents of its folder reach no file outside it, no shell and no
# terminal.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
. "$tests_dir/campaign.sh"
null_campaign c 2
jq '.search.branches = 2' c/campaign.json >t && mv t c/campaign.json
kcampaign run -c c >log 2>&1 || { cat log; exit 1; }
mkdir outside
echo precious >outside/victim
cat >helpers.sh <<'E2'
# fresh: the folder d, a copy of the campaign.
fresh() {
	rm -rf d
	cp -r c d
}
# refused WORDS NAME COMMAND…: the command ends with 2, and its message says that NAME is WORDS.
refused() {
	words=$1 name=$2
	shift 2
	exits 2 timeout 60 "$@" -c d
	grep -q "$name: is $words" err || {
		echo "$*: $name"
		cat err
		exit 1
	}
}
# archive PROGRAM: changes the header of the last archive of d.
archive() {
	jq -c --arg v "$1" "if .kind == \"archive\" then $2 else . end" \
		c/trials/002/archive.ndjson >d/trials/002/archive.ndjson
}
E2

ok 'a link among the names of kiln is refused by its name, and its target stays unchanged' '
	. ./helpers.sh
	for name in trials rounds logs memory runs .run.lock .proof report.html report.md seal.ndjson; do
		fresh; rm -rf "d/$name"
		case $name in .*|report.*|seal.*) to=victim ;; *) to= ;; esac
		ln -s "$T/outside/$to" "d/$name"
		for command in "kcampaign status" "kcampaign run" "kcampaign views" "kcampaign best" \
			"krecords close" "krecords remember" kreport "kaudit --report"; do
			refused "a symbolic link" "$name" $command
		done
		ln -sfn "$T/outside/nothing" "d/$name"
		refused "a symbolic link" "$name" kcampaign run
	done
	is "victim precious" "$(ls outside) $(cat outside/victim)"'

ok 'the same for a link below them, and for anything that is not a file' '
	. ./helpers.sh
	t=trials/001
	for name in $t $t/02 $t/02/reply.txt $t/02/eval.ndjson $t/score.ndjson trials/.rules \
		trials/.rules/score rounds/round-1 memory/v1.json; do
		fresh; rm -rf "d/$name"; mkdir -p "d/${name%/*}"
		ln -s "$T/outside/victim" "d/$name"
		for command in "kcampaign status" "kcampaign run" "kcampaign redo 001/01" \
			"krecords close" "krecords remember" kreport; do
			refused "a symbolic link" "$name" $command
		done
		rm "d/$name"; mkfifo "d/$name"
		refused "not a regular file or folder" "$name" kcampaign status
	done
	is precious "$(cat outside/victim)"'

ok 'kllm takes no answer through a link, and the lock is not another name of a file' '
	. ./helpers.sh
	fresh; cell=d/trials/002/01; rm -r d/trials/002; mkdir -p $cell
	jq ".model.provider = \"file\"" c/campaign.json >d/campaign.json
	ln -s "$T/outside/victim" $cell/reply.txt
	kcampaign record -c c 002/01 | jq -c "{schema, campaign, trial, branch, id, sample, prompt}" >prompt
	exits 2 kllm -c d -o $cell/reply.ndjson prompt; grep -q "reply.txt: is not a regular file" err
	rm -f d/.run.lock $cell/reply.txt; ln outside/victim d/.run.lock
	exits 2 kcampaign run -c d; grep -q ".run.lock: has more than one hard link" err
	is precious "$(cat outside/victim)"'

ok 'the link to the newest archive leads to the archive of a trial, or is refused' '
	. ./helpers.sh
	fresh; cp d/trials/002/archive.ndjson outside/archive.ndjson
	for to in ../outside/archive.ndjson "$T/outside/archive.ndjson" \
		trials/../../outside/archive.ndjson trials/002/../002/archive.ndjson; do
		ln -sfn "$to" d/archive.ndjson
		refused "a link to" archive.ndjson kcampaign status
		exits 2 kgrad -c d; exits 2 kreport -c d
	done'

ok 'the id of a candidate is checked wherever it would become a path' '
	. ./helpers.sh
	mkdir -p outside/02
	jq -c ".eval.code = \"SECRET\"" c/trials/001/01/eval.ndjson >outside/eval.ndjson
	cp outside/eval.ndjson outside/02
	for id in ../../outside ../../outside/02 001/01/../../../outside /etc \
		"001/01; touch $T/pwned" 001/-1 "001/01 " ""; do
		fresh; archive "$id" ".best.id = \$v"
		for command in status best "best --code"; do
			exits 2 kcampaign $command -c d
			grep -q "is not the id of a candidate" err; not grep -q SECRET out err
		done
		kcampaign verify -c d >out 2>err || :; not grep -q SECRET out err
		exits 2 keval -c d --verify "$id"; not grep -q SECRET out
		for branch in 01 02; do kcampaign record -c c 002/$branch; done |
			jq -c --arg v "$id" ".sample.incumbent = \$v | del(.score)" >audit
		exits 2 kscore -c d -r c/trials/000/00/eval.ndjson audit
		grep -q "is not the id of a candidate" err
	done
	test ! -e pwned'

ok 'what a terminal would obey is masked wherever text of a file is printed' '
	. ./helpers.sh
	fresh; esc=$(printf "\\033]0;owned\\007\\033[31m\\302\\23331m\\177")
	jq --arg e "$esc" ".name += \$e | .title = \$e" c/campaign.json >d/campaign.json
	archive "$esc" ".best.cell = \$v | .campaign = \$v | .statuses[\$v] = 3"
	jq -c --arg e "$esc" "if .cell then .cell = \$e else .campaign = \$e end" \
		c/trials/002/gradient.ndjson >d/trials/002/gradient.ndjson
	for command in "kcampaign status" "kcampaign best" "kcampaign run" "kcampaign check" \
		"kcampaign next" "karchive --stats" "karchive --top 3" \
		"krecords list" "krecords check" \
		"kreport --markdown" "kreport --html"; do
		$command -c d >out 2>err || :
		cat out err | tr -d "\\t\\n" >all
		! LC_ALL=C grep -aq -e "[[:cntrl:]]" -e "$(printf "\\302\\233")" all ||
			{ echo "$command"; exit 1; }
	done
	kcampaign status -c d >out; grep -q "]0;owned" out'

ok 'records and code are written byte for byte, but not to a terminal' '
	. ./helpers.sh
	fresh; best=$(jq -r "select(.kind == \"archive\").best.id" c/trials/002/archive.ndjson)
	jq -c --arg e "$(printf "// \\033[31m\\n")" ".eval.code = \$e" \
		"c/trials/$best/eval.ndjson" >"d/trials/$best/eval.ndjson"
	kcampaign best -c d --code >out; printf "// \\033[31m\\n" | cmp - out
	script -qec "kcampaign best -c d --code" /dev/null >out
	not grep "$(printf "\\033")" out; grep -q "// ?.31m" out'

ok 'kcampaign, and make at the top of kiln, do not run the Makefile of the folder' '
	. ./helpers.sh
	fresh; echo "\$(shell touch \"$T/pwned\")" >d/Makefile; rm d/trials/002/score.ndjson
	kcampaign status -c d >out; kcampaign views -c d
	make -s -C "$KILN_DATA" -o all O="$KILN_BUILD" CAMPAIGN="$PWD/d" status >out
	grep -q "^trial    2 of 2" out; test ! -e pwned
	make -s -C d status >out 2>&1 || :; test -e pwned; rm pwned'

cat >asked.sh <<'E'
#!/bin/sh
printf '%s\n' "$@" >>"$T/asked"
exec kstep sh -c 'exit 3'
E
ok 'no value of campaign.json becomes text of a recipe' '
	. ./helpers.sh
	fresh; rm -r d/trials d/archive.ndjson
	bad="task'\''\$(touch $T/pwned);\`touch $T/pwned\`
	touch $T/pwned #.json"
	mkdir bin; cp asked.sh bin/keval; cp asked.sh bin/kharness; chmod +x bin/*
	jq --arg t "$bad" ".task = \$t | .eval = {evaluator: \"harness\", set: \$t} | .gpu = \$t |
		.feedback = {provider: (\"exec:\" + \$t), name: \$t} | .language = \$t |
		.model.name = \$t" c/campaign.json >d/campaign.json
	mkdir -p d/trials/000/00; echo "{}" >d/trials/000/machine.json
	file="d/$bad"; mkdir -p "${file%/*}"; cp c/task.json "$file"
	KILN_BUILD="" PATH=$T/bin:$PATH exits 3 kcampaign run -c d -n 1
	grep -q "^--ceilings" asked; test ! -e pwned
	is "$bad" "$(sed -n "/^-t/,/^-o/p" asked | sed "1d;\$d")"
	jq ".model.key_env = \"%\"" c/campaign.json >d/campaign.json
	exits 2 kcampaign check -c d; grep -q "model.key_env: must be the name" out; not grep -q "%" out'
done_testing
