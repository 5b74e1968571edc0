/* SPDX-License-Identifier: Apache-2.0 */
/* instrument: see watch.h. */

#include "adopt.h"
#include "kfence.h"
#include "watch.h"

static json_t *
make_context(const struct watch *w)
{
	auto_buf struct kbuf code = { 0 };
	char *text;
	size_t len;
	json_t *context;

	text = watch_source(w, &len);
	kfence_code(&code, text, w->a->language);
	context = json_pack("{s:s,s:s,s:s,s:b}", "file", w->a->file, "kernel", w->a->kernel, "code",
	    code.data, "device", w->cuda);
	if (!context)
		kdie(K_USAGE, "%s/%s: is not UTF-8", w->a->project, w->a->file);
	free(text);
	return context;
}

/* The file is written only in the copy: nothing has to be undone. */
void
instrument(const struct watch *w)
{
	json_auto_t *context = make_context(w);
	char *reply = ask_model(w->a, "instrument", 1, context), *copy = watch_copy_path(w);
	char *path = path_of("%s/%s", copy, w->a->file);
	bool cut_off;
	auto_free char *code = ask_program(w->a, reply, &cut_off);

	if (!code || !strstr(code, "[KKLOG_CPP]"))
		kdie(K_MISSING,
		    "the model's reply (%s/adopt/ask) contains no file with the requested lines",
		    w->a->dir);
	write_text(path, code, strlen(code));
	free(reply);
}
