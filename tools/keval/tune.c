/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune: parameters that a program leaves open, "#define TILE 32 // tune: 16, 32, 64". All
 * combinations are checked and raced with one another, without a model. The fastest correct one
 * becomes the program, and is then measured again like any other, because the fastest of many is
 * partly so by luck.
 */

#include "keval.h"

enum { MAX_PARAMETERS = 4, MAX_VARIANTS = 8, MAX_NAME = 80 };

static const char form[] =
    "(?m)^[ \\t]*#[ \\t]*define[ \\t]+(\\w+)[ \\t]+[^\\n]*?[ \\t]*(?://|/\\*)[ \\t]*tune:"
    "[ \\t]*([\\w.+-]+(?:[ \\t]*,[ \\t]*[\\w.+-]+)*)[ \\t]*(?:\\*/)?[ \\t]*$";

struct parameter {
	char *name;
	json_t *values;  /* array of strings; owned */
	size_t from, to; /* its line */
};

struct space {
	struct parameter at[MAX_PARAMETERS];
	size_t count, variants;
};

/*
 * Reads the parameters of CODE. Returns what is wrong with them, which the caller frees, or NULL.
 */
static char *
read_space(const char *code, struct space *s)
{
	struct kregex_span at[3];

	*s = (struct space){ .variants = 1 };
	for (size_t from = 0; kregex_match(form, code + from, at); from += at->to) {
		struct parameter *p = &s->at[s->count];
		auto_free char *values = kregex_text(code + from, at[2]);

		if (s->count < MAX_PARAMETERS) {
			*p = (struct parameter){ kregex_text(code + from, at[1]), json_array(),
				from + at->from, from + at->to };
			s->count++;
			kpart_foreach(v, values, ", \t")
				kjson_add(p->values, v);
			s->variants *= json_array_size(p->values);
		} else {
			s->variants = SIZE_MAX;
		}
		if (s->variants > MAX_VARIANTS)
			return kasprintf("at most %d parameters with %d combinations are tried",
			    MAX_PARAMETERS, MAX_VARIANTS);
	}
	return NULL;
}

static void
free_space(struct space *s)
{
	kforeach_of(p, s->at, s->count) {
		free(p->name);
		json_decref(p->values);
	}
}

/* CODE with the values of variant N for its open parameters; and these values. */
static char *
variant(const char *code, const struct space *s, size_t n, json_t *chosen)
{
	struct kbuf b = { 0 };
	size_t done = 0;

	kforeach_of(p, s->at, s->count) {
		size_t size = json_array_size(p->values);
		const char *value = kjson_item(p->values, n % size);

		n /= size;
		kbuf_slice(&b, code, done, p->from);
		kbuf_printf(&b, "#define %s %s", p->name, value);
		kjson_put(chosen, p->name, value);
		done = p->to;
	}
	kbuf_puts(&b, code + done);
	return b.data;
}

/* Geometric mean over the workloads; INFINITY for a variant that is wrong or was not timed. */
static double
time_of(const json_t *row)
{
	const json_t *timing = json_object_get(row, "timing");
	double logs = 0;

	kjson_foreach(w, timing)
		logs += log(kgain_time_ns(w));
	return json_array_size(timing) && status_at(row, "status") == STATUS_CORRECT
	    ? exp(logs / (double)json_array_size(timing))
	    : INFINITY;
}

/* Races all variants, recorded in TUNED; returns the fastest. */
static size_t
race_variants(char *const *codes, size_t count, json_t *tuned)
{
	json_auto_t *race = race_programs(codes, count);
	json_t *rows = json_object_get(race, "kernels"), *told = json_object_get(tuned, "variants");
	double fastest = INFINITY;
	size_t best = 0;

	for (size_t i = 0; i < count; i++) {
		const json_t *row = json_array_get(rows, i);
		json_t *one = json_array_get(told, i);
		double ns = time_of(row);

		json_object_set(one, "status", json_object_get(row, "status"));
		if (isfinite(ns))
			kjson_put(one, "time_ns", ns);
		if (ns < fastest) {
			fastest = ns;
			best = i;
		}
	}
	return best;
}

char *
tuned_program(const char *code, json_t **tuned, char **fault)
{
	char *codes[MAX_VARIANTS], *program;
	struct space s;
	size_t best;

	*tuned = NULL;
	*fault = read_space(code, &s);
	if (*fault || !s.count) {
		free_space(&s);
		return NULL;
	}
	*tuned = json_pack("{s:[]}", "variants");
	for (size_t i = 0; i < s.variants; i++) {
		json_t *values = json_object();

		codes[i] = variant(code, &s, i, values);
		kjson_append(json_object_get(*tuned, "variants"), "{s:o}", "parameters", values);
	}
	best = race_variants(codes, s.variants, *tuned);
	kjson_put(*tuned, "chosen", (json_int_t)best);
	program = codes[best];
	kforeach_of(each, codes, s.variants)
		if (*each != program)
			free(*each);
	free_space(&s);
	return program;
}
