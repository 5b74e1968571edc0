/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives libsamplerate: every converter but the best (its table is large), with 1 to 6 channels.
 * build: gcc -O2 -DPACKAGE='"samplerate"' -DVERSION='"0"' -DHAVE_STDBOOL_H -DENABLE_SINC_FAST_CONVERTER -DENABLE_SINC_MEDIUM_CONVERTER -Iinclude -Isrc -o app kiln-driver.c src/samplerate.c src/src_linear.c src/src_sinc.c src/src_zoh.c -lm
 * run: ./app out.bin
 * outputs: out.bin
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "samplerate.h"

enum { FRAMES = 3000, CHANNELS = 6 };

int
main(int argc, char **argv)
{
	static const int channels[] = { 1, 2, 3, 4, 6 };
	static float in[FRAMES * CHANNELS], out[FRAMES * CHANNELS * 2];
	static short narrow[FRAMES * CHANNELS * 2];
	static int whole[FRAMES * CHANNELS * 2];
	FILE *f = fopen(argv[argc - 1], "wb");

	for (int i = 0; i < FRAMES * CHANNELS; i++)
		in[i] = (float)(sin(i * 0.01) * 0.7 + sin(i * 0.37) * 0.2);
	for (int type = SRC_SINC_MEDIUM_QUALITY; type <= SRC_LINEAR; type++)
		for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
			SRC_DATA d = { .data_in = in, .data_out = out, .input_frames = FRAMES,
				.output_frames = FRAMES * 2, .src_ratio = 44.1 / 32 };
			int n;

			if (src_simple(&d, type, channels[c]))
				return 1;
			n = (int)d.output_frames_gen * channels[c];
			src_float_to_short_array(out, narrow, n);
			src_short_to_float_array(narrow, out, n);
			src_float_to_int_array(out, whole, n);
			src_int_to_float_array(whole, out, n);
			fwrite(out, sizeof *out, (size_t)n, f);
		}
	return fclose(f);
}
