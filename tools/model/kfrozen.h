/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfrozen: files of an adopted campaign on which all of its figures rest: task, reference, oracle,
 * observations. Their digests stand in adopt.json, see docs/adopt.md.
 */
#ifndef KFROZEN_H
#define KFROZEN_H

/*
 * What is no longer what it was in the campaign's folder DIR, as one line, to be freed; NULL: all
 * is, or nothing is frozen.
 */
char *kfrozen_fault(const char *dir);

#endif
