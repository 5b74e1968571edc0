/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a round must have, made from its records. See krecords.h. */

#include "krecords.h"

/* benchmark.csv: one row for every workload of the set that a candidate was judged on. */

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
	const char *before = "";

	kbuf_puts(out, w->sets ? "," : ",all");
	kjson_foreach_text(set, w->sets) {
		kbuf_puts(out, before);
		put_label(set ?: "", out);
		before = "+";
	}
}

static void
put_number(bool known, double v, struct kbuf *out)
{
	kbuf_puts(out, known ? kshown(",%.9g", v) : ",nan");
}

static void
put_row(const struct ktask_workload *w, const struct shape *s, struct kbuf *out)
{
	const struct ktask *t = campaign.task;
	bool timed = s->ns > 0;

	put_label(w->name, out);
	for (size_t a = 0; a < t->axis_count; a++)
		if (t->axes[a].kind == KAXIS_VAR)
			kbuf_printf(out, ",%lld", (long long)w->axis[a]);
	put_sets(w, out);
	kbuf_printf(out, ",%s", s->check);
	put_number(timed, shown_time(s->ns), out);
	put_number(timed, shown_sd(s), out);
	if (counts_flops()) {
		put_number(timed, s->rate, out);
		put_number(timed, s->rate * s->sd_ns / s->ns, out);
	}
	if (counts_bytes())
		put_number(timed, s->gbps, out);
	put_number(s->max_err_share >= 0, s->max_err_share, out);
	kbuf_puts(out, "\n");
}

static void
put_csv(const struct candidate *x, struct kbuf *out)
{
	const struct ktask *t = campaign.task;
	const char *time = strcmp(kcamp_unit(), "ms") ? kcamp_unit() : "Time (ms)";

	kbuf_puts(out, "label");
	kforeach_of(axis, t->axes, t->axis_count)
		if (axis->kind == KAXIS_VAR)
			kbuf_printf(out, ",%s", axis->name);
	kbuf_puts(out, ",sets,Check,");
	put_label(time, out);
	kbuf_puts(out, ",");
	put_label(time, out);
	kbuf_printf(out, "_stddev%s%s,max_err_share\n",
	    counts_flops() ? ",TFLOPS,TFLOPS_stddev" : "", counts_bytes() ? ",GB/s" : "");
	for (size_t i = 0; i < t->workload_count; i++)
		if (x->shape[i].active)
			put_row(&t->workloads[i], &x->shape[i], out);
}

static void
put_patch(const struct candidate *x, const char *name, struct kbuf *out)
{
	const char *parent =
	    kjson_str_or(x->json, "sample.parent.code", x->base ? x->base->code : NULL);
	const char *id = kjson_str_or(x->json, "sample.parent.id", x->base ? x->base->id : NULL);

	if (parent && id && x->code)
		kdiff_unified(parent, x->code, kshown("a/%s\t%s", name, id ?: ""),
		    kshown("b/%s\t%s", name, x->id), out);
}

/* What is being planned. */
static struct plan *plan;

static struct planned *
plan_path(const char *path)
{
	struct planned *f = kadded(plan->file, plan->count);

	*f = (struct planned){ .path = kstrdup(path) };
	return f;
}

/* A file in FOLDER of a round; in a search with several branches there is one for each. */
static struct kbuf *
plan_file(const struct round *r, const struct candidate *x, const char *folder, const char *name)
{
	auto_free char *branch =
	    ktrials.linear || !r->trial ? kstrdup("") : kasprintf("%s/", strchr(x->id, '/') + 1);
	struct planned *f =
	    plan_path(kshown("rounds/round-%ld/%s/%s%s", r->number, folder, branch, name));

	kbuf_puts(&f->text, "");
	return &f->text;
}

static void
plan_candidate(const struct round *r, const struct candidate *x)
{
	const char *log = kjson_str(x->eval, "log");
	auto_free char *name = kstrdup(kernel_name());
	struct program program;

	program_of(x, name, &program);
	kforeach_of(one, program.file, program.count)
		kbuf_puts(plan_file(r, x, "kernel_snapshot", one->path), one->text);
	program_free(&program);
	put_csv(x, plan_file(r, x, "artifacts", "benchmark.csv"));
	put_patch(x, name, plan_file(r, x, "artifacts", "diff.patch"));
	kbuf_printf(plan_file(r, x, "artifacts", "eval.log"), "%s%s", log, *log ? "\n" : "");
}

/* A file that a round was made from; if it does not exist, it is not sealed. */
static void
plan_fact(const char *path)
{
	const char *digest = kseal_file(path);

	if (digest)
		strcpy(plan_path(path)->sha256, digest);
}

void
plan_round(struct round *r, struct plan *p)
{
	struct planned *summary;

	plan = p;
	plan_fact(kplace_trial(r->trial, r->trial ? "evidence.ndjson" : "machine.json"));
	kforeach_list(one, r)
		kforeach_of(kfact_name, kfact_names, KFACTS)
			plan_fact(kplace_id(one->id, *kfact_name));
	kforeach_list(each, r)
		plan_candidate(r, each);
	summary = plan_path(kshown("rounds/round-%ld/summary.md", r->number));
	put_page(ktrials.linear ? "summary.md" : "wide.md", round_facts(r), &summary->text);
	kforeach_of(x, plan->file, plan->count)
		if (x->text.data)
			ksha256_hex(x->text.data, x->text.len, x->sha256);
}

const struct planned *
find_planned(const struct plan *p, const char *path)
{
	return krow_with(p->file, p->count, path, path);
}

const char *const log_paths[LOGS] = { "logs/optimize.md", "logs/performance_trend.md" };

void
put_log_entry(struct round *r, int log, bool corrected, struct kbuf *out)
{
	static const char *const pages[LOGS][2] = { { "optimize_head.md", "optimize.md" },
		{ "trend_head.md", "trend.md" } };
	json_t *facts = round_facts(r);

	if (r->number == 1 && !corrected)
		put_page(pages[log][0], round_facts(r), out);
	kjson_set(facts, "corrected", json_boolean(corrected));
	put_page(pages[log][1], facts, out);
}

const char *const view_paths[VIEWS] = { "rounds/termination.md", "rounds/current_best.md",
	"rounds/directions.md", "rounds/ineffective.md" };

void
put_view(int view, struct kbuf *out)
{
	static json_t *(*const facts[VIEWS])(
	    void) = { termination_facts, best_facts, directions_facts, ineffective_facts };

	put_page(basename(view_paths[view]), facts[view](), out);
}
