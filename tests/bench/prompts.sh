#!/bin/sh -eu
# SPDX-License-Identifier: Apache-2.0
# What prompts cost: tokens (4 bytes each) of the first prompt of every campaign, and of a prompt in the middle of its
# search, whole and by section.
#   tests/bench/prompts.sh >figures.md
# KILN_DATA and PATH choose the prompt files and the programs, so an older tree can be measured, too. In the middle: the
# samples of recorded campaigns; of the others a sample of trial 5 whose parent is the reference, with a target two cells on.
here=$(cd "${0%/*}/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work/data"

tokens() {
	kprompt -c "$1" "$2" | jq -s 'map(.prompt.system + .prompt.user | utf8bytelength / 4) | if length > 0 then add / length | round else "-" end'
}

echo '| campaign | first prompt | in the middle |'
echo '|---|---|---|'
for c in "$here"/campaigns/*/; do
	name=$(basename "$c")
	# Without a target, and in an older form of records.
	[ "$(jq -r .search.mode "$c/campaign.json")" != linear ] || continue
	cp -r "$c" "$work/$name"
	for kept in "$c"recorded/*.tar.gz; do
		[ ! -e "$kept" ] || tar -xzf "$kept" -C "$work/$name"
	done
	task=$work/$name/$(jq -r '.task // "task.json"' "$c/campaign.json")
	code=$(dirname "$task")/$(jq -r .reference "$task")
	jq -cn --rawfile code "$code" '{schema:"candidate/1",campaign:"c",trial:1,branch:1,id:"001/01",
		sample:{seed:"00",status:"initial",strategy:"initial",inspirations:[],hints:[],errors:[],target:[1,1,1,0],
		parent:{id:"000/00",code:$code,coords:[0,0,0,0]}}}' >"$work/first"
	find "$work/$name/trials" -name sample.ndjson 2>/dev/null | sort | grep -v /001/ | xargs -r cat >"$work/middle" || :
	[ -s "$work/middle" ] || jq -c '.trial = 5 | .id = "005/01" | .sample.status = "correct" | .sample.strategy = "mutate" |
		.sample.target = [2,2,1,1] | .sample.parent += {id:"004/01",coords:[1,1,1,0],status:"correct",runtime_ms:1}' "$work/first" >"$work/middle"
	printf '| %s | %s | %s |\n' "$name" "$(tokens "$work/$name" "$work/first")" "$(tokens "$work/$name" "$work/middle")"
done
