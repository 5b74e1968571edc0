# SPDX-License-Identifier: Apache-2.0
# A function that takes doubles and calls the reference, kiln_reference, which takes narrower numbers: an array of its
# text. Input: "task"; "types", the numbers of C by their names in a task, each with its "type" and whether it is
# "narrow", not as exact as a double; "device"; and "cxx", whether the compiler is one for C++. The arrays are copied to
# narrower ones and back.

. as $in | .task as $task | .device as $cuda
| def name: if type == "string" then . else .axis end;
[$task.entry.arguments[] | name] as $passed

# ---- arguments ----

# A size that is not an argument, as a function of the arguments in each workload: "(1 && n == 5) ? 20 : 0".
| def unpassed($size):
	[$task.workloads[]
		| [(.axes, .values // {}) | to_entries[] | select(.value | type == "number" and . == floor)
			| select(.key as $name | any($passed[]; . == $name)) | " && \(.key) == \(.value)"] as $same
		| "(1\($same | join(""))) ? \(.axes[$size] // 0) : "] + ["0"] | join("");
def factor:
	. as $size
	| if type == "string" and $task.axes[$size] != null and $task.axes[$size].expression? == null
			and all($passed[]; . != $size)
		then unpassed($size) else . end
	| "(size_t)(\(.))";
def argument:
	(if type == "string" then $task.inputs[.] else null end) as $read
	| (if type == "string" and $read == null then $task.outputs[.] else null end) as $written
	| ($read // $written) as $tensor | ([$tensor // . | objects][0].dtype // "int32") as $dtype
	| { name: name, in: ($read != null or $written.inout == true), out: ($written != null),
		array: ($tensor.shape | type == "array"), type: $in.types[$dtype].type, narrow: $in.types[$dtype].narrow }
	| if .array then .elements = ($tensor.shape | map(factor) | join(" * ")) else . end;
def is_copied: .array and .narrow;

# ---- text ----

def head: "\(if .array and (.out | not) then "const " else "" end)\(if .narrow then "double" else .type end) "
	+ "\(if .array then "*" else "" end)\(.name)";
def before:
	if $cuda then
"	size_t n_\(.name) = \(.elements);
	\(.type) *c_\(.name) = nullptr;

	cudaMalloc((void **)&c_\(.name), n_\(.name) * sizeof *c_\(.name));
" + if .in then
"	kiln_narrow<<<1024, 256, 0, kiln_stream>>>(\(.name), c_\(.name), n_\(.name));
" else "" end
	else
"	size_t n_\(.name) = \(.elements);
	\(.type) *c_\(.name) = (\(.type) *)malloc(n_\(.name) * sizeof *c_\(.name));

	if (!c_\(.name))
		abort();
	for (size_t i = 0; i < n_\(.name); i++)
		c_\(.name)[i] = \(if .in then "(float)\(.name)[i]" else "0" end);
" end;
def after:
	if $cuda then
(if .out then
"	kiln_widen<<<1024, 256, 0, kiln_stream>>>(c_\(.name), \(.name), n_\(.name));
" else "" end) +
"	cudaStreamSynchronize(kiln_stream);
	cudaFree(c_\(.name));
"
	else
(if .out then
"	for (size_t i = 0; i < n_\(.name); i++)
		\(.name)[i] = (double)c_\(.name)[i];
" else "" end) +
"	free(c_\(.name));
" end;
# In C, a matrix is a pointer to rows, and a pointer of type void * converts to it.
def given:
	(if is_copied then "c_" else "" end + .name) as $name
	| if .array then if $in.cxx then "kiln_any{ \($name) }" else "(void *)\($name)" end
		elif .narrow then "(float)\($name)"
		else $name end;

# Types with the same bytes may have several names, such as long and long long.
def any_pointer:
"struct kiln_any {
	const void *p;
	template <typename T> operator T *() const
	{
		return (T *)p;
	}
};

";
def conversions:
"template <typename T> static __global__ void
kiln_narrow(const double *from, T *to, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = (T)(float)from[i];
}

template <typename T> static __global__ void
kiln_widen(const T *from, double *to, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = (double)(float)from[i];
}

";

[$task.entry.arguments[] | argument] as $arguments
| [$arguments[] | select(is_copied)] as $copied
| [(if $in.cxx then any_pointer else "" end) + (if $cuda then conversions else "" end)
	+ (if $in.cxx then "extern \"C\" " else "" end)
	+ "void
\($task.entry.name // "kernel")(\($arguments | map(head) | join(", "))\(
	if $cuda then ", cudaStream_t kiln_stream" else "" end))
{
\($copied | map(before) | join(""))	kiln_reference(\($arguments | map(given) | join(", "))\(
	if $cuda then ", kiln_stream" else "" end));
\($copied | map(after) | join(""))}
"]
