/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives rnnoise's transform, pitch search and features. Its weights are a download, so its network stays out: the lines
 * below that begin with two slashes stand in for their header.
 * build: sed -n 's,^// ,,p' kiln-driver.c >src/rnnoise_data.h && gcc -O2 -DUSE_WEIGHTS_FILE -Iinclude -Isrc -o app kiln-driver.c src/denoise.c src/kiss_fft.c src/pitch.c src/celt_lpc.c src/rnnoise_tables.c -lm
 * run: ./app out.txt
 * outputs: out.txt
 */
#include <stdio.h>
#include <stdlib.h>

// #define CONV1_STATE_SIZE 1
// #define CONV2_STATE_SIZE 1
// #define GRU1_STATE_SIZE 1
// #define GRU2_STATE_SIZE 1
// #define GRU3_STATE_SIZE 1
// typedef struct { int none; } RNNoise;
// int init_rnnoise(RNNoise *model, const WeightArray *arrays);

#include "celt_lpc.h"
#include "denoise.h"
#include "kiss_fft.h"
#include "pitch.h"
#include "rnn.h"

enum { N = 960, PITCH = 1728, FRAME = 960, HIGH = 768, LOW = 60 };

extern const kiss_fft_state rnn_kfft;

int
init_rnnoise(RNNoise *model, const WeightArray *arrays)
{
	(void)model;
	return arrays == NULL;
}

int
rnn_parse_weights(WeightArray **list, const void *data, int len)
{
	(void)data;
	(void)len;
	*list = NULL;
	return 0;
}

void
compute_rnn(const RNNoise *model, RNNState *rnn, float *gains, float *vad, const float *input, int arch)
{
	(void)model, (void)rnn, (void)input, (void)arch;
	*gains = *vad = 0;
}

/* The features of a frame of sound, which are the network's input. */
static void
features(FILE *f, DenoiseState *st, int r)
{
	static kiss_fft_cpx x[FREQ_SIZE], p[WINDOW_SIZE];
	float ex[NB_BANDS], ep[NB_BANDS], exp[NB_BANDS], of[NB_FEATURES], in[FRAME_SIZE];

	for (int i = 0; i < FRAME_SIZE; i++)
		in[i] = (float)((unsigned)(i % (90 + r)) * 2654435761u >> 16 & 1023) * 8;
	rnn_compute_frame_features(st, x, p, ex, ep, exp, of, in);
	fprintf(f, "%.4g %.4g\n", of[0], of[NB_BANDS + 1]);
}

int
main(int argc, char **argv)
{
	static float sound[PITCH * 2], low[PITCH];
	kiss_fft_cpx in[N], out[N];
	FILE *f = fopen(argv[argc - 1], "w");
	DenoiseState *st = rnnoise_create(NULL);

	for (int r = 0; r < 60; r++) {
		features(f, st, r);
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
