/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit: what is adopted when a function cannot be a task's entry as it stands. An entry takes plain
 * numbers and arrays and returns nothing. A unit says how a function of the application, or a
 * __global__ function with its launches, is called through such an entry:
 *
 *	float dot(const struct vector *a, float *b);        the application's
 *	void dot_entry(const float *a_data, int a_count,    the task's, with a text of its own,
 *	    float *b, float *result);                       which stands after it in the reference
 *
 * Observation wraps the application's function and records the entry's arguments. Extraction puts
 * the entry's text after the function. Integration takes the function, its helpers and no entry; it
 * takes the entry only where the winner's is another one: then launches, or the function's body,
 * become a call of it.
 */
#pragma once

#include "kscan.h"
#include "preprocess.h"

/* A source that is searched for functions, types, macros and launches. */
struct unit_source {
	const struct unit_sources *all;
	char *name;                  /* within the project */
	char *text;                  /* owned */
	struct origins origins;      /* for a preprocessed text */
	char *project;               /* the project's folder if it was preprocessed; or NULL */
	json_t *settings;            /* with which it was, as compile_settings returns them */
	bool guessed;                /* these are not the build's */
	bool tried;                  /* DECIDED is all that can be known */
	struct unit_source *decided; /* if it was not: for unit_decided */
	struct kscan scan;
};

struct unit_sources {
	struct unit_source *list;
	size_t count;
	json_t *index;   /* where names are declared: "name": [[source, item], …] */
	bool chosen;     /* only those for one file, so there is time to compile it */
	json_t *written; /* for unit_hides: what the texts define, a set; NULL: not needed */
	const char *project;
	const json_t *built; /* the settings that built it; NULL: unknown */
	json_t *macros;      /* names that its files define, if it is known */
	json_t *include;     /* its folders with headers */
};
/* The source as the compiler sees it, outside the index; S if it is, or if that is not possible. */
const struct unit_source *unit_decided(const struct unit_source *s);
/*
 * Do the project's texts define NAME, which those in S do not? Then it is under a condition that is
 * false here: NAME is a macro with arguments if it is all capitals, or a function that is DECLARED.
 */
bool unit_hides(const struct unit_sources *s, const char *name, bool declared);
/* The source in which the item X is. */
static inline const struct unit_source *
unit_source_of(const struct kscan_item *x)
{
	return (
	    const struct unit_source *)((const char *)x->in - offsetof(struct unit_source, scan));
}
/* The file and the line of a byte of X's source; the file is borrowed. */
struct origin unit_place(const struct kscan_item *x, size_t at);
/*
 * All sources of the folder PROJECT. C and C++ are preprocessed with the settings in
 * compile_commands.json or the folders of headers: all of them or, if FILE is not NULL, those
 * needed for that file, with the settings that BUILT it (NULL: unknown) if these work.
 */
void unit_sources_read(
    struct unit_sources *s, const char *project, const char *file, const json_t *built);
/*
 * Names of all sources of a folder, including headers, relative to it, and of headers next to it
 * that it refers to as "../NAME". New reference.
 */
json_t *unit_files(const char *project);
void unit_sources_free(struct unit_sources *s);
/*
 * The next item that declares NAME, from *I on: first in the source OWN, then in the others; NULL:
 * no more.
 */
const struct kscan_item *unit_item(const struct unit_source *own, const char *name, size_t *i);

/* For each such item X. */
#define unit_items(x, own, name) \
	for (size_t x##_next = 0, x##_once = 1; x##_once; x##_once = 0) \
		for (const struct kscan_item *x; (x = unit_item(own, name, &x##_next));)

/* One argument of the entry. */
struct unit_param {
	char *name;
	char *type;    /* for the entry's parameter, without const and stars: "float", "int" */
	char *value;   /* its value, expressed with the function's own parameters: "a->count" */
	bool pointer;  /* to elements of TYPE */
	bool constant; /* it points to const */
	bool bytes;    /* it points to a structure, passed here as bytes */
	bool cast;     /* VALUE has another type than TYPE, or points to one */
	char *size;    /* size of what it points to in bytes, expressed in the same way; NULL:
                        * unknown */
	char *guard;   /* pointers that must not be null for the value to exist, "a && a->b"; or
                        * NULL */
	/* for a place in an array: the pointer, and the argument that is the array; or NULL */
	char *place, *along;
	char *given; /* for a number that says whether an array is there: the array; or NULL */
	bool result; /* the function's return value */
	/*
	 * part of a launch, not a kernel's parameter: "grid_x" … "block_z", "shared_bytes",
	 * "stream"
	 */
	bool launch;
	char *text; /* its declaration, if it is an unchanged parameter; or NULL */
};

/* A launch of the kernel. */
struct unit_launch {
	const struct unit_source *source;
	const struct kscan_launch *at;   /* in it */
	const struct kscan_item *inside; /* the function around it, or NULL */
	bool other; /* for a template: another instance than the one the entry launches */
};

struct adopted_unit {
	char *name;  /* the application's function */
	char *entry; /* the task's function: NAME itself if it needs no text of its own */
	char *file;  /* within the project */
	size_t line, last_line;
	bool kernel; /* a __global__ function */
	const struct unit_source *source;
	const struct kscan_item *f; /* its definition there */
	char *text;                 /* of the entry, or NULL */
	json_t *names;              /* the function's own parameters */
	struct unit_param *params;
	size_t param_count;
	struct unit_launch *launches; /* of a kernel */
	size_t launch_count;
	json_t *sequence; /* names of the kernels that a host function launches; or NULL */
	bool waits;       /* it waits for them */
	json_t *doubts;   /* why it may not be as it seems, since settings are guessed: texts */
	/* what the entry relies on, from views/assume.jq; borrowed, NULL: nothing */
	const json_t *assumed;
};
/* For every parameter P of its entry; for every launch L. */
#define unit_params(p, u) kforeach_of(p, (u)->params, (u)->param_count)
#define unit_launches(l, u) kforeach_of(l, (u)->launches, (u)->launch_count)

/*
 * The unit of the function F. False: it cannot be made; every reason is a line in WHY. Free with
 * unit_free.
 */
bool unit_make(
    struct adopted_unit *u, const struct kscan_item *f, const json_t *assumed, struct kbuf *why);
/*
 * The same for the function NAME in FILE of a folder, in the form of unit_json; NULL, with lines in
 * WHY: it cannot be made. BUILT: see unit_sources_read. New reference.
 */
json_t *unit_named(const char *project, const char *file, const char *name, const json_t *built,
    const json_t *assumed, struct kbuf *why);
void unit_free(struct adopted_unit *u);
void unit_param_free(struct unit_param *p);
/*
 * The item I of S, or further on a function in the braces of a type; NULL: there are no more of
 * either.
 */
const struct kscan_item *unit_candidate(const struct unit_source *s, size_t i);
/* The function that contains a place of the text, or NULL. */
const struct kscan_item *unit_function_at(const struct kscan *s, size_t at);
/* Does the text before preprocessing contain F, outside #if, with the same parameters? */
bool unit_is_plain(const struct kscan_item *f);
/* Is the source C++, judged by its name or its contents? */
bool unit_is_cxx(const struct unit_source *s);
/* In the form of adopt/unit.json. New reference. */
json_t *unit_json(const struct adopted_unit *u);
/* For a kernel that is a template: does any launch of such a UNIT use other arguments? */
bool unit_has_other(const json_t *unit);
