/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krtc: compiles a program of device code only for an NVIDIA GPU, with NVRTC, which needs no
 * GPU; started by keval in the build sandbox.
 *
 *   krtc --build SOURCE OBJECT [OPTION...]    text to an object (klaunch_pack); OPTION:
 *                                             -arch=sm_..., which is needed, and others
 *   krtc --facts                              the compiler as one JSON object
 */

#include "kcompile.h"
#include "klaunch.h"

enum { SOURCE_MAX = 8 << 20, OPTIONS_MAX = 64 };

#ifdef __SANITIZE_ADDRESS__
/*
 * Memory that a driver or a compiler keeps is not our leak; and the leak checker cannot run in the
 * sandbox.
 */
int __lsan_is_turned_off(void);
int
__lsan_is_turned_off(void)
{
	return 1;
}
#endif

static void
find_or_die(void)
{
	char why[256];

	if (!kcompile_find(KGPU_CUDA, why, sizeof why))
		kdie(K_MISSING, "%s", why);
}

/* The code of a program for one device; ends the process when compilation fails. */
static char *
compile(const char *source, const char *name, int argc, char **argv, size_t *len)
{
	const char *options[OPTIONS_MAX + 2] = { "-I.", "-I/usr/local/cuda/include" };
	char why[256], *log, *code;
	int n = 2;

	for (int i = 0; i < argc && n < OPTIONS_MAX; i++)
		options[n++] = argv[i];
	options[n++] = "-default-device";
	code = kcompile(KGPU_CUDA, source, name, options, n, len, &log, why, sizeof why);
	if (log)
		fputs(log, stderr);
	free(log);
	if (!code) {
		fprintf(stderr, "%s: error: %s\n", name, why);
		exit(1);
	}
	if (!*len)
		kdie(K_USAGE,
		    "no code for a device was made: "
		    "build.flags in task.json must name one, such as -arch=sm_90a");
	return code;
}

/* Each kernel has its own section in the code, named after it. */
static bool
has_kernel(const char *code, size_t len, const char *kernel)
{
	const char *section = kshown(".text.%s", kernel);

	return memmem(code, len, section, strlen(section) + 1) != NULL;
}

static int
build(int argc, char **argv)
{
	struct klaunch_list list;
	char why[512], *source, *code, *object;
	size_t source_len, code_len, len;

	if (argc < 4)
		kdie(K_USAGE, "usage: krtc --build SOURCE OBJECT [OPTION...]");
	find_or_die();
	klaunch_limit_memory();
	source = kread_file_or_die(argv[2], SOURCE_MAX, &source_len);
	code = compile(source, argv[2], argc - 4, argv + 4, &code_len);
	if (!klaunch_parse(source, &list, why, sizeof why)) {
		fprintf(stderr, "%s: error: %s\n", argv[2], why);
		return 1;
	}
	kforeach_of(launch, list.at, list.count)
		if (!has_kernel(code, code_len, launch->kernel)) {
			fprintf(stderr,
			    "%s:%d: error: the program has no "
			    "kernel extern \"C\" __global__ void %s\n",
			    argv[2], launch->line, launch->kernel);
			return 1;
		}
	object = klaunch_pack(source, source_len, code, code_len, &len);
	kwrite_or_die(argv[3], object, len);
	return 0;
}

int
main(int argc, char **argv)
{
	int major, minor;

	kutil_init("krtc");
	if (argc > 1 && !strcmp(argv[1], "--build"))
		return build(argc, argv);
	if (argc != 2 || strcmp(argv[1], "--facts"))
		kdie(K_USAGE, "krtc is started by keval");
	find_or_die();
	kcompile_version(KGPU_CUDA, &major, &minor);
	printf("{\"nvrtc\":\"%d.%d\"}\n", major, minor);
	return 0;
}
