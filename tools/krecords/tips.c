/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tips: what one campaign leaves to later ones on the same device, operation and backend. See
 * krecords.h.
 */
#include <sys/file.h>

#include "krecords.h"

/* A tip is a text of five lines, the first of which names its time, its round and the verdict. */
#define DASH " \xe2\x80\x94 "
#define VERDICT(accepted) ((accepted) ? "ACCEPTED" : "ROLLED BACK")
static const char form[] = "\\A### (\\S{1,63} (round-\\d{1,6}))" DASH "(ACCEPTED|ROLLED BACK)\n"
                           "- Context: .+\n- Signal: .+\n- Takeaway: (.+)\n- Applicability: .+\n";

/* A tip that mentions a trick of the benchmark must say this. */
#define ANTI_PATTERN "over-fit, do not retry"

enum { LINE_MAX_CHARS = 600, ID = 12 };

const char *
tips_root(void)
{
	const char *knob = kcamp_str("tips.dir"), *data = getenv("XDG_DATA_HOME"),
	           *home = getenv("HOME");

	if (*knob)
		return kcamp_path(knob);
	if (data && *data == '/')
		return kshown("%s/kiln/tips", data);
	return home && *home == '/' ? kshown("%s/.local/share/kiln/tips", home) : NULL;
}

const char *
tips_root_or_die(void)
{
	const char *root = tips_root();

	if (!root)
		kdie_usage("%s: tips.dir: is empty, and neither XDG_DATA_HOME nor HOME is set, so "
		           "there "
		           "is no place for tips",
		    kcamp.file);
	return root;
}

const char *
tips_slug(const char *text)
{
	auto_free char *slug = kwords(text, '-', false);

	return kshown("%s", *slug ? slug : "none");
}

const char *
tips_op(void)
{
	const struct ktask *task = campaign.task;

	return tips_slug(task->op && *task->op ? task->op : task->name);
}

/* The manifest's device, or else the CPU of the machine that judged the reference. */
const char *
tips_device(void)
{
	const char *gpu = kcamp_str("gpu");
	json_auto_t *machine = *gpu ? NULL : kjson_if_there("trials/000/machine.json");

	return tips_slug(*gpu ? gpu : kjson_str_or(machine, "cpu", "cpu"));
}

int
tips_lock(const char *folder)
{
	auto_free char *path = kasprintf("%s/.lock", folder);
	int fd;

	kmake_folder(folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		kdie_io("%s", path);
	return fd;
}

/* ROOT/DEVICE/OP/BACKEND; the caller frees. NULL: there is no root here. */
static char *
folder_of(void)
{
	const char *root = tips_root();

	return root ? kasprintf("%s/%s/%s/%s", root, tips_device(), tips_op(),
	                  tips_slug(kcamp_str("backend")))
	            : NULL;
}

/* The start of its digest, a text of kshown. */
static const char *
tip_id(const char *tip)
{
	return kshown("%.*s", ID, ksha256_of(tip));
}

/* "round-3" */
static const char *
round_of(const char *tip)
{
	auto_free char *heading = NULL, *round = NULL;

	kregex_scan(form, tip, &heading, &round);
	return kshown("%s", round);
}

/* Does the rule match TEXT? A text that takes too many steps counts as a match. */
static bool
matches(const json_t *rule, const char *text)
{
	struct kregex *re =
	    kregex_new(kshown("patterns/tips.json: %s", kjson_str_or(rule, "id", "?")), NULL,
	        kjson_str_or(rule, "pattern", "(?!)"), KREGEX_NOCASE | KREGEX_DOTALL);
	bool found = kregex_search(re, text, strlen(text), 0, NULL) != KREGEX_NONE;

	kregex_free(re);
	return found;
}

/* The rule of patterns/tips.json that a tip breaks; NULL: none. The caller frees. */
static char *
tip_fault(const char *tip)
{
	json_auto_t *table = kjson_data("patterns/tips.json", "tips-rules/1");

	if (kregex_is("\\A.*ROLLED BACK\n", tip) && strcasestr(tip, ANTI_PATTERN))
		return NULL;
	kjson_foreach(rule, table, "rules")
		if (matches(rule, tip))
			return kasprintf("%s: %s; such a trick is allowed only in a rolled-back "
			                 "round, with the words '" ANTI_PATTERN "'",
			    kjson_str_or(rule, "id", "?"), kjson_str(rule, "why"));
	return NULL;
}

/* The tips in TEXT, which is cut up; *FAULT is NULL, or what is wrong with them. New reference. */
static json_t *
parse_text(char *text, const char *path, char **fault)
{
	json_t *tips = json_array();
	auto_buf struct kbuf all = kbuf_empty();
	struct kregex_span at[1];

	*fault = NULL;
	kpart_foreach(part, text, "\n") {
		auto_free char *line = kfence_line(part, LINE_MAX_CHARS);

		if (*line && !kbegins(line, "# "))
			kbuf_printf(&all, "%s\n", line);
	}
	for (const char *tip = all.data; *tip; tip += at->to) {
		if (!kregex_match(form, tip, at)) {
			*fault = kasprintf("%s: tip %zu ('%.*s'): must have the lines '### TIME "
			                   "round-N" DASH "ACCEPTED' or 'ROLLED BACK', and '- "
			                   "Context: ...', Signal, Takeaway and "
			                   "Applicability",
			    path, json_array_size(tips) + 1, (int)strcspn(tip, "\n"), tip);
			break;
		}
		json_array_append_new(tips, json_stringn(tip, at->to));
	}
	return tips;
}

/* The same for a file; none if there is no file. The caller frees *FAULT. */
static json_t *
parse_tips(const char *path, char **fault)
{
	size_t len;
	auto_free char *text = kread_if_there(path, FILE_MAX, &len),
	               *clean = text ? kfence_clean(text, len) : NULL;

	return parse_text(clean, path, fault);
}

static json_t *
parse_or_die(const char *path)
{
	char *fault;
	json_t *tips = parse_tips(path, &fault);

	if (fault)
		kdie_usage("%s", fault);
	return tips;
}

static void
save_tips(const char *path, const json_t *tips)
{
	auto_buf struct kbuf b = { 0 };

	kbuf_printf(&b, "# Tips: %s, %s, %s\n", tips_device(), tips_op(), kcamp_str("backend"));
	kjson_foreach_text(tip, tips)
		kbuf_printf(&b, "\n%s", tip);
	put_file(path, b.data, b.len);
}

/* Was the tip ID ever removed? It does not come back by itself. */
static bool
was_removed(const char *folder, const char *id)
{
	json_auto_t *removed = kin_all(kshown("%s/removed.ndjson", folder));

	return kjson_find(removed, "id", id);
}

/* Is there something to learn from the round? Not from noise, a copy or a missing plan. */
static bool
is_reusable(const struct kcandidate *c)
{
	static const char *const lessons[] = { "gain", "trade_off", "tie_waiver", "build", "run",
		"wrong", "audit", "aggregate", "core_shape", "quality" };
	const char *code = kjson_maybe(c->json, "score.decision.code");

	if (!code)
		return c->won;
	return kindex_of(code, lessons, LEN(lessons)) < LEN(lessons);
}

/* Names of the workloads that lost. */
static json_t *
losers_of(const struct kcandidate *c)
{
	json_t *names = json_array();

	kjson_foreach(row, c->json, "score.decision.shapes")
		if (kjson_num(row, "delta_pct") < 0)
			kjson_add(names, kjson_str_or(row, "workload", "?"));
	return names;
}

/*
 * What pages/records/tip.md says about a candidate besides its record: after a VERDICT of the
 * application or, if that is NULL, after its trial.
 */
static json_t *
tip_facts(const struct kcandidate *c, const json_t *verdict)
{
	bool accepted = verdict ? kjson_bool(verdict, "good") : c->won,
	     judged = !verdict && !c->overfit;
	const char *gpu = kcamp_str("gpu"), *op = campaign.task->op,
	           *status = status_rows[c->status].name;
	double gain = record_gain_pct(c),
	       bound = kjson_num_or(c->json, "eval.plan.quant_us", NAN) /
	    kjson_num_or(c->json, "eval.plan.step_us", NAN);
	auto_free char *category = record_category(c);
	const char *change = kjson_str(c->json, "eval.plan.change"),
	           *line = kjson_str(c->json, "score.decision.line");

	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:s,s:s,"
	                 "s:b,s:b,s:b,s:b}",
	    "time", kjson_str_or(verdict, "at", c->time), "round",
	    kshown("%ld", kjson_int_or(c->json, "score.decision.round", c->trial)), "word",
	    VERDICT(accepted), "campaign", kcamp_str("name"), "task", campaign.task->name,
	    "backend", kcamp_str("backend"), "gpu", *gpu ? gpu : "CPU", "op",
	    op ?: campaign.task->name, "status", status, "category", category, "change",
	    *change ? change : category, "gain", isfinite(gain) ? kshown("%+.2f %%", gain) : "",
	    "told",
	    *line            ? line
	        : c->correct ? status
	                     : status_rows[c->status].phrase,
	    "bound", isfinite(bound) ? kshown("%.3g", bound) : "", "bucket",
	    kjson_str_or(c->json, "audit.bucket", kjson_str(c->json, "eval.plan.bucket")), "losers",
	    losers_of(c), "outcome", verdict ? kverdict_outcome(verdict) : "", "why",
	    kjson_str(verdict, "why"), "overfit", !verdict && c->overfit, "failed",
	    judged && !c->correct, "paid", judged && c->correct && accepted, "vain",
	    judged && c->correct && !accepted);
}

/* Every value of a tip becomes part of a line. */
static bool
show_line(struct kbuf *out, const char *how, const json_t *value)
{
	auto_free char *line = kfence_line(json_string_value(value) ?: "?", LINE_MAX_CHARS);

	kbuf_puts(out, line);
	return !*how;
}

/* Appends a tip, unless it exists already, was removed or breaks a rule. */
static void
append(json_t *tips, const char *tip, const char *folder, bool by_hand)
{
	auto_free char *fault = tip_fault(tip);

	if (fault && by_hand)
		kdie_usage("tip of %s: %s", round_of(tip), fault);
	if (fault)
		kwarn("no tip of %s is written: %s", round_of(tip), fault);
	else if (!kjson_has(tips, tip) && !was_removed(folder, tip_id(tip)))
		kjson_add(tips, tip);
}

/* Appends the tip from a candidate. */
static void
append_own(json_t *tips, const struct kcandidate *c, const json_t *verdict, const char *folder)
{
	auto_free char *page = kdata_path("pages/records/tip.md"), *fault = NULL;
	auto_buf struct kbuf text = { 0 };
	json_auto_t *facts = json_copy(c->json), *own = NULL;

	json_object_update_new(facts, tip_facts(c, verdict));
	ktemplate_file(&(struct ktemplate){ .show = show_line }, &text, page, facts);
	own = parse_text(text.data, c->id, &fault);
	if (fault)
		kwarn("no tip is written: %s", fault);
	else
		append(tips, kjson_item(own, 0), folder, false);
}

/* The tips from a trial, and from what the application said about its program. */
static void
add_trial(json_t *tips, long trial, const char *folder)
{
	const struct kcandidate *c = trial_candidate(trial);
	json_auto_t *verdicts = c ? kverdict_on(c->id) : NULL;

	if (c && is_reusable(c) && *c->time)
		append_own(tips, c, NULL, folder);
	kjson_foreach(v, verdicts)
		append_own(tips, c, v, folder);
}

/* Adds tips from the campaign's rounds, or from files that somebody wrote. */
static int
add(const char *folder, const char *path)
{
	auto_close int lock = tips_lock(folder);
	json_auto_t *tips = parse_or_die(path);
	size_t before = json_array_size(tips);

	for (long trial = 1; trial <= ktrials.last && given.count == 1; trial++)
		add_trial(tips, trial, folder);
	for (size_t i = 1; i < given.count; i++) {
		json_auto_t *more = parse_or_die(given.operands[i]);

		kjson_foreach_text(tip, more)
			append(tips, tip, folder, true);
	}
	if (json_array_size(tips) != before)
		save_tips(path, tips);
	return K_OK;
}

static int
list(const char *path)
{
	json_auto_t *tips = parse_or_die(path);

	kout_open(given.output);
	kjson_foreach_text(tip, tips) {
		auto_free char *heading = NULL, *round = NULL, *verdict = NULL, *takeaway = NULL;

		kregex_scan(form, tip, &heading, &round, &verdict, &takeaway);
		kout_line("%s %s %s: %s", tip_id(tip), heading, verdict, takeaway);
	}
	kout_commit();
	return K_OK;
}

/* Checks form and rules of one file; returns the number of faults. */
static size_t
check_file(const char *path)
{
	auto_free char *fault = NULL;
	json_auto_t *tips = parse_tips(path, &fault);
	size_t faults = fault != NULL;

	if (fault)
		kwarn("%s", fault);
	kjson_foreach_text(tip, fault ? NULL : tips) {
		auto_free char *why = tip_fault(tip);

		if (why)
			kwarn("%s: tip %s (%s): %s", path, tip_id(tip), round_of(tip), why);
		faults += why != NULL;
	}
	return faults;
}

static int
check(const char *path)
{
	size_t faults = given.count == 1 ? check_file(path) : 0;

	for (size_t i = 1; i < given.count; i++)
		faults += check_file(given.operands[i]);
	return faults ? K_NO : K_OK;
}

/* Append the removal to removed.ndjson: the tip as it was, when, and why. */
static void
note_removal(const char *folder, const char *id, const char *tip)
{
	auto_free char *path = kasprintf("%s/removed.ndjson", folder),
	               *old = kread_file(path, FILE_MAX, NULL);
	auto_buf struct kbuf b = { 0 };
	json_auto_t *record = NULL;

	record = json_pack("{s:s,s:s,s:s,s:s,s:s}", "schema", "tip-removal/1", "id", id, "time",
	    know_text(), "why", given.why, "tip", tip);
	kbuf_puts(&b, old ?: "");
	put_json(&b, record);
	put_file(path, b.data, b.len);
}

static int
remove_tip(const char *folder, const char *path)
{
	auto_close int lock = tips_lock(folder);
	json_auto_t *tips = NULL;
	const char *id = given.operands[1];

	if (given.count != 2 || !given.why)
		kdie_usage("tips remove: give the id (see krecords tips list) and the reason: "
		           "tips remove ID --why TEXT");
	tips = parse_or_die(path);
	kjson_foreach_text(tip, tips)
		if (!strcmp(tip_id(tip), id)) {
			note_removal(folder, id, tip);
			json_array_remove(tips, kjson_at(tip));
			save_tips(path, tips);
			return K_OK;
		}
	kdie(K_NO, "%s: there is no tip %s", path, id);
}

int
command_tips(void)
{
	const char *what = given.count ? given.operands[0] : "";
	auto_free char *folder = (tips_root_or_die(), folder_of()),
	               *path = kasprintf("%s/tips.md", folder);

	if (!strcmp(what, "add"))
		return add(folder, path);
	if (!strcmp(what, "list") && given.count == 1)
		return list(path);
	if (!strcmp(what, "check"))
		return check(path);
	if (!strcmp(what, "remove"))
		return remove_tip(folder, path);
	kdie_usage("tips: must be followed by add [FILE...], list, check [FILE...] or remove ID");
}

void
tips_tell(const char *what, size_t count, const char *from)
{
	kwarn("prompts of this campaign will show %s on %s: %zu, from %s; to leave them out, set "
	      "memory.enabled to off in campaign.json",
	    what, tips_op(), count, from);
}

void
freeze_tips(void)
{
	auto_free char *folder = folder_of(),
	               *path = folder ? kasprintf("%s/tips.md", folder) : NULL;
	json_auto_t *tips = path ? parse_or_die(path) : NULL, *kept = json_array();

	kjson_foreach_text(tip, tips) {
		auto_free char *fault = tip_fault(tip);

		if (fault)
			kwarn("%s: tip %s is not used: %s", path, tip_id(tip), fault);
		else
			kjson_add(kept, tip);
	}
	if (json_array_size(kept))
		tips_tell("tips of earlier campaigns", json_array_size(kept), path);
	save_tips("trials/000/tips.md", kept);
}
