/* SPDX-License-Identifier: Apache-2.0 */
/* keval: see findings.h. */
#include "findings.h"
#include "kregex.h"

enum { DETAIL_MAX = 300 };

void
findings_row(json_t *rows, const char *tool, const char *status, const char *detail,
    const struct tool_run *r)
{
	size_t len = strlen(detail);
	json_t *row = json_pack("{s:s,s:s,s:o}", "tool", tool, "status", status, "detail",
	    kjson_text(detail, len < DETAIL_MAX ? len : DETAIL_MAX));

	if (r) {
		json_object_set_new(row, "workloads", json_integer(r->done));
		json_object_set_new(row, "of", json_integer(r->count));
		json_object_set_new(row, "wall_s", json_real(r->wall_s));
	}
	json_array_append_new(rows, row);
}

/* The line at P, without anything before its first letter; the caller frees. */
static char *
line_at(const char *p)
{
	p += strspn(p, "= \t");
	return kstrndup(p, strcspn(p, "\r\n"));
}

/* Adds a row for a run without findings: it is clean as far as it got. */
static void
add_end(json_t *rows, const char *tool, const struct tool_run *r)
{
	char *detail, *words;

	if (!r->text) {
		findings_row(rows, tool, "unavailable", "it did not start in the sandbox", NULL);
	} else if (r->timed_out && !r->done) {
		findings_row(rows, tool, "timeout",
		    "the time limit (eval.sanitize_s) passed before one workload was done", r);
	} else if (!r->ended && !r->timed_out) {
		words = line_at(r->text + strspn(r->text, "\n"));
		detail = kasprintf("the run failed: %s", words);
		findings_row(rows, tool, "unavailable", detail, r);
		free(detail);
		free(words);
	} else {
		detail = kasprintf("no finding in %ld of %ld workloads", r->done, r->count);
		findings_row(rows, tool, "clean", detail, r);
		free(detail);
	}
}

/* ---- asan and ubsan ---- */

/* The text of the group "it" of PATTERN in TEXT; the caller frees. NULL: it does not match. */
static char *
extract(const char *text, const char *pattern)
{
	struct kregex *re = kregex_new("findings", NULL, pattern, KREGEX_LINES);
	struct kregex_span it;
	char *found = NULL;

	if (kregex_search(re, text, strlen(text), 0, NULL) == KREGEX_FOUND &&
	    kregex_group(re, "it", &it))
		found = kstrndup(text + it.from, it.to - it.from);
	kregex_free(re);
	return found;
}

/* "heap-buffer-overflow, READ of size 4, in sum candidate.c:12"; the caller frees. */
static char *
describe_asan(const char *report)
{
	static const struct {
		const char *before, *pattern;
	} parts[] = {
		{ "", "AddressSanitizer: (?<it>[^ \\n]*)" },
		{ ", ", "^(?<it>.* of size \\d*)" },
		{ ", in ", " in (?<it>[^ \\n]*).*candidate[.]" },
		{ " ", "(?<it>candidate[.][^ \\n)]*)" },
	};
	struct kbuf b = { 0 };

	for (size_t i = 0; i < LEN(parts); i++) {
		auto_free char *part = extract(report, parts[i].pattern);

		if (part)
			kbuf_printf(&b, "%s%s", parts[i].before, part);
	}
	return b.data;
}

void
findings_asan(json_t *rows, const struct tool_run *r)
{
	const char *report = r->text ? strstr(r->text, "AddressSanitizer: ") : NULL;
	char *detail;

	if (!report) {
		add_end(rows, "asan", r);
		return;
	}
	/* Ignore faults that do not involve the candidate's code. */
	if (strstr(report, "kernel.so") || strstr(report, "candidate.")) {
		detail = describe_asan(report);
		findings_row(rows, "asan", "findings", detail, r);
	} else {
		detail = line_at(report);
		findings_row(rows, "asan", "unavailable", detail, r);
	}
	free(detail);
}

void
findings_ubsan(json_t *rows, const struct tool_run *r)
{
	const char *report = r->text ? strstr(r->text, ": runtime error: ") : NULL;
	char *line;

	if (report) {
		for (; report > r->text && report[-1] != '\n'; report--)
			continue;
		line = line_at(report);
		findings_row(rows, "ubsan", "findings", line, r);
		free(line);
	} else if (r->text && strstr(r->text, "AddressSanitizer: ")) {
		findings_row(rows, "ubsan", r->done ? "clean" : "unavailable",
		    "the run ended when asan found a fault", r);
	} else {
		add_end(rows, "ubsan", r);
	}
}

/* ---- compute-sanitizer ---- */

/*
 * The number of errors in the summary of TEXT, or -1 if there is none: "ERROR SUMMARY: 3 errors",
 * "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)".
 */
static long
errors_told(const char *text)
{
	auto_free char *number = extract(text, "ERROR SUMMARY: *(?<it>\\d+)")
	    ?: extract(text, "RACECHECK SUMMARY:[^(]{0,70}[(](?<it>\\d+)")
	    ?: extract(text, "RACECHECK SUMMARY: *(?<it>\\d+)");

	return number ? strtol(number, NULL, 10) : -1;
}

/*
 * The first report that is not about the judge's own kernels, with the line that gives its place;
 * *OWN counts those that are.
 */
static char *
candidates_report(const char *text, long *own)
{
	/* "========= Invalid __global__ read", "========= ERROR: Race reported" */
	static const char form[] = "^========= (?<what>(?! ).*(Invalid |Uninitialized |Misaligned "
	                           "|Race reported|"
	                           "Potential ).*)(\\n[= ]*(?<where>.*))?";
	struct kregex *re = kregex_new("findings", NULL, form, KREGEX_LINES);
	struct kregex_span at = { 0 }, what, where;
	char *found = NULL;

	*own = 0;
	for (size_t from = 0; kregex_search(re, text, strlen(text), from, &at) == KREGEX_FOUND;
	     from = what.to) {
		where = (struct kregex_span){ at.to, at.to };
		kregex_group(re, "what", &what);
		kregex_group(re, "where", &where);
		if (memmem(text + at.from, at.to - at.from, "kiln_", 5))
			++*own;
		else if (!found)
			found = kasprintf("%.*s, %.*s", (int)(what.to - what.from),
			    text + what.from, (int)(where.to - where.from), text + where.from);
	}
	kregex_free(re);
	return found;
}

void
findings_device(json_t *rows, const char *tool, const struct tool_run *r)
{
	long own = 0, errors = r->text ? errors_told(r->text) : -1;
	auto_free char *report = r->text ? candidates_report(r->text, &own) : NULL;

	if (report || errors > own)
		findings_row(rows, tool, "findings",
		    report ? report : "errors that it does not describe", r);
	else if (errors < 0 && r->ended)
		findings_row(
		    rows, tool, "unavailable", "compute-sanitizer ended without a summary", r);
	else
		add_end(rows, tool, r);
}
