#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kreport: structure and content of the page and its Markdown version; hostile text stays text; the same facts give the
# same bytes; and, if there is a browser, how it shows the page.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"
# shellcheck source=tests/campaign.sh
. "$tests_dir/campaign.sh"
# shellcheck source=tests/report-campaign.sh
. "$tests_dir/report-campaign.sh"
null_campaign c 2
hostile_campaign h
python=/usr/bin/python3
export python

ok 'help, version, and usage errors' '
	kreport --help >out; grep -q -- "--markdown" out
	kreport -V >out; grep -q "^kreport [0-9]" out
	exits 2 kreport --nonsense
	exits 2 kreport c; grep -q "unexpected operand" err
	exits 2 kreport -o x -c h; grep -q -- "-o FILE needs" err
	exits 2 kreport -c nowhere; grep -q nowhere err
	exits 2 kreport -c c; grep -q "nothing to report" err'

ok 'what runs now is on top of the page, whatever its length' '
	seq 300000 >now; kreport -c h --refresh 2 <now >page
	grep -q "http-equiv=\"refresh\" content=\"2\"" page; grep -qx 300000 page'

ok 'make report in a campaign writes both files, again the same bytes' '
	make -s -j2 -C c trials N=2 >/dev/null 2>&1
	make -s -C c report
	test -s c/report.html && test -s c/report.md
	sha256sum c/report.html c/report.md >before
	mv c elsewhere
	make -s -C elsewhere report
	mv elsewhere c
	sha256sum -c --quiet before
	kreport -c c --html | cmp - c/report.html
	kreport -c c --markdown -o md && cmp md c/report.md'

ok 'the facts behind the pages, as JSON' '
	kreport -c h --json -o facts.json
	jq -e ".schema == \"report/1\" and .best.id == \"004/01\" and .best.speed.mean > 150 and .counts == {correct: 3, compiled: 4, made: 6}" facts.json
	jq -e "[.sources[] | .id] == [\"000/00\", \"004/01\"] and (.sources[1].code | contains(\"tile_4\"))" facts.json
	kreport -c c --json | jq -e ".best.speed.provisional == true and .linear == false"
	! $python -W ignore -c "import jsonschema" 2>/dev/null || $python -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" report-1 facts.json'

ok 'a best kernel that is wrong on the full set is reported as wrong' '
	cp -r c w; best=$(jq -r "select(.kind == \"archive\").best.id" c/trials/002/archive.ndjson)
	jq -nc --arg id "$best" "{id: \$id, eval: {status: \"partial\"}}" >w/trials/002/verify.ndjson
	kreport -c w
	grep -qF "> **Not accepted:** measured again on the full set after trial 2, it is partial." w/report.md
	not grep -q "Not verified yet" w/report.md; rm -r w'

ok 'what the audit rejects is not counted as correct' '
	cp -r c w; n=$(sed -n "s/^- \*\*\([0-9]*\)\*\* correct candidates.*/\1/p" c/report.md)
	id=$(jq -r "select(.score.correct).id" c/trials/001/score.ndjson | head -n 1)
	amend w 001 "if .id == \"$id\" then .score.overfit = true | .audit.decision = \"REJECT-as-overfit\" else . end"
	kreport -c w; grep -q "^- \*\*$((n - 1))\*\* correct candidate" w/report.md; rm -r w'

ok 'a reference alone is reported, without a best' '
	mkdir -p r/trials && cp c/*.json c/*.c r && cp -r c/trials/000 r/trials
	kreport -c r
	grep -q "no candidate is correct" r/report.md
	grep -q "No trial has been made yet" r/report.md
	grep -q "^- reference: \*\*1×\*\*" r/report.md
	rm -r r/trials/000/score.ndjson
	exits 2 kreport -c r; grep -q "trials/000/score.ndjson: is missing; run make views to make it" err'

ok 'the page loads nothing and runs nothing' '
	for page in c/report.html h/report.html; do
		kreport -c "${page%/*}"
		grep -oE "(src|srcset|action|data|poster)=\"[^\"]*\"" $page | not grep -v viewport
		grep -oE "href=\"[^\"]*\"" $page | not grep -vE "\"#[a-z]+\"|\"data:,\""
		not grep -qE "url\(|@import|<script|<iframe|<object|<embed|<form" $page
		grep -q "default-src .none.; style-src .unsafe-inline." $page
	done'

ok 'the time of a single call is next to the time that counts' '
	grep -q "A single call" h/report.html
	grep -A 9 "A single call" h/report.md | grep -E "2048x2560x2048 .* 33\.13 .* 36\.73 .* 19\.00 "
	grep -q "Calls back to back count (.timing. of the task)" h/report.md
	not grep -q "A single call" c/report.md'
ok 'it is well formed: as XML too, tags and ids in order' '
	command -v xmllint >/dev/null || exit 0
	for f in c h; do
		xmllint --html --noout "$f/report.html" 2>&1 | grep "parser error" | not grep -vE "Tag [a-z]+ invalid"
		sed "s/^<!DOCTYPE html>//; s/<meta \([^>]*\)>/<meta \1\/>/g; s/<link \([^>]*\)>/<link \1\/>/g" "$f/report.html" >x.xml
		xmllint --noout x.xml
		is "" "$(grep -oE " id=\"[^\"]*\"" "$f/report.html" | sort | uniq -d)"
	done'

ok 'all sections are there, in the page and in Markdown' '
	for s in Result Roofline Rounds Search Archive "Lineage of the best" "What failed, and why" Audit Cost Environment "How to reproduce it"; do
		grep -q "<h2>$s</h2>" h/report.html || { echo "no $s"; exit 1; }
		grep -qx "## $s" h/report.md || { echo "no $s in Markdown"; exit 1; }
	done
	not grep -q "<h2>Rounds" c/report.html
	grep -q "<th scope=\"col\"" h/report.html
	# When a row is a card on a narrow screen, its first cell has a label, too.
	grep -q "<th scope=\"row\" class=\"\" data-is=\"Round\">" h/report.html
	for id in roof progress; do
		grep -q "aria-labelledby=\"$id-t $id-d\"" h/report.html
		grep -q "<desc id=\"$id-d\">.*[a-z]" h/report.html
	done'

ok 'bars for each workload: best, reference, roofline, each on the scale of the fastest' '
	is 2 "$(grep -c "<h3>2048x2560x2048</h3>\|<h3>512x8192x4096</h3>" h/report.html)"
	for name in reference roofline "best kernel 004/01"; do
		is 2 "$(grep -c "^<li class=\"[a-z]*\"><span>$name</span>" h/report.html)"
	done
	grep -q "<li class=\"best\"><span>best kernel 004/01</span> <span><strong>[0-9.]*×</strong> (.*<b style=\"width:[0-9.]*%\"></b><i style=" h/report.html
	grep -q "^- best kernel 004/01: \*\*151×\*\* (.* █████" h/report.md
	awk -F "[:%]" "/<b style=.width/ && \$2 > 100 { exit 1 }" h/report.html'

ok 'the code of the best stands next to that of the reference, once' '
	is 2 "$(grep -c "<div class=\"source\">" h/report.html)"
	grep -q "^### The reference, .000/00." h/report.md
	grep -q "^### The best kernel, .004/01." h/report.md
	is 1 "$(grep -c "^	float tile_4;" h/report.md)"'

ok 'the archive shows only occupied cells, and an unknown cost has no tile' '
	is "$(jq -c "select(.kind == \"elite\")" c/trials/002/archive.ndjson | wc -l)" "$(grep -c "<span>cell [0-3]*: " c/report.html)"
	not grep -q "unknown\*\* cost" c/report.md'

ok 'hostile text stays text' '
	not grep -qi "<script" h/report.html
	grep -qF "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" h/report.html
	grep -qF "]]&gt;" h/report.html
	not grep -q "<img" h/report.html
	not grep -qi "<script\|<img" h/report.md
	grep -q "bytes more" h/report.html
	is 0 "$(tr -d "\n\t" <h/report.html | LC_ALL=C tr -cd "\000-\037\177" | wc -c)"
	for f in h/report.html h/report.md; do
		iconv -f UTF-8 -t UTF-8 $f >/dev/null
		not grep -q "$(printf "\342\200\256")" $f
	done
	awk "length > 20000 && !/<svg/ { exit 1 }" h/report.html'

ok 'a text cannot move the cells that follow it, and a template is not filled in twice' '
	cp -r h v; amend v 005 ".eval.reasons[0].detail = \"a\\u0003b\\u0001c | {{why}}\""
	jq ".unknown[0].why = \"{{metric}} \\u0003\"" h/trials/000/roofline.json >v/trials/000/roofline.json
	kreport -c v
	grep -q "^| .005/01. | rejected | forbidden_symbol | a.*b.*c .*{{why}} |$" v/report.md
	grep -q "^- Unknown .l3_size.: {{metric}} " v/report.md; rm -r v'

ok 'a fence in a program does not end its block in Markdown' '
	awk "/^\`\`\`+/ { match(\$0, /^\`+/); n = RLENGTH; if (!open) open = n; else if (n >= open) open = 0 } END { exit open != 0 }" h/report.md
	grep -q "^\`\`\`\`" h/report.md
	awk "/^\|/ { gsub(/[\\\\][|]/, \"\"); n = gsub(/[|]/, \"\"); if (last && n != last) { print FNR; bad = 1 } last = n; next } { last = 0 }
		END { exit bad }" h/report.md'

ok 'rounds: decisions, lineage by acceptance, what was rolled back, termination' '
	grep -q "| 2 | ACCEPTED |" h/report.md
	grep -q "| 3 | ROLLED BACK |" h/report.md
	grep -q "Round 3: ROLLED BACK" h/report.md
	sed -n "/^\*\*Steps to the best/,/<details>/p" h/report.md >steps
	grep -q "001/01" steps && grep -q "004/01" steps && ! grep -q "002/01" steps
	grep -q "Hypothesis:\*\* tiles should help" h/report.md
	grep -qF -- "+	float tile_4;" h/report.md
	grep -q "^| T1 | .*linear.target or stop.speedup | false, not set |$" h/report.md
	grep -q "^| T3 | .*stop.trials | true |$" h/report.md
	grep -q "^| T4 | .*stop.request | false |$" h/report.md'

ok 'a linear search without a result says why, and what is left out of a table' '
	mkdir -p n/trials && cp h/*.json h/*.cu n && cp -r h/trials/000 n/trials && kreport -c n
	grep -q "Only the baseline has been measured" n/report.md
	for t in 001 002 003; do mkdir -p n/trials/$t; done
	amend n 000 ".eval.timing |= (. + [range(7) as \$i | .[0] | .workload = \"w\\(\$i)\"])"
	for t in 1 2; do
		kcampaign record -c h 002/01 | jq -c ".score.decision.verdict = \"rolled_back\" | .trial = $t | .id = \"00$t/01\"" >n/trials/00$t/score.ndjson; kcampaign upgrade -c n
		karchive -c n -a n/trials/00$((t - 1))/archive.ndjson -o n/trials/00$t/archive.ndjson n/trials/00$t/score.ndjson
	done
	rmdir n/trials/003; kreport -c n
	grep -q "None of 2 rounds was accepted; the naive reference is still the best. 2 candidates were correct" n/report.md
	grep -q "^3 further workloads are not shown here; their times are in" n/report.md
	grep -q "^| Round | Status | Change | vs last accepted | Speed-up | 2048x2560x2048 |" n/report.md'
ok 'noise, placeholders and mismatches with their figures' '
	cp -r h v
	jq ".placeholders = [{metric: \"fp16_matrix\", value: 400, unit: \"TFLOPS\", from: \"placeholder.ok:L1\"}]
		| .mismatches = [{metric: \"units\", documented: \"132\", where: \"docs/hardware/h200.md:L9\", running: \"114\"}] | .workloads[0].floor_ns = 9e9" h/trials/000/roofline.json >v/trials/000/roofline.json
	kreport -c v
	grep -q "Differences below 0.2 % are noise here" v/report.md
	grep -q "Placeholder, not a fact: .fp16_matrix.: 400 TFLOPS (.placeholder.ok:L1.)" v/report.md
	grep -q "disagree on .units.: 132 (docs/hardware/h200.md:L9), but the device reports 114" v/report.md
	grep -q "A time below the least time is not always an error" v/report.md; not grep -q "A time below the least time" h/report.md
	for t in 000 004; do amend v $t ".eval.noise.floor = 9"; done
	kreport -c v; grep -q "Verdict: .*The noise hides whether there is a gap" v/report.md'
ok 'one figure for the best, with its interval, everywhere: the score, or the result of a later race against the reference' '
	rm -rf v; cp -r h v
	jq -c ".score += {speedup_low: 149, speedup_high: 154, provisional: true, anchor: {name: \"incumbent\", id: \"001/01\", speedup: 8, low: 8},
		per_workload: [{workload: \"2048x2560x2048\", speedup: 151, speedup_low: 148, speedup_high: 155, runtime_ms: 1}]}" h/trials/004/score.ndjson >v/trials/004/score.ndjson
	kreport -c v
	grep -q "runs \*\*151×\*\* as fast as the naive reference (149× to 154×) on .*in turns with a program whose speed-up is known" v/report.md
	grep -q "^> \*\*Provisional:\*\*" v/report.md
	grep -q "^- \*\*151×\*\* as fast as the reference: 149× to 154×, provisional" v/report.md
	is 2 "$(grep -c "004/01.*151× (149× to 154×, provisional)" v/report.md)"
	grep -q "reference | .* | 151× (148× to 155×) |" v/report.md
	jq -nc "{id: \"004/01\", trial: 6, pairs: ([\"2048x2560x2048\", \"512x8192x4096\"] | map({name: \"reference\", workload: ., ratio: 40, low: 39, high: 41}))}" >v/trials/006/anchor.ndjson
	kreport -c v
	not grep -q "151×" v/report.md v/report.html
	grep -q "runs \*\*40.0×\*\* as fast as the naive reference (39.3× to 40.7×)" v/report.md
	is 2 "$(grep -c "004/01.*40.0× (39.3× to 40.7×)" v/report.md)"
	not grep -q "Provisional" v/report.md
	jq -c "{id, eval: {status: \"correct\", timing: [{workload: \"2048x2560x2048\", median_ns: 9}], pairs: (.pairs | map(.ratio = 30 | .low = 29 | .high = 31))}}" v/trials/006/anchor.ndjson >v/trials/006/verify.ndjson
	kreport -c v; rm -r v/trials/006/verify.ndjson
	not grep -q "40.0×" v/report.md
	grep -q "runs \*\*30.0×\*\* as fast .* measured again after the search" v/report.md
	is 2 "$(grep -c "004/01.*30.0× (29.3× to 30.7×)" v/report.md)"; rm -r v'
ok 'audit, roofline and utilisation come from their records' '
	grep -q "ACCEPT-as-real: 2 correct" h/report.md
	grep -q "REJECT-as-overfit: 1 correct" h/report.md
	grep -q "keyed on a pointer" h/report.md
	grep -q "docs/hardware/h200.md:L12" h/report.md
	grep -q "class=\"roof\"" h/report.html && grep -q "class=\"measured\"" h/report.html
	grep -q "of the roofline" h/report.html
	grep -q "compute-bound target" h/report.md
	cp -r h h3; rm h3/trials/000/roofline.json; kreport -c h3; grep -q "There is no roofline" h3/report.md'

ok 'next steps: at most three, from findings, the roofline and the baselines, and none without a reason' '
	kreport -c h --json | jq -e ".next | length == 3 and .[0] == {what: \"it waits <b> for memory\", action: \"wait less\", from: \"profile of 004/01, finding one\"}"
	kreport -c h --json | jq -e "[.next[].from] | any(. == \"roofline\")"
	grep -q "^### Next steps" h/report.md; grep -q "wait less" h/report.md
	not grep -q "finding one" c/report.md'
ok 'cost: recorded replies are marked as recorded, unknown prices as unknown' '
	grep -q "replies were recorded earlier and replayed" h/report.md
	grep -q "for 3 of 6 replies; the others have no price" h/report.md
	grep -q "unknown" c/report.md'

ok 'the best in a few lines, and what was not built is not counted as compiled' '
	kreport -c h --best >out; grep -q "^best kernel  004/01, cell 0123, 42.90 µs; its code: kcampaign best --code$" out
	grep -q "^candidates   6: compiled 4 (66.7 %), correct 3 (50.0 %)$" out
	grep -q "^replies      6 recorded replies of m<b>odel</b>; everything else was measured here$" out
	kcampaign best -c h | cmp - out'

ok 'failures: grouped reasons, cheats with what they did' '
	grep -q "| compile_error | 1 | error: expected" h/report.md
	grep -q "| rejected | forbidden_symbol |" h/report.md'

ok 'members of other types than kiln writes do no harm' '
	cp -r h v; amend v 004 ".eval.environment = \"x\" | .eval.timing[0].device = 3 | .eval.noise = [] | .eval.correctness = \"y\" |
		.reply.cost_usd = \"9\" | .reply.model = {} | .score.efficiency_pct = \"z\" | .eval.sanitizers = 4 | .eval.profile.findings = [1, \"x\"]"
	amend v 000 ".eval.environment = [1] | .eval.timing[0].device = {sm_mhz: \"1\", throttle: {}}"
	jq ".workloads = \"x\"" h/trials/000/roofline.json >v/trials/000/roofline.json
	kreport -c v; grep -q "^| Processor | A CPU" v/report.md; grep -q "^| Cost | .\$0.75 for 3 of 6 replies" v/report.md
	jq -nc "{id: \"004/01\", eval: {environment: 3, timing: [1], pairs: \"x\", wall_s: \"q\", baselines: \"r\"}}" >v/trials/006/verify.ndjson
	kreport -c v; grep -q "^| Processor | A CPU" v/report.md; rm -r v'

ok 'every fact has its digest, and the list checks' '
	(cd h && sed -n "/^## How to reproduce/,\$p" report.md | grep -E "^[0-9a-f]{64}  " >sums && sha256sum -c --quiet sums)
	is "$(cd h && find trials -name "eval.ndjson" -o -name machine.json | wc -l)" "$(grep -cE "  trials/.*(eval.ndjson|machine.json)" h/sums)"
	grep -q "  campaign.json$" h/sums && grep -q "  task.json$" h/sums'

ok 'the commands that it gives replay the campaign, to the same archive' '
	cp -r c again
	cd again
	sed -n "/^To repeat the whole search/,\$p" report.md | sed -n "/^\`\`\`sh/,/^\`\`\`/p" | sed "/^\`\`\`/d" >commands
	grep -q "make -j4 trials N=2" commands
	sh -eu commands >/dev/null 2>&1
	test -s report.html && test -d trials.old
	for t in 001 002; do
		same trials.old/$t/archive.ndjson trials/$t/archive.ndjson
	done
	jq -e ".reply.recorded" trials/002/04/reply.ndjson'

ok 'the page follows the facts' '
	cp -r h h2
	amend h2 001 ".eval.plan.hypothesis = \"tiles ought to help\""
	kreport -c h2
	grep -q "tiles ought to help" h2/report.html
	not cmp -s h/report.html h2/report.html'

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || :)
if [ -z "$browser" ]; then
	skip 'a browser shows it' 'no chromium here'
elif ! $python -c '' 2>/dev/null; then
	skip 'a browser shows it' 'no python3 here'
else
	export browser
	ok 'a browser shows it: no message, no request, nothing wider than 400 and 1280 pixels' '
		$python "$tests_dir/browser.py" "$browser" h/report.html
		$python "$tests_dir/browser.py" "$browser" c/report.html'
	ok 'the browser test sees what it should' '
		printf "<!DOCTYPE html><meta name=viewport content=width=device-width><title>t</title><div style=\"width: 600px\">wide</div><img src=http://127.0.0.1:1/x.png><script>console.log(1)</script>" >bad.html
		exits 1 $python "$tests_dir/browser.py" "$browser" bad.html
		grep -q "60[08] pixels wide in a window of 400" out
		grep -q "request for http" out && grep -q "console:" out && grep -q "scripts in the page" out'
fi
done_testing
