/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: numbers and units as profilers print them. */
#include "kprofile.h"

enum { MAX_DIGITS = 64 };

bool
number_absent(const char *s)
{
	static const char *const words[] = { "n/a", "nan", "-nan", "inf", "-inf", "<not supported>",
		"<not counted>" };

	if (!*s || !strncmp(s, "(!)", 3))
		return true;
	for (size_t i = 0; i < LEN(words); i++)
		if (!strcasecmp(s, words[i]))
			return true;
	return false;
}

/*
 * Is every SEPARATOR up to END followed by three digits, and the first preceded by one to three
 * digits that are not just 0?
 */
static bool
grouped(const char *s, const char *end, char separator)
{
	size_t run = 0;
	bool any = false;

	for (const char *p = s + (*s == '-'); p < end; p++)
		if (*p == separator) {
			if (!run || run > 3 || (any ? run != 3 : run == 1 && p[-1] == '0'))
				return false;
			any = true;
			run = 0;
		} else if (!isdigit((unsigned char)*p)) {
			return false;
		} else {
			run++;
		}
	return any && run == 3;
}

/*
 * Which of , and . is the decimal mark; 0: neither. A single comma before three digits is a
 * thousands separator, as in the profilers' own locale.
 */
static char
decimal_mark(const char *s)
{
	const char *comma = strrchr(s, ','), *dot = strrchr(s, '.'), *end = s + strlen(s);

	if (comma && dot)
		return comma > dot ? ',' : '.';
	if (comma)
		return grouped(s, end, ',') ? 0 : ',';
	if (dot)
		return strchr(s, '.') != dot && grouped(s, end, '.') ? 0 : '.';
	return 0;
}

bool
number_read(const char *s, double *value)
{
	char plain[MAX_DIGITS], text[MAX_DIGITS], mark, *end, *out = plain;
	const char *part;
	size_t n = strcspn(s, " ");

	/* Values of individual instances may follow: "12 (1: 5; 2: 7)". */
	if (!n || n >= sizeof text || (s[n] && strncmp(s + n, " (", 2) && strcmp(s + n, " ")))
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	mark = decimal_mark(text);
	part = mark ? strrchr(text, mark) : text + n;
	for (int k = 0; k < 2; k++) {
		char other = k ? '.' : ',';

		if (other != mark && memchr(text, other, (size_t)(part - text)) &&
		    !grouped(text, part, other))
			return false;
	}
	if (mark && memchr(text, mark, (size_t)(part - text)))
		return false;
	for (const char *p = text; *p; p++)
		if (p == part)
			*out++ = '.';
		else if ((*p != ',' && *p != '.') || p > part)
			*out++ = *p;
	*out = '\0';
	if (!isdigit((unsigned char)plain[*plain == '-' || *plain == '+']) || strchr(plain, 'x'))
		return false;
	*value = strtod(plain, &end);
	return !*end && isfinite(*value);
}

static double
scale_of(const json_t *units, const char *unit, size_t n)
{
	char name[32];

	if (n >= sizeof name)
		return 0;
	memcpy(name, unit, n);
	name[n] = '\0';
	return kjson_num_or(units, name, 0);
}

double
number_scale(const json_t *units, const char *unit)
{
	const char *slash = strchr(unit, '/');
	double top, bottom;
	json_t *whole = json_object_get(units, unit);

	if (!*unit)
		return 1;
	if (whole)
		return json_number_value(whole);
	if (!slash)
		return 0;
	top = scale_of(units, unit, (size_t)(slash - unit));
	/* byte/s is a base unit, although seconds alone are converted to nanoseconds. */
	bottom = !strcmp(slash, "/s") || !strcmp(slash, "/second")
	    ? 1
	    : scale_of(units, slash + 1, strlen(slash + 1));
	return bottom > 0 ? top / bottom : 0;
}

void
number_text(double v, char *out, size_t len)
{
	if (fabs(v) >= 1000 || (fabs(v) >= 100 && fabs(v - round(v)) < 1e-9))
		snprintf(out, len, "%.0f", v);
	else
		snprintf(out, len, "%.3g", v);
}
