/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktoken: just enough of a tokeniser for C-like languages and Python to tell code from comments and
 * strings, and to tell whether two sources are the same program written down differently. It
 * accepts any bytes and never fails.
 */
#pragma once

#include "kutil.h"

enum ktoken_lang {
	KTOKEN_C,     /* C, C++, CUDA, HIP, OpenCL, SYCL */
	KTOKEN_PYTHON /* Python, Triton */
};

/* What a text consists of. A literal is a string or character; ENDING is not used. */
enum ktoken_kind {
	KTOKEN_NEWLINE = 1,
	KTOKEN_BLANK,
	KTOKEN_COMMENT,
	KTOKEN_STRING,
	KTOKEN_ENDING,
	KTOKEN_NUMBER,
	KTOKEN_WORD,
	KTOKEN_SIGN,
	KTOKEN_KINDS
};
struct ktoken {
	size_t from, to;
	enum ktoken_kind kind;
	bool directive; /* inside a preprocessor line */
};
/* Reads the parts of SRC, which stays the caller's, one after the other; false at the end. */
void ktoken_start(const char *src, size_t len, enum ktoken_lang lang);
bool ktoken_next(struct ktoken *t);

/* Language for the label of a code fence: "python", "python3", "py"; all others are C-like. */
enum ktoken_lang ktoken_lang_of(const char *name);

/*
 * Copy of SRC, NUL-terminated, with the same length and lines, in which comments and the insides of
 * string and character literals are blanked out. Strings that are code are kept: those within
 * asm(...), _Pragma(...) and inline_asm_elementwise(...), and those in #include and #pragma lines.
 * An unterminated literal ends with its line, a triple-quoted or raw one with the text. The caller
 * frees.
 */
char *ktoken_strip(const char *src, size_t len, enum ktoken_lang lang);

/*
 * Hash of the sequence of tokens: the first 16 hex digits of SHA-256 over them, each preceded by
 * its length. Comments, blanks and line breaks do not count, except where they have a meaning: the
 * end of a preprocessor line, "#define F(x)" against "#define F (x)", and Python's lines and
 * indentation. Equal hashes mean equal programs; the reverse is not guaranteed.
 */
void ktoken_hash_as(const char *src, size_t len, enum ktoken_lang lang, char hex[17]);
/* The same for C-like languages. */
void ktoken_hash(const char *src, size_t len, char hex[17]);
