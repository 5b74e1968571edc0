/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kelf: a real shared object read right, and the same object cut, flipped and scrambled read
 * without harm.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

#include "../../tools/keval/kelf.c"

static bool
has(const json_t *names, const char *name)
{
	return json_object_get(names, name) != NULL;
}

/* The file of the library that is sure to be there: the one that this test is linked with. */
static char *
c_library(size_t *len)
{
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)strtod, &info))
		return NULL;
	return kread_file(info.dli_fname, 64 << 20, len);
}

static void
test_real(const char *so, size_t len)
{
	struct kelf f;

	CHECK(!kelf_read(so, len, &f));
	CHECK(has(f.functions, "strtod") && has(f.functions, "qsort"));
	CHECK(!has(f.imports, "strtod"));
	CHECK(json_object_size(f.needed) >= 1);
	CHECK(f.ifunc); /* memcpy of the C library is chosen at load */
	CHECK(!f.exec_stack && !f.writable_code && !f.search_path);
	kelf_free(&f);
	CHECK(!f.imports && !f.functions);
}

static void
test_hostile(const char *so, size_t len)
{
	struct krng rng;
	struct kelf f;
	char *copy = kmalloc(len);
	int refused = 0;

	krng_init(&rng, 1, 0, 0, "kelf");
	for (size_t cut = 0; cut < len; cut += cut < 4096 ? 97 : len / 23)
		if (kelf_read(so, cut, &f))
			refused++;
		else
			kelf_free(&f);
	CHECK(refused > 20);
	for (int i = 0; i < 300; i++) {
		memcpy(copy, so, len);
		for (int k = 0; k < 12; k++)
			copy[krng_below(&rng, k % 2 ? 2048 : len)] = (char)krng_below(&rng, 256);
		memcpy(copy, so, 20); /* still an ELF file */
		if (!kelf_read(copy, len, &f))
			kelf_free(&f);
	}
	CHECK_STR(kelf_read("hello", 5, &f), "shorter than an ELF header");
	memset(copy, 'x', 4096);
	CHECK_STR(kelf_read(copy, 4096, &f), "not a 64-bit ELF file of this byte order");
	free(copy);
}

int
main(void)
{
	size_t len = 0;
	char *so = c_library(&len);

	if (!so) {
		printf("1..0 # SKIP the C library is not a file here\n");
		return 0;
	}
	test_real(so, len);
	test_hostile(so, len);
	free(so);
	return tap_done();
}
