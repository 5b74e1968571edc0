/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders and files next to the project that it refers to as "../NAME": each copy of the project
 * gets copies of them next to it.
 */

#include "kadopt.h"

/*
 * $1: the project, $2: how the names begin, $3: a place where they are if they are meant from a
 * folder of the project. Other words that may contain them are on standard input.
 */
static const char list_script[] =
    "cd \"$1\" || exit\n"
    "{ cat; grep -rIhF ../ --exclude-dir=.git --include='*.[chC]' --include='*.cc' "
    "--include='*.cpp' --include='*.cxx' --include='*.hpp' --include='*.cu' --include='*.cuh' "
    "--include='*akefile*' --include='*.mk' --include='CMakeLists.txt' --include='*.cmake' "
    "--include='meson.build' --include='*.sh' --include='*.toml' --include='*.conf' .; } |\n"
    "	grep -oE \"$2[A-Za-z0-9_][A-Za-z0-9_.+-]*\" | LC_ALL=C sort -u | sed 's|^.*/||' |\n"
    "	while IFS= read -r name; do\n"
    "		[ ! -e \"$2$name\" ] || [ -e \"$3/$name\" ] || printf '%s\\n' \"$name\"\n"
    "	done\n";

/*
 * $1: the project, $2: its copy, $3: a name. Copies are marked, so that no file of kiln's own is
 * mistaken for one. A folder that is large, or contains the campaign, is linked.
 */
static const char copy_script[] =
    "from=${1%/*}/$3 to=${2%/*} large=\n"
    "mark=$to/.sibling.$3 to=$to/$3\n"
    "if [ -e \"$to\" ] && [ ! -e \"$mark\" ]; then\n"
    "	echo \"$from: kiln needs this name next to its copy; adopt from the folder above\" >&2\n"
    "	exit 1\n"
    "fi\n"
    ": >\"$mark\" && rm -rf -- \"$to\"\n"
    "[ \"$(du -skL -- \"$from\" 2>/dev/null | cut -f1)\" -lt 262144 ] || large=yes\n"
    "case $2/ in \"$from\"/*) large=yes ;; esac\n"
    "if [ \"$from\" -ef \"$1\" ]; then ln -s -- \"${2##*/}\" \"$to\"\n"
    "elif [ \"$large\" ]; then ln -s -- \"$from\" \"$to\"\n"
    "else cp -a -- \"$from\" \"$to\"\n"
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
	const char *const words[3] = { project, "../", "/nowhere" };
	char *key = kasprintf("%s\n%s", project, commands);
	json_t *names = json_object_get(known, key);
	struct kproc_result r;

	if (!known)
		known = json_object();
	if (!names)
		json_object_set_new(known, key, names = json_array());
	else
		commands = NULL;
	free(key);
	if (!commands)
		return names;
	run_script(list_script, words, commands, &r);
	kpart_foreach(name, r.out, "\n")
		json_array_append_new(names, json_string(name));
	kproc_result_free(&r);
	return names;
}

char *
siblings_above(const char *project, const char *commands)
{
	const char *const words[3] = { project, "../../", ".." };
	struct kproc_result r;
	char *name;

	run_script(list_script, words, commands, &r);
	name = *r.out ? kstrndup(r.out, strcspn(r.out, "\n")) : NULL;
	kproc_result_free(&r);
	return name;
}

void
siblings_copy(const struct adoption *a, const char *folder)
{
	char *commands = kasprintf("%s\n%s\n", a->build, a->run);
	const json_t *names = siblings_of(a->project, commands);

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *const words[3] = { a->project, folder,
			json_string_value(json_array_get(names, i)) };
		struct kproc_result r;

		run_script(copy_script, words, "", &r);
		kproc_result_free(&r);
	}
	free(commands);
}

const char *
siblings_name(const char *folder, const char *path)
{
	const char *slash = strrchr(folder, '/');
	size_t n = slash ? (size_t)(slash + 1 - folder) : 0;
	char *mark;
	bool found;

	if (!n || strncmp(path, folder, n))
		return NULL;
	mark =
	    kasprintf("%.*s.sibling.%.*s", (int)n, folder, (int)strcspn(path + n, "/"), path + n);
	found = kis_there(mark);
	free(mark);
	return found ? path + n : NULL;
}
