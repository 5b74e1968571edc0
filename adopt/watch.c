/* SPDX-License-Identifier: Apache-2.0 */
/* watch: see watch.h. */
#include "watch.h"

#include "adopt.h"
#include "call.h"
#include "instance.h"

enum { SOURCE_MAX = 8 << 20, RAW_MAX = 1 << 30 };

struct watch watch;
struct signature watched;

char *
watch_copy_path(void)
{
	return siblings_copy_path(watch.folder);
}

char *
watch_source(size_t *len)
{
	return kread_file_or_die(
	    path_join(watch.overlay ?: adoption.project, adoption.file), SOURCE_MAX, len);
}

void
watch_find(void)
{
	size_t len;
	char *text = watch_source(&len);
	auto_free char *why = NULL;

	signature_free(&watched);
	why = signature_find(&watched, text, len, adoption.kernel, first_line(adoption.unit));
	if (why)
		kdie_usage("%s/%s: %s: %s", adoption.project, adoption.file, adoption.kernel, why);
}

/* ---- the copy ---- */

void
watch_copy(void)
{
	char *copy = watch_copy_path();

	kmake_folder(watch.folder);
	copy_project(copy);
	/* Also over links. */
	if (watch.overlay)
		free(program_output(NULL, K_IO, "cp", "-R", "--remove-destination", "--",
		    path_join(watch.overlay, "."), copy));
}

/*
 * Run a command of the project in the copy; dies unless it succeeds. Returns the file with its
 * whole output.
 */
static char *
run_command(const char *what, const char *command, const json_t *env)
{
	struct command_result r = command_run(watch_copy_path(), command, env, what);

	if (r.status)
		kdie(K_MISSING, "%s:\n%s", r.why, r.said);
	return r.log;
}

/*
 * A folder of linkers that compilers find first, for programs with CUDA's static run-time library,
 * whose launches cannot be seen: see ld.sh. The compiler itself need not be on the PATH. The caller
 * frees.
 */
static char *
linkers(void)
{
	size_t len;
	auto_free char *from = kdata_path("adopt/ld.sh"),
	               *text = kread_file_or_die(from, SOURCE_MAX, &len);
	char *folder = path_join(watch.folder, "linkers");

	kmake_folder(folder);
	kforeach_text(name, "ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold") {
		char *path = path_join(folder, name);

		write_bytes(path, text, len);
		if (chmod(path, 0755) < 0)
			kdie_io("%s", path);
	}
	return folder;
}

void
watch_build(void)
{
	const char *given = getenv("COMPILER_PATH");
	json_auto_t *env = json_object();

	if (watch.cuda)
		kjson_put(env, "COMPILER_PATH",
		    kshown("%s%s%s", linkers(), given ? ":" : "", given ?: ""));
	run_command("watch-build", adoption.build, env);
}

/* ---- the wrapper ---- */

/* The text of the file from FROM to TO. */
static void
add_text(struct kbuf *b, size_t from, size_t to)
{
	kbuf_slice(b, watched.text, from, to);
}

/*
 * What follows the function's name, up to TO, without default values, which only one declaration
 * may give, and without comments.
 */
static void
add_parameters(struct kbuf *b, size_t to)
{
	const struct kscan *k = &watched.scan;

	for (size_t p = watched.behind; p < to;)
		if (k->code[p] == '=' && p < watched.of.close)
			p = kscan_part(k, p, watched.of.close, true);
		else
			kbuf_add(b, k->code + p++, 1);
}

/* The whole definition before its body, with SUFFIX after the function's name. */
static void
add_head(struct kbuf *b, const char *suffix, bool defaults)
{
	add_text(b, watched.f->from, watched.behind);
	kbuf_puts(b, suffix);
	if (defaults)
		add_text(b, watched.behind, watched.f->body);
	else
		add_parameters(b, watched.f->body);
}

/* Does the head of the function contain these words, in this order? */
static bool
has_names(const json_t *names)
{
	size_t at = watched.f->name_at;

	kjson_foreach_text(name, names)
		at = kscan_find(&watched.scan, at, watched.f->body, name) + 1;
	return at <= watched.f->body;
}

/*
 * The names of the function's parameters. A macro may hide them from the scanner; the unit has them
 * from the compiler, and they stay right until a winner with other names is put in. The caller
 * frees.
 */
static char *
names_of(void)
{
	const json_t *names = json_object_get(adoption.unit, "names");
	struct kbuf b = kbuf_empty();

	if (names && has_names(names))
		kjson_foreach_text(name, names)
			kbuf_join(&b, ", ", name);
	else
		kscan_params(p, &watched.of)
			kbuf_join(&b, ", ", p->name);
	return b.data;
}

/* The call of the function itself. The caller frees. */
static char *
inner_call(void)
{
	auto_free char *names = names_of(), *templates = instance_formals(watched.of.result);
	const char *kernel = adoption.kernel;

	return kscan_has_path(kernel) ? kasprintf("kwatch_body(%s)", names)
	    : watched.kernel ? kasprintf("%s%s%s<<<kwatch_grid, kwatch_block, kwatch_shared, "
	                                 "kwatch_stream>>>(%s)",
	                           kscan_hides(watched.f) ? "::" : "", kernel, templates, names)
	                     : kasprintf("%s__kwatched%s(%s)", kernel, templates, names);
}

/* The function's own parameters, for views/wrapper.jq. New reference. */
static json_t *
own_parameters(const struct kscan_signature *g)
{
	json_t *list = json_array();

	kscan_params(p, g) {
		/* Does it point to a type with a size? */
		bool items = p->stars && !p->strange && (p->stars > 1 || strcmp(p->type, "void"));

		kjson_append(list, "{s:s,s:b,s:b,s:b}", "name", p->name, "constant", p->constant,
		    "items", items, "stream", signature_is_stream(p));
	}
	return list;
}

/* What the wrapper does, up to its closing brace. */
static void
add_watching(struct kbuf *b)
{
	const json_t *entry = strcmp(adoption.entry, adoption.kernel)
	    ? json_object_get(adoption.unit, "parameters")
	    : NULL;
	/* Calls of other instances of a template do not belong to the unit. */
	auto_free char *same = instance_condition(watched.of.result, adoption.unit),
	               *call = inner_call();
	json_auto_t *input = json_pack("{s:s,s:s,s:s,s:b,s:b,s:b,s:o,s:O*}", "kernel",
	                adoption.kernel, "call", call, "same", same, "returns", watched.returns,
	                "launched", watched.kernel, "device", adoption.device, "own",
	                own_parameters(&watched.of), "entry", entry),
	            *text = kjq("views/wrapper.jq", input);

	kbuf_puts(b, kjson_item(text, 0));
}

/* "template<…> static void NAME(…)" for the wrapper of a kernel. */
static void
add_launch_head(struct kbuf *b)
{
	int template = (int)kscan_template(&watched.of);

	/* A kernel defined in one source may be launched in others, where it is declared. */
	kbuf_printf(b, "%.*s%svoid %s__kwatched", template, watched.of.result,
	    template || rules_is_header(adoption.file) ? " static inline " : "", adoption.kernel);
	add_parameters(b, watched.of.close);
	kbuf_printf(b,
	    "%sdim3 kwatch_grid, dim3 kwatch_block, size_t kwatch_shared, "
	    "cudaStream_t kwatch_stream)",
	    watched.of.count ? ", " : "");
}

static void
add_wrapper(struct kbuf *b)
{
	if (watched.kernel)
		add_launch_head(b);
	else
		add_head(b, "", false);
	kbuf_puts(b, "\n{\n");
	add_watching(b);
}

/* "#line N" for the text at AT. */
static void
add_line(struct kbuf *b, size_t at)
{
	kbuf_printf(b, "#line %zu\n", kline_at(watched.text, at));
}

/* A strict build's warnings about lines added here have nothing to do with the application. */
static const char quiet[] = "#pragma GCC diagnostic push\n"
                            "#pragma GCC diagnostic ignored \"-Wpedantic\"\n"
                            "#pragma GCC diagnostic ignored \"-Wmissing-declarations\"\n"
                            "#pragma GCC diagnostic ignored \"-Wredundant-decls\"\n",
                  loud[] = "#pragma GCC diagnostic pop\n";

/*
 * A member, whose class is left as it is: its body becomes a function in it, which may use the
 * object and what is private.
 */
static void
add_around_body(struct kbuf *b)
{
	auto_free char *names = names_of();

	add_text(b, watched.f->from, watched.f->body);
	kbuf_puts(b, "{\n\tauto kwatch_body = [&]");
	add_parameters(b, watched.of.close + 1);
	kbuf_printf(b, " -> decltype(%s(%s))\n", kscan_plain(adoption.kernel), names);
	add_line(b, watched.f->body);
	add_text(b, watched.f->body, watched.f->to);
	kbuf_puts(b, ";\n");
	add_watching(b);
}

/* The function under another name, with prototypes before it, and the wrapper after it. */
static void
add_renamed(struct kbuf *b)
{
	add_head(b, "", true);
	kbuf_puts(b, ";\n");
	add_head(b, "__kwatched", false);
	kbuf_printf(b, ";\n%s", loud);
	add_line(b, watched.f->from);
	add_head(b, "__kwatched", false);
	add_text(b, watched.f->body, watched.f->to);
	kbuf_printf(b, "\n%s", quiet);
	add_wrapper(b);
}

/*
 * A launch in a template may be one of another overload of the kernel, X: a function with the
 * wrapper's name then launches that, and nothing is recorded.
 */
static void
add_other(struct kbuf *b, const struct kscan_item *x)
{
	struct signature own = watched;
	auto_free char *why = signature_find(&watched, kstrdup(own.text), own.scan.len,
	                   adoption.kernel, kline_at(own.text, x->name_at)),
	               *call = why ? NULL : inner_call();

	if (call) {
		kbuf_puts(b, "\n");
		add_launch_head(b);
		kbuf_printf(b, "\n{\n\t%s;\n}\n", call);
		add_line(b, x->to);
	}
	signature_free(&watched);
	watched = own;
}

/* The text of the file from FROM to TO, in which there may be other overloads of the kernel. */
static void
add_around(struct kbuf *b, size_t from, size_t to)
{
	kscan_items(x, &watched.scan)
		if (watched.kernel && x != watched.f && x->kind == KSCAN_FUNCTION &&
		    x->from >= from && x->to <= to && kscan_declares(x, adoption.kernel)) {
			add_text(b, from, x->to);
			add_other(b, x);
			from = x->to;
		}
	add_text(b, from, to);
}

/* The text of the file with the wrapper in it; line numbers stay right. */
static void
wrap(struct kbuf *b, const char *header)
{
	add_text(b, 0, watched.include);
	kbuf_printf(b, "#include \"%s\"\n", header);
	add_line(b, watched.include);
	add_around(b, watched.include, watched.f->from);
	if (watched.kernel) {
		/* The kernel is unchanged; its launches call the wrapper. */
		add_text(b, watched.f->from, watched.f->to);
		kbuf_puts(b, "\n");
		add_wrapper(b);
	} else {
		kbuf_puts(b, quiet);
		(kscan_has_path(adoption.kernel) ? add_around_body : add_renamed)(b);
		kbuf_puts(b, loud);
	}
	add_line(b, watched.f->to);
	add_around(b, watched.f->to, watched.scan.len);
}

/*
 * Turns "name<T><<<grid, block>>>(a, b)" into "name__kwatched<T>(a, b, grid, block)", with the same
 * number of lines.
 */
static void
add_replaced(struct kbuf *b, const char *text, const struct kscan_launch *l)
{
	const char *const rest[] = { l->grid, l->block, l->shared, l->stream };

	kbuf_printf(b, "%s__kwatched%s(%s", l->kernel, l->arguments, l->call);
	for (size_t i = 0; i < LEN(rest); i++)
		kbuf_printf(b, "%s%s", i || *l->call ? ", " : "", *rest[i] ? rest[i] : "0");
	kbuf_puts(b, ")");
	for (size_t p = l->at; p < l->to; p++)
		if (text[p] == '\n' || (text[p] == '\\' && kis_space(text[p + 1])))
			kbuf_add(b, text + p, 1);
}

/* All launches of the kernel in one file of the copy. */
static void
replace_in(const char *file)
{
	char *path = path_join(watch_copy_path(), file);
	auto_buf struct kbuf b = { 0 };
	auto_scan struct kscan k = { 0 };
	size_t len, done = 0;
	auto_free char *text = kread_file(path, SOURCE_MAX, &len);

	if (!text)
		return;
	kscan_through(text, &k);
	kforeach_of(l, k.launches, k.launch_count) {
		/* Not the launch in the wrapper itself. */
		if (strcmp(kscan_plain(l->kernel), adoption.kernel) ||
		    !strcmp(l->grid, "kwatch_grid") || call_is_other(file, l))
			continue;
		kbuf_slice(&b, text, done, l->at);
		add_replaced(&b, text, l);
		done = l->to;
	}
	kbuf_slice(&b, text, done, len);
	if (done)
		write_inside(watch.folder, path, b.data, b.len);
}

static void
replace_launches(void)
{
	json_auto_t *seen = json_object();

	kjson_foreach(l, adoption.unit, "launches") {
		const char *file = kjson_str(l, "file");

		if (kjson_enter(seen, file))
			replace_in(file);
	}
}

/* Declares the wrapper next to the kernel's declaration. */
static void
declare_wrapper(void)
{
	char *copy = watch_copy_path();
	struct call_sites sites;
	auto_buf struct kbuf head = { 0 };

	add_launch_head(&head);
	call_find(copy, NULL, &sites);
	kforeach_list(x, &sites.edits) {
		x->from = x->to;
		x->text = kasprintf(" %s;", head.data);
	}
	edits_write(&sites.edits, watch.folder, copy);
	edits_free(&sites.edits);
}

static void
put_wrapper(void)
{
	auto_free char *header = kdata_path("adopt/wrapper.h"),
	               *words = kread_file_or_die(header, SOURCE_MAX, NULL);
	char *copy = watch_copy_path(), *shown = path_join(copy, ".kwatch.h");
	auto_buf struct kbuf b = { 0 };

	wrap(&b, shown);
	write_inside(watch.folder, shown, words, strlen(words));
	write_inside(watch.folder, path_join(copy, adoption.file), b.data, b.len);
	if (watched.kernel) {
		declare_wrapper();
		replace_launches();
	}
}

void
watch_prepare(void)
{
	watch_copy();
	put_wrapper();
	watch_build();
}

/* ---- a run ---- */

/* Which programs loaded kwatch: the end of a file's name. */
#define LOADED "/raw.loaded"

static json_t *seen; /* the calls of a run */

static int
is_raw(const struct dirent *e)
{
	return kbegins(e->d_name, "raw.");
}

/* Does EACH with kwatch's files, in the order in which their processes made their first calls. */
static void
walk_raw(void (*each)(const char *path))
{
	struct dirent **list;
	int n = scandir(watch.folder, &list, is_raw, alphasort);

	if (n < 0)
		kdie_io("%s", watch.folder);
	for (int i = 0; i < n; i++) {
		each(path_join(watch.folder, list[i]->d_name));
		free(list[i]);
	}
	free(list);
}

static void
remove_raw(const char *path)
{
	unlink(path);
}

/* Appends the calls of one process to those that were seen. */
static void
read_raw(const char *path)
{
	auto_free char *text = kread_file(path, RAW_MAX, NULL);
	const char *why;

	if (!text)
		kdie_io("%s", path);
	kpart_foreach(p, strstr(path, LOADED) ? NULL : text, "\n") {
		struct krec rec;

		if ((why = krec_parse(&rec, p, strlen(p))))
			kdie(K_MISSING,
			    "%s: %s: the application overwrote these records, or was killed", path,
			    why);
		if (json_object_get(rec.json, "end"))
			watch.dropped +=
			    kjson_int(rec.json, "calls") - kjson_int(rec.json, "written");
		else
			json_array_append(seen, rec.json);
		krec_free(&rec);
	}
}

/* Did the program in the run command load the library? */
static bool
was_loaded(const char *program)
{
	auto_free char *text = kread_file(path_of("%s" LOADED, watch.folder), 1 << 20, NULL);

	return text && (!*program || strstr(text, program));
}

/*
 * A shared library that the build makes in $1, but that the program, $2, loads from elsewhere, as
 * "NAME => PATH": an installed version of it, for example.
 */
static const char foreign_script[] =
    "cd \"$1\" && ldd \"$2\" | while read -r name is path rest; do\n"
    "	[ \"$is\" = '=>' ] || continue\n"
    "	case $(realpath -- \"$path\") in \"$PWD\"/*) continue ;; esac\n"
    "	[ -z \"$(find . -name \"$name\" -print -quit)\" ] || echo \"$name => $path\"\n"
    "done\n";

static void
die_foreign(const char *program)
{
	auto_free char *found = script_output(NULL, 0, foreign_script, watch_copy_path(), program);

	if (*found)
		kdie(K_MISSING,
		    "no call of %s was seen in '%s': the program loads %.*s, not the library that "
		    "the build makes; begin the run command with LD_LIBRARY_PATH=FOLDER",
		    adoption.kernel, adoption.run, (int)strcspn(found, "\n"), found);
}

/* Explains why nothing was seen. */
static _Noreturn void
die_unseen(void)
{
	const char *path = watch_program(), *program = basename(path);

	if (!was_loaded(program))
		kdie(K_MISSING,
		    "no call of %s was seen, because the watching library was not loaded into %s; "
		    "programs that are linked statically or change their user do not load it",
		    adoption.kernel, *program ? program : "any program");
	if (*path)
		die_foreign(path);
	kdie(K_MISSING,
	    "no call of %s was seen in '%s': it is not called on this path, or the build command "
	    "did not rebuild %s (see %s/adopt/log/watch-build.log)",
	    adoption.kernel, adoption.run, adoption.file, adoption.dir);
}

json_t *
watch_run(enum watch_mode mode)
{
	auto_free char *library = khelper_path("kwatch.so");
	/* Lines "KERNEL KIND:NAME…" for launches: the parameters of the kernels in the file. */
	char *layout = path_join(watch.folder, "layout.txt");
	json_auto_t *env =
	    json_pack("{s:o,s:s,s:s,s:s*,s:s*}", "KWATCH_OUT", json_sprintf("%s/raw", watch.folder),
	        "KWATCH_MODE", mode == WATCH_TIME ? "time" : "args", "LD_PRELOAD", library,
	        "KWATCH_LAYOUT", kis_there(layout) ? layout : NULL, "KWATCH_SAVE", watch.save);

	watch.dropped = 0;
	seen = json_array();
	walk_raw(remove_raw);
	run_command(mode == WATCH_TIME ? "watch-time" : "watch-args", adoption.run, env);
	walk_raw(read_raw);
	if (!json_array_size(seen))
		die_unseen();
	walk_raw(remove_raw);
	return seen;
}

char *
watch_log(size_t *len)
{
	return kread_file_or_die(run_command("watch-log", adoption.run, NULL), RAW_MAX, len);
}

char *
watch_program(void)
{
	auto_free char *word = program_of(adoption.run);
	char *path = *word == '/' ? path_of("%s", word) : path_join(watch_copy_path(), word);
	struct stat st;

	return *word && kfind(path, &st) && S_ISREG(st.st_mode) ? path : path_of("%s", "");
}
