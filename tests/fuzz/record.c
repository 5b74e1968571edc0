/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a record is parsed or refused, and a parsed one survives printing and parsing again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct krec rec, again;
	char *text;
	json_t *any;

	any = kjson_text((const char *)data, size);
	if (!json_is_string(any))
		abort();
	json_decref(any);
	if (krec_parse(&rec, (const char *)data, size))
		return 0;
	text = json_dumps(rec.json, KIO_DUMP);
	if (!text || krec_parse(&again, text, strlen(text)) || !json_equal(rec.json, again.json))
		abort();
	free(text);
	krec_free(&again);
	krec_free(&rec);
	return 0;
}
