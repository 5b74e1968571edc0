/* SPDX-License-Identifier: Apache-2.0 */
/* kaudit: the account of a campaign's gain (kaccount.h), for programs and for people. */

#include "kaccount.h"
#include "kaudit.h"
#include "ktemplate.h"

json_t *
report_campaign(void)
{
	json_t *report;

	ktrials_open();
	if (ktrials.last < 0)
		kdie_usage("%s: no trial has been scored yet", kcamp.dir);
	for (long n = 0; n <= ktrials.last; n++) {
		kaccount_add(ktrials_get(n));
		ktrials_drop(n);
	}
	report = kaccount_report();
	ktrials_close();
	return report;
}

/* ---- for people ---- */

static bool
show(struct kbuf *out, const char *how, const json_t *value)
{
	if (*how)
		kbuf_printf(
		    out, strcmp(how, "points") ? "%+.2f %%" : "%.2f", json_number_value(value));
	return *how;
}

void
report_markdown(json_t *report, struct kbuf *out)
{
	struct ktemplate t = { .show = show };
	auto_free char *page = kdata_path("pages/audit.md");

	kjson_set(report, "inflated", json_boolean(kjson_is(report, "verdict", "inflated")));
	ktemplate_file(&t, out, page, report);
}
