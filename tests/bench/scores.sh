#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does one reply get one score? Full runs of one reply of the softmax and one of the matmul campaign, every run in a fresh copy
# with a baseline of its own; every second one next to one busy loop for each processor. Prints score.speedup of each run with
# what it was compared with and its milliseconds by workload, and for each kind of run the coefficient of variation.
# usage: scores.sh [RUNS [THREADS]]     (default 12 runs, half of them busy; THREADS 1; 0: all)
# CAMPAIGNS  of softmax and matmul (default: both)     LOADS  how the runs take turns (default: "idle busy")
set -eu
here=$(cd "${0%/*}" && pwd)
: "${KILN_DATA:=$(dirname "$(dirname "$here")")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
export KILN_DATA KILN_BUILD PATH
runs=${1:-12} threads=${2:-1} loops=''
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-scores.XXXXXX")
# shellcheck disable=SC2086
trap '[ -z "$loops" ] || kill $loops 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP

# The code of a recorded reply: CAMPAIGN FILE.
reply() {
	case $1 in
	matmul) jq -r .reply.text "$KILN_DATA/campaigns/matmul/replies/001/01.ndjson" ;;
	softmax) tar xzOf "$KILN_DATA/campaigns/softmax_linear/recorded/cpu.tar.gz" trials/005/01/reply.ndjson | jq -r .reply.text ;;
	esac
}

one() { # CAMPAIGN NUMBER LOAD
	d=$T/$1.$2
	mkdir "$d"
	cp "$KILN_DATA/campaigns/$1"/*.[ch] "$KILN_DATA/campaigns/$1"/*.json "$d"
	jq --argjson t "$threads" '.eval.threads = $t | .eval.set = "quick" | .search.branches = 1 |
		.model = {provider: "file"}' "$d/campaign.json" >"$d/c" && mv "$d/c" "$d/campaign.json"
	if [ "$3" = busy ]; then
		for _ in $(seq "$(nproc)"); do
			while :; do :; done &
			loops="$loops $!"
		done
	fi
	mkdir -p "$d/trials/000/00" "$d/trials/001/01"
	(
		cd "$d"
		keval --reference -o trials/000/00/eval.ndjson
		reply "$1" | jq -Rsc '{schema: "candidate/1", campaign: "x", trial: 1, branch: 1, id: "001/01",
			sample: {strategy: "exploit"}, reply: {text: ., finish: "stop"}}' >reply.ndjson
		keval -o trials/001/01/eval.ndjson reply.ndjson
		kscore -r trials/000/00/eval.ndjson trials/001/01/eval.ndjson
	) 2>"$d/err" | jq -c --arg c "$1" --arg load "$3" '{campaign: $c, load: $load, speedup: .score.speedup, low: .score.speedup_low,
		high: .score.speedup_high, pairs: [.eval.pairs[]? | [.name, .workload, .ratio]], ms: [.eval.timing[]? | .median_ns / 1e6], status: .eval.status, wall_s: .eval.wall_s, delay_pct: .eval.machine.delay_pct}'
	# shellcheck disable=SC2086
	[ -z "$loops" ] || { kill $loops; wait $loops 2>/dev/null || true; loops=''; }
}

for campaign in ${CAMPAIGNS:-softmax matmul}; do
	i=0
	while [ $i -lt "$runs" ]; do
		for load in ${LOADS:-idle busy}; do
			one "$campaign" "$i" "$load"
			i=$((i + 1))
		done
	done
done | tee "$T/rows"
jq -rs 'group_by(.campaign)[] | (map(.speedup | numbers)) as $x | ($x | add / length) as $m |
	"\(.[0].campaign): \($x | length) of \(length) runs with a score; mean \($m), coefficient of variation " +
	"\(100 * ($x | map((. - $m) * (. - $m)) | add / ([length - 1, 1] | max) | sqrt) / $m) %"' "$T/rows"
