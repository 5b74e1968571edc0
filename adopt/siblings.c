/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders and files outside the project that it refers to as "../NAME" or "../../NAME": each copy
 * of the project gets copies of them at the same place relative to it.
 */

#include "kadopt.h"

/*
 * $1: the project. Other words that may name files are on standard input. Prints the names relative
 * to the folder above the project, "NAME" for "../NAME" and "../NAME" for "../../NAME". A name that
 * leads further up may be relative to a folder of the project: the nearest place counts, unless it
 * contains the project. What we put next to a copy counts even then: it may be a link to a folder
 * with the campaign. What is in the root folder belongs to the system.
 */
static const char list_script[] =
    "cd -P -- \"$1\" || exit\n"
    "above=${PWD%/*}\n"
    "{ cat; grep -rIhF ../ --exclude-dir=.git --include='*.[chC]' --include='*.cc' "
    "--include='*.cpp' --include='*.cxx' --include='*.hpp' --include='*.cu' --include='*.cuh' "
    "--include='*akefile*' --include='*.mk' --include='CMakeLists.txt' --include='*.cmake' "
    "--include='meson.build' --include='*.sh' --include='*.toml' --include='*.conf' .; } |\n"
    "	grep -oE '(\\.\\./)+[A-Za-z0-9_][A-Za-z0-9_.+-]*' | LC_ALL=C sort -u |\n"
    "	while IFS= read -r path; do\n"
    "		name=${path##*/} up=../\n"
    "		while [ \"${path#\"$up\"}\" != \"$path\" ] && [ ! -e \"$up$name\" ]; do\n"
    "			up=../$up\n"
    "		done\n"
    "		[ \"${path#\"$up\"}\" != \"$path\" ] || continue\n"
    "		[ ! \"$up\" -ef / ] || continue\n"
    "		[ -e \"$up.sibling.$name\" ] ||\n"
    "			case $above/ in \"$(realpath -- \"$up$name\")\"/*) continue ;; esac\n"
    "		printf '%s\\n' \"${up#../}$name\"\n"
    "	done | LC_ALL=C sort -u\n";

/*
 * $1: the project, $2: its copy, $3: a name. Copies are marked, so that no file of kiln's own is
 * mistaken for one. A folder that is large, or contains the campaign, is linked.
 */
static const char copy_script[] =
    "name=${3##*/} from=${1%/*}/$3 to=$(cd \"${2%/*}/${3%\"${3##*/}\"}\" && pwd) large=\n"
    "mark=$to/.sibling.$name to=$to/$name\n"
    "if [ -e \"$to\" ] && [ ! -e \"$mark\" ]; then\n"
    "	echo \"$from: kiln's own files use this name; adopt from a folder further up\" >&2\n"
    "	exit 1\n"
    "fi\n"
    ": >\"$mark\" && rm -rf -- \"$to\"\n"
    "[ \"$(du -skL -- \"$from\" 2>/dev/null | cut -f1)\" -lt 262144 ] || large=yes\n"
    "case $2/ in \"$(realpath -- \"$from\")\"/*) large=yes ;; esac\n"
    "if [ \"$from\" -ef \"$1\" ]; then ln -s -- \"$2\" \"$to\"\n"
    "elif [ \"$large\" ]; then ln -s -- \"$(realpath -- \"$from\")\" \"$to\"\n"
    "else cp -a -H -- \"$from\" \"$to\"\n"
    "fi\n";

const json_t *
siblings_of(const char *project, const char *commands)
{
	static json_t *known;
	auto_free char *key = kasprintf("%s\n%s", project, commands), *list = NULL;
	json_t *names = json_object_get(known, key);

	if (names)
		return names;
	if (!known)
		known = json_object();
	json_object_set_new(known, key, names = json_array());
	list = script_output(commands, K_USAGE, list_script, project);
	kpart_foreach(name, list, "\n")
		kjson_add(names, name);
	return names;
}

const json_t *
siblings_named(void)
{
	auto_free char *commands = kasprintf("%s\n%s\n", adoption.build, adoption.run);

	return siblings_of(adoption.project, commands);
}

char *
siblings_copy_path(const char *folder)
{
	size_t depth = 0;
	auto_buf struct kbuf b = { 0 };

	/* How many folders above the project's own parent the names lead. */
	kjson_foreach_text(name, siblings_named()) {
		size_t up = strspn(name, "./") / strlen("../");

		depth = up > depth ? up : depth;
	}
	kbuf_printf(&b, "%s%s", folder, depth ? "/outside" : "");
	while (depth--)
		kbuf_puts(&b, "/up");
	return path_of("%s/copy", b.data);
}

void
siblings_copy(const char *folder)
{
	kjson_foreach_text(name, siblings_named()) {
		free(script_output(NULL, K_USAGE, copy_script, adoption.project, folder, name));
		clean_copy(
		    path_of("%s/../%s", folder, name), path_of("%s/../%s", adoption.project, name));
	}
}

const char *
siblings_name(const char *folder, const char *path)
{
	auto_free char *above = kstrdup(folder);
	char *slash;

	/* The folder above, and those above that. */
	while ((slash = strrchr(above, '/')) && slash > above) {
		const char *name;

		*slash = '\0';
		name = path_in(above, path);
		if (name &&
		    kis_there(path_of("%s/.sibling.%.*s", above, (int)strcspn(name, "/"), name)))
			return name;
	}
	return NULL;
}
