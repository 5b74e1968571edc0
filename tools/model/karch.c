/* SPDX-License-Identifier: Apache-2.0 */
/* karch: see karch.h. */
#include "karch.h"

#include "kcamp.h"
#include "kplace.h"
#include "kregex.h"
#include "kstat.h"

struct karch karch;

const char *const karch_dims[KARCH_DIMS] = { "memory", "compute", "parallelism", "esimd" };

struct kgain_ratio
karch_speedup(const struct karch_row *row)
{
	if (!(row->speedup > 0))
		return (struct kgain_ratio){ 0 };
	if (!(row->speedup_high > 0))
		return (struct kgain_ratio){ row->speedup, row->speedup, row->speedup, 1 };
	return (struct kgain_ratio){ row->speedup, row->speedup_low, row->speedup_high, 1 };
}

void
karch_set_speedup(struct karch_row *row, const struct kgain_ratio *r, bool provisional)
{
	row->speedup = r->mean;
	row->speedup_low = r->low;
	row->speedup_high = r->high;
	row->provisional = provisional;
}

bool
karch_takes(const struct karch_row *elite, const struct karch_row *row)
{
	struct kgain_ratio was, now;

	if (!status_eligible(row->status) || !elite)
		return status_eligible(row->status);
	if (elite->status != STATUS_CORRECT || row->status != STATUS_CORRECT)
		return row->score > elite->score;
	was = karch_speedup(elite);
	now = karch_speedup(row);
	return was.n || now.n ? kgain_beyond(&now, &was) : row->score > elite->score;
}

bool
karch_best(struct karch_row *row)
{
	const json_t *best = kjson_path(karch.header, "best");
	struct kgain_ratio r = kgain_speedup_of(best);

	*row = (struct karch_row){
		.cell = karch_cell(kjson_str_or(best, "cell", "0000")),
		.score = kjson_num(best, "score"),
		.runtime_ms = kjson_num(best, "runtime_ms"),
		.status = status_or(best, "status", STATUS_CORRECT),
	};
	karch_set_speedup(row, &r, kjson_bool(best, "provisional"));
	snprintf(row->id, sizeof row->id, "%s", kjson_str(best, "id"));
	return karch_id(row->id, &row->trial, &row->branch);
}

void
karch_put_times(const struct karch_row *row, json_t *o)
{
	struct kgain_ratio speedup = karch_speedup(row);

	if (speedup.n)
		kgain_put_speedup(o, &speedup);
	kjson_extend(o, "{s:o*,s:o*}", "provisional", row->provisional ? json_true() : NULL,
	    "runtime_ms", row->runtime_ms > 0 ? json_real(row->runtime_ms) : NULL);
}

void
karch_set_best(const struct karch_row *row)
{
	json_t *now = json_pack("{s:s,s:i,s:s,s:f,s:s}", "id", row->id, "trial", (int)row->trial,
	    "cell", karch_cell_text(row->cell), "score", row->score, "status",
	    status_rows[row->status].name);

	karch_put_times(row, now);
	kjson_set(karch.header, "best", now);
}

int
karch_with(int cell, int dim, int level)
{
	int shift = 6 - 2 * dim;

	return (cell & ~(3 << shift)) | level << shift;
}

int
karch_distance(int a, int b)
{
	int sum = 0;

	for (int d = 0; d < KARCH_DIMS; d++)
		sum += abs(karch_level(a, d) - karch_level(b, d));
	return sum;
}

int
karch_cell(const char *text)
{
	int cell = 0;

	if (strlen(text) != KARCH_DIMS || strspn(text, "0123") != KARCH_DIMS)
		return -1;
	kforeach_of(one, text, KARCH_DIMS)
		cell = cell << 2 | (*one - '0');
	return cell;
}

const char *
karch_cell_text(int cell)
{
	return kshown("%d%d%d%d", karch_level(cell, 0), karch_level(cell, 1), karch_level(cell, 2),
	    karch_level(cell, 3));
}

int
karch_cell_json(const json_t *coords)
{
	int cell = 0;

	if (json_array_size(coords) != KARCH_DIMS)
		return -1;
	for (size_t d = 0; d < KARCH_DIMS; d++) {
		const json_t *level = json_array_get(coords, d);

		if (!json_is_integer(level) || json_integer_value(level) < 0 ||
		    json_integer_value(level) > 3)
			return -1;
		cell = cell << 2 | (int)json_integer_value(level);
	}
	return cell;
}

json_t *
karch_coords(int cell)
{
	return json_pack("[i,i,i,i]", karch_level(cell, 0), karch_level(cell, 1),
	    karch_level(cell, 2), karch_level(cell, 3));
}

static bool
digits(const char **p, long *value)
{
	const char *start = *p;

	for (*value = 0; **p >= '0' && **p <= '9' && *p - start < 9; (*p)++)
		*value = *value * 10 + (**p - '0');
	return *p > start;
}

bool
karch_id(const char *text, long *trial, long *branch)
{
	return digits(&text, trial) && *text++ == '/' && digits(&text, branch) && !*text;
}

bool
karch_is_id(const char *text)
{
	long trial, branch;

	return karch_id(text, &trial, &branch);
}

void
karch_step(int islands, int *current, long *filled)
{
	/*
	 * Trials per island in a row: long enough for children of its own, short enough that all
	 * get a turn.
	 */
	enum { PER_ISLAND = 10 };

	if (++*filled >= PER_ISLAND) {
		*filled = 0;
		*current = (*current + 1) % islands;
	}
}

const char *
karch_real(double v)
{
	const char *text = NULL;

	for (int digits_kept = 15; digits_kept <= 17; digits_kept++) {
		text = kshown("%.*g", digits_kept, v);
		if (atof(text) == v)
			break;
	}
	return text;
}

/* Where the row that is being read goes on. */
static const char *rest;

/* Step over WORDS, if they are next. */
static bool
skip(const char *words)
{
	size_t n = strlen(words);
	bool there = !strncmp(rest, words, n);

	rest += there ? n : 0;
	return there;
}

/* Reads the word after NAME into BUF; nothing if NAME is absent. False: malformed. */
static bool
scan_word(const char *name, char *buf, size_t size)
{
	const char *word;
	size_t n;

	if (!skip(name))
		return true;
	word = rest;
	n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_/");
	rest += n;
	if (n >= size || !skip("\""))
		return false;
	memcpy(buf, word, n);
	buf[n] = '\0';
	return true;
}

static bool
scan_number(const char *name, double *value)
{
	const char *number;
	char *end;

	if (!skip(name))
		return true;
	number = rest;
	*value = strtod(number, &end);
	rest = end;
	return end > number && (size_t)(end - number) == strspn(number, "-+.0123456789e") &&
	    isfinite(*value);
}

static bool
scan_islands(uint64_t *islands)
{
	long n;

	if (!skip(",\"islands\":["))
		return true;
	while (digits(&rest, &n)) {
		if (n >= KARCH_ISLANDS)
			return false;
		*islands |= UINT64_C(1) << n;
		if (!skip(","))
			break;
	}
	return skip("]");
}

/*
 * A row as karch_put writes it, and no other: a search reads thousands, and a parser of JSON takes
 * twenty times as long.
 */
static bool
scan_row(const char *line, struct karch_row *row)
{
	char cell[KARCH_DIMS + 1] = "", status[KARCH_WORD] = "";
	bool good;

	rest = line;
	row->score = NAN;
	row->elite = skip("{\"kind\":\"elite\"");
	good = (row->elite || skip("{\"kind\":\"program\"")) &&
	    scan_word(",\"id\":\"", row->id, sizeof row->id) &&
	    scan_word(",\"cell\":\"", cell, sizeof cell) &&
	    scan_number(",\"score\":", &row->score) &&
	    scan_word(",\"status\":\"", status, sizeof status) &&
	    scan_number(",\"speedup\":", &row->speedup) &&
	    scan_number(",\"speedup_low\":", &row->speedup_low) &&
	    scan_number(",\"speedup_high\":", &row->speedup_high);
	row->provisional = skip(",\"provisional\":true");
	good = good && scan_number(",\"runtime_ms\":", &row->runtime_ms) &&
	    scan_word(",\"tokens\":\"", row->tokens, sizeof row->tokens) &&
	    scan_word(",\"object\":\"", row->object, sizeof row->object) &&
	    scan_islands(&row->islands) &&
	    scan_word(",\"parent\":\"", row->parent, sizeof row->parent) &&
	    scan_word(",\"strategy\":\"", row->strategy, sizeof row->strategy) && skip("}") &&
	    !*rest;
	row->cell = karch_cell(cell);
	row->status = status_named(status);
	return good && karch_id(row->id, &row->trial, &row->branch) && row->cell >= 0 &&
	    !isnan(row->score) && status_eligible(row->status);
}

char *
karch_header(struct kin *in, json_t **header)
{
	struct krec rec;
	const char *schema;
	char *fault;

	*header = NULL;
	if (!kin_try(in, &rec, &fault))
		return fault ?: kasprintf("%s: is empty", in->file);
	schema = kjson_str(rec.json, "schema");
	if (strcmp(schema, "archive/1"))
		fault = kasprintf("%s:1: its schema is '%s', not 'archive/1'", in->file, schema);
	else if (kjson_int_or(rec.json, "trial", -1) < 0)
		fault = kasprintf("%s:1: an archive without a trial", in->file);
	else
		*header = json_incref(rec.json);
	krec_free(&rec);
	return fault;
}

void
karch_keep(struct karch_row *row)
{
	*kadded(karch.program, karch.programs) = row;
}

/*
 * Takes ROW, from a file that had FROM programs before it. Returns what is wrong with its place, or
 * NULL.
 */
static const char *
keep_row(struct karch_row *row, size_t from)
{
	const char *why = NULL;

	if (!row->elite) {
		karch_keep(row);
		return NULL;
	}
	if (karch.elite[row->cell])
		why = "a second elite of its cell";
	else if (karch.programs > from)
		why = "an elite after the programs";
	if (why)
		karch_row_free(row);
	else
		karch.elite[row->cell] = row;
	return why;
}

/* The rows of a file that are not KNOWN from a newer file; those of a THIN one become known. */
static char *
read_rows(struct kin *in, bool thin, json_t *known)
{
	size_t from = karch.programs;
	const char *line;
	char *fault;
	size_t len;

	while ((line = kin_line(in, &len, &fault))) {
		struct karch_row *row = kcalloc(1, sizeof *row);
		const char *why = scan_row(line, row) ? NULL : "karchive writes no such row";

		row->line = kstrndup(line, len);
		row->len = len;
		if (why || json_object_get(known, row->id)) {
			karch_row_free(row);
		} else {
			if (thin)
				kjson_enter(known, row->id);
			why = keep_row(row, from);
		}
		if (why)
			return kasprintf(
			    "%s:%ld: not a line of an archive: %s", in->file, in->lineno, why);
	}
	return fault;
}

char *
karch_before(const char *path, const json_t *header)
{
	/* the folder of the trials' folders, if that is named; and the file's own name */
	static const char form[] = "(?s)\\A(?|(.*/)[^/]*|()\\d*)/([^/]*)\\z";
	long trial = kjson_int_or(header, "after", -1);
	char target[64] = "";
	auto_free char *folder = NULL, *name = NULL;
	bool linked = trial >= 0 && readlink(path, target, sizeof target - 1) > 0;

	if (trial < 0)
		return NULL;
	/* The link is that to the newest archive. */
	if (!kregex_scan(form, linked ? kbeside(path, target) : path, &folder, &name))
		kdie_usage(
		    "%s: lacks the lines of trial %ld; read it in its own folder", path, trial);
	return kasprintf("%s%03ld/%s", folder, trial, name);
}

/* The cell that a line of a gradient describes, as kgrad writes it; or -1. */
static int
cell_of_line(const char *line, size_t len)
{
	static const char start[] = "{\"kind\":\"cell\",\"cell\":\"";
	char name[KARCH_DIMS + 1] = "";

	if (len > sizeof start + KARCH_DIMS && kbegins(line, start))
		memcpy(name, line + sizeof start - 1, KARCH_DIMS);
	return karch_cell(name);
}

/* The header of the newest file. */
static void
take_gradient(struct karch_gradient *g, json_t *header)
{
	g->header = json_incref(header);
	for (size_t i = 0; i < KARCH_LENGTHS; i++) {
		const json_t *one = json_array_get(json_object_get(header, "lengths"), i);

		g->lengths[i] = (struct karch_length){ kjson_num(one, "tries"),
			kjson_num(one, "correct"), kjson_num(one, "gain") };
	}
}

/* Reads the first line of a file. Returns the file that it builds on, or NULL; the caller frees. */
static char *
read_gradient_header(struct karch_gradient *g, const char *path, const char *line, size_t len)
{
	json_auto_t *header = json_loadb(line, len, 0, NULL);
	char *before;

	if (!kjson_is(header, "schema", KARCH_GRADIENT))
		kdie_usage(
		    "%s:1: is not a gradient of this version; make views makes it again", path);
	before = karch_before(path, header);
	if (!g->header)
		take_gradient(g, header);
	return before;
}

/* Adds the cells of one file that newer files do not have. Returns the same. */
static char *
read_gradient(struct karch_gradient *g, const char *path)
{
	static const char transition[] = "{\"kind\":\"transition\"";
	size_t len, n;
	char *text = kread_file_or_die(path, SIZE_MAX, &len), *before = NULL;
	long lineno = 1;

	*kadded(g->texts, g->count) = text;
	if (!len || text[len - 1] != '\n')
		kdie_usage("%s: %s", path, len ? "truncated (no newline at the end)" : "is empty");
	for (const char *line = text; *line && !kbegins(line, transition);
	     line += n + 1, lineno++) {
		int c = cell_of_line(line, n = strcspn(line, "\n"));

		if (lineno == 1) {
			before = read_gradient_header(g, path, line, n);
			continue;
		}
		if (c < 0)
			kdie_usage("%s:%ld: not a cell written by kgrad", path, lineno);
		if (!g->cell[c].s) {
			g->cell[c].s = line;
			g->cell[c].len = n;
		}
	}
	return before;
}

void
karch_gradient_load(struct karch_gradient *g, const char *path)
{
	*g = (struct karch_gradient){ 0 };
	for (char *file = kstrdup(path), *before; file; file = before) {
		before = read_gradient(g, file);
		free(file);
	}
}

void
karch_gradient_free(struct karch_gradient *g)
{
	kforeach_of(text, g->texts, g->count)
		free(*text);
	free(g->texts);
	json_decref(g->header);
}

bool
karch_is_thin(long before, long now, long each, long candidates)
{
	enum { FEW = 32 }; /* a short search can be read without tools */

	return candidates > FEW && before / each == now / each;
}

/* Best first; among equals the older first. */
static int
by_rank(const void *pa, const void *pb)
{
	const struct karch_row *a = *(struct karch_row *const *)pa,
	                       *b = *(struct karch_row *const *)pb;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->trial != b->trial)
		return a->trial < b->trial ? -1 : 1;
	return (a->branch > b->branch) - (a->branch < b->branch);
}

/* Best first; among equals the newer first, so that old failures are dropped first. */
static int
by_program(const void *pa, const void *pb)
{
	const struct karch_row *a = *(struct karch_row *const *)pa,
	                       *b = *(struct karch_row *const *)pb;

	return a->score == b->score ? by_rank(pb, pa) : by_rank(pa, pb);
}

void
karch_sort(void)
{
	if (karch.programs)
		qsort(karch.program, karch.programs, sizeof *karch.program, by_program);
}

/* For rows from several files: are all there, and are the programs in order? */
static char *
settle(const char *path)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t elites = karch_ranked(list);

	karch_sort();
	if (kjson_int(karch.header, "elites") + kjson_int(karch.header, "programs") ==
	    (long)(elites + karch.programs))
		return NULL;
	return kasprintf("%s: an archive that it builds on has changed", path);
}

/* Reads one file of an archive; *PATH becomes the file that it builds on, or NULL. */
static char *
read_file(char **path, json_t *known)
{
	char *before = NULL, *fault;
	json_t *header;
	struct kin in;

	if (karch.header && !kis_there(*path)) {
		fault = kasprintf("%s: is missing", *path);
		goto out;
	}
	kin_open(&in, *path);
	fault = karch_header(&in, &header);
	if (!fault) {
		before = karch_before(*path, header);
		fault = read_rows(&in, before, known);
		kjson_foreach_text(id, header, "gone")
			kjson_enter(known, id);
		if (!karch.header)
			karch.header = json_incref(header);
		json_decref(header);
	}
	kin_close(&in);
out:
	free(*path);
	*path = before;
	return fault;
}

void
karch_row_free(struct karch_row *row)
{
	if (row)
		free(row->line);
	free(row);
}

void
karch_free(void)
{
	kforeach_of(one, karch.elite, KARCH_CELLS)
		karch_row_free(*one);
	kforeach_of(each, karch.program, karch.programs)
		karch_row_free(*each);
	free(karch.program);
	json_decref(karch.header);
	karch = (struct karch){ .trial = -1 };
}

char *
karch_try(const char *path)
{
	auto_free char *file = kstrdup(path);
	char *fault = NULL;
	json_auto_t *known = json_object();

	karch_free();
	while (file && !fault)
		fault = read_file(&file, known);
	if (!fault && json_object_get(karch.header, "after"))
		fault = settle(path);
	if (fault) {
		karch_free();
		return fault;
	}
	karch.trial = kjson_int_or(karch.header, "trial", -1);
	json_object_del(karch.header, "after");
	json_object_del(karch.header, "gone");
	return NULL;
}

void
karch_load(const char *path)
{
	char *fault = karch_try(path);

	if (fault)
		kdie_usage("%s", fault);
}

static void
format_speedup(const struct karch_row *row, struct kbuf *b)
{
	kbuf_printf(b, ",\"speedup\":%s", karch_real(row->speedup));
	if (row->speedup_high > 0 && isfinite(row->speedup_high)) {
		kbuf_printf(b, ",\"speedup_low\":%s", karch_real(row->speedup_low));
		kbuf_printf(b, ",\"speedup_high\":%s", karch_real(row->speedup_high));
	}
	if (row->provisional)
		kbuf_puts(b, ",\"provisional\":true");
}

static void
format_row(const struct karch_row *row, struct kbuf *b)
{
	const char *separator = "";

	kbuf_printf(b, "{\"kind\":\"%s\",\"id\":\"%s\",\"cell\":\"%s\"",
	    row->elite ? "elite" : "program", row->id, karch_cell_text(row->cell));
	kbuf_printf(b, ",\"score\":%s,\"status\":\"%s\"", karch_real(row->score),
	    status_rows[row->status].name);
	if (row->speedup > 0)
		format_speedup(row, b);
	if (row->runtime_ms > 0)
		kbuf_printf(b, ",\"runtime_ms\":%s", karch_real(row->runtime_ms));
	if (*row->tokens)
		kbuf_printf(b, ",\"tokens\":\"%s\"", row->tokens);
	if (*row->object)
		kbuf_printf(b, ",\"object\":\"%s\"", row->object);
	kbuf_puts(b, ",\"islands\":[");
	for (int i = 0; i < KARCH_ISLANDS; i++)
		if (row->islands >> i & 1) {
			kbuf_printf(b, "%s%d", separator, i);
			separator = ",";
		}
	kbuf_puts(b, "]");
	if (*row->parent)
		kbuf_printf(b, ",\"parent\":\"%s\"", row->parent);
	if (*row->strategy)
		kbuf_printf(b, ",\"strategy\":\"%s\"", row->strategy);
	kbuf_puts(b, "}");
}

void
karch_put(const struct karch_row *row)
{
	auto_buf struct kbuf b = { 0 };

	if (row->line) {
		kout_raw(row->line, row->len);
		return;
	}
	format_row(row, &b);
	kout_raw(b.data, b.len);
}

size_t
karch_ranked(const struct karch_row **list)
{
	size_t n = 0;

	kforeach_of(one, karch.elite, KARCH_CELLS)
		if (*one)
			list[n++] = *one;
	qsort(list, n, sizeof *list, by_rank);
	return n;
}

double
karch_median(void)
{
	double score[KARCH_CELLS];
	size_t n = 0;

	kforeach_of(one, karch.elite, KARCH_CELLS)
		if (*one)
			score[n++] = (*one)->score;
	return n ? kstat_quantile(score, n, 0.5) : 0;
}

static double
rate_of(const json_t *direction)
{
	return (double)kjson_int(direction, "successes") /
	    (double)kjson_int_or(direction, "samples", 1);
}

static bool
is_zero(const json_t *vector)
{
	for (size_t d = 0; d < KARCH_DIMS; d++)
		if (json_integer_value(json_array_get(vector, d)))
			return false;
	return true;
}

static bool
better_hint(const json_t *a, const json_t *b)
{
	double ra = rate_of(a), rb = rate_of(b);

	return ra != rb ? ra > rb : kjson_int(a, "samples") > kjson_int(b, "samples");
}

/*
 * The median change of speed of the attempts that were timed: 0.06 for 6 % faster; 0 if there are
 * none.
 */
static double
median_gain(const json_t *direction)
{
	size_t n;
	auto_free double *v = kjson_numbers(json_object_get(direction, "deltas"), &n);

	return expm1(n ? kstat_quantile(v, n, 0.5) : 0);
}

/*
 * A hint says what usually works: tried more than once, faster in most attempts and in the median.
 */
static bool
is_hint(const json_t *direction)
{
	enum { SAMPLES = 2 };

	return kjson_int(direction, "samples") >= SAMPLES && rate_of(direction) > 0.5 &&
	    median_gain(direction) > 0 && !is_zero(json_object_get(direction, "direction"));
}

json_t *
karch_hints(const json_t *directions)
{
	/* A prompt has room for a few. */
	enum { MOST = 3 };
	json_t *out = json_array();

	/* An insertion sort: equal directions stay in the order of the file. */
	kjson_foreach(d, directions) {
		size_t at = json_array_size(out);

		if (!is_hint(d))
			continue;
		while (at && better_hint(d, json_array_get(out, at - 1)))
			at--;
		json_array_insert(out, at, d);
	}
	while (json_array_size(out) > MOST)
		json_array_remove(out, json_array_size(out) - 1);
	kjson_foreach(hint, out)
		json_array_set_new(out, kjson_at(hint),
		    json_pack("{s:O,s:I,s:I,s:f}", "direction", json_object_get(hint, "direction"),
		        "samples", (json_int_t)kjson_int(hint, "samples"), "successes",
		        (json_int_t)kjson_int(hint, "successes"), "gain", median_gain(hint)));
	return out;
}

/* Adds the second model's digest of the log, if there is such a file. */
static void
add_digest(json_t *program, const char *id)
{
	json_auto_t *record = kin_first(kplace_id(id, "digest"));
	const char *digest = kjson_maybe(record, "reply.text");

	if (digest)
		kjson_put(program, "digest", digest);
}

json_t *
karch_program(const char *id, bool log)
{
	static const char *const code[] = { "code", "files", NULL },
	                         *const all[] = { "code", "files", "log", "digest", "profile",
		                         NULL };
	json_t *program = json_pack("{s:s}", "id", id);
	json_auto_t *record = kin_first(kplace_id(id, "eval"));

	if (!kjson_maybe(record, "eval.code"))
		kdie_usage("%s/trials/%s/eval.ndjson: %s", kcamp.dir, id,
		    record ? "contains no code" : "is missing or empty");
	kjson_share(program, json_object_get(record, "eval"), log ? all : code);
	if (log)
		add_digest(program, id);
	return program;
}
