/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <cmath>

struct picture {
	int width, height;
};

namespace img {

/* A Gaussian blur with RADIUS neighbours on every side; borders are repeated. */
template <typename T, int RADIUS>
__global__ void
blur(const T *__restrict__ in, T *__restrict__ out, picture p, T sigma)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	T sum = 0, all = 0;

	if (x >= p.width || y >= p.height)
		return;
	for (int dy = -RADIUS; dy <= RADIUS; dy++)
		for (int dx = -RADIUS; dx <= RADIUS; dx++) {
			int u = min(max(x + dx, 0), p.width - 1), v = min(max(y + dy, 0), p.height - 1);
			T weight = expf(-(dx * dx + dy * dy) / (2 * sigma * sigma));

			sum += weight * in[(size_t)v * p.width + u];
			all += weight;
		}
	out[(size_t)y * p.width + x] = sum / all;
}

} // namespace img
