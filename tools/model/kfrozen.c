/* SPDX-License-Identifier: Apache-2.0 */
/* kfrozen: see kfrozen.h. */
#include "kfrozen.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kio.h"
#include "kutil.h"

enum { FILE_MAX = 1 << 30 };

char *
kfrozen_fault(const char *dir)
{
	char *path = kasprintf("%s/adopt.json", dir), *fault = NULL;
	json_t *adopt = access(path, F_OK) ? NULL : kjson_load(path), *value;
	const char *name;

	json_object_foreach(json_object_get(adopt, "frozen"), name, value)
	{
		char *file = kasprintf("%s/%s", dir, name), hex[65] = "";
		size_t len = 0;
		char *text = kread_file(file, FILE_MAX, &len);

		if (text)
			ksha256_hex(text, len, hex);
		if (!fault && strcmp(hex, json_is_string(value) ? json_string_value(value) : ""))
			fault = kasprintf("%s: %s since the function was adopted, so figures "
			                  "before and after cannot be compared; restore it, or "
			                  "adopt into a new folder",
			    file, text ? "it has changed" : "it was removed");
		free(text);
		free(file);
	}
	json_decref(adopt);
	free(path);
	return fault;
}
