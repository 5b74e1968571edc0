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

/* Names in the form in which they are stored and compared: UTF-8, whatever the file contains. */
static char *
utf8(const char *s)
{
	json_auto_t *text = kjson_string(s);

	return kstrdup(json_string_value(text));
}

static struct launch *
find_launch(const char *process, const char *id, const char *kernel)
{
	/* A launch's rows are adjacent, so search from the end. */
	for (size_t i = profile.count; i-- > 0;) {
		struct launch *l = &profile.launch[i];

		if (!strcmp(l->id, id) && !strcmp(l->process, process) &&
		    (!*kernel || !*l->kernel || !strcmp(l->kernel, kernel)))
			return l;
	}
	return NULL;
}

static struct launch *
add_launch(const char *process, const char *id, const char *kernel)
{
	struct launch *l;

	if (profile.count == MAX_LAUNCHES)
		kdie_usage("more than %d launches", MAX_LAUNCHES);
	l = kadded(profile.launch, profile.count);
	*l = (struct launch){ kstrdup(process), kstrdup(id), kstrdup(kernel), json_object(),
		json_object(), json_array(), false, 0 };
	return l;
}

struct launch *
profile_launch(const char *process, const char *id, const char *kernel)
{
	struct launch *l = find_launch(process, id, kernel);

	/* Almost all rows are of a launch that is known by names that were UTF-8 already. */
	if (!l) {
		auto_free char *p = utf8(process), *i = utf8(id), *k = utf8(kernel);

		l = find_launch(p, i, k) ?: add_launch(p, i, k);
	}
	return l;
}

void
launch_name(struct launch *l, const char *kernel)
{
	char *own = utf8(kernel);

	if (*l->kernel && strcmp(l->kernel, own))
		input_fault("launch %s is of %.80s here, but of %.80s in another file: the files "
		            "are from different runs",
		    l->id, own, l->kernel);
	free(l->kernel);
	l->kernel = own;
}

void
launch_metric(struct launch *l, const char *name, const char *value, const char *unit)
{
	if (json_object_get(l->raw, name))
		return;
	kjson_extend(l->raw, "{s:[o,o,o,I]}", name, kjson_string(value), kjson_string(unit),
	    kjson_string(input.file), (json_int_t)input.line);
}

void
launch_count(struct launch *l, const char *name, double value)
{
	json_t *old = json_object_get(l->raw, name);
	double sum = old ? atof(kjson_item(old, 0)) : 0;

	json_object_del(l->raw, name);
	launch_metric(l, name, kshown("%.17g", sum + value), "");
}

void
launch_advice(struct launch *l, const char *rule, const char *section, const char *type,
    const char *text, const char *scope, const char *percent)
{
	auto_free char *line = kfence_line(text, ADVICE_CHARS);
	json_t *o = json_pack("{s:o,s:o,s:o,s:s}", "rule", kjson_string(rule), "section",
	    kjson_string(section), "type", kjson_string(type), "text", line);
	double v;

	if (number_read(percent, &v))
		kjson_extend(o, "{s:{s:s,s:f}}", "speedup", "scope",
		    !strcmp(scope, "local") ? "local" : "global", "percent", v);
	json_array_append_new(l->advice, o);
}
