/* SPDX-License-Identifier: Apache-2.0 */
/* keval: see findings.h. */
#include "findings.h"

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

/* The line at P, without what stands before its first letter; the caller frees. */
static char *
line_at(const char *p)
{
	p += strspn(p, "= \t");
	return kstrndup(p, strcspn(p, "\r\n"));
}

/* A row for a run without findings: it is clean as far as it came. */
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

/* ", READ of size 4" */
static void
add_access(struct kbuf *b, const char *report)
{
	static const char words[] = " of size ";
	const char *at = strstr(report, words), *start = at, *end;

	if (!at)
		return;
	while (start > report && start[-1] != '\n')
		start--;
	end = at + strlen(words) + strspn(at + strlen(words), "0123456789");
	kbuf_printf(b, ", %.*s", (int)(end - start), start);
}

/* "heap-buffer-overflow, READ of size 4, in sum candidate.c:12"; the caller frees. */
static char *
describe_asan(const char *report)
{
	const char *kind = report + strlen("AddressSanitizer: "),
	           *frame = strstr(report, "candidate."), *in = frame;
	struct kbuf b = { 0 };

	kbuf_add(&b, kind, strcspn(kind, " \n"));
	add_access(&b, report);
	while (in && in > report && in[-1] != '\n' && strncmp(in, " in ", 4))
		in--;
	if (in && !strncmp(in, " in ", 4))
		kbuf_printf(&b, ", in %.*s", (int)strcspn(in + 4, " \n"), in + 4);
	if (frame)
		kbuf_printf(&b, " %.*s", (int)strcspn(frame, " \n)"), frame);
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
	/* A fault in which the candidate's code has no part is none of it. */
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

/* The number before WORD in the last summary of TEXT, or -1 without one: "ERROR SUMMARY: 3 errors",
 * "(1 error, 0 warnings)". */
static long
errors_told(const char *text)
{
	const char *summary = strstr(text, "ERROR SUMMARY:"), *p;

	if (summary)
		return strtol(summary + strlen("ERROR SUMMARY:"), NULL, 10);
	summary = strstr(text, "RACECHECK SUMMARY:");
	if (!summary)
		return -1;
	p = strchr(summary, '(');
	return p && p - summary < 80 ? strtol(p + 1, NULL, 10)
	                             : strtol(summary + strlen("RACECHECK SUMMARY:"), NULL, 10);
}

/* Where a report begins on its line, or NULL: "========= Invalid __global__ read", "=========
 * ERROR: Race reported". */
static const char *
report_at(const char *line)
{
	static const char *const words[] = { "Invalid ", "Uninitialized ", "Misaligned ",
		"Race reported", "Potential " };
	size_t len = strcspn(line, "\n");

	if (strncmp(line, "========= ", 10) || line[10] == ' ')
		return NULL;
	for (size_t i = 0; i < LEN(words); i++)
		if (memmem(line, len, words[i], strlen(words[i])))
			return line + 10;
	return NULL;
}

/* The first report that is not about the judge's own kernels, with the line on where it was; how
 * many are about those. */
static char *
candidates_report(const char *text, long *own)
{
	char *found = NULL;

	*own = 0;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *report = report_at(line), *next, *end;

		if (!report)
			continue;
		next = line + strcspn(line, "\n") + 1;
		end = next + strcspn(next, "\n");
		if (memmem(line, (size_t)(end - line), "kiln_", 5))
			++*own;
		else if (!found)
			found = kasprintf("%.*s, %.*s", (int)strcspn(report, "\n"), report,
			    (int)strcspn(next + strspn(next, "= "), "\n"),
			    next + strspn(next, "= "));
	}
	return found;
}

void
findings_device(json_t *rows, const char *tool, const struct tool_run *r)
{
	long own = 0, errors = r->text ? errors_told(r->text) : -1;
	char *report = r->text ? candidates_report(r->text, &own) : NULL;

	if (report || errors > own)
		findings_row(rows, tool, "findings",
		    report ? report : "errors that it does not describe", r);
	else if (errors < 0 && r->ended)
		findings_row(
		    rows, tool, "unavailable", "compute-sanitizer ended without a summary", r);
	else
		add_end(rows, tool, r);
	free(report);
}
