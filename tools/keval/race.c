/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs are timed in turns: a candidate with its anchor, the best program with the
 * reference again, and any number of kernels with each other (kbench).
 */
#include <sys/prctl.h>

#include "keval.h"

char *
incumbent_so(const json_t *past)
{
	struct subject s = { 0 };
	auto_free char *log = NULL;
	char *so;

	if (!subject_of_past(past, &s))
		return NULL;
	so = build_cached(&s, NULL, &log);
	if (!so)
		kwarn("the incumbent no longer builds");
	return so;
}

/* ---- the anchor ---- */

const json_t *
fastest_baseline(void)
{
	json_auto_t *reference = past_eval(KARCH_REFERENCE);
	const json_t *found = NULL;
	double fastest = 1;

	kjson_foreach(b, reference, "baselines") {
		struct kgain_ratio r = kgain_ratio_of_pairs(
		    json_object_get(b, "pairs"), "reference", NULL, json_object_get(b, "timing"));

		if (!r.n || !(r.mean > fastest))
			continue;
		fastest = r.mean;
		found = kjson_find(
		    json_object_get(keval.task, "baselines"), "name", kjson_str(b, "name"));
	}
	return found;
}

bool
prefers_incumbent(void)
{
	/* A round is compared with the last accepted one, even if that is the reference. */
	return subject->incumbent &&
	    (kcamp_linear() || strcmp(subject->incumbent, KARCH_REFERENCE));
}

/* NULL: there is none, or it does not build. */
static char *
against_incumbent(void)
{
	json_auto_t *past = subject->incumbent ? past_eval(subject->incumbent) : NULL;
	auto_free char *so = past ? incumbent_so(past) : NULL;

	return so ? kasprintf("incumbent=%s", so) : NULL;
}

struct anchor
choose_anchor(void)
{
	char *against = prefers_incumbent() ? against_incumbent() : NULL;

	if (against)
		return (struct anchor){ against, subject->incumbent };
	return (struct anchor){ against_known(fastest_baseline()) ?: against_known(NULL), NULL };
}

/* The pairs of an answer; those with the incumbent get its ID. */
static json_t *
pairs_with_id(const json_t *answer, const char *id)
{
	json_t *pairs = json_deep_copy(json_object_get(answer, "pairs"));

	kjson_foreach(pair, pairs)
		if (id)
			kjson_put(pair, "id", id);
	return pairs;
}

void
put_anchor(const struct anchor *a, const json_t *answer)
{
	kjson_set(eval, "anchor", json_stringn(a->against, strcspn(a->against, "=")));
	kjson_set(eval, "pairs", pairs_with_id(answer, a->id));
}

/* Times of the other programs of the run. */
static json_t *
rival_times(const json_t *answer)
{
	json_t *list = json_array();

	kjson_foreach(c, answer, "candidates")
		if (!kjson_is(c, "name", "candidate") && json_object_get(c, "timing"))
			kjson_append(list, "{s:s,s:O}", "name", kjson_str(c, "name"), "timing",
			    json_object_get(c, "timing"));
	return list;
}

void
put_rivals(const json_t *answer)
{
	kjson_set(eval, "pairs", pairs_with_id(answer, NULL));
	kjson_set(eval, "baselines", rival_times(answer));
}

json_t *
race_incumbent(const char *so)
{
	auto_free char *against = against_incumbent();
	/* The incumbent itself is already known to be correct. */
	json_auto_t *answer = against ? harness_beside(so, against, false) : NULL;

	return answer ? pairs_with_id(answer, subject->incumbent) : NULL;
}

/* ---- the best program and the reference, measured again ---- */

json_t *
archive_header(const char *option)
{
	if (!keval.archive)
		kdie_usage("%s needs the archive of the previous trial (--archive)", option);
	karch_load(keval.archive);
	return json_incref(karch.header);
}

char *
anchor_subject(void)
{
	json_auto_t *header = archive_header("--anchor");

	return kstrdup(kjson_str_or(header, "best.id", KARCH_REFERENCE));
}

json_t *
renew_anchor(long trial)
{
	auto_free char *id = anchor_subject(), *so = NULL, *reference = NULL;
	json_auto_t *past = past_eval(id), *answer = NULL;
	json_t *timing;
	const char *against[] = { NULL, NULL };
	struct harness_run run = { .phase = "timing", .unchecked = true, .against = against };

	if (!past || !(so = incumbent_so(past)))
		kdie_usage("%s/trials/%s/eval.ndjson: cannot measure again: "
		           "the recorded program does not build",
		    kcamp.dir, id);
	run.so = so;
	against[0] = reference = against_known(NULL);
	answer = harness_run(&run);
	timing = json_object_get(harness_candidate(answer), "timing");
	return json_pack("{s:s,s:s,s:s,s:I,s:O,s:O*,s:o*}", "schema", "anchor/1", "campaign",
	    kcamp_str("name"), "id", id, "trial", (json_int_t)trial, "machine",
	    json_object_get(answer, "machine"), "timing", timing, "pairs",
	    timing ? pairs_with_id(answer, NULL) : NULL);
}

/* ---- kernels compared with each other ---- */

enum { KERNELS_MAX = 16, SOURCE_MAX = 8 << 20 };

struct entry {
	json_t *row;   /* its row in the record */
	char *against; /* NAME=FILE.so; NULL: it cannot race */
};

/*
 * A kernel's name, which the caller frees: its file name without folders, unless another file has
 * the same. If a file is given again, its name has a number. The judge's options are NAME=FILE.
 */
static char *
name_of(const char *const *files, size_t i)
{
	const char *name = basename(files[i]);
	size_t copy = 1;
	char *unique;

	for (size_t other = 0; files[other]; other++)
		if (!strcmp(files[other], files[i]))
			copy += other < i;
		else if (!strcmp(basename(files[other]), basename(files[i])))
			name = files[i];
	unique = copy > 1 ? kasprintf("%s #%zu", name, copy) : kstrdup(name);
	for (char *p = unique; (p = strchr(p, '='));)
		*p = '-';
	return unique;
}

static struct entry
check_program(const char *code, const char *file, const char *name)
{
	auto_free char *so = NULL;
	struct subject s = { .name = name, .code = code };
	struct entry e = { .row = json_pack("{s:s,s:s}", "name", name, "file", file) };

	evaluate(&s);
	kjson_pick(e.row, eval, "status", "reasons", "correctness", "log");
	so = status_at(eval, "status") == STATUS_CORRECT ? incumbent_so(eval) : NULL;
	if (so)
		e.against = kasprintf("%s=%s", name, so);
	return e;
}

/* Adds times, and failures in the race, to the rows. */
static void
take_times(struct entry *entries, size_t count, const json_t *answer)
{
	kforeach_of(e, entries, count)
		kjson_pick(e->row,
		    kjson_find(
		        json_object_get(answer, "candidates"), "name", kjson_str(e->row, "name")),
		    "status", "reasons", "timing");
}

/* Only the pairs of NAME against OF; new reference. */
static json_t *
pairs_of(const json_t *pairs, const char *of, const char *name)
{
	json_t *list = json_array();

	kjson_foreach(p, pairs)
		if (kjson_is(p, "of", of) && kjson_is(p, "name", name))
			json_array_append(list, p);
	return list;
}

/* Each pair of kernels, over all workloads. */
static json_t *
overall(const struct entry *entries, size_t count, const json_t *pairs)
{
	json_t *list = json_array();

	kforeach_of(a, entries, count)
		kforeach_of(b, entries, count) {
			const char *of = kjson_str(a->row, "name"),
			           *name = kjson_str(b->row, "name");
			json_auto_t *some = pairs_of(pairs, of, name);
			struct kgain_ratio r = kgain_ratio_of_pairs(
			    some, name, NULL, json_object_get(a->row, "timing"));
			struct kstat_interval m = { log(r.mean), log(r.low), log(r.high) };

			if (r.n)
				kjson_append(list, "{s:s,s:s,s:f,s:f,s:f,s:s}", "of", of, "name",
				    name, "ratio", r.mean, "low", r.low, "high", r.high, "verdict",
				    kstat_verdicts[kstat_verdict(&m)]);
		}
	return list;
}

/* One race of the kernels that can take part; its record. */
static json_t *
race_once(struct entry *entries, size_t count)
{
	const char *against[KERNELS_MAX + 1] = { NULL };
	const char *first;
	size_t fit = 0;
	json_auto_t *rows = json_array();
	json_t *out;

	kforeach_of(e, entries, count)
		if (e->against)
			against[fit++] = e->against;
	first = against[0];
	out = json_pack(
	    "{s:s,s:s,s:O}", "schema", "bench/1", "task", keval.task_file, "kernels", rows);
	if (first) {
		auto_free char *name = kuntil(first, "=");
		struct harness_run run = { .so = first + strlen(name) + 1,
			.name = name,
			.phase = "timing",
			.against = against + 1,
			.all_pairs = true };
		json_auto_t *answer = harness_run(&run);

		take_times(entries, count, answer);
		kjson_set(
		    out, "overall", overall(entries, count, json_object_get(answer, "pairs")));
		kjson_pick(out, answer, "pairs", "machine", "environment", "spent_s");
	}
	kforeach_of(e, entries, count)
		json_array_append_new(rows, json_deep_copy(e->row));
	return out;
}

static void
free_entries(struct entry *entries, size_t count)
{
	kforeach_of(e, entries, count) {
		json_decref(e->row);
		free(e->against);
	}
}

void
race_files(const char *const *files, long times)
{
	struct entry entries[KERNELS_MAX];
	size_t count = 0;

	lint_task(false);
	keval.check_only = true;
	for (; files[count]; count++) {
		auto_free char *code = NULL, *name = NULL;

		if (count == KERNELS_MAX)
			kdie_usage("at most %d kernels can race", KERNELS_MAX);
		code = input_read(files[count], SOURCE_MAX, NULL);
		name = name_of(files, count);
		entries[count] = check_program(code, files[count], name);
	}
	for (long i = 0; i < times; i++) {
		json_auto_t *record = race_once(entries, count);

		kout_json(record);
	}
	free_entries(entries, count);
}

/* The same in a process of its own, which writes its answer to ANSWER. */
struct check {
	pid_t pid;
	int answer;
};

static struct check
begin_check(const char *code, const char *name)
{
	struct check c;
	int end[2];

	if (pipe2(end, O_CLOEXEC) || fflush(NULL) || (c.pid = fork()) < 0)
		kdie_errno(K_MISSING, "a process to check %s", name);
	if (!c.pid) {
		struct entry e;
		json_t *o;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		e = check_program(code, name, name);
		o = json_pack("[o,s?]", e.row, e.against);
		_exit(json_dumpfd(o, end[1], KIO_DUMP) ? K_IO : 0);
	}
	close(end[1]);
	c.answer = end[0];
	return c;
}

/* If the check left no answer, exits as it did: it has printed why. */
static struct entry
end_check(const struct check *c)
{
	json_auto_t *o = json_loadfd(c->answer, 0, NULL);
	const char *against = kjson_item(o, 1);
	struct entry e = { json_incref(json_array_get(o, 0)), kstrdup(against) };
	int status = 0;

	close(c->answer);
	waitpid(c->pid, &status, 0);
	if (!e.row)
		exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : K_MISSING);
	return e;
}

/* Branches build and check at the same time, so this one takes a quarter of the processors. */
static size_t
checks_at_once(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 8 ? 1 : (size_t)processors / 4;
}

static void
check_programs(char *const *codes, size_t count, struct entry *entries)
{
	struct check checks[KERNELS_MAX];
	size_t begun = 0, at_once = checks_at_once();

	for (size_t i = 0; i < count; i++) {
		for (; begun < count && begun < i + at_once; begun++) {
			char name[32];

			/* Not a shown text: it is used until the check has ended. */
			snprintf(name, sizeof name, "variant %zu", begun + 1);
			checks[begun] = begin_check(codes[begun], name);
		}
		entries[i] = end_check(&checks[i]);
	}
}

json_t *
race_programs(char *const *codes, size_t count)
{
	struct entry entries[KERNELS_MAX];
	bool check_only = keval.check_only;
	json_t *record;

	keval.check_only = true;
	check_programs(codes, count, entries);
	record = race_once(entries, count);
	keval.check_only = check_only;
	free_entries(entries, count);
	return record;
}
