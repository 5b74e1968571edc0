/* SPDX-License-Identifier: Apache-2.0 */
/* request: the body of a request to either API. The same call always gives the same bytes. */
#pragma once

#include "kanswer.h"
#include "kllm.h"

enum api { API_CHAT, API_MESSAGES };

/* What can be omitted when a server refuses it, once each. */
enum {
	DROP_TEMPERATURE = 1,
	DROP_EFFORT = 2,
	DROP_STREAM_OPTIONS = 4,
	DROP_CACHE = 8,
	DROP_THINKING = 16,
	DROP_CAP = 32,
	SWAP_CAP = 64 /* max_tokens <-> max_completion_tokens */
};

/* The request that is made now. */
extern struct request {
	enum api api;
	const struct kmodel *row;
	const char *model;
	long cap; /* most tokens of the answer */
	unsigned dropped;
} request;

/* The body; the caller frees. */
char *request_body(size_t *len);

/*
 * The parameter that error E of status 400 or 422 is about, as a DROP_ bit, if it is sent and can
 * be omitted or spelled differently; 0: none. Sets *NAME to its name.
 */
unsigned request_refused(const struct kanswer_error *e, const char **name);
