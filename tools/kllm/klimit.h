/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klimit: what the model calls of all processes on this machine agree on: pace, how many at once, a
 * pause after "too many requests", a stop after a refused key; and the money a campaign has spent.
 * State is in small files under an exclusive flock.
 */
#ifndef KLIMIT_H
#define KLIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The folder of the state: $XDG_RUNTIME_DIR/kllm, or $TMPDIR/kllm-UID (/tmp). Made with mode 0700;
 * a folder that is somebody else's, or a link, ends the program with K_IO. The caller frees.
 */
char *klimit_folder(void);

/* True for exactly one caller per NAME and folder. */
bool klimit_first_time(const char *name);

struct klimit_rates {
	double rpm, tpm; /* per minute; 0: no limit */
	long inflight;   /* at once; 0: no limit */
	double wait_s;   /* longest time to wait for a turn */
};

/* One limiter: a server and a key. Opaque; end with klimit_close. */
struct klimit;
struct klimit *klimit_open(const char *name, const struct klimit_rates *rates);
void klimit_close(struct klimit *l);

enum klimit_turn { KLIMIT_GO, KLIMIT_LATER, KLIMIT_STOPPED };

/*
 * Wait for a turn to send a request of about TOKENS tokens. KLIMIT_GO: send; a slot is held until
 * klimit_done, klimit_close or the end of the process, however it ends. KLIMIT_LATER: the wait
 * would be longer than wait_s; *WHEN is the number of seconds. KLIMIT_STOPPED: a call failed in a
 * way that the next would too; the reason is in klimit_reason.
 */
enum klimit_turn klimit_turn(struct klimit *l, double tokens, double *when);
/*
 * The request is over; it took MORE tokens than were asked for (negative: fewer). Frees the slot.
 */
void klimit_done(struct klimit *l, double more);

/* Nobody sends for this long. */
void klimit_hold(struct klimit *l, double seconds);
/* Every caller is refused for this long, because of REASON. */
void klimit_stop(struct klimit *l, const char *reason, double seconds);
const char *klimit_reason(const struct klimit *l);
/*
 * May one more request be a repetition? Repetitions are at most a fifth of all requests, and the
 * first twenty are free.
 */
bool klimit_may_retry(struct klimit *l);

/*
 * Money. The ledger is a file of one line. kbudget_add books AMOUNT before a request is sent, or
 * corrects a booking once the true cost is known, unless the sum would exceed CAP (0: no cap): then
 * false. *SPENT is the sum afterwards. All in nano-dollars. A ledger that cannot be read or written
 * ends the program: money is not guessed.
 */
bool kbudget_add(const char *ledger, int64_t amount, int64_t cap, int64_t *spent);

#endif
