/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: skills (what to do about a sign that a profiler shows) and the profile of the parent.
 * Skills are files of ours, skills/NAME.md; everything that comes with a record is data and is put
 * between marks.
 */
#include "kprompt.h"

#include "backend.h"
#include "kfence.h"

enum { PROFILE_TOKENS = 6000 }; /* room for the findings of a launch and five skills */

enum {
	MAX_SKILL = 1 << 16,
	MAX_NAME = 200,
	MAX_TEXT = 500,
	MAX_FINDINGS = 10,
	MAX_ADVICE = 6,
	MIN_BODY = 300
};

/* The most informative metrics of a profile. */
static const char *const key_metrics[] = { "roofline.sm_pct", "roofline.compute_pct",
	"roofline.valu_pct", "roofline.mfma_pct", "roofline.mem_pct", "roofline.dram_pct",
	"roofline.stream_pct", "memory.dram_gb", "memory.l1_hit_pct", "memory.l2_hit_pct",
	"memory.d1_miss_pct", "memory.l1_miss_pct", "memory.llc_miss_pct", "memory.coalescing_pct",
	"memory.sectors_per_request", "memory.smem_excess_pct", "memory.lds_conflict_ratio",
	"memory.spill_requests", "occupancy.occupancy_pct", "occupancy.occupancy_theoretical_pct",
	"occupancy.limit_registers", "occupancy.limit_smem", "occupancy.limit_warps",
	"launch.registers", "launch.vgpr", "launch.smem_static", "launch.smem_dynamic",
	"launch.lds_bytes", "launch.waves", "instruction.tensor_pct", "instruction.ipc",
	"instruction.threads_per_inst", "instruction.branch_miss_pct", "time.cpus_utilized" };

/* Names of the skills, in the order of the rules: {"low_ipc": true}. New reference. */
static json_t *
skill_names(void)
{
	auto_free char *path = kdata_path("patterns/profile/ncu.json");
	json_t *names = json_object();
	json_auto_t *table = kjson_load(path);
	json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(table, "rules"), i, rule) {
		const char *name = kjson_str_or(rule, "skill", "");

		if (*name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
			json_object_set_new(names, name, json_true());
	}
	return names;
}

/* The file of a skill, in the campaign or among the shipped ones. The caller frees. */
static char *
skill_text(const struct kcamp *camp, const char *name)
{
	char *file, *path, *text;

	file = kasprintf("skills/%s.md", name);
	path = kcamp_path(camp, file);
	text = kread_file(path, MAX_SKILL, NULL);
	free(path);
	if (!text) {
		path = kdata_path(file);
		text = kread_file_or_die(path, MAX_SKILL, NULL);
		free(path);
	}
	free(file);
	return text;
}

/* The first line of a skill: "low_ipc: few instructions per cycle". */
static char *
skill_line(const char *text)
{
	char *first, *line;

	text += strspn(text, "# ");
	first = kstrndup(text, strcspn(text, "\n"));
	line = kfence_line(first, MAX_TEXT);
	free(first);
	return line;
}

/* Skills are written for kernels on devices that kiln can run. */
static bool
wants_skills(const struct kcamp *camp)
{
	const struct backend *b = kcamp_backend(camp);

	return b->device && b->runner;
}

void
skill_facts(json_t *stable, const struct kcamp *camp)
{
	json_t *list = json_array();
	json_auto_t *names = wants_skills(camp) ? skill_names() : NULL;
	json_t *yes;
	const char *name;

	json_object_foreach(names, name, yes) {
		auto_free char *text = skill_text(camp, name), *line = skill_line(text);

		json_array_append_new(list, json_string(line));
	}
	json_object_set_new(stable, "has_skills", json_boolean(json_array_size(list) > 0));
	json_object_set_new(stable, "skills", list);
}

static void
put_number(struct kbuf *b, double v)
{
	if (fabs(v) >= 1000)
		kbuf_printf(b, "%.0f", v);
	else
		kbuf_printf(b, "%.3g", v);
}

static void
put_launch(struct kbuf *b, const json_t *profile)
{
	static const char *const keys[] = { "grid", "block", "device" };
	char *name = kfence_line(kjson_str_or(profile, "kernel", "?"), MAX_NAME);
	double ns = kjson_num_or(profile, "launch.duration_ns", 0);

	kbuf_printf(b, "kernel: %s", name);
	free(name);
	for (size_t i = 0; i < LEN(keys); i++) {
		auto_free char *text = kfence_line(
		    kjson_str_or(json_object_get(profile, "launch"), keys[i], ""), MAX_NAME);

		if (*text)
			kbuf_printf(b, ", %s %s", keys[i], text);
	}
	if (ns > 0)
		kbuf_printf(b, ", %.3f us", ns / 1e3);
	name = kfence_line(kjson_str_or(profile, "bottleneck.text", "unknown"), MAX_TEXT);
	kbuf_printf(b, "\nbottleneck: %s\n", name);
	free(name);
}

static void
put_metrics(struct kbuf *b, const json_t *profile)
{
	const json_t *metrics = json_object_get(profile, "metrics");
	size_t shown = 0;

	for (size_t i = 0; i < LEN(key_metrics); i++) {
		const json_t *m = kjson_path(metrics, key_metrics[i]);
		char *unit;

		if (!m)
			continue;
		unit = kfence_line(kjson_str_or(m, "unit", ""), 32);
		kbuf_printf(
		    b, "%s%s ", shown++ ? ", " : "metrics: ", strchr(key_metrics[i], '.') + 1);
		put_number(b, kjson_num_or(m, "value", 0));
		kbuf_printf(b, "%s%s", *unit ? " " : "", unit);
		free(unit);
	}
	if (shown)
		kbuf_puts(b, "\n");
}

static void
put_stalls(struct kbuf *b, const json_t *profile)
{
	const json_t *list = json_object_get(profile, "stalls");
	size_t i;
	json_t *s;

	json_array_foreach((json_t *)list, i, s) {
		auto_free char *reason = kfence_line(kjson_str_or(s, "reason", "?"), MAX_NAME);

		kbuf_printf(b, "%s%s %.0f %%", i ? ", " : "warps wait for: ", reason,
		    100 * kjson_num_or(s, "fraction", 0));
	}
	if (json_array_size(list))
		kbuf_puts(b, "\n");
}

static void
put_findings(struct kbuf *b, const json_t *profile)
{
	size_t i;
	json_t *f;

	json_array_foreach(json_object_get(profile, "findings"), i, f) {
		auto_free char *id = kfence_line(kjson_str_or(f, "id", "?"), MAX_NAME),
		               *severity = kfence_line(kjson_str_or(f, "severity", "?"), 16),
		               *text = kfence_line(kjson_str_or(f, "text", ""), MAX_TEXT),
		               *action = kfence_line(kjson_str_or(f, "action", ""), MAX_TEXT);

		if (i < MAX_FINDINGS)
			kbuf_printf(b, "%s- %s (%s): %s. Action: %s\n", i ? "" : "findings:\n", id,
			    severity, text, action);
	}
}

static void
put_advice(struct kbuf *b, const json_t *profile)
{
	size_t i, shown = 0;
	json_t *a;

	json_array_foreach(json_object_get(profile, "recommendations"), i, a) {
		const char *verdict = kjson_str_or(a, "verdict", "");
		char *rule, *text;
		double percent = kjson_num_or(a, "speedup.percent", -1);

		if (!strcmp(verdict, "info") || shown == MAX_ADVICE)
			continue;
		rule = kfence_line(kjson_str_or(a, "rule", ""), MAX_NAME);
		text = kfence_line(kjson_str_or(a, "text", ""), MAX_TEXT);
		kbuf_printf(b, "%s- %s%s",
		    shown++ ? "" : "recommendations of the vendor's profiler:\n", rule,
		    *rule ? " " : "");
		if (percent >= 0)
			kbuf_printf(b, "(estimate: %.3g %%%s) ", percent,
			    kjson_is(a, "speedup.scope", "local") ? " of one unit" : "");
		kbuf_printf(b, "%s: %s\n",
		    !strcmp(verdict, "agrees") ? "[confirms a finding]" : "[alone]", text);
		free(rule);
		free(text);
	}
}

/*
 * TEXT up to the last line that ends within MAX bytes, with a mark if something was cut. The caller
 * frees.
 */
static char *
cut(const char *text, size_t max)
{
	size_t n = strlen(text);

	if (n <= max)
		return kstrdup(text);
	for (n = max; n > 0 && text[n - 1] != '\n'; n--)
		;
	return kasprintf("%.*s(cut)", (int)n, text);
}

/*
 * Moves headings of a skill two levels down: in the prompt they belong to a section. "#pragma" is
 * not a heading.
 */
static char *
demote(const char *text)
{
	struct kbuf b = kbuf_empty();

	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "\n");

		if (!strncmp(s, "# ", 2) || !strncmp(s, "## ", 3))
			kbuf_puts(&b, "##");
		n += s[n] == '\n';
		kbuf_add(&b, s, n);
		s += n;
	}
	return b.data;
}

/* The texts of the skills that the findings name, most severe first, as far as ROOM allows. */
static json_t *
bodies(const struct kcamp *camp, const json_t *profile, size_t room)
{
	/* A record may name any file; only existing skills are included, each once. */
	json_t *list = json_array(), *f;
	json_auto_t *left = skill_names();
	enum { BODIES = 5 }; /* more would hide the findings that matter most */
	size_t i;

	json_array_foreach(json_object_get(profile, "findings"), i, f) {
		const char *name = kjson_str_or(f, "skill", "");
		char *text, *body, *shown;

		if (json_array_size(list) == BODIES || room < MIN_BODY ||
		    !json_object_get(left, name))
			continue;
		text = skill_text(camp, name);
		body = demote(text);
		shown = cut(body, room);
		room -= strlen(shown) < room ? strlen(shown) : room;
		while (*shown && shown[strlen(shown) - 1] == '\n')
			shown[strlen(shown) - 1] = '\0';
		json_array_append_new(list, json_string(shown));
		json_object_del(left, name);
		free(text);
		free(body);
		free(shown);
	}
	return list;
}

/* A member of the parent, or of the evaluation in it. */
static const json_t *
evaluated(const json_t *program, const char *key)
{
	const json_t *v = json_object_get(program, key);

	return v ? v : json_object_get(json_object_get(program, "eval"), key);
}

const json_t *
program_profile(const json_t *program)
{
	return evaluated(program, "profile");
}

const char *
program_digest(const json_t *program)
{
	const char *digest = json_string_value(evaluated(program, "digest"));

	return digest && digest[strspn(digest, " \t\r\n")] ? digest : NULL;
}

void
profile_facts(json_t *facts, const struct campaign *c, const json_t *parent, const char *salt)
{
	const json_t *profile = evaluated(parent, "profile");
	size_t room = (size_t)PROFILE_TOKENS * TOKEN_CHARS;
	struct kbuf text = { 0 }, block = { 0 };
	json_t *list;
	char *part;

	json_object_set_new(facts, "profile", json_false());
	if (!json_is_object(profile))
		return;
	put_launch(&text, profile);
	put_metrics(&text, profile);
	put_stalls(&text, profile);
	put_findings(&text, profile);
	put_advice(&text, profile);
	part = kfence_shorten(text.data, room);
	room -= strlen(part) < room ? strlen(part) : room;
	kfence_data(&block, part, "profile", salt);
	list = bodies(c->camp, profile, room);
	json_object_set_new(facts, "profile",
	    json_pack(
	        "{s:s,s:b}", "measured", block.data, "has_bodies", json_array_size(list) > 0));
	json_object_set_new(json_object_get(facts, "profile"), "bodies", list);
	kbuf_free(&text);
	kbuf_free(&block);
	free(part);
}
