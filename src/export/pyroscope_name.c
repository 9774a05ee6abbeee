/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/pyroscope_name.h"

#include <string.h>

const char *pyroscope_name(const char *type)
{
	if (strncmp(type, "alloc", 5) == 0 || strncmp(type, "inuse", 5) == 0)
		return "memory";
	return strcmp(type, "cpu") == 0 || strcmp(type, "samples") == 0 ? "process_cpu" : type;
}
