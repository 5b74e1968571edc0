/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt configs: chooses a few of the observed calls to represent all, in adopt/configs.json.
 * Times come from adopt/timing.ndjson or, for launches, from ncu's output. views/configs.jq makes
 * the choice.
 */

#include "kadopt.h"
#include "ncu.h"

static const char usage[] = "usage: kadopt configs [OPTION...]\n";

struct options {
	const char *campaign, *output, *key, *ncu;
	long top;
	double variance;
};

/*
 * The calls in a file of records, and the *HEADER before them. MISSING: what to do if the file does
 * not exist. New references.
 */
static json_t *
read_calls(const char *path, const char *missing, json_t **header)
{
	json_t *records;

	if (!kis_there(path))
		kdie_usage("%s does not exist: %s", path, missing);
	records = read_records(path, header);
	if (!json_array_size(records))
		kdie_usage(
		    "%s: contains no call; run kadopt observe --force to write it again", path);
	return records;
}

static void
check_same(const char *path, const json_t *timing, const json_t *observed)
{
	kforeach_text(field, "kernel", "signature_sha256", "wrapper_sha256", "command_sha256",
	    "sources_sha256")
		if (!kjson_is(timing, field, kjson_str(observed, field)))
			kdie_usage("%s: belongs to another program than the observed one (%s "
			           "differs); "
			           "run kadopt observe --force to write both again",
			    path, field);
}

/* The calls of timing.ndjson; calls from a log may contain their times. New reference. */
static json_t *
timed_calls(const char *path, json_t *observed, const json_t *header)
{
	json_auto_t *own = NULL;
	json_t *calls;

	if (!kis_there(path) && json_object_get(json_array_get(observed, 0), "ns"))
		return json_incref(observed);
	calls = read_calls(path,
	    "run kadopt observe to write it, or give the times of launches with --ncu FILE", &own);
	check_same(path, own, header);
	return calls;
}

/*
 * The names of the arguments that are integers in every call, except places in blocks, which are
 * known only where memory is observed. New reference.
 */
static json_t *
integer_arguments(const json_t *calls, const char *campaign)
{
	json_auto_t *unit = kjson_if_there(path_of("%s/adopt/unit.json", campaign));
	const json_t *params = json_object_get(unit, "parameters");
	json_t *names = json_array();

	kjson_foreach_member(name, v, json_array_get(calls, 0), "args") {
		bool integer =
		    !strstr(kjson_str(kjson_find(params, "name", name), "value"), "kwatch_block(");

		kjson_foreach(call, calls)
			integer &=
			    json_is_integer(json_object_get(json_object_get(call, "args"), name));
		if (integer)
			kjson_add(names, name);
	}
	return names;
}

/* The names in --key. New reference; NULL: there are none. */
static json_t *
given_key(const char *key, const json_t *integers)
{
	auto_free char *names = kstrdup(key ?: "");
	json_t *list = key ? json_array() : NULL;

	kpart_foreach(name, names, ",") {
		if (!kjson_has(integers, name))
			kdie_usage("--key: '%s' is not an integer argument of the calls", name);
		kjson_add(list, name);
	}
	return list;
}

/* Adds to CONFIG what only the records have exactly: the arguments of its call, and the memory. */
static void
add_example(json_t *config, const json_t *observed)
{
	const json_t *at = json_object_get(config, "at");
	json_t *call =
	    json_is_integer(at) ? json_array_get(observed, (size_t)json_integer_value(at)) : NULL;

	kjson_extend(config, "{s:O*,s:O*,s:O*}", "scalars", json_object_get(call, "args"),
	    "example", json_object_get(call, "i"), "pointers", json_object_get(call, "pointers"));
	json_object_update_missing_new(config, json_pack("{s:{}}", "scalars"));
	json_object_del(config, "at");
}

/* What views/configs.jq chooses. New reference. */
static json_t *
choose(const struct options *o, json_t *observed, const json_t *header, const char *path)
{
	char *timing = path_of("%s/adopt/timing.ndjson", o->campaign);
	const json_t *first = json_array_get(observed, 0);
	const json_t *launch = json_array_get(json_object_get(first, "launches"), 0);
	json_auto_t *kernels = json_pack(
	                "[s]", kjson_str_or(launch, "symbol", kjson_str(header, "kernel"))),
	            *integers = integer_arguments(observed, o->campaign),
	            *key = given_key(o->key, integers), *input = NULL, *timed = NULL;
	json_t *found, *fault;

	if (o->ncu && (key || !json_object_get(first, "grid")))
		kdie_usage("--ncu: the calls were observed without grid and block");
	timed = o->ncu ? ncu_calls(o->ncu, kernels) : timed_calls(timing, observed, header);
	input = json_pack("{s:O,s:O,s:O,s:[s,s],s:O,s:O*,s:i,s:f}", "header", header, "seen",
	    observed, "timed", timed, "files", path, o->ncu ?: timing, "integers", integers, "key",
	    key, "top", (int)o->top, "variance", o->variance);
	found = kjq("views/configs.jq", input);
	fault = json_object_get(found, "fault");
	if (fault)
		kdie_usage("%s", json_string_value(fault));
	return found;
}

int
command_configs(int argc, char **argv)
{
	struct options o = { .campaign = ".", .top = 5, .variance = 2.5 };
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&o.campaign),
		KOPTION_OUTPUT(&o.output),
		KOPTION_NUMBER("top", &o.top, 1, 64, "N\tchoose at most N configurations"),
		KOPTION_REAL("variance", &o.variance, 1, 1e6,
		    "X\tsplit a key if its times differ by more than the factor X"),
		KOPTION_TEXT("key", &o.key, "NAME,NAME...\tgroup calls by these arguments"),
		KOPTION_TEXT("ncu", &o.ncu, "FILE\ttake times from a CSV file of ncu"),
	};
	json_auto_t *observed = NULL, *header = NULL, *found = NULL;
	auto_free char *text = NULL;
	const char *path;

	koption_all(options, usage, argc, argv);
	path = path_of("%s/adopt/observed.ndjson", o.campaign);
	observed = read_calls(path, "run kadopt observe to write it", &header);
	found = choose(&o, observed, header, path);
	kjson_foreach_text(note, found, "notes")
		kwarn("%s", note);
	kjson_foreach(config, found, "configs")
		add_example(config, observed);
	text = json_dumps(found, JSON_INDENT(2) | JSON_SORT_KEYS);
	kout_open(o.output ?: path_of("%s/adopt/configs.json", o.campaign));
	kout_raw(text, strlen(text));
	kout_commit();
	return K_OK;
}
