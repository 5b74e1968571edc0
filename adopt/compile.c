/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt preflight: how the project compiles the kernel's file, observed by programs that replace
 * its compilers.
 */
#include <wordexp.h>

#include "adopt.h"
#include "unit.h"

enum { LOG_MAX = 64 << 20 };

/* It records how the compiler of its name is called, and calls it. */
static const char shim[] = "#!/bin/sh\n"
                           "here=${0%/*}\n"
                           "name=${0##*/}\n"
                           "unit=$(printf '\\037')\n"
                           "before=\n"
                           "line=$name$unit$PWD\n"
                           "for word; do\n"
                           "	case $before in\n"
                           "	-optf | --options-file) line=$line$unit$(xargs printf "
                           "\"%s$unit\" <\"$word\") ;;\n"
                           "	*) line=$line$unit$word ;;\n"
                           "	esac\n"
                           "	before=$word\n"
                           "done\n"
                           "printf '%s\\n' \"$line\" >>\"$here/calls\"\n"
                           "case :$PATH: in\n"
                           "*\":$here:\"*)\n"
                           "	PATH=:$PATH:\n"
                           "	PATH=${PATH%%\":$here:\"*}:${PATH#*\":$here:\"}\n"
                           "	PATH=${PATH#:} PATH=${PATH%:}\n"
                           "esac\n"
                           "exec \"$name\" \"$@\"\n";

/* Gives it the names of compilers, also those with a version that are on the PATH. */
static const char names_script[] =
    "cd \"$1\" && chmod 755 shim || exit\n"
    "for name in cc gcc clang c99 c11 g++ c++ clang++ nvcc icx icpx ccache; do\n"
    "	ln -s shim \"$name\" || exit\n"
    "done\n"
    "IFS=:\n"
    "for folder in $PATH; do\n"
    "	ls \"$folder\" 2>/dev/null\n"
    "done | grep -xE '(gcc|g\\+\\+|clang|clang\\+\\+)-[0-9.]+' | sort -u |\n"
    "	while IFS= read -r name; do ln -s shim \"$name\"; done\n";

void
compile_shims(void)
{
	char *folder = adopt_path("shims");

	remove_folder(folder);
	write_text(path_of("%s/shim", folder), shim);
	free(script_output(NULL, K_IO, names_script, folder));
}

/* Are these two the same file? */
static bool
same_file(const char *x, const char *y)
{
	struct stat a, b;

	return kfind(x, &a) && kfind(y, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static const char *
path_from(const char *cwd, const char *name)
{
	return *name == '/' ? name : kshown("%s/%s", cwd, name);
}

/*
 * Headers, or folders of headers, relative to the copy, so that a campaign can be moved; unchanged
 * if they are outside. New reference.
 */
static json_t *
include_folders(const char *copy, const char *cwd, const json_t *names)
{
	json_t *folders = json_array();

	kjson_foreach_text(name, names) {
		auto_free char *full = realpath(path_from(cwd, name), NULL);
		const char *path = full ?: path_from(cwd, name), *inside = path_in(copy, path);

		kjson_add(folders, !inside ? path : *inside ? inside : ".");
	}
	return folders;
}

/* The file whose compilation is searched. */
struct subject {
	const char *copy; /* the folder of the project */
	const char *file; /* in it */
	const char *own;  /* the same file of the project itself, if COPY is a copy; or "" */
	bool device, cxx;
};

/*
 * The first of CALLS, from views/compile.jq, that compiles FILE in COPY: {"compiler", "flags",
 * "include", "forced"}. New reference, or NULL. ASTRAY: one before it compiles the project's own
 * file, not the copy's.
 */
static json_t *
compile_in(const struct subject *a, const json_t *calls, bool *astray)
{
	kjson_foreach(call, calls) {
		const char *cwd = kjson_str(call, "folder"),
		           *way = a->device ? "device"
		    : a->cxx                ? "cxx"
		                            : "other";
		json_t *settings;
		bool found = false;

		kjson_foreach_text(word, call, "sources") {
			found |= same_file(path_from(cwd, word), a->file);
			*astray |= same_file(path_from(cwd, word), a->own);
		}
		if (!found)
			continue;
		settings = json_deep_copy(json_object_get(json_object_get(call, "ways"), way));
		kjson_extend(settings, "{s:o,s:o}", "include",
		    include_folders(a->copy, cwd, json_object_get(call, "include")), "forced",
		    include_folders(a->copy, cwd, json_object_get(call, "forced")));
		return settings;
	}
	return NULL;
}

/* Does the source TEXT include a file with one of these NAMES? */
static bool
includes_any(const char *text, const json_t *names)
{
	struct kregex_span at[2];

	for (; kregex_match("include[ \\t]*[\"<]([^\">\\n]*)", text, at); text += at[1].to) {
		auto_free char *name = kregex_text(text, at[1]);

		if (json_object_get(names, basename(name)))
			return true;
	}
	return false;
}

json_t *
compile_sources(const char *folder, const char *file)
{
	enum { LEVELS = 4 };
	json_auto_t *files = NULL, *seen = json_object(),
	            *names = json_pack("{s:b}", basename(file), 1);
	json_t *found = json_array();

	if (rules_is_header(file) || kjson_bool(rules_language(file), "device"))
		files = unit_files(folder);
	for (int level = 0; level < LEVELS; level++)
		kjson_foreach_text(name, files) {
			auto_free char *text = text_in(folder, name);

			if (!text || !includes_any(text, names) || !kjson_enter(seen, name))
				continue;
			if (rules_is_header(name))
				kjson_enter(names, basename(name));
			else
				kjson_add(found, name);
		}
	if (!json_array_size(found))
		kjson_add(found, file);
	return found;
}

json_t *
compile_seen(const char *copy, bool *astray)
{
	json_auto_t *files = compile_sources(copy, adoption.file), *words = json_array(),
	            *calls = NULL;
	auto_free char *text = kread_file(adopt_path("shims/calls"), LOG_MAX, NULL);
	json_t *found = NULL;

	*astray = false;
	kpart_foreach(line, text, "\n") {
		json_t *call = json_array();

		kpart_foreach(word, line, "\037")
			kjson_add(call, word);
		json_array_append_new(words, call);
	}
	calls = kjq("views/compile.jq", words);
	kjson_foreach_text(file, files) {
		struct subject subject = { copy, path_join(copy, file), project_path(file),
			adoption.device, adoption.cxx };

		found = found ?: compile_in(&subject, calls, astray);
	}
	kjson_foreach_text(file, files)
		found = found ?: compile_commands(copy, file, adoption.cxx);
	return found;
}

/*
 * What views/compile.jq makes of ENTRIES, as in compile_commands.json: their words are "arguments",
 * or "command", which is in the form for a shell. The folder follows the compiler, as in the
 * records of the shims. New reference.
 */
static json_t *
calls_of(const json_t *entries, const char *folder)
{
	json_auto_t *calls = json_array();

	kjson_foreach(entry, entries) {
		json_t *call = json_array();
		wordexp_t words = { 0 };

		kjson_foreach_text(word, entry, "arguments")
			kjson_add(call, word);
		if (!json_array_size(call) &&
		    !wordexp(kjson_str(entry, "command"), &words, WRDE_NOCMD))
			for (size_t i = 0; i < words.we_wordc; i++)
				kjson_add(call, words.we_wordv[i]);
		wordfree(&words);
		json_array_insert_new(call, 1,
		    json_string(json_string_value(json_object_get(entry, "directory")) ?: folder));
		json_array_append_new(calls, call);
	}
	return kjq("views/compile.jq", calls);
}

/*
 * The calls in the file PATH of FOLDER, which is read again only if it has changed; NULL: there is
 * none. Borrowed.
 */
static const json_t *
calls_in(const char *path, const char *folder)
{
	static json_t *known;
	json_auto_t *list = NULL;
	const char *key;
	struct stat st;

	if (!kfind(path, &st))
		return NULL;
	key = kshown("%s %lld.%ld", path, (long long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
	known = known ?: json_object();
	if (!json_object_get(known, key)) {
		list = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
		json_object_set_new(known, key, calls_of(list, folder));
	}
	return json_object_get(known, key);
}

/* The calls of compile_log. */
static json_t *logged;

void
compile_log(const char *folder, const char *file)
{
	static const char compiler[] = "(?:\\A|\\s)((?:\\S*/"
	                               ")?(?:cc|c99|gcc|g\\+\\+|c\\+\\+|clang|clang\\+\\+)(?:-[0-9."
	                               "]+)?\\s.*)";
	auto_free char *text = kread_file_or_die(file, LOG_MAX, NULL), *cwd = kstrdup(folder);
	json_auto_t *entries = json_array();

	kpart_foreach(line, text, "\n") {
		auto_free char *call = kregex_part(compiler, line);
		char *inside = kregex_part("Entering directory '(.*)'", line);

		if (call)
			kjson_append(entries, "{s:s,s:s}", "command", call, "directory", cwd);
		if (inside || strstr(line, "Leaving directory")) {
			free(cwd);
			cwd = inside ?: kstrdup(folder);
		}
	}
	logged = calls_of(entries, folder);
}

json_t *
compile_commands(const char *folder, const char *file, bool cxx)
{
	struct subject subject = { folder, path_join(folder, file), "",
		kjson_bool(rules_language(file), "device"), cxx };
	json_t *found = NULL;
	bool astray = false;

	kforeach_text(place, ".", "build", "out", "cmake-build-release", "builddir") {
		char *path = path_of("%s/%s/compile_commands.json", folder, place);

		found = found ?: compile_in(&subject, calls_in(path, folder), &astray);
	}
	return found ?: compile_in(&subject, logged, &astray);
}

void
compile_settle(json_t *settings, const char *architecture)
{
	json_t *flags = json_object_get(settings, "flags");
	bool any = false;

	if (strcmp(basename(kjson_str(settings, "compiler")), "nvcc"))
		return;
	kjson_foreach_text(flag, flags) {
		const char *at = strstr(flag, "native");

		any |= strstr(flag, "arch") != NULL;
		if (architecture && at && !at[6] && (at == flag || at[-1] == '='))
			json_array_set_new(flags, kjson_at(flag),
			    json_sprintf("%.*s%s", (int)(at - flag), flag, architecture));
	}
	if (architecture && !any)
		json_array_append_new(flags, json_sprintf("-arch=%s", architecture));
	/* Leave out code that no call of the kernel needs, and its imports. */
	kforeach_text(word, "-cudart", "shared", "-Xcompiler",
	    "-fvisibility=default,-ffunction-sections", "-Xlinker", "--gc-sections")
		kjson_add(flags, word);
}
