#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Candidates that misbehave (tests/hostile/bad-*.c) and honest ones (good-*.c), each naming its expected status. First
# the sandbox alone must contain them, built and run without any scan or judge; then keval judges them as in a campaign,
# and gives the reason.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/sandbox-lib.sh
. "$tests_dir/sandbox-lib.sh"

chmod 755 "$T"
umask 022
mkdir "$T/tmp"
TMPDIR=$T/tmp
KILN_LOCK_DIR=$T
export TMPDIR KILN_LOCK_DIR
runner=$(plain ksandbox-try)
export runner
key=sk-CANARY-$$-5e6f7a8b
mkdir "$T/home"
printf '%s\n' "$key" >"$T/home/key"
FAKE_API_KEY=$key
export key FAKE_API_KEY

# The corpus, with the canary's real path inserted.
mkdir "$T/corpus"
for file in "$KILN_DATA"/tests/hostile/*.c; do
	sed "s|@CANARY_FILE@|$T/home/key|" "$file" >"$T/corpus/${file##*/}"
done
# unharmed FILE…: the key is not in these files and still in its place, and no work folder is left.
cat >"$T/unharmed" <<'EOF'
#!/bin/sh -eu
if grep -F "$key" "$@"; then exit 1; fi
[ "$(cat "$T/home/key")" = "$key" ]
[ -z "$(ls -A "$TMPDIR")" ]
EOF
chmod 755 "$T/unharmed"
PATH=$T:$PATH

# alone FILE: builds and runs it with nothing but the sandbox around it; --adopt fails when a process is left behind.
cat >"$T/alone" <<'EOF'
#!/bin/sh -eu
ksandbox-try --adopt ksandbox-try -l "$level" -t 5 -m 2000 -F 67108864 -f candidate.c="$1" -K \
	sh -c 'gcc -O2 -march=native -fopenmp -std=gnu11 -w -shared -fPIC -o candidate.so candidate.c -lm' >built
work=$(jq -r .work built)
if [ -e "$work/candidate.so" ]; then
	cp "$work/candidate.so" .
	ksandbox-try --adopt ksandbox-try -l "$level" -p run -t 1 -m 2000 -O 1000000 -f candidate.so=candidate.so -K \
		-b "$runner:/CANDIDATE-RUNNER" /CANDIDATE-RUNNER --call ./candidate.so >ran
	jq -e '.total_s < 2' ran >/dev/null
	[ -z "$(find "$(jq -r .work ran)" -type l)" ]
	rm -rf "$(jq -r .work ran)" candidate.so
else
	jq -e '.total_s < 6' built >/dev/null
	cp built ran
fi
rm -rf "$work"
EOF
chmod 755 "$T/alone"

for level in bwrap landlock; do
	export level
	if ! ksandbox-try --probe "$level" >"$T/probe" 2>&1; then
		skip "$level alone" "$(cat "$T/probe")"
		continue
	fi
	for file in "$T"/corpus/bad-*.c; do
		name=${file##*/}
		export file
		ok "$level alone holds ${name%.c}" 'alone "$file"; unharmed built ran'
	done
	ok "$level alone: an honest kernel with threads is not hindered" '
		alone "$T/corpus/good-openmp.c"
		jq -e ".out | startswith(\"returned 64\")" ran
		alone "$T/corpus/good-tasks.c"
		jq -e ".out | startswith(\"returned 64\")" ran'
done

if ! command -v keval >/dev/null || ! command -v kharness >/dev/null; then
	skip 'judged' 'keval and kharness are not built'
	done_testing
fi

mkdir "$T/campaign"
cp "$KILN_DATA/tests/hostile/task.json" "$KILN_DATA/tests/hostile/reference.c" "$T/campaign"
cat >"$T/campaign/campaign.json" <<'EOF'
{"schema": "campaign/1", "name": "hostile", "eval": {"threads": 2, "seeds": 2, "timing_s": 0.05, "min_samples": 25,
 "max_samples": 30, "run_timeout_s": 2, "build_timeout_s": 20, "memory_mb": 2000}}
EOF

# no_gain: a trick whose results are right anyway has not made the candidate fast: skipping the work would be a hundred
# times as fast.
cat >"$T/no_gain" <<'EOF'
#!/bin/sh -eu
jq -es '(.[0].eval.timing[0].min_ns | values) > .[1].eval.timing[0].min_ns / 5' record \
	"$T/campaign/trials/000/00/eval.ndjson"
EOF
chmod 755 "$T/no_gain"

# judge FILE: the status is one of those expected; anything but correct has an expected reason; no harm was done.
cat >"$T/judge" <<'EOF'
#!/bin/sh -eu
expected=$(sed -n 's/^ [*] expect: \([a-z_|]*\) check: .*/\1/p' "$1")
checks=$(sed -n 's/^ [*] expect: .* check: \([a-z_|]*\)$/\1/p' "$1")
ksandbox-try --adopt keval -c "$T/campaign" --code "$1" -o record
status=$(jq -r .eval.status record)
printf '%s: %s: %s\n' "${1##*/}" "$status" "$(jq -c '.eval.reasons' record)"
case "|$expected|" in *"|$status|"*) ;; *) jq .eval record; exit 1 ;; esac
case ${1##*/} in bad-*) [ "$status" != correct ] || no_gain ;; esac
[ "$status" = correct ] || jq -e --arg checks "$checks" '.eval.reasons |
	all(.detail != "") and any(.check as $c | $checks | split("|") | index($c))' record
unharmed record
EOF
chmod 755 "$T/judge"

ok 'the reference is evaluated' '
	mkdir -p "$T/campaign/trials/000/00"
	keval -c "$T/campaign" --reference -o "$T/campaign/trials/000/00/eval.ndjson"
	is correct "$(jq -r .eval.status "$T/campaign/trials/000/00/eval.ndjson")"'
for file in "$T"/corpus/bad-*.c "$T"/corpus/good-*.c; do
	name=${file##*/}
	export file
	ok "judged: ${name%.c}" 'judge "$file"'
done
ok 'the corpus is as large as claimed' '
	[ "$(ls "$T"/corpus/bad-*.c | wc -l)" -ge 40 ] && [ "$(ls "$T"/corpus/good-*.c | wc -l)" -ge 12 ]'

done_testing
