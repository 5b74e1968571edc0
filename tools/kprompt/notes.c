/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: notes of knowledge, Markdown with a head of "key: value" lines, split into sections.
 * Each section has keys that say when it applies: it inherits those of its note, and a comment
 * below its heading may replace them.
 */
#include "kprompt.h"

#include "kfence.h"
#include "kregex.h"

enum {
	MAX_NOTE = 1 << 16,
	MAX_HEADING = 120,
	MAX_PRIORITY = 4,
	MAX_TOKENS = 1 << 16,
	DEFAULT_PRIORITY = 3
};

/* The note that is read, and the line, for messages. */
static struct {
	const char *path, *file;
	const json_t *words;
	long line;
} note;

static const struct key {
	const char *name;
	enum { TEXT, WORDS, NUMBER } type;
	long max; /* of a NUMBER */
	bool head_only;
} keys[] = {
	{ "title", TEXT, 0, true },
	{ "ops", WORDS, 0, false },
	{ "archs", WORDS, 0, false },
	{ "backends", WORDS, 0, false },
	{ "dtypes", WORDS, 0, false },
	{ "when", WORDS, 0, false },
	{ "priority", NUMBER, MAX_PRIORITY, false },
	{ "tokens", NUMBER, MAX_TOKENS, true },
};

#define fault_at(line, ...) kdie_usage("%s:%ld: %s", note.path, line, kasprintf(__VA_ARGS__))
#define fault(...) fault_at(note.line, __VA_ARGS__)

/* The words of SET, "attention, gemm"; not freed, since it goes into a last message. */
static char *
names_of(const json_t *set)
{
	struct kbuf b = kbuf_empty();

	kjson_foreach_member(name, v, set)
		kbuf_join(&b, ", ", name);
	return b.data;
}

/* "a, b" as an array; every word must be in WORDS under the key. */
static json_t *
word_list(const struct key *k, char *value)
{
	const json_t *set = json_object_get(note.words, k->name);
	json_t *list = json_array();

	kpart_foreach(word, value, ", \t") {
		if (!json_object_get(set, word))
			fault("%s: '%s' is not in routes.json; it must be one of: %s", k->name,
			    word, names_of(set));
		kjson_add(list, word);
	}
	if (!json_array_size(list))
		fault("%s: is empty; remove the line if it does not matter", k->name);
	return list;
}

static json_t *
number(const struct key *k, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (!*value || *end || n < 0 || n > k->max)
		fault("%s: '%s' must be a whole number from 0 to %ld", k->name, value, k->max);
	return json_integer(n);
}

/* One "key: value", added to INTO. */
static void
take_key(const char *s, bool head, json_t *into)
{
	auto_free char *name = NULL, *value = NULL;
	const struct key *k = keys;

	if (!kregex_scan("\\A\\s*([^:]*):\\s*(.*?)\\s*\\z", s, &name, &value))
		fault("'%s' must have the form \"key: value\"", s);
	while (k < keys + LEN(keys) && strcmp(k->name, name))
		k++;
	if (k == keys + LEN(keys))
		fault("unknown key '%s'; the keys are title, ops, archs, backends, dtypes, when, "
		      "priority, tokens",
		    name);
	if (k->head_only && !head)
		fault("'%s' belongs in the header of the note, not in a section", name);
	json_object_set_new(into, k->name,
	    k->type == WORDS        ? word_list(k, value)
	        : k->type == NUMBER ? number(k, value)
	                            : json_string(value));
}

/* The head between two lines "---"; returns the text after it, with AT on its first line. */
static const char *
take_head(const char *s, json_t *into)
{
	if (!kbegins(s, "---\n"))
		fault("a note must begin with a line \"---\", its keys, and another \"---\"");
	for (s += 4, note.line++; !kbegins(s, "---\n"); note.line++) {
		size_t n = strcspn(s, "\n");
		auto_free char *line = kstrndup(s, n);

		if (!s[n])
			fault_at(1L, "the header does not end: the second line \"---\" is missing");
		take_key(line, true, into);
		s += n + 1;
	}
	note.line++;
	if (!*kjson_str(into, "title"))
		fault_at(1L, "the header has no title");
	return s + 4;
}

/*
 * The comment below a heading, "<!-- key: value; key: value -->", if there is one; returns the text
 * after it.
 */
static const char *
take_comment(const char *s, json_t *into)
{
	struct kregex_span span[2];
	auto_free char *comment = NULL;

	if (!kbegins(s, "<!--"))
		return s;
	if (!kregex_match("\\A<!--(.*)-->(?:\\n|\\z)", s, span))
		fault("the comment with the keys of a section "
		      "must end with \"-->\" on the same line");
	comment = kregex_text(s, span[1]);
	kpart_foreach(pair, comment, ";")
		take_key(pair, false, into);
	note.line++;
	return s + span->to;
}

/*
 * Length of the text up to the next line outside a code fence that begins with "## "; LINES counts
 * the lines before it.
 */
static size_t
section_length(const char *text, long *lines)
{
	const char *s = text;
	bool fenced = false;

	for (*lines = 0; *s; ++*lines) {
		if (kbegins(s, "```"))
			fenced = !fenced;
		if (!fenced && kbegins(s, "## "))
			break;
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return (size_t)(s - text);
}

/* Tokens that a section takes in a prompt, with its heading and the blank lines around it. */
static long
tokens_of(const char *title, const char *text)
{
	return (long)((strlen("## \n\n\n\n") + strlen(title) + strlen(text) + TOKEN_CHARS - 1) /
	    TOKEN_CHARS);
}

/* The section of LEN bytes at S below HEADING, as kprompt.h describes it. */
static json_t *
section_new(const json_t *own, const char *heading, const char *s, size_t len, long line)
{
	auto_free char *clean = kfence_clean(s, len),
	               *text = kregex_sub("\\A\\s+|\\s+\\z", clean, ""),
	               *title = kasprintf("%s: %s", kjson_str(own, "title"), heading);
	json_t *section = json_copy((json_t *)own);

	if (!*text)
		fault_at(line, "the section '%s' is empty", heading);
	kjson_extend(section, "{s:s,s:s,s:s,s:s,s:I}", "title", title, "file", note.file, "section",
	    heading, "text", text, "tokens", (json_int_t)tokens_of(title, text));
	return section;
}

/*
 * One section, beginning with its heading, added to OUT unless it only lists sources; returns the
 * text after it.
 */
static const char *
take_section(const char *s, const json_t *head, json_t *out)
{
	json_auto_t *own = json_copy((json_t *)head);
	auto_free char *line = kuntil(s + 3, "\n"), *heading = kfence_line(line, MAX_HEADING);
	size_t len;
	long lines, line_no = note.line;

	s += strcspn(s, "\n");
	s += *s == '\n';
	note.line++;
	if (!*heading)
		fault_at(line_no, "a section has no name");
	s = take_comment(s, own);
	len = section_length(s, &lines);
	if (strcmp(heading, "Sources"))
		json_array_append_new(out, section_new(own, heading, s, len, line_no));
	note.line += lines;
	return s + len;
}

/* A note states its maximum length, so that none grows beyond the budget of a prompt unnoticed. */
static void
check_tokens(const json_t *head, const json_t *sections)
{
	json_int_t granted = kjson_int_or(head, "tokens", MAX_TOKENS), sum = 0;

	kjson_foreach(s, sections)
		sum += kjson_int(s, "tokens");
	if (sum > granted)
		fault("the note has %lld tokens, more than the %lld in its header", (long long)sum,
		    (long long)granted);
}

json_t *
notes_read(const char *path, const char *file, const json_t *words)
{
	auto_free char *text = kread_file_or_die(path, MAX_NOTE, NULL);
	json_auto_t *head = json_pack("{s:i}", "priority", DEFAULT_PRIORITY);
	json_t *sections = json_array();
	const char *s;
	long lines;

	note.path = path;
	note.file = file;
	note.words = words;
	note.line = 1;
	s = take_head(text, head);
	/* Text before the first section is for readers of the file. */
	s += section_length(s, &lines);
	note.line += lines;
	while (*s)
		s = take_section(s, head, sections);
	note.line = 1;
	if (!json_array_size(sections))
		fault("the note has no section: "
		      "it needs at least one line \"## NAME\" with text below");
	check_tokens(head, sections);
	return sections;
}
