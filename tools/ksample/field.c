/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: the value of steps between cells, estimated from recorded steps. The logarithms of speed
 * over the cells are modelled as a Gaussian field; every step from one cell to another has measured
 * a difference, with the noise that steps in place have shown. Cells with similar levels are
 * similar, so a step that was never taken is judged by those near it, with an uncertainty that
 * grows with the distance from all of them.
 */

#include "ksample.h"

/* The expected change by one level before anything is known: a variance, and its weight. */
static const double first_scale = 0.3, first_noise = 0.09;
enum { FIRST_SCALE = 6, FIRST_NOISE = 4 };

/* Similarity of two cells: half from each dimension separately, half from all of them together. */
static double
likeness(int a, int b)
{
	/*
	 * exp(-d^2 / (2 * 1.2^2)): cells one level apart are very similar, three levels apart not.
	 */
	static const double alike[KARCH_LEVEL + 1] = { 1, 0.70665, 0.24935, 0.04394 };
	double sum = 0, product = 1;

	for (int d = 0; d < KARCH_DIMS; d++) {
		double one = alike[abs(karch_level(a, d) - karch_level(b, d))];

		sum += one;
		product *= one;
	}
	return 0.125 * sum + 0.25 * product;
}

/* The prior covariance of two differences for a scale of 1. */
static double
covariance(int from, int to, int from2, int to2)
{
	return likeness(to, to2) - likeness(to, from2) - likeness(from, to2) +
	    likeness(from, from2);
}

static void
add_pair(struct field *f, int from, int to, const json_t *deltas)
{
	size_t n = json_array_size(deltas);
	double sum = 0;

	kjson_foreach(one, deltas) {
		double delta = json_number_value(one);

		sum += delta;
		f->noise += from == to ? delta * delta : 0;
	}
	if (from == to)
		f->in_place += (double)n;
	else if (n && f->pairs < FIELD_PAIRS)
		f->pair[f->pairs++] = (struct pair){ from, to, (double)n, sum / (double)n };
}

void
field_add(struct field *f, int from, const json_t *directions)
{
	kjson_foreach(direction, directions) {
		const json_t *one = direction, *step = json_object_get(one, "direction");
		int to = from;

		for (int d = 0; d < KARCH_DIMS; d++) {
			int level = karch_level(from, d) +
			    (int)json_integer_value(json_array_get(step, (size_t)d));

			to = level < 0 || level > KARCH_LEVEL ? to : karch_with(to, d, level);
		}
		add_pair(f, from, to, json_object_get(one, "deltas"));
		f->tried[from][to] = kjson_num(one, "samples");
		f->failed[from][to] = kjson_num(one, "failures");
	}
}

/* The scale that explains the spread of the measured differences beyond the noise. */
static double
scale_of(const struct field *f)
{
	double sum = first_scale * FIRST_SCALE;

	kforeach_of(p, f->pair, f->pairs) {
		sum += (p->mean * p->mean - f->noise / p->n) /
		    covariance(p->from, p->to, p->from, p->to);
	}
	return fmax(0.02, sum / (FIRST_SCALE + (double)f->pairs));
}

/* The triangle L of the covariance of the pairs, L L' = K + noise, and L^-1 of their means. */
void
field_fit(struct field *f)
{
	f->noise = (f->noise + first_noise * FIRST_NOISE) / (f->in_place + FIRST_NOISE);
	f->scale = scale_of(f);
	for (size_t i = 0; i < f->pairs; i++) {
		const struct pair *p = &f->pair[i];
		double mean = p->mean, *row = f->triangle[i];

		for (size_t j = 0; j <= i; j++) {
			const struct pair *q = &f->pair[j];
			double sum = f->scale * covariance(p->from, p->to, q->from, q->to) +
			    (i == j ? f->noise / p->n : 0);

			for (size_t k = 0; k < j; k++)
				sum -= row[k] * f->triangle[j][k];
			row[j] = i == j ? sqrt(fmax(sum, 1e-9)) : sum / f->triangle[j][j];
		}
		for (size_t k = 0; k < i; k++)
			mean -= row[k] * f->solved[k];
		f->solved[i] = mean / row[i];
	}
}

void
field_step(const struct field *f, int from, int to, double *mean, double *sd)
{
	double variance = f->scale * covariance(from, to, from, to), v[FIELD_PAIRS];

	*mean = 0;
	for (size_t i = 0; i < f->pairs; i++) {
		double sum = f->scale * covariance(from, to, f->pair[i].from, f->pair[i].to);

		for (size_t k = 0; k < i; k++)
			sum -= f->triangle[i][k] * v[k];
		v[i] = sum / f->triangle[i][i];
		*mean += v[i] * f->solved[i];
		variance -= v[i] * v[i];
	}
	*sd = sqrt(fmax(variance, 1e-9));
}
