/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines shapes by arithmetic: the number of elements that an argument points to must, in every
 * call, be the same simple expression of the call's integers. See shape.h.
 */
#include "shape.h"

#include "numbers.h"

/* CALLS: at most twice as many are examined: the first ones, and some of all. */
enum { FITS = 32, ASK_TRIES = 3, TIED_MIN = 16, CALLS = 2048 };

struct parameters parameters;

void
add_note(const char *fmt, ...)
{
	kformatted(text, fmt);

	json_array_append_new(parameters.notes, kjson_string(text));
	if (parameters.told)
		kwarn("%s", text);
}

void
tell_notes(void)
{
	kjson_foreach_text(note, parameters.notes)
		kwarn("%s", note);
	parameters.told = true;
}

/* ---- parameters ---- */

/*
 * The text in the brackets of an array parameter, as a product; NULL: it has no brackets, or empty
 * ones. The caller frees.
 */
static char *
declared_shape(const struct kscan_param *p)
{
	struct kregex_span at[2];
	struct kbuf b = { 0 };

	for (const char *c = strchr(p->text, '['); c && *c == '['; c += at->to) {
		auto_free char *size = NULL;

		if (!kregex_match("\\A\\[(?:static )?([^][]+)\\]", c, at)) {
			kbuf_free(&b);
			break;
		}
		size = kregex_text(c, at[1]);
		kbuf_printf(&b, strpbrk(size, "+-/% ") ? "%s(%s)" : "%s%s", b.len ? "*" : "", size);
	}
	return b.data;
}

const json_t *
value_parameter(const char *name)
{
	return kjson_find(json_object_get(adoption.unit, "parameters"), "name", name);
}

/* The parameter P of the unit's entry, which the reference declares as OWN. */
static void
take_parameter(const json_t *p, const struct kscan_param *own)
{
	struct value *x = &parameters.at[parameters.count++];
	const struct number_type *type = number_type(kjson_str(p, "type"));
	bool array = kjson_bool(p, "pointer");

	*x = (struct value){
		.name = kstrdup(kjson_str(p, "name")),
		.role = ROLE_STREAM,
		.constant = kjson_bool(p, "constant"),
	};
	if (!type)
		return;
	x->dtype = type->dtype;
	x->bytes = type->bytes;
	/* A grid, a block, shared memory, or that an array is there, tell nothing about sizes. */
	x->role = array ? ROLE_ARRAY
	    : type->integer && x->bytes > 1 && !kjson_bool(p, "launch") &&
	        !json_object_get(p, "given")
	    ? ROLE_AXIS
	    : ROLE_SCALAR;
	x->declared = array ? declared_shape(own) : NULL;
	/*
	 * Small integers are passed as int, as in machine calling conventions. Signs do not matter.
	 */
	if (!array && type->integer) {
		x->bytes = x->bytes < 4 ? 4 : x->bytes;
		x->dtype = x->bytes == 8 ? "int64" : "int32";
	}
}

/* ---- observed calls ---- */

void
values_number(json_t *args)
{
	kjson_foreach_member(name, x, args)
		if (json_is_boolean(x))
			json_object_set_new(args, name, json_integer(json_is_true(x)));
}

const json_t *
value_given(const json_t *args, const char *name)
{
	const json_t *p = kjson_find(json_object_get(adoption.unit, "parameters"), "given", name);

	return p ? json_object_get(args, kjson_str(p, "name")) : NULL;
}

/* Is the array NAME a null pointer, and has the entry no number that says so? */
static bool
is_null(const json_t *call, const char *name, const json_t *p)
{
	return kjson_bool(p, "null") && !value_given(json_object_get(call, "args"), name);
}

bool
call_has_null(const json_t *call)
{
	return kany(kjson_foreach_member(name, p, call, "pointers"), is_null(call, name, p));
}

/*
 * The different calls in a file, which has COUNT of them; SEEN: those that are in V already.
 */
static void
load_file(json_t *seen, const char *path, json_int_t count)
{
	json_int_t step = count / CALLS + 1, number = 0;
	struct krec rec;
	struct kin in;

	kin_open(&in, path);
	while (kin_next(&in, &rec)) {
		const json_t *args = json_object_get(rec.json, "args");
		json_auto_t *both =
		    json_pack("[O?,O?]", args, json_object_get(rec.json, "pointers"));
		auto_free char *key = json_dumps(both, KIO_DUMP);

		bool taken = number < CALLS || number % step == 0;

		number++;
		/* The header has no arguments. */
		if (taken && args && kjson_enter(seen, key)) {
			values_number((json_t *)args);
			json_array_append(parameters.calls, rec.json);
		}
		krec_free(&rec);
	}
	kin_close(&in);
}

/* A recorded call may touch more than the calls with the same numbers that were measured before. */
static void
load_calls(void)
{
	char *path = adopt_made("observed.ndjson", "observe"),
	     *recorded = adopt_path("recorded/calls.ndjson");
	json_auto_t *seen = json_object(), *configs = kjson_load(adopt_path("configs.json"));

	load_file(seen, path, kjson_int(configs, "calls"));
	if (kis_there(recorded))
		load_file(seen, recorded, 0);
	if (!json_array_size(parameters.calls))
		kdie_usage("%s contains no call with arguments", path);
}

static json_int_t
argument(const json_t *call, const struct value *x)
{
	return (json_int_t)kjson_num(json_object_get(call, "args"), x->name);
}

static const json_t *
pointer(const json_t *call, const char *name)
{
	return json_object_get(json_object_get(call, "pointers"), name);
}

/*
 * Every array of a task is there: leaves out calls with null pointers, unless all calls have some.
 */
static void
leave_out_null(void)
{
	json_auto_t *whole = json_array();

	kjson_foreach(call, parameters.calls)
		if (!call_has_null(call))
			json_array_append(whole, call);
	values_each(x)
		kjson_foreach(call, json_array_size(whole) ? parameters.calls : NULL)
			x->optional |= kjson_bool(pointer(call, x->name), "null");
	if (json_array_size(whole))
		json_array_extend((json_array_clear(parameters.calls), parameters.calls), whole);
}

/* The size of the block of memory that X points into. The caller frees. */
static char *
block_of(const json_t *call, const struct value *x)
{
	return kasprintf("%ld", kjson_int(pointer(call, x->name), "bytes"));
}

/*
 * Does another call get a different part of the block? Then the rest of the block is only an upper
 * limit for this call, not what it was given.
 */
static bool
is_part(const json_t *call, const struct value *x)
{
	auto_free char *size = block_of(call, x);

	return json_object_get(x->shared, size);
}

/*
 * Number of elements that argument X points to in a call, or -1: unknown. If X shares memory with
 * another argument, and both are only read, it extends beyond the start of the other.
 */
static json_int_t
elements(const json_t *call, const struct value *x)
{
	const json_t *p = pointer(call, x->name);
	json_int_t room = kjson_int_or(
	               p, "room", kjson_int_or(p, "bytes", -1) - kjson_int(p, "offset")),
	           reach = kjson_int_or(p, "reach", -1);

	if (x->measured)
		room = reach >= 0 ? reach : is_part(call, x) ? -1 : room;
	else
		room = x->reached ? reach : room < reach ? reach : room;

	/* A remainder may follow what was allotted. */
	return room < (json_int_t)x->bytes ? -1 : room / (json_int_t)x->bytes;
}

size_t
value_reach(const struct value *x, const json_t *args)
{
	json_int_t most = 0;

	kjson_foreach(call, parameters.calls) {
		json_int_t reach = kjson_int(pointer(call, x->name), "reach");

		if (json_equal(json_object_get(call, "args"), args))
			most = reach > most ? reach : most;
	}
	return (size_t)most;
}

/* The sizes of blocks of which calls get parts. */
static void
find_parts(struct value *x)
{
	x->shared = json_object();
	kjson_foreach(call, parameters.calls) {
		auto_free char *size = block_of(call, x);

		if (kjson_int(pointer(call, x->name), "offset") > 0)
			kjson_enter(x->shared, size);
	}
}

/* The size of memory on a caller's stack is unknown. */
static bool
has_extent(const struct value *x)
{
	return kany(kjson_foreach(call, parameters.calls), elements(call, x) >= 0);
}

/* Does the axis equal the product of A and B (NULL: just A) in every call, with a large value? */
static bool
equals(const struct value *x, const struct value *a, const struct value *b)
{
	kjson_foreach(call, parameters.calls) {
		json_int_t want = argument(call, a) * (b ? argument(call, b) : 1);

		if (argument(call, x) != want || want < TIED_MIN)
			return false;
	}
	return true;
}

/*
 * Sizes that are determined by others: a count equal to rows * cols; a stride equal to the width.
 */
static void
find_ties(void)
{
	values_each(x)
		values_each(a) {
			if (a == x || !value_is_free(x) || !value_is_free(a))
				continue;
			if (a < x && equals(x, a, NULL))
				x->tied = kstrdup(a->name);
			values_each(b)
				if (b >= a && b != x && value_is_free(x) && value_is_free(b) &&
				    equals(x, a, b))
					x->tied = kasprintf("%s*%s", a->name, b->name);
			if (x->tied)
				add_note("%s was %s in every call, so only such calls are checked",
				    x->name, x->tied);
		}
}

/* An integer that is ever negative is not a size. */
static void
find_signs(void)
{
	values_each(x)
		kjson_foreach(call, parameters.calls)
			if (x->role == ROLE_AXIS &&
			    (argument(call, x) < 0 || argument(call, x) > INT32_MAX))
				x->role = ROLE_SCALAR;
}

/*
 * The common alignment of all addresses, but no more than malloc guarantees unless the type needs
 * it.
 */
static size_t
alignment(const struct value *x)
{
	enum { MALLOC = 16, DEVICE = 256 };
	size_t least = DEVICE;

	kjson_foreach(call, parameters.calls) {
		const json_t *p = pointer(call, x->name);
		size_t most = kjson_bool(p, "device") ? DEVICE : MALLOC,
		       now = (size_t)kjson_int_or(p, "align", (json_int_t)most);

		now = now < most ? now : most;
		least = now < least ? now : least;
	}
	return least;
}

void
value_is_written(struct value *x)
{
	x->written = true;
	add_note("%s is written, though no call changed it", x->name);
}

/* Is X declared const, and the same array as another one, which the call changes? */
static bool
is_changed_as_other(const json_t *call, const struct value *x)
{
	const json_t *p = pointer(call, x->name);

	return x->constant &&
	    kany(kjson_foreach_member(name, q, call, "pointers"),
	        !kjson_bool(q, "const") && kjson_bool(q, "written") &&
	            (!strcmp(kjson_str_or(q, "same_as", ""), x->name) ||
	                !strcmp(kjson_str_or(p, "same_as", ""), name)));
}

/*
 * Finds arrays that calls were seen to change; if there are none: all arrays that the function may
 * write.
 */
static void
find_written(void)
{
	bool any = false;

	values_each(x)
		kjson_foreach(call, parameters.calls) {
			const json_t *p = pointer(call, x->name);

			any |= x->written |=
			    kjson_bool(p, "written") && !is_changed_as_other(call, x);
			if (is_null(call, x->name, p))
				kdie_usage("in every call one array or another is a null pointer "
				           "(%s in the first), which is not supported; adopt a "
				           "wrapper function without these parameters",
				    x->name);
		}
	values_each(x)
		if (!any)
			x->written =
			    !x->constant && pointer(json_array_get(parameters.calls, 0), x->name);
}

/*
 * Rejects an array that overlaps another one if one of them is written: separate arrays would give
 * other results.
 */
static void
refuse_overlap(const json_t *call, const struct value *x)
{
	const json_t *p = pointer(call, x->name);
	json_int_t room = kjson_int(p, "room"), reach = kjson_int(p, "reach");

	values_each(y) {
		const json_t *q = pointer(call, y->name);

		if (reach > room && (x->written || y->written) &&
		    kjson_int(q, "bytes") == kjson_int(p, "bytes") &&
		    kjson_int(q, "offset") == kjson_int(p, "offset") + room)
			kdie_usage("%s: in a call of the application, %s (%lld bytes) reaches into "
			           "%s, "
			           "which begins after %lld, so they cannot be two arrays of a "
			           "task; "
			           "adopt the function that calls it",
			    adoption.kernel, x->name, reach, y->name, room);
	}
}

/* ---- fitting ---- */

/*
 * Is a size of N elements, in the call, one that was not measured exactly? If the last page of a
 * piece of memory is touched, the piece counts as the array, but may be larger.
 */
static bool
is_loose(const json_t *call, const struct value *x, json_int_t n, json_int_t product)
{
	enum { PAGE = 4096 };
	const json_t *p = pointer(call, x->name);

	return x->reached && !x->written && kjson_int(p, "reach") == kjson_int_or(p, "room", -1) &&
	    (n - product) * (json_int_t)x->bytes < PAGE;
}

/* Does the EXPRESSION give the number of elements in every call, as far as that is known? */
static bool
fits(const struct value *x, const char *expression)
{
	size_t told = 0, loose = 0;

	kjson_foreach(call, parameters.calls) {
		struct kscan_scope scope = { .values = json_object_get(call, "args") };
		json_int_t n = elements(call, x);
		int64_t want;

		if (n < 0)
			continue;
		if (!kscan_number(&scope, expression, &want) || want > n ||
		    (want < n && kis_digit(*expression)))
			return false;
		told += want == n;
		/* What it touches is not an upper limit. */
		if (want == n || (is_part(call, x) && !x->reached))
			continue;
		if (!is_loose(call, x, n, want))
			return false;
		loose++;
	}
	return told > loose;
}

/* Adds the EXPRESSION, which is taken over, to LIST if it fits. */
static void
try_fit(const struct value *x, char *expression, json_t *list)
{
	auto_free char *text = expression;

	if (json_array_size(list) < FITS && fits(x, text))
		kjson_add(list, text);
}

/* A product of axes, to some of which a small number is added, and of another number. */
struct product {
	size_t factors;
	int add, times;
};

/*
 * Tries all such products that begin with TEXT, to which LEFT factors are missing: axes from FIRST
 * on, in their order and with repetition. ADDED: the number is added to one of those in TEXT.
 */
static void
try_factors(const struct value *x, const struct product *p, const struct value *first, size_t left,
    const char *text, bool added, json_t *list)
{
	if (!left && added == (p->add > 0))
		try_fit(x, kasprintf(p->times > 1 ? "%s*%d" : "%s", text, p->times), list);
	values_each(axis)
		for (int add = 0; left && add <= p->add; add += p->add ?: 1) {
			auto_free char *more = kasprintf(add ? "%s%s(%s+%d)" : "%s%s%s", text,
			    *text ? "*" : "", axis->name, add);

			if (value_is_free(axis) && axis >= first)
				try_factors(x, p, axis, left - 1, more, added || add, list);
		}
}

/*
 * How often something is multiplied by NAME, or by a member of that name: that is, how often an
 * index uses it as a stride.
 */
static size_t
strides(const struct kscan *s, const char *name)
{
	size_t count = 0;

	kscan_each(p, s, 0, s->len, name)
		count += kscan_matches(s, 0, p, "\\*\\s*(?:\\w+(?:\\.|->))*\\z");
	return count;
}

/*
 * Sorts the factors of a plain product in memory order: those used as strides are inner dimensions.
 * The caller frees.
 */
static char *
in_order(const char *shape, const struct kscan *s)
{
	auto_free char *copy = kstrdup(shape);
	json_auto_t *factors = json_array();
	struct kbuf b = { 0 };

	if (strpbrk(shape, "()+"))
		return kstrdup(shape);
	kpart_foreach(p, copy, "*")
		kjson_append(factors, "{s:s,s:I,s:I}", "name", p, "strides",
		    (json_int_t)strides(s, p), "at", (json_int_t)json_array_size(factors));
	kjson_sort_by(factors, "strides", "at");
	kjson_foreach(factor, factors)
		kbuf_join(&b, "*", kjson_str(factor, "name"));
	return b.data;
}

/* As for a sliding window: n+taps-1. */
static void
try_sums(const struct value *x, json_t *list)
{
	values_each(a)
		values_each(b)
			if (a < b && value_is_free(a) && value_is_free(b)) {
				try_fit(x, kasprintf("%s+%s-1", a->name, b->name), list);
				try_fit(x, kasprintf("%s+%s", a->name, b->name), list);
			}
}

char *
listed(const json_t *names)
{
	struct kbuf b = kbuf_empty();

	kjson_foreach_text(name, names)
		kbuf_join(&b, ", ", name);
	return b.data;
}

/* Does a call touch less than the rest of the piece? */
static bool
has_reach(const struct value *x)
{
	kjson_foreach(call, parameters.calls) {
		const json_t *p = pointer(call, x->name);
		json_int_t room = kjson_int(p, "room");

		if (kjson_int_or(p, "reach", room) != room)
			return true;
	}
	return false;
}

/* An axis times any number, if the measured calls have more than one value of the axis. */
static void
try_multiples(const struct value *x, json_t *list)
{
	values_each(axis) {
		json_int_t one = 0, times = 0;
		bool varies = false;

		kjson_foreach(call, value_is_free(axis) ? parameters.calls : NULL) {
			json_int_t n = elements(call, x), now = argument(call, axis);

			if (n < 1 || now < 1)
				continue;
			varies |= one && now != one;
			one = now;
			times = n / now;
		}
		if (varies)
			try_fit(x, kasprintf("%s*%lld", axis->name, times), list);
	}
}

/* The simplest kind of expression that fits; all matches of that kind. New reference. */
static json_t *
find_fits(const struct value *x)
{
	static const struct product kinds[] = { { 1, 0, 1 }, { 2, 0, 1 }, { 1, 1, 1 }, { 1, 2, 1 },
		{ 1, 0, 2 }, { 1, 0, 3 }, { 1, 0, 4 }, { 3, 0, 1 }, { 2, 1, 1 }, { 2, 2, 1 },
		{ 2, 0, 2 }, { 2, 0, 3 }, { 2, 0, 4 }, { 1, 0, 8 }, { 1, 0, 16 }, { 3, 2, 1 },
		{ 3, 0, 3 } };
	json_t *list = json_array();

	kforeach(kind, kinds)
		if (!json_array_size(list))
			try_factors(x, kind, parameters.at, kind->factors, "", false, list);
	if (!json_array_size(list))
		try_sums(x, list);
	return list;
}

/*
 * From what calls touch: all that is known of it, together with the pieces of memory that are no
 * parts of larger ones, or else only what was measured.
 */
static json_t *
find_touched(struct value *x)
{
	json_t *list;

	x->reached = x->measured = true;
	list = find_fits(x);
	if (!json_array_size(list))
		try_multiples(x, list);
	x->measured = false;
	if (json_array_size(list))
		return list;
	json_decref(list);
	return find_fits(x);
}

/*
 * From the sizes of the pieces of memory; or else from what calls touch, if these are parts of a
 * large piece.
 */
static json_t *
find_either(struct value *x, bool fixed)
{
	json_int_t constant = 0;
	json_t *list = fixed ? json_array() : find_fits(x);

	if (!fixed && !json_array_size(list)) {
		json_decref(list);
		list = find_touched(x);
		x->reached = json_array_size(list) || has_reach(x);
	}
	kjson_foreach(call, parameters.calls)
		if (constant <= 0)
			constant = elements(call, x);
	if (!json_array_size(list) && constant > 0)
		try_fit(x, kasprintf("%lld", constant), list);
	return list;
}

/* ---- asking ---- */

static void
add_observed(struct kbuf *b, const struct value *x)
{
	for (size_t i = 0; i < json_array_size(parameters.calls) && i < 8; i++) {
		const json_t *call = json_array_get(parameters.calls, i);
		auto_free char *args = json_dumps(json_object_get(call, "args"), JSON_COMPACT);
		json_int_t n = elements(call, x);

		if (n < 0)
			kbuf_printf(b, "an unknown number of elements with %s\n", args);
		else
			kbuf_printf(b, "%lld elements with %s\n", n, args);
	}
}

/*
 * Why EXPRESSION does not fit into what X pointed to, in the first call where it does not; NULL: it
 * always does. The caller frees.
 */
static char *
lacks_room(const struct value *x, const char *expression)
{
	kjson_foreach(call, parameters.calls) {
		const json_t *args = json_object_get(call, "args");
		struct kscan_scope scope = { .values = args };
		json_int_t n = elements(call, x);
		int64_t want;

		if (!kscan_number(&scope, expression, &want) || want < 1)
			return kasprintf(
			    "'%.80s' is not an expression over the integer parameters", expression);
		if (n >= 0 && want > n) {
			auto_free char *dump = json_dumps(args, JSON_COMPACT);

			return kasprintf("%s is %lld elements with %.200s, but there were %lld",
			    expression, (long long)want, dump, n);
		}
	}
	return NULL;
}

/* The model's answer, "shape: rows*cols", which must agree with the observation. */
static char *
ask_shape(const struct value *x, const char *text, const json_t *list)
{
	static const char answered[] = "shape:[ `\\t]*([^`\\n]*?)\\s*(?:[`\\n]|\\z)";
	auto_buf struct kbuf code = { 0 }, observed = { 0 };
	auto_free char *choices = listed(list), *why = kstrdup("");

	kfence_code(&code, text, adoption.language);
	add_observed(&observed, x);
	for (int t = 1; t <= ASK_TRIES; t++) {
		json_auto_t *facts = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "kernel",
		    adoption.kernel, "name", x->name, "code", code.data, "observed", observed.data,
		    "choices", choices, "fault", why);
		auto_free char *answer = ask_model("shape", t, facts);
		char *shape = kregex_part(answered, answer);

		free(why);
		why = !shape ? kstrdup("it contains no line 'shape: …'")
		    : *choices && !kjson_has(list, shape)
		    ? kasprintf("%.80s is not one of them", shape)
		    : lacks_room(x, shape);
		if (!why)
			return shape;
		free(shape);
	}
	return NULL;
}

/*
 * A size that no argument determines. Then only recorded calls can be made: the number of elements
 * for other arguments is unknown.
 */
static void
own_shape(struct value *x, const json_t *list)
{
	auto_free char *choices = listed(list);

	x->shape = kasprintf("%s_elements", x->name);
	x->own = true;
	add_note("%s: %s%s, so only the recorded calls are checked (otherwise give --shape "
	         "%s=EXPRESSION)",
	    x->name,
	    *choices ? "several shapes fit all observed calls: "
	             : "no simple shape fits all observed calls",
	    choices, x->name);
}

/* A single value in every call, even if an argument also had it. */
static bool
is_single(const struct value *x)
{
	return json_array_size(parameters.calls) &&
	    !kany(kjson_foreach(call, parameters.calls), elements(call, x) != 1);
}

/* The simplest shape of those that fit; or else the model's, or one of its own. */
static void
choose_shape(struct value *x, const struct kscan *s)
{
	/* The size of a type is a number. */
	json_auto_t *list = find_either(x, *kjson_str(value_parameter(x->name), "size"));
	size_t n = json_array_size(list);
	bool model = json_object_get(adoption.json, "model");

	if (n == 1) {
		x->shape = in_order(kjson_item(list, 0), s);
	} else if (parameters.recorded && (!n || !model) && has_extent(x)) {
		/* A recorded array has its own number of elements in every call. */
		own_shape(x, list);
	} else if (model) {
		x->shape = ask_shape(x, s->text, list);
		x->asked = x->shape;
	}
	if (!x->shape) {
		struct kbuf b = { .data = n ? listed(list) : NULL };

		if (!n)
			add_observed(&b, x);
		kdie_usage("parameter %s: %s %s; give its number of elements: --shape "
		           "%s=EXPRESSION",
		    x->name,
		    n ? "several shapes fit all "
		        "observed calls:"
		      : "no simple shape fits all observed calls:",
		    b.data, x->name);
	}
}

static void
find_shape(struct value *x, const struct kscan *s)
{
	const char *given = kjson_maybe(json_object_get(adoption.json, "shapes"), x->name);
	/*
	 * The brackets of a matrix determine its shape; those of a vector only if nothing else
	 * does.
	 */
	bool brackets = x->declared && (strchr(x->declared, '*') || !has_extent(x));
	const char *own = given ?: brackets ? x->declared : NULL;
	auto_free char *why = own ? lacks_room(x, own) : NULL;

	if (given && why)
		kdie_usage("--shape %s=%s: %s", x->name, given, why);
	if (own && !why) {
		x->shape = kstrdup(own);
	} else if (!has_extent(x) && x->written) {
		x->shape = kstrdup("1");
		add_note("%s is on the caller's stack, so it counts as one number (otherwise give "
		         "--shape)",
		    x->name);
	} else if (is_single(x)) {
		x->shape = kstrdup("1");
	} else {
		choose_shape(x, s);
	}
}

/* ---- all of it ---- */

/* A place in an array that determines no size may not be drawn: the array need not go on there. */
static void
mark_sizes(void)
{
	values_each(x)
		values_each(axis) {
			const struct kscan s = kscan_code(x->shape ?: "");

			axis->size |=
			    axis->role == ROLE_AXIS && kscan_uses(&s, 0, s.len, axis->name);
		}
	values_each(x)
		x->listed |= !x->size && json_object_get(value_parameter(x->name), "along");
}

void
values_find(const char *text)
{
	const json_t *entry = json_object_get(adoption.unit, "parameters");
	auto_signature struct kscan_signature g = { 0 };
	const struct kscan_item *f;
	auto_scan struct kscan s;

	parameters.calls = json_array();
	parameters.notes = json_array();
	parameters.recorded = recorded_any();
	kscan(text, &s);
	f = kscan_function(&s, adoption.entry);
	g = f ? kscan_signature(f) : g;
	if (!f || g.count != json_array_size(entry))
		kdie_usage("the reference does not define %s as it is called", adoption.entry);
	parameters.at = kcalloc(g.count + 1, sizeof *parameters.at);
	kjson_foreach(p, entry)
		take_parameter(p, &g.params[kjson_at(p)]);
	load_calls();
	leave_out_null();
	find_signs();
	find_written();
	kjson_foreach(call, parameters.calls)
		values_each(x)
			refuse_overlap(call, x);
	find_ties();
	values_each(x) {
		x->align = alignment(x);
		if (x->role == ROLE_ARRAY) {
			find_parts(x);
			find_shape(x, &s);
		}
	}
	mark_sizes();
}
