/* SPDX-License-Identifier: Apache-2.0 */
/* klog: see klog.h. */
#include "klog.h"

#include <ctype.h>

#include "kfence.h"

enum { LINE_MAX_BYTES = 400 };

struct lines {
	char **at; /* point into one text, each NUL-terminated */
	size_t count, cap;
};

char *
klog_clean(const char *log, size_t len)
{
	struct kbuf b = { 0 };
	size_t line = 0;

	kbuf_add(&b, "", 0);
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = kfence_next(log + i, len - i, &c);
		if (c == '\r') {
			if (i + 1 < len && log[i + 1] != '\n' && log[i + 1] != '\r')
				b.len = line;
		} else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
		    (c == KFENCE_INVALID && n == 1)) {
			kbuf_puts(&b, "?");
		} else if (kfence_is_seen(c)) {
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
	size_t n = strcspn(line, " ");
	const char *name = memrchr(line, '/', n);

	name = name ? name + 1 : line;
	return line[n] == ' ' &&
	    kis_listed(
	        "gcc g++ cc c++ clang clang++ nvcc hipcc icpx", name, (size_t)(line + n - name));
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

/* Whether line I stays. FOREIGN: the one before it belongs to a remark about another's file. */
static bool
stays(const struct lines *l, size_t i, bool *foreign)
{
	const char *line = l->at[i];

	*foreign = is_foreign_remark(line) || (*foreign && is_snippet(line));
	if (*foreign)
		return false;
	/* Of a stack of more than two lines the first and the last stay. */
	return !is_stack_line(line) || !i || !is_stack_line(l->at[i - 1]) || i + 1 == l->count ||
	    !is_stack_line(l->at[i + 1]);
}

/* Lines that say nothing of the program go. */
static void
drop_lines(struct lines *l)
{
	bool *keep = kcalloc(l->count + 1, sizeof *keep), foreign = false;
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++)
		keep[i] = stays(l, i, &foreign);
	for (size_t i = 0; i < l->count; i++)
		if (keep[i])
			l->at[n++] = l->at[i];
	l->count = n;
	free(keep);
}

static void
drop_repeats(struct lines *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++)
		if (!n || strcmp(l->at[i], l->at[n - 1]))
			l->at[n++] = l->at[i];
	l->count = n;
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
	const char *dot = strrchr(word, '.');

	return dot && dot > word &&
	    kis_listed(".c .cc .cpp .cxx .cu .hip .cl .o .s", dot, strlen(dot));
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
	drop_lines(&l);
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
