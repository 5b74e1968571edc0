# SPDX-License-Identifier: Apache-2.0
# From what a file of the corpus got to the verdict on the evaluator. $strict: accept nothing but
# what is expected.

def expected: .got as $got | any(.expect[]; . == $got);

def caught:
	(.checks // []) as $checks |
	if expected | not then "caught, other status"
	elif $checks != [] and .reasons != [] and ([.reasons[].check] - $checks != [])
	then "caught, other reason"
	else "caught" end;

def verdict:
	if .got == "not_judged" then "not judged"
	elif .file | contains("/good/") then (if expected then "right" else "ACCUSED" end)
	elif .got != "correct" then caught
	elif .race then .race.outcome
	else "PASSED" end;

def is_fine:
	IN("right", "no gain", "caught") or
	($strict | not) and IN("caught, other status", "caught, other reason", "inconclusive");

. + {verdict: verdict} | . + {ok: (.verdict | is_fine)}
