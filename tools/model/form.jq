# SPDX-License-Identifier: Apache-2.0
# The rows of a form (kform.h), in C, from a schema of docs/schemas. Of several alternatives, what each allows is allowed.

def choices:
	if .enum then .enum | join("|")
	elif .const then .const
	elif .pattern and (.pattern | test("^\\^[(][^()]*[)][$]$")) then .pattern[2:-2] | gsub("[.][+]"; "")
	else null end;
# What else a text must be, and how to say that.
def pattern: if choices or .pattern == null then null else .pattern | sub("[$]$"; "\\z") end;
def types: [., .oneOf[]?] | map(.type // (if .enum or .const then "string" else empty end)) | flatten | unique;
def bound(f): first([., .oneOf[]?][] | f | numbers);
def string: if . == null then "NULL" else @json end;

def row($name; $required):
	def members:
		[., .oneOf[]?]
		| (map(.required // []) | add) as $needs
		| [ (map(.properties // {}) | add | to_entries[] | .key as $key | .value | row($key; $needs | index($key) != null)),
			(map(.additionalProperties | objects) | first(.[]) | row("*"; false)),
			(map(.items // empty) | first(.[]) | row("[]"; false)) ]
		| if . == [] then "NULL" else "(const struct kform[]){ \(join(", ")), { 0 } }" end;
	"{ \($name | string), "
	+ (types | if . == [] then "KFORM_ANY" else map("KFORM_" + ascii_upcase) | join(" | ") end)
	+ ", \($required), \(choices | string), "
	+ "\(bound(.minimum // .minLength // .minItems // .minProperties // (.exclusiveMinimum | if . == 0 then 5e-324 else . end))
		// "-INFINITY"), \(bound(.maximum // .maxLength // .maxItems // .maxProperties) // "INFINITY"), "
	+ "\(.description | string), \(members), \(pattern | string), \(.["$comment"] | string), \(.writeOnly == true) }";

# Each {"$ref": "#/$defs/NAME"} becomes that definition.
def inline($defs):
	walk(if type == "object" and has("$ref")
		then ($defs[.["$ref"] | split("/") | last] | inline($defs)) + del(.["$ref"]) else . end);

inline(.["$defs"]) | del(.description) | row(""; true)
