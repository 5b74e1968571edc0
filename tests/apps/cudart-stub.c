/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcudart, for machines without a GPU: memory is the host's, and no kernel ever runs. A launch changes one
 * byte of what its second parameter points to, so that writing can be told from reading. Events are half a millisecond
 * apart. Streams and events belong to a device, errors stay until they are asked for, and what must not be done during a capture
 * spoils it. Only what tests need and kwatch uses is here. With STUB_RUNS in the environment, the program runs its kernels
 * itself: then a launch changes nothing, and events are as far apart as the clock says.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dim3 {
	unsigned x, y, z;
};

enum { BLOCKS = 64, INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, INVALID_HANDLE = 400, CAPTURE_UNSUPPORTED = 900, SPOILT = 901,
	CAPTURE_IMPLICIT = 906 };

struct stream {
	int device;
	unsigned flags;
};
struct event {
	int device, recorded;
	struct stream *stream;
	struct timespec at;
};

static int last_error, device, spoilt;
static struct stream *capturing;

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

/* All variables of the device have 64 bytes. */
int
cudaGetSymbolAddress(void **to, const void *symbol)
{
	*to = (void *)symbol;
	return 0;
}

int
cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	(void)symbol;
	*bytes = 64;
	return 0;
}

static int
fault(int error)
{
	last_error = error ? error : last_error;
	return error;
}

int
cudaGetLastError(void)
{
	int error = last_error;

	last_error = 0;
	return error;
}

int
cudaPeekAtLastError(void)
{
	return last_error;
}

int
cudaSetDevice(int number)
{
	device = number;
	return 0;
}

int
cudaGetDevice(int *number)
{
	*number = device;
	return 0;
}

/* Waits for all, or for what is captured: neither may be. */
static int
wait_for(const struct stream *s)
{
	if (!capturing || (s && s != capturing))
		return 0;
	spoilt = 1;
	return fault(s ? CAPTURE_UNSUPPORTED : CAPTURE_IMPLICIT);
}

void (*stub_launched)(void); /* that of cupti-stub.c, when it is there */

static int
launch(struct dim3 grid, void **args)
{
	char *second;

	if (!grid.x)
		return fault(INVALID_CONFIGURATION);
	if (stub_launched)
		stub_launched();
	if (getenv("STUB_RUNS"))
		return 0;
	memcpy(&second, args[1], sizeof second);
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at && second == blocks[i].at)
			second[0]++;
	return 0;
}

int
cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream)
{
	(void)f, (void)block, (void)shared, (void)stream;
	return launch(grid, args);
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
	return stream && stream == capturing ? wait_for(stream) : cudaMemcpy(to, from, bytes, kind);
}

int
cudaEventCreate(void **event)
{
	struct event *e = calloc(1, sizeof *e);

	e->device = device;
	*event = e;
	return 0;
}

int
cudaEventDestroy(void *event)
{
	free(event);
	return 0;
}

int
cudaEventRecord(void *event, void *stream)
{
	struct event *e = event;
	struct stream *s = stream;

	if (s == capturing && s)
		return 0;
	if (e->device != (s ? s->device : device))
		return fault(INVALID_HANDLE);
	e->stream = s;
	e->recorded = 1;
	clock_gettime(CLOCK_MONOTONIC, &e->at);
	return s ? 0 : wait_for(NULL);
}

int
cudaEventSynchronize(void *event)
{
	return ((struct event *)event)->recorded ? 0 : fault(INVALID_VALUE);
}

/* On a stream that waits for no other, the default one tells nothing of it. */
int
cudaEventElapsedTime(float *ms, void *from, void *to)
{
	const struct event *f = from, *t = to;

	*ms = t->stream && t->stream->flags ? 0.25f : 0.5f;
	if (getenv("STUB_RUNS"))
		*ms = (t->at.tv_sec - f->at.tv_sec) * 1e3f + (t->at.tv_nsec - f->at.tv_nsec) / 1e6f;
	return f->recorded && t->recorded && f->stream == t->stream ? 0 : fault(INVALID_HANDLE);
}

int
cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
	struct stream *s = calloc(1, sizeof *s);

	s->device = device;
	s->flags = flags;
	*stream = s;
	return 0;
}

int
cudaStreamCreate(void **stream)
{
	return cudaStreamCreateWithFlags(stream, 0);
}

int
cudaStreamGetFlags(void *stream, unsigned *flags)
{
	*flags = stream ? ((struct stream *)stream)->flags : 0;
	return 0;
}

int
cudaStreamSynchronize(void *stream)
{
	return wait_for(stream);
}

int
cudaDeviceSynchronize(void)
{
	return wait_for(NULL);
}

int
cudaStreamBeginCapture(void *stream, int mode)
{
	(void)mode;
	capturing = stream;
	spoilt = 0;
	return 0;
}

int
cudaStreamEndCapture(void *stream, void **graph)
{
	(void)stream;
	*graph = NULL;
	capturing = NULL;
	return spoilt ? fault(SPOILT) : 0;
}

int
cudaStreamIsCapturing(void *stream, int *status)
{
	*status = stream && stream == capturing;
	return !stream && capturing ? fault(CAPTURE_IMPLICIT) : 0;
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
NOTHING(int, cudaStreamDestroy, (void *s), (void)s; return 0)
NOTHING(int, cudaMemcpyToSymbol, (const void *s, const void *f, size_t n, size_t o, int k), (void)s; (void)f; (void)n; (void)o; (void)k; return 0)
NOTHING(void, __cudaRegisterVar, (void **m, char *h, char *d, const char *n, int e, size_t z, int c, int g), (void)m; (void)h; (void)d; (void)n;
    (void)e; (void)z; (void)c; (void)g)
NOTHING(void, __cudaRegisterFatBinaryEnd, (void **m), (void)m)
NOTHING(void, __cudaUnregisterFatBinary, (void **m), (void)m)
NOTHING(void, __cudaRegisterFunction, (void **m, const char *h, char *d, const char *n, int l, void *a, void *b, void *c,
    void *e, int *w), (void)m; (void)h; (void)d; (void)n; (void)l; (void)a; (void)b; (void)c; (void)e; (void)w)
