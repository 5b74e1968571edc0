/* SPDX-License-Identifier: Apache-2.0 */
/* What the application said about winners, in adopt/verdicts.ndjson: see adopt.h. */

#include "adopt.h"

enum { WHY_CHARS = 1200 };

static const char *const outcomes[] = { "DEPLOYED", "ROLLED_BACK", "SHORT_CIRCUIT", "ALLOWED" };

static json_t *
read_all(void)
{
	return kin_all(adopt_path("verdicts.ndjson"));
}

/* Updates the campaign's memory, if it has one; later campaigns learn from it, too. */
static void
remember(void)
{
	auto_result struct command_result r = command_own(adoption.dir,
	    "test ! -d memory || "
	    "{ krecords remember && krecords tips add && krecords library; }",
	    "remember");

	if (r.status)
		kwarn("it is not in the memory of %s: %s%s", adoption.dir, r.why, r.said);
}

void
verdicts_add(
    const char *id, const char *hex, enum verdict outcome, const char *why, const char *compare)
{
	auto_free char *line = kfence_line(why, WHY_CHARS);

	append_record(adopt_path("verdicts.ndjson"),
	    json_pack("{s:s,s:s,s:s,s:b,s:s,s:s,s:s*,s:s}", "schema", "verdict/1", "id", id,
	        "code_sha256", hex, "good", outcome == DEPLOYED || outcome == ALLOWED, "outcome",
	        outcomes[outcome], "why", line, "compare", compare, "at", know_text()));
	remember();
}

bool
verdicts_said(const char *why)
{
	json_auto_t *list = read_all();

	return kjson_is(json_array_get(list, json_array_size(list) - 1), "why", why);
}

/* The last verdict on each program that was tried, by its digest. New reference. */
static json_t *
read_last(void)
{
	json_auto_t *list = read_all();
	json_t *last = json_object();

	kjson_foreach(v, list)
		if (!kjson_is(v, "outcome", outcomes[SHORT_CIRCUIT]))
			json_object_set(last, kjson_str(v, "code_sha256"), v);
	return last;
}

char *
verdicts_failed(const char *hex)
{
	json_auto_t *last = read_last();
	const json_t *v = json_object_get(last, hex);

	return kjson_bool_or(v, "good", true) ? NULL : kstrdup(kjson_str(v, "why"));
}

bool
verdicts_allow(void)
{
	json_auto_t *last = read_last();
	bool any = false;

	kjson_foreach_member(hex, v, last) {
		const char *compare = kjson_maybe(v, "compare");

		if (!compare || !outputs_allow(compare))
			continue;
		verdicts_add(kjson_str(v, "id"), hex, ALLOWED,
		    "its outputs are within the tolerance that was given since", NULL);
		any = true;
	}
	return any;
}
