/* SPDX-License-Identifier: Apache-2.0 */
/* kplan: see kplan.h. */
#include "kplan.h"

#include "kclaim.h"
#include "kform.h"
#include "kregex.h"

enum { DIRECTIONS_MIN = 3 };

static const char place[] = "give it first, in a fenced block with the info string plan, "
                            "as one JSON object with hypothesis, "
                            "change, category and bucket";

static const struct kform form =
#include "plan.h"
    ;

/* A fenced block: its info string, its content, and the closing line, which may be missing. */
enum { BLOCK, INFO = 3, CONTENT, CLOSED, BLOCK_PARTS };
static const char fenced[] = "(?m)^ {0,3}((`|~)\\2{2,}+)[ \\t]*+([^\n]*?)[ \\t\r]*+$\n?"
                             "((?:(?! {0,3}\\1\\2*+[ \\t\r]*+$).*+\n)*+)(?: {0,3}\\1\\2*+[ "
                             "\\t\r]*+(\n|\\z)|.*+\\z)";

/* What never transfers to real use. */
static char *
bucket_fault(const json_t *plan)
{
	const char *bucket = kjson_str(plan, "bucket");

	return kis_one_of("W2 W3", bucket) ? kasprintf("bucket %s is forbidden: a cache keyed on "
	                                               "inputs, or results kept between "
	                                               "calls, does not count as a gain",
	                                         bucket)
	                                   : NULL;
}

static char *
form_fault(const json_t *plan)
{
	struct kfaults faults = { 0 };
	auto_free char *lines = NULL;

	kform_check(&form, plan, "", &faults);
	lines = faults.text.data;
	return lines ? kasprintf("the plan: %.*s", (int)strcspn(lines, "\n"), lines) : NULL;
}

/* One kind of change per round: a category that lists several is a plan for several. */
static char *
category_fault(const json_t *plan)
{
	const char *category = kjson_str(plan, "category");

	if (!kregex_is("[,;/+&\n]| and | then ", category))
		return NULL;
	return kasprintf("the plan's \"category\" names several kinds, '%.64s'; a round makes one "
	                 "change of one kind",
	    category);
}

/* An arrow as people write it; and a part between two arrows that has words. */
#define ARROW "(?:[-=]>|\u2192|\u21d2|\u27f6)"
#define PART "\\s*+(?!" ARROW ")\\S(?:(?!" ARROW ").)*+"

static char *
evidence_fault(const json_t *plan)
{
	const char *evidence = kjson_maybe(plan, "evidence");

	/* Several observations may lead to one action. */
	if (evidence && !kregex_is("(?s)\\A(?:" PART ARROW "){2,}+" PART "\\z", evidence))
		return kstrdup("the plan's \"evidence\" must have three parts, "
		               "metric -> inference -> action");
	return NULL;
}

/* A figure of a device is either known, with its source, or unknown. */
static char *
hedge_fault(const json_t *plan)
{
	for (const struct kform *member = form.members; member->name; member++) {
		auto_free char *hedged = kclaim_hedged(kjson_str(plan, member->name));

		if (hedged)
			return kasprintf("the plan's \"%s\" hedges a figure, '%.80s'; give the "
			                 "figure from the prompt, or leave it out",
			    member->name, hedged);
	}
	return NULL;
}

/* Layers are searched in order: a row needs an earlier one of the layer before its own. */
static char *
search_fault(const json_t *plan)
{
	char highest = '0';

	kjson_foreach(row, plan, "search") {
		char layer = kjson_str(row, "layer")[1];

		if (layer > highest + 1)
			return kasprintf("row %zu of the plan's \"search\" names the layer L%c, "
			                 "but no earlier row names L%c; look there first",
			    kjson_at(row) + 1, layer, layer - 1);
		highest = layer > highest ? layer : highest;
	}
	return NULL;
}

static char *
plan_fault(const json_t *plan)
{
	static char *(*const checks[])(const json_t *plan) = { bucket_fault, form_fault,
		category_fault, evidence_fault, hedge_fault, search_fault };
	char *fault = NULL;

	for (size_t i = 0; i < LEN(checks) && !fault; i++)
		fault = checks[i](plan);
	return fault;
}

static void
read_object(const char *text, const struct kregex_span *b, struct kplan *p)
{
	json_error_t e;

	p->end = b[BLOCK].to;
	if (b[CLOSED].from == KREGEX_UNSET) {
		p->fault = kstrdup("the plan block is not closed");
		return;
	}
	p->json = json_loadb(
	    text + b[CONTENT].from, b[CONTENT].to - b[CONTENT].from, JSON_REJECT_DUPLICATES, &e);
	p->fault = p->json ? plan_fault(p->json)
	                   : kasprintf("the plan is not JSON: line %d: %.120s", e.line, e.text);
}

/* What is wrong with the places of plans, before any is read. */
static char *
place_fault(size_t plans, bool late)
{
	if (!plans)
		return kasprintf("there is no plan: %s", place);
	if (late)
		return kasprintf("the plan comes after other blocks, "
		                 "but it must come before the code: %s",
		    place);
	return plans < 2 ? NULL
	                 : kstrdup("there is more than one plan: "
	                           "a round is one hypothesis and one change");
}

void
kplan_read(const char *text, size_t len, struct kplan *p)
{
	struct kregex_span b[BLOCK_PARTS];
	size_t blocks = 0, plans = 0;
	bool late = false;
	char *fault;

	*p = (struct kplan){ 0 };
	for (size_t at = 0; kregex_find(fenced, text + at, len - at, b, LEN(b)); blocks++) {
		const char *info = text + at + b[INFO].from;

		if (b[INFO].to - b[INFO].from == 4 && !strncasecmp(info, "plan", 4)) {
			late |= blocks && !plans;
			if (!plans++ && !late) {
				read_object(text + at, b, p);
				p->end += at;
			}
		}
		at += b[BLOCK].to;
	}
	fault = place_fault(plans, late);
	if (fault) {
		free(p->fault);
		p->fault = fault;
	}
	if (p->fault) {
		json_decref(p->json);
		p->json = NULL;
	}
}

void
kplan_free(struct kplan *p)
{
	json_decref(p->json);
	free(p->fault);
	*p = (struct kplan){ 0 };
}

char *
kplan_normal(const char *text)
{
	return kwords(text, ' ', true);
}

static bool
says_the_same(const char *a, const char *b)
{
	auto_free char *x = kplan_normal(a), *y = kplan_normal(b);

	return *x && !strcmp(x, y);
}

/* The round of the first row of LIST whose members A and B say the same as those of ROW; or 0. */
static long
said_in(const json_t *list, const json_t *row, const char *a, const char *b)
{
	kjson_foreach(one, list)
		if (says_the_same(kjson_str(one, a), kjson_str(row, a)) &&
		    says_the_same(kjson_str(one, b), kjson_str(row, b)))
			return kjson_int(one, "round");
	return 0;
}

/* The round whose direction TEXT repeats, or 0. */
static long
tried_in_vain(const json_t *ineffective, const char *text)
{
	json_auto_t *wanted = json_pack("{s:s}", "change", text);

	return said_in(ineffective, wanted, "change", "change");
}

static char *
review_fault(const json_t *plan, const json_t *ineffective)
{
	const json_t *list = json_object_get(plan, "directions");
	size_t distinct = 0, count = json_array_size(list);

	for (size_t i = 0; i < count; i++) {
		const char *text = kjson_item(list, i);
		long round = tried_in_vain(ineffective, text);
		bool again = !text[strspn(text, " \t\r\n")];

		if (round)
			return kasprintf("direction %zu, \"%.80s\", was rolled back in round %ld",
			    i + 1, text, round);
		for (size_t k = 0; k < i && !again; k++)
			again = says_the_same(kjson_item(list, k), text);
		distinct += !again;
	}
	if (distinct < DIRECTIONS_MIN)
		return kasprintf("a review needs at least %d fundamentally different "
		                 "\"directions\", but this one has %zu",
		    DIRECTIONS_MIN, distinct);
	return NULL;
}

char *
kplan_history_fault(const json_t *plan, const json_t *ineffective, bool review)
{
	long round = said_in(ineffective, plan, "change", "category");

	if (round)
		return kasprintf(
		    "this change was rolled back in round %ld; propose another one", round);
	return review ? review_fault(plan, ineffective) : NULL;
}

char *
kplan_repeat_fault(const json_t *plan, const json_t *accepted)
{
	long round = said_in(accepted, plan, "change", "category");

	return round ? kasprintf("this change was kept in round %ld and is already in the program; "
	                         "propose another one",
	                   round)
	             : NULL;
}

char *
kplan_novelty_fault(const json_t *plan, const json_t *searched, long streak)
{
	size_t fresh = 0;

	kjson_foreach(row, plan, "search") {
		long round = said_in(searched, row, "source", "finding");

		if (!kjson_bool(row, "new"))
			continue;
		if (round)
			return kasprintf("row %zu of the plan's \"search\" is marked as new, but "
			                 "the plan of round %ld already had it",
			    kjson_at(row) + 1, round);
		fresh++;
	}
	if (streak >= KPLAN_STALL && !fresh)
		return kasprintf("%ld rounds in a row were rolled back, so the plan needs a "
		                 "\"search\" with a row that is new: "
		                 "{\"layer\": \"L1\", \"source\", \"finding\", \"new\": true}",
		    streak);
	return NULL;
}

char *
kplan_metric(const json_t *plan)
{
	return kregex_part("(?s)\\A(.*?)" ARROW, kjson_str(plan, "evidence"));
}
