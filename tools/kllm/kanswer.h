/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kanswer: the body of a model server's response, decoded as it arrives: text, reasoning, how it
 * ended, usage, or the error inside it. Reads streams and complete JSON bodies of the chat
 * completions API and of the messages API, and detects which one it is.
 */
#pragma once

#include "kusage.h"
#include "kutil.h"

/* Longest line of a stream, in bytes; a longer one makes it bad. */
#define KANSWER_LINE_MAX ((size_t)4 << 20)

enum kanswer_kind { KANSWER_EMPTY, KANSWER_STREAM, KANSWER_JSON, KANSWER_ALIEN };

struct kanswer_error {
	bool present;
	int status; /* as an HTTP status; 0 when the error does not say */
	char type[64], code[64], param[64];
	char message[512];
};

/* Zero-initialise; free with kanswer_free. */
struct kanswer {
	/* from the first bytes; ALIEN: neither JSON nor events, such as a proxy's HTML */
	enum kanswer_kind kind;
	struct kbuf text, reasoning, refusal;
	char *model;      /* as the server names it; NULL: not given */
	char finish[48];  /* as the server spells it; "" until it has ended */
	char detail[256]; /* details of a refusal or an unusual end */
	/* the end mark came ([DONE], message_stop), or the body was complete JSON */
	bool done;
	struct kusage usage;
	struct kanswer_error error;
	/* grows with every piece of content; comments and pings do not count */
	size_t progress;
	size_t malformed; /* events that were not JSON */
	bool bad;         /* a line was too long; everything after it is ignored */
	struct kbuf body; /* all that was fed */
	/* inside */
	size_t at, scanned; /* the line that is read, and what of it has no end */
	struct kbuf data;   /* of the event so far */
};

/*
 * False when the body can no longer be an answer: a line over KANSWER_LINE_MAX, or alien from its
 * first byte.
 */
bool kanswer_feed(struct kanswer *a, const char *bytes, size_t len);
/* The body has ended. Call once, before reading FINISH, DONE, USAGE and ERROR for the last time. */
void kanswer_end(struct kanswer *a);
void kanswer_free(struct kanswer *a);

/* The answer ended normally: nothing more would have come. */
bool kanswer_complete(const struct kanswer *a);
/* FINISH in the form used in records: stop, length, refusal, content_filter, other. */
const char *kanswer_finish(const struct kanswer *a);

/*
 * The error in the JSON or text body of a failed response: {"error":{…}}, {"error":"…"},
 * {"detail":…}, {"message":…}, or its start.
 */
void kanswer_error_body(struct kanswer_error *e, const char *body, size_t len);
