/* SPDX-License-Identifier: Apache-2.0 */
/* What changes with every round, and so stands apart from the logs that only grow. See kround.h. */
#include <stdlib.h>
#include <string.h>

#include "kends.h"
#include "klinear.h"
#include "kplan.h"
#include "kround.h"

enum { WORDS = 400, CELL = 120 };

const char *const view_paths[VIEWS] = {
	[VIEW_BEST] = "rounds/current_best.md",
	[VIEW_DIRECTIONS] = "rounds/directions.md",
	[VIEW_INEFFECTIVE] = "rounds/ineffective.md",
	[VIEW_TERMINATION] = "rounds/termination.md",
};

static void
put_best_shapes(const struct campaign *c, const struct candidate *x, struct kbuf *out)
{
	const struct candidate *first = c->round[0].accepted;

	kbuf_puts(out, "\n| Shape | Baseline ms | Best ms | Improvement |\n|---|---:|---:|---:|\n");
	for (size_t i = 0; i < c->task->workload_count; i++) {
		if (!(x->shape[i].ns > 0 && first->shape[i].ns > 0))
			continue;
		kbuf_puts(out, "| ");
		put_md(c->task->workloads[i].name, CELL, out);
		kbuf_printf(
		    out, " | %#.5g | %#.5g | ", first->shape[i].ns / 1e6, x->shape[i].ns / 1e6);
		put_pct(shape_baseline_pct(c, x, i), 2, out);
		kbuf_puts(out, " |\n");
	}
}

static void
put_best(const struct campaign *c, struct kbuf *out)
{
	const struct round *r = last_accepted(c);
	const struct candidate *x = r->accepted;
	struct aggregates a = aggregates_of(c, x, NULL);
	char *name = kernel_name(c), *path = snapshot_path(c, r, x, name);
	size_t accepted = 0;

	for (size_t i = 1; i < c->count; i++)
		accepted += c->round[i].accepted != NULL;
	kbuf_printf(out,
	    "# Current best\n\n- Round: %ld (%s)\n- Kernel: %s\n- SHA-256: %s\n- Step geomean: ",
	    r->number, x->id, path, kjson_str_or(x->eval, "code_sha256", "?"));
	put_rate(c, &a.step, false, out);
	kbuf_printf(out, " %s\n- vs baseline: ", rate_unit(c));
	put_vs_baseline(c, x, out);
	/*
	 * Here and not in the sealed summary: it follows what is known about the hardware, which
	 * may grow.
	 */
	if (kjson_path(x->score, "efficiency_pct"))
		kbuf_printf(out, "\n- Of the hardware's ceiling: %.1f%%",
		    kjson_num_or(x->score, "efficiency_pct", 0));
	kbuf_printf(out, "\n- Rounds: %zu; accepted %zu, rolled back %zu after the baseline\n",
	    c->count, accepted, c->count - 1 - accepted);
	put_best_shapes(c, x, out);
	free(path);
	free(name);
}

/* Did a round's plan say the same as TEXT? The number of the first such round, or 0. */
static long
tried_in(const struct campaign *c, const char *text)
{
	static const char *const fields[] = { "change", "hypothesis" };
	char *wanted = kplan_normal(text);
	long found = 0;

	for (size_t i = 1; i < c->count && !found; i++)
		for (size_t k = 0; k < c->round[i].count * LEN(fields) && !found; k++) {
			char *said = kplan_normal(kjson_str_or(
			    c->round[i].list[k / LEN(fields)].plan, fields[k % LEN(fields)], ""));

			if (*said && !strcmp(said, wanted))
				found = c->round[i].number;
			free(said);
		}
	free(wanted);
	return found;
}

static bool
named_before(const json_t *seen, const char *text)
{
	char *normal = kplan_normal(text);
	bool yes = json_object_get(seen, normal) != NULL;

	json_object_set_new((json_t *)seen, normal, json_true());
	free(normal);
	return yes;
}

static void
put_directions(const struct campaign *c, struct kbuf *out)
{
	json_t *seen = json_object(), *d;
	size_t i, k;

	kbuf_puts(out, "# Directions to try\n\n");
	for (i = 0; i < c->count; i++)
		json_array_foreach(json_object_get(c->round[i].list[0].plan, "directions"), k, d)
		{
			const char *text = json_string_value(d);
			long round;

			if (!text || named_before(seen, text))
				continue;
			round = tried_in(c, text);
			kbuf_printf(out, "- [%c] ", round ? 'x' : ' ');
			put_md(text, WORDS, out);
			kbuf_printf(out, " (named in round %ld", c->round[i].number);
			if (round)
				kbuf_printf(out, ", tried in round %ld", round);
			kbuf_puts(out, ")\n");
		}
	if (!json_object_size(seen))
		kbuf_puts(out, "None was named.\n");
	json_decref(seen);
}

static void
put_ineffective(const struct campaign *c, struct kbuf *out)
{
	bool any = false;

	kbuf_puts(out, "# Verified ineffective directions\n\n");
	for (size_t i = 1; i < c->count; i++) {
		const struct candidate *x = &c->round[i].list[0];

		if (c->round[i].accepted || !klinear_refutes(kjson_str_or(x->decision, "code", "")))
			continue;
		if (!any)
			kbuf_puts(
			    out, "| Direction | Category | Round | Reason |\n|---|---|---:|---|\n");
		any = true;
		kbuf_puts(out, "| ");
		put_md(kjson_str_or(x->plan, "change", ""), WORDS, out);
		kbuf_puts(out, " | ");
		put_md(kjson_str_or(x->plan, "category", ""), CELL, out);
		kbuf_printf(out, " | %ld | ", c->round[i].number);
		put_md(kjson_str_or(x->decision, "line", ""), WORDS, out);
		kbuf_puts(out, " |\n");
	}
	if (!any)
		kbuf_puts(out, "None.\n");
}

static void
put_termination(const struct campaign *c, struct kbuf *out)
{
	const char *sep = "";
	struct kends e;

	kends_find(c->camp, (long)c->count - 1, last_accepted(c)->accepted->json, &e);
	kbuf_puts(out, "# Termination check\n\n");
	for (size_t i = 0; i < KENDS; i++)
		kbuf_printf(out, "- T%zu (%s: %s): %s%s\n", i + 1, kends_texts[i].what,
		    kends_texts[i].from, e.at[i].holds ? "true" : "false",
		    e.at[i].set ? "" : ", not set");
	kbuf_puts(out, "- Satisfied: ");
	for (size_t i = 0; i < KENDS; i++)
		if (e.at[i].holds) {
			kbuf_printf(out, "%sT%zu", sep, i + 1);
			sep = ", ";
		}
	kbuf_puts(out, *sep ? "\n" : "none\n");
	kends_free(&e);
}

void
put_view(const struct campaign *c, int view, struct kbuf *out)
{
	switch (view) {
	case VIEW_BEST:
		put_best(c, out);
		break;
	case VIEW_DIRECTIONS:
		put_directions(c, out);
		break;
	case VIEW_INEFFECTIVE:
		put_ineffective(c, out);
		break;
	case VIEW_TERMINATION:
		put_termination(c, out);
		break;
	}
}
