# SPDX-License-Identifier: Apache-2.0
# Rename what the author of a kernel has named, consistently: every word of the text that is none of the language, of its
# libraries or of the device. -v STYLE=long or short chooses the new names; strings, comments and #include and #pragma
# lines stay, but for the author's names in a clause. Give the file twice.
BEGIN {
	known = "alignas|asm|auto|bool|break|case|catch|char|class|const|const_cast|constexpr|continue|default|define|defined|" \
	    "delete|do|double|dynamic_cast|else|endif|enum|explicit|extern|false|float|for|friend|goto|if|ifdef|ifndef|include|" \
	    "inline|int|long|mutable|namespace|new|noexcept|noinline|nullptr|once|operator|pragma|private|public|register|" \
	    "reinterpret_cast|restrict|return|short|signed|sizeof|static|static_assert|static_cast|struct|switch|template|this|" \
	    "true|typedef|typename|undef|union|unsigned|using|virtual|void|volatile|while|" \
	    "omp|parallel|unroll|simd|simdlen|schedule|dynamic|guided|nowait|barrier|single|master|collapse|reduction|aligned|" \
	    "num_threads|firstprivate|shared|atomic|read|write|capture|update|seq_cst|GCC|ivdep|OPENCL|EXTENSION|FP_CONTRACT|ON|task|taskloop|" \
	    "always_inline|vector_size|may_alias|visibility|hot|optimize|target|unused|packed|" \
	    "NULL|INFINITY|FLT_MAX|NAN|PTRDIFF_MAX|INT_MAX|FLT_EPSILON|M_PI|main|x|y|z|w|lo|hi|s[0-9a-f]|" \
	    "f?(abs|max|min|ma)f?|(exp|exp2|log|log2|sqrt|rsqrt|tanh|erf|pow|sin|cos|ceil|floor|round|rint|ldexp)f?|" \
	    "malloc|calloc|free|aligned_alloc|memset|memcpy|abs|(u?int|size|ptrdiff|u?intptr|cuu?int|cu?u?int)[0-9]*_t|" \
	    "(float|int|uint|half|double|char|uchar|short|ushort|long|ulong)[0-9]*|dim3|gl_[a-z]+|threadIdx|blockIdx|blockDim|" \
	    "gridDim|clusterDim|warpSize|cg|cooperative_groups|this_(grid|thread_block)|tiled_partition|thread_block(_tile)?|" \
	    "grid_group|thread_rank|num_threads|sync|meta_group_rank|shfl|shfl_xor|shfl_down|reduce|plus|nvcuda|wmma|std|fragment|" \
	    "matrix_[ab]|accumulator|row_major|col_major|(mem_)(row|col)_major|(load|store)_matrix_sync|mma_sync|fill_fragment|" \
	    "num_elements|bfloat16|hip[A-Z][A-Za-z]*_?t?|get_(local|global|group|num|sub)[a-z_]*|kernel|" \
	    "reqd_work_group_size|intel_[a-z_]+|sub_group_[a-z_]+|work_group_[a-z_]+|v(load|store)[0-9]+|as_[a-z0-9]+|native_[a-z0-9]+|" \
	    "(__|_mm|_MM|_CMP|CU_|CUDA_|CL[KA]_|_[A-Z])[A-Za-z0-9_]*|omp_[a-z_]+|(cuda|cu|atomic)[A-Z_][A-Za-z0-9_]*|make_[a-z]+[0-9]|" \
	    "CUtensorMap|atom(ic)?_[a-z]+|stream|attrs|numAttrs|id|val|dynamicSmemBytes|programmaticStreamSerializationAllowed|" \
	    "gridDim|blockDim|static|attr|L|U|u8|R|C"
	known = "^(" known ")$"
	parts = split("tile BLOCK warp acc As smem packed new_max micro_kernel buf running_sum WARP_TILE", part, " ")
}
function fresh(word) {
	if (!(word in names)) {
		count++
		names[word] = STYLE == "short" ? "q" count : part[1 + count % parts] "_" count
	}
	return names[word]
}
# The first reading: names that "##" puts together are the macro's, not one word.
NR == FNR {
	line = $0
	while (match(line, /[A-Za-z_][A-Za-z0-9_]* *##/)) {
		stem = substr(line, RSTART, RLENGTH)
		sub(/ *##/, "", stem)
		pasted[stem]
		line = substr(line, RSTART + RLENGTH)
	}
	next
}
function is_pasted(word, stem) {
	for (stem in pasted)
		if (index(word, stem) == 1)
			return 1
	return 0
}
{
	line = $0
	out = ""
	if (line ~ /^[ \t]*#[ \t]*include/) {
		print
		next
	}
	while (line != "") {
		if (comment) {
			n = index(line, "*/")
			out = out (n ? substr(line, 1, n + 1) : line)
			line = n ? substr(line, n + 2) : ""
			comment = !n
		} else if (substr(line, 1, 2) == "/*") {
			out = out "/*"
			line = substr(line, 3)
			comment = 1
		} else if (substr(line, 1, 2) == "//") {
			out = out line
			line = ""
		} else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^'([^'\\]|\\.)*'/) || match(line, /^[0-9][A-Za-z0-9_.]*/)) {
			out = out substr(line, 1, RLENGTH)
			line = substr(line, RLENGTH + 1)
		} else if (match(line, /^[A-Za-z_][A-Za-z0-9_]*/)) {
			word = substr(line, 1, RLENGTH)
			out = out (word ~ known || is_pasted(word) ? word : fresh(word))
			line = substr(line, RLENGTH + 1)
		} else {
			out = out substr(line, 1, 1)
			line = substr(line, 2)
		}
	}
	print out
}
