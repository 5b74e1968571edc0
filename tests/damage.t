#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A damaged campaign: every tool that reads trials reports the damage in the same words, says what to
# do, and uses the rest.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
null_campaign whole 5
cp -r whole other
jq '.name = "other" | .seed = 7' whole/campaign.json >other/campaign.json
(cd whole && make -s -j2 trials N=5 >/dev/null 2>&1)
(cd other && make -s -j2 trials N=2 >/dev/null 2>&1)

# try TOOL COMMAND: run it in the campaign, with the results in TOOL.out, .err and .code, and in .said
# what it reports about trials.
cat >try <<'E'
#!/bin/sh -u
tool=$1
shift
"$@" >"../$tool.out" 2>"../$tool.err"
echo $? >"../$tool.code"
sed 's/^[a-z]*: //' "../$tool.err" | grep '^trials/' >"../$tool.said" || :
E
# hurt COMMAND: a copy of the campaign, in which the command is run; then all tools.
cat >hurt <<'E'
#!/bin/sh -eu
rm -rf hurt.d
cp -r whole hurt.d
cd hurt.d
eval "$1"
../try status kcampaign status
../try report kreport --markdown
../try audit kaudit --report
../try memory krecords remember
../try round krecords check
E
# says TEXT: all tools report exactly this about the trials; krecords stops at the first damaged one.
cat >says <<'E'
#!/bin/sh -eu
for tool in status report audit memory round; do
	[ "$(cat $tool.said)" = "$1" ] && continue
	echo "$tool says:"
	cat $tool.err
	exit 1
done
E
chmod 755 try hurt says
PATH=$PWD:$PATH again='remove it, and run make views to make it again'
export again

ok 'an undamaged campaign: no complaints' '
	hurt :
	says ""
	is "0 0 0 0" "$(cat status.code report.code audit.code memory.code | xargs)"
	grep -q "^trial    5 of 5" status.out'

ok 'a truncated line' '
	hurt "truncate -s -1 trials/002/score.ndjson"
	says "trials/002/score.ndjson:4: truncated record (no newline at the end); $again"
	is "0 0 1 2 1" "$(cat status.code report.code audit.code memory.code round.code | xargs)"
	grep -q "^trial    5 of 5" status.out; grep -q "^damaged  1 record, " status.out
	grep -q "002/score.ndjson:4: truncated record" report.out
	jq -e ".verdict == \"damaged\" and (.damaged | length) == 1 and .trials == 5" audit.out
	is "v0.json v1.json v3.json v4.json v5.json" "$(cd hurt.d/memory && echo v*)"'

ok 'a trial in the middle is missing' '
	hurt "rm -r trials/003"
	says "trials/003/: is missing; restore it from a copy"
	grep -q "^trial    5 of 5" status.out'

ok 'the scores of a trial are missing, or its archive' '
	hurt "rm trials/003/score.ndjson"
	says "trials/003/score.ndjson: is missing; run make views to make it"
	hurt "rm trials/003/archive.ndjson"
	says "trials/003/archive.ndjson: is missing; run make views to make it"'

ok 'records of another campaign' '
	hurt "cp ../other/trials/002/score.ndjson trials/002"
	name=$(jq -r .name whole/campaign.json)
	for n in 1 2 3 4; do
		echo "trials/002/score.ndjson:$n: it belongs to the campaign '\''other'\'', not to '\''$name'\''; $again"
	done >want
	says "$(cat want)"'

ok 'a record of another trial, and one twice' '
	hurt "cp trials/001/score.ndjson trials/002"
	grep -q "^trials/002/score.ndjson:1: it belongs to trial 1; $again" status.said; says "$(cat status.said)"
	hurt "head -n 1 trials/002/score.ndjson >x; cat x >>trials/002/score.ndjson"
	grep -q "^trials/002/score.ndjson:5: a second record of 002/0[1-4]; $again" status.said
	says "$(cat status.said)"'

ok 'an empty file' '
	hurt ": >trials/004/score.ndjson"
	says "trials/004/score.ndjson: contains no record; $again"'

ok 'an empty file of the trial that has the best: no list is searched that is not there' '
	# Builds with sanitizers see it in the other tests, and their parts do not go together with these.
	if nm "$KILN_BUILD/libkiln.a" | grep -q "__asan_\|__gcov_"; then exit 0; fi
	best=$(jq -r ".header.best.id // .best.id // empty" whole/archive.ndjson | head -n 1); best=${best%/*}
	[ "$best" -gt 0 ]
	cc -std=gnu11 -D_GNU_SOURCE -I"$KILN_DATA/tools/core" -I"$KILN_DATA/tools/model" -fsanitize=nonnull-attribute -fsanitize-undefined-trap-on-error \
		-c -o ktrials.o "$KILN_DATA/tools/model/ktrials.c"
	# An old object of a source that is gone may still be there.
	for c in "$KILN_DATA"/tools/kreport/*.c; do c=${c##*/}; set -- "$@" "$KILN_BUILD/tools/kreport/${c%.c}.o"; done
	cc -o kreport "$@" ktrials.o "$KILN_BUILD/libkiln.a" -ljansson -lpcre2-8 -lffi -lseccomp -lmd -lm -ldl -pthread
	rm -rf hurt.d; cp -r whole hurt.d; : >"hurt.d/trials/$best/score.ndjson"
	(cd hurt.d && ../kreport --markdown) >/dev/null 2>err; cat err; grep -q "score.ndjson: contains no record" err'

ok 'not JSON, and not a record' '
	hurt "sed -i \"2s/.*/{not json/\" trials/004/score.ndjson"
	grep -q "^trials/004/score.ndjson:2: column [0-9]*: .*; $again" status.said; says "$(cat status.said)"
	hurt "sed -i \"2s/.*/[]/\" trials/004/score.ndjson"
	says "trials/004/score.ndjson:2: column 1: not an object; $again"
	hurt "sed -i \"2s/.*/{}/\" trials/004/score.ndjson"
	grep -q "^trials/004/score.ndjson:2: the record has no " status.said; says "$(cat status.said)"'

ok 'an unknown schema' '
	hurt "sed -i \"3s|part/1|part/9|\" trials/004/score.ndjson"
	says "trials/004/score.ndjson:3: schema: is '\''part/9'\'', must be '\''part/1'\''; $again"'

ok 'the last archive: the one before it is used instead' '
	hurt ": >trials/005/archive.ndjson"
	says "trials/005/archive.ndjson: is empty; $again"
	grep -q "^trial    5 of 5" status.out; grep -q "^cells " status.out
	hurt "truncate -s -1 trials/005/archive.ndjson"
	grep -q "^trials/005/archive.ndjson:[0-9]*: truncated record (no newline at the end); $again" status.said
	is "0 0" "$(cat status.code report.code | xargs)"
	hurt "sed -i \"2s/\\\"cell\\\":\\\"/&9/\" trials/005/archive.ndjson"
	grep -q "^trials/005/archive.ndjson:2: not a line of an archive: karchive writes no such row; $again" status.said
	is "0 0" "$(cat status.code report.code | xargs)"'

ok 'the advice works' '
	hurt ": >trials/004/score.ndjson; rm trials/004/score.ndjson; make -s views >/dev/null"
	says ""
	same whole/trials/004/score.ndjson hurt.d/trials/004/score.ndjson'

ok 'a campaign that was renamed keeps its trials' '
	hurt "jq \".name = \\\"renamed\\\"\" campaign.json >x; mv x campaign.json"
	says ""'

ok 'nothing works without the reference' '
	hurt ": >trials/000/score.ndjson"
	grep -q "^trials/000/score.ndjson: contains no record; $again" status.said
	says "$(cat status.said)"; is 2 "$(cat report.code)"'
done_testing
