# SPDX-License-Identifier: Apache-2.0
# Of all schemas: "P NAME TYPE" for every property, and "E NAME CHILD" where a member NAME has a member CHILD.
def deref($all; $file):
	if type == "object" and has("$ref") then
		(.["$ref"]) as $r
		| if ($r | startswith("#/")) then [$file, ($all[$file] | getpath($r[2:] | split("/")))]
		  else [$r, $all[$r]] end
	else [$file, .] end;
def parts($all; $file): # a schema and those it is made of
	deref($all; $file) as [$f, $s]
	| [$f, $s],
	  (if ($s | type) == "object" then
		($s | (.oneOf // [], .anyOf // [], .allOf // []) | .[]? | parts($all; $f)),
		($s | .items? // empty | select(type == "object") | parts($all; $f)),
		($s | .then?, .else? | select(. != null) | parts($all; $f)),
		($s | .additionalProperties? // empty | select(type == "object") | parts($all; $f)),
		($s | .prefixItems? // [] | .[] | parts($all; $f))
	   else empty end);
def types: [.type? // empty] | flatten | if length == 0 then ["any"] else . end;
(reduce inputs as $s ({}; .[$s["$id"]] = $s)) as $all
| $all | to_entries[] | .key as $file
| .value | .. | objects | select(has("properties")) | .properties | objects | to_entries[]
| .key as $name | .value | select(type == "object")
| (parts($all; $file) | . as [$f, $s] | $s | select(type == "object")
	| ("P \($name) \(types[])" , (.properties? // {} | keys[] | "E \($name) \(.)")
	  , (if has("const") or has("enum") then "P \($name) string" else empty end)))
