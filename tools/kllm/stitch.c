/* SPDX-License-Identifier: Apache-2.0 */
/* stitch: see stitch.h. */
#include "stitch.h"

#include <string.h>

enum { CODE_MIN = 64, OVERLAP_MAX = 200 };

/* What a scan of fences has seen. */
struct fences {
	char mark;        /* of the fence that is open; 0: none */
	size_t width;     /* of its mark */
	size_t inside;    /* bytes in it so far */
	bool closed_code; /* one of CODE_MIN bytes or more was closed */
};

static void
scan(struct fences *f, const char *text)
{
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n"), indent = strspn(p, " "), width = 0;
		char mark = p[indent] == '`' || p[indent] == '~' ? p[indent] : '\0';

		while (mark && p[indent + width] == mark)
			width++;
		if (f->mark && mark == f->mark && width >= f->width &&
		    indent + width + strspn(p + indent + width, " \r") == len) {
			f->closed_code |= f->inside >= CODE_MIN;
			f->mark = '\0';
		} else if (f->mark) {
			f->inside += len + 1;
		} else if (width >= 3) {
			*f = (struct fences){ mark, width, 0, f->closed_code };
		}
		p += len + (p[len] == '\n');
	}
}

bool
stitch_has_code(const char *text)
{
	struct fences f = { 0 };

	scan(&f, text);
	return f.closed_code && !f.mark;
}

void
stitch_join(struct kbuf *text, const char *more)
{
	size_t most = text->len < OVERLAP_MAX ? text->len : OVERLAP_MAX, len = strlen(more);
	struct fences f = { 0 };

	scan(&f, text->data);
	/* Told to go on inside the code, models like to open the fence again. */
	if (f.mark && (!strncmp(more, "```", 3) || !strncmp(more, "~~~", 3))) {
		const char *line = strchr(more, '\n');

		if (line && strspn(more, "`~") != (size_t)(line - more)) {
			more = line + 1;
			len = strlen(more);
		}
	}
	for (size_t n = most < len ? most : len; n; n--)
		if (!memcmp(text->data + text->len - n, more, n)) {
			more += n;
			break;
		}
	kbuf_puts(text, more);
}
