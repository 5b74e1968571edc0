/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null: a model that answers at once, for simulations: the parent's code with a few lines drawn
 * from the campaign's random stream, so that candidates differ and spread over the cells of the
 * archive. The same prompt always gets the same answer.
 */

#include "backend.h"
#include "kllm.h"

enum { LINES_MAX = 12, ADD_MAX = 4 };

/* Lines that the classifier distinguishes; they need not compute anything. */
static const char *const c_lines[] = { "#pragma omp parallel for",
	"#pragma omp parallel for collapse(2) schedule(static)", "#pragma omp simd",
	"#pragma omp parallel for simd reduction(+:s)", "#pragma omp task", "#pragma omp atomic",
	"#pragma GCC unroll 8", "for (int ii = 0; ii < n; ii += 64) for (int i = ii; i < n; i++)",
	"for (int kk = 0; kk < n; kk += 128) for (int jj = 0; jj < n; jj += 8) for (int k = kk;;)",
	"float tile[64][64];", "__builtin_prefetch(b + 64, 0, 3);", "const float *restrict p = b;",
	"s = fmaf(a[0], b[0], s);", "__m256 v = _mm256_loadu_ps(b);",
	"v = _mm256_fmadd_ps(v, v, v);", "__m512 w = _mm512_loadu_ps(b);",
	"_mm256_stream_ps(a, v);", "float x __attribute__((vector_size(32)));",
	"float *packed = aligned_alloc(64, 4096);", "memcpy(packed, b, 4096);" };
static const char *const cuda_lines[] = { "__shared__ float tile[32][33];", "__syncthreads();",
	"float4 v = *(const float4 *)p;", "#pragma unroll 8",
	"s = __shfl_down_sync(0xffffffffu, s, 16);", "s = fmaf(a, b, s);",
	"const float x = __ldg(p + i);", "wmma::mma_sync(c, a, b, c);",
	"int i = blockIdx.x * blockDim.x + threadIdx.x;", "atomicAdd(out, s);",
	"__launch_bounds__(256)", "cp.async.cg.shared.global [s], [g], 16;", "float r[8][8];",
	"cudaStreamCreate(&stream);" };
static const char *const triton_lines[] = { "pid = tl.program_id(0)", "acc = tl.dot(a, b, acc)",
	"x = tl.load(p, mask=m)", "s = tl.sum(x, axis=0)", "@triton.autotune(configs=[], key=[])",
	"num_warps = 8", "num_stages = 4", "tl.atomic_add(p, s)", "BLOCK: tl.constexpr = 128",
	"x = tl.load(tl.make_block_ptr(p, s, t, o, b, r))", "for k in range(0, K, BLOCK): pass" };

static const struct dialect {
	const char *mark;
	const char *const *lines;
	size_t count;
} dialects[BACKEND_COUNT] = {
	[BACKEND_C] = { "/* null model", c_lines, LEN(c_lines) },
	[BACKEND_CUDA] = { "/* null model", cuda_lines, LEN(cuda_lines) },
	[BACKEND_HIP] = { "/* null model", cuda_lines, LEN(cuda_lines) },
	[BACKEND_OPENCL] = { "/* null model", c_lines, LEN(c_lines) },
	[BACKEND_SYCL] = { "/* null model", c_lines, LEN(c_lines) },
	[BACKEND_TRITON] = { "# null model", triton_lines, LEN(triton_lines) },
};

static const struct dialect *
dialect_of(const struct call *c)
{
	return &dialects[kcamp_backend(c->camp) - backends];
}

static bool
line_is(const char *line, size_t len, const char *text)
{
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	return len == strlen(text) && !memcmp(line, text, len);
}

/* Which of the dialect's lines the parent has below its mark; each is kept with probability 0.8. */
static size_t
inherit(const struct dialect *d, const char *below, struct krng *rng, size_t kept[LINES_MAX])
{
	size_t count = 0;

	for (const char *p = below; *p && count < LINES_MAX - ADD_MAX;) {
		size_t n = strcspn(p, "\n");

		for (size_t i = 0; i < d->count; i++)
			if (line_is(p, n, d->lines[i]) && krng_double(rng) < 0.8)
				kept[count++] = i;
		p += n + (p[n] == '\n');
	}
	return count;
}

/*
 * Everything above the mark is the parent's own and stays. Below it is what this model added
 * before; that is bounded, so that the thousandth generation is as long as the tenth.
 */
static void
mutate(const struct call *c, struct kbuf *out)
{
	const struct dialect *d = dialect_of(c);
	const char *parent = kjson_str_or(c->rec.json, "sample.parent.code", ""),
	           *mark = strstr(parent, d->mark);
	size_t base = mark ? (size_t)(mark - parent) : strlen(parent), kept[LINES_MAX], count, add;
	struct krng rng;

	krng_init(&rng, (uint64_t)kcamp_num(c->camp, "seed"),
	    (long)kjson_int_or(c->rec.json, "trial", 0),
	    (long)kjson_int_or(c->rec.json, "branch", 0), "null");
	count = inherit(d, mark ? mark : "", &rng, kept);
	add = 1 + krng_below(&rng, ADD_MAX);
	for (size_t i = 0; i < add; i++)
		kept[count++] = krng_below(&rng, d->count);
	kbuf_add(out, parent, base);
	if (base && parent[base - 1] != '\n')
		kbuf_puts(out, "\n");
	kbuf_printf(out, "%s%s\n", d->mark, *d->mark == '#' ? "" : " */");
	for (size_t i = 0; i < count; i++)
		kbuf_printf(out, "%s\n", d->lines[kept[i]]);
	/* A unique constant, so that no two candidates are the same program. */
	kbuf_printf(out, "%s = %llu%s\n", *d->mark == '#' ? "null_model" : "enum { null_model",
	    (unsigned long long)(krng_u64(&rng) >> 33), *d->mark == '#' ? "" : " };");
}

/*
 * The plan that a round of a linear search must state before its code; no two rounds have the same.
 */
static void
put_plan(const struct call *c, struct kbuf *out)
{
	long trial = (long)kjson_int_or(c->rec.json, "trial", 0);
	json_auto_t *plan = json_pack("{s:o,s:o,s:s,s:s,s:[o,o,o],s:[{s:s,s:s,s:o,s:b}]}",
	    "hypothesis", json_sprintf("the lines of trial %ld make it faster", trial), "change",
	    json_sprintf("add the lines of trial %ld", trial), "category", "lines", "bucket", "K1",
	    "directions", json_sprintf("more lines than trial %ld", trial),
	    json_sprintf("fewer lines than trial %ld", trial),
	    json_sprintf("other lines than trial %ld", trial), "search", "layer", "L1", "source",
	    "skills/knowledge/ops/normalization.md", "finding",
	    json_sprintf("the null model's finding %ld", trial), "new", 1);
	auto_free char *text = json_dumps(plan, KIO_DUMP);

	kbuf_printf(out, "```plan\n%s\n```\n\n", text);
}

json_t *
ask_null(const struct call *c)
{
	struct reply r;

	reply_init(&r, "null", "null");
	r.timeless = true;
	if (kcamp_linear(c->camp))
		put_plan(c, &r.text);
	kbuf_printf(&r.text, "```%s\n", kcamp_str(c->camp, "language"));
	mutate(c, &r.text);
	kbuf_puts(&r.text, "```\n");
	reply_estimate(&r, c);
	r.nanousd = 0;
	return reply_finish(&r, c);
}
