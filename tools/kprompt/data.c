/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: text that comes with a record, as data between marks: as it is, or in the form of a
 * template in prompts/data.
 */
#include "kprompt.h"

#include "kfence.h"

enum { MAX_TEXT = 500 };

json_t *facts;
const struct krec *rec;
const json_t *sample;
const char *salt;

void
put(const char *name, json_t *value)
{
	kjson_set(facts, name, value);
}

json_t *
data_text(const char *text, const char *what)
{
	auto_buf struct kbuf b = kbuf_empty();

	if (text && text[strspn(text, " \t\r\n")])
		kfence_data(&b, text, what, salt);
	return kjson_text(b.data, b.len);
}

json_t *
data_part(const char *text, size_t max, const char *what)
{
	auto_free char *clean = kfence_clean(text, strlen(text)),
	               *part = kfence_shorten(clean, max);

	return data_text(part, what);
}

json_t *
data_lines(const json_t *value)
{
	json_t *out;

	if (json_is_string(value)) {
		auto_free char *line = kfence_line(json_string_value(value), MAX_TEXT);

		return json_string(line);
	}
	if (json_is_array(value)) {
		out = json_array();
		kjson_foreach(one, value)
			json_array_append_new(out, data_lines(one));
		return out;
	}
	if (json_is_object(value)) {
		out = json_object();
		kjson_foreach_member(key, item, value)
			json_object_set_new(out, key, data_lines(item));
		return out;
	}
	return json_incref((json_t *)value);
}

void
data_fill(struct kbuf *out, const char *form, const json_t *value)
{
	json_auto_t *lines = data_lines(value);

	files_render(out, kshown("data/%s", form), lines, NULL);
}

json_t *
data_line(const char *form, const json_t *value)
{
	auto_buf struct kbuf b = { 0 };

	data_fill(&b, form, value);
	return json_stringn(b.data, strcspn(b.data, "\n"));
}

json_t *
data_filled(const char *form, const char *what)
{
	auto_buf struct kbuf b = { 0 };

	data_fill(&b, form, sample);
	return data_text(b.data, what);
}
