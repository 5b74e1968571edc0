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

/* An array of a configuration; if it is written, it counts twice. */
struct recording {
	const json_t *config;
	const char *array;
	double mb;
	bool real, chosen;
};

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
 * The words of a line for kwatch: a name of our own, arguments as numbers, and the arrays that are
 * not saved.
 */
static void
add_line(struct kbuf *b, const json_t *config, long skip, const struct recording *all, size_t n)
{
	kbuf_printf(b, "%s %ld ", kjson_str_or(config, "name", "?"), skip);
	kjson_foreach_member(name, v, config, "scalars") {
		if (json_is_integer(v) || json_is_boolean(v))
			kbuf_printf(
			    b, "%s=%lld ", name, json_is_true(v) ? 1 : json_integer_value(v));
		else if (json_is_real(v))
			kbuf_printf(b, "%s=%.17g ", name, json_real_value(v));
		else
			kbuf_printf(b, "%s=%s ", name, json_string_value(v));
	}
	kforeach_of(r, all, n)
		if (r->config == config && !r->chosen)
			kbuf_printf(b, "-%s ", r->array);
	kbuf_puts(b, "\n");
}

/*
 * Number of calls with these arguments to skip: up to half of those without null pointers, because
 * in the first the arrays may be all zeros.
 */
static long
skipped(const json_t *calls, const json_t *config)
{
	auto_free long *whole = kcalloc(json_array_size(calls) + 1, sizeof *whole);
	long count = 0, all = 0;

	kjson_foreach(call, calls) {
		if (!json_equal(json_object_get(call, "args"), json_object_get(config, "scalars")))
			continue;
		if (!call_has_null(call))
			whole[count++] = all;
		all++;
	}
	return count ? whole[(count - 1) / 2] : (all - 1) / 2;
}

/* Most valuable first: other values of indices may make the function crash; then the small ones. */
static int
compare_recordings(const void *a, const void *b)
{
	const struct recording *x = a, *y = b;

	return x->real != y->real ? x->real - y->real : (x->mb > y->mb) - (x->mb < y->mb);
}

/* The *COUNT arrays of all configurations; those for which there is room are chosen. */
static struct recording *
choose(const json_t *configs, double limit, size_t *count)
{
	struct recording *all = NULL;
	double total = 0;

	*count = 0;
	kjson_foreach(c, configs)
		kjson_foreach_member(name, p, c, "pointers") {
			const struct number_type *type =
			    number_type(kjson_str(value_parameter(name), "type"));

			*kadded(all, *count) = (struct recording){ .config = c,
				.array = name,
				.mb = size_mb(p),
				.real = type && !type->integer };
		}
	if (*count)
		qsort(all, *count, sizeof *all, compare_recordings);
	kforeach_of(r, all, *count) {
		r->chosen = limit > 0 && total + r->mb <= limit;
		total += r->chosen ? r->mb : 0;
	}
	return all;
}

/* Reports what is recorded of a configuration, and what is not. Is it anything? */
static bool
tell_chosen(const json_t *config, const struct recording *all, size_t n, double limit)
{
	const char *name = kjson_str_or(config, "name", "?");
	json_auto_t *others = json_array();
	auto_free char *text = NULL;
	double mb = 0, more = 0;
	size_t arrays = 0;

	kforeach_of(r, all, n) {
		if (r->config != config)
			continue;
		arrays += r->chosen;
		*(r->chosen ? &mb : &more) += r->mb;
		if (!r->chosen)
			kjson_add(others, r->array);
	}
	text = listed(others);
	if (*text)
		kwarn("%s: %s of %s, %.1f MB, would exceed --record-mb %.0f, so %s not recorded",
		    adoption.kernel, text, name, more, limit,
		    json_array_size(others) > 1 ? "they are" : "it is");
	if (arrays)
		ksay("record     %s: %zu array%s, %.1f MB\n", name, arrays, arrays == 1 ? "" : "s",
		    mb);
	return arrays;
}

/* The lines for kwatch, and a report. The caller frees. */
static char *
plan(const json_t *configs, const json_t *calls)
{
	double limit = kjson_num_or(adoption.json, "record_mb", MEGABYTES), total = 0;
	struct kbuf b = kbuf_empty();
	size_t n;
	auto_free struct recording *all = choose(configs, limit, &n);

	kjson_foreach(c, configs)
		if (tell_chosen(c, all, n, limit))
			add_line(&b, c, skipped(calls, c), all, n);
	kforeach_of(r, all, n)
		total += r->chosen ? r->mb : 0;
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
	auto_buf struct kbuf b = kbuf_empty();

	kjson_foreach(call, calls)
		if (kany(kjson_foreach_member(name, p, call, "pointers"),
		        json_object_get(p, "written"))) {
			auto_free char *line = json_dumps(call, KIO_DUMP);

			kbuf_printf(&b, "%s\n", line);
		}
	write_text(adopt_path("recorded/calls.ndjson"), b.data);
}

/* Run the application once more; the files show which calls occurred. */
static void
save(const char *lines)
{
	char *file = adopt_path("recorded/calls");
	json_auto_t *calls = NULL;
	json_int_t dropped;

	watch =
	    (struct watch){ .folder = adopt_path("watch"), .cuda = adoption.device, .save = file };
	write_text(file, lines);
	watch_find();
	/* Run the copy that was observed, unless somebody removed it. */
	if (!kis_there(watch_copy_path()))
		watch_prepare();
	calls = watch_run(WATCH_ARGS, &dropped);
	write_saved(calls);
}

int
record(void)
{
	json_auto_t *document = kjson_load(adopt_made("configs.json", "configs")), *header = NULL,
	            *calls = read_records(adopt_made("observed.ndjson", "observe"), &header);
	auto_free char *lines = plan(json_object_get(document, "configs"), calls);

	remove_folder(adopt_path("recorded"));
	/* Logs name no arrays, and launches are observed without a wrapper. */
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
