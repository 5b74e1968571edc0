/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is right: the reference with every float replaced by double; if replacing words is not
 * enough, the reference itself in a wrapper, which then includes the rounding of the reference. See
 * adopt.h.
 */

#include "adopt.h"
#include "kio.h"
#include "kregex.h"
#include "kscan.h"
#include "ktoken.h"
#include "numbers.h"

/* Is P in a line with an include? */
static bool
is_include(const char *code, size_t p)
{
	size_t end = p;

	while (p && code[p - 1] != '\n')
		p--;
	return kregex_find("\\A#[ \\t]*include\\b", code + p, end - p, NULL, 0);
}

/* Copies TEXT with words replaced. Lines with an include are copied unchanged. */
char *
oracle_swap(const char *text, const char *language, char *why, size_t why_len)
{
	auto_free char *code = ktoken_strip(text, strlen(text), KTOKEN_C);
	const struct kscan s = { .text = text, .code = code, .len = strlen(text) };
	auto_buf struct kbuf faults = { 0 };
	const json_t *words = rules_double();
	struct kbuf out = kbuf_empty();
	size_t done = 0;

	if (rules_scan("no_double", language, text, "\\w+", NULL, &faults)) {
		snprintf(why, why_len, "%.*s", (int)strcspn(faults.data, "\n"), faults.data);
		kbuf_free(&out);
		return NULL;
	}
	for (size_t p = 0, end; kscan_identifier(&s, &p, s.len, &end); p = end) {
		auto_free char *word = kscan_copy(&s, p, end);
		const char *wide = kjson_str_or(words, word, NULL);

		if (!wide || is_include(code, p))
			continue;
		kbuf_add(&out, text + done, p - done);
		kbuf_puts(&out, wide);
		done = end;
	}
	kbuf_puts(&out, text + done);
	return out.data;
}

/* ---- the wrapper ---- */

struct argument {
	const char *name, *type;
	bool narrow; /* narrower than a double */
	bool tensor, in, out;
	char *elements; /* expression */
};

/* Is the axis an argument of the function? */
static bool
is_passed(const json_t *task, const char *axis)
{
	const json_t *arguments = kjson_path(task, "entry.arguments");

	kjson_foreach(x, arguments)
		if (!strcmp(json_string_value(x) ?: kjson_str(x, "axis"), axis))
			return true;
	return false;
}

/*
 * A size that is not an argument, as a function of the arguments in each workload: "(n == 5 && m ==
 * 3) ? 20 : …".
 */
static void
add_unpassed(struct kbuf *b, const json_t *task, const char *size)
{
	kjson_foreach(w, json_object_get(task, "workloads")) {
		static const char *const members[] = { "axes", "values" };
		const char *name;
		json_t *v;

		kbuf_puts(b, "(1");
		for (size_t k = 0; k < LEN(members); k++)
			json_object_foreach(json_object_get(w, members[k]), name, v)
				if (json_is_integer(v) && is_passed(task, name))
					kbuf_printf(b, " && %s == %lld", name,
					    (long long)json_integer_value(v));
		kbuf_printf(
		    b, ") ? %lld : ", (long long)kjson_int(json_object_get(w, "axes"), size));
	}
	kbuf_puts(b, "0)");
}

static void
describe(const json_t *task, const json_t *item, struct argument *x)
{
	const char *name = json_string_value(item), *dtype;
	const struct number_type *number;
	const json_t *tensor = name ? json_object_get(json_object_get(task, "inputs"), name) : NULL;

	*x = (struct argument){ .name = name ? name : kjson_str(item, "axis"),
		.in = tensor != NULL };
	if (!tensor && name && (tensor = json_object_get(json_object_get(task, "outputs"), name))) {
		x->out = true;
		x->in = kjson_bool(tensor, "inout");
	}
	dtype = kjson_str_or(tensor ? tensor : item, "dtype", "int32");
	number = number_dtype(dtype);
	x->type = number->type;
	x->narrow = !number->integer && number->bytes < sizeof(double);
	if (tensor && json_is_array(json_object_get(tensor, "shape"))) {
		const json_t *shape = json_object_get(tensor, "shape");
		struct kbuf b = { 0 };

		x->tensor = true;
		kjson_foreach(d, shape) {
			const char *size = json_string_value(d);

			kbuf_printf(&b, "%s(size_t)(", b.len ? " * " : "");
			if (size && json_object_get(json_object_get(task, "axes"), size) &&
			    !is_passed(task, size) &&
			    !json_object_get(
			        json_object_get(json_object_get(task, "axes"), size), "expression"))
				add_unpassed(&b, task, size);
			else if (size)
				kbuf_printf(&b, "%s)", size);
			else
				kbuf_printf(&b, "%lld)", (long long)json_integer_value(d));
		}
		x->elements = b.data;
	}
}

static void
add_c(struct kbuf *b, const struct argument *x, bool before)
{
	if (!x->tensor || !x->narrow)
		return;
	if (before)
		kbuf_printf(b,
		    "\tsize_t n_%s = %s;\n\t%s *c_%s = (%s *)malloc(n_%s * sizeof *c_%s);\n\n\tif "
		    "(!c_%s)\n\t\tabort();\n"
		    "\tfor (size_t i = 0; i < n_%s; i++)\n\t\tc_%s[i] = %s%s%s;\n",
		    x->name, x->elements, x->type, x->name, x->type, x->name, x->name, x->name,
		    x->name, x->name, x->in ? "(float)" : "0", x->in ? x->name : "",
		    x->in ? "[i]" : "");
	else if (x->out)
		kbuf_printf(b,
		    "\tfor (size_t i = 0; i < n_%s; i++)\n\t\t%s[i] = "
		    "(double)c_%s[i];\n\tfree(c_%s);\n",
		    x->name, x->name, x->name, x->name);
	else
		kbuf_printf(b, "\tfree(c_%s);\n", x->name);
}

static void
add_cuda(struct kbuf *b, const struct argument *x, bool before)
{
	if (!x->tensor || !x->narrow)
		return;
	if (before) {
		kbuf_printf(b,
		    "\tsize_t n_%s = %s;\n\t%s *c_%s = nullptr;\n\n\tcudaMalloc((void **)&c_%s, "
		    "n_%s * sizeof *c_%s);\n",
		    x->name, x->elements, x->type, x->name, x->name, x->name, x->name);
		if (x->in)
			kbuf_printf(b,
			    "\tkiln_narrow<<<1024, 256, 0, kiln_stream>>>(%s, c_%s, n_%s);\n",
			    x->name, x->name, x->name);
	} else {
		if (x->out)
			kbuf_printf(b,
			    "\tkiln_widen<<<1024, 256, 0, kiln_stream>>>(c_%s, %s, n_%s);\n",
			    x->name, x->name, x->name);
		kbuf_printf(
		    b, "\tcudaStreamSynchronize(kiln_stream);\n\tcudaFree(c_%s);\n", x->name);
	}
}

static const char cuda_helpers[] = "template <typename T> static __global__ void\n"
                                   "kiln_narrow(const double *from, T *to, size_t n)\n"
                                   "{\n"
                                   "\tfor (size_t i = (size_t)blockIdx.x * blockDim.x + "
                                   "threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)\n"
                                   "\t\tto[i] = (T)(float)from[i];\n"
                                   "}\n\n"
                                   "template <typename T> static __global__ void\n"
                                   "kiln_widen(const T *from, double *to, size_t n)\n"
                                   "{\n"
                                   "\tfor (size_t i = (size_t)blockIdx.x * blockDim.x + "
                                   "threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)\n"
                                   "\t\tto[i] = (double)(float)from[i];\n"
                                   "}\n\n";

/* Types with the same bytes may have several names, such as long and long long. */
static const char any_pointer[] = "struct kiln_any {\n"
                                  "\tconst void *p;\n"
                                  "\ttemplate <typename T> operator T *() const\n"
                                  "\t{\n"
                                  "\t\treturn (T *)p;\n"
                                  "\t}\n"
                                  "};\n\n";

/* If the function is in a namespace: "using namespace a::b;" for each. */
static void
add_using(struct kbuf *b, const char *text)
{
	char *path[8] = { NULL };
	auto_scan struct kscan s;

	kscan(text, strlen(text), &s);
	kscan_items(x, &s) {
		auto_free char *line = NULL, *name = NULL;
		struct kregex_span at[2];

		if (x->kind != KSCAN_OPEN || x->depth >= LEN(path) ||
		    !kregex_find("\\A(?:inline\\s+)?namespace\\s*([^\\s{]*)", s.code + x->from,
		        x->to - x->from, at, 2))
			continue;
		name = kregex_text(s.code + x->from, at[1]);
		free(path[x->depth]);
		path[x->depth] = x->depth && path[x->depth - 1]
		    ? kasprintf("%s::%s", path[x->depth - 1], name)
		    : kstrdup(name);
		line = kasprintf("using namespace %s;\n", path[x->depth]);
		if (*name && !strstr(b->data, line))
			kbuf_puts(b, line);
	}
	for (size_t i = 0; i < LEN(path); i++)
		free(path[i]);
}

char *
oracle_wrap(const struct adoption *a, const char *text, const json_t *task)
{
	const char *entry = kjson_str_or(task, "entry.name", "kernel");
	const json_t *arguments = kjson_path(task, "entry.arguments");
	bool cuda = a->device, cxx = a->cxx;
	size_t n = json_array_size(arguments);
	struct argument *x = kcalloc(n + 1, sizeof *x);
	struct kbuf b = { 0 };

	kbuf_printf(&b,
	    "/* The reference, called through a function that takes doubles: the expected results "
	    "have its rounding. */\n"
	    "#include <stdbool.h>\n"
	    "#include <stdlib.h>\n"
	    "#define %s kiln_reference\n"
	    "%s\n"
	    "#undef %s\n"
	    "\n",
	    entry, text, entry);
	if (cuda || cxx)
		add_using(&b, text);
	kbuf_printf(&b, "%s%s%svoid\n%s(", cuda || cxx ? any_pointer : "", cuda ? cuda_helpers : "",
	    cuda || cxx ? "extern \"C\" " : "", entry);
	for (size_t i = 0; i < n; i++) {
		describe(task, json_array_get(arguments, i), &x[i]);
		kbuf_printf(&b, "%s%s%s %s%s", i ? ", " : "",
		    x[i].tensor && !x[i].out ? "const " : "", x[i].narrow ? "double" : x[i].type,
		    x[i].tensor ? "*" : "", x[i].name);
	}
	kbuf_printf(&b, "%s)\n{\n", cuda ? ", cudaStream_t kiln_stream" : "");
	for (size_t i = 0; i < n; i++)
		(cuda ? add_cuda : add_c)(&b, &x[i], true);
	kbuf_puts(&b, "\tkiln_reference(");
	/* In C, a matrix is a pointer to rows, and a pointer of type void * converts to it. */
	for (size_t i = 0; i < n; i++)
		kbuf_printf(&b, "%s%s%s%s%s", i ? ", " : "",
		    x[i].tensor       ? cuda || cxx ? "kiln_any{ " : "(void *)"
		        : x[i].narrow ? "(float)"
		                      : "",
		    x[i].tensor && x[i].narrow ? "c_" : "", x[i].name,
		    x[i].tensor && (cuda || cxx) ? " }" : "");
	kbuf_printf(&b, "%s);\n", cuda ? ", kiln_stream" : "");
	for (size_t i = 0; i < n; i++) {
		(cuda ? add_cuda : add_c)(&b, &x[i], false);
		free(x[i].elements);
	}
	kbuf_puts(&b, "}\n");
	free(x);
	return b.data;
}
