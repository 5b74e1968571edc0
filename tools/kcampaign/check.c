/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check, knobs and schema: the fields of campaign.json, from the one table of knobs. See
 * kcampaign.h.
 */
#include "kcampaign.h"

/* Lists all knobs, or those of a group, one per line; or prints everything about one. */
int
command_knobs(void)
{
	auto_free char *path = kdata_path("docs/schemas/campaign-1.json");
	json_auto_t *input =
	                json_pack("{s:o,s:s*}", "schema", kjson_load(path), "ask", given.operand),
	            *told = kjq("views/knobs.jq", input);

	kjson_foreach_text(line, told, "lines")
		tell("%s\n", line);
	if (!page.len)
		kdie_usage("knobs: %s: no such group or field; the groups are %s", given.operand,
		    kjson_maybe(told, "groups"));
	emit();
	return K_OK;
}

static struct ktask *task;

/* Append "FILE: FAULT" for every line of FAULTS, and free it. */
static void
add_faults(const char *file, char *faults)
{
	kpart_foreach(line, faults, "\n")
		tell("%s: %s\n", file, line);
	free(faults);
}

static void
check_file(const char *field, const char *name)
{
	auto_free char *path = name ? ktask_path(task, name) : NULL;

	if (path && !kis_there(path))
		tell("%s: %s: %s: no such file\n", task->file, field, path);
}

/* The files for the campaign's own commands must be in the campaign's folder. */
static void
check_commands(void)
{
	static const char *const tiers[] = { "eval.build", "eval.correctness", "eval.timing" };

	kforeach(tier, tiers) {
		kjson_foreach_text(file, kcamp_json(*tier), "files") {
			const char *name = file ?: "";

			if (!*name || !kis_there(kcamp_path(name)))
				tell("campaign.json: %s.files: '%s': no such file\n", *tier, name);
		}
	}
}

static void
check_project(void)
{
	const char *name = kcamp_str("prompt.reference_project");

	if (*name && !kis_there(kcamp_path(name)))
		tell("campaign.json: prompt.reference_project: '%s': no such folder\n", name);
}

/* A reference that has to be its own oracle, if the harness judges. */
static void
check_oracle(void)
{
	auto_free char *path = ktask_path(task, task->reference),
	               *code = kread_if_there(path, 8 << 20, NULL);
	const char *lack = code ? ktask_lacks_oracle(task, code) : NULL;

	if (lack && !kcamp_json("eval.correctness") && !kcamp_is("eval.evaluator", "null"))
		tell("%s: %s\n", task->file, lack);
}

/* Compilers for pure device code make what only one backend runs, and OpenCL runs nothing else. */
static void
check_compiler(void)
{
	const char *compiler = kjson_str(task->json, "build.compiler");
	const struct device_compiler *device = device_compiler(compiler);
	const struct backend *b = kcamp_backend();

	if (kcamp_json("eval.build"))
		return;
	if (device && device->backend != b)
		tell("campaign.json: backend: is %s, "
		     "but the compiler in %s is %s, which is for %s\n",
		    b->name, task->file, compiler, device->backend->name);
	if (b->compiler && strcmp(compiler, b->compiler))
		tell("%s: build.compiler: is %s, "
		     "but the campaign's backend is %s, whose compiler is %s\n",
		    task->file, compiler, b->name, b->compiler);
}

/* A backend that no program of ours can run needs the campaign's own commands. */
static void
check_runner(void)
{
	auto_free char *lack = kcamp_lacks_runner(task->language);

	if (lack)
		tell("%s: %s\n",
		    kcamp_backend()->runner ? "task.json: language" : "campaign.json: backend",
		    lack);
}

/*
 * Checks that need both files: do the files they name exist, is there such a workload set, are
 * there replies?
 */
static void
check_together(void)
{
	const char *set = kcamp_str("eval.set");
	json_auto_t *recordings = ktask_recordings(task->json);
	size_t in_set = 0, timed = 0;

	check_file("reference", task->reference);
	check_file("oracle", task->oracle);
	check_oracle();
	check_commands();
	check_project();
	check_compiler();
	check_runner();
	kforeach_of(baseline, task->baselines, task->baseline_count)
		check_file("baselines", baseline->file);
	kjson_foreach_text(file, recordings)
		check_file("workloads", file);
	kforeach_of(one, task->workloads, task->workload_count)
		if (ktask_in_set(one, set)) {
			in_set++;
			timed += one->timed;
		}
	if (!in_set)
		tell(
		    "campaign.json: eval.set: %s has no workload in the set %s\n", task->file, set);
	else if (!timed)
		tell("campaign.json: eval.set: no workload of the set %s is timed, "
		     "so no gain can be measured\n",
		    set);
	if (kcamp_linear() && in_set) {
		struct kbuf faults = { 0 };

		shapes_faults(&faults);
		add_faults("campaign.json: eval.set", faults.data);
	}
	if (kcamp_is("model.provider", "replay") && !kis_there("replies"))
		tell("replies: no such folder, but model.provider is replay\n");
}

/*
 * Figures of the device that are missing; they are a fault only if the campaign asks for something
 * that needs them.
 */
static void
check_roofline(void)
{
	const char *const argv[] = { "kspec", "roofline", "--tolerant", NULL };
	auto_free char *out = NULL;
	json_auto_t *roofline = NULL;

	if (!*kcamp_str("gpu"))
		return;
	if (kproc_tool(argv, NULL, &out))
		tell("campaign.json: stop.efficiency: needs the figures named above\n");
	roofline = json_loads(out ?: "", 0, NULL);
	kjson_foreach(u, roofline, "unknown")
		kwarn("the roofline will not have: %s: %s", kjson_str(u, "metric"),
		    kjson_str(u, "why"));
}

bool
model_ready(void)
{
	const char *argv[] = { "kllm", "--check", NULL, NULL };
	bool ready = kproc_tool(argv, NULL, NULL) == K_OK;

	if (*kcamp_str("feedback.provider")) {
		argv[2] = "--feedback";
		ready &= kproc_tool(argv, NULL, NULL) == K_OK;
	}
	return ready;
}

int
command_check(void)
{
	json_auto_t *manifest = kjson_load("campaign.json"), *json = NULL;
	const char *name = kjson_str_or(manifest, "task", "task.json");
	char *faults;

	kcamp_faults(manifest, &faults);
	add_faults("campaign.json", faults);
	if (kis_there(name)) {
		json = kjson_load(name);
		ktask_faults(json, &faults);
		add_faults(name, faults);
	} else {
		tell("campaign.json: task: %s: no such file\n", name);
	}
	if (!page.len) {
		task = ktask_load(name);
		kcamp_load();
		check_together();
		check_roofline();
		if (!page.len && !model_ready())
			kwarn("the model cannot be asked from here");
	}
	if (!page.len)
		return given.remote ? preflight() : K_OK;
	emit();
	return K_USAGE;
}
