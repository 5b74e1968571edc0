/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: after several rollbacks in a row, the last accepted program must be examined before the
 * next round begins: first a new profile, then its instructions, then a comparison with the best
 * known kernels. Anything that is not available here is named with the reason, so that a reader of
 * the record knows that it was tried.
 */

#include "keval.h"

/* Characters kept of a listing, number of kinds of instructions reported. */
enum { LIST_LIMIT_S = 60, LISTING_MAX = 16000, OPS_TOLD = 24 };

/* The commands with which each backend's program lists the instructions of a shared object. */
static const char *const listers[][8] = {
	{ "objdump", "-d", "-j", ".text", "--no-show-raw-insn", "/kiln/kernel.so", NULL },
	{ "cuobjdump", "-sass", "/kiln/kernel.so", NULL },
};

/* The head of a function in a listing of objdump or cuobjdump. */
static const char head[] = "\\A(?|[\\da-fA-F].*?(<.*>:.*)|.*?(Function :.*))";
/* Functions that every shared object has. */
static const char of_the_linker[] = "\\A<(?:(?:de)?register_tm_clones|__do_global_dtors_aux|"
                                    "frame_dummy|_init|_fini)>:\\z";
/*
 * An instruction of objdump (after "1139:" and a tab) or cuobjdump (after an address in a comment),
 * perhaps with a predicate, up to a comment.
 */
static const char instruction[] = "\\A\\s*((?:[^\\t]*:\\t|/\\*[\\da-fA-F].*?\\*/)[ \\t]*(?:@\\S* )?"
                                  "([A-Za-z][^ \\t;]*).*?)\\s*(?:/\\*|\\z)";

/* The text of a listing, and how often each instruction occurs in it. */
struct listing {
	struct kbuf text;
	json_t *counts;
};

/*
 * Keeps heads of functions, and instructions with the addresses of jumps, without code bytes. OWN:
 * the function is one of the program's.
 */
static void
take_line(struct listing *l, const char *line, bool *own)
{
	auto_free char *name = kregex_part(head, line), *kept = NULL, *op = NULL;

	if (name) {
		*own = !kregex_is(of_the_linker, name);
		if (*own)
			kbuf_printf(&l->text, "%s\n", name);
	} else if (*own && kregex_scan(instruction, line, &kept, &op)) {
		auto_free char *narrow = kregex_sub("[ \\t]+", kept, " ");

		json_object_set_new_nocheck(l->counts, op,
		    json_integer(1 + json_integer_value(json_object_get(l->counts, op))));
		kbuf_printf(&l->text, "%s\n", narrow);
	}
}

/* The most frequent instructions; new reference. */
static json_t *
mix_of(const json_t *counts)
{
	json_t *mix = json_array();

	kjson_foreach_member(op, count, counts)
		kjson_append(mix, "{s:o,s:O}", "op", kjson_string(op), "count", count);
	kjson_sort_by(mix, "-count", "op");
	while (json_array_size(mix) > OPS_TOLD)
		json_array_remove(mix, OPS_TOLD);
	return mix;
}

static json_t *
listing_json(const char *tool, char *output)
{
	struct listing l = { .counts = json_object() };
	json_t *out = NULL;
	bool own = false;

	kpart_foreach(line, output, "\n")
		take_line(&l, line, &own);
	if (l.text.len && json_object_size(l.counts)) {
		auto_free char *text = kfence_shorten(l.text.data, LISTING_MAX);

		out = json_pack("{s:s,s:o,s:o}", "tool", tool, "mix", mix_of(l.counts), "text",
		    kjson_string(text));
	}
	json_decref(l.counts);
	kbuf_free(&l.text);
	return out;
}

/* What the program compiled to; NULL with the reason. */
static json_t *
list_instructions(const char *so, char **why)
{
	const char *lister = kcamp_backend()->lister, *const *words = NULL;
	auto_free char *object = realpath(so, NULL), *output = NULL, *fault = NULL;
	char *work;
	struct words w = { .count = 0 };
	json_t *out = NULL;

	kforeach(row, listers)
		if (lister && !strcmp(*row[0], lister))
			words = *row;
	*why = !words || is_device_only() ? kstrdup("kiln has no program that lists instructions "
	                                            "for this backend")
	    : !ksandbox_finds(lister)     ? kasprintf("%s is not installed", lister)
	                                  : NULL;
	if (*why)
		return NULL;
	words_list(&w, words);
	work = ksandbox_work_new();
	output = object ? tool_run(work, (struct ksandbox_bind[]){ { object, "/kiln/kernel.so" } },
	                      1, &w, LIST_LIMIT_S, &fault)
	                : NULL;
	if (output)
		out = listing_json(lister, output);
	if (!out)
		*why = kstrdup(fault ?: "the listing is empty");
	ksandbox_work_free(work);
	return out;
}

/*
 * The fastest baseline for a workload in the reference's record: its name, or NULL when there is
 * none.
 */
static const char *
best_baseline(const json_t *reference, const char *workload, double *ns)
{
	const char *name = NULL;

	kjson_foreach(b, reference, "baselines") {
		const json_t *row = kgain_row(json_object_get(b, "timing"), workload);
		double t = row ? kgain_time_ns(row) : 0;

		if (t > 0 && (!name || t < *ns)) {
			*ns = t;
			name = kjson_str(b, "name");
		}
	}
	return name;
}

/*
 * Compares the program with the reference and the fastest known kernel, by recorded times; NULL
 * with the reason.
 */
static json_t *
compare_known(char **why)
{
	json_auto_t *reference = past_eval(KARCH_REFERENCE);
	json_t *rows = json_array();

	kjson_foreach(row, eval, "timing") {
		const char *workload = kjson_str(row, "workload");
		const json_t *base = kgain_row(json_object_get(reference, "timing"), workload);
		double ns = kgain_time_ns(row), best_ns = 0;
		const char *best = best_baseline(reference, workload, &best_ns);

		if (!base || !(ns > 0))
			continue;
		kjson_append(rows, "{s:s,s:f,s:f,s:s*,s:o*}", "workload", workload, "accepted_ns",
		    ns, "reference_ns", kgain_time_ns(base), "best", best, "best_ns",
		    best ? json_real(best_ns) : NULL);
	}
	if (json_array_size(rows))
		return rows;
	json_decref(rows);
	*why = kstrdup("nothing was timed");
	return NULL;
}

/* Sets KEY to VALUE or, if it is NULL, KEY_missing to the reason WHY, which is freed. */
static void
put(json_t *out, const char *key, json_t *value, char **why)
{
	kjson_set(out, value ? key : kshown("%s_missing", key),
	    value ?: kjson_string(*why ?: "the program does not build or run here"));
	free(*why);
	*why = NULL;
}

static json_t *
archive_linear(void)
{
	json_auto_t *header = archive_header("--evidence");
	json_t *linear = json_object_get(header, "linear");

	if (!linear)
		kdie_usage("%s: contains no chain of rounds: it does not belong to a linear search",
		    keval.archive);
	return json_incref(linear);
}

char *
evidence_subject(void)
{
	json_auto_t *linear = archive_linear();

	return kverdict_incumbent(linear);
}

json_t *
gather_evidence(long trial)
{
	json_auto_t *linear = archive_linear();
	json_t *out;
	auto_free char *id = kverdict_incumbent(linear);
	long streak = kjson_int(linear, "streak");
	struct subject s = { 0 };
	auto_free char *so = NULL;
	char *why = NULL;

	subject = &s;
	eval = past_eval(id);
	if (!eval)
		kdie_usage("%s/trials/%s/eval.ndjson: the last accepted program is missing",
		    kcamp.dir, id);
	if (!is_null() && subject_of_past(eval, &s))
		so = incumbent_so(eval);
	out = json_pack("{s:s,s:s,s:I,s:I,s:s,s:s,s:I,s:s}", "schema", "evidence/1", "campaign",
	    kcamp_str("name"), "trial", (json_int_t)trial, "round", (json_int_t)trial + 1, "id", id,
	    "code_sha256", kjson_str(eval, "code_sha256"), "streak", (json_int_t)streak,
	    "escalation", klinear_escalation(streak));
	if (streak >= KLINEAR_PROFILE)
		put(out, "profile",
		    so ? profile_anew(so, kshown("%03ld-evidence", trial), &why) : NULL, &why);
	if (streak >= KLINEAR_ISA)
		put(out, "isa", so ? list_instructions(so, &why) : NULL, &why);
	if (streak >= KLINEAR_SOTA)
		put(out, "sota", is_null() ? NULL : compare_known(&why), &why);
	return out;
}
