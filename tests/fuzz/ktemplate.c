/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any text as a template, with two others to include. */
#include <stdint.h>
#include <stdlib.h>

#include "ktemplate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *
load(void *arg, const char *name, const char **file)
{
	*file = name;
	return name[0] == 'p' ? arg : name[0] == 'q' ? "{{a}}\n{{#l}}\n{{.}}\n{{/l}}\n" : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = kstrndup((const char *)data, size < 4096 ? size : 4096);
	json_t *context = json_pack("{s:s,s:[s,s],s:{s:i}}", "a", "1", "l", "x", "y", "o", "b", 2);
	char part[] = "{{>q}}";
	struct ktemplate t = { load, part, json_array() };
	struct kbuf b = { 0 };

	ktemplate_render(&t, &b, text, "t", context);
	kbuf_free(&b);
	json_decref(t.sections);
	json_decref(context);
	free(text);
	return 0;
}
