/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elision: detects a program with parts left out. This is reported before anything is built: the
 * compiler's messages would help little, and the program may even build, and be wrong.
 */

#include "keval.h"
#include "kfence.h"
#include "kregex.h"

enum { SHOWN = 80 };

/*
 * Lines that stand for omitted code. Dots with another meaning, as in "0, 1, ..., n", do not count.
 */
static const char *const forms[] = {
	"^[ \\t]*(//|/\\*|#)?[ \\t]*[\\[(]?(\\.{3,}|\xe2\x80\xa6)[\\])]?[ \\t]*(\\*/)?[ \\t]*$",
	"(//|/\\*|#)[ \\t]*[\\[(]?(\\.{3,}|\xe2\x80\xa6)[^\\n]{0,60}"
	"\\b(rest|remain|unchanged|omitted|existing|same as|as before|as above|previous|here)",
	"(//|/\\*|#)[^\\n]{0,60}\\b(rest|remain|unchanged|omitted|existing|same as|as before|as "
	"above)"
	"[^\\n]{0,40}(\\.{3,}|\xe2\x80\xa6)[ \\t]*(\\*/)?[ \\t]*$",
	"(//|/\\*|#)[ \\t]*[\\[(]?(the )?(rest|remainder) (of (the|this) \\w+ )?"
	"((is|are|remains?|stays?) )?(the same|unchanged|omitted|as before|as above)",
	"(//|/\\*|#)[ \\t]*[\\[(]?(existing|previous|original) (code|kernel|implementation)"
	"( (here|unchanged|goes here|as before))?[\\])]?[ \\t]*(\\*/)?[ \\t]*$",
};

char *
elided_part(const char *code)
{
	struct kregex_span at = { 0 };
	char *found = NULL, *line;

	for (size_t i = 0; i < LEN(forms) && !found; i++) {
		struct kregex *re =
		    kregex_new("elision", NULL, forms[i], KREGEX_LINES | KREGEX_NOCASE);

		if (kregex_search(re, code, strlen(code), 0, &at) == KREGEX_FOUND) {
			long number = 1;

			for (size_t k = 0; k < at.from; k++)
				number += code[k] == '\n';
			line = kfence_line(code + at.from, SHOWN);
			line[strcspn(line, "\n")] = '\0';
			found = kasprintf("line %ld, '%.*s', stands for code that was left out",
			    number, (int)(at.to - at.from), line);
			free(line);
		}
		kregex_free(re);
	}
	return found;
}
