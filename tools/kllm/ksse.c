/* SPDX-License-Identifier: Apache-2.0 */
/* ksse: see ksse.h. */
#include "ksse.h"

static void
dispatch(struct ksse *s, ksse_handler *handler, void *arg)
{
	if (s->has_data)
		handler(s->name.data ? s->name.data : "", s->data.data, s->data.len, arg);
	s->name.len = s->data.len = 0;
	if (s->name.data)
		*s->name.data = '\0';
	s->has_data = false;
}

static bool
field_is(const char *line, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(line, name, len);
}

static void
take_line(struct ksse *s, ksse_handler *handler, void *arg)
{
	const char *line = s->line.data ? s->line.data : "", *colon, *value;
	size_t len = s->line.len, name_len, value_len;

	if (!len) {
		dispatch(s, handler, arg);
		return;
	}
	colon = memchr(line, ':', len);
	name_len = colon ? (size_t)(colon - line) : len;
	value = colon ? colon + 1 : line + len;
	value_len = len - (size_t)(value - line);
	if (value_len && *value == ' ') {
		value++;
		value_len--;
	}
	if (field_is(line, name_len, "data")) {
		if (s->has_data)
			kbuf_add(&s->data, "\n", 1);
		kbuf_add(&s->data, value, value_len);
		s->has_data = true;
	} else if (field_is(line, name_len, "event")) {
		s->name.len = 0;
		kbuf_add(&s->name, value, value_len);
	}
	/* Comments (an empty name), id, retry and unknown fields contain nothing of the answer. */
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
		kbuf_add(&s->line, bytes + start, i - start);
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
