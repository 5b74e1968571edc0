/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret: the key of the current call. It is read once, removed from the environment, and never
 * stored or printed; everything that leaves this program passes a redactor that knows its bytes and
 * the usual shapes of keys.
 */
#pragma once

#include "kutil.h"

/* Disables core dumps and /proc access for the rest of this process. */
void secret_harden(void);
/*
 * The key from FILE (if not NULL; anything but a regular file of mode 0600 or stricter ends the
 * program with K_USAGE), else from the environment variable NAME, which is wiped. Returns the key,
 * owned here, or NULL when there is none.
 */
const char *secret_load(const char *file, const char *name);
void secret_wipe(void);

/*
 * True when LEN bytes of TEXT, followed by a NUL, contain the key or something with the shape of
 * one.
 */
bool secret_in(const char *text, size_t len);
/* Replace every secret in B by "[redacted]"; true when something was replaced. */
bool secret_redact(struct kbuf *b);
