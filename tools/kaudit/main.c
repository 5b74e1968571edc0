/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kaudit: would the gain outlive the benchmark? Appends "audit" to records: what the source keeps
 * from call to call, how much a candidate gains from buffers it has seen before, whether the gain
 * exists on skewed groups, and the decision.
 */

#include "kaccount.h"
#include "kaudit.h"
#include "kgroups.h"
#include "koption.h"
#include "krecord.h"

enum { SOURCE_MAX = 64 << 20 };

struct audit audit;

static const char usage_text[] =
    "usage: kaudit [-c DIR] [--rules FILE] [--thin] [-o FILE] [FILE...]\n"
    "       kaudit --report [-c DIR] [-o FILE]\n"
    "       kaudit --source [-c DIR | -b NAME] [-t TASK.json] [--rules FILE] [-o FILE] FILE...\n"
    "       kaudit --check [--rules FILE]\n";

enum mode { MODE_RECORDS, MODE_REPORT, MODE_CHECK, MODE_SOURCE };

static struct arguments {
	int mode;
	const char *rules, *output, *backend, *task;
	bool thin;
	char **files;
} given;

static void
parse(int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		KOPTION_TEXT("rules", &given.rules, "FILE\tuse this table of rules"),
		KOPTION_OUTPUT(&given.output),
		{ 'b', "backend", .text = &given.backend,
		    .help = "NAME\tlanguage of the files (with --source)" },
		{ 't', NULL, .text = &given.task,
		    .help = "FILE\ttask of the files (with --source)" },
		KOPTION_FLAG("thin", &given.thin, "\twrite thin records"),
		KOPTION_CHOICE("report", &given.mode, MODE_REPORT,
		    "\treport how much of the gains is real; exit 1 if inflated"),
		KOPTION_CHOICE("check", &given.mode, MODE_CHECK,
		    "\tcheck the table of rules against its examples"),
		KOPTION_CHOICE(
		    "source", &given.mode, MODE_SOURCE, "\taudit files with source text"),
	};

	koption_read(options, usage_text, argc, argv);
	given.files = argv + optind;
	if (*given.files ? given.mode != MODE_RECORDS && given.mode != MODE_SOURCE
	                 : given.mode == MODE_SOURCE)
		koption_misuse(usage_text,
		    *given.files ? "unexpected operand" : "--source needs files with source text");
}

static void
load_rules(void)
{
	auto_free char *path =
	    given.rules ? kstrdup(given.rules) : kdata_path("patterns/audit.json");

	rules_load(path);
}

static int
check(void)
{
	load_rules();
	return rules_check() ? K_NO : K_OK;
}

/* What the command line names: a campaign, or a language and perhaps a task. */
static void
open_audit(void)
{
	const char *path = given.task;

	if (!given.backend)
		kcamp_load();
	audit.language = given.backend ?: kcamp_str("backend");
	if (!path && !given.backend && given.mode != MODE_REPORT)
		path = kcamp.task;
	/* A simulation has none. */
	audit.task = path && (given.task || kis_there(path)) ? ktask_load(path) : NULL;
	audit.grouped = audit.task && kgroups_expected(audit.task);
}

static void
audit_file(const char *path)
{
	enum kjoin join = given.thin ? KJOIN_PROGRAMS : KJOIN_WHOLE;
	struct kin in;
	struct krec rec;

	kin_open(&in, path);
	while (krecord_next(&in, &rec, join)) {
		json_auto_t *found = audit_record(&rec);

		krecord_put(&rec, given.thin, "audit", found);
		krec_free(&rec);
	}
	kin_end(&in);
}

/* Single source files: one line per hit. */
static int
scan_sources(void)
{
	bool found = false;

	for (char **f = given.files; *f; f++) {
		auto_free char *text = kread_text_or_die(*f, SOURCE_MAX);

		source = (struct source){ .text = text, .len = strlen(text) };
		hits.count = 0;
		words_of(text);
		rules_apply();
		kforeach_of(h, hits.at, hits.count)
			kout_line("%s:%zu: %s%s %s: %s", *f, h->line, bucket_name(h->bucket),
			    h->note ? " note" : "", h->rule, h->text);
		found |= kany(kforeach_of(each, hits.at, hits.count), !each->note);
	}
	return found ? K_NO : K_OK;
}

/* How much of the campaign's gain is real. */
static int
report(void)
{
	json_auto_t *o = NULL;

	ktrials_open();
	if (ktrials.last < 0)
		kdie_usage("%s: no trial has been scored yet", kcamp.dir);
	for (long n = 0; n <= ktrials.last; n++) {
		kaccount_add(ktrials_get(n));
		ktrials_drop(n);
	}
	o = kaccount_report();
	kout_json(o);
	return kis_one_of("inflated damaged", kjson_str(o, "verdict")) ? K_NO : K_OK;
}

static int
audit_all(void)
{
	if (!*given.files)
		audit_file(NULL);
	for (char **f = given.files; *f; f++)
		audit_file(*f);
	return K_OK;
}

int
main(int argc, char **argv)
{
	int code;

	kutil_init("kaudit");
	parse(argc, argv);
	if (given.mode == MODE_CHECK)
		return check();
	open_audit();
	if (given.mode != MODE_REPORT)
		load_rules();
	kout_open(given.output);
	code = given.mode == MODE_REPORT ? report()
	    : given.mode == MODE_SOURCE  ? scan_sources()
	                                 : audit_all();
	kout_commit();
	return code;
}
