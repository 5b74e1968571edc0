/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess: see preprocess.h. */
#include "preprocess.h"

#include "adopt.h"
#include "unit.h"

enum { WORDS = 512, OUTPUT_MAX = 256 << 20, TIMEOUT_S = 60 };

struct command_words {
	char *at[WORDS];
	size_t count;
};

static void
add_word(struct command_words *w, const char *option, const char *folder, const char *name)
{
	if (w->count + 2 < WORDS)
		w->at[w->count++] = *name == '/' || !*folder
		    ? path_of("%s%s", option, name)
		    : path_of("%s%s/%s", option, folder, name);
}

/* The compiler's command, without a file; MODES: options, up to a NULL. */
static void
make_command(
    struct command_words *w, const char *const *modes, const char *project, const json_t *settings)
{
	const char *compiler = kjson_str_or(settings, "compiler", "cc");

	add_word(w, "", "", compiler);
	for (; *modes; modes++) {
		/* nvcc only knows the first option, and passes the others on. */
		if (strstr(compiler, "nvcc") && strcmp(*modes, "-E"))
			add_word(w, "", "", "-Xcompiler");
		add_word(w, "", "", *modes);
	}
	kjson_foreach_text(flag, settings, "flags")
		add_word(w, "", "", flag);
	kjson_foreach_text(folder, settings, "include")
		add_word(w, "-I", project, folder);
	kjson_foreach_text(header, settings, "forced") {
		add_word(w, "", "", "-include");
		add_word(w, "", project, header);
	}
}

/* NAME relative to the project, or NULL; the caller frees. Files next to it are "../NAME". */
static char *
within(const char *project, const char *name)
{
	auto_free char *full = *name == '<' ? NULL : realpath(name, NULL);
	const char *inside = full ? path_in(project, full) : NULL;

	if (!full || inside)
		return kstrdup(inside);
	kjson_foreach_text(sibling, siblings_of(project, "")) {
		auto_free char *path = kasprintf("%s/../%s", project, sibling),
		               *place = realpath(path, NULL);

		inside = place ? path_in(place, full) : NULL;
		if (inside)
			return kasprintf("../%s/%s", sibling, inside);
	}
	return NULL;
}

/*
 * The project's lines, identified by "# LINE "FILE"" markers. System includes stay, even if they
 * were followed.
 */
static char *
own_lines(char *text, const char *project, struct origins *o)
{
	/* Flag "1": a file begins here; without it, this is the line after the include. */
	static const char marks[] = "\\A# (\\d+) \"(.*)\"( 1)?";
	struct kbuf b = kbuf_empty();
	const char *include = NULL;
	bool own = false;

	for (char *line = text, *next; line && *line; line = next) {
		struct kregex_span at[4];
		bool mark;
		char *name = NULL;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		mark = *line == '#' && kregex_match(marks, line, at);
		if (mark) {
			line[at[2].to] = '\0';
			name = within(project, line + at[2].from);
		}
		if (own && include && (mark ? !name : strchr(include, '<') != NULL))
			kbuf_printf(&b, "%s\n", include);
		if (!mark) {
			include = kbegins(line, "#include") ? line : NULL;
			if (own && !include)
				kbuf_printf(&b, "%s\n", line);
			continue;
		}
		if (!name || at[3].from != KREGEX_UNSET)
			include = NULL;
		own = name;
		if (own)
			*kadded(o->list, o->count) =
			    (struct origin){ b.len, name, strtoul(line + at[1].from, NULL, 10) };
	}
	return b.data;
}

/* Runs the compiler with IN, which may be NULL, as its input. False: it cannot be run. */
static bool
run_compiler(struct command_words *w, const char *in, struct kproc_result *r)
{
	struct kproc p = { .argv = w->at,
		.in = in,
		.in_len = in ? strlen(in) : 0,
		.max_output = OUTPUT_MAX,
		.timeout_s = TIMEOUT_S };

	return !kproc_run(&p, r) && !r->timed_out;
}

static char *
run(const char *const *modes, const char *project, const char *file, const json_t *settings,
    struct origins *origins)
{
	struct command_words w = { 0 };
	auto_run struct kproc_result r = { 0 };

	*origins = (struct origins){ 0 };
	make_command(&w, modes, project, settings);
	add_word(&w, "", project, file);
	/* "#error" does not stop a preprocessor; a missing header does. */
	return run_compiler(&w, NULL, &r) && !(r.exit_code && strstr(r.err, "fatal error")) &&
	        r.out_len
	    ? own_lines(r.out, project, origins)
	    : NULL;
}

char *
preprocess_file(
    const char *project, const char *file, const json_t *settings, struct origins *origins)
{
	return run((const char *const[]){ "-E", NULL }, project, file, settings, origins);
}

bool
preprocess_is_larger(const char *project, const char *file, const json_t *settings,
    const char *declared, const char *name, size_t bytes)
{
	static const char *const modes[] = { "-fsyntax-only", NULL };
	struct command_words w = { 0 };
	/* The name is only whole in a message, and not in a line that the compiler quotes. */
	auto_free char *text = kasprintf("#define KILN(x) kiln_##x\n%schar KILN(larger)[sizeof %s "
	                                 "> %zu ? -1 : 1];\n",
	    declared, name, bytes);
	auto_run struct kproc_result r = { 0 };

	make_command(&w, modes, project, settings);
	add_word(&w, "", "", "-include");
	add_word(&w, "", project, file);
	add_word(&w, "", "", kjson_bool(rules_language(file), "cxx") ? "-xc++" : "-xc");
	add_word(&w, "", "", "-");
	return run_compiler(&w, text, &r) && strstr(r.err, "kiln_larger");
}

char *
preprocess_conditions(const char *project, const char *file, const json_t *settings, bool expanded)
{
	static const char *const modes[][4] = { { "-E", "-fdirectives-only", "-dI" },
		{ "-E", "-dI" } };
	json_auto_t *files = rules_is_header(file) ? unit_files(project) : json_pack("[s]", file);

	kjson_foreach_text(unit, files) {
		struct origins o = { 0 };
		char *text = rules_is_header(unit)
		    ? NULL
		    : run(modes[expanded], project, unit, settings, &o);
		bool found = kany(kforeach_list(x, &o), !strcmp(x->file, file));

		origins_free(&o);
		if (found)
			return text;
		free(text);
	}
	return NULL;
}

void
origins_free(struct origins *o)
{
	kforeach_list(x, o)
		free(x->file);
	free(o->list);
	*o = (struct origins){ 0 };
}

struct origin
origin_of(const struct origins *o, const char *text, size_t at)
{
	struct origin place = { 0 };

	kforeach_list(x, o)
		if (x->at <= at)
			place = *x;
	for (; place.at < at; place.at++)
		place.line += text[place.at] == '\n';
	return place;
}
