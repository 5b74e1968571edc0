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

/* The task's names, in small letters, and their parts. */
struct words {
	char *word[MAX_WORDS];
	size_t count;
};

struct passage {
	char *path; /* below the project */
	char *text;
	long first, last; /* lines */
	long score;
};

struct passages {
	struct passage *at;
	size_t count, files;
};

/* Adds NAME of LEN characters, unless it is short or exists already. */
static void
add_word(struct words *w, const char *name, size_t len)
{
	char *word = kstrndup(name, len);
	bool known = len < MIN_WORD || w->count == MAX_WORDS;

	for (char *p = word; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	for (size_t i = 0; i < w->count; i++)
		known |= !strcmp(w->word[i], word);
	if (known)
		free(word);
	else
		w->word[w->count++] = word;
}

static void
find_words(struct words *w, const json_t *stable)
{
	static const char *const names[] = { "op", "task", "entry" };

	*w = (struct words){ 0 };
	for (size_t i = 0; i < LEN(names); i++) {
		const char *s = kjson_str_or(stable, names[i], "");

		add_word(w, s, strlen(s));
		for (size_t n; *s; s += n + (s[n] != '\0')) {
			n = strcspn(s, "_-./ ");
			add_word(w, s, n);
		}
	}
}

/* How many of the words are in LINE; SEEN collects which. */
static long
hits_in(const struct words *w, const char *line, unsigned *seen)
{
	long hits = 0;

	for (size_t i = 0; i < w->count; i++)
		if (strcasestr(line, w->word[i])) {
			*seen |= 1U << i;
			hits++;
		}
	return hits;
}

/*
 * Value of the PASSAGE lines from FIRST on: many different words count more than many hits, and
 * both count more in a file whose name has one.
 */
static long
score_of(const struct words *w, char *const *line, size_t count, size_t first, const char *path)
{
	unsigned seen = 0;
	long hits = 0, score;

	for (size_t i = first; i < count && i < first + PASSAGE; i++)
		hits += hits_in(w, line[i], &seen);
	score = hits;
	for (size_t i = 0; i < w->count; i++)
		score += seen >> i & 1 ? 100 : 0;
	return hits && hits_in(w, path, &seen) ? 2 * score : score;
}

/* The best passage of a file with the lines LINE; none if it has none of the words. */
static void
add_best(
    struct passages *p, const struct words *w, char *const *line, size_t count, const char *path)
{
	size_t best = 0, start, end;
	long top = 0, score;
	struct kbuf text = { 0 };
	struct passage found;
	unsigned seen = 0;

	for (size_t i = 0; i < count; i++)
		if (hits_in(w, line[i], &seen) &&
		    (score = score_of(w, line, count, i, path)) > top) {
			top = score;
			best = i;
		}
	if (!top)
		return;
	start = best > LEAD ? best - LEAD : 0;
	end = start + PASSAGE < count ? start + PASSAGE : count;
	for (size_t i = start; i < end; i++)
		kbuf_printf(&text, "%s\n", line[i]);
	found = (struct passage){ kfence_line(path, MAX_PATH), text.data, (long)start + 1,
		(long)end, top };
	p->at = krealloc(p->at, (p->count + 1) * sizeof *p->at);
	p->at[p->count++] = found;
}

static void
read_file(struct passages *p, const struct words *w, const char *file, const char *path)
{
	size_t len, count = 0;
	char *text = kread_file(file, MAX_BYTES, &len), *save = NULL, **line = NULL, *clean, *end;

	if (!text)
		return;
	clean = memchr(text, '\0', len) ? NULL : kfence_clean(text, len);
	end = clean ? clean + strlen(clean) : NULL;
	for (char *at = clean; at && at < end; at = save) {
		save = strchr(at, '\n');
		if (save)
			*save++ = '\0';
		line = krealloc(line, (count + 1) * sizeof *line);
		line[count++] = at;
	}
	if (clean)
		add_best(p, w, line, count, path);
	free(line);
	free(clean);
	free(text);
}

/* Files below FOLDER/BELOW by their names; links are not followed. */
static void
search(struct passages *p, const struct words *w, const char *folder, const char *below, int depth)
{
	auto_free char *path = kasprintf("%s/%s", folder, below);
	auto_free struct dirent **list = NULL;
	int n = scandir(path, &list, NULL, alphasort);

	if (n < 0)
		kdie_errno(K_USAGE, "prompt.reference_project: %s", path);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		auto_free char *at = kasprintf("%s%s%s", below, *below ? "/" : "", name),
		               *file = kasprintf("%s/%s", folder, at);
		struct stat st;

		if (*name == '.' || !kfind_link(file, &st))
			;
		else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			search(p, w, folder, at, depth + 1);
		else if (S_ISREG(st.st_mode) && p->files < MAX_FILES) {
			p->files++;
			read_file(p, w, file, at);
		}
		free(list[i]);
	}
}

static int
by_score(const void *a, const void *b)
{
	const struct passage *x = a, *y = b;

	return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
	                            : strcmp(x->path, y->path);
}

/* The passages in the form for the prompt; LIST gets what the record says about them. */
static void
show(struct kbuf *b, json_t *list, const struct passages *p, long budget)
{
	for (size_t i = 0; i < p->count && json_array_size(list) < PASSAGES; i++) {
		const struct passage *x = &p->at[i];
		auto_free char *section = kasprintf("lines %ld to %ld", x->first, x->last),
		               *head = kasprintf("%s, %s:\n", x->path, section);
		long tokens = (long)(strlen(head) + strlen(x->text)) / TOKEN_CHARS + 1;

		if (tokens <= budget) {
			budget -= tokens;
			kbuf_printf(b, "%s%s\n", head, x->text);
			json_array_append_new(list,
			    json_pack("{s:s,s:s,s:I,s:s}", "file", x->path, "section", section,
			        "tokens", (json_int_t)tokens, "text", x->text));
		}
	}
}

long
project_facts(json_t *stable, const struct kcamp *camp, long budget)
{
	const char *name = kcamp_str(camp, "prompt.reference_project");
	auto_free char *folder = kcamp_path(camp, name), *salt = NULL;
	auto_buf struct kbuf text = { 0 };
	json_t *list = json_array(), *row;
	struct passages p = { 0 };
	struct words w;
	long spent = 0;
	size_t i;

	find_words(&w, stable);
	if (*name && budget)
		search(&p, &w, folder, "", 0);
	if (p.count)
		qsort(p.at, p.count, sizeof *p.at, by_score);
	show(&text, list, &p, budget);
	/* The authors of these texts do not know the seed of the campaign. */
	salt = kasprintf("%.0f/project", kcamp_num(camp, "seed"));
	json_array_foreach(list, i, row)
		spent += (long)kjson_int_or(row, "tokens", 0);
	json_object_set_new(
	    stable, "project", data_text(text.data, "passages of the reference project", salt));
	json_object_set_new(stable, "passages", list);
	for (i = 0; i < p.count; i++) {
		free(p.at[i].path);
		free(p.at[i].text);
	}
	for (i = 0; i < w.count; i++)
		free(w.word[i]);
	free(p.at);
	return spent;
}
