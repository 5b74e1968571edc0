#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Evaluations as Slurm jobs: a private munged, slurmctld and slurmd on the loopback interface.
. "${0%/*}/lib.sh"
. "$tests_dir/remote/lib.sh"

for program in munged slurmctld slurmd srun; do
	command -v "$program" >/dev/null && continue
	skip 'Slurm' "$program is not installed (slurmctld, slurmd, slurm-client, munge)"
	done_testing
done
start_slurm || { cat slurm/*.log >&2; exit 1; }
here_and far
# Almost nothing of our environment is sent, so what a test needs there is part of the transport.
there='env FAR=$T XDG_CACHE_HOME=$T/there TMPDIR=$T/tmp KILN_LOCK_DIR=$T KILN_DATA=$KILN_DATA'
launch far "kremote srun --cpus-per-task=1 $there --"
busy gone "kremote srun --gres=gpu:1 $there --"
# empty: no job runs or waits.
printf '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -n "$(squeue -h)" ] || exit 0; sleep 0.2; done; squeue; exit 1\n' >bin/empty
chmod +x bin/empty

ok 'the same campaign, four branches at once, as many jobs as there are processors' '
	cd far
	make -j4 trials N=2 >out
	grep -q "^$(uname -n): kiln .*sandbox" out
	(cd ..; . "$tests_dir/remote/campaign.sh"; same_campaign "here it is" far)
	test ! -e trials/000/build
	is build "$(ls "$T"/there/kiln/remote/far-*)"
	is 11 "$(grep -c "_job_complete: JobId=[0-9]* done" "$T/slurm/slurmctld.log")"'

ok 'a shipped campaign with its oracle, a task in another folder, own commands, an adopted campaign' '
	. "$tests_dir/remote/campaign.sh"
	mkdir kinds; cd kinds; kinds; adopted
	kinds_by kremote srun --cpus-per-task=1 env FAR=$T XDG_CACHE_HOME=$T/there TMPDIR=$T/tmp KILN_LOCK_DIR=$T KILN_DATA=$KILN_DATA --
	test ! -e softmax_linear/trials; test ! -e adopted/trials/000/00'

ok 'files that both machines see are not sent' '
	cd far
	jq -c "del(.eval)" trials/001/04/eval.ndjson >reply
	kremote --shared srun --export=ALL -- keval reply >out; is correct "$(jq -r .eval.status out)"
	srun --quiet --ntasks=1 keval reply >out; is correct "$(jq -r .eval.status out)"
	is "" "$(ls "$T"/.cache/kiln/remote/far-*/build)"
	test -e trials/000/build'

ok 'statuses are those of the program, of its absence, and of an allocation that failed' '
	cd far
	exits 2 kremote srun -- keval --verify 9/9 -o none; grep -q "9/9: no evaluated candidate" err
	exits 3 kremote --there /nowhere srun -- keval --preflight -o none; grep -q "give its folder with --there" err
	exits 75 kremote srun --partition=nowhere -- keval --preflight -o none; grep -q "cannot reach the other machine: srun exited with status 1" err
	srun --quiet --gres=gpu:1 sleep 3 & sleep 0.5
	exits 75 kremote srun --gres=gpu:1 --immediate=1 -- keval --preflight -o none
	wait
	test ! -e none'

ok 'keys do not leave' '
	cd far
	TEST_API_KEY=a-secret HARMLESS=yes kremote srun env KILN_DATA=$KILN_DATA sh -c "env >$T/env; exec \"\$0\" \"\$@\"" -- keval --preflight >out
	grep -q SLURM_JOB_ID "$T/env"
	not grep "a-secret\|HARMLESS" "$T/env"'

ok 'an interruption ends what runs there, and releases the node' '
	interrupt INT gone && empty
	interrupt KILL gone && empty'

ok 'an interruption in the queue leaves no job behind' '
	srun --quiet --gres=gpu:1 sleep 4 & first=$!
	cd gone
	kremote srun --gres=gpu:1 -- keval --preflight >out 2>err & pid=$!
	tries=50
	until squeue -h -t PD | grep -q . || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	kill -s TERM $pid; got=0; wait $pid || got=$?
	is 143 $got
	is 1 "$(squeue -h | wc -l)"
	wait $first'

ok 'a job that is cancelled asks to try again, and ends what runs there' '
	cd gone; (kremote srun --gres=gpu:1 env FAR=$T XDG_CACHE_HOME=$T/there TMPDIR=$T/tmp KILN_DATA=$KILN_DATA -- keval -o none trials/001/01/reply.ndjson 2>err || echo $? >status) &
	await runner || { cat err; exit 1; }
	scancel "$(squeue -h -o %i)"
	wait
	cat err; is 75 "$(cat status)"
	grep -q CANCELLED err
	test ! -e none
	await nobody; empty'

done_testing
