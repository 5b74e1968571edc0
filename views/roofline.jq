# SPDX-License-Identifier: Apache-2.0
# The roofline of a campaign, from what kspec has found: the "peaks" of its device (sourced, or placeholders), the
# "ceilings" measured on it, the timed "work", and what is "unknown". Labels keep vendors' figures and measurements apart
# everywhere. {"lacking", "record"}: is a figure missing that a target needs?

# A target is this share of the ceiling that applies; a time below this share of the least possible one raises an alarm.
def share: 0.9;
# If it moves less than this, no device gets close to its bandwidth: then the ceiling is a measured copy of the same size.
def small: 100e6;
# Sizes count as equal when they differ by less than this.
def same_size: 0.01;

def known: with_entries(select(.value != null));
def positive: if . != null and . > 0 then . else null end;
def digits($n): pow(10; (fabs | log10 | floor) + 1 - $n) as $unit | pow(10; $n - 1 - (fabs | log10 | floor)) as $parts
	| if $unit > 1 then (. / $unit | round) * $unit else (. * $parts | round) / $parts end;
# A figure, in operations or bytes per second, from a number or null.
def measured($by): positive | if . then { value: ., $by, from: "trials/000/ceilings.json" } else null end;
def shown($unit; $name): if . then { value: (.value / $unit), unit: $name, by, from } else null end;

def target($compute): (.value * share) as $v | (if $v >= 1e12 then 1e12 else 1e9 end) as $unit
	| ((if $unit > 1e9 then "T" else "G" end) + (if $compute then "FLOPS" else "B/s" end)) as $name
	| (if $compute then "compute" else "memory" end) as $kind
	| { text: "\($kind)-bound target >= \($v / $unit | digits(6)) \($name)", value: ($v / $unit), unit: $name, by, from };

# Measurements must be consistent. A copy that was much slower than its size explains is not a ceiling; one that varied
# much may not be, so no search ends because of it: a median this far from the best was measured on a busy machine.
def busy($low; $high): select(($low // 0) > 0 and $high > 2 * $low)
	| "the median sample took \($high / $low | digits(3)) times as long as the fastest: the machine was busy";
def doubtful($best): { what: "copy of \(.moved_bytes // 0) bytes", value: (.best_gbps // 0), unit: "GB/s",
	why: (if .plausible then busy(.min_ns; .median_ns)
		else "a larger copy reached \($best | digits(4)) GB/s: this one was measured while the machine was busy, and "
			+ "is not used" end) };

# If a program has exceeded a measured ceiling, its rate replaces it.
def raised($figure; $amount; $unit; $name): (if .best_ns then $amount / .best_ns * 1e9 else 0 end) as $rate
	| if $figure and $rate > $figure.value and ($figure.by | startswith("measured")) then {
		figure: { value: $rate, by: "reached by the reference", from: "trials/000/00/eval.ndjson" },
		doubt: { what: "\($figure.by) of \(.workload)", value: ($figure.value / $unit), unit: $name,
			why: "the reference or a baseline reached \($rate / $unit | digits(4)) \($name)" }
	} else { $figure } end;

# The best of its samples is used: other work on the machine makes a copy slower, never faster, and this is a ceiling.
def fastest: map(.best_gbps * 1e9) | max;

. as $in
| (.copies | map(select(.plausible))) as $copies
| ($copies | map(select(.beyond_caches and .moved_bytes >= small)) | fastest | measured("measured maximum")) as $copied
| ([.ceilings.rates[]? | select(.metric == $in.compute) | (.best_tflops // 0) * 1e12] | max
	| measured("measured maximum")) as $computed
# A peak is the vendor's figure, else a placeholder, else the measurement; a ceiling is the measurement, else the peak.
| (if .compute then .peaks.compute // $computed else null end) as $rate
| (if .compute then $computed // .peaks.compute else null end) as $fast
| (.peaks.memory // $copied) as $bandwidth
| ($copied // .peaks.memory) as $copy
| ([.work[] | . as $w
	| (if .bytes > 0 and .bytes < small
		then $copies | map(select((.moved_bytes // 0) - $w.bytes | fabs <= same_size * $w.bytes)) | fastest
			| measured("measured copy of the same size")
		else null end) as $same
	| raised($same // $copy; .bytes; 1e9; "GB/s") as $memory
	| raised($fast; .flops; 1e12; "TFLOPS") as $arithmetic
	| (if $rate then .flops / $rate.value else 0 end) as $compute_s
	| (if $bandwidth then .bytes / $bandwidth.value else 0 end) as $memory_s
	| ([$compute_s, $memory_s] | max) as $least_s
	| ($compute_s >= $memory_s) as $compute
	# If the task counts no operations, it is bound by memory at any rate; if it says nothing, the bound is unknown.
	| ($memory_s > 0 and ($compute_s > 0 or ($in.counts and .flops == 0))) as $both
	| (if $both then (if $compute then $arithmetic else $memory end).figure | target($compute) else null end) as $target
	| {
		row: ({
			workload, flops, bytes,
			intensity: (if .bytes > 0 then .flops / .bytes | positive else null end),
			bound: (if $both | not then "unknown" elif $compute then "compute" else "memory" end),
			floor_ns: (1e9 * $least_s | positive),
			floor_by: (if $least_s <= 0 then null elif $compute then $rate.by else $bandwidth.by end),
			# Bytes that the last caches hold may never reach memory while the clock runs.
			alarm_ns: ([
				if $in.alarm.rate > 0 then .flops / $in.alarm.rate else 0 end,
				if $in.alarm.bandwidth and $in.alarm.cached >= 0
				then (.bytes - $in.alarm.cached) / $in.alarm.bandwidth else 0 end
			] | max * share * 1e9 | positive),
			compute_ceiling: ($arithmetic.figure | shown(1e12; "TFLOPS")),
			memory_ceiling: ($memory.figure | shown(1e9; "GB/s")),
			$target
		} | known),
		stop: ($target | if . then "\($w.workload): \(.text) (0.90 x \(.by))" else null end),
		doubts: [($memory, $arithmetic).doubt | select(.)]
	}]) as $work
| ([(.best_copy as $best | .copies[] | doubtful($best)),
	(.ceilings.rates[]? | { what: .metric, value: (.best_tflops // 0), unit: "TFLOPS", why: busy(.tflops; .best_tflops) }),
	$work[].doubts[]]) as $doubts
| ((.compute and ($rate | not)) or (.moves and ($bandwidth | not))) as $lacking
| {
	$lacking,
	record: ({
		schema: "roofline/1", convention: "bytes are bytes read plus bytes written",
		# A state that changes from moment to moment does not describe the device.
		device: (.device + { running: (.running | if . then del(.state) else null end) } | known),
		facts, unknown, mismatches, placeholders,
		workloads: [$work[].row],
		stop: [$work[].stop | select(.)],
		"label": (if .placeholders != [] then "placeholder" elif .unknown != [] and $lacking then "incomplete"
			else "complete" end),
		implausible: (if $doubts == [] then null else $doubts end),
		compute,
		peaks: ({ compute: ($rate | shown(1e12; "TFLOPS")), memory: ($bandwidth | shown(1e9; "GB/s")) } | known),
		ridge: (if $rate and $bandwidth then $rate.value / $bandwidth.value else null end),
		measured: (.ceilings | if . then { record: "trials/000/ceilings.json", command: (.command // ""), copies, rates,
			not_measured } | known else null end)
	} | known)
}
