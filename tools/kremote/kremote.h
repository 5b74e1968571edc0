/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kremote: the parts of the launcher, and what its two ends say to each other. Any command that
 * passes standard input and output on can connect them. One order, one answer:
 *
 *	there	{"schema":"remote/1","host":"gpu1","kiln":"0.1.0"}
 *	here	{"schema":"remote/1","place":NAME,"args":[...],...}, the bytes of its files, then
 *		pulses: newlines
 *	there	{"status":N,"bytes":M}, then M bytes of output
 *
 * The order's pipe is a leash: when it ends, or nothing is heard on it for a while, the program
 * there is killed.
 */
#pragma once

#include "kio.h"
#include "kproc.h"
#include "kregex.h"

#define REMOTE_SCHEMA "remote/1"

enum {
	PULSE_MS = 10000,     /* from one newline to the next */
	SILENCE_MS = 120000,  /* without a newline for this long, the caller is gone */
	ORDER_MAX = 64 << 20, /* its first line, in bytes */
};

/* The program's standard input, as a file in the folder of the run. */
#define STDIN_NAME ".stdin"

/* Values from the command line. */
extern struct call {
	/* folder of kiln's programs on the other machine; NULL: in its PATH */
	const char *there;
	bool shared;      /* both machines have the same files at the same paths */
	bool plain;       /* use the transport unchanged, without our options */
	char **transport; /* command words, NULL at the end */
	char **args;      /* program and arguments, NULL at the end */
} call;

/* order.c: the files that the program reads, and its arguments there. */
extern struct order {
	json_t *head;
	struct kbuf files; /* their contents, one after the other */
	char *output;      /* where the output goes; NULL: stdout */
} order;                   /* kept to the end */
void order_make(void);

/*
 * transport.c: the words of the transport command: NULL at the end; the caller frees them and the
 * list.
 */
char **transport_words(void);
/* Whether STATUS, of a transport that never answered, means that there is no such program. */
bool transport_is_absent(int status);

/* call.c: send the order and receive the answer; returns the exit status. */
int call_run(void);

/* serve.c: the other end. */
int serve(void);
