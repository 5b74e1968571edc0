/* SPDX-License-Identifier: Apache-2.0 */
/* kform: see kform.h. */
#include "kform.h"

#include <float.h>

#include "kregex.h"

static bool
is_choice(const char *choices, const char *text)
{
	for (const char *c = choices;; c++) {
		size_t n = strcspn(c, "|");
		bool open = n && c[n - 1] == ':';

		if (!strncmp(c, text, n) && (open ? strlen(text) > n : strlen(text) == n))
			return true;
		c += n;
		if (!*c)
			return false;
	}
}

/* "a string or a whole number"; the caller frees. */
static char *
type_words(int types)
{
	static const struct {
		int types;
		const char *words;
	} kinds[] = {
		{ KFORM_NULL, "null" },
		{ KFORM_STRING, "a string" },
		{ KFORM_NUMBER, "a number" },
		{ KFORM_INTEGER, "a whole number" },
		{ KFORM_BOOLEAN, "true or false" },
		{ KFORM_ARRAY, "a list" },
		{ KFORM_OBJECT, "an object" },
	};
	struct kbuf b = { 0 };

	kforeach(kind, kinds)
		if ((types & kind->types) == kind->types) {
			kbuf_join(&b, " or ", kind->words);
			types &= ~kind->types;
		}
	return b.data;
}

/* "a number from 0 to 1"; the caller frees. */
static char *
number_words(const struct kform *f)
{
	auto_free char *words = type_words(f->types);

	if (f->least > 0 && f->least < DBL_MIN)
		return isfinite(f->most) ? kasprintf("above 0 and at most %.15g", f->most)
		                         : kstrdup("above 0");
	if (isfinite(f->least) && isfinite(f->most))
		return kasprintf("%s from %.15g to %.15g", words, f->least, f->most);
	return isfinite(f->least) ? kasprintf("%s of %.15g or more", words, f->least)
	                          : kstrdup(words);
}

/*
 * What must be between LEAST and MOST; NAN: there is nothing to measure. A text of white space is
 * as good as empty.
 */
static double
size_of(const json_t *v)
{
	const char *text = json_string_value(v);

	return json_is_number(v) ? json_number_value(v)
	    : text             ? (double)(text[strspn(text, " \t\r\n")] ? json_string_length(v) : 0)
	    : json_is_array(v) ? (double)json_array_size(v)
	    : json_is_object(v) ? (double)json_object_size(v)
	                        : NAN;
}

/* What is wrong with V, apart from what is in it; NULL: nothing. The caller frees. */
static char *
fault_of(const struct kform *f, const json_t *v)
{
	bool fits = f->types >> json_typeof(v) & 1,
	     sized = !(size_of(v) < f->least || size_of(v) > f->most),
	     numeric = !(f->types & ~KFORM_NUMBER);
	const char *things = json_is_string(v) ? "characters" : "members";
	auto_free char *words = numeric ? number_words(f) : type_words(f->types);

	if (!fits || (numeric && !sized))
		return kasprintf("must be %s", words);
	if (!sized && f->least > 0 && f->least < 2 && !isfinite(f->most))
		return kstrdup("must not be empty");
	if (!sized)
		return isfinite(f->most)
		    ? kasprintf("must have %.15g to %.15g %s", f->least, f->most, things)
		    : kasprintf("must have at least %.15g %s", f->least, things);
	if (f->choices && json_is_string(v) && !is_choice(f->choices, json_string_value(v)))
		return kasprintf(
		    "must be %s%s", strchr(f->choices, '|') ? "one of " : "", f->choices);
	if (f->pattern && json_is_string(v) && !kregex_is(f->pattern, json_string_value(v))) {
		auto_free char *given =
		    f->hidden ? kstrdup("") : kasprintf("'%s' ", json_string_value(v));

		return kasprintf("%smust be %s", given, f->meaning ?: f->pattern);
	}
	return NULL;
}

/* Levenshtein distance, to suggest the member that was meant. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[64], la = strlen(a), lb = strlen(b);

	if (lb >= LEN(row))
		return lb;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = diagonal + (a[i - 1] != b[j - 1]), up = row[j] + 1,
			       left = row[j - 1] + 1;

			diagonal = row[j];
			row[j] = cost < up ? cost : up;
			if (left < row[j])
				row[j] = left;
		}
	}
	return row[lb];
}

static const char *
nearest(const struct kform *f, const char *name)
{
	const char *best = NULL;
	size_t limit = strlen(name) / 2 + 1;

	for (const struct kform *m = f->members; m->name; m++)
		if (distance(name, m->name) < limit) {
			limit = distance(name, m->name);
			best = m->name;
		}
	return best;
}

static const struct kform *
member_named(const struct kform *f, const char *name)
{
	const struct kform *m = f->members;

	while (m->name && strcmp(m->name, name))
		m++;
	return m->name ? m : NULL;
}

static void
check_object(const struct kform *f, const json_t *object, const char *path, struct kfaults *faults)
{
	const char *dot = *path ? "." : "";

	kjson_foreach_member(name, v, object) {
		const struct kform *m = member_named(f, name) ?: member_named(f, "*");
		auto_free char *full = kasprintf("%s%s%s", path, dot, name);
		const char *near = m ? NULL : nearest(f, name);

		if (m)
			kform_check(m, v, full, faults);
		else if (near)
			kfault(faults, "%s: unknown field; did you mean %s%s%s?", full, path, dot,
			    near);
		else
			kfault(faults, "%s: unknown field", full);
	}
	for (const struct kform *m = f->members; m->name; m++)
		if (m->required && !json_object_get(object, m->name)) {
			auto_free char *words = type_words(m->types);

			kfault(faults, "%s%s%s: is missing (%s)", path, dot, m->name,
			    m->help ?: words);
		}
}

void
kform_check(const struct kform *f, const json_t *v, const char *path, struct kfaults *faults)
{
	auto_free char *why = fault_of(f, v);
	const struct kform *item = f->members && !why ? member_named(f, "[]") : NULL;

	if (why)
		kfault(faults, "%s%s%s%s%s%s", path, *path ? ": " : "", why, f->help ? " (" : "",
		    f->help ?: "", f->help ? ")" : "");
	else if (json_is_object(v) && f->members)
		check_object(f, v, path, faults);
	kjson_foreach(one, item ? v : NULL) {
		auto_free char *full = kasprintf("%s[%zu]", path, kjson_at(one));

		kform_check(item, one, full, faults);
	}
}

json_t *
kform_load(const struct kform *form, const char *path)
{
	json_t *v = kjson_load(path);
	struct kfaults faults = { 0 };

	kform_check(form, v, "", &faults);
	if (faults.count)
		kdie_usage(
		    "%s: %.*s", path, (int)strcspn(faults.text.data, "\n"), faults.text.data);
	return v;
}
