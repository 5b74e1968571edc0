/* SPDX-License-Identifier: Apache-2.0 */
/* kclaim: see kclaim.h. */
#include "kclaim.h"

#include "khw.h"
#include "kregex.h"

/*
 * How many words before a figure may be a hedge for it; least number of letters of a word that says
 * what a number is.
 */
enum { HEDGE_WORDS = 3, WORD_MIN = 3 };
/* What may come between a number and its unit, including Markdown's marks. */
#define MARKS " `*"

/* The next number from P on that is not part of a name, and where it ends; NULL: there is none. */
static const char *
next_number(const char *text, const char *p, double *value, const char **end)
{
	for (; *p; p++) {
		char *stop;

		if (!kis_digit(*p) || (p > text && (kis_word(p[-1]) || p[-1] == '.')))
			continue;
		*value = strtod(p, &stop);
		*end = stop;
		return p;
	}
	return NULL;
}

static bool
is_figure(const char *unit)
{
	static const enum khw_dimension hedged[] = { KHW_RATE, KHW_BANDWIDTH, KHW_CLOCK };
	auto_free char *name = kregex_part("\\A[" MARKS "]*([A-Za-z/]+)", unit);

	return kany(kforeach(one, hedged), khw_unit(*one, name) > 0);
}

/* Where the words before P begin: at most HEDGE_WORDS, and none from another sentence. */
static const char *
words_before(const char *text, const char *p)
{
	int words = 0;

	for (; p > text && !strchr(".;\n", p[-1]); p--)
		if (p[-1] == ' ' && kis_word(*p) && ++words > HEDGE_WORDS)
			break;
	return p;
}

/* Do the words right after the unit at P hedge the figure? */
static bool
hedged_behind(const char *p)
{
	return kregex_is("(?i)\\A[" MARKS "]*[^" MARKS ".,;\n]*[" MARKS ",]*"
	                 "(?:or so|or thereabouts|more or less|give or take)(?!\\w)",
	    p);
}

/* Half a unit of the last place that was written out. */
static double
half_place(const char *number, const char *end)
{
	const char *point = memchr(number, '.', (size_t)(end - number));

	return 0.5 * pow(10, point ? -(double)strspn(point + 1, "0123456789") : 0);
}

static bool
holds_word(const char *line, const char *word, size_t n)
{
	for (const char *p = line; *p; p++)
		if (!strncasecmp(p, word, n) && (p == line || !kis_word(p[-1])) && !kis_word(p[n]))
			return true;
	return false;
}

/* The clause of TEXT that contains the byte AT; AT becomes the offset in the clause. */
static char *
clause_of(const char *text, size_t *at)
{
	/* "about 160 TFLOPS, by my estimate" is one clause. */
	static const char clause[] = "(?s)\\A((?:(?![;\n\"]|[-=]>|\u2192|\\. |, (?!by "
	                             ")).)*+)(?:[;\n\"]|[-=]>|\u2192|. |\\z)";
	struct kregex_span span[2] = { 0 };

	for (; kregex_match(clause, text, span) && span->to <= *at; text += span->to)
		*at -= span->to;
	return kstrndup(text, span[1].to);
}

#define FACTOR "\\d[\\d.eE+-]*"
/* Does the text before a figure calculate it, as in "989/6 = 165"? */
static bool
is_worked_out(const char *before, double value, double half)
{
	static const char product_of[] = "(?<![\\w.])(" FACTOR "(?: *[*/x] *" FACTOR ")+) *="
	                                 "[" MARKS "]*\\z";
	auto_free char *product = kregex_part(product_of, before);
	double result;

	return product && khw_product(product, &result) &&
	    fabs(result - value) <= half * (1 + 1e-9);
}

/*
 * Whether the text of the figure from AT to END says that it is the author's own result and not a
 * fact about a device: it is calculated on the spot, called an estimate, or said to be what a copy
 * of the data reached in the campaign's own run.
 */
static bool
is_own_result(const char *text, const char *p, const char *end, double value)
{
	size_t at = (size_t)(p - text);
	auto_free char *clause = clause_of(text, &at);
	bool own = kregex_is("(?i)(?<!\\w)(?:copy|(?:my|our|i|we) estimate)(?!\\w)", clause);

	clause[at] = '\0';
	own = own || is_worked_out(clause, value, half_place(p, end));
	return own;
}

char *
kclaim_hedged(const char *text)
{
	const char *p = text, *end;
	double value;

	while ((p = next_number(text, p, &value, &end))) {
		const char *from = words_before(text, p);
		auto_free char *words = kstrndup(from, (size_t)(end - from));

		if (is_figure(end) && (khw_hedge(words) || hedged_behind(end)) &&
		    !is_own_result(text, p, end, value)) {
			from += strspn(from, " ");
			end += strspn(end, MARKS);
			end += strcspn(end, hedged_behind(end) ? ".;\n" : " .,;\n");
			return kstrndup(from, (size_t)(end - from));
		}
		p = end;
	}
	return NULL;
}

/* Does the line (LEN bytes) contain a number that differs from VALUE by at most HALF? */
static bool
holds_number(const char *line, double value, double half)
{
	const char *p = line, *end;
	double other;

	for (; (p = next_number(line, p, &other, &end)); p = end)
		if (fabs(other - value) <= half * (1 + 1e-9))
			return true;
	return false;
}

static bool
shares_word(const char *claim, const char *line)
{
	for (const char *p = claim; *p;) {
		size_t n = 0;

		bool letters = false;

		for (; kis_word(p[n]); n++)
			letters |= isalpha((unsigned char)p[n]) != 0;
		if (n >= WORD_MIN && letters && holds_word(line, p, n))
			return true;
		p += n ?: 1;
	}
	return false;
}

static bool
clause_bears(const char *claim, const char *clause)
{
	const char *p = claim, *end;
	double value;

	for (; (p = next_number(claim, p, &value, &end)); p = end)
		if (holds_number(clause, value, half_place(p, end)) && shares_word(claim, clause))
			return true;
	return false;
}

/*
 * One line may have many metrics: a value belongs to the name that no comma separates from it. LINE
 * is modified.
 */
static bool
line_bears(const char *claim, char *line)
{
	char *next = line, *clause;

	while ((clause = strsep(&next, ",;|")))
		if (clause_bears(claim, clause))
			return true;
	return false;
}

bool
kclaim_cites(const char *claim, const char *shown)
{
	bool code = false, found = false;

	while (*shown && !found) {
		size_t n = strcspn(shown, "\n");
		auto_free char *line = kstrndup(shown, n);

		if (kbegins(line, "```"))
			code = !code;
		else
			found = !code && line_bears(claim, line);
		shown += n + (shown[n] == '\n');
	}
	return found;
}
