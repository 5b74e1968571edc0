/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kstep: what a run of a campaign learns of the programs that make its files, without asking make.
 * In the environment of a recipe KILN_TARGET names the file that is made, KILN_STEPS the file of
 * the run's steps, and KILN_WORDS a descriptor for messages, so that they do not mix with make's
 * own. The program adds lines to the file of the steps:
 *
 *	TIME trials/007/02/eval.ndjson -            it has begun
 *	TIME trials/007/02/eval.ndjson - TEXT       what it waits for or has found out
 *	TIME trials/007/02/eval.ndjson STATUS       it has ended
 *
 * Times are seconds of the monotonic clock. Programs that it starts find the target in KILN_STEP.
 */
#ifndef KSTEP_H
#define KSTEP_H

#include "kutil.h"

#define KSTEP_RUNS "-"

/*
 * For kutil_init. Programs that this one starts are not steps of their own, but share its status
 * line.
 */
void kstep_begin(void);

/*
 * What this process waits for or has found out, in one line, for display in a run. False when it
 * is not part of a run, and the caller has to print it elsewhere. "" takes it back.
 */
bool kstatus(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
