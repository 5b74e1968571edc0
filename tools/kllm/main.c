/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kllm: turns a prompt into a model's reply, from a hosted or local server, a command, a person or
 * agent, a recording, or the null model. What was paid for is never lost: see http.c.
 */

#include "kllm.h"
#include "koption.h"
#include "krecord.h"
#include "secret.h"

static const char usage[] = "usage: kllm [OPTION...] [FILE]\n";

struct call call;

static const struct provider {
	const char *name; /* ends in ':' if a command follows */
	json_t *(*ask)(void);
	bool needs_model;
} providers[] = {
	{ "null", ask_null, false },
	{ "replay", ask_replay, false },
	{ "file", ask_file, false },
	{ "exec:", ask_exec, false },
	{ "exec-json:", ask_exec, false },
	{ "anthropic", ask_http, true },
	{ "openai", ask_http, true },
};

static struct {
	const char *in;
	const char *knobs[64];
	size_t knob_count;
	bool feedback; /* use the model of feedback.* */
	bool thin;
	bool check; /* ask nobody */
} given;

static void
add_knob(void *to, const char *option, const char *assignment)
{
	(void)to;
	if (given.knob_count == LEN(given.knobs))
		kdie_usage("%s: more than %zu", option, LEN(given.knobs));
	given.knobs[given.knob_count++] = assignment;
}

static void
parse_options(int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		KOPTION_OUTPUT(&call.out),
		{ 'k', "knob", .call = add_knob,
		    .help = "NAME=VALUE\tset a field of campaign.json; repeatable" },
		KOPTION_FLAG("feedback", &given.feedback,
		    "\task the second model (feedback.*) to digest a log"),
		KOPTION_FLAG("allow-secrets", &call.allow_secrets,
		    "\tsend prompts that contain something like a key"),
		KOPTION_FLAG("check", &given.check, "\tonly check whether the model can be asked"),
		KOPTION_FLAG(
		    "thin", &given.thin, "\twrite a part of the record, as in a trial's folder"),
	};

	koption_read(options, usage, argc, argv);
	if (call.out && !strcmp(call.out, "-"))
		call.out = NULL;
	if (argc - optind > 1)
		koption_misuse(usage, "give one prompt only");
	given.in = argv[optind];
}

/* The text itself for a knob of type text, else parsed as JSON. */
static json_t *
knob_value(const char *assignment, const char *text)
{
	size_t n = (size_t)(text - assignment) - 1;
	json_t *v;

	kforeach_of(knob, kknobs, kknobs_count)
		if (strlen(knob->path) == n && !strncmp(knob->path, assignment, n) && knob->text)
			return kjson_string(text);
	v = json_loads(text, JSON_DECODE_ANY, NULL);
	return v ?: kjson_string(text);
}

/* "model.stall_s=0.5" into the manifest. */
static void
set_knob(const char *assignment)
{
	const char *value = strchr(assignment, '=');
	auto_free char *path = NULL;
	json_t *v;

	if (!value)
		kdie_usage("%s: must be NAME=VALUE", assignment);
	path = kstrndup(assignment, (size_t)(value - assignment));
	v = knob_value(assignment, value + 1);
	for (char *dot; (dot = strrchr(path, '.')); *dot = '\0')
		v = json_pack("{s:o}", dot + 1, v);
	v = json_pack("{s:o}", path, v);
	json_object_update_recursive(kcamp.json, v);
	json_decref(v);
}

static void
apply_knobs(void)
{
	char *faults;

	if (!given.knob_count)
		return;
	kforeach_of(knob, given.knobs, given.knob_count)
		set_knob(*knob);
	if (kcamp_faults(kcamp.json, &faults))
		kdie_usage("-k: %.*s", (int)strcspn(faults, "\n"), faults);
	free(faults);
}

/* Use the second model instead of the first: its provider and, if given, its name. */
static void
use_feedback(void)
{
	const char *provider = kcamp_str("feedback.provider");
	const char *name = kcamp_str("feedback.name");
	json_t *group = json_object_get(kcamp.json, "model");

	if (!*provider)
		kdie_usage("%s: feedback.provider: is empty; set it to the provider of the second "
		           "model",
		    kcamp.file);
	if (!group)
		json_object_set_new(kcamp.json, "model", group = json_object());
	kjson_put(group, "provider", provider);
	if (*name)
		kjson_put(group, "name", name);
}

/* The only record in the input. */
static void
read_record(struct krec *rec)
{
	struct krec more;
	struct kin in;

	kin_open(&in, given.in);
	if (!krecord_next(&in, rec, KJOIN_WHOLE))
		kdie_usage("%s: no record", in.file);
	if (kin_next(&in, &more))
		kdie_usage("%s: more than one record; kllm answers give one prompt only", in.file);
	rec->file = given.in ?: "<stdin>";
	kin_close(&in);
}

/* The server from the campaign, or else from the environment; "": the provider's default. */
static const char *
base_url_of(void)
{
	const char *base = kcamp_str("model.base_url"),
	           *env = getenv(kcamp_is("model.provider", "anthropic") ? "ANTHROPIC_BASE_URL"
	                                                                 : "OPENAI_BASE_URL");
	return *base ? base : env ?: "";
}

static void
aim(void)
{
	call.provider = kcamp_str("model.provider");
	call.model = kcamp_str("model.name");
	call.base_url = base_url_of();
}

static void
prepare(void)
{
	size_t user_len;
	json_int_t stable;

	call.system = krec_str(&call.rec, "prompt.system");
	call.user = krec_str(&call.rec, "prompt.user");
	call.sha256 = krec_str(&call.rec, "prompt.sha256");
	user_len = strlen(call.user);
	stable = kjson_int(call.rec.json, "prompt.stable_bytes");
	call.stable_bytes = stable > 0 && (size_t)stable <= user_len ? (size_t)stable : 0;
	strcpy(call.id, krec_id(&call.rec));
}

/* The campaign's provider; dies when there is no such provider, or its model is missing. */
static const struct provider *
provider_of(void)
{
	kforeach(one, providers) {
		size_t n = strlen(one->name);

		if (strncmp(call.provider, one->name, n) ||
		    (one->name[n - 1] != ':' && call.provider[n]))
			continue;
		if (one->needs_model && !*call.model)
			kdie_usage("%s: model.name: is missing (the provider %s needs it)",
			    kcamp.file, call.provider);
		return one;
	}
	kdie_usage("%s: model.provider: unknown provider '%s'", kcamp.file, call.provider);
}

/* Gets the reply to the prompt of one record and adds it. */
static void
answer(void)
{
	json_auto_t *member = NULL;

	read_record(&call.rec);
	prepare();
	if (json_object_get(call.rec.json, "reply"))
		kdie_usage("%s: the record already has a reply", call.rec.file);
	member = reply_bounded(provider_of()->ask());
	kout_open(call.out);
	krecord_put(&call.rec, given.thin, "reply", member);
	kout_commit();
	http_committed();
	kprogress("%s reply: %s, %zu bytes, %s", call.id, kjson_str_or(member, "finish", "?"),
	    json_string_length(json_object_get(member, "text")), call.provider);
	krec_free(&call.rec);
}

int
main(int argc, char **argv)
{
	kutil_init("kllm");
	parse_options(argc, argv);
	kcamp_load();
	apply_knobs();
	/* The campaign's prices apply to its own model, not to the one that digests logs. */
	call.priced = kstrdup(kcamp_str("model.name"));
	if (given.feedback)
		use_feedback();
	aim();
	if (!given.check)
		answer();
	else if (provider_of()->ask == ask_http)
		http_check();
	secret_wipe();
	return K_OK;
}
