/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One commit for each accepted round, on a branch that grows from where HEAD was when the first one
 * was made. logs/lineage.ndjson remembers that base, and the commits; everything in a commit comes
 * from the records, so the same records on the same base give the same hashes. See kround.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kround.h"

#define LINEAGE_SCHEMA "lineage/1"
enum { SUMMARY = 60, WORDS = 600, LOCK_S = 2 };

struct lineage {
	json_t *head;    /* NULL: not begun */
	json_t *commits; /* array */
};

/* Accepted rounds, first to last. */
struct chain {
	const struct round **at;
	size_t count;
};

static struct chain
chain_of(const struct campaign *c)
{
	struct chain chain = { kcalloc(c->count, sizeof *chain.at), 0 };

	for (size_t i = 0; i < c->count; i++)
		if (c->round[i].accepted)
			chain.at[chain.count++] = &c->round[i];
	return chain;
}

/* The campaign's name as part of a path or a reference. */
static char *
plain_name(const struct campaign *c)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            "._-";
	char *name = kstrdup(c->name);

	for (char *p = name; *p; p++)
		if (!strchr(plain, *p) || (p == name && *p == '.'))
			*p = '_';
	return name;
}

/* The branch that commits go to, or NULL; the caller frees. */
static char *
branch_of(const struct campaign *c)
{
	const char *knob = kcamp_str(c->camp, "git.branch");
	char *name, *branch;

	if (!strcmp(knob, "none") || !*knob)
		return NULL;
	if (strcmp(knob, "auto"))
		return kstrdup(knob);
	name = plain_name(c);
	branch = kasprintf("optimize/%s", name);
	free(name);
	return branch;
}

/* Every component must be a plain name: nothing leads out of the tree, or into .git. */
static void
check_path(const char *path)
{
	const char *p = path;

	for (;;) {
		size_t n = strcspn(p, "/");

		if (!n || !strncmp(p, "..", n > 2 ? n : 2) || (n == 1 && *p == '.') ||
		    (n == 4 && !strncasecmp(p, ".git", 4)) || strcspn(p, "\n\t") < n)
			kdie(K_USAGE,
			    "git.kernel_path: '%s' must be a relative path of a file in the "
			    "repository",
			    path);
		if (!p[n])
			return;
		p += n + 1;
	}
}

/*
 * Where the kernel lives in the repository; the caller frees. A path that ends in a slash is a
 * folder.
 */
static char *
kernel_path(const struct campaign *c)
{
	const char *knob = kcamp_str(c->camp, "git.kernel_path");
	char *own = kernel_name(c), *name = plain_name(c), *path;

	if (!*knob)
		path = kasprintf("kernels/%s/%s", name, own);
	else
		path = kasprintf("%s%s", knob, knob[strlen(knob) - 1] == '/' ? own : "");
	check_path(path);
	free(own);
	free(name);
	return path;
}

/*
 * Seconds since 1970 for commits: those of the round, and never before those of the round before
 * it.
 */
static long long
commit_time(const struct chain *chain, size_t i)
{
	long long last = 0;

	for (size_t k = 0; k <= i; k++) {
		struct tm tm = { 0 };

		if (*chain->at[k]->time &&
		    strptime(chain->at[k]->time, "%Y-%m-%dT%H:%M:%SZ", &tm) &&
		    (long long)timegm(&tm) > last)
			last = (long long)timegm(&tm);
	}
	return last;
}

static void
put_message(const struct campaign *c, const struct round *r, struct kbuf *out)
{
	const struct candidate *x = r->accepted;
	const char *strategy = kjson_str_or(x->json, "sample.strategy", "new best");
	char *op = one_line(c->task->op, SUMMARY), *summary, *hypothesis;

	summary =
	    one_line(r->trial ? kjson_str_or(x->plan, "change", strategy) : "baseline", SUMMARY);
	hypothesis = one_line(r->trial ? kjson_str_or(x->plan, "hypothesis", strategy)
	                               : "none: the reference unchanged",
	    WORDS);
	kbuf_printf(out, "[optimize] %s %s round-%ld: %s\n\nHypothesis: %s\nResult: ", op,
	    kcamp_str(c->camp, "backend"), r->number, *summary ? summary : strategy, hypothesis);
	put_result(c, x, out);
	kbuf_printf(out, "\nDetails: %s/logs/optimize.md\n", c->name);
	free(op);
	free(summary);
	free(hypothesis);
}

/* Author and committer. Commits are checked byte by byte, so nobody's own settings count. */
#define IDENTITY "kiln <kiln@localhost>"

/* A commit of the chain, as it is or would be. */
struct made {
	char *commit, *tree;
	json_t *files; /* path in the repository: SHA-256 */
};

static void
made_free(struct made *m)
{
	free(m->commit);
	free(m->tree);
	json_decref(m->files);
	*m = (struct made){ 0 };
}

static char *
beside(const char *kernel, const char *name)
{
	const char *slash = strrchr(kernel, '/');

	return slash ? kasprintf("%.*s/%s", (int)(slash - kernel), kernel, name) : kstrdup(name);
}

/*
 * The commit of round I of the chain on PARENT (NULL: none). Its tree is the base's with this
 * round's files, so files that only an earlier round had are gone.
 */
static struct made
make_commit(const struct campaign *c, const struct chain *chain, size_t i, const char *base_tree,
    const char *parent, bool write)
{
	struct made m = { .tree = base_tree ? kstrdup(base_tree) : NULL, .files = json_object() };
	char *kernel = kernel_path(c), *slash = strrchr(kernel, '/');
	long long when = commit_time(chain, i);
	struct kbuf text = { 0 };
	struct program p;

	program_of(chain->at[i]->accepted, slash ? slash + 1 : kernel, &p);
	for (size_t k = 0; k < p.count; k++) {
		char *path = beside(kernel, p.file[k].path),
		     *blob = git_blob(p.file[k].data, p.file[k].len, write), *old = m.tree;

		m.tree = git_tree_with(old, path, blob);
		json_object_set_new(m.files, path, json_string(p.file[k].sha256));
		free(old);
		free(blob);
		free(path);
	}
	program_free(&p);
	kbuf_printf(&text, "tree %s\n", m.tree);
	if (parent)
		kbuf_printf(&text, "parent %s\n", parent);
	kbuf_printf(&text, "author " IDENTITY " %lld +0000\ncommitter " IDENTITY " %lld +0000\n\n",
	    when, when);
	put_message(c, chain->at[i], &text);
	m.commit = git_commit_object(text.data, write);
	kbuf_free(&text);
	free(kernel);
	return m;
}

static char *
resolve(const char *what)
{
	char *sha = GIT_TRY("rev-parse", "-q", "--verify", what);

	if (sha && !*sha) {
		free(sha);
		sha = NULL;
	}
	return sha;
}

static char *
tree_of(const char *commit)
{
	char *name = kasprintf("%s^{tree}", commit), *sha = resolve(name);

	free(name);
	return sha;
}

static char *
tip_of(const char *branch)
{
	char *name = kasprintf("refs/heads/%s^{commit}", branch), *sha = resolve(name);

	free(name);
	return sha;
}

static bool
lineage_load(struct lineage *l)
{
	struct krec rec;
	struct kin in;

	*l = (struct lineage){ .commits = json_array() };
	if (access(LINEAGE, F_OK) < 0)
		return false;
	kin_open(&in, LINEAGE);
	while (kin_next(&in, &rec)) {
		bool head = !strcmp(kjson_str_or(rec.json, "kind", ""), "branch");

		if (strcmp(kjson_str_or(rec.json, "schema", ""), LINEAGE_SCHEMA) ||
		    head != !l->head)
			kdie(K_USAGE, "%s:%ld: not a line of " LINEAGE_SCHEMA " in its place",
			    LINEAGE, rec.lineno);
		if (head)
			l->head = json_incref(rec.json);
		else
			json_array_append(l->commits, rec.json);
		krec_free(&rec);
	}
	kin_close(&in);
	return l->head != NULL;
}

static void
lineage_free(struct lineage *l)
{
	json_decref(l->head);
	json_decref(l->commits);
}

static void
put_line(struct kbuf *out, const json_t *line)
{
	char *text = json_dumps(line, KIO_DUMP);

	kbuf_printf(out, "%s\n", text);
	free(text);
}

static void
lineage_save(const struct lineage *l)
{
	struct kbuf text = { 0 };
	size_t i;
	json_t *line;

	put_line(&text, l->head);
	json_array_foreach(l->commits, i, line) put_line(&text, line);
	put_file(LINEAGE, text.data, text.len);
	kbuf_free(&text);
}

static void
lineage_begin(struct lineage *l, const char *branch, const char *base)
{
	l->head = json_pack(
	    "{s:s,s:s,s:s}", "schema", LINEAGE_SCHEMA, "kind", "branch", "branch", branch);
	if (base)
		json_object_set_new(l->head, "base", json_string(base));
}

static void
lineage_add(struct lineage *l, const struct round *r, const struct made *m)
{
	json_array_append_new(l->commits,
	    json_pack("{s:s,s:s,s:I,s:s,s:s,s:s,s:O}", "schema", LINEAGE_SCHEMA, "kind", "commit",
	        "round", (json_int_t)r->number, "id", r->accepted->id, "commit", m->commit, "tree",
	        m->tree, "files", m->files));
}

static const char *
commit_at(const struct lineage *l, size_t i)
{
	return kjson_str_or(json_array_get(l->commits, i), "commit", "");
}

/* A line speaks of another round, or of another kernel, than the chain of the records? */
static bool
differs(const struct lineage *l, size_t i, const struct campaign *c, const struct chain *chain)
{
	const json_t *line = json_array_get(l->commits, i), *files = json_object_get(line, "files");
	struct program p;
	bool differs = i >= chain->count || kjson_int_or(line, "round", 0) != chain->at[i]->number;
	const char *path;
	json_t *digest;
	char *name = kernel_name(c);

	if (!differs) {
		program_of(chain->at[i]->accepted, name, &p);
		differs = json_object_size(files) != p.count;
		json_object_foreach((json_t *)files, path, digest)
		{
			bool known = false;

			for (size_t k = 0; k < p.count; k++)
				known |= !strcmp(p.file[k].sha256,
				    json_string_value(digest) ? json_string_value(digest) : "");
			differs |= !known;
		}
		program_free(&p);
	}
	free(name);
	return differs;
}

/* Does the chain's first N rounds on BASE (NULL: none) end at TIP? Then they are the lineage. */
static bool
leads_to(struct lineage *l, const struct campaign *c, const struct chain *chain, size_t n,
    const char *base, const char *tip)
{
	char *tree = base ? tree_of(base) : NULL, *parent = base ? kstrdup(base) : NULL;
	bool found;

	for (size_t i = 0; i < n; i++) {
		struct made m = make_commit(c, chain, i, tree, parent, false);

		lineage_add(l, chain->at[i], &m);
		free(parent);
		parent = kstrdup(m.commit);
		made_free(&m);
	}
	found = !strcmp(parent, tip);
	if (!found)
		json_array_clear(l->commits);
	free(parent);
	free(tree);
	return found;
}

/*
 * A branch without its lineage file, as after a clone or a kill: how it was made is found by making
 * it again. Its last commit bears the message of an accepted round; that round's place in the chain
 * says how far below the base is.
 */
static bool
adopt(struct lineage *l, const struct campaign *c, const struct chain *chain, const char *branch,
    const char *tip)
{
	char *text = GIT("cat-file", "commit", tip), *body = strstr(text, "\n\n");
	bool found = false;

	for (size_t n = chain->count; n > 0 && body && !found; n--) {
		struct kbuf message = { 0 };
		char *name = kasprintf("%s~%zu", tip, n), *base;

		put_message(c, chain->at[n - 1], &message);
		/* git_run took the last newline away. */
		if (strlen(body + 2) == message.len - 1 &&
		    !strncmp(body + 2, message.data, message.len - 1)) {
			base = resolve(name);
			found = leads_to(l, c, chain, n, base, tip);
			if (found)
				lineage_begin(l, branch, base);
			free(base);
		}
		kbuf_free(&message);
		free(name);
	}
	free(text);
	return found;
}

/*
 * Somebody works on the branch: moving it would make their working tree look changed. The folder,
 * or NULL; the caller frees.
 */
static char *
checked_out(const char *branch)
{
	char *list = GIT("worktree", "list", "--porcelain"),
	     *wanted = kasprintf("branch refs/heads/%s", branch), *folder = NULL;

	for (char *save = NULL, *line = strtok_r(list, "\n", &save), *at = NULL; line && !folder;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "worktree ", 9))
			at = line + 9;
		else if (at && !strcmp(line, wanted))
			folder = kstrdup(at);
	}
	free(wanted);
	free(list);
	return folder;
}

/*
 * kiln's own source tree is not the repository that somebody keeps kernels in, unless they say so.
 */
static bool
is_own_tree(const struct campaign *c, const struct repo *g)
{
	char *data = kdata_path("pipeline.mk"), *slash = strrchr(data, '/'), own[PATH_MAX],
	     top[PATH_MAX];
	bool yes;

	*slash = '\0';
	yes = !strcmp(kcamp_str(c->camp, "git.branch"), "auto") && realpath(data, own) &&
	    realpath(g->top, top) && !strcmp(own, top);
	free(data);
	return yes;
}

static int
refuse(const char *branch, const char *why)
{
	kwarn("branch %s: %s", branch, why);
	return K_NO;
}

/*
 * The commits that are missing, from the last that stands on; the new tip, which the caller frees.
 */
static char *
extend(struct lineage *l, const struct campaign *c, const struct chain *chain, size_t from)
{
	const char *base = kjson_str_or(l->head, "base", NULL);
	char *tree = base ? tree_of(base) : NULL;
	char *tip = from ? kstrdup(commit_at(l, from - 1)) : base ? kstrdup(base) : NULL;

	if (base && !tree)
		kdie(K_USAGE,
		    "%s:1: its base %s is not in this repository; remove the file to begin a new "
		    "lineage",
		    LINEAGE, base);
	while (json_array_size(l->commits) > from)
		json_array_remove(l->commits, json_array_size(l->commits) - 1);
	for (size_t i = from; i < chain->count; i++) {
		struct made m = make_commit(c, chain, i, tree, tip, true);

		lineage_add(l, chain->at[i], &m);
		free(tip);
		tip = kstrdup(m.commit);
		made_free(&m);
	}
	free(tree);
	return tip;
}

/*
 * Is TIP one of the commits from number FROM on? A run that was killed had moved the branch and not
 * yet noted it.
 */
static bool
stands_at(const struct lineage *l, size_t from, const char *tip)
{
	for (size_t i = from; i < json_array_size(l->commits); i++)
		if (!strcmp(commit_at(l, i), tip))
			return true;
	return false;
}

/*
 * git holds a reference's lock for milliseconds. One that stays belonged to a process that was
 * killed.
 */
static void
break_lock(const char *ref)
{
	char *name = kasprintf("%s.lock", ref), *path = GIT("rev-parse", "--git-path", name);
	struct stat before, after;

	if (lstat(path, &before) == 0) {
		sleep(LOCK_S);
		if (lstat(path, &after) == 0 && after.st_ino == before.st_ino)
			unlink(path);
	}
	free(path);
	free(name);
}

static int
grow(struct lineage *l, const struct campaign *c, const struct chain *chain, const char *branch,
    const char *tip)
{
	size_t known = json_array_size(l->commits), from = tip ? known : 0;
	char *folder, *new = extend(l, c, chain, from), *ref = kasprintf("refs/heads/%s", branch);
	bool at_known = tip && known && !strcmp(commit_at(l, known - 1), tip);
	int code = K_OK;

	if (tip && !at_known && !stands_at(l, from, tip)) {
		char *why = kasprintf("is at %.12s, but kround left it at %.12s; name another "
		                      "branch in git.branch, or move it back",
		    tip, known ? commit_at(l, known - 1) : "no commit");

		code = refuse(branch, why);
		free(why);
	} else if (!tip || strcmp(tip, new)) {
		folder = checked_out(branch);
		if (folder) {
			char *why = kasprintf("is checked out in %s; check out another branch "
			                      "there, or name another branch in git.branch",
			    folder);

			code = refuse(branch, why);
			free(why);
		} else {
			break_lock(ref);
			free(GIT("update-ref", "-m", "kround: accepted rounds", ref, new,
			    tip ? tip : ""));
		}
		free(folder);
	}
	/* Killed before this, the next run finds the branch as the records would have it. */
	if (!code)
		lineage_save(l);
	free(ref);
	free(new);
	return code;
}

static int
commit_to(const struct campaign *c, const char *branch)
{
	struct chain chain = chain_of(c);
	struct lineage l;
	char *tip = tip_of(branch), *base = NULL,
	     *valid = GIT_TRY("check-ref-format", "--branch", branch);
	int code = K_OK;

	if (!valid)
		kdie(K_USAGE, "git.branch: '%s' is not a valid name of a branch", branch);
	/* Faults of knobs come before anything is begun. */
	free(kernel_path(c));
	if (!lineage_load(&l) && (!tip || !adopt(&l, c, &chain, branch, tip))) {
		if (tip)
			code = refuse(branch,
			    "exists, but is not the lineage of this campaign; name another branch "
			    "in git.branch");
		else
			lineage_begin(&l, branch, base = resolve("HEAD^{commit}"));
	}
	if (!code && strcmp(kjson_str_or(l.head, "branch", ""), branch))
		code = refuse(branch,
		    "is not the one that " LINEAGE " is about; remove that file to begin a new "
		    "lineage");
	for (size_t i = 0; i < json_array_size(l.commits) && !code; i++)
		if (differs(&l, i, c, &chain))
			code = refuse(branch,
			    "contains a round that the records no longer accept, or another "
			    "kernel; name another branch in git.branch and remove " LINEAGE " to "
			    "begin "
			    "a "
			    "new lineage");
	if (!code)
		code = grow(&l, c, &chain, branch, tip);
	lineage_free(&l);
	free(chain.at);
	free(valid);
	free(base);
	free(tip);
	return code;
}

int
write_commits(const struct campaign *c, const struct options *o)
{
	char *branch = branch_of(c);
	struct repo g = { 0 };
	int code = K_OK;

	if (branch) {
		g = repo_find();
		if (g.top && is_own_tree(c, &g))
			g.why = "this is kiln's own source tree; name a branch in git.branch to "
			        "commit here";
		if (!g.why)
			code = commit_to(c, branch);
		else if (!o->quiet)
			kwarn("no commits were made: %s", g.why);
	} else if (!o->quiet) {
		kwarn("no commits were made, because git.branch is \"none\"");
	}
	repo_free(&g);
	free(branch);
	return code;
}

/* A commit against the records: its bytes, the kernel in it, and that it changes nothing else. */
static void
check_commit(const struct campaign *c, const struct chain *chain, const struct lineage *l, size_t i,
    const char *base_tree, struct faults *f)
{
	const char *commit = commit_at(l, i), *base = kjson_str_or(l->head, "base", NULL);
	struct made m = make_commit(c, chain, i, base_tree, i ? commit_at(l, i - 1) : base, false);
	char *there = GIT_TRY("cat-file", "-t", commit);

	if (strcmp(m.commit, commit))
		add_fault(f, "%s:%zu: round %ld is commit %s here, but %s in the records", LINEAGE,
		    i + 2, chain->at[i]->number, commit, m.commit);
	else if (!there)
		add_fault(f, "commit %s of round %ld is no longer in the repository", commit,
		    chain->at[i]->number);
	free(there);
	made_free(&m);
}

/* No lineage: then there is nothing that a run would commit, or somebody took it away. */
static void
check_absent(const struct campaign *c, struct faults *f)
{
	char *branch = branch_of(c);
	struct repo g = { 0 };

	if (branch)
		g = repo_find();
	if (g.top && !is_own_tree(c, &g))
		add_fault(f,
		    "%s is missing, so the commits on %s cannot be checked; run kround close to "
		    "make it again",
		    LINEAGE, branch);
	repo_free(&g);
	free(branch);
}

void
check_commits(const struct campaign *c, struct faults *f, size_t *commits)
{
	struct chain chain = chain_of(c);
	struct lineage l;
	struct repo g = { 0 };

	if (lineage_load(&l))
		g = repo_find();
	else
		check_absent(c, f);
	if (g.why)
		add_fault(f, "%s: %s", LINEAGE, g.why);
	if (g.top) {
		const char *branch = kjson_str_or(l.head, "branch", ""),
		           *base = kjson_str_or(l.head, "base", NULL);
		char *tree = base ? tree_of(base) : NULL, *tip = tip_of(branch);
		size_t n = json_array_size(l.commits);

		for (size_t i = 0; i < n && i < chain.count; i++)
			check_commit(c, &chain, &l, i, tree, f);
		if (n != chain.count)
			add_fault(
			    f, "%s: %zu commits, but %zu accepted rounds", LINEAGE, n, chain.count);
		if (n && (!tip || strcmp(tip, commit_at(&l, n - 1))))
			add_fault(f, "branch %s: is at %.12s, but kround left it at %.12s", branch,
			    tip ? tip : "nothing", commit_at(&l, n - 1));
		*commits = n;
		free(tree);
		free(tip);
	}
	repo_free(&g);
	lineage_free(&l);
	free(chain.at);
}

char *
committed_file(const struct round *r, const char *digest, size_t *len)
{
	struct lineage l;
	struct repo g = { 0 };
	char *data = NULL;
	const char *path;
	size_t i;
	json_t *line, *sha;

	if (lineage_load(&l))
		g = repo_find();
	json_array_foreach(l.commits, i, line)
	{
		if (!g.top || kjson_int_or(line, "round", 0) != r->number)
			continue;
		json_object_foreach(json_object_get(line, "files"), path, sha)
		{
			char *name;

			if (data ||
			    strcmp(json_string_value(sha) ? json_string_value(sha) : "", digest))
				continue;
			name = kasprintf("%s:%s", commit_at(&l, i), path);
			data = git_run((const char *const[]){ "cat-file", "blob", name, NULL },
			    NULL, 0, true, len);
			free(name);
		}
	}
	repo_free(&g);
	lineage_free(&l);
	return data;
}
