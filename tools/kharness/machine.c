/* SPDX-License-Identifier: Apache-2.0 */
/* kharness: facts about this machine, from /proc and /sys. */
#include <sys/utsname.h>

#include "kharness.h"
#include "kregex.h"

/*
 * Vector and matrix extensions that a kernel writer should know about, as /proc/cpuinfo spells
 * them, and their usual names.
 */
static const char *const extensions[][2] = {
	{ "sse2", "sse2" },
	{ "sse4_2", "sse4.2" },
	{ "avx", "avx" },
	{ "f16c", "f16c" },
	{ "fma", "fma" },
	{ "avx2", "avx2" },
	{ "bmi2", "bmi2" },
	{ "avx512f", "avx512f" },
	{ "avx512bw", "avx512bw" },
	{ "avx512dq", "avx512dq" },
	{ "avx512vl", "avx512vl" },
	{ "avx512_vnni", "avx512_vnni" },
	{ "avx512_bf16", "avx512_bf16" },
	{ "avx512_fp16", "avx512_fp16" },
	{ "avx_vnni", "avx_vnni" },
	{ "amx_tile", "amx_tile" },
	{ "amx_bf16", "amx_bf16" },
	{ "amx_int8", "amx_int8" },
	{ "asimd", "neon" },
	{ "asimdhp", "fp16" },
	{ "asimddp", "dotprod" },
	{ "sve", "sve" },
	{ "sve2", "sve2" },
	{ "bf16", "bf16" },
	{ "i8mm", "i8mm" },
};

/* First line of a small file, or NULL; the caller frees. */
static char *
line_of(const char *path)
{
	char *text = kread_file(path, 65536, NULL);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/* The kernel's entry for cache I of CPU 0, or NULL; the caller frees. */
static char *
cache_line(int i, const char *what)
{
	return line_of(kshown("/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, what));
}

/* Bytes of CPU 0's data or unified cache at a level; 0: the highest level. */
static size_t
cache_bytes(int level)
{
	size_t best = 0;
	long best_level = 0;

	for (int i = 0; i < 8; i++) {
		auto_free char *kind = cache_line(i, "type"), *size = cache_line(i, "size"),
		               *text = cache_line(i, "level");
		char *unit;
		long at = text ? atol(text) : 0;

		if (at && kind && size && strcmp(kind, "Instruction") &&
		    (level ? at == level : at > best_level)) {
			best_level = at;
			best = strtoul(size, &unit, 10);
			best <<= *unit == 'M' ? 20 : *unit == 'K' ? 10 : 0;
		}
	}
	return best;
}

size_t
machine_llc(void)
{
	size_t n = cache_bytes(0);

	/* If the machine does not report it, assume a large one. */
	return n ?: (size_t)64 << 20;
}

/* Physical cores: distinct (package, core) pairs. */
static long
cores(const char *info, long threads)
{
	json_auto_t *seen = json_object();
	long count, package = 0, core;

	for (const char *line = info; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		sscanf(line, "physical id : %ld", &package);
		if (sscanf(line, "core id : %ld", &core) != 1)
			continue;
		kjson_enter(seen, kshown("%ld/%ld", package, core));
	}
	count = (long)json_object_size(seen);
	return count ?: threads;
}

static void
set_text(json_t *o, const char *key, char *text)
{
	if (text)
		kjson_set(o, key, kjson_string(text));
	free(text);
}

static char *
os_name(void)
{
	auto_free char *text = kread_file("/etc/os-release", 65536, NULL);

	return kregex_part("PRETTY_NAME=\"([^\"\n]*)", text);
}

static char *
cpu_name(const char *info)
{
	return kregex_part("(?m)^model name[ \t]*:[ \t]*(.*)", info) ?: kstrdup("unknown");
}

static json_t *
isa(const char *info)
{
	auto_free char *flags = kregex_part("(?m)^(?:flags|Features)[ \t]*:[ \t]*(.*)", info);
	json_t *list = json_array();

	kforeach(extension, extensions)
		if (flags && kis_one_of(flags, (*extension)[0]))
			kjson_add(list, (*extension)[1]);
	return list;
}

json_t *
machine_facts(void)
{
	auto_free char *info = kread_file_or_die("/proc/cpuinfo", 16 << 20, NULL);
	long threads = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname u;
	json_t *o = json_pack("{s:s,s:I,s:I,s:o,s:I,s:I,s:I,s:I}", "schema", "machine/1", "threads",
	    (json_int_t)threads, "cores", (json_int_t)cores(info, threads), "isa", isa(info),
	    "l1d_bytes", (json_int_t)cache_bytes(1), "l2_bytes", (json_int_t)cache_bytes(2),
	    "l3_bytes", (json_int_t)cache_bytes(3), "memory_bytes",
	    (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));

	set_text(o, "cpu", cpu_name(info));
	set_text(o, "os", os_name());
	if (uname(&u) == 0)
		set_text(o, "kernel", kasprintf("%s %s %s", u.sysname, u.release, u.machine));
	return o;
}

/* The conditions that a measurement depended on. */
json_t *
machine_environment(void)
{
	auto_free char *info = kread_file_or_die("/proc/cpuinfo", 16 << 20, NULL);
	char *governor;
	json_t *cpus = json_array(), *o;
	struct utsname u;
	double load = 0;

	for (int i = 0; i < KRUN_CPUS; i++)
		if (CPU_ISSET(i, &judge.cpus))
			json_array_append_new(cpus, json_integer(i));
	if (getloadavg(&load, 1) != 1)
		load = 0;
	o = json_pack("{s:I,s:o,s:I,s:f,s:s}", "threads", (json_int_t)judge.o.threads, "cpus", cpus,
	    "llc_bytes", (json_int_t)machine_llc(), "load_before", load, "caches", "cold");
	set_text(o, "cpu", cpu_name(info));
	if (judge.device)
		json_object_set_new(o, "device", device_environment());
	if (judge.opencl)
		json_object_set(o, "opencl", judge.opencl);
	if (uname(&u) == 0)
		set_text(o, "kernel", kasprintf("%s %s", u.sysname, u.release));
	governor = line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	set_text(o, "governor", governor);
	return o;
}
