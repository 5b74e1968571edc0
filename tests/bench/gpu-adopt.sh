#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU: tests/apps/mosaic is adopted, made faster by recorded replies, and gets the winner back. Prints what
# kadopt says of each step; its exit status is that of the integration. Prints nothing but a note where there is no device.
# usage: gpu-adopt.sh [ARCH]: what nvcc's -arch takes (default: sm_90a)
set -eu
. "${0%/*}/gpu-setup.sh"
app=$KILN_DATA/tests/apps/mosaic

cp -r "$app" "$T/mosaic"
rm -r "$T/mosaic/replies"
kcampaign adopt -o "$T/campaign" -p "$T/mosaic" --file src/soften.cu --kernel mosaic_soften --build "make -s ARCH=${1:-sm_90a}" \
	--run './mosaic -n 400 mosaic.out' --outputs mosaic.out --compare float:1e-3 --provider file
cp -r "$app/replies" "$T/campaign"
jq '.model = {provider: "replay"} | .eval.profile = "off"' "$T/campaign/campaign.json" >"$T/replay.json"
mv "$T/replay.json" "$T/campaign/campaign.json"
kcampaign run -c "$T/campaign" -n "$(find "$app/replies" -name '*.ndjson' | wc -l)"
code=0
kcampaign integrate -c "$T/campaign" || code=$?
jq -r '"\(.id) \(.eval.status) " + ([.eval.timing[]? | "\(.workload) \(.median_ns / 1000) us"] | join(", "))' "$T"/campaign/trials/*/*/eval.ndjson
exit "$code"
