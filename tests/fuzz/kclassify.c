/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any source is stripped, hashed and classified. Stripping keeps length and lines, and
 * only ever writes blanks; coordinates stay in their range.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ktoken.h"
#include "kutil.h"

#include "../../tools/kclassify/kpattern.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_lang(const char *src, size_t len, enum ktoken_lang lang)
{
	char *stripped = ktoken_strip(src, len, lang), hex[17], again[17];

	for (size_t i = 0; i < len; i++)
		if (stripped[i] != src[i] && (stripped[i] != ' ' || src[i] == '\n'))
			abort();
	if (stripped[len])
		abort();
	ktoken_hash_as(src, len, lang, hex);
	ktoken_hash_as(src, len, lang, again);
	if (strcmp(hex, again) || strlen(hex) != 16)
		abort();
	kneutral_hash(src, len, lang, NULL, hex);
	kneutral_hash(src, len, lang, NULL, again);
	if (strcmp(hex, again))
		abort();
	free(stripped);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kpattern_table *tables[3];
	static const char *const names[] = { "patterns/c.json", "patterns/hip.json",
		"patterns/triton.json" };
	const char *src = (const char *)data;
	struct kpattern_result r;

	for (size_t i = 0; i < LEN(names); i++) {
		if (!tables[i]) {
			char *path = kdata_path(names[i]);

			tables[i] = kpattern_load(path);
			free(path);
		}
		kpattern_classify(tables[i], src, size, KPATTERN_STRIP | KPATTERN_GATES, &r, NULL);
		for (int d = 0; d < KARCH_DIMS; d++)
			if (r.coords[d] < 0 || r.coords[d] > 3 ||
			    !(r.confidence[d] >= 0 && r.confidence[d] <= 1))
				abort();
	}
	check_lang(src, size, KTOKEN_C);
	check_lang(src, size, KTOKEN_PYTHON);
	return 0;
}
