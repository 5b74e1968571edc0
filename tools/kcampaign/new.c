/* SPDX-License-Identifier: Apache-2.0 */
/* new: a campaign folder from a task. What can be determined is not asked. See kcampaign.h. */
#include "kcampaign.h"

#include "kregex.h"

#define FILE_MAX ((size_t)64 << 20)
/* For recorded inputs, which may be in a folder of their own, and the field that names them. */
#define RECORDED_MAX ((size_t)1 << 34)
#define RECORDED "workloads"

/*
 * Who can answer prompts here: the first row whose variable is set; otherwise a person or a
 * program, through files.
 */
static const struct provider {
	const char *variable, *name, *model_variable, *url_variable;
} providers[] = {
	{ "ANTHROPIC_API_KEY", "anthropic", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL" },
	{ "OPENAI_API_KEY", "openai", "OPENAI_MODEL", "OPENAI_BASE_URL" },
};

static const struct provider *
find_provider(void)
{
	kforeach(one, providers) {
		const char *key = getenv(one->variable);

		if (key && *key)
			return one;
	}
	return NULL;
}

static json_t *
model_settings(const struct provider *p)
{
	const char *name = p ? getenv(p->model_variable) : NULL,
	           *url = p ? getenv(p->url_variable) : NULL;

	return json_pack("{s:s,s:s*,s:s*}", "provider", p ? p->name : "file", "name",
	    name && *name ? name : NULL, "base_url", url && *url ? url : NULL);
}

/*
 * FOLDER/NAME must not exist, or must already be DATA: files that somebody wrote are not
 * overwritten.
 */
static void
need_free(const char *folder, const char *name, const char *data, size_t len)
{
	size_t n;
	auto_free char *path = kasprintf("%s/%s", folder, name),
	               *old = kread_if_there(path, RECORDED_MAX, &n);

	if (old && (n != len || memcmp(old, data, n)))
		kdie_usage(
		    "%s exists with other content; move it away or choose another folder", path);
}

static void
put_data(const char *folder, const char *name, const char *text, size_t len)
{
	kwrite_or_die(kshown("%s/%s", folder, name), text, len);
}

/* They may be large and do not change: make a hard link if possible. */
static void
write_recording(
    const char *folder, const char *name, const char *from, const char *data, size_t len)
{
	auto_free char *path = kasprintf("%s/%s", folder, name), *own = kfolder_of(path);

	kmake_folder(own);
	if (link(from, path) < 0 && errno != EEXIST)
		put_data(folder, name, data, len);
}

/*
 * Copies a file of the task, named in FIELD (NULL: task.json itself); without COPY, only checks
 * that it can be copied.
 */
static void
copy_file(const char *field, const char *name, const char *to_dir, bool copy)
{
	bool recorded = field && !strcmp(field, RECORDED);
	auto_free char *from = NULL, *data = NULL;
	size_t len;

	if (!name)
		return;
	from = kasprintf("%s/%s", given.task, name);
	if (strchr(name, '/') && !recorded)
		kdie_usage("%s/task.json: %s: the files of a task must be in the same folder as "
		           "task.json",
		    given.task, name);
	if (field && !kis_there(from))
		kdie_usage("%s/task.json: %s: %s: no such file", given.task, field, from);
	data = kread_file_or_die(from, recorded ? RECORDED_MAX : FILE_MAX, &len);
	if (copy && recorded)
		write_recording(to_dir, name, from, data, len);
	else if (copy)
		put_data(to_dir, name, data, len);
	else
		need_free(to_dir, name, data, len);
}

/* task.json and the files that it names. */
static void
copy_task(const json_t *task, const char *to, bool copy)
{
	static const char *const members[] = { "reference", "oracle" };
	const json_t *baselines = json_object_get(task, "baselines");
	json_auto_t *recordings = ktask_recordings(task);

	copy_file(NULL, "task.json", to, copy);
	kforeach(member, members)
		copy_file(*member, kjson_maybe(task, *member), to, copy);
	kjson_foreach(b, baselines)
		copy_file("baselines", kjson_maybe(b, "file"), to, copy);
	kjson_foreach_text(file, recordings)
		copy_file(RECORDED, file, to, copy);
}

/* A campaign with a faulty task would end at its first step. */
static void
need_faultless(const char *file, const json_t *task)
{
	auto_free char *faults = NULL;
	size_t n = ktask_faults(task, &faults);

	kpart_foreach(line, faults, "\n")
		kwarn("%s: %s", file, line);
	if (n)
		kdie_usage("%s: %zu fault%s in the task; no campaign was created", file, n,
		    n > 1 ? "s" : "");
}

static char *
cpu_name(void)
{
	auto_free char *info = kread_if_there("/proc/cpuinfo", FILE_MAX, NULL);

	return kregex_part("(?m)^model name\\s*: (.*)$", info) ?: kstrdup("this machine");
}

static json_t *
manifest(const char *name, const json_t *task, const struct provider *p)
{
	const char *language = kjson_str_or(task, "language", backends[BACKEND_C].name);
	auto_free char *cpu = cpu_name();
	/* A folder's name may contain any bytes. */
	return json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:i, s:o*, s:o}", "schema", KCAMP_SCHEMA,
	    "name", kjson_string(name), "title",
	    kjson_string(kshown("%s on %s, %ld CPUs", kjson_str_or(task, "name", name), cpu,
	        sysconf(_SC_NPROCESSORS_ONLN))),
	    "task", "task.json", "backend", backend_for(language)->name, "language", language,
	    "seed", 42, "search", given.mode ? json_pack("{s:s}", "mode", given.mode) : NULL,
	    "model", model_settings(p));
}

/* The generated Makefile, which finds pipeline.mk among kiln's other data; the caller frees. */
static char *
makefile(void)
{
	auto_free char *data = kdata_path("pipeline.mk");
	char full[PATH_MAX];

	if (!realpath(data, full))
		kdie_io("%s", data);
	*strrchr(full, '/') = '\0';
	return kasprintf("# Written by kcampaign new. `make -j4 trial` runs the next trial; "
	                 "`make help` lists the rest.\n"
	                 "KILN_DATA ?= %s\ninclude $(KILN_DATA)/pipeline.mk\n",
	    full);
}

static void
write_manifest(const char *folder, const json_t *m)
{
	auto_free char *dump = json_dumps(m, JSON_INDENT(2)), *text = kasprintf("%s\n", dump);

	put_data(folder, "campaign.json", text, strlen(text));
}

/*
 * If the quick set of a linear search leaves out too much, every round is measured on the full set.
 */
static void
choose_set(json_t *m, const char *folder)
{
	auto_buf struct kbuf why = { 0 };

	kcamp.dir = folder;
	kcamp_load();
	if (kcamp_linear() && shapes_faults(&why)) {
		ksay("%s: eval.set is set to full, because %.*s\n", folder,
		    (int)strcspn(why.data, "\n"), why.data);
		kjson_extend(m, "{s:{s:s}}", "eval", "set", "full");
		write_manifest(folder, m);
	}
}

/*
 * The last part of a path that may end in "." or "..", for a folder that may not exist yet; the
 * caller frees.
 */
static char *
folder_name(const char *folder)
{
	char full[PATH_MAX];
	const char *path = realpath(folder, full) ? full : folder, *slash = strrchr(path, '/');

	return kstrdup(slash && slash[1] ? slash + 1 : path);
}

/* Checks everything that could be refused before the first file is written. */
static void
need_all(const char *file, const json_t *task, const char *folder, const char *make)
{
	auto_free char *path = kasprintf("%s/campaign.json", folder);
	char *lack = backend_lacks_runner(backend_for(kjson_str(task, "language")));

	if (lack)
		kdie_usage("%s: language: %s; write campaign.json yourself for that", file, lack);
	if (kis_there(path))
		kdie_usage("%s: already contains a campaign", path);
	if (given.mode && !kis_one_of("linear map-elites", given.mode))
		kdie_usage("--mode %s: must be map-elites or linear", given.mode);
	copy_task(task, folder, false);
	need_faultless(file, task);
	need_free(folder, "Makefile", make, strlen(make));
}

/* The device that a task's kernels run on, in one word: cpu, or the name of the first device. */
static char *
device_word(const struct backend *b)
{
	struct kgpu_facts facts;
	char why[256];
	struct kgpu *g = b->pointers ? kgpu_open(b->api, 0, false, why, sizeof why) : NULL;

	if (!g)
		return kstrdup(b->device ? "gpu" : "cpu");
	kgpu_facts(g, &facts);
	kgpu_close(g);
	return kstrdup(facts.name);
}

/* The folder of a campaign without a name: OP_BACKEND_DEVICE_DATE; the caller frees. */
static char *
default_folder(const json_t *task)
{
	const struct backend *b = backend_for(kjson_str(task, "language"));
	auto_free char *device = device_word(b);
	auto_free char *name = NULL;
	const char *now = know_text();

	name = kasprintf("%s_%s_%s_%.4s%.2s%.2s",
	    kjson_str_or(task, "op", kjson_str_or(task, "name", "kernel")), b->name, device, now,
	    now + 5, now + 8);
	return kwords(name, '_', false);
}

int
command_new(void)
{
	const struct provider *p = find_provider();
	auto_free char *make = makefile(), *folder = NULL, *file = NULL, *name = NULL;
	json_auto_t *task = NULL, *m = NULL;
	size_t n;

	if (!given.task)
		kdie_usage("new: give --task DIR, the folder with task.json, reference and oracle");
	file = kasprintf("%s/task.json", given.task);
	task = kjson_load(file);
	folder = given.operand ? kstrdup(given.operand) : default_folder(task);
	n = strlen(folder);
	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = '\0';
	need_all(file, task, folder, make);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		kdie_io("%s", folder);
	name = folder_name(folder);
	m = manifest(name, task, p);
	copy_task(task, folder, true);
	put_data(folder, "Makefile", make, strlen(make));
	write_manifest(folder, m);
	choose_set(m, folder);
	ksay("%s: backend %s, model provider %s%s%s%s; "
	     "%srun `make -j4 trial` there for the first trial\n",
	    folder, kjson_str(m, "backend"), kjson_str(m, "model.provider"), p ? " (" : "",
	    p ? p->variable : "", p ? " is set)" : "",
	    p && !kjson_maybe(m, "model.name") ? "set model.name in campaign.json, then " : "");
	return K_OK;
}
