/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt configs: chooses a few of the observed calls to represent all, in adopt/configs.json.
 * Times come from adopt/timing.ndjson or, for launches, from ncu's output.
 */

#include "kadopt.h"
#include "kconfigs.h"
#include "kio.h"
#include "koption.h"
#include "ncu.h"
#include "shape.h"

static const char usage[] = "usage: kadopt configs [OPTION...]\n";

enum { TOP_MAX = 64, FEW = 32 };

struct options {
	const char *campaign, *output, *key, *ncu;
	long top;
	double variance;
};

struct records {
	json_t *header, *calls;
};

/* How calls are distinguished. */
struct rule {
	bool launch;
	const char *names[KCONFIGS_KEY];
	size_t count;
	char *text; /* contains the names, or NULL */
};

static void
parse_options(struct options *o, int argc, char **argv)
{
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&o->campaign),
		KOPTION_OUTPUT(&o->output),
		{ 0, "top", .number = &o->top, .low = 1, .high = TOP_MAX,
		    .help = "N\tchoose at most N configurations" },
		{ 0, "variance", .real = &o->variance, .low = 1, .high = 1e6,
		    .help = "X\tsplit a key if its times differ by more than the factor X" },
		{ 0, "key", .text = &o->key,
		    .help = "NAME,NAME...\tgroup calls by these arguments" },
		{ 0, "ncu", .text = &o->ncu, .help = "FILE\ttake times from a CSV file of ncu" },
	};

	koption_read(options, LEN(options), usage, argc, argv);
	koption_no_operands(usage, argc, argv);
}

/* A header and calls. MISSING: what to do if the file does not exist. */
static struct records
read_records(const char *path, const char *missing)
{
	struct records r = { NULL, json_array() };
	struct krec rec;
	struct kin in;

	if (!kis_there(path))
		kdie(K_USAGE, "%s does not exist: %s", path, missing);
	kin_open(&in, path);
	while (kin_next(&in, &rec)) {
		if (r.header)
			json_array_append(r.calls, rec.json);
		else
			r.header = json_incref(rec.json);
		krec_free(&rec);
	}
	kin_close(&in);
	if (!json_array_size(r.calls))
		kdie(K_USAGE, "%s: contains no call; run kadopt observe --force to write it again",
		    path);
	return r;
}

static void
free_records(struct records *r)
{
	json_decref(r->header);
	json_decref(r->calls);
}

/* ---- what distinguishes calls ---- */

/* Names that are typical for sizes, whole or as the beginning or end of a name. */
static bool
is_size_name(const char *name)
{
	static const char *const whole[] = { "n", "m", "k", "h", "w", "c", "b", "nx", "ny", "nz",
		"mm", "nn", "kk", "rows", "cols", "columns", "width", "height", "depth", "size",
		"len", "length", "count", "batch", "batches", "channels", "stride", "pitch", "ld",
		"lda", "ldb", "ldc", "dim", "elements", "num", "nrows", "ncols", "groups", "heads",
		"seq" };
	static const char *const ends[] = { "_rows", "_cols", "_width", "_height", "_size", "_len",
		"_length", "_count", "_dim", "_stride", "_n", "_batch" };
	static const char *const starts[] = { "num_", "n_", "len_", "dim_", "size_" };
	size_t len = strlen(name);

	for (size_t i = 0; i < LEN(whole); i++)
		if (!strcasecmp(name, whole[i]))
			return true;
	for (size_t i = 0; i < LEN(ends); i++)
		if (len > strlen(ends[i]) && !strcasecmp(name + len - strlen(ends[i]), ends[i]))
			return true;
	for (size_t i = 0; i < LEN(starts); i++)
		if (!strncasecmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Is the size of a piece of memory a multiple of V, a number that is not small? */
static bool
divides(const json_t *call, json_int_t v)
{
	json_t *p;
	const char *name;

	json_object_foreach(json_object_get(call, "pointers"), name, p) {
		json_int_t bytes = kjson_int(p, "bytes") - kjson_int(p, "offset");

		if (v >= 16 && bytes > 0 && bytes % v == 0)
			return true;
	}
	return false;
}

/* Number of different values of an integer; -1: it is no integer in some call. */
static long
count_values(const json_t *calls, const char *name)
{
	json_auto_t *seen = json_object();
	const json_t *c;
	size_t i;
	char value[32];

	json_array_foreach((json_t *)calls, i, c) {
		const json_t *v = json_object_get(json_object_get(c, "args"), name);

		if (!json_is_integer(v))
			return -1;
		snprintf(value, sizeof value, "%lld", (long long)json_integer_value(v));
		json_object_set_new(seen, value, json_true());
	}
	return (long)json_object_size(seen);
}

/* An integer that distinguishes a few kinds of calls, and does not just count them. */
static bool
has_few_values(const json_t *calls, const char *name, long few)
{
	long count = count_values(calls, name);

	return count >= 0 && count <= few;
}

/*
 * An integer with a typical name for a size, unless it is a number for every call, or one that
 * divides the size of what is pointed to in every call.
 */
static bool
is_size(const json_t *calls, const char *name)
{
	long most = (long)json_array_size(calls) / 4;
	const json_t *c;
	bool size = true;
	size_t i;

	json_array_foreach((json_t *)calls, i, c) {
		const json_t *v = json_object_get(json_object_get(c, "args"), name);

		if (!json_is_integer(v))
			return false;
		size = size && divides(c, json_integer_value(v));
	}
	return size || (is_size_name(name) && has_few_values(calls, name, most < FEW ? FEW : most));
}

static void
given_rule(struct rule *r, const char *key, const json_t *args)
{
	r->text = kstrdup(key);
	kpart_foreach(p, r->text, ",") {
		if (!json_is_integer(json_object_get(args, p)))
			kdie(K_USAGE, "--key: '%s' is not an integer argument of the calls", p);
		if (r->count == KCONFIGS_KEY)
			kdie(K_USAGE, "--key: more than %d names", KCONFIGS_KEY);
		r->names[r->count++] = p;
	}
}

static void
find_rule(struct rule *r, const struct options *o, const json_t *observed)
{
	const json_t *first = json_array_get(observed, 0), *args = json_object_get(first, "args");
	const char *name;
	bool sized;
	json_t *v;

	*r = (struct rule){ .launch = !o->key && json_object_get(first, "grid") };
	if (o->key)
		given_rule(r, o->key, args);
	if (o->key || r->launch)
		return;
	json_object_foreach((json_t *)args, name, v)
		if (r->count < KCONFIGS_KEY && is_size(observed, name))
			r->names[r->count++] = name;
	sized = r->count > 0;
	/* If nothing looks like a size, use all integers with few values. */
	json_object_foreach((json_t *)args, name, v)
		if (r->count < KCONFIGS_KEY && !sized && has_few_values(observed, name, FEW))
			r->names[r->count++] = name;
}

static struct kconfigs_key
key_of(const struct rule *r, const json_t *call, const char *file, size_t i)
{
	struct kconfigs_key k = { .launch = r->launch, .count = r->launch ? 6 : r->count };

	for (size_t n = 0; n < k.count; n++) {
		const json_t *v = r->launch
		    ? json_array_get(json_object_get(call, n < 3 ? "grid" : "block"), n % 3)
		    : json_object_get(json_object_get(call, "args"), r->names[n]);

		if (!json_is_integer(v))
			kdie(K_USAGE, "%s:%zu: %s: must be an integer", file, i + 2,
			    r->launch ? n < 3 ? "grid" : "block" : r->names[n]);
		k.at[n] = json_integer_value(v);
	}
	return k;
}

/* ---- the result ---- */

static json_t *
number(double x)
{
	return json_real(round(x * 1e6) / 1e6);
}

static json_t *
key_json(const struct rule *r, const struct kconfigs_key *k)
{
	json_t *o = json_object();

	if (r->launch) {
		kjson_set(o, "grid_x", json_integer(k->at[0]));
		kjson_set(o, "block_x", json_integer(k->at[3]));
	}
	for (size_t i = 0; !r->launch && i < r->count; i++)
		kjson_set(o, r->names[i], json_integer(k->at[i]));
	return o;
}

static json_t *
triple(const int64_t *at)
{
	return json_pack("[I,I,I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2]);
}

/*
 * What the pointers pointed to in an observed call of the group with these scalars; empty when
 * there is no such call. If possible, none of them was a null pointer.
 */
static const json_t *
example_of(const struct kconfig *c, const json_t *observed, bool aligned)
{
	size_t own = aligned ? c->count : 0;
	const json_t *found = NULL;

	for (size_t i = 0; i < own + json_array_size(observed); i++) {
		const json_t *call = json_array_get(observed, i < own ? c->calls[i] : i - own);

		if (!json_equal(json_object_get(call, "args"), c->scalars))
			continue;
		if (!call_has_null(call))
			return call;
		found = found ? found : call;
	}
	return found;
}

/* The work of a thread, from which loop counts can be estimated when a scalar was not observed. */
static void
add_budget(json_t *o, const struct kconfig *c)
{
	json_t *budget = json_object();

	if (isfinite(c->inst_per_thread))
		kjson_set(budget, "inst_per_thread", number(c->inst_per_thread));
	if (isfinite(c->bytes_per_thread))
		kjson_set(budget, "bytes_per_thread", number(c->bytes_per_thread));
	if (json_object_size(budget))
		kjson_set(o, "budget", budget);
	else
		json_decref(budget);
}

static json_t *
config_json(const struct rule *r, const struct kconfig *c, const struct kconfigs_call *calls,
    const json_t *observed, bool aligned)
{
	const struct kconfigs_key *key = &calls[c->typical].key;
	const json_t *example = example_of(c, observed, aligned);
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:O}", "name", c->name, "key",
	    key_json(r, key), "target_us", number(c->target_us), "total_us", number(c->total_us),
	    "share", number(c->share), "calls", (json_int_t)c->count, "faults",
	    (json_int_t)calls[c->typical].faults, "scalars", c->scalars);

	if (r->launch)
		json_object_update_new(o,
		    json_pack("{s:o,s:o}", "grid", triple(key->at), "block", triple(key->at + 3)));
	if (example)
		json_object_update_new(o,
		    json_pack("{s:O*,s:O*}", "example", json_object_get(example, "i"), "pointers",
		        json_object_get(example, "pointers")));
	add_budget(o, c);
	return o;
}

static void __attribute__((format(printf, 2, 3))) note(json_t *notes, const char *format, ...)
{
	va_list ap;
	char text[512];

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	kwarn("%s", text);
	json_array_append_new(notes, json_string(text));
}

static json_t *
notes_of(const struct kconfigs *c, size_t calls, size_t observed)
{
	json_t *notes = json_array();

	if (c->coverage < KCONFIGS_COVERAGE)
		note(notes,
		    "the %zu configurations cover %.1f %% of the time, less than %.0f %%; use "
		    "--top to take more of the %zu",
		    c->count, 100 * c->coverage, 100 * KCONFIGS_COVERAGE, c->groups);
	if (!c->aligned && calls != observed)
		note(notes,
		    "%zu calls were timed and %zu observed, so arguments are matched by key: fast "
		    "and slow calls with the same key get the same arguments",
		    calls, observed);
	else if (!c->aligned)
		note(notes,
		    "%zu of %zu timed calls have other keys than the observed calls, so arguments "
		    "are matched by key",
		    c->astray, calls);
	return notes;
}

static json_t *
document(const struct rule *r, const struct kconfigs *c, const struct kconfigs_call *calls,
    size_t n, const json_t *header, const json_t *observed)
{
	json_t *key = json_array(), *list = json_array();

	for (size_t i = 0; i < c->count; i++)
		json_array_append_new(list, config_json(r, &c->at[i], calls, observed, c->aligned));
	for (size_t i = 0; !r->launch && i < r->count; i++)
		json_array_append_new(key, json_string(r->names[i]));
	if (r->launch) {
		json_array_append_new(key, json_string("grid_x"));
		json_array_append_new(key, json_string("block_x"));
	}
	return json_pack("{s:s,s:s,s:o,s:I,s:I,s:o,s:o,s:b,s:o,s:o}", "schema", "configs/1",
	    "kernel", kjson_str(header, "kernel"), "key", key, "calls", (json_int_t)n, "groups",
	    (json_int_t)c->groups, "total_us", number(c->total_us), "coverage", number(c->coverage),
	    "aligned", c->aligned, "notes", notes_of(c, n, json_array_size(observed)), "configs",
	    list);
}

/* ---- */

static void
check_same(const char *path, const json_t *timing, const json_t *observed)
{
	static const char *const fields[] = { "kernel", "signature_sha256", "wrapper_sha256",
		"command_sha256", "sources_sha256" };

	for (size_t i = 0; i < LEN(fields); i++)
		if (strcmp(kjson_str(timing, fields[i]), kjson_str(observed, fields[i])))
			kdie(K_USAGE,
			    "%s: belongs to another program than the observed one (%s differs); "
			    "run kadopt observe --force to write both again",
			    path, fields[i]);
}

/*
 * The calls from timing.ndjson, as TIMING, to be freed after the calls; if calls came from a log,
 * that may contain times itself.
 */
static struct kconfigs_call *
timed_calls(const char *path, const struct rule *r, const struct records *observed,
    struct records *timing, size_t *n)
{
	bool own = !kis_there(path) && json_object_get(json_array_get(observed->calls, 0), "ns");
	struct kconfigs_call *calls;

	if (own)
		*timing =
		    (struct records){ json_incref(observed->header), json_incref(observed->calls) };
	else
		*timing = read_records(path,
		    "run kadopt observe to write it, or give the times of launches with --ncu "
		    "FILE");
	check_same(path, timing->header, observed->header);
	*n = json_array_size(timing->calls);
	calls = kcalloc(*n, sizeof *calls);
	for (size_t i = 0; i < *n; i++) {
		const json_t *c = json_array_get(timing->calls, i);

		calls[i] = (struct kconfigs_call){ key_of(r, c, path, i), kjson_num(c, "ns") / 1e3,
			NAN, NAN, json_object_get(c, "args"), NAN, NAN, kjson_int(c, "faults") };
	}
	return calls;
}

/* The launched function: the (last) name in a C++ symbol, _Z13soften_kernel…. The caller frees. */
static char *
launched_name(const struct records *observed)
{
	const json_t *first = json_array_get(observed->calls, 0),
	             *launches = json_object_get(first, "launches");
	const char *symbol = kjson_str_or(
	    json_array_get(launches, 0), "symbol", kjson_str(observed->header, "kernel"));
	const char *name = symbol, *p = symbol + 2;
	size_t len = strlen(symbol);

	if (strncmp(symbol, "_Z", 2))
		return kstrdup(symbol);
	for (p += *p == 'N'; isdigit((unsigned char)*p);) {
		char *end;
		unsigned long n = strtoul(p, &end, 10);

		if (n > strlen(end))
			break;
		name = end;
		len = n;
		p = end + n;
	}
	return kstrndup(name, len);
}

static struct kconfigs_call *
profiled_calls(const char *path, const struct records *observed, size_t *n)
{
	auto_free char *name = launched_name(observed);
	json_auto_t *kernels = json_pack("[s]", name);

	return ncu_calls(path, kernels, n);
}

static void
write_document(const char *path, const json_t *o)
{
	auto_free char *text = json_dumps(o, JSON_INDENT(2) | JSON_SORT_KEYS);

	kout_open(path);
	kout_raw(text, strlen(text));
	kout_commit();
}

int
command_configs(int argc, char **argv)
{
	struct options o = { .campaign = ".", .top = KCONFIGS_TOP, .variance = KCONFIGS_VARIANCE };
	struct records observed, timing = { NULL, NULL };
	struct kconfigs_call *calls;
	struct kconfigs_seen *seen;
	struct kconfigs c;
	struct rule rule;
	char *observed_path, *timing_path, *output;
	json_t *result;
	size_t n, m;

	parse_options(&o, argc, argv);
	observed_path = path_of("%s/adopt/observed.ndjson", o.campaign);
	timing_path = path_of("%s/adopt/timing.ndjson", o.campaign);
	output = o.output ? kstrdup(o.output) : kasprintf("%s/adopt/configs.json", o.campaign);
	observed = read_records(observed_path, "run kadopt observe to write it");
	find_rule(&rule, &o, observed.calls);
	if (o.ncu && !rule.launch)
		kdie(K_USAGE, "--ncu: the calls were observed without grid and block");
	calls = o.ncu ? profiled_calls(o.ncu, &observed, &n)
	              : timed_calls(timing_path, &rule, &observed, &timing, &n);
	m = json_array_size(observed.calls);
	seen = kcalloc(m, sizeof *seen);
	for (size_t i = 0; i < m; i++) {
		const json_t *call = json_array_get(observed.calls, i);

		seen[i] = (struct kconfigs_seen){ key_of(&rule, call, observed_path, i),
			json_object_get(call, "args") };
	}
	kconfigs_choose(calls, n, seen, m, (size_t)o.top, o.variance, &c);
	result = document(&rule, &c, calls, n, observed.header, observed.calls);
	write_document(output, result);
	json_decref(result);
	kconfigs_free(&c);
	free(seen);
	free(calls);
	free(rule.text);
	free_records(&observed);
	free_records(&timing);
	free(output);
	return K_OK;
}
