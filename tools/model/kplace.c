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

char *
kplace_in(const char *dir, const char *name)
{
	return *dir && strcmp(dir, ".") ? kasprintf("%s/%s", dir, name) : kstrdup(name);
}

char *
kplace_trial(long trial, const char *name)
{
	auto_free char *below = kasprintf("trials/%03ld/%s", trial, name);

	return kplace_in(kcamp.dir, below);
}

char *
kplace_folder(long trial, long branch)
{
	auto_free char *name = kasprintf("%02ld", branch);

	return kplace_trial(trial, name);
}

char *
kplace_cell(long trial, long branch, const char *name)
{
	auto_free char *file = kasprintf("%02ld/%s.ndjson", branch, name);

	return kplace_trial(trial, file);
}

char *
kplace_id(const char *id, const char *name)
{
	long trial, branch;

	if (!karch_id(id, &trial, &branch))
		kdie(K_USAGE,
		    "%s: '%s' is not the id of a candidate (TRIAL/BRANCH, such as 007/02)",
		    kcamp.dir, id);
	return kplace_cell(trial, branch, name);
}
