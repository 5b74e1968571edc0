#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU: the programs in tests/apps/units are adopted, a model that always gives winner.cu makes a round, and the
# winner goes back. Prints a line for each: the program, the status of adoption and integration, and what integration said.
# With NCU=1, ncu counts what the application's launches do, and the roofline that follows is printed.
# usage: gpu-units.sh [NAME...]   ARCH: what nvcc's -arch takes (default: native); OUT: a folder for logs and patches
# Exit status: 0 when all are ACCEPTED, else 1.
set -u
. "${0%/*}/gpu-setup.sh"
units=$KILN_DATA/tests/apps/units out=${OUT:-$T/out} bad=0
mkdir -p "$out"
[ $# -gt 0 ] || set -- "$units"/*
cat >"$T/model.sh" <<'M'
cat >/dev/null
printf '```plan\n{"hypothesis": "it should be faster because memory is read in order", "change": "another loop", "category": "tiling", "bucket": "K1"}\n```\n```cuda\n'
cat "$1"
echo '```'
M

# The winner's "ENTRY" stands for the entry that kadopt wrote.
give_winner() {
	jq -r .text "$T/c-$1/adopt/unit.json" >"$T/entry"
	sed -e "/^ENTRY\$/{r $T/entry
		d
		}" "$units/$1/winner.cu" >"$T/$1.cu"
}

# What a call does, by counters of the application.
show_work() {
	cp "$T/c-$1/adopt/ncu.csv" "$out/$1.csv"
	jq -r '"\tflops \(.flops)\tbytes \(.bytes)"' "$T/c-$1/task.json"
	(cd "$T/c-$1" && kspec roofline | jq -r '.workloads[] | "\t\(.name)\t\(.bound) bound\tintensity \(.intensity)\tfloor \(.floor_ns) ns"') 2>&1
}

for name; do
	name=${name##*/}
	read -r file kernel _ <"$units/$name/unit"
	cp -r "$units/$name" "$T/$name"
	rm "$T/$name/winner.cu" "$T/$name/unit"
	c=$T/c-$name back=-
	kadopt adopt -o "$c" -p "$T/$name" --file "$file" --kernel "$kernel" --build "make -s ARCH=${ARCH:-native}" --run ./app \
		--outputs out.txt --compare float:1e-3 ${NCU:+--count} --provider "exec:sh $T/model.sh $T/$name.cu" >"$out/$name.log" 2>&1 </dev/null
	adopted=$?
	if [ $adopted -eq 0 ]; then
		[ -z "${NCU:-}" ] || show_work "$name"
		give_winner "$name"
		jq '.eval.profile = "off" | .memory = {enabled: "off"}' "$c/campaign.json" >"$T/m" && mv "$T/m" "$c/campaign.json"
		{
			kcampaign run -c "$c" -n 1
			jq -r '"\(.id) \(.eval.status) " + ([.eval.timing[]? | "\(.workload) \(.median_ns / 1000) us"] | join(", "))' "$c"/trials/*/*/eval.ndjson
		} >>"$out/$name.log" 2>&1 </dev/null
		kadopt integrate -c "$c" >"$T/said" 2>>"$out/$name.log" </dev/null
		back=$?
		cat "$T/said" >>"$out/$name.log"
		find "$c/runs" -name integrated.patch -exec cp {} "$out/$name.patch" \; 2>/dev/null
	fi
	[ $back = 0 ] || bad=1
	printf '%s\tadopt %s\tintegrate %s\t%s\n' "$name" $adopted $back \
		"$(grep -h '^[A-Z][A-Z ]*: ' "$T/said" 2>/dev/null | head -n 1 || :)$([ $back = 0 ] || tail -n 1 "$out/$name.log")"
	rm -f "$T/said"
done
exit $bad
