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

# edit FILE PROGRAM: what jq makes of the file takes its place.
edit() {
	jq "$2" "$1" >"$1.new" && mv "$1.new" "$1"
}
