#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# skills/kiln/SKILL.md: every command line in it runs, in the order of the text, and ends as it says.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

skill=$KILN_DATA/skills/kiln/SKILL.md
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$skill" >commands
awk '/^~~~$/ { on = !on; next } on' "$skill" >plan
export skill

cat >helpers.sh <<'END'
# campaign FOLDER MODE: one branch, answers by file, scores by the null evaluator.
campaign() {
	kcampaign new "$1" --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq --arg mode "$2" '.model = {provider: "file"} | .eval = {evaluator: "null"} | .search = {mode: $mode, branches: 1}' \
		"$1/campaign.json" >"$1/new.json"
	mv "$1/new.json" "$1/campaign.json"
}
# answer FILE: plays the agent: the plan of the skill, and a program that the null evaluator rates as fast.
answer() {
	{ cat "$T/plan"; printf '\n```c\n'; cat reference.c; printf 'static const int variant = 1;\n```\n'; } >"$1"
}
# follow FOLDER: runs the commands of the skill there; where a file is renamed into place, it plays the agent's
# part.
follow() {
	rm -f ran said told
	cd "$1"
	while IFS= read -r line; do
		case $line in
		'mv '*) answer "$(echo "$line" | cut -d ' ' -f 2)" ;;
		esac
		code=0
		sh -c "$line" >"$T/out" 2>"$T/err" || code=$?
		case $line in
		*'# ends with 75') want=75 ;;
		*'# ends with 1 when'*) want=1 ;;
		*) want=0 ;;
		esac
		[ "$code" -eq "$want" ] || { echo "$line: status $code, not $want"; cat "$T/out" "$T/err"; return 1; }
		echo "$line" >>"$T/ran"
		cat "$T/out" >>"$T/said"
		cat "$T/err" >>"$T/told"
	done <"$T/commands"
}
END

ok 'the skill has a head, commands, a plan, and its rules' '
	head -n 1 "$skill" | grep -qx -- "---"
	sed -n 2p "$skill" | grep -qx "name: kiln"
	sed -n 3p "$skill" | grep -q "^description: .*Use when"
	test "$(wc -l <commands)" -ge 14
	test "$(sed -n "/^## Never/,/^## Stop/p" "$skill" | grep -c "^- Never")" -ge 6
	sed "1d;\$d" plan | jq -e "has(\"hypothesis\") and has(\"change\") and has(\"category\") and has(\"bucket\")"
	# A fence contains only commands of this project and of a shell.
	cut -d " " -f 1 commands | sort -u | while read -r c; do
		case $c in kcampaign | kprompt | jq | cat | mv | touch) ;; *) echo "unknown command $c"; exit 1 ;; esac
	done'

ok 'every command line, on a linear campaign' '
	. "$T/helpers.sh"
	campaign linear linear
	(follow linear)
	same commands ran
	grep -q "waiting for trials/001/01/reply.txt, the answer to trials/001/01/prompt.md" told
	grep -q "^001/01	" said
	grep -q "stop.request" told
	jq -e ".eval.plan.bucket == \"K1\" and (.eval | has(\"plan_fault\") | not)" linear/trials/001/01/eval.ndjson
	# What it says about the answer: a block "plan" is required, and "begin" and "end" lines.
	grep -q "\`\`\`plan" linear/trials/001/01/prompt.md'

ok 'every command line, on a campaign of the default kind' '
	. "$T/helpers.sh"
	campaign elites map-elites
	sed -i "/^touch/d; /^kcampaign next/d" commands
	(follow elites)
	same commands ran
	grep -q "skills/knowledge/ops/normalization.md" said
	grep -qx "# Form of the answer" elites/trials/001/01/prompt.md'

ok 'what it forbids is refused if a program can tell' '
	. "$T/helpers.sh"
	campaign rules map-elites
	cd rules
	exits 75 kcampaign run --trials 1
	# A reply that existed before its prompt is renamed when the prompt is another one.
	answer trials/001/01/reply.txt
	echo >>trials/001/01/prompt.md
	exits 75 kcampaign run --trials 1
	test -e trials/001/01/reply.txt.old
	# Two commands at the same time.
	flock .run.lock sleep 2 & sleep 0.3
	exits 75 kcampaign run --trials 1
	wait'

done_testing
