/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the table of statuses: it agrees with itself, with the schema and with the manual.
 */
#include "status.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

static void
test_rows(void)
{
	for (int s = STATUS_NONE + 1; s < STATUS_COUNT; s++) {
		const struct status_row *row = &status_rows[s];

		tap_check((int)status_named(row->name) == s && *row->phrase, row->name, __FILE__,
		    __LINE__);
		tap_check((row->fault == FAULT_NONE) == (s == STATUS_CORRECT) &&
		        (row->rung == STATUS_TOP_RUNG) == (s == STATUS_CORRECT) &&
		        (row->rung < 2 || row->built),
		    row->name, __FILE__, __LINE__);
		if (row->rung)
			tap_check(
			    row->rung >= status_rows[s - 1].rung, "rungs rise", __FILE__, __LINE__);
	}
	CHECK(!status_named(NULL) && !status_named("") && !status_named("unheard_of") &&
	    !status_named(status_rows[STATUS_NONE].name));
	CHECK(status_repairable(STATUS_PARTIAL) && status_repairable(STATUS_COMPILE_ERROR));
	CHECK(!status_repairable(STATUS_CORRECT) && !status_repairable(STATUS_REJECTED));
	CHECK(status_eligible(STATUS_CORRECT) && !status_eligible(STATUS_QUARANTINED) &&
	    !status_eligible(STATUS_NONE));
	CHECK(start_named("error") == START_ERROR && start_named("unheard_of") == START_COUNT);
}

static void
test_records(void)
{
	json_t *o = json_pack("{s:{s:s},s:i}", "eval", "status", "partial", "status", 3);
	struct krec rec = { .json = o, .file = "f", .lineno = 1 };

	CHECK(status_at(o, "eval.status") == STATUS_PARTIAL &&
	    status_of_record(&rec) == STATUS_PARTIAL);
	CHECK(!status_at(o, "status") && !status_at(NULL, "status"));
	CHECK(status_or(o, "eval.none", STATUS_CORRECT) == STATUS_CORRECT);
	CHECK(status_or(o, "eval.status", STATUS_CORRECT) == STATUS_PARTIAL);
	json_object_set_new(json_object_get(o, "eval"), "status", json_string("unknown"));
	CHECK_EXIT(K_USAGE, status_of_record(&rec));
	json_decref(o);
}

static void
test_schema(void)
{
	char *path = kdata_path("docs/schemas/eval-1.json");
	json_t *schema = kjson_load(path), *word;
	const json_t *words = kjson_path(schema, "properties.status.enum");
	size_t i;

	CHECK(json_array_size(words) == STATUS_COUNT - 1);
	json_array_foreach((json_t *)words, i, word)
		tap_check(status_named(json_string_value(word)), json_string_value(word), __FILE__,
		    __LINE__);
	json_decref(schema);
	free(path);
}

/* kiln-record(5) has a row for each, with its rung. */
static void
test_manual(void)
{
	char *path = kdata_path("docs/kiln-record.5"),
	     *text = kread_file_or_die(path, 1 << 20, NULL);

	for (int s = STATUS_NONE + 1; s < STATUS_COUNT; s++) {
		char *row = kasprintf(".It %s Ta %d Ta ", status_rows[s].name, status_rows[s].rung);

		tap_check(strstr(text, row), row, __FILE__, __LINE__);
		free(row);
	}
	free(text);
	free(path);
}

int
main(void)
{
	test_rows();
	test_records();
	test_schema();
	test_manual();
	return tap_done();
}
