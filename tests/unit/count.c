/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kadopt's work by counters: real output of ncu on an H200, and sizes of several
 * configurations.
 */

#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

#include "../../adopt/count.c"
#include "../../adopt/ncu.c"

static char folder[] = "/tmp/kiln-count.XXXXXX";

struct adoption adoption;

/* count.c asks for one. */
char *
path_of(const char *fmt, ...)
{
	(void)fmt;
	return kasprintf("%s/configs.json", folder);
}

char *
counters_of(const json_t *kernels)
{
	(void)kernels;
	return kstrdup(kjson_str_or(adoption.json, "ncu", ""));
}

/* The formulas for KERNEL in FILE with these configurations and workloads. */
static json_t *
formulas(
    const char *kernel, const char *file, json_t *unit, const char *configs, const char *workloads)
{
	char *path = kasprintf("%s/configs.json", folder);
	json_t *task = json_pack("{s:o}", "workloads", json_loads(workloads, 0, NULL)), *found;

	adoption.json = json_pack("{s:s}", "ncu", file);
	adoption.unit = unit;
	adoption.kernel = kernel;
	kwrite_file(path, configs, strlen(configs));
	found = task_count(task);
	free(path);
	json_decref(task);
	json_decref(adoption.json);
	json_decref(unit);
	return found;
}

static json_t *
kernel(void)
{
	return json_pack("{s:b}", "kernel", 1);
}

static bool
says(json_t *found, const char *member, const char *formula)
{
	const char *is = kjson_str_or(found, member, "");
	bool same = !strcmp(is, formula);

	if (!same)
		printf("# %s: %s\n", member, is);
	return same;
}

/*
 * 2 * 2048 * 2048 * 2560 operations: those of half precision that only convert numbers do not
 * count.
 */
static void
test_recorded(void)
{
	char *file = kdata_path("tests/data/ncu-h200/counts.csv");
	json_t *found = formulas("matmul_naive", file, kernel(),
	    "{\"calls\": 2, \"configs\": [{\"name\": \"top1\", \"grid\": [64, 1, 1], \"block\": "
	    "[32, 1, 1], \"pointers\": {"
	    "\"A\": {\"bytes\": 10485760, \"read\": true}, \"B\": {\"bytes\": 10485760, \"read\": "
	    "true}, \"C\": {\"bytes\": 8388608, \"written\": true}}}]}",
	    "[{\"name\": \"top1\", \"axes\": {\"M\": 2048, \"N\": 2048, \"K\": 2560}}]");
	double flops = strtod(kjson_str_or(found, "flops", "0"), NULL);

	CHECK(flops > 0.999 * 21474836480 && flops < 1.001 * 21474836480);
	CHECK(!json_object_get(found, "bytes"));
	json_decref(found);
	/*
	 * Each element is multiplied once, and each access moves a whole sector; constants are no
	 * operations.
	 */
	found = formulas("strided_copy", file, kernel(),
	    "{\"calls\": 1, \"configs\": [{\"name\": \"top1\", \"grid\": [262144, 1, 1], "
	    "\"block\": [256, 1, 1], \"pointers\": {"
	    "\"a\": {\"bytes\": 268435456, \"read\": true}, \"b\": {\"bytes\": 268435456, "
	    "\"written\": true}}}]}",
	    "[{\"name\": \"top1\", \"axes\": {\"n\": 67108864}}]");
	flops = strtod(kjson_str_or(found, "flops", "0"), NULL);
	CHECK(
	    flops > 0.99 * 67108864 && flops < 1.01 * 67108864 && !json_object_get(found, "bytes"));
	json_decref(found);
	/* No arithmetic: no formula for it. */
	found = formulas("transpose_conflict", file, kernel(),
	    "{\"calls\": 1, \"configs\": [{\"name\": \"top1\", \"grid\": [256, 1, 1], \"block\": "
	    "[32, 1, 1]}]}",
	    "[{\"name\": \"top1\", \"axes\": {\"n\": 8192}}]");
	CHECK(!json_object_size(found));
	json_decref(found);
	free(file);
}

/* A file of launches, each "KERNEL GRID FFMA FADD READ". */
static char *
listed(const char *launches)
{
	static const char *const ops[] = { "fadd", "fmul", "ffma", "dadd", "dmul", "dfma" };
	char *path = kasprintf("%s/ncu.csv", folder), *text = kstrdup(launches);
	struct kbuf b = { 0 };
	size_t id = 0;

	kbuf_puts(&b, "==PROF== Connected to process 1\n\"ID\",");
	/* As many columns as --set full gives. */
	for (int i = 0; i < 3000; i++)
		kbuf_printf(&b, "\"c%d\",", i);
	kbuf_puts(&b,
	    "\"Kernel Name\",\"Block Size\",\"Grid "
	    "Size\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\"");
	kforeach(op, ops)
		kbuf_printf(&b, ",\"smsp__sass_thread_inst_executed_op_%s_pred_on.sum\"", *op);
	kbuf_puts(&b, "\n");
	kpart_foreach(line, text, ";") {
		char name[32];
		long grid, ffma, fadd, read;

		if (sscanf(line, "%31s %ld %ld %ld %ld", name, &grid, &ffma, &fadd, &read) != 5)
			abort();
		kbuf_printf(&b, "\"%zu\",", id++);
		for (int i = 0; i < 3000; i++)
			kbuf_puts(&b, "\"\",");
		kbuf_printf(&b,
		    "\"%s(float *)\",\"(64, 1, 1)\",\"(%ld, 1, "
		    "1)\",\"1000\",\"%ld\",\"0\",\"%ld\",\"0\",\"%ld\",\"0\",\"0\",\"0\"\n",
		    name, grid, read, fadd, ffma);
	}
	kwrite_file(path, b.data, b.len);
	kbuf_free(&b);
	free(text);
	return path;
}

#define TWO(pointers) \
	"{\"calls\": 4, \"configs\": [{\"name\": \"top1\", \"grid\": [10, 1, 1], \"block\": [64, " \
	"1, 1], \"pointers\": " pointers "}, " \
	"{\"name\": \"top2\", \"grid\": [20, 1, 1], \"block\": [64, 1, 1], " \
	"\"pointers\": " pointers "}]}"
static const char axes[] = "[{\"name\": \"top1\", \"axes\": {\"n\": 640, \"steps\": 3}}, "
                           "{\"name\": \"top2\", \"axes\": {\"n\": 1280, \"steps\": 5}}]";

static void
test_sizes(void)
{
	char *file = listed("k 10 3840 0 2560;k 20 12800 0 5120;k 10 3840 0 2560;other 10 1 1 1");
	json_t *found =
	    formulas("k", file, kernel(), TWO("{\"x\": {\"bytes\": 5120, \"read\": true}}"), axes);

	CHECK(says(found, "flops", "4*n*steps") && !json_object_get(found, "bytes"));
	json_decref(found);
	/* It reads 4 bytes for each n, of arrays with much more. */
	found =
	    formulas("k", file, kernel(), TWO("{\"x\": {\"bytes\": 51200, \"read\": true}}"), axes);
	CHECK(says(found, "bytes", "4*n"));
	json_decref(found);
	free(file);
	file = listed("k 10 0 960 2560;k 20 0 3200 5120");
	found = formulas("k", file, kernel(), TWO("{}"), axes);
	CHECK(says(found, "flops", "500*n*steps/1000"));
	json_decref(found);
	free(file);
	/* Less than a thousandth of the sizes: the formula must still give the counts. */
	file = listed("k 10 0 8 2560;k 20 0 16 5120");
	found = formulas("k", file, kernel(), TWO("{}"), axes);
	CHECK(says(found, "flops", "12500*n/1000000"));
	json_decref(found);
	free(file);
	/* Launches of one geometry that do different work; numbers in no proportion to sizes. */
	file = listed("k 10 100 0 1;k 10 200 0 1;k 20 300 0 1");
	found = formulas("k", file, kernel(), TWO("{}"), axes);
	CHECK(!json_object_size(found));
	json_decref(found);
	free(file);
	file = listed("k 10 100 0 1;k 20 90 0 1");
	found = formulas("k", file, kernel(), TWO("{}"), axes);
	CHECK(!json_object_size(found));
	json_decref(found);
	free(file);
}

/* The kernels of a host function together, per call. */
static void
test_sequence(void)
{
	char *file = listed("first 10 100 0 1;second 20 0 40 1;second 20 0 40 1;first 10 100 0 "
	                    "1;second 20 0 40 1;second 20 0 40 1");
	json_t *found = formulas("solve", file,
	    json_pack("{s:b,s:[s,s]}", "kernel", 0, "sequence", "first", "second"),
	    "{\"calls\": 2, \"configs\": [{\"name\": \"top1\", \"key\": {}}]}", axes);

	CHECK(says(found, "flops", "280"));
	json_decref(found);
	/* A kernel that the application did not launch. */
	found = formulas("solve", file,
	    json_pack("{s:b,s:[s,s]}", "kernel", 0, "sequence", "rare", "second"),
	    "{\"calls\": 2, \"configs\": [{\"name\": \"top1\", \"key\": {}}]}", axes);
	CHECK(says(found, "flops", "80"));
	json_decref(found);
	CHECK_EXIT(K_USAGE,
	    formulas("solve", file, json_pack("{s:b,s:[s]}", "kernel", 0, "sequence", "rare"),
	        "{\"calls\": 2, \"configs\": []}", axes));
	CHECK_EXIT(K_USAGE,
	    formulas("solve", file, json_pack("{s:b}", "kernel", 0),
	        "{\"calls\": 2, \"configs\": []}", axes));
	free(file);
}

int
main(void)
{
	if (!mkdtemp(folder))
		kdie_errno(K_IO, "%s", folder);
	test_recorded();
	test_sizes();
	test_sequence();
	return tap_done();
}
