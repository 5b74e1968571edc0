/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of trials: made, cleaned up after a killed run, and emptied for a redo. */
#include "kcampaign.h"

/* The most bytes that the stages after an evaluation add to its record. */
#define MEMBERS_MAX ((size_t)1 << 20)

/*
 * If a fact of a cell is too long for any tool to read, it is moved aside, so that its stage makes
 * it again, within the limits.
 */
static void
put_aside(const char *folder)
{
	for (int s = KFACT_REPLY; s <= KFACT_EVAL; s++) {
		auto_free char *path = kasprintf("%s/%s.ndjson", folder, kfact_names[s]),
		               *aside = kasprintf("%s.too_large", path);
		struct stat st;

		/* Each of the next stages adds a few members. */
		if (kfind(path, &st) && (size_t)st.st_size > KIO_LINE_MAX - MEMBERS_MAX &&
		    rename(path, aside) == 0)
			kwarn("%s exceeds the limit for a record (64 MiB); "
			      "moved it to %s and will make it again",
			    path, aside);
	}
}

/* A spool whose record exists: kllm was killed before it could remove it. */
static void
drop_spool(const char *spool)
{
	const char *end = strstr(strrchr(spool, '/'), ".spool");

	if (kis_there(kshown("%.*s.ndjson", (int)(end - spool), spool)))
		unlink(spool);
}

/*
 * Makes a folder unless it exists; removes partly written files of killed stages (kio:
 * NAME.XXXXXX), because we hold the lock.
 */
static void
make_folder(const char *path)
{
	if (mkdir(path, 0777) == 0)
		return;
	if (errno != EEXIST)
		kdie_io("%s", path);
	kpath_foreach(part, kshown("%s/*.ndjson.??????", path))
		unlink(part);
}

void
make_folders(long trial, long branches)
{
	make_folder("trials");
	make_folder(kplace_trial(trial, ""));
	for (long b = trial ? 1 : 0; b <= (trial ? branches : 0); b++) {
		const char *path = kplace_folder(trial, b);

		make_folder(path);
		put_aside(path);
		kpath_foreach(spool, kshown("%s/*.spool*", path))
			drop_spool(spool);
	}
}

void
remove_file(const char *path)
{
	if (unlink(path) < 0 && errno != ENOENT)
		kdie_io("%s", path);
}

/* Keeps an answer that somebody wrote by hand. */
static void
keep_answer(const char *path)
{
	auto_free char *kept = kset_aside(path);

	if (kept)
		kwarn("the old answer %s is now %s", path, kept);
}

/* Does a sample show a text of the candidate's evaluation, and store only its name? */
static bool
is_shown(const char *folder)
{
	auto_free char *mark = kasprintf("{\"id\":\"%s\",\"sha256\":", strchr(folder, '/') + 1);

	kpath_foreach(path, "trials/[0-9]*/[0-9]*/sample.ndjson") {
		auto_free char *text = kread_file(path, KIO_LINE_MAX, NULL);

		if (text && strstr(text, mark))
			return true;
	}
	return false;
}

/* An evaluation that samples show stays next to the new one, under a name with its digest. */
static void
put_evaluation_aside(const char *path)
{
	auto_free char *folder = kfolder_of(path), *text = NULL;
	const char *aside;

	if (kis_there(path) && is_shown(folder)) {
		text = kread_file_or_die(path, KIO_LINE_MAX, NULL);
		aside = kshown("%s/eval.ndjson.%.12s", folder, ksha256(text, strcspn(text, "\n")));
		if (rename(path, aside) < 0)
			kdie_io("%s", aside);
	} else {
		remove_file(path);
	}
}

void
remove_stages(long trial, long branch, int from)
{
	static const struct {
		const char *name;
		int stage;
		void (*away)(const char *path);
	} files[] = {
		{ "sample.ndjson", KFACT_SAMPLE, remove_file },
		{ "prompt.ndjson", KFACT_PROMPT, remove_file },
		{ "reply.ndjson", KFACT_REPLY, remove_file },
		{ "../evidence.ndjson", KFACT_SAMPLE, remove_file },
		{ "prompt.md", KFACT_REPLY, remove_file },
		{ "reply.txt", KFACT_REPLY, keep_answer },
		{ "reply.json", KFACT_REPLY, keep_answer },
		{ "reply.spool", KFACT_REPLY, remove_file },
		{ "reply.spool2", KFACT_REPLY, remove_file },
		{ "eval.ndjson.scored", KFACT_EVAL, put_evaluation_aside },
		{ "eval.ndjson", KFACT_EVAL, put_evaluation_aside },
		{ "digest.ndjson", KFACT_EVAL, remove_file },
	};

	kforeach(one, files) {
		if (from <= one->stage)
			one->away(kshown("%s/%s", kplace_folder(trial, branch), one->name));
	}
}
