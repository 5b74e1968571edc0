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
#ifndef UNIT_H
#define UNIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kscan.h"
#include "preprocess.h"

/* A source that is looked through for functions, types, macros and launches. */
struct unit_source {
	char *name;             /* within the project */
	char *text;             /* owned */
	struct origins origins; /* of a text that was preprocessed */
	char *project;          /* the folder it is in, when it was; or NULL */
	struct kscan scan;
	struct kscan_launch *launches;
	size_t launch_count;
};

struct unit_sources {
	struct unit_source *list;
	size_t count;
	json_t *index; /* where names are declared: "name": [[source, item], …] */
};
/* Take TEXT, of the file NAME, over, and where it comes from when it was preprocessed. */
void unit_sources_add(struct unit_sources *s, const char *name, char *text, struct origins origins);
/* The file and the line of a byte of the text; the file is borrowed. */
const char *unit_place(const struct unit_source *s, size_t at, size_t *line);
/*
 * All sources of the folder PROJECT. C and C++ are preprocessed, with what compile_commands.json or
 * the folders of headers say: all of them or, where FILE is not NULL, what is needed to see that.
 */
void unit_sources_read(struct unit_sources *s, const char *project, const char *file);
/*
 * Names of all sources of a folder, headers too, within it, and of headers next to it that it names
 * by "../NAME". New reference.
 */
json_t *unit_files(const char *project);
void unit_sources_free(struct unit_sources *s);
/*
 * The next item that declares NAME, from *I on: of the source WHICH first, then of the others;
 * NULL: no more.
 */
const struct kscan_item *unit_item(const struct unit_sources *s, size_t which, const char *name,
    size_t *i, const struct unit_source **source);

/* One argument of the entry. */
struct unit_param {
	char *name;
	char *type;    /* of the entry's parameter, without const and stars: "float", "int" */
	char *value;   /* its value, in terms of the function's own parameters: "a->count" */
	bool pointer;  /* to elements of TYPE */
	bool constant; /* what it points to is not for writing */
	bool bytes;    /* what it points to is a structure, here as bytes */
	bool cast;     /* VALUE is of another type than TYPE, or points to one */
	char *size;    /* bytes that it points to, in the same terms; NULL: not known */
	char *guard;   /* pointers without which there is no such value, "a && a->b"; or NULL */
	bool result;   /* what the function returns */
	/* of a launch, not of the kernel: "grid_x" … "block_z", "shared_bytes", "stream" */
	bool launch;
	char *text; /* as it is declared when it is a parameter as it stands; or NULL */
};

/* A launch of the kernel. */
struct unit_launch {
	char *file;      /* within the project */
	size_t from, to; /* bytes of its text, from the kernel's name to the closing parenthesis */
	size_t line, last_line;
	/* as they stand; SHARED and STREAM may be "" */
	char *grid, *block, *shared, *stream, *templates, *arguments;
	/* the function around it, or "" */
	char *function;
	const struct unit_source *source;
	const struct kscan_item *inside; /* that function, or NULL */
	bool other; /* of a template: not the instance that the entry launches */
};

struct unit {
	char *name;      /* of the application's function */
	char *entry;     /* of the task: NAME itself when it needs no text of its own */
	char *file;      /* within the project */
	size_t from, to; /* bytes of its definition, in the text of SOURCE */
	size_t line, last_line;
	bool kernel; /* a __global__ function */
	const struct unit_source *source;
	char *text;    /* of the entry, or NULL */
	json_t *names; /* of the function's own parameters */
	struct unit_param *params;
	size_t param_count;
	struct unit_launch *launches; /* of a kernel */
	size_t launch_count;
};

/*
 * The unit of the function F of the source WHICH. False: it cannot be made; every reason is a line
 * in WHY. Free with unit_free.
 */
bool unit_make(struct unit *u, const struct unit_sources *sources, size_t which,
    const struct kscan_item *f, struct kbuf *why);
/*
 * The same of the function NAME in FILE of a folder, as unit_json gives it; NULL, with lines in
 * WHY: it cannot be made. New reference.
 */
json_t *unit_of(const char *project, const char *file, const char *name, struct kbuf *why);
void unit_free(struct unit *u);
/* The function around a place of the text, or NULL. */
const struct kscan_item *unit_function_at(const struct kscan *s, size_t at);
/* Does the text before the preprocessor show F, outside of #if, with the same parameters? */
bool unit_is_plain(const struct unit_source *s, const struct kscan_item *f);
/* Is the source C++, by its name or by what it holds? */
bool unit_is_cxx(const struct unit_source *s);
/* As adopt/unit.json has it. New reference. */
json_t *unit_json(const struct unit *u);

#endif
