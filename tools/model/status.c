/* SPDX-License-Identifier: Apache-2.0 */
/* status: see status.h. */
#include "status.h"

const struct status_row status_rows[STATUS_COUNT] = {
	[STATUS_NONE] = { "unknown", "was not evaluated", 0, false, FAULT_NONE },
	[STATUS_REJECTED] = { "rejected", "breaks a rule of the evaluation", 0, false,
	    FAULT_RULES },
	[STATUS_QUARANTINED] = { "quarantined", "gave a result that cannot be trusted", 0, true,
	    FAULT_RULES },
	[STATUS_NO_CODE] = { "no_code", "holds no code", 0, false, FAULT_BUILD },
	[STATUS_NO_PLAN] = { "no_plan", "states no valid plan", 0, false, FAULT_PLAN },
	[STATUS_COMPILE_ERROR] = { "compile_error", "does not build", 1, false, FAULT_BUILD },
	[STATUS_RUN_ERROR] = { "run_error", "builds, but crashes, hangs or breaks a limit", 2, true,
	    FAULT_RUN },
	[STATUS_WRONG_SHAPE] = { "wrong_shape", "runs, but does not write all of its output", 3,
	    true, FAULT_RESULT },
	[STATUS_WRONG_VALUE] = { "wrong_value", "runs, but its results are wrong", 3, true,
	    FAULT_RESULT },
	[STATUS_PARTIAL] = { "partial", "is right on some inputs only", 4, true, FAULT_RESULT },
	[STATUS_CORRECT] = { "correct", "compiles and is correct", STATUS_TOP_RUNG, true,
	    FAULT_NONE },
};

const char *const start_names[START_COUNT] = {
	[START_INITIAL] = "initial",
	[START_ERROR] = "error",
	[START_CORRECT] = "correct",
};

enum status
status_named(const char *name)
{
	int s = STATUS_COUNT - 1;

	while (s > STATUS_NONE && strcmp(status_rows[s].name, name ?: ""))
		s--;
	return (enum status)s;
}

enum status
status_at(const json_t *object, const char *path)
{
	return status_or(object, path, STATUS_NONE);
}

enum status
status_or(const json_t *object, const char *path, enum status def)
{
	return status_named(kjson_str_or(object, path, status_rows[def].name));
}

enum status
status_of_record(const struct krec *rec)
{
	const char *name = krec_str(rec, "eval.status");
	enum status status = status_named(name);

	if (!status)
		kdie_usage("%s:%ld: eval.status: unknown status '%s'; eval-1.json lists them all",
		    rec->file, rec->lineno, name);
	return status;
}

json_t *
status_json(enum status status)
{
	return json_string(status_rows[status].name);
}

bool
status_eligible(enum status status)
{
	return status_rows[status].rung > 0;
}

bool
status_repairable(enum status status)
{
	return status_eligible(status) && status != STATUS_CORRECT;
}

enum start
start_named(const char *name)
{
	return (enum start)kindex_of(name, start_names, START_COUNT);
}
