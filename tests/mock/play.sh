#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# play.sh SCENARIO API: one call of kllm to the test server $MOCK (http://127.0.0.1:PORT), with a state of its own. Prints one line:
# scenario, API, exit status, class of the failure or finish, flags, classes of failed attempts, requests, text. The standard
# answer is printed as "kernel". Fails when kllm takes too long, leaves its spool behind a reply, or shows the key anywhere.
set -eu
scenario=$1
api=$2
key=sk-CANARY-1b4e28ba-2fa1-Zz
here=${0%/*}
dir=$T/play.$scenario.$api
mkdir -p "$dir/run" "$dir/trials/001/02"
chmod 700 "$dir/run"
cp "$T/campaign.json" "$dir"
cp "$T/prompt.ndjson" "$dir/trials/001/02"

# The clocks are short where the scenario is about them, and generous where a busy machine could trip them.
stall=10 total=30
case $scenario in
*for-ever | stall* | silent | slow-head) stall=0.4 total=5 ;;
esac

rc=0
XDG_RUNTIME_DIR=$dir/run OPENAI_API_KEY=$key ANTHROPIC_API_KEY=$key timeout -k 1 20 kllm -c "$dir" \
	-k "model.provider=$api" -k model.name=m -k "model.base_url=$MOCK/$scenario@$api/v1" -k model.retries=3 \
	-k model.backoff_s=0.02 -k "model.stall_s=$stall" -k "model.timeout_s=$total" \
	-k model.temperature=0.5 -k model.max_tokens=1000 \
	-o "$dir/trials/001/02/reply.ndjson" "$dir/trials/001/02/prompt.ndjson" >"$dir/out" 2>"$dir/err" || rc=$?

if [ "$rc" -eq 0 ]; then
	jq -r --rawfile kernel "$here/kernel.txt" --arg s "$scenario" --arg a "$api" '.reply |
		[$s, $a, "0", .finish, (.flags | join(",")), (.failures // [] | join(",")), .attempts,
		if .text == $kernel then "kernel" else .text | tojson end] | join("\t")' "$dir/trials/001/02/reply.ndjson"
	if ls "$dir"/trials/001/02/*.spool* >/dev/null 2>&1; then
		echo "spool left behind"
		exit 1
	fi
else
	# kllm: 001/02: class: reason
	printf '%s\t%s\t%s\t%s\n' "$scenario" "$api" "$rc" "$(tail -n 1 "$dir/err" | cut -d: -f3 | tr -d ' ')"
fi
reversed=$(printf %s "$key" | base64 | cut -c 1-32)
if grep -rqF -e "$key" -e "$reversed" "$dir"; then
	echo "the key leaked"
	exit 1
fi
