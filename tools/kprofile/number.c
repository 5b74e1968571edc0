/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: numbers and units as profilers print them. */
#include "kprofile.h"

bool
number_absent(const char *s)
{
	return kregex_is(
	    "(?i)\\A(?:\\(!\\)|(?:n/a|-?nan|-?inf|<not (?:supported|counted)>)?\\z)", s);
}

/*
 * The part before and the part after the decimal mark. A single comma before three digits is a
 * thousands separator, as in the profilers' own locale, a single dot a decimal mark; a group of
 * digits before a separator is not just 0. Values of individual instances may follow: "12 (1: 5; 2:
 * 7)".
 */
static const char form[] = "\\A(?|([-+]?(?!0,)\\d{1,3}(?:,\\d{3})+)(?:\\.(\\d*))?"
                           "|([-+]?(?!0\\.)\\d{1,3}(?:\\.\\d{3}){2,})(?:,(\\d*))?"
                           "|([-+]?(?!0\\.)\\d{1,3}\\.\\d{3}),(\\d*)"
                           "|([-+]?\\d+)(?:[.,](\\d*(?:[eE][-+]?\\d+)?))?)(?: (?:\\(.*)?)?\\z";

bool
number_read(const char *s, double *value)
{
	auto_free char *whole = NULL, *part = NULL, *digits = NULL, *text = NULL;

	if (!kregex_scan(form, s, &whole, &part))
		return false;
	digits = kregex_sub("[.,]", whole, "");
	text = kasprintf("%s.%s", digits, part ?: "");
	*value = atof(text);
	return isfinite(*value);
}

double
number_scale(const json_t *units, const char *unit)
{
	const char *slash = strchr(unit, '/');
	const json_t *whole = json_object_get(units, unit);
	auto_free char *top = slash ? kstrndup(unit, (size_t)(slash - unit)) : NULL;

	if (!*unit)
		return 1;
	if (whole)
		return json_number_value(whole);
	if (!slash)
		return 0;
	/* byte/s is a base unit, although seconds alone are converted to nanoseconds. */
	if (kregex_is("\\A/s(econd)?\\z", slash))
		return kjson_num(units, top);
	return kjson_num(units, top) / kjson_num_or(units, slash + 1, INFINITY);
}

const char *
number_text(double v)
{
	bool whole = fabs(v) >= 1000 || (fabs(v) >= 100 && fabs(v - round(v)) < 1e-9);

	return kshown(whole ? "%.0f" : "%.3g", v);
}
