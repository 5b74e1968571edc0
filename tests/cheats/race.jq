# SPDX-License-Identifier: Apache-2.0
# From kbench's records (jq -s) about a cheat that raced against an honest kernel: whether it has
# gained anything. It has not when the whole interval of the ratio (honest time / its time) is at
# most 1.02, on every workload. It has when the whole of one is above. Of several races, each with
# processes of its own, the ratios count, and not the differences within one.

def outcome: if .low > 1.02 then "GAINED" elif .high <= 1.02 then "no gain" else "inconclusive" end;

# Two-sided quantiles of Student's t for 0.005, by the number of values; more than 12 are as 12.
def student: [0, 0, 127.3, 14.09, 7.453, 5.598, 4.773, 4.317, 4.029, 3.833, 3.690, 3.581, 3.497][[., 12] | min];

# The pairs of one workload as one.
def together:
	length as $n |
	if $n == 1 then .[0]
	else
		map(.ratio | log) | (add / $n) as $mean |
		(map((. - $mean) * (. - $mean)) | add / ($n - 1) / $n | sqrt * ($n | student)) as $half |
		{ratio: ($mean | exp), low: ($mean - $half | exp), high: ($mean + $half | exp)}
	end + {pairs: (map(.pairs) | add)};

(map(.kernels[0] | select(.status != "correct")) | first) as $fault |
if $fault then {got: $fault.status, reasons: ($fault.reasons // [])}
elif all((.pairs // []) == []) then {race: {outcome: "inconclusive"}}
else
	map(.pairs // [] | .[]) | group_by(.workload) | map(together) |
	{ratio: (map(.ratio) | max), low: (map(.low) | max), high: (map(.high) | max),
		pairs: (map(.pairs) | min)} |
	{race: (. + {outcome: outcome})}
end
