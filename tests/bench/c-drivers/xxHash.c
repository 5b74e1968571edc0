/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives xxHash: all its hashes, whole and in pieces.
 * build: gcc -O2 -I. -o app kiln-driver.c
 * run: ./app >out.txt
 * outputs: out.txt
 */
#include <stdio.h>
#include <stdlib.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include "xxhash.h"

enum { SIZE = 300000 };

int
main(void)
{
	unsigned char *in = malloc(SIZE);
	XXH32_state_t *small = XXH32_createState();
	XXH64_state_t *middle = XXH64_createState();
	XXH3_state_t *large = XXH3_createState();

	for (int i = 0; i < SIZE; i++)
		in[i] = (unsigned char)(i * 2654435761u >> 24);
	for (unsigned seed = 0; seed < 20; seed++) {
		size_t n = SIZE - 777 * seed;

		XXH32_reset(small, seed);
		XXH64_reset(middle, seed);
		XXH3_64bits_reset_withSeed(large, seed);
		for (size_t at = 0, step = 13; at + step < n; at += step, step = step * 3 % 10007) {
			XXH32_update(small, in + at, step);
			XXH64_update(middle, in + at, step);
			XXH3_64bits_update(large, in + at, step);
		}
		printf("%08x %016llx %016llx %08x %016llx %016llx\n", XXH32_digest(small),
		    (unsigned long long)XXH64_digest(middle), (unsigned long long)XXH3_64bits_digest(large),
		    XXH32(in, n, seed), (unsigned long long)XXH64(in, n, seed),
		    (unsigned long long)XXH3_64bits_withSeed(in, n, seed));
	}
	return 0;
}
