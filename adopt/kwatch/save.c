/* SPDX-License-Identifier: Apache-2.0 */
/* Saves arrays of chosen calls as files: a kernel's inputs, and its results. */
#include "kwatch.h"

enum { WANTED = 64, LINE = 4096, HEADER = 128 };

struct kwatch_wanted {
	char line[LINE]; /* NAME SKIP KEY -ARRAY… */
	char name[64];
	const char *arrays;
	long skip;
	uint64_t key;
	bool taken;
};

bool kwatch_saving;
static struct kwatch_wanted *wanted; /* WANTED of them */
static size_t wanted_count;
static char out[3072];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void __attribute__((constructor)) read_wanted(void)
{
	const char *path = getenv("KWATCH_SAVE");
	FILE *f = path ? fopen(path, "re") : NULL;

	kwatch_saving = path != NULL;
	wanted = path ? kwatch_pages(WANTED * sizeof *wanted) : NULL;
	snprintf(out, sizeof out, "%s", path ?: "");
	while (f && wanted && wanted_count < WANTED && fgets(wanted[wanted_count].line, LINE, f)) {
		struct kwatch_wanted *w = &wanted[wanted_count];
		int at = 0;

		w->line[strcspn(w->line, "\n")] = '\0';
		if (sscanf(w->line, "%63s %ld %lx%n", w->name, &w->skip, &w->key, &at) == 3)
			w->arrays = w->line + at, wanted_count++;
	}
	if (f)
		fclose(f);
}

struct kwatch_wanted *
kwatch_save_wanted(uint64_t key)
{
	struct kwatch_wanted *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < wanted_count && !found; i++) {
		struct kwatch_wanted *w = &wanted[i];

		if (w->taken || w->key != key)
			continue;
		w->taken = w->skip-- <= 0;
		found = w->taken ? w : NULL;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Is the array NAME one of those that are not saved? */
static bool
is_left_out(const struct kwatch_wanted *w, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = w->arrays; (p = strstr(p, " -")); p++)
		if (!strncmp(p + 2, name, n) && (!p[2 + n] || p[2 + n] == ' '))
			return true;
	return false;
}

/* NumPy's format, version 1: with enough space to insert the elements' type later. */
static void
put_header(int fd, size_t bytes)
{
	char head[HEADER + 1];
	int n = snprintf(head, sizeof head,
	    "%cNUMPY%c%c%c%c{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", 0x93, 1,
	    0, HEADER - 10, 0, bytes);

	memset(head + n, ' ', HEADER - (size_t)n - 1);
	head[HEADER - 1] = '\n';
	kwatch_put(&fd, head, HEADER);
}

void
kwatch_save(const struct kwatch_wanted *w, const struct kwatch_pointer *x,
    const struct kwatch_call *c, const char *name, const char *when)
{
	char path[4096];
	int fd;

	if (is_left_out(w, name))
		return;
	snprintf(path, sizeof path, "%s.%s.%s.%s.npy", out, w->name, name, when);
	/* If several processes make the same call, the first one saves it. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	put_header(fd, x->more);
	if (!x->extent.device)
		kwatch_put(&fd, (const void *)x->at, x->more);
	else if (!kwatch_device_read(x->at, x->more, kwatch_stream(c), kwatch_put, &fd))
		unlink(path);
	close(fd);
}
