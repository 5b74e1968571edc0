/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any reply yields a program or none; a program is found again in a fence around
 * itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kextract.h"
#include "kutil.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const languages[] = { "c", "cuda", "triton", "opencl" };
	struct kextract x;
	const char *language = languages[size % LEN(languages)];
	bool found = kextract((const char *)data, size, language, size & 4, &x);

	if (found != (x.code != NULL) || (found && !*x.how))
		abort();
	/* The end of the code is the end of a line, and its start is no blank line. */
	if (found && (x.code[strlen(x.code) - 1] != '\n' || *x.code == '\n'))
		abort();
	for (size_t i = 0; i < x.file_count; i++)
		if (!kextract_path_ok(x.files[i].path) || !x.files[i].content)
			abort();
	kextract_free(&x);
	return 0;
}
