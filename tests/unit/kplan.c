/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kplan: where a plan must stand, what it must hold, and what the history of a campaign rules out.
 */
#include <stdlib.h>

#include "kplan.h"
#include "kutil.h"
#include "tap.h"

#define GOOD \
	"{\"hypothesis\":\"rows should get faster because of x\",\"change\":\"tile by " \
	"8\",\"category\":\"tiling\",\"bucket\":\"K1\"}"
#define CODE "```c\nint f(void) { return 1; }\n```\n"

static void
refuses(const char *text, const char *want)
{
	struct kplan p;

	kplan_read(text, strlen(text), &p);
	tap_check(!p.json && p.fault && strstr(p.fault, want), want, __FILE__, __LINE__);
	if (p.fault && !strstr(p.fault, want))
		fprintf(stderr, "# got: %s\n", p.fault);
	kplan_free(&p);
}

static void
accepts(const char *text)
{
	struct kplan p;

	kplan_read(text, strlen(text), &p);
	tap_check(p.json && !p.fault && p.end && !strncmp(text + p.end, "\n```c", 4), "accepted",
	    __FILE__, __LINE__);
	if (p.fault)
		fprintf(stderr, "# got: %s\n", p.fault);
	kplan_free(&p);
}

/* A plan block with MEMBERS in place of the good ones. */
#define PLAN(members) "```plan\n" members "\n```\n\n" CODE

static void
test_place(void)
{
	accepts(PLAN(GOOD));
	accepts("words\n\n  ```plan\n" GOOD "\n  ```\n\n" CODE);
	accepts("~~~~ plan \r\n" GOOD "\r\n~~~~\n\n" CODE);
	refuses(CODE, "there is no plan");
	refuses("", "there is no plan");
	refuses("```json\n" GOOD "\n```\n" CODE, "there is no plan");
	refuses(CODE "```plan\n" GOOD "\n```\n", "must come before the code");
	refuses("```plan\n" GOOD "\n```\n```plan\n" GOOD "\n```\n" CODE, "more than one plan");
	refuses("```plan\n" GOOD "\n", "not closed");
}

static void
test_members(void)
{
	refuses(PLAN("{"), "not JSON: line 2");
	refuses(PLAN("[1]"), "the plan: must be an object");
	refuses(PLAN("{\"hypothesis\":\"a\",\"hypothesis\":\"b\"}"), "not JSON");
	refuses(PLAN("{\"change\":\"a\",\"category\":\"b\",\"bucket\":\"K1\"}"),
	    "hypothesis: is missing");
	refuses(PLAN("{\"hypothesis\":\" "
	             "\\n\",\"change\":\"a\",\"category\":\"b\",\"bucket\":\"K1\"}"),
	    "hypothesis: must have 1 to 4000 characters");
	refuses(PLAN("{\"hypothesis\":7,\"change\":\"a\",\"category\":\"b\",\"bucket\":\"K1\"}"),
	    "hypothesis: must be a string");
	refuses(PLAN("{\"hypothesis\":\"h\",\"category\":\"b\",\"bucket\":\"K1\"}"),
	    "change: is missing");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\"}"),
	    "bucket: is missing");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":"
	             "\"K5\"}"),
	    "bucket: must be one of K1|K2|K3|K4|W1");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":"
	             "\"W2\"}"),
	    "bucket W2 is forbidden");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":"
	             "\"W3\"}"),
	    "bucket W3 is forbidden");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":\"K1\","
	             "\"expected_gain_pct\":\"much\"}"),
	    "expected_gain_pct: must be a number");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":\"K1\","
	             "\"directions\":[1]}"),
	    "directions[0]: must be a string");
	refuses("```plan\n{\"hypothesis\":\"\xff\"}\n```\n" CODE, "not JSON");
	accepts(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":\"W1\","
	             "\"quant_us\":30,\"step_us\":1500}"));
}

#define WITH(members) \
	PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"b\",\"bucket\":" \
	     "\"K1\"," members "}")

static void
test_forms(void)
{
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"tiling, "
	             "unrolling\",\"bucket\":\"K1\"}"),
	    "names several kinds");
	refuses(PLAN("{\"hypothesis\":\"h\",\"change\":\"a\",\"category\":\"tiling and "
	             "unrolling\",\"bucket\":\"K1\"}"),
	    "names several kinds");
	refuses(WITH("\"evidence\":\"it is slow\""), "three parts, metric -> inference -> action");
	refuses(WITH("\"evidence\":\"9.7 sectors -> -> widen\""), "three parts");
	refuses(WITH("\"evidence\":\"9.7 sectors -> widen ->\""), "three parts");
	accepts(WITH("\"evidence\":\"9.7 sectors -> narrow; sm_pct 12 % \u2192 it waits; action => "
	             "widen\""));
	accepts(WITH("\"evidence\":\"9.7 sectors -> scattered -> widen\""));
	refuses(WITH("\"risks\":\"it may not reach about 3 TB/s\""),
	    "hedges a figure, 'not reach about 3 TB/s'");
	refuses(WITH("\"search\":{}"), "search: must be a list");
	refuses(WITH("\"search\":[{\"layer\":\"L4\",\"source\":\"s\",\"finding\":\"f\"}]"),
	    "search[0].layer: must be one of L1|L2|L3");
	refuses(WITH("\"search\":[{\"layer\":\"L1\",\"source\":\"s\"}]"),
	    "search[0].finding: is missing");
	refuses(WITH("\"search\":[{\"layer\":\"L2\",\"source\":\"s\",\"finding\":\"f\"}]"),
	    "no earlier row names L1");
	refuses(WITH("\"search\":[{\"layer\":\"L1\",\"source\":\"s\",\"finding\":\"f\"},{\"layer\":"
	             "\"L3\",\"source\":\"s\",\"finding\":\"f\"}]"),
	    "no earlier row names L2");
	refuses(WITH("\"search\":[{\"layer\":\"L1\",\"source\":\"s\",\"finding\":\"f\",\"new\":1}"
	             "]"),
	    "search[0].new: must be true or false");
	accepts(WITH("\"search\":[{\"layer\":\"L1\",\"source\":\"s\",\"finding\":\"f\"},{\"layer\":"
	             "\"L2\",\"source\":\"s\",\"finding\":\"f\",\"new\":true}]"));
}

/* Whatever arrow the evidence is written with, its first part is the metric. */
static void
test_metric(void)
{
	static const char *const arrows[] = { "->", "=>", "\u2192", "\u21d2", "\u27f6" };

	for (size_t i = 0; i < LEN(arrows); i++) {
		char *evidence =
		    kasprintf("sectors 9.7 %s scattered %s widen", arrows[i], arrows[i]);
		json_t *plan = json_pack("{s:s}", "evidence", evidence);
		char *metric = kplan_metric(plan);

		tap_check(metric && !strcmp(metric, "sectors 9.7 "), arrows[i], __FILE__, __LINE__);
		free(metric);
		json_decref(plan);
		free(evidence);
	}
}

static void
novelty(const char *search, long streak, const char *want)
{
	json_t *p = json_loads(search, 0, NULL),
	       *past = json_loads(
	           "[{\"round\":4,\"source\":\"Gemm.md\",\"finding\":\"use tiles\"}]", 0, NULL);
	char *fault = kplan_novelty_fault(p, past, streak);

	tap_check(
	    want ? fault && strstr(fault, want) : !fault, want ? want : search, __FILE__, __LINE__);
	free(fault);
	json_decref(p);
	json_decref(past);
}

static void
test_novelty(void)
{
	novelty("{}", 2, NULL);
	novelty("{}", 3, "needs a \"search\" with a row that is new");
	novelty("{\"search\":[{\"source\":\"gemm.md\",\"finding\":\"Use tiles!\"}]}", 3,
	    "needs a \"search\"");
	novelty("{\"search\":[{\"source\":\"gemm.md\",\"finding\":\"Use tiles!\",\"new\":true}]}",
	    0, "but the plan of round 4 already had it");
	novelty("{\"search\":[{\"source\":\"gemm.md\",\"finding\":\"use swizzles\",\"new\":true}]}",
	    3, NULL);
}

static void
history(const char *plan, const char *ineffective, bool review, const char *want)
{
	json_t *p = json_loads(plan, 0, NULL), *i = json_loads(ineffective, 0, NULL);
	char *fault = kplan_history_fault(p, i, review);

	tap_check(
	    want ? fault && strstr(fault, want) : !fault, want ? want : plan, __FILE__, __LINE__);
	if (fault && (!want || !strstr(fault, want)))
		fprintf(stderr, "# got: %s\n", fault);
	free(fault);
	json_decref(p);
	json_decref(i);
}

static void
test_history(void)
{
	static const char past[] = "[{\"round\":3,\"category\":\"Tiling\",\"change\":\"Tile  by "
	                           "8.\"}]";
	char *normal = kplan_normal("  Tile -- by_8!\n");

	CHECK_STR(normal, "tile by 8");
	free(normal);
	history(GOOD, "[]", false, NULL);
	history(GOOD, past, false, "rolled back in round 3");
	history("{\"change\":\"tile by 8\",\"category\":\"other\"}", past, false, NULL);
	history("{\"change\":\"tile by 16\",\"category\":\"tiling\"}", past, false, NULL);
	history("{\"change\":\"z\",\"category\":\"c\"}", "[]", true,
	    "at least 3 fundamentally different \"directions\", but this one has 0");
	history("{\"change\":\"z\",\"category\":\"c\",\"directions\":[\"a\",\"b\",\" A. \",\"\"]}",
	    "[]", true, "this one has 2");
	history("{\"change\":\"z\",\"category\":\"c\",\"directions\":[\"a\",\"b\",\"tile by 8\"]}",
	    past, true, "direction 3, \"tile by 8\", was rolled back in round 3");
	history("{\"change\":\"z\",\"category\":\"c\",\"directions\":[\"a\",\"b\",\"d\"]}", past,
	    true, NULL);
}

int
main(void)
{
	kutil_init("test");
	test_place();
	test_members();
	test_forms();
	test_metric();
	test_novelty();
	test_history();
	return tap_done();
}
