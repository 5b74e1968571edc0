/* SPDX-License-Identifier: Apache-2.0 */
/* csv: see csv.h. Quoting as in RFC 4180; lines end with LF or CRLF. */
#include "csv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kio.h"
#include "kutil.h"

/* One cell from P; *END is left at the comma, the line end or the end of the text. */
static char *
read_cell(const char *p, const char **end)
{
	struct kbuf b = { 0 };

	kbuf_add(&b, "", 0);
	p += strspn(p, " \t");
	if (*p == '"') {
		for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
			kbuf_add(&b, p, 1);
			p += *p == '"';
		}
		p += strcspn(p, ",\n");
	} else {
		size_t n = strcspn(p, ",\n"), keep = n;

		while (keep && strchr(" \t\r", p[keep - 1]))
			keep--;
		kbuf_add(&b, p, keep);
		p += n;
	}
	*end = p;
	return b.data;
}

static void
read_row(struct csv *csv, const char **p)
{
	size_t n = 0;
	char **row = NULL;

	for (;;) {
		row = krealloc(row, (n + 1) * sizeof *row);
		row[n++] = read_cell(*p, p);
		if (**p != ',')
			break;
		++*p;
	}
	csv->cell = krealloc(csv->cell, (csv->rows + 1) * sizeof *csv->cell);
	csv->width = krealloc(csv->width, (csv->rows + 1) * sizeof *csv->width);
	csv->cell[csv->rows] = row;
	csv->width[csv->rows++] = n;
}

/* Index of a header's name; a name that the command did not print is a fault of the campaign. */
static size_t
index_of(const struct csv *csv, const char *name)
{
	for (size_t i = 0; csv->rows && i < csv->width[0]; i++)
		if (!strcmp(csv->cell[0][i], name))
			return i;
	kdie(K_USAGE, "%s: the command printed no column '%s'", csv->tier, name);
}

static const char *
cell(const struct csv *csv, size_t row, const char *name)
{
	size_t i = index_of(csv, name);

	return i < csv->width[row] ? csv->cell[row][i] : "";
}

bool
csv_has(const struct csv *csv, const char *column)
{
	return json_object_get(csv->columns, column) != NULL;
}

static double
unit_of(const struct csv *csv)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 }, { "s", 1e9 } };
	const char *name = kjson_str_or(csv->columns, "unit", "ms");

	for (size_t i = 0; i < LEN(units); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	kdie(K_USAGE, "%s: columns.unit: '%s' is not ms, us, ns or s", csv->tier, name);
}

void
csv_open(
    struct csv *csv, const char *tier, const char *text, const json_t *columns, const char *needed)
{
	*csv = (struct csv){ .tier = tier, .columns = columns };
	csv->unit_ns = unit_of(csv);
	if (!kjson_str_or(columns, needed, NULL))
		kdie(K_USAGE, "%s: columns.%s: must be the name of a column", tier, needed);
	while (*text) {
		size_t blank = strspn(text, " \t\r");

		if (text[blank] == '\n' || !text[blank])
			text += blank;
		else
			read_row(csv, &text);
		text += *text == '\n';
	}
	index_of(csv, kjson_str_or(columns, needed, ""));
}

void
csv_close(struct csv *csv)
{
	for (size_t r = 0; r < csv->rows; r++) {
		for (size_t i = 0; i < csv->width[r]; i++)
			free(csv->cell[r][i]);
		free(csv->cell[r]);
	}
	free(csv->cell);
	free(csv->width);
	*csv = (struct csv){ 0 };
}

char *
csv_workload(const struct csv *csv, size_t row)
{
	const json_t *names = json_object_get(csv->columns, "workload");
	struct kbuf b = { 0 };

	if (json_is_string(names))
		return kstrdup(cell(csv, row, json_string_value(names)));
	for (size_t i = 0; i < json_array_size(names); i++)
		kbuf_printf(&b, "%s%s", i ? "x" : "",
		    cell(csv, row, json_string_value(json_array_get(names, i)) ?: ""));
	return b.data ? b.data : kstrdup("all");
}

bool
csv_number(const struct csv *csv, size_t row, const char *column, double *value)
{
	const char *name = kjson_str_or(csv->columns, column, NULL), *text;
	char *end;

	if (!name)
		return false;
	text = cell(csv, row, name);
	*value = strtod(text, &end);
	return end > text && !*end;
}

bool
csv_ok(const struct csv *csv, size_t row)
{
	static const char *const yes[] = { "pass", "passed", "ok", "true", "yes", "1", "correct" };
	static const char *const no[] = { "fail", "failed", "error", "false", "no", "0", "wrong",
		"" };
	const char *text = cell(csv, row, kjson_str_or(csv->columns, "ok", ""));

	for (size_t i = 0; i < LEN(yes); i++)
		if (!strcasecmp(yes[i], text))
			return true;
	for (size_t i = 0; i < LEN(no); i++)
		if (!strcasecmp(no[i], text))
			return false;
	kdie(K_USAGE, "%s: column '%s': '%s' must be pass or fail", csv->tier,
	    kjson_str_or(csv->columns, "ok", ""), text);
}
