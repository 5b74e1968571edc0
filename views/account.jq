# SPDX-License-Identifier: Apache-2.0
# The account of a campaign's gain (audit-report/1), from {"campaign", "linear", "trials", "kept", "refused", "headline"?,
# "faults"?}. KEPT are the programs that were kept, in order, with the reference first; HEADLINE is the speed-up that status
# and report show. Gains compound, so parts and whole are products.

# A headline that exceeds the real gain by this share of it must not be published. One point for a gain of some per cent;
# for a speed-up of 30, which no two machines reproduce exactly, 30 points.
def inflated_pct: 1;
def percent: 100 * (. - 1);
def of_percent: 1 + . / 100;
def quadrature($a; $b): $a * $a + $b * $b | sqrt;
def class: if .overfit then "rest" elif .bucket | startswith("K") then "kernel" elif .bucket == "W1" then "cache" else "rest" end;

# One program that was kept: RATIO is the time before over the time after.
def keep($c; $ratio):
	($c | class) as $class
	| (if $class == "kernel" then $ratio
		elif $class == "cache" then [$ratio, ($c.audit.w1.bound_pct // 0 | of_percent)] | min
		else 1 end) as $real
	| ($c.audit.decision // "not audited") as $decision
	| .bench[$class] *= $ratio | .real[$class] *= $real
	| .noise = quadrature(.noise; $c.noise)
	| .buckets[$class] |= if any(.[]; . == $c.bucket) then . else . + [$c.bucket] end
	| if $decision == "ACCEPT-unmeasured" then .unmeasured += [$c.id] else . end
	| .rounds += [{ id: $c.id, bucket: $c.bucket, decision: $decision, benchmark_pct: ($ratio | percent),
		real_pct: ($real | percent) }];

# A round of a linear search was compared with the round accepted before; in a search over cells it is the new best.
def add($c; $linear):
	if $c.trial == 0 then .noise = $c.noise
	elif $linear then
		keep($c; $c.decision.improvement_pct // 0 | of_percent)
		| .speedup = ($c.decision.vs_baseline_pct // ($c.speedup | percent) | of_percent)
	else keep($c; $c.speedup / .speedup) | .speedup = $c.speedup end;

# A later race of the whole against the reference says nothing about its parts, so it counts for them too.
def headline($h):
	if $h then
		if $h.raced then ($h.speedup / .speedup) as $more | .bench.kernel *= $more | .real.kernel *= $more else . end
		| .speedup = $h.speedup | .noise = quadrature(.noise; $h.width)
	else . end;

def row($source; $buckets; $bench; $real):
	{ source: $source, buckets: ($buckets | join(", ")), benchmark_pct: ($bench | percent), real_pct: ($real | percent) };

. as $in
| { speedup: 1, noise: 0, rounds: [], unmeasured: [], buckets: { kernel: [], cache: [], rest: [] } }
| .bench = { kernel: 1, cache: 1, rest: 1 } | .real = .bench
| reduce $in.kept[] as $c (.; add($c; $in.linear)) | headline($in.headline)
| (.real.kernel * .real.cache) as $real
| ((.speedup | percent) - ($real | percent)) as $gap
# The parts were measured at other times than the whole, and each has its own noise.
| (100 * .speedup * .noise) as $noise
| {
	schema: "audit-report/1", campaign: $in.campaign, mode: (if $in.linear then "linear" else "map-elites" end),
	trials: $in.trials, headline_pct: (.speedup | percent), s_real_pct: (.real.kernel | percent),
	w_real_pct: (.real.cache | percent), r_real_pct: 0, real_pct: ($real | percent), inflation_gap_pct: $gap,
	noise_pct: $noise,
	# What is missing may have been real, or not.
	verdict: (if $in.faults then "damaged"
		elif $gap > inflated_pct * $real and $gap > $noise then "inflated"
		elif $in.refused != [] then "rolled-back"
		else "clean" end),
	refused: $in.refused, unmeasured, rounds,
	table: [
		row("structural kernel work"; .buckets.kernel; .bench.kernel; .real.kernel),
		row("bounded weight cache"; .buckets.cache; .bench.cache; .real.cache),
		row("benchmark-only residual"; .buckets.rest; .speedup / $real; 1),
		row("total"; []; .speedup; $real)] }
+ if $in.faults then { damaged: ($in.faults | rtrimstr("\n") | split("\n")) } else {} end
