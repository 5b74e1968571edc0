/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool: the memory of a paid call until its record is safe. Next to the output there is one file
 * per request of a call (reply.spool, and reply.spool2 with a larger cap). It begins with a line of
 * JSON, the intent (docs/schemas/exchange-1.json), which is on the disk before the request is sent.
 * As soon as the server has answered completely with 200, the body follows. After a kill the next
 * run decodes the answer from it and pays nothing; an intent without an answer means that the cost
 * is unknown.
 */
#pragma once

#include "kanswer.h"
#include "kllm.h"

enum { SPOOL_STEPS = 2 };

/*
 * INTENT is borrowed. Space for an answer of ROOM bytes is reserved on the disk now, so that an
 * answer is not lost if the disk fills meanwhile. Returns a value below 0, with errno set and
 * nothing left behind, when intent or space is not possible; else the argument for spool_end. All
 * functions do nothing when the output is stdout.
 */
int spool_begin(int step, const json_t *intent, size_t room);
/*
 * WHOLE: BODY is a complete answer, and is on the disk, free of secrets, when this returns;
 * otherwise only the intent stays. A spool that cannot be written is given up with a warning: the
 * answer is still in memory, and goes into the record.
 */
void spool_end(int spool, const struct kbuf *body, bool whole);

enum spool_state { SPOOL_NONE, SPOOL_PARTIAL, SPOOL_WHOLE };

/*
 * What an earlier run left for this step with this prompt and MODEL. SPOOL_WHOLE: A holds the
 * answer, ended. PARTIAL: a request was sent, perhaps billed, and its answer is lost. *RESERVED is
 * the amount that the intent had booked.
 */
enum spool_state spool_resume(int step, const char *model, struct kanswer *a, int64_t *reserved);
/* Nothing was billed for this step: forget the intent. */
void spool_discard(int step);
void spool_remove(void);
