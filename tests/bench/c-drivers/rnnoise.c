/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives rnnoise's transform and pitch search. (Its weights are a download, so its network stays out.)
 * build: gcc -O2 -Iinclude -Isrc -o app kiln-driver.c src/kiss_fft.c src/pitch.c src/celt_lpc.c src/rnnoise_tables.c -lm
 * run: ./app out.txt
 * outputs: out.txt
 */
#include <stdio.h>
#include <stdlib.h>

#include "celt_lpc.h"
#include "kiss_fft.h"
#include "pitch.h"

enum { N = 960, PITCH = 1728, FRAME = 960, HIGH = 768, LOW = 60 };

extern const kiss_fft_state rnn_kfft;

int
main(int argc, char **argv)
{
	static float sound[PITCH * 2], low[PITCH];
	kiss_fft_cpx in[N], out[N];
	FILE *f = fopen(argv[argc - 1], "w");

	for (int r = 0; r < 60; r++) {
		float *channel[] = { sound };
		int pitch = 0;

		for (int i = 0; i < PITCH; i++)
			sound[i] = (float)((unsigned)(i % (200 + r)) * 2654435761u >> 16 & 1023);
		for (int i = 0; i < N; i++)
			in[i] = (kiss_fft_cpx){ sound[i], sound[i + 100] };
		rnn_fft_c(&rnn_kfft, in, out);
		rnn_pitch_downsample(channel, low, PITCH, 1);
		rnn_pitch_search(low + (HIGH >> 1), low, FRAME, HIGH - 3 * LOW, &pitch);
		pitch = HIGH - pitch;
		fprintf(f, "%.5g %d ", out[r].r, pitch);
		fprintf(f, "%.5g\n", rnn_remove_doubling(low, HIGH, LOW, FRAME, &pitch, 300, 0.5f));
	}
	return fclose(f);
}
