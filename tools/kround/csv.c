/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchmark.csv: one row for every workload of the set that a candidate was judged on. See
 * kround.h.
 */
#include <stdlib.h>
#include <string.h>

#include "kround.h"

static void
put_label(const char *name, struct kbuf *out)
{
	for (; *name; name++)
		kbuf_add(out, strchr(",\"\n\r", *name) ? "_" : name, 1);
}

/* "quick+full", or "all". */
static void
put_sets(const struct ktask_workload *w, struct kbuf *out)
{
	size_t i;
	json_t *s;

	if (!w->sets)
		kbuf_puts(out, "all");
	json_array_foreach(w->sets, i, s)
	{
		kbuf_puts(out, i ? "+" : "");
		put_label(json_string_value(s) ? json_string_value(s) : "", out);
	}
}

static void
put_heading(const struct ktask *t, struct kbuf *out)
{
	kbuf_puts(out, "label");
	for (size_t a = 0; a < t->axis_count; a++)
		if (t->axes[a].kind == KAXIS_VAR)
			kbuf_printf(out, ",%s", t->axes[a].name);
	kbuf_puts(out, ",sets,Check,Time (ms),Time (ms)_stddev");
	kbuf_puts(out, t->flops ? ",TFLOPS,TFLOPS_stddev" : "");
	kbuf_puts(out, t->bytes ? ",GB/s" : "");
	kbuf_puts(out, ",max_rel_err\n");
}

static void
put_number(bool known, double v, struct kbuf *out)
{
	if (known)
		kbuf_printf(out, ",%.9g", v);
	else
		kbuf_puts(out, ",nan");
}

static void
put_row(
    const struct ktask *t, const struct ktask_workload *w, const struct shape *s, struct kbuf *out)
{
	bool timed = s->ns > 0;

	put_label(w->name, out);
	for (size_t a = 0; a < t->axis_count; a++)
		if (t->axes[a].kind == KAXIS_VAR)
			kbuf_printf(out, ",%lld", (long long)w->axis[a]);
	kbuf_puts(out, ",");
	put_sets(w, out);
	kbuf_printf(out, ",%s", s->check);
	put_number(timed, s->ns / 1e6, out);
	put_number(timed, s->sd_ns / 1e6, out);
	if (t->flops) {
		put_number(timed, s->rate, out);
		put_number(timed, timed ? s->rate * s->sd_ns / s->ns : 0, out);
	}
	if (t->bytes)
		put_number(timed, s->gbps, out);
	put_number(s->max_rel_err >= 0, s->max_rel_err, out);
	kbuf_puts(out, "\n");
}

void
put_csv(const struct campaign *c, const struct candidate *x, struct kbuf *out)
{
	put_heading(c->task, out);
	for (size_t i = 0; i < c->task->workload_count; i++)
		if (x->shape[i].active)
			put_row(c->task, &c->task->workloads[i], &x->shape[i], out);
}

/* Field N of the line at S: where it is, and how long. */
static const char *
field(const char *s, size_t n, size_t *len)
{
	for (; n; n--) {
		s += strcspn(s, ",\n");
		s += *s == ',';
	}
	*len = strcspn(s, ",\n");
	return s;
}

/* Number of the field that the heading calls NAME. */
static size_t
column(const char *heading, const char *name)
{
	size_t n = 0, len;

	for (const char *s;
	     *(s = field(heading, n, &len)) && (len != strlen(name) || strncmp(s, name, len)); n++)
		if (s[len] == '\n')
			break;
	return n;
}

/* Is WORD one of the words of the list ("quick+full") at S? */
static bool
lists(const char *s, size_t len, const char *word)
{
	for (const char *end = s + len; s < end;) {
		size_t n = 0;

		while (s + n < end && s[n] != '+')
			n++;
		if (n == strlen(word) && !strncmp(s, word, n))
			return true;
		s += n + 1;
	}
	return false;
}

/* The labels of TABLE, of those in SET alone unless SET is NULL, as "{a, b}"; the caller frees. */
static char *
labels(const char *table, const char *set)
{
	size_t sets = column(table, "sets"), len;
	struct kbuf out = { 0 };
	const char *s;

	kbuf_puts(&out, "{");
	for (const char *row = strchrnul(table, '\n'); *row && row[1];
	     row = strchrnul(row + 1, '\n')) {
		s = field(row + 1, sets, &len);
		if (set && !lists(s, len, "all") && !lists(s, len, set))
			continue;
		s = field(row + 1, 0, &len);
		kbuf_printf(&out, "%s%.*s", out.len > 1 ? ", " : "", (int)len, s);
	}
	kbuf_puts(&out, "}");
	return out.data;
}

char *
csv_fault(const char *frozen, const char *table, const char *set)
{
	size_t n = strcspn(frozen, "\n"), m = strcspn(table, "\n");
	char *want, *have, *fault = NULL;

	if (n != m || strncmp(frozen, table, n))
		return kasprintf("its heading '%.*s' differs from that of round 1, '%.*s': "
		                 "task.json has changed",
		    (int)m, table, (int)n, frozen);
	want = labels(frozen, set);
	have = labels(table, NULL);
	if (strcmp(want, have))
		fault = kasprintf("its rows %s differ from those of round 1%s%s, %s: task.json has "
		                  "changed",
		    have, set ? " for the set " : "", set ? set : "", want);
	free(want);
	free(have);
	return fault;
}
