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
	int (*run)(const struct options *o);
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

const struct consent *
consent_for(const struct consents *c, const char *metric)
{
	kforeach_of(one, c->list, c->count)
		if (!strcmp(one->metric, metric))
			return one;
	return NULL;
}

void
consents_load(struct consents *c, const char *dir)
{
	auto_free char *path = kasprintf("%s/placeholder.ok", dir),
	               *text = kread_if_there(path, 1 << 20, NULL);
	char *rest, *p;
	long line = 0;

	*c = (struct consents){ 0 };
	for (rest = text; (p = strsep(&rest, "\n"));) {
		char metric[64], value[64], unit[32], list[160];
		enum khw_dimension dimension;
		struct consent one = { 0 };
		double factor;

		line++;
		p[strcspn(p, "#")] = '\0';
		if (!p[strspn(p, " \t\r")])
			continue;
		if (sscanf(p, " %63[a-z0-9_]: %63s %31s %*c", metric, value, unit) != 3 ||
		    !khw_metric(metric, &dimension))
			kdie(K_USAGE, "%s:%ld: write 'metric: value unit # who says so, and why'",
			    path, line);
		factor = khw_unit(dimension, unit, list, sizeof list);
		if (factor <= 0)
			kdie(K_USAGE, "%s:%ld: %s: unit '%s' must be one of: %s", path, line,
			    metric, unit, list);
		if (consent_for(c, metric))
			kdie(K_USAGE, "%s:%ld: %s: is already in line %ld", path, line, metric,
			    consent_for(c, metric)->line);
		one = (struct consent){ kstrdup(metric), kstrdup(value), kstrdup(unit),
			knum_double(value, 1e-6, 1e30, metric) * factor, line };
		c->list = krealloc(c->list, (c->count + 1) * sizeof *c->list);
		c->list[c->count++] = one;
	}
}

/* ---- kspec DEVICE [METRIC…] ---- */

static void
put_unknown(const struct options *o, const struct khw_device *d, const struct khw_fact *f,
    const char *metric)
{
	const char *reason = f ? f->source : "its file does not have it";
	auto_free char *line = kasprintf("%s: %s", metric, UNKNOWN);
	json_t *record;

	if (o->json) {
		record = json_pack("{s:s,s:s,s:s,s:s}", "schema", "spec/1", "device", d->name,
		    "metric", metric, "unknown", reason);
		kout_json(record);
		json_decref(record);
	} else {
		kout_line(line, strlen(line));
		kwarn("%s of %s: %s", metric, d->name, f ? reason : "its file does not have it");
	}
}

static void
put_fact(const struct options *o, const struct khw_device *d, const struct khw_fact *f)
{
	json_t *record;
	char *line;

	if (o->json) {
		record = khw_json(d, f);
		json_object_set_new(record, "schema", json_string("spec/1"));
		json_object_set_new(record, "device", json_string(d->name));
		kout_json(record);
		json_decref(record);
		return;
	}
	line = khw_line(d, f);
	kout_line(line, strlen(line));
	free(line);
}

int
command_show(const struct options *o)
{
	struct khw *h = khw_load(o->hardware, o->campaign);
	const struct khw_device *d = device_or_die(h, o->operands[0]);
	enum khw_dimension dimension;
	int code = K_OK;

	for (size_t i = 1; i < o->count; i++)
		if (!khw_metric(o->operands[i], &dimension))
			kdie(K_USAGE, "'%s' is not a metric; docs/hardware/README.md lists them",
			    o->operands[i]);
	kout_open(o->output);
	kforeach_of(f, d->facts, o->count == 1 ? d->fact_count : 0)
		if (f->state == KHW_KNOWN)
			put_fact(o, d, f);
	for (size_t i = 1; i < o->count; i++) {
		const struct khw_fact *f = khw_fact(d, o->operands[i]);

		if (f && f->state == KHW_KNOWN) {
			put_fact(o, d, f);
		} else {
			put_unknown(o, d, f, o->operands[i]);
			code = K_NO;
		}
	}
	kout_commit();
	khw_free(h);
	return code;
}

int
main(int argc, char **argv)
{
	struct options o = { .flops = -1, .bytes = -1, .time_ns = -1 };
	long grid = -1;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&o.campaign),
		KOPTION_OUTPUT(&o.output),
		{ 0, "hardware", .text = &o.hardware,
		    .help = "DIR\tread facts from DIR (default: docs/hardware)" },
		{ 0, "device", .text = &o.device,
		    .help = "NAME\tcheck: facts must be about this device" },
		{ 0, "json", .flag = &o.json, .help = "\tprint facts as JSON" },
		{ 0, "tolerant", .flag = &o.tolerant,
		    .help = "\troofline: exit 0 even if facts are missing" },
		{ 0, "compute", .text = &o.compute,
		    .help = "METRIC\ttile: rate that the tile uses, such as fp16_matrix" },
		{ 0, "flops", .real = &o.flops, .low = 0, .high = 1e30,
		    .help = "N\ttile: operations of a tile" },
		{ 0, "bytes", .real = &o.bytes, .low = 0, .high = 1e30,
		    .help = "N\ttile: bytes that a tile moves" },
		{ 0, "grid", .number = &grid, .low = 1, .high = 1e12,
		    .help = "N\ttile: number of tiles" },
		{ 0, "time-ns", .real = &o.time_ns, .low = 1e-3, .high = 1e18,
		    .help = "N\ttile: measured time" },
	};

	kutil_init("kspec");
	koption_read(options, LEN(options), usage_text, argc, argv);
	o.grid = (double)grid;
	o.operands = argv + optind;
	o.count = (size_t)(argc - optind);
	if (!o.count)
		koption_misuse(usage_text, "give a device or a command");
	kforeach(command, commands)
		if (!strcmp(command->name, o.operands[0])) {
			o.operands++;
			o.count--;
			return command->run(&o);
		}
	return command_show(&o);
}
