/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt preflight: how the project compiles the kernel's file, observed by programs that replace
 * its compilers.
 */
#include <wordexp.h>

#include "adopt.h"
#include "kio.h"
#include "kregex.h"
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
compile_shims(const struct adoption *a)
{
	char *folder = adopt_path(a, "shims");
	const char *argv[] = { "sh", "-c", names_script, "sh", folder, NULL };

	remove_folder(folder);
	write_text(path_of("%s/shim", folder), shim);
	free(program_output(argv, NULL, K_IO));
}

/* Are these two the same file? */
static bool
same_file(const char *x, const char *y)
{
	struct stat a, b;

	return kfind(x, &a) && kfind(y, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Is the option's value a separate word? */
static bool
takes_value(const char *option)
{
	return kis_one_of("-o -I -D -U -isystem -iquote -include -MF -MT -MQ -x -Xcompiler "
	                  "-gencode -arch -code --gpu-architecture --generate-code --gpu-code -std "
	                  "--std -Xptxas -ccbin -maxrregcount -L -l --compiler-options",
	    option);
}

/* Does an option of the project's compiler also matter for the kernel alone? */
static bool
is_kept(const char *option)
{
	return kregex_is("\\A(?:-O|-std|--std|-f|-m|-D|-U|-pthread|-ansi|-arch|-gencode|-code|"
	                 "--gpu-architecture|--generate-code|-use_fast_math|--use_fast_math|"
	                 "-Xcompiler|--compiler-options|-expt|--expt|--extended-lambda|--fmad|"
	                 "-ftz|-prec|--ftz|--prec|-maxrregcount|-Xptxas|-lineinfo|-ccbin)",
	           option) &&
	    !kregex_is("\\A(?:-fPIC|-fpic|-fPIE|-fpie|-fdiagnostics|-fmessage|-fprofile|"
	               "-fsanitize|-flto|-fvisibility|-mf|-MM)",
	        option);
}

/*
 * A header or a folder of headers, relative to the copy, so that a campaign can be moved; or
 * unchanged.
 */
static json_t *
include_folder(const char *copy, const char *cwd, const char *name)
{
	auto_free char *path = *name == '/' ? kstrdup(name) : kasprintf("%s/%s", cwd, name),
	               *full = realpath(path, NULL);
	const char *inside = path_in(copy, full ? full : path);

	return json_string(!inside ? (full ? full : path) : *inside ? inside : ".");
}

/* The file whose compilation is searched. */
struct subject {
	const char *copy; /* the folder of the project */
	const char *file; /* in it */
	const char *own;  /* the same file of the project itself, if COPY is a copy; or "" */
	bool device, cxx;
};

/* Does nvcc compile a file that is not CUDA? Then it passes it to the host compiler. */
static bool
is_handed_on(const struct subject *a, const char *compiler)
{
	return !a->device && !strcmp(basename(compiler), "nvcc");
}

/* A C++ file is recognised by its suffix, which the reference does not have. The caller frees. */
static char *
compiler_for(const struct subject *a, const char *name)
{
	static const char *const pairs[][2] = { { "cc", "c++" }, { "gcc", "g++" },
		{ "clang", "clang++" }, { "icx", "icpx" } };
	const char *base = basename(name);

	if (is_handed_on(a, name))
		return kstrdup(a->cxx ? "g++" : "gcc");
	name = strstr(name, "/adopt/shims/") ? base : name;
	kforeach_of(pair, pairs, a->cxx ? LEN(pairs) : 0) {
		size_t n = strlen((*pair)[0]);

		if (!strncmp(base, (*pair)[0], n) && kregex_is("\\A(?:-[0-9.]+)?\\z", base + n))
			return kasprintf(
			    "%.*s%s%s", (int)(base - name), name, (*pair)[1], base + n);
	}
	return kstrdup(name);
}

/* The FLAGS of nvcc that it passes to the host compiler. New reference. */
static json_t *
flags_handed_on(const json_t *flags)
{
	json_t *result = json_array();

	for (size_t i = 0; i < json_array_size(flags); i++) {
		const char *flag = kjson_item(flags, i);
		const char *value = takes_value(flag) ? kjson_item(flags, ++i) : NULL;
		auto_free char *words = kstrdup(value && strstr(flag, "ompiler") ? value : "");

		kpart_foreach(word, words, ",")
			if (is_kept(word))
				kjson_add(result, word);
		if (kregex_is("\\A(?:-O|-std=|--std=|-D|-U)", flag))
			json_array_append_new(
			    result, json_sprintf("%s%s", flag, value ? value : ""));
	}
	return result;
}

/*
 * One recorded call, if it compiles FILE in COPY: {"compiler", "flags", "include", "forced"}. New
 * reference, or NULL. ASTRAY: it compiles the project's own file, not the copy's.
 */
static json_t *
compile_of(const struct subject *a, char *line, bool *astray)
{
	json_auto_t *flags = json_array(), *include = json_array(), *forced = json_array();
	char *rest = line, *name = kpart(&rest, "\037"), *cwd = kpart(&rest, "\037"), *word;
	auto_free char *compiler = NULL;
	bool found = false;

	if (name && cwd && !strcmp(name, "ccache"))
		name = kpart(&rest, "\037");
	while (name && cwd && (word = kpart(&rest, "\037"))) {
		char *value;

		if (*word != '-') {
			auto_free char *full =
			    *word == '/' ? kstrdup(word) : kasprintf("%s/%s", cwd, word);

			found |= same_file(full, a->file);
			*astray |= same_file(full, a->own);
		} else if (!strncmp(word, "-I", 2) || !strcmp(word, "-isystem") ||
		    !strcmp(word, "-iquote")) {
			value =
			    !strncmp(word, "-I", 2) && word[2] ? word + 2 : kpart(&rest, "\037");
			if (value)
				json_array_append_new(include, include_folder(a->copy, cwd, value));
		} else if (!strcmp(word, "-include")) {
			value = kpart(&rest, "\037");
			if (value)
				json_array_append_new(forced, include_folder(a->copy, cwd, value));
		} else if (is_kept(word)) {
			kjson_add(flags, word);
			if (takes_value(word) && (value = kpart(&rest, "\037")))
				kjson_add(flags, value);
		} else if (takes_value(word)) {
			kpart(&rest, "\037");
		}
	}
	if (!found)
		return NULL;
	compiler = compiler_for(a, name);
	return json_pack("{s:s,s:o,s:O,s:O}", "compiler", compiler, "flags",
	    is_handed_on(a, name) ? flags_handed_on(flags) : json_incref(flags), "include", include,
	    "forced", forced);
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
	json_auto_t *files = NULL, *names = json_pack("{s:b}", basename(file), 1);
	json_t *found = json_array();

	if (rules_is_header(file) || kjson_bool(rules_language(file), "device"))
		files = unit_files(folder);
	for (int level = 0; level < LEVELS; level++)
		for (size_t i = 0; i < json_array_size(files);) {
			const char *name = kjson_item(files, i);
			auto_free char *text = file_text(path_of("%s/%s", folder, name), NULL);
			bool includes = text && includes_any(text, names);

			if (includes && rules_is_header(name))
				kjson_enter(names, basename(name));
			else if (includes)
				kjson_add(found, name);
			if (includes)
				json_array_remove(files, i);
			else
				i++;
		}
	if (!json_array_size(found))
		kjson_add(found, file);
	return found;
}

json_t *
compile_seen(const struct adoption *a, const char *copy, bool *astray)
{
	char *calls = adopt_path(a, "shims/calls");
	json_auto_t *files = compile_sources(copy, a->file);
	json_t *found = NULL;

	*astray = false;
	for (int noted = 1; noted >= 0; noted--)
		kjson_foreach_text(file, files) {
			struct subject subject = { copy, path_of("%s/%s", copy, file),
				project_path(a, file), a->device, a->cxx };
			auto_free char *text = noted ? kread_file(calls, LOG_MAX, NULL) : NULL;

			kpart_foreach(line, text, "\n")
				if (!found)
					found = compile_of(&subject, line, astray);
			if (!noted && !found)
				found = compile_commands(copy, file, a->cxx);
		}
	return found;
}

/* The folder stands after the compiler, as in the records of the shims. */
static void
add_word(struct kbuf *line, const char *word, const char *folder)
{
	bool compiler = !line->len;

	kbuf_printf(line, "%s\037", word);
	if (compiler)
		kbuf_printf(line, "%s\037", folder);
}

/* "arguments", or "command", which is in the form for a shell. */
static void
add_words(struct kbuf *line, const json_t *entry, const char *folder)
{
	const json_t *list = json_object_get(entry, "arguments");
	wordexp_t words = { 0 };

	kjson_foreach_text(word, list)
		add_word(line, word, folder);
	if (!list && !wordexp(kjson_str(entry, "command"), &words, WRDE_NOCMD))
		for (size_t i = 0; i < words.we_wordc; i++)
			add_word(line, words.we_wordv[i], folder);
	wordfree(&words);
}

json_t *
compile_commands(const char *folder, const char *file, bool cxx)
{
	static const char *const places[] = { ".", "build", "out", "cmake-build-release",
		"builddir" };
	const json_t *row = rules_language(file);
	struct subject subject = { folder, path_of("%s/%s", folder, file), "",
		kjson_bool(row, "device"), cxx };
	bool astray;

	kforeach(place, places) {
		char *path = path_of("%s/%s/compile_commands.json", folder, *place);
		json_auto_t *list = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);

		kjson_foreach(entry, list) {
			auto_buf struct kbuf line = { 0 };
			json_t *found = NULL;

			add_words(&line, entry,
			    json_string_value(json_object_get(entry, "directory")) ?: folder);
			found = compile_of(&subject, line.data, &astray);
			if (found)
				return found;
		}
	}
	return NULL;
}

void
compile_settle(json_t *settings, const char *architecture)
{
	/* Leave out code that no call of the kernel needs, and its imports. */
	static const char *const more[] = { "-cudart", "shared", "-Xcompiler",
		"-fvisibility=default,-ffunction-sections", "-Xlinker", "--gc-sections" };
	json_t *flags = json_object_get(settings, "flags");
	bool any = false;

	if (strcmp(basename(kjson_str(settings, "compiler")), "nvcc"))
		return;
	for (size_t i = 0; i < json_array_size(flags); i++) {
		const char *flag = kjson_item(flags, i), *at = strstr(flag, "native");

		any |= strstr(flag, "arch") != NULL;
		if (architecture && at && !at[6] && (at == flag || at[-1] == '='))
			json_array_set_new(
			    flags, i, json_sprintf("%.*s%s", (int)(at - flag), flag, architecture));
	}
	if (architecture && !any)
		json_array_append_new(flags, json_sprintf("-arch=%s", architecture));
	kforeach(word, more)
		kjson_add(flags, *word);
}
