/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the application has allocated: allocation functions are replaced by ones that record each
 * piece. The records are hash tables, keyed by address, in memory that only this library uses.
 */
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kwatch.h"

/* ---- the table ---- */

enum { FIRST_ROOM = 1 << 6 };
#define GONE ((uintptr_t)1)

/* Many, so that threads that allocate small pieces all the time do not wait for each other. */
static struct table {
	pthread_mutex_t lock;
	struct kwatch_extent *slots;
	size_t room, used; /* USED: entries that are not empty, including GONE ones */
} tables[256] = { [0 ... LEN(tables) - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER } };

static uint64_t
hash(uintptr_t start)
{
	return start * UINT64_C(0x9E3779B97F4A7C15);
}

static struct table *
table_of(uintptr_t start)
{
	return &tables[hash(start) >> 56];
}

/* By the system call, because mmap below is one of the replaced functions. */
void *
kwatch_pages(size_t bytes)
{
	long at = syscall(
	    SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == -1 ? NULL : (void *)at;
}

/*
 * The entry of this address, or the one to use for it: the first that is gone, or else the first
 * empty one.
 */
static struct kwatch_extent *
slot(struct kwatch_extent *t, size_t n, uintptr_t start)
{
	size_t i = (size_t)(hash(start) >> 20) & (n - 1);
	struct kwatch_extent *gone = NULL;

	for (; t[i].start && t[i].start != start; i = (i + 1) & (n - 1))
		if (t[i].start == GONE && !gone)
			gone = &t[i];
	return gone && !t[i].start ? gone : &t[i];
}

/* Doubles the table; or keeps its size, when most entries are gone. */
static bool
grow(struct table *t)
{
	size_t live = 0, n;
	struct kwatch_extent *slots;

	kforeach_of(e, t->slots, t->room)
		live += e->start > GONE;
	n = !t->room ? FIRST_ROOM : live > t->room / 4 ? t->room * 2 : t->room;
	slots = kwatch_pages(n * sizeof *slots);
	if (!slots)
		return false;
	kforeach_of(e, t->slots, t->room)
		if (e->start > GONE)
			*slot(slots, n, e->start) = *e;
	if (t->slots)
		syscall(SYS_munmap, t->slots, t->room * sizeof *t->slots);
	t->slots = slots;
	t->room = n;
	t->used = live;
	return true;
}

void
kwatch_extent_add(void *start, size_t bytes, bool device)
{
	struct table *t = table_of((uintptr_t)start);
	struct kwatch_extent *e;

	if (!kwatch_on || kwatch_timing_only || !start || !bytes)
		return;
	pthread_mutex_lock(&t->lock);
	if (2 * t->used < t->room || grow(t)) {
		e = slot(t->slots, t->room, (uintptr_t)start);
		t->used += !e->start;
		*e = (struct kwatch_extent){ (uintptr_t)start, bytes, device };
	}
	pthread_mutex_unlock(&t->lock);
}

void
kwatch_extent_drop(const void *start)
{
	struct table *t = table_of((uintptr_t)start);
	struct kwatch_extent *e;

	if (!kwatch_on || kwatch_timing_only || !start)
		return;
	pthread_mutex_lock(&t->lock);
	e = t->room ? slot(t->slots, t->room, (uintptr_t)start) : NULL;
	if (e && e->start)
		e->start = GONE;
	pthread_mutex_unlock(&t->lock);
}

/* ---- variables of the program, by its symbol table ---- */

static int
first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

static const Elf64_Ehdr *
own_program(size_t *len)
{
	static const Elf64_Ehdr *elf;
	static size_t bytes;
	int fd = elf ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	long at;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > (off_t)sizeof *elf) {
		bytes = (size_t)st.st_size;
		at = syscall(SYS_mmap, NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		elf = at == -1 ? NULL : (const Elf64_Ehdr *)at;
	}
	if (fd >= 0)
		close(fd);
	*len = bytes;
	return elf;
}

static bool
variable_extent(uintptr_t p, struct kwatch_extent *e)
{
	size_t len;
	const Elf64_Ehdr *elf = own_program(&len);
	const Elf64_Shdr *section;
	uintptr_t base = 0;

	if (!elf || !elf->e_shoff || elf->e_shoff + (size_t)elf->e_shnum * sizeof *section > len)
		return false;
	dl_iterate_phdr(first_object, &base);
	section = (const Elf64_Shdr *)((const char *)elf + elf->e_shoff);
	for (size_t i = 0; i < elf->e_shnum; i++) {
		const Elf64_Sym *symbol =
		    (const Elf64_Sym *)((const char *)elf + section[i].sh_offset);

		if (section[i].sh_type != SHT_SYMTAB ||
		    section[i].sh_offset + section[i].sh_size > len)
			continue;
		for (size_t k = 0; k < section[i].sh_size / sizeof *symbol; k++)
			if (ELF64_ST_TYPE(symbol[k].st_info) == STT_OBJECT &&
			    p >= base + symbol[k].st_value &&
			    p < base + symbol[k].st_value + symbol[k].st_size) {
				*e = (struct kwatch_extent){ base + symbol[k].st_value,
					symbol[k].st_size, false };
				return true;
			}
	}
	return false;
}

static bool
find_start(uintptr_t p, struct kwatch_extent *e)
{
	struct table *t = table_of(p);
	bool found;

	pthread_mutex_lock(&t->lock);
	if (t->room)
		*e = *slot(t->slots, t->room, p);
	found = t->room && e->start == p;
	pthread_mutex_unlock(&t->lock);
	return found;
}

/* Where pieces begin that had a pointer into their middle. */
static uintptr_t recent[64];

static bool
holds(const struct kwatch_extent *e, uintptr_t p)
{
	return e->start > GONE && p > e->start && p < e->start + e->bytes;
}

static bool
find_recent(uintptr_t p, struct kwatch_extent *e)
{
	return kany(kforeach(start, recent), find_start(*start, e) && holds(e, p));
}

/* The smallest piece is right: a mapping contains what was allocated from it. */
static bool
find_middle(uintptr_t p, struct kwatch_extent *e)
{
	bool found = false;

	kforeach(t, tables) {
		pthread_mutex_lock(&t->lock);
		kforeach_of(piece, t->slots, t->room)
			if (holds(piece, p) && (!found || piece->bytes < e->bytes)) {
				*e = *piece;
				found = true;
			}
		pthread_mutex_unlock(&t->lock);
	}
	if (found)
		recent[hash(e->start) % LEN(recent)] = e->start;
	return found;
}

/* A pointer to the middle: rare enough for a full search, after the recently found pieces. */
bool
kwatch_extent_find(const void *pointer, struct kwatch_extent *e)
{
	uintptr_t p = (uintptr_t)pointer;

	return p &&
	    (find_start(p, e) || find_recent(p, e) || find_middle(p, e) || variable_extent(p, e));
}

/* ---- the functions that allocate ---- */

/*
 * dlsym itself may allocate before there is a function to call: use this memory, which is never
 * freed.
 */
static _Alignas(64) char early[1 << 16];
static size_t early_used;

static bool
is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof early;
}

static void *
early_memory(size_t bytes)
{
	size_t at = __atomic_fetch_add(&early_used, (bytes + 63) & ~(size_t)63, __ATOMIC_SEQ_CST);

	return at + bytes <= sizeof early ? early + at : NULL;
}

/* Volatile, because dlsym is declared as a leaf: it would not call what is here. */
static __thread volatile bool searching;

/* NULL while the search itself allocates. */
static void *
next(void **at, const char *name)
{
	if (!*at && !searching) {
		searching = true;
		*at = dlsym(RTLD_NEXT, name);
		searching = false;
	}
	return *at;
}

/*
 * REPLACE defines a function that the application calls instead of its library's NAME, REAL; it has
 * another name here, so that nothing else in this library is taken for a caller of it.
 */
#define REPLACE(type, name, parameters) \
	type watched_##name parameters __asm__(#name); \
	type watched_##name parameters

#define REAL(type, name, parameters) \
	static void *at_##name; \
	type(*real) parameters = (type(*) parameters)next(&at_##name, #name)

#define ALLOCATE(name, parameters, arguments, bytes) \
	REPLACE(void *, name, parameters) \
	{ \
		REAL(void *, name, parameters); \
		void *p = real ? real arguments : early_memory(bytes); \
		kwatch_extent_add(p, bytes, false); \
		return p; \
	}
ALLOCATE(malloc, (size_t bytes), (bytes), bytes)
ALLOCATE(calloc, (size_t n, size_t size), (n, size), n *size)
ALLOCATE(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), bytes)
ALLOCATE(memalign, (size_t alignment, size_t bytes), (alignment, bytes), bytes)

REPLACE(void, free, (void *p))
{
	REAL(void, free, (void *));

	if (is_early(p))
		return;
	kwatch_extent_drop(p);
	if (real)
		real(p);
}

REPLACE(void *, realloc, (void *old, size_t bytes))
{
	REAL(void *, realloc, (void *, size_t));
	size_t room = (size_t)(early + sizeof early - (char *)old);
	void *p;

	if (is_early(old) || !real) {
		p = watched_malloc(bytes);
		if (p && old)
			memcpy(p, old, room < bytes ? room : bytes);
		return p;
	}
	kwatch_extent_drop(old);
	p = real(old, bytes);
	kwatch_extent_add(p, bytes, false);
	return p;
}

REPLACE(int, posix_memalign, (void **to, size_t alignment, size_t bytes))
{
	REAL(int, posix_memalign, (void **, size_t, size_t));
	int error = real ? real(to, alignment, bytes) : ENOMEM;

	if (!error)
		kwatch_extent_add(*to, bytes, false);
	return error;
}

REPLACE(void *, mmap, (void *hint, size_t bytes, int protection, int flags, int fd, off_t offset))
{
	long at = syscall(SYS_mmap, hint, bytes, protection, flags, fd, offset);

	if (at == -1)
		return MAP_FAILED;
	/* A driver's reservations for device memory cannot be read. */
	if (protection & PROT_READ)
		kwatch_extent_add((void *)at, bytes, false);
	return (void *)at;
}

REPLACE(
    void *, mmap64, (void *hint, size_t bytes, int protection, int flags, int fd, off64_t offset))
{
	return watched_mmap(hint, bytes, protection, flags, fd, offset);
}

REPLACE(int, munmap, (void *at, size_t bytes))
{
	kwatch_extent_drop(at);
	return (int)syscall(SYS_munmap, at, bytes);
}
