#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: gpu-kernels.sh FOLDER [COUNT [SEED [SECONDS]]], on a machine with a GPU and kiln on the PATH
# A kernel of each of COUNT programs (24), drawn with SEED (1) from those in FOLDER whose kernels pass the preflight (HeCBench's
# src/*-cuda), is adopted, and trial 0 measures its reference: within SECONDS (150) each, one at a time on each GPU. Where
# FOLDER has a file "drawn", the programs are those that it names. gpu-kernels.tsv has for each program the kernel ("-": the
# first that passes) and the command that runs it at a reduced size: 24 drawn with seed 1, then 20 drawn with seed 51. Input
# that HeCBench keeps elsewhere is made here.
# With REPLIES=FOLDER, those that are adopted go on as gpu-rounds.sh says (NAME is the program's), and only programs with a
# reply there are taken, if there is any: rounds.tsv has a line for each, prompts/ what the model is to answer.
# $OUT, or the current folder, gets kernels.tsv, and of each program its log; $KEEP keeps the campaigns. Their code is not
# ours: it is only read and copied.
# Prints kernels.tsv: program, kernel, how adoption ended, status of the reference in trial 0, microseconds alone and in the
# application, their ratio (several workloads: the one that is furthest off), and what was said last; then a line about all.
# Exit status: 0 when three quarters are adopted, correct, and, above 5 us in the application, within 25 % of its time.
set -u
here=${0%/*}

# Input of the form that the programs read.
make_data() {
	(
		cd "$1" || exit
		case $2 in
		haversine-cuda)
			awk 'BEGIN { srand(1); for (i = 0; i < 2097152; i++) printf "%.6f %.6f\n", rand() * 180 - 90, rand() * 360 - 180 }' >places.txt
			;;
		cfd-cuda) # cells in rows of 311; a neighbour of -1 is a wall
			awk 'BEGIN { srand(1); n = 97000; print n
				for (i = 1; i <= n; i++) {
					printf "%.6f", 1 + rand()
					split((i - 1) " " (i + 1) " " (i - 311) " " (i + 311), to, " ")
					for (k = 1; k <= 4; k++)
						printf(" %d %.5f %.5f %.5f", to[k] < 1 || to[k] > n ? -1 : to[k], (rand() - 0.5) / 100, (rand() - 0.5) / 100, (rand() - 0.5) / 100)
					print ""
				} }' >mesh.domn
			;;
		graphB+-cuda)
			awk 'BEGIN { srand(1); print "from,to,weight"; n = 60000
				for (i = 0; i < 400000; i++)
					printf("%d,%d,%d\n", rand() * n, i < n ? i : rand() * n, rand() < 0.3 ? -1 : 1) }' >edges.csv
			;;
		mis-cuda) # pairs of neighbours, beyond the L2 cache: counts, where each node's neighbours begin, the neighbours
			perl -e '$n = 3 << 22; print pack("V2", $n, $n);
				print pack("V*", $_ << 16 .. ($_ + 1 << 16) - 1) for 0 .. ($n >> 16) - 1;
				print pack("V", $n);
				print pack("V*", map { $_ ^ 1 } $_ << 16 .. ($_ + 1 << 16) - 1) for 0 .. ($n >> 16) - 1' >pairs.egr
			;;
		mt-cuda) # parameters of 4096 generators with a period of 2^607 - 1, for the GPU and for its reference
			mkdir -p data
			perl -e 'srand 1; open $g, ">:raw", "data/MersenneTwister.dat"; open $r, ">:raw", "data/MersenneTwister.raw";
				for (1 .. 4096) {
					($a, $b, $c) = map { int rand 2 ** 32 } 1 .. 3;
					print $g pack "L4", $a, $b, $c, 0;
					print $r pack "L16", $a, 9, 19, 1, 32, 2 ** 32 - 1, 2 ** 32 - 2, 1, 12, 18, 7, 15, $b, $c, 0, 0;
				}'
			;;
		lsqt-cuda) # a square lattice, neighbours in all four directions
			mkdir -p lattice
			echo lattice >lattice.txt
			printf 'model 1\nanderson_disorder 1\nnumber_of_moments 50\nenergy_max 5\n' >lattice/para.in
			printf '5 -2 -1 0 1 2\n' >lattice/energy.in
			printf '1024 512 1\n1 1 1 0\n1 1 1\n1 4\n0 0 0\n4\n1 0 0 0 -1 0\n-1 0 0 0 -1 0\n0 1 0 0 -1 0\n0 -1 0 0 -1 0\n' >lattice/lattice.in
			;;
		esac
	)
}

# adopt FOLDER SECONDS OUT WORK ARCH GPUS PROGRAM: one program, on the GPU of its slot.
if [ "$1" = --adopt ]; then
	folder=$2 out=$4 work=$5 arch=$6 gpu=$((${SLOT:-0} % $7)) p=$8 c=$5/c-$8
	end=$(($(date +%s) + $3))
	IFS='	' read -r _ kernel run <<-EOF
		$(grep -m 1 "^$p	" "$here/gpu-kernels.tsv")
	EOF
	row=$(jq -c --arg p "$p" --arg k "${kernel:--}" 'select(.p == $p and ($k == "-" or .k == $k))' "$work/good" | head -n 1)
	file=$(printf '%s' "$row" | jq -r .f) kernel=$(printf '%s' "$row" | jq -r .k)
	[ "$7" -eq 1 ] || export CUDA_VISIBLE_DEVICES="$gpu"
	export KILN_LOCK_DIR="$work/lock$gpu"
	mkdir -p "$KILN_LOCK_DIR"
	make_data "$folder/$p" "$p"
	# What the program says of its own results is its output. Whatever stops it, kadopt ends what it started.
	run="${run:-make -s run ARCH=$arch} >said.txt 2>&1 && { echo ran; grep -oiE 'pass(ed)?|fail(ed)?|error' said.txt || :; } >check.txt"
	timeout -k 5 "$3" kadopt adopt -o "$c" -p "$folder/$p" --file "$file" --kernel "$kernel" --build "make -s -j8 ARCH=$arch" \
		--run "$run" --outputs check.txt --runs 1 --top 2 --record-mb 512 --timeout "$3" >"$out/$p.log" 2>&1 </dev/null
	status=$?
	if [ $status -eq 0 ]; then
		jq '.eval.profile = "off" | .memory = {enabled: "off"}' "$c/campaign.json" >"$c/m" && mv "$c/m" "$c/campaign.json"
		left=$((end - $(date +%s)))
		timeout -k 5 $((left > 20 ? left : 20)) kcampaign baseline -c "$c" >>"$out/$p.log" 2>&1 </dev/null || status="baseline $?"
	fi
	cat "$c"/trials/000/*/eval.ndjson >"$work/$p.eval" 2>/dev/null
	[ -s "$c/adopt/proxy.json" ] || mkdir -p "$c/adopt" && [ -s "$c/adopt/proxy.json" ] || echo '[]' >"$c/adopt/proxy.json"
	{
		printf '%s\t%s\t%s\t' "$p" "$kernel" "$status"
		jq -rj -n --slurpfile rows "$c/adopt/proxy.json" --slurpfile eval "$work/$p.eval" '
			($eval[0].eval // {}) as $e | ([$e.timing[]? | {key: .workload, value: (.median_ns / 1000)}] | from_entries) as $alone |
			[$rows[0][] | {app: .target_us, alone: ($alone[.workload] // .alone_us)} | .ratio = .alone / .app] |
			(map(select(.app > 5)) as $long | if $long == [] then . else $long end | max_by(.ratio | log | fabs)) as $r |
			[$e.status // "-"] + if $r then [$r.alone, $r.app, $r.ratio] | map(. * 100 | round / 100) else ["-", "-", "-"] end | join("\t")'
		printf '\t%s\n' "$(grep -v '^ *$\|^make' "$out/$p.log" | tail -n 1 | cut -c 1-300)"
	} >"$work/$p.row"
	cat "$work/$p.row" >>"$out/kernels.tsv"
	left=$((end - $(date +%s)))
	if [ "$status" = 0 ] && [ -n "${REPLIES-}" ]; then
		timeout -k 5 $((left > 60 ? left : 60)) sh "$here/gpu-rounds.sh" "$c" "$p" "$REPLIES" "$out/prompts" >>"$out/rounds.tsv"
	fi
	exit 0
fi

folder=$(cd "$1" && pwd) count=${2:-24} seed=${3:-1} limit=${4:-150} out=${OUT:-.}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" "$out"
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
gpus=$(nvidia-smi -L | wc -l)
find "$folder" -maxdepth 1 -name '*-cuda' | sort | xargs -P "$(nproc)" -n 1 sh -c 'kadopt list -p "$1" --json 2>/dev/null |
	jq -c --arg p "${1##*/}" "select(.good and .kernel) | {p: \$p, f: .file, k: .function}" >"$0/${1##*/}.good"' "$work"
cat "$work"/*-cuda.good >"$work/good"
if [ -s "$folder/drawn" ]; then
	head -n "$count" "$folder/drawn" >"$work/drawn"
else
	# The same order wherever it is drawn: by a digest of the seed and the name.
	cut -d '"' -f 4 "$work/good" | sort -u | while read -r p; do
		printf '%s %s\n' "$(printf '%s %s' "$seed" "$p" | sha256sum | cut -c 1-16)" "$p"
	done | sort | head -n "$count" | cut -d ' ' -f 2 >"$work/drawn"
fi
if [ -n "${REPLIES-}" ] && ls "$REPLIES"/*.1.txt >/dev/null 2>&1; then
	for f in "$REPLIES"/*.1.txt; do basename "$f" .1.txt; done >"$work/drawn"
fi
printf 'program\tkernel\tadopted\ttrial 0\talone us\tapplication us\tratio\tsaid\n' >"$out/kernels.tsv"
xargs -P "$gpus" --process-slot-var=SLOT -n 1 \
	sh "$0" --adopt "$folder" "$limit" "$out" "$work" "$arch" "$gpus" <"$work/drawn"
cat "$out/kernels.tsv"
[ ! -f "$out/rounds.tsv" ] || cat "$out/rounds.tsv"
awk -F '\t' 'NR == 1 { next }
	{ n++ }
	$3 == "0" && $4 == "correct" { good++; if ($6 == "-") next; if ($6 <= 5) { short++; met++ } else if ($7 >= 0.8 && $7 <= 1.25) met++ }
	END {
		printf "%d of %d adopted with a correct reference in trial 0; %d of these within 25 %% of the time in the application (%d below 5 us)\n", good, n, met, short
		exit met < 0.75 * n
	}' "$out/kernels.tsv"
