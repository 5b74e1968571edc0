# SPDX-License-Identifier: Apache-2.0
# From kbench's record about a cheat that raced against an honest kernel: whether it has gained
# anything. It has not when the whole interval of the ratio (honest time / its time) is at most
# 1.02, on every workload. It has when the whole of one is above.

def outcome: if .low > 1.02 then "GAINED" elif .high <= 1.02 then "no gain" else "inconclusive" end;

.kernels[0] as $cheat |
if $cheat.status != "correct" then {got: $cheat.status, reasons: ($cheat.reasons // [])}
elif (.pairs // []) == [] then {race: {outcome: "inconclusive"}}
else
	.pairs |
	{ratio: (map(.ratio) | max), low: (map(.low) | max), high: (map(.high) | max),
		pairs: (map(.pairs) | min)} |
	{race: (. + {outcome: outcome})}
end
