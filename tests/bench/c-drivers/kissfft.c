/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives kissfft's complex transforms, of lengths with each of its factors.
 * build: gcc -O2 -I. -o app kiln-driver.c kiss_fft.c -lm
 * run: ./app out.txt
 * outputs: out.txt
 */
#include <stdio.h>
#include <stdlib.h>

#include "kiss_fft.h"

static void
transform(FILE *f, int n, int inverse)
{
	kiss_fft_cfg cfg = kiss_fft_alloc(n, inverse, NULL, NULL);
	kiss_fft_cpx *in = calloc((size_t)n, sizeof *in), *out = calloc((size_t)n, sizeof *out);
	double sum = 0;

	for (int i = 0; i < n; i++) {
		in[i].r = (float)((unsigned)i * 2654435761u >> 16 & 1023) / 1024;
		in[i].i = (float)(i % 13) / 13;
	}
	kiss_fft(cfg, in, out);
	for (int i = 0; i < n; i++)
		sum += out[i].r * (i % 7 + 1) - out[i].i;
	fprintf(f, "%d %.5g\n", n, sum);
	free(in);
	free(out);
	free(cfg);
}

int
main(int argc, char **argv)
{
	static const int lengths[] = { 729, 2187, 1024, 3125, 1920, 4620 };
	FILE *f = fopen(argv[argc - 1], "w");

	for (int r = 0; r < 40; r++)
		for (int i = 0; i < 6; i++)
			transform(f, lengths[i], r % 2);
	return fclose(f);
}
