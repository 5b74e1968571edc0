#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# faults.sh N: makes about N system calls of a campaign's tools fail, one per run, with strace -e inject, or makes files
# stop growing in the middle of a write. Whatever fails: either a tool ends with 0 and the same bytes; or it ends with
# another status and a message, its output is unchanged, no temporary file is left, and the same command without a fault
# gives the same bytes. Needs strace and the tools on PATH. Prints TAP: one test for each tool.
set -eu
tests_dir=$(cd "${0%/*}" && pwd)
. "$tests_dir/campaign.sh"
: "${KILN_DATA:=$(dirname "$tests_dir")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
want=${1:-2000}
command -v strace >/dev/null || { echo '1..0 # SKIP no strace'; exit 0; }
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-faults.XXXXXX")
trap 'rm -rf "$T"' EXIT
export PATH KILN_DATA KILN_BUILD LC_ALL=C KILN_NOW=2026-01-01T00:00:00Z KILN_LOCK_DIR="$T" XDG_DATA_HOME="$T/data" XDG_RUNTIME_DIR="$T"
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
cd "$T"

# Everything that a stage reads is there: trial 1 of a campaign, with its replies as recordings.
null_campaign c 2
jq '.search.branches = 2' c/campaign.json >new && mv new c/campaign.json
cp -r c fresh
(cd c && kcampaign run --trials 1 >/dev/null)
(cd c && kclassify --thin trials/001/*/eval.ndjson >coords.ndjson && kaudit --thin coords.ndjson >audit.ndjson)
mkdir -p c/replies/001
for b in 01 02; do cp "c/trials/001/$b/reply.ndjson" "c/replies/001/$b.ndjson"; done

cat >stages <<'E'
ksample --trial 001 --branch 01 -a trials/000/archive.ndjson -g trials/000/gradient.ndjson -o o/out.ndjson
kprompt -o o/out.ndjson trials/001/01/sample.ndjson
kllm -k model.provider=replay -o o/out.ndjson trials/001/01/prompt.ndjson
keval -a trials/000/archive.ndjson -o o/out.ndjson trials/001/01/reply.ndjson
kclassify -o o/out.ndjson trials/001/01/eval.ndjson trials/001/02/eval.ndjson
kaudit -o o/out.ndjson coords.ndjson
kscore -r trials/000/00/eval.ndjson -a trials/000/archive.ndjson -o o/out.ndjson audit.ndjson
karchive -a trials/000/archive.ndjson -o o/out.ndjson trials/001/score.ndjson
kgrad -g trials/000/gradient.ndjson -a trials/000/archive.ndjson -o o/out.ndjson trials/001/score.ndjson
E
# Calls, and the ways in which each may fail.
cat >calls <<'E'
write ENOSPC EIO EINTR
openat EIO EMFILE EACCES EINTR ENOMEM
read EIO EINTR ENOMEM
rename EIO ENOSPC EACCES
fsync EIO ENOSPC EINTR
close EIO EINTR
newfstatat EIO ENOMEM
access EIO
getdents64 EIO
mmap ENOMEM EAGAIN
E

# With -f, strace stops a process only at the selected calls, and is much faster.
follow='-f --seccomp-bpf'

# count CALL COMMAND…: how often the command makes the call.
count() {
	call=$1
	shift
	strace -f --seccomp-bpf -qq -o log -e trace="$call" "$@" >/dev/null 2>&1 || :
	grep -c " $call(" log || :
}

# points: "CALL ERROR NUMBER" for everything that can fail in a stage after the loader's own calls.
points() {
	while read -r call errors; do
		from=$(count "$call" "$1" --version)
		to=$(count "$call" "$@")
		n=$((from + 1))
		case $call in close | newfstatat) [ "$n" -le "$to" ] || n=$to ;; esac
		while [ "$n" -le "$to" ]; do
			for e in $errors; do echo "$call $e $n"; done
			n=$((n + 1))
		done
	done <../calls
	for size in 1 2 3 4 6 8 12 16; do echo "size $size 0"; done
}

# faulty POINT COMMAND…: runs the command with the fault; its status is in rc.
faulty() {
	call=$1 error=$2 number=$3 rc=0
	shift 3
	if [ "$call" = size ]; then
		# Blocks of 512 bytes: the write that crosses the limit is short, and the next one fails.
		(trap '' XFSZ; ulimit -f "$error"; exec "$@") >"$T/out" 2>"$T/err" || rc=$?
	else
		# shellcheck disable=SC2086
		strace $follow -qq -o /dev/null -e trace="$call" -e inject="$call:error=$error:when=$number" "$@" >"$T/out" 2>"$T/err" || rc=$?
	fi
}

# wrong POINT COMMAND…: describes what is wrong after such a fault.
wrong() {
	point="$1 $2 $3"
	echo old >o/out.ndjson
	faulty "$@"
	shift 3
	if [ "$rc" -eq 0 ]; then
		cmp -s ../expected o/out.ndjson || echo "$point: exit 0 with other bytes"
		return
	fi
	[ "$rc" -lt 128 ] || echo "$point: ended by signal $((rc - 128))"
	[ -s "$T/err" ] || echo "$point: exit $rc without a message"
	cmp -s ../expected o/out.ndjson || [ "$(cat o/out.ndjson)" = old ] || echo "$point: exit $rc and half an output"
	[ "$(ls -A o)" = out.ndjson ] || { echo "$point: left behind: $(ls -A o)"; rm -f o/*; }
	"$@" >/dev/null 2>"$T/err" || echo "$point: the same command again: $(cat "$T/err")"
	cmp -s ../expected o/out.ndjson || echo "$point: the same command again: other bytes"
}

tests=0 failed=0 total=0
report() {
	tests=$((tests + 1))
	if [ -s "$T/faults" ]; then
		sed 's/^/# /' "$T/faults"
		printf 'not '
		failed=1
	fi
	echo "ok $tests - $1: $2 faults"
	total=$((total + $2))
}

cd c
mkdir o
# The points of all stages, reduced evenly to the requested number.
while read -r line; do
	# shellcheck disable=SC2086
	points $line | sed "s|^|$line@|"
done <../stages >../all
step=$(($(wc -l <../all) / want))
awk -v s="$((step > 0 ? step : 1))" 'NR % s == 0' ../all >../chosen
while read -r line; do
	# shellcheck disable=SC2086
	$line 2>/dev/null
	cp o/out.ndjson ../expected
	: >"$T/faults"
	n=0
	grep -F "$line@" ../chosen >../mine || :
	while read -r point; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		wrong ${point##*@} $line >>"$T/faults" </dev/null
	done <../mine
	report "${line%% *}" "$n"
done <../stages
cd ..

# kcampaign itself, in a campaign that has not begun; the stages that it starts get no faults.
n=0 follow=
: >"$T/faults"
cp -r fresh k
(cd k && strace -qq -o ../klog -e trace=openat,read,write,rename,symlink,fsync kcampaign run --trials 1 >/dev/null 2>&1)
for call in openat read write rename symlink fsync; do
	to=$(grep -c "^$call(" klog || :)
	loader=$(count "$call" kcampaign --version)
	step=$(((to - loader) / 8 + 1))
	i=$((loader + 1))
	while [ "$i" -le "$to" ]; do
		rm -rf k && cp -r fresh k
		cd k
		faulty "$call" EIO "$i" kcampaign run --trials 1 </dev/null
		[ "$rc" -eq 0 ] || [ -s "$T/err" ] || echo "$call $i: exit $rc without a message" >>"$T/faults"
		[ "$rc" -lt 128 ] || echo "$call $i: ended by signal $((rc - 128))" >>"$T/faults"
		[ -e trials/001/gradient.ndjson ] && [ -e archive.ndjson ] || kcampaign run --trials 1 >/dev/null 2>"$T/err" </dev/null ||
			echo "$call $i: the same command again: $(tail -n 1 "$T/err")" >>"$T/faults"
		for f in archive gradient score; do
			cmp -s "../c/trials/001/$f.ndjson" "trials/001/$f.ndjson" || echo "$call $i: $f differs" >>"$T/faults"
		done
		cd ..
		n=$((n + 1))
		i=$((i + step))
	done
done
report kcampaign "$n"
echo "# $total faults in all"
echo "1..$tests"
exit "$failed"
