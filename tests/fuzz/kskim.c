/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: skimming reads no byte outside its text, and agrees with the parser on everything that is JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kskim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "a", "eval", "id", "score" };
	enum { KEYS = sizeof keys / sizeof keys[0] };
	/* An exact copy, so that a sanitizer sees a read one byte too far. */
	char *text = malloc(size ? size : 1);
	struct kspan v[KEYS], whole = { text, size };
	json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	char word[16];
	bool found;

	memcpy(text, data, size);
	found = kskim_members(whole, keys, KEYS, v);
	/* Jansson passes over NUL bytes between values; no line of ours has any. */
	if (json_is_object(json) && !found && !memchr(text, 0, size))
		abort();
	for (size_t i = 0; i < KEYS; i++) {
		json_t *got = kskim_json(v[i]), *want = json_object_get(json, keys[i]);

		/* A key may be written with escapes; then it is not found. */
		if (json_is_object(json) && got && !json_equal(got, want))
			abort();
		kskim_word(v[i], word, sizeof word);
		kskim_num(v[i], 0);
		json_decref(got);
	}
	kskim_path(whole, "eval.a.id");
	json_decref(json);
	free(text);
	return 0;
}
