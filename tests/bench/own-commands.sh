#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does a project's own benchmark, with its real noise, tell small gains from none? Rounds of a linear
# search on a Python project that is built, tested and timed by its own commands: TRIES kernels that are 1.5 %
# faster than the last accepted one, and as many that are 0.5 % faster. Prints what became of each,
# and fails unless all of the first kind are accepted and all of the second refused.
# usage: own-commands.sh [TRIES]
set -eu
top=$(cd "${0%/*}/../.." && pwd)
: "${KILN_DATA:=$top}" "${KILN_BUILD:=$KILN_DATA/build}"
export KILN_DATA KILN_BUILD
PATH=$KILN_BUILD:$PATH
tries=${1:-20}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cp "$KILN_DATA"/tests/tasks/python_digest/* "$dir"
cd "$dir"
cat >campaign.json <<'E'
{
  "name": "own", "backend": "triton", "search": { "mode": "linear" }, "model": { "provider": "null" },
  "eval": {
    "build": { "command": "python3 -m py_compile \"$KILN_CODE\"" },
    "correctness": { "command": "python3 test_digest.py", "files": ["test_digest.py"] },
    "timing": { "command": "python3 benchmark.py", "files": ["test_digest.py", "benchmark.py"], "format": "csv",
      "columns": { "workload": "Size", "time": "Time (ms)", "ok": "Check" } }
  }
}
E
mkdir -p trials/000/00
keval --reference -o trials/000/00/eval.ndjson 2>/dev/null

# round WASTE: the decision on a kernel that wastes that many thousandths where the last accepted one wastes 1000.
round() {
	sed "s/^WASTE = .*/WASTE = $1/" reference.py >kernel.py
	jq -nc --rawfile code kernel.py '{schema: "candidate/1", campaign: "own", trial: 1, branch: 1, id: "001/01",
		sample: {incumbent: "000/00"}, reply: {text: ("```plan\n{\"hypothesis\":\"h\",\"change\":\"c\",\"category\":\"k\",\"bucket\":\"K1\"}\n```\n```python\n"
		+ $code + "```\n")}}' | keval -o eval.ndjson
	kscore -r trials/000/00/eval.ndjson eval.ndjson | jq -r '.score.decision | "\(.verdict) \(.code) \(.line)"'
}
bad=0
for t in $(seq "$tries"); do
	for gain in 1.5:accepted 0.5:rolled_back; do
		waste=$(echo "${gain%:*}" | awk '{ printf "%.3f", 2000 / (1 + $1 / 100) - 1000 }')
		start=$(date +%s)
		said=$(round "$waste")
		[ "${said%% *}" = "${gain#*:}" ] || bad=$((bad + 1))
		echo "try $t, $(($(date +%s) - start)) s, really +${gain%:*} %: $said"
	done
done
echo "$((2 * tries - bad)) of $((2 * tries)) decided rightly"
[ "$bad" -eq 0 ]
