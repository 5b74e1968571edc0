/* SPDX-License-Identifier: Apache-2.0 */
/* A taskgroup with a reduction over tasks for stretches of a row. */
void
row_sum(const float *x, float *y, int rows, int cols)
{
	#pragma omp parallel num_threads(2)
	#pragma omp single
	for (long i = 0; i < rows; i++) {
		double sum = 0;

		#pragma omp taskgroup task_reduction(+ : sum)
		for (long from = 0; from < cols; from += 8192) {
			long to = from + 8192 < cols ? from + 8192 : cols;

			#pragma omp task in_reduction(+ : sum) firstprivate(from, to)
			{
				double part = 0;

				for (long j = from; j < to; j++)
					part += x[i * cols + j];
				sum += part;
			}
		}
		y[i] = (float)sum;
	}
}
