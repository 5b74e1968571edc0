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
command_tile(void)
{
	struct khw *h = khw_load(given.hardware, given.campaign, NULL);
	const struct khw_fact *rate, *bandwidth, *units;
	enum khw_dimension dimension;
	const struct khw_device *d;
	double compute_s, memory_s, waves, kernel_s;
	json_auto_t *out = NULL;

	if (given.count != 1 || !given.compute || given.flops <= 0 || given.bytes <= 0 ||
	    given.grid < 1)
		kdie_usage("tile needs a device, --compute, --flops, --bytes and --grid; "
		           "the numbers must be above 0");
	if (!khw_metric(given.compute, &dimension) || dimension != KHW_RATE)
		kdie_usage("--compute %s: must be a rate, such as fp16_matrix", given.compute);
	d = device_or_die(h, *given.operands);
	rate = need(d, given.compute);
	bandwidth = need(d, "memory_bandwidth");
	units = need(d, "units");
	compute_s = given.flops / (rate->number / units->number);
	memory_s = given.bytes / (bandwidth->number / units->number);
	waves = ceil(given.grid / units->number);
	kernel_s = waves * fmax(compute_s, memory_s);
	out = json_pack("{s:s,s:s,s:f,s:f,s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:s,s:[o,o,o]}", "schema",
	    "tile/1", "device", d->name, "intensity", given.flops / given.bytes, "ridge",
	    rate->number / bandwidth->number, "bound", compute_s >= memory_s ? "compute" : "memory",
	    "waves", waves, "tile_min_ns", fmax(compute_s, memory_s) * 1e9, "kernel_min_ns",
	    kernel_s * 1e9, "ceiling_tflops", given.flops * given.grid / kernel_s / 1e12,
	    "ceiling_gbps", given.bytes * given.grid / kernel_s / 1e9, "unit_util",
	    fmin(given.grid / units->number, 1), "advice", advice(given.grid / units->number),
	    "facts", khw_json(d, rate), khw_json(d, bandwidth), khw_json(d, units));
	if (given.time_ns > 0)
		json_object_set_new(
		    out, "of_ceiling_pct", json_real(100 * kernel_s * 1e9 / given.time_ns));
	kout_only(given.output, out);
	khw_free(h);
	return K_OK;
}
