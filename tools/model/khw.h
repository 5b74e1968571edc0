/* SPDX-License-Identifier: Apache-2.0 */
/*
 * khw: facts about hardware, from the files docs/hardware/DEVICE.md: one fact per line, each with
 * its source. docs/hardware/README.md defines the grammar. No program contains a figure of any
 * device: code that needs one asks here, by a device's exact name, and gets it with file and line,
 * or learns that it is unknown.
 */
#pragma once

#include "kio.h"
#include "ktask.h"

/* What a metric measures, which determines the units it may have. */
enum khw_dimension {
	KHW_RATE,
	KHW_BANDWIDTH,
	KHW_SIZE,
	KHW_CLOCK,
	KHW_POWER,
	KHW_COUNT,
	KHW_WIDTH,
	KHW_NAME,
	KHW_DIMENSIONS
};

/*
 * KHW_NOTHING: the device has no such thing. KHW_UNAVAILABLE: nobody has published it. Both have a
 * reason.
 */
enum khw_state { KHW_KNOWN, KHW_NOTHING, KHW_UNAVAILABLE };

struct khw_fact {
	const char *metric;
	enum khw_state state;
	const char *value, *unit; /* as written; NULL unless known */
	/*
	 * in the base unit: operations, bytes or cycles per second, bytes, W, bits, or a count; NAN
	 * for names
	 */
	double number;
	const char *evidence; /* vendor-published, derived …, architecture-analysis */
	/* title and address, and the place in it; for unknown facts the reason */
	const char *source;
	long line;
};

struct khw_device {
	const char *name; /* file name without ".md" */
	const char *file; /* path used in citations: docs/hardware/h200.md */
	const char *sha256;
	struct khw_fact *facts;
	size_t fact_count;
};

struct khw {
	struct khw_device *devices;
	size_t count;
	json_t *json; /* private: what was read; texts above are borrowed from it */
};

/*
 * The files of the folder that ships with kiln (FOLDER NULL) or of FOLDER, both cited as
 * docs/hardware, and of the folder hardware in the campaign DIR, if there is one (DIR may be NULL);
 * or only those that contain the text ONLY (NULL: all). Returns an array of {"file", "sha256",
 * "text"}, a new reference.
 */
json_t *khw_files(const char *folder, const char *dir, const char *only);
/*
 * All devices in these files; with ONLY, it takes less time. A malformed file, two values for one
 * metric or two files for one name end the program with K_USAGE, naming the places. Free with
 * khw_free.
 */
struct khw *khw_load(const char *folder, const char *dir, const char *only);
void khw_free(struct khw *h);
/*
 * Finds a device by its exact name or alias, ignoring case. NULL: none; facts of related devices
 * are never used instead.
 */
const struct khw_device *khw_find(const struct khw *h, const char *name);
/*
 * Names of devices whose names contain NAME or are contained in it, as one text for a message; may
 * be empty. The caller frees.
 */
char *khw_near(const struct khw *h, const char *name);
/* A fact in any state; NULL: the file does not mention it. */
const struct khw_fact *khw_fact(const struct khw_device *d, const char *metric);
/* The same, or NULL unless it is known. D may be NULL. */
const struct khw_fact *khw_known(const struct khw_device *d, const char *metric);

/* Whether METRIC is one that files may state, and its dimension. */
bool khw_metric(const char *metric, enum khw_dimension *dimension);
/* Factor from UNIT (may be NULL) to the base unit of a dimension; 0: no such unit. */
double khw_unit(enum khw_dimension dimension, const char *unit);
/* The valid units, "GB/s, TB/s": a text of kshown. */
const char *khw_units(enum khw_dimension dimension);
/* "metric: value unit <- file:Lnn"; the caller frees. */
char *khw_line(const struct khw_device *d, const struct khw_fact *f);
/*
 * The fact as a JSON object: metric, value, unit, evidence, source, file, line, sha256. New
 * reference.
 */
json_t *khw_json(const struct khw_device *d, const struct khw_fact *f);
/*
 * A word that hedges ("approximately", "~"), or NULL; lines of specifications contain none. Valid
 * until the next call.
 */
const char *khw_hedge(const char *line);
/*
 * "600 / 8", "8 * 2.5e3 / 1e3": numbers with *, / and x, from the left. False: not such a product.
 */
bool khw_product(const char *text, double *value);

/*
 * The metric whose rate bounds a task's arithmetic: the task's "compute", else the matrix rate for
 * the type of most of its elements, or the vector rate if the device has no such matrix unit. NULL
 * with the reason in *WHY. D may be NULL.
 */
const char *khw_compute(const struct khw_device *d, const struct ktask *t, const char **why);
