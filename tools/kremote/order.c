/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order: the program, its arguments, and the files that it reads. On the other machine these
 * files have the same paths, relative to the folder of the run instead of the root. The program
 * runs in the folder that corresponds to ours, so a relative name means the same there. Absolute
 * arguments are made relative to the working folder.
 */
#include "kcamp.h"
#include "kplace.h"
#include "kremote.h"

enum { FILES_MAX_BYTES = 1 << 30 };

/* The folder that corresponds to the root of this machine. */
#define ROOT "files"

/* Variables that mean the same on both machines. */
static const char *const passed[] = { "KILN_PROGRESS", "KILN_NOW" };

struct order order;

static struct making {
	char here[PATH_MAX]; /* the working folder */
	char **args;         /* the arguments there, without -o; owned */
} making;                    /* the order of this process */

/* A path that is sent must be a JSON string. */
static void
append_path(const char *list, const char *path)
{
	if (json_array_append_new(json_object_get(order.head, list), json_string(path)) < 0)
		kdie_usage("%s: the name is not UTF-8", path);
}

/*
 * The name of PATH there: complete, without "." and "..". A folder that ".." leads out of must
 * exist there, too. The caller frees.
 */
static char *
name_there(const char *path)
{
	auto_free char *full = kasprintf("%s/%s", *path == '/' ? "" : making.here, path);
	struct kbuf name = { 0 };

	kbuf_puts(&name, ROOT);
	kpart_foreach(part, full, "/") {
		char *slash = strrchr(name.data, '/');

		if (!strcmp(part, "..") && slash) {
			append_path("folders", name.data);
			*slash = '\0';
			name.len = strlen(name.data);
		} else if (strcmp(part, "..") && strcmp(part, ".")) {
			kbuf_printf(&name, "/%s", part);
		}
	}
	return name.data;
}

static void
add(const char *name, const char *text, size_t len)
{
	json_t *list = json_object_get(order.head, "files");

	if (kjson_find(list, "path", name))
		return;
	if (kjson_append(list, "{s:s,s:I}", "path", name, "size", (json_int_t)len) < 0)
		kdie_usage("%s: the name is not UTF-8", name);
	kbuf_add(&order.files, text, len);
}

static void
add_file(const char *path)
{
	size_t len;
	auto_free char *text = kread_file_or_die(path, FILES_MAX_BYTES, &len),
	               *name = name_there(path);

	add(name, text, len);
}

/* An argument, or the part after "--option=" in it. */
static const char *
argument_value(const char *arg)
{
	return kbegins(arg, "--") && strchr(arg, '=') ? strchr(arg, '=') + 1 : arg;
}

static bool
is_a(const char *path, bool folder)
{
	struct stat st;

	return kfind(path, &st) && (S_ISREG(st.st_mode) || (folder && S_ISDIR(st.st_mode)));
}

/* The form of an argument there. If it is a file, it is sent. The caller frees. */
static char *
translate(const char *arg)
{
	const char *value = argument_value(arg);
	struct kbuf b = { 0 };

	if (!call.shared && is_a(value, false))
		add_file(value);
	kbuf_add(&b, arg, (size_t)(value - arg));
	if (!call.shared && *value == '/' && is_a(value, true)) {
		kbuf_puts(&b, ".");
		for (const char *p = making.here; *p && p[1]; p += 1 + strcspn(p + 1, "/"))
			kbuf_puts(&b, "/..");
	}
	kbuf_puts(&b, value);
	return b.data;
}

/*
 * The value of an option, "-o X", "-oX", "--output X" or "--output=X", at *AT, which is moved to
 * the option's last word. FORM has a group for a value in the same word.
 */
static const char *
option_value(char **args, size_t *at, const char *form)
{
	const char *arg = args[*at];
	struct kregex_span span[2];

	if (!kregex_match(form, arg, span))
		return NULL;
	if (span[1].from != KREGEX_UNSET)
		return arg + span[1].from;
	return args[*at + 1] ? args[++*at] : NULL;
}

/* Converts the arguments. The output stays here, so -o is removed. */
static void
take_arguments(void)
{
	size_t count = 0, n = 0;
	const char *v;

	while (call.args[count])
		count++;
	making.args = kcalloc(2 * count + 1, sizeof *making.args);
	for (size_t i = 0; i < count; i++) {
		if (i &&
		    (v = option_value(call.args, &i, "\\A(?|-o(.+)?|--output(?:=(.*))?)\\z"))) {
			free(order.output);
			order.output = strcmp(v, "-") ? kstrdup(v) : NULL;
		} else if (i &&
		    (v = option_value(call.args, &i, "\\A(?|-c(.+)?|--campaign(?:=(.*))?)\\z"))) {
			kcamp.dir = v;
			making.args[n++] = kstrdup("-c");
			making.args[n++] = translate(v);
		} else {
			making.args[n++] = i ? translate(call.args[i]) : kstrdup(call.args[i]);
		}
	}
}

/*
 * Asks the program which files it reads; TEXT is what it would find on its standard input. Returns
 * the list, or NULL for every program except keval, the only one that reads more than its arguments
 * name. The caller frees.
 */
static char *
ask(char **args, const char *text, size_t len)
{
	char *argv[256], inputs[] = "--inputs";
	struct kproc p = { .argv = argv, .in = text, .in_len = len, .max_output = 16 << 20 };
	auto_run struct kproc_result r = { 0 };
	size_t n = 0;

	if (strcmp(args[0], "keval"))
		return NULL;
	argv[n++] = (char *)ktool_path(args[0]);
	argv[n++] = inputs;
	for (size_t i = 1; args[i]; i++) {
		if (n + 1 == LEN(argv))
			kdie_usage("more than %zu arguments", LEN(argv));
		argv[n++] = args[i];
	}
	argv[n] = NULL;
	kproc_must(&p, &r);
	/* What is wrong here would be wrong there. */
	if (r.exit_code || r.signal) {
		kpass(r.err, strlen(r.err));
		exit(r.exit_code > 0 ? r.exit_code : K_IO);
	}
	return kstrdup(r.out);
}

/* A file that the program reads without being given its name. */
static void
add_input(const char *path)
{
	if (*path == '/')
		kdie_usage("%s: the other machine cannot have this file at the same place: "
		           "use a path relative to the campaign's folder, "
		           "or share the folder between both machines (--shared)",
		    path);
	add_file(path);
}

/*
 * The files that the program reads without being given their names, one per line; "-" is its
 * standard input, which is sent as a file.
 */
static void
add_inputs(void)
{
	char *list = ask(making.args, "", 0), *text;
	size_t len;

	if (list && (kbegins(list, "-\n") || strstr(list, "\n-\n"))) {
		text = kread_file("-", FILES_MAX_BYTES, &len);
		if (!text)
			kdie_io("<stdin>");
		free(list);
		list = ask(making.args, text, len);
		json_object_set_new(order.head, "stdin", json_true());
		add(STDIN_NAME, text, len);
		free(text);
	}
	kpart_foreach(line, list, "\n")
		if (strcmp(line, "-") && !call.shared)
			add_input(line);
	free(list);
}

/*
 * A name for the folder that is kept there for this campaign: readable, and different from that of
 * other campaigns.
 */
static char *
place(const char *folder)
{
	char full[PATH_MAX], host[256] = "";
	auto_free char *base = NULL;

	if (!realpath(folder, full))
		kdie_errno(K_USAGE, "%s", folder);
	gethostname(host, sizeof host - 1);
	base = kregex_sub("[^\\w-]", basename(full), "_");
	return kasprintf("%.40s-%.16s", base,
	    ksha256_of(kshown("%s:%lu:%s", host, (unsigned long)getuid(), full)));
}

static void
add_environment(void)
{
	json_t *env = json_object();

	kforeach(name, passed)
		if (getenv(*name))
			json_object_set_new(env, *name, json_string(getenv(*name)));
	if (!getenv("KILN_PROGRESS") && isatty(STDERR_FILENO))
		kjson_put(env, "KILN_PROGRESS", "1");
	json_object_set_new(order.head, "env", env);
}

/* Sets member NAME to TEXT, which is freed. */
static void
set_text(const char *name, char *text)
{
	if (json_object_set_new(order.head, name, json_string(text)) < 0)
		kdie_usage("%s: the name is not UTF-8", text);
	free(text);
}

/*
 * The campaign's folder and the working folder are made there, even if there are no files in them.
 */
static void
order_campaign(void)
{
	free(name_there(kplace_trial(0, "..")));
	free(name_there("x/.."));
	set_text("campaign", name_there(kcamp.dir));
}

void
order_make(void)
{
	order.head =
	    json_pack("{s:s,s:[],s:[],s:[]}", "schema", REMOTE_SCHEMA, "args", "files", "folders");
	if (!getcwd(making.here, sizeof making.here))
		kdie_io("working folder");
	take_arguments();
	add_inputs();
	add_environment();
	set_text("place", place(kcamp.dir));
	set_text("folder", call.shared ? kstrdup(making.here) : name_there("."));
	if (!call.shared)
		order_campaign();
	for (char **arg = making.args; *arg; arg++) {
		append_path("args", *arg);
		free(*arg);
	}
	free(making.args);
}
