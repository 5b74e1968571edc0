# SPDX-License-Identifier: Apache-2.0
# The library of what has paid off, from the lines that finished campaigns left: {"rows", "reader"}. For no reader, all
# patterns; for a reader ({"op", "backend", "gpu", "types"}), what its prompts may show: only of its own operation and
# backend, because gains in another operation tell little about this one.

def six: if . == 0 then . else pow(10; 5 - (fabs | log10 | floor)) as $scale | . * $scale | round / $scale end;
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;

# How often, and by how much, a kind of change paid off.
def patterns:
	map(select(.kind == "round")) | group_by(.backend, .op, .gpu, .category) | map(
		map(.gain_pct) as $gains | map(.application | strings) as $told
		| (.[0] | { schema, kind: "pattern", backend, op, gpu, category })
		+ { count: length, campaigns: (map(.campaign) | unique | length),
			gain_pct: ({ min: ($gains | min), median: ($gains | median), mean: (($gains | add) / length),
				max: ($gains | max) } | map_values(six)) }
		+ if $told == [] then {}
			else { applications: ($told | group_by(.) | map({ key: .[0], value: length }) | from_entries) } end);

# The last program of each campaign in each cell: earlier ones are its ancestors.
def programs:
	map(select(.program)) | to_entries
	| reduce .[] as $e ({}; .[$e.value.program.coords // $e.key | [$e.value.campaign, .] | tojson] = $e.value) | [.[]];

.reader as $reader | .rows as $rows
| def near: map(select(.op == $reader.op and .backend == $reader.backend));
def here: .gpu == $reader.gpu;
def shares_type: any(.program.types[]; . as $type | $reader.types | index($type));
$rows | if $reader then
	# The same device first, then what paid off most often, then what gained most.
	(patterns | near | sort_by((here | not), -.count, -.gain_pct.median) | .[:8])
	# The same types before the same device.
	+ (programs | near | sort_by((shares_type | not), (here | not), -.program.speedup) | .[:8])
	# The newest summary.
	+ (map(select(.kind == "summary")) | near | sort_by(here, .time) | .[-1:])
else patterns end
