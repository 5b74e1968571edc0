/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives darknet's image reader, layers and boxes.
 * build: gcc -O2 -Iinclude -Isrc -o app kiln-driver.c `ls src/*.c | grep -v compare` -lm -pthread
 * run: ./app out.txt
 * outputs: out.txt
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "avgpool_layer.h"
#include "blas.h"
#include "convolutional_layer.h"
#include "darknet.h"
#include "deconvolutional_layer.h"
#include "dropout_layer.h"
#include "gemm.h"
#include "image.h"
#include "logistic_layer.h"
#include "maxpool_layer.h"
#include "route_layer.h"
#include "softmax_layer.h"
#include "tree.h"
#include "utils.h"
#include "yolo_layer.h"

void bilinear_init(layer l);
void blocky_image(image im, int s);
void censor_image(image im, int dx, int dy, int w, int h);
void fill_hierarchy(float *truth, int k, tree *hierarchy);
int num_detections(network *net, float thresh);
void load_rle(image im, int *rle, int n);
void normalize_image2(image p);

static FILE *out;

static float
number(unsigned i)
{
	return (float)((i * 2654435761u >> 8) & 0xffff) / 65536 - 0.5f;
}

static float *
numbers(int n)
{
	float *v = calloc((size_t)n, sizeof *v);

	for (int i = 0; i < n; i++)
		v[i] = number((unsigned)i);
	return v;
}

static void
sum(const char *what, const float *v, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += v[i] * (i % 7 + 1);
	fprintf(out, "%s %.6g\n", what, s);
}

static void
put32(FILE *f, uint32_t v)
{
	for (int i = 24; i >= 0; i -= 8)
		fputc((int)(v >> i & 255), f);
}

static void
chunk(FILE *f, const char *type, const uint8_t *data, uint32_t n)
{
	put32(f, n);
	fputs(type, f);
	fwrite(data, 1, n, f);
	put32(f, 0); /* the reader does not check it */
}

/* A stored picture of w by h pixels with a transparent colour. */
static void
write_png(const char *name, int w, int h)
{
	static const uint8_t sign[] = { 137, 80, 78, 71, 13, 10, 26, 10 };
	uint8_t head[13] = { 0, 0, (uint8_t)(w >> 8), (uint8_t)w, 0, 0, (uint8_t)(h >> 8), (uint8_t)h, 8, 2 };
	uint8_t clear[6] = { 0, 10, 0, 20, 0, 30 };
	size_t row = (size_t)w * 3 + 1, size = row * (size_t)h, n = 2;
	uint8_t *z = malloc(size + size / 60000 * 5 + 16), *raw = calloc(1, size);
	FILE *f = fopen(name, "wb");

	for (size_t i = 0; i < size; i++)
		raw[i] = i % row == 0 ? 0 : (uint8_t)((i % row - 1) % 3 * 10 + 10 + (i / 97 % 2));
	z[0] = 0x78, z[1] = 1;
	for (size_t i = 0; i < size; i += 60000) {
		size_t part = size - i < 60000 ? size - i : 60000;

		z[n++] = part + i == size;
		z[n++] = (uint8_t)part, z[n++] = (uint8_t)(part >> 8);
		z[n++] = (uint8_t)~part, z[n++] = (uint8_t)(~part >> 8);
		memcpy(z + n, raw + i, part);
		n += part;
	}
	memset(z + n, 0, 4);
	fwrite(sign, 1, 8, f);
	chunk(f, "IHDR", head, 13);
	chunk(f, "tRNS", clear, 6);
	chunk(f, "IDAT", z, (uint32_t)n + 4);
	chunk(f, "IEND", head, 0);
	fclose(f);
	free(z);
	free(raw);
}

/* A picture of flat blocks, in which four blocks of luma share one of each colour. */
static void
write_wide_jpeg(const char *name, int w, int h)
{
	static const uint8_t tables[] = { 0xff, 0xc4, 0, 21, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0xff, 0xc4, 0, 20, 0x10,
		1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0 };
	const uint8_t frame[] = { 0xff, 0xc0, 0, 17, 8, (uint8_t)(h >> 8), (uint8_t)h, (uint8_t)(w >> 8), (uint8_t)w, 3, 1, 0x41, 0,
		2, 0x11, 0, 3, 0x11, 0 };
	FILE *f = fopen(name, "wb");
	uint32_t bits = 0;
	int n = 0;

	fwrite("\xff\xd8\xff\xdb\0\x43\0", 1, 7, f);
	for (int i = 0; i < 64; i++)
		fputc(16, f);
	fwrite(frame, 1, sizeof frame, f);
	fwrite(tables, 1, sizeof tables, f);
	/* Each block: the code of 4 bits (10), a difference that the next but five takes back, the end (0). */
	for (int i = 0; i < w / 32 * (h / 8) * 6; i++) {
		bits = bits << 7 | 0x40 | (uint32_t)(i / 6 % 2 ? 8 + i / 12 % 8 : 7 - i / 12 % 8) << 1;
		for (n += 7; n >= 8; n -= 8) {
			fputc((int)(bits >> (n - 8) & 255), f);
			if ((bits >> (n - 8) & 255) == 255)
				fputc(0, f);
		}
	}
	fwrite("\x7f\xff\xd9", 1, 3, f);
	fclose(f);
}

static void
images(void)
{
	static const char *const files[] = { "data/dog.jpg", "data/eagle.jpg", "clear.png", "wide.jpg" };

	write_png("clear.png", 640, 480);
	write_wide_jpeg("wide.jpg", 1280, 640);
	for (int r = 0; r < 12; r++)
		for (int i = 0; i < 4; i++) {
			image im = load_image((char *)files[i], 0, 0, i == 2 ? 4 : 3);

			sum(files[i], im.data, im.w * im.h * im.c);
			free_image(im);
		}
}

static void
layers(void)
{
	network net = { .n = 1, .batch = 4 };
	layer l = make_softmax_layer(4, 1000, 1);
	layer logistic = make_logistic_layer(4, 5000);
	layer wide = make_deconvolutional_layer(1, 16, 16, 32, 32, 4, 2, 1, LEAKY, 0, 0);
	float *bias = numbers(64), *data = numbers(4 * 64 * 26 * 26), *binary = numbers(64 * 288);

	net.input = numbers(20000);
	net.truth = numbers(20000);
	l.temperature = 1;
	for (int i = 0; i < 20000; i++)
		net.truth[i] = net.truth[i] > 0;
	for (int r = 0; r < 20; r++) {
		net.input[r] += 0.25f;
		forward_softmax_layer(l, net);
		forward_logistic_layer(logistic, net);
		bilinear_init(wide);
		add_bias(data, bias, 4, 64, 26 * 26);
		binarize_weights(data + r, 64, 288, binary);
	}
	sum("softmax", l.output, 4000);
	sum("loss", logistic.loss, 20000);
	sum("deconvolution", wide.weights, 32 * 32 * 4 * 4);
	sum("bias", data, 4 * 64 * 26 * 26);
	sum("binary", binary, 64 * 288);
}

static void
more_layers(void)
{
	layer pool = make_avgpool_layer(4, 26, 26, 128);
	network net = { .n = 1, .batch = 4 };
	float *x = numbers(4 * 64 * 26 * 26), *dx = numbers(4 * 64 * 26 * 26);

	net.input = numbers(4 * 128 * 26 * 26);
	for (int r = 0; r < 20; r++) {
		net.input[r] += 0.25f;
		forward_avgpool_layer(pool, net);
		shortcut_cpu(4, 26, 26, 64, net.input, 26, 26, 64, 1, 0.5f, x);
		l2normalize_cpu(x, dx, 4, 64, 26 * 26);
	}
	sum("pool", pool.output, 4 * 128);
	sum("normal", x, 4 * 64 * 26 * 26);
	sum("slope", dx, 4 * 64 * 26 * 26);
}

/* What runs backwards, or joins others. */
static void
rest_of_layers(void)
{
	enum { IN = 4 * 64 * 52 * 52 };
	layer pool = make_maxpool_layer(4, 52, 52, 64, 2, 2, 0), drop = make_dropout_layer(4, 20000, 0.4f), joined, both[2];
	int inputs[] = { 0, 1 }, sizes[] = { 52 * 52 * 16, 52 * 52 * 32 };
	network net = { .n = 2, .batch = 4, .layers = both };
	float *a = numbers(200 * 300), *b = numbers(100 * 300), *c = numbers(200 * 100), *spread = numbers(64), *mean = numbers(64);

	joined = make_route_layer(4, 2, inputs, sizes);
	both[0] = both[1] = joined;
	both[0].output = numbers(4 * sizes[0]);
	both[1].output = numbers(4 * sizes[1]);
	net.input = numbers(IN);
	net.delta = numbers(IN);
	for (int i = 0; i < 80000; i++)
		drop.rand[i] = number((unsigned)i) + 0.5f;
	for (int i = 0; i < 64; i++)
		spread[i] += 1;
	for (int i = 0; i < pool.outputs * 4; i++)
		pool.delta[i] = number((unsigned)i);
	for (int r = 0; r < 20; r++) {
		net.input[r] += 0.25f;
		forward_maxpool_layer(pool, net);
		backward_maxpool_layer(pool, net);
		backward_dropout_layer(drop, net);
		forward_route_layer(joined, net);
		gemm(0, 1, 200, 100, 300, 0.5f, a, 300, b, 300, 1, c, 100);
		mean_delta_cpu(pool.delta, spread, 4, 64, 26 * 26, mean);
	}
	sum("delta", net.delta, IN);
	sum("joined", joined.output, 4 * joined.outputs);
	sum("product", c, 200 * 100);
	sum("mean", mean, 64);
	for (int i = 0; i < 2; i++) {
		both[i].type = REGION;
		both[i].w = both[i].h = 13;
	}
	fprintf(out, "detections %d\n", num_detections(&net, 0.5f));
}

static void
pictures(void)
{
	image im = load_image("data/dog.jpg", 320, 240, 3), mask = make_image(320, 240, 1);
	int runs[400];

	for (int i = 0; i < 400; i++)
		runs[i] = 50 + i % 90;
	for (int r = 0; r < 20; r++) {
		for (int i = 0; i < 3 * 240 * 320; i++)
			im.data[i] += number((unsigned)(i + r)) / 100;
		normalize_image2(im);
		blocky_image(im, 2 + r % 3);
		censor_image(im, 40, 30, 200, 150);
		translate_image(im, 0.01f);
		runs[r]++;
		load_rle(mask, runs, 400);
	}
	sum("picture", im.data, 3 * 240 * 320);
	sum("mask", mask.data, 240 * 320);
}

/* A tree of classes, and searches for the largest and for a number. */
static void
classes(void)
{
	enum { N = 5000, CELLS = 169 };
	float *x = numbers(N * CELLS), *truth = numbers(N), total = 0;
	int *numbered = calloc(N, sizeof *numbered), found = 0;
	FILE *f = fopen("tree.txt", "w");
	tree *t;

	for (int i = 0; i < N; i++)
		fprintf(f, "n%d %d\n", i, i ? (i - 1) / 2 : -1);
	fclose(f);
	t = read_tree("tree.txt");
	for (int i = 0; i < N; i++) {
		x[i * CELLS] += 1;
		numbered[i] = (i * 7) % N;
	}
	for (int i = 0; i < N; i++) {
		total += get_hierarchy_probability(x, t, i, CELLS);
		if (i % 10 == 0)
			found += max_index(x + i, N * 20) + int_index(numbered, i, N);
	}
	for (int r = 0; r < 20; r++) {
		for (int i = 0; i < N; i++)
			truth[i] = (i + r) % 61 ? 0 : 1;
		fill_hierarchy(truth, N, t);
	}
	sum("truth", truth, N);
	fprintf(out, "classes %.5g %d\n", total, found);
}

static void
boxes(void)
{
	detection *dets = calloc(2000, sizeof *dets);

	for (int r = 0; r < 20; r++) {
		for (int i = 0; i < 2000; i++)
			dets[i].bbox = (box){ number((unsigned)i), number((unsigned)i + 1), number((unsigned)i + 2), number((unsigned)i + 3) };
		correct_yolo_boxes(dets, 2000, 640, 424, 416, 416, 1);
	}
	for (int i = 0; i < 2000; i += 100)
		fprintf(out, "box %.5g %.5g\n", dets[i].bbox.x, dets[i].bbox.w);
}

int
main(int argc, char **argv)
{
	out = fopen(argv[argc - 1], "w");
	images();
	layers();
	more_layers();
	rest_of_layers();
	pictures();
	classes();
	boxes();
	return fclose(out);
}
