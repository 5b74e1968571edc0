/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call: if a winner consists of more than the original function, the application calls the winner's
 * entry: instead of launching the kernel, or from the function's body.
 */
#pragma once

#include "kadopt.h"
#include "kscan.h"
#include "patch.h"

/*
 * The unit of the adoption as the application calls the winner's ENTRY: "parameters" with the
 * winner's names ("value") and the application's ("of"). Launch geometry that the entry does not
 * use is left out. New reference.
 */
json_t *call_unit(const struct kscan_item *entry);
/* "ENTRY(a, b)", a call of the entry, starting at COLUMN, with line breaks. The caller frees. */
char *call_text(const char *path, const json_t *arguments, size_t column);
/* The body of the application's function that calls the entry; NULL: the reason is in *FAULT. */
char *call_body(const json_t *called, char **fault);

enum call_kind { CALL_LAUNCH, CALL_PROTOTYPE };
struct call_site {
	enum call_kind kind;
	char *file;
	size_t from, to;
	size_t column; /* its column in its line, with tabs of 8 */
	char *path;    /* qualification before the name, "ns::" */
	/* for a launch: "grid_x" … "stream", each an expression, and the kernel's arguments */
	json_t *parts, *arguments;
};
/* All places of the project that launch or declare the kernel. */
struct call_sites {
	struct call_site *list;
	size_t count;
	bool others;   /* the kernel is also used without a launch, or launched in another way */
	bool external; /* a file that does not include the kernel's file launches it */
};
void call_find(const char *folder, struct call_sites *s);
void call_sites_free(struct call_sites *s);
/*
 * Replaces the launches by calls, and the kernel's prototype by PROTOTYPE; if the old one is KEPT,
 * PROTOTYPE is added after it. False: the reason is in *FAULT.
 */
bool call_edit(const struct call_sites *s, const json_t *called, const char *prototype, bool kept,
    struct edits *edits, char **fault);
