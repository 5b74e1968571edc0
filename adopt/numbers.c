/* SPDX-License-Identifier: Apache-2.0 */
/* numbers: see numbers.h. */
#include "numbers.h"

static const struct number_type rows[] = {
	{ "float32", "float", 4, false, "f4", "|float|" },
	{ "float64", "double", 8, false, "f8", "|double|" },
	{ "int32", "int", 4, true, "i4", "|int|signed|signed int|int32_t|" },
	{ "uint32", "unsigned", 4, true, "u4", "|unsigned|unsigned int|uint32_t|" },
	{ "int64", "long long", 8, true, "i8",
	    "|long|long int|signed long|signed long int|long long|long long int|signed long long|"
	    "int64_t|ssize_t|ptrdiff_t|intptr_t|" },
	{ "uint64", "unsigned long long", 8, true, "u8",
	    "|unsigned long|unsigned long int|long unsigned|long unsigned int|unsigned long long|"
	    "unsigned long long int|long long unsigned int|uint64_t|size_t|uintptr_t|" },
	{ "int8", "signed char", 1, true, "?0", "|char|signed char|int8_t|" },
	{ "uint8", "unsigned char", 1, true, "?0", "|unsigned char|uint8_t|" },
	{ "int16", "short", 2, true, "?0",
	    "|short|short int|signed short|signed short int|short signed int|int16_t|" },
	{ "uint16", "unsigned short", 2, true, "?0",
	    "|unsigned short|unsigned short int|short unsigned|short unsigned int|uint16_t|" },
	{ "bool", "bool", 1, true, "b1", "|bool|_Bool|" },
	{ "float16", "__half", 2, false, "?0", "|__half|half|" },
	{ "bfloat16", "__nv_bfloat16", 2, false, "?0", "|__nv_bfloat16|nv_bfloat16|" },
};

const struct number_type *
number_type(const char *name)
{
	auto_free char *key = kasprintf("|%s|", name);

	kforeach(row, rows)
		if (strstr(row->names, key))
			return row;
	return NULL;
}

bool
number_is_half(const struct number_type *n)
{
	return n->bytes == 2 && !n->integer;
}

json_t *
number_types(void)
{
	json_t *types = json_object();

	kforeach(row, rows)
		json_object_set_new(types, row->dtype,
		    json_pack("{s:s,s:b}", "type", row->type, "narrow",
		        !row->integer && row->bytes < sizeof(double)));
	return types;
}
