/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes, fenced as code and as data; nothing of them may stand outside the fence
 * or stay unclean.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kfence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines of S that would close a fence of N backticks. */
static size_t
closers(const char *s, size_t n)
{
	size_t found = 0;

	for (const char *line = s; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *p = line + strspn(line, " ");
		size_t run = strspn(p, "`");

		found += p - line <= 3 && run >= n && strchr("\n", p[run]);
	}
	return found;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = kstrndup((const char *)data, size),
	     *clean = kfence_clean((const char *)data, size);
	char *again, *line, *part;
	struct kbuf code = { 0 }, log = { 0 };

	for (const char *p = clean; *p; p++)
		if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t')
			abort();
	again = kfence_clean(clean, strlen(clean));
	kfence_code(&code, text, "c");
	if (closers(code.data, strspn(code.data, "`")) != 1)
		abort();
	kfence_data(&log, text, "log", "salt");
	line = kfence_line(text, 40);
	part = kfence_shorten(clean, 60);
	if (strchr(line, '\n') || kfence_chars(line, 40) != strlen(line))
		abort();
	free(text);
	free(clean);
	free(again);
	free(line);
	free(part);
	kbuf_free(&code);
	kbuf_free(&log);
	return 0;
}
