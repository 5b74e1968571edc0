/* SPDX-License-Identifier: Apache-2.0 */
/* points: points are pulled to a centre; all in one file. */
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>

struct point {
	float x, y, z, mass;
};
struct centre {
	float x, y, z, pull;
};

/* Every point moves by the pull of the centre, which falls with the cube of the distance. */
__global__ void
pull(point *points, int n, centre c)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	for (int k = 0; k < 16; k++) {
		float dx = c.x - points[i].x, dy = c.y - points[i].y, dz = c.z - points[i].z;
		double far = pow((double)(dx * dx + dy * dy + dz * dz) + 0.01, 1.5);

		points[i].x += (float)(c.pull * points[i].mass * dx / far);
		points[i].y += (float)(c.pull * points[i].mass * dy / far);
		points[i].z += (float)(c.pull * points[i].mass * dz / far);
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000000, threads = 128;
	std::vector<point> host(n);
	point *points;
	centre c = { 0.5f, 0.5f, 0.5f, 0.001f };
	FILE *f = fopen("out.txt", "w");

	for (int i = 0; i < n; i++)
		host[i] = { (float)(i % 11) / 8, (float)(i % 7) / 8, (float)(i % 5) / 8, 1.0f };
	cudaMalloc((void **)&points, n * sizeof(point));
	cudaMemcpy(points, host.data(), n * sizeof(point), cudaMemcpyHostToDevice);
	for (int r = 0; r < 10; r++)
		pull<<<(n + threads - 1) / threads, threads>>>(points, n, c);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	cudaMemcpy(host.data(), points, n * sizeof(point), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i += 1 + n / 5000)
		fprintf(f, "%.4f %.4f %.4f\n", host[i].x, host[i].y, host[i].z);
	return fclose(f);
}
