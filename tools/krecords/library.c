/* SPDX-License-Identifier: Apache-2.0 */
/*
 * the library of what has paid off. Each finished campaign leaves its accepted rounds with their
 * programs, and its newest summary, in library/NAME.ndjson; library.ndjson is a view of all of
 * these: how often, and by how much, something paid off, by category, operation, backend and
 * device.
 */

#include "krecords.h"
#include "kverdict.h"

enum { TOP = 8, REFERENCE_MAX = 1 << 30 };

/* The key of a row of the library; rows are sorted by it. */
static const char *const keys[] = { "backend", "op", "gpu", "category" };

/* A line of the library about the campaign. New reference. */
static json_t *
new_row(const char *kind, const char *device)
{
	auto_free char *op = tips_op();

	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "schema", "library/1", "kind", kind,
	    "campaign", kcamp_str(campaign.camp, "name"), "op", op, "backend",
	    kcamp_str(campaign.camp, "backend"), "gpu", device);
}

static bool
shares(const json_t *list, const json_t *value)
{
	const json_t *v;
	size_t i;

	json_array_foreach((json_t *)list, i, v)
		if (json_equal(v, value))
			return true;
	return false;
}

/* The types of a task's arrays, each once. New reference. */
static json_t *
types_of(void)
{
	const struct ktask *task = campaign.task;
	json_t *types = json_array();

	for (size_t i = 0; i < task->tensor_count; i++) {
		json_auto_t *type = json_string(kdtype_name(task->tensors[i].dtype));

		if (!task->tensors[i].scalar && !shares(types, type))
			json_array_append(types, type);
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
	const char *code = kjson_str_or(c->json, "eval.code", NULL);
	json_t *program;
	json_auto_t *verdicts = kverdict_on(".", c->id);
	json_t *last = json_array_get(verdicts, json_array_size(verdicts) - 1);
	bool failed = last && !strcmp(kverdict_outcome(last), "ROLLED_BACK");

	if (last)
		json_object_set_new(row, "application", json_string(kverdict_outcome(last)));
	if (failed || !code || kjson_path(c->json, "eval.files") || !c->speedup.n)
		return;
	program = json_pack("{s:s,s:o}", "code", code, "types", types_of());
	set_number(program, "speedup", c->speedup.mean);
	if (c->cell >= 0)
		json_object_set_new(program, "coords", karch_coords(c->cell));
	json_object_set_new(row, "program", program);
}

/* "Vectorized load" and "vectorized_load" are one category. The caller frees. */
static char *
normal(const char *category)
{
	char *slug = tips_slug(category);

	for (char *p = slug; *p; p++)
		if (*p == '-')
			*p = '_';
	return slug;
}

/* Appends the accepted round of a trial to B as a line; nothing when it has none. */
static void
put_round(struct kbuf *b, long trial, const char *device)
{
	const struct kcandidate *c = trial_candidate(trial);
	json_t *row;
	char *category, *same;
	double gain = c ? record_gain_pct(c) : NAN;

	if (!c || !c->won || !isfinite(gain))
		return;
	category = record_category(c);
	same = normal(category);
	row = new_row("round", device);
	json_object_set_new(row, "id", json_string(c->id));
	json_object_set_new(row, "category", json_string(same));
	set_number(row, "gain_pct", gain);
	set_line(row, "time", c->time, 32);
	add_program(row, c);
	put_json(b, row);
	json_decref(row);
	free(category);
	free(same);
}

/* Appends a second model's summary of the records to B as a line; nothing when there is none. */
static void
put_summary(struct kbuf *b, const char *device)
{
	auto_free char *name = NULL;
	json_auto_t *compact = kmemo_compaction(".", &campaign.masks, KMEMO_ALL, &name);
	json_t *row;

	if (compact) {
		row = new_row("summary", device);
		set_text(row, "time", compact, "reply.time", 32);
		json_object_update_missing(row, json_object_get(compact, "compact"));
		put_json(b, row);
		json_decref(row);
	}
}

/*
 * A campaign's name among the contributions: its own name, and the start of its reference's digest.
 */
static char *
contribution_name(void)
{
	auto_free char *slug = tips_slug(kcamp_str(campaign.camp, "name"));
	char *name, hex[65], *data;
	size_t len;

	data = kread_file_or_die("trials/000/00/eval.ndjson", REFERENCE_MAX, &len);
	ksha256_hex(data, len, hex);
	name = kasprintf("%s-%.8s", slug, hex);
	free(data);
	return name;
}

/* Stores the rounds of the campaign in the working folder, replacing what it left before. */
static void
contribute(const char *root)
{
	auto_free char *folder = kasprintf("%s/library", root), *name = contribution_name(),
	               *device = tips_device(), *path = kasprintf("%s/%s.ndjson", folder, name);
	auto_buf struct kbuf b = kbuf_empty();

	for (long trial = 1; trial <= campaign.trials.last; trial++)
		put_round(&b, trial, device);
	put_summary(&b, device);
	kmake_folder(folder);
	put_file(path, b.data, b.len);
}

/* Compares two rows by their keys. */
static int
compare_keys(const json_t *x, const json_t *y)
{
	int order = 0;

	for (size_t i = 0; i < LEN(keys) && !order; i++)
		order = strcmp(kjson_str_or(x, keys[i], ""), kjson_str_or(y, keys[i], ""));
	return order;
}

static int
by_key(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	double p = kjson_num_or(x, "gain_pct", 0), q = kjson_num_or(y, "gain_pct", 0);
	int order = compare_keys(x, y);

	return order ? order : (p > q) - (p < q);
}

struct lines {
	const char *kind;
	json_t *rows;
};

static void
add_lines(const char *path, void *arg)
{
	json_auto_t *all = kin_all(path);
	json_t *row;
	struct lines *l = arg;
	size_t i;

	json_array_foreach(all, i, row) {
		if (!kjson_is(row, "kind", "round") && !kjson_is(row, "kind", "summary"))
			kdie(K_USAGE, "%s:%zu: not a line of a campaign's library", path, i + 1);
		if (kjson_is(row, "kind", l->kind))
			json_array_append(l->rows, row);
	}
}

/* All lines of KIND that campaigns have left. New reference. */
static json_t *
left(const char *root, const char *kind)
{
	struct lines l = { kind, json_array() };

	keach_path(kasprintf("%s/library/*.ndjson", root), add_lines, &l);
	return l.rows;
}

/* N rounds with the same key, by rising gain, as a row of the library. New reference. */
static json_t *
row_of(json_t *const *rows, size_t n)
{
	json_t *row = json_pack(
	    "{s:s,s:s,s:I}", "schema", "library/1", "kind", "pattern", "count", (json_int_t)n);
	json_auto_t *campaigns = json_object();
	json_t *gains = json_object();
	json_auto_t *outcomes = json_object();
	const char *outcome;
	double sum = 0, low = kjson_num_or(rows[(n - 1) / 2], "gain_pct", 0),
	       high = kjson_num_or(rows[n / 2], "gain_pct", 0);

	for (size_t i = 0; i < n; i++) {
		sum += kjson_num_or(rows[i], "gain_pct", 0);
		json_object_set_new(campaigns, kjson_str_or(rows[i], "campaign", ""), json_true());
		if ((outcome = kjson_str_or(rows[i], "application", NULL)))
			kjson_count(outcomes, outcome, 1);
	}
	if (json_object_size(outcomes))
		json_object_set(row, "applications", outcomes);
	for (size_t i = 0; i < LEN(keys); i++)
		json_object_set_new(row, keys[i], json_string(kjson_str_or(rows[0], keys[i], "")));
	set_number(gains, "min", kjson_num_or(rows[0], "gain_pct", 0));
	set_number(gains, "median", (low + high) / 2);
	set_number(gains, "mean", sum / (double)n);
	set_number(gains, "max", kjson_num_or(rows[n - 1], "gain_pct", 0));
	json_object_set_new(row, "gain_pct", gains);
	json_object_set_new(
	    row, "campaigns", json_integer((json_int_t)json_object_size(campaigns)));
	return row;
}

/* The view: one row per key. New reference. */
static json_t *
library(const char *root)
{
	json_t *out = json_array();
	json_auto_t *all = left(root, "round");
	auto_free json_t **rows = NULL;
	size_t count = json_array_size(all), n;

	rows = kcalloc(count + 1, sizeof *rows);
	for (size_t i = 0; i < count; i++)
		rows[i] = json_array_get(all, i);
	qsort(rows, count, sizeof *rows, by_key);
	for (size_t i = 0; i < count; i += n) {
		for (n = 1; i + n < count && !compare_keys(rows[i], rows[i + n]); n++)
			;
		json_array_append_new(out, row_of(rows + i, n));
	}
	return out;
}

/* Updates the contribution of the campaign in the working folder, then the view of all. */
static void
update(void)
{
	auto_free char *root = NULL, *path = NULL;
	auto_buf struct kbuf b = kbuf_empty();
	json_t *rows, *row;
	size_t i;
	int lock;

	campaign_open(false);
	root = tips_root_or_die();
	lock = tips_lock(root);
	contribute(root);
	rows = library(root);
	json_array_foreach(rows, i, row)
		put_json(&b, row);
	path = kasprintf("%s/library.ndjson", root);
	put_file(path, b.data, b.len);
	json_decref(rows);
	campaign_close();
	close(lock);
}

int
command_library(void)
{
	for (size_t i = 0; i < given.count; i++) {
		if (chdir(given.operands[i]) < 0)
			kdie_errno(K_USAGE, "%s", given.operands[i]);
		update();
	}
	if (!given.count)
		update();
	return K_OK;
}

/* A campaign that will be shown what others have left. */
struct reader {
	char *op, *device;
	const char *backend;
	json_t *types;
};

/* Does row A come before B for W? */
typedef bool order(const json_t *a, const json_t *b, const struct reader *w);

/* The same device first, then what paid off most often, then what gained most. */
static bool
pays_more(const json_t *a, const json_t *b, const struct reader *w)
{
	bool near = kjson_is(a, "gpu", w->device);
	json_int_t n = kjson_int_or(a, "count", 0), than = kjson_int_or(b, "count", 0);

	if (near != kjson_is(b, "gpu", w->device))
		return near;
	if (n != than)
		return n > than;
	return kjson_num_or(a, "gain_pct.median", 0) > kjson_num_or(b, "gain_pct.median", 0);
}

/* How well the program of a row fits: by its types, then by the device. */
static int
fitness(const json_t *row, const struct reader *w)
{
	const json_t *types = kjson_path(row, "program.types"), *type;
	bool shared = false;
	size_t i;

	json_array_foreach(w->types, i, type)
		shared = shared || shares(types, type);
	return 2 * shared + kjson_is(row, "gpu", w->device);
}

static bool
fits_better(const json_t *a, const json_t *b, const struct reader *w)
{
	int x = fitness(a, w), y = fitness(b, w);

	return x != y
	    ? x > y
	    : kjson_num_or(a, "program.speedup", 0) > kjson_num_or(b, "program.speedup", 0);
}

static bool
is_newer(const json_t *a, const json_t *b, const struct reader *w)
{
	bool near = kjson_is(a, "gpu", w->device);

	if (near != kjson_is(b, "gpu", w->device))
		return near;
	return strcmp(kjson_str_or(a, "time", ""), kjson_str_or(b, "time", "")) > 0;
}

/*
 * Append to OUT the first MAX of ROWS, which are taken, in an order: those of the reader's
 * operation and backend, because gains in another operation tell little about this one.
 */
static void
add_first(json_t *out, json_t *rows, const struct reader *w, order *before, size_t max)
{
	json_t *row, *best;
	size_t i, at = 0;

	do {
		best = NULL;
		json_array_foreach(rows, i, row)
			if (kjson_is(row, "backend", w->backend) && kjson_is(row, "op", w->op) &&
			    (!best || before(row, best, w))) {
				best = row;
				at = i;
			}
		if (best) {
			json_array_append(out, best);
			json_array_remove(rows, at);
		}
	} while (best && --max);
	json_decref(rows);
}

/* The last program of each campaign in each cell: earlier ones are its ancestors. */
static json_t *
programs(const char *root)
{
	static const char *const same[] = { "campaign", "program.coords" };
	json_auto_t *rows = left(root, "round");
	json_t *out = json_array(), *row, *other;
	size_t i, k;

	json_array_foreach(rows, i, row) {
		bool last = json_object_get(row, "program") != NULL;

		for (k = i + 1; last && (other = json_array_get(rows, k)); k++)
			last = !json_equal(kjson_path(row, same[0]), kjson_path(other, same[0])) ||
			    !json_equal(kjson_path(row, same[1]), kjson_path(other, same[1]));
		if (last)
			json_array_append(out, row);
	}
	return out;
}

/*
 * What campaigns on this one's operation and backend have left, those on the same device first:
 * what has paid off, programs, a summary. New reference: array of lines of the library.
 */
static json_t *
library_for(const char *root)
{
	struct reader w = { tips_op(), tips_device(), kcamp_str(campaign.camp, "backend"),
		types_of() };
	json_t *out = json_array();

	add_first(out, library(root), &w, pays_more, TOP);
	add_first(out, programs(root), &w, fits_better, TOP);
	add_first(out, left(root, "summary"), &w, is_newer, 1);
	json_decref(w.types);
	free(w.op);
	free(w.device);
	return out;
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
	auto_free char *root = tips_root();
	json_auto_t *rows = root ? library_for(root) : json_array();
	json_t *row;
	size_t i, count[LEN(told)] = { 0 };
	auto_buf struct kbuf b = kbuf_empty();

	json_array_foreach(rows, i, row) {
		put_json(&b, row);
		for (size_t k = 0; k < LEN(told); k++)
			count[k] += kjson_is(row, "kind", told[k].kind);
	}
	for (size_t k = 0; k < LEN(told); k++)
		if (count[k])
			tips_tell(told[k].what, count[k], root);
	put_file("trials/000/library.ndjson", b.data, b.len);
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
