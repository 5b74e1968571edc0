/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcudart, for machines without a GPU: memory is the host's, and no kernel ever runs. A launch changes one
 * byte of what its second parameter points to, so that writing can be told from reading. Events are half a millisecond
 * apart. Only what tests/apps/mosaic needs and kwatch uses is here.
 */
#include <stdlib.h>
#include <string.h>

struct dim3 {
	unsigned x, y, z;
};

enum { BLOCKS = 64 };

static struct {
	char *at;
	size_t bytes;
} blocks[BLOCKS];
static struct dim3 pushed_grid, pushed_block;
static size_t pushed_shared;
static void *pushed_stream;

int
cudaMalloc(void **to, size_t bytes)
{
	for (int i = 0; i < BLOCKS; i++)
		if (!blocks[i].at) {
			*to = blocks[i].at = calloc(1, bytes);
			blocks[i].bytes = bytes;
			return blocks[i].at ? 0 : 2;
		}
	return 2;
}

int
cudaFree(void *at)
{
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at == at)
			blocks[i].at = NULL;
	free(at);
	return 0;
}

static int
launch(void **args)
{
	char *second;

	memcpy(&second, args[1], sizeof second);
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at && second == blocks[i].at)
			second[0]++;
	return 0;
}

int
cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream)
{
	(void)f, (void)grid, (void)block, (void)shared, (void)stream;
	return launch(args);
}

int
__cudaLaunchKernel(void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream)
{
	return cudaLaunchKernel(f, grid, block, args, shared, stream);
}

int
__cudaGetKernel(void **kernel, const void *function)
{
	*kernel = (char *)function + 1;
	return 0;
}

unsigned
__cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
	pushed_grid = grid;
	pushed_block = block;
	pushed_shared = shared;
	pushed_stream = stream;
	return 0;
}

int
__cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream)
{
	*grid = pushed_grid;
	*block = pushed_block;
	*shared = pushed_shared;
	*stream = pushed_stream;
	return 0;
}

int
cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	(void)kind;
	memcpy(to, from, bytes);
	return 0;
}

int
cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	(void)stream;
	return cudaMemcpy(to, from, bytes, kind);
}

int
cudaEventElapsedTime(float *ms, void *from, void *to)
{
	(void)from, (void)to;
	*ms = 0.5f;
	return 0;
}

int
cudaEventCreate(void **event)
{
	*event = malloc(1);
	return 0;
}

int
cudaStreamCreate(void **stream)
{
	return cudaEventCreate(stream);
}

const char *
cudaGetErrorString(int error)
{
	return error ? "an error of the stand-in" : "none";
}

void **
__cudaRegisterFatBinary(void *binary)
{
	return binary;
}

#define NOTHING(type, name, parameters, result) type name parameters { result; }
NOTHING(int, cudaGetLastError, (void), return 0)
NOTHING(int, cudaStreamDestroy, (void *s), (void)s; return 0)
NOTHING(int, cudaStreamSynchronize, (void *s), (void)s; return 0)
NOTHING(int, cudaEventRecord, (void *e, void *s), (void)e; (void)s; return 0)
NOTHING(int, cudaEventSynchronize, (void *e), (void)e; return 0)
NOTHING(void, __cudaRegisterFatBinaryEnd, (void **m), (void)m)
NOTHING(void, __cudaUnregisterFatBinary, (void **m), (void)m)
NOTHING(void, __cudaRegisterFunction, (void **m, const char *h, char *d, const char *n, int l, void *a, void *b, void *c,
    void *e, int *w), (void)m; (void)h; (void)d; (void)n; (void)l; (void)a; (void)b; (void)c; (void)e; (void)w)
