/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of each array a call touches. The call is made in a forked process that is thrown away,
 * with one of its arrays in a copy whose pages are opened as they are touched. That gives the last
 * page that is touched; further calls, with copies that end at protected memory, find the exact
 * place in it.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "kwatch.h"

/* Time limits for one call, and for all of them together. */
enum { CALL_S = 3, ALL_S = 5 };

enum outcome { CHILD, WITHIN, BEYOND, FAILED };

static struct {
	uintptr_t low, high; /* what may be copied */
	uintptr_t map, end;  /* the pages for the copy */
	uintptr_t at;        /* address of the copy of the array's first byte */
	uintptr_t closed;    /* nothing may touch the copy from here on */
	uintptr_t shift;     /* from the array to its copy */
} region;

/* In memory shared by parent and child. */
static struct {
	bool done, beyond, below;
	uintptr_t at, last; /* the copy; the end of its last touched page */
} * report;

static const struct kwatch_call *under_way; /* in a child */
static int64_t spent;
static uintptr_t page;

static uintptr_t
round_up(uintptr_t bytes)
{
	return (bytes + page - 1) & -page;
}

/* ---- in the child ---- */

static void
on_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr & -page, from = at - region.shift, to = from + page;

	(void)number;
	(void)context;
	report->beyond = at >= region.closed && at < region.end;
	report->below |= at >= region.map && at < region.at;
	if (at < region.map || at >= region.closed ||
	    mprotect((void *)at, page, PROT_READ | PROT_WRITE))
		_exit(1);
	from = from < region.low ? region.low : from;
	to = to > region.high ? region.high : to;
	if (from < to)
		memcpy((void *)(from + region.shift), (const void *)from, to - from);
	if (at + page > report->last)
		report->last = at + page;
}

/*
 * Nothing that the child does may be visible outside. OMP_SET_NUM_THREADS was found before, because
 * another thread may have held the linker's lock when the process was copied; whatever else waits
 * for such a lock is ended by the alarm.
 */
static void
keep_quiet(void *omp_set_num_threads)
{
	static const struct rlimit none = { 0, 0 };
	static const int numbers[] = { SIGSEGV, SIGBUS };
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	void (*threads)(int);
	sigset_t alarms;
	int fd;

	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(CALL_S);
	fd = open("/dev/null", O_WRONLY);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || setrlimit(RLIMIT_FSIZE, &none) ||
	    setrlimit(RLIMIT_CORE, &none))
		_exit(1);
	kforeach(number, numbers)
		sigaction(*number, &fault, NULL);
	/* The parent's threads do not exist here, and OpenMP would wait for its own. */
	memcpy(&threads, &omp_set_num_threads, sizeof threads);
	if (threads)
		threads(1);
}

/* Pointers into the array I, which are numbers for a task, move along with it. */
static void
move_along(const struct kwatch_call *c, size_t i)
{
	kwatch_each(k, c) {
		const struct kwatch_arg *a = &c->args[k];
		uintptr_t q;

		if (a->kind == KWATCH_POINTER || !a->place || a->item != i + 1)
			continue;
		memcpy(&q, a->place, sizeof q);
		q += region.shift;
		memcpy((void *)a->place, &q, sizeof q);
	}
}

/* Can the call get another array in the place of array I? */
static bool
can_move(const struct kwatch_call *c, size_t i)
{
	bool can = c->args[i].place;

	kwatch_each(k, c)
		can |= c->args[k].kind != KWATCH_POINTER && c->args[k].place &&
		    c->args[k].item == i + 1;
	return can && c->args[i].kind == KWATCH_POINTER && !c->args[i].extent;
}

/* The array I at P becomes its copy, which ends after BYTES, or has no end if they are 0. */
static void
redirect(const struct kwatch_call *c, size_t i, uintptr_t p, size_t bytes)
{
	uintptr_t before = round_up(p - region.low) + page, after = round_up(region.high - p);
	size_t all = before + 2 * (after + page) + page;
	void *map = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		_exit(1);
	region.map = (uintptr_t)map;
	region.end = region.map + all;
	region.closed = bytes ? region.map + before + page + round_up(bytes) : region.end;
	/* At the beginning of a page: what is before it is on another one. */
	region.at = bytes ? region.closed - bytes : region.map + before;
	region.shift = region.at - p;
	report->at = region.at;
	if (c->args[i].place)
		memcpy((void *)c->args[i].place, &region.at, sizeof region.at);
	move_along(c, i);
}

bool
kwatch_guard_child(void)
{
	return under_way != NULL;
}

void
kwatch_guard_stop(const struct kwatch_call *c)
{
	if (c != under_way)
		return;
	report->done = true;
	_exit(0);
}

/* ---- in the application ---- */

static enum outcome
attempt(const struct kwatch_call *c, size_t i, const struct kwatch_pointer *x, size_t bytes)
{
	void *omp = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
	pid_t pid;
	int status = 0;

	report->done = report->beyond = report->below = false;
	report->at = report->last = 0;
	pid = fork();
	if (!pid) {
		under_way = c;
		keep_quiet(omp);
		redirect(c, i, x->at, bytes);
		return CHILD;
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	/* A call that hangs would hang every time. */
	if (pid < 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
		spent = INT64_MAX;
	return report->done ? WITHIN : report->beyond ? BEYOND : FAILED;
}

/* The memory mapping that contains P, according to the kernel. */
static bool
find_mapping(uintptr_t p, uintptr_t *low, uintptr_t *high)
{
	char line[512], mode;
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f))
		found = sscanf(line, "%lx-%lx %c", low, high, &mode) == 3 && p >= *low &&
		    p < *high && mode == 'r';
	if (f)
		fclose(f);
	return found;
}

/* The most that a call could touch, as far as is known. */
static bool
set_limits(const struct kwatch_pointer *x)
{
	region.low = x->stack ? x->at : x->extent.start;
	region.high = x->stack ? x->at + x->more : x->extent.start + x->extent.bytes;
	return x->found || find_mapping(x->at, &region.low, &region.high);
}

/*
 * Determine what the call touches of array I; true in a child. If that ends in the last page of a
 * piece with nothing else in it, the piece is the array.
 */
static bool
measure(const struct kwatch_call *c, struct kwatch_pointer *x, size_t i)
{
	size_t item = c->args[i].item ?: 1, low, high, most;
	enum outcome o = attempt(c, i, x, 0);

	x->below = o == WITHIN && report->below;
	if (o != WITHIN || report->last <= report->at)
		return o == CHILD;
	high = report->last - report->at;
	most = region.high - x->at;
	if (x->found && !x->stack && x->room == most && high >= most) {
		x->reach = most;
		return false;
	}
	low = (high > page ? high - page : 0) / item;
	high = (high < most ? high : most) / item;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		o = attempt(c, i, x, middle * item);
		if (o == CHILD || o == FAILED)
			return o == CHILD;
		*(o == WITHIN ? &high : &low) = middle;
	}
	x->reach = high * item;
	return false;
}

/* Use the result as the array's extent, if there was none; otherwise report it. */
static void
use_reach(struct kwatch_pointer *x)
{
	size_t reach = x->reach;

	if (reach && (!x->found || x->stack)) {
		x->extent = (struct kwatch_extent){ x->at, reach, false };
		x->found = true;
		x->stack = false;
		x->room = x->more = reach;
		x->reach = 0;
	}
	if (reach > x->more)
		x->more = reach;
}

bool
kwatch_guard(const struct kwatch_call *c, struct kwatch_state *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool child = false;
	int64_t begun = kwatch_now();

	if (c->cuda || pthread_mutex_trylock(&lock))
		return false;
	if (!report) {
		page = (uintptr_t)sysconf(_SC_PAGESIZE);
		report =
		    mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		spent = report == MAP_FAILED ? INT64_MAX : 0;
	}
	for (size_t i = 0; i < c->count && !child; i++) {
		struct kwatch_pointer *x = &s->pointer[i];

		if (!x->at || !can_move(c, i) || spent > ALL_S * INT64_C(1000000000) ||
		    !set_limits(x))
			continue;
		child = measure(c, x, i);
		if (!child)
			use_reach(x);
	}
	if (!child) {
		spent += spent == INT64_MAX ? 0 : kwatch_now() - begun;
		pthread_mutex_unlock(&lock);
	}
	return child;
}
