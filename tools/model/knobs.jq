# SPDX-License-Identifier: Apache-2.0
# The rows of the table kknobs (kcamp.h), in C, from docs/schemas/campaign-1.json: fields at the top, then groups.
def choices:
	if .enum then .enum | join("|")
	elif .pattern then .pattern[2:-2] | gsub("[.][+]"; "")
	else null end;

{ string: "STR", integer: "INT", number: "NUM", boolean: "BOOL", object: "JSON" } as $types
| .required as $required
| .properties | to_entries[] | select(.key != "schema")
| if .value.properties
	then .key as $group | .value.properties | to_entries[] | .key |= "\($group).\(.)"
	else . end
| .key as $path | .value | choices as $choices
| [ ($path | @json),
	"KKNOB_" + (if $choices then "ENUM" else $types[.type] end),
	(if $required | index($path) then "NULL"
	elif has("default") then .default | tostring | @json
	else "\"\"" end),
	(.minimum // 0 | tostring),
	(.maximum // 0 | tostring),
	($choices | if . then @json else "NULL" end),
	(.description | @json) ]
| "{ \(join(", ")) },"
