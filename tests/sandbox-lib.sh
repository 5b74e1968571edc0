# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For tests that run our own programs in the sandbox.

# plain NAME: path of the test program NAME in a form that can run inside. Sanitizers and coverage need what the sandbox
# forbids, so in such a build the program is compiled again without them.
plain() {
	if nm "$KILN_BUILD/$1" | grep -qE '__asan_init|__ubsan|__gcov'; then
		(
			cd "$KILN_DATA/tools/core"
			cc -std=gnu11 -D_GNU_SOURCE -I. -o "$T/$1-plain" ../../tests/tools/"$1".c kfilter.c kio.c klandlock.c kproc.c \
				ksandbox.c kuser.c kutil.c kwork.c -ljansson -lseccomp -lmd -lm -ldl -pthread
		) >&2 || return
		printf '%s\n' "$T/$1-plain"
	else
		printf '%s\n' "$KILN_BUILD/$1"
	fi
}
