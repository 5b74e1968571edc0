/* SPDX-License-Identifier: Apache-2.0 */
/* patterns/adopt.json: what is cleaned up, what is refused, what a float is in double precision. See adopt.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adopt.h"
#include "kio.h"
#include "ktoken.h"

enum { MATCH_LIMIT = 2000000, QUOTE = 60 };

static const json_t *
table(void)
{
	static json_t *loaded;

	if (!loaded) {
		char *path = kdata_path("patterns/adopt.json");

		loaded = kjson_load(path);
		if (strcmp(kjson_str_or(loaded, "schema", ""), "adopt-rules/1"))
			kdie(K_USAGE, "%s: schema is not adopt-rules/1", path);
		free(path);
	}
	return loaded;
}

const json_t *
rules_double(void)
{
	return json_object_get(table(), "double");
}

static bool
is_for(const json_t *rule, const char *language)
{
	const json_t *list = json_object_get(rule, "languages");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (!strcmp(json_string_value(json_array_get(list, i)), language))
			return true;
	return !list;
}

/* The rule's pattern, with ENTRY put in for (?&entry); dies when it is no expression. */
static pcre2_code *
compile(const char *group, const json_t *rule, const char *entry)
{
	const char *pattern = kjson_str_or(rule, "pattern", "");
	char *full = kasprintf("(?(DEFINE)(?<entry>\\b%s\\b))%s", entry, pattern);
	PCRE2_SIZE at;
	int error;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)full, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE, &error, &at, NULL);

	if (!code)
		kdie(K_USAGE, "patterns/adopt.json: %s: %s: no regular expression", group, pattern);
	free(full);
	return code;
}

char *
rules_replace(const char *group, const char *language, const char *text)
{
	const json_t *rules = json_object_get(table(), group), *rule;
	char *now = kstrdup(text);
	size_t i;

	json_array_foreach((json_t *)rules, i, rule) {
		const char *with = kjson_str_or(rule, "with", "");
		PCRE2_SIZE len = 2 * strlen(now) + 4096;
		pcre2_code *code;
		char *next;
		int n;

		if (!is_for(rule, language))
			continue;
		code = compile(group, rule, "\\w+");
		next = kmalloc(len);
		n = pcre2_substitute(code, (PCRE2_SPTR)now, strlen(now), 0, PCRE2_SUBSTITUTE_GLOBAL, NULL, NULL, (PCRE2_SPTR)with,
		    PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)next, &len);
		pcre2_code_free(code);
		if (n > 0) {
			free(now);
			now = next;
		} else {
			free(next);
		}
	}
	return now;
}

static size_t
line_at(const char *text, size_t at)
{
	size_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/* A text, and the same without comments. */
struct subject {
	const char *text;
	char *code;
};

static bool
find(pcre2_code *code, const struct subject *s, bool comments, size_t *from, size_t *to)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *m = pcre2_match_data_create_from_pattern(code, NULL);
	bool found;

	pcre2_set_match_limit(limits, MATCH_LIMIT);
	found = s->text && pcre2_match(code, (PCRE2_SPTR)(comments ? s->text : s->code), strlen(s->text), 0, 0, m, limits) > 0;
	if (found) {
		*from = pcre2_get_ovector_pointer(m)[0];
		*to = pcre2_get_ovector_pointer(m)[1];
	}
	pcre2_match_data_free(m);
	pcre2_match_context_free(limits);
	return found;
}

size_t
rules_scan(const char *group, const char *language, const char *text, const char *entry, const char *before,
    struct kbuf *faults)
{
	const json_t *rules = json_object_get(table(), group), *rule;
	struct subject now = { text, ktoken_strip(text, strlen(text), KTOKEN_C) };
	struct subject was = { before, before ? ktoken_strip(before, strlen(before), KTOKEN_C) : NULL };
	size_t i, count = 0, from, to, ignored[2];

	json_array_foreach((json_t *)rules, i, rule) {
		bool comments = kjson_bool_or(rule, "comments", false);
		pcre2_code *code = is_for(rule, language) ? compile(group, rule, entry) : NULL;

		if (code && find(code, &now, comments, &from, &to) && !find(code, &was, comments, &ignored[0], &ignored[1])) {
			char *quote = kstrndup(text + from, to - from < QUOTE ? to - from : QUOTE);

			quote[strcspn(quote, "\n")] = '\0';
			kmask_controls(quote);
			kbuf_printf(faults, "%s: line %zu: %s: '%s'\n", kjson_str_or(rule, "check", "?"), line_at(text, from),
			    kjson_str_or(rule, "why", ""), quote);
			free(quote);
			count++;
		}
		if (code)
			pcre2_code_free(code);
	}
	free(now.code);
	free(was.code);
	return count;
}
