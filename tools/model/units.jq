# SPDX-License-Identifier: Apache-2.0
# The tables of metrics and units (khw.c), in C, from docs/hardware/units.json. A peak rate is named by its type and the unit
# that computes it; sparse: only if 2 of every 4 values are zeros; narrow: sums kept in 16 bits.

def dimension: "KHW_" + ascii_upcase;

"static const char rate_names[] = \(.rates | @json);",
"static const char *const metrics[KHW_DIMENSIONS] = {",
(.dimensions | to_entries[] | select(.key != "rate") | "[\(.key | dimension)] = \(.value.metrics | join(" ") | @json),"),
"};",
"static const struct { enum khw_dimension dimension; const char *name; double factor; } units[] = {",
(.dimensions | to_entries[] | (.key | dimension) as $dimension | .value.units | to_entries[]
	| "{ \($dimension), \(.key | @json), \(.value) },"),
"};"
