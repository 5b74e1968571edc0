/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprofile: tables of comma-separated values. Quoted cells may contain commas, doubled quotes and
 * line feeds.
 */
#include "kprofile.h"

struct csv csv;

static void
read_row(void)
{
	/* the text in quotes, their end, or an unquoted text; then a comma or the end of the row */
	static const char form[] = "\\A(?:\"((?:[^\"]++|\"\")*+)(\"?)|([^,\\r\\n]*+))"
	                           "(?:(,)|(\\r?(?:\\n|\\z)))?";
	const char *end = input.data + input.len;
	struct kregex_span at[6];

	do {
		auto_free char *quoted = NULL, *cell = NULL;

		if (!kregex_find(form, csv.p, (size_t)(end - csv.p), at, LEN(at)))
			input_fault("a cell is too long");
		quoted = kregex_text(csv.p, at[1]);
		if (quoted && at[2].from == at[2].to)
			input_fault("a quoted cell does not end: the file is truncated or not CSV");
		if (at[4].from == KREGEX_UNSET && at[5].from == KREGEX_UNSET)
			input_fault("text after the closing quote of a cell");
		cell = quoted ? kregex_sub("\"\"", quoted, "\"") : kregex_text(csv.p, at[3]);
		json_array_append_new(csv.row, kjson_string(cell));
		kforeach_of(one, csv.p, at->to)
			csv.next += *one == '\n';
		csv.p += at->to;
	} while (at[4].from != KREGEX_UNSET);
}

bool
csv_next(bool quoted)
{
	json_decref(csv.row);
	csv.row = json_array();
	if (!csv.p) {
		csv.p = input.data;
		csv.next = 1;
	}
	/* Output of the profiler and of the profiled program may appear between the rows. */
	while (*csv.p && (quoted ? *csv.p != '"' : strchr("\r\n", *csv.p) != NULL)) {
		csv.p += strcspn(csv.p, "\n");
		csv.next++;
		csv.p += *csv.p == '\n';
	}
	if (!*csv.p)
		return false;
	input.line = csv.next;
	read_row();
	return true;
}

void
csv_take(json_t **to)
{
	json_decref(*to);
	*to = json_incref(csv.row);
}

size_t
csv_column(const char *name)
{
	kjson_foreach_text(one, csv.head)
		if (!strcmp(one, name))
			return kjson_at(one);
	return SIZE_MAX;
}

const char *
csv_cell(const char *name)
{
	size_t at = csv_column(name);

	return at == SIZE_MAX ? NULL : kjson_item(csv.row, at) ?: "";
}

const char *
csv_need(const char *name)
{
	const char *s = csv_cell(name);

	if (!s)
		input_fault(
		    "unknown layout: the table of %s has no column \"%s\"", input.format, name);
	return s;
}

void
csv_close(void)
{
	json_decref(csv.row);
	json_decref(csv.head);
	csv = (struct csv){ 0 };
}
