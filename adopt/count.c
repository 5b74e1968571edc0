/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a call, by hardware counters: formulas for a task's roofline. See task_count in
 * adopt.h.
 */

#include "adopt.h"
#include "kio.h"
#include "ncu.h"

enum { CONFIGS = 64, FACTORS = 3 };

/* Counts of one kind in all configurations agree with a formula within this. */
#define CLOSE 0.01
/* The finest part of a whole number in a formula. */
#define FINEST 1e6
/* A kernel that reads less than this share of its arrays does not read all of them. */
#define PARTLY 0.5

/* The launches in ncu's file, and what is made of them. */
struct counts {
	const json_t *configs;  /* those of adopt/configs.json */
	const json_t *sequence; /* the kernels that a host function launches, or NULL */
	struct kconfigs_call *calls;
	size_t count;
	json_int_t all; /* observed calls */
};

/* The values of one kind, and the workloads that they belong to. */
struct fit {
	const json_t *axes[CONFIGS];
	double value[CONFIGS];
	size_t count;
	char *formula;
};

/*
 * The operations of a call of CONFIG, or the bytes that it READS: those of its launches, which must
 * agree; NAN: unknown. For a host function those of all its launches, if all calls are alike.
 */
static double
count_of(const struct counts *c, const json_t *config, bool reads)
{
	const json_t *grid = json_array_get(json_object_get(config, "grid"), 0),
	             *block = json_array_get(json_object_get(config, "block"), 0);
	double sum = 0, low = INFINITY, high = -INFINITY, one;
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct kconfigs_call *x = &c->calls[i];

		if (!c->sequence &&
		    (x->key.at[0] != json_integer_value(grid) ||
		        x->key.at[3] != json_integer_value(block)))
			continue;
		one = reads ? x->dram_read : x->flops;
		sum += one;
		low = fmin(low, one);
		high = fmax(high, one);
		n++;
	}
	if (c->sequence)
		return json_array_size(c->configs) == 1 ? sum / (double)c->all : NAN;
	return n && high - low <= CLOSE * high ? sum / (double)n : NAN;
}

/* The bytes of CONFIG's arrays that are read, or those that are WRITTEN. */
static double
bytes_of(const json_t *config, bool written)
{
	const json_t *pointers = json_object_get(config, "pointers"), *p;
	const char *name;
	double sum = 0;

	json_object_foreach((json_t *)pointers, name, p)
		if (kjson_bool(p, written ? "written" : "read"))
			sum += (double)(kjson_int(p, "bytes") - kjson_int(p, "offset"));
	return sum;
}

/* Is PRODUCT, whose factors are TEXT, in proportion to the values? Then it makes the formula. */
static bool
accept(struct fit *f, const double *product, const char *text)
{
	double low = INFINITY, high = 0;

	for (size_t i = 0; i < f->count; i++) {
		double x = product[i] > 0 ? f->value[i] / product[i] : INFINITY;

		low = fmin(low, x);
		high = fmax(high, x);
	}
	for (double part = 1; part <= FINEST && !f->formula; part *= 1000) {
		double number = round(sqrt(low * high) * part);
		bool good = isfinite(high) && number > 0;

		for (size_t i = 0; i < f->count; i++)
			good = good &&
			    fabs(number / part * product[i] - f->value[i]) <= CLOSE * f->value[i];
		if (good && part > 1)
			f->formula = kasprintf("%.0f%s/%.0f", number, text, part);
		else if (good)
			f->formula = kasprintf("%.0f%s", number, text);
	}
	return f->formula;
}

/* The same for PRODUCT with LEFT more axes, from the one FROM on. */
static bool
multiply(struct fit *f, size_t from, int left, const double *product, const char *text)
{
	const char *name;
	json_t *axis;
	size_t at = 0;
	bool found = false;

	if (!left)
		return accept(f, product, text);
	json_object_foreach((json_t *)f->axes[0], name, axis) {
		double next[CONFIGS];
		char *longer;

		if (at++ < from || found)
			continue;
		for (size_t i = 0; i < f->count; i++)
			next[i] = product[i] * kjson_num(f->axes[i], name);
		longer = kasprintf("%s*%s", text, name);
		found = multiply(f, at - 1, left - 1, next, longer);
		free(longer);
	}
	return found;
}

/* A number times as few axes as possible. */
static void
find_formula(struct fit *f)
{
	double one[CONFIGS];

	for (size_t i = 0; i < f->count; i++)
		one[i] = 1;
	for (int factors = 0; f->count && factors <= FACTORS && !f->formula; factors++)
		multiply(f, 0, factors, one, "");
}

static void
add_value(struct fit *f, const json_t *task, const json_t *config, double value)
{
	const json_t *w =
	    kjson_find(json_object_get(task, "workloads"), "name", kjson_str(config, "name"));

	if (w && f->count < CONFIGS) {
		f->axes[f->count] = json_object_get(w, "axes");
		f->value[f->count++] = value;
	}
}

/* Sets MEMBER of the formulas if the values show one. */
static void
set_formula(json_t *formulas, const char *member, struct fit *f, const char *what)
{
	bool counted = f->count > 0;

	for (size_t i = 0; i < f->count; i++)
		counted = counted && isfinite(f->value[i]);
	if (counted)
		find_formula(f);
	if (f->formula) {
		ksay("work       %s %s a call, by hardware counters\n", f->formula, what);
		json_object_set_new(formulas, member, json_string(f->formula));
	} else if (counted) {
		kwarn("the counted %s are not in proportion to a product of sizes: give a formula "
		      "with --%s",
		    what, member);
	} else {
		kwarn("the file does not show the %s of each configuration: give a formula with "
		      "--%s",
		    what, member);
	}
	free(f->formula);
}

static json_t *
formulas_of(const struct counts *c, const json_t *task)
{
	struct fit flops = { 0 }, bytes = { 0 };
	json_t *formulas = json_object();
	const json_t *config;
	bool partly = false;
	size_t i;

	json_array_foreach((json_t *)c->configs, i, config) {
		double n = count_of(c, config, true);

		add_value(&flops, task, config, count_of(c, config, false));
		add_value(&bytes, task, config, n + bytes_of(config, true));
		partly |= n < PARTLY * bytes_of(config, false);
	}
	/* A kernel of integers has no roofline but that of the memory. */
	for (i = 0; i < flops.count && flops.value[i] == 0;)
		i++;
	if (i < flops.count)
		set_formula(formulas, "flops", &flops, "operations");
	if (partly)
		set_formula(formulas, "bytes", &bytes, "bytes");
	return formulas;
}

json_t *
task_count(const struct adoption *a, const json_t *task)
{
	struct counts c = { .sequence = json_object_get(a->unit, "sequence") };
	json_t *kernels =
	           c.sequence ? json_incref((json_t *)c.sequence) : json_pack("[s]", a->kernel),
	       *configs, *formulas;
	char *file = counters_of(a, kernels);

	if (!file) {
		json_decref(kernels);
		return json_object();
	}
	if (!c.sequence && !kjson_bool(a->unit, "kernel"))
		kdie(K_USAGE,
		    "ncu does not show which launches belong to a call of %s; give formulas "
		    "with --flops and --bytes",
		    a->kernel);
	configs = kjson_load(adopt_path(a, "configs.json"));
	c.configs = json_object_get(configs, "configs");
	c.all = kjson_int_or(configs, "calls", 1);
	c.calls = ncu_calls(file, kernels, &c.count);
	json_decref(kernels);
	formulas = formulas_of(&c, task);
	free(c.calls);
	free(file);
	json_decref(configs);
	return formulas;
}
