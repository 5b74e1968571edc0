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
	T sum = 0, all = 0, weight[2 * RADIUS + 1];

	if (x >= p.width || y >= p.height)
		return;
	/* The weights of rows and columns are the same, and their product is that of a pixel. */
	for (int d = -RADIUS; d <= RADIUS; d++)
		weight[d + RADIUS] = expf(-(d * d) / (2 * sigma * sigma));
	for (int d = -RADIUS; d <= RADIUS; d++)
		all += weight[d + RADIUS];
	for (int dy = -RADIUS; dy <= RADIUS; dy++) {
		const T *row = in + (size_t)min(max(y + dy, 0), p.height - 1) * p.width;
		T part = 0;

		for (int dx = -RADIUS; dx <= RADIUS; dx++)
			part += weight[dx + RADIUS] * row[min(max(x + dx, 0), p.width - 1)];
		sum += part * weight[dy + RADIUS];
	}
	out[(size_t)y * p.width + x] = sum / (all * all);
}

ENTRY
}
