/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kprompt: the machine: what is known about it, its widest SIMD unit, and block sizes derived from
 * its caches.
 */
#include "kprompt.h"

#include "kfence.h"

/* "isa": every name in the list is true; and "isa_list": the names as one text. */
static void
put_isa(const json_t *list)
{
	json_t *set = json_object();
	auto_buf struct kbuf text = kbuf_empty();

	kjson_foreach(name, list) {
		auto_free char *word =
		    kfence_line(json_is_string(name) ? json_string_value(name) : "", 32);

		if (*word) {
			kjson_enter(set, word);
			kbuf_join(&text, ", ", word);
		}
	}
	put("isa", set);
	put("isa_list", json_string(text.data));
}

/*
 * The first row of prompts/simd.json that the machine supports; a row without "isa" applies to
 * every machine.
 */
static json_t *
choose_simd(void)
{
	json_auto_t *table = files_json("simd.json");
	const json_t *isa = json_object_get(facts, "isa");

	kjson_foreach(row, table, "simd") {
		const char *need = kjson_maybe(row, "isa");

		if (!need || json_object_get(isa, need))
			return json_incref(row);
	}
	kdie_usage("prompts/simd.json: no row matches this machine; the last row must have no "
	           "\"isa\"");
}

/*
 * The SIMD unit for the task's type: it holds half as many float64 values, and the names of types
 * and functions end in another letter. "real" tells whether the task has floating-point numbers at
 * all.
 */
static void
suit_dtype(json_t *simd)
{
	static const char *const real[] = { "float64", "float32", "float16", "bfloat16" };
	const json_t *dtypes = json_object_get(facts, "dtype");
	bool wide = json_object_get(dtypes, real[0]) && !json_object_get(dtypes, real[1]);

	put("real", json_boolean(kany(kforeach(name, real), json_object_get(dtypes, *name))));
	kjson_extend(simd, "{s:i,s:s,s:s,s:s}", "bytes", wide ? 8 : 4, "suffix", wide ? "pd" : "ps",
	    "ctype", wide ? "double" : "float", "fma", wide ? "fma" : "fmaf");
	if (!wide)
		return;
	for (const char *const *key = (const char *const[]){ "floats", "nr", NULL }; *key; key++)
		kjson_put(simd, *key, kjson_int_or(simd, *key, 2) / 2);
	json_object_set(simd, "type", json_object_get(simd, "double"));
}

static long
round_down(double v, long unit, long min, long max)
{
	long n = v > (double)max ? max : (long)v;

	n -= n % unit;
	return n < min ? min : n;
}

/*
 * Block sizes of a matrix product in three cache levels (Goto and van de Geijn 2008): a KC
 * x NR panel of B in half of L1, an MC x KC block of A in half of L2, a KC x NC block of B in half
 * of L3.
 */
static void
put_blocks(const json_t *simd, const json_t *machine)
{
	double size = (double)kjson_int_or(simd, "bytes", 4);
	long mr = kjson_int_or(simd, "mr", 4), nr = kjson_int_or(simd, "nr", 8);
	double l1 = kjson_num(machine, "l1d_bytes"), l2 = kjson_num(machine, "l2_bytes"),
	       l3 = kjson_num(machine, "l3_bytes");
	long kc = round_down((l1 > 0 ? l1 : 32768) / 2 / (size * (double)nr), 8, 64, 512);
	long mc = round_down((l2 > 0 ? l2 : 262144) / 2 / (size * (double)kc), mr, mr, 1024);
	long nc = round_down((l3 > 0 ? l3 : 4194304) / 2 / (size * (double)kc), nr, nr, 4096);

	put("block",
	    json_pack(
	        "{s:I,s:I,s:I}", "kc", (json_int_t)kc, "mc", (json_int_t)mc, "nc", (json_int_t)nc));
}

void
machine_facts(void)
{
	json_auto_t *machine =
	    kjson_if_there(kcamp_path("trials/000/machine.json")) ?: json_object();
	json_auto_t *hardware = data_lines(machine);
	json_t *simd;
	const char *gpu = kcamp_str("gpu");
	long threads = kcamp_int("eval.threads");

	put_isa(json_object_get(machine, "isa"));
	simd = choose_simd();
	suit_dtype(simd);
	put("simd", simd);
	put_blocks(simd, machine);
	put("threads", json_integer(threads ?: kjson_int(machine, "threads")));
	put("gpu", kjson_string(gpu));
	put("device", kjson_string(*gpu ? gpu : kjson_str(hardware, "cpu")));
	/* A template means the threads that the program gets. */
	json_object_set(hardware, "processors", json_object_get(hardware, "threads"));
	json_object_del(hardware, "threads");
	put("hardware", json_object_size(hardware) || *gpu ? json_incref(hardware) : json_false());
}
