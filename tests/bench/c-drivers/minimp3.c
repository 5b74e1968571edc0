/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives minimp3 over its own test vectors.
 * build: gcc -O2 -I. -o app kiln-driver.c -lm
 * run: ./app out.pcm
 * outputs: out.pcm
 */
#include <stdio.h>
#include <stdlib.h>

#define MINIMP3_IMPLEMENTATION
#include "minimp3.h"

int
main(int argc, char **argv)
{
	static const char *const files[] = { "vectors/l3-he_44khz.bit", "vectors/l3-test45.bit", "vectors/l3-sin1k0db.bit", "vectors/M2L3_bitrate_16_all.bit" };
	static unsigned char data[1 << 20];
	FILE *f = fopen(argv[argc - 1], "wb");

	for (int i = 0; i < 4; i++) {
		FILE *in = fopen(files[i], "rb");
		int n = (int)fread(data, 1, sizeof data, in), at = 0;
		mp3d_sample_t pcm[MINIMP3_MAX_SAMPLES_PER_FRAME];
		mp3dec_frame_info_t info;
		mp3dec_t decoder;

		fclose(in);
		mp3dec_init(&decoder);
		do {
			int samples = mp3dec_decode_frame(&decoder, data + at, n - at, pcm, &info);

			fwrite(pcm, sizeof *pcm, (size_t)(samples * info.channels), f);
			at += info.frame_bytes;
		} while (info.frame_bytes);
	}
	return fclose(f);
}
