/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klimit: the state that the model calls of all processes on this machine share: a pause after "too
 * many requests", a stop after a refused key; and the money that a campaign has spent. A pause and
 * a stop are small files, whose time of change is when they end.
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

/* The limiter of this process: for a server and a key. */
void klimit_open(const char *name);

enum klimit_turn { KLIMIT_GO, KLIMIT_LATER, KLIMIT_STOPPED };

/*
 * Wait until a request may be sent. KLIMIT_LATER: that would take longer than WAIT_S; *WHEN is the
 * number of seconds. KLIMIT_STOPPED: a call failed in a way in which the next one would fail too;
 * the reason is in klimit_reason.
 */
enum klimit_turn klimit_turn(double wait_s, double *when);

/* Nobody may send for this long. */
void klimit_hold(double seconds);
/* All callers are refused for this long, because of REASON. */
void klimit_stop(const char *reason, double seconds);
/* The caller frees. */
char *klimit_reason(void);

/* Seconds since the file was changed; below 0: its time has not come yet. */
double klimit_age(const struct stat *st);
void klimit_sleep(double seconds);

/*
 * Money. The ledger is a file of one line. kbudget_add books AMOUNT before a request is sent, or
 * corrects a booking once the true cost is known. If the sum would exceed CAP (0: no cap), it
 * returns false and books nothing. *SPENT is the sum afterwards. All amounts are nano-dollars. A
 * ledger that cannot be read or written ends the program: money is not guessed.
 */
bool kbudget_add(const char *ledger, int64_t amount, int64_t cap, int64_t *spent);
