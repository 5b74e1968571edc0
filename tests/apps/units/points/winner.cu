#include <cmath>

struct point {
	float x, y, z, mass;
};
struct centre {
	float x, y, z, pull;
};

__global__ void
pull(point *points, int n, centre c)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	point p = points[i];
	for (int k = 0; k < 16; k++) {
		float dx = c.x - p.x, dy = c.y - p.y, dz = c.z - p.z, near = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
		float by = c.pull * p.mass * near * near * near;

		p.x += by * dx;
		p.y += by * dy;
		p.z += by * dz;
	}
	points[i] = p;
}

ENTRY
