/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/cgroup_threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "proc/process_info.h"

/* No real hierarchy is deeper. */
#define MAX_LEVELS 32

/* Takes over the descriptor of a folder. Returns 0 or -ENOMEM. */
static int add_threads(int folder, struct pid_list *list)
{
	int fd = openat(folder, "cgroup.threads", O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	int r = 0;
	int tid;

	if (!file) {
		if (fd >= 0)
			(void)close(fd); /* only opened */
		return 0;
	}
	while (r == 0 && fscanf(file, "%d", &tid) == 1)
		if (tid > 0) /* 0: of another pid namespace */
			r = vec_push(list, (pid_t)tid);
	(void)fclose(file); /* only read from */
	return r;
}

/* Takes over the descriptor. The folders of a hierarchy contain no links. */
static int add_group(int folder, int level, struct pid_list *list)
{
	DIR *entries = fdopendir(folder);
	const struct dirent *entry;
	int r;

	if (!entries) {
		(void)close(folder); /* only opened */
		return -ENOMEM;
	}
	r = add_threads(folder, list);
	while (r == 0 && level < MAX_LEVELS && (entry = readdir(entries))) {
		int below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = openat(folder, entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			r = add_group(below, level + 1, list);
	}
	(void)closedir(entries); /* only read from */
	return r;
}

int cgroup_list_threads(const char *folder, struct pid_list *list, struct error *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_file(err, -errno, "cannot open the control group %s", folder);
	r = add_group(fd, 0, list);
	return r < 0 ? error_file(err, r, "cannot list the threads of %s", folder) : 0;
}
