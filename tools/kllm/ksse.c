/* SPDX-License-Identifier: Apache-2.0 */
/* ksse: see ksse.h. */
#include "ksse.h"

#include "kregex.h"

static void
dispatch(struct ksse *s, ksse_handler *handler, void *arg)
{
	if (s->has_data)
		handler(s->name.data ?: "", s->data.data, s->data.len, arg);
	s->name.len = s->data.len = 0;
	if (s->name.data)
		*s->name.data = '\0';
	s->has_data = false;
}

/* Comments (an empty name), id, retry and unknown fields contain nothing of the answer. */
static void
take_line(struct ksse *s, ksse_handler *handler, void *arg)
{
	const char *line = s->line.data ?: "";
	struct kregex_span at[3];

	if (!s->line.len) {
		dispatch(s, handler, arg);
	} else if (kregex_find(
	               "(?s)\\A(?:(data)|event)(?:: ?(.*))?\\z", line, s->line.len, at, LEN(at))) {
		bool data = at[1].from != KREGEX_UNSET, value = at[2].from != KREGEX_UNSET;
		struct kbuf *to = data ? &s->data : &s->name;

		if (!data)
			to->len = 0;
		if (s->has_data && data)
			kbuf_add(to, "\n", 1);
		kbuf_add(to, value ? line + at[2].from : "", value ? at[2].to - at[2].from : 0);
		s->has_data |= data;
	}
	s->line.len = 0;
}

/* The stream may begin with a byte order mark, which may arrive in pieces. */
static void
drop_bom(struct ksse *s)
{
	size_t mark = kbom(s->line.data, s->line.len);

	if (s->started || s->line.len < 3)
		return;
	s->started = true;
	s->line.len -= mark;
	memmove(s->line.data, s->line.data + mark, s->line.len);
}

bool
ksse_feed(struct ksse *s, const char *bytes, size_t len, ksse_handler *handler, void *arg)
{
	for (size_t i = 0; i < len && !s->bad;) {
		size_t start = i;

		if (s->skip_lf) {
			s->skip_lf = false;
			if (bytes[i] == '\n') {
				i++;
				continue;
			}
		}
		while (i < len && bytes[i] != '\n' && bytes[i] != '\r')
			i++;
		kbuf_slice(&s->line, bytes, start, i);
		drop_bom(s);
		if (s->line.len > KSSE_LINE_MAX) {
			s->bad = true;
			break;
		}
		if (i == len)
			break;
		s->skip_lf = bytes[i++] == '\r';
		take_line(s, handler, arg);
		s->started = true;
	}
	return !s->bad;
}

void
ksse_end(struct ksse *s, ksse_handler *handler, void *arg)
{
	if (!s->bad) {
		if (s->line.len)
			take_line(s, handler, arg);
		dispatch(s, handler, arg);
	}
	kbuf_free(&s->line);
	kbuf_free(&s->name);
	kbuf_free(&s->data);
	*s = (struct ksse){ .bad = s->bad };
}
