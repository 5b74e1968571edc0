#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kclassify against the same tables in Python's re: one corpus, one run; prints both times, the ratio, and whether every
# kernel got the same coordinates. Usage: kclassify.sh [COUNT] (default 2000 kernels of about 4 KB).
set -eu
here=$(cd "${0%/*}" && pwd)
: "${KILN_DATA:=$(cd "$here/../.." && pwd)}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
export KILN_DATA PATH
command -v python3 >/dev/null || {
	echo "bench kclassify: python3 is missing" >&2
	exit 3
}
work=$(mktemp -d "${TMPDIR:-/tmp}/kiln-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

cat >"$work/bench.py" <<'E'
import json, os, random, re, sys

DIMS = ("memory", "compute", "parallelism", "esimd")


def corpus(cases, count, out):
    """Kernels of about 4 KB: the golden cases of CUDA, shuffled and joined; every run the same."""
    rng = random.Random(1)
    snippets = []
    for name in cases:
        for part in re.split(r"^=== ", open(name).read(), flags=re.M)[1:]:
            head, _, body = part.partition("\n")
            if head.startswith("cuda"):
                snippets.append(body)
    filler = "__global__ void stage%d(const float *in, float *out, int n)\n{\n" \
        "\tint i = blockIdx.x * blockDim.x + threadIdx.x;\n\n\tif (i < n)\n\t\tout[i] = in[i] * %d.0f + in[0]; /* step */\n}\n"
    with open(out, "w") as f:
        for i in range(count):
            code, size = [], 0
            for s in rng.sample(snippets, 4):
                code.append(s)
            while sum(map(len, code)) < 4096:
                code.append(filler % (rng.randrange(1000), rng.randrange(1000)))
            rng.shuffle(code)
            code = "".join(code)
            f.write(json.dumps({"id": i, "eval": {"code": code}}) + "\n")
            with open("src/%05d.cu" % i, "w") as source:
                source.write(code)


def load(folder, name):
    table = json.load(open(os.path.join(folder, name)))
    merged = load(folder, table["extends"]) if "extends" in table else {}
    for dim, levels in table["dims"].items():
        for level, categories in levels.items():
            have = merged.setdefault((dim, int(level)), [])
            for c in categories:
                at = next((i for i, h in enumerate(have) if h["name"] == c["name"]), None)
                if at is None:
                    have.append(c)
                elif c["patterns"]:
                    have[at] = c
                else:
                    del have[at]
    return merged


def compiled(table):
    return {key: [(c["weight"], [re.compile(p, re.I | re.M | re.A) for p in c["patterns"]]) for c in categories]
            for key, categories in table.items()}


def classify(table, code):
    coords = []
    for dim in DIMS:
        found = 0
        for level in (3, 2, 1):
            matched = total = heaviest = 0
            for weight, patterns in table.get((dim, level), ()):
                total += weight
                if any(p.search(code) for p in patterns):
                    matched += weight
                    heaviest = max(heaviest, weight)
            score = matched / total if total else 0
            if heaviest >= 0.9:
                score = max(score, 0.25)
            if score >= 0.15 + 0.03 * (level - 1):
                found = level
                break
        coords.append(found)
    return coords


if sys.argv[1] == "corpus":
    corpus(sys.argv[4:], int(sys.argv[2]), sys.argv[3])
else:
    table = compiled(load(sys.argv[2], "cuda.json"))
    for name in sys.argv[3:]:
        print(*classify(table, open(name).read()), "", name)
E
cat >"$work/cpu.py" <<'E'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w"), check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
E

count=${1:-2000}
golden=$KILN_DATA/tests/golden/kclassify
cd "$work"
mkdir src
python3 bench.py corpus "$count" in.ndjson "$golden/rows.cases" "$golden/levels.cases"

# Bare files, read as they are, without stripping and gates, which the Python side does not have. CPU seconds, so that
# other load on the machine does not count.
ours=$(python3 cpu.py ours kclassify -b cuda --no-strip --no-gates src/*.cu)
theirs=$(python3 cpu.py theirs python3 bench.py classify "$KILN_DATA/patterns" src/*.cu)
full=$(python3 cpu.py full kclassify -b cuda src/*.cu)
records=$(python3 cpu.py records kclassify -b cuda in.ndjson)
same=$(cmp -s ours theirs && echo equal || echo DIFFERENT)
awk -v n="$count" -v bytes="$(cat src/*.cu | wc -c)" -v ours="$ours" -v theirs="$theirs" -v full="$full" \
	-v records="$records" -v same="$same" 'BEGIN {
	printf "corpus                        %d kernels of %d bytes; results %s\n", n, bytes / n, same
	printf "kclassify                     %8.3f s CPU  %6.0f us a kernel\n", ours, ours / n * 1e6
	printf "  with stripping and gates    %8.3f s CPU  %6.0f us a kernel\n", full, full / n * 1e6
	printf "  the same from records       %8.3f s CPU  %6.0f us a kernel\n", records, records / n * 1e6
	printf "Python re, the same tables    %8.3f s CPU  %6.0f us a kernel\n", theirs, theirs / n * 1e6
	printf "ratio                         %8.1f (bar: 40)\n", theirs / ours
	exit theirs / ours < 40 || same != "equal"
}'
