/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt task: makes a task from the reference and the observation, tries it on the reference
 * itself, and makes a campaign around it. Open choices (roles, oracle, tolerance, shapes to check
 * with) are settled by what the reference passes.
 */

#include "adopt.h"
#include "knpy.h"
#include "../tools/model/kseal.h"
#include "shape.h"
#include "unit.h"

/* TIMED_OUT: of timeout(1). ALIGNED: the default alignment of a task. */
enum { TIMED_OUT = 124, COMBINATIONS = 4, LOG_LINES = 400, FEW = 2, SURE = 16, ALIGNED = 64 };

/*
 * If the ratio of the standalone time to the time in the application is outside these limits, they
 * measure different things.
 */
static const double proxy_limits[2] = { 0.2, 5 };
/* Shorter calls mostly measure caches and pages: cold when alone, warm in the application. */
static const double cold_us = 10;
/*
 * The first touch of a page takes at most this long; it happens in the application, but not alone.
 */
static const double touch_us = 10;

#define ORACLE "oracle.so"

/* Samples of a workload, when the judge of candidates is tried on the reference. */
static const double brief_s = 0.02;

/* What local variables hold before they are set: always the same, instead of what was there. */
static const char zeros[] = "-ftrivial-auto-var-init=zero",
                  pattern[] = "-ftrivial-auto-var-init=pattern";

/*
 * How recorded floating-point arrays can vary: similar ones may be drawn; or only integers have a
 * meaning, and any floating-point numbers will do; or only the recorded ones work.
 */
enum floats { FLOATS_FRESH, FLOATS_INVENTED, FLOATS_KEPT, FLOATS_COUNT };

/* The task that is being made: one a process. */
static struct {
	json_t *configs; /* those of configs.json, borrowed */
	char *text;      /* of the reference */
	struct kscan scan;
	json_t *task;
	json_t *targets;    /* the configurations whose times count, by workload */
	json_t *counted;    /* formulas for the work of a call, by counters; or NULL */
	json_t *untimed;    /* names of configurations that are not timed either */
	bool inout;         /* arrays that are written are also read */
	const char *oracle; /* "double", "reference", or "self": doubles already, or integers */
	size_t step;        /* of the tolerance */
	bool loosened;      /* it is one step more than the reference needs */
	bool held;          /* and so do arrays of integers */
	enum floats floats;
	json_t *tried;   /* the reference as it was judged last; NULL: the judge crashed */
	json_t *symbols; /* what it needs of the C library, beyond what every candidate may call */
	json_t *timing;  /* its times, when the campaign's judge accepted it */
	char *crash;     /* on which workload its oracle then crashed, or NULL */
	double alone_s;  /* for the reference on all workloads, once */
	bool hung;       /* the judge did not finish: the oracle has no time limit */
	bool deep;       /* call it with a stack of 1 GB */
	bool crashed;    /* with the numbers of one draw, after it was right with others */
	const char *sanitizer; /* loads its library; NULL: not built yet, "": there is none */
	bool checked;          /* calls go to the build with the sanitizer */
} draft = { .oracle = "double" };

/* What it has beyond the application's calls. */
static struct extra {
	json_t *small; /* workloads that are checked but not timed */
	bool large;    /* inputs of large magnitudes */
	bool fixed;    /* sizes and numbers only have values that were observed */
} extra = { .large = true };

/* A note that ends with the names of workloads: NAME joins those of an earlier note. */
static void
note_workload(const char *about, const char *name)
{
	kjson_foreach(note, parameters.notes)
		if (kbegins(json_string_value(note), about) && !parameters.told) {
			auto_free char *longer = kasprintf("%s, %s", json_string_value(note), name);

			json_string_set(note, longer);
			return;
		}
	add_note("%s: %s", about, name);
}

/*
 * How far results may be from the oracle's, for "reduction" and "rtol". The default first, each
 * looser than the one before.
 */
static const struct {
	const char *reduction;
	double rtol;
} steps[] = { { NULL, 0 }, { "64", 0 }, { "4096", 0 }, { "262144", 1e-5 }, { "262144", 1e-4 },
	{ "262144", 1e-3 } };

/*
 * Factors become dimensions only if every '*' is outside parentheses and nothing is added:
 * otherwise there is one dimension.
 */
static json_t *
shape_json(const char *shape)
{
	static const char product[] = "\\A(?<f>\\w+|(?<p>\\((?:[^()*]|(?&p))*\\)))(?:\\*(?&f))*\\z";
	auto_free char *copy = kstrdup(shape);
	json_t *list;

	if (!kregex_is(product, shape))
		return json_pack("[s]", shape);
	list = json_array();
	kpart_foreach(p, copy, "*") {
		size_t inside = *p == '(';

		json_array_append_new(list,
		    kis_digit(*p) ? json_integer(strtoll(p, NULL, 0))
		                  : json_stringn(p + inside, strlen(p) - 2 * inside));
	}
	return list;
}

static bool
is_output(const struct value *x)
{
	return x->role == ROLE_ARRAY && x->written;
}

/*
 * An axis of the kernel. If an array has a size of its own, the axis was only observed with this
 * value.
 */
static json_t *
axis_json(const struct value *x)
{
	json_t *axis;

	if (x->tied)
		return json_pack("{s:s,s:s}", "type", "expr", "expression", x->tied);
	axis = json_pack("{s:s}", "type", "var");
	if (extra.fixed || x->listed || kany(values_each(y), y->own))
		json_object_set_new(axis, "fixed", json_true());
	return axis;
}

static void
add_members(json_t *axes, json_t *inputs, json_t *outputs, json_t *arguments)
{
	values_each(x) {
		json_t *tensor;

		if (x->role == ROLE_STREAM)
			continue;
		if (x->role == ROLE_AXIS) {
			json_object_set_new(axes, x->name, axis_json(x));
			json_array_append_new(arguments,
			    !strcmp(x->dtype, "int64")
			        ? json_pack("{s:s,s:s}", "axis", x->name, "dtype", "int64")
			        : json_string(x->name));
			continue;
		}
		kjson_add(arguments, x->name);
		/*
		 * The meaning of an integer is unknown: it may be a mode or a stride.
		 * Floating-point numbers may vary.
		 */
		if (x->role == ROLE_SCALAR) {
			json_object_set_new(inputs, x->name,
			    json_pack("{s:n,s:s,s:O,s:b}", "shape", "dtype", x->dtype, "value",
			        json_object_get(
			            json_object_get(json_array_get(parameters.calls, 0), "args"),
			            x->name),
			        "fixed", extra.fixed || !kbegins(x->dtype, "float")));
			continue;
		}
		tensor = json_pack("{s:o,s:s}", "shape", shape_json(x->shape), "dtype", x->dtype);
		if (x->align < ALIGNED)
			kjson_put(tensor, "align", x->align < x->bytes ? x->bytes : x->align);
		if (x->own)
			json_object_set_new(
			    axes, x->shape, json_pack("{s:s,s:b}", "type", "var", "fixed", 1));
		if (is_output(x) && (draft.inout || x->constant))
			json_object_set_new(tensor, "inout", json_true());
		json_object_set_new(is_output(x) ? outputs : inputs, x->name, tensor);
	}
}

/* Bytes that a call must move: every array once, those that are updated twice. */
static char *
bytes_expression(void)
{
	struct kbuf b = { 0 };

	values_each(x) {
		if (x->role == ROLE_ARRAY)
			kbuf_printf(&b, "%s%zu*(%s)", b.len ? "+" : "",
			    x->bytes * (is_output(x) && draft.inout ? 2 : 1), x->shape);
	}
	return b.data;
}

/* ---- workloads ---- */

/* Axes and scalars of a call, in the form of a workload. */
static json_t *
workload(const char *name, const json_t *args)
{
	json_t *axes = json_object(), *values = json_object(),
	       *w = json_pack("{s:s,s:o}", "name", name, "axes", axes);

	values_each(x) {
		json_t *given = json_object_get(args, x->name);

		if (value_is_free(x))
			kjson_put(axes, x->name, (json_int_t)json_number_value(given));
		else if (x->role == ROLE_SCALAR)
			json_object_set(values, x->name, given);
	}
	json_object_set_new(w, "values", values);
	if (!json_object_size(values))
		json_object_del(w, "values");
	return w;
}

/* Does the kernel read the array, as far as is known or currently assumed? */
static bool
is_input(const struct value *x)
{
	return x->role == ROLE_ARRAY && (!is_output(x) || draft.inout || x->constant);
}

static bool
is_float(const struct value *x)
{
	return kbegins(x->dtype, "float") || !strcmp(x->dtype, "bfloat16");
}

/*
 * The array's number of elements in a call, or 0. If calls always get a whole block, a call may
 * touch only a part, and other numbers may lead to another part: so the array is the whole block.
 */
static size_t
elements_of(const struct value *x, const struct knpy *bytes, const json_t *args)
{
	struct kscan_scope scope = { .values = args };
	bool part = x->reached && json_object_size(x->shared);
	size_t reach = part ? value_reach(x, args) : 0;
	int64_t n;

	if (x->own)
		return (reach && reach < bytes->count ? reach : bytes->count) / x->bytes;
	return kscan_number(&scope, x->shape, &n) && n > 0 ? (size_t)n : 0;
}

/*
 * The recorded bytes of an array, as a file of its type next to the task; returns its name there,
 * or NULL if no recording has that many elements. COUNT: its elements.
 */
static char *
typed_file(const char *config, const struct value *x, const json_t *args, size_t *count)
{
	char *from = recorded_path(config, x->name, false), why[256], *name, *to;
	char kind = !strcmp(x->dtype, "bfloat16") || *x->dtype == 'u' ? 'u' : *x->dtype;
	const json_t *given = value_given(args, x->name);
	bool null = given && !json_number_value(given);
	struct knpy bytes = { .count = x->bytes };

	if (!null && (!from || !knpy_read(from, &bytes, why, sizeof why)))
		return NULL;
	*count = elements_of(x, &bytes, args);
	/* Nothing reads an array that is a null pointer in the call. */
	if (null) {
		bytes.count = *count * x->bytes;
		bytes.data = bytes.memory = kcalloc(bytes.count + 1, 1);
	}
	name = kasprintf("recorded/%s.%s.npy", config, x->name);
	to = adopt_path("task/%s", name);
	if (!*count || *count * x->bytes > bytes.count) {
		free(name);
		name = NULL;
	} else if (!kis_there(to)) {
		make_folder_of(to);
		if (!knpy_write(to, kind, x->bytes, bytes.data, *count))
			kdie_io("%s", to);
	}
	knpy_free(&bytes);
	return name;
}

/*
 * The recorded arrays of a configuration become the contents of the workload's inputs. A size of
 * its own is set even if the array is not recorded.
 */
static void
add_recorded(json_t *w, const char *config, const json_t *args)
{
	json_t *values = kjson_ensure(w, "values", json_object());

	values_each(x) {
		size_t count = 0;
		auto_free char *file =
		    x->role == ROLE_ARRAY ? typed_file(config, x, args, &count) : NULL;

		if (x->own && !file)
			count = value_reach(x, args) / x->bytes;
		if (x->own && count)
			kjson_put(json_object_get(w, "axes"), x->shape, count);
		if (file && is_input(x) && !(is_float(x) && draft.floats == FLOATS_INVENTED)) {
			json_t *o = json_pack("{s:s}", "file", file);

			if (is_float(x) && draft.floats == FLOATS_KEPT)
				json_object_set_new(o, "fresh", json_false());
			if (x->fresh && !is_float(x))
				json_object_set_new(o, "fresh", json_true());
			json_object_set_new(values, x->name, o);
		}
	}
	if (!json_object_size(values))
		json_object_del(w, "values");
}

/* The workload among ALL with the same arguments, or NULL. */
static json_t *
twin_of(const json_t *all, const json_t *w)
{
	kjson_foreach(other, all) {
		const json_t *x = json_object_get(other, "values"),
		             *y = json_object_get(w, "values");

		if (json_equal(json_object_get(other, "axes"), json_object_get(w, "axes")) &&
		    (x == y || json_equal(x, y)))
			return other;
	}
	return NULL;
}

/*
 * The configurations as timed workloads, weighted by their shares of the application's time. Those
 * with equal arguments are one, with the name of the one with most calls.
 */
static json_t *
timed_workloads(void)
{
	json_t *all = json_array();
	double total = 0;
	bool timed;

	json_object_clear(draft.targets);
	kjson_foreach(c, draft.configs) {
		total += kjson_num(c, "share");
		values_number(json_object_get(c, "scalars"));
	}
	kjson_foreach(c, draft.configs) {
		const char *name = kjson_str(c, "name");
		const json_t *args = json_object_get(c, "scalars");
		double share = 0;
		bool rarer = false;
		json_t *w;

		kjson_foreach(d, draft.configs) {
			long more = kjson_int(d, "calls") - kjson_int(c, "calls");

			if (!json_equal(json_object_get(d, "scalars"), args))
				continue;
			share += kjson_num(d, "share");
			rarer |= more > 0 || (!more && kjson_at(d) < kjson_at(c));
		}
		if (rarer)
			continue;
		w = workload(name, args);
		kjson_put(w, "weight", fmax(1e-6, round(1e6 * share / (total ?: 1)) / 1e6));
		add_recorded(w, name, args);
		json_object_set(draft.targets, name, c);
		json_array_append_new(all, w);
	}
	timed = kany(kjson_foreach(w, all), !kjson_has(draft.untimed, kjson_str(w, "name")));
	kjson_foreach(w, all)
		/* The calls with most of the time may have been left out since. */
		if (!timed || !kjson_has(draft.untimed, kjson_str(w, "name")))
			json_object_set_new(w, "timed", json_true());
	return all;
}

/* Does each array have at least one element with these arguments? n/2 is 0 if n is 1. */
static bool
has_elements(const json_t *args)
{
	struct kscan_scope scope = { .values = args };
	int64_t n;

	return !kany(values_each(x), x->shape && kscan_number(&scope, x->shape, &n) && n < 1);
}

/*
 * A workload that exists is not added again; one with the same sizes and other values gets another
 * name.
 */
static void
add_check(json_t *all, const char *name, const json_t *args)
{
	json_auto_t *w = workload(name, args);

	if (kjson_find(all, "name", name))
		json_object_set_new(w, "name", json_sprintf("%sb", name));
	if (!twin_of(all, w) && has_elements(args))
		json_array_append(all, w);
}

/*
 * Arguments that are not sizes belong together (a radius and its width): use combinations that
 * occurred, the most frequent first.
 */
static json_t *
combinations(void)
{
	json_auto_t *seen = json_object();
	json_t *list = json_array();

	kjson_foreach(call, parameters.calls) {
		json_t *args = json_object_get(call, "args");
		json_auto_t *rest = json_copy(args);
		auto_free char *key = NULL;

		values_each(x)
			if (x->role == ROLE_AXIS && x->size)
				json_object_del(rest, x->name);
		key = json_dumps(rest, KIO_DUMP);
		if (json_array_size(list) < COMBINATIONS && kjson_enter(seen, key))
			json_array_append(list, args);
	}
	return list;
}

/* Sets the sizes among ARGS, and adds them to NAME. */
static void
set_sizes(json_t *args, const int sizes[4], struct kbuf *name)
{
	size_t n = 0;

	values_each(x)
		if (value_is_free(x) && x->size) {
			kjson_put(args, x->name, sizes[n % 4]);
			kbuf_printf(name, "_%d", sizes[n++ % 4]);
		}
}

/*
 * Integers that are not sizes, one above and one below the observed values: the winner must be
 * right there too.
 */
static void
add_neighbours(json_t *all, const json_t *given)
{
	static const int sizes[] = { 23, 29, 35, 41 };

	values_each(x)
		for (int by = -1; by <= 1 && value_is_free(x) && !x->size; by += 2) {
			size_t at = by < 0 ? json_array_size(given) - 1 : 0;
			json_auto_t *args = json_deep_copy(json_array_get(given, at));
			json_int_t v = kjson_int(args, x->name) + by;
			auto_buf struct kbuf none = { 0 };

			kjson_put(args, x->name, v);
			set_sizes(args, sizes, &none);
			if (v > 0)
				add_check(all, kshown("check_%s_%lld", x->name, v), args);
		}
}

/* Small and odd sizes to check with: one, few, primes, long and thin, near powers of two. */
static json_t *
small_workloads(void)
{
	static const int sizes[][4] = { { 1, 1, 1, 1 }, { 3, 5, 2, 3 }, { 17, 31, 7, 5 },
		{ 1, 61, 3, 2 }, { 67, 1, 2, 3 }, { 33, 64, 5, 4 }, { 65, 129, 3, 3 } };
	json_auto_t *given = combinations();
	json_t *all = json_array();

	/* Sizes that no argument determines are only known for recorded calls. */
	if (kany(values_each(x), x->own))
		return all;
	for (size_t i = 0; i < LEN(sizes); i++) {
		json_auto_t *args =
		    json_deep_copy(json_array_get(given, i % json_array_size(given)));
		auto_buf struct kbuf name = kbuf_empty();

		set_sizes(args, sizes[i], &name);
		if (name.len)
			add_check(all, kshown("check%s", name.data), args);
	}
	add_neighbours(all, given);
	return all;
}

/* ---- the whole task ---- */

/*
 * The comment at the prototype or the definition, which describes the function, in one line and
 * without its delimiters; "" if there is none. The caller frees.
 */
static char *
comment_of(void)
{
	static const char marks[] = "(?m)//|/\\*+(?!/)|\\*/|^[ \\t]*\\*+(?!/)";
	json_auto_t *settings = compile_settings();
	auto_free char *found = NULL, *plain = NULL;
	struct bundle b;

	bundle_open(&b, adoption.file, project_copy(), settings);
	bundle_items(&b, f, x)
		if (!found && (x->kind == KSCAN_FUNCTION || x->kind == KSCAN_DECLARATION) &&
		    kscan_declares(x, adoption.kernel) && x->lead < x->from)
			found = kstrndup(f->text + x->lead, x->from - x->lead);
	bundle_close(&b);
	plain = kregex_sub(marks, found ?: "", "");
	return kfence_line(plain, 1200);
}

/* Does one of the compiler's flags begin like this? */
static bool
has_flag(const json_t *settings, const char *begin)
{
	return kany(kjson_foreach_text(flag, settings, "flags"), kregex_is(begin, flag));
}

/* Arrays that are the same as another one in some calls of the application. New reference. */
static json_t *
aliases(void)
{
	json_t *list = json_array();

	kjson_foreach(call, parameters.calls)
		kjson_foreach_member(name, p, call, "pointers")
			if (kjson_maybe(p, "same_as") && !kjson_find(list, "name", name))
				kjson_append(list, "{s:s,s:s}", "name", name, "other",
				    kjson_str(p, "same_as"));
	return list;
}

/* Arrays that are missing in some calls of the application. New reference. */
static json_t *
optional(void)
{
	json_t *list = json_array();

	values_each(x)
		if (x->optional)
			kjson_add(list, x->name);
	return list;
}

/* Are there several functions of this name? */
static bool
is_overloaded(void)
{
	size_t count = 0;

	kscan_items(x, &draft.scan)
		count += x->kind == KSCAN_FUNCTION && kscan_declares(x, adoption.kernel);
	return count > 1;
}

/*
 * Is the entry unable to take the work over: in a template, for a structure, for an object with
 * private members, or because other calls may have arguments that it does not accept, or are of
 * another overload? See caller_body.
 */
static bool
is_body_only(void)
{
	const struct kscan_item *f = kscan_function(&draft.scan, adoption.kernel);

	return kscan_has_path(adoption.kernel) || json_object_get(adoption.unit, "assumed") ||
	    (f && (kscan_has_word(f, "template") || is_overloaded())) ||
	    kany(kjson_foreach(p, adoption.unit, "parameters"),
	        kjson_bool(p, "result") && kjson_bool(p, "bytes"));
}

/* What the task says about the function: prompts/adopt/task.txt, in one line. New reference. */
static json_t *
description(void)
{
	const json_t *assumed = json_object_get(adoption.unit, "assumed");
	auto_free char *comment = comment_of(), *class = kscan_path(adoption.kernel),
	               *kernels = listed(json_object_get(adoption.unit, "sequence")), *text = NULL,
	               *line = NULL;
	json_auto_t *settings = compile_settings(), *facts = NULL;
	json_t *joined = json_array();
	bool launched = kjson_bool(adoption.unit, "kernel") && !is_overloaded(),
	     body = is_body_only(), threads = adoption.device || has_flag(settings, "\\A-fopenmp"),
	     wide = adoption.device || has_flag(settings, "\\A-m(?:arch|avx|cpu)");

	facts = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:b,s:b,s:b,s:b,s:b,s:b,s:o,s:o,s:O*,s:O*,"
	                  "s:o}",
	    "kernel", adoption.kernel, "file", adoption.file, "entry", adoption.entry, "class",
	    class, "kernels", kernels, "comment", comment, "cxx", adoption.cxx, "own",
	    strcmp(adoption.entry, adoption.kernel) != 0, "launched", launched, "body", body,
	    "replaces", !unit_has_other(adoption.unit) && (launched || !body), "threads", threads,
	    "wide", wide, "aliases", aliases(), "optional", optional(), "null",
	    json_object_get(assumed, "null"), "within", json_object_get(assumed, "within"),
	    "joined", joined);
	kjson_foreach_member(name, other, assumed, "joined")
		kjson_append(joined, "{s:s,s:O}", "name", name, "other", other);
	text = ask_text("task", facts);
	line = kfence_line(text, strlen(text));
	return kjson_string(line);
}

/*
 * The entry's head, from the reference, in one line; the caller frees. Its only string, which is
 * blank in the code, is the language.
 */
static char *
prototype(void)
{
	const struct kscan_item *f = kscan_function(&draft.scan, adoption.entry);
	auto_free char *head = f ? kscan_copy(f->in, f->from, f->body) : kstrdup(""),
	               *plain = kregex_sub("\"\\s*\"", head, "\"C\"");

	return kfence_line(plain, strlen(plain));
}

void
task_formulas(json_t *task)
{
	kjson_pick(task, adoption.json, "flops", "bytes");
}

static void
draft_task(void)
{
	const char *oracle =
	    strcmp(draft.oracle, "self") ? kshown("oracle.%s", adoption.suffix) : NULL;
	double rtol = steps[draft.step].rtol;
	json_t *axes = json_object(), *inputs = json_object(), *outputs = json_object(),
	       *arguments = json_array(), *workloads, *t;
	json_auto_t *settings = compile_settings();
	auto_free char *bytes = bytes_expression(), *head = prototype();

	add_members(axes, inputs, outputs, arguments);
	if (!json_object_size(outputs))
		kdie_usage("%s did not change any of its arrays in any observed call, "
		           "so there is nothing to check",
		    adoption.kernel);
	workloads = timed_workloads();
	json_array_extend(workloads, extra.small);
	t = json_pack("{s:s,s:s,s:s,s:o,s:s,s:o,s:o,s:o,s:{s:s,s:o,s:s},s:s,s:{s:s,s:O,s:o},s:o,"
	              "s:s*,s:s*,s:s*,s:o*,s:o,s:O*,s:{s:s,s:s,s:O}}",
	    "schema", "task/1", "name", adoption.kernel, "op", adoption.kernel, "description",
	    description(), "language", adoption.language, "axes", axes, "inputs", inputs, "outputs",
	    outputs, "entry", "name", adoption.entry, "arguments", arguments, "prototype", head,
	    "reference", kshown("reference.%s", adoption.suffix), "build", "compiler",
	    kjson_str_or(settings, "compiler", "gcc"), "flags", json_object_get(settings, "flags"),
	    "libs", task_libraries(), "workloads", workloads, "bytes", bytes, "oracle", oracle,
	    "reduction", steps[draft.step].reduction, "tolerance",
	    rtol > 0 ? json_pack("{s:f}", "rtol", rtol) : NULL, "distributions",
	    extra.large ? json_pack("[s,s,s]", "normal", "uniform", "large")
	                : json_pack("[s,s]", "normal", "uniform"),
	    "allow_symbols", draft.symbols, "notes", "adopted", adoption.file, "oracle",
	    draft.oracle, "told", parameters.notes);
	if (!t)
		kdie(K_IO, "out of memory");
	if (!draft.counted)
		draft.counted = task_count(t);
	json_object_update(t, draft.counted);
	task_formulas(t);
	json_decref(draft.task);
	draft.task = t;
}

static void
write_draft(void)
{
	char *path = adopt_path("task/task.json");

	draft_task();
	write_json(path, draft.task);
}

/* A separate task with the recorded calls unchanged, and nothing drawn anew. */
static void
write_replay(void)
{
	json_t *small = extra.small;
	enum floats floats = draft.floats;

	extra.small = json_array();
	draft.floats = FLOATS_KEPT;
	draft_task();
	kjson_foreach(w, draft.task, "workloads")
		kjson_foreach_member(name, v, w, "values")
			if (json_is_object(v))
				json_object_set_new(v, "fresh", json_false());
	write_json(adopt_path("task/replay.json"), draft.task);
	json_decref(extra.small);
	extra.small = small;
	draft.floats = floats;
}

/* ---- trying it out ---- */

/*
 * Text of the oracle for the choices so far; NULL with *WHY when that is impossible; the caller
 * frees both.
 */
static char *
oracle_text(char **why)
{
	if (!strcmp(draft.oracle, "double"))
		return oracle_swap(draft.text, why);
	return !strcmp(draft.oracle, "self") ? kstrdup(draft.text)
	                                     : oracle_wrap(draft.text, draft.task);
}

/*
 * Build the oracle for the choices so far, unless it is the last one. Returns why there is none, or
 * NULL; the caller frees.
 */
static char *
make_oracle(void)
{
	char *why = NULL, *path = adopt_path("task/oracle.%s", adoption.suffix),
	     *object = adopt_path("task/" ORACLE);
	auto_free char *text = oracle_text(&why), *was = file_text(path, NULL), *log = NULL;

	if (!text || (was && !strcmp(was, text) && kis_there(object)))
		return why;
	write_text(path, text);
	unlink(object);
	return build_alone(path, object, &log)
	    ? NULL
	    : kasprintf("it does not compile: %.*s", (int)strcspn(log, "\n"), log);
}

/*
 * Run kharness with these arguments. The oracle runs inside it without a time limit: if numbers
 * make it loop forever, the time exceeds what any number of calls could take.
 */
static struct command_result
run_judge(const char *name, const char *arguments)
{
	enum { AT_LEAST_S = 10, CALLS = 100 };
	double limit_s = adoption.timeout_s;
	struct command_result r;

	adoption.timeout_s = fmin(limit_s, AT_LEAST_S + CALLS * draft.alone_s);
	r = command_own(adopt_path("task"),
	    kshown("kharness --backend %s %s", adoption.language, arguments), name);
	adoption.timeout_s = limit_s;
	draft.hung |= r.status == -1;
	return r;
}

/* The workload on which the oracle crashed, according to the judge, or NULL. The caller frees. */
static char *
crash_said(const char *text)
{
	return kregex_part("the oracle crashed on workload ([^\\n]*)", text);
}

/*
 * Runs kharness on the reference; new reference: its candidate. NULL when the judge itself crashed:
 * the oracle runs inside it, and damages it if arrays are smaller than the oracle assumes.
 */
static json_t *
judge(int seeds)
{
	char *out = adopt_path("log/harness.json");
	auto_result struct command_result r = { 0 };
	json_auto_t *answer = NULL;

	unlink(out);
	r = run_judge("harness",
	    kshown("-t task.json -s full --oracle ./" ORACLE " --phase "
	           "correctness --threads %ld --seeds %d --name "
	           "reference ./reference.so -o ../log/harness.json",
	        kjson_int(adoption.json, "threads"), seeds));
	/* A judge with damaged memory may also end with a result that cannot be written. */
	if (r.status > 0 && r.status < 128 && r.status != K_IO)
		kdie(r.status == 127 ? K_MISSING : r.status,
		    "the reference cannot be evaluated:\n%s", r.said);
	answer = r.status ? NULL : kjson_load(out);
	free(draft.crash);
	draft.crash = answer ? NULL : crash_said(r.said);
	return json_incref(json_array_get(json_object_get(answer, "candidates"), 0));
}

/* Run it on the reference alone, in a separate process, with these options. */
static struct command_result
run_solo(const char *name, const char *options)
{
	return command_own(adopt_path("task"),
	    kshown("%s%skharness --solo -s full --backend %s --threads %ld %s ./%s.so",
	        draft.deep ? "ulimit -s 1048576; " : "", draft.checked ? draft.sanitizer : "",
	        adoption.language, kjson_int(adoption.json, "threads"), options,
	        draft.checked ? "checked" : "reference"),
	    name);
}

/* Right in every case that was tried. */
static bool
all_passed(const json_t *c)
{
	json_int_t total = kjson_int(c, "correctness.total");

	return total > 0 && kjson_int(c, "correctness.passed") == total &&
	    !json_array_size(json_object_get(c, "reasons"));
}

/*
 * An array that no call was seen to change may still be written: with the value that was already
 * there. The judge names it; a GPU only reports a fault, and then it may be any of them. True if
 * that was new.
 */
static bool
learn_written(void)
{
	bool learned = false;

	kjson_foreach(r, draft.tried, "reasons") {
		const char *tensor = kjson_str(r, "tensor");
		bool any = kjson_is(r, "check", "device_fault");

		values_each(x) {
			if (x->role != ROLE_ARRAY || x->written ||
			    !(any ? !x->constant : !strcmp(tensor, x->name)))
				continue;
			value_is_written(x);
			learned = true;
		}
	}
	return learned;
}

static bool
passes(int seeds, struct kbuf *said)
{
	bool good;

	do {
		json_decref(draft.tried);
		write_draft();
		draft.tried = judge(seeds);
		good = all_passed(draft.tried);
	} while (!good && learn_written());
	if (!good && said) {
		auto_free char *line = kfence_line(draft.tried ? kjson_str(draft.tried, "log")
		                                               : "it writes or reads beyond its "
		                                                 "arrays, so their shapes are "
		                                                 "wrong",
		    LOG_LINES);

		kbuf_printf(said, "  %s, oracle %s: %s: %s\n",
		    draft.inout ? "updated in place" : "written completely", draft.oracle,
		    kjson_str_or(draft.tried, "status", "?"), line);
	}
	return good;
}

/*
 * How many draws show whether it is right: fewer if they take long, because each has many numbers.
 */
static int
sure(void)
{
	return (int)fmax(FEW, SURE / fmax(1, draft.alone_s));
}

/* The name after the last "apart: begin" in TEXT that has no matching "apart: done", or NULL. */
static char *
unfinished(const char *text)
{
	return kregex_part("(?s).*apart: begin ([^\\n]*+)(?!.*apart: done )", text);
}

/* Instead of the workloads' own sizes, those that the check of a candidate draws around them. */
static const char around[] = "--drawn --seed 1";

/* Enough for a call: a thousand times as long as in the application, and the program's start. */
static double
patience_s(void)
{
	enum { AT_LEAST_S = 5, AT_MOST_S = 20 };
	double longest_us = 0;

	kjson_foreach(c, draft.configs)
		longest_us = fmax(longest_us, kjson_num(c, "target_us"));
	return adoption.device ? AT_MOST_S : fmin(AT_MOST_S, AT_LEAST_S + longest_us / 1e3);
}

/*
 * Call the reference, in a separate process, on every workload of TASK, a file; returns the name of
 * one on which it crashes, accesses memory beyond its arrays or ends the process, perhaps "with
 * NAME drawn as VALUE", or NULL. The caller frees.
 */
static char *
call_alone(const char *task, const char *more)
{
	auto_free char *text = NULL;
	auto_result struct command_result r = run_solo("probe",
	    kshown("%s --run-timeout-s %.0f -t %s %s", draft.checked ? "--apart" : "--fenced",
	        patience_s(), task, more));

	if (!draft.checked && (r.status == K_MISSING || r.status == K_USAGE || r.status == K_AGAIN))
		kdie(r.status, "the reference cannot be tried:\n%s", r.said);
	text = r.status && r.status != TIMED_OUT ? file_text(r.log, NULL) : NULL;
	if (!r.status && more != around && !draft.checked)
		draft.alone_s = r.wall_s;
	return text ? unfinished(text) : NULL;
}

static char *
crashes_on(void)
{
	return call_alone("task.json", "");
}

static char *
crashes_around(void)
{
	return call_alone("task.json", around);
}

/*
 * The same with numbers as several checks of candidates draw them, in a build that also stops at
 * indices and shifts that happen to be harmless. NULL also if that costs too much, or if calls of
 * the application's stop there.
 */
static char *
strays_on(void)
{
	enum { DRAWS = 8, ENOUGH_S = 4 };
	int64_t begun = know_ns();
	auto_free char *own = NULL;
	char *name = NULL;

	draft.sanitizer = draft.sanitizer ?: build_checked();
	if (!*draft.sanitizer)
		return NULL;
	draft.checked = true;
	write_replay();
	write_draft();
	own = call_alone("replay.json", "");
	for (int n = 1; n <= DRAWS && !own && !name && kseconds_since(begun) < ENOUGH_S; n++)
		name = call_alone("task.json", kshown("--seed %d", n))
		    ?: call_alone("task.json", kshown("--drawn --seed %d", n));
	draft.checked = false;
	return name;
}

/* What a task takes over unchanged from the application's calls: sizes before floats. */
enum kept { KEPT_SIZES, KEPT_FLOATS };

static const char crashes[] = "the reference crashes with sizes or numbers other than those of the "
                              "application's calls";

/* What a task gives up first; the reference DOES something on them. */
static void
note_large(const char *does)
{
	add_note("the reference itself %s inputs of very different magnitudes, which are left out",
	    does);
}

/* Are there floating-point numbers, of at least and at most so many bytes? */
static bool
has_floats(size_t least, size_t most)
{
	return kany(
	    values_each(x), x->dtype && is_float(x) && x->bytes >= least && x->bytes <= most);
}

/*
 * Takes over one more thing from the application's calls, beginning with FROM, because of WHY:
 * their sizes and numbers, or their floating-point arrays. False: these are taken over already.
 */
static bool
restrict_inputs(enum kept from, const char *why)
{
	if (from == KEPT_SIZES && !extra.fixed) {
		extra.fixed = true;
		add_note("%s, so these are the only ones", why);
		return true;
	}
	if (!parameters.recorded || draft.floats >= FLOATS_KEPT || !has_floats(0, 8))
		return false;
	draft.floats = FLOATS_KEPT;
	add_note("%s, so floating-point inputs are those of the application", why);
	return true;
}

/* The first array that the application's call NAME reads and that was not recorded; NULL: none. */
static const char *
unrecorded(const char *name)
{
	values_each(x)
		if (is_input(x) && !recorded_path(name, x->name, false))
			return x->name;
	return NULL;
}

/*
 * Leaves out the call NAME of the application's, with which the reference crashes, if that may be
 * due to arrays that were not recorded. False: nothing else is left, or all were recorded.
 */
static bool
drop_unrecorded(const char *name)
{
	kjson_foreach(c, draft.configs) {
		if (!kjson_is(c, "name", name) || !unrecorded(name) ||
		    json_array_size(draft.configs) == 1)
			continue;
		add_note("%s is left out: the reference crashes on it, and %s was not recorded "
		         "there; --record-mb %.0f records everything",
		    name, unrecorded(name), recording_mb(draft.configs));
		return !json_array_remove(draft.configs, kjson_at(c));
	}
	return false;
}

/* Leaves out an invented workload; false: NAME is a call of the application's. */
static bool
drop_named(const char *name)
{
	kjson_foreach(w, extra.small)
		if (kjson_is(w, "name", name))
			return !json_array_remove(extra.small, kjson_at(w));
	return false;
}

/* The same for one on which, or NEAR which, the reference crashes. */
static bool
drop_crashing(const char *name, bool near)
{
	if (!drop_named(name))
		return false;
	note_workload(near ? "invented workloads near which the reference crashes are left out"
	                   : "invented workloads on which the reference crashes are left out",
	    name);
	return true;
}

/* Integers that are not sizes keep the workloads' values if the call that CRASHED had others. */
static bool
keep_listed(const char *crashed)
{
	bool any = false;

	values_each(x) {
		if (x->role != ROLE_AXIS || x->size || x->listed ||
		    !strstr(crashed, kshown(" %s drawn as ", x->name)))
			continue;
		add_note(
		    "the reference crashes with other values of %s, which is not a size", x->name);
		any = x->listed = true;
	}
	return any;
}

/* Keep integers as recorded. False: that was already so. */
static bool
keep_integers(void)
{
	bool any = false;

	values_each(x) {
		any |= x->fresh;
		x->fresh = false;
	}
	return any;
}

/* The same for all that follows, because of WHY. */
static bool
hold_integers(const char *why)
{
	bool any = keep_integers();

	if (any)
		add_note("%s, so integers are those of the application", why);
	draft.held |= any;
	return any;
}

/*
 * Avoids the workload where the reference or its oracle CRASHED, perhaps "with NAME drawn as
 * VALUE": leaves out the invented size near which that is. If it is near a call of the
 * application's, no sizes near it are drawn; if it is that call itself, no other integers are
 * drawn. False: nothing is left to change.
 */
static bool
avoid(const char *crashed)
{
	auto_free char *name = kuntil(crashed, " \n");
	bool near = strstr(crashed, " drawn as ");

	return keep_listed(crashed) || drop_crashing(name, near) || drop_unrecorded(name) ||
	    (!near && (keep_integers() || restrict_inputs(KEPT_FLOATS, crashes))) ||
	    restrict_inputs(KEPT_SIZES, crashes);
}

/* Is it only with large magnitudes that it crashes on NAME, when CALLED? Leaves them out. */
static bool
avoid_large(const char *name, char *(*called)(void))
{
	auto_free char *other = NULL;

	if (!extra.large)
		return false;
	extra.large = false;
	write_draft();
	other = called();
	extra.large = other && !strcmp(other, name);
	if (!extra.large)
		note_large("crashes on");
	return !extra.large;
}

/*
 * Avoids everything on which it crashes when CALLED; returns what cannot be avoided, or NULL. The
 * caller frees.
 */
static char *
avoid_all(char *(*called)(void))
{
	char *name;

	while ((name = called()) && (avoid_large(name, called) || avoid(name))) {
		free(name);
		write_draft();
	}
	return name;
}

/* Do all shapes follow from the calls, so that nobody had to be asked for one? */
static bool
is_certain(void)
{
	return !kany(values_each(x), x->asked);
}

/* Why the reference crashes on the application's call NAME; OVERFLOWS: its stack does. */
static const char *
why_crashed(const char *name, bool overflows)
{
	if (overflows)
		return "its stack overflows, because local variables are too large for it; raise "
		       "the limit (ulimit -s) for kadopt and for the campaign";
	if (unrecorded(name))
		return kshown("%s is invented there, because it was not recorded (--record-mb "
		              "%.0f records everything)",
		    unrecorded(name), recording_mb(draft.configs));
	return "it needs something that is not among its arguments, or a shape is wrong (--shape)";
}

/* It crashes on the workload NAME, which is a call of the application's. */
static _Noreturn void
die_crashed(const char *name)
{
	auto_free char *still = NULL;

	draft.deep = true;
	still = crashes_on();
	kdie_usage("%s, taken out of the application, crashes on %s, which is a call of the "
	           "application's: %s",
	    adoption.kernel, name, why_crashed(name, !still || strcmp(still, name)));
}

/* Is an array of integers kept as recorded, because the reference needs it so? */
static bool
keeps_integers(void)
{
	return kany(values_each(x), is_input(x) && !is_float(x) && !x->fresh);
}

/*
 * The same with sanitizers. If the reference strays on most of the invented workloads, because
 * their integers are indices or counts, it was only lucky on the others.
 */
static void
probe_often(void)
{
	size_t count = json_array_size(extra.small);

	free(avoid_all(strays_on));
	if (keeps_integers() && 2 * json_array_size(extra.small) < count) {
		while (json_array_size(extra.small))
			drop_crashing(kjson_str(json_array_get(extra.small, 0), "name"), true);
		write_draft();
	}
}

/*
 * Invented sizes are used only if the reference is safe on them. It may read what it writes, so
 * nothing is taken for an output alone yet.
 */
static void
probe(void)
{
	char *name;

	draft.inout = true;
	write_draft();
	name = avoid_all(crashes_on);
	if (name)
		die_crashed(name);
	/* Otherwise crashes are what shows that a shape is wrong. */
	if (is_certain()) {
		free(avoid_all(crashes_around));
		probe_often();
	}
}

/*
 * What the cases in which it was wrong have in common, and the task can do without: the more, the
 * later. WRONG_EVER: nothing helps.
 */
enum wrong { WRONG_NOWHERE, WRONG_LARGE, WRONG_NEAR, WRONG_SMALL, WRONG_CALL, WRONG_EVER };

/* At one workload. */
static enum wrong
wrong_at(const json_t *workload)
{
	bool large = true, near = true, any = false;

	kjson_foreach(c, kjson_path(draft.tried, "correctness.cases")) {
		if (kjson_bool(c, "ok") || !kjson_is(c, "workload", kjson_str(workload, "name")))
			continue;
		any = true;
		large &=
		    kjson_is(c, "distribution", "large") || kjson_is(c, "distribution", "mixed");
		near &= json_object_get(c, "drawn") != NULL;
	}
	return !any                         ? WRONG_NOWHERE
	    : large && extra.large          ? WRONG_LARGE
	    : near && !extra.fixed          ? WRONG_NEAR
	    : kjson_bool(workload, "timed") ? WRONG_CALL
	                                    : WRONG_SMALL;
}

static bool
wrong_any(enum wrong x)
{
	return kany(kjson_foreach(w, draft.task, "workloads"), wrong_at(w) == x);
}

/* Gives up the invented workload where the oracle crashed; or all of them. */
static bool
give_up_crashed(void)
{
	auto_free char *name = kuntil(draft.crash ?: "", " ");

	return drop_named(name) || drop_unrecorded(name) ||
	    (json_array_size(extra.small) && json_array_clear(extra.small) == 0);
}

/*
 * Gives up the least of what was wrong when the reference was judged last: large magnitudes, sizes
 * near the listed ones, or invented workloads. False: there is nothing, or it is also wrong at
 * calls of the application's.
 */
static bool
give_up(void)
{
	bool less = false;

	if (extra.large && (!draft.tried || wrong_any(WRONG_LARGE)))
		return !(extra.large = false);
	if (!draft.tried)
		return give_up_crashed();
	if (wrong_any(WRONG_CALL))
		return false;
	if (wrong_any(WRONG_NEAR))
		return extra.fixed = true;
	kjson_foreach(w, draft.task, "workloads")
		less |= wrong_at(w) == WRONG_SMALL && drop_named(kjson_str(w, "name"));
	return less;
}

/*
 * May an honest reference fail on the workloads of SMALL that were left out? On all of them only if
 * its data have structure, and on none if a shape is uncertain.
 */
static bool
may_leave_out(const json_t *small)
{
	size_t left = json_array_size(extra.small);

	return left == json_array_size(small) || ((left || parameters.recorded) && is_certain());
}

/* What there is to give up; its workloads are a new reference. */
static struct extra
remembered(void)
{
	struct extra was = extra;

	was.small = json_copy(was.small);
	return was;
}

/* What was given up of it. */
static void
note_given_up(struct extra *was)
{
	if (was->large && !extra.large)
		note_large("fails on");
	if (!was->fixed && extra.fixed)
		add_note("the reference itself fails at sizes or numbers near the listed ones, so "
		         "these are the only ones");
	kjson_foreach(w, was->small)
		if (!kjson_find(extra.small, "name", kjson_str(w, "name")))
			note_workload("invented workloads on which the reference itself fails are "
			              "left out",
			    kjson_str(w, "name"));
	json_decref(was->small);
}

/* A choice of oracle and roles, and what was wrong with it if nothing was given up. */
struct roles {
	const char *oracle;
	bool inout;
	enum wrong wrong;
};

/* Is the reference right with this choice? If not, SAID says why. */
static bool
try_roles(struct roles *r, struct kbuf *said)
{
	auto_free char *why = NULL;
	bool good = false;

	draft.oracle = r->oracle;
	draft.inout = r->inout;
	draft.hung = false;
	write_draft();
	why = make_oracle();
	if (why && said)
		kbuf_printf(said, "  oracle %s: %s\n", draft.oracle, why);
	if (!why)
		good = passes(FEW, said);
	r->wrong = why || draft.hung ? WRONG_EVER : draft.tried ? WRONG_CALL : WRONG_SMALL;
	while (draft.tried && r->wrong < WRONG_EVER && r->wrong && !wrong_any(r->wrong))
		r->wrong--;
	return good;
}

/* Is it, if something is given up? */
static bool
try_less(struct roles *r, struct kbuf *said)
{
	struct extra was = remembered();
	bool good;

	/* After a few wrong cases, the judge is stricter with the others. */
	extra.large &= r->wrong != WRONG_CALL;
	good = try_roles(r, NULL);
	while (!good && !draft.hung && give_up())
		good = passes(FEW, NULL);
	if (good && !may_leave_out(was.small)) {
		kbuf_puts(said,
		    "  right with the observed sizes, but not with others: a shape is wrong "
		    "(--shape), or sizes depend on each other\n");
		good = false;
	}
	if (good) {
		note_given_up(&was);
	} else {
		/* With other roles, it may have to give up less. */
		json_decref(extra.small);
		extra = was;
	}
	return good;
}

/*
 * Finds roles, oracle and inputs with which the reference is right, at the loosest tolerance; first
 * those with which it gives up least. SAID: why not with the last inputs.
 */
static bool
settle(struct kbuf *said)
{
	const char *first = strcmp(draft.oracle, "self") ? "double" : "self";
	struct roles all[] = { { first, false, 0 }, { first, true, 0 }, { "reference", false, 0 },
		{ "reference", true, 0 } };
	size_t n = strcmp(first, "self") ? LEN(all) : 2;

	draft.step = LEN(steps) - 1;
	/* Start with what the reference has survived so far. */
	for (; draft.floats < (parameters.recorded ? FLOATS_COUNT : FLOATS_INVENTED);
	     draft.floats++) {
		kbuf_free(said);
		kforeach_of(r, all, n) {
			/* Nor does an oracle that has not returned do so with the other roles. */
			if (r->inout && draft.hung) {
				r->wrong = WRONG_EVER;
				continue;
			}
			if (try_roles(r, said))
				return true;
		}
		for (enum wrong least = WRONG_LARGE; least < WRONG_EVER; least++)
			kforeach_of(r, all, n)
				if (r->wrong == least && (least < WRONG_CALL || extra.large) &&
				    try_less(r, said))
					return true;
	}
	return false;
}

/* Did it fail only by wrong values? Then only with numbers that no earlier draw had. */
static bool
is_inexact(const json_t *eval)
{
	const json_t *reasons = json_object_get(eval, "reasons");

	return json_array_size(reasons) &&
	    !kany(kjson_foreach(r, reasons),
	        !kjson_is(r, "check", "wrong_result") && !kjson_is(r, "check", "timed_run"));
}

/* Builds the reference again, with one more FLAG. False: the compiler does not know it. */
static bool
build_with(const char *flag)
{
	auto_free char *log = NULL;

	adoption.flag = flag;
	unlink(adopt_path("task/" ORACLE));
	return build_reference(draft.text, &log);
}

/*
 * The same also for a function that crashes with numbers other than the application's, or copies
 * what it never set into its results.
 */
static bool
settle_all(struct kbuf *said)
{
	enum floats floats = draft.floats;

	if (settle(said))
		return true;
	/* All floating-point inputs were tried. */
	if (!draft.tried && restrict_inputs(KEPT_SIZES, crashes)) {
		draft.floats = floats;
		return settle_all(said);
	}
	if (adoption.device || adoption.flag || !is_inexact(draft.tried) || !build_with(zeros))
		return false;
	draft.floats = floats;
	if (!settle(said))
		return false;
	add_note("it copies parts of variables that it never set into its results, so programs are "
	         "compiled with %s",
	    zeros);
	return true;
}

/* Does a call touch as much of an array as its data say? */
static bool
has_data_extent(void)
{
	return kany(values_each(x), x->own && x->reached);
}

/*
 * If nothing is drawn anew, results could be memorised: does the reference accept any recorded
 * integers, in any order? Tries one array after the other.
 */
static void
vary_integers(void)
{
	bool drawn = draft.held || has_data_extent() ||
	    (draft.floats != FLOATS_KEPT && kany(values_each(x), is_input(x) && is_float(x)));

	values_each(x) {
		char *name;

		if (drawn || !parameters.recorded || !is_input(x) || is_float(x))
			continue;
		x->fresh = true;
		write_draft();
		name = crashes_on() ?: strays_on();
		/* A few of many numbers may lead it beyond an array. */
		x->fresh = !name && passes(sure(), NULL);
		free(name);
	}
	write_draft();
}

/* The tightest step that the reference passes. */
static size_t
tightest(void)
{
	for (draft.step = 0; draft.step < LEN(steps) - 1 && !passes(sure(), NULL); draft.step++)
		draft.crashed |= !draft.tried ||
		    kjson_find(json_object_get(draft.tried, "reasons"), "check", "crash");
	return draft.step;
}

/*
 * As tight as the reference allows, plus one step: other orders of summation are not wrong. If the
 * default is too tight for it on large magnitudes, its error depends on the draw, and they would
 * loosen the tolerance for all others: so they are left out.
 */
static void
tighten(void)
{
	size_t step = tightest();

	if (extra.large && step > 0) {
		extra.large = false;
		note_large("is inexact on");
		step = tightest();
	}
	/* Its own oracle shows no error, but sums in another order have one. */
	if (!step && !strcmp(draft.oracle, "self") && has_floats(8, 8))
		step++;
	draft.loosened = step < LEN(steps) - 1;
	draft.step = step + draft.loosened;
	write_draft();
}

/* The same for what the judge, in TEXT, says about a crash of the oracle. */
static bool
avoid_said(const char *text)
{
	auto_free char *crash = crash_said(text);

	return crash && avoid(crash);
}

/* False, with the faults, when the task is not worth solving with the numbers drawn from SEED. */
static bool
lint_draw(int seed, char **faults)
{
	auto_free char *arguments =
	    kasprintf("--lint task.json --oracle ./" ORACLE " --seed %d", seed);
	auto_result struct command_result r = run_judge("lint", arguments);

	while (r.status && avoid_said(r.said)) {
		command_free(&r);
		write_draft();
		r = run_judge("lint", arguments);
	}
	/* If the oracle crashed, it may not crash with numbers that vary less. */
	if (r.status > 0 && r.status < 128 && r.status != K_USAGE)
		kdie(r.status, "the task has faults:\n%s", r.said);
	*faults = r.status ? kstrdup(r.said) : NULL;
	return !*faults;
}

/* Is there no array that it only reads? */
static bool
only_writes(void)
{
	return !kany(values_each(x), x->role == ROLE_ARRAY && !is_output(x));
}

/*
 * Workloads that must not decide, for example because a few calls were disturbed, are checked but
 * not timed. False: they are more than a fifth of the time.
 */
static bool
leave_out(const json_t *names)
{
	json_auto_t *all = json_copy(draft.untimed);
	double share = 0;

	json_array_extend(all, (json_t *)names);
	kjson_foreach(w, draft.task, "workloads")
		share += kjson_has(all, kjson_str(w, "name")) ? kjson_num(w, "weight") : 0;
	if (share > 0.2 || !json_array_size(names))
		return false;
	json_array_extend(draft.untimed, (json_t *)names);
	ksay("timed      the workloads still timed have %.0f %% of the time\n", 100 * (1 - share));
	return true;
}

/* The workloads that kharness complains about in TEXT and that are still timed. New reference. */
static json_t *
accused(const char *text)
{
	static const char before[] = ": workload ";
	json_t *names = json_array();

	for (; (text = strstr(text, before)); text += strlen(before)) {
		auto_free char *name = kuntil(text + strlen(before), ":\n");

		if (!kjson_has(draft.untimed, name) && !kjson_has(names, name))
			kjson_add(names, name);
	}
	return names;
}

/*
 * The same with several draws, because trial 0 will draw other numbers. If results depend on
 * nothing that is drawn anew, but perhaps on what is kept, or on sizes alone, keep everything. If
 * they would hardly differ within the tolerance, use the tightest one that the reference passes, or
 * do without a few workloads.
 */
static bool
lint(char **faults)
{
	enum { DRAWS = 4 };
	json_auto_t *names = NULL;
	int seed = 1;

	for (*faults = NULL; seed <= DRAWS && lint_draw(seed, faults); seed++)
		continue;
	names = *faults ? accused(*faults) : NULL;
	if (*faults && keep_integers()) {
		if (only_writes())
			add_note("its results only depend on sizes and numbers");
	} else if (*faults && draft.loosened) {
		draft.step--;
		draft.loosened = false;
	} else if (!leave_out(names)) {
		return !*faults;
	}
	free(*faults);
	write_draft();
	return lint(faults);
}

/* If it is so, programs are hardly checked, which a person should know. */
static void
note_single(void)
{
	const json_t *all = json_object_get(draft.task, "workloads");
	auto_free char *text = kasprintf("only one workload is left, %s, so nothing shows whether "
	                                 "a program is right at other sizes; a run of the "
	                                 "application with calls of other sizes would",
	    kjson_str(json_array_get(all, 0), "name"));

	if (json_array_size(all) == 1 && !kjson_has(parameters.notes, text)) {
		add_note("%s", text);
		write_draft();
	}
}

/* An array before which a call touches memory whose begin is unknown; or NULL. */
static const char *
touched_below(void)
{
	values_each(x)
		kjson_foreach(call, parameters.calls)
			if (kjson_bool(json_object_get(json_object_get(call, "pointers"), x->name),
			        "below"))
				return x->name;
	return NULL;
}

static _Noreturn void
refuse_unsettled(const char *said)
{
	const char *below = touched_below();
	auto_free char *why = below ? kasprintf(" (it also touches what is before %s, in memory "
	                                        "whose begin is unknown: "
	                                        "adopt the function that calls it)",
	                                  below)
	                            : kstrdup("");

	kdie_usage("%s: the reference fails against its own oracle with every combination of "
	           "roles, oracle and inputs%s:\n%s",
	    adoption.kernel, why, said);
}

/*
 * Settles all choices. If recorded arrays are uniform, for example all ones, a constant would pass:
 * then draw any numbers, in the recorded structure.
 */
static void
find_inputs(void)
{
	auto_buf struct kbuf said = { 0 };
	char *faults = NULL;

	for (bool good = false; !good; free(faults), faults = NULL) {
		work_part("inputs", "roles, oracle and inputs that fit the reference") {
			if (!settle_all(&said))
				refuse_unsettled(said.data);
			vary_integers();
		}
		draft.crashed = false;
		work_part("tolerance", "the tightest that the reference passes")
			tighten();
		if (draft.crashed && restrict_inputs(KEPT_FLOATS, crashes))
			continue;
		work_part("lint", "whether results depend on the inputs")
			good = lint(&faults);
		if (!good && !hold_integers("results hardly depend on integers in another order") &&
		    (!parameters.recorded || ++draft.floats == FLOATS_COUNT))
			kdie_usage("the task has faults:\n%s", faults);
	}
	note_single();
}

/* ---- the application's results ---- */

/*
 * Where the outputs of the standalone reference differ from those that call NAME left in the
 * application; NULL: nowhere. The caller frees.
 */
static char *
results_differ(const char *name)
{
	if (unrecorded(name))
		return NULL;
	values_each(x) {
		auto_free char *why = is_output(x)
		    ? recorded_differs(name, x->name, x->dtype, x->bytes,
		          adopt_path("task/replay/%s.%s.npy", name, x->name),
		          adopt_path("task/pattern/%s.%s.npy", name, x->name))
		    : NULL;

		if (why)
			return kasprintf("%s: %s", x->name, why);
	}
	return NULL;
}

/* Make the recorded calls; leave out the first one with different results. False: there is none. */
static bool
drop_other(void)
{
	write_replay();
	if (adoption.flag) {
		build_with(pattern);
		free(call_alone("replay.json", "--save pattern"));
		build_with(zeros);
	}
	free(call_alone("replay.json", "--save replay"));
	kjson_foreach(c, draft.configs) {
		const char *name = kjson_str(c, "name");
		auto_free char *why = results_differ(name);

		if (!why)
			continue;
		if (json_array_size(draft.configs) == 1)
			kdie_usage("%s alone does not give the application's results in %s (%s), "
			           "so it depends on more than its arguments: "
			           "variables that other code changes, earlier calls, "
			           "or arrays that overlap; adopt the function that calls it",
			    adoption.kernel, name, why);
		add_note("%s is left out: alone, the reference gives different results there than "
		         "in "
		         "the application (%s)",
		    name, why);
		json_array_remove(draft.configs, kjson_at(c));
		return true;
	}
	return false;
}

/*
 * If the standalone reference gives different results from the application for the same arguments,
 * such a call does not represent the function.
 */
static void
drop_others(void)
{
	char *folder = adopt_path("task/replay"), *more = adopt_path("task/pattern");
	struct work_span w;

	if (!parameters.recorded)
		return;
	w = work_begin("replay", "the recorded calls, compared with the application's results");
	kmake_folder(folder);
	kmake_folder(more);
	while (drop_other())
		continue;
	remove_folder(folder);
	remove_folder(more);
	write_draft();
	note_single();
	work_end(&w);
}

/* ---- launches ---- */

/*
 * Compares every launch of the reference, for a configuration's arguments, with the observed block.
 */
static bool
check_geometry(void)
{
	const struct kscan *s = &draft.scan;
	struct kscan_scope scope = { &s, 1, .f = kscan_function(s, adoption.entry) };
	bool good = true;

	kjson_foreach(c, draft.configs) {
		const json_t *block = json_object_get(c, "block");
		json_auto_t *all = json_array();
		size_t n;

		scope.values = json_object_get(c, "scalars");
		kforeach_of(l, kscan_launches(scope.f, &n), n) {
			int64_t t[3];

			if (kscan_dim3(&scope, l->block, t))
				kjson_append(all, "[I,I,I]", t[0], t[1], t[2]);
		}
		if (block && json_array_size(all) &&
		    !kany(kjson_foreach(own, all), json_equal(own, block))) {
			auto_free char *observed = json_dumps(block, JSON_COMPACT),
			               *launched = json_dumps(all, JSON_COMPACT);

			kwarn("%s: the application launches blocks of %s, but the reference "
			      "launches blocks of %s",
			    kjson_str(c, "name"), observed, launched);
			good = false;
		}
	}
	return good;
}

/* Calls that are given no elements do nothing. */
static void
drop_empty(void)
{
	json_t *list = draft.configs;

	for (size_t i = json_array_size(list); i-- > 0 && json_array_size(list) > 1;) {
		json_t *c = json_array_get(list, i);

		values_number(json_object_get(c, "scalars"));
		if (has_elements(json_object_get(c, "scalars")))
			continue;
		add_note(
		    "%s is left out, because an array has no elements there", kjson_str(c, "name"));
		json_array_remove(list, i);
	}
}

/* ---- the campaign ---- */

/* The name of the device that the application runs on; NULL if unknown. The caller frees. */
static char *
gpu_name(void)
{
	auto_result struct command_result r = command_run(
	    adoption.dir, "nvidia-smi --query-gpu=name --format=csv,noheader", NULL, "gpu");
	auto_free char *text = r.status ? NULL : file_text(r.log, NULL);

	return kregex_part("\\A([^\\r\\n]+)\\r?\\n", text);
}

/*
 * The defaults of an adopted campaign: few rounds, and a minimum gain that is worth the
 * integration.
 */
static void
set_defaults(void)
{
	char *path = campaign_path("campaign.json");
	json_auto_t *settings = compile_settings(), *m = kjson_load(path);
	json_t *search = kjson_ensure(m, "search", json_object()),
	       *eval = kjson_ensure(m, "eval", json_object());
	auto_free char *gpu = adoption.device ? gpu_name() : NULL;

	if (kjson_is(adoption.json, "mode", "map-elites"))
		kjson_put(search, "branches", 1);
	kjson_extend(m, "{s:{s:i,s:i},s:{s:f},s:{s:s},s:o}", "stop", "trials", 6, "patience", 4,
	    "score", "min_gain", 0.02, "git", "branch", "none", "title",
	    json_sprintf("%s of %s", adoption.kernel, adoption.file));
	kjson_pick(m, adoption.json, "model");
	if (!adoption.device && !has_flag(settings, "\\A-(?:fopenmp|pthread)"))
		kjson_put(eval, "threads", 1);
	kjson_pick(eval, adoption.json, "launcher", "threads");
	if (gpu)
		kjson_put(m, "gpu", gpu);
	write_json(path, m);
}

void
task_context(void)
{
	static const char head[] = "Files of the application, which explain the function:\n";
	char *path = campaign_path("campaign.json");
	json_auto_t *m = kjson_load(path), *files = context_files();
	const char *own = kjson_str(m, "instructions"), *earlier = strstr(own, head);
	auto_buf struct kbuf b = { 0 };

	kbuf_add(&b, own, earlier ? (size_t)(earlier - own) : strlen(own));
	kbuf_printf(&b, "%s%s", b.len && !earlier ? "\n\n" : "", head);
	kjson_foreach(file, files)
		kbuf_printf(&b, "\n%s", json_string_value(file));
	if (json_array_size(files)) {
		json_object_set_new(m, "instructions", kjson_text(b.data, b.len));
		write_json(path, m);
	}
}

static void
remove_campaign(void)
{
	kforeach_text(file, "campaign.json", "task.json", "Makefile")
		unlink(campaign_path("%s", file));
	remove_folder(campaign_path("recorded"));
}

static void
make_campaign(void)
{
	if (adoption_begun())
		kdie_usage("%s: the campaign has begun with another task; "
		           "adopt into another folder, or remove this one",
		    adoption.dir);
	remove_campaign();
	free(program_output(NULL, -1, "kcampaign", "new", adoption.dir, "--task",
	    adopt_path("task"), "--mode", kjson_str_or(adoption.json, "mode", "linear")));
	set_defaults();
	task_context();
}

void
task_freeze(const json_t *task)
{
	const char **all = NULL;
	size_t n = 0;

	kforeach_text(file, "task.json", "reference.c", "reference.cu", "oracle.c", "oracle.cu",
	    "adopt/observed.ndjson", "adopt/configs.json")
		*kadded(all, n) = file;
	kjson_foreach(w, task, "workloads")
		kjson_foreach_member(name, v, w, "values")
			if (json_is_object(v))
				*kadded(all, n) = kjson_str(v, "file");
	*kadded(all, n) = NULL;
	kseal_note(adoption.dir, KSEAL_ADOPTED,
	    json_pack("{s:o}", "files", kseal_files(adoption.dir, all)));
	adoption_save();
	free(all);
}

/*
 * Was it only rejected for calls of harmless functions of the C library? Then programs for this
 * task may call them.
 */
static bool
allow_symbols(const json_t *eval)
{
	json_auto_t *names = json_array();

	kjson_foreach(r, eval, "reasons") {
		/* "NAME (imported): …" */
		const char *detail = kjson_str(r, "detail");
		auto_free char *name = kuntil(detail, " ");

		if (!kjson_is(r, "check", "forbidden_symbol") ||
		    !kjson_has(rules_words("symbols"), name))
			return false;
		kjson_add(names, name);
	}
	if (!json_array_size(names) || draft.symbols)
		return false;
	draft.symbols = json_incref(names);
	write_draft();
	return true;
}

/* Gives up what the reference was wrong at when the campaign's judge tried it. */
static bool
give_up_wrong(const json_t *eval)
{
	struct extra was = remembered();
	bool less;

	json_decref(draft.tried);
	draft.tried = json_incref((json_t *)eval);
	less = give_up();
	note_given_up(&was);
	write_draft();
	return less;
}

/*
 * Sizes drawn near those of the application's calls may be too large for the reference, other
 * numbers may make it crash, and the tolerance, which it met with few numbers, may be too tight.
 */
static bool
ease(const json_t *eval, const struct command_result *r)
{
	char *faults = NULL;
	/* If the oracle crashed, there is no result; at a listed size, because of the numbers. */
	auto_free char *crash = crash_said(r->said);
	bool crashed = kjson_find(json_object_get(eval, "reasons"), "check", "crash") ||
	    (crash && !strstr(crash, " drawn as "));

	if (allow_symbols(eval))
		return true;
	if (r->status == K_IO || crashed) {
		if (!(crash && avoid(crash)) &&
		    !restrict_inputs(crashed ? KEPT_FLOATS : KEPT_SIZES, crashes) &&
		    !restrict_inputs(KEPT_SIZES, crashes))
			return false;
		find_inputs();
		return true;
	}
	if (!is_inexact(eval))
		return false;
	/* No tolerance helps where integers are wrong. */
	if (draft.step == LEN(steps) - 1 || !has_floats(0, 8))
		return give_up_wrong(eval);
	draft.step++;
	draft.loosened = false;
	add_note("the reference was wrong with numbers that it was not tried with before, so the "
	         "tolerance is one step looser: %zu of %zu",
	    draft.step, LEN(steps) - 1);
	write_draft();
	if (!lint(&faults))
		kdie_usage("the task has faults:\n%s", faults);
	return true;
}

/*
 * Makes the campaign. Would keval, which also refuses some programs without running them, accept
 * the reference? If not, trial 0 would stop there, so the task may be eased. What is built here
 * serves trial 0, which also runs the profiler.
 */
static void
try_campaign(void)
{
	char *out = adopt_path("log/reference.ndjson"), *path = campaign_path("campaign.json");
	json_auto_t *record = NULL, *m = NULL, *brief = NULL;
	auto_result struct command_result r = { 0 };
	json_t *eval;

	make_campaign();
	m = kjson_load(path);
	brief = json_deep_copy(m);
	/* Or else the race of the reference with itself, which nobody wins, takes all its time. */
	kjson_extend(
	    json_object_get(brief, "eval"), "{s:s,s:f}", "profile", "off", "timing_s", brief_s);
	write_json(path, brief);
	unlink(out);
	r = command_own(adoption.dir,
	    kshown("keval -c . -s quick --code reference.%s --thin -o "
	           "adopt/log/reference.ndjson",
	        adoption.suffix),
	    "reference");
	write_json(path, m);
	record = r.status ? NULL : kin_first(out);
	eval = json_object_get(record, "eval");
	json_decref(draft.timing);
	draft.timing = json_incref(json_object_get(eval, "timing"));
	if (r.status)
		kwarn("the reference cannot be evaluated: %s", r.said);
	if ((record && !all_passed(eval)) || r.status == K_IO) {
		if (ease(eval, &r))
			try_campaign();
		else if (!record)
			kdie_usage("%s cannot be evaluated", adoption.kernel);
		else
			kdie_usage("%s, extracted from the application, "
			           "is not a program that kiln can evaluate:\n%s",
			    adoption.kernel, kjson_str_or(record, "eval.log", "it has no status"));
	}
}

/* ---- the proxy ---- */

/*
 * Does the time of a row of proxy.json, which is below LOW, only differ because the application's
 * call was the first to touch its memory?
 */
static bool
is_first_touch(const json_t *row, double low)
{
	json_int_t pages = kjson_int(row, "faults");

	if (kjson_num(row, "alone_us") <
	    low * (kjson_num(row, "target_us") - touch_us * (double)pages))
		return false;
	ksay("proxy      %s: in the application the call is the first to touch %lld pages, which "
	     "is part of its time there\n",
	    kjson_str(row, "workload"), pages);
	return true;
}

/*
 * Is the time of a row of proxy.json only above HIGH because kharness flushes the caches before
 * every call, while the application has just used the data of that call?
 */
static bool
is_only_cold(json_t *row, double high)
{
	const char *name = kjson_str(row, "workload");
	auto_result struct command_result r = { 0 };
	auto_free char *text = NULL, *ns = NULL;
	double us, ratio;

	if (adoption.device)
		return false;
	r = run_solo("warm", kshown("--warm -t task.json --workload %s", name));
	text = r.status ? NULL : file_text(r.log, NULL);
	ns = kregex_part("warm: [^ ]+ (.*)", text);
	us = ns ? strtod(ns, NULL) / 1e3 : 0;
	if (us <= 0)
		return false;
	ratio = us / kjson_num(row, "target_us");
	kjson_put(row, "warm_us", us);
	ksay("proxy      %s: %.1f us alone with warm caches: %.2fx\n", name, us, ratio);
	return ratio <= high;
}

/* Can a row of proxy.json, with these times, represent the calls in the application? */
static bool
is_alike(json_t *row, double alone, double target)
{
	const json_t *own = json_object_get(adoption.json, "proxy");
	double low = own ? json_number_value(json_array_get(own, 0)) : proxy_limits[0],
	       high = own ? json_number_value(json_array_get(own, 1)) : proxy_limits[1],
	       ratio = alone / target;

	if (fmax(alone, target) < cold_us || (ratio >= low && ratio <= high) ||
	    (ratio < low && is_first_touch(row, low)) || (ratio > high && is_only_cold(row, high)))
		return true;
	kwarn("%s takes %.2f times as long alone as in the application, "
	      "so the task does not measure the same work (accepted: %.3g to %.3g; "
	      "change it with --proxy LOW,HIGH)",
	    kjson_str(row, "workload"), ratio, low, high);
	return false;
}

/*
 * Compares standalone times of the reference with those in the application. False: they differ too
 * much for one to represent the other.
 */
static bool
check_proxy(void)
{
	json_auto_t *astray = json_array(), *rows = json_array();

	kjson_foreach(t, draft.timing) {
		const char *name = kjson_str(t, "workload");
		const json_t *target = json_object_get(draft.targets, name);
		double alone = kjson_num(t, "median_ns") / 1e3,
		       real = kjson_num(target, "target_us");
		json_auto_t *row = json_pack("{s:s,s:f,s:f,s:f,s:I}", "workload", name, "alone_us",
		    alone, "target_us", real, "ratio", alone / real, "faults",
		    (json_int_t)kjson_int(target, "faults"));

		if (!(real > 0))
			continue;
		ksay("proxy      %s: %.0f us alone, %.0f us in the application: %.2fx\n", name,
		    alone, real, alone / real);
		json_array_append(rows, row);
		if (!is_alike(row, alone, real))
			kjson_add(astray, name);
	}
	write_json(adopt_path("proxy.json"), rows);
	if (!json_array_size(astray))
		return true;
	if (leave_out(astray)) {
		write_draft();
		make_campaign();
		return true;
	}
	kwarn("if the machine was busy during the observation, run kadopt observe --force, "
	      "kadopt configs and kadopt task");
	return false;
}

/* The judge of candidates tries the reference, and the times that it measures are looked at. */
static bool
try_times(void)
{
	bool good = false;

	work_part("judge", "the campaign, and the reference as its first candidate")
		try_campaign();
	work_part("proxy", "its times alone, next to those in the application")
		good = check_proxy();
	return good;
}

/* Takes over all arrays from the application's calls. False: these are taken over already. */
static bool
hold_inputs(const char *why)
{
	bool integers = hold_integers(why);

	draft.held = true;
	return restrict_inputs(KEPT_FLOATS, why) || integers;
}

/* For some functions the time depends on the numbers. */
static bool
find_times(void)
{
	bool good = try_times();

	if (!good && hold_inputs("its time depends on the numbers")) {
		find_inputs();
		good = try_times();
	}
	if (!good)
		remove_campaign();
	return good;
}

int
make_task(void)
{
	json_t *document = kjson_load(adopt_made("configs.json", "configs"));
	char *source = adopt_path("task/reference.%s", adoption.suffix);
	int code = K_OK;

	draft.targets = json_object();
	draft.untimed = json_array();
	draft.configs = json_object_get(document, "configs");
	draft.text = file_text(source, NULL);
	if (!draft.text)
		kdie_usage("%s is missing: run kadopt extract", source);
	kscan(draft.text, &draft.scan);
	/* Shapes and flags may have changed. */
	remove_folder(adopt_path("task/recorded"));
	unlink(adopt_path("task/" ORACLE));
	values_find(draft.text);
	if (!has_floats(0, 4))
		draft.oracle = "self";
	drop_empty();
	extra.small = small_workloads();
	if (!check_geometry())
		kdie(K_NO, "the reference launches different grids or blocks from the application");
	work_part("probe", "the reference, alone and next to protected memory")
		probe();
	find_inputs();
	drop_others();
	tell_notes();
	ksay("task       %zu timed and %zu more workloads; "
	     "oracle: %s; tolerance: step %zu of %zu\n",
	    json_array_size(json_object_get(draft.task, "workloads")) -
	        json_array_size(extra.small),
	    json_array_size(extra.small), draft.oracle, draft.step, LEN(steps) - 1);
	code = find_times() ? K_OK : K_NO;
	if (code == K_OK)
		task_freeze(draft.task);
	adoption.flag = NULL;
	return code;
}
