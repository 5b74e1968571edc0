/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds as files, and the seal on them. What has to stand there is made anew from the trials each
 * time; what stands there is compared with that and with logs/closed.ndjson, which holds for every
 * closed round the digests of its files and the length and digest of each log. See kround.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kround.h"
#include "status.h"

#define SEAL "logs/closed.ndjson"
#define SEAL_SCHEMA "closed/1"
enum { SHOWN = 200 };

/* A line of the seal. */
struct seal {
	json_t *json;
	char sha256[65]; /* of the line */
	long round;
	bool correction, current; /* current: the last one about its round */
	size_t length[LOGS];
};

/* Everything there is and has to be. */
struct state {
	const struct campaign *c;
	struct plan *plan; /* one for each round */
	struct seal *seal;
	size_t seals;
	char *log[LOGS]; /* as they are */
	size_t log_len[LOGS];
	/* by round: closed, and untouched since, but its facts say something else now */
	bool *stale;
	struct faults faults, drift;
};

void
add_fault(struct faults *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kbuf_vline(&f->text, fmt, ap);
	va_end(ap);
	f->count++;
}

/* What there is: the seal. */

static const char *
seal_fault(const struct state *s, const struct seal *e, const char *previous)
{
	long expected = 1;

	for (size_t i = 0; i < s->seals; i++)
		if (!s->seal[i].correction)
			expected = s->seal[i].round + 1;
	if (strcmp(kjson_str_or(e->json, "schema", ""), SEAL_SCHEMA))
		return "its schema must be " SEAL_SCHEMA;
	if (strcmp(kjson_str_or(e->json, "previous", ""), previous))
		return "it does not continue the line before it";
	if (e->correction ? e->round < 1 || e->round >= expected : e->round != expected)
		return "its round is out of order";
	for (int l = 0; l < LOGS; l++)
		if (s->seals && e->length[l] <= s->seal[s->seals - 1].length[l])
			return "the logs got shorter";
	return json_is_object(json_object_get(e->json, "files")) ? NULL : "it names no files";
}

static bool
take_seal(struct state *s, struct krec *rec)
{
	static const char *const lengths[LOGS] = { "optimize.length", "trend.length" };
	struct seal e = { .json = json_incref(rec->json),
		.round = (long)kjson_int_or(rec->json, "round", 0),
		.current = true,
		.correction = !strcmp(kjson_str_or(rec->json, "kind", ""), "correction") };
	const char *previous = s->seals ? s->seal[s->seals - 1].sha256 : "", *fault;

	ksha256_hex(rec->line, rec->len, e.sha256);
	for (int l = 0; l < LOGS; l++)
		e.length[l] = (size_t)kjson_int_or(rec->json, lengths[l], 0);
	fault = seal_fault(s, &e, previous);
	if (fault) {
		add_fault(&s->faults, "%s:%ld: was edited: %s", SEAL, rec->lineno, fault);
		json_decref(e.json);
		return false;
	}
	for (size_t i = 0; i < s->seals; i++)
		if (s->seal[i].round == e.round)
			s->seal[i].current = false;
	s->seal = krealloc(s->seal, (s->seals + 1) * sizeof *s->seal);
	s->seal[s->seals++] = e;
	return true;
}

static void
read_seal(struct state *s)
{
	struct krec rec;
	struct kin in;
	bool good = true;

	if (access(SEAL, F_OK) < 0)
		return;
	kin_open(&in, SEAL);
	while (good && kin_next(&in, &rec)) {
		good = take_seal(s, &rec);
		krec_free(&rec);
	}
	kin_close(&in);
}

static void
read_logs(struct state *s)
{
	for (int l = 0; l < LOGS; l++) {
		s->log[l] = kread_file(log_paths[l], FILE_MAX, &s->log_len[l]);
		if (!s->log[l] && errno != ENOENT)
			kdie_errno(K_IO, "%s", log_paths[l]);
		if (!s->log[l])
			s->log[l] = kstrdup("");
	}
}

/* The last round that is closed; 0: none. */
static long
closed_rounds(const struct state *s)
{
	long last = 0;

	for (size_t i = 0; i < s->seals; i++)
		if (s->seal[i].round > last)
			last = s->seal[i].round;
	return last;
}

/* What was closed beyond what there are trials for says nothing that could be compared. */
static bool
has_round(const struct state *s, long round)
{
	return (size_t)round <= s->c->count;
}

/*
 * A log differs from its seal in the part that seal I vouches for: where, as exactly as can be
 * told.
 */
static void
tell_log(struct state *s, int l, size_t i, const char *digest)
{
	const struct seal *e = &s->seal[i];
	size_t start = i ? s->seal[i - 1].length[l] : 0,
	       line = kline_at(s->log[l], start < s->log_len[l] ? start : s->log_len[l]);
	struct kbuf whole = { 0 };
	char hex[65], *is, *was;

	kbuf_add(&whole, s->log[l], start < s->log_len[l] ? start : s->log_len[l]);
	if (has_round(s, e->round))
		put_log_entry(s->c, &s->c->round[e->round - 1], l, e->correction, &whole);
	ksha256_hex(whole.data, whole.len, hex);
	if (!strcmp(hex, digest)) {
		line = first_difference(s->log[l],
		    s->log_len[l] < e->length[l] ? s->log_len[l] : e->length[l], whole.data,
		    whole.len, &is, &was);
		add_fault(&s->faults, "%s:%zu: was edited: it reads '%.*s', not '%.*s'",
		    log_paths[l], line, SHOWN, is, SHOWN, was);
		free(is);
		free(was);
	} else {
		add_fault(&s->faults, "%s:%zu: the entry of round %ld was edited", log_paths[l],
		    line, e->round);
	}
	kbuf_free(&whole);
}

static void
check_log(struct state *s, int l)
{
	static const char *const digests[LOGS] = { "optimize.sha256", "trend.sha256" };
	char hex[65];

	for (size_t i = 0; i < s->seals; i++) {
		const char *digest = kjson_str_or(s->seal[i].json, digests[l], "");

		if (s->log_len[l] >= s->seal[i].length[l])
			ksha256_hex(s->log[l], s->seal[i].length[l], hex);
		if (s->log_len[l] < s->seal[i].length[l] || strcmp(hex, digest)) {
			tell_log(s, l, i, digest);
			return;
		}
	}
}

/* Paths hold dots, so no kjson_str_or. */
static const char *
sealed_digest(const json_t *files, const char *path)
{
	const char *digest = json_string_value(json_object_get(files, path));

	return digest ? digest : "";
}

/* SHA-256 of a file; false when it is not there. */
static bool
file_digest(const char *path, char hex[65])
{
	size_t len;
	char *data = kread_file(path, FILE_MAX, &len);

	if (!data && errno != ENOENT && errno != ENOTDIR)
		kdie_errno(K_IO, "%s", path);
	if (data)
		ksha256_hex(data, len, hex);
	free(data);
	return data != NULL;
}

/* The files of a closed round, against its seal. What is gone may be made again. */
static void
check_files(struct state *s, const struct seal *e, bool must_exist)
{
	json_t *files = json_object_get(e->json, "files"), *digest;
	const char *path;
	char hex[65];

	json_object_foreach(files, path, digest)
	{
		bool there = file_digest(path, hex);

		if (!there && must_exist)
			add_fault(&s->faults, "%s: is missing", path);
		else if (there && strcmp(hex, sealed_digest(files, path)))
			add_fault(&s->faults,
			    "%s: was changed after round %ld was closed: sha256 %s, not %s", path,
			    e->round, hex, sealed_digest(files, path));
	}
}

/* Text that would come out otherwise today: where it differs, counted from line FIRST. */
static void
tell_drift(struct state *s, long round, const char *path, size_t first, const char *old,
    size_t old_len, const struct kbuf *new)
{
	char *was, *now;
	size_t line = first + first_difference(old, old_len, new->data, new->len, &was, &now) - 1;

	add_fault(&s->drift,
	    "round %ld was closed with other facts or another version of kiln: %s:%zu contains "
	    "'%.*s', but would now contain '%.*s'",
	    round, path, line, SHOWN, was, SHOWN, now);
	free(was);
	free(now);
}

static void
drift_of_files(struct state *s, const struct seal *e)
{
	const struct plan *p = &s->plan[e->round - 1];
	const json_t *files = json_object_get(e->json, "files");

	for (size_t k = 0; k < p->count; k++) {
		size_t len = 0;
		char *old;

		if (!strcmp(sealed_digest(files, p->file[k].path), p->file[k].sha256))
			continue;
		old = kread_file(p->file[k].path, FILE_MAX, &len);
		tell_drift(s, e->round, p->file[k].path, 1, old ? old : "", len, &p->file[k].text);
		free(old);
		return;
	}
	if (json_object_size(files) != p->count)
		add_fault(&s->drift,
		    "round %ld was closed with other facts or another version of kiln: it had %zu "
		    "files, but would now have %zu",
		    e->round, json_object_size(files), p->count);
}

static void
drift_of_log(struct state *s, const struct seal *e, int l)
{
	size_t i = (size_t)(e - s->seal), start = i ? s->seal[i - 1].length[l] : 0,
	       len = e->length[l] - start;
	struct kbuf entry = { 0 };

	put_log_entry(s->c, &s->c->round[e->round - 1], l, e->correction, &entry);
	if (entry.len != len || memcmp(entry.data, s->log[l] + start, len))
		tell_drift(s, e->round, log_paths[l], kline_at(s->log[l], start), s->log[l] + start,
		    len, &entry);
	kbuf_free(&entry);
}

/* The seal of an untouched round against what its facts say now: one message a round. */
static void
check_drift(struct state *s, const struct seal *e)
{
	size_t before = s->drift.count;

	drift_of_files(s, e);
	for (int l = 0; l < LOGS && s->drift.count == before; l++)
		drift_of_log(s, e, l);
	s->stale[e->round - 1] = s->drift.count != before;
}

/* The table that round 1 fixed for good: as it was closed, else as it will be. */
static char *
frozen_table(const struct state *s)
{
	static const char path[] = "rounds/round-1/artifacts/benchmark.csv";
	char *data = closed_rounds(s) ? kread_file(path, FILE_MAX, NULL) : NULL;

	return data ? data : kstrdup(find_planned(&s->plan[0], path)->text.data);
}

static void
check_tables(struct state *s)
{
	char *frozen = frozen_table(s);

	for (size_t i = 0; i < s->c->count; i++) {
		const struct round *r = &s->c->round[i];

		for (size_t k = 0; k < r->count; k++) {
			char *path = place(s->c, r, &r->list[k], "artifacts", "benchmark.csv");
			char *fault = csv_fault(frozen, find_planned(&s->plan[i], path)->text.data,
			    r->trial ? set_of(s->c, &r->list[k]) : NULL);

			if (fault)
				add_fault(&s->faults, "%s: %s", path, fault);
			free(fault);
			free(path);
		}
	}
	free(frozen);
}

/* A correct candidate has a time for every timed shape of its set: nobody picks those that suit. */
static void
check_complete(struct state *s)
{
	for (size_t i = 0; i < s->c->count; i++)
		for (size_t k = 0; k < s->c->round[i].count; k++) {
			const struct candidate *x = &s->c->round[i].list[k];

			if (status_at(x->eval, "status") != STATUS_CORRECT ||
			    !json_array_size(json_object_get(x->eval, "timing")))
				continue;
			for (size_t w = 0; w < s->c->task->workload_count; w++)
				if (x->shape[w].active && s->c->task->workloads[w].timed &&
				    !(x->shape[w].ns > 0))
					add_fault(&s->faults,
					    "trials/%s/eval.ndjson: workload %s of the set %s was "
					    "not timed",
					    x->id, s->c->task->workloads[w].name, set_of(s->c, x));
		}
}

/* A file that is made anew, or added to, round by round. */
static bool
is_standing(const char *path)
{
	for (int v = 0; v < VIEWS; v++)
		if (!strcmp(view_paths[v], path))
			return true;
	for (int l = 0; l < LOGS; l++)
		if (!strcmp(log_paths[l], path))
			return true;
	return !strcmp(path, SEAL) || !strcmp(path, LINEAGE);
}

/*
 * Is it the name that a write which was killed left behind: that of one of our files, a dot and six
 * letters?
 */
static bool
is_leftover(const struct state *s, const char *path)
{
	size_t len = strlen(path);
	char *name = len > 7 && path[len - 7] == '.' ? kstrndup(path, len - 7) : NULL;
	bool yes = name && is_standing(name);

	for (size_t i = 0; i < s->c->count && name && !yes; i++)
		yes = find_planned(&s->plan[i], name) != NULL;
	free(name);
	return yes;
}

static bool
is_ours(const struct state *s, const char *path)
{
	for (size_t i = 0; i < s->seals; i++)
		if (json_object_get(json_object_get(s->seal[i].json, "files"), path))
			return true;
	for (size_t i = 0; i < s->c->count; i++)
		if (find_planned(&s->plan[i], path))
			return true;
	return is_standing(path) || !strncmp(path, "logs/", 5);
}

/*
 * What a killed write left is removed when CLEAN; else files in rounds/ that nobody made are told.
 */
static void
sweep(struct state *s, bool clean)
{
	char *roots[] = { (char[]){ "rounds" }, (char[]){ "logs" }, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while (tree && (e = fts_read(tree)) != NULL) {
		if (e->fts_info == FTS_D || e->fts_info == FTS_DP || e->fts_info == FTS_NS)
			continue;
		if (is_leftover(s, e->fts_path) && clean)
			unlink(e->fts_path);
		else if (!is_leftover(s, e->fts_path) && !is_ours(s, e->fts_path) && !clean)
			add_fault(&s->faults, "%s: is not part of the records", e->fts_path);
	}
	if (tree)
		fts_close(tree);
}

static void
inspect(struct state *s, bool must_exist)
{
	read_seal(s);
	read_logs(s);
	if (closed_rounds(s) > (long)s->c->count) {
		add_fault(&s->faults,
		    "rounds up to %ld were closed, but trials/%03zu is damaged or no longer "
		    "complete, so it and later rounds cannot be compared",
		    closed_rounds(s), s->c->count);
		return;
	}
	for (int l = 0; l < LOGS; l++)
		check_log(s, l);
	for (size_t i = 0; i < s->seals; i++)
		if (s->seal[i].current)
			check_files(s, &s->seal[i], must_exist);
	check_tables(s);
	check_complete(s);
	if (s->faults.count)
		return;
	for (size_t i = 0; i < s->seals; i++)
		if (s->seal[i].current)
			check_drift(s, &s->seal[i]);
}

static void
state_open(struct state *s, const struct campaign *c)
{
	*s = (struct state){ .c = c,
		.plan = kcalloc(c->count, sizeof *s->plan),
		.stale = kcalloc(c->count, sizeof *s->stale) };
	for (size_t i = 0; i < c->count; i++)
		plan_round(c, &c->round[i], &s->plan[i]);
}

static void
state_close(struct state *s)
{
	for (size_t i = 0; i < s->c->count; i++)
		plan_free(&s->plan[i]);
	for (size_t i = 0; i < s->seals; i++)
		json_decref(s->seal[i].json);
	for (int l = 0; l < LOGS; l++)
		free(s->log[l]);
	free(s->plan);
	free(s->seal);
	free(s->stale);
	kbuf_free(&s->faults.text);
	kbuf_free(&s->drift.text);
}

/* Writing. */

void
put_file(const char *path, const void *data, size_t len)
{
	char *folder = kstrndup(path, (size_t)(strrchr(path, '/') - path));

	kmake_folder(folder);
	if (kwrite_file(path, data, len) < 0)
		kdie_errno(K_IO, "%s", path);
	free(folder);
}

/* What already stands there as it should is left alone, so that its time says when it was made. */
static void
write_text(const char *path, const struct kbuf *text)
{
	size_t len;
	char *old = kread_file(path, FILE_MAX, &len);

	if (!old || len != text->len || memcmp(old, text->data, len))
		put_file(path, text->data, text->len);
	free(old);
}

/* Files of rounds that a correction took the place of. */
static void
remove_old_files(const struct state *s, long round)
{
	const char *path;
	json_t *digest;

	for (size_t i = 0; i < s->seals; i++) {
		if (s->seal[i].round != round || !s->seal[i].current)
			continue;
		json_object_foreach(json_object_get(s->seal[i].json, "files"), path,
		    digest) if (!find_planned(&s->plan[round - 1], path) && unlink(path) < 0 &&
		    errno != ENOENT) kdie_errno(K_IO, "%s", path);
	}
}

/* A line of the seal for ROUND, with the logs as long as they are now. */
static json_t *
seal_line(const struct state *s, long round, bool correction, const struct kbuf *log,
    const char *previous)
{
	static const char *const names[LOGS] = { "optimize", "trend" };
	const struct plan *p = &s->plan[round - 1];
	const struct candidate *accepted = s->c->round[round - 1].accepted;
	json_t *files = json_object(), *line;
	char hex[65];

	for (size_t i = 0; i < p->count; i++)
		json_object_set_new(files, p->file[i].path, json_string(p->file[i].sha256));
	line = json_pack("{s:s,s:s,s:I,s:o,s:s}", "schema", SEAL_SCHEMA, "kind",
	    correction ? "correction" : "round", "round", (json_int_t)round, "files", files,
	    "previous", previous);
	if (accepted)
		json_object_set_new(line, "accepted", json_string(accepted->id));
	for (int l = 0; l < LOGS; l++) {
		ksha256_hex(log[l].data, log[l].len, hex);
		json_object_set_new(line, names[l],
		    json_pack("{s:I,s:s}", "length", (json_int_t)log[l].len, "sha256", hex));
	}
	return line;
}

/* What the logs and the seal become: what they are, corrections, and rounds that are new. */
struct growth {
	struct kbuf log[LOGS], seal;
	char previous[65];
	bool any;
};

static void
grow(const struct state *s, long round, bool correction, struct growth *g)
{
	json_t *line;
	char *text;

	for (int l = 0; l < LOGS; l++)
		put_log_entry(s->c, &s->c->round[round - 1], l, correction, &g->log[l]);
	line = seal_line(s, round, correction, g->log, g->previous);
	text = json_dumps(line, KIO_DUMP);
	ksha256_hex(text, strlen(text), g->previous);
	kbuf_printf(&g->seal, "%s\n", text);
	free(text);
	json_decref(line);
	g->any = true;
}

static void
grow_all(const struct state *s, struct growth *g)
{
	const struct seal *last = s->seals ? &s->seal[s->seals - 1] : NULL;
	size_t len = 0;
	char *old = last ? kread_file_or_die(SEAL, FILE_MAX, &len) : NULL;

	*g = (struct growth){ 0 };
	for (int l = 0; l < LOGS; l++)
		kbuf_add(&g->log[l], s->log[l], last ? last->length[l] : 0);
	kbuf_add(&g->seal, old ? old : "", len);
	snprintf(g->previous, sizeof g->previous, "%s", last ? last->sha256 : "");
	for (long n = 1; n <= closed_rounds(s); n++)
		if (s->stale[n - 1])
			grow(s, n, true, g);
	for (long n = closed_rounds(s) + 1; n <= (long)s->c->count; n++)
		grow(s, n, false, g);
	free(old);
}

/*
 * Beyond the seal a log may only hold what comes next: a run that was killed had written it and not
 * yet sealed it.
 */
static void
check_tails(struct state *s, const struct growth *g)
{
	for (int l = 0; l < LOGS; l++) {
		char *is, *was;
		size_t line;

		if (s->log_len[l] <= g->log[l].len &&
		    !memcmp(s->log[l], g->log[l].data, s->log_len[l]))
			continue;
		line = first_difference(
		    s->log[l], s->log_len[l], g->log[l].data, g->log[l].len, &is, &was);
		add_fault(&s->faults, "%s:%zu: was edited: it reads '%.*s', not '%.*s'",
		    log_paths[l], line, SHOWN, is, SHOWN, was);
		free(is);
		free(was);
	}
}

static void
write_all(const struct state *s, const struct growth *g)
{
	for (size_t i = 0; i < s->c->count; i++) {
		if (s->stale[i])
			remove_old_files(s, (long)i + 1);
		for (size_t k = 0; k < s->plan[i].count; k++)
			write_text(s->plan[i].file[k].path, &s->plan[i].file[k].text);
	}
	/* The seal comes last: what it vouches for is there. */
	for (int l = 0; l < LOGS && g->any; l++)
		write_text(log_paths[l], &g->log[l]);
	if (g->any)
		write_text(SEAL, &g->seal);
	for (int v = 0; v < VIEWS; v++) {
		struct kbuf text = { 0 };

		put_view(s->c, v, &text);
		write_text(view_paths[v], &text);
		kbuf_free(&text);
	}
}

int
records_lock(bool write)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, write ? LOCK_EX : LOCK_SH) < 0)
		kdie_errno(K_IO, "the campaign's folder");
	return fd;
}

static int
refuse(const struct faults *f, const char *what_to_do)
{
	fflush(stdout);
	for (const char *p = f->text.data, *end; *p; p = end + 1) {
		end = strchr(p, '\n');
		kwarn("%.*s", (int)(end - p), p);
	}
	kwarn("%s", what_to_do);
	return K_NO;
}

int
write_records(const struct campaign *c, const struct options *o)
{
	struct state s;
	struct growth g = { 0 };
	int code = K_OK;

	state_open(&s, c);
	sweep(&s, true);
	inspect(&s, false);
	if (!s.faults.count && (!s.drift.count || o->correct)) {
		grow_all(&s, &g);
		check_tails(&s, &g);
	}
	if (s.faults.count)
		code = refuse(&s.faults,
		    "nothing was written; undo the change, or delete rounds/ and logs/ to have "
		    "them made again");
	else if (s.drift.count && !o->correct)
		code = refuse(&s.drift,
		    "nothing was written; if the change was intended, add labelled corrections to "
		    "the logs with --correct");
	else
		write_all(&s, &g);
	for (int l = 0; l < LOGS; l++)
		kbuf_free(&g.log[l]);
	kbuf_free(&g.seal);
	state_close(&s);
	return code;
}

/* All but the termination check, which hangs on a file that anybody may make at any time. */
static void
check_views(struct state *s)
{
	for (int v = 0; v < VIEWS; v++) {
		struct kbuf text = { 0 };
		size_t len;
		char *is = kread_file(view_paths[v], FILE_MAX, &len);

		put_view(s->c, v, &text);
		if (v != VIEW_TERMINATION && (!is || len != text.len || memcmp(is, text.data, len)))
			add_fault(&s->faults,
			    "%s differs from the records; run kround records to make it again",
			    view_paths[v]);
		kbuf_free(&text);
		free(is);
	}
}

void
check_records(const struct campaign *c, struct faults *f, size_t *files)
{
	struct state s;
	struct growth g = { 0 };

	state_open(&s, c);
	inspect(&s, true);
	if (closed_rounds(&s) <= (long)c->count) {
		sweep(&s, false);
		check_views(&s);
	}
	if (!s.faults.count && !s.drift.count) {
		grow_all(&s, &g);
		check_tails(&s, &g);
	}
	for (size_t i = 0; i < c->count; i++) {
		*files += s.plan[i].count;
		if ((long)i >= closed_rounds(&s))
			add_fault(
			    &s.faults, "round %zu is not closed yet; run kround records", i + 1);
	}
	kbuf_printf(&f->text, "%s%s", s.faults.text.data ? s.faults.text.data : "",
	    s.drift.text.data ? s.drift.text.data : "");
	f->count += s.faults.count + s.drift.count;
	for (int l = 0; l < LOGS; l++)
		kbuf_free(&g.log[l]);
	kbuf_free(&g.seal);
	state_close(&s);
}
