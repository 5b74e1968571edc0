/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool: what a paid call is remembered by until its record is safe. Beside the output, one file
 * per request of a call (reply.spool, and reply.spool2 with a larger cap): a line of JSON, the
 * intent (docs/schemas/exchange-1.json), on the disk before the request is sent; then, as soon as
 * the server has answered with 200 and to the end, "HTTP 200", its header lines, a blank line and
 * the body. After a kill the next run decodes the answer from it and pays nothing; an intent
 * without one means that the cost is unknown.
 */
#ifndef KLLM_SPOOL_H
#define KLLM_SPOOL_H

#include "kanswer.h"
#include "kllm.h"
#include "transport.h"

enum { SPOOL_STEPS = 2 };

/*
 * INTENT is borrowed. Room for an answer of ROOM bytes is taken on the disk now, so that a disk
 * that fills meanwhile costs no answer. Below 0, with errno set and nothing left behind, when
 * intent or room cannot be had; else what spool_end wants. All calls do nothing when the output is
 * stdout.
 */
int spool_begin(const struct call *c, int step, const json_t *intent, size_t room);
/*
 * WHOLE: BODY is a whole answer, and is on the disk, free of secrets, when this returns; otherwise
 * only the intent stays. A spool that cannot be written is given up with a warning: the answer is
 * still here, and goes into the record.
 */
void spool_end(int spool, const struct transport *t, const struct kbuf *body, bool whole);

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
