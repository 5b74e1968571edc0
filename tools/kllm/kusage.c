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
	u->estimated |= kjson_bool_or(obj, "estimated", false);
	u->known |= in || out;
	return in || out;
}

enum column_type { COL_TEXT, COL_PRICE, COL_COUNT, COL_FLAG, COL_THINKING };

/* Columns by name, so that the file may have them in any order, and more of them. */
static const struct column {
	const char *name;
	enum column_type type;
	size_t at, size;
} columns[] = {
#define FIELD(name, type, field) \
	{ \
		name, type, offsetof(struct kmodel, field), sizeof((struct kmodel *)0)->field \
	}
	FIELD("provider", COL_TEXT, provider),
	FIELD("match", COL_TEXT, match),
	FIELD("input", COL_PRICE, input),
	FIELD("cache_read", COL_PRICE, cache_read),
	FIELD("cache_write_5m", COL_PRICE, cache_write_5m),
	FIELD("cache_write_1h", COL_PRICE, cache_write_1h),
	FIELD("output", COL_PRICE, output),
	FIELD("tier_start", COL_COUNT, tier_start),
	FIELD("tier_input", COL_PRICE, tier_input),
	FIELD("tier_cache", COL_PRICE, tier_cache),
	FIELD("tier_output", COL_PRICE, tier_output),
	FIELD("max_out", COL_COUNT, max_output),
	FIELD("cap_field", COL_TEXT, cap_field),
	FIELD("sampling", COL_FLAG, sampling),
	FIELD("thinking", COL_THINKING, thinking),
	FIELD("min_cache", COL_COUNT, min_cache),
	FIELD("from_date", COL_TEXT, from_date),
#undef FIELD
};
enum { FIELDS_MAX = 64 };

static void
set_defaults(struct kmodel *m)
{
	*m = (struct kmodel){
		.input = -1,
		.cache_read = -1,
		.cache_write_5m = -1,
		.cache_write_1h = -1,
		.output = -1,
		.tier_input = -1,
		.tier_cache = -1,
		.tier_output = -1,
		.cap_field = "max_tokens",
		.sampling = true,
	};
}

/*
 * Store TEXT in M according to the column; "-" leaves the default. False when it is not a valid
 * value.
 */
static bool
set_field(struct kmodel *m, const struct column *col, const char *text)
{
	static const char *const thinkings[] = { "none", "adaptive", "budget" };
	char *field = (char *)m + col->at, *end;
	double v;

	if (!strcmp(text, "-") || !*text)
		return true;
	switch (col->type) {
	case COL_TEXT:
		if (strlen(text) >= col->size)
			return false;
		strcpy(field, text);
		return true;
	case COL_THINKING:
		for (size_t i = 0; i < LEN(thinkings); i++)
			if (!strcmp(thinkings[i], text)) {
				*(enum kthinking *)field = (enum kthinking)i;
				return true;
			}
		return false;
	case COL_FLAG:
		*(bool *)field = *text == '1';
		return (*text == '0' || *text == '1') && !text[1];
	default:
		break;
	}
	errno = 0;
	v = strtod(text, &end);
	if (*end || errno || !(v >= 0 && v <= (col->type == COL_PRICE ? KCAMP_PRICE_MAX : 1e9)))
		return false;
	*(int64_t *)field = col->type == COL_PRICE ? llround(v * 1e6) : llround(v);
	return true;
}

/* Cut LINE at its tabs, in place. */
static size_t
split(char *line, char *fields[FIELDS_MAX])
{
	size_t n = 0;

	for (char *p = line; p && n < FIELDS_MAX; n++) {
		fields[n] = strsep(&p, "\t");
		if (!p)
			return n + 1;
	}
	return n;
}

static const struct column *
column_named(const char *name)
{
	for (size_t i = 0; i < LEN(columns); i++)
		if (!strcmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

static void
parse_row(struct kmodel *m, char *line, const char *file, long lineno,
    const struct column *const heads[], size_t head_count)
{
	char *fields[FIELDS_MAX];
	size_t n = split(line, fields);

	if (n != head_count)
		kdie(K_USAGE, "%s:%ld: %zu fields, but the header line has %zu", file, lineno, n,
		    head_count);
	set_defaults(m);
	m->line = lineno;
	for (size_t i = 0; i < n; i++)
		if (heads[i] && !set_field(m, heads[i], fields[i]))
			kdie(K_USAGE, "%s:%ld: %s: invalid value '%s'", file, lineno,
			    heads[i]->name, fields[i]);
	if (!*m->match)
		kdie(K_USAGE, "%s:%ld: match: is missing", file, lineno);
}

static size_t
parse_head(char *line, const char *file, const struct column *heads[])
{
	char *fields[FIELDS_MAX];
	size_t n = split(line, fields);
	bool matches = false;

	for (size_t i = 0; i < n; i++) {
		heads[i] = column_named(fields[i]);
		matches |= !strcmp(fields[i], "match");
	}
	if (!matches)
		kdie(K_USAGE, "%s: the header line has no column 'match'", file);
	return n;
}

static bool
applies(const struct kmodel *row, bool local, const char *model)
{
	const char *base = strrchr(model, '/');

	if (local != !strcmp(row->provider, "local"))
		return false;
	return !fnmatch(row->match, model, 0) || (base && !fnmatch(row->match, base + 1, 0));
}

bool
kmodel_find(struct kmodel *m, const char *file, bool local, const char *model, const char *date)
{
	auto_free char *text = kread_file_or_die(file, 16 << 20, NULL);
	char *rest = text, *line;
	const struct column *heads[FIELDS_MAX];
	size_t head_count = 0;
	struct kmodel row;
	long lineno = 0;

	set_defaults(m);
	while ((line = strsep(&rest, "\n"))) {
		lineno++;
		if (!*line || *line == '#')
			continue;
		if (!head_count) {
			head_count = parse_head(line, file, heads);
			continue;
		}
		parse_row(&row, line, file, lineno, heads, head_count);
		if (strcmp(row.from_date, date) > 0 || !applies(&row, local, model))
			continue;
		if (!*m->match ||
		    (!strcmp(m->match, row.match) && strcmp(row.from_date, m->from_date) > 0))
			*m = row;
	}
	return *m->match != '\0';
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
