# SPDX-License-Identifier: Apache-2.0
# Facts about hardware, from {"files": [{"file", "sha256", "text"}], "vocabulary", "hedges"} to {"devices", "names", "faults"};
# docs/hardware/README.md defines the grammar. VOCABULARY is units.json there. HEDGES is a regular expression for words that
# must not be next to a figure.

. as $in
# Each metric with its units; one with WORDS has no number.
| ([.vocabulary.dimensions[] as $dimension | $dimension.metrics[] | { (.): $dimension }] | add) as $metrics
| def number: "[0-9]+(?:[.][0-9]*)?(?:[eE][+-]?[0-9]+)?";
def trim: gsub("^[ \\t]+|[ \\t]+$"; "");
def words($regex): first((match("^\($regex)$").captures | map(.string)), null);

# "600 / 8" or "8 * 2.5e3 / 1e3", from the left; null: not such a product.
def product:
	if test("^ *\(number)(?: *[*/x] *\(number))+ *$") then
		[scan("[*/x]|\(number)")] as $part
		| reduce range(1; $part | length; 2) as $i ($part[0] | tonumber;
			($part[$i + 1] | tonumber) as $factor
			| if $part[$i] != "/" then . * $factor elif $factor == 0 then infinite else . / $factor end)
		| if isinfinite then null else . end
	else null end;

# The state: the device that is read (its facts, and the sources in its file), and the names and faults of all.
def fault($line; $text): .faults += ["\(.device.file):\($line): \($text)"];

# Facts may come before the sources that they name, so these are read first.
def read_key($line; $text):
	($text | words("- \\[\\s*([^]]*?)\\s*\\]:?\\s*(.*?)\\s*")) as $part
	| if $part == null then .
	else
		if $part[1] | test("https?://") then .
		else fault($line; "[\($part[0])]: a source needs its title and its address (https://…)") end
		| .sources[$part[0]] = { text: $part[1], line: $line } end;

# A name in two files is an error: the value would depend on which is read first.
def add_name($line; $name):
	($name | ascii_downcase) as $key | .names[$key] as $seen | (.devices | length) as $own
	| if $seen == null then .names[$key] = { device: $own, line: $line }
	elif $seen.device != $own then
		fault($line; "'\($name)' is already in \(.devices[$seen.device].file):\($seen.line); a device has one file")
	else . end;

def evidence($fact; $number):
	$fact.evidence as $evidence
	| if $evidence == "vendor-published" or $evidence == "architecture-analysis" then .
	elif $evidence | startswith("derived ") | not then
		fault($fact.line; "\($fact.metric): '\($evidence)' must be vendor-published, architecture-analysis, or derived with "
			+ "its calculation (derived 600 / 8)")
	else
		($evidence[8:] | product) as $derived
		| if $derived == null then
			fault($fact.line; "\($fact.metric): 'derived' needs its divisor: numbers with * and /, as in derived 600 / 8")
		elif ($derived - $number | fabs) > 1e-3 * $number then
			fault($fact.line; "\($fact.metric): \($evidence) gives \($derived), not \($number)")
		else . end end;

# "[S1] row x" becomes the text of S1 and the row.
def source($fact; $text):
	($text | words("\\[([^]]*)\\] *(.*)")) as $part
	| (if $part then .sources[$part[0]] else null end) as $source
	| if $source == null then
		fault($fact.line; "\($fact.metric): has no source; end the line with [KEY] and the place in it, where KEY is from the "
			+ "section Sources")
	else
		.sources[$part[0]].used = true
		| .fact.source = $source.text + (if $part[1] == "" then "" else "; " + $part[1] end)
		| if $part[1] != "" then .
		else fault($fact.line; "\($fact.metric): say where it is in the source: a page, section, table or row") end end;

# "value unit; evidence; source".
def read_value($metric; $fact; $text):
	($text | split(";")) as $part
	| ($part[0] | trim) as $figure
	| ($figure | words("(.*?)(?:\\s(\\S*))?")) as $value
	| ($fact + { state: "known", value: $value[0], unit: ($value[1] // ""), evidence: ($part[1] // "" | trim) }) as $fact
	| ($metric.units[$fact.unit] // 0) as $factor
	| (if $metric.words or ($fact.value | test("^\(number)$") | not) then null
		else $fact.value | tonumber | if isinfinite or . <= 0 then null else . end end) as $number
	| first($figure | match($in.hedges).string[0:15], null) as $hedge
	| .fact = $fact
	| if $hedge then fault($fact.line; "\($fact.metric): '\($hedge)' hedges; write the figure from the source, or unavailable")
	elif $factor == 0 then
		fault($fact.line; "\($fact.metric): unit '\($fact.unit)' must be one of: \($metric.units | keys_unsorted | join(", "))")
	elif $number == null and ($metric.words | not) then
		fault($fact.line; "\($fact.metric): '\($fact.value)' must be a number above 0")
	elif $number then .fact.number = $number * $factor | evidence($fact; $number)
	else . end
	| source($fact; $part[2:] | join(";") | trim);

def read_fact($line; $name; $text):
	$metrics[if $name | test($in.vocabulary.rates) then "rate" else $name end] as $metric
	| ($text | words("(unavailable|none)(?:: *(.*))?")) as $reason
	| { metric: $name, line: $line } as $fact
	| if $metric == null then fault($line; "'\($name)' is not a metric; see docs/hardware/README.md") | .fact = $fact
	elif $reason == null then read_value($metric; $fact; $text)
	else
		.fact = $fact + { state: (if $reason[0] == "none" then "nothing" else "unavailable" end), source: ($reason[1] // "") }
		| if .fact.source != "" then .
		else fault($line; "\($name): a reason is missing; write \($name): \($text): because …") end end
	| first((.device.facts[] | select(.metric == $name)), null) as $first
	| if $first then
		fault($line; "\($name): is already in line \($first.line) (\($first.value // "unknown") \($first.unit // ""))")
	else . end
	| .device.facts += [.fact];

# "- name: rest" of the lists in a file; anything else is prose.
def read_line($line; $text):
	if $text | contains("\ufffd") then fault($line; "the line is not UTF-8") else . end
	| ($text | words("- ([a-z0-9_]+):\\s*(.*?)\\s*")) as $part
	| if $part == null or $part[0] == "vendor" then .
	elif $part[0] == "device" then .device.name = $part[1] | add_name(1; $part[1])
	elif $part[0] == "alias" then add_name($line; $part[1])
	else read_fact($line; $part[0]; $part[1]) end;

def read_file($file):
	[$file.text | split("\n")[] | sub("\\r.*"; "")] as $lines
	| .device = { file: $file.file, sha256: $file.sha256, facts: [] } | .sources = {}
	| reduce range($lines | length) as $i (.; if $lines[$i][0:3] == "- [" then read_key($i + 1; $lines[$i]) else . end)
	| reduce range($lines | length) as $i (.; if $lines[$i][0:2] == "- " then read_line($i + 1; $lines[$i]) else . end)
	| if .device.name == null then fault(1; "the line '- device: NAME' is missing") | .device.name = ""
	elif (.device.file | split("/") | last) != "\(.device.name).md" then
		fault(1; "the device is '\(.device.name)', so the file's name must be \(.device.name).md")
	else . end
	| reduce (.sources | to_entries[] | select(.value.used | not)) as $e (.; fault($e.value.line; "no fact cites [\($e.key)]"))
	| .devices += [.device];

reduce .files[] as $file ({ devices: [], names: {}, faults: [] }; read_file($file)) | { devices, names, faults }
