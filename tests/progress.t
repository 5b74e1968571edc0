#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The progress of a run: lines on a terminal, lines in a log, status, measurements, and the page that follows a
# campaign.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
. "$tests_dir/campaign.sh"

REAL=$KILN_BUILD LOG=$T/log
KILN_BUILD=
PATH=$T/bin:$PATH
export REAL LOG KILN_BUILD PATH
: >"$LOG"
wrap "$T/bin"
# With BUSY=PATH the stage that makes PATH waits a moment, and says for what; with UNTIL=FILE until that is
# there, or a minute has passed.
sed -i '/^exec/d' "$T/bin/wrapper"
cat >>"$T/bin/wrapper" <<'E'
case " $* " in
*" -o ${BUSY:-nothing} "*)
	exec "$REAL/kstep" sh -c 'echo "0 $KILN_STEP - waits for the moon: process 7 (owl) has it" >>"$KILN_STEPS"
		if [ "${UNTIL-}" ]; then for i in $(seq 600); do [ ! -e "$UNTIL" ] || break; sleep 0.1; done; else sleep 1.5; fi
		echo "0 $KILN_STEP -" >>"$KILN_STEPS"; exec "$0" "$@"' "$REAL/${0##*/}" "$@" ;;
esac
exec "$REAL/${0##*/}" "$@"
E
mkdir talk killed crashed gone
cat >talk/kprompt <<'E'
#!/bin/sh
printf "kprompt: half a line, " >&2; sleep 0.2; echo "and the rest" >&2
exec "$REAL/kprompt" "$@"
E
printf '#!/bin/sh\nexec "$REAL/kstep" sh -c "kill -9 \\$PPID"\n' >killed/kprompt
printf '#!/bin/sh\nkill -SEGV $$\n' >crashed/kprompt
echo '#!/nowhere/sh' >gone/kprompt
chmod 755 ./*/kprompt
null_campaign c 20
cd c

ok 'in a log each reply and evaluation is a line, with its result and its duration' '
	kcampaign run -n 1 >out 2>err
	for b in 01 02 03 04; do
		grep -Eqx "001/$b reply: stop, [0-9]+ bytes, null \([0-9.]+ s\)" err
		grep -Eqx "001/$b eval: [a-z_]+( [0-9.]+ ms)? \([0-9.]+ s\)" err
	done
	is 9 "$(wc -l <err)"; is "" "$(grep "\[K" err)"
	is 1 "$(grep -c "^trial 1 of 20: " out)"'

ok 'the first run reports the time of the reference, and so does baseline' '
	cp out first; kcampaign baseline >out 2>err; cat out
	grep -qx "reference    correct" out; is 2 "$(grep -Ec "^  .*[0-9]: 10 ms$" out)"
	head -n 3 first | same out -
	is "" "$(cat err)"'

ok 'every so often a line says what each branch does, since when, for how long, and what it waits for' '
	BUSY=trials/002/03/reply.ndjson kcampaign run -n 1 --every 0.3 >out 2>err; cat err
	grep -Eq "^trial 2 of 20, [0-9.]+ s, about [0-9.]+ s left, at most [0-9:.]+ (s|min) for all trials; .*03 reply [0-9.]+ s of about [0-9.]+ s, waits for the moon: process 7 \(owl\) has it$" err
	n=$(grep -c "waits for the moon" err); [ "$n" -ge 2 ] && [ "$n" -le 6 ]
	BUSY=trials/003/03/reply.ndjson kcampaign run -n 1 >out 2>err
	is 0 "$(grep -c "waits for the moon" err)"'

ok 'on a terminal each branch has a line, which is drawn again in its place' '
	n=$(kcampaign next); t=$(printf %03d $n)
	BUSY=trials/$t/02/reply.ndjson TERM=xterm script -qec "kcampaign run -n 1" /dev/null | tr -d "\r" >out
	cat -v out
	grep -q "^  02  reply   [0-9.]* s of about [0-9.]* s, waits for the moon: process 7 (owl) has it" out
	grep -q "^  01  ready   [0-9.]* s, [a-z_]*" out
	grep -q "$(printf "\033\[5A")trial $n of 20, " out
	not grep -q "^$t/02 reply:" out
	tail -n 1 out | grep -q "$(printf "\033\[[0-9]A\033\[J")trial $n of 20: "
	TERM=dumb script -qec "kcampaign run -n 1" /dev/null | tr -d "\r" >out
	not grep -q "$(printf "\033")" out; grep -q "^00[0-9]/02 reply: stop" out'

ok 'no line is wider than the terminal, and no output of a stage moves its cursor' '
	n=$(kcampaign next); t=$(printf %03d $n)
	sed -i "s/the moon/the moon $(printf "\\033[2J%0200d" 1)/" "$T/bin/wrapper"
	BUSY=trials/$t/02/reply.ndjson TERM=xterm script -qec "stty rows 20 cols 60; kcampaign run -n 1" /dev/null | tr -d "\r" >out
	sed "s/$(printf "\033")\[[0-9]*[AJK]//g" out >plain; cat plain
	grep -q "waits for the moon ?\[2" plain
	is "" "$(head -n -1 plain | grep -E "^.{61}")"'

ok 'KILN_PROGRESS=0: only the results of a trial' '
	KILN_PROGRESS=0 kcampaign run -n 1 >out 2>err; is "" "$(cat err)"; grep -q "^trial [0-9]* of 20" out'

ok 'messages of a stage are passed on, whole lines at a time' '
	PATH=$T/talk:$PATH kcampaign run -n 1 -j 1 >out 2>err; is 1 "$(grep -cx "kprompt: half a line, and the rest" err)"'

ok 'a failure is reported with the status of the stage, and nothing from make' '
	n=$(kcampaign next); t=$(printf %03d $n)
	FAIL=trials/$t/02/reply.ndjson CODE=3 exits 3 kcampaign run -n 1; cat err
	grep -Eq "^$t/02 reply: failed with 3 \(" err
	grep -q "^kcampaign: trial $n: trials/$t/02/reply.ndjson failed with status 3; run the same command again" err
	not grep -q "^make" err
	FAIL=trials/$t/02/reply.ndjson exits 75 kcampaign run -n 1; grep -Eq "^$t/02 reply: not now \(" err
	FAIL=trials/$t/02/reply.ndjson CODE=139 exits 4 kcampaign run -n 1; grep -q "failed with status 139" err'

ok 'the same for a stage that was killed, or crashed, or is missing' '
	n=$(kcampaign next); t=$(printf %03d $n); rm trials/$t/02/prompt.ndjson
	PATH=$T/killed:$PATH exits 4 kcampaign run -n 1; cat err; not grep -q "^make" err
	grep -q "trials/$t/02/prompt.ndjson was killed or has crashed; run the same" err
	PATH=$T/crashed:$PATH exits 4 kcampaign run -n 1; cat err
	grep -q "trials/$t/02/prompt.ndjson. Segmentation fault" err
	PATH=$T/gone:$PATH exits 4 kcampaign run -n 1; cat err; grep -q "^make: .*kprompt: No such file" err
	kcampaign run -n 1 2>err'

ok 'a makefile that cannot be read is reported in the words of make' '
	mkdir ../data; ln -s "$KILN_DATA"/* ../data; rm ../data/pipeline.mk; echo "oops" >../data/pipeline.mk
	KILN_DATA=$T/data exits 4 kcampaign run -n 1; cat err
	grep -q "pipeline.mk:1: \*\*\* missing separator" err; grep -q "make failed with status 4" err'

ok 'redo reports what it has measured' '
	kcampaign redo 001/02 >out 2>err; cat out
	grep -qx "001/02       correct" out; grep -q "^             4096x1024: [0-9.]* ms$" out
	grep -q "^speed-up     6.97x (6.90 to 7.04) over the reference$" out; grep -q "^score        25.9" out'

ok 'status reports what another process is doing' '
	n=$(kcampaign next); t=$(printf %03d $n)
	UNTIL=$T/told BUSY=trials/$t/02/reply.ndjson kcampaign run -n 1 >/dev/null 2>&1 & pid=$!
	for i in $(seq 100); do kcampaign status >out; ! grep -q moon out || break; sleep 0.05; done
	: >"$T/told"; cat out; wait $pid
	grep -A4 "^running  process $pid$" out | grep -q "^         $t/02 reply [0-9.]* s of about .*, waits for the moon"'

ok 'waiting for the lock of a device is part of that line, and not a message of each branch' '
	shipped softmax; make_small softmax; cd softmax
	KILN_LOCK_DIR=$T; export KILN_LOCK_DIR
	flock "$T/kiln-cpu.lock" sleep 4 & pid=$!
	kcampaign baseline --every 0.3 >out 2>err; cat out err
	grep -Eq "000/00 reference [0-9.]+ s, waits for kiln-cpu.lock: (process [0-9]+ \((flock|sleep)\)|another process) has it" err
	not grep -E "^(keval|kharness): waiting" err
	grep -q "^reference    correct" out; wait $pid'

ok 'notes about a task that are not faults are printed once per campaign' '
	cd softmax; rm -r trials archive.ndjson; edit task.json "del(.reduction)"
	kcampaign baseline >out 2>err; cat err; is 1 "$(grep -c "note: .*reduction" err)"
	kcampaign redo 000/00 >out 2>err; cat err; is 0 "$(grep -c "note:" err)"
	kharness --lint task.json 2>err; is 1 "$(grep -c "note: .*reduction" err)"'

ok 'files of killed runs are removed, and those of others are not' '
	: >.run/99999999; : >.run/$$
	kcampaign views; is "$$ times.json" "$(ls .run | xargs)"; rm .run/$$'

ok 'make gets campaign.json through campaign.mk, which is rewritten when that changes, and is never trusted' '
	echo "\$(shell touch hacked)" >campaign.mk
	kcampaign status >out; make -n trial >out 2>err || { cat err; exit 1; }
	kcampaign run -n 1 >out 2>&1
	[ ! -e hacked ]; grep -qx "BRANCHES := 01 02 03 04" campaign.mk
	t=$(printf %03d "$(kcampaign next)")
	jq ".search.branches = 2 | .eval.launcher = \"env NOTE=a\$b#c\"" campaign.json >new; mv new campaign.json
	kcampaign run -n 1 >out 2>&1; cat out
	grep -qx "BRANCHES := 01 02" campaign.mk; grep -qxF "env NOTE=a\$\$b#c" campaign.mk
	is "01 02" "$(cd trials/$t; echo [0-9][0-9])"
	jq ".eval.launcher = \"env \\\\\"" campaign.json >new; mv new campaign.json
	exits 2 kcampaign run -n 1; grep -q "must be one line that does not end in a backslash" err'

ok 'the page follows a campaign while it runs, and no longer changes at the end' '
	. "$tests_dir/campaign.sh"
	cd .. && null_campaign w 3 && cd w
	kcampaign watch --every 0.1 >out 2>err & pid=$!
	UNTIL=$T/shown BUSY=trials/001/02/reply.ndjson kcampaign run -n 1 >/dev/null 2>&1 &
	for i in $(seq 600); do ! grep -qs "waits for the moon" report.html || break; sleep 0.05; done
	cp report.html page; : >"$T/shown"
	grep -q "http-equiv=\"refresh\" content=\"1\"" page; grep -q "^<pre.*>running  process [0-9]*" page
	wait $!
	for i in $(seq 600); do ! grep -q "1 trial of search" report.html || break; sleep 0.05; done
	grep -q "1 trial of search" report.html; grep -q "<meta charset=\"utf-8\">" report.html
	is 1 "$(grep -c "http-equiv=\"refresh\"" report.html)"
	kcampaign run >/dev/null 2>&1
	wait $pid; cat out err
	grep -q "3 trials of search" report.html; not grep -q "refresh\|class=\"now\"" report.html; test -s report.md'

done_testing
