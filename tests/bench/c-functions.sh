#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: c-functions.sh FOLDER [COUNT [SEED [SECONDS [JOBS]]]], with kiln on the PATH
#        c-functions.sh --called FOLDER >called.tsv
# COUNT functions (20), drawn with SEED (14) from those in called.tsv, are adopted, each within SECONDS (600), as far as a verdict
# on trial 0, the reference. FOLDER holds the projects that census.py names. PolyBench's programs run as they are; c-drivers/ has
# a program of ours for each of the others, with the commands that build and run it.
# called.tsv has those that census.tsv says can be adopted, and that such a program calls: it is built with gcc's --coverage, and
# nothing inlined, and run; gcov says how often each function was entered. What no program calls cannot be observed.
# $OUT, or the current folder, gets c-functions.tsv and the log of each; KEEP, the campaigns. ONLY=FUNCTION runs one of those
# that are drawn.
# The projects' code is not ours: it is only read and copied.
set -u
here=$(cd "${0%/*}" && pwd)

# The command that the driver's first comment names.
said() {
	sed -n "s/^ \* $1: //p" "$here/c-drivers/${project%.c}.c"
}

# Copies PROJECT of FOLDER to COPY, with its driver; sets how to build and run what calls the functions of FILE.
prepare() {
	rm -rf "$copy"
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
}

# adopt FOLDER OUT WORK SECONDS PROJECT FILE FUNCTION
if [ "$1" = --adopt ]; then
	folder=$2 out=$3 work=$4 limit=$5 project=$6 file=$7 function=$8
	name=${project%%[-.]*}.$function.$(basename "${file%.*}")
	c=$work/c-$name copy=$work/p-$name log=$out/$name.log
	export KILN_LOCK_DIR="$work/lock-$name"
	rm -rf "$c"
	mkdir -p "$KILN_LOCK_DIR"
	prepare
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

called=
if [ "$1" = --called ]; then
	called=yes
	shift
fi
folder=$(cd "$1" && pwd) count=${2:-20} seed=${3:-14} limit=${4:-600} jobs=${5:-1} out=${OUT:-.}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
good() {
	awk -F '\t' '$4 == "yes" { print $1 "\t" $2 "\t" $3 }' "$here/census.tsv"
}

# Adds "PROJECT FILE FUNCTION" for every function that the program calls.
count_calls() {
	prepare
	(cd "$copy" && PATH=$work/bin:$PATH && sh -c "$build" && sh -c "$run") >"$work/log" 2>&1 </dev/null ||
		echo "c-functions.sh: $project $file: $(tail -n 1 "$work/log")" >&2
	find "$copy" -name '*.gcda' | (cd "$copy" && xargs gcov --json-format --stdout 2>/dev/null) |
		jq -r --arg p "$project" --arg root "$copy/" '.files[] | (.file | ltrimstr($root) | ltrimstr("./")) as $f | .functions[] |
			select(.execution_count > 0) | [$p, $f, (.demangled_name | sub("\\(.*"; ""))] | @tsv' >>"$work/entered"
}

if [ "$called" ]; then
	copy=$work/p
	mkdir -p "$work/bin"
	for c in gcc g++ cc c++; do
		printf '#!/bin/sh\nexec %s "$@" -O0 --coverage -Dalways_inline=unused\n' "$(command -v "$c")" >"$work/bin/$c"
	done
	chmod +x "$work"/bin/*
	good | cut -f 1,2 | awk -F '\t' '/^PolyBench/ || !seen[$1]++' | sort -u >"$work/programs"
	while IFS='	' read -r project file; do
		count_calls
	done <"$work/programs"
	good | grep -Fxf "$work/entered"
	exit 0
fi

# The same order wherever it is drawn: by a digest of the seed and the row.
while read -r row; do
	printf '%s\t%s\n' "$(printf '%s\t%s' "$seed" "$row" | sha256sum | cut -c 1-16)" "$row"
done <"$here/called.tsv" | sort | head -n "$count" | cut -f 2- | awk -F '\t' -v only="${ONLY-}" 'only == "" || $3 == only' >"$work/drawn"
printf 'project\tfile\tfunction\tstatus\ttrial 0\tseconds\treason\n' >"$out/c-functions.tsv"
tr '\t' '\n' <"$work/drawn" | xargs -P "$jobs" -n 3 sh "$0" --adopt "$folder" "$out" "$work" "$limit"
