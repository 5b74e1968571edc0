/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt preflight: how the project compiles the kernel's file, observed by programs that replace
 * its compilers.
 */

#include "adopt.h"
#include "kio.h"
#include "kregex.h"
#include "unit.h"

enum { LOG_MAX = 64 << 20 };

static const char *const compilers[] = { "cc", "gcc", "clang", "c99", "c11", "g++", "c++",
	"clang++", "nvcc", "icx", "icpx", "ccache" };

/* Those on the PATH, as a set. New reference. */
static json_t *
versioned_compilers(void)
{
	auto_free char *path = kstrdup(getenv("PATH") ? getenv("PATH") : "");
	json_t *names = json_object();

	kpart_foreach(folder, path, ":") {
		DIR *d = opendir(folder);
		const struct dirent *e;

		while (d && (e = readdir(d)))
			if (kregex_is("\\A(?:gcc|g\\+\\+|clang|clang\\+\\+)-[0-9.]+\\z", e->d_name))
				json_object_set_new(names, e->d_name, json_true());
		if (d)
			closedir(d);
	}
	return names;
}

static void
write_shim(const char *folder, const char *name, const char *script)
{
	char *path = path_of("%s/%s", folder, name);

	write_text(path, script, strlen(script));
	if (chmod(path, 0755) < 0)
		kdie_errno(K_IO, "%s", path);
}

void
compile_shims(const struct adoption *a)
{
	static const char script[] = "#!/bin/sh\n"
	                             "# Notes how this compiler is called, and calls it.\n"
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
	char *folder = adopt_path(a, "shims");
	json_t *others = versioned_compilers(), *v;
	const char *name;

	remove_folder(folder);
	for (size_t i = 0; i < LEN(compilers); i++)
		write_shim(folder, compilers[i], script);
	json_object_foreach(others, name, v)
		write_shim(folder, name, script);
	json_decref(others);
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
	return kis_listed("-o -I -D -U -isystem -iquote -include -MF -MT -MQ -x -Xcompiler "
	                  "-gencode -arch -code --gpu-architecture --generate-code --gpu-code -std "
	                  "--std -Xptxas -ccbin -maxrregcount -L -l --compiler-options",
	    option, strlen(option));
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
	char full[PATH_MAX], *path = *name == '/' ? kstrdup(name) : kasprintf("%s/%s", cwd, name);
	size_t n = strlen(copy);
	json_t *result;

	if (!realpath(path, full))
		snprintf(full, sizeof full, "%s", path);
	result = json_string(!strncmp(full, copy, n) && full[n] == '/' ? full + n + 1
	        : !strcmp(full, copy)                                  ? "."
	                                                               : full);
	free(path);
	return result;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file whose compilation is searched. */
struct subject {
	const char *copy; /* the folder of the project */
	const char *file; /* in it */
	const char *own;  /* the corresponding folder in the project, if COPY is a copy; or "" */
	bool device, cxx;
};

/* Does nvcc compile a file that is not CUDA? Then it passes it to the host compiler. */
static bool
is_handed_on(const struct subject *a, const char *compiler)
{
	return !a->device && !strcmp(base_name(compiler), "nvcc");
}

/* A C++ file is recognised by its suffix, which the reference does not have. The caller frees. */
static char *
compiler_for(const struct subject *a, const char *name)
{
	static const char *const pairs[][2] = { { "cc", "c++" }, { "gcc", "g++" },
		{ "clang", "clang++" }, { "icx", "icpx" } };
	const char *base = base_name(name);
	struct kregex_span at[2];

	if (is_handed_on(a, name))
		return kstrdup(a->cxx ? "g++" : "gcc");
	name = strstr(name, "/adopt/shims/") ? base : name;
	if (a->cxx &&
	    kregex_find("\\A(cc|gcc|clang|icx)(?=(?:-[0-9.]+)?\\z)", base, strlen(base), at, 2))
		for (size_t i = 0; i < LEN(pairs); i++)
			if (!strncmp(base, pairs[i][0], at[1].to) && !pairs[i][0][at[1].to])
				return kasprintf("%.*s%s%s", (int)(base - name), name, pairs[i][1],
				    base + at[1].to);
	return kstrdup(name);
}

/* The FLAGS of nvcc that it passes to the host compiler. New reference. */
static json_t *
flags_handed_on(const json_t *flags)
{
	json_t *result = json_array();

	for (size_t i = 0; i < json_array_size(flags); i++) {
		const char *flag = json_string_value(json_array_get(flags, i));
		const char *value =
		    takes_value(flag) ? json_string_value(json_array_get(flags, ++i)) : NULL;
		auto_free char *words = kstrdup(value && strstr(flag, "ompiler") ? value : "");

		kpart_foreach(word, words, ",")
			if (is_kept(word))
				json_array_append_new(result, json_string(word));
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
	json_t *flags = json_array(), *include = json_array(), *forced = json_array(),
	       *result = NULL;
	char *rest = line, *name = kpart(&rest, "\037"), *cwd = kpart(&rest, "\037"), *word;
	bool found = false;

	if (name && cwd && !strcmp(name, "ccache"))
		name = kpart(&rest, "\037");
	while (name && cwd && (word = kpart(&rest, "\037"))) {
		char *full = *word == '/' ? kstrdup(word) : kasprintf("%s/%s", cwd, word),
		     *value = NULL;

		if (*word != '-') {
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
			json_array_append_new(flags, json_string(word));
			if (takes_value(word) && (value = kpart(&rest, "\037")))
				json_array_append_new(flags, json_string(value));
		} else if (takes_value(word)) {
			kpart(&rest, "\037");
		}
		free(full);
	}
	if (found && name) {
		auto_free char *compiler = compiler_for(a, name);

		result = json_pack("{s:s,s:o,s:O,s:O}", "compiler", compiler, "flags",
		    is_handed_on(a, name) ? flags_handed_on(flags) : json_incref(flags), "include",
		    include, "forced", forced);
	}
	json_decref(flags);
	json_decref(include);
	json_decref(forced);
	return result;
}

/* Does the source TEXT include a file with one of these NAMES? */
static bool
includes_any(const char *text, const json_t *names)
{
	struct kregex_span at[2];

	for (; kregex_find("include[ \\t]*[\"<]([^\">\\n]*)", text, strlen(text), at, 2);
	     text += at[1].to) {
		auto_free char *name = kregex_text(text, at[1]);

		if (json_object_get(names, base_name(name)))
			return true;
	}
	return false;
}

json_t *
compile_sources(const char *folder, const char *file)
{
	enum { LEVELS = 4 };
	json_t *files, *names, *found = json_array();

	if (!rules_is_header(file) && !kjson_bool(rules_language(file), "device")) {
		json_array_append_new(found, json_string(file));
		return found;
	}
	files = unit_files(folder);
	names = json_pack("{s:b}", base_name(file), 1);
	for (int level = 0; level < LEVELS; level++)
		for (size_t i = 0; i < json_array_size(files);) {
			const char *name = json_string_value(json_array_get(files, i));
			auto_free char *text = file_text(path_of("%s/%s", folder, name), NULL);
			bool includes = text && includes_any(text, names);

			if (includes && rules_is_header(name))
				json_object_set_new(names, base_name(name), json_true());
			else if (includes)
				json_array_append_new(found, json_string(name));
			if (includes)
				json_array_remove(files, i);
			else
				i++;
		}
	if (!json_array_size(found))
		json_array_append_new(found, json_string(file));
	json_decref(files);
	json_decref(names);
	return found;
}

json_t *
compile_seen(const struct adoption *a, const char *copy, bool *astray)
{
	char *calls = adopt_path(a, "shims/calls");
	json_t *files = compile_sources(copy, a->file), *found = NULL;

	*astray = false;
	for (int noted = 1; noted >= 0; noted--)
		kjson_foreach(name, files) {
			const char *file = json_string_value(name);
			struct subject subject = { copy, path_of("%s/%s", copy, file),
				project_path(a, file), a->device, a->cxx };
			auto_free char *text = noted ? kread_file(calls, LOG_MAX, NULL) : NULL;

			kpart_foreach(line, text, "\n")
				if (!found)
					found = compile_of(&subject, line, astray);
			if (!noted && !found)
				found = compile_commands(copy, file, a->cxx);
		}
	json_decref(files);
	return found;
}

/* "arguments", or the words of "command", which may be quoted as for a shell. */
static void
add_words(struct kbuf *line, const json_t *entry)
{
	const json_t *list = json_object_get(entry, "arguments");
	const char *c = kjson_str(entry, "command");
	char quote = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		kbuf_printf(
		    line, "%s%s", i ? "\037" : "", json_string_value(json_array_get(list, i)));
	for (; !list && *c; c++) {
		if (*c == '\\' && c[1] && quote != '\'')
			kbuf_add(line, ++c, 1);
		else if (quote ? *c == quote : *c == '"' || *c == '\'')
			quote = quote ? 0 : *c;
		else if (quote || !strchr(" \t\n", *c))
			kbuf_add(line, c, 1);
		else if (line->len && line->data[line->len - 1] != '\037')
			kbuf_puts(line, "\037");
	}
}

json_t *
compile_commands(const char *folder, const char *file, bool cxx)
{
	static const char *const places[] = { ".", "build", "out", "cmake-build-release",
		"builddir" };
	const json_t *row = rules_language(file);
	struct subject subject = { folder, path_of("%s/%s", folder, file), "",
		kjson_bool(row, "device"), cxx };
	json_t *found = NULL;
	bool astray;

	for (size_t i = 0; i < LEN(places) && !found; i++) {
		char *path = path_of("%s/%s/compile_commands.json", folder, places[i]);
		json_t *list = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);

		kjson_foreach(entry, list) {
			auto_buf struct kbuf words = { 0 }, line = { 0 };
			size_t first;

			kbuf_puts(&words, "");
			add_words(&words, entry);
			first = strcspn(words.data, "\037");
			/* The compiler, the folder, and the arguments, in the shims' format. */
			kbuf_printf(&line, "%.*s\037%s%s", (int)first, words.data,
			    json_string_value(json_object_get(entry, "directory")) ?: folder,
			    words.data + first);
			found = compile_of(&subject, line.data, &astray);
			if (found)
				break;
		}
		json_decref(list);
	}
	return found;
}

void
compile_settle(json_t *settings, const char *architecture)
{
	/* Leave out code that no call of the kernel needs, and its imports. */
	static const char *const more[] = { "-cudart", "shared", "-Xcompiler",
		"-fvisibility=default,-ffunction-sections", "-Xlinker", "--gc-sections" };
	json_t *flags = json_object_get(settings, "flags");
	bool any = false;

	if (strcmp(base_name(kjson_str(settings, "compiler")), "nvcc"))
		return;
	for (size_t i = 0; i < json_array_size(flags); i++) {
		const char *flag = json_string_value(json_array_get(flags, i)),
		           *at = strstr(flag, "native");

		any |= strstr(flag, "arch") != NULL;
		if (architecture && at && !at[6] && (at == flag || at[-1] == '='))
			json_array_set_new(
			    flags, i, json_sprintf("%.*s%s", (int)(at - flag), flag, architecture));
	}
	if (architecture && !any)
		json_array_append_new(flags, json_sprintf("-arch=%s", architecture));
	for (size_t i = 0; i < LEN(more); i++)
		json_array_append_new(flags, json_string(more[i]));
}
