/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kgrad: the gradient of a search: which steps on the behaviour grid have paid off, and from which
 * cells. Turns the old gradient, the archive before a trial and the trial's scored records into the
 * new gradient; ksample uses it to weigh parents and to write hints.
 */
#include "kgrad.h"
#include "koption.h"

static const char usage[] = "usage: kgrad [-c DIR] [-g GRADIENT] [-a ARCHIVE] [--thin] [-o FILE] "
                            "[SCORED ...]\n";

int
main(int argc, char **argv)
{
	const char *start = NULL, *before = NULL, *output = NULL;
	bool thin = false;
	const struct koption options[] = {
		KOPTION_CAMPAIGN(&kcamp.dir),
		{ 'g', "gradient", .text = &start, .help = "FILE\tstart from this gradient" },
		{ 'a', "archive", .text = &before, .help = "FILE\tarchive of the previous trial" },
		KOPTION_OUTPUT(&output),
		KOPTION_FLAG("thin", &thin, "\twrite what is new, as in a trial's folder"),
	};
	long after;

	kutil_init("kgrad");
	koption_read(options, usage, argc, argv);
	kcamp_load();
	gradient_load(start);
	after = thin ? gradient.trial : -1;
	karch_load(before);
	gradient_update(argv + optind, (size_t)(argc - optind));
	kout_open(output);
	gradient_put(after);
	kout_commit();
	gradient_free();
	return K_OK;
}
