/* SPDX-License-Identifier: Apache-2.0 */
/* Where a campaign stands against the roofline: the stop condition stop.efficiency. */
#include "kcampaign.h"

#include "kroof.h"

/* Efficiency of the candidate ID: 0 if it is not in its record. */
static double
efficiency_of(void)
{
	json_auto_t *record = scored_record(standing.best);

	return kjson_num(record, "score.efficiency_pct");
}

char *
roofline_stop(void)
{
	double goal = kcamp_num("stop.efficiency"),
	       reached = goal > 0 && standing.best ? efficiency_of() : 0;
	json_auto_t *roofline = NULL;
	auto_free char *doubt = NULL;

	if (goal <= 0 || reached < goal)
		return NULL;
	roofline = kroof_load();
	doubt = kroof_doubt(roofline, reached);
	if (doubt) {
		kwarn(
		    "stop.efficiency cannot end this search: %s (trials/000/roofline.json)", doubt);
		return NULL;
	}
	return kasprintf("over: %.4g %% of the ceilings reaches the goal of %.4g %% "
	                 "(stop.efficiency)",
	    reached, goal);
}

void
roofline_require(void)
{
	json_auto_t *roofline = kcamp_num("stop.efficiency") > 0 ? kroof_load() : NULL;

	if (roofline && kjson_is(roofline, "label", "incomplete")) {
		kjson_foreach(u, roofline, "unknown")
			kwarn("%s: UNKNOWN (docs/hardware): %s", kjson_str(u, "metric"),
			    kjson_str(u, "why"));
		kdie(K_MISSING,
		    "campaign.json: stop.efficiency needs peak rates that the roofline does not "
		    "have; see docs/roofline.md, \"What is unknown\"");
	}
}
