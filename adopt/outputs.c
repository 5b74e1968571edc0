/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what the application wrote before and after: byte by byte, or number by number within a
 * tolerance. See adopt.h.
 */

#include "adopt.h"

/* How numbers are compared, and what was found. */
struct comparing {
	size_t size;       /* bytes of a binary number; 0: numbers in text */
	double rtol, atol; /* how far a number may be off: a share of its size, or this much */
	bool lenient;      /* numbers may differ by more than is allowed; FAR says by how much */
	double worst;      /* largest difference, as a share of the number's size */
	double far;        /* largest difference of a number that differed by more than RTOL */
	double largest;    /* largest number */
};

/* COMPARE is "float:RTOL", "float32:RTOL:ATOL" or the like. False: it is something else. */
static bool
read_compare(const char *compare, struct comparing *c)
{
#define NUMBER "(\\d*\\.?\\d+(?:[eE][-+]?\\d+)?)"
	static const char form[] = "\\Afloat(32|64)?:" NUMBER "(?::" NUMBER ")?\\z";
	auto_free char *bits = NULL, *rtol = NULL, *atol = NULL;

	if (!kregex_scan(form, compare, &bits, &rtol, &atol))
		return false;
	c->size = bits ? strtoul(bits, NULL, 10) / CHAR_BIT : 0;
	c->rtol = strtod(rtol, NULL);
	c->atol = atol ? strtod(atol, NULL) : 0;
	return c->rtol < 1;
}

bool
outputs_compare_ok(const char *compare)
{
	struct comparing c;

	return !strcmp(compare, "exact") || read_compare(compare, &c);
}

static bool
near(struct comparing *c, double x, double y)
{
	double apart = fabs(x - y), size = fmax(fabs(x), fabs(y)), off = apart / size;

	c->largest = fmax(c->largest, size);
	if (x == y || (isnan(x) && isnan(y)) || apart <= c->atol)
		return true;
	if (c->lenient && off > c->rtol) {
		c->far = fmax(c->far, apart);
		return true;
	}
	c->worst = isnan(off) ? INFINITY : fmax(c->worst, off);
	return off <= c->rtol;
}

/*
 * These say where two outputs differ, and by how much; NULL: they do not. The numbers themselves
 * belong to the user: the text may go into a prompt. The caller frees.
 */

static char *
bytes_differ(const char *x, size_t n, const char *y, size_t m)
{
	size_t i = 0, line = 1;

	while (i < n && i < m && x[i] == y[i])
		line += x[i++] == '\n';
	return i == n && i == m
	    ? NULL
	    : kasprintf("%zu and %zu bytes; they differ from byte %zu (line %zu)", n, m, i, line);
}

double
number_at(const char *bytes, size_t size)
{
	float f;
	double d;

	if (size == sizeof f) {
		memcpy(&f, bytes, sizeof f);
		return (double)f;
	}
	memcpy(&d, bytes, sizeof d);
	return d;
}

static char *
numbers_differ(struct comparing *c, const char *x, size_t n, const char *y, size_t m)
{
	size_t size = c->size;

	if (n != m || n % size)
		return kasprintf(
		    "%zu and %zu bytes, which are not numbers of %zu bytes", n, m, size);
	for (size_t i = 0; i < n; i += size)
		if (!near(c, number_at(x + i, size), number_at(y + i, size)))
			return kasprintf(
			    "number %zu is off by %.3g of its size", i / size, c->worst);
	return NULL;
}

/* Texts: numbers are compared as numbers, everything else byte by byte. */
static char *
texts_differ(struct comparing *c, const char *x, const char *y)
{
	size_t line = 1;
	char before = '\n';

	while (*x || *y) {
		bool begins = !isalnum((unsigned char)before) && !strchr("_.", before) &&
		    (kis_digit(*x) || strchr("+-.", *x)) && *x && *y;
		char *ex = NULL, *ey = NULL;
		double u = begins ? strtod(x, &ex) : 0, v = begins ? strtod(y, &ey) : 0;

		if (begins && ex > x && ey > y) {
			if (!near(c, u, v))
				return kasprintf("a number in line %zu is off by %.3g of its size",
				    line, c->worst);
			x = ex;
			y = ey;
		} else if (*x != *y) {
			return kasprintf("line %zu differs", line);
		} else {
			line += *x++ == '\n';
			y++;
		}
		before = x[-1];
	}
	return NULL;
}

/* Compares output O, as the program in FOLDER wrote it, with the original's. */
static char *
output_differs(struct comparing *c, const json_t *o, const char *compare, const char *folder)
{
	const char *name = kjson_str(o, "file"), *was = adopt_path("outputs/%s", name),
	           *now = path_join(folder, name);
	size_t n, m;
	auto_free char *x = file_text(was, &n), *y = file_text(now, &m);

	if (!x || !y)
		return kasprintf("%s does not exist", x ? now : was);
	if (!read_compare(compare, c))
		return bytes_differ(x, n, y, m);
	if (c->size)
		return numbers_differ(c, x, n, y, m);
	if (strlen(x) < n || strlen(y) < m)
		return kstrdup("it is not text");
	return texts_differ(c, x, y);
}

char *
outputs_differ(const json_t *o, const char *folder)
{
	struct comparing c = { 0 };

	return output_differs(&c, o, kjson_str_or(o, "compare", "exact"), folder);
}

/* The next of 1, 2, 5, 10, … above X, because another run may differ by a little more. */
static double
round_up(double x)
{
	double ten = pow(10, floor(log10(1.1 * x)));

	x = 1.1 * x / ten;
	return ten * (x < 2 ? 2 : x < 5 ? 5 : 10);
}

char *
outputs_digits(void)
{
	/*
	 * A number that differs by more is another result, unless it is nearly 0 because it is the
	 * difference of much larger numbers.
	 */
	static const double most = 0.01, least = 1e-6, tiny = 1e-6;

	kforeach_text(kind, "float", "float32", "float64") {
		auto_free char *compare = kasprintf("%s:%g", kind, most), *why = NULL;
		struct comparing c = { .lenient = true, .worst = least };

		kjson_foreach(o, adoption.json, "outputs")
			why = why ?: output_differs(&c, o, compare, adoption.project);
		if (why || !(c.far <= tiny * c.largest) || isinf(c.worst))
			continue;
		return c.far > 0 ? kasprintf("%s:%g:%g", kind, round_up(c.worst), round_up(c.far))
		                 : kasprintf("%s:%g", kind, round_up(c.worst));
	}
	return NULL;
}

bool
outputs_allow(const char *compare)
{
	struct comparing asked, c;

	return read_compare(compare, &asked) &&
	    !kany(kjson_foreach(o, adoption.json, "outputs"),
	        !read_compare(kjson_str(o, "compare"), &c) || c.size != asked.size ||
	            c.rtol < asked.rtol || c.atol < asked.atol);
}

char *
outputs_all_differ(const char *folder)
{
	kjson_foreach(o, adoption.json, "outputs") {
		auto_free char *why = outputs_differ(o, folder);

		if (why)
			return kasprintf(
			    "the application's output %s differs: %s", kjson_str(o, "file"), why);
	}
	return NULL;
}

void
outputs_empty(const char *folder)
{
	kjson_foreach(o, adoption.json, "outputs") {
		const char *path = path_join(folder, kjson_str(o, "file"));

		if (kis_there(path) && truncate(path, 0) < 0)
			kdie_io("%s", path);
	}
}

/* Does the text contain numbers with a fraction, and nothing that is not text? */
static bool
has_fractions(const char *text, size_t len)
{
	return kregex_find("[0-9]\\.[0-9]", text, len, NULL, 0) &&
	    !kregex_find("[^\\s\\x20-\\xff]", text, len, NULL, 0);
}

void
outputs_propose(void)
{
	size_t len;

	kjson_foreach(o, adoption.json, "outputs") {
		const char *name = kjson_str(o, "file");
		auto_free char *text = NULL;
		bool real;

		if (strcmp(kjson_str_or(o, "compare", "auto"), "auto"))
			continue;
		text = file_text(adopt_path("outputs/%s", name), &len);
		real = text && has_fractions(text, len);
		if (real)
			ksay("outputs    %s has floating-point numbers: they may differ by 1e-4 of "
			     "their size (--compare exact: not at all)\n",
			    name);
		kjson_put(o, "compare", real ? "float:1e-4" : "exact");
	}
	adoption_save();
}
