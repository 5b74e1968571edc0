/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcampaign upgrade: converts records of an older version, in which each file of a candidate held
 * everything that came before it, to parts (krecord.h). A file is written only if the parts give
 * back its old content, so nothing is lost. Files are converted one by one, so a conversion that
 * was killed can be repeated.
 */

#include "kcampaign.h"
#include "karch.h"
#include "krecord.h"
#include "ktrials.h"

/* How much was done. */
static struct {
	long files;
	long long before, after;
} converted;

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
		kdie_errno(K_IO, "%s", of);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	converted.before += strcmp(path, of) ? 0 : (long long)st.st_size;
	converted.after += (long long)text->len;
	converted.files++;
	if (kwrite_file(path, text->data, text->len) < 0 || utimensat(AT_FDCWD, path, times, 0) < 0)
		kdie_errno(K_IO, "%s", path);
}

static void
add_part(struct kbuf *text, const json_t *record, const char *name)
{
	json_auto_t *part = krecord_part(".", record, name, NULL);
	auto_free char *line = json_dumps(part, KIO_DUMP);

	kbuf_printf(text, "%s\n", line);
}

/* The members of every candidate's record that give its place. */
static json_t *
place_of(const json_t *record)
{
	static const char *const keys[] = { "campaign", "trial", "branch", "id" };
	json_t *place = json_pack("{s:s}", "schema", KRECORD_SCHEMA);

	for (size_t i = 0; i < LEN(keys); i++)
		if (json_object_get(record, keys[i]))
			json_object_set(place, keys[i], json_object_get(record, keys[i]));
	return place;
}

/* All files of a candidate must contain the same earlier members; otherwise one was edited. */
static void
check_copies(const char *path, const json_t *record, const json_t *known)
{
	for (int s = 0; s < KFACTS; s++) {
		const json_t *a = json_object_get(record, kfact_names[s]),
		             *b = json_object_get(known, kfact_names[s]);

		if (a && b && !json_equal(a, b))
			kdie(K_USAGE,
			    "%s: its member '%s' differs from %s.ndjson, so conversion "
			    "stopped; restore the right file from a copy",
			    path, kfact_names[s], kfact_names[s]);
	}
}

/* The files of a candidate, as found. */
struct cell {
	const char *id;
	char *path[KFACTS];
	json_t *record[KFACTS]; /* joined record; NULL: there is no such file */
	bool whole[KFACTS];     /* the file contains all of that */
	json_t *fullest;        /* the last complete file, or the record in a view; may be NULL */
	const char *last;       /* the last file; NULL: none */
};

static void
load_fact(struct cell *c, enum kfact stage)
{
	const char *path = c->path[stage];
	char *fault = NULL;
	json_t *record;

	if (!kis_there(path))
		return;
	record = kin_first(path);
	if (!record)
		kdie(K_USAGE, "%s: no record in it", path);
	c->whole[stage] = is_whole(record);
	if (!c->whole[stage]) {
		json_decref(record);
		record = krecord_fact(".", c->id, stage, KJOIN_WHOLE, &fault);
	}
	if (fault)
		kdie(K_USAGE, "%s: %s", path, fault);
	if (c->whole[stage]) {
		json_decref(c->fullest);
		c->fullest = json_incref(record);
	}
	c->record[stage] = record;
	c->last = path;
}

static void
cell_open(struct cell *c, const char *id, json_t *fullest)
{
	*c = (struct cell){ .id = id, .fullest = json_incref(fullest) };
	for (int s = 0; s < KFACTS; s++) {
		c->path[s] = kplace_id(".", id, kfact_names[s]);
		load_fact(c, (enum kfact)s);
	}
}

static void
cell_close(struct cell *c)
{
	for (int s = 0; s < KFACTS; s++) {
		json_decref(c->record[s]);
		free(c->path[s]);
	}
	json_decref(c->fullest);
}

static void
write_fact(const struct cell *c, enum kfact stage, const json_t *known)
{
	auto_buf struct kbuf text = { 0 };

	add_part(&text, known, kfact_names[stage]);
	replace(c->path[stage],
	    c->record[stage] ? c->path[stage]
	        : c->last    ? c->last
	                     : "campaign.json",
	    &text);
}

/*
 * Converts the facts of candidate ID; those without a file are taken from later files, or from
 * FULLEST.
 */
static void
convert_facts(const char *id, json_t *fullest)
{
	json_auto_t *known = NULL;
	struct cell c;

	cell_open(&c, id, fullest);
	for (int s = 0; s < KFACTS; s++) {
		json_t *record = c.record[s] ? c.record[s] : c.fullest,
		       *member = json_object_get(record, kfact_names[s]);

		if (!member)
			continue;
		if (!known)
			known = place_of(record);
		check_copies(c.path[s], record, known);
		json_object_set(known, kfact_names[s], member);
		if (!c.record[s]) {
			auto_free char *folder = kfolder_of(c.path[s]);

			kmake_folder(folder);
		}
		if (!c.record[s] || c.whole[s])
			write_fact(&c, (enum kfact)s, known);
	}
	cell_close(&c);
}

/* The digest of the current evaluation of ID, which views use as its name. The caller frees. */
static char *
eval_digest(const char *id)
{
	auto_free char *path = kplace_id(".", id, kfact_names[KFACT_EVAL]);
	char hex[65];
	char *text = kread_file(path, KIO_LINE_MAX, NULL);

	if (!text)
		return NULL;
	ksha256_hex(text, strcspn(text, "\n"), hex);
	free(text);
	return kstrdup(hex);
}

/* "001/02": digest of an evaluation before the conversion. */
static void
note_digest(const char *path, void *all)
{
	auto_free char *id = kstrndup(
	                   path + strlen("trials/"), strlen(path) - strlen("trials//eval.ndjson")),
	               *hex = eval_digest(id);

	json_object_set_new(all, id, json_string(hex));
}

/* Adds the line for RECORD; false when it was made from another evaluation. */
static bool
add_view(struct kbuf *text, const json_t *record, const json_t *old)
{
	const char *id = kjson_str(record, "id"), *from = kjson_str_or(record, "from", NULL);
	char *line;

	if (is_whole(record)) {
		if (json_object_get(record, "score"))
			add_part(text, record, "score");
		return !from || kjson_is(old, id, from);
	}
	line = json_dumps(record, KIO_DUMP);
	kbuf_printf(text, "%s\n", line);
	free(line);
	return true;
}

/* Converts the scores of a trial, which contain the other views; scores of other evaluations go. */
static void
convert_views(long trial, const json_t *old)
{
	auto_free char *path = kplace_trial(".", trial, "score.ndjson");
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
		kdie_errno(K_IO, "%s", path);
}

/* Facts that exist only in the views of TRIAL: a complete record in its last view. */
static void
convert_given(long trial)
{
	auto_free char *path = kplace_trial(".", trial, "score.ndjson");
	json_auto_t *records = kin_all(path);

	kjson_foreach(record, records) {
		const char *id = kjson_str(record, "id");

		if (is_whole(record) && json_object_get(record, kfact_names[KFACT_EVAL]) &&
		    karch_id(id, &(long){ 0 }, &(long){ 0 }))
			convert_facts(id, record);
	}
}

/* The folder "trials/001/02/". */
static void
convert_cell(const char *path, void *arg)
{
	long trial, branch;
	auto_free char *id = NULL;

	(void)arg;
	sscanf(path, "trials/%ld/%ld", &trial, &branch);
	id = kasprintf("%03ld/%02ld", trial, branch);
	convert_facts(id, NULL);
}

static bool
convert_trial(long trial)
{
	auto_free char *folder = kplace_trial(".", trial, "");
	bool there = kis_there(folder);
	json_t *old;

	if (!there)
		return false;
	old = json_object();
	keach_path(kplace_trial(".", trial, "[0-9]*/eval.ndjson"), note_digest, old);
	convert_given(trial);
	keach_path(kplace_trial(".", trial, "[0-9]*/"), convert_cell, NULL);
	convert_views(trial, old);
	keach_path(kplace_trial(".", trial, "coords.ndjson"), remove_path, NULL);
	keach_path(kplace_trial(".", trial, "audit.ndjson"), remove_path, NULL);
	json_decref(old);
	return true;
}

int
command_upgrade(void)
{
	take_lock();
	for (long t = 0; convert_trial(t); t++)
		;
	if (converted.files)
		ksay("%ld files converted: %lld KB before, %lld KB now\n", converted.files,
		    converted.before / 1000, converted.after / 1000);
	else
		ksay("nothing to convert\n");
	return K_OK;
}
