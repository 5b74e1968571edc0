/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit: see unit.h. Handles sources, launches, and the contents of an entry; entry.c writes its
 * text.
 */
#include "unit.h"

#include "adopt.h"
#include "entry.h"
#include "sequence.h"
#include "types.h"

/* ---- what a function needs ---- */

/* The function that is looked into, and what is known of it so far. */
static struct reach {
	const struct unit_source *s;
	const struct unit_source *in;  /* the source being searched */
	json_t *seen;                  /* names */
	json_t *symbols;               /* "NAME": "__constant__ float NAME[16];" */
	json_t *doubts;                /* see struct adopted_unit */
	const struct kscan_item *host; /* a function that launches kernels, or NULL */
	const char *language;
	bool kernel;
	struct kbuf *why;
	int depth;
	struct kscan_signature own; /* of the function itself */
	/* for a member: its class, which names of that class's members stand for "this->" */
	const struct kscan_item *class;
} reach;

/* NEAR: how many bytes before a name belong to it. */
enum { REACH = 12, NEAR = 200 };

static void see_name(size_t at, size_t end);

/* Does the code right before AT match PATTERN, a literal? */
static bool
is_before(const struct kscan *s, size_t at, const char *pattern, struct kregex_span found[2])
{
	size_t from = at > NEAR ? at - NEAR : 0;

	if (!kregex_find(pattern, s->code + from, at - from, found, 2))
		return false;
	found[1].from += from;
	found[1].to += from;
	return true;
}

/* Is the member at AT modified there, or its address taken: "a->n++", "--a->n", "&a->n"? */
static bool
is_changed(const struct kscan *s, size_t at, size_t len)
{
	static const char before[] = "(\\+\\+|--|(?<!&)&)[ \\t(]*(?:[\\w.>\\[\\]]|->)*\\z";
	struct kregex_span found[2];

	return kscan_assigns(s, at + len, s->len) || is_before(s, at, before, found);
}

/* What rules_scan says of the function X, as reasons: "NAME (FILE:LINE) HOW …". */
static void
add_faults(const struct kscan_item *x, const char *how, char *faults)
{
	struct origin at = unit_place(x, x->name_at);

	kpart_foreach(fault, faults, "\n") {
		const char *said = strstr(fault, ": line ");

		/* "check: line 3: why: 'quote'". */
		said = said ? strstr(said + 2, ": ") : NULL;
		kbuf_printf(reach.why, "%s (%s:%zu)%s%s\n", x->names[0], at.file, at.line, how,
		    said ? said + 1 : fault);
	}
}

/*
 * Why the judge of candidates would reject TEXT, of the function X. What a macro of the
 * system's headers makes does not count for some of its rules.
 */
static void
ask_judge(const struct kscan_item *x, const char *text)
{
	const char *project = unit_source_of(x)->project;
	auto_buf struct kbuf faults = { 0 }, made = { 0 };
	auto_free char *written = NULL;

	rules_scan("judge", reach.language, text, "", NULL, &faults);
	add_faults(x, " would be rejected:", faults.data);
	if (!rules_scan("written", reach.language, text, "", NULL, &made))
		return;
	written = project ? text_in(project, unit_place(x, x->name_at).file) : kstrdup(text);
	if (written && rules_scan("written", reach.language, written, "", NULL, &faults))
		add_faults(x, " would be rejected:", made.data);
}

static void
look_at(const struct kscan_item *x)
{
	auto_free char *text =
	    x == reach.host ? sequence_body(x) : kscan_copy(x->in, x->body, x->to);
	bool device = reach.kernel || (reach.host && (kscan_has_word(x, "__global__ __device__")));
	auto_buf struct kbuf faults = { 0 };

	rules_scan(
	    device ? "kernel" : "function", reach.language, text, x->names[0], NULL, &faults);
	if (reach.host && !device)
		rules_scan("sequence", reach.language, text, x->names[0], NULL, &faults);
	if (reach.host && !device && x != reach.host && strstr(text, "<<<"))
		kbuf_printf(
		    reach.why, "it calls %s, which launches kernels: adopt that\n", x->names[0]);
	add_faults(x, "", faults.data);
	ask_judge(x, text);
	reach.depth++;
	kscan_words(at, end, x->in, reach.depth <= REACH ? x->body : x->to, x->to) {
		reach.in = unit_source_of(x);
		see_name(at, end);
	}
	reach.depth--;
}

/*
 * What the function X does that no candidate may do, and everything that it calls; as the
 * compiler sees it, since a macro there may have the name of a function in another header.
 */
static void
look_into(const struct kscan_item *x)
{
	const struct unit_source *s = unit_source_of(x), *decided = unit_decided(s);

	look_at(decided == s ? x : kscan_function(&decided->scan, x->names[0]) ?: x);
}

/*
 * A variable that other code fills is not an argument of a kernel; a __constant__ one can be filled
 * before the launch.
 */
static void
look_at_variable(const struct kscan_item *x, const char *name)
{
	bool constant = kscan_has_word(x, "__constant__");

	if (!(reach.kernel || reach.host) || kscan_looks(x, "[=(]") ||
	    !kscan_has_word(x, "__constant__ __device__ texture"))
		return;
	if (constant && x->name_count == 1 && !kscan_has_word(x, "extern")) {
		json_object_set_new(
		    reach.symbols, name, kjson_text(x->in->code + x->from, x->to - x->from));
		return;
	}
	kbuf_printf(reach.why,
	    "it reads %s (%s:%zu), which other code fills: pass it as an array, or adopt a host "
	    "function that copies it with cudaMemcpyToSymbolAsync and launches on a stream\n",
	    name, unit_source_of(x)->name, kline_at(x->in->text, x->from));
}

/* The parameter of the function itself whose member is at AT, directly ("p->m", "p.m"), or "". */
static const char *
parameter_before(const struct kscan *s, size_t at)
{
	struct kregex_span found[2];

	if (reach.depth > 1 || !is_before(s, at, "(?<![\\w.>])(\\w+)(?:\\.|->)\\z", found))
		return "";
	kscan_params(p, &reach.own)
		if (kscan_among(s, found[1].from, found[1].to, p->name))
			return p->name;
	return "";
}

/*
 * If X only declares a function: its definition, if there is just one; that of a static one is in
 * the same source.
 */
static const struct kscan_item *
definition_of(const char *name, const struct kscan_item *x)
{
	const struct kscan_item *found = NULL;
	bool own = kscan_has_word(x, "static");
	int count = 0;

	if (x->kind != KSCAN_DECLARATION)
		return x;
	unit_items(y, reach.s, name)
		if (y->kind == KSCAN_FUNCTION &&
		    (own ? y->in == x->in : !kscan_has_word(y, "static"))) {
			found = y;
			count++;
		}
	return count == 1 ? found : x;
}

/* The member WORD of OBJECT, used at AT: "OBJECT.WORD", and with "=" if it is modified. */
static void
see_member(const char *object, const char *word, size_t at)
{
	auto_free char *member = kasprintf("%s.%s=", object, word);

	if (is_changed(&reach.in->scan, at, strlen(word)))
		kjson_enter(reach.seen, member);
	member[strlen(member) - 1] = '\0';
	kjson_enter(reach.seen, member);
}

/* What the function NAME does that the class defines between its braces. */
static void
look_into_class(const char *name)
{
	const struct kscan *s = reach.class->in;

	kforeach_of(f, s->members, s->member_count)
		if (kscan_at(s, f->from) == reach.class && !strcmp(f->names[0], name))
			look_into(f);
}

static bool
includes(const struct unit_source *s, const char *header)
{
	return kany(kscan_items(x, &s->scan),
	    x->kind == KSCAN_INCLUDE && !strcmp(basename(x->names[0]), basename(header)));
}

/*
 * The source may be none that is compiled here: the compiler sees all of those, save for GPUs,
 * where an include has to do.
 */
static void
doubt_source(void)
{
	static const char alone[] = "no source of the project that is compiled here includes this "
	                            "file",
	                  lost[] = "a header that this file includes is not found, so conditions "
	                           "(#if) are not decided";
	const char *name = reach.s->name;
	bool header = rules_is_header(name), seen = reach.s->settings;

	if (!seen &&
	    kany(kforeach_list(s, reach.s->all), kjson_bool(rules_language(s->name), "device")))
		seen = !header || kany(kforeach_list(s, reach.s->all), includes(s, name));
	if (!seen)
		kjson_add(reach.doubts, header ? alone : lost);
}

/* The name WORD, called and perhaps DECLARED, if perhaps macros of the build define it. */
static void
doubt(const char *word, bool declared)
{
	if (!kany(unit_items(x, reach.s, word), x->kind == KSCAN_FUNCTION) &&
	    unit_hides(reach.s->all, word, declared))
		json_array_append_new(reach.doubts,
		    json_sprintf("%s is only defined under conditions (#if) that are false here: "
		                 "the macros of the build are not known",
		        word));
}

/* What the name from AT to END stands for. */
static void
see_name(size_t at, size_t end)
{
	const struct unit_source *in = reach.in;
	const char *code = in->scan.code;
	auto_free char *word = kscan_copy(&in->scan, at, end);
	const struct kscan_item *x;
	size_t i = 0;
	bool called;

	if (kscan_is_member(&in->scan, at)) {
		see_member(parameter_before(&in->scan, at), word, at);
		return;
	}
	if (reach.class)
		see_member("this", word, at);
	if (!kjson_enter(reach.seen, word))
		return;
	end = kscan_blank(&in->scan, end, in->scan.len);
	x = unit_item(reach.s, word, &i);
	called = x && strchr("(<", code[end]);
	if (called)
		x = definition_of(word, x);
	if (called && x->kind == KSCAN_FUNCTION)
		look_into(x);
	else if (reach.class && code[end] == '(')
		look_into_class(word);
	else if (x && x->kind == KSCAN_DECLARATION)
		look_at_variable(x, word);
	if (code[end] == '(' && in->guessed)
		doubt(word, x);
}

/* ---- launches ---- */

const struct kscan_item *
unit_function_at(const struct kscan *s, size_t at)
{
	const struct kscan_item *x = kscan_at(s, at);

	return x && x->kind == KSCAN_FUNCTION ? x : NULL;
}

static void
find_launches(struct adopted_unit *u)
{
	kforeach_list(s, u->source->all)
		unit_launches(l, &s->scan)
			if (!strcmp(kscan_plain(l->kernel), u->name))
				*kadded(u->launches, u->launch_count) = (struct unit_launch){ s, l,
					unit_function_at(&s->scan, l->at), false };
}

/* ---- the unit ---- */

/* A member of a template, an operator, or a kernel with a path before its name. */
static bool
is_strange(const struct kscan_item *f)
{
	return f->name_count > 1 ? kscan_has_word(f, "__global__")
	                         : kscan_matches(f->in, f->from, f->name_at, "::[ \\t\\n~]*\\z");
}

/* The class whose member F is, if it is one. */
static void
find_class(const struct kscan_item *f)
{
	auto_free char *class = kscan_path(kscan_whole(f));
	struct types types = { .own = reach.s };
	auto_type struct type type = type_find(&types, class, 0);

	reach.class = type.item;
}

bool
unit_is_cxx(const struct unit_source *s)
{
	const json_t *row = rules_language(s->name);

	/*
	 * A header has the language of the files that include it; these are C unless they show
	 * otherwise.
	 */
	return !kjson_bool_or(row, "header", !row)
	    ? kjson_bool(row, "cxx") || kjson_bool(row, "device")
	    : !kregex_is("\\.h\\z", s->name) || strstr(s->scan.code, "::") ||
	        s->scan.member_count ||
	        kscan_uses(&s->scan, 0, s->scan.len, "template namespace __global__");
}

/* Does the host wait in F, so that everything is done when F returns? */
static bool
waits(const struct kscan_item *f)
{
	return kscan_matches(f->in, f->body, f->to, "Synchronize|cudaFree|cudaMemcpy\\(");
}

bool
unit_make(
    struct adopted_unit *u, const struct kscan_item *f, const json_t *assumed, struct kbuf *why)
{
	const struct unit_source *s = unit_source_of(f);
	size_t before = why->len, member = 0;
	struct origin at;

	reach = (struct reach){ .s = s,
		.seen = json_object(),
		.symbols = json_object(),
		.doubts = json_array(),
		.why = why };
	*u = (struct adopted_unit){
		.source = s,
		.f = f,
		.name = kstrdup(kscan_whole(f)),
		.kernel = kscan_has_word(f, "__global__"),
		.assumed = assumed,
	};
	at = unit_place(f, f->name_at);
	u->file = kstrdup(at.file);
	u->line = at.line;
	u->last_line = unit_place(f, f->to ? f->to - 1 : 0).line;
	reach.kernel = u->kernel;
	reach.language =
	    kjson_str_or(rules_language(u->kernel ? "kernel.cu" : s->name), "language", "c");
	reach.own = kscan_signature(f);
	if (is_strange(f)) {
		kbuf_puts(why, "it is a member of a template, or an operator\n");
		member = why->len;
	}
	find_class(f);
	if (u->kernel) {
		find_launches(u);
		if (!u->launch_count)
			kbuf_puts(why, "no launch 'NAME<<<…>>>' of it in the project\n");
	}
	sequence_find(u, why);
	reach.host = u->sequence ? f : NULL;
	u->waits = u->sequence && waits(f);
	doubt_source();
	look_into(f);
	entry_make(u, reach.seen, reach.symbols, why);
	/* Further reasons would only distract from this one. */
	if (member)
		why->data[why->len = member] = '\0';
	kscan_signature_free(&reach.own);
	u->doubts = reach.doubts;
	json_decref(reach.seen);
	json_decref(reach.symbols);
	return why->len == before;
}

void
unit_param_free(struct unit_param *p)
{
	char *const texts[] = { p->name, p->type, p->value, p->text, p->size, p->guard, p->place,
		p->along, p->given };

	kforeach(text, texts)
		free(*text);
}

void
unit_free(struct adopted_unit *u)
{
	unit_params(p, u)
		unit_param_free(p);
	free(u->launches);
	free(u->params);
	free(u->name);
	free(u->entry);
	free(u->file);
	free(u->text);
	json_decref(u->names);
	json_decref(u->sequence);
	json_decref(u->doubts);
	*u = (struct adopted_unit){ 0 };
}

static json_t *
params_json(const struct adopted_unit *u)
{
	json_t *list = json_array();

	unit_params(p, u)
		kjson_append(list, "{s:s,s:s,s:s,s:b,s:b,s:b,s:b,s:s,s:b,s:b,s:s*,s:s*,s:s*,s:s*}",
		    "name", p->name, "type", p->type, "value", p->value, "pointer", p->pointer,
		    "constant", p->constant, "bytes", p->bytes, "cast", p->cast || p->bytes, "size",
		    p->size ?: "", "result", p->result, "launch", p->launch, "guard", p->guard,
		    "place", p->place, "along", p->along, "given", p->given);
	return list;
}

json_t *
unit_json(const struct adopted_unit *u)
{
	json_t *launches = json_array();

	unit_launches(x, u) {
		const struct kscan_launch *l = x->at;
		const char *text = x->source->text;

		kjson_append(launches, "{s:s,s:b,s:[I,I],s:s,s:s}", "file", x->source->name,
		    "other", x->other, "lines", (json_int_t)kline_at(text, l->at),
		    (json_int_t)kline_at(text, l->to), "templates", l->arguments, "arguments",
		    l->call);
	}
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:[I,I],s:s,s:o,s:O,s:o,s:O*,s:b,s:O*}", "schema",
	    "unit/1", "function", u->name, "entry", u->entry, "file", u->file, "kernel", u->kernel,
	    "lines", (json_int_t)u->line, (json_int_t)u->last_line, "text", u->text ?: "",
	    "parameters", params_json(u), "names", u->names, "launches", launches, "sequence",
	    u->sequence, "waits", u->waits, "assumed", u->assumed);
}

bool
unit_has_other(const json_t *unit)
{
	return kany(kjson_foreach(l, unit, "launches"), kjson_bool(l, "other"));
}

const struct kscan_item *
unit_candidate(const struct unit_source *s, size_t i)
{
	return i < s->scan.count ? &s->scan.items[i]
	    : i - s->scan.count < s->scan.member_count && unit_is_cxx(s)
	    ? &s->scan.members[i - s->scan.count]
	    : NULL;
}

json_t *
unit_named(const char *project, const char *file, const char *name, const json_t *built,
    const json_t *assumed, struct kbuf *why)
{
	struct unit_sources sources = { 0 };
	const struct kscan_item *x;
	json_t *found = NULL;

	unit_sources_read(&sources, project, file, built);
	kforeach_list(s, &sources)
		for (size_t k = 0; !found && (x = unit_candidate(s, k)); k++) {
			struct adopted_unit u;

			if (x->kind != KSCAN_FUNCTION || strcmp(kscan_whole(x), name) ||
			    strcmp(unit_place(x, x->name_at).file, file))
				continue;
			why->len = 0;
			if (unit_make(&u, x, assumed, why))
				found = unit_json(&u);
			unit_free(&u);
		}
	unit_sources_free(&sources);
	return found;
}
