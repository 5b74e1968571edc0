/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds as files, sealed. The expected contents are computed from the trials each time. A line of
 * the seal, of the kind "round", holds the digests of the files that a round was made from and of
 * those that were made, and the length and digest of what it added to each log. See krecords.h.
 */
#include <fts.h>

#include "krecords.h"

enum { SHOWN = 200 };

/* The kind of line after which earlier rounds no longer count: the logs were started again. */
#define ANEW "rounds_anew"

/* Text for when facts or kiln itself have changed. */
#define DRIFT "round %ld was closed with other facts or another version of kiln: "

/* A closed round: a line of the seal. */
struct closed {
	const json_t *line;
	long round;
	bool correction, current; /* current: the last line about its round */
	size_t start[LOGS], length[LOGS];
};

/* Everything that exists and that should exist. */
struct state {
	struct campaign *c;
	struct plan *plan; /* one for each round */
	struct closed *closed;
	size_t count;
	long last;       /* the last closed round; 0: none */
	char *log[LOGS]; /* as they are */
	size_t log_len[LOGS];
	struct kbuf grown[LOGS]; /* their expected contents */
	bool anew;               /* the existing logs cannot be continued */
	/* for each round: closed, and not edited since, but its facts have changed */
	bool *stale;
	struct kfaults faults, drift;
};

static char *
line_at(const char *text, const char *end)
{
	const char *newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;

	return text < end ? kstrndup(text, (size_t)((newline ? newline : end) - text))
	                  : kstrdup("(end of file)");
}

/*
 * "PATH:LINE: BEFORE 'is', AFTER 'ought'" for the first difference of two texts, the first of which
 * begins at line FIRST.
 */
static void
add_difference(struct kfaults *f, const char *path, size_t first, const char *is, size_t is_len,
    const struct kbuf *ought, const char *before, const char *after)
{
	size_t start = 0, i = 0;
	char *a, *b;

	for (; i < is_len && i < ought->len && is[i] == ought->data[i]; i++)
		if (is[i] == '\n') {
			first++;
			start = i + 1;
		}
	a = line_at(is + start, is + is_len);
	b = line_at(ought->data + start, ought->data + ought->len);
	kfault(f, "%s%s:%zu%s '%.*s'%s '%.*s'", before, path, first,
	    *before ? " contains" : ": was edited: it reads", SHOWN, a, after, SHOWN, b);
	free(a);
	free(b);
}

/* Is this the first time that the facts of a closed round are found to have changed? */
static bool
drifts(struct state *s, const struct closed *e)
{
	bool first = !s->stale[e->round - 1];

	s->stale[e->round - 1] = true;
	return first;
}

/* A piece of the records: as it was closed, as it is, and as it would be now. */
struct piece {
	const char *path, *sealed; /* its digest */
	const char *file, *is;     /* the file's text, and where the piece begins in it */
	size_t len;
	const struct kbuf *now;
};

/* True if it was not edited. */
static bool
check_piece(struct state *s, const struct closed *e, const struct piece *p)
{
	bool same = ksha256_is(p->now->data, p->now->len, p->sealed), whole;
	size_t first;
	char *drift;

	if (same && p->len == p->now->len && !memcmp(p->is, p->now->data, p->len))
		return true;
	whole = ksha256_is(p->is, p->len, p->sealed);
	first = kline_at(p->file, (size_t)(p->is - p->file));
	drift = kasprintf(DRIFT, e->round);
	if (whole && !same && e->current && drifts(s, e))
		add_difference(&s->drift, p->path, first, p->is, p->len, p->now, drift,
		    ", but would now contain");
	else if (!whole && same)
		add_difference(&s->faults, p->path, first, p->is, p->len, p->now, "", ", not");
	else if (!whole)
		kfault(&s->faults,
		    "%s:%zu: was edited from this line on, after round %ld was closed: its sha256 "
		    "is no longer %s",
		    p->path, first, e->round, p->sealed);
	free(drift);
	return whole;
}

static bool
is_fact(const char *path)
{
	return !strncmp(path, "trials/", 7);
}

/* A fact that has changed cannot be made again. */
static void
check_fact(struct state *s, const struct closed *e, const char *path)
{
	const struct planned *f = find_planned(&s->plan[e->round - 1], path);
	const char *digest = kseal_digest(e->line, path);

	if ((!f || strcmp(f->sha256, digest)) && drifts(s, e))
		kfault(&s->drift, DRIFT "%s %s%s, not %s", e->round, path,
		    f ? "has the sha256 " : "is gone", f ? f->sha256 : "", digest);
}

/* A missing file may be made again. */
static void
check_file(struct state *s, const struct closed *e, const char *path, bool must_exist)
{
	static const struct kbuf nothing;
	struct planned *f = find_planned(&s->plan[e->round - 1], path);
	struct piece p = { path, kseal_digest(e->line, path), NULL, NULL, 0,
		f ? &f->text : &nothing };
	auto_free char *data = kread_if_there(path, FILE_MAX, &p.len);

	p.file = p.is = data;
	if (data && f)
		f->stands = p.len == p.now->len && !memcmp(data, p.now->data, p.len);
	if (data && !(f && f->stands && !strcmp(f->sha256, p.sealed)))
		check_piece(s, e, &p);
	else if (!data && must_exist)
		kfault(&s->faults, "%s: is missing; krecords close makes it again", path);
	else if (!data && (!f || strcmp(f->sha256, p.sealed)) && drifts(s, e))
		kfault(&s->drift, DRIFT "%s was another", e->round, path);
}

/* Facts are checked first: where they differ, they explain the other differences. */
static void
check_files(struct state *s, const struct closed *e, bool must_exist)
{
	json_t *files = json_object_get(e->line, "files"), *digest;
	const struct plan *p = &s->plan[e->round - 1];
	const char *path;

	json_object_foreach(files, path, digest)
		if (is_fact(path))
			check_fact(s, e, path);
	json_object_foreach(files, path, digest)
		if (!is_fact(path))
			check_file(s, e, path, must_exist);
	for (size_t i = 0; i < p->count; i++)
		if (!*kseal_digest(e->line, p->file[i].path) && drifts(s, e))
			kfault(&s->drift, DRIFT "%s is new", e->round, p->file[i].path);
}

static const json_t *
entry_of(const json_t *line, int l)
{
	return json_object_get(json_object_get(line, "logs"), log_paths[l]);
}

/* The entries of a log up to the first that was edited: no later entry is still in its place. */
static void
check_log(struct state *s, int l)
{
	bool good = true;

	for (size_t i = 0; i < s->count && good; i++) {
		const struct closed *e = &s->closed[i];
		size_t from = e->start[l] < s->log_len[l] ? e->start[l] : s->log_len[l],
		       rest = s->log_len[l] - from;
		auto_buf struct kbuf now = { 0 };
		struct piece p = { log_paths[l], kjson_str_or(entry_of(e->line, l), "sha256", ""),
			s->log[l], s->log[l] + from, rest < e->length[l] ? rest : e->length[l],
			&now };

		put_log_entry(s->c, &s->c->round[e->round - 1], l, e->correction, &now);
		good = check_piece(s, e, &p);
	}
}

static void
read_closed(struct state *s)
{
	size_t i, end[LOGS] = { 0 };
	json_t *line;

	s->closed = kcalloc(json_array_size(s->c->seal.lines) + 1, sizeof *s->closed);
	json_array_foreach(s->c->seal.lines, i, line) {
		struct closed *e = &s->closed[s->count];

		if (kjson_is(line, "kind", ANEW)) {
			memset(end, 0, sizeof end);
			s->count = 0;
			s->last = 0;
		}
		if (!kjson_is(line, "kind", "round"))
			continue;
		*e = (struct closed){ .line = line,
			.round = (long)kjson_int_or(line, "round", 0),
			.correction = kjson_bool_or(line, "correction", false),
			.current = true };
		for (int l = 0; l < LOGS; l++) {
			e->start[l] = end[l];
			e->length[l] = (size_t)kjson_int_or(entry_of(line, l), "length", 0);
			end[l] += e->length[l];
		}
		for (size_t k = 0; k < s->count; k++)
			s->closed[k].current &= s->closed[k].round != e->round;
		s->last = e->round > s->last ? e->round : s->last;
		s->count++;
	}
}

/*
 * A missing log, built from its current entries. If the old log was different, for example before a
 * correction, it cannot be rebuilt: then the logs can only be started again.
 */
static char *
remade_log(struct state *s, int l, size_t *len)
{
	struct kbuf text = kbuf_empty();

	for (size_t i = 0; i < s->count && !s->anew; i++) {
		const struct closed *e = &s->closed[i];
		size_t start = text.len;

		put_log_entry(s->c, &s->c->round[e->round - 1], l, e->correction, &text);
		s->anew = !ksha256_is(text.data + start, text.len - start,
		    kjson_str_or(entry_of(e->line, l), "sha256", ""));
		if (s->anew)
			kfault(&s->drift, DRIFT "its entry in %s is lost and cannot be made again",
			    e->round, log_paths[l]);
	}
	*len = text.len;
	return text.data;
}

static void
read_logs(struct state *s, bool must_exist)
{
	for (int l = 0; l < LOGS; l++) {
		s->log[l] = kread_if_there(log_paths[l], FILE_MAX, &s->log_len[l]);
		if (!s->log[l] && must_exist && s->count)
			kfault(&s->faults, "%s: is missing; krecords close makes it again",
			    log_paths[l]);
		if (!s->log[l])
			s->log[l] = remade_log(s, l, &s->log_len[l]);
	}
}

/* New logs and seal: what exists, corrections, and new rounds. */

static void
grow(struct state *s, long round, bool correction)
{
	const struct plan *p = &s->plan[round - 1];
	const struct candidate *accepted = s->c->round[round - 1].accepted;
	json_t *files = json_object(), *logs = json_object(), *line;
	char hex[65];

	for (size_t i = 0; i < p->count; i++)
		json_object_set_new(files, p->file[i].path, json_string(p->file[i].sha256));
	for (int l = 0; l < LOGS; l++) {
		size_t start = s->grown[l].len;

		put_log_entry(s->c, &s->c->round[round - 1], l, correction, &s->grown[l]);
		ksha256_hex(s->grown[l].data + start, s->grown[l].len - start, hex);
		json_object_set_new(logs, log_paths[l],
		    json_pack("{s:I,s:s}", "length", (json_int_t)(s->grown[l].len - start),
		        "sha256", hex));
	}
	line = json_pack("{s:I,s:o,s:o}", "round", (json_int_t)round, "files", files, "logs", logs);
	if (correction)
		json_object_set_new(line, "correction", json_true());
	if (accepted)
		json_object_set_new(line, "accepted", json_string(accepted->id));
	kseal_add(&s->c->seal, "round", line);
}

/*
 * Beyond the seal, a log may only contain the next entry: a run wrote it and was killed before it
 * sealed it.
 */
static void
grow_all(struct state *s)
{
	const struct closed *last = s->count ? &s->closed[s->count - 1] : NULL;

	if (s->anew) {
		kseal_add(&s->c->seal, ANEW, json_object());
		memset(s->log_len, 0, sizeof s->log_len);
		last = NULL;
		s->last = 0;
	}
	for (int l = 0; l < LOGS && last; l++)
		kbuf_add(&s->grown[l], s->log[l], last->start[l] + last->length[l]);
	for (long n = 1; n <= s->last; n++)
		if (s->stale[n - 1])
			grow(s, n, true);
	for (long n = s->last + 1; n <= (long)s->c->count; n++)
		grow(s, n, false);
	for (int l = 0; l < LOGS; l++)
		if (s->log_len[l] > s->grown[l].len ||
		    memcmp(s->log[l], s->grown[l].data, s->log_len[l]))
			add_difference(&s->faults, log_paths[l], 1, s->log[l], s->log_len[l],
			    &s->grown[l], "", ", not");
}

/*
 * Is the file one of a round, a view or a log, or, if LEFT, left by a killed write: its name, a dot
 * and six letters?
 */
static bool
is_ours(const struct state *s, const char *path, bool left)
{
	size_t len = strlen(path);
	char *name;
	bool yes = false;
	long round;

	if (left && (len < 8 || path[len - 7] != '.'))
		return false;
	name = kstrndup(path, left ? len - 7 : len);
	for (int v = 0; v < VIEWS; v++)
		yes |= !strcmp(view_paths[v], name);
	for (int l = 0; l < LOGS; l++)
		yes |= !strcmp(log_paths[l], name);
	if (sscanf(name, "rounds/round-%ld/", &round) == 1 && round > 0 &&
	    round <= (long)s->c->count)
		yes = find_planned(&s->plan[round - 1], name) != NULL;
	for (size_t i = 0; i < s->count && !yes; i++)
		yes = *kseal_digest(s->closed[i].line, name);
	free(name);
	return yes;
}

/* With CLEAN, removes what killed writes left; otherwise reports files of unknown origin. */
static void
sweep(struct state *s, bool clean)
{
	char *roots[] = { (char[]){ "rounds" }, (char[]){ "logs" }, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *e;

	while (tree && (e = fts_read(tree)) != NULL) {
		if (e->fts_info == FTS_D || e->fts_info == FTS_DP || e->fts_info == FTS_NS)
			continue;
		if (is_ours(s, e->fts_path, true)) {
			if (clean)
				unlink(e->fts_path);
		} else if (!clean && !is_ours(s, e->fts_path, false)) {
			kfault(
			    &s->faults, "%s: is not part of the records; remove it", e->fts_path);
		}
	}
	if (tree)
		fts_close(tree);
}

/* A correct candidate has a time for every timed shape of its set: no cherry-picking. */
static void
check_complete(struct state *s)
{
	for (size_t i = 0; i < s->c->count; i++)
		for (size_t k = 0; k < s->c->round[i].count; k++) {
			const struct candidate *x = &s->c->round[i].list[k];
			const char *shape = untimed_shape(s->c, x);

			if (shape)
				kfault(&s->faults,
				    "trials/%s/eval.ndjson: workload %s of the set %s was not "
				    "timed",
				    x->id, shape, set_of(s->c, x));
		}
}

static void
state_open(struct state *s, struct campaign *c, bool must_exist)
{
	*s = (struct state){ .c = c,
		.plan = kcalloc(c->count, sizeof *s->plan),
		.stale = kcalloc(c->count, sizeof *s->stale) };
	for (size_t i = 0; i < c->count; i++)
		plan_round(c, &c->round[i], &s->plan[i]);
	read_closed(s);
	if (s->last > (long)c->count) {
		kfault(&s->faults,
		    "rounds up to %ld were closed, but trials/%03zu is damaged or no longer "
		    "complete, so it and later rounds cannot be compared",
		    s->last, c->count);
		return;
	}
	read_logs(s, must_exist);
	for (size_t i = 0; i < s->count; i++)
		if (s->closed[i].current)
			check_files(s, &s->closed[i], must_exist);
	for (int l = 0; l < LOGS && !s->anew; l++)
		check_log(s, l);
	check_complete(s);
}

static void
state_close(struct state *s)
{
	for (size_t i = 0; i < s->c->count; i++)
		plan_free(&s->plan[i]);
	for (int l = 0; l < LOGS; l++) {
		free(s->log[l]);
		kbuf_free(&s->grown[l]);
	}
	free(s->plan);
	free(s->closed);
	free(s->stale);
	kbuf_free(&s->faults.text);
	kbuf_free(&s->drift.text);
}

/* A file that is already right is not written, so that its time says when it was made. */
static void
write_text(const char *path, const struct kbuf *text)
{
	size_t len;
	auto_free char *old = kread_file(path, FILE_MAX, &len);

	if (!old || len != text->len || memcmp(old, text->data, len))
		put_file(path, text->data, text->len);
}

/* Removes files of a round that a correction has replaced. */
static void
remove_old_files(const struct state *s, const struct closed *e)
{
	const char *path;
	json_t *digest;

	json_object_foreach(json_object_get(e->line, "files"), path, digest)
		if (!is_fact(path) && !find_planned(&s->plan[e->round - 1], path) &&
		    unlink(path) < 0 && errno != ENOENT)
			kdie_errno(K_IO, "%s", path);
}

static void
write_all(struct state *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->closed[i].current && s->stale[s->closed[i].round - 1])
			remove_old_files(s, &s->closed[i]);
	for (size_t i = 0; i < s->c->count; i++)
		for (size_t k = 0; k < s->plan[i].count; k++)
			if (!s->plan[i].file[k].fact && !s->plan[i].file[k].stands)
				write_text(s->plan[i].file[k].path, &s->plan[i].file[k].text);
	for (int l = 0; l < LOGS; l++)
		write_text(log_paths[l], &s->grown[l]);
	/* The seal is saved last: the files that it lists exist. */
	kseal_save(&s->c->seal);
	for (int v = 0; v < VIEWS; v++) {
		auto_buf struct kbuf text = { 0 };

		put_view(s->c, v, &text);
		write_text(view_paths[v], &text);
	}
}

static int
refuse(const struct kfaults *f, const char *what_to_do)
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
close_rounds(struct campaign *c, bool correct)
{
	struct state s;
	int code = K_OK;

	state_open(&s, c, false);
	sweep(&s, true);
	if (!s.faults.count && (!s.drift.count || correct))
		grow_all(&s);
	if (s.faults.count)
		code = refuse(&s.faults,
		    "nothing was written; undo the change, or remove the file to have it made "
		    "again");
	else if (s.drift.count && !correct)
		code = refuse(&s.drift,
		    "nothing was written; if the change was intended, add labelled corrections to "
		    "the logs with --correct");
	else
		write_all(&s);
	state_close(&s);
	return code;
}

/* All but the termination check, which depends on a file that anybody may make at any time. */
static void
check_views(struct state *s)
{
	for (int v = VIEW_TERMINATION + 1; v < VIEWS; v++) {
		auto_buf struct kbuf text = { 0 };
		size_t len = 0;
		auto_free char *is = kread_file(view_paths[v], FILE_MAX, &len);

		put_view(s->c, v, &text);
		if (!is || len != text.len || memcmp(is, text.data, len))
			add_difference(&s->faults, view_paths[v], 1, is ? is : "", len, &text, "",
			    "; krecords close writes");
	}
}

void
check_rounds(struct campaign *c, struct kfaults *f, size_t *files)
{
	struct state s;

	state_open(&s, c, true);
	if (s.last <= (long)c->count) {
		sweep(&s, false);
		check_views(&s);
	}
	for (size_t i = 0; i < c->count; i++) {
		*files += s.plan[i].count;
		if ((long)i >= s.last)
			kfault(&s.faults, "round %zu is not closed yet; run krecords close", i + 1);
	}
	if (!s.faults.count && !s.drift.count)
		grow_all(&s);
	kbuf_printf(&f->text, "%s%s", s.faults.text.data ? s.faults.text.data : "",
	    s.drift.text.data ? s.drift.text.data : "");
	f->count += s.faults.count + s.drift.count;
	state_close(&s);
}
