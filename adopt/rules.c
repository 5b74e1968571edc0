/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patterns/adopt.json: what is cleaned up, what is rejected, and what replaces float in double
 * precision. See adopt.h.
 */

#include "adopt.h"
#include "ktoken.h"

enum { QUOTE = 60 };

static const json_t *
table(void)
{
	static json_t *loaded;

	if (!loaded)
		loaded = kjson_data("patterns/adopt.json", "adopt-rules/1");
	return loaded;
}

const json_t *
rules_language(const char *file)
{
	const char *end = strrchr(file, '.');

	return end ? kjson_find(json_object_get(table(), "languages"), "file", end) : NULL;
}

bool
rules_is_header(const char *file)
{
	const json_t *row = rules_language(file);

	return kjson_bool_or(row, "header", !row);
}

const json_t *
rules_row(void)
{
	const json_t *own = rules_language(adoption.file);

	if (!kjson_bool(own, "header") || kjson_is(own, "language", adoption.language))
		return own;
	return kjson_find(json_object_get(table(), "languages"), "language", adoption.language)
	    ?: own;
}

const json_t *
rules_words(const char *group)
{
	return json_object_get(table(), group);
}

static bool
is_for(const json_t *rule, const char *language)
{
	const json_t *list = json_object_get(rule, "languages");

	return !list || kjson_has(list, language);
}

/*
 * The rule's pattern, with ENTRY substituted for (?&entry); dies when it is not a valid expression.
 * Kept for the next text.
 */
static struct kregex *
compile(const char *group, const json_t *rule, const char *entry)
{
	static struct compiled {
		const char *pattern;
		char *entry;
		struct kregex *re;
	} * known;
	static size_t count;
	const char *pattern = kjson_str(rule, "pattern");
	struct compiled *x;

	if (!strstr(pattern, "(?&entry)"))
		entry = "\\w+";
	for (x = known; x < known + count; x++)
		if (x->pattern == pattern && !strcmp(x->entry, entry))
			return x->re;
	x = kadded(known, count);
	*x = (struct compiled){ pattern, kstrdup(entry),
		kregex_new(kshown("patterns: %s", group),
		    kshown("(?(DEFINE)(?<entry>\\b%s\\b))", entry), pattern, KREGEX_LINES) };
	return x->re;
}

/* The rules of GROUP, as rules_scan names them. Borrowed. */
static const json_t *
rules_of(const char *group, const char *language)
{
	static json_t *judges;
	const char *names[] = { "default", language };
	const json_t *all = json_object_get(table(), group);
	const char *key;

	if (all)
		return all;
	if (!judges)
		judges = kjson_data("patterns/forbidden.json", "forbidden/1");
	key = kshown("%s %s", group, language);
	if (json_object_get(judges, key))
		return json_object_get(judges, key);
	json_object_set_new(judges, key, json_array());
	kforeach(name, names)
		kjson_foreach(
		    rule, json_object_get(kjson_path(judges, "backends"), *name), "source")
			if (!kjson_has(json_object_get(rule, "except"), language) &&
			    kjson_bool(rule, "written") == !strcmp(group, "written"))
				json_array_append(json_object_get(judges, key), rule);
	return json_object_get(judges, key);
}

char *
rules_replace(const char *group, const char *language, const char *text)
{
	char *now = kstrdup(text);

	kjson_foreach(rule, rules_of(group, language)) {
		struct kregex *re = is_for(rule, language) ? compile(group, rule, "\\w+") : NULL;
		char *next = re ? kregex_replace(re, now, kjson_str(rule, "with")) : NULL;

		if (!next)
			continue;
		free(now);
		now = next;
	}
	return now;
}

/* A text, and the same without comments. */
struct subject {
	const char *text;
	char *code;
};

static bool
find(struct kregex *re, const char *text, size_t from, struct kregex_span *at)
{
	return text && kregex_search(re, text, strlen(text), from, at) == KREGEX_FOUND;
}

/* Does the line around AT, without surrounding blanks, also occur in OTHER? */
static bool
has_line(const char *text, const struct kregex_span *at, const char *other)
{
	size_t from = at->from, to = at->to + strcspn(text + at->to, "\r\n");

	while (from && text[from - 1] != '\n')
		from--;
	from += strspn(text + from, " \t");
	return other && memmem(other, strlen(other), text + from, to > from ? to - from : 0);
}

/*
 * The first match that is not also in BEFORE. For words in comments ("as before"), each line counts
 * separately; for code, one use permits further uses.
 */
static bool
find_new(struct kregex *re, const struct subject *now, const struct subject *was, bool comments,
    struct kregex_span *at)
{
	if (!comments)
		return find(re, now->code, 0, at) && !find(re, was->code, 0, NULL);
	for (size_t from = 0; find(re, now->text, from, at); from = at->to + (at->to == at->from))
		if (!has_line(now->text, at, was->text))
			return true;
	return false;
}

size_t
rules_scan(const char *group, const char *language, const char *text, const char *entry,
    const char *before, struct kbuf *faults)
{
	struct subject now = { text, ktoken_strip(text, strlen(text), KTOKEN_C) };
	struct subject was = { before,
		before ? ktoken_strip(before, strlen(before), KTOKEN_C) : NULL };
	struct kregex_span at;
	size_t count = 0;

	kjson_foreach(rule, rules_of(group, language)) {
		bool comments = kjson_bool(rule, "comments");
		struct kregex *re = is_for(rule, language) ? compile(group, rule, entry) : NULL;

		if (re && find_new(re, &now, &was, comments, &at)) {
			size_t len = at.to - at.from;
			auto_free char *quote = kstrndup(text + at.from, len < QUOTE ? len : QUOTE);

			quote[strcspn(quote, "\n")] = '\0';
			kmask_controls(quote);
			kbuf_printf(faults, "%s: line %zu: %s: '%s'\n",
			    kjson_str_or(rule, "check", "?"), kline_at(text, at.from),
			    kjson_str(rule, "why"), quote);
			count++;
		}
	}
	free(now.code);
	free(was.code);
	return count;
}
