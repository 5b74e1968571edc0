/* SPDX-License-Identifier: Apache-2.0 */
/* ksample: the plan as a record: programs with their code, hints, recent errors. See ksample.h. */

#include "ksample.h"

/* A program of the archive with its code; its log only if the prompt shows it. */
static json_t *
program_json(const struct karch_row *row, bool log)
{
	json_t *o = karch_program(row->id, log);

	kjson_extend(o, "{s:o,s:o,s:f}", "coords", karch_coords(row->cell), "status",
	    status_json(row->status), "combined", row->score);
	karch_put_times(row, o);
	return o;
}

static json_t *
broken_json(const json_t *broken)
{
	json_t *o = karch_program(kjson_str(broken, "id"), true);

	kjson_extend(o, "{s:o,s:s,s:f,s:I}", "coords",
	    karch_coords(karch_cell(kjson_str_or(broken, "cell", "0000"))), "status",
	    kjson_str(broken, "status"), "combined", kjson_num(broken, "score"), "plan_tries",
	    (json_int_t)kjson_int(broken, "tries"));
	return o;
}

static json_t *
parent_json(const struct plan *plan)
{
	if (plan->broken)
		return broken_json(plan->broken);
	if (plan->parent)
		return program_json(plan->parent, true);
	return karch_program(KARCH_REFERENCE, true);
}

/* The cell that a plan starts from, or -1. */
static int
from_cell(const struct plan *plan)
{
	if (plan->broken)
		return karch_cell(kjson_str(plan->broken, "cell"));
	return plan->parent ? plan->parent->cell : -1;
}

/* Other programs worth a look, in the order in which they are shown. */
struct shown {
	const struct karch_row *row[KARCH_CELLS];
	size_t n;
};

static void
show(struct shown *shown, const struct karch_row *row)
{
	kforeach_of(one, shown->row, shown->n)
		if (*one == row)
			return;
	shown->row[shown->n++] = row;
}

/*
 * Correct elites other than the parent, the best (shown anyway) and the reference (in every
 * prompt).
 */
static size_t
others(const char *parent, const struct karch_row **list)
{
	const char *best = kjson_str(karch.header, "best.id");
	size_t n = karch_ranked(list), kept = 0;

	kforeach_of(one, list, n)
		if ((*one)->status == STATUS_CORRECT && strcmp((*one)->id, parent) &&
		    strcmp((*one)->id, best) && strcmp((*one)->id, KARCH_REFERENCE))
			list[kept++] = *one;
	return kept;
}

/* Score, with a small bonus for a cell with higher levels than the parent's. */
static double
appeal(const struct karch_row *row, int from)
{
	int more = from < 0 ? 0 : karch_distance(row->cell, 0) - karch_distance(from, 0);

	return row->score + 0.1 * (more > 0 ? more : 0);
}

/*
 * The most appealing program of LIST that is not shown yet and is not in the cell FROM; NULL when
 * there is none.
 */
static const struct karch_row *
most_appealing(const struct shown *shown, const struct karch_row **list, size_t n, int from)
{
	const struct karch_row *top = NULL;

	kforeach_of(one, list, n) {
		bool seen = (*one)->cell == from ||
		    kany(kforeach_of(each, shown->row, shown->n), *each == *one);

		if (!seen && (!top || appeal(*one, from) > appeal(top, from)))
			top = *one;
	}
	return top;
}

/*
 * Half by appeal, then the best of other islands, then random ones: the first are the same for all
 * branches of a trial, the others are not.
 */
static void
choose_inspirations(const struct plan *plan, const char *parent, int branch, struct shown *shown)
{
	const struct karch_row *list[KARCH_CELLS], *row;
	size_t n = others(parent, list), wanted = (size_t)kcamp_int("search.inspirations"),
	       half = (wanted + 1) / 2;
	int islands = (int)kcamp_int("search.islands"), from = from_cell(plan);
	struct krng rng;

	if (wanted > n)
		wanted = n;
	krng_init(&rng, search.seed, search.trial, branch, "inspirations");
	while (shown->n < half && shown->n < wanted && (row = most_appealing(shown, list, n, from)))
		show(shown, row);
	for (int i = 0; i < islands && islands > 1; i++)
		for (size_t k = 0; k < n && shown->n < wanted; k++)
			if (i != plan->island && list[k]->islands >> i & 1) {
				show(shown, list[k]);
				break;
			}
	while (shown->n < wanted)
		show(shown, list[krng_below(&rng, n)]);
}

static json_t *
inspirations_json(const struct plan *plan, const char *parent, int branch)
{
	struct shown shown = { .n = 0 };
	json_t *out = json_array();

	choose_inspirations(plan, parent, branch, &shown);
	kforeach_of(one, shown.row, shown.n)
		json_array_append_new(out, program_json(*one, false));
	return out;
}

static enum start
start_of(const struct plan *plan)
{
	if (plan->broken || (plan->parent && plan->parent->status != STATUS_CORRECT))
		return START_ERROR;
	return strcmp(plan->pick, "initial") ? START_CORRECT : START_INITIAL;
}

json_t *
seed_json(int branch)
{
	struct krng rng;

	krng_init(&rng, search.seed, search.trial, branch, "record");
	return json_sprintf("%016llx", (unsigned long long)krng_u64(&rng));
}

json_t *
sample_json(const struct plan *plan, int branch)
{
	struct karch_row best;
	const json_t *errors = kjson_path(karch.header, "errors");
	enum start start = start_of(plan);
	const char *id;
	json_t *parent = parent_json(plan), *o;
	int from = from_cell(plan);

	id = kjson_str(parent, "id");
	o = json_pack("{s:o,s:s,s:s,s:s,s:i,s:o,s:o,s:o,s:o*,s:o}", "seed", seed_json(branch),
	    "pick", plan->pick, "strategy", plan->strategy, "status", start_names[start], "island",
	    plan->island, "inspirations", inspirations_json(plan, id, branch), "hints",
	    karch_hints(start != START_ERROR && from >= 0 ? search.directions[from] : NULL),
	    "errors", errors ? json_deep_copy(errors) : json_array(), "target",
	    plan->target >= 0 ? karch_coords(plan->target) : NULL, "parent", parent);
	if (karch_best(&best) && strcmp(best.id, KARCH_REFERENCE)) {
		kjson_put(o, "incumbent", best.id);
		if (strcmp(best.id, id))
			kjson_set(o, "best", program_json(&best, false));
	}
	add_application(o);
	return o;
}
