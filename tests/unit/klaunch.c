/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of klaunch: launch lines that hold, every fault in one, sizes, and the object that
 * carries them.
 */
#include "klaunch.h"

#include <stdlib.h>

#include "kutil.h"
#include "tap.h"

static struct klaunch_list list;
static char why[512];

static bool
parses(const char *source)
{
	*why = '\0';
	return klaunch_parse(source, &list, why, sizeof why);
}

static bool
says(const char *source, const char *part)
{
	bool good = !parses(source) && strstr(why, part);

	if (!good)
		fprintf(stderr, "# said: %s\n", why);
	return good;
}

static void
lines(void)
{
	struct kbuf many = { 0 };

	CHECK(parses("/* x */\n// kiln: launch kernel=a grid=ceildiv(n,64),2 block=64\nvoid a();\n"
	             "\t//kiln:launch shared=4*64 block=8,4,2 grid=1,m kernel=b_2  \n"));
	CHECK(list.count == 2);
	CHECK_STR(list.at[0].kernel, "a");
	CHECK_STR(list.at[0].grid[0], "ceildiv(n,64)");
	CHECK_STR(list.at[0].grid[1], "2");
	CHECK_STR(list.at[0].grid[2], "");
	CHECK_STR(list.at[1].block[2], "2");
	CHECK_STR(list.at[1].shared, "4*64");
	CHECK(list.at[0].line == 2 && list.at[1].line == 4);
	CHECK(parses("// kiln: launch kernel=a grid=1 block=1"));
	CHECK(parses("// kiln: launch kernel=a grid=1 block=1\r\n"));
	CHECK(says("", "no line says how to launch it"));
	CHECK(says("// kiln: launched kernel=a grid=1 block=1\nx // kiln: launch kernel=a grid=1 "
	           "block=1\n",
	    "no line says"));
	CHECK(says("\n// kiln: launch\n", "line 2: kernel= is missing"));
	CHECK(says("// kiln: launch kernel=a grid=1\n", "line 1: block= is missing"));
	CHECK(says("// kiln: launch kernel=a block=1\n", "line 1: grid= is missing"));
	CHECK(says("// kiln: launch kernel=a block=1 grid=1 kernel=b\n", "kernel occurs twice"));
	CHECK(says("// kiln: launch kernel=a+b block=1 grid=1\n", "is not the name of a kernel"));
	CHECK(says("// kiln: launch kernel=1a block=1 grid=1\n", "is not the name of a kernel"));
	CHECK(says("// kiln: launch kernel= block=1 grid=1\n", "is not the name of a kernel"));
	CHECK(says(
	    "// kiln: launch kernel=a block=1,2,3,4 grid=1\n", "is not one to three expressions"));
	CHECK(says(
	    "// kiln: launch kernel=a block=1,,3 grid=1\n", "is not one to three expressions"));
	CHECK(says("// kiln: launch kernel=a block= grid=1\n", "is not one to three expressions"));
	CHECK(
	    says("// kiln: launch kernel=a block=1 grid=1 shared=1,2\n", "is not one expression"));
	CHECK(says(
	    "// kiln: launch kernel=a block=1 grid=1 stream=0\n", "'stream=0' must be one of"));
	CHECK(says("// kiln: launch kernel=a block=1 grid=n * 2\n", "'*' must be one of"));
	CHECK(says("// kiln: launch kernel=a grid=(n + 1 block=1\n", "'+' must be one of"));
	CHECK(parses("// kiln: launch kernel=a grid=ceildiv(n, 64),max(1, (n + 3) / 4) block=( n "
	             ")\n"));
	CHECK_STR(list.at[0].grid[0], "ceildiv(n, 64)");
	CHECK_STR(list.at[0].grid[1], "max(1, (n + 3) / 4)");
	CHECK_STR(list.at[0].block[0], "( n )");
	CHECK(parses("\xef\xbb\xbf// kiln: launch kernel=a grid=1 block=1\n") &&
	    list.at[0].line == 1);
	for (int i = 0; i <= KLAUNCH_MAX; i++)
		kbuf_puts(&many, "// kiln: launch kernel=a block=1 grid=1\n");
	CHECK(says(many.data, "line 9: more than 8 launches"));
	kbuf_free(&many);
}

static bool
sizes(const struct ktask *t, const char *source, struct klaunch_size *size)
{
	return parses(source) && klaunch_eval(&list.at[0], t, t->workloads, size, why, sizeof why);
}

static void
values(void)
{
	struct ktask_workload w[2] = { { .name = "w", .axis = { 100, 3 } },
		{ .name = "big", .axis = { 100000000, 65536 } } };
	struct ktask t = { .axes = { { .name = "n" }, { .name = "m" } },
		.axis_count = 2,
		.workloads = w,
		.workload_count = 1 };
	struct klaunch_size s;

	CHECK(sizes(&t, "// kiln: launch kernel=a grid=ceildiv(n,64),m block=64,2 shared=m*4", &s));
	CHECK(s.grid[0] == 2 && s.grid[1] == 3 && s.grid[2] == 1);
	CHECK(s.block[0] == 64 && s.block[1] == 2 && s.block[2] == 1 && s.shared == 12);
	CHECK(!sizes(&t, "// kiln: launch kernel=a grid=k block=1", &s) &&
	    strstr(why, "line 1: grid=k"));
	CHECK(!sizes(&t, "// kiln: launch kernel=a grid=m-3 block=1", &s) &&
	    strstr(why, "is 0 for workload w"));
	CHECK(!sizes(&t, "// kiln: launch kernel=a grid=1 block=1/0", &s));
	CHECK(!sizes(&t, "// kiln: launch kernel=a grid=1 block=n,n", &s) &&
	    strstr(why, "a block of 10000"));
	CHECK(!sizes(&t, "// kiln: launch kernel=a grid=1 block=1 shared=-1", &s));
	CHECK(parses("// kiln: launch kernel=a grid=1,m block=1") &&
	    klaunch_check(&list, &t, why, sizeof why));
	t.workload_count = 2;
	CHECK(!klaunch_check(&list, &t, why, sizeof why) && strstr(why, "workload big"));
}

static void
objects(void)
{
	const char *source, *code;
	size_t len, source_len, code_len;
	char *data = klaunch_pack("text\n", 5, "\0code", 5, &len);

	CHECK(klaunch_unpack(data, len, &source, &source_len, &code, &code_len));
	CHECK(source_len == 5 && !memcmp(source, "text\n", 5) && code_len == 5 &&
	    !memcmp(code, "\0code", 5));
	CHECK(!klaunch_unpack(data, len - 1, &source, &source_len, &code, &code_len));
	CHECK(!klaunch_unpack(data, 10, &source, &source_len, &code, &code_len));
	CHECK(!klaunch_unpack("\177ELF\n", 5, &source, &source_len, &code, &code_len));
	CHECK(!klaunch_unpack("", 0, &source, &source_len, &code, &code_len));
	free(data);
}

int
main(void)
{
	lines();
	values();
	objects();
	return tap_done();
}
