/* SPDX-License-Identifier: Apache-2.0 */
/* kusage: see kusage.h. */
#include "kusage.h"

#include <fnmatch.h>

#include "kcamp.h"

void
kusage_add(struct kusage *a, const struct kusage *b)
{
	a->known = a->known && b->known;
	a->estimated = a->estimated || b->estimated;
	a->input += b->input;
	a->output += b->output;
	a->reasoning += b->reasoning;
	a->cache_read += b->cache_read;
	a->cache_write += b->cache_write;
	a->cache_write_1h += b->cache_write_1h;
}

/* Take the first of NAMES that is a count in OBJ. */
static bool
take_count(int64_t *to, const json_t *obj, const char *const *names)
{
	for (; *names; names++) {
		double v = kjson_num_or(obj, *names, -1);

		if (v >= 0 && v < KUSAGE_COUNT_MAX) {
			*to = (int64_t)v;
			return true;
		}
	}
	return false;
}

bool
kusage_read(struct kusage *u, const json_t *obj)
{
	static const char *const input[] = { "input_tokens", "prompt_tokens", NULL };
	static const char *const output[] = { "output_tokens", "completion_tokens", NULL };
	static const char *const reasoning[] = { "reasoning_tokens",
		"output_tokens_details.thinking_tokens",
		"completion_tokens_details.reasoning_tokens", NULL };
	static const char *const read[] = { "cache_read_tokens", "cache_read_input_tokens",
		"prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", NULL };
	static const char *const write[] = { "cache_write_tokens", "cache_creation_input_tokens",
		"prompt_tokens_details.cache_write_tokens", NULL };
	static const char *const hour[] = { "cache_creation.ephemeral_1h_input_tokens", NULL };
	/* Names which show that the cached part is not in the input count. */
	static const char *const apart[] = { "cache_read_input_tokens",
		"cache_creation_input_tokens", NULL };
	int64_t plain = u->input - (u->apart ? u->cache_read + u->cache_write : 0), ignored;
	bool in = take_count(&plain, obj, input), out = take_count(&u->output, obj, output);

	take_count(&u->reasoning, obj, reasoning);
	take_count(&u->cache_read, obj, read);
	take_count(&u->cache_write, obj, write);
	take_count(&u->cache_write_1h, obj, hour);
	u->apart |= take_count(&ignored, obj, apart);
	u->input = plain + (u->apart ? u->cache_read + u->cache_write : 0);
	u->estimated |= kjson_bool(obj, "estimated");
	u->known |= in || out;
	return in || out;
}

/* The line of the table that is being read. */
static struct row {
	const char *file;
	long line;
	json_t *cells; /* by the names of their columns, without empty ones and "-" */
} row;

_Noreturn static void
fault(const char *name)
{
	kdie_usage(
	    "%s:%ld: %s: invalid value '%s'", row.file, row.line, name, kjson_str(row.cells, name));
}

/* A cell times SCALE; UNKNOWN if it is empty. */
static int64_t
number(const char *name, double max, double scale, int64_t unknown)
{
	const char *text = kjson_maybe(row.cells, name);
	char *end;
	double v = text ? strtod(text, &end) : 0;

	if (!text)
		return unknown;
	if (*end || !(v >= 0 && v <= max))
		fault(name);
	return llround(v * scale);
}

static int64_t
price(const char *name)
{
	return number(name, KCAMP_PRICE_MAX, 1e6, -1);
}

static int64_t
count(const char *name)
{
	return number(name, 1e9, 1, 0);
}

/* Which of two or three choices it is; the first if the cell is empty. */
static size_t
choice(const char *name, const char *const of[3])
{
	size_t i = kindex_of(kjson_str_or(row.cells, name, of[0]), of, of[2] ? 3 : 2);

	if (!of[i])
		fault(name);
	return i;
}

static struct kmodel
model_of(void)
{
	static const char *const caps[] = { "max_tokens", "max_completion_tokens", NULL, NULL },
	                         *const flags[] = { "1", "0", NULL, NULL },
	                         *const thinkings[] = { "none", "adaptive", "budget", NULL };
	struct kmodel m = {
		.input = price("input"),
		.cache_read = price("cache_read"),
		.cache_write_5m = price("cache_write_5m"),
		.cache_write_1h = price("cache_write_1h"),
		.output = price("output"),
		.tier_start = count("tier_start"),
		.tier_input = price("tier_input"),
		.tier_cache = price("tier_cache"),
		.tier_output = price("tier_output"),
		.max_output = count("max_out"),
		.cap_field = caps[choice("cap_field", caps)],
		.sampling = !choice("sampling", flags),
		.thinking = (enum kthinking)choice("thinking", thinkings),
		.min_cache = count("min_cache"),
		.line = row.line,
	};

	return m;
}

/* The cells of LINE, by the names in HEAD or, without one, a list of them. */
static json_t *
cells_of(char *line, const json_t *head)
{
	json_t *cells = head ? json_object() : json_array();
	const char *cell;
	size_t n = 0;

	for (; (cell = strsep(&line, "\t")); n++)
		if (!head)
			json_array_append_new(cells, kjson_string(cell));
		else if (n < json_array_size(head) && *cell && strcmp(cell, "-"))
			json_object_set_new(cells, kjson_item(head, n), kjson_string(cell));
	if (head && n != json_array_size(head))
		kdie_usage("%s:%ld: %zu fields, but the header line has %zu", row.file, row.line, n,
		    json_array_size(head));
	if (head ? !json_object_get(cells, "match") : !kjson_has(cells, "match"))
		kdie_usage("%s:%ld: match: is missing", row.file, row.line);
	return cells;
}

/* Does the row apply, and precede BEST (NULL: none yet), which is another of the same pattern? */
static bool
applies(bool local, const char *model, const char *date, const json_t *best)
{
	const char *base = strrchr(model, '/'), *match = kjson_str(row.cells, "match"),
	           *from = kjson_str(row.cells, "from_date");

	return local == kjson_is(row.cells, "provider", "local") && strcmp(from, date) <= 0 &&
	    (!fnmatch(match, model, 0) || (base && !fnmatch(match, base + 1, 0))) &&
	    (!best ||
	        (kjson_is(best, "match", match) && strcmp(from, kjson_str(best, "from_date")) > 0));
}

bool
kmodel_find(struct kmodel *m, const char *file, bool local, const char *model, const char *date)
{
	auto_free char *text = kread_file_or_die(file, 16 << 20, NULL);
	char *rest = text, *line;
	json_auto_t *head = NULL, *best = NULL;

	row = (struct row){ .file = file };
	*m = model_of();
	while ((line = strsep(&rest, "\n"))) {
		struct kmodel one;

		row.line++;
		if (!*line || *line == '#')
			continue;
		row.cells = cells_of(line, head);
		if (!head) {
			head = row.cells;
			continue;
		}
		one = model_of();
		if (applies(local, model, date, best)) {
			json_decref(best);
			best = json_incref(row.cells);
			*m = one;
		}
		json_decref(row.cells);
	}
	return best;
}

int64_t
kmodel_cost(const struct kmodel *m, const struct kusage *u)
{
	bool tier = m->tier_start > 0 && u->input > m->tier_start;
	int64_t input = tier && m->tier_input >= 0 ? m->tier_input : m->input;
	int64_t output = tier && m->tier_output >= 0 ? m->tier_output : m->output;
	int64_t read = tier && m->tier_cache >= 0 ? m->tier_cache : m->cache_read;
	int64_t plain = u->input - u->cache_read - u->cache_write, hour = u->cache_write_1h, pico;
	int64_t write_5m = m->cache_write_5m, write_1h = m->cache_write_1h;

	if (input < 0 || output < 0)
		return KUSAGE_UNKNOWN;
	/* If a row has no separate price for the cache, cached tokens are billed as input. */
	read = read < 0 ? input : read;
	write_5m = write_5m < 0 ? input : write_5m;
	write_1h = write_1h < 0 ? write_5m : write_1h;
	if (tier && m->tier_input >= 0 && m->input > 0) {
		/* In the tier, prices for writes change in proportion to the input price. */
		write_5m = llround((double)write_5m * (double)input / (double)m->input);
		write_1h = llround((double)write_1h * (double)input / (double)m->input);
	}
	if (plain < 0)
		plain = 0;
	pico = plain * input + u->cache_read * read + (u->cache_write - hour) * write_5m +
	    hour * write_1h + u->output * output;
	return (pico + 500) / 1000;
}
