/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tips: what one campaign leaves to later ones on the same device, operation and backend. See
 * krecords.h.
 */
#include <sys/file.h>

#include "kfence.h"
#include "kregex.h"
#include "krecords.h"
#include "kverdict.h"

/* A tip is an object with its "time", "round", whether it was "accepted", and these texts. */
static const char *const fields[] = { "Context", "Signal", "Takeaway", "Applicability" };

enum { FIELD_MAX = 600, ID = 12 };
#define DASH " \xe2\x80\x94 "
#define VERDICT(accepted) ((accepted) ? "ACCEPTED" : "ROLLED BACK")

char *
tips_root(void)
{
	const char *knob = kcamp_str(campaign.camp, "tips.dir"), *data = getenv("XDG_DATA_HOME"),
	           *home = getenv("HOME");

	if (*knob)
		return kcamp_path(campaign.camp, knob);
	if (data && *data == '/')
		return kasprintf("%s/kiln/tips", data);
	return home && *home == '/' ? kasprintf("%s/.local/share/kiln/tips", home) : NULL;
}

char *
tips_root_or_die(void)
{
	char *root = tips_root();

	if (!root)
		kdie(K_USAGE,
		    "%s: tips.dir: is empty, and neither XDG_DATA_HOME nor HOME is set, so there "
		    "is no place for tips",
		    campaign.camp->file);
	return root;
}

char *
tips_slug(const char *text)
{
	struct kbuf b = { 0 };

	for (; *text; text++) {
		char c = (char)tolower((unsigned char)*text);

		if (isalnum((unsigned char)c))
			kbuf_add(&b, &c, 1);
		else if (b.len && b.data[b.len - 1] != '-')
			kbuf_puts(&b, "-");
	}
	while (b.len && b.data[b.len - 1] == '-')
		b.data[--b.len] = '\0';
	if (!b.len)
		kbuf_puts(&b, "none");
	return b.data;
}

char *
tips_op(void)
{
	const struct ktask *task = campaign.task;

	return tips_slug(task->op && *task->op ? task->op : task->name);
}

/* The manifest's device, or else the CPU of the machine that judged the reference. */
char *
tips_device(void)
{
	const char *gpu = kcamp_str(campaign.camp, "gpu");
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
		kdie_errno(K_IO, "%s", path);
	return fd;
}

/* ROOT/DEVICE/OP/BACKEND; the caller frees. NULL: there is no root here. */
static char *
folder_of(void)
{
	auto_free char *root = tips_root(), *device = tips_device(), *op = tips_op(),
	               *backend = tips_slug(kcamp_str(campaign.camp, "backend"));

	return root ? kasprintf("%s/%s/%s/%s", root, device, op, backend) : NULL;
}

/* "### 2026-11-21T15:00:00Z round-3 - ACCEPTED" and four lines "- Context: ...". */
static char *
tip_text(const json_t *tip)
{
	struct kbuf b = { 0 };

	kbuf_printf(&b, "### %s round-%ld" DASH "%s\n", kjson_str(tip, "time"),
	    (long)kjson_int(tip, "round"), VERDICT(kjson_bool(tip, "accepted")));
	for (size_t i = 0; i < LEN(fields); i++)
		kbuf_printf(&b, "- %s: %s\n", fields[i], kjson_str(tip, fields[i]));
	return b.data;
}

/* The start of its text's digest. */
static void
tip_id(const json_t *tip, char id[65])
{
	auto_free char *text = tip_text(tip);

	ksha256_hex(text, strlen(text), id);
	id[ID] = '\0';
}

/* The rule that a tip breaks; NULL: none. The caller frees. */
static char *
tip_fault(const json_t *tip)
{
	auto_free char *text = tip_text(tip);

	return hygiene_fault(text, kjson_bool(tip, "accepted"));
}

/* Handles one line of PATH; returns what is wrong with it, or NULL. */
static char *
take_line(json_t *tips, const char *path, long lineno, const char *line)
{
	static const char heading[] = "\\A### (\\S{1,63}) round-(\\d{1,6})" DASH "(?:(ACCEPTED)|"
	                              "ROLLED BACK)\\z",
	                  field[] = "\\A- (Context|Signal|Takeaway|Applicability):(.*)\\z";
	json_t *tip = json_array_get(tips, json_array_size(tips) - 1);
	struct kregex_span at[4];
	size_t len = strlen(line);

	if (!*line || !strncmp(line, "# ", 2))
		return NULL;
	if (kregex_find(heading, line, len, at, LEN(at))) {
		json_array_append_new(tips,
		    json_pack("{s:s%,s:I,s:b}", "time", line + at[1].from, at[1].to - at[1].from,
		        "round", (json_int_t)strtol(line + at[2].from, NULL, 10), "accepted",
		        at[3].from != KREGEX_UNSET));
		return NULL;
	}
	if (!strncmp(line, "### ", 4))
		return kasprintf("%s:%ld: a tip begins with '### TIME round-N" DASH "ACCEPTED' "
		                 "or 'ROLLED BACK'",
		    path, lineno);
	if (tip && kregex_find(field, line, len, at, 3)) {
		auto_free char *name = kregex_text(line, at[1]),
		               *text = kfence_line(line + at[2].from, FIELD_MAX);

		if (!json_object_get(tip, name)) {
			kjson_set(tip, name, json_string(text));
			return NULL;
		}
	}
	return kasprintf("%s:%ld: not a line of a tip (Context, Signal, Takeaway, Applicability, "
	                 "once each)",
	    path, lineno);
}

/* Checks that every tip has its four fields: returns NULL, or what is wrong. */
static char *
lacking(const json_t *tips, const char *path)
{
	size_t i;
	json_t *tip;

	json_array_foreach(tips, i, tip)
		for (size_t k = 0; k < LEN(fields); k++)
			if (!*kjson_str(tip, fields[k]))
				return kasprintf("%s: tip %zu (round-%ld): %s: is empty; a tip has "
				                 "Context, Signal, Takeaway and Applicability",
				    path, i + 1, (long)kjson_int(tip, "round"), fields[k]);
	return NULL;
}

/*
 * The tips in a file; none if there is no file. New reference. *FAULT is NULL, or what is wrong
 * with its form; the caller frees.
 */
static json_t *
parse_tips(const char *path, char **fault)
{
	size_t len;
	auto_free char *text = kread_if_there(path, FILE_MAX, &len),
	               *clean = text ? kfence_clean(text, len) : NULL;
	char *rest = clean, *line;
	json_t *tips = json_array();

	*fault = NULL;
	for (long lineno = 1; !*fault && (line = strsep(&rest, "\n")); lineno++)
		*fault = take_line(tips, path, lineno, line);
	if (!*fault)
		*fault = lacking(tips, path);
	return tips;
}

static json_t *
parse_or_die(const char *path)
{
	char *fault;
	json_t *tips = parse_tips(path, &fault);

	if (fault)
		kdie(K_USAGE, "%s", fault);
	return tips;
}

static void
save_tips(const char *path, const json_t *tips)
{
	auto_free char *device = tips_device(), *op = tips_op();
	auto_buf struct kbuf b = { 0 };

	kbuf_printf(&b, "# Tips: %s, %s, %s\n", device, op, kcamp_str(campaign.camp, "backend"));
	kjson_foreach(tip, tips) {
		auto_free char *text = tip_text(tip);

		kbuf_printf(&b, "\n%s", text);
	}
	put_file(path, b.data, b.len);
}

/* Was the tip ID ever removed? It does not come back by itself. */
static bool
was_removed(const char *folder, const char *id)
{
	auto_free char *path = kasprintf("%s/removed.ndjson", folder),
	               *text = kread_file(path, FILE_MAX, NULL), *mark = NULL;

	mark = kasprintf("\"id\":\"%s\"", id);
	return text && strstr(text, mark);
}

static bool
is_in(const json_t *tips, const json_t *tip)
{
	kjson_foreach(other, tips)
		if (json_equal(other, tip))
			return true;
	return false;
}

/* "a, b": names of the timed workloads; with LOSERS only those with a loss. */
static void
put_workloads(struct kbuf *b, const struct kcandidate *c, bool losers)
{
	const char *path = losers ? "score.decision.shapes" : "score.per_workload";
	const json_t *rows = kjson_path(c->json, path);
	size_t shown = 0;

	kjson_foreach(row, rows)
		if (!losers || kjson_num(row, "delta_pct") < 0)
			kbuf_printf(
			    b, "%s%s", shown++ ? ", " : "", kjson_str_or(row, "workload", "?"));
}

static char *
context_text(const struct kcandidate *c)
{
	const char *gpu = kcamp_str(campaign.camp, "gpu");
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%s (%s, %s, %s)", kcamp_str(campaign.camp, "name"), campaign.task->name,
	    kcamp_str(campaign.camp, "backend"), *gpu ? gpu : "CPU");
	if (json_array_size(kjson_path(c->json, "score.per_workload")))
		kbuf_puts(&b, "; timed: ");
	put_workloads(&b, c, false);
	kbuf_printf(&b, "; from %s", kjson_str_or(c->json, "sample.parent.id", "?"));
	return b.data;
}

/* The observation before and after; as the last resort only the figure. */
static char *
signal_text(const struct kcandidate *c)
{
	const char *evidence = kjson_str(c->json, "eval.plan.evidence"),
	           *sign = kjson_str(c->json, "eval.plan.signal");
	const char *bottleneck = kjson_str(c->json, "eval.profile.bottleneck.text");
	double gain = record_gain_pct(c);
	struct kbuf b = { 0 };

	kbuf_printf(&b, "%s%s%s%s%s", evidence, *evidence && *sign ? "; " : "", sign,
	    (*evidence || *sign) && *bottleneck ? "; profile: " : "", bottleneck);
	if (isfinite(gain))
		kbuf_printf(&b, "%smeasured %+.2f %%", b.len ? "; " : "", gain);
	else
		kbuf_printf(&b, "%sended as %s", b.len ? "; " : "", status_rows[c->status].name);
	return b.data;
}

static char *
takeaway_text(const struct kcandidate *c, bool accepted)
{
	const char *change = kjson_str(c->json, "eval.plan.change"),
	           *line = kjson_str(c->json, "score.decision.line");
	const char *reason =
	    json_string_value(json_array_get(kjson_path(c->json, "audit.reasons"), 0));
	auto_free char *category = record_category(c);
	char *text;

	if (!*change)
		change = category;
	if (c->overfit)
		text = kasprintf("over-fit, do not retry: %s (%s)", change,
		    reason ? reason : "refused by the audit");
	else if (!c->correct)
		text = kasprintf("%s: %s came out as %s, which says nothing against the direction: "
		                 "%s",
		    category, change, status_rows[c->status].name,
		    *line ? line : status_rows[c->status].phrase);
	else if (accepted)
		text = kasprintf("%s%s%s: %+.2f %%", category, change == category ? "" : ": ",
		    change == category ? "" : change, record_gain_pct(c));
	else
		text = kasprintf("%s: %s did not pay: %s", category, change,
		    *line ? line : status_rows[c->status].name);
	return text;
}

static char *
applicability_text(const struct kcandidate *c)
{
	const char *bucket =
	    kjson_str_or(c->json, "audit.bucket", kjson_str(c->json, "eval.plan.bucket"));
	const char *type = kjson_str(c->json, "eval.profile.bottleneck.label");
	double quant = kjson_num_or(c->json, "eval.plan.quant_us", NAN),
	       step = kjson_num_or(c->json, "eval.plan.step_us", NAN);
	struct kbuf b = { 0 };
	auto_buf struct kbuf losers = { 0 };

	kbuf_printf(&b, "%s kernels of %s%s%s%s%s", kcamp_str(campaign.camp, "backend"),
	    campaign.task->op ? campaign.task->op : campaign.task->name, *type ? ", " : "", type,
	    *bucket ? ", bucket " : "", bucket);
	if (isfinite(quant / step))
		kbuf_printf(&b, ", bound %.3g of a step", quant / step);
	put_workloads(&losers, c, true);
	if (losers.len)
		kbuf_printf(&b, "; not for shapes such as %s", losers.data);
	kbuf_puts(&b, "; measure again on other shapes and types");
	return b.data;
}

/* Is there something to learn from the round? Not from noise, a copy or a missing plan. */
static bool
is_reusable(const struct kcandidate *c)
{
	static const char *const lessons[] = { "gain", "trade_off", "tie_waiver", "build", "run",
		"wrong", "audit", "aggregate", "core_shape", "quality" };
	const char *code = kjson_str_or(c->json, "score.decision.code", NULL);

	if (!code)
		return c->won;
	return kindex_of(code, lessons, LEN(lessons)) < LEN(lessons);
}

/* What the application said about it. */
static char *
outcome_text(const struct kcandidate *c, const json_t *verdict)
{
	const char *change = kjson_str(c->json, "eval.plan.change");
	auto_free char *category = record_category(c);

	return kasprintf("%s: %s%s%s: %s", kverdict_outcome(verdict), category, *change ? ": " : "",
	    change, kjson_str(verdict, "why"));
}

/*
 * The tip of a candidate, from a VERDICT of the application or, if that is NULL, from its trial.
 * New reference.
 */
static json_t *
make_tip(const struct kcandidate *c, const json_t *verdict)
{
	bool accepted = verdict ? kjson_bool(verdict, "good") : c->won;
	char *texts[LEN(fields)] = { context_text(c), signal_text(c),
		verdict ? outcome_text(c, verdict) : takeaway_text(c, accepted),
		applicability_text(c) };
	json_t *tip = json_pack("{s:s,s:I,s:b}", "time", kjson_str_or(verdict, "at", c->time),
	    "round", kjson_int_or(c->json, "score.decision.round", c->trial), "accepted", accepted);

	for (size_t i = 0; i < LEN(fields); i++) {
		auto_free char *text = texts[i], *line = kfence_line(text, FIELD_MAX);

		kjson_set(tip, fields[i], json_string(line));
	}
	return tip;
}

/* Appends a new tip, unless it exists already, was removed or breaks a rule. Takes TIP. */
static void
append(json_t *tips, json_t *tip, const char *folder, bool by_hand)
{
	auto_free char *fault = tip_fault(tip);
	long round = (long)kjson_int(tip, "round");
	char id[65];

	tip_id(tip, id);
	if (fault && by_hand)
		kdie(K_USAGE, "tip of round-%ld: %s", round, fault);
	if (fault)
		kwarn("no tip of round-%ld is written: %s", round, fault);
	else if (!is_in(tips, tip) && !was_removed(folder, id))
		json_array_append(tips, tip);
	json_decref(tip);
}

/* The tips from a trial, and from what the application said about its program. */
static void
add_trial(json_t *tips, long trial, const char *folder)
{
	const struct kcandidate *c = trial_candidate(trial);
	json_auto_t *verdicts = c ? kverdict_on(".", c->id) : NULL;

	if (c && is_reusable(c) && *c->time)
		append(tips, make_tip(c, NULL), folder, false);
	kjson_foreach(v, verdicts)
		append(tips, make_tip(c, v), folder, false);
}

/* Adds tips from the campaign's rounds, or from files that somebody wrote. */
static int
add(const char *folder, const char *path)
{
	auto_close int lock = tips_lock(folder);
	json_auto_t *tips = parse_or_die(path);
	size_t before = json_array_size(tips);

	for (long trial = 1; trial <= campaign.trials.last && given.count == 1; trial++)
		add_trial(tips, trial, folder);
	for (size_t i = 1; i < given.count; i++) {
		json_auto_t *more = parse_or_die(given.operands[i]);

		kjson_foreach(tip, more)
			append(tips, json_incref(tip), folder, true);
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
	kjson_foreach(tip, tips) {
		auto_free char *line = NULL;
		char id[65];

		tip_id(tip, id);
		line = kasprintf("%s %s round-%ld %s: %s", id, kjson_str(tip, "time"),
		    (long)kjson_int(tip, "round"), VERDICT(kjson_bool(tip, "accepted")),
		    json_string_value(json_object_get(tip, "Takeaway")));
		kout_line(line, strlen(line));
	}
	kout_commit();
	return K_OK;
}

/* Checks form and rules of one file; returns the number of faults. */
static size_t
check_file(const char *path)
{
	char *fault;
	json_auto_t *tips = parse_tips(path, &fault);
	size_t faults = fault != NULL;

	if (fault)
		kwarn("%s", fault);
	kjson_foreach(tip, fault ? NULL : tips) {
		auto_free char *why = tip_fault(tip);
		char id[65];

		tip_id(tip, id);
		if (why)
			kwarn("%s: tip %s (round-%ld): %s", path, id, (long)kjson_int(tip, "round"),
			    why);
		faults += why != NULL;
	}
	free(fault);
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
note_removal(const char *folder, const char *id, const json_t *tip)
{
	auto_free char *path = kasprintf("%s/removed.ndjson", folder), *text = tip_text(tip),
	               *old = kread_file(path, FILE_MAX, NULL);
	char now[32];
	auto_buf struct kbuf b = { 0 };
	json_auto_t *record = NULL;

	know_iso(now, sizeof now);
	record = json_pack("{s:s,s:s,s:s,s:s,s:s}", "schema", "tip-removal/1", "id", id, "time",
	    now, "why", given.why, "tip", text);
	kbuf_puts(&b, old ? old : "");
	put_json(&b, record);
	put_file(path, b.data, b.len);
}

static int
remove_tip(const char *folder, const char *path)
{
	auto_close int lock = tips_lock(folder);
	json_auto_t *tips = NULL;
	char id[65];
	size_t i = 0;

	if (given.count != 2 || !given.why)
		kdie(K_USAGE,
		    "tips remove: give the id (see krecords tips list) and the reason: tips remove "
		    "ID --why TEXT");
	tips = parse_or_die(path);
	for (; i < json_array_size(tips); i++) {
		tip_id(json_array_get(tips, i), id);
		if (!strcmp(id, given.operands[1]))
			break;
	}
	if (i == json_array_size(tips))
		kdie(K_NO, "%s: there is no tip %s", path, given.operands[1]);
	note_removal(folder, id, json_array_get(tips, i));
	json_array_remove(tips, i);
	save_tips(path, tips);
	return K_OK;
}

int
command_tips(void)
{
	const char *what = given.count ? given.operands[0] : "";
	auto_free char *root = tips_root_or_die(), *folder = folder_of(),
	               *path = kasprintf("%s/tips.md", folder);

	if (!strcmp(what, "add"))
		return add(folder, path);
	if (!strcmp(what, "list") && given.count == 1)
		return list(path);
	if (!strcmp(what, "check"))
		return check(path);
	if (!strcmp(what, "remove"))
		return remove_tip(folder, path);
	kdie(
	    K_USAGE, "tips: must be followed by add [FILE...], list, check [FILE...] or remove ID");
}

void
tips_tell(const char *what, size_t count, const char *from)
{
	auto_free char *op = tips_op();

	kwarn("prompts of this campaign will show %s on %s: %zu, from %s; to leave them out, set "
	      "memory.enabled to off in campaign.json",
	    what, op, count, from);
}

void
freeze_tips(void)
{
	auto_free char *folder = folder_of(),
	               *path = folder ? kasprintf("%s/tips.md", folder) : NULL;
	json_auto_t *tips = path ? parse_or_die(path) : NULL, *kept = json_array();

	kjson_foreach(tip, tips) {
		auto_free char *fault = tip_fault(tip);
		char id[65];

		tip_id(tip, id);
		if (fault)
			kwarn("%s: tip %s is not used: %s", path, id, fault);
		else
			json_array_append(kept, tip);
	}
	if (json_array_size(kept))
		tips_tell("tips of earlier campaigns", json_array_size(kept), path);
	save_tips("trials/000/tips.md", kept);
}
