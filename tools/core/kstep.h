/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kstep: what a run of a campaign learns of the programs that make its files, without asking make.
 * In the environment of a recipe KILN_TARGET names the file that is made, KILN_STEPS a folder, and
 * KILN_WORDS a descriptor for messages, so that they do not mix with make's own. The program keeps
 * a file of the target's name ('/' as ':') in that folder:
 *
 *	SINCE trials/007/02/eval.ndjson
 *	STATUS UNTIL                          once it has ended
 *
 * Times are seconds of the monotonic clock.
 */
#ifndef KSTEP_H
#define KSTEP_H

#include "kutil.h"

/*
 * For kutil_init. Programs that this one starts are no steps of their own, but share its line of
 * status.
 */
void kstep_begin(void);

/*
 * What this process waits for or has found out, in one line, where a run shows it: in the file that
 * KILN_STATUS names. False when none does, and it has to be said elsewhere. "" takes the line away.
 */
bool kstatus(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
