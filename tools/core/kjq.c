/* SPDX-License-Identifier: Apache-2.0 */
/* kjq: see kjq.h. */
#include "kjq.h"

#include "kproc.h"

enum { OUTPUT_MAX = 256 << 20 };

json_t *
kjq(const char *name, const json_t *input)
{
	auto_free char *path = kdata_path(name), *text = json_dumps(input, JSON_COMPACT);
	char *argv[] = { (char[]){ "jq" }, (char[]){ "-cf" }, path, NULL };
	struct kproc p = { .argv = argv,
		.in = text,
		.in_len = strlen(text),
		.pass_err = true,
		.max_output = OUTPUT_MAX };
	auto_run struct kproc_result r;
	json_t *value;

	kproc_must(&p, &r);
	value = json_loadb(r.out, r.out_len, 0, NULL);
	/* jq writes large reals without exponent or point, as integers that no integer can hold. */
	if (!value)
		value = json_loadb(r.out, r.out_len, JSON_DECODE_INT_AS_REAL, NULL);
	if (r.exit_code || !value)
		kdie(K_IO, "%s: jq has no result", path);
	return value;
}
