# SPDX-License-Identifier: Apache-2.0
# What all observed calls have in common, so that an entry can be made where its arguments are no separate arrays. Input:
# "calls", and "compared", pairs of pointers that the function compares. Output: those of the following that are not empty:
# "null", the arguments that are null pointers in every call, and pointers on the way to some ("a->b") that are; "joined",
# those that always point into the array of another one, with its name: if a call changes an array that overlaps another, or
# one of two whose pointers are compared; "within", arrays that some call also touches before the place that it gets; and
# "given", arrays that are null pointers in some calls, if every call has such a pointer.

def offset($name): .[$name].offset // 0;
# The first argument that points into the same piece of memory; null: that is unknown.
def piece($name): .[$name] | if .offset then .shares // $name else null end;
# The piece in which an array reaches into another one, which begins after it, and the call changes one of them.
def overlapping:
	. as $call | first(keys_unsorted[] | . as $name | $call | .[$name] as $p | piece($name) as $first
		| select($first and ($p.reach // 0) > ($p.room // 0) and any(keys_unsorted[]; . as $other | $call
			| offset($other) == offset($name) + ($p.room // 0) and piece($other) == $first
				and ($p.written or .[$other].written)))
		| $first);

.compared as $compared | .calls as $whole | [$whole[].pointers // {}] as $calls | ($calls[0] // {} | keys_unsorted) as $names
| (first(($calls[] | overlapping),
	($compared[] as [$a, $b] | select(any($calls[]; .[$a].written or .[$b].written)
		and all($calls[]; piece($a) and piece($a) == piece($b))) | $calls[0] | piece($a))) // null) as $first
| [$names[] | select(. as $name | $first and all($calls[]; piece($name) == $first))] as $together
# The one that begins first in every call.
| (first($together[] | select(. as $name | all($calls[]; . as $call | all($together[]; . as $other
	| $call | offset($name) <= offset($other))))) // null) as $base
| { null: ([$names[] | select(. as $name | all($calls[]; .[$name].null) and all($whole[]; .absent[$name] | not))]
		+ ([$whole[0].absent // {} | to_entries[] | select(. as $way | all($whole[]; .absent[$way.key] == $way.value)).value]
			| unique)),
	joined: ($together | map(select($base and . != $base) | { key: ., value: $base }) | from_entries) }
| .within = [$names[] | select(. as $name | any($calls[]; .[$name].below) and all($calls[]; piece($name)))]
| if .joined != {} then .within = [] else . end
| .given = [$names[] | select(. as $name | any($calls[]; .[$name].null) and any($calls[]; .[$name].null | not))]
| if .given as $given | all($calls[]; . as $call | any($given[]; $call[.].null)) then . else .given = [] end
| with_entries(select(.value | length > 0))
