/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/own_program.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"

bool own_program_path(char *ret, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	if (n > 0 && (size_t)n < size - 1 && access(ret, X_OK) == 0)
		return true;
	ret[0] = '\0';
	return false;
}

/* Changing the group removes capabilities: they come last. */
#define GRANT                                                                                      \
	"f=%s; sudo groupadd -f " OWN_PROGRAM_GROUP " && sudo chgrp " OWN_PROGRAM_GROUP            \
	" \"$f\" && sudo chmod 0750 \"$f\" && sudo setcap %s=ep \"$f\""

const char *own_program_grant(const char *capabilities, char *ret, size_t size)
{
	struct bytes word = {0};
	char path[PATH_MAX];
	int n = -1;

	if (own_program_path(path, sizeof(path))) {
		text_put_shell(&word, path);
		bytes_put_u8(&word, 0);
		if (!word.failed)
			n = snprintf(ret, size, GRANT, (const char *)word.data, capabilities);
	}
	if (n < 0 || (size_t)n >= size) /* half a path is useless */
		(void)snprintf(ret, size, GRANT, "$(command -v wick)", capabilities);
	bytes_fini(&word);
	return ret;
}
