/* SPDX-License-Identifier: Apache-2.0 */
/*
 * the library of what has paid off. Each finished campaign leaves its accepted rounds with their
 * programs, and its newest summary, in library/NAME.ndjson; library.ndjson is a view of all of
 * these: how often, and by how much, something paid off, by category, operation, backend and
 * device.
 */

#include "kjq.h"
#include "krecords.h"

/* A line of the library about the campaign. New reference. */
static json_t *
new_row(const char *kind)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "schema", "library/1", "kind", kind,
	    "campaign", kcamp_str("name"), "op", tips_op(), "backend", kcamp_str("backend"), "gpu",
	    tips_device());
}

/* The types of a task's arrays, each once. New reference. */
static json_t *
types_of(void)
{
	const struct ktask *task = campaign.task;
	json_t *types = json_array();

	kforeach_of(tensor, task->tensors, task->tensor_count) {
		const char *type = kdtype_name(tensor->dtype);

		if (!tensor->scalar && !kjson_has(types, type))
			kjson_add(types, type);
	}
	return types;
}

/*
 * The program of a round, for later campaigns on the same operation: its purpose, its speed, and
 * what the application said about it. A program of several files is too long for a prompt, and one
 * that failed in its application is not an example.
 */
static void
add_program(json_t *row, const struct kcandidate *c)
{
	const char *code = kjson_maybe(c->json, "eval.code");
	json_auto_t *verdicts = kverdict_on(c->id);
	json_t *last = json_array_get(verdicts, json_array_size(verdicts) - 1);
	bool failed = last && !strcmp(kverdict_outcome(last), "ROLLED_BACK");

	if (last)
		kjson_put(row, "application", kverdict_outcome(last));
	if (!failed && code && !kjson_path(c->json, "eval.files") && c->speedup.n)
		kjson_extend(row, "{s:{s:s,s:o,s:o,s:o*}}", "program", "code", code, "types",
		    types_of(), "speedup", number_json(c->speedup.mean), "coords",
		    c->cell < 0 ? NULL : karch_coords(c->cell));
}

/* Appends the accepted round of a trial to B as a line; nothing when it has none. */
static void
put_round(struct kbuf *b, long trial)
{
	const struct kcandidate *c = trial_candidate(trial);
	double gain = c ? record_gain_pct(c) : NAN;
	auto_free char *category = NULL, *same = NULL;
	json_auto_t *row = NULL;

	if (!c || !c->won || !isfinite(gain))
		return;
	category = record_category(c);
	/* "Vectorized load" and "vectorized_load" are one category. */
	same = kwords(category, '_', false);
	row = new_row("round");
	kjson_extend(row, "{s:s,s:s,s:o,s:s*}", "id", c->id, "category", same, "gain_pct",
	    number_json(gain), "time", *c->time ? c->time : NULL);
	add_program(row, c);
	put_json(b, row);
}

/* Appends a second model's summary of the records to B as a line; nothing when there is none. */
static void
put_summary(struct kbuf *b)
{
	auto_free char *name = NULL;
	json_auto_t *compact = kmemo_compaction(KMEMO_ALL, &name),
	            *row = compact ? new_row("summary") : NULL;

	if (row) {
		kjson_extend(row, "{s:s*}", "time", kjson_maybe(compact, "reply.time"));
		json_object_update_missing(row, json_object_get(compact, "compact"));
		put_json(b, row);
	}
}

/*
 * A campaign's name among the contributions: its own name, and the start of its reference's digest.
 */
static const char *
contribution_name(void)
{
	static const char reference[] = "trials/000/00/eval.ndjson";
	const char *digest = kseal_file(reference);

	if (!digest)
		kdie_errno(K_USAGE, "%s", reference);
	return kshown("%s-%.8s", tips_slug(kcamp_str("name")), digest);
}

/* Stores the rounds of the campaign in the working folder, replacing what it left before. */
static void
contribute(const char *root)
{
	auto_buf struct kbuf b = kbuf_empty();

	for (long trial = 1; trial <= ktrials.last; trial++)
		put_round(&b, trial);
	put_summary(&b);
	put_file(kshown("%s/library/%s.ndjson", root, contribution_name()), b.data, b.len);
}

static void
add_lines(const char *path, json_t *rows)
{
	json_auto_t *all = kin_all(path);

	kjson_foreach(row, all)
		if (!kjson_is(row, "kind", "round") && !kjson_is(row, "kind", "summary"))
			kdie_usage(
			    "%s:%zu: not a line of a campaign's library", path, kjson_at(row) + 1);
	json_array_extend(rows, all);
}

/*
 * The view of all lines that campaigns have left, or what READER, whose reference is taken, is
 * shown of them. New reference: array of lines of the library.
 */
static json_t *
library(const char *root, json_t *reader)
{
	json_auto_t *input = json_pack("{s:[],s:o*}", "rows", "reader", reader);

	kpath_foreach(path, kshown("%s/library/*.ndjson", root))
		add_lines(path, json_object_get(input, "rows"));
	return kjq("views/library.jq", input);
}

static void
put_lines(const char *path, const json_t *rows)
{
	auto_buf struct kbuf b = kbuf_empty();

	kjson_foreach(row, rows)
		put_json(&b, row);
	put_file(path, b.data, b.len);
}

/* Updates the contribution of the campaign in the working folder, then the view of all. */
static void
update(void)
{
	auto_free char *root = NULL;
	json_auto_t *rows = NULL;
	int lock;

	campaign_open(false);
	root = kstrdup(tips_root_or_die());
	lock = tips_lock(root);
	contribute(root);
	rows = library(root, NULL);
	put_lines(kshown("%s/library.ndjson", root), rows);
	campaign_close();
	close(lock);
}

int
command_library(void)
{
	kforeach_of(operand, given.operands, given.count) {
		if (chdir(*operand) < 0)
			kdie_errno(K_USAGE, "%s", *operand);
		update();
	}
	if (!given.count)
		update();
	return K_OK;
}

static void
freeze_library(void)
{
	static const struct {
		const char *kind, *what;
	} told[] = {
		{ "pattern", "kinds of change that have paid off" },
		{ "round", "kernels of earlier campaigns" },
		{ "summary", "a summary of an earlier campaign" },
	};
	const char *root = tips_root();
	json_auto_t *rows = root
	    ? library(root,
	          json_pack("{s:s,s:s,s:s,s:o}", "op", tips_op(), "backend", kcamp_str("backend"),
	              "gpu", tips_device(), "types", types_of()))
	    : json_array();

	kforeach(one, told) {
		size_t count = 0;

		kjson_foreach(row, rows)
			count += kjson_is(row, "kind", one->kind);
		if (count)
			tips_tell(one->what, count, root);
	}
	put_lines("trials/000/library.ndjson", rows);
}

/* Facts: made once, before the first trial; existing ones stay. */
int
command_freeze(void)
{
	kmake_folder("trials/000");
	if (!kis_there("trials/000/tips.md"))
		freeze_tips();
	if (!kis_there("trials/000/library.ndjson"))
		freeze_library();
	return K_OK;
}
