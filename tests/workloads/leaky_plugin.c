/* SPDX-License-Identifier: BSD-2-Clause */

/* leaky_plugin: built some times, with LEAK naming its only function and BYTES what it loses. */

#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) void LEAK(void);

void LEAK(void)
{
	void *volatile lost = malloc(BYTES);

	if (lost)
		(void)memset(lost, 1, BYTES);
	lost = NULL;
}
