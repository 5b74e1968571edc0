/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: ideas from a project that the user names, prompt.reference_project: the passages of its
 * files that contain most of the task's own words. It is read when a prompt is made.
 */
#include "kprompt.h"

#include <fts.h>

#include "kfence.h"

enum {
	MAX_DEPTH = 8,
	MAX_FILES = 5000,
	MAX_PATH = 200,
	MAX_BYTES = 1 << 18, /* a longer file is data */
	MAX_WORDS = 16,
	MIN_WORD = 4, /* shorter words occur everywhere */
	PASSAGE = 40, /* lines */
	PASSAGES = 4
};

/* What is searched for, and what was found. */
static struct {
	json_t *words; /* the task's names, in small letters, and their parts */
	/* the best passage of each file: {"file", "text", "section", "score"} */
	json_t *passages;
} found;

/* Adds NAME of LEN characters, unless it is short or exists already. */
static void
add_word(json_t *words, const char *name, size_t len)
{
	auto_free char *word = klower(kstrndup(name, len));
	if (len >= MIN_WORD && json_array_size(words) < MAX_WORDS && !kjson_has(words, word))
		kjson_add(words, word);
}

static json_t *
find_words(void)
{
	static const char *const names[] = { "op", "task", "entry" };
	json_t *words = json_array();

	kforeach(name, names) {
		const char *s = kjson_str(facts, *name);
		auto_free char *copy = kstrdup(s);

		add_word(words, s, strlen(s));
		kpart_foreach(part, copy, "_-./ ")
			add_word(words, part, strlen(part));
	}
	return words;
}

/* Many different words count more than many hits. */
static long
score_of(const char *text)
{
	long score = 0;

	kjson_foreach_text(word, found.words) {
		score += strcasestr(text, word) ? 100 : 0;
		for (const char *at = text; (at = strcasestr(at, word)); at++)
			score++;
	}
	return score;
}

/* Length of the first lines of TEXT, as many as a passage has; *LINES gets their number. */
static size_t
passage_length(const char *text, long *lines)
{
	const char *end = text;

	for (*lines = 0; *end && *lines < PASSAGE; ++*lines) {
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	return (size_t)(end - text);
}

/* The best passage of the file PATH; none if it has none of the words. */
static void
add_best(const char *text, const char *path)
{
	auto_free char *file = kfence_line(path, MAX_PATH);
	json_auto_t *best = NULL;
	/* Words in the name of a file make all of it more likely. */
	long top = 0, by = score_of(path) ? 2 : 1, line = 1, lines;

	for (size_t len; (len = passage_length(text, &lines)); text += len, line += lines) {
		auto_free char *passage = kstrndup(text, len);
		long score = by * score_of(passage);

		if (score <= top)
			continue;
		top = score;
		json_decref(best);
		best = json_pack("{s:s,s:s,s:o,s:I}", "file", file, "text", passage, "section",
		    json_sprintf("lines %ld to %ld", line, line + lines - 1), "score",
		    (json_int_t)score);
	}
	if (best)
		json_array_append(found.passages, best);
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Texts below FOLDER by their names; links are not followed. */
static void
search(const char *folder)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	size_t files = 0, len;

	for (FTSENT *e; tree && (e = fts_read(tree)) && files < MAX_FILES;) {
		auto_free char *text = NULL, *clean = NULL;
		const char *path;

		if (e->fts_errno) {
			errno = e->fts_errno;
			kdie_errno(K_USAGE, "prompt.reference_project: %s", e->fts_path);
		}
		if (e->fts_level && (*e->fts_name == '.' || e->fts_level > MAX_DEPTH))
			fts_set(tree, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && ++files)
			text = kread_file(e->fts_accpath, MAX_BYTES, &len);
		if (!text || memchr(text, '\0', len))
			continue;
		clean = kfence_clean(text, len);
		path = e->fts_path + strlen(folder);
		add_best(clean, path + strspn(path, "/"));
	}
	fts_close(tree);
}

/*
 * The passages in the form for the prompt; LIST gets what the record says about them. Returns how
 * many tokens they have.
 */
static long
show(struct kbuf *b, json_t *list, const json_t *passages, long budget)
{
	long spent = 0;

	kjson_foreach(x, passages) {
		const char *file = kjson_str(x, "file"), *text = kjson_str(x, "text"),
		           *section = kjson_str(x, "section");
		auto_free char *head = kasprintf("%s, %s:\n", file, section);
		long tokens = (long)(strlen(head) + strlen(text)) / TOKEN_CHARS + 1;

		if (tokens > budget - spent || json_array_size(list) == PASSAGES)
			continue;
		spent += tokens;
		kbuf_printf(b, "%s%s\n", head, text);
		kjson_append(list, "{s:s,s:s,s:I,s:s}", "file", file, "section", section, "tokens",
		    (json_int_t)tokens, "text", text);
	}
	return spent;
}

long
project_facts(long budget)
{
	const char *name = kcamp_str("prompt.reference_project");
	auto_buf struct kbuf text = { 0 };
	json_t *list = json_array();
	long spent;

	found.words = find_words();
	found.passages = json_array();
	if (*name && budget)
		search(kcamp_path(name));
	kjson_sort_by(found.passages, "-score", "file");
	spent = show(&text, list, found.passages, budget);
	/* The authors of these texts do not know the seed of the campaign. */
	salt = kshown("%.0f/project", kcamp_num("seed"));
	put("project", data_text(text.data, "passages of the reference project"));
	put("passages", list);
	json_decref(found.words);
	json_decref(found.passages);
	return spent;
}
