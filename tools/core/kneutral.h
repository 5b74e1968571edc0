/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kneutral: a program's text without the names that its author chose. Names that the text itself
 * declares (variables, functions, types, macros, template parameters) are replaced by names that
 * give only their kind and a number. Names that the text does not declare belong to the language or
 * to a library, and stay.
 */
#pragma once

#include "ktoken.h"

/*
 * SRC, LEN bytes long, with neutral names and the same lines:
 *   _k1, _k2, ...  integers that are known when the program is compiled
 *   _f1, ...       functions and macros with parameters
 *   _t1, ...       types and namespaces
 *   _v1, ...       everything else
 * KEEP, a list that ends with NULL (or NULL), names what stays all the same: the entry point. A
 * name that this reader does not recognise as declared stays, too; it accepts any text. The caller
 * frees.
 */
struct kbuf kneutral_text(
    const char *src, size_t len, enum ktoken_lang lang, const char *const *keep);

/*
 * Hash of a program without names, comments and layout, see ktoken_hash_as: renamed or reformatted
 * copies have the same hash.
 */
void kneutral_hash(
    const char *src, size_t len, enum ktoken_lang lang, const char *const *keep, char hex[17]);
