/* SPDX-License-Identifier: Apache-2.0 */
/* instrument: see watch.h. */

#include "adopt.h"
#include "watch.h"

static json_t *
make_context(void)
{
	size_t len;
	auto_free char *text = watch_source(&len), *code = ask_fenced(text);
	json_t *context = json_pack("{s:s,s:s,s:s,s:b}", "file", adoption.file, "kernel",
	    adoption.kernel, "code", code, "device", watch.cuda);

	if (!context)
		kdie_usage("%s/%s: is not UTF-8", adoption.project, adoption.file);
	return context;
}

/* The file is written only in the copy: nothing has to be undone. */
void
instrument(void)
{
	json_auto_t *context = make_context();
	bool cut_off;
	auto_free char *reply = ask_model("instrument", 1, context),
	               *code = ask_program(reply, &cut_off);

	if (!code || !strstr(code, "[KKLOG_CPP]"))
		kdie(K_MISSING,
		    "the model's reply (%s/adopt/ask) contains no file with the requested lines",
		    adoption.dir);
	write_text(path_join(watch_copy_path(), adoption.file), code);
}
