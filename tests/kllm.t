#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kllm: the providers, what a record then contains, what misbehaving servers lead to, and that nothing is paid for twice
# or leaks.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"

cat >campaign.json <<'EOF'
{"name":"t","seed":42}
EOF
printf 'You write kernels.\nThe stable part.\nWrite a kernel.' | sha256sum | cut -d' ' -f1 >sum
jq -cn --arg sum "$(cat sum)" '{schema: "candidate/1", campaign: "t", trial: 1, branch: 2, id: "001/02",
	sample: {parent: {id: "000/00", code: "void\nf(void)\n{\n}\n"}},
	prompt: {system: "You write kernels.", user: "The stable part.\nWrite a kernel.", stable_bytes: 17, sha256: $sum, sections: ["goal"]}}' \
	>prompt.ndjson
XDG_RUNTIME_DIR=$T/runtime
KILN_NOW=2026-11-21T12:00:00Z
export XDG_RUNTIME_DIR KILN_NOW
mkdir -m 700 runtime
unset OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OPENAI_BASE_URL ANTHROPIC_BASE_URL KLLM_KEY_FILE KLLM_MODELS

kmock port requests & mock=$!
# If a server cannot start, the file fails at once, and nobody waits for it.
while [ ! -s port ]; do kill -0 $mock; sleep 0.02; done
MOCK=http://127.0.0.1:$(cat port)
export MOCK
cat >ask.sh <<'EOF'
ask() { kllm -c "$T" -k model.backoff_s=0.02 -k model.name=mock "$@"; }
http() { s=$1 api=$2; shift 2; ask -k "model.provider=$api" -k "model.base_url=$MOCK/$s/v1" "$@"; }
requests() { grep -c "\"scenario\":\"$1\"" "$T/requests" || :; }
# table MEMBERS [PROVIDER MATCH]: a table of models with one row.
table() {
	printf '{"schema": "models/1", "models": [{"provider": "%s", "match": "%s", %s}]}\n' "${2-local}" "${3-*}" "$1" >table
	export KLLM_MODELS="$PWD/table"
}
fresh() { rm -rf "$T/runtime" "$T/.spend" d; mkdir -m 700 "$T/runtime"; mkdir d; }
P=$T/prompt.ndjson
EOF
t() { ok "$1" '. "$T/ask.sh"; '"$2"; }

t 'usage, version, wrong options' '
	exits 0 kllm --help; grep -q "^usage: kllm" out
	exits 0 kllm --version; grep -q "^kllm [0-9]" out
	exits 2 kllm --wrong
	exits 2 kllm a b; grep -q "give one prompt only" err
	exits 2 kllm -c /nonexistent x
	exits 2 ask -k model.provider=nobody "$P"; grep -q "must be one of" err
	exits 2 ask -k model.stall=3 "$P"; grep -q "did you mean model.stall_s" err
	exits 2 ask -k nonsense "$P"; grep -q "NAME=VALUE" err
	exits 2 kllm -c "$T" -k model.provider=openai "$P"; grep -q "model.name: is missing" err'
t 'one record with a prompt and without a reply' '
	exits 2 ask -k model.provider=null /dev/null; grep -q "no record" err
	cat "$P" "$P" >two; exits 2 ask -k model.provider=null two; grep -q "more than one" err
	jq -c ".reply = {}" "$P" >has; exits 2 ask -k model.provider=null has; grep -q "already has a reply" err
	jq -c "del(.prompt)" "$P" >none; exits 2 ask -k model.provider=null none; grep -q "prompt.system" err
	printf "{\"trial\":1" >torn; exits 2 ask -k model.provider=null torn'

t 'null: an answer at once, the same each time, different for each branch' '
	ask -k model.provider=null -o a "$P"; ask -k model.provider=null -o b - <"$P"; cmp a b
	jq -e ".reply | .provider == \"null\" and .cost_usd == 0 and .usage.estimated and (has(\"time\") | not)" a
	jq -j .reply.text a >text; head -n 2 text | tail -n 1 | grep -qx void
	is "\`\`\`c" "$(head -n 1 text)"; is "\`\`\`" "$(tail -n 1 text)"
	jq -c ".branch = 3" "$P" >other; ask -k model.provider=null -o c other; not cmp -s a c'
t 'null: code stays bounded over 300 generations, for every backend' '
	for backend in c cuda opencl sycl triton; do
		cp "$P" in
		for g in 1 2 3 4 5 6 7 8 9 10; do
			ask -k model.provider=null -k "backend=$backend" -o out in
			jq -c --argjson g "$g" ".branch = \$g | .sample.parent.code = (.reply.text | split(\"\n\")[1:-2] | join(\"\n\")) | del(.reply)" \
				out >in
		done
		[ "$(jq -r .sample.parent.code in | wc -l)" -le 20 ] || { jq -r .sample.parent.code in; false; }
		is 1 "$(jq -r .sample.parent.code in | grep -c "null model")"
	done'

t 'replay: a recorded record or a bare reply; whether it answered this prompt' '
	mkdir -p "$T/replies/001"; R=$T/replies/001/02.ndjson
	ask -k model.provider=null -o rec "$P"; cp rec "$R"
	ask -k model.provider=replay -o a "$P"
	jq -e ".reply.recorded == {prompt_match: true, source: \"replies/001/02.ndjson\"}" a
	jq -c .reply rec >"$R"; ask -k model.provider=replay -o b "$P"; jq -en --slurpfile a a --slurpfile b b "\$a == \$b"
	jq -c ".reply | .prompt_sha256 = \"other\"" rec >"$R"; ask -k model.provider=replay -o b "$P"
	jq -e ".reply.recorded.prompt_match == false and .reply.prompt_sha256 == \"other\"" b
	jq -c "del(.reply.prompt_sha256)" rec >"$R"; ask -k model.provider=replay -o b "$P"; jq -e .reply.recorded.prompt_match b
	echo "{\"finish\":\"stop\"}" >"$R"; exits 2 ask -k model.provider=replay "$P"; grep -q "has no .text" err
	: >"$R"; exits 2 ask -k model.provider=replay "$P"
	rm "$R"; exits 3 ask -k model.provider=replay -o absent "$P"; grep -q "no recorded reply" err; [ ! -e absent ]'

t 'file: the prompt is written, the answer awaited, then taken' '
	fresh; F="ask -k model.provider=file -o d/reply.ndjson"
	exits 75 $F "$P"; grep -q "waiting for d/reply.txt" err; grep -q "^Write a kernel.$" d/prompt.md; [ ! -e d/reply.ndjson ]
	touch -d "1 hour ago" d/prompt.md; cp -p d/prompt.md old; exits 75 $F "$P"; [ ! d/prompt.md -nt old ]
	: >d/reply.txt; exits 75 $F "$P"
	echo answer >d/reply.txt; touch -d "1 minute ago" d/reply.txt; $F "$P"
	jq -e ".reply | .text == \"answer\n\" and .provider == \"file\" and .model == \"mock\"" d/reply.ndjson'
t 'file: an answer that is still being written is waited for' '
	fresh; (for i in 1 2 3; do echo "line $i"; sleep 0.3; done >d/reply.txt) &
	sleep 0.1; ask -k model.provider=file -o d/reply.ndjson "$P"
	is "line 1 line 2 line 3 " "$(jq -r .reply.text d/reply.ndjson | tr "\n" " " | sed "s/  */ /g")"'
t 'file: reply.json with model, usage and cost; faults in it are named' '
	fresh; F="ask -k model.provider=file -o d/reply.ndjson"
	printf "{\"text\":\"x\",\"model\":\"claude-haiku-4-5\",\"finish\":\"length\",\"usage\":{\"input_tokens\":100,\"output_tokens\":10,\"cache_read_input_tokens\":50}}" >d/reply.json
	touch -d "1 minute ago" d/reply.json; $F "$P"
	jq -e ".reply | .finish == \"length\" and .usage.input_tokens == 150 and .cost_usd == 0.000155" d/reply.ndjson
	rm d/reply.ndjson; echo "{" >d/reply.json; touch -d "1 minute ago" d/reply.json; exits 2 $F "$P"; grep -q "reply.json:" err
	echo "{}" >d/reply.json; touch -d "1 minute ago" d/reply.json; exits 2 $F "$P"; grep -q "text" err'
t 'file: an answer to an earlier prompt is put aside' '
	fresh; F="ask -k model.provider=file -o d/reply.ndjson"
	exits 75 $F "$P"; echo old >d/reply.txt; touch -d "1 minute ago" d/reply.txt
	jq -c ".prompt.user = \"Another.\" | .prompt.sha256 = \"0\"" "$P" >other
	exits 75 $F other; is old "$(cat d/reply.txt.old)"; [ ! -e d/reply.txt ]; grep -q "^Another.$" d/prompt.md
	exits 2 ask -k model.provider=file other; grep -q "needs -o" err'

t 'exec: prompt on stdin, system text in a file, an empty folder, escapes removed' '
	ask -k "model.provider=exec:cat \"\$KLLM_SYSTEM_FILE\"; echo; cat; echo; ls | wc -l; echo \$KLLM_MODEL \$KLLM_MAX_TOKENS \$KLLM_SAMPLE; printf \"\\033[31mred\\033[0m \\033]0;title\\007x\\r\\n\"" -o a "$P"
	jq -r .reply.text a >text
	printf "You write kernels.\nThe stable part.\nWrite a kernel.\n0\nmock 16000 001/02\nred x\n\n" >want; same want text
	jq -e ".reply | .provider == \"exec\" and .ms.total > 0 and .finish == \"stop\"" a
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name "kllm.??????" -newer want)" ]'
t 'exec: exit codes' '
	exits 75 ask -k "model.provider=exec:echo busy >&2; exit 75" "$P"; grep -q "rate: .*busy" err
	exits 2 ask -k "model.provider=exec:exit 77" "$P"; grep -q ": auth:" err
	exits 3 ask -k "model.provider=exec:no-such-command-here" "$P"
	exits 2 ask -k "model.provider=exec:echo sk-ant-Abcdefgh12345678Zz >&2; exit 1" "$P"; grep -q "redacted" err; not grep -q Abcdefgh err
	exits 2 ask -k "model.provider=exec:kill -9 \$\$" "$P"; grep -q "signal 9" err
	exits 75 ask -k model.timeout_s=1 -k "model.provider=exec:sleep 9" "$P"; grep -q ": timeout:" err
	ask -k "model.provider=exec:yes" "$P" | jq -e ".reply.flags == [\"too_large\"]"
	exits 2 ask -k "model.provider=exec: " "$P"; grep -q "has no command" err'
t 'exec-json: an answer with usage and cost, or what is wrong with it' '
	J="{\"text\":\"hi\",\"model\":\"m-2\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4},\"cost_usd\":0.25}"
	ask -k "model.provider=exec-json:echo '\''$J'\''" -o a "$P"
	jq -e ".reply | .text == \"hi\" and .model == \"m-2\" and .usage.input_tokens == 3 and .cost_usd == 0.25" a
	ask -k "model.provider=exec-json:echo {\\\"text\\\":\\\"hi\\\"}" -o a "$P"; jq -e ".reply | has(\"usage\") | not" a
	exits 2 ask -k "model.provider=exec-json:echo {}" "$P"; grep -q "protocol: no .text" err
	exits 2 ask -k "model.provider=exec-json:echo no" "$P"; grep -q "not JSON" err'
t 'exec: presets are data' '
	mkdir -p bin; printf "#!/bin/sh\necho \"\$@\" >args; cat >/dev/null; echo \"{\\\"result\\\":\\\"from claude\\\",\\\"usage\\\":{\\\"input_tokens\\\":1,\\\"output_tokens\\\":1}}\"\n" >bin/claude
	chmod +x bin/claude; PATH=$PWD/bin:$PATH ask -k model.provider=exec:claude -o a "$P"
	jq -e ".reply | .text == \"from claude\" and .usage.output_tokens == 1" a
	printf "#!/bin/sh\necho \"{\\\"is_error\\\":true,\\\"result\\\":\\\"limit\\\"}\"\n" >bin/claude
	PATH=$PWD/bin:$PATH exits 2 ask -k model.provider=exec:claude "$P"; grep -q "permanent: .*limit" err
	printf "#!/bin/sh\necho no login >&2; exit 3\n" >bin/claude
	PATH=$PWD/bin:$PATH exits 2 ask -k model.provider=exec:claude "$P"; grep -q "permanent: .*status 3: no login" err'

ok 'every scenario of the server is expected, for both APIs' '
	kmock --list | grep -v "^faulty\|^fresh" | sort >list; cut -f1 "$tests_dir/mock/expected.tsv" | sort | uniq -c | awk "{print \$2}" >have
	same list have'
for scenario in $(cut -f1 "$tests_dir/mock/expected.tsv" | uniq); do
	S=$scenario
	export S
	ok "server: $scenario" '
		sh "$tests_dir/mock/play.sh" "$S" openai >"$S.o" & a=$!
		sh "$tests_dir/mock/play.sh" "$S" anthropic >"$S.a" || :
		wait $a || :
		awk -F "\t" -v s="$S" "\$1 == s" "$tests_dir/mock/expected.tsv" >"$S.want"; cat "$S.o" "$S.a" >"$S.got"; same "$S.want" "$S.got"'
done

t 'a redirect is not followed, and a refused parameter is not sent again' '
	is 0 "$(requests stolen)"
	jq -e -s "map(select(.scenario == \"temperature@openai\") | .keys | index(\"temperature\") != null) == [true, false]" "$T/requests"
	jq -e -s "map(select(.scenario == \"temperature@anthropic\") | .keys | index(\"temperature\") != null) == [true, false]" "$T/requests"
	jq -e -s "map(select(.scenario == \"cap-field@openai\") | .keys | index(\"max_completion_tokens\") != null) == [false, true]" "$T/requests"'
t 'truncation: twice the cap, and no more' '
	jq -e -s "map(select(.scenario == \"length-for-ever@anthropic\") | [.cap, .turns]) == [[1000, 1], [2000, 1]]" "$T/requests"
	jq -e -s "map(select(.scenario == \"length-for-ever@openai\") | [.cap, .turns]) == [[1000, 2], [2000, 2]]" "$T/requests"
	jq -e -s "map(select(.scenario == \"length-tail@openai\")) | length == 1" "$T/requests"'
t 'cost: usage times the table, to the nano-dollar, for both APIs' '
	fresh; table "\"input\": 3, \"cache_read\": 0.3, \"cache_write\": 3.75, \"output\": 15"
	http usage@1 openai -o d/a "$P"; http usage@2 anthropic -o d/b "$P"
	# 600 plain + 400 read + 200 out; 500 plain + 400 read + 100 written + 200 out.
	jq -e ".reply.cost_usd * 1e9 | round == 600 * 3000 + 400 * 300 + 200 * 15000" d/a
	jq -e ".reply.cost_usd * 1e9 | round == 500 * 3000 + 400 * 300 + 100 * 3750 + 200 * 15000" d/b
	jq -e ".reply.usage == {input_tokens: 1000, output_tokens: 200, reasoning_tokens: 150, cache_read_tokens: 400, cache_write_tokens: 100}" d/b
	is "spent_nanousd 00000000000009915000" "$(cat "$T/.spend")"
	echo "no table" >table; exits 2 http usage@3 openai "$P"; grep -q "table:" err'
t 'cost: an answer whose tokens the server did not count is not free' '
	fresh; table "\"input\": 3, \"output\": 15"
	for api in openai anthropic; do
		http no-count@1 $api -o d/a "$P"
		jq -e ".reply | .usage.estimated and .usage.input_tokens == 1000 and .usage.output_tokens > 30 and
			(.cost_usd * 1e6 | round == 3000 + 15 * \$u)" --argjson u "$(jq .reply.usage.output_tokens d/a)" d/a
	done'
t 'cost: an unknown model has none, and that is said once' '
	fresh; table "\"input\": 3, \"output\": 15" x known
	http usage@4 openai -o d/a "$P" 2>err; grep -q "no row for model .mock" err; jq -e ".reply | has(\"cost_usd\") | not" d/a
	http usage@5 openai -o d/b "$P" 2>err; not grep -q "no row" err
	exits 2 http usage@6 openai -k stop.budget_usd=1 -o d/c "$P"; grep -q "budget: .*is unknown" err; is 0 "$(requests usage@6)"'
t 'budget: refused before sending; what failed unbilled is given back' '
	fresh; table "\"input\": 3, \"output\": 15"
	exits 2 http ok@b1 openai -k stop.budget_usd=0.01 -k model.max_tokens=1000 -o d/a "$P"; grep -q "budget:" err; is 0 "$(requests ok@b1)"
	http ok@b2 openai -k stop.budget_usd=0.05 -k model.max_tokens=1000 -o d/a "$P"
	exits 2 http auth@b3 openai -k stop.budget_usd=0.05 -k model.max_tokens=1000 -o d/b "$P"
	is "$(jq ".reply.cost_usd * 1e9 | round" d/a)" "$(cut -d" " -f2 "$T/.spend" | sed "s/^0*//")"
	rm -rf "$T/runtime"; mkdir -m 700 "$T/runtime"
	exits 75 http stall@b4 openai -k model.stall_s=0.2 -k model.retries=1 -k model.max_tokens=1000 -o d/c "$P"
	[ "$(cut -d" " -f2 "$T/.spend" | sed "s/^0*//")" -gt 15000000 ]'

t 'a key that is refused stops the calls that follow' '
	fresh; exits 2 http auth@s openai "$P"; grep -q ": auth: Incorrect" err
	exits 2 http ok@s openai "$P"; grep -q "not sent, because the call before it failed: Incorrect" err; is 0 "$(requests ok@s)"'
t 'an overloaded server has every other call wait, too' '
	fresh; exits 75 http overloaded-long@o1 openai "$P"; grep -q ": overload: .*asks to wait 400 s" err
	exits 124 timeout 0.5 kllm -c "$T" -k model.provider=openai -k model.name=mock -k "model.base_url=$MOCK/ok@o2/v1" "$P"
	is 0 "$(requests ok@o2)"'
t 'without libcurl only servers are out of reach' '
	fresh; mkdir -p lib; echo nothing >lib/libcurl.so.4; export LD_LIBRARY_PATH=$PWD/lib
	exits 3 http ok@c1 openai -o d/a "$P"; grep -q "cannot load libcurl" err; is 0 "$(requests ok@c1)"
	ask -k model.provider=null -o d/b "$P"'
t 'keys: file of mode 0600 only, environment, none for a server elsewhere' '
	fresh; echo "  sk-file-Key123456789012  " >key; chmod 644 key
	exits 2 http ok@k1 openai -k model.key_file=key "$P"; grep -q "chmod 600" err
	chmod 600 key; http ok@k2 openai -k model.key_file=key -o d/a "$P"; jq -e -s "any(.scenario == \"ok@k2\" and .auth)" "$T/requests"
	http ok@k3 openai -o d/b "$P"; jq -e -s "any(.scenario == \"ok@k3\" and (.auth | not))" "$T/requests"
	KLLM_KEY_FILE=key http ok@k4 anthropic -o d/c "$P"; jq -e -s "any(.scenario == \"ok@k4\" and .auth)" "$T/requests"
	OTHER=sk-env-Key123456789012 http ok@k5 anthropic -k model.key_env=OTHER -o d/d "$P"; jq -e -s "any(.scenario == \"ok@k5\" and .auth)" "$T/requests"
	ANTHROPIC_AUTH_TOKEN=tok123456 http ok@k6 anthropic -o d/e "$P"; jq -e -s "any(.scenario == \"ok@k6\" and .auth)" "$T/requests"
	exits 2 http ok@k7 openai -k model.key_file=d "$P"; grep -q "not a regular file" err
	exits 2 http ok@k8 openai -k model.key_file=none "$P"
	printf "two\nlines\n" >key; exits 2 http ok@k9 openai -k model.key_file=key "$P"; grep -q "invalid characters" err
	exits 2 ask -k model.provider=openai -k model.base_url=https://models.example/v1 "$P"; grep -q "auth: no key" err'
t 'check: why the model cannot be asked, with no record and nothing sent' '
	fresh; exits 2 ask --check -k model.provider=openai </dev/null; grep -q "auth: no key found: set OPENAI_API_KEY" err
	exits 2 ask --check -k model.provider=openai -k model.name= </dev/null; grep -q "model.name: is missing" err
	exits 2 ask --check --feedback -k model.provider=null -k feedback.provider=anthropic </dev/null; grep -q ANTHROPIC_API_KEY err
	OPENAI_API_KEY=sk-Abc1234567 exits 0 http ok@ck openai --check; [ ! -s out ]; is 0 "$(requests ok@ck)"
	exits 0 ask --check -k model.provider=null </dev/null'
t 'addresses: https, or this machine; nothing else' '
	for u in http://models.example/v1 ftp://127.0.0.1/v1 "http://127.0.0.1.models.example/v1" http://10.0.0.1/v1; do
		OPENAI_API_KEY=sk-Abc1234567 exits 2 ask -k model.provider=openai -k "model.base_url=$u" "$P"
	done
	exits 2 ask -k model.provider=openai -k model.base_url=http://user:pw@127.0.0.1/v1 "$P"; grep -q "user name or password" err
	exits 2 ask -k model.provider=openai -k "model.base_url=http://127.0.0.1/ x" "$P"; grep -q "white space" err'
t 'the base address may come from the environment' '
	fresh; OPENAI_BASE_URL=$MOCK/ok@e1/v1/ ask -k model.provider=openai -o d/a "$P"
	ANTHROPIC_BASE_URL=$MOCK/ok@e2 ask -k model.provider=anthropic -o d/b "$P"; is 1 "$(requests ok@e2)"'
t 'a prompt that holds a key is not sent' '
	fresh; for key in sk-proj-aB3aB3aB3aB3aB3aB3 AKIAIOSFODNN7EXAMPLE ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa hf_abcdefghijABCDEFGHIJabcdefghij1234 AIzaSyA1234567890abcdefghijklmnopqrstuv; do
		jq -c --arg k "$key" ".prompt.user += \$k" "$P" >leak
		exits 2 http ok@leak openai leak; grep -q "looks like a key" err; not grep -q -e "$key" err
	done
	# What only begins like a key hides none, however long it is.
	{ printf sk-; head -c 2200000 /dev/zero | tr "\0" a; } >long
	jq -c --rawfile l long ".prompt.user += \$l + \" AKIAIOSFODNN7EXAMPLE\"" "$P" >endless
	exits 2 http ok@leak openai endless; grep -q "looks like a key" err
	# One that begins again and again takes no longer.
	yes sk- | head -n 300000 | tr -d "\n" >many; jq -c --rawfile l many ".prompt.user += \$l + \" AKIAIOSFODNN7EXAMPLE\"" "$P" >again
	prlimit --pid $$ --cpu=10; exits 2 http ok@leak openai again; grep -q "looks like a key" err
	is 0 "$(requests ok@leak)"
	http ok@leak openai --allow-secrets -o d/a leak; is 1 "$(requests ok@leak)"
	jq -c ".prompt.user += \" task-mask-x[sk-some_long_name_of_a_variable]\"" "$P" >code; http ok@code openai -o d/b code'
t 'the key is not in the environment or the arguments of any process' '
	fresh; OPENAI_API_KEY=sk-CANARY-Seen0000001 http slow@env openai -o d/a "$P" & pid=$!
	sleep 0.15
	for p in $pid $(cat /proc/$pid/task/$pid/children 2>/dev/null || :); do
		# The shell that runs this has the key in its own text.
		[ "$(tr "\0" " " <"/proc/$p/cmdline" | head -c 3)" != "sh " ] || continue
		tr "\0" "\n" <"/proc/$p/cmdline" >>cmd 2>/dev/null || :; tr "\0" "\n" <"/proc/$p/environ" >>env.txt 2>/dev/null || :
	done
	wait $pid; grep -q kllm cmd; not grep -q CANARY cmd
	if [ "$(id -u)" -ne 0 ]; then not grep -q CANARY env.txt; fi'

t 'cache: a breakpoint behind a long stable part, none behind a short one' '
	fresh; head -c 12000 /dev/zero | tr "\0" "x" >long
	jq -c --rawfile l long ".prompt.user = \$l + .prompt.user | .prompt.stable_bytes = 12000" "$P" >big
	http ok@c1 anthropic -o d/a big; http ok@c2 anthropic -o d/b "$P"
	http ok@c4 openai -o d/d big
	for s in c1:1 c2:0 c4:0; do jq -e -s --arg s "ok@${s%:*}" --argjson n "${s#*:}" "any(.scenario == \$s and .marks == \$n)" "$T/requests"; done'
t 'effort, by API and by model' '
	fresh; http ok@f1 openai -k model.effort=high -o d/a "$P"; http ok@f2 anthropic -k model.effort=high -o d/b "$P"
	jq -e -s "any(.scenario == \"ok@f1\" and (.keys | index(\"reasoning_effort\")))" "$T/requests"
	jq -e -s "any(.scenario == \"ok@f2\" and (.keys | index(\"output_config\")))" "$T/requests"
	table "\"adaptive\": true, \"sampling\": false, \"max_out\": 4096"
	http ok@f3 anthropic -k model.effort=high -k model.temperature=0.3 -o d/c "$P"
	jq -e -s "any(.scenario == \"ok@f3\" and (.keys | index(\"thinking\")) and (.keys | index(\"temperature\") | not) and .cap == 4096)" "$T/requests"'

t 'resume: a whole answer in the spool is not paid for again' '
	fresh; mkdir d/reply.ndjson; exits 4 http usage@r1 openai -o d/reply.ndjson "$P"
	rmdir d/reply.ndjson; [ -s d/reply.spool ]; head -n 1 d/reply.spool | jq -e ".schema == \"exchange/1\" and .step == 1"
	ask -k model.provider=openai -k model.base_url=http://127.0.0.1:1/v1 -o d/reply.ndjson "$P"
	jq -e ".reply | .flags == [\"resumed\"] and .usage.input_tokens == 1000" d/reply.ndjson
	[ ! -e d/reply.spool ]; is 1 "$(requests usage@r1)"'
t 'resume: of two requests only the missing one is sent' '
	fresh; mkdir d/reply.ndjson; exits 4 http length-raise@r2 anthropic -k model.max_tokens=1000 -o d/reply.ndjson "$P"; rmdir d/reply.ndjson
	head -n 1 d/reply.spool2 >cut; mv cut d/reply.spool2
	http length-raise@r2 anthropic -k model.max_tokens=1000 -o d/reply.ndjson "$P"; is 3 "$(requests length-raise@r2)"
	jq -e ".reply | .flags == [\"resumed\", \"cap_raised\", \"cost_unknown\"] and .attempts == 1" d/reply.ndjson
	is "$(printf "%s" d/reply.ndjson)" "$(ls d/reply*)"'
t 'resume: an intent without an answer means that the cost is unknown; another prompt is another matter' '
	fresh; mkdir d/reply.ndjson; exits 4 http ok@r3 openai -o d/reply.ndjson "$P"; rmdir d/reply.ndjson
	cp d/reply.spool whole; head -c -40 whole >d/reply.spool; http ok@r4 openai -o d/reply.ndjson "$P"
	jq -e ".reply.flags == [\"cost_unknown\"]" d/reply.ndjson; rm d/reply.ndjson
	jq -c ".prompt.sha256 = \"0\"" "$P" >other; cp whole d/reply.spool; http ok@r5 openai -o d/reply.ndjson other
	jq -e ".reply.flags == []" d/reply.ndjson; is 1 "$(requests ok@r5)"; rm d/reply.ndjson
	echo rubbish >d/reply.spool; http ok@r6 openai -o d/reply.ndjson "$P"; jq -e ".reply.flags == []" d/reply.ndjson'
t 'resume: killed at any moment, an answer that came is never paid for twice' '
	fresh; paid=0
	for ms in 0 5 10 15 20 25 30 40 60 80 120 200; do
		rm -rf d; mkdir d; s=drip@k$ms
		(XDG_RUNTIME_DIR=$T/runtime http "$s" openai -o d/reply.ndjson "$P") & pid=$!
		sleep "$(printf "0.%03d" "$ms")"; pkill -KILL -P $pid 2>/dev/null || :; kill -KILL $pid 2>/dev/null || :; wait $pid 2>/dev/null || :
		[ ! -e d/reply.ndjson ] || jq -e . d/reply.ndjson >/dev/null
		whole=0; grep -q "^data: .DONE" d/reply.spool 2>/dev/null && whole=1; [ ! -e d/reply.ndjson ] || whole=1
		before=$(requests "$s")
		[ -e d/reply.ndjson ] || http "$s" openai -o d/reply.ndjson "$P"
		[ $whole -eq 0 ] || is "$before" "$(requests "$s")"
		is "kernel" "$(jq -r --rawfile k "$tests_dir/mock/kernel.txt" "if .reply.text == \$k then \"kernel\" else .reply.text end" d/reply.ndjson)"
		[ ! -e d/reply.spool ]
	done'

cat >full.c <<'E'
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
/* NO_ROOM: nothing can be taken in advance. FULL: what is written behind the beginning of a file does not fit. */
int posix_fallocate(int fd, off_t at, off_t len)
{
	int (*real)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
	return getenv("NO_ROOM") ? ENOSPC : real(fd, at, len);
}
ssize_t write(int fd, const void *p, size_t n)
{
	ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (getenv("FULL") && lseek(fd, 0, SEEK_CUR) > 0) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, p, n);
}
E
if cc -D_GNU_SOURCE -fPIC -shared -o full.so full.c -ldl 2>/dev/null && LD_PRELOAD=$T/full.so kllm --version >/dev/null 2>&1; then
	t 'without room for an answer nothing is asked for, and nothing is booked' '
		fresh; export LD_PRELOAD=$T/full.so NO_ROOM=1
		exits 4 http ok@n1 openai -k model.price_input=3 -k model.price_output=15 -o d/reply.ndjson "$P"
		grep -q "cannot reserve disk space for the answer.*No space left" err; is 0 "$(requests ok@n1)"; is "" "$(ls d)"
		grep -qx "spent_nanousd 0*" "$T/.spend"'
	t 'an answer whose spool cannot be written on is the answer all the same' '
		fresh; export LD_PRELOAD=$T/full.so FULL=1
		exits 0 http ok@n2 openai -o d/reply.ndjson "$P"
		grep -q "cannot write the answer to the spool: No space" err; is reply.ndjson "$(ls d)"
		jq -e --rawfile k "$tests_dir/mock/kernel.txt" ".reply.text == \$k" d/reply.ndjson'
else
	skip 'a disk that fills' 'no compiler, or a sanitizer that comes first'
fi
t 'resume: the room that was taken for more of an answer is no part of it' '
	fresh; mkdir d/reply.ndjson; exits 4 http usage@n3 openai -o d/reply.ndjson "$P"; rmdir d/reply.ndjson
	truncate -s 3000000 d/reply.spool
	ask -k model.provider=openai -k model.base_url=http://127.0.0.1:1/v1 -o d/reply.ndjson "$P"
	jq -e ".reply.flags == [\"resumed\"] and .reply.usage.input_tokens == 1000" d/reply.ndjson'
t 'a model behind a gateway on this machine costs what the campaign says, and the budget holds' '
	fresh; http usage@n4 openai -o a "$P"; jq -e ".reply.cost_usd == 0" a
	priced() { s=$1; shift; http "$s" openai -k model.price_input=3 -k model.price_output=15 -o a "$@" "$P"; }
	priced usage@n5; jq -e ".reply | (.cost_usd - (.usage.input_tokens * 3 + .usage.output_tokens * 15) / 1e6 | fabs) < 1e-9" a
	[ "$(tr -dc 1-9 <"$T/.spend")" ]
	exits 2 priced usage@n7 -k stop.budget_usd=0.0001; grep -q "this request may cost" err; is 0 "$(requests usage@n7)"
	exits 2 http usage@n7 openai -k model.price_input=3 "$P"; grep -q "model.price_output: is missing" err
	exits 2 http usage@n7 openai -k model.price_input=3000 "$P"; grep -q "price_input" err
	mkdir p; jq ".model = {name: \"mine\", price_input: 3, price_output: 15} | .feedback = {provider: \"openai\", name: \"digester\"}" \
		"$T/campaign.json" >p/campaign.json
	kllm -c p --feedback -k "model.base_url=$MOCK/usage@n8/v1" -o a "$P"; jq -e ".reply.cost_usd == 0" a'

t 'no server: tried again, then exit 75' '
	fresh; exits 75 ask -k model.provider=openai -k model.base_url=http://127.0.0.1:1/v1 -k model.retries=2 -o d/a "$P"
	grep -q ": network: .*2 attempts" err; [ ! -e d/a ]; [ ! -e d/a.spool ]'
if command -v openssl >/dev/null; then
	t 'a certificate that nobody vouches for is refused; one that SSL_CERT_FILE names is not' '
		fresh; openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost >/dev/null 2>&1
		: >s.log
		openssl s_server -accept 0 -key k.pem -cert c.pem -www >s.log 2>&1 </dev/null & server=$!; trap "kill \$server" EXIT
		for i in 1 2 3 4 5 6 7 8 9 10; do port=$(sed -n "s/^ACCEPT.*:\([0-9]*\)$/\1/p" s.log); [ -z "$port" ] || break; sleep 0.1; done
		exits 2 ask -k model.provider=openai -k "model.base_url=https://localhost:$port/v1" -o d/a "$P"; grep -q ": permanent: .*certificate" err
		SSL_CERT_FILE=$PWD/c.pem exits 75 ask -k model.provider=openai -k "model.base_url=https://localhost:$port/v1" -k model.retries=1 -k model.stall_s=0.3 -o d/a "$P"
		not grep -q certificate err'
	# The trace says which files were read; the system may store its certificates differently.
	if strace -o /dev/null true 2>/dev/null && [ -n "$(find /etc/ssl/certs -name '????????.0' 2>/dev/null | head -n 1)" ]; then
		t 'a certificate of the system is looked up, and not all of them are read' '
			unset SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE KLLM_CA; fresh; : >s.log
			openssl s_server -accept 0 -key k.pem -cert c.pem -www >s.log 2>&1 </dev/null & server=$!; trap "kill \$server" EXIT
			for i in 1 2 3 4 5 6 7 8 9 10; do port=$(sed -n "s/^ACCEPT.*:\([0-9]*\)$/\1/p" s.log); [ -z "$port" ] || break; sleep 0.1; done
			export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
			exits 2 strace -f -o trace -e trace=file kllm -c "$T" -k model.provider=openai -k model.name=m -k "model.base_url=https://localhost:$port/v1" "$P"
			grep -q ": permanent: .*certificate" err
			grep -q "/etc/ssl/certs/[0-9a-f]*[.]0" trace; not grep -q ca-certificates.crt trace'
	else
		skip 'a certificate of the system is looked up' 'no strace, or no folder of hashed certificates'
	fi
else
	skip 'a certificate that nobody vouches for is refused' 'no openssl here'
fi
t 'without -o the record goes to stdout, and nothing is left behind' '
	fresh; cd d; http ok@o openai "$P" >out; jq -e .reply.text out >/dev/null; is out "$(ls)"'
t 'a reply that repeats the key is redacted' '
	fresh
	OPENAI_API_KEY=kernel http ok@red openai --allow-secrets -o d/a "$P"; jq -e ".reply.flags == [\"redacted\"]" d/a; not grep -q "kernel(float" d/a'
t 'a key that comes back in the head of an answer, or as the name of the model, is in no file' '
	fresh; mkdir d/reply.ndjson; key=sk-CANARY-1b4e28ba-2fa1-Zz
	OPENAI_API_KEY=$key exits 4 http key-everywhere@1 openai -o d/reply.ndjson "$P"; rmdir d/reply.ndjson
	grep -q ".redacted." d/reply.spool; not grep -rqF -e "$key" d err
	OPENAI_API_KEY=$key http key-everywhere@1 openai -o d/reply.ndjson "$P"
	is "resumed [redacted]" "$(jq -r "\"\(.reply.flags[0]) \(.reply.model)\"" d/reply.ndjson)"; not grep -rqF -e "$key" d'
t 'a benchmark whose server does not start ends, and leaves nothing behind' '
	mkdir programs left; ln -s "$KILN_BUILD"/* programs; rm programs/kmock
	for bench in "kllm-load.sh 1 1" "loop.sh 100 http"; do
		# shellcheck disable=SC2086	# words
		exits 1 env PATH=/usr/bin:/bin KILN_BUILD="$PWD/programs" TMPDIR="$PWD/left" timeout 30 sh "$tests_dir/bench/"$bench
		grep -q "kmock: not found" err; is "" "$(ls left)"
	done'
done_testing
