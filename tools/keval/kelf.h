/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kelf: what a shared object asks of the loader, read in the loader's way: from the dynamic segment
 * and the relocations. A compiler made the bytes from hostile source, so nothing in them is
 * trusted.
 */
#pragma once

#include "kio.h"

enum { KELF_CALLS = 64 };

/* Names are sets: objects with one member per name, NULL when empty. */
struct kelf {
	json_t *imports;      /* symbols that another object must define */
	json_t *functions;    /* functions that it exports */
	json_t *needed;       /* libraries */
	json_t *odd_sections; /* executable sections other than the compiler's own */
	size_t constructors;  /* entries that run at load */
	/* one of them is the compiler's own, for __builtin_cpu_supports */
	bool cpu_detection;
	size_t destructors;
	size_t init_bytes; /* size of .init */
	bool exec_stack;
	/* a segment both writable and executable, or relocations in code */
	bool writable_code;
	bool ifunc;        /* code that runs while symbols are bound */
	bool search_path;  /* own RPATH or RUNPATH */
	bool loader_hooks; /* audit, filter or auxiliary objects */
	/* addresses of executable bytes that would be a system call */
	uint64_t calls[KELF_CALLS];
	size_t call_count;
	/* executable bytes that would read a clock, or begin a memory transaction */
	bool may_pry;
};

/* Read LEN bytes. NULL on success (free with kelf_free), else the fault as a constant string. */
const char *kelf_read(const void *so, size_t len, struct kelf *f);
void kelf_free(struct kelf *f);
/*
 * Hash of the parts of an object that are loaded, without notes and debug information: the first 16
 * hex digits of its SHA-256. If the bytes are not such an object, the hash of all of them.
 */
void kelf_hash(const void *so, size_t len, char hex[17]);
