#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill.sh N: kill -9 the whole process group of null campaigns at N random moments; resume each time. Every second
# campaign is a linear one. Whatever the moments: the final archive is that of an uninterrupted run, no existing reply
# is requested again, no process survives, no file is incomplete. Needs the tools on PATH. Prints TAP. A different SEED
# gives different moments.
set -eu
tests_dir=$(cd "${0%/*}" && pwd)
. "$tests_dir/campaign.sh"
: "${KILN_DATA:=$(dirname "$tests_dir")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
kills=${1:-20} trials=4
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-kill.XXXXXX")
trap 'rm -rf "$T"' EXIT
# What campaigns learn from earlier ones would differ each time, so each begins with nothing.
export PATH KILN_DATA KILN_BUILD LC_ALL=C KILN_NOW=2026-01-01T00:00:00Z XDG_DATA_HOME="$T/data"
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
cd "$T"

die() {
	echo "not ok 1 - kill -9 and resume"
	echo "# $*"
	echo 1..1
	exit 1
}

# Processes whose working folder is the campaign.
survivors() {
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/cwd" 2>/dev/null)" = "$T/c" ] && echo "${p#/proc/}" && cat "$p/comm"
	done
	:
}

# Every record file consists of complete lines of JSON; a leftover temporary file is not a record.
check_whole() {
	[ -e c/trials ] || return 0
	find c/trials -name '*.ndjson' | while read -r f; do
		[ -z "$(tail -c 1 "$f")" ] || { echo "$f: no final newline"; break; }
	done
	find c/trials -name '*.ndjson' -exec cat {} + | jq -e . >/dev/null 2>err || cat err
}

replies() {
	[ ! -e c/trials ] || find c/trials -path '*/[0-9][0-9]/reply.ndjson' -exec stat -c '%n %i %Y' {} + | sort
}

# uninterrupted MODE: a whole campaign, MODE, and the same before its first trial, MODE.clean; its duration, MODE.ms.
uninterrupted() {
	null_campaign "$1" "$trials"
	[ "$1" = tree ] || {
		jq '.search = {mode: "linear"}' "$1/campaign.json" >new
		mv new "$1/campaign.json"
	}
	cp -r "$1" "$1.clean"
	rm -rf data
	start=$(date +%s%N)
	(cd "$1" && setsid -w make -s -j4 campaign >run.log 2>&1) || die "$1: $(tail -n 3 "$1/run.log")"
	echo $((($(date +%s%N) - start) / 1000000)) >"$1.ms"
}
uninterrupted tree
uninterrupted linear

done_kills=0 rounds=0
while [ "$done_kills" -lt "$kills" ]; do
	mode=tree
	[ $((rounds % 2)) -eq 0 ] || mode=linear
	span=$(cat "$mode.ms")
	rm -rf c data && cp -r "$mode.clean" c
	rounds=$((rounds + 1))
	[ "$rounds" -le $((kills + 20)) ] || die "only $done_kills kills in $rounds campaigns"
	finished=
	: >before
	while [ -z "$finished" ]; do
		# A moment within half of a whole run, so that a campaign is killed several times.
		pause=$(awk -v s="${SEED-}$done_kills$rounds" -v t="$span" 'BEGIN { srand(s); printf "%.3f", rand() * t / 2000 }')
		(cd c && exec setsid make -s -j4 campaign >../run.log 2>&1) &
		pid=$!
		sleep "$pause"
		if kill -s KILL -- "-$pid" 2>/dev/null; then
			done_kills=$((done_kills + 1))
		fi
		code=0
		wait "$pid" 2>/dev/null || code=$?
		[ "$code" -ne 0 ] || finished=1
		[ "$code" -eq 0 ] || [ "$code" -gt 128 ] || die "after kill $done_kills: wedged: $(tail -n 3 run.log)"
		tries=50
		while [ -n "$(survivors)" ] && [ "$tries" -gt 0 ]; do
			sleep 0.1
			tries=$((tries - 1))
		done
		[ "$tries" -gt 0 ] || die "after kill $done_kills: still alive: $(survivors | tr '\n' ' ')"
		replies >after
		lost=$(comm -23 before after)
		[ -z "$lost" ] || die "after kill $done_kills: asked for again: $lost"
		mv after before
		half=$(check_whole)
		[ -z "$half" ] || die "after kill $done_kills: $half"
		[ "$done_kills" -lt "$kills" ] || [ -n "$finished" ] || {
			(cd c && make -s -j4 campaign >../run.log 2>&1) || die "resume failed: $(tail -n 3 run.log)"
			finished=1
		}
	done
	for f in archive score; do
		cmp -s "$mode/trials/00$trials/$f.ndjson" "c/trials/00$trials/$f.ndjson" || die "after kill $done_kills: $f differs ($mode)"
	done
done
echo "ok 1 - kill -9 of the process group at $done_kills random moments of $rounds campaigns, and resume"
echo 1..1
