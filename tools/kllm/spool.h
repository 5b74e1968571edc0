/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool: what a paid call is remembered by until its record is safe. Beside the output, one file
 * per request of a call (reply.spool, and reply.spool2 with a larger cap): a line of JSON, the
 * intent (docs/schemas/exchange-1.json), on the disk before the request is sent; then, if the
 * server answers with 200, "HTTP 200", its header lines, a blank line and the body as it arrives.
 * After a kill the next run decodes a whole answer from it and pays nothing; an intent without one
 * means that the cost is unknown.
 */
#ifndef KLLM_SPOOL_H
#define KLLM_SPOOL_H

#include "kanswer.h"
#include "kllm.h"
#include "secret.h"
#include "transport.h"

enum { SPOOL_STEPS = 2 };

/* Zero-initialise. All calls do nothing when the output is stdout. */
struct spool {
	int fd;          /* 0: none */
	long intent_len; /* bytes of the intent's line */
	off_t len;       /* bytes written; room for more may follow */
	struct secret_stream redactor;
};

/*
 * INTENT is borrowed. Room for an answer of ROOM bytes is taken on the disk now, so that a disk
 * that fills meanwhile costs no answer. False, with errno set and nothing left behind, when intent
 * or room cannot be had.
 */
bool spool_begin(
    struct spool *s, const struct call *c, int step, const json_t *intent, size_t room);
void spool_head(struct spool *s, const struct transport *t);
void spool_body(struct spool *s, const char *bytes, size_t len);
/*
 * KEEP: the body is a whole answer, and is on the disk when this returns; otherwise only the intent
 * stays. A spool that could not be written to its end is given up with a warning: the answer is
 * still here, and goes into the record.
 */
void spool_end(struct spool *s, bool keep);

enum spool_state { SPOOL_NONE, SPOOL_PARTIAL, SPOOL_WHOLE };

/*
 * What an earlier run left of this step for this prompt and MODEL. SPOOL_WHOLE: A holds the answer,
 * ended. PARTIAL: a request was sent, perhaps billed, and its answer is lost. *RESERVED is what the
 * intent had booked.
 */
enum spool_state spool_resume(
    const struct call *c, int step, const char *model, struct kanswer *a, int64_t *reserved);
/* Nothing was billed for this step: forget the intent. */
void spool_discard(const struct call *c, int step);
void spool_remove(const struct call *c);

#endif
