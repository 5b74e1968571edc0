# SPDX-License-Identifier: Apache-2.0
# Launches in the form that Nsight Compute lists them. Input: "kernels", their names or symbols; "titles", all columns of
# the file; and "rows", an object of cells each. Output: "command", ncu with the options for such a file; "calls", the
# launches as adopt/ncu.h describes them; and a "fault" if there is none.

def time: "gpu__time_duration.sum";
def instructions: "smsp__thread_inst_executed.sum";
def read: "dram__bytes_read.sum";
def written: "dram__bytes_write.sum";
def needed: ["Kernel Name", "Grid Size", "Block Size", time];
# Instructions of threads, and operations in each. Those of half precision do not count: compilers use them to convert
# numbers (HADD2) and to load constants (HFMA2).
def operations: { fadd: 1, fmul: 1, ffma: 2, dadd: 1, dmul: 1, dfma: 2 };
def counter: "smsp__sass_thread_inst_executed_op_\(.)_pred_on.sum";

# The names in a C++ symbol, "13soften_kernelPKf", one after the other; and the last one in "_Z13soften_kernelPKf".
def names:
	match("^[0-9]+").string as $digits | .[($digits | length):] as $rest | ($digits | tonumber) as $count
	| select($count <= ($rest | length)) | $rest[:$count], ($rest[$count:] | names);
def plain: if startswith("_Z") then [., (.[2:] | ltrimstr("N") | names)][-1] else . end;

# Also "1,073,741,824"; null for "n/a" and missing values.
def number($title): .[$title] // "" | gsub(","; "") | try tonumber catch null;
# "(16, 1, 1)" in the column.
def triple($title): [.[$title] // "" | scan("[0-9]+") | tonumber] | if . == [] then null else (. + [1, 1])[:3] end;
def product($x; $y): if $x == null or $y == null then null else $x * $y end;
def sum: if any(. == null) then null else add end;
# Operations with floating-point numbers; null: they were not counted. The number in a cycle is what --set full gives.
def flops:
	. as $row | number("smsp__cycles_elapsed.avg") as $cycles
	| [(operations | to_entries[] | . as $one | ($one.key | counter) as $title | $row
			| product($one.value; number($title) // product(number($title + ".per_cycle_elapsed"); $cycles))),
		(keys[] | select(test("^sm__ops_path_tensor_src_(?!int)[^.]*[.]sum$")) as $title | $row | number($title) // 0)]
	| sum;

.titles as $titles | (.kernels | map(plain) | join("|")) as $names
| { command: ("ncu --target-processes all --csv --page raw --print-units base --metrics "
		+ ([time, instructions, read, written, (operations | keys_unsorted[] | counter)] | join(","))
		+ " --kernel-name 'regex:^(\($names))$'"),
	# The row with the units has no ID. "row_mix<float>(const float *, int)" has the name row_mix.
	calls: [.rows[] | select(.ID != "" and (.["Kernel Name"] // "" | test("\\b(?:\($names))\\b")))
		| { grid: triple("Grid Size"), block: triple("Block Size"), ns: number(time), thread_inst: number(instructions),
			dram_bytes: ([number(read), number(written)] | sum), dram_read: number(read), flops: flops }
		| select(.grid and .block and .ns) | with_entries(select(.value != null))] }
| if $titles != [] and needed - $titles != [] then
		.fault = "columns are missing (Kernel Name, Grid Size, Block Size or \(time)); make the file with: ncu --metrics "
			+ "\(time) --csv --page raw --print-units base"
	elif .calls == [] then .fault = "contains no launch of \($names | split("|")[0]) with grid, block and time"
	else . end
