/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders and files outside the project that it refers to as "../NAME" or "../../NAME": each copy
 * of the project gets copies of them at the same place relative to it.
 */

#include "kadopt.h"
#include "kio.h"

/*
 * $1: the project. Other words that may name files are on standard input. Prints the names relative
 * to the folder above the project, "NAME" for "../NAME" and "../NAME" for "../../NAME". A name that
 * leads further up may be meant from a folder of the project: the nearest place counts, unless it
 * contains the project (next to a copy: it may be linked, and contain the campaign). What is in the
 * root folder belongs to the system.
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

static void
run_script(
    const char *script, const char *const words[3], const char *input, struct kproc_result *r)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, (char *)"sh", (char *)words[0],
		(char *)words[1], (char *)words[2], NULL };
	struct kproc p = { .argv = argv, .in = input, .in_len = strlen(input) };

	if (kproc_run(&p, r) < 0)
		kdie_errno(K_MISSING, "sh");
	if (r->exit_code)
		kdie(K_USAGE, "%.*s", (int)strcspn(r->err, "\n"), r->err);
}

const json_t *
siblings_of(const char *project, const char *commands)
{
	static json_t *known;
	const char *const words[3] = { project, NULL, NULL };
	auto_free char *key = kasprintf("%s\n%s", project, commands);
	json_t *names = json_object_get(known, key);
	struct kproc_result r;

	if (!known)
		known = json_object();
	if (!names)
		json_object_set_new(known, key, names = json_array());
	else
		commands = NULL;
	if (!commands)
		return names;
	run_script(list_script, words, commands, &r);
	kpart_foreach(name, r.out, "\n")
		json_array_append_new(names, json_string(name));
	kproc_result_free(&r);
	return names;
}

/* How many folders above the project's own parent the names lead. */
static size_t
depth_of(const json_t *names)
{
	size_t most = 0;

	kjson_foreach(item, names) {
		const char *name = json_string_value(item);
		size_t n = 0;

		while (!strncmp(name + 3 * n, "../", 3))
			n++;
		most = n > most ? n : most;
	}
	return most;
}

const json_t *
siblings_named(const struct adoption *a)
{
	auto_free char *commands = kasprintf("%s\n%s\n", a->build, a->run);

	return siblings_of(a->project, commands);
}

char *
siblings_copy_path(const struct adoption *a, const char *folder)
{
	size_t depth = depth_of(siblings_named(a));
	auto_buf struct kbuf b = { 0 };

	kbuf_printf(&b, "%s%s", folder, depth ? "/outside" : "");
	while (depth--)
		kbuf_puts(&b, "/up");
	return path_of("%s/copy", b.data);
}

void
siblings_copy(const struct adoption *a, const char *folder)
{
	const json_t *names = siblings_named(a);

	kjson_foreach(item, names) {
		const char *const words[3] = { a->project, folder, json_string_value(item) };
		struct kproc_result r;

		run_script(copy_script, words, "", &r);
		kproc_result_free(&r);
		clean_copy(path_of("%s/../%s", folder, words[2]),
		    path_of("%s/../%s", a->project, words[2]));
	}
}

const char *
siblings_name(const char *folder, const char *path)
{
	char *above = kstrdup(folder), *slash;
	const char *found = NULL;

	/* The folder above, and those above that. */
	while (!found && (slash = strrchr(above, '/')) && slash > above) {
		size_t n = (size_t)(slash - above);
		char *mark;

		*slash = '\0';
		if (strncmp(path, above, n) || path[n] != '/')
			continue;
		mark = kasprintf(
		    "%s/.sibling.%.*s", above, (int)strcspn(path + n + 1, "/"), path + n + 1);
		found = kis_there(mark) ? path + n + 1 : NULL;
		free(mark);
	}
	free(above);
	return found;
}
