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
/* "ENTRY(a, b)", a call of the entry, with line breaks and INDENT after them. The caller frees. */
char *call_text(const char *path, const json_t *arguments, const char *indent);
/* The body of the application's function that calls the entry; NULL: the reason is in *FAULT. */
char *call_body(const json_t *called, char **fault);

/* All places of the project that launch or declare the kernel. */
struct call_sites {
	struct edits
	    edits;     /* launches, with the calls in their place; declarations, without text */
	bool others;   /* the kernel is also used without a launch, or launched in another way */
	bool external; /* a file that does not include the kernel's file launches it */
	char *fault;   /* why a launch cannot become a call; or NULL */
};
/* CALLED: from call_unit; NULL: only declarations are looked for. */
void call_find(const char *folder, const json_t *called, struct call_sites *s);
/*
 * Does L in FILE launch another instance of a template than the entry? Such calls do not belong to
 * the unit.
 */
bool call_is_other(const char *file, const struct kscan_launch *l);
