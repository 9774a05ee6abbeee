/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/script_folder.h"

#include <stdbool.h>
#include <string.h>

#include "base/vec.h"

#define SYSTEM_FOLDER "/usr/" /* where more is checked, see view/source_file.h */

static bool is_script(const char *name)
{
	static const char *const ends[] = {".py", ".pyw", ".rb"};
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t tail = strlen(ends[i]);

		if (length > tail && strcmp(name + length - tail, ends[i]) == 0)
			return true;
	}
	return false;
}

uint32_t script_folder(const char *path)
{
	const char *slash = path && *path == '/' ? strrchr(path, '/') : NULL;

	if (!slash || slash == path || !is_script(slash + 1))
		return 0;
	if (strncmp(path, SYSTEM_FOLDER, strlen(SYSTEM_FOLDER)) == 0)
		return (uint32_t)strlen(SYSTEM_FOLDER) - 1;
	return (uint32_t)(slash - path);
}
