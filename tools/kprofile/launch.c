/* SPDX-License-Identifier: Apache-2.0 */
/* kprofile: launches and their raw metrics, collected from one or more files of the same report. */
#include "kfence.h"
#include "kprofile.h"

struct profile profile;
struct input input;

enum { MAX_LAUNCHES = 100000, ADVICE_CHARS = 400 };

void
input_lines(void (*each)(char *line))
{
	input.line = 1;
	for (const char *s = input.data; *s; s += *s == '\n') {
		size_t n = strcspn(s, "\n");
		auto_free char *line = kstrndup(s, n - (n && s[n - 1] == '\r'));

		each(line);
		s += n;
		input.line += *s && s[1];
	}
}

void
profile_open(const char *kernel)
{
	profile = (struct profile){ .kernel = kernel,
		.peaks = json_object(),
		.launches = json_object(),
		.formats = json_array(),
		.files = json_array(),
		.notes = json_array() };
}

void
profile_note(const char *fmt, ...)
{
	kformatted(text, fmt);
	json_auto_t *note = kjson_string(text);

	if (!kjson_has(profile.notes, json_string_value(note)))
		json_array_append(profile.notes, note);
}

json_t *
profile_launch(const char *process, const char *id)
{
	json_auto_t *key = kjson_string(kshown("%s\t%s", process, id));
	json_t *l = json_object_get(profile.launches, json_string_value(key));

	if (l)
		return l;
	if (json_object_size(profile.launches) == MAX_LAUNCHES)
		kdie_usage("more than %d launches", MAX_LAUNCHES);
	l = json_pack("{s:o,s:s,s:{},s:{},s:[]}", "id", kjson_string(id), "kernel", "", "facts",
	    "raw", "advice");
	json_object_set_new(profile.launches, json_string_value(key), l);
	return l;
}

void
launch_name(json_t *launch, const char *kernel)
{
	json_t *name = kjson_string(kernel);
	const char *old = kjson_str(launch, "kernel"), *now = json_string_value(name);

	if (*old && strcmp(old, now))
		input_fault("launch %s is of %.80s here, but of %.80s in another file: the files "
		            "are from different runs",
		    kjson_str(launch, "id"), now, old);
	json_object_set_new(launch, "kernel", name);
}

void
launch_metric(json_t *launch, const char *name, const char *value, const char *unit)
{
	json_t *raw = json_object_get(launch, "raw");

	if (!json_object_get(raw, name))
		kjson_extend(raw, "{s:[o,o,o,I]}", name, kjson_string(value), kjson_string(unit),
		    kjson_string(input.file), (json_int_t)input.line);
}

void
launch_count(json_t *launch, const char *name, double value)
{
	json_t *raw = json_object_get(launch, "raw"), *old = json_object_get(raw, name);
	double sum = old ? atof(kjson_item(old, 0)) : 0;

	json_object_del(raw, name);
	launch_metric(launch, name, kshown("%.17g", sum + value), "");
}

void
launch_advice(json_t *launch, const char *rule, const char *section, const char *type,
    const char *text, const char *scope, const char *percent)
{
	auto_free char *line = kfence_line(text, ADVICE_CHARS);
	json_t *o = json_pack("{s:o,s:o,s:o,s:s}", "rule", kjson_string(rule), "section",
	    kjson_string(section), "type", kjson_string(type), "text", line);
	double v;

	if (number_read(percent, &v))
		kjson_extend(o, "{s:{s:s,s:f}}", "speedup", "scope",
		    !strcmp(scope, "local") ? "local" : "global", "percent", v);
	json_array_append_new(json_object_get(launch, "advice"), o);
}
