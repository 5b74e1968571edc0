# SPDX-License-Identifier: Apache-2.0
# What the wrapper of a watched function does, for adopt/wrapper.h: it notes the arguments, and calls the function. Input:
# "kernel", its name; "call", the text of the call; whether it "returns" something, is "launched", and works on a "device";
# "same", a condition, or "": calls without it do not count; "own", its parameters, each with its "name", whether it is a
# "stream", points to something "constant", and to "items" with a size; and "entry", the parameters of the task's entry as
# adopt/unit.json has them, or null if that is the function itself.

. as $in
| def flag: if . then 1 else 0 end;

# ---- the arguments of the task's entry, each in a variable: the function's own need not be numbers and arrays ----

# A part of the launch, by the wrapper's names.
def part: sub("^(?<kind>grid|block)_"; "kwatch_\(.kind).") | sub("^(?<kind>shared|stream)(?:_bytes)?$"; "kwatch_\(.kind)");
# An expression that has a value only where the pointers of the argument's guard are not null.
def guarded($value): if .guard then "\(.guard) ? \($value) : 0" else $value end;
def variable:
	(if $in.launched and .launch then .name | part else .value end) as $value
	| (.type + if .pointer then " *" else "" end) as $type
	| if .result then "	__typeof__(&kwatch_result) kwatch_of_\(.name) = &kwatch_result;\n"
		else "	\($type) kwatch_of_\(.name) = \(guarded("(\($type))(\($value))"));\n" end;
# Is it an lvalue, such as "f->rows[1].cells", and not any expression?
def is_place: test("^(?:->|[\\w.\\[\\]>])*$");
# Which pointer of its guard is null, as text; 0: none.
def absent: [(.guard // empty | splits(" && ") | "!(\(.)) ? \"\(.)\" : "), "0"] | add;
# For an array, and for a place in one, what guard.c of kwatch needs: the size of its elements, its place.
def argument:
	.along as $along | (.pointer and .size == "" and ($in.device or .result | not)) as $array
	| "		{ \"\(.name)\", &kwatch_of_\(.name), sizeof kwatch_of_\(.name), "
	+ if (.pointer | not) and (.type | contains("tream")) then "KWATCH_STREAM, 0, 0, "
		else "KWATCH_KIND(kwatch_of_\(.name)), \(.constant | flag), \(if .size == "" then 0 else .size end), " end
	+ if .place then "\([$in.entry[].name] | index($along) + 1), (const void *)&(\(.place))"
		elif $array | not then "0, 0"
		else "sizeof *kwatch_of_\(.name), \(if .value | is_place then guarded("(const void *)&(\(.value))") else 0 end)" end
	+ ", \(absent) },\n";

# ---- the function's own arguments ----

def own:
	if .stream then "		KWATCH_STREAM_ARG(\(.name)),\n"
	else "		KWATCH_ARG(\(.name), \(.constant | flag), \(if .items then "sizeof *\(.name)" else 0 end)),\n" end;

[(if .same == "" then ""
		elif .returns then "	if (!(\(.same)))\n		return \(.call);\n"
		else "	if (!(\(.same))) {\n		\(.call);\n		return;\n	}\n" end)
	+ if .returns then "	__typeof__(\(.call)) kwatch_result;\n" else "" end
	+ ([.entry // [] | .[] | variable] | add // "")
	+ "	const struct kwatch_arg kwatch_args[] = {\n"
	+ ([if .entry then .entry[] | argument else .own[] | own end] | add // "		{ \"\", 0, 0, KWATCH_OTHER, 0, 0, 0, 0, 0 },\n")
	+ "	};
	struct kwatch_call kwatch_call = { \"\(.kernel)\", kwatch_args, \(.entry // .own | length), KWATCH_CUDA, 0 };

	kwatch_start(&kwatch_call);
	\(if .returns then "kwatch_result = " else "" end)\(.call);
	kwatch_stop(&kwatch_call);
\(if .returns then "	return kwatch_result;\n" else "" end)}
"]
