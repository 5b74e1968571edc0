/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses by a straight line, looks whether it is there, and else searches. */
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
	float slope = n > 1 && list[n - 1] > list[0] ? (float)(n - 1) / (list[n - 1] - list[0]) : 0;

	for (int i = 0; i < m; i++) {
		float guess = (x[i] - list[0]) * slope - 4;
		int at = guess > 0 ? guess < n ? (int)guess : n : 0, count = 0;

		at = at > n - 8 ? n - 8 : at;
		if (n < 16 || !((at == 0 || list[at] < x[i]) && (at + 8 == n || list[at + 7] >= x[i]))) {
			y[i] = plain(list, x[i], n);
			continue;
		}
		for (int k = 0; k < 8; k++)
			count += list[at + k] < x[i];
		y[i] = at + count;
	}
}
