#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the loop itself costs: CPU time per candidate of all tools and make together, for a model that answers at once and an
# evaluator that only hashes, around candidate 100 and around candidate 2000. Bars: 30 ms, and flat.
set -eu
tests_dir=$(cd "${0%/*}/.." && pwd)
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
: "${KILN_DATA:=$(dirname "$tests_dir")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
last=${1:-2000}
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-loop.XXXXXX")
trap 'rm -rf "$T"' EXIT
export PATH KILN_DATA KILN_BUILD LC_ALL=C
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
cd "$T"
null_campaign c 99999

# run TRIALS, in a subshell of its own: milliseconds of CPU per candidate, from what the subshell's children used.
run() {
	(cd c && make -s -j4 trials N="$1" >/dev/null)
	times >cpu.txt
	sed -n 2p cpu.txt | tr 'ms' '  ' |
		awk -v n="$(($1 * 4))" '{ printf "%.1f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 / n }'
}

run 20 >/dev/null
early=$(run 10)
[ "$last" -le 160 ] || run $((last / 4 - 35)) >/dev/null
late=$(run 10)
printf 'loop: %s ms CPU per candidate around candidate 100, %s around %s (bar: 30, and flat)\n' "$early" "$late" "$last"
