#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: c-functions.sh FOLDER [COUNT [SEED [SECONDS [JOBS]]]], with kiln on the PATH
# COUNT functions (20), drawn with SEED (14) from those that census.tsv says can be adopted, are adopted, each within SECONDS
# (600), as far as a verdict on trial 0, the reference. FOLDER holds the projects that census.py names. PolyBench's programs run
# as they are; c-drivers/ has a program of ours for each of the others, with the commands that build and run it.
# Functions for other processors (NEON, TriMedia) are not in the draw. $OUT, or the current folder, gets c-functions.tsv and the
# log of each; KEEP, the campaigns. ONLY=FUNCTION runs one of those that are drawn.
# The projects' code is not ours: it is only read and copied.
set -u
here=$(cd "${0%/*}" && pwd)

# The command that the driver's first comment names.
said() {
	sed -n "s/^ \* $1: //p" "$here/c-drivers/${project%.c}.c"
}

# adopt FOLDER OUT WORK SECONDS PROJECT FILE FUNCTION
if [ "$1" = --adopt ]; then
	folder=$2 out=$3 work=$4 limit=$5 project=$6 file=$7 function=$8
	name=${project%%[-.]*}.$function.$(basename "${file%.*}")
	c=$work/c-$name copy=$work/p-$name log=$out/$name.log
	export KILN_LOCK_DIR="$work/lock-$name"
	rm -rf "$c" "$copy"
	mkdir -p "$KILN_LOCK_DIR"
	cp -r "$folder/$project" "$copy"
	case $project in
	PolyBench*)
		build="gcc -O2 -I utilities -I ${file%/*} -DMEDIUM_DATASET -DPOLYBENCH_DUMP_ARRAYS utilities/polybench.c $file -lm -o app"
		run='./app 2>out.txt' outputs=out.txt
		;;
	*)
		cp "$here/c-drivers/${project%.c}.c" "$copy/kiln-driver.c"
		build=$(said build) run=$(said run) outputs=$(said outputs)
		;;
	esac
	start=$(date +%s)
	timeout "$limit" kadopt adopt -o "$c" -p "$copy" --file "$file" --kernel "$function" --build "$build" --run "$run" \
		--outputs "$outputs" --threads 1 --runs 1 >"$log" 2>&1 </dev/null
	status=$? trial=-
	if [ "$status" -eq 0 ]; then
		timeout "$limit" kcampaign baseline -c "$c" >>"$log" 2>&1 </dev/null
		trial=$(jq -r .eval.status "$c/trials/000/00/eval.ndjson" 2>/dev/null || echo none)
	fi
	why=$(grep '^kadopt: ' "$log" | tail -n 1)
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$project" "$file" "$function" "$status" "$trial" $(($(date +%s) - start)) \
		"${why#kadopt: }" | tee -a "$out/c-functions.tsv"
	exit 0
fi

folder=$(cd "$1" && pwd) count=${2:-20} seed=${3:-14} limit=${4:-600} jobs=${5:-1} out=${OUT:-.}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
# The same order wherever it is drawn: by a digest of the seed and the row.
awk -F '\t' '$4 == "yes" { print $1 "\t" $2 "\t" $3 }' "$here/census.tsv" | grep -Ev '[/	](arm|tmv)/|neon' | while read -r row; do
	printf '%s\t%s\n' "$(printf '%s\t%s' "$seed" "$row" | sha256sum | cut -c 1-16)" "$row"
done | sort | head -n "$count" | cut -f 2- | awk -F '\t' -v only="${ONLY-}" 'only == "" || $3 == only' >"$work/drawn"
printf 'project\tfile\tfunction\tstatus\ttrial 0\tseconds\treason\n' >"$out/c-functions.tsv"
tr '\t' '\n' <"$work/drawn" | xargs -P "$jobs" -n 3 sh "$0" --adopt "$folder" "$out" "$work" "$limit"
