# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For tests of the loop: null_campaign makes campaigns without model and measurement; wrap puts logging wrappers before
# the tools.

# null_campaign FOLDER TRIALS: the null provider answers at once, the null evaluator scores by the code's hash.
null_campaign() {
	kcampaign new "$1" --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq --argjson n "$2" '.model = {provider: "null"} | .eval = {evaluator: "null"} | .stop = {trials: $n, patience: 0}
		| .search = {branches: 4}' "$1/campaign.json" >"$1/new.json"
	mv "$1/new.json" "$1/campaign.json"
}

# wrap FOLDER: programs in FOLDER, to come first on PATH, that log their arguments to $LOG and then run the real ones.
# With FAIL=PATH in the environment, the stage that makes PATH ends with CODE instead; with SLOW=PATH it sleeps.
wrap() {
	mkdir -p "$1"
	cat >"$1/wrapper" <<'E'
#!/bin/sh
echo "${0##*/} $* key=${TEST_API_KEY-}" >>"$LOG"
case " $* " in
*" -o ${FAIL:-nothing} "*) exec "$REAL/kstep" sh -c "exit ${CODE:-75}" ;;
*" -o ${SLOW:-nothing} "*) exec "$REAL/kstep" sleep 60 ;;
esac
exec "$REAL/${0##*/}" "$@"
E
	chmod +x "$1/wrapper"
	for tool in ksample kprompt kllm keval kclassify kaudit kscore karchive kgrad kharness; do
		ln -sf wrapper "$1/$tool"
	done
}

# calls: how often each tool was called since the log was last emptied, as "keval 1, kscore 3".
calls() {
	cut -d ' ' -f 1 "$LOG" | sort | uniq -c | awk '{ printf "%s%s %d", sep, $2, $1; sep = ", " }'
	: >"$LOG"
}
