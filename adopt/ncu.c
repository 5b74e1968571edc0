/* SPDX-License-Identifier: Apache-2.0 */
/* ncu: see ncu.h. */
#include "ncu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kutil.h"

enum { CELLS = 512 };

/* A row, split in place. */
struct row {
	char *cell[CELLS];
	size_t count;
};

/* The columns of interest. */
enum column { NAME, BLOCK, GRID, TIME, INST, READ, WRITE, COLUMNS };

static const char *const titles[COLUMNS] = { "Kernel Name", "Block Size", "Grid Size",
	"gpu__time_duration.sum", "smsp__thread_inst_executed.sum", "dram__bytes_read.sum",
	"dram__bytes_write.sum" };

/* RFC 4180: quoted cells contain commas and doubled quotes. */
static void
part(char *line, struct row *r)
{
	char *p = line, *to;

	r->count = 0;
	while (r->count < CELLS) {
		bool quoted = *p == '"';

		p += quoted;
		r->cell[r->count++] = to = p;
		while (*p && (quoted ? *p != '"' || p[1] == '"' : *p != ',')) {
			p += quoted && *p == '"';
			*to++ = *p++;
		}
		p += quoted && *p == '"';
		if (*p != ',') {
			*to = '\0';
			return;
		}
		p++;
		*to = '\0';
	}
}

/* Also "1,073,741,824"; NAN for "n/a" and missing values. */
static double
number(const struct row *r, const int at[COLUMNS], enum column c)
{
	char text[64], *to = text, *end;
	double d;

	if (at[c] < 0 || (size_t)at[c] >= r->count)
		return NAN;
	for (const char *p = r->cell[at[c]]; *p && to < text + sizeof text - 1; p++)
		if (*p != ',')
			*to++ = *p;
	*to = '\0';
	d = strtod(text, &end);
	return end > text && !*end ? d : NAN;
}

static const char *
text_of(const struct row *r, const int at[COLUMNS], enum column c)
{
	return at[c] >= 0 && (size_t)at[c] < r->count ? r->cell[at[c]] : "";
}

static void
find_columns(const struct row *r, int at[COLUMNS])
{
	for (size_t c = 0; c < COLUMNS; c++) {
		at[c] = -1;
		for (size_t i = 0; i < r->count; i++)
			if (!strcmp(r->cell[i], titles[c]))
				at[c] = (int)i;
	}
}

/* "row_mix<float>(const float *, int)" has the name row_mix. */
static bool
is_named(const char *name, const char *kernel)
{
	size_t n = strlen(kernel);
	const char *p = strstr(name, kernel);

	return p && (p == name || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')) &&
	    !isalnum((unsigned char)p[n]) && p[n] != '_';
}

static bool
read_call(const struct row *r, const int at[COLUMNS], struct kconfigs_call *c)
{
	long long g[3] = { 0, 1, 1 }, b[3] = { 0, 1, 1 };
	double ns = number(r, at, TIME);

	if (sscanf(text_of(r, at, GRID), "(%lld, %lld, %lld)", &g[0], &g[1], &g[2]) < 1 ||
	    sscanf(text_of(r, at, BLOCK), "(%lld, %lld, %lld)", &b[0], &b[1], &b[2]) < 1 ||
	    !isfinite(ns))
		return false;
	*c = (struct kconfigs_call){ { true, 6, { g[0], g[1], g[2], b[0], b[1], b[2] } }, ns / 1e3,
		number(r, at, INST), number(r, at, READ) + number(r, at, WRITE), NULL };
	return true;
}

struct kconfigs_call *
ncu_calls(const char *file, const char *kernel, size_t *n)
{
	char *text = kread_file_or_die(file, (size_t)1 << 30, NULL);
	struct kconfigs_call *calls = NULL;
	struct row *row = kmalloc(sizeof *row);
	bool header = false;
	int at[COLUMNS];

	*n = 0;
	kpart_foreach(line, text, "\r\n") {
		/* Output of the application, or remarks of ncu. */
		if (!header && strncmp(line, "\"ID\"", 4))
			continue;
		part(line, row);
		if (!header) {
			find_columns(row, at);
			header = true;
			if (at[NAME] < 0 || at[GRID] < 0 || at[BLOCK] < 0 || at[TIME] < 0)
				kdie(K_USAGE,
				    "%s: columns are missing (Kernel Name, Grid Size, Block Size "
				    "or gpu__time_duration.sum); make the file with: ncu --metrics "
				    "gpu__time_duration.sum --csv --page raw --print-units base",
				    file);
			continue;
		}
		/* The row with the units has no ID. */
		if (!*row->cell[0] || !is_named(text_of(row, at, NAME), kernel))
			continue;
		calls = krealloc(calls, (*n + 1) * sizeof *calls);
		*n += read_call(row, at, &calls[*n]);
	}
	if (!*n)
		kdie(K_USAGE, "%s: contains no launch of %s with grid, block and time", file,
		    kernel);
	free(row);
	free(text);
	return calls;
}
