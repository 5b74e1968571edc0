/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: waivers: a person who has looked at a hit and found it harmless writes waivers/TTT-BB.md,
 * with lines "id:", "rule:" (one or more), "by:" and "reason:". Nothing in the loop writes there.
 */

#include "kaudit.h"

enum { WAIVER_MAX = 1 << 16 };

/* The fields of a waiver's text, which is modified, and its rules as a list. */
static json_t *
read_waiver(char *text)
{
	static const char form[] = "\\A[ \\t*#-]*(id|by|reason|rule):[ \\t*]*(.*?)[ \\t\\r*]*\\z";
	json_t *waiver = json_pack("{s:[]}", "rule");

	kpart_foreach(line, text, "\n") {
		auto_free char *key = NULL, *value = NULL;

		if (!kregex_scan(form, line, &key, &value))
			continue;
		if (strcmp(key, "rule"))
			json_object_set_new(waiver, key, kjson_string(value));
		else if (*value)
			json_array_append_new(json_object_get(waiver, "rule"), kjson_string(value));
	}
	return waiver;
}

json_t *
waiver_of(const char *id, char **file, json_t *reasons)
{
	auto_free char *slug = kregex_sub("/", id, "-"),
	               *path = kasprintf("%s/waivers/%s.md", kcamp.dir, slug),
	               *text = kread_if_there(path, WAIVER_MAX, NULL);
	json_auto_t *waiver = text ? read_waiver(text) : NULL;
	const json_t *rules = json_object_get(waiver, "rule");
	const char *fault = !kjson_is(waiver, "id", id) ? "no line 'id: ' with this candidate's"
	    : !json_array_size(rules)   ? "no line 'rule: ' that says which rule is waived"
	    : !*kjson_str(waiver, "by") ? "no line 'by: ' with the name of the person who looked"
	    : !*kjson_str(waiver, "reason") ? "no line 'reason: '"
	                                    : NULL;

	*file = NULL;
	if (!text)
		return NULL;
	*file = kasprintf("waivers/%s.md", slug);
	if (!fault)
		return json_incref((json_t *)rules);
	json_array_append_new(reasons, json_sprintf("%s is not a waiver: %s", *file, fault));
	free(*file);
	*file = NULL;
	return NULL;
}
