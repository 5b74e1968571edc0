#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# krecords: rounds as files, the seal on them, and the accepted ones as commits; memory.t tests what a campaign
# remembers. The campaign is a fixture: records in the form that the tools leave, of a baseline, a gain, a rollback, a
# trade-off and a round without a plan.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/reseal.sh
. "$tests_dir/reseal.sh"
HOME=$T
XDG_CONFIG_HOME=$T
GIT_CONFIG_NOSYSTEM=1
export HOME XDG_CONFIG_HOME GIT_CONFIG_NOSYSTEM
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# campaign DIR: a linear campaign over two timed shapes, without rounds.
# round DIR N VERDICT CODE STATUS NS_MAIN NS_ROW [JQ]: its round N; JQ changes the record.
cat >make.sh <<'E1'
campaign() {
	mkdir -p "$1/trials"
	jq -n '{schema: "campaign/1", name: "aff_c_cpu", backend: "c", language: "c", search: {mode: "linear"}}' >"$1/campaign.json"
	jq '.workloads |= (.[2].timed = true)' "$KILN_DATA/tests/tasks/affine/task.json" >"$1/task.json"
	cp "$KILN_DATA/tests/tasks/affine/reference.c" "$1"
}
round() {
	t=$(printf %03d $(($2 - 1))) b=$([ "$2" = 1 ] && echo 00 || echo 01)
	mkdir -p "$1/trials/$t/$b"
	code=$(printf '/* kernel of round %s */\nvoid affine(void) {}\n%s' "$2" "$(seq 1 20)")
	sha=$(printf '%s\n' "$code" | sha256sum | cut -d ' ' -f 1)
	jq -cn --arg t "$t" --arg b "$b" --argjson n "$2" --arg verdict "$3" --arg code "$4" --arg status "$5" --argjson main "$6" \
		--argjson row "$7" --arg text "$code" --arg sha "$sha" '
		def time($w; $ns): {workload: $w, samples_ns: [$ns], median_ns: $ns, min_ns: $ns, mean_ns: $ns, sd_ns: 100};
		def case($w): {workload: $w, ok: ($status == "correct"), max_abs_err: 2e-7, max_err_share: 0.039};
		{schema: "candidate/1", campaign: "aff_c_cpu", trial: ($n - 1), branch: ($b | tonumber), id: "\($t)/\($b)",
		eval: ({code: "\($text)\n", code_sha256: $sha, tokens: "0000000000000000", tier: 3, log: "log of \($n)", status: $status,
			time: "2026-01-31T12:0\($n):30Z", level: (if $n == 1 then "full" else "quick" end),
			correctness: {passed: 4, total: 4, cases: [case("one"), case("odd"), case("main")]}}
			+ if $n > 1 then {plan: {hypothesis: "round \($n) is faster because of vectors", change: "vectors of width \($n)",
				category: "vector", bucket: "K1", signal: "main gets faster", directions: ["vectors of width \($n)", "unroll \($n)"]}}
				else {} end
			+ if $main > 0 then {timing: ([time("main"; $main)] + if $n == 1 then [time("row"; $row)] else [] end)} else {} end),
		coords: {},
		audit: {bucket: "K1", declared: "K1", hits: [], fresh: {gap_pct: 0.1, ok: true}, skew: {required: false, rows: [], ok: true},
			decision: "ACCEPT-as-real", reasons: []},
		score: {perf_score: 5, correct: true, combined: 8, gain: true, decision: {verdict: $verdict, trade_off: ($code == "trade_off"),
			code: $code, round: $n, level: (if $n == 1 then "full" else "quick" end),
			line: "Round \($n): \($verdict | ascii_upcase) — avg +10.0%"}}}' | jq -c "${8:-.}" >"$1/trials/$t/score.ndjson"
	jq -c '{schema, id, eval}' "$1/trials/$t/score.ndjson" >"$1/trials/$t/$b/eval.ndjson"
	echo "{\"kind\":\"archive\",\"schema\":\"archive/1\",\"trial\":$(($2 - 1))}" >"$1/trials/$t/archive.ndjson"
	ln -sfn "trials/$t/archive.ndjson" "$1/archive.ndjson"
}
all_rounds() {
	round "$1" 1 baseline baseline correct 2000000 50000
	round "$1" 2 accepted gain correct 1600000 0
	round "$1" 3 rolled_back aggregate correct 1700000 0
	round "$1" 4 accepted trade_off correct 1250000 0 '.score.decision.shapes = [{workload: "main", delta_pct: 28.0, core: true}]
		| .eval.profile = {bottleneck: {label: "memory_bound", tags: [], text: "memory_bound: dram 81 %"}}'
	round "$1" 5 rolled_back no_plan no_plan 0 0 'del(.eval.plan, .audit) | .eval.plan_fault = "no plan <b>|" | .eval.correctness = null'
}
# rounds DIR [FIRST LAST]: these rounds.
rounds() {
	for n in $(seq "${2:-1}" "${3:-5}"); do
		rm -rf "$1/trials/00$((n - 1))"
		cp -r "proto/trials/00$((n - 1))" "$1/trials"
		ln -sfn "trials/00$((n - 1))/archive.ndjson" "$1/archive.ndjson"
	done
}
# All files in rounds and logs with their digests.
prints() {
	(cd "$1" && find rounds logs -type f -exec sha256sum {} + | sort -k 2)
}
E1
# shellcheck source=/dev/null
. ./make.sh
campaign proto
all_rounds proto
kcampaign upgrade -c proto >/dev/null

ok 'help, version, and usage errors' '
	exits 0 krecords --help; grep -q "^usage: krecords" out
	exits 0 krecords --version; grep -q "^krecords " out
	exits 2 krecords; grep -q "a command is missing" err
	exits 2 krecords dance; grep -q "unknown command: dance" err
	exits 2 krecords close extra; grep -q "too many operands: extra" err
	exits 2 krecords check --correct; grep -q -- "--correct is not an option of krecords check" err
	exits 2 krecords restore; grep -q -- "-o DIR" err
	exits 2 krecords close -c nowhere; grep -q nowhere err'
ok 'a campaign without a complete trial is refused' '
	. ./make.sh; campaign none
	exits 2 krecords close -c none; grep -q "no trial is complete" err'
ok 'every round has its summary, snapshot and artefacts' '
	. ./make.sh; campaign a; rounds a
	exits 0 krecords close -c a
	for n in 1 2 3 4 5; do test -s a/rounds/round-$n/summary.md; test -s a/rounds/round-$n/artifacts/benchmark.csv; done
	jq -j .eval.code a/trials/001/01/eval.ndjson | cmp - a/rounds/round-2/kernel_snapshot/affine.c
	(cd a && jq -r "(.files // {}) | to_entries[] | \"\(.value)  \(.key)\"" seal.ndjson | sha256sum -c --quiet)
	mkdir patched; cp a/rounds/round-2/kernel_snapshot/affine.c patched
	(cd patched && git apply ../a/rounds/round-4/artifacts/diff.patch)
	cmp patched/affine.c a/rounds/round-4/kernel_snapshot/affine.c'
ok 'a summary has its sections, and a rolled-back one its analysis' '
	for h in Hypothesis "Single change" Results Decision Attribution "Next direction" "Real-training transfer check"; do
		grep -q "^## $h" a/rounds/round-2/summary.md
	done
	not grep -q "^## Rollback" a/rounds/round-2/summary.md
	grep -q "^## Rollback analysis" a/rounds/round-3/summary.md
	grep -q "the next round starts from 001/01" a/rounds/round-3/summary.md
	grep -q "^- Bottleneck in the profile: memory_bound: dram 81 %$" a/rounds/round-4/summary.md
	grep -q "^ROLLED BACK: there was no valid plan" a/rounds/round-5/summary.md
	grep -q "Fault of the plan: no plan &lt;b>\\\\|" a/rounds/round-5/summary.md
	grep -q "^- Decision: ACCEPT-as-real" a/rounds/round-2/summary.md'
ok 'each code of a decision has its meaning in words' '
	jq -r ".. | objects | .code?.enum? // empty | .[]" "$KILN_DATA/docs/schemas/score-1.json" | sort -u >codes
	jq -r ".meaning | keys[]" "$KILN_DATA/pages/records/words.json" | sort >words
	grep -qx tie_waiver codes; same codes words'

ok 'a verdict by a command of the campaign is reported as such, not PASS without a case' '
	. ./make.sh; campaign own; rounds own 1 2
	jq ".eval.correctness = {command: \"true\"}" own/campaign.json >new.json; mv new.json own/campaign.json
	for t in 000 001; do
		amend own $t "del(.eval.correctness) | .audit = (.audit | del(.fresh) | .decision = \"ACCEPT-unmeasured\" | .not_measured = [{what: \"reuse\", why: \"the campaign took the times\"}])"
	done
	exits 0 krecords close -c own
	s=own/rounds/round-2/summary.md
	not grep -E "PASS|0 of 0" $s own/rounds/round-2/artifacts/benchmark.csv own/logs/*.md
	grep -q "^- Test: the campaign.s own command passed it and lists no cases; kiln itself compared no results$" $s
	grep -q "^| main .*| OWN |" $s
	grep -q "^- Same buffers against fresh ones: not measured: the campaign took the times$" $s
	grep -q "^- Decision: ACCEPT-unmeasured" $s
	grep -q "real use: at most .*not measured on new buffers$" $s'
ok 'figures: compared with the current best, and with the baseline' '
	grep -q "^- vs baseline: step +25.000%, fwd +25.000%, bwd —$" a/rounds/round-2/summary.md
	grep -q "^- vs current best (001/01): +28.000%$" a/rounds/round-4/summary.md
	grep -q "^- vs baseline: step +60.000%" a/rounds/round-4/summary.md
	grep -q "^| 1 | BASELINE | .* | — | forward only" a/logs/performance_trend.md
	grep -q "^| 3 | ROLLBACK | vectors of width 3 | .* | step +17.647%, fwd +17.647%, bwd — |" a/logs/performance_trend.md
	is 5 "$(grep -c "^| [1-5] |" a/logs/performance_trend.md)"
	is 5 "$(grep -c "^### round-" a/logs/optimize.md)"'
ok 'views: the best, directions, what did not work, and the end' '
	grep -q "^- Round: 4 (003/01)" a/rounds/current_best.md
	grep -q "^- Rounds: 5; accepted 2, rolled back 2" a/rounds/current_best.md
	grep -q "^- \[x\] vectors of width 2 (named in round 2, tried in round 2)" a/rounds/directions.md
	grep -q "^- \[ \] unroll 2 (named in round 2)" a/rounds/directions.md
	is 1 "$(grep -c "^| vectors" a/rounds/ineffective.md)"
	grep -q "^- T4 .*: false" a/rounds/termination.md
	touch a/stop.request; krecords close -c a; grep -q "^- Satisfied: T4" a/rounds/termination.md; rm a/stop.request; krecords close -c a'
ok 'rebuilt it is the same byte for byte, round by round or at once' '
	. ./make.sh; prints a >one
	krecords close -c a; prints a >two; same one two
	cp -r a b; rm -r b/rounds b/logs; krecords close -c b; prints b >two; same one two; same a/seal.ndjson b/seal.ndjson
	rm -r b/rounds b/logs b/seal.ndjson; krecords close -c b; prints b >two; same one two; same a/seal.ndjson b/seal.ndjson
	campaign s; for n in 1 2 3 4 5; do rounds s $n $n; krecords close -c s; done; prints s >two; same one two
	rm -r b/rounds; krecords close -c b; prints b >two; same one two'
ok 'logs only grow' '
	. ./make.sh; campaign g; rounds g 1 2; krecords close -c g; cp g/logs/optimize.md old1; cp g/logs/performance_trend.md old2
	rounds g 3 5; krecords close -c g
	head -c "$(wc -c <old1)" g/logs/optimize.md | cmp - old1
	head -c "$(wc -c <old2)" g/logs/performance_trend.md | cmp - old2'
ok 'check finds nothing, and says how much it checked' '
	exits 0 krecords check -c a
	grep -q "^5 rounds, 30 files, 2 logs, 0 commits, 0 records of memory: unchanged since they were sealed" out'
if strace -o /dev/null true 2>/dev/null; then
	ok 'what rounds have in common is read once: pages, and the program that all of a trial began with' '
		. "$tests_dir/campaign.sh"
		null_campaign wide 2; make -s -C wide trials N=2 >/dev/null 2>&1
		exits 0 krecords close -c wide
		cd wide; exits 0 strace -qq -e trace=openat -o ../log krecords check; cd ..
		sed -n "s/.*openat(AT_FDCWD, \"\([^\"]*\)\", .*) = [0-9]*$/\1/p" log >read
		grep -q "pages/records/wide.md" read; is "" "$(grep pages/ read | sort | uniq -d)"
		# For the version of its format, its record, its digest, and those that show it.
		is 4 "$(grep -c trials/000/00/eval.ndjson read)"'
else
	skip 'what rounds have in common is read once' 'strace is not installed'
fi
ok 'an edited log is refused by name and line, and nothing is written' '
	cp -r a e; sed -i "s/^- Hypothesis: round 3 is faster/- Hypothesis: round 3 is slower/" e/logs/optimize.md
	cp e/logs/optimize.md before
	line=$(grep -n "round 3 is slower" before | cut -d: -f1)
	exits 1 krecords close -c e
	grep -q "logs/optimize.md:$line: was edited: it reads .*slower.*, not .*faster" err
	same before e/logs/optimize.md
	exits 1 krecords check -c e; grep -q "logs/optimize.md:$line: was edited" out'
ok 'the same for a line added at the end, a truncated log, and an edited seal' '
	cp -r a f; echo "| 6 | ACCEPTED |" >>f/logs/performance_trend.md
	exits 1 krecords close -c f; grep -q "logs/performance_trend.md:[0-9]*: was edited: it reads .| 6 | ACCEPTED |" err
	cp -r a h; head -n 5 h/logs/performance_trend.md >x; mv x h/logs/performance_trend.md
	exits 1 krecords close -c h; grep -q "logs/performance_trend.md:6: was edited" err
	cp -r a i; sed -i "2s/\"round\":2/\"round\":3/" i/seal.ndjson
	exits 1 krecords close -c i; grep -q "seal.ndjson:2: was edited: its sha256 is not that of its content; put the file back" err
	cp -r a j; sed -i 2d j/seal.ndjson
	exits 1 krecords close -c j; grep -q "seal.ndjson:2: was moved, or a line before it was removed" err
	exits 1 krecords check -c j; grep -q "seal.ndjson:2: was moved" err
	cp -r a j2; sed -i "\$d" j2/seal.ndjson
	exits 1 krecords check -c j2; grep -q "^round 5 is not closed yet; run krecords close" out'
ok 'a tampered snapshot is refused, and an unknown file is reported' '
	cp -r a k; echo "/* better */" >>k/rounds/round-2/kernel_snapshot/affine.c
	exits 1 krecords close -c k
	grep -q "rounds/round-2/kernel_snapshot/affine.c:23: was edited: it reads .*better.*, not .(end of file)" err
	exits 1 krecords check -c k; grep -q kernel_snapshot/affine.c out
	cp -r a l; echo 1 >l/rounds/round-2/kernel_snapshot/more.c
	exits 1 krecords check -c l; grep -q "more.c: is not part of the records" out
	rm l/rounds/round-2/kernel_snapshot/more.c l/rounds/round-2/summary.md
	exits 1 krecords check -c l; grep -q "round-2/summary.md: is missing" out
	krecords close -c l; exits 0 krecords check -c l'
ok 'changed facts of a closed round are reported; --correct labels the correction' '
	. ./make.sh; cp -r a m; round m 3 rolled_back noise correct 1690000 0; kcampaign upgrade -c m; rounds m 4 5
	exits 1 krecords close -c m
	grep -q "round 3 was closed with other facts or another version of kiln: trials/002/01/eval.ndjson has changed$" err
	grep -q -- "--correct" err
	prints a >one; prints m >two; same one two
	exits 0 krecords close --correct -c m
	head -c "$(wc -c <a/logs/optimize.md)" m/logs/optimize.md | cmp - a/logs/optimize.md
	grep -q "^### Correction of round-3 — ROLLED BACK" m/logs/optimize.md
	grep -q "^| 3 (corrected) | ROLLBACK" m/logs/performance_trend.md
	exits 0 krecords close -c m; exits 0 krecords check -c m
	cp -r m m2; rm -r m2/rounds m2/logs; exits 1 krecords close -c m2
	grep -q "its entry in logs/optimize.md is lost and cannot be made again" err
	krecords close --correct -c m2; exits 0 krecords check -c m2'
ok 'a large relative error follows the absolute one, so that it does not contradict PASS' '
	grep -q "| Max error |" a/rounds/round-1/summary.md; grep -q "| PASS |.*| 2.00e-07 (0.039 of what is allowed) |" a/rounds/round-1/summary.md'
ok 'benchmark.csv keeps the heading and the rows of round 1' '
	head -1 a/rounds/round-1/artifacts/benchmark.csv >heading
	grep -q "^label,rows,cols,sets,Check,Time (ms),Time (ms)_stddev,TFLOPS,TFLOPS_stddev,GB/s,max_err_share$" heading
	for n in 2 3 4 5; do head -1 a/rounds/round-$n/artifacts/benchmark.csv | cmp - heading; done
	is "one,1,1,quick+full,ERROR,nan" "$(sed -n 2p a/rounds/round-5/artifacts/benchmark.csv | cut -d, -f1-6)"
	cp -r a n; jq "del(.bytes)" a/task.json >n/task.json
	exits 1 krecords close -c n
	grep -q "round 1 was closed with other facts or another version of kiln: rounds/round-1/artifacts/benchmark.csv:1 contains .*,GB/s,.*, but would now contain" err
	jq "del(.workloads[1])" a/task.json >n/task.json
	exits 1 krecords close -c n
	grep -q "round 2 was closed with other facts or another version of kiln: rounds/round-2/artifacts/benchmark.csv:3 contains .odd,.*, but would now contain .main," err'
ok 'a shape that was left out is refused' '
	. ./make.sh; campaign q; rounds q 1 1; round q 2 accepted gain correct 1600000 0 ".eval.timing[0].workload = \"other\""; kcampaign upgrade -c q
	exits 1 krecords close -c q; grep -q "trials/001/01/eval.ndjson: workload main of the set quick was not timed" err'
ok 'a kill between any two writes is repaired' '
	. ./make.sh; prints a >one
	cp -r a r; head -n 3 a/seal.ndjson >r/seal.ndjson
	krecords close -c r; prints r >two; same one two
	cp a/seal.ndjson r; rm r/rounds/round-5/summary.md; echo half >r/rounds/round-5/summary.md.AbCdEf
	krecords close -c r; prints r >two; same one two
	head -n 3 a/seal.ndjson >r/seal.ndjson
	head -c "$(jq -s "[.[:3][].logs[\"logs/performance_trend.md\"].length] | add" a/seal.ndjson)" a/logs/performance_trend.md >r/logs/performance_trend.md
	rm -r r/rounds/round-4/artifacts r/rounds/round-5; echo old >r/rounds/round-4/summary.md
	krecords close -c r; prints r >two; same one two'
ok 'without a repository there is a note and no failure' '
	. ./make.sh; campaign alone; rounds alone 1 2
	exits 0 krecords close -c alone; grep -q "no commits were made: fatal: not a git repository" err
	exits 0 krecords close -c a; is "" "$(cat err)"'

# A repository with a file of its own, an uncommitted change, and hooks that would leave a trace.
cat >repo.sh <<'E1'
repository() {
	git init -q -b main "$1"
	(cd "$1" && git config user.name u && git config user.email u@example.org && mkdir src && echo 1 >src/own.c && git add . &&
		GIT_AUTHOR_DATE='2025-01-01T00:00:00Z' GIT_COMMITTER_DATE='2025-01-01T00:00:00Z' git commit -q -m 'own: begin' &&
		echo 2 >>src/own.c && echo 3 >staged && git add staged
	for h in reference-transaction post-index-change post-commit pre-commit; do
		printf '#!/bin/sh\ntouch "%s/hook-ran"\n' "$T" >.git/hooks/$h
		chmod +x .git/hooks/$h
	done)
	rm -f "$T/hook-ran"
}
# The commits named in the seal of a campaign.
commits() {
	jq -r 'select(.kind == "commit").commit' "$1/seal.ndjson"
}
# What a commit must not change.
untouched() {
	(cd "$1" && sha256sum .git/index .git/HEAD src/own.c && cat .git/HEAD && git --no-optional-locks rev-parse HEAD main && ls -A)
}
E1
ok 'one commit per accepted round; working tree, index and HEAD stay; no hook runs' '
	. ./make.sh; . ./repo.sh; repository w; mkdir w/work; campaign w/work/c; rounds w/work/c
	untouched w >one; rm -f hook-ran
	exits 0 krecords close -c w/work/c; is "" "$(cat err)"
	untouched w >two; same one two; test ! -e hook-ran
	is 3 "$(git -C w rev-list --count main..optimize/aff_c_cpu)"
	git -C w diff --name-only main optimize/aff_c_cpu >names; echo kernels/aff_c_cpu/affine.c >want; same want names
	git -C w fsck --strict
	exits 0 krecords check -c w/work/c; grep -q ", 3 commits, " out'
ok 'git gets no keys' '
	. ./make.sh; . ./repo.sh; repository keys; campaign keys/c; rounds keys/c 1 2; mkdir bin
	printf "#!/bin/sh\nenv >>\"%s/env\"\nexec %s \"\$@\"\n" "$T" "$(command -v git)" >bin/git; chmod 755 bin/git
	PATH=$T/bin:$PATH ANTHROPIC_API_KEY=secret krecords close -c keys/c
	grep -q "^LC_ALL=C" env; not grep secret env'
ok 'the message says what and why' '
	git -C w log --format=%B -n 1 optimize/aff_c_cpu~1 >msg
	sed -n 1p msg | grep -qE "^\[optimize\] affine c round-2: vectors of width 2$"
	is "" "$(sed -n 2p msg)"
	grep -q "^Hypothesis: round 2 is faster because of vectors$" msg
	grep -qE "^Result: [0-9.e-]+ -> [0-9.e-]+ TFLOPS \([+]25\.000%\)$" msg
	grep -q "^Details: work/c/logs/optimize.md$" msg; test -f w/work/c/logs/optimize.md
	git -C w log --format=%s main..optimize/aff_c_cpu | grep -vqE "^\[optimize\] affine c round-[0-9]+: " && exit 1
	is "kiln <kiln@localhost> 2026-01-31T12:02:30+00:00" "$(git -C w log -1 --format="%an <%ae> %aI" optimize/aff_c_cpu~1)"
	is "$(git -C w show optimize/aff_c_cpu:kernels/aff_c_cpu/affine.c | sha256sum)" "$(jq -j .eval.code w/work/c/trials/003/01/eval.ndjson | sha256sum)"'
ok 'repeated, it does nothing, and the same records give the same hashes' '
	. ./make.sh; . ./repo.sh; tip=$(git -C w rev-parse optimize/aff_c_cpu)
	krecords close -c w/work/c; is "$tip" "$(git -C w rev-parse optimize/aff_c_cpu)"
	repository v; mkdir v/work; campaign v/work/c; for n in 1 2 3 4 5; do rounds v/work/c $n $n; krecords close -c v/work/c; done
	is "$tip" "$(git -C v rev-parse optimize/aff_c_cpu)"
	is "$(commits w/work/c)" "$(commits v/work/c)"'
ok 'killed between the branch and the note of it, it continues' '
	. ./make.sh; . ./repo.sh; tip=$(git -C w rev-parse optimize/aff_c_cpu); cp w/work/c/seal.ndjson whole
	for n in 5 6 7 8; do
		head -n $n whole >w/work/c/seal.ndjson
		[ $n -gt 5 ] || git -C w update-ref -d refs/heads/optimize/aff_c_cpu
		krecords close -c w/work/c; same whole w/work/c/seal.ndjson; is "$tip" "$(git -C w rev-parse optimize/aff_c_cpu)"
	done
	head -n 7 whole >w/work/c/seal.ndjson; git -C w update-ref -d refs/heads/optimize/aff_c_cpu
	krecords close -c w/work/c; same whole w/work/c/seal.ndjson; is "$tip" "$(git -C w rev-parse optimize/aff_c_cpu)"'
ok 'a branch that somebody else moved is refused by name' '
	tip=$(git -C w rev-parse optimize/aff_c_cpu)
	git -C w update-ref refs/heads/optimize/aff_c_cpu main
	exits 1 krecords close -c w/work/c; grep -q "branch optimize/aff_c_cpu: is at .*, but krecords left it at" err
	is "$(git -C w rev-parse main)" "$(git -C w rev-parse optimize/aff_c_cpu)"
	exits 1 krecords check -c w/work/c; grep -q "branch optimize/aff_c_cpu: is at" out
	git -C w update-ref refs/heads/optimize/aff_c_cpu "$tip"; exits 0 krecords check -c w/work/c'
ok 'commits that do not match the kernels of the records are reported, and an unknown branch is not used' '
	. ./make.sh; . ./repo.sh; cp -r w forged; cd forged
	other=$(git rev-parse optimize/aff_c_cpu~1 | xargs git commit-tree -m x "main^{tree}" -p)
	sed "s/$(git rev-parse optimize/aff_c_cpu)/$other/" work/c/seal.ndjson | ../reseal >new; mv new work/c/seal.ndjson
	git update-ref refs/heads/optimize/aff_c_cpu $other
	exits 1 krecords check -c work/c; grep -q "seal.ndjson:9: round 4 is commit $other here, but [0-9a-f]* in the records" out
	cd ..; rm forged/work/c/seal.ndjson
	exits 1 krecords close -c forged/work/c; grep -q "exists, but is not the lineage of this campaign" err
	exits 1 krecords check -c forged/work/c; grep -q "0 commits, but 3 accepted rounds" out
	exits 0 krecords check -c w/work/c'
ok 'rounds are read, written and checked by one run at a time' '
	. ./make.sh; campaign turns; rounds turns 1 2
	(cd turns && exec flock -o . sh -c "touch ../held; while test ! -e ../go; do sleep 0.05; done") & holder=$!
	while test ! -e held; do sleep 0.05; done
	krecords close -c turns & closer=$!
	sleep 0.3; test ! -e turns/rounds
	rounds turns 3 5; touch go; wait $holder $closer
	is 5 "$(grep -c . turns/seal.ndjson)"; exits 0 krecords check -c turns'
ok 'a branch that is checked out is not moved' '
	. ./make.sh; . ./repo.sh; repository x; campaign x/c; rounds x/c 1 2; krecords close -c x/c
	git -C x worktree add -q ../x2 optimize/aff_c_cpu
	exits 0 krecords close -c x/c
	rounds x/c 3 4
	exits 1 krecords close -c x/c; grep -q "branch optimize/aff_c_cpu: is checked out in .*/x2" err
	is 2 "$(git -C x rev-list --count main..optimize/aff_c_cpu)"
	git -C x worktree remove ../x2; exits 0 krecords close -c x/c
	is 3 "$(git -C x rev-list --count main..optimize/aff_c_cpu)"'
ok 'branch and path are knobs; impossible values are refused' '
	. ./make.sh; . ./repo.sh; repository y; campaign y/c; rounds y/c
	set_knobs() { jq "$1" y/c/campaign.json >k.json; cp k.json y/c/campaign.json; }
	set_knobs ".git = {branch: \"none\"}"; exits 0 krecords close -c y/c
	is main "$(git -C y branch --format="%(refname:short)")"
	for p in ../up.c /abs.c .git/hooks/x a//b .GIT/x; do
		set_knobs ".git = {kernel_path: \"$p\"}"; exits 2 krecords close -c y/c; grep -q "git.kernel_path" err
	done
	set_knobs ".git = {kernel_path: \"src/own.c/x.c\"}"; exits 2 krecords close -c y/c; grep -q "own.c. is a file" err
	set_knobs ".git = {branch: \"a..b\"}"; exits 2 krecords close -c y/c; grep -q "git.branch: .a..b. is not a valid name" err
	set_knobs ".git = {branch: \"main\"}"; exits 1 krecords close -c y/c; grep -q "branch main: exists, but is not the lineage" err
	set_knobs ".git = {branch: \"fast\", kernel_path: \"src/\"}"
	exits 0 krecords close -c y/c
	is "src/affine.c" "$(git -C y diff --name-only main fast)"
	is "kiln kiln@localhost" "$(git -C y log -1 --format="%cn %ce" fast)"'
ok 'a repository without commits gets a root' '
	. ./make.sh; git init -q -b main z; campaign z/c; rounds z/c; krecords close -c z/c
	is 3 "$(git -C z rev-list --count optimize/aff_c_cpu)"; exits 0 krecords check -c z/c
	sed -i "7,\$d" z/c/seal.ndjson; exits 0 krecords close -c z/c; exits 0 krecords check -c z/c'
ok 'restore gives the last accepted kernel, or that of a round, byte for byte' '
	krecords restore -c w/work/c -o r1; jq -j .eval.code w/work/c/trials/003/01/eval.ndjson | cmp - r1/affine.c
	krecords restore -c w/work/c --round 1 -o r3; jq -j .eval.code w/work/c/trials/000/00/eval.ndjson | cmp - r3/affine.c
	exits 1 krecords restore -c w/work/c -N 3 -o r4; grep -q "round 3 was not accepted; the last accepted round is 4" err; test ! -e r4
	exits 2 krecords restore -c w/work/c -N 9 -o r4; grep -q "there are 5 rounds" err
	rm -r w/work/c/rounds; exits 0 krecords restore -c w/work/c -N 2 -o r4
	jq -j .eval.code w/work/c/trials/001/01/eval.ndjson | cmp - r4/affine.c; krecords close -c w/work/c'
ok 'texts of a model stay on their line, in files and in commits' '
	. ./make.sh; . ./repo.sh; repository u; campaign u/c; rounds u/c 1 1
	round u/c 2 accepted gain correct 1600000 0 ".eval.plan.change = \"a\\nResult: 1 -> 9 (+800%)\\n# b | c <script>\" | .eval.plan.hypothesis = \"h\\r\\nAuthor: x\""
	kcampaign upgrade -c u/c
	krecords close -c u/c
	is 1 "$(git -C u log -1 --format=%B optimize/aff_c_cpu | grep -c "^Result:")"
	not grep -q "<script>" u/c/rounds/round-2/summary.md u/c/logs/*.md
	is 2 "$(grep -c "^| [12] |" u/c/logs/performance_trend.md)"
	not grep -q "^# b" u/c/rounds/round-2/summary.md'
ok 'files of a bundle are kept next to the kernel, and never replace it' '
	. ./make.sh; . ./repo.sh; repository t; campaign t/c; rounds t/c 1 1
	round t/c 2 accepted gain correct 1600000 0 ".eval.files = [{path: \"tile.h\", content: \"one\"}, {path: \"in/deep.h\", content: \"two\"}, {path: \"../out.h\", content: \"x\"}]"
	round t/c 3 accepted gain correct 1500000 0 ".eval.files = [{path: \"affine.c\", content: \"mine\"}]"
	kcampaign upgrade -c t/c
	krecords close -c t/c
	is one "$(cat t/c/rounds/round-2/kernel_snapshot/tile.h)"; test ! -e t/c/rounds/round-2/out.h
	is "kernels/aff_c_cpu/affine.c kernels/aff_c_cpu/in/deep.h kernels/aff_c_cpu/tile.h" "$(git -C t diff --name-only main optimize/aff_c_cpu~1 | xargs)"
	is "kernels/aff_c_cpu/affine.c kernels/aff_c_cpu/candidate.c" "$(git -C t diff --name-only main optimize/aff_c_cpu | xargs)"
	exits 0 krecords check -c t/c
	krecords restore -c t/c -N 2 -o r6; is two "$(cat r6/in/deep.h)"'
ok 'a search with several branches: a row for each candidate, a commit for each new best' '
	. ./make.sh; . ./repo.sh; repository o; campaign o/c; rounds o/c 1 3
	jq "del(.search)" o/c/campaign.json >k.json; cp k.json o/c/campaign.json
	amend o/c 002 "., (.id = \"002/02\" | .branch = 2)"
	for t in 000:000/00 001:001/01 002:001/01; do
		jq -c --arg id "${t#*:}" ".best = {id: \$id}" o/c/trials/${t%:*}/archive.ndjson >k.json; cp k.json o/c/trials/${t%:*}/archive.ndjson
	done
	krecords close -c o/c; exits 0 krecords check -c o/c
	is 2 "$(git -C o rev-list --count main..optimize/aff_c_cpu)"
	is 2 "$(grep -c "^| 002/0" o/c/rounds/round-3/summary.md)"
	test -s o/c/rounds/round-3/kernel_snapshot/02/affine.c
	grep -q "^### round-3 — NO NEW BEST" o/c/logs/optimize.md'
ok 'kill -9 before any system call that changes something: nothing is lost, blocked or accused' '
	. ./make.sh; . ./repo.sh
	repository cut; campaign cut/c; rounds cut/c 1 3; krecords close -c cut/c; cp -r cut full; rounds full/c 4 4; krecords close -c full/c
	prints full/c >want; cat full/c/seal.ndjson >>want; git -C full rev-parse optimize/aff_c_cpu >>want
	point=0 code=0
	while point=$((point + 1)); [ "$code" = 0 ]; do
		rm -rf at; cp -r cut at; rounds at/c 4 4
		code=0; killat $point krecords close -c at/c || code=$?
		[ "$code" -le 1 ]
		krecords close -c at/c; krecords check -c at/c >said || { cat said; exit 1; }
		prints at/c >got; cat at/c/seal.ndjson >>got; git -C at rev-parse optimize/aff_c_cpu >>got; same want got
	done
	echo "$point points"; test "$point" -gt 40; is "" "$(find at/c -name "*.??????" ! -name "*.ndjson")"'
ok 'kill -9 at any moment, and the next run completes it' '
	. ./make.sh; . ./repo.sh; repository kill; campaign kill/c; rounds kill/c
	for ms in 005 010 015 020 025 030 040 050 060 080 100 120; do
		rm -rf kill/c/rounds kill/c/logs kill/c/seal.ndjson; git -C kill update-ref -d refs/heads/optimize/aff_c_cpu
		krecords close -c kill/c & pid=$!
		sleep "0.$ms"; kill -s KILL $pid 2>/dev/null || :; wait $pid || :
		krecords close -c kill/c; krecords check -c kill/c
		prints kill/c >"kill-$ms"; same kill-005 "kill-$ms"
	done
	rm -rf kill/c/rounds kill/c/logs kill/c/seal.ndjson; git -C kill update-ref -d refs/heads/optimize/aff_c_cpu
	mkdir -p kill/.git/refs/heads/optimize; : >kill/.git/refs/heads/optimize/aff_c_cpu.lock
	krecords close -c kill/c; prints kill/c >kill-lock; same kill-005 kill-lock'

ok 'a run closes its rounds; make records and make views make them again' '
	. ./make.sh; kcampaign new hook --mode linear --task "$KILN_DATA/campaigns/softmax" >/dev/null
	cat >hook/model.sh <<"E2"
cat >/dev/null
id=$(echo "$KLLM_SAMPLE" | tr / _)
printf "%s\n" "\`\`\`plan" "{\"hypothesis\":\"h\",\"change\":\"c $id\",\"category\":\"c\",\"bucket\":\"K1\"}" "\`\`\`" "\`\`\`c" \
	"void softmax(const float *x, float *y, int rows, int cols) { /* some words */ int n_$id; }" "\`\`\`"
E2
	jq ".model = {provider: \"exec:sh $T/hook/model.sh\"} | .eval = {evaluator: \"null\"}" hook/campaign.json >k.json; cp k.json hook/campaign.json
	cd hook; exits 0 make -s trials N=2
	is "rounds/round-1 rounds/round-2 rounds/round-3" "$(echo rounds/round-*)"; exits 0 krecords check
	prints . >../one; rm -r rounds logs; make -s records; prints . >../two; same ../one ../two
	rm -r rounds; make -s views; prints . >../two; same ../one ../two'
ok 'a run is refused while its logs differ from what was written' '
	cd hook; cp -r logs ../saved; sed -i "s/^- Change: c 001_01.*/- Change: nothing/" logs/optimize.md
	exits 1 kcampaign run -n 1
	grep -q "logs/optimize.md:[0-9]*: was edited" err; grep -q "trial 2 is complete, but its records are not" err
	test ! -e trials/003
	cp ../saved/optimize.md logs; exits 0 kcampaign run -n 1; test -d rounds/round-4'

python=/usr/bin/python3
if $python -W ignore -c 'import jsonschema' 2>/dev/null; then
	ok 'the seal fits its schema' '
		/usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" seal-1 w/work/c/seal.ndjson m/seal.ndjson m2/seal.ndjson'
else
	skip 'schemas' 'python3-jsonschema is not installed'
fi
done_testing
