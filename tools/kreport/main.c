/* SPDX-License-Identifier: Apache-2.0 */
/* kreport: what a campaign has found, how, and why it can be believed, as one page of HTML and as Markdown. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kio.h"
#include "kreport.h"

static const char usage[] =
    "usage: kreport [-c DIR]\n"
    "       kreport --html | --markdown [-c DIR] [-o FILE]\n";

enum format { BOTH, HTML, MARKDOWN };

static _Noreturn void
die_usage(const char *why)
{
	kwarn("%s", why);
	fputs(usage, stderr);
	exit(K_USAGE);
}

/* The sections in their order: the result first, then how it came about, then what it rests on. */
static void
write_document(struct doc *d, const struct report *r)
{
	static void (*const sections[])(struct doc *, const struct report *) = {
		put_headline, put_rounds, put_search, put_map, put_failures, put_cost, put_lineage,
		put_roofline, put_audit, put_environment, put_reproduce
	};
	char *style_file = kdata_path("tools/kreport/report.css"), *style = kread_file_or_die(style_file, 1 << 20,
	    NULL);
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
	static const struct option options[] = {
		{ "campaign", required_argument, NULL, 'c' }, { "output", required_argument, NULL, 'o' },
		{ "html", no_argument, NULL, 'H' }, { "markdown", no_argument, NULL, 'M' }, { "help", no_argument, NULL,
		'h' },
		{ "version", no_argument, NULL, 'V' }, { 0 },
	};
	const char *dir = ".", *output = NULL;
	enum format format = BOTH;
	struct report r;
	struct doc d;
	int opt;

	kutil_init("kreport");
	while ((opt = getopt_long(argc, argv, "c:o:hV", options, NULL)) != -1)
		switch (opt) {
		case 'c': dir = optarg; break;
		case 'o': output = optarg; break;
		case 'H': format = HTML; break;
		case 'M': format = MARKDOWN; break;
		case 'h': fputs(usage, stdout); return K_OK;
		case 'V': kversion(); return K_OK;
		default: fputs(usage, stderr); return K_USAGE;
		}
	if (optind < argc)
		die_usage("there are no operands; -c names the campaign's folder");
	if (output && format == BOTH)
		die_usage("-o FILE belongs to --html or --markdown");
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
