/* SPDX-License-Identifier: Apache-2.0 */
/* failure: what went wrong with a request, as a class, and the consequences of each class. */
#pragma once

#include "kanswer.h"
#include "transport.h"

enum failure {
	FAILURE_NONE,
	FAILURE_RATE,
	FAILURE_OVERLOAD,
	FAILURE_SERVER,
	FAILURE_NETWORK,
	FAILURE_TIMEOUT,
	FAILURE_STALL,
	FAILURE_CUT,
	FAILURE_EMPTY,
	FAILURE_PROTOCOL,
	FAILURE_TOO_LARGE,
	FAILURE_PERMANENT,
	FAILURE_AUTH,
	FAILURE_BILLING
};

extern const struct failure_rule {
	const char *name;
	int exit_code;
	int attempts; /* at most, if model.retries allows more; 0: any number */
	/* refuse all callers for this long: the next call would fail in the same way */
	double stop_s;
	bool billed;       /* the server may have charged for it */
	bool shared;       /* all callers wait until it is repeated */
	const char *means; /* text for when the server gives no reason; or NULL */
} failure_rules[];

/* Class of a response that is not a complete answer. */
enum failure failure_of(const struct transport *t, enum transport_end end, const struct kanswer *a);

/* Does the response ask to repeat the request? -1: it does not say. */
int failure_may_retry(const struct transport *t);
/*
 * Seconds that the response asks to wait: retry-after-ms, or retry-after as seconds or as a date.
 * Below 0: not given, or not understood.
 */
double failure_wait(const struct transport *t);
