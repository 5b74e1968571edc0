/* SPDX-License-Identifier: Apache-2.0 */
/* kextract: see kextract.h. */
#include "kextract.h"

#include "backend.h"
#include "kregex.h"

enum { MAX_SPANS = 256 };

struct span {
	const char *start, *end;
	char label[24];
	char path[64];
	bool unclosed;
};

/* What is asked, and what is found; one reply at a time. */
static const char *wanted; /* the language */
static bool several;       /* a bundle of files */
static struct kextract *result;
static struct {
	struct span at[MAX_SPANS];
	size_t count;
} spans;

struct line {
	const char *start, *end; /* without the line end */
};

static bool
is_label_of(const char *label)
{
	const struct backend *b = backend_named(wanted);

	return b ? backend_labelled(b, label) : *label && !strcasecmp(wanted, label);
}

/* A word that models sometimes put alone on the first line of a block. */
static bool
is_stray(const char *word)
{
	return kany(kforeach(backend, backends), backend_labelled(backend, word));
}

static const char *
next_line(const char *p, const char *end, struct line *line)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	line->start = p;
	line->end = nl ?: end;
	if (line->end > p && line->end[-1] == '\r')
		line->end--;
	return nl ? nl + 1 : end;
}

static struct line
trim(struct line l)
{
	while (l.start < l.end && kis_space(*l.start))
		l.start++;
	while (l.end > l.start && kis_space(l.end[-1]))
		l.end--;
	return l;
}

static size_t
solid_chars(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end; p++)
		n += !kis_space(*p);
	return n;
}

#define COMPONENT "[A-Za-z0-9_][\\w.-]*"
#define ENDS " \\t},:\"'" /* of a word in an info string */
#define PATH "(?:" COMPONENT "/)*" COMPONENT

bool
kextract_path_ok(const char *path)
{
	return strlen(path) < sizeof((struct kextract_file *)0)->path &&
	    kregex_is("\\A" PATH "\\z", path);
}

/* "c", "{.c .numberLines}", "c:tile.h", "c file=tile.h", "C title=\"tile.h\"". */
static void
parse_info(const char *p, const char *end, struct span *s)
{
	static const char named[] = "[ \\t}{.,:\"'](?:(?i:file|path|title)=[\"' \\t]*)?"
	                            "(?=[\\w/-]*\\.)(?=[^" ENDS "]{1,63}(?:[" ENDS "]|\\z))"
	                            "(" PATH ")(?=[" ENDS "]|\\z)";
	struct kregex_span at[2];
	size_t n;

	kregex_find("\\A[ \\t{.,\"']*([^ \\t},:\"']*)", p, (size_t)(end - p), at, 2);
	n = at[1].to - at[1].from;
	snprintf(s->label, sizeof s->label, "%.*s", (int)n, p + at[1].from);
	klower(s->label);
	p += at[1].to;
	if (kregex_find(named, p, (size_t)(end - p), at, 2))
		memcpy(s->path, p + at[1].from, at[1].to - at[1].from);
}

/* Length of the fence that the line begins with (3 or more of ` or ~), or 0. */
static size_t
fence_run(struct line l)
{
	struct kregex_span at = { 0 };

	kregex_find("\\A(?:`{3,}+(?!.*`)|~{3,})", l.start, (size_t)(l.end - l.start), &at, 1);
	return at.to;
}

/*
 * Is a C block comment open after line L? COMMENT says whether one was open before it. A literal
 * ends with its line, so that an apostrophe in bad code swallows no more.
 */
static bool
comment_after(struct line l, bool comment)
{
	return kregex_is("\\A(?:[^/\"']++|\"(?:\\\\.|[^\\\\\"])*+(?:\"|\\\\?\\z)|"
	                 "'(?:\\\\.|[^\\\\'])*+(?:'|\\\\?\\z)|//.*+|/\\*(?:[^*]|\\*(?!/"
	                 "))*+\\*/|"
	                 "/(?![/*]))*+/\\*",
	    kshown("%s%.*s", comment ? "/*" : "", (int)(l.end - l.start), l.start));
}

static void
add_span(struct span *s, const char *end, bool unclosed)
{
	s->end = end < s->start ? s->start : end;
	s->unclosed = unclosed;
	/* When there are too many, keep the last ones: the answer is at the end. */
	if (spans.count == MAX_SPANS) {
		memmove(spans.at, spans.at + 1, sizeof spans.at - sizeof *spans.at);
		spans.count--;
	}
	spans.at[spans.count++] = *s;
}

/*
 * The fences from P to END. A labelled opener inside an open fence starts a new fence (a wrapper
 * labelled markdown, or an answer that was started again), unless it is inside a comment of the
 * code and COMMENTS says that comments can be trusted.
 */
static bool
find_fences(const char *p, const char *end, bool comments)
{
	struct span s = { 0 };
	size_t open = 0;
	bool comment = false;
	char mark = 0;

	spans.count = 0;
	while (p < end) {
		struct line l;
		const char *next = next_line(p, end, &l), *line_start = p;
		struct line t = trim(l);
		size_t run = fence_run(t);
		bool bare = run && t.start + run == t.end;

		p = next;
		if (!run || comment) {
			comment = open && comments && comment_after(l, comment);
			continue;
		}
		if (open && bare && *t.start == mark && run >= open) {
			add_span(&s, line_start, false);
			open = 0;
		} else if (!open || !bare) {
			struct span inner = { .start = next };

			parse_info(t.start + run, t.end, &inner);
			if (open && !is_label_of(inner.label))
				continue;
			if (open && is_label_of(s.label))
				add_span(&s, line_start, false);
			s = inner;
			open = run;
			mark = *t.start;
		}
	}
	if (open)
		add_span(&s, end, true);
	return !open;
}

/* The longest span that ACCEPT takes; in a tie the later one. */
static struct span *
longest(bool labelled, bool named)
{
	struct span *best = NULL;

	kforeach_of(s, spans.at, spans.count) {
		if ((labelled && !is_label_of(s->label)) || (!named && *s->path))
			continue;
		if (solid_chars(s->start, s->end) < KEXTRACT_MIN_CHARS)
			continue;
		if (!best || s->end - s->start >= best->end - best->start)
			best = s;
	}
	return best;
}

/*
 * Code in its stored form: no BOM, no stray language word, LF line ends, no blank lines around it.
 */
static char *
clean(const char *p, const char *end)
{
	struct kbuf b = { 0 };
	struct line l, t;
	const char *next;
	char word[16];

	p += kbom(p, (size_t)(end - p));
	while (p < end) {
		next = next_line(p, end, &l);
		t = trim(l);
		snprintf(word, sizeof word, "%.*s",
		    (int)(t.end - t.start > 15 ? 15 : t.end - t.start), t.start);
		if (t.start < t.end && !is_stray(word))
			break;
		p = next;
	}
	while (p < end) {
		p = next_line(p, end, &l);
		kbuf_add(&b, l.start, (size_t)(l.end - l.start));
		kbuf_puts(&b, "\n");
	}
	while (b.len && kis_space(b.data[b.len - 1]))
		b.len--;
	kbuf_puts(&b, "\n");
	return b.data;
}

static bool
take(const char *p, const char *end, const char *how)
{
	char *code;

	if (solid_chars(p, end) < KEXTRACT_MIN_CHARS)
		return false;
	code = clean(p, end);
	if (solid_chars(code, code + strlen(code)) < KEXTRACT_MIN_CHARS) {
		free(code);
		return false;
	}
	result->code = code;
	result->how = how;
	return true;
}

/* Named fences other than the program become files; if a name occurs twice, the last one counts. */
static void
take_files(const struct span *main_span)
{
	kforeach_of(s, spans.at, spans.count) {
		size_t k = 0;

		if (s == main_span || !*s->path || !strcmp(s->path, main_span->path))
			continue;
		while (k < result->file_count && strcmp(result->files[k].path, s->path))
			k++;
		if (k == KEXTRACT_MAX_FILES)
			continue;
		if (k == result->file_count)
			result->file_count++;
		free(result->files[k].content);
		snprintf(result->files[k].path, sizeof result->files[k].path, "%s", s->path);
		result->files[k].content = clean(s->start, s->end);
	}
}

static bool
from_fences(const char *p, const char *end)
{
	struct span *s;
	const char *how = "label";

	/*
	 * If a comment seems to swallow the closing fence, recognising the comment was the mistake.
	 */
	if (backend_syntax(wanted) == KTOKEN_PYTHON || !find_fences(p, end, true))
		find_fences(p, end, false);
	s = longest(true, !several);
	if (!s && several)
		s = longest(true, true);
	if (!s) {
		s = longest(false, true);
		how = "fence";
	}
	if (s && take(s->start, s->end, how)) {
		result->unclosed = s->unclosed;
		if (several)
			take_files(s);
	}
	return result->code != NULL;
}

/*
 * Text between <LANGUAGE> and </LANGUAGE>; the longest such text, unwrapped if it is a fence
 * itself.
 */
static bool
from_tags(const char *text)
{
	char open[32], close[32];
	const char *best = NULL, *best_end = NULL;

	if ((size_t)snprintf(open, sizeof open, "<%s>", wanted) >= sizeof open)
		return false;
	snprintf(close, sizeof close, "</%s>", wanted);
	for (const char *p = strcasestr(text, open); p; p = strcasestr(p, open)) {
		const char *end = strcasestr(p += strlen(open), close);

		if (!end)
			break;
		if (!best || end - p > best_end - best) {
			best = p;
			best_end = end;
		}
	}
	if (!best)
		return false;
	if (from_fences(best, best_end))
		result->how = "tag";
	return result->code || take(best, best_end, "tag");
}

static bool
is_c_line(struct line t)
{
	static const char starts[] = "\\A(?:#(?:include|define|pragma|if|el|endif|undef|(?= "
	                             "...))|//|/\\*|\\*/|}|static |void "
	                             "|inline |const |typedef |struct "
	                             "|template|__global__|__kernel|extern \"C\"|"
	                             "(?:for|if|while|switch) ?\\(|else)",
	                  /* A prototype, or an expression that continues on the next line. */
	    ends[] = "[{};]\\z|\\A(?=.*[(=])(?=.*\\*).*[,()+*/&|=\\\\-]\\z";
	size_t n = (size_t)(t.end - t.start);

	return kregex_find(starts, t.start, n, NULL, 0) || kregex_find(ends, t.start, n, NULL, 0);
}

static bool
is_python_line(struct line t, bool indented)
{
	static const char sure[] = "\\A(?:import |from |def |class |@|return |for |if |while |with "
	                           "|else:|elif |try:|"
	                           "except|#|tl\\.|torch\\.)|\\(\\z";
	size_t n = (size_t)(t.end - t.start);

	return kregex_find(sure, t.start, n, NULL, 0) ||
	    (indented && kregex_find("[=(]|[],)}]\\z", t.start, n, NULL, 0));
}

/* The longest run of lines that look like code, with the blank and comment lines in it. */
static bool
from_lines(const char *text, const char *end)
{
	const char *run = NULL, *run_end = NULL, *best = NULL, *best_end = NULL;
	bool python = backend_syntax(wanted) == KTOKEN_PYTHON, comment = false;

	for (const char *p = text; p < end;) {
		struct line l;
		const char *start = p;
		struct line t;
		bool code;

		p = next_line(p, end, &l);
		t = trim(l);
		if (t.start == t.end)
			continue;
		code = python ? is_python_line(t, t.start > l.start) : comment || is_c_line(t);
		comment = code && comment_after(l, comment);
		if (!code) {
			run = NULL;
			continue;
		}
		if (!run)
			run = start;
		run_end = l.end;
		if (!best || run_end - run > best_end - best) {
			best = run;
			best_end = run_end;
		}
	}
	if (!best || (!python && !memchr(best, '{', (size_t)(best_end - best))))
		return false;
	return take(best, best_end, "lines");
}

bool
kextract(const char *text, size_t len, const char *language, bool bundle, struct kextract *x)
{
	/* Files saved by some editors begin with a byte order mark, and a fence may follow it. */
	size_t skip = kbom(text, len);
	auto_free char *copy = kmalloc(len + 1);

	text += skip;
	len -= skip;
	*x = (struct kextract){ .how = "" };
	wanted = language;
	several = bundle;
	result = x;
	/* The search functions would stop at a NUL. */
	for (size_t i = 0; i < len; i++)
		copy[i] = text[i] ?: ' ';
	copy[len] = '\0';
	(void)(from_tags(copy) || from_fences(copy, copy + len) || from_lines(copy, copy + len));
	return x->code != NULL;
}

void
kextract_free(struct kextract *x)
{
	free(x->code);
	kforeach_of(file, x->files, x->file_count)
		free(file->content);
	*x = (struct kextract){ .how = "" };
}

bool
kextract_takes_edits(const char *program, bool bundle)
{
	return program && !bundle && strlen(program) >= KEXTRACT_LONG;
}
