/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kneutral: see kneutral.h. Two passes over the words and signs of a text: the first one notes what
 * is declared, the second one writes. No grammar: a declaration is recognised by its neighbours, as
 * in "float x;", and where that is ambiguous the name stays.
 */
#include "kneutral.h"
#include "kio.h"

/* A token: a word, a number, one of the two-byte operators that matter, or a single sign. */
enum { WORD = 1, NUMBER, SCOPE, ARROW, PASTE, COMPARED };

struct token {
	size_t from, len;
	int kind;       /* as above, or the sign itself */
	int depth;      /* open brackets of all kinds */
	size_t match;   /* of a closing bracket: the opening one, and vice versa; or itself */
	bool directive; /* on a preprocessor line */
	bool first;     /* of its line */
};

/* The text that is being read; one at a time. */
static const char *source;
static enum ktoken_lang language;
static struct token *token;
static size_t tokens;           /* how many */
static json_t *names;           /* name -> its kind, "k", "f", "t" or "v", or "=NAME" */
static json_t *members;         /* names declared inside a struct; Python: parameters */
static const char *const *kept; /* names that stay */

/* Words that are never followed by a declared name. */
static const char verbs[] = "return else case goto sizeof new delete throw do if while for switch "
                            "default operator using public private protected defined co_return "
                            "alignof _Alignof break continue asm __asm__ __asm catch _Pragma and "
                            "or not template";
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
is_in(size_t i, const char *words)
{
	const struct token *t = i < tokens ? &token[i] : NULL;

	return t && t->kind == WORD && kis_listed(words, source + t->from, t->len);
}

static int
kind_at(size_t i)
{
	return i < tokens ? token[i].kind : 0;
}

/* Is the token at I this sign? A newline separates statements only in Python. */
static bool
is_sign(size_t i, const char *signs)
{
	int kind = kind_at(i);

	return kind > COMPARED && strchr(signs, kind);
}

/* The kind of the sign at S, which may be the first byte of several; and its length. */
static int
sign_at(const char *s, size_t left, size_t *len)
{
	bool two = left > 1 && kis_listed(":: -> ## == <= >= != && ||", s, 2);

	*len = two ? 2 : 1;
	return !two     ? (unsigned char)*s
	    : *s == ':' ? SCOPE
	    : *s == '-' ? ARROW
	    : *s == '#' ? PASTE
	                : COMPARED;
}

static void
split(size_t len)
{
	bool first = true;

	ktoken_start(source, len, language);
	for (struct ktoken t; ktoken_next(&t);) {
		first |= t.kind == KTOKEN_NEWLINE;
		for (size_t at = t.from, n; t.kind >= KTOKEN_NUMBER && at < t.to; at += n) {
			int kind = sign_at(source + at, t.to - at, &n);

			if (t.kind != KTOKEN_SIGN) {
				kind = t.kind == KTOKEN_WORD ? WORD : NUMBER;
				n = t.to - at;
			}
			*kadded(token, tokens) = (struct token){ .from = at,
				.len = n,
				.kind = kind,
				.directive = t.directive,
				.first = first };
			first = false;
		}
	}
}

/* Pair the brackets; an unmatched bracket is paired with itself. */
static void
pair(void)
{
	auto_free size_t *open = kcalloc(tokens + 1, sizeof *open);
	size_t depth = 0;

	for (size_t i = 0; i < tokens; i++) {
		token[i].match = i;
		if (is_sign(i, ")]}") && depth) {
			depth--;
			token[i].match = open[depth];
			token[open[depth]].match = i;
		}
		token[i].depth = (int)depth;
		if (is_sign(i, "([{"))
			open[depth++] = i;
	}
}

static const char *
kind_of(size_t i)
{
	const json_t *kind = json_object_getn(names, source + token[i].from, token[i].len);

	return kind ? json_string_value(kind) : "";
}

/* The name at I is declared as something of KIND; a constant stays a constant. */
static void
declare(size_t i, const char *kind)
{
	const char *s = source + token[i].from, *known = kind_of(i);
	size_t n = token[i].len;

	for (const char *const *k = kept; k && *k; k++)
		if (strlen(*k) == n && !memcmp(*k, s, n))
			return;
	if (!*known || *known == 'v')
		json_object_setn_new(names, s, n, json_string(kind));
}

/* A type of the language, one that looks like a library's, or one that the text declares. */
static bool
is_type(size_t i)
{
	const char *s = source + token[i].from;
	size_t n = token[i].len, stem = n;

	if (kind_at(i) != WORD)
		return false;
	if (is_in(i, types) || *kind_of(i) == 't' || (i && kind_at(i - 1) == SCOPE))
		return true;
	if ((n > 2 && !memcmp(s + n - 2, "_t", 2)) || (n > 3 && !memcmp(s, "__m", 3)))
		return true;
	while (stem && s[stem - 1] >= '0' && s[stem - 1] <= '9')
		stem--;
	return stem < n && kis_listed(types, s, stem);
}

/* Could the word at I be a name that the author chose? */
static bool
is_name(size_t i)
{
	return kind_at(i) == WORD && !is_in(i, verbs) && !is_in(i, qualifiers) &&
	    !is_in(i, types) && !is_in(i, tags);
}

/* The "<" that the ">" at I closes, if the text between them can be template arguments. */
static size_t
template_open(size_t i)
{
	int depth = 0;

	for (size_t k = i;; k--) {
		int kind = kind_at(k);

		depth += (kind == '>') - (kind == '<');
		if (!depth)
			return k && kind_at(k - 1) == WORD ? k : i;
		if (!k || (kind > COMPARED && !strchr("<>,*&()+-", kind)) || kind == COMPARED)
			return i;
	}
}

/* Where a declaration can begin. */
static bool
is_start(size_t i)
{
	return !i || is_sign(i - 1, ";{}") || token[i - 1].directive != token[i].directive ||
	    is_in(i - 1, qualifiers);
}

/*
 * Does a type end right before I? "float", "T *", "const struct s *restrict", "vector<int> &",
 * "typeof(x)", and the braces of a struct.
 */
static bool
follows_type(size_t i)
{
	bool stars = false;
	size_t k = i, open;

	while (
	    k && (is_sign(k - 1, "*&") || kind_at(k - 1) == COMPARED || is_in(k - 1, qualifiers))) {
		stars |= kind_at(k - 1) != WORD;
		k--;
	}
	if (!k || token[k - 1].directive != token[i].directive)
		return false;
	k--;
	if (kind_at(k) == '>')
		return (open = template_open(k)) != k && !is_in(open - 1, verbs);
	if (kind_at(k) == ')' || kind_at(k) == '}') {
		static const char calls[] = "typeof __typeof__ decltype __attribute__ alignas "
		                            "_Alignas";

		open = token[k].match;
		return kind_at(k) == ')'
		    ? open && is_in(open - 1, calls)
		    : open && (is_in(open - 1, tags) || (open > 1 && is_in(open - 2, tags)));
	}
	if (kind_at(k) != WORD || is_in(k, verbs) || is_in(k, qualifiers))
		return false;
	if (is_in(k, tags))
		return true;
	return !stars || is_type(k) || is_start(k) || (k && is_in(k - 1, tags));
}

/*
 * From the sign at I ("=") or the value of a macro: does it consist of numbers and such constants?
 */
static bool
is_constant(size_t i, bool line)
{
	size_t from = i;

	for (; i < tokens && !(line && token[i].first); i++) {
		int kind = kind_at(i);

		if (!line && is_sign(i, ",;"))
			break;
		if (kind == WORD && *kind_of(i) != 'k' && !is_in(i, "sizeof") && !is_type(i))
			return false;
		if (kind > COMPARED && !strchr("()+-*/<>%&|~", kind))
			return false;
		if (kind == NUMBER && memchr(source + token[i].from, '.', token[i].len))
			return false;
	}
	return i > from;
}

/* Does a function body follow the parameters that open at I? */
static bool
has_body(size_t i)
{
	size_t k = token[i].match;

	if (k == i)
		return false;
	for (k++; is_in(k, qualifiers); k++)
		if (kind_at(k + 1) == '(')
			k = token[k + 1].match;
	return kind_at(k) == '{';
}

/* The kind of the name at I that follows a type. */
static const char *
kind_declared(size_t i)
{
	bool fixed = false, angle = false;

	for (size_t k = i; k-- > 0 && !is_sign(k, ";{(") && !token[k].directive;) {
		if (is_sign(k, "})")) {
			if (kind_at(k) == '}' && k + 1 < i)
				break;
			k = token[k].match;
			continue;
		}
		if (is_in(k, "typedef"))
			return "t";
		fixed |= is_in(k, "const constexpr");
		angle |= kind_at(k) == '<' && k && is_in(k - 1, "template");
		if (is_sign(k, "*&"))
			fixed = false;
	}
	if (angle)
		return is_in(i - 1, tags) || is_in(i - 1, "typename") ? "t" : "k";
	if (is_in(i - 1, tags) && !is_in(i - 1, "enum"))
		return "t";
	return fixed && kind_at(i + 1) == '=' && is_constant(i + 2, false) ? "k" : "v";
}

static void
add_member(size_t i)
{
	json_object_setn_new(members, source + token[i].from, token[i].len, json_true());
}

static bool
is_member(size_t i)
{
	return json_object_getn(members, source + token[i].from, token[i].len) != NULL;
}

/* Is the brace around I that of a struct? Then the name is also the name of a member. */
static void
note_member(size_t i)
{
	size_t k = i;

	while (k-- > 0 && !(kind_at(k) == '{' && token[k].depth < token[i].depth))
		if (is_sign(k, ")]}") && token[k].match < k)
			k = token[k].match;
	if (k >= tokens || !(is_in(k - 1, tags) || is_in(k - 2, tags)) ||
	    is_in(k - 1, "namespace") || is_in(k - 2, "namespace"))
		return;
	/* The members of the language's own vectors. */
	if (token[i].len != 1 || !strchr("xyzw", source[token[i].from]))
		add_member(i);
}

/* "a, *b = 1" after a declared name: the names of the other declarators. */
static void
declare_others(size_t i, const char *kind)
{
	int depth = token[i].depth;

	for (size_t k = i + 1; k < tokens && token[k].depth >= depth && !is_sign(k, ";"); k++) {
		size_t name = k + 1;

		if (token[k].depth != depth || kind_at(k) != ',')
			continue;
		while (is_sign(name, "*&") || is_in(name, qualifiers))
			name++;
		if (!is_name(name) || !is_sign(name + 1, "=;,[(:)"))
			return;
		declare(name, *kind != 'k' || is_constant(name + 2, false) ? kind : "v");
		note_member(name);
		k = name;
	}
}

/* Is I in the body of a function? */
static bool
in_body(size_t i)
{
	int depth = token[i].depth;

	for (size_t k = i; depth && k-- > 0;)
		if (token[k].depth < depth && is_sign(k, "([{")) {
			depth = token[k].depth;
			if (kind_at(k) == '{' && k &&
			    (kind_at(k - 1) == ')' || is_in(k - 1, qualifiers)))
				return true;
		}
	return false;
}

static void
read_define(size_t i)
{
	const struct token *t = &token[i];
	bool call = kind_at(i + 1) == '(' && token[i + 1].from == t->from + t->len;

	if (call)
		for (size_t k = i + 2; k < token[i + 1].match; k++)
			if (is_name(k))
				declare(k, "v");
	declare(i, call ? "f" : is_constant(i + 1, true) ? "k" : "v");
}

static void
read_enum(size_t open)
{
	for (size_t k = open + 1; k < token[open].match; k++)
		if (is_name(k) && token[k].depth == token[open].depth + 1 && is_sign(k - 1, "{,"))
			declare(k, "k");
}

/* The name at I is an alias of the one at OF. */
static void
declare_as(size_t i, size_t of)
{
	auto_free char *name =
	    of < tokens ? kstrndup(source + token[of].from, token[of].len) : kstrdup("");

	declare(i, kshown("=%s", name));
}

/* "struct x {", "enum x", "namespace x =", "using x =". */
static void
read_tag(size_t i)
{
	size_t k = i + 1 + (size_t)(is_in(i, "enum") && is_in(i + 1, tags));

	if (is_name(k) && is_sign(k + 1, "{:;=")) {
		if (is_in(i, "namespace") && kind_at(k + 1) == '=') {
			size_t last = k + 2;

			while (kind_at(last + 1) == SCOPE)
				last += 2;
			declare_as(k, last);
		} else {
			declare(k, "t");
		}
	}
	if (is_in(i, "enum")) {
		while (k < tokens && !is_sign(k, "{;"))
			k++;
		if (kind_at(k) == '{')
			read_enum(k);
	}
}

static void
read_name(size_t i)
{
	int next = kind_at(i + 1);
	const char *kind;

	if (i && (kind_at(i - 1) == '.' || kind_at(i - 1) == ARROW || kind_at(i - 1) == SCOPE))
		return;
	if (next == '(' && has_body(i + 1) && (!i || kind_at(i - 1) != ']')) {
		declare(i, "f");
		return;
	}
	if (next == ':' && is_start(i) && kind_at(i + 2) != ':')
		declare(i, "v");
	if (i && is_in(i - 1, "typename class") && is_sign(i + 1, ",>="))
		declare(i, "t");
	/* A pointer to a function: (*x)(…). */
	if (next == ')' && kind_at(i + 2) == '(' && i > 1 && kind_at(i - 1) == '*' &&
	    kind_at(i - 2) == '(')
		declare(i, "f");
	if (!(is_sign(i + 1, "=;,)[({:>") || is_in(i + 1, qualifiers)) || !i || !follows_type(i))
		return;
	/* Only a prototype: the function may belong to a library. */
	if (next == '(' && !in_body(i))
		return;
	kind = kind_declared(i);
	declare(i, kind);
	note_member(i);
	declare_others(i, kind);
}

static void
read_c(void)
{
	bool define = false;

	for (size_t i = 0; i < tokens; i++) {
		if (token[i].first)
			define = token[i].directive && (define || is_in(i + 1, "define"));
		if (define && token[i].first && kind_at(i) == '#') {
			if (kind_at(i + 2) == WORD)
				read_define(i + 2);
			i += 2;
		} else if (token[i].directive && !define) {
			continue;
		} else if (is_in(i, tags) || (is_in(i, "using") && !is_in(i + 1, "namespace"))) {
			read_tag(i);
		} else if (is_name(i)) {
			read_name(i);
		}
	}
}

/* The parameters of the function whose "(" is at OPEN. */
static void
read_parameters(size_t open)
{
	for (size_t k = open + 1; k < token[open].match; k++)
		if (kind_at(k) == WORD && token[k].depth == token[open].depth + 1 &&
		    is_sign(k - 1, "(,*")) {
			bool fixed = kind_at(k + 1) == ':' &&
			    (is_in(k + 2, "constexpr") || is_in(k + 4, "constexpr"));

			declare(k, fixed ? "k" : "v");
			add_member(k);
		}
}

/* "import triton.language as tl": whatever the text calls it becomes tl. */
static void
read_import(size_t i)
{
	if (!i || kind_at(i - 1) != WORD || kind_at(i + 1) != WORD)
		return;
	if (is_in(i - 1, "language"))
		declare(i + 1, "=tl");
	else
		declare_as(i + 1, i - 1);
}

/* The assignment targets on the line from I to the "=" or "in" that ends them. */
static void
read_targets(size_t i, bool loop)
{
	size_t end = i;
	bool global;

	/* "for" is the last word. */
	if (i >= tokens)
		return;
	global = !token[i].from || source[token[i].from - 1] == '\n';
	while (end < tokens && (end == i || !token[end].first) &&
	    (kind_at(end) == WORD || is_sign(end, ",()*")) && !is_in(end, "in"))
		end++;
	if (loop ? !is_in(end, "in") : !is_sign(end, "=:"))
		return;
	for (size_t k = i; k < end; k++)
		if (kind_at(k) == WORD && kind_at(k + 1) != '(')
			declare(k, !loop && global && is_constant(end + 1, true) ? "k" : "v");
}

static void
read_python(void)
{
	static const char statements[] =
	    "for if while return else elif try with def class import from assert raise "
	    "pass del global nonlocal yield lambda finally except break continue";

	for (size_t i = 0; i < tokens; i++) {
		if (is_in(i, "def") && kind_at(i + 1) == WORD) {
			declare(i + 1, "f");
			if (kind_at(i + 2) == '(')
				read_parameters(i + 2);
		} else if (is_in(i, "class") && kind_at(i + 1) == WORD) {
			declare(i + 1, "t");
		} else if (is_in(i, "lambda")) {
			for (size_t k = i + 1; kind_at(k) == WORD || kind_at(k) == ','; k++)
				if (kind_at(k) == WORD)
					declare(k, "v");
		} else if (is_in(i, "as")) {
			read_import(i);
		} else if (is_in(i, "for")) {
			read_targets(i + 1, true);
		} else if (token[i].first && !token[i].depth && !is_in(i, statements)) {
			read_targets(i, false);
		}
	}
}

/*
 * Does the name at I belong to somebody else: a member, or a name after "std::", whatever it means
 * elsewhere?
 */
static bool
is_foreign(size_t i)
{
	size_t of = i - 2;

	if (i < 2)
		return false;
	if (kind_at(i - 1) == '.' || kind_at(i - 1) == ARROW)
		return language == KTOKEN_PYTHON || !is_member(i);
	if (kind_at(of) == '>')
		of = template_open(of) - 1;
	return kind_at(i - 1) == SCOPE && of < tokens && *kind_of(of) != 't';
}

/* The replacement of the name at I; NULL: it stays. The caller frees. */
static char *
neutral_name(size_t i, json_t *numbers)
{
	const char *s = source + token[i].from, *kind = kind_of(i);
	size_t n = token[i].len;

	if (!*kind || is_foreign(i))
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
is_keyword(size_t i)
{
	size_t open = i;

	if (language != KTOKEN_PYTHON || !token[i].depth || kind_at(i + 1) != '=' ||
	    !is_sign(i - 1, "(,"))
		return false;
	while (open && !(is_sign(open, "([{") && token[open].depth < token[i].depth))
		open--;
	return !is_member(i) || (open >= 2 && kind_at(open - 2) == '.');
}

struct kbuf
kneutral_text(const char *src, size_t len, enum ktoken_lang lang, const char *const *keep)
{
	char *name;
	json_auto_t *numbers = json_object();
	struct kbuf out = { 0 };
	size_t done = 0;
	bool include = false;

	source = src;
	language = lang;
	token = NULL;
	tokens = 0;
	names = json_object();
	members = json_object();
	kept = keep;
	split(len);
	pair();
	if (lang == KTOKEN_PYTHON)
		read_python();
	else
		read_c();
	for (size_t i = 0; i < tokens; i++) {
		const struct token *t = &token[i];

		if (t->first)
			include = t->directive && is_in(i + 1, "include");
		if (include || t->kind != WORD || is_keyword(i) ||
		    !(name = neutral_name(i, numbers)))
			continue;
		kbuf_slice(&out, src, done, t->from);
		kbuf_puts(&out, name);
		done = t->from + t->len;
		free(name);
	}
	kbuf_slice(&out, src, done, len);
	json_decref(names);
	json_decref(members);
	free(token);
	return out;
}

void
kneutral_hash(
    const char *src, size_t len, enum ktoken_lang lang, const char *const *keep, char hex[17])
{
	auto_buf struct kbuf text = kneutral_text(src, len, lang, keep);

	ktoken_hash_as(text.data, text.len, lang, hex);
}
