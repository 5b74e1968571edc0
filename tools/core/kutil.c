/* SPDX-License-Identifier: Apache-2.0 */
/* kutil: see kutil.h. */

#include <inttypes.h>
#include <locale.h>
#include <sha2.h>
#include <sys/prctl.h>

#include "kutil.h"

#ifndef KILN_VERSION
#define KILN_VERSION "0.0.0"
#endif
#ifndef KILN_DATADIR
#define KILN_DATADIR "/usr/local/share/kiln"
#endif

const char *kprog = "kiln";

/* "scheme://user:password@host" */
static bool
holds_password(const char *value)
{
	const char *user = strstr(value, "://");
	size_t n = user ? strcspn(user += 3, "/?# ") : 0;

	return n && memchr(user, '@', n) && memchr(user, ':', n);
}

bool
kutil_is_secret(const char *variable)
{
	static const char *const marks[] = { "KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE",
		"CREDENTIAL", "AUTH", "COOKIE", "BEARER", "_PAT", "_PASS", "_PWD" };
	static const char *const groups[] = { "AWS_", "AZURE_", "OCI_CLI_", "DATABRICKS_", "VAULT_",
		"KRB5CCNAME" };
	size_t n = strcspn(variable, "=");
	auto_free char *name = kstrndup(variable, n);
	bool secret = holds_password(variable + n);

	kforeach(mark, marks) {
		const char *at = strcasestr(name, *mark);

		/* "_PAT" is a personal access token and "_PATH" a folder. */
		secret |= at && (**mark != '_' || !isalnum((unsigned char)at[strlen(*mark)]));
	}
	return secret || kany(kforeach(group, groups), !strncasecmp(name, *group, strlen(*group)));
}

void
kutil_drop_secrets(void)
{
	for (char **e = environ; e && *e;) {
		auto_free char *name = kuntil(*e, "=");
		char *value = getenv(name);

		if (kutil_is_secret(*e)) {
			/* /proc shows the environment that a process started with. */
			if (value)
				explicit_bzero(value, strlen(value));
			unsetenv(name);
			e = environ;
		} else {
			e++;
		}
	}
}

static pid_t step_process;

/*
 * Adds a line about the step of this process and its children; false if there is none. A line that
 * cannot be written must not end an evaluation. Lines of parallel branches do not mix, because each
 * is one write.
 */
static bool
write_line(const char *state, const char *text)
{
	const char *file = getenv("KILN_STEPS"), *target = getenv("KILN_STEP");
	int fd = file && target ? open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd >= 0) {
		dprintf(fd, "%.3f %s %s %.1023s\n", (double)know_ns() * 1e-9, target, state, text);
		close(fd);
	}
	return file && target;
}

static void
note_end(int status, void *arg)
{
	(void)arg;
	/* Not for a forked child that exits by itself. */
	if (getpid() != step_process)
		return;
	write_line(kshown("%d", status), "");
}

/*
 * Programs that this one starts are not steps of their own, but share its status line.
 */
static void
begin_step(void)
{
	const char *target = getenv("KILN_TARGET"), *words = getenv("KILN_WORDS");

	if (!target)
		return;
	setenv("KILN_STEP", target, 1);
	unsetenv("KILN_TARGET");
	if (!write_line(KSTEP_RUNS, ""))
		return;
	if (words)
		dup2(atoi(words), STDERR_FILENO);
	step_process = getpid();
	on_exit(note_end, NULL);
}

void
kutil_init(const char *prog)
{
	kprog = prog;
	/* All but those that ask a model, or start a tool that does, or a shell elsewhere. */
	if (!kis_one_of("kllm kcampaign krecords kadopt kremote kstep", prog))
		kutil_drop_secrets();
	setlocale(LC_NUMERIC, "C");
	if (getenv("KILN_PIPELINE")) {
		pid_t parent = getppid();

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* The parent may have died before the call above took effect. */
		if (getppid() != parent || parent == 1)
			raise(SIGTERM);
	}
	begin_step();
}

const char *
kversion_string(void)
{
	return KILN_VERSION;
}

void
kversion(void)
{
	printf("%s %s\n", kprog, KILN_VERSION);
}

void
kmask_bytes(char *s, size_t len)
{
	unsigned char before = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		/*
		 * In UTF-8 these follow another high byte; only after 0xc2 do they form a control
		 * character.
		 */
		bool high = c >= 0x80 && c < 0xa0 && (before < 0x80 || before == 0xc2);

		if (high && before == 0xc2)
			s[i - 1] = '?';
		if (high || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			s[i] = '?';
		before = c;
	}
}

void
kmask_controls(char *s)
{
	kmask_bytes(s, strlen(s));
}

static void
message(const char *fmt, va_list ap, const char *suffix)
{
	char text[8192];

	vsnprintf(text, sizeof text, fmt, ap);
	kmask_controls(text);
	fflush(stdout);
	fprintf(stderr, "%s: %s%s%s\n", kprog, text, *suffix ? ": " : "", suffix);
}

void
kdie(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap, "");
	va_end(ap);
	exit(code);
}

void
kdie_errno(int code, const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap, why);
	va_end(ap);
	exit(code);
}

void
kwarn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap, "");
	va_end(ap);
}

void
ksay(const char *fmt, ...)
{
	kformatted(text, fmt);

	kmask_controls(text);
	if (fputs(text, stdout) < 0 || fflush(stdout))
		kdie_errno(K_IO, "<stdout>");
}

void
kpass(const char *text, size_t len)
{
	auto_free char *copy = kmalloc(len);

	if (len)
		memcpy(copy, text, len);
	kmask_bytes(copy, len);
	fwrite(copy, 1, len, stderr);
}

bool
kstatus(const char *fmt, ...)
{
	kformatted(text, fmt);

	kmask_controls(text);
	return write_line(KSTEP_RUNS, text);
}

void
kprogress(const char *fmt, ...)
{
	const char *forced = getenv("KILN_PROGRESS");
	kformatted(text, fmt);

	kmask_controls(text);
	if (write_line(KSTEP_RUNS, text) ||
	    !(getenv("KILN_STEP") || (forced ? !strcmp(forced, "1") : isatty(STDERR_FILENO))))
		return;
	/* One write, so that lines of parallel branches do not mix. */
	dprintf(STDERR_FILENO, "%.1022s\n", text);
}

void
kcatch(void (*handler)(int sig))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = handler };

	kforeach(sig, signals)
		sigaction(*sig, &sa, NULL);
}

static void *
check_alloc(void *p)
{
	if (!p)
		kdie(K_IO, "out of memory");
	return p;
}

void *
kmalloc(size_t n)
{
	return check_alloc(malloc(n ?: 1));
}

void
kfree_at(void *pointer)
{
	void *p;

	/* It is the address of a pointer of any type. */
	memcpy(&p, pointer, sizeof p);
	free(p);
}

void
kclose_at(const int *fd)
{
	int why = errno;

	if (*fd >= 0)
		close(*fd);
	errno = why;
}

void *
kcalloc(size_t n, size_t size)
{
	return check_alloc(calloc(n ?: 1, size ?: 1));
}

void *
krealloc(void *p, size_t n)
{
	return check_alloc(realloc(p, n ?: 1));
}

/* The room doubles whenever COUNT is a power of two. */
void *
kmore(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : krealloc(list, (count ? 2 * count : 1) * size);
}

char *
kstrdup(const char *s)
{
	return s ? check_alloc(strdup(s)) : NULL;
}

char *
kstrndup(const char *s, size_t n)
{
	return check_alloc(strndup(s, n));
}

char *
kuntil(const char *s, const char *ends)
{
	return kstrndup(s, strcspn(s, ends));
}

char *
kmemdup(const void *bytes, size_t n)
{
	char *copy = kmalloc(n + 1);

	if (n)
		memcpy(copy, bytes, n);
	copy[n] = '\0';
	return copy;
}

char *
kasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = kvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

const char *
kshown(const char *fmt, ...)
{
	static char *texts[1024];
	static size_t next;
	char **text = &texts[next++ % LEN(texts)];
	va_list ap;

	free(*text);
	va_start(ap, fmt);
	*text = kvasprintf(fmt, ap);
	va_end(ap);
	return *text;
}

char *
kvasprintf(const char *fmt, va_list args)
{
	char *s = NULL;

	return check_alloc(vasprintf(&s, fmt, args) < 0 ? NULL : s);
}

void
kbuf_add(struct kbuf *b, const void *data, size_t len)
{
	if (b->len + len + 1 > b->cap) {
		b->cap = (b->len + len + 1) * 2;
		b->data = krealloc(b->data, b->cap);
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

struct kbuf
kbuf_empty(void)
{
	struct kbuf b = { 0 };

	kbuf_add(&b, "", 0);
	return b;
}

void
kbuf_slice(struct kbuf *b, const char *text, size_t from, size_t to)
{
	kbuf_add(b, text + from, to - from);
}

void
kbuf_puts(struct kbuf *b, const char *s)
{
	kbuf_add(b, s, strlen(s));
}

void
kbuf_join(struct kbuf *b, const char *between, const char *s)
{
	kbuf_puts(b, b->len ? between : "");
	kbuf_puts(b, s);
}

void
kbuf_printf(struct kbuf *b, const char *fmt, ...)
{
	kformatted(text, fmt);

	kbuf_puts(b, text);
}

void
kbuf_line(struct kbuf *b, const char *text)
{
	size_t from = b->len;

	kbuf_puts(b, text);
	kmask_controls(b->data + from);
	kbuf_puts(b, "\n");
}

char *
kpart(char **rest, const char *ends)
{
	char *part = *rest ? *rest + strspn(*rest, ends) : NULL;

	if (!part || !*part)
		return NULL;
	*rest = part + strcspn(part, ends);
	if (**rest)
		*(*rest)++ = '\0';
	return part;
}

void
kfault(struct kfaults *f, const char *fmt, ...)
{
	kformatted(text, fmt);

	kbuf_line(&f->text, text);
	f->count++;
}

void
kfaults_end(struct kfaults *f, const char *what)
{
	if (f->count) {
		for (char *line = strtok(f->text.data, "\n"); line; line = strtok(NULL, "\n"))
			kwarn("%s", line);
		kdie(K_USAGE, "%zu fault%s in %s", f->count, f->count > 1 ? "s" : "", what);
	}
	kbuf_free(&f->text);
}

size_t
kbom(const char *text, size_t len)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' };

	return len >= sizeof mark && !memcmp(text, mark, sizeof mark) ? sizeof mark : 0;
}

void
kbuf_free(struct kbuf *b)
{
	free(b->data);
	*b = (struct kbuf){ 0 };
}

long
knum_long(const char *s, long min, long max, const char *what)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	if (end == s || *end || errno || v < min || v > max)
		kdie(K_USAGE, "%s: '%s' is not a whole number from %ld to %ld", what, s, min, max);
	return v;
}

double
knum_double(const char *s, double min, double max, const char *what)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(s, &end);
	if (end == s || *end || errno || !(v >= min && v <= max))
		kdie(K_USAGE, "%s: '%s' is not a number from %g to %g", what, s, min, max);
	return v;
}

void
ksha256_hex(const void *data, size_t len, char hex[65])
{
	SHA256Data(data ?: "", len, hex);
}

const char *
ksha256(const void *data, size_t len)
{
	char hex[65];

	ksha256_hex(data, len, hex);
	return kshown("%s", hex);
}

const char *
ksha256_of(const char *text)
{
	return ksha256(text, strlen(text));
}

bool
ksha256_is(const void *data, size_t len, const char *digest)
{
	char hex[65];

	ksha256_hex(data, len, hex);
	return !strcmp(hex, digest);
}

void
krng_init(struct krng *r, uint64_t seed, long trial, long branch, const char *purpose)
{
	const char *hex =
	    ksha256_of(kshown("%llu/%ld/%ld/%s", (unsigned long long)seed, trial, branch, purpose));

	for (int i = 0; i < 4; i++)
		sscanf(hex + 16 * i, "%16" SCNx64, &r->s[i]);
}

double
krng_double(struct krng *r)
{
	return (double)(krng_u64(r) >> 11) * 0x1p-53;
}

size_t
krng_below(struct krng *r, size_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;

	do
		v = krng_u64(r);
	while (v >= limit);
	return (size_t)(v % n);
}

size_t
krng_weighted(struct krng *r, const double *weight, size_t n)
{
	double sum = 0, u;
	size_t last = 0;

	kforeach_of(one, weight, n)
		sum += *one;
	if (!(sum > 0))
		return krng_below(r, n);
	u = krng_double(r) * sum;
	for (size_t i = 0; i < n; i++) {
		if (weight[i] <= 0)
			continue;
		last = i;
		if (u < weight[i])
			return i;
		u -= weight[i];
	}
	return last;
}

char *
kread_file(const char *path, size_t max, size_t *len)
{
	struct kbuf b = { 0 };
	char chunk[65536];
	ssize_t n;
	auto_close int fd =
	    strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);

	if (fd < 0)
		return NULL;
	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || b.len + (size_t)n > max) {
			errno = n < 0 ? errno : EFBIG;
			free(b.data);
			return NULL;
		}
		kbuf_add(&b, chunk, (size_t)n);
	}
	kbuf_add(&b, "", 0);
	if (len)
		*len = b.len;
	return b.data;
}

char *
kread_file_or_die(const char *path, size_t max, size_t *len)
{
	char *s = kread_file(path, max, len);

	if (!s)
		kdie_errno(errno == ENOENT || errno == EFBIG ? K_USAGE : K_IO, "%s", path);
	return s;
}

char *
kread_if_there(const char *path, size_t max, size_t *len)
{
	char *s = kread_file(path, max, len);

	if (!s && errno != ENOENT && errno != ENOTDIR)
		kdie_errno(K_IO, "%s", path);
	return s;
}

char *
kread_text_or_die(const char *path, size_t max)
{
	size_t len, at;
	char *text = kread_file_or_die(path, max, &len);

	at = strlen(text);
	if (at < len)
		kdie(K_USAGE, "%s: byte %zu (line %zu) is a NUL character; remove it", path, at,
		    kline_at(text, at));
	return text;
}

glob_t
kpaths(const char *pattern)
{
	glob_t found = { 0 };

	glob(pattern, 0, NULL, &found);
	return found;
}

/* Turns the result of stat into an answer; an unknown result ends the program. */
static bool
is_found(int result, const char *path)
{
	if (result < 0 && errno != ENOENT && errno != ENOTDIR)
		kdie_errno(K_IO, "%s", path);
	return result == 0;
}

bool
kfind(const char *path, struct stat *st)
{
	return is_found(stat(path, st), path);
}

bool
kfind_link(const char *path, struct stat *st)
{
	return is_found(lstat(path, st), path);
}

bool
kis_there(const char *path)
{
	struct stat st;

	return kfind(path, &st);
}

bool
kis_folder(const char *path)
{
	struct stat st;

	return kfind(path, &st) && S_ISDIR(st.st_mode);
}

DIR *
kopen_folder(const char *path)
{
	DIR *folder = opendir(path);

	if (!folder && errno != ENOENT)
		kdie_errno(K_IO, "%s", path);
	return folder;
}

struct dirent *
knext_entry(DIR *folder, const char *path)
{
	struct dirent *e;

	errno = 0;
	e = folder ? readdir(folder) : NULL;
	if (!e && errno)
		kdie_errno(K_IO, "%s", path);
	if (folder && !e)
		closedir(folder);
	return e;
}

char *
kfolder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? kstrndup(path, slash > path ? (size_t)(slash - path) : 1) : kstrdup(".");
}

const char *
kbeside(const char *path, const char *name)
{
	return kshown("%.*s%s", (int)(basename(path) - path), path, name);
}

int
ksync_folder(const char *path)
{
	auto_free char *dir = kfolder_of(path);
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

int
kwrite_all(int fd, const void *data, size_t len)
{
	for (const char *p = data; len;) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int
ktemporary(const char *path, char **tmp)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	*tmp = kasprintf("%s.XXXXXX", path);
	fd = mkostemp(*tmp, O_CLOEXEC);
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask);
	return fd;
}

/* Atomically; SYNC: its content reaches the disk before the name does. */
static int
replace(const char *path, const void *data, size_t len, bool sync)
{
	auto_free char *tmp = NULL;
	int fd = ktemporary(path, &tmp), why;

	if (fd < 0)
		return -1;
	if (kwrite_all(fd, data, len) == 0 && (!sync || fsync(fd) == 0) && close(fd) == 0 &&
	    rename(tmp, path) == 0)
		return 0;
	why = errno;
	unlink(tmp);
	errno = why;
	return -1;
}

int
kwrite_file(const char *path, const void *data, size_t len)
{
	return replace(path, data, len, true) < 0 ? -1 : ksync_folder(path);
}

void
kwrite_or_die(const char *path, const void *data, size_t len)
{
	if (kwrite_file(path, data, len) < 0)
		kdie_errno(K_IO, "%s", path);
}

static bool
has_content(const char *path, const void *data, size_t len)
{
	struct stat st;
	size_t n;
	auto_free char *old =
	    kfind(path, &st) && (size_t)st.st_size == len ? kread_if_there(path, len, &n) : NULL;

	return old && n == len && !memcmp(old, data, len);
}

void
kwrite_if_changed(const char *path, const void *data, size_t len)
{
	if (!has_content(path, data, len))
		kwrite_or_die(path, data, len);
}

void
kwrite_unsynced(const char *path, const void *data, size_t len)
{
	if (!has_content(path, data, len) && replace(path, data, len, false) < 0)
		kdie_errno(K_IO, "%s", path);
}

void
ksync_all(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		kdie_errno(K_IO, "%s", path);
}

char *
kset_aside(const char *path)
{
	char *kept = kasprintf("%s.old", path);
	struct stat st;

	for (int n = 2; kfind_link(kept, &st); n++) {
		free(kept);
		kept = kasprintf("%s.old.%d", path, n);
	}
	if (rename(path, kept) == 0)
		return kept;
	if (errno != ENOENT)
		kdie_errno(K_IO, "%s", kept);
	free(kept);
	return NULL;
}

void
kmake_folder(const char *path)
{
	bool made = mkdir(path, 0777) == 0 || errno == EEXIST;

	if (!made && errno == ENOENT && strchr(path, '/')) {
		auto_free char *parent = kfolder_of(path);

		kmake_folder(parent);
		made = mkdir(path, 0777) == 0 || errno == EEXIST;
	}
	if (!made)
		kdie_io("%s", path);
}

void
kmake_private(const char *path)
{
	struct stat st;

	if ((mkdir(path, 0700) < 0 && errno != EEXIST) || !kfind_link(path, &st))
		kdie_errno(K_IO, "%s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
		kdie(K_IO, "%s: must be a folder that only you can read (mode 0700)", path);
}

static char *
try_data(const char *dir, const char *below, const char *name)
{
	char *path = kasprintf("%s%s/%s", dir, below, name);

	if (kis_there(path))
		return path;
	free(path);
	return NULL;
}

/* The path of this program in BUF, or an empty string. */
static char *
own_path(char buf[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", buf, PATH_MAX - 1);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

char *
kdata_path(const char *name)
{
	const char *env = getenv("KILN_DATA");
	char exe[PATH_MAX], *path, *slash;

	if (env && (path = try_data(env, "", name)))
		return path;
	own_path(exe);
	for (int up = 0; up < 4 && (slash = strrchr(exe, '/')); up++) {
		*slash = '\0';
		if ((path = try_data(exe, "", name)) || (path = try_data(exe, "/share/kiln", name)))
			return path;
	}
	if ((path = try_data(KILN_DATADIR, "", name)))
		return path;
	kdie(K_MISSING, "%s: not found (searched $KILN_DATA=%s, the folders above the program, %s)",
	    name, env ?: "unset", KILN_DATADIR);
}

/* NAME in PLACE, a folder relative to this program's; NULL: not there. */
static char *
near_self(const char *place, const char *name)
{
	char self[PATH_MAX];
	auto_free char *folder = kfolder_of(own_path(self));

	return try_data(folder, place, name);
}

const char *
ktool_path(const char *name)
{
	auto_free char *path = near_self("", name);

	return kshown("%s", path ?: name);
}

char *
khelper_path(const char *name)
{
	char *path = near_self("", name);

	path = path ?: near_self("/../libexec/kiln", name);
	if (!path)
		kdie(K_MISSING,
		    "%s: not found next to %s or in ../libexec/kiln; run make or make install",
		    name, kprog);
	return path;
}

int
kby_number(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

size_t
kindex_of(const char *word, const char *const *list, size_t count)
{
	size_t i = 0;

	while (i < count && (!word || strcmp(list[i], word)))
		i++;
	return i;
}

bool
kis_listed(const char *words, const char *s, size_t len)
{
	for (const char *w = words; w; w++) {
		if (*w == *s && !strncmp(w, s, len) && (w[len] == ' ' || !w[len]))
			return len > 0;
		if (!(w = strchr(w, ' ')))
			break;
	}
	return false;
}

bool
kis_one_of(const char *words, const char *word)
{
	return kis_listed(words, word, strlen(word));
}

size_t
kutf8(const char *s, size_t left, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)*s;
	size_t n = first < 0x80 ? 1
	    : first >> 5 == 6   ? 2
	    : first >> 4 == 14  ? 3
	    : first >> 3 == 30  ? 4
	                        : 0;

	if (!n || n > left)
		return 0;
	*c = n == 1 ? first : first & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | ((unsigned char)s[i] & 0x3f);
	}
	return *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff) ? 0 : n;
}

size_t
kutf8_prefix(const char *text, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

char *
kwords(const char *text, char joint, bool foreign)
{
	struct kbuf b = kbuf_empty();

	for (bool gap = false; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool word = isalnum(c) || (foreign && c >= 0x80);
		char lower = (char)tolower(c);

		if (word && gap && b.len)
			kbuf_add(&b, &joint, 1);
		if (word)
			kbuf_add(&b, &lower, 1);
		gap = !word;
	}
	return b.data;
}

char *
klower(char *text)
{
	for (char *p = text; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return text;
}

bool
kis_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

int64_t
know_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double
kseconds_since(int64_t start_ns)
{
	return (double)(know_ns() - start_ns) * 1e-9;
}

const char *
know_text(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32] = "unknown";

	if (gmtime_r(&now, &tm))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return kshown("%s", getenv("KILN_NOW") ?: text);
}

size_t
kline_at(const char *text, size_t at)
{
	size_t line = 1;

	kforeach_of(one, text, at)
		line += *one == '\n';
	return line;
}
