/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: append to each record the prompt for its sample: first the part that is common to the
 * whole campaign, then the new part.
 */
#include "kprompt.h"

#include "backend.h"
#include "kfence.h"
#include "koption.h"
#include "krecord.h"

static const char usage[] = "usage: kprompt [-c DIR] [-o FILE | --thin] [--text] [FILE...]\n"
                            "       kprompt --digest [-c DIR] [-o FILE] [--text] [FILE...]\n"
                            "       kprompt --knowledge [-c DIR] [-o FILE]\n";

struct campaign campaign;

static struct {
	const char *output;
	bool text, digest, thin;
} given;

/* The parts that all prompts of the campaign have in common; kept to the end. */
static struct {
	struct kbuf system, user;
	json_t *sections;
} shared;

/*
 * Fill in the tips and split them at blank lines; those for other machines or tasks are empty
 * afterwards.
 */
static struct texts
load_tips(void)
{
	auto_buf struct kbuf b = { 0 };
	struct texts t = { 0 };
	char *p, *end;

	files_render(&b, kshown("tips/%s", kjson_str(facts, "backend")), facts, NULL);
	for (p = b.data; *(p += strspn(p, "\n")); p = end) {
		auto_free char *tip = NULL;

		end = strstr(p, "\n\n");
		end = end ?: p + strlen(p);
		tip = kstrndup(p, (size_t)(end - p));
		*kadded(t.item, t.count) = kfence_line(tip, SIZE_MAX);
	}
	return t;
}

static void
campaign_open(void)
{
	const char *backend = kcamp_str("backend"), *label = kcamp_str("language");
	auto_free char *instructions = kasprintf("instructions/%s.json", backend);
	json_t *lang = files_json(kshown("backends/%s.json", backend));

	/* The manifest's language, or the backend's own label. */
	if (!strcmp(label, backends[BACKEND_C].name))
		label = kjson_str_or(lang, "label", label);
	facts = campaign.stable = json_pack("{s:s,s:o,s:s,s:s,s:s,s:s}", "backend", backend, "lang",
	    lang, "language", kjson_str_or(lang, "name", backend), "suffix",
	    kcamp_backend()->suffix, "label", label, "wishes", kcamp_str("instructions"));
	campaign.label = kjson_str(facts, "label");
	campaign.reference = task_facts();
	machine_facts();
	roofline_facts();
	skill_facts();
	linear_rules();
	knowledge_open();
	campaign.device = kjson_str(facts, "device");
	campaign.instructions = files_json(instructions);
	campaign.tips = load_tips();
}

/*
 * The parts common to all prompts of the campaign; rendered once, from names that no record can
 * set.
 */
static void
render_stable(void)
{
	shared.sections = json_array();
	files_render(&shared.system, "system", campaign.stable, NULL);
	files_render(&shared.user, "stable", campaign.stable, shared.sections);
}

static json_t *
render_record(void)
{
	json_t *sections = json_copy(shared.sections), *member;
	json_auto_t *memory = NULL, *project = NULL;
	auto_buf struct kbuf user = { 0 }, whole = { 0 };

	record_facts();
	memory = memory_member();
	project = project_member();
	kbuf_add(&user, shared.user.data, shared.user.len);
	files_render(&user, "volatile", facts, sections);
	kbuf_printf(&whole, "%s\n", shared.system.data);
	kbuf_add(&whole, user.data, user.len);
	member = json_pack("{s:s,s:s,s:I,s:s,s:o,s:o,s:O*,s:O*}", "system", shared.system.data,
	    "user", user.data, "stable_bytes", (json_int_t)shared.user.len, "sha256",
	    ksha256(whole.data, whole.len), "sections", sections, "knowledge", knowledge_member(),
	    "memory", memory, "reference_project", json_array_size(project) ? project : NULL);
	if (!member)
		kdie(K_IO, "%s:%ld: the prompt cannot be written as JSON", rec->file, rec->lineno);
	return member;
}

static void
print_text(const json_t *member)
{
	auto_buf struct kbuf b = { 0 };
	const char *id = krec_id(rec);

	kbuf_printf(&b, "===== %s system =====\n%s\n===== %s user =====\n%s", id,
	    kjson_str(member, "system"), id, kjson_str(member, "user"));
	while (b.len && b.data[b.len - 1] == '\n')
		b.data[--b.len] = '\0';
	kout_line("%s", b.data);
}

/*
 * Text that prompts take unchanged from files, tips and forms: parts of prompts refer to it. It is
 * the same for all prompts of a campaign.
 */
static struct kbuf
shared_forms(void)
{
	struct kbuf forms = { 0 };

	files_forms(&forms, "volatile", kcamp_str("backend"));
	kforeach_of(one, campaign.tips.item, campaign.tips.count)
		kbuf_printf(&forms, "\n- %s\n", *one);
	return forms;
}

static void
each_record(const char *input, const char *forms)
{
	struct kin in;
	struct krec one;

	kin_open(&in, input);
	while (krecord_next(&in, &one, given.digest ? KJOIN_PROGRAMS : KJOIN_WHOLE)) {
		json_auto_t *names = facts = json_copy(campaign.stable), *member = NULL;

		rec = &one;
		sample = json_object_get(rec->json, "sample");
		member = given.digest ? digest_record() : render_record();

		if (given.text) {
			print_text(given.digest ? json_object_get(member, "prompt") : member);
		} else if (given.digest) {
			kout_json(member);
		} else if (given.thin) {
			json_object_set(one.json, "prompt", member);
			krecord_store(one.json, "prompt", forms);
		} else {
			krecord_put(&one, false, "prompt", member);
		}
		krec_free(&one);
	}
	kin_close(&in);
}

static void
run(char *const *inputs)
{
	auto_buf struct kbuf forms = { 0 };

	render_stable();
	if (given.thin)
		forms = shared_forms();
	else
		kout_open(given.output);
	do
		each_record(*inputs, forms.data);
	while (*inputs && *++inputs);
	if (!given.thin)
		kout_commit();
}

int
main(int argc, char **argv)
{
	bool knowledge = false;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		KOPTION_OUTPUT(&given.output),
		KOPTION_FLAG("digest", &given.digest, "\twrite the prompt for the digest of a log"),
		KOPTION_FLAG("knowledge", &knowledge, "\tlist the notes that prompts can show"),
		KOPTION_FLAG("text", &given.text, "\tprint the prompt as text"),
		KOPTION_FLAG("thin", &given.thin,
		    "\twrite the part of each record to its place in the trial's folder"),
	};

	kutil_init("kprompt");
	koption_read(options, usage, argc, argv);
	if (knowledge && argc > optind)
		koption_misuse(usage, "--knowledge does not take an input file");
	if (given.thin && (given.text || given.digest))
		koption_misuse(usage, "--thin cannot be used with --text or --digest");
	kcamp_load();
	files_init();
	campaign_open();
	if (knowledge) {
		kout_open(given.output);
		knowledge_list();
		kout_commit();
	} else {
		run(argv + optind);
	}
	return K_OK;
}
