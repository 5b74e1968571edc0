/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The archive: which combinations of techniques were tried, and how fast the best of each is. See
 * kreport.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"
#include "status.h"

enum { MOST_BARS = 24 };

static void
put_bars(struct doc *d, const struct karch_row **list, size_t n)
{
	double longest = 1;

	for (size_t i = 0; i < n; i++)
		longest = fmax(longest, list[i]->speedup);
	doc_bars(d, longest, "The best program of each occupied cell");
	for (size_t i = 0; i < n && i < MOST_BARS; i++) {
		const struct karch_row *row = list[i];
		char cell[KARCH_DIMS + 1], *name;

		karch_cell_text(row->cell, cell);
		name = kasprintf("cell %s: %s", cell, row->id);
		if (row->status == STATUS_CORRECT)
			doc_bar(d,
			    &(struct doc_bar){ name, i ? "point" : "best", row->speedup, 0, 0 },
			    "\2%s\2", show_times(row->speedup));
		else
			doc_bar(d, &(struct doc_bar){ name, "", 0, 0, 0 }, "%s",
			    status_rows[row->status].name);
		free(name);
	}
}

static void
put_table(struct doc *d, const struct report *r, const struct karch_row **list, size_t n)
{
	doc_details(d, "All %zu elites", n);
	doc_table(d, "Elites, highest score first",
	    "Candidate|Cell|Status|>Speed-up|>Time|>Score|Strategy|Parent");
	for (size_t i = 0; i < n; i++) {
		const struct kcandidate *c = find_candidate(r, list[i]->id);
		char cell[KARCH_DIMS + 1];

		karch_cell_text(list[i]->cell, cell);
		doc_cells(d, "\1%s\1|%s|%s|%s|%s|%.4g|%s|%s", list[i]->id, cell,
		    status_rows[list[i]->status].name,
		    c ? show_speedup(c) : show_times(list[i]->speedup),
		    show_time(list[i]->runtime_ms * 1e6), list[i]->score,
		    *list[i]->strategy ? list[i]->strategy : "–",
		    *list[i]->parent ? list[i]->parent : "–");
	}
	doc_table_end(d);
	doc_details_end(d);
}

void
put_map(struct doc *d, const struct report *r)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(&r->archive, list);

	doc_section(d, "archive", "Archive");
	doc_text(d,
	    "A cell's four digits are the levels, 0 to 3, of the memory, compute, parallelism and "
	    "explicit SIMD techniques in a program. A cell keeps its best program. %zu of %d cells "
	    "are occupied.",
	    n, KARCH_CELLS);
	put_bars(d, list, n);
	put_table(d, r, list, n);
}
