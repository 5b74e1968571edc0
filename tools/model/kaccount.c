/* SPDX-License-Identifier: Apache-2.0 */
/* kaccount: see kaccount.h. What was kept is collected here; views/account.jq does the sums. */
#include "kaccount.h"

#include "kchain.h"
#include "kjq.h"

static json_t *kept, *refused;

/* The uncertainty of a record's gain: the interval of its race, else the noise of its times. */
static double
noise_of(const struct kcandidate *c)
{
	return c->gained.low > 0 && isfinite(c->gained.high)
	    ? kgain_width(&c->gained)
	    : kjson_num(c->json, "eval.noise.floor");
}

static json_t *
row_of(const struct kcandidate *c)
{
	return json_pack("{s:s,s:I,s:s,s:b,s:f,s:f,s:O*,s:O*}", "id", c->id, "trial",
	    (json_int_t)c->trial, "bucket", *c->bucket ? c->bucket : "K", "overfit", c->overfit,
	    "speedup", c->speedup.n ? c->speedup.mean : 1, "noise", noise_of(c), "audit",
	    json_object_get(c->json, "audit"), "decision", kjson_path(c->json, "score.decision"));
}

void
kaccount_add(const struct ktrial *trial)
{
	if (!kept) {
		kept = json_array();
		refused = json_array();
	}
	kforeach_list(one, trial)
		if (one->overfit && trial->number)
			kjson_add(refused, one->id);
	if (trial->kept)
		json_array_append_new(kept, row_of(trial->kept));
}

/* The speed-up that status and report show, if the records have one; NULL: nothing was kept. */
static json_t *
headline_of(void)
{
	const json_t *last = json_array_get(kept, json_array_size(kept) - 1);
	struct kchain c = { 0 };
	json_t *headline = NULL;

	if (kjson_int(last, "trial") && kchain_known(kjson_str(last, "id"), ktrials.last, true, &c))
		headline = json_pack("{s:f,s:f,s:b}", "speedup", c.speedup.mean, "width",
		    fmin(kgain_width(&c.speedup), 1), "raced", c.from != NULL);
	kchain_free(&c);
	return headline;
}

json_t *
kaccount_report(void)
{
	json_auto_t *in = json_pack("{s:s,s:b,s:I,s:o,s:o,s:o*,s:o*}", "campaign",
	    kcamp_str("name"), "linear", ktrials.linear, "trials", (json_int_t)ktrials.last, "kept",
	    kept, "refused", refused, "headline", headline_of(), "faults",
	    ktrials.fault_count ? kjson_string(ktrials.faults.data) : NULL);

	return kjq("views/account.jq", in);
}
