/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of ktask: expressions, a task that loads, and every fault told apart. */
#include "ktask.h"

#include <math.h>
#include <stdlib.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

static const char good[] =
    "{'schema':'task/1','name':'t','op':'matmul','description':'d','language':'c',"
    "'axes':{'M':{'type':'var'},'N':{'type':'var'},'T':{'type':'const','value':16},"
    "'MT':{'type':'expr','expression':'MN*T'},'MN':{'type':'expr','expression':'M*N'}},"
    "'inputs':{'A':{'shape':['M','N'],'dtype':'float32','distribution':'uniform'},"
    "'eps':{'shape':null,'dtype':'float32','value':0.5}},"
    "'outputs':{'C':{'shape':['M','ceildiv(N,2)',3],'dtype':'bfloat16'},"
    "'D':{'shape':['M'],'dtype':'int32','inout':true}},"
    "'entry':{'name':'f','arguments':['A',{'axis':'M','dtype':'int64'},'C','D','eps','N']},"
    "'reference':'r.c','baselines':[{'name':'b','file':'b.c','flags':['-lm'],'symbols':['x']}],"
    "'build':{'compiler':'gcc','flags':['-O2'],'libs':[]},'flops':'2*M*N','bytes':'M/"
    "1','reduction':'N',"
    "'tolerance':{'rtol':0.001,'matched_ratio':0.99,'max_error_cap':1},'linear':true,"
    "'workloads':[{'name':'w','axes':{'M':5,'N':7},'sets':['quick'],'timed':true},{'name':'v','"
    "axes':{'M':1,'N':1}}]}";

/* The task with FROM replaced by TO, single quotes made double. The caller frees. */
static char *
text(const char *from, const char *to)
{
	struct kbuf b = { 0 };
	const char *at = from ? strstr(good, from) : NULL;

	if (at) {
		kbuf_add(&b, good, (size_t)(at - good));
		kbuf_puts(&b, to);
		kbuf_puts(&b, at + strlen(from));
	} else {
		kbuf_puts(&b, good);
	}
	for (char *p = b.data; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	return b.data;
}

static struct ktask *
load(const char *from, const char *to)
{
	char path[] = "/tmp/ktask.XXXXXX", *s = text(from, to);
	int fd = mkstemp(path);
	struct ktask *t;

	if (fd < 0 || write(fd, s, strlen(s)) != (ssize_t)strlen(s))
		abort();
	close(fd);
	t = ktask_load(path);
	unlink(path);
	free(s);
	return t;
}

static void
test_load(void)
{
	struct ktask *t = load(NULL, NULL);
	const struct ktask_workload *w = ktask_workload(t, "w");
	char *path = ktask_path(t, "r.c");

	CHECK(t->axis_count == 5 && t->tensor_count == 4 && t->arg_count == 6 &&
	    t->workload_count == 2 && t->baseline_count == 1);
	CHECK_STR(path, "/tmp/r.c");
	CHECK_STR(t->entry, "f");
	CHECK(w && w->timed && ktask_in_set(w, "quick") && !ktask_in_set(w, "full"));
	CHECK(ktask_in_set(ktask_workload(t, "v"), "anything") && !ktask_workload(t, "nothing"));
	CHECK(w->axis[0] == 5 && w->axis[2] == 16 && w->axis[3] == 560 && w->axis[4] == 35);
	CHECK(t->tensors[1].scalar && t->tensors[1].value == 0.5 &&
	    t->tensors[0].distribution == KDIST_UNIFORM);
	CHECK(ktask_elements(t, w, &t->tensors[2]) == 60 &&
	    ktask_last_axis(t, w, &t->tensors[2]) == 3);
	CHECK(ktask_elements(t, w, &t->tensors[1]) == 1 &&
	    ktask_last_axis(t, w, &t->tensors[1]) == 1);
	CHECK(t->tensors[3].input && t->tensors[3].output && !t->tensors[2].input &&
	    t->tensors[2].dtype == KDTYPE_BF16);
	CHECK(t->args[0].kind == KARG_TENSOR && t->args[1].kind == KARG_AXIS &&
	    t->args[1].dtype == KDTYPE_I64);
	CHECK(t->args[5].kind == KARG_AXIS && t->args[5].dtype == KDTYPE_I32);
	CHECK(ktask_value(t, w, t->flops) == 70 && ktask_value(t, w, NULL) == 0);
	CHECK(t->rtol == 0.001 && t->atol < 0 && t->matched_ratio == 0.99 && t->max_error_cap == 1);
	CHECK(t->distribution_count == 4 && t->distributions[2] == KDIST_ZERO_ONE);
	CHECK_EXIT(K_USAGE, ktask_value(t, w, "1/0"));
	free(path);
	ktask_free(t);
	ktask_free(NULL);
}

/* What a workload says of itself alone: how much it counts, and values of scalars. */
static void
test_workload(void)
{
	struct ktask *t = load(
	    "'axes':{'M':5,'N':7}", "'axes':{'M':5,'N':7},'weight':0.25,'values':{'eps':0.125}");

	CHECK(ktask_workload(t, "w")->weight == 0.25 && ktask_workload(t, "v")->weight == 1);
	CHECK(ktask_scalar(ktask_workload(t, "w"), &t->tensors[1]) == 0.125);
	CHECK(ktask_scalar(ktask_workload(t, "v"), &t->tensors[1]) == 0.5);
	ktask_free(t);
}

static void
test_expressions(void)
{
	static const struct {
		const char *text;
		long value;
	} right[] = {
		{ "1+2*3", 7 },
		{ "(1+2)*3", 9 },
		{ "7-2-1", 4 },
		{ "12/2/3", 2 },
		{ "M*N%4", 3 },
		{ "-M+10", 5 },
		{ "min(M,N)", 5 },
		{ "max(M, N*2)", 14 },
		{ "ceildiv(7,2)", 4 },
		{ "ceildiv(8,2)", 4 },
		{ " MN ", 35 },
		{ "2*(M-(N-5))", 6 },
		{ "--3", 3 },
	};
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "", "expected a number" },
		{ "1+", "expected a number" },
		{ "Q", "no such axis: Q" },
		{ "M N", "unexpected text" },
		{ "(M", "')'" },
		{ "M/0", "division by zero" },
		{ "M%0", "division by zero" },
		{ "min(M)", "two arguments" },
		{ "pow(M,2)", "unknown function" },
		{ "9223372036854775807+1", "64 bits" },
		{ "9223372036854775808", "64 bits" },
		{ "ceildiv(M,0)", "ceildiv" },
		{ "min(M,N", "')'" },
		{ "$", "expected a number" },
		{ "(0-9223372036854775807-1)/-1", "64 bits" },
	};
	struct ktask *t = load(NULL, NULL);
	char why[256], deep[1000];
	int64_t v;

	for (size_t i = 0; i < LEN(right); i++)
		CHECK(ktask_eval(t, t->workloads, right[i].text, &v, why, sizeof why) &&
		    v == right[i].value);
	for (size_t i = 0; i < LEN(wrong); i++)
		CHECK(!ktask_eval(t, t->workloads, wrong[i].text, &v, why, sizeof why) &&
		    strstr(why, wrong[i].why));
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	CHECK(!ktask_eval(t, t->workloads, deep, &v, why, sizeof why) && strstr(why, "deeply"));
	ktask_free(t);
}

static void
test_faults(void)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{ "'sets':['quick']", "'weight':0",
		    "workloads[0].weight: must be above 0 and at most" },
		{ "'sets':['quick']", "'values':{'eps':[1]}",
		    "workloads[0] (w): values: eps must be a number" },
		{ "'value':0.5", "'value':'x'", "inputs.eps.value: must be a number" },
		{ "'eps':{'shape':null,'dtype':'float32'", "'eps':{'shape':null,'dtype':'int32'",
		    "inputs.eps: its value is not of type int32" },
		{ "'D':{'shape':['M'],'dtype':'int32','inout':true}},",
		    "'D':{'shape':['M'],'dtype':'int32','inout':true}},'min_time_ns':-1,",
		    "min_time_ns: must be a number of 0 or more" },
		{ "'name':'t'", "'name':''", "name: must not be empty" },
		{ "'sets':['quick']", "'values':{'A':[1]}",
		    "values: 'A' must be an input of an integer type or a scalar" },
		{ "'schema':'task/1'", "'schema':'task/2'", "schema: must be task/1" },
		{ "'op'", "'opp'", "opp: unknown field" },
		{ "'op':'matmul',", "", "op: is missing" },
		{ "'name':'t'", "'name':3", "name: must be a string" },
		{ "'axes':{'M'", "'axes':{'M+'",
		    "axes.M+: an axis's name must be a valid C variable name" },
		{ "{'type':'var'}", "{'type':'varr'}",
		    "axes.M.type: must be one of var|const|expr" },
		{ ",'value':16}", "}", "axes.T: type const needs \"value\"" },
		{ "'MN*T'", "'MN*Q'", "axes.MT.expression: 'MN*Q': no such axis: Q" },
		{ "'M*N'}", "'M*MT'}", "workloads[0] (w): axis" },
		{ "'A':{'shape'", "'M':{'shape'",
		    "inputs.M: a tensor's name must be a valid C variable name" },
		{ "'dtype':'float32','distribution'", "'dtype':'float8','distribution'",
		    "inputs.A.dtype: must be one of float32|" },
		{ "'uniform'", "'gaussian'", "inputs.A.distribution: must be one of normal|" },
		{ "['M','N']", "[]", "inputs.A.shape: must have 1 to 8 members" },
		{ "['M','N']", "['M','K']", "inputs.A: 'K': no such axis: K" },
		{ "['M','N']", "['M',true]",
		    "inputs.A.shape[1]: must be a string or a whole number" },
		{ "['M','N']", "['M','N-7']", "A has a dimension of 0" },
		{ "['M','N']", "['M','1/(M-5)']", "division by zero" },
		{ ",'value':0.5", "", "inputs.eps: a scalar must be an input" },
		{ "'inout':true", "'inout':true,'value':3", "outputs.D.value: unknown field" },
		{ "'bfloat16'", "'bfloat16','distribution':'normal'",
		    "outputs.C: only an input or an" },
		{ "'arguments':['A',", "'arguments':[",
		    "entry.arguments: 'A' must be passed once, not 0 times" },
		{ "'eps','N'", "'eps','Z'",
		    "entry.arguments[5]: 'Z' is not an input, output or axis" },
		{ "'eps','N'", "'eps',{'axis':'A'}", "entry.arguments[5]: 'A' is a tensor" },
		{ "'eps','N'", "'eps',{'axis':'N','dtype':'float32'}",
		    "entry.arguments[5].dtype: must be one of int32|int64" },
		{ "'eps','N'", "'eps',7", "entry.arguments[5]: must be a string or an object" },
		{ "'name':'f'", "'name':'f()'", "entry.name: 'f()' must be a valid C function" },
		{ "'r.c'", "'../r.c'", "reference: '../r.c' must be a file in the task's folder" },
		{ "'file':'b.c'", "'file':'/b.c'", "baselines[0].file: '/b.c' must be a file" },
		{ "'file':'b.c',", "", "baselines[0].file: is missing" },
		{ "['-O2']", "[2]", "build.flags[0]: must be a string" },
		{ "'2*M*N'", "'2*M*'", "flops: '2*M*'" },
		{ "'M/1'", "'M/(N-7)'", "division by zero" },
		{ "0.99", "1.5", "tolerance.matched_ratio: must be above 0 and at most 1 " },
		{ ",'max_error_cap':1", "",
		    "tolerance.max_error_cap: a matched_ratio below 1 needs" },
		{ "'rtol':0.001", "'rtol':-1", "tolerance.rtol: must be a number of 0 or more" },
		{ "'linear':true", "'distributions':['normal','normal']",
		    "distributions: 'normal' occurs twice" },
		{ "'M':{'type':'var'}", "'M':{'type':'var','fixed':true,'min':1}",
		    "axes.M: it is fixed, so it has no min" },
		{ "'M':{'type':'var'}", "'M':{'type':'var','min':3,'max':2}",
		    "axes.M: min is above max" },
		{ "'M':{'type':'var'}", "'M':{'type':'var','step':0}",
		    "axes.M.step: must be a whole number of 1 or more" },
		{ "'M':{'type':'var'}", "'M':{'type':'var','max':4}",
		    "axes: M is 5 in workload w, which contradicts its own" },
		{ ",'value':16}", ",'value':16,'fixed':true}", "axes.T: only an axis of type var" },
		{ "'distribution':'uniform'", "'fixed':true",
		    "inputs.A: only an axis of type var, or a scalar" },
		{ "'linear':true", "'distributions':['norm']",
		    "distributions[0]: must be one of normal|" },
		{ "'N':7", "'N':7,'Q':1", "workloads[0] (w): 'Q' is not an axis of type var" },
		{ "'N':7", "'T':7", "workloads[0] (w): axis N is missing" },
		{ "'N':7", "'N':'7'", "workloads[0].axes.N: must be a whole number of 0 or more" },
		{ "'N':7", "'N':-7", "workloads[0].axes.N: must be a whole number of 0 or more" },
		{ "['M','N']", "['M',100000,100000,100000]", "too many" },
		{ "'name':'v'", "'name':'w'", "workloads[1] (w): two workloads have the name 'w'" },
		{ "'name':'v'", "'name':''", "workloads[1].name: must have 1 to 64 characters" },
		{ ",'timed':true", "", "workloads: at least one must be \"timed\": true" },
		{ "'axes':{'M':5,'N':7}", "'axes':3", "workloads[0].axes: must be an object" },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		char *s = text(cases[i].from, cases[i].to), *faults = NULL;
		json_t *json = json_loads(s, 0, NULL);
		size_t n = ktask_faults(json, &faults);

		if (!tap_check(json && n > 0 && strstr(faults, cases[i].message), cases[i].message,
		        __FILE__, __LINE__))
			printf("# got '%s'\n", faults);
		json_decref(json);
		free(faults);
		free(s);
	}
}

/* Contents of an integer input fit its type and its size. */
static void
test_values(void)
{
	static const struct {
		const char *values, *message;
	} cases[] = {
		{ "[1,2,3]", "values: offsets must be a list of 5 integers, not 3" },
		{ "[1,2,3,4,128]", "values: offsets must be a list of integers of type int8" },
		{ "[1,2,3,4,0.5]", "workloads[0].values.offsets[4]: must be a whole number" },
		{ "7", "values: offsets must be a list of integers of type int8" },
		{ "[-128,2,3,4,127]", NULL },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		char *s = text("'inputs':{", "'inputs':{'offsets':{'shape':['M'],'dtype':'int8'},"),
		     *faults = NULL;
		json_t *json = json_loads(s, 0, NULL),
		       *w = json_array_get(json_object_get(json, "workloads"), 0);
		size_t n;

		json_array_append_new(json_object_get(json_object_get(json, "entry"), "arguments"),
		    json_string("offsets"));
		json_object_set_new(w, "values",
		    json_pack(
		        "{s:o}", "offsets", json_loads(cases[i].values, JSON_DECODE_ANY, NULL)));
		n = ktask_faults(json, &faults);
		if (!tap_check(
		        cases[i].message ? n == 1 && strstr(faults, cases[i].message) : n == 0,
		        cases[i].values, __FILE__, __LINE__))
			printf("# got '%s'\n", faults);
		json_decref(json);
		free(faults);
		free(s);
	}
}

/* A reference can be its own oracle when its numbers can be made double. */
static void
test_lacks_oracle(void)
{
	struct ktask *t = load(NULL, NULL);

	CHECK(!ktask_lacks_oracle(t, "void f(const REAL *A);") &&
	    ktask_lacks_oracle(t, "void f(const float *A);"));
	t->oracle = "o.c";
	CHECK(!ktask_lacks_oracle(t, "void f(const float *A);"));
	ktask_free(t);
	t = load("'gcc'", "'opencl'");
	CHECK(ktask_lacks_oracle(t, "REAL") && strstr(ktask_lacks_oracle(t, "REAL"), "host"));
	ktask_free(t);
	t = load(NULL, NULL);
	for (size_t i = 0; i < t->tensor_count; i++)
		t->tensors[i].dtype = KDTYPE_F64;
	CHECK(!ktask_lacks_oracle(t, "void f(const double *A);"));
	ktask_free(t);
}

static void
test_bad_files(void)
{
	CHECK_EXIT(K_USAGE, load("'op'", "'opp'"));
	CHECK_EXIT(K_USAGE, ktask_load("/nonexistent/task.json"));
}

static void
test_names(void)
{
	CHECK(kdtype_of("float16") == KDTYPE_F16 && kdtype_of("half") == KDTYPE_COUNT &&
	    kdtype_of(NULL) == KDTYPE_COUNT);
	CHECK(kdist_of("heavy_tail") == KDIST_HEAVY_TAIL && kdist_of("") == KDIST_COUNT);
	CHECK_STR(kdtype_name(KDTYPE_BF16), "bfloat16");
	CHECK_STR(kdist_name(KDIST_ZERO_ONE), "zero_one");
	CHECK(kdtype_size(KDTYPE_I64) == 8 && kdtype_is_float(KDTYPE_F16) &&
	    !kdtype_is_float(KDTYPE_I32));
	CHECK(kdtype_eps(KDTYPE_F32) == 0x1p-23 && kdtype_eps(KDTYPE_F16) == 0x1p-10 &&
	    kdtype_eps(KDTYPE_BF16) == 0x1p-7);
}

/* Limits of an axis: what workloads have in common, and what the task states. */
static void
test_limits(void)
{
	static const struct {
		const char *axis, *sizes; /* members of the axis; sizes of the workloads */
		bool fixed;
		long min, max, step;
	} cases[] = {
		{ "", "1 7 4096", false, 1, 4096, 1 },
		{ "", "64 192 1024", false, 64, 1024, 64 },
		{ "", "4096 8192", false, 4096, 8192, 256 },
		{ "", "0 1", false, 0, 1, 1 },
		{ "", "1000", false, 500, 1000, 8 },
		{ "", "256", false, 128, 256, 32 },
		{ "", "1", true, 1, 1, 1 },
		{ ",'fixed':true", "1 7", true, 1, 7, 1 },
		{ ",'min':1,'max':100", "64", false, 1, 100, 8 },
		{ ",'step':3", "6 9", false, 6, 9, 3 },
		{ ",'step':64", "64", true, 32, 64, 64 },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		char *sizes = kstrdup(cases[i].sizes);
		json_t *task = json_object(), *list = json_array();
		struct ktask_limits l;
		struct kbuf b = { 0 };

		for (char *word = strtok(sizes, " "); word; word = strtok(NULL, " "))
			json_array_append_new(
			    list, json_pack("{s:{s:i}}", "axes", "M", atoi(word)));
		kbuf_printf(&b, "{'M':{'type':'var'%s}}", cases[i].axis);
		for (char *p = b.data; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		json_object_set_new(task, "axes", json_loads(b.data, 0, NULL));
		json_object_set_new(task, "workloads", list);
		l = ktask_limits(task, "M");
		if (!tap_check(l.fixed == cases[i].fixed && l.min == cases[i].min &&
		            l.max == cases[i].max && l.step == cases[i].step,
		        cases[i].sizes, __FILE__, __LINE__))
			printf("# got %d, %ld to %ld, step %ld\n", l.fixed, (long)l.min,
			    (long)l.max, (long)l.step);
		json_decref(task);
		kbuf_free(&b);
		free(sizes);
	}
}

/*
 * Sizes that no workload lists: expressions follow, dimensions stay above 0, divisions stay as
 * exact as they were.
 */
static void
test_settle(void)
{
	struct ktask *t = load("'ceildiv(N,2)'", "'N/7+1'");
	struct ktask_workload w = t->workloads[0];

	w.axis[0] = 9;
	CHECK(ktask_settle(t, &w) && w.axis[4] == 9 * 7 && w.axis[3] == 9 * 7 * 16);
	w.axis[0] = 0;
	CHECK(!ktask_settle(t, &w));
	ktask_free(t);
	t = load("'N':7},'sets'", "'N':6},'sets'");
	free(t->tensors[0].dim[1]);
	t->tensors[0].dim[1] = kstrdup("N/2+1");
	t->workloads[1].axis[1] = 4;
	w = t->workloads[0];
	w.axis[1] = 8;
	CHECK(ktask_settle(t, &w));
	w.axis[1] = 9;
	CHECK(!ktask_settle(t, &w));
	ktask_free(t);
}

static void
test_range(void)
{
	double low, high;

	CHECK(ktask_range(KDTYPE_F32, 0.5, NAN, NAN, &low, &high) && low == 0.25 && high == 1);
	CHECK(ktask_range(KDTYPE_F32, -1, NAN, NAN, &low, &high) && low == -2 && high == -0.5);
	CHECK(ktask_range(KDTYPE_F32, 0, NAN, NAN, &low, &high) && low == 0 && high == 1);
	CHECK(ktask_range(KDTYPE_I32, 9, NAN, NAN, &low, &high) && low == 5 && high == 9);
	CHECK(!ktask_range(KDTYPE_I32, 1, NAN, NAN, &low, &high) &&
	    !ktask_range(KDTYPE_I64, 0, NAN, NAN, &low, &high));
	CHECK(ktask_range(KDTYPE_I32, 1, 0, 4, &low, &high) && low == 0 && high == 4);
	CHECK(ktask_range(KDTYPE_F64, 1, NAN, 1, &low, &high) && low == 0.5 && high == 1);
}

int
main(void)
{
	kutil_init("ktask");
	test_limits();
	test_settle();
	test_range();
	test_names();
	test_load();
	test_workload();
	test_expressions();
	test_faults();
	test_values();
	test_lacks_oracle();
	test_bad_files();
	return tap_done();
}
