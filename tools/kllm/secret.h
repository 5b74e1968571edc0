/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret: the key of the running call. It is read once, taken out of the environment, never stored
 * or printed; whatever leaves this program goes through a redactor that knows its bytes and the
 * usual shapes of keys.
 */
#ifndef KLLM_SECRET_H
#define KLLM_SECRET_H

#include "kutil.h"

/* Core dumps and /proc access off for the rest of this process. */
void secret_harden(void);
/*
 * The key from FILE (when not NULL; anything but a regular file of mode 0600 or stricter ends the
 * program with K_USAGE), else from the environment variable NAME, which is wiped. Returns the key,
 * owned here, or NULL when there is none.
 */
const char *secret_load(const char *file, const char *name);
void secret_wipe(void);

/* True when LEN bytes of TEXT, a NUL behind them, hold the key or what has the shape of one. */
bool secret_in(const char *text, size_t len);
/* Replace every secret in B by "[redacted]"; true when something was replaced. */
bool secret_redact(struct kbuf *b);

#endif
