#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The search's tools under load: 100,000 scored records of about 4 KB in one karchive call (time, peak memory), and what
# ksample, karchive and kgrad cost per call when the archive is full.
# usage: karchive.sh [RECORDS]
set -eu
: "${KILN_BUILD:=$(cd "${0%/*}/../.." && pwd)/build}"
PATH=$KILN_BUILD:$PATH
records=${1:-100000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cd "$dir"
echo '{"name":"bench"}' >campaign.json

# generate FIRST LAST: the records of these trials, four branches each, padded to about 4 KB.
generate() {
	awk -v first="$1" -v last="$2" 'BEGIN {
		srand(1)
		for (i = 0; i < 58; i++) pad = pad "\\tfor (int i = 0; i < n; i++) c[i] += a[i] * b[i];\\n"
		for (t = first; t <= last; t++)
			for (b = 1; b <= 4; b++) {
				c = int(rand() * 256); good = rand() < 0.85; s = 40 * rand() * rand()
				printf "{\"schema\":\"candidate/1\",\"campaign\":\"bench\",\"trial\":%d,\"branch\":%d,\"id\":\"%03d/%02d\",", t, b, t, b
				printf "\"sample\":{\"strategy\":\"mutate\",\"island\":0,\"target\":[%d,%d,%d,%d],", c / 64, c / 16 % 4, c / 4 % 4, (c + 1) % 4
				printf "\"parent\":{\"id\":\"000/00\",\"coords\":[%d,%d,%d,%d],\"combined\":5,\"status\":\"correct\"}},", c / 64, c / 16 % 4, c / 4 % 4, c % 4
				printf "\"reply\":{\"text\":\"...\",\"usage\":{\"input_tokens\":9000,\"output_tokens\":3000},\"cost_usd\":0.05},"
				printf "\"eval\":{\"status\":\"%s\",\"code\":\"%s\",\"tokens\":\"%08x%08x\",\"log\":\"ok\"},", good ? "correct" : "wrong_value", pad, t, b
				printf "\"coords\":{\"coords\":[%d,%d,%d,%d]},", c / 64, c / 16 % 4, c / 4 % 4, c % 4
				if (good) printf "\"score\":{\"combined\":%.6f,\"speedup\":%.6f,\"runtime_ms\":%.6f,\"gain\":true}}\n", 5 + 3 * s, s, 100 / s
				else print "\"score\":{\"combined\":3,\"gain\":false}}"
			}
	}'
}

# cpu N COMMAND…: milliseconds of CPU per run.
cpu() {
	n=$1
	shift
	cat >run <<-'EOF'
		#!/bin/sh
		n=$1; shift
		while [ "$n" -gt 0 ]; do "$@" >/dev/null; n=$((n - 1)); done
		times >times
	EOF
	sh ./run "$n" "$@"
	sed -n '2s/[ms]/ /gp' times | awk -v n="$n" '{ printf "%.2f ms CPU\n", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 / n }'
}

generate 1 $((records / 4)) >records.ndjson
printf 'karchive: %d records, %d MB, one call: ' "$(wc -l <records.ndjson)" "$(($(wc -c <records.ndjson) / 1000000))"
cat >peak <<'EOF'
#!/bin/sh
start=$(date +%s%N)
karchive -o archive.ndjson records.ndjson &
pid=$!
while rss=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2>/dev/null) && [ -n "$rss" ]; do
	peak=$rss
	sleep 0.05
done
wait $pid
echo "$start $(date +%s%N) ${peak:-0}" | awk '{ printf "%.2f s, peak %.1f MB\n", ($2 - $1) / 1e9, $3 / 1024 }'
EOF
sh ./peak
printf '  it holds %s elites, %s other programs\n' "$(grep -c '"elite"' archive.ndjson)" "$(grep -c '"program"' archive.ndjson)"

generate 25001 25001 >one.ndjson
head -4000 records.ndjson | kgrad -o gradient.ndjson
mkdir -p trials
sed -n 's/^{"kind":"elite","id":"\([^"]*\)".*/\1/p' archive.ndjson | while read -r id; do
	mkdir -p "trials/$id"
	grep -m 1 "\"id\":\"$id\"" records.ndjson >"trials/$id/eval.ndjson"
done
printf 'per call with a full archive: ksample '
cpu 50 ksample --trial 25001 --branch 4 -a archive.ndjson -g gradient.ndjson
printf '  karchive '
cpu 50 karchive -a archive.ndjson one.ndjson
printf '  kgrad '
cpu 50 kgrad -g gradient.ndjson -a archive.ndjson one.ndjson
