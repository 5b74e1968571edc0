/* SPDX-License-Identifier: Apache-2.0 */
/* watch: see watch.h. */
#include "watch.h"

#include "adopt.h"
#include "call.h"
#include "instance.h"
#include "kio.h"
#include "ktoken.h"

enum { SOURCE_MAX = 8 << 20, RAW_MAX = 1 << 30 };

char *
watch_copy_path(const struct watch *w)
{
	return siblings_copy_path(w->a, w->folder);
}

static char *
join(const char *folder, const char *name)
{
	return path_of("%s/%s", folder, name);
}

char *
watch_source(const struct watch *w, size_t *len)
{
	return kread_file_or_die(
	    join(w->overlay ? w->overlay : w->a->project, w->a->file), SOURCE_MAX, len);
}

void
watch_find(const struct watch *w, struct signature *s)
{
	char why[512];
	size_t len;
	auto_free char *text = watch_source(w, &len);

	if (!signature_find(text, len, w->a->kernel, first_line(w->a->unit), s, why, sizeof why))
		kdie(K_USAGE, "%s/%s: %s: %s", w->a->project, w->a->file, w->a->kernel, why);
}

/* ---- the copy ---- */

void
watch_copy(const struct watch *w)
{
	char *copy = watch_copy_path(w);

	kmake_folder(w->folder);
	copy_project(w->a, copy);
	if (w->overlay)
		copy_over(w->overlay, copy);
}

/*
 * Run a command of the project in the copy; dies unless it succeeds. Returns the file with its
 * whole output.
 */
static char *
run_command(const struct watch *w, const char *what, const char *command, char *const *env)
{
	char *log;
	struct command_result r;

	command_run(w->a, watch_copy_path(w), command, env, what, &r);
	if (r.status)
		kdie(K_MISSING, "%s:\n%s", r.why, r.said);
	log = r.log;
	command_free(&r);
	return log;
}

/*
 * A folder of linkers that compilers find first, for programs with CUDA's static run-time library,
 * whose launches cannot be seen: see ld.sh. The compiler itself need not be on the PATH. The caller
 * frees.
 */
static char *
linkers(const struct watch *w)
{
	static const char *const names[] = { "ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold" };
	size_t len;
	auto_free char *from = kdata_path("adopt/ld.sh"),
	               *text = kread_file_or_die(from, SOURCE_MAX, &len);
	char *folder = join(w->folder, "linkers");

	kmake_folder(folder);
	for (size_t i = 0; i < LEN(names); i++) {
		char *path = join(folder, names[i]);

		write_bytes(path, text, len);
		if (chmod(path, 0755) < 0)
			kdie_errno(K_IO, "%s", path);
	}
	return folder;
}

void
watch_build(const struct watch *w)
{
	const char *given = getenv("COMPILER_PATH");
	char *folder = w->cuda ? linkers(w) : NULL;
	char *env[] = { folder ? kasprintf("COMPILER_PATH=%s%s%s", folder, given ? ":" : "",
		                     given ? given : "")
		               : NULL,
		NULL };

	run_command(w, "watch-build", w->a->build, env);
	free(env[0]);
}

/* ---- the wrapper ---- */

/* The end of the default value that begins at CODE. */
static const char *
behind_default(const char *code)
{
	int depth = 0;

	for (; *code && (depth || !strchr(",)", *code)); code++)
		depth += (strchr("([{", *code) != NULL) - (strchr(")]}", *code) != NULL);
	return code;
}

/*
 * The parameters without their default values, which only one declaration may give, and without
 * comments.
 */
static void
add_parameters(struct kbuf *b, const char *text, size_t len)
{
	auto_free char *code = ktoken_strip(text, len, KTOKEN_C);

	for (const char *p = code; *p;)
		if (*p == '=')
			p = behind_default(p);
		else
			kbuf_add(b, p++, 1);
}

/* The whole definition before its body, with SUFFIX after the function's name. */
static void
add_head(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w,
    const char *suffix, bool defaults)
{
	size_t behind = s->name + strlen(w->a->kernel);

	kbuf_add(b, text + s->from, s->name - s->from);
	kbuf_printf(b, "%s%s", w->a->kernel, suffix);
	if (defaults)
		kbuf_add(b, text + behind, s->body - behind);
	else
		add_parameters(b, text + behind, s->body - behind);
}

/* Does the head of the function in TEXT contain these words, in this order? */
static bool
has_names(const char *text, const struct signature *s, const json_t *names)
{
	const char *at = text + s->name;

	kjson_foreach(name, names) {
		const char *word = json_string_value(name);
		size_t n = strlen(word);

		while ((at = strstr(at, word)) && (kis_word(at[-1]) || kis_word(at[n])))
			at += n;
		if (!at || at >= text + s->body)
			return false;
		at += n;
	}
	return true;
}

/*
 * The names of the function's parameters. A macro may hide them from the scanner; the unit has them
 * from the compiler, and they stay right until a winner with other names is put in.
 */
static void
add_names(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w)
{
	const json_t *names = json_object_get(w->a->unit, "names");

	if (!names || !has_names(text, s, names))
		names = NULL;
	for (size_t i = 0; names && i < json_array_size(names); i++)
		kbuf_printf(b, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
	for (size_t i = 0; !names && i < s->of.count; i++)
		kbuf_printf(b, "%s%s", i ? ", " : "", s->of.params[i].name);
}

static void
add_call(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w)
{
	auto_free char *templates = instance_formals(s->of.result);

	if (kscan_has_path(w->a->kernel))
		kbuf_puts(b, "kwatch_body(");
	else if (s->kernel)
		kbuf_printf(b, "%s%s<<<kwatch_grid, kwatch_block, kwatch_shared, kwatch_stream>>>(",
		    w->a->kernel, templates);
	else
		kbuf_printf(b, "%s__kwatched%s(", w->a->kernel, templates);
	add_names(b, text, s, w);
	kbuf_puts(b, ")");
}

/* The wrapper's expression for a part of the launch: "grid_x". */
static char *
launch_value(const char *name)
{
	static const char *const parts[][2] = { { "grid_", "kwatch_grid." },
		{ "block_", "kwatch_block." }, { "shared_bytes", "kwatch_shared" },
		{ "stream", "kwatch_stream" } };

	for (size_t i = 0; i < LEN(parts); i++) {
		size_t n = strlen(parts[i][0]);

		if (!strncmp(name, parts[i][0], n))
			return kasprintf("%s%s", parts[i][1], name + n);
	}
	return kstrdup(name);
}

/*
 * The arguments of the task's entry, each in a variable of its own: the function's own arguments
 * need not be numbers and arrays.
 */
static void
add_values(struct kbuf *b, const struct watch *w, const struct signature *s)
{
	const json_t *list = json_object_get(w->a->unit, "parameters");

	kjson_foreach(p, list) {
		const char *name = kjson_str(p, "name"), *type = kjson_str(p, "type"),
		           *guard = kjson_str(p, "guard"), *then = *guard ? " ? " : "",
		           *other = *guard ? " : 0" : "";
		auto_free char *value = s->kernel && kjson_bool(p, "launch")
		    ? launch_value(name)
		    : kstrdup(kjson_str(p, "value"));

		if (kjson_bool(p, "result"))
			kbuf_printf(b,
			    "\t__typeof__(&kwatch_result) kwatch_of_%s = &kwatch_result;\n", name);
		else if (kjson_bool(p, "pointer"))
			kbuf_printf(b, "\t%s *kwatch_of_%s = %s%s(%s *)(%s)%s;\n", type, name,
			    guard, then, type, value, other);
		else
			kbuf_printf(b, "\t%s kwatch_of_%s = %s%s(%s)(%s)%s;\n", type, name, guard,
			    then, type, value, other);
	}
}

/* Is VALUE an lvalue, such as "f->rows[1].cells", and not any expression? */
static bool
is_place(const char *value)
{
	for (; *value; value++) {
		value += !strncmp(value, "->", 2);
		if (!kis_word(*value) && !strchr(".[]>", *value))
			return false;
	}
	return true;
}

/* The number of the entry's argument NAME, counted from 1; 0: there is none. */
static size_t
argument_number(const struct watch *w, const char *name)
{
	const json_t *list = json_object_get(w->a->unit, "parameters");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (kjson_is(json_array_get(list, i), "name", name))
			return i + 1;
	return 0;
}

/*
 * One argument of the entry. For an array, and for a place in one, what guard.c of kwatch needs:
 * its elements, its place.
 */
static void
add_argument(struct kbuf *b, const struct watch *w, const json_t *p)
{
	const char *name = kjson_str(p, "name"), *size = kjson_str(p, "size"),
	           *value = kjson_str(p, "value"), *guard = kjson_str(p, "guard"),
	           *place = kjson_str(p, "place");
	bool pointer = kjson_bool(p, "pointer"),
	     array = pointer && !*size && !w->a->device && !kjson_bool(p, "result");

	kbuf_printf(b, "\t\t{ \"%s\", &kwatch_of_%s, sizeof kwatch_of_%s, ", name, name, name);
	if (!pointer && strstr(kjson_str(p, "type"), "tream"))
		kbuf_puts(b, "KWATCH_STREAM, 0, 0, ");
	else
		kbuf_printf(b, "KWATCH_KIND(kwatch_of_%s), %d, %s, ", name,
		    kjson_bool(p, "constant"), *size ? size : "0");
	if (array)
		kbuf_printf(b, "sizeof *kwatch_of_%s, ", name);
	if (*place)
		kbuf_printf(b, "%zu, &(%s) },\n", argument_number(w, kjson_str(p, "along")), place);
	else if (array && is_place(value))
		kbuf_printf(b, *guard ? "%s ? &(%s) : 0 },\n" : "%s&(%s) },\n", guard, value);
	else
		kbuf_puts(b, array ? "0 },\n" : "0, 0 },\n");
}

static void
add_arguments(struct kbuf *b, const struct watch *w)
{
	const json_t *list = json_object_get(w->a->unit, "parameters");

	kjson_foreach(p, list)
		add_argument(b, w, p);
}

/* Does it point to a type with a size? */
static bool
has_items(const struct kscan_param *p)
{
	return p->stars && !p->strange && (p->stars > 1 || strcmp(p->type, "void"));
}

/* The arguments with their declarations. */
static void
add_own_arguments(struct kbuf *b, const struct signature *s)
{
	for (size_t i = 0; i < s->of.count; i++)
		if (signature_is_stream(&s->of.params[i]))
			kbuf_printf(b, "\t\tKWATCH_STREAM_ARG(%s),\n", s->of.params[i].name);
		else
			kbuf_printf(b, "\t\tKWATCH_ARG(%s, %d, %s%s),\n", s->of.params[i].name,
			    s->of.params[i].constant,
			    has_items(&s->of.params[i]) ? "sizeof *" : "0",
			    has_items(&s->of.params[i]) ? s->of.params[i].name : "");
}

/* "template<…> static void NAME(…)" for the wrapper of a kernel. */
static void
add_launch_head(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w)
{
	size_t behind = s->name + strlen(w->a->kernel), close = s->body;
	const char *template = strncmp(s->of.result, "template", 8) ? "" : s->of.result;
	int angle = 0;
	size_t n = 0;

	while (template[n] && (n < 8 || angle || template[n] == '<')) {
		angle += (template[n] == '<') - (template[n] == '>');
		n++;
		if (n > 9 && !angle)
			break;
	}
	while (close > behind && text[close - 1] != ')')
		close--;
	/* A kernel defined in one source may be launched in others, where it is declared. */
	kbuf_printf(b, "%.*s%svoid %s__kwatched", (int)n, template,
	    *template || rules_is_header(w->a->file) ? " static inline " : "", w->a->kernel);
	add_parameters(b, text + behind, close - 1 - behind);
	kbuf_printf(b,
	    "%sdim3 kwatch_grid, dim3 kwatch_block, size_t kwatch_shared, "
	    "cudaStream_t kwatch_stream)",
	    s->of.count ? ", " : "");
}

/* What the wrapper does, up to its closing brace. */
static void
add_watching(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w)
{
	bool entry = strcmp(w->a->entry, w->a->kernel) != 0;
	size_t count =
	    entry ? json_array_size(json_object_get(w->a->unit, "parameters")) : s->of.count;
	auto_free char *same = instance_condition(s->of.result, w->a->unit);

	/* Calls of other instances of a template do not belong to the unit. */
	if (*same) {
		kbuf_printf(b, "\tif (!(%s)) {\n\t\t%s", same, s->returns ? "return " : "");
		add_call(b, text, s, w);
		kbuf_puts(b, s->returns ? ";\n\t}\n" : ";\n\t\treturn;\n\t}\n");
	}
	if (s->returns) {
		kbuf_puts(b, "\t__typeof__(");
		add_call(b, text, s, w);
		kbuf_puts(b, ") kwatch_result;\n");
	}
	if (entry)
		add_values(b, w, s);
	kbuf_puts(b, "\tconst struct kwatch_arg kwatch_args[] = {\n");
	if (entry)
		add_arguments(b, w);
	else
		add_own_arguments(b, s);
	if (!count)
		kbuf_puts(b, "\t\t{ \"\", 0, 0, KWATCH_OTHER, 0, 0, 0, 0 },\n");
	kbuf_printf(b,
	    "\t};\n\tstruct kwatch_call kwatch_call = { \"%s\", kwatch_args, %zu, KWATCH_CUDA, 0 "
	    "};\n\n",
	    w->a->kernel, count);
	kbuf_puts(b, "\tkwatch_start(&kwatch_call);\n\t");
	kbuf_puts(b, s->returns ? "kwatch_result = " : "");
	add_call(b, text, s, w);
	kbuf_printf(b, ";\n\tkwatch_stop(&kwatch_call);\n%s}\n",
	    s->returns ? "\treturn kwatch_result;\n" : "");
}

static void
add_wrapper(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w)
{
	if (s->kernel)
		add_launch_head(b, text, s, w);
	else
		add_head(b, text, s, w, "", false);
	kbuf_puts(b, "\n{\n");
	add_watching(b, text, s, w);
}

/* "#line N" for the text at AT in TEXT. */
static void
add_line(struct kbuf *b, const char *text, size_t at)
{
	kbuf_printf(b, "#line %zu\n", kline_at(text, at));
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
add_around_body(struct kbuf *b, const char *text, const struct signature *s, const struct watch *w)
{
	const char *name = kscan_plain(w->a->kernel);
	size_t behind = s->name + strlen(name);

	kbuf_add(b, text + s->from, s->body - s->from);
	kbuf_puts(b, "{\n\tauto kwatch_body = [&]");
	add_parameters(b, text + behind, s->of.close + 1 - behind);
	kbuf_printf(b, " -> decltype(%s(", name);
	add_names(b, text, s, w);
	kbuf_puts(b, "))\n");
	add_line(b, text, s->body);
	kbuf_add(b, text + s->body, s->end - s->body);
	kbuf_puts(b, ";\n");
	add_watching(b, text, s, w);
}

/*
 * TEXT with prototypes before the definition, the function renamed, and the wrapper after it; line
 * numbers stay right.
 */
static void
wrap(struct kbuf *b, const char *text, size_t len, const struct signature *s, const struct watch *w,
    const char *header)
{
	kbuf_add(b, text, s->include);
	kbuf_printf(b, "#include \"%s\"\n", header);
	add_line(b, text, s->include);
	kbuf_add(b, text + s->include, s->from - s->include);
	if (s->kernel) {
		/* The kernel is unchanged; its launches call the wrapper. */
		kbuf_add(b, text + s->from, s->end - s->from);
		kbuf_puts(b, "\n");
		add_wrapper(b, text, s, w);
		add_line(b, text, s->end);
		kbuf_add(b, text + s->end, len - s->end);
		return;
	}
	kbuf_puts(b, quiet);
	if (kscan_has_path(w->a->kernel)) {
		add_around_body(b, text, s, w);
	} else {
		add_head(b, text, s, w, "", true);
		kbuf_puts(b, ";\n");
		add_head(b, text, s, w, "__kwatched", false);
		kbuf_printf(b, ";\n%s", loud);
		add_line(b, text, s->from);
		add_head(b, text, s, w, "__kwatched", false);
		kbuf_add(b, text + s->body, s->end - s->body);
		kbuf_printf(b, "\n%s", quiet);
		add_wrapper(b, text, s, w);
	}
	kbuf_puts(b, loud);
	add_line(b, text, s->end);
	kbuf_add(b, text + s->end, len - s->end);
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
		if (text[p] == '\n')
			kbuf_puts(b, "\n");
}

/*
 * Does it launch another instance of a template than the entry? Such calls do not belong to the
 * unit.
 */
static bool
is_other(const struct watch *w, const char *file, const struct kscan_launch *l)
{
	const json_t *list = json_object_get(w->a->unit, "launches");

	return kany(kjson_foreach(x, list),
	    kjson_bool(x, "other") && kjson_is(x, "file", file) &&
	        kjson_is(x, "templates", l->arguments) && kjson_is(x, "arguments", l->call));
}

/* All launches of the kernel in one file of the copy. */
static void
replace_in(const struct watch *w, const char *file)
{
	char *path = join(watch_copy_path(w), file);
	auto_buf struct kbuf b = { 0 };
	auto_scan struct kscan k = { 0 };
	struct kscan_launch *list;
	size_t len, done = 0, n;
	auto_free char *text = kread_file(path, SOURCE_MAX, &len);

	if (!text)
		return;
	kscan_through(text, len, &k);
	n = kscan_launches(&k, NULL, &list);
	for (size_t i = 0; i < n; i++) {
		const char *colon = strrchr(list[i].kernel, ':');

		/* Not the launch in the wrapper itself. */
		if (strcmp(colon ? colon + 1 : list[i].kernel, w->a->kernel) ||
		    !strcmp(list[i].grid, "kwatch_grid") || is_other(w, file, &list[i]))
			continue;
		kbuf_add(&b, text + done, list[i].at - done);
		add_replaced(&b, text, &list[i]);
		done = list[i].to;
	}
	kbuf_add(&b, text + done, len - done);
	if (done)
		write_inside(w->folder, path, b.data, b.len);
	kscan_launches_free(list, n);
}

static void
replace_launches(const struct watch *w)
{
	const json_t *list = json_object_get(w->a->unit, "launches");
	json_auto_t *seen = json_object();

	kjson_foreach(l, list) {
		const char *file = kjson_str(l, "file");

		if (!json_object_get(seen, file))
			replace_in(w, file);
		json_object_set_new(seen, file, json_true());
	}
}

/* Declares the wrapper next to the kernel's declaration. */
static void
declare_wrapper(const struct watch *w, const char *text, const struct signature *s)
{
	char *copy = watch_copy_path(w);
	struct call_sites sites;
	struct edits edits = { 0 };
	auto_buf struct kbuf head = { 0 };

	add_launch_head(&head, text, s, w);
	call_find(w->a, copy, &sites);
	for (size_t i = 0; i < sites.count; i++)
		if (sites.list[i].kind == CALL_PROTOTYPE)
			edits_add(&edits, sites.list[i].file, sites.list[i].to, sites.list[i].to,
			    kasprintf(" %s;", head.data));
	edits_write(&edits, w->folder, copy);
	edits_free(&edits);
	call_sites_free(&sites);
}

static void
put_wrapper(const struct watch *w, const struct signature *s)
{
	size_t len;
	auto_free char *header = kdata_path("adopt/wrapper.h"),
	               *words = kread_file_or_die(header, SOURCE_MAX, NULL),
	               *text = watch_source(w, &len);
	char *copy = watch_copy_path(w), *shown = join(copy, ".kwatch.h");
	auto_buf struct kbuf b = { 0 };

	wrap(&b, text, len, s, w, shown);
	write_inside(w->folder, shown, words, strlen(words));
	write_inside(w->folder, join(copy, w->a->file), b.data, b.len);
	if (s->kernel) {
		declare_wrapper(w, text, s);
		replace_launches(w);
	}
}

void
watch_prepare(const struct watch *w, const struct signature *s)
{
	watch_copy(w);
	if (!w->launches)
		put_wrapper(w, s);
	watch_build(w);
}

/* ---- a run ---- */

/* The names of the raw records of earlier runs, which are removed before the next one. */
static void
remove_raw(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "raw.", 4)) {
			char *path = join(folder, e->d_name);

			unlink(path);
		}
	if (d)
		closedir(d);
}

/* Lines "KERNEL KIND:NAME…" for launches: the parameters of the kernels in the file. */
static char *
layout_path(const struct watch *w)
{
	char *path = join(w->folder, "layout.txt");

	return kis_there(path) ? path : NULL;
}

struct raw {
	json_int_t begun;
	json_t *calls;
};

static int
compare_raw(const void *a, const void *b)
{
	json_int_t x = ((const struct raw *)a)->begun, y = ((const struct raw *)b)->begun;

	return (x > y) - (x < y);
}

/* The calls of one process. */
static void
read_raw(const char *path, struct raw *raw, json_int_t *dropped)
{
	auto_free char *text = kread_file(path, RAW_MAX, NULL);
	char why[256];

	*raw = (struct raw){ .calls = json_array() };
	if (!text)
		kdie_errno(K_IO, "%s", path);
	kpart_foreach(p, text, "\n") {
		struct krec rec;

		if (!krec_parse(&rec, p, strlen(p), why, sizeof why))
			kdie(K_MISSING,
			    "%s: %s: the application overwrote these records, or was killed", path,
			    why);
		if (json_object_get(rec.json, "begun_ns"))
			raw->begun = kjson_int(rec.json, "begun_ns");
		else if (json_object_get(rec.json, "end"))
			*dropped += kjson_int(rec.json, "calls") - kjson_int(rec.json, "written");
		else
			json_array_append(raw->calls, rec.json);
		krec_free(&rec);
	}
}

/* All processes that made calls, one after the other. */
static json_t *
collect(const char *folder, json_int_t *dropped)
{
	struct raw *raws = NULL;
	size_t n = 0;
	DIR *d = opendir(folder);
	const struct dirent *e;
	json_t *all = json_array();

	if (!d)
		kdie_errno(K_IO, "%s", folder);
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "raw.", 4) && isdigit((unsigned char)e->d_name[4])) {
			char *path = join(folder, e->d_name);

			raws = krealloc(raws, (n + 1) * sizeof *raws);
			read_raw(path, &raws[n++], dropped);
		}
	closedir(d);
	if (n)
		qsort(raws, n, sizeof *raws, compare_raw);
	for (size_t i = 0; i < n; i++) {
		json_array_extend(all, raws[i].calls);
		json_decref(raws[i].calls);
	}
	free(raws);
	return all;
}

/* Did the program in the run command load the library? */
static bool
was_loaded(const struct watch *w, const char *program)
{
	auto_free char *text = kread_file(join(w->folder, "raw.loaded"), 1 << 20, NULL);

	return text && (!*program || strstr(text, program));
}

/*
 * A shared library that the build makes, but that the program, $1, loads from elsewhere, as "NAME
 * => PATH": an installed version of it, for example.
 */
static const char foreign_script[] =
    "ldd \"$1\" | while read -r name is path rest; do\n"
    "	[ \"$is\" = '=>' ] || continue\n"
    "	case $(realpath -- \"$path\") in \"$PWD\"/*) continue ;; esac\n"
    "	[ -z \"$(find . -name \"$name\" -print -quit)\" ] || echo \"$name => $path\"\n"
    "done\n";

static void
die_foreign(const struct watch *w, const char *program)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)foreign_script, (char *)"sh",
		(char *)program, NULL };
	struct kproc p = { .argv = argv, .cwd = watch_copy_path(w) };
	struct kproc_result r;

	if (*program && kproc_run(&p, &r) >= 0 && r.out_len)
		kdie(K_MISSING,
		    "no call of %s was seen in '%s': the program loads %.*s, not the library that "
		    "the build makes; begin the run command with LD_LIBRARY_PATH=FOLDER",
		    w->a->kernel, w->a->run, (int)strcspn(r.out, "\n"), r.out);
}

/* Explains why nothing was seen. */
static _Noreturn void
die_unseen(const struct watch *w)
{
	char *path = watch_program(w), program[256];
	const char *slash = strrchr(path, '/');

	snprintf(program, sizeof program, "%s", slash ? slash + 1 : path);
	if (!was_loaded(w, program))
		kdie(K_MISSING,
		    "%s of %s was seen, because the watching library was not loaded into %s; "
		    "programs that are linked statically or change their user do not load it",
		    w->launches ? "no launch" : "no call", w->a->kernel,
		    *program ? program : "any program");
	if (w->launches)
		kdie(K_MISSING,
		    "no launch of %s was seen, because the CUDA run-time library is linked "
		    "statically; relink with -cudart shared, or use --instrument (build log: "
		    "%s/adopt/log/watch-build.log)",
		    w->a->kernel, w->a->dir);
	die_foreign(w, path);
	kdie(K_MISSING,
	    "no call of %s was seen in '%s': it is not called on this path, or the build command "
	    "did not rebuild %s "
	    "(see %s/adopt/log/watch-build.log)",
	    w->a->kernel, w->a->run, w->a->file, w->a->dir);
}

json_t *
watch_run(const struct watch *w, enum watch_mode mode, json_int_t *dropped)
{
	auto_free char *library = khelper_path("kwatch.so");
	char *layout = layout_path(w),
	     *env[7] = {
		     kasprintf("KWATCH_OUT=%s/raw", w->folder),
		     kasprintf("KWATCH_MODE=%s", mode == WATCH_TIME ? "time" : "args"),
		     kasprintf("KWATCH_KERNEL=%s", w->launches ? w->a->kernel : ""),
		     kasprintf("LD_PRELOAD=%s", library),
	     };
	json_t *calls;
	size_t n = 4;

	*dropped = 0;
	if (layout)
		env[n++] = kasprintf("KWATCH_LAYOUT=%s", layout);
	if (w->save)
		env[n] = kasprintf("KWATCH_SAVE=%s", w->save);
	remove_raw(w->folder);
	run_command(w, mode == WATCH_TIME ? "watch-time" : "watch-args", w->a->run, env);
	for (size_t i = 0; i < LEN(env); i++)
		free(env[i]);
	calls = collect(w->folder, dropped);
	if (!json_array_size(calls))
		die_unseen(w);
	remove_raw(w->folder);
	return calls;
}

char *
watch_log(const struct watch *w, size_t *len)
{
	return kread_file_or_die(run_command(w, "watch-log", w->a->run, NULL), RAW_MAX, len);
}

char *
watch_program(const struct watch *w)
{
	auto_free char *word = program_of(w->a->run);
	char *path = *word == '/' ? path_of("%s", word) : join(watch_copy_path(w), word);
	struct stat st;

	return *word && kfind(path, &st) && S_ISREG(st.st_mode) ? path : path_of("%s", "");
}
