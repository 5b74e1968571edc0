/* SPDX-License-Identifier: Apache-2.0 */
/* url: see url.h. */
#include "url.h"

#include "kregex.h"

char *
url_host(const char *url)
{
	static const char form[] = "://(?:[^/?#\\\\]*@)?(?|\\[([^]/?#\\\\]*)\\]|([^:/?#\\\\]*))";
	return klower(kregex_part(form, url) ?: kstrdup(""));
}

#define BYTE "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"

bool
url_is_loopback(const char *url)
{
	auto_free char *host = url_host(url);

	return kregex_is("\\A(?:localhost|::1|127(?:\\." BYTE "){3})\\z", host);
}

bool
url_is_local(const char *url)
{
	auto_free char *host = url_host(url);

	return url_is_loopback(url) ||
	    kregex_is("\\A(?:10\\." BYTE "|172\\.(?:1[6-9]|2\\d|3[01])|192\\.168)(?:\\." BYTE "){2}"
	              "\\z"
	              "|.\\.(?:local|lan)\\z|\\A[^.:]+\\z",
	        host);
}
