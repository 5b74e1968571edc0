/* SPDX-License-Identifier: Apache-2.0 */
/* ncu: see ncu.h. */
#include "ncu.h"

#include "kio.h"
#include "kregex.h"

/* ncu --set full gives more than 2000 columns. */
enum { CELLS = 8192 };

struct table {
	json_t *columns; /* their numbers, by title; NULL before the line with the titles */
	json_t *tensors; /* the titles of operations of matrix units, by type */
	/* the current row, split in place */
	char *cell[CELLS];
	size_t count;
};

#define TIME "gpu__time_duration.sum"
#define INST "smsp__thread_inst_executed.sum"
#define READ "dram__bytes_read.sum"
#define WRITE "dram__bytes_write.sum"

/*
 * Instructions of threads, and operations in each. Those of half precision do not count: compilers
 * use them to convert numbers (HADD2) and to load constants (HFMA2).
 */
#define OP(name) "smsp__sass_thread_inst_executed_op_" name "_pred_on.sum"
static const struct {
	const char *sum, *rate; /* in all, and in a cycle, which is what --set full gives */
	int flops;
} ops[] = {
	{ OP("fadd"), OP("fadd") ".per_cycle_elapsed", 1 },
	{ OP("fmul"), OP("fmul") ".per_cycle_elapsed", 1 },
	{ OP("ffma"), OP("ffma") ".per_cycle_elapsed", 2 },
	{ OP("dadd"), OP("dadd") ".per_cycle_elapsed", 1 },
	{ OP("dmul"), OP("dmul") ".per_cycle_elapsed", 1 },
	{ OP("dfma"), OP("dfma") ".per_cycle_elapsed", 2 },
};

/* RFC 4180: quoted cells contain commas and doubled quotes. */
static void
part(char *line, struct table *t)
{
	char *p = line, *to;

	t->count = 0;
	while (t->count < CELLS) {
		bool quoted = *p == '"';

		p += quoted;
		t->cell[t->count++] = to = p;
		while (*p && (quoted ? *p != '"' || p[1] == '"' : *p != ',')) {
			p += quoted && *p == '"';
			*to++ = *p++;
		}
		p += quoted && *p == '"';
		if (*p != ',') {
			*to = '\0';
			return;
		}
		p++;
		*to = '\0';
	}
}

/* The cell of the current row in the column TITLE; "" if it is missing. */
static const char *
cell(const struct table *t, const char *title)
{
	const json_t *at = json_object_get(t->columns, title);
	size_t i = at ? (size_t)json_integer_value(at) : t->count;

	return i < t->count ? t->cell[i] : "";
}

/* Also "1,073,741,824"; NAN for "n/a" and missing values. */
static double
number(const struct table *t, const char *title)
{
	auto_free char *text = kregex_sub(",", cell(t, title), "");
	char *end;
	double d = strtod(text, &end);

	return end > text && !*end ? d : NAN;
}

/* Operations with floating-point numbers; NAN: they were not counted. */
static double
flops_of(const struct table *t)
{
	double flops = 0, cycles = number(t, "smsp__cycles_elapsed.avg"), n;

	kforeach(op, ops) {
		n = number(t, op->sum);
		flops += op->flops * (isnan(n) ? number(t, op->rate) * cycles : n);
	}
	kjson_foreach_text(title, t->tensors) {
		n = number(t, title);
		flops += isnan(n) ? 0 : n;
	}
	return flops;
}

/* "(16, 1, 1)" in the column TITLE; NULL: there is no such thing. New reference. */
static json_t *
triple(const struct table *t, const char *title)
{
	long long at[3] = { 0, 1, 1 };

	if (sscanf(cell(t, title), "(%lld, %lld, %lld)", &at[0], &at[1], &at[2]) < 1)
		return NULL;
	return json_pack("[I,I,I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2]);
}

/* "NAME|NAME", of all KERNELS. The caller frees. */
static char *
any_of(const json_t *kernels)
{
	struct kbuf b = kbuf_empty();

	kjson_foreach_text(name, kernels)
		kbuf_join(&b, "|", name);
	return b.data;
}

char *
ncu_command(const json_t *kernels)
{
	auto_free char *names = any_of(kernels);
	struct kbuf b = { 0 };

	kbuf_puts(&b,
	    "ncu --target-processes all --csv --page raw --print-units base --metrics " TIME
	    "," INST "," READ "," WRITE);
	kforeach(op, ops)
		kbuf_printf(&b, ",%s", op->sum);
	kbuf_printf(&b, " --kernel-name 'regex:^(%s)$'", names);
	return b.data;
}

/* The numbers of the columns in the current row, which has their titles. */
static void
find_columns(const char *file, struct table *t)
{
	static const char *const needed[] = { "Kernel Name", "Grid Size", "Block Size", TIME };

	t->columns = json_object();
	t->tensors = json_array();
	for (size_t i = t->count; i-- > 0;) {
		const char *title = t->cell[i];

		json_object_set_new(t->columns, title, json_integer((json_int_t)i));
		if (kregex_is("\\Asm__ops_path_tensor_src_(?!int)[^.]*\\.sum\\z", title))
			kjson_add(t->tensors, title);
	}
	kforeach(title, needed)
		if (!json_object_get(t->columns, *title))
			kdie(K_USAGE,
			    "%s: columns are missing (Kernel Name, Grid Size, Block Size or " TIME
			    "); make the file with: ncu --metrics " TIME " --csv --page raw "
			    "--print-units base",
			    file);
}

/* The launch in the current row; NULL: its geometry or its time is missing. New reference. */
static json_t *
read_call(const struct table *t)
{
	/* json_real makes nothing of NAN, so counters that are missing are left out. */
	return json_pack("{s:o,s:o,s:o,s:o*,s:o*,s:o*,s:o*}", "grid", triple(t, "Grid Size"),
	    "block", triple(t, "Block Size"), "ns", json_real(number(t, TIME)), "thread_inst",
	    json_real(number(t, INST)), "dram_bytes", json_real(number(t, READ) + number(t, WRITE)),
	    "dram_read", json_real(number(t, READ)), "flops", json_real(flops_of(t)));
}

json_t *
ncu_calls(const char *file, const json_t *kernels)
{
	auto_free char *text = kread_file_or_die(file, (size_t)1 << 30, NULL),
	               *names = any_of(kernels), *pattern = kasprintf("\\b(?:%s)\\b", names);
	/* "row_mix<float>(const float *, int)" has the name row_mix. */
	struct kregex *named = kregex_new("kernel", NULL, pattern, 0);
	struct table *t = kcalloc(1, sizeof *t);
	json_t *calls = json_array();

	kpart_foreach(line, text, "\r\n") {
		/* Output of the application, or remarks of ncu. */
		if (!t->columns && strncmp(line, NCU_TITLES, strlen(NCU_TITLES)))
			continue;
		part(line, t);
		if (!t->columns)
			find_columns(file, t);
		else if (*t->cell[0] && /* The row with the units has no ID. */
		    kregex_search(named, cell(t, "Kernel Name"), strlen(cell(t, "Kernel Name")), 0,
		        NULL) == KREGEX_FOUND)
			json_array_append_new(calls, read_call(t));
	}
	if (!json_array_size(calls))
		kdie(K_USAGE, "%s: contains no launch of %s with grid, block and time", file,
		    kjson_item(kernels, 0));
	kregex_free(named);
	json_decref(t->columns);
	json_decref(t->tensors);
	free(t);
	return calls;
}
