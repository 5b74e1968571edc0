/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models: the row of the model table for a call, and token estimates for texts whose tokenizer is
 * not known.
 */
#pragma once

#include "kllm.h"

/*
 * The row for MODEL as this call's provider serves it; loaded once, owned here. Warns once per
 * machine when there is none.
 */
const struct kmodel *models_row(const char *model);

/*
 * Tokens of a text of LEN bytes, estimated on the high side (2.9 bytes per token, the 5th
 * percentile of source code).
 */
int64_t models_tokens(size_t len);
