/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http: providers anthropic and openai. One prompt may take two requests (the second with a larger
 * cap); each is retried as its failure's class allows, booked in the ledger, and spooled so that a
 * kill costs nothing twice.
 */
#include <sys/random.h>

#include "failure.h"
#include "kextract.h"
#include "klimit.h"
#include "kregex.h"
#include "request.h"
#include "secret.h"
#include "spool.h"
#include "url.h"

static const double connect_s = 10, retry_span_s = 900, longest_wait_s = 300,
                    longest_backoff_s = 60;
/*
 * Bytes per token; a server that counts less than 60 % of the resulting tokens has lost part of the
 * prompt.
 */
static const double generous_density = 3.3;
/* A token is never longer than this many bytes. */
static const size_t longest_token = 64;

enum { EVENT_BYTES = 512 };

static struct session {
	char *url;
	char *auth; /* the header that holds the key; NULL: none */
	const char *headers[5];
	char *ledger;
	int64_t correction; /* what must still be booked once the record is safe */
	int64_t started;
	int64_t booked; /* amount booked for the current request */
	struct krng jitter;
	int requests;
	/* of the last request, if it failed: seconds that the server asks to wait, below 0: none */
	double wait;
	bool final; /* and whether it asks not to repeat it */
} session;          /* of this process; kept to the end */

/* The answer to the current request. */
static struct kanswer answer;

static const struct server {
	const char *provider, *base, *key_env, *path;
	enum api api;
} servers[] = {
	{ "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "/v1/messages",
	    API_MESSAGES },
	{ "openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "/chat/completions", API_CHAT },
}, *server = servers;

/* A base URL that ends in a version already has it. */
static char *
build_url(void)
{
	const char *base = *call.base_url ? call.base_url : server->base;
	auto_free char *plain = kregex_sub("/+\\z", base, "");

	if (kregex_is("[^!-~]", base))
		kdie_usage("model.base_url: contains white space or control characters");
	return kregex_sub("/v1/v1/", kshown("%s%s", plain, server->path), "/v1/");
}

static void
check_url(const char *url)
{
	if (!kregex_is("\\Ahttps?://", url))
		kdie_usage("model.base_url: '%s' does not begin with https://", url);
	if (!kregex_is("\\Ahttps:", url) && !url_is_loopback(url))
		kdie_usage("model.base_url: '%s' must begin with https://, or key and prompts "
		           "would cross "
		           "the network unencrypted",
		    url);
	if (kregex_is("://[^/?#]*@", url))
		kdie_usage("model.base_url: contains a user name or password; use a key file "
		           "instead");
}

/* Sets key and headers. A server on this machine may need no key. */
static void
set_headers(void)
{
	const char *env = kcamp_str("model.key_env"), *file = kcamp_str("model.key_file"), *key;
	bool messages = server->api == API_MESSAGES, bearer = !messages;
	size_t n = 0;

	env = *env ? env : server->key_env;
	file = *file ? file : getenv("KLLM_KEY_FILE");
	key = secret_load(file && *file ? file : NULL, env);
	if (!key && messages) {
		key = secret_load(NULL, "ANTHROPIC_AUTH_TOKEN");
		bearer = key != NULL;
	}
	if (!key && !url_is_loopback(session.url))
		kdie_usage("auth: no key found: set %s, or name a key file (model.key_file, "
		           "KLLM_KEY_FILE)",
		    env);
	if (key) {
		session.auth =
		    kasprintf(bearer ? "authorization: Bearer %s" : "x-api-key: %s", key);
		session.headers[n++] = session.auth;
	}
	session.headers[n++] = "content-type: application/json";
	session.headers[n++] = "accept: text/event-stream, application/json";
	if (messages)
		session.headers[n++] = "anthropic-version: 2023-06-01";
	session.headers[n] = NULL;
}

/* Finds out whom to ask, and with which key. */
static void
open_server(void)
{
	kforeach(one, servers)
		if (!strcmp(one->provider, call.provider))
			server = one;
	secret_harden();
	session.url = build_url();
	check_url(session.url);
	set_headers();
}

static void
open_limit(void)
{
	const char *host = strstr(session.url, "://") + 3;

	klimit_open(kshown("%s %.*s %s", call.provider, (int)strcspn(host, "/"), host,
	    ksha256_of(session.auth ?: "")));
}

/* At most CAP tokens, and no more than the model can write. */
static long
allowed(long cap)
{
	long most = kjson_int_or(request.row, "max_out", LONG_MAX);

	return cap < most ? cap : most;
}

static void
session_open(void)
{
	uint64_t seed;

	session.started = know_ns();
	open_server();
	if (!call.allow_secrets &&
	    (secret_in(call.system, strlen(call.system)) ||
	        secret_in(call.user, strlen(call.user))))
		kdie_usage("%s: the prompt contains something that looks like a key and was not "
		           "sent "
		           "(--allow-secrets sends it)",
		    call.id);
	request = (struct request){
		.api = server->api,
		.row = models_row(call.model),
		.model = call.model,
		.cap = kcamp_int("model.max_tokens"),
		.omitted = json_object(),
	};
	request.cap = allowed(request.cap);
	session.ledger = kasprintf("%s/.spend", kcamp.dir);
	open_limit();
	reply_init(call.provider, call.model);
	if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
		seed = (uint64_t)know_ns();
	krng_init(&session.jitter, seed, 0, 0, "retry");
}

static void
session_close(void)
{
	json_decref(request.omitted);
	free(request.body);
	if (session.auth)
		explicit_bzero(session.auth, strlen(session.auth));
}

/* Bytes of the prompt. */
static size_t
prompt_len(void)
{
	return strlen(call.system) + strlen(call.user);
}

/* Book the highest possible cost of the request, or refuse it. */
static void
book(int64_t input)
{
	struct kusage most = { .input = input, .cache_write = input, .output = request.cap };
	double budget = kcamp_num("stop.budget_usd");
	int64_t cap = llround(budget * 1e9), spent, cost = kmodel_cost(request.row, &most);

	if (cost == KUSAGE_UNKNOWN && cap > 0)
		kdie_usage("budget: a budget is set, but the price of '%s' is unknown; "
		           "add a row to the model table",
		    request.model);
	session.booked = cost == KUSAGE_UNKNOWN ? 0 : cost;
	if (session.booked && !kbudget_add(session.ledger, session.booked, cap, &spent))
		kdie_usage("budget: %.4f USD are spent or reserved and this request may cost %.4f, "
		           "but "
		           "the budget is %.4f (%s)",
		    (double)spent / 1e9, (double)session.booked / 1e9, budget, session.ledger);
}

static void
refund(void)
{
	int64_t spent;

	if (session.booked)
		kbudget_add(session.ledger, -session.booked, 0, &spent);
	session.booked = 0;
}

static void
wait_turn(void)
{
	double when;

	switch (klimit_turn(retry_span_s, &when)) {
	case KLIMIT_GO:
		return;
	case KLIMIT_STOPPED:
		refund();
		kdie_usage("%s: not sent, because the call before it failed: %s", call.id,
		    klimit_reason());
	case KLIMIT_LATER:
		refund();
		kdie(K_AGAIN, "%s: rate limit: next request in %.0f s", call.id, when);
	}
}

static bool
on_body(void *arg, const char *bytes, size_t len, size_t *progress)
{
	const struct transport *t = arg;
	bool readable;

	if (t->status != 200) {
		kbuf_add(&answer.body, bytes, len);
		*progress += len;
		return answer.body.len < 65536;
	}
	readable = kanswer_feed(&answer, bytes, len);
	*progress = answer.progress;
	return readable && !(answer.done && answer.kind == KANSWER_STREAM);
}

static json_t *
intent_of(int step)
{
	auto_free char *host = url_host(session.url);

	return json_pack("{s:s s:s s:s s:s s:s s:s s:i s:i s:I s:s}", "schema", "exchange/1", "id",
	    call.id, "prompt_sha256", call.sha256, "provider", call.provider, "model",
	    request.model, "host", host, "step", step, "attempt", session.requests,
	    "reserved_nanousd", (json_int_t)session.booked, "time", know_text());
}

/* Accounts for a complete answer: its usage, estimated if necessary, and its cost. */
static void
account(int64_t booked)
{
	double whole_prompt = (double)prompt_len() / generous_density + 1;
	struct kusage u = answer.usage;
	int64_t cost;

	if (!u.known || !u.input) {
		/* The stream ended before the counts came, or the server does not count. */
		u.input = (int64_t)whole_prompt;
		u.output = models_tokens(answer.text.len + answer.reasoning.len);
		u.known = u.estimated = true;
	} else if (u.output < (int64_t)(answer.text.len / longest_token)) {
		/* The answer's count is missing, or is the one from before the answer. */
		u.output = models_tokens(answer.text.len + answer.reasoning.len);
		u.estimated = true;
	} else if (!u.estimated && (double)u.input < 0.6 * whole_prompt) {
		reply_flag("prompt_truncated");
		kwarn("%s: the server counted %lld tokens in a prompt of about %.0f, "
		      "so it may have cut it off",
		    call.id, (long long)u.input, whole_prompt);
	}
	cost = kmodel_cost(request.row, &u);
	if (reply.usage.known)
		kusage_add(&reply.usage, &u);
	else
		reply.usage = u;
	if (cost != KUSAGE_UNKNOWN) {
		reply.nanousd = reply.nanousd == KUSAGE_UNKNOWN ? cost : reply.nanousd + cost;
		session.correction += cost - booked;
	}
	if (answer.malformed)
		reply_flag("malformed_events");
}

/* A redirect is not followed, so say where it leads. */
static void
explain_redirect(const struct transport *t)
{
	auto_free char *host = url_host(transport_header(t, "location") ?: "");

	if (t->status >= 300 && t->status < 400)
		snprintf(answer.error.message, sizeof answer.error.message,
		    "status %d: a redirect to '%s', which kiln does not follow", t->status, host);
}

/* What is wrong with a response; its reason goes into ANSWER. */
static enum failure
examine(const struct transport *t, enum transport_end end)
{
	struct kanswer_error *e = &answer.error;
	enum failure failure;

	/* Redact before cutting to the length of a message: half a key would not be recognised. */
	secret_redact(&answer.body);
	if (t->status && t->status != 200)
		kanswer_error_body(e, answer.body.data ?: "", answer.body.len);
	explain_redirect(t);
	failure = failure_of(t, end, &answer);
	if (!*e->message && t->why.data)
		snprintf(e->message, sizeof e->message, "%s", t->why.data);
	session.wait = failure_wait(t);
	session.final = failure_may_retry(t) == 0;
	return failure;
}

/*
 * Bytes that an answer of CAP tokens takes as it arrives: one event per token, with everything that
 * servers add.
 */
static size_t
room_for(long cap)
{
	size_t room = ((size_t)cap + 256) * EVENT_BYTES;

	return room < KLLM_BODY_MAX ? room : KLLM_BODY_MAX;
}

/* One request. FAILURE_NONE: there is a complete answer. */
static enum failure
send_once(int step)
{
	struct transport t = {
		.url = session.url,
		.headers = session.headers,
		.connect_s = connect_s,
		.stall_s = kcamp_num("model.stall_s"),
		.total_s = kcamp_num("model.timeout_s"),
		.on_body = on_body,
		.arg = &t,
	};
	int64_t input = models_tokens(prompt_len());
	enum failure failure = FAILURE_NONE;
	enum transport_end end;
	json_auto_t *intent = NULL;
	bool whole;
	int spool;

	book(input);
	wait_turn();
	session.requests++;
	intent = intent_of(step);
	spool = spool_begin(step, intent, room_for(request.cap));
	if (spool < 0) {
		int why = errno;

		refund();
		errno = why;
		kdie_io("%s: cannot reserve disk space for the answer next to %s; "
		        "the request was not sent",
		    call.id, call.out);
	}
	t.body = request_body();
	end = transport_post(&t);
	kanswer_end(&answer);
	whole = t.status == 200 && kanswer_complete(&answer);
	spool_end(spool, &answer.body, whole);
	if (whole) {
		if (reply.first_byte_ms < 0)
			reply.first_byte_ms = t.first_byte_ms;
		account(session.booked);
	} else {
		failure = examine(&t, end);
		if (!failure_rules[failure].billed) {
			spool_discard(step);
			refund();
		}
	}
	transport_free(&t);
	return failure;
}

/* Ends the program: "id: class: reason", free of secrets. Frees REASON. */
static _Noreturn void
give_up(enum failure f, char *reason)
{
	const struct failure_rule *rule = &failure_rules[f];
	auto_buf struct kbuf text = { 0 };
	static char said[1024];

	kbuf_puts(&text, reason);
	secret_redact(&text);
	snprintf(said, sizeof said, "%s", text.data);
	free(reason);
	if (rule->stop_s > 0)
		klimit_stop(said, rule->stop_s);
	session_close();
	kdie(rule->exit_code, "%s: %s: %s", call.id, rule->name, said);
}

/*
 * Seconds to wait before the next attempt: slightly more than the server asks for, or full jitter
 * over a doubling range.
 */
static double
pause_of(int failed, double wait)
{
	double base = kcamp_num("model.backoff_s"), u = krng_double(&session.jitter);

	if (wait >= 0)
		return wait + u * (0.1 * wait + base);
	return u * fmin(longest_backoff_s, base * pow(2, failed - 1));
}

/* After failure number FAILED of class F: waits and returns, or ends the program. */
static void
retry_or_end(enum failure f, int failed)
{
	const struct failure_rule *rule = &failure_rules[f];
	double wait = session.wait, pause = pause_of(failed, wait),
	       gone = kseconds_since(session.started);
	const char *why =
	    *answer.error.message ? answer.error.message : rule->means ?: "no reason given";
	char *text = NULL;

	if (wait > longest_wait_s)
		text = kasprintf("%s; the server asks to wait %.0f s", why, wait);
	else if ((rule->attempts && failed >= rule->attempts) ||
	    failed >= kcamp_int("model.retries"))
		text = failed == 1 ? kstrdup(why) : kasprintf("%s (%d attempts)", why, failed);
	else if (session.final)
		text = kasprintf("%s; the server asks not to repeat the request", why);
	else if (gone + pause > retry_span_s)
		text = kasprintf("%s; gave up after %.0f s", why, gone);
	if (rule->shared)
		klimit_hold(fmin(wait >= 0 ? wait : pause, longest_wait_s));
	if (text)
		give_up(f, text);
	kprogress("%s reply: %s, again in %.1f s", call.id, rule->name, pause);
	klimit_sleep(pause);
}

/* Omits a parameter that the server refuses. */
static bool
omit_refused(enum failure f)
{
	const char *name = f == FAILURE_PERMANENT ? request_omit(&answer.error) : NULL;

	if (!name)
		return false;
	reply_flag(kshown("dropped:%s", name));
	if (klimit_first_time(name))
		kwarn("the server rejects '%s' for model '%s'; asking without it, or by its other "
		      "name (to avoid this, edit its row of the model table)",
		    name, request.model);
	return true;
}

/*
 * The answer to the current request: from an earlier run's spool, or from the server. Ends the
 * program if there is none.
 */
static void
exchange(int step)
{
	enum failure f;
	int64_t reserved;

	answer = (struct kanswer){ 0 };
	switch (spool_resume(step, request.model, &answer, &reserved)) {
	case SPOOL_WHOLE:
		reply_flag("resumed");
		account(reserved);
		return;
	case SPOOL_PARTIAL:
		reply_flag("cost_unknown");
		break;
	case SPOOL_NONE:
		break;
	}
	for (int failed = 0; (f = send_once(step)) != FAILURE_NONE;) {
		kjson_add(reply.failures, failure_rules[f].name);
		if (failure_rules[f].billed)
			reply_flag("cost_unknown");
		/*
		 * It was paid for, and would be as long the next time: what has arrived is the
		 * answer.
		 */
		if (f == FAILURE_TOO_LARGE) {
			reply_flag(KIO_TOO_LARGE);
			snprintf(answer.finish, sizeof answer.finish, "%s", failure_rules[f].name);
			return;
		}
		if (!omit_refused(f))
			retry_or_end(f, ++failed);
		kanswer_free(&answer);
	}
}

/* Does the text contain a complete fenced program? */
static bool
has_code(void)
{
	struct kextract x;
	bool found = kextract(answer.text.data, answer.text.len, kcamp_str("language"), false, &x),
	     whole = found && !x.unclosed && strcmp(x.how, "lines");

	kextract_free(&x);
	return whole;
}

static bool
was_cut(void)
{
	return !strcmp(kanswer_finish(&answer), "length") && !(answer.text.len && has_code());
}

/* Cut off without complete code: ask again with twice the cap. */
static void
ask_more(void)
{
	long twice = allowed(request.cap * 2);

	if (!was_cut() || twice <= request.cap)
		return;
	request.cap = twice;
	reply_flag("cap_raised");
	kanswer_free(&answer);
	exchange(2);
}

static void
conclude(void)
{
	reply.finish = kanswer_finish(&answer);
	if (!strcmp(reply.finish, "refusal"))
		reply_flag(kshown(
		    "refused:%s%s%s", request.model, *answer.detail ? ":" : "", answer.detail));
	if (!strcmp(reply.finish, "length"))
		reply_flag(!answer.text.len ? "truncated_in_reasoning"
		        : was_cut()         ? "truncated"
		                            : "truncated_tail");
	else if (!answer.text.len && !strcmp(reply.finish, "stop"))
		reply_flag("empty");
	if (!strcmp(answer.finish, "model_context_window_exceeded"))
		reply_flag("context_exceeded");
	kbuf_add(&reply.text, answer.text.data, answer.text.len);
	if (!answer.text.len)
		kbuf_add(&reply.text, answer.refusal.data, answer.refusal.len);
	kbuf_add(&reply.reasoning, answer.reasoning.data, answer.reasoning.len);
	reply_model(answer.model);
	reply.attempts = session.requests;
	reply.total_ms = (double)(know_ns() - session.started) * 1e-6;
}

json_t *
ask_http(void)
{
	json_t *member;

	session_open();
	exchange(1);
	ask_more();
	conclude();
	kanswer_free(&answer);
	member = reply_finish();
	session_close();
	return member;
}

void
http_check(void)
{
	open_server();
	session_close();
}

void
http_committed(void)
{
	int64_t spent;

	if (!session.ledger)
		return;
	if (session.correction)
		kbudget_add(session.ledger, session.correction, 0, &spent);
	spool_remove();
}
