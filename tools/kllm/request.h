/* SPDX-License-Identifier: Apache-2.0 */
/* request: the body of a request to either API. The same call always gives the same bytes. */
#pragma once

#include "kanswer.h"
#include "kllm.h"

enum api { API_CHAT, API_MESSAGES };

/* The request that is made now. */
extern struct request {
	enum api api;
	const json_t *row; /* of the table of models */
	const char *model;
	long cap;        /* most tokens of the answer */
	json_t *omitted; /* names of what the server refuses; owned */
	char *body;      /* owned */
} request;

/* The body; borrowed until the next one is made. */
const char *request_body(void);

/*
 * Omits the parameter that error E of status 400 or 422 is about, or spells it differently, from
 * the next request on, and returns its name; NULL: there is none.
 */
const char *request_omit(const struct kanswer_error *e);
