/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a candidate's program, as they are kept and restored. See krecords.h. */

#include "kextract.h"
#include "krecords.h"

const char *
kernel_name(void)
{
	const char *dot = strrchr(campaign.task->reference, '.');

	return kshown("%s%s", campaign.task->entry, dot && !strchr(dot, '/') ? dot : "");
}

static void
add_source(struct program *p, char *path, const char *text)
{
	p->file[p->count++] = (struct source){ .path = path, .text = text };
}

/* Is one of two paths equal to the other, or a folder above it? */
static bool
in_the_way(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), less = n < m ? n : m;

	return !strncmp(a, b, less) && (n == m || (n < m ? b : a)[less] == '/');
}

/*
 * The files of a bundle keep their names. keval builds the kernel itself as candidate.SUFFIX, and
 * no file of a bundle may have a name that begins so; if a bundle has a file with the kernel's
 * proper name, the kernel gets this name here.
 */
void
program_of(const struct candidate *x, const char *name, struct program *p)
{
	const json_t *files = json_object_get(x->eval, "files");
	const char *dot = strrchr(name, '.');
	bool taken = kany(kjson_foreach(f, files), in_the_way(kjson_str(f, "path"), name));

	*p = (struct program){ 0 };
	if (!x->code)
		return;
	add_source(p, taken ? kasprintf("candidate%s", dot ?: "") : kstrdup(name), x->code);
	kjson_foreach(f, files) {
		const char *path = kjson_str(f, "path");
		bool fits = kextract_path_ok(path) && !kbegins(path, "candidate.") &&
		    p->count < LEN(p->file);

		for (size_t k = 1; k < p->count && fits; k++)
			fits = !in_the_way(path, p->file[k].path);
		if (fits)
			add_source(p, kstrdup(path), kjson_str(f, "content"));
	}
}

void
program_free(struct program *p)
{
	kforeach_of(one, p->file, p->count)
		free(one->path);
	*p = (struct program){ 0 };
}
