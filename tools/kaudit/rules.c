/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: the rules of patterns/audit.json. A rule is a regular expression for code without
 * comments and strings, the bucket that a match means, and examples that must and must not match.
 * The expression is preceded by definitions of what the words of the current program mean, so that
 * (?&input) matches one of its inputs whatever their names.
 */

#include "kaudit.h"
#include "kfence.h"
#include "kform.h"

enum { HITS_PER_RULE = 4, QUOTE_MAX = 80 };

struct rule {
	const char *id, *pattern, *unless, *why; /* borrowed from the table */
	const json_t *languages, *match, *clean;
	enum bucket bucket;
	bool whole, grouped, note;
	struct kregex *find, *spare; /* the two patterns, including the definitions below */
};

static struct {
	char *file;
	json_t *table;
	struct rule *at;
	size_t count;
	char *defined; /* the definitions in compiled patterns */
} rules;

static const char *const bucket_names[] = { "K", "W1", "uniform", "W2", "W3" };

const char *
bucket_name(enum bucket b)
{
	return bucket_names[b];
}

/* ---- the table ---- */

/* What docs/schemas says about it. */
static const struct kform form =
#include "audit-rules.h"
    ;

static void
read_rule(size_t i, const json_t *o)
{
	struct rule *rule = &rules.at[i];

	*rule = (struct rule){ .id = kjson_str(o, "id"),
		.pattern = kjson_str(o, "pattern"),
		.unless = kjson_maybe(o, "unless"),
		.why = kjson_str(o, "why"),
		.languages = json_object_get(o, "languages"),
		.match = json_object_get(o, "match"),
		.clean = json_object_get(o, "clean"),
		.bucket =
		    (enum bucket)kindex_of(kjson_str(o, "bucket"), bucket_names, LEN(bucket_names)),
		.whole = kjson_is(o, "scope", "whole"),
		.note = kjson_is(o, "verdict", "note"),
		.grouped = kjson_is(o, "when", "grouped") };
	kforeach_of(one, rules.at, i)
		if (!strcmp(one->id, rule->id))
			kdie_usage("%s: two rules have the name %s", rules.file, rule->id);
}

void
rules_load(const char *file)
{
	const json_t *list;

	rules.file = kstrdup(file);
	rules.table = kform_load(&form, file);
	list = json_object_get(rules.table, "rules");
	rules.count = json_array_size(list);
	rules.at = kcalloc(rules.count, sizeof *rules.at);
	kjson_foreach(o, list)
		read_rule(kjson_at(o), o);
}

/* Compiled patterns are reused while the words of the programs mean the same. Takes DEFINED. */
static void
define(char *defined)
{
	bool same = defined && rules.defined && !strcmp(defined, rules.defined);

	kforeach_of(rule, rules.at, same ? 0 : rules.count) {
		kregex_free(rule->find);
		kregex_free(rule->spare);
		rule->find = rule->spare = NULL;
	}
	free(rules.defined);
	rules.defined = defined;
}

/* ---- words ---- */

struct source source;
struct words words;
struct hits hits;

/*
 * Where the parameters of function NAME begin in its definition; NULL if it is not defined in TEXT.
 */
static const char *
parameters(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; n && (p = strstr(p, name)); p += n) {
		const char *open = p + n + strspn(p + n, " \t\r\n"), *close;

		if ((p > text && kis_word(p[-1])) || *open != '(')
			continue;
		close = strchr(open, ')');
		if (close && close[1 + strspn(close + 1, " \t\r\n")] == '{')
			return open + 1;
	}
	return NULL;
}

/* Adds the last word of the pointer parameter FROM..TO to LIST, as one more alternative. */
static void
add_word(struct kbuf *list, const char *from, const char *to)
{
	auto_free char *parameter = kstrndup(from, (size_t)(to - from)),
	               *name = kregex_part("\\b(\\w++)\\W*+\\z", parameter);

	if (name)
		kbuf_join(list, "|", name);
}

/*
 * The list for a tensor's name; NULL: none. A tensor that is updated in place counts as neither
 * input nor output here.
 */
static struct kbuf *
list_for(const struct ktask_tensor *x)
{
	return x->scalar || (x->input && x->output) ? NULL
	    : x->output                             ? &words.outputs
	    : x->weight                             ? &words.weights
	                                            : &words.inputs;
}

void
words_of(const char *text)
{
	const struct ktask *task = audit.task;
	const char *p = task ? parameters(text, task->entry) : NULL;

	kbuf_free(&words.inputs);
	kbuf_free(&words.weights);
	kbuf_free(&words.outputs);
	words.entry = task ? task->entry : NULL;
	for (size_t i = 0; task && i < task->arg_count; i++) {
		const struct ktask_arg *a = &task->args[i];
		const struct ktask_tensor *x =
		    a->kind == KARG_TENSOR ? &task->tensors[a->index] : NULL;
		struct kbuf *list = x ? list_for(x) : NULL;
		const char *end = p ? p + strcspn(p, ",)") : NULL;

		if (list && end)
			add_word(list, p, end);
		else if (list)
			add_word(list, x->name, x->name + strlen(x->name));
		p = end && *end == ',' ? end + 1 : NULL;
	}
}

/* ---- matching ---- */

/*
 * Definitions that rules may refer to, placed before the rules. A name after "." or "->" does not
 * count.
 */
static char *
definitions(void)
{
	static const char none[] = "(?!)";
	const char *in = words.inputs.data ?: none, *weights = words.weights.data ?: none;

	return kasprintf("(?J)(?(DEFINE)"
	                 "(?<entry>\\b(?:%s)\\b)(?<input>(?<![\\w.>])(?:%s|%s)\\b)(?<output>(?<!["
	                 "\\w.>])(?:%s)\\b)"
	                 "(?<tensor>(?<![\\w.>])(?:%s|%s|%s)\\b)"
	                 "(?<store>\\b(?:static|__device__|__managed__|thread_local|_Thread_local|_"
	                 "_thread)\\b|"
	                 "^(?=(?:const\\s+|volatile\\s+|unsigned\\s+|struct\\s+)*\\w+[ \\t*]))"
	                 "(?<nothing>(?:NULL|nullptr|0|-\\s*1|\\(\\s*void)\\b))",
	    words.entry ?: none, in, weights, words.outputs.data ?: none, in, weights,
	    words.outputs.data ?: none);
}

/* *RE, compiled on first use. */
static struct kregex *
compiled(const struct rule *rule, const char *pattern, struct kregex **re)
{
	if (!*re)
		*re = kregex_new(kshown("%s: rule %s", rules.file, rule->id), rules.defined,
		    pattern, KREGEX_LINES | KREGEX_SLOW);
	return *re;
}

/* Whether the match compares with a weight: its group "key" is a weight's name. */
static bool
key_is_weight(const struct kregex *re, const char *text)
{
	struct kregex_span key;

	if (!words.weights.data || !kregex_group(re, "key", &key))
		return false;
	for (const char *s = words.weights.data; s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL)
		if (strcspn(s, "|") == key.to - key.from &&
		    !strncmp(s, text + key.from, key.to - key.from))
			return true;
	return false;
}

/* The line of code that contains byte AT. */
static void
quote(size_t at, char *to, size_t size)
{
	auto_free char *line = NULL, *shown = NULL;

	while (at > 0 && source.text[at - 1] != '\n')
		at--;
	line = kuntil(source.text + at, "\n");
	shown = kfence_line(line, QUOTE_MAX);
	snprintf(to, size, "%s", shown);
}

static bool
is_added(size_t line)
{
	for (const char *s = source.script; s && *s; s++)
		if (*s != '-' && !--line)
			return *s == '+';
	return true;
}

static bool
known(const char *rule, size_t line)
{
	return kany(kforeach_of(one, hits.at, hits.count),
	    one->file == source.file && one->line == line && !strcmp(one->rule, rule));
}

static void
add_hit(const struct rule *rule, size_t line, size_t at, bool weight)
{
	struct hit *h = kadded(hits.at, hits.count);

	*h = (struct hit){ .rule = rule->id,
		.why = rule->why,
		.file = source.file,
		.line = line,
		.note = rule->note,
		.bucket = weight && rule->bucket > BUCKET_UNIFORM ? BUCKET_W1 : rule->bucket };
	quote(at, h->text, sizeof h->text);
}

/* Does CODE contain the text that exempts it from RULE? */
static bool
is_spared(struct rule *rule, const char *code, size_t len)
{
	return rule->unless &&
	    kregex_search(compiled(rule, rule->unless, &rule->spare), code, len, 0, NULL) ==
	    KREGEX_FOUND;
}

/*
 * All matches of one rule in CODE, the source as patterns see it. A match counts as added if its
 * first or its last line was: what a pattern skips between a declaration and its use does not
 * matter.
 */
static void
apply(struct rule *rule, const char *code)
{
	struct kregex *re = compiled(rule, rule->pattern, &rule->find);
	struct kregex_span at;
	size_t found = 0, from = 0;

	while (found < HITS_PER_RULE && from < source.len &&
	    kregex_search(re, code, source.len, from, &at) == KREGEX_FOUND) {
		size_t last = at.to > at.from ? at.to - 1 : at.from,
		       line = kline_at(source.text, last);

		if ((rule->whole || is_added(line) || is_added(kline_at(source.text, at.from))) &&
		    !known(rule->id, line)) {
			add_hit(rule, line, last, key_is_weight(re, code));
			found++;
		}
		from = at.from + 1;
	}
}

/* Code without comments, strings and line splices, with every byte in its old place. */
static char *
plain_code(const char *text, size_t len, enum ktoken_lang lang)
{
	auto_free char *joined = kregex_sub("\\\\\n", text, "  ");

	return ktoken_strip(joined, len, lang);
}

void
rules_apply(void)
{
	auto_free char *code = plain_code(source.text, source.len, backend_syntax(audit.language));

	define(definitions());
	kforeach_of(rule, rules.at, rules.count) {
		if (kjson_has(rule->languages, audit.language) &&
		    (!rule->grouped || audit.grouped) && !is_spared(rule, code, source.len))
			apply(rule, code);
	}
}

/* ---- the rules' own examples ---- */

static size_t
try_examples(struct rule *rule, const json_t *list, bool wanted)
{
	size_t failures = 0;

	kjson_foreach(item, list) {
		const char *text = json_string_value(item);
		auto_free char *code = plain_code(text, strlen(text), KTOKEN_C);

		source = (struct source){ .text = text, .len = strlen(text) };
		hits.count = 0;
		if (!is_spared(rule, code, source.len))
			apply(rule, code);
		if ((hits.count > 0) != wanted) {
			kwarn("%s: rule %s %s its example %zu of \"%s\": %s", rules.file, rule->id,
			    wanted ? "misses" : "accuses", kjson_at(item) + 1,
			    wanted ? "match" : "clean", text);
			failures++;
		}
	}
	return failures;
}

/*
 * In an example the entry point is called "kernel", its weight w, its output y, and its other
 * inputs x and a.
 */
size_t
rules_check(void)
{
	size_t failures = 0;

	words = (struct words){ .entry = "kernel",
		.inputs = { .data = (char[]){ "x|a" } },
		.weights = { .data = (char[]){ "w" } },
		.outputs = { .data = (char[]){ "y" } } };
	define(definitions());
	kforeach_of(one, rules.at, rules.count)
		failures +=
		    try_examples(one, one->match, true) + try_examples(one, one->clean, false);
	words = (struct words){ 0 };
	return failures;
}
