/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a project's sources; see unit.h. */

#include "adopt.h"
#include "unit.h"

static bool
is_source(const char *name)
{
	const char *end = strrchr(name, '.');

	return end && kis_one_of(".c .C .h .H .cc .cpp .cxx .hh .hpp .hxx .cu .cuh .inc .inl", end);
}

/* Names of the sources in FOLDER, relative to PROJECT. */
static void
add_files(json_t *list, const char *project, const char *folder, bool headers_only)
{
	static const char script[] = "find -L \"$1\" -name .git -prune -o -type f -print | "
	                             "LC_ALL=C sort";
	auto_free char *names = script_output(NULL, 0, script, path_of("%s%s", project, folder));

	kpart_foreach(name, names, "\n")
		if (is_source(name) && (!headers_only || rules_is_header(name)))
			kjson_add(list, name + strlen(project) + 1);
}

json_t *
unit_files(const char *project)
{
	json_t *list = json_array();

	add_files(list, project, "", false);
	kjson_foreach_text(name, siblings_of(project, ""))
		add_files(list, project, path_of("/../%s", name), true);
	return list;
}
