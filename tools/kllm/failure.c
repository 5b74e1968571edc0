/* SPDX-License-Identifier: Apache-2.0 */
/* failure: see failure.h. */
#include "failure.h"

#include "kregex.h"

enum { STOP_S = 60 };

const struct failure_rule failure_rules[] = {
	[FAILURE_NONE] = { "none", K_OK },
	[FAILURE_RATE] = { "rate", K_AGAIN, .shared = true },
	[FAILURE_OVERLOAD] = { "overload", K_AGAIN, .shared = true },
	[FAILURE_SERVER] = { "server", K_AGAIN },
	[FAILURE_NETWORK] = { "network", K_AGAIN, .means = "no connection" },
	[FAILURE_TIMEOUT] = { "timeout", K_AGAIN, .billed = true,
	    .means = "no answer within model.stall_s or model.timeout_s" },
	[FAILURE_STALL] = { "stall", K_AGAIN, .billed = true,
	    .means = "no content came for model.stall_s" },
	[FAILURE_CUT] = { "cut", K_AGAIN, .billed = true, .means = "the answer broke off" },
	[FAILURE_EMPTY] = { "empty", K_AGAIN, .billed = true, .means = "the answer was empty" },
	[FAILURE_PROTOCOL] = { "protocol", K_USAGE, 2, .billed = true,
	    .means = "the server does not offer this API (is model.base_url right?)" },
	[FAILURE_TOO_LARGE] = { "too_large", K_USAGE, 1, .billed = true,
	    .means = "the answer is larger than anything a model writes" },
	[FAILURE_PERMANENT] = { "permanent", K_USAGE, 1 },
	[FAILURE_AUTH] = { "auth", K_USAGE, 1, STOP_S },
	[FAILURE_BILLING] = { "billing", K_USAGE, 1, STOP_S },
};

static const struct {
	int low, high;
	enum failure failure;
} statuses[] = {
	{ 401, 401, FAILURE_AUTH },
	{ 403, 403, FAILURE_AUTH },
	{ 402, 402, FAILURE_BILLING },
	{ 408, 409, FAILURE_SERVER },
	{ 425, 425, FAILURE_SERVER },
	{ 429, 429, FAILURE_RATE },
	{ 503, 503, FAILURE_OVERLOAD },
	{ 529, 529, FAILURE_OVERLOAD },
	{ 500, 599, FAILURE_SERVER },
	{ 300, 499, FAILURE_PERMANENT },
};

static enum failure
by_status(int status)
{
	kforeach(row, statuses)
		if (status >= row->low && status <= row->high)
			return row->failure;
	return FAILURE_PROTOCOL;
}

/* It is about money, whatever the status says. */
static bool
about_money(const struct kanswer_error *e)
{
	return e->status == 402 ||
	    kregex_is("(?i)credit balance|insufficient_quota|exceeded your current quota|"
	              "spend limit|usage limits|billing",
	        e->message);
}

int
failure_may_retry(const struct transport *t)
{
	const char *should = transport_header(t, "x-should-retry");

	return !should ? -1 : !strcmp(should, "true") ? 1 : strcmp(should, "false") ? -1 : 0;
}

static enum failure
by_error(const struct transport *t, const struct kanswer_error *e, int status)
{
	enum failure f;

	if (e->present && status != 529 && status < 500 && about_money(e))
		return FAILURE_BILLING;
	/* Servers overrule the status: some refusals may be repeated. */
	f = by_status(status);
	return f == FAILURE_PERMANENT && failure_may_retry(t) > 0 ? FAILURE_SERVER : f;
}

enum failure
failure_of(const struct transport *t, enum transport_end end, const struct kanswer *a)
{
	const struct kanswer_error *e = &a->error;

	if (end == TRANSPORT_PERMANENT)
		return FAILURE_PERMANENT;
	if (end == TRANSPORT_TOO_LARGE || a->bad)
		return FAILURE_TOO_LARGE;
	if (t->status && t->status != 200)
		return by_error(t, e, t->status);
	if (e->present)
		return by_error(t, e, e->status ?: 500);
	if (end == TRANSPORT_TOTAL || end == TRANSPORT_FIRST_BYTE)
		return FAILURE_TIMEOUT;
	if (end == TRANSPORT_STALL)
		return FAILURE_STALL;
	if (a->kind == KANSWER_ALIEN)
		return FAILURE_PROTOCOL;
	if (end == TRANSPORT_NETWORK)
		return t->first_byte_ms >= 0 ? FAILURE_CUT : FAILURE_NETWORK;
	if (a->kind == KANSWER_JSON)
		return FAILURE_PROTOCOL;
	return a->done || a->kind == KANSWER_EMPTY ? FAILURE_EMPTY : FAILURE_CUT;
}

/* A number of seconds, or -1. */
static double
number(const char *s)
{
	char *end;
	double v = s && kis_digit(*s) ? strtod(s, &end) : -1;

	return v >= 0 && isfinite(v) && !*end ? v : -1;
}

/* Seconds from now until an HTTP date; -1 if it is not one. */
static double
until(const char *s)
{
	struct tm tm = { 0 };
	const char *end = s ? strptime(s, "%a, %d %b %Y %H:%M:%S GMT", &tm) : NULL;

	return end && !*end ? fmax(0, difftime(timegm(&tm), time(NULL))) : -1;
}

double
failure_wait(const struct transport *t)
{
	double ms = number(transport_header(t, "retry-after-ms")), s;

	if (ms >= 0)
		return ms / 1e3;
	s = number(transport_header(t, "retry-after"));
	return s >= 0 ? s : until(transport_header(t, "retry-after"));
}
