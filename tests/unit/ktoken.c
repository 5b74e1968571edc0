/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of ktoken: what is blanked, what is kept, and which sources count as the same program.
 */
#include "ktoken.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

/* Stripping SRC gives WANT; length and lines stay. */
static void
strips(const char *src, const char *want, enum ktoken_lang lang)
{
	char *got = ktoken_strip(src, strlen(src), lang);

	CHECK_STR(got, want);
	CHECK(strlen(got) == strlen(src));
	free(got);
}

static bool
same_as(const char *a, const char *b, enum ktoken_lang lang)
{
	char x[17], y[17];

	ktoken_hash_as(a, strlen(a), lang, x);
	ktoken_hash_as(b, strlen(b), lang, y);
	return !strcmp(x, y);
}

static bool
same_c(const char *a, const char *b)
{
	return same_as(a, b, KTOKEN_C);
}

static bool
same_python(const char *a, const char *b)
{
	return same_as(a, b, KTOKEN_PYTHON);
}

static void
test_strip_c(void)
{
	strips("a /* x\ny */ b // z\nc", "a     \n     b     \nc", KTOKEN_C);
	strips("a // x \\\n y\nb", "a       \n  \nb", KTOKEN_C);
	strips(
	    "f(\"a\\\"b\", 'c', '\\'') + 1'000 /*", "f(\"    \", ' ', '  ') + 1'000   ", KTOKEN_C);
	strips("x = R\"t(a )\" // )t\" + L\"b\"; y", "x = R\"            \" + L\" \"; y", KTOKEN_C);
	strips("x = \"open\ny = 'o\nz", "x = \"    \ny = ' \nz", KTOKEN_C);
	strips("/* open", "       ", KTOKEN_C);
	strips("\"a\\", "\"  ", KTOKEN_C);
	strips("R\"(open", "R\"     ", KTOKEN_C);
	strips("", "", KTOKEN_C);
}

static void
test_kept_c(void)
{
	static const char *const kept[] = {
		"asm volatile(\"cp.async.cg [%0], [%1], 16;\" :: \"r\"(a), \"l\"(b));",
		"__asm__ __volatile__ (\"mma.sync\" \"x\" : \"=f\"(d));",
		"#include <mma.h>\n#include \"x.h\"\n#pragma comment(\"x\")\n",
		"_Pragma(\"omp simd\")",
		"#define CP(d, s) asm(\"cp.async\" :: \"r\"(d), \\\n \"l\"(s))\n",
	};

	for (size_t i = 0; i < LEN(kept); i++)
		strips(kept[i], kept[i], KTOKEN_C);
	strips("asm(\"a\"); f(\"b\");", "asm(\"a\"); f(\" \");", KTOKEN_C);
	strips("asm(f(\"a\"), \"b\"); g(\"c\")", "asm(f(\"a\"), \"b\"); g(\" \")", KTOKEN_C);
	strips("asm /* c */ (\"a\" /* d */)", "asm         (\"a\"        )", KTOKEN_C);
	strips("#define S \"a\"\n#include \"a\"\nf(\"a\")",
	    "#define S \" \"\n#include \"a\"\nf(\" \")", KTOKEN_C);
	strips("#define A asm(\nf(\"a\")", "#define A asm(\nf(\" \")", KTOKEN_C);
	strips("#error don't\n'a'", "#error don' \n' '", KTOKEN_C);
	strips("int asm; f(\"a\")", "int asm; f(\" \")", KTOKEN_C);
}

static void
test_strip_python(void)
{
	strips("x = 'a' # b\ny", "x = ' '    \ny", KTOKEN_PYTHON);
	strips("\"\"\"doc\n'it' \\\"\"\" x\"\"\"\nrb'\\''", "\"     \n             \"\nrb'  '",
	    KTOKEN_PYTHON);
	strips("a // b", "a // b", KTOKEN_PYTHON);
	strips("tl.inline_asm_elementwise('cvt.x', \"=r\") 'x'",
	    "tl.inline_asm_elementwise('cvt.x', \"=r\") ' '", KTOKEN_PYTHON);
	strips("'''open", "'      ", KTOKEN_PYTHON);
	strips("'''open\\", "'       ", KTOKEN_PYTHON);
}

static void
test_hash_c(void)
{
	CHECK(same_c(
	    "int f(int a){return a+1;}", "int\nf(int a) /* c */\n{\n\treturn a + 1; // d\n}\n"));
	CHECK(same_c("a\r\nb", "a b"));
	CHECK(same_c("#define A 1\nb", "#define  A  1 // c\n\n b"));
	CHECK(same_c("#define A x \\\n y", "#define A x y\n"));
	CHECK(!same_c("#define A 1\nb", "#define A 1 b"));
	CHECK(!same_c("#define F(x) 1\n", "#define F (x) 1\n"));
	CHECK(!same_c("a + +b", "a++b"));
	CHECK(!same_c("a b", "ab"));
	CHECK(!same_c("in\\\nt", "in t"));
	CHECK(!same_c("1 2", "12"));
	CHECK(!same_c("1e+5", "1e + 5"));
	CHECK(!same_c("x = .5f;", "x = . 5f;"));
	CHECK(!same_c("\"a b\"", "\"ab\""));
	CHECK(!same_c("\"//\"", "\"\""));
	CHECK(!same_c("f<<<1,2>>>()", "f<< <1,2>> >()"));
	CHECK(!same_c("", "a"));
}

static void
test_hash_python(void)
{
	CHECK(same_python("def f(a):\n    return a # x\n", "def f( a ):\n\n  # y\n  return a"));
	CHECK(same_python("f(a,\n  b)\nc", "f(a, b)\nc\n"));
	CHECK(same_python("if a:\n\tb\nc", "if a:\n        b\nc"));
	CHECK(same_python("a = b + \\\n  c", "a = b + c\n"));
	CHECK(!same_python("if a:\n  b\nc", "if a:\n  b\n  c"));
	CHECK(!same_python("if a:\n  if b:\n    c\n  d", "if a:\n  if b:\n    c\n    d"));
	CHECK(!same_python("a\nb", "a b"));
	CHECK(!same_python("a // 2", "a // 3"));
	CHECK(!same_python("a = '#b'", "a = ''"));
}

static void
test_deep_indent(void)
{
	struct kbuf a = { 0 }, b = { 0 };

	for (int i = 0; i < 100; i++) {
		kbuf_printf(&a, "%*sif x:\n", i, "");
		kbuf_printf(&b, "%*sif x:\n", i < 99 ? i : i - 1, "");
	}
	CHECK(same_python(a.data, a.data));
	CHECK(!same_python(a.data, b.data));
	kbuf_free(&a);
	kbuf_free(&b);
}

/* Every byte string is accepted, with NUL in it or cut off anywhere. */
static void
test_any_bytes(void)
{
	static const char src[] = "#define A(x) R\"q(\\\r\n)q\" '\\0' \"\"\" /* */ // \0 \x80\xff "
	                          "asm(\"a\") 1'0 . .5"
	                          " )}] \\";
	bool good = true;
	char hex[17];

	for (size_t len = 0; len < sizeof src; len++)
		for (int lang = KTOKEN_C; lang <= KTOKEN_PYTHON; lang++) {
			char *cut = kmalloc(len ? len : 1), *out;

			memcpy(cut, src, len);
			out = ktoken_strip(cut, len, (enum ktoken_lang)lang);
			good = good && out[len] == '\0';
			ktoken_hash_as(cut, len, (enum ktoken_lang)lang, hex);
			good = good && strlen(hex) == 16;
			free(out);
			free(cut);
		}
	CHECK(good);
}

static void
test_names(void)
{
	char a[17], b[17];

	CHECK(ktoken_lang_of("python3") == KTOKEN_PYTHON);
	CHECK(ktoken_lang_of("python") == KTOKEN_PYTHON);
	CHECK(ktoken_lang_of("cuda") == KTOKEN_C);
	ktoken_hash("a // b", 6, a);
	ktoken_hash("a", 1, b);
	CHECK_STR(a, b);
	ktoken_hash("", 0, a);
	CHECK_STR(a, "e3b0c44298fc1c14");
}

int
main(void)
{
	test_strip_c();
	test_kept_c();
	test_strip_python();
	test_hash_c();
	test_hash_python();
	test_deep_indent();
	test_any_bytes();
	test_names();
	return tap_done();
}
