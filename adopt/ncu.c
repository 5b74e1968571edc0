/* SPDX-License-Identifier: Apache-2.0 */
/* ncu: see ncu.h. views/ncu.jq knows the columns. */
#include "ncu.h"

#include "kio.h"
#include "kjq.h"
#include "kregex.h"

/* New reference. */
static json_t *
view(const json_t *kernels, json_t *titles, json_t *rows)
{
	json_auto_t *input =
	    json_pack("{s:O,s:o,s:o}", "kernels", kernels, "titles", titles, "rows", rows);

	return kjq("views/ncu.jq", input);
}

char *
ncu_command(const json_t *kernels)
{
	json_auto_t *found = view(kernels, json_array(), json_array());

	return kstrdup(kjson_str(found, "command"));
}

/* The cells of a line. RFC 4180: quoted ones contain commas and doubled quotes. New reference. */
static json_t *
cells_of(const char *line)
{
	static const char cell[] = "\\A(?:\"((?:[^\"]|\"\")*+)\"?|([^,]*))(,?)";
	json_t *cells = json_array();
	size_t len = strlen(line);
	struct kregex_span at[4];

	do {
		auto_free char *text = NULL, *plain = NULL;

		kregex_find(cell, line, len, at, LEN(at));
		text = kregex_text(line, at[at[1].from == KREGEX_UNSET ? 2 : 1]);
		plain = kregex_sub("\"\"", text, "\"");
		json_array_append_new(cells, kjson_string(plain));
		line += at[0].to;
		len -= at[0].to;
	} while (at[3].to > at[3].from);
	return cells;
}

/* The cells of a launch that are used, by title: --set full gives more than 2000. New reference. */
static json_t *
row_of(const json_t *titles, const json_t *cells)
{
	static const char used[] = "\\A(?:ID|Kernel Name|Grid Size|Block "
	                           "Size|gpu__time_duration\\.sum|dram__bytes_\\w+\\.sum|"
	                           "smsp__(?:cycles_elapsed|(?:sass_)?thread_inst_executed).*|"
	                           "sm__ops_path_tensor_src_.*)\\z";
	json_t *row = json_object();

	for (size_t i = json_array_size(titles); i-- > 0;)
		if (kregex_is(used, kjson_item(titles, i)))
			json_object_set(row, kjson_item(titles, i), json_array_get(cells, i));
	return row;
}

json_t *
ncu_calls(const char *file, const json_t *kernels)
{
	auto_free char *text = kread_file_or_die(file, (size_t)1 << 30, NULL);
	json_t *titles = json_array(), *rows = json_array();
	json_auto_t *found = NULL;
	json_t *fault;

	kpart_foreach(line, text, "\r\n") {
		json_auto_t *cells = NULL;
		bool first = !json_array_size(titles);

		/* Output of the application, or remarks of ncu. */
		if (first && !kbegins(line, NCU_TITLES))
			continue;
		cells = cells_of(line);
		if (first)
			json_array_extend(titles, cells);
		else
			json_array_append_new(rows, row_of(titles, cells));
	}
	found = view(kernels, titles, rows);
	fault = json_object_get(found, "fault");
	if (fault)
		kdie_usage("%s: %s", file, json_string_value(fault));
	return json_incref(json_object_get(found, "calls"));
}
