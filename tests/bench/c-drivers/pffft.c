/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives pffft: FFTPACK's transforms, the mixer and the carrier generators.
 * build: gcc -O2 -Iinclude/pffft -Isrc -c src/fftpack.c src/pffft.c src/pffft_common.c && g++ -O2 -Iinclude/pffft -Isrc -o app kiln-driver.c fftpack.o pffft.o pffft_common.o src/pf_mixer.cpp src/pf_carrier.cpp -lm
 * run: ./app out.txt
 * outputs: out.txt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fftpack.h"
#include "pf_mixer.h"
#include "pffft.h"

/* Its header and the mixer's cannot both be included. */
extern "C" void generate_dc_pos_neg_fs4_s16(short *output, int size);

static FILE *out;

static void
fill(float *v, int n, int seed)
{
	for (int i = 0; i < n; i++)
		v[i] = (float)((unsigned)(i + seed) * 2654435761u >> 8 & 0xffff) / 65536 - 0.5f;
}

static void
sum(const char *what, const float *v, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += v[i] * (i % 7 + 1);
	fprintf(out, "%s %.5g\n", what, s);
}

static void
fftpack(int n)
{
	float *x = (float *)calloc(2 * n + 32, sizeof *x), *work = (float *)calloc(5 * n + 64, sizeof *work);

	rffti(n, work);
	fill(x, n, n);
	rfftf(n, x, work);
	rfftb(n, x, work);
	sum("rfft", x, n);
	cffti(n, work);
	fill(x, 2 * n, n);
	cfftf(n, x, work);
	cfftb(n, x, work);
	sum("cfft", x, 2 * n);
	sinqi(n, work);
	fill(x, n, n);
	sinqb(n, x, work);
	sinqf(n, x, work);
	sum("sinq", x, n);
	cosqi(n, work);
	fill(x, n, n);
	cosqf(n, x, work);
	sum("cosq", x, n);
	free(x);
	free(work);
}

static void
simd(int n)
{
	PFFFT_Setup *s = pffft_new_setup(n, PFFFT_COMPLEX), *r = pffft_new_setup(n, PFFFT_REAL);
	float *x = (float *)pffft_aligned_malloc(2 * n * sizeof *x), *work = (float *)pffft_aligned_malloc(2 * n * sizeof *work);

	fill(x, 2 * n, 3);
	pffft_transform_ordered(s, x, x, work, PFFFT_FORWARD);
	pffft_transform_ordered(r, x, x, work, PFFFT_FORWARD);
	sum("pffft", x, 2 * n);
	pffft_aligned_free(x);
	pffft_aligned_free(work);
	pffft_destroy_setup(s);
	pffft_destroy_setup(r);
}

static void
mixer(void)
{
	enum { N = 16384 };
	complexf *x = (complexf *)calloc(N, sizeof *x);
	short *s = (short *)calloc(2 * N, sizeof *s);
	shift_recursive_osc_conf_t conf;
	shift_recursive_osc_t state;
	long total = 0;

	shift_recursive_osc_init(0.01f, 0.2f, &conf, &state);
	for (int r = 0; r < 20; r++) {
		shift_limited_unroll_B_sse_data_t b = shift_limited_unroll_B_sse_init(0.003f * (float)(r + 1), 0.1f);

		gen_recursive_osc_c(x, N, &conf, &state);
		shift_limited_unroll_B_sse_inp_c(x, N, &b);
		generate_dc_pos_neg_fs4_s16(s, N);
	}
	sum("mixer", (float *)x, 2 * N);
	for (int i = 0; i < 2 * N; i++)
		total += s[i] * (i % 5);
	fprintf(out, "carrier %ld\n", total);
}

int
main(int argc, char **argv)
{
	out = fopen(argv[argc - 1], "w");
	for (int r = 0; r < 20; r++) {
		fftpack(1024);
		fftpack(1920);
		fftpack(4410);
		simd(1920);
		simd(8192);
	}
	mixer();
	return fclose(out);
}
