/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: ideas from a project that the user names, prompt.reference_project: the passages of its
 * files that contain most of the task's own words. It is read when a prompt is made.
 */
#include "kprompt.h"

#include "kfence.h"

enum {
	MAX_DEPTH = 8,
	MAX_FILES = 5000,
	MAX_PATH = 200,
	MAX_BYTES = 1 << 18, /* a longer file is data */
	MAX_WORDS = 16,
	MIN_WORD = 4, /* shorter words occur everywhere */
	PASSAGE = 40, /* lines */
	LEAD = 3,     /* lines before the first hit */
	PASSAGES = 4
};

/* What is searched for, and what was found. */
static struct {
	json_t *words; /* the task's names, in small letters, and their parts */
	/* the best passage of each file: {"file", "text", "section", "score"} */
	json_t *passages;
	size_t files;
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

/* How many of the words are in LINE; SEEN collects which. */
static long
hits_in(const char *line, unsigned *seen)
{
	long hits = 0;

	kjson_foreach(word, found.words)
		if (strcasestr(line, json_string_value(word))) {
			*seen |= 1U << kjson_at(word);
			hits++;
		}
	return hits;
}

/*
 * Value of the PASSAGE lines from FIRST on: many different words count more than many hits, and
 * both count more in a file whose name has one.
 */
static long
score_of(char *const *line, size_t count, size_t first, const char *path)
{
	unsigned seen = 0;
	long hits = 0, score;

	for (size_t i = first; i < count && i < first + PASSAGE; i++)
		hits += hits_in(line[i], &seen);
	score = hits + 100 * __builtin_popcount(seen);
	return hits && hits_in(path, &seen) ? 2 * score : score;
}

/* The best passage of a file with the lines LINE; none if it has none of the words. */
static void
add_best(char *const *line, size_t count, const char *path)
{
	size_t best = 0, start, end;
	long top = 0, score;
	auto_buf struct kbuf text = { 0 };
	auto_free char *file = NULL;
	unsigned seen = 0;

	for (size_t i = 0; i < count; i++)
		if (hits_in(line[i], &seen) && (score = score_of(line, count, i, path)) > top) {
			top = score;
			best = i;
		}
	if (!top)
		return;
	start = best > LEAD ? best - LEAD : 0;
	end = start + PASSAGE < count ? start + PASSAGE : count;
	for (size_t i = start; i < end; i++)
		kbuf_printf(&text, "%s\n", line[i]);
	file = kfence_line(path, MAX_PATH);
	kjson_append(found.passages, "{s:s,s:s,s:o,s:I}", "file", file, "text", text.data,
	    "section", json_sprintf("lines %zu to %zu", start + 1, end), "score", (json_int_t)top);
}

static void
read_file(const char *file, const char *path)
{
	size_t len, count = 0;
	auto_free char *text = kread_file(file, MAX_BYTES, &len), *clean = NULL, **line = NULL;
	char *rest, *at;

	if (!text || memchr(text, '\0', len))
		return;
	rest = clean = kfence_clean(text, len);
	while ((at = strsep(&rest, "\n"))) {
		*kadded(line, count) = at;
	}
	/* Nothing comes after the last line feed. */
	add_best(line, count - !*line[count - 1], path);
}

/* Files below FOLDER/BELOW by their names; links are not followed. */
static void
search(const char *folder, const char *below, int depth)
{
	auto_free char *path = kasprintf("%s/%s", folder, below);
	auto_free struct dirent **list = NULL;
	int n = scandir(path, &list, NULL, alphasort);

	if (n < 0)
		kdie_errno(K_USAGE, "prompt.reference_project: %s", path);
	kforeach_of(one, list, n) {
		const char *name = (*one)->d_name;
		auto_free char *at = kasprintf("%s%s%s", below, *below ? "/" : "", name),
		               *file = kasprintf("%s/%s", folder, at);
		struct stat st;

		if (*name == '.' || !kfind_link(file, &st))
			;
		else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			search(folder, at, depth + 1);
		else if (S_ISREG(st.st_mode) && found.files < MAX_FILES) {
			found.files++;
			read_file(file, at);
		}
		free(*one);
	}
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
		search(kcamp_path(name), "", 0);
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
