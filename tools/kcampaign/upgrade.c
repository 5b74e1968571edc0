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

/* Writes the lines of RECORDS to the file PATH, which gets the time of the file OF. */
static void
write_records(const char *path, const char *of, const json_t *records)
{
	auto_buf struct kbuf text = { 0 };
	struct stat st;

	kjson_foreach(record, records) {
		auto_free char *line = json_dumps(record, KIO_DUMP);

		kbuf_printf(&text, "%s\n", line);
	}
	if (!kfind(of, &st) || kwrite_file(path, text.data, text.len) < 0 ||
	    utimensat(AT_FDCWD, path, (struct timespec[]){ st.st_atim, st.st_mtim }, 0) < 0)
		kdie_io("%s", path);
	converted++;
}

/*
 * The record up to a fact of candidate ID, as its file has it or names it, or NULL; OLD is set if
 * the file holds all of it. New reference.
 */
static json_t *
load_fact(const char *path, const char *id, enum kfact stage, bool *old)
{
	auto_free char *fault = NULL;
	json_t *record = kin_first(path);

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
	kforeach_of(name, kfact_names, KFACTS) {
		json_t *fact = json_object_get(record, *name),
		       *known = json_object_get(whole, *name);

		if (fact && known && path && !json_equal(fact, known))
			kdie_usage("%s: its member '%s' differs from %s.ndjson, so conversion "
			           "stopped; restore the right file from a copy",
			    path, *name, *name);
		if (fact && !known)
			json_object_set(whole, *name, fact);
	}
}

/*
 * Converts the facts of candidate ID; those without a file are taken from later files, or from
 * VIEWED, the record in a view, which may be NULL.
 */
static void
convert_facts(const char *id, const json_t *viewed)
{
	json_auto_t *whole = json_pack("{s:s}", "schema", KRECORD_SCHEMA);
	const char *last = "campaign.json", *path[KFACTS];
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
		if (json_object_get(whole, kfact_names[s]) && (old[s] || !there[s])) {
			auto_free char *folder = kfolder_of(path[s]);
			json_auto_t *part =
			    json_pack("[o]", krecord_part(whole, kfact_names[s], NULL));

			kmake_folder(folder);
			write_records(path[s], there[s] ? path[s] : last, part);
		}
}

/* The scores of a trial, which contain the other views, and facts that exist only there. */
static void
convert_views(const char *path)
{
	json_auto_t *records = kin_all(path), *parts = json_array();
	bool any = false;

	kjson_foreach(record, records) {
		const char *id = kjson_str(record, "id");
		bool whole = is_whole(record);

		if (whole && json_object_get(record, kfact_names[KFACT_EVAL]) && karch_is_id(id))
			convert_facts(id, record);
		if (!whole)
			json_array_append(parts, record);
		else if (json_object_get(record, "score"))
			json_array_append_new(parts, krecord_part(record, "score", NULL));
		any |= whole;
	}
	if (any && json_array_size(parts))
		write_records(path, path, parts);
}

static bool
convert_trial(long trial)
{
	if (!kis_there(kplace_trial(trial, "")))
		return false;
	convert_views(kplace_trial(trial, "score.ndjson"));
	kpath_foreach(cell, kplace_trial(trial, "[0-9]*/")) {
		auto_free char *id = kregex_part("\\Atrials/(\\d+/\\d+)/", cell);

		convert_facts(id, NULL);
	}
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
