/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kusage: the usage of a model call, and its cost. Models, prices and quirks are data:
 * tools/kllm/models.json, or the file in $KLLM_MODELS, in the form of docs/schemas/models-1.json.
 * Money is counted in integer nano-dollars (1e-9 USD), prices are US dollars per million tokens.
 */
#pragma once

#include "kio.h"

#define KUSAGE_UNKNOWN INT64_MIN
/* A server's count must be below this to be valid: its product with any price fits. */
#define KUSAGE_COUNT_MAX 1e9

/* Counts include their parts: input includes the cached tokens, output the reasoning. */
struct kusage {
	int64_t input, output;
	int64_t reasoning;   /* part of output */
	int64_t cache_read;  /* part of input */
	int64_t cache_write; /* part of input */
	bool known;          /* the provider reported it */
	bool estimated;      /* estimated from the text */
	bool apart;          /* the provider's input count did not include the cached part */
};

/*
 * Reads counts under the names of any provider, or of a reply.json, from the object OBJ; missing
 * ones keep their values, because streams send them one by one. False when it has neither input nor
 * output.
 */
bool kusage_read(struct kusage *u, const json_t *obj);

/* Adds B to A; the sum is known if both are, estimated if one is. */
void kusage_add(struct kusage *a, const struct kusage *b);

/*
 * The row of FILE for MODEL on DATE ("2026-11-21"): the first row whose pattern matches the name,
 * or the name after its last slash ("vendor/model"); among rows with that same pattern the latest
 * that is in force. A model on this machine or its own network (LOCAL) is looked up only in the
 * rows of provider "local", any other model in the rest. New reference; NULL: there is none. A
 * malformed file ends the program with K_USAGE.
 */
json_t *kmodel_find(const char *file, bool local, const char *model, const char *date);

/*
 * Cost of U with the prices of ROW in nano-dollars, rounded to nearest; KUSAGE_UNKNOWN when a
 * required price is unknown.
 */
int64_t kmodel_cost(const json_t *row, const struct kusage *u);
