/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karchive: the elite rule, islands and migration, the population cap, and the header's counters: a
 * pure function of the previous archive, the scored records and the knobs.
 */

#include "karchive.h"
#include "kchain.h"
#include "kfence.h"

/*
 * Constants of the search that nobody needs to change. Islands that exchange elites every tenth
 * trial stay separate long enough to differ. A thousand programs are enough for the longest
 * campaigns.
 */
enum { MIGRATION_INTERVAL = 10, POPULATION = 1000 };
static const double migration_rate = 0.1;

static struct keeper {
	bool linear; /* a chain of rounds */
	int islands;
	double multiplier;
	int current; /* island */
	long filled; /* candidates since it became current */
} keeper;

static bool
is_reference(const struct kcandidate *s)
{
	return !strcmp(s->id, KARCH_REFERENCE);
}

static void
changed(struct karch_row *row)
{
	free(row->line);
	row->line = NULL;
}

static void
take_cell(struct karch_row *row)
{
	struct karch_row *loser = karch.elite[row->cell];

	row->elite = true;
	karch.elite[row->cell] = row;
	if (loser) {
		loser->elite = false;
		changed(loser);
		karch_keep(loser);
	}
}

static uint64_t
all_islands(int islands)
{
	return islands == KARCH_ISLANDS ? UINT64_MAX : (UINT64_C(1) << islands) - 1;
}

static struct karch_row *
row_new(const struct kcandidate *s)
{
	struct karch_row *row = kcandidate_row(s, KCANDIDATE_REFERENCE_SCORE);
	int island = s->island >= 0 && s->island < keeper.islands ? (int)s->island : keeper.current;

	/* Every island may start from the reference. */
	row->islands = is_reference(s) ? all_islands(keeper.islands) : UINT64_C(1) << island;
	return row;
}

/* The row of a program, elite or not; NULL: it is not there. */
static struct karch_row *
find_row(const char *id)
{
	kforeach_of(one, karch.elite, KARCH_CELLS)
		if (*one && !strcmp((*one)->id, id))
			return *one;
	kforeach_of(each, karch.program, karch.programs)
		if (!strcmp((*each)->id, id))
			return *each;
	return NULL;
}

/*
 * The best was raced against the reference again, before this trial or at its beginning: that is
 * its speed from now on, as in the scores of candidates that are timed in turns with it.
 */
static void
renew_best(long trial)
{
	struct karch_row best, *row;
	struct kchain c;
	double more;

	if (!karch_best(&best) || !kchain_raced(best.id, trial, false, &c))
		return;
	more = keeper.multiplier * (c.speedup.mean - best.speedup);
	best.score += more;
	karch_set_speedup(&best, &c.speedup, c.provisional);
	karch_set_best(&best);
	row = find_row(best.id);
	if (row) {
		row->score += more;
		karch_set_speedup(row, &c.speedup, c.provisional);
		changed(row);
	}
	kchain_free(&c);
}

static bool
is_rolled_back(const struct kcandidate *s)
{
	return !strcmp(s->verdict, "rolled_back");
}

/*
 * The chain of a linear search: kept rounds in order, and how many have been rolled back since the
 * last of them.
 */
static void
note_round(const struct kcandidate *list, size_t n)
{
	json_t *linear = kjson_ensure(karch.header, "linear", json_object()),
	       *chain = kjson_ensure(linear, "chain", json_array());
	struct klinear_run run;

	if (n != 1 || !*list->verdict)
		kdie_usage("%s: not a round of a linear search (one candidate with "
		           "score.decision); was "
		           "search.mode changed?",
		    list->id);
	run = (struct klinear_run){ kjson_int(linear, "streak"), kjson_int(linear, "row"),
		kjson_int(linear, "drafts") };
	klinear_next(&run, !is_rolled_back(list), list->status);
	kjson_put(linear, "streak", run.streak);
	/* A search without drafts has none of these members. */
	if (run.drafts)
		kjson_extend(linear, "{s:I,s:I}", "row", (json_int_t)run.row, "drafts",
		    (json_int_t)run.drafts);
	if (!is_rolled_back(list)) {
		kjson_put(linear, "accepted", list->id);
		kjson_add(chain, list->id);
	}
	kjson_put(linear, "round", list->trial + 1);
}

static void
enter(const struct kcandidate *s)
{
	struct karch_row *row;
	bool best, takes;

	if (!kcandidate_enters(s))
		return;
	row = row_new(s);
	best = kcandidate_is_best(s, row, keeper.linear);
	/* The best holds its cell, so that an archive agrees with its header. */
	takes = keeper.linear ? !is_rolled_back(s)
	                      : best ||
	        kcandidate_takes(
	            s, karch.elite[row->cell], row, kjson_str(karch.header, "best.id"));
	if (best)
		karch_set_best(row);
	if (takes)
		take_cell(row);
	else
		karch_keep(row);
}

/* The most recent compile errors, each text once. */
static void
note_error(const struct kcandidate *s)
{
	json_t *ring = kjson_ensure(karch.header, "errors", json_array()), *text;

	if (!s->log || !*s->log || s->duplicate)
		return;
	text = kjson_text(s->log, kfence_chars(s->log, KARCH_ERROR_CHARS));
	kjson_foreach(e, ring)
		if (json_equal(json_object_get(e, "text"), text)) {
			json_array_remove(ring, kjson_at(e));
			break;
		}
	kjson_append(ring, "{s:s,s:o}", "id", s->id, "text", text);
	while (json_array_size(ring) > KARCH_ERRORS)
		json_array_remove(ring, 0);
}

/* Broken candidates of this trial, and how many repairs of each plan have failed. */
static void
note_broken(const struct kcandidate *s)
{
	bool repaired = !strcmp(s->strategy, "repair");

	if (!status_repairable(s->standing) || !kcandidate_enters(s))
		return;
	kjson_append(kjson_ensure(karch.header, "broken", json_array()), "{s:s,s:s,s:f,s:s,s:I}",
	    "id", s->id, "cell", karch_cell_text(s->cell), "score", s->score, "status",
	    status_rows[s->standing].name, "tries",
	    (json_int_t)(repaired ? s->parent_tries + 1 : 0));
}

/* Money is added in whole nano-dollars, so that the sum does not depend on the order. */
static void
note_cost(const struct kcandidate *s)
{
	double total = kjson_num(karch.header, "cost_usd");

	if (!s->paid)
		return;
	kjson_put(karch.header, "cost_usd",
	    (double)(llround(total * 1e9) + llround(s->cost_usd * 1e9)) / 1e9);
	kjson_count(karch.header, "unpriced", !s->priced);
	for (size_t i = 0; i < KCANDIDATE_TOKENS; i++)
		kjson_count(kjson_ensure(karch.header, "tokens", json_object()),
		    kcandidate_tokens[i], s->token_count[i]);
}

static void
note_strategy(const struct kcandidate *s)
{
	json_t *strategies = kjson_ensure(karch.header, "strategies", json_object()), *one;

	if (!*s->strategy)
		return;
	one = kjson_ensure(strategies, s->strategy, json_object());
	kjson_count(one, "tried", 1);
	kjson_count(one, "correct", s->standing == STATUS_CORRECT);
	kjson_count(one, "gains", s->gain);
}

static void
count_candidate(const struct kcandidate *s)
{
	bool failure =
	    s->standing == STATUS_NO_CODE || (s->timed_out && s->standing == STATUS_RUN_ERROR);

	kjson_count(karch.header, "candidates", 1);
	kjson_count(kjson_ensure(karch.header, "statuses", json_object()),
	    status_rows[s->standing].name, 1);
	kjson_count(karch.header, "duplicates", s->duplicate);
	kjson_put(karch.header, "failures", failure ? kjson_int(karch.header, "failures") + 1 : 0);
	note_strategy(s);
	note_cost(s);
	note_error(s);
	note_broken(s);
	if (s->target >= 0 && s->target != s->parent_cell)
		kjson_put(kjson_ensure(karch.header, "tabu", json_object()),
		    karch_cell_text(s->target), s->trial);
	karch_step(keeper.islands, &keeper.current, &keeper.filled);
}

/* Forgets targets that the next trial may use again. */
static void
prune_tabu(long trial)
{
	json_t *tabu = kjson_ensure(karch.header, "tabu", json_object());

	kjson_foreach_member(cell, last, tabu)
		if (trial + 1 - json_integer_value(last) > KARCH_TABU_TRIALS)
			json_object_del(tabu, cell);
}

/* Correct elites of an island, best first. */
static size_t
island_elites(int island, const struct karch_row **list)
{
	size_t all = karch_ranked(list), n = 0;

	kforeach_of(one, list, all)
		if ((*one)->status == STATUS_CORRECT && (*one)->islands >> island & 1)
			list[n++] = *one;
	return n;
}

/*
 * Migration copies the best elites of each island to the next one, in a ring. All emigrants are
 * chosen before the first arrives; otherwise the best program would travel around the whole ring at
 * once.
 */
static void
migrate(long trial)
{
	const struct karch_row *list[KARCH_CELLS];
	uint64_t arrivals[KARCH_CELLS] = { 0 };
	json_int_t moved = 0;

	for (int i = 0; i < keeper.islands; i++) {
		size_t n = island_elites(i, list), wanted = (size_t)(migration_rate * (double)n);

		if (!wanted && n)
			wanted = 1;
		kforeach_of(x, list, wanted)
			arrivals[(*x)->cell] |= UINT64_C(1) << (i + 1) % keeper.islands;
	}
	for (int c = 0; c < KARCH_CELLS; c++) {
		struct karch_row *row = karch.elite[c];

		if (!row || !(arrivals[c] & ~row->islands))
			continue;
		moved += __builtin_popcountll(arrivals[c] & ~row->islands);
		row->islands |= arrivals[c];
		changed(row);
	}
	kjson_count(karch.header, "migrations", 1);
	kjson_count(karch.header, "migrants", moved);
	kjson_put(karch.header, "last_migration", trial);
}

/* Elites stay; the worst of the others are removed. */
static void
cap_population(void)
{
	size_t elites = 0;

	karch_sort();
	kforeach_of(one, karch.elite, KARCH_CELLS)
		elites += *one != NULL;
	while (karch.programs && elites + karch.programs > POPULATION) {
		struct karch_row *worst = karch.program[--karch.programs];

		kjson_add(kjson_ensure(karch.header, "gone", json_array()), worst->id);
		karch_row_free(worst);
		kjson_count(karch.header, "dropped", 1);
	}
}

static void
add_trial(const struct kcandidate *list, size_t n)
{
	long trial = list[0].trial;
	bool gain = false;

	if (trial <= karch.trial)
		kdie_usage("the archive already contains trial %ld, but these records are of trial "
		           "%ld",
		    karch.trial, trial);
	kjson_set(karch.header, "broken", json_array());
	renew_best(trial);
	if (keeper.linear)
		note_round(list, n);
	kforeach_of(one, list, n) {
		enter(one);
		if (!is_reference(one))
			count_candidate(one);
		gain |= one->gain && !is_reference(one) && !one->duplicate;
	}
	if (gain) {
		long wait = trial - kjson_int(karch.header, "last_gain");

		if (wait > kjson_int(karch.header, "longest_wait"))
			kjson_put(karch.header, "longest_wait", wait);
		kjson_put(karch.header, "last_gain", trial);
	}
	kjson_put(karch.header, "stale", trial - kjson_int(karch.header, "last_gain"));
	kjson_put(karch.header, "trial", trial);
	karch.trial = trial;
	if (keeper.islands > 1 && trial > 0 && trial % MIGRATION_INTERVAL == 0)
		migrate(trial);
	prune_tabu(trial);
	cap_population();
}

static json_t *
header_new(void)
{
	static const char *const zeros[] = { "candidates", "duplicates", "failures", "last_gain",
		"longest_wait", "stale", "unpriced", "dropped", "migrations", "migrants" };
	static const char *const objects[] = { "statuses", "tokens", "strategies", "tabu" };
	json_t *h = json_pack("{s:s,s:s,s:s,s:f,s:[],s:[]}", "kind", "archive", "schema",
	    "archive/1", "campaign", kcamp_str("name"), "cost_usd", 0.0, "errors", "broken");

	kforeach(zero, zeros)
		kjson_put(h, *zero, 0);
	kforeach(object, objects)
		kjson_set(h, *object, json_object());
	return h;
}

/* What the header says about islands: which is current, and what each holds. */
static void
describe_islands(void)
{
	json_t *islands = json_array();

	for (int i = 0; i < keeper.islands; i++) {
		const struct karch_row *list[KARCH_CELLS];
		size_t n = island_elites(i, list);
		json_t *one = json_pack("{s:I}", "elites", (json_int_t)n);

		if (n)
			kjson_put(one, "best", list[0]->id);
		json_array_append_new(islands, one);
	}
	kjson_set(karch.header, "islands", islands);
	kjson_extend(karch.header, "{s:{s:i,s:I}}", "island", "current", keeper.current, "filled",
	    (json_int_t)keeper.filled);
}

void
update_archive(char *const *files, size_t count)
{
	if (!karch.header)
		karch.header = header_new();
	keeper = (struct keeper){
		.linear = kcamp_linear(),
		.islands = (int)kcamp_int("search.islands"),
		.multiplier = kcamp_num("score.multiplier"),
		.filled = kjson_int(karch.header, "island.filled"),
	};
	keeper.current = (int)kjson_int(karch.header, "island.current") % keeper.islands;
	kcandidate_trials(files, count, add_trial);
	if (karch.trial < 0)
		kdie_usage("there are no records and no archive to start from");
	describe_islands();
}

void
put_archive(long after, long before)
{
	const struct karch_row *list[KARCH_CELLS];
	size_t n = karch_ranked(list);
	long now = kjson_int(karch.header, "candidates");
	bool thin = after >= 0 && karch_is_thin(before, now, KARCH_WHOLE, now);

	kjson_extend(karch.header, "{s:I,s:I,s:o*}", "elites", (json_int_t)n, "programs",
	    (json_int_t)karch.programs, "after", thin ? json_integer(after) : NULL);
	if (!thin)
		json_object_del(karch.header, "gone");
	kout_json(karch.header);
	kforeach_of(one, list, n)
		if (!thin || !(*one)->line)
			karch_put(*one);
	kforeach_of(each, karch.program, karch.programs)
		if (!thin || !(*each)->line)
			karch_put(*each);
}
