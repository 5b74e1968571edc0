/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that connects to the other machine: the caller's words, with our options if we know
 * the program.
 */
#include "kremote.h"

enum { WORDS = 24 };

/*
 * Added after the program's name, before the caller's own words: if an option is repeated, ssh uses
 * the first, srun the last. %s: the folder of the sockets.
 */
static const struct known {
	const char *program;
	int absent; /* exit status when there is no such program there */
	/* it searches for programs in our PATH, which is then also that of the other machine */
	bool path;
	const char *words[WORDS];
} known[] = {
	/*
	 * One connection for all, kept open for a while, with dead ones detected; no questions, and
	 * nothing forwarded.
	 */
	{ "ssh", 127, false,
	    { "-T", "-oBatchMode=yes", "-oControlMaster=auto", "-oControlPersist=300",
	        "-oControlPath=%s/%%C", "-oConnectTimeout=20", "-oServerAliveInterval=15",
	        "-oServerAliveCountMax=4", "-oCompression=yes", "-oForwardAgent=no",
	        "-oForwardX11=no", "-oClearAllForwardings=yes" } },
	/*
	 * One task, in a folder that every node has, with almost none of our environment, and
	 * unbuffered output.
	 */
	{ "srun", 2, true,
	    { "--quiet", "--ntasks=1", "--export=PATH,HOME", "--chdir=/", "--kill-on-bad-exit=1",
	        "--unbuffered", "--job-name=kiln" } },
};

static const struct known *
find(void)
{
	const char *name = basename(*call.transport);

	return krow_with(known, call.plain ? 0 : LEN(known), program, name);
}

/*
 * Folder for sockets of connections: accessible only to us, with a path short enough for a socket;
 * the caller frees.
 */
static char *
socket_folder(void)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char *path = run && *run ? kasprintf("%s/kiln-ssh", run)
	                         : kasprintf("/tmp/kiln-ssh-%lu", (unsigned long)getuid());

	kmake_private(path);
	return path;
}

char **
transport_words(void)
{
	const struct known *k = find();
	size_t count = 0, n = 0;
	char **list;
	auto_free char *folder = NULL;

	while (call.transport[count])
		count++;
	list = kcalloc(count + WORDS + 3, sizeof *list);
	list[n++] = kstrdup(call.transport[0]);
	for (size_t i = 0; k && i < WORDS && k->words[i]; i++) {
		if (strchr(k->words[i], '%') && !folder)
			folder = socket_folder();
		list[n++] = strchr(k->words[i], '%') ? kasprintf("-oControlPath=%s/%%C", folder)
		                                     : kstrdup(k->words[i]);
	}
	for (size_t i = 1; i < count; i++)
		list[n++] = kstrdup(call.transport[i]);
	if (call.there)
		list[n++] = kasprintf("%s/kremote", call.there);
	else
		list[n++] = kstrdup(k && k->path ? ktool_path("kremote") : "kremote");
	list[n++] = kstrdup("--serve");
	return list;
}

bool
transport_is_absent(int status)
{
	const struct known *k = find();

	return status == 126 || status == 127 || (k && status == k->absent);
}
