#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: gpu-rounds.sh CAMPAIGN NAME REPLIES OUT
# Rounds of an adopted campaign whose model answers later, and elsewhere. Files NAME.1.txt, NAME.2.txt, … in REPLIES are the
# replies of round 1, 2, …: each makes its round; the best program then goes back into the application; the prompt of the round
# for which there is no reply yet becomes OUT/NAME.N.md. So: run this without replies, give the prompt to a model, put its reply
# into REPLIES, and run this again, here or after another adoption elsewhere: rounds that are missing are made with the replies
# that there are. INTEGRATE=no leaves out the integration. gpu-kernels.sh does this for what it adopts, with REPLIES=FOLDER.
# OUT also gets the log and the patch. Prints one line: NAME, rounds made, their results, the status of the integration, and
# what it said. Exit status: that of the integration, 0 without replies.
set -u
c=$1 name=$2 replies=$3 out=$4 round=1 back=0 said=-
log=$out/$name.rounds.log
mkdir -p "$out"
jq '.model = {provider: "file"} | .eval.profile = "off" | .memory = {enabled: "off"}' "$c/campaign.json" >"$c/m" && mv "$c/m" "$c/campaign.json"
while [ -s "$replies/$name.$round.txt" ]; do
	cell=$(printf '%s/trials/%03d/01' "$c" "$round")
	if [ ! -s "$cell/eval.ndjson" ]; then
		mkdir -p "$cell"
		cp "$replies/$name.$round.txt" "$cell/reply.txt"
		kcampaign run -c "$c" -n 1 >>"$log" 2>&1 </dev/null || break
	fi
	round=$((round + 1))
done
if [ $round -gt 1 ] && [ "${INTEGRATE-}" != no ]; then
	kadopt integrate -c "$c" >"$log.said" 2>&1 </dev/null
	back=$?
	cat "$log.said" >>"$log"
	said=$(grep -h '^[A-Z][A-Z ]*: ' "$log.said" | head -n 1)
	[ -n "$said" ] || said=$(tail -n 1 "$log.said")
	rm "$log.said"
	find "$c/runs" -name integrated.patch -exec cp {} "$out/$name.patch" \; 2>/dev/null
fi
results=$(cat "$c"/trials/*/*/eval.ndjson 2>/dev/null | jq -rs 'map("\(.id) \(.eval.status) \([.eval.timing[]? | .median_ns / 1000 | round | tostring] | join("/")) us") | join(", ")')
kcampaign run -c "$c" -n 1 >>"$log" 2>&1 </dev/null
prompt=$(printf '%s/trials/%03d/01/prompt.md' "$c" "$round")
[ ! -s "$prompt" ] || cp "$prompt" "$out/$name.$round.md"
printf '%s\t%d rounds\t%s\tintegrate %s\t%s\n' "$name" $((round - 1)) "$results" "$back" "$said"
exit $back
