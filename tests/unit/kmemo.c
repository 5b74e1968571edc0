/* SPDX-License-Identifier: Apache-2.0 */
/* kmemo: names of versions, masks as of a trial, sections of a compaction. */
#include "kmemo.h"

#include <stdlib.h>

#include "kio.h"
#include "tap.h"

static void
test_names(void)
{
	static const char *const bad[] = { "", "v", "7", "V7", "v07", "v-1", "v1.json", "v1 ",
		"vv1", "v1x", "v1234567" };
	long n = -1;

	CHECK(kmemo_version("v0", &n) && n == 0);
	CHECK(kmemo_version("v123456", &n) && n == 123456);
	for (size_t i = 0; i < LEN(bad); i++)
		tap_check(!kmemo_version(bad[i], &n), bad[i], __FILE__, __LINE__);
}

/* Versions that events mask and unmask; each holds from its trial on. */
static void
test_masks(void)
{
	kmemo_masks = (struct kmemo_masks){ .events = json_pack("[{s:i,s:b,s:[s,s]},{s:i,s:b,s:[s]}"
		                                                "]",
		                                "trial", 3, "masked", 1, "versions", "v1", "v2",
		                                "trial", 6, "masked", 0, "versions", "v2") };

	CHECK(!kmemo_masked(1, 2) && !kmemo_masked(2, 2));
	CHECK(kmemo_masked(1, 3) && kmemo_masked(2, 5));
	CHECK(kmemo_masked(1, KMEMO_ALL) && !kmemo_masked(2, 6));
	CHECK(!kmemo_masked(12, KMEMO_ALL));
	kmemo_masks_free();
	kmemo_masks_load();
	CHECK(json_array_size(kmemo_masks.events) == 0 && !*kmemo_masks.head);
	kmemo_masks_free();
}

static void
sections_are(const char *text, const char *want)
{
	json_t *s = json_object();
	const char *why = kmemo_sections(text, s);
	char *got = why ? kstrdup(why) : json_dumps(s, KIO_DUMP);

	tap_check(strstr(got, want) != NULL, want, __FILE__, __LINE__);
	free(got);
	json_decref(s);
}

static void
test_sections(void)
{
	char *text = kmalloc(8000);

	sections_are("## Resolved\n- a\n- b\n\n## Pending\n* c\n## Avoid\nd\n",
	    "{\"avoid\":[\"d\"],\"pending\":[\"c\"],\"resolved\":[\"a\",\"b\"]}");
	sections_are(
	    "\n**Resolved:**\nPENDING\nAvoid:\n", "{\"avoid\":[],\"pending\":[],\"resolved\":[]}");
	sections_are("## Resolved\n- Avoid spills: they cost\n## Pending\n## Avoid\n",
	    "Avoid spills: they cost");
	sections_are("Here it is:\n## Resolved\n## Pending\n## Avoid\n",
	    "must begin with the section Resolved");
	sections_are("## Resolved\n## Avoid\n## Pending\n", "in this order");
	sections_are("## Resolved\n## Resolved\n", "once each");
	sections_are("## Resolved\n## Pending\n", "a section is missing");
	sections_are("", "a section is missing");
	sections_are("## Resolved\n- \x1b[31mred\xe2\x80\xae\n## Pending\n## Avoid\n", "[\"red\"]");
	memset(text, 'x', 7999);
	text[7999] = '\0';
	sections_are(text, "longer than 6000 bytes");
	free(text);
}

int
main(void)
{
	test_names();
	test_masks();
	test_sections();
	return tap_done();
}
