/* SPDX-License-Identifier: Apache-2.0 */
/* url: see url.h. */
#include "url.h"

#include <arpa/inet.h>

char *
url_host(const char *url)
{
	const char *p = strstr(url, "://"), *end, *at;
	char *host;

	if (!p)
		return kstrdup("");
	p += 3;
	end = p + strcspn(p, "/?#\\");
	while ((at = memchr(p, '@', (size_t)(end - p))))
		p = at + 1;
	if (*p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));

		host = close ? kstrndup(p + 1, (size_t)(close - p) - 1) : kstrdup("");
	} else {
		const char *colon = memchr(p, ':', (size_t)(end - p));

		host = kstrndup(p, (size_t)((colon ? colon : end) - p));
	}
	for (char *h = host; *h; h++)
		*h = (char)tolower((unsigned char)*h);
	return host;
}

/* The IPv4 address that HOST spells out, in host byte order; 0 when it is a name. */
static uint32_t
ipv4(const char *host)
{
	struct in_addr a;

	return inet_pton(AF_INET, host, &a) == 1 ? ntohl(a.s_addr) : 0;
}

static bool
ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

bool
url_is_loopback(const char *url)
{
	auto_free char *host = url_host(url);

	return !strcmp(host, "localhost") || !strcmp(host, "::1") || ipv4(host) >> 24 == 127;
}

bool
url_is_local(const char *url)
{
	auto_free char *host = url_host(url);
	uint32_t ip = ipv4(host);

	return url_is_loopback(url) || ip >> 24 == 10 || ip >> 20 == (172u << 4 | 1) ||
	    ip >> 16 == (192u << 8 | 168) || ends_in(host, ".local") || ends_in(host, ".lan") ||
	    (*host && !strpbrk(host, ".:"));
}
