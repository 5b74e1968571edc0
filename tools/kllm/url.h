/* SPDX-License-Identifier: Apache-2.0 */
/* url: what must be known about a server's address before a key is sent there. */
#pragma once

#include "kutil.h"

/*
 * Host part of URL, lower case, without port, user or brackets; "" when there is none. The caller
 * frees.
 */
char *url_host(const char *url);
/* This machine: localhost, 127.0.0.0/8, ::1. */
bool url_is_loopback(const char *url);
/* This machine or a private network (RFC 1918, .local, .lan, one-word names). */
bool url_is_local(const char *url);
