/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kusage: what a model call used and what that costs. Models, prices and quirks are data:
 * tools/kllm/models.tsv, or the file that $KLLM_MODELS names. Money is counted in integer
 * nano-dollars (1e-9 USD), prices are US dollars per million tokens.
 */
#ifndef KUSAGE_H
#define KUSAGE_H

#include "kio.h"

#define KUSAGE_UNKNOWN INT64_MIN
/* What a server counts is below this, or no count: times any price, it fits. */
#define KUSAGE_COUNT_MAX 1e9

/* Counts include their parts: input includes the cached tokens, output the reasoning. */
struct kusage {
	int64_t input, output;
	int64_t reasoning;      /* part of output */
	int64_t cache_read;     /* part of input */
	int64_t cache_write;    /* part of input: all that was written */
	int64_t cache_write_1h; /* part of cache_write: kept for an hour */
	bool known;             /* the provider reported it */
	bool estimated;         /* reckoned from the text */
	bool apart;             /* it was spelled so that input did not count the cached part */
};

/*
 * Counts as any provider, or a reply.json, spells them, from the object OBJ; those that it does not
 * have stay as they are, for streams tell them bit by bit. False when it has neither input nor
 * output.
 */
bool kusage_read(struct kusage *u, const json_t *obj);

/* Adds B to A; the sum is known if both are, estimated if one is. */
void kusage_add(struct kusage *a, const struct kusage *b);

enum kthinking { KTHINKING_NONE, KTHINKING_ADAPTIVE, KTHINKING_BUDGET };

/*
 * Prices are in pico-dollars (1e-12 USD) per token: USD per million tokens times 1e6. -1: unknown.
 */
struct kmodel {
	char provider[32];
	char match[128]; /* the row's pattern; "" when no row matched */
	int64_t input, cache_read, cache_write_5m, cache_write_1h, output;
	/* input tokens above which the whole request has the tier's prices; 0: no tier */
	int64_t tier_start;
	int64_t tier_input, tier_cache, tier_output;
	int64_t max_output; /* tokens; 0: unknown */
	char cap_field[32]; /* "max_tokens" or "max_completion_tokens" */
	bool sampling;      /* temperature may be sent */
	enum kthinking thinking;
	int64_t min_cache; /* tokens a prefix needs before it is cached */
	char from_date[16];
	long line; /* of the row in the file */
};

/*
 * The row of FILE for MODEL on DATE ("2026-11-21"): the first row whose pattern matches the name,
 * or the name behind its last slash ("vendor/model"); of the rows with that same pattern the latest
 * that is in force. A model on this machine or its own network (LOCAL) is looked for among the rows
 * of provider "local" only, any other model among the rest. False, with M filled with careful
 * defaults, when there is none. A malformed file ends the program with K_USAGE and file:line.
 */
bool kmodel_find(
    struct kmodel *m, const char *file, bool local, const char *model, const char *date);

/*
 * Cost of U in nano-dollars, rounded to nearest; KUSAGE_UNKNOWN when a price that is needed is
 * unknown.
 */
int64_t kmodel_cost(const struct kmodel *m, const struct kusage *u);

#endif
