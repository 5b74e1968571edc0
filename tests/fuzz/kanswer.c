/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a body decodes to the same answer whole and in pieces whose sizes the first bytes
 * choose; errors are read from any body.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/kllm/kanswer.c"
#include "../../tools/kllm/kusage.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
same(const struct kbuf *a, const struct kbuf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kanswer whole = { 0 }, pieces = { 0 };
	struct kanswer_error error;
	const char *body;
	uint32_t state;

	if (size < 4)
		return 0;
	memcpy(&state, data, 4);
	body = (const char *)data + 4;
	size -= 4;
	kanswer_feed(&whole, body, size);
	kanswer_end(&whole);
	for (size_t i = 0, n; i < size; i += n) {
		state = state * 1664525 + 1013904223;
		n = 1 + (state >> 24) % 17;
		n = n < size - i ? n : size - i;
		kanswer_feed(&pieces, body + i, n);
	}
	kanswer_end(&pieces);
	if (!same(&whole.text, &pieces.text) || !same(&whole.reasoning, &pieces.reasoning) ||
	    strcmp(whole.finish, pieces.finish) || whole.done != pieces.done ||
	    whole.error.present != pieces.error.present || whole.kind != pieces.kind)
		abort();
	kanswer_finish(&whole);
	kanswer_error_body(&error, body, size);
	if (!error.present)
		abort();
	kanswer_free(&whole);
	kanswer_free(&pieces);
	return 0;
}
