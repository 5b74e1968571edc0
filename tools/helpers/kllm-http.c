/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kllm-http: one HTTP POST for kllm. A program of its own, so that a kllm which needs no network does not load libcurl;
 * and so that giving up on a server is ending a process.
 *
 * stdin:  "url URL", "header NAME: VALUE"…, "connect_s N", "total_s N", "max_body N" lines, a blank line, the body.
 * stdout: "HTTP STATUS", "name: value" lines (an allow-list), a blank line, the body as it arrives, decoded.
 * Exit:   0 whole response; 2 asking again cannot help; 4 body over max_body; 75 network, with the reason on stderr.
 */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kutil.h"

struct transfer {
	CURL *curl;
	struct curl_slist *headers;
	char *url, *body;
	size_t body_len;
	long max_body, got;
	struct kbuf head;	/* what of the response's head is passed on */
	bool head_sent, too_large;
};

/* Headers that tell about limits and identify a request; none of them holds a secret. A final '-' is a prefix. */
static const char *const allowed[] = {
	"content-type",
	"retry-after",
	"retry-after-ms",
	"x-should-retry",
	"request-id",
	"x-request-id",
	"x-generation-id",
	"x-ratelimit-",
	"anthropic-ratelimit-",
	"location",
};

static bool
is_allowed(const char *line, size_t name_len)
{
	for (size_t i = 0; i < LEN(allowed); i++) {
		size_t n = strlen(allowed[i]);

		if (allowed[i][n - 1] == '-' ? name_len >= n && !strncasecmp(line, allowed[i], n)
		    : name_len == n && !strncasecmp(line, allowed[i], n))
			return true;
	}
	return false;
}

/* Called for each line of each head: interim responses, the response, and trailers, which come after the body began. */
static size_t
on_header(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	size_t len = size * count, n = len;
	const char *colon;

	while (n && (data[n - 1] == '\r' || data[n - 1] == '\n'))
		n--;
	if (t->head_sent || !n)
		return len;
	if (n > 5 && !strncmp(data, "HTTP/", 5)) {
		t->head.len = 0;
		return len;
	}
	colon = memchr(data, ':', n);
	if (colon && is_allowed(data, (size_t)(colon - data)) && t->head.len < 65536) {
		for (const char *p = data; p < colon; p++)
			kbuf_printf(&t->head, "%c", *p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
		kbuf_add(&t->head, colon, (size_t)(data + n - colon));
		kbuf_puts(&t->head, "\n");
	}
	return len;
}

static void
put(const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n <= 0)
			exit(K_IO);
		p += n;
		len -= (size_t)n;
	}
}

static void
send_head(struct transfer *t)
{
	char line[32];
	long status = 0;

	if (t->head_sent)
		return;
	t->head_sent = true;
	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
	if (!status)
		return;
	put(line, (size_t)snprintf(line, sizeof line, "HTTP %ld\n", status));
	put(t->head.data ? t->head.data : "", t->head.len);
	put("\n", 1);
}

static size_t
on_body(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	size_t len = size * count;

	send_head(t);
	t->got += (long)len;
	if (t->got > t->max_body) {
		t->too_large = true;
		return 0;
	}
	put(data, len);
	return len;
}

static void
set_line(struct transfer *t, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		kdie(K_USAGE, "malformed request");
	*value++ = '\0';
	if (!strcmp(line, "url"))
		t->url = value;
	else if (!strcmp(line, "header"))
		t->headers = curl_slist_append(t->headers, value);
	else if (!strcmp(line, "connect_s"))
		curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(knum_double(value, 0, 1e6, line) * 1e3));
	else if (!strcmp(line, "total_s"))
		curl_easy_setopt(t->curl, CURLOPT_TIMEOUT_MS, (long)(knum_double(value, 0, 1e6, line) * 1e3));
	else if (!strcmp(line, "max_body"))
		t->max_body = knum_long(value, 0, 1L << 40, line);
	else
		kdie(K_USAGE, "malformed request: %s", line);
}

static char *
read_request(struct transfer *t)
{
	size_t len;
	char *text = kread_file_or_die("-", (size_t)1 << 30, &len), *p = text;

	while (*p != '\n') {
		char *end = strchr(p, '\n');

		if (!end)
			kdie(K_USAGE, "malformed request");
		*end = '\0';
		set_line(t, p);
		p = end + 1;
	}
	t->body = p + 1;
	t->body_len = len - (size_t)(t->body - text);
	if (!t->url)
		kdie(K_USAGE, "malformed request: no url");
	return text;
}

/* libcurl ignores these variables; people expect them to work. */
static void
set_certificates(CURL *curl)
{
	static const char *const files[] = { "KLLM_CA", "SSL_CERT_FILE", "CURL_CA_BUNDLE" };
	const char *folder = getenv("SSL_CERT_DIR");

	for (size_t i = 0; i < LEN(files); i++) {
		const char *file = getenv(files[i]);

		if (file && *file) {
			curl_easy_setopt(curl, CURLOPT_CAINFO, file);
			break;
		}
	}
	if (folder && *folder)
		curl_easy_setopt(curl, CURLOPT_CAPATH, folder);
}

static bool
is_loopback(const char *url)
{
	static const char *const hosts[] = { "http://127.", "http://localhost:", "http://localhost/", "http://[::1]" };

	for (size_t i = 0; i < LEN(hosts); i++)
		if (!strncmp(url, hosts[i], strlen(hosts[i])))
			return true;
	return false;
}

static void
set_options(struct transfer *t)
{
	CURL *c = t->curl;

	curl_easy_setopt(c, CURLOPT_URL, t->url);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, t->headers);
	curl_easy_setopt(c, CURLOPT_POSTFIELDS, t->body);
	curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body_len);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	/* A redirect could carry the key to another host: never followed. */
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, is_loopback(t->url) ? "http,https" : "https");
	curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(c, CURLOPT_USERAGENT, "kllm/" KILN_VERSION);
	if (is_loopback(t->url))
		curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	set_certificates(c);
}

/* Failures that the same request would meet again. */
static bool
is_permanent(CURLcode rc)
{
	static const CURLcode codes[] = { CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,
		CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
		CURLE_BAD_FUNCTION_ARGUMENT };

	for (size_t i = 0; i < LEN(codes); i++)
		if (rc == codes[i])
			return true;
	return false;
}

int
main(void)
{
	struct transfer t = { .max_body = 32 << 20 };
	char why[CURL_ERROR_SIZE] = "", *request;
	CURLcode rc;

#ifndef __SANITIZE_ADDRESS__	/* the leak check must be able to look into its own process */
	prctl(PR_SET_DUMPABLE, 0);
#endif
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	kutil_init("kllm-http");
	unsetenv("SSLKEYLOGFILE");
	curl_global_init(CURL_GLOBAL_DEFAULT);
	t.curl = curl_easy_init();
	if (!t.curl)
		kdie(K_MISSING, "libcurl does not start");
	curl_easy_setopt(t.curl, CURLOPT_ERRORBUFFER, why);
	t.headers = curl_slist_append(NULL, "Expect:");
	request = read_request(&t);
	set_options(&t);
	rc = curl_easy_perform(t.curl);
	send_head(&t);
	/* No clean-up: it takes longer than the end of the process, and the key is wiped with the memory. */
	explicit_bzero(request, (size_t)(t.body - request));
	if (t.too_large)
		kdie(K_IO, "the body is larger than %ld bytes", t.max_body);
	if (rc != CURLE_OK)
		kdie(is_permanent(rc) ? K_USAGE : K_AGAIN, "%s", *why ? why : curl_easy_strerror(rc));
	return K_OK;
}
