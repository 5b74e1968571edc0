#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kspec and its uses: facts with their sources, lines that cite them, the roofline, utilisation, the stop condition.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

# Facts about two made-up devices; h200 has the figures of the test vectors.
mkdir hw
: >hw/README.md
cat >hw/h200.md <<'E'
# H200
- device: h200
- alias: NVIDIA H200
- bf16_matrix: 989.4 TFLOPS; derived 1978.8 / 2; [S] row BF16
- fp16_matrix: unavailable: nobody has told
- fp32_matrix: none: there is no such unit
- fp32_vector: 67.0 TFLOPS; vendor-published; [S] row FP32
- memory_bandwidth: 4.8 TB/s; vendor-published; [S] row bandwidth
- memory_size: 141 GB; vendor-published; [S] row memory
- l2_size: 50 MiB; vendor-published; [S] row L2
- units: 132 SM; vendor-published; [S] row SMs
- compute_capability: 9.0 version; vendor-published; [S] row CC

- [S]: A vendor, data sheet, https://vendor.example/sheet
E
sed 's/h200/h20/; s/NVIDIA H200/NVIDIA H20/; s/4.8 TB/4.0 TB/' hw/h200.md >hw/h20.md

cat >make.sh <<'E'
# campaign FOLDER DTYPE FLOPS BYTES AXES: one timed workload of that task on an NVIDIA H200.
campaign() {
	mkdir -p "$1/trials/000"
	jq --arg t "$2" --arg f "$3" --arg b "$4" --argjson a "$5" '.flops = $f | .bytes = $b | .language = "cuda"
		| .axes = ($a | map_values({type: "var"})) | .inputs = {x: {shape: ["N"], dtype: $t}} | .outputs = {y: {shape: ["N"], dtype: $t}}
		| .entry.arguments = ["x", "y"] | del(.reduction, .oracle, .baselines, .tolerance, .linear)
		| .workloads = [{name: "w", axes: $a, timed: true}]' "$KILN_DATA/tests/tasks/affine/task.json" >"$1/task.json"
	printf '{"name":"t","backend":"cuda","language":"cuda","gpu":"NVIDIA H200"}\n' >"$1/campaign.json"
}
roof() {
	kspec roofline --hardware hw -c "$@"
}
# bad LINE MESSAGE: a file of facts with this line is refused with the message.
bad() {
	rm -rf bad && mkdir bad
	{ sed '/\[S\]: /d' hw/h200.md; printf '%s\n' "$1"; grep '\[S\]: ' hw/h200.md; } >bad/h200.md
	exits 2 kspec --hardware bad h200
	grep -q "docs/hardware/h200.md:[0-9]*: .*$2" err || { cat err; return 1; }
}
# told LINE MESSAGE: this line in a file is refused with the message.
told() {
	printf 'Notes.\n\n%s\n' "$1" >note.md
	exits 1 kspec check --hardware hw --device h200 note.md
	grep -q "^note.md:3: .*$2" out || { cat out; return 1; }
	[ ! -e /dev/full ] || exits 4 sh -c "kspec check --hardware hw --device h200 note.md >/dev/full"
}
# record FOLDER DEVICE-JSON NS: the reference, evaluated on that device.
record() {
	mkdir -p "$1/trials/000/00"
	printf '{"trial":0,"branch":0,"id":"000/00","eval":{"status":"correct","tier":3,"log":"","noise":{"floor":0.01},"environment":{"device":%s},"timing":[{"workload":"w","median_ns":%s}]}}\n' \
		"$2" "$3" >"$1/trials/000/00/eval.ndjson"
}
h200='"name":"NVIDIA H200","compute_capability":"9.0","multiprocessors":132,"memory_bytes":150109880320,"l2_bytes":52428800'
E

ok 'help and version' '
	exits 0 kspec --help; grep -q "^usage: kspec" out
	exits 0 kspec --version; grep -q "^kspec " out
	exits 2 kspec; exits 2 kspec --nonsense; exits 2 kspec roofline h200'
ok 'a fact, with file and line' '
	is "memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8" "$(kspec --hardware hw h200 memory_bandwidth)"
	is "memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8" "$(kspec --hardware hw "nvidia h200" memory_bandwidth)"
	is 7 "$(kspec --hardware hw h200 | wc -l)"
	kspec --hardware hw --json h200 units >r
	is "$(sha256sum <hw/h200.md | cut -d" " -f1) 11 vendor-published" "$(jq -r "\"\(.sha256) \(.line) \(.evidence)\"" r)"'
ok 'facts of a related device are never used' '
	for d in "H200 NVL" "NVIDIA H200 MIG 1g.18gb" H2 "NVIDIA H100"; do
		exits 1 kspec --hardware hw "$d" memory_bandwidth
		[ ! -s out ] && grep -q "no file in docs/hardware describes the device" err
	done
	exits 1 kspec --hardware hw "H200 NVL"; grep -q "known devices: h20, h200 (facts about another device are never used)" err'
ok 'unknown facts are reported as unknown' '
	exits 1 kspec --hardware hw h200 units fp16_matrix tf32_matrix
	printf "units: 132 SM <- docs/hardware/h200.md:L11\nfp16_matrix: UNKNOWN (docs/hardware)\ntf32_matrix: UNKNOWN (docs/hardware)\n" >want
	same want out; grep -q "fp16_matrix of h200: nobody has told" err
	exits 2 kspec --hardware hw h200 fp16_matrxi; grep -q "is not a metric" err'
ok 'two values, or two files for a name, are refused with both places' '
	. ./make.sh
	bad "- units: 114 SM; vendor-published; [S] row SMs" "units: is already in line 11 (132 SM)"
	rm -rf two && cp -r hw two && sed -i "s/alias: NVIDIA H20/alias: NVIDIA H200/" two/h20.md
	exits 2 kspec --hardware two h200
	grep -q "docs/hardware/h200.md:3: .NVIDIA H200. is already in docs/hardware/h20.md:3" err'
ok 'a line without a source, with a wrong unit, without a reason, with a word that hedges' '
	. ./make.sh
	bad "- board_power: 700 W; vendor-published; from memory" "has no source"
	bad "- board_power: 700 W; vendor-published; [X] row" "has no source"
	bad "- board_power: 700 W; vendor-published; [S]" "say where it is in the source"
	bad "- board_power: 700 W; I think; [S] row" "must be vendor-published"
	bad "- l3_size: 4.8 TB/s; vendor-published; [S] row" "unit .TB/s. must be one of: bytes"
	bad "- fp8_matrix: 1979 TB/s; vendor-published; [S] row" "unit .TB/s. must be one of: GFLOPS"
	bad "- memory_clock: 3 GB; vendor-published; [S] row" "unit .GB. must be one of: MHz, GHz"
	bad "- fp8_matrix: 1979 TFLOPS; derived 3957 / 4; [S] row" "gives 989.25, not 1979"
	bad "- fp8_matrix: 1979 TFLOPS; derived from a total; [S] row" "needs its divisor"
	bad "- fp8_matrix: unavailable:" "a reason is missing"
	bad "- board_power: about 700 W; vendor-published; [S] row" ".about. hedges"
	bad "- board_power: ~700 W; vendor-published; [S] row" ".~. hedges"
	for v in 0 0x2BC 1e400 -700; do bad "- board_power: $v W; vendor-published; [S] row" "must be a number above 0"; done
	bad "$(printf "%s\\351" "- board_power: 700 W; vendor-published; [S] r")" "not UTF-8"
	bad "- colour: 3 W; vendor-published; [S] row" "is not a metric"
	bad "- [T]: nobody, https://x.example" "no fact cites"'
ok 'the shipped files are complete' '
	kspec check
	for d in h20 mi308x h100_sxm h200 b200 a100_sxm rtx4090 rtx5090 mi300x mi325x mi355x arc_b580 x86; do kspec "$d" >/dev/null; done
	for a in "NVIDIA H200" "NVIDIA H100 80GB HBM3" "AMD Instinct MI300X" "NVIDIA GeForce RTX 4090" "Intel(R) Arc(TM) B580 Graphics"; do
		kspec "$a" memory_bandwidth
	done
	exits 1 kspec check --hardware hw; grep -q "docs/hardware/h200.md:1: tf32_matrix is missing" out'

ok 'lines with correct citations' '
	cat >note.md <<E
- H300 memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8
E
	exits 1 kspec check --hardware hw --device h200 note.md; grep -q "no file in docs/hardware describes .H300." out
	cat >note.md <<E
- memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8
* \`NVIDIA H200 bf16_matrix: 989.4 TFLOPS <- docs/hardware/h200.md:L4\`
compute-bound target >= 890.46 TFLOPS
memory-bound target >= 4.32 TB/s
memory-bound target >= 4320 GB/s
E
	printf "%s\n" "memory_bandwidth: 4.8 TB/s (measured maximum)" "x <- 3" "units: 132" "rate: 3 TFLOPS" >>note.md
	exits 0 kspec check --hardware hw --device h200 note.md
	kspec --hardware hw h200 | exits 0 kspec check --hardware hw -'
ok 'lines with wrong citations' '
	. ./make.sh
	told "memory_bandwidth: 4.9 TB/s <- docs/hardware/h200.md:L8" "the citation says 4.9 TB/s, but docs/hardware/h200.md:L8 says 4.8 TB/s"
	told "memory_bandwidth: 4.8 GB/s <- docs/hardware/h200.md:L8" "the citation says 4.8 GB/s"
	told "memory_bandwidth: 4.8 TB <- docs/hardware/h200.md:L8" "has no valid unit: GB/s, TB/s"
	told "memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L9" "is about memory_size"
	told "memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L1" "contains no fact"
	told "memory_bandwidth: 4.8 TB/s <- docs/hardware/h300.md:L8" "no such file"
	told "memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md" "write .metric: value unit"
	told "memory_bandwidth: 4.0 TB/s <- docs/hardware/h20.md:L8" "describes another device than h200"
	told "H20 memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8" "does not describe H20"
	told "memory_bandwidth: approximately 4.8 TB/s <- docs/hardware/h200.md:L8" "hedges"
	told "it should be memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8" "hedges"
	told "memory_bandwidth: 4.8 TB/s <- https://example.org/h200" "memory_bandwidth: has no source"
	told "- H200 memory_bandwidth: about 4.8 TB/s <- the data sheet" "hedges"
	told "* \`fp16_matrix: 989.4 TFLOPS\`" "fp16_matrix: has no source"
	told "It moves 4.8 TB/s, more or less." "hedges"
	told "memory-bound target >= 4.32 TB/s" "not 0.90 of any bandwidth cited in this file"
	told "memory-bound target >= 4.32 TB" "needs a number and its unit"
	told "memory-bound target >= inf TB/s" "needs a number and its unit"'
ok 'a target from unknown figures needs consent' '
	mkdir -p consent && printf "fp16_matrix: UNKNOWN (docs/hardware)\ncompute-bound target >= 360 TFLOPS\n" >consent/note.md && cd consent
	exits 1 kspec check --hardware ../hw note.md; grep -q "depends on fp16_matrix, which is unknown" out
	echo "fp16_matrix: 400 TFLOPS # me, for now" >placeholder.ok
	exits 0 kspec check --hardware ../hw note.md'

ok 'vector: bf16 matrix product, 4096 x 4096 x 4096' '
	. ./make.sh
	campaign gemm bfloat16 "2*N*N*N" "3*N*N*2" "{\"N\": 4096}"
	roof gemm -o r.json
	is "137438953472 100663296 1365.3 compute 206.1" "$(jq -r ".workloads[0] as \$w | [\$w.flops, \$w.bytes, (\$w.intensity*10|round/10), \$w.bound,
		(.ridge*10|round/10)] | map(tostring) | join(\" \")" r.json)"
	is "[\"w: compute-bound target >= 890.46 TFLOPS (0.90 x sourced peak)\"]" "$(jq -c .stop r.json)"
	is "138.9 bf16_matrix complete" "$(jq -r "\"\(.workloads[0].floor_ns/100|round/10) \(.compute) \(.label)\"" r.json)"'
ok 'vector: fp32 vector add, 2^26 elements' '
	. ./make.sh
	campaign add float32 "N" "12*N" "{\"N\": 67108864}"
	roof add -o r.json
	is "67108864 805306368 0.083 memory 14 fp32_vector" "$(jq -r ".workloads[0] as \$w | [\$w.flops, \$w.bytes, (\$w.intensity*1000|round/1000),
		\$w.bound, (.ridge*10|round/10), .compute] | map(tostring) | join(\" \")" r.json)"
	is "[\"w: memory-bound target >= 4.32 TB/s (0.90 x sourced peak)\"]" "$(jq -c .stop r.json)"'
ok 'a copy is bound by memory, whatever its type; if operations are not counted, nothing is known' '
	. ./make.sh
	bound() { jq -r "[.workloads[0].bound, (.stop[0] // \"-\")] | join(\" \")" r.json; }
	for t in float32 int32; do
		campaign copy $t 0 "8*N" "{\"N\": 67108864}"
		roof copy -o r.json
		is "memory w: memory-bound target >= 4.32 TB/s (0.90 x sourced peak)" "$(bound)"
		cp r.json copy.json
		jq "del(.flops)" copy/task.json >n && mv n copy/task.json
		roof copy -o r.json
		is "unknown -" "$(bound)"
	done
	campaign negative bfloat16 "N-67108865" "8*N" "{\"N\": 67108864}"
	exits 2 roof negative; grep -q ".N-67108865. is -1: it must be 0 or more" err'
ok 'vector: tiles' '
	tile() { kspec tile --hardware hw --compute bf16_matrix --flops 4194304 --bytes 4096 "$@" h200 | jq -r "[.waves, (.unit_util*1000|round/1000), .bound,
		.advice, (.ceiling_tflops*10|round/10)] | map(tostring) | join(\" \")"; }
	is "1 1 compute proceed 989.4" "$(tile --grid 132)"
	is "2 1 compute proceed 498.4" "$(tile --grid 133)"
	is "1 0.106 compute consider a smaller tile 104.9" "$(tile --grid 14)"
	is "1 0.091 compute fix the tiling first 89.9" "$(tile --grid 12)"
	is "559.6 50" "$(kspec tile --hardware hw --compute bf16_matrix --flops 4194304 --bytes 4096 --grid 132 --time-ns 1119.14 h200 |
		jq -r "\"\(.tile_min_ns*10|round/10) \(.of_ceiling_pct|round)\"")"
	exits 3 kspec tile --hardware hw --compute fp16_matrix --flops 1 --bytes 1 --grid 1 h200; grep -q "fp16_matrix: UNKNOWN" err
	exits 2 kspec tile --hardware hw --compute units --flops 1 --bytes 1 --grid 1 h200
	exits 2 kspec tile h200'

ok 'without a peak there is no target, and no file' '
	. ./make.sh
	campaign half float16 "2*N*N*N" "3*N*N*2" "{\"N\": 4096}"
	exits 3 roof half -o half.json
	[ ! -e half.json ] && grep -q "fp16_matrix: UNKNOWN (docs/hardware): nobody has told" err && grep -q placeholder.ok err'
ok 'a person may consent, and the result says so' '
	. ./make.sh
	echo "fp16_matrix: 400 TFLOPS # J. Doe: announced" >half/placeholder.ok
	roof half -o half.json
	is "placeholder placeholder placeholder.ok:L1 360" "$(jq -r "\"\(.label) \(.workloads[0].target.by) \(.workloads[0].target.from) \(.workloads[0].target.value)\"" half.json)"
	echo "memory_bandwidth: 9 TB/s # better" >>half/placeholder.ok
	exits 2 roof half; grep -q "placeholder.ok:2: memory_bandwidth is known (docs/hardware/h200.md:L8: 4.8 TB/s); remove the line" err
	echo "fp16_matrix: 400 TB/s" >half/placeholder.ok
	exits 2 roof half; grep -q "placeholder.ok:1: fp16_matrix: unit .TB/s. must be one of" err
	printf "fp16_matrix: 400 TFLOPS\n\nfp16_matrix: 500 TFLOPS\n" >half/placeholder.ok
	exits 2 roof half; grep -q "placeholder.ok:3: fp16_matrix: is already in line 1" err
	echo "fp16_matrix: 0 TFLOPS" >half/placeholder.ok
	exits 2 roof half; grep -q "is not a number from" err
	echo "fast" >half/placeholder.ok; exits 2 roof half; grep -q "write .metric: value unit" err
	rm half/placeholder.ok'
ok 'a campaign without a target still runs' '
	. ./make.sh
	roof half --tolerant -o half.json
	is "incomplete unknown null" "$(jq -r "\"\(.label) \(.workloads[0].bound) \(.workloads[0].target)\"" half.json)"
	is fp16_matrix "$(jq -r ".unknown[0].metric" half.json)"
	jq ".stop = {efficiency: 80}" half/campaign.json >c && cp c half/campaign.json
	exits 3 roof half --tolerant'
ok 'the task may name the unit that does its arithmetic' '
	. ./make.sh
	jq ".compute = \"bf16_matrix\"" half/task.json >t && cp t half/task.json
	is 890.46 "$(roof half | jq ".workloads[0].target.value*100|round/100")"
	jq ".compute = \"fast\"" half/task.json >t && cp t half/task.json
	exits 2 roof half; grep -q "compute: .fast. must be a rate" err'

ok 'the running device decides' '
	. ./make.sh
	record gemm "{$h200}" 200000; roof gemm >/dev/null
	record gemm "{\"name\":\"NVIDIA H100 80GB HBM3\"}" 200000
	exits 2 roof gemm; grep -q "name: NVIDIA H200 (campaign.json: gpu), but the device in use reports NVIDIA H100 80GB HBM3" err
	record gemm "{\"name\":\"NVIDIA H20\"}" 200000
	is "h20 1" "$(roof gemm --tolerant 2>err | jq -r "\"\(.device.name) \(.mismatches|length)\"")"; grep -q "NVIDIA H20" err'
ok 'what it reports is compared with the facts' '
	. ./make.sh
	for p in "multiprocessors 114 units" "compute_capability \"8.0\" compute_capability" "memory_bytes 80000000000 memory_size" "l2_bytes 62914560 l2_size"; do
		set -- $p
		record gemm "$(echo "{$h200}" | jq -c ".$1 = $2")" 200000
		exits 2 roof gemm; grep -q "^kspec: $3: .* (docs/hardware/h200.md:L[0-9]*), but the device in use reports" err
		is "incomplete null 1" "$(roof gemm --tolerant 2>/dev/null | jq -r "\"\(.label) \(.device.file) \(.mismatches|length)\"")"
	done
	record gemm "{$h200}" 200000'
ok 'measurements are kept apart, and are the ceiling if there are any' '
	. ./make.sh
	campaign small float32 "N" "12*N" "{\"N\": 1000000}"
	copy() { printf "{\"moved_bytes\":%s,\"best_gbps\":%s,\"beyond_caches\":%s}" "$1" "$2" "$3"; }
	printf "{\"schema\":\"ceilings/1\",\"command\":\"kharness --ceilings\",\"rates\":[{\"metric\":\"fp32_vector\",\"best_tflops\":60}],\"copies\":[%s,%s,%s]}" "$(copy 12000000 2000 false)" \
		"$(copy 300000000 9999 false)" "$(copy 600000000 4300 true)" >small/trials/000/ceilings.json
	roof small -o r.json
	is "measured copy of the same size 2000" "$(jq -r "\"\(.workloads[0].memory_ceiling.by) \(.workloads[0].memory_ceiling.value)\"" r.json)"
	is "memory-bound target >= 1.8 TB/s" "$(jq -r ".workloads[0].target.text" r.json)"
	is "sourced peak 4800 measured maximum 60" "$(jq -r "\"\(.peaks.memory.by) \(.peaks.memory.value) \(.workloads[0].compute_ceiling.by) \(.workloads[0].compute_ceiling.value)\"" r.json)"
	cp small/trials/000/ceilings.json add/trials/000/
	is "memory-bound target >= 3.87 TB/s measured maximum" "$(roof add | jq -r ".workloads[0].target | \"\(.text) \(.by)\"")"
	rm add/trials/000/ceilings.json'
ok 'measured ceilings must agree with each other, and with what the reference reached' '
	. ./make.sh
	campaign busy float32 "N" "12*N" "{\"N\": 1000000}"
	copy() { printf "{\"moved_bytes\":%s,\"best_gbps\":%s,\"min_ns\":%s,\"median_ns\":%s,\"beyond_caches\":%s}" "$@"; }
	ceilings() { printf "{\"schema\":\"ceilings/1\",\"command\":\"kharness --ceilings\",\"copies\":[%s,%s]}" "$1" "$2" >busy/trials/000/ceilings.json; }
	large=$(copy 600000000 10.5 57000000 58000000 true)
	# 12 MB at 1.83 GB/s, where 600 MB reached 10.5: another program was running.
	ceilings "$(copy 12000000 1.83 6557000 6600000 false)" "$large"; roof busy -o r.json
	is "measured maximum 10.5" "$(jq -r ".workloads[0].memory_ceiling | \"\(.by) \(.value)\"" r.json)"
	jq -e ".implausible | length == 1 and .[0].what == \"copy of 12000000 bytes\" and (.[0].why | contains(\"a larger copy reached 10.5 GB/s\"))" r.json
	# Slower, but by less than its start explains.
	ceilings "$(copy 12000000 8 1500000 1600000 false)" "$large"; roof busy -o r.json
	jq -e "(has(\"implausible\") | not) and .workloads[0].memory_ceiling.value == 8" r.json
	ceilings "$(copy 12000000 8 1500000 3600000 false)" "$large"; roof busy -o r.json
	jq -e ".implausible[0].why == \"the median sample took 2.4 times as long as the fastest: the machine was busy\"" r.json
	# The reference moves 12 GB/s.
	ceilings "$(copy 12000000 8 1500000 1600000 false)" "$large"; record busy "{$h200}" 1000000; roof busy -o r.json
	jq -e ".workloads[0].memory_ceiling == {value: 12, unit: \"GB/s\", by: \"reached by the reference\", from: \"trials/000/00/eval.ndjson\"} and
		(.implausible[0].why | contains(\"the reference or a baseline reached 12 GB/s\"))" r.json'
ok 'sums of products of float32 are compared with the matrix units, if operands may be split for them' '
	. ./make.sh
	cp -r hw tf; sed "s/^- fp32_vector/- tf32_matrix: 494.5 TFLOPS; derived 989 \/ 2; [S] row TF32\n&/" hw/h200.md >tf/h200.md
	campaign sums float32 "2*N*N*N" "12*N*N" "{\"N\": 4096}"
	metric() { kspec roofline --hardware tf -c sums | jq -r "\"\(.compute) \(.workloads[0].compute_ceiling.value)\""; }
	is "fp32_vector 67" "$(metric)"
	jq ".linear = true | .reduction = \"1\"" sums/task.json >t; cp t sums/task.json; is "fp32_vector 67" "$(metric)"
	jq ".reduction = \"N\"" sums/task.json >t; cp t sums/task.json; is "tf32_matrix 494.5" "$(metric)"
	is "fp32_vector" "$(roof sums | jq -r .compute)"
	# 212 TFLOPS: three times the vector unit.
	record sums "{$h200}" 648000; kspec roofline --hardware tf -c sums -o sums/trials/000/roofline.json
	kscore -c sums -r sums/trials/000/00/eval.ndjson sums/trials/000/00/eval.ndjson | jq -e ".score.efficiency_pct | . > 42 and . < 44"'
ok 'a CPU is measured, and its kernels are compared with that' '
	kharness --ceilings --threads 1 -t "$KILN_DATA/campaigns/softmax/task.json" -o ceilings.json
	jq -e ".schema == \"ceilings/1\" and (.copies | length >= 4 and all(.gbps > 0) and any(.moved_bytes == 33554432) and any(.beyond_caches))
		and (.rates | any(.metric == \"fp32_vector\" and .tflops > 0)) and (.not_measured | length > 0) and has(\"cpu\")" ceilings.json
	mkdir -p cpu/trials/000 && cp "$KILN_DATA"/campaigns/softmax/*.* cpu/ && cp ceilings.json cpu/trials/000/
	kspec roofline -c cpu -o r.json
	is "complete memory measured maximum" "$(jq -r "\"\(.label) \(.workloads[0].bound) \(.workloads[0].floor_by)\"" r.json)"
	exits 2 kharness --ceilings --backend opencl; exits 2 kharness --ceilings x.so
	[ -e /dev/nvidia0 ] || exits 3 kharness --ceilings --backend cuda'
ok 'repeated, it is the same byte for byte; an edited source is noticed' '
	. ./make.sh
	roof gemm --tolerant -o 1.json; roof gemm --tolerant -o 2.json; same 1.json 2.json
	roof add -o add.json; exits 0 kspec check --hardware hw add.json
	rm -rf edited && cp -r hw edited && sed -i "s/4.8 TB/4.9 TB/" edited/h200.md
	exits 1 kspec check --hardware edited add.json
	grep -q "memory_bandwidth: docs/hardware/h200.md has changed since it was cited (sha256)" out
	grep -q "memory_bandwidth: the citation says 4.8 TB/s, but docs/hardware/h200.md:L8 says 4.9 TB/s" out
	cp -r hw moved && sed -i "1i # one more line" moved/h200.md
	exits 1 kspec check --hardware moved add.json; grep -q ": docs/hardware/h200.md:L11 " out'
if /usr/bin/python3 -W ignore -c 'import jsonschema' 2>/dev/null; then
	ok 'they fit their schemas' '
		valid() { /usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" "$@"; }
		valid roofline-1 1.json add.json half.json r.json && valid ceilings-1 ceilings.json'
else
	skip 'they fit their schemas' 'python3-jsonschema is not installed'
fi

ok 'scores give the share of the ceilings' '
	. ./make.sh
	record add "{$h200}" 209715; roof add -o add/trials/000/roofline.json
	kscore -c add -r add/trials/000/00/eval.ndjson add/trials/000/00/eval.ndjson >s
	is "80 80 0.5 3840" "$(jq -r ".score | [.efficiency_pct, .utilization[0].memory_pct, .utilization[0].compute_pct, .utilization[0].gbps] |
		map(.*10|round/10|tostring) | join(\" \")" s)"
	is null "$(jq .score.alarm s)"'
ok 'a time below the least possible one is an alarm, never a gain' '
	. ./make.sh
	# 0.9 x (805306368 - 52428800) / 4.8e12 s
	is 141165 "$(jq ".workloads[0].alarm_ns|round" add/trials/000/roofline.json)"
	for ns in 141100 141200; do
		sed "s/209715/$ns/; s/000.00/001\\/01/" add/trials/000/00/eval.ndjson
	done >fast
	kscore -c add -r add/trials/000/00/eval.ndjson fast >s
	is "below_floor false 5" "$(jq -r ".score | \"\(.alarm) \(.gain) \(.combined)\"" s | head -1)"
	is "null true" "$(jq -r ".score | \"\(.alarm) \(.gain)\"" s | tail -1)"'
ok 'prompts show facts with their lines' '
	cp -r "$KILN_DATA/tests/golden/kprompt/campaign" p
	jq -c . "$KILN_DATA/tests/golden/kprompt/record.json" >p/r && mkdir -p p/trials/000
	kprompt -c p --text p/r >before
	cp add.json p/trials/000/roofline.json
	kprompt -c p --text p/r >after
	diff before after | grep "^[<>] " >new || :
	grep -q "memory_bandwidth: 4.8 TB/s <- docs/hardware/h200.md:L8" new
	grep -q "w: 6.711e+07 operations, 8.053e+08 bytes read and written" new
	grep -q "memory-bound target >= 4.32 TB/s (0.90 x sourced peak)" new
	not grep -q "^<" new
	exits 0 kspec check --hardware hw after
	# A copy of integers: no rate is known, and so no ridge.
	cp copy.json p/trials/000/roofline.json
	kprompt -c p --text p/r | grep -q "0 operations a byte (memory-bound); 111.8 us at the sourced peak; memory-bound target"'

ok 'how times grow with the work shows what bounds a program, in the score, and in the prompt if there is no profile' '
	. ./make.sh
	jq ".workloads = [.workloads[0] as \$w | {a: 1, b: 4, c: 16} | to_entries[] | . as \$e | \$w | .workload = \$e.key | .bytes = 1e6 * \$e.value | .flops = 1e6 * \$e.value]" \
		add.json >add/trials/000/roofline.json
	jq -c ".eval.timing = [{workload: \"a\", median_ns: 6000}, {workload: \"b\", median_ns: 9000}, {workload: \"c\", median_ns: 21000}]" add/trials/000/00/eval.ndjson >grows
	kscore -c add -r grows grows >s
	is "overhead: a fixed part of 5 us is 83 % of the smallest workload" "$(jq -r ".score.growth | \"\(.class): \(.why)\"" s | sed "s/.s time//")"
	cp add/trials/000/roofline.json p/trials/000/roofline.json
	jq -c ".sample.parent.per_workload = [{workload: \"a\", runtime_ms: 0.006}, {workload: \"b\", runtime_ms: 0.009}, {workload: \"c\", runtime_ms: 0.021}]" p/r >p/grows
	says="How its times grow with the work says what bounds it, as long as no profiler does. overhead: a fixed part of 5 us is 83 %"
	kprompt -c p --text p/grows | grep -q "^$says"
	jq -c ".sample.parent.profile = {metrics: {}}" p/grows | kprompt -c p --text >profiled; if grep -q "$says" profiled; then exit 1; fi'

null_campaign null 3
ok 'the pipeline makes it, and remakes it when facts change' '
	cd null; make -s -j2 trials N=1
	jq -e ".label == \"incomplete\"" trials/000/roofline.json
	cp trials/000/roofline.json ../first.json
	make -s views; same ../first.json trials/000/roofline.json
	ls -l --time-style=full-iso trials/001/*/eval.ndjson trials/000/machine.json >../facts
	jq ".gpu = \"My Device\"" campaign.json >c && mv c campaign.json
	mkdir hardware && sed "s/h200/mine/; s/NVIDIA H200/My Device/" ../hw/h200.md >hardware/mine.md
	make -s views
	is "hardware/mine.md memory" "$(jq -r "\"\(.device.file) \(.workloads[0].bound)\"" trials/000/roofline.json)"
	[ trials/001/score.ndjson -nt trials/000/roofline.json ]
	ls -l --time-style=full-iso trials/001/*/eval.ndjson trials/000/machine.json >../again; same ../facts ../again'
ok 'kcampaign check reports what the roofline will lack' '
	cd null
	exits 0 kcampaign check; [ ! -s err ]
	jq ".gpu = \"H20 PCIe\"" campaign.json >c && mv c campaign.json
	exits 0 kcampaign check; grep -q "the roofline will not have: device: no file in docs/hardware describes .H20 PCIe." err
	jq ".stop.efficiency = 90" campaign.json >c && mv c campaign.json
	exits 2 kcampaign check; grep -q "campaign.json: stop.efficiency: needs" out; grep -q "device: UNKNOWN .*: no file in docs/hardware describes" err
	exits 3 kcampaign run; grep -q "memory_bandwidth: UNKNOWN" err
	# Nothing is measured for an impossible target.
	mv trials ../kept; exits 3 kcampaign run; grep -q "no target without these" err; [ ! -e trials/000/00/eval.ndjson ]
	rm -r trials; mv ../kept trials'
ok 'stop.efficiency ends a campaign' '
	cd null
	jq ".gpu = \"My Device\" | .stop.efficiency = 79.9" campaign.json >c && mv c campaign.json
	make -s views
	id=$(head -1 archive.ndjson | jq -r .best.id)
	jq -c --arg id "$id" "if .id == \$id then .score.efficiency_pct = 80 else . end" trials/001/score.ndjson >s && mv s trials/001/score.ndjson
	touch trials/001/archive.ndjson trials/001/gradient.ndjson
	exits 1 kcampaign next
	kcampaign status >st; tr -s " \n" " " <st | grep -q "80 % of the ceilings reaches the goal of 79.9 % (stop.efficiency)"
	jq ".implausible = [{what: \"copy of 4096 bytes\", value: 1, unit: \"GB/s\", why: \"the machine was busy\"}]" trials/000/roofline.json >rl
	cp trials/000/roofline.json was.json; cat rl >trials/000/roofline.json
	exits 0 kcampaign next; grep -q "stop.efficiency cannot end this search: copy of 4096 bytes cannot serve as a stop condition: the machine was busy" err
	cat was.json >trials/000/roofline.json; exits 1 kcampaign next
	jq -c --arg id "$id" "if .id == \$id then .score.efficiency_pct = 317 else . end" trials/001/score.ndjson >s && mv s trials/001/score.ndjson
	touch trials/001/archive.ndjson trials/001/gradient.ndjson
	exits 0 kcampaign next; grep -q "317 % of a ceiling is impossible" err
	jq -c --arg id "$id" "if .id == \$id then .score.efficiency_pct = 80 else . end" trials/001/score.ndjson >s && mv s trials/001/score.ndjson
	touch trials/001/archive.ndjson trials/001/gradient.ndjson
	jq ".stop.efficiency = 80.1" campaign.json >c && mv c campaign.json
	exits 0 kcampaign next'
done_testing
