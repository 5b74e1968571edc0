/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kcamp: defaults, checks, and that a fault names the field and what would be right.
 */
#include "kcamp.h"

#include <stdlib.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

static char *
faults(const char *text, size_t *count)
{
	json_t *o = json_loads(text, 0, NULL);
	char *out;

	*count = kcamp_faults(o, &out);
	json_decref(o);
	return out;
}

static void
check_fault(const char *manifest, const char *want)
{
	size_t n;
	char *text = faults(manifest, &n);

	CHECK(n == 1 && strstr(text, want));
	if (!strstr(text, want))
		printf("# %s", text);
	free(text);
}

static void
test_faults(void)
{
	size_t n;
	char *text = faults("{\"name\":\"x\"}", &n);

	CHECK(n == 0);
	free(text);
	check_fault("{}", "name: is missing");
	check_fault("{\"name\":\"x\",\"sead\":1}", "sead: unknown field; did you mean seed?");
	check_fault("{\"name\":\"x\",\"search\":{\"exploid\":1}}", "did you mean search.exploit?");
	check_fault("{\"name\":\"x\",\"search\":{\"exploit\":1.5}}",
	    "search.exploit: must be a number from 0 to 1");
	check_fault("{\"name\":\"x\",\"search\":{\"branches\":2.5}}",
	    "must be a whole number from 1 to 99");
	check_fault("{\"name\":\"x\",\"search\":4}", "search: must be an object");
	check_fault("{\"name\":\"x\",\"backend\":\"cobol\"}", "must be one of c|cuda");
	check_fault("{\"name\":7}", "name: must be a string");
	check_fault("{\"name\":\"x\",\"gradient\":{\"enabled\":1}}", "must be true or false");
	check_fault(
	    "{\"name\":\"x\",\"gradient\":{\"decay\":0.9}}", "gradient.decay: unknown field");
	check_fault("{\"name\":\"x\",\"schema\":\"campaign/2\"}", "schema: must be campaign/1");
	check_fault("{\"name\":\"x\",\"eval\":{\"build\":1}}", "must be an object");
	text = faults("{\"name\":\"x\",\"seed\":-1,\"zzz\":1}", &n);
	CHECK(n == 2);
	free(text);
	text = faults("{\"name\":\"x\",\"model\":{\"provider\":\"exec:cat\",\"effort\":\"\"}}", &n);
	CHECK(n == 0);
	free(text);
	check_fault("{\"name\":\"x\",\"model\":{\"provider\":\"execute\"}}",
	    "model.provider: must be one of");
	check_fault("{\"name\":\"x\",\"model\":{\"provider\":\"exec:\"}}",
	    "model.provider: must be one of");
}

static void
test_values(void)
{
	char dir[] = "/tmp/kcamp-test.XXXXXX", *path;
	const char *text = "{\"name\":\"x\",\"seed\":7,\"eval\":{\"build\":{\"command\":\"make\"}},"
	                   "\"gradient\":{\"enabled\":false}}";

	if (!mkdtemp(dir))
		exit(99);
	path = kasprintf("%s/campaign.json", dir);
	kwrite_file(path, text, strlen(text));
	kcamp.dir = dir;
	kcamp_load();
	CHECK(kcamp_int("seed") == 7);
	CHECK(kcamp_num("search.exploit") == 0.8);
	CHECK(!kcamp_bool("gradient.enabled"));
	CHECK(kcamp_bool("linear.confirm") == false);
	CHECK_STR(kcamp_str("name"), "x");
	CHECK_STR(kcamp_str("task"), "task.json");
	CHECK(kcamp_json("eval.build") && !kcamp_json("eval.timing"));
	kwrite_file(path, "{\"name\":1}", 10);
	CHECK_EXIT(K_USAGE, kcamp_load());
	unlink(path);
	CHECK_EXIT(K_USAGE, kcamp_load());
	rmdir(dir);
	free(path);
}

/* Every default must itself pass the check that a value passes. */
static void
test_defaults(void)
{
	for (size_t i = 0; i < kknobs_count; i++) {
		const struct kknob *k = &kknobs[i];
		const char *dot = strchr(k->path, '.');
		json_t *v = !k->def || k->text ? json_string(k->def ? k->def : "x")
		                               : json_loads(k->def, JSON_DECODE_ANY, NULL),
		       *manifest = json_pack("{s:s}", "name", "x");
		char *group = kstrndup(k->path, dot ? (size_t)(dot - k->path) : 0), *text;

		if (v && dot)
			json_object_set_new(manifest, group, json_pack("{s:o}", dot + 1, v));
		else if (v)
			json_object_set_new(manifest, k->path, v);
		CHECK(kcamp_faults(manifest, &text) == 0);
		json_decref(manifest);
		free(group);
		free(text);
	}
}

int
main(void)
{
	kutil_init("kcamp");
	test_faults();
	test_values();
	test_defaults();
	return tap_done();
}
