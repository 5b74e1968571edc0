# SPDX-License-Identifier: Apache-2.0
# What kcampaign knobs shows: {"schema", "ask"}, docs/schemas/campaign-1.json and a group, a field or nothing. A line for
# each field, all about one field, and the names of the groups.

def pad($width): . + " " * ($width - length);
def range:
	if .enum then .enum | join("|") | ltrimstr("|")
	elif .pattern then .pattern[2:-2] | gsub("[.][+]"; "") | ltrimstr("|")
	else { integer: "\(.minimum)..\(.maximum)", number: "\(.minimum)..\(.maximum)", boolean: "true|false",
		object: "object", string: "text" }[.type] end;

.ask as $ask | .schema | .required as $required
| { lines: [ .properties | to_entries[] | select(.key != "schema")
	| if .value.properties then .key as $group | .value.properties | to_entries[] | .key |= "\($group).\(.)"
		else . end
	| .key as $path | .value
	| (if $required | index($path) then "required" elif .default | . == null or . == "" then "empty" else .default | tostring end) as $default
	| if $path == $ask then "\($path): \(.description) (default: \($default); \(range))"
		elif $ask == null or ($path | startswith("\($ask)."))
		then "\($path | pad(23)) \($default | pad(10)) \(.description | split(";")[0])"
		else empty end ],
	groups: [ .properties | to_entries[] | select(.value.properties) | .key ] | join(", ") }
