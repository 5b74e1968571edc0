# SPDX-License-Identifier: Apache-2.0
# Which workloads a linear search measures in every round: {"quick", "full", "shapes", "extra"}, the names of the two
# sets, the timed workloads of the full one, and those that only the quick one has. What makes the quick set
# cherry-picked, a text each, and the shapes by size, those that are proposed with the reason "why".

def least: 3;
def most: 5;
def chosen: map(select(.why));
def open: (.why or .fails) | not;
def choose($i; $why): if $i != null and (.[$i] | open) then .[$i].why = $why else . end;
def noisiest(among): to_entries | map(select(.value | open and among)) | sort_by(-.value.spread)[0].key;
# Steps: the other pass of a chosen one, both or neither.
def partners: (chosen | map(.pair | strings)) as $pairs
	| map(.pair as $pair | if open and ($pairs | index($pair)) then .why = "other pass of the step" else . end);
def propose:
	choose(map(.fails) | index(false); "smallest: launch cost")
	| choose(map(.fails) | rindex(false); "largest: memory or compute")
	| choose((length - 1) / 2 | floor; "middle")
	| if any(chosen[]; .skew) then . else choose(noisiest(.skew); "skewed groups") end
	| until((chosen | length) >= most or noisiest(true) == null; choose(noisiest(true); "noisiest"))
	| partners;

.quick as $quick | .full as $full | .extra as $extra
| .shapes | sort_by(.size, .name) | . as $all | map(select(.quick)) as $picked
| "the set \($quick)" as $set | ($picked | length) as $n | "\($set) times \($n) of \(length) shapes" as $times
| def covered($size): any($picked[]; .size == $size);
{ faults: [
	($extra[] | "\($set) contains the workload \(.), but the full set \($full) does not"),
	($picked[] | select(.fails) | "\($set) contains the workload \(.name), on which the baseline fails"),
	(select($n < length)
		| (select($n < least and length >= least) | "\($times); the minimum is \(least)"),
		(select($n > most)
			| "\($times); the maximum for a choice is \(most): leave some out, or use the full set (eval.set: \($full))"),
		(.[0] | select(covered(.size) | not) | "\($set) leaves out the smallest shape, \(.name)"),
		(.[-1] | select(covered(.size) | not) | "\($set) leaves out the largest shape, \(.name)"),
		(select(any(.skew) and (any($picked[]; .skew) | not)) | "\($set) leaves out every skewed shape"))
], shapes: (if length > 0 then propose else . end) }
