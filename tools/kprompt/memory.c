/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: what the campaign remembers of its earlier trials, and what earlier campaigns left,
 * within one budget. A prompt of trial T uses only versions before T, and only masks from before T
 * began.
 */

#include "kfence.h"
#include "kmemo.h"
#include "kplace.h"
#include "kprompt.h"

enum { FILE_MAX = 16 << 20, TIPS_SHARE = 3, LIBRARY_SHARE = 6, SUMMARY_SHARE = 3, KERNELS = 2 };

/* A prompt's sections under construction. */
struct recall {
	const struct kcamp *camp;
	const char *salt;
	long trial;
	size_t room;   /* characters left */
	json_t *shown; /* what was shown, for the record: "memory" of the prompt */
};

/* Takes the room for TEXT; false when it does not fit. */
static bool
take(struct recall *r, const char *text)
{
	size_t n = strlen(text);

	if (!*text || n > r->room)
		return false;
	r->room -= n;
	return true;
}

/* The newest compaction that may be shown; adds what it covers to COVERED. */
static json_t *
compaction(struct recall *r, const struct kmemo_masks *masks, json_t *covered)
{
	auto_free char *name = NULL;
	json_auto_t *compact = kmemo_compaction(r->camp->dir, masks, r->trial, &name);
	json_t *block = json_false();
	const json_t *sections = json_object_get(compact, "compact");
	auto_buf struct kbuf b = { 0 };

	if (sections)
		data_fill(&b, "summary", sections);
	if (b.len && take(r, b.data)) {
		kjson_foreach(v, json_object_get(compact, "covers"))
			json_object_set_new(covered, json_string_value(v), json_true());
		block = data_text(b.data, "summary of earlier rounds", r->salt);
		json_object_set_new(r->shown, "compact", json_string(name));
	}
	return block;
}

/* The rounds that another section of the prompt describes in full. */
static void
add_told(json_t *covered, const struct krec *rec)
{
	const json_t *rounds = kjson_path(rec->json, "sample.rounds");
	char name[24];

	kjson_foreach(round, rounds) {
		snprintf(
		    name, sizeof name, "v%ld", strtol(kjson_str_or(round, "id", "0"), NULL, 10));
		json_object_set_new(covered, name, json_true());
	}
}

/* Entries of the newest versions that fit, the oldest of them first. */
static json_t *
records(struct recall *r, const struct kmemo_masks *masks, const json_t *covered)
{
	size_t count, from;
	auto_free long *list = kmemo_versions(r->camp->dir, &count);
	json_auto_t *names = json_array();
	json_t *block;
	struct kbuf all = kbuf_empty();
	bool full = false;

	for (from = count; from > 0 && !full; from--) {
		long n = list[from - 1];
		char name[24];
		struct kbuf one = { 0 };
		json_t *v;

		snprintf(name, sizeof name, "v%ld", n);
		if (n < 1 || n >= r->trial || kmemo_masked(masks, n, r->trial) ||
		    json_object_get(covered, name))
			continue;
		v = kmemo_load(masks, r->camp->dir, n);
		kmemo_entry(&one, v, r->trial);
		full = !take(r, one.data);
		if (!full) {
			kbuf_add(&one, all.data, all.len);
			kbuf_free(&all);
			all = one;
			json_array_insert_new(names, 0, json_string(name));
		} else {
			kbuf_free(&one);
		}
		json_decref(v);
	}
	block = data_text(all.data, "memory", r->salt);
	if (json_array_size(names))
		json_object_set(r->shown, "versions", names);
	kbuf_free(&all);
	return block;
}

/* "recall": the campaign's own memory; false when there is nothing to show. */
static void
add_recall(json_t *facts, struct recall *r, const struct krec *rec)
{
	struct kmemo_masks masks = { 0 };
	json_auto_t *covered = json_object();
	json_t *compact, *text;

	json_object_set_new(facts, "recall", json_false());
	if (kmemo_enabled(r->camp) && r->room) {
		kmemo_masks_load(&masks, r->camp->dir);
		compact = compaction(r, &masks, covered);
		add_told(covered, rec);
		text = records(r, &masks, covered);
		if (json_is_string(compact) || *json_string_value(text)) {
			json_object_set_new(facts, "recall",
			    json_pack("{s:O,s:O}", "summary", compact, "records", text));
			json_object_set_new(r->shown, "masks", json_string(masks.head));
		}
		json_decref(compact);
		json_decref(text);
		kmemo_masks_free(&masks);
	}
}

/* The frozen tips, newest first, up to SHARE. */
static json_t *
tips(struct recall *r, size_t share)
{
	auto_free char *path = kplace_trial(r->camp->dir, 0, "tips.md"),
	               *text = kread_file(path, FILE_MAX, NULL);
	char *end, *start;
	size_t keep = r->room > share ? r->room - share : 0, shown = 0;
	auto_buf struct kbuf b = { 0 };

	if (!text && errno != ENOENT && errno != ENOTDIR)
		kdie_errno(K_IO, "%s", path);
	r->room -= keep;
	for (end = text ? text + strlen(text) : NULL; end && end > text; end = start) {
		auto_free char *one = NULL;
		bool fits;

		for (start = end - 1;
		     start > text && !(start[-1] == '\n' && !strncmp(start, "### ", 4)); start--)
			;
		one = kstrndup(start, (size_t)(end - start));
		fits = !strncmp(one, "### ", 4) && take(r, one);
		if (fits)
			kbuf_puts(&b, one);
		if (!fits)
			break;
		shown++;
	}
	r->room += keep;
	if (shown)
		json_object_set_new(r->shown, "tips", json_integer((json_int_t)shown));
	return data_text(b.data, "tips of earlier campaigns", r->salt);
}

static void
put_row(struct kbuf *b, json_t *row)
{
	json_t *outcomes = json_array(), *count;
	const char *name;

	json_object_foreach(json_object_get(row, "applications"), name, count)
		json_array_append_new(
		    outcomes, json_pack("{s:s,s:O}", "name", name, "count", count));
	json_object_set_new(row, "outcomes", outcomes);
	data_fill(b, "pattern", row);
}

/* The lines of KIND of the frozen library. New reference. */
static json_t *
frozen(const struct recall *r, const char *kind)
{
	auto_free char *path = kplace_trial(r->camp->dir, 0, "library.ndjson");
	json_t *rows = kin_all(path) ?: json_array();

	for (size_t i = json_array_size(rows); i-- > 0;)
		if (strcmp(kjson_str(json_array_get(rows, i), "kind"), kind))
			json_array_remove(rows, i);
	return rows;
}

/* What has paid off, up to SHARE. */
static json_t *
library(struct recall *r, size_t share)
{
	size_t keep = r->room > share ? r->room - share : 0, shown = 0;
	json_auto_t *rows = frozen(r, "pattern");
	auto_buf struct kbuf b = { 0 };
	struct kbuf line = { 0 };

	r->room -= keep;
	kjson_foreach(row, rows) {
		put_row(&line, row);
		if (take(r, line.data)) {
			kbuf_puts(&b, line.data);
			shown++;
		}
		kbuf_free(&line);
	}
	r->room += keep;
	if (shown)
		json_object_set_new(r->shown, "library", json_integer((json_int_t)shown));
	return data_text(b.data, "library", r->salt);
}

/* A second model's summary of an earlier campaign on the same operation. */
static json_t *
past_summary(struct recall *r, size_t share)
{
	json_auto_t *rows = frozen(r, "summary");
	json_t *row = json_array_get(rows, 0), *block;
	struct kbuf b = { 0 };

	if (row)
		data_fill(&b, "summary", row);
	if (b.len > share || !take(r, b.data ? b.data : ""))
		kbuf_free(&b);
	if (b.len)
		json_object_set(r->shown, "summary", json_object_get(row, "campaign"));
	block = data_text(b.data, "summary of an earlier campaign", r->salt);
	kbuf_free(&b);
	return block;
}

/* "history": what other campaigns left; false when there is nothing to show. */
static void
add_history(json_t *facts, struct recall *r)
{
	json_t *summary, *told, *rows;
	size_t room = r->room;

	json_object_set_new(facts, "history", json_false());
	if (!kmemo_enabled(r->camp) || !r->room)
		return;
	summary = past_summary(r, room / SUMMARY_SHARE);
	told = tips(r, room / TIPS_SHARE);
	rows = library(r, room / LIBRARY_SHARE);
	if (*json_string_value(summary) || *json_string_value(told) || *json_string_value(rows))
		json_object_set_new(facts, "history",
		    json_pack("{s:O,s:O,s:O}", "past_summary", summary, "past_tips", told,
		        "library", rows));
	json_decref(summary);
	json_decref(told);
	json_decref(rows);
}

/* Number of levels between the program of ROW and the sample's target; 0 if there is no target. */
static json_int_t
distance(const json_t *row, const json_t *target)
{
	const json_t *coords = kjson_path(row, "program.coords"), *level;
	json_int_t sum = 0;
	size_t i;

	json_array_foreach(target, i, level)
		sum += llabs(
		    json_integer_value(level) - json_integer_value(json_array_get(coords, i)));
	return sum;
}

/*
 * The row of ROWS that is nearest to TARGET, removed from it; of equals the first. New reference.
 */
static json_t *
take_nearest(json_t *rows, const json_t *target)
{
	json_t *row, *best = json_array_get(rows, 0);
	size_t i, at = 0;

	json_array_foreach(rows, i, row)
		if (distance(row, target) < distance(best, target)) {
			best = row;
			at = i;
		}
	json_incref(best);
	json_array_remove(rows, at);
	return best;
}

static void
put_kernel(struct kbuf *b, const json_t *row)
{
	kbuf_printf(b,
	    "Program %s of the campaign %s, measured there, on %s, at %.3g times the speed of its "
	    "reference:\n%s\n",
	    kjson_str_or(row, "id", "?"), kjson_str_or(row, "campaign", "?"),
	    kjson_str_or(row, "gpu", "?"), kjson_num(row, "program.speedup"),
	    kjson_str(row, "program.code"));
}

/*
 * "kernels": complete programs of other campaigns, as far as the memory leaves room, the nearest to
 * the target first; empty when there are none.
 */
static void
add_kernels(json_t *facts, struct recall *r, const json_t *target)
{
	json_auto_t *rows = kmemo_enabled(r->camp) ? frozen(r, "round") : json_array(),
	            *names = json_array();
	json_t *row;
	auto_buf struct kbuf b = { 0 };
	struct kbuf one = { 0 };

	while (json_array_size(rows) && json_array_size(names) < KERNELS) {
		row = take_nearest(rows, target);
		put_kernel(&one, row);
		if (take(r, one.data)) {
			kbuf_puts(&b, one.data);
			json_array_append_new(names,
			    json_sprintf("%s %s", kjson_str_or(row, "campaign", "?"),
			        kjson_str_or(row, "id", "?")));
		}
		kbuf_free(&one);
		json_decref(row);
	}
	if (b.len)
		json_object_set(r->shown, "kernels", names);
	json_object_set_new(
	    facts, "kernels", data_text(b.data, "kernels of earlier campaigns", r->salt));
}

void
memory_facts(json_t *facts, const struct krec *rec, const char *salt)
{
	struct recall r = { campaign.camp, salt, (long)kjson_int(rec->json, "trial"),
		(size_t)kcamp_int(campaign.camp, "prompt.memory_tokens") * TOKEN_CHARS,
		json_object() };
	size_t room = r.room;

	/*
	 * The memory gets what the shares of other campaigns leave, and programs get what the
	 * memory leaves: nearly everything at first, when they are worth most.
	 */
	add_history(facts, &r);
	add_recall(facts, &r, rec);
	add_kernels(facts, &r, kjson_path(rec->json, "sample.target"));
	if (json_object_size(r.shown))
		json_object_set_new(r.shown, "tokens",
		    json_integer((json_int_t)((room - r.room + TOKEN_CHARS - 1) / TOKEN_CHARS)));
	json_object_set_new(facts, "memory_shown", r.shown);
}

json_t *
memory_member(const json_t *facts)
{
	json_t *shown = json_object_get(facts, "memory_shown");

	return json_object_size(shown) ? json_incref(shown) : NULL;
}
