/* SPDX-License-Identifier: Apache-2.0 */
/* secret: see secret.h. */
#include "secret.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_MIN = 4, KEY_MAX = 8192, FORMS_MAX = 24 };

/* forms[0] is the key; the others are what it may look like elsewhere. */
static char *forms[FORMS_MAX];
static size_t form_count;
static bool form_begins[256]; /* bytes that one of them begins with */

void
secret_harden(void)
{
	struct rlimit none = { 0, 0 };

#ifndef __SANITIZE_ADDRESS__ /* the leak check must be able to look into its own process */
	prctl(PR_SET_DUMPABLE, 0);
#endif
	setrlimit(RLIMIT_CORE, &none);
}

void
secret_wipe(void)
{
	for (size_t i = 0; i < form_count; i++) {
		explicit_bzero(forms[i], strlen(forms[i]));
		free(forms[i]);
	}
	form_count = 0;
	memset(form_begins, 0, sizeof form_begins);
}

void
secret_add(const char *bytes)
{
	if (strlen(bytes) < KEY_MIN || form_count == FORMS_MAX)
		return;
	form_begins[(unsigned char)*bytes] = true;
	forms[form_count++] = kstrdup(bytes);
}

/*
 * Base64 of the key as it stands at offset SHIFT of a longer text: only the digits that depend on
 * the key alone.
 */
static void
add_base64(const char *key, size_t shift, const char *digits)
{
	size_t len = strlen(key), bits = 8 * (shift + len), w = 0;
	char *text = kmalloc((shift + len) * 2 + 4);

	for (size_t digit = 0; digit * 6 + 6 <= bits; digit++) {
		unsigned v = 0;

		if (digit * 6 < shift * 8)
			continue;
		for (size_t b = digit * 6; b < digit * 6 + 6; b++)
			v = v << 1 | ((unsigned char)key[b / 8 - shift] >> (7 - b % 8) & 1);
		text[w++] = digits[v];
	}
	text[w] = '\0';
	secret_add(text);
	explicit_bzero(text, w);
	free(text);
}

static void
add_url_form(const char *key, const char *hex)
{
	struct kbuf b = { 0 };

	for (const char *p = key; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("-_.~", *p))
			kbuf_add(&b, p, 1);
		else
			kbuf_printf(&b, "%%%c%c", hex[(unsigned char)*p >> 4], hex[*p & 15]);
	if (b.data && strcmp(b.data, key))
		secret_add(b.data);
	if (b.data)
		explicit_bzero(b.data, b.len);
	kbuf_free(&b);
}

static void
add_forms(const char *key)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	                            "+/";
	static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
	                          "_";

	secret_add(key);
	for (size_t shift = 0; shift < 3; shift++) {
		add_base64(key, shift, plain);
		add_base64(key, shift, url);
	}
	add_url_form(key, "0123456789ABCDEF");
	add_url_form(key, "0123456789abcdef");
}

/*
 * One line, without the white space around it; anything but printable ASCII in it would break the
 * header it goes into.
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
	if (key && *key)
		add_forms(key);
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	return form_count ? forms[0] : NULL;
}

enum { CLASS_KEY, CLASS_ALNUM, CLASS_UPPER };

/*
 * What keys look like: a prefix that does not continue a word, then at least MIN characters of a
 * class.
 */
static const struct shape {
	const char *prefix;
	int class;
	size_t min;
	/* must hold a digit, a capital and a small letter, or it is a name in a program */
	bool mixed;
} shapes[] = {
	{ "sk-", CLASS_KEY, 16, true },
	{ "AIza", CLASS_KEY, 30, false },
	{ "ghp_", CLASS_ALNUM, 30, false },
	{ "gho_", CLASS_ALNUM, 30, false },
	{ "github_pat_", CLASS_KEY, 30, false },
	{ "hf_", CLASS_ALNUM, 30, false },
	{ "AKIA", CLASS_UPPER, 16, false },
	{ "xoxb-", CLASS_KEY, 20, false },
	{ "gsk_", CLASS_ALNUM, 30, false },
};

static bool
in_class(int c, int class)
{
	switch (class) {
	case CLASS_UPPER:
		return isupper(c) || isdigit(c);
	case CLASS_ALNUM:
		return isalnum(c);
	default:
		return isalnum(c) || c == '-' || c == '_';
	}
}

/* Length of the key-like text at S, or 0. */
static size_t
shape_at(const struct shape *shape, const char *s, size_t left)
{
	size_t prefix = strlen(shape->prefix), n = prefix;
	bool digit = false, capital = false, small = false;

	if (left < prefix || memcmp(s, shape->prefix, prefix))
		return 0;
	for (; n < left && in_class((unsigned char)s[n], shape->class); n++) {
		digit |= isdigit((unsigned char)s[n]) != 0;
		capital |= isupper((unsigned char)s[n]) != 0;
		small |= islower((unsigned char)s[n]) != 0;
	}
	if (n - prefix < shape->min || (shape->mixed && !(digit && capital && small)))
		return 0;
	return n;
}

/* Length of the secret that begins at S[I], or 0. */
static size_t
secret_at(const char *s, size_t i, size_t len)
{
	for (size_t f = 0; form_begins[(unsigned char)s[i]] && f < form_count; f++) {
		size_t n = strlen(forms[f]);

		if (len - i >= n && s[i] == forms[f][0] && !memcmp(s + i, forms[f], n))
			return n;
	}
	if (i && (isalnum((unsigned char)s[i - 1]) || s[i - 1] == '_'))
		return 0;
	for (size_t k = 0; k < LEN(shapes); k++) {
		size_t n = s[i] == shapes[k].prefix[0] ? shape_at(&shapes[k], s + i, len - i) : 0;

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

/*
 * Length of the exact form of the key that begins at S, or 0; sets PARTIAL when S ends inside one.
 */
static size_t
form_at(const char *s, size_t left, bool *partial)
{
	for (size_t f = 0; f < form_count; f++) {
		size_t n = strlen(forms[f]), have = left < n ? left : n;

		if (memcmp(s, forms[f], have))
			continue;
		if (have == n)
			return n;
		*partial = true;
	}
	return 0;
}

void
secret_feed(struct secret_stream *s, const char *bytes, size_t len, struct kbuf *out)
{
	size_t i = 0;

	kbuf_add(&s->held, bytes, len);
	while (i < s->held.len) {
		bool partial = false;
		size_t start = i, n;

		while (i < s->held.len && !form_begins[(unsigned char)s->held.data[i]])
			i++;
		kbuf_add(out, s->held.data + start, i - start);
		if (i == s->held.len)
			break;
		n = form_at(s->held.data + i, s->held.len - i, &partial);

		if (!n && partial)
			break;
		if (n)
			kbuf_puts(out, "[redacted]");
		else
			kbuf_add(out, s->held.data + i, 1);
		i += n ? n : 1;
	}
	memmove(s->held.data, s->held.data + i, s->held.len - i);
	s->held.len -= i;
	s->held.data[s->held.len] = '\0';
}

void
secret_flush(struct secret_stream *s, struct kbuf *out)
{
	kbuf_add(out, s->held.data, s->held.len);
	kbuf_free(&s->held);
}
