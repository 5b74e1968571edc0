/* SPDX-License-Identifier: Apache-2.0 */
/* read, summary, latest, list. What they print is first compared with the facts. See krecords.h. */

#include "krecords.h"

static void
put_value(const json_t *v)
{
	auto_free char *text = json_line(v);

	kout_raw(text, strlen(text));
}

static json_t *
one_version(const char *name)
{
	long n = parse_version(name);
	json_t *v = checked_version(n);

	if (!v)
		kdie_usage("memory/v%ld.json: no such version", n);
	if (kmemo_masked(n, KMEMO_ALL))
		kdie(K_NO, "v%ld is masked; to read it, run krecords unmask v%ld", n, n);
	return v;
}

static int
read_one(void)
{
	json_auto_t *v = one_version(given.operands[0]);
	const json_t *part = given.field ? kjson_path(v, given.field) : v;

	if (!part)
		kdie(K_NO, "%s has no field %s", given.operands[0], given.field);
	put_value(part);
	return K_OK;
}

/* Everything that is not masked, one per line; a field that a version lacks is null. */
static int
read_all(void)
{
	size_t count;
	auto_free long *list = kmemo_versions(&count);

	kforeach_of(each, list, count) {
		json_auto_t *v = kmemo_masked(*each, KMEMO_ALL) ? NULL : checked_version(*each);

		if (v)
			put_value((given.field ? kjson_path(v, given.field) : v) ?: json_null());
	}
	return K_OK;
}

int
command_read(void)
{
	int code;

	kout_open(given.output);
	code = given.count ? read_one() : read_all();
	kout_commit();
	return code;
}

/* Members of "performance" with this many digits, right-aligned in columns of this width. */
static const struct {
	const char *name;
	int width, digits;
} figures[] = {
	{ "latency_us", 11, 7 },
	{ "tflops", 8, 4 },
	{ "bandwidth_gbps", 8, 4 },
	{ "tflops_peak_utilization_pct", 6, 3 },
	{ "bandwidth_peak_utilization_pct", 6, 3 },
};

static void
put_row(long version, const json_t *v, bool masked)
{
	auto_free char *action = kfence_line(kjson_str(v, "optimization.action_category"), 40);
	const json_t *performance = json_object_get(v, "performance");
	auto_buf struct kbuf b = { 0 };

	kbuf_printf(&b, "v%-5ld %-6s", version, masked ? "masked" : "");
	kforeach(one, figures) {
		double x = kjson_num_or(performance, one->name, NAN);

		if (isfinite(x))
			kbuf_printf(&b, " %*.*g", one->width, one->digits, x);
		else
			kbuf_printf(&b, " %*s", one->width, "-");
	}
	kbuf_printf(&b, "  %-12s %-5s %s", kjson_str(v, "correctness.status"),
	    kjson_str(v, "quality_gate.result"), action);
	kout_line("%s", b.data);
}

static void
put_name(long version, const json_t *v, bool masked)
{
	kout_line("v%-5ld %-8s %-20s memory/v%ld.json", version, masked ? "[MASKED]" : "",
	    kjson_str_or(v, "timestamp", "-"), version);
}

/*
 * A line for each version, after HEAD (NULL: none); V is NULL when its trial is no longer complete.
 */
static int
tell_all(const char *head, void (*put)(long version, const json_t *v, bool masked))
{
	size_t count;
	auto_free long *list = kmemo_versions(&count);

	kout_open(given.output);
	if (head)
		kout_line("%s", head);
	kforeach_of(one, list, count) {
		json_auto_t *v = checked_version(*one);

		put(*one, v, kmemo_masked(*one, KMEMO_ALL));
	}
	kout_commit();
	return K_OK;
}

int
command_summary(void)
{
	return tell_all("version mask    latency_us   tflops     gb/s tflop%  gb/s%  correctness  "
	                "gate  action",
	    put_row);
}

int
command_list(void)
{
	return tell_all(NULL, put_name);
}

int
command_latest(void)
{
	size_t count;
	auto_free long *list = kmemo_versions(&count);

	while (count > 0 && kmemo_masked(list[count - 1], KMEMO_ALL))
		count--;
	kout_open(given.output);
	if (count > 0)
		kout_line("v%ld", list[count - 1]);
	kout_commit();
	return count > 0 ? K_OK : K_NO;
}
