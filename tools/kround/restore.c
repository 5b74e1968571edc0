/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of an accepted round, byte for byte, from its snapshot or its commit. See kround.h. */
#include <stdlib.h>
#include <string.h>

#include "kround.h"

#define SOURCE_MAX ((size_t)64 << 20)

static const struct round *
wanted(const struct campaign *c, long number)
{
	const struct round *r;

	if ((size_t)number > c->count)
		kdie(K_USAGE, "--round %ld: there are %zu rounds", number, c->count);
	r = number ? &c->round[number - 1] : last_accepted(c);
	if (!r->accepted)
		kdie(K_NO, "round %ld was not accepted; the last accepted round is %ld", number,
		    last_accepted(c)->number);
	return r;
}

/* Whole: its digest is that of the program in the evaluation. */
static bool
is_whole(const char *data, size_t len, const char *digest)
{
	char hex[65];

	if (!data)
		return false;
	ksha256_hex(data, len, hex);
	return !strcmp(hex, digest);
}

static char *
fetch(const struct campaign *c, const struct round *r, const struct source *s, const char *from,
    size_t *len)
{
	char *path = snapshot_path(c, r, r->accepted, s->path), *data = NULL;

	if (!from || !strcmp(from, "snapshot"))
		data = kread_file(path, SOURCE_MAX, len);
	if (!is_whole(data, *len, s->sha256) && (!from || !strcmp(from, "git"))) {
		if (!from)
			kwarn("%s: %s; taken from git instead", path,
			    data ? "was changed" : "is not there");
		free(data);
		data = committed_file(r, s->sha256, len);
	}
	if (!is_whole(data, *len, s->sha256))
		kdie(K_NO, "round %ld: %s is %s with sha256 %s", r->number, s->path,
		    from ? "not available from --from" : "neither in the snapshot nor in git",
		    s->sha256);
	free(path);
	return data;
}

int
restore_round(const struct campaign *c, const struct options *o)
{
	const struct round *r = wanted(c, o->round);
	struct program p;
	char *name = kernel_name(c), *data[LEN(p.file)];
	size_t len[LEN(p.file)];

	program_of(r->accepted, name, &p);
	/* All of it, or nothing. */
	for (size_t i = 0; i < p.count; i++)
		data[i] = fetch(c, r, &p.file[i], o->from, &len[i]);
	for (size_t i = 0; i < p.count; i++) {
		char *path = kasprintf("%s/%s", o->output, p.file[i].path);

		put_file(path, data[i], len[i]);
		free(path);
		free(data[i]);
	}
	program_free(&p);
	free(name);
	return K_OK;
}
