/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of every row, the way the definition reads: maximum, sum of exponentials, division; one work-item a row. */
// kiln: launch kernel=softmax grid=rows block=1
__kernel void
softmax(__global const float *x, __global float *y, int rows, int cols)
{
	size_t row = get_global_id(0);
	__global const float *in = x + row * cols;
	__global float *out = y + row * cols;
	float max = in[0], sum = 0, lost = 0;

	for (int j = 1; j < cols; j++)
		max = fmax(max, in[j]);
	/* Compensated (Kahan): of up to a million terms, a plain sum would lose three digits. */
	for (int j = 0; j < cols; j++) {
		float term = exp(in[j] - max) - lost, next = sum + term;

		lost = (next - sum) - term;
		sum = next;
	}
	for (int j = 0; j < cols; j++)
		out[j] = exp(in[j] - max) / sum;
}
