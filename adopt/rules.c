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
 */
static struct kregex *
compile(const char *group, const json_t *rule, const char *entry)
{
	return kregex_new(kshown("patterns/adopt.json: %s", group),
	    kshown("(?(DEFINE)(?<entry>\\b%s\\b))", entry), kjson_str(rule, "pattern"),
	    KREGEX_LINES);
}

char *
rules_replace(const char *group, const char *language, const char *text)
{
	const json_t *rules = json_object_get(table(), group);
	char *now = kstrdup(text);

	kjson_foreach(rule, rules) {
		struct kregex *re = is_for(rule, language) ? compile(group, rule, "\\w+") : NULL;
		char *next = re ? kregex_replace(re, now, kjson_str(rule, "with")) : NULL;

		kregex_free(re);
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
find(struct kregex *re, const struct subject *s, bool comments, size_t from, struct kregex_span *at)
{
	const char *text = comments ? s->text : s->code;

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
		return find(re, now, false, 0, at) && !find(re, was, false, 0, NULL);
	for (size_t from = 0; find(re, now, true, from, at); from = at->to + (at->to == at->from))
		if (!has_line(now->text, at, was->text))
			return true;
	return false;
}

size_t
rules_scan(const char *group, const char *language, const char *text, const char *entry,
    const char *before, struct kbuf *faults)
{
	const json_t *rules = json_object_get(table(), group);
	struct subject now = { text, ktoken_strip(text, strlen(text), KTOKEN_C) };
	struct subject was = { before,
		before ? ktoken_strip(before, strlen(before), KTOKEN_C) : NULL };
	struct kregex_span at;
	size_t count = 0;

	kjson_foreach(rule, rules) {
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
		kregex_free(re);
	}
	free(now.code);
	free(was.code);
	return count;
}
