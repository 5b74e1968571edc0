/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any log becomes clean text within its limits, and text that is clean already stays
 * as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kfence.h"
#include "klog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *clean = kfence_log((const char *)data, size),
	     *again = kfence_log(clean, strlen(clean));
	char *log = klog_compiler((const char *)data, size);

	if (strcmp(clean, again) || strlen(log) > 5000 + 2000 + 64)
		abort();
	for (const char *p = clean; *p; p++)
		if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t')
			abort();
	free(clean);
	free(again);
	free(log);
	return 0;
}
