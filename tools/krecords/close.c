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
static struct {
	struct plan *plan; /* one for each round */
	struct closed *closed;
	size_t count;
	long last;               /* the last closed round; 0: none */
	struct kbuf log[LOGS];   /* as they are */
	struct kbuf grown[LOGS]; /* their expected contents */
	bool anew;               /* the existing logs cannot be continued */
	struct kfaults faults, drift;
} state;

/* The line of a text that begins at START; the caller frees. */
static char *
line_at(const char *text, size_t len, size_t start)
{
	return start < len ? kuntil(text + start, "\n") : kstrdup("(end of file)");
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
	auto_free char *a = NULL, *b = NULL;

	for (; i < is_len && i < ought->len && is[i] == ought->data[i]; i++)
		if (is[i] == '\n') {
			first++;
			start = i + 1;
		}
	a = line_at(is, is_len, start);
	b = line_at(ought->data, ought->len, start);
	kfault(f, "%s%s:%zu%s '%.*s'%s '%.*s'", before, path, first,
	    *before ? " contains" : ": was edited: it reads", SHOWN, a, after, SHOWN, b);
}

/* Is this the first time that the facts of a closed round are found to have changed? */
static bool
drifts(const struct closed *e)
{
	bool *stale = &state.plan[e->round - 1].stale, first = !*stale;

	*stale = true;
	return first;
}

/* A piece of the records: as it was closed, as it is, and as it would be now. */
struct piece {
	const char *path, *sealed, *digest; /* the digests that it had, and would have */
	const char *file, *is; /* the file's text, and where the piece begins in it; NULL: none */
	size_t len;
	const struct kbuf *now; /* NULL: only the digest is known, or it would not exist */
};

/* True if it was not edited. MISSING: it is a fault if it is not there. */
static bool
check_piece(const struct closed *e, const struct piece *p, bool missing)
{
	bool same = !strcmp(p->sealed, p->digest), whole;
	auto_free char *drift = kasprintf(DRIFT, e->round);
	size_t first;

	if (same && p->is && p->len == p->now->len && !memcmp(p->is, p->now->data, p->len))
		return true;
	whole = !p->is || ksha256_is(p->is, p->len, p->sealed);
	first = p->is ? kline_at(p->file, (size_t)(p->is - p->file)) : 0;
	if (!p->is && missing)
		kfault(&state.faults, "%s: is missing; krecords close makes it again", p->path);
	else if (!whole && same)
		add_difference(&state.faults, p->path, first, p->is, p->len, p->now, "", ", not");
	else if (!whole)
		kfault(&state.faults,
		    "%s:%zu: was edited from this line on, "
		    "after round %ld was closed: its sha256 is no longer %s",
		    p->path, first, e->round, p->sealed);
	else if (!same && e->current && p->is && p->now && drifts(e))
		add_difference(&state.drift, p->path, first, p->is, p->len, p->now, drift,
		    ", but would now contain");
	else if (!same && e->current && drifts(e))
		kfault(&state.drift, "%s%s has changed", drift, p->path);
	return whole;
}

static bool
is_fact(const char *path)
{
	return kbegins(path, "trials/");
}

/* A file as it is planned, NULL if it is not. A missing one may be made again, but not a fact. */
static void
check_file(const struct closed *e, const char *path, const struct planned *f, bool must_exist)
{
	const char *sealed = kseal_digest(e->line, path);
	bool ours = *sealed && !is_fact(path);
	struct piece p = { path, sealed, f ? f->sha256 : "", NULL, NULL, 0, f ? &f->text : NULL };
	auto_free char *data = ours ? kread_if_there(path, FILE_MAX, &p.len) : NULL;

	p.file = p.is = data;
	check_piece(e, &p, ours && must_exist);
}

/* Facts are planned first: where they differ, they explain the other differences. */
static void
check_files(const struct closed *e, bool must_exist)
{
	const struct plan *p = &state.plan[e->round - 1];

	kforeach_of(f, p->file, p->count)
		check_file(e, f->path, f, must_exist);
	kjson_foreach_member(path, digest, e->line, "files")
		if (!find_planned(p, path))
			check_file(e, path, NULL, must_exist);
}

static const json_t *
entry_of(const json_t *line, int l)
{
	return json_object_get(json_object_get(line, "logs"), log_paths[l]);
}

/* The entries of a log up to the first that was edited: no later entry is still in its place. */
static void
check_log(int l)
{
	bool good = true;

	for (size_t i = 0; i < state.count && good; i++) {
		const struct closed *e = &state.closed[i];
		const struct kbuf *log = &state.log[l];
		size_t from = e->start[l] < log->len ? e->start[l] : log->len,
		       rest = log->len - from;
		auto_buf struct kbuf now = { 0 };
		struct piece p = { log_paths[l], kjson_str(entry_of(e->line, l), "sha256"), NULL,
			log->data, log->data + from, rest < e->length[l] ? rest : e->length[l],
			&now };

		put_log_entry(&campaign.round[e->round - 1], l, e->correction, &now);
		p.digest = ksha256(now.data, now.len);
		good = check_piece(e, &p, false);
	}
}

static void
read_closed(void)
{
	size_t end[LOGS] = { 0 };

	state.closed = kcalloc(json_array_size(campaign.seal.lines) + 1, sizeof *state.closed);
	kjson_foreach(line, campaign.seal.lines) {
		struct closed *e = &state.closed[state.count];

		if (kjson_is(line, "kind", ANEW)) {
			memset(end, 0, sizeof end);
			state.count = 0;
			state.last = 0;
		}
		if (!kjson_is(line, "kind", "round"))
			continue;
		*e = (struct closed){ .line = line,
			.round = kjson_int(line, "round"),
			.correction = kjson_bool(line, "correction"),
			.current = true };
		for (int l = 0; l < LOGS; l++) {
			e->start[l] = end[l];
			e->length[l] = (size_t)kjson_int(entry_of(line, l), "length");
			end[l] += e->length[l];
		}
		kforeach_of(one, state.closed, state.count)
			one->current &= one->round != e->round;
		state.last = e->round > state.last ? e->round : state.last;
		state.count++;
	}
}

/*
 * A missing log, built from its current entries. If the old log was different, for example before a
 * correction, it cannot be rebuilt: then the logs can only be started again.
 */
static struct kbuf
remade_log(int l)
{
	struct kbuf text = kbuf_empty();

	for (size_t i = 0; i < state.count && !state.anew; i++) {
		const struct closed *e = &state.closed[i];
		size_t start = text.len;

		put_log_entry(&campaign.round[e->round - 1], l, e->correction, &text);
		state.anew = !ksha256_is(
		    text.data + start, text.len - start, kjson_str(entry_of(e->line, l), "sha256"));
		if (state.anew)
			kfault(&state.drift,
			    DRIFT "its entry in %s is lost and cannot be made again", e->round,
			    log_paths[l]);
	}
	return text;
}

static void
read_logs(bool must_exist)
{
	for (int l = 0; l < LOGS; l++) {
		struct kbuf *log = &state.log[l];

		log->data = kread_if_there(log_paths[l], FILE_MAX, &log->len);
		if (log->data)
			continue;
		if (must_exist && state.count)
			kfault(&state.faults, "%s: is missing; krecords close makes it again",
			    log_paths[l]);
		*log = remade_log(l);
	}
}

/* New logs and seal: what exists, corrections, and new rounds. */

static void
grow(long round, bool correction)
{
	const struct plan *p = &state.plan[round - 1];
	const struct candidate *accepted = campaign.round[round - 1].accepted;
	json_t *files = json_object(), *logs = json_object();

	kforeach_of(one, p->file, p->count)
		kjson_put(files, one->path, one->sha256);
	for (int l = 0; l < LOGS; l++) {
		size_t start = state.grown[l].len;

		put_log_entry(&campaign.round[round - 1], l, correction, &state.grown[l]);
		kjson_extend(logs, "{s:{s:I,s:s}}", log_paths[l], "length",
		    (json_int_t)(state.grown[l].len - start), "sha256",
		    ksha256(state.grown[l].data + start, state.grown[l].len - start));
	}
	kseal_add(&campaign.seal, "round",
	    json_pack("{s:I,s:o,s:o,s:o*,s:s*}", "round", (json_int_t)round, "files", files, "logs",
	        logs, "correction", correction ? json_true() : NULL, "accepted",
	        accepted ? accepted->id : NULL));
}

/*
 * Beyond the seal, a log may only contain the next entry: a run wrote it and was killed before it
 * sealed it.
 */
static void
grow_all(void)
{
	const struct closed *last = state.count ? &state.closed[state.count - 1] : NULL;

	if (state.anew) {
		kseal_add(&campaign.seal, ANEW, json_object());
		memset(state.log, 0, sizeof state.log);
		last = NULL;
		state.last = 0;
	}
	for (int l = 0; l < LOGS && last; l++)
		kbuf_add(&state.grown[l], state.log[l].data, last->start[l] + last->length[l]);
	for (long n = 1; n <= state.last; n++)
		if (state.plan[n - 1].stale)
			grow(n, true);
	for (long n = state.last + 1; n <= (long)campaign.count; n++)
		grow(n, false);
	for (int l = 0; l < LOGS; l++) {
		const struct kbuf *log = &state.log[l], *grown = &state.grown[l];

		if (log->len > grown->len || (log->len && memcmp(log->data, grown->data, log->len)))
			add_difference(&state.faults, log_paths[l], 1, log->data, log->len, grown,
			    "", ", not");
	}
}

/* The files of rounds, now and as they were closed, the views and the logs. New reference. */
static json_t *
our_files(void)
{
	json_t *ours = json_object();

	kforeach_of(view_path, view_paths, VIEWS)
		kjson_enter(ours, *view_path);
	kforeach_of(log_path, log_paths, LOGS)
		kjson_enter(ours, *log_path);
	kforeach_of(each, state.plan, campaign.count)
		kforeach_of(file, each->file, each->count)
			kjson_enter(ours, file->path);
	kforeach_of(one, state.closed, state.count)
		json_object_update(ours, json_object_get(one->line, "files"));
	return ours;
}

/* Was the file left by a killed write: the name of one of OURS, a dot and six letters? */
static bool
is_left(const json_t *ours, const char *path)
{
	size_t len = strlen(path);
	auto_free char *name = kstrndup(path, len > 7 ? len - 7 : 0);

	return len > 7 && path[len - 7] == '.' && json_object_get(ours, name);
}

/* With CLEAN, removes what killed writes left; otherwise reports files of unknown origin. */
static void
sweep(bool clean)
{
	char *roots[] = { (char[]){ "rounds" }, (char[]){ "logs" }, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	json_auto_t *ours = our_files();
	FTSENT *e;

	while (tree && (e = fts_read(tree)) != NULL) {
		bool left = is_left(ours, e->fts_path);

		if (e->fts_info == FTS_D || e->fts_info == FTS_DP || e->fts_info == FTS_NS)
			continue;
		if (left && clean)
			unlink(e->fts_path);
		else if (!left && !clean && !json_object_get(ours, e->fts_path))
			kfault(&state.faults, "%s: is not part of the records; remove it",
			    e->fts_path);
	}
	if (tree)
		fts_close(tree);
}

/* A correct candidate has a time for every timed shape of its set: no cherry-picking. */
static void
check_complete(void)
{
	kforeach_of(one, campaign.round, campaign.count)
		kforeach_list(x, one) {
			const char *shape = untimed_shape(x);

			if (shape)
				kfault(&state.faults,
				    "trials/%s/eval.ndjson: "
				    "workload %s of the set %s was not timed",
				    x->id, shape, set_of(x));
		}
}

static void
state_open(bool must_exist)
{
	state.plan = kcalloc(campaign.count, sizeof *state.plan);
	for (size_t i = 0; i < campaign.count; i++)
		plan_round(&campaign.round[i], &state.plan[i]);
	read_closed();
	if (state.last > (long)campaign.count) {
		kfault(&state.faults,
		    "rounds up to %ld were closed, but trials/%03zu is damaged or no longer "
		    "complete, so it and later rounds cannot be compared",
		    state.last, campaign.count);
		return;
	}
	read_logs(must_exist);
	kforeach_of(one, state.closed, state.count)
		if (one->current)
			check_files(one, must_exist);
	for (int l = 0; l < LOGS && !state.anew; l++)
		check_log(l);
	check_complete();
}

/* Removes files of a round that a correction has replaced. */
static void
remove_old_files(const struct closed *e)
{
	kjson_foreach_member(path, digest, e->line, "files")
		if (!is_fact(path) && !find_planned(&state.plan[e->round - 1], path) &&
		    unlink(path) < 0 && errno != ENOENT)
			kdie_io("%s", path);
}

static void
write_all(void)
{
	/* Thousands of files take long to reach the disk one by one. */
	bool many = (long)campaign.count > state.last + 1;

	kforeach_of(one, state.closed, state.count)
		if (one->current && state.plan[one->round - 1].stale)
			remove_old_files(one);
	kforeach_of(each, state.plan, campaign.count)
		kforeach_of(x, each->file, each->count)
			if (x->text.data)
				put_by(many ? kwrite_unsynced : kwrite_if_changed, x->path,
				    x->text.data, x->text.len);
	if (many)
		ksync_all(".");
	for (int l = 0; l < LOGS; l++)
		put_file(log_paths[l], state.grown[l].data, state.grown[l].len);
	/* The seal is saved last: the files that it lists exist. */
	kseal_save(&campaign.seal);
	for (int v = 0; v < VIEWS; v++) {
		auto_buf struct kbuf text = { 0 };

		put_view(v, &text);
		put_file(view_paths[v], text.data, text.len);
	}
}

static int
refuse(const struct kfaults *f, const char *what_to_do)
{
	fflush(stdout);
	kpart_foreach(line, f->text.data, "\n")
		kwarn("%s", line);
	kwarn("%s", what_to_do);
	return K_NO;
}

int
close_rounds(void)
{
	int code = K_OK;

	state_open(false);
	sweep(true);
	if (!state.faults.count && (!state.drift.count || given.correct))
		grow_all();
	if (state.faults.count)
		code = refuse(&state.faults,
		    "nothing was written; "
		    "undo the change, or remove the file to have it made again");
	else if (state.drift.count && !given.correct)
		code = refuse(&state.drift,
		    "nothing was written; if the change was intended, add labelled corrections to "
		    "the logs with --correct");
	else
		write_all();
	return code;
}

/* All but the termination check, which depends on a file that anybody may make at any time. */
static void
check_views(void)
{
	for (int v = VIEW_TERMINATION + 1; v < VIEWS; v++) {
		auto_buf struct kbuf text = { 0 };
		size_t len = 0;
		auto_free char *is = kread_file(view_paths[v], FILE_MAX, &len);

		put_view(v, &text);
		if (!is || len != text.len || memcmp(is, text.data, len))
			add_difference(&state.faults, view_paths[v], 1, is ?: "", len, &text, "",
			    "; krecords close writes");
	}
}

void
check_rounds(struct kfaults *f, size_t *files)
{
	state_open(true);
	if (state.last <= (long)campaign.count) {
		sweep(false);
		check_views();
	}
	for (size_t i = 0; i < campaign.count; i++) {
		*files += state.plan[i].count;
		if ((long)i >= state.last)
			kfault(&state.faults, "round %zu is not closed yet; run krecords close",
			    i + 1);
	}
	if (!state.faults.count && !state.drift.count)
		grow_all();
	kbuf_printf(&f->text, "%s%s", state.faults.text.data ?: "", state.drift.text.data ?: "");
	f->count += state.faults.count + state.drift.count;
}
