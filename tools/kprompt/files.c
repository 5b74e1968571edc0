/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: the prompt files, found in the campaign or among the shipped ones, read once, rendered.
 */
#include "kprompt.h"

#include "ktemplate.h"
#include "status.h"

enum { MAX_BYTES = 1 << 20 };

static json_t *texts; /* those that have been read: {NAME: {"path", "text"}} */
/* The folders that are searched for prompt files, in this order. */
static char *folders[2];

void
files_init(void)
{
	char *shipped = kdata_path("prompts/stable.txt");

	texts = json_object();
	*strrchr(shipped, '/') = '\0';
	folders[0] = kasprintf("%s/prompts", kcamp.dir);
	folders[1] = shipped;
}

/* Path of the prompt file NAME ("tips/c.txt"), or NULL; the caller frees. */
static char *
files_find(const char *name)
{
	kforeach(folder, folders) {
		char *path = kasprintf("%s/%s", *folder, name);

		if (kis_there(path))
			return path;
		free(path);
	}
	return NULL;
}

json_t *
files_json(const char *name)
{
	auto_free char *path = files_find(name);

	if (!path)
		kdie(K_MISSING, "prompts/%s: not found in %s or %s", name, folders[0], folders[1]);
	return kjson_load(path);
}

/* The loader of ktemplate.h. */
static const char *
load(void *arg, const char *name, const char **file)
{
	const json_t *known = json_object_get(texts, name);
	auto_free char *path = known ? NULL : files_find(kshown("%s.txt", name)), *text = NULL;

	(void)arg;
	if (path) {
		text = kread_file_or_die(path, MAX_BYTES, NULL);
		kjson_set(
		    texts, name, json_pack("{s:s,s:o}", "path", path, "text", kjson_string(text)));
		known = json_object_get(texts, name);
	}
	*file = kjson_maybe(known, "path");
	return kjson_maybe(known, "text");
}

static void
put_shown(struct kbuf *out, const char *how, double n)
{
	bool ms = !strcmp(how, "ms");

	kbuf_printf(out, ms ? "%.3f %s" : "%.4g %s", kcamp_shown(ms ? n : n / 1e6), kcamp_unit());
}

static void
put_size(struct kbuf *out, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t u = 0;

	for (; bytes >= 1024 && u + 1 < LEN(units); u++)
		bytes /= 1024;
	kbuf_printf(out, "%.4g %s", bytes, units[u]);
}

/*
 * How templates write values: "?" a text or number that may be absent; "short" a number as a
 * profiler shows it; "ms" and "ns" a time with its unit, or the campaign's own metric instead;
 * "size" a number of bytes as "512 KiB"; ".3f", ".3g", ".3f/1e3" and ".0f*100" a number as printf
 * does, after that arithmetic.
 */
static bool
show(struct kbuf *out, const char *how, const json_t *value)
{
	const char *text = json_string_value(value);
	double n = json_number_value(value), by = 1;
	char conversion, operation = '*';
	int digits;

	if (!*how)
		return false;
	if (text || !value)
		kbuf_puts(out, text ?: strcmp(how, "?") ? "0" : "?");
	else if (!strcmp(how, "?"))
		kbuf_printf(out, "%.15g", n);
	else if (!strcmp(how, "short"))
		kbuf_printf(out, fabs(n) >= 1000 ? "%.0f" : "%.3g", n);
	else if (!strcmp(how, "ms") || !strcmp(how, "ns"))
		put_shown(out, how, n);
	else if (!strcmp(how, "size"))
		put_size(out, n);
	else if (sscanf(how, ".%d%c%c%lf", &digits, &conversion, &operation, &by) >= 2)
		kbuf_printf(out, conversion == 'f' ? "%.*f" : "%.*g", digits,
		    operation == '/' ? n / by : n * by);
	else
		return false;
	return true;
}

static void
render(
    struct kbuf *out, const char *text, const char *file, const json_t *context, json_t *sections)
{
	struct ktemplate t = { .load = load, .sections = sections, .show = show };

	ktemplate_fill(&t, out, text, file, context);
}

void
files_render(struct kbuf *out, const char *name, const json_t *context, json_t *sections)
{
	const char *file, *text = load(NULL, name, &file);

	if (!text)
		kdie(K_MISSING, "prompts/%s.txt: not found in %s or %s", name, folders[0],
		    folders[1]);
	render(out, text, file, context, sections);
}

char *
files_fill(const char *text, const char *where, const json_t *context)
{
	struct kbuf b = { 0 };

	render(&b, text, where, context, NULL);
	return b.data;
}

void
files_forms(struct kbuf *out, const char *name, const char *backend)
{
	const char *file, *p = load(NULL, name, &file);

	kbuf_printf(out, "\n%s", p ?: "");
	while (p && (p = strstr(p, "{{>"))) {
		auto_free char *inner = kuntil(p + 3, "}");
		char *key = strchr(inner, '@');
		bool status = key && !strcmp(key, "@status");

		kforeach_of(start, start_names, (status ? START_COUNT : 1)) {
			files_forms(out,
			    kshown("%.*s%s", (int)strcspn(inner, "@"), inner,
			        status    ? *start
			            : key ? backend
			                  : ""),
			    backend);
		}
		p += 3;
	}
}
