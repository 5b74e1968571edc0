/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masking, unmasking and the partial restart, as events of memory/masks.ndjson. See
 * krecords.h.
 */
#include "krecords.h"

/* Seals EVENT about VERSIONS, and updates their files. Takes both references. */
static void
append_event(json_t *event, json_t *versions)
{
	json_t *files = json_object();

	kjson_extend(event, "{s:o,s:I,s:s}", "versions", versions, "trial",
	    (json_int_t)ktrials.last + 1, "time", know_text());
	/* It takes effect from here on. */
	json_array_append(kmemo_masks.events, event);
	kjson_foreach_text(name, versions)
		add_version(parse_version(name), files);
	write_versions(event, files);
}

/* The operands, each once; dies if there is no such version. New reference. */
static json_t *
versions_of(void)
{
	json_t *names = json_array();

	kforeach_of(operand, given.operands, given.count) {
		json_auto_t *there = checked_version(parse_version(*operand));

		if (!there)
			kdie_usage("memory/%s.json: no such version", *operand);
		if (!kjson_has(names, *operand))
			kjson_add(names, *operand);
	}
	return names;
}

/* Those of NAMES that are masked, or that are not. New reference. */
static json_t *
those(const json_t *names, bool masked)
{
	json_t *list = json_array();

	kjson_foreach_text(name, names)
		if (kmemo_masked(parse_version(name), KMEMO_ALL) == masked)
			kjson_add(list, name);
	return list;
}

static int
mask(bool masked)
{
	json_auto_t *all = versions_of();
	json_t *names = those(all, !masked);

	if (json_array_size(names))
		append_event(json_pack("{s:s,s:b,s:s}", "event", masked ? "mask" : "unmask",
		                 "masked", masked, "why", given.why ?: "by hand"),
		    names);
	else
		json_decref(names);
	return K_OK;
}

/* A person's notes on versions, for their records and for prompts. */
int
command_note(void)
{
	if (!given.why)
		kdie_usage("note: give the text: note VERSION --why TEXT");
	append_event(json_pack("{s:s,s:s}", "event", "note", "why", given.why), versions_of());
	return K_OK;
}

int
command_mask(void)
{
	return mask(true);
}

int
command_unmask(void)
{
	return mask(false);
}

static bool
is_undone(const json_t *restart)
{
	return kany(kjson_foreach(e, kmemo_masks.events),
	    kjson_is(e, "event", "undo") && kjson_int(e, "of") == kjson_int_or(restart, "n", -1));
}

/*
 * The last restart that was not undone, borrowed; NULL: none. COUNT is how many there were,
 * including undone ones: each has its own draws.
 */
static const json_t *
last_restart(long *count)
{
	const json_t *last = NULL;

	*count = 0;
	kjson_foreach(e, kmemo_masks.events) {
		bool restart = kjson_is(e, "event", "restart");

		*count += restart;
		last = restart && !is_undone(e) ? e : last;
	}
	return last;
}

/* What a restart can choose from. */
struct choice {
	long *open; /* unmasked versions from v1 on that may be masked; owned */
	size_t count;
	size_t active; /* all unmasked versions from v1 on */
	long win;      /* last version that won, 0: none */
};

/* Every version is first compared with the facts: what counts as a win is computed, never read. */
static struct choice
survey(void)
{
	struct choice c = { 0 };
	long last = ktrials.last;

	for (long v = 1; v <= last; v++) {
		json_auto_t *record = NULL;

		ktrials_need(v);
		record = checked_version(v);
		if (!record)
			kdie_usage("memory/v%ld.json: is missing; run krecords remember", v);
		if (kjson_bool(record, "win"))
			c.win = v;
	}
	c.open = kcalloc((size_t)last + 1, sizeof *c.open);
	for (long v = 1; v <= last; v++) {
		bool active = !kmemo_masked(v, KMEMO_ALL);

		c.active += active;
		if (active && v != c.win)
			c.open[c.count++] = v;
	}
	return c;
}

/*
 * Draws half of the active versions, as far as they may be masked, without replacement, ascending.
 * New reference.
 */
static json_t *
draw_half(struct choice *c, uint64_t seed, long number)
{
	size_t wanted = c->active / 2;
	json_t *names = json_array();
	struct krng rng;

	if (wanted > c->count)
		wanted = c->count;
	krng_init(&rng, seed, ktrials.last + 1, number, "memory/restart");
	for (size_t i = 0; i < wanted; i++) {
		size_t k = i + krng_below(&rng, c->count - i);
		long v = c->open[k];

		c->open[k] = c->open[i];
		c->open[i] = v;
	}
	qsort(c->open, wanted, sizeof *c->open, kby_number);
	kforeach_of(v, c->open, wanted)
		json_array_append_new(names, json_sprintf("v%ld", *v));
	return names;
}

/* Masks half of the versions. Does nothing when that was done since the last trial. */
static void
restart(struct choice *c, const char *why)
{
	double seed = given.seed >= 0 ? (double)given.seed : kcamp_num("seed");
	long number;
	const json_t *before = last_restart(&number);

	if (kjson_int_or(before, "trial", -1) == ktrials.last + 1)
		kprogress("a restart before trial %ld was made already (event %ld)",
		    ktrials.last + 1, kjson_int(before, "n"));
	else
		append_event(json_pack("{s:s,s:b,s:s,s:I,s:I,s:I}", "event", "restart", "masked", 1,
		                 "why", why, "seed", (json_int_t)seed, "draw", (json_int_t)number,
		                 "active", (json_int_t)c->active),
		    draw_half(c, (uint64_t)seed, number));
}

static int
undo(void)
{
	long count;
	const json_t *e = last_restart(&count);

	if (!e) {
		kwarn("there is no restart to undo");
		return K_NO;
	}
	/*
	 * If one was unmasked by hand since, or is also masked by a later event, the log's order
	 * decides.
	 */
	append_event(json_pack("{s:s,s:b,s:s,s:I}", "event", "undo", "masked", 0, "why",
	                 "the restart is undone", "of", (json_int_t)kjson_int(e, "n")),
	    those(json_object_get(e, "versions"), true));
	return K_OK;
}

/* Trials without a gain since the last one, or since the last restart. */
static long
stagnation(const struct choice *c)
{
	long count, since = kjson_int_or(last_restart(&count), "trial", 1) - 1;

	return ktrials.last - (c->win > since ? c->win : since);
}

/* With --due only if memory.restart_after requires it now. */
int
command_restart(void)
{
	long after = kcamp_int("memory.restart_after");
	auto_free char *why = NULL;
	struct choice c;

	if (given.undo)
		return undo();
	if (given.due && (ktrials.last < 1 || !after))
		return K_OK;
	c = survey();
	if (given.due)
		why = kasprintf("no gain in %ld trials (memory.restart_after)", stagnation(&c));
	if (!given.due || stagnation(&c) >= after)
		restart(&c, why ?: given.why ?: "by hand");
	free(c.open);
	return K_OK;
}

static void
check_prompt(const char *path, struct kfaults *faults)
{
	auto_free char *text = kread_text_or_die(path, KIO_LINE_MAX);
	json_auto_t *prompt = strstr(text, "\"masks\"") ? kin_first(path) : NULL;
	const char *hex = kjson_str(prompt, "prompt.memory.masks");

	if (*hex && !kjson_find(kmemo_masks.events, "sha256", hex))
		kfault(faults,
		    "%s: the mask with the sha256 %s is missing, with which %s was made; put the "
		    "file back from a copy",
		    KSEAL_FILE, hex, path);
}

void
check_masks(struct kfaults *f)
{
	kpath_foreach(path, "trials/[0-9]*/[0-9]*/prompt.ndjson")
		check_prompt(path, f);
}
