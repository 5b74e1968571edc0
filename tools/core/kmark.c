/* SPDX-License-Identifier: Apache-2.0 */
/* kmark: see kmark.h. */
#include "kmark.h"

#include "kfence.h"

void
kmark_clean(struct kbuf *out, const char *text, size_t len)
{
	auto_free char *plain = kfence_marked(text, len);

	kbuf_puts(out, plain);
}

/* Characters with a meaning in HTML. */
static const char *const entities[UCHAR_MAX + 1] = {
	['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;"
};

void
kmark_html(struct kbuf *out, const char *text, size_t len)
{
	auto_free char *plain = kfence_marked(text, len);

	for (const char *p = plain; *p; p++)
		kbuf_puts(out, entities[(unsigned char)*p] ?: (char[]){ *p, '\0' });
}

/*
 * An underscore inside a word has no meaning in Markdown, and names are full of them; some
 * characters have a meaning only at the start of a line.
 */
void
kmark_md(struct kbuf *out, const char *text, size_t len)
{
	auto_free char *plain = kfence_marked(text, len);

	for (const char *p = plain; *p; p++) {
		bool first = p == plain,
		     inside = *p == '_' && !first && isalnum((unsigned char)p[-1]) &&
		    isalnum((unsigned char)p[1]);

		if (*p == '<' || *p == '&')
			kbuf_puts(out, entities[(unsigned char)*p]);
		else if (*p == '\n' || *p == '\t')
			kbuf_puts(out, " ");
		else if (!inside &&
		    (strchr("\\`*_[]|~$", *p) ||
		        (first && (strchr(">#", *p) || (strchr("+-", *p) && p[1] == ' ')))))
			kbuf_printf(out, "\\%c", *p);
		else
			kbuf_add(out, p, 1);
	}
}
