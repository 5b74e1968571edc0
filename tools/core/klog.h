/* SPDX-License-Identifier: Apache-2.0 */
/*
 * klog: logs of compilers and kernels, cut down to what helps to fix the code. The input comes from
 * a hostile program's build and may contain any bytes.
 */
#pragma once

#include "kutil.h"

enum { KLOG_MAX = 5000 }; /* kept of a log */

/*
 * Compiler output, trimmed: clean (kfence_log); begins with the context of the first error, when
 * there is one; warnings and notes about files outside the candidate (absolute paths) dropped,
 * errors never; command lines shortened to compiler, sources and output; include and "required
 * from" stacks of more than two lines collapsed; paths shortened; repeated lines dropped; lines cut
 * at 400 bytes; at most 5000 bytes, then up to 2000 bytes of the error lines that were cut off. The
 * caller frees.
 */
char *klog_compiler(const char *log, size_t len);
