#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/schemas compared with what they describe: records of a null campaign and of a real evaluation, and the data of
# this tree.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"

# Debian's own Python, for which setup.sh installs the package, whatever python3 comes first on PATH.
python=/usr/bin/python3
if ! $python -W ignore -c 'import jsonschema' 2>/dev/null; then
	skip 'schemas' 'python3-jsonschema is not installed'
	done_testing
fi
mkdir bin
printf '#!/bin/sh\nexec %s -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" "$@"\n' $python >bin/valid
chmod +x bin/valid
PATH=$T/bin:$PATH
KILN_LOCK_DIR=$T
export PATH KILN_LOCK_DIR

ok 'the schemas are schemas' 'valid'
ok 'faults are reported' '
	echo "{\"schema\":\"candidate/1\",\"campaign\":\"c\",\"trial\":1,\"branch\":1,\"id\":\"001/01\",\"verdict\":1}" >wrong.ndjson
	exits 1 valid candidate-1 wrong.ndjson
	grep verdict out'
ok 'manifests' 'valid campaign-1 "$KILN_DATA"/campaigns/*/campaign.json'
ok 'tasks' 'valid task-1 "$KILN_DATA"/campaigns/*/task.json "$KILN_DATA"/tests/tasks/*/task.json'
ok 'patterns' '
	for p in "$KILN_DATA"/patterns/*.json; do
		valid "$(jq -r .schema "$p" | tr / -)" "$p"
	done'

ok 'the table of models' 'valid models-1 "$KILN_DATA/tools/kllm/models.json"'
ok 'routes of knowledge' 'valid routes-1 "$KILN_DATA/skills/knowledge/routes.json"'

ok 'a path that is in no schema is found, and one with another type' '
	cd "$KILN_DATA"; exits() { want=$1; shift; got=0; "$@" >"$T/out" 2>&1 || got=$?; cat "$T/out"; is "$want" "$got"; }
	exits 0 tests/members.sh tools/*/*.c adopt/*.c
	read_of() { printf "x = %s;\n" "$1" >"$T/x.c"; exits 1 tests/members.sh "$T/x.c"; grep -qF "$2" "$T/out"; }
	read_of "kjson_str_or(record, \"eval.sttus\", \"\")" "eval.sttus: there is no \"sttus\""
	read_of "krec_str(\n\t&rec, \"sample.status.code\")" "\"status\" has no \"code\""
	read_of "kjson_foreach(row, record, \"eval.timngs\")" "there is no \"timngs\""
	read_of "kjson_num_or(json_object_get(record, \"eval\"), \"log\", 0)" "\"log\" is no number"'

null_campaign c 3
ok 'every file of a campaign' '
	cd c
	make -s -j2 trials N=3
	is 12 "$(printf "%s\n" trials/00[1-3]/*/reply.ndjson | wc -l)"
	kclassify --thin trials/001/*/eval.ndjson >coords; kaudit --thin coords >audit
	valid part-1 trials/*/*/*.ndjson trials/*/score.ndjson coords audit
	for b in 01 02 03 04; do kcampaign record 003/$b; done >whole.ndjson
	valid candidate-1 whole.ndjson
	valid archive-1 trials/*/archive.ndjson
	valid gradient-2 trials/*/gradient.ndjson
	valid machine-1 trials/000/machine.json'

# A real evaluation, as short as possible.
kcampaign new real --task "$KILN_DATA/tests/tasks/affine" >/dev/null
jq '.eval = {seeds: 1, timing_s: 0.05, min_samples: 5, threads: 1}' real/campaign.json >new.json
mv new.json real/campaign.json
ok 'an evaluation' '
	cd real
	keval --reference -o eval.ndjson
	valid candidate-1 eval.ndjson
	jq -e ".eval | .status == \"correct\" and .tier == 3 and has(\"environment\")" eval.ndjson'
ok 'a verdict of the harness' '
	cd real
	gcc -O2 -fopenmp -shared -fPIC -o kernel.so reference.c -lm
	gcc -O2 -fopenmp -shared -fPIC -DREAL=double -o oracle.so reference.c -lm
	kharness -t task.json --seeds 1 --timing-s 0.05 --min-samples 15 --threads 1 --oracle oracle.so --against same=kernel.so \
		-o verdict.ndjson kernel.so
	valid harness-1 verdict.ndjson
	jq -e ".pairs | length > 0" verdict.ndjson'
done_testing
