/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport: see transport.h. libcurl loads some thirty libraries. It is only loaded here, when a
 * server is asked, so that calls which need no network do not pay for that.
 */
#include "transport.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include "kllm.h"
#include "url.h"

/* The functions of libcurl that are used. */
#define EACH_FUNCTION(DO) \
	DO(global_init) \
	DO(easy_init) \
	DO(easy_setopt) \
	DO(easy_perform) \
	DO(easy_getinfo) \
	DO(easy_header) \
	DO(easy_strerror) \
	DO(easy_cleanup) \
	DO(version_info) \
	DO(slist_append) \
	DO(slist_free_all)
#define DECLARE(name) __typeof__(curl_##name) *name;
static struct {
	EACH_FUNCTION(DECLARE)
} curl;

struct transfer {
	struct transport *t;
	size_t got; /* bytes of the body */
	size_t progress;
	/* times of the request, of the first byte of the body, of the last content */
	int64_t start, first, last;
	enum transport_end end; /* why it was aborted; TRANSPORT_DONE: it was not */
};

static bool
needs_tls(const char *url)
{
	return strncasecmp(url, "http://", 7);
}

static void
load_libcurl(bool tls)
{
	void *library;

	if (curl.global_init)
		return;
	/*
	 * Without TLS its libraries need no configuration; reading that takes a quarter of the
	 * call.
	 */
	if (!tls) {
		setenv("OPENSSL_CONF", "/dev/null", 1);
		setenv("GNUTLS_NO_IMPLICIT_INIT", "1", 1);
	}
	library = dlopen("libcurl.so.4", RTLD_LAZY);
	if (!library)
		kdie(K_MISSING, "cannot load libcurl, which model servers need: %s", dlerror());
#define LOAD(name) curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name);
	EACH_FUNCTION(LOAD)
	if (!curl.easy_header)
		kdie(K_MISSING, "libcurl is older than 7.83, whose functions are needed");
	/* It would write the connection's keys to a file. */
	unsetenv("SSLKEYLOGFILE");
	signal(SIGPIPE, SIG_IGN);
	curl.global_init(tls ? CURL_GLOBAL_DEFAULT : CURL_GLOBAL_NOTHING);
}

/* The header is complete, if there is one. */
static void
take_status(struct transport *t)
{
	long status = 0;

	curl.easy_getinfo(t->handle, CURLINFO_RESPONSE_CODE, &status);
	t->status = (int)status;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct transfer *w = arg;
	size_t len = size * count, before = w->progress;

	if (!len)
		return 0;
	if (!w->first) {
		take_status(w->t);
		w->first = w->last = know_ns();
	}
	w->got += len;
	if (w->got > KLLM_BODY_MAX)
		w->end = TRANSPORT_TOO_LARGE;
	else if (!w->t->on_body(w->t->arg, bytes, len, &w->progress))
		w->end = TRANSPORT_ENOUGH;
	if (w->progress != before)
		w->last = know_ns();
	return w->end == TRANSPORT_DONE ? len : 0;
}

/* libcurl calls this whenever data has arrived, and every second: is it time to give up? */
static int
on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct transfer *w = arg;
	double now = (double)know_ns(), silent;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	silent = (now - (double)(w->first ? w->last : w->start)) * 1e-9;
	if (silent > w->t->stall_s)
		w->end = w->first ? TRANSPORT_STALL : TRANSPORT_FIRST_BYTE;
	else if ((now - (double)w->start) * 1e-9 > w->t->total_s)
		w->end = TRANSPORT_TOTAL;
	return w->end != TRANSPORT_DONE;
}

/*
 * The folder of the system's certificates if they can be looked up by hashed names; NULL when there
 * is none. The caller frees.
 */
static char *
hashed_certificates(void)
{
	const char *all = curl.version_info(CURLVERSION_NOW)->cainfo,
	           *slash = all ? strrchr(all, '/') : NULL;
	auto_free char *folder = slash ? kstrndup(all, (size_t)(slash - all)) : NULL;

	kpath_foreach(one, folder ? kshown("%s/????????.0", folder) : "")
		return kstrdup(folder);
	return NULL;
}

/* An environment variable, if it is not empty. */
static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* libcurl ignores these variables; people expect them to work. */
static void
set_certificates(CURL *c)
{
	static const char *const files[] = { "KLLM_CA", "SSL_CERT_FILE", "CURL_CA_BUNDLE" };
	const char *folder = variable("SSL_CERT_DIR"), *file = NULL;
	auto_free char *system = NULL;

	kforeach(name, files)
		file = file ?: variable(*name);
	if (folder)
		curl.easy_setopt(c, CURLOPT_CAPATH, folder);
	/* Reading all certificates of the system takes longer than everything else in kllm. */
	system = file || folder ? NULL : hashed_certificates();
	if (system)
		curl.easy_setopt(c, CURLOPT_CAPATH, system);
	if (file || system)
		curl.easy_setopt(c, CURLOPT_CAINFO, file);
}

static void
set_callbacks(struct transfer *w)
{
	CURL *c = w->t->handle;

	curl.easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl.easy_setopt(c, CURLOPT_WRITEDATA, w);
	curl.easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl.easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl.easy_setopt(c, CURLOPT_XFERINFODATA, w);
}

static void
set_request(const struct transport *t, struct curl_slist *headers)
{
	bool here = url_is_loopback(t->url);
	CURL *c = t->handle;

	curl.easy_setopt(c, CURLOPT_URL, t->url);
	curl.easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl.easy_setopt(c, CURLOPT_POSTFIELDS, t->body);
	curl.easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(t->body));
	curl.easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(t->connect_s * 1e3));
	curl.easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl.easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	/* A name server that does not answer must not delay us after we have given up. */
	curl.easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
	/* A redirect could carry the key to another host: never followed. */
	curl.easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl.easy_setopt(c, CURLOPT_PROTOCOLS_STR, here ? "http,https" : "https");
	curl.easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	curl.easy_setopt(c, CURLOPT_USERAGENT, "kllm/" KILN_VERSION);
	if (here)
		curl.easy_setopt(c, CURLOPT_NOPROXY, "*");
	if (needs_tls(t->url))
		set_certificates(c);
}

/* Failures that the same request would have again. */
static bool
is_permanent(CURLcode rc)
{
	static const CURLcode codes[] = { CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,
		CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
		CURLE_SSL_CERTPROBLEM, CURLE_BAD_FUNCTION_ARGUMENT };

	return kany(kforeach(code, codes), rc == *code);
}

static enum transport_end
perform(struct transfer *w)
{
	char why[CURL_ERROR_SIZE] = "";
	CURLcode rc;

	curl.easy_setopt(w->t->handle, CURLOPT_ERRORBUFFER, why);
	rc = curl.easy_perform(w->t->handle);
	curl.easy_setopt(w->t->handle, CURLOPT_ERRORBUFFER, NULL);
	take_status(w->t);
	if (w->end != TRANSPORT_DONE || rc == CURLE_OK)
		return w->end;
	kbuf_puts(&w->t->why, *why ? why : curl.easy_strerror(rc));
	return is_permanent(rc) ? TRANSPORT_PERMANENT : TRANSPORT_NETWORK;
}

enum transport_end
transport_post(struct transport *t)
{
	struct transfer w = { .t = t, .start = know_ns() };
	struct curl_slist *headers;
	enum transport_end end;

	load_libcurl(needs_tls(t->url));
	t->handle = curl.easy_init();
	if (!t->handle)
		kdie(K_MISSING, "libcurl does not start");
	headers = curl.slist_append(NULL, "Expect:");
	for (size_t i = 0; t->headers[i]; i++)
		headers = curl.slist_append(headers, t->headers[i]);
	set_callbacks(&w);
	set_request(t, headers);
	end = perform(&w);
	for (struct curl_slist *h = headers; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl.slist_free_all(headers);
	t->first_byte_ms = w.first ? (double)(w.first - w.start) * 1e-6 : -1;
	return end;
}

void
transport_free(struct transport *t)
{
	curl.easy_cleanup(t->handle);
	kbuf_free(&t->why);
}

const char *
transport_header(const struct transport *t, const char *name)
{
	struct curl_header *found;

	return curl.easy_header(t->handle, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK
	    ? found->value
	    : NULL;
}
