#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# adopt-kill.sh N: kill -9 kadopt integrate (and, every fifth time, kadopt adopt) at N random moments. Whatever the
# moment: after the next repair the project's source is the adopted one, or an accepted winner, there are no other
# files, and no process is still running. Prints TAP.
set -eu
tests_dir=$(cd "${0%/*}" && pwd)
: "${KILN_DATA:=$(dirname "$tests_dir")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
export PATH KILN_DATA KILN_BUILD
W=$(mktemp -d "${TMPDIR:-/tmp}/kiln-adopt-kill.XXXXXX")
trap 'rm -rf "$W"' EXIT
export KILN_LOCK_DIR="$W" XDG_DATA_HOME="$W/data"

n=${1:-10} clean=$W/campaign project=$W/project file=src/diffuse.c

fail() {
	echo "not ok 1 - kill -9 of an adoption"
	echo "# $*"
	echo 1..1
	exit 1
}

cp -r "$tests_dir/apps/heat" "$project"
printf 'die 128 128 9\nbig 112 144 3\n' >"$project/some.conf"
kadopt adopt -o "$clean" -p "$project" --file src/diffuse.c --kernel heat_diffuse --build make --threads 1 --runs 5 --proxy 0.01,100 \
	--run 'OMP_NUM_THREADS=1 ./heat -n 8 some.conf heat.out' --outputs heat.out --provider "exec:sh $tests_dir/data/adopt/model.sh $tests_dir/data/adopt/big_only.c" >"$W/said"
jq '.eval += {set: "full", timing_s: 0.05, min_samples: 25, seeds: 1}' "$clean/campaign.json" >"$W/m" && mv "$W/m" "$clean/campaign.json"
mkdir -p "$clean/trials/000"
cp "$tests_dir/data/ceilings.json" "$clean/trials/000"
kcampaign run -c "$clean" -n 1 >"$W/said"
original=$(sha256sum <"$clean/adopt/original/$file")
start=$(date +%s%N)
cp -r "$clean" "$W/c"
kadopt preflight -c "$W/c" >/dev/null
cp -r "$W/c" "$W/ready"
kadopt integrate -c "$W/c" >/dev/null || true
span=$((($(date +%s%N) - start) / 1000000))
i=0 changed=0 accepted=0
while [ "$i" -lt "$n" ]; do
	i=$((i + 1))
	rm -rf "$W/c" && cp -r "$W/ready" "$W/c"
	cp "$clean/adopt/original/$file" "$project/$file"
	if [ $((i % 5)) -eq 0 ]; then
		rm -rf "$W/c/trials" "$W/c/archive.ndjson"
		kadopt adopt -o "$W/c" >/dev/null 2>&1 &
	else
		kadopt integrate -c "$W/c" >/dev/null 2>&1 &
	fi
	pid=$!
	sleep "$(awk -v s="$i$$" -v t="$span" 'BEGIN { srand(s); printf "%.3f", rand() * t / 1000 }')"
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	[ "$(sha256sum <"$project/$file")" = "$original" ] || changed=$((changed + 1))
	kadopt repair -c "$W/c" 2>"$W/said" || fail "moment $i: repair failed: $(cat "$W/said")"
	now=$(sha256sum <"$project/$file")
	if [ "$now" != "$original" ]; then
		# Only an accepted winner may stay.
		tail -1 "$W/c/adopt/journal.ndjson" | grep -q '"accepted"' || fail "moment $i: neither the original nor an accepted winner"
		[ "$(jq -r 'select(.what == "change").files[].to' "$W/c/adopt/journal.ndjson" | tail -1)  -" = "$now" ] || fail "moment $i: another file"
		accepted=$((accepted + 1))
	fi
	find "$project" -name '*.kadopt-new' | grep . && fail "moment $i: a new file is left over"
	grep -zlsx "KILN_ADOPT=$(cd "$W/c" && pwd -P)" /proc/[0-9]*/environ 2>/dev/null | grep . && fail "moment $i: a process runs on"
	:
done
cp "$clean/adopt/original/$file" "$project/$file"
echo "ok 1 - kill -9 of an adoption: $n kills, $changed times the source was changed at that moment, $accepted times an accepted winner stayed"
echo 1..1
