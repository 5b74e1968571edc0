/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klimit: what the model calls of all processes on this machine agree on: pace, how many at once, a pause after "too
 * many requests", a stop after a refused key; and the money a campaign has spent. State is in small files under an
 * exclusive flock.
 */
#ifndef KLIMIT_H
#define KLIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The folder of the state: $XDG_RUNTIME_DIR/kllm, or $TMPDIR/kllm-UID (/tmp). Made with mode 0700; a folder that is
 * somebody else's, or a link, ends the program with K_IO. The caller frees.
 */
char *klimit_folder(void);

/* True for exactly one caller per NAME and folder. */
bool klimit_first_time(const char *name);

struct klimit_rates {
	double rpm, tpm;	/* per minute; 0: no limit */
	long inflight;		/* at once; 0: no limit */
	double wait_s;		/* longest time to wait for a turn */
};

/* One limiter: a server and a key. Opaque; end with klimit_close. */
struct klimit;
struct klimit *klimit_open(const char *name, const struct klimit_rates *rates);
void klimit_close(struct klimit *l);

enum klimit_turn { KLIMIT_GO, KLIMIT_LATER, KLIMIT_STOPPED };

/*
 * Wait for a turn to send a request of about TOKENS tokens. KLIMIT_GO: send; a slot is held until klimit_done,
 * klimit_close or the end of the process, however it ends. KLIMIT_LATER: the wait would be longer than wait_s; *WHEN is
 * the number of seconds. KLIMIT_STOPPED: a call failed in a way that the next would too; the reason is in
 * klimit_reason.
 */
enum klimit_turn klimit_turn(struct klimit *l, double tokens, double *when);
/* The request is over; it took MORE tokens than were asked for (negative: fewer). Frees the slot. */
void klimit_done(struct klimit *l, double more);

/* Nobody sends for this long. */
void klimit_hold(struct klimit *l, double seconds);
/* The server is overloaded: half as many at once as now; each klimit_calm allows one more again. */
void klimit_overload(struct klimit *l);
void klimit_calm(struct klimit *l);
/* Every caller is refused for this long, because of REASON. */
void klimit_stop(struct klimit *l, const char *reason, double seconds);
const char *klimit_reason(const struct klimit *l);
/*
 * May one more request be a repetition? Repetitions are at most a fifth of all requests, and the first twenty are
 * free.
 */
bool klimit_may_retry(struct klimit *l);

/* Bytes per token as this server counted so far (0: nothing known), and one more measurement. */
double klimit_density(struct klimit *l);
void klimit_learn(struct klimit *l, double bytes, double tokens);

/*
 * A cached prefix is usable only after a first answer has begun. klimit_warm returns when another process has warmed
 * the prefix in the last minutes, or when WAIT_S has passed, or at once with true when this caller is to warm it; it
 * then calls klimit_warmed.
 */
bool klimit_warm(struct klimit *l, const char *prefix, double wait_s);
void klimit_warmed(struct klimit *l);

/*
 * Money. The ledger is a file of one line. kbudget_reserve books AMOUNT before a request is sent, unless spent + AMOUNT
 * would exceed CAP (0: no cap): then false. kbudget_settle corrects a booking by DELTA once the true cost is known.
 * *SPENT is the sum afterwards. All in nano-dollars. A ledger that cannot be read or written ends the program: money is
 * not guessed.
 */
bool kbudget_reserve(const char *ledger, int64_t amount, int64_t cap, int64_t *spent);
void kbudget_settle(const char *ledger, int64_t delta, int64_t *spent);

#endif
