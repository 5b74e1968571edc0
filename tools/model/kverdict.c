/* SPDX-License-Identifier: Apache-2.0 */
/* kverdict: see kverdict.h. */
#include "kverdict.h"

#include "karch.h"
#include "kcamp.h"
#include "kplace.h"

#define VERDICTS "adopt/verdicts.ndjson"

/* Is the program with the verdict's id still the same program? */
static bool
is_about(const json_t *verdict)
{
	const char *id = kjson_str(verdict, "id");
	json_auto_t *program = kis_there(kplace_id(id, "eval")) ? karch_program(id, false) : NULL;

	return program && kjson_is(verdict, "code_sha256", ksha256_of(kjson_str(program, "code")));
}

static void
forget(json_t *list, const char *id)
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (kjson_is(json_array_get(list, i), "id", id))
			json_array_remove(list, i);
}

const char *
kverdict_path(void)
{
	return kplace_in(kcamp.dir, VERDICTS);
}

const char *
kverdict_outcome(const json_t *verdict)
{
	return kjson_str_or(
	    verdict, "outcome", kjson_bool(verdict, "good") ? "DEPLOYED" : "ROLLED_BACK");
}

json_t *
kverdict_on(const char *id)
{
	json_t *list = kin_all(kverdict_path());

	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *v = json_array_get(list, i);

		if (!kjson_is(v, "id", id) || !is_about(v))
			json_array_remove(list, i);
	}
	return list;
}

json_t *
kverdict_failures(void)
{
	json_auto_t *verdicts = kin_all(kverdict_path());
	json_t *list = json_array();

	kjson_foreach(v, verdicts) {
		if (!strcmp(kverdict_outcome(v), "SHORT_CIRCUIT"))
			continue;
		forget(list, kjson_str(v, "id"));
		if (!kjson_bool(v, "good") && is_about(v))
			json_array_append(list, v);
	}
	return list;
}

bool
kverdict_failed(const json_t *failures, const char *id)
{
	return kjson_find(failures, "id", id);
}

char *
kverdict_incumbent(const json_t *linear)
{
	const json_t *chain = json_object_get(linear, "chain");
	const char *id = kjson_str_or(linear, "accepted", KARCH_REFERENCE);
	json_auto_t *failures = kverdict_failures();

	for (size_t i = json_array_size(chain); i-- > 0 && kverdict_failed(failures, id);)
		id = i ? kjson_item(chain, i - 1) : KARCH_REFERENCE;
	return kstrdup(id);
}
