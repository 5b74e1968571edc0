/* SPDX-License-Identifier: Apache-2.0 */
/* kadopt adopt, status and check: the answers, and all steps up to a campaign, one after the other. See adopt.h. */
#include "adopt.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal.h"
#include "kfrozen.h"
#include "kio.h"

static const char usage[] =
    "usage: kadopt adopt [-o CAMPAIGN] -p PROJECT --file FILE --kernel NAME --build COMMAND --run COMMAND\n"
    "                    [--outputs FILE]... [--compare exact|float:RTOL|float32:RTOL|float64:RTOL]\n"
    "                    [--context FILE]... [--shape NAME=EXPRESSION]... [--launcher COMMAND] [--timeout SECONDS] [--threads N]\n"
    "                    [--provider PROVIDER [--model NAME]] [--mode linear|map-elites] [--top N] [--runs N] [--proxy LOW,HIGH] [--sandbox]\n";

enum { FILE_NAME = 256, KERNEL, BUILD, RUN, OUTPUTS, COMPARE, CONTEXT, SHAPE, LAUNCHER, TIMEOUT, PROVIDER, MODEL, MODE, TOP, RUNS,
	SANDBOX, THREADS, PROXY };

struct adopt_options {
	const char *campaign, *compare, *provider, *model;
	const char *top, *runs;
	json_t *answers;
};

static void
set_text(json_t *answers, const char *key, const char *text)
{
	json_t *v = json_string(text);

	if (!v)
		kdie(K_USAGE, "--%s: it is not UTF-8", key);
	json_object_set_new(answers, key, v);
}

static void
append(json_t *answers, const char *key, json_t *item)
{
	json_t *list = json_object_get(answers, key);

	if (!list)
		json_object_set_new(answers, key, list = json_array());
	json_array_append_new(list, item);
}

static void
add_shape(json_t *answers, const char *text)
{
	const char *sign = strchr(text, '=');
	json_t *shapes = json_object_get(answers, "shapes");
	char *name;

	if (!sign || sign == text || !sign[1])
		kdie(K_USAGE, "--shape %s: it must be NAME=EXPRESSION", text);
	if (!shapes)
		json_object_set_new(answers, "shapes", shapes = json_object());
	name = kstrndup(text, (size_t)(sign - text));
	json_object_set_new(shapes, name, json_string(sign + 1));
	free(name);
}

/* How far a time alone may be from the one in the application. */
static void
add_proxy(json_t *answers, const char *text)
{
	char *copy = kstrdup(text), *comma = strchr(copy, ',');

	if (!comma)
		kdie(K_USAGE, "--proxy %s: it must be LOW,HIGH", text);
	*comma = '\0';
	json_object_set_new(answers, "proxy", json_pack("[f,f]", knum_double(copy, 0, 1e6, "--proxy"), knum_double(comma + 1, 0, 1e6,
	    "--proxy")));
	free(copy);
}

static void
set_option(struct adopt_options *o, int letter)
{
	static const char *const texts[] = { [FILE_NAME - 256] = "file", [KERNEL - 256] = "kernel", [BUILD - 256] = "build",
		[RUN - 256] = "run", [LAUNCHER - 256] = "launcher", [MODE - 256] = "mode" };
	char full[PATH_MAX];

	switch (letter) {
	case 'o': case 'c': o->campaign = optarg; break;
	case 'p':
		if (!realpath(optarg, full))
			kdie_errno(K_USAGE, "project %s", optarg);
		set_text(o->answers, "project", full);
		break;
	case FILE_NAME: case KERNEL: case BUILD: case RUN: case LAUNCHER: case MODE:
		set_text(o->answers, texts[letter - 256], optarg);
		break;
	case OUTPUTS: append(o->answers, "outputs", json_pack("{s:s}", "file", optarg)); break;
	case COMPARE:
		if (!outputs_compare_ok(optarg))
			kdie(K_USAGE, "--compare %s: it is none of exact, float:RTOL, float32:RTOL, float64:RTOL", optarg);
		o->compare = optarg;
		break;
	case CONTEXT: append(o->answers, "context", json_string(optarg)); break;
	case SHAPE: add_shape(o->answers, optarg); break;
	case TIMEOUT: json_object_set_new(o->answers, "timeout_s", json_real(knum_double(optarg, 1, 1e6, "--timeout"))); break;
	case PROXY: add_proxy(o->answers, optarg); break;
	case THREADS: json_object_set_new(o->answers, "threads", json_integer(knum_long(optarg, 0, 4096, "--threads"))); break;
	case PROVIDER: o->provider = optarg; break;
	case MODEL: o->model = optarg; break;
	case TOP: knum_long(optarg, 1, 64, "--top"); o->top = optarg; break;
	case RUNS: knum_long(optarg, 1, 99, "--runs"); o->runs = optarg; break;
	case SANDBOX: json_object_set_new(o->answers, "sandbox", json_true()); break;
	case 'h': fputs(usage, stdout); exit(K_OK);
	case 'V': kversion(); exit(K_OK);
	default: fputs(usage, stderr); exit(K_USAGE);
	}
}

static void
parse_options(struct adopt_options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "campaign", required_argument, NULL, 'o' }, { "project", required_argument, NULL, 'p' },
		{ "file", required_argument, NULL, FILE_NAME }, { "kernel", required_argument, NULL, KERNEL },
		{ "build", required_argument, NULL, BUILD }, { "run", required_argument, NULL, RUN },
		{ "outputs", required_argument, NULL, OUTPUTS }, { "compare", required_argument, NULL, COMPARE },
		{ "context", required_argument, NULL, CONTEXT }, { "shape", required_argument, NULL, SHAPE },
		{ "launcher", required_argument, NULL, LAUNCHER }, { "timeout", required_argument, NULL, TIMEOUT },
		{ "provider", required_argument, NULL, PROVIDER }, { "model", required_argument, NULL, MODEL },
		{ "mode", required_argument, NULL, MODE }, { "top", required_argument, NULL, TOP }, { "runs", required_argument, NULL, RUNS },
		{ "sandbox", no_argument, NULL, SANDBOX }, { "threads", required_argument, NULL, THREADS },
		{ "proxy", required_argument, NULL, PROXY }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "o:c:p:hV", longs, NULL)) != -1)
		set_option(o, letter);
	if (optind < argc)
		kdie(K_USAGE, "'%s': there are no operands\n%s", argv[optind], usage);
}

/* What the options say together, as adopt.json has it. */
static void
complete(struct adopt_options *o)
{
	json_t *outputs = json_object_get(o->answers, "outputs");
	const char *file = kjson_str_or(o->answers, "file", NULL), *mode = kjson_str_or(o->answers, "mode", "linear");

	for (size_t i = 0; i < json_array_size(outputs); i++)
		json_object_set_new(json_array_get(outputs, i), "compare", json_string(o->compare ? o->compare : "exact"));
	if (o->provider)
		json_object_set_new(o->answers, "model", o->model ? json_pack("{s:s,s:s}", "provider", o->provider, "name", o->model) :
		    json_pack("{s:s}", "provider", o->provider));
	if (strcmp(mode, "linear") && strcmp(mode, "map-elites"))
		kdie(K_USAGE, "--mode %s: it is neither linear nor map-elites", mode);
	if (!file)
		return;
	if (!language_of(file))
		kdie(K_USAGE, "--file %s: functions of .c, .cu, .cc, .cpp, .cxx and .C files can be adopted", file);
	json_object_set_new(o->answers, "language", json_string(language_of(file)));
}

/* adopt.json as it is, with what the command line says in place of what it said. */
static struct adoption *
take_answers(struct adopt_options *o)
{
	static const char *const needed[] = { "project", "file", "kernel", "build", "run" };
	char *path = kasprintf("%s/adopt.json", o->campaign);
	json_t *all = access(path, F_OK) ? json_pack("{s:s,s:s}", "schema", "adopt/1", "version", kversion_string()) : kjson_load(path);
	struct adoption *a;

	json_object_update(all, o->answers);
	for (size_t i = 0; i < LEN(needed); i++)
		if (!kjson_str_or(all, needed[i], NULL))
			kdie(K_USAGE, "--%s is missing\n%s", needed[i], usage);
	a = adoption_new(o->campaign, all);
	free(path);
	return a;
}

/* One step of those that are commands of their own, with options of OURS. */
static int
step(const struct adoption *a, const char *name, int (*run)(int, char **), const char *option, const char *value)
{
	char *argv[] = { (char *)name, (char *)"-c", a->dir, value ? (char *)option : NULL, (char *)value, NULL };

	ksay("---------- %s\n", name);
	fflush(stdout);
	optind = 0;
	return run(value ? 5 : 3, argv);
}

int
command_adopt(int argc, char **argv)
{
	struct adopt_options o = { .campaign = ".", .answers = json_object() };
	struct adoption *a;
	int code;

	parse_options(&o, argc, argv);
	complete(&o);
	a = take_answers(&o);
	adoption_lock(a);
	code = journal_repair(a);
	if (code == K_OK) {
		journal_backup(a);
		adoption_save(a);
		code = preflight(a);
	}
	if (code == K_OK)
		code = step(a, "observe", command_observe, "--runs", o.runs);
	if (code == K_OK)
		code = step(a, "configs", command_configs, "--top", o.top);
	if (code == K_OK) {
		ksay("---------- extract\n");
		code = extract(a);
	}
	if (code == K_OK) {
		ksay("---------- task\n");
		code = make_task(a);
	}
	if (code == K_OK)
		ksay("---------- %s: `make campaign` there, then `kcampaign integrate`\n", a->dir);
	adoption_free(a);
	json_decref(o.answers);
	return code;
}

struct adoption *
open_adoption(int argc, char **argv, const char *text)
{
	static const struct option longs[] = { { "campaign", required_argument, NULL, 'c' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { 0 } };
	const char *dir = ".";
	int letter;

	optind = 0;
	while ((letter = getopt_long(argc, argv, "c:hV", longs, NULL)) != -1)
		switch (letter) {
		case 'c': dir = optarg; break;
		case 'h': fputs(text, stdout); exit(K_OK);
		case 'V': kversion(); exit(K_OK);
		default: fputs(text, stderr); exit(K_USAGE);
		}
	if (optind < argc)
		kdie(K_USAGE, "'%s': there are no operands\n%s", argv[optind], text);
	return adoption_load(dir);
}

int
command_check(int argc, char **argv)
{
	struct adoption *a = open_adoption(argc, argv, "usage: kadopt check [-c CAMPAIGN]\n");
	char *fault = kfrozen_fault(a->dir);
	int code = fault ? K_USAGE : K_OK;

	if (fault)
		kwarn("%s", fault);
	free(fault);
	adoption_free(a);
	return code;
}

int
command_status(int argc, char **argv)
{
	static const struct {
		const char *step, *file;
	} steps[] = {
		{ "preflight", "adopt/compile.json" }, { "observe", "adopt/observed.ndjson" }, { "configs", "adopt/configs.json" },
		{ "extract", "adopt/extract.json" }, { "task", "task.json" }, { "campaign", "archive.ndjson" },
	};
	struct adoption *a = open_adoption(argc, argv, "usage: kadopt status [-c CAMPAIGN]\n");
	struct kbuf b = { 0 };

	ksay("%s of %s/%s\n", a->kernel, a->project, a->file);
	for (size_t i = 0; i < LEN(steps); i++) {
		char *path = kasprintf("%s/%s", a->dir, steps[i].file);

		ksay("%-10s %s\n", steps[i].step, access(path, F_OK) ? "to be done" : "done");
		free(path);
	}
	journal_status(a, &b);
	ksay("%s", b.data);
	kbuf_free(&b);
	adoption_free(a);
	return K_OK;
}
