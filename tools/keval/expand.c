/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a compiler's preprocessor made of a candidate: which of its text comes from the
 * candidate's own files. Line markers tell: # LINE "FILE" FLAGS, with flag 1 where a file is
 * entered and 2 where it is left. Nothing else is believed of them: names and the flag for a
 * system header are a candidate's to choose, with #line and pragmas.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "keval.h"
#include "kutil.h"

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

/* Past the closing quote of the string at P, NULL when the line ends first. */
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
	if (!isdigit((unsigned char)*p))
		return false;
	p = skip_blanks(p + strspn(p, "0123456789"));
	if (*p != '"')
		return false;
	m->absolute = p[1] == '/';
	p = skip_string(p);
	for (p = p ? skip_blanks(p) : ""; isdigit((unsigned char)*p); p = skip_blanks(p)) {
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

bool
expand_has_marker(const char *code)
{
	struct marker m;

	for (const char *p = code; *p; p = next_line(p))
		if (read_marker(p, &m) && (m.enters || m.leaves))
			return true;
	return false;
}

/* Line breaks mean nothing any more, except around a pragma. */
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
	struct kbuf own = { 0 };
	struct marker m;

	kbuf_add(&own, "", 0);
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
