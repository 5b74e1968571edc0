/* SPDX-License-Identifier: Apache-2.0 */
/* secret: see secret.h. */
#include "secret.h"

#include <sys/prctl.h>
#include <sys/resource.h>

enum { KEY_MIN = 4, KEY_MAX = 8192 };

static char *loaded; /* the key; NULL: none */
static size_t loaded_len;

void
secret_harden(void)
{
	struct rlimit none = { 0, 0 };

#ifndef __SANITIZE_ADDRESS__ /* the leak checker must be able to inspect its own process */
	prctl(PR_SET_DUMPABLE, 0);
#endif
	setrlimit(RLIMIT_CORE, &none);
}

void
secret_wipe(void)
{
	if (loaded)
		explicit_bzero(loaded, loaded_len);
	free(loaded);
	loaded = NULL;
	loaded_len = 0;
}

/*
 * One line, with white space around it removed; anything but printable ASCII would break the header
 * that it goes into.
 */
static char *
clean_key(char *raw, const char *where)
{
	char *start = raw + strspn(raw, " \t\r\n"), *end = start + strlen(start), *key;

	while (end > start && strchr(" \t\r\n", end[-1]))
		end--;
	for (const char *p = start; p < end; p++)
		if (*p <= ' ' || *p > '~')
			kdie(K_USAGE, "%s: the key contains invalid characters", where);
	key = kstrndup(start, (size_t)(end - start));
	explicit_bzero(raw, strlen(raw));
	return key;
}

static char *
read_key_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char raw[KEY_MAX + 1];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		kdie_errno(K_USAGE, "key file %s", path);
	if (!S_ISREG(st.st_mode))
		kdie(K_USAGE, "key file %s: not a regular file", path);
	if (st.st_mode & 077)
		kdie(K_USAGE, "key file %s: others may read it (mode %03o); run: chmod 600 %s",
		    path, (unsigned)st.st_mode & 0777, path);
	n = read(fd, raw, KEY_MAX);
	close(fd);
	if (n < 0)
		kdie_errno(K_USAGE, "key file %s", path);
	raw[n] = '\0';
	return clean_key(raw, path);
}

const char *
secret_load(const char *file, const char *name)
{
	char *value = name ? getenv(name) : NULL, *key;

	key = file ? read_key_file(file) : value ? clean_key(value, name) : NULL;
	if (name) {
		if (value)
			explicit_bzero(value, strlen(value));
		unsetenv(name);
	}
	if (!key)
		return loaded;
	secret_wipe();
	loaded = key;
	loaded_len = strlen(key);
	if (loaded_len < KEY_MIN)
		secret_wipe();
	return loaded;
}

/*
 * What keys look like: a prefix that does not continue a word, then at least MIN characters of a
 * class.
 */
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static const struct shape {
	const char *prefix, *class;
	size_t min;
	/*
	 * must contain a digit, a capital and a small letter, otherwise it may be a name in a
	 * program
	 */
	bool mixed;
} shapes[] = {
	{ "sk-", UPPER LOWER DIGITS "-_", 16, true },
	{ "AIza", UPPER LOWER DIGITS "-_", 30, false },
	{ "ghp_", UPPER LOWER DIGITS, 30, false },
	{ "gho_", UPPER LOWER DIGITS, 30, false },
	{ "github_pat_", UPPER LOWER DIGITS "-_", 30, false },
	{ "hf_", UPPER LOWER DIGITS, 30, false },
	{ "AKIA", UPPER DIGITS, 16, false },
	{ "xoxb-", UPPER LOWER DIGITS "-_", 20, false },
	{ "gsk_", UPPER LOWER DIGITS, 30, false },
};

/* Length of the key-like text at S, or 0. */
static size_t
shape_at(const struct shape *shape, const char *s)
{
	size_t prefix = strlen(shape->prefix), n;

	if (strncmp(s, shape->prefix, prefix))
		return 0;
	s += prefix;
	n = strspn(s, shape->class);
	if (n < shape->min ||
	    (shape->mixed &&
	        (strcspn(s, DIGITS) >= n || strcspn(s, UPPER) >= n || strcspn(s, LOWER) >= n)))
		return 0;
	return prefix + n;
}

/* Length of the secret that begins at S[I], or 0. */
static size_t
secret_at(const char *s, size_t i, size_t len)
{
	if (loaded && s[i] == *loaded && len - i >= loaded_len &&
	    !memcmp(s + i, loaded, loaded_len))
		return loaded_len;
	if (i && (isalnum((unsigned char)s[i - 1]) || s[i - 1] == '_'))
		return 0;
	for (size_t k = 0; k < LEN(shapes); k++) {
		size_t n = s[i] == *shapes[k].prefix ? shape_at(&shapes[k], s + i) : 0;

		if (n)
			return n;
	}
	return 0;
}

bool
secret_in(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (secret_at(text, i, len))
			return true;
	return false;
}

bool
secret_redact(struct kbuf *b)
{
	struct kbuf out = { 0 };

	if (!b->len || !secret_in(b->data, b->len))
		return false;
	for (size_t i = 0, n; i < b->len; i += n ? n : 1) {
		n = secret_at(b->data, i, b->len);
		if (n)
			kbuf_puts(&out, "[redacted]");
		else
			kbuf_add(&out, b->data + i, 1);
	}
	explicit_bzero(b->data, b->len);
	kbuf_free(b);
	*b = out;
	return true;
}
