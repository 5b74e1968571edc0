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
		kjson_put(row, "workloads", r->done);
		kjson_put(row, "of", r->count);
		kjson_put(row, "wall_s", r->wall_s);
	}
	json_array_append_new(rows, row);
}

/* The line at P, without anything before its first letter; the caller frees. */
static char *
line_at(const char *p)
{
	p += strspn(p, "= \t");
	return kuntil(p, "\r\n");
}

/* Adds a row for a run without findings: it is clean as far as it got. */
static void
add_end(json_t *rows, const char *tool, const struct tool_run *r)
{
	auto_free char *detail = NULL, *words = NULL;

	if (!r->text) {
		findings_row(rows, tool, "unavailable", "it did not start in the sandbox", NULL);
	} else if (r->timed_out && !r->done) {
		findings_row(rows, tool, "timeout",
		    "the time limit (eval.sanitize_s) passed before one workload was done", r);
	} else if (!r->ended && !r->timed_out) {
		words = line_at(r->text + strspn(r->text, "\n"));
		detail = kasprintf("the run failed: %s", words);
		findings_row(rows, tool, "unavailable", detail, r);
	} else {
		detail = kasprintf("no finding in %ld of %ld workloads", r->done, r->count);
		findings_row(rows, tool, "clean", detail, r);
	}
}

/* ---- asan and ubsan ---- */

/* "heap-buffer-overflow, READ of size 4, in sum candidate.c:12"; the caller frees. */
static char *
describe_asan(const char *report)
{
	static const struct {
		const char *before, *pattern;
	} parts[] = {
		{ "", "AddressSanitizer: ([^ \\n]*)" },
		{ ", ", "(?m)^(.* of size \\d*)" },
		{ ", in ", " in ([^ \\n]*).*candidate[.]" },
		{ " ", "(candidate[.][^ \\n)]*)" },
	};
	struct kbuf b = { 0 };

	kforeach(part, parts) {
		auto_free char *found = kregex_part(part->pattern, report);

		if (found)
			kbuf_printf(&b, "%s%s", part->before, found);
	}
	return b.data;
}

void
findings_asan(json_t *rows, const struct tool_run *r)
{
	const char *report = r->text ? strstr(r->text, "AddressSanitizer: ") : NULL;
	/* Ignore faults that do not involve the candidate's code. */
	bool own = report && (strstr(report, "kernel.so") || strstr(report, "candidate."));
	auto_free char *detail = own ? describe_asan(report) : report ? line_at(report) : NULL;

	if (detail)
		findings_row(rows, "asan", own ? "findings" : "unavailable", detail, r);
	else
		add_end(rows, "asan", r);
}

void
findings_ubsan(json_t *rows, const struct tool_run *r)
{
	const char *report = r->text ? strstr(r->text, ": runtime error: ") : NULL;
	auto_free char *line = NULL;

	if (report) {
		for (; report > r->text && report[-1] != '\n'; report--)
			continue;
		line = line_at(report);
		findings_row(rows, "ubsan", "findings", line, r);
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
	auto_free char *number = kregex_part("ERROR SUMMARY: *(\\d+)", text)
	    ?: kregex_part("RACECHECK SUMMARY:[^(]{0,70}[(](\\d+)", text)
	    ?: kregex_part("RACECHECK SUMMARY: *(\\d+)", text);

	return number ? atol(number) : -1;
}

/*
 * The first report that is not about the judge's own kernels, with the line that gives its place;
 * *OWN counts those that are.
 */
static char *
candidates_report(const char *text, long *own)
{
	/* "========= Invalid __global__ read", "========= ERROR: Race reported" */
	static const char form[] = "(?m)^========= ((?! ).*(?:Invalid |Uninitialized |Misaligned "
	                           "|Race reported|Potential ).*)(?:\\n[= ]*(.*))?";
	struct kregex_span at[3];
	char *found = NULL;

	*own = 0;
	for (; kregex_match(form, text, at); text += at[1].to) {
		auto_free char *whole = kregex_text(text, at[0]), *what = kregex_text(text, at[1]),
		               *where = kregex_text(text, at[2]);

		if (strstr(whole, "kiln_"))
			++*own;
		else if (!found)
			found = kasprintf("%s, %s", what, where ?: "");
	}
	return found;
}

void
findings_device(json_t *rows, const char *tool, const struct tool_run *r)
{
	long own = 0, errors = r->text ? errors_told(r->text) : -1;
	auto_free char *report = r->text ? candidates_report(r->text, &own) : NULL;

	if (report || errors > own)
		findings_row(
		    rows, tool, "findings", report ?: "errors that it does not describe", r);
	else if (errors < 0 && r->ended)
		findings_row(
		    rows, tool, "unavailable", "compute-sanitizer ended without a summary", r);
	else
		add_end(rows, tool, r);
}
