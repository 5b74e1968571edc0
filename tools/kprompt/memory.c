/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: what the campaign remembers of its earlier trials, and what earlier campaigns left,
 * within one budget. A prompt of trial T uses only versions before T, and only masks from before T
 * began.
 */

#include "kmemo.h"
#include "kplace.h"
#include "kprompt.h"
#include "kregex.h"

enum { FILE_MAX = 16 << 20, TIPS_SHARE = 3, LIBRARY_SHARE = 6, SUMMARY_SHARE = 3, KERNELS = 2 };

/* What the prompt of one record shows. */
static struct {
	long trial;
	size_t room;   /* characters left */
	json_t *shown; /* for the record: "memory" of the prompt */
} recall;

/* Takes the room for TEXT; false when it does not fit. */
static bool
take(const char *text)
{
	size_t n = strlen(text);

	if (!*text || n > recall.room)
		return false;
	recall.room -= n;
	return true;
}

/* Adds TEXT if it fits. */
static bool
add(struct kbuf *to, const char *text)
{
	bool fits = take(text);

	if (fits)
		kbuf_puts(to, text);
	return fits;
}

static void
note_shown(const char *name, size_t count)
{
	if (count)
		kjson_put(recall.shown, name, (json_int_t)count);
}

/* Those of TEXTS, in their order, that fit into SHARE, as data; NAME counts them. */
static json_t *
fill(const json_t *texts, size_t share, const char *name, const char *what)
{
	auto_buf struct kbuf b = { 0 };
	size_t shown = 0;

	kjson_foreach_text(text, texts)
		if (b.len + strlen(text) <= share)
			shown += add(&b, text);
	note_shown(name, shown);
	return data_text(b.data, what);
}

/* The newest compaction that may be shown; adds what it covers to COVERED. */
static json_t *
compaction(json_t *covered)
{
	auto_free char *name = NULL;
	json_auto_t *compact = kmemo_compaction(recall.trial, &name);
	const json_t *sections = json_object_get(compact, "compact");
	auto_buf struct kbuf b = { 0 };

	if (sections)
		data_fill(&b, "summary", sections);
	if (!b.len || !take(b.data))
		return json_false();
	kjson_foreach_text(v, compact, "covers")
		kjson_enter(covered, v);
	kjson_put(recall.shown, "compact", name);
	return data_text(b.data, "summary of earlier rounds");
}

/* Entries of the newest versions that fit, the oldest of them first. */
static json_t *
records(const json_t *covered)
{
	size_t count;
	auto_free long *list = kmemo_versions(&count);
	json_auto_t *names = json_array();
	auto_buf struct kbuf all = kbuf_empty();

	while (count-- > 0) {
		long n = list[count];
		auto_free char *name = kasprintf("v%ld", n);
		struct kbuf one = { 0 };
		json_auto_t *v = NULL;

		if (n < 1 || n >= recall.trial || kmemo_masked(n, recall.trial) ||
		    json_object_get(covered, name))
			continue;
		v = kmemo_load(n);
		kmemo_entry(&one, v, recall.trial);
		if (!take(one.data)) {
			kbuf_free(&one);
			break;
		}
		kbuf_add(&one, all.data, all.len);
		kbuf_free(&all);
		all = one;
		json_array_insert_new(names, 0, json_string(name));
	}
	if (json_array_size(names))
		json_object_set(recall.shown, "versions", names);
	return data_text(all.data, "memory");
}

/* "recall": the campaign's own memory; false when there is nothing to show. */
static void
put_recall(void)
{
	json_auto_t *covered = json_object(), *summary = NULL, *text = NULL;

	put("recall", json_false());
	if (!kmemo_enabled() || !recall.room)
		return;
	kmemo_masks_load();
	summary = compaction(covered);
	/* The rounds that another section of the prompt describes in full. */
	kjson_foreach(round, rec->json, "sample.rounds") {
		kjson_enter(covered, kshown("v%ld", atol(kjson_str_or(round, "id", "0"))));
	}
	text = records(covered);
	if (json_is_string(summary) || json_string_length(text)) {
		put("recall", json_pack("{s:O,s:O}", "summary", summary, "records", text));
		kjson_put(recall.shown, "masks", kmemo_masks.head);
	}
	kmemo_masks_free();
}

/* The frozen tips, newest first. New reference. */
static json_t *
tips(void)
{
	auto_free char *text = kread_if_there(kplace_trial(0, "tips.md"), FILE_MAX, NULL);
	json_t *list = json_array();
	struct kregex_span at[2];

	for (; text && kregex_match("(?s)\\A(?:.*\\n)?(?=### )(.*)\\z", text, at);
	     text[at[1].from] = '\0')
		json_array_append_new(list, kjson_string(text + at[1].from));
	return list;
}

/* The lines of KIND of the frozen library. New reference. */
static json_t *
frozen(const char *kind)
{
	json_t *rows = kin_all(kplace_trial(0, "library.ndjson")) ?: json_array();

	for (size_t i = json_array_size(rows); i-- > 0;)
		if (strcmp(kjson_str(json_array_get(rows, i), "kind"), kind))
			json_array_remove(rows, i);
	return rows;
}

/* What has paid off, a text for each pattern. New reference. */
static json_t *
library(void)
{
	json_auto_t *rows = frozen("pattern");
	json_t *list = json_array();

	kjson_foreach(row, rows) {
		auto_buf struct kbuf b = { 0 };
		json_t *outcomes = json_array();

		kjson_foreach_member(name, count, row, "applications")
			kjson_append(outcomes, "{s:s,s:O}", "name", name, "count", count);
		json_object_set_new(row, "outcomes", outcomes);
		data_fill(&b, "pattern", row);
		kjson_add(list, b.data);
	}
	return list;
}

/* A second model's summary of an earlier campaign on the same operation. */
static json_t *
past_summary(size_t share)
{
	json_auto_t *rows = frozen("summary");
	json_t *row = json_array_get(rows, 0);
	auto_buf struct kbuf b = kbuf_empty();

	if (row)
		data_fill(&b, "summary", row);
	if (b.len > share || !take(b.data))
		return json_string("");
	json_object_set(recall.shown, "summary", json_object_get(row, "campaign"));
	return data_text(b.data, "summary of an earlier campaign");
}

/* "history": what other campaigns left; false when there is nothing to show. */
static void
put_history(void)
{
	json_auto_t *summary = NULL, *told = NULL, *rows = NULL, *all_tips = tips(),
	            *all_rows = library();
	size_t room = recall.room;

	put("history", json_false());
	if (!kmemo_enabled() || !room)
		return;
	summary = past_summary(room / SUMMARY_SHARE);
	told = fill(all_tips, room / TIPS_SHARE, "tips", "tips of earlier campaigns");
	rows = fill(all_rows, room / LIBRARY_SHARE, "library", "library");
	if (json_string_length(summary) || json_string_length(told) || json_string_length(rows))
		put("history",
		    json_pack("{s:O,s:O,s:O}", "past_summary", summary, "past_tips", told,
		        "library", rows));
}

/* Number of levels between the program of ROW and the sample's target; 0 if there is no target. */
static json_int_t
distance(const json_t *row, const json_t *target)
{
	const json_t *coords = kjson_path(row, "program.coords");
	json_int_t sum = 0;

	kjson_foreach(level, target)
		sum += llabs(json_integer_value(level) -
		    json_integer_value(json_array_get(coords, kjson_at(level))));
	return sum;
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
put_kernels(const json_t *target)
{
	json_auto_t *rows = kmemo_enabled() ? frozen("round") : json_array(), *names = json_array();
	auto_buf struct kbuf b = { 0 };

	kjson_foreach(row, rows)
		kjson_extend(row, "{s:I,s:I}", "distance", distance(row, target), "place",
		    (json_int_t)kjson_at(row));
	kjson_sort_by(rows, "distance", "place");
	kjson_foreach(row, rows) {
		auto_buf struct kbuf one = { 0 };

		put_kernel(&one, row);
		if (json_array_size(names) < KERNELS && add(&b, one.data))
			json_array_append_new(names,
			    json_sprintf("%s %s", kjson_str_or(row, "campaign", "?"),
			        kjson_str_or(row, "id", "?")));
	}
	if (b.len)
		json_object_set(recall.shown, "kernels", names);
	put("kernels", data_text(b.data, "kernels of earlier campaigns"));
}

void
memory_facts(void)
{
	size_t room = (size_t)kcamp_int("prompt.memory_tokens") * TOKEN_CHARS;

	recall.trial = kjson_int(rec->json, "trial");
	recall.room = room;
	recall.shown = json_object();
	/*
	 * The memory gets what the shares of other campaigns leave, and programs get what the
	 * memory leaves: nearly everything at first, when they are worth most.
	 */
	put_history();
	put_recall();
	put_kernels(kjson_path(rec->json, "sample.target"));
	if (json_object_size(recall.shown))
		note_shown("tokens", (room - recall.room + TOKEN_CHARS - 1) / TOKEN_CHARS);
	put("memory_shown", recall.shown);
}

json_t *
memory_member(void)
{
	return json_object_size(recall.shown) ? json_incref(recall.shown) : NULL;
}
