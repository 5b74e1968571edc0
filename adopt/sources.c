/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of a project, as searched for units; see unit.h. */

#include "adopt.h"
#include "unit.h"

enum { LIST_MAX = 1 << 22, DEEP = 32 };

/* Takes over NEW, and adds what it declares to the index. */
static void
add_source(struct unit_sources *s, const struct unit_source *new)
{
	struct unit_source *x = &s->list[s->count];

	*x = *new;
	kscan_through(x->text, &x->scan);
	if (!s->index)
		s->index = json_object();
	kscan_items(item, &x->scan)
		kforeach_of(own, item->names, item->kind == KSCAN_INCLUDE ? 0 : item->name_count)
			json_array_append_new(kjson_ensure(s->index, *own, json_array()),
			    json_pack("[i,i]", (int)s->count, (int)(item - x->scan.items)));
	s->count++;
}

static void
free_source(struct unit_source *x)
{
	if (x->decided)
		free_source(x->decided);
	free(x->decided);
	kscan_free(&x->scan);
	origins_free(&x->origins);
	free(x->project);
	json_decref(x->settings);
	free(x->name);
	free(x->text);
}

void
unit_sources_free(struct unit_sources *s)
{
	kforeach_list(x, s)
		free_source(x);
	free(s->list);
	json_decref(s->index);
	json_decref(s->written);
	json_decref(s->macros);
	json_decref(s->include);
	*s = (struct unit_sources){ 0 };
}

struct origin
unit_place(const struct kscan_item *x, size_t at)
{
	const struct unit_source *s = unit_source_of(x);
	struct origin place = origin_of(&s->origins, s->text, at);

	return place.file ? place : (struct origin){ at, s->name, kline_at(s->text, at) };
}

/* The function F up to its parameters' ')', in normalised form. The caller frees. */
static char *
head_of(const struct kscan_item *f)
{
	return kscan_tidy(f->in, f->from, kscan_close(f->in, f->open, f->to));
}

bool
unit_is_plain(const struct kscan_item *f)
{
	const char *project = unit_source_of(f)->project;
	auto_free char *text = project ? text_in(project, unit_place(f, f->name_at).file) : NULL,
	               *now = head_of(f), *was = NULL;
	auto_scan struct kscan raw = { 0 };
	const struct kscan_item *x;

	if (!text)
		return true;
	kscan(text, &raw);
	x = kscan_function(&raw, f->names[0]);
	was = x ? head_of(x) : NULL;
	return was && !strcmp(now, was);
}

const struct kscan_item *
unit_item(const struct unit_source *own, const char *name, size_t *i)
{
	const json_t *list = json_object_get(own->all->index, name);
	size_t n = json_array_size(list);

	/* Goes through the list twice: the items of the source OWN first, then the others. */
	for (; *i < 2 * n; (*i)++) {
		const json_t *at = json_array_get(list, *i % n);
		const struct unit_source *s =
		    own->all->list + json_integer_value(json_array_get(at, 0));

		if ((s == own) != (*i < n))
			continue;
		(*i)++;
		return &s->scan.items[json_integer_value(json_array_get(at, 1))];
	}
	return NULL;
}

/* Adds the folder of NAME, and its parents, to FOLDERS. */
static void
add_folders(json_t *folders, const char *name)
{
	auto_free char *folder = kfolder_of(name);

	if (!kjson_has(folders, folder))
		kjson_add(folders, folder);
	if (strcmp(folder, "."))
		add_folders(folders, folder);
}

/* Folders with headers and their parents, for a compiler without known settings. New reference. */
static json_t *
header_folders(const json_t *files)
{
	json_t *folders = json_array();

	kjson_foreach_text(name, files)
		if (rules_is_header(name))
			add_folders(folders, name);
	return folders;
}

/*
 * Sets X to the source NAME with its preprocessed text, for C or C++, if the compiler is able to
 * produce it; with the settings that BUILT the project, if these work.
 */
static bool
read_preprocessed(const struct unit_sources *s, const char *name, struct unit_source *x)
{
	const json_t *row = rules_language(name);
	json_auto_t *settings = NULL;
	const json_t *used = s->built;
	bool guessed;

	*x = (struct unit_source){ .all = s };
	if (rules_is_header(name) || kjson_bool(row, "device"))
		return false;
	settings = compile_commands(s->project, name, kjson_bool(row, "cxx"));
	guessed = !used && !settings;
	if (!settings)
		settings = json_pack("{s:s,s:O}", "compiler", kjson_bool(row, "cxx") ? "c++" : "cc",
		    "include", s->include);
	x->text = used ? preprocess_file(s->project, name, used, &x->origins) : NULL;
	if (!x->text) {
		used = settings;
		x->text = preprocess_file(s->project, name, used, &x->origins);
	}
	if (!x->text)
		return false;
	x->name = kstrdup(name);
	x->project = kstrdup(s->project);
	x->settings = json_incref((json_t *)used);
	x->guessed = guessed;
	return true;
}

const struct unit_source *
unit_decided(const struct unit_source *s)
{
	struct unit_source *raw = s->settings ? NULL : &s->all->list[s - s->all->list], x;

	if (raw && !raw->tried && read_preprocessed(s->all, s->name, &x)) {
		raw->decided = kmalloc(sizeof x);
		*raw->decided = x;
		kscan_through(x.text, &raw->decided->scan);
	}
	if (raw)
		raw->tried = true;
	return raw && raw->decided ? raw->decided : s;
}

bool
unit_hides(const struct unit_sources *s, const char *name, bool declared)
{
	return json_object_get(s->written, kshown(declared ? "%s" : "%s(", name));
}

/* What the group of FORM matches in FILES of the PROJECT, a set. New reference. */
static json_t *
names_in(const char *project, const json_t *files, const char *form)
{
	json_t *all = json_object();

	kjson_foreach_text(file, files) {
		auto_free char *text = text_in(project, file);
		struct kregex_span at[2];

		for (const char *p = text; p && kregex_match(form, p, at); p += at->to) {
			auto_free char *name = kregex_text(p, at[1]);

			kjson_enter(all, name);
		}
	}
	return all;
}

/* Adds the source NAME as the compiler sees it; SEEN: also gets the names of its headers. */
static void
add_preprocessed(struct unit_sources *s, const char *name, json_t *seen)
{
	struct unit_source x;

	if (!read_preprocessed(s, name, &x))
		return;
	kforeach_list(o, &x.origins)
		kjson_enter(seen, o->file);
	kjson_enter(seen, name);
	add_source(s, &x);
}

/* ---- macros under conditions, in a source that is not preprocessed ---- */

enum branch { BRANCH_UNKNOWN, BRANCH_TAKEN, BRANCH_LEFT };

/* What the build does with the branch after "#WORD REST": does it, or anything, define the name? */
static enum branch
branch_of(const struct unit_sources *s, const char *word, const char *rest)
{
	auto_free char *name = kregex_part(strcmp(word, "if") ? "\\A([A-Za-z]\\w*)"
	                                                      : "\\A!?\\s*defined[\\s(]*([A-Za-z]"
	                                                        "\\w*)[\\s)]*\\z",
	    rest);
	bool given = name &&
	    kany(kjson_foreach_text(flag, s->built, "flags"),
	        kregex_is(kshown("\\A-D%s(?:=|\\z)", name), flag)),
	     not = *rest == '!' || !strcmp(word, "ifndef");

	return !name || (!given && json_object_get(s->macros, name)) ? BRANCH_UNKNOWN
	    : given != not                                           ? BRANCH_TAKEN
	                                                             : BRANCH_LEFT;
}

/* The state of a group's next branch, after one in the state B. */
static enum branch
next_branch(enum branch b, const char *word)
{
	return b == BRANCH_TAKEN                        ? BRANCH_LEFT
	    : b == BRANCH_LEFT && !strcmp(word, "else") ? BRANCH_TAKEN
	                                                : BRANCH_UNKNOWN;
}

/* Blanks the macros in branches of TEXT that the build does not take: others have their names. */
static void
blank_macros(const struct unit_sources *s, char *text)
{
	static const char line[] = "(?m)^[ \\t]*#[ \\t]*(if|ifdef|ifndef|else|elif|endif|define)\\b"
	                           "[ \\t]*((?:\\\\\\r?\\n|[^\\n])*)";
	enum branch of[DEEP] = { 0 };
	size_t depth = 0;
	struct kregex_span at[3];

	for (; kregex_find(line, text, strlen(text), at, LEN(at)); text += at[0].to) {
		auto_free char *word = kregex_text(text, at[1]), *rest = kregex_text(text, at[2]);

		if (*word == 'i' && depth < DEEP)
			of[depth++] = branch_of(s, word, rest);
		else if (!strcmp(word, "endif"))
			depth -= depth > 0;
		else if (*word == 'e' && depth)
			of[depth - 1] = next_branch(of[depth - 1], word);
		else if (kany(kforeach_of(b, of, depth), *b == BRANCH_LEFT))
			for (size_t p = at[0].from; p < at[0].to; p++)
				text[p] = text[p] == '\n' ? '\n' : ' ';
	}
}

static void
add_raw(struct unit_sources *s, const char *name)
{
	char *path = path_join(s->project, name);
	size_t len;
	struct unit_source x = { .all = s, .text = kread_file(path, LIST_MAX, &len) };

	if (!x.text) {
		kwarn("%s: cannot be read, or is too large", path);
		return;
	}
	x.name = kstrdup(name);
	if (s->built)
		blank_macros(s, x.text);
	add_source(s, &x);
}

void
unit_sources_read(
    struct unit_sources *s, const char *project, const char *file, const json_t *built)
{
	/* Macros; functions, and as "NAME(" macros with arguments. */
	static const char macro[] = "(?m)^[ \\t]*#[ \\t]*define[ \\t]+(\\w+)",
	                  defined[] = "(?|#\\s*define\\s+([A-Z][A-Z0-9_]+\\()|"
	                              "\\b(\\w++)\\s*\\([^;{}()]*\\)\\s*\\{)";
	json_auto_t *files = unit_files(project), *seen = json_object(),
	            *chosen = file ? compile_sources(project, file) : json_incref(files);

	s->chosen = file;
	s->project = project;
	s->built = built;
	s->macros = built ? names_in(project, files, macro) : NULL;
	s->include = header_folders(files);
	/* They must not move. */
	s->list = kcalloc(json_array_size(chosen) + json_array_size(files) + 1, sizeof *s->list);
	kjson_foreach_text(name, chosen) {
		if (file && json_object_get(seen, file))
			break;
		add_preprocessed(s, name, seen);
	}
	kjson_foreach_text(name, files)
		if (!json_object_get(seen, name))
			add_raw(s, name);
	if (!file && kany(kforeach_list(x, s), x->guessed))
		s->written = names_in(project, files, defined);
}
