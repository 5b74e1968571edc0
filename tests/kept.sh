#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What kcampaign upgrade made of a campaign: every member of every fact in the folder OLD, which contains whole records,
# must be in the records of the folder NEW. Prints what is missing, and how many facts were compared; exit status 1 when
# something is lost. usage: kept.sh OLD NEW
set -eu
old=$1 new=$2 lost=0 count=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for fact in "$old"/trials/[0-9]*/[0-9]*/*.ndjson; do
	stage=${fact##*/} stage=${stage%.ndjson} cell=${fact%/*} cell=${cell#"$old/"}
	case $stage in sample | prompt | reply | eval) ;; *) continue ;; esac
	count=$((count + 1))
	# The last fact of the candidate: kclassify joins it, as every tool does in a pipe.
	for last in eval reply prompt sample; do [ ! -e "$new/$cell/$last.ndjson" ] || break; done
	case $last in
	eval) kclassify -c "$new" "$new/$cell/eval.ndjson" ;;
	*) kcampaign record -c "$new" "${cell#trials/}" ;;
	esac >"$work/whole"
	if ! jq -e --slurpfile old "$fact" '. as $new | $old[0] | to_entries | all(.value == $new[.key])' "$work/whole" >"$work/same"; then
		echo "$fact: not all of it is in the records of $new"
		lost=1
	fi
done
echo "$count facts of $old compared"
exit $lost
