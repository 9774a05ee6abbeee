/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/vec.h"

#define MAX_CPU 65535

int cpu_list_parse(struct cpu_list *list, const char *text)
{
	while (isdigit((unsigned char)*text)) {
		char *end;
		long first = strtol(text, &end, 10);
		long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

		if (first > last || last > MAX_CPU)
			return -EINVAL;
		for (; first <= last; first++)
			if (vec_push(list, (int)first) < 0)
				return -ENOMEM;
		text = *end == ',' ? end + 1 : end;
	}
	return list->count > 0 && (*text == '\0' || *text == '\n') ? 0 : -EINVAL;
}

int cpu_list_online(struct cpu_list *list)
{
	SCOPED(file) FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	char text[4096];
	long count;
	long i;

	if (file && fgets(text, sizeof(text), file))
		return cpu_list_parse(list, text);
	/* No sysfs (a bare container): CPUs are almost always numbered without gaps. */
	count = sysconf(_SC_NPROCESSORS_ONLN);
	for (i = 0; i < count; i++)
		if (vec_push(list, (int)i) < 0)
			return -ENOMEM;
	return count > 0 ? 0 : -ENODEV;
}
