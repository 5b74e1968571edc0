/* SPDX-License-Identifier: Apache-2.0 */
/* entry: the function through which a task calls a unit; see unit.h. */
#pragma once

#include "unit.h"

/*
 * Set U's entry, its text and its parameters; every obstacle adds a line to WHY. SEEN: the names
 * that U and the functions it calls use; a member m as ".m", or as "p.m" where it is one of U's
 * parameter p, and with "=" where it is modified. SYMBOLS:
 * __constant__ variables among them that other code fills, by name, with their declarations.
 */
void entry_make(
    struct adopted_unit *u, const json_t *seen, const json_t *symbols, struct kbuf *why);
