/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt extract: the kernel with everything it needs, as a file that compiles alone:
 * adopt/task/reference.c or .cu. It is assembled from the project's own text; missing parts are
 * looked for in its other sources; the model is the last resort.
 */

#include "adopt.h"
#include "klog.h"
#include "preprocess.h"

enum { TRIES = 8, PULLS = 32, CONTEXT_MAX = 200000, LARGE = 10000 };

json_t *
compile_settings(void)
{
	char *path = adopt_made("compile.json", "preflight");
	json_t *settings = kjson_load(path);

	/* The entry of a member makes an object with the values of a call, private ones too. */
	if (kscan_has_path(adoption.kernel))
		kjson_add(json_object_get(settings, "flags"), "-fno-access-control");
	if (adoption.flag)
		kjson_add(json_object_get(settings, "flags"), adoption.flag);
	return settings;
}

json_t *
task_libraries(void)
{
	return adoption.device ? json_array() : json_pack("[s]", "-lm");
}

static void
add_quoted(struct kbuf *b, const char *word)
{
	kbuf_puts(b, " ");
	command_quote(b, word);
}

static void
add_all(struct kbuf *b, const json_t *list)
{
	kjson_foreach_text(word, list)
		add_quoted(b, word);
}

static char *
build_command(const char *source, const char *object, const char *more)
{
	bool cuda = adoption.device;
	json_auto_t *settings = compile_settings(), *libs = task_libraries();
	struct kbuf b = { 0 };

	command_quote(&b, kjson_str_or(settings, "compiler", "gcc"));
	add_all(&b, json_object_get(settings, "flags"));
	kbuf_puts(&b, more);
	kbuf_puts(&b,
	    cuda ? " -shared -Xcompiler -fPIC -Xlinker --no-undefined -o"
	         : " -shared -fPIC -Wl,--no-undefined -o");
	add_quoted(&b, object);
	add_quoted(&b, source);
	add_all(&b, libs);
	return b.data;
}

static bool
build_with(const char *source, const char *object, const char *more, char **log)
{
	char *command = build_command(source, object, more), *folder = adopt_path("task"), *text;
	auto_result struct command_result r = command_own(folder, command, "build-alone");
	size_t len;

	if (r.status == 127)
		kdie(K_MISSING, "the compiler is not installed: %.80s", command);
	text = r.status ? file_text(r.log, &len) : NULL;
	*log = text ? klog_compiler(text, len) : NULL;
	if (r.status && !*log)
		*log = kstrdup("(the compiler printed nothing)");
	free(text);
	free(command);
	return !*log;
}

bool
build_alone(const char *source, const char *object, char **log)
{
	return build_with(source, object, "", log);
}

const char *
build_checked(void)
{
	json_auto_t *settings = compile_settings();
	auto_free char *log = NULL;
	auto_buf struct kbuf compiler = { 0 };

	command_quote(&compiler, kjson_str_or(settings, "compiler", "gcc"));
	if (adoption.device ||
	    !build_with(adopt_path("task/reference.%s", adoption.suffix),
	        adopt_path("task/checked.so"),
	        " -fsanitize=address,bounds,shift-exponent -fno-sanitize-recover=all", &log))
		return "";
	return path_of("timeout 30 env LD_PRELOAD=$(%s -print-file-name=libasan.so) "
	               "ASAN_OPTIONS=detect_leaks=0 ",
	    compiler.data);
}

bool
build_reference(const char *text, char **log)
{
	char *source = adopt_path("task/reference.%s", adoption.suffix);

	write_text(source, text);
	return build_alone(source, adopt_path("task/reference.so"), log);
}

/* ---- the model ---- */

json_t *
context_files(void)
{
	json_t *list = json_array();

	kjson_foreach_text(name, adoption.json, "context") {
		auto_free char *text = kread_file(project_path(name), CONTEXT_MAX, NULL);
		auto_buf struct kbuf b = { 0 };

		if (text) {
			kbuf_printf(&b, "%s:\n\n", name);
			kfence_code(&b, text, adoption.language);
			json_array_append_new(list, kjson_text(b.data, b.len));
		}
	}
	return list;
}

/* Does the program still have the signature of the original? */
static bool
same_signature(const char *text, char **fault)
{
	bool sequence = json_object_get(adoption.unit, "sequence");
	const char *name = sequence ? adoption.entry : adoption.kernel;
	auto_free char *file = file_needed(project_path(adoption.file), NULL),
	               *wanted = kscan_signature_of(
	                   sequence ? kjson_str(adoption.unit, "text") : file, name),
	               *got = kscan_signature_of(text, name);
	/* The part before the parameters is linkage; only the parameters must be the same. */
	bool same = got && (!wanted || !strcmp(strchr(wanted, '('), strchr(got, '(')));

	if (!got)
		*fault = kasprintf("it does not define %s", name);
	else if (!same)
		*fault = kasprintf("the parameters of %s are %s, not %s", name, strchr(got, '('),
		    strchr(wanted, '('));
	return same;
}

static json_t *
question(const char *text, const char *log, const char *fault)
{
	auto_free char *code = ask_fenced(text),
	               *command = build_command("reference", "reference.so", "");
	json_t *facts = ask_facts(text, log, fault);

	kjson_extend(facts, "{s:o,s:b,s:s,s:o}", "code", kjson_string(code), "device",
	    adoption.device, "command", command, "context", context_files());
	return facts;
}

/*
 * Lets the model fix TEXT until it builds. Takes over TEXT and LOG; returns the text that builds.
 */
static char *
mend(char *text, char *log, int *tries)
{
	auto_free char *fault = NULL,
	               *why = kasprintf("%s does not compile alone (%s)", adoption.kernel,
	                   adopt_path("task/reference.%s", adoption.suffix));

	kpass(log, strlen(log));
	kpass("\n", 1);
	kwarn("%s", why);
	for (*tries = 1; *tries <= TRIES; (*tries)++) {
		json_auto_t *facts = question(text, log, fault);
		auto_free char *answer = ask_model("extract", *tries, facts);
		char *code;

		free(fault);
		code = ask_code(answer, text, &fault);
		if (code && same_signature(code, &fault)) {
			free(text);
			text = code;
			free(log);
			if (build_reference(text, &log))
				return text;
		} else {
			free(code);
		}
	}
	kdie_usage("%s: does not compile after %d answers from the model; last compiler "
	           "output:\n%s",
	    why, TRIES, log);
}

/* The needed parts of a file of the project, assembled until they build. */
struct assembly {
	struct bundle b;
	char *text, *log;
	int pulls; /* definitions taken from other files */
	bool good;
};

static void
assembly_free(struct assembly *x)
{
	bundle_close(&x->b);
	free(x->text);
	free(x->log);
}

/* Assembles X from FILE in the folder COPY, which contains the kernel. */
static void
assemble(struct assembly *x, const char *file, const json_t *settings)
{
	/* "undefined reference to `NAME'", unqualified */
	static const char undefined[] = "ndefined reference to [^A-Za-z_\\n]*(?:\\w*::)*(\\w+)";
	char *name = NULL;

	*x = (struct assembly){ 0 };
	bundle_open(&x->b, file, project_copy(), settings);
	if (!bundle_keep(&x->b, adoption.kernel))
		kdie_usage(
		    "%s/%s: no definition of %s", adoption.project, adoption.file, adoption.kernel);
	do {
		x->pulls += name != NULL;
		free(name);
		free(x->text);
		free(x->log);
		x->text = bundle_text(&x->b);
		x->good = build_reference(x->text, &x->log);
		name = x->good ? NULL : kregex_part(undefined, x->log);
	} while (name && x->pulls < PULLS && bundle_keep(&x->b, name));
	free(name);
}

/* Would the judge accept it? It also looks at branches that the build does not take. */
static bool
is_allowed(const char *text)
{
	auto_buf struct kbuf faults = { 0 };

	return !rules_scan("judge", adoption.language, text, "", NULL, &faults) &&
	    !rules_scan("written", adoption.language, text, "", NULL, &faults);
}

/*
 * By another method: X is unchanged if that does not build, or if both build with similar texts
 * that the judge accepts.
 */
static void
assemble_in_place_of(struct assembly *x, const char *file, const json_t *settings)
{
	struct assembly other;

	assemble(&other, file, settings);
	if (other.good &&
	    (!x->good || strlen(other.text) < strlen(x->text) / 2 ||
	        (!is_allowed(x->text) && is_allowed(other.text)))) {
		assembly_free(x);
		*x = other;
	} else {
		assembly_free(&other);
		/* The files are the other text's now. */
		free(x->log);
		x->good = build_reference(x->text, &x->log);
	}
}

/*
 * The compiler resolves conditions and includes first if they are too complex for our scanner, or
 * if a whole library is in one condition, which the scanner does not take apart. With macros
 * EXPANDED, if they make types or functions.
 */
static void
assemble_decided(struct assembly *x, const json_t *settings, bool expanded)
{
	auto_free char *text =
	                   preprocess_conditions(project_copy(), adoption.file, settings, expanded),
	               *name = kasprintf("%s.decided", adoption.file),
	               *path = kasprintf("%s/%s", project_copy(), name);

	if (text) {
		write_text(path, text);
		assemble_in_place_of(x, name, settings);
		unlink(path);
	}
}

/* Every prompt and record of a campaign contains the reference. */
static void
refuse_large(const char *text)
{
	json_auto_t *whole = json_string(text);

	if (kjson_size(whole) > KIO_CODE_MAX)
		kdie_usage("%s: with the tables and functions that it needs it has %zu KB, but a "
		           "prompt must contain it, with at most %zu: adopt a function that needs "
		           "less",
		    adoption.kernel, kjson_size(whole) >> 10, KIO_CODE_MAX >> 10);
}

/* A header, or a CUDA source, may rely on what the file that includes it has before the include. */
static void
assemble_included(struct assembly *x, const json_t *settings)
{
	json_auto_t *sources = compile_sources(project_copy(), adoption.file);
	const char *source = kjson_item(sources, 0);
	json_auto_t *with = json_deep_copy(settings);

	if (!strcmp(source, adoption.file))
		return;
	if (!json_object_get(with, "forced"))
		json_object_set_new(with, "forced", json_array());
	kjson_add(json_object_get(with, "forced"), source);
	assemble_in_place_of(x, adoption.file, with);
}

int
extract_kernel(void)
{
	json_auto_t *settings = compile_settings(), *result = NULL;
	struct assembly x;
	int tries = 0;

	assemble(&x, adoption.file, settings);
	if (!x.good)
		assemble_included(&x, settings);
	if (!x.good || strlen(x.text) > LARGE || !is_allowed(x.text))
		assemble_decided(&x, settings, false);
	if (!x.good && !adoption.device)
		assemble_decided(&x, settings, true);
	if (!x.good) {
		x.text = mend(x.text, x.log, &tries);
		x.log = NULL;
	}
	refuse_large(x.text);
	result = json_pack("{s:s,s:b,s:i,s:i,s:O}", "schema", "extract/1", "model", tries > 0,
	    "tries", tries, "pulled", x.pulls, "notes", x.b.notes);
	write_json(adopt_path("extract.json"), result);
	kjson_foreach_text(note, x.b.notes)
		kwarn("%s", note);
	assembly_free(&x);
	return K_OK;
}
