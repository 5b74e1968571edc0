/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kadopt go, after the adoption: runs the campaign, and puts its winner into the application; see
 * adopt.h.
 */

#include "adopt.h"

/* Run one of kiln's programs with our standard output; returns its exit status. */
static int
run(const char *tool, const char *command)
{
	const char *argv[] = { tool, command, "-c", adoption.dir, NULL };
	struct kproc p = { .argv = (char *const *)argv };
	pid_t pid;
	int status;

	ksay("---------- %s %s\n", tool, command);
	fflush(stdout);
	pid = kproc_spawn(&p, (int[3]){ -1, 1, 2 });
	if (pid < 0)
		kdie_errno(K_MISSING, "%s", tool);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : K_IO;
}

int
go_on(bool winner)
{
	struct command_result r;
	bool over = false;
	int code = K_NO;

	/* Later rounds are told what the application rejected. */
	while (code == K_NO && !over) {
		code = winner ? K_OK : run("kcampaign", "run");
		winner = false;
		if (code)
			break;
		code = run("kadopt", "integrate");
		r = command_own(adoption.dir, "kcampaign next -c .", "next");
		over = r.status != 0;
		command_free(&r);
	}
	if (code && code != K_NO && code != K_GATE)
		kwarn("stopped; run kadopt go -c %s to continue from here", adoption.dir);
	return code;
}
