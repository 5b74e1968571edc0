/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that a GPU worked for a call, from CUPTI's activity records: these are exact for work of
 * microseconds, where events mostly measure the time to launch. The library is the one next to the
 * application's run-time library, if there is one; its types are declared here, with the layout of
 * the ABI.
 */
#include <sys/mman.h>

#include "kwatch.h"

enum {
	COPY = 1,
	SET = 2,
	DRIVER = 4,
	RUNTIME = 5,
	KERNEL = 10,
	EXTERNAL = 39, /* kinds of records */
	CUSTOM = 3,    /* a kind of EXTERNAL's */
	FORCED = 1,    /* unfinished buffers, too */
	BUFFER = 1 << 20,
	CALLS = 2048, /* calls whose spans are kept: more than are pending */
	KEPT = 1 << 16
};

static struct {
	int (*callbacks)(void (*request)(uint8_t **, size_t *, size_t *),
	    void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*enable)(int kind);
	int (*next)(uint8_t *buffer, size_t bytes, uint8_t **record);
	int (*flush)(uint32_t flags);
	int (*push)(int kind, uint64_t id);
	int (*pop)(int kind, uint64_t *id);
} cupti;

static bool works;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int within; /* nesting depth of calls: all work belongs to the outermost call */

/* The time span in which the device worked for a call. */
static struct span {
	uint64_t call, from, to;
} * spans;

/*
 * Work, and the call that it belongs to, identified by CUPTI's number. The two come in any order,
 * from any buffer; the numbers ascend.
 */
static struct work {
	uint32_t number;
	struct span at;
} * works_kept;

/* So that S, which may be empty, also contains BY. */
static void
widen(struct span *s, const struct span *by)
{
	if (!s->to || by->from < s->from)
		s->from = by->from;
	if (by->to > s->to)
		s->to = by->to;
}

static void
note(uint32_t number, const struct span *what)
{
	struct work *w = &works_kept[number % KEPT];
	struct span *s;

	if (w->number != number)
		*w = (struct work){ .number = number };
	if (what->call)
		w->at.call = what->call;
	else /* all kernels of a graph have the same number */
		widen(&w->at, what);
	if (!w->at.call || !w->at.to)
		return;
	s = &spans[w->at.call % CALLS];
	if (s->call != w->at.call)
		*s = (struct span){ .call = w->at.call };
	widen(s, &w->at);
}

/* Offset of the number in a record; the times are at the same offset in all. */
static void
take(const uint8_t *record)
{
	enum { TIMES = 16, NUMBER = 44, KERNEL_NUMBER = 92, CALL = 8, CALL_NUMBER = 16 };
	uint32_t kind, number = 0;
	struct span s = { 0 };

	memcpy(&kind, record, sizeof kind);
	if (kind == EXTERNAL) {
		memcpy(&s.call, record + CALL, sizeof s.call);
		memcpy(&number, record + CALL_NUMBER, sizeof number);
	} else if (kind == KERNEL || kind == COPY || kind == SET) {
		memcpy(&s.from, record + TIMES, 2 * sizeof s.from);
		memcpy(&number, record + (kind == KERNEL ? KERNEL_NUMBER : NUMBER), sizeof number);
	}
	if (s.call || s.to)
		note(number, &s);
}

static void
complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t bytes)
{
	uint8_t *record = NULL;

	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	while (bytes && !cupti.next(buffer, bytes, &record))
		take(record);
	pthread_mutex_unlock(&lock);
	munmap(buffer, BUFFER);
}

static void
request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = kwatch_pages(BUFFER);
	*size = *buffer ? BUFFER : 0;
	*most = 0;
}

/* The CUPTI library of the same release as the run-time library RUNTIME; NULL: there is none. */
static void *
open_library(const char *runtime)
{
	static const char *const folders[] = { "", "../extras/CUPTI/lib64/" };
	const char *slash = strrchr(runtime, '/'), *so = strstr(slash ?: runtime, ".so");
	int folder = slash ? (int)(slash + 1 - runtime) : 0;
	/* ".so.13" of "libcudart.so.13.0.88" */
	int release = so ? (int)(strncmp(so, ".so.", 4) ? 3 : 4 + strcspn(so + 4, ".")) : 0;
	void *library = NULL;

	for (size_t i = 0; so && i < LEN(folders) * 2 && !library; i++) {
		char path[2048];

		snprintf(path, sizeof path, "%.*s%slibcupti%.*s", folder, runtime, folders[i / 2],
		    i % 2 ? 3 : release, so);
		/* If the application uses CUPTI itself, leave it alone. */
		if (dlopen(path, RTLD_LAZY | RTLD_NOLOAD))
			return NULL;
		library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	}
	return library;
}

bool
kwatch_activity_open(const char *runtime)
{
	static const int kinds[] = { COPY, SET, DRIVER, RUNTIME, KERNEL, EXTERNAL };
	static const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "cuptiActivityRegisterCallbacks", &cupti.callbacks },
		{ "cuptiActivityEnable", &cupti.enable },
		{ "cuptiActivityGetNextRecord", &cupti.next },
		{ "cuptiActivityFlushAll", &cupti.flush },
		{ "cuptiActivityPushExternalCorrelationId", &cupti.push },
		{ "cuptiActivityPopExternalCorrelationId", &cupti.pop },
	};
	void *library = getenv("KWATCH_EVENTS") ? NULL : open_library(runtime), *at;

	works = library != NULL;
	kforeach(f, functions) {
		at = works ? dlsym(library, f->name) : NULL;
		memcpy(f->to, &at, sizeof at);
		works = at != NULL;
	}
	spans = works ? kwatch_pages(CALLS * sizeof *spans) : NULL;
	works_kept = spans ? kwatch_pages(KEPT * sizeof *works_kept) : NULL;
	works = works_kept && !cupti.callbacks(request, complete);
	kforeach(kind, kinds)
		works = works && !cupti.enable(*kind);
	return works;
}

void
kwatch_activity_begin(uint64_t call)
{
	if (works && !within++)
		cupti.push(CUSTOM, call);
}

void
kwatch_activity_end(void)
{
	uint64_t call;

	if (works && within && !--within)
		cupti.pop(CUSTOM, &call);
}

void
kwatch_activity_flush(void)
{
	if (works)
		cupti.flush(FORCED);
}

double
kwatch_activity_ns(uint64_t call)
{
	const struct span *s;
	double ns = 0;

	if (!works)
		return 0;
	pthread_mutex_lock(&lock);
	s = &spans[call % CALLS];
	if (s->call == call && s->to > s->from)
		ns = (double)(s->to - s->from);
	pthread_mutex_unlock(&lock);
	return ns;
}
