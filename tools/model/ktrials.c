/* SPDX-License-Identifier: Apache-2.0 */
/* ktrials: see ktrials.h. */
#include "ktrials.h"

struct ktrials ktrials;

/* The highest trial number. */
enum { TRIAL_MAX = 999999 };

/* What to do about a damaged view, which is made of facts. */
#define REMAKE "; remove it, and run make views to make it again"

/* Takes TEXT. Each fault is reported once. */
static void
add_fault(char *text)
{
	ktrials.damaged = true;
	if (!ktrials.fault_count || !strstr(ktrials.faults.data, text)) {
		kwarn("%s", text);
		kbuf_printf(&ktrials.faults, "%s\n", text);
		ktrials.fault_count++;
	}
	free(text);
}

static bool
has_archive(long trial)
{
	return kis_there(kplace_trial(trial, "archive.ndjson"));
}

/* The highest trial that has an archive. */
static long
find_last(void)
{
	auto_free char *path = kasprintf("%s/trials", kcamp.dir);
	DIR *folder = kopen_folder(path);
	struct dirent *e;
	long last = -1;

	while ((e = knext_entry(folder, path))) {
		char *end;
		long n = strtol(e->d_name, &end, 10);

		if (*e->d_name >= '0' && *e->d_name <= '9' && !*end && n > last && n <= TRIAL_MAX &&
		    has_archive(n))
			last = n;
	}
	return last;
}

long
ktrials_linked(void)
{
	long trial = kcamp_position();

	return trial >= 0 && has_archive(trial) ? trial : -1;
}

long
ktrials_last(void)
{
	long linked = ktrials_linked();

	return linked >= 0 ? linked : find_last();
}

/* The first line of an archive; NULL after noting its fault. New reference. */
static json_t *
read_header(long trial)
{
	const char *path = kplace_trial(trial, "archive.ndjson");
	auto_free char *fault = NULL;
	json_t *header;
	struct kin in;

	kin_open(&in, path);
	fault = karch_header(&in, &header);
	if (!fault && kjson_int_or(header, "trial", -1) != trial)
		fault = kasprintf("%s:1: not the archive of trial %ld", path, trial);
	if (fault) {
		add_fault(kasprintf("%s" REMAKE, fault));
		json_decref(header);
		header = NULL;
	}
	kin_close(&in);
	return header;
}

/* A campaign may have had another name at its start, which the reference still has. */
static char *
check_campaign(const json_t *record)
{
	const char *name = kcamp_str("name"), *of = kjson_str_or(record, "campaign", name);

	if (!strcmp(of, name) || !ktrials.reference_of || !strcmp(of, ktrials.reference_of))
		return NULL;
	return kasprintf("it belongs to the campaign '%s', not to '%s'", of, name);
}

static char *
check_place(const struct ktrial *trial, const struct kcandidate *c)
{
	if (c->trial != trial->number)
		return kasprintf("it belongs to trial %ld", c->trial);
	kforeach_list(one, trial)
		if (one->branch == c->branch)
			return kasprintf("a second record of %s", c->id);
	return NULL;
}

/* Reads into C; returns the fault. *ADVISED: it says what to do. */
static char *
read_record(const struct ktrial *trial, json_t *record, struct kcandidate *c, bool *advised)
{
	char *fault;

	*advised = false;
	if ((fault = check_campaign(record)) || (fault = kcandidate_place(c, record)) ||
	    (fault = check_place(trial, c)))
		return fault;
	*advised = true;
	if (strcmp(kjson_str_or(record, "schema", KRECORD_SCHEMA), KPART_SCHEMA))
		return kstrdup("is of an older version of kiln; "
		               "kcampaign upgrade converts the campaign");
	if ((fault = krecord_join(record, ktrials.join | KJOIN_LENIENT)))
		return fault;
	*advised = false;
	return kcandidate_read(c, record);
}

/* Handles one line of a trial: its record, or its fault. */
static void
take_record(struct ktrial *trial, const struct krec *rec)
{
	struct kcandidate c;
	bool advised;
	char *fault = read_record(trial, rec->json, &c, &advised);

	if (fault) {
		add_fault(kasprintf(
		    "%s:%ld: %s%s", rec->file, rec->lineno, fault, advised ? "" : REMAKE));
		free(fault);
		return;
	}
	*kadded(trial->list, trial->count) = c;
}

static void
read_scores(struct ktrial *trial)
{
	auto_free char *path = kstrdup(kplace_trial(trial->number, "score.ndjson"));
	char *fault = NULL;
	struct krec rec;
	struct kin in;

	kin_open(&in, path);
	while (kin_try(&in, &rec, &fault) || fault) {
		if (fault) {
			add_fault(kasprintf("%s" REMAKE, fault));
			free(fault);
			if (in.too_long)
				break;
			continue;
		}
		take_record(trial, &rec);
		krec_free(&rec);
	}
	if (!in.lineno)
		add_fault(kasprintf("%s: contains no record" REMAKE, path));
	kin_close(&in);
}

static const struct kcandidate *
find_branch(const struct ktrial *trial, long branch)
{
	kforeach_list(one, trial)
		if (one->branch == branch)
			return one;
	return NULL;
}

/* In rounds the decision says which; in a search over cells it is the archive's new best. */
static const struct kcandidate *
find_kept(const struct ktrial *trial)
{
	const struct kcandidate *kept = NULL;
	long n, branch;
	json_auto_t *header = NULL;

	if (!trial->number)
		return trial->list;
	if (ktrials.linear) {
		kforeach_list(one, trial)
			if (one->won)
				kept = one;
		return kept;
	}
	header = read_header(trial->number);
	if (karch_id(kjson_str(header, "best.id"), &n, &branch) && n == trial->number)
		kept = find_branch(trial, branch);
	return kept;
}

/* Does the trial have such a file? If not, reports it, and the command that makes it. */
static bool
need_file(long trial, const char *name)
{
	const char *path = kplace_trial(trial, name), *folder = kplace_trial(trial, "");
	bool there = kis_there(path);

	if (!kis_there(folder))
		add_fault(kasprintf("%s: is missing; restore it from a copy", folder));
	else if (!there)
		add_fault(kasprintf("%s: is missing; run make views to make it", path));
	return there;
}

static void
load(struct ktrial *trial)
{
	ktrials.damaged = false;
	if (need_file(trial->number, "score.ndjson"))
		read_scores(trial);
	if (trial->count)
		qsort(trial->list, trial->count, sizeof *trial->list, kcandidate_by_branch);
	if (need_file(trial->number, "archive.ndjson"))
		trial->kept = find_kept(trial);
	trial->whole = !ktrials.damaged;
	trial->loaded = true;
}

const struct ktrial *
ktrials_get(long number)
{
	struct ktrial *trial = &ktrials.trial[number];

	trial->number = number;
	if (!trial->loaded)
		load(trial);
	return trial;
}

/* Reads all of it, so that later readers find its rows sound. */
static void
read_archive(long trial)
{
	auto_free char *fault = NULL;
	/* The archive in use stays. */
	struct karch used = karch;

	karch = (struct karch){ 0 };
	fault = karch_try(kplace_trial(trial, "archive.ndjson"));
	if (fault)
		add_fault(kasprintf("%s" REMAKE, fault));
	else
		ktrials.header = read_header(trial);
	karch_free();
	karch = used;
}

void
ktrials_open(void)
{
	const struct kcandidate *reference;

	krecord_check();
	ktrials = (struct ktrials){ .last = ktrials_last() };
	ktrials.settled = ktrials.last >= 0 && ktrials_linked() == ktrials.last;
	ktrials.trial = kcalloc((size_t)(ktrials.last + 1), sizeof *ktrials.trial);
	for (long n = ktrials.last; n >= 0 && !ktrials.header; n--)
		if (has_archive(n))
			read_archive(n);
	ktrials.linear = kcamp_linear() || json_object_get(ktrials.header, "linear");
	/* The reference has the campaign's name. */
	reference = ktrials.last < 0 ? NULL : ktrials_get(0)->kept;
	ktrials.reference_of = kstrdup(reference ? kjson_str(reference->json, "campaign") : "");
}

void
ktrials_drop(long number)
{
	struct ktrial *trial = &ktrials.trial[number];

	kforeach_list(one, trial)
		kcandidate_free(one);
	free(trial->list);
	*trial = (struct ktrial){ .number = number };
}

void
ktrials_close(void)
{
	for (long n = 0; n <= ktrials.last; n++)
		ktrials_drop(n);
	free(ktrials.trial);
	free(ktrials.reference_of);
	kbuf_free(&ktrials.faults);
	json_decref(ktrials.header);
	ktrials = (struct ktrials){ 0 };
}

const struct kcandidate *
ktrials_find(const char *id)
{
	long trial, branch;

	if (!id || !karch_id(id, &trial, &branch) || trial > ktrials.last)
		return NULL;
	return find_branch(ktrials_get(trial), branch);
}

size_t
ktrials_check(void)
{
	for (long n = 0; n <= ktrials.last; n++)
		if (!ktrials.trial[n].loaded) {
			ktrials_get(n);
			ktrials_drop(n);
		}
	return ktrials.fault_count;
}

void
ktrials_need(long number)
{
	if (!ktrials_get(number)->whole)
		kdie_usage("trial %ld is damaged, but later trials need it", number);
}

json_t *
ktrials_record(const char *id, enum kjoin join, char **fault)
{
	json_auto_t *found = NULL;
	long trial, branch;
	struct krec rec;
	struct kin in;
	const char *path;

	*fault = NULL;
	if (!karch_id(id, &trial, &branch))
		return NULL;
	path = kplace_trial(trial, "score.ndjson");
	if (kis_there(path)) {
		kin_open(&in, path);
		while (!found && kin_try(&in, &rec, fault)) {
			if (kjson_is(rec.json, "id", id)) {
				found = json_incref(rec.json);
				*fault = krecord_join(found, join);
			}
			krec_free(&rec);
		}
		kin_close(&in);
	}
	return *fault ? NULL : json_incref(found);
}
