# SPDX-License-Identifier: Apache-2.0
# The rows of the table kknobs (kcamp.h), in C, from docs/schemas/campaign-1.json: fields at the top, then groups.

.required as $required
| .properties | to_entries[] | select(.key != "schema")
| if .value.properties
	then .key as $group | .value.properties | to_entries[] | .key |= "\($group).\(.)"
	else . end
| "{ \(.key | @json), \(.value.type == "string"), "
	+ (.key as $path | if $required | index($path) then "NULL" else .value.default | if . == null then "" else . end | tostring | @json end) + " },"
