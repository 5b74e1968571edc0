# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# hostile_campaign FOLDER: a handmade linear campaign of six rounds, with everything that a report may have to show, and
# texts that try to inject markup.

# The record of a round, made by jq: $t trial, $status, $ns time on the first workload, $code, and a filter for the
# rest.
record() {
	jq -nc --argjson t "$1" --arg status "$2" --argjson ns "$3" --arg code "$4" '
		def timing(ns): [["2048x2560x2048", 1], ["512x8192x4096", 1.6]] | map({workload: .[0], calls_per_sample: 4, checked_per_sample: 4,
			samples_ns: [range(9) as $i | (ns * .[1] * (1 + $i / 1000) | round)], iqr_ns: (ns / 250 | round),
			device: {sm_mhz: 1980, memory_mhz: 3201, temperature_c: 50, power_w: 400, throttle: (if $t == 3 then 4 else 0 end)}}
			| .median_ns = .samples_ns[4] | .alone_ns = .median_ns + 3600 | .alone_samples = 5 | .host_ns = 19000);
		(4990000 / $ns) as $speedup
		| {schema: "candidate/1", campaign: "hostile", trial: $t, branch: (if $t == 0 then 0 else 1 end)}
		| .id = "00\(.trial)/0\(.branch)"
		| .eval = {status: $status, code: $code, tokens: "t\($t)", seed: "5eed", wall_s: 3, sandbox: {level: 3, name: "bwrap"}, noise: {floor: 0.002},
			log: "log", environment: {caches: "cold", cpu: "CPU", threads: 4, device: {name: "NVIDIA H200", driver_api: "13000",
			compute_capability: "9.0", memory_bytes: 150109880320, l2_bytes: 62914560, multiprocessors: 132}}}
		| if $t > 0 then .sample = {strategy: "linear", parent: {id: "000/00"}, incumbent: "000/00"}
			| .reply = {text: "x", model: "m<b>odel</b>", provider: "replay", attempts: 1, time: "2026-01-0\($t)T00:00:00Z", recorded: {prompt_match: true},
				usage: {input_tokens: 1000, output_tokens: 500}} + (if $t % 2 == 1 then {cost_usd: 0.25} else {} end) else . end
		| if $status == "correct" then .eval.timing = timing($ns) | .eval.correctness = {passed: 63, total: 63}
			| .score = {perf_score: 5, correct: true, combined: (5 + 3 * $speedup), speedup: $speedup, runtime_ms: ($ns * 1.3 / 1e6), gain: true,
				efficiency_pct: 64.6, utilization: [{workload: "2048x2560x2048", tflops: 600, gbps: 900, compute_pct: 60, memory_pct: 20}]}
			else .score = {perf_score: 1, correct: false, combined: 1, gain: false} end
		| .coords = {coords: [$t % 4, 1, 2, 3], cell: "\($t % 4)123", confidence: [1, 1, 1, 1]}
		| if $t == 0 then .coords = {coords: [0, 0, 0, 0], cell: "0000", confidence: [1, 1, 1, 1]} else . end
		| '"${5:-.}"
}

# decision VERDICT CODE LINE PLAN-HYPOTHESIS [MORE]: the filter that adds the members of a linear round.
decision() {
	printf '.score.decision = {verdict: "%s", code: "%s", line: "%s", round: ($t + 1), level: "quick", trade_off: false, improvement_pct: 12.5, vs_baseline_pct: 700.25,
		shapes: []} | .eval.plan = {hypothesis: "%s", change: "one change", category: "tiling", bucket: "K1", expected_gain_pct: 10, risks: "few"}
		| .audit = {bucket: "K1", declared: "K1", hits: [], fresh: {gap_pct: 0.2, ok: true}, skew: {required: false, rows: [], ok: true},
			decision: "ACCEPT-as-real", reasons: []} | %s' "$1" "$2" "$3" "$4" "${5:-.}"
}

hostile_campaign() {
	mkdir -p "$1/trials/000/00"
	cp "$KILN_DATA"/campaigns/matmul_f16_cuda_h200/*.cu "$KILN_DATA/campaigns/matmul_f16_cuda_h200/task.json" "$KILN_DATA/campaigns/matmul_f16_cuda_h200/Makefile" "$1"
	jq -n '{schema: "campaign/1", name: "hostile", title: "A <script>alert(0)</script> & \"title\"", backend: "cuda", language: "cuda", gpu: "NVIDIA H200", search: {mode: "linear"}, stop: {trials: 6}}' \
		>"$1/campaign.json"
	bad='</script><script>alert(1)</script><img src=x onerror=alert(2)> ]]> ``` | \u202e \u0007 --> {{x}} <!--'
	long=$(head -c 30000 /dev/zero | tr '\0' x)
	code='__global__ void matmul() {\n'
	line() { printf 'Round %d: %s — avg +12.5%%' "$1" "$2"; }
	record 0 correct 4990000 "$(printf '%b}\n' "$code")" '.score.decision = {verdict: "baseline", code: "baseline", line: "Round 1: BASELINE", round: 1, level: "full"}' >"$1/0"
	record 1 correct 600000 "$(printf '%b\tfloat tile_1;\n}\n' "$code")" "$(decision accepted gain "$(line 2 ACCEPTED)" 'tiles should help')" >"$1/1"
	record 2 correct 590000 "$(printf '%b\tfloat tile_2;\n}\n' "$code")" "$(decision rolled_back audit "$(line 3 'ROLLED BACK')" "$bad" \
		'.audit.decision = "REJECT-as-overfit" | .audit.hits = [{rule: "pointer_cache", line: 3, text: "<b>", bucket: "W2", why: "keyed on a pointer"}]
		| .audit.reasons = ["a cache keyed on a pointer \u202e <i>"] | .score.gain = false')" >"$1/2"
	record 3 compile_error 600000 "$(printf '%b```\n%s\n</pre></script>]]>\n}\n' "$code" "$long")" "$(decision rolled_back build "$(line 4 'ROLLED BACK')" 'more tiles' \
		'.eval.build = {exit_code: 1, command: "nvcc", wall_s: 1, log: "candidate.cu:12:3: error: expected <\u0027;\u0027> before </script>\n"}
		| .eval.reasons = [{check: "compile", detail: "it did not build"}]')" >"$1/3"
	record 4 correct 33000 "$(printf '%b\tfloat tile_4;\n%s\n```\n\033[31m</pre></code></script>\n}\n' "$code" "$long")" \
		"$(decision accepted gain "$(line 5 ACCEPTED)" 'tensor cores should help because <b>they</b> do' \
		'.eval.profile = {findings: [{id: "one", severity: "high", text: "it waits <b> for memory", action: "wait less"},
			{id: "two", severity: "low", text: "t", action: "a"}, {id: "three", severity: "low", text: "t", action: "a"}]}')" >"$1/4"
	record 5 rejected 1 "$(printf '%b}\n' "$code")" "$(decision rolled_back rejected "$(line 6 'ROLLED BACK')" 'none' \
		'.eval.reasons = [{check: "forbidden_symbol", detail: "dlopen </td></tr></table><script>alert(3)</script>"}]')" >"$1/5"
	record 6 wrong_value 1 "$(printf '%b}\n' "$code")" "$(decision rolled_back wrong "$(line 7 'ROLLED BACK')" 'none' \
		'.eval.reasons = [{check: "wrong_result", detail: "wrong in 3 of 9 cases"}]')" >"$1/6"
	for t in 0 1 2 3 4 5 6; do
		b=$((t > 0))
		mkdir -p "$1/trials/00$t/0$b"
		jq -c 'del(.coords, .audit, .score)' "$1/$t" >"$1/trials/00$t/0$b/eval.ndjson"
		mv "$1/$t" "$1/trials/00$t/score.ndjson"
		if [ "$t" = 0 ]; then
			karchive -c "$1" -o "$1/trials/000/archive.ndjson" "$1/trials/000/score.ndjson"
		else
			karchive -c "$1" -a "$1/trials/00$((t - 1))/archive.ndjson" -o "$1/trials/00$t/archive.ndjson" "$1/trials/00$t/score.ndjson"
		fi
	done
	jq -c 'if .kind == "archive" then .linear = {accepted: "004/01", chain: ["000/00", "001/01", "004/01"], streak: 2, round: 7} else . end' "$1/trials/006/archive.ndjson" >"$1/new"
	mv "$1/new" "$1/trials/006/archive.ndjson"
	jq -n '{schema: "machine/1", cpu: "A CPU <x>", cores: 8, threads: 16, l3_bytes: 33554432, memory_bytes: 68719476736, kernel: "Linux", os: "Debian"}' \
		>"$1/trials/000/machine.json"
	jq -n '{schema: "roofline/1", convention: "bytes are bytes read plus bytes written", device: {asked: "NVIDIA H200", name: "h200"}, label: "complete", ridge: 206.1,
		peaks: {compute: {value: 989.4, unit: "TFLOPS", by: "sourced", from: "docs/hardware/h200.md:L12"},
			memory: {value: 4800, unit: "GB/s", by: "sourced", from: "docs/hardware/h200.md:L20"}},
		unknown: [{metric: "l3_size", why: "there is <none>"}], mismatches: [], placeholders: [],
		workloads: [["2048x2560x2048", 2.147e10, 2.936e7], ["512x8192x4096", 3.436e10, 7.969e7]] | map({workload: .[0], flops: .[1], bytes: .[2],
			intensity: (.[1] / .[2]), bound: "compute", floor_ns: (.[1] / 989.4e3), compute_ceiling: {value: 989.4, unit: "TFLOPS", by: "sourced", from: "x"},
			memory_ceiling: {value: 4100, unit: "GB/s", by: "measured maximum", from: "trials/000/ceilings.json"},
			target: {text: "compute-bound target >= 890.46 TFLOPS", value: 890.46, unit: "TFLOPS"}})}' >"$1/trials/000/roofline.json"
	kcampaign upgrade -c "$1" >/dev/null
}
