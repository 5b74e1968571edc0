/* SPDX-License-Identifier: Apache-2.0 */
/* kextract: replies of every shape that models have been seen to give. */
#include <stdlib.h>

#include "kextract.h"
#include "kutil.h"
#include "tap.h"

#define KERNEL "void f(int *a)\n{\n\ta[0] = 1;\n}\n"
#define LONGER "void f(int *a, int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\ta[i] = 1;\n}\n"
#define SHORT_TEXT "int x;"
#define PYTHON "import triton\n\n@triton.jit\ndef f(a):\n    x = 1\n    return x\n"

static const struct {
	const char *name, *language, *reply, *code, *how;
	bool unclosed;
} shapes[] = {
	{ "one labelled fence", "c", "Here:\n```c\n" KERNEL "```\nDone.\n", KERNEL, "label",
	    false },
	{ "label in capitals", "c", "```C\n" KERNEL "```\n", KERNEL, "label", false },
	{ "C under the label cpp", "c", "```cpp\n" KERNEL "```\n", KERNEL, "label", false },
	{ "label c99", "c", "```c99\n" KERNEL "```\n", KERNEL, "label", false },
	{ "tilde fence", "c", "~~~c\n" KERNEL "~~~\n", KERNEL, "label", false },
	{ "four backticks", "c", "````c\n" KERNEL "````\n", KERNEL, "label", false },
	{ "no label", "c", "```\n" KERNEL "```\n", KERNEL, "fence", false },
	{ "another language's label is the last resort", "c", "```rust\n" KERNEL "```\n", KERNEL,
	    "fence", false },
	{ "the longest wins", "c",
	    "```c\n" KERNEL "```\nor\n```c\n" LONGER "```\nor\n```c\n" KERNEL "```\n", LONGER,
	    "label", false },
	{ "of equals the last wins", "c",
	    "```c\nvoid f(int *a) { a[1] = 1; }\n```\n```c\nvoid f(int *a) { a[2] = 1; }\n```\n",
	    "void f(int *a) { a[2] = 1; }\n", "label", false },
	{ "a labelled fence before a longer unlabelled one", "c",
	    "```c\n" KERNEL "```\n```\n" LONGER "```\n", KERNEL, "label", false },
	{ "a shell fence is not the program", "c",
	    "```sh\ngcc -O3 -march=native -fopenmp -o x x.c && ./x && echo done && true && "
	    "true\n```\n"
	    "```c\n" KERNEL "```\n",
	    KERNEL, "label", false },
	{ "unclosed at the end", "c", "```c\n" KERNEL, KERNEL, "label", true },
	{ "unclosed within a line", "c",
	    "```c\nvoid f(int *a)\n{\n\ta[0] =", "void f(int *a)\n{\n\ta[0] =\n", "label", true },
	{ "a whole fence before an unclosed longer one", "c", "```c\n" KERNEL "```\n```c\n" LONGER,
	    LONGER, "label", true },
	{ "windows line ends", "c", "```c\r\nvoid f(int *a)\r\n{\r\n\ta[0] = 1;\r\n}\r\n```\r\n",
	    KERNEL, "label", false },
	{ "no final newline", "c", "```c\n" KERNEL "```", KERNEL, "label", false },
	{ "indented fence, as in a list", "c", "1. this\n   ```c\n" KERNEL "   ```\n", KERNEL,
	    "label", false },
	{ "blank lines around the code", "c", "```c\n\n\n" KERNEL "\n\n```\n", KERNEL, "label",
	    false },
	{ "stray language word", "c", "```\nc\n" KERNEL "```\n", KERNEL, "fence", false },
	{ "stray language word in capitals", "cuda", "```\nCUDA\n" KERNEL "```\n", KERNEL, "fence",
	    false },
	{ "attribute list", "c", "```{.c .numberLines}\n" KERNEL "```\n", KERNEL, "label", false },
	{ "label and file name", "c", "```c title=\"matmul.c\"\n" KERNEL "```\n", KERNEL, "label",
	    false },
	{ "label with a colon", "c", "```c:matmul.c\n" KERNEL "```\n", KERNEL, "label", false },
	{ "space before the label", "c", "``` c\n" KERNEL "```\n", KERNEL, "label", false },
	{ "wrapped in a markdown fence", "c", "```markdown\nText\n```c\n" KERNEL "```\nmore\n```\n",
	    KERNEL, "label", false },
	{ "wrapped in a longer markdown fence", "c", "````md\n```c\n" KERNEL "```\n````\n", KERNEL,
	    "label", false },
	{ "begun anew without closing", "c", "```c\nvoid f(\n```c\n" KERNEL "```\n", KERNEL,
	    "label", false },
	{ "a fence in a comment of the code", "c",
	    "```c\n/*\n```c\nf(x);\n```\n*/\n" KERNEL "```\n", "/*\n```c\nf(x);\n```\n*/\n" KERNEL,
	    "label", false },
	{ "an open comment does not swallow the fence", "c",
	    "```c\n" KERNEL "/* oops\n```\ntext after it\n", KERNEL "/* oops\n", "label", false },
	{ "a comment mark in a string", "c", "```c\nconst char *s = \"/*\";\n" KERNEL "```\nbye\n",
	    "const char *s = \"/*\";\n" KERNEL, "label", false },
	{ "an escaped quote", "c", "```c\nconst char *s = \"\\\"/*\";\n" KERNEL "```\nbye\n",
	    "const char *s = \"\\\"/*\";\n" KERNEL, "label", false },
	{ "a tilde line inside a backtick fence", "c", "```c\n" KERNEL "//\n~~~\n" KERNEL "```\n",
	    KERNEL "//\n~~~\n" KERNEL, "label", false },
	{ "tags", "c", "<c>\n" KERNEL "</c>\n", KERNEL, "tag", false },
	{ "tags in capitals around a fence", "cuda", "<CUDA>\n```cuda\n" KERNEL "```\n</CUDA>\n",
	    KERNEL, "tag", false },
	{ "the longest of two tags", "c", "<c>" KERNEL "</c> and <c>" LONGER "</c>", LONGER, "tag",
	    false },
	{ "a tag without an end", "c", "<c>\n```c\n" KERNEL "```\n", KERNEL, "label", false },
	{ "an empty tag", "c", "the tag <c></c> is empty\n```c\n" KERNEL "```\n", KERNEL, "label",
	    false },
	{ "cuda as cu", "cuda", "```cu\n" KERNEL "```\n", KERNEL, "label", false },
	{ "cuda as c++", "cuda", "```c++\n" KERNEL "```\n", KERNEL, "label", false },
	{ "opencl as cl", "opencl", "```cl\n" KERNEL "```\n", KERNEL, "label", false },
	{ "hip as cpp", "hip", "```cpp\n" KERNEL "```\n", KERNEL, "label", false },
	{ "sycl as dpcpp", "sycl", "```dpcpp\n" KERNEL "```\n", KERNEL, "label", false },
	{ "triton as python", "triton", "```python\n" PYTHON "```\n", PYTHON, "label", false },
	{ "triton as py, with quotes in it", "triton", "```py\n" PYTHON "s = '/*'\n```\nbye\n",
	    PYTHON "s = '/*'\n", "label", false },
	{ "a language of its own", "mojo", "```mojo\n" KERNEL "```\n```c\n" LONGER "```\n", KERNEL,
	    "label", false },
	{ "bare code", "c", KERNEL, KERNEL, "lines", false },
	{ "bare code within prose", "c",
	    "I would write it this way.\n\n#include <math.h>\n" KERNEL "\nThat is all there is to "
	    "it.\n",
	    "#include <math.h>\n" KERNEL, "lines", false },
	{ "bare code with loops and branches", "c",
	    "Here:\nvoid f(int *x, int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\tif "
	    "(x[i])\n\t\t\tx[i] = 1;\n"
	    "\t\telse\n\t\t\twhile (x[i] < 9)\n\t\t\t\tx[i]++;\n}\n",
	    "void f(int *x, int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\tif (x[i])\n\t\t\tx[i] = "
	    "1;\n"
	    "\t\telse\n\t\t\twhile (x[i] < 9)\n\t\t\t\tx[i]++;\n}\n",
	    "lines", false },
	{ "bare code with a comment of many lines", "c",
	    "Sure\n/*\n * A word about it\n   and more\n */\n" KERNEL "Bye\n",
	    "/*\n * A word about it\n   and more\n */\n" KERNEL, "lines", false },
	{ "bare python", "triton", "This is how\n" PYTHON "and so on.\n", PYTHON, "lines", false },
	{ "byte order mark before the fence", "c", "\xef\xbb\xbf```c\n" KERNEL "```\n", KERNEL,
	    "label", false },
	{ "byte order mark", "c", "```c\n\xef\xbb\xbf" KERNEL "```\n", KERNEL, "label", false },
	{ "prose only", "c", "I can't help with that. Sorry about it.\nNothing more to say here.\n",
	    NULL, "", false },
	{ "empty reply", "c", "", NULL, "", false },
	{ "an empty fence", "c", "```c\n```\n", NULL, "", false },
	{ "fewer than 16 characters", "c", "```c\n" SHORT_TEXT "\n```\n", NULL, "", false },
	{ "blanks do not count", "c", "```c\n" SHORT_TEXT "                            \n```\n",
	    NULL, "", false },
	{ "a too short fence and a long enough one", "c",
	    "```c\n" SHORT_TEXT "\n```\n```\n" KERNEL "```\n", KERNEL, "fence", false },
	{ "inline code is no fence", "c",
	    "Use ```int x = 1;``` here, or `y`.\nNothing more to say.\n", NULL, "", false },
	{ "a lonely fence mark at the end", "c", "```c\n" KERNEL "```\n```", KERNEL, "label",
	    false },
};

static void
test_shapes(void)
{
	for (size_t i = 0; i < LEN(shapes); i++) {
		struct kextract x;
		bool found = kextract(
		    shapes[i].reply, strlen(shapes[i].reply), shapes[i].language, false, &x);
		bool good = found == (shapes[i].code != NULL) &&
		    (!found || !strcmp(x.code, shapes[i].code)) && !strcmp(x.how, shapes[i].how) &&
		    x.unclosed == shapes[i].unclosed && !x.file_count;

		if (!tap_check(good, shapes[i].name, __FILE__, __LINE__))
			printf("# how '%s', unclosed %d, code:\n# %s\n", x.how, x.unclosed,
			    x.code ? x.code : "(none)");
		kextract_free(&x);
	}
}

static void
test_bundle(void)
{
	static const char reply[] = "```c file=tile.h\nenum { TILE = 1 };\n```\n```c\n" KERNEL
	                            "```\n```c:src/pack.h\nenum { PACK = 2, X };\n```\n"
	                            "```c path=tile.h\nenum { TILE = 64 };\n```\n```c "
	                            "file=../evil.h\nenum { EVIL = 66666 };\n```\n";
	static const char named[] = "```c file=main.c\n" LONGER "```\n```c file=a.h\nenum { TILE = "
	                            "64 };\n```\n";
	struct kextract x;

	CHECK(kextract(reply, strlen(reply), "c", true, &x));
	CHECK_STR(x.code, KERNEL);
	CHECK(x.file_count == 2);
	CHECK_STR(x.files[0].path, "tile.h");
	CHECK_STR(x.files[0].content, "enum { TILE = 64 };\n");
	CHECK_STR(x.files[1].path, "src/pack.h");
	kextract_free(&x);
	CHECK(!x.code && !x.file_count);
	CHECK(kextract(named, strlen(named), "c", true, &x));
	CHECK_STR(x.code, LONGER);
	CHECK(x.file_count == 1);
	kextract_free(&x);
}

static void
test_bytes(void)
{
	static const char reply[] = "```c\nint a\0b = 123456789;\n```\n";
	struct kbuf many = { 0 };
	struct kextract x;

	CHECK(kextract(reply, sizeof reply - 1, "c", false, &x));
	CHECK_STR(x.code, "int a b = 123456789;\n");
	kextract_free(&x);
	for (int i = 0; i < 1000; i++)
		kbuf_printf(&many, "```c\nint number_%d = 12345;\n```\n", i);
	CHECK(kextract(many.data, many.len, "c", true, &x));
	CHECK_STR(x.code, "int number_999 = 12345;\n");
	kextract_free(&x);
	kbuf_free(&many);
}

static void
test_paths(void)
{
	static const char *const good[] = { "a.h", "src/a.h", "a-b_c.1.h", "_x.h" };
	static const char *const bad[] = { "", "/a.h", "../a.h", "a/../b.h", ".a.h", "a//b.h",
		"a/.b", "a/", "a b.h", "-o.h",
		"a234567890123456789012345678901234567890123456789012345678901234567890.h" };

	for (size_t i = 0; i < LEN(good); i++)
		tap_check(kextract_path_ok(good[i]), good[i], __FILE__, __LINE__);
	for (size_t i = 0; i < LEN(bad); i++)
		tap_check(!kextract_path_ok(bad[i]), bad[i], __FILE__, __LINE__);
}

int
main(void)
{
	test_shapes();
	test_bundle();
	test_bytes();
	test_paths();
	return tap_done();
}
