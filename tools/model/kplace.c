/* SPDX-License-Identifier: Apache-2.0 */
/* kplace: see kplace.h. */
#include "kplace.h"

#include "karch.h"

const char *const kfact_names[KFACTS] = {
	[KFACT_SAMPLE] = "sample",
	[KFACT_PROMPT] = "prompt",
	[KFACT_REPLY] = "reply",
	[KFACT_EVAL] = "eval",
};

/* The separator after DIR in a path. */
static const char *
slash(const char **dir)
{
	if (!strcmp(*dir, "."))
		*dir = "";
	return **dir ? "/" : "";
}

char *
kplace_in(const char *dir, const char *name)
{
	const char *s = slash(&dir);

	return kasprintf("%s%s%s", dir, s, name);
}

char *
kplace_trial(const char *dir, long trial, const char *name)
{
	const char *s = slash(&dir);

	return kasprintf("%s%strials/%03ld/%s", dir, s, trial, name);
}

char *
kplace_folder(const char *dir, long trial, long branch)
{
	const char *s = slash(&dir);

	return kasprintf("%s%strials/%03ld/%02ld", dir, s, trial, branch);
}

char *
kplace_cell(const char *dir, long trial, long branch, const char *name)
{
	const char *s = slash(&dir);

	return kasprintf("%s%strials/%03ld/%02ld/%s.ndjson", dir, s, trial, branch, name);
}

char *
kplace_id(const char *dir, const char *id, const char *name)
{
	long trial, branch;

	if (!karch_id(id, &trial, &branch))
		kdie(K_USAGE,
		    "%s: '%s' is not the id of a candidate (TRIAL/BRANCH, such as 007/02)", dir,
		    id);
	return kplace_cell(dir, trial, branch, name);
}
