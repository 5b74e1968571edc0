/* SPDX-License-Identifier: Apache-2.0 */
/* kadopt list: which functions of a project can be adopted, and why the others cannot. */

#include "adopt.h"
#include "shape.h"
#include "unit.h"

static const char usage[] = "usage: kadopt list [-p DIR] [OPTION...]\n";

enum { PROFILE_MAX = 64 << 20 };

struct list_options {
	const char *project, *file, *log;
	const char *profile; /* the file, then its contents; or NULL */
	bool json, all;
};

/* One function of the project. */
struct row {
	struct adopted_unit unit;
	struct kbuf why;
	bool good;
	double share;
	char *instead;
	bool inside; /* it calls that function, and not the other way round */
};
static struct {
	struct row *list;
	size_t count;
} rows;

/* ---- a profile ---- */

/*
 * The first number in the first line that names the function: perf report, and the tables of GPU
 * profilers, have the share or the time there.
 */
static double
share_of(const char *profile, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = profile; at && (at = strstr(at, name)); at += n) {
		const char *line = at;

		if ((at > profile && kis_word(at[-1])) || kis_word(at[n]))
			continue;
		while (line > profile && line[-1] != '\n')
			line--;
		line += strcspn(line, "0123456789\n");
		if (line < at)
			return strtod(line, NULL);
	}
	return 0;
}

/* ---- the list ---- */

static bool
uses(const struct row *r, const struct row *what)
{
	return kscan_mentions(r->unit.f, kscan_plain(what->unit.name));
}

/* The smallest function that calls R and can be adopted; INSIDE: the largest that R calls. */
static const struct row *
nearest(const struct row *r, bool inside)
{
	const struct row *best = NULL;

	kforeach_list(x, &rows) {
		size_t size = x->unit.f->to - x->unit.f->from,
		       than = best ? best->unit.f->to - best->unit.f->from : 0;

		if (x->good && x != r && (!best || (inside ? size > than : size < than)) &&
		    (inside ? uses(r, x) : uses(x, r)))
			best = x;
	}
	return best;
}

static void
propose(struct row *r)
{
	const struct row *best = nearest(r, false);

	r->inside = !best;
	if (!best)
		best = nearest(r, true);
	r->instead = best ? best->unit.name : NULL;
}

static int
hotter(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	return (a->share < b->share) - (a->share > b->share);
}

static void
print_json(const struct row *r)
{
	json_t *reasons = json_array(), *o;

	kpart_foreach(line, r->why.data, "\n")
		json_array_append_new(reasons, kjson_string(line));
	o = json_pack("{s:s,s:i,s:s,s:b,s:b,s:o,s:O,s:o,s:o*,s:s*}", "file", r->unit.file, "line",
	    (int)r->unit.line, "function", r->unit.name, "kernel", r->unit.kernel, "good", r->good,
	    "reasons", reasons, "doubts", r->unit.doubts, "unit", unit_json(&r->unit), "share",
	    r->share > 0 ? json_real(r->share) : NULL, "instead", r->instead);
	kout_json(o);
	json_decref(o);
}

static bool
is_sure(const struct row *r)
{
	return r->good && !json_array_size(r->unit.doubts);
}

static void
print_row(const struct row *r)
{
	auto_free char *kernels = listed(r->good ? r->unit.sequence : NULL);

	if (r->share > 0)
		ksay("%6.2f ", r->share);
	ksay("%s %s:%zu: %s%s%s%s\n",
	    !r->good         ? "no "
	        : is_sure(r) ? "yes"
	                     : "maybe",
	    r->unit.file, r->unit.line, r->unit.name,
	    r->good && r->unit.text ? r->unit.kernel ? ", with its launches"
	            : r->unit.sequence               ? ", with the kernels"
	                                             : ", in a wrapper"
	                            : "",
	    *kernels ? " " : "", kernels);
	kpart_foreach(line, r->why.data, "\n")
		ksay("      %s\n", line);
	kjson_foreach_text(line, r->good ? r->unit.doubts : NULL)
		ksay("      %s\n", line);
	if (r->instead)
		ksay("      adopt %s instead, which %s\n", r->instead,
		    r->inside ? "it calls" : "calls it");
}

/* A constructor. */
static bool
is_maker(const struct kscan_item *x)
{
	auto_free char *class = kscan_path(kscan_whole(x));

	return !strcmp(kscan_plain(class), x->names[0]);
}

static bool
is_wanted(const struct kscan_item *x, const struct list_options *o)
{
	if (x->kind != KSCAN_FUNCTION || kscan_uses(x->in, x->from, x->open, "operator") ||
	    is_maker(x) || (o->file && strcmp(unit_place(x, x->name_at).file, o->file)))
		return false;
	if (kscan_has_word(x, "__global__"))
		return true;
	/* A function without loops and indexing takes no time, unless the profile has it. */
	return !kscan_has_word(x, "__device__") &&
	    (o->all || share_of(o->profile, x->names[0]) > 0 ||
	        (kscan_matches(x->in, x->body, x->to, "<<<") && strcmp(x->names[0], "main") != 0) ||
	        (kscan_uses(x->in, x->body, x->to, "for while") &&
	            kscan_matches(x->in, x->body, x->to, "\\[")));
}

/* A function in a header is listed once, however many files include it. */
static bool
is_new(json_t *seen, const struct kscan_item *x)
{
	struct origin at = unit_place(x, x->name_at);

	return kjson_enter(seen, kshown("%s:%zu:%s", at.file, at.line, x->names[0]));
}

/*
 * Does the text of its file have the function's name? If a macro makes the name, nothing can be put
 * in the function's place. TEXTS: those of files that were read.
 */
static bool
is_written(const struct adopted_unit *u, json_t *texts)
{
	struct kscan s;

	if (!json_object_get(texts, u->file)) {
		auto_free char *all = text_in(u->source->all->project, u->file);

		kjson_set(texts, u->file, kjson_string(all ?: ""));
	}
	s = kscan_code(json_string_value(json_object_get(texts, u->file)));
	return !s.len || kscan_uses(&s, 0, s.len, kscan_plain(u->name));
}

static void
make_rows(const struct unit_sources *s, const struct list_options *o)
{
	const struct kscan_item *x;
	json_auto_t *seen = json_object(), *texts = json_object();

	kforeach_list(source, s)
		for (size_t k = 0; (x = unit_candidate(source, k)); k++) {
			struct row r = { 0 };

			if (!is_wanted(x, o) || !is_new(seen, x))
				continue;
			r.good = unit_make(&r.unit, x, NULL, &r.why);
			if (r.good && !is_written(&r.unit, texts)) {
				r.good = false;
				kbuf_puts(&r.why, "a macro makes its name\n");
			}
			r.share = share_of(o->profile, kscan_plain(r.unit.name));
			*kadded(rows.list, rows.count) = r;
		}
	kforeach_list(r, &rows)
		if (!r->good && !r->unit.kernel)
			propose(r);
	if (o->profile && rows.count)
		qsort(rows.list, rows.count, sizeof *rows.list, hotter);
}

int
command_list(int argc, char **argv)
{
	struct list_options o = { .project = "." };
	const struct koption options[] = {
		{ 'p', "project", .text = &o.project, .help = "DIR\tthe project" },
		KOPTION_TEXT("file", &o.file, "FILE\tonly the functions of this file"),
		KOPTION_TEXT("profile", &o.profile,
		    "FILE\thottest first, from the output of perf or a GPU profiler"),
		KOPTION_TEXT("build-log", &o.log,
		    "FILE\twhat make prints, if compile_commands.json does not exist"),
		KOPTION_FLAG("all", &o.all, "\talso functions without loops over arrays"),
		KOPTION_FLAG("json", &o.json, "\ta JSON object a line"),
	};
	struct unit_sources sources = { 0 };
	size_t good = 0, sure = 0;
	char project[PATH_MAX];

	koption_all(options, usage, argc, argv);
	if (o.json)
		kout_open(NULL);
	if (!realpath(o.project, project))
		kdie_errno(K_USAGE, "--project %s", o.project);
	if (o.log)
		compile_log(project, o.log);
	if (o.profile)
		o.profile = kread_file_or_die(o.profile, PROFILE_MAX, NULL);
	unit_sources_read(&sources, project, NULL, NULL);
	make_rows(&sources, &o);
	kforeach_list(r, &rows) {
		(o.json ? print_json : print_row)(r);
		good += r->good;
		sure += is_sure(r);
	}
	if (o.json)
		kout_commit();
	else
		ksay("%zu of %zu functions can be adopted\n", sure, rows.count);
	if (!o.json && sure < good)
		ksay("%zu more perhaps: compile_commands.json, or the output of the build "
		     "(--build-log), would show its macros\n",
		    good - sure);
	kforeach_list(r, &rows) {
		unit_free(&r->unit);
		kbuf_free(&r->why);
	}
	free(rows.list);
	unit_sources_free(&sources);
	return good ? K_OK : K_NO;
}
