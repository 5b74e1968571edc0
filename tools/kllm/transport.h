/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport: one POST with limits: given up when no byte comes in time, no content for too long, or
 * it lasts too long.
 */
#pragma once

#include "kutil.h"

enum transport_end {
	TRANSPORT_DONE,      /* the whole response */
	TRANSPORT_ENOUGH,    /* the reader needed nothing more */
	TRANSPORT_NETWORK,   /* no connection, or it was lost */
	TRANSPORT_PERMANENT, /* asking again is useless: certificate, address */
	TRANSPORT_TOO_LARGE,
	TRANSPORT_FIRST_BYTE, /* no byte of the body in time */
	TRANSPORT_STALL,      /* no content in time */
	TRANSPORT_TOTAL       /* too long altogether */
};

struct transport {
	/* the request */
	const char *url;
	const char *const *headers; /* "name: value", NULL-terminated */
	const char *body;
	/* Time limits. The last three may be exceeded by a second. */
	double connect_s, stall_s, total_s;
	/*
	 * Called for each piece of the body, when STATUS is set. Returns false when no more is
	 * needed. Sets *PROGRESS to a number that grows with content.
	 */
	bool (*on_body)(void *arg, const char *bytes, size_t len, size_t *progress);
	void *arg;
	/* the response */
	int status;           /* HTTP status; 0: none received */
	struct kbuf why;      /* libcurl's description of a failure */
	double first_byte_ms; /* -1: none came */
	void *handle;         /* libcurl's, which has the header */
};

/* Fills the response part; the caller frees with transport_free. */
enum transport_end transport_post(struct transport *t);
void transport_free(struct transport *t);

/* Value of a header of the response, or NULL; valid until transport_free. */
const char *transport_header(const struct transport *t, const char *name);
