/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kharness: locks the clocks of a GPU during measurements, if the machine permits it. A separate
 * process (kharness --hold-clocks) locks them and waits for the end of its input, which comes
 * however this process ends, even by a signal. It then resets the clocks, and only then may the
 * next holder lock them.
 */
#include <dlfcn.h>

#include "kharness.h"
#include "klock.h"

/* ---- the holder ---- */

/* The driver's management library (NVML), as far as it is used. */
static struct {
	int (*start)(void);
	int (*by_uuid)(const char *, void **);
	int (*default_clock)(void *, int, unsigned *);
	int (*most)(void *, int, unsigned *);
	int (*lock)(void *, unsigned, unsigned);
	int (*reset)(void *);
	const char *(*error)(int);
} nvml;

static const char *
bind_library(void)
{
	static const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "nvmlInit_v2", &nvml.start },
		{ "nvmlDeviceGetHandleByUUID", &nvml.by_uuid },
		{ "nvmlDeviceGetDefaultApplicationsClock", &nvml.default_clock },
		{ "nvmlDeviceGetMaxClockInfo", &nvml.most },
		{ "nvmlDeviceSetGpuLockedClocks", &nvml.lock },
		{ "nvmlDeviceResetGpuLockedClocks", &nvml.reset },
		{ "nvmlErrorString", &nvml.error },
	};
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *p;

	if (!library)
		return "libnvidia-ml.so.1 is not installed";
	kforeach(function, functions) {
		p = dlsym(library, function->name);
		if (!p)
			return "the management library cannot lock clocks";
		memcpy(function->to, &p, sizeof p);
	}
	return NULL;
}

/* Lock the clocks at MHZ (0: the device's default for applications); returns why not, or NULL. */
static const char *
lock_clocks(const char *uuid, void **handle, unsigned *mhz)
{
	enum { SM = 1 };
	const char *why = bind_library();
	char id[64];
	int e;

	if (why)
		return why;
	if (strlen(uuid) != 32)
		return "the device has no UUID";
	snprintf(id, sizeof id, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", uuid, uuid + 8, uuid + 12,
	    uuid + 16, uuid + 20);
	e = nvml.start();
	e = e ?: nvml.by_uuid(id, handle);
	if (!e && !*mhz && nvml.default_clock(*handle, SM, mhz))
		e = nvml.most(*handle, SM, mhz);
	e = e ?: nvml.lock(*handle, *mhz, *mhz);
	return e ? nvml.error(e) : NULL;
}

int
clocks_holder(const char *operand)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	auto_free char *uuid = kuntil(operand, ":"), *name = kasprintf("gpu-%s.clocks", uuid);
	char byte;
	unsigned mhz =
	    strchr(operand, ':') ? (unsigned)strtoul(strchr(operand, ':') + 1, NULL, 10) : 0;
	const char *why;
	void *handle = NULL;

	/* A signal that ends the measurement, such as Ctrl-C, must not leave the clocks locked. */
	setsid();
	kforeach(one, ignored)
		signal(*one, SIG_IGN);
	/* The next holder waits until these clocks are reset. */
	klock_device(name, true, true);
	why = lock_clocks(uuid, &handle, &mhz);
	printf("%u %s\n", why ? 0 : mhz, why ?: "locked");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	if (!why)
		nvml.reset(handle);
	return K_OK;
}

/* ---- the process that measures ---- */

static int hold_fd = -1;
static pid_t holder, asker;

static void
give_back(void)
{
	if (hold_fd < 0 || asker != getpid())
		return;
	close(hold_fd);
	hold_fd = -1;
	waitpid(holder, NULL, 0);
}

/* Start the holder; its one-line answer goes into ANSWER. */
static bool
start_holder(const char *operand, char *answer, size_t answer_len)
{
	int in[2], out[2];
	ssize_t n = 0, got;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		kdie_errno(K_IO, "pipe");
	holder = fork();
	if (holder < 0)
		kdie_errno(K_IO, "fork");
	if (!holder) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl("/proc/self/exe", "kharness", "--hold-clocks", operand, (char *)NULL);
		_exit(127);
	}
	asker = getpid();
	hold_fd = in[1];
	atexit(give_back);
	close(in[0]);
	close(out[1]);
	while ((size_t)n < answer_len - 1 &&
	    (got = read(out[0], answer + n, answer_len - 1 - (size_t)n)) > 0)
		if (memchr(answer + n, '\n', (size_t)got)) {
			n += got;
			break;
		} else {
			n += got;
		}
	answer[n] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	close(out[0]);
	return n > 0;
}

void
clocks_hold(void)
{
	bool required = !strcmp(judge.o.clocks, "require");
	const char *uuid = judge.device_uuid ? judge.device_uuid + strlen("gpu-") : "", *why;
	char answer[256] = "", *operand, *words;
	long mhz = 0;

	if (judge.clocks || !strcmp(judge.o.clocks, "off") || !judge.device)
		return;
	if (!judge.o.backend->clocks) {
		why = "this backend has no way to lock clocks here";
	} else {
		operand = kasprintf("%s:%ld", uuid, judge.o.clocks_mhz);
		why = start_holder(operand, answer, sizeof answer) ? NULL
		                                                   : "the process that keeps them "
		                                                     "locked did not start";
		mhz = strtol(answer, &words, 10);
		if (!why && mhz <= 0)
			why = *words ? words + 1 : "no reason given";
		free(operand);
	}
	if (why && required)
		kdie(K_MISSING,
		    "the device's clocks could not be locked: %s (--lock-clocks require)", why);
	if (why)
		kwarn("the device's clocks are not locked: %s", why);
	judge.clocks = json_pack("{s:s,s:b}", "asked", judge.o.clocks, "locked", !why);
	if (why)
		json_object_set_new(judge.clocks, "why", json_string(why));
	else
		json_object_set_new(judge.clocks, "mhz", json_integer(mhz));
}
