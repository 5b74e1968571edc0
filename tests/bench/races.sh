#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often a race errs: a kernel against itself (A/A), and against one that does 5 % more work; a call takes about 1 ms or 5 us.
# Then whole verdicts of keval, in which the kernel that does 5 % more is the reference.
# With LOAD=busy, next to one busy loop for every processor. Prints the verdicts of each kind of race and the spread of the ratios.
# usage: races.sh [AA-RACES [POWER-RACES [VERDICTS]]]     (default 100, 50 and 20)
# THREADS=N  threads of the kernels (default 1)
set -eu
here=$(cd "${0%/*}" && pwd)
: "${KILN_DATA:=$(dirname "$(dirname "$here")")}" "${KILN_BUILD:=$KILN_DATA/build}" "${THREADS:=1}" "${LOAD:=idle}"
PATH=$KILN_BUILD:$PATH
export KILN_DATA KILN_BUILD PATH
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-races.XXXXXX")
loops=''
# shellcheck disable=SC2086
trap '[ -z "$loops" ] || kill $loops 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
cp "$here"/races/* "$T"
cp "$T/reference.c" "$T/same.c"
sed 's/#define EXTRA 0/#define EXTRA 5/' "$T/reference.c" >"$T/more.c"
if [ "$LOAD" = busy ]; then
	for _ in $(seq "$(nproc)"); do
		while :; do :; done &
		loops="$loops $!"
	done
fi

# series NAME SET COUNT OTHER: COUNT races of the reference with OTHER.
series() {
	kbench --json --repeat "$3" --threads "$THREADS" -s "$2" "$T" "$T/reference.c" "$T/$4" >"$T/out" 2>"$T/err" || { cat "$T/err" >&2; exit 1; }
	jq -rs --arg name "$1 $2 $LOAD" '[.[].overall[]] as $o | ($o | map(.ratio) | sort) as $r |
		($o | group_by(.verdict) | map("\(length) \(.[0].verdict)") | join(", ")) as $v |
		"\($name): \(length) races: \($v); ratio 2.5 % \($r[($r | length) * 0.025 | floor]), median \($r[($r | length) / 2 | floor]), 97.5 % \($r[($r | length) * 0.975 | floor]); delay \(([.[].machine.delay_pct] | add / length | floor)) %"' "$T/out"
}

series A/A long "${1:-100}" same.c
series A/A short "${1:-100}" same.c
series 5% long "${2:-50}" more.c

mkdir -p "$T/c/trials/000/00"
cp "$T/task.json" "$T/c"
cp "$T/more.c" "$T/c/reference.c"
jq -n --argjson threads "$THREADS" '{schema: "campaign/1", name: "races", task: "task.json", backend: "c", language: "c",
	model: {provider: "null"}, eval: {set: "long", threads: $threads}}' >"$T/c/campaign.json"
keval -c "$T/c" --reference -o "$T/c/trials/000/00/eval.ndjson" 2>>"$T/err"
for i in $(seq "${3:-20}"); do
	# No verdict comes from the cache.
	{ echo "/* $i */"; cat "$T/same.c"; } >"$T/c/$i.c"
	keval -c "$T/c" --code "$T/c/$i.c" -o "$T/c/$i.ndjson" 2>>"$T/err" || { cat "$T/err" >&2; exit 1; }
	cat "$T/c/$i.ndjson" >>"$T/verdicts"
done
[ "${3:-20}" -eq 0 ] || jq -rs --arg load "$LOAD" '"verdicts \($load): \(length): \(map(.eval | .pairs[0].verdict // .status) | group_by(.) |
	map("\(length) \(.[0])") | join(", ")); median ratio \(map(.eval.pairs[0].ratio) | sort | .[length / 2 | floor])"' "$T/verdicts"
