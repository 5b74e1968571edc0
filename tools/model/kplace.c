/* SPDX-License-Identifier: Apache-2.0 */
/* kplace: see kplace.h. */
#include "kplace.h"

#include "karch.h"
#include "kcamp.h"

const char *const kfact_names[KFACTS] = {
	[KFACT_SAMPLE] = "sample",
	[KFACT_PROMPT] = "prompt",
	[KFACT_REPLY] = "reply",
	[KFACT_EVAL] = "eval",
};

const char *
kplace_in(const char *dir, const char *name)
{
	return *dir && strcmp(dir, ".") ? kshown("%s/%s", dir, name) : name;
}

const char *
kplace_trial(long trial, const char *name)
{
	return kplace_in(kcamp.dir, kshown("trials/%03ld/%s", trial, name));
}

const char *
kplace_folder(long trial, long branch)
{
	return kplace_trial(trial, kshown("%02ld", branch));
}

const char *
kplace_cell(long trial, long branch, const char *name)
{
	return kplace_trial(trial, kshown("%02ld/%s.ndjson", branch, name));
}

const char *
kplace_id(const char *id, const char *name)
{
	long trial, branch;

	if (!karch_id(id, &trial, &branch))
		kdie_usage("%s: '%s' is not the id of a candidate (TRIAL/BRANCH, such as 007/02)",
		    kcamp.dir, id);
	return kplace_cell(trial, branch, name);
}
