/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives speexdsp: noise suppression with gain control, echo cancellation, resampling, and its other transform.
 * build: gcc -O2 -DFLOATING_POINT -DUSE_SMALLFT -DEXPORT= -Iinclude -Ilibspeexdsp -o app kiln-driver.c libspeexdsp/preprocess.c libspeexdsp/mdf.c libspeexdsp/resample.c libspeexdsp/fftwrap.c libspeexdsp/filterbank.c libspeexdsp/smallft.c libspeexdsp/jitter.c libspeexdsp/kiss_fft.c -lm
 * run: ./app out.pcm
 * outputs: out.pcm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kiss_fft.h"
#include "speex/speex_echo.h"
#include "speex/speex_preprocess.h"
#include "speex/speex_resampler.h"

enum { RATE = 16000, FRAME = 320, TAIL = 2048, FRAMES = 150 };

/* The transform that the library uses without USE_SMALLFT. */
static void
transform(FILE *f, int n)
{
	kiss_fft_cfg cfg = kiss_fft_alloc(n, 0, NULL, NULL);
	kiss_fft_cpx *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);

	for (int i = 0; i < n; i++)
		x[i] = (kiss_fft_cpx){ (float)(i % 17) - 8, (float)(i % 5) };
	for (int r = 0; r < 40; r++) {
		x[r].r += 1;
		kiss_fft(cfg, x, y);
		for (int i = 0; i < n; i++) {
			spx_int16_t v = (spx_int16_t)(y[i].r / 8);

			fwrite(&v, sizeof v, 1, f);
		}
	}
	free(x);
	free(y);
	free(cfg);
}

int
main(int argc, char **argv)
{
	SpeexPreprocessState *p = speex_preprocess_state_init(FRAME, RATE);
	SpeexEchoState *e = speex_echo_state_init(FRAME, TAIL);
	SpeexResamplerState *r, *threefold;
	FILE *f = fopen(argv[argc - 1], "wb");
	int on = 1, error, rate = RATE;
	float level = 8000;

	speex_preprocess_ctl(p, SPEEX_PREPROCESS_SET_DENOISE, &on);
	speex_preprocess_ctl(p, SPEEX_PREPROCESS_SET_AGC, &on);
	speex_preprocess_ctl(p, SPEEX_PREPROCESS_SET_AGC_LEVEL, &level);
	speex_preprocess_ctl(p, SPEEX_PREPROCESS_SET_ECHO_STATE, e);
	speex_echo_ctl(e, SPEEX_ECHO_SET_SAMPLING_RATE, &rate);
	r = speex_resampler_init(1, RATE, 44100, 7, &error);
	threefold = speex_resampler_init(1, RATE, 48000, 7, &error);
	for (int t = 0; t < FRAMES; t++) {
		spx_int16_t far[FRAME], near[FRAME], clean[FRAME], wide[FRAME * 4];
		spx_uint32_t in = FRAME, out = FRAME * 4;

		for (int i = 0; i < FRAME; i++) {
			int n = t * FRAME + i;

			far[i] = (spx_int16_t)(6000 * sin(n * 0.05) * sin(n * 0.0003));
			near[i] = (spx_int16_t)(far[i] / 3 + 3000 * sin(n * 0.021) * (n / 9000 % 2) + rand() % 400 - 200);
		}
		speex_echo_cancellation(e, near, far, clean);
		speex_preprocess_run(p, clean);
		speex_resampler_process_int(r, 0, clean, &in, wide, &out);
		fwrite(wide, sizeof *wide, out, f);
		in = FRAME, out = FRAME * 4;
		speex_resampler_process_int(threefold, 0, clean, &in, wide, &out);
		fwrite(wide, sizeof *wide, out, f);
	}
	transform(f, 1024);
	transform(f, 1920);
	return fclose(f);
}
