#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Parts: a trial's folder stores each part of a record once, converts older versions, and loses no text.
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
null_campaign c 9
(cd c && kcampaign run -n 3 >/dev/null)
cat >fatten.sh <<'E'
# fatten FOLDER STAGE...: files of these stages in the form of older versions of kiln.
fatten() {
	folder=$1; shift
	for cell in 000/00 $(cd c/trials && ls -d 00[1-3]/0?); do
		if [ "$cell" = 000/00 ]; then
			jq -cS '.schema = "candidate/1"' c/trials/000/00/eval.ndjson >whole
		else
			kcampaign record -c c "$cell" | jq -cS "del(.coords, .audit, .score)" >whole
		fi
		for stage; do
			f=$folder/trials/$cell/$stage.ndjson drop=
			case $stage in reply) drop=.eval ;; prompt) drop=.eval,.reply ;; sample) drop=.eval,.reply,.prompt ;; esac
			[ ! -e "$f" ] || jq -cS "del(${drop:-.none})" whole >"$f"
		done
	done
}
# fat_views FOLDER: views that name those evaluations.
fat_views() {
	for view in "$1"/trials/*/score.ndjson; do
		cp "$view" "${view%/*}/coords.ndjson"; cp "$view" "${view%/*}/audit.ndjson"
		while read -r line; do
			id=$(printf "%s" "$line" | jq -r .id)
			sum=$(tr -d "\n" <"$1/trials/$id/eval.ndjson" | sha256sum | cut -d " " -f 1)
			printf "%s\n" "$line" | jq -cS --arg sum "$sum" ".schema = \"candidate/1\" | .from = \$sum"
		done <"$view" >new.view
		mv new.view "$view"
	done
}
# alike FOLDER: its records, and the views made from them, agree with those of c.
alike() {
	kcampaign views -c "$1"
	for cell in $(cd c/trials && ls -d 00[1-3]/0?); do
		kcampaign record -c c "$cell" | jq -cS . >expected
		kcampaign record -c "$1" "$cell" | jq -cS . | cmp expected -
	done
	for view in score archive gradient; do
		cat c/trials/*/$view.ndjson | jq -cS "del(.from)" >expected
		cat "$1"/trials/*/$view.ndjson | jq -cS "del(.from)" | cmp expected -
	done
}
E
ok 'a fact contains what it made, and correctly names what it was made from' '
	cd c/trials/002/01
	is "branch campaign eval from id schema trial" "$(jq -r "keys[]" eval.ndjson | xargs)"
	is "branch campaign from id reply schema trial" "$(jq -r "keys[]" reply.ndjson | xargs)"
	is "null null" "$(jq -r "\"\(.prompt.user) \(.prompt.system)\"" prompt.ndjson)"
	is null "$(jq -r .sample.parent.code sample.ndjson)"
	for pair in "reply prompt" "prompt sample" "eval reply"; do
		is "$(jq -r ".from.${pair#* }" "${pair% *}.ndjson")" "$(tr -d "\n" <"${pair#* }.ndjson" | sha256sum | cut -d " " -f 1)"
	done
	for f in *.ndjson; do [ "$(wc -c <$f)" -lt 5000 ]; done'

ok 'records of an older version are refused by name, with the command that converts them' '
	. ./fatten.sh; cp -r c old; fatten old sample prompt reply eval; fat_views old
	for tool in "kcampaign status" "kcampaign views" "kcampaign run -n 1" kreport "krecords close" "krecords remember" "kaudit --report"; do
		exits 2 sh -c "cd old && $tool"; grep -q "trials/000/00/eval.ndjson is of an older version of kiln.*kcampaign upgrade converts" err
	done
	exits 2 karchive -c old -a old/trials/000/archive.ndjson old/trials/001/score.ndjson
	grep -q "kcampaign upgrade" err'

ok 'they are converted once, and nothing of them is lost' '
	. ./fatten.sh
	cp -rp old new; kcampaign upgrade -c new >out; grep -q "files converted" out
	is "nothing to convert" "$(kcampaign upgrade -c new)"
	not grep -rl "candidate/1" new/trials; [ ! -e new/trials/001/coords.ndjson ]
	for f in new/trials/*/*/*.ndjson; do [ "$(wc -c <$f)" -lt 10000 ]; done
	"$tests_dir/kept.sh" old new
	alike new'

ok 'a conversion that was killed is repeated' '
	. ./fatten.sh; cp -rp new finished
	for stages in "sample prompt" "sample prompt reply eval"; do
		rm -rf new; cp -rp old new; cp -r finished/trials/000/texts new/trials/000
		for cell in 002/01 002/02; do
			for stage in $stages; do cp "finished/trials/$cell/$stage.ndjson" "new/trials/$cell"; done
		done
		kcampaign upgrade -c new; alike new; "$tests_dir/kept.sh" old new
	done'

ok 'a missing fact is taken from a later one; two that differ are reported, and stay' '
	. ./fatten.sh; rm -rf new; cp -r old new; rm new/trials/002/01/prompt.ndjson new/trials/002/01/sample.ndjson
	kcampaign upgrade -c new; alike new
	rm -rf new; cp -r old new; sed -i "s/\"island\":0/\"island\":1/" new/trials/002/01/sample.ndjson
	cp new/trials/002/01/eval.ndjson before
	exits 2 kcampaign upgrade -c new
	grep -q "trials/002/01/prompt.ndjson: its member .sample. differs from sample.ndjson" err
	same before new/trials/002/01/eval.ndjson'

ok 'a program that later samples show survives a redo' '
	cp -r c again; cd again
	child=$(jq -r "select(.sample.parent.id != \"000/00\").id" trials/003/*/sample.ndjson | head -n 1)
	parent=$(jq -r .sample.parent.id "trials/$child/sample.ndjson")
	kcampaign record "$child" | jq -cS "del(.coords, .audit, .score)" >before
	jq ".seed = 77" campaign.json >k && mv k campaign.json
	kcampaign redo --from reply "$parent" >/dev/null
	is 1 "$(find "trials/$parent" -name "eval.ndjson.*" | wc -l)"
	kcampaign record "$child" | jq -cS "del(.coords, .audit, .score)" | same before -
	rm "trials/$parent"/eval.ndjson.*
	exits 2 kcampaign record "$child"; grep -q "code has changed since then in the evaluation of $parent" err
	exits 0 kcampaign status'
done_testing
