/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tier T1: from source to shared object, in the sandbox's build profile; trusted code is built in
 * the same way and cached.
 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include "keval.h"

enum { SO_MAX = 64 << 20, LOG_MAX = 4 << 20 };

static const char so_name[] = "candidate.so", exports_name[] = "exports.map",
                  exports_option[] = "--version-script=exports.map";

/* NULL: the task has its own compiler. */
static const struct device_compiler *
helper_of(void)
{
	return device_compiler(kjson_str_or(keval.task, "build.compiler", "gcc"));
}

bool
is_device_only(void)
{
	return helper_of() != NULL;
}

/* What builds S; NULL: a compiler. */
static const struct device_compiler *
helper_for(const struct subject *s)
{
	return s->host ? NULL : helper_of();
}

/* The source of a host function, if candidates consist of device code. */
static const char *
host_source(void)
{
	return is_gpu() ? "host.cu" : "host.c";
}

const char *
source_name(void)
{
	return kcamp_backend()->source;
}

int
sandbox_level(void)
{
	if (!keval.level)
		keval.level = ksandbox_level(kcamp_str("eval.sandbox"));
	return keval.level;
}

void
work_put(const char *work, const char *name, const void *data, size_t len)
{
	if (ksandbox_put(work, name, data, len, 0644) < 0)
		kdie_io("%s/%s", work, name);
}

/* Whether PATTERN is in one of the flags. */
static bool
names(const json_t *flags, const char *pattern)
{
	return kany(kjson_foreach_text(flag, flags), kregex_is(pattern, flag ?: ""));
}

/*
 * Whether the linker should drop unreachable code. Only the entry is then a root: a source that was
 * taken out of an application has host functions that no call of the kernel needs, and they call
 * exit() and other functions that no candidate may call.
 */
static bool
wants_entry_only(void)
{
	return names(kjson_path(keval.task, "build.flags"), "--gc-sections");
}

void
work_put_sources(const struct subject *s, const char *work)
{
	auto_free char *exports =
	    kasprintf("{ global: %s; local: *; };\n", kjson_str_or(keval.task, "entry.name", "*"));

	if (wants_entry_only())
		work_put(work, exports_name, exports, strlen(exports));
	work_put(work, s->host ? host_source() : source_name(), s->code, strlen(s->code));
	kforeach_of(file, s->files, s->file_count)
		if (!kbegins(file->path, "candidate."))
			work_put(work, file->path, file->content, strlen(file->content));
}

char *
file_take(int file, size_t max, size_t *len)
{
	auto_close int fd = file;
	struct kbuf b = { 0 };
	char chunk[65536];
	ssize_t n = 0;

	while (fd >= 0 && b.len <= max && (n = pread(fd, chunk, sizeof chunk, (off_t)b.len)) > 0)
		kbuf_add(&b, chunk, (size_t)n);
	if (fd < 0 || n < 0 || b.len > max) {
		kbuf_free(&b);
		return NULL;
	}
	kbuf_add(&b, "", 0);
	*len = b.len;
	return b.data;
}

/*
 * A file of the work folder; NULL when there is none, it is not a regular file, or it is larger
 * than MAX.
 */
char *
work_read(const char *work, const char *name, size_t max, size_t *len)
{
	return file_take(ksandbox_open(work, name), max, len);
}

/*
 * The sandbox's PATH is fixed; a compiler that is not on it is missing, and the candidate is not at
 * fault.
 */
static void
need_compiler(const char *compiler)
{
	if ((strchr(compiler, '/') && !access(compiler, X_OK)) || ksandbox_finds(compiler))
		return;
	kdie(K_MISSING, "compiler %s is not installed (task.json, build.compiler)", compiler);
}

static const char *
compiler_of(void)
{
	return kjson_str_or(keval.task, "build.compiler", "gcc");
}

static bool
is_nvcc(void)
{
	return strstr(basename(compiler_of()), "nvcc") != NULL;
}

/* GCC, or one of its usual names; Clang ignores this. */
static bool
is_gcc(void)
{
	return kregex_is("gcc|g[+][+]|\\Ac(?:c|[+][+])\\z", basename(compiler_of()));
}

/* Whether the device code of several objects must be linked. */
static bool
is_relocatable(const json_t *extra_flags)
{
	static const char words[] = "rdc|relocatable-device-code|lto|link-time-opt";

	return names(kjson_path(keval.task, "build.flags"), words) || names(extra_flags, words);
}

/* COMPILER FLAGS -shared -o OBJECT SOURCE EXTRA LIBS */
static void
compose_compiler(const json_t *extra_flags, struct words *c)
{
	words_add(c, compiler_of());
	words_json(c, kjson_path(keval.task, "build.flags"));
	/*
	 * Otherwise GCC's pragmas change macros in a compilation but not under -E, so the compiled
	 * text would differ from the scanned one.
	 */
	if (is_gcc())
		words_add(c, "-no-integrated-cpp");
	words_add(c, "-shared");
	/* nvcc would link device code, and compile a file that registers it, for any object. */
	if (is_nvcc() && !is_relocatable(extra_flags))
		words_add(c, "-nodlink");
	/*
	 * nvcc passes options to the host compiler only on request; with two threads it
	 * preprocesses for host and device at the same time.
	 */
	if (is_nvcc())
		words_add(c, "-t", "2", "-Xcompiler");
	words_add(c, "-fPIC", "-o", so_name, source_name());
	words_json(c, extra_flags);
	words_json(c, kjson_path(keval.task, "build.libs"));
	if (wants_entry_only())
		words_add(c, "-Xlinker", exports_option);
}

/*
 * COMPILER FLAGS -E SOURCE: to standard output, because a file would be visible in the compilation.
 */
static void
compose_preprocessor(struct words *c)
{
	/* What nvcc defines for the device only; a name that is not defined does no harm. */
	static const char *const of_the_device[] = { "-U__CUDA_ARCH__",
		"-UCUDA_DOUBLE_MATH_FUNCTIONS", "-U__CUDA_ARCH_SPECIFIC__",
		"-U__CUDA_ARCH_FAMILY_SPECIFIC__", "-U__CUDA_ARCH_FEAT_SM90_ALL",
		"-U__CUDA_ARCH_FEAT_SM100_ALL", "-U__CUDA_ARCH_FEAT_SM101_ALL",
		"-U__CUDA_ARCH_FEAT_SM103_ALL", "-U__CUDA_ARCH_FEAT_SM110_ALL",
		"-U__CUDA_ARCH_FEAT_SM120_ALL", "-U__CUDA_ARCH_FEAT_SM121_ALL", NULL };

	words_add(c, compiler_of());
	words_json(c, kjson_path(keval.task, "build.flags"));
	/* nvcc -E shows what the device gets; harm could come from the host's code. */
	if (is_nvcc()) {
		words_list(c, of_the_device);
		words_add(c, "-Xcompiler");
	}
	words_add(c, "-fPIC", "-E", source_name());
}

/* PROGRAM --build SOURCE OBJECT OPTION... */
static void
compose_helper(const json_t *extra_flags, struct words *c)
{
	words_add(c, helper_of()->program, "--build", source_name(), so_name);
	words_json(c, kjson_path(keval.task, "build.flags"));
	words_json(c, extra_flags);
}

/*
 * A host function: the oracle, and comparators for a GPU. It is compiled for the same device as
 * candidates.
 */
static void
compose_host(const json_t *extra_flags, struct words *c)
{
	if (is_gpu())
		words_add(c, "nvcc", "-O3", "-std=c++17", "-cudart", "shared", "-Xcompiler",
		    "-fPIC,-fvisibility=default");
	else
		words_add(c, "gcc", "-O2", "-std=gnu11", "-fopenmp", "-fPIC");
	words_add(c, "-shared", "-o", so_name, host_source());
	kjson_foreach_text(flag, keval.task, "build.flags")
		if (is_gpu() && !strncmp(flag ?: "", "-arch=", 6))
			words_add(c, flag);
	words_json(c, extra_flags);
	words_add(c, "-lm");
}

static void
compose(const struct subject *s, const json_t *extra_flags, struct words *c)
{
	if (s->host)
		compose_host(extra_flags, c);
	else if (helper_of())
		compose_helper(extra_flags, c);
	else
		compose_compiler(extra_flags, c);
}

static char *
command_text(char *const *argv)
{
	struct kbuf b = { 0 };

	for (; *argv; argv++)
		kbuf_join(&b, " ", *argv);
	return b.data;
}

char *
build_log(const struct kproc_result *r, int max)
{
	auto_free char *both = kasprintf("%s%s", r->err, r->out),
	               *log = klog_compiler(both, strlen(both)), *end = forced_end(r, max);

	return end ? kasprintf("%s[the build was %s]\n", log, end) : kstrdup(log);
}

/* What ptxas -v reported about the kernels; NULL if nothing. New reference. */
static json_t *
build_resources(const char *log)
{
	static const char form[] = "ptxas[^\\n]*? (\\d+) registers|(\\d+) bytes stack frame|"
	                           "(\\d+) bytes spill (?:stores|loads)";
	enum { REGISTERS = 1, STACK, SPILLED, FIGURES };
	struct kregex_span at[FIGURES];
	long count[FIGURES] = { 0 }, most[FIGURES] = { 0 }, sum[FIGURES] = { 0 };

	for (; kregex_match(form, log, at); log += at->to)
		for (size_t i = REGISTERS; i < FIGURES; i++)
			if (at[i].from != KREGEX_UNSET) {
				long n = atol(log + at[i].from);

				count[i]++;
				most[i] = n > most[i] ? n : most[i];
				sum[i] += n;
			}
	return count[REGISTERS] ? json_pack("{s:i,s:i,s:i,s:i}", "kernels", (int)count[REGISTERS],
	                              "registers", (int)most[REGISTERS], "stack_bytes",
	                              (int)most[STACK], "spill_bytes", (int)sum[SPILLED])
	                        : NULL;
}

/*
 * Runs COMMAND in the build sandbox: a compiler, or one of our HELPER programs, which gets the
 * user's device settings. The helper limits its own memory, unless the driver that it asks to
 * compile reserves unlimited address space.
 */
static void
run_build(const struct device_compiler *helper, const char *work, struct words *command,
    size_t max_output, struct kproc_result *r)
{
	static const char *const passed[] = { "KILN_OPENCL", "KILN_OPENCL_DEVICE",
		"CUDA_VISIBLE_DEVICES" };
	char *name = command->at[0], inside[] = "/kiln/compiler";
	auto_free char *program = helper ? khelper_path(helper->program) : NULL;
	json_int_t megabytes = (json_int_t)kcamp_int("eval.memory_mb");
	char *env[LEN(passed) + 2] = { kasprintf("KILN_MEMORY_MB=%lld", (long long)megabytes) };
	size_t n = 1;
	struct ksandbox s = { .level = sandbox_level(),
		.profile = KSANDBOX_BUILD,
		.work = work,
		.binds = &(struct ksandbox_bind){ program, inside },
		.bind_count = helper != NULL,
		.env = helper ? env : NULL,
		.gpu = helper && helper->needs_device,
		.memory_bytes = helper ? 0 : (uint64_t)megabytes << 20 };
	struct kproc p = { .argv = command->at,
		.max_output = max_output,
		.timeout_s = kcamp_num("eval.build_timeout_s") };

	kforeach(variable, passed)
		if (getenv(*variable))
			env[n++] = kasprintf("%s=%s", *variable, getenv(*variable));
	if (helper)
		command->at[0] = inside;
	else
		need_compiler(name);
	if (ksandbox_run(&s, &p, r) < 0)
		kdie(K_MISSING, "the build did not start in the sandbox");
	command->at[0] = name;
	while (n-- > 0)
		free(env[n]);
	if (helper && r->exit_code == K_MISSING)
		kdie(K_MISSING, "%s: %.300s", name, r->err);
}

/*
 * Compile the files in the work folder; TEXT: not the source, but this file, which is what the
 * preprocessor made of it.
 */
static void
compile(const struct subject *s, const char *work, const char *text, const json_t *extra_flags,
    struct build *b)
{
	struct words c = { .count = 0 };
	auto_run struct kproc_result r;
	auto_free char *command = NULL;

	compose(s, extra_flags, &c);
	command = command_text(c.at);
	kforeach_of(word, c.at, text ? c.count : 0)
		if (!strcmp(*word, source_name()))
			*word = (char *)text;
	run_build(helper_for(s), work, &c, LOG_MAX, &r);
	b->log = build_log(&r, LOG_MAX);
	b->json = json_pack("{s:i,s:f,s:o,s:s,s:o*}", "exit_code", r.exit_code, "wall_s", r.wall_s,
	    "log", kjson_string(b->log), "command", command, "resources", build_resources(r.err));
	if (ended_well(&r))
		b->so = work_read(work, so_name, SO_MAX, &b->so_len);
	b->ok = b->so != NULL;
}

/* What the compiler will see after macro expansion; NULL when the preprocessor fails. */
static char *
preprocess(const char *work)
{
	struct words c = { .count = 0 };
	auto_run struct kproc_result r;

	compose_preprocessor(&c);
	run_build(NULL, work, &c, SO_MAX, &r);
	return ended_well(&r) ? kstrndup(r.out, r.out_len) : NULL;
}

/*
 * The same in a process of its own, in parallel with the compiler; the file gets the text and a
 * zero byte.
 */
static int
preprocess_beside(const char *work)
{
	int file = memfd_create("expanded", MFD_CLOEXEC);
	pid_t pid;
	char *text;

	need_compiler(compiler_of());
	if (file < 0 || fflush(NULL) || (pid = fork()) < 0)
		kdie_errno(K_MISSING, "a process for the preprocessor");
	if (pid)
		return file;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	text = preprocess(work);
	_exit(!text || kwrite_all(file, text, strlen(text) + 1));
}

/* There is no text to scan. */
static void
refuse_unscanned(struct build *b)
{
	free(b->log);
	b->log = kasprintf(
	    "%s -E fails or does not end on a program that the compiler accepts\n", compiler_of());
	b->ok = false;
}

/*
 * NULL when the text is incomplete: that process is ended when the compiler has ended, whether it
 * is done or not.
 */
static char *
text_of(int file)
{
	size_t len;
	char *text = file_take(file, SO_MAX + 1, &len);

	if (text && len > 1 && !text[len - 1])
		return text;
	free(text);
	return NULL;
}

/*
 * GCC compiles the very text that is scanned: the preprocessor could find another one in a second
 * run, because it may ask which files there are.
 */
static void
build_as_scanned(const struct subject *s, const char *work, struct build *b)
{
	/* The compiler knows by these names what it is. */
	const char *text = strstr(compiler_of(), "++") ? "expanded.ii" : "expanded.i";

	b->expanded = preprocess(work);
	if (b->expanded)
		work_put(work, text, b->expanded, strlen(b->expanded));
	compile(s, work, b->expanded ? text : NULL, NULL, b);
	if (b->ok && !b->expanded)
		refuse_unscanned(b);
}

void
build_candidate(struct trial *t)
{
	struct build *b = &t->b;
	auto_close int lock = klock_cpu(false);
	int file;

	work_put_sources(t->s, t->work);
	if (is_gcc() && kcamp_backend()->syntax == KTOKEN_C && !is_device_only()) {
		build_as_scanned(t->s, t->work, b);
		return;
	}
	file = is_device_only() ? -1 : preprocess_beside(t->work);
	compile(t->s, t->work, NULL, NULL, b);
	b->expanded = file < 0 ? NULL : text_of(file);
	if (file >= 0 && b->ok && !b->expanded && !(b->expanded = preprocess(t->work)))
		refuse_unscanned(b);
}

void
build_free(struct build *b)
{
	free(b->so);
	free(b->log);
	free(b->expanded);
	json_decref(b->json);
	*b = (struct build){ 0 };
}

/*
 * The output of "COMPILER --version", and this CPU's model and features, for which -march=native
 * compiles. It is asked once: nvcc takes its time, and an evaluation needs two programs at least.
 */
static void
add_environment(struct kbuf *key, const char *compiler)
{
	static char *asked;
	static struct kbuf answer;
	char *argv[] = { (char *)compiler, (char[]){ "--version" }, NULL };
	auto_free char *line = NULL;
	struct kproc p = { .argv = argv, .timeout_s = 20 };
	auto_run struct kproc_result r = { 0 };
	FILE *f;
	size_t cap = 0;

	if (asked && !strcmp(asked, compiler)) {
		kbuf_puts(key, answer.data);
		return;
	}
	kbuf_free(&answer);
	free(asked);
	asked = kstrdup(compiler);
	need_compiler(compiler);
	kproc_must(&p, &r);
	kbuf_puts(&answer, r.out);
	f = fopen("/proc/cpuinfo", "re");
	while (f && getline(&line, &cap, f) > 1)
		if (kregex_is("\\A(?:model name|flags|Features)", line))
			kbuf_puts(&answer, line);
	if (f)
		fclose(f);
	kbuf_puts(key, answer.data);
}

/* What one of our programs compiles for. */
static void
add_device(struct kbuf *key)
{
	char *work = ksandbox_work_new();
	struct words w = { .count = 0 };
	auto_run struct kproc_result r;

	words_add(&w, helper_of()->program, "--facts");
	run_build(helper_of(), work, &w, LOG_MAX, &r);
	kbuf_puts(key, r.out);
	ksandbox_work_free(work);
}

static char *
cache_path(const struct subject *s, const json_t *flags)
{
	struct words c = { .count = 0 };
	const char *folder = kplace_trial(0, "build");
	auto_free char *text = subject_text(s), *command = NULL;
	auto_buf struct kbuf key = { 0 };

	compose(s, flags, &c);
	command = command_text(c.at);
	kbuf_printf(&key, "%s\n", command);
	if (helper_for(s))
		add_device(&key);
	else
		add_environment(&key, c.at[0]);
	kbuf_puts(&key, text);
	kmake_folder(folder);
	return kasprintf("%s/%.32s.so", folder, ksha256(key.data, key.len));
}

void
build_keep(const struct build *b)
{
	auto_free char *path = cache_path(subject, NULL);

	kwrite_or_die(path, b->so, b->so_len);
}

char *
build_cached(const struct subject *s, const json_t *flags, char **log)
{
	auto_free char *path = cache_path(s, flags);
	char *work;
	struct build b = { 0 };
	int lock;

	*log = NULL;
	if (!kis_there(path)) {
		work = ksandbox_work_new();
		lock = klock_cpu(false);
		work_put_sources(s, work);
		compile(s, work, NULL, flags, &b);
		close(lock);
		ksandbox_work_free(work);
		if (b.ok)
			kwrite_or_die(path, b.so, b.so_len);
		else
			*log = kstrdup(b.log);
		build_free(&b);
	}
	return *log ? NULL : kstrdup(path);
}
