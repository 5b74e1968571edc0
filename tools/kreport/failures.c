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
	char *key;    /* status and text without numbers */
	json_t *text; /* of the first, cut */
	const char *status;
	struct kbuf ids;
	long count;
};

struct reasons {
	struct reason *list;
	size_t count;
};

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
			.text = cut_json(text, LONGEST_REASON),
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

static json_t *
statuses_json(const struct report *r)
{
	json_t *rows = json_array();

	for (int s = STATUS_COUNT - 1; s > STATUS_NONE; s--) {
		json_int_t n = 0;

		for (size_t k = 0; k < r->count; k++)
			n += &r->list[k] != r->reference && (int)r->list[k].status == s;
		if (n)
			json_array_append_new(
			    rows, json_pack("{s:s,s:I}", "status", status_rows[s].name, "n", n));
	}
	return rows;
}

/* Frees them. */
static json_t *
reasons_json(struct reasons *all)
{
	json_t *rows = json_array(), *o;

	if (all->count)
		qsort(all->list, all->count, sizeof *all->list, by_count);
	for (size_t i = 0; i < all->count; i++) {
		struct reason *x = &all->list[i];

		if (i < MOST_REASONS)
			json_array_append_new(rows,
			    json_pack("{s:s,s:I,s:O,s:s}", "status", x->status, "n",
			        (json_int_t)x->count, "text", x->text, "ids", x->ids.data));
		free(x->key);
		json_decref(x->text);
		kbuf_free(&x->ids);
	}
	free(all->list);
	o = rows_json(rows);
	if (o)
		json_object_update_new(o,
		    json_pack("{s:I,s:b}", "kinds", (json_int_t)all->count, "more",
		        all->count > MOST_REASONS));
	return o;
}

void
add_failures(json_t *f, const struct report *r)
{
	struct reasons all = { 0 };
	bool cheats = false, rolled_back = false;

	if (r->count < 2)
		return;
	for (size_t i = 0; i < r->count; i++) {
		const struct kcandidate *c = &r->list[i];

		cheats |= is_cheat(c);
		rolled_back |= !strcmp(c->verdict, "rolled_back");
		if (c != r->reference && !c->correct && !is_cheat(c))
			add_failure(&all, c);
	}
	json_object_set_new(f, "failures",
	    json_pack("{s:o,s:o*,s:b,s:b}", "statuses", statuses_json(r), "reasons",
	        reasons_json(&all), "cheats", cheats, "rolled_back", rolled_back));
}
