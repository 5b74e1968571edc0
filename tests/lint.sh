#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make lint: what the compiler does not check. Run from the top of the tree. CC and KFLAGS come from the Makefile.
set -u
failed=0
: "${CC:=cc}" "${KFLAGS:=-std=gnu11 -D_GNU_SOURCE -Itools/core -Itools/model}"

fail() {
	failed=1
	printf 'lint: %s\n' "$*" >&2
}

for h in tools/*/*.h adopt/*.h adopt/*/*.h; do
	eval "$CC $KFLAGS" -Werror -fsyntax-only -include '"$h"' -x c /dev/null || fail "$h does not compile alone"
done

# clang-format defines the form of the C, but its versions differ in details; comments have the same width. Candidates
# have their own form.
case $(clang-format --version) in
*'version 14.'*) find tools adopt tests/unit tests/fuzz -name '*.[ch]' -exec clang-format --dry-run -Werror {} + ||
	fail 'the form of the C; clang-format -i fixes it' ;;
esac
find tools adopt tests/unit tests/fuzz -name '*.[ch]' | while read -r c; do
	expand "$c" | LC_ALL=C.UTF-8 grep -nE '^.{101}' | sed "s|^|$c:|"
done | grep . && fail 'a line wider than 100 columns'

# Mechanisms know nothing of the model, so its headers are not on their path.
alone=$(printf '%s' "$KFLAGS" | sed 's/-Itools\/[a-z]*//g')
for c in tools/core/*.c; do
	eval "$CC $alone" -fsyntax-only '"$c"' || fail "$c needs more than tools/core"
done

# kutil.h brings the usual headers of the C library, and kio.h kutil.h and Jansson's; nobody includes them again. kwatch,
# which is loaded into other people's programs, shares nothing else with kiln.
usual=$(sed -n 's/^#include <\(.*\)>$/\1/p' tools/core/kutil.h | paste -sd'|')
grep -rl '^#include "' tools adopt --include='*.[ch]' |
	xargs grep -nE "^#include <($usual)>" && fail 'a header that kutil.h includes'
grep -rl '^#include "kio[.]h"' tools adopt --include='*.[ch]' |
	xargs grep -nE '^#include (<jansson[.]h>|"kutil[.]h")' && fail 'a header that kio.h includes'

# Adoption communicates with kiln through programs and files. It also uses two modules of the model: code in replies,
# and what must not change since an adoption.
if grep -rnE '#include ".*(model|tools)/' adopt | grep -vE '"\.\./tools/model/(kextract|kseal)[.]h"'; then
	fail 'adopt/ includes more of the model than kextract and kseal'
fi

scripts=$(find tools adopt tests .ci docs/completion -type f \( -name '*.sh' -o -name '*.t' -o -name '*.bash' -o -path '.ci/run' \))
# shellcheck disable=SC2086
shellcheck -x -P SCRIPTDIR -e SC2016 $scripts || fail 'shellcheck'

# Tests have their scripts in quotes, where shellcheck does not look. They run under set -e (SC2164) and dash (SC3013),
# pass lists of words unquoted (SC2046, SC2089, SC2090) and names of files to people (SC2011), and their files may be
# called 1 (SC2210, SC2238); variables that a test file sets are not seen here (SC2034, SC2154).
for t in tests/*.t; do
	perl tests/bodies.pl "$t" |
		shellcheck -s sh -S warning -e SC2164,SC3013,SC2046,SC2089,SC2090,SC2011,SC2210,SC2238,SC2034,SC2154 - |
		sed "s|^In - line |In $t line |"
done | grep . && fail 'shellcheck of the scripts in tests'

# set -e ignores a command after !, so it can only be a condition.
grep -nE '(^|;|then|do|\{ )[[:space:]]*! [a-z]' tests/*.t | grep -v '||' && fail '! where "not" ends the script'

pages=$(find tools adopt docs -name '*.[1-8]')
# shellcheck disable=SC2086
mandoc -T lint -W warning $pages || fail 'mandoc -T lint'

find docs patterns prompts skills campaigns -name '*.json' -not -path '*/trials/*' | while read -r j; do
	jq -e . "$j" >/dev/null || echo "$j is not JSON"
done | grep . && fail 'JSON'

# Figures of devices belong in docs/hardware: programs may neither assign a peak, nor contain a figure from there.
if grep -rniE '(peak|bandwidth|tflops|gbps|sm_count|compute_units)[a-z_]* *=[ (]*[0-9.]*[1-9]' --include='*.[ch]' --include='*.cu' tools adopt; then
	fail 'a figure of a device in a program; docs/hardware is the place'
fi
grep -hoE '^- [a-z0-9_]+: [0-9.]+ ' docs/hardware/*.md | grep -oE '[0-9]+[.][0-9]+' | grep -E '.{5}' | sort -u |
	grep -rnwF -f - --include='*.[ch]' --include='*.cu' tools adopt && fail 'a figure of docs/hardware in a program'

# A flat table may be long; any other function should be looked at again, so this only warns.
find tools adopt -name '*.c' | while read -r c; do
	awk -v f="$c" '/^\{/ { start = FNR } /^\}/ && start { if (FNR - start > 61)
		printf "lint: warning: %s:%d: function of %d lines\n", f, start, FNR - start - 1; start = 0 }' "$c"
done

# Only the model knows the names of statuses and backends; other code asks it, and tests properties.
words='rejected|quarantined|no_code|no_plan|compile_error|run_error|wrong_shape|wrong_value|partial'
if grep -rnE "\"($words)\"|(strcmp|\"status\",).*\"correct\"" tools adopt --include='*.[ch]' | grep -v '^tools/model/'; then
	fail 'the word of a status; status.h has a value for it'
fi
if grep -rnE '"(cuda|hip|opencl|sycl|triton)"|strcmp.*"c"' tools adopt --include='*.[ch]' --include='*.cu' |
	grep -vE '^tools/(model/|kclassify/kpattern[.]c)|json_object_set\('; then
	fail 'the name of a backend; backend.h has a property for what it is about'
fi

# Output to a terminal is masked: ksay and kout_line do that, printf does not.
if grep -rnE '(^|[^a-z_])(v?printf|puts|putchar)\(' tools adopt --include='*.c' |
	grep -vE '^(adopt/kwatch/|tools/(helpers/|kharness/|kremote/|core/(kutil|koption)[.]c|model/kcommand[.]c))'; then
	fail 'text for people goes through ksay or kout_line'
fi

# kplace makes the paths of records: no other file builds one.
if grep -rnE 'kasprintf\("[^"]*trials/' tools adopt --include='*.[ch]' | grep -v '^tools/model/kplace[.]c'; then
	fail 'the path of a record; kplace.h has a function for it'
fi

# Not knowing whether a file exists is not the same as no: kis_there and kfind distinguish them.
if grep -rnE '(^|[^a-z_])(access|l?stat)\(' tools adopt --include='*.c' |
	grep -vE '^(adopt/kwatch/|tools/core/k(util|user|work)[.]c:)|, [WX]_OK\)'; then
	fail 'whether a file exists; kis_there, kis_folder and kfind say so'
fi

tests/members.sh tools/*/*.c adopt/*.c || fail 'the path of a member that no schema has'

if grep -rnE 'TODO|FIXME' tools adopt pipeline.mk Makefile --include='*.c' --include='*.h' --include='*.sh' --include='*.mk'; then
	fail 'unfinished places'
fi
exit "$failed"
