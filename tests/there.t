#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files whose existence cannot be determined do not count as missing. A link to itself stands for a disk that fails.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

echo '{"name":"null","eval":{"evaluator":"null"}}' >campaign.json
printf '%s\n' '{"schema":"candidate/1","trial":1,"branch":1,"id":"001/01","reply":{"text":"```c\nint f(void);\n```"}}' >reply

ok 'the null evaluator: a task whose existence is unknown' '
	exits 0 keval reply
	ln -s task.json task.json
	exits 4 keval reply
	grep -q "task.json: Too many levels" err'
ok 'karchive: a fact that a record names' '
	. "$tests_dir/campaign.sh"; null_campaign c 1
	cd c
	kcampaign run --trials 1 >/dev/null
	exits 0 karchive -a trials/000/archive.ndjson trials/001/score.ndjson
	ln -sf sample.ndjson trials/001/01/sample.ndjson
	exits 4 karchive -a trials/000/archive.ndjson trials/001/score.ndjson
	grep -q "sample.ndjson: Too many levels" err'
done_testing
