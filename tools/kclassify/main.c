/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kclassify: where a kernel is in the search space: four coordinates of 0..3, derived from its
 * source text with a table of patterns. Appends "coords" to records; prints one line per source
 * file.
 */

#include "kcamp.h"
#include "koption.h"
#include "kpattern.h"
#include "krecord.h"

#define SOURCE_MAX ((size_t)64 << 20)

static const char usage[] = "usage: kclassify [-b NAME | --patterns FILE] [OPTION...] [FILE...]\n";

/* Files with these names hold source text, not records. */
static const char source_suffixes[] = ".c .cc .cl .cpp .cu .cuh .cxx .h .hip .hpp .ptx .py .sycl";

static struct classifier {
	struct kpattern_table *table;
	int flags;
	bool explain, sources, thin;
} classifier = { .flags = KPATTERN_STRIP | KPATTERN_GATES };

/* Prints one line about a source, or what --explain says about it. */
static void
classify(const char *name, const char *source, size_t len)
{
	auto_buf struct kbuf told = { 0 };
	struct kpattern_result r;
	const int *at = r.coords;

	kpattern_classify(
	    classifier.table, source, len, classifier.flags, &r, classifier.explain ? &told : NULL);
	if (classifier.explain)
		kout_line("%s: cell %d%d%d%d\n%s", name, at[0], at[1], at[2], at[3], told.data);
	else
		kout_line("%d %d %d %d  %s", at[0], at[1], at[2], at[3], name);
}

static void
classify_source(const char *path)
{
	const char *name = path ?: "-";
	size_t len;
	auto_free char *source = kread_file_or_die(name, SOURCE_MAX, &len);

	classify(name, source, len);
}

/* The candidate's main file and the other files of its bundle; empty when there is no code. */
static void
collect_source(const struct krec *rec, struct kbuf *source)
{
	if (kjson_path(rec->json, "eval.code"))
		kbuf_puts(source, krec_str(rec, "eval.code"));
	kjson_foreach(file, rec->json, "eval.files") {
		const char *content = kjson_maybe(file, "content");

		if (!content)
			kdie_usage("%s:%ld: eval.files[%zu].content: not a string", rec->file,
			    rec->lineno, kjson_at(file));
		kbuf_puts(source, "\n");
		kbuf_puts(source, content);
	}
	kbuf_puts(source, "");
}

static json_t *
coords_of(const struct kpattern_result *r)
{
	const int *at = r->coords;
	const double *sure = r->confidence;

	return json_pack("{s:[i,i,i,i],s:s,s:[f,f,f,f]}", "coords", at[0], at[1], at[2], at[3],
	    "cell", kshown("%d%d%d%d", at[0], at[1], at[2], at[3]), "confidence", sure[0], sure[1],
	    sure[2], sure[3]);
}

static void
classify_record(struct krec *rec)
{
	auto_buf struct kbuf source = { 0 };
	struct kpattern_result r;
	json_t *coords;

	collect_source(rec, &source);
	if (classifier.explain) {
		classify(krec_id(rec), source.data, source.len);
	} else {
		kpattern_classify(
		    classifier.table, source.data, source.len, classifier.flags, &r, NULL);
		coords = coords_of(&r);
		krecord_put(rec, classifier.thin, "coords", coords);
		json_decref(coords);
	}
}

static void
classify_records(const char *path)
{
	struct kin in;
	struct krec rec;

	kin_open(&in, path);
	/* Only the evaluation is needed, but a pipe must pass on the whole record. */
	while (classifier.thin || classifier.explain ? kin_next(&in, &rec)
	                                             : krecord_next(&in, &rec, KJOIN_WHOLE)) {
		classify_record(&rec);
		krec_free(&rec);
	}
	kin_end(&in);
}

static bool
holds_source(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	return dot && kis_one_of(source_suffixes, dot);
}

static void
classify_operand(const char *path)
{
	if (classifier.sources || holds_source(path))
		classify_source(path);
	else
		classify_records(path);
}

static char *
table_of(const char *backend)
{
	if (strchr(backend, '/') || *backend == '.')
		kdie_usage("'%s' is not the name of a backend", backend);
	return kdata_path(kshown("patterns/%s.json", backend));
}

/* Path of the campaign's table. */
static char *
table_of_campaign(void)
{
	const char *own;

	kcamp_load();
	own = kcamp_str("classify.patterns");
	return *own ? kstrdup(kcamp_path(own)) : table_of(kcamp_str("backend"));
}

int
main(int argc, char **argv)
{
	const char *backend = NULL, *patterns = NULL, *output = NULL;
	bool no_strip = false, no_gates = false, lower = false;
	const struct koption options[] = {
		{ 'b', "backend", .text = &backend,
		    .help = "NAME\tuse the pattern table of this backend" },
		KOPTION_TEXT("patterns", &patterns, "FILE\tuse this pattern table"),
		KOPTION_CAMPAIGN(&kcamp.dir),
		KOPTION_OUTPUT(&output),
		{ 'e', "explain", .flag = &classifier.explain,
		    .help = "\tsay which patterns matched" },
		KOPTION_FLAG(
		    "source", &classifier.sources, "\tread files with source text, not records"),
		KOPTION_FLAG("no-strip", &no_strip, "\talso match comments and strings"),
		KOPTION_FLAG("no-gates", &no_gates, "\tdo not apply gates"),
		KOPTION_FLAG("require-lower-levels", &lower,
		    "\tcount a level only if all lower ones are there"),
		KOPTION_FLAG("thin", &classifier.thin, "\twrite thin records"),
	};
	auto_free char *path = NULL;

	kutil_init("kclassify");
	koption_read(options, usage, argc, argv);
	if (backend && patterns)
		koption_misuse(usage, "-b and -p cannot be used together");
	path = patterns ? kstrdup(patterns) : backend ? table_of(backend) : table_of_campaign();
	classifier.flags |= lower ? KPATTERN_REQUIRE_LOWER : 0;
	classifier.flags &= ~((no_strip ? KPATTERN_STRIP : 0) | (no_gates ? KPATTERN_GATES : 0));
	classifier.table = kpattern_load(path);
	kout_open(output);
	if (optind == argc)
		classify_operand(NULL);
	for (int i = optind; i < argc; i++)
		classify_operand(argv[i]);
	kout_commit();
	return K_OK;
}
