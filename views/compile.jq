# SPDX-License-Identifier: Apache-2.0
# How calls of compilers compile. Input: calls, each an array of words: the compiler, its folder, its arguments. Output: for
# each call its "folder", the files that it names ("sources"), folders of headers ("include") and headers before the text
# ("forced"), as it writes them; and "ways", the "compiler" and the "flags" that matter for a function alone, if its file
# is for a "device", for a compiler of C++ ("cxx"), or another one ("other").

# Is the option's value a separate word?
def takes_value:
	IN("-o", "-I", "-D", "-U", "-isystem", "-iquote", "-include", "-MF", "-MT", "-MQ", "-x", "-Xcompiler", "-gencode", "-arch",
		"-code", "--gpu-architecture", "--generate-code", "--gpu-code", "-std", "--std", "-Xptxas", "-ccbin", "-maxrregcount",
		"-L", "-l", "--compiler-options");
# Does an option of the project's compiler also matter for the kernel alone?
def is_kept:
	test("^(?:-O|-std|--std|-f|-m|-D|-U|-pthread|-ansi|-arch|-gencode|-code|--gpu-architecture|--generate-code"
		+ "|-use_fast_math|--use_fast_math|-Xcompiler|--compiler-options|-expt|--expt|--extended-lambda|--fmad|-ftz|-prec"
		+ "|--ftz|--prec|-maxrregcount|-Xptxas|-lineinfo|-ccbin)")
	and (test("^(?:-fPIC|-fpic|-fPIE|-fpie|-fdiagnostics|-fmessage|-fprofile|-fsanitize|-flto|-fvisibility|-mf|-MM)") | not);

# The flags that nvcc passes to the host compiler, of options with their values.
def handed_on:
	[.[] | . as $option
		| (select($option[1] and ($option[0] | test("ompiler"))) | $option[1] | split(",")[] | select(. != "" and is_kept)),
			(select($option[0] | test("^(?:-O|-std=|--std=|-D|-U)")) | add)];
# A C++ file is recognised by its suffix, which the reference does not have.
def for_cxx:
	sub("(?<before>^|/)(?<name>cc|gcc|clang|icx)(?<version>-[0-9.]+)?$";
		"\(.before)\({ cc: "c++", gcc: "g++", clang: "clang++", icx: "icpx" }[.name])\(.version // "")");

def is_include: IN("-I", "-isystem", "-iquote");
def read_word($word):
	if .option then
		(if .option | is_include then .include += [$word]
			elif .option == "-include" then .forced += [$word]
			elif .option | is_kept then .flags[-1] += [$word]
			else . end)
		| .option = null
	elif $word | startswith("-") | not then .sources += [$word]
	elif $word | startswith("-I") and length > 2 then .include += [$word[2:]]
	else (if $word | (is_kept and (is_include | not)) then .flags += [[$word]] else . end)
		| if $word | takes_value then .option = $word else . end
	end;

map((if .[0] == "ccache" then [.[2]] + .[1:2] + .[3:] else . end) | select(length >= 2)
	| reduce .[2:][] as $word (
		{ name: .[0], folder: .[1], sources: [], include: [], forced: [], flags: [], option: null }; read_word($word))
	| (.name | sub(".*/"; "")) as $base
	| (if .name | test("/adopt/shims/") then $base else .name end) as $name
	| [.flags[][]] as $flags | (.flags | handed_on) as $handed
	| .ways = { device: { compiler: $name, flags: $flags },
		cxx: (if $base == "nvcc" then { compiler: "g++", flags: $handed }
			else { compiler: ($name | for_cxx), flags: $flags } end),
		other: (if $base == "nvcc" then { compiler: "gcc", flags: $handed } else { compiler: $name, flags: $flags } end) }
	| { folder: .folder, sources: .sources, include: .include,
		forced: .forced, ways: .ways })
