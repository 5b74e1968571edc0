/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt record: the arrays of the calls that were chosen as configurations, with the application's
 * data, before and after the call: adopt/recorded/calls.CONFIG.ARRAY.before.npy. They belong to the
 * user: they stay in the campaign's folder, and no prompt shows them.
 */

#include "adopt.h"
#include "knpy.h"
#include "numbers.h"
#include "shape.h"
#include "watch.h"

enum { MEGABYTES = 1024 };

/* If it is written, it counts twice. */
static double
size_mb(const json_t *pointer)
{
	return kjson_num(pointer, "room") * (kjson_bool(pointer, "written") ? 2 : 1) / 1e6;
}

double
recording_mb(const json_t *configs)
{
	double sum = 0;

	kjson_foreach(c, configs)
		kjson_foreach_member(name, p, c, "pointers")
			sum += size_mb(p);
	return ceil(sum);
}

/*
 * A line for kwatch: a name of our own, which of the calls with the same scalars, and the arrays
 * that are not saved. Of the calls without null pointers it is the middle one, because in the first
 * the arrays may be all zeros.
 */
static void
add_line(struct kbuf *b, const json_t *config, const json_t *calls)
{
	const json_t *example = json_array_get(calls, (size_t)kjson_int(config, "example"));
	const char *key = kjson_str(example, "key");
	auto_free long *whole = kcalloc(json_array_size(calls) + 1, sizeof *whole);
	long count = 0, same = 0;

	kjson_foreach(call, calls) {
		if (!kjson_is(call, "key", key))
			continue;
		if (!call_has_null(call))
			whole[count++] = same;
		same++;
	}
	kbuf_printf(b, "%s %ld %s", kjson_str(config, "name"),
	    count ? whole[(count - 1) / 2] : (same - 1) / 2, key);
	kjson_foreach_text(array, config, "skipped")
		kbuf_printf(b, " -%s", array);
	kbuf_puts(b, "\n");
}

/*
 * Chooses among the arrays of CONFIGS; returns how many MB are recorded. Each configuration gets
 * the number of its "arrays" and their "mb"; and "skipped", those for which there is no room, which
 * would take "more".
 */
static double
choose(const json_t *configs, double limit)
{
	json_auto_t *all = json_array();
	double total = 0;

	kjson_foreach(c, configs)
		kjson_foreach_member(name, p, c, "pointers") {
			const struct number_type *type =
			    number_type(kjson_str(value_parameter(name), "type"));

			kjson_append(all, "{s:O,s:s,s:i,s:f}", "config", c, "array", name, "real",
			    type && !type->integer, "mb", size_mb(p));
		}
	/* Other values of indices may make the function crash; then the small ones. */
	kjson_sort_by(all, "real", "mb");
	kjson_foreach(row, all) {
		json_t *c = json_object_get(row, "config");
		double mb = kjson_num(row, "mb");
		bool fits = limit > 0 && total + mb <= limit;
		const char *sum = fits ? "mb" : "more";

		total += fits ? mb : 0;
		kjson_put(c, sum, kjson_num(c, sum) + mb);
		if (fits)
			kjson_count(c, "arrays", 1);
		else
			kjson_add(
			    kjson_ensure(c, "skipped", json_array()), kjson_str(row, "array"));
	}
	return total;
}

/* Reports what is recorded of a configuration, and what is not. Is it anything? */
static bool
tell_chosen(const json_t *config, double limit)
{
	const char *name = kjson_str(config, "name");
	const json_t *skipped = json_object_get(config, "skipped");
	auto_free char *text = listed(skipped);
	long arrays = kjson_int(config, "arrays");

	if (*text)
		kwarn("%s: %s of %s, %.1f MB, would exceed --record-mb %.0f, so %s not recorded",
		    adoption.kernel, text, name, kjson_num(config, "more"), limit,
		    json_array_size(skipped) > 1 ? "they are" : "it is");
	if (arrays)
		ksay("record     %s: %ld array%s, %.1f MB\n", name, arrays, arrays == 1 ? "" : "s",
		    kjson_num(config, "mb"));
	return arrays;
}

/* The lines for kwatch, and a report. The caller frees. */
static char *
plan(const json_t *configs, const json_t *calls)
{
	double limit = kjson_num_or(adoption.json, "record_mb", MEGABYTES),
	       total = choose(configs, limit);
	struct kbuf b = kbuf_empty();

	kjson_foreach(c, configs)
		if (tell_chosen(c, limit))
			add_line(&b, c, calls);
	if (b.len)
		ksay("record     %.1f MB in all, in %s/adopt/recorded; no prompt shows them\n",
		    total, adoption.dir);
	return b.data;
}

/*
 * What was observed of the saved calls, adopt/recorded/calls.ndjson. Only their memory was
 * examined, so only they say what was written.
 */
static void
write_saved(const json_t *calls)
{
	kout_open(adopt_path("recorded/calls.ndjson"));
	kjson_foreach(call, calls)
		if (kany(kjson_foreach_member(name, p, call, "pointers"),
		        json_object_get(p, "written")))
			kout_json(call);
	kout_commit();
}

/* Run the application once more; the files show which calls occurred. */
static void
save(const char *lines)
{
	char *file = adopt_path("recorded/calls");
	json_auto_t *calls = NULL;

	watch =
	    (struct watch){ .folder = adopt_path("watch"), .cuda = adoption.device, .save = file };
	write_text(file, lines);
	watch_find();
	/* Run the copy that was observed, unless somebody removed it. */
	if (!kis_there(watch_copy_path()))
		watch_prepare();
	calls = watch_run(WATCH_ARGS);
	write_saved(calls);
}

int
record(void)
{
	json_auto_t *document = kjson_load(adopt_made("configs.json", "configs")), *header = NULL,
	            *calls = read_records(adopt_made("observed.ndjson", "observe"), &header);
	auto_free char *lines = plan(json_object_get(document, "configs"), calls);

	remove_folder(adopt_path("recorded"));
	/* Logs name no arrays. */
	if (*lines && kjson_is(header, "how", "calls"))
		save(lines);
	return K_OK;
}

char *
recorded_path(const char *config, const char *array, bool after)
{
	char *path =
	    adopt_path("recorded/calls.%s.%s.%s.npy", config, array, after ? "after" : "before");

	return kis_there(path) ? path : NULL;
}

/* Element I of an array of real numbers; NAN for other types. */
static double
real_at(const char *dtype, const char *data, size_t i)
{
	size_t size = !strcmp(dtype, "float64") ? sizeof(double)
	    : !strcmp(dtype, "float32")         ? sizeof(float)
	                                        : 0;

	return size ? number_at(data + i * size, size) : NAN;
}

/*
 * The first element that has other bytes, or is not a floating-point number within the effect of a
 * different summation order; NULL: there is none. The caller frees.
 */
static char *
elements_differ(const struct knpy *was, const struct knpy *now, const struct knpy *other,
    const char *dtype, size_t item)
{
	static const double near = 1e-3; /* relative to the largest number */
	size_t n = (was->count < now->count ? was->count : now->count) / item;
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(real_at(dtype, was->data, i)));
	for (size_t i = 0; i < n; i++) {
		double x = real_at(dtype, was->data, i), y = real_at(dtype, now->data, i);

		if (!memcmp(was->data + i * item, now->data + i * item, item) ||
		    fabs(x - y) <= near * most ||
		    (i < other->count / item &&
		        memcmp(other->data + i * item, now->data + i * item, item)))
			continue;
		return isfinite(x) && isfinite(y)
		    ? kasprintf("element %zu is %g, and was %g there", i, y, x)
		    : kasprintf("element %zu", i);
	}
	return NULL;
}

char *
recorded_differs(const char *config, const char *array, const char *dtype, size_t item,
    const char *file, const char *other)
{
	char *path = recorded_path(config, array, true) ?: recorded_path(config, array, false),
	     reason[256], *why = NULL;
	struct knpy was = { 0 }, now = { 0 }, then = { 0 };

	if (path && knpy_read(path, &was, reason, sizeof reason) &&
	    knpy_read(file, &now, reason, sizeof reason)) {
		if (!knpy_read(other, &then, reason, sizeof reason))
			then.count = 0;
		why = elements_differ(&was, &now, &then, dtype, item);
	}
	knpy_free(&was);
	knpy_free(&now);
	knpy_free(&then);
	return why;
}

bool
recorded_any(void)
{
	return kis_there(adopt_path("recorded/calls"));
}
