/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/boot_id.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"

int boot_id_read(char *ret, size_t size)
{
	SCOPED(file) FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(ret, (int)size, file))
		return -ENOENT;
	ret[strcspn(ret, "\n")] = '\0';
	return 0;
}
