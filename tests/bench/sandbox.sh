#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What one sandboxed run costs, by level: /bin/true from start to reaped, without (none) and with isolation. Bar: 15 ms.
set -eu
: "${KILN_BUILD:=build}"
PATH=$KILN_BUILD:$PATH
runs=${1:-100}
for level in none landlock bwrap; do
	if ksandbox-try --probe "$level" >/dev/null 2>&1; then
		ksandbox-try -l "$level" -p run -r "$runs" true
	else
		printf '%-9s not available here\n' "$level"
	fi
done
