/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec: facts about hardware with their sources, lines that cite them, and what follows from them
 * for a campaign.
 */
#pragma once

#include "kcamp.h"
#include "khw.h"

extern struct given {
	const char *campaign; /* --campaign; NULL: not given */
	const char *hardware; /* --hardware; NULL: the shipped folder */
	const char *output;
	const char *device;                 /* --device */
	const char *compute;                /* --compute */
	double flops, bytes, grid, time_ns; /* for tile; below 0: not given */
	bool json, tolerant;
	char **operands;
	size_t count;
} given; /* on the command line */

/* The text for an unknown fact, everywhere. */
#define UNKNOWN "UNKNOWN (docs/hardware)"

/* The device of that name; otherwise the program ends with K_NO and lists similar names. */
const struct khw_device *device_or_die(const struct khw *h, const char *name);

/* Each returns an exit code. */
int command_check(void);
int command_roofline(void);
int command_tile(void);

/*
 * Values that a person has confirmed, from DIR/placeholder.ok: lines "metric: value unit", with a
 * reason after "#".
 */
extern struct consents {
	struct consent {
		char *metric, *value, *unit;
		double number;
		long line;
	} * list;
	size_t count;
} consents; /* kept to the end */
/* None when there is no such file; a malformed line ends the program with K_USAGE. */
void consents_load(const char *dir);
const struct consent *consent_for(const char *metric);
