/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktask: see ktask.h. One pass checks the JSON and fills the structure, so what is accepted and
 * what is used cannot differ.
 */
#include "ktask.h"

#include <float.h>

#include "backend.h"
#include "kform.h"
#include "kregex.h"

static const struct {
	const char *name;
	size_t size;
	double eps, max, min;
} dtypes[KDTYPE_COUNT] = {
	[KDTYPE_F32] = { "float32", 4, FLT_EPSILON, FLT_MAX, -FLT_MAX },
	[KDTYPE_F64] = { "float64", 8, DBL_EPSILON, DBL_MAX, -DBL_MAX },
	[KDTYPE_F16] = { "float16", 2, 1.0 / 1024, 65504, -65504 },
	[KDTYPE_BF16] = { "bfloat16", 2, 1.0 / 128, 0x1.fep127, -0x1.fep127 },
	[KDTYPE_I32] = { "int32", 4, 0, INT32_MAX, INT32_MIN },
	[KDTYPE_I64] = { "int64", 8, 0, 0x1p63, -0x1p63 },
	[KDTYPE_TF32] = { "tfloat32", 4, 1.0 / 1024, FLT_MAX, -FLT_MAX },
	[KDTYPE_E4M3] = { "float8_e4m3", 1, 1.0 / 8, 448, -448 },
	[KDTYPE_E5M2] = { "float8_e5m2", 1, 1.0 / 4, 57344, -57344 },
	[KDTYPE_E4M3FNUZ] = { "float8_e4m3fnuz", 1, 1.0 / 8, 240, -240 },
	[KDTYPE_E5M2FNUZ] = { "float8_e5m2fnuz", 1, 1.0 / 4, 57344, -57344 },
	[KDTYPE_I8] = { "int8", 1, 0, INT8_MAX, INT8_MIN },
	[KDTYPE_I16] = { "int16", 2, 0, INT16_MAX, INT16_MIN },
	[KDTYPE_U8] = { "uint8", 1, 0, UINT8_MAX, 0 },
	[KDTYPE_U16] = { "uint16", 2, 0, UINT16_MAX, 0 },
	[KDTYPE_U32] = { "uint32", 4, 0, UINT32_MAX, 0 },
	[KDTYPE_U64] = { "uint64", 8, 0, 0x1p64, 0 },
	[KDTYPE_BOOL] = { "bool", 1, 0, 1, 0 },
};

static const char *const distributions[] = {
	[KDIST_NORMAL] = "normal",
	[KDIST_UNIFORM] = "uniform",
	[KDIST_ZERO_ONE] = "zero_one",
	[KDIST_LARGE] = "large",
	[KDIST_TINY] = "tiny",
	[KDIST_ALL_EQUAL] = "all_equal",
	[KDIST_SORTED] = "sorted",
	[KDIST_HEAVY_TAIL] = "heavy_tail",
	[KDIST_ALTERNATING] = "alternating",
	[KDIST_SPECIAL] = "special",
	[KDIST_SPARSE] = "sparse",
	[KDIST_MIXED] = "mixed",
	[KDIST_RECORDED] = "recorded",
};

/* Tensors are this many bytes apart within their pages, so no alignment can be larger. */
enum { ALIGN_MAX = 256 };

enum kdtype
kdtype_of(const char *name)
{
	int t = 0;

	while (t < KDTYPE_COUNT && (!name || strcmp(dtypes[t].name, name)))
		t++;
	return (enum kdtype)t;
}

const char *
kdtype_name(enum kdtype t)
{
	return dtypes[t].name;
}

size_t
kdtype_size(enum kdtype t)
{
	return dtypes[t].size;
}

bool
kdtype_is_float(enum kdtype t)
{
	return dtypes[t].eps > 0;
}

double
kdtype_max(enum kdtype t)
{
	return dtypes[t].max;
}

double
kdtype_min(enum kdtype t)
{
	return dtypes[t].min;
}

bool
kdtype_is_storage(enum kdtype t)
{
	return dtypes[t].eps > 0 && dtypes[t].size < 4;
}

double
kdtype_eps(enum kdtype t)
{
	return dtypes[t].eps;
}

enum kdist
kdist_of(const char *name)
{
	return (enum kdist)kindex_of(name, distributions, KDIST_COUNT);
}

const char *
kdist_name(enum kdist d)
{
	return distributions[d];
}

/* The axis, or the tensor, with this name; NULL if there is none. */
static const struct ktask_axis *
axis_named(const struct ktask *t, const char *name)
{
	return krow_with(t->axes, t->axis_count, name, name);
}

static const struct ktask_tensor *
tensor_named(const struct ktask *t, const char *name)
{
	return krow_with(t->tensors, t->tensor_count, name, name);
}

/* ---- expressions ---- */

/* The expression that is being read; one at a time. */
static struct parser {
	const struct ktask *t;
	/* values; NULL: only names and syntax are checked, every axis counts as 1 */
	const int64_t *axis;
	const char *p;
	int depth;
	unsigned divisions; /* number of divisions so far, and which of the first 64 left a
                             * remainder */
	uint64_t remainders;
	const char *fault; /* first thing wrong */
	char name[64];     /* and the name that it is about */
} parser;

/* What was wrong with the expression that was evaluated last, or with the axes. */
static char why[256];

static int64_t
bad(const char *fault)
{
	if (!parser.fault)
		parser.fault = fault;
	return 1;
}

static char
peek(void)
{
	while (kis_space(*parser.p))
		parser.p++;
	return *parser.p;
}

static bool
skip(char c)
{
	if (peek() != c)
		return false;
	parser.p++;
	return true;
}

static int64_t
apply(char op, int64_t a, int64_t b)
{
	int64_t r = 0;
	bool over = false;

	switch (op) {
	case '+':
		over = __builtin_add_overflow(a, b, &r);
		break;
	case '-':
		over = __builtin_sub_overflow(a, b, &r);
		break;
	case '*':
		over = __builtin_mul_overflow(a, b, &r);
		break;
	default:
		if (b == 0)
			return bad("division by zero");
		if (a == INT64_MIN && b == -1)
			over = true;
		else
			r = op == '/' ? a / b : a % b;
		parser.remainders |= (uint64_t)(!over && a % b != 0) << parser.divisions % 64;
		parser.divisions++;
	}
	return over ? bad("the value does not fit into 64 bits") : r;
}

static int64_t
apply_function(const char *name, int64_t a, int64_t b)
{
	if (!strcmp(name, "min"))
		return a < b ? a : b;
	if (!strcmp(name, "max"))
		return a > b ? a : b;
	if (strcmp(name, "ceildiv")) {
		snprintf(parser.name, sizeof parser.name, "%s", name);
		return bad("unknown function (must be min, max or ceildiv):");
	}
	return b > 0 && a >= 0 ? apply('+', a / (b ?: 1), a % b != 0)
	                       : bad("ceildiv needs a >= 0 and b > 0");
}

static int64_t
axis_value(const char *name)
{
	const struct ktask_axis *axis = axis_named(parser.t, name);

	if (axis)
		return parser.axis ? parser.axis[axis - parser.t->axes] : 1;
	snprintf(parser.name, sizeof parser.name, "%s", name);
	return bad("no such axis:");
}

static int64_t
number(void)
{
	int64_t v = 0;

	for (; kis_digit(*parser.p); parser.p++)
		v = apply('+', apply('*', v, 10), *parser.p - '0');
	return v;
}

/*
 * Precedence climbing with the grammar's three levels in one function: level 0 sums, 1 products, 2
 * a factor. A single recursive function needs no forward declaration.
 */
static int64_t
parse(int level)
{
	static const char *const operators[] = { "+-", "*/%" };
	char name[64];
	int64_t v;
	size_t n;

	if (++parser.depth > 200)
		return bad("nested too deeply");
	if (level < 2) {
		v = parse(level + 1);
		while (!parser.fault && peek() && strchr(operators[level], *parser.p)) {
			char op = *parser.p++;

			v = apply(op, v, parse(level + 1));
		}
	} else if (skip('-')) {
		v = apply('-', 0, parse(2));
	} else if (skip('(')) {
		v = parse(0);
		if (!skip(')'))
			bad("')' is missing");
	} else if (kis_digit(*parser.p)) {
		v = number();
	} else {
		for (n = 0; kis_word(parser.p[n]);)
			n++;
		snprintf(name, sizeof name, "%.*s", (int)n, parser.p);
		parser.p += n;
		if (!n) {
			v = bad("expected a number, an axis or '('");
		} else if (!skip('(')) {
			v = axis_value(name);
		} else {
			v = parse(0);
			if (!skip(','))
				bad("a function takes two arguments");
			v = apply_function(name, v, parse(0));
			if (!skip(')'))
				bad("')' is missing");
		}
	}
	parser.depth--;
	return v;
}

static bool
evaluate(const struct ktask *t, const int64_t *axis, const char *expression, int64_t *value)
{
	parser = (struct parser){ .t = t, .axis = axis, .p = expression };
	*value = parse(0);
	if (peek())
		bad("unexpected text after the expression:");
	if (!parser.fault)
		return true;
	if (*parser.name || !*parser.p)
		snprintf(why, sizeof why, "'%.80s': %s%s%s", expression, parser.fault,
		    *parser.name ? " " : "", parser.name);
	else
		snprintf(
		    why, sizeof why, "'%.80s': %s at '%.40s'", expression, parser.fault, parser.p);
	return false;
}

bool
ktask_eval(const struct ktask *t, const struct ktask_workload *w, const char *expression,
    int64_t *value, char *fault, size_t len)
{
	bool good = evaluate(t, w->axis, expression, value);

	snprintf(fault, len, "%s", good ? "" : why);
	return good;
}

int64_t
ktask_value(const struct ktask *t, const struct ktask_workload *w, const char *expression)
{
	int64_t v = 0;

	if (expression && !evaluate(t, w->axis, expression, &v))
		kdie_usage("%s: workload %s: %s", t->file, w->name, why);
	return v;
}

/* ---- what may vary ---- */

/*
 * Smallest and largest value that the workloads list, and the bits of all of them ORed; false when
 * there is none.
 */
static bool
listed_values(const json_t *task, const char *axis, struct ktask_limits *l, int64_t *bits)
{
	bool any = false;

	*bits = 0;
	kjson_foreach(w, task, "workloads") {
		const json_t *v = json_object_get(json_object_get(w, "axes"), axis);
		int64_t n = json_integer_value(v);

		if (!json_is_integer(v))
			continue;
		l->min = !any || n < l->min ? n : l->min;
		l->max = !any || n > l->max ? n : l->max;
		*bits |= n;
		any = true;
	}
	return any;
}

struct ktask_limits
ktask_limits(const json_t *task, const char *axis)
{
	enum { STEP_MAX = 256, STEPS = 8 };
	const json_t *o = json_object_get(json_object_get(task, "axes"), axis);
	struct ktask_limits l = { .fixed = kjson_bool(o, "fixed"), .step = 1 };
	int64_t bits;

	l.stated =
	    json_object_get(o, "min") || json_object_get(o, "max") || json_object_get(o, "step");
	if (!listed_values(task, axis, &l, &bits))
		l.fixed = true;
	if (bits)
		l.step = (bits & -bits) < STEP_MAX ? bits & -bits : STEP_MAX;
	if (l.min == l.max) {
		while (l.step > 1 && l.step * STEPS > l.max)
			l.step /= 2;
		l.min = (l.max + 1) / 2;
	}
	l.min = kjson_int_or(o, "min", l.min);
	l.max = kjson_int_or(o, "max", l.max);
	l.step = kjson_int_or(o, "step", l.step);
	/* The range contains only one multiple of the step, or none. */
	if (l.step < 1 || l.min < 0 || (l.min + l.step - 1) / l.step >= l.max / l.step)
		l.fixed = true;
	return l;
}

bool
ktask_range(enum kdtype t, double v, double min, double max, double *low, double *high)
{
	bool real = kdtype_is_float(t);
	double more = real ? 2 * v : v;

	*low = fmin(v / 2, more);
	*high = real && fabs(v) < DBL_MIN ? 1 : fmax(v / 2, more);
	/* A single limit cuts the usual range; two limits are the range. */
	if (!isnan(min))
		*low = isnan(max) ? fmax(*low, min) : min;
	if (!isnan(max))
		*high = isnan(min) ? fmin(*high, max) : max;
	if (!real) {
		*low = ceil(*low);
		*high = floor(*high);
	}
	return *low < *high;
}

/*
 * Evaluate every expression of an axis or a dimension, and note which divisions leave remainders.
 * False when one fails.
 */
static bool
remainders_of(const struct ktask *t, const int64_t *axis, uint64_t *remainders)
{
	parser = (struct parser){ .t = t, .axis = axis };
	kforeach_of(each, t->axes, t->axis_count) {
		parser.p = each->kind == KAXIS_EXPR ? each->expression : "1";
		parse(0);
	}
	kforeach_of(tensor, t->tensors, t->tensor_count)
		kforeach_of(x, tensor->dim, tensor->rank) {
			parser.p = *x;
			if (parse(0) < 1)
				return false;
		}
	*remainders = parser.remainders;
	return !parser.fault;
}

/*
 * Axes that are given by expressions may use others, in any order: as many passes as there are axes
 * settle every chain, and a cycle never settles. Returns the axis at fault, or NULL.
 */
static const struct ktask_axis *
settle_axes(const struct ktask *t, int64_t *axis)
{
	for (size_t pass = 0; pass <= t->axis_count; pass++)
		for (size_t i = 0; i < t->axis_count; i++) {
			const struct ktask_axis *a = &t->axes[i];
			int64_t was = axis[i];
			bool good = a->kind != KAXIS_EXPR || !a->expression ||
			    evaluate(t, axis, a->expression, &axis[i]);

			if (good && axis[i] != was)
				strcpy(why, "depends on itself");
			if (pass == t->axis_count && (!good || axis[i] != was))
				return a;
		}
	return NULL;
}

bool
ktask_settle(const struct ktask *t, struct ktask_workload *w)
{
	uint64_t listed = 0, now, r;

	if (settle_axes(t, w->axis))
		return false;
	kforeach_of(one, w->axis, t->axis_count)
		if (*one < 0 || *one > INT32_MAX)
			return false;
	kforeach_of(workload, t->workloads, t->workload_count)
		if (remainders_of(t, workload->axis, &r))
			listed |= r;
	return remainders_of(t, w->axis, &now) && !(now & ~listed);
}

const json_t *
ktask_recorded(const struct ktask_workload *w, const struct ktask_tensor *x, bool *fresh)
{
	const json_t *o = json_object_get(w->values, x->name);

	*fresh = kjson_bool_or(o, "fresh", kdtype_is_float(x->dtype));
	return json_is_object(o) ? o : NULL;
}

json_t *
ktask_recordings(const json_t *task)
{
	json_auto_t *seen = json_object();
	json_t *list = json_array();

	kjson_foreach(w, task, "workloads")
		kjson_foreach_member(name, v, w, "values")
			if (json_is_string(json_object_get(v, "file")))
				kjson_enter(seen, kjson_str(v, "file"));
	kjson_foreach_member(name, v, seen)
		kjson_add(list, name);
	return list;
}

double
ktask_scalar(const struct ktask_workload *w, const struct ktask_tensor *x)
{
	const json_t *own = json_object_get(w->values, x->name);

	return own ? json_number_value(own) : x->value;
}

size_t
ktask_elements(const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x)
{
	size_t n = 1;

	kforeach_of(one, x->dim, x->rank)
		n *= (size_t)ktask_value(t, w, *one);
	return n;
}

size_t
ktask_last_axis(const struct ktask *t, const struct ktask_workload *w, const struct ktask_tensor *x)
{
	return x->rank ? (size_t)ktask_value(t, w, x->dim[x->rank - 1]) : 1;
}

/* ---- reading the file ---- */

/* What the file's schema says about it; the rest is checked here. */
static const struct kform form =
#include "task.h"
    ;

/* The task that is being read; one at a time. */
static struct ktask *reading;
static struct kfaults faults;
static const char *prefix; /* printed before each fault: "task.json: ", or nothing */
static const char *place;  /* of the member that is being read */

#define fault_in(field, fmt, ...) kfault(&faults, "%s%s: " fmt, prefix, field, ##__VA_ARGS__)
#define fault(fmt, ...) fault_in(place, fmt, ##__VA_ARGS__)

static bool
is_identifier(const char *s)
{
	return kregex_is("\\A[A-Za-z_]\\w*\\z", s);
}

static void
check_expression(const char *field, const char *expression)
{
	int64_t v;

	/*
	 * Every axis counts as 1 here, so a division by zero may be an artefact; with real sizes it
	 * is found again.
	 */
	if (expression && !evaluate(reading, NULL, expression, &v) &&
	    !strstr(why, "division by zero"))
		fault_in(field, "%s", why);
}

/* What an axis or a scalar says about its possible values; VARIES: it is allowed to say so. */
static void
check_limits(const json_t *o, bool varies)
{
	const json_t *min = json_object_get(o, "min"), *max = json_object_get(o, "max");
	bool limits = min || max || json_object_get(o, "step");

	if (!varies && (limits || json_object_get(o, "fixed")))
		fault("only an axis of type var, or a scalar, has min, max, step or fixed");
	if (limits && json_is_true(json_object_get(o, "fixed")))
		fault("it is fixed, so it has no min, max or step");
	if (min && max && json_number_value(min) > json_number_value(max))
		fault("min is above max");
}

/* Checks that the values that workloads list are within the task's limits. */
static void
read_limits(const json_t *task)
{
	for (size_t i = 0; i < reading->axis_count; i++) {
		struct ktask_axis *a = &reading->axes[i];

		a->limits = ktask_limits(task, a->name);
		for (size_t k = 0;
		     a->limits.stated && !a->limits.fixed && k < reading->workload_count; k++) {
			int64_t v = reading->workloads[k].axis[i];

			if (v < a->limits.min || v > a->limits.max || v % a->limits.step)
				fault_in("axes",
				    "%s is %lld in workload %s, "
				    "which contradicts its own min, max or step",
				    a->name, (long long)v,
				    reading->workloads[k].name ? reading->workloads[k].name : "?");
		}
	}
}

static void
read_axes(const json_t *axes)
{
	static const char *const types[] = {
		[KAXIS_VAR] = "var", [KAXIS_CONST] = "const", [KAXIS_EXPR] = "expr"
	};
	static const char *const needs[] = { [KAXIS_CONST] = "value", [KAXIS_EXPR] = "expression" };

	kjson_foreach_member(name, o, axes) {
		auto_free char *path = kasprintf("axes.%s", name);
		size_t kind = kindex_of(kjson_maybe(o, "type"), types, LEN(types));

		place = path;
		if (!is_identifier(name))
			fault("an axis's name must be a valid C variable name");
		if (kind != KAXIS_VAR && !json_object_get(o, needs[kind]))
			fault("type %s needs \"%s\"", types[kind], needs[kind]);
		check_limits(o, kind == KAXIS_VAR);
		reading->axes[reading->axis_count++] = (struct ktask_axis){ .name = name,
			.kind = (unsigned)kind,
			.value = kjson_int(o, "value"),
			.expression = kjson_maybe(o, "expression") };
	}
	kforeach_of(axis, reading->axes, reading->axis_count) {
		if (axis->kind == KAXIS_EXPR)
			check_expression(
			    kshown("axes.%s.expression", axis->name), axis->expression);
	}
}

static void
read_shape(const json_t *shape, struct ktask_tensor *x)
{
	x->scalar = json_is_null(shape);
	kjson_foreach(item, shape) {
		const char *text = json_string_value(item);

		x->dim[x->rank++] =
		    text ? kstrdup(text) : kasprintf("%lld", json_integer_value(item));
		check_expression(place, text);
	}
}

/* Whether an element of type T can hold V: a wrong value would be truncated. */
static bool
fits(const json_t *v, enum kdtype t)
{
	double d = json_number_value(v);

	return kdtype_is_float(t) ? json_is_number(v)
	                          : json_is_integer(v) && d <= kdtype_max(t) && d >= kdtype_min(t);
}

/* Alignment of an address: a power of two, within what the judge supports. */
static void
read_align(const json_t *o, struct ktask_tensor *x)
{
	json_int_t n = kjson_int(o, "align");

	x->align = (size_t)n;
	if (!json_object_get(o, "align"))
		return;
	if (x->scalar || n < (json_int_t)kdtype_size(x->dtype) || n > ALIGN_MAX || (n & (n - 1)))
		fault("align of an array must be a power of two, "
		      "from the size of an element to %d",
		    ALIGN_MAX);
}

/* The value of a scalar unless a workload gives another. */
static void
read_value(const json_t *o, const struct ktask_tensor *x)
{
	const json_t *value = json_object_get(o, "value");

	if (x->scalar && (!value || kdtype_size(x->dtype) < 4))
		fault("a scalar must be an input of type float32, float64, int32, int64, uint32 or "
		      "uint64 with a \"value\"");
	else if (x->scalar && !fits(value, x->dtype))
		fault("its value is not of type %s", kdtype_name(x->dtype));
	if (!x->scalar && value)
		fault("only a scalar (shape null) has a \"value\"");
}

static void
read_tensor(const char *name, const json_t *o, bool output)
{
	struct ktask_tensor *x = &reading->tensors[reading->tensor_count];

	if (!is_identifier(name) || axis_named(reading, name) || tensor_named(reading, name))
		fault("a tensor's name must be a valid C variable name, different from all axes "
		      "and other tensors");
	if (reading->tensor_count == KTASK_TENSORS) {
		fault("more than %d tensors", KTASK_TENSORS);
		return;
	}
	reading->tensor_count++;
	*x = (struct ktask_tensor){ .name = name,
		.output = output,
		.input = !output || kjson_bool(o, "inout"),
		.weight = kjson_is(o, "role", "weight"),
		.dtype = kdtype_of(kjson_maybe(o, "dtype")),
		.distribution = kdist_of(kjson_maybe(o, "distribution")),
		.value = kjson_num(o, "value"),
		.min = kjson_num_or(o, "min", NAN),
		.max = kjson_num_or(o, "max", NAN),
		.fixed = kjson_bool(o, "fixed") };
	if (kjson_maybe(o, "distribution") && !x->input)
		fault("only an input or an \"inout\" output can have a distribution");
	read_shape(json_object_get(o, "shape"), x);
	check_limits(o, x->scalar);
	read_align(o, x);
	read_value(o, x);
}

static void
read_tensors(const json_t *task, const char *member)
{
	kjson_foreach_member(name, o, json_object_get(task, member)) {
		place = kshown("%s.%s", member, name);
		read_tensor(name, o, !strcmp(member, "outputs"));
	}
}

static void
read_argument(size_t i, const json_t *item)
{
	const char *name = json_string_value(item) ?: kjson_maybe(item, "axis"),
	           *dtype = kjson_maybe(item, "dtype");
	const struct ktask_tensor *x = tensor_named(reading, name);
	const struct ktask_axis *axis = axis_named(reading, name);

	place = kshown("entry.arguments[%zu]", i);
	if (!x && !axis)
		fault("'%s' is not an input, output or axis", name);
	else if (x && json_is_object(item))
		fault("'%s' is a tensor; write only its name", name);
	else
		reading->args[reading->arg_count++] = x
		    ? (struct ktask_arg){ KARG_TENSOR, (size_t)(x - reading->tensors), x->dtype }
		    : (struct ktask_arg){ KARG_AXIS, (size_t)(axis - reading->axes),
			      dtype ? kdtype_of(dtype) : KDTYPE_I32 };
}

static void
read_entry(const json_t *entry)
{
	reading->entry = kjson_maybe(entry, "name");
	kjson_foreach(item, entry, "arguments")
		read_argument(kjson_at(item), item);
	for (size_t i = 0; i < reading->tensor_count; i++) {
		size_t n = 0;

		kforeach_of(arg, reading->args, reading->arg_count)
			n += arg->kind == KARG_TENSOR && arg->index == i;
		if (n != 1)
			fault_in("entry.arguments", "'%s' must be passed once, not %zu times",
			    reading->tensors[i].name, n);
	}
}

static void
read_tolerance(const json_t *o)
{
	reading->rtol = kjson_num_or(o, "rtol", -1);
	reading->atol = kjson_num_or(o, "atol", -1);
	reading->max_error_cap = kjson_num_or(o, "max_error_cap", -1);
	reading->matched_ratio = kjson_num_or(o, "matched_ratio", 1);
	if (reading->matched_ratio < 1 && reading->max_error_cap < 0)
		fault_in("tolerance.max_error_cap",
		    "a matched_ratio below 1 needs a cap on the error of the rest");
}

static void
read_distributions(const json_t *list)
{
	kjson_foreach_text(item, list) {
		enum kdist d = kdist_of(item);

		if (kany(kforeach_of(known, reading->distributions, reading->distribution_count),
		        *known == d))
			fault_in("distributions", "'%s' occurs twice", item);
		else
			reading->distributions[reading->distribution_count++] = d;
	}
	if (reading->distribution_count)
		return;
	reading->distributions[reading->distribution_count++] = KDIST_NORMAL;
	reading->distributions[reading->distribution_count++] = KDIST_UNIFORM;
	if (reading->linear)
		reading->distributions[reading->distribution_count++] = KDIST_ZERO_ONE;
	reading->distributions[reading->distribution_count++] = KDIST_LARGE;
}

static void
check_given(const json_t *given)
{
	kjson_foreach_member(name, v, given) {
		const struct ktask_axis *axis = axis_named(reading, name);

		if (!axis || axis->kind != KAXIS_VAR)
			fault("'%s' is not an axis of type var", name);
	}
	kforeach_of(axis, reading->axes, reading->axis_count)
		if (axis->kind == KAXIS_VAR && !json_object_get(given, axis->name))
			fault("axis %s is missing", axis->name);
}

static void
read_sizes(struct ktask_workload *w, const json_t *given)
{
	const struct ktask_axis *a;
	const char *const formulas[] = { reading->flops, reading->bytes, reading->reduction };
	size_t before = faults.count;
	int64_t v;

	check_given(given);
	for (size_t i = 0; i < reading->axis_count; i++)
		w->axis[i] = reading->axes[i].kind == KAXIS_VAR
		    ? json_integer_value(json_object_get(given, reading->axes[i].name))
		    : reading->axes[i].kind == KAXIS_CONST ? reading->axes[i].value
		                                           : 1;
	a = settle_axes(reading, w->axis);
	if (a)
		fault("axis %s: %s", a->name, why);
	for (size_t i = 0; i < reading->axis_count && faults.count == before; i++)
		if (w->axis[i] < 0 || w->axis[i] > INT32_MAX)
			fault("axis %s is %lld: it must be 0 to 2147483647", reading->axes[i].name,
			    (long long)w->axis[i]);
	for (size_t i = 0; i < reading->tensor_count && faults.count == before; i++) {
		const struct ktask_tensor *x = &reading->tensors[i];
		double n = 1;

		kforeach_of(one, x->dim, x->rank) {
			if (!evaluate(reading, w->axis, *one, &v))
				fault("%s: %s", x->name, why);
			n *= v < 1 ? -1 : (double)v;
			if (v < 1)
				fault("%s has a dimension of %lld", x->name, (long long)v);
		}
		if (n > (double)((int64_t)1 << 34))
			fault("%s has %.3g elements, too many", x->name, n);
	}
	if (faults.count > before)
		return;
	kforeach(formula, formulas) {
		if (!*formula)
			continue;
		if (!evaluate(reading, w->axis, *formula, &v))
			fault("%s", why);
		else if (v < 0 && w->timed)
			fault("'%s' is %lld: it must be 0 or more", *formula, (long long)v);
	}
}

static void
read_list(const struct ktask_workload *w, const struct ktask_tensor *x, const json_t *list)
{
	if (!json_is_array(list) || kany(kjson_foreach(item, list), !fits(item, x->dtype)))
		fault("values: %s must be a list of integers of type %s, or {\"file\"}", x->name,
		    kdtype_name(x->dtype));
	else if (!faults.count && json_array_size(list) != ktask_elements(reading, w, x))
		fault("values: %s must be a list of %zu integers, not %zu", x->name,
		    ktask_elements(reading, w, x), json_array_size(list));
}

/*
 * Contents that a workload fixes: scalars; small integer inputs, such as the offsets of groups; and
 * recorded inputs.
 */
static void
read_values(const struct ktask_workload *w)
{
	kjson_foreach_member(name, v, w->values) {
		const struct ktask_tensor *x = tensor_named(reading, name);

		if (json_is_object(v)) {
			/* Whoever reads the file checks what is in it. */
			if (!x || x->scalar || !x->input)
				fault("values.%s: must be an array that "
				      "is an input, or updated in place",
				    name);
		} else if (x && x->scalar) {
			if (!fits(v, x->dtype))
				fault("values: %s must be a number of type %s", name,
				    kdtype_name(x->dtype));
		} else if (!x || x->output || kdtype_is_float(x->dtype)) {
			fault("values: '%s' must be an input of an integer type or a scalar", name);
		} else {
			read_list(w, x, v);
		}
	}
}

static void
read_workload(size_t i, const json_t *o)
{
	struct ktask_workload *w = &reading->workloads[i];
	auto_free char *path = NULL;

	*w = (struct ktask_workload){ .name = kjson_maybe(o, "name"),
		.sets = json_object_get(o, "sets"),
		.timed = kjson_bool(o, "timed"),
		.core = kjson_bool(o, "core"),
		.skew = kjson_bool(o, "skew"),
		.values = json_object_get(o, "values"),
		.pair = kjson_maybe(o, "pair"),
		.pass = kjson_maybe(o, "pass"),
		.weight = kjson_num_or(o, "weight", 1) };
	place = path = kasprintf("workloads[%zu] (%s)", i, w->name);
	kforeach_of(workload, reading->workloads, i)
		if (!strcmp(workload->name, w->name))
			fault("two workloads have the name '%s'", w->name);
	read_sizes(w, json_object_get(o, "axes"));
	read_values(w);
}

/*
 * A step has one forward and one backward pass, timed in the same sets: otherwise its time would be
 * that of half a step.
 */
static void
check_pair(size_t i)
{
	const struct ktask_workload *w = &reading->workloads[i];
	size_t partners = 0;

	place = kshown("workloads[%zu] (%s)", i, w->name);
	if (!w->pair != !w->pass)
		fault("\"pair\" and \"pass\" must be given together");
	if (!w->pair || !w->pass)
		return;
	for (size_t k = 0; k < reading->workload_count; k++) {
		const struct ktask_workload *o = &reading->workloads[k];

		if (k == i || !o->pair || !o->pass || strcmp(o->pair, w->pair))
			continue;
		partners++;
		if (!strcmp(o->pass, w->pass) || o->timed != w->timed ||
		    (o->sets != w->sets && !json_equal((json_t *)o->sets, (json_t *)w->sets)))
			fault("pair %s: must be one forward and one backward pass, both timed or "
			      "both not, in the same sets",
			    w->pair);
	}
	if (partners != 1)
		fault("pair %s has %zu workloads, not 2", w->pair, partners + 1);
}

static void
read_workloads(const json_t *list)
{
	size_t timed = 0;

	reading->workload_count = json_array_size(list);
	reading->workloads = kcalloc(reading->workload_count + 1, sizeof *reading->workloads);
	kjson_foreach(o, list) {
		read_workload(kjson_at(o), o);
		timed += reading->workloads[kjson_at(o)].timed;
	}
	for (size_t i = 0; i < reading->workload_count; i++)
		check_pair(i);
	if (!timed)
		fault_in("workloads", "at least one must be \"timed\": true");
}

static void
read_baselines(const json_t *list)
{
	reading->baselines = kcalloc(json_array_size(list) + 1, sizeof *reading->baselines);
	kjson_foreach(o, list) {
		reading->baselines[reading->baseline_count++] =
		    (struct ktask_baseline){ kjson_maybe(o, "name"), kjson_maybe(o, "file"),
			    json_object_get(o, "flags"), json_object_get(o, "symbols") };
	}
}

/* The input that says how many rows each group of a grouped operation has. */
static void
read_groups(const json_t *o)
{
	const struct ktask_tensor *x = o ? tensor_named(reading, kjson_maybe(o, "tensor")) : NULL;

	reading->groups = x ? (int)(x - reading->tensors) : -1;
	reading->group_offsets = kjson_is(o, "form", "offsets");
	if (o && (!x || x->scalar || x->output || kdtype_is_float(x->dtype)))
		fault_in("groups.tensor", "must name an input of an integer type");
}

static void
read_task(const json_t *o)
{
	auto_free char *lack = backend_lacks_runner(backend_for(kjson_maybe(o, "language")));

	reading->name = kjson_maybe(o, "name");
	reading->op = kjson_maybe(o, "op");
	reading->description = kjson_maybe(o, "description");
	reading->language = kjson_maybe(o, "language");
	reading->reference = kjson_maybe(o, "reference");
	reading->oracle = kjson_maybe(o, "oracle");
	reading->flops = kjson_maybe(o, "flops");
	reading->bytes = kjson_maybe(o, "bytes");
	reading->reduction = kjson_maybe(o, "reduction");
	reading->linear = kjson_bool(o, "linear");
	reading->deterministic = kjson_bool(o, "deterministic");
	reading->min_time_ns = kjson_num(o, "min_time_ns");
	reading->alone = kjson_is(o, "timing", "alone");
	/* What kiln cannot run is built by one of the campaign's commands. */
	if (!json_object_get(o, "build") && !lack)
		fault_in("build", "is missing (an object)");
	read_axes(json_object_get(o, "axes"));
	read_tensors(o, "inputs");
	read_tensors(o, "outputs");
	read_groups(json_object_get(o, "groups"));
	read_entry(json_object_get(o, "entry"));
	check_expression("flops", reading->flops);
	check_expression("bytes", reading->bytes);
	check_expression("reduction", reading->reduction);
	read_tolerance(json_object_get(o, "tolerance"));
	read_distributions(json_object_get(o, "distributions"));
	read_baselines(json_object_get(o, "baselines"));
	read_workloads(json_object_get(o, "workloads"));
	read_limits(o);
}

/* First its form; what follows relies on that. */
static void
check_task(const json_t *o)
{
	struct kfaults wrong = { 0 };

	kform_check(&form, o, "", &wrong);
	kpart_foreach(line, wrong.text.data, "\n")
		kfault(&faults, "%s%s", prefix, line);
	kbuf_free(&wrong.text);
	if (!wrong.count)
		read_task(o);
}

void
ktask_free(struct ktask *t)
{
	if (!t)
		return;
	kforeach_of(tensor, t->tensors, t->tensor_count)
		kforeach_of(one, tensor->dim, tensor->rank)
			free(*one);
	free(t->workloads);
	free(t->baselines);
	json_decref(t->json);
	free(t->file);
	free(t);
}

size_t
ktask_faults(const json_t *json, char **text)
{
	reading = kcalloc(1, sizeof *reading);
	faults = (struct kfaults){ .text = kbuf_empty() };
	prefix = "";
	check_task(json);
	*text = faults.text.data;
	ktask_free(reading);
	return faults.count;
}

struct ktask *
ktask_load(const char *file)
{
	auto_free char *before = kasprintf("%s: ", file);

	reading = kcalloc(1, sizeof *reading);
	faults = (struct kfaults){ 0 };
	prefix = before;
	reading->json = kjson_load(file);
	reading->file = kstrdup(file);
	check_task(reading->json);
	kfaults_end(&faults, file);
	return reading;
}

bool
ktask_device_only(const json_t *task)
{
	return device_compiler(kjson_str(task, "build.compiler")) != NULL;
}

const char *
ktask_lacks_oracle(const struct ktask *t, const char *reference)
{
	bool narrow = kany(kforeach_of(tensor, t->tensors, t->tensor_count),
	    kdtype_is_float(tensor->dtype) && tensor->dtype != KDTYPE_F64);

	if (!t->oracle && ktask_device_only(t->json))
		return "\"oracle\" is missing; "
		       "it must be host code, because the reference is device code";
	if (t->oracle || !narrow || strstr(reference, "REAL"))
		return NULL;
	return "\"oracle\" is missing, and the reference cannot replace it: the reference would be "
	       "compiled with -DREAL=double, but it does not use REAL as its number type";
}

char *
ktask_path(const struct ktask *t, const char *name)
{
	return kstrdup(kbeside(t->file, name));
}

bool
ktask_in_set(const struct ktask_workload *w, const char *set)
{
	return !w->sets || kjson_has(w->sets, set);
}

const struct ktask_workload *
ktask_workload(const struct ktask *t, const char *name)
{
	return krow_with(t->workloads, t->workload_count, name, name);
}
