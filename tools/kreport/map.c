/* SPDX-License-Identifier: Apache-2.0 */
/* The archive: which combinations of techniques were tried, and how fast the best of each is. See kreport.h. */
#include <math.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"
#include "status.h"

enum { SIDE = 16, CELL = 26, LEFT = 54, TOP = 14 };

/*
 * Memory and compute are the coarse axes, parallelism and SIMD the fine ones inside them; high levels to the top right.
 */
static int
column_of(int cell)
{
	return 4 * karch_level(cell, 1) + karch_level(cell, 3);
}

static int
row_of(int cell)
{
	return SIDE - 1 - (4 * karch_level(cell, 0) + karch_level(cell, 2));
}

static double
left_of(int column)
{
	return LEFT + CELL * column + 2 * (column / 4);
}

static double
top_of(int row)
{
	return TOP + CELL * row + 2 * (row / 4);
}

static void
put_levels(struct plot *p)
{
	for (int i = 0; i < SIDE; i++) {
		plot_text(p, left_of(i) + CELL / 2.0, top_of(SIDE - 1) + CELL + 14, "mid tiny", "%d", i % 4);
		plot_text(p, LEFT - 6, top_of(i) + CELL / 2.0 + 4, "end tiny", "%d", 3 - i % 4);
	}
	for (int i = 0; i < 4; i++) {
		plot_text(p, left_of(4 * i + 2), top_of(SIDE - 1) + CELL + 30, "mid", "compute %d", i);
		plot_svg(p, "<g transform=\"translate(24 %.1f) rotate(-90)\"><text class=\"mid\">memory %d</text></g>",
		    top_of(4 * i + 2), 3 - i);
	}
	plot_text(p, LEFT, top_of(SIDE - 1) + CELL + 48, "axis", "small digits: SIMD across, parallelism up");
}

/* One of four shades by the logarithm of the speed-up; the best in full. */
static const char *
shade_of(const struct karch_row *row, double best)
{
	double part;

	if (row->status != STATUS_CORRECT)
		return "broken";
	if (!(row->speedup > 1) || !(best > 1))
		return "c0";
	part = log(row->speedup) / log(best);
	return part >= 0.97 ? "c3" : part >= 0.66 ? "c2" : part >= 0.33 ? "c1" : "c0";
}

static void
put_elite(struct plot *p, const struct karch_row *row, double best, bool is_best)
{
	double x = left_of(column_of(row->cell)), y = top_of(row_of(row->cell));
	char cell[KARCH_DIMS + 1];
	const char *shade = shade_of(row, best);

	karch_cell_text(row->cell, cell);
	plot_mark_begin(p, "%s in cell %s: %s%s%s, score %.4g%s", row->id, cell,
	    row->status == STATUS_CORRECT ? show_times(row->speedup) :
	    status_rows[row->status].name,
	    *row->strategy ? ", by " : "", row->strategy, row->score, is_best ? ", the best" : "");
	plot_svg(p, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"cell %s%s\"/>", x, y, CELL, CELL,
	    shade, is_best ? " crown" : "");
	if (!strcmp(row->id, KARCH_REFERENCE))
		plot_text(p, x + CELL / 2.0, y + CELL / 2.0 + 4, "mid tiny on-c0", "ref");
	else if (row->status == STATUS_CORRECT && row->speedup > 0)
		plot_text(p, x + CELL / 2.0, y + CELL / 2.0 + 4, strcmp(shade, "c2") && strcmp(shade, "c3") ?
		    "mid tiny on-c0" : "mid tiny on-c3", "%.*f", row->speedup >= 100 ? 0 : row->speedup >= 10 ? 1 : 2,
		    row->speedup);
	else
		plot_text(p, x + CELL / 2.0, y + CELL / 2.0 + 4, "mid tiny on-c0", "%s",
		    row->status == STATUS_CORRECT ? "+" : "×");
	plot_mark_end(p);
}

static void
put_table(struct doc *d, const struct report *r, const struct karch_row **list, size_t n)
{
	if (n > 12)
		doc_details(d, "All %zu elites", n);
	doc_table(d, "Elites, the highest score first", "Candidate|Cell|Status|>Speed-up|>Time|>Score|Strategy|Parent");
	for (size_t i = 0; i < n; i++) {
		const struct kcandidate *c = find_candidate(r, list[i]->id);
		char cell[KARCH_DIMS + 1];

		karch_cell_text(list[i]->cell, cell);
		doc_cell(d, "\1%s\1", list[i]->id);
		doc_cell(d, "%s", cell);
		doc_cell(d, "%s", status_rows[list[i]->status].name);
		doc_cell(d, "%s", c ? show_speedup(c) : show_times(list[i]->speedup));
		doc_cell(d, "%s", show_time(list[i]->runtime_ms * 1e6));
		doc_cell(d, "%.4g", list[i]->score);
		doc_cell(d, "%s", *list[i]->strategy ? list[i]->strategy : "–");
		doc_cell(d, "%s", *list[i]->parent ? list[i]->parent : "–");
	}
	doc_table_end(d);
	if (n > 12)
		doc_details_end(d);
}

void
put_map(struct doc *d, const struct report *r)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(&r->archive, list), correct = 0;
	struct plot p;

	for (size_t i = 0; i < n; i++)
		correct += list[i]->status == STATUS_CORRECT;
	doc_section(d, "archive", "Archive");
	doc_text(d, "The levels of memory, compute, parallelism and explicit SIMD that a program shows name its cell; "
	    "each of the %d keeps the best program seen there. %zu are occupied, %zu of them by correct programs.",
	    KARCH_CELLS, n, correct);
	plot_begin(&p, "map", 490, 500, "Map of the archive", "A grid of 16 by 16 cells, memory upward and compute to "
	    "the right, each split by parallelism and SIMD. %zu cells are occupied.", n);
	for (int row = 0; row < SIDE; row++)
		for (int column = 0; column < SIDE; column++)
			plot_svg(&p, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"cell\"/>",
			    left_of(column), top_of(row), CELL, CELL);
	for (size_t i = n; i--;)
		put_elite(&p, list[i], r->best ? r->best->speedup.mean : 1, r->best && !strcmp(list[i]->id, r->best->id));
	put_levels(&p);
	doc_figure(d, plot_end(&p), "Speed-up of the best program of each cell; the stronger the colour, the faster; × "
	    "is broken, ref the reference. The framed one is the best.");
	put_table(d, r, list, n);
}
