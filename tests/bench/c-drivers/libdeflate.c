/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives libdeflate: all levels, and back.
 * build: gcc -O2 -I. -o app kiln-driver.c lib/utils.c lib/deflate_compress.c lib/deflate_decompress.c lib/crc32.c lib/adler32.c lib/gzip_compress.c lib/gzip_decompress.c lib/zlib_compress.c lib/zlib_decompress.c lib/x86/cpu_features.c
 * run: ./app out.bin
 * outputs: out.bin
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdeflate.h"

enum { SIZE = 200000 };

int
main(int argc, char **argv)
{
	static unsigned char in[SIZE], packed[SIZE + 1000], back[SIZE];
	FILE *f = fopen(argv[argc - 1], "wb");
	unsigned x = 1;

	for (int i = 0; i < SIZE; i++) {
		x = x * 1103515245 + 12345;
		in[i] = i % 1000 < 600 && i >= 2000 ? in[i - 1000 - (int)(x >> 28)] : (unsigned char)("etaoin shrdlu"[x >> 16 & 7] + (x >> 30));
	}
	for (int level = 1; level <= 12; level++) {
		struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
		struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
		size_t n = libdeflate_gzip_compress(c, in, SIZE, packed, sizeof packed);

		fwrite(packed, 1, n, f);
		if (libdeflate_gzip_decompress(d, packed, n, back, SIZE, NULL) || memcmp(in, back, SIZE))
			return 1;
		libdeflate_free_compressor(c);
		libdeflate_free_decompressor(d);
	}
	return fclose(f);
}
