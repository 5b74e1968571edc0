/* SPDX-License-Identifier: Apache-2.0 */
/* patch: see patch.h. */
#include "patch.h"

void
edits_add(struct edits *e, const char *file, size_t from, size_t to, char *text)
{
	size_t i = e->count;

	kgrow(e->list, e->count);
	for (; i > 0 && e->list[i - 1].from > from; i--)
		e->list[i] = e->list[i - 1];
	e->list[i] = (struct edit){ kstrdup(file), from, to, text };
	e->count++;
}

void
edits_apply(const struct edits *e, const char *file, const char *text, size_t from, size_t to,
    struct kbuf *out)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct edit *x = &e->list[i];

		if (strcmp(x->file, file) || x->from < from || x->to > to)
			continue;
		kbuf_add(out, text + from, x->from - from);
		kbuf_puts(out, x->text);
		from = x->to;
	}
	kbuf_add(out, text + from, to - from);
}

void
edits_write(const struct edits *e, const char *root, const char *folder)
{
	for (size_t i = 0; i < e->count; i++) {
		char *path = path_of("%s/%s", folder, e->list[i].file), *text;
		auto_buf struct kbuf b = { 0 };
		bool done = false;

		for (size_t k = 0; k < i; k++)
			done |= !strcmp(e->list[k].file, e->list[i].file);
		text = done ? NULL : file_text(path, NULL);
		if (text) {
			edits_apply(e, e->list[i].file, text, 0, strlen(text), &b);
			write_inside(root, path, b.data, b.len);
		}
		free(text);
	}
}

void
edits_free(struct edits *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->list[i].file);
		free(e->list[i].text);
	}
	free(e->list);
	*e = (struct edits){ 0 };
}

void
patch_add(struct patch *p, const char *name, char *was, char *text)
{
	kgrow(p->files, p->count);
	p->files[p->count++] = (struct patch_file){ kstrdup(name), was, text };
}

void
patch_write(const struct patch *p, bool was, const char *folder)
{
	remove_folder(folder);
	for (size_t i = 0; i < p->count; i++) {
		const char *text = was ? p->files[i].was : p->files[i].text;

		write_text(path_of("%s/%s", folder, p->files[i].name), text, strlen(text));
	}
}

void
patch_free(struct patch *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->files[i].name);
		free(p->files[i].was);
		free(p->files[i].text);
	}
	free(p->files);
	json_decref(p->called);
	*p = (struct patch){ 0 };
}
