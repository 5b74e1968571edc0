/* SPDX-License-Identifier: Apache-2.0 */
/* Where it was measured: machine, device, compiler, sandbox, clocks, seeds. See kreport.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"

/* Ranges over all timed rows of the campaign. */
struct clocks {
	double sm_low, sm_high, memory_low, memory_high, hot, power, load;
	long rows, throttled;
	unsigned long long mask;
	json_t *sandboxes, *governors;
};

static void
widen(double *low, double *high, double v)
{
	if (v <= 0)
		return;
	*low = *low > 0 ? fmin(*low, v) : v;
	*high = fmax(*high, v);
}

static void
add_rows(struct clocks *k, const json_t *timing)
{
	size_t i;
	json_t *row;

	json_array_foreach(timing, i, row)
	{
		const json_t *device = json_object_get(row, "device");
		long long mask = kjson_int_or(device, "throttle", -1);

		if (!device)
			continue;
		k->rows++;
		widen(&k->sm_low, &k->sm_high, kjson_num_or(device, "sm_mhz", -1));
		widen(&k->memory_low, &k->memory_high, kjson_num_or(device, "memory_mhz", -1));
		k->hot = fmax(k->hot, kjson_num_or(device, "temperature_c", 0));
		k->power = fmax(k->power, kjson_num_or(device, "power_w", 0));
		if (mask > 0) {
			k->throttled++;
			k->mask |= (unsigned long long)mask;
		}
	}
}

static void
add_eval(struct clocks *k, const json_t *eval)
{
	const char *sandbox = kjson_str_or(eval, "sandbox.name", NULL),
	           *governor = kjson_str_or(eval, "environment.governor", NULL);

	add_rows(k, json_object_get(eval, "timing"));
	k->load = fmax(k->load, kjson_num_or(eval, "environment.load_before", 0));
	if (sandbox)
		count_name(k->sandboxes, sandbox);
	if (governor)
		count_name(k->governors, governor);
}

static void
put_size(struct doc *d, const char *name, double bytes)
{
	if (bytes > 0)
		put_fact(d, name, show_bytes(bytes));
}

static void
put_machine(struct doc *d, const struct report *r)
{
	const json_t *m = r->machine;
	char *cores = kasprintf("%lld cores, %lld threads", (long long)kjson_int_or(m, "cores", 0),
	    (long long)kjson_int_or(m, "threads", 0));

	if (!m) {
		free(cores);
		return;
	}
	put_fact(d, "Processor", kjson_str_or(m, "cpu", ""));
	put_fact(d, "Cores", cores);
	put_size(d, "Last-level cache", kjson_num_or(m, "l3_bytes", 0));
	put_size(d, "Memory", kjson_num_or(m, "memory_bytes", 0));
	put_fact(d, "Kernel", kjson_str_or(m, "kernel", ""));
	put_fact(d, "System", kjson_str_or(m, "os", ""));
	free(cores);
}

static void
put_device(struct doc *d, const struct report *r)
{
	const json_t *gpu = of(r->reference, "eval.environment.device"),
	             *cl = of(r->reference, "eval.environment.opencl");
	long long api = strtoll(kjson_str_or(gpu, "driver_api", "0"), NULL, 10);

	if (gpu) {
		doc_cells(d,
		    "GPU|%s, compute capability %s, %lld multiprocessors, %s of memory, %s of L2, "
		    "driver API %lld.%lld",
		    kjson_str_or(gpu, "name", "?"), kjson_str_or(gpu, "compute_capability", "?"),
		    (long long)kjson_int_or(gpu, "multiprocessors", 0),
		    show_bytes(kjson_num_or(gpu, "memory_bytes", 0)),
		    show_bytes(kjson_num_or(gpu, "l2_bytes", 0)), api / 1000, api % 1000 / 10);
	}
	if (cl) {
		doc_cells(d, "OpenCL device|%s, %s, driver %s", kjson_str_or(cl, "device", "?"),
		    kjson_str_or(cl, "platform", "?"), kjson_str_or(cl, "driver", "?"));
	}
}

static void
put_clocks(struct doc *d, const struct report *r)
{
	struct clocks k = { .sandboxes = json_object(), .governors = json_object() };
	char *sandboxes, *governors, *load;

	for (size_t i = 0; i < r->count; i++)
		add_eval(&k, of(&r->list[i], "eval"));
	add_eval(&k, r->verify);
	sandboxes = names_of(k.sandboxes);
	governors = names_of(k.governors);
	load = kasprintf("%.2f", k.load);
	put_fact(d, "Sandbox of candidates", sandboxes);
	put_fact(d, "Frequency governor", governors);
	put_fact(d, "Highest load before an evaluation", load);
	if (k.rows) {
		doc_cells(d,
		    "Clocks during timing|processors %.0f to %.0f MHz, memory %.0f to %.0f MHz; at "
		    "most %.0f °C and %.0f W|Throttling",
		    k.sm_low, k.sm_high, k.memory_low, k.memory_high, k.hot, k.power);
		if (k.throttled)
			doc_cells(d,
			    "in %ld of %ld timed rows (reasons 0x%llx): their times are too long",
			    k.throttled, k.rows, k.mask);
		else
			doc_cells(d, "in none of %ld timed rows", k.rows);
	}
	free(sandboxes);
	free(governors);
	free(load);
	json_decref(k.sandboxes);
	json_decref(k.governors);
}

void
put_environment(struct doc *d, const struct report *r)
{
	char *seed = kasprintf("%ld", (long)kcamp_num(r->camp, "seed"));
	const char *gpu = kcamp_str(r->camp, "gpu"),
	           *found = text_of(r->reference, "eval.environment.device.name", NULL);

	doc_section(d, "environment", "Environment");
	if (found && *gpu && strcmp(gpu, found))
		doc_note(d, "The campaign is for \1%s\1, but was measured on \1%s\1.", gpu, found);
	doc_table(d, "Where it was measured", "Item|~Value");
	put_machine(d, r);
	put_device(d, r);
	put_fact(d, "Threads given to kernels",
	    show_count(kjson_int_or(r->reference->json, "eval.environment.threads", 0)));
	put_fact(d, "Build of the reference", text_of(r->reference, "eval.build.command", ""));
	if (r->best)
		put_fact(d, "Build of the best", text_of(r->best, "eval.build.command", ""));
	put_clocks(d, r);
	put_fact(d, "Backend", kcamp_str(r->camp, "backend"));
	put_fact(d, "Workload set of the search", kcamp_str(r->camp, "eval.set"));
	put_fact(d, "Seed of the search", seed);
	put_fact(d, "Seed of the reference's inputs", text_of(r->reference, "eval.seed", ""));
	doc_cells(d, "Page made by|kiln %s", kversion_string());
	doc_table_end(d);
	free(seed);
}
