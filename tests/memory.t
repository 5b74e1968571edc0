#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# krecords: what a campaign remembers: records made only from the facts, masks that are kept, the partial restart,
# compaction.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/memory.sh
. "$tests_dir/memory.sh"
fixture c

ok 'help, version, and usage errors' '
	exits 0 krecords --help; grep -q "^usage: krecords" out
	exits 0 krecords -V; grep -q "^krecords " out
	exits 2 krecords; grep -q "command is missing" err
	exits 2 krecords forget; grep -q "unknown command: forget" err
	exits 2 krecords check x; grep -q "too many operands" err
	exits 2 krecords remember --undo; grep -q -- "--undo is not an option of krecords remember" err
	exits 2 krecords read -c c v07; grep -q "is not a version: write v and the number" err
	exits 2 krecords remember -c c v9; grep -q "trial 9 is incomplete" err'

ok 'records are made from the facts: figures, plan, correctness, gate' '
	. "$T/helpers.sh"
	krecords remember -c c
	is "v0.json v1.json v2.json v3.json v4.json v5.json v6.json" "$(cd c/memory && echo v*)"
	is "500 2 -500" "$(jq -r ".performance | \"\(.latency_us) \(.speedup) \(.comparison_with_previous.latency_delta)\"" c/memory/v1.json)"
	is "1000 250" "$(jq -r ".performance.latency_us_by_shape | \"\(.[\"4096x1024\"]) \(.[\"3x1000003\"])\"" c/memory/v1.json)"
	# Twice as fast as the baseline, whatever the formula of the task.
	is "2 2" "$(jq -s -r "\"\(.[1].performance.tflops / .[0].performance.tflops * 1000 | round / 1000) \(.[1].performance.bandwidth_gbps / .[0].performance.bandwidth_gbps * 1000 | round / 1000)\"" c/memory/v0.json c/memory/v1.json)"
	is "4 20 20 60" "$(jq -r ".performance | \"\(.tflops) \(.bandwidth_gbps) \(.tflops_peak_utilization_pct) \(.bandwidth_peak_utilization_pct)\"" c/memory/v5.json)"
	is "true PASS vectorized_load K1 +10 %" "$(jq -r "\"\(.win) \(.quality_gate.result) \(.optimization.action_category) \(.optimization.bucket) \(.optimization.expected_impact)\"" c/memory/v1.json)"
	is "false FAIL accuracy row 3: 1 instead of 2|rolled back" "$(jq -r "\"\(.win) \(.quality_gate.result) \(.pitfalls_and_fixes[0].error_type) \(.pitfalls_and_fixes[0].error_message)|\(.pitfalls_and_fixes[0].fix_applied)\"" c/memory/v3.json)"
	is "baseline false 0.125 PASS" "$(jq -r "\"\(.optimization.action_category) \(.win) \(.correctness.err_share) \(.correctness.status)\"" c/memory/v0.json)"
	is "2026-11-21T10:05:00Z misses -> latency -> fewer_passes" "$(jq -r "\"\(.timestamp) \(.profile_evidence.evidence_chain)\"" c/memory/v5.json)"
	valid memory-1 c/memory/v?.json
	exits 0 krecords check -c c'

ok 'a commit of the lineage is kept as a string' '
	cp -r c t; cat c/seal.ndjson >forged
	echo "{\"commit\":\"1234567890e123456789012345678901234567\",\"id\":\"005/01\",\"kind\":\"commit\",\"previous\":\"\",\"round\":6,\"schema\":\"seal/1\",\"sha256\":\"$(printf %064d 0)\"}" >>forged
	./reseal <forged >t/seal.ndjson
	exits 1 krecords check -c t; grep -q "memory/v5.json: is out of date" out
	krecords remember -c t
	is "\"1234567890e123456789012345678901234567\"" "$(krecords read -c t v5 --field git_commit_hash)"'

ok 'repeated they are the same bytes' '
	. "$T/helpers.sh"
	sums c >before
	rm c/memory/v2.json c/memory/v5.json
	krecords remember -c c
	sums c | diff before -'

ok 'a record that was changed by hand is refused by name and field, and not overwritten' '
	rm -rf t; cp -r c t
	sed -i "s/\"latency_us\": 500.0/\"latency_us\": 50.0/" t/memory/v1.json
	exits 1 krecords check -c t
	grep -q "memory/v1.json: performance.latency_us: is 50.0, but the records say 500.0" out
	exits 2 krecords remember -c t
	grep -q "memory/v1.json: performance.latency_us" err
	grep -q "\"latency_us\": 50.0" t/memory/v1.json
	exits 2 krecords read -c t v1
	exits 0 krecords read -c t v2
	# kprompt, which sees only the record, does not believe it either.
	jq -c ".trial=7" "$tests_dir/golden/kprompt/record.json" >r.ndjson
	exits 2 kprompt -c t -o x.ndjson r.ndjson
	grep -q "memory/v1.json: was changed by hand" err
	test ! -e x.ndjson'

ok 'a forged seal does not help, nor do invented versions; odd names are not versions' '
	rm -rf t; cp -r c t
	jq ".win=true" c/memory/v2.json >t/memory/v2.json
	sha=$(sha256sum <t/memory/v2.json | cut -d " " -f 1)
	sed "s,\(\"memory/v2.json\":\)\"[0-9a-f]*\",\1\"$sha\"," c/seal.ndjson | ./reseal >t/seal.ndjson
	exits 1 krecords check -c t; grep -q "memory/v2.json: is out of date" out
	krecords remember -c t; cmp c/memory/v2.json t/memory/v2.json
	cp c/memory/v2.json t/memory/v9.json
	exits 1 krecords check -c t; grep -q "memory/v9.json: trial 9 is not complete" out
	rm t/memory/v9.json t/memory/v3.json
	exits 1 krecords check -c t; grep -q "memory/v3.json: is missing" out
	touch t/memory/v3.json.bak t/memory/v03.json t/memory/vx.json
	krecords remember -c t; exits 0 krecords check -c t'

ok 'a record whose facts have changed is made again' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	amend t 002 ".eval.timing[].median_ns*=2"
	exits 1 krecords check -c t; grep -q "memory/v2.json: is out of date" out
	krecords remember -c t
	is 1400.0 "$(krecords read -c t v2 --field performance.latency_us)"
	sums t >now; sums c | diff - now >changes || true
	is "v2" "$(sed -n "s,^> .*memory/\(v.\).json,\1,p" changes | xargs)"'

ok 'read, latest, list, summary' '
	is "\"v5\"" "$(krecords read -c c v5 --field version)"
	exits 1 krecords read -c c v5 --field no.such; grep -q "v5 has no field no.such" err
	is "1000.0 500.0 700.0 null 300.0 400.0 401.0" "$(krecords read -c c --field performance.latency_us | xargs)"
	is v6 "$(krecords latest -c c)"
	is 7 "$(krecords list -c c | wc -l)"
	krecords summary -c c >s
	grep -q "^v1  *500 .* PASS  *PASS  *vectorized_load" s'

ok 'a wrong result does not speak against a direction: in records, tips and the question for a summary' '
	. "$T/helpers.sh"
	prompt c 7 >text
	grep -q "^v2 (no gain): unroll" text; grep -q "^v3 (failed, so the direction was not measured): online_softmax" text
	krecords tips add -c c
	grep -q "^- Takeaway: online_softmax: MARK-THREE .* came out as wrong_value, which says nothing against the direction" c.tips/nvidia-h200/softmax/c/tips.md
	grep -q "^- Takeaway: unroll: unroll by MARK-TWO did not pay" c.tips/nvidia-h200/softmax/c/tips.md
	krecords compact -c c --prompt | jq -r .prompt.user >asks
	sed -n "/^## Pending/,/^## Avoid/p" asks | grep -q "also a direction whose program failed"'

ok 'unknown facts about the device are pitfalls of the baseline' '
	rm -rf t; cp -r c t
	jq -n "{schema: \"roofline/1\", unknown: [{metric: \"fp16_matrix\", why: \"no source\"}],
		placeholders: [{metric: \"bandwidth\", value: 4.8, unit: \"TB/s\", from: \"placeholder.ok:L1\"}]}" >t/trials/000/roofline.json
	exits 1 krecords check -c t; grep -q "memory/v0.json: is out of date" out
	krecords remember -c t
	is "fp16_matrix none|bandwidth placeholder.ok:L1" "$(jq -r "[.pitfalls_and_fixes[] | select(.error_type == \"unknown_fact\") | \"\(.error_message) \(.fix_applied)\"] | join(\"|\")" t/memory/v0.json)"
	is "[]" "$(jq -c "[.pitfalls_and_fixes[] | select(.error_type == \"unknown_fact\")]" t/memory/v1.json)"'

ok 'notes: what a person adds is in the record and in the following prompts, and nowhere before' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	exits 2 krecords note -c t v2; grep -q "give the text: note VERSION --why TEXT" err
	exits 2 krecords note -c t v8 --why x; grep -q "memory/v8.json: no such version" err
	krecords note -c t v2 v3 --why "the MARK-NOTE compiler
		had a bug"
	is "7 the MARK-NOTE compiler had a bug" "$(jq -r ".notes[] | \"\(.trial) \(.text)\"" t/memory/v2.json)"
	prompt t 7 >text; is 2 "$(grep -c "^  note: the MARK-NOTE compiler had a bug" text)"
	prompt t 6 >text; lacks MARK-NOTE text
	krecords mask -c t v2; krecords note -c t v2 --why more; is true "$(jq .masked t/memory/v2.json)"
	prompt t 7 >text; is 1 "$(grep -c MARK-NOTE text)"
	valid seal-1 t/seal.ndjson; valid memory-1 t/memory/v?.json; exits 0 krecords check -c t'

ok 'mask and unmask: one event each, and the files are as before' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	krecords mask -c t v2 v3 --why "dead end"
	is "true" "$(jq .masked t/memory/v2.json)"
	exits 1 krecords read -c t v2; grep -q "v2 is masked; to read it" err
	is "1000.0 500.0 300.0 400.0 401.0" "$(krecords read -c t --field performance.latency_us | xargs)"
	krecords mask -c t v6; is v5 "$(krecords latest -c t)"
	is "[MASKED]" "$(krecords list -c t | awk "/^v3/ { print \$2 }")"
	krecords summary -c t | grep -q "^v2  *masked"
	krecords mask -c t v2
	is 2 "$(masks t | wc -l)"
	exits 2 krecords mask -c t v8; grep -q "memory/v8.json: no such version" err
	exits 2 krecords mask -c t; grep -q "an operand is missing: VERSION" err
	valid seal-1 t/seal.ndjson
	exits 0 krecords check -c t
	krecords unmask -c t v2 v3 v6
	sums c >before; sums t | diff before -'

ok 'the mark is a view: readers use the log, and build corrects the mark' '
	rm -rf t; cp -r c t
	krecords mask -c t v2
	sed -i "s/\"masked\": true/\"masked\": false/" t/memory/v2.json
	exits 1 krecords read -c t v2
	exits 1 krecords check -c t; grep -q "memory/v2.json: is out of date" out
	krecords remember -c t; is true "$(jq .masked t/memory/v2.json)"'

ok 'tampered masks are refused: event, order, end' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	krecords mask -c t v2; krecords mask -c t v3; prompt t 7 >/dev/null; mkdir -p t/trials/007/01; cp p.ndjson t/trials/007/01/prompt.ndjson
	exits 0 krecords check -c t
	cp t/seal.ndjson good
	sed -i "2s/v2/v4/" t/seal.ndjson
	for command in check remember list "read v1"; do
		# shellcheck disable=SC2086
		exits 1 krecords $command -c t
		grep -q "seal.ndjson:2: was edited: its sha256 is not that of its content" err
	done
	jq -c ".trial=7" "$tests_dir/golden/kprompt/record.json" >r.ndjson
	exits 2 kprompt -c t r.ndjson; grep -q "seal.ndjson:2: was edited" err
	sed 2d good >t/seal.ndjson
	exits 1 krecords check -c t; grep -q "seal.ndjson:2: was moved, or a line before it was removed" err
	sed "2s/v2/v4/" good | ./reseal >t/seal.ndjson
	exits 1 krecords check -c t; grep -q "the mask with the sha256 .* is missing, with which trials/007/01/prompt.ndjson was made" out
	head -2 good >t/seal.ndjson; krecords remember -c t
	exits 1 krecords check -c t; grep -q "the mask with the sha256 .* is missing, with which trials/007/01/prompt.ndjson was made" out'

ok 'kill -9 before any system call that changes something: no record is accused, no mask is lost' '
	. "$T/helpers.sh"
	for command in "mask v2 v3 v4" remember; do
		n=0 code=0
		while n=$((n + 1)); [ "$code" = 0 ]; do
			rm -rf t; cp -r c t
			[ "$command" != remember ] || rm t/memory/v1.json t/memory/v5.json
			# shellcheck disable=SC2086
			{ code=0; killat $n krecords $command -c t || code=$?; [ "$code" -le 1 ]; }
			krecords remember -c t; krecords check -c t >said || { cat said; exit 1; }
			is "$(masks t | jq -r ".versions[]")" "$(jq -r "select(.masked).version" t/memory/v?.json)"
		done
		test "$n" -gt 4
	done'

ok 'what is masked reaches no prompt; an older prompt stays as it was' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	prompt t 7 >open
	grep -q "^# What this campaign remembers" open; grep -q MARK-TWO open; grep -q MARK-THREE open
	is "v1 v2 v3 v4 v5 v6" "$(jq -r ".prompt.memory.versions | join(\" \")" p.ndjson)"
	jq -c .prompt p.ndjson >pp.ndjson; valid prompt-1 pp.ndjson
	prompt t 3 >early; grep -q MARK-TWO early; lacks MARK-THREE early
	krecords mask -c t v2
	prompt t 7 >closed
	lacks MARK-TWO closed; grep -q MARK-THREE closed
	is "$(masks t | jq -r .sha256)" "$(jq -r .prompt.memory.masks p.ndjson)"
	# The event came before trial 7: the prompt of trial 3 is rendered as it was.
	prompt t 3 >again; grep -q MARK-TWO again
	krecords unmask -c t v2
	prompt t 7 | diff open -'

ok 'the budget holds, the newest first; without memory or tokens there is no section' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	set_knobs t ".prompt.memory_tokens=80"
	prompt t 7 >small; jq -e ".prompt.memory.tokens <= 80 and .prompt.memory.versions == [\"v6\"]" p.ndjson
	set_knobs t ".prompt.memory_tokens=0"
	prompt t 7 >none; lacks "campaign remembers" none
	jq -e ".prompt | has(\"memory\") | not" p.ndjson
	set_knobs t ".memory.enabled=\"auto\""
	prompt t 7 | diff none -
	rm -rf t/memory; cp c/campaign.json t; prompt t 7 | diff none -'

ok 'the partial restart: half, never v0, never the last win, over 100 seeds' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	: >events
	for seed in $(seq 100); do
		krecords restart -c t --seed "$seed"
		masks t >>events
		cp c/seal.ndjson t; cp c/memory/v*.json t/memory
	done
	jq -r ".versions | join(\" \")" events >drawn
	is 100 "$(wc -l <drawn)"
	if grep -wE "v0|v5" drawn; then exit 1; fi
	is 3 "$(awk "{ print NF }" drawn | sort -u)"
	# Ten choices of 3 of 5, and all of them occur.
	is 10 "$(sort -u drawn | wc -l)"
	is "v1 v2 v3 v4 v6" "$(tr " " "\n" <drawn | sort -u | xargs)"'

ok 'a restart is seeded, made once, and undone without a trace in the records' '
	. "$T/helpers.sh"
	rm -rf t u; cp -r c t; cp -r c u
	krecords restart -c t; krecords restart -c u
	is "$(masks t | jq -c .versions)" "$(masks u | jq -c .versions)"
	is "restart 42 6 7" "$(masks t | jq -r "\"\(.event) \(.seed) \(.active) \(.trial)\"")"
	krecords restart -c t; is 1 "$(masks t | wc -l)"
	exits 0 krecords check -c t
	krecords restart --undo -c t
	sums c >before; sums t | diff before -
	exits 1 krecords restart --undo -c t; grep -q "no restart to undo" err
	valid seal-1 t/seal.ndjson'

ok 'a win is computed: without its facts nothing is masked' '
	rm -rf t; cp -r c t
	sed -i "s/\"win\": true/\"win\": false/" t/memory/v5.json
	exits 2 krecords restart -c t; grep -q "memory/v5.json: win: is false, but the records say true" err
	is "" "$(masks t)"'

ok 'knobs: a restart after trials without a gain' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	krecords restart --due -c t; is "" "$(masks t)"
	set_knobs t ".memory.restart_after=2"
	krecords restart --due -c t; is "" "$(masks t)"
	set_knobs t ".memory.restart_after=1"
	krecords restart --due -c t
	is "restart no gain in 1 trials (memory.restart_after)" "$(masks t | jq -r "\"\(.event) \(.why)\"")"
	krecords restart --due -c t; is 1 "$(masks t | wc -l)"'

ok 'compaction: the second model summarises what is not masked; the sections are kept' '
	. "$T/helpers.sh"
	rm -rf t; cp -r c t
	exits 2 krecords compact -c t; grep -q "feedback.provider: is empty" err
	jq --arg p "exec:$good" ".feedback={provider:\$p,name:\"small\"}" c/campaign.json >t/campaign.json
	krecords mask -c t v3
	krecords compact -c t --prompt | jq -r .prompt.user >asks
	grep -q MARK-TWO asks; lacks MARK-THREE asks; grep -q "^----- begin records" asks
	krecords compact -c t
	is "v1 v2 v4 v5 v6|small" "$(jq -r "(.covers | join(\" \")) + \"|\" + .reply.model" t/memory/compact-006.ndjson)"
	is "MARK-AVOID (v2)" "$(jq -r ".compact.avoid[0]" t/memory/compact-006.ndjson)"
	valid compact-1 t/memory/compact-006.ndjson
	is compact-006.ndjson "$(cd t/memory && echo compact*)"
	# A fact: made once.
	cp t/memory/compact-006.ndjson before; jq ".feedback.provider=\"exec:false\"" t/campaign.json >n; mv n t/campaign.json
	krecords compact -c t; cmp before t/memory/compact-006.ndjson
	exits 0 krecords check -c t'

ok 'a compaction replaces its records, until one of them is masked' '
	. "$T/helpers.sh"
	prompt t 7 >with
	grep -q MARK-PENDING with; grep -q "begin summary of earlier rounds" with; lacks MARK-TWO with
	is "memory/compact-006.ndjson null" "$(jq -r ".prompt.memory | \"\(.compact) \(.versions)\"" p.ndjson)"
	prompt t 6 >before; lacks MARK-PENDING before; grep -q MARK-TWO before
	krecords mask -c t v1
	prompt t 7 >without; lacks MARK-PENDING without; grep -q MARK-TWO without
	krecords unmask -c t v1; prompt t 7 >again; grep -q MARK-PENDING again; lacks MARK-TWO again'

ok 'an answer in another form, one that is too long, and one without an author are renamed' '
	. "$T/helpers.sh"
	for p in "exec:cat >asked; echo fine" "exec:cat >asked; printf \"## Resolved\n- a\n## Avoid\n- b\n## Pending\n- c\n\"" \
	    "exec:cat >asked; printf \"## Resolved\n## Pending\n## Avoid\n\"; seq -f \"- %050g\" 200" null; do
		rm -rf t; cp -r c t
		jq --arg p "$p" ".feedback={provider:\$p,name:\"x\"}" c/campaign.json >t/campaign.json
		exits 1 krecords compact -c t
		grep -q "the answer cannot be used: .*; it is kept as memory/compact-006.refused.ndjson" err
		test ! -e t/memory/compact-006.ndjson; test -e t/memory/compact-006.refused.ndjson
		# Nobody is paid twice for the same.
		exits 1 krecords compact -c t; grep -q "an earlier answer could not be used" err
	done
	rm t/memory/compact-006.refused.ndjson
	set_knobs t ".feedback={provider:\"exec:exit 3\",name:\"x\"}"
	exits 2 krecords compact -c t; grep -q "kllm returned no answer" err'

done_testing
