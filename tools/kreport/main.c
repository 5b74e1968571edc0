/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kreport: what a campaign has found, how, and why it can be believed, as one page of HTML and as
 * Markdown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "koption.h"
#include "kreport.h"

static const char usage[] = "usage: kreport [-c DIR]\n"
                            "       kreport --html | --markdown [-c DIR] [-o FILE]\n";

enum format { BOTH, HTML, MARKDOWN };

/* The sections in their order: the result first, then how it came about, then what it rests on. */
static void
write_document(struct doc *d, const struct report *r)
{
	static void (*const sections[])(struct doc *, const struct report *) = { put_headline,
		put_rounds, put_search, put_map, put_failures, put_cost, put_lineage, put_roofline,
		put_audit, put_environment, put_reproduce };
	char *style_file = kdata_path("tools/kreport/report.css"),
	     *style = kread_file_or_die(style_file, 1 << 20, NULL);
	const char *title = kcamp_str(r->camp, "title");

	doc_begin(d, *title ? title : kcamp_str(r->camp, "name"));
	for (size_t i = 0; i < LEN(sections); i++)
		sections[i](d, r);
	doc_end(d, style);
	free(style);
	free(style_file);
}

static void
write_file(const char *dir, const char *name, const struct kbuf *text)
{
	char *path = kasprintf("%s/%s", dir, name);

	if (kwrite_file(path, text->data, text->len))
		kdie_errno(K_IO, "%s", path);
	free(path);
}

static void
write_output(const char *path, const struct kbuf *text)
{
	kout_open(path);
	kout_line(text->data, text->len - 1);
	kout_commit();
}

int
main(int argc, char **argv)
{
	const char *dir = ".", *output = NULL;
	int format = BOTH;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&dir),
		KOPTION_OUTPUT(&output),
		{ 0, "html", .choice = &format, .value = HTML,
		    .help = "\tprint only the HTML page" },
		{ 0, "markdown", .choice = &format, .value = MARKDOWN,
		    .help = "\tprint only the Markdown page" },
	};
	struct report r;
	struct doc d;

	kutil_init("kreport");
	koption_read(options, LEN(options), usage, argc, argv);
	koption_no_operands(usage, argc, argv);
	if (output && format == BOTH)
		koption_misuse(usage, "-o FILE needs --html or --markdown");
	load_report(&r, dir);
	write_document(&d, &r);
	if (format == BOTH) {
		write_file(dir, "report.html", &d.html);
		write_file(dir, "report.md", &d.md);
	} else {
		write_output(output, format == HTML ? &d.html : &d.md);
	}
	doc_free(&d);
	free_report(&r);
	return K_OK;
}
