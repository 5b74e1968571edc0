/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksse: decoder of server-sent events (WHATWG HTML, section 9.2). Push bytes in pieces of any size;
 * each complete event is passed on once. The events depend only on the bytes, not on how they were
 * split.
 */
#pragma once

#include "kutil.h"

/* Longest line, in bytes; a longer one makes the stream bad. */
#define KSSE_LINE_MAX ((size_t)4 << 20)

/*
 * NAME is the event's name ("" when it has none), DATA its data lines joined by line feeds. Both
 * valid during the call.
 */
typedef void ksse_handler(const char *name, const char *data, size_t len, void *arg);

/* Zero-initialise. */
struct ksse {
	struct kbuf line;       /* the line so far */
	struct kbuf name, data; /* the event so far */
	bool has_data;
	bool skip_lf; /* the last byte was CR: a following LF belongs to it */
	bool started; /* past the byte order mark, if there is one */
	bool bad;     /* a line was too long; everything after it is ignored */
};

/* False once the stream is bad. */
bool ksse_feed(struct ksse *s, const char *bytes, size_t len, ksse_handler *handler, void *arg);
/*
 * End of the stream: an event without its final blank line is passed on too (some servers omit the
 * last one). Frees S; afterwards only BAD is valid.
 */
void ksse_end(struct ksse *s, ksse_handler *handler, void *arg);
