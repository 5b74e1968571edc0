/* SPDX-License-Identifier: Apache-2.0 */
/* secret: see secret.h. */
#include "secret.h"

#include "kregex.h"

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
			kdie_usage("%s: the key contains invalid characters", where);
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
		kdie_usage("key file %s: not a regular file", path);
	if (st.st_mode & 077)
		kdie_usage("key file %s: others may read it (mode %03o); run: chmod 600 %s", path,
		    (unsigned)st.st_mode & 0777, path);
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
 * What keys look like: a prefix that does not continue a word, then many characters of a class. The
 * first kind must soon contain a digit, a capital and a small letter, otherwise it may be a name in
 * a program. The search hardly backtracks and looks ahead only so far, so no text can make it give
 * up or take long.
 */
static const char shapes[] = "(?<!\\w)(?:"
                             "sk-(?=[A-Za-z_-]{0,255}+\\d)(?=[a-z\\d_-]{0,255}+[A-Z])"
                             "(?=[A-Z\\d_-]{0,255}+[a-z])[\\w-]{16,}+|"
                             "AIza[\\w-]{30,}+|"
                             "(?:ghp|gho|hf|gsk)_[A-Za-z\\d]{30,}+|"
                             "github_pat_[\\w-]{30,}+|"
                             "AKIA[A-Z\\d]{16,}+|"
                             "xoxb-[\\w-]{20,}+)";

/* The first secret in LEN bytes of TEXT. */
static bool
find_secret(const char *text, size_t len, struct kregex_span *at)
{
	bool found = kregex_find(shapes, text, len, at, 1);
	/* Only a key that begins no later is of interest. */
	size_t end = found && len - at->from > loaded_len ? at->from + loaded_len : len;
	const char *key = loaded ? memmem(text, end, loaded, loaded_len) : NULL;

	if (key)
		*at =
		    (struct kregex_span){ (size_t)(key - text), (size_t)(key - text) + loaded_len };
	return found || key;
}

bool
secret_in(const char *text, size_t len)
{
	return find_secret(text, len, &(struct kregex_span){ 0, 0 });
}

bool
secret_redact(struct kbuf *b)
{
	struct kbuf out = { 0 };
	struct kregex_span at;
	size_t done = 0;

	for (; b->len && find_secret(b->data + done, b->len - done, &at); done += at.to) {
		kbuf_add(&out, b->data + done, at.from);
		kbuf_puts(&out, "[redacted]");
	}
	if (!done)
		return false;
	kbuf_slice(&out, b->data, done, b->len);
	explicit_bzero(b->data, b->len);
	kbuf_free(b);
	*b = out;
	return true;
}
