/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: views of an archive: best, top, the map of cells, the lineage of a candidate, and
 * counts.
 */
#include <math.h>

#include "karchive.h"
#include "kio.h"
#include "ktrials.h"
#include "status.h"

enum { MAX_LINEAGE = 1000000 };

static void
put_text(struct kbuf *b)
{
	if (b->len)
		kout_line(b->data, b->len - (b->data[b->len - 1] == '\n'));
	kbuf_free(b);
}

/* Three characters: "1.3", "28", "311", "12k". */
static void
short_figure(char text[8], double v)
{
	snprintf(text, 8,
	    v < 9.95        ? "%.1f"
	        : v < 999.5 ? "%.0f"
	                    : "%.0fk",
	    v < 999.5 ? v : fmin(v / 1000, 99));
}

static json_t *
row_json(const struct karch_row *row)
{
	char cell[KARCH_DIMS + 1];
	struct kgain_ratio speedup = karch_speedup(row);
	json_t *o;

	karch_cell_text(row->cell, cell);
	o = json_pack("{s:s,s:s,s:f,s:s,s:o*,s:o*,s:s*,s:s*}", "id", row->id, "cell", cell, "score",
	    row->score, "status", status_rows[row->status].name, "provisional",
	    row->provisional ? json_true() : NULL, "runtime_ms",
	    row->runtime_ms > 0 ? json_real(row->runtime_ms) : NULL, "parent",
	    *row->parent ? row->parent : NULL, "strategy", *row->strategy ? row->strategy : NULL);
	if (speedup.n)
		kgain_put_speedup(o, &speedup);
	return o;
}

static void
heading(const struct view_options *o)
{
	static const char line[] = "id        speed-up  interval            time ms     score  "
	                           "cell  status         parent   strategy";

	if (!o->json)
		kout_line(line, sizeof line - 1);
}

/* "16.4x  16.1 to 16.7", with a question mark if it is provisional, and the time. */
static void
put_speedup(const struct karch_row *row, struct kbuf *b)
{
	struct kgain_ratio r = karch_speedup(row);
	char interval[64] = "-";

	if (r.n && r.low > 0 && isfinite(r.high) && r.low < r.high)
		snprintf(interval, sizeof interval, "%.3g to %.3g%s", r.low, r.high,
		    row->provisional ? "?" : "");
	if (r.n)
		kbuf_printf(b, "%8.*fx  %-17s %9.4g", r.mean < 99.5 ? 2 : 0, r.mean, interval,
		    row->runtime_ms);
	else
		kbuf_printf(b, "%9s  %-17s %9s", "-", "-", "-");
}

static void
put_row(const struct karch_row *row, const struct view_options *o)
{
	struct kbuf b = { 0 };
	char cell[KARCH_DIMS + 1];
	json_t *json;

	if (o->json) {
		json = row_json(row);
		kout_json(json);
		json_decref(json);
		return;
	}
	karch_cell_text(row->cell, cell);
	kbuf_printf(&b, "%-8s ", row->id);
	put_speedup(row, &b);
	kbuf_printf(&b, " %9.2f  %s  %-13s  %-7s  %s", row->score, cell,
	    status_rows[row->status].name, *row->parent ? row->parent : "-",
	    *row->strategy ? row->strategy : "-");
	put_text(&b);
}

/* The best N rows: elites and programs are both sorted, so this is a merge. */
static int
show_top(const struct karch *a, const struct view_options *o, size_t n)
{
	const struct karch_row *elites[KARCH_CELLS];
	size_t count = karch_ranked(a, elites), e = 0, p = 0;

	if (!count && !a->programs)
		return K_NO;
	heading(o);
	while (n-- && (e < count || p < a->programs)) {
		bool elite =
		    p == a->programs || (e < count && elites[e]->score >= a->program[p]->score);

		put_row(elite ? elites[e++] : a->program[p++], o);
	}
	return K_OK;
}

static int
show_best(const struct karch *a, const struct view_options *o)
{
	struct karch_row best;
	const struct karch_row *row;

	if (!karch_best(a, &best))
		return K_NO;
	row = find_row(a, best.id);
	heading(o);
	put_row(row ? row : &best, o);
	return K_OK;
}

/* One cell of the map: a speed-up, 'x' for a broken elite, '+' for a correct one without a time. */
static void
put_cell(struct kbuf *b, const struct karch_row *row)
{
	char text[8] = ".";

	if (row && !strcmp(row->id, KARCH_REFERENCE))
		strcpy(text, "ref");
	else if (row && row->status == STATUS_CORRECT && row->speedup > 0)
		short_figure(text, row->speedup);
	else if (row)
		strcpy(text, row->status == STATUS_CORRECT ? "+" : "x");
	kbuf_printf(b, "%4s", text);
}

/*
 * The four dimensions in two: rows are memory and parallelism, columns compute and explicit SIMD.
 * 78 columns.
 */
static void
map_text(const struct karch *a, struct kbuf *b)
{
	kbuf_puts(b, "        ");
	for (int c = 0; c < 4; c++)
		kbuf_printf(b, "      compute %d%s", c, c < 3 ? "    " : "\n        ");
	for (int c = 0; c < 4; c++)
		kbuf_printf(b, "  e0  e1  e2  e3%s", c < 3 ? " |" : "\n");
	for (int m = 0; m < 4; m++)
		for (int p = 0; p < 4; p++) {
			kbuf_printf(b, p ? "     p%d " : "mem%d p%d ", p ? p : m, p);
			for (int i = 0; i < 16; i++) {
				put_cell(b, a->elite[m << 6 | i / 4 << 4 | p << 2 | i % 4]);
				kbuf_puts(b, i == 15 ? "\n" : i % 4 == 3 ? " |" : "");
			}
			if (p == 3 && m < 3)
				kbuf_puts(b, "\n");
		}
}

static size_t
count_elites(const struct karch *a, bool correct)
{
	size_t n = 0;

	for (int c = 0; c < KARCH_CELLS; c++)
		n += a->elite[c] && (!correct || a->elite[c]->status == STATUS_CORRECT);
	return n;
}

static int
show_cells(const struct karch *a, const struct view_options *o)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(a, list);
	struct kbuf b = { 0 };

	if (o->json) {
		for (size_t i = 0; i < n; i++)
			put_row(list[i], o);
		return n ? K_OK : K_NO;
	}
	map_text(a, &b);
	kbuf_printf(&b,
	    "%zu of %d cells, %zu correct. Figures: speed-up of the best kernel of the cell;\n"
	    "ref: the reference; x: broken; +: correct, not timed.\n"
	    "mem: memory, p: parallelism, e: explicit SIMD.\n",
	    n, KARCH_CELLS, count_elites(a, true));
	put_text(&b);
	return n ? K_OK : K_NO;
}

struct karch_row *
find_row(const struct karch *a, const char *id)
{
	for (int c = 0; c < KARCH_CELLS; c++)
		if (a->elite[c] && !strcmp(a->elite[c]->id, id))
			return a->elite[c];
	for (size_t i = 0; i < a->programs; i++)
		if (!strcmp(a->program[i]->id, id))
			return a->program[i];
	return NULL;
}

/* Reads a candidate that is not in the archive from the scored records of its trial. */
static void
read_folder(struct ktrials *t, const char *id, struct karch_row *row)
{
	const struct kcandidate *c = ktrials_find(t, id);
	struct karch_row *found;

	if (!c)
		kdie(K_USAGE, "%s is not in the archive and not in the trials", id);
	found = kcandidate_row(c, c->score);
	*row = *found;
	row->cell = row->cell < 0 ? 0 : row->cell;
	free(found);
}

/* From the root down to the candidate. */
static int
show_lineage(const struct karch *a, const struct view_options *o)
{
	struct kcamp *camp = kcamp_load(o->dir);
	struct karch_row *chain = NULL;
	struct ktrials t;
	size_t n = 0, cap = 0;
	char id[KARCH_ID];
	long trial, branch, last = MAX_LINEAGE;

	ktrials_open(&t, camp);
	snprintf(id, sizeof id, "%s", o->id);
	while (*id) {
		const struct karch_row *row = find_row(a, id);

		if (!karch_id(id, &trial, &branch) || trial >= last)
			kdie(K_USAGE, "%s: its parent is not in an earlier trial", id);
		last = trial;
		if (n == cap) {
			cap = cap ? 2 * cap : 16;
			chain = krealloc(chain, cap * sizeof *chain);
		}
		chain[n] = row ? *row : (struct karch_row){ 0 };
		if (!row)
			read_folder(&t, id, &chain[n]);
		strcpy(id, chain[n].parent);
		n++;
	}
	heading(o);
	while (n--)
		put_row(&chain[n], o);
	free(chain);
	ktrials_close(&t);
	kcamp_free(camp);
	return K_OK;
}

/* A record, but for people: what a terminal would obey is masked. */
static int
show_stats(const struct karch *a)
{
	char *text = json_dumps(a->header, KIO_DUMP);

	kout_line(text, strlen(text));
	free(text);
	return K_OK;
}

int
show_view(const struct karch *a, const struct view_options *o)
{
	switch (o->view) {
	case VIEW_BEST:
		return show_best(a, o);
	case VIEW_TOP:
		return show_top(a, o, (size_t)o->top);
	case VIEW_CELLS:
		return show_cells(a, o);
	case VIEW_LINEAGE:
		return show_lineage(a, o);
	case VIEW_STATS:
		return show_stats(a);
	case VIEW_CHECK:
		return check_chain(a, o);
	case VIEW_NONE:
		break;
	}
	return K_NO;
}
