#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU: the bandwidth of a copy, and of the best recorded kernels that are bound by memory beside it; an A/A
# test; and the time from a reply to its verdict with four builds at a time. Prints nothing but a note where there is no device.
# usage: gpu.sh [KERNEL.cu CAMPAIGN-FOLDER]: the kernel compared with itself (default: the reference of tests/tasks/cuda_saxpy)
set -eu
. "${0%/*}/gpu-setup.sh"

# A throw-away campaign over a task folder.
campaign() {
	mkdir -p "$T/$1"
	cp "$2"/* "$T/$1" 2>/dev/null || true
	printf '{"schema":"campaign/1","name":"bench","task":"task.json","backend":"cuda","language":"cuda","model":{"provider":"null"},
		"eval":{"set":"quick","memory_mb":16384,"timing_s":0.3,"profile":"off"}}' >"$T/$1/campaign.json"
}

campaign copy "$KILN_DATA/tests/tasks/cuda_copy"
keval -c "$T/copy" --reference -o "$T/copy/reference.ndjson" 2>"$T/err" || { cat "$T/err"; exit 1; }
jq -r '.eval as $e | [{name: "cudaMemcpyAsync", timing: $e.timing}] + $e.baselines | .[] | .name as $n | .timing[] |
	"copy \(.workload) by \($n): \(.median_ns / 1000) us, \((if .workload == "128MiB" then 268.435456 else 536.870912 end) * 1e6 / .median_ns | floor) GB/s"' \
	"$T/copy/reference.ndjson"

# The best of a recorded campaign, measured now on its largest workload: bytes as the task counts them, over the time.
for c in softmax rmsnorm gelu transpose; do
	mkdir "$T/recorded"
	tar xzf "$KILN_DATA/campaigns/${c}_cuda_h200/recorded/h200.tar.gz" -C "$T/recorded"
	best=$(head -qn 1 "$T"/recorded/trials/*/archive.ndjson | jq -r .best.id | tail -n 1)
	jq -r .eval.code "$T/recorded/trials/$best/eval.ndjson" >"$T/best.cu"
	rm -r "$T/recorded"
	campaign $c "$KILN_DATA/campaigns/${c}_cuda_h200"
	keval -c "$T/$c" --code "$T/best.cu" -o "$T/$c/best.ndjson" 2>/dev/null
	jq -r --arg c $c '"\($c), \(.eval.status): " + (.eval.log | [scan("- .*")] | join("; "))' "$T/$c/best.ndjson"
done

folder=${2:-$KILN_DATA/tests/tasks/cuda_saxpy}
kernel=${1:-$folder/reference.cu}
campaign own "$folder"
flags='-O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -cudart shared -shared -Xcompiler -fPIC'
# shellcheck disable=SC2086
nvcc $flags -o "$T/a.so" "$kernel"
# shellcheck disable=SC2086
nvcc $flags -o "$T/oracle.so" "$folder/oracle.cu"
against=$(i=0; while [ $i -lt 16 ]; do i=$((i + 1)); printf ' --against self%s=%s' $i "$T/a.so"; done)
i=0
while [ $i -lt "${RUNS:-13}" ]; do
	i=$((i + 1))
	# shellcheck disable=SC2086
	kharness -t "$T/own/task.json" -s quick --backend cuda --phase timing --oracle "$T/oracle.so" $against --timing-s 0.05 \
		--min-samples 9 --max-samples 20 --warmup-s 0.02 "$T/a.so"
done | jq -rs '(map(.pairs[]) | map(select(. != null))) as $p | ($p | map(select(.low > 1.02)) | length) as $gains |
	($p | map(select(.high < 0.98)) | length) as $losses | ($p | map(.ratio) | sort) as $r |
	"A/A: \($p | length) comparisons, \($gains) called a gain, \($losses) a loss; ratio 5 % \($r[($r | length) * 0.05 | floor]), " +
	"median \($r[($r | length) / 2 | floor]), 95 % \($r[($r | length) * 0.95 | floor]); noise floor \(map(.noise.floor) | max)"'

# Sixteen evaluations of a plain kernel, four at a time, each new to the token cache.
campaign plain "$KILN_DATA/tests/tasks/cuda_saxpy"
mkdir -p "$T/plain/trials/000/00"
keval -c "$T/plain" --reference -o "$T/plain/trials/000/00/eval.ndjson" 2>"$T/err" || { cat "$T/err"; exit 1; }
i=0
while [ $i -lt 16 ]; do
	i=$((i + 1))
	sed "s/^extern/static int variant_$i;\nextern/" "$KILN_DATA/tests/tasks/cuda_saxpy/reference.cu" >"$T/plain/$i.cu"
done
begun=$(date +%s%N)
# shellcheck disable=SC2016
seq 1 16 | xargs -P 4 -I{} sh -c 's=$(date +%s%N); keval -c "$0/plain" --code "$0/plain/{}.cu" -o "$0/plain/{}.ndjson" 2>/dev/null; e=$(date +%s%N); echo $(((e - s) / 1000000))' "$T" |
	sort -n | awk '{ v[NR] = $1 } END { printf "reply to verdict: median %.2f s, slowest %.2f s of %d, four at a time\n", v[int((NR + 1) / 2)] / 1000, v[NR] / 1000, NR }'
# They time one after the other: if that is what they wait for, the share of one in all the time is what it holds the device.
awk -v ns=$(($(date +%s%N) - begun)) 'BEGIN { printf "all in %.2f s, %.2f s for each\n", ns / 1e9, ns / 16e9 }'
jq -rs 'def median: sort | .[length / 2 | floor]; "of these: \(map(.eval.build.wall_s) | median) s to build; kharness: " +
	(map(.eval.spent_s) | map(to_entries[]) | group_by(.key) | map("\(.[0].key) \(map(.value) | median * 100 | round / 100) s") |
	join(", "))' "$T"/plain/[0-9]*.ndjson
jq -r .eval.status "$T"/plain/[0-9]*.ndjson | sort | uniq -c
