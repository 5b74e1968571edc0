/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kscan: items, signatures, launches and constants of sources as people write them.
 */
#include <stdlib.h>

#include "tap.h"

#include "../../adopt/kscan.c"
#include "../../adopt/declare.c"
#include "../../adopt/launch.c"
#include "../../adopt/pairs.c"

/* "kind:name,name kind:name …" of all items. */
static char *
items(const char *text)
{
	static const char *const kinds[] = { "include", "macro", "directive", "group", "function",
		"declaration", "open", "close" };
	struct kbuf b = { 0 };
	struct kscan s;

	kscan(text, &s);
	kbuf_puts(&b, s.unclosed ? "unclosed" : "");
	for (size_t i = 0; i < s.count; i++) {
		kbuf_printf(&b, "%s%s", b.len ? " " : "", kinds[s.items[i].kind]);
		for (size_t n = 0; n < s.items[i].name_count; n++)
			kbuf_printf(&b, "%s%s", n ? "," : ":", s.items[i].names[n]);
	}
	kscan_free(&s);
	return b.data;
}

static void
check_items(const char *text, const char *want)
{
	char *got = items(text);

	CHECK_STR(got, want);
	free(got);
}

static void
check_members(void)
{
	static const char text[] =
	    "class C {\npublic: int f(int a) const { return a; }\n\tint g();\n"
	    "private:\n\t/* once */\n\tstatic void h() {}\n};\nint C::g() {}";
	const struct kscan_item *f;
	struct kscan s;
	struct kscan_signature g;

	kscan(text, &s);
	CHECK(s.member_count == 2);
	f = kscan_function(&s, "C::f");
	CHECK(f && !strncmp(text + f->from, "int f(", 6) && kscan_at(&s, f->from) == &s.items[0]);
	g = kscan_signature(f);
	CHECK(g.constant && text[g.close] == ')');
	CHECK_STR(g.result, "int");
	kscan_signature_free(&g);
	f = kscan_function(&s, "C::h");
	CHECK(f && !strncmp(text + f->lead, "\t/* once */", 11));
	CHECK(kscan_function(&s, "C::g") == &s.items[1] && !kscan_function(&s, "h"));
	kscan_free(&s);
}

/*
 * A comment with a blank line in it; a union with sizes in brackets, and a comparison there; a
 * structure and a union without names in it.
 */
static void
test_gaps(void)
{
	static const char text[] = "int a;\n\n/* one\n\n   two */\nint b;\n"
	                           "struct s {\n\tint n;\n"
	                           "\tunion { int x[(3 * 5) >= 4 ? 2 : 1]; struct { char y; } z; } "
	                           "u;\n"
	                           "\tfloat v[(1 << 3)] __attribute__ ((aligned(16)));\n"
	                           "\tenum mode m;\n\tenum { A, B } o;\n\tenum e { C };\n"
	                           "\tint f(int);\n\tfloat (*g)(int), (*h)[3];\n"
	                           "\tstruct { int p; union { int q; float r[2]; }; };\n};\n";
	static const char names[] = "nuvmoghpqr";
	struct kscan_members members;
	struct kscan s;

	kscan(text, &s);
	CHECK(s.count == 3 && !strncmp(text + s.items[1].lead, "/* one", 6));
	members = kscan_members(&s.items[2]);
	CHECK(members.count == 10 && !members.hidden);
	for (size_t i = 0; i < members.count && i < sizeof names - 1; i++)
		CHECK(!strncmp(members.list[i].name, &names[i], 1) && !members.list[i].name[1]);
	kscan_members_free(&members);
	kscan_free(&s);
}

static void
test_items(void)
{
	check_items("", "");
	check_items("#include <math.h>\n#include \"a/b.h\"\n#define N 8\n#define F(x) \\\n\t((x) + "
	            "N)\n#undef N\n",
	    "include:math.h "
	    "include:a/b.h macro:N macro:F directive");
	check_items("typedef float real;\nstruct point { int x, y; };\ntypedef struct { float a; } "
	            "pair;\nenum { A, B = 3, C };\n",
	    "declaration:real declaration:point declaration:pair declaration:A,B,C");
	check_items("static const float table[] = { 1, 2 }, *other = table;\nint n "
	            "__attribute__((aligned(8))) = 3, m;\n",
	    "declaration:table,other declaration:n,m");
	check_items("int f(int a);\nstatic inline int g(void) { return '{'; }\nvoid "
	            "(*hook)(int);\nint h(int a) { return \"}\"[a]; }",
	    "declaration:f function:g declaration:hook function:h");
	check_items("typedef state (*next)(int a);\ntypedef void (CALL *then)(int *b);\nstate "
	            "(*const later)(int);\ntypedef state (*far) OF((int a));\nstate f(int *a);\n",
	    "declaration:next declaration:then declaration:later declaration:far declaration:f");
	check_items("struct s *find(struct s *p)\n{\n\tif (p) { return p; }\n\treturn 0;\n}\n",
	    "function:find");
	check_items("__attribute__((noinline)) static void f(int a) { (void)a; }", "function:f");
	check_items("struct __attribute__((packed)) s { int a; };", "declaration:s");
	check_items("int n::C::f() { return 1; }\nC::C() {}\nC::~C() {}\nint ::g() { return 1; }",
	    "function:f,n::C::f function:C,C::C function:C function:g");
	check_members();
	check_items("#if 0\nint f() {}\n#if 1\n#endif\n#else\nint g;\n#endif\n#  if 0 \nint "
	            "h;\n#endif\n",
	    "group:g group");
	check_items("void f(int a)\n{\n#ifdef X\n\tif (a) {\n#else\n\tif (!a) "
	            "{\n#endif\n\t}\n}\nint g;\n",
	    "function:f declaration:g");
	check_items("#ifdef X\nint a;\nvoid f(void) { }\n#else\nint b;\n#endif\nint c;\n",
	    "group:a,f,b declaration:c");
	check_items("#ifndef H\n#define H\nint a;\n#endif\n", "declaration:a");
	check_items("#include <math.h>\n#if !defined(H)\n# define H (1)\nint a;\n#endif\n",
	    "include:math.h declaration:a");
	check_items(
	    "int b;\n#if !defined(H)\n#define H\nint a;\n#endif\n", "declaration:b group:H,a");
	check_items("#ifdef X\nstatic int\n#else\nvoid\n#endif\nf(int a)\n{\n}\nint b;\n",
	    "function:f declaration:b");
	check_items("#ifdef X\nint a;\n#define Y 3\n#endif\nint b;\n", "group:a,Y declaration:b");
	check_items("#ifdef X\nint f(int a)\n{\n#ifdef Y\n\tint b = a;\n#else\n\tint b = 1;\n"
	            "\tif (a) b++;\n#endif\n\treturn b;\n}\n#elif Z\nint c;\n#endif\n",
	    "group:f,c");
	check_items("#pragma once\nint a;\n", "directive declaration:a");
	check_items("namespace x {\nint f() { return 1; }\n}\nextern \"C\" {\nint g(void) { return "
	            "2; }\n}\n",
	    "open function:f close open function:g close");
	check_items("extern \"C\" void f(int a) { (void)a; }\n", "function:f");
	check_items("template <typename T, int N = 4> __global__ void __launch_bounds__(32 * N) "
	            "f(T *p) { p[0] = N; }\n",
	    "function:f");
	check_items("constexpr int a = 1, b = 2;\nusing real = float;\n",
	    "declaration:a,b declaration:real");
	check_items("int f(void) {\n", "unclosed function:f");
	check_items("static int f(a, b)\n\tint a; double *b, c[];\n{\n}\nvoid g(void) { }\n",
	    "function:f function:g");
	check_items("DEFINE(x) static int y;\nvoid g(void) { }\nint f(a) int b; struct s { int c; "
	            "};\n",
	    "declaration:DEFINE function:g declaration:f declaration:s");
	check_items("/* int a; */ // int b;\nint c;", "declaration:c");
	check_items("namespace x {\nint a;\nEND_OF_X\n}\nint b;",
	    "open declaration:a declaration:END_OF_X close declaration:b");
	check_items("static NEVER_INLINE(float *) f(int a) { }\nvoid g(int a) LOCKS(a) { "
	            "}\nAPI(int)\n"
	            "h(void) { }\nint i() noexcept(true) { }\n",
	    "function:f function:g function:h function:i");
	check_items("inline __device__ float4 operator+(float4 a, float4 b) { return a; }\n"
	            "struct s { int a; bool operator()(int b) { return b; } };\n"
	            "bool operator() (int a) { return a; }\n"
	            "template <> __device__ float half_of<float>(float x) { return x / 2; }\n"
	            "template <typename T> struct sum<T *> { T a; };\nvoid f(int a) { }\n",
	    "function:operator+ declaration:s function:operator() function:half_of "
	    "declaration:sum function:f");
	check_items("static int table[] = { 1, 2 }, n = 2;\nint m{ 3 };\nLIST { a, b }\nvoid f() { "
	            "}\n",
	    "declaration:table,n declaration declaration function:f");
}

static void
test_signature(void)
{
	static const char text[] = "typedef float real;\n"
	                           "typedef real row[2][3];\ntypedef real *rows[4];\n"
	                           "static void\nf(const real *restrict in, real out[], unsigned  "
	                           "int n, const int *const k, real (*fn)(int), struct s *p,\n"
	                           "\tdouble a[n][2 * k], double *rows[3], int flag "
	                           "__attribute__((unused)))\n"
	                           "{\n}\n"
	                           "void g(void) { }\n"
	                           "extern \"C\" __attribute__((visibility(\"default\"))) "
	                           "__typeof__(0) [[gnu::hot]]\nh(int a) { return a; }\n";
	struct kscan_signature g;
	struct kscan s;
	int stars;
	char *t;

	kscan(text, &s);
	g = kscan_signature(kscan_function(&s, "f"));
	CHECK(g.count == 9);
	CHECK_STR(g.result, "static void");
	CHECK_STR(g.params[0].name, "in");
	CHECK_STR(g.params[0].type, "real");
	CHECK(g.params[0].stars == 1 && g.params[0].constant);
	CHECK(g.params[1].stars == 1 && !g.params[1].constant && !g.params[1].strange);
	CHECK_STR(g.params[2].type, "unsigned int");
	CHECK(g.params[3].constant && g.params[3].stars == 1);
	CHECK(g.params[4].strange && !g.params[5].strange);
	CHECK_STR(g.params[4].name, "fn");
	CHECK_STR(g.params[8].name, "flag");
	CHECK(g.params[6].stars == 1 && g.params[6].rows == 1 && !g.params[6].strange &&
	    g.params[7].strange);
	t = kscan_signature_text(&g);
	CHECK_STR(t,
	    "static void(const real*,real*,unsigned int,const "
	    "int*,real(*fn)(int),s*,double*[],double*rows[3],int)");
	free(t);
	kscan_signature_free(&g);
	g = kscan_signature(kscan_function(&s, "g"));
	CHECK(g.count == 0);
	kscan_signature_free(&g);
	g = kscan_signature(kscan_function(&s, "h"));
	CHECK_STR(g.result, "extern\"\"__typeof__(0)");
	CHECK(g.count == 1);
	kscan_signature_free(&g);
	t = kscan_typedef(&s, "real", &stars);
	CHECK_STR(t, "float");
	free(t);
	t = kscan_typedef(&s, "row", &stars);
	CHECK_STR(t, "real[2][3]");
	free(t);
	CHECK(!kscan_typedef(&s, "unreal", &stars) && !kscan_typedef(&s, "rows", &stars) &&
	    !kscan_function(&s, "i"));
	kscan_free(&s);
}

static void
test_launches(void)
{
	static const char text[] =
	    "#define BX 32\nconstexpr int by = 256 / BX, twice = 2 * by;\nenum { ONE = 1, TWO "
	    "};\nenum size "
	    "{ SMALL, LARGE = 4 * TWO, HUGE };\n"
	    "void f(float *p, int n, int h, cudaStream_t s)\n{\n\tdim3 block(BX, by), grid((n + "
	    "block.x - 1) / block.x, h);\n"
	    "\tconst int threads = BX * by;\n"
	    "\tk<float, 3><<<grid, block, 0, s>>>(p);\n\tm<<<(n + threads - 1) / threads, "
	    "threads>>>(p);\n"
	    "\tq<<<dim3(TWO, twice), dim3(64)>>>(p, \\\r\n\tn);\n\tr<<<n, unknown>>>(p);\n}\n";
	struct kscan s;
	const struct kscan *sources[] = { &s };
	const struct kscan_launch *list;
	json_t *values = json_pack("{s:i,s:i}", "n", 1000, "h", 7);
	struct kscan_scope scope = { .sources = sources, .count = 1, .values = values };
	int64_t t[3];
	size_t n;

	kscan(text, &s);
	scope.f = kscan_function(&s, "f");
	list = kscan_launches(scope.f, &n);
	CHECK(n == 4);
	CHECK_STR(list[0].kernel, "k");
	CHECK_STR(list[0].arguments, "<float,3>");
	CHECK(kscan_dim3(&scope, list[0].block, t) && t[0] == 32 && t[1] == 8 && t[2] == 1);
	CHECK(kscan_dim3(&scope, list[0].grid, t) && t[0] == 32 && t[1] == 7 && t[2] == 1);
	CHECK(kscan_dim3(&scope, list[1].block, t) && t[0] == 256 && t[1] == 1);
	CHECK(kscan_dim3(&scope, list[1].grid, t) && t[0] == 4);
	CHECK(kscan_dim3(&scope, list[2].grid, t) && t[0] == 2 && t[1] == 16);
	CHECK(kscan_dim3(&scope, list[2].block, t) && t[0] == 64 && t[2] == 1);
	CHECK_STR(list[2].call, "p,n");
	CHECK(!kscan_dim3(&scope, list[3].block, t));
	CHECK(!kscan_number(&scope, "n / 0", &t[0]) && !kscan_number(&scope, "n +", &t[0]) &&
	    !kscan_number(&scope, "1.5", &t[0]));
	CHECK(kscan_number(&scope, "SMALL", &t[0]) && t[0] == 0);
	CHECK(kscan_number(&scope, "HUGE", &t[0]) && t[0] == 9);
	CHECK(kscan_number(&scope, "(int)n * -2 + 0x10", &t[0]) && t[0] == -1984);
	kscan_free(&s);
	json_decref(values);
}

/* What a function sets at two places has no value that one of them tells. */
static void
test_variables(void)
{
	static const char text[] =
	    "void f(int w)\n{\n\tint b, once = 64, up = 1;\n\tdim3 g(8), h(4, 4);\n"
	    "\tif (w >= 4096) b = 512; else b = 256;\n\tup <<= 2;\n\tg.y = w;\n\tg.y = 2;\n"
	    "\tk<<<g, b>>>(w == 1);\n}\n";
	struct kscan s;
	const struct kscan *sources[] = { &s };
	struct kscan_scope scope = { .sources = sources, .count = 1 };
	int64_t t[3];

	kscan(text, &s);
	scope.f = kscan_function(&s, "f");
	CHECK(!kscan_number(&scope, "b", &t[0]) && !kscan_number(&scope, "up", &t[0]));
	CHECK(kscan_number(&scope, "once / 2", &t[0]) && t[0] == 32);
	CHECK(!kscan_dim3(&scope, "b", t) && !kscan_dim3(&scope, "g", t));
	CHECK(kscan_dim3(&scope, "h", t) && t[0] == 4 && t[1] == 4);
	kscan_free(&s);
}

/* Any bytes are accepted: pieces of source, in any order, cut anywhere. */
static void
test_anything(void)
{
	static const char *const pieces[] = { "{", "}", "(", ")", "[", "]", "#if X\n", "#else\n",
		"#endif\n", "\"", "'", "/*", "*/", "//", "\n", "\\\n", "template <", ">", "f",
		"<<<a,b>>>", "=", ";", ",", "#define A(x) ", "namespace n", "extern \"C\"", "enum",
		"\xff" };
	unsigned state = 1;
	bool good = true;

	for (int round = 0; round < 3000; round++) {
		struct kbuf b = { 0 };
		struct kscan s;

		kbuf_puts(&b, "");
		for (int i = 0; i < 40; i++) {
			state = state * 1664525u + 1013904223u;
			kbuf_puts(&b, pieces[(state >> 16) % LEN(pieces)]);
		}
		kscan(b.data, &s);
		for (size_t i = 0; i < s.count; i++) {
			const struct kscan_item *x = &s.items[i];

			good &= x->lead <= x->from && x->from <= x->to && x->to <= b.len &&
			    (!i || x->from >= s.items[i - 1].to);
			if (x->kind == KSCAN_FUNCTION) {
				struct kscan_signature g;
				size_t n;

				kscan_launches(x, &n);
				good &= n <= s.launch_count;
				g = kscan_signature(x);
				free(kscan_signature_text(&g));
				kscan_signature_free(&g);
			}
		}
		kscan_free(&s);
		kbuf_free(&b);
	}
	CHECK(good);
}

/*
 * What a macro makes static is static; and one that makes whole functions looks like a function's
 * name.
 */
static void
test_macros(void)
{
	static const char text[] = "#define INLINE static inline\n"
	                           "#define BAND(R) static int band##R(void) { return R; }\n"
	                           "INLINE int f(void) { return 1; }\n"
	                           "BAND(1)\n"
	                           "int g(void) { return f() + band1(); }\n"
	                           "int h(void) { return g(); }\n";
	struct kscan s;

	kscan(text, &s);
	CHECK(kscan_has_word(kscan_function(&s, "f"), "static"));
	CHECK(!kscan_has_word(kscan_function(&s, "h"), "static"));
	kscan_free(&s);
}

/*
 * Nothing to scan is no null pointer to count from; what stands behind a NUL is read as far as it
 * goes.
 */
static void
test_bytes(void)
{
	static const char text[] = "long\0 __attribute__((cold)) f(int a) { return a; }\n";
	struct kscan_signature of;
	struct kscan s;

	kscan("", &s);
	CHECK(s.items && !s.count);
	kscan_free(&s);
	kscan_bytes(text, sizeof text - 1, false, &s);
	if (kscan_function(&s, "f")) {
		of = kscan_signature(kscan_function(&s, "f"));
		CHECK(!strncmp(of.result, "long", 4));
		kscan_signature_free(&of);
	}
	kscan_free(&s);
}

/* In whose array are the pointers of f places? */
static void
check_bases(const char *text, const char *want)
{
	auto_signature struct kscan_signature g = { 0 };
	const struct kscan_param *base;
	const struct kscan_item *f;
	auto_scan struct kscan s;
	auto_buf struct kbuf b = { 0 };

	kscan(text, &s);
	f = kscan_function(&s, "f");
	g = kscan_signature(f);
	kbuf_puts(&b, "");
	for (size_t i = 0; i < g.count; i++)
		if ((base = kscan_base(f, &g, &g.params[i])))
			kbuf_printf(&b, "%s in %s;", g.params[i].name, base->name);
	CHECK_STR(b.data, want);
}

static void
test_bases(void)
{
	check_bases("int f(const char *a, const char *b)\n{\n\twhile (a < b) if (*a++) return "
	            "1;\n}\n",
	    "b in a;");
	check_bases("int f(char *a, char *b)\n{\n\tchar *p = a;\n\tfor (; p != b; p++) *p = "
	            "1;\n}\n",
	    "b in a;");
	check_bases(
	    "int f(char *a, char *b)\n{\n\twhile (a >= b + 4 && a[-1]) a -= 4;\n}\n", "a in b;");
	check_bases(
	    "int f(char *a, char *b)\n{\n\tint n = b - a;\n\treturn n + a[1];\n}\n", "b in a;");
	/* Both are read; other types; numbers; a test for being the same. */
	check_bases("int f(char *a, char *b)\n{\n\tif (a < b) return *a - *b;\n}\n", "");
	check_bases("int f(char *a, short *b, char *c)\n{\n\treturn *a - *b < c[0];\n}\n", "");
	check_bases("int f(char *a, char *b, int n)\n{\n\tif (a != b && n < *a) g(b);\n}\n", "");
}

int
main(void)
{
	kutil_init("kscan.t");
	test_gaps();
	test_items();
	test_macros();
	test_signature();
	test_launches();
	test_variables();
	test_anything();
	test_bytes();
	test_bases();
	return tap_done();
}
