/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/sender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

int sender_token(const char *path, char ret[SENDER_TOKEN_MAX], struct error *err)
{
	const char *given = getenv("WICK_TOKEN");
	FILE *file;

	if ((given && *given) || !path) {
		(void)snprintf(ret, SENDER_TOKEN_MAX, "%s", given ? given : "");
		return 0;
	}
	file = fopen(path, "re");
	if (!file)
		return error_file(err, -errno, "cannot read the token in %s", path);
	if (!fgets(ret, SENDER_TOKEN_MAX, file))
		ret[0] = '\0';
	(void)fclose(file); /* only read from */
	ret[strcspn(ret, "\r\n")] = '\0';
	if (ret[0])
		return 0;
	(void)error_set(err, -EINVAL, "there is no token in %s", path);
	error_remedy(err, "write the token into its first line");
	return -EINVAL;
}

int sender_spool(const char *wanted, const char *name, char *ret, size_t size, struct error *err)
{
	const char *home = getenv("HOME");

	ret[0] = '\0';
	if (wanted)
		(void)snprintf(ret, size, "%s", wanted);
	else if (geteuid() == 0)
		(void)snprintf(ret, size, "/var/lib/wick/%s", name);
	else if (home && home[0] == '/')
		(void)snprintf(ret, size, "%s/.local/state/wick/%s", home, name);
	if (ret[0])
		return 0;
	(void)error_set(err, -EINVAL, "there is no folder for --spool: HOME is not set");
	error_remedy(err, "give one with --spool DIR");
	return -EINVAL;
}
