/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: do the measured gains carry over to programs that are not a benchmark? See kreport.h.
 */

#include "kreport.h"

static json_t *
decisions_json(void)
{
	static const char *const decisions[] = { "ACCEPT-as-real", "ACCEPT-unmeasured",
		"ACCEPT-with-asterisk", "REJECT-as-overfit" };
	json_t *rows = json_array();

	for (size_t i = 0; i < LEN(decisions); i++) {
		json_int_t n = 0;

		for (size_t k = 0; k < report.count; k++)
			n += &report.list[k] != report.reference && report.list[k].correct &&
			    !strcmp(text_of(&report.list[k], "audit.decision", ""), decisions[i]);
		json_array_append_new(
		    rows, json_pack("{s:s,s:I}", "decision", decisions[i], "n", n));
	}
	return rows;
}

void
add_audit(json_t *f)
{
	bool inflated = kjson_is(report.audit, "verdict", "inflated");

	json_object_update_new(f,
	    json_pack("{s:b,s:b,s:b,s:o,s:O*}", "audited", report.audited, "inflated", inflated,
	        "doubtful", !inflated && kjson_num(report.audit, "inflation_gap_pct") > 1,
	        "decisions", decisions_json(), "attribution", report.audit));
}
