/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kpattern: arithmetic to the last bit, the order of a trace, machine code against
 * the interpreter.
 */

#include <math.h>
#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

#include "../../tools/kclassify/kpattern.c"

#define CATEGORY(name, weight, patterns) \
	"{\"name\":\"" name "\",\"weight\":" weight ",\"patterns\":[" patterns "]}"

static const char table_text[] =
    "{\"schema\":\"patterns/1\",\"dims\":{\"memory\":{"
    "\"1\":[" CATEGORY("a", "0.7", "\"a1\"") "," CATEGORY("b", "0.4", "\"b1\",\"c1\"") "," CATEGORY(
        "d", "1.0", "\"d1\"") "," CATEGORY("e", "1.0",
        "\"e1\"") "],"
                  "\"3\":[" CATEGORY("f", "0.9", "\"^f3$\"") "," CATEGORY(
                      "g", "0.2", "\"g3\"") "," CATEGORY("h", "1.0", "\"h3\"") "," CATEGORY("i",
                      "1.0", "\"i3\"") "," CATEGORY("j", "1.0",
                      "\"j3\"") "]},"
                                "\"compute\":{\"2\":[" CATEGORY("k", "0.9",
                                    "\"k2\"") "]},"
                                              "\"esimd\":{\"2\":[" CATEGORY(
                                                  "l", "0.18", "\"l2\"") "," CATEGORY("m", "0.82",
                                                  "\"m2\"") "]}},"
                                                            "\"gates\":[{\"name\":\"x\","
                                                            "\"dimension\":\"memory\",\"level\":3,"
                                                            "\"when\":[\"when\"],\"require\":["
                                                            "\"unless\"]}]}";

static struct kpattern_table *
load(void)
{
	char path[] = "/tmp/kpattern.XXXXXX";
	struct kpattern_table *t;

	close(mkstemp(path));
	CHECK(!kwrite_file(path, table_text, sizeof table_text - 1));
	t = kpattern_load(path);
	unlink(path);
	return t;
}

static struct kpattern_result
classify(struct kpattern_table *t, const char *src, int flags)
{
	struct kpattern_result r;

	kpattern_classify(t, src, strlen(src), flags, &r, NULL);
	return r;
}

static void
test_arithmetic(struct kpattern_table *t)
{
	struct kpattern_result r = classify(t, "A1", 0);

	CHECK(r.coords[0] == 1 && r.confidence[0] == 0.7 / (0.7 + 0.4 + 1.0 + 1.0));
	r = classify(t, "b1 c1", 0);
	CHECK(r.coords[0] == 0 && r.confidence[0] == 1 - 0.4 / (0.7 + 0.4 + 1.0 + 1.0));
	r = classify(t, "d1", 0);
	CHECK(r.coords[0] == 1 && r.confidence[0] == 1.0 / (0.7 + 0.4 + 1.0 + 1.0));
	r = classify(t, "x\nf3\ny", 0);
	CHECK(r.coords[0] == 3 && r.confidence[0] == 0.25);
	r = classify(t, "f3 g3", 0);
	CHECK(r.coords[0] == 0);
	r = classify(t, "f3\ng3", 0);
	CHECK(r.coords[0] == 3 && r.confidence[0] == (0.9 + 0.2) / (0.9 + 0.2 + 1.0 + 1.0 + 1.0));
	r = classify(t, "k2", 0);
	CHECK(r.coords[1] == 2 && r.confidence[1] == 1);
	r = classify(t, "l2", 0);
	CHECK(r.coords[3] == 2 && r.confidence[3] == 0.18 / (0.18 + 0.82));
	r = classify(t, "", 0);
	CHECK(!r.coords[0] && !r.coords[1] && !r.coords[2] && !r.coords[3] && r.confidence[2] == 1);
}

static void
test_switches(struct kpattern_table *t)
{
	struct kpattern_result r = classify(t, "h3", KPATTERN_REQUIRE_LOWER);

	CHECK(r.coords[0] == 0 && r.confidence[0] == 1 - 0.25);
	CHECK(classify(t, "h3 b1", KPATTERN_REQUIRE_LOWER).coords[0] == 3);
	CHECK(classify(t, "h3 when", KPATTERN_GATES).coords[0] == 0);
	CHECK(classify(t, "h3 d1 when", KPATTERN_GATES).coords[0] == 1);
	CHECK(classify(t, "h3 when unless", KPATTERN_GATES).coords[0] == 3);
	CHECK(classify(t, "h3 when", 0).coords[0] == 3);
	CHECK(classify(t, "h3 when // unless", KPATTERN_GATES | KPATTERN_STRIP).coords[0] == 0);
	r = classify(t, "h3 when b1", KPATTERN_GATES);
	CHECK(r.coords[0] == 0 && r.confidence[0] == 1 - 0.4 / (0.7 + 0.4 + 1.0 + 1.0));
}

static void
test_trace(struct kpattern_table *t)
{
	struct kbuf seen = { 0 };
	static const char src[] = "d1 h3 when";
	struct kpattern_result r;

	kpattern_classify(t, src, strlen(src), KPATTERN_GATES, &r, &seen);
	CHECK_STR(seen.data,
	    "  memory 3: score 0.2500, threshold 0.21, reached\n"
	    "    h 1, line 1: h3\n      by h3\n"
	    "  memory 2: score 0.0000, threshold 0.18\n"
	    "  memory 1: score 0.3226, threshold 0.15, reached\n"
	    "    d 1, line 1: d1\n      by d1\n"
	    "  memory: gate x limits it to 1 instead of 3\n"
	    "  compute 3: score 0.0000, threshold 0.21\n"
	    "  compute 2: score 0.0000, threshold 0.18\n"
	    "  compute 1: score 0.0000, threshold 0.15\n"
	    "  parallelism 3: score 0.0000, threshold 0.21\n"
	    "  parallelism 2: score 0.0000, threshold 0.18\n"
	    "  parallelism 1: score 0.0000, threshold 0.15\n"
	    "  esimd 3: score 0.0000, threshold 0.21\n"
	    "  esimd 2: score 0.0000, threshold 0.18\n"
	    "  esimd 1: score 0.0000, threshold 0.15\n");
	kbuf_free(&seen);
}

/*
 * A text long enough to be searched by machine code gives what the interpreter gave, NUL bytes
 * included.
 */
static void
test_engines(void)
{
	enum { LONG = 20000 };
	struct kpattern_table *t = load();
	char *src = kmalloc(LONG);
	struct kpattern_result r, again;

	memset(src, 0, LONG);
	memcpy(src + LONG - 12, "\nf3\ng3 c1 k2", 12);
	kpattern_classify(t, src + LONG - 1000, 1000, 0, &r, NULL);
	kpattern_classify(t, src, LONG, 0, &again, NULL);
	CHECK(!memcmp(r.coords, again.coords, sizeof r.coords));
	CHECK(!memcmp(r.confidence, again.confidence, sizeof r.confidence));
	CHECK(r.coords[0] == 3 && r.coords[1] == 2);
	free(src);
	kpattern_free(t);
}

int
main(void)
{
	struct kpattern_table *t = load();

	kutil_init("kpattern");
	test_arithmetic(t);
	test_switches(t);
	test_trace(t);
	test_engines();
	kpattern_free(t);
	CHECK_EXIT(K_USAGE, kpattern_load("/nonexistent.json"));
	return tap_done();
}
