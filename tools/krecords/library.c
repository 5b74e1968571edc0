/* SPDX-License-Identifier: Apache-2.0 */
/*
 * the library of what has paid. Each finished campaign leaves its accepted rounds in
 * library/NAME.ndjson; library.ndjson is a view of all of these: how often, and by how much, by
 * category, operation, backend and device.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kio.h"
#include "krecords.h"

enum { TOP = 8, REFERENCE_MAX = 1 << 30 };

/* What a row of the library is about; in its order. */
static const char *const keys[] = { "backend", "op", "gpu", "category" };

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

/* The accepted round of a trial as a line of B; nothing when it has none. */
static void
put_round(struct kbuf *b, const struct campaign *m, long trial, const char *device)
{
	const struct kcandidate *c = trial_candidate(m, trial);
	json_t *row;
	char *category, *same, *op;
	double gain = c ? record_gain_pct(c) : NAN;

	if (c && c->won && isfinite(gain)) {
		category = record_category(c);
		same = normal(category);
		op = tips_op(m->task);
		row = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "schema", "library/1", "kind",
		    "round", "campaign", kcamp_str(m->camp, "name"), "id", c->id, "category", same,
		    "op", op, "backend", kcamp_str(m->camp, "backend"), "gpu", device);
		set_number(row, "gain_pct", gain);
		set_line(row, "time", c->time, 32);
		put_json(b, row);
		json_decref(row);
		free(category);
		free(same);
		free(op);
	}
}

/*
 * A campaign's own name among the contributions: its name, and the start of its reference's digest.
 */
static char *
contribution_name(const struct campaign *m)
{
	char *slug = tips_slug(kcamp_str(m->camp, "name")), *name, hex[65], *data;
	size_t len;

	data = kread_file_or_die("trials/000/00/eval.ndjson", REFERENCE_MAX, &len);
	ksha256_hex(data, len, hex);
	name = kasprintf("%s-%.8s", slug, hex);
	free(data);
	free(slug);
	return name;
}

/* The rounds of the campaign in the working folder, in place of what it left before. */
static void
contribute(void)
{
	struct campaign m;
	char *root, *folder, *path, *name, *device;
	struct kbuf b = { 0 };

	campaign_open(&m, false);
	root = tips_root(m.camp);
	if (!root)
		kdie(K_USAGE,
		    "%s: tips.dir: is empty, and neither XDG_DATA_HOME nor HOME is set, so there "
		    "is no place for the library",
		    m.camp->file);
	name = contribution_name(&m);
	device = tips_device(m.camp);
	folder = kasprintf("%s/library", root);
	path = kasprintf("%s/%s.ndjson", folder, name);
	kbuf_add(&b, "", 0);
	for (long trial = 1; trial <= m.trials.last; trial++)
		put_round(&b, &m, trial, device);
	kmake_folder(folder);
	put_file(path, b.data, b.len);
	kbuf_free(&b);
	free(root);
	free(folder);
	free(path);
	free(name);
	free(device);
	campaign_close(&m);
}

static int
by_key(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	double p = kjson_num_or(x, "gain_pct", 0), q = kjson_num_or(y, "gain_pct", 0);

	for (size_t i = 0; i < LEN(keys); i++) {
		int order = strcmp(kjson_str_or(x, keys[i], ""), kjson_str_or(y, keys[i], ""));

		if (order)
			return order;
	}
	return (p > q) - (p < q);
}

static bool
same_key(const json_t *x, const json_t *y)
{
	for (size_t i = 0; i < LEN(keys); i++)
		if (strcmp(kjson_str_or(x, keys[i], ""), kjson_str_or(y, keys[i], "")))
			return false;
	return true;
}

/* The rounds of all contributions, sorted by key and gain; the caller frees. */
static json_t **
all_rounds(const char *root, size_t *count)
{
	char *pattern = kasprintf("%s/library/*.ndjson", root);
	json_t **rows = NULL;
	glob_t found;
	struct krec rec;
	struct kin in;

	*count = 0;
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			kin_open(&in, found.gl_pathv[i]);
			while (kin_next(&in, &rec)) {
				if (strcmp(kjson_str_or(rec.json, "kind", ""), "round"))
					kdie(K_USAGE, "%s:%ld: not a round of a library", in.file,
					    in.lineno);
				rows = krealloc(rows, (*count + 1) * sizeof *rows);
				rows[(*count)++] = json_incref(rec.json);
				krec_free(&rec);
			}
			kin_close(&in);
		}
		globfree(&found);
	}
	if (rows)
		qsort(rows, *count, sizeof *rows, by_key);
	free(pattern);
	return rows;
}

/* N rounds of one key, by rising gain, as a row of the library. New reference. */
static json_t *
row_of(json_t *const *rows, size_t n)
{
	json_t *row = json_pack("{s:s,s:s,s:I}", "schema", "library/1", "kind", "pattern", "count",
	           (json_int_t)n),
	       *campaigns = json_object(), *gains = json_object();
	double sum = 0, low = kjson_num_or(rows[(n - 1) / 2], "gain_pct", 0),
	       high = kjson_num_or(rows[n / 2], "gain_pct", 0);

	for (size_t i = 0; i < n; i++) {
		sum += kjson_num_or(rows[i], "gain_pct", 0);
		json_object_set_new(campaigns, kjson_str_or(rows[i], "campaign", ""), json_true());
	}
	for (size_t i = 0; i < LEN(keys); i++)
		json_object_set_new(row, keys[i], json_string(kjson_str_or(rows[0], keys[i], "")));
	set_number(gains, "min", kjson_num_or(rows[0], "gain_pct", 0));
	set_number(gains, "median", (low + high) / 2);
	set_number(gains, "mean", sum / (double)n);
	set_number(gains, "max", kjson_num_or(rows[n - 1], "gain_pct", 0));
	json_object_set_new(row, "gain_pct", gains);
	json_object_set_new(
	    row, "campaigns", json_integer((json_int_t)json_object_size(campaigns)));
	json_decref(campaigns);
	return row;
}

/* The view: one row per key. New reference. */
static json_t *
library(const char *root)
{
	json_t *out = json_array();
	size_t count, n;
	json_t **rows = all_rounds(root, &count);

	for (size_t i = 0; i < count; i += n) {
		for (n = 1; i + n < count && same_key(rows[i], rows[i + n]); n++)
			;
		json_array_append_new(out, row_of(rows + i, n));
	}
	for (size_t i = 0; i < count; i++)
		json_decref(rows[i]);
	free(rows);
	return out;
}

/* Of the campaign of the working folder, and then the view of all. */
static void
update(void)
{
	struct kcamp *c = kcamp_load(".");
	char *root = tips_root_or_die(c), *path;
	struct kbuf b = { 0 };
	json_t *rows, *row;
	size_t i;
	int lock;

	if (!root)
		kdie(K_USAGE,
		    "%s: tips.dir: is empty, and neither XDG_DATA_HOME nor HOME is set, so there "
		    "is no place for the library",
		    c->file);
	lock = tips_lock(root);
	contribute();
	rows = library(root);
	kbuf_add(&b, "", 0);
	json_array_foreach(rows, i, row)
		put_json(&b, row);
	path = kasprintf("%s/library.ndjson", root);
	put_file(path, b.data, b.len);
	kbuf_free(&b);
	json_decref(rows);
	free(path);
	free(root);
	kcamp_free(c);
	close(lock);
}

int
command_library(const struct options *o)
{
	for (size_t i = 0; i < o->count; i++) {
		if (chdir(o->operands[i]) < 0)
			kdie_errno(K_USAGE, "%s", o->operands[i]);
		update();
	}
	if (!o->count)
		update();
	return K_OK;
}

static bool
is_of(const json_t *row, const char *member, const char *value)
{
	return !strcmp(kjson_str_or(row, member, ""), value);
}

/*
 * Does row A come before B? First the same device, then what paid most often, then what paid most.
 */
static bool
comes_before(const json_t *a, const json_t *b, const char *device)
{
	bool near = is_of(a, "gpu", device);
	json_int_t n = kjson_int_or(a, "count", 0), than = kjson_int_or(b, "count", 0);

	if (near != is_of(b, "gpu", device))
		return near;
	if (n != than)
		return n > than;
	return kjson_num_or(a, "gain_pct.median", 0) > kjson_num_or(b, "gain_pct.median", 0);
}

json_t *
library_top(const struct kcamp *c, const char *root, const char *op)
{
	json_t *rows = library(root), *top = json_array(), *row, *best;
	char *device = tips_device(c);
	const char *backend = kcamp_str(c, "backend");
	size_t i, at = 0;

	do {
		best = NULL;
		json_array_foreach(rows, i, row) {
			/* What has paid in another operation says little of this one. */
			if (!is_of(row, "backend", backend) || !is_of(row, "op", op))
				continue;
			if (!best || comes_before(row, best, device)) {
				best = row;
				at = i;
			}
		}
		if (best) {
			json_array_append(top, best);
			json_array_remove(rows, at);
		}
	} while (best && json_array_size(top) < TOP);
	json_decref(rows);
	free(device);
	return top;
}
