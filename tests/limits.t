#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Something too large fails its candidate and nothing else: the later stages can read what was written, and the campaign
# continues.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
KILN_NOW=2026-11-21T12:00:00Z
XDG_RUNTIME_DIR=$T/runtime
export KILN_NOW XDG_RUNTIME_DIR
mkdir -m 700 runtime

# answer BYTES: a reply with a kernel, and a comment before it that gives it that length. With ESCAPES each byte takes
# six.
cat >answer <<'E'
#!/bin/sh
head -c "$1" /dev/zero | tr '\0' "${2:-x}"
printf '\n```c\nvoid softmax(const float *x, float *y, int m, int n)\n{\n\tfor (int i = 0; i < m * n; i++)\n\t\ty[i] = x[i];\n}\n```\n'
E
chmod +x answer
PATH=$T:$PATH
export PATH
null_campaign c 2
jq '.search.branches = 1' c/campaign.json >new && mv new c/campaign.json
cat >helpers.sh <<'E'
provider() { jq --arg p "$1" '.model.provider = $p' c/campaign.json >new && mv new c/campaign.json; rm -rf c/trials c/archive.ndjson; }
# failed TRIAL: its candidate failed as too large, and every stage has passed it on.
failed() {
	kcampaign record -c c "$1/01" |
		jq -e '.eval.status == "no_code" and .eval.reasons[0].check == "too_large"' >/dev/null
	for f in 01/eval score; do
		[ "$(wc -c <c/trials/"$1"/$f.ndjson)" -lt 67108864 ]
	done
	jq -e '.score.correct == false' c/trials/"$1"/score.ndjson
}
# padded BYTES FILE: the record with its text replaced by that many bytes; jq is slow with such texts.
padded() {
	jq -c '.reply.text = "HERE"' "$2" | awk -v n="$1" '{ i = index($0, "HERE"); printf "%s", substr($0, 1, i - 1); fflush()
		system("head -c " n " /dev/zero | tr \"\\\\0\" x"); print substr($0, i + 4) }' >padded
	mv padded "$2"
}
# recorded BYTES: a recording of such a reply.
recorded() { echo '{"reply":{"text":"","finish":"stop"}}' >rec; padded "$1" rec; cat rec; }
runs() { make -s -C c trials N="$1" >out 2>err || { cat out err; return 1; }; }
E
t() { ok "$1" '. ./helpers.sh; '"$2"; }

t 'exec: an answer of 5 MB, one that is 6 times as long escaped, and one without end are failed candidates' '
	provider "exec:if [ \$KLLM_SAMPLE = 001/01 ]; then answer 5000000; else answer 1000000 \"\\001\"; fi"
	runs 2; failed 001; failed 002
	jq -e ".reply | (.text | length) < 4194305 and (.flags | index(\"too_large\") != null)" c/trials/001/01/reply.ndjson
	provider "exec:yes"
	runs 1; failed 001'

t 'a reply of 4 MB less a little is none: its program is evaluated' '
	provider "exec:answer 4100000"
	runs 1; kcampaign record -c c 001/01 | jq -e ".eval.code_sha256 and .eval.status != \"no_code\""'

t 'a program of more than 1 MB is a failed candidate, of a reply that is not' '
	provider "exec:printf \"\\140\\140\\140c\\n/*\"; answer 1100000 | tr -d \\140; printf \"*/\\n\\140\\140\\140\\n\""
	runs 1; failed 001; grep -q "the program takes more" c/trials/001/01/eval.ndjson
	jq -e ".reply.flags == []" c/trials/001/01/reply.ndjson'

t 'replay: a recorded text, a recorded member, a line longer than any' '
	provider replay; mkdir -p c/replies/001 c/replies/002
	recorded 40000000 >c/replies/001/01.ndjson
	jq -nc "{text: \"short\", finish: \"stop\", note: (\"x\" * 20000000)}" >c/replies/002/01.ndjson
	runs 2; failed 001; failed 002
	recorded 90000000 >c/replies/001/01.ndjson
	rm -r c/trials c/archive.ndjson
	runs 1; failed 001'

t 'file: reply.txt above the limit, far above it, and reply.json' '
	provider file
	for size in 5000000 40000000; do
		rm -rf c/trials c/archive.ndjson
		exits 75 kcampaign -c c run --trials 1
		answer $size >c/trials/001/01/reply.txt; touch -d "1 minute ago" c/trials/001/01/reply.txt
		runs 1; failed 001
	done
	rm -rf c/trials c/archive.ndjson
	exits 75 kcampaign -c c run --trials 1
	printf "{\"text\":\"%s\"}" "$(head -c 33600000 /dev/zero | tr "\0" x)" >c/trials/001/01/reply.json; touch -d "1 minute ago" c/trials/001/01/reply.json
	runs 1; failed 001'

t 'http: an event without end, and a body without end' '
	kmock port requests & mock=$!
	while [ ! -s port ]; do kill -0 $mock; sleep 0.02; done
	unset OPENAI_API_KEY OPENAI_BASE_URL
	for scenario in huge-line huge-body; do
		provider openai
		jq --arg u "http://127.0.0.1:$(cat port)/$scenario@1/v1" ".model += {base_url: \$u, name: \"mock\"}" c/campaign.json >new
		mv new c/campaign.json
		runs 1; failed 001
		jq -e ".reply.flags | index(\"too_large\") != null" c/trials/001/01/reply.ndjson
		[ ! -e c/trials/001/01/reply.spool ]
		is 1 "$(grep -c "\"scenario\":\"$scenario@1\"" requests)"
	done
	kill $mock'

t 'a campaign that an oversized record holds up gets free by the same command' '
	provider null; runs 1
	rm c/trials/001/*.ndjson c/archive.ndjson
	padded 70000000 c/trials/001/01/eval.ndjson
	runs 1; grep -q "eval.ndjson exceeds the limit for a record" err; kcampaign record -c c 001/01 | jq -e ".eval.status"
	rm c/trials/001/*.ndjson c/trials/001/01/eval.ndjson* c/archive.ndjson
	padded 66000000 c/trials/001/01/reply.ndjson
	runs 1; failed 001
	rm c/trials/001/*.ndjson c/trials/001/01/eval.ndjson* c/archive.ndjson
	padded 70000000 c/trials/001/01/reply.ndjson
	runs 1; [ -e c/trials/001/01/reply.ndjson.too_large ]; kcampaign record -c c 001/01 | jq -e ".eval.code_sha256"'

t 'a custom evaluator that says too much fails its candidate' '
	provider null
	jq ".eval = {evaluator: \"harness\", correctness: {command: \"head -c 9000000 /dev/zero | tr \\\"\\\\\\\\0\\\" x | jq -Rsc \\\"{passed: 1, total: 1, note: .}\\\"\", sandbox: false}}" \
		c/campaign.json >c/custom.json
	mkdir -p custom; cp -r c/. custom; mv custom/custom.json custom/campaign.json
	printf "void softmax(const float *x, float *y, int m, int n) { for (int i = 0; i < m * n; i++) y[i] = x[i]; }\n" >k.c
	jq -Rsc "{schema: \"candidate/1\", trial: 1, branch: 1, id: \"001/01\", reply: {text: (\"\`\`\`c\\n\" + . + \"\`\`\`\"), finish: \"stop\", flags: []}}" k.c >r
	keval -c custom -o e r
	[ "$(wc -c <e)" -lt 9000000 ]; jq -e ".eval.reasons[0].check" e'

t 'a program with a NUL is refused by its name and offset' '
	printf "int a;\\0int b;\n" >nul.c
	exits 2 keval -c c --code nul.c; grep -q "nul.c: byte 6 (line 1) is a NUL character" err
	exits 2 kaudit -b c --source nul.c; grep -q "nul.c: byte 6" err'

t 'credentials reach neither the tools around a candidate nor what they start' '
	export HF_TOKEN=leak1 GITHUB_TOKEN=leak2 AWS_PROFILE=leak3 AWS_SECRET_ACCESS_KEY=leak4 DATABASE_URL=postgres://me:leak5@host/db PLAIN=here
	printf "env >%s/seen\ncat /proc/\$PPID/environ >>%s/seen\nexit 1\n" "$T" "$T" >build.sh
	jq ".eval = {evaluator: \"harness\", build: {command: \"sh $T/build.sh\", sandbox: false}}" c/campaign.json >custom/campaign.json
	keval -c custom --code k.c >e
	grep -q PLAIN=here seen
	not grep -a leak seen
	for tool in "kclassify -c c" "kaudit -c c"; do
		mkfifo -m 600 pipe; $tool pipe >/dev/null 2>&1 & pid=$!
		exec 3>pipe; sleep 0.3
		tr "\0" "\n" </proc/$pid/environ | not grep leak
		exec 3>&-; wait $pid || :; rm pipe
	done'

t 'a task of another schema is refused by kprompt, too' '
	mkdir other; cp c/*.json c/*.c other; edit other/task.json ".schema = \"task/9\""; edit other/campaign.json ".task = \"task.json\""
	exits 2 kprompt -c other "$tests_dir/golden/kprompt/record.json"; grep -q "task.json: schema: must be .task/1" err
	exits 2 kprompt -c other --digest c/trials/001/01/eval.ndjson'
done_testing
