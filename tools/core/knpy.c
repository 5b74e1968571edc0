/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knpy: see knpy.h. The format is described in numpy/lib/format.py: a magic string, a version, the
 * length of the header, and the header, a Python dictionary such as
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }
 */
#include "knpy.h"

#include "kregex.h"

enum { MAGIC = 6, RANK = 32 };
static const size_t file_max = (size_t)1 << 34;

/* Elements of a shape such as "3, 5"; false when there are too many. */
static bool
count_elements(const char *at, size_t *count, int *rank)
{
	char *end;

	*count = 1;
	for (*rank = 0; *(at += strspn(at, ", ")); at = end) {
		unsigned long long n = strtoull(at, &end, 10);

		if (++*rank > RANK || (n && *count > file_max / n))
			return false;
		*count *= (size_t)n;
	}
	return true;
}

static const char *
read_header(struct knpy *a, const char *header)
{
	struct kregex_span at[3];
	auto_free char *shape = NULL;
	int rank;

	if (!kregex_match("'descr' *: *'[<|=]([fiub])([1248])\\b", header, at))
		return "must hold little-endian numbers of 1 to 8 bytes, or booleans";
	a->kind = header[at[1].from];
	a->size = (size_t)(header[at[2].from] - '0');
	shape = kregex_part("'shape' *: *\\( *((?:\\d+[, ]*)*)\\)", header);
	if (!shape || !count_elements(shape, &a->count, &rank))
		return "has a shape that cannot be read";
	return rank > 1 && !kregex_is("'fortran_order' *: *False", header)
	    ? "must be in C's order (numpy.ascontiguousarray)"
	    : NULL;
}

/* What is wrong with the LEN bytes of the file, or NULL. */
static const char *
parse(struct knpy *a, size_t len)
{
	const unsigned char *m = (const unsigned char *)a->memory;
	size_t begin, n = 0;
	const char *fault;
	auto_free char *header = NULL;

	if (len < MAGIC + 6 || memcmp(m, "\x93NUMPY", MAGIC))
		return "is not a .npy file";
	begin = m[MAGIC] == 1 ? 10 : 12;
	for (size_t i = begin; i-- > 8;)
		n = n << 8 | m[i];
	if (m[MAGIC] < 1 || m[MAGIC] > 3 || n > len - begin)
		return "has a header that is cut off, or of an unknown version";
	header = kstrndup(a->memory + begin, n);
	fault = read_header(a, header);
	if (!fault && (len - begin - n) / a->size < a->count)
		fault = "is cut off";
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
	auto_buf struct kbuf b = { 0 };

	kbuf_add(&b, "\x93NUMPY\1\0\0\0", BEGIN);
	kbuf_printf(&b, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%zu,), }",
	    size > 1 ? '<' : '|', kind, size, count);
	while (b.len % UNIT != UNIT - 1)
		kbuf_puts(&b, " ");
	kbuf_puts(&b, "\n");
	b.data[8] = (char)((b.len - BEGIN) & 0xff);
	b.data[9] = (char)((b.len - BEGIN) >> 8);
	kbuf_add(&b, data, count * size);
	return kwrite_file(path, b.data, b.len) >= 0;
}

void
knpy_free(struct knpy *a)
{
	free(a->memory);
	*a = (struct knpy){ 0 };
}
