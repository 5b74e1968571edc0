/* SPDX-License-Identifier: Apache-2.0 */
/* rejects tips that would teach over-fitting, by rules that are data. See krecords.h. */

#include "krecords.h"

/* A tip that mentions such a trick must say this. */
#define ANTI_PATTERN "over-fit, do not retry"

/* Does the rule match TEXT? A text that takes too many steps counts as a match. */
static bool
matches(const json_t *rule, const char *text)
{
	struct kregex *re =
	    kregex_new(kshown("patterns/tips.json: %s", kjson_str_or(rule, "id", "?")), NULL,
	        kjson_str_or(rule, "pattern", "(?!)"), KREGEX_NOCASE | KREGEX_DOTALL);
	bool found = kregex_search(re, text, strlen(text), 0, NULL) != KREGEX_NONE;

	kregex_free(re);
	return found;
}

char *
hygiene_fault(const char *text, bool accepted)
{
	json_auto_t *table = kjson_data("patterns/tips.json", "tips-rules/1");

	if (!accepted && strcasestr(text, ANTI_PATTERN))
		return NULL;
	kjson_foreach(rule, table, "rules")
		if (matches(rule, text))
			return kasprintf("%s: %s; such a trick is allowed only in a rolled-back "
			                 "round, with the words '" ANTI_PATTERN "'",
			    kjson_str_or(rule, "id", "?"), kjson_str(rule, "why"));
	return NULL;
}
