/* SPDX-License-Identifier: Apache-2.0 */
/* What failed and why: statuses, reasons gathered, cheats, rounds rolled back. See kreport.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"
#include "status.h"

enum { MOST_REASONS = 12, LONGEST_REASON = 240 };

/* Candidates that failed in the same way. */
struct reason {
	char *key;  /* status and text without numbers */
	char *text; /* of the first, cut */
	const char *status;
	struct kbuf ids;
	long count;
};

struct reasons {
	struct reason *list;
	size_t count;
};

static char *
cut(const char *text)
{
	size_t n = strlen(text);

	if (n <= LONGEST_REASON)
		return kstrdup(text);
	n = LONGEST_REASON;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return kasprintf("%.*s…", (int)n, text);
}

/* Numbers tell apart what is alike: line numbers, counts, sizes. */
static char *
without_numbers(const char *status, const char *text)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%s: ", status);
	for (bool digit = false; *text; text++) {
		if (isdigit((unsigned char)*text)) {
			if (!digit)
				kbuf_puts(&b, "#");
			digit = true;
		} else {
			kbuf_add(&b, text, 1);
			digit = false;
		}
	}
	return b.data;
}

static void
add_reason(struct reasons *all, const struct kcandidate *c, const char *text)
{
	char *key = without_numbers(status_rows[c->status].name, text);
	struct reason *r = NULL;

	for (size_t i = 0; i < all->count && !r; i++)
		if (!strcmp(all->list[i].key, key))
			r = &all->list[i];
	if (!r) {
		all->list = krealloc(all->list, (all->count + 1) * sizeof *all->list);
		r = &all->list[all->count++];
		*r = (struct reason){ .key = kstrdup(key),
			.text = cut(text),
			.status = status_rows[c->status].name };
	}
	if (r->count < 8)
		kbuf_printf(&r->ids, "%s%s", r->count ? " " : "", c->id);
	else if (r->count == 8)
		kbuf_puts(&r->ids, " …");
	r->count++;
	free(key);
}

/*
 * The first line with "error" in it behind its place "file:12:3: ", else the first line. The
 * caller frees.
 */
static char *
error_line(const char *log)
{
	const char *error = strcasestr(log, "error"), *from = log, *place;
	size_t n;

	if (error)
		for (from = error; from > log && from[-1] != '\n'; from--)
			;
	n = strcspn(from, "\n");
	place = error && error < from + n ? error : NULL;
	if (place && place > from) {
		n -= (size_t)(place - from);
		from = place;
	}
	return kstrndup(from, n);
}

static void
add_failure(struct reasons *all, const struct kcandidate *c)
{
	const json_t *reasons = of(c, "eval.reasons"), *first = json_array_get(reasons, 0);
	const char *log = text_of(c, "eval.build.log", "");
	char *text;

	if (c->status == STATUS_COMPILE_ERROR && *log)
		text = error_line(log);
	else if (first)
		text = kasprintf(
		    "%s: %s", kjson_str_or(first, "check", "?"), kjson_str_or(first, "detail", ""));
	else if (of(c, "eval.plan_fault"))
		text = kstrdup(text_of(c, "eval.plan_fault", ""));
	else
		text = error_line(text_of(c, "eval.log", ""));
	add_reason(all, c, *text ? text : "no reason recorded");
	free(text);
}

static int
by_count(const void *x, const void *y)
{
	const struct reason *a = x, *b = y;

	return a->count != b->count ? (a->count < b->count) - (a->count > b->count)
	                            : strcmp(a->key, b->key);
}

static void
put_counts(struct doc *d, const struct report *r)
{
	long all = (long)r->count - 1;

	doc_bars(d, (double)all, "Candidates by status");
	for (int s = STATUS_COUNT - 1; s > STATUS_NONE; s--) {
		long n = 0;

		for (size_t k = 0; k < r->count; k++)
			n += &r->list[k] != r->reference && (int)r->list[k].status == s;
		if (n)
			doc_bar(d,
			    &(struct doc_bar){
			        status_rows[s].name, status_rows[s].name, (double)n, 0, 0 },
			    "\2%ld\2 of %ld", n, all);
	}
}

static void
put_reasons(struct doc *d, struct reasons *all)
{
	qsort(all->list, all->count, sizeof *all->list, by_count);
	doc_table(d, "Reasons, most frequent first",
	    "Status|>Times|~Reason (of the first one)|~Candidates");
	for (size_t i = 0; i < all->count && i < MOST_REASONS; i++) {
		doc_cells(d, "%s|%ld|%s|\1%s\1", all->list[i].status, all->list[i].count,
		    all->list[i].text, all->list[i].ids.data);
	}
	doc_table_end(d);
	if (all->count > MOST_REASONS)
		doc_text(d, "%s in all.", plural((long long)all->count, "kind", "kinds"));
}

static bool
is_cheat(const struct kcandidate *c)
{
	return status_rows[c->status].fault == FAULT_RULES;
}

static void
put_cheats(struct doc *d, const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += is_cheat(&r->list[i]);
	if (!n) {
		doc_text(d, "No candidate was rejected or quarantined.");
		return;
	}
	doc_table(d, "Rejected and quarantined", "Candidate|Status|Check|~What it did");
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];
		const json_t *reasons = of(c, "eval.reasons"), *reason;
		size_t k;

		if (!is_cheat(c))
			continue;
		json_array_foreach(reasons, k, reason)
		{
			char *detail = cut(kjson_str_or(reason, "detail", ""));

			doc_cells(d, "\1%s\1|%s|%s|%s", c->id, status_rows[c->status].name,
			    kjson_str_or(reason, "check", "?"), detail);
			free(detail);
		}
	}
	doc_table_end(d);
}

static void
put_rolled_back(struct doc *d, const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += !strcmp(r->list[i].verdict, "rolled_back");
	if (!n)
		return;
	doc_table(d, "Rounds rolled back", ">Round|Candidate|Reason|~Hypothesis|~Decision");
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];

		if (strcmp(c->verdict, "rolled_back"))
			continue;
		doc_cells(d, "%lld|\1%s\1|%s|%s|%s",
		    (long long)kjson_int_or(c->json, "score.decision.round", c->trial + 1), c->id,
		    text_of(c, "score.decision.code", "–"), text_of(c, "eval.plan.hypothesis", "–"),
		    text_of(c, "score.decision.line", "–"));
	}
	doc_table_end(d);
}

void
put_failures(struct doc *d, const struct report *r)
{
	struct reasons all = { 0 };

	doc_section(d, "failures", "What failed, and why");
	if (r->count < 2) {
		doc_text(d, "No candidate has been made yet.");
		return;
	}
	put_counts(d, r);
	for (size_t i = 0; i < r->count; i++)
		if (&r->list[i] != r->reference && !r->list[i].correct && !is_cheat(&r->list[i]))
			add_failure(&all, &r->list[i]);
	if (all.count)
		put_reasons(d, &all);
	put_cheats(d, r);
	put_rolled_back(d, r);
	for (size_t i = 0; i < all.count; i++) {
		free(all.list[i].key);
		free(all.list[i].text);
		kbuf_free(&all.list[i].ids);
	}
	free(all.list);
}
