#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: gpu-kernels.sh FOLDER [COUNT [SEED [SECONDS]]], on a machine with a GPU and kiln on the PATH
# Kernels of COUNT programs (24), drawn with SEED (1) from the programs in FOLDER (HeCBench's src/*-cuda: a Makefile that
# builds with ARCH=sm_NN and runs with `make run`), are adopted as far as trial 0's reference, each within SECONDS (120),
# one a GPU. gpu-kernels.tsv has the commands that run some of them at reduced sizes; the others get `make run`. $OUT, or the
# current folder, gets kernels.tsv and the log of each; KEEP, the campaigns.
# Their code is not ours: it is only read and copied.
set -u

# adopt FOLDER SECONDS OUT WORK ARCH GPUS PROGRAM: one program, on the GPU of its slot.
if [ "$1" = --adopt ]; then
	folder=$2 limit=$3 out=$4 work=$5 arch=$6 gpu=$((${SLOT:-0} % $7)) p=$8
	row=$(grep -m 1 "^{\"p\":\"$p\"" "$work/good")
	file=$(printf '%s' "$row" | jq -r .f) kernel=$(printf '%s' "$row" | jq -r .k)
	run=$(awk -F '\t' -v p="$p" '$1 == p { print $2 }' "${0%.sh}.tsv")
	export CUDA_VISIBLE_DEVICES=$gpu KILN_LOCK_DIR="$work/lock$gpu"
	mkdir -p "$KILN_LOCK_DIR"
	timeout "$limit" kadopt adopt -o "$work/c-$p" -p "$folder/$p" --file "$file" --kernel "$kernel" --build "make ARCH=$arch" \
		--run "${run:-make -s run ARCH=$arch}" --runs 1 --timeout "$limit" >"$out/$p.log" 2>&1 </dev/null
	status=$?
	result=$(grep '^proxy\|is ready' "$out/$p.log" | head -n 1)
	printf '%s\t%s\t%s\t%s\t%s\n' "$p" "$file" "$kernel" $status "${result:-$(tail -n 1 "$out/$p.log")}" >>"$out/kernels.tsv"
	exit 0
fi

folder=$(cd "$1" && pwd) count=${2:-24} seed=${3:-1} limit=${4:-120} out=${OUT:-.}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
gpus=$(nvidia-smi -L | wc -l)
for p in "$folder"/*-cuda; do
	kadopt list -p "$p" --json 2>/dev/null | jq -c --arg p "${p##*/}" 'select(.good and .kernel) | {p: $p, f: .file, k: .function}'
done >"$work/good"
# The same order wherever it is drawn: by a digest of the seed and the name.
cut -d '"' -f 4 "$work/good" | sort -u | while read -r p; do
	printf '%s %s\n' "$(printf '%s %s' "$seed" "$p" | sha256sum | cut -c 1-16)" "$p"
done | sort | head -n "$count" | cut -d ' ' -f 2 >"$work/drawn"
printf 'program\tfile\tkernel\tstatus\tresult\n' >"$out/kernels.tsv"
xargs -P "$gpus" --process-slot-var=SLOT -n 1 \
	sh "$0" --adopt "$folder" "$limit" "$out" "$work" "$arch" "$gpus" <"$work/drawn"
cat "$out/kernels.tsv"
