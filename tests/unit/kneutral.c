/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kneutral: which names are the author's, and which programs are the same. */
#include "kneutral.h"

#include <string.h>

#include "tap.h"

static void
becomes(const char *src, const char *want, enum ktoken_lang lang)
{
	struct kbuf got = kneutral_text(src, strlen(src), lang, NULL);

	CHECK_STR(got.data, want);
	kbuf_free(&got);
}

static bool
same(const char *a, const char *b)
{
	static const char *const keep[] = { "entry", NULL };
	char x[17], y[17];

	kneutral_hash(a, strlen(a), KTOKEN_C, keep, x);
	kneutral_hash(b, strlen(b), KTOKEN_C, keep, y);
	return !strcmp(x, y);
}

static void
test_c(void)
{
	static const struct {
		const char *src, *want;
	} rows[] = {
		{ "#define T 64\nfor (int i = 0; i < n; i += T) x(i);",
		    "#define _k1 64\nfor (int _v2 = 0; _v2 < n; _v2 += _k1) x(_v2);" },
		{ "enum { A, B = 2 }; const int c = A * 8; const float f = 1.5f;",
		    "enum { _k1, _k2 = 2 }; const int _k3 = _k1 * 8; const float _v4 = 1.5f;" },
		{ "static inline float g(const float *restrict p) { return expf(*p); }",
		    "static inline float _f1(const float *restrict _v2) { return expf(*_v2); }" },
		{ "template <typename T, int N> __global__ void k(T *p) { p[threadIdx.x] = N; }",
		    "template <typename _t1, int _k2> __global__ void _f3(_t1 *_v4) { "
		    "_v4[threadIdx.x] = _k2; }" },
		{ "void f(int x, int y) { x = threadIdx.x + y; }",
		    "void _f1(int _v2, int _v3) { _v2 = threadIdx.x + _v3; }" },
		{ "struct s { int end; }; int f(struct s *a) { return a->end; }",
		    "struct _t1 { int _v2; }; int _f3(struct _t1 *_v4) { return _v4->_v2; }" },
		{ "__m512 a = _mm512_setzero_ps(), b = a;",
		    "__m512 _v1 = _mm512_setzero_ps(), _v2 = _v1;" },
		{ "#define ADD(p, q) ((p) + (q))\nint z = ADD(1, 2);",
		    "#define _f1(_v2, _v3) ((_v2) + (_v3))\nint _v4 = _f1(1, 2);" },
		{ "#include <math.h>\nint h; /* h */ char *s = \"h\";",
		    "#include <math.h>\nint _v1; /* h */ char *_v2 = \"h\";" },
		{ "namespace cg = cooperative_groups; cg::sync(g);",
		    "namespace cooperative_groups = cooperative_groups; "
		    "cooperative_groups::sync(g);" },
		/* A prototype, a product, a pragma: nothing is declared. */
		{ "float expf(float); y = a * b; return c;\n#pragma omp parallel\nfoo(y);",
		    "float expf(float); y = a * b; return c;\n#pragma omp parallel\nfoo(y);" },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		becomes(rows[i].src, rows[i].want, KTOKEN_C);
}

static void
test_python(void)
{
	becomes("x = 1\nfor", "_k1 = 1\nfor", KTOKEN_PYTHON);
	becomes("import triton.language as T\ndef f(p, B: T.constexpr):\n    m = p < 3\n"
	        "    x = T.load(p, mask=m)\nf[g](q, B=4, num_warps=2)\n",
	    "import triton.language as tl\ndef _f1(_v2, _k3: tl.constexpr):\n    _v4 = _v2 < 3\n"
	    "    _v5 = tl.load(_v2, mask=_v4)\n_f1[g](q, _k3=4, num_warps=2)\n",
	    KTOKEN_PYTHON);
}

static void
test_same(void)
{
	CHECK(same("int a = 1;", "int\n  b = 1; // b"));
	CHECK(same("void entry(int a, int b) { g(a); }", "void entry(int x, int y) { g(x); }"));
	CHECK(!same("void entry(int a, int b) { g(a); }", "void entry(int x, int y) { g(y); }"));
	/* The entry point keeps its name, and so do functions of others. */
	CHECK(!same("void entry(void) {}", "void other(void) {}"));
	CHECK(
	    !same("float f(float x) { return expf(x); }", "float f(float x) { return logf(x); }"));
	CHECK(!same("int t = threadIdx.x;", "int t = threadIdx.y;"));
	CHECK(!same("#define T 32\nint a[T];", "#define T 64\nint a[T];"));
	CHECK(!same("int a = b - c, b, c;", "int a = c - b, b, c;"));
}

int
main(void)
{
	test_c();
	test_python();
	test_same();
	becomes("", "", KTOKEN_C);
	becomes("(]}){[ \"", "(]}){[ \"", KTOKEN_C);
	return tap_done();
}
