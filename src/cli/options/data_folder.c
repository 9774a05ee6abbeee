/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/data_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

int data_folder(const char *wanted, char *ret, size_t size, struct error *err)
{
	const char *share = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	int n;

	if (wanted)
		n = snprintf(ret, size, "%s", wanted);
	else if (geteuid() == 0)
		n = snprintf(ret, size, "/var/lib/wick");
	else if (share && *share == '/')
		n = snprintf(ret, size, "%s/wick", share);
	else if (home && *home == '/')
		n = snprintf(ret, size, "%s/.local/share/wick", home);
	else
		n = -1;
	if (n > 0 && (size_t)n < size)
		return data_folder_create(ret, err);
	(void)error_set(err, -ENOENT, "there is no directory for data: HOME is not set");
	error_remedy(err, "name one with --data DIR");
	return -ENOENT;
}

int data_folder_create(const char *folder, struct error *err)
{
	char path[4096];
	size_t n = strlen(folder);
	size_t i;

	if (n == 0 || n >= sizeof(path))
		return error_file(err, -ENAMETOOLONG, "cannot create %.100s", folder);
	memcpy(path, folder, n + 1);
	for (i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		path[i] = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return error_file(err, -errno, "cannot create %s", path);
		path[i] = i < n ? '/' : '\0';
	}
	return 0;
}
