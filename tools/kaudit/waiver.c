/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: waivers: a person who has looked at a hit and found it harmless writes waivers/TTT-BB.md,
 * with lines "id:", "rule:" (one or more), "by:" and "reason:". Nothing in the loop writes there.
 */

#include "kaudit.h"

enum { WAIVER_MAX = 1 << 16 };

/* The words after "KEY:" on a line; NULL if it is another line. In place. */
static char *
field(char *line, const char *key)
{
	size_t n = strlen(key);
	char *v;

	line += strspn(line, " \t*-#");
	if (strncmp(line, key, n) || line[n] != ':')
		return NULL;
	v = line + n + 1 + strspn(line + n + 1, " \t*");
	while (*v && strchr(" \t\r*", v[strlen(v) - 1]))
		v[strlen(v) - 1] = '\0';
	return v;
}

static void
complain(json_t *reasons, const char *file, const char *what)
{
	json_array_append_new(reasons, json_sprintf("%s is not a waiver: %s", file, what));
}

/* The fields of a waiver's text, which is modified. */
struct waiver {
	const char *id, *by, *reason;
	json_t *rules;
};

static void
read_waiver(char *text, struct waiver *w)
{
	*w = (struct waiver){ .rules = json_array() };
	kpart_foreach(line, text, "\n") {
		char *v;

		if ((v = field(line, "id")))
			w->id = v;
		else if ((v = field(line, "by")))
			w->by = v;
		else if ((v = field(line, "reason")))
			w->reason = v;
		else if ((v = field(line, "rule")) && *v)
			json_array_append_new(w->rules, json_string(v));
	}
}

json_t *
waiver_of(const char *id, char **file, json_t *reasons)
{
	char *name = kasprintf("waivers/%s.md", id), *path, *text;
	struct waiver w;

	for (char *p = name + strlen("waivers/"); (p = strchr(p, '/')); p++)
		*p = '-';
	path = kasprintf("%s/%s", audit.camp->dir, name);
	text = kread_file(path, WAIVER_MAX, NULL);
	if (!text && errno != ENOENT && errno != ENOTDIR)
		kdie_errno(K_IO, "%s", path);
	free(path);
	*file = NULL;
	if (!text) {
		free(name);
		return NULL;
	}
	read_waiver(text, &w);
	if (!w.id || strcmp(w.id, id))
		complain(reasons, name, "no line 'id: ' with this candidate's");
	else if (!json_array_size(w.rules))
		complain(reasons, name, "no line 'rule: ' that says which rule is waived");
	else if (!w.by || !*w.by)
		complain(reasons, name, "no line 'by: ' with the name of the person who looked");
	else if (!w.reason || !*w.reason)
		complain(reasons, name, "no line 'reason: '");
	else
		*file = name;
	free(text);
	if (*file)
		return w.rules;
	json_decref(w.rules);
	free(name);
	return NULL;
}
