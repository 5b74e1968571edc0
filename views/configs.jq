# SPDX-License-Identifier: Apache-2.0
# The few calls of a kernel that represent all of them: adopt/configs.json, as docs/adopt.md describes. Input: "seen" and
# "timed", the records of the calls that were observed and of those that were timed, and their headers; "files", the names
# of both files; "integers", the arguments that are integers in every call; "key", the arguments that distinguish calls,
# or null; "top" and "variance". Each configuration gets "at", the observed call that has its arguments, or null. If a
# call has no key, the output is only a "fault".

def number: if . == null then null else . * 1e6 | round / 1e6 end;
def quantile($q):
	sort | ((length - 1) * $q) as $place | ($place | floor) as $i
	| .[$i] + ($place - $i) * ((.[$i + 1] // .[$i]) - .[$i]);
def product: .[0] * .[1] * .[2];

# ---- arguments ----

# The most frequent value of a list, the first one if several are, and how often it occurs.
def most_frequent:
	[to_entries | group_by(.value)[] | { at: .[0].key, value: .[0].value, times: length }] | min_by([-.times, .at]);
# The value that half or more have; otherwise, for numbers the lower median, for others the most frequent.
def middle:
	most_frequent as $most
	| if 2 * $most.times >= length or any(type != "number") then $most.value else sort[(length - 1) / 2 | floor] end;
# The arguments that represent those of many calls. Sizes belong together: if the middle of each of them never occurred
# with the others, it is the most frequent combination. Comparing takes time, so it looks at 1024 calls at most.
def representative:
	(length / 1024 | ceil) as $stride | [range(0; length; $stride) as $i | .[$i]] as $some
	| if $some == [] then {} else
		(reduce ($some[0] | keys[]) as $name ({}; .[$name] = ([$some[][$name] | values] | middle))) as $each
		| if any($some[]; . == $each) then $each else $some | most_frequent.value end
	end;

# ---- keys ----

def is_size_name:
	test("^(n|m|k|h|w|c|b|n[xyz]|mm|nn|kk|n?rows|n?cols|columns|width|height|depth|size|len|length|count|batch|batches"
		+ "|channels|stride|pitch|ld[abc]?|dim|elements|num|groups|heads|seq)$"
		+ "|._(rows|cols|width|height|size|len|length|count|dim|stride|n|batch)$|^(num|n|len|dim|size)_"; "i");
# Is the size of an array of the call a multiple of $v? Small numbers do not count: they divide many sizes.
def divides($v):
	$v >= 16 and any(.pointers // {} | .[]; (.bytes // 0) - (.offset // 0) | . > 0 and . % $v == 0);
# Does the argument distinguish a few kinds of calls, and not just count them?
def has_few_values($name; $most): map(.args[$name]) | unique | length <= $most;
def is_size($name):
	all(divides(.args[$name])) or (($name | is_size_name) and has_few_values($name; [32, length / 4] | max));
# The arguments that distinguish the observed calls. If nothing looks like a size, all integers with few values.
def key_names($integers):
	. as $calls
	| [$integers[] | select(. as $name | $calls | is_size($name))]
	| if . == [] then [$integers[] | select(. as $name | $calls | has_few_values($name; 32))] else . end
	| .[:8];
# Which of the KEYS, for each the first call that has it, an observed call has. For a launch that has none of them: one
# with the same total of threads and blocks, because a log may have flattened 32 x 8 to 256, or else, of those with the
# same size of a block, the one with the nearest grid.
def find_key($launch; $keys; $index):
	$index[.key | tojson]
	// if $launch then . as $seen
			| [$keys | to_entries[] | select(.value.block | product == ($seen.block | product))]
			| min_by(.value.grid | product - ($seen.grid | product) | fabs).key
		else null end;

# ---- groups ----

# The calls with one key, as one group or two. Calls with the same arguments differ because of disturbances, so they stay
# together.
def split($variance):
	([group_by(.args // .n | tojson)[] | (map(.us) | quantile(0.5)) as $us | .[] | { n, us: $us }]
		| sort_by(.n) | map(.us)) as $us
	| ($us | quantile(0.25)) as $p25 | ($us | quantile(0.95)) as $p95
	| ([to_entries[] | .value + { slow: ($us[.key] > ($p25 * $p95 | sqrt)) }] | group_by(.slow)) as $sides
	| if length >= 4 and $p25 > 0 and $p95 / $p25 > $variance and ($sides | length == 2)
		then { suffix: "_fast", calls: $sides[0] }, { suffix: "_slow", calls: $sides[1] }
		else { suffix: "", calls: . } end
	| .total_us = (.calls | map(.us) | add);
# What each thread of the launches did.
def per_thread($counter):
	if all(.[$counter] != null and .grid != null)
	then (map(.[$counter]) | add) / (map((.grid | product) * (.block | product)) | add) | number
	else null end;

# ---- the choice ----

.top as $top | .variance as $variance | .files as $files | .header.kernel as $kernel
| (.key == null and .seen[0].grid != null) as $launch
| (if $launch then ["grid_x", "block_x"] else .key // (.integers as $integers | .seen | key_names($integers)) end) as $names
| def keyed($file): to_entries | map(.key as $n | .value | .n = $n | .us = (.ns // 0) / 1000 | .file = $file
	| .key = [if $launch then (.grid, .block)[0] else .args[$names[]] end]);
(.seen | keyed($files[0])) as $seen | (.timed | keyed($files[1])) as $calls
| first(($seen, $calls)[] | select(any(.key[]; type != "number"))
	| { fault: "\(.file):\(.n + 2): \($names | join(", ")): must be integers" })
// (
	($calls | group_by(.key)) as $groups | ($groups | map(.[0])) as $keys
	| ($keys | to_entries | map({ key: (.value.key | tojson), value: .key }) | from_entries) as $index
	| ($seen | map(find_key($launch; $keys; $index))) as $found
	| [$calls[] | select($index[.key | tojson] != $found[.n])] as $astray
	| ($calls | length == ($seen | length)) as $as_many
	| ($as_many and ($astray | length) <= 0.02 * ($calls | length)) as $aligned
	# The arguments of a group's calls; an observed call with these, if possible without null pointers; all about a group.
	| def scalars:
		$index[.[0].key | tojson] as $key
		| [(if $aligned then .[].n else range($seen | length) end) | select($found[.] == $key) | $seen[.].args]
		| representative;
	def example($scalars):
		[(if $aligned then .[].n else empty end), range($seen | length) | select($seen[.].args == $scalars)]
		| first(.[] | select($seen[.] | any(.pointers // {} | .[]; .null) | not)) // .[0];
	def describe:
		(map(.us) | quantile(0.5)) as $us | min_by(.us - $us | fabs) as $typical
		| { target_us: ($us | number), calls: length, faults: ($typical.faults // 0), at: example(scalars),
			key: ([$names, $typical.key] | transpose | map({ key: .[0], value: .[1] }) | from_entries) }
			+ if $launch then $typical | { grid, block } else {} end
			+ ({ inst_per_thread: per_thread("thread_inst"), bytes_per_thread: per_thread("dram_bytes") }
				| with_entries(select(.value != null)) | if . == {} then . else { budget: . } end);
	[$groups[] | split($variance)] | sort_by(-.total_us)
	| length as $count | (map(.total_us) | add) as $total
	| def share: if $total > 0 then . / $total else 0 end | number;
	.[:$top]
	| { schema: "configs/1", kernel: $kernel, key: $names, calls: ($calls | length), groups: $count, aligned: $aligned,
		total_us: ($total | number), coverage: (map(.total_us) | add | share),
		configs: [to_entries[] | (.key + 1) as $rank | .value
			| { name: "top\($rank)\(.suffix)", total_us: (.total_us | number), share: (.total_us | share) }
				+ (.calls | describe)] }
	| .notes = [
		(select(.coverage < 0.8)
			| "the \(.configs | length) configurations cover \(.coverage * 1000 | round / 10) % of the time, less than "
				+ "80 %; use --top to take more of the \($count)"),
		(select($aligned or $as_many | not)
			| "\(.calls) calls were timed and \($seen | length) observed, so arguments are matched by key: fast and "
				+ "slow calls with the same key get the same arguments"),
		(select($as_many and ($aligned | not))
			| "\($astray | length) of \(.calls) timed calls have other keys than the observed calls, so arguments "
				+ "are matched by key")])
