# SPDX-License-Identifier: Apache-2.0
# The work of a call by hardware counters, as formulas over a task's axes: {"flops", "bytes"}. Input: "launches", as
# adopt/ncu.h describes them; "configs", from adopt/configs.json; "workloads", from the task; "calls", the number of
# observed calls of a host function that launches several kernels, or null. A member is absent if it needs no formula,
# null if the launches do not show it for each configuration, and false if it is not in proportion to a product of sizes.

# Counts agree if they differ by this share at most.
def close: 0.01;

# The counter of a call of the configuration: that of its launches, which must agree. For a host function, that of all
# launches, if all calls are alike. Null: unknown.
def count_of($counter; $in):
	. as $config
	| [$in.launches[] | select($in.calls or .grid[0] == $config.grid[0] and .block[0] == $config.block[0])[$counter]]
	| if any(. == null) or . == [] then null
		elif $in.calls then if $in.configs | length == 1 then add / $in.calls else null end
		elif max - min <= close * max then add / length
		else null end;
def bytes_of($how): [.pointers // {} | .[] | select(.[$how]) | (.bytes // 0) - (.offset // 0)] | add // 0;

# All choices of so many names, in order; each may be chosen several times.
def choices($names; $count):
	if $count == 0 then []
	else choices($names; $count - 1) as $some
		| $names[if $some == [] then 0 else $names | index($some[-1]) end:][] | $some + [.] end;
# The formulas of these values that are a number times a product of axes; the number has at most six decimal places.
def formulas($values; $names):
	. as $axes | range(4) as $count | choices($names; $count) as $chosen
	| [$values, [$axes[] | reduce .[$chosen[]] as $axis (1; . * $axis)]] | transpose | . as $pairs
	| select(all(.[1] > 0)) | map(.[0] / .[1]) | (min * max | sqrt) as $rate
	| (1, 1000, 1000000) as $part | ($rate * $part | round) as $number
	| select($number > 0 and all($pairs[]; (.[1] * $number / $part - .[0] | fabs) <= close * .[0]))
	| (["\($number)"] + $chosen | join("*")) + if $part > 1 then "/\($part)" else "" end;
# The simplest formula of a member of the configurations.
def formula($member):
	map(.[$member]) as $values
	| if any($values[]; . == null) or $values == [] then null
		else first(map(.axes) | formulas($values; .[0] | keys_unsorted)) // false end;

. as $in
| (.workloads | map({ key: .name, value: (.axes // {}) }) | from_entries) as $axes
| .configs | map({ axes: $axes[.name], flops: count_of("flops"; $in), read: count_of("dram_read"; $in),
	arrays: bytes_of("read"), written: bytes_of("written") }
	| .bytes = if .read then .read + .written else null end)
# A kernel that reads less than half of its arrays does not read all of them.
| any(.read and .read < 0.5 * .arrays) as $partly
| map(select(.axes))
# A kernel of integers has no roofline but that of the memory.
| if all(.flops == 0) then {} else { flops: formula("flops") } end
	+ if $partly then { bytes: formula("bytes") } else {} end
