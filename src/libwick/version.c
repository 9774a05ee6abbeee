/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/version.h>

const char *wick_version(void)
{
	return WICK_VERSION;
}
