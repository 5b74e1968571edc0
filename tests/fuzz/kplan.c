/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a reply has either a plan or a fault, never both; a plan ends inside it and holds
 * what it must.
 */
#include <stdint.h>
#include <stdlib.h>

#include "kio.h"
#include "kplan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kplan p;

	kplan_read((const char *)data, size, &p);
	if (!p.json == !p.fault || p.end > size || (p.json && !p.end))
		abort();
	if (p.json) {
		if (!*kjson_str_or(p.json, "hypothesis", "") ||
		    !kjson_str_or(p.json, "bucket", NULL))
			abort();
		free(kplan_history_fault(p.json, NULL, true));
		free(kplan_repeat_fault(p.json, NULL));
		free(kplan_novelty_fault(p.json, NULL, 3));
		free(kplan_metric(p.json));
	}
	kplan_free(&p);
	return 0;
}
