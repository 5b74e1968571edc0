/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec: a command is the model: it gets the prompt on stdin and prints the answer on stdout.
 * With exec-json it prints JSON, as in reply.json. Presets for known commands are data:
 * tools/kllm/presets.tsv.
 */

#include "failure.h"
#include "kfence.h"
#include "kllm.h"
#include "kregex.h"
#include "ksandbox.h"
#include "secret.h"

enum { STATUS_AUTH = 77, STATUS_NOT_FOUND = 127, STDERR_KEPT = 4096 };

static struct kproc_result result;

/*
 * A preset's row is "name TAB provider"; the provider of "exec:NAME" when there is such a row, else
 * NULL.
 */
static char *
preset(const char *name)
{
	auto_free char *path = kdata_path("tools/kllm/presets.tsv"),
	               *text = kread_file_or_die(path, 1 << 20, NULL),
	               *row = kasprintf("\n%s\t", name);
	const char *at = strstr(text, row);

	return at ? kuntil(at + strlen(row), "\n") : NULL;
}

/* Runs in an empty folder, with the system text in a file next to it. */
static void
run(const char *command)
{
	const char *tmp = getenv("TMPDIR"), *system, *cwd;
	char *base = kasprintf("%s/kllm.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)command, NULL };
	struct kproc p = {
		.argv = argv,
		.in = call.user,
		.in_len = strlen(call.user),
		.timeout_s = kcamp_num("model.timeout_s"),
		.max_output = KLLM_BODY_MAX,
	};

	if (!mkdtemp(base))
		kdie_io("%s", base);
	system = kshown("%s/system.txt", base);
	cwd = kshown("%s/empty", base);
	kwrite_or_die(system, call.system, strlen(call.system));
	kmake_folder(cwd);
	setenv("KLLM_SYSTEM_FILE", system, 1);
	setenv("KLLM_MODEL", call.model, 1);
	setenv("KLLM_MAX_TOKENS", kshown("%ld", kcamp_int("model.max_tokens")), 1);
	setenv("KLLM_SAMPLE", call.id, 1);
	p.cwd = cwd;
	kproc_must(&p, &result);
	ksandbox_work_free(base);
}

/* The end of the command's error output, safe to print. */
static char *
complaint(void)
{
	size_t skip = result.err_len > STDERR_KEPT ? result.err_len - STDERR_KEPT : 0;
	struct kbuf b = { 0 };

	kbuf_slice(&b, result.err, skip, result.err_len);
	while (b.len && strchr("\n", b.data[b.len - 1]))
		b.data[--b.len] = '\0';
	secret_redact(&b);
	return b.data;
}

/*
 * Ends the program as after a server's failure: "id: class: reason", and the exit code of the
 * class.
 */
#define fail(f, fmt, ...) \
	kdie(failure_rules[f].exit_code, "%s: %s: " fmt, call.id, failure_rules[f].name, \
	    __VA_ARGS__)

/* A command that failed ends the program; the exit code says whether trying again makes sense. */
static void
judge(void)
{
	enum failure failure = result.exit_code == K_AGAIN ? FAILURE_RATE
	    : result.exit_code == STATUS_AUTH              ? FAILURE_AUTH
	                                                   : FAILURE_PERMANENT;
	auto_free char *said = complaint();

	if (result.timed_out)
		fail(FAILURE_TIMEOUT, "the command ran longer than %g s: %s",
		    kcamp_num("model.timeout_s"), said);
	if (result.signal && !result.flooded)
		fail(failure, "the command was killed by signal %d: %s", result.signal, said);
	if (result.exit_code == STATUS_NOT_FOUND)
		kdie(K_MISSING, "%s: permanent: the command exited with status %d: %s", call.id,
		    result.exit_code, said);
	if (result.exit_code && !result.flooded)
		fail(failure, "the command exited with status %d: %s", result.exit_code, said);
}

/* Copies text without terminal escapes and carriage returns; everything else is unchanged. */
static void
add_plain(const char *s, size_t len)
{
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = kfence_next(s + i, len - i, &c);
		if (c != KFENCE_ESCAPE && c != '\r')
			kbuf_add(&reply.text, s + i, n);
	}
}

static void
from_json(void)
{
	json_error_t e;
	json_auto_t *o = json_loadb(result.out, result.out_len, 0, &e);

	if (!o)
		fail(FAILURE_PROTOCOL, "the command's output is not JSON: %s", e.text);
	if (!reply_read(o))
		fail(FAILURE_PROTOCOL, "no '%s' in the command's output", "text");
}

json_t *
ask_exec(void)
{
	auto_free char *known =
	    kregex_is("\\Aexec:[a-z\\d-]*\\z", call.provider) ? preset(call.provider + 5) : NULL;
	const char *provider = known ?: call.provider, *command = strchr(provider, ':') + 1;
	bool json = kbegins(provider, "exec-json:");

	if (!command[strspn(command, " \t")])
		kdie_usage("model.provider: '%s' has no command", provider);
	run(command);
	judge();
	reply_init(json ? "exec-json" : "exec", *call.model ? call.model : "exec");
	reply.total_ms = result.wall_s * 1e3;
	if (result.flooded)
		reply_too_large();
	if (json && !result.flooded)
		from_json();
	else
		add_plain(result.out, result.out_len);
	reply_price();
	kproc_result_free(&result);
	return reply_finish();
}
