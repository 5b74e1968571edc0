/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kreport: what a campaign has found, how, and why it is credible: as facts, as one page of HTML
 * and as Markdown.
 */

#include "koption.h"
#include "kreport.h"
#include "ktemplate.h"

static const char usage[] = "usage: kreport [-c DIR]\n"
                            "       kreport --html | --markdown | --best | --json [-c DIR] [-o "
                            "FILE]\n"
                            "       kreport --refresh S [-c DIR] [-o FILE] <TEXT\n";

enum { NOW_MAX = 64 << 20 };

enum format { BOTH, HTML, MARKDOWN, BEST, JSON, REFRESH };

/* The template NAME, filled in. */
static struct kbuf
fill(const char *name, const json_t *facts)
{
	struct ktemplate t = { .show = show_value };
	auto_free char *file = kdata_path(name);
	struct kbuf text = { 0 };

	ktemplate_file(&t, &text, file, facts);
	return text;
}

static void
write_output(const char *path, const struct kbuf *text)
{
	kout_open(path);
	kout_line("%s", text->data);
	kout_commit();
}

static void
write_pages(const json_t *facts, const json_t *figures, enum format format, const char *output,
    long refresh)
{
	auto_buf struct kbuf text =
	    fill(report.count ? "tools/kreport/report.page" : "tools/kreport/wait.page", facts);

	for (int html = 0; html < 2; html++) {
		struct kbuf page = { 0 };

		if (format != BOTH && html != (format != MARKDOWN))
			continue;
		page = page_make(html, text.data, kjson_str(facts, "title"), refresh, figures);
		write_output(format == BOTH
		        ? kshown("%s/report.%s", kcamp.dir, html ? "html" : "md")
		        : output,
		    &page);
		kbuf_free(&page);
	}
}

/* The best kernel in a few lines of plain text. */
static void
write_best(const json_t *facts, const char *output)
{
	auto_buf struct kbuf text = fill("tools/kreport/best.page", facts);

	page_show(text.data, text.len);
	write_output(output, &text);
}

int
main(int argc, char **argv)
{
	const char *output = NULL;
	int format = BOTH;
	long refresh = 0;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		KOPTION_OUTPUT(&output),
		KOPTION_CHOICE("html", &format, HTML, "\tprint only the HTML page"),
		KOPTION_CHOICE("markdown", &format, MARKDOWN, "\tprint only the Markdown page"),
		KOPTION_CHOICE(
		    "best", &format, BEST, "\tprint only the best kernel, as kcampaign best does"),
		KOPTION_CHOICE("json", &format, JSON, "\tprint only the facts behind the pages"),
		KOPTION_CHOICE("refresh", &format, REFRESH,
		    "S\tprint an HTML page that reloads every S seconds, "
		    "with stdin at its top",
		    .number = &refresh, .low = 1, .high = 86400),
	};
	json_auto_t *facts = NULL, *figures = NULL;
	size_t len;

	kutil_init("kreport");
	koption_all(options, usage, argc, argv);
	if (output && format == BOTH)
		koption_misuse(
		    usage, "-o FILE needs --html, --markdown, --best, --json or --refresh");
	load_report(refresh > 0);
	facts =
	    report.count ? report_facts(&figures) : json_pack("{s:s}", "title", kcamp_str("name"));
	if (refresh) {
		/* What is running now, as given by the caller. */
		auto_free char *now = kread_file_or_die("-", NOW_MAX, &len);

		kjson_set(facts, "now", kjson_text(now, len));
	}
	if (format == JSON) {
		kout_only(output, facts);
	} else if (format == BEST) {
		write_best(facts, output);
	} else {
		write_pages(facts, figures, (enum format)format, output, refresh);
	}
	return K_OK;
}
