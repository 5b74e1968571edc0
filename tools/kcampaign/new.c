/* SPDX-License-Identifier: Apache-2.0 */
/* new: a campaign folder from a task. What can be found out is not asked. See kcampaign.h. */
#include "kcampaign.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kio.h"

#define FILE_MAX ((size_t)64 << 20)

/* Who can answer the prompts here: the first row whose variable is set; else a person or a program, through files. */
static const struct provider {
	const char *variable, *name, *model_variable, *url_variable;
} providers[] = {
	{ "ANTHROPIC_API_KEY", "anthropic", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL" },
	{ "OPENAI_API_KEY", "openai", "OPENAI_MODEL", "OPENAI_BASE_URL" },
};

static const struct provider *
find_provider(void)
{
	for (size_t i = 0; i < LEN(providers); i++) {
		const char *key = getenv(providers[i].variable);

		if (key && *key)
			return &providers[i];
	}
	return NULL;
}

/* The first model that the table of models names in full for PROVIDER, or NULL; the caller frees. */
static char *
first_model(const char *provider)
{
	char *path = kdata_path("tools/kllm/models.tsv"), *text = kread_file_or_die(path, FILE_MAX, NULL), *found = NULL, *save;

	for (char *line = strtok_r(text, "\n", &save); line && !found; line = strtok_r(NULL, "\n", &save)) {
		size_t n = strcspn(line, "\t"), m = line[n] ? strcspn(line + n + 1, "\t") : 0;

		if (n == strlen(provider) && !strncmp(line, provider, n) && m && strcspn(line + n + 1, "*?[") >= m)
			found = kstrndup(line + n + 1, m);
	}
	free(text);
	free(path);
	return found;
}

static json_t *
model_settings(const struct provider *p)
{
	json_t *model = json_object();
	const char *name = p ? getenv(p->model_variable) : NULL, *url = p ? getenv(p->url_variable) : NULL;
	char *first = p && !(name && *name) ? first_model(p->name) : NULL;

	json_object_set_new(model, "provider", json_string(p ? p->name : "file"));
	if (p && (first || (name && *name)))
		json_object_set_new(model, "name", json_string(first ? first : name));
	if (url && *url)
		json_object_set_new(model, "base_url", json_string(url));
	free(first);
	return model;
}

static void
copy_file(const char *from_dir, const char *name, const char *to_dir)
{
	char *from = kasprintf("%s/%s", from_dir, name), *to = kasprintf("%s/%s", to_dir, name);
	size_t len;
	char *data = kread_file_or_die(from, FILE_MAX, &len);

	if (strchr(name, '/'))
		kdie(K_USAGE, "%s/task.json: %s: files of a task stand beside it", from_dir, name);
	if (kwrite_file(to, data, len) < 0)
		kdie_errno(K_IO, "%s", to);
	free(data);
	free(from);
	free(to);
}

/* task.json and the files that it names. */
static void
copy_task(const char *from, const json_t *task, const char *to)
{
	static const char *const members[] = { "reference", "oracle" };
	const json_t *baselines = json_object_get(task, "baselines");
	size_t i;
	json_t *b;

	copy_file(from, "task.json", to);
	for (i = 0; i < LEN(members); i++)
		if (kjson_str_or(task, members[i], NULL))
			copy_file(from, kjson_str_or(task, members[i], NULL), to);
	json_array_foreach(baselines, i, b)
		if (kjson_str_or(b, "file", NULL))
			copy_file(from, kjson_str_or(b, "file", NULL), to);
}

/* Backend by the language of the task's files: its own name where there is one, and C for the CPU. */
static const char *
backend_of(const char *language)
{
	static const struct { const char *language, *backend; } map[] = {
		{ "cuda", "cuda" }, { "cu", "cuda" }, { "hip", "hip" }, { "opencl", "opencl" }, { "cl", "opencl" },
		{ "sycl", "sycl" }, { "triton", "triton" }, { "python", "triton" },
	};

	for (size_t i = 0; i < LEN(map); i++)
		if (!strcmp(map[i].language, language))
			return map[i].backend;
	return "c";
}

static char *
cpu_name(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256], *name = NULL;

	while (f && !name && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');

		if (colon && !strncmp(line, "model name", 10)) {
			colon[strcspn(colon, "\n")] = '\0';
			name = kstrdup(colon + 2);
		}
	}
	if (f)
		fclose(f);
	return name ? name : kstrdup("this machine");
}

static json_t *
manifest(const char *name, const json_t *task, const struct provider *p, const char *mode)
{
	const char *language = kjson_str_or(task, "language", "c");
	char *cpu = cpu_name();
	char *title = kasprintf("%s on %s, %ld CPUs", kjson_str_or(task, "name", name), cpu, sysconf(_SC_NPROCESSORS_ONLN));
	json_t *m = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "schema", "campaign/1", "name", name, "title", title, "task",
	    "task.json", "backend", backend_of(language), "language", language, "seed", 42);

	if (mode)
		json_object_set_new(m, "search", json_pack("{s:s}", "mode", mode));
	json_object_set_new(m, "model", model_settings(p));
	free(title);
	free(cpu);
	return m;
}

static void
write_text(const char *folder, const char *name, const char *text)
{
	char *path = kasprintf("%s/%s", folder, name);

	if (kwrite_file(path, text, strlen(text)) < 0)
		kdie_errno(K_IO, "%s", path);
	free(path);
}

/* The generated Makefile, which finds pipeline.mk beside the other data of kiln. */
static void
write_makefile(const char *folder)
{
	char *data = kdata_path("pipeline.mk"), full[PATH_MAX], *text;

	if (!realpath(data, full))
		kdie_errno(K_IO, "%s", data);
	*strrchr(full, '/') = '\0';
	text = kasprintf("# Written by kcampaign new. `make -j4 trial` runs the next trial; `make help` lists the rest.\n"
	    "KILN_DATA ?= %s\ninclude $(KILN_DATA)/pipeline.mk\n", full);
	write_text(folder, "Makefile", text);
	free(text);
	free(data);
}

static void
write_manifest(const char *folder, const json_t *m)
{
	char *dump = json_dumps(m, JSON_INDENT(2)), *text = kasprintf("%s\n", dump);

	write_text(folder, "campaign.json", text);
	free(text);
	free(dump);
}

/* A linear search whose quick set leaves too much out measures every round on the full one. */
static void
choose_set(json_t *m, const char *folder)
{
	struct kbuf why = { 0 };
	struct kcamp *c = kcamp_load(folder);

	if (kcamp_linear(c) && shapes_faults(c, &why)) {
		printf("%s: eval.set is full, since %.*s\n", folder, (int)strcspn(why.data, "\n"), why.data);
		json_object_set_new(m, "eval", json_pack("{s:s}", "set", "full"));
		write_manifest(folder, m);
	}
	kbuf_free(&why);
	kcamp_free(c);
}

int
command_new(const struct options *o)
{
	const struct provider *p = find_provider();
	char *folder = kstrdup(o->operand), *file;
	size_t n = strlen(folder);
	json_t *task, *m;

	if (!o->task)
		kdie(K_USAGE, "new: --task DIR is missing: the folder with task.json, reference and oracle");
	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = '\0';
	file = kasprintf("%s/task.json", o->task);
	task = kjson_load(file);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		kdie_errno(K_IO, "%s", folder);
	free(file);
	file = kasprintf("%s/campaign.json", folder);
	if (exists(file))
		kdie(K_USAGE, "%s: there is a campaign already", file);
	if (o->mode && strcmp(o->mode, "linear") && strcmp(o->mode, "map-elites"))
		kdie(K_USAGE, "--mode %s: no such mode (map-elites, linear)", o->mode);
	m = manifest(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder, task, p, o->mode);
	copy_task(o->task, task, folder);
	write_makefile(folder);
	write_manifest(folder, m);
	choose_set(m, folder);
	printf("%s: backend %s, model by %s%s%s%s; %s`make -j4 trial` there runs the first trial\n", folder,
	    kjson_str_or(m, "backend", ""), kjson_str_or(m, "model.provider", ""), p ? " (" : "", p ? p->variable : "",
	    p ? " is set)" : "", p && !kjson_str_or(m, "model.name", NULL) ? "set model.name in campaign.json, then " : "");
	free(file);
	free(folder);
	json_decref(m);
	json_decref(task);
	return K_OK;
}
