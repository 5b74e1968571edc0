/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence: a host function that launches kernels, one after the other or in a loop, on the default
 * stream. It is adopted as a whole, with its kernels. The task's entry is the function itself, with
 * one more parameter: the stream on which it does everything.
 *
 *	for (int i = 0; i < 10; i++) {
 *		blur<<<n / 64, 64>>>(a, b, n);
 *		sharpen<<<n / 64, 64>>>(b, a, n);	in the entry: <<<n / 64, 64, 0, stream>>>
 *	}
 *	cudaDeviceSynchronize();			nothing: the caller waits
 */
#pragma once

#include "unit.h"

/*
 * Sets U's sequence, the names of its kernels, if U is a function for a GPU that has no stream.
 * Every obstacle is a line in WHY, including that it launches nothing.
 */
void sequence_find(struct adopted_unit *u, struct kbuf *why);
/* The body of F, with everything on the stream "stream". The caller frees. */
char *sequence_body(const struct kscan_item *f);
