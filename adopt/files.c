/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a project's sources; see unit.h. */

#include "adopt.h"
#include "kio.h"
#include "unit.h"

enum { NAMES_MAX = 64 << 20 };

static bool
is_source(const char *name)
{
	const char *end = strrchr(name, '.');

	return end &&
	    kis_listed(
	        ".c .C .h .H .cc .cpp .cxx .hh .hpp .hxx .cu .cuh .inc .inl", end, strlen(end));
}

/* Names of the sources in FOLDER, relative to PROJECT. */
static void
add_files(json_t *list, const char *project, const char *folder, bool headers_only)
{
	char *path = path_of("%s%s", project, folder);
	const char *argv[] = { "find", "-L", path, "-name", ".git", "-prune", "-o", "-type", "f",
		"-print", NULL };
	struct kproc p = { .argv = (char *const *)argv, .max_output = NAMES_MAX };
	struct kproc_result r;

	if (kproc_run(&p, &r) < 0)
		kdie(K_IO, "%s: cannot list its files", path);
	kpart_foreach(name, r.out, "\n")
		if (is_source(name) && (!headers_only || rules_is_header(name)))
			json_array_append_new(list, json_string(name + strlen(project) + 1));
	kproc_result_free(&r);
}

json_t *
unit_files(const char *project)
{
	json_t *list = json_array();
	const json_t *siblings = siblings_of(project, "");

	add_files(list, project, "", false);
	for (size_t i = 0; i < json_array_size(siblings); i++)
		add_files(list, project,
		    path_of("/../%s", json_string_value(json_array_get(siblings, i))), true);
	return list;
}
