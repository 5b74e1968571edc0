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
	kforeach_list(x, e) {
		if (strcmp(x->file, file) || x->from < from || x->to > to)
			continue;
		kbuf_slice(out, text, from, x->from);
		kbuf_puts(out, x->text);
		from = x->to;
	}
	kbuf_slice(out, text, from, to);
}

void
edits_write(const struct edits *e, const char *root, const char *folder)
{
	kforeach_list(x, e) {
		char *path = path_join(folder, x->file);
		auto_buf struct kbuf b = { 0 };
		auto_free char *text = kany(kforeach_of(earlier, e->list, x - e->list),
		                           !strcmp(earlier->file, x->file))
		    ? NULL
		    : file_text(path, NULL);

		if (text) {
			edits_apply(e, x->file, text, 0, strlen(text), &b);
			write_inside(root, path, b.data, b.len);
		}
	}
}

void
edits_free(struct edits *e)
{
	kforeach_list(x, e) {
		free(x->file);
		free(x->text);
	}
	free(e->list);
	*e = (struct edits){ 0 };
}

void
patch_add(struct patch *p, const char *name, char *was, char *text)
{
	*kadded(p->files, p->count) = (struct patch_file){ kstrdup(name), was, text };
}

void
patch_write(const struct patch *p, bool was, const char *folder)
{
	remove_folder(folder);
	kforeach_of(f, p->files, p->count)
		write_text(path_join(folder, f->name), was ? f->was : f->text);
}
