/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives lz4: both compressors, alone and with a dictionary, and its decoders.
 * build: gcc -O2 -w -Ilib -o app kiln-driver.c lib/lz4.c lib/lz4hc.c
 * run: ./app out.bin
 * outputs: out.bin
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lz4.h"
#include "lz4hc.h"

enum { SIZE = 200000, BOUND = SIZE + 2000 };

static char in[SIZE], packed[BOUND], back[SIZE];

static void
put(FILE *f, int n)
{
	fwrite(packed, 1, (size_t)n, f);
	if (LZ4_decompress_safe(packed, back, n, SIZE) != SIZE || memcmp(in, back, SIZE) ||
	    LZ4_decompress_fast(packed, back, SIZE) != n || memcmp(in, back, SIZE))
		exit(1);
}

int
main(int argc, char **argv)
{
	FILE *f = fopen(argv[argc - 1], "wb");
	LZ4_streamHC_t *first = LZ4_createStreamHC(), *second = LZ4_createStreamHC();
	unsigned x = 1;

	for (int i = 0; i < SIZE; i++) {
		x = x * 1103515245 + 12345;
		in[i] = i % 1000 < 300 && i >= 2000 ? in[i - 1000 - (int)(x >> 28)]
		    : i % 1000 < 500            ? "ab"[i / 1000 % 3 ? i % 2 : 0]
		                                : (char)("etaoin shrdlu"[x >> 16 & 7] + (x >> 30));
	}
	put(f, LZ4_compress_default(in, packed, SIZE, BOUND));
	for (int level = 2; level <= LZ4HC_CLEVEL_MAX; level++) {
		put(f, LZ4_compress_HC(in, packed, SIZE, BOUND, level));
		LZ4_resetStreamHC_fast(first, level);
		LZ4_resetStreamHC_fast(second, level);
		LZ4_loadDictHC(first, in, 60000);
		LZ4_attach_HC_dictionary(second, first);
		fwrite(packed, 1, (size_t)LZ4_compress_HC_continue(second, in + 60000, packed, 3000, BOUND), f);
		LZ4_loadDictHC(second, in, 60000);
		fwrite(packed, 1, (size_t)LZ4_compress_HC_continue(second, in + 100000, packed, 60000, BOUND), f);
	}
	LZ4_freeStreamHC(first);
	LZ4_freeStreamHC(second);
	return fclose(f);
}
