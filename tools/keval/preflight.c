/* SPDX-License-Identifier: Apache-2.0 */
/* Before a campaign begins on this machine: is everything available that its evaluations need? */
#include <sys/utsname.h>

#include "keval.h"

/*
 * Every part ends the program with its own message when something is missing. They are the sandbox,
 * kiln's data files that candidates are judged by, and the oracle, which is built once for all
 * candidates, by the same compiler in the same sandbox.
 */
void
preflight(void)
{
	const char *found = "";
	struct utsname here;

	eval_begin(NULL);
	uname(&here);
	if (!is_null()) {
		sandbox_level();
		scan_source(NULL, "");
		lint_task(false);
		found = kshown(", sandbox %s, compiler %s", ksandbox_name(sandbox_level()),
		    kjson_str_or(keval.task, "build.compiler", "gcc"));
	}
	kout_line("%s: kiln %s, %ld CPUs%s", here.nodename, kversion_string(),
	    sysconf(_SC_NPROCESSORS_ONLN), found);
}
