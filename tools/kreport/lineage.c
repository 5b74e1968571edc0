/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the reference to the best: each step with its reason, its gain, and its changes. See
 * kreport.h.
 */

#include "kdiff.h"
#include "kreport.h"

/*
 * How much faster than its parent: from their race if that was the incumbent, else from the
 * speed-ups of the two.
 */
static struct kgain_ratio
gain_of(const struct kcandidate *parent, const struct kcandidate *c, bool *paired)
{
	struct kgain_ratio ratio = { 0 };

	*paired = !strcmp(text_of(c, "sample.incumbent", ""), parent->id);
	if (*paired)
		ratio = kgain_ratio_of_pairs(
		    of(c, "eval.pairs"), "incumbent", NULL, of(c, "eval.timing"));
	*paired = ratio.n > 0;
	if (!*paired)
		ratio = kgain_quotient(&c->speedup, &parent->speedup);
	return ratio;
}

/* The program's files by name: the main file, and the other files of a bundle. */
static const char *
content_of(const json_t *program, const char *path)
{
	return path
	    ? kjson_str(kjson_find(json_object_get(program, "files"), "path", path), "content")
	    : kjson_str(program, "code");
}

/* The difference of one file of two programs; PATH NULL is the main file. */
static json_t *
file_diff(const json_t *before, const json_t *after, const char *path)
{
	const char *a = content_of(before, path), *b = content_of(after, path);
	auto_buf struct kbuf text = { 0 };
	struct kdiff diff;
	json_t *o;

	kdiff(a, b, &diff);
	kdiff_unified(
	    a, b, kjson_str_or(before, "id", "before"), kjson_str_or(after, "id", "after"), &text);
	o = json_pack("{s:s,s:I,s:I,s:o}", "path", path ?: "", "additions",
	    (json_int_t)diff.additions, "removals", (json_int_t)diff.removals, "diff",
	    kjson_text(text.data ?: "", text.len));
	free(diff.script);
	return o;
}

/* Files of AFTER, then those of BEFORE that it no longer has. */
static json_t *
diffs_json(const json_t *before, const json_t *after)
{
	json_t *list = json_array();

	json_array_append_new(list, file_diff(before, after, NULL));
	kjson_foreach(f, after, "files")
		json_array_append_new(list, file_diff(before, after, kjson_str(f, "path")));
	kjson_foreach(f, before, "files")
		if (!*content_of(after, kjson_str(f, "path")))
			json_array_append_new(list, file_diff(before, after, kjson_str(f, "path")));
	return list;
}

/* From PARENT to C; the record has its reasons. */
static void
add_step(json_t *o, const struct kcandidate *parent, const struct kcandidate *c)
{
	json_auto_t *a = karch_program(parent->id, false), *b = karch_program(c->id, false);
	bool paired;
	struct kgain_ratio gain = gain_of(parent, c, &paired);

	kjson_extend(o, "{s:s,s:s,s:b,s:o*,s:o}", "before", parent->id, "title",
	    text_of(c, "eval.plan.change", text_of(c, "sample.strategy", "no strategy")), "paired",
	    paired, "gain", gain.n ? ratio_json(&gain) : NULL, "diffs", diffs_json(a, b));
}

json_t *
steps_json(const json_t *ids)
{
	json_t *steps = json_array();
	const struct kcandidate *parent = NULL;

	kjson_foreach_text(id, ids) {
		const struct kcandidate *c = ktrials_find(id);
		json_t *o = candidate_json(c);

		kjson_extend(o, "{s:I,s:s}", "step", (json_int_t)json_array_size(steps), "way",
		    parent ? text_of(c, "eval.plan.category", text_of(c, "sample.strategy", ""))
		           : "the reference");
		if (parent)
			add_step(o, parent, c);
		json_array_append_new(steps, o);
		parent = c;
	}
	return steps;
}
