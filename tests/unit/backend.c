/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the table of backends: every row has its files and its word in the manifest, and
 * names find their row.
 */
#include "backend.h"

#include <stdlib.h>
#include <unistd.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

static void
test_files(const struct backend *b)
{
	static const char *const folders[] = { "patterns", "prompts/backends",
		"prompts/instructions" };

	for (size_t i = 0; i < LEN(folders); i++) {
		char *name = kasprintf("%s/%s.json", folders[i], b->name), *path = kdata_path(name);

		tap_check(access(path, R_OK) == 0, name, __FILE__, __LINE__);
		free(path);
		free(name);
	}
}

static void
test_rows(void)
{
	char *path = kdata_path("docs/schemas/campaign-1.json");
	json_t *schema = kjson_load(path);
	const json_t *words = kjson_path(schema, "properties.backend.enum");

	CHECK(json_array_size(words) == BACKEND_COUNT);
	for (size_t i = 0; i < BACKEND_COUNT; i++) {
		const struct backend *b = &backends[i];
		const char *dot = strrchr(b->source, '.');

		CHECK_STR(b->name, json_string_value(json_array_get(words, i)));
		CHECK(backend_named(b->name) == b && backend_for(b->name) == b &&
		    backend_labelled(b, b->name));
		CHECK(dot && !strcmp(dot + 1, b->suffix));
		CHECK(!b->pointers || b->device);
		test_files(b);
	}
	json_decref(schema);
	free(path);
}

static void
test_words(void)
{
	char *lack = backend_lacks_runner(&backends[BACKEND_TRITON]);

	CHECK(backend_named("CUDA") == &backends[BACKEND_CUDA] && !backend_named("fortran"));
	CHECK(backend_for("cl") == &backends[BACKEND_OPENCL] &&
	    backend_for("python") == &backends[BACKEND_TRITON]);
	CHECK(backend_for("fortran") == &backends[BACKEND_C] &&
	    backend_for("") == &backends[BACKEND_C]);
	CHECK(backend_syntax("triton") == KTOKEN_PYTHON && backend_syntax("py") == KTOKEN_PYTHON);
	CHECK(backend_syntax("cuda") == KTOKEN_C && backend_syntax("") == KTOKEN_C);
	CHECK(device_compiler("nvrtc")->backend == &backends[BACKEND_CUDA] &&
	    !device_compiler("nvcc"));
	CHECK(
	    lack && strstr(lack, "run triton kernels") && strstr(lack, "one of c cuda hip opencl"));
	CHECK(!backend_lacks_runner(&backends[BACKEND_HIP]));
	free(lack);
}

int
main(void)
{
	test_rows();
	test_words();
	return tap_done();
}
