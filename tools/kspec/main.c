/* SPDX-License-Identifier: Apache-2.0 */
/* kspec: see kspec.h. */
#include "kspec.h"

#include "koption.h"

static const char usage_text[] = "usage: kspec [--json] [-c DIR] [-o FILE] DEVICE [METRIC...]\n"
                                 "       kspec check [-c DIR] [--device NAME] [-o FILE] [FILE...]\n"
                                 "       kspec roofline [--tolerant] [-c DIR] [-o FILE]\n"
                                 "       kspec tile --compute METRIC --flops N --bytes N --grid N "
                                 "[OPTION...] DEVICE\n";

static const struct {
	const char *name;
	int (*run)(void);
} commands[] = {
	{ "check", command_check },
	{ "roofline", command_roofline },
	{ "tile", command_tile },
};

const struct khw_device *
device_or_die(const struct khw *h, const char *name)
{
	const struct khw_device *d = khw_find(h, name);
	char *near = d ? NULL : khw_near(h, name);

	if (!d)
		kdie(K_NO, "no file in docs/hardware describes the device '%s'%s%s%s", name,
		    *near ? "; known devices: " : "", near,
		    *near ? " (facts about another device are never used)" : "");
	return d;
}

struct consents consents;

const struct consent *
consent_for(const char *metric)
{
	return krow_with(consents.list, consents.count, metric, metric);
}

void
consents_load(const char *dir)
{
	auto_free char *path = kasprintf("%s/placeholder.ok", dir),
	               *text = kread_if_there(path, 1 << 20, NULL);
	char *rest, *p;
	long line = 0;

	for (rest = text; (p = strsep(&rest, "\n"));) {
		char metric[64], value[64], unit[32];
		enum khw_dimension dimension;
		struct consent one = { 0 };
		double factor;

		line++;
		p[strcspn(p, "#")] = '\0';
		if (!p[strspn(p, " \t\r")])
			continue;
		if (sscanf(p, " %63[a-z0-9_]: %63s %31s %*c", metric, value, unit) != 3 ||
		    !khw_metric(metric, &dimension))
			kdie_usage("%s:%ld: write 'metric: value unit # who says so, and why'",
			    path, line);
		factor = khw_unit(dimension, unit);
		if (factor <= 0)
			kdie_usage("%s:%ld: %s: unit '%s' must be one of: %s", path, line, metric,
			    unit, khw_units(dimension));
		if (consent_for(metric))
			kdie_usage("%s:%ld: %s: is already in line %ld", path, line, metric,
			    consent_for(metric)->line);
		one = (struct consent){ kstrdup(metric), kstrdup(value), kstrdup(unit),
			knum_double(value, 1e-6, 1e30, metric) * factor, line };
		*kadded(consents.list, consents.count) = one;
	}
}

/* ---- kspec DEVICE [METRIC…] ---- */

/* One line: a record, which is taken over, or text. */
static void
put_line(json_t *record, char *text)
{
	if (given.json)
		kout_json(record);
	else
		kout_line("%s", text);
	json_decref(record);
	free(text);
}

static void
put_unknown(const struct khw_device *d, const struct khw_fact *f, const char *metric)
{
	const char *reason = f ? f->source : "its file does not have it";

	put_line(json_pack("{s:s,s:s,s:s,s:s}", "schema", "spec/1", "device", d->name, "metric",
	             metric, "unknown", reason),
	    kasprintf("%s: %s", metric, UNKNOWN));
	if (!given.json)
		kwarn("%s of %s: %s", metric, d->name, reason);
}

static void
put_fact(const struct khw_device *d, const struct khw_fact *f)
{
	json_t *record = khw_json(d, f);

	kjson_extend(record, "{s:s,s:s}", "schema", "spec/1", "device", d->name);
	put_line(record, khw_line(d, f));
}

static int
command_show(void)
{
	struct khw *h = khw_load(given.hardware, given.campaign, NULL);
	const struct khw_device *d = device_or_die(h, *given.operands);
	char **metrics = given.operands + 1;
	size_t count = given.count - 1;
	enum khw_dimension dimension;
	int code = K_OK;

	kforeach_of(metric, metrics, count)
		if (!khw_metric(*metric, &dimension))
			kdie_usage(
			    "'%s' is not a metric; docs/hardware/README.md lists them", *metric);
	kout_open(given.output);
	kforeach_of(f, d->facts, count ? 0 : d->fact_count)
		if (f->state == KHW_KNOWN)
			put_fact(d, f);
	kforeach_of(metric, metrics, count) {
		const struct khw_fact *f = khw_fact(d, *metric);

		if (f && f->state == KHW_KNOWN) {
			put_fact(d, f);
		} else {
			put_unknown(d, f, *metric);
			code = K_NO;
		}
	}
	kout_commit();
	khw_free(h);
	return code;
}

struct given given = { .flops = -1, .bytes = -1, .time_ns = -1 };

int
main(int argc, char **argv)
{
	long grid = -1;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&given.campaign),
		KOPTION_OUTPUT(&given.output),
		KOPTION_TEXT("hardware", &given.hardware,
		    "DIR\tread facts from DIR (default: docs/hardware)"),
		KOPTION_TEXT(
		    "device", &given.device, "NAME\tcheck: facts must be about this device"),
		KOPTION_FLAG("json", &given.json, "\tprint facts as JSON"),
		KOPTION_FLAG(
		    "tolerant", &given.tolerant, "\troofline: exit 0 even if facts are missing"),
		KOPTION_TEXT("compute", &given.compute,
		    "METRIC\ttile: rate that the tile uses, such as fp16_matrix"),
		KOPTION_REAL("flops", &given.flops, 0, 1e30, "N\ttile: operations of a tile"),
		KOPTION_REAL("bytes", &given.bytes, 0, 1e30, "N\ttile: bytes that a tile moves"),
		KOPTION_NUMBER("grid", &grid, 1, 1e12, "N\ttile: number of tiles"),
		KOPTION_REAL("time-ns", &given.time_ns, 1e-3, 1e18, "N\ttile: measured time"),
	};

	kutil_init("kspec");
	koption_read(options, usage_text, argc, argv);
	given.grid = (double)grid;
	given.operands = argv + optind;
	given.count = (size_t)(argc - optind);
	if (!given.count)
		koption_misuse(usage_text, "give a device or a command");
	kforeach(command, commands)
		if (!strcmp(command->name, *given.operands)) {
			given.operands++;
			given.count--;
			return command->run();
		}
	return command_show();
}
