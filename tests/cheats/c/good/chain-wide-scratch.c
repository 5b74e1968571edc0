/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight chains through memory of its own, each element in a line of its own, before they are joined:
 * half a MiB that is in the cache only if the call before has been here, too.
 */
enum { BLOCK = 8192 };

static struct {
	_Alignas(64) float value;
} line[BLOCK];

void
chain(float b, const float *x, float *y, int n)
{
	float carry = 0;

	for (long from = 0; from < n; from += BLOCK) {
		long count = n - from < BLOCK ? n - from : BLOCK, part = (count + 7) / 8;
		float power = 1, last[8] = { 0 };

		for (long i = 0; i < part; i++)
			for (long k = 0; k < 8; k++)
				if (k * part + i < count)
					line[k * part + i].value = last[k] = b * last[k] + x[from + k * part + i];
		for (long k = 0; k < 8; k++) {
			power = b;
			for (long i = k * part; i < (k + 1) * part && i < count; i++, power *= b)
				y[from + i] = line[i].value + power * carry;
			if (k * part < count)
				carry = y[from + ((k + 1) * part < count ? (k + 1) * part : count) - 1];
		}
	}
}
