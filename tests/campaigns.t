#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every shipped campaign: it is complete, its recorded replies pass today's rules, and it runs as
# far as this machine allows. In make check sizes are small and times come from a file. With
# KILN_CAMPAIGNS=full (make campaigns-check) sizes and times are the campaign's own, and kernels for
# a GPU that is missing here are only built.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

KILN_LOCK_DIR=$T TMPDIR=$T/tmp full=${KILN_CAMPAIGNS-}
export KILN_LOCK_DIR TMPDIR full
chmod 755 "$T"
mkdir -m 1777 tmp
mkdir bin dry
campaigns=$(cd "$KILN_DATA/campaigns" && echo *)
for name in $campaigns; do
	shipped "$name"
	cp -r "$name" dry
done
# dry/: nothing is compiled there: a candidate that ends with compile_error was extracted, planned
# and scanned.
for name in $campaigns; do
	case $(jq -r .backend "$name/campaign.json") in
	c | opencl) [ "$full" ] || make_small "$name" ;;
	esac
	edit "dry/$name/campaign.json" '.eval.build = {command: "exit 1", sandbox: false}'
done

# source_of NAME: the path of its reference.
cat >bin/source_of <<'E'
#!/bin/sh -eu
task=$1/$(jq -r '.task // "task.json"' "$1/campaign.json")
echo "${task%/*}/$(jq -r .reference "$task")"
E
# reading NAME: its reference and each recorded reply, through the stages that need no compiler.
cat >bin/reading <<'E'
#!/bin/sh -eu
cd dry
keval -c "$1" --code "$(source_of "$1")" >read
for reply in "$1"/replies/*/*.ndjson; do
	[ ! -e "$reply" ] || keval -c "$1" "$reply" >>read
done
kclassify -c "$1" read >coords
jq -c 'select(.eval.status != "compile_error" or (.coords.coords | length) != 4) |
	[.id, .eval.status, .eval.plan_fault, .eval.reasons]' coords >bad
cat bad
[ ! -s bad ]
E
# trial NAME: the first trial; if there are no recorded replies, of the reference with one more
# line.
cat >bin/trial <<'E'
#!/bin/sh -eu
. "$tests_dir/functions.sh"
source=$(source_of "$1")
source=$(realpath "$source")
cd "$1"
if [ ! -d replies ]; then
	mkdir -p replies/001
	{
		printf '```%s\n' "$(jq -r .language campaign.json)"
		cat "$source"
		printf 'static int one_line_more;\n```\n'
	} | jq -Rsc '{text: ., finish: "stop"}' >replies/001/01.ndjson
	edit campaign.json '.model.provider = "replay" | .search.branches = 1'
fi
[ "$full" ] || edit campaign.json 'if .search.mode == "linear" then . else .search.branches = 1 end'
kcampaign run -n 1 2>&1
jq -c '[.id, .eval.status, .eval.log]' trials/00[01]/*/eval.ndjson
is correct "$(jq -r .eval.status trials/00[01]/*/eval.ndjson | sort -u)"
jq -e .score trials/001/score.ndjson >scores
kcampaign status
E
# building NAME: without a device the evaluator ends after the build, and says so.
cat >bin/building <<'E'
#!/bin/sh -eu
. "$tests_dir/functions.sh"
built() {
	exits 3 keval -c "$@"
	grep -q 'no cuda device' err || {
		cat err
		return 1
	}
}
built "$1" --reference
built "$1" --code "$(source_of "$1")"
for reply in "$1"/replies/*/*.ndjson; do
	[ ! -e "$reply" ] || built "$1" "$reply"
done
E
chmod +x bin/*
PATH=$T/bin:$PATH:/usr/local/cuda/bin

# lacks BACKEND: why a campaign with it cannot run here; empty when it can.
lacks() {
	case $1 in
	opencl)
		krun-opencl --facts >/dev/null 2>&1 || echo 'no OpenCL device (package pocl-opencl-icd)'
		;;
	hip) echo 'no AMD GPU; hip.t builds its programs' ;;
	cuda)
		if [ ! -e /dev/nvidiactl ]; then
			echo "no NVIDIA GPU$(command -v nvcc >/dev/null || echo ', and no nvcc')"
		elif [ ! "$full" ]; then
			echo 'for make campaigns-check'
		fi
		;;
	esac
}

for name in $campaigns; do
	export name
	backend=$(jq -r .backend "$name/campaign.json")
	why=$(lacks "$backend")
	ok "$name: complete; its reference and replies are read, scanned and classified" '
		is "" "$(kcampaign check -c "$KILN_DATA/campaigns/$name")"
		keval --inputs -c "$name" --reference >files
		while read -r file; do ls "$file"; done <files
		reading "$name"'
	if [ -z "$why" ]; then
		ok "$name: a trial" 'trial "$name"'
	elif [ "$full" ] && [ "$why" = 'no NVIDIA GPU' ]; then
		ok "$name: builds ($why)" 'building "$name"'
	else
		skip "$name: a trial" "$why"
	fi
done

# An archive contains the results, and the line of the seal that says what the rounds are judged by;
# rounds/, logs/ and memory/ are made from these.
mkdir records
for archive in "$KILN_DATA"/campaigns/*_linear*/recorded/*.tar.gz; do
	name=${archive%/recorded/*}
	name=${name##*/}
	export archive name
	ok "$name: the recorded rounds pass their checks, and their plans the rules" '
		(cd records; for c in "$KILN_DATA"/campaigns/*; do c=${c##*/}; [ -e $c ] || shipped $c; done)
		cd records/$name; tar xzf "$archive"
		is "nothing to convert" "$(kcampaign upgrade)"; is 1 "$(wc -l <seal.ndjson)"
		make -s views; make -s proof
		cd ../../dry
		for id in $(cd ../records/$name/trials && ls -d 00[1-9]/01); do
			kcampaign record -c ../records/$name "$id" | jq -c "del(.eval, .coords, .audit, .score)" >round
			keval -c $name round
		done >rounds
		jq -c "[.id, .eval.status, .eval.plan_fault]" rounds
		is "7 compile_error" "$(jq -r .eval.status rounds | sort | uniq -c | xargs)"'
done
done_testing
