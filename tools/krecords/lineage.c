/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One commit for each accepted round, on a branch that starts where HEAD was when the first commit
 * was made. The seal stores that base (a line "branch") and the commits (lines "commit").
 * Everything in a commit comes from the records, so the same records on the same base give the same
 * hashes, and a run that was killed is continued by making them again. See krecords.h.
 */

#include "krecords.h"

enum { SUMMARY = 60, WORDS = 600, LOCK_S = 2 };

/*
 * ---- git, with plumbing commands only, which read and write objects and one reference; no index,
 * no working tree, no HEAD, and no hook of the repository is run ----
 */

#define OUTPUT_MAX ((size_t)256 << 20)

/*
 * Removes git's own variables, which would point to the caller's repository. References are used
 * directly, without refs/replace.
 */
static void
set_environment(void)
{
	for (char **v = environ; *v;)
		if (kbegins(*v, "GIT_")) {
			auto_free char *name = kuntil(*v, "=");

			unsetenv(name);
			v = environ;
		} else {
			v++;
		}
	setenv("LC_ALL", "C", 1);
	setenv("GIT_NO_REPLACE_OBJECTS", "1", 1);
	setenv("GIT_TERMINAL_PROMPT", "0", 1);
}

/* A command line of git; its first word of our own is ARGS[GIT_NAME]. */
#define GIT_ARGS(...) \
	((const char *const[]){ "git", "-c", "core.hooksPath=/dev/null", "-c", \
	    "core.fsmonitor=false", __VA_ARGS__, NULL })
enum { GIT_NAME = 5, GIT_S = 120 };

/* Run git; its exit code, or -1 when there is no git. The result is the caller's to free. */
static int
run(const char *const *args, const void *in, size_t in_len, struct kproc_result *result)
{
	struct kproc p = { .argv = (char *const *)args,
		.in = in,
		.in_len = in_len,
		.timeout_s = GIT_S,
		.max_output = OUTPUT_MAX };
	int rc;

	set_environment();
	rc = kproc_run(&p, result);
	if (rc < 0 && errno != ENOENT)
		kdie_io("git");
	return rc < 0 ? -1 : result->exit_code < 0 ? 255 : result->exit_code;
}

/*
 * Runs the git of ARGS with IN for stdin: its output without the last newline, which the caller
 * frees. On failure returns NULL if MAY_FAIL, else ends the program with git's message.
 */
static char *
git_run(const char *const *args, const void *in, size_t in_len, bool may_fail)
{
	auto_run struct kproc_result result = { 0 };
	int code = run(args, in, in_len, &result);

	if (code < 0)
		kdie(K_MISSING, "git: is not installed");
	if (code && !may_fail)
		kdie(K_IO, "git %s: exited with status %d: %.500s", args[GIT_NAME], code,
		    result.err_len ? result.err : "no message");
	if (code)
		return NULL;
	if (result.out_len && result.out[result.out_len - 1] == '\n')
		result.out_len--;
	return kmemdup(result.out, result.out_len);
}

#define GIT(...) git_run(GIT_ARGS(__VA_ARGS__), NULL, 0, false)
#define GIT_TRY(...) git_run(GIT_ARGS(__VA_ARGS__), NULL, 0, true)

/* The working tree of the repository, or NULL with the reason in *WHY; the caller frees. */
static char *
repo_top(const char **why)
{
	auto_run struct kproc_result result = { 0 };
	int code = run(GIT_ARGS("rev-parse", "--show-toplevel"), NULL, 0, &result);
	char *top = NULL;

	if (code < 0)
		*why = "git is not installed";
	else if (code)
		*why = kshown("%.*s", (int)strcspn(result.err, "\n"), result.err);
	else
		top = kuntil(result.out, "\n");
	return top;
}

static char *
git_object(const char *type, const void *data, size_t len, bool write)
{
	return git_run(
	    GIT_ARGS("hash-object", "-t", type, "--stdin", write ? "-w" : NULL), data, len, false);
}

/*
 * Entries of TREE except the one called NAME, whose object is put into *OBJECT: NULL if there is
 * none, "" if it is not a folder.
 */
static struct kbuf
other_entries(const char *tree, const char *name, char **object)
{
	struct kbuf others = { 0 };
	auto_free char *list =
	    tree ? GIT("-c", "core.quotePath=false", "ls-tree", "--full-tree", tree) : kstrdup("");

	*object = NULL;
	/* "MODE TYPE OBJECT\tNAME" */
	kpart_foreach(e, list, "\n") {
		const char *tab = strchr(e, '\t'), *sha = strchr(strchr(e, ' ') + 1, ' ') + 1;

		if (strcmp(tab + 1, name))
			kbuf_printf(&others, "%s\n", e);
		else
			*object = kstrndup(sha, kbegins(e, "040000 ") ? (size_t)(tab - sha) : 0);
	}
	return others;
}

/* TREE (NULL: empty) with the file PATH set to BLOB. */
static char *
git_tree_with(const char *tree, const char *path, const char *blob)
{
	const char *slash = strchr(path, '/');
	auto_free char *name = kstrndup(path, slash ? (size_t)(slash - path) : strlen(path));
	auto_free char *below = NULL;
	auto_buf struct kbuf entries = other_entries(tree, name, &below);

	if (below && !*below == !!slash)
		kdie_usage("git.kernel_path: '%s' is a %s in the repository", name,
		    slash ? "file, not a folder" : "folder, not a file");
	if (slash) {
		auto_free char *sub = git_tree_with(below, slash + 1, blob);

		kbuf_printf(&entries, "040000 tree %s\t%s\n", sub, name);
	} else {
		kbuf_printf(&entries, "100644 blob %s\t%s\n", blob, name);
	}
	return git_run(GIT_ARGS("mktree", "--missing"), entries.data, entries.len, false);
}

/* ---- the lineage ---- */

/* Accepted rounds, in order. */
static struct {
	const struct round **at;
	size_t count;
} chain;

static void
read_chain(void)
{
	free(chain.at);
	chain.at = kcalloc(campaign.count, sizeof *chain.at);
	chain.count = 0;
	kforeach_of(one, campaign.round, campaign.count)
		if (one->accepted)
			chain.at[chain.count++] = one;
}

/* The campaign's name as part of a path or a reference. */
static char *
plain_name(void)
{
	return kregex_sub("\\A\\.|[^\\w.-]", kcamp_str("name"), "_");
}

/* The branch that commits go to, or NULL; the caller frees. */
static char *
branch_of(void)
{
	const char *knob = kcamp_str("git.branch");
	auto_free char *name = plain_name();

	if (!strcmp(knob, "none") || !*knob)
		return NULL;
	return strcmp(knob, "auto") ? kstrdup(knob) : kasprintf("optimize/%s", name);
}

/*
 * The kernel's path in the repository; the caller frees. A path that ends in a slash is a folder.
 */
static char *
kernel_path(void)
{
	const char *knob = kcamp_str("git.kernel_path");
	const char *own = kernel_name();
	auto_free char *name = plain_name();
	char *path;

	if (!*knob)
		path = kasprintf("kernels/%s/%s", name, own);
	else
		path = kasprintf("%s%s", knob, knob[strlen(knob) - 1] == '/' ? own : "");
	/* Each part must be a plain name, so that nothing leads out of the tree or into .git. */
	if (kregex_is("(?i)(?:\\A|/)(?:\\.{0,2}|\\.git)(?:/|\\z)|[\n\t]", path))
		kdie_usage("git.kernel_path: '%s' must be a relative path of a file in the "
		           "repository",
		    path);
	return path;
}

/*
 * Seconds since 1970 for commits: those of the round, but never earlier than the round before it.
 */
static long long
commit_time(size_t i)
{
	long long last = 0;

	for (size_t k = 0; k <= i; k++) {
		struct tm tm = { 0 };

		if (*chain.at[k]->time && strptime(chain.at[k]->time, "%Y-%m-%dT%H:%M:%SZ", &tm) &&
		    (long long)timegm(&tm) > last)
			last = (long long)timegm(&tm);
	}
	return last;
}

static void
put_message(const struct round *r, const char *folder, struct kbuf *out)
{
	const struct candidate *x = r->accepted;
	const char *strategy = kjson_str_or(x->json, "sample.strategy", "new best");
	auto_free char *op = kfence_line(campaign.task->op ?: "", SUMMARY);
	auto_free char *summary =
	    kfence_line(r->trial ? kjson_str_or(x->plan, "change", strategy) : "baseline", SUMMARY);
	auto_free char *hypothesis =
	    kfence_line(r->trial ? kjson_str_or(x->plan, "hypothesis", strategy)
	                         : "none: the reference unchanged",
	        WORDS);

	kbuf_printf(out,
	    "[optimize] %s %s round-%ld: %s\n\nHypothesis: %s\nResult: %s\nDetails: "
	    "%slogs/optimize.md\n",
	    op, kcamp_str("backend"), r->number, *summary ? summary : strategy, hypothesis,
	    result_text(x), folder);
}

/*
 * Author and committer. Commits are checked byte by byte, so the user's own settings are not used.
 */
#define IDENTITY "kiln <kiln@localhost>"

/*
 * The tree of BASE (NULL: empty) with the program of a round; files that only an earlier round had
 * are not in it.
 */
static char *
make_tree(const struct round *r, const char *base, bool write)
{
	auto_free char *kernel = kernel_path();
	char *tree = kstrdup(base);
	struct program p;

	program_of(r->accepted, basename(kernel), &p);
	kforeach_of(one, p.file, p.count) {
		auto_free char *old = tree,
		               *blob = git_object("blob", one->text, strlen(one->text), write);

		tree = git_tree_with(old, kbeside(kernel, one->path), blob);
	}
	program_free(&p);
	return tree;
}

/* According to the seal: the last branch that was begun, and the commits on it. */
static struct lineage {
	const json_t *head; /* NULL: not begun */
	const char *base;   /* NULL: the repository has no commit */
	const json_t **commit;
	size_t count;
} lineage;

/*
 * The commit of round I of the chain, with the parent PARENT (NULL: none); the caller frees. Its
 * message names the campaign's folder, by its path in the repository when the branch was begun.
 */
static char *
make_commit(size_t i, const char *base, const char *parent, bool write)
{
	auto_free char *tree = make_tree(chain.at[i], base, write);
	long long when = commit_time(i);
	auto_buf struct kbuf text = { 0 };

	kbuf_printf(&text, "tree %s\n", tree);
	if (parent)
		kbuf_printf(&text, "parent %s\n", parent);
	kbuf_printf(&text, "author " IDENTITY " %lld +0000\ncommitter " IDENTITY " %lld +0000\n\n",
	    when, when);
	put_message(chain.at[i], kjson_str(lineage.head, "folder"), &text);
	return git_object("commit", text.data, text.len, write);
}

/* The object BEFORE NAME AFTER, or NULL; the caller frees. */
static char *
resolve(const char *before, const char *name, const char *after)
{
	return GIT_TRY("rev-parse", "-q", "--verify", kshown("%s%s%s", before, name, after));
}

static char *
tip_of(const char *branch)
{
	return resolve("refs/heads/", branch, "^{commit}");
}

/* The tree of the lineage's base, or NULL. */
static char *
base_tree(void)
{
	return lineage.base ? resolve("", lineage.base, "^{tree}") : NULL;
}

/*
 * Is the branch checked out? Moving it would make that working tree look modified. Returns the
 * folder, or NULL; the caller frees.
 */
static char *
checked_out(const char *branch)
{
	auto_free char *list = GIT("worktree", "list", "--porcelain");
	char *folder = NULL, *at = NULL;

	kpart_foreach(line, list, "\n")
		if (kbegins(line, "worktree "))
			at = line + 9;
		else if (at && !folder && !strcmp(line, kshown("branch refs/heads/%s", branch)))
			folder = kstrdup(at);
	return folder;
}

/*
 * kiln's own source tree does not count as the user's repository of kernels, unless the user says
 * so.
 */
static bool
is_own_tree(const char *repository)
{
	auto_free char *data = kdata_path("pipeline.mk");
	char *slash = strrchr(data, '/'), own[PATH_MAX], top[PATH_MAX];

	*slash = '\0';
	return kcamp_is("git.branch", "auto") && realpath(data, own) && realpath(repository, top) &&
	    !strcmp(own, top);
}

/*
 * git holds a reference's lock for milliseconds. One that stays belonged to a process that was
 * killed.
 */
static void
break_lock(const char *ref)
{
	auto_free char *name = kasprintf("%s.lock", ref),
	               *path = GIT("rev-parse", "--git-path", name);
	struct stat before, after;

	if (kfind_link(path, &before)) {
		sleep(LOCK_S);
		if (kfind_link(path, &after) && after.st_ino == before.st_ino)
			unlink(path);
	}
}

static void
read_lineage(void)
{
	free(lineage.commit);
	lineage = (struct lineage){ .commit = kcalloc(json_array_size(campaign.seal.lines) + 1,
		                        sizeof *lineage.commit) };
	kjson_foreach(line, campaign.seal.lines) {
		const char *kind = kjson_str(line, "kind");

		if (!strcmp(kind, "branch")) {
			lineage.head = line;
			lineage.count = 0;
		} else if (!strcmp(kind, "commit")) {
			lineage.commit[lineage.count++] = line;
		}
	}
	lineage.base = kjson_maybe(lineage.head, "base");
}

static const char *
commit_at(size_t i)
{
	return kjson_str(lineage.commit[i], "commit");
}

json_t *
commits_of(void)
{
	json_t *commits = json_object();

	read_lineage();
	kforeach_of(one, lineage.commit, lineage.count)
		json_object_set(commits, kjson_str(*one, "id"), json_object_get(*one, "commit"));
	return commits;
}

/* One digest over a round's whole program. */
static const char *
program_digest(const struct round *r)
{
	auto_buf struct kbuf b = kbuf_empty();
	struct program p;

	program_of(r->accepted, kernel_name(), &p);
	kforeach_of(one, p.file, p.count)
		kbuf_printf(&b, "%s  %s\n", ksha256_of(one->text), one->path);
	program_free(&p);
	return ksha256(b.data, b.len);
}

/*
 * Does commit I belong to a different round, or a different kernel, than the chain of the records?
 */
static bool
differs(size_t i)
{
	const char *digest;

	if (i >= chain.count || !kjson_is(lineage.commit[i], "id", chain.at[i]->accepted->id))
		return true;
	digest = program_digest(chain.at[i]);
	return strcmp(kjson_str_or(lineage.commit[i], "program", digest), digest);
}

#define refuse(branch, fmt, ...) (kwarn("branch %s: " fmt, branch, ##__VA_ARGS__), K_NO)

/* Move the branch from TIP (NULL: it does not exist) to NEW, unless it is checked out. */
static int
move_branch(const char *branch, const char *tip, const char *new)
{
	auto_free char *folder = checked_out(branch), *ref = kasprintf("refs/heads/%s", branch);
	int code = K_OK;

	if (folder) {
		code = refuse(branch,
		    "is checked out in %s; "
		    "check out another branch there, or name another in git.branch",
		    folder);
	} else {
		break_lock(ref);
		free(GIT("update-ref", "-m", "krecords: accepted rounds", ref, new, tip ?: ""));
	}
	return code;
}

/*
 * Makes the commits that the seal lacks, and moves the branch there from TIP. TIP is where the seal
 * left it, or one of these commits if a run was killed before it sealed them.
 */
static int
grow(const char *branch, const char *tip)
{
	auto_free char *tree = base_tree();
	const char *last = lineage.count ? commit_at(lineage.count - 1) : lineage.base;
	/* A branch that no longer exists is made again, from the base. */
	bool known = tip ? lineage.count && !strcmp(tip, last) : true;
	char *new = kstrdup(last);
	int code = K_OK;

	if (lineage.base && !tree)
		kdie_usage("git.branch: the base of %s, %s, is not in this repository any more; "
		           "name "
		           "another branch to begin a new lineage",
		    branch, lineage.base);
	for (size_t i = tip ? lineage.count : 0; i < chain.count; i++) {
		char *commit = make_commit(i, tree, i ? new : lineage.base, true);

		known |= tip && !strcmp(tip, commit);
		if (i >= lineage.count)
			kseal_add(&campaign.seal, "commit",
			    json_pack("{s:I,s:s,s:s,s:s}", "round", (json_int_t)chain.at[i]->number,
			        "id", chain.at[i]->accepted->id, "commit", commit, "program",
			        program_digest(chain.at[i])));
		free(new);
		new = commit;
	}
	if (!known)
		code = refuse(branch,
		    "is at %.12s, but krecords left it at %.12s; "
		    "put it back, or name another in git.branch",
		    tip, last ?: "no commit");
	else if (!tip || strcmp(tip, new))
		code = move_branch(branch, tip, new);
	/* If we are killed before this, the next run finds the branch as the records require. */
	if (!code)
		kseal_save(&campaign.seal);
	free(new);
	return code;
}

/* Sealed before the branch exists, so that its base is known whatever happens. */
static void
begin(const char *branch)
{
	auto_free char *base = resolve("", "HEAD", "^{commit}"),
	               *folder = GIT("rev-parse", "--show-prefix");

	kseal_add(&campaign.seal, "branch",
	    json_pack("{s:s,s:s,s:s*}", "branch", branch, "folder", folder, "base", base));
	kseal_save(&campaign.seal);
}

static int
commit_to(const char *branch)
{
	auto_free char *tip = tip_of(branch),
	               *valid = GIT_TRY("check-ref-format", "--branch", branch);
	int code = K_OK;

	if (!valid)
		kdie_usage("git.branch: '%s' is not a valid name of a branch", branch);
	/* Check the knobs before anything is begun. */
	free(kernel_path());
	read_chain();
	if (!lineage.head || !kjson_is(lineage.head, "branch", branch)) {
		if (tip)
			code = refuse(branch,
			    "exists, but is not the lineage of this campaign; "
			    "name another in git.branch");
		else
			begin(branch);
		read_lineage();
	}
	for (size_t i = 0; i < lineage.count && !code; i++)
		if (differs(i))
			code = refuse(branch,
			    "contains a round that the records no longer accept, or another "
			    "kernel; name another in git.branch to begin a new lineage");
	if (!code)
		code = grow(branch, tip);
	return code;
}

/* The branch for the commits, or NULL with the reason why there are none. */
static char *
find_branch(const char **why)
{
	char *branch = branch_of();
	auto_free char *top = NULL;

	*why = "git.branch is none";
	if (branch) {
		*why = NULL;
		top = repo_top(why);
	}
	if (top && is_own_tree(top))
		*why = "this is kiln's own source tree; name a branch in git.branch to commit here";
	if (*why) {
		free(branch);
		branch = NULL;
	}
	return branch;
}

int
write_commits(void)
{
	const char *why;
	auto_free char *branch = find_branch(&why);
	int code = branch ? commit_to(branch) : K_OK;

	/* Print it once, not after every round. */
	if (!branch && campaign.count <= 2)
		kwarn("no commits were made: %s", why);
	return code;
}

/*
 * Checks a commit against the records: its bytes, the kernel in it, and that it changes nothing
 * else.
 */
static void
check_commit(size_t i, const char *base, struct kfaults *f)
{
	const char *commit = commit_at(i);
	auto_free char *made = make_commit(i, base, i ? commit_at(i - 1) : lineage.base, false),
	               *there = GIT_TRY("cat-file", "-t", commit);

	if (strcmp(made, commit))
		kfault(f, "%s:%ld: round %ld is commit %s here, but %s in the records", KSEAL_FILE,
		    kjson_int(lineage.commit[i], "n"), chain.at[i]->number, commit, made);
	else if (!there)
		kfault(f,
		    "commit %s of round %ld is no longer in the repository; fetch it, or name "
		    "another branch in git.branch",
		    commit, chain.at[i]->number);
}

/* Checks all commits of a lineage, and where its branch is. */
static void
check_branch(const char *branch, struct kfaults *f)
{
	auto_free char *tree = base_tree(), *tip = tip_of(branch);

	read_chain();
	for (size_t i = 0; i < lineage.count && i < chain.count; i++)
		check_commit(i, tree, f);
	if (lineage.count != chain.count)
		kfault(f,
		    "branch %s: %zu commits, but %zu accepted rounds; krecords close makes what is "
		    "missing, or says what is in its way",
		    branch, lineage.count, chain.count);
	if (lineage.count && (!tip || strcmp(tip, commit_at(lineage.count - 1))))
		kfault(f, "branch %s: is at %.12s, but krecords left it at %.12s; put it back",
		    branch, tip ?: "nothing", commit_at(lineage.count - 1));
}

void
check_commits(struct kfaults *f, size_t *commits)
{
	const char *why;
	char *branch = find_branch(&why);

	*commits = lineage.count;
	if (lineage.count) {
		why = NULL;
		free(repo_top(&why));
		free(branch);
		branch = kstrdup(kjson_str(lineage.head, "branch"));
		if (why)
			kfault(f, "%s:%ld: commits on branch %s cannot be compared: %s", KSEAL_FILE,
			    kjson_int(lineage.head, "n"), branch, why);
	}
	if (branch && !why)
		check_branch(branch, f);
	free(branch);
}
