/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: the task: description, exact entry point, shapes, build command, and the reference to
 * beat.
 */
#include "kprompt.h"

#include "backend.h"
#include "kfence.h"
#include "ktask.h"

enum { MAX_SOURCE = 1 << 20, MAX_LINE = 400 };

static json_t *task; /* task.json; kept to the end */

/* Puts the text in B, which is freed. */
static void
put_text(const char *name, struct kbuf *b)
{
	put(name, json_string(b->data ?: ""));
	kbuf_free(b);
}

/* Puts the text that the task has there; "" if it has none. */
static void
put_own(const char *name, const char *path)
{
	put(name, json_string(kjson_str(task, path)));
}

char *
join(const json_t *list)
{
	struct kbuf out = kbuf_empty();

	kjson_foreach(item, list)
		if (json_is_string(item))
			kbuf_join(&out, ", ", json_string_value(item));
	return out.data;
}

/* The types of the task's tensors, as an object of true values: {"float16":true}. */
static void
put_dtypes(void)
{
	static const char *const members[] = { "inputs", "outputs" };
	json_t *set = json_object();

	kforeach(member, members)
		kjson_foreach_member(name, tensor, json_object_get(task, *member))
			if (json_is_array(json_object_get(tensor, "shape")))
				kjson_enter(set, kjson_str_or(tensor, "dtype", "float32"));
	put("dtype", set);
}

/* One parameter of the entry point. */
struct parameter {
	const char *name, *dtype;
	const char *kind;     /* key in the backend file: input, output, scalar */
	const json_t *tensor; /* NULL for an axis */
	const json_t *given;  /* what a workload says about its contents; NULL: they are drawn */
	bool inout;
	bool kept; /* they are the same in every call of the workload */
};

/* Numbers of a file are drawn anew, unless they are integers or that is forbidden. */
static void
find_contents(struct parameter *p)
{
	kjson_foreach(w, task, "workloads")
		p->given = json_object_get(json_object_get(w, "values"), p->name) ?: p->given;
	p->kept = json_is_array(p->given) ||
	    (json_is_object(p->given) &&
	        !kjson_bool_or(p->given, "fresh", kdtype_is_float(kdtype_of(p->dtype))));
}

static struct parameter
parameter_of(const json_t *argument)
{
	struct parameter p = {
		.name = json_string_value(argument), .dtype = "int32", .kind = "scalar"
	};
	const json_t *in, *out;

	if (!p.name)
		p.name = kjson_str_or(argument, "axis", kjson_maybe(argument, "name"));
	if (!p.name)
		kdie_usage("the task's entry.arguments: each item must be a name or {\"axis\": "
		           "name}");
	in = json_object_get(json_object_get(task, "inputs"), p.name);
	out = json_object_get(json_object_get(task, "outputs"), p.name);
	if (!in && !out && !json_object_get(json_object_get(task, "axes"), p.name))
		kdie_usage(
		    "the task's entry.arguments: '%s' is not an input, output or axis", p.name);
	p.tensor = out ?: in;
	p.inout = kjson_bool(out, "inout");
	p.dtype = kjson_str_or(
	    p.tensor, "dtype", kjson_str_or(argument, "dtype", p.tensor ? "float32" : "int32"));
	if (out || json_is_array(json_object_get(in, "shape")))
		p.kind = out ? "output" : "input";
	find_contents(&p);
	return p;
}

/* "const float *A", in the backend's syntax. */
static char *
declare(const struct parameter *p)
{
	const json_t *backend = json_object_get(facts, "lang");
	const char *form = kjson_maybe(backend, p->kind);
	json_auto_t *context = json_pack("{s:s,s:s}", "name", p->name, "type",
	    kjson_str_or(json_object_get(backend, "types"), p->dtype, p->dtype));

	if (!form)
		kdie_usage("prompts/backends: no \"%s\"", p->kind);
	return files_fill(form, "prompts/backends", context);
}

/* "1, 99, 512": the different values of an axis, in the order of the workloads. */
static char *
listed_sizes(const char *name)
{
	json_auto_t *seen = json_array();
	struct kbuf b = kbuf_empty();

	kjson_foreach(w, task, "workloads") {
		json_t *v = json_object_get(json_object_get(w, "axes"), name);

		if (!json_is_integer(v) || kany(kjson_foreach(other, seen), json_equal(v, other)))
			continue;
		kbuf_printf(&b, "%s%lld", b.len ? ", " : "", json_integer_value(v));
		json_array_append(seen, v);
	}
	return b.data;
}

/*
 * The values of a size in the calls that judge a kernel: those that workloads list, and others that
 * are drawn.
 */
static void
describe_size(struct kbuf *out, const char *name)
{
	struct ktask_limits l = ktask_limits(task, name);
	auto_free char *sizes = listed_sizes(name);

	if (!*sizes)
		kbuf_puts(out, "size");
	else if (l.fixed)
		kbuf_printf(out, "%s %s", strchr(sizes, ',') ? "size, one of" : "always", sizes);
	else if (l.step > 1)
		kbuf_printf(out, "size, any multiple of %lld from %lld to %lld", (long long)l.step,
		    (long long)((l.min + l.step - 1) / l.step * l.step),
		    (long long)(l.max / l.step * l.step));
	else
		kbuf_printf(out, "size, any from %lld to %lld", (long long)l.min, (long long)l.max);
}

/* "2 where timed, from 1 to 4 in the checks": the values of a scalar, over all workloads. */
static void
describe_values(struct kbuf *out, const struct parameter *p)
{
	bool fixed = kjson_bool(p->tensor, "fixed"), varies = false;
	double first = kjson_num(p->tensor, "value"), low = first, high = first, v, a, b;

	kjson_foreach(w, task, "workloads") {
		size_t i = kjson_at(w);

		v = kjson_num_or(
		    json_object_get(w, "values"), p->name, kjson_num(p->tensor, "value"));
		first = i ? first : v;
		varies |= v < first || v > first;
		a = b = v;
		if (!fixed)
			ktask_range(kdtype_of(p->dtype), v, kjson_num_or(p->tensor, "min", NAN),
			    kjson_num_or(p->tensor, "max", NAN), &a, &b);
		low = i ? fmin(low, fmin(a, v)) : fmin(a, v);
		high = i ? fmax(high, fmax(b, v)) : fmax(b, v);
	}
	if (!(low < high))
		kbuf_printf(out, "always %g", first);
	else if (varies)
		kbuf_printf(out, "from %g to %g", low, high);
	else
		kbuf_printf(out, "%g where timed, from %g to %g in the checks", first, low, high);
}

/* "input, float32, M x K, read-only", or the values of a scalar or of an axis. New reference. */
static json_t *
describe(const struct parameter *p)
{
	const json_t *axis = json_object_get(json_object_get(task, "axes"), p->name),
	             *shape = json_object_get(p->tensor, "shape"), *of = p->tensor ?: axis;
	bool scalar = p->tensor && !json_is_array(shape);
	auto_buf struct kbuf values = kbuf_empty();
	json_auto_t *o = NULL;

	if (scalar)
		describe_values(&values, p);
	else if (!p->tensor)
		describe_size(&values, p->name);
	o = json_pack("{s:s,s:s,s:b,s:b,s:b,s:b,s:s,s:O*,s:O*,s:O*,s:O*,s:b,s:b}", "kind", p->kind,
	    "dtype", p->dtype, "scalar", scalar, "tensor", !scalar && p->tensor, "inout", p->inout,
	    "input", !strcmp(p->kind, "input"), "values", values.data, "shape", shape, "always",
	    p->tensor ? NULL
	              : json_object_get(axis, "value") ?: json_object_get(axis, "expression"),
	    "align", json_object_get(p->tensor, "align"), "description",
	    json_object_get(of, "description"), "kept", p->kept, "given",
	    json_is_object(p->given));
	return data_line("argument", o);
}

/* "prototype", "arguments": [{"name","text"}], and what outputs and inputs there are. */
static void
put_entry(void)
{
	const char *own = kjson_maybe(task, "entry.prototype");
	json_t *list = json_array();
	json_auto_t *context = NULL;
	struct kbuf prototype = { 0 };
	auto_buf struct kbuf declarations = kbuf_empty();
	bool written = false, inout = false, kept = false;
	auto_free char *line = NULL;

	kjson_foreach(argument, task, "entry.arguments") {
		struct parameter p = parameter_of(argument);
		auto_free char *declaration = declare(&p);

		kbuf_join(&declarations, ", ", declaration);
		written |= !strcmp(p.kind, "output") && !p.inout;
		inout |= p.inout;
		kept |= p.kept;
		kjson_append(list, "{s:s,s:o}", "name", p.name, "text", describe(&p));
	}
	put_own("entry", "entry.name");
	context = json_pack(
	    "{s:s,s:s}", "entry", kjson_str(facts, "entry"), "arguments", declarations.data);
	line = own ? kstrdup(own)
	           : files_fill(kjson_str_or(facts, "lang.entry", "void {{entry}}({{arguments}})"),
	                 "prompts/backends", context);
	kfence_code(&prototype, line, campaign.label);
	put_text("prototype", &prototype);
	kjson_extend(facts, "{s:b,s:b,s:b,s:o}", "written", written, "inout", inout, "kept", kept,
	    "arguments", list);
}

/* "timed": [{"name","text":"M = 1024, N = 1024"}] for the set in use. */
static void
put_timed(void)
{
	const char *set = kcamp_str("eval.set");
	json_t *list = json_array();

	kjson_foreach(w, task, "workloads") {
		auto_buf struct kbuf text = kbuf_empty();
		const json_t *sets = json_object_get(w, "sets");

		if (!kjson_bool(w, "timed") || (sets && !kjson_has(sets, set)))
			continue;
		kjson_foreach_member(axis, v, w, "axes")
			kbuf_printf(&text, "%s%s = %lld", text.len ? ", " : "", axis,
			    json_integer_value(v));
		kjson_append(
		    list, "{s:s,s:s}", "name", kjson_str_or(w, "name", "?"), "text", text.data);
	}
	put("timed", list);
}

static void
put_tolerance(void)
{
	static const struct {
		const char *key, *text;
		double pointless; /* the value that need not be mentioned */
	} parts[] = {
		{ "rtol", "relative error", -1 },
		{ "atol", "absolute error", -1 },
		{ "matched_ratio", "share of elements that must match", 1 },
		{ "max_error_cap", "no element may be off by more than", -1 },
	};
	const json_t *t = json_object_get(task, "tolerance");
	struct kbuf b = { 0 };

	kforeach(part, parts) {
		double v = kjson_num_or(t, part->key, part->pointless);

		if (v < part->pointless || v > part->pointless)
			kbuf_printf(&b, "%s%s %g", b.len ? ", " : "", part->text, v);
	}
	put_text("tolerance", &b);
}

/* The command line that builds a candidate, in the form of the template data/build. */
static json_t *
build_line(void)
{
	const json_t *build = json_object_get(task, "build");
	const char *compiler = kjson_str_or(build, "compiler", "cc");
	json_auto_t *o = json_pack("{s:s*,s:s,s:b,s:O*,s:O*,s:O}", "api",
	    ktask_device_only(task) ? device_compiler(compiler)->api : NULL, "compiler", compiler,
	    "wraps", !strcmp(compiler, "nvcc"), "flags", json_object_get(build, "flags"), "libs",
	    json_object_get(build, "libs"), "suffix", json_object_get(facts, "suffix"));

	return build ? data_line("build", o) : json_string("");
}

/* The first line of a tier's command, or "". */
static json_t *
command_line(const json_t *tier)
{
	auto_free char *line = kfence_line(kjson_str(tier, "command"), MAX_LINE);

	return json_string(line);
}

/*
 * How a candidate is built, and what the project's own commands do instead of kiln's: the prompt
 * may not promise anything that they do not keep.
 */
static void
put_build(void)
{
	const json_t *build = kcamp_json("eval.build"), *check = kcamp_json("eval.correctness"),
	             *timing = kcamp_json("eval.timing");
	const char *metric = kjson_maybe(timing, "metric");
	auto_free char *measure = metric
	    ? kasprintf("%s (%s is better)", metric, kjson_str_or(timing, "direction", "higher"))
	    : kstrdup("the time");

	put("build", build ? json_string("") : build_line());
	put("own",
	    json_pack("{s:o,s:o,s:o,s:s,s:b,s:b,s:b}", "build", command_line(build), "correctness",
	        command_line(check), "timing", command_line(timing), "measure", measure, "any",
	        build || check || timing, "judges", check && timing, "sandboxed",
	        kjson_bool_or(check, "sandbox", true) && kjson_bool_or(timing, "sandbox", true)));
}

static void
put_baselines(void)
{
	struct kbuf names = { 0 };

	kjson_foreach(b, task, "baselines")
		kbuf_join(&names, ", ", kjson_str_or(b, "name", "?"));
	put_text("baselines", &names);
}

char *
task_facts(void)
{
	static const char *const texts[] = { "op", "reduction", "flops", "bytes" };
	auto_free char *description = NULL, *symbols = NULL;
	const char *path = kcamp.task;
	char *source;
	struct kbuf reference = { 0 };

	task = kjson_load(path);
	if (!kjson_is(task, "schema", "task/1"))
		kdie_usage("%s: schema: must be \"task/1\"; this version of kiln reads no other "
		           "tasks",
		    path);
	source = kread_text_or_die(
	    kbeside(path, kjson_str_or(task, "reference", "reference.c")), MAX_SOURCE);
	symbols = join(json_object_get(task, "allow_symbols"));
	description =
	    kfence_clean(kjson_str(task, "description"), strlen(kjson_str(task, "description")));
	put("description", json_string(description));
	put_own("task", "name");
	kforeach(text, texts)
		put_own(*text, *text);
	put("alone", json_boolean(kjson_is(task, "timing", "alone")));
	put("bundle", json_boolean(json_object_get(task, "files") != NULL));
	family_facts(source);
	put_dtypes();
	put_entry();
	put_timed();
	put_tolerance();
	put_build();
	put("allow_symbols", json_string(symbols));
	put_baselines();
	kfence_code(&reference, source, campaign.label);
	put_text("reference", &reference);
	return source;
}
