/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order: the program, its arguments as they are there, and the files that it reads. The
 * campaign's own lie there as they lie here, and so do those that it names above its folder
 * (../X/task.json); arguments from elsewhere get a name below "elsewhere".
 */
#include "kremote.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kio.h"
#include "kproc.h"

enum { FILES_MAX_BYTES = 1 << 30 };

/* Programs that say themselves what they read, beside the files among their arguments. */
static const struct {
	const char *program, *option;
} speakers[] = {
	{ "keval", "--inputs" },
};

/* Variables that mean the same there. */
static const char *const passed[] = { "KILN_PROGRESS", "KILN_NOW" };

struct making {
	struct order *o;
	const char *folder;	/* the campaign's */
	json_t *list;		/* of files: path, size */
	size_t elsewhere;
};

/* The name of a file from the campaign's folder on, within PATH; NULL: PATH does not lead there. */
static const char *
from_campaign(const struct making *m, const char *path)
{
	size_t n = strlen(m->folder);

	if (strcmp(m->folder, ".") && !strncmp(path, m->folder, n) && path[n] == '/')
		path += n + 1;
	else if (strcmp(m->folder, "."))
		return NULL;
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

/* The same; NULL when it is not below that folder. */
static const char *
below(const struct making *m, const char *path)
{
	const char *name = from_campaign(m, path);

	return name && path_is_below(name) ? name : NULL;
}

/* How many folders "../../x" leads up; *NAME is left at what follows. */
static size_t
climb(const char **name)
{
	size_t n = 0;

	for (; !strncmp(*name, "../", 3); n++)
		*name += 3;
	return n;
}

static void
add(struct making *m, const char *name, const char *text, size_t len)
{
	size_t i;
	json_t *old;

	json_array_foreach(m->list, i, old)
		if (!strcmp(json_string_value(json_object_get(old, "path")), name))
			return;
	if (json_array_append_new(m->list,
	    json_pack("{s:s,s:I}", "path", name, "size", (json_int_t)len)) < 0)
		kdie(K_USAGE, "%s: a name that is not UTF-8", name);
	kbuf_add(&m->o->files, text, len);
}

static void
add_file(struct making *m, const char *path, const char *name)
{
	size_t len;
	char *text = kread_file_or_die(path, FILES_MAX_BYTES, &len);

	if (strchr(name, '\n'))
		kdie(K_USAGE, "%s: a name with a newline", path);
	add(m, name, text, len);
	free(text);
}

/* Its name there, which the caller frees. */
static char *
add_argument(struct making *m, const char *path)
{
	const char *inside = below(m, path), *slash = strrchr(path, '/');
	char *name = inside ? kstrdup(inside) :
	    kasprintf("elsewhere/%zu/%s", m->elsewhere++, slash ? slash + 1 : path);

	add_file(m, path, name);
	return name;
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* An argument, or what stands behind "--option=" in it. */
static const char *
argument_value(const char *arg)
{
	return !strncmp(arg, "--", 2) && strchr(arg, '=') ? strchr(arg, '=') + 1 : arg;
}

/* An argument as it is there: files become their names, alone or behind "--option=". */
static char *
translate(struct making *m, const char *arg)
{
	const char *value = argument_value(arg);
	char *name, *all;

	if (!is_file(value))
		return kstrdup(arg);
	name = add_argument(m, value);
	all = kasprintf("%.*s%s", (int)(value - arg), arg, name);
	free(name);
	return all;
}

/* The value of an option, "-o X", "-oX", "--output X" or "--output=X", at *AT, which is left at its last word. */
static const char *
option_value(char **args, size_t *at, char letter, const char *name)
{
	const char *arg = args[*at];
	size_t n = strlen(name);

	if (arg[0] == '-' && arg[1] == letter && arg[2])
		return arg + 2;
	if (!strncmp(arg, "--", 2) && !strncmp(arg + 2, name, n) && arg[2 + n] == '=')
		return arg + 3 + n;
	if ((arg[0] == '-' && arg[1] == letter && !arg[2]) || (!strncmp(arg, "--", 2) && !strcmp(arg + 2, name)))
		return args[*at + 1] ? args[++*at] : NULL;
	return NULL;
}

/*
 * Take -o and, unless files are shared, -c out of the arguments: the answer is written here, and the campaign's folder is
 * the working one there.
 */
static char **
own_options(const struct call *c, struct order *o, char **folder)
{
	size_t count = 0, n = 0;
	char **rest;
	const char *v;

	while (c->args[count])
		count++;
	rest = kcalloc(count + 1, sizeof *rest);
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		if (i && (v = option_value(c->args, &i, 'o', "output"))) {
			free(o->output);
			o->output = strcmp(v, "-") ? kstrdup(v) : NULL;
		} else if (i && (v = option_value(c->args, &i, 'c', "campaign"))) {
			free(*folder);
			*folder = kstrdup(v);
			for (; c->shared && at <= i; at++)
				rest[n++] = c->args[at];
		} else {
			rest[n++] = c->args[i];
		}
	}
	return rest;
}

/*
 * Ask the program what it reads; STDIN_TEXT is what it would find on its standard input. The list, NULL when it has no such
 * option.
 */
static char *
ask(char **args, const char *folder, const char *stdin_text, size_t stdin_len)
{
	const char *option = NULL;
	char *argv[256], c[] = "-c", *text;
	struct kproc p = { .argv = argv, .in = stdin_text, .in_len = stdin_len, .max_output = 16 << 20 };
	struct kproc_result r;
	size_t n = 0;

	for (size_t i = 0; i < LEN(speakers); i++)
		if (!strcmp(speakers[i].program, args[0]))
			option = speakers[i].option;
	if (!option)
		return NULL;
	argv[n++] = ktool_path(args[0]);
	argv[n++] = (char *)option;
	argv[n++] = c;
	argv[n++] = (char *)folder;
	for (size_t i = 1; args[i]; i++) {
		if (n + 1 == LEN(argv))
			kdie(K_USAGE, "more than %zu arguments", LEN(argv));
		argv[n++] = args[i];
	}
	argv[n] = NULL;
	if (kproc_run(&p, &r) < 0)
		kdie_errno(K_MISSING, "%s", argv[0]);
	free(argv[0]);
	/* What is wrong here would be wrong there. */
	if (r.exit_code || r.signal) {
		kpass(r.err, strlen(r.err));
		exit(r.exit_code > 0 ? r.exit_code : K_IO);
	}
	text = kstrdup(r.out);
	kproc_result_free(&r);
	return text;
}

static bool
has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (!strncmp(p, line, n) && p[n] == '\n')
			return true;
	return false;
}

static bool
is_argument(char **args, const char *path)
{
	while (*args && strcmp(argument_value(*args), path))
		args++;
	return *args != NULL;
}

/* One that the program reads by itself, unless it went along as an argument. */
static void
add_input(struct making *m, char **args, const char *path)
{
	const char *name = from_campaign(m, path), *rest = name;

	if (!below(m, path) && is_argument(args, path))
		return;
	if (name)
		climb(&rest);
	if (!name || !path_is_below(rest))
		kdie(K_USAGE, "%s: the other machine cannot have this file at the same place: let the "
		    "campaign name it from its own folder on, with \"..\" at the beginning only, or give "
		    "both machines the folder (--shared)", path);
	add_file(m, path, name);
}

/* What the program reads by itself. Its standard input, when it wants that, becomes a file. */
static void
add_inputs(struct making *m, char **args, bool shared)
{
	char *list = ask(args, m->folder, "", 0), *text = NULL, *save;
	size_t len;

	if (list && has_line(list, "-")) {
		text = kread_file("-", FILES_MAX_BYTES, &len);
		if (!text)
			kdie_errno(K_IO, "<stdin>");
		free(list);
		list = ask(args, m->folder, text, len);
		json_object_set_new(m->o->head, "stdin", json_true());
		add(m, "stdin", text, len);
		free(text);
	}
	for (char *line = list ? strtok_r(list, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		if (strcmp(line, "-") && !shared)
			add_input(m, args, line);
	free(list);
}

/* The last DEPTH parts of the path of the campaign's folder; the caller frees. */
static char *
last_parts(const char *folder, size_t depth)
{
	char full[PATH_MAX], *at;

	if (!realpath(folder, full))
		kdie_errno(K_USAGE, "%s", folder);
	at = full + strlen(full);
	for (size_t i = 0; i < depth && at; i++)
		at = memrchr(full, '/', (size_t)(at - full));
	if (!at)
		kdie(K_USAGE, "%s: the campaign names a file above the root", full);
	return kstrdup(at + 1);
}

/* A name from the folder HOME on as one from the folder above all of HOME on; the caller frees. */
static char *
from_above(const char *home, const char *name)
{
	size_t end = strlen(home);

	for (size_t up = climb(&name); up > 0; up--)
		while (end && home[--end] != '/')
			continue;
	return kasprintf("%.*s%s%s", (int)end, home, end ? "/" : "", name);
}

/*
 * Where files above the campaign's folder are read, that folder lies as deep there as they need
 * it to, by the names that it has here.
 */
static void
lay_out(struct making *m)
{
	size_t depth = 0, i;
	char *home, *name;
	json_t *file;

	json_array_foreach(m->list, i, file) {
		const char *rest = json_string_value(json_object_get(file, "path"));
		size_t up = climb(&rest);

		depth = up > depth ? up : depth;
	}
	if (!depth)
		return;
	home = last_parts(m->folder, depth);
	if (json_object_set_new(m->o->head, "home", json_string(home)) < 0)
		kdie(K_USAGE, "%s: not UTF-8", home);
	json_array_foreach(m->list, i, file) {
		name = from_above(home, json_string_value(json_object_get(file, "path")));
		json_object_set_new(file, "path", json_string(name));
		free(name);
	}
	free(home);
}

/* A name for the folder that is kept there for this campaign: readable, and not that of another one. */
static char *
place(const char *folder)
{
	char full[PATH_MAX], host[256] = "", hex[65], *name, *base, *text;

	if (!realpath(folder, full))
		kdie_errno(K_USAGE, "%s", folder);
	gethostname(host, sizeof host - 1);
	text = kasprintf("%s:%lu:%s", host, (unsigned long)getuid(), full);
	ksha256_hex(text, strlen(text), hex);
	base = strrchr(full, '/') + 1;
	for (char *p = base; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", *p))
			*p = '_';
	name = kasprintf("%.40s-%.16s", base, hex);
	free(text);
	return name;
}

static void
add_environment(json_t *head)
{
	json_t *env = json_object();

	for (size_t i = 0; i < LEN(passed); i++)
		if (getenv(passed[i]))
			json_object_set_new(env, passed[i], json_string(getenv(passed[i])));
	if (!getenv("KILN_PROGRESS") && isatty(STDERR_FILENO))
		json_object_set_new(env, "KILN_PROGRESS", json_string("1"));
	json_object_set_new(head, "env", env);
}

/* Everything stays where it is: only the working folder is named. */
static void
order_shared(struct order *o, char **args)
{
	json_t *list = json_object_get(o->head, "args");
	char here[PATH_MAX];

	if (!getcwd(here, sizeof here))
		kdie_errno(K_IO, "working folder");
	json_object_set_new(o->head, "folder", json_string(here));
	for (; *args; args++)
		json_array_append_new(list, json_string(*args));
}

void
order_make(struct order *o, const struct call *c)
{
	char *folder = kstrdup("."), **args, *arg;
	struct making m = { .o = o };
	size_t i;

	*o = (struct order){ .head = json_pack("{s:s,s:[],s:[]}", "schema", REMOTE_SCHEMA, "args", "files") };
	args = own_options(c, o, &folder);
	add_environment(o->head);
	m.folder = folder;
	m.list = json_object_get(o->head, "files");
	arg = place(folder);
	json_object_set_new(o->head, "place", json_string(arg));
	free(arg);
	if (c->shared) {
		order_shared(o, args);
	} else {
		for (i = 0; args[i]; i++) {
			arg = i ? translate(&m, args[i]) : kstrdup(args[i]);
			if (json_array_append_new(json_object_get(o->head, "args"), json_string(arg)) < 0)
				kdie(K_USAGE, "%s: not UTF-8", arg);
			free(arg);
		}
	}
	add_inputs(&m, args, c->shared);
	lay_out(&m);
	free(args);
	free(folder);
}

void
order_free(struct order *o)
{
	json_decref(o->head);
	kbuf_free(&o->files);
	free(o->output);
}
