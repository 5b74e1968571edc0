/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: skills (what to do about a sign that a profiler shows) and the profile of the parent.
 * Skills are files of ours, skills/NAME.md; everything that comes with a record is data and is put
 * between marks.
 */
#include "kprompt.h"

#include "backend.h"
#include "kfence.h"
#include "kregex.h"

enum { PROFILE_TOKENS = 6000 }; /* room for the findings of a launch and five skills */

enum { MAX_SKILL = 1 << 16, MAX_TEXT = 500, MAX_ADVICE = 6, MIN_BODY = 300 };

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

	kjson_foreach(rule, table, "rules") {
		const char *name = kjson_str(rule, "skill");

		if (*name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
			kjson_enter(names, name);
	}
	return names;
}

/* The file of a skill, in the campaign or among the shipped ones. The caller frees. */
static char *
skill_text(const char *name)
{
	auto_free char *file = kasprintf("skills/%s.md", name), *path = NULL;
	char *text = kread_file(kcamp_path(file), MAX_SKILL, NULL);

	if (text)
		return text;
	path = kdata_path(file);
	return kread_file_or_die(path, MAX_SKILL, NULL);
}

/* The first line of a skill: "low_ipc: few instructions per cycle". */
static char *
skill_line(const char *text)
{
	auto_free char *first = kregex_sub("(?s)\\A[# ]*|\\n.*", text, "");

	return kfence_line(first, MAX_TEXT);
}

void
skill_facts(void)
{
	const struct backend *b = kcamp_backend();
	json_t *list = json_array();
	/* Skills are written for kernels on devices that kiln can run. */
	json_auto_t *names = b->device && b->runner ? skill_names() : NULL;

	kjson_foreach_member(name, yes, names) {
		auto_free char *text = skill_text(name), *line = skill_line(text);

		kjson_add(list, line);
	}
	put("skills", list);
}

/* The profile in the form of the template data/profile.txt. */
static void
put_profile(struct kbuf *out, const json_t *profile)
{
	json_auto_t *own = json_deep_copy(profile);
	const json_t *metrics = json_object_get(profile, "metrics");
	json_t *shown = json_array(), *advice = json_array();

	kforeach(metric, key_metrics) {
		json_t *m = json_copy((json_t *)kjson_path(metrics, *metric));

		if (!m)
			continue;
		json_object_set_new(m, "name", json_string(strrchr(*metric, '.') + 1));
		json_array_append_new(shown, m);
	}
	kjson_foreach(a, own, "recommendations") {
		kjson_extend(a, "{s:b,s:b}", "agrees", kjson_is(a, "verdict", "agrees"), "local",
		    kjson_is(a, "speedup.scope", "local"));
		if (!kjson_is(a, "verdict", "info") && json_array_size(advice) < MAX_ADVICE)
			json_array_append(advice, a);
	}
	kjson_extend(own, "{s:o,s:o}", "shown", shown, "advice", advice);
	data_fill(out, "profile", own);
}

/* The texts of the skills that the findings name, most severe first, as far as ROOM allows. */
static json_t *
bodies(const json_t *profile, size_t room)
{
	/* A record may name any file; only existing skills are included, each once. */
	json_t *list = json_array();
	json_auto_t *left = skill_names();
	enum { BODIES = 5 }; /* more would hide the findings that matter most */

	kjson_foreach(f, profile, "findings") {
		const char *name = kjson_str(f, "skill");
		auto_free char *text = NULL, *trimmed = NULL, *body = NULL, *shown = NULL;

		if (json_array_size(list) == BODIES || room < MIN_BODY ||
		    !json_object_get(left, name))
			continue;
		text = skill_text(name);
		/* In the prompt its headings belong to a section. "#pragma" is not a heading. */
		trimmed = kregex_sub("\\s+\\z", text, "");
		body = kregex_sub("(?m)^(?=##? )", trimmed, "##");
		shown = kfence_shorten(body, room);
		room -= strlen(shown) < room ? strlen(shown) : room;
		kjson_add(list, shown);
		json_object_del(left, name);
	}
	return list;
}

/* A member of the parent, or of the evaluation in it. */
static const json_t *
evaluated(const json_t *program, const char *key)
{
	return json_object_get(program, key)
	    ?: json_object_get(json_object_get(program, "eval"), key);
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
profile_facts(const json_t *parent)
{
	const json_t *profile = evaluated(parent, "profile");
	size_t room = (size_t)PROFILE_TOKENS * TOKEN_CHARS;
	auto_buf struct kbuf text = { 0 };
	auto_free char *part = NULL;

	put("profile", json_false());
	if (!json_is_object(profile))
		return;
	put_profile(&text, profile);
	part = kfence_shorten(text.data, room);
	room -= strlen(part) < room ? strlen(part) : room;
	put("profile",
	    json_pack("{s:o,s:o}", "measured", data_text(part, "profile"), "bodies",
	        bodies(profile, room)));
}
