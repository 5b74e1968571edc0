#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every path of a record that a C file reads (kjson_*, krec_*) must be in docs/schemas, with a matching type, or in
# members.txt. Prints the others, and exits with 1: a mistyped path gives a default, and no test would notice. Run from
# the top of the tree. usage: members.sh FILE.c ...
set -eu
here=${0%/*}
known=$(mktemp)
trap 'rm -f "$known"' EXIT
jq -nrf "$here/members.jq" "$here"/../docs/schemas/*.json | sort -u >"$known"
reads='k(json|rec)_(str_or|maybe|num_or|int_or|bool_or|str|path|get|foreach(_text|_member)?)\(([^"();]|\([^()]*\))*, *"[A-Za-z_][A-Za-z0-9_.]*"'
for c; do
	tr '\n\t' '  ' <"$c" | grep -oE "$reads" | sed -E "s|^k(json\|rec)_([a-z]+).*\"([^\"]*)\"$|\2 \3 $c|" || :
done | sort -u | awk -v known="$known" -v foreign="$here/members.txt" '
	BEGIN {
		while ((getline <known) > 0)
			if ($1 == "P")
				member[$2] = type[$2, $3] = 1
			else
				inner[$2, $3] = 1
		while ((getline <foreign) > 0)
			foreign_at[$1, $2] = 1
		split("string string number integer boolean", names)
		split("str maybe num int bool", accessors)
		for (i in names)
			wants[accessors[i]] = names[i]
	}
	function number(name) {
		return type[name, "number"] || type[name, "integer"]
	}
	function fits(name, want) {
		return !want || type[name, want] || type[name, "any"] || (want ~ /number|integer/ && number(name))
	}
	{
		n = split($2, key, ".")
		why = fits(key[n], wants[$1]) ? "" : "\"" key[n] "\" is no " wants[$1]
		for (i = 1; i < n; i++)
			if (!inner[key[i], key[i + 1]])
				why = "\"" key[i] "\" has no \"" key[i + 1] "\""
		for (i = 1; i <= n; i++)
			if (!member[key[i]])
				why = "there is no \"" key[i] "\""
		if (why == "" || foreign_at[$2, $3])
			next
		printf "%s: %s: %s in docs/schemas\n", $3, $2, why
		bad = 1
	}
	END { exit bad }'
