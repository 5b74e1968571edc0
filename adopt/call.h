/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call: where a winner is more than the function that it came from, the application calls the
 * winner's entry: in place of the kernel's launches, or out of the function's body.
 */
#ifndef CALL_H
#define CALL_H

#include "kadopt.h"
#include "kscan.h"
#include "patch.h"

/*
 * What the application gives ENTRY, the winner's: the unit of the adoption with its "parameters" by
 * the winner's names ("value") and what the application calls them ("of"). The geometry of a launch
 * that the entry does not use is left out. New reference.
 */
json_t *call_unit(
    const struct adoption *a, const struct kscan *winner, const struct kscan_item *entry);
/* "NAME(a, b)" from COLUMN on, in lines that are not too long. The caller frees. */
char *call_text(const char *path, const char *name, const json_t *arguments, size_t column);
/* The body of the application's function, which calls the entry; NULL: the reason is in *FAULT. */
char *call_body(const struct adoption *a, const json_t *called, char **fault);

enum call_kind { CALL_LAUNCH, CALL_PROTOTYPE, CALL_USE };
struct call_site {
	enum call_kind kind;
	char *file;
	size_t from, to;
	size_t column; /* where it begins in its line, tabs being 8 wide */
	char *path;    /* what stands before the name, "ns::" */
	/* of a launch: "grid_x" … "stream", each an expression, and what the kernel is given */
	json_t *parts, *arguments;
	bool hidden; /* the file does not include the kernel's */
};
/* All places of the project that name the kernel, but for its definition. */
struct call_sites {
	struct call_site *list;
	size_t count;
	bool others;   /* something uses the kernel that is no launch, or launches it otherwise */
	bool external; /* a file that does not include the kernel's launches it */
};
void call_find(const struct adoption *a, const char *folder, struct call_sites *s);
void call_sites_free(struct call_sites *s);
/*
 * Calls in place of the launches, and PROTOTYPE in place of the kernel's or, when that is KEPT,
 * after it. False: the reason is in *FAULT.
 */
bool call_edit(const struct adoption *a, const struct call_sites *s, const json_t *called,
    const char *prototype, bool kept, struct edits *edits, char **fault);

#endif
