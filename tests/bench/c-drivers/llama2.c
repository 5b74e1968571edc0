/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a small model of random weights for llama2.c, with the vocabulary of its tokenizer.bin.
 * build: gcc -O2 -o model kiln-driver.c && ./model model.bin && gcc -O2 -o run run.c -lm
 * run: ./run model.bin -t 0.8 -s 3 -n 60 >out.txt 2>/dev/null
 * outputs: out.txt
 */
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	int head[] = { 192, 512, 4, 6, 6, 32000, 128 }, dim = head[0], hidden = head[1], layers = head[2];
	long n = 32000L * dim + layers * (2L * dim + 4L * dim * dim + 3L * dim * hidden) + dim + head[6] * (dim / head[3]);
	FILE *f = fopen(argv[argc - 1], "wb");
	unsigned x = 1;

	fwrite(head, sizeof head, 1, f);
	for (long i = 0; i < n; i++) {
		float v;

		x = x * 1103515245 + 12345;
		v = ((float)(x >> 8) / (1 << 24) - 0.5f) * 0.2f;
		fwrite(&v, sizeof v, 1, f);
	}
	return fclose(f);
}
