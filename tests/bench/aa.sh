#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A/A test: a kernel timed against itself must not be called faster. Prints how often it was, of N runs (default 200): a gain is a
# ratio whose confidence interval lies above 1 plus the smallest gain that counts (score.min_gain, 0.02).
# usage: aa.sh [N [TASK-FOLDER]]
set -eu
: "${KILN_BUILD:=$(cd "${0%/*}/../.." && pwd)/build}"
runs=${1:-200}
task=${2:-${0%/*}/../tasks/affine}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
flags='-O2 -fopenmp -std=gnu11 -shared -fPIC'
# shellcheck disable=SC2086
${CC:-cc} $flags -o "$dir/a.so" "$task/reference.c" -lm
oracle=$task/reference.c
[ ! -e "$task/oracle.c" ] || oracle=$task/oracle.c
# shellcheck disable=SC2086
${CC:-cc} $flags -DREAL=double -o "$dir/oracle.so" "$oracle" -lm
i=0
while [ "$i" -lt "$runs" ]; do
	i=$((i + 1))
	"$KILN_BUILD/kharness" -t "$task/task.json" --phase timing --oracle "$dir/oracle.so" --against self="$dir/a.so" \
		--timing-s 0.3 --min-samples 9 --max-samples 20 --warmup-s 0.02 "$dir/a.so"
done | jq -rs '(map(.pairs[0]) | map(select(. != null))) as $p | ($p | map(select(.low > 1.02)) | length) as $gains |
	($p | map(select(.high < 0.98)) | length) as $losses | ($p | map(.ratio) | sort) as $r |
	"A/A: \($p | length) runs, \($gains) called a gain, \($losses) a loss; ratio 5 % \($r[($r | length) * 0.05 | floor]), " +
	"median \($r[($r | length) / 2 | floor]), 95 % \($r[($r | length) * 0.95 | floor])"'
