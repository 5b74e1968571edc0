/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The repository that holds the campaign. Only commands that read and write objects and one
 * reference: no index, no working tree, no HEAD, and no hook of the repository is run. See
 * kround.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kproc.h"
#include "kround.h"

#define OUTPUT_MAX ((size_t)256 << 20)
enum { GIT_ARGS = 32, GIT_S = 120 };

extern char **environ;

/*
 * Our environment without git's own variables: where a caller's git points to is not meant.
 * References are taken as they are, not as refs/replace would have them. The caller frees the list
 * alone.
 */
static char **
environment(void)
{
	static char ours[][32] = { "LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0" };
	size_t n = 0, k = 0;
	char **env;

	while (environ[n])
		n++;
	env = kcalloc(n + LEN(ours) + 1, sizeof *env);
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "GIT_", 4) && strncmp(environ[i], "LC_ALL=", 7))
			env[k++] = environ[i];
	for (size_t i = 0; i < LEN(ours); i++)
		env[k++] = ours[i];
	return env;
}

static char **
command(const char *const *args)
{
	static const char *const fixed[] = { "git", "-c", "core.hooksPath=/dev/null", "-c",
		"core.fsmonitor=false" };
	char **argv = kcalloc(GIT_ARGS + LEN(fixed), sizeof *argv);
	size_t n = 0;

	for (size_t i = 0; i < LEN(fixed); i++)
		argv[n++] = (char *)fixed[i];
	for (; *args && n < GIT_ARGS + LEN(fixed) - 1; args++)
		argv[n++] = (char *)*args;
	return argv;
}

/* Run git; its exit code, or -1 when there is no git. The result is the caller's to free. */
static int
run(const char *const *args, const void *in, size_t in_len, struct kproc_result *result)
{
	char **argv = command(args), **env = environment();
	struct kproc p = { .argv = argv,
		.envp = env,
		.in = in,
		.in_len = in_len,
		.timeout_s = GIT_S,
		.max_output = OUTPUT_MAX };
	int rc = kproc_run(&p, result), code;

	if (rc < 0 && errno != ENOENT)
		kdie_errno(K_IO, "git");
	code = rc < 0 ? -1 : result->exit_code < 0 ? 255 : result->exit_code;
	free(env);
	free(argv);
	return code;
}

char *
git_run(const char *const *args, const void *in, size_t in_len, bool may_fail, size_t *len)
{
	struct kproc_result result = { 0 };
	int code = run(args, in, in_len, &result);
	char *out = NULL;

	if (code < 0)
		kdie(K_MISSING, "git: is not installed");
	if (code && !may_fail)
		kdie(K_IO, "git %s: exited with %d: %.500s", args[0], code,
		    result.err_len ? result.err : "no message");
	if (!code) {
		if (len)
			*len = result.out_len;
		else if (result.out_len && result.out[result.out_len - 1] == '\n')
			result.out[--result.out_len] = '\0';
		out = kmalloc(result.out_len + 1);
		memcpy(out, result.out, result.out_len + 1);
	}
	kproc_result_free(&result);
	return out;
}

struct repo
repo_find(void)
{
	static const char *const args[] = { "rev-parse", "--show-toplevel", NULL };
	struct kproc_result result = { 0 };
	struct repo g = { 0 };
	int code = run(args, NULL, 0, &result);

	if (code < 0)
		g.why = "git is not installed";
	else if (code &&
	    (strstr(result.err, "not a git repository") ||
	        strstr(result.err, "must be run in a work tree")))
		g.why = "no git repository holds this campaign";
	else if (code)
		kdie(K_IO, "git rev-parse: %.500s", result.err);
	else
		g.top = kstrndup(result.out, strcspn(result.out, "\n"));
	if (code >= 0)
		kproc_result_free(&result);
	return g;
}

void
repo_free(struct repo *g)
{
	free(g->top);
	*g = (struct repo){ 0 };
}

char *
git_blob(const void *data, size_t len, bool write)
{
	const char *const args[] = { "hash-object", "-t", "blob", "--stdin", write ? "-w" : NULL,
		NULL };

	return git_run(args, data, len, false, NULL);
}

char *
git_commit_object(const char *text, bool write)
{
	const char *const args[] = { "hash-object", "-t", "commit", "--stdin", write ? "-w" : NULL,
		NULL };

	return git_run(args, text, strlen(text), false, NULL);
}

/*
 * Entries of TREE but the one called NAME, whose object is put into *OBJECT: NULL without one, ""
 * when it is no folder.
 */
static struct kbuf
other_entries(const char *tree, const char *name, char **object)
{
	const char *const args[] = { "ls-tree", "-z", "--full-tree", tree, NULL };
	struct kbuf others = { 0 };
	size_t len = 0;
	char *list = tree ? git_run(args, NULL, 0, false, &len) : kstrdup("");

	*object = NULL;
	/* "MODE TYPE OBJECT\tNAME\0" */
	for (const char *e = list; e < list + len; e += strlen(e) + 1) {
		const char *tab = strchr(e, '\t'),
		           *sha = strchr(e, ' ') + 1 + strcspn(strchr(e, ' ') + 1, " ") + 1;

		if (strcmp(tab + 1, name))
			kbuf_add(&others, e, strlen(e) + 1);
		else
			*object = strncmp(e, "040000 ", 7) ? kstrdup("")
			                                   : kstrndup(sha, (size_t)(tab - sha));
	}
	free(list);
	return others;
}

char *
git_tree_with(const char *tree, const char *path, const char *blob)
{
	static const char *const mktree[] = { "mktree", "-z", "--missing", NULL };
	const char *slash = strchr(path, '/');
	char *name = kstrndup(path, slash ? (size_t)(slash - path) : strlen(path)), *below, *result;
	struct kbuf entries = other_entries(tree, name, &below);

	if (slash && below && !*below)
		kdie(K_USAGE, "git.kernel_path: '%s' is a file in the repository, not a folder",
		    name);
	if (!slash && below && *below)
		kdie(K_USAGE, "git.kernel_path: '%s' is a folder in the repository, not a file",
		    name);
	if (slash) {
		char *sub = git_tree_with(below, slash + 1, blob);

		kbuf_printf(&entries, "040000 tree %s\t%s", sub, name);
		free(sub);
	} else {
		kbuf_printf(&entries, "100644 blob %s\t%s", blob, name);
	}
	kbuf_add(&entries, "", 1);
	result = git_run(mktree, entries.data, entries.len, false, NULL);
	kbuf_free(&entries);
	free(below);
	free(name);
	return result;
}
