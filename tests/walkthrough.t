#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The walkthrough "Add a backend" of CONTRIBUTING.md, followed literally in a copy of the tree.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

command -v gfortran >/dev/null || {
	skip 'a backend is added as CONTRIBUTING.md says' 'gfortran is not installed'
	done_testing
}

mkdir tree
for f in Makefile pipeline.mk CONTRIBUTING.md tools adopt pages patterns prompts skills docs tests; do
	cp -Rp "$KILN_DATA/$f" tree
done
# With their times, so that make does not rebuild what the steps do not touch.
cp -Rp "$KILN_BUILD" tree/build
# With the same flags, for the same reason.
case $(cat "$KILN_BUILD/flags") in *-Werror*) export WERROR=-Werror ;; esac

# blocks KIND: the fenced blocks of the walkthrough, in the form for diff or sh.
blocks() {
	sed -n '/^## Add a backend/,/^## Add a tool/p' "$KILN_DATA/CONTRIBUTING.md" |
		sed 's/^   //' | awk -v kind="$1" '/^```/ { on = $0 == "```" kind; next } on'
}
blocks diff >steps.diff
blocks sh >steps.sh

ok 'the differences apply, and the commands run: it is built, checked, and evaluates a kernel' '
	test -s steps.diff && test -s steps.sh
	cd tree
	patch -p1 <../steps.diff
	sed "s|/tmp/f|$T/f|g" ../steps.sh >../run.sh
	KILN_DATA=$PWD KILN_BUILD=$PWD/build PATH=$PWD/build:$PATH sh -eux ../run.sh >../out
	grep -q "\"correct\"" ../out'

ok 'a candidate is compiled, checked and timed; a wrong one is wrong' '
	cd tree
	export KILN_DATA=$PWD KILN_BUILD=$PWD/build PATH=$PWD/build:$PATH
	sed "s/2 \* x/3 * x/" tests/tasks/fortran_scale/reference.F90 >wrong.F90
	kbench --json --threads 1 tests/tasks/fortran_scale tests/tasks/fortran_scale/reference.F90 wrong.F90 >out || test $? -eq 1
	cat out; jq -c . out | head -c 600; grep -q "\"correct\"" out; grep -q "\"wrong_value\"" out'
done_testing
