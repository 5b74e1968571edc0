# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# TAP in shell. A test file begins with `. "${0%/*}/lib.sh"`, calls `ok NAME 'script'` and ends with `done_testing`.
# Each script runs in its own sh -eu, in a temporary folder shared by the file; a failing script's output goes to
# stderr, where prove shows it. KILN_BUILD holds the programs, KILN_DATA the source tree; PATH finds the programs first.
set -eu
tests_dir=$(cd "${0%/*}" && pwd)
: "${KILN_DATA:=$(dirname "$tests_dir")}" "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
LC_ALL=C
export KILN_DATA KILN_BUILD PATH LC_ALL tests_dir
# Options of make check are not meant for the makes that tests run.
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
T=$(mktemp -d "${TMPDIR:-/tmp}/kiln-test.XXXXXX")
# What campaigns leave to later ones stays in the test's folder.
XDG_DATA_HOME=$T/.data
export T XDG_DATA_HOME
trap 'chmod -R u+rwX "$T"; rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
cd "$T"
# shellcheck source=tests/functions.sh
. "$tests_dir/functions.sh"
count=0
failed=0

ok() {
	count=$((count + 1))
	# shellcheck disable=SC2016
	if sh -euc '. "$tests_dir/functions.sh"; '"$2" >"$T/.log" 2>&1 </dev/null; then
		printf 'ok %d - %s\n' "$count" "$1"
	else
		printf 'not ok %d - %s\n' "$count" "$1"
		{ printf '%s: %d - %s\n' "${0##*/}" "$count" "$1" && cat "$T/.log"; } | sed 's/^/# /' >&2
		failed=1
	fi
}

skip() {
	count=$((count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"
}

done_testing() {
	printf '1..%d\n' "$count"
	exit "$failed"
}
