/* SPDX-License-Identifier: Apache-2.0 */
/* instrument: see watch.h. */

#include "adopt.h"
#include "watch.h"

static json_t *
make_context(const struct watch *w)
{
	size_t len;
	auto_free char *text = watch_source(w, &len), *code = ask_fenced(w->a, text);
	json_t *context = json_pack("{s:s,s:s,s:s,s:b}", "file", w->a->file, "kernel", w->a->kernel,
	    "code", code, "device", w->cuda);

	if (!context)
		kdie(K_USAGE, "%s/%s: is not UTF-8", w->a->project, w->a->file);
	return context;
}

/* The file is written only in the copy: nothing has to be undone. */
void
instrument(const struct watch *w)
{
	json_auto_t *context = make_context(w);
	bool cut_off;
	auto_free char *reply = ask_model(w->a, "instrument", 1, context),
	               *code = ask_program(w->a, reply, &cut_off);

	if (!code || !strstr(code, "[KKLOG_CPP]"))
		kdie(K_MISSING,
		    "the model's reply (%s/adopt/ask) contains no file with the requested lines",
		    w->a->dir);
	write_text(path_of("%s/%s", watch_copy_path(w), w->a->file), code);
}
