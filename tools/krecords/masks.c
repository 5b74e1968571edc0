/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masking, unmasking and the partial restart, as events of memory/masks.ndjson. See
 * krecords.h.
 */
#include "krecords.h"

/* Names of versions: v3 v5. */
static json_t *
names(const long *list, size_t count)
{
	json_t *a = json_array();

	kforeach_of(one, list, count)
		json_array_append_new(a, json_sprintf("v%ld", *one));
	return a;
}

/* Seals EVENT, whose reference is taken, and updates the files of its versions. */
static void
append_event(json_t *event, const long *list, size_t count)
{
	char now[32];
	json_t *files = json_object();

	know_iso(now, sizeof now);
	json_object_update_new(event,
	    json_pack("{s:o,s:I,s:s}", "versions", names(list, count), "trial",
	        (json_int_t)campaign.trials.last + 1, "time", now));
	/* It takes effect from here on. */
	json_array_append(campaign.masks.events, event);
	kforeach_of(one, list, count)
		add_version(*one, files);
	write_versions(event, files);
}

/* The operands, each once; dies if there is no such version. */
static long *
versions_of(size_t *count)
{
	long *list = kcalloc(given.count + 1, sizeof *list);

	*count = 0;
	kforeach_of(operand, given.operands, given.count) {
		long v = parse_version(*operand);
		json_auto_t *there = checked_version(v);
		bool twice = false;

		if (!there)
			kdie(K_USAGE, "memory/v%ld.json: no such version", v);
		kforeach_of(one, list, *count)
			twice |= *one == v;
		if (!twice)
			list[(*count)++] = v;
	}
	return list;
}

/* The operands that are not MASKED already. */
static long *
operands(bool masked, size_t *count)
{
	size_t all;
	long *list = versions_of(&all);

	*count = 0;
	kforeach_of(one, list, all)
		if (kmemo_masked(&campaign.masks, *one, KMEMO_ALL) != masked)
			list[(*count)++] = *one;
	return list;
}

static int
mask(bool masked)
{
	size_t count;
	auto_free long *list = NULL;

	list = operands(masked, &count);
	if (count)
		append_event(json_pack("{s:s,s:b,s:s}", "event", masked ? "mask" : "unmask",
		                 "masked", masked, "why", given.why ? given.why : "by hand"),
		    list, count);
	return K_OK;
}

/* A person's notes on versions, for their records and for prompts. */
int
command_note(void)
{
	size_t count;
	auto_free long *list = NULL;

	if (!given.why)
		kdie(K_USAGE, "note: give the text: note VERSION --why TEXT");
	list = versions_of(&count);
	append_event(json_pack("{s:s,s:s}", "event", "note", "why", given.why), list, count);
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
is_restart(const json_t *e)
{
	return kjson_is(e, "event", "restart") || kjson_is(e, "event", "periodic");
}

static bool
is_undone(const json_t *restart)
{
	kjson_foreach(e, campaign.masks.events)
		if (kjson_is(e, "event", "undo") &&
		    kjson_int(e, "of") == kjson_int_or(restart, "n", -1))
			return true;
	return false;
}

/* The last restart that was not undone; NULL: none. Borrowed. */
static const json_t *
last_restart(void)
{
	const json_t *last = NULL;

	kjson_foreach(e, campaign.masks.events)
		if (is_restart(e) && !is_undone(e))
			last = e;
	return last;
}

/* Number of restarts so far, including undone ones: each has its own draws. */
static long
restarts(void)
{
	long n = 0;

	kjson_foreach(e, campaign.masks.events)
		n += is_restart(e);
	return n;
}

/* What a restart can choose from. */
struct choice {
	long *open; /* unmasked versions from v1 on that may be masked */
	size_t count;
	size_t active;  /* all unmasked versions from v1 on */
	long last, win; /* last version; last version that won, 0: none */
};

/* Every version is first compared with the facts: what counts as a win is computed, never read. */
static void
survey(struct choice *c)
{
	*c = (struct choice){ .last = campaign.trials.last };
	for (long v = 1; v <= c->last; v++) {
		json_auto_t *record = NULL;

		ktrials_need(&campaign.trials, v);
		record = checked_version(v);
		if (!record)
			kdie(K_USAGE, "memory/v%ld.json: is missing; run krecords remember", v);
		if (kjson_bool(record, "win"))
			c->win = v;
	}
	c->open = kcalloc((size_t)(c->last > 0 ? c->last : 0) + 1, sizeof *c->open);
	for (long v = 1; v <= c->last; v++) {
		if (kmemo_masked(&campaign.masks, v, KMEMO_ALL))
			continue;
		c->active++;
		if (v != c->win)
			c->open[c->count++] = v;
	}
}

static int
by_number(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/*
 * Draws half of the active versions, as far as they may be masked, without replacement, ascending;
 * returns how many.
 */
static size_t
draw_half(struct choice *c, uint64_t seed, long number)
{
	size_t wanted = c->active / 2;
	struct krng rng;

	if (wanted > c->count)
		wanted = c->count;
	krng_init(&rng, seed, c->last + 1, number, "memory/restart");
	for (size_t i = 0; i < wanted; i++) {
		size_t k = i + krng_below(&rng, c->count - i);
		long v = c->open[k];

		c->open[k] = c->open[i];
		c->open[i] = v;
	}
	qsort(c->open, wanted, sizeof *c->open, by_number);
	return wanted;
}

/* Masks half of the versions. Does nothing when that was done since the last trial. */
static void
restart(const char *why)
{
	const json_t *before = last_restart();
	double seed = given.seed >= 0 ? (double)given.seed : kcamp_num(campaign.camp, "seed");
	struct choice c;
	size_t count;

	survey(&c);
	if (before && kjson_int_or(before, "trial", -1) == c.last + 1) {
		kprogress("a restart before trial %ld was made already (event %" JSON_INTEGER_FORMAT
		          ")",
		    c.last + 1, kjson_int(before, "n"));
	} else {
		count = draw_half(&c, (uint64_t)seed, restarts());
		append_event(json_pack("{s:s,s:b,s:s,s:I,s:I,s:I}", "event", "restart", "masked", 1,
		                 "why", why, "seed", (json_int_t)seed, "draw",
		                 (json_int_t)restarts(), "active", (json_int_t)c.active),
		    c.open, count);
	}
	free(c.open);
}

static int
undo(void)
{
	const json_t *e = last_restart();
	size_t count = 0;
	long *list, n;

	if (!e) {
		kwarn("there is no restart to undo");
		return K_NO;
	}
	list = kcalloc(json_array_size(json_object_get(e, "versions")) + 1, sizeof *list);
	/*
	 * If one was unmasked by hand since, or is also masked by a later event, the log's order
	 * decides.
	 */
	kjson_foreach(v, json_object_get(e, "versions"))
		if (kmemo_version(json_string_value(v), &n) &&
		    kmemo_masked(&campaign.masks, n, KMEMO_ALL))
			list[count++] = n;
	append_event(json_pack("{s:s,s:b,s:s,s:I}", "event", "undo", "masked", 0, "why",
	                 "the restart is undone", "of", kjson_int(e, "n")),
	    list, count);
	free(list);
	return K_OK;
}

/* Trials without a gain since the last one, or since the last restart. */
static long
stagnation(void)
{
	const json_t *before = last_restart();
	struct choice c;
	long since;

	survey(&c);
	free(c.open);
	since = before ? (long)kjson_int_or(before, "trial", 1) - 1 : 0;
	return c.last - (c.win > since ? c.win : since);
}

/* Only if memory.restart_after requires it now. */
static void
restart_if_due(void)
{
	long after = kcamp_int(campaign.camp, "memory.restart_after");
	char *why;

	if (campaign.trials.last > 0 && after && stagnation() >= after) {
		why = kasprintf("no gain in %ld trials (memory.restart_after)", stagnation());
		restart(why);
		free(why);
	}
}

int
command_restart(void)
{
	int code = K_OK;

	if (given.undo)
		code = undo();
	else if (given.due)
		restart_if_due();
	else
		restart(given.why ? given.why : "by hand");
	return code;
}

static void
check_prompt(const char *path, void *faults)
{
	auto_free char *text = kread_text_or_die(path, KIO_LINE_MAX);
	json_auto_t *prompt = strstr(text, "\"masks\"") ? kin_first(path) : NULL;
	const char *hex = kjson_str(prompt, "prompt.memory.masks");

	if (*hex && !kjson_find(campaign.masks.events, "sha256", hex))
		kfault(faults,
		    "%s: the mask with the sha256 %s is missing, with which %s was made; put the "
		    "file back from a copy",
		    KSEAL_FILE, hex, path);
}

void
check_masks(struct kfaults *f)
{
	keach_path(kstrdup("trials/[0-9]*/[0-9]*/prompt.ndjson"), check_prompt, f);
}
