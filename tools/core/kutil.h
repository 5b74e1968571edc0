/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kutil: what every tool needs: exit codes, messages, numbers, digests, seeded random streams,
 * paths to data files, steps of runs; and the C library's usual headers, which files that include
 * it need not repeat.
 */
#pragma once

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit codes, the same in every tool and every manual page. */
enum {
	K_OK = 0,      /* done */
	K_NO = 1,      /* the answer is no (predicates only) */
	K_USAGE = 2,   /* usage, bad input or configuration */
	K_MISSING = 3, /* something is missing here: compiler, sandbox, device */
	K_IO = 4,      /* input or output failed */
	/* try again: rate limit, busy device, network, a reply not yet written */
	K_AGAIN = 75
};

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
/*
 * Does what follows with ITEM, which it declares, pointing to each element of ARRAY, or to each of
 * the first COUNT of LIST, which must not move meanwhile and may be NULL if COUNT is 0.
 */
#define kforeach(item, array) kforeach_of(item, array, LEN(array))
#define kforeach_of(item, list, count) \
	for (__typeof__(*(list)) *item = (list), \
	                         *item##_end = (count) > 0 ? item + (count) : item; \
	     item < item##_end; item++)
/* The same for what OWNER, a pointer to a structure, has as its list and its count. */
#define kforeach_list(item, owner) kforeach_of(item, (owner)->list, (owner)->count)

/* The same with each of these texts: kforeach_text(name, "a", "b"). */
#define kforeach_text(text, ...) \
	for (const char *const text##_all[] = { __VA_ARGS__, NULL }, \
	                       *const *text##_at = text##_all, *text; \
	     (text = *text##_at); text##_at++)

/* Is the CONDITION true in some round of the LOOP: kany(kforeach(x, list), *x < 0)? */
#define kany(loop, condition) \
	({ \
		bool any_ = false; \
		loop if (condition) \
		{ \
			any_ = true; \
			break; \
		} \
		any_; \
	})

/* The first of the COUNT items of LIST whose MEMBER is TEXT; NULL: none. */
#define krow_with(list, count, member, text) \
	({ \
		__typeof__(&*(list)) row_ = NULL; \
		kforeach_of(one_, list, count) \
			if (!row_ && !strcmp(one_->member, text)) { \
				row_ = one_; \
			} \
		row_; \
	})

/* Name of the running tool; kutil_init sets it. */
extern const char *kprog;

/*
 * Start of every main: sets the tool's name, sets LC_NUMERIC to C, and, when KILN_PIPELINE is set
 * in the environment, asks the kernel to end this process with its parent, so that no stage
 * outlives a killed make. In a recipe of a run the process is a step from here on.
 */
void kutil_init(const char *prog);

/*
 * Whether an environment variable, "NAME=VALUE", may hold a secret: judged by its name, or by a
 * value that is an address with a password in it. Such variables do not reach the programs that
 * build or run candidates, nor other machines. Only the model call, and the tools that lead to one,
 * keep them: in all other tools kutil_init removes and wipes them. The sandbox uses an allow list
 * instead (ksandbox.h).
 */
bool kutil_is_secret(const char *variable);
void kutil_drop_secrets(void);

/* "NAME VERSION\n" on stdout, for --version. */
void kversion(void);
const char *kversion_string(void);

/* Message on stderr as "tool: message\n" (control characters masked), then exit(code). */
_Noreturn void kdie(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with ": strerror(errno)" appended. */
_Noreturn void kdie_errno(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The usual ones. */
#define kdie_usage(...) kdie(K_USAGE, __VA_ARGS__)
#define kdie_io(...) kdie_errno(K_IO, __VA_ARGS__)
void kwarn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Text for people on stdout, unchanged except that control characters are masked, and flushed. */
void ksay(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Copies what another program printed on its stderr to ours, with control characters masked. */
void kpass(const char *text, size_t len);

/*
 * Steps: what a run of a campaign learns about the programs that make its files, without asking
 * make. In the environment of a recipe KILN_TARGET names the file that is made, KILN_STEPS the file
 * of the run's steps, and KILN_WORDS a descriptor for messages, so that they do not mix with make's
 * own. The program adds lines to the file of the steps:
 *
 *	TIME trials/007/02/eval.ndjson -            it has begun
 *	TIME trials/007/02/eval.ndjson - TEXT       what it waits for or has found out
 *	TIME trials/007/02/eval.ndjson STATUS       it has ended
 *
 * Times are seconds of the monotonic clock. Programs that it starts find the target in KILN_STEP.
 */
#define KSTEP_RUNS "-"
/*
 * What this process waits for or has found out, in one line, for display in a run. False when it
 * is not part of a run, and the caller has to print it elsewhere. "" takes it back.
 */
bool kstatus(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, or else a line on stderr if that is a terminal or KILN_PROGRESS is 1. */
void kprogress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* HANDLER for the signals that end a program from outside: INT, TERM and HUP. */
void kcatch(void (*handler)(int sig));

/* Allocation that dies (K_IO) when out of memory; the caller frees. */
void *kmalloc(size_t n);
void *kcalloc(size_t n, size_t size);
void *krealloc(void *p, size_t n);
/* Makes room for one more item after the COUNT items of LIST, which always grows like this. */
#define kgrow(list, count) ((list) = kmore(list, count, sizeof *(list)))
void *kmore(void *list, size_t count, size_t size);
/* The place of one more item of such a list, whose COUNT includes it from here on. */
#define kadded(list, count) (kgrow(list, count), &(list)[(count)++])
char *kstrdup(const char *s); /* NULL for NULL */
/* At most N bytes of the string S: the copy ends at the first NUL. For bytes, use kmemdup. */
char *kstrndup(const char *s, size_t n);
/* S up to the first character of ENDS. */
char *kuntil(const char *s, const char *ends);
/* All N bytes, whatever they are, with a NUL appended. */
char *kmemdup(const void *bytes, size_t n);
char *kasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * A text for display, or a path, in one of many buffers that take turns; it is valid until there
 * have been 1023 more.
 */
const char *kshown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *kvasprintf(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/*
 * A variable with one of these is freed at the end of its block, however that is left: a pointer by
 * free, a struct kbuf by kbuf_free, a descriptor (-1: none) by close. errno stays as it is.
 * Jansson's json_auto_t does the same for JSON. Whatever is returned or handed over must not be
 * one.
 */
#define auto_free __attribute__((cleanup(kfree_at)))
#define auto_buf __attribute__((cleanup(kbuf_free)))
#define auto_close __attribute__((cleanup(kclose_at)))
void kfree_at(void *pointer);
void kclose_at(const int *fd);

/*
 * In a function with "...": declares TEXT, what FMT and the rest make, which is freed with the
 * block.
 */
#define kformatted(text, fmt) \
	va_list text##_args; \
	va_start(text##_args, fmt); \
	auto_free char *text = kvasprintf(fmt, text##_args); \
	va_end(text##_args)

/* A growing byte buffer; always NUL-terminated after len. Zero-initialise, free with kbuf_free. */
struct kbuf {
	char *data;
	size_t len;
	size_t cap;
};
/* One that holds an empty text; a zero-initialised one holds none (NULL). */
struct kbuf kbuf_empty(void);
void kbuf_add(struct kbuf *b, const void *data, size_t len);
/* The bytes of TEXT from one place up to another. */
void kbuf_slice(struct kbuf *b, const char *text, size_t from, size_t to);
void kbuf_puts(struct kbuf *b, const char *s);
void kbuf_printf(struct kbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* TEXT as a line for people: without control characters, and with a newline at its end. */
void kbuf_line(struct kbuf *b, const char *text);
/* Adds S, after BETWEEN unless B is empty: an item of a list. */
void kbuf_join(struct kbuf *b, const char *between, const char *s);
void kbuf_free(struct kbuf *b);

/*
 * The next part of *REST between characters of ENDS, none of them empty: *REST (NULL: no parts) is
 * cut up, and moves on. NULL: that was all.
 */
char *kpart(char **rest, const char *ends);
#define kpart_foreach(part, text, ends) \
	for (char *part##_rest = (text), *part; (part = kpart(&part##_rest, ends));)

/* Faults found in one input, one per line. Zero-initialise; free the text. */
struct kfaults {
	struct kbuf text;
	size_t count;
};
void kfault(struct kfaults *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* If there are any, prints each as a message and ends the program with K_USAGE. */
void kfaults_end(struct kfaults *f, const char *what);

/*
 * Length of a byte order mark at the start of the text, which some editors and gateways put before
 * UTF-8: 3, or 0.
 */
size_t kbom(const char *text, size_t len);

/*
 * Numbers from text: the whole string must be a number within [min, max], otherwise the program
 * ends with K_USAGE and a message that names WHAT.
 */
long knum_long(const char *s, long min, long max, const char *what);
double knum_double(const char *s, double min, double max, const char *what);

/* SHA-256 of a byte string (NULL: an empty one), as 64 lower-case hex digits and a NUL. */
void ksha256_hex(const void *data, size_t len, char hex[65]);
/* The same as a text of kshown. */
const char *ksha256(const void *data, size_t len);
const char *ksha256_of(const char *text);
bool ksha256_is(const void *data, size_t len, const char *digest);

/*
 * Random streams. A stream is a pure function of the campaign seed and a purpose: the same (seed,
 * trial, branch, purpose) gives the same draws on every machine. Generator: xoshiro256** (Blackman
 * and Vigna 2018), seeded with SHA-256 of the text "seed/trial/branch/purpose".
 */
struct krng {
	uint64_t s[4];
};
void krng_init(struct krng *r, uint64_t seed, long trial, long branch, const char *purpose);
static inline uint64_t
krng_u64(struct krng *r)
{
	/* xoshiro256** (Blackman and Vigna), here because judges draw millions of numbers. */
	uint64_t five = r->s[1] * 5, result = (five << 7 | five >> 57) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = r->s[3] << 45 | r->s[3] >> 19;
	return result;
}
/* Uniform in [0, 1) with 53 bits. */
double krng_double(struct krng *r);
/* Uniform in 0 .. n-1, without modulo bias; n > 0. */
size_t krng_below(struct krng *r, size_t n);
/* Index drawn with probability proportional to weight[i] >= 0; uniform when the sum is 0; n > 0. */
size_t krng_weighted(struct krng *r, const double *weight, size_t n);

/*
 * Whole file into memory, NUL-terminated; the caller frees. NULL and errno on failure; EFBIG above
 * max bytes.
 */
char *kread_file(const char *path, size_t max, size_t *len);
/* The same, but a failure is fatal: K_USAGE when there is no such file, K_IO otherwise. */
char *kread_file_or_die(const char *path, size_t max, size_t *len);
/* The same, but NULL when there is no such file. */
char *kread_if_there(const char *path, size_t max, size_t *len);
/*
 * The same as kread_file_or_die for a text, which a NUL would cut off unnoticed: a NUL dies with
 * K_USAGE, naming its offset.
 */
char *kread_text_or_die(const char *path, size_t max);
/* Atomic write: temporary file in the same folder, fsync, rename; -1 and errno on failure. */
int kwrite_file(const char *path, const void *data, size_t len);
/*
 * Such a file, PATH.XXXXXX, with the usual mode: its descriptor, and its name in *TMP, which the
 * caller frees; -1 and errno.
 */
int ktemporary(const char *path, char **tmp);
/* The same, but a failure is fatal (K_IO). */
void kwrite_or_die(const char *path, const void *data, size_t len);
/* The same, unless the file has this content already: its time says when it was made. */
void kwrite_if_changed(const char *path, const void *data, size_t len);
/*
 * The same for one of many files: after a power cut its content may be missing until ksync_all has
 * been called for the folder PATH, or another one in its file system.
 */
void kwrite_unsynced(const char *path, const void *data, size_t len);
void ksync_all(const char *path);
/* All of it to a descriptor; -1 and errno on failure. */
int kwrite_all(int fd, const void *data, size_t len);
/*
 * Rename a file that somebody wrote by hand to PATH.old, or to PATH.old.2 and so on if that exists.
 * Returns the new name, which the caller frees; NULL when there is no such file. Dies with K_IO.
 */
char *kset_aside(const char *path);
/* Make the folder PATH, and its parents, unless they exist. Dies with K_IO. */
void kmake_folder(const char *path);
/*
 * The same for one folder that only this user can read. If it is there with another mode or owner,
 * or is a link, the program ends with K_IO.
 */
void kmake_private(const char *path);
/* Does what follows with each PATH that matches PATTERN (glob(7)), sorted. */
#define kpath_foreach(path, pattern) \
	for (glob_t path##_all __attribute__((cleanup(globfree))) = kpaths(pattern), \
	                       *path##_once = &path##_all; \
	     path##_once; path##_once = NULL) \
		for (char **path##_at = path##_all.gl_pathv, *path; \
		     path##_at && (path = *path##_at); path##_at++)
glob_t kpaths(const char *pattern);
/*
 * Does the file or folder exist? If that cannot be determined, dies with K_IO: unknown is not the
 * same as no. No other code calls stat or access to ask whether something exists. kfind fills *ST
 * for the target of a link, kfind_link for the link itself; errno says why not.
 */
bool kis_there(const char *path);
bool kis_folder(const char *path);
bool kfind(const char *path, struct stat *st);
bool kfind_link(const char *path, struct stat *st);
/* Open a folder; NULL when there is none. Other failures die with K_IO. */
DIR *kopen_folder(const char *path);
/*
 * The next entry of the open folder PATH, or NULL after the last; then it is closed. A folder that
 * cannot be read to its end dies with K_IO. FOLDER may be NULL.
 */
struct dirent *knext_entry(DIR *folder, const char *path);
/*
 * fsync the folder that holds PATH, so that a rename survives a power cut; -1 and errno on failure.
 */
int ksync_folder(const char *path);

/*
 * Path of a data file that ships with kiln ("patterns/c.json"). Searched: $KILN_DATA, the folders
 * above the executable and share/kiln in them (an installation may be moved), PREFIX/share/kiln.
 * The caller frees. Dies with K_MISSING when the file is not found, naming the folders searched.
 */
char *kdata_path(const char *name);

/* For qsort: numbers of type long, the smallest first. */
int kby_number(const void *a, const void *b);
/* Index of WORD (may be NULL) in a list of COUNT words; COUNT: not found. */
size_t kindex_of(const char *word, const char *const *list, size_t count);
/* Is the word of LEN bytes at S one of WORDS, a blank-separated list? */
bool kis_listed(const char *words, const char *s, size_t len);
bool kis_one_of(const char *words, const char *word);
/*
 * Length in bytes of the character at S (LEFT bytes, 1 or more), and the character in *C; 0: no
 * valid character begins there. Overlong forms, surrogates and values above U+10FFFF are invalid.
 */
size_t kutf8(const char *s, size_t left, uint32_t *c);
/* Length of the longest prefix of TEXT that has at most MAX bytes and ends between characters. */
size_t kutf8_prefix(const char *text, size_t len, size_t max);
/*
 * The words of TEXT, which are runs of letters and digits, in lower case with JOINT between them;
 * with FOREIGN, bytes of other scripts count as letters. The caller frees.
 */
char *kwords(const char *text, char joint, bool foreign);
/* The folder of PATH, "." without one; the caller frees. */
char *kfolder_of(const char *path);
/* The file NAME in that folder, a text of kshown. */
const char *kbeside(const char *path, const char *name);

/* Makes the letters of TEXT small, in place; returns TEXT. */
char *klower(char *text);
/* Can it be part of a C name: an ASCII letter, a digit or '_'? */
bool kis_word(char c);
/* Does TEXT begin with PREFIX? */
static inline bool
kbegins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}
/* isspace and isdigit, for any char. */
static inline bool
kis_space(char c)
{
	return isspace((unsigned char)c);
}
static inline bool
kis_digit(char c)
{
	return isdigit((unsigned char)c);
}

/*
 * A program or library that tools start themselves: in a build folder it is next to this program,
 * in an installation in ../libexec/kiln. The caller frees; dies with K_MISSING when it is in
 * neither.
 */
char *khelper_path(const char *name);

/*
 * The kiln program NAME next to this one, or else just its name, to be found in PATH: a text of
 * kshown.
 */
const char *ktool_path(const char *name);

/* Monotonic clock in integer nanoseconds. */
int64_t know_ns(void);
/* Seconds since START of that clock. */
double kseconds_since(int64_t start_ns);
/*
 * Wall clock as "2026-01-31T12:00:00Z", a text of kshown; KILN_NOW in the environment pins it.
 */
const char *know_text(void);

/* Number, from 1, of the line of TEXT that contains byte AT. */
size_t kline_at(const char *text, size_t at);
/*
 * Replaces, in place, what a terminal would obey by '?': ASCII control characters except tab and
 * newline, and those above 0x80, alone or in UTF-8. The second form masks LEN bytes, including NUL.
 */
void kmask_controls(char *s);
void kmask_bytes(char *s, size_t len);
