/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksample: the sample of a round of a linear search: the last accepted program, never a rolled-back one, and what the
 * rounds before have taught. See ksample.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfence.h"
#include "kio.h"
#include "klinear.h"
#include "ksample.h"
#include "kutil.h"

/* Characters kept of what a plan says, for rounds that are told again and again. */
enum { SAID_MAX = 300 };

static void
set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		kdie(K_IO, "out of memory");
}

/* The scored record of a trial; NULL when there is none. New reference. */
static json_t *
load_round(const struct search *s, long trial)
{
	char *path = kasprintf("%s/trials/%03ld/score.ndjson", s->camp->dir, trial);
	struct kin in;
	struct krec rec;
	json_t *json = NULL;

	if (!access(path, F_OK)) {
		kin_open(&in, path);
		if (kin_next(&in, &rec)) {
			json = json_incref(rec.json);
			krec_free(&rec);
		}
		kin_close(&in);
	}
	free(path);
	return json;
}

static void
add_said(json_t *to, const json_t *plan, const char *key)
{
	const char *text = kjson_str_or(plan, key, NULL);
	char *line = text ? kfence_line(text, SAID_MAX) : NULL;

	if (line)
		set(to, key, json_string(line));
	free(line);
}

/* One round as the next ones are told of it. */
static json_t *
round_json(const json_t *record, const char *const *said, size_t count)
{
	const json_t *decision = kjson_path(record, "score.decision"), *plan = kjson_path(record, "eval.plan");
	json_t *o = json_pack("{s:I,s:s,s:s}", "round", kjson_int_or(decision, "round", 0), "id",
	    kjson_str_or(record, "id", ""),
	    "code", kjson_str_or(decision, "code", ""));

	for (size_t i = 0; i < count; i++)
		add_said(o, plan, said[i]);
	return o;
}

/* The rounds so far, the last linear.history of them in full, and every direction that was refuted; none that is masked. */
static void
add_history(const struct search *s, json_t *sample)
{
	static const char *const all[] = { "hypothesis", "change", "category", "bucket" },
	    *const direction[] = { "change", "category" };
	long history = kcamp_int(s->camp, "linear.history");
	json_t *rounds = json_array(), *ineffective = json_array();

	for (long t = 1; t < s->trial; t++) {
		json_t *record = kmemo_masked(&s->masks, t, s->trial) ? NULL : load_round(s, t), *one;
		const json_t *decision = kjson_path(record, "score.decision");
		bool rolled_back = !strcmp(kjson_str_or(decision, "verdict", ""), "rolled_back");

		if (decision && t >= s->trial - history) {
			one = round_json(record, all, LEN(all));
			set(one, "verdict", json_string(kjson_str_or(decision, "verdict", "")));
			set(one, "line", json_string(kjson_str_or(decision, "line", "")));
			json_array_append_new(rounds, one);
		}
		if (rolled_back && klinear_refutes(kjson_str_or(decision, "code", "")) &&
		    kjson_path(record, "eval.plan"))
			json_array_append_new(ineffective, round_json(record, direction, LEN(direction)));
		json_decref(record);
	}
	set(sample, "rounds", rounds);
	set(sample, "ineffective", ineffective);
}

/* The program of the round before, when it failed before it could be measured: its change may still be right. */
static void
add_last(const struct search *s, json_t *sample)
{
	json_t *record = kmemo_masked(&s->masks, s->trial - 1, s->trial) ? NULL : load_round(s, s->trial - 1), *last;
	const char *status = kjson_str_or(record, "eval.status", "");

	if (s->trial > 1 && (karch_repairable(status) || !strcmp(status, "no_plan"))) {
		last = karch_program(s->camp->dir, kjson_str_or(record, "id", ""), true);
		set(last, "status", json_string(status));
		set(sample, "last", last);
	}
	json_decref(record);
}

static json_t *
accepted_program(const struct search *s, const char *id)
{
	const json_t *best = kjson_path(s->archive.header, "best");
	json_t *o = karch_program(s->camp->dir, id, true);

	set(o, "status", json_string("correct"));
	if (!best || strcmp(kjson_str_or(best, "id", ""), id))
		return o;
	set(o, "coords", karch_coords(karch_cell(kjson_str_or(best, "cell", "0000"))));
	set(o, "combined", json_real(kjson_num_or(best, "score", 0)));
	if (kjson_num_or(best, "speedup", 0) > 0)
		set(o, "speedup", json_real(kjson_num_or(best, "speedup", 0)));
	if (kjson_num_or(best, "runtime_ms", 0) > 0)
		set(o, "runtime_ms", json_real(kjson_num_or(best, "runtime_ms", 0)));
	return o;
}

json_t *
linear_json(const struct search *s)
{
	const json_t *linear = kjson_path(s->archive.header, "linear"), *errors = kjson_path(s->archive.header,
	    "errors");
	const char *accepted = kjson_str_or(linear, "accepted", KARCH_REFERENCE);
	long streak = (long)kjson_int_or(linear, "streak", 0);
	json_t *o = json_object();

	if (s->archive.header && !linear)
		kdie(K_USAGE, "the archive holds no chain of rounds: it was made with another search.mode");
	set(o, "seed", seed_json(s, 1));
	set(o, "pick", json_string("linear"));
	set(o, "strategy", json_string("linear"));
	set(o, "status", json_string(s->trial > 1 ? "correct" : "initial"));
	set(o, "island", json_integer(0));
	set(o, "inspirations", json_array());
	set(o, "hints", json_array());
	set(o, "errors", errors ? json_deep_copy(errors) : json_array());
	set(o, "incumbent", json_string(accepted));
	set(o, "round", json_integer(s->trial + 1));
	set(o, "streak", json_integer(streak));
	set(o, "escalation", json_string(klinear_escalation(streak)));
	set(o, "stagnation", json_boolean(streak >= KLINEAR_STAGNATION));
	add_history(s, o);
	add_last(s, o);
	set(o, "parent", accepted_program(s, accepted));
	return o;
}
