/* SPDX-License-Identifier: Apache-2.0 */
/* karchive: views of an archive: its best programs, the lineage of a candidate, and counts. */
#include "karchive.h"

enum { MAX_LINEAGE = 1000000 };

/* The best N rows: elites and programs are both sorted, so this is a merge. */
static int
show_top(size_t n)
{
	const struct karch_row *elites[KARCH_CELLS];
	size_t count = karch_ranked(elites), e = 0, p = 0;

	if (!count && !karch.programs)
		return K_NO;
	while (n-- && (e < count || p < karch.programs)) {
		bool elite = p == karch.programs ||
		    (e < count && elites[e]->score >= karch.program[p]->score);

		karch_put(elite ? elites[e++] : karch.program[p++]);
	}
	return K_OK;
}

struct karch_row *
find_row(const char *id)
{
	kforeach_of(one, karch.elite, KARCH_CELLS)
		if (*one && !strcmp((*one)->id, id))
			return *one;
	kforeach_of(each, karch.program, karch.programs)
		if (!strcmp((*each)->id, id))
			return *each;
	return NULL;
}

/* Reads a candidate that is not in the archive from the scored records of its trial. */
static void
read_folder(const char *id, struct karch_row *row)
{
	const struct kcandidate *c = ktrials_find(id);
	auto_free struct karch_row *found = NULL;

	if (!c)
		kdie_usage("%s is not in the archive and not in the trials", id);
	found = kcandidate_row(c, c->score);
	*row = *found;
	row->cell = row->cell < 0 ? 0 : row->cell;
}

/* From the root down to the candidate. */
static int
show_lineage(const struct view_options *o)
{
	auto_free struct karch_row *chain = NULL;
	size_t n = 0;
	char id[KARCH_ID];
	long trial, branch, last = MAX_LINEAGE;

	kcamp_load();
	ktrials_open();
	snprintf(id, sizeof id, "%s", o->id);
	while (*id) {
		const struct karch_row *row = find_row(id);

		if (!karch_id(id, &trial, &branch) || trial >= last)
			kdie_usage("%s: its parent is not in an earlier trial", id);
		last = trial;
		kgrow(chain, n);
		chain[n] = row ? *row : (struct karch_row){ 0 };
		if (!row)
			read_folder(id, &chain[n]);
		strcpy(id, chain[n].parent);
		n++;
	}
	while (n--)
		karch_put(&chain[n]);
	ktrials_close();
	return K_OK;
}

/* A record, for people: what a terminal would obey is masked. */
static int
show_stats(void)
{
	auto_free char *text = json_dumps(karch.header, KIO_DUMP);

	kout_line("%s", text);
	return K_OK;
}

int
show_view(const struct view_options *o)
{
	switch (o->view) {
	case VIEW_TOP:
		return show_top((size_t)o->top);
	case VIEW_LINEAGE:
		return show_lineage(o);
	case VIEW_STATS:
		return show_stats();
	case VIEW_CHECK:
		return check_chain(o);
	case VIEW_NONE:
		break;
	}
	return K_NO;
}
