# SPDX-License-Identifier: Apache-2.0
# What has changed since round 1 in what rounds are judged by: a list of {"file", "was", "now"}, objects; a text for each
# difference that has an influence on verdicts.

def told: tojson | .[0:60];
def changes($was; $now; $within):
	($was + $now | keys[]) as $member
	| if ($now | has($member) | not) then "\($within)\($member) was removed since round 1"
		elif ($was | has($member) | not) then "\($within)\($member) was added since round 1"
		elif $was[$member] == $now[$member] then empty
		else "\($within)\($member) changed since round 1, from \($was[$member] | told) to \($now[$member] | told)" end;
def by_name: map({ key: "workload \(.name)", value: . }) | from_entries;

# Texts for people have no influence, and baselines are only shown next to a result. Workloads are compared by name. The
# formulas for what a call computes and moves, for a roofline, may be added or corrected later, but not removed: reports
# have shown them.
def judged($now):
	del(.name, .description, .baselines, .workloads)
	| if $now | has("flops") then del(.flops) else . end | if $now | has("bytes") then del(.bytes) else . end;

map(.file as $file | .was as $was | .now as $now
	| ($was.workloads // [] | by_name) as $before | ($now.workloads // [] | by_name) as $after
	| "\($file): " + (
		changes($was | judged($now); $now | judged($now); ""),
		changes($before | delpaths([keys[] | select(in($after)) | [.]]); $after | delpaths([keys[] | select(in($before)) | [.]]); ""),
		($before | keys[] | select(in($after)) | changes($before[.]; $after[.]; "\(.): "))))
