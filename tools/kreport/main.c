/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kreport: what a campaign has found, how, and why it is credible: as facts, as one page of HTML
 * and as Markdown.
 */

#include "koption.h"
#include "kreport.h"
#include "ktemplate.h"

static const char usage[] = "usage: kreport [-c DIR]\n"
                            "       kreport --html | --markdown | --json [-c DIR] [-o FILE]\n"
                            "       kreport --refresh S [-c DIR] [-o FILE] <TEXT\n";

enum { NOW_MAX = 1 << 20 };

enum format { BOTH, HTML, MARKDOWN, JSON, REFRESH };

static char *
draw(const char *name)
{
	if (!strcmp(name, "progress"))
		return plot_progress();
	if (!strcmp(name, "roof"))
		return plot_roof();
	kdie(K_USAGE, "report.page: there is no figure %s", name);
}

static void
write_page(struct page *p, const json_t *facts, long refresh)
{
	struct ktemplate t = { .show = show_value };
	auto_free char *file =
	    kdata_path(report.count ? "tools/kreport/report.page" : "tools/kreport/wait.page");
	auto_free char *template = kread_text_or_die(file, 1 << 20);
	auto_buf struct kbuf text = { 0 };

	ktemplate_fill(&t, &text, template, file, facts);
	page_make(p, text.data, kjson_str(facts, "title"), refresh, draw);
}

static void
write_output(const char *path, const struct kbuf *text)
{
	kout_open(path);
	kout_line(text->data, text->len - 1);
	kout_commit();
}

static void
write_pages(const json_t *facts, enum format format, const char *output, long refresh)
{
	struct page p;

	write_page(&p, facts, refresh);
	if (format == BOTH) {
		auto_free char *html = kasprintf("%s/report.html", report.dir),
		               *md = kasprintf("%s/report.md", report.dir);

		kwrite_or_die(html, p.html.data, p.html.len);
		kwrite_or_die(md, p.md.data, p.md.len);
	} else {
		write_output(output, format == MARKDOWN ? &p.md : &p.html);
	}
	kbuf_free(&p.html);
	kbuf_free(&p.md);
}

int
main(int argc, char **argv)
{
	const char *dir = ".", *output = NULL;
	int format = BOTH;
	long refresh = 0;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&dir),
		KOPTION_OUTPUT(&output),
		{ 0, "html", .choice = &format, .value = HTML,
		    .help = "\tprint only the HTML page" },
		{ 0, "markdown", .choice = &format, .value = MARKDOWN,
		    .help = "\tprint only the Markdown page" },
		{ 0, "json", .choice = &format, .value = JSON,
		    .help = "\tprint only the facts behind the pages" },
		{ 0, "refresh", .number = &refresh, .low = 1, .high = 86400, .choice = &format,
		    .value = REFRESH,
		    .help = "S\tprint an HTML page that is loaded again every S seconds, with "
		            "stdin "
		            "on top" },
	};
	json_auto_t *facts = NULL;
	size_t len;

	kutil_init("kreport");
	koption_read(options, LEN(options), usage, argc, argv);
	koption_no_operands(usage, argc, argv);
	if (output && format == BOTH)
		koption_misuse(usage, "-o FILE needs --html, --markdown, --json or --refresh");
	load_report(dir, refresh > 0);
	facts = report.count ? report_facts()
	                     : json_pack("{s:s}", "title", kcamp_str(report.camp, "name"));
	if (refresh) {
		/* What is running now, as given by the caller. */
		auto_free char *now = kread_file("-", NOW_MAX, &len);

		kjson_set(facts, "now", kjson_text(now ? now : "", now ? len : 0));
	}
	if (format == JSON) {
		kout_open(output);
		kout_json(facts);
		kout_commit();
	} else {
		write_pages(facts, (enum format)format, output, refresh);
	}
	return K_OK;
}
