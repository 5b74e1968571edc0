/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: Nsight Compute, pages "raw" (a column per metric, a row per launch, units in a row of
 * their own) and "details" (a row per metric, and a row per recommendation) as CSV.
 */
#include "kprofile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"

/* Columns before the metrics. Those of NVTX ranges have a colon in their names. */
static const char *const base[] = { "ID", "Process ID", "Process Name", "Host Name", "Kernel Name",
	"Kernel Time", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC" };
static const char *const details[] = { "Section Name", "Metric Name", "Metric Unit", "Metric Value",
	"Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup",
	"Body Item Label" };

static bool
among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

struct header {
	char **cell;
	size_t width, metrics; /* metrics: first column that is none of the base */
	long id, process, kernel;
	bool details;
};

static void
header_free(struct header *h)
{
	for (size_t i = 0; i < h->width; i++)
		free(h->cell[i]);
	free(h->cell);
	*h = (struct header){ 0 };
}

static long
need_column(const struct header *h, const char *name, const struct csv *c)
{
	long at = csv_find(h->cell, h->width, name);

	if (at < 0)
		text_fault(
		    c->text, c->line, "unknown layout: ncu's table has no column \"%s\"", name);
	return at;
}

static void
header_read(struct header *h, const struct csv *c)
{
	header_free(h);
	h->width = c->width;
	h->cell = kcalloc(c->width, sizeof *h->cell);
	for (size_t i = 0; i < c->width; i++)
		h->cell[i] = kstrdup(c->cell[i]);
	h->id = need_column(h, "ID", c);
	h->kernel = need_column(h, "Kernel Name", c);
	h->process = csv_find(h->cell, h->width, "Process ID");
	h->details = csv_find(h->cell, h->width, "Metric Name") >= 0;
	while (h->metrics < h->width &&
	    (among(h->cell[h->metrics], base, LEN(base)) || strchr(h->cell[h->metrics], ':')))
		h->metrics++;
	if (!h->details && h->metrics == h->width)
		text_fault(c->text, c->line, "ncu's table has no metrics");
	for (size_t i = h->metrics; i < h->width; i++) {
		const char *name = h->cell[i];

		if (h->details && !among(name, base, LEN(base)) &&
		    !among(name, details, LEN(details)) && !strchr(name, ':'))
			text_fault(c->text, c->line,
			    "unknown layout: ncu's details page has a column \"%.60s\"", name);
		if (!h->details && strchr(name, ' '))
			text_fault(c->text, c->line,
			    "unknown layout: ncu's raw page has a column \"%.60s\"", name);
	}
	if (h->details)
		for (size_t i = 0; i < 4; i++)
			need_column(h, details[i], c);
}

static const char *
cell(const struct header *h, const struct csv *c, const char *name)
{
	long at = csv_find(h->cell, h->width, name);

	return at >= 0 && (size_t)at < c->width ? c->cell[at] : "";
}

static void
set_fact(struct launch *l, const char *key, const char *value)
{
	if (*value && !json_object_get(l->facts, key))
		json_object_set_new(l->facts, key, kjson_text(value, strlen(value)));
}

static struct launch *
launch_of(struct profile *p, const struct header *h, const struct csv *c)
{
	struct launch *l;

	if (c->width < h->metrics)
		text_fault(c->text, c->line,
		    "a row of %zu cells, fewer than the %zu that identify the launch", c->width,
		    h->metrics);
	l = profile_launch(p, h->process >= 0 ? c->cell[h->process] : "", c->cell[h->id], "");
	launch_name(l, c->cell[h->kernel], c->text, c->line);
	set_fact(l, "grid", cell(h, c, "Grid Size"));
	set_fact(l, "block", cell(h, c, "Block Size"));
	set_fact(l, "compute_capability", cell(h, c, "CC"));
	return l;
}

/* The units stand in the first row below the header of a raw page: no launch, so no id. */
static char **
units_row(const struct header *h, const struct csv *c)
{
	char **units = kcalloc(h->width, sizeof *units);

	if (c->width != h->width || *c->cell[h->id] || *c->cell[h->kernel])
		text_fault(c->text, c->line, "unknown layout: ncu's raw page has no row of units");
	for (size_t i = 0; i < h->width; i++)
		units[i] = kstrdup(c->cell[i]);
	return units;
}

static void
raw_row(struct profile *p, const struct header *h, char *const *units, const struct csv *c)
{
	struct launch *l = launch_of(p, h, c);

	if (c->width > h->width)
		text_fault(c->text, c->line, "a row of %zu cells, but the header has %zu", c->width,
		    h->width);
	if (c->width < h->width)
		profile_note(p, "%s:%ld: %zu of %zu metrics are missing at the end of the row",
		    c->text->name, c->line, h->width - c->width, h->width - h->metrics);
	for (size_t i = h->metrics; i < c->width; i++)
		launch_metric(l, h->cell[i], c->cell[i], units[i], c->text, c->line);
	set_fact(l, "device", cell(h, c, "device__attribute_display_name"));
}

/*
 * Metric rows end at the value, or one empty cell later; rows of recommendations are full and have
 * no metric.
 */
static void
details_row(struct profile *p, const struct header *h, const json_t *table, const struct csv *c)
{
	struct launch *l = launch_of(p, h, c);
	const char *section = cell(h, c, "Section Name"), *metric = cell(h, c, "Metric Name"),
	           *rule = cell(h, c, "Rule Name");
	long value = csv_find(h->cell, h->width, "Metric Value");

	if (*rule) {
		vendor_add(l, rule, section, cell(h, c, "Rule Type"),
		    cell(h, c, "Rule Description"), cell(h, c, "Estimated Speedup Type"),
		    cell(h, c, "Estimated Speedup"));
	} else if (*metric) {
		char *key = kasprintf("%s|%s", section, metric);
		/* The same label has other meanings in other sections, so both make the key. */
		const char *name =
		    json_string_value(json_object_get(json_object_get(table, "labels"), key));

		if ((size_t)value >= c->width)
			text_fault(c->text, c->line,
			    "a row of %zu cells that ends before its \"Metric Value\"", c->width);
		if (!strcmp(section, "Command line profiler metrics"))
			name = metric;
		if (name)
			launch_metric(
			    l, name, c->cell[value], cell(h, c, "Metric Unit"), c->text, c->line);
		free(key);
	}
}

/*
 * Lines of the tool itself, which begin neither with a quote nor with a blank: the version, when it
 * is told, and the reason when nothing could be measured.
 */
void
ncu_preface(struct profile *p, const struct text *t, const json_t *table)
{
	long line = 1;

	for (const char *s = t->data; *s; line++) {
		size_t n = strcspn(s, "\n");
		char *copy = kstrndup(s, n), *at = strstr(copy, "Version ");
		const json_t *versions = json_object_get(table, "versions");
		bool known = false;
		json_t *v;
		size_t i;

		if (*copy == '"' || *copy == ' ')
			at = NULL;
		else if (strstr(copy, "ERR_NVGPUCTRPERM"))
			kdie(K_MISSING,
			    "%s:%ld: ncu has no permission to read performance counters "
			    "(ERR_NVGPUCTRPERM)",
			    t->file, line);
		if (at &&
		    ((at == copy && strstr(at, "(build ")) || strstr(copy, "ncu") ||
		        strstr(copy, "Nsight"))) {
			at += strlen("Version ");
			json_array_foreach(versions, i, v)
				known |= !strncmp(
				    at, json_string_value(v), strlen(json_string_value(v)));
			if (!known)
				text_fault(t, line, "ncu %.*s: this version is not supported",
				    (int)strcspn(at, " \r"), at);
			profile_note(p, "ncu %.*s", (int)strcspn(at, " \r"), at);
		}
		free(copy);
		s += n + (s[n] == '\n');
	}
}

void
ncu_csv(struct profile *p, const struct text *t, const json_t *table, const char *format)
{
	struct csv c = { .text = t };
	struct header h = { 0 };
	char **units = NULL;
	size_t rows = 0;

	ncu_preface(p, t, table);
	while (csv_next(&c, true)) {
		if (!strcmp(c.cell[0], "ID")) {
			for (size_t i = 0; units && i < h.width; i++)
				free(units[i]);
			free(units);
			units = NULL;
			header_read(&h, &c);
			if (h.details != !strcmp(format, "ncu-details"))
				text_fault(t, c.line, "this is the %s page of ncu, not %s",
				    h.details ? "details" : "raw", format);
			continue;
		}
		if (!h.width)
			continue; /* a quoted word of the program that was profiled */
		if (h.details) {
			details_row(p, &h, table, &c);
		} else if (!units) {
			units = units_row(&h, &c);
			continue;
		} else {
			raw_row(p, &h, units, &c);
		}
		rows++;
	}
	if (!rows)
		text_fault(
		    t, c.next, "this file of ncu contains no launch; was no kernel profiled?");
	for (size_t i = 0; units && i < h.width; i++)
		free(units[i]);
	free(units);
	header_free(&h);
	csv_close(&c);
}
