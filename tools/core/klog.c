/* SPDX-License-Identifier: Apache-2.0 */
/* klog: see klog.h. */
#include "klog.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kutil.h"

enum { LINE_MAX_BYTES = 400 };

struct lines {
	char **at; /* point into one text, each NUL-terminated */
	size_t count, cap;
};

/*
 * Length of the valid UTF-8 sequence at S (LEFT bytes), or 0; surrogates and overlong forms are not
 * valid.
 */
static size_t
utf8_len(const unsigned char *s, size_t left, unsigned *code)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1
	    : s[0] >> 5 == 6   ? 2
	    : s[0] >> 4 == 14  ? 3
	    : s[0] >> 3 == 30  ? 4
	                       : 0;

	if (!n || n > left)
		return 0;
	*code = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3fu);
	}
	return *code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : n;
}

/* Characters that are not seen, or that change the order in which others are seen. */
static bool
is_invisible(unsigned c)
{
	static const struct {
		unsigned from, to;
	} ranges[] = {
		{ 0x80, 0x9f },
		{ 0xad, 0xad },
		{ 0x61c, 0x61c },
		{ 0x200b, 0x200f },
		{ 0x202a, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < LEN(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

/* Bytes of the terminal escape at S: CSI and OSC sequences whole, else the ESC and one more. */
static size_t
escape_len(const char *s, size_t left)
{
	size_t n = 2;

	if (left < 2)
		return left;
	if (s[1] == '[') {
		while (n < left && (unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x40)
			n++;
		return n < left ? n + 1 : n;
	}
	if (s[1] == ']') {
		while (n < left && s[n] != '\a' && s[n] != '\n' &&
		    !(s[n] == '\033' && n + 1 < left && s[n + 1] == '\\'))
			n++;
		return n < left && s[n] == '\033' ? n + 2 : n < left && s[n] == '\a' ? n + 1 : n;
	}
	return s[1] == '\n' ? 1 : 2;
}

char *
klog_clean(const char *log, size_t len)
{
	struct kbuf b = { 0 };
	size_t line = 0;

	kbuf_add(&b, "", 0);
	for (size_t i = 0, n; i < len; i += n) {
		unsigned code = 0;

		n = utf8_len((const unsigned char *)log + i, len - i, &code);
		if (log[i] == '\033') {
			n = escape_len(log + i, len - i);
		} else if (log[i] == '\r') {
			if (i + 1 < len && log[i + 1] != '\n' && log[i + 1] != '\r')
				b.len = line;
		} else if (!n || (code < 0x20 && code != '\n' && code != '\t') || code == 0x7f) {
			n = 1;
			kbuf_puts(&b, "?");
		} else if (!is_invisible(code)) {
			kbuf_add(&b, log + i, n);
			line = log[i] == '\n' ? b.len : line;
		}
	}
	b.data[b.len] = '\0';
	return b.data;
}

/* Length of the longest prefix of TEXT of at most MAX bytes that ends between characters. */
static size_t
whole_prefix(const char *text, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

char *
klog_clip(const char *text, size_t max)
{
	size_t len = strlen(text), keep = whole_prefix(text, len, max);

	if (keep == len)
		return kstrdup(text);
	return kasprintf("%.*s\n[... %zu bytes cut ...]\n", (int)keep, text, len - keep);
}

static void
push(struct lines *l, char *line)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->at = krealloc(l->at, l->cap * sizeof *l->at);
	}
	l->at[l->count++] = line;
}

static struct lines
split(char *text)
{
	struct lines l = { 0 };

	for (char *p = text, *next; *p; p = next) {
		next = strchrnul(p, '\n');
		if (*next)
			*next++ = '\0';
		push(&l, p);
	}
	return l;
}

static bool
is_error(const char *line)
{
	static const char *const marks[] = { "error:", "Error:", "ERROR:", "undefined reference",
		"multiple definition", "ld returned", "fatal error", "nvcc fatal",
		": undefined symbol", "ptxas fatal", "cannot find -l" };

	for (size_t i = 0; i < LEN(marks); i++)
		if (strstr(line, marks[i]))
			return true;
	return false;
}

/* "FILE:LINE:COL: warning: ..." or "note:" about a file outside the candidate. */
static bool
is_foreign_remark(const char *line)
{
	const char *colon = strchr(line, ':');

	return *line == '/' && colon && !is_error(line) &&
	    (strstr(line, " warning: ") || strstr(line, " note: "));
}

/* Source lines and markers under a diagnostic: indented, "   12 | code" or "      |  ^~~". */
static bool
is_snippet(const char *line)
{
	const char *p = line + strspn(line, " \t0123456789");

	return p > line && *p == '|';
}

static bool
is_stack_line(const char *line)
{
	const char *p = line + strspn(line, " \t");

	return !strncmp(p, "In file included from", 21) || (p > line && !strncmp(p, "from ", 5)) ||
	    strstr(line, "required from") || strstr(line, "in instantiation of");
}

/* "file.c: In function 'f':" and "file.c: At top level:" introduce the diagnostics that follow. */
static bool
is_context(const char *line)
{
	size_t n = strlen(line);

	return n && line[n - 1] == ':' &&
	    (strstr(line, ": In ") || strstr(line, ": At ") || strstr(line, ": in function"));
}

static bool
is_command(const char *line)
{
	static const char *const compilers[] = { "gcc", "g++", "cc", "c++", "clang", "clang++",
		"nvcc", "hipcc", "icpx" };
	size_t n = strcspn(line, " ");
	const char *name = memrchr(line, '/', n);

	name = name ? name + 1 : line;
	n -= (size_t)(name - line);
	for (size_t i = 0; i < LEN(compilers); i++)
		if (strlen(compilers[i]) == n && !memcmp(compilers[i], name, n))
			return line[strcspn(line, " ")] == ' ';
	return false;
}

/* Drops the lines for which KEEP is false. */
static void
compact(struct lines *l, const bool *keep)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++)
		if (keep[i])
			l->at[n++] = l->at[i];
	l->count = n;
}

/*
 * What stands before the first error goes, but for the context and the include stack right above
 * it.
 */
static void
start_at_error(struct lines *l)
{
	size_t first = 0;

	while (first < l->count && !is_error(l->at[first]))
		first++;
	if (first == l->count)
		return;
	while (first &&
	    (is_context(l->at[first - 1]) || is_stack_line(l->at[first - 1]) ||
	        is_command(l->at[first - 1])))
		first--;
	memmove(l->at, l->at + first, (l->count - first) * sizeof *l->at);
	l->count -= first;
}

static void
drop_foreign(struct lines *l)
{
	bool *keep = kcalloc(l->count + 1, sizeof *keep), foreign = false;

	for (size_t i = 0; i < l->count; i++) {
		foreign = is_foreign_remark(l->at[i]) || (foreign && is_snippet(l->at[i]));
		keep[i] = !foreign;
	}
	compact(l, keep);
	free(keep);
}

/* Of a stack of more than two lines the first and the last stay. */
static void
collapse_stacks(struct lines *l)
{
	bool *keep = kcalloc(l->count + 1, sizeof *keep);

	for (size_t i = 0, end; i < l->count; i = end) {
		for (end = i; end < l->count && is_stack_line(l->at[end]); end++)
			keep[end] = false;
		if (end == i)
			keep[end++] = true;
		else
			keep[i] = keep[end - 1] = true;
	}
	compact(l, keep);
	free(keep);
}

static void
drop_repeats(struct lines *l)
{
	bool *keep = kcalloc(l->count + 1, sizeof *keep);

	for (size_t i = 0; i < l->count; i++)
		keep[i] = !i || strcmp(l->at[i], l->at[i - 1]);
	compact(l, keep);
	free(keep);
}

static bool
is_path_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("/._+-", c));
}

/*
 * Absolute paths of two components or more lose all but the last one: they say where this machine
 * keeps its files.
 */
static void
shorten_paths(char *line)
{
	char *out = line;

	for (char *p = line; *p;) {
		char *end = p, *last = p;

		if (*p != '/' || p[1] == '/' || (p > line && is_path_char(p[-1]))) {
			*out++ = *p++;
			continue;
		}
		for (; is_path_char(*end); end++)
			if (*end == '/' && is_path_char(end[1]) && end[1] != '/')
				last = end;
		p = last > p ? last + 1 : p;
		while (p < end)
			*out++ = *p++;
	}
	*out = '\0';
}

static bool
is_source(const char *word)
{
	static const char *const ends[] = { ".c", ".cc", ".cpp", ".cxx", ".cu", ".hip", ".cl", ".o",
		".s" };
	size_t n = strlen(word);

	for (size_t i = 0; i < LEN(ends); i++)
		if (n > strlen(ends[i]) && !strcmp(word + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* A command line keeps the compiler, the sources and the output. */
static void
shorten_command(char *line)
{
	char *save = NULL, *copy, *out = line;
	bool output = false, first = true;

	if (!is_command(line))
		return;
	copy = kstrdup(line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (first || output || !strcmp(w, "-o") || is_source(w))
			out += sprintf(out, "%s%s", first ? "" : " ", w);
		output = !strcmp(w, "-o");
		first = false;
	}
	free(copy);
}

/* Error lines that do not stand in the kept part, up to MAX bytes of them. */
static void
append_lost(struct kbuf *out, const char *cut, size_t max)
{
	size_t start = out->len;

	for (const char *p = cut, *next; *p; p = next) {
		char *line;

		next = strchrnul(p, '\n');
		line = kstrndup(p, (size_t)(next - p));
		next += *next == '\n';
		if (is_error(line) && out->len - start + strlen(line) + 1 <= max)
			kbuf_printf(out, "%s\n", line);
		free(line);
	}
}

static char *
join(const struct lines *l, size_t max, size_t lost)
{
	struct kbuf all = { 0 }, out = { 0 };
	size_t keep;

	kbuf_add(&all, "", 0);
	for (size_t i = 0; i < l->count; i++) {
		size_t len = strlen(l->at[i]), n = whole_prefix(l->at[i], len, LINE_MAX_BYTES);

		kbuf_add(&all, l->at[i], n);
		kbuf_puts(&all, n < len ? "...\n" : "\n");
	}
	keep = whole_prefix(all.data, all.len, max);
	/* Between lines rather than within one, when that costs little. */
	if (keep < all.len) {
		const char *nl = memrchr(all.data, '\n', keep);

		if (nl && keep - (size_t)(nl - all.data) < LINE_MAX_BYTES + 8)
			keep = (size_t)(nl - all.data) + 1;
	}
	kbuf_add(&out, all.data, keep);
	if (keep < all.len) {
		kbuf_printf(&out, "[... %zu bytes cut ...]\n", all.len - keep);
		append_lost(&out, all.data + keep, lost);
	}
	kbuf_free(&all);
	return out.data;
}

char *
klog_compiler(const char *log, size_t len, size_t max, size_t lost)
{
	char *text = klog_clean(log, len), *out;
	struct lines l = split(text);

	start_at_error(&l);
	drop_foreign(&l);
	collapse_stacks(&l);
	for (size_t i = 0; i < l.count; i++) {
		shorten_command(l.at[i]);
		shorten_paths(l.at[i]);
	}
	drop_repeats(&l);
	out = join(&l, max, lost);
	free(l.at);
	free(text);
	return out;
}
