# SPDX-License-Identifier: Apache-2.0
# What kprofile reports of one launch, from what it has measured and concluded: the "values" by name; "findings" and
# "not_evaluable" rules; the "launch", whose "advice" from the vendor's tool is compared with our findings; and the "table".

def once: reduce .[] as $x ([]; if any(.[]; . == $x) then . else . + [$x] end);
def severity: { low: 0, medium: 1, high: 2 }[.];

# Advice: for the whole kernel first, then for one unit, each with the highest estimate first; then without an estimate.
def kind: { OPT: 0, WRN: 1 }[.type] // 2;
def order: (.speedup.percent // -1) as $percent
	| [if $percent < 0 then 2 elif .speedup.scope == "local" then 1 else 0 end, -$percent, kind];
# The same rule and, ignoring digits, the same beginning.
def same: [.rule, (.text | gsub("[\\d.]+"; ""))[:60]] | tojson;

# Ids of our rules about the same topic. It is identified by the name of the vendor's rule (or, on the text page, by its
# section), because the prose differs between releases; only the reason of a stall is given in the prose alone.
def topics($rows): . as $advice | [$rows[]?
	| select(if $advice.rule != "" then .rule == $advice.rule else (.section // "-") == $advice.section end)
	| select(.text as $word | $word == null or ($advice.text | contains($word))) | .ids[]];

# "agrees", "only_vendor", or "info" for remarks that recommend nothing.
def judged($rows; $found): [topics($rows)[] | select(. as $id | $found | index($id))] as $matches
	| . + { verdict: (if kind == 2 then "info" elif $matches != [] then "agrees" else "only_vendor" end), $matches };

.values as $values
| (.findings | sort_by(-(.severity | severity), -.margin, .id)) as $findings
| [$findings[].id] as $found
| .table.vendor as $rows
| (.launch.advice | sort_by(order) | reduce .[] as $one ({}; ($one | same) as $key | .[$key] //= $one)
	| [.[] | judged($rows; $found)]) as $advice
| ([$advice[] | select(.verdict == "agrees") | .matches[]] | once) as $agrees
| {
	schema: "profile/1", source, formats, files, kernel: .launch.kernel, kernels,
	launch: (.launch.facts + { id: .launch.id } + ($values.duration_ns | if . then { duration_ns: . } else {} end)),
	bottleneck: (.bottleneck | {
		"label": .label, tags,
		text: (([.label] + .tags | join(", ")) + (.shown | if . then " (\(.))" else "" end))
	}
		+ (.missing | if . then { missing: . } else {} end)),
	metrics: (reduce (.table.values[] | select(.group)) as $v ({}; $values[$v.name] as $value
		| if $value == null then . else .[$v.group][$v.name] = { $value, unit: ($v.unit // "") } end)),
	# Why warps wait, as shares of the time between two instructions of a warp.
	stalls: ([.table.values[] | select(.reason) | { reason, fraction: $values[.name] } | select(.fraction > 0)]
		| sort_by(-.fraction) | .[:5]),
	$findings, not_evaluable,
	recommendations: $advice[:12],
	cross_check: {
		$agrees,
		only_vendor: ([$advice[] | select(.verdict == "only_vendor")
			| if .rule != "" then .rule else .section // "?" end] | once),
		only_ours: (if $advice == [] then [] else $found - $agrees | once end)
	},
	notes: (.notes + [.unreliable | keys_unsorted[] | "\(.): not used, because the profiler marks it as doubtful"])
}
