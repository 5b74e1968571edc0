/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec: facts about hardware with their sources, lines that cite them, and what follows from them
 * for a campaign.
 */
#ifndef KSPEC_H
#define KSPEC_H

#include "khw.h"
#include "kutil.h"

struct options {
	const char *campaign; /* --campaign; NULL: not given */
	const char *hardware; /* --hardware; NULL: the shipped folder */
	const char *output;
	const char *device;                 /* --device */
	const char *compute;                /* --compute */
	double flops, bytes, grid, time_ns; /* for tile; below 0: not given */
	bool json, tolerant;
	char **operands;
	size_t count;
};

/* The text for an unknown fact, everywhere. */
#define UNKNOWN "UNKNOWN (docs/hardware)"

/* The device of that name; otherwise the program ends with K_NO and lists similar names. */
const struct khw_device *device_or_die(const struct khw *h, const char *name);

/* Each returns an exit code. */
int command_show(const struct options *o);
int command_check(const struct options *o);
int command_roofline(const struct options *o);
int command_tile(const struct options *o);

/*
 * Values that a person has confirmed, from DIR/placeholder.ok: lines "metric: value unit", with a
 * reason after "#".
 */
struct consent {
	char *metric, *value, *unit;
	double number;
	long line;
};
struct consents {
	struct consent *list;
	size_t count;
};
/*
 * Kept to the end. None when there is no such file; a malformed line ends the program with K_USAGE.
 */
void consents_load(struct consents *c, const char *dir);
const struct consent *consent_for(const struct consents *c, const char *metric);

#endif
