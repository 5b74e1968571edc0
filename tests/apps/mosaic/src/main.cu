/* SPDX-License-Identifier: Apache-2.0 */
/* mosaic: the command line and the film. */
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <unistd.h>

#include "mosaic.h"

enum { FRAMES = 400, FAR_EVERY = 4, PROBES = 8, SIZES = 3 };

static const int sizes[SIZES][2] = { { 1920, 1080 }, { 1280, 720 }, { 641, 479 } };

void
mosaic_check(cudaError_t error, const char *file, int line)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "mosaic: %s:%d: %s\n", file, line, cudaGetErrorString(error));
	exit(1);
}

static void
advance(mosaic_frame *frame, int number, cudaStream_t stream)
{
	bool far = number % FAR_EVERY == FAR_EVERY - 1;

	mosaic_soften(frame->pixels, frame->soft, frame->width, frame->height, far ? mosaic_radius_far : mosaic_radius_near,
	    far ? 3.0f : 0.7f, 0.25f, stream);
	MOSAIC_CHECK(cudaGetLastError());
	mosaic_tone(frame->soft, frame->width * frame->height, number % 2 ? 0.98f : 1.02f, stream);
	MOSAIC_CHECK(cudaGetLastError());
	std::swap(frame->pixels, frame->soft);
}

static void
write_frame(FILE *f, const mosaic_frame *frame)
{
	std::vector<mosaic_real> image((size_t)frame->width * frame->height);
	double sum = 0;

	MOSAIC_CHECK(cudaMemcpy(image.data(), frame->pixels, image.size() * sizeof(mosaic_real), cudaMemcpyDeviceToHost));
	for (mosaic_real v : image)
		sum += v;
	fprintf(f, "frame %d %d\nmean %.5f\n", frame->width, frame->height, sum / image.size());
	for (int i = 0; i < PROBES; i++)
		for (int j = 0; j < PROBES; j++) {
			size_t row = (size_t)(2 * i + 1) * frame->height / (2 * PROBES);
			size_t column = (size_t)(2 * j + 1) * frame->width / (2 * PROBES);

			fprintf(f, "%.4f%c", image[row * frame->width + column], j + 1 < PROBES ? ' ' : '\n');
		}
}

int
main(int argc, char **argv)
{
	mosaic_frame frames[SIZES];
	int count = FRAMES, opt;
	cudaStream_t stream;
	FILE *f;

	while ((opt = getopt(argc, argv, "n:")) != -1)
		count = opt == 'n' ? atoi(optarg) : 0;
	if (count < 1 || argc - optind != 1) {
		fputs("usage: mosaic [-n frames] OUTPUT\n", stderr);
		return 2;
	}
	for (int i = 0; i < SIZES; i++)
		frames[i] = mosaic_new_frame(sizes[i][0], sizes[i][1], (unsigned)i + 1);
	MOSAIC_CHECK(cudaStreamCreate(&stream));
	for (int n = 0; n < count; n++)
		for (int i = 0; i < SIZES; i++)
			advance(&frames[i], n, stream);
	MOSAIC_CHECK(cudaStreamSynchronize(stream));
	f = fopen(argv[optind], "w");
	if (!f) {
		perror(argv[optind]);
		return 1;
	}
	for (int i = 0; i < SIZES; i++) {
		write_frame(f, &frames[i]);
		mosaic_free_frame(&frames[i]);
	}
	MOSAIC_CHECK(cudaStreamDestroy(stream));
	if (fclose(f)) {
		perror(argv[optind]);
		return 1;
	}
	return 0;
}
