/* SPDX-License-Identifier: Apache-2.0 */
/* kmemo: see kmemo.h. */
#include "kmemo.h"

#include "kfence.h"
#include "kregex.h"

struct kmemo_masks kmemo_masks;

enum { FILE_MAX = 64 << 20, TEXT_MAX = 6000, ITEM_MAX = 400, ITEMS_MAX = 40 };

/* Numbers as kiln writes them into names. */
static const char version_form[] = "\\Av(0|[1-9]\\d{0,5})\\z",
                  version_file[] = "\\Av(0|[1-9]\\d{0,5})\\.json\\z",
                  compact_file[] = "\\Acompact-(\\d{3}|[1-9]\\d{3,5})\\.ndjson\\z";

static bool
numbered(const char *name, const char *form, long *number)
{
	auto_free char *digits = kregex_part(form, name);

	if (digits)
		*number = atol(digits);
	return digits;
}

bool
kmemo_version(const char *name, long *version)
{
	return numbered(name, version_form, version);
}

/* Numbers in the names of memory's files, ascending. */
static long *
numbers(const char *form, size_t *count)
{
	auto_free char *path = kasprintf("%s/memory", kcamp.dir);
	DIR *d = kopen_folder(path);
	struct dirent *e;
	long *list = NULL, number;

	*count = 0;
	while ((e = knext_entry(d, path)))
		if (numbered(e->d_name, form, &number))
			*kadded(list, *count) = number;
	if (list)
		qsort(list, *count, sizeof *list, kby_number);
	return list;
}

long *
kmemo_versions(size_t *count)
{
	return numbers(version_file, count);
}

json_t *
kmemo_load(long version)
{
	const char *path = kshown("%s/memory/v%ld.json", kcamp.dir, version),
	           *digest = kseal_file(path);

	if (digest && !kseal_knows(&kmemo_masks.seal, path + strlen(kcamp.dir) + 1, digest))
		kdie_usage("%s: was changed by hand: %s does not know its content; remove it and "
		           "run "
		           "krecords remember",
		    path, kmemo_masks.seal.path);
	return digest ? kjson_load(path) : NULL;
}

bool
kmemo_enabled(void)
{
	const char *value = kcamp_str("memory.enabled");

	return !strcmp(value, "on") || (!strcmp(value, "auto") && kcamp_linear());
}

void
kmemo_masks_take(const json_t *lines)
{
	kmemo_masks.events = json_array();
	kjson_foreach(line, lines) {
		if (!json_object_get(line, "versions"))
			continue;
		json_array_append(kmemo_masks.events, line);
		snprintf(
		    kmemo_masks.head, sizeof kmemo_masks.head, "%s", kjson_str(line, "sha256"));
	}
}

void
kmemo_masks_load(void)
{
	kmemo_masks = (struct kmemo_masks){ 0 };
	kseal_open(&kmemo_masks.seal, kcamp.dir, KMEMO_SEAL);
	kmemo_masks_take(kmemo_masks.seal.lines);
}

void
kmemo_masks_free(void)
{
	json_decref(kmemo_masks.events);
	kseal_close(&kmemo_masks.seal);
	kmemo_masks = (struct kmemo_masks){ 0 };
}

bool
kmemo_masked(long version, long trial)
{
	bool masked = false;
	long n;

	kjson_foreach(e, kmemo_masks.events) {
		if (kjson_int(e, "trial") > trial)
			continue;
		kjson_foreach_text(v, e, "versions")
			if (kmemo_version(v, &n) && n == version)
				masked = kjson_bool_or(e, "masked", masked);
	}
	return masked;
}

/* Every version that the compaction covers is older than TRIAL and not masked. */
static bool
usable(const json_t *compact, long trial)
{
	const json_t *covers = json_object_get(compact, "covers");
	long n;

	if (!kjson_is(compact, "schema", "compact/1") || !json_array_size(covers))
		return false;
	return !kany(kjson_foreach(v, covers),
	    !json_is_string(v) || !kmemo_version(json_string_value(v), &n) || n >= trial ||
	        kmemo_masked(n, trial));
}

json_t *
kmemo_compaction(long trial, char **name)
{
	size_t count;
	auto_free long *list = numbers(compact_file, &count);
	json_t *found = NULL;

	while (count > 0 && !found) {
		found =
		    kin_first(kshown("%s/memory/compact-%03ld.ndjson", kcamp.dir, list[--count]));
		if (found && usable(found, trial)) {
			*name = kasprintf("memory/compact-%03ld.ndjson", list[count]);
		} else {
			json_decref(found);
			found = NULL;
		}
	}
	return found;
}

/* "  LABEL: TEXT" when there is a text. */
static void
put_part(struct kbuf *out, const char *label, const char *text)
{
	if (text && *text)
		kbuf_printf(out, "  %s: %s\n", label, text);
}

static void
put_times(struct kbuf *out, const json_t *v)
{
	double us = kjson_num(v, "performance.latency_us"),
	       change = kjson_num(v, "performance.comparison_with_previous.latency_delta");

	if (us > 0)
		kbuf_printf(out, "  time: %.6g us%s", us, change ? "" : "\n");
	if (us > 0 && change)
		kbuf_printf(out, " (%+.4g us against the previous version)\n", change);
}

/* Another attempt of the same trial, or what was wrong with one. */
static void
put_others(struct kbuf *out, const json_t *v)
{
	kjson_foreach(e, v, "experience.experiments")
		if (!kjson_is(e, "name", kjson_str(v, "id")))
			kbuf_printf(out, "  also tried: %s (%s)\n", kjson_str(e, "change"),
			    kjson_str(e, "result"));
}

/* What became of it. Something that was not measured does not speak against a direction. */
static const char *
verdict(const json_t *v)
{
	if (kjson_bool(v, "win"))
		return "gain";
	return !kjson_is(v, "correctness.status", "PASS") ? "failed, "
	                                                    "so the direction was not measured"
	                                                  : "no gain";
}

void
kmemo_entry(struct kbuf *out, const json_t *v, long trial)
{
	const json_t *list = kjson_path(v, "experience.experiments");
	const char *id = kjson_str(v, "id"),
	           *description = kjson_str(v, "optimization.action_description");

	kbuf_printf(out, "%s (%s): %s%s%s\n", kjson_str_or(v, "version", "?"), verdict(v),
	    kjson_str(v, "optimization.action_category"), *description ? ": " : "", description);
	put_part(out, "because", kjson_maybe(v, "optimization.hypothesis"));
	put_part(out, "evidence", kjson_maybe(v, "profile_evidence.evidence_chain"));
	kjson_foreach(e, list)
		if (kjson_is(e, "name", id))
			put_part(out, "result", kjson_maybe(e, "result"));
	put_times(out, v);
	kjson_foreach(e, v, "pitfalls_and_fixes")
		if (kjson_is(e, "id", id) && !kjson_is(e, "error_type", "performance"))
			put_part(out, "pitfall", kjson_maybe(e, "error_message"));
	kjson_foreach(e, v, "application")
		kbuf_printf(out, "  in the application: %s: %s\n", kjson_str_or(e, "outcome", "?"),
		    kjson_str(e, "why"));
	kjson_foreach(e, v, "notes")
		if (kjson_int(e, "trial") <= trial)
			put_part(out, "note", kjson_maybe(e, "text"));
	put_others(out, v);
	kjson_foreach(e, v, "open_directions")
		put_part(out, "open", kjson_maybe(e, "direction"));
}

static const char *const section_names[] = { "resolved", "pending", "avoid" };

/* The section that a heading ("## Resolved", "Resolved:", "**Resolved**") begins, or -1. */
static int
section_of(const char *line)
{
	size_t n;

	line += strspn(line, "#* \t");
	for (size_t i = 0; i < LEN(section_names); i++) {
		n = strlen(section_names[i]);
		if (!strncasecmp(line, section_names[i], n) &&
		    !line[n + strspn(line + n, ":* \t\r")])
			return (int)i;
	}
	return -1;
}

static bool
add_item(json_t *list, const char *line)
{
	auto_free char *item = NULL;

	line += strspn(line, "-* \t");
	item = kfence_line(line, ITEM_MAX);
	if (*item && json_array_size(list) < ITEMS_MAX)
		kjson_add(list, item);
	return true;
}

/* Sort the lines of TEXT into SECTIONS; NULL, or what is wrong. */
static const char *
sort_lines(char *text, json_t *sections)
{
	int current = -1, next;

	kpart_foreach(line, text, "\n") {
		next = section_of(line);
		if (next >= 0 && next != current + 1)
			return "its sections must be Resolved, "
			       "Pending and Avoid, once each and in this order";
		if (next >= 0)
			json_object_set_new(sections, section_names[current = next], json_array());
		else if (current < 0 && line[strspn(line, " \t\r")])
			return "it must begin with the section Resolved";
		else if (current >= 0)
			add_item(json_object_get(sections, section_names[current]), line);
	}
	return current == LEN(section_names) - 1 ? NULL
	                                         : "a section is missing: it needs Resolved, "
	                                           "Pending and Avoid";
}

const char *
kmemo_sections(const char *text, json_t *sections)
{
	auto_free char *clean = kfence_clean(text, strlen(text));

	return strlen(clean) > TEXT_MAX ? "it is longer than 6000 bytes"
	                                : sort_lines(clean, sections);
}
