/* SPDX-License-Identifier: Apache-2.0 */
/* Every element type, times a factor: one thread per element. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

enum { THREADS = 256 };

static __global__ void
elements(const double *x_f64, const float *x_f32, const float *x_tf, const __half *x_f16, const __nv_bfloat16 *x_bf,
    const __nv_fp8_e4m3 *x_e4, const __nv_fp8_e5m2 *x_e5, const int8_t *x_i8, const int32_t *x_i32,
    const int64_t *x_i64, const int32_t *order, double *y_f64, float *y_f32, float *y_tf, __half *y_f16,
    __nv_bfloat16 *y_bf, __nv_fp8_e4m3 *y_e4, __nv_fp8_e5m2 *y_e5, int8_t *y_i8, int32_t *y_i32, int64_t *y_i64,
    float *acc, int64_t *last, int count, int64_t shift, double factor, int one)
{
	int i = blockIdx.x * THREADS + threadIdx.x;

	if (i < 3)
		last[i] = order[i] + shift;
	if (i >= count)
		return;
	y_f64[i] = factor * x_f64[i];
	y_f32[i] = (float)factor * x_f32[i];
	y_tf[i] = (float)factor * x_tf[i];
	y_f16[i] = __float2half((float)factor * __half2float(x_f16[i]));
	y_bf[i] = __float2bfloat16((float)factor * __bfloat162float(x_bf[i]));
	y_e4[i] = __nv_fp8_e4m3((float)factor * (float)x_e4[i]);
	y_e5[i] = __nv_fp8_e5m2((float)factor * (float)x_e5[i]);
	y_i8[i] = (int8_t)(x_i8[i] / 2 * one);
	y_i32[i] = 2 * x_i32[i] * one;
	y_i64[i] = 2 * x_i64[i] * one;
	acc[i] += x_f32[i];
}

extern "C" void
types(const double *x_f64, const float *x_f32, const float *x_tf, const __half *x_f16, const __nv_bfloat16 *x_bf,
    const __nv_fp8_e4m3 *x_e4, const __nv_fp8_e5m2 *x_e5, const int8_t *x_i8, const int32_t *x_i32,
    const int64_t *x_i64, const int32_t *order, double *y_f64, float *y_f32, float *y_tf, __half *y_f16,
    __nv_bfloat16 *y_bf, __nv_fp8_e4m3 *y_e4, __nv_fp8_e5m2 *y_e5, int8_t *y_i8, int32_t *y_i32, int64_t *y_i64,
    float *acc, int64_t *last, int count, int64_t shift, double factor, int one, cudaStream_t stream)
{
	elements<<<(count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(x_f64, x_f32, x_tf, x_f16, x_bf, x_e4, x_e5,
	    x_i8, x_i32, x_i64, order, y_f64, y_f32, y_tf, y_f16, y_bf, y_e4, y_e5, y_i8, y_i32, y_i64, acc, last,
	    count, shift, factor, one);
}
