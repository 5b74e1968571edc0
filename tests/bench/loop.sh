#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the loop itself costs: CPU time per candidate of all tools and make together, for a model that answers at once and an
# evaluator that only hashes, around candidate 100 and around candidate 2000; the disk that a candidate takes; and the CPU time
# of what reads the whole campaign: status, report, views, memory and records, which are made, and made again.
# usage: loop.sh [LAST [http]]; with http the replies come from a server on this machine, whose own time does not count.
# Bars: 30 ms, or 20 over HTTP, and flat; 40 KB; with LAST=8000 5 s for each command.
set -eu
tests_dir=$(cd "${0%/*}/.." && pwd)
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
: "${KILN_DATA:=$(dirname "$tests_dir")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
last=${1:-2000} model=${2:-null}
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-loop.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server" || :; rm -rf "$T"' EXIT
export PATH KILN_DATA KILN_BUILD LC_ALL=C
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
cd "$T"
null_campaign c 99999
if [ "$model" = http ]; then
	kmock "$T/port" "$T/log" &
	server=$!
	# make bench builds it; nobody waits for one that is not there.
	while [ ! -s "$T/port" ]; do kill -0 "$server"; sleep 0.02; done
	jq --arg url "http://127.0.0.1:$(cat "$T/port")/fresh/v1" \
		'.model = {provider: "openai", name: "mock", base_url: $url}' c/campaign.json >new.json
	mv new.json c/campaign.json
fi

# run TRIALS, in a subshell of its own: milliseconds of CPU per candidate, from what the subshell's children used.
run() {
	(cd c && make -s -j4 trials N="$1" >out.txt 2>&1) || { cat c/out.txt >&2 && exit 1; }
	times >cpu.txt
	sed -n 2p cpu.txt | tr 'ms' '  ' |
		awk -v n="$(($1 * 4))" '{ printf "%.1f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 / n }'
}

run 20 >/dev/null
early=$(run 10)
[ "$last" -le 160 ] || run $((last / 4 - 35)) >/dev/null
late=$(run 10)
disk=$(du -sk c | cut -f 1)
made=$(find c/trials -name eval.ndjson | wc -l)
printf 'loop, %s: %s ms CPU per candidate around candidate 100, %s around %s; %s KB on disk per candidate of %s\n' \
	"$model" "$early" "$late" "$last" "$((disk / made))" "$made"

# cpu COMMAND…: its seconds of CPU.
cpu() {
	(
		cd c
		"$@" >out.txt 2>&1 || { cat out.txt >&2 && exit 1; }
		times >../cpu.txt
	)
	sed -n 2p cpu.txt | tr 'ms' '  ' | awk -v what="$*" '{ printf "%s: %.1f s CPU\n", what, $1 * 60 + $2 + $3 * 60 + $4 }'
}
cpu kcampaign status
cpu kreport
cpu kcampaign views
cpu krecords remember
cpu krecords summary
cpu krecords close
cpu krecords close
cpu krecords check
