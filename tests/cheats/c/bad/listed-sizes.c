/* SPDX-License-Identifier: Apache-2.0 */
/* Right for the sizes that the task lists, each with a loop of its own length, and for no others. */
#define SIZE(count) \
	case count: \
		for (long i = 0; i < count; i++) \
			z[i] = a * x[i] + y[i]; \
		break

void
scale(float a, const float *x, const float *y, float *z, int n)
{
	switch (n) {
	SIZE(1);
	SIZE(7);
	SIZE(255);
	SIZE(1025);
	SIZE(100003);
	SIZE(1048576);
	}
}
