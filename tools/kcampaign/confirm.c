/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm: a person has read what a linear search will do, if the campaign requires that. See
 * kcampaign.h.
 */
#include "kcampaign.h"

#define CONFIRMED "confirmed"

enum { TEXT_MAX = 1 << 20 };

/* Whether TEXT has a line "KEY: VALUE"; with VALUE NULL, one with anything after the colon. */
static bool
has_line(const char *text, const char *key, const char *value)
{
	auto_free char *lines = kstrdup(text);
	size_t n = strlen(key);
	char word[80];

	return kany(kpart_foreach(line, lines, "\n"),
	    !strncmp(line, key, n) && sscanf(line + n, ": %79s", word) == 1 &&
	        (!value || !strcmp(word, value)));
}

/* What a person agrees to, one item per line. */
static void
add_terms(struct kbuf *text)
{
	static const char *const knobs[] = { "backend", "gpu", "eval.set", "linear.metric",
		"linear.target", "stop.trials", "model.provider", "git.branch" };

	kforeach(knob, knobs) {
		const json_t *v = kjson_path(kcamp.json, *knob);
		auto_free char *dump = v ? json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY) : NULL;

		kbuf_printf(text, "    %s %s\n", *knob, dump ?: "(the default)");
	}
}

void
confirm_require(void)
{
	auto_free char *said = NULL;
	struct kbuf text = { 0 };
	const char *manifest, *task;

	if (!kcamp_bool("linear.confirm"))
		return;
	manifest = kseal_file(kcamp.file);
	task = kseal_file(kcamp.task);
	if (!task)
		kdie_errno(K_USAGE, "%s", kcamp.task);
	said = kread_file(CONFIRMED, TEXT_MAX, NULL);
	if (!said || !has_line(said, "by", NULL) || !has_line(said, "campaign", manifest) ||
	    !has_line(said, "task", task)) {
		add_terms(&text);
		kdie(K_NO,
		    "linear.confirm: %s; if you agree to\n%sput these lines into the "
		    "file " CONFIRMED ":\n    by: NAME\n"
		    "    campaign: %s\n    task: %s",
		    said ? "campaign.json or the task has changed since it was confirmed"
		         : "this campaign is not confirmed yet",
		    text.data, manifest, task);
	}
}
