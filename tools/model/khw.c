/* SPDX-License-Identifier: Apache-2.0 */
/*
 * khw: see khw.h. docs/hardware/units.json lists the names of metrics and units; views/hardware.jq
 * reads the files with values.
 */
#include "khw.h"

#include <fnmatch.h>

#include "kjq.h"
#include "kregex.h"

#define CITED "docs/hardware"

enum { FILE_BYTES = 1 << 20 };

/* The names of rates, the metrics of each dimension and the units, made from units.json. */
#include "units.h"

/* Words that must not appear next to a figure. */
static const char hedges[] =
    "(?i)(?<!\\w)(?:approximately|approx|approximate|about|around|roughly|circa|ca\\.|nearly|"
    "almost|estimated|estimate|usually|typically|typical|generally|probably|likely|presumably|"
    "assumed|assume|should be|would be|could be|similar product|similar to|or so|more or less)"
    "(?!\\w)|~|\u2248";

bool
khw_metric(const char *metric, enum khw_dimension *dimension)
{
	for (int d = 0; d < KHW_DIMENSIONS; d++)
		if (metrics[d] && kis_one_of(metrics[d], metric)) {
			*dimension = (enum khw_dimension)d;
			return true;
		}
	*dimension = KHW_RATE;
	return kregex_is(rate_names, metric);
}

double
khw_unit(enum khw_dimension dimension, const char *unit)
{
	kforeach(one, units)
		if (one->dimension == dimension && unit && !strcmp(one->name, unit))
			return one->factor;
	return 0;
}

const char *
khw_units(enum khw_dimension dimension)
{
	auto_buf struct kbuf b = { 0 };

	kforeach(one, units)
		if (one->dimension == dimension)
			kbuf_join(&b, ", ", one->name);
	return kshown("%s", b.data ?: "");
}

const char *
khw_hedge(const char *line)
{
	struct kregex_span at;

	return kregex_find(hedges, line, strlen(line), &at, 1)
	    ? kshown("%.*s", (int)(at.to - at.from), line + at.from)
	    : NULL;
}

#define NUMBER "\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d+)?"

bool
khw_product(const char *text, double *value)
{
	char *end;

	if (!kregex_is("\\A *" NUMBER "(?: *[*/x] *" NUMBER ")+ *\\z", text))
		return false;
	for (*value = strtod(text, &end); *(end += strspn(end, " "));) {
		char op = *end;
		double factor = strtod(end + 1, &end);

		*value = op == '/' ? *value / factor : *value * factor;
	}
	return isfinite(*value);
}

/* ---- reading ---- */

static int
is_device_file(const struct dirent *e)
{
	return !fnmatch("*?.md", e->d_name, 0) && strcmp(e->d_name, "README.md");
}

/* Adds the files of a folder, which messages call CITED, that contain ONLY (NULL: all). */
static void
add_files(json_t *files, const char *folder, const char *cited, const char *only)
{
	auto_free struct dirent **list = NULL;
	int n = scandir(folder, &list, is_device_file, alphasort);

	if (n < 0)
		kdie_errno(errno == ENOENT ? K_MISSING : K_IO, "%s", folder);
	kforeach_of(one, list, n) {
		size_t len;
		auto_free char *text =
		    kread_file_or_die(kshown("%s/%s", folder, (*one)->d_name), FILE_BYTES, &len);

		if (!only || strcasestr(text, only))
			kjson_append(files, "{s:o,s:s,s:o}", "file",
			    kjson_string(kshown("%s/%s", cited, (*one)->d_name)), "sha256",
			    ksha256(text, len), "text", kjson_text(text, len));
		free(*one);
	}
}

static void
take_device(struct khw_device *d, const json_t *o)
{
	static const char *const states[] = {
		[KHW_KNOWN] = "known", [KHW_NOTHING] = "nothing", [KHW_UNAVAILABLE] = "unavailable"
	};
	const json_t *facts = json_object_get(o, "facts");

	*d = (struct khw_device){ .name = kjson_str(o, "name"),
		.file = kjson_str(o, "file"),
		.sha256 = kjson_str(o, "sha256"),
		.facts = kcalloc(json_array_size(facts), sizeof *d->facts) };
	kjson_foreach(f, facts)
		d->facts[d->fact_count++] = (struct khw_fact){ .metric = kjson_str(f, "metric"),
			.state =
			    (enum khw_state)kindex_of(kjson_str(f, "state"), states, LEN(states)),
			.value = kjson_maybe(f, "value"),
			.unit = kjson_maybe(f, "unit"),
			.number = kjson_num_or(f, "number", NAN),
			.evidence = kjson_maybe(f, "evidence"),
			.source = kjson_maybe(f, "source"),
			.line = kjson_int(f, "line") };
}

json_t *
khw_files(const char *folder, const char *dir, const char *only)
{
	auto_free char *shipped = folder ? kstrdup(folder) : kdata_path(CITED),
	               *own = kasprintf("%s/hardware", dir ?: ".");
	json_t *files = json_array();

	add_files(files, shipped, CITED, only);
	if (dir && kis_folder(own))
		add_files(files, own, "hardware", only);
	return files;
}

struct khw *
khw_load(const char *folder, const char *dir, const char *only)
{
	struct khw *h = kcalloc(1, sizeof *h);
	auto_free char *vocabulary = kdata_path(CITED "/units.json");
	json_auto_t *in = json_pack("{s:o,s:o,s:s}", "files", khw_files(folder, dir, only),
	    "vocabulary", kjson_load(vocabulary), "hedges", hedges);
	const json_t *devices;
	struct kfaults faults = { 0 };

	h->json = kjq("views/hardware.jq", in);
	kjson_foreach_text(line, h->json, "faults")
		kfault(&faults, "%s", line);
	kfaults_end(&faults, "the hardware facts");
	devices = json_object_get(h->json, "devices");
	h->devices = kcalloc(json_array_size(devices), sizeof *h->devices);
	kjson_foreach(o, devices)
		take_device(&h->devices[h->count++], o);
	return h;
}

void
khw_free(struct khw *h)
{
	if (!h)
		return;
	kforeach_of(device, h->devices, h->count)
		free(device->facts);
	free(h->devices);
	json_decref(h->json);
	free(h);
}

/* ---- asking ---- */

const struct khw_device *
khw_find(const struct khw *h, const char *name)
{
	auto_free char *key = klower(kstrdup(name));
	const json_t *found;

	found = json_object_get(json_object_get(h->json, "names"), key);

	return found ? &h->devices[json_integer_value(json_object_get(found, "device"))] : NULL;
}

char *
khw_near(const struct khw *h, const char *name)
{
	struct kbuf b = kbuf_empty();

	kforeach_of(d, h->devices, *name ? h->count : 0)
		if (strcasestr(d->name, name) || strcasestr(name, d->name))
			kbuf_join(&b, ", ", d->name);
	return b.data;
}

const struct khw_fact *
khw_fact(const struct khw_device *d, const char *metric)
{
	return krow_with(d->facts, d->fact_count, metric, metric);
}

const struct khw_fact *
khw_known(const struct khw_device *d, const char *metric)
{
	const struct khw_fact *f = d ? khw_fact(d, metric) : NULL;

	return f && f->state == KHW_KNOWN ? f : NULL;
}

char *
khw_line(const struct khw_device *d, const struct khw_fact *f)
{
	return kasprintf("%s: %s %s <- %s:L%ld", f->metric, f->value, f->unit, d->file, f->line);
}

json_t *
khw_json(const struct khw_device *d, const struct khw_fact *f)
{
	json_t *value = isnan(f->number) ? json_string(f->value) : json_real(atof(f->value));

	return json_pack("{s:s,s:o,s:s,s:s,s:s,s:s,s:I,s:s}", "metric", f->metric, "value", value,
	    "unit", f->unit, "evidence", f->evidence, "source", f->source, "file", d->file, "line",
	    (json_int_t)f->line, "sha256", d->sha256);
}

/* The prefix of rates for a type; NULL: none. */
static const char *
rate_of(enum kdtype t)
{
	static const char *const rates[KDTYPE_COUNT] = { [KDTYPE_F64] = "fp64",
		[KDTYPE_F32] = "fp32",
		[KDTYPE_TF32] = "tf32",
		[KDTYPE_F16] = "fp16",
		[KDTYPE_BF16] = "bf16",
		[KDTYPE_E4M3] = "fp8",
		[KDTYPE_E5M2] = "fp8",
		[KDTYPE_E4M3FNUZ] = "fp8",
		[KDTYPE_E5M2FNUZ] = "fp8",
		[KDTYPE_I8] = "int8" };

	return rates[t];
}

/* The first timed workload. */
static const struct ktask_workload *
timed_workload(const struct ktask *t)
{
	const struct ktask_workload *w = t->workloads;

	while (w < t->workloads + t->workload_count - 1 && !w->timed)
		w++;
	return w;
}

/* The type of most input elements, on the first timed workload. */
static enum kdtype
main_type(const struct ktask *t)
{
	const struct ktask_workload *w = timed_workload(t);
	double elements[KDTYPE_COUNT] = { 0 };
	int best = KDTYPE_COUNT;

	kforeach_of(tensor, t->tensors, t->tensor_count)
		if (!tensor->scalar && tensor->input && rate_of(tensor->dtype))
			elements[tensor->dtype] += (double)ktask_elements(t, w, tensor);
	for (int i = 0; i < KDTYPE_COUNT; i++)
		if (elements[i] > 0 && (best == KDTYPE_COUNT || elements[i] > elements[best]))
			best = i;
	return (enum kdtype)best;
}

/*
 * Sums of products of float32, on a device whose matrix units take TF32: splitting operands into
 * parts gives float32's precision there, so no tolerance keeps a kernel off these units, and the
 * vector unit's rate is not a ceiling.
 */
static bool
may_use_tf32(
    const struct khw_device *d, const struct ktask *t, enum kdtype dtype, const char *other)
{
	const struct khw_fact *tf32 = khw_known(d, "tf32_matrix"), *own = khw_known(d, other);

	return dtype == KDTYPE_F32 && tf32 && (!own || tf32->number > own->number) && t->linear &&
	    t->reduction && ktask_value(t, timed_workload(t), t->reduction) > 1;
}

const char *
khw_compute(const struct khw_device *d, const struct ktask *t, const char **why)
{
	const char *name, *own = kjson_maybe(t->json, "compute"), *type;
	enum kdtype dtype = own ? KDTYPE_COUNT : main_type(t);
	const struct khw_fact *f;

	if (own)
		return own;
	type = dtype == KDTYPE_COUNT ? NULL : rate_of(dtype);
	if (!type) {
		*why = kshown("no input of the task has a type with a known rate; set \"compute\" "
		              "in %s",
		    t->file);
		return NULL;
	}
	name = kshown("%s_matrix", type);
	if (may_use_tf32(d, t, dtype, name))
		return "tf32_matrix";
	f = d ? khw_fact(d, name) : NULL;
	/* Without information, a type of 32 or more bits is assumed to run on the vector unit. */
	if (f ? f->state == KHW_NOTHING : dtype == KDTYPE_F32 || dtype == KDTYPE_F64)
		name = kshown("%s_vector", type);
	return name;
}
