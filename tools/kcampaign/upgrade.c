/* SPDX-License-Identifier: Apache-2.0 */
/* kcampaign upgrade: a campaign of an older version becomes one of this. See kcampaign.h. */
#include "kcampaign.h"

int
command_upgrade(const struct options *o)
{
	struct kcamp *c = kcamp_load(".");

	(void)o;
	take_lock();
	if (upgrade_seals(c))
		ksay("rounds/, logs/ and memory/ are to be made and sealed anew: make views\n");
	else
		ksay("nothing to convert\n");
	kcamp_free(c);
	return K_OK;
}
