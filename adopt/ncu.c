/* SPDX-License-Identifier: Apache-2.0 */
/* ncu: see ncu.h. */
#include "ncu.h"

#include "kio.h"

/* ncu --set full gives more than 2000 columns. */
enum { CELLS = 8192, TENSOR = 32 };

/* A row, split in place. */
struct row {
	char *cell[CELLS];
	size_t count;
};

/* The columns of interest. */
enum column { NAME, BLOCK, GRID, TIME, INST, READ, WRITE, CYCLES, COLUMNS };

static const char *const titles[COLUMNS] = { "Kernel Name", "Block Size", "Grid Size",
	"gpu__time_duration.sum", "smsp__thread_inst_executed.sum", "dram__bytes_read.sum",
	"dram__bytes_write.sum", "smsp__cycles_elapsed.avg" };

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

/* Where the columns are, -1: nowhere. */
struct columns {
	int at[COLUMNS], sum[LEN(ops)], rate[LEN(ops)];
	int tensor[TENSOR]; /* operations of matrix units, by type */
	size_t tensors;
};

/* RFC 4180: quoted cells contain commas and doubled quotes. */
static void
part(char *line, struct row *r)
{
	char *p = line, *to;

	r->count = 0;
	while (r->count < CELLS) {
		bool quoted = *p == '"';

		p += quoted;
		r->cell[r->count++] = to = p;
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

/* Also "1,073,741,824"; NAN for "n/a" and missing values. */
static double
number(const struct row *r, int at)
{
	char text[64], *to = text, *end;
	double d;

	if (at < 0 || (size_t)at >= r->count)
		return NAN;
	for (const char *p = r->cell[at]; *p && to < text + sizeof text - 1; p++)
		if (*p != ',')
			*to++ = *p;
	*to = '\0';
	d = strtod(text, &end);
	return end > text && !*end ? d : NAN;
}

static const char *
text_of(const struct row *r, int at)
{
	return at >= 0 && (size_t)at < r->count ? r->cell[at] : "";
}

static int
column_of(const struct row *r, const char *title)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->cell[i], title))
			return (int)i;
	return -1;
}

static void
find_columns(const struct row *r, struct columns *c)
{
	static const char tensor[] = "sm__ops_path_tensor_src_";

	*c = (struct columns){ 0 };
	for (size_t i = 0; i < COLUMNS; i++)
		c->at[i] = column_of(r, titles[i]);
	for (size_t i = 0; i < LEN(ops); i++) {
		c->sum[i] = column_of(r, ops[i].sum);
		c->rate[i] = column_of(r, ops[i].rate);
	}
	for (size_t i = 0; i < r->count && c->tensors < TENSOR; i++) {
		const char *name = r->cell[i], *dot = strchr(name, '.');

		if (!strncmp(name, tensor, strlen(tensor)) && dot && !strcmp(dot, ".sum") &&
		    strncmp(name + strlen(tensor), "int", 3))
			c->tensor[c->tensors++] = (int)i;
	}
}

/* Operations with floating-point numbers; NAN: they were not counted. */
static double
flops_of(const struct row *r, const struct columns *c)
{
	double flops = 0, cycles = number(r, c->at[CYCLES]);

	for (size_t i = 0; i < LEN(ops); i++) {
		double n = number(r, c->sum[i]);

		flops += ops[i].flops * (isnan(n) ? number(r, c->rate[i]) * cycles : n);
	}
	for (size_t i = 0; i < c->tensors; i++) {
		double n = number(r, c->tensor[i]);

		flops += isnan(n) ? 0 : n;
	}
	return flops;
}

/* "row_mix<float>(const float *, int)" has the name row_mix. */
static bool
is_named(const char *name, const char *kernel)
{
	size_t n = strlen(kernel);
	const char *p = strstr(name, kernel);

	return p && (p == name || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')) &&
	    !isalnum((unsigned char)p[n]) && p[n] != '_';
}

static bool
is_among(const char *name, const json_t *kernels)
{
	kjson_foreach(x, kernels) {
		if (is_named(name, json_string_value(x)))
			return true;
	}
	return false;
}

static bool
read_call(const struct row *r, const struct columns *cols, struct kconfigs_call *c)
{
	long long g[3] = { 0, 1, 1 }, b[3] = { 0, 1, 1 };
	const int *at = cols->at;
	double ns = number(r, at[TIME]);

	if (sscanf(text_of(r, at[GRID]), "(%lld, %lld, %lld)", &g[0], &g[1], &g[2]) < 1 ||
	    sscanf(text_of(r, at[BLOCK]), "(%lld, %lld, %lld)", &b[0], &b[1], &b[2]) < 1 ||
	    !isfinite(ns))
		return false;
	*c = (struct kconfigs_call){ { true, 6, { g[0], g[1], g[2], b[0], b[1], b[2] } }, ns / 1e3,
		number(r, at[INST]), number(r, at[READ]) + number(r, at[WRITE]), NULL,
		flops_of(r, cols), number(r, at[READ]), 0 };
	return true;
}

char *
ncu_command(const json_t *kernels)
{
	struct kbuf b = { 0 };
	const json_t *name;
	size_t i;

	kbuf_puts(&b, "ncu --target-processes all --csv --page raw --print-units base --metrics ");
	for (i = TIME; i < CYCLES; i++)
		kbuf_printf(&b, "%s,", titles[i]);
	for (i = 0; i < LEN(ops); i++)
		kbuf_printf(&b, "%s%s", i ? "," : "", ops[i].sum);
	kbuf_puts(&b, " --kernel-name 'regex:^(");
	json_array_foreach((json_t *)kernels, i, name)
		kbuf_printf(&b, "%s%s", i ? "|" : "", json_string_value(name));
	kbuf_puts(&b, ")$'");
	return b.data;
}

struct kconfigs_call *
ncu_calls(const char *file, const json_t *kernels, size_t *n)
{
	auto_free char *text = kread_file_or_die(file, (size_t)1 << 30, NULL);
	struct kconfigs_call *calls = NULL;
	struct row *row = kmalloc(sizeof *row);
	bool header = false;
	struct columns columns = { 0 };
	const int *at = columns.at;

	*n = 0;
	kpart_foreach(line, text, "\r\n") {
		/* Output of the application, or remarks of ncu. */
		if (!header && strncmp(line, NCU_TITLES, strlen(NCU_TITLES)))
			continue;
		part(line, row);
		if (!header) {
			find_columns(row, &columns);
			header = true;
			if (at[NAME] < 0 || at[GRID] < 0 || at[BLOCK] < 0 || at[TIME] < 0)
				kdie(K_USAGE,
				    "%s: columns are missing (Kernel Name, Grid Size, Block Size "
				    "or gpu__time_duration.sum); make the file with: ncu --metrics "
				    "gpu__time_duration.sum --csv --page raw --print-units base",
				    file);
			continue;
		}
		/* The row with the units has no ID. */
		if (!*row->cell[0] || !is_among(text_of(row, at[NAME]), kernels))
			continue;
		calls = krealloc(calls, (*n + 1) * sizeof *calls);
		*n += read_call(row, &columns, &calls[*n]);
	}
	if (!*n)
		kdie(K_USAGE, "%s: contains no launch of %s with grid, block and time", file,
		    json_string_value(json_array_get(kernels, 0)));
	free(row);
	return calls;
}
