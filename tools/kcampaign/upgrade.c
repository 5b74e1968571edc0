/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcampaign upgrade: converts records of an older version, in which each file of a candidate held
 * everything that came before it, to parts (krecord.h). A file is written only if the parts give
 * back its old content, so nothing is lost. Files are converted one by one, so a conversion that
 * was killed can be repeated.
 */

#include "kcampaign.h"
#include "kregex.h"

/* Files that were written. */
static long converted;

static bool
is_whole(const json_t *record)
{
	return record && strcmp(kjson_str(record, "schema"), KPART_SCHEMA);
}

/* Replaces the file PATH by TEXT, keeping its time, or that of OF. */
static void
replace(const char *path, const char *of, const struct kbuf *text)
{
	struct stat st;
	struct timespec times[2];

	if (!kfind(of, &st))
		kdie_io("%s", of);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	converted++;
	if (kwrite_file(path, text->data, text->len) < 0 || utimensat(AT_FDCWD, path, times, 0) < 0)
		kdie_io("%s", path);
}

static void
add_line(struct kbuf *text, const json_t *record)
{
	auto_free char *line = json_dumps(record, KIO_DUMP);

	kbuf_printf(text, "%s\n", line);
}

static void
add_part(struct kbuf *text, const json_t *record, const char *name)
{
	json_auto_t *part = krecord_part(record, name, NULL);

	add_line(text, part);
}

/*
 * The record up to a fact of candidate ID, as its file has it or names it, or NULL; OLD is set if
 * the file holds all of it. New reference.
 */
static json_t *
load_fact(const char *path, const char *id, enum kfact stage, bool *old)
{
	auto_free char *fault = NULL;
	json_t *record = kis_there(path) ? kin_first(path) : NULL;

	if (!record && kis_there(path))
		kdie_usage("%s: no record in it", path);
	*old = is_whole(record);
	if (record && !*old) {
		json_decref(record);
		record = krecord_fact(id, stage, KJOIN_WHOLE, &fault);
	}
	if (fault)
		kdie_usage("%s: %s", path, fault);
	return record;
}

/*
 * Adds the place and the facts of RECORD to WHOLE, as far as it lacks them. All files of a
 * candidate must contain the same earlier members, otherwise one was edited; PATH NULL: no file.
 */
static void
add_facts(json_t *whole, const json_t *record, const char *path)
{
	kjson_pick(whole, record, "campaign", "trial", "branch", "id");
	kforeach_of(kfact_name, kfact_names, KFACTS) {
		const char *name = *kfact_name;
		json_t *fact = json_object_get(record, name), *known = json_object_get(whole, name);

		if (fact && known && path && !json_equal(fact, known))
			kdie_usage("%s: its member '%s' differs from %s.ndjson, so conversion "
			           "stopped; restore the right file from a copy",
			    path, name, name);
		if (fact && !known)
			json_object_set(whole, name, fact);
	}
}

static void
write_fact(const char *path, const char *of, const json_t *whole, const char *name)
{
	auto_free char *folder = kfolder_of(path);
	auto_buf struct kbuf text = { 0 };

	kmake_folder(folder);
	add_part(&text, whole, name);
	replace(path, of, &text);
}

/*
 * Converts the facts of candidate ID; those without a file are taken from later files, or from
 * VIEWED, the record in a view, which may be NULL.
 */
static void
convert_facts(const char *id, const json_t *viewed)
{
	json_auto_t *whole = json_pack("{s:s}", "schema", KRECORD_SCHEMA);
	const char *last = "campaign.json";
	const char *path[KFACTS];
	bool there[KFACTS], old[KFACTS];

	for (int s = 0; s < KFACTS; s++) {
		json_auto_t *record = NULL;

		path[s] = kplace_id(id, kfact_names[s]);
		record = load_fact(path[s], id, (enum kfact)s, &old[s]);
		there[s] = record;
		last = record ? path[s] : last;
		add_facts(whole, record, path[s]);
	}
	add_facts(whole, viewed, NULL);
	for (int s = 0; s < KFACTS; s++)
		if (json_object_get(whole, kfact_names[s]) && (old[s] || !there[s]))
			write_fact(path[s], there[s] ? path[s] : last, whole, kfact_names[s]);
}

/* By id, the digests of a trial's evaluations before the conversion, by which views name them. */
static json_t *
digests_of(long trial)
{
	json_t *all = json_object();

	kpath_foreach(path, kplace_trial(trial, "[0-9]*/eval.ndjson")) {
		auto_free char *id = kregex_part("\\Atrials/(\\d+/\\d+)/", path),
		               *text = kread_file_or_die(path, KIO_LINE_MAX, NULL);

		kjson_put(all, id, ksha256(text, strcspn(text, "\n")));
	}
	return all;
}

/* Adds the line for RECORD; false when it was made from another evaluation. */
static bool
add_view(struct kbuf *text, const json_t *record, const json_t *old)
{
	const char *id = kjson_str(record, "id"), *from = kjson_maybe(record, "from");

	if (!is_whole(record)) {
		add_line(text, record);
		return true;
	}
	if (json_object_get(record, "score"))
		add_part(text, record, "score");
	return !from || kjson_is(old, id, from);
}

/* Converts the scores of a trial, which contain the other views; scores of other evaluations go. */
static void
convert_views(long trial, const json_t *old)
{
	auto_free char *path = kstrdup(kplace_trial(trial, "score.ndjson"));
	json_auto_t *records = kin_all(path);
	auto_buf struct kbuf text = { 0 };
	bool any = false, good = true;

	kjson_foreach(record, records) {
		any |= is_whole(record);
		good = add_view(&text, record, old) && good;
	}
	if (any && good && text.len)
		replace(path, path, &text);
	else if (any && !good && unlink(path) < 0)
		kdie_io("%s", path);
}

/* Facts that exist only in the views of TRIAL: a complete record in its last view. */
static void
convert_given(long trial)
{
	json_auto_t *records = kin_all(kplace_trial(trial, "score.ndjson"));

	kjson_foreach(record, records) {
		const char *id = kjson_str(record, "id");

		if (is_whole(record) && json_object_get(record, kfact_names[KFACT_EVAL]) &&
		    karch_is_id(id))
			convert_facts(id, record);
	}
}

static bool
convert_trial(long trial)
{
	json_auto_t *old = NULL;

	if (!kis_there(kplace_trial(trial, "")))
		return false;
	old = digests_of(trial);
	convert_given(trial);
	kpath_foreach(cell, kplace_trial(trial, "[0-9]*/")) {
		auto_free char *id = kregex_part("\\Atrials/(\\d+/\\d+)/", cell);

		convert_facts(id, NULL);
	}
	convert_views(trial, old);
	remove_file(kplace_trial(trial, "coords.ndjson"));
	remove_file(kplace_trial(trial, "audit.ndjson"));
	return true;
}

int
command_upgrade(void)
{
	take_lock();
	for (long t = 0; convert_trial(t); t++)
		;
	if (converted)
		ksay("%ld files converted\n", converted);
	else
		ksay("nothing to convert\n");
	return K_OK;
}
