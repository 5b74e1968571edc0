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
 * For kutil_init. Programs that this one starts are not steps of their own, but share its status
 * line.
 */
void kstep_begin(void);

/*
 * What this process waits for or has found out, in one line, for display in a run: written to the
 * file that KILN_STATUS names. False when there is no such file, and the caller has to print it
 * elsewhere. "" removes the line.
 */
bool kstatus(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
