#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kllm-load.sh [REQUESTS [PROCESSES]]: calls of kllm to a server of which one response in twenty is a fault. Every prompt must end with
# exactly one accepted record. Prints the counts and the time.
set -eu
requests=${1:-10000} processes=${2:-64}
root=$(cd "${0%/*}/../.." && pwd)
: "${KILN_BUILD:=$root/build}" "${KILN_DATA:=$root}"
PATH=$KILN_BUILD:$PATH
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-load.XXXXXX")
export T KILN_DATA PATH
trap 'kill "$server" || :; rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -m 700 "$T/run"
echo '{"name":"load"}' >"$T/campaign.json"
kmock "$T/port" "$T/log" &
server=$!
# make bench builds it; nobody waits for one that is not there.
while [ ! -s "$T/port" ]; do kill -0 "$server"; sleep 0.02; done
MOCK=http://127.0.0.1:$(cat "$T/port")
export MOCK

cat >"$T/one.sh" <<'EOF'
mkdir -p "$T/d/$1"
cd "$T/d/$1"
printf '{"schema":"candidate/1","trial":1,"branch":1,"id":"%s","prompt":{"system":"s","user":"write %s","stable_bytes":0,"sha256":"%s"}}\n' \
	"$1" "$1" "$1" >prompt.ndjson
for try in 1 2 3 4 5; do
	rc=0
	XDG_RUNTIME_DIR=$T/run kllm -c "$T" -k model.provider=openai -k model.name=mock -k "model.base_url=$MOCK/faulty/v1" \
		-k model.backoff_s=0.05 -o reply.ndjson prompt.ndjson 2>err || rc=$?
	[ "$rc" -eq 75 ] || break
done
[ "$rc" -eq 0 ] || { cat err >&2; exit 1; }
EOF
start=$(date +%s%N)
seq 1 "$requests" | xargs -P "$processes" -n 1 sh "$T/one.sh" || failed=1
took=$((($(date +%s%N) - start) / 1000000))
records=$(find "$T/d" -name reply.ndjson -exec cat {} + | grep -c '"finish":"stop"' || :)
left=$(find "$T/d" -name '*.spool*' | wc -l)
sent=$(grep -c . "$T/log")
printf 'kllm-load: %d prompts, %d records, %d requests sent, %d spools left, %d processes, %d.%03d s\n' \
	"$requests" "$records" "$sent" "$left" "$processes" $((took / 1000)) $((took % 1000))
[ -z "${failed:-}" ] && [ "$records" -eq "$requests" ] && [ "$left" -eq 0 ]
