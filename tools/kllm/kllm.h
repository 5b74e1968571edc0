/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kllm: what its files share: the prompt to answer, the answer under construction, and the
 * providers.
 */
#pragma once

#include "kcamp.h"
#include "kio.h"
#include "kusage.h"

/* Largest answer that is read from anybody, in bytes; a longer one is not read to its end. */
#define KLLM_BODY_MAX ((size_t)32 << 20)

/* One prompt and where its answer goes. */
extern struct call {
	struct krec rec; /* the record that holds the prompt */
	char id[24];     /* "007/02" */
	const char *system, *user, *sha256;
	size_t stable_bytes;  /* leading bytes of USER that every prompt of the campaign shares */
	const char *provider; /* knob model.provider; "exec:COMMAND" in full */
	const char *model;    /* knob model.name; "" when not set */
	char *priced;         /* the model that model.price_* apply to; owned */
	const char *base_url; /* of the server; "" for the provider's default */
	const char *out;      /* path of the output; NULL for stdout */
	bool allow_secrets;
} call; /* of this process; kept to the end */

/* The answer under construction, from reply_init to reply_finish. */
extern struct reply {
	struct kbuf text, reasoning; /* any bytes; cleaned when stored */
	const char *provider;
	char *model;        /* owned */
	const char *finish; /* stop, length, refusal, content_filter, other */
	json_t *flags;      /* array of strings; owned */
	json_t *failures;   /* array: the class of every failed attempt; owned */
	struct kusage usage;
	int64_t nanousd; /* cost; KUSAGE_UNKNOWN when no price is known */
	int attempts;
	double first_byte_ms, total_ms; /* below 0: not measured */
	/* leave out the time of day: the answer depends only on the prompt */
	bool timeless;
} reply;

void reply_init(const char *provider, const char *model);
void reply_flag(const char *flag);
/* Member "reply" of the record. New reference. */
json_t *reply_finish(void);
/* No answer, because it is longer than KLLM_BODY_MAX: its candidate fails. */
void reply_too_large(void);
/*
 * The value of member "reply" in the form that a record allows: cut to KIO_REPLY_MAX, and flagged,
 * if it is longer. Takes MEMBER.
 */
json_t *reply_bounded(json_t *member);
/* Usage of a model that reports none: estimated from the text, and marked as such. */
void reply_estimate(void);
/* The name of the model that answered; NULL: the one that was asked. */
void reply_model(const char *name);
/*
 * Takes an answer that a person or a command wrote as JSON: {"text", "reasoning", "model",
 * "finish", "usage", "cost_usd"}. False when it has no text.
 */
bool reply_read(const json_t *o);
/* The cost, if it is not known yet, usage was reported and a price is known. */
void reply_price(void);

/* models.c */
/*
 * The row for MODEL as this call's provider serves it; loaded once, owned here. Warns once per
 * machine when there is none, and gives an empty object.
 */
const json_t *models_row(const char *model);

/*
 * Tokens of a text of LEN bytes, estimated on the high side (2.9 bytes per token, the 5th
 * percentile of source code).
 */
int64_t models_tokens(size_t len);

/*
 * The providers. Each returns the value of member "reply" (new reference), or ends the program with
 * the exit code that says why there is none.
 */
json_t *ask_null(void);
json_t *ask_replay(void);
json_t *ask_file(void);
json_t *ask_exec(void);
json_t *ask_http(void);
/* Ends the program unless there are an address and a key for the server. Sends nothing. */
void http_check(void);
/* After the record is safe: removes what a resumed run would have needed. */
void http_committed(void);
