/* SPDX-License-Identifier: Apache-2.0 */
/* journal: see journal.h. */
#include "journal.h"

/* ---- files ---- */

char *
journal_original(const char *file)
{
	return adopt_path("original/%s", file);
}

/*
 * The temporary name for the new FILE, in the same folder: predictable, so that a leftover is
 * found.
 */
static const char *
new_path(const char *file)
{
	return kbeside(project_path(file), kshown(".%s.kadopt-new", basename(file)));
}

/* Replaces the project's FILE by TEXT atomically, with its mode and owner. */
static void
replace(const char *file, const char *text, size_t len)
{
	const char *path = project_path(file), *fresh = new_path(file);
	struct stat st;
	int fd;

	if (!kfind(path, &st) && !kfind(journal_original(file), &st))
		kdie_io("%s", journal_original(file));
	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || kwrite_all(fd, text, len) < 0)
		kdie_io("%s", fresh);
	/* Not every user may change ownership; the mode is what builds need. */
	if (fchown(fd, st.st_uid, st.st_gid) < 0)
		errno = 0;
	if (fchmod(fd, st.st_mode & 07777) < 0 || fsync(fd) < 0 || close(fd) < 0 ||
	    rename(fresh, path) < 0)
		kdie_io("%s", path);
	ksync_folder(path);
}

/* ---- the application's outputs ---- */

/* Writes the contents of FROM to the file TO, keeping its mode, or the link. */
static void
copy_file(const char *from, const char *to)
{
	make_folder_of(to);
	free(program_output(NULL, K_IO, "cp", "--", from, to));
}

/*
 * Saves the project's outputs before a program that may be wrong overwrites them: {"FILE": did it
 * exist}.
 */
static void
keep_outputs(void)
{
	json_auto_t *there = json_object();

	kjson_foreach(o, adoption.json, "outputs") {
		const char *name = kjson_str(o, "file");
		bool is = kis_there(project_path(name));

		if (is)
			copy_file(project_path(name), adopt_path("kept/files/%s", name));
		json_object_set_new(there, name, json_boolean(is));
	}
	write_json(adopt_path("kept/list.json"), there);
}

/* Restores those outputs; files that did not exist before are removed. */
static void
return_outputs(void)
{
	json_auto_t *there = kjson_if_there(adopt_path("kept/list.json"));

	kjson_foreach_member(name, was, there) {
		char *to = project_path(name), *from = adopt_path("kept/files/%s", name);
		const char *kept = file_sha256(from);

		/* If this is interrupted, it is done again. */
		if (json_is_false(was))
			unlink(to);
		else if (*kept && strcmp(kept, file_sha256(to)))
			copy_file(from, to);
	}
}

static bool
is_original(const char *file)
{
	const char *was = file_sha256(journal_original(file));

	return *was && !strcmp(was, file_sha256(project_path(file)));
}

bool
journal_is_original(void)
{
	return is_original(adoption.file);
}

void
journal_require_writable(const char *file)
{
	auto_free char *folder = kfolder_of(project_path(file));

	if (access(folder, W_OK) < 0)
		kdie_io("%s: cannot rename files here, "
		        "so the winner cannot be put in place; no file was changed",
		    folder);
}

/* ---- entries ---- */

/* Adds ENTRY, which is taken over; it is on the disk afterwards. */
static void
note(json_t *entry)
{
	kjson_put(entry, "at", know_text());
	append_record(adopt_path("journal.ndjson"), entry);
}

/* The last change, with what came of it as "state"; NULL: there was none. New reference. */
static json_t *
last_change(void)
{
	json_auto_t *list = kin_all(adopt_path("journal.ndjson"));
	json_t *change = NULL;

	kjson_foreach(entry, list)
		if (kjson_is(entry, "what", "change"))
			change = entry;
		else
			json_object_set(change, "state", json_object_get(entry, "what"));
	return json_incref(change);
}

static bool
is_pending(const json_t *change)
{
	return change && !kjson_is(change, "state", "accepted") &&
	    !kjson_is(change, "state", "restored");
}

void
journal_backup(void)
{
	json_auto_t *change = last_change();
	char *path = project_path(adoption.file);
	auto_free char *text = NULL;
	size_t len;

	if (is_pending(change))
		kdie_usage("%s: an unfinished change is pending; run kadopt repair to finish or "
		           "undo it",
		    path);
	text = file_text(path, &len);
	if (!text)
		kdie_errno(K_USAGE, "%s", path);
	if (!journal_is_original())
		write_bytes(journal_original(adoption.file), text, len);
	kjson_put(kjson_ensure(adoption.json, "originals", json_object()), adoption.file,
	    ksha256(text, len));
}

/* Do all files of the change have the contents in its FIELD: "from", "to"? */
static bool
all_are(const json_t *change, const char *field)
{
	const json_t *files = json_object_get(change, "files");

	return json_object_size(files) &&
	    !kany(kjson_foreach_member(file, v, files),
	        !kjson_is(v, field, file_sha256(project_path(file))));
}

bool
journal_is_accepted(const char *id)
{
	json_auto_t *change = last_change();

	return kjson_is(change, "state", "accepted") && all_are(change, "to") &&
	    kjson_is(change, "winner", id);
}

void
journal_change(const struct patch *p, const char *run, const char *id)
{
	json_t *files = json_object();

	kforeach_of(f, p->files, p->count) {
		if (!is_original(f->name))
			write_text(journal_original(f->name), f->was);
		json_object_set_new(files, f->name,
		    json_pack("{s:s,s:s}", "from", ksha256_of(f->was), "to", ksha256_of(f->text)));
	}
	keep_outputs();
	note(json_pack(
	    "{s:s,s:o,s:s,s:s}", "what", "change", "files", files, "run", run, "winner", id));
	kforeach_of(f, p->files, p->count)
		replace(f->name, f->text, strlen(f->text));
}

void
journal_accepted(void)
{
	note(json_pack("{s:s}", "what", "accepted"));
}

void
journal_restore(void)
{
	json_auto_t *change = last_change();
	auto_result struct command_result r = { 0 };

	kjson_foreach_member(file, v, change, "files") {
		size_t len;
		auto_free char *text = file_needed(journal_original(file), &len);

		if (!is_original(file))
			replace(file, text, len);
	}
	return_outputs();
	note(json_pack("{s:s}", "what", "restored"));
	/* Object files from the removed version may still be there. */
	r = command_run(adoption.project, adoption.build, NULL, "rebuild");
	if (r.status)
		kwarn("the sources are right, but the build fails: %s", r.why);
}

/* ---- after a kill ---- */

/* The first file of the change that somebody else has edited; NULL: none. */
static const char *
edited_file(const json_t *change)
{
	kjson_foreach_member(file, v, change, "files") {
		const char *now = file_sha256(project_path(file));

		if (*now && strcmp(now, kjson_str_or(v, "from", "?")) &&
		    strcmp(now, kjson_str_or(v, "to", "?")))
			return file;
	}
	return NULL;
}

int
journal_repair(void)
{
	json_auto_t *change = last_change();
	size_t ended = command_end_leftovers();
	const char *edited;

	if (ended)
		kwarn("ended %zu process%s of an earlier run", ended, ended > 1 ? "es" : "");
	kjson_foreach_member(file, v, change, "files")
		unlink(new_path(file));
	if (!is_pending(change))
		return K_OK;
	edited = edited_file(change);
	if (edited) {
		kwarn("%s was edited after the adoption, so kadopt did not change it. To restore "
		      "it, copy the original from %s/adopt/original and run kadopt repair again",
		    project_path(edited), adoption.dir);
		return K_USAGE;
	}
	journal_restore();
	kwarn("%s/%s is restored", adoption.project, adoption.file);
	return K_OK;
}

void
journal_status(struct kbuf *b)
{
	json_auto_t *change = last_change();

	if (!change)
		kbuf_puts(b, "project    unchanged\n");
	else
		kbuf_printf(b, "project    %s: %s (%s)\n", kjson_str_or(change, "run", "?"),
		    is_pending(change) ? "a change is pending; run kadopt repair"
		        : kjson_is(change, "state", "accepted") ? "the winner was accepted"
		                                                : "rolled back",
		    kjson_str_or(change, "at", "?"));
}
