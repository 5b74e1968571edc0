#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU: judges the whole CUDA half of tests/cheats and prints the summary, how long it took, and each
# file whose verdict is not as its row expects. Races left open are run again, alone. Prints nothing but a note where there
# is no device.
# usage: gpu-device.sh [PATTERN]: only files whose name contains this regular expression
#   OUT      folder for the results, cheats-cuda.ndjson (default: they are not kept)
#   JOBS     so many files at a time (default 10)
#   KEEP     work in this folder: a run that was cut short goes on there
#   LIMIT_S  give up after so many seconds (default 415)
# Exit status: that of tests/cheats/run, or 124 when it was cut short.
set -eu
. "${0%/*}/gpu-setup.sh"
out=${OUT:-$T}
keep=${KEEP:-$T/keep}
mkdir -p "$out" "$keep"

# The verdicts need no narrow intervals: short timing lets all of them fit into a few minutes.
cp -r "$KILN_DATA/tests/cheats" "$T/cheats"
jq '.eval += {timing_s: 0.05, min_samples: 5, max_samples: 7}' \
	"$KILN_DATA/tests/cheats/campaign-cuda.json" >"$T/cheats/campaign-cuda.json"

start=$(date +%s)
code=0
timeout "${LIMIT_S:-415}" "$T/cheats/run" -s -b cuda -j "${JOBS:-10}" -k "$keep" -o "$out/cheats-cuda.ndjson" "${1-}" \
	>"$T/table" 2>"$T/err" || code=$?
took=$(($(date +%s) - start))
if [ $code -eq 124 ]; then
	echo "cut short after $took s, $(find "$keep/out" -name '*.json' | wc -l) files judged: set KEEP, run it again"
	exit 124
fi
[ -s "$out/cheats-cuda.ndjson" ] || { cat "$T/err"; exit $code; }
jq -r 'select(.ok and (.verdict | test("other") | not) | not) |
	"\(.file): \(.verdict), \(.got) where \(.expect | join(" or ")) is expected" +
	(if .needs then " (needs distribution \(.needs))" else "" end) +
	([(.reasons // [])[0:3][] | "\n\t\(.check): \(.detail | gsub("[^ -~]"; " ") | .[0:200])"] | add // "") +
	(if .got == "correct" then [.timing[]? | "\n\t\(.workload): \(.min_ns / 1000) us at best"] | add // "" else "" end)' \
	"$out/cheats-cuda.ndjson"
sed -n '/^[0-9]* \(of those caught\|not judged\|caught of\)/p' "$T/table"
echo "$(wc -l <"$out/cheats-cuda.ndjson") files in $took s"
exit $code
