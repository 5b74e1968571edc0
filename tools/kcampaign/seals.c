/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What older versions proved that nothing was edited with, as lines of the seal (kseal.h): masks,
 * lineage, frozen files. Rounds, logs and records of memory had seals of their own; they are views,
 * and are removed, to be made and sealed anew. See kcampaign.h.
 */
#include "kcampaign.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kio.h"
#include "kmemo.h"
#include "kseal.h"

#define SHAPES "trials/000/shapes.json"
#define LINEAGE "logs/lineage.ndjson"
#define MASKS "memory/masks.ndjson"

/* The lines of an old file, whose KIND (NULL: all) becomes one of the seal, as EVENT does it. */
static void
convert_lines(struct kseal *s, const char *path, const char *kind,
    void (*event)(struct kseal *s, const json_t *line))
{
	json_t *lines = kin_all(path), *line;
	size_t i;

	json_array_foreach(lines, i, line)
		if (!kind || !strcmp(kjson_str_or(line, "kind", ""), kind))
			event(s, line);
	json_decref(lines);
}

/* Members NAMES (NULL at the end) of LINE, where it has them. New reference. */
static json_t *
members(const json_t *line, const char *const *names)
{
	json_t *some = json_object();

	for (; *names; names++)
		if (json_object_get(line, *names))
			json_object_set(some, *names, json_object_get(line, *names));
	return some;
}

/* Prompts name the mask that they were made with by the digest that it had. */
static void
convert_mask(struct kseal *s, const json_t *line)
{
	static const char *const names[] = { "event", "masked", "versions", "trial", "time", "why",
		"seed", "draw", "active", "of", NULL };
	json_t *event = members(line, names);

	kjson_set(event, "was", json_string(kjson_str_or(line, "sha256", "")));
	kjson_set(event, "files", json_object());
	kseal_add(s, KMEMO_SEAL, event);
}

static void
convert_branch(struct kseal *s, const json_t *line)
{
	static const char *const names[] = { "branch", "base", NULL };

	kseal_add(s, "branch", members(line, names));
}

static void
convert_commit(struct kseal *s, const json_t *line)
{
	static const char *const names[] = { "round", "id", "commit", NULL };

	kseal_add(s, "commit", members(line, names));
}

/* Digests of the files of an adopted function, or NULL. New reference. */
static json_t *
adopted(void)
{
	json_t *adopt = kjson_if_there("adopt.json"),
	       *frozen = json_incref(json_object_get(adopt, "frozen"));

	json_decref(adopt);
	return frozen;
}

/* The facts that a round was closed on, by the list of their digests at PATH. */
static void
check_facts(const char *path)
{
	char *text = kread_file_or_die(path, 64 << 20, NULL), *save = NULL, hex[65];

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strlen(line) > 66 &&
		    (!kseal_file(line + 66, hex) || strncmp(line, hex, 64) != 0))
			kdie(K_NO, "%s: is not what %s says: nothing was converted; put it back",
			    line + 66, path);
	free(text);
}

/* In memory/ records alone: a summary was paid for. What is converted stays until it is sealed. */
static bool
is_view(const FTSENT *e)
{
	size_t len = strlen(e->fts_name);

	if (strncmp(e->fts_path, "memory/", 7))
		return strcmp(e->fts_path, LINEAGE) != 0;
	return *e->fts_name == 'v' && len > 5 && !strcmp(e->fts_name + len - 5, ".json");
}

/* Go through rounds, logs and memory: first to check what they say of facts, then to remove. */
static void
walk(bool remove_them)
{
	char *roots[] = { (char[]){ "rounds" }, (char[]){ "logs" }, (char[]){ "memory" }, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while (tree && (e = fts_read(tree)) != NULL) {
		bool folder = e->fts_info == FTS_DP;

		if (e->fts_info == FTS_NS || e->fts_info == FTS_D)
			continue;
		if (!remove_them && !strcmp(e->fts_name, "facts.sha256"))
			check_facts(e->fts_path);
		if (remove_them && (folder || is_view(e)) && remove(e->fts_path) < 0 &&
		    errno != ENOTEMPTY && errno != EEXIST)
			kdie_errno(K_IO, "%s", e->fts_path);
	}
	if (tree)
		fts_close(tree);
}

bool
upgrade_seals(const struct kcamp *c)
{
	static const char *const old[] = { "logs/closed.ndjson", LINEAGE, MASKS, "memory/.lock",
		SHAPES, "trials/000/judged.json", "logs", "memory" };
	json_t *files = adopted();
	bool any = files != NULL;
	struct kseal s;

	for (size_t i = 0; i < LEN(old); i++)
		any |= kis_there(old[i]);
	if (kis_there(KSEAL_FILE) || !any) {
		json_decref(files);
		return false;
	}
	walk(false);
	/* Killed from here on, the same is done again. */
	walk(true);
	free(kseal_read(&s, ".", NULL));
	convert_lines(&s, MASKS, NULL, convert_mask);
	convert_lines(&s, LINEAGE, "branch", convert_branch);
	convert_lines(&s, LINEAGE, "commit", convert_commit);
	if (files)
		kseal_add(&s, KSEAL_ADOPTED, json_pack("{s:O}", "files", files));
	if (kis_there(SHAPES))
		judged_add(&s, c);
	kseal_save(&s);
	kseal_close(&s);
	json_decref(files);
	for (size_t i = 0; i < LEN(old); i++)
		if (remove(old[i]) < 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
			kdie_errno(K_IO, "%s", old[i]);
	return true;
}
