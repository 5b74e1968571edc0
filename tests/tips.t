#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# krecords: tips, the library, and how a run of a campaign uses them and its memory.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/memory.sh
. "$tests_dir/memory.sh"
fixture c

ok 'tips: rounds that teach something leave one, each once' '
	. "$T/helpers.sh"
	krecords tips add -c c
	f=c.tips/nvidia-h200/softmax/c/tips.md
	is 5 "$(grep -c "^### " $f)"
	grep -q "^### 2026-11-21T10:01:00Z round-2 — ACCEPTED$" $f
	grep -q "^- Takeaway: vectorized_load: load 128 bits at once: +8.50 %" $f
	grep -q "^- Takeaway: over-fit, do not retry: keep the maxima between calls (results kept between calls)" $f
	is 5 "$(grep -c "^- Applicability: c kernels of softmax" $f)"
	lacks "prefetch two rows" $f
	cp $f before; krecords tips add -c c; cmp before $f
	exits 0 krecords tips check -c c
	is 5 "$(krecords tips list -c c | wc -l)"'

tip() {
	printf '### 2026-11-21T11:00:00Z round-3 — %s\n- Context: a\n- Signal: b\n- Takeaway: %s\n- Applicability: c\n' "$1" "$2"
}
tip ACCEPTED 'a table keyed on the input pointer pays 40 %' >cheat.md
tip 'ROLLED BACK' 'over-fit, do not retry: a table keyed on the input pointer' >anti.md
tip ACCEPTED 'over-fit, do not retry: a table keyed on the input pointer' >praise.md
tip ACCEPTED 'bucket W2 pays' >w2.md
tip ACCEPTED 'with equal groups the scheduler can be dropped' >groups.md
tip ACCEPTED 'bucket W1: quantise once' >w1.md
tip ACCEPTED 'bucket W1: quantise once, bound 0.02 of a step' >w1bound.md
tip ACCEPTED 'pad rows to 16 bytes' >fine.md
sed '/Signal/d' fine.md >missing.md
sed 's/Signal: b/Signal:/' fine.md >empty.md
sed 's/round-3/third/' fine.md >heading.md
ok 'hygiene: tips that over-fit are refused by rule, but may be stated as an anti-pattern' '
	cp c.tips/nvidia-h200/softmax/c/tips.md before
	for bad in cheat:identity_cache praise:identity_cache w2:bucket groups:fixed_groups w1:unbounded_weight_cache; do
		exits 1 krecords tips check -c c "${bad%:*}.md"; grep -q "${bad#*:}: " err
		exits 2 krecords tips add -c c "${bad%:*}.md"; grep -q "tip of round-3: ${bad#*:}: .*over-fit, do not retry" err
	done
	exits 2 krecords tips add -c c missing.md; grep -q "missing.md: tip 1 (.### 2026.*): must have the lines .*Signal" err
	exits 2 krecords tips add -c c empty.md; grep -q "empty.md: tip 1 .*: must have the lines" err
	exits 2 krecords tips add -c c heading.md; grep -q "heading.md: tip 1 .*: must have the lines .### TIME round-N" err
	cmp before c.tips/nvidia-h200/softmax/c/tips.md
	krecords tips add -c c anti.md w1bound.md fine.md
	is 8 "$(krecords tips list -c c | wc -l)"; exits 0 krecords tips check -c c'

ok 'a removed tip leaves a record and does not come back' '
	. "$T/helpers.sh"
	id=$(krecords tips list -c c | sed -n "s/ .*vectorized_load.*//p")
	exits 2 krecords tips remove -c c "$id"; grep -q "and the reason: tips remove ID" err
	krecords tips remove -c c "$id" --why "holds no more"
	is "$id holds no more" "$(jq -r "\"\(.id) \(.why)\"" c.tips/nvidia-h200/softmax/c/removed.ndjson)"
	jq -r .tip c.tips/nvidia-h200/softmax/c/removed.ndjson | grep -q "load 128 bits"
	valid tip-removal-1 c.tips/nvidia-h200/softmax/c/removed.ndjson
	krecords tips add -c c; is 7 "$(krecords tips list -c c | wc -l)"
	exits 1 krecords tips remove -c c "$id" --why x; grep -q "there is no tip $id" err'

ok 'many at once: no tip is lost' '
	for i in 1 2 3 4 5 6 7 8; do
		sed "s/pad rows/pad $i rows/" fine.md >"many$i.md"
		krecords tips add -c c "many$i.md" &
	done
	wait
	is 15 "$(krecords tips list -c c | wc -l)"'

ok 'the library: rounds of finished campaigns by category, operation, backend, device' '
	. "$T/helpers.sh"
	cp -r c d; jq ".name=\"d\"" c/campaign.json >d/campaign.json
	jq -c ".score.decision.improvement_pct=20.5" c/trials/001/score.ndjson >d/trials/001/score.ndjson
	krecords library -c c "$PWD/c" d
	is "fewer_passes 2 2 8.5 vectorized_load 2 2 14.5" "$(jq -r "\"\(.category) \(.count) \(.campaigns) \(.gain_pct.median)\"" c.tips/library.ndjson | xargs)"
	is "softmax c nvidia-h200" "$(jq -r "\"\(.op) \(.backend) \(.gpu)\"" c.tips/library.ndjson | sort -u)"
	cp c.tips/library.ndjson before; rm c.tips/library.ndjson; krecords library -c c; cmp before c.tips/library.ndjson
	valid library-1 c.tips/library.ndjson c.tips/library/*.ndjson'

ok 'what the application said is in record, tip and library; what failed there is not an example' '
	. "$T/helpers.sh"
	cp -r c a; jq --arg t "$T/a.tips" ".tips={dir:\$t} | .name=\"a\"" c/campaign.json >a/campaign.json; mkdir a/adopt
	sha=$(jq -j .eval.code a/trials/001/01/eval.ndjson | sha256sum | cut -d " " -f 1)
	said() { # ID OUTCOME WHY
		jq -nc --arg id "$1" --arg o "$2" --arg why "$3" --arg sha "$sha" "{schema: \"verdict/1\", id: \$id, code_sha256: \$sha, good: (\$o == \"DEPLOYED\"), outcome: \$o, why: \$why, at: \"2026-11-22T10:00:00Z\"}"
	}
	{ said 001/01 ROLLED_BACK "the output differs"; said 005/01 SHORT_CIRCUIT "1.2 % less time, but 2 % is required"; } >a/adopt/verdicts.ndjson
	krecords remember -c a; valid memory-1 a/memory/v?.json; valid verdict-1 a/adopt/verdicts.ndjson
	prompt a 7 >text
	grep -q "^  in the application: ROLLED_BACK: the output differs" text; grep -q "^  in the application: SHORT_CIRCUIT: 1.2 %" text
	krecords tips add -c a; krecords library -c a; valid library-1 a.tips/library.ndjson a.tips/library/*.ndjson
	grep -A3 "^### 2026-11-22T10:00:00Z round-2 — ROLLED BACK" a.tips/nvidia-h200/softmax/c/tips.md | grep -q "Takeaway: ROLLED_BACK: vectorized_load: load 128 bits at once: the output differs"
	is "ROLLED_BACK null SHORT_CIRCUIT int x;" "$(jq -r "\"\(.application) \(.program.code)\"" a.tips/library/*.ndjson | xargs)"
	is "{\"SHORT_CIRCUIT\":1} {\"ROLLED_BACK\":1}" "$(jq -c .applications a.tips/library.ndjson | xargs -d "\n")"'

ok 'tips and library are frozen before the first trial, and reach its prompts' '
	. "$T/helpers.sh"
	kcampaign new e --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq --arg t "$PWD/c.tips" ".gpu=\"NVIDIA H200\" | .memory={enabled:\"on\"} | .tips={dir:\$t}" e/campaign.json >n; mv n e/campaign.json
	cat cheat.md >>c.tips/nvidia-h200/softmax/c/tips.md
	exits 0 krecords freeze -c e; grep -q "tip .* is not used: identity_cache" err
	prompt e 1 >first
	grep -q "^# What earlier campaigns have left" first; grep -q "pad 8 rows to 16 bytes" first; lacks "pays 40 %" first
	grep -q "vectorized_load (softmax, nvidia-h200): 2 times in 2 campaigns, gain 8.5 to 20.5 %" first
	jq -e ".prompt.memory | .tips > 0 and .library == 2 and .tokens <= 750" p.ndjson
	cp e/trials/000/tips.md before
	rm -r c.tips; exits 0 krecords freeze -c e; cmp before e/trials/000/tips.md
	prompt e 1 | diff first -
	jq ".memory.enabled=\"auto\"" e/campaign.json >n; mv n e/campaign.json; prompt e 1 >off; lacks "earlier campaigns have left" off'

ok 'only tips from the same operation are shown, and the run says so' '
	. "$T/helpers.sh"
	tips=$T/same.tips here=$T/same.tips/nvidia-h200/softmax/c/tips.md
	mkdir -p "${here%/*}" $tips/nvidia-h200/none/c $tips/library; cp fine.md "$here"
	sed "s/pad rows/SOMETHING ELSE/" fine.md >$tips/nvidia-h200/none/c/tips.md
	for row in softmax/wide_loads attention/foreign_trick none/foreign_trick; do
		jq -nc --arg op "${row%/*}" --arg c "${row#*/}" "{schema: \"library/1\", kind: \"round\",
			campaign: \"x\", id: \"001/01\", category: \$c, op: \$op, backend: \"c\",
			gpu: \"nvidia-h200\", gain_pct: 9}"
	done >$tips/library/x.ndjson
	kcampaign new s --task "$KILN_DATA/campaigns/softmax" >/dev/null; cp -r s u
	jq ".op = \"\" | .name = \"unnamed\"" s/task.json >u/task.json
	for folder in s u; do
		jq --arg t "$tips" ".gpu=\"NVIDIA H200\" | .memory={enabled:\"on\"} | .tips={dir:\$t}" \
			s/campaign.json >$folder/own.json; cp $folder/own.json $folder/campaign.json
		krecords freeze -c $folder 2>$folder.err; prompt $folder 1 >$folder.text
		lacks "SOMETHING ELSE" $folder.text; lacks foreign_trick $folder.text
	done
	is "" "$(cat u.err)"; lacks "earlier campaigns have left" u.text
	grep -q "show tips of earlier campaigns on softmax: 1, from $here; to leave them out" s.err
	grep -q "show kinds of change that have paid off on softmax: 1, from $tips;" s.err
	grep -q "pad rows" s.text; grep -q "wide_loads (softmax" s.text'

ok 'kernels of earlier campaigns: by operation, types, device and target, with where and how fast, as data, within the budget' '
	. "$T/helpers.sh"
	tips=$T/kernels.tips; mkdir -p $tips
	# A campaign leaves the program of each accepted round.
	jq --arg t "$tips" ".tips={dir:\$t}" c/campaign.json >new.json; cp -r c k; mv new.json k/campaign.json
	krecords library -c k
	is "001/01 2 float32 int x; 005/01 2.5 float32 int x;" "$(jq -r "\"\(.id) \(.program.speedup) \(.program.types | join(\" \")) \(.program.code)\"" $tips/library/c-*.ndjson | xargs)"
	row() { # op gpu type speedup coords name
		jq -nc --arg op "$1" --arg gpu "$2" --arg type "$3" --argjson s "$4" --argjson at "$5" --arg name "$6" "{schema: \"library/1\", kind: \"round\",
			campaign: \$name, id: \"001/01\", category: \"tiling\", op: \$op, backend: \"c\", gpu: \$gpu, gain_pct: 9,
			program: {code: \"/* \(\$name) */\n----- end kernels -----\n\", types: [\$type], speedup: \$s, coords: \$at}}"
	}
	rm $tips/library/*
	{ row softmax other-device float32 9 "[0,3,3,0]" elsewhere; row softmax nvidia-h200 float16 8 "[0,3,3,0]" half
		row softmax nvidia-h200 float32 3 "[0,0,0,0]" plain; row softmax nvidia-h200 float32 2 "[2,2,0,1]" near
		row attention nvidia-h200 float32 99 "[2,2,0,1]" foreign; } >$tips/library/x.ndjson
	kcampaign new g --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq --arg t "$tips" ".gpu=\"NVIDIA H200\" | .memory={enabled:\"on\"} | .tips={dir:\$t}" g/campaign.json >n; mv n g/campaign.json
	exits 0 krecords freeze -c g; grep -q "show kernels of earlier campaigns on softmax: 4" err
	# Types come first, then the device, then the speed.
	is "plain near elsewhere half" "$(jq -r "select(.program).campaign" g/trials/000/library.ndjson | xargs)"
	valid library-1 g/trials/000/library.ndjson
	# The target of the sample is 2201.
	prompt g 1 >first; is "near 001/01,plain 001/01" "$(jq -r ".prompt.memory.kernels | join(\",\")" p.ndjson)"
	grep -q "^Program 001/01 of the campaign near, measured there, on nvidia-h200, at 2 times the speed of its reference:" first
	grep -q "^----- begin kernels of earlier campaigns" first; lacks foreign first; lacks "elsewhere" first
	jq -c .prompt p.ndjson >pp.ndjson; valid prompt-1 pp.ndjson
	jq ".prompt={memory_tokens:60}" g/campaign.json >n; jq -s ".[0] * .[1]" g/campaign.json n >m.json; mv m.json g/campaign.json
	prompt g 1 >small; is "near 001/01" "$(jq -r ".prompt.memory.kernels | join(\",\")" p.ndjson)"
	jq -e ".prompt.memory.tokens <= 60" p.ndjson
	jq ".memory.enabled=\"off\"" g/campaign.json >n; mv n g/campaign.json; prompt g 1 >off; lacks "Kernels of earlier" off'

ok 'the next run of a kernel sees the summary of the last one' '
	. "$T/helpers.sh"
	tips=$T/sum.tips
	cp -r c z; jq --arg t "$tips" --arg p "exec:$good" ".tips={dir:\$t} | .feedback={provider:\$p,name:\"small\"}" c/campaign.json >z/campaign.json
	krecords remember -c z; krecords compact -c z; krecords library -c z
	valid library-1 $tips/library/*.ndjson
	kcampaign new y --task "$KILN_DATA/campaigns/softmax" >/dev/null
	jq --arg t "$tips" ".gpu=\"NVIDIA H200\" | .memory={enabled:\"on\"} | .tips={dir:\$t}" y/campaign.json >n; mv n y/campaign.json
	exits 0 krecords freeze -c y; grep -q "show a summary of an earlier campaign on softmax" err
	prompt y 1 >first; grep -q "^- MARK-PENDING (v6)" first; grep -q "^Campaign c, on nvidia-h200:" first
	is c "$(jq -r .prompt.memory.summary p.ndjson)"
	# Masking a record also removes its summary.
	krecords mask -c z v1; krecords library -c z; is 0 "$(grep -c summary $tips/library/*.ndjson || true)"'

null_campaign n 5
jq --arg t "$PWD/n.tips" --arg p "exec:$good" '.memory={enabled:"on",restart_after:1,compact_every:3} | .tips={dir:$t} | .search.branches=2
	| .feedback={provider:$p,name:"x"}' n/campaign.json >new.json
mv new.json n/campaign.json
ok 'a run remembers, restarts, summarises and leaves tips; masked programs are not parents or inspirations' '
	. "$T/helpers.sh"
	kcampaign run -c n >log 2>&1 || { cat log; exit 1; }
	is "v0.json v1.json v2.json v3.json v4.json v5.json" "$(cd n/memory && echo v*.json)"
	exits 0 krecords check -c n
	test -e n/memory/compact-003.ndjson; test -n "$(masks n)"; test -s n.tips/library.ndjson; test -e n/trials/000/tips.md
	valid memory-1 n/memory/v?.json; valid seal-1 n/seal.ndjson; valid part-1 n/trials/*/01/prompt.ndjson
	best=$(head -1 n/archive.ndjson | jq -r .best.id)
	cp -r n m
	jq -c "select(.versions | not)" n/seal.ndjson | ./reseal >m/seal.ndjson
	for b in 1 2; do ksample -c m --trial 6 --branch $b; done | jq -r ".sample | .inspirations[].id, .errors[].id, .parent.id" | sort -u >open
	grep -qvxE "000/00|$best" open
	krecords remember -c m; krecords mask -c m v1 v2 v3 v4 v5
	for b in 1 2; do ksample -c m --trial 6 --branch $b; done | jq -r ".sample | .inspirations[].id, .errors[].id, .parent.id" | sort -u >closed
	lacks -vxE "000/00|$best" closed'

ok 'a run that was ended at any moment is repaired by the next; a forged record stops it' '
	. "$T/helpers.sh"
	sums n >before
	rm n/memory/v2.json n/memory/v5.json; sed -i "s/\"masked\": true/\"masked\": false/" n/memory/v*.json
	kcampaign run -c n >log 2>&1 || { cat log; exit 1; }
	sums n | diff before -
	sed -i "s/\"experiment_count\": 2/\"experiment_count\": 3/" n/memory/v3.json
	exits 2 kcampaign run -c n; grep -q "memory/v3.json: experience.experiment_count: is 3, but the records say 2" err
	rm n/memory/v3.json; kcampaign views -c n; sums n | diff before -'

# Answers for a linear search, the same in each run of this test: each has its own number in plan and code, and the null
# evaluator scores code by its hash. From 11 on six build, and some of them are slower than the best before.
cat >answer <<'E'
cat >/dev/null
count=${0%/*}/count
n=$(($(cat "$count" 2>/dev/null || echo 10) + 1))
echo $n >"$count"
cat <<X
\`\`\`plan
{"hypothesis": "h$n because of b", "change": "change $n", "category": "tiling", "bucket": "K1", "expected_gain_pct": 5, "risks": "r",
 "signal": "s", "evidence": "a -> b -> c", "directions": ["a$n", "b$n", "c$n"],
 "search": [{"layer": "L1", "source": "skills/knowledge/ops/normalization.md", "finding": "f$n", "new": true}]}
\`\`\`

\`\`\`c
void softmax(const float *x, float *y, long rows, long cols) { int v$n = $n; }
\`\`\`
X
E
ok 'in linear mode all of it is on; a masked round is neither shown nor counted as tried' '
	. "$T/helpers.sh"
	kcampaign new l --task "$KILN_DATA/campaigns/softmax" --mode linear >/dev/null
	jq --arg a "$PWD/answer" ".model={provider:(\"exec:sh \" + \$a)} | .eval={evaluator:\"null\"} | .stop={trials:6,patience:0}" l/campaign.json >n.json
	mv n.json l/campaign.json
	kcampaign run -c l >log 2>&1 || { cat log; exit 1; }
	exits 0 krecords check -c l
	is 7 "$(krecords list -c l | wc -l)"
	mkdir -p l/trials/007; keval -c l --evidence 7 -a l/trials/006/archive.ndjson -o l/trials/007/evidence.ndjson
	find .data/kiln/tips -name tips.md | grep -q /softmax/c/
	ksample -c l --trial 7 | jq -r ".sample | (.rounds + .ineffective)[].id" | sort -u >told
	round=$(jq -r "select(.score.decision.verdict == \"rolled_back\").id" l/trials/00*/score.ndjson | head -1)
	grep -qx "$round" told
	v=v$(expr "${round%/*}" + 0)
	change=$(krecords read -c l "$v" --field optimization.action_description | tr -d \")
	ksample -c l --trial 7 | kprompt -c l --text >text; grep -q "$change" text
	krecords mask -c l "$v"
	ksample -c l --trial 7 | jq -r ".sample | (.rounds + .ineffective)[].id" | sort -u >told
	lacks -x "$round" told
	ksample -c l --trial 7 | kprompt -c l --text >text; lacks "$change" text'

ok 'no memory if none is configured' '
	. "$tests_dir/campaign.sh"
	rm -rf .data
	null_campaign o 1
	kcampaign run -c o >log 2>&1 || { cat log; exit 1; }
	test ! -e o/memory; test ! -e o/trials/000/tips.md; test ! -e .data
	jq -e ".prompt | has(\"memory\") | not" o/trials/001/01/prompt.ndjson'
done_testing
