/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: would the gain outlive the benchmark? Appends "audit" to records: what the source keeps
 * from call to call, how much a candidate gains from buffers it has seen before, whether the gain
 * exists on skewed groups, and the decision.
 */

#include "kaudit.h"
#include "kgroups.h"
#include "koption.h"
#include "krecord.h"

enum { SOURCE_MAX = 64 << 20 };

struct audit audit;

static const char usage_text[] =
    "usage: kaudit [-c DIR] [--rules FILE] [--thin] [-o FILE] [FILE...]\n"
    "       kaudit --report [--json | --markdown] [-c DIR] [-o FILE]\n"
    "       kaudit --source [-c DIR | -b NAME] [-t TASK.json] [--rules FILE] [-o FILE] FILE...\n"
    "       kaudit --task TASK.json\n"
    "       kaudit --check [--rules FILE]\n";

enum mode { MODE_RECORDS, MODE_REPORT, MODE_TASK, MODE_CHECK, MODE_SOURCE };

struct arguments {
	int mode, format;
	const char *dir, *rules, *output, *backend, *task;
	bool thin;
	char **files;
};

static void
parse(struct arguments *a, int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&a->dir),
		{ 0, "rules", .text = &a->rules, .help = "FILE\tuse this table of rules" },
		KOPTION_OUTPUT(&a->output),
		{ 'b', "backend", .text = &a->backend,
		    .help = "NAME\tlanguage of the files (with --source)" },
		{ 't', NULL, .text = &a->task, .help = "FILE\ttask of the files (with --source)" },
		{ 0, "thin", .flag = &a->thin, .help = "\twrite thin records" },
		{ 0, "json", .choice = &a->format, .value = 'j',
		    .help = "\tprint the report as JSON" },
		{ 0, "markdown", .choice = &a->format, .value = 'm',
		    .help = "\tprint the report as Markdown" },
		{ 0, "report", .choice = &a->mode, .value = MODE_REPORT,
		    .help = "\treport how much of the gains is real; exit 1 if inflated" },
		{ 0, "check", .choice = &a->mode, .value = MODE_CHECK,
		    .help = "\tcheck the table of rules against its examples" },
		{ 0, "source", .choice = &a->mode, .value = MODE_SOURCE,
		    .help = "\taudit files with source text" },
		{ 0, "task", .choice = &a->mode, .value = MODE_TASK, .text = &a->task,
		    .help = "FILE\tcheck the groups of a task" },
	};

	*a = (struct arguments){ .dir = "." };
	koption_read(options, LEN(options), usage_text, argc, argv);
	a->files = argv + optind;
	if (*a->files ? a->mode != MODE_RECORDS && a->mode != MODE_SOURCE : a->mode == MODE_SOURCE)
		koption_misuse(usage_text,
		    *a->files ? "unexpected operand" : "--source needs files with source text");
}

static void
load_rules(const struct arguments *a)
{
	auto_free char *path = a->rules ? kstrdup(a->rules) : kdata_path("patterns/audit.json");

	rules_load(path);
}

static int
check(const struct arguments *a)
{
	load_rules(a);
	return rules_check() ? K_NO : K_OK;
}

static int
check_task(const struct arguments *a)
{
	struct ktask *t = ktask_load(a->task);
	auto_free char *text = NULL;
	size_t faults = kgroups_faults(t, &text);

	kpart_foreach(line, text, "\n")
		kwarn("%s: %s", a->task, line);
	ktask_free(t);
	return faults ? K_NO : K_OK;
}

/* What A names: a campaign, or a language and perhaps a task. */
static void
open_audit(const struct arguments *a)
{
	const char *path = a->task;

	audit.camp = a->backend ? NULL : kcamp_load(a->dir);
	audit.language = a->backend ? a->backend : kcamp_str(audit.camp, "backend");
	if (!path && audit.camp && a->mode != MODE_REPORT)
		path = audit.camp->task;
	/* A simulation has none. */
	audit.task = path && (a->task || kis_there(path)) ? ktask_load(path) : NULL;
	audit.grouped = audit.task && kgroups_expected(audit.task);
}

static void
audit_file(const char *path, bool thin)
{
	struct kin in;
	struct krec rec;

	kin_open(&in, path);
	while (krecord_next(&in, audit.camp->dir, &rec, thin ? KJOIN_PROGRAMS : KJOIN_WHOLE)) {
		json_auto_t *found = audit_record(&rec);

		krecord_put(&rec, audit.camp->dir, thin, "audit", found);
		krec_free(&rec);
	}
	kin_end(&in);
}

static void
print_hits(const char *path, const struct hits *hits)
{
	for (size_t i = 0; i < hits->count; i++) {
		const struct hit *h = &hits->at[i];
		auto_free char *line = kasprintf("%s:%zu: %s%s %s: %s", path, h->line,
		    bucket_name(h->bucket), h->note ? " note" : "", h->rule, h->text);

		kout_line(line, strlen(line));
	}
}

/* Single source files: one line per hit. */
static int
scan_sources(const struct arguments *a)
{
	bool found = false;

	for (char **f = a->files; *f; f++) {
		auto_free char *text = kread_text_or_die(*f, SOURCE_MAX);
		struct source s = { .text = text, .len = strlen(text) };
		struct hits hits = { 0 };
		struct words w;

		words_of(text, &w);
		rules_apply(&w, &s, &hits);
		print_hits(*f, &hits);
		for (size_t i = 0; i < hits.count; i++)
			found |= !hits.at[i].note;
		free(hits.at);
		words_free(&w);
	}
	return found ? K_NO : K_OK;
}

static int
report(const struct arguments *a)
{
	auto_buf struct kbuf text = { 0 };
	bool good;
	json_auto_t *o = report_campaign(&good);

	if (a->format == 'm') {
		report_markdown(o, &text);
		kout_line(text.data, text.len - 1);
	} else {
		kout_json(o);
	}
	return good ? K_OK : K_NO;
}

static int
audit_all(const struct arguments *a)
{
	if (!*a->files)
		audit_file(NULL, a->thin);
	for (char **f = a->files; *f; f++)
		audit_file(*f, a->thin);
	return K_OK;
}

int
main(int argc, char **argv)
{
	struct arguments a;
	int code;

	kutil_init("kaudit");
	parse(&a, argc, argv);
	if (a.mode == MODE_CHECK)
		return check(&a);
	if (a.mode == MODE_TASK)
		return check_task(&a);
	open_audit(&a);
	if (a.mode != MODE_REPORT)
		load_rules(&a);
	kout_open(a.output);
	code = a.mode == MODE_REPORT ? report(&a)
	    : a.mode == MODE_SOURCE  ? scan_sources(&a)
	                             : audit_all(&a);
	kout_commit();
	return code;
}
