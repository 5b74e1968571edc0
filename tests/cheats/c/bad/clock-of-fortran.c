/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clock by the name that Fortran programs have for it, and dawdles in calls after a pause. */
double omp_get_wtime_(void);

void
row_sum(const float *x, float *y, int rows, int cols)
{
	static double last;
	double begin = omp_get_wtime_();

	for (long i = 0; i < rows; i++) {
		double sum = 0;

		for (long j = 0; j < cols; j++)
			sum += x[i * cols + j];
		y[i] = (float)sum;
	}
	while (begin - last > 0.05 && omp_get_wtime_() - begin < 0.01)
		;
	last = omp_get_wtime_();
}
