/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kspec tile: the best result possible with a grid of equal tiles. A device's peak is shared evenly
 * by its units, a unit works on one tile at a time, and the last wave may leave units idle. Peaks
 * come only from registered facts.
 */

#include "kspec.h"

static const struct khw_fact *
need(const struct khw_device *d, const char *metric)
{
	const struct khw_fact *f = khw_known(d, metric);

	if (!f)
		kdie(K_MISSING, "%s: %s, so kspec cannot judge tiles on %s", metric, UNKNOWN,
		    d->name);
	return f;
}

static const char *
advice(double share)
{
	return share >= 0.5 ? "proceed"
	    : share >= 0.1  ? "consider a smaller tile"
	                    : "fix the tiling first";
}

int
command_tile(const struct options *o)
{
	struct khw *h = khw_load(o->hardware, o->campaign);
	const struct khw_fact *rate, *bandwidth, *units;
	enum khw_dimension dimension;
	const struct khw_device *d;
	double compute_s, memory_s, waves, kernel_s;
	json_auto_t *out = NULL;

	if (o->count != 1 || !o->compute || o->flops <= 0 || o->bytes <= 0 || o->grid < 1)
		kdie(K_USAGE,
		    "tile needs a device, --compute, --flops, --bytes and --grid; the numbers must "
		    "be above 0");
	if (!khw_metric(o->compute, &dimension) || dimension != KHW_RATE)
		kdie(K_USAGE, "--compute %s: must be a rate, such as fp16_matrix", o->compute);
	d = device_or_die(h, o->operands[0]);
	rate = need(d, o->compute);
	bandwidth = need(d, "memory_bandwidth");
	units = need(d, "units");
	compute_s = o->flops / (rate->number / units->number);
	memory_s = o->bytes / (bandwidth->number / units->number);
	waves = ceil(o->grid / units->number);
	kernel_s = waves * fmax(compute_s, memory_s);
	out = json_pack("{s:s,s:s,s:f,s:f,s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:s,s:[o,o,o]}", "schema",
	    "tile/1", "device", d->name, "intensity", o->flops / o->bytes, "ridge",
	    rate->number / bandwidth->number, "bound", compute_s >= memory_s ? "compute" : "memory",
	    "waves", waves, "tile_min_ns", fmax(compute_s, memory_s) * 1e9, "kernel_min_ns",
	    kernel_s * 1e9, "ceiling_tflops", o->flops * o->grid / kernel_s / 1e12, "ceiling_gbps",
	    o->bytes * o->grid / kernel_s / 1e9, "unit_util", fmin(o->grid / units->number, 1),
	    "advice", advice(o->grid / units->number), "facts", khw_json(d, rate),
	    khw_json(d, bandwidth), khw_json(d, units));
	if (o->time_ns > 0)
		json_object_set_new(
		    out, "of_ceiling_pct", json_real(100 * kernel_s * 1e9 / o->time_ns));
	kout_open(o->output);
	kout_json(out);
	kout_commit();
	khw_free(h);
	return K_OK;
}
