/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/default_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"

char *default_name(const char *input, const char *extension)
{
	const char *base = strcmp(input, "-") == 0 ? "wick" : path_base_name(input);
	const char *dot = strrchr(base, '.');
	int stem = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
	char *name;

	return asprintf(&name, "%.*s%s", stem, base, extension) < 0 ? NULL : name;
}

/* The name, with a number if the file exists: there may be two runs in one second. */
static char *free_name(const char *stamp, const char *name)
{
	char *path;
	int i;

	if (asprintf(&path, "wick-%s-%s.wick", stamp, name) < 0)
		return NULL;
	for (i = 2; access(path, F_OK) == 0 && i < 10000; i++) {
		free(path);
		if (asprintf(&path, "wick-%s-%s-%d.wick", stamp, name, i) < 0)
			return NULL;
	}
	return path;
}

char *default_recording_name(const char *name)
{
	char stamp[32] = "";
	char safe[64];
	time_t now = time(NULL);
	struct tm parts;
	size_t i;

	if (localtime_r(&now, &parts))
		(void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &parts);
	(void)snprintf(safe, sizeof(safe), "%s",
		       path_base_name(name)); /* a truncated name is fine */
	for (i = 0; safe[i]; i++)
		if (!isalnum((unsigned char)safe[i]) && !strchr("._+-", safe[i]))
			safe[i] = '_';
	return free_name(stamp, safe);
}
