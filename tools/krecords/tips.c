/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tips: what one campaign leaves to later ones on the same device, operation and backend. See
 * krecords.h.
 */
#include <sys/file.h>

#include "kfence.h"
#include "krecords.h"
#include "kverdict.h"

enum { CONTEXT, SIGNAL, TAKEAWAY, APPLICABILITY, FIELDS };
static const char *const field_names[FIELDS] = { "Context", "Signal", "Takeaway", "Applicability" };

enum { FIELD_MAX = 600, ID = 12 };

/* "### 2026-11-21T15:00:00Z round-3 — ACCEPTED" and four lines "- Context: ...". */
struct tip {
	char *time;
	long round;
	bool accepted;
	char *field[FIELDS];
	char id[ID + 1];
};

struct tips {
	struct tip *tip;
	size_t count;
};

static const char dash[] = " \xe2\x80\x94 ";

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
	json_t *machine;
	char *slug;

	if (*gpu)
		return tips_slug(gpu);
	machine = kjson_if_there("trials/000/machine.json");
	slug = tips_slug(kjson_str_or(machine, "cpu", "cpu"));
	json_decref(machine);
	return slug;
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
	char *root = tips_root(), *device, *op, *backend, *folder;

	if (!root)
		return NULL;
	device = tips_device();
	op = tips_op();
	backend = tips_slug(kcamp_str(campaign.camp, "backend"));
	folder = kasprintf("%s/%s/%s/%s", root, device, op, backend);
	free(root);
	free(device);
	free(op);
	free(backend);
	return folder;
}

static void
tip_free(struct tip *t)
{
	free(t->time);
	for (size_t i = 0; i < FIELDS; i++)
		free(t->field[i]);
}

static void
tips_free(struct tips *t)
{
	for (size_t i = 0; i < t->count; i++)
		tip_free(&t->tip[i]);
	free(t->tip);
	*t = (struct tips){ 0 };
}

static void
put_tip(struct kbuf *b, const struct tip *t)
{
	kbuf_printf(b, "### %s round-%ld%s%s\n", t->time, t->round, dash,
	    t->accepted ? "ACCEPTED" : "ROLLED BACK");
	for (size_t i = 0; i < FIELDS; i++)
		kbuf_printf(b, "- %s: %s\n", field_names[i], t->field[i]);
}

/* Sets the tip's id from its text. */
static void
seal_tip(struct tip *t)
{
	auto_buf struct kbuf b = { 0 };
	char hex[65];

	put_tip(&b, t);
	ksha256_hex(b.data, b.len, hex);
	snprintf(t->id, sizeof t->id, "%.*s", ID, hex);
}

/* The rule that a tip breaks; NULL: none. The caller frees. */
static char *
tip_fault(const struct tip *t)
{
	auto_buf struct kbuf b = { 0 };

	put_tip(&b, t);
	return hygiene_fault(b.data, t->accepted);
}

/* The heading of a tip, after "### ". */
static bool
parse_heading(struct tip *t, const char *line)
{
	char time[64];
	int n = 0;

	if (sscanf(line, "%63s round-%ld%n", time, &t->round, &n) < 2 || t->round < 0 ||
	    strncmp(line + n, dash, sizeof dash - 1))
		return false;
	n += (int)sizeof dash - 1;
	t->accepted = !strcmp(line + n, "ACCEPTED");
	t->time = kstrdup(time);
	return t->accepted || !strcmp(line + n, "ROLLED BACK");
}

/*
 * Parses "- Context: text" into the tip; false when it is not one of the four fields, or a repeated
 * one.
 */
static bool
parse_field(struct tip *t, const char *line)
{
	for (size_t i = 0; i < FIELDS; i++) {
		size_t n = strlen(field_names[i]);

		if (!strncmp(line, "- ", 2) && !strncmp(line + 2, field_names[i], n) &&
		    line[2 + n] == ':' && !t->field[i]) {
			t->field[i] = kfence_line(line + 3 + n, FIELD_MAX);
			return true;
		}
	}
	return false;
}

/* Handles one line of PATH; returns what is wrong with it, or NULL. */
static char *
take_line(struct tips *t, const char *path, long lineno, const char *line)
{
	bool known = true;

	if (!strncmp(line, "### ", 4)) {
		kgrow(t->tip, t->count);
		t->tip[t->count++] = (struct tip){ 0 };
		known = parse_heading(&t->tip[t->count - 1], line + 4);
		if (!known)
			return kasprintf("%s:%ld: a tip begins with '### TIME round-N%sACCEPTED' "
			                 "or 'ROLLED BACK'",
			    path, lineno, dash);
	} else if (*line && strncmp(line, "# ", 2)) {
		known = t->count && parse_field(&t->tip[t->count - 1], line);
	}
	return known ? NULL
	             : kasprintf("%s:%ld: not a line of a tip (Context, Signal, Takeaway, "
	                         "Applicability, once "
	                         "each)",
	                   path, lineno);
}

/* Checks that every tip has its four fields and sets their ids: returns NULL, or what is wrong. */
static char *
complete(struct tips *t, const char *path)
{
	for (size_t i = 0; i < t->count; i++) {
		for (size_t k = 0; k < FIELDS; k++)
			if (!t->tip[i].field[k] || !*t->tip[i].field[k])
				return kasprintf("%s: tip %zu (round-%ld): %s: is empty; a tip has "
				                 "Context, Signal, "
				                 "Takeaway and Applicability",
				    path, i + 1, t->tip[i].round, field_names[k]);
		seal_tip(&t->tip[i]);
	}
	return NULL;
}

/*
 * The tips in a file; none if there is no file. Returns NULL, or what is wrong with its form; the
 * caller frees.
 */
static char *
parse_tips(struct tips *t, const char *path)
{
	size_t len;
	char *text = kread_file(path, FILE_MAX, &len), *clean, *next, *fault = NULL;
	long lineno = 0;

	*t = (struct tips){ 0 };
	if (!text && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	if (!text)
		return NULL;
	clean = kfence_clean(text, len);
	for (char *line = clean; line && !fault; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		fault = take_line(t, path, ++lineno, line);
	}
	free(clean);
	free(text);
	return fault ? fault : complete(t, path);
}

static void
parse_or_die(struct tips *t, const char *path)
{
	char *fault = parse_tips(t, path);

	if (fault)
		kdie(K_USAGE, "%s", fault);
}

static void
save_tips(const char *path, const struct tips *t)
{
	auto_free char *device = tips_device(), *op = tips_op();
	auto_buf struct kbuf b = { 0 };

	kbuf_printf(&b, "# Tips: %s, %s, %s\n", device, op, kcamp_str(campaign.camp, "backend"));
	for (size_t i = 0; i < t->count; i++) {
		kbuf_puts(&b, "\n");
		put_tip(&b, &t->tip[i]);
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
is_in(const struct tips *t, const char *id)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->tip[i].id, id))
			return true;
	return false;
}

/* "a, b": names of the timed workloads; with LOSERS only those with a loss. */
static void
put_workloads(struct kbuf *b, const struct kcandidate *c, bool losers)
{
	const char *path = losers ? "score.decision.shapes" : "score.per_workload";
	const json_t *rows = kjson_path(c->json, path), *row;
	size_t i, shown = 0;

	json_array_foreach((json_t *)rows, i, row)
		if (!losers || kjson_num_or(row, "delta_pct", 0) < 0)
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
	const char *evidence = kjson_str_or(c->json, "eval.plan.evidence", ""),
	           *sign = kjson_str_or(c->json, "eval.plan.signal", "");
	const char *bottleneck = kjson_str_or(c->json, "eval.profile.bottleneck.text", "");
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
	const char *change = kjson_str_or(c->json, "eval.plan.change", ""),
	           *line = kjson_str_or(c->json, "score.decision.line", "");
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
	    kjson_str_or(c->json, "audit.bucket", kjson_str_or(c->json, "eval.plan.bucket", ""));
	const char *type = kjson_str_or(c->json, "eval.profile.bottleneck.label", "");
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

static void
set_field(struct tip *t, int which, char *text)
{
	t->field[which] = kfence_line(text, FIELD_MAX);
	free(text);
}

/* What the application said about it. */
static char *
outcome_text(const struct kcandidate *c, const json_t *verdict)
{
	const char *change = kjson_str_or(c->json, "eval.plan.change", "");
	auto_free char *category = record_category(c);

	return kasprintf("%s: %s%s%s: %s", kverdict_outcome(verdict), category, *change ? ": " : "",
	    change, kjson_str_or(verdict, "why", ""));
}

/* The tip of a candidate, from a VERDICT of the application or, if that is NULL, from its trial. */
static void
make_tip(struct tip *t, const struct kcandidate *c, const json_t *verdict)
{
	*t = (struct tip){ .time = kstrdup(kjson_str_or(verdict, "at", c->time)),
		.accepted = verdict ? kjson_bool_or(verdict, "good", false) : c->won,
		.round = (long)kjson_int_or(c->json, "score.decision.round", c->trial) };
	set_field(t, CONTEXT, context_text(c));
	set_field(t, SIGNAL, signal_text(c));
	set_field(t, TAKEAWAY, verdict ? outcome_text(c, verdict) : takeaway_text(c, t->accepted));
	set_field(t, APPLICABILITY, applicability_text(c));
	seal_tip(t);
}

/* Appends a new tip, unless it exists already, was removed or breaks a rule. Takes T. */
static void
append(struct tips *all, struct tip *t, const char *folder, bool by_hand)
{
	auto_free char *fault = tip_fault(t);

	if (fault && by_hand)
		kdie(K_USAGE, "tip of round-%ld: %s", t->round, fault);
	if (fault)
		kwarn("no tip of round-%ld is written: %s", t->round, fault);
	if (fault || is_in(all, t->id) || was_removed(folder, t->id)) {
		tip_free(t);
	} else {
		kgrow(all->tip, all->count);
		all->tip[all->count++] = *t;
	}
}

/* The tips from a trial, and from what the application said about its program. */
static void
add_trial(struct tips *all, long trial, const char *folder)
{
	const struct kcandidate *c = trial_candidate(trial);
	json_auto_t *verdicts = c ? kverdict_on(".", c->id) : NULL;
	json_t *v;
	struct tip t;
	size_t i;

	if (c && is_reusable(c) && *c->time) {
		make_tip(&t, c, NULL);
		append(all, &t, folder, false);
	}
	json_array_foreach(verdicts, i, v) {
		make_tip(&t, c, v);
		append(all, &t, folder, false);
	}
}

/* Adds tips from the campaign's rounds, or from files that somebody wrote. */
static int
add(const char *folder, const char *path)
{
	int lock = tips_lock(folder);
	struct tips all, more;
	size_t before;

	parse_or_die(&all, path);
	before = all.count;
	for (long trial = 1; trial <= campaign.trials.last && given.count == 1; trial++)
		add_trial(&all, trial, folder);
	for (size_t i = 1; i < given.count; i++) {
		parse_or_die(&more, given.operands[i]);
		for (size_t k = 0; k < more.count; k++)
			append(&all, &more.tip[k], folder, true);
		free(more.tip);
	}
	if (all.count != before)
		save_tips(path, &all);
	tips_free(&all);
	close(lock);
	return K_OK;
}

static int
list(const char *path)
{
	struct tips all;

	parse_or_die(&all, path);
	kout_open(given.output);
	for (size_t i = 0; i < all.count; i++) {
		const struct tip *t = &all.tip[i];
		auto_free char *line = kasprintf("%s %s round-%ld %s: %s", t->id, t->time, t->round,
		    t->accepted ? "ACCEPTED" : "ROLLED BACK", t->field[TAKEAWAY]);

		kout_line(line, strlen(line));
	}
	kout_commit();
	tips_free(&all);
	return K_OK;
}

/* Checks form and rules of one file; returns the number of faults. */
static size_t
check_file(const char *path)
{
	struct tips all;
	auto_free char *fault = parse_tips(&all, path);
	size_t faults = 0;

	if (fault)
		kwarn("%s", fault), faults++;
	for (size_t i = 0; i < all.count && !fault; i++) {
		auto_free char *why = tip_fault(&all.tip[i]);

		if (why)
			kwarn("%s: tip %s (round-%ld): %s", path, all.tip[i].id, all.tip[i].round,
			    why),
			    faults++;
	}
	tips_free(&all);
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
note_removal(const char *folder, const struct tip *t, const char *why)
{
	auto_free char *path = kasprintf("%s/removed.ndjson", folder);
	char *old, now[32];
	auto_buf struct kbuf b = { 0 }, text = { 0 };
	json_auto_t *record = NULL;

	know_iso(now, sizeof now);
	put_tip(&text, t);
	record = json_pack("{s:s,s:s,s:s,s:s,s:s}", "schema", "tip-removal/1", "id", t->id, "time",
	    now, "why", why, "tip", text.data);
	old = kread_file(path, FILE_MAX, NULL);
	kbuf_puts(&b, old ? old : "");
	put_json(&b, record);
	put_file(path, b.data, b.len);
	free(old);
}

static int
remove_tip(const char *folder, const char *path)
{
	int lock = tips_lock(folder);
	struct tips all;
	size_t i = 0;

	if (given.count != 2 || !given.why)
		kdie(K_USAGE,
		    "tips remove: give the id (see krecords tips list) and the reason: tips remove "
		    "ID --why TEXT");
	parse_or_die(&all, path);
	while (i < all.count && strcmp(all.tip[i].id, given.operands[1]))
		i++;
	if (i == all.count)
		kdie(K_NO, "%s: there is no tip %s", path, given.operands[1]);
	note_removal(folder, &all.tip[i], given.why);
	tip_free(&all.tip[i]);
	memmove(&all.tip[i], &all.tip[i + 1], (all.count - i - 1) * sizeof *all.tip);
	all.count--;
	save_tips(path, &all);
	tips_free(&all);
	close(lock);
	return K_OK;
}

int
command_tips(void)
{
	const char *what = given.count ? given.operands[0] : "";
	char *folder, *path;
	int code;

	free(tips_root_or_die());
	folder = folder_of();
	path = kasprintf("%s/tips.md", folder);
	if (!strcmp(what, "add"))
		code = add(folder, path);
	else if (!strcmp(what, "list") && given.count == 1)
		code = list(path);
	else if (!strcmp(what, "check"))
		code = check(path);
	else if (!strcmp(what, "remove"))
		code = remove_tip(folder, path);
	else
		kdie(K_USAGE,
		    "tips: must be followed by add [FILE...], list, check [FILE...] or remove ID");
	free(folder);
	free(path);
	return code;
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
	char *fault;
	struct tips all = { 0 }, kept = { 0 };

	if (path)
		parse_or_die(&all, path);
	kept.tip = kcalloc(all.count + 1, sizeof *kept.tip);
	for (size_t i = 0; i < all.count; i++) {
		fault = tip_fault(&all.tip[i]);
		if (fault)
			kwarn("%s: tip %s is not used: %s", path, all.tip[i].id, fault);
		else
			kept.tip[kept.count++] = all.tip[i];
		free(fault);
	}
	if (kept.count)
		tips_tell("tips of earlier campaigns", kept.count, path);
	save_tips("trials/000/tips.md", &kept);
	free(kept.tip);
	tips_free(&all);
}
