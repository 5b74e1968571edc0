/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klimit: the state that the model calls of all processes on this machine share: a pause after "too
 * many requests", a stop after a refused key; and the money that a campaign has spent. State is in
 * small files under an exclusive flock.
 */
#pragma once

#include "kutil.h"

/*
 * The folder of the state: $XDG_RUNTIME_DIR/kllm, or $TMPDIR/kllm-UID (/tmp). Made with mode 0700;
 * if it belongs to somebody else, or is a link, the program ends with K_IO. The caller frees.
 */
char *klimit_folder(void);

/* True for exactly one caller per NAME and folder. */
bool klimit_first_time(const char *name);

/* One limiter: for a server and a key. Opaque; end with klimit_close. */
struct klimit;
struct klimit *klimit_open(const char *name);
void klimit_close(struct klimit *l);

enum klimit_turn { KLIMIT_GO, KLIMIT_LATER, KLIMIT_STOPPED };

/*
 * Wait until a request may be sent. KLIMIT_LATER: that would take longer than WAIT_S; *WHEN is the
 * number of seconds. KLIMIT_STOPPED: a call failed in a way in which the next one would fail too;
 * the reason is in klimit_reason.
 */
enum klimit_turn klimit_turn(struct klimit *l, double wait_s, double *when);

/* Nobody may send for this long. */
void klimit_hold(struct klimit *l, double seconds);
/* All callers are refused for this long, because of REASON. */
void klimit_stop(struct klimit *l, const char *reason, double seconds);
const char *klimit_reason(const struct klimit *l);
/*
 * Money. The ledger is a file of one line. kbudget_add books AMOUNT before a request is sent, or
 * corrects a booking once the true cost is known. If the sum would exceed CAP (0: no cap), it
 * returns false and books nothing. *SPENT is the sum afterwards. All amounts are nano-dollars. A
 * ledger that cannot be read or written ends the program: money is not guessed.
 */
bool kbudget_add(const char *ledger, int64_t amount, int64_t cap, int64_t *spent);
