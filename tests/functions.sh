# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Helpers of a test file and of its ok scripts.

# exits CODE COMMAND…: the command ends with exactly this status; its output is in out and err.
exits() {
	want=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] || {
		echo "exit status $got, not $want: $*"
		cat out err
		return 1
	}
}

# not COMMAND…: the command fails. Unlike !, which set -e ignores, it ends the script if not.
not() {
	if "$@"; then
		echo "succeeded: $*"
		return 1
	fi
}

# alive PID: the process has not ended. The dead may stay for ever, where process 1 does not wait for them.
alive() {
	ps -o stat= -p "$1" | grep -q '^[^Z]'
}

# same EXPECTED ACTUAL: the two files are equal.
same() {
	diff -u "$1" "$2"
}

# is EXPECTED ACTUAL: the two strings are equal.
is() {
	[ "$1" = "$2" ] || {
		printf 'expected: %s\n     got: %s\n' "$1" "$2"
		return 1
	}
}

# edit FILE PROGRAM: replaces the file by jq's output for it.
edit() {
	jq "$2" "$1" >"$1.new" && mv "$1.new" "$1"
}

# shipped NAME: a copy of a shipped campaign, in a folder of that name, in its state before the first trial.
shipped() {
	cp -r "$KILN_DATA/campaigns/$1" "$1"
	(cd "$1" && rm -rf trials rounds logs memory recorded archive.ndjson report.*)
}

# make_small FOLDER: makes evaluations take seconds, even on a busy machine: the campaign's own files, but
# sizes of at most 40, one seed, and times from a file.
make_small() (
	cd "$1" || exit
	edit campaign.json '.memory = {enabled: "off"} | .git.branch = "none" |
		.eval += {seeds: 1, threads: 1, profile: "off",
			timing: {format: "json", command: "cat times.json", files: ["times.json"]}}'
	[ ! -e task.json ] ||
		edit task.json '.workloads[].axes |= map_values(if . > 40 then 40 - . % 3 else . end)'
	jq '{timing: [.workloads[] | select(.timed) | {workload: .name, samples_ns: [5000]}]}' \
		"$(jq -r '.task // "task.json"' campaign.json)" >times.json
)

# brisk FOLDER [FILTER]: makes the evaluations of a new campaign short. What the machine can do, which takes longer to
# measure than all of them, is given. FILTER changes campaign.json further.
brisk() {
	edit "$1/campaign.json" ".eval += {set: \"full\", timing_s: 0.02, min_samples: 25, seeds: 1} | ${2:-.}"
	mkdir -p "$1/trials/000"
	cp "$KILN_DATA/tests/data/ceilings.json" "$1/trials/000"
}

# amend FOLDER TRIAL FILTER: changes the scored records of a trial with jq, as if they had always been so.
amend() (
	cd "$1" || exit
	for id in $(jq -r .id "trials/$2/score.ndjson"); do kcampaign record "$id"; done | jq -c "$3" >amended
	for stage in sample prompt reply eval; do rm -f trials/"$2"/*/$stage.ndjson; done
	mv amended "trials/$2/score.ndjson"
	kcampaign upgrade >/dev/null
)
