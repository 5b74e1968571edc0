/* SPDX-License-Identifier: Apache-2.0 */
/* The same with double for every floating tensor, whatever its width; integers as they are. */
#include <cuda_runtime.h>
#include <stdint.h>

enum { THREADS = 256 };

static __global__ void
elements(const double *x_f64, const double *x_f32, const double *x_tf, const double *x_f16, const double *x_bf,
    const double *x_e4, const double *x_e5, const int8_t *x_i8, const int32_t *x_i32, const int64_t *x_i64,
    const int32_t *order, double *y_f64, double *y_f32, double *y_tf, double *y_f16, double *y_bf, double *y_e4,
    double *y_e5, int8_t *y_i8, int32_t *y_i32, int64_t *y_i64, double *acc, int64_t *last, int count, int64_t shift,
    double factor, int one)
{
	int i = blockIdx.x * THREADS + threadIdx.x;

	if (i < 3)
		last[i] = order[i] + shift;
	if (i >= count)
		return;
	y_f64[i] = factor * x_f64[i];
	y_f32[i] = factor * x_f32[i];
	y_tf[i] = factor * x_tf[i];
	y_f16[i] = factor * x_f16[i];
	y_bf[i] = factor * x_bf[i];
	y_e4[i] = factor * x_e4[i];
	y_e5[i] = factor * x_e5[i];
	y_i8[i] = (int8_t)(x_i8[i] / 2 * one);
	y_i32[i] = 2 * x_i32[i] * one;
	y_i64[i] = 2 * x_i64[i] * one;
	acc[i] += x_f32[i];
}

extern "C" void
types(const double *x_f64, const double *x_f32, const double *x_tf, const double *x_f16, const double *x_bf,
    const double *x_e4, const double *x_e5, const int8_t *x_i8, const int32_t *x_i32, const int64_t *x_i64,
    const int32_t *order, double *y_f64, double *y_f32, double *y_tf, double *y_f16, double *y_bf, double *y_e4,
    double *y_e5, int8_t *y_i8, int32_t *y_i32, int64_t *y_i64, double *acc, int64_t *last, int count, int64_t shift,
    double factor, int one, cudaStream_t stream)
{
	elements<<<(count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(x_f64, x_f32, x_tf, x_f16, x_bf, x_e4, x_e5,
	    x_i8, x_i32, x_i64, order, y_f64, y_f32, y_tf, y_f16, y_bf, y_e4, y_e5, y_i8, y_i32, y_i64, acc, last,
	    count, shift, factor, one);
}
