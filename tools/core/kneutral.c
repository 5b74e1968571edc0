/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kneutral: see kneutral.h. Two passes over the words and signs of a text: the first one notes what
 * is declared, the second one writes. No grammar: a declaration is recognised by its neighbours, as
 * in "float x;", and where that is ambiguous the name stays.
 */
#include "kneutral.h"
#include "kio.h"
#include "kregex.h"

/*
 * A token: a word, a number, one of the two-byte operators that matter, or a single sign; these are
 * the groups of the pattern. Strings are not tokens.
 */
enum { WORD = 1, NUMBER, SCOPE, ARROW, PASTE, COMPARED, SIGN, NEWLINE, KINDS };
#define LETTER "\\w$\\x80-\\xff"
static const char tokens[] =
    "(?s)([" LETTER "](?<!\\d)[" LETTER "]*+)|(\\d[" LETTER ".]*+)|(::)|(->)|(##)|"
    "(==|<=|>=|!=|&&|\\|\\|)|\"(?:\\\\.|[^\"\n])*+[\"\n]?|'(?:\\\\.|[^'\n])*+['\n]?|"
    "([^\\s\\\\])|(\n)";

struct token {
	size_t from, len;
	int kind;       /* as above, or the sign itself */
	int depth;      /* open brackets of all kinds */
	size_t match;   /* of a closing bracket: the opening one, and vice versa; or itself */
	bool directive; /* on a preprocessor line */
	bool first;     /* of its line */
};

/* What the braces or brackets belong to. */
struct reader {
	const char *s;
	enum ktoken_lang lang;
	struct token *t;
	size_t n;
	json_t *names;   /* name -> its kind, "k", "f", "t" or "v", or "=NAME" */
	json_t *members; /* names declared inside a struct; Python: parameters */
	const char *const *keep;
};

/* Words that are never followed by a declared name. */
static const char verbs[] = "return else case goto sizeof new delete throw do if while for switch "
                            "default operator using public private protected defined co_return "
                            "alignof "
                            "_Alignof break continue asm __asm__ __asm catch _Pragma and or not "
                            "template";
/* Words that appear next to a type. */
static const char qualifiers[] =
    "const volatile restrict __restrict __restrict__ static extern inline "
    "__inline __inline__ constexpr register mutable typedef _Thread_local "
    "thread_local __global__ __device__ __host__ __shared__ __constant__ "
    "__forceinline__ __noinline__ __managed__ __grid_constant__ __kernel kernel "
    "__global __local __private __constant global noexcept override final "
    "virtual explicit friend typename _Alignas alignas __align__ __attribute__ "
    "__launch_bounds__ __cluster_dims__ __extension__";
static const char types[] =
    "void char short int long float double signed unsigned bool _Bool auto half "
    "uchar ushort uint ulong longlong ulonglong _Float16 __bf16 bfloat16 __half "
    "__half2 half2 __nv_bfloat16 __nv_bfloat162 __int128 dim3";
static const char tags[] = "struct union class enum namespace";

/* Is the token at I one of these blank-separated WORDS? */
static bool
is_in(const struct reader *r, size_t i, const char *words)
{
	const struct token *t = i < r->n ? &r->t[i] : NULL;

	return t && t->kind == WORD && kis_listed(words, r->s + t->from, t->len);
}

static int
kind_at(const struct reader *r, size_t i)
{
	return i < r->n ? r->t[i].kind : 0;
}

/* Is the token at I this sign? A newline separates statements only in Python. */
static bool
is_sign(const struct reader *r, size_t i, const char *signs)
{
	int kind = kind_at(r, i);

	return kind > COMPARED && strchr(signs, kind);
}

/* Split PLAIN, which has no comments, and no strings except those that are code. */
static void
split(struct reader *r, const char *plain, size_t len)
{
	struct kregex_span at[KINDS];
	bool directive = false, first = true;
	size_t room = 0;

	for (size_t from = 0; kregex_find(tokens, plain + from, len - from, at, KINDS);
	     from += at->to) {
		struct token t = {
			.from = from + at->from, .len = at->to - at->from, .first = first
		};
		const char *s = plain + t.from;

		for (t.kind = WORD; t.kind < KINDS && at[t.kind].from == KREGEX_UNSET;)
			t.kind++;
		if (t.kind == NEWLINE) {
			directive &= s > plain && s[-1] == '\\';
			first = true;
		} else if (t.kind < KINDS) {
			t.kind = t.kind == SIGN ? (unsigned char)*s : t.kind;
			directive |= first && *s == '#' && r->lang == KTOKEN_C;
			t.directive = directive;
			first = false;
			if (r->n == room)
				r->t = krealloc(r->t, (room = 2 * room + 64) * sizeof *r->t);
			r->t[r->n++] = t;
		}
	}
}

/* Pair the brackets; an unmatched bracket is paired with itself. */
static void
pair(struct reader *r)
{
	auto_free size_t *open = kcalloc(r->n + 1, sizeof *open);
	size_t depth = 0;

	for (size_t i = 0; i < r->n; i++) {
		r->t[i].match = i;
		if (is_sign(r, i, ")]}") && depth) {
			depth--;
			r->t[i].match = open[depth];
			r->t[open[depth]].match = i;
		}
		r->t[i].depth = (int)depth;
		if (is_sign(r, i, "([{"))
			open[depth++] = i;
	}
}

static char *
text_of(const struct reader *r, size_t i)
{
	return kstrndup(r->s + r->t[i].from, r->t[i].len);
}

static const char *
kind_of(const struct reader *r, size_t i)
{
	const json_t *kind = json_object_getn(r->names, r->s + r->t[i].from, r->t[i].len);

	return kind ? json_string_value(kind) : "";
}

/* The name at I is declared as something of KIND; a constant stays a constant. */
static void
declare(struct reader *r, size_t i, const char *kind)
{
	const char *s = r->s + r->t[i].from, *known = kind_of(r, i);
	size_t n = r->t[i].len;

	for (const char *const *k = r->keep; k && *k; k++)
		if (strlen(*k) == n && !memcmp(*k, s, n))
			return;
	if (!*known || *known == 'v')
		json_object_setn_new(r->names, s, n, json_string(kind));
}

/* A type of the language, one that looks like a library's, or one that the text declares. */
static bool
is_type(const struct reader *r, size_t i)
{
	const char *s = r->s + r->t[i].from;
	size_t n = r->t[i].len, stem = n;

	if (kind_at(r, i) != WORD)
		return false;
	if (is_in(r, i, types) || *kind_of(r, i) == 't' || (i && kind_at(r, i - 1) == SCOPE))
		return true;
	if ((n > 2 && !memcmp(s + n - 2, "_t", 2)) || (n > 3 && !memcmp(s, "__m", 3)))
		return true;
	while (stem && s[stem - 1] >= '0' && s[stem - 1] <= '9')
		stem--;
	return stem < n && kis_listed(types, s, stem);
}

/* Could the word at I be a name that the author chose? */
static bool
is_name(const struct reader *r, size_t i)
{
	return kind_at(r, i) == WORD && !is_in(r, i, verbs) && !is_in(r, i, qualifiers) &&
	    !is_in(r, i, types) && !is_in(r, i, tags);
}

/* The "<" that the ">" at I closes, if the text between them can be template arguments. */
static size_t
template_open(const struct reader *r, size_t i)
{
	int depth = 0;

	for (size_t k = i;; k--) {
		int kind = kind_at(r, k);

		depth += (kind == '>') - (kind == '<');
		if (!depth)
			return k && kind_at(r, k - 1) == WORD ? k : i;
		if (!k || (kind > COMPARED && !strchr("<>,*&()+-", kind)) || kind == COMPARED)
			return i;
	}
}

/* Where a declaration can begin. */
static bool
is_start(const struct reader *r, size_t i)
{
	return !i || is_sign(r, i - 1, ";{}") || r->t[i - 1].directive != r->t[i].directive ||
	    is_in(r, i - 1, qualifiers);
}

/*
 * Does a type end right before I? "float", "T *", "const struct s *restrict", "vector<int> &",
 * "typeof(x)", and the braces of a struct.
 */
static bool
follows_type(const struct reader *r, size_t i)
{
	bool stars = false;
	size_t k = i, open;

	while (k &&
	    (is_sign(r, k - 1, "*&") || kind_at(r, k - 1) == COMPARED ||
	        is_in(r, k - 1, qualifiers))) {
		stars |= kind_at(r, k - 1) != WORD;
		k--;
	}
	if (!k || r->t[k - 1].directive != r->t[i].directive)
		return false;
	k--;
	if (kind_at(r, k) == '>')
		return (open = template_open(r, k)) != k && !is_in(r, open - 1, verbs);
	if (kind_at(r, k) == ')' || kind_at(r, k) == '}') {
		static const char calls[] = "typeof __typeof__ decltype __attribute__ alignas "
		                            "_Alignas";

		open = r->t[k].match;
		return kind_at(r, k) == ')'
		    ? open && is_in(r, open - 1, calls)
		    : open && (is_in(r, open - 1, tags) || (open > 1 && is_in(r, open - 2, tags)));
	}
	if (kind_at(r, k) != WORD || is_in(r, k, verbs) || is_in(r, k, qualifiers))
		return false;
	if (is_in(r, k, tags))
		return true;
	return !stars || is_type(r, k) || is_start(r, k) || (k && is_in(r, k - 1, tags));
}

/*
 * From the sign at I ("=") or the value of a macro: does it consist of numbers and such constants?
 */
static bool
is_constant(const struct reader *r, size_t i, bool line)
{
	size_t from = i;

	for (; i < r->n && !(line && r->t[i].first); i++) {
		int kind = kind_at(r, i);

		if (!line && is_sign(r, i, ",;"))
			break;
		if (kind == WORD && *kind_of(r, i) != 'k' && !is_in(r, i, "sizeof") &&
		    !is_type(r, i))
			return false;
		if (kind > COMPARED && !strchr("()+-*/<>%&|~", kind))
			return false;
		if (kind == NUMBER && memchr(r->s + r->t[i].from, '.', r->t[i].len))
			return false;
	}
	return i > from;
}

/* Does a function body follow the parameters that open at I? */
static bool
has_body(const struct reader *r, size_t i)
{
	size_t k = r->t[i].match;

	if (k == i)
		return false;
	for (k++; is_in(r, k, qualifiers); k++)
		if (kind_at(r, k + 1) == '(')
			k = r->t[k + 1].match;
	return kind_at(r, k) == '{';
}

/* The kind of the name at I that follows a type. */
static const char *
kind_declared(const struct reader *r, size_t i)
{
	bool fixed = false, angle = false;

	for (size_t k = i; k-- > 0 && !is_sign(r, k, ";{(") && !r->t[k].directive;) {
		if (is_sign(r, k, "})")) {
			if (kind_at(r, k) == '}' && k + 1 < i)
				break;
			k = r->t[k].match;
			continue;
		}
		if (is_in(r, k, "typedef"))
			return "t";
		fixed |= is_in(r, k, "const constexpr");
		angle |= kind_at(r, k) == '<' && k && is_in(r, k - 1, "template");
		if (is_sign(r, k, "*&"))
			fixed = false;
	}
	if (angle)
		return is_in(r, i - 1, tags) || is_in(r, i - 1, "typename") ? "t" : "k";
	if (is_in(r, i - 1, tags) && !is_in(r, i - 1, "enum"))
		return "t";
	return fixed && kind_at(r, i + 1) == '=' && is_constant(r, i + 2, false) ? "k" : "v";
}

static void
add_member(struct reader *r, size_t i)
{
	json_object_setn_new(r->members, r->s + r->t[i].from, r->t[i].len, json_true());
}

static bool
is_member(const struct reader *r, size_t i)
{
	return json_object_getn(r->members, r->s + r->t[i].from, r->t[i].len) != NULL;
}

/* Is the brace around I that of a struct? Then the name is also the name of a member. */
static void
note_member(struct reader *r, size_t i)
{
	size_t k = i;

	while (k-- > 0 && !(kind_at(r, k) == '{' && r->t[k].depth < r->t[i].depth))
		if (is_sign(r, k, ")]}") && r->t[k].match < k)
			k = r->t[k].match;
	if (k >= r->n || !(is_in(r, k - 1, tags) || is_in(r, k - 2, tags)) ||
	    is_in(r, k - 1, "namespace") || is_in(r, k - 2, "namespace"))
		return;
	/* The members of the language's own vectors. */
	if (r->t[i].len != 1 || !strchr("xyzw", r->s[r->t[i].from]))
		add_member(r, i);
}

/* "a, *b = 1" after a declared name: the names of the other declarators. */
static void
declare_others(struct reader *r, size_t i, const char *kind)
{
	int depth = r->t[i].depth;

	for (size_t k = i + 1; k < r->n && r->t[k].depth >= depth && !is_sign(r, k, ";"); k++) {
		size_t name = k + 1;

		if (r->t[k].depth != depth || kind_at(r, k) != ',')
			continue;
		while (is_sign(r, name, "*&") || is_in(r, name, qualifiers))
			name++;
		if (!is_name(r, name) || !is_sign(r, name + 1, "=;,[(:)"))
			return;
		declare(r, name, *kind != 'k' || is_constant(r, name + 2, false) ? kind : "v");
		note_member(r, name);
		k = name;
	}
}

/* Is I in the body of a function? */
static bool
in_body(const struct reader *r, size_t i)
{
	int depth = r->t[i].depth;

	for (size_t k = i; depth && k-- > 0;)
		if (r->t[k].depth < depth && is_sign(r, k, "([{")) {
			depth = r->t[k].depth;
			if (kind_at(r, k) == '{' && k &&
			    (kind_at(r, k - 1) == ')' || is_in(r, k - 1, qualifiers)))
				return true;
		}
	return false;
}

static void
read_define(struct reader *r, size_t i)
{
	const struct token *t = &r->t[i];
	bool call = kind_at(r, i + 1) == '(' && r->t[i + 1].from == t->from + t->len;

	if (call)
		for (size_t k = i + 2; k < r->t[i + 1].match; k++)
			if (is_name(r, k))
				declare(r, k, "v");
	declare(r, i, call ? "f" : is_constant(r, i + 1, true) ? "k" : "v");
}

static void
read_enum(struct reader *r, size_t open)
{
	for (size_t k = open + 1; k < r->t[open].match; k++)
		if (is_name(r, k) && r->t[k].depth == r->t[open].depth + 1 &&
		    is_sign(r, k - 1, "{,"))
			declare(r, k, "k");
}

/* The name at I is an alias of the one at OF. */
static void
declare_as(struct reader *r, size_t i, size_t of)
{
	auto_free char *name = of < r->n ? text_of(r, of) : kstrdup(""),
	               *as = kasprintf("=%s", name);

	declare(r, i, as);
}

/* "struct x {", "enum x", "namespace x =", "using x =". */
static void
read_tag(struct reader *r, size_t i)
{
	size_t k = i + 1 + (size_t)(is_in(r, i, "enum") && is_in(r, i + 1, tags));
	bool named = is_name(r, k);

	if (named && is_sign(r, k + 1, "{:;=")) {
		if (is_in(r, i, "namespace") && kind_at(r, k + 1) == '=') {
			size_t last = k + 2;

			while (kind_at(r, last + 1) == SCOPE)
				last += 2;
			declare_as(r, k, last);
		} else {
			declare(r, k, "t");
		}
	}
	if (is_in(r, i, "enum")) {
		while (k < r->n && !is_sign(r, k, "{;"))
			k++;
		if (kind_at(r, k) == '{')
			read_enum(r, k);
	}
}

static void
read_name(struct reader *r, size_t i)
{
	int next = kind_at(r, i + 1);
	const char *kind;

	if (i &&
	    (kind_at(r, i - 1) == '.' || kind_at(r, i - 1) == ARROW || kind_at(r, i - 1) == SCOPE))
		return;
	if (next == '(' && has_body(r, i + 1) && (!i || kind_at(r, i - 1) != ']')) {
		declare(r, i, "f");
		return;
	}
	if (next == ':' && is_start(r, i) && kind_at(r, i + 2) != ':')
		declare(r, i, "v");
	if (i && is_in(r, i - 1, "typename class") && is_sign(r, i + 1, ",>="))
		declare(r, i, "t");
	/* A pointer to a function: (*x)(…). */
	if (next == ')' && kind_at(r, i + 2) == '(' && i > 1 && kind_at(r, i - 1) == '*' &&
	    kind_at(r, i - 2) == '(')
		declare(r, i, "f");
	if (!(is_sign(r, i + 1, "=;,)[({:>") || is_in(r, i + 1, qualifiers)) || !i ||
	    !follows_type(r, i))
		return;
	/* Only a prototype: the function may belong to a library. */
	if (next == '(' && !in_body(r, i))
		return;
	kind = kind_declared(r, i);
	declare(r, i, kind);
	note_member(r, i);
	declare_others(r, i, kind);
}

static void
read_c(struct reader *r)
{
	bool define = false;

	for (size_t i = 0; i < r->n; i++) {
		if (r->t[i].first)
			define = r->t[i].directive && (define || is_in(r, i + 1, "define"));
		if (define && r->t[i].first && kind_at(r, i) == '#') {
			if (kind_at(r, i + 2) == WORD)
				read_define(r, i + 2);
			i += 2;
		} else if (r->t[i].directive && !define) {
			continue;
		} else if (is_in(r, i, tags) ||
		    (is_in(r, i, "using") && !is_in(r, i + 1, "namespace"))) {
			read_tag(r, i);
		} else if (is_name(r, i)) {
			read_name(r, i);
		}
	}
}

/* The parameters of the function whose "(" is at OPEN. */
static void
read_parameters(struct reader *r, size_t open)
{
	for (size_t k = open + 1; k < r->t[open].match; k++)
		if (kind_at(r, k) == WORD && r->t[k].depth == r->t[open].depth + 1 &&
		    is_sign(r, k - 1, "(,*")) {
			bool fixed = kind_at(r, k + 1) == ':' &&
			    (is_in(r, k + 2, "constexpr") || is_in(r, k + 4, "constexpr"));

			declare(r, k, fixed ? "k" : "v");
			add_member(r, k);
		}
}

/* "import triton.language as tl": whatever the text calls it becomes tl. */
static void
read_import(struct reader *r, size_t i)
{
	if (!i || kind_at(r, i - 1) != WORD || kind_at(r, i + 1) != WORD)
		return;
	if (is_in(r, i - 1, "language"))
		declare(r, i + 1, "=tl");
	else
		declare_as(r, i + 1, i - 1);
}

/* The assignment targets on the line from I to the "=" or "in" that ends them. */
static void
read_targets(struct reader *r, size_t i, bool loop)
{
	size_t end = i;
	bool global;

	/* "for" is the last word. */
	if (i >= r->n)
		return;
	global = !r->t[i].from || r->s[r->t[i].from - 1] == '\n';
	while (end < r->n && (end == i || !r->t[end].first) &&
	    (kind_at(r, end) == WORD || is_sign(r, end, ",()*")) && !is_in(r, end, "in"))
		end++;
	if (loop ? !is_in(r, end, "in") : !is_sign(r, end, "=:"))
		return;
	for (size_t k = i; k < end; k++)
		if (kind_at(r, k) == WORD && kind_at(r, k + 1) != '(')
			declare(r, k, !loop && global && is_constant(r, end + 1, true) ? "k" : "v");
}

static void
read_python(struct reader *r)
{
	static const char statements[] =
	    "for if while return else elif try with def class import from assert raise "
	    "pass del global nonlocal yield lambda finally except break continue";

	for (size_t i = 0; i < r->n; i++) {
		if (is_in(r, i, "def") && kind_at(r, i + 1) == WORD) {
			declare(r, i + 1, "f");
			if (kind_at(r, i + 2) == '(')
				read_parameters(r, i + 2);
		} else if (is_in(r, i, "class") && kind_at(r, i + 1) == WORD) {
			declare(r, i + 1, "t");
		} else if (is_in(r, i, "lambda")) {
			for (size_t k = i + 1; kind_at(r, k) == WORD || kind_at(r, k) == ','; k++)
				if (kind_at(r, k) == WORD)
					declare(r, k, "v");
		} else if (is_in(r, i, "as")) {
			read_import(r, i);
		} else if (is_in(r, i, "for")) {
			read_targets(r, i + 1, true);
		} else if (r->t[i].first && !r->t[i].depth && !is_in(r, i, statements)) {
			read_targets(r, i, false);
		}
	}
}

/*
 * Does the name at I belong to somebody else: a member, or a name after "std::", whatever it means
 * elsewhere?
 */
static bool
is_foreign(const struct reader *r, size_t i)
{
	size_t of = i - 2;

	if (i < 2)
		return false;
	if (kind_at(r, i - 1) == '.' || kind_at(r, i - 1) == ARROW)
		return r->lang == KTOKEN_PYTHON || !is_member(r, i);
	if (kind_at(r, of) == '>')
		of = template_open(r, of) - 1;
	return kind_at(r, i - 1) == SCOPE && of < r->n && *kind_of(r, of) != 't';
}

/* The replacement of the name at I; NULL: it stays. The caller frees. */
static char *
neutral_name(struct reader *r, size_t i, json_t *numbers)
{
	const char *s = r->s + r->t[i].from, *kind = kind_of(r, i);
	size_t n = r->t[i].len;

	if (!*kind || is_foreign(r, i))
		return NULL;
	if (*kind == '=')
		return kstrdup(kind + 1);
	if (!json_object_getn(numbers, s, n))
		json_object_setn_new(
		    numbers, s, n, json_integer((json_int_t)json_object_size(numbers) + 1));
	return kasprintf(
	    "_%s%lld", kind, (long long)json_integer_value(json_object_getn(numbers, s, n)));
}

/*
 * "num_warps=4" in a call: not chosen by the author, unless a function in the text has such a
 * parameter.
 */
static bool
is_keyword(const struct reader *r, size_t i)
{
	size_t open = i;

	if (r->lang != KTOKEN_PYTHON || !r->t[i].depth || kind_at(r, i + 1) != '=' ||
	    !is_sign(r, i - 1, "(,"))
		return false;
	while (open && !(is_sign(r, open, "([{") && r->t[open].depth < r->t[i].depth))
		open--;
	return !is_member(r, i) || (open >= 2 && kind_at(r, open - 2) == '.');
}

struct kbuf
kneutral_text(const char *src, size_t len, enum ktoken_lang lang, const char *const *keep)
{
	auto_free char *plain = ktoken_strip(src, len, lang);
	char *name;
	struct reader r = { .s = plain,
		.lang = lang,
		.names = json_object(),
		.members = json_object(),
		.keep = keep };
	json_auto_t *numbers = json_object();
	struct kbuf out = { 0 };
	size_t done = 0;
	bool include = false;

	split(&r, plain, len);
	pair(&r);
	if (lang == KTOKEN_PYTHON)
		read_python(&r);
	else
		read_c(&r);
	for (size_t i = 0; i < r.n; i++) {
		const struct token *t = &r.t[i];

		if (t->first)
			include = t->directive && is_in(&r, i + 1, "include");
		if (include || t->kind != WORD || is_keyword(&r, i) ||
		    !(name = neutral_name(&r, i, numbers)))
			continue;
		kbuf_add(&out, src + done, t->from - done);
		kbuf_puts(&out, name);
		done = t->from + t->len;
		free(name);
	}
	kbuf_add(&out, src + done, len - done);
	json_decref(r.names);
	json_decref(r.members);
	free(r.t);
	return out;
}

void
kneutral_hash(
    const char *src, size_t len, enum ktoken_lang lang, const char *const *keep, char hex[17])
{
	auto_buf struct kbuf text = kneutral_text(src, len, lang, keep);

	ktoken_hash_as(text.data, text.len, lang, hex);
}
