/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: the volatile part of a prompt: parent, best, inspirations, log, target, hints, errors of
 * one record.
 */
#include "kprompt.h"

#include "karch.h"
#include "kchain.h"
#include "kextract.h"
#include "kfence.h"
#include "kroof.h"

enum { MAX_NAME = 80, MAX_ID = 16 };

/* What the backend calls a dimension: "tensor cores". */
static const char *
dimension_name(size_t d)
{
	return kjson_item(kjson_path(campaign.stable, "lang.dimensions"), d) ?: karch_dims[d];
}

static json_t *
buf_string(struct kbuf *b)
{
	json_t *s = json_string(b->data ?: "");

	kbuf_free(b);
	return s;
}

/*
 * "score 5 of 5 (compiles and is correct), speed-up 8.70x over the reference, 4.500 ms on AMD EPYC;
 * n1024 4.500 ms"; times of workloads, if the sampler passed them on. On a GPU they have the host
 * time, which a batch of calls hides.
 */
static json_t *
result_line(const json_t *program)
{
	enum status status = status_at(program, "status");
	bool right = status == STATUS_CORRECT;
	double ms = kjson_num(program, "runtime_ms");
	struct kgain_ratio speedup = kgain_speedup_of(program);
	const char *speed =
	    right && speedup.n ? kchain_text(&speedup, kjson_bool(program, "provisional")) : NULL;
	json_auto_t *o = json_pack("{s:i,s:i,s:s*,s:s*,s:o*,s:s,s:O*}", "rung",
	    status_rows[status].rung, "top", STATUS_TOP_RUNG, "phrase",
	    status ? status_rows[status].phrase : NULL, "speed", speed, "runtime_ms",
	    right && ms > 0 && isfinite(ms) ? json_real(ms) : NULL, "device", campaign.device,
	    "per_workload", right ? json_object_get(program, "per_workload") : NULL);

	return data_line("result", o);
}

static bool
same_code(const json_t *a, const json_t *b)
{
	const char *x = kjson_maybe(a, "code"), *y = kjson_maybe(b, "code");
	const json_t *f = json_object_get(a, "files"), *g = json_object_get(b, "files");

	return x && y && !strcmp(x, y) && (f == g || json_equal(f, g));
}

/* The fenced code of a program, main file first; files of a bundle follow under their names. */
static json_t *
fenced_code(const json_t *program)
{
	struct kbuf b = { 0 };

	kfence_code(&b, kjson_str(program, "code"), campaign.label);
	kjson_foreach(f, program, "files") {
		auto_free char *name = kfence_line(kjson_str_or(f, "path", "file"), MAX_NAME);

		kbuf_printf(&b, "File %zu of the bundle:\n", kjson_at(f) + 1);
		kfence_code(&b, kjson_str(f, "content"), kshown("%s:%s", campaign.label, name));
	}
	return buf_string(&b);
}

/* What bounds a program that nobody profiled, judged by how its times grow with the work. */
static json_t *
growth_of(const json_t *program)
{
	json_auto_t *roofline = program_profile(program) ? NULL : kroof_load(),
	            *timing = json_array();
	json_auto_t *growth = NULL;

	kjson_foreach(row, program, "per_workload")
		kjson_append(timing, "{s:s,s:f}", "workload", kjson_str(row, "workload"),
		    "median_ns", 1e6 * kjson_num(row, "runtime_ms"));
	growth = kroof_growth(roofline, timing);
	return growth ? json_sprintf("%s: %s", kjson_str(growth, "class"), kjson_str(growth, "why"))
	              : json_string("");
}

/* The object for one program in the templates. */
static json_t *
program_facts(const json_t *program)
{
	const char *digest = program_digest(program), *log = digest ?: kjson_str(program, "log");
	auto_free char *id = kfence_line(kjson_str_or(program, "id", "?"), MAX_ID);

	return json_pack("{s:s,s:o,s:b,s:o,s:I,s:o,s:o}", "id", id, "result", result_line(program),
	    "is_reference", kjson_is(program, "code", campaign.reference), "code",
	    fenced_code(program), "tries", (json_int_t)kjson_int(program, "plan_tries"), "log",
	    data_part(log, LOG_CHARS, digest ? "digest of the evaluation log" : "evaluation log"),
	    "growth", growth_of(program));
}

/* The best program, unless it is in the prompt anyway, or there is none. */
static const json_t *
best_shown(void)
{
	const json_t *best = json_object_get(sample, "best");

	if (!best || same_code(best, json_object_get(sample, "parent")) ||
	    kjson_is(best, "code", campaign.reference))
		return NULL;
	return best;
}

/*
 * Inspirations that add something new: not the parent, the best shown, the reference, or one
 * another.
 */
static json_t *
inspirations(void)
{
	const json_t *list = json_object_get(sample, "inspirations"),
	             *parent = json_object_get(sample, "parent"), *best = best_shown();
	json_t *out = json_array();

	kjson_foreach(p, list) {
		const char *code = kjson_str(p, "code");
		bool skip = !*code || same_code(p, parent) || same_code(p, best) ||
		    !strcmp(code, campaign.reference);
		json_t *shown;

		for (size_t k = 0; k < kjson_at(p) && !skip; k++)
			skip = same_code(p, json_array_get(list, k));
		if (skip)
			continue;
		shown = program_facts(p);
		kjson_put(shown, "number", (json_int_t)json_array_size(out) + 1);
		json_array_append_new(out, shown);
	}
	return out;
}

static int
level_at(const json_t *coords, size_t d)
{
	json_int_t level = json_integer_value(json_array_get(coords, d));

	return level < 0 ? 0 : level > 3 ? 3 : (int)level;
}

/* The filled-in instruction for one dimension and level, or NULL. The caller frees. */
static char *
instruction(size_t d, int level)
{
	const char *form = level
	    ? kjson_item(json_object_get(campaign.instructions, karch_dims[d]), (size_t)level - 1)
	    : NULL;
	auto_free char *filled = NULL;

	if (!form || !*form)
		return NULL;
	filled = files_fill(form, "prompts/instructions", campaign.stable);
	return kfence_line(filled, SIZE_MAX);
}

/*
 * "target": [{"dimension","level","simpler","text"}] for every dimension that should change and for
 * which there is advice; "kept": the names of the other dimensions above level 0; "refine": none
 * should change. "has_target": there is a target.
 */
static void
put_target(void)
{
	const json_t *target = json_object_get(sample, "target"),
	             *coords = kjson_path(sample, "parent.coords");
	/* Random targets distract a repair. */
	bool wanted = target && start_named(kjson_str(sample, "status")) != START_ERROR,
	     refine = wanted;
	json_t *change = json_array();
	struct kbuf kept = { 0 };

	for (size_t d = 0; wanted && d < KARCH_DIMS; d++) {
		int level = level_at(target, d), now = level_at(coords, d);
		auto_free char *text = level != now ? instruction(d, level) : NULL;

		refine &= level == now;
		if (text && *text)
			kjson_append(change, "{s:s,s:i,s:b,s:s}", "dimension", dimension_name(d),
			    "level", level, "simpler", level < now, "text", text);
		else if (level && level == now)
			kbuf_join(&kept, ", ", dimension_name(d));
	}
	kjson_extend(facts, "{s:b,s:b,s:o,s:o}", "has_target",
	    refine || json_array_size(change) > 0, "refine", refine, "target", change, "kept",
	    buf_string(&kept));
}

/* "raise compute, lower memory" from a direction; empty for a zero vector. */
static void
direction_text(struct kbuf *b, const json_t *direction)
{
	kbuf_add(b, "", 0);
	for (size_t d = 0; d < KARCH_DIMS; d++) {
		json_int_t v = json_integer_value(json_array_get(direction, d));

		if (v)
			kbuf_join(
			    b, ", ", kshown("%s %s", v > 0 ? "raise" : "lower", dimension_name(d)));
	}
}

static json_t *
hint_facts(void)
{
	json_t *out = json_array();

	kjson_foreach(h, sample, "hints") {
		auto_buf struct kbuf b = { 0 };

		direction_text(&b, json_object_get(h, "direction"));
		/* Samples of earlier versions do not contain what was measured. */
		if (b.len && json_object_get(h, "gain"))
			kjson_append(out, "{s:s,s:I,s:I,s:o}", "text", b.data, "faster",
			    (json_int_t)kjson_int(h, "successes"), "samples",
			    (json_int_t)kjson_int(h, "samples"), "percent",
			    json_sprintf("%.2g", 100 * kjson_num(h, "gain")));
	}
	return out;
}

/* One data block with the compile errors of other candidates; empty if there are none. */
static json_t *
error_facts(void)
{
	size_t shown = 0;
	const char *parent = kjson_str(sample, "parent.id");
	auto_buf struct kbuf b = { 0 };

	kjson_foreach(e, sample, "errors") {
		const char *text = kjson_str(e, "text");
		auto_free char *id = kfence_line(kjson_str_or(e, "id", "?"), MAX_ID),
		               *clean = kfence_clean(text, strlen(text));

		if (shown == KARCH_ERRORS || !*text || kjson_is(e, "id", parent))
			continue;
		clean[kfence_chars(clean, KARCH_ERROR_CHARS)] = '\0';
		kbuf_printf(&b, "%s[%s]\n%s\n", shown++ ? "\n" : "", id, clean);
	}
	return data_text(b.data, "errors of other candidates");
}

/* Draws prompt.tips of the applicable tips, without replacement, from the record's own stream. */
static json_t *
tip_facts(void)
{
	size_t wanted = (size_t)kcamp_int("prompt.tips");
	auto_free size_t *order = kcalloc(campaign.tips.count, sizeof *order);
	json_t *out = json_array();
	struct krng rng;

	krng_init(&rng, strtoull(kshown("%.16s", ksha256_of(salt)), NULL, 16),
	    kjson_int(rec->json, "trial"), kjson_int(rec->json, "branch"), "tips");
	for (size_t i = 0; i < campaign.tips.count; i++)
		order[i] = i;
	for (size_t i = 0; i < wanted && i < campaign.tips.count; i++) {
		size_t k = i + krng_below(&rng, campaign.tips.count - i), chosen = order[k];

		order[k] = order[i];
		kjson_add(out, campaign.tips.item[chosen]);
	}
	return out;
}

/* Dies unless the sample has what every prompt needs. */
static void
check_sample(void)
{
	const char *status = krec_str(rec, "sample.status");

	krec_str(rec, "sample.seed");
	krec_str(rec, "sample.parent.id");
	krec_str(rec, "sample.parent.code");
	if (start_named(status) == START_COUNT)
		kdie_usage("%s:%ld: sample.status '%s' must be initial, error or correct",
		    rec->file, rec->lineno, status);
}

void
record_facts(void)
{
	const json_t *parent = json_object_get(sample, "parent"), *best = best_shown(),
	             *last = json_object_get(sample, "last");
	const char *status = kjson_str(sample, "status");
	enum start start = start_named(status);

	check_sample();
	salt = kjson_str(sample, "seed");
	kjson_extend(facts, "{s:s,s:b,s:{s:b},s:o,s:b,s:b,s:o*,s:o,s:o*,s:o,s:o*,s:o}", "status",
	    status, status, 1, "strategy", kjson_str_or(sample, "strategy", "mutate"), 1, "parent",
	    program_facts(parent), "edits",
	    kextract_takes_edits(
	        kjson_maybe(parent, "code"), json_object_get(parent, "files") != NULL),
	    "parent_is_best", kjson_is(sample, "incumbent", kjson_str_or(parent, "id", "?")),
	    "best", best ? program_facts(best) : NULL, "inspirations", inspirations(), "hints",
	    start != START_ERROR ? hint_facts() : NULL, "errors", error_facts(), "tips",
	    start == START_CORRECT ? tip_facts() : NULL, "application",
	    data_filled("application", "failures in the application"));
	profile_facts(parent);
	lead_facts(program_profile(parent));
	put_target();
	memory_facts();
	linear_facts(last ? program_facts(last) : NULL);
}
