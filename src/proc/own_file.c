/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/own_file.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"

bool own_file_path(char *ret, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	if (n > 0 && (size_t)n < size - 1 && access(ret, X_OK) == 0)
		return true;
	ret[0] = '\0';
	return false;
}

const char *own_file_setcap(const char *capabilities, char *ret, size_t size)
{
	struct bytes word = {0};
	char path[PATH_MAX];
	int n = -1;

	if (own_file_path(path, sizeof(path))) {
		text_put_shell(&word, path);
		bytes_put_u8(&word, 0);
		if (!word.failed)
			n = snprintf(ret, size, "sudo setcap %s=ep %s", capabilities,
				     (const char *)word.data);
	}
	if (n < 0 || (size_t)n >= size) /* half a path helps nobody */
		(void)snprintf(ret, size, "sudo setcap %s=ep $(command -v wick)", capabilities);
	bytes_fini(&word);
	return ret;
}
