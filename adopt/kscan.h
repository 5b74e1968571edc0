/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kscan: the top level of a C, C++ or CUDA source: includes, macros, types, variables, functions;
 * their names and what they use; signatures, kernel launches, constants. It handles comments,
 * strings, braces and preprocessor lines, but no semantics. It accepts any bytes and never fails.
 */
#pragma once

#include <jansson.h>

#include "kutil.h"

enum kscan_kind {
	KSCAN_INCLUDE,     /* its name is the file; SYSTEM: in angle brackets */
	KSCAN_MACRO,       /* #define */
	KSCAN_DIRECTIVE,   /* any other line of the preprocessor */
	KSCAN_GROUP,       /* #if to #endif, with everything between */
	KSCAN_FUNCTION,    /* with its body */
	KSCAN_DECLARATION, /* types, variables, prototypes */
	KSCAN_OPEN,
	KSCAN_CLOSE /* "namespace x {" or "extern "C" {", and its end */
};

struct kscan_item {
	const struct kscan *in; /* which must not move */
	enum kscan_kind kind;
	size_t lead;                /* where its comment begins; FROM if there is none */
	size_t from, to;            /* bytes of the text */
	size_t name_at, open, body; /* for a function: its name, its '(' and its '{' */
	/* what it declares, owned; "f" and "C::f" for a function that is defined as C::f */
	char **names;
	size_t name_count;
	bool system;
	size_t depth; /* number of namespaces and the like around it */
	/* marks of bundle.c and splice.c, which this module does not set */
	bool kept, seen, own, dead;
};

/* Parentheses after one of these declare nothing: an expression for kregex. */
#define KSCAN_ATTRIBUTES \
	"__attribute__|__attribute|alignas|_Alignas|__align__|__declspec|__launch_bounds__|" \
	"__cluster_dims__|asm|__asm__|_Static_assert|static_assert|sizeof"

struct kscan {
	const char *text; /* borrowed */
	char *code;       /* the same length, with comments and strings blanked; owned */
	size_t len;
	struct kscan_item *items;
	size_t count;
	/* functions that types of C++ define between their braces, with both names */
	struct kscan_item *members;
	size_t member_count;
	struct kscan_launch *launches; /* in the order of the text */
	size_t launch_count;
	const struct kscan *whole; /* of what is inside a type: the text around it */
	bool unclosed;             /* a brace or a group is not closed */
	bool through;              /* made by kscan_through */
};

/*
 * TEXT must outlive S. An include guard around all of it is ignored; "#if 0" is a comment. THROUGH:
 * every #if is ignored, so the contents of its branches follow one another. Free with kscan_free.
 */
void kscan_bytes(const char *text, size_t len, bool through, struct kscan *s);
#define kscan(text, s) kscan_bytes(text, strlen(text), false, s)
#define kscan_through(text, s) kscan_bytes(text, strlen(text), true, s)
void kscan_free(struct kscan *s);
/* A variable with this is freed at the end of its block. */
#define auto_scan __attribute__((cleanup(kscan_free)))
/* TEXT as code without comments and strings, which is not scanned and not to be freed. */
static inline struct kscan
kscan_code(const char *text)
{
	return (struct kscan){ .text = text, .code = (char *)text, .len = strlen(text) };
}
/* For every item X of S. */
#define kscan_items(x, s) for (struct kscan_item *x = (s)->items; x < (s)->items + (s)->count; x++)

/*
 * The function NAME with its body, or a member "C::f"; NULL: there is none outside groups. If there
 * are several, the last.
 */
const struct kscan_item *kscan_function(const struct kscan *s, const char *name);
/* The item that contains the place AT; NULL: none. */
const struct kscan_item *kscan_at(const struct kscan *s, size_t at);
/*
 * Scans TEXT, which has LEN bytes: through its groups if the function NAME is not outside them.
 * That function; NULL: there is none.
 */
const struct kscan_item *kscan_named(
    const char *text, size_t len, const char *name, struct kscan *s);
bool kscan_declares(const struct kscan_item *x, const char *name);
/* The whole name of a function, "C::f"; of another item its last name, or "" if it has none. */
const char *kscan_whole(const struct kscan_item *x);
/* "f" of "C::f"; and "C", or "" if there is none, which the caller frees. */
const char *kscan_plain(const char *name);
char *kscan_path(const char *name);
/* Is it a name like "C::f"? */
bool kscan_has_path(const char *name);
/*
 * What the type X declares and defines between its braces, with places in the whole text; false: it
 * has no braces. Free IN with kscan_free.
 */
bool kscan_inside(const struct kscan_item *x, struct kscan *in);
/* Is the operand that ends at P modified there: by "=", "+=", "++" and the like, or by ".x ="? */
bool kscan_assigns(const struct kscan *s, size_t p, size_t to);
/* Does this word ("static"), one of several, or a macro for it, come before the item's name? */
bool kscan_has_word(const struct kscan_item *x, const char *words);
/* Does it contain the identifier NAME, or one of several; does it match PATTERN, a literal? */
bool kscan_mentions(const struct kscan_item *x, const char *name);
bool kscan_looks(const struct kscan_item *x, const char *pattern);

/* The macro X's replacement, in the form of kscan_tidy; NULL: none, or parameters. To be freed. */
char *kscan_macro(const struct kscan_item *x);

/*
 * Places in the code, from one at P up to a limit TO, or back to FROM. Comments and strings are
 * blank there.
 */

static inline bool
kscan_begins_word(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}
/* After, or before, the blanks at P; after the word at P. */
size_t kscan_blank(const struct kscan *s, size_t p, size_t to);
size_t kscan_back(const struct kscan *s, size_t p, size_t from);
size_t kscan_word(const struct kscan *s, size_t p, size_t to);
/* After the word at P and the blanks that follow it. */
size_t kscan_next(const struct kscan *s, size_t p, size_t to);
/* The bracket that closes the one at P; TO: none. Alternatives of a group count once. */
size_t kscan_close(const struct kscan *s, size_t p, size_t to);
/* The '(' around the place P; *COMMAS: how many commas are between. */
size_t kscan_open(const struct kscan *s, size_t p, size_t from, size_t *commas);
/* After the word, the brackets with all between, the preprocessor's line, or the character at P. */
size_t kscan_after(const struct kscan *s, size_t p, size_t to);
/* The ',' at which the part at P ends: outside brackets, with ANGLES also outside "<>". */
size_t kscan_part(const struct kscan *s, size_t p, size_t to, bool angles);
/*
 * The texts of all parts up to TO, without blanks around them; none if all is blank. New reference.
 */
json_t *kscan_parts(const struct kscan *s, size_t from, size_t to, bool angles);
/* The same for a whole text. */
json_t *kscan_list(const char *text, bool angles);
/* After "<…>" at P, and the text before it. */
size_t kscan_angle_end(const struct kscan *s, size_t p, size_t to);
/* Where the name at P begins, including a path before it: "C::" or "n::C::". */
size_t kscan_path_start(const struct kscan *s, size_t from, size_t p);
/* Where the name before P begins, perhaps with a path; *END: before its template arguments. */
size_t kscan_name_before(const struct kscan *s, size_t p, size_t from, size_t *end);
/* The '#' of the next line from P on with a branch, and what it does; TO: none. */
enum kscan_branch { KSCAN_NO_BRANCH, KSCAN_IF, KSCAN_ELSE, KSCAN_ENDIF };
size_t kscan_branch(const struct kscan *s, size_t p, size_t to, enum kscan_branch *b);
/* Is the text from P to END one of these words? */
bool kscan_among(const struct kscan *s, size_t p, size_t end, const char *words);
/* The next identifier from *AT on: where it begins and ends. False: there is none. */
bool kscan_identifier(const struct kscan *s, size_t *at, size_t to, size_t *end);
/* For every such identifier, from P to END. */
#define kscan_words(p, end, s, from, to) \
	for (size_t p = (from), end; kscan_identifier(s, &p, to, &end); p = end)
/* The next place of the identifier NAME, or of one of several with blanks between; TO: none. */
size_t kscan_find(const struct kscan *s, size_t from, size_t to, const char *name);
bool kscan_uses(const struct kscan *s, size_t from, size_t to, const char *name);
/* For every such place AT. */
#define kscan_each(at, s, from, to, name) \
	for (size_t at = kscan_find(s, from, to, name); at < (to); \
	     at = kscan_find(s, at + 1, to, name))
/* The same in the body of the function F. */
#define kscan_in_body(at, f, name) kscan_each(at, (f)->in, (f)->body, (f)->to, name)
/* Is TEXT at P? Does the name at P follow a '.' or "->"? */
bool kscan_stands(const struct kscan *s, size_t p, const char *text);
bool kscan_is_member(const struct kscan *s, size_t p);
/* Does the code there match the regular expression PATTERN, a literal? */
bool kscan_matches(const struct kscan *s, size_t from, size_t to, const char *pattern);
/* The code there, to be freed. */
char *kscan_copy(const struct kscan *s, size_t from, size_t to);
/* The code with single blanks between words and no others; the caller frees. */
char *kscan_tidy(const struct kscan *s, size_t from, size_t to);

struct kscan_param {
	/* the type without const, restrict and stars, words separated by one blank */
	char *name, *type;
	/* for a pointer or an array of any number of dimensions: 1 or more */
	int stars;
	int rows;      /* dimensions of an array beyond the first: "a[n][m]" has 1 */
	bool constant; /* it points to const */
	bool strange;  /* a reference, a pointer to a function or to an array: see TEXT */
	char *text;    /* the unchanged source text */
};

struct kscan_signature {
	/* the text before the name, without attributes: "static void",
	 * "template<class T>__global__ void" */
	char *result;
	struct kscan_param *params;
	size_t count;
	size_t close;  /* the ')' after the parameters */
	bool constant; /* a member that does not change its object */
};
/* For every parameter P of the signature G. */
#define kscan_params(p, g) kforeach_of(p, (g)->params, (g)->count)
/* Free it with kscan_signature_free. */
struct kscan_signature kscan_signature(const struct kscan_item *f);
void kscan_signature_free(struct kscan_signature *g);
/* Length of "template<…>" at the beginning of its result; 0: it is none. */
size_t kscan_template(const struct kscan_signature *g);
#define auto_signature __attribute__((cleanup(kscan_signature_free)))
/* Does a parameter of F, which is in no namespace, have F's own name, so that it hides F? */
bool kscan_hides(const struct kscan_item *f);
/*
 * The members of the type that X defines, one by one in the form of parameters: "float x, y[2];"
 * gives two. Free them with kscan_members_free.
 */
struct kscan_members {
	struct kscan_param *list;
	size_t count;
	/* there are others: a base, virtual functions, or something that is not understood */
	bool hidden;
};
struct kscan_members kscan_members(const struct kscan_item *x);
void kscan_members_free(struct kscan_members *m);
#define auto_members __attribute__((cleanup(kscan_members_free)))
/* Return type and parameters' types without names, in normalised form; the caller frees. */
char *kscan_signature_text(const struct kscan_signature *g);

/* The same for the function NAME in TEXT; NULL: it is not defined there. */
char *kscan_signature_of(const char *text, const char *name);

/* Does F compare two pointers, its parameters, as in "Q < P" or "P - Q"? */
bool kscan_compares(
    const struct kscan_item *f, const struct kscan_param *p, const struct kscan_param *q);
/*
 * The parameter of F into whose array its parameter P points: the two are compared, and nothing is
 * read or written through one of them. NULL: there is none.
 */
const struct kscan_param *kscan_base(
    const struct kscan_item *f, const struct kscan_signature *g, const struct kscan_param *p);
/*
 * The first parameter of F, a static function, that gets the same pointer as P in every call: they
 * are one array. NULL: there is none before P.
 */
const struct kscan_param *kscan_twin(
    const struct kscan_item *f, const struct kscan_signature *g, const struct kscan_param *p);

/*
 * The type that the name TYPE stands for in S, through a typedef or "using", with the stars that it
 * adds; an array is "float[4]"; NULL: none. To be freed.
 */
char *kscan_typedef(const struct kscan *s, const char *type, int *stars);
/* The same, as defined by the item X. */
char *kscan_typedef_of(const struct kscan_item *x, int *stars);

/* One kernel<<<grid, block, shared, stream>>>(...). */
struct kscan_launch {
	char *kernel, *arguments; /* "soften", "<float, 1>" or "" */
	char *grid, *block;       /* the unchanged source text */
	char *shared, *stream;    /* the same, or "" */
	char *call;               /* the kernel's arguments, without parentheses */
	size_t at, to;            /* from the kernel's name to after the ')' */
	size_t config, config_to; /* its "<<<" and its ">>>" */
};
/* Those in the function F: the first, and their COUNT. */
const struct kscan_launch *kscan_launches(const struct kscan_item *f, size_t *count);
/* For kscan itself: finds them all, and frees them. */
void kscan_find_launches(struct kscan *s);
void kscan_free_launches(struct kscan *s);

/* Names with values in addition to those of the source: an object of numbers. May be NULL. */
struct kscan_scope {
	/* searched for macros, constants and enumerators: first that of the place */
	const struct kscan *const *sources;
	size_t count;
	const struct kscan_item *f; /* the current function, for its own constants; or NULL */
	const json_t *values;
};
/* The integer value of EXPRESSION; false if the source does not determine it. */
bool kscan_number(const struct kscan_scope *scope, const char *expression, int64_t *value);
/* The same for a dim3: a name declared as one, dim3(…), or a number; y and z are 1 if not given. */
bool kscan_dim3(const struct kscan_scope *scope, const char *expression, int64_t triple[3]);
