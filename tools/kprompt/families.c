/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: what kind of computation a task is, determined from the code of its reference with the
 * patterns of families.json. A name may say more than the code shows, if it does not contradict it.
 */

#include "backend.h"
#include "kneutral.h"
#include "kprompt.h"
#include "kregex.h"

/* The code without comments, strings and the names its author chose. */
static struct kbuf
plain_code(const char *reference)
{
	enum ktoken_lang lang = kcamp_backend()->syntax;
	size_t len = strlen(reference);
	auto_free char *stripped = ktoken_strip(reference, len, lang);

	return kneutral_text(stripped, len, lang, NULL);
}

static bool
occurs(const struct kbuf *code, const char *pattern)
{
	struct kregex *re = kregex_new("prompts/families.json", NULL, pattern, KREGEX_LINES);
	bool found = kregex_search(re, code->data, code->len, 0, NULL) == KREGEX_FOUND;

	kregex_free(re);
	return found;
}

/* Is any member of LIST in SET? */
static bool
is_any(const json_t *list, const json_t *set)
{
	return kany(kjson_foreach_text(name, list), json_object_get(set, name));
}

/* FOUND: the families before this one that matched. */
static bool
is_in_code(const json_t *family, const struct kbuf *code, const json_t *found)
{
	const json_t *patterns = json_object_get(family, "code");

	if (is_any(json_object_get(family, "is"), found))
		return true;
	kjson_foreach_text(p, patterns)
		if (!occurs(code, p))
			return false;
	return json_array_size(patterns) && !is_any(json_object_get(family, "not"), found);
}

void
family_facts(const char *reference)
{
	json_auto_t *table = files_json("families.json");
	json_t *shown = json_object();
	json_auto_t *named = json_object();
	json_t *notes = json_array();
	auto_buf struct kbuf code = plain_code(reference);
	/* "rows.Softmax softmax" */
	auto_free char *name =
	    klower(kasprintf("%s %s", kjson_str(facts, "op"), kjson_str(facts, "task")));
	bool agree = false;

	kjson_foreach_member(key, family, table, "families") {
		bool in_code = is_in_code(family, &code, shown),
		     in_name = kany(kjson_foreach(word, family, "words"),
		         json_is_string(word) && strstr(name, json_string_value(word)));

		if (in_code) {
			kjson_enter(shown, key);
			json_array_extend(notes, json_object_get(family, "notes"));
		}
		if (in_name)
			kjson_enter(named, key);
		agree |= in_code && in_name;
	}
	agree |= !json_object_size(shown);
	kjson_foreach_member(key, family, table, "families")
		if (agree && json_object_get(named, key) &&
		    !is_any(json_object_get(family, "not"), shown))
			kjson_enter(shown, key);
	put("family", shown);
	/* Names in routes.json for what the code does, and whether the task's name may be used. */
	put("kinds", notes);
	put("name_fits", json_boolean(agree));
}
