/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a candidate may not do: patterns for its source and an allow-list for its imports
 * (forbidden.json).
 */
#include <fnmatch.h>

#include "keval.h"

enum {
/* .init as the compiler's start files make it: less than one call longer than the shortest */
#ifdef __x86_64__
	INIT_BYTES_MAX = 27,
#else
	INIT_BYTES_MAX = 28,
#endif
	QUOTE_MAX = 60 /* characters of a match that are quoted */
};

static const json_t *
rules_of(const json_t *table, const char *backend)
{
	return json_object_get(json_object_get(table, "backends"), backend);
}

/*
 * Length of a backslash, blanks (which compilers allow there) and a line break; 0 if it is
 * something else.
 */
static size_t
splice_len(const char *p)
{
	size_t n = *p == '\\' ? 1 + strspn(p + 1, " \t\r\f\v") : 0;

	return n && p[n] == '\n' ? n + 1 : 0;
}

/*
 * The text that patterns see: lines joined at a backslash, # for %:, comments and string contents
 * that are not code blanked out, adjacent string literals joined, and form feeds and escapes for
 * white space replaced by blanks, so that nothing hides in a seam.
 */
static char *
scan_text(const char *code, enum ktoken_lang lang)
{
	auto_buf struct kbuf b = kbuf_empty();
	char *stripped, *out;

	for (const char *p = code; *p; p++)
		if (lang == KTOKEN_C && splice_len(p))
			p += splice_len(p) - 1;
		else if (*p == '%' && p[1] == ':' && lang == KTOKEN_C)
			kbuf_add(&b, "# ", 2), p++;
		else
			kbuf_add(&b, *p == '\f' || *p == '\v' ? " " : p, 1);
	stripped = ktoken_strip(b.data, b.len, lang);
	out = stripped;
	for (const char *p = stripped; *p; p++) {
		/*
		 * Searched only after a quote: doing it at every blank would take minutes for long
		 * comments.
		 */
		const char *next = *p == '"' ? p + 1 + strspn(p + 1, " \t\r\n") : p;

		if (*p == '"' && *next == '"' && p > stripped && p[-1] != '\\' && next > p + 1)
			p = next;
		else if (*p == '\\' && p[1] && strchr("ntvfr", p[1]))
			*out++ = ' ', *out++ = ' ', p++;
		else if (*p == '\\' && p[1])
			*out++ = *p++, *out++ = *p;
		else
			*out++ = *p;
	}
	*out = '\0';
	return stripped;
}

/* Where the text came from: a named file of a bundle, the program (NULL), or the preprocessor. */
struct origin {
	const char *file;
	bool expanded;
};

/* The end of a match, the offending text, and where it is. The caller frees. */
static char *
quote(const char *why, const struct origin *o, const char *text, size_t from, size_t to)
{
	from = to - from > QUOTE_MAX ? to - QUOTE_MAX : from;
	while (from < to && strchr(" \t\n", text[from]))
		from++;
	if (o->expanded)
		return kasprintf(
		    "%s (when macros are expanded: %.*s)", why, (int)(to - from), text + from);
	return kasprintf("%s (%s%sline %zu: %.*s)", why, o->file ?: "", o->file ? ", " : "",
	    kline_at(text, from), (int)(to - from), text + from);
}

/* Applies one rule to the text. */
static void
apply_rule(const json_t *rule, const struct origin *o, const char *text)
{
	const char *why = kjson_str(rule, "why"), *check = kjson_str_or(rule, "check", "?");
	auto_free char *detail = NULL;
	struct kregex *re = kregex_new(kshown("patterns/forbidden.json: %s", check), NULL,
	    kjson_str_or(rule, "pattern", "(?!)"), KREGEX_LINES);
	struct kregex_span at;
	enum kregex_found found = kregex_search(re, text, strlen(text), 0, &at);

	if (found == KREGEX_FOUND)
		detail = quote(why, o, text, at.from, at.to);
	else if (found == KREGEX_LOST)
		detail =
		    kasprintf("%s cannot be ruled out, because the text defeats the scan", why);
	if (detail)
		eval_fail(STATUS_REJECTED, check, "%s", detail);
	kregex_free(re);
}

/* "GOMP_*" matches everything that begins with GOMP_. */
static bool
in_list(const json_t *list, const char *name)
{
	return kany(kjson_foreach_text(pattern, list), !fnmatch(pattern ?: "", name, 0));
}

/*
 * Applies all rules of the backend; for preprocessed text, all except those for what a person
 * wrote.
 */
static void
apply_rules(const struct origin *o, const char *code)
{
	const char *names[] = { "default", kcamp_str("backend") };
	auto_free char *text = scan_text(code, kcamp_backend()->syntax);
	json_auto_t *table = kjson_data("patterns/forbidden.json", "forbidden/1");

	kforeach(name, names)
		kjson_foreach(rule, rules_of(table, *name), "source")
			if (!in_list(json_object_get(rule, "except"), names[1]) &&
			    !(o->expanded && kjson_bool(rule, "written")))
				apply_rule(rule, o, text);
}

/*
 * Preprocessed text of a candidate: which parts come from the candidate's own files? Line markers
 * tell: # LINE "FILE" FLAGS, with flag 1 where a file is entered and 2 where it is left. Nothing
 * else in them is trusted: a candidate can choose names and the system-header flag with #line and
 * pragmas.
 */
enum { DEPTH_MAX = 512 }; /* compilers stop at 200 */

struct marker {
	bool enters, leaves;
	bool absolute; /* the file's path is */
};

static const char *
skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r\f\v");
}

/* After the closing quote of the string at P; NULL when the line ends first. */
static const char *
skip_string(const char *p)
{
	for (p++; *p && *p != '\n' && *p != '"'; p++)
		if (*p == '\\' && p[1] && p[1] != '\n')
			p++;
	return *p == '"' ? p + 1 : NULL;
}

static bool
read_marker(const char *line, struct marker *m)
{
	const char *p = skip_blanks(line);

	*m = (struct marker){ 0 };
	if (*p != '#')
		return false;
	p = skip_blanks(p + 1);
	if (!kis_digit(*p))
		return false;
	p = skip_blanks(p + strspn(p, "0123456789"));
	if (*p != '"')
		return false;
	m->absolute = p[1] == '/';
	p = skip_string(p);
	for (p = p ? skip_blanks(p) : ""; kis_digit(*p); p = skip_blanks(p)) {
		long flag = strtol(p, (char **)&p, 10);

		m->enters |= flag == 1;
		m->leaves |= flag == 2;
	}
	return true;
}

static const char *
next_line(const char *p)
{
	p += strcspn(p, "\n");
	return *p ? p + 1 : p;
}

static bool
expand_has_marker(const char *code)
{
	struct marker m;

	for (const char *p = code; *p; p = next_line(p))
		if (read_marker(p, &m) && (m.enters || m.leaves))
			return true;
	return false;
}

/* Line breaks no longer matter, except around a pragma. */
static void
add_line(struct kbuf *b, const char *line)
{
	size_t len = strcspn(line, "\n");
	bool directive = *skip_blanks(line) == '#';

	kbuf_add(b, directive ? "\n" : " ", 1);
	kbuf_add(b, line, len);
	if (directive)
		kbuf_add(b, "\n", 1);
}

char *
expand_own(const char *text)
{
	bool foreign[DEPTH_MAX] = { false };
	size_t depth = 0;
	struct kbuf own = kbuf_empty();
	struct marker m;

	for (const char *p = text; *p; p = next_line(p)) {
		if (!read_marker(p, &m)) {
			if (!foreign[depth])
				add_line(&own, p);
		} else if (m.enters && depth < DEPTH_MAX - 1) {
			foreign[depth + 1] = foreign[depth] || m.absolute;
			depth++;
		} else if (m.leaves && depth > 0) {
			depth--;
		}
	}
	return own.data;
}

void
scan_source(const char *file, const char *code)
{
	if (kcamp_backend()->syntax == KTOKEN_C) {
		/*
		 * Depending on language and options it is a backslash, which moves the ends of
		 * comments and strings, or it is not.
		 */
		if (strstr(code,
		        "?"
		        "?/"))
			eval_fail(STATUS_REJECTED, "trigraph",
			    "?"
			    "?/, which some compilers read as a backslash");
		/*
		 * Also within a multi-line string: in the preprocessor's text it would be at the
		 * start of a line.
		 */
		if (expand_has_marker(code))
			eval_fail(STATUS_REJECTED, "line_marker",
			    "a line that claims that another file begins or ends");
	}
	apply_rules(&(struct origin){ .file = file }, code);
}

void
scan_expanded(const char *text)
{
	auto_free char *own = expand_own(text);

	apply_rules(&(struct origin){ .expanded = true }, own);
}

static bool
is_math(const json_t *list, const char *name)
{
	size_t n = strlen(name);

	kjson_foreach_text(item, list) {
		const char *base = item ?: "";
		size_t m = strlen(base);

		if (!strncmp(base, name, m) && (n == m || (n == m + 1 && strchr("fl", name[m]))))
			return true;
	}
	return false;
}

/* A library named by the task ("-lopenblas" allows libopenblas.so*). */
static bool
is_task_library(const json_t *flags, const char *library)
{
	kjson_foreach_text(flag, flags) {
		auto_free char *name =
		    strncmp(flag ?: "", "-l", 2) ? NULL : kasprintf("lib%s.so", flag + 2);

		if (name && kbegins(library, name))
			return true;
	}
	return false;
}

/* The backend's own names, those of the lists that it shares with others, and mathematics. */
static bool
may_import(const json_t *table, const json_t *imports, const char *name)
{
	bool found = in_list(json_object_get(imports, "names"), name) ||
	    is_math(json_object_get(table, "math"), name);

	kjson_foreach_text(list, imports, "lists")
		found |= in_list(json_object_get(json_object_get(table, "lists"), list), name);
	return found && !in_list(json_object_get(imports, "denied"), name);
}

static void
check_names(const struct kelf *f, const json_t *table, const json_t *backend)
{
	kjson_foreach_member(name, v, f->imports)
		if (!in_list(json_object_get(keval.task, "allow_symbols"), name) &&
		    !may_import(table, json_object_get(backend, "imports"), name))
			eval_fail(STATUS_REJECTED, "forbidden_symbol",
			    "%s (imported): not among the functions that a candidate may call; a "
			    "task may add it with allow_symbols",
			    name);
	kjson_foreach_member(name, v, f->needed)
		if (!in_list(json_object_get(backend, "libraries"), name) &&
		    !is_task_library(kjson_path(keval.task, "build.libs"), name))
			eval_fail(STATUS_REJECTED, "forbidden_library", "linked with %s", name);
}

static void
check_loading(const struct kelf *f, size_t constructors)
{
	const struct {
		bool found;
		const char *check, *detail;
	} rows[] = {
		{ f->constructors > constructors + f->cpu_detection || f->destructors > 1,
		    "load_hook", "code that runs when the object is loaded or unloaded" },
		{ f->init_bytes > INIT_BYTES_MAX, "load_hook", "code added to .init" },
		{ f->odd_sections != NULL, "load_hook", "an executable section of its own" },
		{ f->ifunc, "load_hook",
		    "an indirect function, which runs while symbols are bound" },
		{ f->exec_stack, "memory_map", "an executable stack" },
		{ f->writable_code, "memory_map", "code that can be written" },
		{ f->search_path || f->loader_hooks, "loader",
		    "its own library search path or loader hooks" },
	};

	kforeach(row, rows)
		if (row->found)
			eval_fail(STATUS_REJECTED, row->check, "%s", row->detail);
}

void
scan_elf(const struct kelf *f, const char *fault)
{
	json_auto_t *table = kjson_data("patterns/forbidden.json", "forbidden/1");
	const json_t *backend = rules_of(table, kcamp_str("backend"));

	if (!json_object_get(backend, "imports"))
		return;
	if (fault) {
		eval_fail(STATUS_REJECTED, "loader", "%s", fault);
	} else {
		check_names(f, table, backend);
		check_loading(f, (size_t)kjson_int_or(backend, "constructors", 1));
	}
}
