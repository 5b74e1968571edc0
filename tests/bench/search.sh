#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of search-bench: the mean of the share of the range reached, with its standard error, and what the default is
# better than each other arm, paired by seed, with the standard error of that difference.
#     search.sh [OPTION...]     runs search-bench with these options
#     search.sh FILE...         reads lines that search-bench has printed, on one machine or on several
set -eu
case ${1-} in
'' | -*) search-bench -j "$(nproc)" "$@" ;;
*) cat "$@" ;;
esac | LC_ALL=C sort -t "$(printf '\t')" -k 2,2 -k 1,1 -k 3,3n | awk -F '\t' '
	BEGIN { arms[arm["default"] = many = 1] = "default" }
	!($1 in rank) { land[rank[$1] = ++lands] = $1 }
	!($2 in arm) { arms[arm[$2] = ++many] = $2 }
	{ f[$1, $2, $3, 1] = $4; f[$1, $2, $3, 2] = $5; seeds[$1, $3] = $3 }
	# Mean and standard error of arm A, less arm B if there is one, on landscape L (empty: over all).
	function mean(l, a, b, k,    s, key, part, v, m, q, c) {
		for (key in seeds) {
			split(key, part, SUBSEP)
			if ((l != "" && part[1] != l) || !((part[1], a, part[2], k) in f)) continue
			if (b != "" && !((part[1], b, part[2], k) in f)) continue
			v = f[part[1], a, part[2], k] - (b == "" ? 0 : f[part[1], b, part[2], k])
			m += v; q += v * v; c++
		}
		if (!c) return "-"
		m /= c
		se = c > 1 ? sqrt((q / c - m * m) / (c - 1)) : 0
		return sprintf(b == "" ? "%.2f ± %.2f" : "%+.2f ± %.2f", m, se)
	}
	function row(l, k,    i, text) {
		text = sprintf("| %s, %d | %s |", l == "" ? "all" : l, k == 1 ? 60 : 200, mean(l, arms[1], "", k))
		for (i = 2; i <= many; i++) text = text " " mean(l, arms[i], arms[1], k) " |"
		print text
	}
	END {
		head = "| landscape, candidates | " arms[1] " |"; rule = "|---|---|"
		for (i = 2; i <= many; i++) { head = head " " arms[i] " |"; rule = rule "---|" }
		print head; print rule
		for (i = 1; i <= lands; i++) for (k = 1; k <= 2; k++) row(land[i], k)
		for (k = 1; k <= 2; k++) row("", k)
	}'
