/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null: a model that answers at once, for simulations: the parent's code with a few lines drawn
 * from the campaign's random stream, so that candidates differ and spread over the cells of the
 * archive. The same prompt always gets the same answer.
 */

#include "backend.h"
#include "kllm.h"

enum { LINES_MAX = 12, ADD_MAX = 4, LINES_MOST = 32 };

/* The lines that the model draws from for one backend. */
struct dialect {
	const char *mark;
	char *text, *lines[LINES_MOST]; /* LINES are in TEXT */
	size_t count;
};

static void
load_dialect(struct dialect *d)
{
	auto_free char *path = kdata_path("tools/kllm/null.tsv");
	const struct backend *b = kcamp_backend();

	*d = (struct dialect){ .mark = b == &backends[BACKEND_TRITON] ? "# null model"
		                                                      : "/* null model",
		.text = kread_file_or_die(path, 1 << 20, NULL) };
	kpart_foreach(line, d->text, "\n") {
		char *tab = strchr(line, '\t');

		*tab = '\0';
		if (kis_one_of(line, b->name) && d->count < LEN(d->lines))
			d->lines[d->count++] = tab + 1;
	}
}

/* Which of the dialect's lines the parent has below its mark; each is kept with probability 0.8. */
static size_t
inherit(const struct dialect *d, const char *below, struct krng *rng, size_t kept[LINES_MAX])
{
	auto_free char *copy = kstrdup(below);
	size_t count = 0;

	kpart_foreach(line, copy, "\n") {
		size_t i =
		    kindex_of(line + strspn(line, " \t"), (const char *const *)d->lines, d->count);

		if (count < LINES_MAX - ADD_MAX && i < d->count && krng_double(rng) < 0.8)
			kept[count++] = i;
	}
	return count;
}

/*
 * Everything above the mark is the parent's own and stays. Below it is what this model added
 * before; that is bounded, so that the thousandth generation is as long as the tenth.
 */
static void
mutate(const struct dialect *d, struct kbuf *out)
{
	const char *parent = kjson_str(call.rec.json, "sample.parent.code"),
	           *mark = strstr(parent, d->mark);
	size_t base = mark ? (size_t)(mark - parent) : strlen(parent), kept[LINES_MAX], count, add;
	struct krng rng;

	krng_init(&rng, (uint64_t)kcamp_num("seed"), kjson_int(call.rec.json, "trial"),
	    kjson_int(call.rec.json, "branch"), "null");
	count = inherit(d, mark ?: "", &rng, kept);
	add = 1 + krng_below(&rng, ADD_MAX);
	for (size_t i = 0; i < add; i++)
		kept[count++] = krng_below(&rng, d->count);
	kbuf_add(out, parent, base);
	if (base && parent[base - 1] != '\n')
		kbuf_puts(out, "\n");
	kbuf_printf(out, "%s%s\n", d->mark, *d->mark == '#' ? "" : " */");
	kforeach_of(key, kept, count)
		kbuf_printf(out, "%s\n", d->lines[*key]);
	/* A unique constant, so that no two candidates are the same program. */
	kbuf_printf(out, "%s = %llu%s\n", *d->mark == '#' ? "null_model" : "enum { null_model",
	    (unsigned long long)(krng_u64(&rng) >> 33), *d->mark == '#' ? "" : " };");
}

/*
 * The plan that a round of a linear search must state before its code; no two rounds have the same.
 */
static void
put_plan(struct kbuf *out)
{
	long trial = kjson_int(call.rec.json, "trial");

	kbuf_printf(out,
	    "```plan\n{\"bucket\":\"K1\",\"category\":\"lines\","
	    "\"change\":\"add the lines of trial %ld\","
	    "\"directions\":[\"more lines than trial %ld\",\"fewer lines than trial %ld\","
	    "\"other lines than trial %ld\"],"
	    "\"hypothesis\":\"the lines of trial %ld make it faster\","
	    "\"search\":[{\"finding\":\"the null model's finding "
	    "%ld\",\"layer\":\"L1\",\"new\":true,"
	    "\"source\":\"skills/knowledge/ops/normalization.md\"}]}\n```\n\n",
	    trial, trial, trial, trial, trial, trial);
}

json_t *
ask_null(void)
{
	struct dialect d;

	load_dialect(&d);
	reply_init("null", "null");
	reply.timeless = true;
	if (kcamp_linear())
		put_plan(&reply.text);
	kbuf_printf(&reply.text, "```%s\n", kcamp_str("language"));
	mutate(&d, &reply.text);
	free(d.text);
	kbuf_puts(&reply.text, "```\n");
	reply_estimate();
	reply.nanousd = 0;
	return reply_finish();
}
