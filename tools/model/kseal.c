/* SPDX-License-Identifier: Apache-2.0 */
/* kseal: see kseal.h. */
#include "kseal.h"

#include <sys/file.h>

#include "kplace.h"

#define SCHEMA "seal/1"
#define OWN ",\"sha256\":\""

enum { SEAL_MAX = 1 << 30, DIGEST = 64, TAIL = sizeof OWN - 1 + DIGEST + 2 };

int
kseal_lock(const char *dir, bool alone)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, alone ? LOCK_EX : LOCK_SH) < 0)
		kdie_io("%s", dir);
	return fd;
}

/*
 * Does the line contain NAME:"VALUE"? Quotes within a text are escaped, so no text can look like a
 * member.
 */
static bool
says(const char *line, const char *name, const char *value)
{
	char text[128];

	/* Not kshown: a long seal would take the turns of all texts that a caller holds. */
	snprintf(text, sizeof text, "\"%s\":\"%s\"", name, value);
	return strstr(line, text) != NULL;
}

/*
 * What is wrong with LINE, which follows the digest in S->head; sets S->head to its own digest. The
 * content is compared with that only if the line is WANTED: a long seal takes a while.
 */
static const char *
line_fault(struct kseal *s, const char *line, size_t len, bool wanted)
{
	const char *tail = line + len - TAIL;

	if (len <= TAIL || memcmp(tail, OWN, sizeof OWN - 1) || !says(line, "schema", SCHEMA))
		return "was edited: not a line of " SCHEMA;
	if (!says(line, "previous", s->head))
		return "was moved, or a line before it was removed: it does not continue that one";
	memcpy(s->head, tail + sizeof OWN - 1, DIGEST);
	return !wanted || ksha256_is(line, len - TAIL, s->head) ? NULL
	                                                        : "was edited: its sha256 is not "
	                                                          "that of its content";
}

static const char *
take_line(struct kseal *s, const char *kind, const char *line, size_t len)
{
	bool wanted = !kind || says(line, "kind", kind);
	const char *fault = line_fault(s, line, len, wanted);
	struct krec rec;

	s->count++;
	if (fault || !wanted)
		return fault;
	if (krec_parse(&rec, line, len))
		return "was edited: not a record";
	kjson_put(rec.json, "n", s->count);
	if (!kind || kjson_is(rec.json, "kind", kind))
		json_array_append(s->lines, rec.json);
	krec_free(&rec);
	return NULL;
}

char *
kseal_read(struct kseal *s, const char *dir, const char *kind)
{
	const char *fault = NULL;
	char *end;
	size_t len = 0;

	*s = (struct kseal){ .lines = json_array(), .path = kstrdup(kplace_in(dir, KSEAL_FILE)) };
	s->text.data = kread_if_there(s->path, SEAL_MAX, &len);
	s->text.len = s->text.cap = len;
	for (char *line = s->text.data; line && *line && !fault; line = end + 1) {
		end = strchrnul(line, '\n');
		if (!*end)
			return kasprintf("%s:%ld: was edited: no newline at its end; put the file "
			                 "back from a copy",
			    s->path, s->count + 1);
		*end = '\0';
		fault = take_line(s, kind, line, (size_t)(end - line));
		*end = '\n';
	}
	return fault
	    ? kasprintf("%s:%ld: %s; put the file back from a copy", s->path, s->count, fault)
	    : NULL;
}

void
kseal_open(struct kseal *s, const char *dir, const char *kind)
{
	char *fault = kseal_read(s, dir, kind);

	if (fault)
		kdie_usage("%s", fault);
}

void
kseal_close(struct kseal *s)
{
	json_decref(s->lines);
	kbuf_free(&s->text);
	free(s->path);
	*s = (struct kseal){ 0 };
}

void
kseal_add(struct kseal *s, const char *kind, json_t *event)
{
	auto_free char *text = NULL;

	kjson_extend(event, "{s:s,s:s,s:s}", "schema", SCHEMA, "kind", kind, "previous", s->head);
	text = json_dumps(event, KIO_DUMP);
	/* Without its last brace. */
	ksha256_hex(text, strlen(text) - 1, s->head);
	kbuf_printf(&s->text, "%.*s" OWN "%s\"}\n", (int)strlen(text) - 1, text, s->head);
	s->changed = true;
	kjson_extend(event, "{s:I,s:s}", "n", (json_int_t)++s->count, "sha256", s->head);
	json_array_append_new(s->lines, event);
}

void
kseal_save(struct kseal *s)
{
	if (!s->changed)
		return;
	kwrite_or_die(s->path, s->text.data, s->text.len);
	s->changed = false;
	/* Files left by killed writes. Nobody else writes: we hold the folder. */
	kpath_foreach(path, kshown("%s.??????", s->path))
		unlink(path);
}

void
kseal_note(const char *dir, const char *kind, json_t *event)
{
	auto_close int lock = kseal_lock(dir, true);
	struct kseal s;

	kseal_open(&s, dir, kind);
	kseal_add(&s, kind, event);
	kseal_save(&s);
	kseal_close(&s);
}

const json_t *
kseal_last(const struct kseal *s, const char *kind)
{
	for (size_t i = json_array_size(s->lines); i-- > 0;) {
		const json_t *line = json_array_get(s->lines, i);

		if (kjson_is(line, "kind", kind))
			return line;
	}
	return NULL;
}

const char *
kseal_digest(const json_t *line, const char *path)
{
	/* Paths contain dots, so kjson_str_or cannot be used. */
	const char *digest =
	    json_string_value(json_object_get(json_object_get(line, "files"), path));

	return digest ?: "";
}

bool
kseal_knows(const struct kseal *s, const char *path, const char *digest)
{
	return kany(kjson_foreach(line, s->lines), !strcmp(kseal_digest(line, path), digest));
}

const char *
kseal_file(const char *path)
{
	size_t len;
	auto_free char *data = kread_if_there(path, SEAL_MAX, &len);

	return data ? ksha256(data, len) : NULL;
}

json_t *
kseal_files(const char *dir, const char *const *files)
{
	json_t *digests = json_object();

	for (; *files; files++) {
		const char *digest = kseal_file(kplace_in(dir, *files));

		if (digest)
			kjson_put(digests, *files, digest);
	}
	return digests;
}

char *
kseal_changed(const char *dir, const char *kind, const char *since)
{
	struct kseal s;
	char *fault = kseal_read(&s, dir, kind);
	const json_t *line = fault ? NULL : kseal_last(&s, kind);

	kjson_foreach_member(name, digest, line, "files") {
		const char *path = kplace_in(dir, name), *is = kseal_file(path);

		if (!fault && (!is || strcmp(is, kseal_digest(line, name))))
			fault = kasprintf("%s: %s since %s, so figures before and after cannot be "
			                  "compared (" KSEAL_FILE ":%ld); restore it, or begin "
			                  "again in another folder",
			    path, is ? "it has changed" : "it was removed", since,
			    kjson_int(line, "n"));
	}
	kseal_close(&s);
	return fault;
}

char *
kseal_adopted(const char *dir)
{
	return kseal_changed(dir, KSEAL_ADOPTED, "the function was adopted");
}
