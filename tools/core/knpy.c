/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knpy: see knpy.h. The format is described in numpy/lib/format.py: a magic string, a version, the
 * length of the header, and the header, a Python dictionary such as
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }
 */
#include "knpy.h"

#include <ctype.h>

#include "kio.h"

enum { MAGIC = 6, RANK = 32 };
static const size_t file_max = (size_t)1 << 34;

/* What follows the key NAME in the header; NULL: no such key. */
static const char *
value_of(const char *header, const char *name)
{
	char *key = kasprintf("'%s'", name);
	const char *at = strstr(header, key);

	at = at ? at + strlen(key) : NULL;
	free(key);
	if (!at)
		return NULL;
	at += strspn(at, " ");
	return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Elements of a shape, "(3, 5)"; false when there are too many, or it is none. */
static bool
read_shape(const char *at, size_t *count, int *rank)
{
	*count = 1;
	*rank = 0;
	if (!at || *at++ != '(')
		return false;
	for (at += strspn(at, " "); *at != ')'; at += strspn(at, ", ")) {
		char *end;
		unsigned long long n = strtoull(at, &end, 10);

		if (!isdigit((unsigned char)*at) || ++*rank > RANK || (n && *count > file_max / n))
			return false;
		*count *= (size_t)n;
		at = end;
	}
	return true;
}

/* "'<f4'" */
static bool
read_type(const char *at, struct knpy *a)
{
	if (!at || at[0] != '\'' || !strchr("<|=", at[1]) || !strchr("fiub", at[2]))
		return false;
	a->kind = at[2];
	a->size = (size_t)strtoul(at + 3, NULL, 10);
	return a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8;
}

/* What is wrong with the LEN bytes of the file, or NULL. */
static const char *
parse(struct knpy *a, size_t len)
{
	const unsigned char *m = (const unsigned char *)a->memory;
	size_t begin, n = 0;
	const char *order, *fault = NULL;
	char *header;
	int rank = 0;

	if (len < MAGIC + 6 || memcmp(m, "\x93NUMPY", MAGIC))
		return "is not a .npy file";
	begin = m[MAGIC] == 1 ? 10 : 12;
	for (size_t i = begin; i-- > 8;)
		n = n << 8 | m[i];
	if (m[MAGIC] < 1 || m[MAGIC] > 3 || n > len - begin)
		return "has a header that is cut off, or of an unknown version";
	header = kstrndup(a->memory + begin, n);
	order = value_of(header, "fortran_order");
	if (!read_type(value_of(header, "descr"), a))
		fault = "must hold little-endian numbers of 1 to 8 bytes, or booleans";
	else if (!read_shape(value_of(header, "shape"), &a->count, &rank))
		fault = "has a shape that cannot be read";
	else if (rank > 1 && (!order || strncmp(order, "False", 5)))
		fault = "must be in C's order (numpy.ascontiguousarray)";
	else if ((len - begin - n) / a->size < a->count)
		fault = "is cut off";
	free(header);
	a->data = a->memory + begin + n;
	return fault;
}

bool
knpy_read(const char *path, struct knpy *a, char *why, size_t why_len)
{
	const char *fault;
	size_t len;

	*a = (struct knpy){ .memory = kread_file(path, file_max, &len) };
	if (!a->memory) {
		snprintf(why, why_len, "%s", strerror(errno));
		return false;
	}
	fault = parse(a, len);
	if (!fault)
		return true;
	snprintf(why, why_len, "%s", fault);
	knpy_free(a);
	return false;
}

bool
knpy_write(const char *path, char kind, size_t size, const void *data, size_t count)
{
	enum { BEGIN = 10, UNIT = 64 };
	struct kbuf b = { 0 };
	bool good;

	kbuf_add(&b, "\x93NUMPY\1\0\0\0", BEGIN);
	kbuf_printf(&b, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%zu,), }",
	    size > 1 ? '<' : '|', kind, size, count);
	while (b.len % UNIT != UNIT - 1)
		kbuf_puts(&b, " ");
	kbuf_puts(&b, "\n");
	b.data[8] = (char)((b.len - BEGIN) & 0xff);
	b.data[9] = (char)((b.len - BEGIN) >> 8);
	kbuf_add(&b, data, count * size);
	good = kwrite_file(path, b.data, b.len) >= 0;
	kbuf_free(&b);
	return good;
}

void
knpy_free(struct knpy *a)
{
	free(a->memory);
	*a = (struct knpy){ 0 };
}
