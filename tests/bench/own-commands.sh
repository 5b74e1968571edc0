#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does a project's own benchmark, with its real noise, tell small gains from none? Rounds of a linear
# search on a Python project that is built, tested (by pytest, where the sandbox has it) and timed by its own
# commands: TRIES kernels that are 1.5 % faster than the last accepted one, and as many that are 0.5 %
# faster. Prints what became of each, and fails unless all of the first kind are accepted and all of
# the second refused. The machine must be quiet. JOBS tries run at once, each on a core of its own;
# one try takes about 20 seconds. SANDBOX=false: the commands run outside the sandbox, for a Python that
# is not below /usr.
# usage: [JOBS=N] [SANDBOX=false] own-commands.sh [TRIES]    (1 and 20 by default)
set -eu
top=$(cd "${0%/*}/../.." && pwd)
: "${KILN_DATA:=$top}" "${KILN_BUILD:=$KILN_DATA/build}" "${JOBS:=1}" "${SANDBOX:=true}"
export KILN_DATA KILN_BUILD
PATH=$KILN_BUILD:$PATH
tries=${1:-20}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$dir"
mkdir "$dir/base"
cp "$KILN_DATA"/tests/tasks/python_digest/* "$dir/base"
cd "$dir/base"
mkdir -p trials/000/00
# A number of the same kind as in the kernels: with a whole one the interpreter lays other things out, and is up to 4 % slower.
sed -i 's/^WASTE = .*/WASTE = 1000.000/' reference.py

# project TEST: a campaign whose kernels this command judges, and its baseline.
project() {
	jq -n --arg test "$1" --argjson sandbox "$SANDBOX" '{name: "own", backend: "triton", search: {mode: "linear"},
		model: {provider: "null"}, eval: {build: {command: "python3 -m py_compile \"$KILN_CODE\"", sandbox: $sandbox},
		correctness: {command: $test, files: ["test_digest.py"], sandbox: $sandbox},
		timing: {command: "PYTHONHASHSEED=0 RUNS=5 python3 benchmark.py", files: ["test_digest.py", "benchmark.py"], sandbox: $sandbox,
			turns: 24, format: "csv", columns: {workload: "Size", time: "Time (ms)", ok: "Check"}}}}' >campaign.json
	keval --reference -o trials/000/00/eval.ndjson 2>"$dir/why"
}
for test in 'python3 -m pytest -q -p no:cacheprovider test_digest.py' 'python3 test_digest.py' none; do
	[ "$test" != none ] || { cat "$dir/why" >&2; exit 3; }
	! project "$test" || break
done
echo "build, test and benchmark of its own; the test is: $test"

# try WASTE: the decision on a kernel that wastes that many thousandths where the last accepted one wastes 1000.
try() {
	sed "s/^WASTE = .*/WASTE = $1/" reference.py >kernel.py
	jq -nc --rawfile code kernel.py '{schema: "candidate/1", campaign: "own", trial: 1, branch: 1, id: "001/01",
		sample: {incumbent: "000/00"}, reply: {text: ("```plan\n{\"hypothesis\":\"h\",\"change\":\"c\",\"category\":\"k\",\"bucket\":\"K1\"}\n```\n```python\n"
		+ $code + "```\n")}}' | taskset -c "$core" keval -o eval.ndjson
	kscore -r trials/000/00/eval.ndjson eval.ndjson | jq -r '.score.decision | "\(.verdict) \(.code) \(.line)"'
}

# job J: its share of the tries on the processor $core, with a lock of its own, so that nobody waits for its neighbour.
job() {
	cp -r "$dir/base" "$dir/$1"
	cd "$dir/$1"
	mkdir lock
	export KILN_LOCK_DIR="$PWD/lock" XDG_DATA_HOME="$PWD/data"
	for t in $(seq "$1" "$JOBS" "$tries"); do
		for gain in 1.5:accepted 0.5:rolled_back; do
			waste=$(awk -v gain="${gain%:*}" 'BEGIN { printf "%.3f", 2000 / (1 + gain / 100) - 1000 }')
			start=$(date +%s)
			said=$(try "$waste")
			right=wrong
			[ "${said%% *}" != "${gain#*:}" ] || right=right
			echo "$right: try $t, $(($(date +%s) - start)) s, really +${gain%:*} %: $said" | tee -a "$dir/said"
		done
	done
}

# The first processor of every core, the last core first: the first one has the machine's own work.
cores=$(lscpu -p=CPU,CORE | awk -F, '!/^#/ && !seen[$2]++ { print $1 }' | sort -rn)
start=$(date +%s)
for j in $(seq "$JOBS"); do
	core=$(echo "$cores" | sed -n "${j}p")
	: "${core:?"$JOBS jobs need as many cores"}"
	job "$j" &
done
wait
decided=$(grep -c '^right' "$dir/said" || :)
echo "$decided of $((2 * tries)) decided rightly, in $(($(date +%s) - start)) s"
[ "$decided" -eq $((2 * tries)) ]
