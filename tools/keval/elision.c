/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elision: detects a program with parts left out. This is reported before anything is built: the
 * compiler's messages would help little, and the program may even build, and be wrong.
 */

#include "keval.h"

enum { SHOWN = 80 };

/*
 * Lines that stand for omitted code. Dots with another meaning, as in "0, 1, ..., n", do not count.
 */
static const char *const forms[] = {
	"(?im)^[ \\t]*(//|/\\*|#)?[ \\t]*[\\[(]?(\\.{3,}|\xe2\x80\xa6)[\\])]?"
	"[ \\t]*(\\*/)?[ \\t]*$",
	"(?im)(//|/\\*|#)[ \\t]*[\\[(]?(\\.{3,}|\xe2\x80\xa6)[^\\n]{0,60}"
	"\\b(rest|remain|unchanged|omitted|existing|same as|as before|as above|previous|here)",
	"(?im)(//|/\\*|#)[^\\n]{0,60}"
	"\\b(rest|remain|unchanged|omitted|existing|same as|as before|as above)"
	"[^\\n]{0,40}(\\.{3,}|\xe2\x80\xa6)[ \\t]*(\\*/)?[ \\t]*$",
	"(?im)(//|/\\*|#)[ \\t]*[\\[(]?(the )?(rest|remainder) (of (the|this) \\w+ )?"
	"((is|are|remains?|stays?) )?(the same|unchanged|omitted|as before|as above)",
	"(?im)(//|/\\*|#)[ \\t]*[\\[(]?(existing|previous|original) (code|kernel|implementation)"
	"( (here|unchanged|goes here|as before))?[\\])]?[ \\t]*(\\*/)?[ \\t]*$",
};

char *
elided_part(const char *code)
{
	struct kregex_span at[1];

	kforeach(form, forms)
		if (kregex_match(*form, code, at)) {
			auto_free char *line = kfence_line(code + at->from, SHOWN);

			return kasprintf("line %zu, '%.*s', stands for code that was left out",
			    kline_at(code, at->from), (int)(at->to - at->from), line);
		}
	return NULL;
}
