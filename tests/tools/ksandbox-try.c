/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksandbox-try: run a command at a level of the sandbox and print what became of it as one JSON object; with --call,
 * be the runner instead: seal this process, load a shared object, call matmul of it and print the sum and start of
 * its output. For tests.
 */
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kio.h"
#include "ksandbox.h"
#include "kutil.h"

static const char usage_text[] =
    "usage: ksandbox-try [-l LEVEL] [-p build|run] [-b HOST:INSIDE]… [-e NAME=VALUE]… [-f NAME=FILE]…\n"
    "                    [-k FD]… [-t SECONDS] [-m MIB] [-n PROCESSES] [-O BYTES] [-F BYTES] [-i TEXT]\n"
    "                    [-s] [-K] [-g] [-r RUNS] COMMAND…\n"
    "       ksandbox-try --call FILE\n"
    "       ksandbox-try --probe LEVEL\n"
    "       ksandbox-try --adopt COMMAND…\n";

enum { MAX = 16 };

struct request {
	struct ksandbox s;
	struct kproc p;
	struct ksandbox_bind binds[MAX];
	char *env[MAX + 1];
	int keep[MAX];
	char *files[MAX];
	size_t env_count, file_count;
	bool spawn;	/* -s: through ksandbox_spawn, killed after the time-out */
	bool keep_work;	/* -K: leave the work folder and print its name */
	long runs;	/* -r: run so often and print the median time instead */
};

static _Noreturn void
usage(void)
{
	fputs(usage_text, stderr);
	exit(K_USAGE);
}

/* Be the runner of a candidate, without any of the judge's care: what the sandbox alone holds back is seen here. */
static int
call(const char *file)
{
	enum { SIDE = 64 };
	size_t n = SIDE * SIDE;
	float *a = kcalloc(n, sizeof *a), *b = kcalloc(n, sizeof *b), *c = kcalloc(n + SIDE, sizeof *c);
	void (*matmul)(const float *, const float *, float *, int, int, int);
	void *so;

	for (size_t i = 0; i < n; i++)
		a[i] = b[i] = 1;
	if (ksandbox_seal(false) < 0)
		kdie_errno(K_MISSING, "seal");
	so = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		kdie(K_NO, "%s", dlerror());
	*(void **)&matmul = dlsym(so, "matmul");
	if (!matmul)
		kdie(K_NO, "%s", dlerror());
	matmul(a, b, c, SIDE, SIDE, SIDE);
	printf("returned %g %.*s\n", (double)c[n - 1], (int)strnlen((char *)c, n), (char *)c);
	for (size_t i = 0; i < 32; i++)
		printf("%g ", (double)c[i]);
	putchar('\n');
	return 0;
}

/* Run a command and take in what it leaves behind: its exit status, or 99 when something lives on for a second. */
static int
adopt(char **argv)
{
	int status = 0;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		kdie_errno(127, "%s", argv[0]);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	for (int i = 0; i < 100; i++) {
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		usleep(10000);
	}
	kproc_reap_all();
	kwarn("%s left a process behind", argv[0]);
	return 99;
}

static void
add_bind(struct request *q, char *text)
{
	char *colon = strchr(text, ':');

	if (!colon || q->s.bind_count == MAX)
		usage();
	*colon = '\0';
	q->binds[q->s.bind_count++] = (struct ksandbox_bind){ text, colon + 1 };
}

static void
put_files(struct request *q)
{
	for (size_t i = 0; i < q->file_count; i++) {
		char *equals = strchr(q->files[i], '='), *data;
		size_t len;

		if (!equals)
			usage();
		*equals = '\0';
		data = kread_file_or_die(equals + 1, (size_t)64 << 20, &len);
		if (ksandbox_put(q->s.work, q->files[i], data, len, 0755) < 0)
			kdie_errno(K_IO, "%s", q->files[i]);
		free(data);
	}
}

/* Read a spawned program's output until it ends or its time is over, then kill it. */
static void
run_spawned(struct request *q, struct kproc_result *r)
{
	struct kbuf b = { 0 };
	char chunk[4096];
	int64_t start = know_ns();
	int output;
	pid_t pid = ksandbox_spawn(&q->s, q->p.argv, q->p.keep_fds, q->p.keep_count, &output);
	ssize_t n;

	if (pid < 0)
		kdie_errno(K_MISSING, "spawn");
	usleep((useconds_t)(q->p.timeout_s * 1e6));
	ksandbox_kill(pid);
	while ((n = read(output, chunk, sizeof chunk)) > 0)
		kbuf_add(&b, chunk, (size_t)n);
	close(output);
	kbuf_add(&b, "", 0);
	*r = (struct kproc_result){ .exit_code = -1, .signal = 9, .out = b.data, .out_len = b.len,
	    .wall_s = (double)(know_ns() - start) * 1e-9 };
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(struct request *q)
{
	double *ms = kcalloc((size_t)q->runs, sizeof *ms);
	struct kproc_result r;

	for (long i = 0; i < q->runs; i++) {
		int64_t start = know_ns();

		if (ksandbox_run(&q->s, &q->p, &r) < 0)
			kdie_errno(K_MISSING, "run");
		ms[i] = (double)(know_ns() - start) * 1e-6;
		kproc_result_free(&r);
	}
	qsort(ms, (size_t)q->runs, sizeof *ms, compare);
	printf("%-9s %4ld runs: median %.2f ms, 90 %% below %.2f ms, largest %.2f ms\n", ksandbox_name(q->s.level),
	    q->runs, ms[q->runs / 2], ms[q->runs * 9 / 10], ms[q->runs - 1]);
	free(ms);
}

static void
report(const struct request *q, const struct kproc_result *r, double total)
{
	json_t *j = json_pack("{s:s, s:i, s:i, s:b, s:b, s:o, s:o, s:f, s:f}", "level", ksandbox_name(q->s.level),
	    "exit_code", r->exit_code, "signal", r->signal, "timed_out", r->timed_out, "flooded", r->flooded,
	    "out", kjson_text(r->out ? r->out : "", r->out_len), "err",
	    kjson_text(r->err ? r->err : "", r->err_len), "wall_s", r->wall_s, "total_s", total);

	if (q->keep_work)
		json_object_set_new(j, "work", json_string(q->s.work));
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(j);
}

static void
run_once(struct request *q)
{
	struct kproc_result r = { 0 };
	int64_t start = know_ns();

	if (q->spawn)
		run_spawned(q, &r);
	else if (ksandbox_run(&q->s, &q->p, &r) < 0)
		kdie_errno(K_MISSING, "run");
	report(q, &r, (double)(know_ns() - start) * 1e-9);
	kproc_result_free(&r);
}

static void
parse(struct request *q, int argc, char **argv, const char **level)
{
	int o;

	while ((o = getopt(argc, argv, "+l:p:b:e:f:k:t:m:n:O:F:i:sKr:g")) != -1)
		switch (o) {
		case 'l': *level = optarg; break;
		case 'p': q->s.profile = strcmp(optarg, "run") ? KSANDBOX_BUILD : KSANDBOX_RUN; break;
		case 'b': add_bind(q, optarg); break;
		case 'e': q->env[q->env_count++ % MAX] = optarg; break;
		case 'f': q->files[q->file_count++ % MAX] = optarg; break;
		case 'k': q->keep[q->p.keep_count++ % MAX] = (int)knum_long(optarg, 3, 1000, "-k"); break;
		case 't': q->p.timeout_s = knum_double(optarg, 0, 600, "-t"); break;
		case 'm': q->s.memory_bytes = (uint64_t)knum_long(optarg, 1, 1 << 20, "-m") << 20; break;
		case 'n': q->s.processes = (uint64_t)knum_long(optarg, 1, 100000, "-n"); break;
		case 'O': q->p.max_output = (size_t)knum_long(optarg, 1, 1L << 30, "-O"); break;
		case 'F': q->s.file_bytes = (uint64_t)knum_long(optarg, 1, 1L << 40, "-F"); break;
		case 'i': q->p.in = optarg; q->p.in_len = strlen(optarg); break;
		case 's': q->spawn = true; break;
		case 'g': q->s.gpu = true; break;
		case 'K': q->keep_work = true; break;
		case 'r': q->runs = knum_long(optarg, 1, 10000, "-r"); break;
		default: usage();
		}
	if (optind == argc)
		usage();
	q->p.argv = argv + optind;
}

int
main(int argc, char **argv)
{
	struct request q = { .p = { .timeout_s = 10 } };
	const char *level = "auto";
	char *work;

	kutil_init("ksandbox-try");
	if (argc == 3 && !strcmp(argv[1], "--call"))
		return call(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--probe"))
		return puts(ksandbox_name(ksandbox_level(argv[2]))) < 0;
	if (argc > 2 && !strcmp(argv[1], "--adopt"))
		return adopt(argv + 2);
	q.s.binds = q.binds;
	q.s.env = q.env;
	q.p.keep_fds = q.keep;
	parse(&q, argc, argv, &level);
	q.s.level = ksandbox_level(level);
	q.s.work = work = ksandbox_work_new();
	put_files(&q);
	if (q.runs)
		measure(&q);
	else
		run_once(&q);
	if (q.keep_work)
		free(work);
	else
		ksandbox_work_free(work);
	return 0;
}
