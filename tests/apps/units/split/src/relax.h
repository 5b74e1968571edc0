/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* One step of a relaxation; in relax.cu. */
__global__ void relax(float *x, const float *target, int n, float rate);
