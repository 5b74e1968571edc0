# SPDX-License-Identifier: Apache-2.0
# What a report says about all candidates together: members to add to the facts of kreport, which are the input, with
# "list": a row for every candidate, the reference first, some of its members under their paths in its record. "figures"
# are plots for the page, in SVG; their colours are classes of its style sheet, so that they also work in dark mode.

def digits($n): if . == 0 then 0 else pow(10; $n - 1 - (fabs | log10 | floor)) as $scale | . * $scale | round / $scale end;
def tenth: . * 10 | round / 10;
def total(f): reduce .[] as $one (0; . + ($one | f));
# A file that kiln did not write may hold anything.
def safe(f): try f catch null;
def count(f): reduce (.[] | select(f)) as $one (0; . + 1);
def cut($most): if length > $most then .[:$most] + "…" else . end;
def some: select(length > 0);
# "claude (6), other (2)", in the order in which they first appear.
def names: reduce .[] as $name ({}; .[$name] += 1) | to_entries | map("\(.key) (\(.value))") | join(", ");
def quantile($q): ($q * (length - 1)) as $at | ($at | floor) as $i | .[$i] + ($at - $i) * ((.[$i + 1] // .[$i]) - .[$i]);
def times: if . > 0 then "\(digits(3))×" else "–" end;
# "679 T"
def rate: ([[log10 / 3 | floor, 0] | max, 5] | min) as $i
	| "\(. / pow(1000; $i) | digits(3)) \(["", "k", "M", "G", "T", "P"][$i])";

# ---- plots ----

# An axis from the value LOW to HIGH that is drawn between FROM and TO, and where on it a value is.
def axis($from; $to): def scale(f): if .log then f | log10 else f end;
	. + { from: $from, to: $to, base: scale(.low) } | .span = scale(.high) - .base;
def at($axis; $v): ($v | if $axis.log then log10 else . end) - $axis.base
	| . / if $axis.span > 0 then $axis.span else 1 end
	| $axis.from + (if . < 0 then 0 elif . > 1 then 1 else . end) * ($axis.to - $axis.from) | tenth;
# A step of 1, 2 or 5 times a power of ten that gives about five ticks.
def nice: (. / 5) as $rough | pow(10; $rough | log10 | floor) as $power | ($rough / $power) as $part
	| $power * (if $part > 5 then 10 elif $part > 2 then 5 elif $part > 1 then 2 else 1 end);
# For a logarithmic axis the decades; if these are few, also 2 and 5; if still few, even steps.
def ticks: .low as $low | .high as $high | (if .log then $high / $low | log10 else 0 end) as $decades
	| if $decades >= 0.9 then
		[range($low | log10 | floor; ($high | log10) + 1e-9; [$decades / 7 | ceil, 1] | max)
			| pow(10; .) * (if $decades < 2.5 then 1, 2, 5 else 1 end)]
	else
		(if .whole then [($high - $low | nice), 1] | max else $high - $low | nice end) as $step
		| [range($low / $step - 1e-9 | ceil; $high / $step + 1e-9) * $step]
	end | map(select(. >= $low * 0.999 and . <= $high * 1.001));

def text($x; $y; $class): @html "<text x=\"\($x | tenth)\" y=\"\($y | tenth)\" class=\"\($class)\">\(.)</text>\n";
def path($class; $d): @html "<path class=\"\($class)\" d=\"\($d)\"/>\n";
def circle($class; $radius; $x; $y): @html "<circle cx=\"\($x)\" cy=\"\($y)\" r=\"\($radius)\" class=\"\($class)\"/>";
# Browsers show the title next to the pointer.
def titled($title; mark): @html "<g><title>\($title)</title>" + mark + "</g>\n";
# MARKS draws with the axes [X, Y].
def plot($id; $title; $about; $height; $xs; $ys; x_label; y_label; marks):
	($xs | axis(50; 470)) as $x | ($ys | axis($height - 42; 24)) as $y
	| @html "<svg viewBox=\"0 0 480 \($height)\" role=\"img\" aria-labelledby=\"\($id)-t \($id)-d\">\n"
	+ @html "<title id=\"\($id)-t\">\($title)</title>\n<desc id=\"\($id)-d\">\($about)</desc>\n"
	+ ([($y | ticks[] | at($y; .) as $to
			| path("grid"; "M\($x.from) \($to)H\($x.to)"), (y_label | text($x.from - 6; $to + 4; "end"))),
		($y.title | text($x.from; $y.to - 10; "axis")),
		($x | ticks[] | at($x; .) as $to
			| path("grid"; "M\($to) \($y.from)V\($y.to)"), (x_label | text($to; $y.from + 16; "mid"))),
		path("frame"; "M\($x.from) \($y.from)H\($x.to)"),
		($x.title | text(($x.from + $x.to) / 2; $y.from + 34; "mid axis")),
		([$x, $y] | marks)] | add) + "</svg>\n";

# The branches of a trial are next to each other.
def progress($linear; $made; $trials):
	($made | map(select(.correct) | .speed.mean // empty)) as $speeds
	| ([1, $speeds[]] | min) as $low | ([1.5, $speeds[]] | max) as $high
	| (if $made | length > 100 then 3 else 4 end) as $radius
	| plot("progress"; "Speed-up over the trials";
		"A point for every correct candidate, a cross at the bottom for every other one, and a line for the best so far, "
			+ "which ends at \($trials[-1].best | times) after trial \($trials | length).";
		300;
		{ title: (if $linear then "trial (round − 1)" else "trial" end), low: 0.5, high: (($trials | length) + 0.5), whole: true };
		# Leave room at the bottom for the crosses.
		{ title: "times as fast as the reference", low: ($low / pow($high / $low; 0.12)),
			high: ($high * pow($high / $low; 0.08)), log: true };
		digits(5); "\(digits(4))×";
		. as [$x, $y]
		| path("best"; "M\(at($x; 0)) \(at($y; 1))" + ([foreach $trials[] as $t ({ now: 1 };
				{ was: .now, now: (if $t.best > 0 then [$t.best, 1] | max else .now end) };
				select(.now > .was) | "H\(at($x; $t.trial - 0.4))V\(at($y; .now))")] | add) + "H\($x.to)"),
			($made[] | at($x; .trial + 0.64 * ((.branch - 0.5) / $trials[.trial - 1].all - 0.5)) as $at
				| if .correct and .speed then
					titled("\(.id): \(.speed.mean | times), \(.strategy | some // "no strategy")"
							+ if .won then if $linear then ", accepted" else ", a gain" end else "" end;
						circle(if .won then "gain" else "point" end; $radius; $at; at($y; .speed.mean)))
				else
					titled("\(.id): \(.status)"; path("failed"; "M\($at - 3 | tenth) \($y.from - 8)l6 6m0 -6l-6 6"))
				end));

# The roof of a peak and a bandwidth, within the frame of the plot.
def roof_path($class; $x; $y; $peak; $bandwidth): select($peak > 0 and $bandwidth > 0)
	| path($class; "M\(at($x; [$x.low, $y.low / $bandwidth] | max)) \(at($y; [$x.low * $bandwidth, $y.low] | max))"
		+ "L\(at($x; [$peak / $bandwidth, $x.high] | min)) \(at($y; [$peak, $x.high * $bandwidth] | min))H\($x.to)");
# POINTS: {"id", "workload", "class", "x", "y"}.
def roof($peak; $bandwidth; $measured; $intensities; $points):
	([$peak / $bandwidth, $points[].x, $intensities[]] | [min, max]) as [$left, $right]
	| ([$peak, $points[].y, ($intensities[] * $bandwidth | [., $peak] | min)] | [min, max]) as [$low, $high]
	| plot("roof"; "Roofline";
		"Rates over arithmetic intensity under the roof of \($peak | rate)FLOP/s and \($bandwidth | rate)B/s; "
			+ "the ridge is at \($peak / $bandwidth | digits(4)) FLOP/B.";
		330; { low: ($left / 2.5), high: ($right * 2.5), log: true, title: "arithmetic intensity, FLOP/B" };
		{ low: ($low / 1.8), high: ($high * 1.8), log: true, title: "FLOP/s" };
		digits(5); rate;
		. as [$x, $y]
		| roof_path("roof"; $x; $y; $peak; $bandwidth),
			roof_path("measured"; $x; $y; $measured.compute; $measured.memory),
			($intensities[] | path("drop"; "M\(at($x; .)) \($y.from)V\(at($y; [$peak, . * $bandwidth] | min))")),
			($points[] | titled("\(.id) on \(.workload): \(.y | rate)FLOP/s at \(.x | digits(4)) FLOP/B";
				circle(.class; 4.5; at($x; .x); at($y; .y)))));

# ---- what the candidates are in all ----

def trials($last): (group_by(.trial) | map({ key: "\(.[0].trial)", value: . }) | from_entries) as $by
	| [foreach range(1; $last + 1) as $t ({ best: 0 }; ($by["\($t)"] // []) as $all
		| { trial: $t, all: ($all | length), correct: ($all | count(.correct)), gains: ($all | count(.won)),
			best: ([$all[] | select(.leads) | .speed.mean // 0][-1] // .best), tokens: ($all | total(.tokens)),
			priced: any($all[]; has("reply.cost_usd")), cost: ($all | total(.["reply.cost_usd"])) })];

def search($trials): (map(select(.correct) | .speed.mean // empty) | sort) as $speeds
	| any($trials[]; .priced) as $priced | ($trials | total(.tokens)) as $tokens | ($trials | total(.gains)) as $gains
	| { timed: ($speeds | length), gains: $gains, priced: $priced, paid: ($priced or $tokens > 0),
		folded: ($trials | length > 12), trials: $trials }
	+ if $gains == 0 then {}
		else { usd_each: (($trials | total(.cost)) / $gains), tokens_each: ($tokens / $gains | floor) } end
	+ if $speeds == [] then {}
		else { lowest: $speeds[0], lower: ($speeds | quantile(0.25)), median: ($speeds | quantile(0.5)),
			upper: ($speeds | quantile(0.75)), highest: $speeds[-1] } end;

# The first few elites get a bar.
def archive($elites): ($elites | map({ (.id): true }) | add) as $wanted
	| (map(select($wanted[.id]) | { (.id): .speed }) | add) as $speeds
	| $elites | map(.speed = ($speeds[.id] // .speed))
	| { count: length, longest: ([1, .[].speed.mean // empty] | max),
		elites: (to_entries | map(.key as $i | .value
			| . + { class: (if .correct | not then "" elif $i > 0 then "point" else "best" end), bar: ($i < 24),
				value: (if .correct then .speed.mean // 0 else 0 end) })) };

def failures: { statuses: (group_by(.rung) | reverse | map({ status: .[0].status, n: length })),
	cheats: any(.[]; .cheat), rolled_back: any(.[]; .verdict == "rolled_back"),
	# The most frequent first, in the words of the first one.
	reasons: (map(select(.key)) | group_by(.key) | sort_by(-length, .[0].key) | (some
		| { kinds: length, more: (length > 12), rows: (.[:12] | map({ status: .[0].status, text: .[0].failure, n: length,
			ids: (map(.id) | .[:8] + if length > 8 then ["…"] else [] end | join(" ")) })) }) // null) };

def cost($eval_s): map(select(.paid)) as $replies | ($replies | length) as $n
	| ($replies | count(has("reply.cost_usd"))) as $priced | ($replies | count(has("reply.usage"))) as $counted
	| ($replies | map(select(has("reply.recorded")))) as $recorded | ($replies | map(.["reply.time"] // empty | some)) as $when
	| { replies: $n, priced: $priced, counted: $counted, recorded: ($recorded | length), all_recorded: ($recorded == $replies),
		recorded_models: ($recorded | map(.["reply.model"] // "an unnamed model") | unique | join(", ")),
		timed: ($replies | count(has("reply.ms.total"))), some_unpriced: ($priced != $n),
		estimated: ($replies | count(.["reply.usage"].estimated == true)), attempts: ($replies | total(.["reply.attempts"])),
		usd: ($replies | total(.["reply.cost_usd"])), model_ns: (($replies | total(.["reply.ms.total"])) * 1e6),
		eval_ns: ($eval_s * 1e9), models: ($replies | map(.["reply.model"] // "unnamed") | names),
		providers: ($replies | map(.["reply.provider"] // "unnamed") | names),
		first: ($when | min // ""), until: ($when | max // ""),
		unknown: (if $n == 0 or ($priced > 0 and $counted > 0) then "" elif $counted > 0 then "The cost is"
			elif $priced > 0 then "The tokens are" else "The cost and the tokens are" end) };

def hex: if . < 16 then "0123456789abcdef"[.:. + 1] else (. / 16 | floor | hex) + (. % 16 | hex) end;
# The state of a GPU in all timed rows.
def clocks: if . == [] then null else
	def values(f): [.[] | f | numbers | select(. > 0) | round];
	values(.throttle) as $throttled
	| { rows: length, throttled: ($throttled | length),
		mask: ($throttled | unique | map("0x" + hex) | join(", ")),
		sm_low: (values(.sm_mhz) | min // 0), sm_high: (values(.sm_mhz) | max // 0),
		memory_low: (values(.memory_mhz) | min // 0), memory_high: (values(.memory_mhz) | max // 0),
		hot: (values(.temperature_c) | max // 0), power: (values(.power_w) | max // 0) } end;
def environment($device; $asked): ($device.driver_api // "0" | tonumber? // 0) as $api
	| { elsewhere: (($device.name | strings | select($asked != "" and . != $asked)) // ""),
		api: "\($api / 1000 | floor).\($api % 1000 / 10 | floor)", load: (map(.["eval.environment.load_before"] | numbers) | max // 0),
		sandboxes: (map(.["eval.sandbox.name"] | strings) | names),
		governors: (map(.["eval.environment.governor"] | strings) | names), clocks: (map(.devices[]) | clocks) };

# The rounds of a linear search, with columns for the first workloads.
def rounds($reference; $header; $best; $ends; $work):
	[$reference.eval.timing[]? | .workload // "?"] as $timed | $timed[:6] as $columns
	| { baseline: "BASELINE", accepted: "ACCEPTED", rolled_back: "ROLLED BACK" } as $words
	| { accepted: count(.verdict == "accepted"), rolled_back: count(.verdict == "rolled_back"), columns: $columns,
		last_accepted: ($header.linear.accepted // $best.id // $reference.id), hidden: ($timed[6:] | length), ends: $ends,
		rows: map(select(.verdict | some) | (.verdict == "baseline") as $baseline
			| { round: (.["score.decision.round"] // .trial + 1), speed, verdict: ($words[.verdict] // .verdict),
				score: { decision: { trade_off: .["score.decision.trade_off"] } },
				change: (if $baseline then "the naive reference"
					else .["eval.plan.change"] // .["eval.plan_fault"] // .status end),
				improvement_pct: (if $baseline then null else .["score.decision.improvement_pct"] end),
				shapes: (.times as $times | $columns | map($times[.] as $ns
					| { ns: ($ns // 0), flops: (if $ns > 0 then ($work[.].flops // 0) / $ns * 1e9 else 0 end) })) }) };

# ---- the best ----

# All programs on each workload; the roof is relative to the reference's time, from the program that it bounds.
def timed($work; $roofline): map(.name as $name | ($work[$name] // {}) as $each
	| (first($roofline.workloads[]? | objects | select(.workload == $name).floor_ns | numbers) // 0) as $least
	| .programs |= map((if .ns > 0 then 1e9 / .ns else 0 end) as $rate
		| . + { timed: (.ns > 0), flops: ([$each.flops // 0, 0] | max * $rate),
			bytes: ([$each.bytes // 0, 0] | max * $rate) })
	| (.programs | if .[0].speed then .[0] else .[1] end) as $bound
	| .roof = (if $least > 0 and $bound.ns > 0
		then { times: ($bound.speed.mean * $bound.ns / $least), ns: $least } else null end)
	| .longest = 1.04 * ([.roof.times // 0, (.programs[].speed.mean // 0)] | max));

# From the reference to the best: the rounds that were kept, or by parents, backwards.
def lineage($header; $linear; $best; $reference): if $best == null then null else
	(reduce .[] as $c ({}; .[$c.id] = $c)) as $all
	| [$header.linear | select($linear) | .chain[]? | strings | select($all[.])] as $chain
	| (if $chain != [] then $chain else
		[$best.id | recurse($all[.] as $c | $c["sample.parent.id"] // empty
			| select($all[.] and $all[.].trial < $c.trial))] | reverse end)
	| { steps: ., cut: (.[0] | select(. != $reference.id) // "") } end;

def checks($after): select((.correctness.total // 0) > 0)
	| { after: $after, passed: (.correctness.passed // 0), total: .correctness.total, seed: (.seed // ""),
		workloads: ([.correctness.cases[]?.workload] | unique | length),
		distributions: ([.correctness.cases[]?.distribution] | unique | length),
		sanitizers: (if $after > 0 then .sanitizers // [] else [] end) };
def raced($name): [.pairs[]? | select(.name == $name)];
def all_checked: length > 0 and all(.[]; (.checked_per_sample // 0) >= (.calls_per_sample // 1));

def share($rate; $ceiling): if $rate > 0 and $ceiling.plain > 0
	then { share: ($rate / $ceiling.plain), by: ($ceiling.by // "?") } else null end;
# A figure {"value", "unit"} in operations or bytes per second.
def plain: .plain = (.value // 0) * ({ T: 1e12, G: 1e9, M: 1e6 }[.unit[:1]] // 0);
# How close the program of that class comes to the ceilings; what draws the roofline.
def roofline($class; $workloads; $ids):
	def ns($class; $name): first($workloads[] | select(.name == $name).programs[] | select(.class == $class).ns) // 0;
	def measured($name): [.workloads[]?[$name] | select(.by // "" | contains("measured")).plain] | max // 0;
	((.peaks, .workloads[]?) | (.compute, .memory, .compute_ceiling, .memory_ceiling) | objects) |= plain
	| (.peaks.compute.plain // 0) as $peak | (.peaks.memory.plain // 0) as $bandwidth
	| { compute: (measured("compute_ceiling") | select(. > 0) // $peak), memory: measured("memory_ceiling") } as $measured
	| [.workloads[]? | ns($class; .workload) as $ns | (if $ns > 0 then 1e9 / $ns else 0 end) as $calls
		| . + { ns: $ns, flops_rate: ((.flops // 0) * $calls), bytes_rate: ((.bytes // 0) * $calls) }
		| .compute_share = share(.flops_rate; .compute_ceiling) | .memory_share = share(.bytes_rate; .memory_ceiling)] as $rows
	| . + { placeholder: (.label == "placeholder"), drawn: ($peak > 0 and $bandwidth > 0), measured: ($measured.memory > 0),
		ceilings: ($rows | (some | { rows: ., below: any(.[]; .ns > 0 and .ns < (.floor_ns // 0)) }) // null) }
	| if .drawn then .figure = roof($peak; $bandwidth; $measured; [$rows[].intensity // 0 | select(. > 0)];
		[$rows[] | { workload, x: (.intensity // 0), flops: (.flops // 0) }
			+ ({ id: $ids.reference, class: "before", of: "reference" }, { id: $ids.best, class: "gain", of: "best" })
			| ns(.of; .workload) as $ns | select($ns > 0) | .y = .flops / $ns * 1e9 | select(.x > 0 and .y > 0)]) else . end;

# What to do next, if a measurement suggests it: findings of a profile, the gap to the roofline, a faster baseline.
def next($c; $rows; $workloads):
	def findings: { what: (.text // "?" | cut(300)), action: (.action // "" | cut(300)),
		from: "profile of \($c.id), finding \(.id // "?" | cut(60))" };
	[($c.eval.findings[:1][]? | findings),
		([$rows[]? | select((.floor_ns // 0) > 0) | .gap = .ns / .floor_ns | select(.gap > 1.05)] | some | max_by(.gap)
			| { what: ("Workload \(.workload // "?" | cut(80)) has the widest gap: \(.gap | digits(3)) times its least time; "
					+ "what bounds it is \(.bound // "unknown" | cut(40))"), action: "", from: "roofline" }),
		([$workloads[].programs[] | select((.is_best | not) and .behind.mean > 0 and .behind.mean < 0.95)] | some
			| min_by(.behind.mean) | "\(1 / .behind.mean | digits(3)) times as fast as the best" as $fast
			| { what: "On workload \(.workload | cut(80)), \(.name | cut(60)) is \($fast)", action: "",
				from: "times of the baselines" }),
		($c.eval.findings[1:][]? | findings)] | .[:3];

# Members of a verification, as of a candidate's row.
def verified: { "eval.environment.load_before": .environment.load_before, "eval.sandbox.name": .sandbox.name,
	"eval.environment.governor": .environment.governor, devices: [.timing[]?.device | objects] };

. as $facts | .list[1:] as $made | (.verify // .best.eval) as $final
| ($made | trials($facts.last)) as $trials | (.workloads | timed($facts.work; $facts.roofline)) as $workloads
| safe(.roofline | objects | select($facts.own.metric | not)
	| roofline(if $facts.best then "best" else "reference" end; $workloads; $facts | { best: .best.id, reference: .reference.id }))
	// null | . as $roofline
| $facts
| { correct: ($made | count(.correct and (has("score.overfit") | not))), compiled: ($made | count(.built)),
	made: ($made | length) } as $counts
| { counts: $counts, shares: ($counts | map_values(. / ([$counts.made, 1] | max))), final: $final,
	noise: safe($final.noise.floor), all_checked: safe([$final.timing[]?] | all_checked),
	best: (if .best then .best + safe({ by_reference: (.best.score.anchor.name == "reference"),
		efficiency: (.best.score.efficiency_pct // 0 | . / 100), above: ((.best.score.efficiency_pct // 0) > 100),
		unverified: ((.verify // .refused) == null), raced: (.verify | raced("reference")),
		same_threads: (.reference.eval.environment | (.device // .opencl) == null), against: (.best.against | map(.name as $name
			| .padded = $name + " " * (12 - ($name | length)) | .pairs = ($facts.verify | raced($name)))) }) else null end),
	checks: [safe(.best.eval | checks(0)), safe(.verify // .refused | checks($facts.verify_trial)) | values],
	damage: (.damage | (some | rtrimstr("\n") / "\n" | { count: length, lines: . }) // null),
	inflated: (.attribution.verdict == "inflated"),
	doubtful: (.attribution.verdict != "inflated" and .attribution.inflation_gap_pct > 1),
	decisions: ["ACCEPT-as-real", "ACCEPT-unmeasured", "ACCEPT-with-asterisk", "REJECT-as-overfit"
		| . as $decision | { decision: ., n: ($made | count(.correct and .["audit.decision"] == $decision)) }],
	audited: any($made[]; has("audit.decision")),
	workloads: $workloads, alone: any($workloads[].programs[]; .is_best and .host_ns > 0),
	missing_baselines: safe([(if .verify then .verify else .reference.eval end).baselines[]? | select(.missing)]),
	lineage: (.list | lineage($facts.header; $facts.linear; $facts.best; $facts.reference)),
	archive: (.elites as $elites | .list | archive($elites)),
	cost: (.list | total(.["eval.wall_s"]) as $listed
		| ($facts.verify | objects | .wall_s | numbers) // 0 | . + $listed | . as $eval_s | $made | cost($eval_s)),
	environment: (.list + [safe(.verify | verified) | objects]
		| environment(($facts.reference.eval.environment | objects | .device | objects) // null; $facts.campaign.gpu)),
	failures: (if $made == [] then null else $made | failures end),
	search: (if .last > 0 then $made | search($trials) else null end),
	rounds: (if .linear then .list | safe(rounds($facts.reference; $facts.header; $facts.best; $facts.ends; $facts.work))
		else null end),
	roofline: ($roofline | del(.figure?)),
	next: safe(next($facts.best // $facts.reference; $roofline.ceilings.rows; $workloads)),
	figures: { roof: $roofline.figure, progress: (if .last > 0 then progress(.linear; $made; $trials) else null end) } }
